"""docs/metrics.md: every metric of a scrape with its labels. `TEST_METRICS=write` has its test write it."""

from collections.abc import Iterable
from typing import Final

from prometheus_client.metrics_core import Metric

_SUFFIXES: Final = {"counter": "_total"}
_HEAD: Final = """# Metrics

<!-- Made by `TEST_METRICS=write` and tests/integration/test_monitoring_files.py from the source: change that. -->

What http://127.0.0.1:9464/metrics serves for [Prometheus](monitoring.md#metrics).
A histogram has `_bucket`, `_sum` and `_count`.

| metric | type | labels | meaning |
|---|---|---|---|
"""


def metrics_page(families: Iterable[Metric]) -> str:
    """Return the page."""
    rows = []
    for family in families:
        labels = ", ".join(f"`{label}`" for label in getattr(family, "_labelnames", ()))
        name = family.name + _SUFFIXES.get(family.type, "")
        rows.append(f"| `{name}` | {family.type} | {labels} | {family.documentation.rstrip('.')} |\n")
    return _HEAD + "".join(rows)

"""The Grafana dashboard, the alert rules and docs/metrics.md name metrics and labels that are served."""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import CollectorRegistry
from prometheus_client.metrics_core import Metric
from ruamel.yaml import YAML

from sourcebook.admin.dagster_state import DagsterState
from sourcebook.database.database import Database
from sourcebook.metrics.server import LedgerCollector, dagster_families
from tests.checkout import CHECKOUT, DOCS
from tests.references.metrics_page import metrics_page

FOLDER = CHECKOUT / "deploy" / "monitoring"
NAME = re.compile(r"\bsourcebook_[a-z_]+\b")
SELECTOR = re.compile(r"\bsourcebook_[a-z_]+\{([^}]*)\}")


@pytest.fixture
def families(database: Database) -> list[Metric]:
    """Every metric that a scrape may hold."""
    collector = LedgerCollector(database.url)
    found = [*collector.collect(), *dagster_families(DagsterState({}, {}, (), {}))]
    collector.close()
    return found


@pytest.fixture
def served(families: list[Metric]) -> set[str]:
    """The names of every series that a scrape may hold."""
    suffixes = {"counter": ("_total",), "histogram": ("_bucket", "_sum", "_count"), "gauge": ("",)}
    return {family.name + suffix for family in families for suffix in suffixes[family.type]}


def _dashboard() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / "grafana-dashboard.json").read_text(encoding="utf-8"))
    return found


def _alerts() -> list[dict[str, Any]]:
    groups = YAML(typ="safe", pure=True).load(FOLDER / "alerts.yaml")["groups"]
    return [rule for group in groups for rule in group["rules"]]


def _expressions() -> Iterator[str]:
    for panel in _dashboard()["panels"]:
        yield from (target["expr"] for target in panel["targets"])
    yield from (rule["expr"] for rule in _alerts())


def test_every_metric_of_the_files_is_served(served: set[str]) -> None:
    named = {name for expression in _expressions() for name in NAME.findall(expression)}
    assert len(named) > 20
    assert named - served == set()


def test_every_metric_that_is_served_is_on_the_dashboard(served: set[str]) -> None:
    families = {re.sub(r"_(total|bucket|sum|count)$", "", name) for name in served}
    shown = {re.sub(r"_(total|bucket|sum|count)$", "", name) for text in _expressions() for name in NAME.findall(text)}
    assert families - shown == set()


def test_the_page_of_metrics_is_what_the_source_says(families: list[Metric]) -> None:
    """`TEST_METRICS=write` writes it again."""
    page = DOCS / "metrics.md"
    if os.environ.get("TEST_METRICS") == "write":
        page.write_text(metrics_page(families), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == metrics_page(families)


def test_every_label_of_the_files_exists(database: Database) -> None:
    """A misspelt label in a selector would select nothing, for ever."""
    known = {"collection", "daemon", "status", "outcome", "kind", "state", "le", "queue", "operation"}
    used = {
        label
        for text in _expressions()
        for selector in SELECTOR.findall(text)
        for label in re.findall(r"(\w+)[=!]", selector)
    }
    assert used <= known


def test_brackets_of_every_expression_close() -> None:
    for expression in _expressions():
        for opening, closing in ("()", "{}", "[]"):
            assert expression.count(opening) == expression.count(closing), expression


def test_every_alert_has_a_playbook() -> None:
    """docs/playbooks.md names each alert beside what to do about it."""
    text = (DOCS / "playbooks.md").read_text(encoding="utf-8")
    rules = _alerts()
    assert len(rules) > 10
    assert [rule["alert"] for rule in rules if f"`{rule['alert']}`" not in text] == []
    assert {rule["labels"]["severity"] for rule in rules} == {"warning", "critical"}


def test_a_scrape_can_be_registered_beside_others() -> None:
    """A registry asks a collector for its names; this one reads no database for that."""
    CollectorRegistry().register(LedgerCollector("postgresql://127.0.0.1:1/nowhere"))

"""docs/assets.md: what Dagster's page shows, with the descriptions that it has there."""

from collections.abc import Iterable

from orchestration.definitions import defs
from resources.selection import RunSelection
from tests.references.parts import page, sections

_ORDER = ("sources", "documents", "index")


def make() -> str:
    """Return the page."""
    return page("assets.md", "Assets, checks, sensors and schedules", sections("assets.md")[""], *_assets(), *_lists())


def _assets() -> Iterable[str]:
    graph = defs.resolve_asset_graph()
    nodes = [graph.get(key) for key in graph.toposorted_asset_keys]
    nodes.sort(key=lambda node: _ORDER.index(node.group_name or ""))  # stable: within a group as they follow each other
    yield "## Assets"
    for node in nodes:
        yield f"### `{node.key.to_user_string()}`\n\nGroup `{node.group_name}`. {(node.description or '').strip()}"
    specs = [graph.get_check_spec(key) for key in sorted(graph.asset_check_keys)]
    rows = [(check.asset_key.to_user_string(), check.name, check.description) for check in specs]
    yield "## Checks\n\n" + _table("| check | on | passes where |", (f"`{b}` | `{a}` | {c}" for a, b, c in rows))


def _lists() -> Iterable[str]:
    repository = defs.get_repository_def()
    sensors = sorted(repository.sensor_defs, key=lambda each: each.name)
    schedules = sorted(repository.schedule_defs, key=lambda each: each.name)
    looks = (f"`{each.name}` | {each.minimum_interval_seconds} s | {each.description}" for each in sensors)
    yield "## Sensors\n\n" + _table("| sensor | looks every | |", looks)
    times = (f"`{each.name}` | `{each.cron_schedule}` | {each.description}" for each in schedules)
    yield "## Schedules\n\n" + _table("| schedule | starts at | |", times)
    keys = ((name, field.description) for name, field in RunSelection.model_fields.items())
    told = "Set below `resources: selection: config` in the Launchpad of the job `ingest`."
    taken = (f"`{name}` | {description}" for name, description in keys)
    yield f"## A part of a run\n\n{told}\n\n" + _table("| key | takes |", taken)


def _table(head: str, rows: Iterable[str]) -> str:
    columns = head.count("|") - 1
    lines = (" ".join(row.split()) for row in rows)
    return "\n".join([head, "|" + "---|" * columns, *(f"| {line} |" for line in lines)])

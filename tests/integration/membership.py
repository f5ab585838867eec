"""Collections that take documents of others: configurations, and runs in which nothing may be parsed or embedded."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection
from tests.integration.stages import Row, Stages

POLICIES = "{from: {collection: handbook, tags: [policy]}}"

BODY = "\n\n".join(f"## Part {part}\n\n" + f"The flag of {{}} is green in part {part}. " * 12 for part in range(3))


class Untouched:
    """Stands in for the parsers and the model where nothing may ask them for anything."""

    def __getattr__(self, name: str) -> Any:
        raise AssertionError(f"{name} was asked for")


def configure(stages: Stages, policies: str | None = POLICIES, **others: str) -> None:
    lines = [f"  {name}: {settings}\n" for name, settings in others.items()]
    if policies is not None:
        lines.append(f"  policies: {policies}\n")
    stages.configure("collections:\n  handbook: {files: [{root: ./docs}]}\n" + "".join(lines))


def page(name: str, *tags: str) -> str:
    return f"---\ntags: [{', '.join(tags)}]\n---\n# Page {name}\n\n{BODY.replace('{}', name)}\n"


def run(stages: Stages, name: str, selection: Selection = EVERYTHING) -> dict[str, StageReport]:
    stages.collection = name
    reports = stages.run(selection)
    stages.assert_sound()
    assert not stages.pending().work
    return reports


@contextmanager
def nothing_parsed_or_embedded(stages: Stages) -> Iterator[None]:
    """Fail where a parser or the model is asked for anything."""
    before = stages.parsers, stages.embedder
    stages.parsers = stages.embedder = Untouched()  # type: ignore[assignment]
    try:
        yield
    finally:
        stages.parsers, stages.embedder = before


def take(stages: Stages, name: str = "policies", selection: Selection = EVERYTHING) -> dict[str, StageReport]:
    """Ingest a collection whose documents are parsed and embedded already."""
    with nothing_parsed_or_embedded(stages):
        return run(stages, name, selection)


def live(stages: Stages, collection: str = "policies") -> dict[str, Row]:
    """Return the live documents of a collection by the names of their files."""
    rows = stages.rows(
        "SELECT * FROM document WHERE collection = %(name)s AND removed_at IS NULL ORDER BY uri", name=collection
    )
    return {row["uri"].rpartition("/")[2]: row for row in rows}


def hits(stages: Stages, word: str, collection: str = "policies", **filters: Any) -> set[str]:
    found = stages.search(word, collections=collection, mode="keyword", limit=50, filters=filters or None)
    return {hit.uri.rpartition("/")[2] for hit in found}


def take_policies(stages: Stages) -> Stages:
    """Ingest two policies and another page; `policies` takes the two."""
    stages.write("a.md", page("alpha", "policy"))
    stages.write("b.md", page("beta", "hr", "policy"))
    stages.write("c.md", page("gamma", "hr"))
    configure(stages)
    run(stages, "handbook")
    take(stages)
    return stages

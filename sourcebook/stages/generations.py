"""The generations of a collection side by side: each stage in each of them, and the change from one to the next."""

import logging
from collections.abc import Callable, Sequence

from psycopg import Connection

from sourcebook.database.queries import queries
from sourcebook.errors import ModelError
from sourcebook.indexing.activation import activate, due_for_retirement, retire
from sourcebook.indexing.generations import Generations, find_generations
from sourcebook.model.generation import Generation
from sourcebook.model.report import StageReport
from sourcebook.stages.changes import changed_documents, unsettled_documents, version_of

_log = logging.getLogger("sourcebook.stages")


def in_each_generation(
    connection: Connection,
    generations: Sequence[Generation],
    work: Callable[[Generation], StageReport],
    *,
    is_first: bool = False,
) -> StageReport:
    """Run a stage in each generation, and return the sum of the reports.

    Where a model fails in one of several generations, the reason is recorded, and the others are brought up to date.

    Args:
        connection: in autocommit mode.
        generations: the active generation, and the one being built.
        work: the stage.
        is_first: whether the stage is the first one of a run, which forgets the failures of earlier runs.

    Raises:
        ModelError: the model of every generation failed.
    """
    reports: list[StageReport] = []
    failures: list[ModelError | ArithmeticError] = []
    for generation in generations:
        scope = {"generation": generation.id}
        try:
            reports.append(work(generation))
        except (ModelError, ArithmeticError) as error:
            if len(generations) == 1:
                raise  # a failure of the run
            failures.append(error)
            connection.execute(queries["record_generation_failure"], {**scope, "reason": str(error)})
        else:
            if is_first:
                connection.execute(queries["record_generation_failure"], {**scope, "reason": None})
    if not reports:
        raise failures[0]
    return merged(reports)


def merged(reports: Sequence[StageReport]) -> StageReport:
    """Return the sum of reports of one stage; `total` is that of the largest generation."""
    if len(reports) == 1:
        return reports[0]
    total = StageReport(version=version_of(*(report.version for report in reports)), tokens=0, cost=0.0)
    for report in reports:
        total.added += report.added
        total.changed += report.changed
        total.removed += report.removed
        total.failed += report.failed
        total.seconds += report.seconds
        total.tokens = None if total.tokens is None or report.tokens is None else total.tokens + report.tokens
        total.cost = None if total.cost is None or report.cost is None else total.cost + report.cost
        total.failures += report.failures
        for name, number in report.extra.items():
            total.count(name, number)
    # Searches see one of the generations: items that are in several count once.
    total.unchanged = max(max(report.total for report in reports) - total.added - total.changed, 0)
    return total


def finish_generations(
    connection: Connection, collection: str, passes_gate: Callable[[Generations], bool] = lambda _: True
) -> Generation | None:
    """Activate the generation being built where every live document is in it, and retire what is not kept.

    Args:
        connection: in autocommit mode; the caller holds the lock of the collection.
        collection: name of the collection.
        passes_gate: called with a whole generation beside the active one; says whether it may take its place.

    Returns:
        The generation that was activated.
    """
    found = find_generations(connection, collection)
    activated = None
    may_change = found.building is not None and found.step == "none" and is_whole(connection, found.building)
    if may_change and passes_gate(found) and found.building is not None and found.rules.activate == "automatic":
        activated = found.building
        activate(connection, activated)
        _log.info("generation %d of %s is active", activated.id, collection, extra={"collection": collection})
        found = find_generations(connection, collection)
    for generation in due_for_retirement(found):
        if retire(connection, generation):
            _log.info("generation %d of %s is deleted", generation, collection, extra={"collection": collection})
    return activated


def is_whole(connection: Connection, generation: Generation) -> bool:
    """Return whether every live document is published in a generation in its newest version, and no removed one."""
    changed = changed_documents(connection, generation)
    return not unsettled_documents(connection, generation.collection, generation, changed.ids)

"""The recipes of sources over fakes of their services: records lost, doubled and stale after changes and faults."""

import sys

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, say
from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from tests.packages import NotInstalledError, installed
from tests.recipes.drill import PACKAGES, drill
from tests.recipes.services import SERVICES

_CHANGES = 200
"""Changes of each service."""


def run(bench: Bench) -> list[Row]:
    """Drill every recipe: 200 changes and 66 looks, half of these with a fault."""
    try:
        sys.path.append(str(installed(PACKAGES, "recipes")))
    except NotInstalledError as error:
        return [Row("recipes", None, note=str(error))]
    rows: list[Row] = []
    with Database(DatabaseLocation(bench.folder / "recipes")) as database:
        for service in SERVICES:
            seed = bench.options.seed
            found = drill(database, service(seed), bench.folder / service.recipe, changes=_CHANGES, seed=seed)
            for example in found.examples:
                say(f"  {service.recipe}: {example}")
            note = f"{found.changes} changes, {found.records} records, {found.failed} of {found.looks} looks failed"
            rows += [
                Row(f"{service.recipe}: records lost", found.lost, "records", 0, note),
                Row(f"{service.recipe}: records doubled", found.doubled, "records", 0),
                Row(f"{service.recipe}: records stale", found.stale, "records", 0),
                Row(f"{service.recipe}: processor time of client, fake and looks", found.seconds, "s"),
            ]
    return rows

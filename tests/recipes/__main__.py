"""`python -m tests.recipes CHANGES SEED [RECIPE…]`: drill recipes in the database of the environment."""

import sys
import tempfile
from pathlib import Path

from sourcebook.database.database import Database
from sourcebook.database.location import DatabaseLocation
from tests.recipes.drill import drill, shown
from tests.recipes.services import SERVICES


def main(changes: int, seed: int, *names: str) -> None:
    """Print the figures of each recipe as a line of JSON."""
    with tempfile.TemporaryDirectory() as made, Database(DatabaseLocation.find(Path(made) / "home")) as database:
        for service in SERVICES:
            if service.recipe in names or not names:
                folder = Path(made) / service.recipe
                print(shown(drill(database, service(seed), folder, changes=changes, seed=seed)), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), *sys.argv[3:])

"""Sourcebook in a Dagster project of your own: `sourcebook_definitions` and the component `sourcebook.Collection`."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from typing import Final

from sourcebook.errors import MissingDependencyError
from sourcebook.installation import code_location, install_command

_PACKAGES: Final = ("assets", "orchestration", "resources", "sensors")


def _open_code_location() -> None:
    """Put the folder of the pipeline's packages last on the import path, where nobody else has packages of their names.

    Raises:
        MissingDependencyError: this copy of the library lacks the pipeline, or other packages have its names.
    """
    folder = code_location()
    if folder is None:
        raise MissingDependencyError(f"the pipeline is not installed: run  {install_command('pipeline')}")
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
    for name in _PACKAGES:
        found = importlib.util.find_spec(name)
        places = [Path(place).resolve() for place in (found and found.submodule_search_locations) or ()]
        if folder.resolve() / name not in places:
            raise MissingDependencyError(
                f"another package ({found.origin if found else 'not found'}) is named {name}, as one of Sourcebook's: "
                "rename it, or run Sourcebook as a code location of its own, with a line in workspace.yaml"
            )


_open_code_location()

from orchestration.embedding.component import Collection as Collection  # noqa: E402
from orchestration.embedding.definitions import sourcebook_definitions as sourcebook_definitions  # noqa: E402

"""The reach of collections that are made over the API, as whoever runs the server has set it."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from psycopg import Connection

from sourcebook.config.api_collection import DEFAULT_GIT_HOSTS, ApiLimits
from sourcebook.database.queries import queries
from sourcebook.embedding.weights import BUNDLED_NAME, MULTILINGUAL_NAME

FOLDERS_VARIABLE: Final = "SOURCEBOOK_FOLDERS"
GIT_HOSTS_VARIABLE: Final = "SOURCEBOOK_GIT_HOSTS"


def allowed_folders(named: Iterable[str | Path] | None = None) -> tuple[Path, ...]:
    """Return the folders that collections of the API may read: those of SOURCEBOOK_FOLDERS where none are named."""
    found = os.environ.get(FOLDERS_VARIABLE, "").split(os.pathsep) if named is None else named
    return tuple(Path(os.path.realpath(Path(each).expanduser())) for each in found if str(each).strip())


def find_limits(connection: Connection, folders: Iterable[str | Path] | None, home: Path) -> ApiLimits:
    """Return the reach of collections of the API."""
    hosts = os.environ.get(GIT_HOSTS_VARIABLE)
    known = {name for (name,) in connection.execute(queries["models_of_the_file"])}
    return ApiLimits(
        folders=allowed_folders(folders),
        own=(home,),
        git_hosts=DEFAULT_GIT_HOSTS
        if hosts is None
        else frozenset(host.strip().lower() for host in hosts.split(",") if host.strip()),
        models=frozenset({BUNDLED_NAME, MULTILINGUAL_NAME, *known}),
    )

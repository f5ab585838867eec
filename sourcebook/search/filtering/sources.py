"""Sources as a person names them, and as the ledger does."""

import os.path
from collections.abc import Iterable

from pydantic import ValidationError

from sourcebook.config.sites import SiteSource


def possible_locations(names: Iterable[str]) -> list[str]:
    """Return what the ledger may call the sources of these names.

    A path is looked up as it stands and from the current folder, links followed; a URL in its normal form, too.
    """
    return list(dict.fromkeys(location for name in names for location in _spellings(name)))


def _spellings(name: str) -> Iterable[str]:
    bare = name.rstrip("/")
    yield from (name, bare, f"{bare}/")
    if "://" not in name or name.startswith("file://"):
        yield os.path.realpath(os.path.expanduser(name.removeprefix("file://")))  # noqa: PTH111 - never raises
    elif name.lower().startswith(("http://", "https://")):
        try:
            yield SiteSource(url=name).location
        except ValidationError:
            return

"""Names of collections: made from folders and hosts, and the nearest one for a misspelt one."""

import difflib
import re
import unicodedata
from collections.abc import Collection, Sequence

_LONGEST = 63
_FALLBACK = "documents"


def collection_name(text: str) -> str:
    """Return the name of a collection made from the name of a folder or a host; `documents` where nothing is left.

    Accents are dropped, and runs of other characters become one dash.
    """
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    name = re.sub(r"\.{2,}", ".", re.sub(r"[^A-Za-z0-9_.-]+", "-", plain)).strip("._-")
    return name[:_LONGEST].rstrip(".-_") or _FALLBACK


def nearest(name: str, known: Collection[str]) -> str | None:
    """Return the known name that a misspelt one most likely means; None where none is near."""
    by_form = {each.casefold(): each for each in known}
    near = difflib.get_close_matches(name.casefold(), by_form, n=1, cutoff=0.6)
    return by_form[near[0]] if near else None


def unknown_collections(names: Sequence[str], known: Sequence[str]) -> str:
    """Return the sentence on collections that do not exist, with the nearest names and those that exist."""
    if not known:
        return f"there is no collection {_listed(names)}; there is none yet: run sourcebook ingest"
    near = dict.fromkeys(found for name in names if (found := nearest(name, known)))
    meant = f" did you mean {' and '.join(near)}?" if near else ""
    return f"there is no collection {_listed(names)};{meant} there is {', '.join(known)}"


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)

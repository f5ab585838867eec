"""URLs of exports."""

import re
from pathlib import Path
from typing import Final

from sourcebook.config.store_urls import has_password, shown_store
from sourcebook.errors import TransferError

_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+(://|::)")
_MAGIC: Final = re.compile(r"[*?\[\]]")
"""Signs that file systems take for patterns: one that is deleted must not mean others."""


def url_of(folder: Path | str) -> str | None:
    """Return the fsspec URL that names an export, without a slash at its end; None for a folder of this machine.

    Raises:
        TransferError: the URL has a password, or a sign of a pattern.
    """
    text = str(folder)
    if isinstance(folder, Path) or _SCHEME.match(text) is None or text.startswith("file://"):
        return None
    if has_password(text):
        raise TransferError(
            f"the URL {shown_store(text)} has a password: leave it to the environment, as the package of the file "
            "system reads it"
        )
    if _MAGIC.search(text):
        raise TransferError(f"the URL {shown_store(text)} has one of the signs * ? [ ]: name another folder")
    return text.rstrip("/")

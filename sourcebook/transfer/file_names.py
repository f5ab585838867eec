"""File names for documents: safe on every system, whatever a URI holds.

A folder's name has no dot and a file's name ends with a digest of the URI and an extension, so that no two documents
share a file, no file stands where a folder must, and no name leaves the folder of the export.
"""

import hashlib
import re
import unicodedata
from pathlib import PurePosixPath
from typing import Final
from urllib.parse import unquote, urlsplit

_LONGEST: Final = 60
"""Bytes of a name before its digest and extension; systems allow 255 for the whole."""
_DEEPEST: Final = 8
"""Folders above a file; deeper ones are left out, so that paths stay shorter than systems allow."""
_DIGITS: Final = 16
"""Hexadecimal digits of the digest: 64 bits."""
_UNSAFE: Final = re.compile(r"[^\w \-()+,=@~]+")
_EXTENSION: Final = re.compile(r"\.[A-Za-z0-9]{1,12}$")
_RESERVED: Final = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)$", re.IGNORECASE)
"""Names that Windows gives to devices."""


def file_name_of(uri: str, location: str, extension: str | None = None) -> str:
    """Return the relative path of a document's file, with `/` between its parts.

    Args:
        uri: the URI of the document.
        location: the location of its source; the folders below it are kept.
        extension: the extension with its dot; None for that of the URI, `.bin` where it has none.
    """
    *folders, name = _parts(uri, location) or [""]
    found = _EXTENSION.search(name)
    ending = extension or (found[0].lower() if found else ".bin")
    digest = hashlib.sha256(uri.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]
    stem = name[: found.start()] if found else name
    return "/".join([*(safe_name(folder) for folder in folders[:_DEEPEST]), f"{safe_name(stem)}-{digest}{ending}"])


def safe_name(text: str) -> str:
    """Return a text as the name of a folder: letters, digits and some signs, without a dot, at most 60 bytes."""
    name = _UNSAFE.sub("_", unicodedata.normalize("NFC", text)).strip(" _") or "_"
    name = name.encode()[:_LONGEST].decode("utf-8", "ignore").rstrip(" _") or "_"
    return f"{name}_" if _RESERVED.match(name) else name


def is_safe_path(path: str) -> bool:
    """Return whether a relative path names something within its folder."""
    parts = PurePosixPath(path).parts
    is_plain = bool(parts) and "\\" not in path and "\0" not in path and ":" not in parts[0]
    return is_plain and not path.startswith("/") and ".." not in parts and str(PurePosixPath(path)) == path


def _parts(uri: str, location: str) -> list[str]:
    """Return the names in the path of a URI: those below its source, or the host and the path of a URL."""
    decoded = unquote(uri, errors="replace").removeprefix("file://")
    root = location.removeprefix("file://").rstrip("/") + "/"
    if decoded.startswith(root):
        return [part for part in decoded.removeprefix(root).split("/") if part]
    try:
        url = urlsplit(uri)
    except ValueError:
        return [part for part in decoded.split("/") if part]
    path = unquote(f"{url.path}?{url.query}" if url.query else url.path, errors="replace")
    return [part for part in (url.netloc, *path.split("/")) if part]

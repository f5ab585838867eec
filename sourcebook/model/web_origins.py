"""Origins of web pages, as browsers send them."""

from typing import Final
from urllib.parse import urlsplit

from sourcebook.errors import QueryError

_DEFAULT_PORTS: Final = {"http": 80, "https": 443}
"""Ports that browsers leave out."""


def check_origin(origin: str) -> None:
    """Check that a text is the origin of a site: scheme, host and port as browsers send them.

    Raises:
        QueryError: it is none.
    """
    try:
        parts = urlsplit(origin)
        is_origin = parts.scheme in _DEFAULT_PORTS and origin == f"{parts.scheme}://{parts.netloc}"
        has_host = bool(parts.hostname) and parts.netloc == parts.netloc.lower()
        has_port = parts.port not in (0, _DEFAULT_PORTS.get(parts.scheme))
    except ValueError:
        is_origin = has_host = has_port = False
    is_plain = origin.isascii() and origin.isprintable() and not set("@*,; ") & set(origin)
    if not (is_origin and has_host and has_port and is_plain):
        raise QueryError(f"{origin!r} is no origin: write scheme, host and port alone, as in  https://intranet.example")

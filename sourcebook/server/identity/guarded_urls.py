"""URLs that this server asks or names: over TLS, or on this machine."""

from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator
from pydantic_core import PydanticCustomError

_LOOPBACK: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def _guarded_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK)
        if is_safe and parts.hostname and parts.port != 0 and parts.username is None and not parts.fragment:
            return url
    except ValueError:
        pass
    raise PydanticCustomError("server_url", "it is no https URL; http is for this machine's own address alone")


Url = Annotated[str, AfterValidator(_guarded_url)]


def is_guarded_url(url: object) -> bool:
    """Return whether a URL may be asked for keys: over TLS, or on this machine."""
    try:
        return isinstance(url, str) and bool(_guarded_url(url))
    except PydanticCustomError:
        return False

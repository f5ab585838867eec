"""The version of the server, as its answers name it, beside that of this client."""

import logging
import re
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Final

from sourcebook.installation import VERSION_HEADER, installed_version

_VERSION: Final = re.compile(r"(?P<release>\d{1,9}(?:\.\d{1,9}){0,3})(?P<more>[A-Za-z0-9.+-]{0,40})")
_answered: Final[ContextVar[str]] = ContextVar("version of the server that answered last", default="")
_log = logging.getLogger("sourcebook.client")


class ServerVersion:
    """The version of one server; a warning in the log where it is older or newer than this client."""

    def __init__(self, url: str) -> None:
        """Prepare for the answers of a server."""
        self._url = url
        self.text: str | None = None
        """As the last answer named it; None before the first, or where a proxy removes the header."""

    def note(self, headers: Mapping[str, str]) -> None:
        """Read the headers of an answer; warn once for each version."""
        found = headers.get(VERSION_HEADER, "")
        text = found if _VERSION.fullmatch(found) else ""
        _answered.set(text)
        if not text or text == self.text:
            return
        self.text = text
        own = installed_version()
        if relation := compare(text, own):
            _log.warning("the server at %s is Sourcebook %s, %s than this client (%s)", self._url, text, relation, own)


def both_versions() -> str:
    """Return the version of the server that answered last in this context, and the client's, as a clause."""
    return f"the server is Sourcebook {_answered.get() or 'of an unknown version'}, this client {installed_version()}"


def compare(other: str, own: str) -> str | None:
    """Return `older` or `newer` for a version beside this one; None where they are the same or one is unknown."""
    read = [_VERSION.fullmatch(each) for each in (other, own)]
    if None in read:
        return None
    theirs, ours = ([*_numbers(each), each["more"] == "", each["more"]] for each in read if each)
    return None if theirs == ours else "older" if theirs < ours else "newer"


def _numbers(version: re.Match[str]) -> list[int]:
    numbers = [int(part) for part in version["release"].split(".")]
    return numbers + [0] * (4 - len(numbers))

"""Secrets of sources of records: values from the environment, which no message repeats."""

import os
import re
from collections.abc import Mapping
from typing import Any, Final, Self
from urllib.parse import quote, quote_plus, unquote, urlsplit

from sourcebook.config.site_types import REFERENCE
from sourcebook.errors import FailureClass, ListingError

_SHORTEST: Final = 4
"""Characters from which a value is hidden wherever it stands."""


class Secrets:
    """Values of variables that settings name, filled in and kept out of messages."""

    def __init__(self) -> None:
        self._values: set[str] = set()

    def filled(self, value: Any) -> Any:
        """Return a setting with the values of the variables in its texts.

        Raises:
            ListingError: a variable is not set.
        """
        if isinstance(value, Mapping):
            return {name: self.filled(held) for name, held in value.items()}
        if isinstance(value, list | tuple):
            return [self.filled(held) for held in value]
        return REFERENCE.sub(self._value, value) if isinstance(value, str) else value

    def hide(self, url: str) -> Self:
        """Keep the password of a URL out of messages, and the URL itself where it has one."""
        try:
            password = urlsplit(url).password
        except ValueError:  # it is no URL, and its parts are not known
            password = url
        if password:
            self._values |= {url, password, unquote(password)}
        return self

    def shown(self, text: str) -> str:
        """Return a message without the values, longest first."""
        for value in sorted(self._values, key=len, reverse=True):
            text = text.replace(value, "***")
        return text

    def _value(self, match: "re.Match[str]") -> str:
        found = os.environ.get(match[1])
        if found is None:
            reason = f"the environment variable {match[1]} of the source's settings is not set"
            raise ListingError(reason, FailureClass.FORBIDDEN)
        found = found.strip()
        if len(found) >= _SHORTEST:
            self._values |= {found, quote(found, safe=""), quote_plus(found)}
        return found

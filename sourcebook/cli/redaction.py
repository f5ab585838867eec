"""Removal of secrets from messages: database URLs and their passwords."""

import os
import re
from urllib.parse import unquote

_SECRET_SETTINGS = ("SOURCEBOOK_DATABASE_URL", "SOURCEBOOK_DAGSTER_DATABASE_URL", "PGPASSWORD")
# A password may hold an unencoded @ or /: it ends at the last @ before the parameters.
_PASSWORD = re.compile(r"//[^:/@\s]*:(?P<url>[^\s?]+)@|password\s*=\s*(?P<word>'[^']*'|[^\s&]+)")
_ANY_URL = re.compile(r"(\b[a-z][a-z0-9+.-]*://[^:/@\s]*:)[^/\s?]+@", re.IGNORECASE)
_SEPARATORS = re.compile(r"[@:/?#]")
_SHORTEST_PIECE = 3
"""Characters of a piece of a password that is hidden where an error shows it alone."""


def redact(text: str) -> str:
    """Return a text without the passwords of the environment and of any URL."""
    for secret in sorted(_secrets(), key=len, reverse=True):
        text = text.replace(secret, "***")
    return _ANY_URL.sub(r"\1***@", text)


def _secrets() -> set[str]:
    found: set[str] = set()
    for setting in _SECRET_SETTINGS:
        value = os.environ.get(setting, "")
        if setting == "PGPASSWORD":
            found.add(value)
        elif value:
            for match in _PASSWORD.finditer(value):
                password = (match["url"] or match["word"] or "").strip("'")
                found |= {password, unquote(password)}
                pieces = _SEPARATORS.split(password)
                found |= {form for piece in pieces if len(piece) >= _SHORTEST_PIECE for form in (piece, unquote(piece))}
    return found - {""}

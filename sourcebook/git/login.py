"""The login of a repository: user and password from the environment, handed to git without an argument or a file."""

import os
import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit, urlunsplit

from sourcebook.errors import FailureClass, ListingError

_VARIABLE: Final = re.compile(r"\$\{(\w+)\}")
_HELPER: Final = (
    '!f() { test "$1" = get && printf \'username=%s\\npassword=%s\\n\' "$GIT_LOGIN_USER" "$GIT_LOGIN_PASSWORD"; }; f'
)
"""A credential helper that says what two variables hold."""


@dataclass(frozen=True, slots=True)
class Login:
    """User and password for one host."""

    host: str
    """Scheme and host, such as `https://git.example.com`."""
    user: str
    password: str = field(repr=False)

    def environment(self, first: int) -> dict[str, str]:
        """Return the variables that make git use the login.

        Args:
            first: number of configuration entries that the environment has already.
        """
        name = f"credential.{self.host}.helper"
        entries = {f"GIT_CONFIG_KEY_{first}": name, f"GIT_CONFIG_VALUE_{first}": ""}  # no other helper
        entries |= {f"GIT_CONFIG_KEY_{first + 1}": name, f"GIT_CONFIG_VALUE_{first + 1}": _HELPER}
        return {
            **entries,
            "GIT_CONFIG_COUNT": str(first + 2),
            "GIT_LOGIN_USER": self.user,
            "GIT_LOGIN_PASSWORD": self.password,
        }


def split_login(url: str) -> tuple[str, Login | None]:
    """Return a URL without the login in it, and the login with the values of its variables.

    A user without a password stays in the URL, for git's own helpers and for ssh.

    Args:
        url: a URL with references such as `${TOKEN}` in its user and password.

    Raises:
        ListingError: a variable is not set.
    """
    if "://" not in url:
        return url, None
    parts = urlsplit(url)
    login, at, host = parts.netloc.rpartition("@")
    user, colon, password = login.partition(":")
    if not at or (not colon and not _VARIABLE.search(user)):
        return url, None
    plain = urlunsplit((parts.scheme, host, parts.path, "", ""))
    # A token alone is a password: the services ignore the user beside it.
    found = Login(f"{parts.scheme}://{host}", _filled(user) if colon else "git", _filled(password if colon else user))
    return plain, found


def _filled(text: str) -> str:
    def variable(match: re.Match[str]) -> str:
        found = os.environ.get(match[1])
        if found is None:
            reason = f"the repository's login needs the environment variable {match[1]}, which is not set"
            raise ListingError(reason, FailureClass.FORBIDDEN)
        return found.strip()

    filled = _VARIABLE.sub(variable, text) if _VARIABLE.search(text) else unquote(text)
    if any(ord(letter) < 32 for letter in filled):
        raise ListingError("the repository's login holds characters that no password may have", FailureClass.FORBIDDEN)
    return filled

"""A stored login: the cookies and the local storage that a browser of Playwright has saved."""

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from sourcebook.errors import FailureClass
from sourcebook.web.http_types import FetchError
from sourcebook.web.url import registered_domain

_STORE = """stored => {
    for (const [name, value] of Object.entries(stored[location.origin] || {}))
        if (localStorage.getItem(name) === null) localStorage.setItem(name, value);
}"""
_REMEDY = "make it anew, such as with: playwright open --save-storage"


class Cookie(BaseModel):
    """A cookie as Playwright writes it."""

    name: str
    value: str
    domain: str
    """Host; with a dot in front also its subdomains."""
    path: str = "/"
    expires: float = -1
    """Seconds since 1970; -1 where it ends with the browser."""
    secure: bool = False
    httpOnly: bool = False  # noqa: N815 - Playwright's name
    sameSite: str = "Lax"  # noqa: N815 - Playwright's name

    @property
    def host(self) -> str:
        """The host without the dot."""
        return self.domain.removeprefix(".")


class _Item(BaseModel):
    name: str
    value: str


class _Origin(BaseModel):
    origin: str
    items: list[_Item] = Field(default=[], alias="localStorage")


class _State(BaseModel):
    cookies: list[Cookie] = []
    origins: list[_Origin] = []


@dataclass(frozen=True, slots=True)
class LoginState:
    """The part of a stored login that belongs to a site."""

    cookies: Sequence[Cookie] = ()
    storage: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Local storage by origin."""

    def as_script(self) -> str | None:
        """Return a script that fills the local storage of its page, None where there is nothing to store."""
        if not self.storage:
            return None
        return f"({_STORE})({json.dumps(self.storage)})"


def read_login_state(path: str, host: str) -> LoginState:
    """Return the stored login for the registered domain of a host.

    Args:
        path: the file that Playwright has saved.
        host: host of the site.

    Raises:
        FetchError: the file cannot be read, is no storage state, or holds nothing valid for the site.
    """

    def refuse(reason: str) -> FetchError:
        text = f"the login state {path} {reason}; {_REMEDY}"
        return FetchError(text, failure_class=FailureClass.FORBIDDEN, transient=False)

    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise refuse(f"cannot be read ({error.strerror or type(error).__name__})") from error
    try:
        state = _State.model_validate_json(content)
    except ValidationError:
        raise refuse("is no storage state of Playwright") from None  # the error would quote the values
    domain = registered_domain(host)
    own = [cookie for cookie in state.cookies if registered_domain(cookie.host) == domain]
    valid = [cookie for cookie in own if cookie.expires < 0 or cookie.expires > time.time()]
    storage = {
        origin.origin: {item.name: item.value for item in origin.items}
        for origin in state.origins
        if origin.items and registered_domain(_host(origin.origin)) == domain
    }
    if own and not (valid or storage):
        raise refuse(f"holds only cookies of {domain} that have expired")
    if not (valid or storage):
        raise refuse(f"holds nothing for {domain}")
    return LoginState(valid, storage)


def cookies_for_browser(cookies: Sequence[Cookie]) -> list[dict[str, Any]]:
    """Return cookies as Playwright's contexts take them."""
    return [cookie.model_dump() for cookie in cookies]


def _host(origin: str) -> str:
    return origin.partition("://")[2].partition("/")[0].rpartition("@")[2].split(":")[0]

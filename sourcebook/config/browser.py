"""The settings of a site's browser: `browser:` of a site."""

import hashlib
import re
from datetime import timedelta
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, PlainSerializer, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Duration, Settings, Text

_VIEWPORT = re.compile(r"(\d{1,5})x(\d{1,5})")
_SIDES = range(100, 10_001)
"""Pixels that a side of a viewport may have."""
_LOCALE = re.compile(r"[A-Za-z]{2,3}(-[A-Za-z]{4})?(-([A-Za-z]{2}|\d{3}))?")
_NO_CSS = re.compile(r"^(css|js|xpath|text)[:=]|^//|[{};\"']")
_CLOSES = {")": "(", "]": "["}
_QUOTED = re.compile(r"""\\.|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""")
"""Parts of a selector in which brackets and quotes have no meaning."""


def _selector(selector: str) -> str:
    """Refuse what cannot be a CSS selector; the browser, which knows all of CSS, refuses the rest."""
    bare = _QUOTED.sub("", selector)
    opened: list[str] = []
    for letter in bare:
        if letter in "([":
            opened.append(letter)
        elif letter in ")]" and (opened.pop() if opened else "") != _CLOSES[letter]:
            opened = [letter]
            break
    if opened or _NO_CSS.search(bare):
        raise PydanticCustomError("selector", "this is no CSS selector")
    return selector


def _scroll(screens: Any) -> Any:
    """Read `true` as no limit, and `false` as no screen."""
    if isinstance(screens, bool):
        return None if screens else 0
    return screens


def _viewport(size: Any) -> tuple[int, int]:
    parts = _VIEWPORT.fullmatch(size.strip()) if isinstance(size, str) else None
    if parts is None or not (int(parts[1]) in _SIDES and int(parts[2]) in _SIDES):
        raise PydanticCustomError("viewport", "this is no size of a window")
    return int(parts[1]), int(parts[2])


def _locale(locale: str) -> str:
    if not _LOCALE.fullmatch(locale):
        raise PydanticCustomError("locale", "this is no language")
    return locale


Selector = Annotated[Text, AfterValidator(_selector)]
Script = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=100_000)]
Screens = Annotated[
    Annotated[int, Field(strict=True, ge=0, le=1000)] | None,
    BeforeValidator(_scroll),
    PlainSerializer(lambda screens: True if screens is None else screens),
]
"""A largest number of screens; None for no limit."""
Viewport = Annotated[tuple[int, int], BeforeValidator(_viewport), PlainSerializer(lambda size: f"{size[0]}x{size[1]}")]
"""Width and height in pixels."""
Locale = Annotated[Text, AfterValidator(_locale)]


class ClickSettings(Settings):
    """A click on the first visible element that a selector finds; written as the selector alone, one click."""

    selector: Selector = Field(description='a CSS selector such as "button.more"')
    """CSS selector of the element."""
    times: int = Field(
        default=1,
        strict=True,
        ge=1,
        le=1000,
        description="a whole number from 1 to 1000, of clicks at most",
    )
    """Clicks on it, one after the other."""

    @model_validator(mode="before")
    @classmethod
    def _selector_alone(cls, click: Any) -> Any:
        return {"selector": click} if isinstance(click, str) else click


class BrowserSettings(Settings):
    """How a browser opens the pages of a site, and what it does on them before they are read."""

    clicks: tuple[ClickSettings, ...] = Field(
        default=(), description='a list of CSS selectors such as ["#accept", {selector: "button.more", times: 20}]'
    )
    """Elements that are clicked in this order; what is not there is left out."""
    wait_for: Selector | None = Field(
        default=None, description='a CSS selector such as "main article", of an element that every page has'
    )
    """CSS selector of an element that every page has when it is complete; a page on which it does not come fails."""
    scroll: Screens = Field(default=0, description="true, false, or a whole number from 0 to 1000, of screens at most")
    """Scrolling before a page is read: `true` until nothing more comes, or the largest number of screens."""
    js_code: tuple[Script, ...] = Field(default=(), description='a list of JavaScript such as ["openAll()"]')
    """Scripts that run on a page before it is read, each the body of an async function."""
    page_timeout: Annotated[Duration, Field(le=timedelta(minutes=10))] | None = Field(
        default=None,
        description="a duration such as 60s, at most 10m, for a page in the browser; unset: request.timeout",
    )
    """Maximum time of a page in the browser."""
    viewport: Viewport = Field(
        default=(1080, 600), description="width and height such as 1280x800, each from 100 to 10000 pixels"
    )
    """Size of the browser's window in pixels."""
    locale: Locale | None = Field(default=None, description="a language such as de or de-DE")
    """Language of the browser."""

    @property
    def changes_pages(self) -> bool:
        """Whether a page is waited for or worked on before it is read."""
        return bool(self.clicks or self.js_code or self.wait_for) or self.scroll != 0

    @property
    def identity(self) -> str:
        """Digest of the settings that decide what a page holds when it is read."""
        return hashlib.sha256(self.model_dump_json(exclude={"page_timeout"}).encode()).hexdigest()[:12]

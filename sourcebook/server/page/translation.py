"""Words of the page in the visitor's language, from the catalogues of gettext in `languages`."""

import re
from collections.abc import Iterator
from contextvars import ContextVar
from functools import cache
from gettext import GNUTranslations, NullTranslations
from pathlib import Path
from typing import Final

from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Receive, Scope, Send

LANGUAGES: Final = {"en": "English", "de": "Deutsch", "es": "Español", "fr": "Français", "zh": "中文"}
"""Languages of the page by their code, each in its own words."""
COOKIE: Final = "sourcebook_language"
"""Cookie of the language that a visitor has chosen."""
CATALOGUES: Final = Path(__file__).parent / "languages"
SOURCE: Final = "en"
"""Language of the texts in the templates and in the code."""
_RANGE: Final = re.compile(r"\s*([A-Za-z]{1,8}|\*)(?:-[A-Za-z0-9-]{1,40})?\s*(?:;\s*q=([01](?:\.\d{0,3})?)\s*)?")
_MOST_RANGES: Final = 50
_chosen: ContextVar[str] = ContextVar("language_of_page", default=SOURCE)


class Languages:
    """Has the words of each request's page in the language of its visitor.

    Args:
        app: the app behind it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle a request."""
        if scope["type"] == "http":
            _chosen.set(language_for(HTTPConnection(scope)))
        await self._app(scope, receive, send)


def language_for(request: HTTPConnection) -> str:
    """Return the language that a visitor has chosen, or else the one that the browser asks for first."""
    chosen = request.cookies.get(COOKIE, "")
    return chosen if chosen in LANGUAGES else preferred_language(request.headers.get("accept-language", ""))


def preferred_language(header: str) -> str:
    """Return the language that an `Accept-Language` header prefers (RFC 9110, 12.5.4); English where it names none."""
    wanted = sorted(_ranges(header), key=lambda each: -each[1])
    return next((name for name, quality in wanted if quality > 0), SOURCE)


def language() -> str:
    """Return the language of the page of this request."""
    return _chosen.get()


def gettext(message: str) -> str:
    """Return a text of the page in the visitor's language."""
    return _catalogue(language()).gettext(message) if message else ""


def ngettext(singular: str, plural: str, number: int) -> str:
    """Return a text about a number of things in the visitor's language."""
    return _catalogue(language()).ngettext(singular, plural, number)


def pgettext(context: str, message: str) -> str:
    """Return a word in the visitor's language that other languages have several words for."""
    return _catalogue(language()).pgettext(context, message)


def messages(name: str, context: str) -> list[tuple[str, str]]:
    """Return the texts of a context in a language's catalogue, with their translations."""
    kept: dict[str, str] = getattr(_catalogue(name), "_catalog", {})  # no method of it lists them
    start = f"{context}\4"
    return [(str(key)[len(start) :], told) for key, told in kept.items() if str(key).startswith(start)]


def number(value: float, decimals: int = 0) -> str:
    """Return a number with the signs of the visitor's language between its thousands and before its fraction."""
    signs = {ord(","): pgettext("sign between thousands", ","), ord("."): pgettext("sign before a fraction", ".")}
    return f"{value:,.{decimals}f}".translate(signs)


def _ranges(header: str) -> Iterator[tuple[str, float]]:
    """Yield the languages of the page that a header names, with their quality."""
    for each in header.split(",")[:_MOST_RANGES]:
        found = _RANGE.fullmatch(each)
        name = "" if found is None else found[1].lower().replace("*", SOURCE)
        if found is not None and name in LANGUAGES:
            yield name, float(found[2] or 1)


@cache
def _catalogue(name: str) -> NullTranslations:
    if name == SOURCE:
        return NullTranslations()
    with (CATALOGUES / f"{name}.mo").open("rb") as file:
        return GNUTranslations(file)

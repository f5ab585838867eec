"""Texts of the page's scripts in the visitor's language: `say("…")` and `sayMany("…", "…", number)` name them."""

import re
from functools import cache
from pathlib import Path
from typing import Final

from sourcebook.server.page.translation import SOURCE, gettext, language, ngettext

STATIC: Final = Path(__file__).parent / "static"
_OTHERS: Final = frozenset({"htmx.min.js", "hx-sse.min.js", "widget.js"})
"""Scripts of others, and the one for pages of other sites, which brings its words along."""
_ONE: Final = re.compile(r'\bsay\("([^"]+)"')
_COUNTED: Final = re.compile(r'\bsayMany\("([^"]+)", "([^"]+)"')


@cache
def texts_of_scripts() -> tuple[tuple[str, ...], tuple[tuple[str, str], ...]]:
    """Return the English texts in the page's own scripts, and those about one thing and about several."""
    code = "\n".join(each.read_text() for each in sorted(STATIC.glob("*.js")) if each.name not in _OTHERS)
    return tuple(sorted(set(_ONE.findall(code)))), tuple(sorted(set(_COUNTED.findall(code))))


def words_of_scripts() -> dict[str, str | list[str]]:
    """Return the texts by the English ones, of a counted one its forms; none on an English page."""
    if language() == SOURCE:
        return {}
    single, counted = texts_of_scripts()
    forms = {one: [ngettext(one, many, 1), ngettext(one, many, 2)] for one, many in counted}
    return {each: gettext(each) for each in single} | forms

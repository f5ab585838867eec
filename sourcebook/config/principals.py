"""Principals: the persons and groups that a document is allowed to, and for whom a request speaks.

A principal is a text: `user:anna@example.org`, `group:board`, or `everyone`, which every caller is.
"""

import re
import unicodedata
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

EVERYONE: Final = "everyone"
USER: Final = "user"
GROUP: Final = "group"
LONGEST: Final = 512
"""Characters of a principal, at most."""
MOST: Final = 20_000
"""Principals of one caller, at most: nested groups of a large directory included."""
PRINCIPALS_HEADER: Final = "X-Sourcebook-Principals"
"""Header of requests on behalf of others: principals between commas, each as UTF-8 with percent-encoding."""
_QUOTED: Final = 60
"""Characters of a text that an error repeats."""
_FORBIDDEN: Final = re.compile("[\0-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Control characters, separators of lines, and lone surrogates."""


def parse_principal(text: str) -> str:
    """Return a principal in its one spelling: NFC, without white space around it, the kind in lower case.

    The case of a name matters: `user:Anna` is not `user:anna`.

    Raises:
        ValueError: the text is no principal.
    """
    principal = unicodedata.normalize("NFC", text).strip()
    if not 0 < len(principal) <= LONGEST:
        raise ValueError(f"a principal has 1 to {LONGEST} characters, {_shown(principal)} has {len(principal):,}")
    if _FORBIDDEN.search(principal):
        raise ValueError(f"the principal {_shown(principal)} has a control character or half a character")
    kind, colon, name = principal.partition(":")
    kind = kind.lower()
    if kind == EVERYONE and not colon:
        return EVERYONE
    if kind not in (USER, GROUP) or not name or name != name.lstrip():
        raise ValueError(
            f"{_shown(principal)} is no principal: write user:NAME, group:NAME or {EVERYONE}, without a space"
        )
    return f"{kind}:{name}"


def _shown(principal: str) -> str:
    return ascii(principal[:_QUOTED])


def named_principals(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the principals that are named, in their one spelling, each once and sorted.

    Raises:
        ValueError: a text is no principal, or there are none or more than 20,000.
    """
    found = {parse_principal(text) for text in texts}
    if not 0 < len(found) <= MOST:
        raise ValueError(f"name 1 to {MOST:,} principals")
    return tuple(sorted(found))


def as_header(principals: Iterable[str]) -> str:
    """Return principals as a request on behalf of them names them.

    Raises:
        ValueError: a text is no principal, or there are more than 20,000.
    """
    return ", ".join(quote(each, safe=":@") for each in sorted(principal_set(principals)))


def principal_set(texts: Iterable[str]) -> frozenset[str]:
    """Return principals in their one spelling, with `everyone`.

    Raises:
        ValueError: a text is no principal, or there are more than 20,000.
    """
    found = {EVERYONE}
    for text in texts:
        found.add(parse_principal(text))
        if len(found) > MOST:
            raise ValueError(f"a caller has at most {MOST:,} principals")
    return frozenset(found)

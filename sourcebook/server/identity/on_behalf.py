"""Requests on behalf of others: a trusted front end says in a header for whom it asks."""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final
from urllib.parse import unquote_to_bytes

from starlette.datastructures import Headers

from sourcebook.config.principals import PRINCIPALS_HEADER, parse_principal, principal_set
from sourcebook.contract.access import AccessKey
from sourcebook.errors import QueryError
from sourcebook.model.access import Asker, Grant, asker_for
from sourcebook.server.problems import ForbiddenError

_EXAMPLE: Final = f"{PRINCIPALS_HEADER}: user:anna@example.org, group:board"
_HALF_ESCAPE: Final = re.compile("%(?![0-9A-Fa-f]{2})")


def spoken_grant(key: AccessKey, headers: Headers) -> Grant:
    """Return what a request with a key may do, for whom it asks.

    Raises:
        ForbiddenError: the key may not ask on behalf of others, or must and does not say for whom.
        QueryError: the header cannot be read.
    """
    sent = headers.getlist(PRINCIPALS_HEADER)
    if key.on_behalf is None:
        refuse_header(headers)
        return key.grant
    if sent:
        return replace(key.grant, asker=asker_for(read_principals(sent)))
    if key.on_behalf == "required":
        raise ForbiddenError(
            f"this key asks on behalf of others, and the request does not say of whom: send {_EXAMPLE}"
        )
    return replace(key.grant, asker=Asker())


def refuse_header(headers: Headers) -> None:
    """Refuse a request that says for whom it asks without the right to: it would be told more, or less, than meant.

    Raises:
        ForbiddenError: it says so.
    """
    if PRINCIPALS_HEADER in headers:
        raise ForbiddenError(
            f"{PRINCIPALS_HEADER} needs a key that asks on behalf of others: "
            "sourcebook key create NAME --on-behalf required"
        )


def read_principals(sent: Sequence[str]) -> frozenset[str]:
    """Return the principals of the header, and `everyone`.

    Raises:
        QueryError: it is sent twice, or one of its items, named by its place, is no principal.
    """
    if len(sent) > 1:
        raise QueryError(f"{PRINCIPALS_HEADER} is sent more than once: let the front end replace what its callers send")
    found = [_principal(item, place) for place, item in enumerate(sent[0].split(","), 1)]
    try:
        return principal_set(found)
    except ValueError as error:
        raise QueryError(f"{PRINCIPALS_HEADER}: {error}") from error


def _principal(item: str, place: int) -> str:
    with suppress(ValueError):
        if item.isascii() and not _HALF_ESCAPE.search(item):
            return parse_principal(unquote_to_bytes(item.strip(" \t")).decode())
    raise QueryError(
        f"{PRINCIPALS_HEADER}: item {place} is no principal: write user:NAME, group:NAME or everyone as UTF-8 with "
        "percent-encoding, and commas between them"
    )

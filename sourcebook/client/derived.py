"""Methods of the client, from the operations: their arguments, answers and errors, and the way over HTTP."""

from __future__ import annotations

import inspect
import math
import re
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from datetime import timedelta
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, Final, ParamSpec, Protocol, TypeVar

from sourcebook.client.answers import read, read_list
from sourcebook.client.server_connection import MISSING, ServerConnection, segment
from sourcebook.contract.fields import listed_names
from sourcebook.contract.search import MOST_RESULTS
from sourcebook.errors import QueryError
from sourcebook.operations.principals import KEYWORD
from sourcebook.operations.table import OPERATIONS

if TYPE_CHECKING:
    from sourcebook.operations.opened import Opened

P = ParamSpec("P")
Answer = TypeVar("Answer")
Arguments = Mapping[str, Any]

_UNITS: Final = (("s", 1), ("m", 60), ("h", 3_600), ("d", 86_400))
_LARGEST: Final = 99_999
"""Largest number of a unit of time."""
_IN_QUERIES: Final = {
    "collections": "collection",
    "kinds": "kind",
    "principals": "principal",
    "states": "state",
    "tags": "tag",
    "types": "type",
}
"""Names of parameters of a URL that may be repeated, by the argument."""


class HasServer(Protocol):
    """Whatever asks a server."""

    @property
    def server(self) -> ServerConnection:
        """The connection to the server."""


def sent(
    operation: Callable[Concatenate[Opened, P], Answer],
    by: Callable[[ServerConnection, Arguments], Any] | None = None,
) -> Callable[Concatenate[HasServer, P], Answer]:
    """Return an operation that a server does.

    Args:
        operation: the operation of `KnowledgeBase`.
        by: what sends its arguments and reads the answer, where the table of operations does not say it.
    """
    signature = inspect.signature(operation)
    way = by or (lambda server, given: exchange(server, operation.__name__, given))
    absent = {each.name for each in signature.parameters.values() if each.default is None}

    def ask(knowledge: HasServer, /, *args: P.args, **options: P.kwargs) -> Answer:
        bound = signature.bind(None, *args, **options)
        bound.apply_defaults()
        _, *given = bound.arguments.items()
        named = {name: value for name, value in given if name != "options"} | bound.arguments.get("options", {})
        if named.pop("actor", None) is not None:
            raise QueryError("a server records the name of the key as the actor: leave actor out")
        if named.pop("owner", None) is not None:
            raise QueryError("a conversation behind a server belongs to the key: leave owner out")
        principals, server = named.pop(KEYWORD, None), knowledge.server
        if principals is not None:
            server = server.on_behalf_of(principals)
        named = {name: value for name, value in named.items() if value is not None or name not in absent}
        answer: Answer = way(server, named)
        return answer

    update_wrapper(ask, operation)
    return ask


def exchange(server: ServerConnection, name: str, given: Arguments) -> Any:
    """Send arguments as the table of operations says, and return the answer."""
    operation = OPERATIONS[name]
    verb, path = operation.http.split()
    if operation.request is not None:
        return read(operation.answer.kind, server.post(path, operation.request.of(**given).as_json()))
    if isinstance(given.get("document"), list | tuple) and "{document}" in path:  # one at a time, once all are known
        numbers = [document_number(server, each, given.get("collection")) for each in dict.fromkeys(given["document"])]
        return [item for number in numbers for item in exchange(server, name, {"document": number})]
    rest = dict(given)
    for place in re.findall(r"\{(\w+)\}", path):
        value = rest.pop(place)
        if place == "document":
            value = document_number(server, value, rest.pop("collection", None))
        path = path.replace(f"{{{place}}}", segment(str(value)))
    kind, is_list, is_optional = operation.answer
    if verb == "GET":
        response = server.exchange(verb, path, parameters=in_query(rest), repeatable=True, may_be_missing=is_optional)
    elif verb == "DELETE":
        response = server.change(verb, path, parameters=in_query(rest), may_be_missing=is_optional)
    else:
        body = {each: plain(value) for each, value in rest.items()} or None
        response = server.change(verb, path, body, may_be_missing=is_optional)
    if kind is None or response.status_code == MISSING:
        return None
    if operation.key is None:
        return read(kind, response.content)
    found = read_list(kind, response.content, operation.key) if kind is not int else None
    if found is None:
        return read(dict[str, int], response.content)[operation.key]
    return found if is_list else found[0]


def document_number(server: ServerConnection, document: str | int | Path, collection: str | None) -> int:
    """Return the id of a document, which the server looks up where it is another name."""
    if isinstance(document, int) and collection is None:
        return document
    from sourcebook.contract.documents import Document

    named = {"id": document} if isinstance(document, int) else {"name": str(document)}
    return read(Document, server.get("/v1/documents/lookup", {**named, "collection": collection})).item.document_id or 0


def in_query(values: Arguments) -> dict[str, object]:
    """Return arguments as the parameters of a URL."""
    names = {name: listed_names(value) if name == "collections" else value for name, value in values.items()}
    return {_IN_QUERIES.get(name, name): plain(value) for name, value in names.items()}


def plain(value: Any) -> Any:
    """Return a value as JSON and parameters hold it; a duration in the smallest unit that holds it, rounded up."""
    match value:
        case timedelta():
            seconds = max(1, math.ceil(value.total_seconds()))
            unit, length = next((unit for unit in _UNITS if seconds <= _LARGEST * unit[1]), _UNITS[-1])
            return f"{min(math.ceil(seconds / length), _LARGEST)}{unit}"
        case str() | Path():
            return str(value).encode("utf-8", "replace").decode()  # JSON cannot carry lone surrogates
        case Mapping():
            return dict(value)
        case list() | tuple() | AbstractSet():
            return [plain(each) for each in value]
    return value


def checked_limit(limit: object) -> int:
    """Return the length of a list that comes in several requests.

    Raises:
        QueryError: it is none.
    """
    if not isinstance(limit, int) or not 1 <= limit <= MOST_RESULTS:
        raise QueryError(f"the limit is {limit!r}; it must be 1 to {MOST_RESULTS:,}")
    return limit

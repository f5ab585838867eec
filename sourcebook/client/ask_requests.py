"""Questions to the language models of a server."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from sourcebook.client.answers import read
from sourcebook.client.derived import Arguments
from sourcebook.client.problems import error_of
from sourcebook.client.server_connection import ServerConnection
from sourcebook.contract.answers import Answer, AnswerText, AskEvent, ToolUse
from sourcebook.contract.ask_events import AskEvents
from sourcebook.contract.asking import AskRequest
from sourcebook.errors import DatabaseUnavailableError, QueryError

_KINDS: Mapping[str, type[AskEvent]] = {"tool_use": ToolUse, "text": AnswerText, "answer": Answer}


def ask(server: ServerConnection, given: Arguments) -> Answer:
    """Return the answer; the question is sent once."""
    return next(event for event in ask_stream(server, given) if isinstance(event, Answer))


def ask_stream(server: ServerConnection, given: Arguments) -> AskEvents:
    """Yield what happens on the way to an answer, and the answer.

    Raises:
        QueryError: settings of answering are given, which are the server's to decide.
    """
    options = dict(given)
    if options.pop("answering", None) is not None:
        raise QueryError("a server asks the language models of its own settings: leave answering out")
    return AskEvents(_events(server, AskRequest.of(**options).as_json() | {"stream": True}))


def _events(server: ServerConnection, body: Mapping[str, Any]) -> Iterator[AskEvent]:
    with server.events("/v1/ask", body=body) as events:
        for event in events:
            if event.event == "error":
                raise error_of(server.url, _status(event.data), {}, event.data.encode())
            if event.event in _KINDS:
                yield read(_KINDS[event.event], event.data.encode())
            if event.event == "answer":
                return
    raise DatabaseUnavailableError(f"the server at {server.url} stopped in the middle of an answer")


def _status(problem: str) -> int:
    try:
        status = json.loads(problem)["status"]
    except (ValueError, KeyError, TypeError):
        return 500
    return status if isinstance(status, int) else 500

"""The part of the client that asks a language model, and reads the log of its calls."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from sourcebook.client.of_the_server import check_actor
from sourcebook.client.remote_reports import duration_text, listed_names
from sourcebook.errors import DatabaseUnavailableError, QueryError

if TYPE_CHECKING:
    from sourcebook.answering.tools import ToolFormat
    from sourcebook.client.server_connection import ServerConnection
    from sourcebook.config.answering import AnsweringSettings
    from sourcebook.contract.answers import Answer, AskEvent
    from sourcebook.contract.ask_events import AskEvents
    from sourcebook.contract.filters import Filters
    from sourcebook.contract.llm_log import CallStatistics, LoggedCall

_PATH: Final = "/v1/ask"
_CALLS: Final = "/v1/llm-calls"


class RemoteAnswers(ABC):
    """Answers of a language model behind a server; see `Asking` for the arguments."""

    @property
    @abstractmethod
    def server(self) -> "ServerConnection":
        """The connection to the server."""

    def ask(
        self,
        question: str,
        collections: Sequence[str] | str | None = None,
        *,
        filters: "Filters | Mapping[str, Any] | None" = None,
        answering: "AnsweringSettings | Mapping[str, Any] | None" = None,
    ) -> "Answer":
        """Return the answer of the language model that collections name; see `KnowledgeBase.ask`.

        A question is sent once. `answering` must stay None.

        Raises:
            QueryError: an argument is not allowed, or a collection does not exist or names no model.
            ModelError: the language model cannot be asked.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.contract.answers import Answer

        return next(
            event
            for event in self.ask_stream(question, collections, filters=filters, answering=answering)
            if isinstance(event, Answer)
        )

    def ask_stream(
        self,
        question: str,
        collections: Sequence[str] | str | None = None,
        *,
        filters: "Filters | Mapping[str, Any] | None" = None,
        answering: "AnsweringSettings | Mapping[str, Any] | None" = None,
    ) -> "AskEvents":
        """Yield what happens on the way to an answer, its text as it is checked, and the answer; see `ask`."""
        from sourcebook.contract.ask_events import AskEvents
        from sourcebook.contract.filters import Filters
        from sourcebook.search.request import SearchRequest

        if answering is not None:
            raise QueryError("a server asks the language models of its own settings: leave answering out")
        SearchRequest.checked(question, collections, filters=filters)
        names = listed_names(collections)
        body: dict[str, Any] = {"question": question.encode("utf-8", "replace").decode(), "stream": True}
        body |= {"collections": names} if names else {}
        body |= {"filters": (Filters.checked(filters) or Filters()).as_json()} if filters else {}
        return AskEvents(self._events(body))

    def _events(self, body: Mapping[str, Any]) -> "Iterator[AskEvent]":
        from sourcebook.client.answers import read
        from sourcebook.client.problems import error_of
        from sourcebook.contract.answers import Answer, AnswerText, ToolUse

        kinds: dict[str, type[AskEvent]] = {"tool_use": ToolUse, "text": AnswerText, "answer": Answer}
        with self.server.events(_PATH, body=body) as events:
            for event in events:
                if event.event == "error":
                    raise error_of(self.server.url, _status(event.data), {}, event.data.encode())
                if event.event in kinds:
                    yield read(kinds[event.event], event.data.encode())
                if event.event == "answer":
                    return
        raise DatabaseUnavailableError(f"the server at {self.server.url} stopped in the middle of an answer")

    def tool_schemas(self, format: "ToolFormat" = "openai") -> list[dict[str, Any]]:  # noqa: A002 - as in `context`
        """Return the tools of a language model; see `KnowledgeBase.tool_schemas`.

        Raises:
            QueryError: there is no such format.
        """
        from sourcebook.answering.tools import tool_schemas

        return tool_schemas(format)

    def llm_calls(
        self,
        collections: Sequence[str] | str | None = None,
        *,
        since: timedelta | None = None,
        session: str | None = None,
        failed: bool = False,
        before: int | None = None,
        limit: int = 50,
    ) -> "list[LoggedCall]":
        """Return the logged calls of language models, the newest first; see `KnowledgeBase.llm_calls`.

        Raises:
            QueryError: a collection does not exist for the key, or the limit is not allowed.
            AccessError: the key is none of an administrator.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.llm_log import LoggedCall

        options = {"since": duration_text(since), "session": session, "failed": failed, "before": before}
        content = self.server.get(_CALLS, {"collection": listed_names(collections), **options, "limit": limit})
        return read_list(LoggedCall, content, "calls")

    def llm_statistics(
        self, collections: Sequence[str] | str | None = None, *, since: timedelta | None = None
    ) -> "list[CallStatistics]":
        """Return the sums of the logged calls of language models by origin, service and model.

        Raises:
            QueryError: a collection does not exist for the key.
            AccessError: the key is none of an administrator.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read_list
        from sourcebook.contract.llm_log import CallStatistics

        scope = {"collection": listed_names(collections), "since": duration_text(since)}
        return read_list(CallStatistics, self.server.get(f"{_CALLS}/statistics", scope), "models")

    def forget_llm_calls(self, collections: Sequence[str] | str | None = None, *, actor: str | None = None) -> int:
        """Delete logged calls of language models; return their number.

        Raises:
            QueryError: a collection does not exist for the key.
            AccessError: the key is none of an administrator.
            DatabaseError: the server fails or is out of reach.
        """
        from sourcebook.client.answers import read

        check_actor(actor)
        answer = self.server.change("DELETE", _CALLS, parameters={"collection": listed_names(collections)})
        return read(Mapping[str, int], answer.content)["calls"]  # type: ignore[type-abstract]


def _status(problem: str) -> int:
    import json

    try:
        status = json.loads(problem)["status"]
    except (ValueError, KeyError, TypeError):
        return 500
    return status if isinstance(status, int) else 500

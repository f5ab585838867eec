"""One question to a language model: a search, turns of the model with its tools, and then an answer or a refusal."""

import json
import time
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from sourcebook.answering.answer_value import AnswerValue, read_value
from sourcebook.answering.budget import Budget
from sourcebook.answering.checked_text import CheckedText, WithoutReasoning
from sourcebook.answering.completion import Completion
from sourcebook.answering.conversation import REWRITING_TOKENS, rewriting, rewritten, together
from sourcebook.answering.document_parts import document_sources
from sourcebook.answering.model_client import Message, ModelClient, most_tokens, provider_of, without_loss
from sourcebook.answering.prompt import asked, repairing, rules
from sourcebook.answering.sources import Sources
from sourcebook.answering.task import Task
from sourcebook.answering.tools import Reach, Tools, tool_schemas
from sourcebook.answering.turn import Call, CallLog, Reading, Turn, refuses_form, whole
from sourcebook.config.answering import AnsweringSettings
from sourcebook.contract.answers import (
    REFUSALS,
    Answer,
    AnswerText,
    AskEvent,
    Citation,
    Refusal,
    RemovedCitation,
    Source,
    ToolUse,
)
from sourcebook.errors import QueryError
from sourcebook.providers.failures import ProviderError

_MOST_PASSAGES: Final = 50
"""Passages of the first search, at most."""
_LEFT: Final = "The caller left before the answer ended."


@dataclass(slots=True)
class Session:
    """The course of one question. `events` is to be called once."""

    question: str
    """The question, which the search gets as it is."""
    sent_question: str
    """The question as the model gets it: redacted where a collection asks for it."""
    settings: AnsweringSettings
    reach: Reach
    log: CallLog | None = None
    task: Task = field(default_factory=Task)
    id: str = field(default_factory=lambda: uuid4().hex)
    _sources: Sources = field(default_factory=Sources)
    _text: str = ""
    _citations: list[Citation] = field(default_factory=list)
    _removed: list[RemovedCitation] = field(default_factory=list)
    _removed_links: int = 0
    _uncited: int = 0
    _turns: int = 0
    _is_doubtful: bool = False
    _begun: float = field(default_factory=time.monotonic)
    _budget: Budget = field(init=False)
    _client: ModelClient | None = None
    _has_left: bool = False
    _has_form: bool = True
    """Whether the server is asked for the form of the answer; one that refuses it has it from the rules."""
    _parts: int = 0
    """Number of sources of the document under work."""
    _value: Any = None

    def leave(self) -> None:
        """End the request to the model, and make no other one; for a thread beside the one that waits for events."""
        self._has_left = True
        if self._client is not None:
            self._client.end()

    def events(self) -> Iterator[AskEvent]:
        """Yield what happens on the way to the answer, and the answer.

        Raises:
            QueryError: the price of the model is unknown, and its cost is limited; the document under work has no room.
            ProviderError: the server of the model refuses, fails, or stops in the middle.
            SourcebookError: see `KnowledgeBase.search`.
        """
        self._budget = budget = Budget(self.settings, provider_of(self.settings))
        budget.check()
        tools = Tools(self.reach, self._sources, self.task.tool_options)
        with ExitStack() as closing:
            parts = self._document_parts()
            query = yield from self._query(closing)
            # The best passages may be the document's own, which the model reads anyway.
            most = min(_MOST_PASSAGES, self.settings.passages + len(parts))
            found, is_relevant = tools.find(query, most)
            found = found[: self.settings.passages]
            yield ToolUse("search", query, None, len(found))
            reason: Refusal | None = "nothing_relevant"
            if is_relevant or parts:
                tools.is_doubtful &= not parts
                reason = yield from self._turns_of(self._opened(closing), query, tools, [*parts, *found])
        yield self._answer(reason, tools, budget)

    def _opened(self, closing: ExitStack) -> ModelClient:
        """Return the client of the model, which is opened for the first request."""
        if self._client is None:
            self._client = closing.enter_context(ModelClient(self.settings))
            if self._has_left:
                self.leave()
        return self._client

    def _document_parts(self) -> list[Source]:
        """Return the document under work as sources; none without one.

        Raises:
            QueryError: a request to the model has no room for it.
        """
        if self.task.document is None:
            return []
        parts = document_sources(self.task.document, self.task.pages, self._sources)
        self._parts = len(parts)
        messages = self._messages(parts)
        needed = most_tokens(messages, self._offered("auto"))
        if not self._budget.room(needed):
            pages = "fewer pages" if self.task.pages else "some of its pages with document_pages"
            raise QueryError(
                f"the document {self.task.document.item.uri} takes a request of up to {needed:,} tokens; a question "
                f"may have {self.settings.max_tokens:,}: name {pages}, or raise answering.max_tokens or max_cost"
            )
        return parts

    def _query(self, closing: ExitStack) -> Generator[AskEvent, None, str]:
        """Return what is searched for: the question, after a conversation as it reads without it."""
        history = self.task.history
        if not history:
            return self.question
        messages = rewriting(history, self.sent_question)
        prompt = most_tokens(messages, {})
        room = min(self._budget.room(prompt), REWRITING_TOKENS)
        if not room or self.settings.max_turns < 2:
            return together(history, self.question)
        self._turns += 1
        turn = yield from self._request(self._opened(closing), messages, (prompt, room), {}, whole)
        return rewritten(turn.end.text, history, self.question)

    def _turns_of(
        self, client: ModelClient, query: str, tools: Tools, found: list[Source]
    ) -> Generator[AskEvent, None, Refusal | None]:
        """Let the model take its turns; return the reason where there is no answer."""
        messages, has_repaired = self._first_messages(found), False
        while self._turns < self.settings.max_turns:
            self._turns += 1
            is_last = self._turns == self.settings.max_turns
            offered = self._offered("none" if is_last else "auto")
            prompt = most_tokens(messages, offered)
            room = self._budget.room(prompt)
            if not room:
                self._turns -= 1
                return None if self._citations else "limit"
            self._is_doubtful = tools.is_doubtful
            read = self._checked(query, offered) if self.task.schema is None else whole
            try:
                turn = yield from self._request(client, messages, (prompt, room), offered, read)
            except ProviderError as error:
                if "response_format" not in offered or not refuses_form(error):
                    raise
                self._has_form = False  # the rules tell the form as well
                self._turns -= 1
                continue
            if turn.end.finish == "content_filter":
                return "content_filter"
            if turn.calls and offered.get("tool_choice") == "auto":
                yield from self._run_tools(messages, turn, tools)
            elif self.task.schema is None:
                return None if self._citations else "no_answer" if turn.says_no_answer else "uncited"
            elif turn.end.finish == "length":
                return "limit"
            else:
                made = read_value(turn.end.text, self.task.schema, query, self._sources, is_doubtful=self._is_doubtful)
                if made.flaw is None:
                    return (yield from self._take(made))
                if has_repaired or is_last:
                    return "schema"
                has_repaired = True
                messages += repairing(turn.end.text, made.flaw)
        return None if self._citations else "limit"

    def _take(self, made: AnswerValue) -> Generator[AskEvent, None, Refusal | None]:
        """Make a value the answer; return the reason where it is none."""
        self._removed += made.removed
        self._removed_links += made.removed_links
        if made.says_no_answer or not made.citations:
            return "no_answer" if made.says_no_answer else "uncited"
        self._citations, self._value = made.citations, made.value
        self._text = json.dumps(made.value, ensure_ascii=False, indent=2)
        yield AnswerText(self._text)
        return None

    def _offered(self, choice: str) -> dict[str, Any]:
        """Return the fields of a request beside its messages: the tools, and the form of the answer."""
        offered: dict[str, Any] = {}
        if self.settings.tools:
            offered |= {"tools": tool_schemas(tool_options=self.task.tool_options), "tool_choice": choice}
        if self.task.schema is not None and self._has_form:
            offered["response_format"] = self.task.schema.response_format
        return offered

    def _messages(self, found: Sequence[Source]) -> list[Message]:
        system = {"role": "system", "content": rules(self.task, has_tools=self.settings.tools)}
        asked_for = asked(self.sent_question, found, self.task, self._parts)
        return [without_loss(system), without_loss({"role": "user", "content": asked_for})]

    def _first_messages(self, found: list[Source]) -> list[Message]:
        """Return the question with as many of the best passages as leave room for an answer."""
        held = list(found)
        while True:
            messages = self._messages(held)
            fewest = max(1, self._parts)
            if len(held) <= fewest or self._budget.room(most_tokens(messages, self._offered("auto"))):
                self._sources.keep(len(held))
                return messages
            held.pop()

    def _checked(self, query: str, offered: Mapping[str, Any]) -> Reading:
        """Return what reads a completion sentence by sentence, and yields what holds."""
        may_call = offered.get("tool_choice") == "auto"

        def read(parts: Iterator[str | Completion]) -> Iterator[str | Turn]:
            text = CheckedText(self._sources, query, has_begun=bool(self._citations), is_doubtful=self._is_doubtful)
            answer = WithoutReasoning()
            for part in parts:
                if isinstance(part, str):
                    yield from text.add(answer.add(part))
                else:
                    yield from text.add(answer.end())
                    calls = part.calls if may_call else ()
                    yield from text.end(is_answer=not calls)
                    yield Turn(part, calls, text)

        return read

    def _request(
        self,
        client: ModelClient,
        messages: list[Message],
        limits: tuple[int, int],
        offered: Mapping[str, Any],
        read: Reading,
    ) -> Generator[AskEvent, None, Turn]:
        """Make one request; yield the parts of the answer that hold."""
        prompt, room = limits
        begun, shown, turn = time.monotonic(), "", None
        failure: str | None = _LEFT
        try:
            for part in client.complete(messages, room, offered, read):
                if isinstance(part, Turn):
                    turn = part
                else:
                    shown += part
                    self._text += part
                    yield AnswerText(part)
            failure = None
        except ProviderError as error:
            failure = _LEFT if self._has_left else str(error)
            raise
        finally:
            end = turn.end if turn is not None else None
            cost = self._budget.spend(prompt, room, end)
            if self.log is not None:
                call = Call(
                    self._turns,
                    messages,
                    end.text if end is not None else shown,
                    end.calls if end is not None else (),
                    end.prompt_tokens if end is not None else None,
                    end.answer_tokens if end is not None else None,
                    cost,
                    time.monotonic() - begun,
                    failure,
                )
                self.log.add(self.id, self._budget.provider, call)
        if turn is None:  # a stream that ends without its end has raised
            raise AssertionError("a completion without an end")
        if turn.text is not None:
            if turn.text.shown:
                self._citations += [each for each in turn.text.citations if each not in self._citations]
            self._removed += turn.text.removed
            self._removed_links += turn.text.removed_links
            self._uncited += turn.text.uncited if turn.text.shown else 0
        return turn

    def _run_tools(self, messages: list[Message], turn: Turn, tools: Tools) -> Generator[AskEvent, None, None]:
        """Run the calls of a turn, and add them and their results to the conversation."""
        listed = [
            {"id": each.id, "type": "function", "function": {"name": each.name, "arguments": _json(each.arguments)}}
            for each in turn.calls
        ]
        messages.append(without_loss({"role": "assistant", "content": turn.end.text, "tool_calls": listed}))
        for call in turn.calls:
            known = len(self._sources)
            result, use = tools.run(call)
            message = without_loss({"role": "tool", "tool_call_id": call.id, "content": result})
            if not self._budget.room(most_tokens([*messages, message], self._offered("auto"))):
                self._sources.keep(known)
                message["content"] = "There is no room for this: answer from what you have."
            messages.append(message)
            if use is not None:
                yield use

    def _answer(self, reason: Refusal | None, tools: Tools, budget: Budget) -> Answer:
        cited = {each.number for each in self._citations} if reason is None else set()
        is_asked = self._turns > 0
        return Answer(
            question=self.question,
            text=self._text.strip() if reason is None else REFUSALS[reason],
            refused=reason is not None,
            reason=reason,
            citations=tuple(self._citations) if reason is None else (),
            sources=tuple(each for each in self._sources.all if each.number in cited),
            removed_citations=tuple(self._removed),
            removed_links=self._removed_links,
            uncited_sentences=self._uncited if reason is None else 0,
            searches=tuple(tools.searches),
            turns=self._turns,
            session=self.id,
            model=self.settings.model,
            provider=budget.provider,
            prompt_tokens=budget.prompt_tokens if budget.is_counted else None,
            answer_tokens=budget.answer_tokens if budget.is_counted else None,
            cost=(budget.cost if budget.is_priced else None) if is_asked else 0.0,
            took_ms=(time.monotonic() - self._begun) * 1_000,
            value=self._value if reason is None else None,
        )


def _json(arguments: str) -> str:
    """Return arguments that a server can read: what is no JSON becomes an empty object."""
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return "{}"
    return arguments

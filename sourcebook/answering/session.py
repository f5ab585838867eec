"""One question to a language model: a search, turns of the model with its tools, and then an answer or a refusal."""

import json
import time
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from typing import Final, Protocol
from uuid import uuid4

from sourcebook.answering.budget import Budget
from sourcebook.answering.checked_text import CheckedText, WithoutReasoning
from sourcebook.answering.completion import Completion, ToolCall
from sourcebook.answering.model_client import Message, ModelClient, most_tokens, provider_of, without_loss
from sourcebook.answering.prompt import asked, rules
from sourcebook.answering.sources import Sources
from sourcebook.answering.tools import Reach, Tools
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
from sourcebook.providers.failures import ProviderError

_LEFT: Final = "The caller left before the answer ended."


@dataclass(frozen=True, slots=True)
class Call:
    """A request to the model, as the log gets it."""

    turn: int
    messages: list[Message]
    answer: str
    calls: tuple[ToolCall, ...]
    prompt_tokens: int | None
    answer_tokens: int | None
    cost: float | None
    seconds: float
    failure: str | None
    """Sentence where there was no answer; None otherwise."""


class CallLog(Protocol):
    """Keeps the calls of a session."""

    def add(self, session: str, provider: str, call: Call) -> None:
        """Keep a call; a log that cannot be written loses it and says so to nobody but the operator."""


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
    _client: ModelClient | None = None
    _has_left: bool = False

    def leave(self) -> None:
        """End the request to the model, and make no other one; for a thread beside the one that waits for events."""
        self._has_left = True
        if self._client is not None:
            self._client.end()

    def events(self) -> Iterator[AskEvent]:
        """Yield what happens on the way to the answer, and the answer.

        Raises:
            QueryError: the price of the model is unknown, and its cost is limited.
            ProviderError: the server of the model refuses, fails, or stops in the middle.
            SourcebookError: see `KnowledgeBase.search`.
        """
        budget = Budget(self.settings, provider_of(self.settings))
        budget.check()
        tools = Tools(self.reach, self._sources)
        found, is_relevant = tools.find(self.question, self.settings.passages)
        yield ToolUse("search", self.question, None, len(found))
        reason: Refusal | None = "nothing_relevant"
        if is_relevant:
            with ModelClient(self.settings) as client:
                self._client = client
                if self._has_left:
                    self.leave()
                reason = yield from self._turns_of(client, tools, budget, found)
        yield self._answer(reason, tools, budget)

    def _turns_of(
        self, client: ModelClient, tools: Tools, budget: Budget, found: list[Source]
    ) -> Generator[AskEvent, None, Refusal | None]:
        """Let the model take its turns; return the reason where there is no answer."""
        has_tools = self.settings.tools
        messages = [
            {"role": "system", "content": rules(has_tools=has_tools)},
            self._first_message(found, budget, has_tools=has_tools),
        ]
        while self._turns < self.settings.max_turns:
            self._turns += 1
            prompt = most_tokens(messages, has_tools=has_tools)
            room = budget.room(prompt)
            if not room:
                self._turns -= 1
                return None if self._citations else "limit"
            is_last = self._turns == self.settings.max_turns
            offered = None if not has_tools else "none" if is_last else "auto"
            self._is_doubtful = tools.is_doubtful
            checked = yield from self._turn(client, messages, (prompt, room), offered, budget)
            if checked.end.finish == "content_filter":
                return "content_filter"
            if not checked.calls:
                return None if self._citations else "no_answer" if checked.text.says_no_answer else "uncited"
            yield from self._run_tools(messages, checked, tools, budget)
        return None if self._citations else "limit"

    def _first_message(self, found: list[Source], budget: Budget, *, has_tools: bool) -> Message:
        """Return the question with as many of the best passages as leave room for an answer."""
        system = {"role": "system", "content": rules(has_tools=has_tools)}
        held = list(found)
        while True:
            message = {"role": "user", "content": asked(self.sent_question, held)}
            if len(held) <= 1 or budget.room(most_tokens([system, message], has_tools=has_tools)):
                self._sources.keep(len(held))
                return without_loss(message)
            held.pop()

    def _turn(
        self,
        client: ModelClient,
        messages: list[Message],
        limits: tuple[int, int],
        offered: str | None,
        budget: Budget,
    ) -> Generator[AskEvent, None, "_Turn"]:
        """Make one request; yield the parts of the answer that hold."""
        prompt, room = limits
        begun, shown, turn = time.monotonic(), "", None
        failure: str | None = _LEFT

        def read(parts: Iterator[str | Completion]) -> Iterator["str | _Turn"]:
            text = CheckedText(
                self._sources, self.question, has_begun=bool(self._citations), is_doubtful=self._is_doubtful
            )
            answer = WithoutReasoning()
            for part in parts:
                if isinstance(part, str):
                    yield from text.add(answer.add(part))
                else:
                    yield from text.add(answer.end())
                    calls = part.calls if offered == "auto" else ()
                    yield from text.end(is_answer=not calls)
                    yield _Turn(text, part, calls)

        try:
            for part in client.complete(messages, room, offered, read):
                if isinstance(part, _Turn):
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
            cost = budget.spend(prompt, room, end)
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
                self.log.add(self.id, budget.provider, call)
        if turn is None:  # a stream that ends without its end has raised
            raise AssertionError("a completion without an end")
        if turn.text.shown:
            self._citations += [each for each in turn.text.citations if each not in self._citations]
        self._removed += turn.text.removed
        self._removed_links += turn.text.removed_links
        self._uncited += turn.text.uncited if turn.text.shown else 0
        return turn

    def _run_tools(
        self, messages: list[Message], turn: "_Turn", tools: Tools, budget: Budget
    ) -> Generator[AskEvent, None, None]:
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
            if not budget.room(most_tokens([*messages, message], has_tools=True)):
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
        )


@dataclass(frozen=True, slots=True)
class _Turn:
    """A turn of the model that has ended."""

    text: CheckedText
    end: Completion
    calls: tuple[ToolCall, ...]
    """Calls that are run; none where the model may call no tool."""


def _json(arguments: str) -> str:
    """Return arguments that a server can read: what is no JSON becomes an empty object."""
    try:
        json.loads(arguments)
    except (ValueError, RecursionError):
        return "{}"
    return arguments

"""One completion of a language model in OpenAI's protocol: its text as it comes, its calls of tools, its tokens.

Nothing of it is trusted: a stream without an end is no answer, a count that is no count is none.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from sourcebook.providers.failures import Cure, RequestFailedError, clip, invalid
from sourcebook.providers.streamed_answer import StreamedAnswer

MOST_CALLS: Final = 8
"""Calls of tools in one turn, at most."""
_MOST_TOKENS: Final = 1 << 31
_LONGEST_NAME, _LONGEST_ARGUMENTS = 100, 20_000
_DONE: Final = "[DONE]"
_HALF: Final = re.compile("[\ud800-\udbff]\\Z")
"""First half of a character beyond the basic plane, whose second half comes with the next piece."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call of a tool, as the model wrote it."""

    id: str
    name: str
    arguments: str
    """JSON, or what the model takes for it."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The end of a completion."""

    text: str
    calls: tuple[ToolCall, ...]
    finish: str
    """Reason of the end: `stop`, `length`, `tool_calls`, `content_filter`, or another one of the server's."""
    prompt_tokens: int | None
    """Tokens that the model read; None where the server does not say."""
    answer_tokens: int | None


@dataclass(slots=True)
class _Parts:
    """Parts of a completion that have come so far."""

    text: list[str] = field(default_factory=list)
    characters: int = 0
    calls: dict[int, list[str]] = field(default_factory=dict)
    """[id, name, arguments] in the order of the indexes."""
    places: dict[int, int] = field(default_factory=dict)
    """Key of the last call of an index: some servers give every call the index 0."""
    half: str = ""
    """First half of a character at the end of the last piece."""
    finish: str | None = None
    is_whole: bool = False
    """Whether the tokens have come behind the end, after which nothing comes."""
    has_failed: bool = False
    """Whether the server has sent an error."""
    usage: Any = None


def read_completion(answer: StreamedAnswer, most_characters: int) -> Iterator[str | Completion]:
    """Yield the pieces of a completion's text, and then its end.

    Args:
        answer: the open answer: events, or one JSON of a server that does not stream.
        most_characters: characters after which the text is cut off.

    Raises:
        RequestFailedError: it is no completion, or it stops before its end.
    """
    parts = _Parts()
    if not answer.has_events:
        yield from _take(parts, answer.json(), "message", most_characters)
    else:
        try:
            for data in answer.events():
                if data.strip() == _DONE:
                    break
                yield from _take(parts, _object(data), "delta", most_characters)
                if parts.characters >= most_characters or parts.is_whole:
                    break
        except RequestFailedError:
            if parts.finish is None or parts.has_failed:  # a completion with its end is whole, whatever comes behind it
                raise
    if parts.finish is None:
        raise invalid("it stops before its end")
    prompt, written = _tokens(parts.usage, "prompt_tokens"), _tokens(parts.usage, "completion_tokens")
    yield Completion("".join(parts.text), tuple(_calls(parts)), parts.finish, prompt, written)


def _take(parts: _Parts, event: Any, name: str, most_characters: int) -> Iterator[str]:
    """Add an event to what has come; yield its piece of text."""
    if not isinstance(event, dict):
        raise invalid("a completion is no object")
    if event.get("error"):
        parts.has_failed = True
        raise _of_error(event["error"])
    parts.usage = event.get("usage") or parts.usage
    choices = event.get("choices") or []
    if not isinstance(choices, list) or (choices and not isinstance(choices[0], dict)):
        raise invalid("choices are no list of objects")
    if not choices:
        parts.is_whole = parts.finish is not None and bool(event.get("usage"))
        return
    held = choices[0].get(name) or {}
    if not isinstance(held, dict):
        raise invalid(f"{name} is no object")
    text = _text_of(held.get("content")) or held.get("refusal") or ""
    if not isinstance(text, str):
        raise invalid("content is no text")
    _take_calls(parts, held.get("tool_calls") or [])
    if choices[0].get("finish_reason"):
        parts.finish = str(choices[0]["finish_reason"])[:40]
    text, parts.half = parts.half + text, ""
    if half := _HALF.search(text):
        text, parts.half = text[: half.start()], half[0]
    text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")  # halves that have met are one
    text = text[: most_characters - parts.characters].replace("\0", "")
    if text:
        parts.text.append(text)
        parts.characters += len(text)
        if parts.characters >= most_characters:
            parts.finish = "length"
        yield text


def _text_of(content: Any) -> Any:
    """Return a content, of one in parts those that are text: others are the model's reasoning."""
    if not isinstance(content, list):
        return content
    texts = [each.get("text") for each in content if isinstance(each, dict) and each.get("type") == "text"]
    return "".join(each for each in texts if isinstance(each, str))


def _take_calls(parts: _Parts, calls: Any) -> None:
    if not isinstance(calls, list):
        raise invalid("tool_calls are no list")
    for listed, call in enumerate(calls):
        function = call.get("function") if isinstance(call, dict) else None
        if not isinstance(function, dict):
            raise invalid("a call of a tool has no function")
        index = call.get("index")
        index = listed if index is None else index
        if isinstance(index, bool) or not isinstance(index, int):
            raise invalid("the index of a call is no number")
        number, name = (str(each or "")[:_LONGEST_NAME] for each in (call.get("id"), function.get("name")))
        place = parts.places.get(index)
        former = None if place is None else parts.calls.get(place)
        if place is None or former is None or (number and name and former[0] not in {"", number}):
            place = index if index not in parts.calls else max(parts.calls) + 1
            parts.places[index] = place
        if place not in parts.calls and len(parts.calls) >= MOST_CALLS:
            continue
        held = parts.calls.setdefault(place, ["", "", ""])
        held[0] = held[0] or number
        held[1] += name
        arguments = function.get("arguments")
        held[2] += arguments if isinstance(arguments, str) else json.dumps(arguments) if arguments else ""
        if len(held[2]) > _LONGEST_ARGUMENTS:
            raise RequestFailedError("calls a tool with arguments of more than 20,000 characters", Cure.NONE)


def _calls(parts: _Parts) -> Iterator[ToolCall]:
    for index, (number, name, arguments) in sorted(parts.calls.items()):
        storable = arguments.encode("utf-8", "replace").decode()
        yield ToolCall(number or f"call_{index}", name[:_LONGEST_NAME], storable)


def _tokens(usage: Any, name: str) -> int | None:
    count = usage.get(name) if isinstance(usage, dict) else None
    is_count = isinstance(count, int) and not isinstance(count, bool) and 0 <= count < _MOST_TOKENS
    return count if is_count else None


def _of_error(error: Any) -> RequestFailedError:
    said = error.get("message") if isinstance(error, dict) else error
    return RequestFailedError(f"breaks off with an error ({clip(str(said))})", Cure.RETRY)


def _object(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        raise invalid("an event is no JSON") from None

"""Answers in OpenAI's protocol of chat completions: whole, or in chunks, with citations as annotations.

Citations are numbered in the order in which they stand in the text, as programs that show them take the n-th source
for `[n]`.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from sourcebook.context.fence import one_line, safe_address
from sourcebook.contract.answers import Answer, AnswerText, Source

_MARK: Final = re.compile(r"`[^`\n]*`|\[(\d{1,4})\]")
"""A mark of a citation, or code, which has none."""
_FENCE: Final = re.compile(r"[ \t]*(?:```|~~~)")
_LONGEST_TITLE: Final = 200
_LONGEST_ADDRESS: Final = 2_000
_FINISHES: Final = {"limit": "length", "content_filter": "content_filter"}
"""Reasons of the end by the reason of a refusal; `stop` for others."""


class NumberedText:
    """The text of an answer whose citations are counted from 1 in the order in which they come."""

    def __init__(self) -> None:
        self.text = ""
        self.numbers: dict[int, int] = {}
        """New numbers by those of the sources."""
        self.marks: list[tuple[int, int, int]] = []
        """(start, end, number of the source) of each mark, in characters of the text."""
        self._is_code = False

    def add(self, piece: str) -> str:
        """Add the next sentences; return them with their new numbers."""
        begun = len(self.text)
        for line in piece.splitlines(keepends=True):
            if _FENCE.match(line):
                self._is_code = not self._is_code
            if self._is_code:
                self.text += line
            else:
                self._add_line(line)
        return self.text[begun:]

    def _add_line(self, line: str) -> None:
        last = 0
        for found in _MARK.finditer(line):
            self.text += line[last : found.start()]
            start, last = len(self.text), found.end()
            if found[1] is None:
                self.text += found[0]
                continue
            number = int(found[1])
            self.text += f"[{self.numbers.setdefault(number, len(self.numbers) + 1)}]"
            self.marks.append((start, len(self.text), number))
        self.text += line[last:]


def annotations_of(text: NumberedText, sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Return an annotation of each mark, which names its source."""
    known = {each.number: each for each in sources}
    return [
        {
            "type": "url_citation",
            "url_citation": {
                "start_index": start,
                "end_index": end,
                "url": safe_address(known[number].uri, _LONGEST_ADDRESS),
                "title": one_line(known[number].title, _LONGEST_TITLE),
            },
        }
        for start, end, number in text.marks
        if number in known
    ]


def shown_sources(text: NumberedText, sources: Sequence[Source]) -> list[dict[str, Any]]:
    """Return the cited passages as Open WebUI shows sources: the n-th is `[n]` of the text."""
    known = {each.number: each for each in sources}
    return [_shown(known[number]) for number in text.numbers if number in known]


def _shown(source: Source) -> dict[str, Any]:
    url, name = safe_address(source.uri, _LONGEST_ADDRESS), one_line(source.title, _LONGEST_TITLE)
    place = {"source": url, "name": name, "collection": source.collection, "document_id": source.document_id}
    if source.page is not None:
        place["page"] = source.page
    return {"source": {"id": url, "name": name, "url": url}, "document": [source.text], "metadata": [place]}


def finish_of(answer: Answer) -> str:
    """Return the reason of the end."""
    return _FINISHES.get(answer.reason or "", "stop")


def usage_of(answer: Answer) -> dict[str, int] | None:
    """Return the tokens of all turns; None where the server of the model does not say."""
    if answer.prompt_tokens is None or answer.answer_tokens is None:
        return None
    read, written = answer.prompt_tokens, answer.answer_tokens
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def completion_of(answer: Answer, common: dict[str, Any]) -> dict[str, Any]:
    """Return a whole answer.

    Args:
        answer: the answer.
        common: id, time and model.
    """
    text = NumberedText()
    text.add(answer.text)
    message = {
        "role": "assistant",
        "content": text.text,
        "refusal": None,
        "annotations": annotations_of(text, answer.sources),
    }
    choice = {"index": 0, "message": message, "finish_reason": finish_of(answer), "logprobs": None}
    return {
        **common,
        "object": "chat.completion",
        "choices": [choice],
        "usage": usage_of(answer),
        "sources": shown_sources(text, answer.sources),
    }


class Chunks:
    """Makes the chunks of an answer that comes sentence by sentence.

    Args:
        common: id, time and model.
        with_usage: whether a last chunk tells the tokens.
    """

    def __init__(self, common: dict[str, Any], *, with_usage: bool) -> None:
        self._common = {**common, "object": "chat.completion.chunk"}
        self._with_usage = with_usage
        self._text = NumberedText()

    def first(self) -> dict[str, Any]:
        """Return the chunk that says who speaks."""
        return self._chunk({"role": "assistant", "content": ""})

    def of_text(self, part: AnswerText) -> dict[str, Any]:
        """Return the chunk of the next sentences."""
        return self._chunk({"content": self._text.add(part.text)})

    def of_answer(self, answer: Answer) -> Iterator[dict[str, Any]]:
        """Yield what comes behind the text: a refusal or the citations, the reason of the end, and the tokens."""
        if answer.refused and not self._text.text:
            yield self._chunk({"content": self._text.add(answer.text)})
        if answer.sources:
            annotations = annotations_of(self._text, answer.sources)
            shown = shown_sources(self._text, answer.sources)
            yield {**self._chunk({"annotations": annotations}), "sources": shown}
        yield self._chunk({}, finish_of(answer))
        if self._with_usage:
            yield {**self._common, "choices": [], "usage": usage_of(answer)}

    def _chunk(self, delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        return {**self._common, "choices": [choice], **({"usage": None} if self._with_usage else {})}

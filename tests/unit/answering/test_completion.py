"""Completions as servers stream them: whatever the pieces and the marks between events, the text is the same."""

import json
import time
from collections.abc import Iterable, Iterator
from typing import Any

import httpx2
import pytest

from sourcebook.answering.completion import Completion, ToolCall, read_completion
from sourcebook.providers.failures import RequestFailedError
from sourcebook.providers.streamed_answer import StreamedAnswer

TEXT = "Grüße aus Øresund 🌊."
USAGE = {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3}}


class Pieces(httpx2.SyncByteStream):
    """Pieces of a body, after which the connection may break."""

    def __init__(self, pieces: Iterable[bytes], *, breaks: bool = False) -> None:
        self._pieces, self._breaks = pieces, breaks

    def __iter__(self) -> Iterator[bytes]:
        yield from self._pieces
        if self._breaks:
            raise httpx2.ReadError("Connection reset by peer")


def delta(finish: str | None = None, **parts: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": parts, "finish_reason": finish}]}


def body(*events: Any, **options: Any) -> bytes:
    return b"".join(b"data: %b\n\n" % json.dumps(each, **options).encode() for each in events)


def end_of(stream: Pieces) -> Completion:
    response = httpx2.Response(200, headers={"content-type": "text/event-stream"}, stream=stream)
    *text, end = read_completion(StreamedAnswer(response, time.monotonic() + 60), 10_000)
    assert isinstance(end, Completion)
    assert "".join(map(str, text)) == end.text
    return end


WHOLE = body(delta(content=TEXT), delta("stop"), USAGE, ensure_ascii=False) + b"data: [DONE]\n\n"
WRITTEN = {
    "LF": WHOLE,
    "CR LF": WHOLE.replace(b"\n", b"\r\n"),
    "CR": WHOLE.replace(b"\n", b"\r"),
    "byte order mark": b"\xef\xbb\xbf" + WHOLE,
    "other fields": WHOLE.replace(b"data:", b": ping\n\nevent: x\nid: 1\nretry: 5\ndata:"),
    "no space": WHOLE.replace(b"data: ", b"data:"),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_marks_between_events_and_borders_of_pieces_make_no_difference(name: str) -> None:
    written = WRITTEN[name]
    for size in (1, 3, len(written)):
        end = end_of(Pieces(written[start : start + size] for start in range(0, len(written), size)))
        assert (end.text, end.finish, end.prompt_tokens, end.answer_tokens) == (TEXT, "stop", 7, 3), size


def test_halves_of_a_character_that_come_in_two_events_are_one() -> None:
    halves = body(delta(content="So \ud83c"), delta(content="\udf0a!"), delta(content="\udf0a \ud83c"), delta("stop"))
    assert end_of(Pieces([halves])).text == "So 🌊!\ufffd "


@pytest.mark.parametrize("breaks", [True, False])
def test_a_completion_whose_end_has_come_is_whole_however_the_connection_ends(breaks: bool) -> None:
    said = body(delta(content=TEXT), delta("stop"))
    assert end_of(Pieces([said, b"data: {"], breaks=breaks)).text == TEXT
    assert end_of(Pieces([said, body(USAGE)], breaks=breaks)).prompt_tokens == 7
    with pytest.raises(RequestFailedError):
        end_of(Pieces([body(delta(content=TEXT))], breaks=breaks))
    with pytest.raises(RequestFailedError, match="no memory"):
        end_of(Pieces([said, body({"error": {"message": "no memory"}})], breaks=breaks))


def test_behind_its_tokens_a_completion_is_not_waited_for() -> None:
    def pieces() -> Iterator[bytes]:
        yield body(delta(content=TEXT), delta("stop"), USAGE)
        raise AssertionError("the stream was read on")

    assert end_of(Pieces(pieces())).text == TEXT


def test_calls_are_told_apart_where_each_has_the_index_0_or_none() -> None:
    def call(index: int | None, number: str | None, name: str | None, arguments: str) -> dict[str, Any]:
        return delta(tool_calls=[{"index": index, "id": number, "function": {"name": name, "arguments": arguments}}])

    for index in (0, None):
        told = body(
            call(index, "a", "search", '{"query":'), call(index, None, None, ' "tide"}'),
            call(index, "b", "fetch", '{"document":'), call(index, "b", None, " 4}"), delta("tool_calls"),
        )  # fmt: skip
        assert end_of(Pieces([told])).calls == (
            ToolCall("a", "search", '{"query": "tide"}'),
            ToolCall("b", "fetch", '{"document": 4}'),
        )

"""A real server of OpenAI's protocol of chat completions on loopback, which answers as a test wants it to.

By itself it is a model that reads: it quotes the sentence of its sources that shares most words with the question.
"""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

_SOURCE = re.compile(r"^\[(\d+)\] [^\n]*\n(.*?)(?=^\[\d+\] |^</sources-)", re.MULTILINE | re.DOTALL)
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]?")


@dataclass(frozen=True, slots=True)
class AskedChat:
    """One request as the server saw it."""

    path: str
    body: dict[str, Any]
    headers: Mapping[str, str]

    @property
    def messages(self) -> list[dict[str, Any]]:
        return list(self.body["messages"])

    @property
    def text(self) -> str:
        """All that the model reads, as one text."""
        return "\n".join(str(each.get("content") or "") for each in self.messages)

    @property
    def question(self) -> str:
        """The question at the end of the user's message."""
        users = [each["content"] for each in self.messages if each["role"] == "user"]
        return str(users[-1]).rpartition("Question: ")[2]

    @property
    def sources(self) -> dict[int, str]:
        """The texts of the sources by their numbers."""
        return {int(number): text for number, text in _SOURCE.findall(self.text)}


@dataclass(frozen=True, slots=True)
class Chat:
    """A completion of the model's."""

    text: str = ""
    calls: Sequence[tuple[str, Any]] = ()
    """(name, arguments) of the tools that it calls; arguments that are no mapping are sent as they are."""
    finish: str | None = None
    """Reason of the end; by default the right one."""
    usage: Any = None
    """Tokens that it says it has counted; by default words."""
    ends: bool = True
    """Whether the stream has an end."""
    breaks: bool = False
    """Whether the connection breaks before the end."""


@dataclass(frozen=True, slots=True)
class Raw:
    """An answer that is no completion."""

    status: int = 200
    content: bytes = b""
    content_type: str = "application/json"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Silence:
    """The beginning of a completion, behind which nothing comes until the client leaves."""

    text: str = ""


Answer = Callable[[AskedChat], Chat | Raw | Silence]


class ChatServer:
    """Serves `/v1/chat/completions` within `with`."""

    def __init__(self) -> None:
        self.answer: Answer = quoting
        self.asked: list[AskedChat] = []
        self.left = threading.Event()
        """Whether a client has left a silence."""
        handler = type("Handler", (_Handler,), {"chat": self})
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """URL that a client is given."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *answers: Chat | Raw | Silence) -> None:
        """Answer one request after the other; the last answer stays."""
        left = list(answers)
        self.left.clear()
        self.asked.clear()
        self.answer = lambda asked: left.pop(0) if len(left) > 1 else left[0]

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(60)


def quoting(asked: AskedChat) -> Chat:
    """Return the sentence of the sources that shares most words with the question, quoted and cited."""
    wanted = _words(asked.question)
    found = [(number, each.strip()) for number, text in asked.sources.items() for each in _SENTENCE.findall(text)]
    number, best = max(found, key=lambda each: len(wanted & _words(each[1])), default=(0, ""))
    if not wanted & _words(best):
        return Chat("NO_ANSWER")
    quote = best.replace('"', "")
    return Chat(f'{best.rstrip(".!?")} [{number}: "{quote}"].')


def _words(text: str) -> set[str]:
    return {word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3 or word.isdigit()}


def events_of(chat: Chat) -> Iterator[dict[str, Any]]:
    """Yield the events of a completion: its text in pieces of seven characters, its calls in two."""
    for start in range(0, len(chat.text), 7):
        yield {"choices": [{"index": 0, "delta": {"content": chat.text[start : start + 7]}, "finish_reason": None}]}
    for index, (name, arguments) in enumerate(chat.calls):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        half = len(written) // 2
        first = {"index": index, "id": f"call_{index}", "function": {"name": name, "arguments": written[:half]}}
        for call in (first, {"index": index, "function": {"arguments": written[half:]}}):
            yield {"choices": [{"index": 0, "delta": {"tool_calls": [call]}, "finish_reason": None}]}


class _Handler(BaseHTTPRequestHandler):
    chat: ChatServer
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        asked = AskedChat(self.path, body, dict(self.headers))
        self.chat.asked.append(asked)
        answer = self.chat.answer(asked)
        self.close_connection = True
        try:
            if isinstance(answer, Raw):
                self._head(answer.status, answer.content_type, answer.headers)
                self.wfile.write(answer.content)
            elif isinstance(answer, Silence):
                self._head(200, "text/event-stream", {})
                for event in events_of(Chat(answer.text)):
                    self.wfile.write(f"data: {json.dumps(event)}\n\n".encode())
                self.connection.settimeout(60)
                self.rfile.read(1)
                self.chat.left.set()
            else:
                self._stream(answer, asked)
        except OSError:
            pass  # the client has given up

    def _stream(self, chat: Chat, asked: AskedChat) -> None:
        counted = {"prompt_tokens": len(asked.text.split()), "completion_tokens": len(chat.text.split())}
        usage = counted if chat.usage is None else chat.usage
        finish = chat.finish or ("tool_calls" if chat.calls else "stop")
        self._head(200, "text/event-stream; charset=utf-8", {"Transfer-Encoding": "chunked"})
        events = list(events_of(chat))
        if chat.ends:
            events.append({"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]})
            events.append({"choices": [], "usage": usage})
        for event in events:
            self._chunk(f"data: {json.dumps(event)}\n\n".encode())
        if chat.breaks:
            return
        if chat.ends:
            self._chunk(b"data: [DONE]\n\n")
        self._chunk(b"")

    def _head(self, status: int, content_type: str, headers: Mapping[str, str]) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Connection", "close")
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is the base class's
        pass

"""One bit: whether answers tell that a document exists which the caller may not see."""

import json
import re
from collections.abc import Callable
from functools import partial
from itertools import count, product
from random import Random
from typing import Any

from sourcebook.admin.access_keys import create_key
from sourcebook.errors import SourcebookError
from sourcebook.knowledge_base import SeenKnowledge
from sourcebook.server.rate_limits import RateLimits
from tests.chat_server import ChatServer
from tests.integration.http_server import Client
from tests.integration.mcp_client import Agent, over_http
from tests.integration.stages import Stages
from tests.permissions.worlds import allow

_QUERIES = (
    "barnacle limpet",
    "whelks at night",
    "barnacel",
    "Kuckuck",
    "the zebra fish (ZF)",
    "ZF",
    '"high water"',
    "-limpet rock",
)
_MODES: tuple[Any, ...] = ("hybrid", "vector", "keyword")
_WORDS = ("barnacle", "limpet", "barnacel", "Kuckuck", "zebra fish (ZF)", "whelk", "water", "night", "rock", "nachts")
_CLOCKS = re.compile(
    r'\\*"(?:took_ms|search_ms|model_ms|seconds_behind|is_cached|tokens|created|session)\\*": ?[^,}]+'
    r"|sources-[0-9a-f]{8}\b|(?:file|upload)://|chatcmpl-[0-9a-f]+"
)
"""Times, the tokens of a context, those of its random boundary among them, the scheme of what is not there, and
the names of a conversation and of a completion."""
_PATHS = (
    "/v1/documents?limit=100",
    "/v1/documents/{shown}",
    "/v1/documents/{shown}/original",
    "/v1/documents/{shown}/chunks",
    "/v1/documents/{shown}/related",
    "/documents/{shown}",
    "/documents/{shown}/export",
    "/v1/documents/{hidden}",
    "/v1/documents/{hidden}/original",
    "/v1/documents/{hidden}/related",
    "/v1/documents/{hidden}/chunks",
    "/v1/documents/{hidden}/pages/1",
    "/v1/documents/{hidden}/pages/1.png",
    "/documents/{hidden}/pages/1.png",
    "/v1/documents/lookup?name={name}",
    "/v1/collections",
    "/v1/collections/handbook",
    "/v1/models",
    "/v1/uploads",
    "/v1/work-requests",
    "/v1/permissions",
    "/v1/usage",
    "/v1/queries",
    "/v1/llm-calls",
    "/v1/audit/readings",
    "/v1/plan",
    "/v1/keys",
    "/v1/export",
    "/home",
    "/collections",
    "/collections/handbook",
    "/work",
    "/usage",
    "/audit",
    "/ask?q=barnacle+limpet",
    "/documents",
    "/documents?text=hidden",
    "/documents/{hidden}",
    "/documents/{hidden}/export",
    "/documents/{hidden}/original",
    "/diff?first={shown}&second={hidden}",
    "/?q=barnacle+limpet",
)
"""Requests whose answers are compared with their headers: `ETag` and the number of what is left among them."""
_TYPED = ("/?q=barn", "/?q=limp", "/?q=zebr", "/?q=bar&collection=handbook")
"""Queries that somebody is still typing: titles and completions are suggested."""
_SENT: tuple[tuple[str, str, Any], ...] = (
    ("POST", "/v1/search", {"query": "barnacle limpet", "facets": True}),
    ("POST", "/v1/context", {"query": "-limpet rock", "max_tokens": 500}),
    ("POST", "/v1/facets", {}),
    ("POST", "/v1/similar", {"document": "HIDDEN"}),
    ("POST", "/v1/diff", {"first": "SHOWN", "second": "HIDDEN"}),
    (
        "POST",
        "/v1/retrieval",
        {
            "knowledge_id": "handbook",
            "query": "barnacle limpet",
            "retrieval_setting": {"top_k": 5, "score_threshold": 0},
        },
    ),
    ("POST", "/v1/open-webui/search", {"query": "barnacle limpet", "count": 9}),
    ("POST", "/v1/ask", {"question": "Where is the barnacle?"}),
    ("POST", "/v1/ask", {"question": "What are whelks at night?", "documents": ["HIDDEN"]}),
    (
        "POST",
        "/v1/chat/completions",
        {"model": "sourcebook", "messages": [{"role": "user", "content": "Is a limpet on the rock?"}]},
    ),
    ("PUT", "/v1/uploads/{name}?allowed=everyone", {}),
    ("PATCH", "/v1/uploads/{name}", {"allowed": None}),
    ("DELETE", "/v1/uploads?collection=handbook&name={name}", None),
    ("GET", "/v1/uploads/{name}", None),
    ("POST", "/documents/all", {"act": "remove", "text": "hidden"}),
    ("POST", "/documents/{hidden}/seen-by", {"allowed": "everyone"}),
    ("POST", "/documents/{hidden}/remove", {}),
)
"""Requests with a body, most of which change something and are refused."""
_ORIGIN = "https://docs.example.com"
_QUESTIONS = ("Where is the barnacle?", "What are whelks at night?")
_WIDGET = ("", "barnacle limpet", "barnacel", "zebra fish", '"high water"')
"""Queries of the widget, whose key asks as everyone."""
_TOOLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("search_documents", {"query": "barnacle limpet"}),
    ("list_documents", {}),
    ("get_context", {"question": "barnacle limpet"}),
    ("fetch_document", {"document": "hidden"}),
    ("find_related", {"document": "hidden"}),
    ("diff_documents", {"first": "shown", "second": "hidden"}),
)
"""Calls of an agent, for whom there are no others."""
_OF_A_REQUEST = {
    "date", "x-request-id", "content-length", "ratelimit", "ratelimit-remaining", "ratelimit-reset",
}  # fmt: skip
"""Headers that differ in two equal requests: the length is that of the number of a document, which stands in errors;
what is left of a limit goes by the clock."""
_OF_A_PAGE = re.compile(r'name="(?:token|once)" value="[^"]*"|"request_id": ?"[^"]*"|[0-9.,]+ m?s\b')
"""What differs in two equal pages: tokens of forms, and times."""


def without_waiting() -> RateLimits:
    """Return the limits of a server whose clock is a minute further at each look."""
    return RateLimits(clock=partial(next, count(0, 60)))


class Probe:
    """A base with documents for everyone, and a caller who asks before and after hidden ones come."""

    def __init__(self, stages: Stages, seed: int, port: int) -> None:
        self.stages = stages
        with stages.connection() as connection:
            self.key = create_key(connection, "anna", principals=["user:anna"], actor="test")[1]
            pages = create_key(connection, "pages", origins=[_ORIGIN], actor="test")[1]
        self.client, self.widget = Client(port, self.key), Client(port, pages)
        self.random = Random(seed)
        self.told: list[str] = []
        self.asked = 0
        self.chat = ChatServer()
        for number, name in enumerate(("one", "two", "three")):
            linked = f"[that](hidden/{number}.md)"
            stages.write(
                f"{name}.md", f"# {name}\n\nThe barnacle marks high {name} water. Limpets sit on rocks. {linked}"
            )
        handbook = {
            "files": [{"root": str(stages.root)}],
            "answering": {"base_url": self.chat.url, "model": "reader"},
            "retention": {"queries": "30d", "audit": "30d"},
        }
        stages.configure(json.dumps({"collections": {stages.collection: handbook}}))
        stages.run()
        allow(stages, [("/hidden/", ["group:board"]), (None, ["everyone"])])

    def run(self, trials: int) -> list[str]:
        """Compare the answers without a hidden document with those beside it and after it; return differences."""
        with self.chat:
            self._run(trials)
        return self.told

    def _run(self, trials: int) -> None:
        seen = self.stages.knowledge.seen_by(["user:anna"])
        before = self._answers(seen, (10**9, self.stages.uri("hidden/none.md")))
        for trial in range(trials):
            name, text = f"hidden/{trial}.md", self._text()
            file = self.stages.write(name, text) if trial % 2 else None
            if file is None:
                self.stages.knowledge.upload("handbook", name, text.encode(), allowed=["group:board"])
            self.stages.run()
            (document,) = self.stages.rows("SELECT id, uri FROM document WHERE uri LIKE %(end)s", end=f"%/{name}")
            hidden = (document["id"], document["uri"])
            self._compare(before, self._answers(seen, hidden), f"beside document {trial}")
            if self.random.random() < 0.5:
                file.unlink() if file else self.stages.knowledge.remove_upload("handbook", name)
                self.stages.run()
                self._compare(before, self._answers(seen, hidden), f"after document {trial}")

    def _compare(self, before: dict[str, str], after: dict[str, str], when: str) -> None:
        self.asked += len(after)
        for name, text in after.items():
            if text != before[name]:
                pairs = enumerate(zip(text, before[name], strict=False))
                at = max(next((place for place, (now, then) in pairs if now != then), 0) - 40, 0)
                self.told.append(f"{when}, {name}: …{text[at : at + 200]} was …{before[name][at : at + 200]}")

    def _text(self) -> str:
        words = " ".join(self.random.choice(_WORDS) for _ in range(self.random.randint(5, 60)))
        return f"# {self.random.choice(_WORDS)}\n\n{words} [one](../one.md) {self.random.randrange(10**9)}\n"

    def _answers(self, seen: SeenKnowledge, hidden: tuple[int, str]) -> dict[str, str]:
        one = self.stages.uri("one.md")
        answers: dict[str, Callable[[], Any]] = {
            "documents": lambda: [item.as_dict() for item in seen.documents(removed=True)],
            "count": seen.count_documents,
            "related": lambda: [item.as_dict() for item in seen.related(one, dangling=True)],
            "similar": lambda: seen.similar(one).as_dict(),
            "show": lambda: seen.show(one).as_dict(),
        }
        for query, mode in product(_QUERIES, _MODES):
            answers[f"{mode} {query}"] = partial(self._found, seen, query, mode=mode, facets=True, expand="references")
        for query in _QUERIES:
            answers[f"typos {query}"] = partial(self._found, seen, query, typos=True)
            answers[f"context {query}"] = partial(self._context, seen, query)
        number, uri = hidden
        for name in ("show", "similar", "related"):
            answers[f"{name} by id"] = partial(getattr(seen, name), number)
            answers[f"{name} by URI"] = partial(getattr(seen, name), uri)
            answers[f"{name} by path"] = partial(getattr(seen, name), uri.removeprefix("file://"))
        shown = seen.show(one).item.document_id
        requests = [("GET", path, None) for path in _PATHS]
        for method, path, body in (*requests, *_SENT):
            named = path.format(hidden=number, shown=shown, name=f"handbook/{_name(uri)}")
            sent = (
                None
                if body is None
                else json.loads(json.dumps(body).replace('"HIDDEN"', str(number)).replace('"SHOWN"', str(shown)))
            )
            answers[f"{method} {path} {body}"] = partial(self._got, self.client, number, method, named, sent)
        for path in _TYPED:
            answers[f"typed {path}"] = partial(self._got, self.client, number, "GET", path, HX_Request="true")
        for query in _WIDGET:
            sent = {"query": query, "typed": True}
            headers = {"Origin": _ORIGIN}
            answers[f"widget {query}"] = partial(
                self._got, self.widget, number, "POST", "/widget/search", sent, **headers
            )
        for question in _QUESTIONS:
            answers[f"widget is asked {question}"] = partial(
                self._got, self.widget, number, "POST", "/widget/ask", {"question": question}, Origin=_ORIGIN
            )
        self.chat.asked.clear()
        told = {name: self._told(answer, hidden) for name, answer in answers.items()}
        told["what models read"] = self._told(lambda: [each.text for each in self.chat.asked], hidden)
        return told | self._agent(hidden, shown)

    def _agent(self, hidden: tuple[int, str], shown: int | None) -> dict[str, str]:
        """Return what an agent is told."""
        named = {"shown": shown, "hidden": hidden[0]}

        async def work(agent: Agent) -> dict[str, str]:
            answers = {}
            for tool, asked in _TOOLS:
                values = {name: named.get(value, value) for name, value in asked.items()}
                result = await agent.client.call_tool(tool, values)
                answers[f"agent {tool}"] = self._told(partial(str, result.content), hidden)
            return answers

        return over_http(self.client.port, work, key=self.key)

    def _got(
        self, client: Client, number: int, method: str, path: str, body: Any = None, **sent: str
    ) -> dict[str, Any]:
        content_type = {} if body is None else {"Content-Type": "application/json"}
        sending = {"Accept": "text/html, */*", **content_type, **sent}
        answer = client.request(method, path, None if body is None else json.dumps(body).encode(), sending)
        assert answer.status < 500, f"{method} {path}: {answer.content!r}"
        headers = {name: text for name, text in answer.headers.items() if name not in _OF_A_REQUEST}
        content = _OF_A_PAGE.sub("", answer.content.decode())
        content = re.sub(rf"(documents/|documents%2F|second=|second%3D){number}\b", "", content)
        return {"status": answer.status, "headers": headers, "content": content}

    def _context(self, seen: SeenKnowledge, query: str) -> str:
        made = seen.context(query)
        return json.dumps(made.as_dict(), default=str, sort_keys=True).replace(made.boundary or "none", "BOUNDARY")

    def _found(self, seen: SeenKnowledge, query: str, **options: Any) -> dict[str, Any]:
        return seen.search(query, **options).as_dict()

    def _told(self, answer: Callable[[], Any], hidden: tuple[int, str]) -> str:
        try:
            text = json.dumps(answer(), default=str, sort_keys=True)
        except SourcebookError as error:
            text = f"{type(error).__name__}: {error}".replace(hidden[1].partition("//")[2], "PATH")
            text = re.sub(rf"\b{hidden[0]}\b", "NUMBER", text)
        return _CLOCKS.sub("", text)


def _name(uri: str) -> str:
    """Return the name below the root, such as `hidden/3.md`."""
    return "/".join(uri.split("/")[-2:])

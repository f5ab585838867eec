"""The ways to ask besides the Python interface: the client, asyncio, agents, the page, and plain requests."""

import asyncio
import html
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from random import Random
from typing import Any
from urllib.parse import quote

from sourcebook.admin.access_keys import create_key
from sourcebook.async_knowledge_base import AsyncKnowledgeBase
from sourcebook.client import RemoteKnowledgeBase
from tests.integration.http_server import Client
from tests.integration.mcp_client import Agent, over_http
from tests.integration.stages import Stages

Answers = Iterator[tuple[str, Iterable[str], set[str]]]
"""Operations with what each showed, and should have."""
CODE = re.compile(r"code\d+x")
"""A word that stands in one document alone."""
_SEARCH: dict[str, Any] = {"query": "barnacle", "limit": 50, "min_relevance": 0, "duplicates": "show", "literal": True}
_LINK = re.compile(r'href="/documents/(\d+)')
_PAGES = (
    "/?q=barnacle",
    "/?q=barnacle&explain=1",
    "/documents",
    "/documents?text=doc",
    "/ask?q=Where+is+the+barnacle",
    "/v1/documents?limit=100",
)
"""What shows documents without naming one."""
_OF_A_DOCUMENT = (
    "/documents/{}",
    "/documents/{}/export",
    "/documents/{}/original",
    "/v1/documents/{}",
    "/v1/documents/{}/chunks",
    "/v1/documents/{}/original",
    "/v1/documents/{}/related",
    "/diff?first={}&second={}",
)
"""What names one."""
_TOOLS = {"fetch_document": ("document",), "find_related": ("document",), "diff_documents": ("first", "second")}
"""Tools that name one, and how."""


@dataclass(frozen=True)
class Known:
    """A world as one caller may see it."""

    ids: dict[str, int]
    """Documents by name, also removed ones."""
    codes: dict[str, str]
    """The document that each code stands in, or stood."""
    right: set[str]
    """Documents that are there and that the caller may see."""
    allowed: set[str]
    """Those, and removed ones."""
    random: Random
    most: int | None
    """Documents of each kind that the caller names, at most: open, removed, and hidden ones."""

    @cached_property
    def asked(self) -> list[str]:
        """Return the documents that requests name one after the other."""
        kinds = (self.right, self.allowed - self.right, {*self.hidden})
        return [
            name for kind in kinds for name in self.random.sample(sorted(kind), min(len(kind), self.most or len(kind)))
        ]

    @property
    def hidden(self) -> list[str]:
        """Return the documents that the caller may not see."""
        return sorted(self.ids.keys() - self.allowed)


class Awaited:
    """A knowledge base by asyncio, asked as the other one is."""

    def __init__(self, stages: Stages, viewer: list[str]) -> None:
        self._knowledge = stages.knowledge
        self._viewer = viewer

    def __getattr__(self, name: str) -> Callable[..., Any]:
        async def ask(*arguments: Any, **options: Any) -> Any:
            seen = await AsyncKnowledgeBase(self._knowledge).seen_by(self._viewer)
            return await getattr(seen, name)(*arguments, **options)

        return lambda *arguments, **options: asyncio.run(ask(*arguments, **options))


class Faces:
    """A server, and who asks it: each caller with a key of its own, and by a front end that speaks for all."""

    def __init__(self, stages: Stages, port: int) -> None:
        self._stages = stages
        self._port = port
        self._keys: dict[tuple[str, ...], str] = {}
        with stages.connection() as connection:
            self._front_end = create_key(connection, "front end", on_behalf="required", actor="test")[1]

    def remote(self, viewer: list[str]) -> RemoteKnowledgeBase:
        """Return the client with a key of a caller."""
        return RemoteKnowledgeBase(f"http://127.0.0.1:{self._port}", self._key(viewer))

    def pages(self, viewer: list[str], world: Known) -> Answers:
        """Yield what plain requests of the front end show: documents that links lead to, and words of documents.

        Whoever is allowed may also read what has been removed, where it is named.
        """
        spoken = {"X-Sourcebook-Principals": ",".join(quote(each, safe=":@") for each in viewer or ["everyone"])}
        headers = {"Accept": "text/html, */*", "Sec-Fetch-Site": "same-origin", **spoken}
        client = Client(self._port, self._front_end)
        names = {number: name for name, number in world.ids.items()}
        for path in _PAGES:
            told = client.get(path, **headers).content.decode()
            linked = {names[int(number)] for number in _LINK.findall(told)}
            yield path, linked, world.right if path == "/documents" else linked & world.right
            yield f"words of {path}", *_words(told, world, world.right)
        for name in world.asked:
            number = world.ids[name]
            for path in _OF_A_DOCUMENT:
                answer = client.get(path.format(number, number), **headers)
                given = {name} if answer.status == 200 else set()
                yield f"{path} {name}", given, {name} & (world.right | world.allowed & given)
                yield f"words of {path} {name}", *_words(answer.content.decode(), world, world.allowed)

    def agent(self, viewer: list[str], world: Known) -> Answers:
        """Yield what an agent is told, of whom the key says who asks."""
        names = {number: name for name, number in world.ids.items()}

        async def work(agent: Agent) -> Sequence[tuple[str, Iterable[str], set[str]]]:
            found = await agent.ask("search_documents", **_SEARCH, max_tokens=20_000)
            shown = {names[each["document"]] for each in found["results"]}
            told = [("search_documents", shown, world.right), ("words found", *_words(str(found), world, world.right))]
            listed = await agent.ask("list_documents", limit=100, max_tokens=20_000)
            told.append(("list_documents", {names[each["document"]] for each in listed["documents"]}, world.right))
            context = await agent.ask("get_context", question="Where is the barnacle?", min_relevance=0)
            told.append(("words of a context", *_words(str(context), world, world.right)))
            resources = await agent.client.list_resources()
            linked = {names[int(str(each.uri).rpartition("/")[2])] for each in resources.resources}
            told.append(("resources", linked, world.right))
            for name in world.asked:
                number = world.ids[name]
                for tool, asked in _TOOLS.items():
                    result = await agent.client.call_tool(tool, dict.fromkeys(asked, number))
                    given = set() if result.is_error else {name}
                    told.append((f"{tool} {name}", given, {name} & (world.right | world.allowed & given)))
                    told.append((f"words of {tool} {name}", *_words(str(result.content), world, world.allowed)))
            return told

        yield from over_http(self._port, work, key=self._key(viewer))

    def _key(self, viewer: list[str]) -> str:
        principals = tuple(sorted(viewer)) or ("everyone",)
        if principals not in self._keys:
            with self._stages.connection() as connection:
                name = f"of caller {len(self._keys)}"
                self._keys[principals] = create_key(connection, name, principals=principals, actor="test")[1]
        return self._keys[principals]


def _words(told: str, world: Known, right: set[str]) -> tuple[set[str], set[str]]:
    """Return the documents whose words an answer has, and those of them that it may have."""
    named = {world.codes[code] for code in CODE.findall(html.unescape(told))}
    return named, named & right

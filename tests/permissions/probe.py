"""One bit: whether answers tell that a document exists which the caller may not see."""

import json
import re
from collections.abc import Callable
from functools import partial
from itertools import product
from random import Random
from typing import Any

from sourcebook.errors import SourcebookError
from sourcebook.knowledge_base import SeenKnowledge
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
_CLOCKS = re.compile(r'\\?"(?:took_ms|search_ms|seconds_behind|is_cached|tokens)\\?": [^,}]+')
"""Times, and the tokens of a context: those of its random boundary among them."""


class Probe:
    """A base with documents for everyone, and a caller who asks before and after hidden ones come."""

    def __init__(self, stages: Stages, seed: int) -> None:
        self.stages = stages
        self.random = Random(seed)
        self.told: list[str] = []
        self.asked = 0
        for name in ("one", "two", "three"):
            stages.write(f"{name}.md", f"# {name}\n\nThe barnacle marks high {name} water. Limpets sit on rocks.")
        stages.configure()
        stages.run()
        allow(stages, [("/hidden/", ["group:board"]), (None, ["everyone"])])

    def run(self, trials: int) -> list[str]:
        """Compare the answers without a hidden document with those beside it and after it; return differences."""
        seen = self.stages.knowledge.seen_by(["user:anna"])
        before = self._answers(seen, (10**9, self.stages.uri("hidden/none.md")))
        for trial in range(trials):
            file = self.stages.write(f"hidden/{trial}.md", self._text())
            self.stages.run()
            document = self.stages.document(f"hidden/{trial}.md")
            hidden = (document["id"], document["uri"])
            self._compare(before, self._answers(seen, hidden), f"beside document {trial}")
            if self.random.random() < 0.5:
                file.unlink()
                self.stages.run()
                self._compare(before, self._answers(seen, hidden), f"after document {trial}")
        return self.told

    def _compare(self, before: dict[str, str], after: dict[str, str], when: str) -> None:
        self.asked += len(after)
        for name, text in after.items():
            if text != before[name]:
                self.told.append(f"{when}, {name}: {text[:300]} was {before[name][:300]}")

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
        return {name: self._told(answer, hidden) for name, answer in answers.items()}

    def _context(self, seen: SeenKnowledge, query: str) -> str:
        made = seen.context(query)
        return json.dumps(made.as_dict(), default=str, sort_keys=True).replace(made.boundary or "none", "BOUNDARY")

    def _found(self, seen: SeenKnowledge, query: str, **options: Any) -> dict[str, Any]:
        return seen.search(query, **options).as_dict()

    def _told(self, answer: Callable[[], Any], hidden: tuple[int, str]) -> str:
        try:
            text = json.dumps(answer(), default=str, sort_keys=True)
        except SourcebookError as error:
            text = f"{type(error).__name__}: {error}".replace(hidden[1].removeprefix("file://"), "PATH")
            text = re.sub(rf"\b{hidden[0]}\b", "NUMBER", text)
        return _CLOCKS.sub("", text)

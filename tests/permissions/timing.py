"""One bit by the clock: whether an answer takes longer where there is a document that the caller may not see."""

import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from random import Random
from typing import Any

from scipy.stats import mannwhitneyu

from sourcebook.admin.access_keys import create_key
from sourcebook.errors import SourcebookError
from tests.integration.http_server import Client
from tests.integration.stages import Stages
from tests.permissions.worlds import allow

_WORD = "quagmire"
"""Stands in the hidden document alone."""
_NO_WORD = "quagmirf"
_OPEN_DOCUMENTS = 200
_Pair = tuple[str, Callable[[], Any], Callable[[], Any]]


def tell_times(stages: Stages, port: int, trials: int, seed: int) -> Iterator[tuple[str, float, float]]:
    """Yield what was asked, how often the hidden document took longer than none, and how likely chance did that.

    Each is asked `trials` times for the hidden document and as often for one that is not there, in an order by chance.
    The share is .5 where the times do not differ, and the probability is that of a Mann-Whitney test of both sides.
    Two words may take different times by themselves: of searches, the differences between them are compared with those
    before there was the document. The first pair asks for the same twice: what chance and the machine do.
    """
    for number in range(_OPEN_DOCUMENTS):
        stages.write(f"open/{number}.md", f"# {number}\n\nThe barnacle {number} marks high water.")
    _let_in(stages)
    with stages.connection() as connection:
        key = create_key(connection, "anna", principals=["user:anna"], actor="test")[1]
    random, client = Random(seed), Client(port, key)
    before = {name: _times(hidden, none, trials, random) for name, hidden, none in _searches(stages, client)}
    stages.write("hidden/one.md", f"# Hidden\n\nThe {_WORD} is sold for nine guilders.")
    _let_in(stages)
    for name, hidden, none in (*_documents(stages, client), *_searches(stages, client)):
        longer, shorter = _times(hidden, none, trials, random)
        if name in before:
            longer, shorter = (
                [each - other for each, other in zip(*times, strict=True)]
                for times in ((longer, shorter), before[name])
            )
        tested = mannwhitneyu(longer, shorter)
        yield name, float(tested.statistic) / trials**2, float(tested.pvalue)


def _let_in(stages: Stages) -> None:
    stages.configure()
    stages.run()
    allow(stages, [("/hidden/", ["group:board"]), (None, ["everyone"])])


def _times(
    hidden: Callable[[], Any], none: Callable[[], Any], trials: int, random: Random
) -> tuple[list[float], list[float]]:
    """Return the seconds of each trial for the hidden document, and for none."""
    taken: dict[bool, list[float]] = {True: [], False: []}
    order = [True, False] * trials
    random.shuffle(order)
    for is_hidden in order:
        begin = time.perf_counter()
        with suppress(SourcebookError):
            (hidden if is_hidden else none)()
        taken[is_hidden].append(time.perf_counter() - begin)
    return taken[True], taken[False]


def _documents(stages: Stages, client: Client) -> Iterator[_Pair]:
    seen = stages.knowledge.seen_by(["user:anna"])
    there, none = stages.document("hidden/one.md")["id"], 10**6
    yield "none against none", partial(seen.show, none), partial(seen.show, none)
    yield "show", partial(seen.show, there), partial(seen.show, none)
    for path in ("/v1/documents/{}", "/v1/documents/{}/original", "/documents/{}"):
        yield path, partial(client.get, path.format(there)), partial(client.get, path.format(none))


def _searches(stages: Stages, client: Client) -> Iterator[_Pair]:
    seen = stages.knowledge.seen_by(["user:anna"])
    modes: tuple[Any, ...] = ("keyword", "hybrid")
    for mode in modes:
        search = partial(seen.search, mode=mode, literal=True)
        yield f"{mode} search", partial(search, _WORD), partial(search, _NO_WORD)
        asked = {"mode": mode, "literal": True}
        over_http = partial(client.post, "/v1/search")
        yield (
            f"/v1/search, {mode}",
            partial(over_http, {"query": _WORD, **asked}),
            partial(over_http, {"query": _NO_WORD, **asked}),
        )

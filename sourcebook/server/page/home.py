"""Home: what is there, what needs somebody, what runs and comes next, and what models cost."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.responses import Response

from sourcebook.admin.overview import CollectionOverview, KeptSource
from sourcebook.contract.documents import Item
from sourcebook.contract.usage import summed
from sourcebook.errors import FailureClass, QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.access import Grant
from sourcebook.operations.overviews import growth, overviews
from sourcebook.server.page.forms import WriterForm, redirect_to
from sourcebook.server.page.found_on_page import RELEVANT
from sourcebook.server.page.plots import daily, running
from sourcebook.server.page.rendering import render
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.page.work import shown_groups, words_of_work
from sourcebook.server.routes.document_changes import failed_items, retried
from sourcebook.server.visibility import known_collections, seen_collections, shown_items, shown_sources

router = APIRouter(include_in_schema=False)
_DAYS: Final = 30
"""Days that queries and costs are looked at."""
_PLOTTED: Final = 90
"""Days that the plot of documents shows."""
_LATE: Final = timedelta(hours=1)
"""Time after a look was due from which on its source is stale."""
_ASKED: Final = 1_000
"""Queries that are looked at, the most frequent ones."""
_MOST: Final = 6
"""Entries of a list that are shown."""
_KINDS: Final = ("file", "page", "recording")
FAILURES: Final = {
    FailureClass.PASSWORD: "protected by a password",
    FailureClass.CORRUPT: "damaged",
    FailureClass.TOO_LARGE: "too large for the settings",
    FailureClass.UNSUPPORTED: "of a format that is not read",
    FailureClass.EMPTY: "empty",
    FailureClass.MEMORY: "short of memory",
    FailureClass.TIMEOUT: "too slow for the settings",
    FailureClass.CRASH: "ended by a crash",
    FailureClass.MISSING: "gone, or changed meanwhile",
    FailureClass.UNREADABLE: "not readable in their store",
    FailureClass.FORBIDDEN: "forbidden",
    FailureClass.NETWORK: "out of reach",
    FailureClass.SERVER: "answered with an error by their server",
    FailureClass.MODEL: "waiting for a model or a program that is missing",
    FailureClass.HELD: "kept, as their source lacks so many at once",
    FailureClass.OTHER: "failed before failures had a class",
}
"""Classes of failures in words, after a number of items."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Items that failed in one way."""

    name: str
    words: str
    number: int
    examples: list[Item]

    @property
    def is_retryable(self) -> bool:
        """Whether files, pages or documents are among them: a source is looked at with the next ingest."""
        return any(each.kind != "source" for each in self.examples)


@router.get("/home")
def show_home(request: Request, knowledge: Knowledge, visitor: Visitor) -> Response:
    """Show the state of the visitor's collections; to who asks for principals, the documents that they may see."""
    names = known_collections(knowledge, visitor)
    if visitor.asker.principals is not None:
        kinds = {kind: knowledge.count_documents(names, kinds=[kind]) for kind in _KINDS} if names else {}
        return render(
            request, "home.html", kinds=kinds, documents=sum(kinds.values()), overviews=None, collections=names
        )
    now = datetime.now(UTC)
    found = overviews(knowledge, names)
    sources = [each for one in found for each in shown_sources(visitor, one.sources)]
    return render(
        request,
        "home.html",
        overviews=found,
        collections=names,
        **_plots(knowledge, names, now.date()),
        stale=list(_stale(found, sources, now)),
        next_looks=sorted(_next_looks(sources, now), key=lambda each: each[0])[:_MOST],
        retrying=visitor.allows("write"),
        **_contents(knowledge, visitor, names),
        **_answers(knowledge, visitor, names),
        **_running(request, knowledge, visitor, names),
    )


@router.get("/home/running")
def show_running(request: Request, knowledge: Knowledge, visitor: Visitor) -> Response:
    """Show what runs, for a script that looks again."""
    names = known_collections(knowledge, visitor)
    return render(request, "home_running.html", **_running(request, knowledge, visitor, names))


@router.post("/home/retry")
def retry_failures(knowledge: Knowledge, form: WriterForm) -> Response:
    """Ask for the items to be tried again that failed in one way, and lead to the work."""
    failure = form.one("failure")
    if failure not in set(FailureClass):
        raise QueryError(gettext("there is no such way to fail"))
    names = known_collections(knowledge, form.visitor)
    found = {name: failed_items(knowledge, name, failure) for name in names}
    made = retried(knowledge, form.visitor, {name: uris for name, uris in found.items() if uris}, form.once)
    return redirect_to(f"/work/{made[0].id}" if len(made) == 1 else "/work")


def _contents(knowledge: KnowledgeBase, visitor: Grant, names: list[str]) -> dict[str, Any]:
    """Return the numbers of documents by kind and state, and what failed in which way."""
    kinds: dict[str, int] = defaultdict(int)
    states: dict[str, int] = defaultdict(int)
    failures: dict[str, int] = defaultdict(int)
    counted = knowledge.statistics(names) if names else []
    for each in counted:
        for sums, numbers in ((kinds, each.kinds), (states, each.states), (failures, each.failures)):
            for name, number in numbers.items():
                sums[name] += number
    return {
        "documents": sum(each.documents for each in counted),
        "passages": sum(each.chunks for each in counted),
        "kinds": dict(kinds),
        "states": dict(states),
        "failures": [
            Failure(
                name,
                gettext(FAILURES[FailureClass(name)]),
                number,
                shown_items(visitor, knowledge.documents(names, failed=True, failure=name, limit=3)),
            )
            for name, number in sorted(failures.items(), key=lambda item: (-item[1], item[0]))
        ],
    }


def _plots(knowledge: KnowledgeBase, names: Sequence[str], last: date) -> dict[str, Any]:
    """Return the plots of documents and costs, None where there are none, and by how much the documents grew."""
    first = last - timedelta(days=_PLOTTED - 1)
    grown: dict[date, float] = {each.day: float(each.documents) for each in growth(knowledge, names)} if names else {}
    costs: dict[date, float] = defaultdict(float)
    for each in (
        knowledge.usage(names, since=timedelta(days=_PLOTTED - 1), by=("day", "model", "provider")) if names else []
    ):
        if each.day is not None:
            costs[each.day] += each.cost or 0
    documents = running(grown, first, last)
    plots = {
        "grown": daily(gettext("Documents"), "", documents, first, last),
        "spent": daily(gettext("Cost a day"), gettext(" US dollars"), costs, first, last),
    }
    earlier = sum(change for day, change in grown.items() if day < first)
    return {name: plot if plot.highest else None for name, plot in plots.items()} | {"gain": documents[last] - earlier}


def _stale(
    found: Iterable[CollectionOverview], sources: Iterable[KeptSource], now: datetime
) -> Iterator[tuple[str, str, str, datetime | None]]:
    """Yield collection, source, reason and time of what is not as its source is now."""
    for source in sources:
        if source.listing_error:
            yield source.collection, source.location, source.listing_error, source.listed_at
        elif source.next_look_at is not None and source.next_look_at < now - _LATE:
            yield source.collection, source.location, gettext("the next look was due"), source.next_look_at
    for each in found:
        if each.behind_since is not None and each.behind_since < now - _LATE:
            yield each.summary.name, "", gettext("changes wait for an ingest, since"), each.behind_since


def _next_looks(sources: Iterable[KeptSource], now: datetime) -> Iterator[tuple[datetime, KeptSource]]:
    for source in sources:
        if source.next_look_at is not None and source.next_look_at >= now - _LATE and not source.listing_error:
            yield source.next_look_at, source


def _answers(knowledge: KnowledgeBase, visitor: Grant, names: list[str]) -> dict[str, Any]:
    """Return what people did not find, and what models were used for: each as far as the visitor may know it."""
    since = timedelta(days=_DAYS)
    may = visitor.allows("admin") and bool(names)
    asked = knowledge.queries(names, since=since, limit=_ASKED) if may else []
    used = knowledge.usage(names, since=since) if names else []
    wrong = [each for each in knowledge.judgments(names) if each.grade <= 0] if names else []
    return {
        "days": _DAYS,
        "unanswered": knowledge.queries(names, without_results=True, since=since, limit=_MOST) if may else [],
        "is_logged": bool(asked),
        "doubtful": [each for each in asked if each.last_relevance is not None and each.last_relevance < RELEVANT][
            :_MOST
        ],
        "wrong": sorted(wrong, key=lambda each: each.judged_at, reverse=True)[:_MOST],
        "wrong_number": len(wrong),
        "models": sorted(summed(used, ("model", "operation")), key=lambda each: -(each.cost or 0))[:_MOST],
        "cost": sum(each.cost or 0 for each in used),
        "calls": knowledge.llm_statistics(seen_collections(knowledge, visitor, None), since=since) if may else [],
    }


def _running(request: Request, knowledge: KnowledgeBase, visitor: Grant, names: list[str]) -> dict[str, Any]:
    return {"groups": shown_groups(knowledge, visitor, names) if names else [], **words_of_work(request)}

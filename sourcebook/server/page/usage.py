"""The page of usage: what models were used for, by day and model, with its cost."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sourcebook.contract.usage import Usage, summed
from sourcebook.server.page.plots import Plot, daily
from sourcebook.server.page.rendering import render
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.visibility import known_collections, seen_collections

router = APIRouter(include_in_schema=False)
PERIODS: Final = (7, 30, 90, 365)
"""Days that the page offers."""


@router.get("/usage")
def show_usage(
    request: Request,
    knowledge: Knowledge,
    visitor: Visitor,
    collection: str = "",
    days: Annotated[int, Query(ge=1, le=3_660)] = 30,
) -> Response:
    """Show the usage of the last days, today included; of collections that were purged only to those who see all."""
    names = known_collections(knowledge, visitor)
    chosen = None if visitor.collections is None else names
    if collection:
        chosen = seen_collections(knowledge, visitor, [collection])
    sees_nothing = chosen is not None and not chosen
    found = [] if sees_nothing else knowledge.usage(chosen, since=timedelta(days=days - 1))
    return render(
        request,
        "usage.html",
        total=summed(found, ())[0] if found else None,
        by_model=summed(found, ("provider", "model", "operation")),
        by_day=summed(found, ("day",)),
        plots=list(_plots(found, days)),
        asked={"collection": collection, "days": str(days)},
        collections=names,
        periods=[str(each) for each in sorted({*PERIODS, days})],
    )


def _plots(found: Iterable[Usage], days: int) -> Iterable[Plot]:
    """Yield the plot of texts, and that of the costs where something cost something."""
    last = datetime.now(UTC).date()
    first = last - timedelta(days=days - 1)
    texts: dict[date, float] = defaultdict(float)
    costs: dict[date, float] = defaultdict(float)
    for each in found:
        if each.day is not None:
            texts[each.day] += each.texts
            costs[each.day] += each.cost or 0
    if any(texts.values()):
        yield daily(gettext("Texts a day"), "", texts, first, last)
    if any(costs.values()):
        yield daily(gettext("Cost a day"), gettext(" US dollars"), costs, first, last)

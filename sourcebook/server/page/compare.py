"""The page that compares what two generations of a collection find and answer for the same question, side by side."""

from dataclasses import dataclass
from typing import Annotated, Final

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from sourcebook.contract.generations import GenerationState
from sourcebook.contract.search import MEASURING
from sourcebook.contract.search_results import SearchResult
from sourcebook.errors import ModelError, QueryError
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.operations.answers import answering_collections, ask_generation
from sourcebook.server.page.forms import is_own
from sourcebook.server.page.found_on_page import readable, relevance_words
from sourcebook.server.page.page_turns import PageTurn, turn_of_answer
from sourcebook.server.page.rendering import render
from sourcebook.server.page.translation import gettext
from sourcebook.server.page.visitors import Knowledge, Visitor
from sourcebook.server.visibility import seen_collections

router = APIRouter(include_in_schema=False)
_COMPARED: Final = 10
"""Results of each generation."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A result of one generation."""

    hit: SearchResult
    moved: str
    """Where its document stands in the other generation, in words."""

    @property
    def snippet(self) -> str:
        return readable(self.hit.snippet)

    @property
    def relevance(self) -> str:
        return relevance_words(self.hit.relevance)


@router.get("/collections/{name}/compare")
def compare(
    name: str,
    request: Request,
    knowledge: Knowledge,
    visitor: Visitor,
    q: Annotated[str, Query(max_length=10_000)] = "",
    first: Annotated[int, Query(ge=0, le=1 << 62)] = 0,
    second: Annotated[int, Query(ge=0, le=1 << 62)] = 0,
    answers: bool = False,
) -> Response:
    """Show the first results of two generations, each with its place in the other one, and the answers from them."""
    seen_collections(knowledge, visitor, [name])
    known = {state.id: state for state in knowledge.generations(name)}
    chosen = [number or default for number, default in zip((first, second), [*known, *known][:2], strict=False)]
    if any(number not in known for number in chosen):
        raise QueryError(gettext("the collection has no such generation"))
    sides, said, problem = [], list[PageTurn | str](), None
    has_model = name in answering_collections(knowledge)
    if q.strip() and len(known) > 1:
        try:
            sides = _sides(knowledge, name, q, [known[number] for number in chosen])
            if answers and has_model and is_own(request):
                said = [_answer(knowledge, name, q, number) for number in chosen]
        except QueryError as error:
            problem = str(error)
    return render(
        request,
        "compare.html",
        200 if problem is None else 400,
        name=name,
        generations=list(known.values()),
        chosen=chosen,
        asked={"q": q},
        sides=sides,
        has_model=has_model,
        answers=answers,
        said=said,
        problem=problem,
    )


def _sides(
    knowledge: KnowledgeBase, name: str, query: str, chosen: list[GenerationState]
) -> list[tuple[GenerationState, list[Compared]]]:
    """Return what each generation finds."""
    found = [
        list(knowledge.search(query, name, _COMPARED, generation=state.id, group_by="document", **MEASURING))
        for state in chosen
    ]
    places: list[dict[int, int]] = [{}, {}]
    for held, hits in zip(places, found, strict=True):
        for place, hit in enumerate(hits, 1):
            held.setdefault(hit.document_id, place)
    return [
        (state, [Compared(hit, _moved(place, others.get(hit.document_id))) for place, hit in enumerate(hits, 1)])
        for state, hits, others in zip(chosen, found, reversed(places), strict=True)
    ]


def _answer(knowledge: KnowledgeBase, name: str, question: str, generation: int) -> PageTurn | str:
    """Return the answer from what a generation finds, or the sentence why there is none."""
    try:
        return turn_of_answer(ask_generation(knowledge, question, name, generation), [name])
    except ModelError as error:
        return str(error)


def _moved(place: int, other: int | None) -> str:
    """Return where a document stands on the other side."""
    if other is None:
        return gettext("not among them")
    return gettext("at the same place") if other == place else gettext("at place %(number)s") % {"number": other}

"""Fourth step of a search: its page, the relevance of each candidate, and whether anything relevant was found."""

from collections.abc import Sequence

from sourcebook.contract.search import LARGEST_OFFSET
from sourcebook.search.ranking.closer_look import can_refuse
from sourcebook.search.ranking.evidence import evidence_for
from sourcebook.search.ranking.fusion import DEEPEST, Candidate
from sourcebook.search.ranking.relevance import DECIDING, FITTED, RELEVANT_FROM
from sourcebook.search.ranking.state import Page, SearchState


def judge_page(state: SearchState) -> None:
    """Cut the page, and keep its candidates that are relevant enough, each with its relevance.

    The first candidates of the ranked list decide whether anything is relevant, so that all pages say the same.
    """
    request, ranked = state.request, state.found.ranked
    page, next_offset = _page(state)
    deciding = ranked.candidates[:DECIDING]
    evidence = evidence_for(state, list({each.chunk_id: each for each in (*deciding, *page)}.values()))
    relevances = {chunk: FITTED.relevance(known) for chunk, known in evidence.items()}
    best = max((relevances[each.chunk_id] for each in deciding), default=1.0)
    nothing_relevant = best < RELEVANT_FROM and can_refuse(state)
    if request.min_relevance is not None:
        shown = [each for each in page if relevances[each.chunk_id] >= request.min_relevance]
    else:
        shown = [] if nothing_relevant else list(page)
    if "min_relevance" in state.defaults and len(shown) < len(page):
        state.notes.append(
            f"{len(page) - len(shown)} of the page's passages are below the relevance of "
            f"{state.defaults['min_relevance']:g} that the settings of the collections ask for"
        )
    state.page = Page(
        tuple(each._replace(relevance=relevances[each.chunk_id]) for each in shown),
        None if nothing_relevant and request.min_relevance is None else next_offset,
        nothing_relevant,
        len(page) - len(shown),
        tuple(FITTED.explain(evidence[each.chunk_id]) for each in page) if request.explain else (),
    )


def _page(state: SearchState) -> tuple[Sequence[Candidate], int | None]:
    """Return the candidates of the page and the offset of the next one; an empty or a last page has a note."""
    request, candidates = state.request, state.candidates
    units = "documents" if request.group_by else "passages"
    end = request.offset + state.limit
    page = candidates[request.offset : end]
    is_last = end >= len(candidates)
    if request.offset and not page:
        state.notes.append(
            f"the page begins behind {request.offset:,} {units}, and the search found {len(candidates):,}: "
            "the last page is an earlier one"
        )
    next_offset = None if is_last or end > LARGEST_OFFSET else end
    if page and next_offset is None and not (is_last and state.found.is_complete):
        state.notes.append(
            f"each leg ranks its first {DEEPEST:,} entries; {units} behind them are not listed: narrow the search"
        )
    return page, next_offset

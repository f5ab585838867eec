"""Fourth step of a search: its page, the relevance of each candidate, and whether anything relevant was found."""

from collections.abc import Sequence

from sourcebook.contract.search import LARGEST_OFFSET
from sourcebook.search.query_terms import with_expanded
from sourcebook.search.ranking.fusion import DEEPEST, Candidate
from sourcebook.search.ranking.passages import matched_words
from sourcebook.search.ranking.relevance import DECIDING, FITTED, RELEVANT_FROM, Background
from sourcebook.search.ranking.state import Page, SearchState


def judge_page(state: SearchState) -> None:
    """Cut the page, and keep its candidates that are relevant enough, each with its relevance.

    The first candidates of the ranked list decide whether anything is relevant, so that all pages say the same. A
    passage of a named file, or one that fulfils a required phrase or title, is what was asked for, whatever its
    relevance.
    """
    request, ranked, known = state.request, state.found.ranked, state.held_words
    page, next_offset = _page(state)
    deciding = ranked.candidates[:DECIDING]
    judged_once = list({each.chunk_id: each for each in (*deciding, *page)}.values())
    legs = {each.chunk_id: ranked.legs_of(each) for each in judged_once}
    models = state.scope.by_model()
    different = {id(found): found for found in (ranked.first_legs, *legs.values())}
    made = {number: Background.of(found, models) for number, found in different.items()}
    background = made[id(ranked.first_legs)]
    missing = [each.chunk_id for each in judged_once if each.chunk_id not in known]
    tokens = {*background.weights, *(term.token for term in state.terms if term.expands)}
    matched = {**known, **matched_words(state.held.connection, state.scope.ids, tokens, missing)}
    evidence = {
        each.chunk_id: made[id(legs[each.chunk_id])].evidence(
            each, with_expanded(matched[each.chunk_id].words, state.terms) if each.chunk_id in matched else ()
        )
        for each in judged_once
    }
    relevances = {chunk: FITTED.relevance(known) for chunk, known in evidence.items()}
    best = max((relevances[each.chunk_id] for each in deciding), default=1.0)
    is_demanded = bool(state.query.phrases or state.query.titles) or ranked.has_named_files
    has_less = any(each.awaits_vectors for each in state.scope.generations)  # to show for passages without vectors
    can_refuse = background.can_refuse and not has_less
    nothing_relevant = best < RELEVANT_FROM and can_refuse and not is_demanded
    if request.min_relevance is not None:
        shown = [each for each in page if relevances[each.chunk_id] >= request.min_relevance]
    else:
        shown = [] if nothing_relevant else list(page)
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
    end = request.offset + request.limit
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

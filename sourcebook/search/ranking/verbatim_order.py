"""Order of the first candidates: those with the query's dates, and of a document those that say it word for word."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from sourcebook.model.passage_part import parts_of
from sourcebook.search.query_terms import QueryTerm
from sourcebook.search.ranking.duplicates import HEAD, LEAST_TOKENS
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.highlights import Highlight, find_highlights
from sourcebook.search.ranking.passages import HeldWords, Row, read_rows
from sourcebook.search.ranking.state import SearchState
from sourcebook.search.ranking.verbatim import LEAST_AGREEMENT, PlacedPassage, Query, places_in_order

FIRST: Final = 10
"""Candidates whose places passages of one document change for, whatever page is asked for."""
_BY_WORDS: Final = 20
"""Passages behind them, the best ones by words, that may take a place of their document."""
_LEAST_SCORE: Final = 0.4
"""Share of the best passage's BM25 that these have, at least: a short section has its heading's words once."""
_RUN: Final = re.compile(r"(?=.*\d\D+\d)(?=.*[-/.:_])(?=.*[-/.:_].+[-/.:_]|.*[^\W\d_])\S+")
"""Lexeme of a date, version, part number or address: its numbers in another order are another one."""
_NAME: Final = re.compile(r"(?=.*[^\W\d_])\S*[+#&*]\S*|\.[^\W\d_]\S*")
"""Lexeme of a name with signs, such as `c#`, `c++`, `r&d` or `.net`: no other word says it."""
_OPTION: Final = re.compile(r"(?<!\S)--?([^\W\d_]\w*)")
"""Option of a program, such as `-Fc` or `--jobs`."""
_LONGEST_ENDING: Final = 3
"""Letters that stemming drops."""
_LEAST_OF_RUNS: Final = 1 / 3
"""Share of the query's weight in such lexemes, at least; a longer query is about something else."""
_LEAST_OF_OPTIONS: Final = 1 / 5
"""Share of a query's weight in options, at least: the name of the program counts with its parts."""


def read_first(state: SearchState, candidates: Sequence[Candidate]) -> None:
    """Let the state keep the words of the query that the first candidates hold, and the rows of the page's candidates.

    Args:
        state: with the terms of the query.
        candidates: best first.
    """
    places = _looked_at(candidates)
    if not (state.terms and places):
        return
    chunks = [candidates[place].chunk_id for place in places]
    missing = [chunk for chunk in chunks if chunk not in state.first]
    if missing:
        state.first |= look_at_first(state, state.terms, missing, candidates)
    looked_at = {chunk: state.first[chunk] for chunk in chunks if chunk in state.first}
    state.held_words = {
        chunk: HeldWords(row["held_words"], row["document_id"], row["ordinal"]) for chunk, row in looked_at.items()
    }
    state.rows = {chunk: row for chunk, row in state.first.items() if row["text"] is not None}


def look_at_first(
    state: SearchState, terms: Sequence[QueryTerm], chunks: Sequence[int], candidates: Sequence[Candidate]
) -> dict[int, Row]:
    """Return a row of each passage by chunk id: the words of the query that it holds, and what tells duplicates.

    Passages of the page as it looks so far have their texts, too.

    Args:
        state: not yet with the terms of the query.
        terms: those of the keyword leg.
        chunks: ids of the first candidates.
        candidates: best first.
    """
    request = state.request
    is_plain = not (request.group_by or state.neighbours)
    page = candidates[request.offset : request.offset + state.limit] if is_plain else []
    wanted = {
        "tokens": [term.token for term in terms],
        "shown": [each.chunk_id for each in page if each.chunk_id in chunks],
        "least": LEAST_TOKENS,
        "head": HEAD,
    }
    return read_rows(state.held.connection, "first_passages", state.scope.ids, chunks, **wanted)


def verbatim_first(state: SearchState, candidates: list[Candidate]) -> list[Candidate]:
    """Return the candidates; among the first ones, those of one document by how far they say the query word for word.

    Every document keeps the places that it has in the list, so that no measure by document changes; but those that hold
    a date, a number or an option that the query is about stand before the others.

    Args:
        state: with the terms of the query, and what `read_first` has read.
        candidates: best first.
    """
    connection, ids, terms, held, rows = (
        state.held.connection,
        state.scope.ids,
        state.terms,
        state.held_words,
        state.rows,
    )
    places = _looked_at(candidates)
    if not (terms and places):
        return candidates
    order = places_by_runs(terms, [held.get(candidates[place].chunk_id) for place in places], state.query.text)
    candidates = _replaced(candidates, places, [candidates[places[number]] for number in order])
    chunks = [candidates[place].chunk_id for place in places]
    found = compared_places(terms, [held.get(chunk) for chunk in chunks])
    compared = [places[number] for number in found]
    if not compared:
        return candidates
    missing = [chunk for place in compared if (chunk := candidates[place].chunk_id) not in rows]
    rows |= read_rows(connection, "passages", ids, missing) if missing else {}
    texts = [state.query.text, *(row["text"] for row in rows.values())]
    asked, *marked = find_highlights(connection, state.scope, terms, texts)
    state.highlights = highlights = dict(zip(rows, marked, strict=True))
    compared = [place for place in compared if candidates[place].chunk_id in rows]
    query = Query.of(state.query.text, asked, _unknown_weight(terms))
    order = places_in_order(query, [_placed(rows[candidates[place].chunk_id], highlights) for place in compared])
    return _replaced(candidates, compared, [candidates[compared[number]] for number in order])


def places_by_runs(terms: Sequence[QueryTerm], held: Sequence[HeldWords | None], text: str = "") -> list[int]:
    """Return the order of passages, as places in the list: those with its dates, numbers, names and options first.

    The order stays where they are less than a third of the query's weight, options a fifth.

    Args:
        terms: of the query.
        held: words of it that each passage holds.
        text: the query, in which a dash before a word says that it is an option of a program.
    """
    known = {term.token: term.weight for term in terms if term.ids and term.stands_for is None}
    named = [option.casefold() for option in _OPTION.findall(text)]
    options = {token for token in known if any(_is_of(token, option) for option in named)}
    runs = {token: weight for token, weight in known.items() if token in options or _is_run(token)}
    least = _LEAST_OF_OPTIONS if options else _LEAST_OF_RUNS
    places = list(range(len(held)))
    if sum(runs.values()) < least * sum(known.values()) or not runs:
        return places
    weights = [sum(runs.get(word, 0.0) for word in each.words) if each else 0.0 for each in held]
    return sorted(places, key=lambda place: -weights[place])


def _is_run(token: str) -> bool:
    return _RUN.fullmatch(token) is not None or _NAME.fullmatch(token) is not None


def _is_of(token: str, option: str) -> bool:
    """Whether a lexeme is that of an option's name, of which stemming drops the end."""
    return option.startswith(token) and len(option) - len(token) <= _LONGEST_ENDING


def _replaced(candidates: Sequence[Candidate], places: Sequence[int], others: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with others in some places."""
    ordered = list(candidates)
    for place, other in zip(places, others, strict=True):
        ordered[place] = other
    return ordered


def _looked_at(candidates: Sequence[Candidate]) -> list[int]:
    """Return the places of the first candidates, and of those behind them whose words are asked for, in their order.

    They are the same for each page: only candidates of the first depth count.
    """
    first = candidates[:FIRST]
    best = max((each.keyword_score or 0.0 for each in first), default=0.0)
    behind = [
        place
        for place, each in enumerate(candidates[FIRST:], FIRST)
        if each.depth == first[0].depth
        and each.keyword_rank is not None
        and each.keyword_rank <= _BY_WORDS
        and (each.keyword_score or 0.0) >= _LEAST_SCORE * best
    ]
    return [*range(len(first)), *behind]


def compared_places(terms: Sequence[QueryTerm], held: Sequence[HeldWords | None]) -> list[int]:
    """Return the places of passages that may change them, in documents where a later one holds the query's words.

    Documents have a place among the first ones. Two successive passages may hold the words together: an end of one and
    the beginning of the next.

    Nothing is read where no passage holds half of the query, as with most questions on meaning. A passage never holds
    all lexemes where several languages are searched: each of them has its own lexeme of a word.
    """
    known = {term.token: term.weight for term in terms if term.ids and term.stands_for is None}
    weights = [sum(known.get(word, 0.0) for word in each.words) if each else 0.0 for each in held]
    heaviest = max(weights, default=0.0)
    if heaviest * 2 < sum(known.values()) + _unknown_weight(terms) or not heaviest:
        return []
    places: dict[int, list[int]] = {}
    for place, each in enumerate(held):
        if each is not None:
            places.setdefault(each.document_id, []).append(place)
    compared: list[int] = []
    for first, *others in places.values():
        if first >= FIRST:
            continue
        full = {place for place in others if weights[place] >= LEAST_AGREEMENT * heaviest}
        full.update(_together([(place, each) for place in (first, *others) if (each := held[place])], known, heaviest))
        compared += [first, *(full - {first})] if full else []
    return sorted(compared)


def _together(passages: Sequence[tuple[int, HeldWords]], known: Mapping[str, float], least: float) -> Iterator[int]:
    """Yield the places of successive passages of a document that hold the query's words together, and neither alone.

    Args:
        passages: of the document, with their places.
        known: weight of each word.
        least: weight of what two of them hold, at least.
    """
    by_ordinal = {each.ordinal: (place, set(each.words)) for place, each in passages if each.ordinal is not None}
    for ordinal, (place, words) in by_ordinal.items():
        following, others = by_ordinal.get(ordinal + 1, (place, words))
        both, *alone = (sum(known.get(word, 0.0) for word in each) for each in (words | others, words, others))
        if both >= least and max(alone) < LEAST_AGREEMENT * both:
            yield from (place, following)


def _unknown_weight(terms: Sequence[QueryTerm]) -> float:
    """Return the weight of the words that no entry holds, and that no other word stands in for."""
    replaced = {term.stands_for for term in terms}
    return sum(term.weight for term in terms if not term.ids and term.stands_for is None and term.token not in replaced)


def _placed(row: Mapping[str, Any], highlights: Mapping[int, Sequence[Highlight]]) -> PlacedPassage:
    sections = parts_of(row["sections"] or ())
    return PlacedPassage(
        row["document_id"],
        row["text"],
        tuple(row["heading_path"]),
        sections,
        highlights[row["chunk_id"]],
        row["ordinal"],
    )

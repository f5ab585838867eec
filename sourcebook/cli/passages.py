"""The results of a search as text for a terminal."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sourcebook.cli.output import one_line, safe, say
from sourcebook.cli.snippets import snippet_text
from sourcebook.contract.search_results import NOTHING_RELEVANT
from sourcebook.model.counted import counted
from sourcebook.model.page_labels import page_words
from sourcebook.model.place import address_of, line_words, time_span

if TYPE_CHECKING:
    from sourcebook.contract.other_documents import OtherPassage, OtherVersion
    from sourcebook.contract.search_results import Facets, SearchResult, SearchResults

SNIPPET = 320
"""Characters shown of a passage."""
_INDENT = "   "
_VALUES = 10
"""Number of a facet's values that are shown."""
_PLACES = 5
"""Number of a document's other passages that are named."""


def show_results(results: "SearchResults", *, are_similar: bool = False) -> None:
    """Print a page of results, with notes, the explanation and the next offset below.

    Args:
        results: the page.
        are_similar: whether they answer no query, and their scores are similarities.
    """
    if results and results.nothing_relevant:
        say(f"{NOTHING_RELEVANT} These are the nearest passages.")
    for rank, result in enumerate(results, start=results.offset + 1):
        score = f"similarity {result.score:.2f}" if are_similar else None
        _show(rank, result, score or _score(result, with_scores=results.explanation is not None))
    if not results and not (results.total_candidates or results.withheld):
        say("No passage was found. Show the collections: sourcebook status")
    elif results.withheld:
        say(_withheld(results))
    if results.linked:
        say(safe("Documents that these lead to:", "dim"))
        for each in results.linked:
            line = f"{each.kind.replace('_', ' ')} {each.document_id}: {one_line(each.title or each.uri, 200)}"
            say(safe(line, "dim"), indent=_INDENT, hanging=_INDENT)
        say("")
    if results.facets is not None:
        _show_facets(results.facets)
    if results.suggestion is not None:
        say(safe(f"Did you mean: {one_line(results.suggestion, 300)}", "bold"))
    if results.next_offset is not None and not (results.withheld and not results):
        say(safe(f"More: the same with --offset {results.next_offset}", "dim"))
    for leg, reason in results.dropped_legs.items():
        say(safe(f"Without {leg} search: {reason}.", "dim"))
    for note in results.notes:
        say(safe(f"Note: {note.removesuffix('.')}.", "dim"))
    if results.explanation is not None:
        say(safe(f"\n{results.explanation}\n{'all':<10} {results.took_ms:.1f} ms"))


def _show_facets(facets: "Facets") -> None:
    """Print the values of each facet with their numbers of documents, the most frequent ones first."""
    say(safe("Documents found:", "dim"))
    for name, values in facets.items():
        if values:
            told = ", ".join(f"{one_line(value, 60)} {number:,}" for value, number in list(values.items())[:_VALUES])
            more = f", {len(values) - _VALUES:,} more" if len(values) > _VALUES else ""
            say(safe(f"{name.replace('_', ' ')}: {told}{more}", "dim"), indent=_INDENT, hanging=_INDENT)
    say("")


def _withheld(results: "SearchResults") -> str:
    """Return what was left out because of its relevance, and how to see it."""
    passages = counted(results.withheld, "less relevant passage" if results else "passage")
    left_out = f"{passages} left out; --all shows {'it' if results.withheld == 1 else 'them'}."
    return left_out if results else f"{NOTHING_RELEVANT} {left_out}"


def _show(rank: int, result: "SearchResult", score: str) -> None:
    heading = safe(f"{rank}. ")
    heading.append_text(safe(one_line(result.title or result.uri, 200), "bold"))
    path = [part for part in result.heading_path if part != result.title]
    if path:
        heading.append_text(safe(f" › {one_line(' › '.join(path), 300)}"))
    page = page_words(result.page, result.metadata)
    place = "".join(f"{part}, " for part in (line_words(result.anchor), page) if part)
    place += f"{result.time_span}, " if result.time_span is not None else ""
    say(heading, hanging=_INDENT)
    say(safe(f"{place}{score}, {result.collection}", "dim"), indent=_INDENT)
    say(safe(address_of(result.uri, result, with_page=False), "cyan"), indent=_INDENT)
    if result.link is not None:
        say(safe(address_of(result.link, result, with_page=False), "cyan"), indent=_INDENT)
    _show_passages(result)
    for each in result.superseded_by[:_PLACES]:
        say(
            safe(f"superseded by {each.document_id}: {one_line(each.title or each.uri, 200)}", "yellow"), indent=_INDENT
        )
    if result.also_in:
        copies = ", ".join(f"{each.document_id} {one_line(each.uri, 300)}" for each in result.also_in[:_PLACES])
        more = f", {result.copies - _PLACES:,} more" if result.copies > _PLACES else ""
        say(safe(f"also in {copies}{more}", "dim"), indent=_INDENT)
    if result.versions:
        names = ", ".join(f"{each.document_id} {one_line(_version(each), 200)}" for each in result.versions[:_PLACES])
        more = f", {len(result.versions) - _PLACES} more" if len(result.versions) > _PLACES else ""
        told = f"other versions: {names}{more}; sourcebook diff {result.document_id} {result.versions[0].document_id}"
        say(safe(told, "dim"), indent=_INDENT)
    if result.also:
        say(safe(_others(result.also, result.metadata), "dim"), indent=_INDENT)
    say("")


def _score(result: "SearchResult", *, with_scores: bool) -> str:
    """Return the score with the ranks behind it, and with the scores of the legs for `--explain`."""
    legs = (
        (result.vector_rank, "vector", "cosine", result.vector_score),
        (result.keyword_rank, "keyword", "BM25", result.keyword_score),
    )
    ranks = ", ".join(
        f"{leg} rank {rank}" + (f" with {measure} {score:.3f}" if with_scores and score is not None else "")
        for rank, leg, measure, score in legs
        if rank is not None
    )
    reranked = f", {result.rerank_score:.4f} by reranking" if result.rerank_score is not None else ""
    score = f"score {result.score:.4f} ({ranks}){reranked}" if ranks else f"score {result.score:.4f}{reranked}"
    return f"relevance {result.relevance:.2f}, {score}" if result.relevance else score


def _show_passages(result: "SearchResult") -> None:
    """Print the snippet of the passage; with neighbours, all passages of the window with each hit marked."""
    if not result.parts:
        say(snippet_text(result), indent=_INDENT)
    first_hit = next((part.ordinal for part in result.parts if part.is_hit), 0)
    for part in result.parts:
        if part.is_hit:
            own = part.ordinal == result.ordinal
            shown = snippet_text(result) if own else safe(one_line(part.text, SNIPPET))
            say(safe("> ").append_text(shown), indent=" ", hanging="  ")
        elif part.ordinal < first_hit:
            say(safe(_last_words(part.text, SNIPPET), "dim"), indent=_INDENT)
        else:
            say(safe(one_line(part.text, SNIPPET), "dim"), indent=_INDENT)


def _others(also: "tuple[OtherPassage, ...]", metadata: Mapping[str, Any]) -> str:
    """Return the number and positions of a document's other passages."""
    places = list(dict.fromkeys(place for other in also if (place := _place(other, metadata))))
    more = ", …" if len(places) > _PLACES else ""
    where = f": {one_line(', '.join(places[:_PLACES]), 300)}{more}" if places else ""
    return f"and {counted(len(also), 'other passage')} of this document{where}"


def _place(other: "OtherPassage", metadata: Mapping[str, Any]) -> str | None:
    if other.page is not None:
        return page_words(other.page, metadata)
    words = time_span(other.start_seconds, other.end_seconds) or line_words(other.anchor)
    return words or (f"#{other.anchor}" if other.anchor else None)


def _version(version: "OtherVersion") -> str:
    """Return the name of another version: its file's, which mostly says which one it is."""
    return version.uri.rstrip("/").rpartition("/")[2] or version.title or version.uri


def _last_words(text: str, most: int) -> str:
    """Return the end of a text, with its white space collapsed, at most `most` characters."""
    line = one_line(text, len(text) + 1)
    return line if len(line) <= most else f"…{line[1 - most :].lstrip()}"

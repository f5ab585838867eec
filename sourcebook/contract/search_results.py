"""Results of a search."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from html import escape
from typing import Any, overload
from urllib.parse import urlsplit

from sourcebook.contract.explanation import Explanation
from sourcebook.contract.filling import Filling
from sourcebook.contract.other_documents import LinkedDocument, OtherCopy, OtherPassage, OtherVersion
from sourcebook.contract.windows import Part, merged_text
from sourcebook.model.passage_part import PassagePart
from sourcebook.model.place import address_of, place_words, time_span

Facets = Mapping[str, Mapping[str, int]]
"""Number of documents by value, the most frequent value first, by facet. A document may have several tags."""

NOTHING_RELEVANT = "Nothing relevant was found."
NOTHING_FOUND = "No passage was found."

_LINKED = frozenset({"http", "https", "file"})
"""Schemes of the addresses that become links."""

_KEPT = frozenset("\n\t\u00a0\u2002\u2003\u2009\u202f\u3000")
"""White space that is no printable character for Python, and harmless."""


@dataclass(frozen=True, slots=True)
class RedactedSpan:
    """A placeholder in the text of a result."""

    category: str
    """Category of redaction, such as `email`."""
    start: int
    """Start in the text, in characters."""
    end: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One passage, with its place, its source and its scores."""

    document_id: int
    collection: str
    uri: str
    title: str
    heading_path: tuple[str, ...]
    """Titles of the headings above the snippet, outermost first."""
    anchor: str | None
    """Anchor of the nearest heading of level 1 to 3 above the snippet: its `id` on a page, else as GitHub makes it. In
    code, data and plain text the lines of the file, `L10-L42`."""
    page: int | None
    """Page of the snippet, counted from 1, where the format has pages."""
    start_seconds: float | None
    """Start of the snippet in its recording, in seconds; None for other documents."""
    end_seconds: float | None
    ordinal: int
    """Place of the passage within its document, counted from 0."""
    text: str
    score: float
    """The fused score; comparable within one search only."""
    vector_rank: int | None
    """Rank in the vector leg, counted from 1; None where the leg did not find it."""
    keyword_rank: int | None
    """Rank in the keyword leg, counted from 1; None where the leg did not find it."""
    version: int
    """Version of the document that the passage was published from."""
    vector_score: float | None = None
    """Cosine similarity of query and passage, -1..1; None where the vector leg did not find it."""
    keyword_score: float | None = None
    """BM25 score, 0 or more; None where the keyword leg did not find it."""
    rerank_score: float | None = None
    """Score of the reranking model; None where the passage was not reranked."""
    kind: str = "file"
    """`file`, `page` or `recording`."""
    media_type: str = ""
    language: str | None = None
    """ISO 639-1 code of the document's language when the passage was published."""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Metadata of the document: plain JSON values."""
    start_char: int = 0
    """Start of the passage in the document's Markdown, in characters; repeated context stands further up."""
    end_char: int = 0
    parts: tuple[Part, ...] = ()
    """With neighbours: the hit and the passages around it, in reading order. Another hit of the search may be among
    them, and has no result of its own."""
    also: tuple[OtherPassage, ...] = ()
    """Grouped by document: the document's other passages that the search found, best first."""
    generation: int = 0
    """Id of the generation that the passage is of."""
    link: str | None = None
    """Address of the file in the web view of its Git repository, at the commit that was read; None elsewhere."""

    relevance: float = 0.0
    """How likely the passage answers the query, 0 to 1; comparable between queries and collections. 0 without a query,
    as of similar documents."""
    sections: tuple[PassagePart, ...] = ()
    """Parts of the passage with headings, pages or times of their own, in reading order; empty where it has one place.
    The result's own place is that of the part that the snippet is of."""
    snippet: str = ""
    """The part of the text that answers the query best: whole sentences or lines of at most 320 characters."""
    snippet_start: int = 0
    """Start of the snippet in the text, in characters."""
    highlights: tuple[tuple[int, int], ...] = ()
    """(start, end) of each word of the text that is a word of the query in whichever form, in characters."""
    redactions: tuple[RedactedSpan, ...] = ()
    """Placeholders in the text, such as `[EMAIL_1]`, where the collection redacts what leaves it."""
    superseded_by: tuple[LinkedDocument, ...] = ()
    """Documents that supersede the result's document."""
    also_in: tuple[OtherCopy, ...] = ()
    """Other documents with the same passage, at most 20; with `duplicates="show"` they are results of their own."""
    copies: int = 0
    """Number of these documents."""
    versions: tuple[OtherVersion, ...] = ()
    """Other versions of the result's document, the newest first, at most 10; `diff` compares two."""
    passage_id: str = ""
    """Lasting name of the passage: it stays as long as its text, its headings and its document do, also in another
    generation with the same chunking."""
    tokens: int = 0
    """Tokens of the passage."""
    total_chunks: int = 0
    """Searchable passages of its document."""
    created_at: datetime | None = None
    """Time at which its document came."""
    updated_at: datetime | None = None
    """Time of the last change of its document's content, metadata or state."""
    indexed_at: datetime | None = None
    """Time since which the document's present passages are found."""

    @property
    def snippet_highlights(self) -> tuple[tuple[int, int], ...]:
        """(start, end) of each highlight in the snippet, in characters."""
        begin, stop = self.snippet_start, self.snippet_start + len(self.snippet)
        return tuple((start - begin, end - begin) for start, end in self.highlights if begin <= start and end <= stop)

    @property
    def time_span(self) -> str | None:
        """Time span of the passage in its recording, such as `12:30–14:15`; None for other documents."""
        return time_span(self.start_seconds, self.end_seconds)

    @property
    def context_text(self) -> str:
        """The parts as one text without repetitions; the passage's own text without neighbours."""
        return merged_text(self.parts) if self.parts else self.text

    def __str__(self) -> str:
        """Return title, place and passage, for `print`."""
        return as_text(self)

    def _repr_html_(self) -> str:
        """Return title, place and passage as HTML, for notebooks."""
        return as_html(self)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, the time span among them, and with neighbours the context."""
        context = self.context_text if self.parts else None
        times = {name: getattr(self, name) for name in ("created_at", "updated_at", "indexed_at")}
        return {
            **asdict(self),
            **{name: time and time.isoformat() for name, time in times.items()},
            "snippet_highlights": self.snippet_highlights,
            "time_span": self.time_span,
            "context_text": context,
        }


@dataclass(frozen=True, slots=True)
class SearchResults(Sequence[SearchResult]):
    """A page of results, best first, and how they were found."""

    results: tuple[SearchResult, ...]
    took_ms: float
    """Milliseconds of the whole search, query embedding included."""
    dropped_legs: dict[str, str]
    """Reason by leg that found nothing; the results come from the other leg alone."""
    total_candidates: int = 0
    """Number of passages (grouped: documents) that were found: they hold a word of the query or are relevant, or with
    `min_relevance` reach it. At least those of the pages up to this one; where `next_offset` is None, all of them."""
    offset: int = 0
    """Number of passages (grouped: documents) before this page."""
    next_offset: int | None = None
    """Offset of the next page; None where this is the last one."""
    notes: tuple[str, ...] = ()
    """Sentences about a search that did not go as asked; empty otherwise."""
    explanation: Explanation | None = None
    """Words, weights, times and plans of the search; only with `explain=True`."""
    generations: tuple[int, ...] = ()
    """Ids of the generations that were searched, one of each collection; as `generation` of the next page they give it
    from the same index."""
    suggestion: str | None = None
    """The query with known words in place of those that no passage holds; None where there is nothing to suggest."""
    nothing_relevant: bool = False
    """Whether passages were found and none of them is relevant; they are withheld unless `min_relevance` is given."""
    withheld: int = 0
    """Number of results of this page that are left out because of their relevance."""
    facets: Facets | None = None
    """Number of the documents found by collection, kind, media type, language, tag, year; only with `facets=True`. They
    are the documents of the passages that `total_candidates` counts, of the first thousand at least."""
    linked: tuple[LinkedDocument, ...] = ()
    """With `expand`, documents that those of the page refer to, at most 20: those that most of them name first."""
    seconds_behind: float | None = None
    """Seconds that the index is behind the primary's, at most; None without a replica (`SOURCEBOOK_SEARCH_URL`)."""
    filling: tuple[Filling, ...] = ()
    """Collections of the search that are being filled, with how much of them is searchable; a note says it, too."""

    @overload
    def __getitem__(self, index: int) -> SearchResult: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[SearchResult]: ...
    def __getitem__(self, index: int | slice) -> SearchResult | Sequence[SearchResult]:
        """Return one result, or a tuple of them."""
        return self.results[index]

    def __len__(self) -> int:
        """Return the number of results on the page."""
        return len(self.results)

    def __iter__(self) -> Iterator[SearchResult]:
        """Iterate best first."""
        return iter(self.results)

    def __str__(self) -> str:
        """Return title, place and passage of each result, for `print`."""
        return "\n\n".join(map(str, self.results)) or self.why_empty

    @property
    def why_empty(self) -> str:
        """The sentence for a page without results."""
        return NOTHING_RELEVANT if self.withheld or self.nothing_relevant else NOTHING_FOUND

    def _repr_html_(self) -> str:
        """Return the results as a numbered list, for notebooks."""
        return all_as_html(self.results, self.notes, self.why_empty)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `sourcebook search --json` prints them."""
        return {
            "results": [result.as_dict() for result in self.results],
            "took_ms": self.took_ms,
            "dropped_legs": self.dropped_legs,
            "total_candidates": self.total_candidates,
            "offset": self.offset,
            "next_offset": self.next_offset,
            "notes": list(self.notes),
            "generations": list(self.generations),
            "suggestion": self.suggestion,
            "facets": self.facets,
            "nothing_relevant": self.nothing_relevant,
            "withheld": self.withheld,
            "linked": [asdict(each) for each in self.linked],
            "seconds_behind": self.seconds_behind,
            "filling": [asdict(each) for each in self.filling],
            "explanation": None if self.explanation is None else self.explanation.as_dict(),
        }


def as_text(result: SearchResult) -> str:
    """Return title, place and passage of a result on lines of their own, without control characters."""
    return "\n".join(printable(line) for line in (result.title or result.uri, _place(result), "", result.text.strip()))


def as_html(result: SearchResult) -> str:
    """Return title, place and passage of a result as HTML, its highlights marked; all from the document is escaped."""
    title = escape(printable(result.title or result.uri))
    address = result.link or result.uri
    if urlsplit(address).scheme.lower() in _LINKED:
        target = escape(address_of(address, result, with_page=False))
        title = f'<a href="{target}" target="_blank" rel="noopener noreferrer">{title}</a>'
    return (
        f"<div><strong>{title}</strong><br><small>{escape(printable(_place(result)))}</small>"
        f'<div style="white-space: pre-wrap; margin: .3em 0 1em">{_marked(result.text, result.highlights)}</div></div>'
    )


def all_as_html(results: Iterable[SearchResult], notes: Iterable[str], why_empty: str) -> str:
    """Return the results of a search as a numbered list, or why there are none, with its notes below."""
    items = "".join(f"<li>{as_html(result)}</li>" for result in results)
    below = "".join(f"<p><small>{escape(printable(note))}</small></p>" for note in notes)
    return f"<ol>{items}</ol>{below}" if items else f"<p>{escape(why_empty)}</p>{below}"


def _place(result: SearchResult) -> str:
    """Return where a passage stands: headings, page or time, address and collection."""
    return " · ".join((*place_words(result, result.title, result.metadata), result.uri, result.collection))


def _marked(text: str, highlights: Sequence[tuple[int, int]]) -> str:
    """Return an escaped text with marks around ranges."""
    pieces, done = [], 0
    for start, end in highlights:
        pieces += [escape(printable(text[done:start])), f"<mark>{escape(printable(text[start:end]))}</mark>"]
        done = end
    return "".join([*pieces, escape(printable(text[done:]))])


def printable(text: str) -> str:
    """Return a text without control characters and marks that reorder text; line ends and tabs stay."""
    return "".join(letter for letter in text if letter.isprintable() or letter in _KEPT)

"""A context for a language model: its text or blocks, its sources, its citations, and what was left out of it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from sourcebook.contract.search import ContextFormat

Reason = Literal["duplicate", "near_duplicate", "no_room", "cut"]


@dataclass(frozen=True, slots=True)
class SourceRun:
    """Adjacent passages of a source that stand in the context as one text."""

    ordinals: tuple[int, ...]
    """Places of the passages within the document, counted from 0."""
    start_char: int
    """Start in the document's Markdown, in characters."""
    end_char: int
    heading_path: tuple[str, ...] = ()
    anchor: str | None = None
    page: int | None = None
    """Counted from 1, where the format has pages."""
    start_seconds: float | None = None
    end_seconds: float | None = None
    time_span: str | None = None
    """Time span in the recording, such as `12:30–14:15`; None for other documents."""
    is_cut: bool = False
    """Whether a passage had to be cut, at the end of a sentence where one fitted."""
    page_label: str | None = None
    """Number printed on the page, such as `iii`; None where it has none."""


@dataclass(frozen=True, slots=True)
class ContextSource:
    """A document that the context quotes; it has one number, however many of its passages there are."""

    number: int
    """Number by which the context names it, counted from 1 in the order of relevance."""
    document_id: int
    collection: str
    uri: str
    address: str
    """The URI with the anchor, the page or the time of its first run."""
    title: str
    version: int
    content_hash: str | None
    """sha256 of the content that was published, in hexadecimal; None where the collection redacts it."""
    relevance: float
    """Relevance of its best passage, 0 to 1."""
    runs: tuple[SourceRun, ...]
    """In reading order."""
    kind: str = "file"
    media_type: str = ""
    language: str | None = None
    link: str | None = None
    """Address of the file in the web view of its Git repository; None elsewhere."""
    is_linked: bool = False
    """Whether it is there because a document that was found refers to it; see `expand`."""


@dataclass(frozen=True, slots=True)
class ContextCitation:
    """A sentence, a line or a list item of the context, and where it stands in its document."""

    source: int
    """Number of its source."""
    block: int
    """Place among the sentences of its source, counted from 0; in the format `anthropic` its content block."""
    document_id: int
    start_char: int | None
    """Start in the document's Markdown, in characters; None for a table's header or a list's lead-in, repeated from
    further up."""
    end_char: int | None
    text: str
    """The sentence as it stands in the document."""
    address: str
    """The document's URI with the anchor, the page or the time of the sentence."""
    text_start: int | None = None
    """Start in the context's text, in characters; None in formats of blocks."""
    text_end: int | None = None


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A passage, or a part of one, that the search found and the context has not."""

    document_id: int
    collection: str
    title: str
    uri: str
    ordinal: int
    reason: Reason
    """`duplicate` and `near_duplicate` of a passage of source `of`; `no_room` in the budget; `cut`: a part of it."""
    of: int | None = None
    """Number of the source that says the same."""


@dataclass(frozen=True, slots=True)
class ContextResult:
    """A context within its budget."""

    format: ContextFormat
    text: str
    """The context in the formats `markdown` and `xml`; empty in the others, and where nothing fits."""
    blocks: tuple[dict[str, Any], ...]
    """Messages of `messages` and `openai`, content blocks of `anthropic`; empty in the other formats."""
    tokens: int
    """Tokens of the text, or of the blocks as JSON; never more than the budget."""
    budget: int
    tokenizer: str
    """Tokenizer that counted; `bound` for an upper bound."""
    is_exact: bool
    """Whether a tokenizer counted."""
    sources: tuple[ContextSource, ...]
    """In the order of their numbers."""
    citations: Mapping[str, ContextCitation]
    """Sentences by `source.block`, such as `2.0` for the first one of the second source."""
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...] = ()
    """Sentences about what did not go as asked, those of the search among them; empty otherwise."""
    nothing_relevant: bool = False
    """Whether passages were found and none of them is relevant."""
    generations: tuple[int, ...] = ()
    """Ids of the generations that were searched."""
    boundary: str | None = None
    """The random digits of the fence; None in formats without one."""
    search_ms: float = 0.0
    """Milliseconds of the search."""
    took_ms: float = 0.0
    """Milliseconds of everything, the search included; a cached context has those of its making."""
    is_cached: bool = field(default=False, compare=False)
    """Whether the context was made for an earlier request of the same kind, and nothing was published since."""
    seconds_behind: float | None = field(default=None, compare=False)
    """How far the replica that was searched is behind; 0 from the primary in its place, None where none is named."""

    def __str__(self) -> str:
        """Return the text, for `print`; of blocks their texts, one below the other."""
        return self.text or "\n\n".join(_texts(self.blocks)) or "\n".join(self.notes)

    def cited(self, citation: Mapping[str, Any]) -> tuple[ContextCitation, ...]:
        """Return the sentences that a citation of Anthropic's API names; none where it names what is not there.

        Args:
            citation: a `search_result_location`: `search_result_index`, `start_block_index` and `end_block_index`.
        """
        try:
            source = int(citation["search_result_index"]) + 1
            blocks = range(
                int(citation["start_block_index"]), min(int(citation["end_block_index"]), len(self.citations))
            )
        except (KeyError, TypeError, ValueError):
            return ()
        found = (self.citations.get(f"{source}.{block}") for block in blocks)
        return tuple(each for each in found if each is not None)

    def as_dict(self) -> dict[str, Any]:
        """Return plain values, as `sourcebook context --json` prints them."""
        return {**asdict(self), "citations": {name: asdict(each) for name, each in self.citations.items()}}


def _texts(blocks: Any) -> list[str]:
    """Return every text in blocks, in their order."""
    if isinstance(blocks, str):
        return [blocks]
    if isinstance(blocks, Mapping):
        inner = [blocks[name] for name in ("title", "text", "content") if name in blocks]
        return [text for part in inner for text in _texts(part)]
    return [text for part in blocks for text in _texts(part)]

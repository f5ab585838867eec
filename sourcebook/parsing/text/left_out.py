"""The account of text that a document holds and its Markdown does not."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from sourcebook.model.document import JsonValue
from sourcebook.model.left_out import LeftOutKind

MOST_TEXTS = 10
"""Most texts that are named."""

_NO_POINTS: Mapping[str, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows left out of a document."""

    rows: int = 0
    words: int = 0
    share: float = 0.0
    """Share of the document's characters, 0 to 1."""
    texts: tuple[str, ...] = ()
    """The most frequent texts, up to ten."""
    counts: Mapping[LeftOutKind, int] = field(default_factory=dict)
    """Numbers of what is left out beside the rows, by kind."""

    def metadata(self, points: Mapping[str, int] = _NO_POINTS, beyond: int = 0) -> dict[str, JsonValue]:
        """Return the entry `left_out` of the document's metadata; nothing where nothing is left out.

        Args:
            points: points of plots that are left out, by the sign that shows them; they are no text and in no share.
            beyond: words beyond the edges of the pages; nobody sees them, and they are in no share.
        """
        if not self.rows and not points and not beyond:
            return {}
        facts: dict[str, JsonValue] = {"rows": self.rows, "words": self.words, "share": self.share}
        facts["texts"] = [*self.texts]
        unseen: dict[str, JsonValue] = {"plot_points": dict(points), "words_beyond_page": beyond}
        return {"left_out": facts | {name: number for name, number in unseen.items() if number}}


def left_out_of(texts: Sequence[str], *, kept: int) -> LeftOut:
    """Return the account of the paragraphs of an office document that are left out.

    Args:
        texts: the paragraphs.
        kept: characters of the Markdown.
    """
    rows = [row for row in (" ".join(text.split()) for text in texts) if row]
    characters = sum(len(row) for row in rows)
    return LeftOut(
        rows=len(rows),
        words=sum(len(row.split()) for row in rows),
        share=round(characters / (characters + kept), 4) if rows else 0.0,
        texts=tuple(row for row, _ in Counter(rows).most_common(MOST_TEXTS)),
    )

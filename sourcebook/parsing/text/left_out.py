"""The account of text that a document holds and its Markdown does not."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from sourcebook.model.document import JsonValue

MOST_TEXTS = 10
"""Most texts that are named."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Rows left out of a document."""

    rows: int = 0
    words: int = 0
    share: float = 0.0
    """Share of the document's characters, 0 to 1."""
    texts: tuple[str, ...] = ()
    """The most frequent texts, up to ten."""

    def metadata(self) -> dict[str, JsonValue]:
        """Return the entry `left_out` of the document's metadata; nothing where nothing is left out."""
        facts = {"rows": self.rows, "words": self.words, "share": self.share, "texts": [*self.texts]}
        return {"left_out": facts} if self.rows else {}


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

"""Language identification of prose."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

from sourcebook.model.document import Block

if TYPE_CHECKING:
    from sourcebook.parsing.language_model import Identifier

_NO_LETTERS = re.compile(
    r"(?:\]\([^)\s]*\)|https?://\S+|(?<![A-Za-z])[A-Za-z]*[0-9][A-Za-z0-9_-]*|[\x00-\x40\x5b-\x60\x7b-\x7f]+)+"
)
"""Links, words with a digit, and other characters than letters; hashes and part numbers look like Welsh."""
_SAMPLE_CHARACTERS = 600
"""Characters to identify a language from; on XQuAD (en, de, es, ru) 500 do as well as 4,000, in half the time."""
_FEWEST_LETTERS = 40
"""Letters needed to identify a language."""
_FEWEST_DENSE_LETTERS = 12
"""Letters of Chinese, Japanese or Korean needed to identify a language."""
_LEAST_PROBABILITY = 0.9
"""Probability of a language, 0..1, below which it is unknown."""
_PROSE = frozenset({"paragraph", "quote"})
_LESS_PROSE = frozenset({"heading", "list", "table"})


def detect_language(markdown: str, blocks: Sequence[Block]) -> str | None:
    """Return the ISO 639-1 code of a document's prose.

    The sample is the first 600 characters of paragraphs and quotes, filled up from headings, lists and tables.

    Args:
        markdown: the whole document.
        blocks: spans of the document's blocks.

    Returns:
        A two-letter code, or None with fewer than 40 letters or a probability below 0.9.
    """
    sample: list[str] = []
    left = _SAMPLE_CHARACTERS
    for kinds in (_PROSE, _LESS_PROSE):
        for block in blocks:
            if block.kind in kinds:
                text = markdown[block.start : min(block.end, block.start + left)]
                sample.append(text)
                left -= len(text)
                if left <= 0:
                    break
        if left <= 0:
            break
    letters = _NO_LETTERS.sub(" ", " ".join(sample)).strip()
    if len(letters) - letters.count(" ") < _FEWEST_LETTERS and not _dense_script(letters):
        return None
    code, probability = _identifier().classify(letters)
    return code if probability >= _LEAST_PROBABILITY else None


def _dense_script(letters: str) -> bool:
    """Return whether a text has 12 letters of a dense script (CJK, Hangul, kana) among its first 100."""
    dense = sum("\u3040" <= letter <= "\u9fff" or "\uac00" <= letter <= "\ud7a3" for letter in islice(letters, 100))
    return dense >= _FEWEST_DENSE_LETTERS


@cache
def _identifier() -> Identifier:
    from sourcebook.parsing.language_model import load_identifier

    return load_identifier()

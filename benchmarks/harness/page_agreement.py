"""The text of a PDF on which independent readers agree, and the similarity of another reading with it."""

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz.distance import LCSseq

from benchmarks.harness.document_scores import share_found, words

_DIVIDED = re.compile(r"[\u00ad\u2010\u2011-]\s*\n\s*")
_TAG = re.compile(
    r"</?(?:a|b|br|code|div|em|i|img|li|mark|ol|p|s|span|strong|sub|sup|table|tbody|td|th|thead|tr|u|ul)(?:\s[^<>\n]{0,200})?/?>",
    re.IGNORECASE,
)
"""Tag of HTML as readers write it; `<file` in a text has no end, and is no tag up to the next `>` some pages on."""
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
"""Kana and ideographs."""
_EDGE_LINES = 2
"""Lines at the top and at the bottom of a page that may be running heads."""
_FEWEST_REPEATED = 3
"""Fewest pages on which a running head repeats, digits aside."""


@dataclass(frozen=True)
class Reference:
    """The words of a document."""

    words: list[str]
    agreement: float
    """Mean similarity of the two readings that agree most on each page, by words: 0 to 1."""


def reference(readings: Sequence[Sequence[str]]) -> Reference:
    """Return the reading of each page that is the most similar to the others; every reading has all pages."""
    found: list[str] = []
    agreed = 0.0
    for page in zip(*map(without_repeated_edges, readings), strict=True):
        texts = [plain_words(text) for text in page]
        scores = [[similarity(one, other) for other in texts if other is not one] for one in texts]
        best = max(range(len(texts)), key=lambda number: sum(scores[number]))
        found += texts[best]
        agreed += max(scores[best], default=0.0) * len(texts[best])
    return Reference(found, agreed / len(found) if found else 0.0)


def plain_words(text: str) -> list[str]:
    """Return the words in their order: case folded, joined at lines' ends, without marks of Markdown and HTML.

    Each character of a script without spaces is a word, because readers that keep the ends of lines part words there.
    """
    plain = _DIVIDED.sub("", unicodedata.normalize("NFKC", _TAG.sub(" ", text))).casefold().replace("_", " ")
    return words(_UNSPACED.sub(r" \g<0> ", plain))


def similarity(first: Sequence[str], second: Sequence[str]) -> float:
    """Return 2 × the longest common subsequence / the length of both, 0 to 1."""
    length = len(first) + len(second)
    return 2 * LCSseq.similarity(first, second) / length if length else 1.0


def found_words(expected: Sequence[str], found: Sequence[str]) -> float:
    """Return the share of the expected words that were found, whatever their order."""
    return share_found(Counter(expected), Counter(found)) or 0.0


def without_repeated_edges(pages: Sequence[str]) -> list[str]:
    """Return the pages without the lines at their edges that repeat, digits aside; all readers lose them alike."""
    seen: Mapping[str, set[int]] = defaultdict(set)
    for number, page in enumerate(pages):
        for line in _edges(page):
            seen[_folded(line)].add(number)
    repeated = {text for text, numbers in seen.items() if len(numbers) >= _FEWEST_REPEATED}
    result = []
    for page in pages:
        lines = [line for line in page.splitlines() if line.strip()]
        edges = {*range(_EDGE_LINES), *range(len(lines) - _EDGE_LINES, len(lines))}
        kept = [line for at, line in enumerate(lines) if at not in edges or _folded(line) not in repeated]
        result.append("\n".join(kept))
    return result


def _edges(page: str) -> list[str]:
    lines = [line for line in page.splitlines() if line.strip()]
    return [*lines[:_EDGE_LINES], *lines[_EDGE_LINES:][-_EDGE_LINES:]]


def _folded(line: str) -> str:
    return re.sub(r"\d+", "#", " ".join(line.split()))

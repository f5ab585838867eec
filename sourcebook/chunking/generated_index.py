"""Generated indexes: documents that are lists of links into their own site, recognised by their shape alone."""

import re
from collections import Counter
from dataclasses import dataclass
from urllib.parse import urlsplit

from sourcebook.model.document import ParsedDocument

FEWEST_LINKS = 60
"""Links of the smallest generated index: a shorter list costs few passages, and is often a good answer."""
MOST_WORDS_PER_LINK = 12.0
"""Words of the whole text for each link."""
SENTENCE = 8
"""Words without a link or a line's end between them that count as a sentence."""
MOST_SENTENCES = 0.15
"""Largest share of an index's words that are in sentences."""
REPEATED = 20
"""Links with one text that make the text a repeated one, such as `context` or `1`."""
MOST_HOSTS = 0.9
"""Smallest share of an index's links that lead to one host: an index is one of its own site."""

_LINK = re.compile(
    r"(?<!!)\[((?:[^\[\]\\]|\\.|\[[^\[\]]*\])*)\]\((<[^<>\n]*>|(?:[^()\s]|\([^()\s]*\))*)(?:\s+\"[^\"\n]*\")?\)"
)
_WORD = re.compile(r"\w+(?:[.'’_:-]+\w+)*")
_PIECE = re.compile(r"\x00|\n|\|")


@dataclass(frozen=True, slots=True)
class LinkShape:
    """Numbers on the links of a document, without its code."""

    links: int
    words: int
    words_in_sentences: int
    """Words in sentences outside links."""
    repeated: int
    """Links whose text is that of at least `REPEATED` links."""
    to_one_host: int
    """Links to the most frequent host; a relative link leads to the document's own."""

    @property
    def is_index(self) -> bool:
        """Whether the shape is that of a generated index.

        Its links are dense and lead to one site. It has hardly a sentence; or half of the links have repeated texts, as
        in a list that quotes its site sentence by sentence with a reference to each.
        """
        if self.links < FEWEST_LINKS or self.words > MOST_WORDS_PER_LINK * self.links:
            return False
        if self.to_one_host < MOST_HOSTS * self.links:
            return False
        return self.words_in_sentences <= MOST_SENTENCES * self.words or 2 * self.repeated >= self.links


def is_generated_index(document: ParsedDocument) -> bool:
    """Return whether a document is a generated index, such as one of keywords, of contents or of requirements."""
    return document.markdown.count("](") >= FEWEST_LINKS and link_shape(document).is_index


def link_shape(document: ParsedDocument) -> LinkShape:
    """Return the numbers on the links of a document."""
    texts: Counter[str] = Counter()
    hosts: Counter[str] = Counter()
    words = sentences = 0

    def note(link: re.Match[str]) -> str:
        nonlocal words
        texts[" ".join(link[1].split())] += 1
        hosts[_host(link[2].strip("<>"))] += 1
        words += _count(link[1])
        return "\0"

    for block in document.blocks:
        if block.kind != "code":
            for piece in _PIECE.split(_LINK.sub(note, document.markdown[block.start : block.end])):
                count = _count(piece)
                words += count
                sentences += count if count >= SENTENCE else 0
    repeated = sum(number for number in texts.values() if number >= REPEATED)
    return LinkShape(texts.total(), words, sentences, repeated, max(hosts.values(), default=0))


def _count(text: str) -> int:
    return sum(1 for _ in _WORD.finditer(text))


def _host(target: str) -> str:
    try:
        return urlsplit(target).netloc
    except ValueError:
        return target

"""What a person may write in a query: words, "phrases", -without and title:."""

import re
from dataclasses import dataclass
from typing import Final

_CLAUSE: Final = re.compile(
    r"""
    (?:(?<=\s)|(?<=\A))          # an operator begins a word; within one it is a letter like others
    (?P<minus>-(?=[^\s\d-]))?    # `-5` is a number, `--` and `- ` are dashes
    (?P<title>title:(?=\S))?
    (?:"(?P<phrase>[^"]*)"|(?P<word>\S+))
    |(?P<rest>\S+)               # of a word whose beginning was a phrase
    """,
    re.VERBOSE | re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query as it is understood."""

    text: str
    """What is to be found, without operators: what the vector leg embeds and the keyword leg takes words from."""
    phrases: tuple[str, ...] = ()
    """What a passage must hold word by word."""
    titles: tuple[str, ...] = ()
    """Words and phrases that the title of its document must hold."""
    excluded: tuple[str, ...] = ()
    """Words and phrases that a passage must not hold."""
    excluded_titles: tuple[str, ...] = ()
    """Words and phrases that the title of its document must not hold."""

    @property
    def has_operators(self) -> bool:
        """Whether it demands anything beyond words that may match."""
        return bool(self.phrases or self.titles or self.excluded or self.excluded_titles)

    def __str__(self) -> str:
        """Return it as it could have been written."""
        parts = [repr(self.text)]
        for name, demands in self.as_dict().items():
            if name != "text" and demands:
                parts.append(f"{name.replace('_', ' ')}: {', '.join(demands)}")
        return "; ".join(parts)

    def as_dict(self) -> dict[str, str | list[str]]:
        """Return plain values."""
        return {
            "text": self.text,
            "phrases": list(self.phrases),
            "titles": list(self.titles),
            "excluded": list(self.excluded),
            "excluded_titles": list(self.excluded_titles),
        }


def parse_query(query: str, *, literal: bool = False) -> ParsedQuery:
    """Understand a query; every text is one.

    `"a phrase"` must stand in a passage, `-word` and `-"a phrase"` must not, `title:word` and `title:"a phrase"` must
    stand in the document's title (`-title:` must not). A quotation mark without its other half, an operator without a
    word, and operators of other languages (AND, *, ~, ^, brackets) are text.

    Args:
        query: What a person has written.
        literal: Take all of it as text.
    """
    if literal:
        return ParsedQuery(query.strip())
    texts: list[str] = []
    found: dict[tuple[bool, bool], list[str]] = {
        (without, title): [] for without in (False, True) for title in (False, True)
    }
    phrases: list[str] = []
    for clause in _CLAUSE.finditer(query):
        without, title, phrase = bool(clause["minus"]), bool(clause["title"]), clause["phrase"]
        content = (phrase or clause["word"] or clause["rest"] or "").strip()
        if not content.strip('"'):
            continue
        if not without:
            texts.append(content)
        if without or title:
            found[without, title].append(content)
        elif phrase is not None:
            phrases.append(content)
    if not texts and not any(found.values()):
        return ParsedQuery(query.strip())
    return ParsedQuery(
        " ".join(texts),
        tuple(phrases),
        tuple(found[False, True]),
        tuple(found[True, False]),
        tuple(found[True, True]),
    )

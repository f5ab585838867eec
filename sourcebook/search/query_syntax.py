"""Syntax of queries: phrases, excluded words and titles, in a text that is a query whatever it holds."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

_CLAUSE: Final = re.compile(
    r"""
    (?:(?<=\s)|(?<=\A))          # an operator begins a word; within a word it is a letter
    (?P<minus>-(?=[^\s\d-]))?    # `-5` is a number, `--` and `- ` are dashes
    (?P<title>title:(?=\S))?
    (?:"(?P<phrase>[^"]*)"|(?P<word>\S+))
    |(?P<rest>\S+)               # rest of a word that begins with a phrase
    """,
    re.VERBOSE | re.IGNORECASE,
)
_AROUND: Final = "\"'“”„«»‘’,;:!?¿¡….()[]{}<>"
_WORD: Final = re.compile(r"[^\W\d_][^\W\d_A-Z]*(?:['’-][^\W\d_]+)*|[^\W\d_a-z]+")
_VOWEL: Final = re.compile("[aeiouy]", re.IGNORECASE)
_LONGEST_OPTION: Final = 2
"""Letters of a word after a dash that is taken for an option of a program."""
_END_OF_SENTENCE: Final = re.compile(r"[.?!…。？！।॥؟۔։።។။][\"'”’»)\]]*\Z")
_WORDS_OF_A_SENTENCE: Final = 5
"""Words outside phrases and exclusions from which a text that ends like a sentence is prose."""
_WORDS_OF_PROSE: Final = 12
"""Words outside phrases and exclusions from which any text is prose."""


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A query and its operators."""

    text: str
    """The query without operators: the vector leg embeds it, the keyword leg takes its words."""
    phrases: tuple[str, ...] = ()
    """Phrases that a passage must hold, word after word."""
    titles: tuple[str, ...] = ()
    """Words and phrases that the title of its document must hold."""
    excluded: tuple[str, ...] = ()
    """Words and phrases that a passage must not hold."""
    excluded_titles: tuple[str, ...] = ()
    """Words and phrases that the title of its document must not hold."""
    prose: bool = False
    """Whether quotation marks or dashes are text because the query is running text."""

    @property
    def has_operators(self) -> bool:
        """Whether it has required or excluded terms."""
        return bool(self.phrases or self.titles or self.excluded or self.excluded_titles)

    def relaxed(self) -> "Iterator[tuple[ParsedQuery, str]]":
        """Yield the query with fewer conditions, and what it then leaves out, for a search that found nothing."""
        required = [*self.phrases, *(f"title:{title}" for title in self.titles)]
        excluded = [*self.excluded, *(f"title:{title}" for title in self.excluded_titles)]
        if not self.text:
            return
        if required:
            said = (
                f"no passage fulfils the query with {_listed(required)}; these are the passages without that condition"
            )
            yield replace(self, phrases=(), titles=()), said
        if excluded:
            said = f"no passage fulfils the query without {_listed(excluded)}; these passages were found without that"
            yield ParsedQuery(self.text), said

    def __str__(self) -> str:
        """Return the text and the terms of each operator."""
        parts = [repr(self.text)]
        for name, terms in self.as_dict().items():
            if isinstance(terms, list) and terms:
                parts.append(f"{name.replace('_', ' ')}: {', '.join(terms)}")
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


def parse_query(query: str, *, literal: bool | None = None, options: Sequence[str] = ()) -> ParsedQuery:
    """Return the terms of a query; every text is a query.

    `"a phrase"` must stand in a passage, `-word` and `-"a phrase"` must not, `title:word` and `title:"a phrase"` must
    stand in the document's title (`-title:` must not). An unpaired quotation mark, an operator without a
    word, and operators of other query languages (AND, *, ~, ^, brackets) are text. So is a dash before what
    is no word of a language, as in `-Fc`, `-rf` and `-XX:+UseG1GC`, or where no other word stands before it.

    In running text, quotation marks and dashes are text. A query without `title:` is running text where at least twelve
    of its words are outside phrases and exclusions, or five and it ends like a sentence.

    Args:
        query: as a person writes it.
        literal: whether all of it is text; False reads operators in running text, too.
        options: words that are text with their dashes, because passages hold them so.
    """
    if literal:
        return ParsedQuery(query.strip())
    texts: list[str] = []
    found: dict[tuple[bool, bool], list[str]] = {
        (without, title): [] for without in (False, True) for title in (False, True)
    }
    phrases: list[str] = []
    plain_words = 0
    for clause in _CLAUSE.finditer(query):
        without, title, phrase = bool(clause["minus"]), bool(clause["title"]), clause["phrase"]
        content = (phrase or clause["word"] or clause["rest"] or "").strip()
        if not content.strip('"'):
            continue
        if without and literal is not False and not title and phrase is None:
            without = bool(texts) and _may_be_excluded(content) and content not in options
            content = content if without else f"-{content}"
        if not without:
            texts.append(content)
        if without or title:
            found[without, title].append(content)
        elif phrase is not None:
            phrases.append(content)
        elif any(map(str.isalnum, content)):
            plain_words += 1
    has_operators = bool(phrases) or any(found.values())
    if not texts and not has_operators:
        return ParsedQuery(query.strip())
    has_titles = bool(found[False, True] or found[True, True])
    if literal is None and has_operators and not has_titles and _is_prose(query.strip(), plain_words):
        return ParsedQuery(query.strip(), prose=True)
    return ParsedQuery(
        " ".join(texts),
        tuple(phrases),
        tuple(found[False, True]),
        tuple(found[True, False]),
        tuple(found[True, True]),
    )


def _may_be_excluded(word: str) -> bool:
    """Return whether a word is one of a language, as far as its letters tell, and no option of a program.

    Options are short, have signs or capitals within, or no vowel.
    """
    letters = word.strip(_AROUND)
    has_vowel = not letters.isascii() or _VOWEL.search(letters)
    return bool(_WORD.fullmatch(letters) and has_vowel and (len(letters) > _LONGEST_OPTION or not letters.isascii()))


def _is_prose(query: str, plain_words: int) -> bool:
    least = _WORDS_OF_A_SENTENCE if _END_OF_SENTENCE.search(query) else _WORDS_OF_PROSE
    return plain_words >= least


def _listed(terms: Sequence[str]) -> str:
    return ", ".join(repr(term) for term in terms)

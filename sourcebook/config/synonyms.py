"""Settings of synonyms: `synonyms:` of a collection."""

import re
from typing import Annotated, Final

from pydantic import AfterValidator, Field, StringConstraints
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Settings

_MOST_GROUPS: Final = 1_000
_MOST_WORDS: Final = 20
_MOST_OF_PHRASE: Final = 8
_LONGEST: Final = 100


def _has_words(text: str) -> str:
    if not re.search(r"\w", text):
        raise PydanticCustomError("synonym", "it has no word")
    if len(text.split()) > _MOST_OF_PHRASE:
        raise PydanticCustomError("synonym", "a phrase has at most {most} words", {"most": _MOST_OF_PHRASE})
    return text


Phrase = Annotated[
    str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_LONGEST), AfterValidator(_has_words)
]
"""A word, or several in a row."""


def _has_others(phrases: tuple[str, ...]) -> tuple[str, ...]:
    if len({phrase.casefold() for phrase in phrases}) < 2:
        raise PydanticCustomError("synonym", "a group has two different words or more")
    return phrases


Group = Annotated[tuple[Phrase, ...], Field(max_length=_MOST_WORDS), AfterValidator(_has_others)]


class SynonymSettings(Settings):
    """Words that mean the same. A search looks for the others, too; nothing is indexed anew."""

    documents: bool = Field(
        default=True,
        strict=True,
        description="true or false: whether abbreviations that the documents explain count, as in "
        "General Data Protection Regulation (GDPR)",
    )
    """Whether [abbreviations](languages.md#abbreviations-and-synonyms) that the documents explain count."""
    groups: tuple[Group, ...] = Field(
        default=(),
        max_length=_MOST_GROUPS,
        description="a list of groups of two to 20 words or phrases such as [[car, automobile, motor vehicle]], "
        "at most 1000; put numbers in quotes",
    )
    """Groups of words or phrases that mean the same, of at most 8 words each."""
    one_way: dict[Phrase, Annotated[tuple[Phrase, ...], Field(min_length=1, max_length=_MOST_WORDS)]] = Field(
        default={},
        max_length=_MOST_GROUPS,
        description="a mapping from a word or phrase to a list of those that are looked for, too, such as "
        "{laptop: [ThinkPad, MacBook]}, at most 1000",
    )
    """Words that are searched, too, by word or phrase."""

"""Abbreviations with the words that they stand for."""

from typing import NamedTuple


class Abbreviation(NamedTuple):
    """A pair of words that mean the same."""

    short: str
    long: str


def singular(word: str) -> str:
    """Return an abbreviation without the `s` of a plural: `GPUs` is `GPU`."""
    return word[:-1] if len(word) > 2 and word[-1] == "s" and word[-2].isupper() else word


def looks_abbreviated(word: str) -> bool:
    """Return whether a word has two capitals or more, as hardly any other word has."""
    return sum(map(str.isupper, word)) >= 2

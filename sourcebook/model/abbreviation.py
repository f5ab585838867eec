"""Abbreviations with the words that they stand for."""

from typing import Final, NamedTuple

USUAL: Final = {
    "24/7": "around the clock",
    "A&E": "accident and emergency",
    "A/C": "air conditioning",
    "B&B": "bed and breakfast",
    "D&I": "diversity and inclusion",
    "F&B": "food and beverage",
    "F&E": "Forschung und Entwicklung",
    "G&A": "general and administrative",
    "H&S": "health and safety",
    "I/O": "input and output",
    "L&D": "learning and development",
    "M&A": "mergers and acquisitions",
    "O&M": "operation and maintenance",
    "P&L": "profit and loss",
    "P/E": "price to earnings",
    "Q&A": "questions and answers",
    "R&D": "research and development",
    "S&H": "shipping and handling",
    "T&C": "terms and conditions",
    "V&V": "verification and validation",
}
"""Abbreviations that are hardly ever explained, and whose letters say nothing to an embedding model or mean other words
alone; by what is written."""


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


def joins_letters(word: str) -> bool:
    """Return whether a word joins single letters by `&`, as `R&D` does: alone they are other words."""
    return "&" in word and all(len(part) == 1 and part.isalpha() for part in word.split("&"))

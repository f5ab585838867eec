"""Words of a passage as highlights read them: each letter once, and the same words as plain patterns find."""

import re

from hypothesis import given
from hypothesis import strategies as st

from sourcebook.search.query_terms import WORD
from sourcebook.search.ranking.highlights import _COMPOUND, _compounds, _spans, _with_signs

PLAIN_COMPOUND = re.compile(r"\w+(?:[./@:_+-]+\w+)+")
"""The definition of a compound, which tries every beginning of every word."""
TEXTS = st.text(alphabet="ab_.-'’ +é細", max_size=16)


@given(text=TEXTS)
def test_compounds_are_those_of_the_plain_definition(text: str) -> None:
    assert [each.span() for each in _compounds(text)] == [each.span() for each in PLAIN_COMPOUND.finditer(text)]


@given(text=TEXTS)
def test_each_word_is_found_at_its_own_place(text: str) -> None:
    """A word that is also the beginning or the end of another is found where it stands alone."""
    words = WORD.findall(text)
    for wanted in (set(words), set(words[::2]), set()):
        expected = [each.span() for each in WORD.finditer(text) if each[0] in wanted]
        assert list(_spans(text, words, [], wanted)) == expected


def test_a_long_word_without_signs_is_read_once() -> None:
    """The time grows with the length of a word, not with its square: 200,000 letters are read in far under a second."""
    assert not _COMPOUND.findall("a" * 200_000)


def test_names_with_signs_and_signs_are_read() -> None:
    """A sign inside a word or at the end of a sentence is none."""
    text = "R&D wrote it in C++, C# and .NET: A* at 5 °C -> ≥ 3 🚀 && x != y. It's well-known."
    found = sorted(_with_signs(text), key=lambda each: (each.start(), -each.end()))
    longest = [each[0] for each in found if each[0] != "°"]
    assert longest == ["R&D", "C++", "C#", ".NET", "A*", "°C", "->", "≥", "🚀", "&&", "!="]
    assert list(_with_signs("Nothing here. It's well-known; 3.5 a-b_c.")) == []

"""Synonyms of a collection: groups and pairs of words, and mistakes in them."""

from pathlib import Path

import pytest

from sourcebook.config.loading import load_configuration
from sourcebook.config.synonyms import SynonymSettings
from sourcebook.errors import ConfigurationError

FILE = "collections:\n  handbook:\n    files: [{{root: .}}]\n    synonyms: {}\n"


def loaded(folder: Path, synonyms: str) -> SynonymSettings:
    file = folder / "sourcebook.yaml"
    file.write_text(FILE.format(synonyms), encoding="utf-8")
    return load_configuration(file).collections["handbook"].synonyms


def test_groups_and_pairs(tmp_path: Path) -> None:
    """Words and phrases in both; documents explain abbreviations unless they shall not."""
    read = loaded(tmp_path, "{groups: [[car, motor vehicle]], one_way: {laptop: [MacBook]}}")
    assert (read.groups, read.one_way, read.documents) == ((("car", "motor vehicle"),), {"laptop": ("MacBook",)}, True)
    assert not loaded(tmp_path, "{documents: false}").documents


@pytest.mark.parametrize(
    ("synonyms", "said"),
    [
        ("{groups: [[car]]}", "a group has two different words or more"),
        ("{groups: [[car, Car]]}", "a group has two different words or more"),
        ("{groups: [[car, '!!']]}", "it has no word"),
        ("{groups: [[car, a b c d e f g h i]]}", "a phrase has at most 8 words"),
        ("{groups: [car, auto]}", "groups of two to 20 words"),
        ("{one_way: {laptop: MacBook}}", "found 'MacBook'"),
        ("{one_way: {laptop: []}}", "found an empty list"),
        ("{pairs: []}", "there is no such key; allowed: documents, groups, one_way"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, synonyms: str, said: str) -> None:
    with pytest.raises(ConfigurationError, match=r"line 4, column \d+") as raised:
        loaded(tmp_path, synonyms)
    assert said in str(raised.value)

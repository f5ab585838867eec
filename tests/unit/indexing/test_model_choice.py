"""The choice of an embedding model by the numbers of documents by language."""

import pytest

from sourcebook.indexing.model_choice import ModelChoice


@pytest.mark.parametrize(
    ("languages", "model"),
    [
        ({}, "all-MiniLM-L6-v2"),
        ({"en": 12}, "all-MiniLM-L6-v2"),
        ({"en": 95, "de": 5}, "all-MiniLM-L6-v2"),
        ({"en": 90, "de": 10}, "multilingual-e5-small"),
        ({"de": 1}, "multilingual-e5-small"),
        ({"ru": 7, "uk": 3}, "multilingual-e5-small"),
        ({"en": 86, "de": 6, "fr": 4, "it": 4}, "multilingual-e5-small"),
    ],
)
def test_english_takes_the_default_and_others_the_multilingual_model(languages: dict[str, int], model: str) -> None:
    """A tenth of other languages makes a collection a mixed one."""
    choice = ModelChoice.by_languages(languages, has_multilingual=True)
    assert (choice.model, choice.is_missing) == (model, False)


def test_the_sentence_names_languages_and_setting() -> None:
    mixed = ModelChoice.by_languages({"de": 12, "en": 2}, has_multilingual=True)
    assert str(mixed) == (
        "embedding model multilingual-e5-small, by the languages of the documents (de 86 %, en 14 %); embedding.model "
        "sets another"
    )
    assert "as no document has a known language" in str(ModelChoice.by_languages({}, has_multilingual=True))


def test_without_its_package_the_default_is_taken_and_the_package_named() -> None:
    choice = ModelChoice.by_languages({"ru": 3}, has_multilingual=False)
    assert (choice.model, choice.is_missing) == ("all-MiniLM-L6-v2", True)
    assert "multilingual-e5-small knows them" in str(choice)
    assert "server]" in str(choice)

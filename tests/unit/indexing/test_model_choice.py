"""The choice of an embedding model by the numbers of documents by language."""

import pytest

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.indexing.model_choice import ModelChoice, settled_model


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
    assert "multilingual-e5]" in str(choice)


@pytest.mark.parametrize(("free", "model"), [(None, "large"), (700, "large"), (699, "small"), (0, "small")])
def test_the_memory_decides_between_two_models(free: int | None, model: str) -> None:
    """The larger one is taken where it fits, and where the system does not say what is free."""
    choice = ModelChoice("large", {}).for_memory("large", "small", 700, free, ["large", "small"])
    assert (choice.model, choice.is_smaller) == (model, model == "small")


def test_the_sentence_says_what_memory_there_was() -> None:
    asked = ["large", "small"]
    small = ModelChoice("large", {}).for_memory("large", "small", 700_000_000, 400_000_000, asked)
    assert str(small) == (
        "embedding model small, as the larger one needs 0.70 GB of memory and 0.40 GB are free (embedding.low_memory)"
    )
    large = ModelChoice("large", {}).for_memory("large", "small", 700_000_000, 4_000_000_000, asked)
    assert str(large) == "embedding model large, which needs 0.70 GB of memory: 4.00 GB are free, so small is not taken"


def test_a_choice_stands_until_other_models_are_asked_for() -> None:
    """Also that of a generation from before; memory that is free later changes nothing."""
    both = EmbeddingSettings(model="large", low_memory="small")
    recorded = {"model": "small", "asked": ["large", "small"]}
    assert settled_model(both, recorded, None) == "small"
    assert settled_model(both, None, None) is None
    assert settled_model(both, None, "large") == "large"
    assert settled_model(both.model_copy(update={"model": "other"}), recorded, "large") is None
    assert settled_model(EmbeddingSettings(), {"model": "multilingual-e5-small"}, None) == "multilingual-e5-small"
    assert settled_model(EmbeddingSettings(), recorded, None) is None

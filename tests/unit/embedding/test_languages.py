"""Languages of the models of the box."""

from sourcebook.embedding.weights import known_languages, remedy


def test_the_languages_of_the_models() -> None:
    """Both written forms of Norwegian count as Norwegian; nothing is said about other models."""
    for name in ("all-MiniLM-L6-v2", "sentence-transformers/all-MiniLM-L6-v2"):
        assert known_languages(name) == frozenset({"en"})
    multilingual = known_languages("multilingual-e5-small")
    assert multilingual is not None
    assert {"de", "ru", "hi", "zh", "no", "nb", "nn"} <= multilingual
    assert not {"ar-EG", "", "tlh"} & multilingual
    assert known_languages("/models/mine") is None


def test_the_remedy_is_another_model_where_there_is_one() -> None:
    assert remedy("all-MiniLM-L6-v2", ["de"]).endswith("says what it costs")
    assert "model: multilingual-e5-small" in (said := remedy("all-MiniLM-L6-v2", ["mt", "de", "mi"]))
    assert said.endswith(". It does not know mt, mi either, which keyword search finds")
    for model in ("all-MiniLM-L6-v2", "multilingual-e5-small"):
        assert remedy(model, ["mt"]).startswith("no model in the box knows them")

"""Reranking with real cross encoders: tiny ones, built from a configuration with random weights."""

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from sourcebook.contract.reranking import Reranking
from sourcebook.database.usage_log import UsageLog
from sourcebook.embedding.weights import bundled_folder
from sourcebook.errors import ModelError, QueryError
from sourcebook.model.usage import Use
from sourcebook.search.ranking.fusion import Candidate
from sourcebook.search.ranking.order import rerank
from sourcebook.search.ranking.reranking.local import LocalCrossEncoder
from sourcebook.search.ranking.reranking.reranker import Reranker, _pair
from tests.tiny_cross_encoder import build_cross_encoder

WORDS = ["the", "tide", "is", "high", "low", "water", "harbour", "boat", "sea", "moon", "noon", "when", "does", "turn"]
QUERY = "when does the tide turn"

Floats = NDArray[np.float32]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_cross_encoder(tmp_path_factory.mktemp("reranking") / "tiny", WORDS)


def expected_scores(folder: Path, pairs: list[tuple[str, str]], max_length: int | None = None) -> Floats:
    """Return the scores of `CrossEncoder.predict`."""
    # Here, as importing it takes seconds in every process that collects tests.
    from sentence_transformers import CrossEncoder

    scores: Floats = CrossEncoder(str(folder), max_length=max_length).predict(pairs)
    return scores


@pytest.fixture
def reranker() -> Iterator[Reranker]:
    reranker = Reranker()
    yield reranker
    reranker.close()


def passages(count: int) -> list[str]:
    """Texts of different words and lengths, beyond the model's limit too."""
    random = np.random.default_rng(3)
    return [" ".join(random.choice(WORDS, size=random.integers(1, 90))) for _ in range(count)]


class Slow(torch.nn.Module):
    """The model of a cross encoder that takes its time over each batch, and tells what it was given."""

    def __init__(self, model: torch.nn.Module, seconds: float) -> None:
        super().__init__()
        self.model = model
        self.seconds = seconds
        self.batches: list[int] = []
        self.reading = threading.Event()
        self.config = model.config

    def forward(self, **features: torch.Tensor) -> object:
        self.batches.append(len(features["input_ids"]))
        self.reading.set()
        time.sleep(self.seconds)  # the time that reading takes
        return self.model(**features)


def slow_down(reranker: Reranker, reranking: Reranking, seconds: float) -> Slow:
    """Put a slow layer around a loaded model."""
    reranker.prewarm(reranking)
    local = reranker._load(reranking).model
    assert isinstance(local, LocalCrossEncoder)
    encoder = local.encoder
    model = encoder[0].model
    assert isinstance(model, torch.nn.Module)
    slow = Slow(model, seconds)
    encoder[0].model = slow
    return slow


def ranking(count: int) -> list[Candidate]:
    return [Candidate(100 + place, 1 - place / 1000, 100) for place in range(count)]


@pytest.mark.parametrize("batch_size", [1, 7, 64])
def test_the_order_is_that_of_the_models_own_scores(folder: Path, reranker: Reranker, batch_size: int) -> None:
    """The first ones stand as CrossEncoder.predict scores them, with these scores; the others behind, as they were."""
    texts = {100 + place: text for place, text in enumerate(passages(40))}
    expected = expected_scores(folder, [(QUERY, texts[100 + place]) for place in range(30)])
    assert len(set(expected.round(4).tolist())) > 20, "a model that finds everything alike would test nothing"
    reranked = rerank(
        reranker, Reranking(str(folder), top=30, batch_size=batch_size, timeout=None), QUERY, ranking(40), texts
    )
    first = reranked.candidates[:30]
    scores = {each.chunk_id: each.rerank_score or 0.0 for each in first}
    assert np.allclose([scores[100 + place] for place in range(30)], expected, atol=1e-5)
    told = [each.rerank_score or 0.0 for each in first]
    assert told == sorted(told, reverse=True)
    assert [each.chunk_id for each in first] != [each.chunk_id for each in ranking(30)]
    assert reranked.candidates[30:] == ranking(40)[30:]
    assert reranked.note is None
    assert {each.chunk_id: each.score for each in reranked.candidates} == {
        each.chunk_id: each.score for each in ranking(40)
    }


class _Noted(UsageLog):
    """A log whose uses can be looked at."""

    def __init__(self) -> None:
        super().__init__()
        self.uses: list[Use] = []

    def add(self, use: Use) -> None:
        self.uses.append(use)


def test_pairs_are_metered_with_those_whose_scores_were_kept(folder: Path) -> None:
    """For the collection of the search, by the model's name; nobody counts tokens, and none are read of kept pairs."""
    noted = _Noted()
    reranker, reranking = Reranker(noted), Reranking(str(folder), timeout=None)
    texts = dict(zip(range(100, 106), passages(6), strict=True))
    rerank(reranker, reranking, QUERY, ranking(4), texts, "handbook")
    rerank(reranker, reranking, QUERY, ranking(6), texts, "handbook")
    rerank(reranker, reranking, QUERY, ranking(6), texts, "handbook")
    reranker.close()
    assert [(use.texts, use.cached, use.tokens) for use in noted.uses] == [(4, 0, None), (6, 4, None), (6, 6, 0)]
    assert {(use.collection, use.provider, use.model, use.operation) for use in noted.uses} == {
        ("handbook", "local", folder.name, "rerank")
    }
    assert noted.uses[0].seconds > 0


def test_equal_scores_keep_the_order_of_the_fusion(folder: Path, reranker: Reranker) -> None:
    """Equal searches give equal orders, ties included."""
    texts = {100 + place: "the tide" for place in range(20)}
    reranked = rerank(reranker, Reranking(str(folder), timeout=None), QUERY, ranking(20), texts)
    assert [each.chunk_id for each in reranked.candidates] == [each.chunk_id for each in ranking(20)]


def test_a_passage_that_left_the_index_is_left_out(folder: Path, reranker: Reranker) -> None:
    """It has no text to read; where none has, nothing is asked of the model."""
    reranking = Reranking(str(folder), top=2, timeout=None)
    reranked = rerank(reranker, reranking, QUERY, ranking(3), {101: "the tide"})
    assert [each.chunk_id for each in reranked.candidates] == [101, 102]
    assert rerank(reranker, reranking, QUERY, [], {}).candidates == []


def test_on_a_timeout_the_order_stays_and_the_model_stops(folder: Path, reranker: Reranker) -> None:
    """After the timeout the search continues with a note, and the model stops reading."""
    reranking = Reranking(str(folder), batch_size=1, timeout=0.3)
    slow = slow_down(reranker, reranking, 1.0)
    texts = {100 + place: text for place, text in enumerate(passages(50))}
    started = time.perf_counter()
    reranked = rerank(reranker, reranking, QUERY, ranking(50), texts)
    assert time.perf_counter() - started < 30, "50 batches would take 50 seconds"
    assert reranked.candidates == ranking(50)
    assert reranked.note == (
        f"reranking 50 passages with {folder} timed out after 0.3 seconds: they stand in the order of the fusion"
    )
    assert reranked.ms is not None
    assert reranked.ms >= 300
    reranker.close()  # waits for the batch that is being read
    assert len(slow.batches) < 30


def test_after_a_timeout_the_same_search_goes_on_where_it_stopped(folder: Path, reranker: Reranker) -> None:
    """No passage is read twice, and the final order is that of a search without a timeout."""
    reranking = Reranking(str(folder), batch_size=1, timeout=0.3)
    slow = slow_down(reranker, reranking, 0.2)
    texts = {100 + place: text for place, text in enumerate(passages(12))}
    assert rerank(reranker, reranking, QUERY, ranking(12), texts).note is not None
    patient = rerank(reranker, Reranking(str(folder), timeout=None), QUERY, ranking(12), texts)
    again = rerank(reranker, Reranking(str(folder), timeout=None), QUERY, ranking(12), texts)
    assert sum(slow.batches) == 12
    assert patient.note is None
    assert again.candidates == patient.candidates
    expected = expected_scores(folder, [(QUERY, texts[100 + place]) for place in range(12)])
    told = {each.chunk_id: each.rerank_score or 0.0 for each in patient.candidates}
    assert np.allclose([told[100 + place] for place in range(12)], expected, atol=1e-5)


def test_query_and_passage_are_not_mistaken_for_each_other() -> None:
    """Kept scores are found by the pair, not by its letters alone."""
    assert _pair("tide h", "igh") != _pair("tide", "high")
    assert _pair("tide", "high") == _pair("tide", "high")


def test_several_searches_at_once_each_get_their_own_scores(folder: Path, reranker: Reranker) -> None:
    """The model is loaded once, however many name it at the same moment."""
    texts = passages(24)
    reranking = Reranking(str(folder), batch_size=5, timeout=None)
    queries = [f"{word} tide" for word in WORDS[:8]]
    expected = {query: expected_scores(folder, [(query, text) for text in texts]) for query in queries}
    found: dict[str, tuple[float, ...] | None] = {}
    models: set[int] = set()

    def search(query: str) -> None:
        found[query] = reranker.score(reranking, query, texts).scores
        models.add(id(reranker._load(reranking)))

    threads = [threading.Thread(target=search, args=(query,)) for query in queries]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(models) == 1
    for query in queries:
        scores = found[query]
        assert scores is not None
        assert np.allclose(scores, expected[query], atol=1e-5)


def test_waiting_for_another_search_counts(folder: Path, reranker: Reranker) -> None:
    """A search is kept no longer than it allows, whatever stands before it; and its passages are not read at all."""
    reranking = Reranking(str(folder), batch_size=1, timeout=None)
    slow = slow_down(reranker, reranking, 0.2)
    first = threading.Thread(target=reranker.score, args=(reranking, QUERY, passages(10)))
    first.start()
    assert slow.reading.wait(60)
    scored = reranker.score(Reranking(str(folder), timeout=0.1), QUERY, passages(3))
    assert scored.scores is None
    first.join()
    reranker.score(reranking, QUERY, ["the tide"])
    assert slow.batches == [1] * 11


def test_what_is_beyond_the_limit_is_cut_off(folder: Path, reranker: Reranker) -> None:
    """A long passage is no error; a smaller limit of one's own reads less of it."""
    long = " ".join(["tide"] * 30 + ["moon"] * 500)
    whole = reranker.score(Reranking(str(folder), timeout=None), QUERY, [long]).scores
    short = reranker.score(Reranking(str(folder), timeout=None, max_length=16), QUERY, [long]).scores
    expected = expected_scores(folder, [(QUERY, long)], max_length=16)
    assert whole is not None
    assert short is not None
    assert np.allclose(short, expected, atol=1e-5)
    assert abs(whole[0] - short[0]) > 1e-5


def test_a_closed_reranker_says_so(folder: Path, reranker: Reranker) -> None:
    """Whether its model was loaded or not, and more than once."""
    reranking = Reranking(str(folder))
    reranker.prewarm(reranking)
    reranker.close()
    reranker.close()
    for setting in (reranking, Reranking(str(folder), max_length=16)):
        with pytest.raises(ModelError, match="has been closed"):
            reranker.score(setting, QUERY, ["the tide"])


def test_closing_ends_a_search_that_waits(folder: Path, reranker: Reranker) -> None:
    """Searches that are being reranked end with an error after one batch, they do not hang."""
    reranking = Reranking(str(folder), batch_size=1, timeout=None)
    slow = slow_down(reranker, reranking, 0.2)
    errors: list[str] = []

    def search() -> None:
        try:
            reranker.score(reranking, QUERY, passages(100))
        except ModelError as error:
            errors.append(str(error))

    threads = [threading.Thread(target=search) for _ in range(2)]
    for thread in threads:
        thread.start()
    assert slow.reading.wait(60)
    reranker.close()
    for thread in threads:
        thread.join(60)
    assert errors == ["The reranker has been closed."] * 2


def test_a_model_that_is_not_there_is_an_error(
    tmp_path: Path, reranker: Reranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder or a name: the sentence says which, and what to give; the search is not quietly left as it was."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    missing = Reranking(str(tmp_path / "no" / "model"))
    with pytest.raises(
        ModelError, match=r"no/model' was not found: there is no folder .* Give the folder of a CrossEncoder"
    ):
        rerank(reranker, missing, QUERY, ranking(1), {100: "the tide"})
    with pytest.raises(ModelError, match=r"'nobody/has-this' cannot be found or loaded: .* Give the folder"):
        reranker.prewarm(Reranking("nobody/has-this"))


def test_what_is_no_cross_encoder_is_refused(tmp_path: Path, reranker: Reranker) -> None:
    """An embedding model would score by random numbers, a classifier has several scores, an empty folder none."""
    with pytest.raises(ModelError, match=r"\(BertModel\) is no cross encoder"):
        reranker.prewarm(Reranking(str(bundled_folder())))
    with pytest.raises(ModelError, match="gives a pair 3 scores"):
        reranker.prewarm(Reranking(str(build_cross_encoder(tmp_path / "classes", WORDS, labels=3))))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ModelError, match="cannot be found or loaded"):
        reranker.prewarm(Reranking(str(tmp_path / "empty")))
    damaged = build_cross_encoder(tmp_path / "damaged", WORDS)
    (damaged / "model.safetensors").write_bytes(b"nothing")
    with pytest.raises(ModelError, match="cannot be found or loaded"):
        reranker.prewarm(Reranking(str(damaged)))


def test_a_model_that_fails_is_an_error(tmp_path: Path, reranker: Reranker) -> None:
    """More tokens than the model has places for, and weights that give no numbers."""
    folder = build_cross_encoder(tmp_path / "short", WORDS)
    with pytest.raises(ModelError, match="failed on 1 passages"):
        reranker.score(Reranking(str(folder), timeout=None, max_length=500), QUERY, [" ".join(["tide"] * 400)])
    reranking = Reranking(str(folder), timeout=None)
    reranker.prewarm(reranking)
    local = reranker._load(reranking).model
    assert isinstance(local, LocalCrossEncoder)
    encoder = local.encoder
    with torch.no_grad():
        next(encoder.parameters()).fill_(float("nan"))
    with pytest.raises(ModelError, match="scores that are not finite numbers"):
        reranker.score(reranking, QUERY, ["the tide"])


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"model": " "}, "name or the folder"),
        ({"top": 0}, "the top of reranking is 0; it must be 1 to 1,000"),
        ({"top": "50"}, "the top of reranking is '50'"),
        ({"top": 1001}, "the top of reranking is 1001"),
        ({"batch_size": 0}, "batch_size of reranking is 0; it must be 1 or more"),
        ({"timeout": 0}, "must be above 0"),
        ({"timeout": float("nan")}, "must be above 0"),
        ({"max_length": 7}, "max_length of reranking is 7; it must be 8 or more, or None"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object], reason: str) -> None:
    """Before anything is loaded."""
    with pytest.raises(QueryError, match=reason):
        Reranking(**json.loads(json.dumps({"model": "m", **settings})))

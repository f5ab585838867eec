"""Streams: batches of passages that threads compute side by side."""

from collections.abc import Iterator
from pathlib import Path
from threading import Barrier, Event, get_ident
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.embedding.streams import Streams, _keeps_positions, stream_counts
from sourcebook.errors import ModelError
from tests.unit.embedding.mixed_texts import mixed_texts
from tests.unit.embedding.tiny_models import tiny_model


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> EmbeddingModel:
    return find_model(str(tiny_model(tmp_path_factory.mktemp("streams") / "tiny")))


@pytest.fixture
def streams() -> Iterator[Streams]:
    opened = Streams(3)
    yield opened
    opened.close()


@pytest.mark.parametrize(
    ("threads", "expected"), [(1, (1, 1)), (2, (2, 1)), (8, (8, 1)), (9, (4, 2)), (16, (8, 2)), (20, (6, 3))]
)
def test_the_cores_are_divided(threads: int, expected: tuple[int, int]) -> None:
    """One thread a stream up to eight cores; more cores give each stream more threads."""
    assert stream_counts(threads) == expected


def test_many_streams_give_the_vectors_of_one_in_the_order_of_the_texts(tiny: EmbeddingModel) -> None:
    """Equal to 1e-5, row by row, however often; a question of another thread is answered, too."""
    texts = mixed_texts(90)
    embedder = SentenceTransformerEmbedder(tiny, "float32")
    question = embedder.embed_query("battery")
    embedder.streams = Streams(1)
    expected = embedder.embed(texts)
    for count in (2, 5):
        embedder.streams = Streams(count)
        for _ in range(2):
            np.testing.assert_allclose(embedder.embed(texts), expected, atol=1e-5)
        np.testing.assert_allclose(embedder.embed_query("battery"), question, atol=1e-5)
        embedder.streams.close()


def test_an_error_in_one_stream_is_the_call_s_and_the_next_call_succeeds(tiny: EmbeddingModel) -> None:
    """No vectors of a call that failed in part; the threads serve the next one."""
    embedder = SentenceTransformerEmbedder(tiny, "float32")
    embedder.streams = Streams(2)
    texts = mixed_texts(60)
    batches = 0

    def fail(*_: object) -> None:
        nonlocal batches
        batches += 1
        if batches == 2:
            raise ValueError("this batch is not for me")

    hook = embedder._loaded.register_forward_pre_hook(fail)
    with pytest.raises(ModelError, match="could not embed 60 texts: this batch is not for me"):
        embedder.embed(texts)
    assert batches <= 3, "no further batch begins"
    hook.remove()
    assert embedder.embed(texts).shape == (60, 32)
    embedder.close()
    with pytest.raises(ModelError, match="has been closed"):
        embedder.embed(texts)


def test_batches_are_computed_side_by_side_each_once(streams: Streams) -> None:
    """As many at once as there are streams, from the first one; the last ones in halves."""
    met = Barrier(3, timeout=20)
    done: list[list[int]] = []

    def work(batch: list[int]) -> None:
        if len(done) < 3 and batch[0] < 12:
            met.wait()
        assert torch.get_num_threads() == 1
        done.append(batch)

    streams.compute(work, [[number, number + 1, number + 2, number + 3] for number in range(0, 32, 4)], 100)
    assert sorted(position for batch in done for position in batch) == list(range(32))
    assert sorted(map(len, done)) == [2] * 6 + [4] * 5


def test_an_interrupt_ends_the_call_when_the_begun_batches_end(
    streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C while the caller waits: what has begun is finished, the rest never begins."""
    begun, may_go_on, done = Event(), Event(), []

    def work(batch: list[int]) -> None:
        begun.set()
        may_go_on.wait(60)
        done.append(batch)

    class Interrupted:
        def result(self) -> None:
            begun.wait(60)
            raise KeyboardInterrupt

    submit = streams._executor.submit if streams._executor else None
    assert submit is not None
    interrupted = iter([True])

    def wait(futures: list[object]) -> None:
        may_go_on.set()
        for future in futures:
            if not isinstance(future, Interrupted):
                future.result()  # type: ignore[attr-defined] # the real futures

    monkeypatch.setattr("sourcebook.embedding.streams.wait", wait)
    monkeypatch.setattr(
        streams,
        "_executor",
        SimpleNamespace(
            submit=lambda function: Interrupted() if next(interrupted, False) else submit(function),
            shutdown=streams._executor.shutdown if streams._executor else None,
        ),
    )
    with pytest.raises(KeyboardInterrupt):
        streams.compute(work, [[number] for number in range(40)], 100)
    assert len(done) == 2


def test_one_core_and_long_passages_are_computed_in_the_calling_thread(streams: Streams) -> None:
    """On one core there is nothing to share; the memory of a long passage grows with the square of its length."""
    seen: list[tuple[int, int]] = []

    def work(batch: list[int]) -> None:
        seen.append((get_ident(), torch.get_num_threads()))

    alone = Streams(1)
    alone.compute(work, [[0], [1]], 100)
    assert alone.batch_tokens([100] * 99, 2_048) == 2_048
    streams.compute(work, [[0], [1]], 4_096)
    streams.compute(work, [[0]], 100)
    assert seen == [(get_ident(), 1)] * 2 + [(get_ident(), 3)] * 3
    alone.close()


def test_batches_are_small_enough_for_every_stream(streams: Streams) -> None:
    """Two batches a stream where there is enough work; never more than the memory allows, nor tiny ones."""
    assert streams.batch_tokens([100] * 1_000, 2_048) == 1_024
    assert streams.batch_tokens([100] * 30, 2_048) == 500
    assert streams.batch_tokens([10] * 3, 2_048) == 256
    assert streams.batch_tokens([100] * 1_000, 60) == 60
    padded_left = Streams(3, may_cut=False)
    assert padded_left.batch_tokens([100] * 30, 2_048) == 2_048, "padding moves the positions of such a model"
    padded_left.close()


def test_a_model_that_keeps_positions_has_one_stream(tiny: EmbeddingModel, tmp_path: Path) -> None:
    """Rotary positions by the longest text so far are the model's own state, which threads must not share."""
    for kind, keeps in (("default", False), ("dynamic", True), ("longrope", True), ("yarn", False)):
        assert _keeps_positions(SimpleNamespace(rope_type=kind)) == keeps
    assert _keeps_positions(SimpleNamespace(_seq_len_cached=None))
    assert not any(map(_keeps_positions, SentenceTransformerEmbedder(tiny, "float32")._loaded.modules()))

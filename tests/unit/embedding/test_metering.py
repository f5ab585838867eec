"""Tokens and seconds that embedders report, and the prices that they are multiplied with."""

import threading
import time
from concurrent.futures import Future
from datetime import date

import pytest

from sourcebook.config.collection import EmbeddingSettings
from sourcebook.embedding.metering import BusySeconds, TokenMeter, meter_of, metered_model, provider_of
from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.embedding.prices import cost, price_of
from sourcebook.embedding.process import EmbeddingProcess
from sourcebook.model.usage import LOCAL

DAY = date(2026, 11, 1)


def test_each_thread_takes_the_tokens_that_it_added() -> None:
    """Searches side by side do not take each other's; a background embedder's are taken together."""
    meter = TokenMeter()
    meter.add(3)
    meter.add(4)
    other = threading.Thread(target=meter.add, args=(100,))
    other.start()
    other.join()
    assert meter.take() == 7
    assert meter.take() == 0
    meter.add(1)
    assert meter.take_all() == 101
    assert meter.take_all() == 0


def test_an_answer_without_a_number_of_tokens_makes_the_sum_unknown() -> None:
    meter = TokenMeter()
    for tokens in (3, None, 4):
        meter.add(tokens)
    assert meter.take() is None
    meter.add(5)
    assert meter.take_all() == 5


def test_seconds_of_overlapping_calls_count_once() -> None:
    """Two calls that are asked for at once and computed one after the other took their sum, not twice the first."""
    busy, started = BusySeconds(), time.monotonic()
    first: Future[int] = Future()
    second: Future[int] = Future()
    busy.watch(started - 10, first)
    busy.watch(started - 10, second)
    first.set_result(1)
    second.set_result(2)
    assert busy.of(first) == pytest.approx(10, abs=1)
    assert busy.of(second) == pytest.approx(0, abs=1)


def test_built_in_embedders_are_local_and_others_unknown() -> None:
    assert OnnxEmbedder.provider == EmbeddingProcess.provider == LOCAL
    assert provider_of(object()) == "unknown"
    assert meter_of(object()) is None


def test_a_local_model_is_named_by_its_weights_and_a_service_by_what_it_bills() -> None:
    settings = EmbeddingSettings(model="openai/text-embedding-3-small")
    assert metered_model(LOCAL, "all-MiniLM-L6-v2:53aa51172d14/bfloat16", settings) == "all-MiniLM-L6-v2"
    assert metered_model("openrouter.ai", "whatever", settings) == "openai/text-embedding-3-small"


@pytest.mark.parametrize(
    ("provider", "model", "expected"),
    [
        ("openai", "text-embedding-3-small", 0.02),
        ("api.openai.com", "text-embedding-3-small", 0.02),
        ("localhost:11434", "text-embedding-3-small", None),
        ("openai", "text-embedding-of-tomorrow", None),
        ("unknown", "text-embedding-3-small", None),
        (LOCAL, "text-embedding-3-small", 0.0),
    ],
)
def test_prices_are_those_of_the_provider_that_computes(provider: str, model: str, expected: float | None) -> None:
    """A model of the same name on a machine of one's own is not billed at the list price."""
    assert price_of(provider, model, {}, DAY) == expected


def test_a_set_price_stands_before_the_list_and_names_a_provider_where_it_must() -> None:
    prices = {"text-embedding-3-small": 0.5, "localhost:11434/text-embedding-3-small": 0.0}
    assert price_of("openai", "text-embedding-3-small", prices, DAY) == 0.5
    assert price_of("localhost:11434", "text-embedding-3-small", prices, DAY) == 0
    assert price_of(LOCAL, "m", {"m": 0.1}, DAY) == 0.1


def test_costs_are_unknown_unless_price_and_tokens_are_known_or_nothing_was_read() -> None:
    assert cost("openai", "text-embedding-3-small", 1_000_000, {}, DAY) == pytest.approx(0.02)
    assert cost("openai", "text-embedding-3-small", None, {}, DAY) is None
    assert cost("example.com", "m", 10, {}, DAY) is None
    assert cost("example.com", "m", 0, {}, DAY) == 0
    assert cost(LOCAL, "m", None, {}, DAY) == 0

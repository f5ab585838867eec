"""Latency of many questions, and throughput with several clients."""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

CLIENTS = 8
_WARM_UP = 0.2


@dataclass(frozen=True)
class Latency:
    """Milliseconds of each question, in the order of the questions."""

    times: list[float]

    @property
    def p50(self) -> float:
        return float(np.percentile(self.times, 50))

    @property
    def p95(self) -> float:
        return float(np.percentile(self.times, 95))

    def __str__(self) -> str:
        return f"p50 {self.p50:.1f} ms, p95 {self.p95:.1f} ms, {len(self.times)} questions"


def ask_each(
    ask: Callable[[str], object], questions: Sequence[str], *, after: Callable[[], None] | None = None
) -> Latency:
    """Ask one question after the other; the first ones are asked twice, as a warm-up.

    Args:
        ask: what is measured.
        questions: to ask.
        after: called when all is warm.
    """
    for question in questions[: max(int(len(questions) * _WARM_UP), 1)]:
        ask(question)
    if after is not None:
        after()
    times = []
    for question in questions:
        started = time.perf_counter()
        ask(question)
        times.append((time.perf_counter() - started) * 1000)
    return Latency(times)


def ask_at_once(ask: Callable[[str], object], questions: Sequence[str]) -> float:
    """Return the questions answered a second to eight threads."""
    with ThreadPoolExecutor(CLIENTS) as clients:
        started = time.perf_counter()
        done = len(list(clients.map(ask, questions)))
        return done / (time.perf_counter() - started)

"""The seam between embedders and metering: whose an embedder is, and how many tokens it has read.

An embedder may have two attributes. `provider` names who computes: `local`, or the name (`openai`) or the host
(`api.example.com`) of a service; without it the provider is unknown. `meter` is a `TokenMeter` to which it adds the
tokens of each answer. Both are optional: metering works with embedders that have neither.
"""

from __future__ import annotations

from threading import Lock, get_ident
from time import monotonic
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from sourcebook.model.usage import LOCAL, UNKNOWN_PROVIDER, model_label

if TYPE_CHECKING:
    from concurrent.futures import Future
    from typing import Any

    from sourcebook.config.collection import EmbeddingSettings

_OPENAI: Final = "api.openai.com"
"""Host that bills by OpenAI's prices; others have the same protocol and prices of their own."""


class TokenMeter:
    """Tokens that were read and wait to be taken, by the thread that added them. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._waiting: dict[int, int | None] = {}

    def add(self, tokens: int | None) -> None:
        """Add the tokens of one answer; None where the answer does not say."""
        thread = get_ident()
        with self._lock:
            before = self._waiting.get(thread, 0)
            self._waiting[thread] = None if tokens is None or before is None else before + tokens

    def take(self) -> int | None:
        """Return the tokens that this thread added since the last call; None where an answer did not say."""
        with self._lock:
            return self._waiting.pop(get_ident(), 0)

    def take_all(self) -> int | None:
        """Return the tokens that all threads added, for an embedder with one user that computes in the background."""
        with self._lock:
            taken, self._waiting = self._waiting, {}
        known = [tokens for tokens in taken.values() if tokens is not None]
        return sum(known) if len(known) == len(taken) else None


class BusySeconds:
    """Seconds in which at least one of several overlapping calls was computed."""

    def __init__(self) -> None:
        self._until = 0.0
        self._ends: dict[Future[Any], tuple[float, list[float]]] = {}

    def watch(self, started: float, future: Future[Any]) -> None:
        """Note a call.

        Args:
            started: `time.monotonic()` before the call was submitted.
            future: its result.
        """
        ends: list[float] = []
        future.add_done_callback(lambda _: ends.append(monotonic()))
        self._ends[future] = started, ends

    def of(self, future: Future[Any]) -> float:
        """Return the seconds of a call that has ended, without those of calls that were asked for before."""
        started, ends = self._ends.pop(future)
        end = ends[0] if ends else monotonic()  # waiters may go on before the callbacks are called
        seconds = max(end - max(started, self._until), 0.0)
        self._until = max(end, self._until)
        return seconds


def provider_of(embedder: object) -> str:
    """Return the provider of an embedder."""
    return str(getattr(embedder, "provider", UNKNOWN_PROVIDER))


def provider_of_settings(settings: EmbeddingSettings) -> str:
    """Return the provider that settings name, where no embedder was opened."""
    if settings.provider is None:
        return LOCAL
    from sourcebook.config.provider import AZURE

    host = urlsplit(settings.url).hostname or UNKNOWN_PROVIDER
    return settings.provider if host == _OPENAI or settings.provider == AZURE else host


def meter_of(embedder: object) -> TokenMeter | None:
    """Return the meter of an embedder; None where it counts no tokens."""
    meter = getattr(embedder, "meter", None)
    return meter if isinstance(meter, TokenMeter) else None


def metered_model(provider: str, identity: str, settings: EmbeddingSettings) -> str:
    """Return the name by which a model is metered: for a service the one that it bills.

    Args:
        provider: who computes.
        identity: identity of a generation's model.
        settings: embedding settings of the generation.
    """
    return identity.partition(":")[0] if provider == LOCAL else model_label(settings.model)

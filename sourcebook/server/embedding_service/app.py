"""The app of the embedding service: vectors, the model's description, health and metrics."""

import asyncio
import hmac
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import pydantic_core
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4
from pydantic import ValidationError
from starlette.applications import Starlette
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from sourcebook.embedding.engine import Engine
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.preparation import shortened_rows
from sourcebook.errors import ModelError
from sourcebook.server.access import names_this_machine
from sourcebook.server.adapters.embeddings import embeddings_answer
from sourcebook.server.embedding_service.batching import Batches, Computing, Counted, FullQueueError, StoppedError
from sourcebook.server.embedding_service.texts import Prompts, Wanted, most_read

_log = logging.getLogger("sourcebook.server")
_RETRY_SECONDS: Final = 2


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """The most that a request may hold, and that may wait."""

    texts: int = 2_048
    tokens: int = 600_000
    body: int = 8_000_000
    waiting: int = 20_000


class _RefusedError(Exception):
    def __init__(self, status: int, message: str, code: str) -> None:
        super().__init__(message)
        self.status, self.code = status, code


class EmbeddingService:
    """The routes over one model.

    Args:
        model: the model.
        engine: the engine that computes.
        open_process: opens the process of the model.
        key: the key that every caller sends; None for callers of this machine alone.
        limits: limits of requests.
    """

    def __init__(
        self,
        model: EmbeddingModel,
        engine: Engine,
        open_process: Callable[[], Computing],
        key: str | None,
        limits: ServiceLimits,
    ) -> None:
        self._model, self._engine, self._open, self._key, self._limits = model, engine, open_process, key, limits
        self._prompts = Prompts.of(model)
        self._names = {model.name, model.name.rpartition("/")[2], model.identity}
        self._batches: Batches | None = None
        self._registry = CollectorRegistry()
        self._counters = _Counters(self._registry, lambda: 0 if self._batches is None else self._batches.waiting)

    def app(self) -> Starlette:
        """Return the app."""
        routes = [
            Route("/v1/embeddings", self._guarded(self._embeddings), methods=["POST"]),
            Route("/v1/models", self._guarded(self._models)),
            Route("/healthz", self._health),
            Route("/metrics", self._guarded(self._metrics)),
        ]
        return Starlette(routes=routes, lifespan=self._running)

    @asynccontextmanager
    async def _running(self, _: Starlette) -> AsyncIterator[None]:
        size = 64 if self._engine.device == "cpu" else 1_024
        self._batches = Batches(self._open, size, self._limits.waiting)
        running = asyncio.create_task(self._batches.run())
        try:
            yield
        finally:
            running.cancel()
            await asyncio.wait([running])

    def _guarded(self, route: Callable[[Request], Any]) -> Callable[[Request], Any]:
        async def handle(request: Request) -> Response:
            began = time.monotonic()
            try:
                self._check_caller(request)
                found: Response = await route(request)
            except _RefusedError as refused:
                found = _refusal(refused)
            except ClientDisconnect:
                found = Response(status_code=499)
            self._counters.count(request.url.path, found.status_code, time.monotonic() - began)
            return found

        return handle

    def _check_caller(self, request: Request) -> None:
        """Refuse callers without the key; without one, pages of other sites and other names of this machine."""
        if self._key is None:
            is_page = "origin" in request.headers or request.headers.get("sec-fetch-site", "none") != "none"
            if is_page or not names_this_machine(request.headers.get("host", "")):
                raise _RefusedError(403, "without a key, only programs of this machine are answered", "forbidden")
            return
        scheme, _, sent = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not hmac.compare_digest(sent.strip().encode(), self._key.encode()):
            raise _RefusedError(401, "send the key of this service as  Authorization: Bearer …", "invalid_api_key")

    async def _embeddings(self, request: Request) -> Response:
        wanted = await self._wanted(request)
        if wanted.model not in self._names:
            raise _RefusedError(404, f"this service has the model {self._model.name} alone", "model_not_found")
        texts, limits = wanted.texts, self._limits
        if len(texts) > limits.texts:
            raise _RefusedError(413, f"a request may hold {limits.texts:,} texts at most", "too_many_texts")
        if len(texts) > 1 and most_read(texts, self._model.max_tokens) > limits.tokens:
            message = f"the texts may have more than {limits.tokens:,} tokens: send fewer at once"
            raise _RefusedError(413, message, "too_many_tokens")
        if wanted.dimensions is not None and wanted.dimensions > self._model.dimensions:
            message = f"the model has vectors of {self._model.dimensions} numbers; dimensions may be fewer"
            raise _RefusedError(400, message, "dimensions")
        bare, are_queries = self._prompts.sorted(texts, wanted.input_type)
        vectors, tokens = await self._computed(request, bare, are_queries)
        self._counters.computed(len(texts), tokens)
        shown = shortened_rows(vectors, wanted.dimensions)
        return embeddings_answer(shown, tokens, self._model.name, wanted.encoding_format)

    async def _wanted(self, request: Request) -> Wanted:
        stated = request.headers.get("content-length", "0")
        message = f"the body may have {self._limits.body:,} bytes at most: send fewer texts at once"
        if not stated.isdigit() or int(stated) > self._limits.body:
            raise _RefusedError(413, message, "too_large")
        body = bytearray()
        async for piece in request.stream():
            body += piece
            if len(body) > self._limits.body:
                raise _RefusedError(413, message, "too_large")
        try:
            return Wanted.model_validate_json(bytes(body))
        except ValidationError as error:
            told = error.errors(include_url=False, include_context=False, include_input=False)[0]
            where = ".".join(str(part) for part in told["loc"] if part in {*Wanted.model_fields, "input"})
            raise _RefusedError(400, f"{where or 'the body'}: {told['msg']}", "invalid_request") from None

    async def _computed(self, request: Request, texts: list[str], are_queries: list[bool]) -> tuple[Any, int]:
        """Return the vectors of texts, and the tokens that were read; stop where the caller has gone."""
        batches = self._batches
        if batches is None:
            raise _RefusedError(503, "the service starts: ask again in a moment", "starting")
        vectors = np.empty((len(texts), self._model.dimensions), np.float32)
        rows = {kind: [row for row, is_query in enumerate(are_queries) if is_query is kind] for kind in (True, False)}
        asked = {
            kind: asyncio.create_task(batches.embed([texts[row] for row in places], as_queries=kind))
            for kind, places in rows.items()
            if places
        }
        gone = asyncio.create_task(_gone(request))
        everything = asyncio.gather(*asked.values())
        tasks: set[asyncio.Future[Any]] = {gone, everything, *asked.values()}
        try:
            first: set[asyncio.Future[Any]] = {everything, gone}
            await asyncio.wait(first, return_when=asyncio.FIRST_COMPLETED)
            if not everything.done():
                raise ClientDisconnect
            counted: list[Counted] = await everything
        except FullQueueError as error:
            raise _RefusedError(429, str(error), "full") from None
        except StoppedError as error:
            _log.error("%s", error)
            raise _RefusedError(
                503, "the model's process has ended and is started again: ask again", "stopped"
            ) from None
        except ModelError as error:
            _log.error("%s", error)
            raise _RefusedError(422, "the model failed on these texts; the service's log says why", "failed") from None
        finally:
            for task in tasks:
                task.cancel()
        for kind, (found, _) in zip(asked, counted, strict=True):
            vectors[rows[kind]] = found
        return vectors, sum(sum(tokens) for _, tokens in counted)

    async def _models(self, _: Request) -> Response:
        model = {
            "id": self._model.name,
            "object": "model",
            "owned_by": "sourcebook",
            "identity": self._model.identity,
            "dimensions": self._model.dimensions,
            "max_tokens": self._model.max_tokens,
            "engine": str(self._engine),
        }
        return Response(pydantic_core.to_json({"object": "list", "data": [model]}), media_type="application/json")

    async def _health(self, _: Request) -> Response:
        failed = self._batches is None or self._batches.failure is not None
        state = {"status": "failing" if failed else "ok"}
        return Response(pydantic_core.to_json(state), 503 if failed else 200, media_type="application/json")

    async def _metrics(self, _: Request) -> Response:
        return Response(generate_latest(self._registry), headers={"Content-Type": CONTENT_TYPE_PLAIN_0_0_4})


async def _gone(request: Request) -> None:
    """Return when the caller has gone away."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _refusal(refused: _RefusedError) -> Response:
    error = {"message": str(refused), "type": "invalid_request_error", "code": refused.code}
    headers = {"Retry-After": str(_RETRY_SECONDS)} if refused.status in {429, 503} else {}
    if refused.status == 401:
        headers["WWW-Authenticate"] = "Bearer"
    return Response(pydantic_core.to_json({"error": error}), refused.status, headers, "application/json")


class _Counters:
    """The metrics of one service.

    Args:
        registry: registry that they are registered in.
        waiting: returns the number of texts that wait.
    """

    def __init__(self, registry: CollectorRegistry, waiting: Callable[[], int]) -> None:
        name = "sourcebook_embedding_service_"
        self._requests = Counter(
            f"{name}requests", "Requests by path and status.", ("path", "status"), registry=registry
        )
        self._seconds = Histogram(f"{name}seconds", "Seconds of requests for vectors.", registry=registry)
        self._texts = Counter(f"{name}texts", "Texts that were embedded.", registry=registry)
        self._tokens = Counter(f"{name}tokens", "Tokens that the model read.", registry=registry)
        gauge = Gauge(f"{name}waiting_texts", "Texts that wait.", registry=registry)
        gauge.set_function(waiting)

    def count(self, path: str, status: int, seconds: float) -> None:
        """Count a request."""
        self._requests.labels(path, str(status)).inc()
        if path.endswith("/embeddings"):
            self._seconds.observe(seconds)

    def computed(self, texts: int, tokens: int) -> None:
        """Count texts that were embedded."""
        self._texts.inc(texts)
        self._tokens.inc(tokens)

"""The process of the embedding service: the key, a socket that listens, the model's process, and uvicorn."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import uvicorn

from sourcebook.embedding.engine import Engine, PrecisionSetting
from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.embedding.process import EmbeddingProcess
from sourcebook.model.device import DeviceSetting
from sourcebook.server.embedding_service.app import EmbeddingService, ServiceLimits
from sourcebook.server.half_requests import ImpatientProtocol
from sourcebook.server.listening import SECONDS_TO_END, ServingError, is_local, listen
from sourcebook.server.serving import ending_on_signals

KEY_VARIABLE: Final = "SOURCEBOOK_EMBEDDINGS_KEY"
DEFAULT_PORT: Final = 8321
_SHORTEST_KEY: Final = 16


def service_key() -> str | None:
    """Return the key that callers send, from the environment; None where there is none.

    Raises:
        ServingError: it is too short, or can be no key.
    """
    key = os.environ.get(KEY_VARIABLE, "").strip()
    if not key:
        return None
    if len(key) < _SHORTEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise ServingError(
            f"the value of {KEY_VARIABLE} is no key: write {_SHORTEST_KEY} or more letters and digits, as from  "
            "openssl rand -hex 24"
        )
    return key


def serve_embeddings(
    name: str,
    home: Path,
    *,
    host: str = "127.0.0.1",
    port: int = DEFAULT_PORT,
    precision: PrecisionSetting = "auto",
    device: DeviceSetting = "auto",
    limits: ServiceLimits | None = None,
    started: Callable[[str, EmbeddingModel, Engine, bool], None],
) -> None:
    """Serve a model of this machine until SIGINT or SIGTERM.

    Args:
        name: name or folder of the model, as in `embedding.model`.
        home: state folder, with the exports in `models/`.
        host: the address to listen on; on any but this machine's own every caller needs the key.
        port: the port; 0 for a free one.
        precision: number format, as in `embedding.precision`.
        device: device, as in `embedding.device`.
        limits: limits of requests.
        started: called with the address, the model, the engine, and whether callers need the key, once it listens.

    Raises:
        ServingError: the key is missing or none, the port is taken, or the address is none of this machine.
        ModelError: the model cannot be found or loaded.
    """
    key = service_key()
    with listen(host, port) as listening:
        address, taken = listening.getsockname()[:2]
        if key is None and not is_local(str(address)):
            raise ServingError(
                f"other machines reach {host}, and there is no key: set {KEY_VARIABLE} to one, or listen on 127.0.0.1"
            )
        model = find_model(name)

        def opened() -> EmbeddingProcess:
            process = EmbeddingProcess(model, precision, device=device, home=home)
            process.start()
            return process

        first = opened()
        prepared = [first]
        try:
            engine = first.engine()
            service = EmbeddingService(
                model, engine, lambda: prepared.pop() if prepared else opened(), key, limits or ServiceLimits()
            )
            config = uvicorn.Config(
                service.app(),
                http=ImpatientProtocol,
                log_level="warning",
                access_log=False,
                timeout_graceful_shutdown=SECONDS_TO_END,
                server_header=False,
            )
            named = f"[{address}]" if ":" in str(address) else address
            started(f"http://{named}:{taken}", model, engine, key is not None)
            with ending_on_signals():
                uvicorn.Server(config).run(sockets=[listening])
        finally:
            first.close()

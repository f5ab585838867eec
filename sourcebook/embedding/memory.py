"""Memory that an embedding model needs, and the wait for it."""

import time
from collections.abc import Callable
from typing import Final

from sourcebook.embedding.engine import EngineName
from sourcebook.errors import ModelError
from sourcebook.processes.machine_memory import free_memory

WAITING_SECONDS: Final = 60.0
"""Longest wait for memory before a run stops."""
_CHECK_SECONDS: Final = 1.0
_BESIDE_WEIGHTS: Final[dict[EngineName, int]] = {"onnxruntime": 200_000_000, "torch": 800_000_000}
"""Bytes of a process that embeds, beside its weights: the libraries, and the intermediate results of a batch.

Measured with all-MiniLM-L6-v2 (91 MB): 0.66 GB with torch on two cores, more on more of them, and 0.2 to 0.3 GB with
onnxruntime.
"""


def needed_memory(weights: int, engine: EngineName) -> int:
    """Return the bytes that a process needs to embed with weights of so many bytes."""
    return weights + _BESIDE_WEIGHTS[engine]


def wait_for_memory(
    name: str,
    needed: int,
    *,
    seconds: float = WAITING_SECONDS,
    measure: Callable[[], int | None] = free_memory,
) -> None:
    """Wait until a model's memory is free; return at once where the system does not say how much is.

    Args:
        name: name of the model, for the error's sentence.
        needed: bytes.
        seconds: longest wait.
        measure: returns the bytes that are free.

    Raises:
        ModelError: there is still too little.
    """
    end = time.monotonic() + seconds
    while (free := measure()) is not None and free < needed:
        if time.monotonic() >= end:
            raise ModelError(
                f"The embedding model {name!r} needs {needed / 1e9:.2f} GB of memory, and {free / 1e9:.2f} GB are "
                f"free; waited {seconds:.0f} s. What is done so far is kept: end other programs and ingest again, or "
                "set  embedding.model  to a smaller one."
            )
        time.sleep(_CHECK_SECONDS)  # other programs take and free memory at their own pace

"""The program of an `EmbeddingProcess`'s child: reads texts from stdin, writes vectors to a pipe.

It ends by itself, in mid-computation too, as soon as its parent is gone.
"""

import gc
import os
import signal
import sys
import time
import traceback
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO, cast

from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.precision import PrecisionSetting
from sourcebook.embedding.protocol import read_frame, write_frame
from sourcebook.errors import ModelError

Header = dict[str, object]

_PARENT_CHECK_SECONDS = 0.5


def main() -> None:
    """Serve until the parent is gone, and then leave without Python's shutdown: other threads still read the pipe."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    try:
        _serve(sys.stdin.buffer, os.fdopen(int(sys.argv[1]), "wb"))
    except BrokenPipeError:  # the parent is gone
        os._exit(0)
    except BaseException:  # noqa: BLE001 - the parent reads the last line of it
        traceback.print_exc()
        os._exit(1)


def _serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Load the model that the first frame names, then answer each frame of texts with one of vectors."""
    first = read_frame(requests)
    if first is None:
        os._exit(0)
    settings = first[0]
    queue: SimpleQueue[Header] = SimpleQueue()
    Thread(target=_receive, args=(requests, queue), daemon=True).start()
    Thread(target=_leave_with_parent, args=(cast("int", settings["parent"]),), daemon=True).start()
    # Importing torch makes millions of objects that stay: looking for garbage among them takes a fifth of the time.
    gc.disable()
    try:
        embedder = _load(settings)
    except Exception as error:  # noqa: BLE001 - whatever it was, the parent has to tell it
        write_frame(replies, {"state": "failed", "reason": _reason(error)})
        os._exit(0)
    gc.freeze()
    gc.enable()
    write_frame(replies, {"state": "ready"})
    while True:
        _answer(embedder, queue.get(), replies)


def _receive(requests: BinaryIO, queue: "SimpleQueue[Header]") -> None:
    """Read ahead while the model computes, and leave at once when the parent closes the pipe or dies."""
    while (frame := read_frame(requests)) is not None:
        queue.put(frame[0])
    os._exit(0)


def _leave_with_parent(parent: int) -> None:
    """Leave when the parent is gone although a process it forked still holds the pipe open."""
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_SECONDS)
    os._exit(0)


def _load(settings: Header) -> SentenceTransformerEmbedder:
    folder = cast("str | None", settings["folder"])
    model = EmbeddingModel(
        name=str(settings["name"]),
        folder=None if folder is None else Path(folder),
        identity=str(settings["identity"]),
        dimensions=cast("int", settings["dimensions"]),
        max_tokens=cast("int", settings["max_tokens"]),
    )
    return SentenceTransformerEmbedder(model, cast("PrecisionSetting", settings["precision"]))


def _answer(embedder: SentenceTransformerEmbedder, request: Header, replies: BinaryIO) -> None:
    texts = cast("list[str]", request["texts"])
    try:
        vectors = embedder.embed_query(texts[0])[None] if request["query"] else embedder.embed(texts)
    except Exception as error:  # noqa: BLE001 - one batch failed: the parent tells it, and the next may succeed
        write_frame(replies, {"state": "failed", "reason": _reason(error)})
        return
    write_frame(replies, {"state": "vectors", "rows": len(vectors)}, vectors.astype("<f4").tobytes())


def _reason(error: Exception) -> str:
    return str(error) if isinstance(error, ModelError) else f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()

"""The main loop of a child: requests come by stdin, answers leave by a pipe.

A child ends by itself, in mid-computation too, as soon as its parent is gone.
"""

import gc
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread
from typing import BinaryIO, cast

from sourcebook.errors import SourcebookError
from sourcebook.processes.frames import read_frame, write_frame
from sourcebook.processes.priority import give_way

Header = dict[str, object]
Answer = Callable[[Header, BinaryIO], None]
"""Called with a request and the pipe that takes the frames of its answer."""

_PARENT_CHECK_SECONDS = 0.5


def serve(load: Callable[[Header], Answer]) -> None:
    """Load, then answer one request after the other until the parent is gone. Never returns.

    Args:
        load: Called with the first frame, which names the process id `parent`; returns what answers the others. The
            parent hears in a frame whose `state` is `ready`, or is `failed` with a `reason`, how that went.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    give_way()
    try:
        _serve(load, sys.stdin.buffer, os.fdopen(int(sys.argv[1]), "wb"))
    except BrokenPipeError:  # the parent is gone
        os._exit(0)
    except BaseException:  # noqa: BLE001 - the parent reads the last line of it
        traceback.print_exc()
        os._exit(1)


def reason_of(error: Exception) -> str:
    """Return what the parent is to tell of an error."""
    return str(error) if isinstance(error, SourcebookError) else f"{type(error).__name__}: {error}"


def _serve(load: Callable[[Header], Answer], requests: BinaryIO, replies: BinaryIO) -> None:
    first = read_frame(requests)
    if first is None:
        os._exit(0)
    settings = first[0]
    queue: SimpleQueue[Header] = SimpleQueue()
    # Leaving goes without Python's shutdown: these threads would still read.
    Thread(target=_receive, args=(requests, queue), daemon=True).start()
    Thread(target=_leave_with_parent, args=(cast("int", settings["parent"]),), daemon=True).start()
    # Importing torch makes millions of objects that stay: looking for garbage among them takes a fifth of the time.
    gc.disable()
    try:
        answer = load(settings)
    except Exception as error:  # noqa: BLE001 - whatever it was, the parent has to tell it
        write_frame(replies, {"state": "failed", "reason": reason_of(error)})
        os._exit(0)
    gc.freeze()
    gc.enable()
    write_frame(replies, {"state": "ready"})
    while True:
        answer(queue.get(), replies)


def _receive(requests: BinaryIO, queue: "SimpleQueue[Header]") -> None:
    """Read ahead while something is computed, and leave at once when the parent closes the pipe or dies."""
    while (frame := read_frame(requests)) is not None:
        queue.put(frame[0])
    os._exit(0)


def _leave_with_parent(parent: int) -> None:
    """Leave when the parent is gone although a process it forked still holds the pipe open."""
    wait_for_end(parent)
    os._exit(0)


def wait_for_end(parent: int) -> None:
    """Return when the parent is gone."""
    while os.getppid() == parent:
        time.sleep(_PARENT_CHECK_SECONDS)

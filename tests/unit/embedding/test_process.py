import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import cast

import numpy as np
import psutil
import pytest

from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.model import EmbeddingModel, find_model
from sourcebook.embedding.process import EmbeddingProcess
from sourcebook.errors import ModelError
from tests.unit.embedding.mixed_texts import mixed_texts
from tests.unit.embedding.tiny_models import tiny_model
from tests.waiting import is_running, seconds_until_gone, wait_until, wait_until_busy, workers

PARENT = """
import sys, time
from pathlib import Path
from sourcebook.embedding.model import find_model
from sourcebook.embedding.process import EmbeddingProcess
process = EmbeddingProcess(find_model("all-MiniLM-L6-v2"), "float32", home={home})
process.start()
if {wait}:
    process.embed(["a"])
print("started", flush=True)
{then}
"""


@pytest.fixture(scope="module")
def process(model: EmbeddingModel) -> Iterator[EmbeddingProcess]:
    with EmbeddingProcess(model, "float32") as started:
        yield started


def program(*, wait: bool, then: str, home: Path) -> str:
    """Return a program whose child serves with the export of a home, or still imports torch, which takes seconds."""
    return PARENT.format(wait=wait, then=then, home=f"Path({str(home)!r})" if wait else None)


def run_parent(*, wait: bool, then: str, home: Path) -> tuple[subprocess.Popen[str], int]:
    """Start a program that starts an embedding process; return it and the child's process id."""
    code = program(wait=wait, then=then, home=home)
    parent = subprocess.Popen(
        [sys.executable, "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as a terminal's job is
    )
    assert parent.stdout is not None
    assert parent.stdout.readline() == "started\n"
    (child,) = wait_until(lambda: workers(psutil.Process(parent.pid)), what="the child runs")
    return parent, child


def test_it_gives_the_vectors_of_the_embedder_in_process(
    process: EmbeddingProcess, embedder: SentenceTransformerEmbedder
) -> None:
    """A child's vectors are those of this process, rows in the order of the texts, and can be written to."""
    texts = [*mixed_texts(16), "", "Ünïcödé 日本語", "line\nbreak\x00"]
    vectors = process.embed(texts)
    assert vectors.dtype == np.float32
    assert vectors.flags.writeable
    np.testing.assert_allclose(vectors, embedder.embed(texts), atol=1e-5)
    np.testing.assert_allclose(process.embed_query("battery"), embedder.embed_query("battery"), atol=1e-5)
    assert process.embed([]).shape == (0, 384)


def test_batches_are_answered_in_order_while_the_caller_goes_on(process: EmbeddingProcess) -> None:
    """Futures of more batches than the queue holds each get their own batch's vectors."""
    batches = [mixed_texts(count) for count in (3, 1, 8, 2, 5, 4, 1, 1, 6)]
    futures = [process.submit(batch) for batch in batches]
    assert [len(future.result()) for future in futures] == [len(batch) for batch in batches]
    np.testing.assert_allclose(futures[1].result()[0], futures[2].result()[0], atol=1e-5)


def test_a_batch_that_fails_fails_alone(process: EmbeddingProcess) -> None:
    """What is no text at all is a `ModelError` for its batch; the child serves the next one."""
    with pytest.raises(ModelError, match="AttributeError"):
        process.embed([cast("str", 7)])
    assert process.embed(["fine"]).shape == (1, 384)


def test_the_child_loads_only_what_it_needs(process: EmbeddingProcess) -> None:
    """Neither scikit-learn and scipy's optimisers, of which others import one function, nor a compiler for GPUs."""
    process.embed(["ready"])
    unneeded = ("sklearn.metrics", "sklearn.base", "scipy.optimize", "triton._C", "pandas.core")
    loaded = f"[name for name in {unneeded} if name in __import__('sys').modules]"
    assert process._schedule(eval, loaded).result() == []


def test_its_memory_does_not_grow_with_the_shapes_of_batches(tmp_path: Path) -> None:
    """Kernels of 60 further shapes stay at the size of the first 40: without a limit they take 50 MB in bfloat16."""
    others = workers()
    with EmbeddingProcess(find_model(str(tiny_model(tmp_path / "tiny"))), "bfloat16") as growing:
        growing.embed(["ready"])
        (pid,) = workers() - others
        sizes = []
        for lengths in (range(2, 12), range(12, 27)):
            batches = [["a " * length] * rows for length in lengths for rows in range(1, 5)]
            for answer in [growing.submit(batch) for batch in batches]:
                answer.result()
            sizes.append(psutil.Process(pid).memory_info().rss)
    assert sizes[1] - sizes[0] < 20_000_000


def test_it_gives_way_to_searches(process: EmbeddingProcess) -> None:
    """The child computes at a lower priority than the processes that answer a person."""
    process.embed(["ready"])
    (child,) = workers()
    assert os.getpriority(os.PRIO_PROCESS, child) >= min(os.getpriority(os.PRIO_PROCESS, 0) + 10, 19)


def test_an_interrupt_does_not_reach_the_child(process: EmbeddingProcess) -> None:
    """The child ignores SIGINT: whether to stop is its parent's to decide."""
    process.embed(["ready"])
    (child,) = workers()
    os.kill(child, signal.SIGINT)
    assert process.embed(["still here"]).shape == (1, 384)


@pytest.mark.alone
def test_starting_does_not_wait_for_the_model_and_closing_is_prompt(model: EmbeddingModel) -> None:
    """`start` returns while the child imports torch; `close` ends it at once and may be called again."""
    others = workers()
    started = EmbeddingProcess(model)
    before = time.monotonic()
    started.start()
    assert time.monotonic() - before < 1.0
    (pid,) = workers() - others
    future = started.submit(["never answered"])
    before = time.monotonic()
    started.close()
    started.close()
    assert time.monotonic() - before < 2.0
    assert not is_running(pid)
    with pytest.raises(ModelError, match="has been closed"):
        future.result()
    with pytest.raises(ModelError, match="has been closed"):
        started.embed(["a"])


def test_a_model_that_cannot_be_loaded_is_the_child_s_reason(tmp_path: Path, model: EmbeddingModel) -> None:
    """The first `embed` raises what went wrong there, and so does every later one."""
    broken = replace(model, folder=tmp_path, name="broken")
    with EmbeddingProcess(broken) as failing:
        for _ in range(2):
            with pytest.raises(ModelError, match=r"^The folder .* holds no weights"):
                failing.embed(["a"])


@pytest.mark.parametrize("wait", [True, False], ids=["serving", "loading"])
def test_the_child_leaves_when_its_parent_is_killed(wait: bool, minilm_home: Path) -> None:
    """`kill -9` on the parent leaves nothing behind, also while the model is still loading."""
    parent, child = run_parent(wait=wait, then="time.sleep(60)", home=minilm_home)
    parent.kill()
    parent.wait()
    assert seconds_until_gone(child) < 2.0
    parent.communicate()


def test_the_child_leaves_although_a_fork_of_its_parent_lives_on(minilm_home: Path) -> None:
    """A process that the parent forked holds the pipe open: the child notices that its parent is another one."""
    then = "import os\nfork = os.fork()\nif fork: print(fork, flush=True)\ntime.sleep(60)"
    parent, child = run_parent(wait=False, then=then, home=minilm_home)
    assert parent.stdout is not None
    fork = int(parent.stdout.readline())
    parent.kill()
    try:
        assert seconds_until_gone(child) < 3.0
        assert is_running(fork)
    finally:
        os.kill(fork, signal.SIGKILL)
        parent.communicate()


@pytest.mark.parametrize("wait", [True, False], ids=["serving", "loading"])
def test_ctrl_c_prints_nothing_of_the_child_s(wait: bool, minilm_home: Path) -> None:
    """A terminal interrupts the whole job: the parent's own handling is all that it shows."""
    then = "try:\n    print('waiting', flush=True)\n    time.sleep(60)\nexcept KeyboardInterrupt:\n    print('stopped')"
    parent, child = run_parent(wait=wait, then=then, home=minilm_home)
    assert parent.stdout is not None
    assert parent.stdout.readline() == "waiting\n"
    os.killpg(parent.pid, signal.SIGINT)
    out, errors = parent.communicate(timeout=60)
    assert (out, errors, parent.returncode) == ("stopped\n", "", 0)
    assert seconds_until_gone(child) < 2.0


def test_a_parent_that_forgets_to_close_ends_cleanly(minilm_home: Path) -> None:
    """Leaving the interpreter ends the child: no warning, no traceback, exit status 0."""
    then = "import psutil\nprint([child.pid for child in psutil.Process().children()])"
    code = program(wait=True, then=then, home=minilm_home)
    done = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-W", "ignore::DeprecationWarning", "-c", code],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.stderr, done.returncode) == ("", 0)
    children = json.loads(done.stdout.splitlines()[-1])
    assert children
    assert max(map(seconds_until_gone, children)) < 2.0


def test_what_a_library_prints_does_not_get_between_the_answers(
    model: EmbeddingModel, minilm_home: Path, tmp_path: Path
) -> None:
    """A module that prints while the child starts and computes disturbs nothing."""
    (tmp_path / "sitecustomize.py").write_text(
        "import pathlib, sys, threading, time\n"
        "def chatter():\n"
        "    for _ in range(1_000):\n"
        "        print('chatter' * 1_000, flush=True)\n"
        f"    pathlib.Path({str(tmp_path / 'printed')!r}).touch()\n"
        "def chatter_on():\n"
        "    while True:\n"
        "        time.sleep(0.1)\n"
        "        chatter()\n"
        "if 'pebble_pool_worker' in sys.orig_argv:\n"
        "    chatter()\n"
        "    threading.Thread(target=chatter_on, daemon=True).start()\n"
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(tmp_path), prepend=os.pathsep)
        with EmbeddingProcess(model, "float32", home=minilm_home) as chatty:
            assert chatty.embed(mixed_texts(5)).shape == (5, 384)
    assert (tmp_path / "printed").exists()


def test_a_child_that_dies_is_an_error_and_no_hang(process: EmbeddingProcess) -> None:
    """A child killed from outside (out of memory) fails what waits, and says by what it ended.

    The process that tests share ends here, so this is the last of them.
    """
    process.embed(["ready"])
    (child,) = workers()
    future = process.submit(mixed_texts(400))
    wait_until_busy(child)
    os.kill(child, signal.SIGKILL)
    with pytest.raises(ModelError, match=r"'all-MiniLM-L6-v2' was ended by SIGKILL \(often a lack of memory"):
        future.result(timeout=60)
    with pytest.raises(ModelError, match="SIGKILL"):
        process.embed(["a"])

"""Libraries of 10,000 to a million passages, made once and kept where a folder is named."""

import json
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora.large_library import endless_texts
from benchmarks.corpora.ledger_library import fill
from benchmarks.corpora.vectors import Rows, write_vectors
from benchmarks.harness.bench import Bench
from benchmarks.harness.child_memory import ServerMemory
from benchmarks.harness.library import Library
from benchmarks.harness.report import say


@dataclass(frozen=True)
class KeptLibrary:
    """A library with its vectors, and how it was made."""

    library: Library
    passages: int
    source: str
    """Origin of the vectors, for the table."""
    seconds: dict[str, float]
    """Seconds of each step of making it."""
    build_memory: int
    """Peak bytes of the database server while it was made."""

    @property
    def vectors(self) -> NDArray[np.float16]:
        """The vectors of the passages, in a file."""
        rows: NDArray[np.float16] = np.load(self.library.folder / "vectors.npy", mmap_mode="r")
        return rows

    @property
    def questions(self) -> Rows:
        """Vectors of questions, as many as `vectors` has."""
        rows: Rows = np.load(self.library.folder / "questions.npy")
        return rows


def kept_library(bench: Bench, passages: int) -> KeptLibrary:
    """Return a library with this many passages; make it unless the folder of --keep has it."""
    folder = (bench.options.keep or bench.folder) / f"million-{passages}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    record = folder / "made.json"
    if not record.exists():
        if folder.exists():
            Library(folder).stop()
            shutil.rmtree(folder)
        _make(bench, Library.make(folder), passages)
    made = json.loads(record.read_text(encoding="utf-8"))
    return KeptLibrary(Library(folder), passages, made["source"], made["seconds"], made["build_memory"])


def _make(bench: Bench, library: Library, passages: int) -> None:
    say(f"  making {passages:,} passages …")
    started = time.perf_counter()
    vectors = library.folder / "vectors.npy"
    questions, source = write_vectors(bench, vectors, passages)
    np.save(library.folder / "questions.npy", questions)
    with ServerMemory(library.home / "postgres") as memory:
        seconds = fill(library, _Texts(bench, passages), np.load(vectors, mmap_mode="r"), with_files=False)
    library.stop()
    say(f"  made in {time.perf_counter() - started:.0f} s: {seconds}")
    made = {"source": source, "seconds": seconds, "build_memory": memory.peak}
    (library.folder / "made.json").write_text(json.dumps(made) + "\n", encoding="utf-8")


@dataclass(frozen=True)
class _Texts:
    bench: Bench
    count: int

    def __iter__(self) -> Iterator[str]:
        return islice(endless_texts(self.bench), self.count)


def bytes_of(folder: Path) -> int:
    """Return the size of all files in a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())

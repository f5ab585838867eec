"""Ingest after one edit: the whole process of `sourcebook ingest`, and the number of texts it embeds."""

import os
import time
from pathlib import Path

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import Library
from benchmarks.harness.report import Row, middle, say, spread
from benchmarks.parts.scan import many_files

BARS = {2_000: 1.7, 20_000: 1.9, 50_000: 2.2, 100_000: 2.6}
"""Seconds of the whole process by the number of files."""
_SETTLED_SECONDS = 60
"""Seconds by which the edit is dated back, so that the file counts as settled."""


def run(bench: Bench) -> list[Row]:
    """Add a sentence to a paragraph, of another file each time."""
    library = bench.ingested
    library.ingest()  # settles what an earlier part did
    paths = _editable(library)
    if not paths:
        return [
            Row("one file edited, whole process", None, "s", BARS[2_000], "the corpus has no Markdown file to edit")
        ]
    seconds, computed, kept = [], [], []
    for turn in range(bench.options.repeat):
        edit(paths[(turn + 1) * len(paths) // (bench.options.repeat + 2)], turn)
        done = library.ingest()
        assert done.counts["documents"]["changed"] == 1, done.counts
        seconds.append(done.measurement.seconds)
        computed.append(float(done.computed))
        kept.append(float(done.counts["search_index"]["unchanged"]))
        say(f"  {seconds[-1]:.2f} s, {done.computed} texts embedded, chunks: {done.counts['chunks']}")
    return [
        Row("one file edited, whole process", middle(seconds), "s", BARS[2_000], spread(seconds, "s")),
        Row("one file edited, texts embedded", max(computed), "texts", 2, "the edited passage; its neighbour may move"),
        Row("one file edited, entries that kept their rows", middle(kept), "entries"),
        *(_sized(bench, size) for size in bench.options.sizes),
    ]


def _sized(bench: Bench, size: int) -> Row:
    library = many_files(bench, size)
    paths = _editable(library)
    seconds = []
    for turn in range(bench.options.repeat + 1):
        edit(paths[(turn + 1) * len(paths) // (bench.options.repeat + 3)], turn)
        done = library.ingest()
        assert done.counts["documents"]["changed"] == 1, done.counts
        seconds.append(done.measurement.seconds)
        say(f"  {size:,} files: {seconds[-1]:.2f} s")
    seconds = seconds[1:]  # the first one loads the model to export it
    return Row(
        f"one file edited among {size:,}, whole process", middle(seconds), "s", BARS.get(size), spread(seconds, "s")
    )


def _editable(library: Library) -> list[Path]:
    return [path for path in library.paths() if path.suffix == ".md"]


def edit(path: Path, turn: int) -> None:
    """Add a sentence to the last paragraph of a Markdown file."""
    text = path.read_text(encoding="utf-8").rstrip("\n")
    path.write_text(f"{text}\n\nThe tide gauge was moved by {turn + 2} metres that winter.\n", encoding="utf-8")
    settled = time.time() - _SETTLED_SECONDS
    os.utime(path, (settled, settled))

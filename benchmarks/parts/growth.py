"""Commands and publishing in a large base: `status`, a page of `documents`, and one document against a small base."""

import sys
from pathlib import Path

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import COLLECTION, Library
from benchmarks.harness.measure import run as measured
from benchmarks.harness.report import Row, middle, say, spread
from benchmarks.parts.edit import edit
from benchmarks.parts.scan import StandInEmbedder, many_files
from sourcebook.indexing.generations import ensure_generation
from sourcebook.stages.chunks import prepare_chunks
from sourcebook.stages.documents.update import update_documents
from sourcebook.stages.embeddings import embed_missing
from sourcebook.stages.raw_files import update_raw_files
from sourcebook.stages.search_index import publish

SMALL = 2_000
"""Files of the base that publishing is compared with."""
_DOCUMENTS = 30
"""Documents that are published one by one; the first third warms the server up."""


def run(bench: Bench) -> list[Row]:
    """Measure the commands as whole processes, and the stage `search_index` alone."""
    largest = max(bench.options.sizes, default=bench.options.many_files)
    small, large = many_files(bench, SMALL), many_files(bench, largest)
    rows = []
    for command in (("status",), ("documents", "--limit", "100")):
        seconds = [_command(large, *command) for _ in range(bench.options.repeat + 1)][1:]
        name = f"`{' '.join(command)}` among {largest:,} files, whole process"
        rows.append(Row(name, middle(seconds), "s", 1.0, spread(seconds, "s")))
    few, many = _publishing(small), _publishing(large)
    say(f"  publishing: {few * 1000:.1f} ms among {SMALL:,} files, {many * 1000:.1f} ms among {largest:,}")
    name = f"publishing a document among {largest:,} files, against {SMALL:,}"
    return [*rows, Row(name, many / few, "×", 1.1, f"{many * 1000:.1f} ms against {few * 1000:.1f} ms")]


def _command(library: Library, *arguments: str) -> float:
    program = Path(sys.executable).with_name("sourcebook")
    command = [str(program), "--config", str(library.configuration_path), *arguments]
    return measured(command, library.environment, server_folder=library.home / "postgres").seconds


def _publishing(library: Library) -> float:
    """Return the median seconds of publishing one edited document, with the server running."""
    paths = [path for path in library.paths() if path.suffix == ".md"]
    seconds = []
    with library.database() as database, database.connection() as connection, database.connection() as writer:
        generation = ensure_generation(connection, COLLECTION)
        for turn in range(_DOCUMENTS):
            edit(paths[(turn + 1) * len(paths) // (_DOCUMENTS + 2)], turn + 100)
            update_raw_files(connection, COLLECTION)
            update_documents(connection, COLLECTION)
            prepare_chunks(connection, generation)
            embed_missing(connection, writer, generation, lambda _: StandInEmbedder())
            report = publish(connection, generation)
            assert report.added, report
            seconds.append(report.seconds)
    return middle(seconds[_DOCUMENTS // 3 :])

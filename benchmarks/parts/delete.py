"""Ten files deleted: the whole process of `sourcebook ingest`, which loads no model."""

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import Library
from benchmarks.harness.report import Row, middle, say, spread
from benchmarks.parts.scan import many_files

BARS = {2_000: 1.3, 20_000: 1.5, 50_000: 1.8, 100_000: 2.2}
"""Seconds of the whole process by the number of files."""
_FILES = 10
_WORKER = "pebble_pool_worker"


def run(bench: Bench) -> list[Row]:
    """Delete ten files, different ones each time."""
    library = bench.ingested
    library.ingest()  # settles what an earlier part did
    seconds, workers = _delete(bench, library)
    rows = [
        Row(f"{_FILES} files deleted, whole process", middle(seconds), "s", BARS[2_000], spread(seconds, "s")),
        Row(f"{_FILES} files deleted, parser or model processes started", workers, "processes", 0),
    ]
    for size in bench.options.sizes:
        seconds, _ = _delete(bench, many_files(bench, size))
        name = f"{_FILES} files deleted among {size:,}, whole process"
        rows.append(Row(name, middle(seconds), "s", BARS.get(size), spread(seconds, "s")))
    return rows


def _delete(bench: Bench, library: Library) -> tuple[list[float], int]:
    """Return the seconds of each ingest, and the number of worker processes of all."""
    seconds, workers = [], 0
    for _ in range(bench.options.repeat):
        paths = library.paths()
        step = max(len(paths) // _FILES, 1)
        gone = paths[::step][:_FILES]
        for path in gone:
            path.unlink()
        done = library.ingest()
        assert done.counts["documents"]["removed"] == len(gone), done.counts
        assert done.computed == 0, done.counts
        seconds.append(done.measurement.seconds)
        workers += sum(_WORKER in command for command in done.measurement.commands)
        say(f"  {seconds[-1]:.2f} s, {done.counts['search_index']['removed']} entries removed")
    return seconds, workers

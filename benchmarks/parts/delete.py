"""Ten files deleted: the whole process of `sourcebook ingest`, which loads no model."""

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, middle, say, spread

_FILES = 10
_WORKER = "pebble_pool_worker"


def run(bench: Bench) -> list[Row]:
    """Delete ten files, different ones each time."""
    library = bench.ingested
    library.ingest()  # settles what an earlier part did
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
    return [
        Row(f"{_FILES} files deleted, whole process", middle(seconds), "s", 3.0, spread(seconds, "s")),
        Row(f"{_FILES} files deleted, child processes started", workers, "processes", 0),
    ]

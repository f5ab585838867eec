"""Peak memory of a first ingest and of one where nothing changed, at two sizes."""

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import Ingest
from benchmarks.harness.report import MEGABYTE, Row
from benchmarks.parts.scan import many_files
from sourcebook.embedding.engine import chosen_engine

_FIRST = {"torch": 1_200 * MEGABYTE, "onnxruntime": 600 * MEGABYTE}
_UNCHANGED, _GROWTH = 200 * MEGABYTE, 1.5


def run(bench: Bench) -> list[Row]:
    """Return rows of the largest peak of this run's first ingests, and of ingests where nothing changed."""
    library = bench.ingested
    unchanged = [library.ingest() for _ in range(bench.options.repeat)]
    if any(ingest.computed or ingest.counts["raw_files"]["changed"] for ingest in unchanged):
        unchanged = [library.ingest() for _ in range(bench.options.repeat)]  # the first one settled an earlier edit
    first = _peak(bench.first_ingests)
    same = _peak(unchanged)
    many = [many_files_ingest(bench) for _ in range(bench.options.repeat)]
    engine = chosen_engine("auto", "auto").name
    size, files = f"{bench.options.many_files:,} files", f"{len(library.paths()):,}"
    return [
        Row(
            f"peak memory, first ingest of {files} files, embedded by {engine}",
            first,
            "bytes",
            _FIRST[engine],
            _parts(bench.first_ingests),
        ),
        Row("peak memory, nothing changed", same, "bytes", _UNCHANGED, _parts(unchanged)),
        Row(
            f"peak memory, nothing changed, {size} / {files}",
            _peak(many) / same,
            "×",
            _GROWTH,
            _parts(many),
        ),
        _full(bench, first, f"{size} / {files}"),
    ]


def many_files_ingest(bench: Bench) -> Ingest:
    """Run the command over the many unchanged files."""
    done = many_files(bench).ingest()
    assert done.computed == 0, done.counts
    return done


def _full(bench: Bench, first: int, size: str) -> Row:
    measure = f"peak memory, first ingest of {size}"
    if not bench.options.full:
        return Row(measure, None, "×", _GROWTH, "run with --full")
    library = bench.filled("full", files=bench.options.many_files)
    done = library.ingest()
    bench.drop(library)
    return Row(measure, _peak([done]) / first, "×", _GROWTH, _parts([done]))


def _peak(ingests: list[Ingest]) -> int:
    return max(ingest.measurement.peak_tree for ingest in ingests)


def _parts(ingests: list[Ingest]) -> str:
    process = max(ingest.measurement.peak_process for ingest in ingests) / MEGABYTE
    server = max(ingest.measurement.peak_server for ingest in ingests) / MEGABYTE
    return (
        f"all processes together; largest single one {process:,.0f} MB; beside it the database server {server:,.0f} MB"
    )

"""First ingest, the whole process, against `SentenceTransformer.encode` alone on the same chunks."""

from dataclasses import dataclass, field

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import Library
from benchmarks.harness.report import Row, middle, say, spread
from benchmarks.peers.encode import encode
from sourcebook.embedding.engine import choose_precision

_TEXTS = "SELECT DISTINCT ON (embedding_hash) context || text FROM sourcebook.chunk ORDER BY embedding_hash"


@dataclass
class _Seconds:
    """Seconds of ingests and of encodes, one number a repeat."""

    ingest: list[float] = field(default_factory=list)
    encode: list[float] = field(default_factory=list)


def run(bench: Bench) -> list[Row]:
    """Alternate ingests and encodes, so that each ratio is of two neighbouring runs."""
    precisions = ["float32", *(["bfloat16"] if choose_precision() == "bfloat16" else [])]
    seconds = {precision: _Seconds() for precision in precisions}
    files = texts = 0
    for turn in range(bench.options.repeat):
        for precision in precisions:
            library = bench.filled(f"ingest-{precision}-{turn}", precision=precision)
            files = len(library.paths())
            done = library.ingest()
            bench.first_ingests.append(done)
            chunks = embedded_texts(library)
            texts = len(chunks)
            assert done.computed == texts, f"{done.computed} texts were embedded, {texts} are in the database"
            seconds[precision].ingest.append(done.measurement.seconds)
            seconds[precision].encode.append(encode(chunks, bench.folder, precision=precision)[0])
            say(
                f"  {turn + 1}/{bench.options.repeat} {precision}: ingest {seconds[precision].ingest[-1]:.1f} s, "
                f"encode {seconds[precision].encode[-1]:.1f} s, {files:,} files, {texts:,} texts"
            )
            bench.drop(library)
    return _rows(seconds, f"{files:,} files, {texts:,} texts")


def embedded_texts(library: Library) -> list[str]:
    """Return every distinct text that an ingest embedded, as it was embedded."""
    with library.database() as database, database.connection() as connection:
        return [text for (text,) in connection.execute(_TEXTS)]


def _rows(seconds: dict[str, _Seconds], size: str) -> list[Row]:
    full = seconds["float32"]
    rows = [
        Row(f"first ingest, float32, {size}", middle(full.ingest), "s", note=spread(full.ingest, "s")),
        Row("SentenceTransformer.encode alone, float32", middle(full.encode), "s", note=spread(full.encode, "s")),
        _ratio("first ingest / encode, float32", full.ingest, full.encode, 0.72),
    ]
    half = seconds.get("bfloat16")
    if half is None:
        return [*rows, Row("first ingest, bfloat16", None, note="this processor does not compute in bfloat16")]
    return [
        *rows,
        Row("first ingest, bfloat16", middle(half.ingest), "s", note=spread(half.ingest, "s")),
        Row("SentenceTransformer.encode alone, bfloat16", middle(half.encode), "s", note=spread(half.encode, "s")),
        _ratio("first ingest in bfloat16 / encode in float32", half.ingest, full.encode, 0.38),
        _ratio("first ingest / encode, bfloat16", half.ingest, half.encode, None),
    ]


def _ratio(measure: str, above: list[float], below: list[float], bar: float | None) -> Row:
    ratios = [one / other for one, other in zip(above, below, strict=True)]
    return Row(measure, middle(ratios), "×", bar, spread(ratios, "×"))

"""Passages in streams of one thread each against one stream of all threads: wall and processor time, vectors."""

import os
import time
from random import Random
from typing import Final

from benchmarks.corpora.markdown_files import sentence
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row
from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.engine import Precision, choose_precision
from sourcebook.embedding.model import find_model
from sourcebook.embedding.streams import Streams
from sourcebook.embedding.weights import BUNDLED_NAME
from sourcebook.processes.cores import usable_threads

_TEXTS: Final = 256
"""Texts of a call, as of an ingest."""
_ROUNDS: Final = 12
_FEWEST_WORDS: Final = 40
_MOST_WORDS: Final = 110


def run(bench: Bench) -> list[Row]:
    """Embed the same texts in alternating rounds, in each number format that ingests on this machine may have."""
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # as in the process of an ingest
    random = Random(bench.options.seed)
    texts = [_text(random, random.randint(_FEWEST_WORDS, _MOST_WORDS)) for _ in range(_TEXTS)]
    return [row for precision in sorted({"float32", choose_precision()}) for row in _compare(texts, precision)]


def _text(random: Random, words: int) -> str:
    text = sentence(random)
    while text.count(" ") < words:
        text += " " + sentence(random)
    return text


def _compare(texts: list[str], precision: Precision) -> list[Row]:
    streams = SentenceTransformerEmbedder(find_model(BUNDLED_NAME), precision)
    single = SentenceTransformerEmbedder(find_model(BUNDLED_NAME), precision)
    single.streams = Streams(usable_threads(), may_share=False)
    alike = float((streams.embed(texts) * single.embed(texts)).sum(axis=1).min())
    walls: dict[int, list[float]] = {id(streams): [], id(single): []}
    works: dict[int, list[float]] = {id(streams): [], id(single): []}
    for _ in range(_ROUNDS):
        for embedder in (single, streams):
            started, worked = time.perf_counter(), time.process_time()
            embedder.embed(texts)
            walls[id(embedder)].append(time.perf_counter() - started)
            works[id(embedder)].append(time.process_time() - worked)
    wall, wall_before = min(walls[id(streams)]), min(walls[id(single)])
    work, work_before = min(works[id(streams)]), min(works[id(single)])
    name = f"{_TEXTS} texts in {precision}, {streams.streams.count} streams / one"
    streams.close()
    single.close()
    note = f"shortest of {_ROUNDS} alternating rounds"
    return [
        Row(f"{name}: wall time", wall / wall_before, "×", note=f"{wall:.2f} s against {wall_before:.2f} s; {note}"),
        Row(f"{name}: processor time", work / work_before, "×", note=f"{work:.2f} s against {work_before:.2f} s"),
        Row(f"{name}: least cosine", alike, at_least=True, bar=0.999),
    ]

"""Vectors of many passages and of questions: real ones where there are texts, else clusters like embeddings."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import say
from benchmarks.peers.encode import encode
from sourcebook.embedding.engine import choose_precision

DIMENSIONS = 384
_MOST_SENTENCES = 20_000
_MOST_QUESTIONS = 300
_CLUSTERS, _FREEDOM = 2_000, 32
"""Number of independent dimensions of generated vectors: embeddings of sentences fill few of theirs."""

Rows = NDArray[np.float32]


def vectors(bench: Bench, count: int) -> tuple[Rows, Rows, str]:
    """Return unit vectors to search in, vectors to search for, and their origin."""
    random = np.random.default_rng(5)
    known = bench.retrieval_set
    if known is None:
        made = _clustered(random, count + _MOST_QUESTIONS)
        return made[:count], made[count:], "random clusters"
    sentences = [
        sentence[:400]
        for _, text in known.documents.values()
        for sentence in re.split(r"(?<=[.!?])\s+", text)
        if len(sentence) > 25
    ]
    kept = np.sort(random.permutation(len(sentences))[:_MOST_SENTENCES])
    questions = list(dict.fromkeys(known.questions.values()))[:_MOST_QUESTIONS]
    real, asked = _encoded(bench, [sentences[place] for place in kept], questions)
    return _mixed(random, real, count), _unit(asked), f"{len(kept):,} SciFact sentences, mixed"


def _encoded(bench: Bench, sentences: list[str], questions: list[str]) -> tuple[Rows, Rows]:
    """Return the vectors of sentences and questions, which are computed once, in the folder of --keep for all runs."""
    made = (bench.options.keep or bench.folder) / "encoded-sentences.npz"
    if not made.exists():
        say(f"  encoding {len(sentences):,} sentences …")
        _, real = encode(sentences, bench.folder, precision=choose_precision())
        _, asked = encode(questions, bench.folder, precision="float32", query=True)
        np.savez(made, real=real, asked=asked)
    with np.load(made) as arrays:
        return arrays["real"], arrays["asked"]


def write_vectors(bench: Bench, path: Path, count: int) -> tuple[Rows, str]:
    """Write unit vectors like those of `vectors` as halfs; return vectors to search for, and the origin."""
    some, questions, source = vectors(bench, min(count, _MOST_SENTENCES))
    random = np.random.default_rng(6)
    file = np.lib.format.open_memmap(path, "w+", np.float16, (count, DIMENSIONS))
    places = random.permutation(count)
    written = 0
    for rows in _rounds(random, some):
        taken = rows[: count - written]
        file[places[written : written + len(taken)]] = taken
        written += len(taken)
        if written == count:
            break
    file.flush()
    return questions, source


def _mixed(random: np.random.Generator, real: Rows, count: int) -> Rows:
    """Return the vectors, and weighted means of two to four consecutive ones, like passages."""
    made: list[Rows] = []
    for rows in _rounds(random, real):
        made.append(rows)
        if sum(map(len, made)) >= count:
            break
    return _unit(np.concatenate(made)[:count])[random.permutation(count)]


def _rounds(random: np.random.Generator, real: Rows) -> Iterator[Rows]:
    """Yield the vectors, and then without end as many means of theirs."""
    yield real
    while True:
        mixed = real * random.uniform(0.5, 1, (len(real), 1))
        length = random.integers(2, 5, len(real))
        for step in range(1, 4):
            mixed += np.roll(real, -step, axis=0) * (random.uniform(0.2, 1, len(real)) * (length > step))[:, None]
        yield _unit(mixed)


def _clustered(random: np.random.Generator, count: int) -> Rows:
    centres = random.standard_normal((_CLUSTERS, _FREEDOM))
    places = centres[random.integers(0, _CLUSTERS, count)] + 0.5 * random.standard_normal((count, _FREEDOM))
    spread = places @ random.standard_normal((_FREEDOM, DIMENSIONS))
    return _unit(spread + 0.5 * random.standard_normal(spread.shape))


def _unit(rows: NDArray[np.floating]) -> Rows:
    """Return unit rows, rounded to half precision."""
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float16).astype(np.float32)

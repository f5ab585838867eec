"""What the parts over 10,000 and 100,000 passages share: the library, its two collections, and the questions."""

from dataclasses import dataclass
from functools import cache
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.bench import Bench
from benchmarks.corpus import sentence
from benchmarks.encode import encode
from benchmarks.hnsw_vectors import Rows, vectors
from benchmarks.library import Library
from benchmarks.mixed_texts import mixed_texts
from benchmarks.report import say
from benchmarks.text_shelf import TextShelf

SMALL = 10_000
_QUESTIONS_OF_A_SET = 150


@dataclass(frozen=True)
class LargeLibrary:
    """A library with a collection of 10,000 passages, and one of --entries."""

    library: Library
    shelves: tuple[TextShelf, ...]
    vectors: Rows
    """Of the passages: those of each collection are the first ones."""
    questions: list[str]
    question_vectors: NDArray[np.float32]
    """As a halfvec holds them."""
    source: str
    """What the vectors are made of."""


@cache
def large_library(bench: Bench) -> LargeLibrary:
    """Fill both collections; asked again in the same run, return the same."""
    largest = bench.options.entries
    rows, _, source = vectors(bench, largest)
    texts = mixed_texts(bench, largest)
    library = bench.library("large")
    shelves = []
    with library.database() as database, database.connection() as connection:
        for entries in sorted({min(SMALL, largest), largest}):
            say(f"  publishing {entries:,} passages …")
            shelves.append(TextShelf.fill(connection, f"passages-{entries}", texts[:entries], rows))
    questions = _questions(bench)
    _, asked = encode(questions, bench.folder, precision="float32", query=True)
    as_compared = asked.astype(np.float16).astype(np.float32)
    return LargeLibrary(library, tuple(shelves), rows, questions, as_compared, source)


def _questions(bench: Bench) -> list[str]:
    """Return questions of SciFact and of Cranfield, sentences with common words in them; else generated sentences."""
    sets = [known for name in ("scifact", "cranfield") if (known := bench.retrieval_sets.get(name))]
    questions = [text.strip() for known in sets for text in list(known.questions.values())[:_QUESTIONS_OF_A_SET]]
    random = Random(7)
    return list(dict.fromkeys(questions or [sentence(random) for _ in range(2 * _QUESTIONS_OF_A_SET)]))

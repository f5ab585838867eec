"""The library of 10,000 and 100,000 passages that several parts share, with its questions."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import islice
from random import Random

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora.markdown_files import sentence
from benchmarks.corpora.text_collection import TextShelf
from benchmarks.corpora.vectors import Rows, vectors
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import Library
from benchmarks.harness.report import say
from benchmarks.peers.encode import encode

SMALL = 10_000
_QUESTIONS_OF_A_SET = 150


@dataclass(frozen=True)
class LargeLibrary:
    """A library with a collection of 10,000 passages, and a collection of --entries."""

    library: Library
    shelves: tuple[TextShelf, ...]
    vectors: Rows
    """Vectors of the passages; each collection has the first ones."""
    questions: list[str]
    question_vectors: NDArray[np.float32]
    """Vectors of the questions, rounded to half precision."""
    source: str
    """Origin of the vectors, for the table."""


@cache
def large_library(bench: Bench) -> LargeLibrary:
    """Fill both collections, once a run."""
    largest = bench.options.entries
    rows, _, source = vectors(bench, largest)
    texts = mixed_texts(bench, largest)
    library = bench.library("large")
    shelves = []
    with library.database() as database, database.connection() as connection:
        for entries in sorted({min(SMALL, largest), largest}):
            say(f"  publishing {entries:,} passages …")
            shelves.append(TextShelf.fill(connection, f"passages-{entries}", texts[:entries], rows))
    questions = asked_questions(bench)
    _, asked = encode(questions, bench.folder, precision="float32", query=True)
    as_compared = asked.astype(np.float16).astype(np.float32)
    return LargeLibrary(library, tuple(shelves), rows, questions, as_compared, source)


def asked_questions(bench: Bench) -> list[str]:
    """Return questions of SciFact and Cranfield, which hold common words; else generated sentences."""
    sets = [known for name in ("scifact", "cranfield") if (known := bench.retrieval_sets.get(name))]
    questions = [text.strip() for known in sets for text in list(known.questions.values())[:_QUESTIONS_OF_A_SET]]
    random = Random(7)
    return list(dict.fromkeys(questions or [sentence(random) for _ in range(2 * _QUESTIONS_OF_A_SET)]))


_GENERATED = 3_000
"""Number of generated documents where there are no judged sets."""


def mixed_texts(bench: Bench, count: int) -> list[str]:
    """Return passages of three to seven real sentences: a window of one document and some of another."""
    return list(islice(endless_texts(bench), count))


def endless_texts(bench: Bench) -> Iterator[str]:
    """Yield the passages of `mixed_texts` without end, the same ones each time."""
    random = Random(1)
    documents = [kept for kept in _documents(bench) if len(kept) >= 3]
    while True:
        one, other, length = random.choice(documents), random.choice(documents), random.randint(2, 5)
        start = random.randrange(max(1, len(one) - length))
        sentences = [*one[start : start + length], *(random.choice(other) for _ in range(random.randint(1, 2)))]
        yield " ".join(sentences).replace("\0", " ")


def _documents(bench: Bench) -> Iterator[list[str]]:
    """Yield the sentences of each English document; generated ones where there are no judged sets."""
    english = [
        known for name, known in bench.retrieval_sets.items() if not name.startswith("xquad-") or name == "xquad-en"
    ]
    for known in english:
        for title, text in known.documents.values():
            yield [part for part in re.split(r"(?<=[.!?])\s+", f"{title}. {text}") if len(part) > 10]
    if not english:
        random = Random(2)
        for _ in range(_GENERATED):
            yield [sentence(random) for _ in range(8)]

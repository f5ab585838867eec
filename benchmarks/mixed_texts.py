"""Texts of as many passages as are wanted, out of real sentences: their words are as common and as rare."""

import re
from collections.abc import Iterator
from random import Random

from benchmarks.bench import Bench
from benchmarks.corpus import sentence

_GENERATED = 3_000
"""Documents of generated sentences to take windows of, where there are no judged sets."""


def mixed_texts(bench: Bench, count: int) -> list[str]:
    """Return passages of three to seven real sentences: a window of one document and some of another."""
    random = Random(1)
    documents = [kept for kept in _documents(bench) if len(kept) >= 3]
    texts = []
    for _ in range(count):
        one, other, length = random.choice(documents), random.choice(documents), random.randint(2, 5)
        start = random.randrange(max(1, len(one) - length))
        sentences = [*one[start : start + length], *(random.choice(other) for _ in range(random.randint(1, 2)))]
        texts.append(" ".join(sentences).replace("\0", " "))
    return texts


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

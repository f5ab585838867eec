"""A generated library of Markdown files like a team's notes; equal arguments give equal files."""

import os
from collections.abc import Iterator
from pathlib import Path
from random import Random

from benchmarks.corpora.vocabulary import Vocabulary, vocabulary

BYTES = 2_048
"""Approximate bytes of a file."""
FILES_PER_FOLDER = 100
_MODIFIED = 1_750_000_000
"""Time of change of every file, long before any ingest: a file written just now is read twice."""

_PATTERNS = (
    "The {adjective} {noun} {past} the {noun} of {plural}, and {adverb} {past} every {noun} within the {noun}.",
    "Before {gerund} any {noun}, the {noun} must be {past} by someone who knows the {adjective} {plural}.",
    "When {plural} are {past} {adverb}, the {noun} shows {number} {plural} instead of a single {noun}.",
    "It was {adverb} {past} that {plural} from the {noun} had {past} their {adjective} {noun}.",
    "Since the {noun} of {year}, {gerund} the {plural} takes about {number} minutes for each {noun}.",
    "Nobody {past} why the {adjective} {noun}-{noun} was {past} after the {noun}, for the {plural} were {adjective}.",
    "A {noun} without {plural} is {adverb} {adjective}; its {noun} should be {past} at once.",
    "{Plural} and {plural} were {past} to the {noun} in {year}, where the {noun} still {past} them.",
    "Whoever is {gerund} the {noun} reads the {adjective} {noun} first, then the {plural}, then the {noun}.",
    "The {noun} said that {gerund} {plural} had been {past} for the {noun}, not for the {adjective} {noun}.",
)
_BULLETS = (
    "{Gerund} the {adjective} {noun} before the {plural}",
    "no {noun} without a {past} {noun}",
    "{plural} of the {noun}: {number} at most",
    "the {noun} is {past} {adverb}, never the {noun}",
)
_HEADINGS = ("{Gerund} the {noun}", "The {adjective} {noun}", "{Plural} of the {noun}", "{Adjective} {plural}")


def write_corpus(folder: Path, files: int, *, seed: int = 1, size: int = BYTES) -> list[Path]:
    """Write files `000/00000-a-title.md`, … of about `size` bytes, a hundred to a folder, and return their paths."""
    paths = []
    for number in range(files):
        title, text = document(number, seed=seed, size=size)
        name = f"{number:05}-{'-'.join(title.lower().split())}.md"
        path = folder / f"{number // FILES_PER_FOLDER:03}" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        os.utime(path, (_MODIFIED + number, _MODIFIED + number))
        paths.append(path)
    return paths


def document(number: int, *, seed: int = 1, size: int = BYTES) -> tuple[str, str]:
    """Return title and Markdown of one file."""
    random = Random(f"{seed}/{number}")
    words = vocabulary()
    title = _fill(random.choice(_HEADINGS), random, words)
    parts = [f"# {title}", *(_paragraph(random, words) for _ in range(random.randint(1, 4)))]
    length = sum(map(len, parts))
    for part in _parts(random, words):
        if length >= size * 0.9:
            break
        parts.append(part)
        length += len(part) + 2
    return title, "\n\n".join(parts) + "\n"


def sentence(random: Random) -> str:
    """Return a random sentence."""
    return _fill(random.choice(_PATTERNS), random, vocabulary())


def _parts(random: Random, words: Vocabulary) -> Iterator[str]:
    """Yield sections without end, some with a list, a table or code."""
    while True:
        heading = f"{'##' if random.random() < 0.7 else '###'} {_fill(random.choice(_HEADINGS), random, words)}"
        yield f"{heading}\n\n{_paragraph(random, words)}"
        kind = random.random()
        if kind < 0.3:
            yield "\n".join(f"- {_fill(random.choice(_BULLETS), random, words)}" for _ in range(random.randint(3, 6)))
        elif kind < 0.4:
            yield _table(random, words)
        elif kind < 0.5:
            yield _code(random, words)
        for _ in range(random.randint(2, 6)):
            yield _paragraph(random, words)


def _paragraph(random: Random, words: Vocabulary) -> str:
    return " ".join(_fill(random.choice(_PATTERNS), random, words) for _ in range(random.randint(2, 5)))


def _table(random: Random, words: Vocabulary) -> str:
    rows = [
        f"| {words.nouns.draw(random)} | {random.randint(1, 900)} | {words.adjectives.draw(random)} |"
        for _ in range(random.randint(3, 6))
    ]
    return "\n".join([f"| {words.nouns.draw(random)} | number | state |", "|---|---|---|", *rows])


def _code(random: Random, words: Vocabulary) -> str:
    noun, verb = words.nouns.draw(random), words.gerunds.draw(random)
    return (
        f"```python\ndef {verb}({noun}: int = {random.randint(2, 99)}) -> int:\n"
        f'    """Return the {noun} after {verb}."""\n    return {noun} * {random.randint(2, 9)}\n```'
    )


def _fill(pattern: str, random: Random, words: Vocabulary) -> str:
    """Put a new word into every place of a pattern."""
    lists = {
        "noun": words.nouns,
        "plural": words.plurals,
        "adjective": words.adjectives,
        "adverb": words.adverbs,
        "past": words.past,
        "gerund": words.gerunds,
    }
    pieces: list[str] = []
    for piece in pattern.replace("}", "{").split("{"):
        key = piece.lower()
        if key in lists and len(pieces) % 2:
            word = lists[key].draw(random)
            pieces.append(word.capitalize() if piece[0].isupper() else word)
        elif piece in {"number", "year"}:
            pieces.append(str(random.randint(1950, 2024) if piece == "year" else random.randint(2, 90)))
        else:
            pieces.append(piece)
    return "".join(pieces)

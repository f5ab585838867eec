"""Make damaged files of sound ones, the same ones at every run."""

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.checkout import EXAMPLES, SHARED_DATA
from tests.unit.parsing.drawn_files import drawn_files

FILES = Path(__file__).with_name("files")
FOLDERS = (FILES, EXAMPLES / "library", EXAMPLES / "site", SHARED_DATA / "documents")
PICTURES = (".png", ".jpg", ".tif", ".gif", ".webp", ".bmp", ".avif", ".heic")
_MOST_BYTES = 2_000_000
MOST_FLIPPED = 20
"""Bits that are flipped in one file, each in another letter at most; larger shares are damaged as blocks."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A sound file."""

    name: str
    """Its path below its folder."""
    content: bytes


@dataclass(frozen=True, slots=True)
class Mutation:
    """What became of a sample."""

    number: int
    sample: Sample
    damage: str
    """What was done to it, in words."""
    content: bytes

    def __str__(self) -> str:
        return f"#{self.number} {self.sample.name}, {self.damage}"


def samples() -> list[Sample]:
    """Return the drawn files, those of the examples, and of the shared data where it is there; no recordings."""
    files = ((folder, path) for folder in FOLDERS for path in sorted(folder.rglob("*")) if path.is_file())
    drawn = [Sample(name, content) for name, content in drawn_files().items()]
    return drawn + [
        Sample(path.relative_to(folder).as_posix(), path.read_bytes())
        for folder, path in files
        if path.suffix != ".m4a"
        and path.name != "README.md"
        and not path.name.endswith(".expected.md")
        and path.stat().st_size <= _MOST_BYTES
    ]


def mutations(sound: Sequence[Sample], count: int, *, seed: int = 0) -> Iterator[Mutation]:
    """Damage each sample in turn, each time otherwise, until there are `count`."""
    kinds = tuple(_KINDS.items())
    for number in range(count):
        sample = sound[number % len(sound)]
        chance = random.Random(f"{seed} {number} {sample.name}")
        # Each round over the samples goes on by one kind of damage.
        name, damage = kinds[(number % len(sound) + number // len(sound)) % len(kinds)]
        content = damage(sample.content, chance)
        if content == sample.content:
            content = content[: len(content) // 2]
            name = "cut in half"
        yield Mutation(number, sample, name, content)


def _truncate(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def _flip(content: bytes, chance: random.Random, *, count: int) -> bytes:
    damaged = bytearray(content)
    for _ in range(count):
        damaged[chance.randrange(len(damaged))] ^= 1 << chance.randrange(8)
    return bytes(damaged)


def _flip_one(content: bytes, chance: random.Random) -> bytes:
    return _flip(content, chance, count=1)


def _flip_some(content: bytes, chance: random.Random) -> bytes:
    return _flip(content, chance, count=MOST_FLIPPED)


def _flip_many(content: bytes, chance: random.Random) -> bytes:
    return _flip(content, chance, count=max(1, len(content) // 100))


def _swap(content: bytes, chance: random.Random) -> bytes:
    size = min(4096, len(content) // 4)
    first, second = sorted(chance.randrange(len(content) - size) for _ in range(2))
    if first + size > second:
        return content[size:] + content[:size]
    middle = content[first + size : second]
    return (
        content[:first]
        + content[second : second + size]
        + middle
        + content[first : first + size]
        + content[second + size :]
    )


def _zero(content: bytes, chance: random.Random) -> bytes:
    start, size = _stretch(content, chance)
    return content[:start] + bytes(size) + content[start + size :]


def _duplicate(content: bytes, chance: random.Random) -> bytes:
    start, size = _stretch(content, chance)
    return content[: start + size] + content[start:]


def _remove(content: bytes, chance: random.Random) -> bytes:
    start, size = _stretch(content, chance)
    return content[:start] + content[start + size :]


def _stretch(content: bytes, chance: random.Random) -> tuple[int, int]:
    size = min(len(content), chance.choice((16, 256, 4096, 65_536)))
    return chance.randrange(len(content) - size + 1), size


_KINDS: dict[str, Callable[[bytes, random.Random], bytes]] = {
    "cut off": _truncate,
    "one bit flipped": _flip_one,
    "blocks swapped": _swap,
    "20 bits flipped": _flip_some,
    "zeros written over": _zero,
    "a part doubled": _duplicate,
    "1 % of bytes changed": _flip_many,
    "a part missing": _remove,
}

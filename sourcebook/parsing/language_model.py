"""The language identifier py3langid with a copy of its model that needs no decompression.

Decompressing the model takes 0.4 s of processor time in each new parser's process, more than everything else that a
small document needs. The first process stores the arrays in the user's cache folder, where every process reads them.
Without a writable cache folder, every process decompresses them.

A text needs a few hundred rows of the weights, 232 bytes each, and of the automaton's moves, 1 kB each, all over their
files. They are read one by one: mapped, the files are 22 and 25 MB of each process before long, because the system maps
the surroundings of what is read.
"""

import os
import shutil
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import lru_cache
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import numpy as np
from numpy.typing import NDArray
from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped] # has no stubs

_ARRAYS = ("nb_ptc", "nb_pc", "nb_classes", "tk_nextmove", "tk_output", "tk_row")
"""Arrays of the model by their names in the identifier."""


_KEPT_ROWS = 8_192
"""Rows of the weights that stay in memory, 2 MB; texts of one language share most of theirs."""
_KEPT_MOVES = 4_096
"""States whose moves stay in memory, 5 MB."""
_BYTES = 256
"""Moves of a state, one for each byte."""


class Identifier(Protocol):
    """An identifier of languages."""

    def classify(self, text: str) -> tuple[str, float]:
        """Return the two-letter code of a text's language and its probability, 0..1."""


class _Rows:
    """Rows of a two-dimensional array in a file, read as they are asked for; stands for the array in the identifier.

    Args:
        path: a .npy file.
        array: the array in that file, mapped.
    """

    def __init__(self, path: Path, array: "np.memmap[tuple[int, ...], np.dtype[np.float16]]") -> None:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, file)
        self._type = array.dtype
        self._columns = array.shape[1]
        start, size = array.offset, array.dtype.itemsize * self._columns
        self._row = lru_cache(_KEPT_ROWS)(lambda number: os.pread(file, size, start + size * number))

    def __getitem__(self, numbers: NDArray[np.intp]) -> NDArray[np.float16]:
        read = b"".join(map(self._row, numbers.tolist()))
        return np.frombuffer(read, self._type).reshape(-1, self._columns)


class _Moves:
    """Moves of the automaton in a file, read state by state; stands for the flat array in the identifier.

    `visits` walks over it in place of the identifier's own function, which asks for each move by itself.

    Args:
        path: a .npy file.
        array: the array in that file, mapped, with 256 moves in a row for each state.
    """

    def __init__(self, path: Path, array: "np.memmap[tuple[int, ...], np.dtype[np.unsignedinteger[Any]]]") -> None:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        weakref.finalize(self, os.close, file)
        kind = cast('Literal["I"]', array.dtype.char)  # of whatever size
        start, size = array.offset, array.dtype.itemsize * _BYTES
        self._kept: dict[int, memoryview[int]] = {}
        self._read: Callable[[int], memoryview[int]] = lambda row: memoryview(
            os.pread(file, size, start + size * row)
        ).cast(kind)

    def visits(self, rows: Sequence[int], features: Sequence[int], text: bytes) -> Counter[int] | None:
        """Return how often the walk over a text meets each feature; None without any.

        Args:
            rows: row of the moves of each state.
            features: feature that each state stands for; negative where it is none.
            text: UTF-8.
        """
        kept, state, met = self._kept, 0, []
        for letter in text:
            row = rows[state]
            moves = kept.get(row)
            if moves is None:
                if len(kept) >= _KEPT_MOVES:
                    kept.clear()
                moves = kept[row] = self._read(row)
            state = moves[letter]
            feature = features[state]
            if feature >= 0:
                met.append(feature)
        return Counter(met) if met else None


class _Identifier(LanguageIdentifier):  # type: ignore[misc] # it has no types
    """The identifier over `_Rows` and `_Moves`."""

    def _raw_score(self, text: bytes) -> NDArray[np.float32]:
        visits = self.tk_nextmove.visits(self.tk_row, self.tk_output, text)
        if visits is None:
            return np.zeros(len(self.nb_classes), dtype=np.float32)
        score: NDArray[np.float32] = self._sparse_score(visits, self.nb_ptc)
        return score


def load_identifier() -> Identifier:
    """Return py3langid's identifier over the languages with a two-letter code."""
    copy = _copy_path()
    identifier = _from_copy(copy)
    if identifier is None:
        identifier = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
        identifier.set_languages([code for code in identifier.labels if len(code) == 2])
        with suppress(OSError):
            _store(identifier, copy)
    return cast(Identifier, identifier)


def _copy_path() -> Path:
    """Return the folder of the copy; each release of py3langid has its own."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - Path fails without HOME
    return Path(cache) / "sourcebook" / f"py3langid-{version('py3langid')}"


def _from_copy(folder: Path) -> LanguageIdentifier | None:
    """Return the identifier over the files; None where there is no copy, a damaged one, or one without whole rows."""
    try:
        model = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in _ARRAYS}
        if not model["nb_ptc"].flags.c_contiguous:  # as copies were stored until November 2026
            return None
        weights = _Rows(folder / "nb_ptc.npy", model["nb_ptc"])
        moves = _Moves(folder / "tk_nextmove.npy", model["tk_nextmove"])
    except (OSError, ValueError, EOFError):
        return None
    # A memoryview gives Python's numbers as fast as a list, which takes ten times the memory.
    return _Identifier(
        weights,
        model["nb_pc"],
        model["nb_classes"].tolist(),
        moves,
        memoryview(model["tk_output"].astype(np.int32)),
        norm_probs=True,
        tk_row=memoryview(model["tk_row"]),
    )


def _store(identifier: LanguageIdentifier, folder: Path) -> None:
    """Write the copy whole or not at all.

    Raises:
        OSError: there is no room, or the folder is not writable.
    """
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=f"{folder.name}-", dir=folder.parent))
    try:
        for name in _ARRAYS:
            np.save(unfinished / f"{name}.npy", np.ascontiguousarray(getattr(identifier, name)), allow_pickle=False)
        shutil.rmtree(folder, ignore_errors=True)  # one that cannot be used
        unfinished.rename(folder)  # fails where another process was faster
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)

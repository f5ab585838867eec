"""Files of safetensors, read and written piece by piece: a table of 250,000 words takes 0.4 GB of memory as a whole."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from sourcebook.errors import ModelError
from sourcebook.model.closing import Closing

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NUMBERS_AT_ONCE: Final = 1_048_576
_LENGTH: Final = 8
"""Bytes of the number at the start of a file: the length of its header, which is a multiple of it."""
_KIND: Final = "F32"


@dataclass(frozen=True, slots=True)
class NewTensor:
    """A tensor to write: its shape, and its numbers in rows of any length."""

    shape: tuple[int, ...]
    pieces: Iterable[NDArray[np.float32]]


def write_tensors(file: Path, tensors: Mapping[str, NewTensor]) -> None:
    """Write a file of tensors in float32, with the bytes that the package safetensors would write.

    Args:
        file: the file.
        tensors: the tensors by name.

    Raises:
        OSError: the file cannot be written.
    """
    header: dict[str, Any] = {"__metadata__": {"format": "pt"}}
    end = 0
    for name in sorted(tensors):
        begin, end = end, end + 4 * prod(tensors[name].shape)
        header[name] = {"dtype": _KIND, "shape": list(tensors[name].shape), "data_offsets": [begin, end]}
    described = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    described += b" " * (-len(described) % _LENGTH)
    with file.open("wb") as stream:
        stream.write(len(described).to_bytes(_LENGTH, "little") + described)
        for name in sorted(tensors):
            for piece in tensors[name].pieces:
                stream.write(piece.astype("<f4", copy=False).data)


class TensorFile(Closing):
    """A file of tensors in float32, opened for reading.

    Args:
        file: the file.

    Raises:
        ModelError: the file has tensors of another type.
        OSError: the file cannot be read.
    """

    def __init__(self, file: Path) -> None:
        self._stream = file.open("rb")
        length = int.from_bytes(self._stream.read(_LENGTH), "little")
        self._tensors: dict[str, Any] = json.loads(self._stream.read(length))
        self._begin = _LENGTH + length
        self._file = file

    def shape(self, name: str) -> tuple[int, ...]:
        """Return the shape of a tensor."""
        tensor = self._tensors.get(name, {})
        if tensor.get("dtype") != _KIND:
            raise ModelError(f"The weights in {self._file} have no tensor {name} of {_KIND}.")
        return tuple(tensor["shape"])

    def pieces(self, name: str) -> Iterator[NDArray[np.float32]]:
        """Yield the numbers of a tensor in rows."""
        import numpy as np

        left = prod(self.shape(name))
        self._stream.seek(self._begin + self._tensors[name]["data_offsets"][0])
        while left:
            number = min(left, _NUMBERS_AT_ONCE)
            yield np.frombuffer(self._stream.read(4 * number), "<f4", number)
            left -= number

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

"""Checks of a model's folder before it is loaded: weights of safetensors alone, and every file whole."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sourcebook.errors import ModelError

_PICKLED: Final = ("*.bin", "*.pt", "*.pth", "*.ckpt", "*.pkl")
_NO_WEIGHTS: Final = frozenset({"training_args.bin", "optimizer.pt", "scheduler.pt", "scaler.pt", "rng_state.pth"})
"""Pickled files that training leaves, which nobody loads."""
_UNFINISHED: Final = ("*.incomplete", "*.part", "*.partial", "*.crdownload", "*.download", "*.aria2")
_SHARD: Final = re.compile(r"(.*-)\d{5}-of-(\d{5})\.safetensors", re.ASCII)
_MOST_SHARDS: Final = 1_000
"""Files that a name may speak of, as the number in it is anybody's."""
_INDEX: Final = "*.safetensors.index.json"
_HEADER_LENGTH: Final = 8
"""Bytes of the number at the start of a safetensors file: the length of its header."""
_POINTER: Final = b"version https://git-lfs"
_CONVERT: Final = (
    "which can run any program when they are loaded: only safetensors are read. Save the model again with a current "
    "sentence-transformers, which writes them, or take a folder that has them"
)
_AGAIN: Final = "download the model again"


def check_folder(folder: Path, modules: list[Path]) -> None:
    """Check a model's folder.

    Args:
        folder: the model's folder.
        modules: the folder and those of its modules.

    Raises:
        ModelError: there are no weights, or pickled ones, or a file is not whole.
        OSError: the folder cannot be read.
    """
    found = False
    for module in modules:
        weights = sorted(module.glob("*.safetensors"))
        for file in (path for pattern in _UNFINISHED for path in module.glob(pattern)):
            raise ModelError(f"The model's folder {folder} is half downloaded: it has {file.name}; {_AGAIN}.")
        for missing in _missing_shards(module):
            raise ModelError(f"The model's folder {folder} is half downloaded: it lacks {missing}; {_AGAIN}.")
        for file in weights:
            check_whole(file)
        pickled = sorted(path.name for pattern in _PICKLED for path in module.glob(pattern))
        if not weights and (names := [name for name in pickled if name not in _NO_WEIGHTS]):
            place = f"{module.relative_to(folder).as_posix()}/{names[0]}" if module != folder else names[0]
            raise ModelError(f"The model's folder {folder} has pickled weights ({place}), {_CONVERT}.")
        found = found or bool(weights)
    if not found:
        raise ModelError(
            f"The folder {folder} holds no weights (*.safetensors): give the folder of a complete "
            "sentence-transformers model. Pickled weights (*.bin) are not read."
        )


def _missing_shards(module: Path) -> Iterator[str]:
    """Yield the files of weights that an index names, or the names of others, and that are not there."""
    for index in module.glob(_INDEX):
        try:
            names = sorted(set(json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()))
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError):
            raise ModelError(f"The model's file {index} is damaged: {_AGAIN}.") from None
        yield from (name for name in names if not (module / str(name)).is_file())
    names = sorted(path.name for path in module.glob("*.safetensors"))
    for stem, parts in sorted({(found[1], found[2]) for found in map(_SHARD.fullmatch, names) if found}):
        every = (f"{stem}{number:05}-of-{parts}.safetensors" for number in range(1, min(int(parts), _MOST_SHARDS) + 1))
        yield from (name for name in every if not (module / name).is_file())


def check_whole(file: Path) -> None:
    """Compare the size of a safetensors file with the end of its last tensor, by its header.

    Args:
        file: the file.

    Raises:
        ModelError: it is not whole.
        OSError: it cannot be read.
    """
    size = file.stat().st_size
    with file.open("rb") as stream:
        length = int.from_bytes(start := stream.read(_HEADER_LENGTH), "little")
        rest = b"" if length > size else stream.read(length)
    if _POINTER.startswith(start) and start:
        raise ModelError(f"The model's file {file} is a pointer of Git LFS, not the weights: run  git lfs pull  there.")
    try:
        header = json.loads(rest)
        ends = [tensor["data_offsets"][1] for name, tensor in header.items() if name != "__metadata__"]
        whole = _HEADER_LENGTH + length + max(ends, default=0)
    except (ValueError, KeyError, AttributeError, TypeError, IndexError, RecursionError):
        whole = -1
    if size != whole:
        told = f" ({size:,} of {whole:,} bytes)" if whole > size else ""
        raise ModelError(f"The model's file {file} is half downloaded or damaged{told}: {_AGAIN}.")

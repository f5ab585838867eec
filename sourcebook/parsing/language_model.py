"""The language identifier py3langid with a copy of its model that needs no decompression.

Decompressing the model takes 0.4 s of processor time in each new parser's process, more than everything else that a
small document needs. The first process stores the arrays in the user's cache folder, where every process maps them into
its memory. Without a writable cache folder, every process decompresses them.
"""

import os
import shutil
import tempfile
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Protocol, cast

import numpy as np
from py3langid.langid import MODEL_FILE, LanguageIdentifier  # type: ignore[import-untyped] # has no stubs

_ARRAYS = ("nb_ptc", "nb_pc", "nb_classes", "tk_nextmove", "tk_output", "tk_row")
"""Arrays of the model by their names in the identifier."""


class Identifier(Protocol):
    """An identifier of languages."""

    def classify(self, text: str) -> tuple[str, float]:
        """Return the two-letter code of a text's language and its probability, 0..1."""


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
    """Return the identifier over the mapped files; None where there is no copy, or a damaged one."""
    try:
        model = {name: np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False) for name in _ARRAYS}
    except (OSError, ValueError, EOFError):
        return None
    return LanguageIdentifier(
        model["nb_ptc"],
        model["nb_pc"],
        model["nb_classes"].tolist(),
        memoryview(model["tk_nextmove"]),
        model["tk_output"].tolist(),
        norm_probs=True,
        tk_row=model["tk_row"].tolist(),
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
            np.save(unfinished / f"{name}.npy", np.asarray(getattr(identifier, name)), allow_pickle=False)
        shutil.rmtree(folder, ignore_errors=True)  # a damaged one
        unfinished.rename(folder)  # fails where another process was faster
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)

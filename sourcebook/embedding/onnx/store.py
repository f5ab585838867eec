"""Where exported models lie: `SOURCEBOOK_HOME/models/<model>-<digest>/`.

The folder holds `export.json` (or `refused.json`), which is replaced in one step and names the folder beside it with
the export's files, and `lock`, which whoever exports holds.
"""

import fcntl
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from pydantic import BaseModel

from sourcebook.embedding.onnx.files import is_as_written
from sourcebook.embedding.onnx.record import ExportRecord, RefusalRecord
from sourcebook.embedding.onnx.versions import versions

_EXPORT: Final = "export.json"
_REFUSAL: Final = "refused.json"
_LOCK: Final = "lock"
_ODD_CHARACTERS: Final = re.compile(r"[^\w.-]+")


@dataclass(frozen=True)
class Export:
    """An exported model whose files are there and are the ones that were written."""

    folder: Path
    record: ExportRecord


def model_folder(home: Path, identity: str) -> Path:
    """Return the folder of a model's export: `all-MiniLM-L6-v2-53aa51172d14` for its identity."""
    name, _, digest = identity.rpartition(":")
    return home / "models" / f"{_ODD_CHARACTERS.sub('_', name)[:100]}-{digest}"


def find_export(home: Path, identity: str) -> Export | str:
    """Find a model's export without reading its weights.

    Files of the recorded size and time of change are taken to be the ones that were written: nobody else writes into
    the folder, and reading 90 MB at each start would cost more than loading them. Where a time differs, as after a
    copy or a restored backup, the whole file is read: with the recorded SHA-256 it gets its recorded time back.

    Args:
        home: the state folder.
        identity: of the model; see `EmbeddingModel`.

    Returns:
        The export, or a sentence that says why there is none.
    """
    folder = model_folder(home, identity)
    try:
        record = ExportRecord.model_validate_json((folder / _EXPORT).read_bytes())
    except FileNotFoundError:
        refusal = read_refusal(folder)
        if refusal is None:
            return f"the model has not been exported to ONNX in {home / 'models'} yet: the next ingest does it"
        return f"the model cannot be exported to ONNX: {refusal.reason}"
    except (OSError, ValueError) as error:
        return f"the exported model's file {folder / _EXPORT} cannot be read ({_first_line(error)}): ingest again"
    if record.identity != identity:
        return f"the exported model in {folder} is {record.identity}: ingest again"
    for name, file in record.files.items():
        path = folder / record.folder / name
        if not is_as_written(path, file):
            return f"the exported model's file {path} is damaged or missing: the next ingest exports it again"
    return Export(folder / record.folder, record)


def read_refusal(folder: Path) -> RefusalRecord | None:
    """Read why a model is not exported; None where it never was refused."""
    try:
        return RefusalRecord.model_validate_json((folder / _REFUSAL).read_bytes())
    except (OSError, ValueError):
        return None


def is_export_due(home: Path, identity: str, settings_sha256: str) -> bool:
    """Is there neither an export made from these settings nor a refusal that still holds?"""
    found = find_export(home, identity)
    if isinstance(found, Export):
        return found.record.settings_sha256 != settings_sha256
    refusal = read_refusal(model_folder(home, identity))
    return refusal is None or (refusal.settings_sha256, refusal.versions) != (settings_sha256, versions())


@contextmanager
def exclusively(home: Path, identity: str) -> Iterator[Path]:
    """Hold the model's folder alone among all processes and threads; what a killed one left in it is cleared.

    Yields:
        The folder.

    Raises:
        OSError: it cannot be made or written.
    """
    folder = model_folder(home, identity)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the system lets go of it when the process ends, however it ends
        clear_leftovers(folder)
        yield folder


def clear_leftovers(folder: Path) -> None:
    """Remove everything that the records do not name; only for who holds the folder alone."""
    kept = {_EXPORT, _REFUSAL, _LOCK}
    with suppress(OSError, ValueError):
        kept.add(ExportRecord.model_validate_json((folder / _EXPORT).read_bytes()).folder)
        kept.discard(_REFUSAL)
    for path in folder.iterdir():
        if path.name in kept:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()


def keep_record(folder: Path, record: ExportRecord | RefusalRecord) -> None:
    """Make an export or a refusal the one that counts, in one step."""
    if isinstance(record, ExportRecord):
        _replace(folder / _EXPORT, record)
        (folder / _REFUSAL).unlink(missing_ok=True)
    else:
        (folder / _EXPORT).unlink(missing_ok=True)
        _replace(folder / _REFUSAL, record)
    clear_leftovers(folder)


def _replace(path: Path, record: BaseModel) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=path.stem, dir=path.parent)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(record.model_dump_json(indent=1).encode())
    Path(temporary).chmod(0o644)
    Path(temporary).replace(path)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)

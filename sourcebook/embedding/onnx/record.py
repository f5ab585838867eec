"""The record beside an exported model: embedding with the export needs neither the model's own folder nor torch.

The folder `SOURCEBOOK_HOME/models/<model>-<digest>/` holds `export.json`, which is replaced in one step and names the
folder of the export's files beside it; `refused.json` instead, for a model that cannot be exported; and `lock`, which
the exporting process holds.
"""

import fcntl
import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

EXPORT: Final = "export.json"
REFUSAL: Final = "refused.json"
GRAPH: Final = "model.onnx"
WEIGHTS: Final = "model.onnx.data"
TOKENIZER: Final = "tokenizer.json"
FORMAT: Final = 2
"""Format of the files; an export of another format is replaced."""
_LOCK: Final = "lock"
_ODD_CHARACTERS: Final = re.compile(r"[^\w.-]+")
_SETTINGS: Final = ("*.json", "*.txt", "*.model", "*.jinja")
"""Files of a model's folder that an export depends on, beside the weights."""
_MADE_WITH: Final = ("onnx", "onnxruntime", "sentence-transformers", "tokenizers", "torch", "transformers")
"""Packages that an export depends on."""


class ExportedFile(BaseModel):
    """One file of an export: size in bytes, time of change in nanoseconds, and hexadecimal SHA-256."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int
    modified: int
    sha256: str


class TokenSettings(BaseModel):
    """Truncation and padding of texts, as in sentence-transformers; `max_tokens` counts special tokens, too."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_tokens: int
    truncation_side: Literal["left", "right"]
    padding_side: Literal["left", "right"]
    padding_id: int
    padding_type_id: int


class ExportRecord(BaseModel):
    """An exported model, its source, and its distance from it.

    Attributes:
        identity: Identity of the model; see `EmbeddingModel`.
        name: Name that the model was configured by.
        dimensions: Length of a vector.
        weights: Number of the model's parameters.
        tokens: Truncation and padding.
        query_prompt: Text before a question; empty for most models.
        passage_prompt: Text before a passage; empty for most models.
        inputs: Inputs of the graph: `input_ids`, `attention_mask`, `token_type_ids`, or some of them.
        config_hash: Hash of the settings and packages that the export was made with; another one makes it stale.
        worst_difference: Largest difference of any number of a vector from sentence-transformers in float32; None where
            the graph was written without torch.
        probe: A question, and its vector at the time of the export.
        folder: Name of the folder with the files.
        files: Files by name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[2] = FORMAT
    identity: str
    name: str
    dimensions: int
    weights: int
    tokens: TokenSettings
    query_prompt: str
    passage_prompt: str
    inputs: tuple[str, ...]
    config_hash: str
    worst_difference: float | None = 0.0
    probe: tuple[str, tuple[float, ...]] = ("", ())
    folder: str
    files: dict[str, ExportedFile] = Field(default_factory=dict)

    @model_validator(mode="before")
    @classmethod
    def _from_format_1(cls, record: Any) -> Any:
        """Convert a record of format 1: searches use its export until the next ingest with new texts replaces it."""
        if not isinstance(record, dict) or record.get("format") != 1:
            return record
        known = {name: value for name, value in record.items() if name in cls.model_fields}
        return {**known, "format": FORMAT, "config_hash": record.get("settings_sha256")}


class Refusal(BaseModel):
    """A model that cannot be exported: the reason, and the settings and packages with which it was tried."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    reason: str
    config_hash: str


@dataclass(frozen=True)
class Export:
    """An exported model whose files exist and are the recorded ones."""

    folder: Path
    record: ExportRecord


def model_folder(home: Path, identity: str) -> Path:
    """Return the folder of a model's export: `all-MiniLM-L6-v2-53aa51172d14` for its identity."""
    name, _, digest = identity.rpartition(":")
    return home / "models" / f"{_ODD_CHARACTERS.sub('_', name)[:100]}-{digest}"


def config_hash(folder: Path) -> str:
    """Hash what an export depends on beside the weights: settings, prompts, vocabulary, and package versions.

    Args:
        folder: the model's folder; the folders of its modules are included.

    Returns:
        Hexadecimal SHA-256.

    Raises:
        OSError: a file cannot be read.
    """
    folders = (folder, *(path for path in folder.iterdir() if path.is_dir()))
    files = sorted(file for each in folders for pattern in _SETTINGS for file in each.glob(pattern) if file.is_file())
    lines = [f"{file_sha256(file)}  {file.relative_to(folder).as_posix()}" for file in files]
    for package in _MADE_WITH:
        with suppress(PackageNotFoundError):
            lines.append(f"{package}=={version(package)}")
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogateescape")).hexdigest()


def file_sha256(path: Path) -> str:
    """Return the hexadecimal SHA-256 of a file's content."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def described_files(folder: Path) -> dict[str, ExportedFile]:
    """Return the size, the time of change and the SHA-256 of each file in a folder, by name."""
    return {path.name: _described(path) for path in sorted(folder.iterdir())}


def _described(path: Path) -> ExportedFile:
    status = path.stat()
    return ExportedFile(size=status.st_size, modified=status.st_mtime_ns, sha256=file_sha256(path))


def read_refusal(folder: Path) -> Refusal | None:
    """Return why a model is not exported; None if it never was refused."""
    try:
        return Refusal.model_validate_json((folder / REFUSAL).read_bytes())
    except (OSError, ValueError):
        return None


@contextmanager
def exclusively(home: Path, identity: str) -> Iterator[Path]:
    """Hold a model's folder alone among all processes and threads, and clear the files of a killed process.

    Yields:
        The folder.

    Raises:
        OSError: the folder cannot be created or written.
    """
    folder = model_folder(home, identity)
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _LOCK).open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # the system releases it when the process ends, however it ends
        _clear(folder)
        yield folder


def write_record(folder: Path, record: ExportRecord | Refusal) -> None:
    """Make an export or a refusal the valid one, in one step, and clear the files of the former one."""
    name, other = (EXPORT, REFUSAL) if isinstance(record, ExportRecord) else (REFUSAL, EXPORT)
    descriptor, temporary = tempfile.mkstemp(prefix=name, dir=folder)
    with os.fdopen(descriptor, "wb") as stream:
        stream.write(record.model_dump_json(indent=1).encode())
    Path(temporary).chmod(0o644)
    Path(temporary).replace(folder / name)
    (folder / other).unlink(missing_ok=True)
    _clear(folder)


def _clear(folder: Path) -> None:
    """Remove everything that the records do not name; only for the process that holds the folder."""
    kept = {EXPORT, REFUSAL, _LOCK}
    with suppress(OSError, ValueError):
        kept.add(ExportRecord.model_validate_json((folder / EXPORT).read_bytes()).folder)
    for path in folder.iterdir():
        if path.name in kept:
            continue
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()

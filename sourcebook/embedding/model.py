"""The embedding model: its name, its folder, and the identity that its vectors are stored under."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from sourcebook.embedding.description import Description, describe
from sourcebook.embedding.hub import find_snapshot
from sourcebook.embedding.weights import (
    BUNDLED_DIMENSIONS,
    BUNDLED_MAX_TOKENS,
    BUNDLED_NAME,
    BUNDLED_REMEDY,
    BUNDLED_SHA256,
    MULTILINGUAL_DIMENSIONS,
    MULTILINGUAL_MAX_TOKENS,
    MULTILINGUAL_NAME,
    MULTILINGUAL_SHA256,
    bundled_folder,
    weights_sha256,
)
from sourcebook.errors import ModelError

_DIGEST_LENGTH: Final = 12
_BUNDLED_IDENTITY: Final = f"{BUNDLED_NAME}:{BUNDLED_SHA256[:_DIGEST_LENGTH]}"
_MULTILINGUAL_IDENTITY: Final = f"{MULTILINGUAL_NAME}:{MULTILINGUAL_SHA256[:_DIGEST_LENGTH]}"
_MULTILINGUAL_ON_THE_HUB: Final = f"intfloat/{MULTILINGUAL_NAME}"


@dataclass(frozen=True)
class EmbeddingModel:
    """An embedding model that has been found, but not loaded.

    Attributes:
        name: Name in the configuration, for example `all-MiniLM-L6-v2` or `BAAI/bge-small-en-v1.5`.
        folder: Folder with its files; None if they are not on this machine.
        identity: `<short name>:<first 12 hexadecimal digits of the weights' SHA-256>`; vectors of one identity
            may be compared.
        dimensions: The length of a vector.
        max_tokens: Length of the longest text in tokens; longer texts are truncated.
    """

    name: str
    folder: Path | None
    identity: str
    dimensions: int
    max_tokens: int

    @property
    def is_in_the_box(self) -> bool:
        """Whether its weights are those of a package that this project names."""
        return self.identity in {_BUNDLED_IDENTITY, _MULTILINGUAL_IDENTITY}


def find_model(name: str) -> EmbeddingModel:
    """Find an embedding model by name, without importing torch if its files describe it.

    Args:
        name: `all-MiniLM-L6-v2` or `multilingual-e5-small` (the weights of their packages), the path of a
            sentence-transformers folder, or a name on the Hugging Face hub (the local cache first, then a download
            unless offline).

    Returns:
        The model. The weights of packages are not read here: `verify` does that where they are loaded. Those of
        `multilingual-e5-small` are unpacked at the first use, which takes seconds.

    Raises:
        ModelError: no such model was found; says what was tried and what to do.
    """
    if name.removeprefix("sentence-transformers/") == BUNDLED_NAME and (bundled := bundled_folder()) is not None:
        return EmbeddingModel(BUNDLED_NAME, bundled, _BUNDLED_IDENTITY, BUNDLED_DIMENSIONS, BUNDLED_MAX_TOKENS)
    if name == MULTILINGUAL_NAME and not Path(name).is_dir():
        return _find_multilingual()
    folder = Path(name).expanduser()
    if folder.is_dir():
        folder = folder.resolve()
        short_name = folder.name
    elif _is_path(name):
        raise ModelError(
            f"The embedding model {name!r} was not found: there is no folder {folder.absolute()}. Correct the path, "
            f"or use {BUNDLED_NAME!r}, which needs no download."
        )
    else:
        folder = find_snapshot(name)
        short_name = name.rpartition("/")[2]
    return _in_folder(name, folder, short_name)


def _find_multilingual() -> EmbeddingModel:
    """Return the weights of the package, or else the original ones from the hub, which are another model."""
    from sourcebook.embedding import multilingual_e5  # imports what unpacks it

    packed = multilingual_e5.packed_file()
    if packed is None:
        try:
            folder = find_snapshot(_MULTILINGUAL_ON_THE_HUB)
        except ModelError as error:
            raise ModelError(f"{error} {multilingual_e5.missing_package()}") from error
        return _in_folder(MULTILINGUAL_NAME, folder, MULTILINGUAL_NAME)
    folder = multilingual_e5.unpacked_folder(packed)
    return EmbeddingModel(
        MULTILINGUAL_NAME, folder, _MULTILINGUAL_IDENTITY, MULTILINGUAL_DIMENSIONS, MULTILINGUAL_MAX_TOKENS
    )


def _in_folder(name: str, folder: Path, short_name: str) -> EmbeddingModel:
    digest = weights_sha256(folder)
    description = describe(folder) or _describe_by_loading(name, folder)
    identity = f"{short_name}:{digest[:_DIGEST_LENGTH]}"
    return EmbeddingModel(name, folder, identity, description.dimensions, description.max_tokens)


def verify(model: EmbeddingModel, expected: str | None = None) -> Path:
    """Check that the weights on disk are the ones the model's identity names; reads them whole.

    Args:
        model: the model whose weights are about to be loaded.
        expected: the hexadecimal SHA-256 (or its beginning) they must have; by default the published digest for the
            bundled model, and the one in its identity for any other.

    Returns:
        The verified folder.

    Raises:
        ModelError: there are no weights, or they are others.
    """
    if model.folder is None:
        raise ModelError(f"The embedding model {model.name!r} has no folder on this machine to load it from.")
    bundled = model.identity == _BUNDLED_IDENTITY
    if expected is None:
        expected = BUNDLED_SHA256 if bundled else model.identity.rpartition(":")[2]
    found = weights_sha256(model.folder)
    if not found.startswith(expected):
        remedy = BUNDLED_REMEDY if bundled else "restore them, or start again so that they get an identity of their own"
        if model.identity == _MULTILINGUAL_IDENTITY:
            remedy = f"delete the folder {model.folder}, which is written again from its package"
        raise ModelError(
            f"The weights of the embedding model {model.name!r} in {model.folder} are damaged or have been changed: "
            f"their sha256 is {found}, not {expected}; {remedy}."
        )
    return model.folder


def _is_path(name: str) -> bool:
    return name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name


def _describe_by_loading(name: str, folder: Path) -> Description:
    from sourcebook.embedding.loading import describe_loaded, load_folder

    return describe_loaded(load_folder(name, folder, "float32"))

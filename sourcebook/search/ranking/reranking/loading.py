"""Loading of a cross encoder. Importing torch and its dependencies takes seconds: import this module late."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.embedding.hub import check_loaded, hub_silence
from sourcebook.embedding.loading import first_line, quiet
from sourcebook.embedding.weights import check_weights
from sourcebook.errors import ModelError
from sourcebook.installation import install_command
from sourcebook.model.device import DeviceName

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder

_REMEDY = "Give the folder of a CrossEncoder of sentence-transformers, or its name on the Hugging Face hub."


def load_cross_encoder(name: str, max_length: int | None, device: DeviceName = "cpu") -> CrossEncoder:
    """Load a model by its folder or its name: from the Hugging Face cache, else by a download unless offline.

    Args:
        name: as `Reranking.model`.
        max_length: tokens of a pair, at most; the model's own limit where None.
        device: device that computes.

    Raises:
        ModelError: sentence-transformers is not installed, the model cannot be found or loaded, or it does not
            give a pair one score.
    """
    try:
        from sentence_transformers import CrossEncoder
    except ImportError as error:
        raise ModelError(
            f"The reranking model {name!r} needs sentence-transformers and torch, which cannot be imported ({error}): "
            f"install them with  {install_command('pipeline')}"
        ) from error
    folder = Path(name).expanduser()
    if not folder.is_dir() and (name.startswith((".", "/", "~")) or name.count("/") > 1 or "\\" in name):
        raise ModelError(
            f"The reranking model {name!r} was not found: there is no folder {folder.absolute()}. {_REMEDY}"
        )
    is_local = folder.is_dir()
    load = partial(
        CrossEncoder,
        str(folder) if is_local else name,
        max_length=max_length,
        device=device,
        model_kwargs={"use_safetensors": True},  # pickled weights can run any program
    )
    try:
        if is_local:
            check_weights(folder)
        with quiet():
            try:
                model: CrossEncoder = load(local_files_only=True)
            except OSError:
                if is_local or _is_offline():
                    raise
                model = load()
        if is_local and _fault(model) is None:
            check_loaded(model, folder)
    except Exception as error:
        raise ModelError(
            f"The reranking model {name!r} cannot be found or loaded: {first_line(error)} {_REMEDY}"
        ) from error
    if (fault := _fault(model)) is not None:
        raise ModelError(f"The model {name!r} {fault} {_REMEDY}")
    return model


def _fault(model: CrossEncoder) -> str | None:
    """Return why a model cannot score pairs; None where it can.

    Where the scoring layer is not among its weights, it would consist of random numbers.
    """
    architecture = next(iter(getattr(model.config, "architectures", None) or ()), "")
    if len(model) == 1 and architecture and not architecture.endswith("ForSequenceClassification"):
        return f"({architecture}) is no cross encoder: it cannot score a pair."
    if model.num_labels != 1:
        return (
            f"gives a pair {model.num_labels} scores, one for each of its classes; reranking needs "
            "one that gives a single score."
        )
    return None


def _is_offline() -> bool:
    from huggingface_hub import constants

    return bool(constants.HF_HUB_OFFLINE) or hub_silence(constants.ENDPOINT) is not None

"""Open the embedder of a generation's questions, a provider's or a local one, or of its passages.

A local one needs no torch where its model has been exported.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sourcebook.errors import ModelError

if TYPE_CHECKING:
    from sourcebook.config.passages import EmbeddingSettings
    from sourcebook.embedding.embedder import QueryEmbedder, SentenceTransformerEmbedder
    from sourcebook.embedding.engine import Engine, PrecisionSetting
    from sourcebook.embedding.model import EmbeddingModel
    from sourcebook.embedding.onnx.embed import OnnxEmbedder
    from sourcebook.embedding.remote.access import ProviderAccess
    from sourcebook.embedding.side_by_side import SideBySideEmbedder
    from sourcebook.model.device import DeviceSetting


def open_query_embedder(
    home: Path, model: str, settings: EmbeddingSettings, access: ProviderAccess | None = None
) -> tuple[QueryEmbedder, str | None]:
    """Open the provider or the exported model of a generation, else sentence-transformers, which imports torch.

    An export goes by the digest of the weights that the generation's vectors come from: the model's own folder is not
    looked at, and may have changed or gone since. That of a model of the box is written here where it is missing: it
    takes a second and no torch.

    Args:
        home: state folder, with the exports in `models/`.
        model: the generation's `model`: the identity of the weights, `/` and a precision.
        settings: the generation's embedding settings, which name the model.
        access: to what the database keeps of providers; without it no provider is asked.

    Returns:
        The exported model and None; or sentence-transformers and a sentence with the reason.

    Raises:
        ModelError: there is neither an export nor the model itself, or the model's weights are not the generation's.
    """
    from sourcebook.embedding.onnx.open import find_export, open_exported
    from sourcebook.embedding.onnx.record import Export

    identity = model.partition("/")[0]
    if settings.provider is not None:
        return _open_remote(identity, settings, access), None
    found = find_export(home, identity)
    if isinstance(found, str) and _export_box(home, identity, settings):
        found = find_export(home, identity)
    if isinstance(found, Export):
        try:
            return open_exported(found), None
        except ModelError as error:
            found = str(error)
    return _open_sentence_transformer(identity, settings), f"Queries are embedded with sentence-transformers: {found}."


def awaits_export(home: Path, model: str, settings: EmbeddingSettings) -> bool:
    """Return whether the first ingest with a local model of a generation is still to export it, with torch.

    Args:
        home: state folder, with the exports in `models/`.
        model: the generation's `model`.
        settings: its embedding settings.
    """
    from sourcebook.embedding.model import find_model
    from sourcebook.embedding.onnx.open import find_export
    from sourcebook.embedding.onnx.record import Export, model_folder, read_refusal

    identity = model.partition("/")[0]
    if isinstance(find_export(home, identity), Export) or read_refusal(model_folder(home, identity)) is not None:
        return False
    try:
        return not find_model(settings.model).is_in_the_box
    except ModelError:
        return False


def _export_box(home: Path, identity: str, settings: EmbeddingSettings) -> bool:
    """Export the model of a generation if it is one of the box; return whether it is exported now."""
    try:
        model = _find_same_weights(identity, settings)
        if not model.is_in_the_box:
            return False
        from sourcebook.embedding.onnx.export import export_model

        return export_model(home, model) is None
    except ModelError:
        return False


def open_embedder(
    model: EmbeddingModel, precision: PrecisionSetting, device: DeviceSetting, home: Path | None
) -> SentenceTransformerEmbedder | SideBySideEmbedder | OnnxEmbedder:
    """Open the embedder of a generation's passages; on several GPUs, one a GPU.

    onnxruntime takes float32 on the processor, where the model has an export: that of a model of the box is written
    now, without torch; that of any other model is made by the first ingest, which loads torch.

    Args:
        model: the model.
        precision: number format by the settings.
        device: device by the settings.
        home: state folder, with the exports in `models/`; None for torch.

    Raises:
        ModelError: the model cannot be loaded, or the device of the settings is not there.
    """
    from sourcebook.embedding.engine import choose_engine, needed_memory, wait_for_memory
    from sourcebook.embedding.model import verify
    from sourcebook.embedding.weights import weights_size
    from sourcebook.processes.device import choose_device

    chosen = choose_device(device)
    engine = choose_engine(precision, chosen)
    weights = weights_size(verify(model))
    if engine.name == "onnxruntime":
        wait_for_memory(model.name, needed_memory(weights, "onnxruntime"))
        opened = "its export is not used" if home is None else _open_export(model, home, engine)
        if not isinstance(opened, str):
            return opened
        engine = replace(engine, name="torch", reason=f"onnxruntime would be faster, but {opened}")
    from sourcebook.embedding.embedder import SentenceTransformerEmbedder
    from sourcebook.processes.device import count_gpus

    wait_for_memory(model.name, needed_memory(weights, "torch"))
    gpus = count_gpus(chosen)
    embedders = [
        SentenceTransformerEmbedder(model, engine=engine, may_fall_back=not chosen.is_required, gpu=gpu)
        for gpu in range(max(gpus, 1))
    ]
    if gpus <= 1:
        return embedders[0]
    from sourcebook.embedding import side_by_side

    return side_by_side.SideBySideEmbedder(embedders)


def _open_export(model: EmbeddingModel, home: Path, engine: Engine) -> OnnxEmbedder | str:
    """Open a model's export for passages; return the reason where that cannot be, as the end of a sentence."""
    from sourcebook.embedding.onnx.open import find_export, needs_export, open_exported
    from sourcebook.embedding.onnx.record import Export

    if needs_export(home, model):
        if not model.is_in_the_box:
            return "this model has no export yet"
        from sourcebook.embedding.onnx.export import export_model

        reason = export_model(home, model)
        if reason is not None:
            return reason
    found = find_export(home, model.identity)
    try:
        return open_exported(found, threads=1, engine=engine) if isinstance(found, Export) else found
    except ModelError as error:
        return str(error)


def check_openable(home: Path, model: str, settings: EmbeddingSettings) -> None:
    """Check that the embedder of a generation's questions can be opened on this machine, without loading it.

    Args:
        home: state folder, with the exports in `models/`.
        model: the generation's `model`: the identity of the weights, `/` and a precision.
        settings: the generation's embedding settings, which name the model.

    Raises:
        ModelError: there is neither an export nor the model itself, or the model's weights are not the generation's.
    """
    from sourcebook.embedding.onnx.open import find_export

    identity = model.partition("/")[0]
    if settings.provider is not None:
        from sourcebook.providers.client import provider_key

        provider_key(settings.key_variable, settings.url)
    elif isinstance(find_export(home, identity), str):
        _find_same_weights(identity, settings)


def _open_remote(identity: str, settings: EmbeddingSettings, access: ProviderAccess | None) -> QueryEmbedder:
    from sourcebook.embedding.remote.embedder import open_remote

    if access is None:
        raise ModelError(f"The provider of {settings.model!r} can be asked only with the database of its collection.")
    return open_remote(identity, settings, access, for_queries=True)


def _open_sentence_transformer(identity: str, settings: EmbeddingSettings) -> QueryEmbedder:
    from sourcebook.embedding.embedder import SentenceTransformerEmbedder

    return SentenceTransformerEmbedder(_find_same_weights(identity, settings), settings.precision)


def _find_same_weights(identity: str, settings: EmbeddingSettings) -> EmbeddingModel:
    from sourcebook.embedding.model import find_model

    model = find_model(settings.model)
    if model.identity.rpartition(":")[2] != identity.rpartition(":")[2]:
        raise ModelError(
            f"The embedding model {settings.model!r} has other weights ({model.identity}) than the collection was "
            f"indexed with ({identity}): restore them, or index the collection again."
        )
    return model

"""The program of an `EmbeddingProcess`'s child: answers texts with vectors, as little-endian float32."""

from pathlib import Path
from typing import BinaryIO, cast

from sourcebook.embedding.embedder import SentenceTransformerEmbedder
from sourcebook.embedding.model import EmbeddingModel
from sourcebook.embedding.precision import PrecisionSetting
from sourcebook.processes.frames import write_frame
from sourcebook.processes.serve import Answer, Header, reason_of, serve


def _load(settings: Header) -> Answer:
    """Load the model that the first frame names."""
    folder = cast("str | None", settings["folder"])
    model = EmbeddingModel(
        name=str(settings["name"]),
        folder=None if folder is None else Path(folder),
        identity=str(settings["identity"]),
        dimensions=cast("int", settings["dimensions"]),
        max_tokens=cast("int", settings["max_tokens"]),
    )
    embedder = SentenceTransformerEmbedder(model, cast("PrecisionSetting", settings["precision"]))
    return lambda request, replies: _answer(embedder, request, replies)


def _answer(embedder: SentenceTransformerEmbedder, request: Header, replies: BinaryIO) -> None:
    try:
        if "export" in request:
            write_frame(replies, {"state": "exported", "reason": _export(embedder.model, request)})
            return
        texts = cast("list[str]", request["texts"])
        vectors = embedder.embed_query(texts[0])[None] if request["query"] else embedder.embed(texts)
    except Exception as error:  # noqa: BLE001 - one batch failed: the parent tells it, and the next may succeed
        write_frame(replies, {"state": "failed", "reason": reason_of(error)})
        return
    write_frame(replies, {"state": "vectors", "rows": len(vectors)}, vectors.astype("<f4").tobytes())


def _export(model: EmbeddingModel, request: Header) -> str | None:
    from sourcebook.embedding.onnx.export import export_model

    return export_model(Path(str(request["export"])), model)


if __name__ == "__main__":
    serve(_load)

"""OpenAI's protocol for embeddings, over the models of the collections."""

import base64
from typing import TYPE_CHECKING, Annotated, Any, Literal

import pydantic_core
from fastapi import APIRouter, Request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from starlette.responses import Response

from sourcebook.contract.text_vectors import MOST_TEXTS, TextVectors
from sourcebook.errors import QueryError
from sourcebook.server.access import Knowledge, Reader
from sourcebook.server.request_models import Sent, as_whole
from sourcebook.server.visibility import NotFoundError, seen_collections

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

router = APIRouter(tags=["adapters"])
Text = Annotated[str, Field(min_length=1)]


class EmbeddingsWanted(Sent):
    """Texts to embed."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"model": "all-MiniLM-L6-v2", "input": ["The gauge runs on batteries."]}]},
    )

    input: Text | Annotated[list[Text], Field(min_length=1, max_length=MOST_TEXTS)] = Field(
        description="One text, or a list of texts; tokens are refused, as each model has its own."
    )
    model: str = Field(description="Name of a model that a collection uses.")
    encoding_format: Literal["float", "base64"] = "float"
    dimensions: Annotated[int, Field(strict=True, ge=1), BeforeValidator(as_whole)] | None = Field(
        default=None, description="Allowed where the model has as many."
    )
    user: str | None = Field(default=None, description="Has no effect.")
    input_type: Literal["passage", "query"] = Field(
        default="passage", description="An extension: some models embed queries in another way than passages."
    )


class Embedding(BaseModel):
    """The vector of one text, of length 1."""

    object: Literal["embedding"]
    index: int
    embedding: list[float] | str = Field(description="Numbers, or base64 of little-endian float32.")


class EmbeddingsUsage(BaseModel):
    """Tokens that the model read."""

    prompt_tokens: int
    total_tokens: int


class EmbeddingsAnswer(BaseModel):
    """The vectors of texts, in their order."""

    object: Literal["list"]
    data: list[Embedding]
    model: str
    usage: EmbeddingsUsage


@router.post("/embeddings", response_model=EmbeddingsAnswer, operation_id="embeddings")
def embeddings(wanted: EmbeddingsWanted, request: Request, knowledge: Knowledge, grant: Reader) -> Response:
    """Return vectors of texts in OpenAI's protocol, by a model that a collection of the caller uses."""
    request.state.sent = [wanted.model]
    texts = [wanted.input] if isinstance(wanted.input, str) else wanted.input
    seen = seen_collections(knowledge, grant, None)

    def embed(some: list[str]) -> TextVectors:
        try:
            return knowledge.embed(some, wanted.model, collections=seen, as_queries=wanted.input_type == "query")
        except QueryError as error:  # everything else was checked before
            raise NotFoundError("no collection has this embedding model") from error

    if wanted.dimensions is not None:  # one text tells them: the others are not embedded for nothing
        dimensions = embed(texts[:1]).vectors.shape[1]
        if wanted.dimensions != dimensions:
            raise QueryError(f"the model has {dimensions} dimensions in this knowledge base, and no others")
    found = embed(texts)
    return embeddings_answer(found.vectors, found.tokens or 0, found.model, wanted.encoding_format)


def embeddings_answer(vectors: "NDArray[np.float32]", tokens: int, model: str, encoding: str) -> Response:
    """Return vectors as an answer in OpenAI's protocol."""
    rows: list[Any] = (
        vectors.tolist()
        if encoding == "float"
        else [base64.b64encode(row.astype("<f4").tobytes()).decode() for row in vectors]
    )
    answer = {
        "object": "list",
        "data": [{"object": "embedding", "index": index, "embedding": row} for index, row in enumerate(rows)],
        "model": model,
        "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
    }
    return Response(pydantic_core.to_json(answer), media_type="application/json")

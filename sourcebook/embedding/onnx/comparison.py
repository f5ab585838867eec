"""Compare an export with the model that it was made from."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from sourcebook.embedding.onnx.embedder import OnnxEmbedder
from sourcebook.embedding.onnx.record import ExportRecord
from sourcebook.embedding.onnx.samples import SAMPLES, too_long
from sourcebook.embedding.unit_rows import unit_rows

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

LARGEST_DIFFERENCE: Final = 1e-4
"""Of any number of a unit vector from sentence-transformers' in float32."""


class DifferentVectorsError(Exception):
    """The export is not the same model; the message says by how much."""


def largest_difference(transformer: "SentenceTransformer", embedder: OnnxEmbedder, record: ExportRecord) -> float:
    """Embed the sample texts both ways, alone and together; return the largest difference of any number.

    Raises:
        DifferentVectorsError: it is more than `LARGEST_DIFFERENCE`, or a shape differs.
    """
    alone = [text for text in (*SAMPLES, too_long(record.tokens.max_tokens)) if embedder.count_tokens(text)]
    pairs = [(_expected(transformer, [text], record, query=True), embedder.embed_query(text)[None]) for text in alone]
    together = sorted(alone, key=len)[:-1]
    pairs.append((_expected(transformer, together, record, query=False), embedder.embed(together)))
    worst = 0.0
    for expected, found in pairs:
        if expected.shape != found.shape:
            raise DifferentVectorsError(f"its export gives vectors of shape {found.shape}, not {expected.shape}")
        worst = max(worst, float(np.abs(expected - found).max()))
    if not worst <= LARGEST_DIFFERENCE:
        raise DifferentVectorsError(f"its export's vectors differ by {worst:.1e} from sentence-transformers'")
    return worst


def _expected(
    transformer: "SentenceTransformer", texts: Sequence[str], record: ExportRecord, *, query: bool
) -> NDArray[np.float32]:
    encode = transformer.encode_query if query else transformer.encode_document
    prompt = record.query_prompt if query else record.passage_prompt
    vectors = encode(list(texts), prompt=prompt, batch_size=len(texts), show_progress_bar=False)
    return unit_rows(np.asarray(vectors, np.float32))

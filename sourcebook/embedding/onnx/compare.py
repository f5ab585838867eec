"""Comparison of an export with its source, on texts of all lengths and scripts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from sourcebook.embedding.onnx.embed import OnnxEmbedder
from sourcebook.embedding.onnx.record import ExportRecord
from sourcebook.embedding.preparation import unit_rows

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

LARGEST_DIFFERENCE: Final = 1e-4
"""Bound on the difference of any number of a unit vector from sentence-transformers in float32."""
PROBE: Final = "How long does the warranty cover the battery?"
"""Question whose vector is recorded."""
SAMPLES: Final = (
    PROBE,
    "Ok.",
    "",
    "Refunds are paid within fourteen days of the return; bank transfers may take longer. " * 3,
    "Die Gewährleistung für die Fahrzeugbatterie beträgt vierundzwanzig Monate.",
    "Аккумулятор следует заряжать при температуре от 0 до 40 °C.",
    "电池的保修期为两年。返品は十四日以内に承ります。 배터리는 이 년간 보증됩니다.",
    "يغطي الضمان البطارية لمدة عامين. האחריות מכסה את הסוללה. แบตเตอรี่รับประกันสองปี",
    "🔋 lasts 2 years 👍🏽 — naïve café, x² ≤ 10⁻³, def f(x): return x[::-1]  # ok",
    "NUL \x00, U+FFFD \ufffd, tabs\tand\r\nnewlines\u2028, zero\u200bwidth, e\u0301",
)
_SENTENCE: Final = "The warranty covers the battery for two years, unless it was opened by someone else. "
_CHARACTERS_PER_TOKEN: Final = 8
"""Characters per token, more than in any language, so that the long text is surely truncated."""
_MOST_TOKENS_COMPARED: Final = 1_024
"""Tokens of the long text: a model that takes 8,192 would compute for many seconds."""


class DifferentVectorsError(Exception):
    """The export gives other vectors; the message says by how much."""


def largest_difference(transformer: SentenceTransformer, embedder: OnnxEmbedder, record: ExportRecord) -> float:
    """Embed the samples both ways, alone and together; return the largest difference of any number.

    Raises:
        DifferentVectorsError: it is more than `LARGEST_DIFFERENCE`, or a shape differs.
    """
    alone = [text for text in (*SAMPLES, _too_long(record.tokens.max_tokens)) if embedder.count_tokens(text)]
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


def _too_long(max_tokens: int) -> str:
    """Return a text that the model truncates, or a very long one for a model without a practical limit."""
    characters = min(max_tokens, _MOST_TOKENS_COMPARED) * _CHARACTERS_PER_TOKEN
    return _SENTENCE * (characters // len(_SENTENCE) + 1)


def _expected(
    transformer: SentenceTransformer, texts: Sequence[str], record: ExportRecord, *, query: bool
) -> NDArray[np.float32]:
    encode = transformer.encode_query if query else transformer.encode_document
    prompt = record.query_prompt if query else record.passage_prompt
    vectors = encode(list(texts), prompt=prompt, batch_size=len(texts), show_progress_bar=False)
    return unit_rows(np.asarray(vectors, np.float32))

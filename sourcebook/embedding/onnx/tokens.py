"""Texts to the graph's inputs, without transformers."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sourcebook.embedding.onnx.record import TokenSettings

if TYPE_CHECKING:
    from tokenizers import Encoding

TokenArray = NDArray[np.int64]


class TextTokenizer:
    """Cuts texts into tokens, and lays them out in rows. Threads may share it."""

    def __init__(self, file: Path, settings: TokenSettings) -> None:
        """Load a tokenizer; raises `ImportError` or whatever the file is wrong with."""
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(file))
        self._tokenizer.no_padding()  # a file may ask for one, which sentence-transformers overrides too
        self._tokenizer.enable_truncation(settings.max_tokens, direction=settings.truncation_side)
        self._settings = settings

    def encode(self, text: str) -> "Encoding":
        """Return a text's tokens, truncated."""
        # `encode_batch` would start threads, of which tokenizers warns when the process forks later.
        return self._tokenizer.encode(text)

    def arrange(self, encodings: Sequence["Encoding"]) -> dict[str, TokenArray]:
        """Pad rows to the longest one.

        Args:
            encodings: at least one.

        Returns:
            `input_ids`, `attention_mask` and `token_type_ids`, each `(n, longest)` int64.
        """
        settings = self._settings
        shape = (len(encodings), max(len(encoding) for encoding in encodings))
        ids = np.full(shape, settings.padding_id, np.int64)
        mask = np.zeros(shape, np.int64)
        types = np.full(shape, settings.padding_type_id, np.int64)
        for row, encoding in enumerate(encodings):
            length = len(encoding)
            columns = slice(0, length) if settings.padding_side == "right" else slice(shape[1] - length, None)
            ids[row, columns] = encoding.ids
            mask[row, columns] = 1
            types[row, columns] = encoding.type_ids
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": types}

"""Tokens of the texts of one call, so that a text that was counted is not tokenized again with its batch."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer

_MOST_TOKENS: Final = 1_000_000
"""Tokens that are kept at once, padding included: 24 MB."""
_PADDED: Final = ("input_ids", "attention_mask", "token_type_ids")
"""Features with a row for each text and a column for each token."""


class TokensOfCall:
    """Answers a model's `preprocess` for texts that it has tokenized; any other call goes to the model.

    Args:
        transformer: A loaded model, which is changed.
        most: Most tokens of a text.
    """

    def __init__(self, transformer: "SentenceTransformer", most: int) -> None:
        self._most = most
        self._own: Any = getattr(transformer, "preprocess", None)  # older releases have `tokenize` alone
        self._asked: tuple[str, dict[str, Any]] = ("", {})
        self._rows: dict[str, int] = {}
        self._lengths: list[int] = []
        self._features: dict[str, Any] = {}
        if self._own is not None and getattr(transformer.tokenizer, "padding_side", None) == "right":
            transformer.preprocess = self._preprocess  # type: ignore[method-assign]
        else:
            self._own = None

    @contextmanager
    def of(self, texts: Sequence[str], prompt: str) -> Iterator[list[int] | None]:
        """Tokenize texts as `encode_document` does, and keep the result until the end of the context.

        Args:
            texts: Of a call, at least one.
            prompt: Text before each of them.

        Yields:
            Tokens of each text, those of the prompt included; None where the model has to be asked for each batch.
        """
        try:
            yield self._lengths if self._read(texts, prompt) else None
        finally:
            self._rows, self._lengths, self._features = {}, [], {}

    def close(self) -> None:
        """Let go of the model; may be called more than once."""
        self._own = None

    def _read(self, texts: Sequence[str], prompt: str) -> bool:
        if self._own is None or not texts or len(texts) * self._most > _MOST_TOKENS:
            return False
        self._asked = prompt, {"task": "document"}
        features = self._own(list(texts), prompt=prompt, task="document")
        mask = features.get("attention_mask")
        others = {name for name in features if name not in _PADDED}
        if mask is None or len(mask) != len(texts) or others - {"modality", "prompt_length"}:
            return False
        self._features, self._lengths = features, mask.sum(1).tolist()
        self._rows = {text: row for row, text in enumerate(texts)}
        return True

    def _preprocess(self, inputs: Sequence[Any], prompt: str | None = None, **more: Any) -> dict[str, Any]:
        """Return what the model's `preprocess` returns for a batch, from the tokens that are kept where they are."""
        if not self._rows or (prompt or "", more) != self._asked or not all(text in self._rows for text in inputs):
            features: dict[str, Any] = self._own(inputs, prompt=prompt, **more)
            return features
        rows = [self._rows[text] for text in inputs]
        longest = max(self._lengths[row] for row in rows)
        return {name: value[rows, :longest] if name in _PADDED else value for name, value in self._features.items()}

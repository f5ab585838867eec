"""The tokenizer of an embedding model, or an estimate for a provider's, and the counts of a document's spans."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, Protocol, Self

from sourcebook.config.passages import EmbeddingSettings
from sourcebook.embedding.model import find_model
from sourcebook.errors import MissingDependencyError, ModelError
from sourcebook.model.file_state import FileState, file_state

if TYPE_CHECKING:
    from tokenizers import Tokenizer


Offsets = Sequence[tuple[int, int]]


class TokenCounter(Protocol):
    """A tokenizer as chunking uses it."""

    @property
    def max_tokens(self) -> int:
        """Maximum tokens of a text for the model, special tokens included."""
        ...

    @property
    def special_tokens(self) -> int:
        """Tokens added to every text ([CLS] and [SEP] make 2)."""
        ...

    @property
    def splits_at_spaces(self) -> bool:
        """Whether the pieces of a text split at white space have exactly the tokens of the text."""
        ...

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return (start, end) of each token of each text, in characters, without special tokens."""
        ...

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, special tokens included."""
        ...


class FolderTokenizer:
    """The `tokenizer.json` of a model folder, without transformers or torch."""

    def __init__(self, tokenizer: Tokenizer, *, max_tokens: int) -> None:
        self._tokenizer = tokenizer
        self._max_tokens = max_tokens
        self._special_tokens = tokenizer.num_special_tokens_to_add(is_pair=False)
        self._splits_at_spaces = type(tokenizer.pre_tokenizer).__name__ == "BertPreTokenizer"

    @classmethod
    def from_folder(cls, path: Path, max_tokens: int) -> Self:
        """Load the tokenizer of a model.

        Args:
            path: the folder of the model.
            max_tokens: maximum tokens of a text for the model, special tokens included.

        Raises:
            ModelError: the folder has no readable tokenizer.json.
            MissingDependencyError: the package tokenizers is not installed.
        """
        file = path / "tokenizer.json"
        if not file.is_file():
            raise ModelError(f"{path} has no tokenizer.json; give the folder of a model with a fast tokenizer")
        return cls(_load(file, file_state(file.stat())), max_tokens=max_tokens)

    @property
    def max_tokens(self) -> int:
        """Maximum tokens of a text for the model, special tokens included."""
        return self._max_tokens

    @property
    def special_tokens(self) -> int:
        """Tokens added to every text."""
        return self._special_tokens

    @property
    def splits_at_spaces(self) -> bool:
        """Whether the pieces of a text split at white space have exactly its tokens, as with BERT's WordPiece."""
        return self._splits_at_spaces

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return (start, end) of each token of each text, in characters, without special tokens."""
        if len(texts) == 1:
            return [self._tokenizer.encode(texts[0], add_special_tokens=False).offsets]
        return [encoding.offsets for encoding in self._tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each text, special tokens included."""
        return [len(encoding) for encoding in self._tokenizer.encode_batch_fast(list(texts))]


@lru_cache(maxsize=4)
def _load(file: Path, _state: FileState) -> Tokenizer:
    """Load a tokenizer, which takes 30 ms; once a process for each version of the file."""
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingDependencyError(
            "counting tokens needs the package tokenizers; install sourcebook[server]"
        ) from error
    try:
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the binding raises bare Exception
        raise ModelError(f"{file} cannot be read as a tokenizer ({error}); download the model again") from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


_PIECE: Final = re.compile(
    # Scripts without spaces between words, and those whose letters are syllables.
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]{1,2}"
    r"|[a-zA-Z]{1,6}|[^\W\d_]{1,4}|\d{1,3}|_+|[^\w\s]"
)
"""One estimated token."""


class EstimatedTokens:
    """Counts pieces of words: up to six Latin letters, four others, two of an ideographic script, or one mark."""

    def __init__(self, max_tokens: int) -> None:
        self._max_tokens = max_tokens

    @property
    def max_tokens(self) -> int:
        """Maximum tokens of a text for the model, special tokens included."""
        return self._max_tokens

    @property
    def special_tokens(self) -> int:
        """Tokens added to every text: two."""
        return 2

    @property
    def splits_at_spaces(self) -> bool:
        """Whether the pieces of a text split at white space have exactly its tokens: they do."""
        return True

    def offsets(self, texts: Sequence[str]) -> list[Offsets]:
        """Return (start, end) of each piece of each text, in characters."""
        return [[piece.span() for piece in _PIECE.finditer(text)] for text in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of pieces of each text, with two special tokens."""
        return [sum(1 for _ in _PIECE.finditer(text)) + self.special_tokens for text in texts]


def token_counter(settings: EmbeddingSettings) -> TokenCounter:
    """Return the tokenizer of a model of this machine, or an estimate for a provider's.

    Raises:
        ModelError: the model cannot be found, or has no tokenizer that can be read.
    """
    if settings.provider is not None:
        from sourcebook.embedding.remote.access import model_tokens

        return EstimatedTokens(model_tokens(settings))
    model = find_model(settings.model)
    if model.folder is None:
        raise ModelError(f"the embedding model {model.name!r} has no folder from which its tokenizer can be read")
    return FolderTokenizer.from_folder(model.folder, model.max_tokens)


_WINDOW = 16_384
"""Characters per window; windows end at white space, where tokens end as well."""
_WINDOWS_AT_ONCE = 16
"""Windows per call of the tokenizer."""
_MOST_CHARACTERS_A_TOKEN = 12
"""Characters that count as a token at most: WordPiece makes one [UNK] of a word above 100 letters."""


class TokenIndex:
    """Start positions of the tokens of a document, four bytes each."""

    def __init__(self, text: str, tokenizer: TokenCounter) -> None:
        self._length = len(text)
        self._starts = array("I")
        windows: list[tuple[int, int]] = []
        for window in _windows(text):
            windows.append(window)
            if len(windows) == _WINDOWS_AT_ONCE:
                self._add(text, windows, tokenizer)
                windows = []
        if windows:
            self._add(text, windows, tokenizer)

    def tokens(self, start: int, end: int) -> int:
        """Return the number of tokens that begin in a span."""
        return bisect_left(self._starts, end) - bisect_left(self._starts, start)

    def size(self, start: int, end: int) -> int:
        """Return the larger of a span's tokens and a twelfth of its characters."""
        return max(self.tokens(start, end), (end - start) // _MOST_CHARACTERS_A_TOKEN)

    def reach(self, start: int, budget: int) -> int:
        """Return the last end with `size(start, end) <= budget`, at least `start + 1`."""
        position = bisect_left(self._starts, start) + budget
        end = self._starts[position] if position < len(self._starts) else self._length
        return max(start + 1, min(end, start + budget * _MOST_CHARACTERS_A_TOKEN))

    def before(self, end: int, tokens: int) -> int:
        """Return the start of the last `tokens` tokens before `end`."""
        position = bisect_left(self._starts, end) - tokens
        return self._starts[position] if 0 <= position < len(self._starts) else 0

    def _add(self, text: str, windows: Sequence[tuple[int, int]], tokenizer: TokenCounter) -> None:
        found = tokenizer.offsets([text[start:end] for start, end in windows])
        for (base, _), offsets in zip(windows, found, strict=True):
            self._starts.extend([base + start for start, _ in offsets])


def _windows(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    while len(text) - start > _WINDOW:
        limit = start + _WINDOW
        end = max(text.rfind("\n", start, limit), text.rfind(" ", start, limit)) + 1 or limit
        yield start, end
        start = end
    if start < len(text):
        yield start, len(text)

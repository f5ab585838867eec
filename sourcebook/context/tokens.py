"""Tokens of a text as a language model counts them: by its own tokenizer where that is here, else by a bound."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sourcebook.context.token_bound import token_bound
from sourcebook.errors import MissingDependencyError, QueryError
from sourcebook.installation import install_command

if TYPE_CHECKING:
    from bpe_openai import Encoding

BOUND: Final = "bound"
"""Name of the counter that needs no tokenizer and is never too low."""
USUAL_ENCODING: Final = "o200k_base"
"""Encoding that counts where no tokenizer is named and `bpe-openai` is installed."""
_LONGEST_NAME: Final = 1_000
"""Characters of a tokenizer's name, at most."""
_LONGEST_PIECE: Final = 50_000
"""Characters of a text that is counted at once: `bpe-openai` refuses more than 200,000 tokens, and one may be four."""
_BETWEEN_WORDS: Final = re.compile(r"[^\W\d_](?= [^\W\d_])")
_PACKAGE: Final = "bpe_openai"
_ENCODINGS: Final = frozenset({"o200k_base", "cl100k_base", "voyage3_base"})
"""Vocabularies inside the package; its others are downloaded."""


@dataclass(frozen=True, slots=True)
class TokenCounter:
    """A way of counting tokens."""

    name: str
    """`bound`, the name of an encoding, or the folder of a tokenizer."""
    count: Callable[[str], int]
    """Number of tokens of a text, without the special tokens around it."""
    is_exact: bool
    """Whether a tokenizer counts; False where an upper bound stands in for it."""
    adds_up: bool = False
    """Whether no token crosses the space between two words: parts of a text have as many tokens as the whole."""


def token_counter(tokenizer: str | Path | None = None, *, may_load: bool = True) -> TokenCounter:
    """Return the counter of a model's tokens.

    Args:
        tokenizer: `bound`; an encoding or a model that `bpe-openai` knows, such as `o200k_base` or `gpt-4o`; a
            tokenizer.json, or the folder or the Hugging Face name of a model that has one on this machine. Where None,
            `o200k_base` where `bpe-openai` is installed, else the bound.
        may_load: whether a tokenizer is read from a folder; False where the name comes from someone else.

    Raises:
        QueryError: the name is that of no tokenizer on this machine.
        ModelError: the tokenizer cannot be read.
        MissingDependencyError: the tokenizer needs a package that is not installed.
    """
    if tokenizer is None:
        return _counter_of_encoding(USUAL_ENCODING) if find_spec(_PACKAGE) is not None else BOUND_COUNTER
    name = str(tokenizer)
    if not name or len(name) > _LONGEST_NAME or not name.isprintable():
        raise QueryError("the tokenizer is no name of a tokenizer: give 'bound', an encoding, a model or a folder")
    if name == BOUND:
        return BOUND_COUNTER
    encoding = _encoding_name(name)
    if encoding is not None:
        return _counter_of_encoding(encoding)
    if not may_load:
        raise QueryError(
            f"there is no tokenizer of that name here: it must be {BOUND}, {', '.join(sorted(_ENCODINGS))}, or a model "
            "that bpe-openai knows"
        )
    return _counter_of_file(_tokenizer_file(name))


BOUND_COUNTER: Final = TokenCounter(BOUND, token_bound, is_exact=False)


def _encoding_name(name: str) -> str | None:
    """Return the encoding of a model or an encoding whose vocabulary is in the package."""
    if name in _ENCODINGS:
        return name
    if find_spec(_PACKAGE) is None or "/" in name:
        return None
    import bpe_openai

    if name not in bpe_openai.list_supported_models():
        return None
    encoding = bpe_openai.encoding_name_for_model(name)
    return encoding if encoding in _ENCODINGS else None


def _counter_of_encoding(name: str) -> TokenCounter:
    encoding = _encoding(name)

    def count(text: str) -> int:
        pieces = _pieces(_sendable(text)) if len(text) > _LONGEST_PIECE else (_sendable(text),)
        return sum(len(encoding.encode_ordinary(piece)) for piece in pieces)

    return TokenCounter(name, count, is_exact=True, adds_up=True)


def _pieces(text: str) -> Iterator[str]:
    """Yield a long text in pieces, parted before the space between two words, where no token crosses.

    A text without such a place is parted anywhere, which makes it a token longer at most.
    """
    start = 0
    while len(text) - start > _LONGEST_PIECE:
        end = start + _LONGEST_PIECE
        found = _BETWEEN_WORDS.search(text, start + _LONGEST_PIECE // 2, end)
        cut = found.end() if found else end
        yield text[start:cut]
        start = cut
    yield text[start:]


@lru_cache(maxsize=len(_ENCODINGS))
def _encoding(name: str) -> Encoding:
    """Load an encoding, which takes 0.1 s after the package's import of 0.4 s."""
    try:
        import bpe_openai
    except ImportError as error:
        raise MissingDependencyError(
            f"counting the tokens of {name} needs the package bpe-openai: install it with  {install_command('server')}"
        ) from error
    return bpe_openai.get_encoding(name)


def _sendable(text: str) -> str:
    return text.encode("utf-8", "replace").decode()


def _counter_of_file(file: Path) -> TokenCounter:
    from sourcebook.chunking.tokenizer import FolderTokenizer

    tokenizer = FolderTokenizer.from_folder(file.parent, max_tokens=0)
    special = tokenizer.special_tokens
    return TokenCounter(str(file.parent), lambda text: tokenizer.count([_sendable(text)])[0] - special, is_exact=True)


def _tokenizer_file(name: str) -> Path:
    """Return the tokenizer.json of a file, a folder, or a model in the cache of the Hugging Face hub."""
    path = Path(name).expanduser()
    if path.name == "tokenizer.json" and path.is_file():
        return path
    if (path / "tokenizer.json").is_file():
        return path / "tokenizer.json"
    cached = _cached_file(name)
    if cached is None:
        raise QueryError(
            f"there is no tokenizer {name!r} here: it must be {BOUND}, {', '.join(sorted(_ENCODINGS))}, the folder of "
            "a model with a tokenizer.json, or the name of one in the Hugging Face cache"
        )
    return cached


def _cached_file(name: str) -> Path | None:
    try:
        from huggingface_hub import try_to_load_from_cache
        from huggingface_hub.errors import HFValidationError
    except ImportError:
        return None
    try:
        found = try_to_load_from_cache(name, "tokenizer.json")
    except HFValidationError:
        return None
    return Path(found) if isinstance(found, str) else None

"""An upper bound of the tokens of a text, without a tokenizer.

Which tokenizer an agent's model has is unknown here. The bound is never below what the vocabularies of GPT-2 (texts in
ASCII) and of Whisper (50,000 tokens for 99 languages) make of texts; larger and newer vocabularies make fewer tokens.
"""

import re
from typing import Final

_WORDS: Final = re.compile(r"[A-Z]?[a-z]+")
_SPACES: Final = re.compile(r"\s+")
_LETTERS_A_TOKEN: Final = 3
"""Letters of a lower-case or capitalised word for which one token is counted; tokens of English have four and more."""
LONGEST_TOKEN: Final = 4
"""Characters that one counted token has, at most: three letters and the space before them."""
_CHEAP: Final = ((0x80, 0x700, 1), (0x900, 0xE80, 2), (0x3000, 0xA000, 2), (0xAC00, 0xD7B0, 2))
"""(first, end, tokens) of ranges of characters with fewer tokens than bytes: alphabets from Latin to Arabic; scripts of
South Asia and Thai; Chinese and Japanese; Korean."""


def token_bound(text: str) -> int:
    """Return an upper bound of the tokens of a text.

    A word of ASCII letters counts one token for each three letters, white space one for each character but a space
    before something, any other ASCII character one, and a character of other scripts one or two where its range is
    known, else its bytes in UTF-8.
    """
    words: list[str] = _WORDS.findall(text)
    tokens = sum(-(-len(word) // _LETTERS_A_TOKEN) for word in words)
    spaces: list[str] = _SPACES.findall(text)
    tokens += sum(len(run) - run.endswith(" ") for run in spaces)
    tokens += len(text) - sum(map(len, words)) - sum(map(len, spaces))
    if not text.isascii():
        tokens += sum(_tokens_of(ord(character)) - 1 for character in text if character > "\x7f")
    return tokens


def _tokens_of(code: int) -> int:
    """Return the tokens of one character that is not ASCII."""
    for first, end, tokens in _CHEAP:
        if first <= code < end:
            return tokens
    return 2 if code < 0x800 else 3 if code < 0x10000 else 4

"""An upper bound of the tokens of a text, without a tokenizer.

Where the tokenizer of a model is unknown, the bound is not below what the vocabularies of OpenAI (o200k, cl100k),
Voyage and Whisper (50,000 tokens for 99 languages) make of running text in 32 languages, of code, and of random
letters, digits and keys; the tests count them.
"""

import re
from functools import lru_cache
from typing import Final

_RUNS: Final = re.compile(r"[A-Za-z0-9]+")
_LAST_SPACES: Final = re.compile(r" (?!\s)")
"""A space at the end of each run of white space."""
_WORDS: Final = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]")
_LETTERS_A_TOKEN: Final = 2.6
"""Letters of a word for which one token is counted; tokens of English have four and more."""
_FREE: Final = 0.4
"""Letters of each word that are not counted: words of three letters are one token."""
_LETTERS_OF_CAMEL_CASE: Final = 4
"""Letters of the words within a run of letters, on average; a run of shorter ones is a key."""
_DENSE_LETTERS: Final = 1.6
"""Letters a token of words in capitals, and of those of more than `_LONG_WORD` letters: compounds, or no words."""
_LONG_WORD: Final = 20
_UNUSUAL_PAIR: Final = 0.7
"""Tokens that a pair of letters adds which English, German and Spanish seldom have: random letters are full of them."""
LONGEST_TOKEN: Final = 4
"""Characters of ASCII that one counted token has, at most: a short word and the space before it."""
_COMMON_PAIRS: Final = (
    "aa ab ac ad ae af ag ah ai ak al am an ap ar as at au av ay ba be bi bl bo br bu by ca cc cd ce ch ci ck cl co "
    "cr ct cu da dd de di do dr ds du ea eb ec ed ee ef eg eh ei el em en eo ep er es et eu ev ew ex ey fa fe ff fi "
    "fl fo fr ft fu ga ge gh gi gl gn go gr gs gu ha he hi hl hn ho hr ht hu ia ib ic id ie if ig il im in io ip ir "
    "is it iv iz ja je jo ka ke ki ks la ld le li ll lo ls lt lu ly ma mb me mi mm mo mp ms mu na nc nd ne nf ng ni "
    "nn no ns nt nu nv ny ob oc od of og ol om on oo op or os ot ou ov ow pa pe ph pi pl po pp pr pt pu qu ra rb rc "
    "rd re rg ri rk rl rm rn ro rr rs rt ru rv ry sa sc se sh si sl sm so sp ss st su ta te th ti tl to tr ts tt tu "
    "tw ty ua ub uc ud ue uf ug ui ul um un up ur us ut va ve vi vo wa we wh wi wo ye ys za ze zu "
)
"""Pairs of letters that are at least 0.06 % of those in running text of English, German and Spanish (XQuAD)."""
_PAIRS: Final = frozenset(_COMMON_PAIRS.split())
_RATES: Final = (
    (0x80, 0x180, 1.3),  # letters of Latin with marks
    (0x370, 0x400, 1.3),  # Greek
    (0x400, 0x460, 1.1),  # Cyrillic
    (0x600, 0x700, 1.4),  # Arabic
    (0x900, 0xD80, 2.6),  # scripts of South Asia
    (0xD80, 0xE00, 3.0),  # Sinhala
    (0xE00, 0xE80, 2.2),  # Thai
    (0x2010, 0x2030, 2.0),  # quotation marks, dashes
    (0x3000, 0x3100, 1.8),  # Kana and its punctuation
    (0x3400, 0xA000, 2.6),  # Chinese
    (0xAC00, 0xD7B0, 2.9),  # Korean
)
"""(first, end, tokens) of ranges of characters with fewer tokens than bytes of UTF-8."""


def token_bound(text: str) -> int:
    """Return an upper bound of the tokens of a text.

    A word of ASCII letters counts a token for each 2.6 letters and more for unusual pairs of letters; a run that mixes
    letters and digits, each of its characters. A character of other scripts counts by its range, else its
    bytes in UTF-8. White space counts by the character, but for one space before a word.
    """
    runs: list[str] = _RUNS.findall(text)
    tokens = float(sum(map(_tokens_of_run, runs)))
    tokens += len(text) - sum(map(len, runs)) - len(_LAST_SPACES.findall(text))
    if not text.isascii():
        tokens += sum(_tokens_of_character(character) - 1 for character in text if character > "\x7f")
    return -int(-tokens // 1)


@lru_cache(maxsize=65_536)
def _tokens_of_run(run: str) -> int:
    """Return the tokens of a run of ASCII letters and digits, with one for the space before digits."""
    if run.isdigit():
        return len(run) + 1
    words: list[str] = _WORDS.findall(run)
    if len(words) > 1 and (not run.isalpha() or len(run) < _LETTERS_OF_CAMEL_CASE * len(words)):
        return len(run)  # keys and digests change between digits and cases at random
    return sum(map(_tokens_of_word, words))


def _tokens_of_word(word: str) -> int:
    lower = word.lower()
    is_dense = len(word) > _LONG_WORD or (len(word) > 1 and word.isupper())
    unusual = sum(lower[at : at + 2] not in _PAIRS for at in range(len(lower) - 1))
    tokens = (len(word) - _FREE) / (_DENSE_LETTERS if is_dense else _LETTERS_A_TOKEN) + _UNUSUAL_PAIR * unusual
    return max(1, min(len(word), -int(-tokens // 1)))


@lru_cache(maxsize=16_384)
def _tokens_of_character(character: str) -> float:
    code = ord(character)
    for first, end, tokens in _RATES:
        if first <= code < end:
            return tokens
    return 2 if code < 0x800 else 3 if code < 0x10000 else 4

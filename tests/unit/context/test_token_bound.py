"""The bound of tokens: never below a real vocabulary, and not far above it on English."""

import base64
import json
import random
import string
from importlib.util import find_spec
from pathlib import Path

import pytest
import tiktoken
from tiktoken.load import load_tiktoken_bpe

from benchmarks.corpora.declaration import DECLARATION
from sourcebook.context.token_bound import LONGEST_TOKEN, token_bound
from tests.checkout import CHECKOUT

_RANDOM = random.Random(1)
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


def _drawn(letters: str, count: int) -> str:
    return "".join(_RANDOM.choices(letters, k=count))


TEXTS = DECLARATION | {
    "am": "የማዕበል መለኪያ ባትሪዎች ለአሥራ አራት ወራት ይቆያሉ።",
    "signs": "🎉🚀👩‍👩‍👧 ✅ → ∑ ≤ 5 µm",
    "digests": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
    "code": "def f(x):\n        return {k: v for k, v in x.items() if k.startswith('a_b')}\n\n\n\tif\n",
    "random words": " ".join(_drawn(_LETTERS, 7) for _ in range(200)),
    "rare letters": _drawn("qzxjkvw", 500),
    "random letters": _drawn(_LETTERS, 500),
    "capitals": _drawn(_LETTERS.upper(), 500),
    "hexadecimal": _RANDOM.randbytes(500).hex(),
    "base64": base64.b64encode(_RANDOM.randbytes(500)).decode(),
    "numbers": " ".join(str(_RANDOM.randrange(10**9)) for _ in range(100)),
    "marks": _drawn(string.punctuation, 500),
    "Greek letters": _drawn("αβγδεζηθικλμνξοπρστυφχψω", 500),
    "Cyrillic letters": _drawn("абвгдежзийклмнопрстуфхцчшщъыьэюя", 500),
    "rare ideographs": "".join(chr(_RANDOM.randrange(0x4E00, 0x9FFF)) for _ in range(500)),
    "rare syllables": "".join(chr(_RANDOM.randrange(0xAC00, 0xD7A3)) for _ in range(500)),
}


@pytest.fixture(scope="module")
def vocabulary() -> tiktoken.Encoding:
    """The vocabulary of Whisper, which is small: larger ones make fewer tokens."""
    spec = find_spec("whisper")
    assert spec is not None
    assert spec.origin is not None
    ranks = load_tiktoken_bpe(str(Path(spec.origin).parent / "assets" / "multilingual.tiktoken"))
    words = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
    return tiktoken.Encoding("multilingual", pat_str=words, mergeable_ranks=ranks, special_tokens={})


@pytest.mark.parametrize("name", TEXTS)
def test_the_bound_holds_in_every_script(vocabulary: tiktoken.Encoding, name: str) -> None:
    text = TEXTS[name]
    assert token_bound(text) >= len(vocabulary.encode(text))
    as_json = json.dumps(text, ensure_ascii=False)
    assert token_bound(as_json) >= len(vocabulary.encode(as_json))


@pytest.mark.parametrize("encoding", ["o200k_base", "cl100k_base", "voyage3_base"])
def test_the_bound_holds_for_the_vocabularies_of_providers(encoding: str) -> None:
    bpe_openai = pytest.importorskip("bpe_openai", reason="bpe-openai is not installed (the extra context)")
    vocabulary = bpe_openai.get_encoding(encoding)
    too_low = [name for name, text in TEXTS.items() if token_bound(text) < len(vocabulary.encode_ordinary(text))]
    assert too_low == []


@pytest.mark.parametrize("name", ["README.md", "sourcebook/knowledge_base.py", "sourcebook/database/schema/search.sql"])
def test_the_bound_of_prose_and_code_is_near(vocabulary: tiktoken.Encoding, name: str) -> None:
    text = (CHECKOUT / name).read_text(encoding="utf-8")[:20_000]
    tokens = len(vocabulary.encode(text))
    assert tokens <= token_bound(text) <= 1.6 * tokens


def test_a_counted_token_has_few_characters() -> None:
    """What `beginning` cuts off before it counts could not have fitted."""
    text = " the" * 1_000
    assert len(text) <= token_bound(text) * LONGEST_TOKEN

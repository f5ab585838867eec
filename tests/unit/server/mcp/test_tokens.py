"""The bound of tokens: never below a real vocabulary, and not far above it on English."""

import json
from importlib.util import find_spec
from pathlib import Path

import pytest
import tiktoken
from tiktoken.load import load_tiktoken_bpe

from sourcebook.server.mcp.tokens import LONGEST_TOKEN, token_bound
from tests.checkout import CHECKOUT

TEXTS = {
    "de": "Die Batterien des Gezeitenpegels halten vierzehn Monate; Donaudampfschifffahrtsgesellschaftskapitän.",
    "fi": "Vuorovesimittarin paristot kestävät neljätoista kuukautta, minkä jälkeen satamamestari vaihtaa ne.",
    "ru": "Батареи приливного мареографа работают четырнадцать месяцев, после чего их заменяет смотритель.",
    "el": "Οι μπαταρίες του παλιρροιογράφου διαρκούν δεκατέσσερις μήνες.",
    "ar": "تدوم بطاريات مقياس المد أربعة عشر شهرا ثم يستبدلها حارس الميناء.",
    "hi": "ज्वार मापी की बैटरियाँ चौदह महीने चलती हैं, फिर बंदरगाह का रखवाला उन्हें बदल देता है।",
    "ta": "அலை அளவியின் மின்கலங்கள் பதினான்கு மாதங்கள் நீடிக்கும்.",
    "th": "แบตเตอรี่ของเครื่องวัดระดับน้ำใช้ได้นานสิบสี่เดือน จากนั้นผู้ดูแลท่าเรือจะเปลี่ยนให้",
    "zh": "潮汐计的电池可以使用十四个月，之后由港口管理员更换。仪器只靠它们供电。",
    "ja": "潮位計の電池は十四か月持ちます。その後、港の管理人が交換します。",
    "ko": "조위계의 배터리는 열네 달 동안 지속되며 그 후 항만 관리인이 교체합니다.",
    "am": "የማዕበል መለኪያ ባትሪዎች ለአሥራ አራት ወራት ይቆያሉ።",
    "signs": "🎉🚀👩‍👩‍👧 ✅ → ∑ ≤ 5 µm",
    "digests": "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822c QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
    "code": "def f(x):\n        return {k: v for k, v in x.items() if k.startswith('a_b')}\n\n\n\tif\n",
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


@pytest.mark.parametrize("name", ["README.md", "sourcebook/knowledge_base.py", "sourcebook/database/schema.sql"])
def test_the_bound_of_prose_and_code_is_near(vocabulary: tiktoken.Encoding, name: str) -> None:
    text = (CHECKOUT / name).read_text(encoding="utf-8")[:20_000]
    tokens = len(vocabulary.encode(text))
    assert tokens <= token_bound(text) <= 1.6 * tokens


def test_a_counted_token_has_few_characters() -> None:
    """What `beginning` cuts off before it counts could not have fitted."""
    text = " the" * 1_000
    assert len(text) <= token_bound(text) * LONGEST_TOKEN

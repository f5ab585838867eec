"""Bytes of any encoding become text that Postgres stores."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.parsing.text.decode import decode

GERMAN = "Die Straße führt über die Brücke, größer als gewöhnlich. Schöne Grüße! " * 3
RUSSIAN = "Это обычный русский текст о том, как работает поиск по документам. " * 3
JAPANESE = "これは日本語の文章です。文書を検索するための説明が書かれています。" * 3


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (GERMAN, "utf-8"),
        (GERMAN, "utf-8-sig"),
        (GERMAN, "utf-16"),
        (GERMAN, "utf-16-le"),
        (GERMAN, "utf-16-be"),
        (GERMAN, "utf-32"),
        (GERMAN, "cp1252"),
        ("Grüße", "cp1252"),
        (RUSSIAN, "cp1251"),
        (JAPANESE, "shift_jis"),
    ],
)
def test_reads_what_was_written(text: str, encoding: str) -> None:
    """Common encodings are recognised without a declaration."""
    assert decode(text.encode(encoding)).text == text


def test_says_which_encoding_it_used() -> None:
    """A person can see what was assumed."""
    assert decode(b"plain").encoding == "utf-8"
    assert decode("Grüße".encode("latin-1")).encoding == "cp1252"


def test_damaged_utf8_stays_utf8() -> None:
    """One broken byte in a long UTF-8 text costs one character, not all umlauts."""
    decoded = decode(GERMAN.encode() + b"\xff" + GERMAN.encode())
    assert decoded.text == GERMAN + "\ufffd" + GERMAN


def test_newlines_are_one_kind_and_nul_is_gone() -> None:
    """Windows and old Mac newlines become LF."""
    assert decode(b"a\r\nb\rc\n\x00d").text == "a\nb\nc\nd"


@given(st.binary(max_size=400))
def test_any_bytes_give_storable_text(content: bytes) -> None:
    """No bytes fail; the text is valid UTF-8 without NUL and carriage returns."""
    text = decode(content).text
    assert "\x00" not in text
    assert "\r" not in text
    text.encode("utf-8")

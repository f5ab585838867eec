"""A page's bytes become the text that its author wrote, whatever it says of its encoding."""

import codecs

import pytest

from sourcebook.parsing.html.charset import codec_name, decode_page

GERMAN = "<p>Grüße aus Köln, für 5 €</p>"
RUSSIAN = "<p>Привет, мир! Это страница на русском языке.</p>"
JAPANESE = "<p>こんにちは世界。これは日本語のページです。</p>"


@pytest.mark.parametrize(
    ("body", "content_type", "text"),
    [
        (GERMAN.encode(), "", GERMAN),
        (GERMAN.encode(), "text/html; charset=utf-8", GERMAN),
        (codecs.BOM_UTF8 + GERMAN.encode(), "text/html; charset=windows-1251", GERMAN),
        (GERMAN.encode("utf-16"), "text/html; charset=utf-8", GERMAN),
        (GERMAN.encode("utf-16-le"), "text/html; charset=utf-16", GERMAN),
        (GERMAN.encode("cp1252"), "text/html; charset=ISO-8859-1", GERMAN),
        (RUSSIAN.encode("koi8-r"), 'text/html; charset="KOI8-R"', RUSSIAN),
        (JAPANESE.encode("cp932"), "text/html;charset=Shift_JIS", JAPANESE),
        (JAPANESE.encode("iso2022_jp"), "text/html;charset=iso-2022-jp", JAPANESE),
    ],
)
def test_what_the_server_says_is_read(body: bytes, content_type: str, text: str) -> None:
    """A byte order mark comes first, then Content-Type, and labels mean what browsers make of them."""
    assert decode_page(body, content_type).text == text


@pytest.mark.parametrize(
    "declaration",
    [
        b'<meta charset="windows-1251">',
        b"<META CHARSET=windows-1251 />",
        b'<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        b'<?xml version="1.0" encoding="windows-1251"?>',
        b"<!--" + b"x" * 1500 + b'--><meta charset="cp1251">',
        b'<!-- <meta charset="utf-8"> --><meta charset="cp1251">',
    ],
)
def test_what_the_page_says_is_read(declaration: bytes) -> None:
    """<meta charset>, its older form and the XML declaration are found; a comment declares nothing."""
    assert RUSSIAN in decode_page(declaration + RUSSIAN.encode("cp1251"), "text/html").text


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (GERMAN.encode("cp1252"), "text/html; charset=utf-8"),
        (GERMAN.encode(), "text/html; charset=latin-1"),
        (b'<meta charset="iso-8859-1">' + GERMAN.encode(), "text/html"),
        (b'<meta charset="utf-8">' + GERMAN.encode("cp1252"), ""),
        (GERMAN.encode("cp1252"), "text/html; charset=shift_jis"),
        (GERMAN.encode(), "text/html; charset=no-such-thing"),
        (GERMAN.encode(), "text/html; charset=rot13"),
        (GERMAN.encode(), "text/html; charset="),
    ],
)
def test_a_wrong_declaration_is_survived(body: bytes, content_type: str) -> None:
    """Where the bytes contradict what is declared, the bytes are right."""
    assert GERMAN in decode_page(body, content_type).text


def test_the_page_is_asked_where_the_server_is_wrong() -> None:
    """Content-Type says UTF-8, <meta> says what it is."""
    body = b'<meta charset="windows-1251">' + RUSSIAN.encode("cp1251")
    assert RUSSIAN in decode_page(body, "text/html; charset=utf-8").text


def test_damaged_utf8_stays_utf8() -> None:
    """One broken byte does not turn a page into another encoding."""
    text = decode_page((RUSSIAN * 5).encode() + b"\xff", "text/html; charset=utf-8").text
    assert text.startswith(RUSSIAN * 5)


@pytest.mark.parametrize(
    ("label", "codec"),
    [
        ("latin1", "cp1252"),
        ("US-ASCII", "cp1252"),
        (" UTF8 ", "utf-8"),
        ("gb2312", "gb18030"),
        ("x-sjis", "cp932"),
        ("euc-kr", "cp949"),
        ("windows-874", "cp874"),
        ("utf-16", None),
        ("utf-7", None),
        ("base64", None),
        ("\0", None),
        ("unicode_escape", None),
        ("", None),
    ],
)
def test_labels(label: str, codec: str | None) -> None:
    """A label is what browsers read it as; what is no encoding of the web is none here."""
    assert codec_name(label) == codec

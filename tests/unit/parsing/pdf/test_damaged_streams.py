"""Damage of a PDF that its readers do not notice."""

import zlib

import pytest

from sourcebook.parsing.pdf.damaged_streams import damaged_streams

TEXT = zlib.compress(b"BT (The upper gates) Tj ET " * 400)


def part(data: bytes, dictionary: bytes = b"/Filter /FlateDecode") -> bytes:
    """Return an object of a PDF with its bytes."""
    return b"7 0 obj\n<< /Length %d %s >>\nstream\r\n%s\nendstream\nendobj\n" % (len(data), dictionary, data)


def flipped(data: bytes, place: int) -> bytes:
    return data[:place] + bytes([data[place] ^ 4]) + data[place + 1 :]


@pytest.mark.parametrize("place", range(2, len(TEXT), 7))
def test_a_bit_that_is_flipped_is_noticed(place: int) -> None:
    """Wherever it is in the compressed bytes or their checksum."""
    assert damaged_streams(b"%PDF-1.7\n" + part(TEXT) + part(flipped(TEXT, place))) == 1


def test_a_part_that_is_cut_off_is_noticed() -> None:
    content = part(TEXT)
    assert damaged_streams(content[: content.index(TEXT) + len(TEXT) // 2]) == 1


@pytest.mark.parametrize(
    "content",
    [
        part(TEXT),
        part(TEXT, b"/Filter [ /FlateDecode ]"),
        part(b"no Flate", b"/Filter /DCTDecode"),
        part(b"no Flate", b"/Filter [/ASCII85Decode /FlateDecode]"),
        part(flipped(TEXT, 20), b"/Subtype /Image /Filter /FlateDecode"),
        part(flipped(TEXT, 20)) + b"trailer << /Encrypt 3 0 R >>",
    ],
)
def test_sound_parts_and_those_that_it_cannot_judge_are_not_damaged(content: bytes) -> None:
    """Other filters, pictures, and encrypted files."""
    assert damaged_streams(b"%PDF-1.7\n" + content) == 0

"""UTF-16 without a byte order mark, in scripts that leave few NUL bytes."""

import struct

import pytest

from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.text.decode import decode

TEXTS = {
    "Russian": "Ворота шлюза открывает сторож, который спит в башне.\n",
    "Greek": "Την πύλη ανοίγει τη νύχτα ο φύλακας του πύργου.\n",
    "Hebrew": "השומר פותח את השערים בלילה והוא ישן במגדל.\n",
    "Arabic": "يفتح الحارس البوابات ليلا وهو ينام في البرج.\n",
    "Thai": "คนเฝ้าประตู เปิดประตูในเวลากลางคืน 12 ครั้ง\n",
    "Japanese": "水門の番人は夜に門を開け、川のそばの塔で眠ります。\n",
    "Chinese": "看守人夜里打开水闸的大门，他睡在河边的塔里。\n",
    "Korean": "수문지기는 밤에 문을 열고 강가의 탑에서 잠을 잔다.\n",
}


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_each_script_is_read(text: str, encoding: str) -> None:
    """As a line and as a page; before, such a file was a program or letters of Windows-1252."""
    for times in (1, 200):
        content = (text * times).encode(encoding)
        assert detect_media_type("notes.txt", content[:4096]) == "text/plain"
        assert decode(content).text == text * times


@pytest.mark.parametrize(
    "content",
    [
        struct.pack("<300h", *range(700, 1000)),
        bytes(range(256)) * 4,
        b"\x7fELF\x02\x01\x01" + bytes(40) + "сторож".encode("utf-16-le") * 4,
        "Ворота шлюза открывает сторож".encode() + b"\0 and a stray NUL",
    ],
    ids=["numbers", "bytes", "program", "UTF-8"],
)
def test_other_bytes_are_no_utf16(content: bytes) -> None:
    """Numbers of two bytes are letters of some script, too; a NUL in a text is one."""
    assert "utf-16" not in decode(content).encoding

"""Write small documents and presentations of the old binary office formats."""

import struct
from collections.abc import Mapping, Sequence
from types import MappingProxyType

_FREE, _END, _FAT = 0xFFFFFFFF, 0xFFFFFFFE, 0xFFFFFFFD
_SECTOR = 512
_TEXT_AT = 0x800
"""Place of the text in the stream of a document."""


def binary_document(text: str, *others: str, marked: Mapping[str, int | bytes] = MappingProxyType({})) -> bytes:
    """Return a document of Word 97: a file information block, the text, and a piece table of one piece.

    Args:
        text: The running text.
        *others: Footnotes, headers, macros, comments, endnotes, boxes, and boxes in headers.
        marked: Codes of properties of characters that are 1, or whole properties, by the words that have them, in the
            order of the text.
    """
    parts = [part.replace("\n", "\r").encode("cp1252") for part in (text, *others)]
    data = b"".join(parts)
    block = bytearray(_TEXT_AT)
    struct.pack_into("<7H", block, 0, 0xA5EC, 0xC1, 0, 0x409, 0, 0x0200, 0xBF)
    struct.pack_into("<II", block, 0x18, _TEXT_AT, _TEXT_AT + len(data))
    struct.pack_into("<H", block, 0x20, 14)
    struct.pack_into("<H", block, 0x3E, 22)
    struct.pack_into("<I", block, 0x40, _TEXT_AT + len(data))
    struct.pack_into(f"<{len(parts)}I", block, 0x4C, *map(len, parts))
    struct.pack_into("<H", block, 0x98, 0x5D)
    piece = struct.pack("<IIHIH", 0, len(data), 0, 2 * _TEXT_AT | 0x40000000, 0)
    pieces = b"\x02" + struct.pack("<I", len(piece)) + piece
    struct.pack_into("<II", block, 0x1A2, 0, len(pieces))
    page = -(-(_TEXT_AT + len(data)) // _SECTOR)
    struct.pack_into("<II", block, 0xFA, len(pieces), 12)
    table = pieces + struct.pack("<III", _TEXT_AT, _TEXT_AT + len(data), page)
    stream = (bytes(block) + data).ljust(page * _SECTOR, b"\0") + _properties(data, marked)
    return compound_file([("1Table", table), ("WordDocument", stream)])


def _properties(data: bytes, marked: Mapping[str, int | bytes]) -> bytes:
    """Return a page of runs of characters, each of the marked words with its property set."""
    limits, offsets, stored = [_TEXT_AT], [], b""
    for words, each in marked.items():
        properties = each if isinstance(each, bytes) else struct.pack("<HB", each, 1)
        begin = _TEXT_AT + data.index(words.replace("\n", "\r").encode("cp1252"))
        limits += [begin, begin + len(words)]
        stored = bytes([len(properties)]) + properties + bytes(1 + len(properties) % 2) + stored
        offsets += [0, (_SECTOR - 2 - len(stored)) // 2]
    limits, offsets = [*limits, _TEXT_AT + len(data)], [*offsets, 0]
    head = struct.pack(f"<{len(limits)}I", *limits) + bytes(offsets)
    return head + bytes(_SECTOR - 2 - len(head) - len(stored)) + stored + bytes([0, len(offsets)])


def document_before_97(
    *parts: bytes, version: int = 0x68, flags: int = 0, pieces: Sequence[tuple[int, int]] = ()
) -> bytes:
    """Return a document of Word 6 or 95, or of Word 2, which is no compound file.

    Args:
        *parts: Text, footnotes, headers, macros, comments, endnotes and boxes, in the code page of the document.
        version: 0x65 for Word 6, 0x68 for Word 95, 0x2D for Word 2.
        flags: 4 for a text saved fast, 0x100 for an encrypted one.
        pieces: Beginning and length of the pieces of a text saved fast, in their order.
    """
    data = b"".join(parts)
    block = bytearray(_TEXT_AT)
    struct.pack_into("<HH6xH", block, 0, 0xA5DC if version > 0x60 else 0xA5DB, version, flags)
    struct.pack_into("<II", block, 0x18, _TEXT_AT, _TEXT_AT + len(data))
    struct.pack_into(f"<{len(parts)}I", block, 0x34, *map(len, parts))
    table = b""
    if pieces:
        places = [sum(length for _, length in pieces[:number]) for number in range(len(pieces) + 1)]
        table = struct.pack(f"<{len(places)}I", *places)
        table += b"".join(struct.pack("<HIH", 0, _TEXT_AT + begin, 0) for begin, _ in pieces)
        table = b"\x01\x02\x00ab\x02" + struct.pack("<I", len(table)) + table
        struct.pack_into("<II", block, 0x160, _TEXT_AT + len(data), len(table))
    stream = bytes(block) + data + table
    return compound_file([("WordDocument", stream)]) if version > 0x60 else stream


def binary_slides(*slides: tuple[str, str]) -> bytes:
    """Return a presentation of PowerPoint 97 with a slide for each title and body; one without title has none."""
    texts = b"".join(
        _record(0, 0, 1011, struct.pack("<5I", number, 4, 2, 255 + number, 0))
        + (_text(title, 0) if title else b"")
        + _text(body, 1)
        for number, (title, body) in enumerate(slides, 2)
    )
    sizes = struct.pack("<6iIIHH4B", 5760, 4320, 4320, 5760, 1, 2, 0, 0, 1, 0, 0, 0, 0, 0)
    document = _record(15, 0, 1000, _record(1, 0, 1001, sizes) + _record(15, 0, 4080, texts) + _record(0, 0, 1002, b""))
    stream = document
    offsets = [0]
    for _ in slides:
        offsets.append(len(stream))
        stream += _record(15, 0, 1006, _record(2, 0, 1007, bytes(24)))
    number = len(offsets)
    places = _record(0, 0, 6002, struct.pack(f"<{number + 1}I", 1 | number << 20, *offsets))
    edit = _record(0, 0, 4085, struct.pack("<IHBBIIIIHH", 256, 0, 0, 3, 0, len(stream), 1, number, 1, 0))
    user = struct.pack("<IIIHHBBH", 20, 0xE391C05F, len(stream + places), 4, 0x3F4, 3, 0, 0)
    current = _record(0, 0, 4086, user + b"Ada\0" + struct.pack("<I", 8))
    return compound_file([("Current User", current), ("PowerPoint Document", stream + places + edit)])


def presentation_of(stream: bytes) -> bytes:
    """Return a compound file whose only stream is that of a presentation."""
    return compound_file([("PowerPoint Document", stream)])


def with_properties(title: bytes, code_page: int) -> bytes:
    """Return a compound file whose only stream states a title, in a code page, and a date that was never set."""
    values = [(1, struct.pack("<IhH", 2, code_page, 0)), (2, struct.pack("<II", 30, len(title) + 1) + title + bytes(4))]
    values.append((12, struct.pack("<IQ", 64, 0)))
    places, section = b"", b""
    for number, value in values:
        places += struct.pack("<II", number, 8 + 8 * len(values) + len(section))
        section += value + bytes(-len(value) % 4)
    body = struct.pack("<II", 8 + len(places) + len(section), len(values)) + places + section
    head = struct.pack("<HHI16sI16sI", 0xFFFE, 0, 2, bytes(16), 1, bytes(16), 48)
    return compound_file([("\x05SummaryInformation", head + body)])


def _text(text: str, kind: int) -> bytes:
    return _record(0, 0, 3999, struct.pack("<I", kind)) + _record(0, 0, 4000, text.encode("utf-16-le"))


def _record(version: int, instance: int, kind: int, body: bytes) -> bytes:
    return struct.pack("<HHI", version | instance << 4, kind, len(body)) + body


def compound_file(streams: Sequence[tuple[str, bytes]]) -> bytes:
    """Return a compound file of at most three streams, the one with the shortest name first."""
    sectors, chain, entries = b"", [_FAT, _END], []
    for number, (name, content) in enumerate(streams, 1):
        count = -(-max(len(content), 4096) // _SECTOR)
        entries.append(_entry(name, 2, right=number + 1 if number < len(streams) else _FREE, start=len(chain),
                              size=count * _SECTOR))  # fmt: skip
        chain += [*range(len(chain) + 1, len(chain) + count), _END]
        sectors += content.ljust(count * _SECTOR, b"\0")
    header = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(16) + struct.pack("<5H", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    header += struct.pack("<10I", 0, 1, 1, 0, 4096, _END, 0, _END, 0, 0) + struct.pack("<I", _FREE) * 108
    table = struct.pack(f"<{len(chain)}I", *chain).ljust(_SECTOR, b"\xff")
    directory = [_entry("Root Entry", 5, child=1), *entries, *[_entry("", 0)] * (3 - len(entries))]
    return header + table + b"".join(directory) + sectors


def _entry(name: str, kind: int, *, child: int = _FREE, right: int = _FREE, start: int = _END, size: int = 0) -> bytes:
    encoded = f"{name}\0".encode("utf-16-le") if name else b""
    links = struct.pack("<HBBIII", len(encoded), kind, 1, _FREE, right, child)
    return encoded.ljust(64, b"\0") + links + bytes(36) + struct.pack("<IQ", start, size)

"""Write small PDFs without a PDF library: text in a few fonts, lines, pictures, an outline, encryption."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Font = Literal["plain", "bold", "mono", "unicode", "unmapped"]
"""`unicode` shows Latin to Arabic letters, nearly all half as wide as high; `unmapped` does not say which they are."""

_NAMES = {"plain": "Helvetica", "bold": "Helvetica-Bold", "mono": "Courier"}
_PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


@dataclass(frozen=True, slots=True)
class Shown:
    """A text at a place: points from the lower left corner of a page of 612 by 792."""

    x: float
    y: float
    text: str
    size: float = 10
    bold: bool = False
    font: Font = "plain"
    angle: Literal[0, 90, 180, 270] = 0
    """Counter-clockwise."""
    mode: int = 0
    """PDF's text rendering mode: 3 is invisible, 7 only clips."""

    def operators(self) -> str:
        """Return what paints it."""
        font = "bold" if self.bold else self.font
        wide = font in ("unicode", "unmapped")
        text = f"<{self.text.encode('utf-16-be').hex()}>" if wide else f"({_escaped(self.text)})"
        cos, sin = {0: (1, 0), 90: (0, 1), 180: (-1, 0), 270: (0, -1)}[self.angle]
        return f"BT {self.mode} Tr /{font} {self.size} Tf {cos} {sin} {-sin} {cos} {self.x} {self.y} Tm {text} Tj ET"


@dataclass(frozen=True, slots=True)
class Stroke:
    """A drawn line."""

    x: float
    y: float
    to_x: float
    to_y: float

    def operators(self) -> str:
        """Return what paints it."""
        return f"{self.x} {self.y} m {self.to_x} {self.to_y} l S"


@dataclass(frozen=True, slots=True)
class Picture:
    """A grey picture."""

    x: float = 0
    y: float = 0
    width: float = 612
    height: float = 792

    def operators(self) -> str:
        """Return what paints it."""
        return f"q {self.width} 0 0 {self.height} {self.x} {self.y} cm /picture Do Q"


@dataclass(frozen=True, slots=True)
class Drawn:
    """Operators as they are written."""

    written: str

    def operators(self) -> str:
        """Return what paints it."""
        return self.written


Mark = Shown | Stroke | Picture | Drawn


def grid(xs: Sequence[float], ys: Sequence[float]) -> list[Stroke]:
    """Return the lines of a table whose columns part at `xs` and whose rows part at `ys`."""
    across = [Stroke(min(xs), y, max(xs), y) for y in ys]
    return across + [Stroke(x, min(ys), x, max(ys)) for x in xs]


def pdf(
    pages: Sequence[Sequence[Mark]],
    *,
    info: str = "",
    outline: Sequence[tuple[str, int]] = (),
    password: str | None = None,
    media_box: str = "0 0 612 792",
    catalog: str = "",
) -> bytes:
    """Return a PDF.

    Args:
        pages: what is painted on each.
        info: entries of the document information dictionary, as they are written.
        outline: titles and the pages they lead to, counted from 1.
        password: encrypts the pages' contents; an empty one opens without being asked for.
        media_box: of all pages, as it is written.
        catalog: further entries of the catalog, as they are written.
    """
    first = 16
    kids = " ".join(f"{first + 2 * number} 0 R" for number in range(len(pages)))
    entry = first + 2 * len(pages)
    outlines = "/Outlines 11 0 R" if outline else ""
    objects: list[str | bytes] = [
        f"<< /Type /Catalog /Pages 2 0 R {outlines} {catalog} >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{kids}] >>",
        *(
            f"<< /Type /Font /Subtype /Type1 /BaseFont /{name} /Encoding /WinAnsiEncoding >>"
            for name in _NAMES.values()
        ),
        f"<< {info} >>",
        _wide_font("/ToUnicode 10 0 R"),
        _wide_font(""),
        (
            "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /Wide /DW 500 /W [105 [250] 108 [250]] "
            "/FontDescriptor 12 0 R /CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> >>"
        ),
        _stream("", _TO_UNICODE),
        f"<< /Type /Outlines /First {entry} 0 R /Last {entry + len(outline) - 1} 0 R /Count {len(outline)} >>",
        (
            "<< /Type /FontDescriptor /FontName /Wide /Flags 4 /FontBBox [0 -200 1000 800] /ItalicAngle 0 "
            "/Ascent 750 /Descent -250 /CapHeight 700 /StemV 80 >>"
        ),
        _stream("/Type /XObject /Subtype /Image /Width 1 /Height 1 /ColorSpace /DeviceGray /BitsPerComponent 8", "z"),
        "<< /picture 13 0 R >>",
        "<< /plain 3 0 R /bold 4 0 R /mono 5 0 R /unicode 7 0 R /unmapped 8 0 R >>",
    ]
    for number, page in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [{media_box}] /Contents {first + 1 + 2 * number} 0 R "
            "/Resources << /Font 15 0 R /XObject 14 0 R >> >>",
        )
        objects.append(_stream("", "\n".join(mark.operators() for mark in page)))
    for number, (title, page_number) in enumerate(outline):
        near = f"/Next {entry + number + 1} 0 R" if number + 1 < len(outline) else ""
        target = f"[{first + 2 * (page_number - 1)} 0 R /Fit]"
        objects.append(f"<< /Title ({_escaped(title)}) /Parent 11 0 R {near} /Dest {target} >>")
    trailer = "/Root 1 0 R /Info 6 0 R"
    if password is not None:
        objects, trailer = _encrypted(objects, password)
    return assembled(objects, trailer)


def assembled(objects: Sequence[str | bytes], trailer: str = "/Root 1 0 R") -> bytes:
    """Return a file of these objects, numbered from 1."""
    content, places = b"%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(content))
        raw = body if isinstance(body, bytes) else body.encode("latin-1")
        content += b"%d 0 obj\n" % number + raw + b"\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size, start = len(objects) + 1, len(content)
    table = f"xref\n0 {size}\n0000000000 65535 f \n{table}"
    return content + f"{table}trailer\n<< /Size {size} {trailer} >>\nstartxref\n{start}\n%%EOF\n".encode("latin-1")


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


def _stream(entries: str, data: str) -> str:
    return f"<< {entries} /Length {len(data)} >>\nstream\n{data}\nendstream"


def _wide_font(entries: str) -> str:
    return f"<< /Type /Font /Subtype /Type0 /BaseFont /Wide /Encoding /Identity-H /DescendantFonts [9 0 R] {entries} >>"


_TO_UNICODE = """/CIDInit /ProcSet findresource begin 12 dict begin begincmap
/CMapName /Same def /CMapType 2 def
1 begincodespacerange <0000> <FFFF> endcodespacerange
3 beginbfrange <0020> <06FF> <0020> <2010> <2030> <2010> <FB00> <FB06> <FB00> endbfrange
endcmap CMapName currentdict /CMap defineresource pop end end"""


def _encrypted(objects: Sequence[str | bytes], password: str) -> tuple[list[str | bytes], str]:
    """Encrypt streams with RC4 of 40 bits, PDF's first and simplest way."""
    padded = (password.encode("latin-1") + _PADDING)[:32]
    identity, permissions = b"0123456789abcdef", -4
    owner = _rc4(_md5(padded)[:5], padded)
    key = _md5(padded + owner + permissions.to_bytes(4, "little", signed=True) + identity)[:5]
    user = _rc4(key, _PADDING)
    result: list[str | bytes] = []
    for number, body in enumerate(objects, start=1):
        raw = body if isinstance(body, bytes) else body.encode("latin-1")
        head, begin, rest = raw.partition(b"stream\n")
        if begin:
            data, end, _ = rest.rpartition(b"\nendstream")
            own = _md5(key + number.to_bytes(3, "little") + b"\0\0")[:10]
            raw = head + begin + _rc4(own, data) + end
        result.append(raw)
    result.append(
        f"<< /Filter /Standard /V 1 /R 2 /P {permissions} /O <{owner.hex()}> /U <{user.hex()}> >>",
    )
    return result, f"/Root 1 0 R /Encrypt {len(result)} 0 R /ID [<{identity.hex()}> <{identity.hex()}>]"


def _md5(data: bytes) -> bytes:
    return hashlib.md5(data, usedforsecurity=False).digest()


def _rc4(key: bytes, data: bytes) -> bytes:
    state, swap = list(range(256)), 0
    for index in range(256):
        swap = (swap + state[index] + key[index % len(key)]) % 256
        state[index], state[swap] = state[swap], state[index]
    result, first, second = bytearray(), 0, 0
    for byte in data:
        first = (first + 1) % 256
        second = (second + state[first]) % 256
        state[first], state[second] = state[second], state[first]
        result.append(byte ^ state[(state[first] + state[second]) % 256])
    return bytes(result)

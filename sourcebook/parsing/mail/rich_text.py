"""The compressed Rich Text that Outlook keeps where a message has no other body."""

import re
import struct
from collections.abc import Iterator

_PRELOADED = (
    rb"{\rtf1\ansi\mac\deff0\deftab720{\fonttbl;}{\f0\fnil \froman \fswiss \fmodern \fscript \fdecor MS Sans Serif"
    rb"SymbolArialTimes New RomanCourier{\colortbl\red0\green0\blue0"
    b"\r\n"
    rb"\par \pard\plain\f0\fs20\b\i\u\tab\tx"
)
_WINDOW = 4096
_LARGEST = 64 << 20
_TOKEN = re.compile(
    r"\\(?:'(?P<byte>[0-9a-fA-F]{2})|(?P<word>[a-zA-Z]+)(?P<number>-?\d{1,10})? ?|(?P<symbol>[^a-zA-Z]))"
    r"|(?P<open>\{)|(?P<close>\})|[\r\n]+|(?P<text>[^\\{}\r\n]+)"
)
_SPOKEN = {
    "par": "\n", "line": "\n", "sect": "\n\n", "page": "\n\n", "tab": "\t", "cell": "\t", "row": "\n",
    "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”", "bullet": "•", "endash": "–", "emdash": "—",
}  # fmt: skip
_SYMBOLS = {"~": "\u00a0", "_": "\u2011", "\\": "\\", "{": "{", "}": "}", "\n": "\n", "\r": "\n"}
_SILENT = frozenset(
    {"fonttbl", "colortbl", "stylesheet", "info", "pict", "object", "themedata", "datastore", "listtable",
     "listoverridetable", "rsidtbl", "generator", "header", "footer", "fldinst", "filetbl", "latentstyles"}
)  # fmt: skip


def decompress(content: bytes) -> bytes:
    """Unpack compressed RTF (MS-OXRTFCP), up to 64 MiB; "" where it is none."""
    if len(content) < 16:
        return b""
    _, size, kind = struct.unpack_from("<II4s", content)
    if kind == b"MELA":
        return content[16 : 16 + size]
    if kind != b"LZFu":
        return b""
    return _unpacked(content, min(size, _LARGEST))


def rich_text(rtf: bytes) -> tuple[str, str]:
    """Return plain text and HTML of an RTF document: HTML where it was made from HTML, text otherwise."""
    source = rtf.decode("latin-1")
    codepage = re.search(r"\\ansicpg(\d{3,5})", source[:1000])
    if re.search(r"\\fromhtml1\b", source[:1000]):
        return "", "".join(_spoken(source, codepage[1] if codepage else "1252", html=True))
    return "".join(_spoken(source, codepage[1] if codepage else "1252", html=False)), ""


def _unpacked(content: bytes, size: int) -> bytes:
    window = bytearray(_PRELOADED.ljust(_WINDOW, b"\0"))
    write = len(_PRELOADED)
    out = bytearray()
    position = 16
    while position < len(content) and len(out) < size:
        flags = content[position]
        position += 1
        for bit in range(8):
            if flags >> bit & 1:
                token = content[position : position + 2]
                position += 2
                offset = int.from_bytes(token, "big") >> 4
                if len(token) < 2 or offset == write:
                    return bytes(out)
                length = (token[1] & 15) + 2
            else:
                if position >= len(content):
                    return bytes(out)
                window[write] = content[position]
                offset, length = write, 1
                position += 1
            for step in range(length):
                byte = window[(offset + step) % _WINDOW]
                out.append(byte)
                window[write] = byte
                write = (write + 1) % _WINDOW
    return bytes(out)


def _spoken(source: str, codepage: str, *, html: bool) -> Iterator[str]:
    """Yield what an RTF document says; of one made from HTML, its tags too and not what stands for them."""
    encoding = _codec(codepage)
    silent, skipped, uc = False, 0, 1
    groups: list[tuple[bool, int]] = []
    stray = bytearray()
    starred = False
    for token in _TOKEN.finditer(source):
        if token["byte"] is None and stray:
            yield stray.decode(encoding, errors="replace")
            stray.clear()
        if token["open"]:
            groups.append((silent, uc))
        elif token["close"]:
            silent, uc = groups.pop() if groups else (False, 1)
        elif token["word"]:
            word, number = token["word"], token["number"]
            if word in {"htmltag", "mhtmltag"}:
                silent = word == "mhtmltag" or not html
            elif word == "htmlrtf":
                silent = html and number != "0"
            elif starred or word in _SILENT:
                silent = True
            elif word == "uc":
                uc = int(number or 1)
            elif word == "u" and number and not silent:
                yield chr(int(number) % 65536)
                skipped = uc
            elif word in _SPOKEN and not silent:
                yield _SPOKEN[word]
        elif token["byte"]:
            if skipped:
                skipped -= 1
            elif not silent:
                stray.append(int(token["byte"], 16))
        elif token["symbol"]:
            if token["symbol"] != "*" and not silent:
                yield _SYMBOLS.get(token["symbol"], "")
        elif token["text"] and not silent:
            yield token["text"][skipped:]
            skipped = 0
        starred = token["symbol"] == "*"
    yield stray.decode(encoding, errors="replace")


def _codec(codepage: str) -> str:
    try:
        return "utf-8" if codepage == "65001" else "".encode(f"cp{codepage}").decode() or f"cp{codepage}"
    except LookupError:
        return "cp1252"

"""Media type of a file: by its content where that has a signature, by its name otherwise."""

import re
import zlib
from contextlib import suppress

from sourcebook.model import media_types as media
from sourcebook.parsing.other_programs import PROGRAMS
from sourcebook.parsing.text.decode import utf16_without_mark
from sourcebook.parsing.text_signatures import type_of_text

HEAD_BYTES = 4096
"""Bytes at the start of a file that `detect_media_type` reads."""

_RENAMED = {
    "application/font-sfnt": "font/ttf",
    "application/font-woff": "font/woff2",
    "application/x-msdownload": "application/x-executable",
    "application/x-rar-compressed": "application/vnd.rar",
    "application/x-sqlite3": media.SQLITE,
    "application/x-unix-archive": "application/x-executable",
    "audio/midi": media.BINARY,  # notes, no sound that could be transcribed
    "audio/x-aiff": "audio/aiff",
    "audio/x-flac": "audio/flac",
    "audio/x-wav": "audio/wav",
    "image/apng": "image/png",
    "image/x-canon-cr2": "image/tiff",
}
"""Media types of the package filetype, each with the name used here."""
_NEVER_TEXT = frozenset(
    {"application/dicom", "application/postscript", "application/vnd.ms-cab-compressed", "application/x-brotli",
     "application/x-google-chrome-extension", "application/x-lzip", "application/x-msdownload",
     "application/x-nintendo-nes-rom", "application/x-shockwave-flash", "application/x-sqlite3",
     "application/x-unix-archive", "audio/midi", "image/bmp", "image/vnd.adobe.photoshop", "image/vnd.dwg"}
)  # fmt: skip
"""Media types of filetype whose short signature may also begin a text, such as "BM" or "MZ"."""
_MORE_SIGNATURES = (
    (b"\x1f\x8b", "application/gzip"),
    (b"\x7fELF", "application/x-executable"),
    (b"\xcf\xfa\xed\xfe", "application/x-executable"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"\x00asm", "application/wasm"),
    (b"PAR1", media.PARQUET),
    (b"#!AMR", "audio/amr"),
    (b"caff\x00\x01", "audio/x-caf"),
    (b"wvpk", "audio/x-wavpack"),
    (b"wOF2", "font/woff2"),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", "video/x-ms-wmv"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
)
"""Signatures that filetype lacks, or recognises only in longer heads."""
_SOUND_OR_VIDEO = {
    "audio/ogg": ("audio/ogg", "video/ogg"),
    "video/webm": ("video/webm", "audio/webm"),
    "video/x-matroska": ("video/x-matroska", "audio/x-matroska"),
    "video/x-ms-wmv": ("video/x-ms-asf", "audio/x-ms-wma", "video/x-ms-wmv"),
}
"""Media types of containers of sound or video; the file name selects one, by default the first."""
_BRANDS = {
    b"M4A ": "audio/mp4",
    b"M4B ": "audio/mp4",
    b"M4P ": "audio/mp4",
    b"avif": "image/avif",
    b"avis": "image/avif",
    b"heic": "image/heic",
    b"heim": "image/heic",
    b"heis": "image/heic",
    b"hevc": "image/heic",
    b"heix": "image/heic",
    b"mif1": "image/heic",
    b"msf1": "image/heic",
    b"qt  ": "video/quicktime",
}
"""Media types by the major brand of an ISO media file; filetype also reads the compatible brands, which say less."""
_PICTURES = frozenset({"image/avif", "image/heic"})
"""Pictures in the container of MP4; a brand that is not known says less than their name."""
_OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_JAVA_ARCHIVE = "application/java-archive"
_PACKED = "application/x-packed"
_HOLD_FILES = media.CONTAINERS | {media.MHTML}
_OFFICE_FOLDER = re.compile(rb"\x00(word|ppt|xl)/")
_OFFICE_TYPES = {b"word": media.DOCX, b"ppt": media.PPTX, b"xl": media.XLSX}
_PACKED_TYPES = frozenset({media.DOCX, media.PPTX, media.XLSX, media.XLSB, media.ODT, media.ODP, media.ODS})
_SUCCESSORS = {media.DOC: media.DOCX, media.RTF: media.DOCX, media.PPT: media.PPTX, media.XLS: media.XLSX}
"""Formats of Office 2007 under the endings of those before them."""
_OPENDOCUMENT = re.compile(rb"application/(?:epub\+zip|vnd\.oasis\.opendocument\.(?:text|presentation|spreadsheet))")
_MARKUP = re.compile(rb"\s*<[!?a-z]", re.IGNORECASE)
"""Beginning of HTML and XML, which no signature has; filetype tries some eighty."""
_CONTROL = bytes(byte for byte in range(32) if byte not in b"\t\n\f\r\x1b\x08\x00") + b"\x7f"
_STRAY_NULS = 2
"""NUL characters that do not make a short text binary."""
_SHORT = 64
"""Bytes of a text up to which one letter may be most of it."""
_UTF_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


def detect_media_type(name: str, head: bytes) -> str:
    """Return the media type of a file.

    A signature in the content decides. The name selects among ZIP archives (.docx is one) and among types of text.
    Text named as PDF or image is `text/plain`; text named as recording keeps the recording's type and is refused
    when it is opened, because a server's error message is no document.

    Args:
        name: file name, path or URI.
        head: the first `HEAD_BYTES` bytes, fewer where the file is shorter.
    """
    head = head[:HEAD_BYTES]
    named = media.media_type_of_name(name)
    if not head:
        return named or media.PLAIN_TEXT
    proven = _of_signature(head, name, named)
    if proven == "application/gzip" and (packed := _packed_text(name, head)):
        return packed
    if proven in media.COMPRESSED and named in {media.TAR, media.SVG, media.ABIWORD, media.GNUMERIC}:
        return named
    if proven is not None:
        return proven
    if not looks_like_text(head):
        is_other = named == media.SQLITE and media.extension_of(name) == "db"  # an ending of many formats
        return media.BINARY if named is None or is_other or media.is_text_type(named) else named
    if named == media.ABIWORD or (named is not None and media.is_recording(named)):
        return named
    if (stated := type_of_text(head, named)) is not None:
        return stated
    return named if named is not None and media.is_text_type(named) else media.PLAIN_TEXT


def looks_like_text(head: bytes) -> bool:
    """Return whether bytes are text in UTF-8, UTF-16 or an 8-bit encoding; a few stray NULs are allowed."""
    if head.startswith(_UTF_MARKS) or utf16_without_mark(head) is not None:
        return True
    control = len(head) - len(head.translate(None, _CONTROL))
    if head.count(0) > max(_STRAY_NULS, len(head) // 20) or control * 50 > len(head):
        return False
    try:
        head.decode("utf-8")
    except UnicodeDecodeError as error:
        if error.start >= len(head) - 3:  # cut within a character
            return True
        return control == 0 and head.count(0) == 0 and not _is_filled(head)
    return True


def _is_filled(head: bytes) -> bool:
    """Tell whether one byte beyond ASCII is more than half of the head, as in empty parts of pictures."""
    return 2 * max((head.count(byte) for byte in set(head) if byte > 0x7F), default=0) > max(len(head), _SHORT)


def _of_signature(head: bytes, name: str, named: str | None) -> str | None:
    import filetype  # type: ignore[import-untyped] # has no types; `looks_like_text` is also used without the package

    if head.startswith(_ZIP_MARKS):
        return _zip_type(head, name, named)
    if head.startswith(_OLE_MARK):
        return (
            named
            if named in {media.DOC, media.PPT, media.XLS, media.OUTLOOK} or (named in PROGRAMS and named is not None)
            else media.OLE
        )
    if (frame := _audio_frame(head)) is not None:
        return frame if named in {frame, None} else None
    if head[4:8] == b"ftyp" and head[8:12] in _BRANDS:
        return _BRANDS[head[8:12]]
    guessed = "" if _MARKUP.match(head) else filetype.guess_mime(head)
    if guessed == media.ZIP:  # its mark is damaged, and all that packs like it may still be read
        return _zip_type(head, name, named)
    if guessed in _NEVER_TEXT and looks_like_text(head):
        guessed = None
    found = _RENAMED.get(guessed, guessed) or next(
        (media_type for mark, media_type in _MORE_SIGNATURES if head.startswith(mark)), None
    )
    if found in _SOUND_OR_VIDEO:
        return named if named in _SOUND_OR_VIDEO[found] else _SOUND_OR_VIDEO[found][0]
    return found or _framed(head, named)


def _framed(head: bytes, named: str | None) -> str | None:
    """Return the media type of formats whose signature follows some other bytes, and that filetype does not find."""
    if head[:4] == b"RF64":
        return "audio/wav"
    if head[:4] == b"FORM" and head[8:12] == b"AIFC":
        return "audio/aiff"
    if head[4:8] == b"ftyp":
        return named if named in _PICTURES else "video/mp4"
    starts = head.lstrip(b"\xef\xbb\xbf \t\r\n\0").startswith(b"%PDF-")
    return media.PDF if starts or (named == media.PDF and b"%PDF-" in head[:1024]) else None


def _packed_text(name: str, head: bytes) -> str | None:
    """Return the media type of a text that gzip compressed, such as `notes.txt.gz`; None where it is no such text."""
    with suppress(zlib.error):
        inner = zlib.decompressobj(wbits=31).decompress(head, HEAD_BYTES)
        media_type = detect_media_type(name.removesuffix(".gz"), inner) if inner and name else media.BINARY
        return media_type if media.is_text_type(media_type) and media_type not in _HOLD_FILES else None
    return None


def _audio_frame(head: bytes) -> str | None:
    """Return the media type of MPEG audio without tags, which begins with a frame: 11 or 12 bits that are set."""
    if len(head) < 2 or head[0] != 0xFF:
        return None
    if head[1] & 0xE6 == 0xE2:
        return "audio/mpeg"
    return "audio/aac" if head[1] & 0xF6 == 0xF0 else None


def _zip_type(head: bytes, name: str, named: str | None) -> str:
    if head[30:38] == b"mimetype" and (declared := _OPENDOCUMENT.match(head, 38)):
        return declared[0].decode()
    is_office = b"[Content_Types].xml" in head or b"_rels/" in head
    if is_office and named != media.XLSB and (folder := _OFFICE_FOLDER.search(head)):
        return _OFFICE_TYPES[folder[1]]
    if named in _PACKED_TYPES or (is_office and named in _SUCCESSORS):
        return _SUCCESSORS.get(named, named)
    if named in {media.EPUB, _JAVA_ARCHIVE} or named in PROGRAMS:
        return named or media.ZIP
    # Other endings are those of formats that are packed like a ZIP archive, such as .apk.
    return media.ZIP if named is not None or not media.extension_of(name) else _PACKED

"""The media type a file's first bytes prove."""

from sourcebook.model.media_types import DOCX, EPUB, OLE, PDF, PPTX, XLSX, ZIP, media_type_of_name

_SIGNATURES = (
    (b"%PDF-", PDF),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\x00", "image/tiff"),
    (b"MM\x00*", "image/tiff"),
    (b"\x00\x00\x01\x00", "image/x-icon"),
    (b"\x1f\x8b", "application/gzip"),
    (b"BZh", "application/x-bzip2"),
    (b"\xfd7zXZ\x00", "application/x-xz"),
    (b"\x28\xb5\x2f\xfd", "application/zstd"),
    (b"7z\xbc\xaf\x27\x1c", "application/x-7z-compressed"),
    (b"Rar!\x1a\x07", "application/vnd.rar"),
    (b"\x7fELF", "application/x-executable"),
    (b"\xcf\xfa\xed\xfe", "application/x-executable"),
    (b"\xca\xfe\xba\xbe", "application/java-vm"),
    (b"\x00asm", "application/wasm"),
    (b"SQLite format 3\x00", "application/vnd.sqlite3"),
    (b"PAR1", "application/vnd.apache.parquet"),
    (b"{\\rtf", "application/rtf"),
    (b"ID3", "audio/mpeg"),
    (b"fLaC", "audio/flac"),
    (b"#!AMR", "audio/amr"),
    (b"caff\x00\x01", "audio/x-caf"),
    (b"wvpk", "audio/x-wavpack"),
    (b"FLV\x01", "video/x-flv"),
    (b"\x00\x00\x01\xba", "video/mpeg"),
    (b"wOF2", "font/woff2"),
    (b"OTTO\x00", "font/otf"),
    (b"\x00\x01\x00\x00\x00", "font/ttf"),
)
_RIFF = {b"WAVE": "audio/wav", b"WEBP": "image/webp", b"AVI ": "video/x-msvideo"}
_EBML_HEAD = 64
_SOUND_OR_VIDEO = (
    (b"OggS", ("audio/ogg", "video/ogg")),
    (b"\x30\x26\xb2\x75\x8e\x66\xcf\x11", ("video/x-ms-asf", "audio/x-ms-wma", "video/x-ms-wmv")),
)
"""Containers whose mark does not tell whether there are pictures: the name may, else it is the first one."""
_OLE_MARK = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_OLE_TYPES = frozenset(
    {"application/msword", "application/vnd.ms-powerpoint", "application/vnd.ms-excel", "application/vnd.ms-outlook"},
)
_ZIP_MARKS = (b"PK\x03\x04", b"PK\x05\x06", b"PK\x07\x08")
_OFFICE = frozenset({DOCX, PPTX, XLSX})
_OFFICE_FOLDERS = ((b"word/", DOCX), (b"ppt/", PPTX), (b"xl/", XLSX))


def media_type_of_signature(name: str, head: bytes) -> str | None:
    """Return the type `head` is proof of, None where it bears no known signature."""
    if head.startswith(_ZIP_MARKS):
        return _zip_type(name, head)
    if head.startswith(_OLE_MARK):
        known = media_type_of_name(name)
        return known if known in _OLE_TYPES else OLE
    for mark, media_type in _SIGNATURES:
        if head.startswith(mark):
            return media_type
    return _sound_or_video(name, head) or _framed(head) or _weak(name, head)


def _sound_or_video(name: str, head: bytes) -> str | None:
    named = media_type_of_name(name)
    if head.startswith(b"\x1aE\xdf\xa3"):
        kind = "webm" if b"webm" in head[:_EBML_HEAD] else "x-matroska"
        return named if named == f"audio/{kind}" else f"video/{kind}"
    for mark, media_types in _SOUND_OR_VIDEO:
        if head.startswith(mark):
            return named if named in media_types else media_types[0]
    return None


def _framed(head: bytes) -> str | None:
    """Containers that name their kind a few bytes in."""
    if head[:4] in {b"RIFF", b"RF64"}:
        return _RIFF.get(head[8:12])
    if head[:4] == b"FORM" and head[8:12] in {b"AIFF", b"AIFC"}:
        return "audio/aiff"
    if head[4:8] == b"ftyp":
        brand = head[8:12]
        if brand in {b"M4A ", b"M4B ", b"M4P "}:
            return "audio/mp4"
        if brand in {b"heic", b"heix", b"mif1"}:
            return "image/heic"
        return "video/quicktime" if brand == b"qt  " else "video/mp4"
    return "application/x-tar" if head[257:262] == b"ustar" else None


def _weak(name: str, head: bytes) -> str | None:
    """Signatures too short or too far in to be believed without the name's agreement."""
    expected = media_type_of_name(name)
    if head[:2] == b"MZ" and (expected == "application/x-executable" or b"\x00" in head):
        return "application/x-executable"
    if head[:2] == b"BM" and b"\x00" in head[:64] and expected in {"image/bmp", None}:
        return "image/bmp"
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xE6 == 0xE2 and expected in {"audio/mpeg", None}:
        return "audio/mpeg"  # a frame of MPEG layer III without tags
    if len(head) > 1 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0 and expected in {"audio/aac", None}:
        return "audio/aac"  # a frame of ADTS: the bits that tell MPEG's layer are 0
    if expected == PDF and b"%PDF-" in head[:1024]:
        return PDF
    return None


def _zip_type(name: str, head: bytes) -> str:
    expected = media_type_of_name(name)
    if head[30:38] == b"mimetype":
        declared = head[38:120]
        if declared.startswith(b"application/epub+zip"):
            return EPUB
        for kind in ("text", "presentation", "spreadsheet"):
            opendocument = f"application/vnd.oasis.opendocument.{kind}"
            if declared.startswith(opendocument.encode()):
                return opendocument
    if expected in _OFFICE:
        return expected
    if b"[Content_Types].xml" in head or b"_rels/" in head:
        for folder, media_type in _OFFICE_FOLDERS:
            if folder in head:
                return media_type
    return EPUB if expected == EPUB else ZIP

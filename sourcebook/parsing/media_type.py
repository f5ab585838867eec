"""Tell what kind of file this is: by its content where that proves it, by its name otherwise."""

import re

from sourcebook.model.media_types import BINARY, HTML, PLAIN_TEXT, is_recording, is_text_type, media_type_of_name
from sourcebook.parsing.signatures import media_type_of_signature
from sourcebook.parsing.text.decode import utf16_without_mark

HEAD_BYTES = 4096
"""Bytes of a file that `detect_media_type` wants to see."""

_HTML = re.compile(rb"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html[\s>])", re.IGNORECASE | re.DOTALL)
_CONTROL = bytes(byte for byte in range(32) if byte not in b"\t\n\f\r\x1b\x08\x00") + b"\x7f"
_STRAY_NULS = 2
_UTF_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff", b"\x00\x00\xfe\xff")


def detect_media_type(name: str, head: bytes) -> str:
    """Return the media type of a file.

    Content decides where it bears a signature; the name picks among zip archives (a .docx is one) and among kinds
    of text. What claims to be a PDF or an image but is text is `text/plain`; what claims to be a recording remains
    one, for nobody wants to search what a server said in place of it: that it is text is told when it is opened.

    Args:
        name: File name, path or URI.
        head: The first bytes, 4,096 or so; fewer where the file is shorter.
    """
    head = head[:HEAD_BYTES]
    named = media_type_of_name(name)
    if not head:
        return named or PLAIN_TEXT
    proven = media_type_of_signature(name, head)
    if proven is not None:
        return proven
    if not looks_like_text(head):
        return BINARY if named is None or is_text_type(named) else named
    if named is not None and (is_recording(named) or (is_text_type(named) and named != PLAIN_TEXT)):
        return named
    return HTML if _HTML.match(head) else PLAIN_TEXT


def looks_like_text(head: bytes) -> bool:
    """Whether bytes are text in UTF-8, UTF-16 or an older 8-bit encoding; a few stray NULs are forgiven."""
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
        return control == 0 and head.count(0) == 0
    return True

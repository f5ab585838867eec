"""Files of a few kilobytes that take gigabytes of memory."""

import zlib
from collections.abc import Sequence

_BLOCK = b"0 0 m 1 1 l S\n" * 70_000
"""A megabyte of lines to draw."""
_DEEP, _WIDE = 9, 9


def packed_lines(megabytes: int) -> bytes:
    """Return a PDF whose page draws millions of lines, packed three times."""
    packer = zlib.compressobj(9)
    first, again = (packer.compress(_BLOCK) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    packed = zlib.compress(zlib.compress(first + again * (megabytes - 1) + packer.flush(), 9), 9)
    return _pdf([_page(""), _stream("/Filter[/FlateDecode/FlateDecode/FlateDecode]", packed)])


def nested_forms() -> bytes:
    """Return a PDF whose page shows a form nine times that shows another nine times, nine deep."""
    objects = [_page("/XObject<</X 5 0 R>>"), _stream("", b"/X Do")]
    for depth in range(_DEEP):
        shown = b"/X Do " * _WIDE if depth < _DEEP - 1 else b"0 0 m 1 1 l S "
        objects.append(
            _stream(f"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X {6 + depth} 0 R>>>>", shown)
        )
    return _pdf(objects)


def _page(resources: str) -> bytes:
    return f"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Contents 4 0 R/Resources<<{resources}>>>>".encode()


def _stream(entries: str, data: bytes) -> bytes:
    return f"<<{entries}/Length {len(data)}>>\nstream\n".encode() + data + b"\nendstream"


def _pdf(objects: Sequence[bytes]) -> bytes:
    file = b"%PDF-1.5\n"
    for number, content in enumerate(
        [b"<</Type/Catalog/Pages 2 0 R>>", b"<</Type/Pages/Kids[3 0 R]/Count 1>>", *objects], 1
    ):
        file += f"{number} 0 obj\n".encode() + content + b"\nendobj\n"
    return file + b"trailer\n<</Root 1 0 R>>\n%%EOF\n"

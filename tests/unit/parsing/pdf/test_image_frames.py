"""Opening pictures that cannot be trusted, and turning them into plain ones."""

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont
from pillow_heif import register_heif_opener

from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import ParseError
from sourcebook.parsing.pdf.pictures.frames import frames, open_picture
from sourcebook.parsing.pdf.pictures.read_picture import parse_image

register_heif_opener()  # to write HEIF


def picture(*, mode: str = "RGB") -> Image.Image:
    drawn = Image.new("RGB", (320, 120), "white")
    ImageDraw.Draw(drawn).text((20, 20), "Upright", fill="black", font=ImageFont.load_default(size=40))
    return drawn.convert(mode)


def saved(image: Image.Image, file_format: str = "PNG", **options: object) -> bytes:
    file = io.BytesIO()
    image.save(file, file_format, **options)
    return file.getvalue()


def assert_looks_right(content: bytes) -> None:
    """The one frame of this file shows what `picture` drew, in RGB, but for what compression costs."""
    [(frame, shrunk)] = frames(open_picture(content))
    assert (frame.size, frame.mode, shrunk) == ((320, 120), "RGB", 1)
    difference = np.abs(np.asarray(frame, dtype=float) - np.asarray(picture(), dtype=float))
    assert difference.mean() < 3


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "PA", "RGBA", "CMYK", "I", "F"])
def test_every_kind_of_pixel_becomes_plain(mode: str) -> None:
    """Colours, grey, one bit, palettes, alpha, ink and numbers."""
    assert_looks_right(saved(picture(mode=mode), "TIFF"))


@pytest.mark.parametrize(
    ("file_format", "mode"), [("JPEG", "CMYK"), ("PNG", "P"), ("GIF", "P"), ("WEBP", "RGBA"), ("BMP", "1")]
)
def test_every_format_becomes_plain(file_format: str, mode: str) -> None:
    """The kinds of pixels that other formats than TIFF have."""
    assert_looks_right(saved(picture(mode=mode), file_format))


def test_grey_of_twelve_bits_in_sixteen() -> None:
    """A scan that uses a part of its range is not black."""
    grey = np.asarray(picture(mode="L")).astype(np.uint16) * 16
    assert_looks_right(saved(Image.fromarray(grey), "PNG"))
    assert_looks_right(saved(Image.fromarray(grey), "TIFF"))


def test_transparent_is_white() -> None:
    """Letters on a transparent ground, also where one colour is what is transparent."""
    black = picture(mode="L")
    letters = Image.merge("RGBA", [Image.new("L", black.size, 0)] * 3 + [black.point(lambda value: 255 - value)])
    assert_looks_right(saved(letters))
    on_key = Image.new("RGB", black.size, (0, 0, 1))
    on_key.paste((0, 0, 0), mask=black.point(lambda value: 255 if value < 128 else 0))
    assert_looks_right(saved(on_key, transparency=(0, 0, 1)))


@pytest.mark.parametrize("file_format", ["JPEG", "PNG", "WEBP", "TIFF", "AVIF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_honours_the_orientation(orientation: int, file_format: str) -> None:
    """A camera stores what it saw and how it was held: turned and mirrored pictures come upright."""
    undoing = {
        2: Image.Transpose.FLIP_LEFT_RIGHT,
        3: Image.Transpose.ROTATE_180,
        4: Image.Transpose.FLIP_TOP_BOTTOM,
        5: Image.Transpose.TRANSPOSE,
        6: Image.Transpose.ROTATE_90,
        7: Image.Transpose.TRANSVERSE,
        8: Image.Transpose.ROTATE_270,
    }
    exif = Image.Exif()
    exif[0x0112] = orientation
    stored = picture().transpose(undoing[orientation]) if orientation in undoing else picture()
    assert_looks_right(saved(stored, file_format, exif=exif))


@pytest.mark.parametrize(
    ("file_format", "mode"), [("JPEG", "RGB"), ("PNG", "L"), ("PNG", "P"), ("TIFF", "1"), ("TIFF", "I")]
)
def test_large_pictures_are_shrunk_before_anything_else(file_format: str, mode: str) -> None:
    """A frame of 24 million pixels comes with a quarter of them, and with how many pixels one of it was."""
    content = saved(picture().resize((6000, 4000)).convert(mode), file_format)
    [(frame, shrunk)] = frames(open_picture(content))
    assert (frame.size, frame.mode, shrunk) == ((3000, 2000), "RGB", 2)
    assert np.asarray(frame).max() > 250
    assert np.asarray(frame).min() < 5


def png_header(width: int, height: int) -> bytes:
    """Return a PNG that says to be as large as this, with next to nothing in it."""

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(b"\0" * 1000))
        + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("size", [(11_000, 11_000), (20_000, 20_000), (1_000_000, 1_000_000)])
@pytest.mark.parametrize("ocr", [True, False])
def test_refuses_pictures_that_are_too_large(size: tuple[int, int], *, ocr: bool) -> None:
    """The header decides, before anything is decoded; the reason tells the size and the limit."""
    with pytest.raises(ParseError, match=r"has [\dx, ]+ pixels, more than the 100 million that are read"):
        parse_image(png_header(*size), settings=ParsingSettings(ocr=ocr))


@pytest.mark.parametrize("file_format", ["PNG", "JPEG", "TIFF", "GIF", "WEBP", "BMP", "AVIF", "HEIF"])
@pytest.mark.parametrize("kept", [0.02, 0.5, 0.9])
def test_cut_off_pictures_give_a_reason(kept: float, file_format: str) -> None:
    """Half a picture is never read as if it were whole."""
    content = saved(picture(), file_format)
    with pytest.raises(ParseError, match="damaged or cut off"):
        parse_image(content[: int(len(content) * kept)], settings=ParsingSettings())


def test_other_kinds_are_not_tried() -> None:
    """Other formats give a reason, even where Pillow could read them."""
    for content in (saved(picture(), "PPM"), saved(picture(), "EPS"), b"", b"GIF89a", b"\x89PNG\r\n\x1a\n"):
        with pytest.raises(ParseError, match="damaged or cut off"):
            parse_image(content, settings=ParsingSettings())

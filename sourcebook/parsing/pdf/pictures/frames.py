"""Pictures from untrusted sources, and their frames in plain RGB."""

from __future__ import annotations

import re
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BytesIO
from typing import TYPE_CHECKING, cast

from sourcebook.errors import FailureClass, ParseError

if TYPE_CHECKING:
    from PIL.Image import Image
    from PIL.ImageFile import ImageFile

MOST_PIXELS = 100_000_000
"""Most pixels of a picture: A2 at 450 dpi, which takes 1.8 GB of memory as WebP and 1.1 GB in other formats."""
_ENOUGH_PIXELS = 4_000_000
"""Fewest pixels to which a larger frame is reduced, by a whole factor; OCR needs fewer."""
_FORMATS = ("PNG", "JPEG", "TIFF", "GIF", "WEBP", "BMP", "AVIF")
"""The only formats that Pillow may try, because some of its readers start programs."""
_BOMB = re.compile(r"\((\d+) pixels\)")
_TOO_LARGE = f"more than the {MOST_PIXELS // 1_000_000} million that are read; save it smaller, or in parts"
_DAMAGED = "the picture is damaged or cut off; copy it again, or save it as .png"


def open_picture(content: bytes) -> ImageFile:
    """Read the header of a picture.

    Raises:
        ParseError: the picture is damaged, or larger than `MOST_PIXELS`.
    """
    from PIL import Image

    formats = _FORMATS
    if content[4:8] == b"ftyp" and content[8:12] not in {b"avif", b"avis"}:
        _register_heif()
        formats = ("HEIF",)
    with _reasons():
        picture = Image.open(BytesIO(content), formats=formats)
        _check_size(picture)
        return picture


@cache
def _register_heif() -> None:
    """Let Pillow read HEIC, which it does with the package pillow-heif alone."""
    from pillow_heif import register_heif_opener

    register_heif_opener()


def frame_count(picture: ImageFile) -> int:
    """Return the number of pages: the frames of a TIFF; an animation has one page, its first frame."""
    with _reasons():
        return int(getattr(picture, "n_frames", 1)) if picture.format == "TIFF" else 1


def frames(picture: ImageFile) -> Iterator[tuple[Image, float]]:
    """Yield each page in RGB on white, rotated by its EXIF orientation, and the factor by which it was reduced.

    Raises:
        ParseError: a frame is damaged, or larger than `MOST_PIXELS`.
    """
    for number in range(frame_count(picture)):
        with _reasons():
            picture.seek(number)
            _check_size(picture)
            plain = _plain(picture)
        yield plain


def _plain(picture: ImageFile) -> tuple[Image, float]:
    from PIL import ImageOps

    whole = max(picture.size)
    picture.draft("RGB", _draft_size(picture.size))  # a JPEG is decoded smaller from the start
    picture.load()
    image = _reducible(picture)
    factor = max(int((image.width * image.height / _ENOUGH_PIXELS) ** 0.5), 1)
    if factor > 1:
        image = image.reduce(factor)
    image = ImageOps.exif_transpose(_on_white(image))
    return image, whole / max(image.size)


def _draft_size(size: tuple[int, int]) -> tuple[int, int]:
    width, height = size
    factor = max((width * height / _ENOUGH_PIXELS) ** 0.5, 1.0)
    return int(width / factor), int(height / factor)


def _reducible(picture: ImageFile) -> Image:
    """Return the picture in a mode that Pillow can reduce."""
    match picture.mode:
        case "1":
            return picture.convert("L")
        case "P" | "PA":
            return picture.convert("RGBA" if picture.has_transparency_data else "RGB")
        case "L" | "RGB" if picture.has_transparency_data:
            return picture.convert("LA" if picture.mode == "L" else "RGBA")
        case "F":
            return picture
        case mode if mode.startswith("I"):
            return picture.convert("I")
        case _:
            return picture


def _on_white(image: Image) -> Image:
    from PIL import Image

    if image.mode in ("I", "F"):
        darkest, lightest = cast("tuple[float, float]", image.getextrema())
        scale = 255 / max(lightest - darkest, 1e-9)  # to the whole range: 12 bits a pixel are often stored in 16
        stretched = image.convert("F").point(lambda value: value * scale - darkest * scale)
        plain = stretched.convert("L").convert("RGB")
    elif image.has_transparency_data:
        opaque = Image.new("RGBA", image.size, "white")
        opaque.alpha_composite(image.convert("RGBA"))
        plain = opaque.convert("RGB")
    else:
        plain = image.convert("RGB")
    plain.info = image.info
    return plain


def _check_size(picture: ImageFile) -> None:
    width, height = picture.size
    if width * height > MOST_PIXELS:
        raise ParseError(f"the picture has {width:,} x {height:,} pixels, {_TOO_LARGE}", FailureClass.TOO_LARGE)


@contextmanager
def _reasons() -> Iterator[None]:
    """Turn Pillow's errors into `ParseError`, and suppress its warnings about odd files."""
    from PIL import Image

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except Image.DecompressionBombError as error:  # above 179 million pixels, without width and height
        pixels = _BOMB.search(str(error))
        size = f"{int(pixels[1]):,}" if pixels else "far too many"
        raise ParseError(f"the picture has {size} pixels, {_TOO_LARGE}", FailureClass.TOO_LARGE) from error
    except (OSError, SyntaxError, EOFError, ValueError, struct.error) as error:
        raise ParseError(_DAMAGED, FailureClass.CORRUPT) from error

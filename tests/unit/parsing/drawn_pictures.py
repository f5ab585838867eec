"""Pictures of a line of text, drawn by the tests."""

from io import BytesIO

from PIL import Image, ImageDraw
from pillow_heif import register_heif_opener

_KINDS = {"jpg": "JPEG", "tif": "TIFF", "gif": "GIF", "webp": "WEBP", "bmp": "BMP", "avif": "AVIF", "heic": "HEIF"}


def drawn_pictures() -> dict[str, bytes]:
    """Return one picture of each format, by its name."""
    register_heif_opener()
    image = Image.new("RGB", (400, 80), "white")
    ImageDraw.Draw(image).text((20, 20), "The upper gates", fill="black", font_size=32)
    pictures = {}
    for ending, kind in _KINDS.items():
        file = BytesIO()
        image.save(file, kind)
        pictures[f"lock.{ending}"] = file.getvalue()
    return pictures

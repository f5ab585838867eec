"""Make the scanned card of the example library: a picture of a page, lying on its side, without any text in the file.

    pip install pillow
    python examples/build_scan.py

Its words stand in ``sources/well-card-1961.md``. Running it twice with one version of Pillow gives the same bytes.
"""

import random
import time
from pathlib import Path

from PIL import Image, ImageDraw, ImageFilter, ImageFont

HERE = Path(__file__).parent
PAGE = (1240, 874)  # A5, landscape, at 150 dots an inch
PAPER, INK = (238, 229, 205), (52, 48, 60)
SPECKS = 1500
MADE = time.strptime("2025-02-15", "%Y-%m-%d")


def draw(text: str) -> Image.Image:
    """Write the card as an old typewriter would: a little crooked, on paper that is not clean."""
    page = Image.new("RGB", PAGE, PAPER)
    pen = ImageDraw.Draw(page)
    top = 70
    for line in text.splitlines():
        is_heading = line.startswith("#")
        pen.text((110, top), line.lstrip("# "), fill=INK, font=ImageFont.load_default(size=38 if is_heading else 27))
        top += 62 if is_heading else 44 if line else 24
    dice = random.Random(1961)  # noqa: S311 - specks, not secrets
    for _ in range(SPECKS):
        x, y = dice.randrange(PAGE[0]), dice.randrange(PAGE[1])
        pen.point((x, y), fill=tuple(shade - dice.randrange(60) for shade in PAPER))
    return page.filter(ImageFilter.GaussianBlur(0.7)).rotate(0.6, fillcolor=PAPER, resample=Image.Resampling.BICUBIC)


def main() -> None:
    """Draw the card, turn it, and save it as a scanner does."""
    card = draw((HERE / "sources" / "well-card-1961.md").read_text(encoding="utf-8"))
    target = HERE / "library" / "reports" / "well-card-1961.pdf"
    card.transpose(Image.Transpose.ROTATE_90).save(
        target, resolution=150, quality=60, title="Tide well card, 1961", creationDate=MADE, modDate=MADE
    )


if __name__ == "__main__":
    main()

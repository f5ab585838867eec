"""Reading pictures of pages, with the real models."""

import re
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from PIL import Image, ImageDraw, ImageFont

from sourcebook.parsing.pdf.ocr.recognise import recognise
from sourcebook.parsing.pdf.ocr.recognised_page import RecognisedLine, RecognisedPage, layout_page
from sourcebook.parsing.pdf.ocr.rendered_pages import recognise_pages
from tests.checkout import SHARED_DATA

SHARED = SHARED_DATA / "documents" / "ocr"
LINES = (
    "Recordings and pages become one knowledge base",
    "Every chunk keeps the heading it stands under",
    "Order 4711 was paid on 12 March for 99.50 euro",
    "Nothing is ever fetched from the network",
)


def page(lines: tuple[str, ...] = LINES, *, ink: str = "black", paper: str = "white") -> Image.Image:
    """Draw lines of print on a page."""
    picture = Image.new("RGB", (800, 60 * len(lines) + 120), paper)
    draw = ImageDraw.Draw(picture)
    for number, line in enumerate(lines):
        draw.text((60, 60 + 60 * number), line, fill=ink, font=ImageFont.load_default(size=26))
    return picture


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text))


def share_found(expected: str, recognised: RecognisedPage) -> float:
    wanted = words(expected)
    return (wanted & words(" ".join(line.text for line in recognised.lines))).total() / wanted.total()


def from_top(recognised: RecognisedPage) -> list[str]:
    return [line.text for line in sorted(recognised.lines, key=lambda line: line.top)]


def test_reads_print_with_its_spaces() -> None:
    """Every line comes back letter by letter, with where it stands and how sure it is."""
    recognised = recognise(page())
    assert from_top(recognised) == list(LINES)
    assert (recognised.width, recognised.height, recognised.rotation) == (800, 360, 0)
    first = min(recognised.lines, key=lambda line: line.top)
    assert first.left == pytest.approx(60, abs=15)
    assert 40 < first.top < 70 < first.bottom < 105
    assert recognised.confidence is not None
    assert recognised.confidence > 0.95


@pytest.mark.parametrize(("turned", "rotation"), [(90, 90), (180, 180), (270, 270)])
def test_turns_pages_upright(turned: int, rotation: int) -> None:
    """A page rotated by 90, 180 or 270 degrees is read, and its lines have the coordinates of the upright page."""
    recognised = recognise(page().rotate(turned, expand=True))
    assert recognised.rotation == rotation
    assert (recognised.width, recognised.height) == (800, 360)
    assert from_top(recognised) == list(LINES)
    assert not any(line.turned for line in recognised.lines)


@pytest.mark.parametrize("degrees", [-5, -2, 2, 5, 94])
def test_reads_oblique_pages(degrees: int) -> None:
    """A slightly skewed page loses no words, and its rows are horizontal."""
    recognised = recognise(page().rotate(degrees, expand=True, fillcolor="white", resample=Image.Resampling.BICUBIC))
    assert from_top(recognised) == list(LINES)
    assert all(line.height < 50 for line in recognised.lines)


@pytest.mark.parametrize(("ink", "paper"), [("#b4b4b4", "#d2d2d2"), ("white", "#203060")])
def test_reads_pale_and_light_print(ink: str, paper: str) -> None:
    """Faded print and light letters on a dark ground are read."""
    assert share_found(" ".join(LINES), recognise(page(ink=ink, paper=paper))) == 1


def test_keeps_two_columns_apart() -> None:
    """Words of one row with a wide gap between them are two lines."""
    picture = Image.new("RGB", (1000, 300), "white")
    draw = ImageDraw.Draw(picture)
    for number in range(4):
        draw.text((40, 40 + 50 * number), f"left column {number}", fill="black", font=ImageFont.load_default(size=26))
        draw.text((560, 40 + 50 * number), f"right column {number}", fill="black", font=ImageFont.load_default(size=26))
    found = {line.text: line for line in recognise(picture).lines}
    assert set(found) == {f"{side} column {number}" for side in ("left", "right") for number in range(4)}
    assert all((line.left > 500) == text.startswith("right") for text, line in found.items())


def test_reads_a_line_that_runs_up_the_margin() -> None:
    """A vertical line beside the text is read, too, and marked as turned."""
    picture = page()
    picture.paste(page(("Preprint of May 2024",)).crop((40, 50, 360, 110)).rotate(90, expand=True), (0, 20))
    found = {line.text: line.turned for line in recognise(picture).lines}
    assert found == {**dict.fromkeys(LINES, False), "Preprint of May 2024": True}


def test_sees_nothing_where_nothing_is() -> None:
    """Empty paper, specks and noise give no lines."""
    specks = Image.new("RGB", (800, 800), "white")
    draw = ImageDraw.Draw(specks)
    places = np.random.default_rng(5).integers(0, 790, (150, 2)).tolist()
    for number, (left, top) in enumerate(places):
        draw.ellipse((left, top, left + number % 7, top + number % 7), fill="black")
    noise = Image.fromarray(np.random.default_rng(5).integers(0, 255, (400, 400, 3), dtype=np.uint8))
    for picture in (
        Image.new("RGB", (800, 800), "white"),
        specks,
        noise,
        Image.new("L", (1, 1)),
        Image.new("1", (1, 3000)),
    ):
        recognised = recognise(picture)
        assert recognised.lines == ()
        assert recognised.confidence is None
        assert recognised.unread == 0


def test_long_strips_take_no_memory() -> None:
    """A strip of one letter's height, and of one letter's width, is read at its own size."""
    strip = Image.new("RGB", (6000, 60), "white")
    ImageDraw.Draw(strip).text((300, 14), LINES[0], fill="black", font=ImageFont.load_default(size=26))
    assert LINES[0] in from_top(recognise(strip))
    assert recognise(Image.new("RGB", (60, 6000), "white")).lines == ()


def test_shrinks_large_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines of a picture that is read smaller lie where they lie in the whole picture."""
    monkeypatch.setattr("sourcebook.parsing.pdf.ocr.recognise.MOST_PIXELS", 600_000)
    small = page()
    recognised = recognise(small.resize((small.width * 5, small.height * 5)))
    assert from_top(recognised) == list(LINES)
    assert min(line.left for line in recognised.lines) == pytest.approx(300, abs=60)


def test_lines_of_one_size_have_one_size() -> None:
    """Boxes of lines differ with the letters in them; the size of letters does not, and headings keep theirs."""
    heights = (30, 33, 31, 34, 32, 60, 58)
    lines = tuple(RecognisedLine("words", 10, 100 * n, 90, 100 * n + high, 0.99) for n, high in enumerate(heights))
    found = layout_page(RecognisedPage(1000, 1000, 0, lines), number=3, points_per_pixel=0.5)
    assert [line.size for line in found.lines] == [16, 16, 16, 16, 16, 30, 30]
    assert (found.number, found.width, found.lines[1].top) == (3, 500, 50)


def test_is_silent_and_fetches_nothing() -> None:
    """Loading and reading print nothing and open no connection."""
    program = """
import socket
def refuse(*arguments, **named):
    raise SystemExit("a connection was tried")
socket.socket.connect = socket.getaddrinfo = socket.create_connection = refuse
from PIL import Image, ImageDraw, ImageFont
from sourcebook.parsing.pdf.ocr.engine import engine
from sourcebook.parsing.pdf.ocr.recognise import recognise
picture = Image.new("RGB", (480, 96), "white")
ImageDraw.Draw(picture).text((30, 28), "Recognition works", fill="black", font=ImageFont.load_default(size=32))
assert [line.text for line in recognise(picture).lines] == ["Recognition works"]
engine()._load_cls_model()
"""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared test documents are not there")
@pytest.mark.parametrize(("name", "rotation"), [("ocr_test", 0), ("ocr_test_rotated_90", 90)])
def test_reads_scanned_pdfs(name: str, rotation: int) -> None:
    """At least 90 % of the words of a scanned page are found, upright and turned."""
    [found] = recognise_pages((SHARED / f"{name}.pdf").read_bytes(), [1])
    wanted = words((SHARED / f"{name}.expected.md").read_text("utf-8"))
    read = words(" ".join(line.text for line in found.page.lines))
    assert (wanted & read).total() >= 0.9 * wanted.total()
    assert found.recognised.rotation == rotation
    assert (round(found.page.width), round(found.page.height)) == (595, 842)

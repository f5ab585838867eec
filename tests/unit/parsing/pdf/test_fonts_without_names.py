"""Fonts of bitmaps, which old TeX makes: neither they nor the file say which characters their codes are."""

from sourcebook.config.parsing import ParsingSettings
from sourcebook.parsing.pdf.read_pdf import parse_pdf

PROSE = "The speci\x1ccation of a \x1ctted model de\x1cnes the di\x1berence and the e\x1eciency of the over\x1dow that"


def bitmap_font_pdf(lines: list[bytes]) -> bytes:
    """Return a page in a font of type 3 whose glyphs are named a0 to a255."""
    names = " ".join(f"/a{code}" for code in range(256))
    glyphs = " ".join(f"/a{code} 5 0 R" for code in range(256))
    shown = b"".join(
        b"BT /F1 10 Tf 1 0 0 1 72 %d Tm <%s> Tj ET\n" % (700 - 14 * n, line.hex().encode())
        for n, line in enumerate(lines)
    )
    glyph = b"500 0 0 0 500 700 d1 50 0 400 600 re f"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 6 0 R/Resources<</Font<</F1 4 0 R>>>>>>",
        b"<< /Type /Font /Subtype /Type3 /FontBBox [0 -200 1000 800] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 0"
        b" /LastChar 255 /Widths [" + b" 500" * 256 + b"] /Resources << >>"
        b" /Encoding << /Type /Encoding /Differences [0 "
        + names.encode() + b"] >> /CharProcs << " + glyphs.encode() + b" >> >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(glyph), glyph),
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(shown), shown),
    ]  # fmt: skip
    written, places = bytearray(b"%PDF-1.4\n"), []
    for number, body in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    written += b"".join(b"%010d 00000 n \n" % place for place in places)
    return bytes(written) + b"trailer << /Size 7 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF" % start


def test_ligatures_and_bullets_of_tex_are_kept() -> None:
    """Their codes are those of control characters, which no other text holds."""
    lines = [PROSE.encode("latin-1"), *(b"\x88 item number %d of the list of all the news" % n for n in range(6))]
    document = parse_pdf(bitmap_font_pdf(lines), settings=ParsingSettings(ocr=False))
    for word in ("specification", "fitted", "defines", "difference", "efficiency", "overflow"):
        assert word in document.markdown
    assert "- item number 5 of the list" in document.markdown

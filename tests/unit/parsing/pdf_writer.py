"""Write the smallest PDF that shows text, without a PDF library."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shown:
    """A text at a place: points from the lower left corner of a page of 612 by 792."""

    x: float
    y: float
    text: str
    size: float = 10
    bold: bool = False


def pdf(pages: Sequence[Sequence[Shown]], *, info: str = "") -> bytes:
    """Return a PDF whose fonts are Helvetica and Helvetica-Bold."""
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Count {len(pages)} /Kids [{' '.join(f'{6 + 2 * n} 0 R' for n in range(len(pages)))}] >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
        f"<< {info} >>",
    ]
    for number, page in enumerate(pages):
        shown = "\n".join(
            f"BT /{'F2' if item.bold else 'F1'} {item.size} Tf {item.x} {item.y} Td ({item.text}) Tj ET"
            for item in page
        )
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {7 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R /F2 4 0 R >> >> >>",
        )
        objects.append(f"<< /Length {len(shown)} >>\nstream\n{shown}\nendstream")
    content, places = "%PDF-1.4\n", []
    for number, body in enumerate(objects, start=1):
        places.append(len(content))
        content += f"{number} 0 obj\n{body}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size, start = len(objects) + 1, len(content)
    content += f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R /Info 5 0 R >>\n"
    return f"{content}startxref\n{start}\n%%EOF\n".encode("latin-1")

"""Write PDFs of one page with form fields, annotations and attached files."""

from collections.abc import Sequence

from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, assembled


def annotated(
    marks: Sequence[Mark] = (),
    annotations: Sequence[str] = (),
    *,
    form: str | None = None,
    catalog: str = "",
    objects: Sequence[str | bytes] = (),
    page: str = "",
) -> bytes:
    """Return a PDF whose page of 612 by 792 points has annotations.

    Args:
        marks: what the page paints.
        annotations: entries of their dictionaries, as they are written; `{n}` is the number of the n-th annotation.
        form: further entries of the form, whose fields are the annotations; None for no form.
        catalog: further entries of the catalog.
        objects: further objects, numbered from 10.
        page: further entries of the page.
    """
    first = 10 + len(objects)
    numbers = [first + index for index in range(len(annotations))]
    listed = " ".join(f"{number} 0 R" for number in numbers)
    acro_form = "" if form is None else f"/AcroForm << /Fields [{listed}] {form} >>"
    content = "\n".join(mark.operators() for mark in marks)
    fixed: list[str | bytes] = [
        f"<< /Type /Catalog /Pages 2 0 R {acro_form} {catalog} >>",
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /plain 5 0 R "
            f"/bold 6 0 R >> >> /Annots [{listed}] {page} >>"
        ),
        f"<< /Length {len(content)} >>\nstream\n{content}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica-Bold /Encoding /WinAnsiEncoding >>",
        *["<< >>"] * 3,
    ]
    shown = [f"<< /Type /Annot {entries.replace('{', '').replace('}', ' 0 R')} >>" for entries in annotations]
    return assembled([*fixed, *objects, *shown])


def field(kind: str, name: str, box: tuple[int, int, int, int], entries: str = "") -> str:
    """Return the entries of a form field at left, lower, right and upper edge."""
    return f"/Subtype /Widget /F 4 /FT /{kind} /T ({name}) /Rect [{' '.join(map(str, box))}] {entries}"


def appearance(text: str, width: int, height: int) -> str:
    """Return an object that paints a text as the appearance of an annotation."""
    content = f"BT /plain 10 Tf 2 5 Td ({text}) Tj ET"
    return (
        f"<< /Type /XObject /Subtype /Form /BBox [0 0 {width} {height}] /Resources << /Font << /plain 5 0 R >> >> "
        f"/Length {len(content)} >>\nstream\n{content}\nendstream"
    )


def stream(content: bytes, entries: str = "") -> bytes:
    """Return a stream object."""
    return f"<< {entries} /Length {len(content)} >>\nstream\n".encode() + content + b"\nendstream"


def lines(*texts: str, top: int = 740) -> list[Shown]:
    """Return lines of text from the top, 16 points apart."""
    return [Shown(72, top - 16 * number, text) for number, text in enumerate(texts)]

"""Make the files of the teams that are no texts: two contracts, a form, a paper and a voice note.

They are kept in the tree, so only a maintainer who changes their words needs this script:

    pip install av==18.1.0 fpdf2==2.8.9 hibari-tts==0.2.1 python-docx==1.2.0
    python examples/teams/build_inputs.py

The voice is synthetic and lies in the package hibari-tts; nothing is downloaded.
"""

import io
import sys
import zipfile
from datetime import UTC, datetime
from pathlib import Path

from docx import Document
from fpdf import FPDF

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))

import build_recording  # noqa: E402 - a neighbour of this folder

MOMENT = datetime(2026, 3, 2, 9, tzinfo=UTC)
NOTE = (
    "Hello, this is Yara with a note about the pond.",
    "The reeds have grown over the path, so we cut them on Saturday at ten.",
    "Please bring gloves and rubber boots. The rakes are in the shed.",
)
LEASE = {
    1: ("1 July 2026", "The rent is 4,200 euros a month.", "The tenant may end the lease with sixty days of notice."),
    2: (
        "1 September 2026",
        "The rent is 4,050 euros a month.",
        "The tenant may end the lease with ninety days of notice.",
    ),
}
PAPER = {
    "Drift of pressure sensors in salt water": """Lidia Novak and Owen Pryce

The work was paid for by the Coastal Fund. Six sensors stood in the harbour for three years, next to a staff that was \
read by hand each morning.""",
    "Results": """The zero of the sensors drifts by 2.4 millimetres a year, always upwards. Cleaning the membrane \
halves the drift. Temperature explains a tenth of it.""",
}
FIELDS = (
    ("Name", "Ida Brandt"),
    ("Train to Hamburg, euros", "84.20"),
    ("Hotel, euros", "131.00"),
    ("Reason", "Trade fair"),
)


def lease(version: int) -> None:
    """Write a version of the contract, with fixed times in its archive."""
    begin, rent, notice = LEASE[version]
    document = Document()
    document.core_properties.created = document.core_properties.modified = MOMENT
    document.add_heading("Lease of the warehouse", 0)
    document.add_heading("Begin", 1)
    document.add_paragraph(f"The lease of the hall in Dock Street begins on {begin} and ends after five years.")
    document.add_heading("Rent", 1)
    document.add_paragraph(f"{rent} It is paid by the third working day.")
    document.add_heading("Notice", 1)
    document.add_paragraph(f"{notice} The landlord may not end it before its fifth year.")
    written = io.BytesIO()
    document.save(written)
    path = HERE / f"office/contracts/warehouse-lease_v{version}.docx"
    with zipfile.ZipFile(written) as source, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as target:
        for name in sorted(source.namelist()):
            target.writestr(zipfile.ZipInfo(name, (2026, 3, 2, 9, 0, 0)), source.read(name), zipfile.ZIP_DEFLATED)


def paper() -> None:
    """Write a paper of two pages."""
    pdf = FPDF()
    pdf.set_creation_date(MOMENT)
    pdf.set_title("Drift of pressure sensors in salt water")
    for heading, rest in PAPER.items():
        pdf.add_page()
        pdf.set_font("helvetica", "B", 16)
        pdf.multi_cell(0, 10, heading, new_x="LMARGIN", new_y="NEXT")
        pdf.set_font("helvetica", size=11)
        pdf.multi_cell(0, 6, rest)
    pdf.output(str(HERE / "research/papers/sensor-drift.pdf"))


def form() -> None:
    """Write a form of one page, whose values are only in its fields."""
    content = ["BT /F 16 Tf 72 760 Td (Travel expenses) Tj ET"]
    fields = []
    for number, (label, value) in enumerate(FIELDS):
        top = 700 - 40 * number
        content.append(f"BT /F 11 Tf 72 {top} Td ({label}) Tj ET")
        entries = f"/T ({label}) /V ({value}) /DA (/F 11 Tf 0 g) /Rect [230 {top - 5} 430 {top + 15}]"
        fields.append(f"<< /Type /Annot /Subtype /Widget /F 4 /FT /Tx {entries} >>")
    drawn = "\n".join(content)
    listed = " ".join(f"{6 + number} 0 R" for number in range(len(fields)))
    objects = [
        f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [{listed}] /DR << /Font << /F 5 0 R >> >> >> >>",
        "<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        (
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Annots [{listed}] "
            "/Resources << /Font << /F 5 0 R >> >> >>"
        ),
        f"<< /Length {len(drawn)} >>\nstream\n{drawn}\nendstream",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *fields,
    ]
    written, places = "%PDF-1.7\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(written))
        written += f"{number} 0 obj\n{each}\nendobj\n"
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    end = f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{len(written)}\n%%EOF\n"
    path = HERE / "office/forms/travel-expenses.pdf"
    path.write_text(f"{written}xref\n0 {len(objects) + 1}\n0000000000 65535 f \n{table}{end}", encoding="ascii")


def note() -> None:
    """Write the voice note."""
    build_recording.TARGET = HERE / "meetings/recordings/voice-note.m4a"
    build_recording.TAGS = {"artist": "Yara", "date": "2026-03-05"}
    build_recording.write(build_recording.speak(list(NOTE)), "Voice note about the pond")


if __name__ == "__main__":
    lease(1)
    lease(2)
    paper()
    form()
    note()

"""Make the binary documents of the example library.

The files are kept in the tree, so only a maintainer who changes a text needs this script:

    pip install fpdf2==2.8.9 matplotlib==3.11.2 openpyxl==3.1.5 python-docx==1.2.0 python-pptx==1.0.2
    python examples/build_library.py

The words of the Word, PowerPoint and PDF documents stand in ``sources/``; the tables of the workbook in
``workbook_tables.py``. The plot is calculated by the library's own ``predict_tide.py``. Running it twice gives
the same bytes.
"""

import importlib.util
import io
import re
import zipfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import matplotlib as mpl
from docx import Document
from docx.shared import Pt
from fpdf import FPDF
from fpdf.enums import TableBordersLayout
from fpdf.fonts import FontFace
from matplotlib.figure import Figure
from openpyxl import Workbook
from openpyxl.styles import Font
from openpyxl.utils import get_column_letter
from pptx import Presentation
from pptx.dml.color import RGBColor
from pptx.util import Pt as SlidePt
from workbook_tables import LEVELLING, SPARES

HERE = Path(__file__).parent
SOURCES = HERE / "sources"
LIBRARY = HERE / "library"
FONTS = Path(mpl.get_data_path()) / "fonts" / "ttf"

MADE = datetime(2025, 2, 15, 12, tzinfo=UTC)
SOCIETY = "Brannock Head Tide Society"
SEA = (20, 72, 104)
RULED = 2  # a Markdown table begins with its header and a row of dashes


class Block(NamedTuple):
    """One block of a source text: its kind, its text (or list entries) and, for tables, its rows."""

    kind: str
    text: str = ""
    entries: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()


def read_blocks(path: Path) -> list[Block]:
    """Read the little Markdown that the sources use: headings, paragraphs, lists, tables and notes."""
    blocks = []
    for part in re.split(r"\n\s*\n", path.read_text(encoding="utf-8").strip()):
        lines = part.splitlines()
        joined = " ".join(line.strip() for line in lines)
        if heading := re.match(r"(#{1,3}) (.+)", part):
            blocks.append(Block(f"h{len(heading[1])}", heading[2]))
        elif part.startswith("|"):
            rows = tuple(tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines)
            blocks.append(Block("table", rows=rows[:1] + rows[RULED:]))
        elif part.startswith("- "):
            blocks.append(Block("bullets", entries=tuple(re.split(r"\s*(?:^|\s)- ", joined)[1:])))
        elif part.startswith("1. "):
            blocks.append(Block("steps", entries=tuple(re.split(r"\s*(?:^|\s)\d+\. ", joined)[1:])))
        elif part.startswith(">"):
            blocks.append(Block("note", " ".join(line.lstrip("> ") for line in lines)))
        else:
            blocks.append(Block("text", joined))
    return blocks


def repack(content: bytes, path: Path) -> None:
    """Write an Office file with fixed times inside, so that the same words give the same bytes."""
    stamp = f"{MADE:%Y-%m-%dT%H:%M:%SZ}".encode()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            data = old.read(name)
            if name == "docProps/core.xml":
                data = re.sub(rb"(<dcterms:(created|modified)[^>]*>)[^<]*", rb"\g<1>" + stamp, data)
            entry = zipfile.ZipInfo(name, MADE.timetuple()[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            new.writestr(entry, data)


def build_docx(source: Path, target: Path) -> None:
    """Write a Word document with real heading, list and table styles."""
    document = Document()
    document.styles["Normal"].font.name = "Calibri"
    document.styles["Normal"].font.size = Pt(11)
    for block in read_blocks(source):
        match block.kind:
            case "h1":
                document.add_heading(block.text, 0)
                document.core_properties.title = block.text
            case "h2" | "h3":
                document.add_heading(block.text, int(block.kind[1]) - 1)
            case "bullets" | "steps":
                for entry in block.entries:
                    style = "List Bullet" if block.kind == "bullets" else "List Number"
                    add_runs(document.add_paragraph(style=style), entry)
            case "table":
                table = document.add_table(rows=0, cols=len(block.rows[0]), style="Light Grid Accent 1")
                for row in block.rows:
                    for cell, value in zip(table.add_row().cells, row, strict=True):
                        cell.text = value
                document.add_paragraph()
            case _:
                add_runs(document.add_paragraph(), block.text)
    document.core_properties.author = SOCIETY
    document.core_properties.language = "en-GB"
    save(document, target)


def add_runs(paragraph, text: str) -> None:
    """Add text to a Word paragraph; what stands between double asterisks becomes bold."""
    for number, part in enumerate(text.split("**")):
        paragraph.add_run(part).bold = True if number % 2 else None


def build_pptx(source: Path, target: Path) -> None:
    """Write a presentation: a title slide, then one slide a heading, with bullets and speaker's notes."""
    presentation = Presentation()
    slide = None
    for block in read_blocks(source):
        match block.kind:
            case "h1" | "h2":
                slide = presentation.slides.add_slide(presentation.slide_layouts[0 if block.kind == "h1" else 1])
                slide.shapes.title.text = block.text
                slide.shapes.title.text_frame.paragraphs[0].font.color.rgb = RGBColor(*SEA)
                if block.kind == "h1":
                    presentation.core_properties.title = block.text
            case "text":
                slide.placeholders[1].text = f"{block.text}\n{SOCIETY}"
            case "bullets":
                frame = slide.placeholders[1].text_frame
                for number, entry in enumerate(block.entries):
                    paragraph = frame.paragraphs[0] if number == 0 else frame.add_paragraph()
                    paragraph.text = entry
                    paragraph.font.size = SlidePt(26)
                    paragraph.space_after = SlidePt(8)
            case "note":
                slide.notes_slide.notes_text_frame.text = block.text
    presentation.core_properties.author = SOCIETY
    save(presentation, target)


def build_xlsx(target: Path) -> None:
    """Write the workbook with the levelling results and the list of spare parts."""
    workbook = Workbook()
    sheet = workbook.active
    sheet.title = "Levelling"
    sheet.append(LEVELLING["header"])
    for position, (year, (closure, observer)) in enumerate(LEVELLING["years"].items()):
        date = datetime(year, 9, LEVELLING["days"][year]).date()  # noqa: DTZ001 - a calendar day
        for mark, heights in LEVELLING["heights"].items():
            height, before = heights[position], heights[position - 1] if position else None
            if height is None:
                continue
            change = None if before is None else (height - before) / 10
            remark = LEVELLING["remarks"].get((mark, year))
            sheet.append([date, mark, height / 10_000, change, closure, observer, remark])
    for row in sheet.iter_rows(min_row=2, max_col=4):
        row[0].number_format, row[2].number_format, row[3].number_format = "yyyy-mm-dd", "0.0000", "0.0"
    spares = workbook.create_sheet("Spare parts")
    spares.append(SPARES["header"])
    for row in SPARES["rows"]:
        spares.append(row)
    for page, widths in ((sheet, LEVELLING["widths"]), (spares, SPARES["widths"])):
        page.freeze_panes = "A2"
        for cell in page[1]:
            cell.font = Font(bold=True)
        for column, width in enumerate(widths, start=1):
            page.column_dimensions[get_column_letter(column)].width = width
    workbook.properties.title = "Levelling results and spare parts"
    workbook.properties.creator = SOCIETY
    save(workbook, target)


def save(document, target: Path) -> None:
    """Save any of the three Office documents under its path."""
    buffer = io.BytesIO()
    document.save(buffer)
    repack(buffer.getvalue(), target)


class Report(FPDF):
    """A page with a line at its foot: the title on the left, the page number on the right."""

    def footer(self) -> None:
        """Draw the foot of the page."""
        self.set_y(-16)
        self.set_font("serif", size=8.5)
        self.set_text_color(90)
        self.cell(80, 6, str(self.title))
        self.cell(0, 6, f"Page {self.page_no()} of {{nb}}", align="R")


def build_pdf(source: Path, target: Path) -> None:
    """Write a paged report with a text layer, bookmarks and a numbered footer."""
    blocks = read_blocks(source)
    pdf = Report(format="A4")
    pdf.set_margins(24, 22, 24)
    pdf.set_auto_page_break(auto=True, margin=24)
    for family, style, file in (
        ("serif", "", "DejaVuSerif.ttf"),
        ("serif", "B", "DejaVuSerif-Bold.ttf"),
        ("sans", "B", "DejaVuSans-Bold.ttf"),
    ):
        pdf.add_font(family, style, FONTS / file)
    pdf.set_title(next(block.text for block in blocks if block.kind == "h1"))
    pdf.set_author(SOCIETY)
    pdf.set_lang("en-GB")
    pdf.set_creation_date(MADE)
    pdf.add_page()
    for block in blocks:
        match block.kind:
            case "h1" | "h2" | "h3":
                level = int(block.kind[1])
                if pdf.get_y() > pdf.h - 60:
                    pdf.add_page()
                pdf.ln((0, 4, 2)[level - 1])
                pdf.start_section(block.text, level=level - 1)
                pdf.set_font("sans", "B", (22, 14, 11)[level - 1])
                pdf.set_text_color(*SEA)
                pdf.multi_cell(0, (12, 8, 7)[level - 1], block.text, align="L", new_x="LMARGIN", new_y="NEXT")
                pdf.ln((2, 1.5, 0.5)[level - 1])
            case "table":
                pdf_table(pdf, block)
            case _:
                body(pdf)
                for entry in block.entries:
                    pdf.set_x(pdf.l_margin + 2)
                    pdf.cell(5, 5.4, "•")
                    pdf.multi_cell(0, 5.4, entry, align="L", new_x="LMARGIN", new_y="NEXT")
                    pdf.ln(1.2)
                if block.text:
                    pdf.multi_cell(0, 5.4, block.text, align="L", new_x="LMARGIN", new_y="NEXT")
                pdf.ln(2.4)
    pdf.output(str(target))


def body(pdf: FPDF, size: float = 10.5) -> None:
    """Take the font of the running text."""
    pdf.set_font("serif", size=size)
    pdf.set_text_color(25)


def pdf_table(pdf: FPDF, block: Block) -> None:
    """Draw a table that is as wide as the text, with a bold header that is repeated on a new page."""
    body(pdf, 9.5)
    pdf.set_draw_color(170)
    widths = [max(len(row[column]) for row in block.rows) + 3 for column in range(len(block.rows[0]))]
    with pdf.table(
        block.rows,
        col_widths=tuple(widths),
        borders_layout=TableBordersLayout.HORIZONTAL_LINES,
        headings_style=FontFace(emphasis="BOLD", color=SEA),
        line_height=6,
        text_align="LEFT",
    ):
        pass
    pdf.ln(4)


def load_prediction() -> ModuleType:
    """Load the library's own script as a module."""
    path = LIBRARY / "reference" / "predict_tide.py"
    spec = importlib.util.spec_from_file_location("predict_tide", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build_plot(target: Path) -> None:
    """Draw a fortnight of the predicted tide, springs to neaps and back."""
    tide = load_prediction()
    constants = tide.read_constants()
    start = datetime(2025, 9, 7, tzinfo=UTC)
    hours = [hour / 6 for hour in range(15 * 24 * 6)]
    heights = [tide.predict(start + timedelta(hours=hour), constants) for hour in hours]
    figure = Figure(figsize=(9, 3.6), dpi=110, layout="constrained")
    axes = figure.subplots()
    axes.plot([hour / 24 for hour in hours], heights, color="#144868", linewidth=1.2)
    axes.axhline(5.30, color="#d08a00", linewidth=1, linestyle="--")
    axes.annotate("amber alarm", (15, 5.36), ha="right", color="#d08a00", fontsize=9)
    axes.set_xticks(range(0, 16, 2), [f"{start + timedelta(days=day):%d %b}" for day in range(0, 16, 2)])
    axes.set(xlim=(0, 15), ylim=(0, 6), ylabel="metres above chart datum")
    axes.set_title("Brannock Head: predicted tide, September 2025", loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(target, metadata={"Software": None})


def main() -> None:
    """Make all binary files."""
    build_docx(SOURCES / "levelling.md", LIBRARY / "procedures" / "levelling.docx")
    build_pptx(SOURCES / "volunteer-induction.md", LIBRARY / "procedures" / "volunteer-induction.pptx")
    build_xlsx(LIBRARY / "reference" / "Levelling and spares.xlsx")
    build_pdf(SOURCES / "annual-review-2024.md", LIBRARY / "reports" / "annual-review-2024.pdf")
    build_plot(LIBRARY / "reference" / "tide-curve.png")


if __name__ == "__main__":
    main()

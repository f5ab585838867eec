"""Word files against their own XML: order of words and cells of tables, beside docling's own backend."""

import zipfile
from collections import Counter
from dataclasses import dataclass
from difflib import SequenceMatcher
from io import BytesIO
from pathlib import Path
from statistics import fmean

from docx.oxml import parse_xml
from docx.oxml.ns import qn
from docx.oxml.xmlchemy import BaseOxmlElement

from benchmarks.corpora.pdf_library import NoLibraryError, fetch, library_files
from benchmarks.harness.document_scores import share_found, table_cells, words
from benchmarks.harness.report import Row, say
from sourcebook.model.media_types import DOCX
from sourcebook.parsing.docling.backends import import_without_models, open_backend
from sourcebook.parsing.parse import parse

_LIST = Path(__file__).parents[1] / "corpora" / "word_library.tsv"
_TEXT, _CELL, _BREAKS = qn("w:t"), qn("w:tc"), {qn("w:p"), qn("w:br"), qn("w:tab"), qn("w:cr")}
_REPEATED = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
"""Element whose text stands in its sibling as well."""


@dataclass(frozen=True)
class WordScore:
    """Scores of one reader on one file."""

    order: float
    cells: float | None
    """Share of the cells with text; None where there are none."""


def word_rows(folder: Path, shared: Path) -> list[Row]:
    """Compare both readers on the shared Word files and on those of the list, which are fetched into the folder."""
    files = {path.name: path for path in sorted(shared.glob("docx/*.docx"))}
    try:
        files |= {file.name: path for file, path in fetch(library_files(_LIST), folder).items()}
    except NoLibraryError as error:
        return [Row("Word files", None, note=str(error))]
    behind: list[str] = []
    orders: list[tuple[float, float]] = []
    for name, path in files.items():
        content = path.read_bytes()
        ours, peer = score(content, parse(content, name=name, media_type=DOCX).markdown), score(content, plain(content))
        say(f"    {name}: order {ours.order:.3f} / {peer.order:.3f}, cells {ours.cells} / {peer.cells} of docling")
        orders.append((ours.order, peer.order))
        if ours.order < peer.order or (ours.cells or 0.0) < (peer.cells or 0.0):
            behind.append(name)
    return [
        Row(f"words in order, {len(files)} Word files, mean", fmean(each for each, _ in orders), "%"),
        Row("… of docling's own backend", fmean(each for _, each in orders), "%"),
        Row("Word files behind docling's own backend in order or cells", len(behind), "files", 0, ", ".join(behind)),
    ]


def score(content: bytes, markdown: str) -> WordScore:
    """Score a reader's Markdown by the words and cells of the file's own XML, in their order."""
    with zipfile.ZipFile(BytesIO(content)) as packed:
        body = parse_xml(packed.read("word/document.xml"))
    expected = Counter(text for cell in body.iter(_CELL) if (text := " ".join(words(_text(cell).casefold()))))
    found = Counter(" ".join(words(text)) for text in table_cells(markdown).elements())
    return WordScore(_in_order(words(_text(body)), words(markdown)), share_found(expected, found))


def plain(content: bytes) -> str:
    """Return the Markdown of docling's own backend and serializer."""
    import_without_models()
    from docling.backend.msword_backend import MsWordDocumentBackend

    backend = open_backend(content, MsWordDocumentBackend, name="a.docx", docling_format="docx")
    return backend.convert().export_to_markdown()


def _in_order(expected: list[str], found: list[str]) -> float:
    """Return the share of expected words found in their order: notes and addresses between them do not count."""
    matched = SequenceMatcher(None, expected, found, autojunk=False).get_matching_blocks()
    return sum(block.size for block in matched) / len(expected) if expected else 1.0


def _text(element: BaseOxmlElement) -> str:
    if element.tag == _REPEATED or not isinstance(element.tag, str):  # a comment's tag is a function
        return ""
    own = (element.text or "") if element.tag == _TEXT else " " if element.tag in _BREAKS else ""
    return own + "".join(_text(child) for child in element)

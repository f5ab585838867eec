"""Words of office files that are neither read nor counted as left out, by the files' own XML."""

import re
import zipfile
from collections import Counter
from io import BytesIO
from pathlib import Path
from typing import Any

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from benchmarks.corpora.pdf_library import NoLibraryError, fetch, library_files
from benchmarks.harness.bench import Bench
from benchmarks.harness.document_scores import words
from benchmarks.harness.report import Row, say
from sourcebook.errors import ParseError
from sourcebook.parsing.media_type import HEAD_BYTES, detect_media_type
from sourcebook.parsing.parse import parse

LIST = Path(__file__).parents[1] / "corpora" / "office_library.tsv"
_PARTS = {
    "docx": re.compile(r"word/(document|footnotes|endnotes|comments|header\d*|footer\d*)\.xml"),
    "pptx": re.compile(r"ppt/(slides|notesSlides|comments|diagrams)/(slide|notesSlide|comment|data)\d+\.xml"),
    "xlsx": re.compile(r"xl/(sharedStrings\.xml|comments\d*\.xml|drawings/drawing\d+\.xml)"),
}
"""Parts with words by ending; a chart's part repeats its categories, and sheets hold numbers without their format."""
_NOT_SHOWN = frozenset({"del", "moveFrom", "instrText", "delText", "Fallback", "rPh", "rt", "fld"})
_BREAKS = frozenset({"p", "br", "tab", "cr", "si"})


def run(bench: Bench) -> list[Row]:
    """Read the office files of the list, or those of a folder, and count the words that are nowhere."""
    if bench.options.corpus is not None:
        files = sorted(each for each in bench.options.corpus.rglob("*") if each.suffix[1:] in _PARTS)
    else:
        if bench.options.pdfs is None:
            return [Row("office files", None, note="name a folder for their packages by --pdfs, or files by --corpus")]
        try:
            files = [*fetch(library_files(LIST), bench.options.pdfs.resolve()).values()]
        except NoLibraryError as error:
            return [Row("office files", None, note=str(error))]
    all_words = lost = 0
    failed: list[str] = []
    for path in files:
        content = path.read_bytes()
        try:
            found, missing = _lost(content, path.name)
        except ParseError:
            failed.append(path.name)
            continue
        if missing:
            say(f"    {path.name}: {missing:,} of {found:,} words")
        all_words, lost = all_words + found, lost + missing
    return [
        Row(f"words of {len(files)} office files neither read nor counted", lost / max(all_words, 1), "%", 0.005),
        Row("words of these files", all_words, "words"),
        Row("office files that fail", len(failed), "files", note=", ".join(failed)),
    ]


def _lost(content: bytes, name: str) -> tuple[int, int]:
    """Return the number of words of a file, and of those that are lost."""
    document = parse(content, name=name, media_type=detect_media_type(name, content[:HEAD_BYTES]))
    expected = Counter(words(_text(content, Path(name).suffix[1:]).casefold()))
    missing = (expected - Counter(words(document.markdown.casefold()))).total()
    left_out = document.metadata.get("left_out")
    counted = left_out.get("words", 0) if isinstance(left_out, dict) else 0
    return expected.total(), max(missing - counted, 0) if isinstance(counted, int) else missing


def _text(content: bytes, ending: str) -> str:
    pieces: list[str] = []
    with zipfile.ZipFile(BytesIO(content)) as archive:
        for name in archive.namelist():
            if _PARTS[ending].fullmatch(name):
                _collect(etree.fromstring(archive.read(name)), pieces)
    return "".join(pieces)


def _collect(element: Any, pieces: list[str]) -> None:
    tag = etree.QName(element).localname if isinstance(element.tag, str) else "Fallback"
    if tag in _NOT_SHOWN:
        return
    pieces.append((element.text or "") if tag == "t" else " " if tag in _BREAKS else "")
    for child in element:
        _collect(child, pieces)
    pieces.append(" " if tag in _BREAKS else "")

"""Sourcebook and other readers over the library of PDFs.

Words found and word order are compared with what readers agree on, headings and cells with what the PDFs tell.
"""

import hashlib
import json
import shutil
import subprocess
import time
import venv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean

from benchmarks.corpora.pdf_library import LIST, LibraryFile, fetch, library_files
from benchmarks.harness.page_agreement import (
    Reference,
    found_words,
    plain_words,
    reference,
    similarity,
    without_repeated_edges,
)
from benchmarks.harness.pdf_structure import read_structure, told_structure, without_outline
from benchmarks.harness.pdf_structure_rows import StructureReadings, structure_rows
from benchmarks.harness.report import Row, say
from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import ParseError
from sourcebook.parsing.pdf.read_pdf import parse_pdf

_PEERS = Path(__file__).parents[1] / "peers"
_REQUIREMENTS = _PEERS / "pdf_readers_requirements.txt"
_JUDGES = ("pdfminer", "pdf_oxide", "liteparse")
"""Readers whose agreement is the reference; neither pypdfium2 nor ours is among them."""
_PLAIN = ("pypdfium2", *_JUDGES)
_MARKDOWN = ("pdf_oxide", "markitdown", "pymupdf4llm")
"""Readers that give Markdown, and so headings and tables."""
_PEER_NAMES = tuple(dict.fromkeys((*_PLAIN, *_MARKDOWN)))
_OURS = "sourcebook"
_LEAST_AGREEMENT = 0.9
"""Agreement of the judges at which a document is scored."""
_MOST_BELOW = 0.02
"""Word order that no document may be below pypdfium2's."""


class NoReaderError(Exception):
    """The virtual environment of the readers cannot be made; the message says why."""


@dataclass(frozen=True)
class Score:
    """A document as one reader reads it."""

    words: float
    """Share of the expected words that are found, 0 to 1."""
    order: float
    """Similarity of the word order, 0 to 1."""


def library_rows(folder: Path, listed: Path = LIST, *, called: str = "") -> list[Row]:
    """Fetch a library, print a line for each document, and return the means of each reader by part of the list.

    Args:
        folder: where packages and readings are kept.
        listed: list of the library.
        called: name of the library in the rows, before the name of the part.
    """
    files = library_files(listed)
    paths = fetch(files, folder)
    readings = {name: _peer(name, [paths[file] for file in files], folder) for name in _PEER_NAMES}
    started = time.perf_counter()
    ours = {file: _read(paths[file].read_bytes(), file.name) for file in files}
    seconds = time.perf_counter() - started
    scores: dict[LibraryFile, dict[str, Score]] = {}
    for file in files:
        whole = [known for name in _JUDGES if len(known := readings[name].get(str(paths[file])) or ()) == file.pages]
        expected = reference(whole) if len(whole) > 1 else Reference([], 0.0)
        if expected.agreement < _LEAST_AGREEMENT:
            print(f"{file.part:7}{file.name[:36]:37}the readers do not agree ({expected.agreement:.2f})")
            continue
        texts = {
            name: "\n".join(without_repeated_edges(readings[name].get(str(paths[file])) or ())) for name in _PEER_NAMES
        }
        scores[file] = {name: _score(expected, text) for name, text in {_OURS: ours[file], **texts}.items()}
        shown = "  ".join(f"{name} {score.words:.3f} {score.order:.3f}" for name, score in scores[file].items())
        print(f"{file.part:7}{file.name[:36]:37}{shown}")
    speed = sum(file.pages for file in files) / seconds
    return [
        *_means(scores, called),
        *structure_rows(_structures(paths, readings, called)),
        Row(f"reading the library of PDFs, {called}one process", speed, "pages/s", 30, at_least=True),
    ]


def _structures(
    paths: Mapping[LibraryFile, Path], readings: Mapping[str, Mapping[str, Sequence[str] | None]], called: str
) -> Iterator[StructureReadings]:
    """Yield the structure of each PDF that tells its own, and how each reader of Markdown reads it."""
    for file, path in paths.items():
        content = path.read_bytes()
        told = told_structure(content)
        if told.headings or told.cells:
            texts = {name: "\n\n".join(readings[name].get(str(path)) or ()) for name in _MARKDOWN}
            texts = {_OURS: _read(without_outline(content), file.name), **texts}
            yield StructureReadings(
                f"{called}{file.part}", file.name, told, {name: read_structure(text) for name, text in texts.items()}
            )


def _score(expected: Reference, text: str) -> Score:
    found = plain_words(text)
    return Score(found_words(expected.words, found), similarity(expected.words, found))


def _means(scores: Mapping[LibraryFile, Mapping[str, Score]], called: str) -> list[Row]:
    rows = []
    for part in ("work", "report"):
        chosen = {file: one for file, one in scores.items() if file.part == part}
        if not chosen:
            continue
        note = f"{len(chosen)} PDFs"
        part = f"{called}{part}"
        for name in (_OURS, *_PEER_NAMES):
            words_bar, order_bar = (0.985, 0.95) if name == _OURS else (None, None)
            found = fmean(one[name].words for one in chosen.values())
            order = fmean(one[name].order for one in chosen.values())
            rows.append(Row(f"words found, {part}, {name}", found, "%", words_bar, note, at_least=True))
            rows.append(Row(f"word order, {part}, {name}", order, "similarity", order_bar, note, at_least=True))
        below = [file.name for file, one in chosen.items() if one[_OURS].order < one["pypdfium2"].order - _MOST_BELOW]
        rows.append(Row(f"word order .02 below pypdfium2, {part}", len(below), "PDFs", 0, ", ".join(below)))
    return rows


def _read(content: bytes, name: str) -> str:
    try:
        return parse_pdf(content, settings=ParsingSettings(ocr=False)).markdown
    except ParseError as error:
        say(f"  {name}: {error}")
        return ""


def _peer(name: str, paths: Sequence[Path], folder: Path) -> dict[str, list[str] | None]:
    """Return the pages of each file as a reader gives them; what a version of it has read is kept in the folder."""
    script = _PEERS / "pdf_readers.py"
    version = hashlib.sha256(_REQUIREMENTS.read_bytes() + script.read_bytes()).hexdigest()[:12]
    kept = folder / "readings" / f"{name}-{version}.jsonl"
    known = _readings(kept)
    missing = [str(path) for path in paths if str(path) not in known]
    if missing:
        say(f"  {name} …")
        kept.parent.mkdir(exist_ok=True)
        new = kept.with_suffix(".new")
        command = [str(_python(folder / "readers")), "-P", str(script), name, str(new), *missing]
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
        if done.returncode:
            raise NoReaderError(f"{name} failed: {' '.join(done.stderr.split())[-200:]}")
        with kept.open("a", encoding="utf-8") as out:
            out.write(new.read_text(encoding="utf-8"))
        new.unlink()
        known = _readings(kept)
    return known


def _readings(kept: Path) -> dict[str, list[str] | None]:
    if not kept.is_file():
        return {}
    with kept.open(encoding="utf-8") as lines:
        return {line["file"]: line["pages"] for line in map(json.loads, lines)}


def _python(folder: Path) -> Path:
    """Return the Python of the readers' virtual environment, made where it is not there."""
    wanted = hashlib.sha256(_REQUIREMENTS.read_bytes()).hexdigest()
    python, made = folder / "bin" / "python", folder / "requirements.sha256"
    if made.is_file() and made.read_text(encoding="utf-8") == wanted:
        return python
    shutil.rmtree(folder, ignore_errors=True)
    venv.create(folder, with_pip=True)
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", str(_REQUIREMENTS)]
    done = subprocess.run(install, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        raise NoReaderError(f"pip installs no readers: {' '.join(done.stderr.split())[-200:]}")
    made.write_text(wanted, encoding="utf-8")
    return python

"""Words of office files, e-books and messages that are neither read nor counted as left out, by what the files hold."""

from pathlib import Path

from benchmarks.corpora.pdf_library import NoLibraryError, fetch, library_files
from benchmarks.harness.bench import Bench
from benchmarks.harness.document_scores import words
from benchmarks.harness.held_words import held_text
from benchmarks.harness.report import Row, say
from sourcebook.errors import ParseError
from sourcebook.model import media_types as media
from sourcebook.parsing.parse import parse
from sourcebook.parsing.text.word_counts import word_counts

LIST = Path(__file__).parents[1] / "corpora" / "office_library.tsv"
OTHERS = LIST.with_name("words_library.tsv")
"""Messages and e-books: every second by its SHA-256 was looked at while readers were mended (`work`)."""
_ENDINGS = {"docx": media.DOCX, "pptx": media.PPTX, "xlsx": media.XLSX, "epub": media.EPUB, "eml": media.EMAIL}
_KINDS = {media.EPUB: "e-books", media.EMAIL: "messages"}


def run(bench: Bench) -> list[Row]:
    """Read the files of the lists, or those of a folder, and count the words that are nowhere."""
    if bench.options.corpus is not None:
        found = sorted(each for each in bench.options.corpus.rglob("*") if each.suffix[1:] in _ENDINGS)
        return _rows("of the folder", found)
    if bench.options.pdfs is None:
        return [Row("office files", None, note="name a folder for their packages by --pdfs, or files by --corpus")]
    folder = bench.options.pdfs.resolve()
    try:
        listed = [*fetch(library_files(LIST), folder).items(), *fetch(library_files(OTHERS), folder).items()]
    except NoLibraryError as error:
        return [Row("office files", None, note=str(error))]
    groups: dict[str, list[Path]] = {}
    for file, path in sorted(listed, key=lambda each: each[0].part):
        kind = _KINDS.get(_media_type(path), "office files")
        groups.setdefault(f"{kind}, {file.part}", []).append(path)
    return [row for name, files in groups.items() for row in _rows(name, files)]


def _rows(name: str, files: list[Path]) -> list[Row]:
    all_words = lost = 0
    failed: list[str] = []
    for path in files:
        try:
            found, missing = _lost(path.read_bytes(), path)
        except ParseError as error:
            failed.append(f"{path.name} ({error})")
            continue
        if missing:
            say(f"    {path.name}: {missing:,} of {found:,} words")
        all_words, lost = all_words + found, lost + missing
    return [
        Row(f"{len(files)} {name}: words neither read nor counted", lost / max(all_words, 1), "%", 0.005),
        Row(f"{name}: words", all_words, "words"),
        Row(f"{name}: files that fail", len(failed), "files", note=", ".join(failed)),
    ]


def _lost(content: bytes, path: Path) -> tuple[int, int]:
    """Return the number of words of a file, and of those that are lost."""
    media_type = _media_type(path)
    document = parse(content, name=path.name, media_type=media_type)
    expected, found = (
        word_counts(" ".join(words(text))) for text in (held_text(content, media_type), document.markdown)
    )
    missing = (expected - found).total()
    left_out = document.metadata.get("left_out")
    counts = left_out if isinstance(left_out, dict) else {}
    counted = sum(each for kind, each in counts.items() if kind.endswith("words") and isinstance(each, int))
    return expected.total(), max(missing - counted, 0)


def _media_type(path: Path) -> str:
    """Return the type of a file of the lists, of which only messages have other endings."""
    return _ENDINGS.get(path.suffix[1:], media.EMAIL)

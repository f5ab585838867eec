"""Work of the stages in seconds at built-in rates, by which runs of different contents are compared.

The rates are those of two cores of 2024 without a GPU. A forecast corrects them by the past runs of its own machine, so
that their proportions matter and not their sizes.
"""

from sourcebook.model.media_types import DOCX, EMAIL, EPUB, HTML, PDF, PPTX, XLSX, is_recording

START_SECONDS = {
    "raw_files": 0.02,
    "crawled_pages": 2.0,
    "transcripts": 4.0,
    "documents": 0.4,
    "chunks": 0.05,
    "embeddings": 2.0,
    "search_index": 0.05,
    "index_upkeep": 0.02,
    "run": 1.5,
}
"""Seconds of a stage that does not depend on the amount of its work: processes and models that start. `run` stands for
all the time of a run outside its stages."""
SMALL_START_SECONDS = {"embeddings": 0.5, "run": 0.5}
"""Seconds in place of these for a small change: its texts are embedded in the process itself, and its run is recorded
by another one."""

_PARSING = {
    PDF: (0.3, 2.0),
    DOCX: (0.05, 1.5),
    PPTX: (0.1, 0.6),
    XLSX: (0.05, 3.0),
    HTML: (0.006, 0.12),
    EPUB: (0.1, 1.0),
    EMAIL: (0.01, 0.2),
}
"""Seconds per document, and per million bytes; images and other media types below."""
_IMAGE = (1.5, 1.0)
_OFFICE = (0.6, 1.0)
_TEXT = (0.003, 0.06)
_PASSAGE_BYTES = {PDF: 6_000, DOCX: 4_000, PPTX: 40_000, XLSX: 2_500, HTML: 3_000, EPUB: 2_000, EMAIL: 2_000}
"""Bytes of a document per passage."""
_IMAGE_BYTES = 200_000
_SOUND_BYTES = 500_000
_TEXT_BYTES = 900


def reading_work(files: int, size: int) -> float:
    """Return the work of reading and hashing files of `size` bytes altogether."""
    return 0.00025 * files + size / 4e8


def parsing_work(media_type: str | None, size: int) -> float:
    """Return the work of parsing one document of `size` bytes, and of recording it."""
    each, per_million = _PARSING.get(media_type or "", _parsing_of_family(media_type or ""))
    return each + per_million * size / 1e6


def expected_passages(media_type: str | None, size: int) -> float:
    """Return the number of passages of a document of `size` bytes, at least one."""
    kind = media_type or ""
    each = _PASSAGE_BYTES.get(kind, _IMAGE_BYTES if kind.startswith("image/") else _TEXT_BYTES)
    return max(size / (_SOUND_BYTES if is_recording(kind) else each), 1.0)


def cutting_work(passages: float) -> float:
    """Return the work of cutting passages."""
    return 0.0008 * passages


def embedding_work(tokens: float) -> float:
    """Return the work of embedding texts of `tokens` tokens altogether."""
    return 0.00008 * tokens


def publishing_work(entries: float) -> float:
    """Return the work of publishing entries."""
    return 0.0015 * entries


def upkeep_work(entries: float) -> float:
    """Return the work of maintaining the index after `entries` were published."""
    return 0.0004 * entries


def transcribing_work(seconds: float) -> float:
    """Return the work of transcribing `seconds` of sound."""
    return 0.3 * seconds


def crawling_work(requests: int) -> float:
    """Return the work of requesting pages, at five requests a second."""
    return 0.2 * requests


def _parsing_of_family(media_type: str) -> tuple[float, float]:
    if media_type.startswith("image/"):
        return _IMAGE
    if media_type.startswith(("text/", "application/json", "application/yaml", "application/toml")):
        return _TEXT
    return _OFFICE

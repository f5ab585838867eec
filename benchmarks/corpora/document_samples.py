"""Documents with their expected Markdown: `NAME.expected.md` beside `NAME.EXT`, in any subfolder."""

from dataclasses import dataclass
from pathlib import Path

from sourcebook.model.media_types import PDF
from sourcebook.parsing.media_type import detect_media_type

_EXPECTED = ".expected.md"
_HEAD_BYTES = 4096


@dataclass(frozen=True)
class Sample:
    """A document and its expected Markdown."""

    name: str
    """Path below the folder."""
    content: bytes
    media_type: str
    expected: str | None
    """Expected Markdown; None without a file of it."""

    @property
    def is_pdf(self) -> bool:
        """Whether it is a PDF, whose text stream is compared as well."""
        return self.media_type == PDF


def read_samples(folder: Path) -> list[Sample]:
    """Read all documents of a folder, ordered by name."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("."))
    return [_read(path, folder) for path in files if not path.name.endswith(_EXPECTED)]


def _read(path: Path, folder: Path) -> Sample:
    content = path.read_bytes()
    candidates = (path.with_name(path.stem + _EXPECTED), path.with_name(path.name + _EXPECTED))
    expected = next((each.read_text(encoding="utf-8") for each in candidates if each.is_file()), None)
    name = path.relative_to(folder).as_posix()
    return Sample(name, content, detect_media_type(path.name, content[:_HEAD_BYTES]), expected)

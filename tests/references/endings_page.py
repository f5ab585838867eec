"""docs/endings.md: what becomes of a file by the ending of its name."""

from sourcebook.model.media_types import endings, is_recording
from sourcebook.parsing.registry import parser_for, skip_reason
from tests.references.parts import page, sections


def make() -> str:
    """Return the page."""
    by_fate: dict[str, list[str]] = {}
    for media_type, names in endings().items():
        by_fate.setdefault(_fate(media_type), []).extend(names)
    rows = [f"| {' '.join(f'`.{name}`' for name in sorted(names))} | {fate} |" for fate, names in by_fate.items()]
    table = "\n".join(["| ending | what becomes of it |", "|---|---|", *rows])
    return page("endings.md", "Endings of files", sections("endings.md")[""], table)


def _fate(media_type: str) -> str:
    parser = parser_for(media_type)
    if is_recording(media_type):
        return "transcribed, see [Recordings](recordings.md)"
    return f"read by the parser `{parser.name}`" if parser else f"skipped: {skip_reason(media_type)}"

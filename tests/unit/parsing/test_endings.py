"""The table of endings in the documentation."""

from sourcebook.model.media_types import endings, is_recording
from sourcebook.parsing.registry import parser_for, skip_reason
from tests.checkout import DOCS


def kept(media_type: str) -> str:
    parser = parser_for(media_type)
    if is_recording(media_type):
        return "transcribed, see [Recordings](recordings.md)"
    return f"read by the parser `{parser.name}`" if parser else f"skipped: {skip_reason(media_type)}"


def test_every_ending_is_listed_with_what_becomes_of_it() -> None:
    """A failure shows the table as it should be."""
    by_fate: dict[str, list[str]] = {}
    for media_type, names in endings().items():
        by_fate.setdefault(kept(media_type), []).extend(names)
    rows = [f"| {' '.join(f'`.{name}`' for name in sorted(names))} | {fate} |" for fate, names in by_fate.items()]
    table = "\n".join(["| ending | what becomes of it |", "|---|---|", *rows])
    written = (DOCS / "endings.md").read_text("utf-8")
    assert table in written, f"docs/endings.md lacks this table:\n{table}"


def test_every_ending_that_is_not_read_says_what_to_do() -> None:
    """The reason names a program or another format, except where a file holds no text for people."""
    for media_type in endings():
        reason = "" if is_recording(media_type) or parser_for(media_type) else skip_reason(media_type)
        is_for_people = reason and not reason.startswith(("programs", "fonts"))
        assert not is_for_people or "; " in reason, media_type

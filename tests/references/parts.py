"""The hand-written parts of references: introductions, and what no description at the source has room for."""

import re

from tests.checkout import DOCS

_HEADING = re.compile(r"^## (.+)$", re.MULTILINE)


def sections(name: str) -> dict[str, str]:
    """Return the sections of a file in docs/parts by their headings; the introduction has the empty one."""
    text = (DOCS / "parts" / name).read_text(encoding="utf-8").replace("](../", "](")
    introduction, *rest = _HEADING.split(text)
    return {
        "": introduction.strip(),
        **{title.strip("`"): body.strip() for title, body in zip(rest[::2], rest[1::2], strict=True)},
    }


def page(name: str, title: str, *blocks: str) -> str:
    """Return a page with the note on how it is made."""
    made = (
        f"<!-- Made by `python -m tests.surface --snapshots` from the source and docs/parts/{name}: change those. -->"
    )
    return "\n\n".join([f"# {title}", made, *(block for block in blocks if block)]) + "\n"

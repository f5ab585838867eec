"""Collection of paragraphs and other blocks."""

import re

from sourcebook.parsing.text.raised_text import without_marks

_LABEL = re.compile(r"\\label\s*\{[^{}]*\}|\\nonumber\b|\\notag\b")
_BREAK = re.compile(r"[ \t]*[ ]{2}\n\s*")


class Flow:
    """The blocks written so far, and the text of the current paragraph."""

    def __init__(self) -> None:
        self._blocks: list[str] = []
        self._paragraph: list[str] = []

    def write(self, text: str) -> None:
        """Add text to the current paragraph."""
        self._paragraph.append(text)

    def write_code(self, code: str) -> None:
        """Add code to the current paragraph."""
        self.write(f"`{code}`" if "`" not in code else f"`` {code} ``")

    def write_math(self, formula: str, *, display: bool) -> None:
        """Add a formula to the current paragraph, or as a block (`display`)."""
        formula = _LABEL.sub("", formula).strip()
        if not formula:
            return
        if display:
            lines = [line.strip() for line in formula.split("\n") if line.strip()]
            self.add("\n".join(["$$", *lines, "$$"]))
        else:
            self.write(f"${' '.join(formula.split())}$")

    def add(self, block: str) -> None:
        """End the paragraph and add a block, unless it is empty."""
        self.end_paragraph()
        if block.strip(" #"):
            self._blocks.append(block)

    def add_all(self, blocks: list[str]) -> None:
        """End the paragraph and add blocks."""
        self.end_paragraph()
        self._blocks += blocks

    def end_paragraph(self) -> None:
        """Make a block of the current paragraph."""
        parts = _BREAK.split(without_marks("".join(self._paragraph)).strip())
        text = "  \n".join(part for part in (" ".join(part.split()) for part in parts) if part)
        self._paragraph = []
        if text:
            self._blocks.append(text)

    def blocks(self) -> list[str]:
        """End the paragraph and return all blocks."""
        self.end_paragraph()
        return self._blocks

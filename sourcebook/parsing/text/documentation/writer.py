"""Writes lines of plain Markdown, and knows where the headings with ids of their own are."""

from collections.abc import Iterator
from contextlib import contextmanager

_SIGNS = " \t>\n"
"""Signs of a line that is blank, within a quotation or not."""


class Writer:
    """Collects the lines of a document.

    Args:
        start: offset of the first line.
    """

    def __init__(self, start: int) -> None:
        self.lines: list[str] = []
        self.anchors: list[tuple[int, str]] = []
        """Offsets of headings with the ids that they are given."""
        self._length = start
        self._prefix = ""
        self._given: str | None = None
        self._heading: int | None = None  # offset of the heading in the last line
        self.is_separated = False
        """Whether the last line is a blank one that `separate` has put in."""

    @property
    def is_blank(self) -> bool:
        """Whether a block may begin: at the beginning, and behind a blank line."""
        return not self.lines or not self.lines[-1].strip(_SIGNS)

    def write(self, line: str) -> None:
        """Write a line at the present indent."""
        if line.strip():
            self._given = None
            line = self._prefix + line
        elif ">" in self._prefix:
            line = self._prefix.rstrip()
        self._heading, self.is_separated = None, False
        self.lines.append(f"{line}\n")
        self._length += len(line) + 1

    def separate(self) -> None:
        """Write a blank line, unless there is one."""
        if not self.is_blank:
            self.write("")
        self.is_separated = True

    def heading(self, line: str, own: str | None) -> None:
        """Write a heading; it has an id of its own, that which it was given before, or none."""
        offset, given = self._length + len(self._prefix) + len(line) - len(line.lstrip()), own or self._given
        self.write(line)
        self._heading = offset
        if given:
            self.anchors.append((offset, given))

    def give(self, anchor: str | None) -> None:
        """Give an id to the heading in the last line, or else to the next line if that is one."""
        if anchor and self._heading is not None:
            self.anchors.append((self._heading, anchor))
        elif anchor:
            self._given = anchor

    def take_back(self) -> None:
        """Remove the last line."""
        self._length -= len(self.lines.pop())

    @contextmanager
    def within(self, prefix: str) -> Iterator[None]:
        """Write lines with an indent, or with the sign of a quotation."""
        before, self._prefix = self._prefix, self._prefix + prefix
        try:
            yield
        finally:
            self._prefix = before

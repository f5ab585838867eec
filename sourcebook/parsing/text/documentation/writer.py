"""Writes lines of plain Markdown, and knows where the headings with ids of their own are."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager


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
        self.given: str | None = None
        """Id for the next line, if that is a heading."""
        self._heading: int | None = None  # offset of the heading in the last line
        self.is_separated = False
        """Whether the last line is a blank one that `separate` has put in."""
        self.is_blank = True
        """Whether a block may begin: at the beginning, and behind a blank line."""

    def write(self, line: str) -> None:
        """Write a line at the present indent."""
        self.is_blank = not line or line.isspace()
        if not self.is_blank:
            self.given = None
            line = self._prefix + line
        elif ">" in self._prefix:
            line = self._prefix.rstrip()
        self._heading, self.is_separated = None, False
        self.lines.append(f"{line}\n")
        self._length += len(line) + 1

    def copy(self, lines: Sequence[str]) -> None:
        """Write lines that belong together, the last of which is not blank."""
        if self._prefix:
            for line in lines:
                self.write(line)
            return
        text = "\n".join(lines)
        self.given, self._heading, self.is_separated, self.is_blank = None, None, False, False
        self.lines.append(f"{text}\n")
        self._length += len(text) + 1

    def separate(self) -> None:
        """Write a blank line, unless there is one."""
        if not self.is_blank:
            self.write("")
        self.is_separated = True

    def heading(self, line: str, own: str | None) -> None:
        """Write a heading; it has an id of its own, that which it was given before, or none."""
        offset, given = self._length + len(self._prefix) + len(line) - len(line.lstrip()), own or self.given
        self.write(line)
        self._heading = offset
        if given:
            self.anchors.append((offset, given))

    def give(self, anchor: str | None) -> None:
        """Give an id to the heading in the last line, or else to the next line if that is one."""
        if anchor and self._heading is not None:
            self.anchors.append((self._heading, anchor))
        elif anchor:
            self.given = anchor

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

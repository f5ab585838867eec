"""Commands and files of a page of the documentation, as a reader types them.

A console block is typed line by line; `…` in what it shows is any text, and lines may be left out. A block of code
whose first line is `# NAME`, with an ending, is written to that file. `<!-- not typed: REASON -->` above a block leaves
it out.
"""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.checkout import DOCS

PAGES: Final = (
    "tutorial.md",
    "audit.md",
    "backup.md",
    "changing.md",
    "colleagues.md",
    "curation.md",
    "keep-a-site.md",
    "keys.md",
    "move-machine.md",
    "server-processes.md",
    "server.md",
    "source-empties.md",
    "uploads.md",
    "who-asks.md",
    "who-may-see-what.md",
    "work.md",
)
"""Pages that begin in an empty folder and need nothing else."""
EMBEDDED: Final = ("tutorial.md", "move-machine.md")
"""Pages with the embedded server: the first on a bare machine, as a first reader has it, the other with two of them."""
PREPARED: Final = ("claude-code.md", "confluence.md")
"""Pages whose tests put something there first: a program, a service."""
SHARED: Final = ("deployment.md", "filters.md", "playbooks.md", "redaction-categories.md", "widget.md")
"""Pages about a library that is there, which are typed one after the other over the same one."""
_BLOCK: Final = re.compile(r"(<!-- not typed: .+? -->\n+)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_MEASURED: Final = re.compile(r"(\$ (make bench |python -m benchmarks ).*\n)+")
"""Commands of benchmarks, whose parts `test_docs_names.py` knows."""
_FILE: Final = re.compile(r"# ([\w./-]+\.\w+)\n")
_CODE: Final = re.compile(r"exit code (\d+)")


@dataclass(frozen=True)
class Command:
    """A line that is typed, and what the page shows below it."""

    text: str
    shown: list[str] = field(default_factory=list)

    @property
    def code(self) -> int:
        """The exit code that its comment tells, or 0."""
        found = _CODE.search(self.text)
        return int(found[1]) if found else 0

    @property
    def goes_on(self) -> bool:
        """Whether it is a server, which is left running."""
        return self.text.endswith("&")


@dataclass(frozen=True)
class WrittenFile:
    """A file that the page tells the reader to write."""

    name: str
    content: str

    def write(self, folder: Path) -> None:
        path = folder / self.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.content, encoding="utf-8")


def untyped(page: str) -> list[str]:
    """Return the console blocks of a page that nobody types and no reason stands above."""
    if page in (*PAGES, *PREPARED, *SHARED):
        return []
    found = _BLOCK.findall((DOCS / page).read_text(encoding="utf-8"))
    shown = [text for skipped, language, text in found if language == "console" and not skipped]
    return [text for text in shown if not _MEASURED.fullmatch(text)]


def steps(page: str) -> list[Command | WrittenFile]:
    """Return what a reader of the page does, in order."""
    found: list[Command | WrittenFile] = []
    for skipped, language, text in _BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
        if skipped:
            continue
        if language == "console":
            found += _commands(text)
        elif written := _FILE.match(text):
            found.append(WrittenFile(written[1], text))
    return found


def _commands(block: str) -> list[Command]:
    found: list[Command] = []
    for line in block.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:]))
        elif found[-1].text.endswith("\\"):
            found[-1] = Command(f"{found[-1].text[:-1]} {line.strip()}")
        else:
            found[-1].shown.append(line)
    return found


def missing(shown: list[str], lines: list[str]) -> str | None:
    """Return the first line of the page that was not printed behind the ones before it."""
    rest = lines
    for line in shown:
        parts = [re.escape(" ".join(part.split(" "))) for part in " ".join(line.split()).split("…")]
        pattern = re.compile(".*".join(parts))
        number = next((number for number, each in enumerate(rest) if pattern.fullmatch(each)), None)
        if number is None:
            return line
        rest = rest[number + 1 :]
    return None

"""A folder of small Markdown files that change at random; every version of a file has words that no other one has."""

from pathlib import Path
from random import Random

_WORDS = ("tide", "gauge", "harbour", "pier", "battery", "levelling", "radar", "storm", "island", "winter", "chart")
_MOST_SECTIONS = 4


class Notes:
    """The files of one collection.

    Args:
        folder: folder of the files, which exists.
        chance: source of every choice.
    """

    def __init__(self, folder: Path, chance: Random) -> None:
        self.folder = folder
        self._chance = chance
        self._number = 0

    def fill(self, files: int) -> None:
        """Write a number of files."""
        for _ in range(files):
            self._add()

    def change(self) -> None:
        """Edit three files, rename one, delete one and add one."""
        files = sorted(self.folder.iterdir())
        renamed, deleted, *edited = self._chance.sample(files, 5)
        for path in edited:
            path.write_text(self._text(), encoding="utf-8")
        renamed.rename(self._path())
        deleted.unlink()
        self._add()

    def change_all(self) -> None:
        """Edit every file: too much for the watch, which leaves it to a run of the daemon."""
        for path in sorted(self.folder.iterdir()):
            path.write_text(self._text(most_sections=1), encoding="utf-8")

    def _add(self) -> None:
        self._path().write_text(self._text(), encoding="utf-8")

    def _path(self) -> Path:
        self._number += 1
        return self.folder / f"note-{self._number:05}.md"

    def _text(self, most_sections: int = _MOST_SECTIONS) -> str:
        self._number += 1
        sections = [
            f"## {self._chance.choice(_WORDS).title()} {number}\n\n"
            f"Mark m{self._number}n{number}x, {' '.join(self._chance.choices(_WORDS, k=40))}.\n"
            for number in range(self._chance.randint(1, most_sections))
        ]
        return f"# {self._chance.choice(_WORDS).title()} {self._number}\n\n" + "\n".join(sections)

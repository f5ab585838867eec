"""What a reader has who types a page of the documentation, and the typing."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.acceptance.terminal import terminal
from tests.acceptance.typed_page import WrittenFile, missing, steps
from tests.checkout import CHECKOUT
from tests.waiting import wait_until


@dataclass(frozen=True)
class World:
    """What a reader has beside the page."""

    folder: Path
    programs: Path
    """A folder on the path for programs that are not here."""
    errors: Path
    instead: Mapping[str, str] = field(default_factory=dict)
    """What this test types in place of what the page says: addresses and ports."""
    libraries: Path | None = None
    """A folder with packages that the page has the reader install."""
    database_url: str | None = None
    """The reader's knowledge base, in place of the embedded server, which each command would start."""

    @property
    def environment(self) -> dict[str, str]:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("SOURCEBOOK")}
        path = os.pathsep.join([str(self.programs), str(Path(sys.executable).parent), os.environ["PATH"]])
        if self.libraries is not None:
            clean["PYTHONPATH"] = os.pathsep.join([str(CHECKOUT), str(self.libraries)])
        if self.database_url is not None:
            clean["SOURCEBOOK_DATABASE_URL"] = self.database_url
        return {
            **clean, "PATH": path, "HOME": str(self.folder), "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "120",
            "HF_HUB_OFFLINE": "1",
        }  # fmt: skip

    def typed(self, text: str) -> str:
        for told, here in self.instead.items():
            text = text.replace(told, here)
        return text


def follow(page: str, world: World) -> int:
    """Do what a page says; return the number of commands."""
    number = 0
    with terminal(world.folder, world.environment, world.errors) as shell:
        for step in steps(page):
            if isinstance(step, WrittenFile):
                WrittenFile(step.name, world.typed(step.content)).write(world.folder)
                continue
            number += 1
            code, lines = shell.type(world.typed(step.text), waits=not step.goes_on)
            shown = [world.typed(line) for line in step.shown]
            if step.goes_on:
                wait_until(lambda: missing(shown, shell.lines()) is None, what=f"{step.text} shows {shown}")  # noqa: B023
                continue
            assert code == step.code, f"{page}: $ {step.text}\nends with {code}:\n" + "\n".join(lines)
            lacking = missing(shown, lines)
            assert lacking is None, f"{page}: $ {step.text}\nshows {lacking!r}, and printed:\n" + "\n".join(lines)
    return number

"""Pages of the documentation, word for word: each command runs in a terminal and prints what the page shows."""

import asyncio
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from mcp import StdioServerParameters

from sourcebook.admin.finished_runs import recorder_lock
from sourcebook.database.database import Database
from tests.acceptance.processes import free_port
from tests.acceptance.terminal import SECONDS, terminal
from tests.acceptance.typed_page import PAGES, Command, WrittenFile, missing, steps
from tests.acceptance.workplace import Json, Workplace
from tests.checkout import CHECKOUT, EXAMPLES
from tests.exported import copy_database, link_model
from tests.integration.mcp_client import Agent, over_stdio
from tests.packages import NotInstalledError, installed
from tests.recipes.confluence import Confluence
from tests.recipes.drill import PACKAGES
from tests.waiting import wait_until
from tests.web_server import WebServer

EMBEDDED = ("tutorial.md", "move-machine.md")
"""Pages with the embedded server: the first on a bare machine, as a first reader has it, the other with two of them."""


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


@pytest.fixture
def world(workplace: Workplace, tmp_path: Path) -> World:
    """An empty folder, which is the reader's home, too."""
    return World(workplace.folder, tmp_path, tmp_path / "errors")


@pytest.fixture
def prepared(world: World, database: Database, exported_model: Path) -> Iterator[World]:
    """A world with tables and the export of the model, in which nothing records the runs of small changes.

    These take most of the time; `test_small_change.py` is about them.
    """
    link_model(exported_model, world.folder / ".sourcebook")
    with recorder_lock(database) as is_free:
        assert is_free
        yield replace(world, database_url=database.location.url)


@contextmanager
def site() -> Iterator[str]:
    """A small site on loopback."""
    with WebServer() as web:
        for path, title in (("/", "Docs"), ("/install", "Install")):
            text = "<p>Install it with one command, which takes a minute on a machine with a network.</p>"
            links = '<a href="/install">Install</a>'
            web.page(path, f"<html><head><title>{title}</title></head><body><main><h1>{title}</h1>{text}{links}</main>")
        yield f"http://127.0.0.1:{web.port}/"


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


@pytest.mark.parametrize("page", [page for page in PAGES if page not in EMBEDDED])
def test_each_command_prints_what_the_page_shows(page: str, prepared: World) -> None:
    """The lines are printed in the order of the page; lines between them may be left out of it."""
    with ExitStack() as stack:
        port = str(free_port())
        instead = {"sourcebook serve": f"sourcebook serve --port {port}", "8320": port}
        if page == "keep-a-site.md":
            instead["https://docs.example.com/"] = stack.enter_context(site())
        assert follow(page, replace(prepared, instead=instead)) > 0


@pytest.mark.parametrize("page", EMBEDDED)
def test_a_page_that_begins_with_nothing_prints_what_it_shows(page: str, world: World) -> None:
    assert follow(page, world) > 0


CLAUDE = """#!/bin/sh
# Claude Code's own command, which is not here: it keeps what it is told to start.
[ "$1 $2" = "mcp add" ] || exit 2
while [ "$1" != "--" ]; do shift; done
shift
printf '%s\\n' "$@" > "$HOME/started"
"""


def test_claude_code_finds_the_notes(world: World, exported_model: Path) -> None:
    """What docs/claude-code.md has Claude Code start answers an agent from the notes of that page."""
    link_model(exported_model, world.folder / ".sourcebook")
    copy_database(exported_model, world.folder / ".sourcebook")
    program = world.programs / "claude"
    program.write_text(CLAUDE)
    program.chmod(0o755)
    follow("claude-code.md", world)
    command, *arguments = (world.folder / "started").read_text().splitlines()
    assert Path(command).is_absolute()

    async def ask(agent: Agent) -> list[Json]:
        last = time.monotonic() + SECONDS
        found: list[Json] = []
        while not found:
            assert time.monotonic() < last, "the notes are not taken in"
            await asyncio.sleep(0.5)  # between two questions, while the notes are being read
            found = (await agent.ask("search_documents", query="How long do the batteries last?"))["results"]
        return found

    started = StdioServerParameters(command=command, args=arguments, env=world.environment, cwd=world.folder)
    assert over_stdio(started, ask)[0]["citation"]["uri"].endswith("notes/power.md#power")


def test_a_confluence_space_is_taken_in(prepared: World) -> None:
    """docs/confluence.md over a fake of the service, with the library that the page installs."""
    try:
        libraries = installed(PACKAGES, "recipes")
    except NotInstalledError as error:
        pytest.skip(str(error))
    with Confluence(7) as service:
        for _ in range(8):
            service.change()
        instead = {
            "cp -r examples/": f"cp -r {EXAMPLES}/",
            "cd wiki": "cd wiki && mv ../.sourcebook .",
            "https://example.atlassian.net": service.url,
            "CONFLUENCE_TOKEN=…": "CONFLUENCE_TOKEN=secret-token",
        }
        follow("confluence.md", replace(prepared, instead=instead, libraries=libraries))
        assert service.requests > len(service.truth()) > 0


def test_a_page_is_read_as_it_is_written() -> None:
    """Lines that go on, exit codes and files are told apart; a block that is not typed is left out."""
    commands = [step for step in steps("source-empties.md") if isinstance(step, Command)]
    assert [each.code for each in commands if "exit code" in each.text] == [3, 3]
    assert not any("docker" in each.text for each in steps("docker.md") if isinstance(each, Command))
    (written,) = (step for step in steps("confluence.md") if isinstance(step, WrittenFile))
    assert written.name == "wiki/sourcebook.yaml"

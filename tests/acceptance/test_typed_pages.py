"""Pages of the documentation, word for word: each command runs in a terminal and prints what the page shows."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from mcp import StdioServerParameters

from sourcebook.admin.finished_runs import recorder_lock
from sourcebook.database.database import Database
from tests.acceptance.processes import free_port
from tests.acceptance.terminal import SECONDS, terminal
from tests.acceptance.typed_page import EMBEDDED, PAGES, SHARED, Command, WrittenFile, steps
from tests.acceptance.typed_world import World, follow
from tests.acceptance.workplace import Json
from tests.checkout import EXAMPLES
from tests.exported import copy_database, link_model
from tests.integration.mcp_client import Agent, over_stdio
from tests.packages import NotInstalledError, installed
from tests.recipes.confluence import Confluence
from tests.recipes.drill import PACKAGES
from tests.web_server import WebServer


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


@pytest.mark.parametrize("page", [page for page in PAGES if page not in EMBEDDED])
def test_each_command_prints_what_the_page_shows(page: str, prepared: World) -> None:
    """The lines are printed in the order of the page; lines between them may be left out of it."""
    with ExitStack() as stack:
        port = str(free_port())
        instead = {"sourcebook serve": f"sourcebook serve --port {port}", "8320": port}
        if page == "keep-a-site.md":
            instead["https://docs.example.com/"] = stack.enter_context(site())
        assert follow(page, replace(prepared, instead=instead)) > 0


def test_pages_about_a_library_are_typed_over_one(prepared: World) -> None:
    """One ingest serves them all: what they print is that of a handbook with one rule."""
    (prepared.folder / "handbook").mkdir()
    (prepared.folder / "handbook" / "leave.md").write_text("# Leave\n\nLeave may be carried over for three months.\n")
    (prepared.folder / "letter.txt").write_text("Please write to anna@example.org.\n")
    (prepared.folder / "answer.txt").write_text("We have written to [EMAIL_1].\n")
    with terminal(prepared.folder, prepared.environment, prepared.errors) as shell:
        assert shell.type("sourcebook ingest ./handbook")[0] == 0
    assert all(follow(page, prepared) > 0 for page in SHARED)


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

"""The help of every command, as a terminal of 100 columns shows it."""

from collections.abc import Iterator

import typer.main
from typer.core import TyperGroup
from typer.testing import CliRunner

from sourcebook.command.app import app

_TERMINAL = {"COLUMNS": "100", "TERM": "dumb", "NO_COLOR": "1"}


def pages() -> dict[str, str]:
    """Return what `--help` of the program and of every command prints, by the name of a file."""
    runner = CliRunner()
    found = {}
    for words in command_words():
        result = runner.invoke(app, [*words, "--help"], env=_TERMINAL)
        assert result.exit_code == 0, result.output
        lines = [line.rstrip() for line in result.stdout.strip().splitlines()]
        found[f"{'-'.join(['sourcebook', *words])}.txt"] = "\n".join(lines) + "\n"
    return found


def command_words() -> list[tuple[str, ...]]:
    """Return the words of every command, those of groups included; of the program itself, none."""
    return list(_below((), typer.main.get_command(app)))


def _below(words: tuple[str, ...], command: object) -> Iterator[tuple[str, ...]]:
    yield words
    if isinstance(command, TyperGroup):
        for name, held in command.commands.items():
            yield from _below((*words, name), held)

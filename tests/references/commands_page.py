"""docs/commands.md: every command with its help, options and examples, and what its JSON holds."""

import re
from collections.abc import Iterator
from typing import Any

import typer.main
from typer.core import TyperCommand, TyperGroup

from sourcebook.command.app import app
from tests.references.parts import page, sections


def make() -> str:
    """Return the page."""
    program = typer.main.get_command(app)
    assert isinstance(program, TyperGroup)
    written = sections("commands.md")
    commands: dict[str, TyperCommand] = dict(program.commands)  # type: ignore[arg-type]  # no group is among them
    names = ", ".join(f"[{name}](#{name})" for name in commands)
    blocks = [_section(name, command, written.get(name, "")) for name, command in commands.items()]
    options = _table(program.params)
    general = [f"## {title}\n\n{body}" for title, body in written.items() if title and title not in commands]
    return page("commands.md", "Commands", written[""], f"{names}.\n\n{options}", *general, *blocks)


def _section(name: str, command: TyperCommand, written: str) -> str:
    """Return the section of a command; its anchor is its name, and its heading says what it is for."""
    arguments = " ".join(
        each.make_metavar(_context(command)) for each in command.params if each.param_type_name == "argument"
    )
    usage = f"sourcebook {name} {arguments}".strip().replace("...", "…")
    telling, _, examples = (command.help or "").partition("**Example:**")
    purpose, stop, rest = _purpose(_joined(telling))
    parts = [
        f'<a id="{name}"></a>\n\n## {name}: {purpose[0].lower()}{purpose[1:]}',
        f"`{usage}`",
        rest.strip() if stop == "." else _joined(telling),
        _table(command.params),
        *_examples(examples),
        written,
    ]
    return "\n\n".join(part for part in parts if part)


def _purpose(telling: str) -> tuple[str, str, str]:
    """Return the beginning of a text up to its first stop, colon or semicolon, that sign, and what follows."""
    found = re.search(r"[.:;](?=\s|$)", telling)
    return (telling[: found.start()], found[0], telling[found.end() :]) if found else (telling, "", "")


def _context(command: TyperCommand) -> Any:
    return command.context_class(command)


def _joined(text: str) -> str:
    """Return the paragraphs of a text, each in one line."""
    return "\n\n".join(" ".join(part.split()) for part in text.strip().split("\n\n") if part.strip())


def _table(parameters: list[Any]) -> str:
    rows = [row for each in parameters if (row := _row(each))]
    return "\n".join(["| argument or option | |", "|---|---|", *rows]) if rows else ""


def _row(parameter: Any) -> str:
    if parameter.name in {"help", "install_completion", "show_completion"} or parameter.help is None:
        return ""
    told = re.sub(r"\s+", " ", parameter.help).replace("|", "\\|").replace("<", "\\<")
    return f"| {', '.join(_names(parameter))} | {told}{_default(parameter)} |"


def _names(parameter: Any) -> Iterator[str]:
    if parameter.param_type_name == "argument":
        yield f"`{(parameter.metavar or parameter.name).replace('...', '…')}`".replace("|", "\\|")
        return
    choices = getattr(parameter.type, "choices", None)
    value = "|".join(map(str, choices)) if choices else parameter.metavar or ""
    takes = "" if parameter.is_flag or parameter.count else value or parameter.type.name.upper()
    *short, long = sorted(parameter.opts, key=len)
    yield from (f"`{name}`" for name in short)
    yield f"`{f'{long} {takes}'.strip()}`".replace("|", "\\|")
    yield from (f"`{name}`" for name in parameter.secondary_opts)


def _default(parameter: Any) -> str:
    value = getattr(parameter.default, "value", parameter.default)
    if parameter.param_type_name == "argument" or isinstance(value, bool) or value in (None, "", ()) or callable(value):
        return ""
    return f" Default: `{value:g}`." if isinstance(value, float) else f" Default: `{value}`."


def _examples(text: str) -> Iterator[str]:
    """Yield the examples of a command's help as one block for a terminal, the words about each as a comment."""
    lines = []
    for item in re.split(r"\n\s*- |\n\n", text.strip()):
        told = " ".join(item.split())
        if found := re.match(r"(?:(?:`[^`]+`(?:, )?)+)", told):
            commands, words = re.findall(r"`([^`]+)`", found[0]), told[found.end() :].lstrip(": ")
            lines += [*([f"# {words}"] if words else []), *(f"$ {command}" for command in commands)]
        elif told:
            lines.append(f"# {told.strip('- ')}")
    if lines:
        yield "```console\n" + "\n".join(lines) + "\n```"

"""`sourcebook doctor`: problems of this machine, with the command that solves each."""

from dataclasses import asdict
from importlib.util import find_spec
from typing import TYPE_CHECKING

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.errors import FAILED
from sourcebook.cli.options import Json
from sourcebook.cli.output import console, print_json, safe
from sourcebook.cli.redaction import redact
from sourcebook.installation import is_checkout

if TYPE_CHECKING:
    from sourcebook.admin.doctor import Check

_MARKS = {"ok": ("✓", "green"), "warn": ("!", "yellow"), "fail": ("✗", "red")}


def doctor(ctx: typer.Context, as_json: Json = False) -> None:
    """Check this machine for everything that Sourcebook needs, and print the command that solves each problem.

    Checks Python and packages, the configuration, the state folder and its disk, the database with its versions, the
    weights of the models, and each parser by a real conversion. Nothing is changed. Exits with 1 where a check fails.

    **Example:** `sourcebook doctor`
    """
    from sourcebook.admin.doctor import examine

    context = CommandContext.of(ctx)
    with_pipeline = is_checkout() or find_spec("dagster") is not None
    checks = examine(context.config_path, context.home, with_pipeline=with_pipeline)
    if as_json:
        print_json({"checks": [{name: redact(text) for name, text in asdict(check).items()} for check in checks]})
    else:
        for check in checks:
            _show(check)
    if any(check.state == "fail" for check in checks):
        raise typer.Exit(FAILED)


def _show(check: "Check") -> None:
    mark, style = _MARKS[check.state]
    line = safe(f"{mark} ", style)
    line.append_text(safe(f"{check.name}: {redact(check.detail)}"))
    console().print(line, soft_wrap=True)
    if check.remedy:
        console().print(safe(f"    → {redact(check.remedy)}"), soft_wrap=True)

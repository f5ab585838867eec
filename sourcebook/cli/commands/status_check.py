"""`sourcebook status --check`: one line for each finding, and an exit code for monitors."""

from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.errors import FAILED, FAILED_ITEMS, WRONG_USE, explain
from sourcebook.cli.options import as_duration, duration
from sourcebook.cli.output import console, one_line, print_json, safe
from sourcebook.cli.redaction import redact
from sourcebook.errors import DatabaseError

if TYPE_CHECKING:
    from sourcebook.admin.health import Finding, Thresholds


Check = Annotated[bool, typer.Option("--check", help="For monitors: one line for each finding, and an exit code.")]
MaxLag = Annotated[
    str,
    typer.Option("--max-lag", metavar="DURATION", callback=as_duration, help="Age of a change that is not searchable."),
]
MaxSilence = Annotated[
    str,
    typer.Option(
        "--max-silence", metavar="DURATION", callback=as_duration, help="Age of the last heartbeat and the last tick."
    ),
]
MaxFailed = Annotated[int, typer.Option("--max-failed", min=0, help="Failed items of a collection.")]


def check(context: CommandContext, *, max_lag: str, max_silence: str, max_failed: int, as_json: bool) -> None:
    """Print the findings.

    Raises:
        typer.Exit: there are findings; exit code 1 where one is critical, else 2 where the configuration has a mistake,
            else 3.
    """
    from sourcebook.admin.health import Thresholds

    thresholds = Thresholds(duration(max_lag), duration(max_silence), max_failed)
    findings = _findings(context, thresholds)
    severities = {finding.severity for finding in findings}
    state = "critical" if "critical" in severities else "warning" if severities else "ok"
    if as_json:
        print_json({"state": state, "findings": [finding.as_dict() for finding in findings]})
    elif not findings:
        console().print("OK: the daemon runs, nothing waits, nothing has failed", soft_wrap=True)
    else:
        for finding in findings:
            style = "red" if finding.severity == "critical" else "yellow"
            line = safe(f"{finding.severity.upper()}: ", style)
            console().print(line.append_text(safe(one_line(finding.message, 500))), soft_wrap=True)
    if state == "critical":
        raise typer.Exit(FAILED)
    if findings:
        is_wrong = any(finding.check == "configuration" for finding in findings)
        raise typer.Exit(WRONG_USE if is_wrong else FAILED_ITEMS)


def _findings(context: CommandContext, thresholds: "Thresholds") -> "list[Finding]":
    from sourcebook.admin.health import Finding, daemon_findings
    from sourcebook.operations.upkeep import health_findings

    if context.is_empty():
        return list(daemon_findings(None, thresholds))
    try:
        with context.own_knowledge() as knowledge:
            found = health_findings(knowledge, thresholds)
    except DatabaseError as error:
        return [Finding("database", "critical", redact(explain(error)))]
    if (mistake := context.mistake) is not None:
        told = f"the configuration has a mistake, and the last good one stays in force: {mistake}"
        return [Finding("configuration", "warning", told), *found]
    return found

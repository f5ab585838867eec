"""Tests wait for what they need, and not for a number of seconds; they wait long before they give up."""

import ast
import re
from pathlib import Path

from tests.checkout import CHECKOUT

SHORTEST = 60
"""The least limit of a wait, in seconds; only a failing test spends it, so a machine with other work may be slow."""
WAITS = {"communicate", "join", "result", "run", "timeout", "urlopen", "wait", "wait_procs", "wait_until"}
"""Names of functions that wait with a limit."""
OF_LIMITS = {"most", "seconds", "timeout"}
"""Names of the arguments that are limits."""
SHORT = re.compile(rf"\b({'|'.join(WAITS)})\(")
"""What a file without such calls does not have, so that it need not be parsed."""


def called(node: ast.AST) -> str:
    """Return the last name of what a call calls; empty of anything else."""
    function = node.func if isinstance(node, ast.Call) else None
    name: str = getattr(function, "attr", getattr(function, "id", ""))
    return name


def unexplained_sleeps(path: Path) -> list[str]:
    """Return the calls of `sleep` that pass time and have no comment on their line."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    return [
        f"{path.relative_to(CHECKOUT)}:{node.lineno}"
        for node in (ast.walk(ast.parse(text)) if "sleep(" in text else ())
        if isinstance(node, ast.Call) and called(node).endswith("sleep")
        if not (node.args and ast.unparse(node.args[0]) == "0") and "  # " not in lines[node.lineno - 1]
    ]


def test_a_sleep_says_why_it_is_no_wait() -> None:
    """`tests/waiting.py` waits for a condition; a sleep is the behaviour under test, and its comment says which."""
    found = [each for path in (CHECKOUT / "tests").rglob("*.py") for each in unexplained_sleeps(path)]
    assert not found, "wait with tests.waiting, or say beside the sleep why it is none"


def short_limits(path: Path) -> list[str]:
    """Return the waits with a limit below `SHORTEST` that have no comment on their line."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    found = []
    for node in ast.walk(ast.parse(text)) if SHORT.search(text) else ():
        name = called(node)
        if not isinstance(node, ast.Call) or name not in WAITS:
            continue
        limits = [each.value for each in node.keywords if each.arg in OF_LIMITS]
        if name in {"join", "result", "timeout", "wait"}:
            limits += node.args[:1]
        for limit in limits:
            seconds = limit.value if isinstance(limit, ast.Constant) else None
            if isinstance(seconds, int | float) and seconds < SHORTEST and "  # " not in lines[limit.lineno - 1]:
                found.append(f"{path.relative_to(CHECKOUT)}:{limit.lineno}")
    return found


def test_a_short_limit_says_why_it_is_enough() -> None:
    """A wait for an event has a minute; a pause, or a limit that is under test, has a comment."""
    found = [each for path in (CHECKOUT / "tests").rglob("*.py") for each in short_limits(path)]
    assert not found, f"wait for {SHORTEST} s or more, or say beside the limit why it is short"

"""Tests wait for what they need, and not for a number of seconds."""

import ast
from pathlib import Path

from tests.checkout import CHECKOUT


def unexplained_sleeps(path: Path) -> list[str]:
    """Return the calls of `sleep` that pass time and have no comment on their line."""
    text = path.read_text(encoding="utf-8")
    lines = text.splitlines()
    return [
        f"{path.relative_to(CHECKOUT)}:{node.lineno}"
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("sleep")
        if not (node.args and ast.unparse(node.args[0]) == "0") and "  # " not in lines[node.lineno - 1]
    ]


def test_a_sleep_says_why_it_is_no_wait() -> None:
    """`tests/waiting.py` waits for a condition; a sleep is the behaviour under test, and its comment says which."""
    found = [each for path in (CHECKOUT / "tests").rglob("*.py") for each in unexplained_sleeps(path)]
    assert not found, "wait with tests.waiting, or say beside the sleep why it is none"

"""Commands, routes, tools, signatures and refusals are those of the snapshots: a change of them is reviewed as one."""

from difflib import unified_diff

import pytest

from tests.surface.short_forms import MADE, SNAPSHOTS


@pytest.mark.parametrize("name", MADE)
def test_users_meet_what_the_snapshot_says(name: str) -> None:
    """`python -m tests.surface --snapshots` rewrites the snapshots; `git diff` then shows what a user meets anew."""
    kept = (SNAPSHOTS / name).read_text(encoding="utf-8")
    changes = "\n".join(unified_diff(kept.splitlines(), MADE[name]().splitlines(), name, "code", lineterm="", n=1))
    assert changes == "", f"{changes}\nif this is meant, run  python -m tests.surface --snapshots"

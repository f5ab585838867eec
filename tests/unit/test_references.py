"""The references of docs/ are made from the source: a description that changes changes its page."""

from difflib import unified_diff

import pytest

from tests.checkout import DOCS
from tests.references.pages import REFERENCES


@pytest.mark.parametrize("name", REFERENCES)
def test_a_reference_is_what_the_source_says(name: str) -> None:
    """`python -m tests.surface --snapshots` makes the pages again, from the source and docs/parts."""
    kept = (DOCS / name).read_text(encoding="utf-8")
    changes = "\n".join(
        unified_diff(kept.splitlines(), REFERENCES[name]().splitlines(), name, "source", lineterm="", n=1)
    )
    assert changes == "", f"{changes}\nif this is meant, run  python -m tests.surface --snapshots"

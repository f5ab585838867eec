"""Documents without secrets: nothing is found in them but what `known_finds.tsv` lists."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sourcebook.redaction.redactor import Redactor
from tests.checkout import CHECKOUT, DOCS, EXAMPLES, SHARED_DATA

KNOWN = Path(__file__).with_name("known_finds.tsv")
"""File, category and text of each find that is right: invented persons, addresses of authors, values of examples."""
RIGHT_EVERYWHERE = {"relations": "email"}
"""Category of finds that are right in a folder of the shared data: addresses of the authors of proposals."""


def _finds(paths: Iterator[Path], root: Path) -> list[str]:
    redactor = Redactor()
    found: list[str] = []
    for path in paths:
        name = path.relative_to(root).as_posix()
        text = path.read_text(encoding="utf-8", errors="replace")
        found += [
            f"{name}\t{span.category}\t{' '.join(text[span.start : span.end].split())}"
            for span in redactor.spans(text)
            if RIGHT_EVERYWHERE.get(name.partition("/")[0]) != span.category
        ]
    return found


def _known() -> set[str]:
    return {line for line in KNOWN.read_text(encoding="utf-8").splitlines() if not line.startswith("#")}


def test_nothing_is_found_in_the_documentation() -> None:
    paths = [*DOCS.rglob("*.md"), *CHECKOUT.glob("*.md"), *EXAMPLES.rglob("*.md")]
    assert [find for find in _finds(iter(sorted(paths)), CHECKOUT) if find not in _known()] == []


def test_nothing_is_found_in_the_shared_documents() -> None:
    if not SHARED_DATA.exists():
        pytest.skip("the shared data are not here")
    paths = [path for name in ("documents", "relations") for path in (SHARED_DATA / name).rglob("*")]
    texts = sorted(path for path in paths if path.suffix in {".md", ".rst"})
    assert [find for find in _finds(iter(texts), SHARED_DATA) if find not in _known()] == []

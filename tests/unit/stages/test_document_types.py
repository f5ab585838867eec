"""The type of a document, without a database."""

import pytest

from sourcebook.config.document_types import DEFAULT_TYPES, DocumentType
from sourcebook.stages.relations.types import type_of

ROOT = "file:///base"
TYPES = {
    "adr": DocumentType(paths=("adr/**", "**/decisions/*.{md,rst}"), fields=("status", "Date")),
    "note": DocumentType(paths=("**",)),
}


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("adr/0001.md", "adr"),
        ("adr/old/0001.md", "adr"),
        ("x/adr/0001.md", "note"),
        ("decisions/a.md", "adr"),
        ("x/y/decisions/a%20b.rst", "adr"),
        ("x/decisions/sub/a.rst", "note"),
        ("decisions/a.txt", "note"),
    ],
)
def test_the_first_type_with_the_path_counts(path: str, kind: str) -> None:
    assert type_of(f"{ROOT}/{path}", ROOT, {}, TYPES)[0] == kind


def test_front_matter_comes_before_paths_and_promises_are_kept_in_any_case() -> None:
    assert type_of(f"{ROOT}/a.md", ROOT, {"type": "ADR", "Status": "accepted", "date": "2024"}, TYPES) == ("adr", [])
    assert type_of(f"{ROOT}/adr/a.md", ROOT, {"status": ""}, TYPES) == ("adr", ["status", "Date"])
    assert type_of(f"{ROOT}/adr/a.md", ROOT, {"Status": " \n", "date": 0}, TYPES) == ("adr", ["status"])
    assert type_of(f"{ROOT}/a.md", ROOT, {"Type": "adr"}, TYPES)[0] == "adr"
    for written in ("design_doc", "Design Doc", "design-doc"):
        assert type_of(f"{ROOT}/a.md", ROOT, {"type": written}, {"design_doc": DocumentType()}) == ("design_doc", [])
    assert type_of(f"{ROOT}/a.md", ROOT, {"type": "Standards Track"}, {"adr": TYPES["adr"]}) == (None, [])


def test_the_types_of_the_box_need_no_setting() -> None:
    found = {path: type_of(f"{ROOT}/{path}", ROOT, {}, DEFAULT_TYPES)[0] for path in ("docs/decisions/1.md", "a.md")}
    assert found == {"docs/decisions/1.md": "adr", "a.md": None}
    assert type_of("https://example.org/specs/wire", "https://example.org/", {}, DEFAULT_TYPES)[0] == "spec"
    assert type_of(f"{ROOT}/a.md", ROOT, {"type": "Plan"}, DEFAULT_TYPES)[0] == "plan"

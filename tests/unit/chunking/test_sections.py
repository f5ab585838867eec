"""Anchors are those of GitHub."""

import pytest

from sourcebook.chunking.sections import Slugger, slug


@pytest.mark.parametrize(
    ("heading", "expected"),
    [
        ("Foo Bar", "foo-bar"),
        ("  Foo  Bar ", "--foo--bar-"),
        ("Hello, World!", "hello-world"),
        ("snake_case and kebab-case", "snake_case-and-kebab-case"),
        ("Größe & Maß", "größe--maß"),
        ("Привет мир", "привет-мир"),
        ("日本語のテキスト", "日本語のテキスト"),
        ("😄 emoji", "-emoji"),
        ("I ♥ unicode", "i--unicode"),
        ("C++ / C#", "c--c"),
        ("1.2.3 Release", "123-release"),
        ("“Quoted” – dash", "quoted--dash"),
        ("x² and ½", "x-and-"),
        ("!!!", ""),
    ],
)
def test_slug(heading: str, expected: str) -> None:
    """Letters, digits, marks, _ and - stay; spaces become hyphens; the rest goes."""
    assert slug(heading) == expected


@pytest.mark.parametrize(
    ("headings", "expected"),
    [
        (["Foo", "Foo", "Foo"], ["foo", "foo-1", "foo-2"]),
        (["Foo", "Foo", "Foo 1"], ["foo", "foo-1", "foo-1-1"]),
        (["Foo", "Foo 1", "Foo"], ["foo", "foo-1", "foo-2"]),
        (["Foo 1", "Foo", "Foo"], ["foo-1", "foo", "foo-2"]),
        (["", ""], ["", "-1"]),
        (["constructor", "Constructor"], ["constructor", "constructor-1"]),
    ],
)
def test_anchors_are_unique_in_a_document(headings: list[str], expected: list[str]) -> None:
    """Numbers given to duplicates are taken for the headings that follow."""
    slugger = Slugger()
    assert [slugger.unique(heading) for heading in headings] == expected

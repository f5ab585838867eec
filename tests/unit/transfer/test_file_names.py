"""Names of exported files stay within their folder, differ, and are allowed on every system."""

from pathlib import PurePosixPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.transfer.file_names import file_name_of, is_safe_path, safe_name

NASTY = st.text(
    alphabet=st.one_of(st.sampled_from("./\\:%?#&*\0\n\"'<>|~ -_aÅ漢"), st.characters(exclude_categories=["Cs"])),
    max_size=400,
)


@given(NASTY, NASTY)
def test_a_name_stays_within_its_folder(uri: str, location: str) -> None:
    """Whatever a URI and a location hold, and short enough for every system."""
    for extension in (None, ".md"):
        name = file_name_of(uri, location, extension)
        parts = PurePosixPath(name).parts
        assert is_safe_path(name)
        assert len(name.encode()) < 700
        assert all(len(part.encode()) < 100 for part in parts)
        assert not any("." in folder for folder in parts[:-1])
        assert parts[-1].count(".") == 1


@given(NASTY, NASTY)
def test_two_documents_never_share_a_file(one: str, other: str) -> None:
    """Not even on a file system that does not tell upper and lower case apart, and none is another one's folder."""
    first, second = (file_name_of(uri, "file:///srv", ".md").casefold() for uri in (one, other))
    assert (first == second) == (one == other)
    assert not first.startswith(f"{second}/")


@pytest.mark.parametrize(
    ("uri", "location", "start", "end"),
    [
        ("file:///srv/docs/tides/gauge.md", "/srv/docs", "tides/gauge-", ".md"),
        ("file:///srv/docs/A%20B.PDF", "/srv/docs", "A B-", ".pdf"),
        ("https://example.com/guide/start?page=2", "https://example.com/", "guide/start_page=2-", ".bin"),
        ("file:///srv/docs/../../etc/passwd", "/srv/docs", "_/_/etc/passwd-", ".bin"),
        ("file:///elsewhere/con/nul.txt", "/srv/docs", "elsewhere/con_/nul_-", ".txt"),
        ("s3://bucket/folder/Makefile", "s3://bucket/folder", "Makefile-", ".bin"),
    ],
)
def test_a_person_recognises_the_name(uri: str, location: str, start: str, end: str) -> None:
    name = file_name_of(uri, location)
    assert name.startswith(start)
    assert name.endswith(end)


@pytest.mark.parametrize(
    "path", ["../a", "a/../../b", "/etc/passwd", "", ".", "a//b", "a/./b", "C:\\x", "a\\..\\b", "a\0"]
)
def test_a_path_that_leads_out_is_unsafe(path: str) -> None:
    assert not is_safe_path(path)


def test_names_of_folders_are_plain() -> None:
    assert safe_name("my collection: v1.2/3") == "my collection_ v1_2_3"
    assert safe_name("") == safe_name("..") == "_"

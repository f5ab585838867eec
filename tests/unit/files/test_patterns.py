"""The patterns of a source."""

from hypothesis import example, given
from hypothesis import strategies as st

from sourcebook.files.source import EVERY_FILE, PathFilter

PARTS = st.text(st.characters(exclude_characters="/\0", exclude_categories=()), min_size=1, max_size=6).filter(
    lambda part: part not in (".", "..")
)


@given(st.lists(PARTS, min_size=1, max_size=4).map("/".join))
@example(".git/config")
@example("a/.b/c")
@example("a\nb/c\n")
@example("a/b.")
@example("...")
@example("\udcff")
def test_the_default_pattern_takes_what_its_regular_expression_takes(path: str) -> None:
    default = PathFilter([EVERY_FILE], [])
    compiled = PathFilter([EVERY_FILE, EVERY_FILE], [])
    assert default.takes(path) == compiled.takes(path)


def test_an_excluded_folder_is_not_entered() -> None:
    patterns = PathFilter([EVERY_FILE], ["drafts", "old/**", "*/cache"])
    assert [path for path in ("drafts", "old/a", "x/cache", "x", "x/drafts") if patterns.enters(path, path[-1])] == [
        "x",
        "x/drafts",
    ]
    assert not patterns.takes("drafts/a.md")
    assert patterns.takes("x/a.md")

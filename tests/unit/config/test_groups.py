"""The setting `groups`: how members are written, and what a refusal names."""

from pathlib import Path

import pytest

from sourcebook.config.loading import load_configuration
from sourcebook.config.permissions import memberships
from sourcebook.errors import ConfigurationError

COLLECTIONS = "collections: {handbook: {files: [{root: .}]}}\n"


def write(folder: Path, groups: str) -> Path:
    path = folder / "sourcebook.yaml"
    path.write_text(f"{COLLECTIONS}{groups}", encoding="utf-8")
    return path


def test_names_without_a_kind_are_groups(tmp_path: Path) -> None:
    """Two spellings of a group, and of a member, are one; what both spellings say counts."""
    text = "groups:\n  board: [user:anna@example.org, chairs, GROUP:chairs]\n  group:board: [everyone]\n  none: []\n"
    assert memberships(load_configuration(write(tmp_path, text)).groups) == [
        ("everyone", "group:board"),
        ("group:chairs", "group:board"),
        ("user:anna@example.org", "group:board"),
    ]


def test_without_groups_there_are_none(tmp_path: Path) -> None:
    assert load_configuration(write(tmp_path, "")).groups == {}


@pytest.mark.parametrize(
    ("groups", "said"),
    [
        ("groups:\n  board: [anna, 'user: anna']\n", "line 3, column 17: groups.board[1]: found 'user: anna'"),
        ("groups:\n  board: ['team:x']\n", "line 3, column 11: groups.board[0]: found 'team:x'"),
        ("groups:\n  board: [7]\n", "line 3, column 11: groups.board[0]: found 7"),
        ("groups:\n  board: ['']\n", "line 3, column 11: groups.board[0]: found ''"),
        ("groups:\n  board: user:anna\n", "line 3, column 10: groups.board: found 'user:anna'"),
        ("groups:\n  everyone: [user:anna]\n", "line 3, column 3: groups.everyone: found the name 'everyone'"),
        ("groups:\n  user:anna: [user:eve]\n", "line 3, column 3: groups.user:anna: found the name 'user:anna'"),
        ("groups: [board]\n", "line 2, column 9: groups: found a list"),
    ],
)
def test_what_is_no_group_is_refused_at_its_place(tmp_path: Path, groups: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        load_configuration(write(tmp_path, groups))
    assert said in str(refused.value)
    assert "a mapping from names of groups to their members" in str(refused.value)


@pytest.mark.parametrize(
    ("allowed", "said"),
    [
        ("[everyone, 'bord:x']", "line 4, column 29: collections.a.files[0].allowed[1]: found 'bord:x' ("),
        ("{'hr/**': [anna]}", "line 4, column 29: collections.a.files[0].allowed.hr/**[0]: found 'anna' ("),
        ("7", "line 4, column 18: collections.a.files[0].allowed: found 7;"),
    ],
)
def test_a_mistake_in_who_is_allowed_has_its_place(tmp_path: Path, allowed: str, said: str) -> None:
    """One line for one mistake, of the list or the mapping that was written."""
    path = tmp_path / "sourcebook.yaml"
    path.write_text(f"collections:\n  a:\n    files:\n      - allowed: {allowed}\n        root: .\n")
    with pytest.raises(ConfigurationError) as refused:
        load_configuration(path)
    assert said in str(refused.value)
    assert len(str(refused.value).splitlines()) == 1

"""The web view of the checkout that a folder is in."""

import subprocess
from pathlib import Path

import pytest

from sourcebook.git.checkout import web_view


def git(folder: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main")
    ran = subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return ran.stdout.strip()


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    git(tmp_path, "init", "-q", ".")
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("a")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "One")
    return tmp_path


@pytest.mark.parametrize(
    ("remote", "link"),
    [
        ("git@github.com:acme/tides.git", "https://github.com/acme/tides/blob/{commit}/{path}"),
        (
            "https://joe:hunter2@gitlab.acme.org/sea/tides.git",
            "https://gitlab.acme.org/sea/tides/-/blob/{commit}/{path}",
        ),
        ("ssh://git@bitbucket.org/acme/tides.git", "https://bitbucket.org/acme/tides/src/{commit}/{path}"),
        ("https://codeberg.org/acme/tides", "https://codeberg.org/acme/tides/src/commit/{commit}/{path}"),
    ],
)
def test_the_link_is_that_of_the_service_without_user_and_password(checkout: Path, remote: str, link: str) -> None:
    git(checkout, "remote", "add", "origin", remote)
    git(checkout, "update-ref", "refs/remotes/origin/main", "HEAD")
    commit = git(checkout, "rev-parse", "HEAD")
    found = web_view(checkout / "docs")
    assert found is not None
    assert (found.link, found.root) == (link.replace("{commit}", commit), checkout)
    assert "hunter2" not in str(found)


def test_the_commit_is_one_that_the_remote_has(checkout: Path) -> None:
    """A later commit that was not pushed has no page; a branch that never was has none either."""
    git(checkout, "remote", "add", "upstream", "https://github.com/acme/tides.git")
    pushed = git(checkout, "rev-parse", "HEAD")
    git(checkout, "update-ref", "refs/remotes/upstream/trunk", "HEAD")
    git(checkout, "config", "branch.main.remote", "upstream")
    git(checkout, "config", "branch.main.merge", "refs/heads/trunk")
    git(checkout, "commit", "-qm", "Two", "--allow-empty")
    git(checkout, "pack-refs", "--all")
    found = web_view(checkout)
    assert found is not None
    assert pushed in found.link
    git(checkout, "worktree", "add", "-q", "-b", "own", "beside")
    assert web_view(checkout / "beside") is None
    git(checkout / "beside", "checkout", "-q", "--detach", pushed)
    git(checkout, "remote", "add", "origin", "https://github.com/acme/fork.git")
    beside = web_view(checkout / "beside")
    assert beside is not None
    assert beside.link == f"https://github.com/acme/fork/blob/{pushed}/{{path}}"


def test_a_folder_without_one_has_none(tmp_path: Path, checkout: Path) -> None:
    assert web_view(checkout) is None  # no remote
    git(checkout, "remote", "add", "origin", "/srv/git/tides.git")
    git(checkout, "update-ref", "refs/remotes/origin/main", "HEAD")
    assert web_view(checkout) is None
    (tmp_path / ".git" / "config").write_bytes(b"[remote \xff")
    assert web_view(checkout) is None

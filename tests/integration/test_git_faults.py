"""Mirrors of Git repositories after kills, damage, full disks and slow servers."""

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from sourcebook.errors import FailureClass, ListingError
from sourcebook.git.command import GitFailedError, run_git
from sourcebook.git.mirror import Mirror
from sourcebook.git.remote import Remote, find_target
from sourcebook.model.selection import Selection
from tests.git_repository import GitRepository
from tests.git_server import GitServer
from tests.integration.git_stages import GitStages


def test_what_a_killed_fetch_left_is_in_nobodys_way(git: GitStages) -> None:
    """Locks and half packs of a killed git, and a mirror that was being made, are deleted by the next fetch."""
    draft = Mirror(git.home, git.repository.url).path.with_name(f"{Mirror(git.home, git.repository.url).path.name}.new")
    draft.mkdir(parents=True)
    draft.joinpath("HEAD").write_text("half")
    git.configure()
    git.run()
    left = [git.mirror / name for name in ("shallow.lock", "config.lock", "refs/sourcebook/incoming.lock")]
    left.append(git.mirror / "objects/pack/tmp_pack_x1y2z3")
    for path in left:
        path.write_bytes(b"left")
    git.repository.commit(tides="# Tides\n\nThe limpet line marks high water.\n")
    git.run()
    assert git.error is None
    assert git.stages.found("limpet") == {"tides.md"}
    assert not any(path.exists() for path in left)


def test_a_deleted_mirror_is_made_anew(git: GitStages) -> None:
    """Also where nobody asks for it and the repository is not due."""
    git.configure()
    git.run()
    git.delete_mirror()
    assert "cannot be read" in " ".join(git.stages.pending().unlisted)
    git.fetch(only_due=True)
    assert not git.stages.pending().unlisted


def test_a_damaged_mirror_is_noticed_and_made_anew(git: GitStages) -> None:
    """A reconciliation reads every object; a file that cannot be read fails, and the next run reads it."""
    git.configure()
    git.run()
    for path in git.mirror.glob("objects/**/*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"damaged" + path.read_bytes()[7:])
    git.run(Selection(thorough=True, deep=True))
    git.run()
    assert git.error is None
    assert git.stages.found("barnacle") == {"tides.md"}
    git.stages.assert_sound()


def test_a_mirror_that_cannot_take_a_commit_is_made_anew(git: GitStages) -> None:
    """A fetch that fails for a reason that is neither the network nor the server begins again from nothing."""
    git.configure()
    git.run()
    for path in git.mirror.glob("objects/**/*"):
        if path.is_file():
            path.chmod(0o644)
            path.write_bytes(b"")
    git.repository.commit(tides="# Tides\n\nThe limpet line marks high water.\n")
    git.run()
    git.run()
    assert git.error is None
    assert git.stages.found("limpet") == {"tides.md"}


def test_processes_that_fetch_at_once_agree(tmp_path: Path) -> None:
    """One fetches while the others wait; each has the commit afterwards."""
    repository = GitRepository.create(tmp_path / "origin")
    commit = repository.commit(tides="# Tides\n")
    remote = Remote(repository.url, "main")
    target = find_target(remote)
    with ThreadPoolExecutor(4) as pool:
        mirrors = [Mirror(tmp_path / "home", repository.url) for _ in range(4)]
        found = list(pool.map(lambda mirror: mirror.fetch(remote, target), mirrors))
    assert found == [commit] * 4
    assert mirrors[0].is_whole()


def test_a_server_that_says_nothing_is_given_up(tmp_path: Path) -> None:
    """Without progress for the time that is set, git is killed, and the error says so."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        remote = Remote(f"git://127.0.0.1:{server.getsockname()[1]}/handbook.git", "main", seconds=1.0)
        started = time.monotonic()
        with pytest.raises(ListingError, match="no progress for 1 s") as caught:
            find_target(remote)
    assert caught.value.failure_class is FailureClass.TIMEOUT
    assert time.monotonic() - started < 60


def test_a_state_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """Git's own folder cannot be made where a file is."""
    repository = GitRepository.create(tmp_path / "origin")
    repository.commit(tides="# Tides\n")
    home = tmp_path / "home"
    home.write_text("a file")
    remote = Remote(repository.url, None)
    with pytest.raises(ListingError, match="cannot be written") as caught:
        Mirror(home, repository.url).fetch(remote, find_target(remote))
    assert caught.value.failure_class is FailureClass.UNREADABLE


def test_a_mirror_keeps_the_read_commits_alone(tmp_path: Path) -> None:
    """Commits that no source reads are forgotten with the next fetch."""
    repository = GitRepository.create(tmp_path / "origin")
    mirror = Mirror(tmp_path / "home", repository.url)
    remote = Remote(repository.url, "main")
    commits = []
    for number in range(4):
        commits.append(repository.commit(tides=f"# Tides {number}\n"))
        mirror.fetch(remote, find_target(remote), kept=commits[:1])
    assert [mirror.has(commit) for commit in commits] == [True, False, False, True]


def test_a_repository_is_read_over_http_with_a_login_from_the_environment(
    git: GitStages, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The token is in no message and no row; without it the source is unread at once, and nobody is asked for it."""
    with GitServer(git.repository.folder.parent, login="reader:s3cret-t0ken") as server:
        url = server.url("origin/.git", "reader:${HANDBOOK_TOKEN}@")
        git.configure_several({"url": url})
        monkeypatch.delenv("HANDBOOK_TOKEN", raising=False)
        git.run()
        assert "HANDBOOK_TOKEN, which is not set" in str(git.error)
        monkeypatch.setenv("HANDBOOK_TOKEN", "wrong-t0ken")
        git.run()
        assert git.source["listing_error_class"] == "forbidden"
        assert "wrong-t0ken" not in str(git.source)
        monkeypatch.setenv("HANDBOOK_TOKEN", "s3cret-t0ken")
        git.run()
        assert git.error is None
        assert git.stages.found("barnacle") == {"tides.md"}
        (document,) = git.stages.rows("SELECT uri FROM document WHERE uri LIKE '%%tides%%'")
        assert document["uri"] == f"git+{server.url('origin/.git')}/docs/tides.md"
        assert "s3cret-t0ken" not in str(git.source)
        kept = [path.read_bytes() for path in git.home.rglob("*") if path.is_file()]
        assert not any(b"s3cret-t0ken" in content for content in kept)
        git.repository.commit(tides="# Tides\n\nThe limpet line marks high water.\n")
        assert git.run()["documents"].changed == 1


def test_an_old_commit_that_the_server_gives_by_no_hash(git: GitStages) -> None:
    """A server that gives no commit by its hash costs the whole history."""
    commit = git.repository.git("rev-parse", "HEAD")
    git.repository.commit(tides="# Tides\n\nThe limpet line marks high water.\n")
    git.repository.git("config", "uploadpack.allowAnySHA1InWant", "false")
    git.configure(revision=commit)
    assert git.run()["documents"].added == 2
    assert git.stages.found("barnacle") == {"tides.md"}


def test_git_asks_no_remote_helper_and_no_option(tmp_path: Path) -> None:
    """`ext::` runs no command, and what looks like an option is a name, whatever called it."""
    mark = tmp_path / "mark"
    with pytest.raises(GitFailedError, match="not allowed"):
        run_git(["ls-remote", "--", f"ext::sh -c touch% {mark}"], scheme="https")
    with pytest.raises(GitFailedError):
        run_git(["ls-remote", "--", f"--upload-pack=touch {mark}"], scheme="file")
    with pytest.raises(GitFailedError, match="not allowed"):
        run_git(["ls-remote", "--", f"file://{tmp_path}"], scheme="https")
    assert not mark.exists()

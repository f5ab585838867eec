"""The git command without the settings and the logins of whoever runs Sourcebook."""

from pathlib import Path

import pytest

from sourcebook.git.command import GitFailedError, run_git


def test_an_anonymous_git_knows_no_settings_and_no_logins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text('[credential]\n\thelper = store\n[url "ssh://git@x/"]\n\tinsteadOf = https://x/\n')
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "http.extraHeader")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "Authorization: secret")
    listed = run_git(["config", "--list"]).decode()
    assert "credential.helper=store" in listed
    assert "authorization: secret" in listed.lower()
    unlisted = run_git(["config", "--list"], anonymous=True).decode()
    assert "credential" not in unlisted
    assert "insteadof" not in unlisted.lower()
    assert "authorization" not in unlisted.lower()


def test_an_anonymous_git_reads_no_repository_of_this_machine(tmp_path: Path) -> None:
    run_git(["init", "--quiet", "--bare", str(tmp_path / "secret.git")])
    url = f"file://{tmp_path}/secret.git"
    assert run_git(["ls-remote", url], scheme="file") == b""
    with pytest.raises(GitFailedError, match="not allowed"):
        run_git(["ls-remote", url], scheme="file", anonymous=True)

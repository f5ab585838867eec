"""Hostile and odd repositories: they are data, and never executed or followed out of the mirror."""

import subprocess
from pathlib import Path

import pytest

from tests.integration.git_stages import GitStages


def reasons(git: GitStages) -> dict[str, str]:
    """Return why files are skipped, by their URIs below the repository."""
    rows = git.stages.rows("SELECT uri, skip_reason FROM raw_file WHERE skip_reason IS NOT NULL")
    return {row["uri"].removeprefix(f"git+{git.repository.url}/"): row["skip_reason"] for row in rows}


def test_nothing_of_a_repository_is_executed(git: GitStages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither hooks of templates nor filters that its attributes name run, whatever the user's git has configured."""
    mark = tmp_path / "mark"
    hooks = tmp_path / "template" / "hooks"
    hooks.mkdir(parents=True)
    for name in ("post-checkout", "reference-transaction", "post-merge", "pre-auto-gc", "fsmonitor"):
        hooks.joinpath(name).write_text(f"#!/bin/sh\ntouch {mark}\n")
        hooks.joinpath(name).chmod(0o755)
    settings = tmp_path / "gitconfig"
    settings.write_text(
        f"[init]\n\ttemplateDir = {hooks.parent}\n[core]\n\thooksPath = {hooks}\n\tfsmonitor = {hooks / 'fsmonitor'}\n"
        f'[filter "evil"]\n\tsmudge = touch {mark}\n\tclean = touch {mark}\n\trequired = true\n'
    )
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    git.repository.write(".gitattributes", "*.md filter=evil diff=evil\n")
    git.repository.write(".gitmodules", '[submodule "x"]\n\tpath = x\n\turl = ext::sh -c touch% mark\n')
    monkeypatch.delenv("GIT_DIR")
    git.repository.commit()
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    git.configure()
    git.run()
    assert git.stages.found("barnacle") == {"tides.md"}
    assert not mark.exists()


def test_links_submodules_pointers_and_large_files_are_skipped_with_the_reason(git: GitStages) -> None:
    """A link leads to no file of this machine, and a submodule to no other repository."""
    git.repository.folder.joinpath("docs/passwords.md").symlink_to("/etc/passwd")
    git.repository.folder.joinpath("docs/inside.md").symlink_to("tides.md")
    git.repository.write("docs/film.md", "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 12345\n")
    git.repository.write("docs/large.md", "# Large\n" + "x" * 5000)
    git.repository.commit()
    commit = git.repository.git("rev-parse", "HEAD")
    git.repository.git("update-index", "--add", "--cacheinfo", f"160000,{commit},docs/other.md")
    git.repository.git("commit", "--quiet", "--message", "A submodule")
    git.configure(max_bytes=4000)
    git.run()
    found = reasons(git)
    assert set(found) == {f"docs/{name}.md" for name in ("passwords", "inside", "film", "large", "other")}
    assert "symbolic link" in found["docs/passwords.md"]
    assert "submodule" in found["docs/other.md"]
    assert "Git LFS" in found["docs/film.md"]
    assert "max_bytes" in found["docs/large.md"]
    assert git.stages.found("root") == set()


def test_odd_names_are_documents_and_impossible_ones_are_not(git: GitStages) -> None:
    """Names with line breaks, tabs, bytes outside UTF-8 and signs of revisions are read; `..` leads nowhere."""
    names = [b"a\nb.md", b"tab\there.md", b"latin-\xf6.md", b"at@{1}:x^.md", b"-rf.md", b"per%20cent.md", b"q?a#b.md"]
    for number, name in enumerate(names):
        git.repository.write(b"odd/" + name, f"# Odd {number}\n\nThe narwhal swims {number}.\n")
    git.repository.commit()
    blob = git.repository.git("rev-parse", "HEAD:docs/tides.md")
    entry = b"100644 evil.md\0" + bytes.fromhex(blob)

    def store(content: bytes) -> str:
        command = ["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"]
        done = subprocess.run(command, input=content, cwd=git.repository.folder, check=True, capture_output=True)
        return done.stdout.decode().strip()

    above = b"40000 ..\0" + bytes.fromhex(store(entry))
    odd = git.repository.git("rev-parse", "HEAD:odd")
    tree = store(above + b"40000 odd\0" + bytes.fromhex(odd))
    commit = git.repository.git("commit-tree", tree, "-p", "HEAD", "-m", "Evil")
    git.repository.git("update-ref", "refs/heads/evil", commit)
    git.configure(revision="evil")
    git.run()
    assert len(git.stages.found("narwhal")) == len(names)
    assert not git.stages.found("barnacle")
    git.stages.assert_sound()

"""The shell completes commands and names of collections, without the packages that take long to import."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from sourcebook.command.app import app

CONFIGURATION = (
    "collections:\n  boat: {files: [{root: ./boat}]}\n  handbook: {files: [{root: ./docs}]}\n  house: nonsense\n"
)
SLOW = ("torch", "dagster", "psycopg", "pydantic", "numpy", "rich")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOURCEBOOK_CONFIG", raising=False)
    monkeypatch.delenv("_SOURCEBOOK_COMPLETE", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sourcebook.yaml").write_text(CONFIGURATION)


def completed(*words: str) -> list[str]:
    """Return the completions of the last word, as bash asks for them."""
    asked = {"COMP_WORDS": " ".join(words), "COMP_CWORD": str(len(words) - 1), "_SOURCEBOOK_COMPLETE": "complete_bash"}
    return CliRunner().invoke(app, [], env=asked, prog_name="sourcebook").stdout.split()


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (("sourcebook", "stat"), ["status"]),
        (("sourcebook", "search", "-c", "h"), ["handbook", "house"]),
        (("sourcebook", "search", "--collection", "boat,h"), ["boat,handbook", "boat,house"]),
        (("sourcebook", "search", "-c", "boat,b"), []),
        (("sourcebook", "ingest", "b"), ["boat"]),
        (("sourcebook", "ingest", "./b"), []),
        (("sourcebook", "plan", "b"), ["boat"]),
        (("sourcebook", "status", "hand"), ["handbook"]),
        (("sourcebook", "show", "-c", "b"), ["boat"]),
        (("sourcebook", "completion", "f"), ["fish"]),
        (("sourcebook", "--config", "other.yaml", "status", "b"), []),
    ],
)
def test_commands_and_collections_are_completed(words: tuple[str, ...], found: list[str]) -> None:
    """Names come from the file as it is, also where it has a mistake; without a file there is none."""
    assert completed(*words) == found


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_a_script(shell: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The script asks the command itself, in the way of the shell."""
    monkeypatch.setenv("_SOURCEBOOK_COMPLETE", "")
    script = CliRunner().invoke(app, ["completion", shell]).stdout
    assert f"complete_{shell}" in script
    assert {"bash": "complete -o default", "zsh": "#compdef sourcebook", "fish": "complete --command"}[shell] in script


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
def test_bash_completes_without_slow_imports(tmp_path: Path) -> None:
    """The printed script works in bash, and the process behind it imports neither models nor the pipeline."""
    program = tmp_path / "sourcebook"
    note = tmp_path / "slow"
    program.write_text(
        f"#!{sys.executable}\nimport atexit, sys\n"
        f"atexit.register(lambda: open({str(note)!r}, 'w').write(repr([m for m in {SLOW} if m in sys.modules])))\n"
        "from sourcebook.command import main\nmain()\n"
    )
    program.chmod(0o755)
    typed = "COMP_WORDS=(sourcebook search -c hand); COMP_CWORD=3; _sourcebook_completion sourcebook"
    ran = subprocess.run(
        ["bash", "--norc", "-c", f'eval "$(sourcebook completion bash)"; {typed}; echo "${{COMPREPLY[@]}}"'],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
    )
    assert (ran.stdout, ran.stderr) == ("handbook\n", "")
    assert note.read_text() == "[]"

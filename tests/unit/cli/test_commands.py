"""What holds for every command: it teaches, it speaks JSON, and its errors are one sentence with an exit code."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from sourcebook.cli.errors import GuardedGroup
from sourcebook.command.app import app
from sourcebook.errors import (
    ConfigurationError,
    DatabaseError,
    ModelError,
    QueryError,
    UnknownDocumentError,
)
from tests.checkout import CHECKOUT

COMMANDS = [
    "apply",
    "search",
    "evaluate",
    "status",
    "documents",
    "show",
    "remove",
    "purge",
    "doctor",
    "ingest",
    "crawl",
    "up",
]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_teaches(command: str) -> None:
    """Every command's help has a paragraph and an example of itself."""
    result = CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "120"})
    assert result.exit_code == 0
    assert f"Example: sourcebook {command}" in " ".join(result.stdout.split())
    assert "--json" in result.stdout


def test_outline_names_every_command() -> None:
    """`sourcebook` alone lists the commands and the exit codes."""
    result = CliRunner().invoke(app, ["--help"], env={"COLUMNS": "120"})
    assert all(f"│ {command} " in result.stdout for command in COMMANDS)
    assert "3 finished with failed items" in " ".join(result.stdout.split())


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (ConfigurationError("the file is wrong"), 2),
        (QueryError("the file is wrong"), 2),
        (UnknownDocumentError("the file is wrong"), 2),
        (DatabaseError("the file is wrong"), 1),
        (ModelError("the file is wrong"), 1),
    ],
)
def test_our_errors_are_one_sentence(error: Exception, code: int) -> None:
    """An error of ours is its own sentence on stderr, and nothing on stdout."""
    result = CliRunner().invoke(_failing(error), [])
    assert (result.exit_code, result.stdout, result.stderr) == (code, "", "sourcebook: the file is wrong\n")


def test_other_errors_have_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    """An error nobody foresaw is one sentence too; SOURCEBOOK_DEBUG=1 adds the traceback, without local variables."""
    monkeypatch.delenv("SOURCEBOOK_DEBUG", raising=False)
    quiet = CliRunner().invoke(_failing(RuntimeError("sprocket")), [])
    assert quiet.exit_code == 1
    assert quiet.stderr.count("\n") == 1
    assert "RuntimeError: sprocket (set SOURCEBOOK_DEBUG=1" in quiet.stderr
    loud = CliRunner().invoke(_failing(RuntimeError("sprocket")), [], env={"SOURCEBOOK_DEBUG": "1"})
    assert "Traceback (most recent call last)" in loud.stderr
    assert "local-secret" not in loud.stderr


def test_missing_package_and_file() -> None:
    """A package or file that is missing is named."""
    package = CliRunner().invoke(_failing(ModuleNotFoundError("No module", name="docling.core")), [])
    assert "the package docling is not installed" in package.stderr
    file = CliRunner().invoke(_failing(PermissionError(13, "Permission denied", "/var/x")), [])
    assert (file.exit_code, file.stderr) == (1, "sourcebook: /var/x: Permission denied\n")


def test_interrupt() -> None:
    """Ctrl-C ends with 130 and no traceback."""
    result = CliRunner().invoke(_failing(KeyboardInterrupt()), [])
    assert (result.exit_code, result.stdout, result.stderr) == (130, "", "\n")


def test_wrong_usage() -> None:
    """An unknown command or option is wrong usage; a near miss is corrected."""
    assert CliRunner().invoke(app, ["serch"]).exit_code == 2
    assert "Did you mean 'search'" in CliRunner().invoke(app, ["serch"]).stderr
    assert CliRunner().invoke(app, ["status", "--frob"]).exit_code == 2


def test_foreign_orchestration_does_no_harm(tmp_path: Path) -> None:
    """Without the pipeline a package of the same name is not even imported, and the command says what to do."""
    (tmp_path / "orchestration").mkdir()
    (tmp_path / "orchestration" / "__init__.py").write_text("raise SystemExit('foreign code ran')\n")
    (tmp_path / "orchestration" / "commands.py").write_text("raise SystemExit('foreign code ran')\n")
    (tmp_path / "library").mkdir()
    shutil.copytree(
        CHECKOUT / "sourcebook", tmp_path / "library" / "sourcebook", ignore=shutil.ignore_patterns("*.pyc")
    )
    code = (
        f"import sys; sys.path[:0] = [{str(tmp_path / 'library')!r}, {str(tmp_path)!r}]\n"
        "from sourcebook.command import main; main()"
    )
    for command in (["ingest", "handbook", "--force"], ["up", "--port", "80"]):
        done = subprocess.run(
            [sys.executable, "-P", "-c", code, *command], capture_output=True, text=True, check=False, cwd=tmp_path
        )
        assert (done.returncode, done.stdout) == (1, ""), done.stderr
        assert "make install" in done.stderr
    helped = subprocess.run(
        [sys.executable, "-P", "-c", code, "--help"], capture_output=True, text=True, check=False, cwd=tmp_path
    )
    assert helped.returncode == 0


def _failing(error: BaseException) -> typer.Typer:
    failing = typer.Typer(cls=GuardedGroup, pretty_exceptions_enable=False)

    @failing.callback(invoke_without_command=True)
    def fail() -> None:
        password = "local-secret"
        if password:
            raise error

    return failing

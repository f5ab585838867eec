"""The tutorial, word for word: each command of docs/tutorial.md runs in a terminal and prints what the page shows."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]
TUTORIAL: Final = ROOT / "docs" / "tutorial.md"
_CONTROL: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def commands() -> list[tuple[str, list[str]]]:
    """Return the commands of the tutorial, each with the lines that it shows."""
    found: list[tuple[str, list[str]]] = []
    for block in re.findall(r"^```console\n(.*?)^```$", TUTORIAL.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL):
        for line in block.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            else:
                found[-1][1].append(line)
    return found


def run_in_terminal(command: str, folder: Path) -> list[str]:
    """Run a command whose output is a terminal, and return its lines: those of stderr first."""
    home = {name: value for name, value in os.environ.items() if not name.startswith("SOURCEBOOK_")}
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environment = {**home, "PATH": path, "TERM": "xterm", "NO_COLOR": "1", "COLUMNS": "120", "HF_HUB_OFFLINE": "1"}
    terminal, output = pty.openpty()
    with subprocess.Popen(
        ["bash", "-c", command], cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=output,
        stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        os.close(output)
        printed = b""
        while True:
            try:
                some = os.read(terminal, 65536)
            except OSError:  # the end of a terminal's output
                break
            if not some:
                break
            printed += some
        assert process.stderr is not None
        said = process.stderr.read()
    os.close(terminal)
    assert process.returncode == 0, said.decode()
    text = _CONTROL.sub("", (said + printed).decode())
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def shows(shown: str, lines: list[str]) -> int | None:
    """Return the number of the first line that is as shown; an ellipsis is any text."""
    parts = [re.escape(" ".join(part.split(" "))) for part in " ".join(shown.split()).split("…")]
    pattern = re.compile(".*".join(parts))
    return next((number for number, line in enumerate(lines) if pattern.fullmatch(line)), None)


def test_each_command_prints_what_the_tutorial_shows(tmp_path: Path) -> None:
    """The lines are printed in the order of the page; lines between them may be left out of it."""
    told = commands()
    assert len(told) > 15
    for command, shown in told:
        lines = run_in_terminal(command, tmp_path)
        rest = lines
        for line in shown:
            number = shows(line, rest)
            assert number is not None, f"$ {command}\nshows {line!r}, and printed:\n" + "\n".join(lines)
            rest = rest[number + 1 :]

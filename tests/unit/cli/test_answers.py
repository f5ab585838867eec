"""`--json` prints one JSON object, whatever libraries and child processes print."""

import json
import os
import subprocess
import sys

COMMAND = """
import os, subprocess, sys
import typer
from sourcebook.cli.errors import GuardedGroup
from sourcebook.cli.output import print_json

app = typer.Typer(cls=GuardedGroup)

@app.callback()
def _options() -> None: ...

@app.command()
def noisy(as_json: bool = typer.Option(False, "--json")) -> None:
    print("a library in Python")
    os.write(1, b"a library in C\\n")
    subprocess.run([sys.executable, "-c", "print('a child')"], check=True)
    print_json({"found": 2})
    print("an end in Python")
    os.write(1, b"an end in C\\n")

app()
"""
NOISE = {"a library in Python", "a library in C", "a child", "an end in Python", "an end in C"}


def test_standard_output_holds_the_json_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "noisy", "--json"], capture_output=True, text=True, check=True, timeout=60
    )

    assert json.loads(done.stdout) == {"found": 2}
    assert set(done.stderr.splitlines()) == NOISE


def test_without_json_all_is_printed_where_it_was() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "noisy"], capture_output=True, text=True, check=True, timeout=60
    )

    assert set(done.stdout.splitlines()) == {*NOISE, '{"found": 2}'}
    assert done.stderr == ""


def test_a_reader_that_has_gone_ends_the_command_without_a_traceback() -> None:
    reading, writing = os.pipe()
    os.close(reading)

    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "noisy", "--json"],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )
    os.close(writing)

    assert done.returncode == 1
    assert set(done.stderr.splitlines()) == {"a library in Python", "a library in C", "a child"}


def test_a_closed_standard_error_loses_no_json() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$0" -c "$1" noisy --json 2>&-', sys.executable, COMMAND],
        stdout=subprocess.PIPE,
        text=True,
        check=False,
        timeout=60,
    )

    assert '{"found": 2}' in done.stdout.splitlines()

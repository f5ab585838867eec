"""The account that PostgreSQL runs under where this process is root's."""

import os
import shutil
import subprocess
import sys

import pytest

_FIND = "from sourcebook.database import server_account as found; found.NAME = {!r}; print(found.ServerAccount.find())"


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("userdel") is None, reason="an account is made for root alone")
def test_processes_that_make_the_account_at_once_find_the_same() -> None:
    name = f"sourcebook-{os.getpid()}"
    command = [sys.executable, "-c", _FIND.format(name)]
    try:
        processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(8)]
        found = {process.communicate(timeout=60)[0] for process in processes}
    finally:
        subprocess.run(["userdel", name], check=False, capture_output=True)
    assert len(found) == 1
    assert "uid" in found.pop()

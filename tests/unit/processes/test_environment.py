"""The environment of child processes: what they need, and no secret."""

import os
from pathlib import Path

import pytest

from sourcebook.processes.child import child_environment
from sourcebook.processes.worker_pool import WorkerPool

_SECRETS = {
    "SOURCEBOOK_DATABASE_URL": "postgresql://u:s3cret-pass@db/x",
    "SOURCEBOOK_DAGSTER_DATABASE_URL": "postgresql://u:s3cret-pass@db/y",
    "PGPASSWORD": "s3cret-pass",
    "POSTGRES_PASSWORD": "s3cret-pass",
    "AWS_SECRET_ACCESS_KEY": "s3cret-pass",
    "WIKI": "s3cret-pass",
}


def environment_of_this_process() -> tuple[str, dict[str, str]]:
    """Return the environment with which this process began, and its present one."""
    return Path("/proc/self/environ").read_text(), dict(os.environ)


def test_a_worker_gets_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the first environment, which other users' tools can read, nor the present one has a secret."""
    for name, value in _SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    pool = WorkerPool()
    first, present = pool.schedule(60, environment_of_this_process).result()
    pool.close()
    assert "s3cret" not in first
    assert not _SECRETS.keys() & present.keys()
    assert (present["HF_HUB_OFFLINE"], present["PATH"]) == ("1", os.environ["PATH"])


def test_a_browser_and_a_converter_get_no_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same variables are left out for programs."""
    for name, value in _SECRETS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("SOURCEBOOK_CHROMIUM", "/usr/bin/chromium")
    found = child_environment()
    assert not _SECRETS.keys() & found.keys()
    assert {"PATH", "SOURCEBOOK_CHROMIUM"} <= found.keys()

"""The check of the database: the remedy fits the failure."""

from pathlib import Path

import pytest

from sourcebook.admin.doctor.database import check_database


def test_the_remedy_of_a_damaged_embedded_server_is_its_own(
    public_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version's data folder: nothing about SOURCEBOOK_DATABASE_URL, which is not set."""
    monkeypatch.delenv("SOURCEBOOK_DATABASE_URL", raising=False)
    data = public_folder / "home" / "postgres"
    data.mkdir(parents=True)
    (data / "PG_VERSION").write_text("16\n")
    (data / "sourcebook.conf").touch()
    (check,) = check_database(public_folder / "home")
    assert (check.state, check.name) == ("fail", "database")
    assert "is PostgreSQL 16's" in check.detail
    assert check.remedy == "set SOURCEBOOK_HOME to a new folder and ingest again"


def test_the_remedy_of_an_unreachable_server_is_to_start_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing listens where the URL points."""
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", "postgresql://user:s3cret@127.0.0.1:9/sourcebook")
    (check,) = check_database(tmp_path)
    assert check.detail.startswith("the database cannot be reached")
    assert check.remedy == "start its server, or correct SOURCEBOOK_DATABASE_URL"


def test_a_stale_pid_file_is_no_failure(public_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`doctor` on a home whose start was killed: the server starts."""
    from sourcebook.database.embedded import EmbeddedServer

    monkeypatch.delenv("SOURCEBOOK_DATABASE_URL", raising=False)
    data = public_folder / "home" / "postgres"
    EmbeddedServer(data).close()
    (data / "postmaster.pid").write_text("4194303\n/nowhere\n1700000000\n5432\n")
    checks = check_database(public_folder / "home")
    assert all("does not start" not in check.detail for check in checks)

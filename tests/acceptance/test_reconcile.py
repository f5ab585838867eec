"""`sourcebook reconcile`: sources, ledger and index agree afterwards, or the exit code says that they do not."""

import os
import shutil

import psycopg
import pytest

from tests.acceptance.workplace import Workplace, rows

pytestmark = pytest.mark.usefixtures("unrecorded")


def foreign(workplace: Workplace, statement: str) -> None:
    """Execute a statement in a session that is not the library's."""
    with workplace.database() as database, psycopg.connect(database.url, autocommit=True) as connection:
        connection.execute("SET search_path TO sourcebook, public")
        connection.execute(statement.encode())


def test_what_differs_is_named_and_mended(workplace: Workplace) -> None:
    """Damage, and an edit that size and time do not show: a dry run names them, and a run mends them."""
    workplace.configure(handbook="docs")
    workplace.write("docs/a.md", "# Tides\n\nThe tide is high.\n")
    path = workplace.write("docs/b.md", "# Gauges\n\nThe gauge is low.\n")
    for each in workplace.docs.iterdir():
        os.utime(each, (1_700_000_000, 1_700_000_000))
    workplace.ingest()
    path.write_text("# Gauges\n\nThe gauge is new.\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    foreign(workplace, "DELETE FROM search_entry WHERE document_id = (SELECT id FROM document WHERE uri LIKE '%a.md')")

    found = workplace.json("reconcile", "--dry-run", "--deep")["collections"]["handbook"]
    assert found["found"]["sources"] == 1
    assert [item["uri"] for item in found["found"]["damaged"]] == [workplace.uri("docs/a.md")]
    assert found["left"] is None
    assert workplace.json("status")["collections"][0]["damaged"] == 1

    done = workplace.json("reconcile", "handbook", "--deep")["collections"]["handbook"]
    assert done["assets"]["chunks"]["damaged"] == 1
    assert done["assets"]["embeddings"]["computed"] == 1
    assert not any(done["left"].values())
    assert (done["files"], done["read"]) == (2, 2)
    with workplace.database() as database:
        words = "SELECT string_agg(chunk.text, ' ') AS words FROM search_entry JOIN chunk ON chunk.id = chunk_id"
        assert {"high.", "new."} <= set(rows(database, words)[0]["words"].split())

    assert "everything agrees: 2 files by size, times and inode" in workplace.run("reconcile")
    assert "everything agrees: the content of 2 files was read" in workplace.run("reconcile", "--deep")
    shutil.move(workplace.docs, workplace.folder / "away")
    assert "could not be mended" in workplace.run("reconcile", code=3)

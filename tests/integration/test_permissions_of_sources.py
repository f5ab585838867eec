"""Who may see what, as settings, front matter and records say it."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psutil
import pytest
from psycopg import sql
from psycopg.types.json import Jsonb

from sourcebook.config.permissions import PERMISSION_FIELDS
from sourcebook.database.queries import queries
from tests.integration.record_stages import RecordStages
from tests.integration.stages import Stages


def configure(stages: Stages, **permissions: Any) -> None:
    """Apply a configuration of one folder with permissions."""
    folder = {"root": str(stages.root), **permissions}
    stages.configure(json.dumps({"collections": {stages.collection: {"files": [folder]}}}))


def seen(stages: Stages, *principals: str) -> set[str | None]:
    """Return the titles of the documents that principals see."""
    return {item.title for item in stages.knowledge.seen_by(principals).documents()}


def test_patterns_of_a_folder_say_who_sees_it(stages: Stages) -> None:
    """The first pattern that fits decides; what none fits is seen by nobody; a change embeds nothing."""
    for name in ("hr/pay roll.md", "hr/ü.md", "news.md", "board/plan.md", "else/x.txt"):
        stages.write(name, f"# {name}\n\nThe barnacle of {name} marks high water.")
    allowed = {"hr/**": ["group:hr"], "*.md": ["everyone"], "{board,council}/*": ["group:board", "user:anna"]}
    configure(stages, allowed=allowed, denied=["user:eve"])
    stages.run()
    assert seen(stages) == {"news.md"}
    assert seen(stages, "group:hr") == {"news.md", "hr/pay roll.md", "hr/ü.md"}
    assert seen(stages, "user:anna") == {"news.md", "board/plan.md"}
    assert seen(stages, "user:eve", "group:hr") == set()
    configure(stages, allowed=["group:board"])
    assert seen(stages, "group:hr") == set()
    assert len(seen(stages, "group:board")) == 5
    configure(stages)
    assert len(seen(stages)) == 5
    assert stages.run()["embeddings"].extra["computed"] == 0


def test_front_matter_decides_where_it_may(stages: Stages) -> None:
    """A list or one principal; what is none is seen by nobody; without the setting it says nothing."""
    stages.write("a.md", "---\nallowed: [group:board]\n---\n# A\n\nThe barnacle.")
    stages.write("b.md", "---\nallowed: user:anna\n---\n# B\n\nThe barnacle.")
    stages.write("c.md", "---\nallowed: {board: true}\n---\n# C\n\nThe barnacle.")
    stages.write("d.md", "# D\n\nThe barnacle.")
    configure(stages, documents_decide=True)
    stages.run()
    assert seen(stages) == {"D"}
    assert seen(stages, "group:board", "user:anna") == {"A", "B", "D"}
    stages.write("a.md", "---\nallowed: [everyone]\n---\n# A\n\nThe barnacle.")
    stages.run()
    assert seen(stages) == {"A", "D"}
    configure(stages)
    assert seen(stages) == {"A", "B", "C", "D"}


def test_copies_and_attachments_are_seen_as_their_originals(stages: Stages) -> None:
    """Another collection takes documents: whoever may not see the original does not see the copy either."""
    stages.write("hr/pay.md", "# Pay\n\nThe barnacle.")
    stages.write("open.md", "# Open\n\nThe barnacle.")
    folder = {"root": str(stages.root), "allowed": {"hr/**": ["group:hr"], "**": ["everyone"]}}
    both = {stages.collection: {"files": [folder]}, "all": {"from": {"collection": stages.collection}}}
    stages.configure(json.dumps({"collections": both}))
    stages.run()
    stages.collection, own = "all", stages.collection
    stages.run()
    assert seen(stages) == {"Open"}
    assert [item.collection for item in stages.knowledge.seen_by(["group:hr"]).documents() if item.title == "Pay"] == [
        "all",
        own,
    ]
    folder["allowed"] = {"hr/**": ["everyone"], "**": ["group:hr"]}
    stages.configure(json.dumps({"collections": both}))
    assert seen(stages) == {"Pay"}


def test_a_field_of_a_record_says_who_sees_it(records: RecordStages) -> None:
    """A name that is no principal means that group; an empty field means nobody; a change embeds nothing."""
    stages = records.stages
    for key in range(5):
        records.note(key, f"The barnacle {key} marks high water.", heading=f"N{key}")
    records.do("ALTER TABLE notes ADD COLUMN readers TEXT")
    for key, group in enumerate(("board", "user:anna, group:hr", "everyone", "", None)):
        records.do("UPDATE notes SET readers = ? WHERE id = ?", group, key)
    records.configure(allowed="readers")
    records.run()
    assert seen(stages) == {"N2"}
    assert seen(stages, "group:board") == {"N0", "N2"}
    assert seen(stages, "group:hr") == {"N1", "N2"}
    records.do("UPDATE notes SET readers = 'everyone', changed = '2030-01-01' WHERE id = 0")
    report = records.run()
    assert report["embeddings"].extra["computed"] == 0
    assert seen(stages) == {"N0", "N2"}


def test_metadata_given_by_hand_open_nothing(stages: Stages) -> None:
    """Who may write, and who keeps the settings, are not the same: only the document itself decides."""
    stages.write("a.md", "---\nallowed: [group:board]\n---\n# A\n\nThe barnacle.")
    configure(stages, documents_decide=True)
    stages.run()
    stages.knowledge.change_document(stages.uri("a.md"), metadata={"allowed": ["everyone"]})
    assert seen(stages) == set()
    configure(stages, documents_decide=True, denied=["user:eve"])
    assert seen(stages) == set()
    assert seen(stages, "group:board") == {"A"}


def test_an_attachment_follows_its_message(stages: Stages) -> None:
    """Also where the rules change after both were read."""
    mail = (
        "From: a@example.com\nSubject: Pay\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
        "--b\nContent-Type: text/plain\n\nThe barnacle.\n"
        "--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=pay.txt\n\nThe limpet.\n--b--\n"
    )
    stages.write("hr/pay.eml", mail)
    configure(stages, allowed={"*/*.eml": ["group:hr"], "**": ["everyone"]})
    stages.run()
    assert seen(stages) == set()
    assert len(seen(stages, "group:hr")) == 2
    configure(stages, allowed={"*/*.eml": ["everyone"], "**": ["group:hr"]})
    assert len(seen(stages)) == 2


def test_settings_without_a_change_wait_for_nobody(stages: Stages) -> None:
    """Whoever writes documents meanwhile is waited for only where permissions change; unset ones are not kept."""
    stages.write("a.md", "# A\n\nThe barnacle.")
    configure(stages)
    stages.run()
    (kept,) = stages.rows("SELECT settings -> 'files' -> 0 AS folder FROM collection")
    assert not PERMISSION_FIELDS & kept["folder"].keys()
    with stages.connection() as writer, writer.transaction():
        writer.execute("UPDATE document SET title = title")
        with ThreadPoolExecutor(1) as threads:
            threads.submit(configure, stages).result(timeout=60)
    configure(stages, allowed=["group:board"])
    (kept,) = stages.rows("SELECT settings -> 'files' -> 0 AS folder FROM collection")
    assert kept["folder"]["allowed"] == ["group:board"]


def test_a_record_changes_who_sees_it_while_nobody_writes_documents(records: RecordStages) -> None:
    """A document that is being inserted would keep what the record said before; other changes of records go on."""
    stages = records.stages
    records.note(0, "The barnacle marks high water.")
    records.do("ALTER TABLE notes ADD COLUMN readers TEXT")
    records.configure(allowed="readers")
    records.run()
    said = "UPDATE source_record SET allowed = %s"

    def change(allowed: list[str]) -> None:
        with stages.connection() as connection:
            connection.execute(said, [allowed])

    with ThreadPoolExecutor(2) as threads:
        with stages.connection() as writer, writer.transaction():
            writer.execute("UPDATE document SET title = title WHERE false")  # no row is locked
            before = stages.rows("SELECT allowed FROM source_record")[0]["allowed"]
            threads.submit(change, before).result(timeout=60)
            waiting = threads.submit(change, ["user:anna"])
            with pytest.raises(TimeoutError):
                waiting.result(timeout=1)  # as it waits for the writer
        waiting.result(timeout=60)
    assert len(stages.knowledge.documents(as_principals=["user:anna"])) == 1


def test_processes_that_begin_at_once_prepare_the_reader(stages: Stages) -> None:
    """None of them fails over what another one has just made or granted."""

    def prepare(_: int) -> object:
        with stages.database.own_connection() as connection:
            connection.execute(queries["configure_connection"])
            return connection.execute(queries["prepare_reader"]).fetchone()

    stages.configure()
    with ThreadPoolExecutor(8) as threads:
        assert set(threads.map(prepare, range(24))) == {(True,)}


def test_the_second_wall_hides_every_row_of_a_hidden_document(stages: Stages) -> None:
    """In each table that the reader reads, whatever the statement: rows with text are those of visible documents."""
    mail = (
        "From: a@example.com\nSubject: Pay\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"
        "--b\nContent-Type: text/plain\n\nThe barnacle.\n"
        "--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=pay.txt\n\nThe limpet.\n--b--\n"
    )
    stages.write("pay.eml", mail)
    stages.write("a.md", "# A\n\nThe General Data Protection Regulation (GDPR) is [here](b.md).")
    stages.write("b.md", "# B\n\nThe barnacle.")
    configure(stages, allowed=["group:board"])
    stages.knowledge.upload(stages.collection, "tides.md", b"# Tides", allowed=["group:board"])
    stages.run()
    without_text = {"collection", "source", "activation", "embedding", "search_entry", "keyword_entry"}
    without_text |= {"keyword_block", "keyword_block_size", "curated_collection"}
    board, other = (stages.knowledge.seen_by([each])._seen for each in ("group:board", "user:anna"))
    granted = stages.rows(
        "SELECT table_name AS name FROM information_schema.role_table_grants"
        " WHERE grantee = 'sourcebook_reader' AND table_schema = 'sourcebook'"
    )
    tables = {row["name"] for row in granted} - without_text
    counts = {}
    with board.connection() as theirs, other.connection() as hers:
        assert theirs.execute("SHOW max_parallel_workers_per_gather").fetchone() == ("0",)
        for table in tables:
            statement = sql.SQL("SELECT count(*) FROM {}").format(sql.Identifier(table))
            counts[table] = theirs.execute(statement).fetchone()
            assert hers.execute(statement).fetchone() == (0,), table
    unwritten = {"crawled_page", "source_record", "transcribed_file", "frontier", "processing"}
    assert {table for table, count in counts.items() if count == (0,)} == unwritten
    guarded = stages.rows("SELECT tablename AS name FROM pg_policies WHERE policyname = 'seen'")
    assert {row["name"] for row in guarded} == tables - {"item", "source_item", "present_attachment"}


def test_permissions_of_many_documents_change_in_linear_time(stages: Stages) -> None:
    """Also where the session has updated none before, as `apply` does: a plan for few rows compares each with each."""
    configure(stages, allowed=["everyone"])
    with stages.connection() as connection:
        connection.execute(
            "INSERT INTO document (collection, source_id, uri, kind, media_type, tags, input_hash, config_hash) "
            "SELECT collection, id, 'file:///x/' || n, 'file', 'text/markdown', '{}', '', '' "
            "FROM source, generate_series(1, 4000) n"
        )
        connection.execute("UPDATE document SET audience_id = 1 WHERE false")
        (backend,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        before = psutil.Process(backend).cpu_times()
        connection.execute("UPDATE source SET permissions = %s", [Jsonb({"rules": [], "denied": []})])
        after = psutil.Process(backend).cpu_times()
        assert connection.execute("SELECT count(*) FROM document WHERE audience_id = 2").fetchone() == (4000,)
    assert after.user - before.user < 10, "each with each takes more than a minute"


def test_many_pages_change_in_linear_time(stages: Stages) -> None:
    """The same of pages: a session that has changed none, and then a site's."""
    configure(stages)
    with stages.connection() as connection:
        connection.execute(
            "INSERT INTO crawled_page (source_id, url, status, media_type, size, sha256, cleaner, content) "
            "SELECT id, 'http://x/' || n, 200, 'text/html', 1, sha256(n::text::bytea), '', '' "
            "FROM source, generate_series(1, 8000) n"
        )
        connection.execute("UPDATE crawled_page SET tags = '{}' WHERE false")
        (backend,) = connection.execute("SELECT pg_backend_pid()").fetchone() or (0,)
        before = psutil.Process(backend).cpu_times()
        connection.execute("UPDATE crawled_page SET sha256 = sha256(sha256)")
        after = psutil.Process(backend).cpu_times()
        (live,) = connection.execute("SELECT sum(items) FROM tally WHERE kind = 'crawled_pages'").fetchone() or (0,)
        assert live == 8000
    assert after.user - before.user < 5, "each with each takes 13 s"

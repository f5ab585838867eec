"""The files of an archive are documents of their own, and go where their archive goes."""

import json

from tests.integration.stages import Stages
from tests.unit.parsing.archives.archive_writer import encrypted, tarred, zipped

NOTE = "# Anchor\n\nThe anchor lies in five fathoms.\n"
BROKEN = b"PK\x03\x04 broken [Content_Types].xml word/"


def test_the_files_of_an_archive_are_documents(stages: Stages) -> None:
    """Each is found under its path; a broken one fails alone, a recording is skipped; one that is the same stays."""
    stages.configure()
    files: dict[str, str | bytes] = {"a b/note.md": NOTE, "plan.docx": BROKEN, "call.mp3": b"ID3\x03\x00" + bytes(99)}
    stages.write(
        "old.zip", zipped({**files, "inner.tar.gz": tarred({"deep/sails.txt": "A list of sails."}, kind="gz")})
    )
    stages.write("locked.zip", encrypted(zipped({"secret.txt": "words"})))
    stages.run()
    assert stages.found("fathoms") == {"note.md"}
    before = stages.document("old.zip/a b/note.md")
    assert (before["title"], before["media_type"]) == ("Anchor", "text/markdown")
    assert stages.document("old.zip/inner.tar.gz/deep/sails.txt")["title"] == "sails"
    assert stages.item("old.zip/plan.docx")["state"] == "failed"
    assert "recordings within archives" in stages.item("old.zip/call.mp3")["error"]
    locked = stages.item("locked.zip/secret.txt")
    assert (locked["state"], "encrypted in its archive" in locked["error"]) == ("failed", True)
    assert stages.item("old.zip")["state"] == stages.item("locked.zip")["state"] == "ready"
    assert not stages.pending().work

    stages.write("old.zip", zipped({"a b/note.md": NOTE, "new.txt": "A rudder."}))
    report = stages.run()["documents"]
    assert stages.found("rudder") == {"new.txt"}
    assert stages.found("sails") == set()
    after = stages.document("old.zip/a b/note.md")
    assert (after["id"], after["updated_at"]) == (before["id"], before["updated_at"])
    assert report.failed == 0
    assert not stages.pending().work

    (stages.root / "old.zip").rename(stages.root / "new.zip")
    assert stages.run()["embeddings"].extra.get("computed", 0) == 0
    assert stages.document("new.zip/a b/note.md")["id"] == before["id"]
    (stages.root / "new.zip").unlink()
    stages.run()
    assert stages.found("fathoms") == set()


def test_an_archive_that_an_earlier_version_skipped_is_read(stages: Stages) -> None:
    """It was recorded as a compressed file; the next update reads it, and is settled then."""
    stages.configure()
    stages.write("old.tar.gz", tarred({"note.md": NOTE}, kind="gz"))
    stages.run()
    with stages.connection() as connection:
        connection.execute(
            "UPDATE raw_file SET media_type = 'application/gzip', skip_reason = 'archives are not opened'"
        )
        connection.execute("UPDATE listed_folder SET digest = '\\x00'")
    stages.run()
    assert stages.found("fathoms") == {"note.md"}
    assert not stages.pending().work


def test_a_file_in_a_folder_of_an_archive_takes_replaced_content(stages: Stages) -> None:
    """What a parser made of it is replaced, as when another collection parses the same bytes again."""
    stages.write("site.zip", zipped({"plans/2026/birds.md": b"# Birds\n\nA crane stands on the pier.\n"}))
    stages.configure()
    stages.run()
    assert stages.found("crane") == {"birds.md"}
    stages.rows(
        "UPDATE parsed_content SET markdown = replace(markdown, 'crane', 'heron'), content_hash = sha256('heron') "
        "WHERE markdown LIKE '%%crane%%' RETURNING 1"
    )
    stages.run()
    assert stages.found("heron") == {"birds.md"}
    assert not stages.pending().work


def test_what_a_person_said_in_a_month_is_found_in_a_slack_export(stages: Stages) -> None:
    """Ids are names, the day is in the headings, and a new export changes the months alone that it changes."""

    def day(ts: int, user: str, text: str) -> str:
        return json.dumps([{"type": "message", "user": user, "text": text, "ts": f"{ts}.000100"}])

    files: dict[str, str | bytes] = {
        "users.json": json.dumps([{"id": "U1", "real_name": "Ulvhild Berg"}, {"id": "U2", "real_name": "Torkel Vik"}]),
        "winch/2026-02-03.json": day(1770112800, "U2", "the red grease is for the capstan"),
        "winch/2026-03-03.json": day(1772532000, "U1", "the green grease is for the winch"),
    }
    stages.configure()
    stages.write("slack.zip", zipped(files))
    stages.run()
    hit = stages.search("What did Ulvhild Berg say about grease in March?", mode="keyword")[0]
    assert (hit.title, hit.heading_path[-1]) == ("#winch, March 2026", "Tuesday, 3 March 2026")
    assert hit.uri.endswith("slack.zip/winch/2026-03.json")
    assert stages.document("slack.zip/winch/2026-02.json")["metadata"]["speakers"] == ["Torkel Vik"]
    stages.write("slack.zip", zipped({**files, "winch/2026-04-01.json": day(1775037600, "U2", "April rain")}))
    report = stages.run()["documents"]
    assert (report.added, report.changed, report.failed) == (1, 1, 0)
    assert stages.found("rain") == {"2026-04.json"}

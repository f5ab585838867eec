"""What came with a message is a document of its own, and goes where its message goes."""

from email.message import EmailMessage
from pathlib import Path

import fsspec
import pytest
from fsspec.implementations.memory import MemoryFile

from sourcebook.admin.removal import remove_items, restore_items
from sourcebook.errors import QueryError, SourcebookError
from tests.integration.stages import Stages
from tests.unit.parsing.archives.archive_writer import zipped
from tests.unit.parsing.office.office_files import with_embedded, workbook_file
from tests.unit.parsing.pdf.pdf_writer import Shown, pdf
from tests.unit.parsing.pdf.test_attachments import holding

ARCHIVE = b"PK\x03\x04" + bytes(200)


def message(body: str, files: dict[str, str | bytes], subject: str = "Minutes") -> bytes:
    letter = EmailMessage()
    letter["Subject"], letter["From"], letter["To"] = subject, "ada@example.com", "bob@example.com"
    letter.set_content(body)
    for name, content in files.items():
        data = content if isinstance(content, bytes) else content.encode()
        letter.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
    return letter.as_bytes()


@pytest.fixture
def mail(stages: Stages) -> Stages:
    """A message with a note, a broken file and an archive, taken in."""
    stages.configure()
    files: dict[str, str | bytes] = {
        "note.md": "# Anchor\n\nThe anchor lies in five fathoms.\n",
        "plan.docx": b"PK\x03\x04 broken [Content_Types].xml word/",
        "old.zip": ARCHIVE,
    }
    stages.write("minutes.eml", message("We spoke of the mast.", files))
    stages.run()
    return stages


def test_a_message_and_its_attachments_are_documents(mail: Stages) -> None:
    """Each is found by its own words, under a URI below the message's."""
    assert mail.found("mast") == {"minutes.eml"}
    assert mail.found("fathoms") == {"note.md"}
    document = mail.document("minutes.eml/note.md")
    assert (document["title"], document["kind"], document["media_type"]) == ("Anchor", "file", "text/markdown")


def test_what_is_wrong_with_an_attachment_is_told_of_it(mail: Stages) -> None:
    """A broken one fails alone, an archive is skipped, each with its reason."""
    assert mail.item("minutes.eml/plan.docx")["state"] == "failed"
    skipped = mail.item("minutes.eml/old.zip")
    assert (skipped["state"], skipped["error"]) == (
        "skipped",
        "archives within messages and documents are not opened; save it beside them",
    )
    assert mail.item("minutes.eml")["state"] == "ready"


def test_nothing_is_left_to_do(mail: Stages) -> None:
    """One run takes in a message and all that came with it."""
    assert not mail.pending().work
    report = mail.documents()
    assert (report.added, report.changed, report.removed) == (0, 0, 0)


def test_a_message_that_changed_changes_only_what_is_other(mail: Stages) -> None:
    """What it no longer holds leaves, what is new comes, and what is the same keeps its row."""
    before = mail.document("minutes.eml/note.md")
    files: dict[str, str | bytes] = {
        "note.md": "# Anchor\n\nThe anchor lies in five fathoms.\n",
        "list.txt": "A list of sails.",
    }
    mail.write("minutes.eml", message("We spoke of the rudder.", files))
    mail.run()
    assert mail.found("rudder") == {"minutes.eml"}
    assert mail.found("sails") == {"list.txt"}
    after = mail.document("minutes.eml/note.md")
    assert (after["id"], after["version"], after["updated_at"]) == (before["id"], 1, before["updated_at"])
    assert mail.document("minutes.eml/plan.docx")["removed_at"] is not None
    assert not mail.rows("SELECT FROM item WHERE uri LIKE '%%old.zip' AND state <> 'removed'")
    assert not mail.pending().work


def test_a_message_that_cannot_be_read_any_more_keeps_what_came_with_it(mail: Stages) -> None:
    """The old version stays searchable, whole, until there is a new one."""
    encrypted = b"Content-Type: application/pkcs7-mime; smime-type=enveloped-data\nSubject: Minutes\n\nAAAA\n"
    mail.write("minutes.eml", encrypted)
    mail.run()
    assert mail.item("minutes.eml")["state"] == "failed"
    assert mail.found("fathoms") == {"note.md"}


def test_files_in_a_document_are_documents(stages: Stages) -> None:
    """A workbook in a Word file is found by its own words; one in an attached Word file is counted as left out."""
    stages.configure()
    document = with_embedded({"pressures.xlsx": workbook_file("Kaldfjord")})
    stages.write("boilers.docx", document)
    stages.write("minutes.eml", message("We spoke of the mast.", {"copy.docx": document + b"PK"}))
    stages.run()
    assert stages.found("Kaldfjord") == {"pressures.xlsx"}
    assert stages.document("boilers.docx/pressures.xlsx")["kind"] == "file"
    assert stages.document("minutes.eml/copy.docx")["metadata"]["left_out"] == {"attachments": 1}
    assert not stages.pending().work
    stages.write("boilers.docx", with_embedded({}))
    stages.run()
    assert stages.document("boilers.docx/pressures.xlsx")["removed_at"] is not None
    assert not stages.pending().work


def test_a_renamed_message_takes_its_attachments_along(mail: Stages) -> None:
    """They keep their ids, passages and vectors; nothing is parsed."""
    before = {name: mail.document(name)["id"] for name in ("minutes.eml", "minutes.eml/note.md")}
    (mail.root / "minutes.eml").rename(mail.root / "protocol.eml")
    reports = mail.run()
    assert mail.document("protocol.eml")["id"] == before["minutes.eml"]
    assert mail.document("protocol.eml/note.md")["id"] == before["minutes.eml/note.md"]
    assert reports["embeddings"].extra.get("computed", 0) == 0
    assert reports["documents"].removed == 0
    assert mail.found("fathoms") == {"note.md"}


def test_a_message_that_is_gone_takes_its_attachments_along(mail: Stages) -> None:
    """They leave the index in the same run, and come back with it."""
    kept = (mail.root / "minutes.eml").read_bytes()
    (mail.root / "minutes.eml").unlink()
    mail.run()
    assert mail.found("fathoms") == set()
    mail.write("minutes.eml", kept)
    report = mail.run()
    assert mail.found("fathoms") == {"note.md"}
    assert report["embeddings"].extra.get("computed", 0) == 0


def test_the_same_file_in_two_messages_is_parsed_once(mail: Stages) -> None:
    """Parsing is cached by content, also within messages."""
    mail.write("second.eml", message("Again.", {"copy.md": "# Anchor\n\nThe anchor lies in five fathoms.\n"}))
    mail.run()
    assert mail.found("fathoms") == {"note.md", "copy.md"}
    contents = mail.rows("SELECT content_sha256 FROM document WHERE uri LIKE '%%note.md' OR uri LIKE '%%copy.md'")
    assert len(contents) == 2
    assert contents[0] == contents[1]


def test_a_message_is_removed_with_its_attachments(mail: Stages) -> None:
    """`remove` takes them out at once, and names the message where somebody names only the attachment."""
    with mail.connection() as connection:
        with pytest.raises(QueryError, match=r"is removed with it.*minutes\.eml"):
            remove_items(connection, mail.uri("minutes.eml/note.md"))
        remove_items(connection, mail.uri("minutes.eml"))
        assert mail.found("fathoms") == set()
        mail.run()
        assert mail.found("fathoms") == set()
        restore_items(connection, mail.uri("minutes.eml"))
    mail.run()
    assert mail.found("fathoms") == {"note.md"}


def test_names_that_are_no_names_do_no_harm(stages: Stages) -> None:
    """A name with slashes, a query or percent signs is one part of a URI, and two alike are told apart."""
    stages.configure()
    letter = EmailMessage()
    letter["Subject"] = "Odd"
    letter.set_content("Odd names.")
    for name in ("../../etc/pass?wd#1.txt", "100%.txt", "100%.txt"):
        letter.add_attachment(f"word{name[-6:-4]}".encode(), maintype="text", subtype="plain", filename=name)
    stages.write("odd.eml", letter.as_bytes())
    stages.run()
    uris = [row["uri"] for row in stages.rows("SELECT uri FROM document ORDER BY uri")]
    base = stages.uri("odd.eml")
    assert uris == [base, f"{base}/100%25%20%282%29.txt", f"{base}/100%25.txt", f"{base}/pass%3Fwd%231.txt"]
    assert not stages.rows("SELECT FROM document WHERE failure IS NOT NULL")


def test_what_is_forced_is_made_once(mail: Stages, tmp_path: Path) -> None:
    """A forced run reads messages and attachments again, each once."""
    from sourcebook.model.selection import Selection

    report = mail.documents(Selection(force=True))
    assert report.failed == 1
    assert (report.added, report.changed) == (0, 0)
    row = mail.rows("SELECT attempts FROM document WHERE uri LIKE '%%plan.docx'")
    assert row == [{"attempts": 2}]


def test_a_message_of_two_sources_outlives_one_of_them(stages: Stages) -> None:
    """What came with it stays, the same documents, when the source that provided it is taken out, and comes back."""
    head, root = f"collections:\n  {stages.collection}:\n    files:\n", stages.root.name
    whole, part = f"      - root: ./{root}\n", f"      - root: ./{root}/post\n"
    stages.configure(head + whole + part)
    stages.write("post/minutes.eml", message("x", {"note.md": "Five fathoms.", "old.zip": ARCHIVE}))
    stages.run()
    before = stages.document("post/minutes.eml/note.md")["id"]
    for sources in (part, whole, whole + part):
        stages.configure(head + sources)
        assert stages.run()["documents"].removed == 0
        assert stages.found("fathoms") == {"note.md"}
        assert (stages.document("post/minutes.eml/note.md")["id"], stages.pending().work) == (before, False)


def test_a_file_under_the_name_of_what_came_with_a_message(stages: Stages) -> None:
    """An object store may hold both; the file is the document, in every run, and the attachment where it is gone."""
    system = fsspec.filesystem("memory")
    system.pipe("/post/letter.eml/note.md", b"# Buoy\n\nThe buoy is red.\n")
    system.store["/post/letter.eml"] = MemoryFile(system, "/post/letter.eml", message("x", {"note.md": "The keel."}))
    try:
        stages.configure(f"collections:\n  {stages.collection}:\n    files:\n      - root: memory://post\n")
        stages.run()
        for _ in range(2):
            assert (stages.found("buoy"), stages.found("keel")) == ({"note.md"}, set())
            assert not stages.pending().work
            stages.run()
        del system.store["/post/letter.eml/note.md"]
        stages.run()
        assert (stages.found("buoy"), stages.found("keel")) == (set(), {"note.md"})
        assert not stages.pending().work
    finally:
        system.rm("/post", recursive=True)


def test_a_parser_that_cannot_be_loaded_ends_the_run_and_loses_nothing(stages: Stages) -> None:
    """It is wrong for every document; what was made before it in the same batch is recorded."""
    stages.configure(
        f"collections:\n  {stages.collection}:\n    files:\n      - root: ./{stages.root.name}\n"
        "    parsing:\n      parser: docling\n      models: ./nowhere\n"
    )
    stages.write("b.pdf", pdf([[Shown(72, 700, "Second")]]))
    stages.write("a.md", "# First\n")  # the newest file comes first
    with pytest.raises(SourcebookError, match="docling"):
        stages.run()
    assert stages.document("a.md")["title"] == "First"


def test_the_attachments_of_a_mailbox_are_documents(stages: Stages) -> None:
    """Each message of a mailbox has its own, also where two have one name."""
    stages.configure()
    letters = [
        message("We spoke.", {"note.md": f"# Anchor\n\nThe anchor lies in {depth}.\n"}) for depth in ("sand", "clay")
    ]
    stages.write("inbox.mbox", b"\n".join(b"From a@b.c Mon Jan  1 09:00:00 2024\n" + letter for letter in letters))
    stages.run()
    assert stages.found("sand") == {"note.md"}
    assert stages.found("clay") == {"note%20%282%29.md"}


def test_the_attachments_of_a_pdf_are_documents(stages: Stages) -> None:
    """They come and go with it, an attached PDF's own among them, also where a message has the PDF."""
    stages.configure()
    invoice = holding({"factur-x.xml": b"<Invoice><Total>318.50 crowns for the mast</Total></Invoice>"})
    stages.write("invoice.pdf", invoice)
    letter = message("The invoice is attached.", {"mast.pdf": invoice})
    stages.write("letter.eml", letter)
    stages.write("old.zip", zipped({"letter.eml": letter}))
    stages.run()
    assert stages.document("invoice.pdf/factur-x.xml")["media_type"] == "text/x-xml"
    assert stages.found("318.50") == {"factur-x.xml"}
    assert stages.item("letter.eml/factur-x.xml")["state"] == "ready"
    assert not stages.pending().work
    for uri in ("invoice.pdf/factur-x.xml", "letter.eml/factur-x.xml"):
        with stages.knowledge.original(stages.uri(uri)) as original:
            assert b"318.50" in original.stream.read()
    stages.write("invoice.pdf", holding({}))
    stages.run()
    assert stages.document("invoice.pdf/factur-x.xml")["removed_at"] is not None
    assert stages.item("letter.eml/mast.pdf")["state"] == stages.item("old.zip/letter.eml")["state"] == "ready"

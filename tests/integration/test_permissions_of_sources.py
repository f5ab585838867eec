"""Who may see what, as settings, front matter and records say it."""

import json
from typing import Any

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

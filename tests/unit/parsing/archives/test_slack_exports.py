"""An archive of Slack is a document a channel and month, with names for the ids of its lists."""

import json

import pytest

from sourcebook.model.document import ParsedDocument
from sourcebook.model.media_types import ZIP
from sourcebook.parsing.archives import members
from sourcebook.parsing.archives.read_archive import member_content
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.archives.archive_writer import zipped

MARCH_3 = 1772532000
"""10:00 in UTC."""
DAY = 86_400
PERMALINK = "https://velling.slack.com/files/U1/F1/plan.pdf"


def said(ts: int, user: str, text: str, **more: object) -> dict[str, object]:
    return {"type": "message", "user": user, "text": text, "ts": f"{ts}.000100", **more}


def export(**days: list[dict[str, object]]) -> dict[str, str | bytes]:
    lists = {
        "users.json": [
            {"id": "U1", "name": "ulv", "profile": {"real_name": "Ulvhild Berg"}},
            {"id": "U2", "name": "tor", "real_name": "Torkel Vik"},
        ],
        "channels.json": [{"id": "C1", "name": "winch", "topic": {"value": "Ropes"}, "purpose": {"value": ""}}],
        "dms.json": [{"id": "D1", "members": ["U1", "U2"]}],
    }
    return {name: json.dumps(value) for name, value in (lists | days).items()}


def documents(files: dict[str, str | bytes]) -> tuple[ParsedDocument, dict[str, ParsedDocument]]:
    """Return the document of an archive, and those of its files by their paths."""
    content = zipped(files)
    archive = parse(content, name="export.zip", media_type=ZIP)
    inner = {}
    for number, attachment in enumerate(archive.attachments):
        held = member_content(content, media_type=ZIP, number=number)
        media_type = detect_media_type(attachment.name, held[:4096])
        inner[attachment.name] = parse(held, name=attachment.name, media_type=media_type)
    return archive, inner


def test_a_channel_and_month_is_a_document() -> None:
    """Names for ids, replies of the next month beside their message, links where the workspace is known."""
    thread = {"thread_ts": f"{MARCH_3}.000100"}
    archive, found = documents(
        export(
            **{
                "winch/2026-03-03.json": [said(MARCH_3, "U1", "<@U2> which *grease*? <#C1>", **thread)],
                "winch/2026-03-04.json": [
                    said(MARCH_3 + DAY, "U2", "see", files=[{"name": "plan.pdf", "permalink": PERMALINK}])
                ],
                "winch/2026-04-01.json": [
                    said(MARCH_3 + 29 * DAY, "U2", "the green one", **thread),
                    said(MARCH_3 + 29 * DAY + 60, "U9", "new month"),
                ],
                "D1/2026-03-03.json": [said(MARCH_3, "U2", "between us")],
            }
        )
        | {"winch/plan.md": "# Plan\n\nText of the plan.\n"}
    )
    assert list(found) == ["winch/plan.md", "D1/2026-03.json", "winch/2026-03.json", "winch/2026-04.json"]
    link = f"https://velling.slack.com/archives/C1/p{MARCH_3}000100"
    assert found["winch/2026-03.json"].markdown.split("\n\n") == [
        "# #winch",
        "Ropes",
        "## Tuesday, 3 March 2026",
        f"**Ulvhild Berg** ([10:00]({link})): @Torkel Vik which **grease**? #winch",
        "- **Torkel Vik** (1 April, 10:00): the green one",
        "## Wednesday, 4 March 2026",
        f"**Torkel Vik** ([10:00]({link.replace(str(MARCH_3), str(MARCH_3 + DAY))})): see (file: plan.pdf)\n",
    ]
    assert "**U9** " in found["winch/2026-04.json"].markdown
    assert "the green one" not in found["winch/2026-04.json"].markdown
    assert found["D1/2026-03.json"].markdown.startswith("# Ulvhild Berg, Torkel Vik\n")
    assert found["winch/2026-03.json"].metadata["speakers"] == ["Torkel Vik", "Ulvhild Berg"]
    assert archive.metadata["unread"] == ["3 with ids of a chat, whose names its messages have"]


def test_an_unchanged_month_keeps_its_bytes() -> None:
    """A later export with more messages changes the months that have them, and no others."""
    march = {"winch/2026-03-03.json": [said(MARCH_3, "U1", "hello")]}
    april = {"winch/2026-04-01.json": [said(MARCH_3 + 29 * DAY, "U2", "more")]}
    (before, _), (after, _) = documents(export(**march)), documents(export(**march, **april))
    assert before.attachments[0].sha256 == after.attachments[0].sha256


def test_days_do_not_count_against_the_limit_of_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """A channel has more days than an archive may have files; its months are few."""
    monkeypatch.setattr(members, "MOST_MEMBERS", 5)
    days = {f"winch/2026-03-{day:02}.json": [said(MARCH_3, "U1", f"day {day}")] for day in range(1, 29)}
    archive, _ = documents(export(**days))
    assert [attachment.name for attachment in archive.attachments] == ["winch/2026-03.json"]


def test_damaged_parts_fail_alone() -> None:
    """A damaged list leaves ids; a damaged day fails its channel, with its path."""
    files = export(**{"winch/2026-03-03.json": [said(MARCH_3, "U1", "hello")], "quay/2026-03-03.json": []})
    archive, found = documents(files | {"channels.json": "[{"})
    assert "**Ulvhild Berg** (10:00): hello" in found["winch/2026-03.json"].markdown
    content = zipped(files | {"winch/2026-03-03.json": "[{"})
    assert [each.name for each in parse(content, name="a.zip", media_type=ZIP).attachments] == [
        "quay/2026-03.json",
        "winch/2026-03.json",
    ]
    with pytest.raises(Exception, match=r"day winch/2026-03-03\.json of the export is damaged"):
        member_content(content, media_type=ZIP, number=1)
    assert archive.attachments[0].name == "quay/2026-03.json"


def test_other_archives_of_days_stay_as_they_are() -> None:
    """Without the list of users it is no export: files by date are files."""
    archive, _ = documents({"log/2026-03-03.json": "{}", "log/2026-03-04.json": "{}", "users.txt": "a"})
    assert [attachment.name for attachment in archive.attachments] == [
        "log/2026-03-03.json",
        "log/2026-03-04.json",
        "users.txt",
    ]

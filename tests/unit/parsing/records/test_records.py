"""An export is a document a record; a configuration, a lock file or a table of numbers is one document."""

import json
from collections.abc import Mapping, Sequence

import pytest

from sourcebook.config.parsing import ParsingSettings
from sourcebook.model import media_types as media
from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.parsing.parse import parse
from sourcebook.parsing.records import rows as reading
from sourcebook.parsing.records.read_records import record_content

ISSUES: Sequence[Mapping[str, JsonValue]] = [
    {
        "id": 7000 + number,
        "number": number,
        "title": f"Winch {number} slips",
        "state": "open" if number % 2 else "closed",
        "user": {"login": keeper, "id": 5, "avatar_url": "https://example.org/a.png"},
        "labels": [{"id": 1, "name": "winch", "color": "fff"}, {"id": 2, "name": "urgent", "color": "000"}],
        "body": f"Under load the winch {number} slips by a hand.\n\n## Steps\n\n1. Hoist\n2. Wait",
        "comments": [{"user": {"login": "Ola"}, "body": "Grease helps until the next rain comes over the mole."}],
    }
    for number, keeper in ((101, "Brita"), (102, "Carl"), (103, "Dagny"))
]
SENTENCES = ["The lamp on the pier is dark.", "The rope at the ferry is torn.", "The bell of the buoy is silent."]
DESCRIBED = {
    media.JSON: """{"title": "Tide gate", "id": "SPEC-0007", "status": "accepted", "date": "2026-03-04",
        "type": "spec", "tags": ["tides"], "requires": "SPEC-0003", "parts": [{"a": 1}]}""",
    media.YAML: """title: Tide gate
id: SPEC-0007
status: accepted
date: 2026-03-04
type: spec
tags: [tides]
requires: SPEC-0003
""",
    media.TOML: """title = "Tide gate"
id = "SPEC-0007"
status = "accepted"
date = 2026-03-04
type = "spec"
tags = ["tides"]
requires = "SPEC-0003"
[parts]
a = 1
""",
    media.XML: """<spec id="SPEC-0007" status="accepted"><title>Tide gate</title><date>2026-03-04</date>
        <type>spec</type><tags><tag>tides</tag></tags><requires>SPEC-0003</requires></spec>""",
}
KEYED = [{"id": number, "text": sentence} for number, sentence in enumerate(SENTENCES)]
LINES = "\n".join(map(json.dumps, KEYED))


def table(header: str, *rows: str) -> str:
    return "\n".join([header, *rows, ""])


def each(pattern: str, sentences: Sequence[str] = SENTENCES) -> list[str]:
    """Return a pattern filled with the number and the sentence of each record."""
    return [pattern.format(number=number, sentence=sentence) for number, sentence in enumerate(sentences)]


URLS = each("https://x.org/{number}")
TICKETS = "".join(each('<ticket id="T-{number}"><text>{sentence}</text></ticket>'))
CHAPTERS = "".join(each('<chapter id="c{number}"><title>One</title><p>{sentence}</p></chapter>'))
NOTE = (
    "<note><title>Lamp {number}</title><content><![CDATA[<en-note><div>{sentence}</div></en-note>]]></content></note>"
)
ITEMS = "".join(each("<item><title>Day {number}</title><body>{sentence}</body><guid>{number}</guid></item>"))
POST = (
    '<item><title>Winch</title><key id="71">PIER-1</key><description>&lt;p&gt;It slips.&lt;/p&gt;</description>'
    '<comments><comment author="Ola">&lt;p&gt;Grease helps.&lt;/p&gt;</comment></comments>'
    f"<resource><data>{'iVBORw0KGgo' * 40}</data></resource></item>"
)


def read(value: object, media_type: str = media.JSON, *, name: str = "issues.json", **settings: str) -> ParsedDocument:
    """Parse a file of a value that is written as JSON, or of a text or bytes as they are."""
    written = value if isinstance(value, str | bytes) else json.dumps(value)
    content = written.encode() if isinstance(written, str) else written
    return parse(content, name=name, media_type=media_type, settings=ParsingSettings.model_validate(settings))


def names(document: ParsedDocument) -> list[str]:
    return [attachment.name for attachment in document.attachments]


def record(document: ParsedDocument, name: str, *, file: str = "issues.json") -> ParsedDocument:
    content = next(part.content for part in document.attachments if part.name == name)
    return parse(content or b"", name=f"{file}/{name}", media_type=media.RECORD)


def test_an_issue_is_a_document_by_its_number() -> None:
    """Its title is the title, its texts are text, its facts are a list and metadata; what is neither is counted."""
    document = read({"issues": ISSUES})
    assert names(document) == ["101", "102", "103"]
    assert document.metadata["records"] == 3
    assert "by `number`" in document.markdown
    issue = record(document, "103")
    assert issue.title == "Winch 103 slips"
    assert "issues 103" in issue.markdown  # as people call it
    assert "- user: Dagny" in issue.markdown
    assert "Under load the winch 103 slips by a hand." in issue.markdown
    assert "user: Ola; body: Grease helps" in issue.markdown
    assert issue.metadata["labels"] == ["winch", "urgent"]
    assert issue.metadata["user"] == {"login": "Dagny", "id": 5, "avatar_url": "https://example.org/a.png"}
    assert issue.metadata["number"] == 103
    assert issue.metadata["left_out"] == {"fields": 4}  # ids and colours of labels


@pytest.mark.parametrize(
    ("value", "media_type", "expected"),
    [
        ({"total": 3, "data": {"nodes": KEYED}}, media.JSON, each("{number}")),
        (LINES, media.JSON_LINES, each("{number}")),
        (LINES, media.JSON, each("{number}")),
        ("\ufeff" + json.dumps(KEYED)[:-1] + ", ]", media.JSON, each("{number}")),
        (json.dumps(KEYED).encode("utf-16"), media.JSON, each("{number}")),
        ({f"L-{lamp['id']}": {"name": "Lamp", "text": lamp["text"]} for lamp in KEYED}, media.JSON, each("L-{number}")),
        (
            [{"key": f"P-{n}", "fields": {"summary": s, "status": {"name": "Open"}}} for n, s in enumerate(SENTENCES)],
            media.JSON,
            each("P-{number}"),
        ),
        ([{"_id": {"$oid": f"5f{n}"}, "note": s} for n, s in enumerate(SENTENCES)], media.JSON, each("5f{number}")),
        (table("Ticketnummer;Betreff", *each("T{number};{sentence}")), media.CSV, each("T{number}")),
        (
            table(
                "question,answer",
                "Why?,Because the tide turns twice a day.",
                "Who?,The keeper of the lock has all keys.",
            ),
            media.CSV,
            ["1", "2"],
        ),
        (
            table("sku,name,price", *each("A-{number},Rope number {number},{number}.50", SENTENCES * 2)),
            media.CSV,
            each("A-{number}", SENTENCES * 2),
        ),
        (
            table("Harbour office;;", "Export of March;;", ";;", "Nr;Remark;x", *each("{number};{sentence};1")),
            media.CSV,
            each("{number}"),
        ),
        ("".join(each("- id: {number}\n  text: {sentence}\n")), media.YAML, each("{number}")),
        (
            "<posts>" + "".join(each('<row Id="{number}" Body="&lt;p&gt;{sentence}&lt;/p&gt;"/>')) + "</posts>",
            media.XML,
            each("{number}"),
        ),
        (
            [{"content": s, "metadata": {"url": f"https://example.org/{n}"}} for n, s in enumerate(SENTENCES * 2)],
            media.JSON,
            each("{number}", [""] + SENTENCES * 2)[1:],
        ),
        ([{"note": s, "url": f"https://x.org/{n}"} for n, s in enumerate(SENTENCES)], media.JSON, URLS),
        (f"<all><list>{TICKETS}</list></all>", media.XML, each("T-{number}")),
        (f"<en-export>{''.join(each(NOTE))}</en-export>", media.XML, ["1", "2", "3"]),
        (f"<rss><channel>{'<category>Sea</category>' * 9}{POST}</channel></rss>", media.XML, ["PIER-1"]),
        (
            f"<rss><channel><title>Sea</title><description>&lt;p&gt;News&lt;/p&gt;</description>{ITEMS}</channel></rss>",
            media.XML,
            ["0", "1", "2"],
        ),
    ],
)
def test_records_have_their_keys_as_names(value: object, media_type: str, expected: list[str]) -> None:
    """By the field that is called so, the name in the file, or else their number; however the file wraps them."""
    assert names(read(value, media_type)) == expected


@pytest.mark.parametrize(
    ("value", "media_type"),
    [
        ({"name": "harbour", "version": "1.0", "dependencies": {"ropes": "^2"}}, media.JSON),
        ({"lockfileVersion": 3, "packages": KEYED}, media.JSON),
        ({"openapi": "3.1.0", "tags": KEYED}, media.JSON),
        ({"type": "FeatureCollection", "features": KEYED}, media.JSON),
        ([[1, 2], [3, 4]], media.JSON),
        ({"de": {"title": "Hafen", "hint": SENTENCES[0]}, "en": {"title": "Port", "hint": SENTENCES[1]}}, media.JSON),
        ([{"id": f"b{n}", "de": s, "en": s} for n, s in enumerate(SENTENCES)], media.JSON),
        ([{"id": n, "value": n * 1.5, "unit": "m"} for n in range(20)], media.JSON),
        (table("id,time,station,m", *(f"{n},2026-01-01T00:{n:02},Mole,{n}.5" for n in range(20))), media.CSV),
        (table("Ship,Captain,Toll", *(f"Ship {n},Captain {n},{n}0" for n in range(20))), media.CSV),
        (
            "\n".join(f'{{"ts": "2026-01-01T00:00:{n:02}", "msg": "Worker {n} began."}}' for n in range(9)),
            media.JSON_LINES,
        ),
        (
            "- name: Install the pump\n  apt: {name: pump}\n- name: Start the pump\n  service: {name: pump}\n",
            media.YAML,
        ),
        (f"<book>{CHAPTERS}</book>", media.XML),
        (
            "<root>" + "".join(each('<data name="a{number}"><value>Shut &lt;br/&gt; it</value></data>')) + "</root>",
            media.XML,
        ),
        (SENTENCES, media.JSON),
        (
            [{"name": s[4:8], "description": s, "columns": [{"name": "id"}]} for n, s in enumerate(SENTENCES)],
            media.JSON,
        ),
        ("<font>" + "".join(each("<glyph unicode='U+{number}' name='{sentence}'/>")) + "</font>", media.XML),
        ({"title": "Tides", "status": "draft", "rules": KEYED}, media.JSON),
        ({"id": "SPEC-1", "body": "long " * 400, "steps": KEYED}, media.JSON),
    ],
)
def test_one_thing_is_one_document(value: object, media_type: str) -> None:
    """Its shape says so: no key or no texts, the mark of a format, a description of the whole, other things in it."""
    assert names(read(value, media_type)) == []


def test_the_setting_overrules_the_judge() -> None:
    numbers = [{"id": 1, "value": 2.5}]
    assert names(read(numbers, records="always")) == ["1"]
    whole = read(ISSUES, records="never")
    assert names(whole) == []
    assert "Winch 101 slips" in whole.markdown


def test_another_order_of_records_changes_none_of_them() -> None:
    """Also where two have the same key: which of them has the number depends on what they hold."""
    twice = [*KEYED, {"id": "1", "text": "The second of this number lies in the basin."}]
    kept = {part.name: part.sha256 for part in read(twice).attachments}
    assert set(kept) == {"0", "1", "1 (2)", "2"}
    assert {part.name: part.sha256 for part in read(twice[::-1]).attachments} == kept


def test_keys_of_any_kind_are_names() -> None:
    """With slashes, dots, control characters, as long as they are, or none at all."""
    keys: list[JsonValue] = ["a/b", "..", "é\u0000 ü", "x" * 5000, None]
    held = [{"id": key, "text": f"{SENTENCES[0]} And so is number {number}."} for number, key in enumerate(keys)]
    others = ({"id": 90 + number, "text": f"{SENTENCES[1]} It is number {number}."} for number in range(20))
    found = names(read([*held, *others]))
    assert found[:3] == ["a/b", "..", "é ü"]
    assert len(found[3]) < 300
    assert found[4] == "5"


def test_lines_that_cannot_be_read_are_named_and_counted() -> None:
    lines = LINES.split("\n")
    document = read("\n".join([lines[0], '{"id": 8, "text":', *lines[1:]]), media.JSON_LINES)
    assert names(document) == ["0", "1", "2"]
    assert "Lines that cannot be read: 2." in document.markdown
    assert document.metadata["left_out"] == {"records": 1}


def test_records_behind_the_limit_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sourcebook.parsing.records.read_records.MOST_RECORDS", 2)
    document = read(KEYED)
    assert names(document) == ["0", "1"]
    assert document.metadata["left_out"] == {"records": 1}


def test_a_file_above_the_limit_is_one_document(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 50)
    assert names(read(KEYED)) == []


def test_what_stands_beside_the_records_is_in_the_text_of_the_file() -> None:
    document = read({"exported": "2026-03-04", "items": [*KEYED, "a stray line"]})
    assert names(document) == ["0", "1", "2"]
    assert "2026-03-04" in document.markdown
    assert "a stray line" in document.markdown


def test_a_record_is_read_again_by_its_number() -> None:
    """As a download and a retry do."""
    content = json.dumps(KEYED).encode()
    attachments = read(content).attachments
    assert record_content(content, media_type=media.JSON, number=2) == attachments[2].content


def test_values_that_json_does_not_have_are_left_out() -> None:
    document = read(
        '[{"id": 1, "text": "The lamp is dark tonight.", "depth": NaN}, {"id": 2, "text": "It burns again now.", '
        '"id2": 1e999, "twice": 1, "twice": 2}]'
    )
    assert "depth" not in record(document, "1").metadata
    assert record(document, "2").metadata["twice"] == [1, 2]


def test_a_number_of_a_table_filters_as_one() -> None:
    """And is written as the table has it."""
    text = "sku,name,price,note\n" + "".join(f"A-{n},Rope {n},{n}.50,{s}\n" for n, s in enumerate(SENTENCES))
    rope = record(read(text, media.CSV, name="ropes.csv"), "A-2", file="ropes.csv")
    assert rope.metadata["price"] == 2.5
    assert "- price: 2.50" in rope.markdown


def test_markup_in_a_field_is_read_as_a_page_is() -> None:
    """That of remarks, too; the text of an element with attributes is its name, and a packed file is counted."""
    held = [
        {"id": n, "title": f"Lamp {n}", "body": f"<p>{s}</p><ul><li>one</li></ul>"} for n, s in enumerate(SENTENCES)
    ]
    text = record(read(held), "0").markdown
    assert SENTENCES[0] in text
    assert "<p>" not in text
    post = record(read(POST.join(["<rss><channel>", "</channel></rss>"]), media.XML), "PIER-1")
    assert [words for words in ("- key: PIER-1", "It slips.", "Grease helps.") if words not in post.markdown] == []
    assert "iVBOR" not in post.markdown
    assert post.metadata["left_out"] == {"fields": 1}


@pytest.mark.parametrize("media_type", sorted(DESCRIBED))
def test_the_fields_at_the_top_describe_one_thing(media_type: str) -> None:
    """As those of front matter do."""
    document = read(DESCRIBED[media_type], media_type, name="gate.data")
    assert document.title == "Tide gate"
    assert document.metadata == {
        "title": "Tide gate",
        "id": "SPEC-0007",
        "status": "accepted",
        "date": "2026-03-04",
        "type": "spec",
        "tags": ["tides"],
        "requires": "SPEC-0003",
        "encoding": document.metadata["encoding"],
    }
    assert "SPEC-0003" in document.markdown


def test_the_texts_of_a_program_describe_nothing() -> None:
    words = {"title": "Willkommen", "id": "Ihre Nummer", "status": "Zustand", "save": "Speichern"}
    assert read(words, name="de.json").title is None

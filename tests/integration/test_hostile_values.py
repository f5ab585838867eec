"""Files full of values that databases, indexes and JSON have no room for: none stops the collection."""

import io
import json
import math
import random
import sqlite3
import zipfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

import psycopg
from psycopg import Connection, sql
from psycopg.types.json import Jsonb

from sourcebook.database.refusals import write_in_halves
from sourcebook.parsing.storable_content import LONGEST_TITLE, REPLACED
from tests.integration.stages import Stages

_RANDOM = random.Random(41)
LONG = "".join(_RANDOM.choices("abcdefghijklmnopqrstuvwxyz0123456789", k=3_000))
"""Text that no compression brings below the limit of an index."""
HANGUL = "".join(map(chr, _RANDOM.choices(range(0xAC00, 0xD7A4), k=2_000)))


def _front_matter(*lines: str) -> str:
    return "\n".join(["---", *lines, "---", "# Hostile", "", "Some flag."])


def _mail() -> bytes:
    return (
        b"From: =?utf-8?q?A=00nn?= <a@example.org>\r\nSubject: =?utf-8?q?Nul_=00_and_=ED=A0=80_half?=\r\n"
        b"Date: Mon, 01 Jan 0000 00:00:00 +9999\r\nMIME-Version: 1.0\r\n"
        b'Content-Type: multipart/mixed; boundary="b"\r\n\r\n'
        b"--b\r\nContent-Type: text/plain\r\n\r\nA flag\x00 flies.\r\n"
        b'--b\r\nContent-Type: text/plain; name="=?utf-8?q?n=00ul.txt?="\r\n'
        b'Content-Disposition: attachment; filename="=?utf-8?q?n=00ul.txt?="\r\n\r\nattached flag\r\n--b--\r\n'
    )


def _archive() -> bytes:
    kept = io.BytesIO()
    with zipfile.ZipFile(kept, "w") as archive:
        archive.writestr("deep/" * 150 + "flag.md", "A flag in the depth.")
        archive.writestr("名" * 900 + ".md", "A flag of a long name.")
        archive.writestr("fine.md", "A fine flag.")
    return kept.getvalue()


def _sqlite(folder: Path) -> bytes:
    path = folder / "hostile.db"
    with sqlite3.connect(path) as connection:
        connection.execute('CREATE TABLE "na\u202eme" ("a" TEXT, "b" REAL)')
        connection.execute('INSERT INTO "na\u202eme" VALUES (?, ?)', ("nul \0 flag", float("inf")))
        connection.execute("INSERT INTO \"na\u202eme\" VALUES (CAST(x'eda080' AS TEXT), 1e308)")
    connection.close()
    return path.read_bytes()


def hostile_files(folder: Path) -> dict[str, bytes]:
    """Return the files by name."""
    notebook = {
        "cells": [
            {"cell_type": "markdown", "source": ["# Nul \0 and \ud800 half\n", "flag"], "metadata": {}},
            {
                "cell_type": "code",
                "source": "print(1)",
                "metadata": {},
                "execution_count": 10**30,
                "outputs": [{"output_type": "stream", "text": "\0\udc00 flag"}],
            },
        ],
        "metadata": {"title": "\0\ud800", "kernelspec": {"language": "py\0thon"}, "big": 10**400},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    texts = {
        "numbers.md": _front_matter(
            "a: 1e400", "b: .inf", "c: .nan", f"d: {10**400}", f"e: 0x{'f' * 6000}", "f: -0.0", "g: 9223372036854775808"
        ),
        "characters.md": _front_matter(
            r'a: "\0"',
            r'b: "\uD800"',
            r'title: "x\0y\uDFFFz"',
            r'tags: ["\0", "a\uD83D"]',
            '"\\0key": 1',
            "c: \ufffe\uffff",
            "d: \u202eevil\u2066",
        ),
        "late.md": _front_matter("date: '9999-12-31T23:59:59-15:59'"),
        "early.md": _front_matter("date: '0001-01-01T00:00:00+15:59'"),
        "dates.md": _front_matter("date: '0000-01-01'", "published: '10000-01-01'", "sent: '294277-01-01'"),
        "deep.md": _front_matter("deep: " + "[" * 400 + "]" * 400),
        "deeper.md": _front_matter("deep: " + "[" * 3000 + "]" * 3000),
        "tags.md": _front_matter(
            f"tags: [{LONG}, ok]",
            f"id: {LONG}",
            f"aliases: [{LONG}, '{'x' * 50_000}']",
            f"supersedes: {LONG}",
            f"keywords: '{LONG}, {LONG[::-1]}'",
        ),
        "title.md": f"# {LONG}\n\nA flag.",
        "headings.md": "\n\n".join(f"{'#' * level} {level}{LONG[:2500]}" for level in range(1, 7)) + "\n\nA flag.",
        "anchors.md": f"[a](#{LONG}) [b](https://example.org/{LONG}) [c]({LONG}.md) <a id='{LONG}'></a>\n\nA flag.",
        "word.txt": "flag " + "x" * 50_000,
        "words.txt": "flag " + " ".join(LONG[i : i + 2040] for i in range(0, 900, 60)),
        "hangul.txt": "flag " + HANGUL,
        "noncharacters.txt": "flag \ufffe \uffff \U0001fffe \U0010ffff \u202e\u2066 \ufeff " * 50,
        "nul.csv": "a,b\nflag\0,1e400\n" + "x" * 5_000 + ",NaN\n",
        "data.json": json.dumps({"flag": "nul \0 half \ud800", "big": 10**400, "deep": 1}),
        "deep.json": "[" * 2000 + '"flag"' + "]" * 2000,
        "page.html": f"<title>&#0;&#xD800;{LONG}</title><meta name=keywords content='{LONG}'>"
        f"<h1 id='{LONG}'>&#0; flag</h1><p>flag &#xD800;\0</p>",
        "cues.vtt": "WEBVTT\n\n99999999:00:00.000 --> 99999999999:00:00.000\nA flag \0 flies\n",
        "events.ics": "BEGIN:VCALENDAR\nBEGIN:VEVENT\nSUMMARY:flag \0\nDTSTART:00000101T000000Z\nDTEND:999991231\n"
        "END:VEVENT\nEND:VCALENDAR\n",
        "people.vcf": "BEGIN:VCARD\nVERSION:4.0\nFN:Flag \0 Bearer\nNOTE:" + LONG + "\nEND:VCARD\n",
        "toml.md": '+++\ntitle = "\\u0000"\nbig = 9223372036854775807\nnan = nan\ninf = -inf\n+++\nA flag.',
        "a.rst": f":title: {LONG}\n\n{'=' * 10}\nFlag \0\n{'=' * 10}\n\nflag",
        "a.org": f"#+TITLE: {LONG}\n* flag \0",
        "a.adoc": f"= {LONG}\n:keywords: {LONG}\n\nflag \0",
    }
    return {name: text.encode("utf-8", "surrogatepass") for name, text in texts.items()} | {
        "cell.rtf": rb"{\rtf1\ansi{\info{\title T\u0 ?\u-10240 ?}} \trowd\cellx1000 \u0 ?Flag\cell\row\pard x\par}",
        "mail.eml": _mail(),
        "files.zip": _archive(),
        "hostile.sqlite": _sqlite(folder),
        "notebook.ipynb": json.dumps(notebook).encode(),
    }


def test_no_value_of_a_file_stops_the_collection(stages: Stages, tmp_path: Path) -> None:
    """Each file is searchable, or fails alone; what was replaced is said, and no value of one ends a later listing."""
    stages.write("first.md", "The flagship is green.")
    files = hostile_files(tmp_path)
    for name, content in files.items():
        stages.write(name, content)
    stages.write("zlast.md", "The flagship is white.")
    stages.configure()
    (failure,) = stages.run()["documents"].failures
    assert "files.zip/" in failure.uri
    assert "shorten the names of its folders" in failure.reason
    assert stages.found("flagship") == {"first.md", "zlast.md"}
    states = {Path(row["uri"]).name: row["state"] for row in stages.rows("SELECT uri, state FROM item")}
    assert {name: states[name] for name in files} == dict.fromkeys(files, "ready")
    assert not stages.pending().work
    stages.assert_sound()
    for row in stages.rows("SELECT title, metadata, tags, dated_at FROM document"):
        json.dumps([row["title"], row["metadata"], row["tags"]], allow_nan=False).encode()
        assert len(row["title"]) <= LONGEST_TITLE
        assert all(len(tag) < len(LONG) for tag in row["tags"])
    assert stages.document("cell.rtf")["metadata"][REPLACED] == 1
    assert stages.document("numbers.md")["metadata"]["g"] == 2**63
    assert stages.document("numbers.md")["metadata"]["b"] == "inf"
    assert {Path(item.uri).name for item in stages.knowledge.documents(limit=100)} >= {*files}
    assert not stages.search("flag", filters={"date": {"gte": "2100-01-01"}})


def _nested(depth: int) -> list[Any]:
    nested: list[Any] = []
    for _ in range(depth):
        nested = [nested]
    return nested


HOSTILE: dict[str, list[Any]] = {
    "text": ["\0", "\ud800", LONG, "\ufffe\uffff\u202e", "x" * 1_000_000],
    "jsonb": [Jsonb({"a": value}) for value in ("\0", "\ud800", math.nan, math.inf, 10**4000, LONG)]
    + [Jsonb(_nested(900)), Jsonb(_nested(100_000)), '{"a": 1e400000}', "[" * 50_000],
    "bytea": [LONG.encode()],
    "boolean": ["maybe"],
    "smallint": [2**15, -(2**63)],
    "integer": [2**31, 10**400],
    "bigint": [2**63, 10**400],
    "real": [1e308, "1e400"],
    "double precision": ["1e400", 10**400],
    "numeric": ["1e400000"],
    "timestamp with time zone": ["294277-01-01", "0000-01-01", "infinity "],
    "halfvec": ["[1e9]", "[NaN]", "[]"],
    "sparsevec": ["{1:NaN}/3", "{1:1e40}/3"],
    "uuid": ["\0", "flag"],
    "date": ["0000-01-01", "6000000-01-01"],
    "tsvector": ["'" + "x" * 2_047 + "'", " ".join(f"{LONG[:1900]}{number}" for number in range(600))],
}
"""Values of each type of the catalog that a column may not hold."""


def test_whatever_a_column_refuses_is_a_refusal_of_that_value_alone(stages: Stages) -> None:
    """The columns are those of the catalog: one of a new type needs its hostile values here."""
    stages.write("a.md", "---\ntags: [a]\n---\n# A\n\nThe [flag](b.md) is green.")
    stages.configure()
    stages.run()
    columns = stages.rows(
        "SELECT attrelid::regclass::text AS name, attname AS column, format_type(atttypid, NULL) AS kind "
        "FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid "
        "WHERE relnamespace = 'sourcebook'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition "
        "AND attnum > 0 AND NOT attisdropped AND attgenerated = '' AND attidentity = ''"
    )
    refused: Counter[str] = Counter()
    with stages.connection() as connection:
        for column in columns:
            kind, is_array, _ = column["kind"].partition("[]")
            for value in [[held] if is_array else held for held in HOSTILE[kind]]:
                with suppress(psycopg.errors.ForeignKeyViolation), connection.transaction(force_rollback=True):
                    write = partial(_put, connection, column)
                    found = write_in_halves(connection, [None, value, None], write)[1]
                    assert [each for each, _ in found] in ([], [value]), column
                    refused[kind] += len(found)
    assert refused.keys() == HOSTILE.keys()
    assert min(refused.values()) > 0, refused


def _put(connection: Connection, column: dict[str, str], values: Sequence[Any]) -> None:
    """Set a column of some row to each value; None leaves it as it is."""
    name, table = sql.Identifier(column["column"]), sql.SQL(column["name"])
    for value in values:
        statement = sql.SQL(
            "UPDATE {} SET {} = coalesce(%s::{}, {}) WHERE ctid = (SELECT ctid FROM {} LIMIT 1)"
        ).format(table, name, sql.SQL(column["kind"]), name, table)
        connection.execute(statement, [value])

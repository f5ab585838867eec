"""Small files of formats of which the examples have none, drawn by the tests."""

import gzip
import io
import json
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path

import xlwt  # type: ignore[import-untyped] # has no types

from tests.unit.parsing.archives.archive_writer import tarred, zipped
from tests.unit.parsing.drawn_pictures import drawn_pictures

_FILES = Path(__file__).parent / "files"
CAPTIONS = """WEBVTT - The lock keeper

NOTE recorded on the towpath

STYLE
::cue { color: white }

gates
00:00:01.000 --> 00:00:04.500 align:start position:0%
<v Ada>The upper gates are <i>never</i> opened &amp; never tried

00:04.500 --> 00:07.000
before the paddles are down.

00:00:12.250 --> 00:00:15.000
<v Ben>And who closes them?
"""
SUBTITLES = """1
00:00:01,000 --> 00:00:04,500
The upper gates are <i>never</i> opened
before the paddles are down.

2
00:00:04,500 --> 00:00:07,000
{\\an8}42

3
01:02:03,250 --> 01:02:05,000
Good night.
"""


MANUAL = """Lock manual
===========

:Author: Ada Byron
:Date: 2024-05-01
:Keywords: locks, safety

.. contents::

Gates
-----

Never open the *upper* gates before the ``paddles`` are down [1]_, see
:func:`~lock.gates.open_all` and :ref:`the rules <rules>`.

.. versionadded:: 3.2
   Gates may be opened at night.

.. warning:: Mind the sill.

.. code-block:: python
   :linenos:

   gate.open()

.. list-table:: Levels
   :header-rows: 1

   * - day
     - cm
   * - Monday
     - 212

.. py:function:: close(gate, slowly=True)

   Close a gate.

.. [1] By statute.

.. a comment
"""


MAILBOX = """From ada@example.org Mon Jan  1 09:00:00 2024
From: Ada Byron <ada@example.org>
To: Ben <ben@example.org>
Subject: The upper gates
Date: Mon, 01 Jan 2024 09:00:00 +0000
Content-Type: text/plain; charset=utf-8

Who opens the upper gates at night?

>From tomorrow on it is you.
From habit, nobody asks.

From ben@example.org Tue Jan  2 10:30:00 2024
From: Ben <ben@example.org>
Subject: Re: The upper gates
Date: Tue, 02 Jan 2024 10:30:00 +0000
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="sep"

--sep
Content-Type: text/html; charset=utf-8

<h2>Rota</h2><p>I do, on <b>Mondays</b>.</p>
--sep
Content-Type: application/pdf
Content-Disposition: attachment; filename="rota.pdf"
Content-Transfer-Encoding: base64

JVBERi0xLjQKJeLjz9MK
--sep--
"""
SAVED_PAGE = """From: <Saved by Blink>
Snapshot-Content-Location: https://example.org/locks/gates
Subject: Gates
Date: Mon, 1 Jan 2024 09:00:00 +0000
MIME-Version: 1.0
Content-Type: multipart/related; type="text/html"; boundary="----sep"

------sep
Content-Type: text/css
Content-Location: https://example.org/style.css

body { color: red }
------sep
Content-Type: text/html; charset=utf-8
Content-Transfer-Encoding: quoted-printable
Content-Location: https://example.org/locks/gates

<html lang=3D"en"><head><title>Gates =E2=80=93 Locks</title></head><body>
<h1 id=3D"gates">Gates</h1><p>Never open the <a href=3D"upper">upper gates</a> be=
fore the paddles.</p><img src=3D"cid:lock"></body></html>
------sep
Content-Type: image/png
Content-Transfer-Encoding: base64
Content-Location: https://example.org/lock.png

iVBORw0KGgoAAAANSUhEUgAA
------sep--
"""


EVENTS = """BEGIN:VCALENDAR
VERSION:2.0
X-WR-CALNAME:Lock duties
BEGIN:VTIMEZONE
TZID:Europe/Berlin
END:VTIMEZONE
BEGIN:VEVENT
UID:1@example.org
DTSTART;TZID=Europe/Berlin:20240501T140000
DTEND;TZID=Europe/Berlin:20240501T153000
SUMMARY:Grease the gates\\, both of them
LOCATION:Lock 7
RRULE:FREQ=MONTHLY
ORGANIZER;CN="Byron, Ada":mailto:ada@example.org
ATTENDEE;CN=Ben:MAILTO:ben@example.org
DESCRIPTION:Bring the grease.\\n\\nNobody opens the upper gates before the
  paddles are down.
ATTACH;ENCODING=BASE64;VALUE=BINARY:iVBORw0KGgoAAAANSUhEUgAA
BEGIN:VALARM
DESCRIPTION:Ring
END:VALARM
END:VEVENT
BEGIN:VTODO
SUMMARY:Paint
DUE;VALUE=DATE:20240601
END:VTODO
END:VCALENDAR
"""
CARDS = """BEGIN:VCARD
VERSION:3.0
FN:Ada Byron
N:Byron;Ada;;;
ORG:Lock Board;Gates
TITLE:Keeper
EMAIL;TYPE=WORK:ada@example.org
item1.TEL;TYPE="cell,home":+49 30 1234
ADR;TYPE=HOME:;;Quay 1;Berlin;;10115;Germany
PHOTO;ENCODING=b;TYPE=PNG:iVBORw0KGgoAAAANSUhEUgAA
NOTE:Speaks Dutch\\, and swims.
END:VCARD
BEGIN:VCARD
VERSION:2.1
N;CHARSET=UTF-8;ENCODING=QUOTED-PRINTABLE:M=C3=BCller;J=C3=BCr=
gen
TEL;WORK;FAX:555
END:VCARD
"""


ASCIIDOC = """= Lock manual
Ada Byron <ada@example.org>
:keywords: locks, safety

== Gates
Never open the *upper* gates before the `paddles` are down.

. Close the paddles
. Wait

[cols="1,1",options="header"]
|===
|day |cm
|Monday |212
|===
"""
LATEX = r"""\documentclass{article}
\title{Lock manual}\author{Ada Byron}
\begin{document}\maketitle
\section{Gates}\label{gates}
Never open the \emph{upper} gates before the paddles are down: $h < 2\,m$.
\begin{itemize}\item Close the paddles \item Wait\end{itemize}
\begin{tabular}{lr}day & cm \\ Monday & 212\end{tabular}
\end{document}
"""
DRAWING = """<?xml version="1.0"?>
<svg xmlns="http://www.w3.org/2000/svg" width="200" height="100"><title>Lock 7</title>
<desc>The lock from above.</desc><g><text x="10" y="20">Upper <tspan>gates</tspan></text>
<text x="10" y="60">Paddles</text></g></svg>
"""
RECORDS = """{"day": "Monday", "cm": 212, "note": "gates closed"}
{"day": "Tuesday", "cm": 215, "note": null}
"""


def notebook(*cells: dict[str, object], **metadata: object) -> bytes:
    """Return a notebook of format 4 with cells and the metadata of the notebook."""
    described: dict[str, object] = {"language_info": {"name": "python"}, **metadata}
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": described, "cells": cells}, indent=1).encode()


def markdown_cell(*lines: str) -> dict[str, object]:
    return {"cell_type": "markdown", "metadata": {}, "source": list(lines)}


def code_cell(source: str, *outputs: dict[str, object]) -> dict[str, object]:
    return {"cell_type": "code", "metadata": {}, "execution_count": 1, "source": source, "outputs": list(outputs)}


def water_levels() -> bytes:
    """Return a notebook with prose, code, a printed text, a table, a picture and an error."""
    picture = "iVBORw0KGgoAAAANSUhEUgAA" * 40
    table = "<table><tr><th>day</th><th>cm</th></tr><tr><td>Monday</td><td>212</td></tr></table>"
    return notebook(
        markdown_cell("# Water levels\n", "\n", f"Measured at the weir. ![gauge](data:image/png;base64,{picture})"),
        code_cell(
            "levels = read('weir.csv')\nprint(len(levels))",
            {
                "output_type": "stream",
                "name": "stdout",
                "text": ["reading 10 %\r", "reading 100 %\n", "\x1b[32m365\x1b[0m\n"],
            },
        ),
        markdown_cell("## By day\n"),
        code_cell(
            "levels.head(1)", {"output_type": "execute_result", "data": {"text/html": table, "text/plain": "day cm"}}
        ),
        code_cell(
            "levels.plot()",
            {"output_type": "display_data", "data": {"image/png": picture, "text/plain": "<Figure size 640x480>"}},
        ),
        code_cell(
            "1 / 0",
            {"output_type": "error", "ename": "ZeroDivisionError", "evalue": "division by zero", "traceback": []},
        ),
        kernelspec={"name": "python3", "language": "python"},
        authors=[{"name": "Ada Byron"}],
    )


def levels_database() -> bytes:
    """Return a SQLite database of two tables and an index."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(
            "CREATE TABLE gate (id INTEGER PRIMARY KEY, name TEXT NOT NULL); CREATE INDEX named ON gate (name);"
            "CREATE TABLE level (gate REFERENCES gate (id), cm)"
        )
        connection.executemany("INSERT INTO gate VALUES (?, ?)", [(n, f"gate {n} of the lock") for n in range(300)])
        connection.executemany("INSERT INTO level VALUES (?, ?)", [(n % 300, 200 + n) for n in range(300)])
        connection.commit()
        return connection.serialize()


def levels_parquet() -> bytes:
    """Return a Parquet file of two columns."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    packed = io.BytesIO()
    pq.write_table(pa.table({"day": [f"day {n}" for n in range(300)], "cm": list(range(300))}), packed)
    return packed.getvalue()


@cache
def drawn_files() -> dict[str, bytes]:
    """Return one sound file of each format that `files/` has not, by its name."""
    written = {name: (_FILES / name).read_bytes() for name in ("lock.org", "lock.dbk", "lock.fb2")}
    drawing = "<svg>" + "<text>Never open the upper gates</text>" * 20 + "</svg>"
    return {
        "lock.zip": zipped({**written, "inner.tgz": tarred(written, kind="gz")}),
        "lock.tar": tarred({**written, "inner.zip": zipped(written)}),
        "lock.tar.xz": tarred(written, kind="xz"),
        "levels.sqlite": levels_database(),
        "levels.parquet": levels_parquet(),
        "lock.svgz": gzip.compress(drawing.encode(), mtime=0),
        "levels.ipynb": water_levels(),
        "duties.ics": EVENTS.encode(),
        "keepers.vcf": CARDS.encode(),
        "gates.mbox": MAILBOX.encode(),
        "gates.mhtml": SAVED_PAGE.replace("\n", "\r\n").encode(),
        "lock.rst": MANUAL.encode(),
        "lock.srt": SUBTITLES.encode(),
        "lock.vtt": CAPTIONS.encode(),
        "lock.adoc": ASCIIDOC.encode(),
        "lock.tex": LATEX.encode(),
        "lock.svg": DRAWING.encode(),
        "levels.jsonl": RECORDS.encode(),
        "levels.xls": workbook(),
        **drawn_pictures(),
    }


def workbook() -> bytes:
    """Return a workbook of Excel 97."""
    book = xlwt.Workbook()
    sheet = book.add_sheet("Levels")
    for row, cells in enumerate((("day", "cm"), ("Monday", 212), ("Tuesday", 215))):
        for column, cell in enumerate(cells):
            sheet.write(row, column, cell)
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()

"""An export of many issues in one JSON file against as many Markdown files: the first ingest, and one edit."""

import json
import os
import random
import re
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil

from benchmarks.corpora.markdown_files import write_corpus
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import Ingest, Library
from benchmarks.harness.report import Row, say

_BYTES = 600
"""Bytes of the text of an issue."""
_SETTLED_SECONDS = 60
_TITLE = re.compile(r"# (.+)")


def run(bench: Bench) -> list[Row]:
    """Take in the same issues both ways, then change a sentence of one, then put the export in another order."""
    number = bench.options.number
    files, export = bench.library("markdown-issues"), bench.library("export")
    write_corpus(files.files, number, size=_BYTES)
    issues = [_issue(place, path) for place, path in enumerate(files.paths(), start=1)]
    for path, issue in zip(files.paths(), issues, strict=True):
        path.write_text(_front_matter(issue), encoding="utf-8")
    _write(export, issues)
    each = {name: ingest_with_server(library, name) for name, library in (("files", files), ("export", export))}
    assert each["export"][0].counts["documents"]["added"] == number + 1, each["export"][0].counts
    path = files.paths()[number // 2]
    path.write_text(path.read_text(encoding="utf-8") + "\nThe gauge was moved that winter.\n", encoding="utf-8")
    _settle(path)
    issues[number // 2]["body"] += "\nThe gauge was moved that winter.\n"
    _write(export, issues)
    edited = {
        name: ingest_with_server(library, f"{name}, one edit")
        for name, library in (("files", files), ("export", export))
    }
    random.Random(1).shuffle(issues)
    _write(export, issues)
    sorted_anew = ingest_with_server(export, "export, in another order")
    cold = each["export"][1] / each["files"][1]
    return [
        Row(f"a record of {number:,} against a Markdown file, processor time of the first ingest", cold, "×", 3),
        Row("of the files, a file", 1000 * each["files"][1] / number, "ms"),
        Row("of the export, a record", 1000 * each["export"][1] / number, "ms"),
        Row("one Markdown file edited, processor time", edited["files"][1], "s"),
        Row("one record edited, processor time", edited["export"][1], "s"),
        Row("one record edited, texts embedded", edited["export"][0].computed, "texts", 2),
        Row("in another order, texts embedded", sorted_anew[0].computed, "texts", 0),
        Row("in another order, documents changed", _changed(sorted_anew[0]), "documents", 1, "the file itself"),
    ]


def _changed(done: Ingest) -> float:
    counts = done.counts["documents"]
    return float(counts["changed"] + counts["added"] + counts["removed"])


def _issue(place: int, path: Path) -> dict[str, Any]:
    text = path.read_text(encoding="utf-8")
    found = _TITLE.match(text)
    return {
        "number": place,
        "title": f"{found[1] if found else 'Issue'} {place}",
        "state": "open" if place % 3 else "closed",
        "user": {"login": f"keeper{place % 50}", "id": place % 50},
        "labels": [{"id": 1, "name": "tides"}, {"id": 2, "name": f"quay {place % 9}"}],
        "created_at": f"2026-{place % 12 + 1:02d}-{place % 28 + 1:02d}T10:00:00Z",
        "body": text[found.end() :].strip() if found else text,
    }


def _front_matter(issue: dict[str, Any]) -> str:
    facts = "\n".join(f"{name}: {json.dumps(value)}" for name, value in issue.items() if name != "body")
    return f"---\n{facts}\n---\n\n# {issue['title']}\n\n{issue['body']}\n"


def _write(library: Library, issues: list[dict[str, Any]]) -> None:
    path = library.files / "issues.json"
    path.write_text(json.dumps({"issues": issues}, indent=1), encoding="utf-8")
    _settle(path)


def _settle(path: Path) -> None:
    settled = time.time() - _SETTLED_SECONDS
    os.utime(path, (settled, settled))


def ingest_with_server(library: Library, name: str) -> tuple[Ingest, float]:
    """Return an ingest, and the seconds of processor time that it and its database took."""
    with library.database():  # its server keeps running, and its times can be read
        used = _server_seconds(library)
        done = library.ingest()
        database = _server_seconds(library) - used
    processor = done.measurement.processor + database
    seconds = done.measurement.seconds
    say(f"  {name}: {seconds:.1f} s, {processor:.1f} s of processor time, {database:.1f} s of it PostgreSQL")
    say(f"    {json.dumps({stage: counts.get('seconds') for stage, counts in done.counts.items()})}")
    return done, processor


def _server_seconds(library: Library) -> float:
    lines = (library.home / "postgres" / "postmaster.pid").read_text(encoding="utf-8").splitlines()
    postmaster = psutil.Process(int(lines[0]))
    return sum(
        map(_seconds, (lambda: postmaster.cpu_times()[:4], *(child.cpu_times for child in postmaster.children())))
    )


def _seconds(times: Callable[[], tuple[float, ...]]) -> float:
    with suppress(psutil.Error):
        return sum(times()[:4])
    return 0.0

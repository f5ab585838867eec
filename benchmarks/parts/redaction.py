"""Redaction: recall and precision by category, speed, first use, and finds in documents that hold no secrets."""

import hashlib
import json
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from benchmarks.corpora.secret_texts import LabelledText, secret_texts
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import MEGABYTE, Row
from sourcebook.redaction.categories import CATEGORIES
from sourcebook.redaction.finds import Span
from sourcebook.redaction.redactor import Redactor

SHARED_TEXTS: Final = Path(__file__).resolve().parents[3] / "shared/data/redaction/texts.jsonl"
_DOCUMENTS: Final = ("documents", "relations")
_CATEGORIES: Final = {
    "CREDIT_CARD": "card",
    "EMAIL_ADDRESS": "email",
    "IBAN_CODE": "iban",
    "IP_ADDRESS": "ip",
    "PHONE_NUMBER": "phone",
    "US_SSN": "national_id",
}
_LEAST_RECALL: Final = {
    "card": 0.98,
    "iban": 0.98,
    "email": 0.98,
    "ip": 0.98,
    "token": 0.95,
    "private_key": 1.0,
    "phone": 0.85,
}
_LEAST_PRECISION: Final = 0.95
_LEAST_SPEED: Final = 1.0
_LONGEST_FIRST_USE: Final = 200.0
_FIRST_USE: Final = """
import time
started, began = time.perf_counter(), time.process_time()
from sourcebook.redaction.redactor import Redactor
Redactor().redact("Call +49 30 1234567, pay with 4111 1111 1111 1111 or GB82 WEST 1234 5698 7654 32: ana@example.org")
print((time.perf_counter() - started) * 1000, (time.process_time() - began) * 1000)
"""


def run(bench: Bench) -> list[Row]:
    """Redact the labelled texts, and measure."""
    redactor = Redactor(CATEGORIES)
    rows = []
    if SHARED_TEXTS.exists():
        for half in ("report", "work"):
            rows += _scores(
                redactor, list(shared_texts(half)), f"presidio-research, {half} half", bars=half == "report"
            )
        rows += _names()
        rows += _speed(redactor, SHARED_TEXTS.parents[1], bench.options.repeat)
    else:
        rows.append(Row("recall of redaction", None, note=f"there is no {SHARED_TEXTS}"))
    rows += _scores(redactor, list(secret_texts(bench.options.seed + 1)), "invented secrets", bars=True)
    rows.append(_first_use(bench.options.repeat))
    return rows


def _names() -> list[Row]:
    """Return recall and precision of names of persons, which Presidio finds, and its speed in processor time."""
    if find_spec("presidio_analyzer") is None:
        return [Row("recall of names", None, note="the extra names is not installed")]
    redactor, rows = Redactor(["name"]), []
    redactor.spans("Maria Lopez")  # loads the model
    for half in ("report", "work"):
        texts = list(shared_texts(half, {"PERSON": "name"}))
        rows += _scores(redactor, texts, f"presidio-research, {half} half", bars=False)
    size = sum(len(text.text.encode()) for text in texts) / MEGABYTE
    speed = size / _seconds(redactor, [text.text for text in texts])
    return [*rows, Row("MB/s, names in sentences one by one", speed, "share", note=f"{len(texts)} texts")]


def shared_texts(half: str, categories: Mapping[str, str] = _CATEGORIES) -> Iterator[LabelledText]:
    """Yield one half of the shared texts: `work`, which the rules were written by, or `report`."""
    for line in SHARED_TEXTS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        is_work = int(hashlib.sha256(row["text"].encode()).hexdigest(), 16) % 2 == 0
        if is_work == (half == "work"):
            spans = [(start, end, categories[kind]) for start, end, kind in row["spans"] if kind in categories]
            yield LabelledText(row["text"], tuple(spans))


def _scores(redactor: Redactor, texts: list[LabelledText], name: str, *, bars: bool) -> list[Row]:
    """Return recall (spans that are covered whole) and precision (finds that touch a span) of each category."""
    wanted, found, right, wrong = Counter[str](), Counter[str](), Counter[str](), Counter[str]()
    for labelled in texts:
        spans = redactor.spans(labelled.text)
        for start, end, category in labelled.spans:
            wanted[category] += 1
            found[category] += any(span.start <= start and end <= span.end for span in spans)
        for span in spans:
            touches = any(span.start < end and start < span.end for start, end, _ in labelled.spans)
            (right if touches else wrong)[_reported(span)] += 1
    rows = []
    for category, count in sorted(wanted.items()):
        rows.append(
            Row(
                f"recall, {category}, {name}",
                found[category] / count,
                "share",
                _LEAST_RECALL.get(category) if bars else None,
                f"{found[category]} of {count}",
                at_least=True,
            )
        )
    for category in sorted({*wanted, *wrong}):
        finds = right[category] + wrong[category]
        precision = right[category] / finds if finds else 1.0
        bar = _LEAST_PRECISION if bars else None
        rows.append(
            Row(
                f"precision, {category}, {name}",
                precision,
                "share",
                bar,
                f"{wrong[category]} wrong of {finds}",
                at_least=True,
            )
        )
    return rows


def _reported(span: Span) -> str:
    return "ip" if span.category == "private_ip" else span.category


def _speed(redactor: Redactor, data: Path, repeat: int) -> list[Row]:
    texts = [
        path.read_text(encoding="utf-8", errors="replace") for path in _text_files(data / name for name in _DOCUMENTS)
    ]
    size = sum(len(text.encode()) for text in texts) / MEGABYTE
    seconds = min(_seconds(redactor, texts) for _ in range(repeat))
    short = [text.text for half in ("work", "report") for text in shared_texts(half)]
    short_size = sum(len(text.encode()) for text in short) / MEGABYTE
    without_space = "a1" * 5_000_000
    return [
        Row("MB/s, documents", size / seconds, "share", _LEAST_SPEED, f"{size:.1f} MB", at_least=True),
        Row("MB/s, sentences one by one", short_size / _seconds(redactor, short), "share", note=f"{len(short)} texts"),
        Row("10 MB without a space", _seconds(redactor, [without_space]), "s", 10.0),
    ]


def _text_files(folders: Iterable[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(path for path in folder.rglob("*") if path.suffix in {".md", ".rst"})


def _seconds(redactor: Redactor, texts: list[str]) -> float:
    """Return the processor time of redaction in seconds."""
    started = time.process_time()
    for text in texts:
        redactor.spans(text)
    return time.process_time() - started


def _first_use(repeat: int) -> Row:
    times = [
        tuple(
            map(
                float,
                subprocess.run([sys.executable, "-c", _FIRST_USE], capture_output=True, check=True).stdout.split(),
            )
        )
        for _ in range(max(repeat, 1))
    ]
    wall, processor = min(times)
    note = f"least of {len(times)}, {processor:.0f} ms of a processor"
    return Row("first use in a new process", wall, "ms", _LONGEST_FIRST_USE, note)

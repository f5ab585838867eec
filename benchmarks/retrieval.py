"""A retrieval set in BEIR's form: documents, questions, and which documents answer which question."""

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_MODIFIED = 1_750_000_000


@dataclass(frozen=True)
class RetrievalSet:
    """Documents are (title, text) by id, questions are texts by id."""

    documents: dict[str, tuple[str, str]]
    questions: dict[str, str]
    relevant: dict[str, dict[str, int]]
    """Question id → document id → grade."""

    def write(self, folder: Path) -> None:
        """Write each document as Markdown, `<id>.md`, a thousand to a folder."""
        for number, (identity, (title, text)) in enumerate(self.documents.items()):
            path = folder / f"{number // 1000:03}" / f"{identity}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {' '.join(title.split())}\n\n{text}\n", encoding="utf-8")
            os.utime(path, (_MODIFIED, _MODIFIED))


def read_retrieval_set(folder: Path, limit: int | None = None) -> RetrievalSet:
    """Read `corpus.jsonl`, `queries.jsonl` and `qrels.tsv`.

    Args:
        folder: where they lie.
        limit: the most documents; questions without a relevant document among them are left out.
    """
    documents = {
        str(row.get("_id", row.get("id"))): (str(row.get("title", "")), str(row["text"]))
        for row in _rows(folder / "corpus.jsonl")[:limit]
    }
    relevant: dict[str, dict[str, int]] = {}
    for line in (folder / "qrels.tsv").read_text(encoding="utf-8").splitlines():
        question, document, grade = line.split("\t")[:3]
        if grade.isdigit() and int(grade) > 0 and document in documents:
            relevant.setdefault(question, {})[document] = int(grade)
    questions = {
        identity: str(row["text"])
        for row in _rows(folder / "queries.jsonl")
        if (identity := str(row.get("_id", row.get("id")))) in relevant
    }
    return RetrievalSet(documents, questions, relevant)


def ndcg(found: Sequence[str], grades: Mapping[str, int], depth: int = 10) -> float:
    """Return nDCG at a depth, 0..1: the discounted gain (linear, by 1 / log2(rank + 1)) against the best possible."""
    gain = sum(grades.get(document, 0) / math.log2(rank + 1) for rank, document in enumerate(found[:depth], start=1))
    best = sorted(grades.values(), reverse=True)[:depth]
    return gain / sum(grade / math.log2(rank + 1) for rank, grade in enumerate(best, start=1))


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]

"""Judged sets: documents, questions, and the relevant documents of each question; in BEIR's form and in XQuAD's."""

import json
import os
from dataclasses import dataclass
from pathlib import Path

_MODIFIED = 1_750_000_000


@dataclass(frozen=True)
class RetrievalSet:
    """A judged set. Documents are (title, text) by id, questions are texts by id."""

    documents: dict[str, tuple[str, str]]
    questions: dict[str, str]
    relevant: dict[str, dict[str, int]]
    """Question id → document id → grade."""

    def write(self, folder: Path) -> None:
        """Write each document as Markdown, `<id>.md`, a thousand to a folder."""
        for number, (identity, (title, text)) in enumerate(self.documents.items()):
            path = folder / f"{number // 1000:03}" / f"{identity}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            heading = f"# {' '.join(title.split())}\n\n" if title else ""
            path.write_text(f"{heading}{text}\n", encoding="utf-8")
            os.utime(path, (_MODIFIED, _MODIFIED))


def read_retrieval_sets(folder: Path, limit: int | None = None) -> dict[str, RetrievalSet]:
    """Read the sets of a folder, by name: those in BEIR's form, and `xquad-<language>`."""
    sets = {
        path.parent.name: read_retrieval_set(path.parent, limit)
        for path in sorted(folder.glob("*/qrels.tsv"), key=lambda path: path.parent.name, reverse=True)
    }
    return sets | {f"xquad-{path.stem}": read_xquad(path, limit) for path in sorted(folder.glob("xquad/*.json"))}


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


def read_xquad(path: Path, limit: int | None = None) -> RetrievalSet:
    """Read a file in SQuAD's form: each paragraph is a document without a title, which answers its own questions."""
    documents: dict[str, tuple[str, str]] = {}
    questions: dict[str, str] = {}
    relevant: dict[str, dict[str, int]] = {}
    articles = json.loads(path.read_text(encoding="utf-8"))["data"]
    for paragraph in [paragraph for article in articles for paragraph in article["paragraphs"]][:limit]:
        identity = f"paragraph-{len(documents):03}"
        documents[identity] = ("", str(paragraph["context"]))
        for question in paragraph["qas"]:
            questions[question["id"]] = str(question["question"])
            relevant[question["id"]] = {identity: 1}
    return RetrievalSet(documents, questions, relevant)


def _rows(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]

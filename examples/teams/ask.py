"""Ingest the example of a team into a knowledge base of its own, ask its questions, and compare what is found.

    python examples/teams/ask.py software
    python examples/teams/ask.py software --into /tmp/software     # keeps the knowledge base, to look around

Each question of `questions.jsonl` names the document that has to come first, what its passage says, and where it is.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from sourcebook import KnowledgeBase, SearchResult

HERE = Path(__file__).parent
TEAMS = tuple(sorted(each.parent.name for each in HERE.glob("*/questions.jsonl")))
Question = dict[str, Any]


def questions_of(team: str) -> list[Question]:
    """Return the questions of a team with their answers."""
    lines = (HERE / team / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def copy(team: str, into: Path) -> None:
    """Copy a team's example into a new folder, and make what it makes itself."""
    shutil.copytree(HERE / team, into, dirs_exist_ok=True)
    if (into / "prepare.py").exists():
        subprocess.run([sys.executable, into / "prepare.py"], check=True)


def ingest(into: Path) -> Path:
    """Ingest a copied example with the `sourcebook` command, and return its state folder."""
    home = into / "state"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("SOURCEBOOK", "DAGSTER"))}
    environment |= {"SOURCEBOOK_HOME": str(home)}
    subprocess.run([Path(sys.executable).with_name("sourcebook"), "ingest"], cwd=into, env=environment, check=True)
    return home


def fault(knowledge: KnowledgeBase, question: Question) -> str | None:
    """Ask a question, and return what is wrong with the first result; None where it is the right one."""
    principals = question.get("as")
    hits = knowledge.search(question["question"], limit=10, filters=question.get("filters"), as_principals=principals)
    if "hidden" in question:
        seen = [hit.uri for hit in hits if unquote(hit.uri).endswith(question["hidden"])]
        return f"shows {seen[0]} to {principals}" if seen else None
    if not hits:
        return str(hits.why_empty)
    first, found = hits[0], place(hits[0])
    wanted = {name: question[name] for name in ("page", "anchor", "line", "second") if name in question}
    if not unquote(first.uri).endswith(f"/{question['document']}"):
        return f"finds {first.uri}"
    if question["says"] not in first.text:
        return f"finds a passage without {question['says']!r}: {first.text}"
    if not all(is_at(first, name, value) for name, value in wanted.items()):
        return f"finds {found} and not {wanted}"
    if "second_result" in question and not hits[1].uri.endswith(question["second_result"]):
        return f"finds {hits[1].uri} behind it"
    return None


def is_at(hit: SearchResult, name: str, value: Any) -> bool:
    """Tell whether a result is at a page, an anchor, or around a line or a second."""
    if name == "line":
        first, _, last = (hit.anchor or "").replace("L", "").partition("-")
        return first.isdigit() and int(first) <= value <= int(last or first)
    if name == "second":
        return (
            hit.start_seconds is not None
            and hit.end_seconds is not None
            and hit.start_seconds <= value <= hit.end_seconds
        )
    return bool(getattr(hit, name) == value)


def place(hit: SearchResult) -> str:
    """Return where a result is, for people."""
    parts = [hit.page and f"page {hit.page}", hit.anchor and f"#{hit.anchor}", hit.time_span]
    return ", ".join([Path(unquote(hit.uri)).name, *(part for part in parts if part)])


def ask(team: str, into: Path) -> int:
    """Ingest a team's example, print each question with its fault, and return their number."""
    copy(team, into)
    home, faults = ingest(into), 0
    with KnowledgeBase.connect(home=home) as knowledge:
        for question in questions_of(team):
            wrong = fault(knowledge, question)
            faults += wrong is not None
            print("wrong" if wrong else "right", question["question"].splitlines()[-1], wrong or "", sep="  ")
    return faults


def main() -> int:
    """Ask the questions of the team on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("team", choices=TEAMS)
    parser.add_argument("--into", type=Path, help="a new folder that keeps the knowledge base")
    chosen = parser.parse_args()
    if chosen.into:
        faults = ask(chosen.team, chosen.into.resolve())
        print(f"Look around: cd {chosen.into} && SOURCEBOOK_HOME=state sourcebook search '…'")
        return bool(faults)
    with tempfile.TemporaryDirectory(prefix="sourcebook-example-") as folder:
        Path(folder).chmod(0o755)  # the embedded PostgreSQL of root is another user
        return bool(ask(chosen.team, Path(folder).resolve() / chosen.team))


if __name__ == "__main__":
    sys.exit(main())

"""Relations of EIPs and PEPs against an independent parse, what renames leave, and what reading them costs."""

import os
import resource
import shutil
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from psycopg import Connection

from benchmarks.corpora.written_links import CONFIGURATION, Relation, half_of, relations_of
from benchmarks.harness.bench import Bench
from benchmarks.harness.library import COLLECTION, Library
from benchmarks.harness.report import Row, say
from sourcebook.admin.collections import apply
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.stages.documents.update import update_documents
from sourcebook.stages.raw_files import update_raw_files
from sourcebook.stages.relations.update import update_relations

SHARED: Final = Path(__file__).resolve().parents[3] / "shared/data/relations"
_LEAST_PRECISION: Final = 0.99
_LEAST_RECALL: Final = 0.97
_MOST_COST: Final = 0.05
"""Share of an ingest."""
_RENAMED: Final = 20
_EVERY: Final = 16
"""Step in the list of EIPs that are taken in whole."""
_FOUND: Final = """
    SELECT source.uri, relation.kind, target.uri, relation.is_inverse
    FROM document_relation relation
    JOIN document source ON source.id = relation.document_id
    JOIN document target ON target.id = relation.resolved_id
    WHERE relation.collection = %s"""


def run(bench: Bench) -> list[Row]:
    """Read both collections, and compare; then take a part of them in whole."""
    if not SHARED.is_dir():
        return [Row("relations", None, note=f"there is no {SHARED}")]
    library = bench.library("relations", collections=("eips", "peps"))
    for name in ("eips", "peps"):
        shutil.copytree(SHARED / name, library.files / name, dirs_exist_ok=True, copy_function=shutil.copyfile)
    library.configuration_path.write_text(CONFIGURATION, encoding="utf-8")
    rows = []
    with library.database() as database, database.connection() as connection:
        apply(connection, library.configuration)
        for name in ("eips", "peps"):
            _read(connection, name)
            wanted, found = relations_of(SHARED / name), _found(connection, name)
            for half in ("report", "work"):
                rows += _scores(name, half, wanted, found)
        rows.append(_renames(connection, library))
    return [*rows, *_of_an_ingest(bench)]


def _read(connection: Connection, collection: str) -> None:
    """List and parse the files of a collection; nothing is cut or embedded."""
    update_raw_files(connection, collection)
    update_documents(connection, collection)


def _of_an_ingest(bench: Bench) -> list[Row]:
    """Return what reading relations adds to a first ingest, and where searches show superseded documents."""
    library = bench.library("relations-ingest")
    pairs = [each for each in relations_of(SHARED / "peps") if each[1] == "supersedes"]
    names = {path.name for path in sorted((SHARED / "eips").iterdir())[::_EVERY]}
    names |= {name for new, _, old in pairs for name in (new, old)}
    for name in names:
        shutil.copyfile(SHARED / ("eips" if name.startswith("eip") else "peps") / name, library.files / name)
    before = _children()
    library.ingest()
    whole = _children() - before
    with library.knowledge() as knowledge:
        with knowledge.database.connection() as connection:
            seconds = _cost(connection, COLLECTION)
        note = f"{seconds:.2f} s of processor for {len(names)} documents; the ingest took {whole:.1f} s"
        return [
            Row("relations, added to a first ingest", seconds / (whole - seconds), "%", _MOST_COST, note),
            _order(knowledge, pairs, "shown"),
            _order(knowledge, pairs, "behind"),
        ]


def _order(knowledge: KnowledgeBase, pairs: Sequence[Relation], superseded: Literal["shown", "behind"]) -> Row:
    """Ask for the title of each superseded document, and count the successors that stand before it."""
    first = found = 0
    for new, _, old in pairs:
        title = next(item.title for item in knowledge.documents(text=old) if item.title)
        hits = knowledge.search(
            title, limit=50, group_by="document", literal=True, min_relevance=0, superseded=superseded
        )
        names = [Path(hit.uri).name for hit in hits]
        if new in names and old in names:
            found += 1
            first += names.index(new) < names.index(old)
    bar = 1.0 if superseded == "behind" else None
    note = f"{first} of {found}, asked for by the title of what it supersedes"
    return Row(f"successor first, superseded={superseded}", first / max(found, 1), "share", bar, note, at_least=True)


def _found(connection: Connection, collection: str) -> set[Relation]:
    """Return the resolved relations of a collection, between names of files."""
    found = set()
    for source, kind, target, is_inverse in connection.execute(_FOUND, [collection]):
        names = Path(source).name, Path(target).name
        found.add((names[1], kind, names[0]) if is_inverse else (names[0], kind, names[1]))
    return found


def _scores(name: str, half: str, wanted: set[Relation], found: set[Relation]) -> list[Row]:
    rows = []
    is_report = half == "report"
    for fields in (True, False):
        mine = {each for each in wanted if half_of(each[0]) == half and (each[1] != "references") == fields}
        theirs = {each for each in found if half_of(each[0]) == half and (each[1] != "references") == fields}
        right = len(mine & theirs)
        what = f"{name}, {'fields' if fields else 'references'}, {half} half"
        say(f"  {what}: missed {sorted(mine - theirs)[:5]}, wrong {sorted(theirs - mine)[:5]}")
        note = f"{len(theirs) - right} wrong of {len(theirs)}"
        rows.append(
            Row(
                f"precision, {what}",
                right / max(len(theirs), 1),
                "share",
                _LEAST_PRECISION if is_report else None,
                note,
                True,
            )
        )
        note = f"{right} of {len(mine)}"
        rows.append(
            Row(f"recall, {what}", right / max(len(mine), 1), "share", _LEAST_RECALL if is_report else None, note, True)
        )
    return rows


def _cost(connection: Connection, collection: str) -> float:
    """Return the processor seconds of reading every document of a collection again, here and in the database."""
    backend = Path(f"/proc/{connection.info.backend_pid}/stat")
    before, began = _ticks(backend), time.process_time()
    update_relations(connection, collection, thorough=True)
    return time.process_time() - began + _ticks(backend) - before


def _children() -> float:
    """Return the processor seconds of ended child processes; the database server is none of them."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _ticks(process: Path) -> float:
    fields = process.read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _renames(connection: Connection, library: Library) -> Row:
    """Rename files that fields name, and return the number of relations by id that were lost."""
    before = {each for each in _found(connection, "eips") if each[1] == "requires"}
    renamed = sorted({target for _, _, target in before})[:_RENAMED]
    for name in renamed:
        (library.files / "eips" / name).rename(library.files / "eips" / name.replace(".md", "-renamed.md"))
    _read(connection, "eips")
    after = {each for each in _found(connection, "eips") if each[1] == "requires"}
    plain = {tuple(part.replace("-renamed.md", ".md") for part in each) for each in after}
    note = f"{len(renamed)} files renamed, {len(before)} relations"
    return Row("relations by id lost by renaming", len(before - plain), "", 0, note)

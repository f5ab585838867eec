"""Other versions of documents: by what says that it supersedes what, by names of files, by titles and near texts."""

import re
from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any, Final, NamedTuple

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.contract.other_documents import OtherVersion
from sourcebook.database.queries import queries
from sourcebook.model.version_names import version_name, version_of
from sourcebook.search.scope import EntryCondition

MOST: Final = 10
"""Other versions of a document, at most: the ones nearest to it in their order."""
_LOOKED_AT: Final = 20
"""Documents with a name that begins like that of a document, at most."""
_ALIKE: Final = 0.5
"""Share of the runs of three words of the shorter text that the other one has, from which they are one text."""
_WORD: Final = re.compile(r"\w+")
_SERIES: Final = 8
"""Documents that may be versions of one by a date, a number or the title alone, from which they are a series."""
_READ: Final = 6_000
"""Characters of a text that are compared."""
_KEPT: Final = 10_000
_compared: "OrderedDict[tuple[bytes, bytes], bool]" = OrderedDict()
_lock = Lock()


class Known(NamedTuple):
    """A document whose other versions are looked for."""

    uri: str
    title: str


def known_documents(connection: Connection, documents: Sequence[int]) -> dict[int, Known]:
    """Return what is known of documents by their ids, in the order of these."""
    rows = connection.execute(queries["names_of_documents"], {"documents": list(documents)})
    found = {number: Known(uri, title or "") for number, uri, title in rows}
    return {number: found[number] for number in documents if number in found}


def label_of(known: Known) -> str:
    """Return what names the version of a document in its file's name or its title; empty where nothing does."""
    return version_of(known.uri).label or version_name(known.title).label


def other_versions(
    connection: Connection,
    documents: Mapping[int, Known],
    generations: Sequence[int] = (),
    condition: EntryCondition | None = None,
    possible: Sequence[dict[str, Any]] | None = None,
) -> dict[int, tuple[OtherVersion, ...]]:
    """Return the other versions of documents, the newest first, as far as there are any.

    Marks such as `v2` or `final` suffice. Where a date, a bare number or an equal title alone speaks for two versions,
    their texts must be nearly the same: minutes of two months and two parts of a book are no versions.

    Args:
        connection: to the knowledge base.
        documents: by their ids.
        generations: ids of those that are searched, where `condition` is given.
        condition: on entries; versions without an entry that fulfils it are not named.
        possible: from `possible_versions`, where it was asked already.
    """
    rows = possible_versions(connection, documents) if possible is None else possible
    if not rows:
        return {}
    kept = [row for row in rows if _is_strong(documents[row["asked_id"]], row)]
    weak = [row for row in rows if not _is_strong(documents[row["asked_id"]], row)]
    counts = Counter(row["asked_id"] for row in weak)
    unsure = [row for row in weak if counts[row["asked_id"]] <= _SERIES]
    alike = _alike(connection, [(row["asked_id"], row["document_id"]) for row in unsure])
    kept += [row for row in unsure if alike[row["asked_id"], row["document_id"]]]
    if condition is not None and kept:
        kept = [row for row in kept if row["document_id"] in _fulfilling(connection, kept, generations, condition)]
    found: dict[int, list[tuple[Any, OtherVersion]]] = {}
    for row in kept:
        label = label_of(Known(row["uri"], row["title"] or ""))
        version = OtherVersion(row["document_id"], row["collection"], row["uri"], row["title"], label)
        order = (version_name(label).order, row["dated_at"] or "", row["uri"])
        found.setdefault(row["asked_id"], []).append((order, version))
    return {
        asked: tuple(version for _, version in sorted(listed, key=lambda pair: pair[0], reverse=True))[:MOST]
        for asked, listed in found.items()
    }


def possible_versions(connection: Connection, documents: Mapping[int, Known]) -> list[dict[str, Any]]:
    """Return the documents that may be versions: with a name, a title or a relation that speaks for it.

    `is_explicit` is a relation: one of the two says that it supersedes the other.
    """
    if not documents:
        return []
    wanted = {
        "documents": list(documents),
        "bases": [version_of(each.uri).base.rpartition("/")[2] for each in documents.values()],
        "titles": [version_name(each.title).base for each in documents.values()],
        "most": _LOOKED_AT,
    }
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(queries["possible_versions"], wanted).fetchall()
    return [row for row in rows if row["is_explicit"] or _may_be(documents[row["asked_id"]], row)]


def _may_be(known: Known, row: Mapping[str, Any]) -> bool:
    own, other = version_of(known.uri), version_of(row["uri"])
    title = version_name(known.title).base
    return own.base == other.base or (bool(title) and title == version_name(row["title"] or "").base)


def _is_strong(known: Known, row: Mapping[str, Any]) -> bool:
    """Whether nothing but names or a relation is needed to know that two documents are versions."""
    own, other = version_of(known.uri), version_of(row["uri"])
    return bool(row["is_explicit"]) or (
        own.base == other.base and own.is_said and other.is_said and own.label != other.label
    )


def _alike(connection: Connection, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], bool]:
    """Return whether the texts of two documents are nearly the same, by their ids."""
    ids = sorted({number for pair in pairs for number in pair})
    if not ids:
        return {}
    hashes: dict[int, bytes] = dict(connection.execute(queries["content_hashes"], {"documents": ids}).fetchall())
    known = {pair: tuple(sorted(hashes.get(number, b"") for number in pair)) for pair in pairs}
    with _lock:
        found = {pair: _compared[key] for pair, key in known.items() if key in _compared}  # type: ignore[index] # two
    missing = sorted({number for pair in pairs if pair not in found for number in pair})
    if missing:
        wanted = {"documents": missing, "most": _READ}
        texts: dict[int, str] = dict(connection.execute(queries["beginnings_of_texts"], wanted).fetchall())
        new = {
            pair: len(set(known[pair])) > 1 and are_alike(*(texts.get(each, "") for each in pair))  # a copy is none
            for pair in pairs
            if pair not in found
        }
        with _lock:
            _compared.update({known[pair]: value for pair, value in new.items()})  # type: ignore[misc] # two
            while len(_compared) > _KEPT:
                _compared.popitem(last=False)
        found |= new
    return found


def are_alike(one: str, other: str) -> bool:
    """Return whether two texts are nearly the same: most runs of three words of the shorter one are in the other."""
    runs, others = sorted((_runs(one), _runs(other)), key=len)
    return len(runs & others) >= max(1, _ALIKE * len(runs))


def _runs(text: str) -> set[tuple[str, ...]]:
    words = _WORD.findall(text.casefold())
    return set(zip(words, words[1:], words[2:], strict=False)) or {tuple(words)}


def _fulfilling(
    connection: Connection, rows: Sequence[Mapping[str, Any]], generations: Sequence[int], condition: EntryCondition
) -> set[int]:
    """Return the ids of documents that fulfil a condition on entries."""
    statement = queries["documents_fulfilling"].format(condition=condition.text)
    wanted = {"generations": list(generations), "versions": [row["document_id"] for row in rows]}
    return {number for (number,) in connection.execute(statement, {**condition.parameters, **wanted})}

"""Questions about what changed between two versions: both are searched beside all passages, and stand first."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from psycopg import Connection

from sourcebook.model.version_names import is_named, orders_in, version_name, without_versions
from sourcebook.search.scope import EntryCondition
from sourcebook.search.versions import known_documents, label_of, other_versions

_CHANGE: Final = re.compile(
    r"\b(?:what(?:'s|’s| is| are| has| have)?(?: been)? (?:changed|new|different|differs?)|changes?|changed|"
    r"differences?|differs?|different|diff|compared?|comparison|geändert|ändert|änderung(?:en)?|unterschiede?|vergleichen?|vergleich|"
    r"changé|changements?|modifications?|différences?|compare[rz]|cambi(?:ó|os?|ado)|diferencias?|comparar|"
    r"cambiat[oe]|cambiamenti|differenz[ae]|confront[ao]|измени\w+|отлич\w+|разниц\w+|сравн\w+)\b",
    re.IGNORECASE,
)
_VERSION: Final = re.compile(
    r"\b(?:versions?|revisions?|drafts?|editions?|old|new|previous|earlier|later|last|latest|fassung(?:en)?|versionen|"
    r"entwurf|alte[nrms]?|neue[nrms]?|vorige[nr]?|versiones|versión|versioni|версии|версия|редакции)\b",
    re.IGNORECASE,
)
_PLAIN: Final = re.compile(
    r"\b(?:what(?:'s|’s| has| have)?(?: been)? changed|was hat sich .*geändert|was wurde .*geändert|"
    r"qu['’]est-ce qui a changé|qué (?:ha )?cambi\w+|cosa è cambiat\w+|что изменилось)\b",
    re.IGNORECASE,
)
_BESIDE: Final = re.compile(
    r"\b(?:what|which|how|is|are|the|a|an|and|or|of|in|on|to|from|for|with|between|since|did|do|does|has|have|me|show|tell|"
    r"was|wie|hat|sich|der|die|das|den|dem|des|ein|eine|und|von|zu|zwischen|mit|im|in|bei|"
    r"qu|est|ce|qui|a|entre|et|le|la|les|du|de|des|qué|ha|el|los|las|y|del|en|cosa|è|tra|e|il|что|в|между|и|с)\b",
    re.IGNORECASE,
)
NEAREST: Final = 20
"""First passages whose documents' versions are looked for."""
_UNNAMED: Final = 5
"""First of these documents where the question names no version of them."""


@dataclass(frozen=True, slots=True)
class ChangeQuestion:
    """Topic of a question about a change, and the versions that it names."""

    topic: str
    """Its words without those on changes and versions; empty without any."""
    orders: Sequence[tuple[int, tuple[int, ...]]]
    """Versions that it names."""


def change_question(text: str) -> ChangeQuestion | None:
    """Return what a question asks about a change between versions; None for any other question."""
    orders = orders_in(text)
    if not _CHANGE.search(text) or not (orders or _VERSION.search(text) or _PLAIN.search(text)):
        return None
    topic = _BESIDE.sub(" ", _VERSION.sub(" ", _CHANGE.sub(" ", without_versions(text))))
    return ChangeQuestion(" ".join(re.findall(r"\w[\w'’-]*", topic)), orders)


def versions_asked_for(
    connection: Connection,
    question: ChangeQuestion,
    documents: Sequence[int],
    generations: Sequence[int],
    condition: EntryCondition | None,
) -> tuple[int, ...]:
    """Return the two versions of one document that a question is about, the earlier one first; nothing without two.

    Args:
        connection: to the knowledge base.
        question: what is asked.
        documents: ids of those that answer its topic, best first.
        generations: ids of the generations that are searched.
        condition: on entries; versions without an entry that fulfils it are left out.
    """
    known = known_documents(connection, list(dict.fromkeys(documents)))
    found = other_versions(connection, known, generations, condition)
    for place, (document, own) in enumerate(known.items()):
        labels = {document: label_of(own)} | {each.document_id: each.label for each in found.get(document, ())}
        if len(labels) < 2:
            continue
        named = _named(labels, question.orders)
        if len(named) > 1:
            return tuple(named[:2])
        if place < _UNNAMED and (named or not question.orders):
            first = named[0] if named else document
            other = next(each for each in labels if each != first)
            return tuple(sorted((first, other), key=lambda each: version_name(labels[each]).order))
    return ()


def _named(labels: Mapping[int, str], orders: Sequence[tuple[int, tuple[int, ...]]]) -> list[int]:
    """Return the documents whose versions are named, in the order in which they are."""
    names = {document: version_name(label) for document, label in labels.items()}
    return list(
        dict.fromkeys(document for order in orders for document, name in names.items() if is_named(order, name))
    )

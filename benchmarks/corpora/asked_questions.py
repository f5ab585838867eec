"""Questions asked of judged collections: of their own, of a part of it, and of those that do not answer them."""

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from benchmarks.corpora.judged_sets import RetrievalSet

Kind = Literal["own", "translated", "removed", "foreign"]
"""`own`: the collection answers. `translated`: it answers in another language. `removed`: it lacks the documents that
do. `foreign`: of another source's set."""
ANSWERABLE: Final = ("own", "translated")
SMALL = "-small"
"""End of the name of a collection with an eighth of the documents."""
MOST_DOCUMENTS = 1_000
"""Documents of a collection, at most, and all judged ones."""
_MOST_OWN = 300
_MOST_OTHER = 60


@dataclass(frozen=True)
class Asked:
    """Questions of one set, asked of one collection."""

    collection: str
    source: str
    """The source of the collection's documents: SciFact, Cranfield, or XQuAD in whichever language."""
    kind: Kind
    questions: dict[str, str]
    relevant: Mapping[str, Mapping[str, int]]


def is_reported(question: str) -> bool:
    """Whether a question is of the half that figures are reported on; the other half is fitted on.

    Translations of a question have the same id, and are of the same half.
    """
    return _number(f"half {question}") % 2 == 1


def source_of(name: str) -> str:
    """Return the source of a set: the languages of XQuAD are one."""
    return name.partition("-")[0]


def collections_of(sets: Mapping[str, RetrievalSet]) -> dict[str, RetrievalSet]:
    """Return each set with at most 1,000 documents beside the judged ones, and with an eighth of them."""
    found = {}
    for name, known in sets.items():
        judged = {document for grades in known.relevant.values() for document in grades}
        others = [document for document in known.documents if document not in judged]
        found[name] = _part(known, judged.union(others[: max(0, MOST_DOCUMENTS - len(judged))]))
        found[name + SMALL] = _part(
            found[name], {document for document in found[name].documents if _number(document) % 8 == 0}
        )
    return found


def asked_questions(collections: Mapping[str, RetrievalSet]) -> Iterator[Asked]:
    """Yield what is asked of each collection; XQuAD has the same paragraphs in each of its languages."""
    for name, known in collections.items():
        source, whole = source_of(name), name.removesuffix(SMALL)
        yield Asked(name, source, "own", _some(known.questions, _MOST_OWN), known.relevant)
        for other, asking in collections.items():
            if other.endswith(SMALL):
                continue
            if source_of(other) != source:
                yield Asked(name, source, "foreign", _some(asking.questions, _MOST_OTHER), {})
            elif other != whole == name:
                yield Asked(name, source, "translated", _some(asking.questions, _MOST_OTHER), asking.relevant)
            elif other == whole != name:
                gone = {key: text for key, text in asking.questions.items() if key not in known.questions}
                yield Asked(name, source, "removed", _some(gone, _MOST_OTHER), {})


def _some(questions: Mapping[str, str], most: int) -> dict[str, str]:
    return {key: questions[key] for key in sorted(questions, key=lambda key: _number(f"chosen {key}"))[:most]}


def _part(known: RetrievalSet, kept: set[str]) -> RetrievalSet:
    documents = {key: document for key, document in known.documents.items() if key in kept}
    judged = {
        question: {document: grade for document, grade in grades.items() if document in documents}
        for question, grades in known.relevant.items()
    }
    relevant = {question: grades for question, grades in judged.items() if grades}
    questions = {key: text for key, text in known.questions.items() if key in relevant}
    return RetrievalSet(documents, questions, relevant)


def _number(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")

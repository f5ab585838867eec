"""Matching of the document ids in judgments with the collection's documents."""

import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import PurePosixPath
from urllib.parse import unquote

from sourcebook.evaluation.errors import EvaluationError

RULE = "An id is a document's URI, or what its URI ends with from a / on, or its file name without the ending"


@dataclass(frozen=True, slots=True)
class Matches:
    """Documents by the ids that name them."""

    documents: dict[str, int]
    """Id in the judgments → id of the document."""
    unmatched: tuple[str, ...]
    """Ids without a document, in the order of the judgments."""


def match_documents(identities: Iterable[str], uris: Mapping[int, str]) -> Matches:
    """Return the document of each id: by its URI, else by the end of its URI after a `/`, else by its name's stem.

    The first of the three that finds a document decides. URIs are compared with percent-encoding resolved and without
    a trailing `/`.

    Args:
        identities: ids in the judgments.
        uris: URIs by document id.

    Raises:
        EvaluationError: an id names two documents.
    """
    forms = {identity: _forms(identity) for identity in identities}
    ends = {form.removeprefix("/") for known in forms.values() for form in known}
    exact = {uri: [document] for document, uri in uris.items()}
    by_uri: dict[str, list[int]] = {}
    by_end: dict[str, list[int]] = {}
    by_stem: dict[str, list[int]] = {}
    for document, each in uris.items():
        uri = _plain(unquote(each))
        by_uri.setdefault(uri, []).append(document)
        for end in _ends(uri):
            if end in ends:
                by_end.setdefault(end, []).append(document)
        by_stem.setdefault(PurePosixPath(uri.rpartition("/")[2]).stem, []).append(document)
    documents: dict[str, int] = {}
    unmatched: list[str] = []
    for identity, known in forms.items():
        look_ups = [
            (exact, identity),
            *((by_uri, form) for form in known),
            *((by_end, form.removeprefix("/")) for form in known),
            *((by_stem, form) for form in known),
        ]
        found = next((names[name] for names, name in look_ups if name in names), [])
        if len(found) > 1:
            raise EvaluationError(
                f"the document id {identity!r} names both {uris[found[0]]} and {uris[found[1]]}: "
                "write more of the path, as far as it differs, or the whole URI"
            )
        if found:
            documents[identity] = found[0]
        else:
            unmatched.append(identity)
    return Matches(documents, tuple(unmatched))


def _forms(identity: str) -> tuple[str, ...]:
    """Return the id as written and with percent-encoding resolved."""
    return tuple(dict.fromkeys((_plain(identity), _plain(unquote(identity)))))


def _ends(uri: str) -> Iterator[str]:
    """Yield the rest of the URI after each `/`."""
    start = uri.find("/") + 1
    while start:
        yield uri[start:]
        start = uri.find("/", start) + 1


def _plain(uri: str) -> str:
    return unicodedata.normalize("NFC", uri).rstrip("/")

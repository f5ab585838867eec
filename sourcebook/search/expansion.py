"""Expansion of a query: by abbreviations that documents explain, by synonyms of the settings, by usual abbreviations.

A pair counts in the collections that are searched alone; a usual abbreviation where nothing else says what it means.
An abbreviation in small letters is one where the passages that say it most write it in capitals: `gdpr` is, `it` and
`us` are not.
"""

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Final, NamedTuple

from psycopg import Connection

from sourcebook.contract.explanation import ExpandedWords
from sourcebook.database.queries import queries
from sourcebook.model.abbreviation import USUAL, looks_abbreviated, singular
from sourcebook.search.query_syntax import ParsedQuery
from sourcebook.search.query_terms import Expansion, query_terms
from sourcebook.search.ranking.keyword_leg import keyword_ranking
from sourcebook.search.ranking.passages import read_texts
from sourcebook.search.recent_cache import RecentCache
from sourcebook.search.scope import SearchScope

if TYPE_CHECKING:
    from sourcebook.config.synonyms import SynonymSettings

_WRITTEN: Final = re.compile(r"[^\W_]+(?:[&/.-][^\W_]+)*")
_PARTS: Final = re.compile("[/.-]")
_LONGEST: Final = 8
"""Lexemes of a phrase that is looked for in a query, at most."""
_MOST_WORDS: Final = 64
"""Words of a query that are looked up, at most."""
_MOST: Final = 8
"""Expansions of a query, at most."""
_MOST_MEANINGS, _LEAST_SHARE = 3, 0.2
"""Meanings of an abbreviation, at most, and the least share of the documents that explain it."""
_READ: Final = 20
"""Passages by which a word in small letters is judged."""
_CAPITALS: Final = 4
"""Passages with capitals to each one without, at least, where a word in small letters is an abbreviation."""


def find_expansions(connection: Connection, scope: SearchScope, query: ParsedQuery) -> tuple[Expansion, ...]:
    """Return the expansions of a query, the surest first; words in quotation marks are meant as they are.

    Args:
        connection: in autocommit mode.
        scope: the generations that are searched.
        query: the query.
    """
    text = query.text
    for phrase in query.phrases:
        text = text.replace(phrase, "\n")
    if not text.strip() or not scope.configurations:
        return ()
    written = _written(text)
    found = [*_of_settings(connection, scope, written, text), *_of_documents(connection, scope, written, text)]
    found = _without_redacted(scope, found)
    found += _usual(written, text, {each.words.casefold() for each in found})
    own = text.casefold()
    different = {(each.words.casefold(), each.by.casefold()): each for each in reversed(found)}
    ordered = [each for each in reversed(different.values()) if each.by.casefold() not in own]
    return tuple(sorted(ordered, key=lambda each: -each.share)[:_MOST])


def explained(connection: Connection, expansions: Sequence[Expansion]) -> Iterator[ExpandedWords]:
    """Yield the expansions with the documents that explain them."""
    wanted = [each.document_id for each in expansions if each.document_id is not None]
    rows = connection.execute(queries["explaining_documents"], {"documents": wanted}).fetchall() if wanted else ()
    documents = {number: (title, uri) for number, title, uri in rows}
    for each in expansions:
        place = documents.get(each.document_id or 0, (None, None))
        yield ExpandedWords(each.words, each.by, round(each.share, 3), each.collection, each.document_id, *place)


def _without_redacted(scope: SearchScope, expansions: list[Expansion]) -> list[Expansion]:
    """Return the expansions without those that hold something that their collection redacts."""
    if not any(each.collection in scope.redactions for each in expansions):
        return expansions
    from sourcebook.redaction.documents import redactor_of

    redactors = {name: redactor_of(settings) for name, settings in scope.redactions.items()}
    return [
        each
        for each in expansions
        if (redactor := redactors.get(each.collection)) is None or not redactor.spans(f"{each.words}\n{each.by}")
    ]


class _Written(NamedTuple):
    """Words of a query by their small letters."""

    words: dict[str, str]
    shouts: bool
    """Whether the whole query is in capitals, which then tell nothing."""


def _written(text: str) -> _Written:
    words: dict[str, str] = {}
    for word in _WRITTEN.findall(text)[:_MOST_WORDS]:
        for each in (word, *_PARTS.split(word)):
            one = singular(each)
            words.setdefault(one.casefold(), one)
    letters = text.split()
    return _Written(words, len(letters) > 2 and text.isupper())


def _sequences(lexemes: Sequence[str]) -> Iterator[str]:
    for start in range(len(lexemes)):
        for end in range(start + 1, min(start + _LONGEST, len(lexemes)) + 1):
            yield " ".join(lexemes[start:end])


def _of_documents(connection: Connection, scope: SearchScope, written: _Written, text: str) -> Iterator[Expansion]:
    names = [each.collection for each in scope.generations if each.collection in scope.explaining]
    names = [name for name in names if (own := scope.synonyms.get(name)) is None or _settings(own).documents]
    scoped = {
        "collections": names,
        "words": list(written.words),
        "text": text,
        "configurations": scope.configurations,
        "most": _MOST_WORDS,
        "further": list(range(_LONGEST)),
    }
    rows = connection.execute(queries["explained_abbreviations"], scoped).fetchall() if names else []
    shorts: dict[str, dict[str, list[tuple[int, Expansion]]]] = defaultdict(lambda: defaultdict(list))
    longs: dict[str, dict[str, list[tuple[int, Expansion]]]] = defaultdict(lambda: defaultdict(list))
    for collection, short, folded, lexemes, long, number, document, is_spelt in rows:
        word = written.words.get(folded)
        if word is not None and _is_meant(connection, scope, written, word, short):
            shorts[folded][lexemes].append((number, Expansion(word, long, 0, collection, document)))
        if is_spelt:
            longs[lexemes][short].append((number, Expansion(long, short, 0, collection, document)))
    for meanings in (*shorts.values(), *longs.values()):
        numbers = {meaning: sum(number for number, _ in held) for meaning, held in meanings.items()}
        every = sum(numbers.values())
        for meaning in sorted(numbers, key=lambda each: (-numbers[each], each))[:_MOST_MEANINGS]:
            if numbers[meaning] >= _LEAST_SHARE * every:
                yield replace(meanings[meaning][0][1], share=numbers[meaning] / every)


def _usual(written: _Written, text: str, known: Collection[str]) -> Iterator[Expansion]:
    """Yield the usual abbreviations of a query, and those of words that it spells out, unless they are known."""
    folded = text.casefold()
    for short, long in USUAL.items():
        word = written.words.get(short.casefold())
        if word is not None and short.casefold() not in known:
            yield Expansion(word, long, 1.0, "", None)
        if long.casefold() in folded and long.casefold() not in known:
            yield Expansion(long, short, 1.0, "", None)


def _of_settings(connection: Connection, scope: SearchScope, written: _Written, text: str) -> Iterator[Expansion]:
    if not _has_own(scope):
        return
    read = {"texts": [text], "configurations": scope.configurations}
    rows = connection.execute(queries["lexemes_of_texts"], read).fetchall()
    sequences = {sequence for _, lexemes in rows for sequence in _sequences(lexemes.split()[:_MOST_WORDS])}
    for collection in dict.fromkeys(each.collection for each in scope.generations):
        settings = scope.synonyms.get(collection)
        if settings is None:
            continue
        by_lexemes, abbreviated = _OWN.get_or_compute(
            (settings, *scope.configurations), partial(_own, connection, scope, settings)
        )
        for sequence in sequences & by_lexemes.keys():
            for words, by in by_lexemes[sequence]:
                yield Expansion(words, by, 1.0, collection, None)
        for folded in written.words.keys() & abbreviated.keys():
            for words, by in abbreviated[folded]:
                if _is_meant(connection, scope, written, written.words[folded], words):
                    yield Expansion(words, by, 1.0, collection, None)


_Own = tuple[dict[str, list[tuple[str, str]]], dict[str, list[tuple[str, str]]]]
"""(words, words that are searched, too): by the lexemes of the first, and abbreviations by their small letters."""
_OWN: Final[RecentCache[tuple[str, ...], _Own]] = RecentCache(64)


def _own(connection: Connection, scope: SearchScope, settings: str) -> _Own:
    """Return the pairs of a collection's settings."""
    read = _settings(settings)
    pairs = [(one, other) for group in read.groups for one in group for other in group if other != one]
    pairs += [(words, by) for words, others in read.one_way.items() for by in others]
    spelt: dict[str, list[tuple[str, str]]] = defaultdict(list)
    abbreviated: dict[str, list[tuple[str, str]]] = defaultdict(list)
    rows = connection.execute(
        queries["lexemes_of_texts"],
        {"texts": list({words for words, _ in pairs}), "configurations": scope.configurations},
    )
    lexemes: dict[str, set[str]] = defaultdict(set)
    for words, found in rows:
        lexemes[words].add(found)
    for words, by in pairs:
        if looks_abbreviated(words) and " " not in words:
            abbreviated[words.casefold()].append((words, by))
            continue
        for each in lexemes[words] - {""}:
            spelt[each].append((words, by))
    return dict(spelt), dict(abbreviated)


def _has_own(scope: SearchScope) -> bool:
    """Return whether any collection has synonyms of its own in its settings."""
    return any(read.groups or read.one_way for read in map(_settings, scope.synonyms.values()))


@lru_cache(maxsize=64)
def _settings(written: str) -> "SynonymSettings":
    from sourcebook.config.synonyms import SynonymSettings  # imports pydantic, and few collections have any

    return SynonymSettings.model_validate(json.loads(written))


def _is_meant(connection: Connection, scope: SearchScope, written: _Written, word: str, short: str) -> bool:
    """Return whether a word of the query is an abbreviation: by its capitals, or as passages write it."""
    if looks_abbreviated(word) and not written.shouts:
        return True
    terms = [term for term in query_terms(connection, scope, word) if term.ids]
    if not terms:
        return False
    chunks = [chunk for chunk, _ in keyword_ranking(connection, scope, terms, _READ)]
    texts = read_texts(connection, scope.ids, chunks).values()
    small = re.compile(rf"(?<![\w.@/:-]){re.escape(short.lower())}(?![\w@/:-]|\.\w)")
    large = re.compile(rf"(?<!\w){re.escape(short)}(?!\w)")
    capitals = sum(bool(large.search(text)) for text in texts)
    return capitals > 0 and capitals >= _CAPITALS * sum(bool(small.search(text)) for text in texts)

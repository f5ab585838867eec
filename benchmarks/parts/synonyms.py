"""Abbreviations: what they change on judged sets, and on titles in which one form stands in place of the other."""

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final
from zlib import crc32

from psycopg.types.json import Jsonb

from benchmarks.corpora.judged_sets import RetrievalSet
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row
from sourcebook.evaluation.intervals import estimate_means
from sourcebook.evaluation.measures import score
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.stages.relations.abbreviations import abbreviations_of

_MEASURE: Final = "ndcg@10"
_LEAST: Final = -0.005
"""Gain on a judged set, at least."""
_MOST: Final = 70
"""Made queries of a set, a form and a half."""
_FEWEST: Final = 15
_SHORTEST: Final = 4
"""Letters of an abbreviation or word that is replaced, at least."""
_OFF: Final = "UPDATE collection SET settings = settings || %(synonyms)s WHERE name = %(name)s"


def run(bench: Bench) -> list[Row]:
    """Ask with the pairs of the documents, and without."""
    if not bench.retrieval_sets:
        return [Row("nDCG@10 with abbreviations less without", None, note="run with --retrieval FOLDER")]
    rows: list[Row] = []
    with bench.retrieval_library.knowledge() as knowledge:
        for name, known in bench.retrieval_sets.items():
            rows.append(_row(knowledge, name, name, known, least=_LEAST))
            rows += [_row(knowledge, name, f"{name}, {kind}", made) for kind, made in made_queries(known)]
    return rows


def made_queries(known: RetrievalSet) -> Iterator[tuple[str, RetrievalSet]]:
    """Yield queries by kind: words of titles with one form of a pair for the other, which their documents have not."""
    longs: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for identity, (title, text) in known.documents.items():
        for short, long in abbreviations_of(f"{title}\n\n{text}"):
            longs[short][long.casefold()].add(identity)
    made: dict[str, dict[str, tuple[str, str]]] = defaultdict(dict)
    for short, meanings in longs.items():
        long = max(meanings, key=lambda each: (len(meanings[each]), each))
        for identity, (title, text) in known.documents.items():
            half = "work" if crc32(identity.encode()) % 2 == 0 else "report"
            whole = f"{title}\n{text}"
            word = re.compile(rf"(?<![\w&/-]){re.escape(short)}(?![\w&/-])")
            if len(short) >= _SHORTEST - 1 and word.search(title) and long not in whole.casefold():
                made[f"query spells out, {half}"][f"{identity} {short}"] = (_around(title, word, long), identity)
            if len(long) > 2 * _SHORTEST and long in title.casefold() and not word.search(whole):
                phrase = re.compile(re.escape(long), re.IGNORECASE)
                made[f"query abbreviates, {half}"][f"{identity} {long}"] = (_around(title, phrase, short), identity)
    for kind, queries in sorted(made.items()):
        if len(queries) >= _FEWEST:
            chosen = sorted(queries, key=lambda each: crc32(each.encode()))[:_MOST]
            texts = {each: queries[each][0] for each in chosen}
            yield kind, RetrievalSet(known.documents, texts, {each: {queries[each][1]: 1} for each in chosen})


def _around(title: str, old: re.Pattern[str], new: str) -> str:
    """Return the new form with the word before and the word behind the old one."""
    found = old.search(title)
    assert found is not None
    return " ".join([*title[: found.start()].split()[-1:], new, *title[found.end() :].split()[:1]])


def _row(knowledge: KnowledgeBase, collection: str, name: str, known: RetrievalSet, least: float | None = None) -> Row:
    without = _values(knowledge, collection, known, documents=False)
    with_pairs = _values(knowledge, collection, known, documents=True)
    gains = [with_pairs[question] - without[question] for question in known.questions]
    (gain,) = estimate_means([[each] for each in gains])
    before = sum(without.values()) / len(without)
    note = f"{before:.3f} before, {len(gains)} queries, 95 %: {gain.low:+.4f} to {gain.high:+.4f}"
    return Row(f"with abbreviations less without, {name}", gain.mean, "nDCG", least, note, at_least=True)


def _values(knowledge: KnowledgeBase, collection: str, known: RetrievalSet, *, documents: bool) -> Mapping[str, float]:
    """Return nDCG@10 by question."""
    with knowledge.database.connection() as connection:
        connection.execute(_OFF, {"synonyms": Jsonb({"synonyms": {"documents": documents}}), "name": collection})
    ranking = {
        question: [
            hit.uri.rpartition("/")[2].removesuffix(".md")
            for hit in knowledge.search(
                text, collection, 10, literal=True, group_by="document", min_relevance=0, log=False
            )
        ]
        for question, text in known.questions.items()
    }
    relevant = {question: known.relevant[question] for question in known.questions}
    return {question: values[_MEASURE] for question, values in score(relevant, ranking, [_MEASURE]).items()}

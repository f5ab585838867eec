"""Thousands of damaged files through the parsers: what is lost, hangs or passes for sound, and the peak memory."""

import time
from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta

from benchmarks.harness.child_memory import ChildMemory
from benchmarks.harness.report import Row, say
from sourcebook.config.parsing import ParsingSettings
from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.media_types import PDF
from sourcebook.parsing.parser_pool import ParserPool
from tests.unit.parsing.mutated_reading import Outcome, outcomes, pictures, sound_texts, strange
from tests.unit.parsing.mutations import mutations, samples
from tests.unit.parsing.pdf.tiny_giants import nested_forms, packed_lines

_MEMORY = 2_000_000_000
_PICTURES_OF = 50
"""Damaged files for each damaged picture or scan that is read with OCR."""
_GIANTS_TIME = timedelta(minutes=10)
"""Time limit of files that take gigabytes, whose memory is measured and not their time."""
_LINE = 250
"""Files between two lines of progress."""


def mutation_rows(count: int) -> list[Row]:
    """Damage the samples of every format until there are `count`, and a fiftieth as many pictures; parse them all."""
    sound = samples()
    damaged = list(mutations(sound, count))
    recognised = list(mutations(pictures(sound), count // _PICTURES_OF))
    with ParserPool() as pool, ChildMemory() as memory:
        texts = sound_texts(pool, sound)
        read = list(_counted(outcomes(pool, damaged, ocr=False)))
        seen = list(_counted(outcomes(pool, recognised, ocr=True)))
    both = [*read, *seen]
    known = [problem for each in read if (problem := strange(each, texts[each.mutation.sample.name]))]
    classes = Counter(each.failure_class for each in both)
    documents = classes.pop(None, 0)
    reasons = ", ".join(f"{number} {failure}" for failure, number in classes.most_common())
    return [
        Row(f"damaged files of {len(sound)} samples, read as documents", documents, "files", note=f"of {len(both)}"),
        Row("damaged files with a reason", len(both) - documents, "files", note=reasons),
        _named("damaged files lost", [str(each.mutation) for each in both if not each.is_told]),
        _named("damaged files that hung", _of(both, FailureClass.TIMEOUT)),
        _named("damaged files that crashed their parser", _of(both, FailureClass.CRASH), bar=None),
        _named("damaged files whose document is of something else", known),
        _named("recognised texts not marked as such", [str(each.mutation) for each in seen if not each.is_marked]),
        Row("peak memory of all parsers, damaged files", memory.peak_pss, "bytes", _MEMORY),
    ]


def giant_rows() -> list[Row]:
    """Parse tiny files that take gigabytes, several at once, with the default settings."""
    giants = [("lines.pdf", packed_lines(2_000)), ("forms.pdf", nested_forms())] * 2
    failed: Counter[FailureClass] = Counter()
    with ParserPool() as pool, ChildMemory() as memory:
        begun = [
            pool.start(content, name=name, media_type=PDF, settings=ParsingSettings(timeout=_GIANTS_TIME))
            for name, content in giants
        ]
        for parsing in begun:
            try:
                parsing.result()
            except ParseError as error:
                failed[error.failure_class] += 1
    size = max(len(content) for _, content in giants)
    return [
        Row(
            f"PDFs of at most {size} bytes that take gigabytes, refused for it",
            failed[FailureClass.MEMORY],
            "files",
            len(giants),
            note=", ".join(f"{number} {failure}" for failure, number in failed.items()),
            at_least=True,
        ),
        Row("peak memory of all parsers, PDFs that take gigabytes", memory.peak_pss, "bytes", _MEMORY),
    ]


def _counted(read: Iterable[Outcome]) -> Iterator[Outcome]:
    started = time.perf_counter()
    for number, outcome in enumerate(read, 1):
        if outcome.failure_class in {FailureClass.TIMEOUT, FailureClass.CRASH, FailureClass.MEMORY}:
            say(f"    {outcome.mutation}: {outcome.result}")
        if not number % _LINE:
            say(f"    {number} files, {number / (time.perf_counter() - started):.1f} a second")
        yield outcome


def _of(read: Iterable[Outcome], failure: FailureClass) -> list[str]:
    return [str(each.mutation) for each in read if each.failure_class is failure]


def _named(measure: str, names: list[str], *, bar: int | None = 0) -> Row:
    for name in names:
        say(f"    {measure}: {name}")
    return Row(measure, len(names), "files", bar)

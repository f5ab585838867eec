"""Damaged files go through the parsers as files of an ingest do: none of them harms the run, or passes for sound.

`tests/unit/parsing/mutated_reading.py` says what is promised of each. `python -m benchmarks documents --mutations 5000`
reads more of them.
"""

from sourcebook.errors import FailureClass
from sourcebook.parsing.parser_pool import ParserPool
from tests.unit.parsing.mutated_reading import outcomes, pictures, sound_texts, strange
from tests.unit.parsing.mutations import mutations, samples

COUNT = 300


def test_damaged_files_give_a_document_or_a_reason(parsers: ParserPool) -> None:
    """Of hundreds of damaged files none stops the run, hangs, or gives a document of something else."""
    sound_files = samples()
    sound = sound_texts(parsers, sound_files)
    read = list(outcomes(parsers, list(mutations(sound_files, COUNT)), ocr=False))
    assert len(read) == COUNT
    reasons = [each for each in read if each.failure_class]
    assert COUNT / 10 < len(reasons) < COUNT * 0.9, "the damage is too slight or too heavy to tell anything"
    assert [each for each in read if not each.is_told or each.failure_class is FailureClass.TIMEOUT] == []
    assert [problem for each in read if (problem := strange(each, sound[each.mutation.sample.name]))] == []


def test_damaged_pictures_are_marked_as_recognised(parsers: ParserPool) -> None:
    """What is read from a damaged scan or picture names its pages and how sure it is, or there is a reason."""
    read = list(outcomes(parsers, list(mutations(pictures(samples()), 4)), ocr=True))
    assert [each for each in read if not each.is_told or not each.is_marked] == []
    assert [each for each in read if each.failure_class is FailureClass.TIMEOUT] == []

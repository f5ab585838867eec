"""The end of a parser's process says whether its document is damaged, or takes too much memory."""

from signal import SIGABRT, SIGKILL, SIGSEGV

import pytest

from sourcebook.errors import FailureClass, TemporaryParseError
from sourcebook.parsing.parser_ends import reason_of_end


@pytest.mark.parametrize(
    ("status", "last_words", "failure_class"),
    [
        (70, "", FailureClass.MEMORY),
        (127, "cannot allocate memory for thread-local data: ABORT", FailureClass.MEMORY),
        (-SIGABRT, "", FailureClass.MEMORY),
        (-SIGABRT, "terminate called after throwing an instance of 'std::bad_alloc'", FailureClass.MEMORY),
        (-SIGABRT, "memory allocation of 3000000000 bytes failed", FailureClass.MEMORY),
        (-SIGABRT, "free(): invalid pointer", FailureClass.CRASH),
        (-SIGSEGV, "", FailureClass.CRASH),
        (1, "", FailureClass.CRASH),
    ],
)
def test_an_abort_without_a_word_is_a_lack_of_memory(status: int, last_words: str, failure_class: FailureClass) -> None:
    """PDFium aborts so; the C library, C++ and Rust say what is wrong with the document."""
    error = reason_of_end(status, last_words, memory=2_000_000_000)
    assert error.failure_class is failure_class
    assert ("raise parsing.memory" in str(error)) == (failure_class is FailureClass.MEMORY)
    assert not isinstance(error, TemporaryParseError)


def test_an_end_from_outside_may_pass() -> None:
    """Another attempt may succeed."""
    assert isinstance(reason_of_end(-SIGKILL, "", memory=1), TemporaryParseError)

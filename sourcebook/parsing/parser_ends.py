"""The reason why a document has no text, by the way in which its parser's process ended."""

from signal import Signals
from typing import Final

from sourcebook.errors import FailureClass, ParseError, TemporaryParseError
from sourcebook.parsing.parse import OUT_OF_MEMORY_TEXTS
from sourcebook.parsing.worker import OUT_OF_MEMORY

FROM_OUTSIDE: Final = frozenset({-Signals.SIGKILL, -Signals.SIGTERM})
"""Exit codes of a process that another one ended, such as the kernel for lack of memory."""
_LOADER_FAILED: Final = 127
"""Exit status by which the dynamic loader ends a process where memory is missing for a library or its threads."""


def reason_of_end(status: int, last_words: str, *, memory: int) -> ParseError:
    """Return the error of a document whose parser's process ended.

    Args:
        status: exit status of the process; the negative number of a signal.
        last_words: text that it wrote to stderr.
        memory: bytes of memory that it could take.
    """
    if _ran_out_of_memory(status, last_words):
        return ParseError(
            f"its parser needs more than {memory / 1_000_000:,.0f} MB of memory; raise parsing.memory, or split the "
            "file",
            FailureClass.MEMORY,
        )
    end = Signals(-status).name if status < 0 else f"exit status {status}"
    if status in FROM_OUTSIDE:
        return TemporaryParseError(
            f"its parser crashed ({end}) twice: something ended it, often a lack of memory", FailureClass.CRASH
        )
    return ParseError(
        f"its parser crashed ({end}): it is damaged, or takes more than parsing.memory; open and save it again, or "
        "convert it",
        FailureClass.CRASH,
    )


def _ran_out_of_memory(status: int, last_words: str) -> bool:
    """Tell whether a process ended for lack of memory.

    PDFium aborts without a word then. Whatever else aborts says why: the C library on damaged memory, C++ on an
    exception, Rust on a panic, and an assertion.
    """
    if status == -Signals.SIGABRT:
        return not last_words or any(text in last_words for text in OUT_OF_MEMORY_TEXTS)
    return status in {OUT_OF_MEMORY, _LOADER_FAILED}

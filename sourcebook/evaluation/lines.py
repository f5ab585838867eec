"""Lines of a text file, read in bounded memory whatever the file holds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from sourcebook.evaluation.errors import EvaluationError, refuse

LONGEST_LINE: Final = 1_000_000
"""Bytes of a line, at most; a query has at most 10,000 characters."""

_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_BYTE_ORDER_MARK = "\ufeff"


def read_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (number, text) of each line that is not blank, counted from 1, without white space around it.

    Raises:
        EvaluationError: the file cannot be read, is not UTF-8, has a line that is too long, or is empty.
    """
    try:
        with path.open("rb") as file:
            number = 0
            empty = True
            while data := file.readline(LONGEST_LINE + 1):
                number += 1
                text = _decode(path, number, data).strip()
                if text:
                    empty = False
                    yield number, text
    except OSError as error:
        raise EvaluationError(f"{path} cannot be read: {error.strerror or error}") from error
    if empty:
        raise EvaluationError(f"{path} is empty: see docs/evaluation.md for what belongs there")


def _decode(path: Path, number: int, data: bytes) -> str:
    if number == 1 and data.startswith(_UTF_16):
        refuse(path, number, "this is UTF-16 text: save the file as UTF-8")
    if len(data) > LONGEST_LINE:
        refuse(path, number, f"the line has more than {LONGEST_LINE:,} bytes: each record stands on a line of its own")
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        refuse(path, number, f"this is not UTF-8 text ({error.reason}, byte {error.start + 1}): save the file as UTF-8")
    return text.removeprefix(_BYTE_ORDER_MARK) if number == 1 else text

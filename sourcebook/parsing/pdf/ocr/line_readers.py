"""Choice of the engines that read the pictures of lines."""

from collections.abc import Callable, Sequence

from sourcebook.parsing.pdf.ocr.engine import Pixels, Reading, read_lines

LineReader = Callable[[Sequence[Pixels]], list[Reading]]
"""A function that returns the text in each picture of a line."""


def line_reader(languages: tuple[str, ...]) -> LineReader:
    """Return RapidOCR's reader, or where languages are named, the better of its reading and Tesseract's.

    Args:
        languages: tesseract's names of languages, such as `rus`.
    """
    if not languages:
        return read_lines

    def read_with_both(cuts: Sequence[Pixels]) -> list[Reading]:
        from sourcebook.parsing.pdf.ocr.more_scripts import better_readings

        return better_readings(cuts, read_lines(cuts), languages)

    return read_with_both

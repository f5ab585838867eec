"""Choice of the engines that read the pictures of lines."""

from collections.abc import Callable, Sequence

from sourcebook.parsing.pdf.ocr.engine import Pixels, Reading, read_lines

LineReader = Callable[[Sequence[Pixels]], list[Reading]]
"""A function that returns the text in each picture of a line."""


def line_reader(languages: tuple[str, ...]) -> LineReader:
    """Return RapidOCR's reader, or where languages are named, the better of its reading and Tesseract's.

    It is made for one page and reads a line once: those that tell whether the page is upright are among all its lines.

    Args:
        languages: tesseract's names of languages, such as `rus`.
    """
    if not languages:
        return _reading_once(read_lines)

    def read_with_both(cuts: Sequence[Pixels]) -> list[Reading]:
        from sourcebook.parsing.pdf.ocr.more_scripts import better_readings

        return better_readings(cuts, read_lines(cuts), languages)

    return _reading_once(read_with_both)


def _reading_once(read: LineReader) -> LineReader:
    """Return a reader that remembers what it has read."""
    known: dict[tuple[tuple[int, ...], bytes], Reading] = {}

    def read_what_is_new(cuts: Sequence[Pixels]) -> list[Reading]:
        names = [(cut.shape, cut.tobytes()) for cut in cuts]
        new = {name: cut for name, cut in zip(names, cuts, strict=True) if name not in known}
        known.update(zip(new, read(list(new.values())), strict=True))
        return [known[name] for name in names]

    return read_what_is_new

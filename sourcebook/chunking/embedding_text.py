"""The embedding text of a passage: a line of titles, an empty line, the text."""

from collections.abc import Sequence

from sourcebook.chunking.sections import Heading
from sourcebook.chunking.tokenizer import TokenCounter

_SEPARATOR = " > "


class Prefixes:
    """The lines of titles above the passages of one document: `Title > H1 > H2`."""

    def __init__(self, title: str | None, tokenizer: TokenCounter, *, most_tokens: int) -> None:
        """Limit prefixes to `most_tokens`, without special tokens."""
        self._title = " ".join(title.split()) if title else ""
        self._tokenizer = tokenizer
        self._most_tokens = most_tokens
        self._known: dict[tuple[str, ...], tuple[str, int]] = {(): ("", 0)}

    def write(self, path: Sequence[Heading], *, start: int) -> tuple[str, int]:
        """Return the prefix of a passage that begins at `start`, and its tokens without special tokens.

        Headings within the passage are left out, as is a title equal to the outermost heading.
        """
        return self._fitted(self._titles(path, start=start))

    def tokens(self, path: Sequence[Heading]) -> int:
        """Return the tokens of the longest prefix under a path, without special tokens."""
        return self._fitted(self._titles(path, start=None))[1]

    def _titles(self, path: Sequence[Heading], *, start: int | None) -> tuple[str, ...]:
        above = [heading.title for heading in path if heading.title and (start is None or heading.start < start)]
        repeats = bool(path) and path[0].title.casefold() == self._title.casefold()
        return tuple(above if repeats or not self._title else [self._title, *above])

    def _fitted(self, titles: tuple[str, ...]) -> tuple[str, int]:
        known = self._known.get(titles)
        if known is None:
            known = self._known[titles] = self._fit(titles)
        return known

    def _fit(self, titles: tuple[str, ...]) -> tuple[str, int]:
        """Return the prefix without the outer titles that do not fit; a too long innermost title is cut."""
        prefix = _SEPARATOR.join(titles)
        offsets = self._tokenizer.offsets([prefix])[0]
        if len(offsets) <= self._most_tokens:
            return prefix, len(offsets)
        if len(titles) > 1:
            return self._fitted(titles[1:])
        if self._most_tokens < 1:
            return "", 0
        return prefix[: offsets[self._most_tokens - 1][1]], self._most_tokens


def embedding_text(prefix: str, text: str) -> str:
    """Return the text to embed: the prefix, an empty line, the text."""
    return f"{prefix}\n\n{text}" if prefix else text

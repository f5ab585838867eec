"""The embedding text of a passage: a line of titles, the end of the text before it, the passage."""

from collections.abc import Sequence

from sourcebook.chunking.sections import Heading
from sourcebook.chunking.tokenizer import TokenCounter
from sourcebook.config.collection import CONTEXT, ContextPart

_SEPARATOR = " > "


class Prefixes:
    """The lines of titles above the passages of one document: `Title > H1 > H2`."""

    def __init__(
        self,
        title: str | None,
        tokenizer: TokenCounter,
        *,
        most_tokens: int,
        context: Sequence[ContextPart] = CONTEXT,
    ) -> None:
        """Limit prefixes to `most_tokens`, without special tokens, and to the parts that the context names."""
        self._title = " ".join(title.split()) if title and "title" in context else ""
        self._has_headings = "headings" in context
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
        path = path if self._has_headings else ()
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


def embedding_text(prefix: str, text: str, previous: str = "") -> str:
    """Return the text to embed: the prefix, the end of the text before, the text, with empty lines in between."""
    return "\n\n".join(part for part in (prefix, previous, text) if part)

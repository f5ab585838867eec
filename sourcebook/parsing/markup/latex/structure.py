"""Spans of the groups and environments of a LaTeX source, found in one pass."""

import re
from collections.abc import Iterator

from sourcebook.parsing.markup.latex.macros import VERBATIM

_MARK = re.compile(
    rf"\\begin\s*\{{(?P<verbatim>{VERBATIM})\}}|\\(?P<side>begin|end)\s*\{{(?P<name>[^{{}}\n]{{1,100}})\}}"
    r"|\\verb\*?(?P<quote>[^a-zA-Z\s*])|\\.|(?P<brace>[{}])",
    re.DOTALL,
)


class Structure:
    """Ends of groups, environments and arguments, by the offset of their start."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._braces: dict[int, int] = {}
        self._environments: dict[int, tuple[int, int]] = {}
        self._find()

    def environment(self, at: int) -> tuple[int, int] | None:
        """Return the end of the content and the end of the environment that begins at offset `at`."""
        return self._environments.get(at)

    def own_tokens(self, at: int, stop: int, pattern: str) -> Iterator[tuple[int, int]]:
        """Yield the spans of the matches of `pattern` that are in no nested group or environment."""
        mark = re.compile(rf"(?P<own>{pattern})|\\begin\b|\\[^a-zA-Z]|(?P<brace>\{{)")
        while found := mark.search(self.text, at, stop):
            at = found.end()
            if found["own"]:
                yield found.span()
            elif found["brace"]:
                at = (self._braces.get(found.start()) or at - 1) + 1
            elif environment := self.environment(found.start()):
                at = max(environment[1], at)

    def argument(self, at: int, end: int) -> tuple[int, int, int]:
        """Return start and end of the next argument, and the offset after it."""
        while at < end and self.text[at].isspace():
            at += 1
        if at >= end:
            return end, end, end
        if self.text[at] == "{":
            closing = self._braces.get(at)
            return (at + 1, closing, closing + 1) if closing is not None and closing < end else (at + 1, at + 1, at + 1)
        control = re.compile(r"\\(?:[a-zA-Z]+|.)|[^\\}]", re.DOTALL).match(self.text, at, end)
        after = control.end() if control else at
        return at, after, after

    def argument_after_option(self, at: int, end: int) -> tuple[int, int, int]:
        """Return start and end of the next argument after an optional one, and the offset after it."""
        return self.argument(self.after_option(at, end), end)

    def after_option(self, at: int, end: int) -> int:
        """Return the offset after the optional argument `[...]`, or `at` where there is none."""
        if self.text[at : at + 1] != "[":
            return at
        closing = self.text.find("]", at, min(end, at + 2000))
        return at if closing < 0 else closing + 1

    def _find(self) -> None:
        text = self.text
        groups: list[int] = []
        open_ones: list[tuple[str, int]] = []
        at = 0
        while mark := _MARK.search(text, at):
            at = mark.end()
            if mark["verbatim"]:
                closing = f"\\end{{{mark['verbatim']}}}"
                end = text.find(closing, at)
                end = len(text) if end < 0 else end
                self._environments[mark.start()] = (end, min(end + len(closing), len(text)))
                at = min(end + len(closing), len(text))
            elif mark["quote"]:
                end = text.find(mark["quote"], at, at + 500)
                at = end + 1 if end >= 0 else at
            elif mark["side"] == "begin":
                open_ones.append((mark["name"], mark.start()))
            elif mark["side"] == "end":
                # Unclosed environments within end here, too.
                if any(name == mark["name"] for name, _ in open_ones[-50:]):
                    while open_ones:
                        name, start = open_ones.pop()
                        if name == mark["name"]:
                            self._environments[start] = (mark.start(), mark.end())
                            break
                        self._environments[start] = (mark.start(), mark.start())
            elif mark["brace"] == "{":
                groups.append(mark.start())
            elif mark["brace"] == "}" and groups:
                self._braces[groups.pop()] = mark.start()
        for _, start in open_ones:
            self._environments[start] = (len(text), len(text))

"""Expansion of the macros that a LaTeX document defines; comments are removed, other files are never read."""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

VERBATIM = r"verbatim\*?|[BL]?Verbatim\*?|lstlisting|minted|alltt|comment|filecontents\*?"
_TOKEN = re.compile(
    rf"\\begin\s*\{{(?P<verbatim>{VERBATIM})\}}|\\verb\*?(?P<quote>[^a-zA-Z\s*])|\\(?P<name>[a-zA-Z@]+)\*?|\\."
    r"|(?P<comment>%[^\n]*(?:\n[ \t]*)?)",
    re.DOTALL,
)
_NEW = frozenset({"newcommand", "renewcommand", "providecommand", "DeclareRobustCommand"})
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_PARAMETER = re.compile(r"#([1-9])")
_SPACE = re.compile(r"\s*")
_MOST_EXPANDED = 30_000
"""Characters that macros may add to any document; real documents add at most 2.6 per character of their own."""
_MOST_EXPANDED_PER_CHARACTER = 8
"""Characters that macros may add per character of the document, besides `_MOST_EXPANDED`."""
_MOST_NESTED = 8
"""Levels of a macro in its own arguments or, through other macros, in its own body; deeper ones stay as written."""
_COST_OF_EXPANSION = 10
"""Characters that an expansion counts for, besides those of its result."""
_LONGEST_ARGUMENT = 20_000
"""Characters of a macro's argument or definition."""


@dataclass(frozen=True, slots=True)
class _Macro:
    body: str
    arguments: int = 0
    default: str | None = None
    levels: int = _MOST_NESTED
    """Expansions of the macro that may be open at once; 1 where its body names it, for no condition would end it."""


def expanded(text: str) -> str:
    """Return LaTeX without comments and definitions, the document's own macros expanded."""
    return "".join(_Expansion(text).pieces())


class _Expansion:
    """A pass over the text that reads the expansion of each macro in its place."""

    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0
        self._waiting: list[tuple[str, int, str]] = []
        """Text, offset and name of a macro: where to continue after the macro's expansion."""
        self._open: Counter[str] = Counter()
        """Number of expansions of each macro that are being read."""
        self._macros: dict[str, _Macro] = {}
        self._left = _MOST_EXPANDED + _MOST_EXPANDED_PER_CHARACTER * len(text)

    def pieces(self) -> Iterator[str]:
        while True:
            token = _TOKEN.search(self._text, self._at)
            if token is None:
                yield self._text[self._at :]
                if not self._waiting:
                    return
                self._leave()
                continue
            yield self._text[self._at : token.start()]
            self._at = token.end()
            name = token["name"]
            if token["comment"]:
                # A comment includes its line break; an empty line after it still ends the paragraph.
                yield "\n" if self._text[self._at : self._at + 1] == "\n" else ""
            elif token["verbatim"] or token["quote"]:
                yield from self._untouched(token)
            elif name in _NEW or name == "def":
                definition = self._definition(name)
                yield "" if definition else token[0]
            elif name in self._macros and self._left > 0 and self._open[name] < self._macros[name].levels:
                self._expand(name, self._macros[name])
            else:
                yield token[0]

    def _untouched(self, token: re.Match[str]) -> Iterator[str]:
        closing = f"\\end{{{token['verbatim']}}}" if token["verbatim"] else token["quote"]
        end = self._text.find(closing, self._at)
        end = len(self._text) if end < 0 else end + len(closing)
        yield self._text[token.start() : end]
        self._at = end

    def _definition(self, command: str) -> bool:
        """Store the definition of a macro; return False where it cannot be parsed."""
        start = self._at
        name = (self._group() if command != "def" else self._control()).strip()
        if not name.startswith("\\"):
            self._at = start
            return False
        if command == "def":
            opening = self._text.find("{", self._at, self._at + 100)
            count, default = self._text[self._at : max(opening, self._at)].count("#"), None
            self._at = max(opening, self._at)
        else:
            count, default = int(found) if (found := self._option()) and found.isdigit() else 0, self._option()
        body = self._group()
        if len(body) <= _LONGEST_ARGUMENT:
            names_itself = re.search(rf"{re.escape(name)}(?![a-zA-Z@])", body) is not None
            self._macros[name[1:]] = _Macro(body, min(count, 9), default, 1 if names_itself else _MOST_NESTED)
        return True

    def _expand(self, name: str, macro: _Macro) -> None:
        arguments: list[str] = []
        if macro.default is not None and macro.arguments:
            option = self._option()
            arguments.append(macro.default if option is None else option)
        arguments += [self._group() for _ in range(macro.arguments - len(arguments))]
        body = _PARAMETER.sub(lambda found: "".join(arguments[int(found[1]) - 1 : int(found[1])]), macro.body)
        self._left -= len(body) + sum(map(len, arguments)) + _COST_OF_EXPANSION
        self._waiting.append((self._text, self._at, name))
        self._open[name] += 1
        self._text, self._at = body, 0

    def _leave(self) -> None:
        """Continue after the macro whose expansion has been read."""
        self._text, self._at, name = self._waiting.pop()
        self._open[name] -= 1

    def _group(self) -> str:
        """Consume and return the next argument: the content of braces, or one command or character."""
        self._skip_space()
        if self._text[self._at : self._at + 1] != "{":
            return self._control()
        depth = 0
        for brace in _BRACES.finditer(self._text, self._at, self._at + _LONGEST_ARGUMENT):
            depth += {"{": 1, "}": -1}.get(brace[0], 0)
            if depth == 0:
                found = self._text[self._at + 1 : brace.start()]
                self._at = brace.end()
                return found
        self._left -= min(len(self._text) - self._at, _LONGEST_ARGUMENT)  # the characters searched in vain
        self._at += 1
        return ""

    def _control(self) -> str:
        self._skip_space()
        found = re.compile(r"\\[a-zA-Z@]+|\\.|[^\\]", re.DOTALL).match(self._text, self._at)
        if found is None or found[0] in "{}":
            return ""
        self._at = found.end()
        return found[0]

    def _option(self) -> str | None:
        self._skip_space()
        if self._text[self._at : self._at + 1] != "[":
            return None
        end = self._text.find("]", self._at, self._at + 1000)
        if end < 0:
            return None
        found = self._text[self._at + 1 : end]
        self._at = end + 1
        return found

    def _skip_space(self) -> None:
        while True:
            space = _SPACE.match(self._text, self._at)
            self._at = space.end() if space else self._at
            if self._at < len(self._text) or not self._waiting:
                return
            self._leave()

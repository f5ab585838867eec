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
_NEW_ENVIRONMENT = frozenset({"newenvironment", "renewenvironment"})
_LAYOUT = re.compile(r"@|\\(?:list|trivlist|halign|[hv]box|setbox|begin\s*\{lrbox)")
"""Marks of an environment that is made of boxes and measures; its content is read as it stands."""
_ENVIRONMENT = re.compile(r"\s*\{([^{}\n]{1,100})\}")
_CONDITIONS = frozenset(
    {"if", "ifcat", "ifx", "ifnum", "ifdim", "ifodd", "ifvmode", "ifhmode", "ifmmode", "ifinner", "ifvoid", "ifhbox"}
) | {"ifvbox", "ifeof", "iftrue", "iffalse", "ifcase", "ifdefined", "ifcsname", "iffontchar"}
_MOST_UNENDED = 20
_BRANCH = re.compile(r"\\(?P<name>[a-zA-Z@]+)|\\.|%[^\n]*", re.DOTALL)
_BRACES = re.compile(r"\\.|[{}]", re.DOTALL)
_PARAMETER = re.compile(r"##|#([1-9])")
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
        """By their names; the two sides of an environment by `begin{name}` and `end{name}`."""
        self._flags = {"iftrue": True, "iffalse": False}
        self._branches: list[bool] = []
        """The conditions that are open: whether each is decided here."""
        self._unended = 0
        """Conditions without an end, each of which was looked for up to the end of the text."""
        self._left = _MOST_EXPANDED + _MOST_EXPANDED_PER_CHARACTER * len(text)

    def pieces(self) -> Iterator[str]:
        while True:
            side = None
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
            if name in {"begin", "end"} and (side := _ENVIRONMENT.match(self._text, self._at)):
                name = f"{name}{{{side[1]}}}"
            if token["comment"]:
                # A comment includes its line break; an empty line after it still ends the paragraph.
                yield "\n" if self._text[self._at : self._at + 1] == "\n" else ""
            elif token["verbatim"] or token["quote"]:
                yield from self._untouched(token)
            elif name in _NEW or name == "def":
                definition = self._definition(name)
                yield "" if definition else token[0]
            elif name in _NEW_ENVIRONMENT and self._left > 0:
                self._environment()
            elif name in {"newif", "else", "fi"} or name in _CONDITIONS or self._is_flag(name):
                yield "" if self._decides(name) else token[0]
            elif name in self._macros and self._left > 0 and self._open[name] < self._macros[name].levels:
                self._at = side.end() if side and name[-1] == "}" else self._at
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

    def _environment(self) -> None:
        """Store both sides of an environment, unless these are layout."""
        name = self._group().strip()
        count, default = int(found) if (found := self._option()) and found.isdigit() else 0, self._option()
        begin, end = self._group(), self._group()
        names_itself = f"{{{name}}}" in begin + end
        if max(len(begin), len(end)) <= _LONGEST_ARGUMENT and not names_itself and not _LAYOUT.search(begin + end):
            self._macros[f"begin{{{name}}}"] = _Macro(begin, min(count, 9), default)
            self._macros[f"end{{{name}}}"] = _Macro(end)

    def _is_flag(self, name: str | None) -> bool:
        """Tell whether a command is a condition of the document, or sets one."""
        if name is None or name in self._flags:
            return name is not None
        sets = name.removesuffix("true").removesuffix("false")
        return sets != name and f"if{sets}" in self._flags

    def _decides(self, name: str) -> bool:
        """Pass over the branch that is not shown; return False where that is not known."""
        if name == "newif":
            self._flags[self._control().removeprefix("\\")] = False
            return True
        if name in self._flags:
            self._branches.append(self._flags[name] or self._skip(to_else=True))
            return self._branches[-1]
        if name in _CONDITIONS:
            self._branches.append(False)
            return False
        if name in {"else", "fi"}:
            is_known = bool(self._branches) and self._branches[-1]
            if name == "fi" or (is_known and self._skip(to_else=False)):
                self._branches = self._branches[:-1]
            return is_known
        self._flags[f"if{name.removesuffix('true').removesuffix('false')}"] = name.endswith("true")
        return True

    def _skip(self, *, to_else: bool) -> bool:
        """Go behind the end of a condition, or to its other branch; return False where it has no end."""
        depth = 0
        if self._unended == _MOST_UNENDED:
            return False
        for token in _BRANCH.finditer(self._text, self._at):
            name = token["name"]
            if name in _CONDITIONS or name in self._flags:
                depth += 1
            elif name == "fi" and depth:
                depth -= 1
            elif not depth and (name == "fi" or (name == "else" and to_else)):
                self._at = token.start() if name == "fi" and to_else else token.end()
                return True
        self._unended += 1
        return False

    def _expand(self, name: str, macro: _Macro) -> None:
        arguments: list[str] = []
        if macro.default is not None and macro.arguments:
            option = self._option()
            arguments.append(macro.default if option is None else option)
        arguments += [self._group() for _ in range(macro.arguments - len(arguments))]
        body = _PARAMETER.sub(
            lambda found: "".join(arguments[int(found[1]) - 1 : int(found[1])]) if found[1] else "#", macro.body
        )
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

"""Conversion of expanded LaTeX to Markdown blocks."""

import re
from collections.abc import Iterator

from sourcebook.parsing.markup.latex import commands
from sourcebook.parsing.markup.latex.flow import Flow
from sourcebook.parsing.markup.latex.macros import VERBATIM
from sourcebook.parsing.markup.latex.structure import Structure
from sourcebook.parsing.text.markdown_writing import code_fence, markdown_table
from sourcebook.parsing.text.raised_text import LEVEL, LOWERED, RAISED

_TOKEN = re.compile(
    r"\\(?P<verb>verb)\*?(?P<quote>[^a-zA-Z\s*])|\\(?P<edge>begin|end)\s*\{(?P<environment>[^{}\n]{1,100})\}"
    r"|\\(?P<name>[a-zA-Z@]+)(?P<star>\*?)|\\(?P<symbol>.)"
    r"|(?P<blank>\n[ \t]*\n\s*)|(?P<dollars>\$\$?)|(?P<brace>[{}])|(?P<written>~|``|''|---?|[&#_^]|(?<!\S)[+*-](?=\s))",
    re.DOTALL,
)
_WRITTEN = {
    "~": " ", "``": "“", "''": "”", "---": "—", "--": "–", "&": " ", "#": "\\#", "*": "\\*", "-": "\\-", "+": "\\+",
}  # fmt: skip
_SYMBOLS = {
    "\\": "  \n", " ": " ", "\n": " ", ",": " ", ";": " ", ":": " ", "!": "", "/": "", "-": "", "@": "", "(": "",
    "#": "\\#",
}  # fmt: skip
_INLINE_MATH = re.compile(r"\$(?!\$)((?:[^$\\\n]|\\.|\n(?![ \t]*\n)){1,5000})\$", re.DOTALL)
_LANGUAGE = re.compile(r"language\s*=\s*\{?\s*(?:\[[^\]]*\])?\s*([\w+#-]+)", re.IGNORECASE)
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot|centering|addlinespace)\b"
    r"(?:\[[^\]]{0,50}\])?|\\(?:cline|cmidrule)(?:\([lr]*\))?\{[^{}]{0,50}\}"
)
_CELL_ENDS = r"\\\\|\\tabularnewline\b|(?<!\\)&"
_ITEM = r"\\(?:bib)?item\b"
_SPANNING = re.compile(r"\s*\\multicolumn\s*\{(\d{1,3})\}\s*\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\}\s*")
_NEW_THEOREM = re.compile(r"\\newtheorem\*?\s*\{(\w{1,50})\}\s*(?:\[\w{1,50}\]\s*)?\{([^{}\n]{1,100})\}")
_DEEPEST = 60
"""Levels of nested blocks that are converted."""
_OVERLAY = re.compile(r"<(?=[^<>\n]*[\d+])[\w+.:|,-]{1,30}>")
"""Slides of a presentation on which something is shown."""
_LONGEST_FORMULA = 20_000
"""Characters in which the end of a formula is looked for."""


class LatexWriter:
    """Converter of spans of a LaTeX source, which also collects title, author and date."""

    def __init__(self, text: str, *, depth: int = 0) -> None:
        self._text = text
        self._structure = Structure(text)
        self._depth = depth
        found = re.findall(r"\\(part|chapter|section)\b\*?\s*[\[{]", text)
        self._top = min((commands.SECTIONS.index(name) for name in found), default=commands.SECTIONS.index("section"))
        self._theorems = {name: name.capitalize() for name in commands.THEOREMS} | dict(_NEW_THEOREM.findall(text))
        self.properties: dict[str, str] = {}
        """`title`, `author` and `date`, as far as the converted spans declare them."""
        self._thanks: list[str] = []

    def document(self) -> list[str]:
        """Return the Markdown blocks of the document's body; the preamble only gives `properties`."""
        body = self._text.find("\\begin{document}")
        if body < 0:
            return self.blocks(0, len(self._text))
        self.blocks(0, body)
        found = self._structure.environment(body)
        return self.blocks(body + len("\\begin{document}"), found[0] if found else len(self._text))

    def blocks(self, start: int, end: int) -> list[str]:
        """Return the Markdown blocks of a span; below 60 levels of nesting the source is kept."""
        if self._depth >= _DEEPEST:
            return [" ".join(self._text[start:end].split())]
        self._depth += 1
        flow = Flow()
        at = start
        while at < end:
            token = _TOKEN.search(self._text, at, end)
            flow.write(self._text[at : token.start() if token else end])
            at = self._token(token, flow, end) if token else end
        self._depth -= 1
        return flow.blocks()

    def inline(self, start: int, end: int) -> str:
        """Return the Markdown of a span on one line."""
        return " ".join(" ".join(self.blocks(start, end)).split())

    def _token(self, token: re.Match[str], flow: Flow, end: int) -> int:
        """Write a token with its arguments and return the offset after them."""
        at = token.end()
        if token["verb"]:
            closing = self._text.find(token["quote"], at, end)
            if closing < 0:
                return at
            flow.write_code(self._text[at:closing])
            return closing + 1
        if token["edge"]:
            return self._environment(token, flow, end) if token["edge"] == "begin" else at
        if token["name"]:
            return self._command(token["name"], at, flow, end)
        if token["symbol"]:
            return self._symbol(token["symbol"], at, flow, end)
        if token["dollars"]:
            return self._dollars(token, flow, end)
        if token["blank"]:
            flow.end_paragraph()
        elif token["written"]:
            flow.write(_WRITTEN.get(token["written"], token["written"]))
        return at

    def _symbol(self, symbol: str, at: int, flow: Flow, end: int) -> int:
        if symbol in "([":
            closing = self._text.find("\\)" if symbol == "(" else "\\]", at, min(end, at + _LONGEST_FORMULA))
            if closing < 0:
                return at
            flow.write_math(self._text[at:closing], display=symbol == "[")
            return closing + 2
        accent = commands.accented(symbol, "x")
        if accent is not None:
            return self._accent(symbol, at, flow, end)
        flow.write(_SYMBOLS.get(symbol, symbol))
        return self._structure.after_option(at, end) if symbol == "\\" else at

    def _accent(self, accent: str, at: int, flow: Flow, end: int) -> int:
        start, stop, after = self._structure.argument(at, end)
        flow.write(commands.accented(accent, self.inline(start, stop)) or "")
        return after

    def _dollars(self, token: re.Match[str], flow: Flow, end: int) -> int:
        if token["dollars"] == "$$":
            closing = self._text.find("$$", token.end(), min(end, token.end() + _LONGEST_FORMULA))
            if closing >= 0:
                flow.write_math(self._text[token.end() : closing], display=True)
                return closing + 2
        else:
            formula = _INLINE_MATH.match(self._text, token.start(), end)
            if formula:
                flow.write_math(formula[1], display=False)
                return formula.end()
        flow.write("$")
        return token.end()

    def _command(self, name: str, at: int, flow: Flow, end: int) -> int:
        at = overlay.end() if (overlay := _OVERLAY.match(self._text, at, end)) else at
        if name in {"frametitle", "framesubtitle"}:
            return self._frame_title(at, flow, end, is_title=name == "frametitle")
        if name == "thanks":
            start, stop, after = self._structure.argument(at, end)
            self._thanks.append(self.inline(start, stop))
            return after
        if name in commands.SECTIONS:
            start, stop, after = self._structure.argument_after_option(at, end)
            level = min(max(commands.SECTIONS.index(name) - self._top, 0) + 2, 6)
            flow.add(f"{'#' * level} {self.inline(start, stop)}")
            return after
        if name in {"title", "author", "date"}:
            start, stop, after = self._structure.argument_after_option(at, end)
            self.properties[name] = self.inline(start, stop).replace(" ,", ",")
            return after
        if name in commands.UNSEEN_ARGUMENTS:
            for _ in range(commands.UNSEEN_ARGUMENTS[name]):
                at = self._structure.argument_after_option(at, end)[2]
            return self._structure.after_option(at, end)
        if name == "maketitle":
            for key, mark in (("title", "# "), ("author", ""), ("date", "")):
                flow.add(f"{mark}{self.properties.get(key, '')}")
            flow.add_all(self._thanks)
            return at
        if len(name) == 1 and commands.accented(name, "x") is not None:
            return self._accent(name, at, flow, end)
        return self._marking(name, at, flow, end)

    def _frame_title(self, at: int, flow: Flow, end: int, *, is_title: bool) -> int:
        """Write the title of a slide as a heading below a section, and return the offset after it."""
        start, stop, after = self._structure.argument_after_option(at, end)
        level = max(commands.SECTIONS.index("subsection") - self._top, 0) + 2
        flow.add(f"{'#' * level if is_title else ''} {self.inline(start, stop)}".strip())
        return after

    def _marking(self, name: str, at: int, flow: Flow, end: int) -> int:
        """Write a command that formats its argument, and return the offset after it."""
        if name == "href":
            start, stop, after = self._structure.argument(at, end)
            url = self._text[start:stop].replace("\\", "").strip()
            start, stop, after = self._structure.argument(after, end)
            flow.write(f"[{self.inline(start, stop)}]({url})")
            return after
        if name in {"url", "nolinkurl"}:
            start, stop, after = self._structure.argument(at, end)
            flow.write(f"<{self._text[start:stop].strip()}>")
            return after
        if name in commands.SHOWN:
            start, stop, after = self._structure.argument(at, end)
            flow.write_code(f"\\{name}{{{self._text[start:stop].strip()}}}")
            return after
        if name in commands.REFERENCES or commands.is_citation(name):
            start, stop, after = self._structure.argument(
                self._structure.after_option(self._structure.after_option(at, end), end), end
            )
            flow.write(f"[{', '.join(self._text[start:stop].replace(',', ' ').split())}]")
            return after
        if name in {"footnote", "footnotetext", "caption"}:
            start, stop, after = self._structure.argument_after_option(at, end)
            inner = self.inline(start, stop)
            flow.add(inner) if name == "caption" else flow.write(f" ({inner})")
            return after
        if name in commands.STYLES or name in commands.CODES:
            at = self._structure.argument_after_option(at, end)[2] if name == "mintinline" else at
            start, stop, after = self._structure.argument_after_option(at, end)
            inner = self.inline(start, stop)
            mark = commands.STYLES.get(name, "`")
            end_mark = LEVEL if mark in {RAISED, LOWERED} else mark
            flow.write(f"{mark}{inner}{end_mark}" if inner else "")
            return after
        for _ in range(commands.SKIPPED_FIRST.get(name, 0)):
            at = self._structure.argument_after_option(at, end)[2]
        text = commands.symbol_text(name)
        if text is None:
            return self._structure.after_option(at, end)
        if text == "\n\n":
            flow.end_paragraph()
        else:
            flow.write(text)
        return at + (self._text[at : at + 1] in {" ", "\n"})

    def _environment(self, token: re.Match[str], flow: Flow, end: int) -> int:
        """Write an environment and return the offset after it."""
        name = token["environment"].rstrip("*")
        found = self._structure.environment(token.start())
        if found is None or found[0] > end:
            return token.end()
        stop, after = found
        at = token.end()
        if name in commands.UNSEEN:
            return after
        if re.fullmatch(VERBATIM, name):
            flow.add(self._code(name, at, stop))
        elif name in commands.EQUATIONS:
            at = self._structure.argument(at, stop)[2] if name == "alignat" else at
            body = self._text[at:stop]
            whole = (
                body
                if name in {"equation", "displaymath", "math"}
                else f"{token[0]}{body}\\end{{{token['environment']}}}"
            )
            flow.write_math(whole, display=True)
        elif token["environment"] in commands.TABLES or name in commands.TABLES:
            flow.add(self._table(token["environment"], at, stop))
        elif name in commands.LISTS or name == "thebibliography":
            at = (
                self._structure.argument(at, stop)[2]
                if name == "thebibliography"
                else self._structure.after_option(at, stop)
            )
            flow.add("## References" if name == "thebibliography" else "")
            flow.add("\n".join(self._items(at, stop, numbered="enum" in name)))
        else:
            flow.add_all(self._prose(name, at, stop))
        return after

    def _prose(self, name: str, at: int, stop: int) -> list[str]:
        label = ""
        at = overlay.end() if (overlay := _OVERLAY.match(self._text, at, stop)) else at
        option_end = self._structure.after_option(at, stop)
        if name in self._theorems:
            option = self.inline(at, option_end).strip("[] ")
            label = f"**{self._theorems[name]}{f' ({option})' if option else ''}.** "
        at = option_end
        for _ in range(commands.ARGUMENTS_OF.get(name, 0)):
            at = self._structure.after_option(self._structure.argument(at, stop)[2], stop)
        flow = Flow()
        for is_title in (True, False):
            if name == "frame" and self._text[at : at + 1] == "{":
                at = self._frame_title(at, flow, stop, is_title=is_title)
        blocks = [*flow.blocks(), *self.blocks(at, stop)]
        if name == "abstract":
            return ["## Abstract", *blocks]
        if label and blocks:
            blocks[0] = (
                f"{label}{blocks[0]}" if not blocks[0].startswith(("#", "```", "- ", "1. ", "|", "$$")) else blocks[0]
            )
        if name in commands.QUOTES:
            return ["\n".join(f"> {line}".rstrip() for line in "\n\n".join(blocks).split("\n"))]
        return blocks

    def _code(self, name: str, at: int, stop: int) -> str:
        after = self._structure.after_option(at, stop)
        found = _LANGUAGE.search(self._text[at:after])
        language = found[1].lower() if found else ""
        if name == "minted" and self._text[after : after + 1] == "{" and "}" in self._text[after:stop]:
            closing = self._text.find("}", after, stop)
            language, after = self._text[after:closing].strip("{ "), closing + 1
        code = self._text[after:stop].strip("\n").rstrip()
        return code_fence(code, language)

    def _items(self, at: int, stop: int, *, numbered: bool) -> Iterator[str]:
        starts = list(self._structure.own_tokens(at, stop, _ITEM))
        for number, (begin, inside) in enumerate(starts, start=1):
            end = starts[number][0] if number < len(starts) else stop
            inside = overlay.end() if (overlay := _OVERLAY.match(self._text, inside, end)) else inside
            after = self._structure.after_option(inside, end)
            label = self.inline(inside, after).strip("[] ")
            if self._text.startswith("\\bibitem", begin):
                start, key_end, after = self._structure.argument(after, end)
                label = self._text[start:key_end]
            mark = f"{number}. " if numbered else "- "
            blocks = self.blocks(after, end)
            if label:
                label_text = f"[{label}]" if self._text.startswith("\\bibitem", begin) else f"**{label}**"
                blocks = (
                    [f"{label_text} {blocks[0]}", *blocks[1:]]
                    if blocks and blocks[0][0] not in "-1`|"
                    else [label_text, *blocks]
                )
            lines = "\n\n".join(blocks or [""]).split("\n")
            margin = " " * len(mark)
            yield "\n".join([mark + lines[0], *(f"{margin}{line}" if line else "" for line in lines[1:])])

    def _table(self, name: str, at: int, stop: int) -> str:
        for _ in range(commands.TABLES.get(name, 1)):
            at = self._structure.argument_after_option(at, stop)[2]
        rows: list[list[str]] = []
        row: list[str] = []
        begin = at
        for place, after in [*self._structure.own_tokens(at, stop, _CELL_ENDS), (stop, stop)]:
            row += self._cell(begin, place)
            begin = after
            if self._text[place : place + 1] != "&":
                begin = self._structure.after_option(after, stop)
                if any(row):
                    rows.append(row)
                row = []
        return markdown_table(rows)

    def _cell(self, start: int, end: int) -> list[str]:
        source = _RULES.sub("", self._text[start:end])
        spanning = _SPANNING.match(source)
        if not source.strip():
            return [""]
        if spanning:
            cell = LatexWriter(source[spanning.end() :], depth=self._depth)
            return [cell.inline(0, len(source) - spanning.end()), *[""] * (min(int(spanning[1]), 200) - 1)]
        if len(source) == end - start:
            return [self.inline(start, end)]
        return [LatexWriter(source, depth=self._depth).inline(0, len(source))]

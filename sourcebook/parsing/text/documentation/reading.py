"""Blocks of documentation tools as plain Markdown: admonitions, tabs, containers, directives, includes, attributes.

The text that a reader of the published page sees stays, with the titles of its blocks in bold; marks that nobody sees
go. Code stays as it is. What a tool would include from another file is a link to it.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

from sourcebook.parsing.text.documentation.attributes import ATTRIBUTES, id_in, without_attributes
from sourcebook.parsing.text.documentation.headers import Header, colon_header, directive_header, slash_header
from sourcebook.parsing.text.documentation.includes import Includes
from sourcebook.parsing.text.documentation.lines import (
    behind_options,
    closing_lines,
    indented_body,
    logical_lines,
    split_indent,
    without_margin,
)
from sourcebook.parsing.text.documentation.tags import OPENING, Tags, component_title
from sourcebook.parsing.text.documentation.verbatim import code_end, exported_lines, imported_lines, raw_block
from sourcebook.parsing.text.documentation.writer import Writer
from sourcebook.parsing.text.markdown_writing import code_fence

_SIGN: Final = re.compile(
    r"\n[ \t>]*(?:!!!|\?\?\?|={3}[!+]?[ ]*\"|/{3}|:{3}|[-;]+8<|<<<[ ]|\([^\s()]+\)=|import[ ]|export[ ]|\[!\w"
    r"|\[\[?_?toc|[`~]{3,}\{)|\{(?:[{%!*/:]|[ ]?[:.\#-]|[ ]?[\w:@-]+=|[\w:.+-]+\}`)|</?[A-Z]|!\[\[|<!--[ ]*@include",
    re.IGNORECASE,
)
_ITEM: Final = re.compile(r"[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+(?=\S)")
_ADMONITION: Final = re.compile(
    r'(?:!!!|\?\?\?\+?)[ \t]*(?P<name>[A-Za-z][\w-]*)(?P<words>(?:[ \t]+[\w-]+)*)(?:[ \t]+"(?P<title>.*?)")?[ \t]*$'
)
_PLACES: Final = frozenset({"inline", "end"})
"""Words of an admonition that say where it stands."""
_TAB: Final = re.compile(r'===[!+]?[ \t]+"(.*)"[ \t]*$')
_CALLOUT: Final = re.compile(r"\[!([\w-]+)(?:\|[^\]]*)?\][+-]?[ \t]*(.*)$")
_FIRST: Final = frozenset("!?=:/<->{([")
"""First signs of the blocks of tools, but fenced code."""
_CLOSED: Final = frozenset(":/<")
"""Those of blocks that a line of its own closes."""
_MARKERS: Final = frozenset("-*+0123456789")
_ESM: Final = ("import ", "export ")
_HEADING: Final = re.compile(r"#{1,6}[ \t]+\S")
_UNDERLINE: Final = re.compile(r"[ ]{0,3}(?:=+|-+)[ \t]*$")
_ATTRIBUTE_LINE: Final = re.compile(
    rf"\{{(?::(?P<kramdown>(?:[ \t]*(?:{ATTRIBUTES}|[\w-]+))*|:\w+[^}}\n]*|/\w*)"
    rf"|[ \t]*(?=[.\#])(?P<list>{ATTRIBUTES}))[ \t]*\}}[ \t]*$"
)
_TARGET: Final = re.compile(r"\(([^\s()]+)\)=[ \t]*$")
_CONTENTS: Final = re.compile(r"\[\[?_?toc_?\]\]?$", re.IGNORECASE)
_DIRECTIVE_OPTION: Final = re.compile(r"[ \t]*:([\w-]+):(.*)$")
_SEEN_OPTIONS: Final = frozenset({"header", "title", "caption", "alt", "footer"})
_NO_ID: Final = re.compile(r"[^a-z0-9]+")
_DEEPEST: Final = 20
"""Blocks within blocks that are read."""
_MOST_FAILURES: Final = 100
"""Blocks without an end, after which none is looked for: the time would grow with the square of their number."""
_CODE_INDENT: Final = 4
_End = TypeVar("_End")


@dataclass(frozen=True, slots=True)
class PlainMarkdown:
    """A document as plain Markdown."""

    text: str
    anchors: tuple[tuple[int, str], ...] = ()
    """Offsets of headings with the ids that they are given."""
    not_included: tuple[str, ...] = ()
    """Files whose text a tool would put into the page, as they are written."""


def plain_markdown(text: str, start: int = 0) -> PlainMarkdown:
    """Return a document as its published page says it; the same text where no tool has left a mark.

    Args:
        text: the document.
        start: offset behind its front matter.
    """
    body = text[start:]
    if _SIGN.search(f"\n{body}") is None:
        return PlainMarkdown(text)
    reader = _Reader(body, start)
    reader.read(logical_lines(body), depth=0)
    plain = "".join([text[:start], *reader.writer.lines])
    if not text.endswith("\n"):
        plain = plain.removesuffix("\n")
    return PlainMarkdown(plain, tuple(reader.writer.anchors), tuple(dict.fromkeys(reader.includes.names)))


class _Reader:
    """Reads the lines of a document, and writes them as plain Markdown."""

    def __init__(self, body: str, start: int) -> None:
        self.writer = Writer(start)
        self.includes = Includes()
        self._tags = Tags(body, self.includes.mention)
        self._failures = 0

    def read(self, lines: Sequence[str], *, depth: int) -> None:
        """Write the lines of the document, or of a block in it."""
        writer = self.writer
        closing: dict[int, int] | None = None
        place = margin = 0
        may_begin, in_code = True, False
        while place < len(lines):
            line = lines[place]
            stripped = line.lstrip(" \t")
            if not stripped:
                if not writer.is_separated:
                    writer.write(line)
                may_begin = True
                place += 1
                continue
            indent = 0 if line is stripped else len(line.expandtabs(4)) - len(stripped.expandtabs(4))
            if may_begin and indent < margin:
                margin = indent
            in_code = indent >= margin + _CODE_INDENT and (may_begin or in_code)
            end = None
            if in_code or depth >= _DEEPEST:
                writer.write(line)
                end = place + 1
            elif stripped[0] in _FIRST or "```" in line or "~~~" in line or (may_begin and line.startswith(_ESM)):
                if closing is None and stripped[0] in _CLOSED:
                    closing = closing_lines(lines)
                close = closing.get(place) if closing is not None else None
                end = self._block(lines, place, depth, close, is_first=may_begin)
            if end is None:
                if "{" in line or "<" in line or "![[" in line or stripped[0] == "#" or writer.given is not None:
                    self._line(lines, place)
                else:
                    writer.write(line)
                if stripped[0] in _MARKERS and (item := _ITEM.match(line)) is not None:
                    margin = len(item[0].expandtabs(4))
                end = place + 1
            may_begin = writer.is_blank
            place = end

    def _line(self, lines: Sequence[str], place: int) -> None:
        """Write a heading or another line that begins no block; one that held nothing but tags is left out."""
        line = lines[place]
        is_heading = _HEADING.match(line.lstrip(" \t")) is not None
        if not is_heading and place + 1 < len(lines) and (line.rstrip().endswith("}") or self.writer.given is not None):
            is_heading = _UNDERLINE.match(lines[place + 1]) is not None
        if is_heading:
            plain, own = without_attributes(line)
            self.writer.heading(self._tags.in_line(plain), own)
        elif (plain := self._tags.in_line(line)) is line or plain.strip():
            self.writer.write(plain)
        else:
            self.writer.separate()

    def _block(self, lines: Sequence[str], place: int, depth: int, close: int | None, *, is_first: bool) -> int | None:
        """Write a block of a tool, and return the line behind it; None where the line begins none.

        Args:
            lines: the lines that hold it.
            place: number of its first line.
            depth: number of the blocks around it.
            close: number of the line that closes it, where one does.
            is_first: whether the line before is blank.
        """
        line = lines[place]
        if (end := code_end(lines, place)) is not None:
            return self._code(lines, place, end, depth)
        if is_first and line.startswith(_ESM):
            return self._found(
                lambda: imported_lines(lines, place, self._tags.imported) or exported_lines(lines, place)
            )
        match line.lstrip(" \t")[0]:
            case "!" | "?" | "=":
                return self._admonition(lines, place, depth)
            case ":":
                return self._colons(lines, place, depth, close)
            case "/":
                return self._slashes(lines, place, depth, close)
            case "<":
                return self._include(lines, place) or self._component(lines, place, depth, close)
            case "-":
                return self._include(lines, place)
            case ">":
                return self._quote(lines, place, depth)
            case "{":
                return self._braces(lines, place)
            case "(" if (target := _TARGET.match(line)) is not None:
                self.writer.give(_NO_ID.sub("-", target[1].casefold()).strip("-"))
                return place + 1
            case "[" if _CONTENTS.match(line.strip()) is not None:
                return place + 1
        return None

    def _found(self, look: Callable[[], _End | None]) -> _End | None:
        """Look for the end of a block, unless that was often in vain."""
        if self._failures >= _MOST_FAILURES:
            return None
        end = look()
        self._failures += end is None
        return end

    def _code(self, lines: Sequence[str], place: int, end: int, depth: int) -> int:
        """Write fenced code, or a directive of MyST, which looks like it."""
        opening = lines[place].lstrip(" \t")
        header = directive_header(opening.lstrip("`~")) if "{" in opening else None
        if header is None:
            self.writer.copy(lines[place:end])
        else:
            is_closed = end - place > 1 and not lines[end - 1].strip().strip(opening[0])
            self._container(header, lines[place], lines[place + 1 : end - is_closed], depth)
        return end

    def _admonition(self, lines: Sequence[str], place: int, depth: int) -> int | None:
        indent, head = split_indent(lines[place])
        if (tab := _TAB.match(head)) is not None:
            header = Header(tab[1])
        elif (found := _ADMONITION.match(head)) is None:
            return None
        elif found["title"] is not None:
            header = Header(found["title"])
        else:
            words = " ".join(word for word in found["words"].split() if word not in _PLACES)
            header = Header(found["name"].replace("-", " ").capitalize(), words)
        body, end = indented_body(lines, place)
        self._inside(header, indent, body, depth)
        return end

    def _colons(self, lines: Sequence[str], place: int, depth: int, close: int | None) -> int | None:
        header = colon_header(lines[place].strip())
        if header is None:
            return None
        if close is not None:
            self._container(header, lines[place], lines[place + 1 : close], depth)
            return close + 1
        if "." not in header.name or header.title:
            return None
        self.writer.write(f"`{header.name}`")  # code that mkdocstrings describes
        return behind_options(lines, place + 1)

    def _slashes(self, lines: Sequence[str], place: int, depth: int, close: int | None) -> int | None:
        header = slash_header(lines[place].strip())
        if header is None or close is None:
            return None
        indent = split_indent(lines[place])[0]
        body = lines[min(behind_options(lines, place + 1), close) : close]
        self._inside(header, indent, [line.removeprefix(indent) for line in body], depth)
        return close + 1

    def _container(self, header: Header, head: str, lines: Sequence[str], depth: int) -> None:
        """Write a container or a directive, whose options stand above its content."""
        indent, begin = split_indent(head)[0], 0
        words = [header.words]
        while header.is_directive and begin < len(lines) and (option := _DIRECTIVE_OPTION.match(lines[begin])):
            value = option[2].strip()
            words += [value] if option[1] in _SEEN_OPTIONS else []
            words += [f"[{value}]({value})"] if option[1] == "link" and re.fullmatch(r"\S*[./]\S*", value) else []
            begin += 1
        if header.file:
            self.writer.write(indent + self.includes.mention(header.file, False))
        body = [line.removeprefix(indent) for line in lines[begin:]]
        if header.code is not None:
            body = code_fence("\n".join(body), header.code).split("\n")
        self._inside(Header(header.title, " ".join(words).strip()), indent, body, depth)

    def _include(self, lines: Sequence[str], place: int) -> int | None:
        found = self.includes.lines(lines, place)
        if found is None:
            return None
        indent = split_indent(lines[place])[0]
        for line in found[0]:
            self.writer.write(indent + line if line else "")
        return found[1]

    def _component(self, lines: Sequence[str], place: int, depth: int, close: int | None) -> int | None:
        indent, head = split_indent(lines[place])
        opening = OPENING.match(head) if close is not None else None
        if close is None or opening is None:
            return None
        title = component_title(opening["name"], opening["name_attributes"])
        self._inside(Header(title), indent, without_margin(lines[place + 1 : close]), depth)
        return close + 1

    def _inside(self, header: Header, indent: str, lines: Sequence[str], depth: int) -> None:
        """Write the title of a block in bold, and what is in it."""
        writer = self.writer
        with writer.within(indent):
            writer.separate()
            if title := self._tags.in_line(header.title.strip()):
                writer.write(title if "**" in title else f"**{title}**")
                writer.separate()
            if header.words:
                writer.write(self._tags.in_line(header.words))
                writer.separate()
            self.read(lines, depth=depth + 1)
            writer.separate()

    def _quote(self, lines: Sequence[str], place: int, depth: int) -> int | None:
        end = place
        while end < len(lines) and lines[end].lstrip(" ").startswith(">"):
            end += 1
        inner = [line.lstrip(" ")[1:].removeprefix(" ") for line in lines[place:end]]
        if _SIGN.search("\n" + "\n".join(inner)) is None:
            self.writer.copy(lines[place:end])
            return end
        with self.writer.within(split_indent(lines[place])[0] + "> "):
            if (callout := _CALLOUT.match(inner[0])) is not None:
                title = self._tags.in_line(callout[2]).strip() or callout[1].replace("-", " ").capitalize()
                self.writer.write(f"**{title}**")
                self.writer.write("")
                del inner[0]
            self.read(inner, depth=depth + 1)
        return end

    def _braces(self, lines: Sequence[str], place: int) -> int | None:
        line = lines[place].strip()
        if line.startswith(("{%", "{{", "{:")):
            raw = self._found(lambda: raw_block(lines, place)) if "highlight" in line or "comment" in line else None
            if raw is not None:
                self.writer.separate()
                for each in raw.lines:
                    self.writer.write(each)
                return raw.end
        found = _ATTRIBUTE_LINE.match(line)
        if found is None:
            return None
        self.writer.give(id_in(found["kramdown"] or found["list"] or ""))
        if (found["kramdown"] or "").startswith("toc") and self.writer.lines and _ITEM.match(self.writer.lines[-1]):
            self.writer.take_back()  # the list in whose place the table of contents stands
        return place + 1

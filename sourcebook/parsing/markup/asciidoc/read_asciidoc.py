"""AsciiDoc as Markdown: sections, lists, tables, code and admonitions; other files are never included."""

import re
from collections.abc import Iterator, Sequence

from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.markup.asciidoc.header import ATTRIBUTE, read_header
from sourcebook.parsing.markup.asciidoc.inline import Inline
from sourcebook.parsing.markup.asciidoc.lists import list_item, markdown_list
from sourcebook.parsing.markup.asciidoc.tables import table_rows
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.markdown import markdown_blocks
from sourcebook.parsing.text.markdown_writing import code_fence, markdown_table
from sourcebook.parsing.text.titles import document_title, plain_title

_DEEPEST = 20
"""Levels of nested blocks that are converted."""
_ADMONITIONS = ("NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION")
_ADMONITION = re.compile(rf"({'|'.join(_ADMONITIONS)}):[ \t]+(.*)", re.DOTALL)
_SECTION = re.compile(r"(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+\1)?[ \t]*")
_DELIMITER = re.compile(r"(-{4,}|\.{4,}|={4,}|\*{4,}|_{4,}|\+{4,}|/{4,}|--|`{3,})[ \t]*|(`{3,})([\w+#.-]+)[ \t]*")
_TABLE = re.compile(r"([|,:!])={3,}[ \t]*")
_BLOCK_ATTRIBUTES = re.compile(r"\[(?!\[)([^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)\][ \t]*")
_SILENT = re.compile(r"(?:\[\[[^\]]*\]\]|<<<|//(?!/).*|ifeval::\[.*\]|(?:ifdef|ifndef|endif)::\S*\[\]|toc::\[\])[ \t]*")
_CONDITIONAL = re.compile(r"(?:ifdef|ifndef)::\S{0,200}\[(.+)\][ \t]*")
_MACRO = re.compile(r"(image|video|audio|include)::(\S[^\[]*)\[(.*)\][ \t]*")
_RULE = re.compile(r"'{3,}|-{3}|\*{3}")
_UNDERLINES = {"=": 1, "-": 2, "~": 3, "^": 4, "+": 5}


def parse_asciidoc(content: bytes, *, name: str) -> ParsedDocument:
    """Parse a document; author, revision, description and keywords of its header become metadata.

    `include::` is shown as a line and never followed.
    """
    decoded = decode(content)
    inline = Inline()
    lines = decoded.text.expandtabs(4).split("\n")
    header = read_header(lines, inline)
    pieces = [f"# {inline.markdown(header.title)}"] if header.title else []
    pieces += _Blocks(lines[header.end :], inline, depth=0).pieces()
    text = "\n\n".join(piece for piece in pieces if piece.strip())
    markdown = f"{text}\n" if text else ""
    blocks = tuple(markdown_blocks(markdown))
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=plain_title(inline.markdown(header.title)) or document_title(blocks),
        language=header.language or detect_language(markdown, blocks),
        metadata={**header.metadata, "encoding": decoded.encoding},
    )


class _Blocks:
    """Converter of lines, block by block; a nested block has a converter of its own."""

    def __init__(self, lines: Sequence[str], inline: Inline, *, depth: int) -> None:
        self._lines = lines
        self._inline = inline
        self._depth = depth
        self._at = 0
        self._attributes: dict[str, str] = {}
        self._title = ""

    def pieces(self) -> Iterator[str]:
        """Yield the blocks in Markdown."""
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip()
            if not self._consume_attribute(line):
                yield from self._with_title(self._block(line))
                self._attributes, self._title = {}, ""
        yield from self._with_title("")

    def _with_title(self, text: str) -> Iterator[str]:
        if self._title:
            yield f"**{self._inline.markdown(self._title)}**"
        if text:
            yield text

    def _consume_attribute(self, line: str) -> bool:
        """Consume a line that is no block: an attribute, the title of the next block, a comment or an empty line."""
        if attribute := ATTRIBUTE.fullmatch(line):
            self._inline.define(attribute[1].strip("!"), attribute[2] or "")
        elif found := _BLOCK_ATTRIBUTES.fullmatch(line):
            self._attributes |= _attributes(found[1])
        elif len(line) > 1 and line[0] == "." and line[1] not in ". \t":
            self._title = line[1:]
        elif line and not _SILENT.fullmatch(line):
            return False
        self._at += 1
        return True

    def _block(self, line: str) -> str:
        if delimiter := _DELIMITER.fullmatch(line):
            return self._delimited(delimiter[1] or delimiter[2], delimiter[3] or "")
        if table := _TABLE.fullmatch(line):
            rows = table_rows(self._until(line), delimiter=table[1], attributes=self._attributes)
            return markdown_table([[self._inline.markdown(cell) for cell in row] for row in rows])
        if section := _SECTION.fullmatch(line):
            self._at += 1
            return f"{'#' * len(section[1])} {self._inline.markdown(section[2])}"
        if macro := _MACRO.fullmatch(line):
            self._at += 1
            caption = macro[3].partition(",")[0].strip('" ')
            return f"`{line}`" if macro[1] == "include" else self._inline.markdown(caption)
        if _RULE.fullmatch(line):
            self._at += 1
            return "***"
        if conditional := _CONDITIONAL.fullmatch(line):
            self._at += 1
            return self._inline.markdown(conditional[1])
        if level := self._underlined(line):
            self._at += 2
            return f"{'#' * level} {self._inline.markdown(line)}"
        return self._list() if list_item(line) else self._paragraph()

    def _underlined(self, line: str) -> int:
        """Return the level of a section with an underlined title, 0 for any other line."""
        below = self._lines[self._at + 1].rstrip() if self._at + 1 < len(self._lines) else ""
        if len(below) < 3 or len(set(below)) > 1 or abs(len(below) - len(line)) > 2:
            return 0
        return _UNDERLINES.get(below[0], 0) if any(letter.isalnum() for letter in line) else 0

    def _until(self, delimiter: str) -> list[str]:
        """Consume a delimited block and return its lines; an unclosed block reaches the end of the document."""
        start = self._at + 1
        end = start
        while end < len(self._lines) and self._lines[end].rstrip() != delimiter:
            end += 1
        self._at = end + 1
        return list(self._lines[start:end])

    def _delimited(self, delimiter: str, language: str) -> str:
        mark = delimiter[0]
        inside = self._until(delimiter)
        style = self._attributes.get("1", "")
        if mark == "/" or style == "comment":
            return ""
        if mark == "+" and style in {"stem", "latexmath", "asciimath"}:
            return "\n".join(["$$", *inside, "$$"])
        if mark in "-.+`" and len(delimiter) > 2:
            return self._code(inside, language)
        if style in {"source", "listing", "literal"}:
            return self._code(inside, "")
        if style == "verse":
            return _quoted("  \n".join(map(self._inline.markdown, inside)) + self._attribution())
        if self._depth >= _DEEPEST:
            return self._inline.markdown("\n".join(inside))
        text = "\n\n".join(_Blocks(inside, self._inline, depth=self._depth + 1).pieces())
        if style in _ADMONITIONS:
            title = f"**{style.capitalize()}:** {self._inline.markdown(self._title)}".rstrip()
            self._title = ""
            return _quoted(f"{title}\n\n{text}")
        if mark == "_" or style == "quote":
            return _quoted(text + self._attribution())
        return text

    def _code(self, lines: Sequence[str], language: str) -> str:
        if self._attributes.get("1", "source") == "source":
            language = language or self._attributes.get("language") or self._attributes.get("2", "")
        return code_fence("\n".join(lines), language)

    def _attribution(self) -> str:
        people = [self._attributes[place] for place in ("2", "3") if self._attributes.get(place)]
        return f"\n\n— {self._inline.markdown(', '.join(people))}" if people else ""

    def _paragraph(self) -> str:
        lines = self._text_lines()
        style = self._attributes.get("1", "")
        if style in {"source", "listing", "literal"} or (lines[0][:1] == " " and not style):
            return self._code(lines, "")
        if style == "verse":
            return _quoted("  \n".join(map(self._inline.markdown, lines)) + self._attribution())
        text = "\n".join(line.lstrip() for line in lines)
        admonition = _ADMONITION.fullmatch(text)
        label, text = (admonition[1], admonition[2]) if admonition else (style, text)
        # Line by line: markup that continues on the next line stays as it is.
        text = "\n".join(map(self._inline.markdown, text.split("\n")))
        if label in _ADMONITIONS:
            return f"**{label.capitalize()}:** {text}"
        return _quoted(text + self._attribution()) if style == "quote" else text

    def _text_lines(self) -> list[str]:
        """Consume the lines of a paragraph, up to an empty line or the start of another block."""
        lines = [self._lines[self._at].rstrip()]
        self._at += 1
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip()
            if not line or line == "+" or _begins_block(line):
                break
            if not _SILENT.fullmatch(line):
                lines.append(line)
            self._at += 1
        return lines

    def _list(self) -> str:
        items = []
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip()
            item = list_item(line)
            if item is not None:
                more = self._item_lines()
                item.text = "\n".join(self._inline.markdown(part) for part in (item.text, *more) if part)
                item.term = self._inline.markdown(item.term)
                items.append(item)
            elif line == "+" and items:
                self._at += 1
                items[-1].attached += self._attached()
            elif line and not _SILENT.fullmatch(line):
                break
            else:
                self._at += 1
                if not line and not self._continues_list():
                    break
        return markdown_list(items)

    def _item_lines(self) -> list[str]:
        """Consume the continuation lines of an item."""
        lines: list[str] = []
        self._at += 1
        while self._at < len(self._lines):
            line = self._lines[self._at].rstrip()
            if not line or line == "+" or list_item(line) or _begins_block(line):
                break
            if not _SILENT.fullmatch(line):
                lines.append(line.strip())
            self._at += 1
        return lines

    def _continues_list(self) -> bool:
        """Return whether another item follows the blank lines here, and consume these."""
        while self._at < len(self._lines) and not self._lines[self._at].strip():
            self._at += 1
        return self._at < len(self._lines) and list_item(self._lines[self._at].rstrip()) is not None

    def _attached(self) -> Iterator[str]:
        """Yield the block after a line `+`, which attaches it to an item."""
        attributes, title = self._attributes, self._title
        self._attributes, self._title = {}, ""
        while self._at < len(self._lines) and self._consume_attribute(self._lines[self._at].rstrip()):
            pass
        line = self._lines[self._at].rstrip() if self._at < len(self._lines) else ""
        if line and line != "+" and not list_item(line):
            yield from self._with_title(self._block(line))
        self._attributes, self._title = attributes, title


def _begins_block(line: str) -> bool:
    return bool(
        (_DELIMITER.fullmatch(line) and line != "--")
        or _TABLE.fullmatch(line)
        or _BLOCK_ATTRIBUTES.fullmatch(line)
        or (line.startswith(("image::", "video::", "include::")) and _MACRO.fullmatch(line))
    )


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" if line else ">" for line in text.split("\n"))


def _attributes(written: str) -> dict[str, str]:
    """Parse `[style#id.role%option, second, name=value]`; positional attributes are named "1", "2" and so on."""
    found: dict[str, str] = {}
    for place, part in enumerate(re.findall(r'(?:[^,"]|"[^"]*")+', written), start=1):
        name, equals, value = part.strip().partition("=")
        if equals:
            found[name.strip()] = value.strip().strip("\"'")
        else:
            found[str(place)] = re.split(r"[#.%]", name)[0].strip("\"' ") if place == 1 else name.strip("\"' ")
    return found

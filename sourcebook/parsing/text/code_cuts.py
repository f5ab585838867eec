"""Cuts of source code: at functions and classes, and at the members of long classes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from sourcebook.parsing.text import code_grammars as grammars
from sourcebook.parsing.text.data_cuts import Cut

if TYPE_CHECKING:
    from tree_sitter import Node

_LARGEST = 1_000_000
"""Characters of a file above which it is cut at blank lines."""
_LARGEST_OF = {"fsharp": 60_000}
"""Characters above which files of a language are cut at blank lines: F#'s parser is quadratic in unreadable text."""
_DEEPEST_BRACKETS = 500
"""Open brackets above which no grammar is used: some are quadratic in unclosed brackets; people nest a few dozen."""
_STATEMENT_END = re.compile(r"[;{}]")
_AFTER_BLANK_LINE = re.compile(r"(?<=\n)[ \t]*\n(?=[^\s)\]}])")
_BRACKET = re.compile(r"[()\[\]{}]")
_DEFINITION = re.compile(
    r"""(?imx) (?>(?:^[\d\ \t]*(?!%macro)[*!%\#;'"/@-][^\n]*\n){0,20})                      # comments above
    ^(?:\d{6}[ ])?[ \t]*(?:
        ([\w-]+[ \t]+(?:division|section))(?=[ \t.])                           # of COBOL
      | program-id[. \t]+([\w-]+)
      | data[ \t]+([\w.]+)[^\n:=]*;                                           # step of SAS
      | \(?(?:(?:abstract|async|create|elemental|export|final|friend|global|impure|module|or|override|overrides|partial
            |private|protected|public|pure|recursive|replace|sealed|shared|static|virtual
            |(?:character|complex|double|integer|logical|precision|real|type)\S*)[ \t]+){0,5}
        (?:%?macro|architecture|class|configuration|contract|def|defclass|define|defmacro|defmethod|defn|defstruct|defun
            |entity|enum|form|func|function(?:[ \t]+[\w,~\[\] \t]*=)?|interface|library|method|module|namespace
            |package(?:[ \t]+body)?|proc|procedure|program|report|service|struct|sub|submodule|subroutine|task|trigger
            |type|unit)
        [ \t(]*(?<=[ \t(=])(?!is\b)([a-z_][\w.$:'!?*<>-]*[\w?!]|[a-z])
    ) | ^[\d ]{6}[ ]{1,4}([\w-]+)\.[ \t]*$                                      # paragraph of COBOL"""
)
"""Line that begins a definition in languages without a grammar, with its name and the comments above it."""
_LONG = 1500
"""Bytes of a class above which its members become blocks."""
_DEEPEST = 16
"""Nesting depth of classes below which nothing is cut."""


def code_cuts(text: str, *, language: str) -> list[Cut]:
    """Return the start of each definition, including the comments and decorators above it, and its name.

    Names of members include their container: `Class.method`. Broken code is cut as far as it can be read. Where its
    language has no grammar, or the file is too long or nested too deeply, definitions are lines that begin with a word
    such as `subroutine`. A file without definitions is cut at blank lines.

    Args:
        text: the text of the file.
        language: one of `CODE_LANGUAGES`.
    """
    largest = _LARGEST_OF.get(language, _LARGEST)
    parser = (
        grammars.parser_of(language) if len(text) <= largest and not _is_nested_too_deeply(text, language) else None
    )
    if parser is None:
        named = () if language in grammars.AT_BLANK_LINES else _definition_lines(text)
        return list(named) or list(_margin_cuts(text))
    encoded = text.encode("utf-8", "surrogatepass")
    root = parser.parse(encoded).root_node
    found = list(_cuts(grammars.child_nodes(root), language, within="", depth=0))
    return list(_in_characters(encoded, found)) or list(_margin_cuts(text))


def _cuts(nodes: Iterable[Node], language: str, *, within: str, depth: int) -> Iterator[Cut]:
    """Yield the cuts among the members of `within`, as byte offsets."""
    above: tuple[int, int] | None = None  # start and last row of the comments directly above
    last_row = -1
    last_name: str | None = None
    for node in nodes:
        if not node.is_named and node.type not in grammars.MODIFIERS:
            continue
        first_row = node.start_point[0]
        if grammars.is_above(node, language) or not node.is_named:
            if above is None and first_row == last_row:
                continue  # a comment behind a statement belongs to the statement
            start = above[0] if above is not None and first_row <= above[1] + 1 else node.start_byte
            above = start, _last_row(node)
            continue
        start = above[0] if above is not None and first_row <= above[1] + 1 else node.start_byte
        above, last_row = None, _last_row(node)
        definition = grammars.definition_in(node, language)
        if definition is None:
            if last_name is not None and node.type not in grammars.CONTINUATIONS:
                yield start, within
                last_name = None
            continue
        own = grammars.name_of(definition, language)
        name = f"{within}.{own}" if within and own else own or within
        if name != last_name or definition.type not in grammars.CLAUSES:
            yield start, name
        last_name = name
        if depth < _DEEPEST and grammars.is_container(definition, language) and node.end_byte - node.start_byte > _LONG:
            yield from _cuts(grammars.members(definition), language, within=name, depth=depth + 1)


def _margin_cuts(text: str) -> Iterator[Cut]:
    """Yield the start of each line at the left margin that follows a blank line."""
    for match in _AFTER_BLANK_LINE.finditer(text):
        yield match.end(), ""


def _definition_lines(text: str) -> Iterator[Cut]:
    """Yield the start of each line that begins a definition, the comments above it included, and its name."""
    for match in _DEFINITION.finditer(text):
        yield match.start(), " ".join((match[match.lastindex or 0]).split())


def _is_nested_too_deeply(text: str, language: str) -> bool:
    depth = 0
    for bracket in _BRACKET.findall(text):
        if bracket in "([{":
            depth += 1
            if depth > _DEEPEST_BRACKETS:
                return True
        elif depth:
            depth -= 1
    # C#'s grammar takes each < for the start of type arguments.
    statements = _STATEMENT_END.split(text) if language == "csharp" else ()
    return any(statement.count("<") > _DEEPEST_BRACKETS for statement in statements)


def _last_row(node: Node) -> int:
    row, column = node.end_point
    return row if column else row - 1


def _with_indent(encoded: bytes, position: int, least: int) -> int:
    """Return the start of the cut's line where only its indent comes before the cut, else the cut itself."""
    start = position
    while start > least and encoded[start - 1] in b" \t":
        start -= 1
    return start if start in {0, least} or encoded[start - 1] == ord("\n") else position


def _in_characters(encoded: bytes, cuts: Iterable[Cut]) -> Iterator[Cut]:
    reached = characters = 0
    for begin, name in cuts:
        position = _with_indent(encoded, begin, reached)
        characters += len(encoded[reached:position].decode("utf-8", "surrogatepass"))
        reached = position
        yield characters, name

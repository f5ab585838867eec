"""Directives and roles that docutils lacks, such as those of Sphinx: their text is kept, their programs are not run."""

import re
from collections.abc import Iterator
from typing import Any

from docutils import nodes, utils
from docutils.frontend import get_default_settings
from docutils.languages import get_language
from docutils.parsers.rst import Directive, Parser, directives, roles
from docutils.parsers.rst.states import Inliner
from docutils.statemachine import StringList

_DIRECTIVE = re.compile(r"^[ \t]*\.\. (?:\|[^|\n]+\|[ ])?([A-Za-z][\w:.+-]{0,60}?)[ ]?::(?=\s|$)", re.MULTILINE)
_ROLE = re.compile(r":([A-Za-z][\w:.+-]{0,60}):`|`:([A-Za-z][\w:.+-]{0,60}):")
_MOST_NAMES = 500
"""Names of directives, and of roles, that are looked up in a document."""
_INSTRUCTIONS = frozenset(
    [
        "currentmodule",
        "default-domain",
        "highlight",
        "index",
        "only",
        "sectionauthor",
        "tabularcolumns",
        "tags",
        "testsetup",
        "testcleanup",
    ]
)
"""Directives to the builder of the documentation, which no reader sees; the content of `only` is kept."""
_VERSIONS = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "versionremoved": "Removed in version",
    "deprecated": "Deprecated since version",
}
_TITLES = {"seealso": "See also", "todo": "To do"}
_CODE = frozenset(
    [
        "code-block",
        "doctest",
        "graphviz",
        "ipython",
        "literalinclude",
        "mermaid",
        "plantuml",
        "productionlist",
        "prompt",
        "sourcecode",
        "testcode",
        "testoutput",
        "uml",
    ]
)
_OBJECTS = frozenset(
    [
        "attribute",
        "class",
        "classmethod",
        "cmdoption",
        "confval",
        "data",
        "decorator",
        "describe",
        "envvar",
        "exception",
        "function",
        "method",
        "module",
        "object",
        "opcode",
        "option",
        "property",
        "staticmethod",
        "type",
    ]
)
_LITERAL_ROLES = frozenset(
    [
        "attr",
        "class",
        "cls",
        "command",
        "const",
        "data",
        "dfn",
        "envvar",
        "exc",
        "file",
        "func",
        "func-name",
        "kbd",
        "macro",
        "makevar",
        "meth",
        "mod",
        "obj",
        "option",
        "program",
        "regexp",
        "samp",
        "token",
        "type",
    ]
)
_TARGET = re.compile(r"(.+?)\s*(?<!\\)<([^<>]*)>", re.DOTALL)
_DOCUMENT_ROLES = frozenset({"doc", "download", "std:doc"})
"""Roles whose target is a file beside the document, for `doc` without its extension."""
_LABEL_ROLES = frozenset({"ref", "std:ref"})
"""Roles whose target is a label; one of the document itself is known after it is parsed."""
LABEL = "label"
"""Attribute of a node with the text of such a role: the label."""
NAMELESS = "nameless"
"""Attribute of such a node whose text is the label, for want of one of its own."""


class _AnyOptions(dict[str, Any]):
    """Options of any name, each kept as it is written."""

    def __bool__(self) -> bool:
        return True

    def __getitem__(self, _name: str) -> Any:
        return lambda value: value


class UnknownDirective(Directive):  # type: ignore[misc] # docutils has no types
    """A directive whose program is not there: its argument and its content are text."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True
    option_spec = _AnyOptions()

    def run(self) -> list[nodes.Node]:
        """Return the text of the directive."""
        name = self.name.lower()
        argument = self.arguments[0].strip() if self.arguments else ""
        domain, _, kind = name.rpartition(":")
        if name in _CODE:
            return self._code(argument)
        if name in _INSTRUCTIONS:
            return self._parsed(self.content) if name == "only" else []
        if name in _VERSIONS and argument:
            version, *text = argument.split(maxsplit=1)
            return [self._paragraph(": ".join([f"{_VERSIONS[name]} {version}", *text])), *self._parsed(self.content)]
        if name in _TITLES:
            title = nodes.title(_TITLES[name], _TITLES[name])
            inside = [self._paragraph(argument)] if argument else []
            return [nodes.admonition("", title, *inside, *self._parsed(self.content), classes=["note"])]
        if name == "toctree":
            return self._entries()
        if domain or kind in _OBJECTS:
            lines = [line.strip() for line in argument.split("\n") if line.strip()]
            signatures = [nodes.paragraph("", "", nodes.literal(line, line)) for line in lines]
            return [*signatures, *self._parsed(self.content)]
        return [*([self._paragraph(argument)] if argument else []), *self._parsed(self.content)]

    def _parsed(self, content: StringList) -> list[nodes.Node]:
        holder = nodes.Element()
        self.state.nested_parse(content, self.content_offset, holder, match_titles=True)
        return list(holder.children)

    def _paragraph(self, text: str) -> nodes.Node:
        found, _ = self.state.inline_text(text, self.lineno)
        return nodes.paragraph(text, "", *found)

    def _code(self, argument: str) -> list[nodes.Node]:
        text = "\n".join(self.content)
        if not text.strip():
            return [self._paragraph(argument)] if argument else []
        return [nodes.literal_block(text, text, classes=["code", *argument.split()[:1]])]

    def _entries(self) -> list[nodes.Node]:
        """Return the entries of a table of contents as a list; an entry is `Title <document>`, or a document's name."""
        entries = [_shown(line.strip()) for line in self.content if line.strip()]
        items = [nodes.list_item("", nodes.paragraph(entry, entry)) for entry in entries]
        return [nodes.bullet_list("", *items)] if items else []


def register_unknown(text: str) -> None:
    """Register the directives and roles of a document that docutils lacks, for the rest of the process."""
    document = utils.new_document("", get_default_settings(Parser))
    document.reporter.report_level = document.reporter.halt_level = 5
    english = get_language("en", document.reporter)
    for name in _names(_DIRECTIVE, text):
        # docutils refuses code with options of Sphinx, such as `:linenos:`.
        if name in _CODE or directives.directive(name, english, document)[0] is None:
            directives.register_directive(name, UnknownDirective)
    for name in _names(_ROLE, text):
        if roles.role(name, english, 0, document.reporter)[0] is None:
            roles.register_local_role(name, _unknown_role)


def _names(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    """Yield the different names in a text."""
    names = dict.fromkeys("".join(filter(None, found.groups())).lower() for found in pattern.finditer(text))
    yield from list(names)[:_MOST_NAMES]


def _unknown_role(
    name: str,
    rawtext: str,
    text: str,
    _lineno: int,
    _inliner: Inliner,
    _options: dict[str, Any] | None = None,
    _content: list[str] | None = None,
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    """Return the text of a role: `Title <target>` gives its title, `~package.name` its last part.

    It is a link where the role names a document or file.
    """
    plain = utils.unescape(text)
    shown = _shown(plain)
    if name.lower() in {"guilabel", "menuselection"}:
        shown = shown.replace("&&", "\0").replace("&", "").replace("\0", "&")  # marks of keys
    titled = _TARGET.fullmatch(plain)
    target = " ".join((titled[2] if titled else plain).split())
    if name.lower() in _DOCUMENT_ROLES and target and not target.startswith("!"):
        return [nodes.reference(rawtext, shown, refuri=target)], []
    if name.lower() in _LABEL_ROLES:
        return [nodes.inline(rawtext, shown, **{LABEL: target, NAMELESS: titled is None})], []
    is_literal = ":" in name or name.lower() in _LITERAL_ROLES
    return [nodes.literal(rawtext, shown) if is_literal else nodes.Text(shown)], []


def _shown(text: str) -> str:
    if titled := _TARGET.fullmatch(text):
        return titled[1]
    return text[1:].rpartition(".")[2] if text.startswith("~") else text.removeprefix("!")

"""reStructuredText as Markdown, by way of the HTML that docutils writes; no other file is read."""

import re
from collections.abc import Iterator
from email import message_from_string
from email.policy import compat32

from docutils import ApplicationError, nodes
from docutils.core import publish_doctree, publish_from_doctree

from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.parsing.dates import iso_date
from sourcebook.parsing.html.cleaner import readable_body, write_everything
from sourcebook.parsing.html.tree import Element, unwrap
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.markup.restructuredtext.extensions import LABEL, NAMELESS, register_unknown
from sourcebook.parsing.text.decode import decode
from sourcebook.parsing.text.plain_text import paragraphs
from sourcebook.parsing.text.titles import cut_title, document_title

_LONGEST_LINE = 10_000
"""Characters of a line above which docutils refuses a document: its time grows with the square of that length."""
_SETTINGS = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "halt_level": 5,
    "input_encoding": "unicode",
    "line_length_limit": _LONGEST_LINE,
    "math_output": "LaTeX",
    "output_encoding": "unicode",
    "raw_enabled": False,
    "report_level": 5,
    "sectsubtitle_xform": False,
    "smart_quotes": False,
    "syntax_highlight": "none",
}
_REFUSED = (ApplicationError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""Errors of docutils for text whose markup it cannot follow."""
_MOST_FIELDS = 50
"""Fields of the header that are metadata."""
_LONGEST_FIELD = 1000
"""Characters of a field in the metadata."""
_ERROR = 3
"""Level of messages about markup that docutils left out."""
_NOTE_REFERENCES = (nodes.footnote_reference, nodes.citation_reference)
_LISTS = frozenset({"ul", "ol"})
_WORDS = frozenset({"keywords", "tags"})
_MARK = re.compile(r":[\w:.+-]+:`|`:[\w:.+-]+:|[`|*_]+")
_HEADER = re.compile(r"\s*(PEP:[ \t]*\S.*?\n)[ \t]*\n", re.DOTALL)
_LONGEST_HEADER = 20_000
"""Characters of the header."""
_SIGN = re.compile(r"([*`|\\]|_(?!\w))")


def parse_rst(content: bytes) -> ParsedDocument:
    """Parse a document: sections, lists, tables, code, notes and footnotes; the fields of its header are metadata.

    Directives that docutils lacks keep their text. Includes are shown as written. Text that docutils refuses, such as
    markup nested hundreds of levels deep, is kept as plain text.
    """
    decoded = decode(content)
    try:
        tree = _doctree(decoded.text)
        metadata = _metadata(tree)
        _restore_section(tree)
        _simplify(tree)
        body = readable_body(_html(tree))
    except _REFUSED:
        body = None
    if body is None:
        blocks = tuple(paragraphs(decoded.text))
        return ParsedDocument(
            decoded.text,
            blocks,
            language=detect_language(decoded.text, blocks),
            metadata={"encoding": decoded.encoding, "markup": "refused"},
        )
    _name_elements(body)
    written = write_everything(body, base_url="")
    blocks = written.blocks()
    metadata["encoding"] = decoded.encoding
    return ParsedDocument(
        markdown=written.markdown,
        blocks=blocks,
        title=cut_title(str(tree.get("title") or "")) or document_title(blocks),
        language=detect_language(written.markdown, blocks),
        metadata=metadata,
    )


def _doctree(text: str) -> nodes.document:
    if max(map(len, text.split("\n"))) > _LONGEST_LINE:
        raise ValueError("a line is too long")
    text = with_plain_header(text)
    register_unknown(text)
    return publish_doctree(text, settings_overrides=_SETTINGS)


def _restore_section(tree: nodes.document) -> None:
    """Make the only section of a titled document a section again: docutils takes its heading as a subtitle."""
    place = tree.first_child_matching_class(nodes.subtitle)
    if place is None:
        return
    subtitle, *content = tree[place:]
    header = [node for node in content if isinstance(node, (nodes.docinfo, nodes.decoration, nodes.meta))]
    below = [node for node in content if node not in header]
    section = nodes.section("", nodes.title("", "", *subtitle.children), *below, **subtitle.attributes)
    tree[place:] = [*header, section]
    for identifier in section["ids"]:
        tree.ids[identifier] = section


def _simplify(tree: nodes.document) -> None:
    """Replace elements that HTML has no plain form of: messages of docutils, fields, references to notes, formulas.

    Names of the document's own labels become links.
    """
    for reference in list(tree.findall(lambda node: isinstance(node, nodes.inline) and LABEL in node)):
        _replace(reference, _label_link(tree, reference))
    for message in list(tree.findall(nodes.system_message)):
        _replace(message, *([] if not _holds_text(message) else message.findall(nodes.literal_block)))
    for contents in list(tree.findall(nodes.topic)):
        if "contents" in contents["classes"]:
            _replace(contents)
    for problem in list(tree.findall(nodes.problematic)):
        text = problem.astext()
        _replace(problem, nodes.Text(_MARK.sub("", text).strip() or text))
    for reference in list(tree.findall(lambda node: isinstance(node, _NOTE_REFERENCES))):
        _replace(reference, nodes.Text(f"[{reference.astext()}]"))
    for note in list(tree.findall(lambda node: isinstance(node, (nodes.footnote, nodes.citation)))):
        _replace(note, *_note_paragraphs(note))
    for formula in list(tree.findall(nodes.math)):
        _replace(formula, nodes.Text(f"${formula.astext()}$"))
    for formula in list(tree.findall(nodes.math_block)):
        _replace(formula, nodes.literal_block("", formula.astext(), classes=["code", "latex"]))
    for fields in [*tree.findall(nodes.docinfo), *tree.findall(nodes.field_list)]:
        _replace(fields, nodes.bullet_list("", *map(_field_item, fields.children)))


def _label_link(tree: nodes.document, reference: nodes.Element) -> nodes.Node:
    """Return a link to the place of a label, with the title of its section where it has no text of its own."""
    label = nodes.fully_normalize_name(reference[LABEL])
    identifier = tree.nameids.get(label)
    if identifier is None:
        return nodes.Text(reference.astext())
    place, text = tree.ids.get(identifier), reference.astext()
    if reference[NAMELESS] and isinstance(place, nodes.Element):
        title = place.next_node(nodes.title) if isinstance(place, nodes.section) else None
        text = title.astext() if title is not None else text
    return nodes.reference("", text, refid=identifier)


def _replace(node: nodes.Node, *others: nodes.Node) -> None:
    if node.parent is not None:
        node.parent.replace(node, list(others))


def _holds_text(message: nodes.system_message) -> bool:
    """Return whether a message has text that is nowhere else: a directive that failed or may not read its file."""
    text = message.astext()
    return bool(message["level"] >= _ERROR) or "directive disabled" in text or "deactivated" in text


def _note_paragraphs(note: nodes.Element) -> list[nodes.Node]:
    """Return the content of a note, which begins with its mark: `[1] Text of the note.`"""
    marks = [child.astext() for child in note.children if isinstance(child, nodes.label)]
    content = [child for child in note.children if not isinstance(child, nodes.label)]
    mark = nodes.Text(f"[{marks[0]}] " if marks else "")
    if content and isinstance(content[0], nodes.paragraph):
        return [nodes.paragraph("", "", mark, *content[0].children), *content[1:]]
    return [nodes.paragraph("", "", mark), *content]


def _field_item(field: nodes.Node) -> nodes.list_item:
    if isinstance(field, nodes.field):
        name, body = field[0].astext(), list(field[1].children)
    else:  # of the header, such as `author`
        name, body = field.tagname.capitalize(), [nodes.paragraph("", "", *field.children)]
    first = body.pop(0).children if body and isinstance(body[0], nodes.paragraph) else []
    line = nodes.paragraph("", "", nodes.strong("", f"{name}:"), nodes.Text(" "), *first)
    return nodes.list_item("", line, *body)


def _html(tree: nodes.document) -> str:
    level = 2 if isinstance(tree.next_node(nodes.Titular), nodes.title) and tree.get("title") else 1
    written: str = publish_from_doctree(
        tree,
        writer="html5",
        settings_overrides={
            **_SETTINGS,
            "initial_header_level": level,
            "stylesheet_path": "",
            "embed_stylesheet": False,
        },
    )
    return written


def _name_elements(body: Element) -> None:
    """Name elements by their meaning where docutils only gives them a class."""
    for element in list(body.iter("span", "pre", "p")):
        names = (element.get("class") or "").split()
        if element.tag == "span" and "literal" in names:
            element.tag = "code"
        elif element.tag == "pre" and names[:1] == ["code"]:
            language = next((name for name in names[1:] if name != "literal-block"), "")
            element.set("class", f"language-{language}" if language else "")
        elif element.tag == "p" and "admonition-title" in names:
            for child in list(element):
                element.remove(child)
            element.tag = "strong"
    for entry in list(body.iter("li")):
        if len(entry) and entry[0].tag == "p" and all(child.tag in _LISTS for child in list(entry)[1:]):
            unwrap(entry[0])  # a list without blank lines between its items


def _metadata(tree: nodes.document) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    for name, value in list(_fields(tree))[:_MOST_FIELDS]:
        text = " ".join(value.split())[:_LONGEST_FIELD]
        if not text:
            continue
        if name in _WORDS:
            found[name] = [word.strip() for word in re.split("[;,]", text) if word.strip()]
        else:
            found[name] = (iso_date(text) or text) if name in {"date", "created"} else text
    return found


def _fields(tree: nodes.document) -> Iterator[tuple[str, str]]:
    """Yield the fields of the header in lower case; docutils gives bibliographic ones elements of their own."""
    for node in (child for info in tree.findall(nodes.docinfo) for child in info.children):
        if isinstance(node, nodes.field):
            yield node[0].astext().strip().lower(), node[1].astext()
        elif isinstance(node, nodes.authors):
            yield "author", ", ".join(child.astext() for child in node.children)
        else:
            yield node.tagname, node.astext()


def with_plain_header(text: str) -> str:
    """Return the text of a proposal with its header as a title and a field list; any other text unchanged."""
    found = _HEADER.match(text[:_LONGEST_HEADER])
    if found is None:
        return text
    fields = message_from_string(found[1], policy=compat32).items()
    values = {name: " ".join(str(value).split()) for name, value in fields}
    if "Title" not in values:
        return text
    title = f"PEP {values['PEP']} – {values['Title']}"
    rule = "~" * (2 * len(title))  # over and below the title, as wide as its widest letters
    lines = [rule, _escaped(title), rule, ""]
    lines += [f":{name}: {_escaped(value)}" for name, value in values.items() if name not in {"PEP", "Title"} and value]
    return "\n".join([*lines, "", text[found.end() :]])


def _escaped(text: str) -> str:
    return _SIGN.sub(r"\\\1", text)

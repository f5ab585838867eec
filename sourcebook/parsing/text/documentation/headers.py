"""First lines of containers, blocks and directives: what they say, include or hold."""

import re
from dataclasses import dataclass
from typing import Final

from sourcebook.parsing.text.documentation.attributes import seen_texts

_NAMED: Final = frozenset(
    {
        *("note", "abstract", "summary", "tldr", "info", "todo", "tip", "hint", "important"),
        *("success", "check", "done", "question", "help", "faq", "warning", "caution", "attention"),
        *("failure", "fail", "missing", "danger", "error", "bug", "example", "quote", "cite"),
        *("seealso", "see-also", "details", "security", "experimental", "callout", "admonition"),
    }
)
"""Blocks that show their name where they have no title."""
_UNTITLED: Final = frozenset({"admonition", "callout"})
_TITLED: Final = frozenset(
    {"admonition", "dropdown", "tab-item", "card", "grid-item-card", "sidebar", "topic", "details"}
)
"""Directives whose argument is their title; that of others is a part of their text."""
_ASIDES: Final = frozenset({"margin", "aside", "epigraph", "highlights", "pull-quote"})
_LAYOUTS: Final = frozenset({"tab-set", "grid", "grid-item", "div"})
"""Directives that are places for others; their argument is no text."""
_FILES: Final = frozenset({"include", "literalinclude"})
_PICTURES: Final = frozenset({"figure", "image"})
_CODE: Final = frozenset({"code", "code-block", "code-cell", "sourcecode", "mermaid", "math"})
"""Containers whose content is code; as fenced code they are that already."""
_CHANGES: Final = {
    "versionadded": "New in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
}
_UNSEEN_BLOCKS: Final = frozenset({"html", "caption", "figure-caption", "table-caption", "define"})
_SLASHES: Final = re.compile(r"/{3,}[ \t]*([A-Za-z][\w-]*)(?:[ \t]*\|[ \t]*(.*))?$")
_DIRECTIVE: Final = re.compile(r"\{([A-Za-z][\w:+-]*)\}[ \t]*(.*)$")
_COLONS: Final = re.compile(
    r":{3,}[ \t]*(?:\{(?P<list>[^{}]*)\}|(?P<name>[A-Za-z][\w.-]*)(?:\[(?P<label>.*?)\])?(?:\{(?P<own>[^{}]*)\})?"
    r"[ \t]*(?P<rest>[^{}]*?)[ \t]*(?:\{(?P<more>[^{}]*)\})?)[ \t]*:*$"
)
_CLASS: Final = re.compile(r"\.(?:callout-)?([\w-]+)")


@dataclass(frozen=True, slots=True)
class Header:
    """Title and words above the content of a block."""

    title: str = ""
    words: str = ""
    """Text that belongs to its content."""
    name: str = ""
    file: str = ""
    """Path of a file that it includes."""
    code: str | None = None
    """Language, where its content is code."""
    is_directive: bool = False


def shown_name(name: str) -> str:
    """Return the name of a block as its page shows it."""
    return "See also" if name in {"seealso", "see-also"} else name.replace("-", " ").replace("_", " ").capitalize()


def slash_header(line: str) -> Header | None:
    """Return the header of a block of pymdownx, `/// note | Title`; None for another line."""
    found = _SLASHES.match(line)
    if found is None:
        return None
    name, title = found[1].casefold(), (found[2] or "").strip()
    if name in _UNSEEN_BLOCKS:
        return Header(name=name)
    return Header(title or ("" if name in _UNTITLED else shown_name(name)), name=name)


def directive_header(line: str) -> Header | None:
    """Return the header of a directive of MyST whose content is text, `{note} Words`; None for another line."""
    found = _DIRECTIVE.match(line.strip())
    if found is None:
        return None
    name, argument = found[1], found[2].strip()
    if name in _FILES and argument:
        return Header(name=name, file=argument, is_directive=True)
    if name in _PICTURES and argument:
        return Header(words=f"![]({argument})", name=name, is_directive=True)
    if name in _CHANGES:
        return Header(f"{_CHANGES[name]} {argument}".strip(), name=name, is_directive=True)
    if name in _TITLED and argument:
        return Header(argument, name=name, is_directive=True)
    if name in _NAMED:
        return Header("" if name in _UNTITLED else shown_name(name), argument, name, is_directive=True)
    if name in _LAYOUTS:
        return Header(name=name, is_directive=True)
    return Header("", argument, name, is_directive=True) if name in _ASIDES | _TITLED else None


def colon_header(line: str) -> Header | None:
    """Return the header of a container, such as `:::tip[Title]`, `::: details Title` and `::: {.class}`."""
    named = line.lstrip(":").strip()
    directive = directive_header(named)
    if directive is not None:
        return directive
    if (code := _DIRECTIVE.match(named)) is not None and code[1] in _CODE:
        return Header(name=code[1], code=code[2].strip() or code[1], is_directive=True)
    found = _COLONS.match(line)
    if found is None:
        return None
    if found["list"] is not None:
        classes = _CLASS.findall(found["list"])
        name = next((one for one in classes if one in _NAMED), "")
        said = list(seen_texts(found["list"]))
        title = said[0] if said else shown_name(name) if name and name not in _UNTITLED else ""
        return Header(title, " ".join(said[1:]), name or "div")
    name, attributes = found["name"], f"{found['own'] or ''} {found['more'] or ''}"
    if name in _CODE:
        return Header(name=name, code=name)
    said = list(seen_texts(attributes))
    title = found["label"] or (said[0] if said else "") or found["rest"]
    shown = shown_name(name) if name in _NAMED - _UNTITLED else ""
    return Header(title or shown, name=name)

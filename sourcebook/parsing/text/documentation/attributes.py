"""Attributes of headings, blocks, components and shortcodes: ids, and texts that a reader sees."""

import re
from collections.abc import Iterator
from typing import Final

_ONE: Final = r"""(?:[#.][\w:.-]+|-|[\w:@-]+=(?:"[^"\n]*"|'[^'\n]*'|[^\s"'{}=]+))"""
ATTRIBUTES: Final = rf"(?:{_ONE}(?:[ \t]+{_ONE})*)"
"""Attributes in braces, as in `{ #id .class key="value" }`, without the braces."""
_AT_END: Final = re.compile(
    rf"(?:[ \t]+\{{:?[ \t]*(?P<list>{ATTRIBUTES})[ \t]*\}}|[ \t]*\{{\#(?P<id>[\w:.-]+)\}}"
    r"|[ \t]*\{/\*[ \t]*\#(?P<noted>[\w:.-]+)[ \t]*\*/\})[ \t]*$"
)
_ID: Final = re.compile(r"(?:^|\s)#([\w:.-]+)|(?:^|\s)id=[\"']?([\w:.-]+)")
_PAIR: Final = re.compile(
    r"""([\w:@-]+)[ \t]*=[ \t]*(?:"([^"]*)"|'([^']*)'|\{[ \t]*(?:"([^"]*)"|'([^']*)'|`([^`]*)`)[ \t]*\}"""
    r"""|([^\s"'{}>]+))"""
)
_QUOTED: Final = re.compile(r"""(?<![=\w])(?:"([^"]*)"|'([^']*)')""")
_TEXTS: Final = (
    *("title", "label", "heading", "header", "headline", "name", "summary", "caption", "subtitle", "description"),
    *("text", "content", "alt"),
)
"""Attributes whose values a reader sees, in the order in which they are written."""
_TARGETS: Final = ("href", "to", "url", "link")
_UNSEEN: Final = frozenset({"name", "content"})
"""Attributes that are seen only where they hold words: otherwise they name something."""


def without_attributes(line: str) -> tuple[str, str | None]:
    """Return a heading's line without the attributes at its end, and the id among them."""
    found = _AT_END.search(line) if line.rstrip().endswith("}") else None
    if found is None:
        return line, None
    return line[: found.start()], found["id"] or found["noted"] or id_in(found["list"] or "")


def id_in(attributes: str) -> str | None:
    """Return the id in attributes, the last one where there are several."""
    ids = [one or other for one, other in _ID.findall(attributes)]
    return ids[-1] if ids else None


def values_of(attributes: str) -> dict[str, str]:
    """Return the values of attributes that are texts, by their names in lower case."""
    return {
        found[1].casefold(): next((value for value in found.groups()[1:] if value is not None), "")
        for found in _PAIR.finditer(attributes)
    }


def seen_texts(attributes: str) -> Iterator[str]:
    """Yield the texts among the values of attributes that a reader sees: a title first, as a link where it leads on."""
    values = values_of(attributes)
    target = next((values[name] for name in _TARGETS if values.get(name)), "")
    for name in _TEXTS:
        text = " ".join(values.get(name, "").split())
        if text and (name not in _UNSEEN or " " in text):
            yield f"[{text}]({target})" if target and " " not in target else text
            target = ""


def target_of(attributes: str) -> str:
    """Return where attributes lead to, "" for nowhere."""
    values = values_of(attributes)
    return next((values[name] for name in _TARGETS if values.get(name) and " " not in values[name]), "")


def quoted(arguments: str) -> list[str]:
    """Return the quoted arguments without a name."""
    return [one or other for one, other in _QUOTED.findall(arguments)]

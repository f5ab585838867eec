"""Macros of pages in Confluence's storage format, as the HTML that they stand for."""

from typing import Final

from sourcebook.parsing.html.tree import Element, drop, plain_text, replace_content, subelement

_CODE: Final = frozenset({"code", "noformat"})
_BODIES: Final = ("ac:rich-text-body", "ac:plain-text-body", "ac:plain-text-link-body", "ac:link-body", "ac:task-body")
_FIRST: Final = ("ac:structured-macro", "ac:macro", "ac:task-list", "ac:link")
_NAME: Final = "ac:name"


def write_macros(root: Element) -> None:
    """Write code as `<pre>`, titles of panels in bold, states and tasks as words, and links as the text they show."""
    if next(root.iter(*_FIRST), None) is None:
        return
    for macro in list(root.iter("ac:structured-macro", "ac:macro")):
        _write_macro(macro)
    for task in list(root.iter("ac:task")):
        state = next(task.iter("ac:task-status"), None)
        if state is not None:
            replace_content(state, "[x] " if plain_text(state) == "complete" else "[ ] ")
            state.tag = "span"
        for number in list(task.iter("ac:task-id", "ac:task-uuid")):
            drop(number)
        task.tag = "li"
    for listed in list(root.iter("ac:task-list")):
        listed.tag = "ul"
    for link in list(root.iter("ac:link")):
        target = next(
            (each.get("ri:content-title") or each.get("ri:filename") for each in link.iter("ri:page", "ri:attachment")),
            "",
        )
        if not plain_text(link) and target:
            replace_content(link, target)
    for body in list(root.iter(*_BODIES)):
        body.tag = "div" if body.tag == _BODIES[0] else "span"


def _write_macro(macro: Element) -> None:
    stated = {}
    for parameter in [each for each in macro if each.tag == "ac:parameter"]:
        stated[parameter.get(_NAME) or ""] = plain_text(parameter)
        drop(parameter)
    name, title = macro.get(_NAME) or "", stated.get("title", "")
    macro.tag = "div"
    if name in _CODE:
        text = "".join(body.text or "" for body in macro.iter("ac:plain-text-body"))
        replace_content(macro, "")
        if title:
            subelement(subelement(macro, "p"), "strong", title)
        code = subelement(macro, "pre", text)
        if language := stated.get("language"):
            code.set("data-lang", language)
    elif name == "status":
        macro.tag = "span"
        macro.text = title
    elif title:
        label = subelement(macro, "p")
        subelement(label, "strong", title)
        macro.insert(0, label)

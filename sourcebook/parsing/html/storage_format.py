"""Confluence's storage format as HTML: macros, tasks, links and pictures are elements of its own there."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Final
from urllib.parse import quote

from sourcebook.parsing.html.tree import body_of, drop, parse_page, plain_text, unwrap

if TYPE_CHECKING:
    from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

_EMPTY: Final = re.compile(r"<((?:ac|ri|at):[\w-]+)((?:\s[^<>]*)?)/>")
_OWN: Final = re.compile(r"<(?:ac|ri):[a-z]")
_LEFT_OUT: Final = frozenset(
    {
        "toc",
        "toc-zone",
        "children",
        "pagetree",
        "recently-updated",
        "livesearch",
        "contributors",
        "gallery",
        "attachments",
    }
    | {"change-history", "content-report-table", "detailssummary", "create-from-template", "blog-posts"}
)
"""Macros that list other pages or files, and have no text of their own."""
_CODE: Final = frozenset({"code", "noformat", "html", "mathblock", "plantuml", "mermaid"})
_NAMED: Final = frozenset({"info", "note", "tip", "warning"})
"""Panels that are called by their kind where they have no title."""


def html_of_storage(text: str) -> str:
    """Return a page of Confluence's storage format as HTML; another page as it is."""
    if _OWN.search(text) is None:
        return text
    closed = _EMPTY.sub(r"<\1\2></\1>", text)
    tree = parse_page(closed)
    if tree is None:
        return text
    body = body_of(tree)
    for element in reversed(list(body.iter())):  # from the innermost: what is in a macro is HTML already
        rewrite = _REWRITERS.get(str(element.tag))
        if rewrite is not None:
            rewrite(element)
    for element in list(body.iter()):
        if str(element.tag).startswith(("ac:", "ri:", "at:")):
            unwrap(element)
    from lxml import etree

    return str(etree.tostring(tree, encoding="unicode", method="html"))


def _macro(macro: etree._Element) -> None:
    name = str(macro.get("ac:name") or "")
    values = {str(each.get("ac:name") or ""): each for each in macro.iterchildren("ac:parameter")}
    said = {key: plain_text(each).strip() for key, each in values.items()}
    title = said.get("title", "")
    if name in _LEFT_OUT:
        drop(macro)
        return
    if name == "status":
        _become(macro, "span", f" {title} ")
        return
    if name == "anchor":
        _become(macro, "a")
        macro.set("id", said.get("", ""))
        return
    for each in values.values():
        drop(each)
    code = macro.find("ac:plain-text-body")
    if code is not None:
        _fence(code, said.get("language", "") if name in _CODE else "")
    elif macro.find("ac:rich-text-body") is None:
        shown = title or said.get("key") or said.get("name") or said.get("") or said.get("page", "")
        _become(macro, "span", f" {shown} ")
        return
    title = title or (name.capitalize() if name in _NAMED else "")
    macro.tag, macro.text = "div", None
    if title:
        heading = macro.makeelement("p")
        heading.append(bold := macro.makeelement("strong"))
        bold.text = title
        macro.insert(0, heading)


def _fence(body: etree._Element, language: str) -> None:
    body.tag = "pre"
    code = body.makeelement("code", {"class": f"language-{language}"} if language else {})
    code.text, body.text = body.text, None
    body.append(code)


def _task(task: etree._Element) -> None:
    status = task.find("ac:task-status")
    is_done = status is not None and plain_text(status).strip() == "complete"
    for each in list(task):
        if each.tag in {"ac:task-status", "ac:task-id", "ac:task-uuid"}:
            drop(each)
    task.tag, task.text = "li", f"[{'x' if is_done else ' '}] "


def _link(link: etree._Element) -> None:
    page, file, user = (link.find(kind) for kind in ("ri:page", "ri:attachment", "ri:user"))
    named = page.get("ri:content-title") if page is not None else file.get("ri:filename") if file is not None else None
    bodies = [each for each in link if str(each.tag) in {"ac:link-body", "ac:plain-text-link-body"}]
    if not any(plain_text(each).strip() for each in bodies):
        person = user.get("ri:username") or "" if user is not None else ""
        link.text = str(named or link.get("ac:anchor") or person)


def _picture(picture: etree._Element) -> None:
    source = next((each.get("ri:filename") or each.get("ri:value") for each in picture if each.tag in _TARGETS), None)
    alt = picture.get("ac:alt") or picture.get("ac:title") or ""
    caption = picture.find("ac:caption")
    if caption is not None:
        caption.tag = "figcaption"
    for each in list(picture):
        if each is not caption:
            drop(each)
    picture.tag = "figure"
    picture.insert(0, picture.makeelement("img", {"src": quote(str(source or ""), safe=":/%?&="), "alt": str(alt)}))


_TARGETS: Final = frozenset({"ri:attachment", "ri:url"})


def _emoticon(emoticon: etree._Element) -> None:
    _become(emoticon, "span", str(emoticon.get("ac:emoji-fallback") or ""))


def _extension(extension: etree._Element) -> None:
    """Keep the fallback of a part that only newer editors show."""
    if extension.find("ac:adf-fallback") is not None:
        for each in list(extension):
            if each.tag != "ac:adf-fallback":
                drop(each)


def _become(element: etree._Element, tag: str, text: str | None = None) -> None:
    for each in list(element):
        element.remove(each)
    element.tag, element.text = tag, text


def _renamed(tag: str) -> Callable[[etree._Element], None]:
    def rename(element: etree._Element) -> None:
        element.tag = tag

    return rename


def _date(element: etree._Element) -> None:
    if not plain_text(element).strip():
        element.text = str(element.get("datetime") or "")


_REWRITERS: Final[dict[str, Callable[[etree._Element], None]]] = {
    "ac:structured-macro": _macro,
    "ac:macro": _macro,
    "ac:task": _task,
    "ac:task-list": _renamed("ul"),
    "ac:link": _link,
    "ac:image": _picture,
    "ac:emoticon": _emoticon,
    "ac:placeholder": drop,
    "ac:adf-extension": _extension,
    "time": _date,
}

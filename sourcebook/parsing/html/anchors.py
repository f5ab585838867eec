"""Anchors of headings: the ids that links to them use."""

from sourcebook.parsing.html.tree import Element


def anchor_of(heading: Element) -> str:
    """Return the id of a heading's place on its page, "" where there is none.

    The candidates are, in order: the heading's id, an id within it, the id of the nearest element that starts with the
    heading, of an empty element right before it such as `<a name="…"></a>`, and of a permalink right after it.
    """
    return _own(heading) or _within(heading) or _of_beginning(heading) or _before(heading) or _after(heading)


def _own(element: Element) -> str:
    name = element.get("id") or (element.get("name") if element.tag == "a" else None) or ""
    return "" if any(letter.isspace() for letter in name) else name


def _within(heading: Element) -> str:
    return next((name for element in heading.iter() if (name := _own(element))), "")


def _of_beginning(heading: Element) -> str:
    element, parent = heading, heading.getparent()
    while parent is not None and parent.tag not in {"body", "html"} and _is_first(element, parent):
        if name := _own(parent):
            return name
        element, parent = parent, parent.getparent()
    return ""


def _is_first(element: Element, parent: Element) -> bool:
    if (parent.text or "").strip():
        return False
    previous = element.getprevious()
    while previous is not None:
        if (previous.tail or "").strip() or not _is_empty(previous):
            return False
        previous = previous.getprevious()
    return True


def _before(heading: Element) -> str:
    """Return the id of an empty element right before the heading, or before an element that starts with it."""
    element: Element | None = heading
    while element is not None and element.tag not in {"body", "html"}:
        previous = element.getprevious()
        while previous is not None and not (previous.tail or "").strip() and _is_empty(previous):
            if name := _within(previous):
                return name
            previous = previous.getprevious()
        parent = element.getparent()
        if previous is not None or parent is None or (parent.text or "").strip():
            return ""
        element = parent
    return ""


def _after(heading: Element) -> str:
    following = heading.getnext()
    is_permalink = following is not None and following.tag == "a" and (following.get("href") or "").startswith("#")
    return _own(following) if following is not None and is_permalink and _is_empty(following) else ""


def _is_empty(element: Element) -> bool:
    return element.tag not in {"img", "hr"} and not any(text.strip() for text in element.itertext())

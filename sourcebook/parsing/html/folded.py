"""Parts of a page that a control opens: answers, tabs, the rest of a text; shown, with the label of the control first.

Such parts are hidden until a reader asks for them, and they are what the page is about. A control names its part in
one of its attributes, whichever a library invents, or stands right above it. Menus, banners and dialogs are opened by
controls, too, and stay out.
"""

import re
from collections.abc import Callable, Iterator
from itertools import islice

from sourcebook.parsing.html.boilerplate import NAVIGATION_ROLES, is_hidden
from sourcebook.parsing.html.drawings import DRAWN
from sourcebook.parsing.html.names import meaning_of_names
from sourcebook.parsing.html.tree import (
    HEADINGS,
    Element,
    drop,
    found,
    make_label,
    plain_text,
    prose_length,
    subelement,
    text_length,
)

LONGEST = 20_000
"""Characters of one hidden part that count as content where the page shows fewer."""
MOST = 200_000
"""Characters of all hidden parts that count as content where the page shows fewer."""
LEAST = 200
"""Characters of a page that shows a text; one that shows less may hide all of it until its styles are there."""
_OPENED_ROLES = frozenset({"region", "tabpanel", "tooltip"})
_BLOCKS = frozenset(
    {"article", "blockquote", "dd", "div", "dl", "figure", "li", "ol", "p", "pre", "section", "span", "table", "tr",
     "ul"}
)  # fmt: skip
_LABELS = (*HEADINGS, "dt", "summary", "legend")
_FRAMES = ("aside", "dialog", "footer", "header", "menu", "nav")
_MENU_ROLES = NAVIGATION_ROLES | {"listbox", "option", "tablist", "toolbar", "tree"}
_MORE = re.compile(
    r"\W*(?:read|show|view|see|load)? ?more\b.*|\W*(?:mehr|weiter)\w*\b.*|.*\b(?:plus|más|mais|altro)\W*", re.IGNORECASE
)
_LONGEST_LABEL = 300
_TABS = "tabbed-labels"
"""Class of the labels of tabs, as Material for MkDocs writes them."""
_AROUND = 3
"""Elements around a row of tabs among which one holds their panels, too."""
_MAYBE_HIDDEN = "descendant::*/@hidden/.. | descendant::*/@aria-hidden/.. | descendant::*/@style/.."
_BUTTONS = "descendant::button | descendant::*/@role[. = 'button']/.."
_OPENING = ("button", "a", "div", "span", "li", "summary", "label", "p", "tr", "td", *HEADINGS)
_NAMES_NOTHING = frozenset(
    {"id", "class", "style", "src", "title", "alt", "for", "aria-labelledby", "aria-describedby"}
)
_NAME = re.compile(r"[^\s'\"()\[\]{}#,;<>=]+")
_LONGEST_VALUE = 300
"""Characters of an attribute that may name what a control opens."""
_CLICKED = ("onclick", "@click", "x-on:click", "v-on:click", "ng-click", "wire:click", "data-action", "tabindex")
_OTHER_TOGGLES = frozenset({"modal", "offcanvas", "dropdown", "tooltip", "popover"})
_WINDOW = re.compile(
    r"modal|dialog|off-?canvas|drop-?down|overlay|lightbox|pop-?up|toast|menu|search|newsletter|sign-?(?:in|up)|login"
    r"|cart|cookie|consent|share|print|screen-reader",
    re.IGNORECASE,
)
"""Names of what a page shows above itself, or not on a screen."""
_FEWEST_WORDS = 5
_LEAST_BELOW_WORD = 60
"""Characters below a label of one word, which may be a command such as `Copy` or `Yes`, and what it says then."""
_ROWS_OF_TABS = (
    f"descendant::*/@role[. = 'tablist']/.. | descendant::*/@class[contains(., '{_TABS}')]/.. "
    "| descendant::label/@for/../.."
)


def unfold(body: Element) -> int:
    """Show what controls of the page open, and keep the labels of these controls; return the words that stay hidden.

    No more is shown than the page shows by itself, beyond `LONGEST` characters a part and `MOST` together: keywords
    that a page hides from readers would have no end. What is longer is dropped.
    """
    hidden = [each for each in found(body, _MAYBE_HIDDEN) if each.tag in _BLOCKS and is_hidden(dict(each.items()))]
    shown, words = _show_opened(body, hidden) if hidden else (set(), 0)
    _label_tabs(body)
    for control in found(body, _BUTTONS):
        if _opens_what_follows(control, shown):
            make_label(control, longest=_LONGEST_LABEL)
    return words


def _show_opened(body: Element, hidden: list[Element]) -> tuple[set[Element], int]:
    """Show hidden elements that controls open; drop those that are too long, and return the number of their words."""
    opened, shown = _controlled(body, hidden), set()
    outer = [each for each in hidden if not any(is_hidden(dict(part.items())) for part in each.iterancestors())]
    seen = text_length(body) - sum(text_length(each) for each in outer)
    left, words = max(seen, MOST), 0
    for each in hidden:
        length = text_length(each)
        is_folded = _is_folded(each, opened)
        if length > max(seen, LONGEST if is_folded or seen > LEAST else length) or (is_folded and length > left):
            words += len(plain_text(each).split())
            drop(each)
        elif is_folded:
            left -= length
            shown.add(each)
            _show(each)
    return shown, words


def _controlled(body: Element, hidden: list[Element]) -> set[str]:
    """Return the ids of hidden elements, and of parts in them, that controls outside menus name."""
    wanted = {name for each in hidden for part in (each, *each.iter("div", "section")) if (name := part.get("id"))}
    named: set[str] = set()
    for control in body.iter(*_OPENING) if wanted else ():
        names = wanted & _names_in(control)
        named |= names if names and not _in_frame(control) else set()
    return named


def _names_in(control: Element) -> set[str]:
    """Return the words of an element's attributes that may name what it opens: `aria-controls`, `popovertarget` …"""
    if _toggled(control) & _OTHER_TOGGLES:
        return set()
    return {
        word
        for name, value in control.items()
        if name not in _NAMES_NOTHING and len(value) <= _LONGEST_VALUE and (name != "href" or value[:1] == "#")
        for word in _NAME.findall(value)
    }


def _is_folded(element: Element, opened: set[str]) -> bool:
    """Return whether a hidden element is a part of the page that a control opens, and no menu."""
    attributes = dict(element.items())
    if not attributes or not is_hidden(attributes):
        return False
    is_opened = attributes.get("role") in _OPENED_ROLES or element.tag == "dd"
    is_opened = is_opened or _follows_label(element) or _is_rest(element)
    is_opened = is_opened or any(part.get("role") == "region" for part in element.iter("div", "section"))
    is_named = any(part.get("id") in opened for part in (element, *element.iter("div", "section")))
    is_opened = is_opened or (is_named and not _is_window(element))
    return is_opened and not _is_menu(element) and not _is_drawing(element) and not _in_frame(element)


def _is_drawing(element: Element) -> bool:
    """Return whether most of an element's words are those of drawings, such as diagrams of a syntax."""
    drawn = (text_length(each) for each in element.iter("p", "span") if each.get(DRAWN) is not None)
    return 2 * sum(drawn) > text_length(element)


def _follows_label(element: Element) -> bool:
    """Return whether an element stands right below a heading, a term, or a control that says what it opens."""
    before, parent = element.getprevious(), element.getparent()
    if before is None and parent is not None and parent.tag == "div" and not (parent.text or "").strip():
        before = parent.getprevious()
    if before is None or element.tag == "span" or (before.tail or "").strip():
        return False
    if before.tag in _LABELS or _has(before, _is_marked):
        return True
    text = plain_text(before)
    words, is_command = len(plain_text(element).split()), " " not in text
    if len(text) > _LONGEST_LABEL or words < _FEWEST_WORDS or _is_window(element):
        return False
    is_label = text.endswith(("?", "？", "؟")) or _has(before, _is_clicked)
    return is_label and not (is_command and text_length(element) < _LEAST_BELOW_WORD)


def _has(element: Element, wanted: Callable[[Element], bool]) -> bool:
    """Return whether an element is such a control, or consists of one."""
    parts = element.iter("button", "a", "div", "span", "label", *_LABELS)
    part = next(filter(wanted, parts), None)
    return part is not None and text_length(part) * 2 >= text_length(element)


def _is_marked(part: Element) -> bool:
    """Return whether an element says that it opens something."""
    return part.get("aria-expanded") is not None or "collapse" in _toggled(part)


def _toggled(control: Element) -> set[str | None]:
    """Return what a control of Bootstrap opens: `collapse`, `modal` …"""
    return {control.get("data-toggle"), control.get("data-bs-toggle")}


def _is_clicked(part: Element) -> bool:
    """Return whether an element does something where it stands: a button, or a link that leads nowhere."""
    if _toggled(part) & _OTHER_TOGGLES:
        return False
    if part.tag == "a":
        return (part.get("href") or "#").startswith(("#", "javascript:"))
    return part.tag in {"button", "label"} or part.get("role") in {"button", "tab"} or any(map(part.get, _CLICKED))


def _is_window(element: Element) -> bool:
    """Return whether an element by its names, or as it holds a form, is a window above the page and no part of it."""
    return _WINDOW.search(f"{element.get('class')} {element.get('id')}") is not None or _holds_form(element)


def _holds_form(element: Element) -> bool:
    return next(element.iter("form"), None) is not None


def _is_rest(element: Element) -> bool:
    """Return whether an element is the rest of a text, before a control that says so: `Read more`."""
    after = element.getnext()
    while after is not None and is_hidden(dict(after.items())):
        after = after.getnext()
    if after is None and (parent := element.getparent()) is not None:
        after = parent.getnext()
    return after is not None and any(
        _MORE.fullmatch(plain_text(part)) for part in after.iter("button", "a") if text_length(part) <= 40
    )


def _is_menu(element: Element) -> bool:
    if element.get("role") in _MENU_ROLES or _is_boilerplate(element):
        return True
    length = text_length(element)
    return 2 * prose_length(element) < length or not any(letter.isalpha() for letter in plain_text(element))


def _in_frame(element: Element) -> bool:
    """Return whether an element belongs to the site's frame, a menu or a dialog."""
    return any(
        (each.tag in _FRAMES and next(each.iterancestors("article", "main"), None) is None)
        or each.tag == "nav"
        or each.get("role") in _MENU_ROLES
        or _is_boilerplate(each)
        for each in _with_ancestors(element)
    )


def _with_ancestors(element: Element) -> Iterator[Element]:
    yield element
    yield from element.iterancestors()


def _is_boilerplate(element: Element) -> bool:
    return "boilerplate" in {meaning_of_names(element.get(name) or "") for name in ("class", "id")}


def _show(element: Element) -> None:
    """Take away what hides an element, and the elements in it that hold all of its text."""
    for part in element.iter():
        if part is element or text_length(part) * 2 > text_length(element):
            for name in ("hidden", "aria-hidden", "style"):
                part.attrib.pop(name, None)


def _opens_what_follows(control: Element, shown: set[Element]) -> bool:
    """Return whether a button is the label of what stands behind it: a heading without its tag."""
    if (control.tail or "").strip() or next(control.iterancestors(*_LABELS), None) is not None or _in_frame(control):
        return False
    after = control.getnext()
    if after is None and (parent := control.getparent()) is not None and parent.tag in {"div", "li", "span", "p"}:
        after = parent.getnext()
    if after is None or after.tag not in _BLOCKS or _is_menu(after):
        return False
    if not (_is_marked(control) or after in shown or after.get("id") in _names_in(control)):
        return False
    return not _MORE.fullmatch(plain_text(control))


def _label_tabs(body: Element) -> None:
    """Put the label of each tab before its panel, in place of the row of labels."""
    rows = [
        row
        for row in found(body, _ROWS_OF_TABS)
        if row.get("role") == "tablist" or _TABS in (row.get("class") or "").split() or _is_row_of_labels(row)
    ]
    for row in rows:
        labels = [part for part in row.iter("a", "button", "div", "label", "li", "span") if _is_tab(part, row)]
        panels = _panels(row, labels)
        if labels and len(labels) == len(panels):
            for label, panel in zip(labels, panels, strict=True):
                text = plain_text(label)
                if text and not (len(panel) and plain_text(panel[0]) == text):
                    _put_label(panel, text)
            drop(row)


def _is_row_of_labels(row: Element) -> bool:
    """Return whether an element is labels of hidden buttons, by which styles show one of the parts that follow."""
    after = row.getnext()
    return len(row) > 1 and all(each.tag == "label" for each in row) and after is not None and len(after) == len(row)


def _is_tab(part: Element, row: Element) -> bool:
    return part.get("role") == "tab" or (part.tag == "label" and row.get("role") != "tablist")


def _panels(row: Element, labels: list[Element]) -> list[Element]:
    """Return the panels of a row of tabs: those that the tabs name, else those in what follows the row."""
    for group in islice(row.iterancestors(), _AROUND):
        parts = list(group.iter("div", "section"))
        known = {name: part for part in parts for name in (part.get("id"), part.get("aria-labelledby")) if name}
        named = [[known[name] for name in _names_of_panel(label) if name in known] for label in labels]
        if labels and all(named):
            return [panel for panel, *_ in named]
        if panels := [part for part in parts if part.get("role") == "tabpanel"]:
            return panels
    after = row.getnext()
    return [*after] if after is not None else []


def _names_of_panel(label: Element) -> tuple[str, ...]:
    return label.get("aria-controls") or "", (label.get("href") or "").partition("#")[2], label.get("id") or ""


def _put_label(panel: Element, text: str) -> None:
    label = subelement(panel, "p")
    subelement(label, "strong", text)
    label.tail = panel.text
    panel.text = None
    panel.insert(0, label)

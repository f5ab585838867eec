"""Links, images, terms and formulas, rewritten to convert well to Markdown."""

import re
from collections.abc import Callable

from sourcebook.parsing.html.tree import (
    HEADINGS,
    Element,
    all_text,
    drop,
    found,
    plain_text,
    replace_content,
    subelement,
    unwrap,
)
from sourcebook.parsing.text.picture_marks import description, picture_mark

_PERMALINK_TEXT = frozenset(
    {"", "#", "¶", "§", "⁋", "🔗", "⚓", "\u200b", "\ufeff", "\uf0c1", "permalink", "link", "anchor"}
)
_MARGIN_NOTE = frozenset({"sidenote", "marginnote", "margin-note"})
_SCRIPT_URL = re.compile(r"[\x00-\x20]*(?:javascript|data|vbscript)\s*:", re.IGNORECASE)
_WEB_LINK = re.compile(r"\s*(?:https?|mailto|ftp):", re.IGNORECASE)


def tidy_links(root: Element) -> None:
    """Remove links to scripts, permalinks of headings, and links without text."""
    for link in list(root.iter("a")):
        target = link.get("href")
        if target is None or _SCRIPT_URL.match(target):
            unwrap(link)
        elif is_permalink(link) or not (all_text(link) if len(link) else link.text or "").strip():
            drop(link)
        elif link.get("title") is not None:
            link.set("title", "")  # it mostly repeats the text or the target of the link


def unwrap_local_links(root: Element) -> None:
    """Keep only the text of links to no web or mail address, such as those within a book."""
    for link in list(root.iter("a")):
        if not _WEB_LINK.match(link.get("href") or "") and not is_permalink(link):
            unwrap(link)


def is_permalink(link: Element) -> bool:
    """Whether a link is a permalink sign beside a heading or paragraph."""
    if len(link) > 3 or len(link.text or "") > 40 or "#" not in (link.get("href") or "#"):
        return False
    text = plain_text(link).lower().strip("\u200b\ufeff ")
    return text in _PERMALINK_TEXT or text.startswith(("link to this ", "direct link to ", "section titled "))


def mark_images(root: Element, load: Callable[[str], bytes | None]) -> None:
    """Write the marks of images behind them, and behind the drawings that hold them.

    Args:
        root: a page, as it was parsed.
        load: returns the bytes of an image by its address in the page, None where they are not in the file.
    """
    for image in root.iter("img", "image"):
        address = image.get("src") or image.get("xlink:href") or image.get("href") or ""
        if content := load(address.strip()):
            *_, holder = [image, *image.iterancestors("svg")]
            holder.tail = f"{picture_mark(content)}{holder.tail or ''}"


def tidy_images(root: Element) -> None:
    """Replace images by their alternative text, as far as it is informative."""
    for image in list(root.iter("img", "amp-img")):
        if image.tag == "amp-img" and plain_text(image):
            continue
        text = description(image.get("alt"))
        if text[:1].isalnum():
            text = f"{_gap_before(image)}{text}"
        if text[-1:].isalnum() and (image.tail or "")[:1].isalnum():
            text += " "
        image.tail = f"{text}{image.tail or ''}"
        drop(image)


def _gap_before(image: Element) -> str:
    """Return the space between an image's text and the word before it, "" where there is no word."""
    previous, parent = image.getprevious(), image.getparent()
    before = previous.tail if previous is not None else parent.text if parent is not None else None
    last = (before or "")[-1:]
    return " " if last.isalnum() or last in {*".,:;!?"} else ""


def tidy_terms(root: Element) -> None:
    """Make the terms of definition lists bold; a signature of Sphinx becomes code."""
    for term in root.iter("dt"):
        if "sig" in (term.get("class") or "").split():
            text = plain_text(term)
            replace_content(term, "")
            subelement(term, "code", text)
        elif next(term.iter("strong", "b", "a", "code", "p", "div", *HEADINGS), None) is None:
            strong = subelement(term, "strong", term.text or "")
            for child in list(term)[:-1]:
                strong.append(child)
            term.text = None


def unwrap_section_lists(root: Element) -> None:
    """Turn bulleted lists whose items hold headings into plain blocks, because a heading in a list begins no section.

    Javadoc and lists of cards are written so.
    """
    for section_list in list(root.iter("ul")):
        if next(section_list.iter(*HEADINGS), None) is not None:
            section_list.tag = "div"
            for item in section_list:
                if item.tag == "li":  # a name as it stands in a broken page may not be given again
                    item.tag = "div"


def tidy_formulas(root: Element) -> None:
    """Replace formulas by their TeX source, where they have one."""
    for formula in list(root.iter("math")):
        tex = next((note for note in formula.iter("annotation") if "tex" in (note.get("encoding") or "")), None)
        if tex is not None:
            source = plain_text(tex)
            replace_content(formula, f"${source}$")
            formula.tag = "span"


def tidy_readings(root: Element) -> None:
    """Write the reading of each part of a word behind it in brackets, and so the notes in a page's margin.

    Results and gauges become plain words, too, which the conversion takes for blocks.
    """
    for gauge in list(root.iter("output", "meter", "progress")):
        gauge.tag = "span"
    for word in list(root.iter("ruby")):
        has_brackets = next(word.iter("rp"), None) is not None
        for part in list(word.iter("rt", "rp", "rb", "rtc")):
            if part.tag == "rt" and not has_brackets and plain_text(part):
                replace_content(part, f"({plain_text(part)})")
            unwrap(part)
        unwrap(word)
    for note in found(root, ".//span/@class[contains(., 'sidenote') or contains(., 'marginnote')]/.."):
        if _MARGIN_NOTE.intersection((note.get("class") or "").split()) and plain_text(note):
            note.text = f" ({(note.text or '').lstrip()}"
            if len(note):
                note[-1].tail = f"{(note[-1].tail or '').rstrip()})"
            else:
                note.text = f"{note.text.rstrip()})"

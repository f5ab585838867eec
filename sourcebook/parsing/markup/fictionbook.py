"""FictionBook e-books (.fb2) as Markdown, by way of HTML."""

from collections.abc import Iterator
from typing import Any

from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.parsing.dates import iso_date
from sourcebook.parsing.html.cleaner import readable_body, write_everything
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.markup.xml_tree import descendants, elements, first_of, local_name, text_root, words_of
from sourcebook.parsing.text.decode import clean
from sourcebook.parsing.text.picture_marks import decoded_picture
from sourcebook.parsing.text.titles import cut_title, document_title

_HTML = {
    "p": "p", "subtitle": "p", "text-author": "p", "date": "p", "stanza": "p", "v": "span", "emphasis": "em",
    "strong": "strong", "code": "code", "cite": "blockquote", "epigraph": "blockquote", "table": "table", "tr": "tr",
    "th": "th", "td": "td", "section": "div", "body": "div", "poem": "div", "annotation": "div", "title": "p",
    "image": "img",
}  # fmt: skip
"""HTML element of each element of a text; others are plain text."""
_LEFT_OUT = frozenset({"empty-line", "binary", "stylesheet", "description"})
_SPANS = ("colspan", "rowspan")
_HREF = "{http://www.w3.org/1999/xlink}href"
_MOST = 50
"""Authors or genres of a book."""


def parse_fictionbook(content: bytes) -> ParsedDocument:
    """Parse a book: its sections with their ids as anchors, poems with their lines, and its notes at the end.

    Entities are not resolved.

    Raises:
        ParseError: the file is damaged, or no FictionBook.
    """
    root = text_root(content)
    if local_name(root) != "FictionBook":
        raise ParseError("it is no FictionBook; check its file name", FailureClass.CORRUPT)
    description = first_of(root, "description")
    about = None if description is None else first_of(description, "title-info")
    title = cut_title(clean(words_of(None if about is None else first_of(about, "book-title"))))
    metadata = {} if about is None else _metadata(about, description)
    language = words_of(None if about is None else first_of(about, "lang")).lower()[:2]
    pictures = {f"#{each.get('id')}": each.text or "" for each in descendants(root, "binary")}
    page = etree.tostring(_page(root, about, title), method="html", encoding="unicode")
    body = readable_body(page, load=lambda address: decoded_picture(pictures.get(address, "")))
    if body is None:
        raise ParseError("it holds no text; check its file name", FailureClass.EMPTY)
    written = write_everything(body, base_url="")
    blocks = written.blocks()
    return ParsedDocument(
        markdown=written.markdown,
        blocks=blocks,
        title=title or document_title(blocks),
        language=detect_language(written.markdown, blocks) or (language if language.isalpha() else None) or None,
        metadata=metadata,
    )


def _page(root: Any, about: Any, title: str) -> Any:
    """Return the book as a page of HTML: its title, its annotation, and its bodies, notes last."""
    page = etree.Element("body")
    if title:
        etree.SubElement(page, "h1").text = title
    annotation = None if about is None else first_of(about, "annotation")
    bodies = [child for child in elements(root) if local_name(child) == "body"]
    for part in ([] if annotation is None else [annotation]) + bodies:
        if part.get("name") in {"notes", "comments", "footnotes"}:
            _join_notes(part)
        elif (heading := first_of(part, "title")) is not None and _repeats(heading, title):
            part.remove(heading)
        _rename(part, level=2 if title else 1)
        page.append(part)
    return page


def _repeats(heading: Any, title: str) -> bool:
    return bool(title) and title.casefold() in _title_words(heading).casefold()


def _join_notes(body: Any) -> None:
    """Write the number of each note before its text, instead of a heading for each."""
    if first_of(body, "title") is None:
        body.insert(0, etree.Element("title"))
        body[0].text = "Notes"
    for note in list(descendants(body, "section")):
        heading = first_of(note, "title")
        if heading is not None:
            heading.tag, heading.text = "p", f"[{_title_words(heading).strip('[].')}]"
            for child in list(heading):
                heading.remove(child)
            following = heading.getnext()
            if following is not None and local_name(following) == "p":
                following.text = f"{heading.text} {following.text or ''}"
                note.remove(heading)


def _rename(part: Any, *, level: int) -> None:
    """Rename a part's elements to those of HTML, without recursion; titles of sections become headings."""
    waiting = [(part, level)]
    while waiting:
        element, level = waiting.pop()
        name, parent = local_name(element), element.getparent()
        children = elements(element)
        if name in _LEFT_OUT:
            _replace(element, "")
            continue
        if name == "title" and parent is not None and parent.get("class") == "section":
            _replace(element, _title_words(element), tag=f"h{min(level - 1, 6)}", anchor=parent.get("id"))
            continue
        is_titled = name == "section" or (name == "body" and first_of(element, "title") is not None)
        waiting += [(child, level + is_titled) for child in reversed(children)]
        _rename_one(element, name)


def _rename_one(element: Any, name: str) -> None:
    attributes = dict(element.attrib)
    element.attrib.clear()
    element.tag = _HTML.get(name, "span")
    for span in _SPANS:
        if attributes.get(span, "").isdecimal():
            element.set(span, attributes[span][:3])
    match name:
        case "section" | "body":
            element.set("class", "section")
            if attributes.get("id"):
                element.set("id", attributes["id"])
        case "a":
            target = attributes.get(_HREF, "")
            if attributes.get("type") == "note" or target.startswith("#"):
                element.text = (
                    f"[{words_of(element).strip('[]')}]" if attributes.get("type") == "note" else element.text
                )
            elif target:
                element.tag = "a"
                element.set("href", target)
        case "image":
            element.set("src", attributes.get(_HREF, ""))
            element.set("alt", attributes.get("alt") or attributes.get("title") or "")
        case "v":
            element.append(etree.Element("br"))
        case "text-author":
            element.text = f"— {(element.text or '').lstrip()}"
        case "subtitle" | "title":
            strong = etree.Element("strong")
            strong.text, element.text = element.text, None
            strong.extend(list(element))
            element.append(strong)


def _replace(element: Any, text: str, *, tag: str = "span", anchor: str | None = None) -> None:
    """Replace the content of an element by text."""
    tail = element.tail
    element.clear()
    element.tag, element.text, element.tail = tag, text, tail
    if anchor:
        element.set("id", anchor)


def _title_words(title: Any) -> str:
    return " ".join(filter(None, (words_of(line) for line in elements(title)))) or words_of(title)


def _metadata(about: Any, description: Any) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {}
    if authors := list(_people(about, "author"))[:_MOST]:
        found["author"] = cut_title(", ".join(authors))
    if translators := list(_people(about, "translator"))[:_MOST]:
        found["translator"] = cut_title(", ".join(translators))
    date = first_of(about, "date")
    published = first_of(description, "publish-info")
    values = {
        "date": ((date.get("value") or "") if date is not None else "") or words_of(date),
        "language": words_of(first_of(about, "lang")),
        "publisher": words_of(None if published is None else first_of(published, "publisher")),
        "identifier": words_of(None if published is None else first_of(published, "isbn")),
    }
    found |= {name: cut_title(clean(value)) for name, value in values.items() if value}
    if "date" in found:
        found["date"] = iso_date(str(found["date"])) or found["date"]
    genres = [words_of(child) for child in elements(about) if local_name(child) == "genre"]
    words = [word.strip() for word in words_of(first_of(about, "keywords")).split(",")]
    if tags := [cut_title(clean(tag)) for tag in dict.fromkeys([*genres, *words]) if tag][:_MOST]:
        found["tags"] = list[JsonValue](tags)
    series = first_of(about, "sequence")
    if series is not None and series.get("name"):
        found["series"] = cut_title(clean(f"{series.get('name')} {series.get('number') or ''}".strip()))
    return found


def _people(about: Any, name: str) -> Iterator[str]:
    for person in elements(about):
        if local_name(person) == name:
            parts = [words_of(first_of(person, part)) for part in ("first-name", "middle-name", "last-name")]
            if words := " ".join(filter(None, parts)) or words_of(first_of(person, "nickname")):
                yield clean(words)

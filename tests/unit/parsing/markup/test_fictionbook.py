"""FictionBook e-books as Markdown."""

import time
from pathlib import Path

import pytest

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts

FILES = Path(__file__).parent.parent / "files"
BOOK = """<?xml version="1.0" encoding="{encoding}"?>
<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0" xmlns:l="http://www.w3.org/1999/xlink">
<description><title-info><genre>sf</genre><author><first-name>Ада</first-name><last-name>Байрон</last-name></author>
<book-title>Шлюз</book-title><annotation><p>Коротко.</p></annotation><keywords>вода, ворота</keywords>
<date value="2024-05-01">весна</date><lang>ru</lang><sequence name="Каналы" number="2"/></title-info>
<publish-info><publisher>Вода</publisher><isbn>1-2</isbn></publish-info></description>
{bodies}<binary id="a.png" content-type="image/png">iVBORw0KGgo=</binary></FictionBook>
"""
STORY = """<body><title><p>Ада Байрон</p><p>Шлюз</p></title>
<epigraph><p>Вода.</p><text-author>N.</text-author></epigraph>
<section id="c1"><title><p>Глава 1</p><p>Ворота</p></title><image l:href="#a.png"/>
<p>Ворота <emphasis>шлюза</emphasis> закрыты<a l:href="#n1" type="note">1</a>.</p><empty-line/>
<subtitle>* * *</subtitle>
<poem><title><p>Песня</p></title><stanza><v>Первая строка,</v><v>вторая строка.</v></stanza></poem>
<section><title><p>Ночь</p></title><cite><p>Тихо.</p></cite></section></section></body>
<body name="notes"><section id="n1"><title><p>1</p></title><p>По уставу.</p></section></body>"""


def read(content: str | bytes) -> ParsedDocument:
    content = content.encode() if isinstance(content, str) else content
    document = parse(content, name="lock.fb2", media_type=detect_media_type("lock.fb2", content[:4096]))
    assert_blocks_cover(document)
    return document


@pytest.mark.parametrize("encoding", ["utf-8", "windows-1251", "utf-16"])
def test_a_book(encoding: str) -> None:
    """Sections, a poem with its lines, notes with their numbers; the description is metadata; pictures are left out."""
    document = read(BOOK.format(encoding=encoding, bodies=STORY).encode(encoding))
    assert document.title == "Шлюз"
    assert document.language == "ru"
    assert document.metadata == {
        "author": "Ада Байрон",
        "date": "2024-05-01",
        "language": "ru",
        "publisher": "Вода",
        "identifier": "1-2",
        "tags": ["sf", "вода", "ворота"],
        "series": "Каналы 2",
    }
    assert texts(document) == [
        "# Шлюз",
        "Коротко.",
        "> Вода.\n>\n> — N.",
        "## Глава 1 Ворота",
        "Ворота *шлюза* закрыты[1].",
        "*** * ***",
        "**Песня**",
        "Первая строка,  \nвторая строка.",
        "### Ночь",
        "> Тихо.",
        "## Notes",
        "[1] По уставу.",
    ]
    assert [block.anchor for block in document.blocks if block.title == "Глава 1 Ворота"] == ["c1"]


def test_a_book_of_another_program() -> None:
    """The title of the body that repeats the book's is no second heading."""
    document = read((FILES / "lock.fb2").read_bytes())
    headings = [(block.level, block.title, block.anchor) for block in document.blocks if block.kind == "heading"]
    assert headings == [
        (1, "Lock manual", ""),
        (2, "Gates", "gates"),
        (3, "Order of work", "order-of-work"),
        (2, "Keeper’s house", "keepers-house"),
        (2, "Notes", ""),
    ]
    assert "are down.[1] See [the rules](https://example.org/rules)." in document.markdown
    assert "| Gate | Width (m) |\n| --- | --- |\n| Äpper | 4.5 |" in document.markdown
    assert "[1] They weigh three tons." in texts(document)


@pytest.mark.parametrize(
    ("content", "reason"),
    [("<FictionBook><body>", "damaged"), ("<library/>", "no FictionBook"), ("words", "damaged")],
)
def test_what_is_no_book_fails_with_its_reason(content: str, reason: str) -> None:
    with pytest.raises(ParseError, match=reason) as raised:
        read(content)
    assert raised.value.failure_class is FailureClass.CORRUPT


def test_entities_that_grow_are_refused() -> None:
    """An entity that names a file stays a name."""
    laughs = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    declared = f'<!DOCTYPE a [<!ENTITY e0 "ha">{laughs}<!ENTITY f SYSTEM "file:///etc/hostname">]>'
    with pytest.raises(ParseError, match="damaged"):
        read(f'{declared}<FictionBook><body><section id="&e12;"><p>x</p></section></body></FictionBook>')
    assert texts(read(f"{declared}<FictionBook><body><p>x &f;</p></body></FictionBook>")) == ["x &f;"]


def test_deep_and_large_books_take_seconds() -> None:
    """Sections hundreds deep, and a picture of 11 MB."""
    begun = time.process_time()
    picture = f"<binary>{'A' * 11_000_000}</binary>"
    sections = f"{'<section><title><p>a</p></title>' * 900}<p>inside</p>{'</section>' * 900}"
    document = read(f"<FictionBook><body>{sections}</body>{picture}</FictionBook>")
    assert "inside" in document.markdown
    assert len(document.markdown) < 20_000
    assert time.process_time() - begun < 10


def test_raised_and_lowered_words() -> None:
    """An exponent and the mark of a note keep their meaning."""
    text = "10<sup>6</sup> of H<sub>2</sub>O, 1815<sup>3</sup>"
    assert read(f"<FictionBook><body><section><p>{text}</p></section></body></FictionBook>").markdown == (
        "10^6 of H2O, 1815[3]\n"
    )

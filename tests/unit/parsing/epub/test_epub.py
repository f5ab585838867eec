"""Books come out chapter by chapter, and locked or broken ones say so."""

import re
from collections import Counter
from difflib import SequenceMatcher

import pytest

from sourcebook.errors import ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.checkout import SHARED_DATA
from tests.unit.parsing.covering import assert_blocks_cover
from tests.unit.parsing.epub.epub_writer import chapter, epub, package

BOOKS = SHARED_DATA / "documents" / "epub"
ONE = "<p>It was a bright cold day in April, and the clocks were striking thirteen.</p>"
TWO = "<p>She said that the letter had arrived on the morning after the storm.</p>"


def read(content: bytes) -> ParsedDocument:
    media_type = detect_media_type("a.epub", content[:4096])
    document = parse(content, name="a.epub", media_type=media_type)
    assert_blocks_cover(document)
    return document


def book(*bodies: str, metadata: str = "<dc:title>A Book</dc:title>") -> bytes:
    parts = {f"c{number}.xhtml": "" for number in range(len(bodies))}
    members = {f"OEBPS/c{number}.xhtml": chapter(body) for number, body in enumerate(bodies)}
    return epub({"OEBPS/book.opf": package(parts, metadata=metadata), **members})


def headings(document: ParsedDocument) -> list[tuple[int, str]]:
    return [(block.level, block.title) for block in document.blocks if block.kind == "heading"]


def test_chapters_come_in_the_order_of_the_spine() -> None:
    """The manifest's and the archive's order do not matter; a part named twice is read once."""
    parts = {"b.xhtml": "", "sub/../a%20b.xhtml": ""}
    opf = package(parts).replace("</spine>", '<itemref idref="i0"/></spine>')
    content = epub(
        {
            "OEBPS/a b.xhtml": chapter(f"<h1>Second</h1>{TWO}"),
            "OEBPS/book.opf": opf,
            "OEBPS/b.xhtml": chapter(f"<h1>First</h1>{ONE}"),
        }
    )
    assert headings(read(content)) == [(1, "First"), (1, "Second")]


def test_properties_of_the_book_become_metadata() -> None:
    """Title, authors, publisher, date, language, identifier and subjects come from the package document."""
    metadata = (
        "<dc:title>The  Title</dc:title><dc:creator>Ada</dc:creator><dc:creator>Bob</dc:creator>"
        "<dc:publisher>House</dc:publisher><dc:date>2020-01-02</dc:date><dc:language>fr-CA</dc:language>"
        "<dc:identifier>urn:isbn:1</dc:identifier><dc:subject>Sea</dc:subject>"
    )
    document = read(book("<p>Oui.</p>", metadata=metadata))
    assert document.title == "The Title"
    assert document.language == "fr"
    assert document.metadata == {
        "author": "Ada, Bob",
        "publisher": "House",
        "published": "2020-01-02",
        "language": "fr-CA",
        "identifier": "urn:isbn:1",
        "tags": ["Sea"],
    }


def test_what_the_text_says_of_its_language_counts_more() -> None:
    """A package document that says French of an English text is not believed."""
    assert read(book(ONE + TWO, metadata="<dc:language>fr</dc:language>")).language == "en"


def test_poems_keep_their_lines_and_images_their_text() -> None:
    """A line of verse is a line, a note's number stands apart, and what an image shows is said."""
    body = (
        "<h2>Song</h2><p><span>First line,</span><br/><span>second line.</span>"
        '<a epub:type="noteref" href="n.xhtml#n1">1</a></p>'
        '<p><img src="http://192.0.2.1/a.png" alt="A ship at sea"/></p><script>alert(1)</script>'
        '<aside epub:type="footnote" id="n1"><p>The note. <a role="doc-backlink" href="#r1">↩</a></p></aside>'
    )
    document = read(book(body))
    assert document.markdown == "## Song\n\nFirst line,  \nsecond line.[1]\n\nA ship at sea\n\nThe note.\n"


def test_cover_and_table_of_contents_are_left_out() -> None:
    """What is there for the reader's program is no text of the book."""
    nav = '<nav epub:type="toc"><h2>Contents</h2><ol><li><a href="c.xhtml">One</a></li></ol></nav>'
    parts = {"cover.xhtml": "", "nav.xhtml": 'properties="nav"', "c.xhtml": ""}
    content = epub(
        {
            "OEBPS/book.opf": package(parts),
            "OEBPS/cover.xhtml": chapter('<img alt="Cover of the book"/>', attributes='epub:type="cover"'),
            "OEBPS/nav.xhtml": chapter(nav),
            "OEBPS/c.xhtml": chapter(ONE),
        }
    )
    document = read(content)
    assert headings(document) == [(2, "One")]
    assert "Contents" not in document.markdown
    assert "Cover" not in document.markdown


def test_chapters_without_headings_take_those_of_the_contents() -> None:
    """The older table of contents serves too; a line that already is the title becomes the heading."""
    ncx = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint><navLabel><text>Part One</text></navLabel>'
        '<content src="a.xhtml"/><navPoint><navLabel><text>The Storm</text></navLabel><content src="a.xhtml#s"/>'
        "</navPoint></navPoint><navPoint><navLabel><text>The End</text></navLabel>"
        '<content src="b.xhtml"/></navPoint></navMap></ncx>'
    )
    manifest = '<item id="toc" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    content = epub(
        {
            "OEBPS/book.opf": package({"a.xhtml": "", "b.xhtml": ""}, manifest=manifest),
            "OEBPS/toc.ncx": ncx,
            "OEBPS/a.xhtml": chapter(f'{ONE}<p><a id="s"/>It rained.</p>'),
            "OEBPS/b.xhtml": chapter(f"<p class='t'>THE END</p>{TWO}"),
        }
    )
    document = read(content)
    assert headings(document) == [(2, "Part One"), (3, "The Storm"), (2, "The End")]
    assert document.markdown.count("End") == 1
    assert "THE END" not in document.markdown


def test_a_protected_book_says_so() -> None:
    """Encrypted chapters are a reason; obfuscated fonts are none."""
    encryption = (
        '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#"><e:EncryptedData><e:EncryptionMethod '
        'Algorithm="{}"/><e:CipherData><e:CipherReference URI="{}"/></e:CipherData></e:EncryptedData></encryption>'
    )
    members: dict[str, str | bytes] = {"OEBPS/book.opf": package({"a.xhtml": ""}), "OEBPS/a.xhtml": chapter(ONE)}
    aes = encryption.format("http://www.w3.org/2001/04/xmlenc#aes128-cbc", "OEBPS/a.xhtml")
    with pytest.raises(ParseError, match=r"protected \(DRM\)"):
        read(epub({**members, "META-INF/encryption.xml": aes}))
    font = encryption.format("http://www.idpf.org/2008/embedding", "OEBPS/font.otf")
    assert read(epub({**members, "META-INF/encryption.xml": font})).markdown
    locked = {**members, "OEBPS/a.xhtml": bytes(range(1, 256)) * 20, "META-INF/rights.xml": "<rights/>"}
    with pytest.raises(ParseError, match=r"protected \(DRM\)"):
        read(epub(locked))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (book(ONE)[:300], "damaged or cut off"),
        (epub({"a.txt": "x"}, container=None), "no EPUB"),
        (epub({"OEBPS/book.opf": "<package"}), "no EPUB"),
        (epub({"OEBPS/book.opf": package({})}), "names no chapter"),
        (epub({"OEBPS/book.opf": package({"a.xhtml": "", "https://x.test/b.xhtml": ""})}), "no chapter of the EPUB"),
    ],
)
def test_broken_books_say_what_is_wrong(content: bytes, reason: str) -> None:
    """Each way to be no book has its sentence."""
    with pytest.raises(ParseError, match=reason):
        read(content)


def test_paths_never_leave_the_archive() -> None:
    """`../` above the root and absolute paths mean members; missing parts do not stop the others."""
    parts = {"../../../OEBPS/a.xhtml": "", "/OEBPS/b.xhtml": "", "missing.xhtml": ""}
    members = {"OEBPS/a.xhtml": chapter(ONE), "OEBPS/b.xhtml": chapter(TWO)}
    document = read(epub({"OEBPS/book.opf": package(parts), **members}))
    assert len(document.blocks) == 2


def test_a_lost_container_is_forgiven() -> None:
    """Where there is a package document, the way to it is not needed."""
    members = {"OEBPS/book.opf": package({"a.xhtml": ""}), "OEBPS/a.xhtml": chapter(ONE)}
    assert read(epub(members, container=None)).title == "A Book"


def test_bombs_cost_neither_memory_nor_time() -> None:
    """Entities are not resolved, and what unpacks without end is refused."""
    entities = "".join(f'<!ENTITY e{n} "{f"&e{n - 1};" * 10}">' for n in range(1, 12))
    bomb = f'<!DOCTYPE package [<!ENTITY e0 "boom">{entities}]>'
    opf = package({"a.xhtml": ""}, metadata="<dc:title>&e11;</dc:title>").replace("<package", f"{bomb}<package")
    with pytest.raises(ParseError, match="no readable package document"):
        read(epub({"OEBPS/book.opf": opf, "OEBPS/a.xhtml": chapter(ONE)}))
    document = read(book(f"{bomb.replace('package', 'html')}{ONE}<p>&e11;</p>"))
    assert "boomboom" not in document.markdown
    huge = {f"OEBPS/c{number}.xhtml": b" " * (66 << 20) for number in range(2)}
    with pytest.raises(ParseError, match="more than 128 MiB"):
        read(epub({"OEBPS/book.opf": package({"c0.xhtml": "", "c1.xhtml": ""}), **huge}))


@pytest.mark.skipif(not BOOKS.is_dir(), reason=f"the shared data is not at {BOOKS}")
def test_a_real_book_comes_out_whole() -> None:
    """Nearly every word of the reference conversion is there, in its order."""
    document = read((BOOKS / "epub_purvis_poetry.epub").read_bytes())
    expected = words((BOOKS / "epub_purvis_poetry.expected.md").read_text(encoding="utf-8"))
    found = words(document.markdown)
    assert (Counter(expected) & Counter(found)).total() / len(expected) >= 0.99
    assert SequenceMatcher(None, expected, found, autojunk=False).ratio() >= 0.99


def words(markdown: str) -> list[str]:
    return re.findall(r"\w+", markdown.replace("<!-- image -->", ""))

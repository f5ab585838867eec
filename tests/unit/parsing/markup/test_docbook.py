"""DocBook as Markdown."""

import time
from pathlib import Path

import pytest

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover, texts

FILES = Path(__file__).parent.parent / "files"
VERSION_4 = """<?xml version="1.0" encoding="{encoding}"?>
<!DOCTYPE book PUBLIC "-//OASIS//DTD DocBook XML V4.5//EN" "http://www.oasis-open.org/docbook/xml/4.5/docbookx.dtd" [
<!ENTITY lock "Lock 7">
]>
"""


def read(content: str | bytes, name: str = "lock.dbk") -> ParsedDocument:
    content = content.encode() if isinstance(content, str) else content
    document = parse(content, name=name, media_type=detect_media_type(name, content[:4096]))
    assert_blocks_cover(document)
    return document


def section(content: str) -> ParsedDocument:
    return read(f'<section xmlns="http://docbook.org/ns/docbook" version="5.0">{content}</section>')


def test_a_document_of_version_5() -> None:
    """Sections have their ids as anchors; footnotes, nested lists, tables, code and links are kept."""
    document = read((FILES / "lock.dbk").read_bytes())
    headings = [(block.level, block.title, block.anchor) for block in document.blocks if block.kind == "heading"]
    assert headings == [
        (1, "Lock manual", ""),
        (2, "Gates", "gates"),
        (3, "Order of work", "order-of-work"),
        (2, "Keeper’s house", "keepers-house"),
    ]
    assert (document.title, document.language) == ("Lock manual", "en")
    assert document.metadata == {"author": "Ada Byron", "date": "2024-05-01"}
    assert "are down. (They weigh three tons.) See [the rules](https://example.org/rules)." in document.markdown
    assert "2. Raise the upper paddles.\n   - left first\n   - then right" in document.markdown
    assert "**Widths of gates**\n\n| Gate | Width (m) |\n| --- | --- |\n| Äpper | 4.5 |" in document.markdown
    assert '```python\ndef open_gate(side):\n    return f"{side} is open"\n```' in document.markdown


def test_a_document_of_version_4() -> None:
    """Characters by name are characters; an entity of the file is shown as written, and its DTD is not fetched."""
    document = read(
        VERSION_4.format(encoding="utf-8")
        + """<book lang="de-AT"><bookinfo><title>Handbook</title><author><firstname>Ada</firstname>
        <surname>Byron</surname></author><pubdate>May 1, 2024</pubdate>
        <keywordset><keyword>locks</keyword><keyword>gates</keyword></keywordset>
        <abstract><para>In short.</para></abstract><copyright><year>2024</year></copyright></bookinfo>
        <chapter id="one"><title>Of <emphasis>gates</emphasis></title><para>The keeper&mdash;of &lock;.</para>
        <warning><title>Beware</title><para>Mind the sill.</para></warning><note><para>At night, too.</para></note>
        </chapter></book>"""
    )
    assert document.title == "Handbook"
    assert document.language == "de"
    assert document.metadata == {"author": "Ada Byron", "date": "2024-05-01", "tags": ["locks", "gates"]}
    assert texts(document) == [
        "# Handbook",
        "In short.",
        "## Of gates",
        "The keeper—of &lock;.",
        "**Warning: Beware**",
        "Mind the sill.",
        "**Note:**",
        "At night, too.",
    ]


def test_lists_of_terms_references_and_keys() -> None:
    """A reference without words has those of its target; terms stand before what they explain."""
    document = section(
        "<title>Doors</title><variablelist><varlistentry><term><option>-f</option></term><listitem><para>force it"
        '</para></listitem></varlistentry></variablelist><para>See <xref linkend="keys"/>, press <keycombo><keycap>Ctrl'
        "</keycap><keycap>C</keycap></keycombo><indexterm><primary>key</primary></indexterm> or open <menuchoice>"
        "<guimenu>File</guimenu><guimenuitem>Quit</guimenuitem></menuchoice>.</para>"
        '<section xml:id="keys"><title>Keys and bolts</title><para>One.</para><para><quote>Two</quote></para></section>'
    )
    assert texts(document)[1:] == [
        "`-f`",
        "force it",
        "See Keys and bolts, press Ctrl+C or open File > Quit.",
        "## Keys and bolts",
        "One.",
        "“Two”",
    ]


def test_cells_that_span_are_repeated() -> None:
    """Columns are spanned by their names, rows by a number."""
    document = section(
        '<table><title>Levels</title><tgroup cols="3"><colspec colname="a"/><colspec colname="b"/>'
        '<colspec colname="c"/><thead><row><entry>day</entry><entry>low</entry><entry>high</entry></row></thead><tbody>'
        '<row><entry morerows="1">Monday</entry><entry namest="b" nameend="c">dry</entry></row>'
        "<row><entry>2</entry><entry>3</entry></row></tbody></tgroup></table>"
    )
    table = "| day | low | high |\n| --- | --- | --- |\n| Monday | dry | dry |\n| Monday | 2 | 3 |"
    assert texts(document) == ["**Levels**", table]


def test_manual_pages_and_includes() -> None:
    """A manual page has its title and its line of purpose; another file is named, not read."""
    document = read(
        '<refentry xmlns:xi="http://www.w3.org/2001/XInclude"><refmeta><refentrytitle>lock</refentrytitle><manvolnum>1'
        "</manvolnum></refmeta><refnamediv><refname>lock</refname><refname>unlock</refname><refpurpose>move a gate"
        "</refpurpose></refnamediv><refsynopsisdiv><cmdsynopsis><command>lock</command> <arg>-f</arg></cmdsynopsis>"
        '</refsynopsisdiv><refsect1><title>Bugs</title><para>None.</para><xi:include href="more.xml"/></refsect1>'
        "</refentry>"
    )
    assert texts(document) == [
        "# lock",
        "lock, unlock — move a gate",
        "## Synopsis",
        "`lock` -f",
        "## Bugs",
        "None.",
        "`include more.xml`",
    ]


def test_xml_files_are_docbook_where_their_root_says_so() -> None:
    """The document type or the namespace of the root decides, whatever a comment or the text says."""
    book = VERSION_4.format(encoding="utf-8") + "<book><title>Locks</title><para>One.</para></book>"
    namespace = "http://docbook.org/ns/docbook"
    assert read(book, "lock.xml").title == "Locks"
    assert read(f'<d:article xmlns:d="{namespace}"><d:title>Sills</d:title></d:article>', "lock.xml").title == "Sills"
    for data in (f'<root><ns xmlns="{namespace}"/></root>', f'<!-- xmlns="{namespace}" --><a>b</a>'):
        document = parse(data.encode(), name="data.xml", media_type="text/x-xml")
        assert document.markdown == f"```xml\n{data}\n```\n"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1"])
def test_encodings_are_those_that_the_file_declares(encoding: str) -> None:
    """Letters beyond ASCII are read in any of them."""
    content = VERSION_4.format(encoding=encoding) + "<article><title>Größe</title><para>Tür</para></article>"
    assert texts(read(content.encode(encoding))) == ["# Größe", "Tür"]


def test_a_fragment_with_unknown_entities_is_read() -> None:
    """A chapter that another file includes has no document type of its own."""
    assert (
        texts(read("<chapter><title>Locks</title><para>of &company;&nbsp;Ltd</para></chapter>"))[1]
        == "of &company; Ltd"
    )


def test_a_document_type_in_a_comment_is_none() -> None:
    """Chapters of a book begin with one, to be uncommented by who edits them alone."""
    begin = '<!-- <?xml version="1.0"?>\n<!DOCTYPE chapter PUBLIC "-//A//B" "a.dtd"> -->\n'
    document = read(f"{begin}<chapter><title>Gates</title><para>Press &stage; now.</para></chapter>")
    assert texts(document) == ["# Gates", "Press &stage; now."]


def test_entities_that_grow_are_refused() -> None:
    """In an attribute, where the parser would resolve them, and in the text; an entity that names a file is a name."""
    laughs = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(12))
    bomb = f'<!DOCTYPE article [<!ENTITY e0 "ha">{laughs}<!ENTITY f SYSTEM "file:///etc/hostname">]><article>'
    for content in ('<para id="&e12;">x</para>', "<para>x &e12;</para>"):
        with pytest.raises(ParseError) as raised:
            read(f"{bomb}{content}</article>")
        assert raised.value.failure_class is FailureClass.CORRUPT
    assert texts(read(f"{bomb}<para>x &f; &e0;</para></article>")) == ["x &f; &e0;"]


@pytest.mark.parametrize("content", ["", "no markup", "<article><title>cut off", "<article/>"])
def test_a_damaged_document_fails_with_its_reason(content: str) -> None:
    """An empty one gives an empty document."""
    if not content or content == "<article/>":
        assert not read(content).markdown
    else:
        with pytest.raises(ParseError, match="damaged"):
            read(content)


@pytest.mark.parametrize(
    ("before", "after"),
    [("<section><title>a</title>", "</section>"), ("<itemizedlist><listitem>", "</listitem></itemizedlist>")],
)
def test_deep_documents_take_seconds(before: str, after: str) -> None:
    """Hundreds of levels: the text inside is kept."""
    begun = time.process_time()
    document = read(f"<article>{before * 900}<para>inside</para>{after * 900}</article>")
    assert "inside" in document.markdown
    assert time.process_time() - begun < 10


def test_wide_documents_take_seconds() -> None:
    """Thousands of paragraphs in an item, of entities in a paragraph and of descriptions in a section."""
    begun = time.process_time()
    item = f"<itemizedlist><listitem>{'<para>a</para>' * 5_000}</listitem></itemizedlist>"
    document = section(f"{item}<para>{'&amp;&dash;' * 5_000}</para>{'<info><date/></info>' * 5_000}")
    assert document.markdown.count("‐") == 5_000
    assert time.process_time() - begun < 10


def test_raised_words_and_numbers_of_lists() -> None:
    """An exponent and the mark of a note keep their meaning, and lists their letters and first numbers."""
    raised = "10<superscript>6</superscript> of H<subscript>2</subscript>O, 1815<superscript>3</superscript>"
    lists = "".join(
        f"<orderedlist {kind}><listitem><para>tar</para></listitem></orderedlist><para>.</para>"
        for kind in ('numeration="loweralpha"', 'startingnumber="4"')
    )
    written = read(f"<article xmlns='http://docbook.org/ns/docbook'><para>{raised}</para>{lists}</article>").markdown

    assert written == "10^6 of H2O, 1815[3]\n\n- a. tar\n\n.\n\n4. tar\n\n.\n"

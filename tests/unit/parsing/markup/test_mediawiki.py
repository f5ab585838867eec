"""Dumps of MediaWiki are read page by page, as their wikitext says it."""

import time
from html import escape

import pytest

from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.media_type import detect_media_type
from sourcebook.parsing.parse import parse
from tests.unit.parsing.covering import assert_blocks_cover


def dump(*pages: str) -> ParsedDocument:
    head = '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11"><siteinfo/>'
    content = f"{head}{''.join(pages)}</mediawiki>".encode()
    document = parse(content, name="dump.xml", media_type=detect_media_type("dump.xml", content[:4096]))
    assert_blocks_cover(document)
    return document


def page(title: str, *texts: str, ns: int = 0, more: str = "") -> str:
    revisions = "".join(
        f'<revision><id>1</id><text xml:space="preserve">{escape(text)}</text></revision>' for text in texts
    )
    return f"<page><title>{escape(title)}</title><ns>{ns}</ns>{more}{revisions}</page>"


def body(wikitext: str) -> str:
    markdown = dump(page("A", wikitext)).markdown
    assert markdown.startswith("# A\n\n")
    return markdown.removeprefix("# A\n\n").rstrip("\n")


def test_pages_are_sections_with_their_newest_text() -> None:
    """Redirects, templates and messages of the interface are no pages, and counted."""
    document = dump(
        page("Winch", "old", "The winch turns left."),
        page("Hoist", "#REDIRECT [[Winch]]", more='<redirect title="Winch"/>'),
        page("Template:X", "x", ns=10),
        page("Talk: rope <new> & old", "Made of hemp.", ns=1),
    )
    assert document.markdown == ("# Winch\n\nThe winch turns left.\n\n# Talk: rope \\<new> & old\n\nMade of hemp.\n")
    assert document.metadata == {"pages": 2, "left_out": {"records": 2}}
    assert document.title is None
    assert dump(page("Winch", "x")).title == "Winch"


@pytest.mark.parametrize(
    ("wikitext", "markdown"),
    [
        ("'''bold''' ''slant'' '''''both'''''", "**bold** *slant* ***both***"),
        ("[[Gate motor|the motor]], [[rope]]s, [https://a.example/x manual]",
         "[the motor](Gate%20motor), [ropes](rope), [manual](https://a.example/x)"),
        ("a<ref name=\"x\">{{cite|title=Ropes|year=1901}}</ref> b<ref name=\"x\" />", "a (Ropes, 1901) b"),
        ("x <!-- hidden --> y __NOTOC__", "x y"),
        ("{{convert|5|t}} and {{outer|{{inner|deep}}}} {{{1|default}}}", "5 t and deep default"),
        ("<nowiki>[[no]] {{a}}</nowiki>", "[[no]] {{a}}"),
        ("== Use ==\ntext\n=== Care ===\nmore", "## Use\n\ntext\n\n### Care\n\nmore"),
        ("* one\n** inner\n* two\n# first\n# second", "- one\n  - inner\n- two\n\n1. first\n2. second"),
        ("[[File:A.jpg|thumb|The [[winch]] in 1901]]", "The [winch](winch) in 1901"),
        ("x\n[[Category:Machines]]\n[[Category:Ropes|key]]", "x\n\nCategories: Machines, Ropes"),
        ("para one\nstill one\n\npara two", "para one still one\n\npara two"),
        ("<syntaxhighlight lang=\"python\">\ndef f(x):\n    return '''x'''\n</syntaxhighlight>",
         "```python\ndef f(x):\n    return '''x'''\n```"),
        ("{{Infobox\n| name = Winch\n| load = 5 t\n| empty =\n}}\ntext", "- name: Winch\n- load: 5 t\n\ntext"),
        ("{|\n! Load !! Radius\n|-\n| style=\"a\" | 5 t || 3 m\n|-\n| rowspan=2 | 4 t\n| 6 m\n|-\n| 9 m\n|}",
         "| Load | Radius |\n| --- | --- |\n| 5 t | 3 m |\n| 4 t | 6 m |\n| 4 t | 9 m |"),
    ],
)  # fmt: skip
def test_wikitext(wikitext: str, markdown: str) -> None:
    """Each mark is what a reader of the page sees."""
    assert body(wikitext) == markdown


def test_marks_that_do_not_end_take_linear_time() -> None:
    """Brackets, braces, tables, elements and attributes, each many times and open."""
    bad = ("{{", "[[", "{{{", "<nowiki>", "<ref>", "<!--", "{|\n", "|a=a=a=", "''", "=", "* ", "[//", "<pre a=b ")
    begun = time.process_time()
    for each in bad:
        assert dump(page("A", each * 20_000)).metadata["pages"] == 1
    assert time.process_time() - begun < 60


def test_a_damaged_dump_is_read_as_far_as_it_goes() -> None:
    """Pages before the place where a file is cut off."""
    head = b'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/">'
    cut = head + page("A", "whole").encode() + page("B", "cut off").encode()[:40]
    assert "whole" in parse(cut, name="a.xml", media_type="text/x-xml").markdown

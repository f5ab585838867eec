"""Generated indexes are known by their shape, and nothing else is taken for one."""

import pytest

from sourcebook.chunking.generated_index import FEWEST_LINKS, is_generated_index
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.html.cleaner import clean_page
from sourcebook.parsing.text.markdown import markdown_blocks

SITE = "https://docs.example.com"
SENTENCE = "The virtual table may leave out rows that are identical in all of its columns."


def document(markdown: str) -> ParsedDocument:
    return ParsedDocument(markdown, tuple(markdown_blocks(markdown)))


def of_lines(line: str, number: int = 200, head: str = "# Title\n\n") -> ParsedDocument:
    """Return a document of numbered lines."""
    return document(head + "".join(f"{line.format(n=n)}\n" for n in range(number)))


@pytest.mark.parametrize(
    "line",
    [
        "- [term{n}() (in module module{n})](library/module.html#term{n})",
        f"- term {{n}}, [1]({SITE}/a.html#{{n}}), [2]({SITE}/b.html#{{n}})",
        "- configuration parameter {n}, [Where to Log](runtime{n}.html), [How to Log](how{n}.html)",
        "- FLAG_{n} → [cli.html#{n}](cli.html#{n}) [build.html](build.html)",
        "| [Chapter {n}](chapter{n}.html) | [{n}.1 Begin](chapter{n}.html#begin) |",
        "  - [{n}. Working with queues and stacks](tutorial/{n}.html)",
        f"**R-{{n}}-42208** {SENTENCE} *(source: [uri.html](uri.html), matrix: [context](m{{n}}), [detail](d{{n}}))*\n",
    ],
)
def test_indexes_of_keywords_contents_and_requirements(line: str) -> None:
    """Whatever the list looks like: its links are dense and lead into one site."""
    assert is_generated_index(of_lines(line))


@pytest.mark.parametrize(
    "line",
    [
        "- [project{n}](https://host{n}.example/) - A library for queues, written by people who needed one for boats.",
        "- [project{n}](https://code.example/{n}) - A library for queues, written by people who needed one for boats.",
        f"- [paper](https://host{{n}}.example/p.pdf) [code](https://host{{n}}.example/c) Queue {{n}}. {SENTENCE}",
        f"- [gh-{{n}}](https://issues.example.com/{{n}}): {SENTENCE} {SENTENCE}",
        f"{SENTENCE} See [chapter {{n}}](chapter{{n}}.html) and [queues](queues.html). {SENTENCE}\n",
        "| 2024-{n} | 17.3 | 42 | north | the instrument was read by the harbour master at noon |",
        "- [Author {n}](https://host{n}.example/), Title of the article {n}, Journal {n}",
    ],
)
def test_lists_with_prose_data_and_links_to_elsewhere_stay(line: str) -> None:
    """Such as a link collection with its descriptions, a change log, a bibliography, or a table without links."""
    assert not is_generated_index(of_lines(line))


def test_a_short_list_stays() -> None:
    """A page of contents of a chapter is often the answer."""
    line = "- [Part {n}](part{n}.html)"
    assert not is_generated_index(of_lines(line, FEWEST_LINKS - 1))
    assert is_generated_index(of_lines(line, FEWEST_LINKS))


def test_prose_beside_a_list_keeps_it() -> None:
    """A document that explains something and then lists links is no index; a short introduction does not save one."""
    line = "- [Part {n}](part{n}.html)"
    assert is_generated_index(of_lines(line, head=f"# Parts\n\n{SENTENCE} {SENTENCE}\n\n"))
    assert not is_generated_index(of_lines(line, head=f"# Parts\n\n{' '.join([SENTENCE] * 20)}\n\n"))


def test_code_does_not_count() -> None:
    """An example of code holds no sentence; each letter of an index may have a heading."""
    letters = "".join(
        f"## {letter}\n\n" + "".join(f"- [{letter}{number}](x.html#{letter}{number})\n" for number in range(10)) + "\n"
        for letter in "abcdefgh"
    )
    assert is_generated_index(document(f"# Index\n\n{letters}"))
    code = "```python\n" + "value = 1  # a comment of many words that explains what it does\n" * 80 + "```\n"
    assert is_generated_index(document(f"# Index\n\n{letters}\n{code}"))


def test_a_page_of_html_is_judged_as_it_was_cleaned() -> None:
    """Definition lists and tables of links, as documentation generators write them."""
    rows = "".join(
        f'<tr><td><dl><dt><a href="a.html#{n}">name{n}</a>, <a href="b.html#{n}">[1]</a></dt></dl></td></tr>'
        for n in range(90)
    )
    page = f"<html><body><main><h1>Index</h1><table>{rows}</table></main></body></html>".encode()
    cleaned = clean_page(page, url=f"{SITE}/genindex.html")
    assert is_generated_index(ParsedDocument(cleaned.markdown, cleaned.blocks))


@pytest.mark.parametrize("markdown", ["", "# Title\n", "[](" * 5000, "[a](" + "(" * 5000, "[" * 5000 + "](x)" * 100])
def test_nonsense_is_no_index_and_takes_no_time(markdown: str) -> None:
    assert not is_generated_index(document(markdown))

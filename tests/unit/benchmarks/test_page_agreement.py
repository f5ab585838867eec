"""The library of PDFs and the text on which readers agree."""

from pathlib import PurePosixPath

from benchmarks.corpora.pdf_library import library_files
from benchmarks.harness.page_agreement import found_words, plain_words, reference, similarity, without_repeated_edges


def test_the_list_of_the_library() -> None:
    """Sixty different PDFs in two parts, each with its package, version, path in it, SHA-256 and number of pages."""
    files = library_files()
    assert len({file.sha256 for file in files}) == len(files) == 60
    assert {file.part for file in files} == {"work", "report"}
    assert {file.registry for file in files} == {"deb", "pypi", "npm"}
    for file in files:
        assert len(bytes.fromhex(file.sha256)) == 32
        assert file.pages > 0
        assert file.name.endswith(".pdf")
        assert ".." not in PurePosixPath(file.path).parts


def test_the_reading_that_others_agree_with_is_the_reference() -> None:
    """On each page, the reading most similar to the others is taken; agreement is that of the closest two."""
    page, swapped = "one two three four five six", "four five six one two three"
    found = reference([[page, page], [swapped, page], [page, page]])
    assert found.words == plain_words(f"{page} {page}")
    assert found.agreement == 1.0
    assert similarity(plain_words(page), plain_words(swapped)) == 0.5
    assert found_words(plain_words(page), plain_words(swapped)) == 1.0


def test_words_are_compared_without_marks() -> None:
    """Case, Markdown, ligatures, tags and hyphens at lines' ends make no difference."""
    assert plain_words("# The **\ufb01rst**<br>read-\ning of snake_case") == plain_words(
        "the first reading of snake case"
    )


def test_text_between_angle_brackets_is_no_tag() -> None:
    """A bracket without an end, or around the name of a file or an element, takes no words away."""
    text = "cp <source file\nto the next page\nand then > stop"
    assert plain_words(text) == ["cp", "source", "file", "to", "the", "next", "page", "and", "then", "stop"]
    assert plain_words("the <para> and its <B class='x'>text</B>") == ["the", "para", "and", "its", "text"]


def test_running_heads_are_left_out_of_all_readings() -> None:
    """Lines at the edges that repeat on three pages, digits aside, are left out."""
    pages = [f"The book\n\ntext {letter}\nmore {letter}\n- {number} -" for number, letter in enumerate("abc")]
    assert without_repeated_edges(pages) == [f"text {letter}\nmore {letter}" for letter in "abc"]
    assert without_repeated_edges(pages[:2])[0].startswith("The book")

"""What the benchmark of documents counts."""

from collections import Counter

from benchmarks.harness.document_scores import headings, order_similarity, share_found, table_cells, words


def test_words_are_those_a_reader_sees() -> None:
    """Escapes, entities and places of images are Markdown's, not words; order and repetition stay."""
    text = "# A\\_b &amp; c\\.d\n\n<!-- image -->\n\n`e` f&#246;r f"
    assert words(text) == ["A_b", "c", "d", "e", "för", "f"]


def test_headings_are_compared_without_their_marks() -> None:
    """Level, case, emphasis, spacing and a full stop do not matter; a comment in code is no heading."""
    written = "## **One**  two.\n\n```sh\n# install\n```\n\ntext\n\n#### One two:\n\nThree\n---\n"
    assert headings(written) == Counter({"one two": 2, "three": 1})


def test_emphasis_within_a_word_does_not_split_it() -> None:
    """What stands together is one word, what a line break parts is two."""
    assert headings("pre**fix** of\\\nit\n---\n") == Counter({"prefix of it": 1})
    assert table_cells("| pre**fix** | a<br>b |\n|---|---|\n") == Counter({"prefix": 1, "a b": 1})


def test_cells_are_those_of_tables_that_hold_something() -> None:
    """Empty cells, rules, and bars outside a table do not count; an escaped bar belongs to its cell."""
    table = "| Name | A\\|B |\n|---|---|\n| x | |\n| x | - |\n\na | b\n"
    assert table_cells(table) == Counter({"name": 1, "a|b": 1, "x": 2, "-": 1})


def test_a_share_counts_each_as_often_as_it_is_expected() -> None:
    """Finding one word twice does not make up for another; of nothing there is no share."""
    assert share_found(Counter("aabc"), Counter("aaab")) == 0.75
    assert share_found(Counter(), Counter("a")) is None


def test_similarity_falls_with_what_is_out_of_order() -> None:
    """Two columns read across are nearer to nothing than to what was meant."""
    columns = [f"{side}{line}" for side in "lr" for line in range(300)]
    across = [f"{side}{line}" for line in range(300) for side in "lr"]
    assert order_similarity(columns, columns) == 1.0
    assert 0.4 < order_similarity(columns, across) < 0.6
    assert order_similarity(["the"] * 300, ["the"] * 299) > 0.99

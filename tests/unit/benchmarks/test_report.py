from benchmarks.harness.report import Row, middle, table


def test_a_row_meets_its_bar_up_to_the_bar_itself() -> None:
    """A number without a bar is neither met nor missed."""
    assert Row("a", 2.0, "s", 2.0).met is True
    assert Row("a", 2.01, "s", 2.0).met is False
    assert Row("a", 2.0, "s").met is None
    assert Row("a", None, "s", 2.0, "run with --full").met is None


def test_the_table_shows_value_bar_ratio_and_whether_it_is_met() -> None:
    """One line a row, in Markdown."""
    lines = table([Row("edit", 4.0, "s", 8.0), Row("peak", 2e9, "bytes", 1.6e9)]).splitlines()
    assert [cell.strip() for cell in lines[2].split("|")[1:-1]] == ["edit", "4.00 s", "≤ 8.00 s", "0.50", "yes"]
    assert [cell.strip() for cell in lines[3].split("|")[1:-1]] == ["peak", "2,000 MB", "≤ 1,600 MB", "1.25", "**no**"]


def test_the_middle_is_the_median() -> None:
    """One slow run does not move it."""
    assert middle([1.0, 9.0, 2.0]) == 2.0

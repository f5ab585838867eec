"""One judge says, for every format, where a table begins, which row is its header, and what stands around it."""

import pytest

from sourcebook.parsing.text.tables_in_rows import Table, starts_table, tables_in


def tables(text: str) -> list[Table]:
    return list(tables_in([row.split(";") for row in text.splitlines()]))


@pytest.mark.parametrize(
    ("above", "labels"),
    [
        ("Tolls of the lock\nPrinted on 3 March\n", ["Tolls of the lock", "Printed on 3 March"]),
        ("Tolls of the lock;;\n;;\n", ["Tolls of the lock"]),
        ("Office:;Velling;\nDay;2026-03-01;\n", ["Office: Velling", "Day: 2026-03-01"]),
        ("Office;Velling\nClerk;Ada\n\n", ["Office: Velling", "Clerk: Ada"]),
        ("# exported by a program\n# units: t, cm\n", ["exported by a program", "units: t, cm"]),
        ("one\ntwo\nthree\nfour\nfive\nsix\n", ["one", "two", "three", "four", "five", "six"]),
    ],
)
def test_lines_above_the_header(above: str, labels: list[str]) -> None:
    """Titles, names with a value, and comments are lines; the header is the first row as wide as most."""
    (table,) = tables(f"{above}Ship;Captain;Toll\nSkarv;Torkel;90\nMåken;Ada;95\n")
    assert (table.labels, table.rows[0], len(table.rows)) == (labels, ["Ship", "Captain", "Toll"], 3)


@pytest.mark.parametrize(
    "header",
    ["Country;2019;2020", ";2019;2020", "Country;n/a;First", "#id;a;b", "Country;01/02/2026;02/02/2026", "Country;;b"],
)
def test_a_header_names_values(header: str) -> None:
    """Years, days and gaps may stand in it, above other values than those."""
    (table,) = tables(f"{header}\nNorway;5;6\nSweden;10;11\n")
    assert table.rows[0] == header.split(";")


@pytest.mark.parametrize("rows", ["1;Ada;3.5\n2;Bo;4\n", "Ada;1987;3\nBo;1990;4\n", "2026-03-01;12,5\n2026-03-02;13\n"])
def test_without_a_header_nothing_is_made_one(rows: str) -> None:
    """The first record is no header of those below it."""
    (table,) = tables(rows)
    assert not any(table.rows[0])
    assert len(table.rows) == 3


def test_rows_below_a_blank_row() -> None:
    """Totals and further records belong to the table above; a header begins one, a long line at the end is a note."""
    (table,) = tables(
        "Ship;Captain;Toll\nSkarv;Torkel;90\n\nMåken;Ada;95\n;;\nTotal;;185\n\nSource: the harbour office"
    )
    assert table.rows[2:] == [["Måken", "Ada", "95"], ["Total", "", "185"]]
    assert table.notes == ["Source: the harbour office"]
    first, second = tables("Ships\nName;Toll\nSkarv;90\nMåken;95\n\nPeople\nName;Town\nAda;Oslo\nBo;Rome\n")
    assert (first.labels, first.rows[0]) == (["Ships"], ["Name", "Toll"])
    assert (second.labels, second.rows[0]) == (["People"], ["Name", "Town"])
    assert len(list(tables("a;b\nx;1\ny;2\n\nc;d;e\nz;3;4\n"))) == 2
    assert len(list(tables("a;b\nx;1\n\nz;2\nq;3\n"))) == 1


def test_rows_that_say_nothing_new() -> None:
    """A header that is repeated within a table, and columns without text, are dropped."""
    (table,) = tables("a;b;;\nx;1;;\na;b;;\ny;2;;\n")
    assert table.rows == [["a", "b"], ["x", "1"], ["y", "2"]]


def test_rows_with_one_text_stay_where_they_are() -> None:
    """A row that heads a group of records, and a record with nothing but its name."""
    (table,) = tables("Name;Town;Pay\nNorth;;\nAda;Oslo;3\nSouth;;\nBo;Rome;4\nCy;;\n")
    assert len(table.rows) == 6


def test_a_list_of_one_column() -> None:
    """It has the header that it begins with, and its blank rows mean nothing."""
    assert list(tables("name\nAda\n\nBo\n")) == [Table([], [["name"], ["Ada"], ["Bo"]])]


def test_a_table_of_its_own() -> None:
    """Rows below a blank one begin a table with a header; totals and further records do not."""
    assert starts_table([["Name", "Toll"], ["Måken", "95"]])
    assert starts_table([["Tolls", ""], ["Name", "Toll"], ["Måken", "95"]])
    assert not starts_table([["Total", "185"]])
    assert not starts_table([["Måken", "95"], ["Ruth", "97"]])

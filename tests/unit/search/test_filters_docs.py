"""docs/filters.md names every filter, and what it shows is taken."""

import ast
import re

from sourcebook.cli.filter_options import parse_filters
from sourcebook.contract.filters import FILTER_NAMES, Filters
from sourcebook.search.ranking.filter_conditions import condition_of
from tests.checkout import DOCS

TEXT = (DOCS / "filters.md").read_text(encoding="utf-8")


def _section(title: str) -> str:
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_filter_is_in_the_docs_with_an_example_that_is_taken() -> None:
    """A filter has a row of its own, and its example makes a condition."""
    rows = re.findall(r"^\| `(\w+)` \|.*\| `([^`]+)` \|$", _section("Every filter"), re.MULTILINE)
    assert [name for name, _ in rows] == list(FILTER_NAMES)
    for name, example in rows:
        call = ast.parse(f"f({example})", mode="eval").body
        assert isinstance(call, ast.Call)
        given = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
        assert list(given) == [name]
        assert condition_of(Filters(**given), None) is not None


def test_every_filter_that_the_docs_write_on_the_command_line_is_taken() -> None:
    """Each of them alone is a filter."""
    shown = [
        text for text in re.findall(r"`([^`]+)`", _section("On the command line")) if re.match(r"[\w.]+[=<>]", text)
    ]
    shown += re.findall(r"--filter '?([^\s']+)", TEXT)
    assert len(shown) > 15
    for text in shown:
        for each in text.split():
            made = parse_filters([each])
            assert made is not None
            assert condition_of(made, None) is not None

"""Errors speak of the option as it was typed."""

import pytest
from typer.testing import CliRunner

from sourcebook.command.app import app


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("-n", "0"), "sourcebook: -n is 0; it must be 1 to"),
        (("-n0",), "sourcebook: -n is 0; it must be 1 to"),
        (("--limit=0",), "sourcebook: --limit is 0; it must be 1 to"),
        (("--offset", "-1"), "sourcebook: --offset is -1;"),
        (("--diversity", "2"), "sourcebook: --diversity is 2.0;"),
        (("--filter", "kind=pdf"), "sourcebook: the filter kind has 'pdf'; it may have file, page"),
        (("--filter", "media_type=nothing"), "sourcebook: the filter media_type has 'nothing'"),
        (("--filter", "language=german"), "sourcebook: the filter language has 'german'"),
    ],
)
def test_a_wrong_value_is_told_with_the_option(arguments: tuple[str, ...], told: str) -> None:
    """Neither the name in the Python API nor another spelling of the option."""
    ran = CliRunner().invoke(app, ["search", "word", *arguments])
    assert (ran.exit_code, ran.stdout) == (2, "")
    assert ran.stderr.startswith(told)

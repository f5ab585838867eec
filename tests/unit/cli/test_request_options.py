"""The options of a command are the fields of its request, which stand nowhere else."""

from dataclasses import dataclass
from typing import Annotated, Literal

import pytest
import typer
from typer.core import TyperGroup
from typer.testing import CliRunner

from sourcebook.cli.request_options import Asked, with_options
from sourcebook.command.app import app
from sourcebook.contract.asking import AskRequest
from sourcebook.contract.fields import Choice, Numbers, Request, Share, Switch, Text, Whole, declared
from sourcebook.contract.search import ContextRequest, SearchRequest


@dataclass(frozen=True, slots=True)
class Tides(Request):
    harbour: Annotated[str, Text("Name of the harbour.")]
    days: Annotated[int, Whole("Days.", option="-d/--days", metavar="NUMBER", least=1)] = 3
    gauges: Annotated[tuple[int, ...], Numbers("Only these gauges.", least=1)] = ()
    datum: Annotated[Literal["lat", "msl"], Choice("Zero of the heights.")] = "lat"
    share: Annotated[float | None, Share("Share of gauges that answer.")] = None
    low_water: Annotated[bool, Switch("Low water, too.")] = False


def tell(*arguments: str) -> str:
    tides = typer.Typer()

    @tides.command()
    @with_options(Tides)
    def show(ctx: typer.Context, asked: Asked, twice: bool = False) -> None:
        typer.echo(str([Tides.of(**asked), twice]))

    ran = CliRunner().invoke(tides, list(arguments), env={"COLUMNS": "100"})
    return ran.stdout if ran.exit_code == 0 else f"{ran.stderr}{ran.exception}"


def test_a_field_is_an_option() -> None:
    """Its name, its type, its default and its sentence are those that were declared."""
    assert tell("Delfzijl", "Noord") == str([Tides("Delfzijl Noord"), False]) + "\n"
    asked = Tides("Delfzijl", 7, (1, 2), "msl", 0.5, True)
    options = ("-d", "7", "--gauges", "1", "--gauges", "2", "--datum", "msl", "--share", "0.5", "--low-water")
    assert tell("Delfzijl", *options, "--twice") == str([asked, True]) + "\n"
    shown = " ".join(tell("--help").split())
    for part in (
        "HARBOUR",
        "-d",
        "[default: 3]",
        "Only these gauges; may be repeated.",
        "[lat|msl]",
        "Low water, too.",
    ):
        assert part in shown


def test_a_wrong_value_is_told_as_it_is_declared() -> None:
    assert "the days is 0; it must be 1 or more" in tell("Delfzijl", "--days", "0")


@pytest.mark.parametrize(
    ("command", "request_type"), [("search", SearchRequest), ("context", ContextRequest), ("ask", AskRequest)]
)
def test_a_command_has_every_field(command: str, request_type: type[Request]) -> None:
    """But `log`, which is for programs."""
    group = typer.main.get_command(app)
    assert isinstance(group, TyperGroup)
    shown = {parameter.name for parameter in group.commands[command].params}
    assert set(declared(request_type)) - shown == {"log"} & set(declared(request_type))

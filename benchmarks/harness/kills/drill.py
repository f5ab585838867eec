"""A drill: kills of ten kinds, evenly."""

from collections.abc import Iterator

from benchmarks.harness.kills.commands import CommandKills
from benchmarks.harness.kills.home import Home
from benchmarks.harness.kills.outcome import Outcome
from benchmarks.harness.kills.services import SETTLING, UP, ServiceKills

KINDS = (
    "main process",
    "process group",
    "backend",
    "postmaster",
    "run worker",
    "daemon",
    "code server",
    "gRPC child",
    "web server",
    UP,
)
_OF_BOTH = ("backend", "postmaster")
"""Kinds that are killed during a command and during `up` in turn."""


def command_drill(home: Home, rounds: int, *, quick: bool = False) -> Iterator[Outcome]:
    """Kill during commands, and yield the outcome of each kill; the last outcome says what is wrong at the end.

    Args:
        home: a new home.
        rounds: kills of each kind; of those kinds that are killed during `up` in turn, half as many.
        quick: whether to compare index and files once a round.
    """
    commands = CommandKills(home, heal_every=len(KINDS) if quick else 1)
    yield Outcome(SETTLING, 0.0, commands.heal(changes=False))
    for number in range(rounds):
        kinds = [kind for kind in commands.kinds if kind not in _OF_BOTH or number % 2 == 0]
        home.chance.shuffle(kinds)
        yield from commands.run(kinds)
    yield _end(home, commands)


def service_drill(home: Home, rounds: int, *, quick: bool = False) -> Iterator[Outcome]:
    """Kill during `sourcebook up`, and yield the outcomes as `command_drill` does.

    Args:
        home: a new home.
        rounds: kills of each kind; of those kinds that are killed during commands in turn, half as many, but at least
            one.
        quick: whether to compare index and files after the first round and at the end only, and to kill before earlier
            victims are replaced.
    """
    commands, services = CommandKills(home), ServiceKills(home)
    yield Outcome(SETTLING, 0.0, commands.heal(changes=False))
    for number in range(rounds):
        kinds = [kind for kind in services.kinds if kind not in _OF_BOTH or number % 2 or rounds == 1]
        home.chance.shuffle(kinds)
        yield from services.run(kinds, settles=not quick or number == 0, together=quick)
    yield services.finish()
    yield _end(home, commands)


def _end(home: Home, commands: CommandKills) -> Outcome:
    wrong = commands.heal(changes=True) + home.unfinished_runs(of_daemon=True)
    return Outcome(SETTLING, 0.0, wrong + home.left_processes(with_database=True))

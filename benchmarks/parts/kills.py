"""Kills of ten kinds at random moments: the index equals the files, and nothing is left running, locked or stuck."""

from collections import defaultdict
from random import Random

from benchmarks.harness.bench import Bench
from benchmarks.harness.kills.drill import KINDS, command_drill, service_drill
from benchmarks.harness.kills.home import COLLECTIONS, Home
from benchmarks.harness.kills.outcome import Outcome
from benchmarks.harness.kills.services import SETTLING
from benchmarks.harness.report import Row, say


def run(bench: Bench) -> list[Row]:
    """Kill, and count what was not right afterwards."""
    kills, seed = bench.options.kills, bench.options.seed
    say(f"  {kills} kills with --seed {seed}")
    outcomes: dict[str, list[Outcome]] = defaultdict(list)
    for drill in (command_drill, service_drill):
        home = Home(bench.library(drill.__name__, collections=COLLECTIONS), Random(seed))
        for outcome in drill(home, kills // len(KINDS)):
            outcomes[outcome.kind].append(outcome)
            told = "; ".join(outcome.wrong) or "all is right"
            say(f"  {outcome.kind:15}{outcome.seconds:7.1f} s  {told}")
        bench.drop(home.library)
    return [
        *(_row(f"kills of the {kind}" if kind != "up" else "kills of `up`", outcomes[kind]) for kind in KINDS),
        Row("failures that the end shows", sum(bool(each.wrong) for each in outcomes[SETTLING]), "", 0),
        Row("slowest recovery of `up`", max(each.seconds for each in outcomes[SETTLING]), "s"),
    ]


def _row(name: str, outcomes: list[Outcome]) -> Row:
    failures = sum(bool(each.wrong) for each in outcomes)
    slowest = max((each.seconds for each in outcomes), default=0.0)
    return Row(f"{name}: failures", failures, "", 0, note=f"of {len(outcomes)}, slowest recovery {slowest:.1f} s")

"""Requested work by several commands at once; `test_up_served.py` has that under `sourcebook up`."""

import json
from pathlib import Path

from sourcebook import KnowledgeBase
from tests.acceptance.workplace import Workplace
from tests.waiting import wait_until

SECONDS = 240.0
"""Seconds for a step on a busy machine."""


def test_of_two_workers_at_once_one_is_killed_and_everything_is_done_once(
    workplace: Workplace, exported_model: Path
) -> None:
    workplace.begin_prepared(exported_model)
    workplace.configure(handbook="docs", diary="diary")
    for number in range(40):
        workplace.write(f"docs/{number}.md", f"# Flag {number}\n\nThe flag {number} is green.\n")
        workplace.write(f"diary/{number}.md", f"# Day {number}\n\nThe wind of the day {number} is calm.\n")
    asked = [each["id"] for each in workplace.json("ingest", "--ask")["requests"]]
    assert len(asked) == 2
    with KnowledgeBase.connect(home=workplace.home) as knowledge:

        def worked_on() -> dict[str, str]:
            """Return the requests that are running, by the process id of their worker."""
            running = knowledge.work_requests(states=["running"])
            return {(each.worker or "").rpartition(":")[2]: str(each.id) for each in running}

        with (
            workplace.start("ingest", "--requests") as first,
            workplace.start("ingest", "--requests", "--json") as other,
        ):
            wait_until(lambda: len(worked_on()) == 2, seconds=SECONDS, what="both have claimed one")
            assert set(worked_on()) == {str(first.pid), str(other.pid)}
            lost = int(worked_on()[str(first.pid)])
            first.kill()
            out, err = other.communicate(timeout=SECONDS)
        assert other.returncode == 0, err
        done = {each["id"] for each in json.loads(out)["requests"]}
        if lost not in done:  # the other one ended before the first was seen to be dead
            assert workplace.json("ingest", "--requests")["requests"][0]["id"] == lost
        found = {number: knowledge.work(number) for number in asked}
    assert {number: (each.state, each.attempts) for number, each in found.items() if each is not None} == {
        number: ("succeeded", 2 if number == lost else 1) for number in asked
    }
    assert len(workplace.json("documents", "--limit", "100")["documents"]) == 80

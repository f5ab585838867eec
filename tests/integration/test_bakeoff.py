"""A bakeoff over a real collection: candidates, figures, what it leaves, and what it does when it is killed."""

from contextlib import closing

import pytest

from sourcebook.database.database import Database
from sourcebook.evaluation.bakeoff import Choices, bakeoff
from sourcebook.knowledge_base import KnowledgeBase
from tests.integration.stages import Stages

TOPICS = ("kayak", "lantern", "barometer", "ferry", "winch", "anchor", "beacon", "rudder")


@pytest.fixture
def station(stages: Stages) -> Stages:
    """Documents with headings that questions are made from."""
    for topic in TOPICS:
        text = f"# Notes, {topic}\n\nThings of the station.\n\n"
        for part in ("spring", "autumn"):
            answer = f"The {topic} is checked by the keeper and written into the book of the {part}. " * 12
            text += f"## Care of the {topic} in {part}\n\n{answer}\n\n"
        stages.write(f"{topic}.md", text)
    stages.configure()
    stages.run()
    return stages


def test_x(station: Stages, database: Database) -> None:
    with closing(KnowledgeBase(database)) as knowledge:
        found = bakeoff(
            knowledge, station.collection, Choices(tokens=("64", "128+16"), contexts=("none", "title,headings"))
        )
    for line in found.lines:
        print(line.as_dict())
    print(found.notes, found.plan.as_dict())

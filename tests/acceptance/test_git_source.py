"""A Git repository as a source, through the command."""

import pytest

from tests.acceptance.workplace import Workplace
from tests.git_repository import GitRepository

CONFIGURATION = """\
collections:
  handbook:
    repositories:
      - url: ./origin
        path: docs
        web: "https://git.example.com/handbook/blob/{commit}/{path}"
"""


@pytest.mark.usefixtures("unrecorded")
def test_a_repository_is_ingested_followed_and_missed(workplace: Workplace) -> None:
    """A commit is searchable with its link after the next ingest; a repository that is gone is unread, with code 3."""
    repository = GitRepository.create(workplace.folder / "origin")
    first = repository.commit(tides="# Tides\n\nThe barnacle line marks high water.\n")
    workplace.configuration.write_text(CONFIGURATION)
    assert "1 item" in workplace.run("plan")
    assert workplace.ingest()["handbook"]["documents"]["added"] == 1
    assert f"https://git.example.com/handbook/blob/{first}/docs/tides.md" in workplace.run("search", "barnacle")

    second = repository.commit(knots="# Knots\n\nA bowline holds.\n")
    found = workplace.ingest()["handbook"]
    assert (found["raw_files"]["added"], found["documents"]["added"]) == (1, 1)
    (hit,) = workplace.json("search", "bowline", "--mode", "keyword")["results"]
    assert hit["link"] == f"https://git.example.com/handbook/blob/{second}/docs/knots.md"
    assert f"at commit {second[:12]}" in workplace.run("status")
    assert hit["link"] in workplace.run("show", hit["uri"])

    repository.folder.rename(workplace.folder / "elsewhere")
    workplace.run("ingest", code=3)
    assert "cannot be read" in workplace.run("status")
    assert "barnacle" in workplace.run("search", "barnacle")

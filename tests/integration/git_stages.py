"""The stages over a collection of Git repositories."""

import json
import shutil
import time
from pathlib import Path
from typing import Any

from sourcebook.admin.planning.plan import make_plans
from sourcebook.config.loading import load_configuration
from sourcebook.contract.plans import CollectionPlan
from sourcebook.model.report import StageReport
from sourcebook.model.selection import EVERYTHING, Selection
from sourcebook.stages.raw_files.repositories import fetch_repositories, find_moved_repositories
from tests.git_repository import GitRepository
from tests.integration.stages import Stages


class GitStages:
    """One collection over one repository, which is fetched into a state folder of its own."""

    def __init__(self, stages: Stages, repository: GitRepository, home: Path) -> None:
        self.stages = stages
        self.repository = repository
        self.home = home
        self.settings: dict[str, Any] = {}

    def configure(self, **settings: Any) -> None:
        self.settings = {"url": self.repository.url, **settings}
        self.configure_several(self.settings)

    def configure_several(self, *repositories: dict[str, Any]) -> None:
        self.stages.configure(json.dumps({"collections": {self.stages.collection: {"repositories": repositories}}}))

    def fetch(self, selection: Selection = EVERYTHING, *, only_due: bool = False) -> None:
        with self.stages.connection() as connection:
            fetch_repositories(connection, self.stages.collection, self.home, selection, only_due=only_due)

    def run(self, selection: Selection = EVERYTHING) -> dict[str, StageReport]:
        """Fetch, and run every stage."""
        self.fetch(selection)
        return self.stages.run(selection)

    def moved(self) -> list[str]:
        """Return what the sensor would find."""
        with self.stages.connection() as connection:
            deadline = time.monotonic() + 60.0
            return find_moved_repositories(connection, self.stages.collection, seconds=60.0, deadline=deadline)

    def plan(self) -> CollectionPlan:
        configuration = load_configuration(self.stages.root.parent / "sourcebook.yaml")
        with self.stages.connection() as connection:
            (plan,) = make_plans(connection, configuration, home=self.home)
        return plan

    def uri(self, path: str) -> str:
        return f"git+file://{self.repository.folder}/{path}"

    @property
    def mirror(self) -> Path:
        (found,) = (place for place in (self.home / "git").iterdir() if place.is_dir())
        return found

    def delete_mirror(self) -> None:
        shutil.rmtree(self.mirror)

    @property
    def source(self) -> dict[str, Any]:
        (row,) = self.stages.rows("SELECT * FROM source WHERE removed_at IS NULL")
        return row

    @property
    def error(self) -> str | None:
        """Return why the repository could not be read at the last run."""
        error: str | None = self.source["listing_error"]
        return error

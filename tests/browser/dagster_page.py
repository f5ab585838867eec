"""Dagster's web page of a running `sourcebook up`, as a person uses it."""

import io
import json
import os
import re
import urllib.request
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from PIL import Image
from playwright.sync_api import Locator, Page, expect
from playwright.sync_api import TimeoutError as NotInTime

from tests.checkout import CHECKOUT
from tests.waiting import wait_until

PATIENCE = 180_000.0
"""Milliseconds that an event may take on a busy machine."""
PICTURES = os.environ.get("TEST_SCREENSHOTS")
"""Folder below the checkout for the pictures of the documentation; unset: none are taken."""


@dataclass(frozen=True)
class DagsterPage:
    """One tab of the browser."""

    page: Page
    address: str

    def open(self, path: str) -> None:
        self.page.goto(f"{self.address}{path}")

    def sees(self, text: str | re.Pattern[str]) -> None:
        """Wait until a text can be read: all of it, or what a pattern finds in it."""
        expect(self.page.get_by_text(text, exact=True).filter(visible=True).first).to_be_visible(timeout=PATIENCE)

    def button(self, name: str) -> Locator:
        """Return the button whose label begins so, behind the name of its icon."""
        return self.page.get_by_role("button", name=re.compile(rf"(^|\s){re.escape(name)}")).filter(visible=True).first

    def table(self, name: str = "") -> dict[str, str]:
        """Return the last cell of each row by the first one, of the tables that contain a text."""
        rows = self.page.get_by_role("table").filter(has_text=name).get_by_role("row").all_inner_texts()
        cells = [[cell.strip() for cell in re.split(r"[\t\n]+", row) if cell.strip()] for row in rows]
        return {row[0]: row[-1] for row in cells if len(row) > 1}

    def expand_groups(self) -> None:
        """Show the assets of every group of the graph."""
        graph = self.page.locator("svg").filter(has_text="sources").first
        expect(graph).to_be_visible(timeout=PATIENCE)
        graph.click(button="right", position={"x": 20, "y": 20})
        self.page.get_by_text("Expand all groups").filter(visible=True).click()
        self.sees("raw_files")

    def launch(self, *collections: str, of: int, picture: str | None = None) -> str:
        """Materialize all assets of collections, as from the graph, and return the id of the run or the backfill.

        The tab is empty then: a page that shows a run is drawn all the time.

        Args:
            collections: the partitions to choose.
            of: the number of all partitions.
            picture: name of the picture of the dialog.
        """
        self.open("/asset-groups")
        self.button("Materialize all").click()
        dialog = self.page.get_by_role("dialog")
        dialog.get_by_role("button", name="All", exact=True).click()
        expect(dialog.get_by_text(f"{of} partitions")).to_be_visible(timeout=PATIENCE)
        dialog.get_by_role("button", name="Failed", exact=True).click()
        expect(dialog.get_by_text("0 partitions")).to_be_visible(timeout=PATIENCE)
        dialog.get_by_text("Select a partition or create one").click()
        for collection in collections:
            self.page.locator("span:visible", has_text=re.compile(f"^{collection}$")).last.click()
        self.page.keyboard.press("Escape")
        chosen = len(collections)
        expect(dialog.get_by_text(f"{chosen} partition{'s' if chosen > 1 else ''}", exact=True)).to_be_visible()
        launch = dialog.get_by_role("button", name=re.compile("^Launch"))
        expect(launch).to_be_enabled(timeout=PATIENCE)
        if picture is not None:
            self.take_picture(picture)
        launch.click()
        told = self.page.get_by_text(re.compile("(Launched run|Created backfill) ")).first
        expect(told).to_be_visible(timeout=PATIENCE)
        number = (told.text_content() or "").split()[2]
        self.page.goto("about:blank")
        return number

    def open_run(self, number: str) -> None:
        """Open the page of a run, by the first characters of its id."""
        self.open("/runs")
        self.page.get_by_role("link", name=re.compile(number)).first.click(timeout=PATIENCE)
        self.sees("View tags and config")

    def terminate_run(self) -> Locator:
        """Terminate the run of this page, and return the dialog.

        A page that is drawn anew in the moment of a click forgets the click, so it is loaded and asked again.
        """
        dialog = self.page.get_by_role("dialog")
        confirm = dialog.get_by_role("button", name="Terminate 1 run")
        for patience in (PATIENCE / 6, PATIENCE / 3, PATIENCE):
            self.button("Terminate").click(timeout=PATIENCE)
            with suppress(NotInTime):
                confirm.click(timeout=patience)
                break
            self.page.reload()
        return dialog

    def process_of_run(self) -> int:
        """Return the process id that the log of the opened run names; only the rows in sight are on the page."""
        self.page.get_by_placeholder("Filter").last.fill("Started process")
        event = self.page.get_by_text(re.compile(r"Started process for run \(pid: \d+\)")).first
        expect(event).to_be_visible(timeout=PATIENCE)
        return int(re.findall(r"pid: (\d+)", event.inner_text())[0])

    def take_picture(self, name: str, *, width: int = 1400, height: int = 800) -> None:
        """Write a picture of the page of a size in pixels, where pictures are wanted."""
        if PICTURES is None:
            return
        size = self.page.viewport_size
        self.page.set_viewport_size({"width": width, "height": height})
        self.page.wait_for_load_state("networkidle")
        shot = self.page.screenshot(animations="disabled")
        if size is not None:
            self.page.set_viewport_size(size)
        Image.open(io.BytesIO(shot)).convert("RGB").save(CHECKOUT / PICTURES / f"{name}.png", optimize=True)


def ask(address: str, query: str, **variables: str) -> Any:
    """Return the data of a GraphQL query."""
    body = json.dumps({"query": query, "variables": variables}).encode()
    request = urllib.request.Request(  # noqa: S310 - loopback
        f"{address}/graphql", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=120) as answer:  # noqa: S310
        return json.load(answer)["data"]


def stop_sensors_that_start_runs(address: str) -> None:
    """Leave all runs to the test; `collections`, which adds the partitions, goes on."""
    repository = '{repositoryName: "__repository__", repositoryLocationName: "sourcebook"}'
    listed = ask(
        address, f"{{sensorsOrError(repositorySelector: {repository}) {{... on Sensors {{results {{id name}}}}}}}}"
    )
    for sensor in listed["sensorsOrError"]["results"]:
        if sensor["name"] != "collections":
            stopped = ask(address, "mutation($id: String!) {stopSensor(id: $id) {__typename}}", id=sensor["id"])
            assert stopped["stopSensor"]["__typename"] == "StopSensorMutationResult"


def wait_for_partitions(address: str, number: int) -> None:
    """Wait until the sensor `collections` has added the partitions."""
    query = '{assetNodeOrError(assetKey: {path: ["documents"]}) {... on AssetNode {partitionKeys}}}'
    wait_until(
        lambda: len(ask(address, query)["assetNodeOrError"]["partitionKeys"]) == number,
        what="every collection is a partition",
        seconds=PATIENCE / 1000,
        every=0.2,
    )


def wait_for_end(address: str, number: str) -> None:
    """Wait until a run or a backfill has ended, by the first characters of its id, without a page that shows it."""
    query = (
        "{runsOrError {... on Runs {results {id: runId ended: endTime}}} "
        "partitionBackfillsOrError {... on PartitionBackfills {results {id ended: endTimestamp}}}}"
    )
    wait_until(
        lambda: any(
            each["ended"] and each["id"].startswith(number)
            for found in ask(address, query).values()
            for each in found["results"]
        ),
        what=f"{number} has ended",
        seconds=PATIENCE / 1000,
        every=0.5,
    )

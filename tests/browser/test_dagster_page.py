"""Dagster's web page in a real browser: the graph, a backfill, its counts, a failed check, a terminated run.

`TEST_SCREENSHOTS=docs/images` has them take the pictures of docs/dagster-page.md again (CONTRIBUTING.md).
"""

import json
import re
import signal
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event

import psutil
import pytest
from aiohttp import web
from playwright.sync_api import ViewportSize, expect, sync_playwright

from benchmarks.harness.kills.processes import family
from sourcebook import KnowledgeBase
from sourcebook.admin.checks import run_checks
from sourcebook.database.lock import is_locked
from sourcebook.web.browser.chromium import find_chromium
from tests.acceptance.processes import free_port
from tests.acceptance.workplace import Workplace, temporary_workplace
from tests.browser.dagster_page import (
    PATIENCE,
    PICTURES,
    DagsterPage,
    stop_sensors_that_start_runs,
    wait_for_end,
    wait_for_partitions,
)
from tests.waiting import seconds_until_gone, until, wait_until
from tests.web_server import Reply, WebServer

GROUPS = {
    "sources": ("configuration", "source_folders", "source_sites", "raw_files", "crawled_pages"),
    "documents": ("transcripts", "documents"),
    "index": ("chunks", "embeddings", "search_index", "index_upkeep"),
}
COLLECTIONS = ("handbook", "letters", "museum")
CONFIGURATION = """\
collections:
  handbook:
    files: [{{root: ./handbook}}]
  letters:
    files: [{{root: ./letters}}]
  museum:
    sites: [{{url: "{url}/", politeness: {{requests_per_second: 20}}, render: never}}]
"""
FILES = {
    "handbook/flags.md": "# Flags\n\nThe flag is green in calm weather and red in a gale.\n",
    "handbook/power.md": "# Power\n\nThe batteries last ninety hours.\n",
    "handbook/survey.pdf": "%PDF-1.7\nThe rest of this file was lost.\n",
    "letters/first.md": "# To the harbour master\n\nThe gauge on the northern pier stands still.\n",
    "letters/second.md": "# To the society\n\nThe survey mark at the old customs house is subsiding.\n",
}


class Museum(WebServer):
    """A site of four pages, one of which does not answer before `vault` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.vault = Event()
        rooms = [f"/room-{number}" for number in range(1, 4)]
        links = "".join(f'<a href="{path}">{path}</a> ' for path in (*rooms, "/vault"))
        self.page("/", f"<html><title>Museum</title><h1>Museum</h1><p>It keeps the old gauge.</p>{links}</html>")
        for room in rooms:
            self.page(room, f"<html><title>{room}</title><h1>Room</h1><p>The instruments of {room[1:]}.</p></html>")
        self.route("/vault", self._answer_late)

    async def _answer_late(self, _: web.BaseRequest) -> Reply:
        await until(self.vault.is_set, what="the vault is open", seconds=600)
        return "<html><title>Vault</title><h1>Vault</h1><p>Here lies the brass benchmark.</p></html>"


@pytest.fixture(scope="module")
def museum() -> Iterator[Museum]:
    """The site of the collection `museum`, served."""
    with Museum() as museum:
        yield museum
        museum.vault.set()


@pytest.fixture(scope="module")
def workplace(museum: Museum, exported_model: Path) -> Iterator[Workplace]:
    """Three collections, whose files come with `address`."""
    with temporary_workplace() as workplace:
        workplace.begin_prepared(exported_model)
        workplace.configuration.write_text(CONFIGURATION.format(url=museum.url))
        for name in FILES:
            (workplace.folder / name).parent.mkdir(parents=True, exist_ok=True)
        yield workplace


def _watch_of(up: int) -> psutil.Process | None:
    """Return the process of `sourcebook watch` below that of `up`."""
    return next((each for each in psutil.Process(up).children() if each.cmdline()[-1:] == ["watch"]), None)


@pytest.fixture(scope="module")
def address(workplace: Workplace, settle: Callable[[Path], None]) -> Iterator[str]:
    """The page of a real `sourcebook up`, which starts no run by itself: its watch sleeps. One file is damaged."""
    arguments = ("--port", str(free_port()), "--metrics-port", "0", "--json")
    errors = workplace.folder / "up.err"
    with workplace.start("up", *arguments, errors_to=errors) as process:
        try:
            assert process.stdout is not None
            told = process.stdout.readline()
            assert told, errors.read_text()
            address = json.loads(told)["address"]
            watch = wait_until(lambda: _watch_of(process.pid), what="the watch has begun")
            assert watch is not None
            watch.suspend()
            for name, text in FILES.items():
                settle(workplace.write(name, text))
            stop_sensors_that_start_runs(address)
            wait_for_partitions(address, len(COLLECTIONS))
            yield address
        finally:
            for each in filter(None, [_watch_of(process.pid)]):
                each.resume()
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=120)
    assert process.returncode == 0, errors.read_text()


@pytest.fixture(scope="module")
def tab(address: str) -> Iterator[DagsterPage]:
    """A tab of the installed Chromium, which all tests share: another one would load Dagster's scripts again."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_chromium(), args=["--disable-gpu"])
        size: ViewportSize = {"width": 1400, "height": 800}
        page = browser.new_page(viewport=size, color_scheme="light", reduced_motion="reduce")
        page.set_default_timeout(PATIENCE)
        yield DagsterPage(page, address)
        browser.close()


@pytest.fixture(scope="module")
def backfill(tab: DagsterPage) -> str:
    """The id of a backfill of two collections, which was started on the page."""
    return tab.launch("handbook", "letters", of=len(COLLECTIONS), picture="dagster-backfill-dialog")


@pytest.fixture(scope="module")
def succeeded(tab: DagsterPage, backfill: str) -> str:
    """The id of the backfill, once the page of runs says that it has succeeded."""
    wait_for_end(tab.address, backfill)
    tab.open("/runs?view=backfills")
    tab.sees(backfill)
    tab.sees("2 partitions")
    tab.sees("Success")
    tab.take_picture("dagster-backfill", height=320)
    return backfill


@pytest.mark.usefixtures("backfill")
def test_a_terminated_run_leaves_no_trace_and_the_next_one_goes_on(
    tab: DagsterPage, museum: Museum, workplace: Workplace
) -> None:
    """A crawl that waits for a page is cancelled: no process, no lock, no half-done index, no page fetched twice."""
    run = tab.launch("museum", of=len(COLLECTIONS))
    wait_until(lambda: museum.count("/vault"), what="the crawl waits for the vault", seconds=PATIENCE / 1000)
    tab.open_run(run)
    processes = family(tab.process_of_run())
    assert processes
    dialog = tab.terminate_run()
    tab.sees("Canceled")
    done = dialog.get_by_role("button", name="Done")
    if done.count():
        done.click()
    for process in processes:
        seconds_until_gone(process.pid, most=60)
    with workplace.database() as database, database.connection() as connection:
        assert not is_locked(connection, "museum")
        assert not any(outcome.violations for outcome in run_checks(connection, "museum"))
    tab.open("/runs")
    tab.sees(run)
    tab.sees("Canceled")
    tab.take_picture("dagster-terminated-run", height=320)

    museum.vault.set()
    next_run = tab.launch("museum", of=len(COLLECTIONS))
    wait_for_end(tab.address, next_run)
    tab.open_run(next_run)
    tab.sees("Success")
    assert [museum.count(f"/room-{number}") for number in range(1, 4)] == [1, 1, 1]
    with KnowledgeBase.connect(home=workplace.home) as knowledge:
        (found,) = {each.uri for each in knowledge.search("brass benchmark", mode="keyword", collections=["museum"])}
    assert found == f"{museum.url}/vault"


@pytest.mark.usefixtures("succeeded")
def test_a_backfill_of_two_collections_succeeds(tab: DagsterPage) -> None:
    """The page of runs says so, and the asset at the end of the graph has both partitions."""
    tab.open("/assets/search_index?view=partitions")
    tab.sees("Failed (0)")
    tab.sees("Missing (0)")


@pytest.mark.usefixtures("succeeded")
def test_the_counts_can_be_read_and_understood(tab: DagsterPage) -> None:
    """An event of the asset has the counts of its run, and the description the meaning of each."""
    tab.open("/assets/documents?view=events&partition=handbook")
    tab.sees(re.compile("Partition handbook materialized"))
    tab.sees("failures")
    event = tab.table()
    assert (event["added"], event["changed"], event["failed"], event["total"]) == ("2", "0", "1", "2")
    (reason,) = [text for name, text in event.items() if name.endswith("survey.pdf")]
    assert "the PDF is damaged" in reason
    tab.take_picture("dagster-counts", height=860)

    tab.open("/assets/documents")
    tab.sees("meaning")
    wait_until(lambda: "reused" in tab.table("meaning"), what="the meanings of the counts are drawn")
    meanings = tab.table("meaning")
    assert meanings["reused"] == "documents whose content was parsed before"
    assert {name for name, text in event.items() if re.fullmatch(r"[\d.]+", text)} <= set(meanings)


@pytest.mark.usefixtures("succeeded")
def test_a_failed_check_says_what_has_failed(tab: DagsterPage) -> None:
    """The check of the collection with the broken file fails, with the file and the reason; the other one passes."""
    tab.open("/assets/documents?view=checks&checkDetail=no_failed_items")
    tab.page.get_by_text("Execution history").click()
    history = tab.page.get_by_role("row")
    failed = history.filter(has_text="handbook")
    expect(failed).to_contain_text("Failed", timeout=PATIENCE)
    expect(failed).to_contain_text(re.compile(r"1 failed item: file://\S+/handbook/survey.pdf: the PDF is damaged"))
    expect(history.filter(has_text="letters")).to_contain_text("Passed")
    tab.page.get_by_text("Partitions", exact=True).last.click()
    tab.sees("Failed (1)")
    tab.page.get_by_text("handbook", exact=True).filter(visible=True).last.click()
    tab.sees(re.compile("1 failed item"))
    tab.take_picture("dagster-failed-check", height=780)


@pytest.mark.skipif(PICTURES is None, reason="takes a picture of what tests/acceptance/test_topology.py proves")
@pytest.mark.usefixtures("succeeded")
def test_the_generations_of_a_collection_are_listed(tab: DagsterPage, workplace: Workplace) -> None:
    """After a run with other passages, an event of `index_upkeep` has the old generation and the new one."""
    text = workplace.configuration.read_text()
    settings = "    files: [{root: ./letters}]\n"
    workplace.configuration.write_text(text.replace(settings, f"{settings}    chunking: {{tokens: 128}}\n"))
    tab.open_run(tab.launch("letters", of=len(COLLECTIONS)))
    tab.sees("Success")
    tab.open("/assets/index_upkeep?view=events&partition=letters")
    tab.sees(re.compile("Partition letters materialized"))
    tab.sees("generations")
    tab.sees("kept")
    tab.take_picture("dagster-generations", height=790)


@pytest.mark.usefixtures("succeeded")
def test_the_graph_shows_the_groups_and_the_assets(tab: DagsterPage) -> None:
    """Three groups, from the sources to the index, with their assets; the assets of a group have one state."""
    tab.page.set_viewport_size({"width": 1860, "height": 740})
    tab.open("/asset-groups")
    for group in GROUPS:
        tab.sees(group)
    states = re.compile(r"index\s*4\s*sources[\s\d]+documents\s*2")
    expect(tab.page.locator("svg").filter(has_text=states).first).to_be_visible(timeout=PATIENCE)
    tab.button("Hide navigation").click()
    tab.page.get_by_role("button", name="panel_show_right", exact=True).click()
    tab.expand_groups()
    for asset in (asset for assets in GROUPS.values() for asset in assets):
        tab.sees(asset)
    tab.take_picture("asset-graph", width=1860, height=740)

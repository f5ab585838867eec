"""Items that a process works on now: visible to others while it does, and gone with it."""

import os
import signal
import subprocess
import sys
from threading import Thread

from aiohttp import web

from sourcebook.admin.items import find_document, list_items
from sourcebook.admin.status import processing_items
from sourcebook.contract.listing import DocumentsRequest
from sourcebook.contract.status import ProcessingItem
from sourcebook.stages.processing import processing
from sourcebook.telemetry.log_context import log_context
from tests.integration.stages import Stages, html
from tests.waiting import wait_until

HOLD = """
import sys, time
from sourcebook.database.connecting import open_connection
from sourcebook.database.pool import PooledConnection
from sourcebook.stages.processing import Processing
connection = open_connection(PooledConnection, sys.argv[1])
connection.autocommit = True
connection.execute("SET search_path TO sourcebook, public")
Processing(connection, "handbook", "documents").begin([sys.argv[2]])
time.sleep(600)
"""


def seen(stages: Stages) -> list[ProcessingItem]:
    with stages.connection() as connection:
        return processing_items(connection)


def test_items_are_in_processing_while_they_are_parsed(stages: Stages) -> None:
    """Another session sees them with the stage, the process and the time; none is left when the stage ends."""
    for number in range(20):
        stages.write(f"{number}.md", f"# Page {number}\n\nThe flag is number {number}.\n")
    stages.configure()
    stages.raw_files()
    stage = Thread(target=stages.documents)
    with stages.connection() as holder, holder.transaction():
        holder.execute("LOCK TABLE parsed_content IN SHARE MODE")  # nothing parsed can be stored meanwhile
        stage.start()
        found = wait_until(lambda: seen(stages), what="items in processing")
    stage.join()
    assert {mark.uri for mark in found} <= {stages.uri(f"{number}.md") for number in range(20)}
    assert {(mark.stage, mark.process.rpartition(":")[2]) for mark in found} == {("documents", str(os.getpid()))}
    assert seen(stages) == []
    assert stages.rows("SELECT FROM processing") == []


def test_the_state_names_the_process_and_the_run(stages: Stages) -> None:
    """In the list, alone with the filter, of one document, and in the status; afterwards it is as before."""
    stages.write("flag.md", "The flag is green.")
    stages.write("mast.md", "The mast is high.")
    stages.configure()
    stages.run()
    with (
        stages.connection() as connection,
        log_context(run="6f0c"),
        processing(connection, "handbook", "documents") as marks,
    ):
        marks.begin([stages.uri("flag.md")])
        with stages.connection() as other:
            (item,) = list_items(other, DocumentsRequest(processing=True))
            states = {item.uri.rpartition("/")[2]: item.state for item in list_items(other)}
            assert find_document(other, stages.uri("flag.md")).item == item
        assert (item.uri, item.state, item.processing_since is not None) == (stages.uri("flag.md"), "processing", True)
        assert item.processing_by is not None
        assert item.processing_by.endswith(f":{os.getpid()}, run 6f0c")
        assert states == {"flag.md": "processing", "mast.md": "ready"}
        assert [mark.uri for mark in stages.status().processing] == [stages.uri("flag.md")]
    with stages.connection() as connection:
        assert {item.state for item in list_items(connection)} == {"ready"}


def test_a_killed_process_leaves_no_item_in_processing(stages: Stages) -> None:
    """After SIGKILL nobody has said that the work is over, and yet no item is in processing."""
    stages.write("flag.md", "The flag is green.")
    stages.configure()
    stages.run()
    holder = subprocess.Popen([sys.executable, "-c", HOLD, stages.database.url, stages.uri("flag.md")])
    try:
        (mark,) = wait_until(lambda: seen(stages), what="an item in processing")
        assert (mark.uri, mark.process.rpartition(":")[2]) == (stages.uri("flag.md"), str(holder.pid))
    finally:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    wait_until(lambda: not seen(stages), what="no item in processing")
    stages.write("flag.md", "The flag is white.")
    stages.run()
    assert stages.rows("SELECT FROM processing") == [], "the next run of the stage takes the void mark away"


def test_pages_are_in_processing_while_they_are_fetched(stages: Stages) -> None:
    """The server that is asked for a page sees it in the list."""
    during: list[ProcessingItem] = []

    def answer(_: web.BaseRequest) -> str:
        during.extend(seen(stages))
        return html("Slow")

    stages.web.page("/", html("Start", links=["/slow"]))
    stages.web.route("/slow", answer)
    stages.configure_site()
    stages.crawl()
    assert {(mark.uri, mark.stage) for mark in during} == {(f"{stages.web.url}/slow", "crawled_pages")}
    assert seen(stages) == []

"""The ledger proves itself: damaged pages of sites are found, and fetched again."""

from random import Random

import psycopg
import pytest

from benchmarks.harness.faults.index_state import different_parts
from benchmarks.harness.faults.random_fault import FaultMaker
from sourcebook.model.selection import Selection
from tests.integration.stages import Stages, html
from tests.integration.test_proof import ROUNDS, SEED, foreign, run, state


def test_a_damaged_page_is_fetched_again(stages: Stages) -> None:
    """The content of a page comes from its site alone: damaged content is not taken for the page's."""
    stages.web.page("/", html("Tides", "The tide is high."))
    stages.configure_site("/")
    run(stages)
    fresh = state(stages)
    foreign(stages, "UPDATE parsed_content SET markdown = 'Nothing.', content_hash = sha256('x')",
            "DELETE FROM search_entry")  # fmt: skip
    run(stages)
    assert stages.found("tide")
    assert not different_parts({**fresh, "contents": []}, {**state(stages), "contents": []})
    assert stages.rows("SELECT FROM parsed_content WHERE markdown LIKE '%%The tide is high.%%'")


@pytest.fixture
def site(stages: Stages) -> Stages:
    """A site of four pages and a file, crawled."""
    stages.web.page("/", html("Tides", "The tide is high.", links=("/gauge", "/pier", "/log.txt")))
    stages.web.page("/gauge", html("Gauge", "The gauge is read at noon."))
    stages.web.page("/pier", html("Pier", "Seals rest on the steps."))
    stages.web.page("/log.txt", "A log of storms.", content_type="text/plain")
    stages.configure_site("/")
    run(stages)
    return stages


def test_random_faults_in_pages_are_found_and_mended(site: Stages) -> None:
    """Rows of pages deleted, doubled or changed: the pages are fetched again, and are as before."""
    fresh = state(site)
    with psycopg.connect(site.database.url, autocommit=True) as connection:
        connection.execute("SET search_path TO sourcebook, public")
        maker = FaultMaker(connection, Random(SEED), ["crawled_page"])
        for turn in range(ROUNDS // 2):
            faults = [str(maker.make()) for _ in range(2)]
            assert site.pending().suspicious, faults
            run(site)
            found = different_parts(fresh, state(site))
            assert not found, (turn, faults, found)
            assert not site.pending().work, (turn, faults)


def test_damaged_pages_are_named_until_they_are_fetched_again(site: Stages) -> None:
    """A damaged page stays searchable while its server fails, and is mended when that answers again."""
    fresh = state(site)
    foreign(site, "UPDATE crawled_page SET title = 'Nothing' WHERE url LIKE '%/pier'",
            "DELETE FROM crawled_page WHERE url LIKE '%/gauge'")  # fmt: skip
    assert named(site) == {
        "/gauge": "the record of the page is gone", "/pier": "the record of the page was changed"
    }  # fmt: skip
    site.web.page("/pier", "", status=500)
    run(site)
    assert site.found("seals")
    assert site.found("noon")
    assert named(site) == {"/pier": "the record of the page was changed"}
    site.web.page("/pier", html("Pier", "Seals rest on the steps."))
    site.due_now()
    site.refresh()
    run(site)
    assert not named(site)
    assert not different_parts(fresh, state(site))


def named(stages: Stages) -> dict[str, str]:
    """Return what a complete comparison finds damaged, by path."""
    damage = stages.pending(Selection(thorough=True)).damage
    return {str(finding.uri).removeprefix(stages.web.url): finding.reason for finding in damage}

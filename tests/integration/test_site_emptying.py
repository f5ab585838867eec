"""A site that empties itself keeps its pages until somebody accepts the loss."""

import pytest

from sourcebook.admin.checks import run_checks
from sourcebook.model.selection import Selection
from tests.integration.stages import Stages, html

ROOMS = [f"/{room}" for room in ("gear", "brake", "sail", "tower", "yard")]
EVERYTHING = {"/", *ROOMS}


def open_site(stages: Stages, note: str = "") -> None:
    stages.web.page("/", html("Mill", f"The mill stands still. {note}", links=ROOMS))
    for room in ROOMS:
        stages.web.page(room, html(room.title(), f"The {room} is oiled twice a year. {note}"))


@pytest.fixture
def site(stages: Stages) -> Stages:
    open_site(stages)
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == EVERYTHING
    return stages


def serve(stages: Stages, kind: str) -> None:
    for path in EVERYTHING:
        match kind:
            case "an empty body":
                stages.web.page(path, "")
            case "maintenance":
                stages.web.page(path, html("Maintenance", "We are back soon. Our engineers work on the site."))
            case "a shell":
                stages.web.page(path, "<html><head><title>App</title></head><body><div id=root></div></body></html>")
            case "one page for all" if path != "/":
                stages.web.redirect(path, "/closed", status=301)
                stages.web.page("/closed", html("Closed"))
            case "nothing" if path != "/":
                stages.web.page(path, "gone", status=404)


@pytest.mark.parametrize("kind", ["an empty body", "maintenance", "a shell", "one page for all", "nothing"])
def test_pages_that_go_or_become_alike_at_once_stay_until_it_is_accepted(site: Stages, kind: str) -> None:
    """Status and a check say it with the command; the next look is soon, and finds what has come back."""
    serve(site, kind)
    report = site.refresh()
    assert report.removed == report.changed == 0
    assert site.pages() == EVERYTHING
    assert "gone or alike at once" in (site.site_error() or "")
    assert "sourcebook ingest handbook --accept" in (site.site_error() or "")
    assert site.status().problems[0].failure_class == "held"
    with site.connection() as connection:
        outcomes = {outcome.name: outcome for outcome in run_checks(connection, site.collection)}
    assert outcomes["no_failed_items"].violations == 1
    (due,) = site.rows("SELECT next_crawl_at < now() + interval '1 hour' AS soon FROM source WHERE kind = 'site'")
    assert due["soon"]

    site.refresh()
    assert site.pages() == EVERYTHING, "nor at the second look"
    open_site(site, "It was mended in spring.")
    site.refresh()
    assert site.pages() == EVERYTHING
    assert site.site_error() is None
    assert "mended" in str(site.rows("SELECT markdown FROM parsed_content"))


def test_an_accepted_loss_is_taken_at_once(site: Stages) -> None:
    serve(site, "nothing")
    site.refresh()
    assert not site.pending().pages
    assert site.pending(Selection(accept=True)).pages
    assert site.crawl(Selection(accept=True)).removed == len(ROOMS)
    assert site.pages() == {"/"}
    assert site.site_error() is None


def test_a_few_pages_may_go_and_a_site_may_be_written_anew(site: Stages) -> None:
    for room in ROOMS[:4]:
        site.web.page(room, "gone", status=410)
    site.refresh()
    assert site.pages() == {"/", ROOMS[4]}
    open_site(site, "All pages were written anew.")
    for room in ROOMS[:4]:
        site.web.redirect(room, f"{room}/new", status=301)
        site.web.page(f"{room}/new", html(room, f"The {room} has moved."))
    site.refresh()
    assert site.pages() == {"/", ROOMS[4], *(f"{room}/new" for room in ROOMS[:4])}
    assert site.site_error() is None


def test_a_part_of_the_pages_may_be_allowed_to_go(stages: Stages) -> None:
    open_site(stages)
    stages.configure_site()
    stages.crawl()
    stages.rows("""UPDATE collection SET settings = settings || '{"removals": {"share": 1}}' RETURNING 1""")
    serve(stages, "nothing")
    stages.refresh()
    assert stages.pages() == {"/"}


def test_a_page_that_says_what_a_random_address_says_is_no_document(stages: Stages) -> None:
    """Also where the address stands in it, and its words are of no known language; a short page is one."""
    stages.web.page("/", html("Home", links=["/dead1", "/real", "/vanished", "/short"]))
    stages.web.page("/real", html("Ladder", "The ladder has nine rungs; one that is not found is bought."))
    stages.web.page("/short", html("Not found", "What to do where the key is not found: ask in the yard."))
    stages.web.route("/*", lambda request: html("Ekki til", f"Ekkert er hér: {request.path}"))
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/", "/real", "/short"}

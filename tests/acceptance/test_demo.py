"""`make demo`: the first thing a newcomer runs."""

import json
import re
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from html.parser import HTMLParser
from pathlib import Path
from statistics import fmean
from urllib.parse import unquote, urljoin, urlsplit

import pytest

from orchestration.demo_site import EXAMPLES, serve, site_url
from sourcebook import KnowledgeBase
from sourcebook.evaluation.measures import score
from sourcebook.files.listing import file_uri
from tests.acceptance.workplace import SECONDS, Workplace
from tests.checkout import CHECKOUT

SITE = EXAMPLES / "site"


def _demo(workplace: Workplace) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "orchestration.demo"],
        cwd=CHECKOUT,
        env=workplace.environment,
        capture_output=True,
        text=True,
        timeout=2 * SECONDS,
        check=False,
    )


class _References(HTMLParser):
    """The ids of a page, and what it refers to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        for name, value in attributes:
            if name == "id" and value:
                assert value not in self.ids, f"{value} is there twice"
                self.ids.add(value)
            elif name == "href" and value:
                self.links.add(value)


def _file(url: str) -> Path:
    path = unquote(urlsplit(url).path).lstrip("/")
    return SITE / path / "index.html" if not path or path.endswith("/") else SITE / path


def _answers(knowledge: KnowledgeBase) -> tuple[dict[str, float], list[float]]:
    """Return nDCG@10 and recall@10 of the judged questions, and 1 for each with a page that the first hit is on."""
    relevant, rankings, on_page = {}, {}, []
    for line in (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines():
        judged = json.loads(line)
        question, wanted = judged["question"], judged["document"]
        uri = wanted if "://" in wanted else file_uri(str(EXAMPLES / "library" / wanted))
        hits = knowledge.search(question, limit=10, group_by="document", min_relevance=0)
        relevant[question], rankings[question] = {uri: 1}, [hit.uri for hit in hits]
        if judged["page"]:
            on_page.append(float((hits[0].uri, hits[0].page) == (uri, judged["page"])))
    scores = score(relevant, rankings, ["ndcg@10", "recall@10"])
    return {name: fmean(each[name] for each in scores.values()) for name in ("ndcg@10", "recall@10")}, on_page


@pytest.mark.timeout(900)
def test_the_demo_takes_all_in_and_has_nothing_to_do_the_second_time(workplace: Workplace) -> None:
    """Each search finds its own: a section of a page, a moment of a recording, a scan; then nothing changes.

    The judged questions have floors, so that no change makes answers worse unseen.
    """
    first = _demo(workplace)
    assert first.returncode == 0, first.stdout + first.stderr
    assert "documents: 36 new" in first.stderr
    assert "failed" not in first.stderr
    assert "nothing was found" not in first.stdout
    found = re.findall(rf"^  {re.escape(site_url())}(\S+)#(\S+)$", first.stdout, re.MULTILINE)
    assert found, first.stdout
    assert all(anchor in _References(SITE / page).ids for page, anchor in found)
    spoken = re.search(
        r"^  (.+), (\d+:\d\d)–(\d+:\d\d)\n  (.+)\n  (file://\S+)#t=(\d+),(\d+)$", first.stdout, re.MULTILINE
    )
    assert spoken, first.stdout
    assert spoken[1] == "Voice note after the school's visit"
    assert "umbrella" in spoken[4]
    assert spoken[5].endswith("/school-visit.m4a")
    assert 0 <= int(spoken[6]) < int(spoken[7]) <= 40
    scanned = first.stdout.split("? What lay in the inlet of the tide well in 1961?")[1]
    assert scanned.split("\n")[1] == "  Tide well card, 1961, page 1"
    assert "Levelling%20and%20spares.xlsx" in first.stdout.split("? BH-0403")[1].split("?")[0]

    second = _demo(workplace)
    assert second.returncode == 0, second.stdout + second.stderr
    assert "nothing changed" in second.stderr
    assert second.stdout.split("searches:")[1] == first.stdout.split("searches:")[1]

    with KnowledgeBase.connect(home=workplace.home) as knowledge:
        measures, on_page = _answers(knowledge)
    assert measures["ndcg@10"] >= 0.85, measures
    assert measures["recall@10"] >= 0.96, measures
    assert sum(on_page) >= len(on_page) / 2, on_page


def test_a_port_that_is_taken_is_told(workplace: Workplace) -> None:
    """The demo says which address it needs and what to do, and begins nothing."""
    with socket.create_server(("127.0.0.1", urlsplit(site_url()).port or 80)):
        done = _demo(workplace)
    assert done.returncode == 1
    assert f"cannot be served at {site_url()}" in done.stderr
    assert "Traceback" not in done.stderr
    assert not workplace.home.exists()


def test_the_site_is_served_with_dates_and_without_listings() -> None:
    """A page comes once; asked with its date, it is 304; a folder without an index is 404; then the port is free."""
    with serve(SITE, 0) as port:
        url = f"http://127.0.0.1:{port}"
        with urllib.request.urlopen(f"{url}/faq.html") as answer:  # noqa: S310 - it is ours
            modified = answer.headers["Last-Modified"]
        again = urllib.request.Request(f"{url}/faq.html", headers={"If-Modified-Since": modified})  # noqa: S310
        for request, status in ((again, 304), (f"{url}/members/", 404), (f"{url}/../sourcebook.yaml", 404)):
            with pytest.raises(urllib.error.HTTPError) as told:
                urllib.request.urlopen(request)  # noqa: S310
            with told.value:
                assert told.value.code == status
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", port)) != 0


@pytest.mark.parametrize("page", sorted(SITE.rglob("*.html")), ids=lambda page: str(page.relative_to(SITE)))
def test_every_link_of_the_site_leads_somewhere(page: Path) -> None:
    """A link names a file of the site, and its fragment an id on that page."""
    here = f"{site_url()}{page.relative_to(SITE)}"
    for link in _References(page).links:
        target = urljoin(here, link)
        if target.startswith("mailto:"):
            continue
        assert target.startswith(site_url()), link
        assert _file(target).is_file(), link
        fragment = urlsplit(target).fragment
        assert not fragment or fragment in _References(_file(target)).ids, link


def test_the_lists_of_the_site_agree_with_it() -> None:
    """sitemap.xml and robots.txt name the configured address; the sitemap leaves out two pages, on purpose."""
    robots = (SITE / "robots.txt").read_text()
    assert re.findall(r"^Sitemap: (.+)$", robots, re.MULTILINE) == [f"{site_url()}sitemap.xml"]
    listed = re.findall(r"<loc>(.+?)</loc>", (SITE / "sitemap.xml").read_text())
    assert all(url.startswith(site_url()) for url in listed)
    left_out = {page.relative_to(SITE).as_posix() for page in set(SITE.rglob("*.html")) - set(map(_file, listed))}
    assert left_out == {"history/storm-board.html", "members/rota.html"}
    assert "Disallow: /members/" in robots

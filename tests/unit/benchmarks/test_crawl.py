import json
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from benchmarks.harness.crawl_stage import Crawled
from benchmarks.harness.measure import Measurement
from benchmarks.harness.site_server import Arrival, SiteServer
from benchmarks.parts.crawl import AtLeast, Pair, Round, busiest_second
from benchmarks.parts.render import write_application

_CRAWLED = Crawled(2.0, {}, Measurement(3.0, 0, 0, 0, (), ""))


def _at(*times: float) -> list[Arrival]:
    return [Arrival("/", 200, time) for time in times]


def test_the_busiest_second_is_found_wherever_it_begins() -> None:
    """Requests a second apart are not in one second; the order they are told in does not matter."""
    assert busiest_second([]) == 0
    assert busiest_second(_at(0.0, 1.0, 2.0)) == 1
    assert busiest_second(_at(0.0, 0.999)) == 2
    assert busiest_second(_at(5.0, 0.1, 0.6, 0.9, 1.05, 1.59, 1.7, 3.0)) == 4


def test_a_round_tells_what_was_asked_twice_and_what_came_whole() -> None:
    """The first page and robots.txt may come whole; every other page that is known is a 304."""
    arrivals = [
        Arrival(path, status, 0.0)
        for path, status in [("/robots.txt", 404), ("/index.html", 200), ("/a", 304), ("/a", 304), ("/b", 200)]
    ]
    done = Round(_CRAWLED, arrivals, frozenset({"/index.html", "/a", "/b"}), 0)
    assert (done.asked_twice, done.unconditional, done.pages_a_second) == (1, 1, 1.5)


def test_a_page_that_nobody_asked_about_is_not_confirmed() -> None:
    """A second crawl that does nothing is no fast one."""
    first = Round(_CRAWLED, [], frozenset({"/index.html", "/a", "/b"}), 0)
    assert Pair(first, Round(_CRAWLED, [], first.kept, 0)).unconfirmed == 2
    again = [Arrival("/index.html", 200, 0.0), Arrival("/a", 304, 0.0), Arrival("/b", 200, 0.0)]
    assert Pair(first, Round(_CRAWLED, again, first.kept, 0)).unconfirmed == 1


def test_a_bar_that_is_the_least_is_met_from_the_bar_on() -> None:
    """The table says which way the bar goes."""
    assert AtLeast("speed", 60.0, "pages/s", 60).met is True
    assert AtLeast("speed", 59.9, "pages/s", 60).met is False
    assert AtLeast("speed", None, "pages/s", 60, "no browser").met is None
    assert AtLeast("speed", 75.0, "pages/s", 60).cells == ("speed", "75.0 pages/s", "≥ 60.0 pages/s", "1.25", "yes")


def _get(server: SiteServer, path: str, **headers: str) -> HTTPResponse:
    connection = HTTPConnection("127.0.0.1", urlsplit(server.url).port)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer


def test_the_server_keeps_account_of_what_it_was_asked_for(tmp_path: Path) -> None:
    """Path, final status and time of each request, told once; files answer conditional requests."""
    (tmp_path / "a b").mkdir()
    (tmp_path / "a b" / "index.html").write_text("<p>here</p>")
    with SiteServer(tmp_path) as server:
        answer = _get(server, "/a%20b/")
        assert answer.headers["Last-Modified"]
        _get(server, "/a%20b/?q=1", **{"If-None-Match": answer.headers["ETag"]})
        _get(server, "/gone.html")
        told = server.arrivals()
        assert [(arrival.path, arrival.status) for arrival in told] == [
            ("/a b/", 200),
            ("/a b/?q=1", 304),
            ("/gone.html", 404),
        ]
        assert told[0].at < told[1].at < told[2].at < told[0].at + 10
        assert server.arrivals() == []


def test_the_server_sends_no_file_from_outside_its_folder(tmp_path: Path) -> None:
    """Not even where dots and slashes are quoted."""
    (tmp_path / "secret.html").write_text("<p>secret</p>")
    (tmp_path / "site").mkdir()
    with SiteServer(tmp_path / "site") as server:
        assert _get(server, "/%2e%2e%2fsecret.html").status == 404


def test_a_server_that_cannot_start_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Instead of waiting for ever."""
    monkeypatch.setenv("PYTHONHOME", str(tmp_path))
    with pytest.raises(RuntimeError, match="has ended with 1"), SiteServer(tmp_path):
        pass


def test_pages_of_the_application_hold_no_text_before_their_script_has_run(tmp_path: Path) -> None:
    """Their text is in the data that the script fetches."""
    texts = write_application(tmp_path / "application", 3)
    assert len(texts) == 3
    for number, (path, text) in enumerate(texts.items()):
        assert text not in (tmp_path / "application" / path).read_text()
        data = json.loads((tmp_path / "application" / "data" / f"{number}.json").read_text())
        assert text in " ".join(data["paragraphs"])
        assert f'href="{path}"' in (tmp_path / "application" / "index.html").read_text()

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from benchmarks.corpora.debian_documentations import (
    DOCUMENTATIONS,
    Documentation,
    NoDocumentationError,
    chosen,
    package_files,
    unpack,
)
from benchmarks.corpora.site_links import reachable
from benchmarks.harness.crawl_peers import PeerCrawl
from benchmarks.harness.crawl_stage import Crawled
from benchmarks.harness.measure import Measurement
from benchmarks.harness.page_scores import Words
from benchmarks.parts.documentations import PassageFault, Result, Site, totals

GIT = next(each for each in DOCUMENTATIONS if each.name == "git")
PEERS = (PeerCrawl(10.0, 30, 0, 9.0), PeerCrawl(10.0, 60, 0, 9.0), PeerCrawl(10.0, 20, 0, 9.0))


def _result(*, missed: tuple[str, ...] = (), words: Words | None = None, faults: int = 0, peak: int = 1) -> Result:
    crawled = Crawled(1.0, {}, Measurement(3.0, peak, 0, 0, (), "", 2.0))
    wrong = (PassageFault("http://site/", "wrong"),) * faults
    return Result("git", 10, missed, words or Words(1000, 1000, 1000, 0), 20, wrong, crawled, PEERS)


def test_every_bar_is_met_by_a_good_crawl_and_missed_by_a_bad_one() -> None:
    """Each row by itself, over all documentations together."""
    good = [row.met for row in totals([_result(), _result()])]
    assert good == [True, True, True, True, None, True, None, True, True, None]
    bad = _result(missed=("/a",) * 9, words=Words(1000, 900, 1000, 100), faults=1, peak=251_000_000)
    rows = totals([_result(), bad])
    assert [row.met for row in rows] == [False, False, False, False, None, False, None, False, False, None]
    assert [row.value for row in rows[:4]] == [9, 0.95, 0.05, 1]


def test_speeds_are_of_all_pages_by_all_seconds() -> None:
    """A short documentation weighs less than a long one; a peer that is not there misses no bar."""
    rows = {row.measure.rpartition(", ")[2]: row for row in totals([_result(), _result()])}
    assert rows["crawl"].value == 10.0
    assert rows["its HTTP strategy and its filter"].value == pytest.approx(10 / 3)
    assert rows["speed against scrapy with trafilatura"].value == pytest.approx(5)
    processor = rows["processor time of scrapy with trafilatura"]
    assert processor.value == pytest.approx((9 / 20) / (2 / 10))
    assert processor.note == "450.0 against 200.0 ms/page, the database aside"
    row = totals([replace(_result(), peers=(*PEERS[:2], None))], "no network")[7]
    assert (row.value, row.met, row.note) == (None, None, "no network")


def test_a_page_with_two_names_is_one_page(tmp_path: Path) -> None:
    """Debian's git-doc links index.html to git.html."""
    (tmp_path / "git.html").write_text('<div id="footer">f</div><h1>git</h1><a href="/add.html">a</a>')
    (tmp_path / "add.html").write_text('<a href="git.html">g</a><a href="index.html">i</a>')
    (tmp_path / "index.html").symlink_to("git.html")
    site = Site(GIT, tmp_path)
    assert site.paths == {tmp_path / "git.html": "/index.html", tmp_path / "add.html": "/add.html"}
    assert site.file_of("http://127.0.0.1:1/index.html") == site.file_of("http://x/git.html") == tmp_path / "git.html"
    assert site.file_of("http://x/gone.html") is None


def test_a_page_that_sends_its_reader_on_is_no_page(tmp_path: Path) -> None:
    """Its target is one, if it is sent on at once; after some seconds there was a page to read."""
    (tmp_path / "index.html").write_text('<a href="old.html">o</a><a href="slow.html">s</a>')
    (tmp_path / "old.html").write_text('<meta http-equiv="Refresh" content="0; URL=\'new.html\'">moved')
    (tmp_path / "slow.html").write_text('<meta http-equiv="refresh" content="5; url=other.html">')
    for name in ("new", "other"):
        (tmp_path / f"{name}.html").write_text("here")
    assert set(reachable(tmp_path)) == {"/index.html", "/new.html", "/slow.html"}


def test_a_documentation_that_is_not_to_be_had_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the packages or the program that are missing, in one sentence."""
    with pytest.raises(NoDocumentationError, match="there is no documentation perl; there is python, django"):
        chosen(["git", "perl"])
    with pytest.raises(NoDocumentationError, match=r"holds no \.deb file of git-doc$"):
        package_files([GIT], tmp_path, fetch=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NoDocumentationError, match=r"git-doc cannot be fetched; .*--packages \(there is no apt-get\)$"):
        package_files([GIT], tmp_path, fetch=True)
    with pytest.raises(NoDocumentationError, match=r"x\.deb cannot be unpacked \(there is no dpkg\)"):
        unpack([tmp_path / "x.deb"], tmp_path / "tree")


def test_packages_are_unpacked_into_one_tree(tmp_path: Path) -> None:
    """A link from one package into another one leads to its file, without root."""
    for name in ("one", "two"):
        (tmp_path / name / "DEBIAN").mkdir(parents=True)
        (tmp_path / name / "usr").mkdir()
        control = f"Package: {name}\nVersion: 1\nArchitecture: all\nMaintainer: x <x@x>\nDescription: x\n"
        (tmp_path / name / "DEBIAN" / "control").write_text(control)
    (tmp_path / "one" / "usr" / "page.html").write_text("here")
    (tmp_path / "two" / "usr" / "index.html").symlink_to("page.html")
    for name in ("one", "two"):
        command = ["dpkg-deb", "--root-owner-group", "-b", str(tmp_path / name), str(tmp_path / f"{name}_1_all.deb")]
        try:
            subprocess.run(command, check=True, capture_output=True)
        except FileNotFoundError:
            pytest.skip("there is no dpkg-deb")
    both = Documentation("both", ("one", "two"), "", "body")
    files = package_files([both], tmp_path, fetch=False)
    assert files == {name: tmp_path / f"{name}_1_all.deb" for name in ("one", "two")}
    unpack(list(files.values()), tmp_path / "tree")
    assert (tmp_path / "tree" / "usr" / "index.html").read_text() == "here"
    (tmp_path / "broken_1_all.deb").write_bytes(b"no archive")
    with pytest.raises(NoDocumentationError, match=r"broken_1_all\.deb cannot be unpacked \(dpkg-deb: error"):
        unpack([tmp_path / "broken_1_all.deb"], tmp_path / "tree")

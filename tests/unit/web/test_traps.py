"""Traps end, and sites that are merely large do not."""

from time import process_time

import pytest

from sourcebook.web.traps import CALENDAR_PAGES, KNOWN_CONTENT, QUERY_PAGES, TrapGuard

HOST = "https://h.example"


def refused(guard: TrapGuard, urls: list[str]) -> int:
    return sum(guard.refusal(url) is not None for url in urls)


@pytest.mark.parametrize(
    "path",
    [
        "/a/b/a/b/a/b",
        "/a/b/a/b/a/b/",
        "/x/a/a/a/y",
        "/en/docs/api/en/docs/api/en/docs/api",
        "/a/b/c/d/a/b/c/d/a/b/c/d",
        "/1/2/1/2/1/2/x",
        "/" + "/".join("abcdefghijklmnopqrstuvw"),
        "/" * 30,
        "/1" * 30,
    ],
)
def test_paths_without_end_are_refused(path: str) -> None:
    """Repetition and depth are told from the path alone."""
    assert TrapGuard().refusal(HOST + path)


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/a/a/b",
        "/python/python",
        "/a/b/a/b",
        "/ab/abc/abcd",
        "/1/1/1",
        "/11/11/11",
        "/" + "/".join("abcdefghijklmnopqrst"),
        "/a?next=/a/a/a/a",
    ],
)
def test_ordinary_paths_are_not(path: str) -> None:
    """A name may come twice, numbers may be alike, and a query is no path."""
    assert TrapGuard().refusal(HOST + path) is None


def test_large_sites_are_not_cut() -> None:
    """Numbered posts, archives by date and dated titles are taken however many there are."""
    days = [(year, month, day) for year in range(1995, 2026) for month in range(1, 13) for day in range(1, 29)]
    guard = TrapGuard(2025)
    assert refused(guard, [f"{HOST}/posts/{number}" for number in range(20_000)]) == 0
    assert refused(guard, [f"{HOST}/issues/{number}/5/2" for number in range(3000)]) == 0
    assert refused(guard, [f"{HOST}/{y}/{m:02}/{d:02}/" for y, m, d in days]) == 0
    assert refused(guard, [f"{HOST}/blog/{y}-{m:02}-{d:02}-a-title/" for y, m, d in days]) == 0
    assert refused(guard, [f"{HOST}/events/{y}/{m:02}/{d:02}/meeting-{'abc'[d % 3]}{m}" for y, m, d in days[:250]]) == 0
    assert refused(guard, [f"{HOST}/events/{number}" for number in range(3000)]) == 0
    assert refused(guard, [f"{HOST}/rfc/{number}-12/" for number in range(3000)]) == 0


@pytest.mark.parametrize(
    "pattern",
    [
        "/calendar/{y}/{m:02}/{d:02}",
        "/en/events/{y}-{m:02}-{d:02}/",
        "/events/{y}/{m}/",
        "/{y}/{m:02}/{d:02}/",
        "/c?month={y}-{m:02}&x={d}",
        "/c?year={y}&month={m}&view=list",
        "/c?tribe-bar-date={y}-{m:02}-{d:02}",
        "/c?start={y}-{m:02}-{d:02}",
    ],
)
def test_calendars_end(pattern: str) -> None:
    """However long a calendar goes on into the future, a fixed number of its pages is taken, the first ones."""
    urls = [
        HOST + pattern.format(y=year, m=month, d=day)
        for year in range(2027, 2067)
        for month in range(1, 13)
        for day in range(1, 29)
    ]
    urls = list(dict.fromkeys(urls))
    guard = TrapGuard(2025)
    taken = [url for url in urls if guard.refusal(url) is None]
    assert taken == urls[:CALENDAR_PAGES]
    guard.learned(taken[0], duplicate=False)
    assert "calendar" in str(guard.refusal(urls[-1]))


def test_parameters_without_end_are_refused() -> None:
    """Pages that differ only in their parameters are limited, by path."""
    guard = TrapGuard()
    assert refused(guard, [f"{HOST}/list?page={number}" for number in range(QUERY_PAGES + 500)]) == 500
    assert guard.refusal(f"{HOST}/other?page=1") is None
    assert guard.refusal(f"{HOST}/list") is None


def test_new_content_earns_more_pages() -> None:
    """A forum whose topics are parameters is taken whole, because each page proves that the next is worth it."""
    guard = TrapGuard()
    for number in range(5 * QUERY_PAGES):
        url = f"{HOST}/topic?t={number}"
        assert guard.refusal(url) is None
        guard.learned(url, duplicate=False)


@pytest.mark.parametrize("pattern", ["/list?page={}", "/list?filter=x{}&a=b", "/login/{}", "/x/{:032x}/y"])
def test_content_already_known_ends_a_shape(pattern: str) -> None:
    """Pages that keep giving what is known already are refused, even those that were let through before."""
    guard = TrapGuard()
    urls = [HOST + pattern.format(number + 2**100) for number in range(KNOWN_CONTENT + 2)]
    assert refused(guard, urls) == 0
    guard.learned(urls[0], duplicate=False)
    for url in urls[1:KNOWN_CONTENT]:
        guard.learned(url, duplicate=True)
    assert refused(guard, urls) == 0
    guard.learned(urls[KNOWN_CONTENT], duplicate=True)
    assert refused(guard, urls) == len(urls)
    assert guard.refusal(f"{HOST}/elsewhere/1") is None


def test_some_duplicates_are_no_trap() -> None:
    """Where one page in five is new, going on is worth it."""
    guard = TrapGuard()
    for number in range(1000):
        guard.learned(f"{HOST}/posts/{number}", duplicate=number % 4 != 0)
    assert guard.refusal(f"{HOST}/posts/1000") is None


def test_asking_twice_counts_once() -> None:
    """A link that stands on every page uses up nothing."""
    guard = TrapGuard()
    for _ in range(3):
        assert refused(guard, [f"{HOST}/list?page={number}" for number in range(QUERY_PAGES)]) == 0


def test_every_link_may_be_asked_about() -> None:
    """Judging a link costs microseconds, and a hostile one no more than a millisecond or so."""
    guard = TrapGuard()
    began = process_time()
    for number in range(2000):
        guard.refusal(f"{HOST}/en/latest/guide/page-{number}.html")
    assert process_time() - began < 0.2
    hostile = ["/a" * 19 + "/" + "-" * 1900, "/" + "1-" * 900, "/?" + "-" * 1900, "/?" + "a-" * 900, "/" + "f" * 1900]
    began = process_time()
    for path in hostile:
        guard.refusal(HOST + path)
    assert process_time() - began < 0.2

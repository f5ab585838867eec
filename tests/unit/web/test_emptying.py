"""Which pages wait until it is known whether a site loses many at once."""

from sourcebook.config.collection import RemovalSettings
from sourcebook.web.emptying import EmptyingGuard
from sourcebook.web.outcome import ClaimedUrl, Gone, Outcome, PageContent, Stored

RULES = RemovalSettings()


def claimed(number: int) -> ClaimedUrl:
    return ClaimedUrl(
        id=number, url=f"https://a.example/{number}", role="page", listed=False, depth=1, parent=None, attempts=0,
        lastmod=None, etag=None, last_modified=None, cleaner=None, sha256=b"before", rendered=False, live=True,
    )  # fmt: skip


def stored(number: int, content: bytes) -> Stored:
    return Stored(claimed(number), PageContent(status=200, media_type="text/html", sha256=content, size=1))


def guard(pages: int) -> EmptyingGuard:
    made = EmptyingGuard(RULES)
    made.begin(pages, {b"before"})
    return made


def test_pages_that_become_alike_are_lost_and_held_back() -> None:
    ours = guard(10)
    assert [ours.take(stored(number, b"maintenance")) for number in range(4)] == [None] * 4
    few = ours.holds
    ours.take(stored(4, b"maintenance"))
    assert (few, ours.holds) == (False, True), "four may always go"
    assert ours.release() == []


def test_a_crawl_that_pauses_records_what_is_like_no_other_and_no_loss() -> None:
    """So the next run does not request the same changed pages again."""
    ours = guard(100)
    changed = [stored(number, bytes([number])) for number in range(3)]
    outcomes: list[Outcome] = [*changed, Gone(claimed(7), "gone")]
    assert [ours.take(outcome) for outcome in outcomes] == [None] * 4
    assert ours.release_single() == changed
    assert [type(each) for each in ours.release()] == [Gone]


def test_what_is_unchanged_or_new_never_waits() -> None:
    ours = guard(1)
    same = stored(1, b"before")
    assert ours.take(same) is same

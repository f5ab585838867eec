"""robots.txt is obeyed as RFC 9309 says."""

import codecs

import pytest

from sourcebook.web.fetching.host_rules import MOST_BYTES, UNAVAILABLE, RobotsRules, rules_of, tag_directives

AGENT = "Sourcebook/0.1"
HOST = "https://h.example"


def rules(text: str, agent: str = AGENT) -> RobotsRules:
    return rules_of(200, text.encode(), agent)


@pytest.mark.parametrize("status", [301, 308, 400, 401, 403, 404, 410, 451])
def test_no_file_allows_everything(status: int) -> None:
    """A missing or locked file has no rules, whatever its page says."""
    found = rules_of(status, b"User-agent: *\nDisallow: /", AGENT)
    assert found.allowed(f"{HOST}/a")
    assert not found.unavailable
    assert found.crawl_delay is None
    assert found.sitemaps == ()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 599, 0])
def test_server_error_means_wait(status: int) -> None:
    """While the rules are not known nobody is told that something is allowed."""
    found = rules_of(status, b"", AGENT)
    assert found.unavailable
    with pytest.raises(ValueError, match="unavailable"):
        found.allowed(f"{HOST}/a")
    assert found == UNAVAILABLE


@pytest.mark.parametrize("body", [b"", b"\n\n", b"User-agent: *\nDisallow:", b"# nothing", b"User-agent: *"])
def test_empty_rules_allow_everything(body: bytes) -> None:
    """An empty Disallow forbids nothing."""
    assert rules_of(200, body, AGENT).allowed(f"{HOST}/a")


@pytest.mark.parametrize(
    ("rule", "path", "allowed"),
    [
        ("Disallow: /", "/", False),
        ("Disallow: /", "/robots.txt", True),
        ("Disallow: /a", "/a", False),
        ("Disallow: /a", "/abc?d", False),
        ("Disallow: /a", "/b/a", True),
        ("Disallow: /a/", "/a", True),
        ("Disallow: /A", "/a", True),
        ("Disallow: /*.pdf$", "/x/y.pdf", False),
        ("Disallow: /*.pdf$", "/x/y.pdf?z", True),
        ("Disallow: /*/private", "/a/b/private/c", False),
        ("Disallow: *?print=", "/a?print=1", False),
        ("Disallow: /a$", "/a", False),
        ("Disallow: /a$", "/ab", True),
        ("Disallow: /ü", "/%C3%BC/x", False),
        ("Disallow: /%c3%bc", "/%C3%BC/x", False),
        ("Disallow: /a b", "/a%20b", False),
        ("Disallow: /a%2Fb", "/a/b", True),
        ("Disallow: /\nAllow: /docs", "/docs/a", True),
        ("Disallow: /\nAllow: /docs", "/blog", False),
        ("Allow: /docs\nDisallow: /docs/old", "/docs/old/a", False),
        ("Disallow: /docs/old\nAllow: /docs", "/docs/old/a", False),
        ("Disallow: /page\nAllow: /page", "/page", True),
        ("Disallow: /*.html\nAllow: /$", "/", True),
        ("disallow:/a#comment", "/a", False),
    ],
)
def test_paths_are_matched(rule: str, path: str, allowed: bool) -> None:
    """Prefixes, `*` and `$`; the longest rule wins, Allow where two are alike; escapes are compared decoded."""
    assert rules(f"User-agent: *\n{rule}\n").allowed(HOST + path) is allowed


def test_groups_are_chosen_by_product_token() -> None:
    """Our own group counts alone, whatever the letter case and version; several agents share a group."""
    text = """
User-agent: *
Disallow: /

User-agent: OtherBot
User-agent: SOURCEBOOK
Disallow: /theirs

User-agent: sourcebook
Disallow: /ours
"""
    for agent in ("Sourcebook/0.1", "sourcebook", "Sourcebook/2.0 (+https://example.com/)"):
        found = rules(text, agent)
        assert found.allowed(f"{HOST}/a")
        assert not found.allowed(f"{HOST}/theirs")
        assert not found.allowed(f"{HOST}/ours")
    assert not rules(text, "Another/1.0").allowed(f"{HOST}/a")
    assert rules(text, "OtherBot/1.0").allowed(f"{HOST}/ours")


def test_other_agents_rules_are_not_ours() -> None:
    """Without a group for us or for all, everything is allowed."""
    found = rules("User-agent: OtherBot\nDisallow: /\nCrawl-delay: 9")
    assert found.allowed(f"{HOST}/a")
    assert found.crawl_delay is None


@pytest.mark.parametrize(
    ("line", "seconds"),
    [
        ("Crawl-delay: 5", 5),
        ("crawl-delay: 0.5", 0.5),
        ("Crawl-delay: 0", 0),
        ("Request-rate: 1/10s", 10),
        ("Request-rate: 30/1m", 2),
        ("Crawl-delay: 1\nRequest-rate: 1/4", 4),
        ("Crawl-delay: soon", None),
        ("Crawl-delay: -1", None),
        ("Crawl-delay: nan", None),
        ("Crawl-delay: inf", None),
        ("Request-rate: 0/0", None),
    ],
)
def test_delay(line: str, seconds: float | None) -> None:
    """Both ways to ask for a pause are understood, and nonsense is not obeyed."""
    assert rules(f"User-agent: *\n{line}").crawl_delay == seconds


def test_delay_of_our_own_group() -> None:
    """Another agent's pause is not ours."""
    text = "User-agent: *\nCrawl-delay: 20\n\nUser-agent: Sourcebook\nCrawl-delay: 2\nDisallow:"
    assert rules(text).crawl_delay == 2
    assert rules(text, "Another/1").crawl_delay == 20


def test_sitemaps_stand_anywhere() -> None:
    """Sitemaps belong to no group, and one that is named twice is one."""
    text = "Sitemap: https://h.example/a.xml\nUser-agent: x\nSITEMAP: https://h.example/b.xml.gz\nDisallow: /\n"
    assert rules(text * 2).sitemaps == ("https://h.example/a.xml", "https://h.example/b.xml.gz")


@pytest.mark.parametrize(
    "body",
    [
        codecs.BOM_UTF8 + b"User-agent: *\nDisallow: /no",
        codecs.BOM_UTF16_LE + "User-agent: *\nDisallow: /no".encode("utf-16-le"),
        b"User-agent: *\r\nDisallow: /no\r\n",
        b"User-agent: *\rDisallow: /no\r",
        b"  User-Agent :  * \n\n\tDisallow :\t/no  # why",
        b"\xfa\x80\xff junk\n<html>\n:::\n\x00\nUser-agent: *\nDisallow: /no",
        b"Disallow: /yes\nUser-agent: *\nUnknown: x\nDisallow: /no\nDisallow: /caf\xe9\n",
        b"User-agent: *\nDisallow: /no\n" + b"x" * 2 * MOST_BYTES,
    ],
)
def test_survives_marks_junk_and_encodings(body: bytes) -> None:
    """What can be understood counts, what cannot is passed over."""
    found = rules_of(200, body, AGENT)
    assert not found.allowed(f"{HOST}/no")
    assert found.allowed(f"{HOST}/yes")


def test_a_page_of_html_has_no_rules() -> None:
    """A site that answers every address with its start page forbids nothing."""
    assert rules("<!doctype html><title>Hi: there</title><p>Disallow: /").allowed(f"{HOST}/a")


def test_what_is_too_long_is_cut_at_a_line() -> None:
    """After 500 KiB nothing is read, and no rule is read in half, which would forbid more than was meant."""
    line = b"Disallow: /no/and-a-longer-path\n"
    body = b"User-agent: *\n" + line
    body += b"#" * (MOST_BYTES - len(body) - 15) + b"\n" + line + b"Disallow: /late\n"
    assert body[:MOST_BYTES].endswith(b"\nDisallow: /no/")
    found = rules_of(200, body, AGENT)
    assert found.allowed(f"{HOST}/no/other")
    assert found.allowed(f"{HOST}/late")
    assert not found.allowed(f"{HOST}/no/and-a-longer-path")


@pytest.mark.parametrize(
    ("header", "asked"),
    [
        ("", set()),
        ("all", set()),
        ("noindex", {"noindex"}),
        ("NoIndex, nofollow", {"noindex", "nofollow"}),
        ("none", {"noindex", "nofollow"}),
        ("googlebot: noindex, nofollow", set()),
        ("googlebot: noindex, sourcebook: nofollow", {"nofollow"}),
        ("unavailable_after: 25 Jun 2330 15:00:00 PST, nofollow", {"nofollow"}),
        ("unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow", {"noindex", "nofollow"}),
        ("nofollow, Unavailable_After: 2010-06-25", {"noindex", "nofollow"}),
        ("googlebot: unavailable_after: 25 Jun 2010 15:00:00 PST", set()),
    ],
)
def test_what_an_x_robots_tag_asks_of_us(header: str, asked: set[str]) -> None:
    """Of what the header says for every agent, and for ours, noindex and nofollow count."""
    assert tag_directives(header, AGENT) == asked


def test_an_interval_beyond_all_numbers_is_a_long_one() -> None:
    """And no error of arithmetic."""
    found = rules(f"User-agent: *\nRequest-rate: 1/{'9' * 400}s")
    assert (found.crawl_delay or 0) > 10**8

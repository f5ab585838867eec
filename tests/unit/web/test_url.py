"""Two spellings of one page meet in one normal form; what is no page of the web has none."""

from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.web.url import LONGEST_URL, host_of, normal_form, registered_domain

BASE = "https://docs.example.com/en/latest/guide/index.html?v=2"

_PIECES = r"""
http:// https:// // / . .. ./ ../ ; : @ ? & = # % %2e %2F %3f %zz + [ ] ( ) \ a B 1 ü 例 é.example host .com :80 :443
:8080 127.0.0.1 [::1] ;jsessionid=1 (S(lit3py55t21z5v55vlm25s55)) utm_source=x sid= 0123456789abcdefabcd
"""
_URLS = st.one_of(st.text(max_size=60), st.lists(st.sampled_from([*_PIECES.split(), " "]), max_size=14).map("".join))


@pytest.mark.parametrize(
    ("spelling", "normal"),
    [
        ("HTTP://Example.COM/Path", "http://example.com/Path"),
        ("http://example.com:80/", "http://example.com/"),
        ("https://example.com:443/", "https://example.com/"),
        ("https://example.com:80/", "https://example.com:80/"),
        ("http://example.com:/", "http://example.com/"),
        ("http://example.com", "http://example.com/"),
        ("http://example.com?a", "http://example.com/?a"),
        ("http://example.com./a", "http://example.com/a"),
        ("http://example.com/a#section", "http://example.com/a"),
        ("http://example.com/a?#", "http://example.com/a"),
        ("http://example.com/a/./b/../c", "http://example.com/a/c"),
        ("http://example.com/%2e%2E/a", "http://example.com/a"),
        ("http://example.com/../../a", "http://example.com/a"),
        ("http://example.com/%7euser/%c3%bc", "http://example.com/~user/%C3%BC"),
        ("http://example.com/~user/ü", "http://example.com/~user/%C3%BC"),
        ("http://example.com/100%", "http://example.com/100%25"),
        ("http://example.com/a b", "http://example.com/a%20b"),
        (" http://example.com/a\n", "http://example.com/a"),
        ("http:\\\\example.com\\a\\b?c\\d", "http://example.com/a/b?c%5Cd"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://XN--BCHER-KVA.example/", "http://xn--bcher-kva.example/"),
        ("http://１２７.0.0.1/", "http://127.0.0.1/"),
        ("http://[2001:DB8:0:0::1]:8080/", "http://[2001:db8::1]:8080/"),
    ],
)
def test_spellings_meet(spelling: str, normal: str) -> None:
    """Case, ports, IDNA, dot segments, escapes and fragments do not make another page."""
    assert normal_form(spelling) == normal


@pytest.mark.parametrize(
    ("spelling", "normal"),
    [
        ("?b=2&a=1", "?a=1&b=2"),
        ("?b=&a", "?a&b="),
        ("?b=2&a=2&b=1&a=1", "?a=2&a=1&b=2&b=1"),
        ("?&&a=1&", "?a=1"),
        ("?utm_source=x&UTM_Medium=y&gclid=1&fbclid=2&mc_cid=3&_ga=4&msclkid=5&igshid=6", ""),
        ("?page=2&utm_campaign=x", "?page=2"),
        ("?ref=main&source=print&from=2020", "?from=2020&ref=main&source=print"),
        ("?PHPSESSID=abc&a=1", "?a=1"),
        ("?sid=7f3e8a12bc94d5e60718293a4b5c6d7e&a=1", "?a=1"),
        ("?sid=politics&s=python+3", "?s=python+3&sid=politics"),
        ("?s=internationalization-of-2024-software", "?s=internationalization-of-2024-software"),
        (";jsessionid=1A2B3C?a=1", "?a=1"),
    ],
)
def test_parameters_are_sorted_and_cleaned(spelling: str, normal: str) -> None:
    """Parameters that choose no content are off, all others stay, repeated and blank ones too."""
    assert normal_form(f"http://h.example/p{spelling}") == f"http://h.example/p{normal}"


@pytest.mark.parametrize(
    ("spelling", "path"),
    [
        ("/a;jsessionid=1/b;JSESSIONID=2", "/a/b"),
        ("/;jsessionid=1", "/"),
        ("/.;jsessionid=1/x", "/x"),
        ("/a%3Bjsessionid=1", "/a"),
        ("/(S(lit3py55t21z5v55vlm25s55))/page.aspx", "/page.aspx"),
        ("/(S(lit3py55t21z5v55vlm25s55))", "/"),
        ("/wiki/Sum_(S(x))", "/wiki/Sum_(S(x))"),
        ("/matrix;v=1.2/x", "/matrix;v=1.2/x"),
    ],
)
def test_session_ids_in_the_path_are_off(spelling: str, path: str) -> None:
    """The path parameter of Java and ASP.NET's folder are gone, and nothing that only resembles them."""
    assert normal_form(f"http://h.example{spelling}") == f"http://h.example{path}"


@pytest.mark.parametrize(
    "path", ["/a", "/a/", "/a//b", "/a%2Fb", "/A", "/index.html", "/?a", "/?a=", "/?a=%20", "/?a=+"]
)
def test_what_a_server_may_tell_apart_stays(path: str) -> None:
    """The trailing slash, letter case of the path, an escaped slash and the spelling of a blank are the server's."""
    assert normal_form(f"http://h.example{path}") == f"http://h.example{path}"


@pytest.mark.parametrize(
    ("link", "normal"),
    [
        ("", "https://docs.example.com/en/latest/guide/index.html?v=2"),
        ("#top", "https://docs.example.com/en/latest/guide/index.html?v=2"),
        ("?v=3", "https://docs.example.com/en/latest/guide/index.html?v=3"),
        ("../api/x.html", "https://docs.example.com/en/latest/api/x.html"),
        ("..\\api\\x.html", "https://docs.example.com/en/latest/api/x.html"),
        ("/root", "https://docs.example.com/root"),
        ("//Other.Example/x", "https://other.example/x"),
        ("http://other.example/", "http://other.example/"),
        ("../../../../../x", "https://docs.example.com/x"),
        ("./a:b", "https://docs.example.com/en/latest/guide/a:b"),
        ("%2D:b", "https://docs.example.com/en/latest/guide/-:b"),
        ("mailto:a@example.com", None),
        ("tel:+49", None),
    ],
)
def test_relative_links_are_resolved(link: str, normal: str | None) -> None:
    """A link is read against its page."""
    assert normal_form(link, BASE) == normal


@pytest.mark.parametrize(
    "url",
    [
        "",
        "a/b",
        "//example.com/",
        "mailto:a@example.com",
        "javascript:alert(1)",
        "data:text/html,<p>x",
        "ftp://example.com/",
        "file:///etc/passwd",
        "https:",
        "https://",
        "https:///example.com",
        "https:example.com",
        "http://:80/",
        "http://example.com:99999/",
        "http://example.com:0/",
        "http://example.com:8a/",
        "http://user@example.com/",
        "http://user:secret@example.com/",
        "http://exa mple.com/",
        "http://exam%70le.com/",
        "http://a..b/",
        "http://<b>/",
        "http://[::1",
        "http://[fe80::1%25eth0]/",
        "http://::1/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://1.2.3.4.5/",
        f"http://{'a' * 64}.com/",
        f"http://{'a.' * 130}com/",
        f"http://example.com/{'a' * LONGEST_URL}",
        f"http://example.com/{'ü' * 400}",
        "data:image/png;base64," + "A" * 1_000_000,
    ],
)
def test_what_is_no_page_has_no_form(url: str) -> None:
    """Other schemes, users, broken hosts and ports, disguised addresses and endless URLs are refused, not raised."""
    assert normal_form(url) is None


def test_backslash_does_not_hide_the_host() -> None:
    """A browser would ask evil.example here, so this is what the form says."""
    assert normal_form("https://evil.example\\@good.example/") == "https://evil.example/@good.example/"


@settings(deadline=None)
@given(_URLS)
def test_normal_form_is_idempotent(url: str) -> None:
    """A normal form is its own normal form, within the length, in ASCII, whatever it was made from."""
    for base in (None, BASE):
        normal = normal_form(url, base)
        if normal is not None:
            assert normal_form(normal) == normal
            assert normal_form(normal, BASE) == normal
            assert len(normal) <= LONGEST_URL
            assert normal.isascii()
            assert normal.isprintable()
            assert normal.startswith(("http://", "https://"))
            assert "#" not in normal
            assert "@" not in host_of(normal)


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["", "1", "2"])), max_size=6))
def test_order_of_different_parameters_does_not_matter(pairs: list[tuple[str, str]]) -> None:
    """Two queries meet where each name has the same values in the same order."""
    by_name = sorted(pairs, key=lambda pair: pair[0])
    spelled = ["http://h.example/?" + "&".join(f"{name}={value}" for name, value in each) for each in (pairs, by_name)]
    assert normal_form(spelled[0]) == normal_form(spelled[1])


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("http://example.com/", "example.com"),
        ("https://example.com/a?b=/c", "example.com"),
        ("http://example.com:8080/", "example.com:8080"),
        ("http://[::1]:8080/", "[::1]:8080"),
    ],
)
def test_host_of_a_url(url: str, host: str) -> None:
    """http and https of one name are one host; another port is another host."""
    assert host_of(url) == host


@pytest.mark.parametrize(
    ("host", "domain"),
    [
        ("example.com", "example.com"),
        ("a.b.example.com:8080", "example.com"),
        ("docs.example.co.uk", "example.co.uk"),
        ("alice.github.io", "alice.github.io"),
        ("project.readthedocs.io", "project.readthedocs.io"),
        ("github.io", "github.io"),
        ("co.uk", "co.uk"),
        ("localhost:8080", "localhost"),
        ("intranet", "intranet"),
        ("127.0.0.1:8080", "127.0.0.1"),
        ("[::1]:8080", "[::1]"),
        ("[::1]", "[::1]"),
        ("docs.xn--bcher-kva.de", "xn--bcher-kva.de"),
    ],
)
def test_registered_domain(host: str, domain: str) -> None:
    """Sites under a shared roof are strangers to each other; addresses stand for themselves."""
    assert registered_domain(host) == domain


def test_hostile_urls_cost_little() -> None:
    """No spelling within the length limit takes longer than some milliseconds."""
    hostile = [
        "http://h.example/" + "(S(" * 2600,
        "http://h.example/" + ";jsessionid=" * 600,
        "http://h.example/" + "../" * 2600,
        "http://h.example/?" + "&" * 7900,
        "http://h.example/?" + "sid=a1" * 1300,
        "http://" + "a." * 3900,
        "http://" + "ü" * 7900,
        "http://h.example/" + "%" * 7900,
    ]
    began = process_time()
    for url in hostile:
        normal_form(url)
    assert process_time() - began < 1

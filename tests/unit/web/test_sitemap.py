"""Sitemaps of every kind are read, and none of them can hurt."""

import gzip
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.web.lists.sitemap import Sitemap, SitemapEntry, SitemapError, looks_like_sitemap, read_sitemap

BASE = "https://h.example/maps/sitemap.xml"
NAMESPACE = "http://www.sitemaps.org/schemas/sitemap/0.9"
LOCS = "<url><loc>https://h.example/a</loc></url><url><loc>https://h.example/b</loc></url>"


RSS = """
<rss><channel><link>https://h.example/</link><image><url>https://h.example/i.png</url></image>
<item><link>https://h.example/a</link></item><item><link>/b</link></item></channel></rss>
"""
ATOM = """
<feed xmlns="http://www.w3.org/2005/Atom"><link href="/"/><entry><link rel="edit" href="/edit"/>
<link href="/a"/></entry><entry><link rel="alternate" href="/b"/></entry></feed>
"""
PIECES = """
<urlset> <rss> <feed> <item> <entry> <link/> <url> </url> <loc> </loc> https://h.example/a & < <![CDATA[ ]]> <!-- -->
<?xml\tversion='1.0'\tencoding='gb2312'?> </urlset> \x00 x
"""


def read(body: bytes | str, max_bytes: int = 50_000_000) -> Sitemap:
    body = body.encode() if isinstance(body, str) else body
    assert looks_like_sitemap(body)
    return read_sitemap(body, BASE, max_bytes=max_bytes)


def urls(sitemap: Sitemap) -> list[str]:
    return [entry.url for entry in sitemap.urls]


@pytest.mark.parametrize(
    "body",
    [
        f'<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="{NAMESPACE}">{LOCS}</urlset>',
        f"<urlset>{LOCS}</urlset>",
        f'<urlset xmlns="urn:any">{LOCS}</urlset>',
        f"<s:urlset xmlns:s='{NAMESPACE}'>{LOCS}</s:urlset>".replace("<url", "<s:url").replace("</url", "</s:url"),
        f"<u:urlset>{LOCS}</u:urlset>",
        f"<URLSET>{LOCS}</URLSET>",
        f'\n\n  <?xml version="1.0"?>\n<?xml-stylesheet href="x.xsl"?><!-- hello --><urlset>{LOCS}</urlset>\n\n',
        f'\ufeff<?xml version="1.0" encoding="utf-8"?><urlset>{LOCS}</urlset>',
        f'<?xml version="1.0" encoding="utf-16"?><urlset>{LOCS}</urlset>'.encode("utf-16"),
        f'<?xml version="1.0" encoding="windows-1251"?><urlset><!-- \u0436 -->{LOCS}</urlset>'.encode("cp1251"),
        gzip.compress(f"<urlset>{LOCS}</urlset>".encode(), mtime=0),
        gzip.compress(f"<urlset>{LOCS}".encode(), mtime=0) + gzip.compress(b"</urlset>", mtime=0) + b"\0\0\0",
        "https://h.example/a\nhttps://h.example/b",
        "\ufeffhttps://h.example/a\r\n\r\n  https://h.example/b  \r\n",
        gzip.compress(b"https://h.example/a\nhttps://h.example/b\n", mtime=0),
        RSS,
        ATOM,
        '<rdf:RDF xmlns:rdf="urn:r"><item rdf:about="x"><link>/a</link></item><item><link>/b</link></item></rdf:RDF>',
    ],
)
def test_every_kind_is_read(body: bytes | str) -> None:
    """XML of any namespace or none and any encoding, gzip, plain text and feeds name the same two pages."""
    sitemap = read(body)
    assert urls(sitemap) == ["https://h.example/a", "https://h.example/b"]
    assert sitemap.sitemaps == ()
    assert sitemap.notice is None


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"   \n",
        b"hello",
        b"<!doctype html><html><a href='https://h.example/'>x</a></html>",
        b"<html xmlns='http://www.w3.org/1999/xhtml'><loc>x</loc></html>",
        b"<urls>",
        b"# Title\n\n- [a](https://h.example/)\n",
        b"https://h.example/a is a page\nhttps://h.example/b",
        b"https://h.example/a\nsee above\n",
        b'{"urlset": []}',
        b"\x1f\x8b broken",
        b"\x1f\x8b",
        gzip.compress(b"<html>", mtime=0),
        b"%PDF-1.7\n",
        b"https://" + b"a" * 100_000,
        b'<?xml version="1.0" encoding="no-such"?><urlset/>',
    ],
)
def test_anything_else_is_none(body: bytes) -> None:
    """Detection goes by content; reading it all the same is an error that says so."""
    assert not looks_like_sitemap(body)
    with pytest.raises(SitemapError, match="no sitemap"):
        read_sitemap(body, BASE, max_bytes=10**6)


def test_index_names_sitemaps() -> None:
    """An index leads to further sitemaps, not to pages."""
    sitemap = read(
        "<sitemapindex><sitemap><loc>/one.xml.gz</loc><lastmod> 2024-05-01 </lastmod></sitemap>"
        "<sitemap><loc>https://cdn.example/two.xml</loc></sitemap></sitemapindex>"
    )
    assert sitemap.urls == ()
    assert sitemap.sitemaps == (
        SitemapEntry("https://h.example/one.xml.gz", "2024-05-01"),
        SitemapEntry("https://cdn.example/two.xml", None),
    )


def test_dates_are_kept_as_written() -> None:
    """lastmod belongs to its own URL, and is text to compare, not a date to trust."""
    sitemap = read(
        "<urlset><url><lastmod>\n2024-05-01T10:00:00+02:00\n</lastmod><loc>/a</loc></url>"
        "<url><loc>/b</loc><lastmod>yesterday</lastmod></url><url><loc>/c</loc><lastmod></lastmod></url></urlset>"
    )
    assert [entry.last_modified for entry in sitemap.urls] == ["2024-05-01T10:00:00+02:00", "yesterday", None]
    assert read("<rss><item><link>/a</link><pubDate>Mon, 1 May</pubDate></item></rss>").urls[0][1] == "Mon, 1 May"
    assert read("<feed><entry><link href='/a'/><updated>2024</updated></entry></feed>").urls[0][1] == "2024"


def test_urls_come_in_normal_form_once_and_of_any_host() -> None:
    """Entities, CDATA, blanks and other spellings meet; other hosts are the caller's to refuse."""
    sitemap = read(
        "<urlset><url><loc>\n HTTPS://H.example:443/a?c=2&amp;b=1#x </loc></url>"
        "<url><loc><![CDATA[https://h.example/a?b=1&c=2]]></loc></url><url><loc>http://169.254.169.254/</loc></url></urlset>"
    )
    assert urls(sitemap) == ["https://h.example/a?b=1&c=2", "http://169.254.169.254/"]


def test_images_and_videos_are_no_pages() -> None:
    """Only the address directly within an entry counts, even where a prefix was never declared."""
    sitemap = read(
        "<urlset><url><image:image><image:loc>/i.png</image:loc></image:image><loc>/a</loc>"
        "<video:video><video:player_loc>/v</video:player_loc></video:video>"
        '<xhtml:link rel="alternate" hreflang="de" href="/de/a"/></url></urlset>'
    )
    assert urls(sitemap) == ["https://h.example/a"]


def test_entries_that_are_no_urls_are_counted() -> None:
    """A bad entry costs itself only, and somebody is told."""
    sitemap = read(
        "<urlset><url><loc>mailto:a@h.example</loc></url><url><loc></loc></url><url/>"
        f"<url><loc>/{'a' * 100_000}</loc></url>{LOCS}</urlset>"
    )
    assert urls(sitemap) == ["https://h.example/a", "https://h.example/b"]
    assert str(sitemap.notice).startswith("4 entries")
    text = "https://h.example/a\n" * 4000 + "oops\n"
    assert str(read(text).notice).startswith("1 lines")


@pytest.mark.parametrize(
    "end",
    ["", "<url><loc>/c", "<url><loc>/c?a=1&b=2</loc></url></urlset>", "</wrong></urlset>", "&nbsp;</urlset>", "\x00"],
)
def test_broken_xml_gives_what_came_before(end: str) -> None:
    """Where the XML breaks off, the reading stops with a notice, and nothing before it is lost."""
    sitemap = read(f"<urlset>{LOCS}{end}")
    assert urls(sitemap) == ["https://h.example/a", "https://h.example/b"]
    assert "2 URLs were read" in str(sitemap.notice)


@pytest.mark.parametrize("damage", [slice(None, -12), slice(None, -1000)])
def test_broken_gzip_gives_what_came_before(damage: slice) -> None:
    """A download that was cut keeps its beginning."""
    whole = "<urlset>" + "".join(f"<url><loc>/{hash(str(number))}</loc></url>" for number in range(2000)) + "</urlset>"
    sitemap = read(gzip.compress(whole.encode())[damage])
    assert len(sitemap.urls) > 1000
    assert "broken" in str(sitemap.notice)


def test_broken_gzip_of_text_is_noticed() -> None:
    """A list of URLs that was cut says so too."""
    whole = "".join(f"https://h.example/{hash(str(number))}\n" for number in range(2000))
    body = gzip.compress(whole.encode())[:-2000]
    assert "broken" in str(read(body).notice)


LAUGHS = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))


@pytest.mark.parametrize(
    "prolog",
    [
        f'<!DOCTYPE urlset [<!ENTITY l0 "ha">{LAUGHS}]>',
        f'<!DOCTYPE urlset [<!ENTITY l11 "{"ha" * 10_000}">]>',
        '<!DOCTYPE urlset [<!ENTITY l11 SYSTEM "file:///etc/passwd">]>',
        '<!DOCTYPE urlset [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x.dtd"> %p;]>',
        '<!DOCTYPE urlset SYSTEM "http://127.0.0.1:9/x.dtd">',
        "<!DOCTYPE urlset>",
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_are_refused(prolog: str, encoding: str) -> None:
    """Laughs, files and foreign declarations end in an error at once, in any encoding."""
    body = f'<?xml version="1.0"?>{prolog}<urlset><url><loc>/&l11;</loc></url></urlset>'.encode(encoding)
    began = process_time()
    assert looks_like_sitemap(body)
    with pytest.raises(SitemapError, match="document type declaration"):
        read_sitemap(body, BASE, max_bytes=10**6)
    assert process_time() - began < 0.5


@pytest.mark.parametrize("content", [b"<urlset>" + b" " * 30_000_000, b"https://h.example/a\n" * 1_500_000])
def test_decompression_bombs_are_stopped(content: bytes) -> None:
    """No more is decompressed than the limit allows."""
    body = gzip.compress(content)
    assert len(body) < 200_000
    with pytest.raises(SitemapError, match="larger than 1,000,000 bytes when it is decompressed"):
        read_sitemap(body, BASE, max_bytes=1_000_000)


def test_gzip_in_parts_is_read_whole() -> None:
    """Each part may end anywhere in the file, and there may be only so many."""
    parts = [f"<url><loc>/{number}{'x' * (number % 97)}</loc></url>" for number in range(5000)]
    body = b"".join(gzip.compress(part.encode()) for part in ["<urlset>", *parts, "</urlset>"])
    assert len(body) > 3 * 65_536
    sitemap = read(body)
    assert len(sitemap.urls) == 5000
    assert sitemap.notice is None
    began = process_time()
    endless = read(gzip.compress(b"<urlset>" + b" " * 65_536) + gzip.compress(b"") * 500_000)
    assert "too many parts" in str(endless.notice)
    assert process_time() - began < 3


def test_plain_size_is_limited_too() -> None:
    """A sitemap that is larger than allowed is not begun."""
    with pytest.raises(SitemapError, match="larger than 50 bytes"):
        read_sitemap(f"<urlset>{LOCS}</urlset>".encode(), BASE, max_bytes=50)


def test_deep_nesting_ends() -> None:
    """A million elements within each other are a broken sitemap, not a full memory."""
    sitemap = read(f"<urlset>{LOCS}" + "<a>" * 1_000_000)
    assert len(sitemap.urls) == 2
    assert "too deep" in str(sitemap.notice)


def test_sixty_thousand_urls() -> None:
    """A sitemap over the official size is read whole, in little time."""
    entry = (
        "<url><loc>https://h.example/docs/page-{}.html</loc><lastmod>2024-05-01</lastmod><priority>0.5</priority></url>"
    )
    body = gzip.compress(f'<urlset xmlns="{NAMESPACE}">{"".join(map(entry.format, range(60_000)))}</urlset>'.encode())
    began = process_time()
    sitemap = read(body)
    assert process_time() - began < 5  # 0.7 s on an idle machine
    assert len(sitemap.urls) == 60_000
    assert sitemap.urls[-1] == ("https://h.example/docs/page-59999.html", "2024-05-01")


@settings(deadline=None)
@given(
    st.one_of(
        st.binary(max_size=300),
        st.lists(
            st.sampled_from([*PIECES.split(" "), "\n", " "]),
            max_size=20,
        ).map(lambda pieces: "".join(pieces).encode()),
    )
)
def test_any_bytes_end_well(body: bytes) -> None:
    """Whatever comes, it is a sitemap with URLs, or an error that a person can read; and both agree on which."""
    for sent in (body, gzip.compress(body)):
        if looks_like_sitemap(sent):
            try:
                sitemap = read_sitemap(sent, BASE, max_bytes=10**6)
            except SitemapError as error:
                assert "document type" in str(error)  # noqa: PT017
            else:
                assert all(entry.url.startswith("http") for entry in sitemap.urls)
        else:
            with pytest.raises(SitemapError):
                read_sitemap(sent, BASE, max_bytes=10**6)

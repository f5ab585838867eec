"""From a crawled page to what search finds: its text, its anchors, what it says of itself, and linked documents."""

import io

from docx import Document

from tests.checkout import EXAMPLES
from tests.integration.stages import Stages, html

FILLING = "".join(
    f"<p>On the {day}th of the month the pier is swept and the stores are counted.</p>" for day in range(30)
)
GUIDE = f"""<!doctype html><html lang="en"><head><title>The gauge</title>
<meta name="description" content="How the gauge works."><meta name="author" content="A. Reader">
<meta property="article:published_time" content="2024-03-01T10:00:00Z">
<meta property="article:modified_time" content="2025-04-02"></head><body>
<nav><a href="/">Home</a><a href="/guide">Guide</a></nav>
<div id="cookie-banner">We use cookies to improve your experience.</div>
<main><h1>The gauge</h1><p>It floats in the basin and tells the level of the tide every minute of the day.</p>{FILLING}
<h2 id="batteries">Batteries</h2><p>The batteries last ninety hours, and then the keeper changes them.</p>{FILLING}
<pre><code class="language-python">read_gauge(port=7)</code></pre>
<h2>Without an id</h2><p>The zinc anode is renewed each spring, before the ice has left the outer basin.</p>{FILLING}
<table><tr><th>Port</th><th>Level</th></tr><tr><td>Outer</td><td>3.2</td></tr></table>
<p>See <a href="report.docx">the report</a>.</p></main>
<footer>Copyright of the harbour office.</footer></body></html>"""


def docx(text: str) -> bytes:
    document = Document()
    document.add_heading("Report", level=1)
    document.add_paragraph(text)
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def pdf() -> bytes:
    return (EXAMPLES / "library" / "reports" / "annual-review-2024.pdf").read_bytes()


def test_a_hit_carries_the_url_and_an_anchor_that_exists_on_the_page(stages: Stages) -> None:
    stages.web.page("/guide", GUIDE)
    stages.configure_site("/guide", tags=["harbour"])
    stages.run()
    hit = stages.search("how long do the batteries last", limit=1)[0]
    assert (hit.uri, hit.title, hit.anchor) == (stages.address("/guide"), "The gauge", "batteries")
    assert hit.heading_path[-1] == "Batteries"
    assert f'id="{hit.anchor}"' in GUIDE
    assert "ninety hours" in " ".join(hit.text for hit in stages.search("how long do the batteries last", limit=3))
    for hit in stages.search("gauge zinc anode level read_gauge", limit=20):
        assert hit.anchor is None or f'id="{hit.anchor}"' in GUIDE
    assert stages.found("read_gauge") == stages.found("anode") == {"guide"}
    assert stages.found("cookies") == stages.found("copyright") == set()


def test_a_document_knows_what_its_page_says_of_itself(stages: Stages) -> None:
    stages.web.page("/guide", GUIDE)
    stages.configure_site("/guide", tags=["harbour", "tide"])
    stages.run()
    document = stages.page("/guide")
    assert (document["kind"], document["media_type"], document["language"]) == ("page", "text/html", "en")
    assert document["tags"] == ["harbour", "tide"]
    assert document["metadata"]["description"] == "How the gauge works."
    assert document["metadata"]["author"] == "A. Reader"
    assert document["metadata"]["published"].startswith("2024-03-01")
    assert document["metadata"]["modified"].startswith("2025-04-02")
    chunks = stages.rows("SELECT xmin, * FROM chunk")
    stages.configure_site("/guide", tags=["port"])
    stages.run()
    assert stages.page("/guide")["tags"] == ["port"]
    assert stages.rows("SELECT xmin, * FROM chunk") == chunks


def test_a_page_in_another_language_is_searched_in_it(stages: Stages) -> None:
    text = "Die Batterien des Pegels halten neunzig Stunden, und die Häfen werden von ihm gewarnt, wenn Wasser steigt."
    stages.web.page("/de", html("Der Pegel", text).replace("<html>", '<html lang="de-AT">'))
    stages.web.page("/", html("Start", links=["/de"]))
    stages.configure_site()
    stages.run()
    assert stages.page("/de")["language"] == "de"
    assert stages.found("Hafen") == {"de"}


def test_linked_documents_are_documents_and_other_files_are_skipped_with_a_reason(stages: Stages) -> None:
    """A PDF is one whatever the server calls it; a name without an ending is decided by the content."""
    word = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    links = ["report.docx", "tide.pdf", "download?id=7", "notes.md", "table.csv", "photo", "film.mp4", "broken.docx"]
    stages.web.page("/docs/", html("Start", links=[*links, "/private/hidden.pdf"]))
    stages.web.page("/docs/report.docx", docx("The lantern is lit at dusk."), content_type=word)
    stages.web.page("/docs/tide.pdf", pdf(), content_type="application/octet-stream")
    stages.web.page("/docs/download*", docx("The zinc anode is renewed."), content_type=word)
    stages.web.page("/docs/notes.md", "# Notes\n\nThe keeper sleeps.", content_type="text/plain")
    stages.web.page("/docs/table.csv", "port,level\nouter,3.2\n", content_type="text/csv")
    stages.web.page("/docs/photo", b"\xff\xd8\xff\xe0" + bytes(500), content_type="image/jpeg")
    stages.web.page("/docs/film.mp4", bytes(500), content_type="video/mp4")
    stages.web.page("/docs/broken.docx", b"PK\x03\x04 this is no archive" + bytes(50), content_type=word)
    stages.web.page("/private/hidden.pdf", pdf(), content_type="application/pdf")
    stages.configure_site("/docs/", include=["/docs/"])
    reports = stages.run()
    taken = {"report.docx", "tide.pdf", "download?id=7", "notes.md", "table.csv"}
    ready = stages.rows("SELECT uri, kind, media_type FROM item WHERE state = 'ready'")
    assert {row["uri"].removeprefix(stages.address("/docs/")) for row in ready} == {*taken, ""}
    assert {row["kind"] for row in ready} == {"page"}
    assert stages.page("/docs/tide.pdf")["media_type"] == "application/pdf"
    assert stages.found("lantern") == {"report.docx"}
    assert stages.found("anode") == {"download?id=7"}
    problems = stages.problems()
    assert set(problems) == {"/docs/photo", "/docs/broken.docx"}
    assert "image" in problems["/docs/photo"]
    assert reports["documents"].failed == 1
    assert not {"/docs/film.mp4", "/private/hidden.pdf"} & set(stages.web.paths())
    assert stages.page("/docs/report.docx")["title"] == "Report"
    stages.assert_sound()


def test_what_a_page_asks_of_its_readers_is_respected(stages: Stages) -> None:
    """Noindex keeps it out and its links in; nofollow the other way round."""
    stages.web.page("/", html("Start", links=["/noindex", "/nofollow"]))
    stages.web.page("/noindex", html("No", links=["/a"], head='<meta name="robots" content="noindex">'))
    stages.web.page("/nofollow", html("Yes", links=["/b"], head='<meta name="robots" content="nofollow">'))
    stages.web.page("/a", html("A"))
    stages.web.page("/b", html("B"))
    stages.configure_site()
    stages.crawl()
    assert stages.pages() == {"/", "/nofollow", "/a"}
    stages.configure_site(politeness={"respect_robots": False})
    stages.crawl()
    stages.refresh()
    assert stages.pages() == {"/", "/nofollow", "/a", "/noindex", "/b"}


def test_a_page_that_a_header_forbids_to_index_is_no_document(stages: Stages) -> None:
    """X-Robots-Tag counts as a meta robots does."""
    stages.web.page("/", html("Start", links=["/a"]))
    stages.web.page("/a", html("A", "The barnacle line."), headers={"X-Robots-Tag": "noindex"})
    stages.configure_site()
    stages.run()
    assert stages.found("barnacle") == set()
    assert "asks not to be indexed" in stages.problems()["/a"]


def test_an_llms_full_txt_is_a_document_itself(stages: Stages) -> None:
    """It holds the pages one after the other; what it links to is not followed unless that is asked for."""
    text = "# Everything\n\nThe barnacle line marks high water. See [a](/a).\n\n- [b](/b)\n- [c](/c)\n"
    stages.web.page("/llms-full.txt", text, content_type="text/plain")
    stages.configure_site("/llms-full.txt")
    stages.run()
    assert stages.found("barnacle") == {"llms-full.txt"}
    assert set(stages.web.paths()) == {"/robots.txt", "/llms-full.txt"}


def test_an_llms_full_txt_that_forbids_to_be_indexed_is_none(stages: Stages) -> None:
    """What a header asks of robots counts for it as for a page."""
    text = "# Everything\n\nThe barnacle line marks high water.\n"
    stages.web.page("/llms-full.txt", text, content_type="text/plain", headers={"X-Robots-Tag": "noindex"})
    stages.configure_site("/llms-full.txt")
    stages.run()
    assert stages.found("barnacle") == set()
    assert "asks not to be indexed" in stages.problems()["/llms-full.txt"]

"""The stage `crawled_pages`: pages whose links to their own sections name the URL under which they were fetched."""

from itertools import count

from aiohttp import web

from sourcebook.model.document import blocks_of, content_hash
from tests.integration.stages import Stages

GUIDE = (
    '<title>Guide</title><main><h1 id="top">Guide</h1><ul><li><a href="#tides">Tides</a></li></ul>'
    '<h2 id="tides">Tides</h2><p>The barnacle line marks high water.</p>{}</main>'
)


def test_the_start_and_its_index_page_are_one_document(stages: Stages) -> None:
    """Though each has a table of contents with links to its own sections."""
    for path in ("/", "/index.html"):
        stages.web.page(path, GUIDE.format('<p><a href="/index.html">Home</a> <a href="/other">Other</a></p>'))
    stages.web.page("/other", GUIDE.format("<p>The limpet stays at home.</p>"))
    stages.configure_site()
    stages.run()
    assert stages.pages() == {"/", "/other"}
    assert stages.page("/")["metadata"]["also_at"] == [stages.address("/index.html")]
    assert len(stages.search("barnacle", mode="keyword")) == 2
    stages.assert_sound()


def test_a_session_id_in_the_query_is_a_trap_also_where_pages_have_a_table_of_contents(stages: Stages) -> None:
    """As many requests as without one."""
    requests = []
    for path, contents in (("/plain", ""), ("/toc", '<ul><li><a href="#tides">Tides</a></li></ul>')):
        number = count()
        text = f'<h1>Shop</h1>{contents}<h2 id="tides">Tides</h2><p>Welcome aboard.</p>'

        def page(_: web.BaseRequest, path: str = path, text: str = text, number: "count[int]" = number) -> str:
            links = "".join(f'<a href="{path}?visit={next(number)}">home</a> ' for _ in range(3))
            return f"<body><main>{text}</main><nav>{links}</nav></body>"

        stages.web.route(path, page)
        stages.configure_site(path, max_depth=1000, max_pages=300, politeness={"concurrency": 8})
        stages.crawl()
        requests.append(sum(asked.startswith(path) for asked in stages.web.paths()))
    plain, toc = requests
    assert plain < 250
    assert abs(toc - plain) <= 20, "visits side by side differ a little"


def test_an_update_from_hashes_with_the_own_url_embeds_nothing_again(stages: Stages) -> None:
    """The version before hashed the Markdown with its absolute links: pages are fetched once more, and that is all."""
    stages.web.page("/", GUIDE.format('<a href="/plain">Plain</a>'))
    stages.web.page("/plain", "<main><h1>Plain</h1><p>Nothing leads here.</p></main>")
    stages.configure_site()
    stages.run()
    before = {path: stages.page(path) for path in ("/", "/plain")}
    (row,) = stages.rows(
        "SELECT page.sha256, parsed.markdown, parsed.blocks, parsed.title FROM crawled_page page "
        "JOIN parsed_content parsed ON parsed.sha256 = page.sha256 AND parsed.parser = page.parser "
        "WHERE page.url = %(url)s",
        url=stages.address("/"),
    )
    old = content_hash(row["markdown"], blocks_of(row["blocks"]), row["title"])
    assert row["sha256"] != old
    columns = (
        "parser, markdown, blocks, title, page_count, language, metadata, content_hash, nothing_to_read, attachments"
    )
    copy = f"INSERT INTO parsed_content (sha256, {columns}) SELECT %(old)s, {columns} FROM parsed_content "
    for statement in (
        f"{copy} WHERE sha256 = %(new)s RETURNING 1",
        "UPDATE crawled_page SET sha256 = %(old)s, cleaner = 'cleaner/3' WHERE sha256 = %(new)s RETURNING 1",
        "UPDATE document SET content_sha256 = %(old)s, input_hash = %(old)s WHERE input_hash = %(new)s RETURNING 1",
        "DELETE FROM parsed_content WHERE sha256 = %(new)s RETURNING 1",
    ):
        assert stages.rows(statement, old=old, new=row["sha256"])
    stages.rows("UPDATE source SET next_crawl_at = now() RETURNING 1")
    reports = stages.run()
    assert reports["crawled_pages"].changed == 1
    assert reports["embeddings"].extra.get("computed", 0) == 0
    assert reports["chunks"].changed == 0
    after = {path: stages.page(path) for path in ("/", "/plain")}
    assert {path: page["version"] for path, page in after.items()} == {"/": 1, "/plain": 1}
    assert after["/"]["content_hash"] == before["/"]["content_hash"] == old
    stages.assert_sound()

"""Crawl of pages whose text comes from scripts, with `render: auto`."""

import json
from pathlib import Path
from random import Random

from benchmarks.corpora.html_site import START
from benchmarks.corpora.markdown_files import document, sentence
from benchmarks.harness.bench import Bench
from benchmarks.harness.crawl_stage import configure, crawl
from benchmarks.harness.report import Row, middle, say, spread
from benchmarks.harness.site_server import SiteServer
from benchmarks.parts.crawl import AtLeast
from sourcebook.web.browser.chromium import REMEDY, find_chromium

PAGES = 30
_CONCURRENCY = 4
_SHELL = """<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Handbook</title><script src="/app.js" defer></script></head>
<body><div id="app"></div><noscript>This page needs JavaScript.</noscript></body>
</html>
"""
_SCRIPT = """const number = location.pathname.match(/(\\d+)/)[1];
fetch(`/data/${number}.json`).then((answer) => answer.json()).then(({title, paragraphs}) => {
  document.title = title;
  const main = document.getElementById("app").appendChild(document.createElement("main"));
  main.appendChild(document.createElement("h1")).textContent = title;
  for (const text of paragraphs) main.appendChild(document.createElement("p")).textContent = text;
});
"""


def run(bench: Bench) -> list[Row]:
    """Crawl an application of thirty pages, the start of crawl4ai and of the browser included."""
    measure = f"render: auto, {PAGES} pages made by scripts"
    if find_chromium() is None:
        return [AtLeast(measure, None, "pages/s", 3, f"no Chromium was found: {REMEDY}")]
    texts = write_application(bench.folder / "application", PAGES)
    speeds, without_text, peaks = [], [], []
    with SiteServer(bench.folder / "application") as server:
        for _ in range(bench.options.repeat):
            library = bench.library("render")
            with library.database() as database:
                settings = {
                    "politeness": {"requests_per_second": "unlimited", "concurrency": _CONCURRENCY},
                    "render": "auto",
                }
                configure(library, database, f"{server.url}{START}", **settings)
                done = crawl(library)
                with database.connection() as connection:
                    kept = dict(
                        connection.execute(
                            "SELECT url, markdown FROM crawled_page JOIN parsed_content USING (sha256, parser) "
                            "WHERE rendered"
                        ).fetchall()
                    )
            bench.drop(library)
            without_text.append(sum(text not in kept.get(f"{server.url}{path}", "") for path, text in texts.items()))
            speeds.append((PAGES - without_text[-1]) / done.seconds)
            peaks.append(float(done.measurement.peak_tree))
            say(f"  {done.seconds:.1f} s, {speeds[-1]:.1f} pages/s")
    return [
        AtLeast(measure, middle(speeds), "pages/s", 3, spread(speeds, "pages/s")),
        Row("render: auto, pages without the text their scripts make", max(without_text), "pages", 0),
        Row(
            "render: auto, peak memory",
            max(peaks),
            "bytes",
            note="crawler and Chromium; shared pages count for each process",
        ),
    ]


def write_application(folder: Path, pages: int) -> dict[str, str]:
    """Write a page of links and pages that are empty until their script runs; return path and a text of each."""
    (folder / "data").mkdir(parents=True)
    (folder / "app.js").write_text(_SCRIPT, encoding="utf-8")
    texts = {}
    for number in range(pages):
        random = Random(f"application/{number}")
        title, _ = document(number)
        paragraphs = [" ".join(sentence(random) for _ in range(5)) for _ in range(12)]
        data = json.dumps({"title": title, "paragraphs": paragraphs})
        (folder / "data" / f"{number}.json").write_text(data, encoding="utf-8")
        (folder / f"page-{number}.html").write_text(_SHELL, encoding="utf-8")
        texts[f"page-{number}.html"] = sentence(Random(f"application/{number}"))
    links = "\n".join(f'<li><a href="{path}">{sentence(Random(path))}</a></li>' for path in texts)
    page = f"<!DOCTYPE html>\n<html lang='en'><title>Handbook</title><h1>Handbook</h1>\n<ul>\n{links}\n</ul></html>\n"
    (folder / START).write_text(page, encoding="utf-8")
    return texts

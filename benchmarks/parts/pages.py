"""Every page in Chromium, at 1280 and 390 px: first contentful paint, bytes of scripts and of everything."""

from collections.abc import Iterator
from shutil import copytree, ignore_patterns
from typing import Any, Final

from playwright.sync_api import Browser, sync_playwright

from benchmarks.harness.bench import Bench
from benchmarks.harness.library import PROJECT, Library
from benchmarks.harness.report import Row, middle, say
from benchmarks.parts.server import serving
from sourcebook.operations.access_keys import create_key
from sourcebook.web.browser.chromium import find_chromium

_LEFT_OUT: Final = ("*.m4a", "*.png", "well-card-1961.pdf")
"""Files of the example library that are heard or read from pictures, which takes minutes."""
_WIDTHS: Final = (1280, 390)
_MOST_SCRIPT: Final = 60.0
"""Kilobytes of the scripts of a page."""
_COLLECTION: Final = "tide-station"
_MEASURED: Final = """async () => {
  const paint = await new Promise((found) => new PerformanceObserver((seen) => {
    seen.getEntriesByName("first-contentful-paint").forEach((each) => found(each.startTime));
  }).observe({ type: "paint", buffered: true }));
  const all = performance.getEntriesByType("resource");
  const [page] = performance.getEntriesByType("navigation");
  const sum = (entries) => entries.reduce((bytes, each) => bytes + each.encodedBodySize, 0);
  const scripts = all.filter((each) => each.initiatorType === "script");
  return { paint, script: sum(scripts), total: sum(all) + page.encodedBodySize };
}"""


def run(bench: Bench) -> list[Row]:
    """Open each page in a browser that knows nothing of it, `--repeat` times in each width."""
    program = find_chromium()
    if program is None:
        return [Row("pages in a browser", None, note="no Chromium is installed here")]
    library = bench.library("pages", collections=(_COLLECTION,))
    folder = library.files_of(_COLLECTION) / "library"
    copytree(PROJECT / "examples" / "library", folder, ignore=ignore_patterns(*_LEFT_OUT))
    library.ingest()
    rows = []
    with serving(library) as (port, _, _), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--disable-gpu"])
        paints, scripts, totals = [], [], []
        for path in _pages(library):
            for width in _WIDTHS:
                found = [_opened(browser, f"http://127.0.0.1:{port}{path}", width) for _ in range(bench.options.repeat)]
                paint, shown = middle([float(each["paint"]) for each in found]), path.partition("#")[0]
                script, total = (max(int(each[name]) for each in found) for name in ("script", "total"))
                say(f"  {shown:45} {width:5} px  paint {paint:6.0f} ms  script {script:7,}  all {total:8,} bytes")
                paints.append((paint, shown))
                scripts.append((script, shown))
                totals.append((total, shown))
        browser.close()
    note = f"{max(paints)[1]}; median of all {middle([paint for paint, _ in paints]):.0f} ms"
    rows.append(Row("first contentful paint, the slowest page", max(paints)[0], "ms", None, note))
    rows.append(Row("scripts of a page, the most", max(scripts)[0] / 1000, "kB", _MOST_SCRIPT, max(scripts)[1]))
    rows.append(Row("all bytes of a page, the most", max(totals)[0] / 1000, "kB", None, max(totals)[1]))
    bench.drop(library)
    return rows


def _pages(library: Library) -> Iterator[str]:
    """Yield the address of every page."""
    yield from ("/", "/?q=batteries", "/ask", "/ask?q=batteries", "/ask/conversations", "/home", "/documents")
    with library.knowledge() as knowledge:
        documents = [each for each in knowledge.documents(_COLLECTION) if each.document_id is not None]
        work = knowledge.request_work(_COLLECTION)
        frame, text = create_key(knowledge, "frame", origins=["https://docs.example.com"])
    handbook = next(each for each in documents if each.uri.endswith("station-handbook.md"))
    review = next(each for each in documents if each.uri.endswith("annual-review-2024.pdf"))
    yield f"/documents/{handbook.document_id}"
    yield f"/documents/{review.document_id}/pages/1"
    yield f"/diff?first={handbook.document_id}&second={review.document_id}"
    for name in ("", "/settings", "/compare", "/upload"):
        yield f"/collections/{_COLLECTION}{name}"
    yield from ("/collections", "/new-collection", "/upload", "/work", "/usage", "/usage/calls", "/keys", "/sessions")
    yield from (f"/work/{work.id}", "/sign-in", f"/embed?key={frame.id}#{text}")


def _opened(browser: Browser, address: str, width: int) -> dict[str, Any]:
    """Return what a page cost."""
    page = browser.new_page(viewport={"width": width, "height": 860})
    try:
        answer = page.goto(address, wait_until="load")
        assert answer is not None
        assert answer.status < 400, (address, answer.status)
        measured: dict[str, Any] = page.evaluate(_MEASURED)
        return measured
    finally:
        page.close()

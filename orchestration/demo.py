"""`make demo`: ingests the example library and its web site, and searches them."""

import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

from orchestration.demo_site import CONFIGURATION, EXAMPLES, port_taken, serve, site_url

SEARCHES = (
    "How many hours did the station last on batteries when the island's electricity failed?",
    "How large a misclosure may a levelling loop have before it must be repeated?",
    "BH-0403",
    "Where was the storm board hidden during the war?",
    "What did the school leave behind?",
    "What lay in the inlet of the tide well in 1961?",
)


def main() -> int:
    """Run the demo; return the exit code."""
    url = site_url()
    started = time.perf_counter()
    with ExitStack() as stack:
        try:
            stack.enter_context(serve(EXAMPLES / "site", urlsplit(url).port or 80))
        except OSError as error:
            print(port_taken(url, error), file=sys.stderr)
            return 1
        print("The example library: the papers of a tide-gauge station, in a dozen formats, a scan, a voice note")
        print("and an e-mail (examples/library/); and its web site (examples/site/), which is at")
        print(f"{url} for as long as this runs.\n", flush=True)
        code = _ingest()
    if code:
        return code
    print(f"\nUp to date after {time.perf_counter() - started:.1f} s. {len(SEARCHES)} searches:\n")
    for hit_of in _search(SEARCHES, CONFIGURATION):
        print(hit_of)
    print("The same from Python:   from sourcebook import KnowledgeBase")
    print(f"The pipeline in Dagster: .venv/bin/sourcebook --config {CONFIGURATION.relative_to(EXAMPLES.parent)} up")
    return 0


def _ingest() -> int:
    """Run `sourcebook ingest` and return its exit code."""
    command = [str(Path(sys.executable).with_name("sourcebook")), "--config", str(CONFIGURATION), "ingest"]
    return subprocess.run(command, check=False).returncode


def _search(queries: tuple[str, ...], configuration: Path) -> list[str]:
    """Return the best result of each query as text; the model is loaded once."""
    from sourcebook import KnowledgeBase
    from sourcebook.config.loading import sourcebook_home
    from sourcebook.model.place import media_fragment

    found = []
    with KnowledgeBase.connect(home=sourcebook_home(configuration)) as knowledge:
        for query in queries:
            hits = knowledge.search(query, limit=1)
            if not hits:
                found.append(f"? {query}\n  nothing was found\n")
                continue
            hit = hits[0]
            text = " ".join(hit.snippet.split())
            fragment = hit.anchor or media_fragment(hit.start_seconds, hit.end_seconds)
            place = f", page {hit.page}" if hit.page else f", {hit.time_span}" if hit.time_span else ""
            lines = [
                f"{hit.title}{place}",
                " › ".join(hit.heading_path),
                text,
                f"{hit.uri}#{fragment}" if fragment else hit.uri,
            ]
            found.append(f"? {query}\n" + "".join(f"  {line}\n" for line in lines if line))
    return found


if __name__ == "__main__":
    sys.exit(main())

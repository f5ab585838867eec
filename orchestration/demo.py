"""`make demo`: take the example library in and search it."""

import subprocess
import sys
import time
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
SEARCHES = (
    "How many hours did the station last on batteries when the island's electricity failed?",
    "How large a misclosure may a levelling loop have before it must be repeated?",
    "BH-0403",
)


def main() -> int:
    """Run the demo; return the exit code."""
    configuration = EXAMPLES / "sourcebook.yaml"
    sourcebook = [str(Path(sys.executable).with_name("sourcebook")), "--config", str(configuration)]
    started = time.perf_counter()
    print("The example library: the papers of a tide-gauge station, in a dozen formats (examples/library/).\n")
    ingested = subprocess.run([*sourcebook, "ingest"], check=False)
    if ingested.returncode:
        return ingested.returncode
    print(f"\nUp to date after {time.perf_counter() - started:.1f} s. Three searches:\n")
    for hit_of in _search(SEARCHES, configuration):
        print(hit_of)
    print("The same from Python:   from sourcebook import KnowledgeBase")
    print(f"The pipeline in Dagster: .venv/bin/sourcebook --config {configuration.relative_to(EXAMPLES.parent)} up")
    return 0


def _search(queries: tuple[str, ...], configuration: Path) -> list[str]:
    """Return the best hit of each query as text, from one process: the model is loaded once."""
    from sourcebook import KnowledgeBase
    from sourcebook.config import sourcebook_home

    found = []
    with KnowledgeBase.connect(home=sourcebook_home(configuration)) as knowledge:
        for query in queries:
            hits = knowledge.search(query, limit=1)
            if not hits:
                found.append(f"? {query}\n  nothing was found\n")
                continue
            hit = hits[0]
            page = f", page {hit.page}" if hit.page else ""
            text = " ".join(hit.text.split())
            found.append(
                f"? {query}\n  {hit.title}{page}\n  {' › '.join(hit.heading_path)}\n"
                f"  {text[:220]}{'…' if len(text) > 220 else ''}\n  {hit.uri}{'#' + hit.anchor if hit.anchor else ''}\n"
            )
    return found


if __name__ == "__main__":
    sys.exit(main())

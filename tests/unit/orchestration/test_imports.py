"""The modules that an ingest with nothing to do, the code location and a search import: most of the time of each."""

import subprocess
import sys

import pytest

from tests.checkout import CHECKOUT


@pytest.mark.parametrize(
    ("module", "needless"),
    [
        (
            "orchestration.ingest",
            """
            dagster numpy openai wcmatch yarl multiprocessing orchestration.direct_ingest orchestration.shard_ingest
            sourcebook.chunking.chunk sourcebook.chunking.chunker sourcebook.embedding.model sourcebook.search
            sourcebook.embedding.multilingual_e5 sourcebook.evaluation sourcebook.redaction.redactor
            sourcebook.stages.relations.update sourcebook.stages.transcripts.rows
            """,
        ),
        (
            "orchestration.definitions",
            """
            numpy openai markdown_it sourcebook.answering.question sourcebook.chunking.chunk
            sourcebook.evaluation sourcebook.knowledge_base sourcebook.parsing.parse sourcebook.stages.chunks
            sourcebook.stages.crawled_pages sourcebook.stages.documents.update sourcebook.web.crawl
            """,
        ),
        ("sourcebook.search.run", "sourcebook.config.collection sourcebook.config.sites sourcebook.chunking.chunk"),
    ],
)
def test_what_begins_often_imports_what_it_needs(module: str, needless: str) -> None:
    """What only a run needs is imported where a run begins, and settings that no search needs by no search."""
    code = f"import sys, {module}\nprint([name for name in {needless.split()} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"

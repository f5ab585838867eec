"""The client needs no engine: no driver of PostgreSQL, numpy or parser is imported, whatever it is asked."""

import json
import subprocess
import sys

ENGINE = ("psycopg", "pgvector", "numpy", "docling", "lxml", "onnxruntime", "torch", "typer", "fastapi", "dagster")
PROGRAM = f"""
import json, sys
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.errors import DatabaseUnavailableError
with RemoteKnowledgeBase("http://127.0.0.1:9") as knowledge:
    for ask in (
        lambda: knowledge.search("tide", filters={{"tags": ["policy"]}}, rerank="model"),
        lambda: knowledge.context("tide"),
        lambda: knowledge.documents(limit=3),
        lambda: knowledge.remove_document("tides.md"),
        lambda: knowledge.ask("tide"),
        lambda: knowledge.request_work("handbook"),
    ):
        try:
            ask()
        except DatabaseUnavailableError:
            pass
print()
print(json.dumps([name for name in {ENGINE!r} if name in sys.modules]))
"""


def test_nothing_of_the_engine_is_imported() -> None:
    found = subprocess.check_output([sys.executable, "-c", PROGRAM], text=True, timeout=120)
    assert json.loads(found.splitlines()[-1]) == []

"""How long a new process takes to its first answer: Python, import, connection, model, one hybrid search."""

import subprocess
import sys
import time

from benchmarks.library import Library
from benchmarks.report import Row, middle, spread

_PROCESSES = 5
_PROGRAM = """
import sys
from sourcebook import KnowledgeBase
with KnowledgeBase.connect(home=sys.argv[1]) as knowledge:
    print(len(knowledge.search(sys.argv[2], sys.argv[3], literal=True)), flush=True)
"""


def first_answer(library: Library, collection: str, questions: list[str]) -> Row:
    """Start a new process for each answer, while the server runs."""
    seconds = []
    for question in questions[:_PROCESSES]:
        started = time.perf_counter()
        with subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(library.home), question, collection],
            env=library.environment,
            stdout=subprocess.PIPE,
            text=True,
        ) as child:
            assert child.stdout is not None
            found = child.stdout.readline()
            seconds.append(time.perf_counter() - started)
        assert found.strip().isdigit(), "the child found nothing"
    return Row("first answer of a new process, import and connection included", middle(seconds), "s", 1.5,
               spread(seconds, "s"))  # fmt: skip

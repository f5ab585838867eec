"""The modules that an ingest with nothing to do imports: they are most of its time."""

import subprocess
import sys

from tests.checkout import CHECKOUT


def test_a_look_at_the_ledger_imports_no_evaluation_search_or_chunker() -> None:
    """What only a run needs is imported where a run begins."""
    code = (
        "import sys, orchestration.ingest\n"
        "needless = ('sourcebook.evaluation', 'sourcebook.search', 'sourcebook.chunking.chunker', 'yarl', 'dagster',\n"
        "    'sourcebook.embedding.multilingual_e5', 'numpy', 'openai')\n"
        "print([name for name in needless if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"

"""Folders that tests read: the checkout, its documents, and the shared data where a machine has it."""

from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
"""The root of the repository."""
EXAMPLES = CHECKOUT / "examples"
"""The documents, the recording and the web site of the demo."""
DOCS = CHECKOUT / "docs"
"""The documentation."""
SHARED_DATA = CHECKOUT.parent / "shared" / "data"
"""Documents and recordings beside the checkout. The folder may be absent; a test that needs it skips then."""

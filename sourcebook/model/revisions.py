"""Revisions of code that the ledger records beside its results; count one up when equal input may give another result.

The revisions of parsers are in `sourcebook/parsing/registry.py`.
"""

from typing import Final

CLEANER: Final = 12
"""Revision of the cleaner of web pages."""
PROBE: Final = 2
"""Revision of the probe of recordings."""
DECODING: Final = 1
"""Revision of the decoding of speech, its thresholds included."""
CHUNKER: Final = 9
"""Revision of the chunker."""

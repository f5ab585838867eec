"""Article 1 of the Universal Declaration of Human Rights in 32 languages: running text of many scripts.

The United Nations' translations; each has two or three sentences.
"""

from pathlib import Path
from typing import Final

_FILE: Final = Path(__file__).with_name("declaration.tsv")
_LINES: Final = _FILE.read_text(encoding="utf-8").splitlines()
DECLARATION: Final[dict[str, str]] = dict(line.split("\t") for line in _LINES)
"""Text by ISO 639-1 code."""

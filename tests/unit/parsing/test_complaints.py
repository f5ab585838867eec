"""Complaints in the trackers of the best-known readers: each a small file, with what its text must and must not hold.

The right values were written down before the first run; 36 of the first 50 were right then. The complaints are those of
pandoc, Asciidoctor, libical, ical4j, ical.js, vcardjs, nbconvert and LightRAG.
"""

from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped] # its stubs are a package of their own

from sourcebook.parsing.media_type import HEAD_BYTES, detect_media_type
from sourcebook.parsing.parse import parse

_CASES: list[dict[str, Any]] = yaml.safe_load(Path(__file__).with_name("complaints.yaml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("case", _CASES, ids=[case["complaint"] for case in _CASES])
def test_a_complaint_against_another_reader(case: dict[str, Any]) -> None:
    """What is there is read, and marks of the format are no text."""
    content = case["content"] if isinstance(case["content"], bytes) else case["content"].encode()
    document = parse(content, name=case["name"], media_type=detect_media_type(case["name"], content[:HEAD_BYTES]))
    text = f"{document.title}\n{document.markdown}"
    assert [words for words in case["held"] if words not in text] == [], text
    assert [words for words in case["missing"] if words in text] == [], text

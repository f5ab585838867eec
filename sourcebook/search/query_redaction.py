"""Redaction of queries: addresses, long numbers and keys do not enter the query log."""

import re
from typing import Final

MOST_CHARACTERS: Final = 1_000
"""Characters of a query that the log keeps."""
_REPLACED: Final = (
    (re.compile(r"(\b[a-z][a-z0-9+.-]{0,20}://)[^\s/@]+@", re.IGNORECASE), r"\1[secret]@"),
    (re.compile(r"[^\s@<>()\[\]/\"',;:]{1,64}@[\w-]+(?:\.[\w-]+)+"), "[e-mail]"),
    (
        re.compile(
            r"\b(password|passwd|pwd|passphrase|secret|token|api[ _-]?key|access[ _-]?key|authorization)"
            r"(\s*[:=]\s*)(?:(?:basic|bearer)\s+)?(?:\"[^\"]{0,200}\"|'[^']{0,200}'|\S+)",
            re.IGNORECASE,
        ),
        r"\1\2[secret]",
    ),
    (re.compile(r"\b(bearer|basic)\s+[\w.~+/-]{8,}=*", re.IGNORECASE), r"\1 [secret]"),
    (re.compile(r"\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?"), "[secret]"),
    (
        re.compile(
            r"\b(?:sk|pk|rk)[-_][\w-]{16,}|\b(?:gh[oprsu]|hf|npm|glpat|xox[abprs])[-_][\w-]{10,}"
            r"|\bgithub_pat_\w{10,}|\b(?:AKIA|ASIA)[A-Z0-9]{12,}|\bAIza[\w-]{30,}"
        ),
        "[secret]",
    ),
    (re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE), "[secret]"),
    (re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){3,8}(?: ?[A-Z0-9]{1,3})?\b"), "[number]"),
    (re.compile(r"(?<![A-Za-z0-9])(?=[A-Za-z]*\d)(?=\d*[A-Za-z])[A-Za-z0-9]{20,}(?![A-Za-z0-9])"), "[secret]"),
    (re.compile(r"(?<!\d)\+?\(?\d(?:[ ()./-]{0,2}\d){6,}"), "[number]"),
)
"""Patterns in the order in which they are replaced: URLs before addresses, keys before numbers.

The patterns of keys are the prefixes that their issuers document, and runs of at least 20 letters and digits.
"""


def redacted(query: str) -> str:
    """Return a query as the log keeps it: one line, at most 1,000 characters, without what may identify or open.

    Replaced are e-mail addresses, logins in URLs, values after words such as `password:`, keys and tokens by their
    form, and numbers of seven digits and more with blanks, dots, dashes, slashes and brackets between them.
    """
    text = " ".join(query.split())
    for pattern, replacement in _REPLACED:
        text = pattern.sub(replacement, text)
    return text[:MOST_CHARACTERS]

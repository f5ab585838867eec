"""Code as a block of Markdown."""

import re

_BACKTICKS = re.compile("`{3,}")


def code_fence(code: str, language: str = "") -> str:
    """Return code between fences longer than any in it; "" where there is only white space."""
    if not code.strip():
        return ""
    fence = "`" * (max(map(len, _BACKTICKS.findall(code)), default=2) + 1)
    return f"{fence}{' '.join(language.split())}\n{code}\n{fence}"

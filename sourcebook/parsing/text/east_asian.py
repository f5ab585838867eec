"""Letters of Chinese, Japanese and Korean."""

import re

EAST_ASIAN = re.compile(r"[\u1100-\u11ff\u2e80-\u2fdf\u3005-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff]")


def is_east_asian(text: str) -> bool:
    """Tell whether a text has letters of Chinese, Japanese or Korean."""
    return EAST_ASIAN.search(text) is not None

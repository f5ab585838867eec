"""URLs of stores that fsspec opens: what a password in them is, and how messages show them."""

import re
from typing import Final

_USER: Final = re.compile(r"(?<=://)[^/@\s]*:[^/@\s]*@")
_SIGNED: Final = re.compile(r"(?i)((?:sig|signature|token|secret|password|key|x-amz-[a-z-]+)=)[^&\s\"']+")
"""Parameters of signed URLs."""


def has_password(url: str) -> bool:
    """Return whether a URL, or one of the URLs chained in it, has a password before its host."""
    return _USER.search(url) is not None


def shown_store(text: str) -> str:
    """Return a URL, or a text with URLs, as messages show it: without passwords and signatures."""
    return _SIGNED.sub(r"\1***", _USER.sub("", text))

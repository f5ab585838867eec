"""Glyphs that Unicode has as characters of their own: ligatures, and the joined forms of Arabic and Hebrew letters."""

import re
from unicodedata import normalize

_FORMS = re.compile("[\ufb00-\ufb06\ufb1d-\ufb28\ufb2a-\ufdfb\ufe70-\ufefc]")
"""Presentation forms of Latin, Hebrew and Arabic; U+FB29 is a sign of mathematics."""


def as_letters(text: str) -> str:
    """Return the text with the letters in place of their presentation forms, as people type and search them."""
    # A mark without a letter has a space before it in its compatibility form.
    return _FORMS.sub(lambda form: normalize("NFKC", form[0]).lstrip(), text)

"""The header of Python Enhancement Proposals, as the title and the fields of any other document."""

import re
from email import message_from_string
from email.policy import compat32

_HEADER = re.compile(r"\s*(PEP:[ \t]*\S.*?\n)[ \t]*\n", re.DOTALL)
_LONGEST_HEADER = 20_000
"""Characters of the header."""
_SIGN = re.compile(r"([*`|\\]|_(?!\w))")


def with_plain_header(text: str) -> str:
    """Return the text of a proposal with its header as a title and a field list; any other text unchanged."""
    found = _HEADER.match(text[:_LONGEST_HEADER])
    if found is None:
        return text
    fields = message_from_string(found[1], policy=compat32).items()
    values = {name: " ".join(str(value).split()) for name, value in fields}
    if "Title" not in values:
        return text
    title = f"PEP {values['PEP']} – {values['Title']}"
    rule = "~" * (2 * len(title))  # over and below the title, as wide as its widest letters
    lines = [rule, _escaped(title), rule, ""]
    lines += [f":{name}: {_escaped(value)}" for name, value in values.items() if name not in {"PEP", "Title"} and value]
    return "\n".join([*lines, "", text[found.end() :]])


def _escaped(text: str) -> str:
    return _SIGN.sub(r"\\\1", text)

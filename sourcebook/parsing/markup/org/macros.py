"""Macros and inline code of Org, replaced in the lines of a file before these are read."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence

_DEFINITION = re.compile(r"[ \t]*#\+macro:[ \t]+([\w-]{1,100})[ \t]+(.*)", re.IGNORECASE)
_REFERENCE = re.compile(r"\{\{\{([A-Za-z][\w-]{0,100})(?:\((.{0,2000}?)\))?\}\}\}")
_COMMA = re.compile(r"(?<!\\),")
_PARAMETER = re.compile(r"\$(\d)")
_CODE = re.compile(r"(?<![\w-])src_[\w-]{1,100}(?:\[[^\]\n]{0,500}\])?\{([^{}~\n]{1,1000})\}")
_VERBATIM = re.compile(r"[ \t]*(?:#\+(begin|end)_(?:src|example|export)\b|:(?: |$)|#\+macro:)", re.IGNORECASE)
_BUDGET = 1_000_000
"""Characters that macros may add to a document, which bounds its growth."""


def with_macros(lines: Sequence[str], keywords: Mapping[str, str]) -> Sequence[str]:
    """Replace macros by their text, `{{{results(…)}}}` by the result, and `src_python{…}` by its code.

    Args:
        lines: the lines of a file; code and examples stay as they are, as do macros that the file does not define.
        keywords: the keywords of the file, by their names in lower case.
    """
    if not any("{{{" in line or "src_" in line for line in lines):
        return lines
    macros = _Macros({found[1].lower(): found[2] for line in lines if (found := _DEFINITION.fullmatch(line))}, keywords)
    replaced = []
    is_verbatim = False
    for line in lines:
        if mark := _VERBATIM.match(line):
            is_verbatim = is_verbatim if mark[1] is None else mark[1].lower() == "begin"
        replaced.append(line if mark or is_verbatim else _CODE.sub(r"~\1~", _REFERENCE.sub(macros.text, line)))
    return replaced


class _Macros:
    def __init__(self, defined: Mapping[str, str], keywords: Mapping[str, str]) -> None:
        known = {name: keywords[name] for name in ("title", "author", "date", "email") if keywords.get(name)}
        self._texts = {"results": "$1", **known, **defined}
        self._counts: Counter[str] = Counter()
        self._left = _BUDGET

    def text(self, reference: re.Match[str]) -> str:
        """Return the text of a macro; one that is unknown, or a program in Lisp, stays as it is written."""
        name, written = reference[1].lower(), reference[2] or ""
        if name == "n":
            self._counts[written] += 1
            return str(self._counts[written])
        body = self._texts.get(name)
        if body is None or body.startswith("(eval"):
            return reference[0]
        values = [written, *(value.replace("\\,", ",").strip() for value in _COMMA.split(written))]
        values = [written, written.replace("\\,", ",")] if name == "results" else values
        text = _PARAMETER.sub(lambda found: "".join(values[int(found[1]) : int(found[1]) + 1]), body)
        self._left -= len(text)
        return text if self._left > 0 else reference[0]

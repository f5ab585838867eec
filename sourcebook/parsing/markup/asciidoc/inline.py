"""Inline markup of AsciiDoc as Markdown."""

import re

from sourcebook.parsing.text.raised_text import LEVEL, LOWERED, RAISED, without_marks

_CODE = re.compile(r"(?<![`\w])`{1,2}\+?([^`\n]{1,1000}?)\+?`{1,2}(?![`\w])")
_QUOTED = re.compile(r'"`([^`\n]{1,1000})`"')
_QUOTED_ONCE = re.compile(r"'`([^`\n]{1,1000})`'")
_MARKED = re.compile(r"[\[\]*_#~+{}<>()`\"'^]")
_BUDGET = 1_000_000
"""Characters that references to attributes may add to a document, which bounds its growth."""
_LONGEST_VALUE = 2000
"""Characters of an attribute's value."""
_REFERENCE = re.compile(
    r"\\?\{(?:(?P<kind>counter2?|set):(?P<set>[\w-]{1,100})!?(?::(?P<to>[^{}\n]{0,200}))?|(?P<name>[\w-]{1,100}))\}"
)
_CHARACTERS = {
    "amp": "&", "lt": "<", "gt": ">", "nbsp": " ", "sp": " ", "empty": "", "blank": "", "plus": "+", "apos": "'",
    "quot": '"', "lsquo": "‘", "rsquo": "’", "ldquo": "“", "rdquo": "”", "deg": "°", "asterisk": "*", "tilde": "~",
    "caret": "^", "backtick": "`", "vbar": "|", "startsb": "[", "endsb": "]", "two-colons": "::", "cpp": "C++",
}  # fmt: skip
_URL = r"(?:https?|ftp|mailto|irc):[^\s\[\]<>]{1,500}"
_REPLACED = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r"\[\[[^\[\]\n]{1,200}\]\]|anchor:[^\s\[\]]{1,200}\[[^\]\n]{0,200}\]", ""),
        (r"\({3}[^()\n]{1,500}\){3}|indexterm:\[[^\]\n]{0,500}\]", ""),
        (r"\({2}([^()\n]{1,500})\){2}|indexterm2:\[([^\]\n]{0,500})\]", r"\1\2"),
        (r" ?footnote(?:ref)?:[\w-]{0,100}\[((?:[^\]\n\\]|\\.){1,2000})\]", r" (\1)"),
        (r"<<[^<>,\n]{1,300},\s*([^<>\n]{1,500})>>", r"\1"),
        (r"<<#?([^<>,\n]{1,300})>>", r"\1"),
        (r"xref:[^\s\[\]]{1,500}\[([^\]\n]{1,500})\]", r"\1"),
        (r"xref:([^\s\[\]]{1,500})\[\]", r"\1"),
        (rf"(?:link:)?({_URL})\[\]", r"<\1>"),
        (rf"(?:link:)?({_URL})\[([^\]\n]{{1,500}}?)(?:,[^\]\n]{{0,200}}|\^)?\]", r"[\2](\1)"),
        (r"link:[^\s\[\]]{1,1000}\[([^\]\n]{1,500}?)\^?\]", r"\1"),
        (r"image:[^\s\[\]:][^\s\[\]]{0,1000}\[\"?([^\],\n\"]{0,500})[^\]\n]{0,500}\]", r"\1"),
        (r"menu:([^\[\]\n]{1,200})\[([^\]\n]{0,200})\]", r"\1 > \2"),
        (r"(?:kbd|btn|pass|icon):[a-z,]{0,40}\[([^\]\n]{0,500})\]", r"\1"),
        (r"(?:stem|latexmath|asciimath):\[((?:[^\]\n\\]|\\.){1,1000})\]", r"$\1$"),
        (r"\[[.\w#%,= -]{1,200}\](?=[#*_])", ""),
        (r"(?<![\w#&])#{1,2}([^\s#](?:[^#\n]{0,500}[^\s#])?)#{1,2}(?![\w#])", r"\1"),
        (r"(?<![\w*\\])\*([^\s*](?:[^*\n]{0,500}[^\s*])?)\*(?![\w*])", r"**\1**"),
        (r"__([^\s_][^_\n]{0,500})__", r"*\1*"),
        (r"~([^~\s]{1,50})~", rf"{LOWERED}\1{LEVEL}"),
        (r"\^([^^\s]{1,50})\^", rf"{RAISED}\1{LEVEL}"),
        (r"(?<![\w+])\+{1,3}([^\s+](?:[^+\n]{0,500}[^\s+])?)\+{1,3}(?![\w+])", r"\1"),
        (r"[ ]\+$", "  "),
    )
)


class Inline:
    """Converter of inline markup, which holds the document's attributes."""

    def __init__(self) -> None:
        self._attributes = dict(_CHARACTERS)
        self._left = _BUDGET

    def define(self, name: str, value: str) -> str:
        """Store an attribute and return its value, in which references are replaced."""
        value = self.substituted(value)[:_LONGEST_VALUE]
        self._attributes[name.lower()] = value
        return value

    def substituted(self, text: str) -> str:
        """Replace each reference `{name}` by the attribute's value, and count; an undefined reference stays."""
        return _REFERENCE.sub(self._value, text) if "{" in text else text

    def markdown(self, text: str) -> str:
        """Convert a line or paragraph; inline code stays unchanged."""
        if not _MARKED.search(text):
            return text
        text = _QUOTED_ONCE.sub(r"‘\1’", _QUOTED.sub(r"“\1”", text))
        pieces: list[str] = []
        end = 0
        for code in _CODE.finditer(text):
            pieces += [self._formatted(text[end : code.start()]), f"`{self.substituted(code[1])}`"]
            end = code.end()
        pieces.append(self._formatted(text[end:]))
        return "".join(pieces)

    def _formatted(self, text: str) -> str:
        text = self.substituted(text)
        for pattern, replacement in _REPLACED:
            text = pattern.sub(replacement, text)
        return without_marks(text)

    def _value(self, reference: re.Match[str]) -> str:
        name = (reference["name"] or reference["set"]).lower()
        value = self._attributes.get(name)
        if reference[0].startswith("\\"):
            return reference[0][1:]
        if kind := reference["kind"]:
            value = reference["to"] or "" if kind == "set" else _next(value, reference["to"] or "1")
            self._attributes[name] = value
            value = value if kind == "counter" else ""
        if value is None or len(value) > self._left:
            return reference[0]
        self._left -= len(value)
        return value


def _next(value: str | None, first: str) -> str:
    """Return the next value of a counter: a number, or a letter."""
    if value is None:
        return first
    if value.isdecimal() and len(value) < 10:
        return str(int(value) + 1)
    return chr(ord(value) + 1) if len(value) == 1 and value.isalpha() and value not in "zZ" else value

"""Inline markup of Org as Markdown."""

import re
from html.entities import name2codepoint

from sourcebook.parsing.text.raised_text import LEVEL, LOWERED, RAISED, without_marks

_MARKED = re.compile(r"[*/_+=~\[<\\^]")
_ENTITY = re.compile(r"\\([A-Za-z]+)(?:\{\}|(?![A-Za-z]))")
_ENTITIES = {name: chr(code) for name, code in name2codepoint.items()} | {
    "to": "→", "rightarrow": "→", "leftarrow": "←", "dots": "…", "ldots": "…", "leq": "≤", "geq": "≥", "neq": "≠",
    "approx": "≈", "infty": "∞", "pm": "±", "EUR": "€", "checkmark": "✓",
}  # fmt: skip
"""Characters by the names that Org gives them, mostly those of HTML."""
_BEFORE = r"(?:(?<=[\s\-('\"{])|^)"
_AFTER = r"(?=[\s\-.,;:!?'\")}\[\\]|$)"
_INSIDE = r"[^\s{mark}](?:[^\n{mark}]{{0,1000}}[^\s{mark}])?"
_LINK = r"\[\[(?P<target>[^\[\]\n]{1,2000})\](?:\[(?P<words>[^\n]{1,1000}?)\])?\]"
_VERBATIM = r"=(?P<verbatim>[^\s=](?:[^=\n]{0,1000}[^\s=])?)="
_LITERAL = r"~(?P<code>[^\s~](?:[^~\n]{0,1000}[^\s~])?)~"
_CODE = rf"{_BEFORE}(?:{_VERBATIM}|{_LITERAL}){_AFTER}"
_SPAN = re.compile(rf"{_LINK}|{_CODE}", re.MULTILINE)
_CODE_ONLY = re.compile(_CODE, re.MULTILINE)
_WEB = re.compile(r"(?:https?|ftp|mailto):\S+", re.IGNORECASE)
_PICTURE = re.compile(r"(?:file:|attachment:|\.{0,2}/)?\S*\.(?:png|jpe?g|gif|svg|webp|bmp|tiff?)", re.IGNORECASE)
_KIND = re.compile(r"(?:file|attachment|id|info|doi|elisp|shell):", re.IGNORECASE)
_UNSAFE = str.maketrans({" ": "%20", "(": "%28", ")": "%29", "<": "%3C", ">": "%3E"})
_WRITTEN = {"*": "**", "/": "*", "+": "~~", "_": ""}


def _emphasis(mark: str) -> re.Pattern[str]:
    sign = re.escape(mark)
    return re.compile(rf"{_BEFORE}{sign}({_INSIDE.format(mark=sign)}){sign}{_AFTER}", re.MULTILINE)


_EMPHASIS = tuple((_emphasis(mark), rf"{written}\1{written}") for mark, written in _WRITTEN.items())
_REPLACED = tuple(
    (re.compile(pattern), replacement)
    for pattern, replacement in (
        (r" ?\[fn:[\w-]{0,100}:[ ]?([^\[\]\n]{1,2000})\]", r" (\1)"),
        (r"\[fn:([\w-]{1,100})\]", r"[\1]"),
        (r"<{2,3}([^<>\n]{1,500})>{2,3}", r"\1"),
        (r"(?<=\S)_\{([^{}\n]{1,50})\}", rf"{LOWERED}\1{LEVEL}"),
        (r"(?<=\S)\^\{([^{}\n]{1,50})\}", rf"{RAISED}\1{LEVEL}"),
    )
)


def markdown(text: str) -> str:
    """Convert a paragraph: emphasis, links, footnotes and targets; the text of code stays as it is."""
    if not _MARKED.search(text):
        return text
    return _converted(text, _SPAN)


def _converted(text: str, spans: re.Pattern[str]) -> str:
    """Return text as Markdown, each link or code on its own and the text between them."""
    pieces: list[str] = []
    end = 0
    for span in spans.finditer(text):
        pieces.append(_formatted(text[end : span.start()]))
        code = span["verbatim"] or span["code"]
        pieces.append(_code(code) if code else _link(span["target"], span["words"] or ""))
        end = span.end()
    pieces.append(_formatted(text[end:]))
    return "".join(pieces)


def _link(target: str, description: str) -> str:
    """Return a link to the web as Markdown, and of a link to a file or heading its words; a picture has none."""
    target = target.strip()
    words = description.strip() if _WEB.fullmatch(description) else _converted(description, _CODE_ONLY).strip()
    if _WEB.fullmatch(target):
        return f"[{words}]({target.translate(_UNSAFE)})" if words else f"<{target}>"
    if words:
        return "" if _PICTURE.fullmatch(description) else words
    return "" if _PICTURE.fullmatch(target) else _KIND.sub("", target, count=1).lstrip("#*")


def _code(text: str) -> str:
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _formatted(text: str) -> str:
    text = _ENTITY.sub(lambda found: _ENTITIES.get(found[1], found[0]), text) if "\\" in text else text
    for pattern, replacement in (*_REPLACED, *_EMPHASIS):
        text = pattern.sub(replacement, text)
    return without_marks(text)

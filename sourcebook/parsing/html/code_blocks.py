"""Code blocks of a page as plain text with the name of their language."""

import re
from functools import lru_cache

from sourcebook.parsing.html.code_lines import LINE_NUMBER, drop_numbers_beside, gather_code_lines, is_line_number
from sourcebook.parsing.html.tree import CODE_NEWLINE, Element, all_text, drop, replace_content, subelement

_LANGUAGE = re.compile(
    r"(?:(?<!\S)(?:language-|lang-|highlight-source-|highlight-text-|highlight-)|\bbrush:\s*|(?<!\S)sourceCode\s+)([\w+#.-]+)"
)
_NO_LANGUAGE = frozenset(
    {
        "code",
        "default",
        "console-output",
        "hljs",
        "linenos",
        "none",
        "notranslate",
        "output",
        "plain",
        "plaintext",
        "text",
    }
)
_NOT_CODE = re.compile(r"\b(?:copy-?(?:button|btn)|copybtn|sr-only|visually-?hidden)\b", re.IGNORECASE)
_LINE = re.compile(r"(?<!\S)(?:[\w-]*-)?line(?!\S)")
_BLOCK_STYLE = re.compile(r"display\s*:\s*(?:block|flex|grid|table-row)")
_BLOCKS_OF_LINES = frozenset({"div", "li", "p", "tr"})


def flatten_code(root: Element) -> None:
    """Turn every <pre> below `root` into one <code> with a class `language-x`, without line numbers and buttons.

    Line ends within code become `CODE_NEWLINE`, which distinguishes them from other line ends.
    """
    gather_code_lines(root)
    for pre in list(root.iter("pre")):
        if pre.getparent() is None or any(ancestor.tag == "pre" for ancestor in pre.iterancestors()):
            continue
        if any(map(is_line_number, pre.iterancestors("td"))):
            drop(pre)  # the column of line numbers
            continue
        language = _language(pre)
        text = _text(pre).strip("\n").replace("\r", "")
        replace_content(pre, "")
        if not text.strip():
            drop(pre)
            continue
        before = pre.getprevious()
        if language and before is not None and before.tag in {"div", "span"} and _says(before, language):
            drop(before)
        drop_numbers_beside(pre, text.count("\n") + 1)
        code = subelement(pre, "code", text.replace("\n", CODE_NEWLINE))
        if language:
            code.set("class", f"language-{language}")
        _unwrap_table(pre)


def _says(label: Element, language: str) -> bool:
    """Tell whether the label above code is the name of its language, which its fence has, too."""
    return not (label.tail or "").strip() and "".join(all_text(label).split()).lower() == language


def _text(pre: Element) -> str:
    for element in reversed(list(pre.iter())[1:]):  # a line that holds another ends once
        tag, names, style = element.tag, element.get("class") or "", element.get("style")
        is_no_code, is_line = _meaning(names)
        if tag == "br":
            element.tail = "\n" + (element.tail or "")
        elif tag == "button" or is_no_code or element.get("data-line-number") is not None:
            drop(element)
        elif (
            tag in _BLOCKS_OF_LINES
            or (style and _BLOCK_STYLE.search(style))
            or (is_line and _is_followed_by_line(element, names))
        ) and not all_text(element).endswith("\n"):
            element.tail = "\n" + (element.tail or "")
    return all_text(pre)


@lru_cache(maxsize=4096)
def _meaning(names: str) -> tuple[bool, bool]:
    """Tell whether an element of this class is a number or a button, and whether it may be a line of code."""
    is_no_code = LINE_NUMBER.search(names) is not None or _NOT_CODE.search(names) is not None
    return is_no_code, _LINE.search(names) is not None


def _is_followed_by_line(element: Element, names: str) -> bool:
    """Tell whether an element of the same class follows at once."""
    following = element.getnext()
    return following is not None and not element.tail and following.get("class") == names


def _language(pre: Element) -> str:
    """Return the language named by the <pre>, its <code> or the two elements around it, "" where there is none."""
    places = [pre, *list(pre.iter("code"))[:1]]
    for ancestor in pre.iterancestors():
        if len(places) > 4 or ancestor.tag in {"body", "main", "article", "section", "td", "li"}:
            break
        places.append(ancestor)
    for place in places:
        named = place.get("data-lang") or place.get("data-language") or ""
        found = [named] if named else _LANGUAGE.findall(place.get("class") or "")
        for name in found:
            language = name.lower().strip("-.")
            if language and language not in _NO_LANGUAGE and re.fullmatch(r"[\w+#.-]{1,30}", language):
                return language
    return ""


def _unwrap_table(pre: Element) -> None:
    """Unwrap the table that places code beside its line numbers."""
    table = next(pre.iterancestors("table"), None)
    if table is None or "highlighttable" not in (table.get("class") or ""):
        return
    for element in list(table.iter("table", "tbody", "thead", "tr", "td", "th")):
        element.tag = "div"

"""Tags within lines: components of MDX, shortcodes of Hugo, tags of Liquid and Jinja, roles of MyST, attributes."""

import re
from collections.abc import Callable, Mapping
from typing import Final

from sourcebook.parsing.text.documentation.attributes import ATTRIBUTES, quoted, seen_texts, target_of, values_of

_BRACED: Final = r"\{(?>(?:[^{}]|\{(?>(?:[^{}]|\{(?>(?:[^{}]|\{[^{}]*+\})*)\})*)\})*)\}"
_TAG: Final = (
    r"<(?P<{0}>[A-Z][\w.]*+)"
    r"(?P<{0}_attributes>(?>(?:\s++(?:[\w:@-]++(?>(?:\s*+=\s*+(?:\"[^\"]*+\"|'[^']*+'|BRACED))?)|BRACED))*))"
    r"\s*+(?P<{0}_end>/?)>"
).replace("BRACED", _BRACED)
_COMPONENT: Final = _TAG.replace("{0}", "component")
OPENING: Final = re.compile(_TAG.replace("{0}", "name"))
"""A component's opening tag, `<TabItem value="a" label="A">`, or one that stands alone, `<Chart />`."""
CLOSING: Final = re.compile(r"</([A-Z][\w.]*)\s*>")
SHORTCODE: Final = re.compile(
    r"\{\{(?P<sign>[<%])[ \t]*(?P<name>/?[ \t]*[\w./-]+)(?P<arguments>(?:(?!\}\})[^\n])*?)/?[ \t]*[%>]\}\}"
)
LIQUID: Final = re.compile(r"\{%[-+]?[ \t]*(?P<tag>/?[ \t]*[\w-]+)(?P<values>(?:(?!%\})[^\n])*?)[-+]?%\}")
_END: Final = re.compile(r"\{\{[<%][ \t]*/[ \t]*([\w-]+)|\{%-?[ \t]*(?:end|/[ \t]*)([\w-]+)")
_LONGEST: Final = 10_000
"""Characters of a line above which it is left as it is."""
_INLINE: Final = re.compile(
    rf"""
    \{{(?P<role>[A-Za-z][\w:.+-]*)\}}`(?P<said>[^`\n]{{1,1000}})`
    |(?P<code>(?P<ticks>`{{1,9}})(?!`)(?:[^\n]{{0,1000}}?[^`\n])??(?P=ticks)(?!`))(?:\{{:?[ ]*{ATTRIBUTES}[ ]*\}})?
    |(?P<kept><(?P<html>code|kbd|samp|pre)\b[^>\n]{{0,200}}>[^\n]{{0,1000}}?</(?P=html)>)
    |(?P<math>\$\$?(?=\S)[^$\n]{{1,500}}(?<=\S)\$\$?)
    |(?P<escaped>\{{\{{[<%][ ]*/\*.{{0,500}}?\*/[ ]*[>%]\}}\}})
    |(?P<shortcode>{SHORTCODE.pattern})
    |(?P<liquid>{LIQUID.pattern})
    |\{{\{{\#(?:include|rustdoc_include|playground)[ ]+(?P<book>[^\s}}]+)[^}}\n]*\}}\}}
    |\{{!>?[ ]*(?P<include>[^!\n]{{1,500}}?)[ ]*!\}}|\{{\*[ ]*(?P<source>[^\s*]+)[^*\n]*\*\}}
    |\{{\{{[ ]*["'](?P<url>[^"'\n]*)["'][ ]*\|[ ]*(?:relative_url|absolute_url|url)[ ]*\}}\}}
    |(?<=\]\()(?P<base>\{{\{{[ ]*(?:site|page)\.\w+[ ]*\}}\}})
    |(?P<note>\{{/\*.{{0,5000}}?\*/\}})
    |(?P<opening>{_COMPONENT})
    |(?P<end></[A-Z][\w.]*\s*>)
    |!\[\[(?P<embedded>[^\[\]\n|]{{1,300}})(?:\|[^\[\]\n]{{0,300}})?\]\]
    |(?:(?<=[)\]*])|(?<=:)(?=\{{:?[ ]*[.\#])|(?<=\S)[ ]+(?=\{{:[ ]*[.\#]))\{{:?[ ]*{ATTRIBUTES}[ ]*\}}
    """,
    re.VERBOSE,
)
_PICTURES: Final = re.compile(r"\.(?:png|jpe?g|gif|webp|svg|bmp|avif|mp[34]|wav|webm|ogg|mov)(?:#.*)?$", re.IGNORECASE)
_INCLUDES: Final = frozenset(
    {"include", "include_relative", "include-markdown", "readfile", "import", "render", "embed-file", "code-snippet"}
)
_REFERENCES: Final = frozenset({"ref", "relref", "link", "post_url"})
_CONTROL: Final = frozenset(
    {
        *("raw", "endraw", "verbatim", "endverbatim", "if", "elif", "elsif", "else", "endif"),
        *("for", "endfor", "unless", "endunless", "case", "when", "endcase", "assign", "set"),
        *("endset", "capture", "endcapture", "block", "endblock", "macro", "endmacro", "call", "endcall"),
        *("filter", "endfilter", "with", "endwith", "break", "continue", "increment", "decrement", "cycle"),
        *("tablerow", "endtablerow", "extends", "trans", "endtrans", "seo", "feed_meta"),
    }
)
_SAID: Final = re.compile(r"(?P<text>[^<>]*\S)\s*<(?P<target>[^<>]+)>")
_DOCUMENTS: Final = frozenset({"doc", "download"})


class Tags:
    """Rewrites the tags in the lines of a document.

    Args:
        text: the text of the document, which tells what is closed.
        mention: returns what stands in the place of an included file; takes its path, and whether it is below the root.
    """

    def __init__(self, text: str, mention: Callable[[str, bool], str]) -> None:
        self._mention = mention
        self._closed = set(CLOSING.findall(text)) if "</" in text else set()
        self._ended = {one or other for one, other in _END.findall(text)} if "{" in text else set()
        self.imported: dict[str, str] = {}
        """Paths of imported Markdown files by the names of their components."""

    def in_line(self, line: str) -> str:
        """Return a line as a reader of the published page sees it; Markdown and code in it stay."""
        if len(line) > _LONGEST or ("{" not in line and "<" not in line and "![[" not in line):
            return line
        links: list[str] = []
        only_tags = not LIQUID.sub("", line).strip() if "{%" in line else False
        return _INLINE.sub(lambda found: self._plain(found, links, only_tags=only_tags), line)

    def _plain(self, found: re.Match[str], links: list[str], *, only_tags: bool) -> str:
        groups: Mapping[str, str | None] = found.groupdict()
        if (kept := groups["code"] or groups["kept"] or groups["math"] or groups["escaped"]) is not None:
            return kept
        if groups["role"] is not None:
            return _role(groups["role"], groups["said"] or "")
        if groups["shortcode"] is not None:
            name = groups["name"] or ""
            arguments = (groups["arguments"] or "").strip()
            return "" if name.startswith("/") else self._call(name, arguments, found[0], is_known=True)
        if groups["liquid"] is not None:
            return self._liquid(groups["tag"] or "", (groups["values"] or "").strip(), found[0], alone=only_tags)
        if (file := groups["book"] or groups["include"] or groups["source"]) is not None:
            return self._mention(file, groups["book"] is None)
        if groups["opening"] is not None:
            return self._component(found, links)
        if groups["end"] is not None:
            return f"]({target})" if links and (target := links.pop()) else ""
        if (embedded := groups["embedded"]) is not None:
            if _PICTURES.search(embedded) is None:
                self._mention(embedded.strip(), False)
            return found[0]
        return groups["url"] or ""

    def _component(self, found: re.Match[str], links: list[str]) -> str:
        name, attributes, is_alone = found["component"], found["component_attributes"], bool(found["component_end"])
        if is_alone and name in self.imported:
            return self._mention(self.imported[name], False)
        if not is_alone and name not in self._closed:
            return found[0]  # no component: a placeholder such as <Name>
        said = " ".join(seen_texts(attributes)) or _value(name, attributes)
        if is_alone:
            return said
        ends_here = f"</{name}" in found.string[found.end() :]
        target = target_of(attributes) if ends_here and not said else ""
        links.append(target)
        return "[" if target else f"{said} " if said else ""

    def _liquid(self, name: str, arguments: str, written: str, *, alone: bool) -> str:
        if name in _CONTROL:
            return ""
        is_known = alone or name in _INCLUDES or name in _REFERENCES
        if name.startswith(("/", "end")):
            return "" if alone else written
        return self._call(name, arguments, written, is_known=is_known)

    def _call(self, name: str, arguments: str, written: str, *, is_known: bool) -> str:
        texts = quoted(arguments)
        first = texts[0] if texts else next(iter(arguments.split()), "")
        values = values_of(arguments)
        if not is_known or not arguments:
            return "" if is_known else written
        if name in _REFERENCES:
            return first
        if name in _INCLUDES and (file := values.get("file") or values.get("src") or ("" if "=" in first else first)):
            return self._mention(file, name != "include_relative" and written.startswith("{%"))
        shown = [text for text in texts if " " in text or name in self._ended]
        said = " ".join(dict.fromkeys([*shown, *seen_texts(arguments)]))
        target = target_of(arguments)
        return said or (f"[{target}]({target})" if target else "")


def component_title(name: str, attributes: str) -> str:
    """Return what a component's attributes say above its content, "" for nothing."""
    return " ".join(seen_texts(attributes)) or _value(name, attributes)


def _value(name: str, attributes: str) -> str:
    """Return the value of a tab that has no label: it is shown then."""
    return values_of(attributes).get("value", "") if name.startswith("Tab") and name != "Tabs" else ""


def _role(name: str, said: str) -> str:
    """Return a role of MyST as it is seen: its text, as a link where it leads to a document."""
    found = _SAID.fullmatch(said)
    kind = name.rpartition(":")[2]
    if found is not None:
        return f"[{found['text']}]({found['target']})" if kind in _DOCUMENTS else found["text"]
    return f"[{said}]({said})" if kind in _DOCUMENTS and " " not in said else f"`{said}`"

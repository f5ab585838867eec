"""Header of an AsciiDoc document: title, authors, revision and attributes."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sourcebook.model.document import JsonValue
from sourcebook.parsing.dates import iso_date
from sourcebook.parsing.markup.asciidoc.inline import Inline

ATTRIBUTE = re.compile(r":(!?\w[\w-]{0,100}!?):(?:[ \t]+(.*))?")
_TITLE = re.compile(r"[=#][ \t]+(\S.*)")
_AUTHORS = re.compile(
    r"[^\W\d_][^<>:;=\[\]]{0,100}(?:<[^<>\s]{1,200}>)?(?:;[ \t]*[^\W\d_][^<>:;]{0,100}(?:<[^<>\s]{1,200}>)?)*"
)
_REVISION = re.compile(
    r"v?(?P<number>\d[^,:]{0,30})?(?:^|,)?[ \t]*(?P<date>[^,:][^:]{3,40})?(?::[ \t]*(?P<remark>.*))?"
)
_COMMENT = "////"
_KEPT = {"description": "description", "revnumber": "version", "keywords": "tags"}


@dataclass(frozen=True, slots=True)
class Header:
    """Title, language and metadata of a document's header."""

    end: int = 0
    """Index of the first line of the text, from 0."""
    title: str = ""
    language: str | None = None
    metadata: Mapping[str, JsonValue] = field(default_factory=dict)


def read_header(lines: Sequence[str], inline: Inline) -> Header:
    """Read the header and define its attributes; a document without a title may still begin with attributes."""
    values: dict[str, str] = {}
    title = ""
    line_after_title = -1
    end = 0
    while end < len(lines):
        line = lines[end].rstrip()
        attribute = ATTRIBUTE.fullmatch(line)
        if line.startswith(_COMMENT) and set(line) == {"/"}:
            closing = next((at for at in range(end + 1, len(lines)) if lines[at].rstrip() == line), len(lines))
            end = closing
        elif attribute:
            end, value = _continued(lines, end, attribute[2] or "")
            name = attribute[1].strip("!").lower()
            values[name] = inline.define(name, value)
        elif not title and (found := _TITLE.fullmatch(line)):
            title, line_after_title = found[1], end + 1
        elif title and end == line_after_title and _AUTHORS.fullmatch(line):
            values["author"] = line
            line_after_title += 1
        elif title and "author" in values and end == line_after_title and (found := _REVISION.fullmatch(line)):
            values |= {f"rev{name}": value.strip() for name, value in found.groupdict().items() if value}
        elif title if not line else not line.startswith("//"):
            break
        end += 1
    return Header(end, title, _language(values.get("lang", "")), _metadata(values))


def _continued(lines: Sequence[str], at: int, value: str) -> tuple[int, str]:
    while value.endswith(" \\") and at + 1 < len(lines):
        at += 1
        value = f"{value[:-2]} {lines[at].strip()}"
    return at, value


def _language(declared: str) -> str | None:
    code = declared.partition("-")[0].lower()
    return code if len(code) == 2 and code.isalpha() else None


def _metadata(values: Mapping[str, str]) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = {name: values[key] for key, name in _KEPT.items() if values.get(key)}
    people = values.get("authors") or values.get("author") or ""
    authors = [" ".join(re.sub(r"<[^>]*>", "", person).split()) for person in people.split(";")]
    if any(authors):
        found["author"] = ", ".join(author for author in authors if author)
    if date := values.get("revdate") or values.get("date"):
        found["date"] = iso_date(date) or date
    if "tags" in found:
        tags: list[JsonValue] = [tag.strip() for tag in values["keywords"].split(",") if tag.strip()]
        found["tags"] = tags
    return found

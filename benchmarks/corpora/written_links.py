"""Relations of two real collections, read from their raw files by other code than the library's."""

import hashlib
import re
from collections.abc import Iterator
from email import message_from_string
from pathlib import Path
from typing import Final
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token
from ruamel.yaml import YAML

Relation = tuple[str, str, str]
"""File that writes it, kind, file that is meant; with kind `superseded_by` turned round to `supersedes`."""
_FRONT: Final = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_EIP: Final = re.compile(r"\bEIP-?(\d+)")
_PEP: Final = re.compile(r"\bPEP[ \n]+(\d+)|:(?i:pep):`(?:[^`<]*<)?(\d+)")
_LITERAL: Final = re.compile(
    r"(?m)^(?P<text>(?![ ]*\.\.[ ]).*)::[ ]*\n(?:[ ]*\n)+((?:(?P<indent>[ ]+)[^\n]*\n|[ ]*\n)+)|``[^`]+``"
)
_HEADER: Final = {"Replaces": "supersedes", "Superseded-By": "superseded_by", "Requires": "requires"}
CONFIGURATION: Final = """\
collections:
  eips:
    files: [{root: ./files/eips}]
    relations: {patterns: [{match: 'EIP-?(\\d+)', target: 'eip-{1}'}]}
  peps:
    files: [{root: ./files/peps}]
    relations:
      fields: {Requires: requires, Replaces: supersedes, Superseded-By: superseded_by}
      patterns: [{match: 'PEP (\\d+)', target: 'pep-{1}'}]
"""


def half_of(name: str) -> str:
    """Return `work` or `report`: the half that a file belongs to."""
    return "work" if int(hashlib.sha256(name.encode()).hexdigest(), 16) % 2 == 0 else "report"


def relations_of(folder: Path) -> set[Relation]:
    """Return what the files of a folder write of each other, EIPs and PEPs."""
    names = {path.name for path in folder.iterdir()}
    found: set[Relation] = set()
    for path in sorted(folder.iterdir()):
        written = _of_eip(path) if path.suffix == ".md" else _of_pep(path)
        for kind, target in written:
            if target in names and target != path.name:
                found.add((target, "supersedes", path.name) if kind == "superseded_by" else (path.name, kind, target))
    return found


def _of_eip(path: Path) -> Iterator[tuple[str, str]]:
    text = path.read_text(encoding="utf-8").replace("\r\n", "\n")
    front = _FRONT.match(text)
    values = YAML(typ="safe").load(front[1]) if front else {}
    for number in re.findall(r"\d+", str(values.get("requires", ""))):
        yield "requires", f"eip-{int(number)}.md"
    body = text[front.end() :] if front else text
    for token in MarkdownIt("commonmark").enable("table").parse(body):
        yield from _of_tokens(token.children or [])


def _of_tokens(tokens: list[Token]) -> Iterator[tuple[str, str]]:
    words = ""
    for token in tokens:
        if token.type == "link_open":
            address = urlsplit(str(token.attrGet("href")))
            if not address.scheme and not address.netloc and address.path:
                yield "references", unquote(address.path).rpartition("/")[2]
            words += unquote(address.path) + " "
        words += token.content if token.type == "text" else " " if token.type == "softbreak" else ""
    for number in _EIP.findall(words):
        yield "references", f"eip-{int(number)}.md"


def _of_pep(path: Path) -> Iterator[tuple[str, str]]:
    text = path.read_text(encoding="utf-8")
    header, _, body = text.partition("\n\n")
    for name, value in message_from_string(header).items():
        for number in re.findall(r"\d+", str(value)) if name in _HEADER else ():
            yield _HEADER[name], f"pep-{int(number):04}.rst"
    for first, second in _PEP.findall(_LITERAL.sub(lambda found: f"{found['text'] or ''} ", body)):
        yield "references", f"pep-{int(first or second):04}.rst"

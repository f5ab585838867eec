"""docs/python.md: every method of a knowledge base, and the fields of every type."""

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from sourcebook import AsyncKnowledgeBase, KnowledgeBase
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.contract.fields import LARGEST, Field, Whole
from tests.references.attribute_docstrings import docstrings_of
from tests.references.parts import page, sections
from tests.references.python_types import public_types
from tests.surface import python_interface


def make() -> str:
    """Return the page."""
    written = sections("python.md")
    parts = [f"## {title}\n\n{body}" for title, body in written.items() if title]
    plain = dict(python_interface.signatures(KnowledgeBase))
    methods = [_method(KnowledgeBase, name, plain[name]) for name in plain if name != "__init__"]
    others = [_differing(base, plain) for base in (AsyncKnowledgeBase, RemoteKnowledgeBase)]
    types = [_type(name, kind) for name, kind in public_types().items()]
    return page(
        "python.md", "The Python module", written[""], *parts, "## Methods", *methods, *others, "## Types", *types
    )


def _method(base: type, name: str, signature: str) -> str:
    told = inspect.getdoc(getattr(base, name)) or ""
    return f"### `{name}`\n\n```text\n{name}{signature}\n```\n\n{_docstring(told)}"


def _docstring(text: str) -> str:
    """Return a docstring as Markdown: arguments and errors become lists."""
    summary, *parts = re.split(r"\n*^(Args|Returns|Yields|Raises):\n", text, flags=re.MULTILINE)
    blocks = ["\n\n".join(" ".join(part.split()) for part in summary.strip().split("\n\n"))]
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        items = re.split(r"\n(?=    \S)", body.rstrip())
        lines = [re.sub(r"^(\w+):", r"`\1`:", " ".join(item.split())) for item in items if item.strip()]
        blocks.append(f"{title}:\n\n" + "\n".join(f"- {line}" for line in lines))
    return "\n\n".join(blocks).replace("<", "\\<")


def _differing(base: type, plain: dict[str, str]) -> str:
    """Return the methods of another knowledge base that are not those of the plain one."""
    theirs = dict(python_interface.signatures(base))
    own = sorted(name for name in theirs.keys() - plain.keys() - {"__init__"})
    missing = sorted(plain.keys() - theirs.keys() - {"__init__"})
    lacks = f"It has no {', '.join(f'`{name}`' for name in missing)}." if missing else ""
    told = (inspect.getdoc(base) or "").partition("\n\n")[0]
    blocks = [f"## `{base.__name__}`", " ".join(told.split()), lacks]
    return "\n\n".join(part for part in [*blocks, *(_method(base, name, theirs[name]) for name in own)] if part)


def _type(name: str, kind: Any) -> str:
    told = " ".join((inspect.getdoc(kind) or "").partition("\n\n")[0].split())
    return f"### `{name}`\n\n{told}\n\n" + "\n".join(["| field | type | |", "|---|---|---|", *_fields(kind)])


def _fields(kind: Any) -> Iterator[str]:
    told = dict(_declarations(kind)) | docstrings_of(kind)
    for name, text in python_interface.field_types(kind).items():
        if not name.startswith("_"):
            yield f"| `{name}` | `{_cell(text)}` | {_cell(told.get(name, ''))} |"


def _declarations(kind: Any) -> Iterator[tuple[str, str]]:
    """Yield each field of a request with what it is for, and its bounds."""
    for each in fields(kind):
        for note in getattr(each.type, "__metadata__", ()):
            if isinstance(note, Field):
                bounds = isinstance(note, Whole) and note.most < LARGEST and f" From {note.least:,} to {note.most:,}."
                yield each.name, f"{note.help}{bounds or ''}"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")

"""The public methods of the three knowledge bases, and the fields of every type that they take or return."""

import ast
import dataclasses
import inspect
import re
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from pydantic import BaseModel

import sourcebook
from sourcebook.client import RemoteKnowledgeBase

_MODULES = re.compile(r"(?<![\w.])(?:\w+\.)+(?=\w)")
_WORDS = re.compile(r"(?<![\w.'\"])[A-Z]\w+")


def files() -> dict[str, str]:
    """Return the methods of each knowledge base, and the fields of the types."""
    bases = (sourcebook.KnowledgeBase, sourcebook.AsyncKnowledgeBase, RemoteKnowledgeBase)
    return {**{f"{base.__name__}.txt": _methods(base) for base in bases}, "types.txt": _types()}


def digest() -> str:
    """Return the methods in one line each, those of the other bases where they differ, and the types."""
    plain = dict(signatures(sourcebook.KnowledgeBase))
    lines = [f"KnowledgeBase.{name}{signature}" for name, signature in plain.items()]
    for base in (sourcebook.AsyncKnowledgeBase, RemoteKnowledgeBase):
        theirs = dict(signatures(base))
        for name in sorted(plain.keys() | theirs.keys()):
            if name not in theirs:
                lines.append(f"{base.__name__} has no {name}")
            elif theirs[name] != plain.get(name):
                lines.append(f"{base.__name__}.{name}{theirs[name]}")
    return "\n".join(lines) + "\n\n" + _types()


def signature_of(function: Any) -> str:
    """Return a signature without the knowledge base, modules and quotation marks, and whether its answer is awaited."""
    found = inspect.signature(function)
    parameters = [
        each if each.annotation is each.empty else each.replace(annotation=_Plain(each.annotation))
        for name, each in found.parameters.items()
        if name not in {"self", "knowledge"}
    ]
    told = found.replace(parameters=parameters, return_annotation=_Plain(found.return_annotation))
    return f"{told}{' (awaited)' if inspect.iscoroutinefunction(function) else ''}"


def plain(annotation: object) -> str:
    """Return a type as text: without modules, without quotation marks around it, `X | None` for an optional one."""
    text = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    text = _MODULES.sub("", text).replace('"', "'").replace("NoneType", "None").replace("~", "")
    for wrapper in ("Optional", "Annotated"):
        while (start := text.find(f"{wrapper}[")) >= 0:
            opening = start + len(wrapper)
            end = _end_of_part(text, opening, "]")
            first = text[opening + 1 : min(end, _end_of_part(text, opening, ","))]
            text = f"{text[:start]}{first}{' | None' if wrapper == 'Optional' else ''}{text[end + 1 :]}"
    return text


class _Plain:
    """An annotation that a signature prints as it is."""

    def __init__(self, annotation: object) -> None:
        self._text = plain(annotation)

    def __repr__(self) -> str:
        return self._text


def _end_of_part(text: str, opening: int, sign: str) -> int:
    """Return the place of the first comma or closing bracket on the level of a bracket; the last place without one."""
    depth = 0
    for place in range(opening, len(text)):
        depth += {"[": 1, "(": 1, "]": -1, ")": -1}.get(text[place], 0)
        if text[place] == sign and depth == (0 if sign == "]" else 1):
            return place
    return len(text) - 1


def _methods(base: type) -> str:
    lines = []
    for name, signature in signatures(base):
        lines += [f"{name}{signature}", f"    {(inspect.getdoc(getattr(base, name)) or '').partition(chr(10))[0]}"]
    return "\n".join(lines) + "\n"


def signatures(base: type) -> Iterator[tuple[str, str]]:
    for name, held in inspect.getmembers(base):
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(held, property):
            yield name, f": {plain(inspect.signature(cast(Any, held.fget)).return_annotation)} (property)"
        elif callable(held):
            yield name, signature_of(held)


def _types() -> str:
    """Return each type that is exported or reached from the methods, with its fields in one line each."""
    reached: dict[str, Any] = {}
    for name in sourcebook.__all__:
        reach(getattr(sourcebook, name), reached)
    bases = ("KnowledgeBase", "AsyncKnowledgeBase", "SourcebookError")
    blocks = ["\n".join([name, *_fields(kind)]) for name, kind in sorted(reached.items()) if name not in bases]
    return "\n".join(blocks) + "\n"


def reach(kind: Any, reached: dict[str, Any]) -> None:
    """Add a type, and the types of the library that its fields or methods name."""
    if kind.__name__ in reached:
        return
    reached[kind.__name__] = kind
    held = [*field_types(kind).items(), *(signatures(kind) if kind.__name__ == "KnowledgeBase" else ())]
    for _, text in held:
        for word in _WORDS.findall(text):
            found = _named(word, kind)
            if isinstance(found, type) and re.match(r"sourcebook\.(?!database\.)", found.__module__):
                reach(found, reached)


def field_types(kind: Any) -> dict[str, str]:
    if dataclasses.is_dataclass(kind):
        return {each.name: plain(each.type) + _default(each) for each in dataclasses.fields(kind)}
    if issubclass(kind, BaseModel):
        return {
            name: f"{plain(each.annotation)}{'' if each.is_required() else f' = {each.default!r}'}"
            for name, each in kind.model_fields.items()
        }
    return {name: plain(each) for name, each in getattr(kind, "__annotations__", {}).items()}


def _default(held: "dataclasses.Field[Any]") -> str:
    if held.default is not dataclasses.MISSING:
        return f" = {held.default!r}"
    return "" if held.default_factory is dataclasses.MISSING else f" = {cast(Any, held.default_factory).__name__}()"


def _fields(kind: Any) -> list[str]:
    """Return the public fields, properties and methods of a type."""
    lines = [f"    {name}: {text}" for name, text in field_types(kind).items() if not name.startswith("_")]
    for base in kind.__mro__:
        if not base.__module__.startswith("sourcebook."):
            continue
        for name, held in vars(base).items():
            if name.startswith("_"):
                continue
            if isinstance(held, property):
                lines.append(
                    f"    {name}: {plain(inspect.signature(cast(Any, held.fget)).return_annotation)} (property)"
                )
            elif isinstance(held, classmethod | staticmethod) or inspect.isfunction(held):
                lines.append(f"    {name}{signature_of(getattr(kind, name))}")
    return lines


def _named(word: str, kind: Any) -> Any:
    """Return what a name stands for in the modules of a type and of its bases, imports for type checkers included."""
    for base in kind.__mro__:
        if base.__module__.startswith("sourcebook."):
            module = sys.modules[base.__module__]
            if hasattr(module, word):
                return getattr(module, word)
            if (home := _imports(module.__file__ or "").get(word)) is not None:
                return getattr(import_module(home[0]), home[1])
    return None


@cache
def _imports(path: str) -> dict[str, tuple[str, str]]:
    """Return the names that a file imports from modules of the library."""
    found: dict[str, tuple[str, str]] = {}
    for node in ast.walk(ast.parse(Path(path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("sourcebook"):
            found |= {each.asname or each.name: (node.module or "", each.name) for each in node.names}
    return found

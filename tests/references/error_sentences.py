"""The sentences of errors, collected from the places where they are made."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Final

from tests.checkout import CHECKOUT

_FOLDERS: Final = ("sourcebook", "orchestration", "resources", "assets", "sensors")
_OTHERS: Final = {
    "BadParameter": "An option or an argument of a command has a value that it does not take.",
    "UsageError": "Options or arguments of a command do not fit together.",
    "PydanticCustomError": "A setting of `sourcebook.yaml`, the page or the API has a value that it does not take.",
    "OSError": "A file, a folder or a host cannot be used; another sentence says of which.",
    "TypeError": "A program of yours hands over something else than is asked for.",
    "ValueError": "A value is none that the option, the header or the tool before it takes.",
}
"""Errors of libraries in which Sourcebook's sentences stand, with their cause."""
_TRANSLATORS: Final = ("gettext", "ngettext")
"""Functions that return their text in the visitor's language."""


def errors() -> dict[str, tuple[str, dict[str, list[str]]]]:
    """Return the cause of each class of errors, and its sentences by what the package that makes them is for.

    `…` stands for what differs from case to case.
    """
    causes = dict(_causes()) | _OTHERS
    found: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for name, path, text in sentences_of(dict.fromkeys(causes, slice(3))):
        if not text.startswith(";"):  # the end of another
            found[name][_purpose(path.parent)].add(text)
    return {
        name: (causes[name], {purpose: sorted(held) for purpose, held in sorted(by_purpose.items())})
        for name, by_purpose in sorted(found.items())
    }


def sentences_of(
    places: Mapping[str, slice], left_out: str = "", *, translated: bool = True
) -> Iterator[tuple[str, Path, str]]:
    """Yield the sentences that calls of some names are given, with the name and the file.

    Args:
        places: the arguments that may be the sentence, by the classes of errors and functions.
        left_out: pattern of the files that are not read, from the checkout on.
        translated: whether sentences are among them that are translated where they arise.
    """
    for path in _files():
        if left_out and re.match(left_out, str(path.relative_to(CHECKOUT))):
            continue
        source = path.read_text(encoding="utf-8")
        if not any(f"{name}(" in source for name in places):
            continue  # most files, which need not be parsed
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.Call) and (name := _called(node)) in places:
                arguments = (each for each in node.args[places[name]] if translated or not _is_translated(each))
                for text in (text for each in arguments for text in texts_of(each, path)):
                    if is_sentence(text):
                        yield name, path, " ".join(text.split())


@cache
def _purpose(package: Path) -> str:
    """Return what a package is for, by the first words of its docstring; its name without one."""
    start = package / "__init__.py"
    told = ast.get_docstring(tree(start)) if start.exists() else None
    return re.split(r"[:;,.] |[:;,.]?\n|\.$", told)[0] if told else package.name.replace("_", " ").capitalize()


def _files() -> list[Path]:
    return [path for folder in _FOLDERS for path in sorted((CHECKOUT / folder).rglob("*.py"))]


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def _causes() -> Iterator[tuple[str, str]]:
    """Yield the public classes of errors with the first line of their docstrings."""
    for path in _files():
        for node in tree(path).body:
            if isinstance(node, ast.ClassDef) and node.name.endswith("Error") and not node.name.startswith("_"):
                yield node.name, (ast.get_docstring(node) or "").partition("\n\n")[0].replace("\n", " ")


def _called(node: ast.Call) -> str:
    return node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")


def _is_translated(node: ast.expr) -> bool:
    return any(isinstance(each, ast.Call) and _called(each) in _TRANSLATORS for each in ast.walk(node))


def is_sentence(text: str) -> bool:
    return sum(bool(re.search(r"[^\W\d_]{2}", word)) for word in text.split()) > 1


def texts_of(node: ast.expr, path: Path, depth: int = 4) -> Iterator[str]:
    """Yield the texts that an expression may be."""
    if isinstance(node, ast.Constant):
        yield str(node.value) if isinstance(node.value, str) else "…"
    elif isinstance(node, ast.IfExp) and depth:
        yield from texts_of(node.body, path, depth - 1)
        yield from texts_of(node.orelse, path, depth - 1)
    elif isinstance(node, ast.Dict) and depth:
        for value in node.values:
            yield from texts_of(value, path, depth - 1)
    elif isinstance(node, ast.JoinedStr):
        yield "".join(_part(each, path, depth) for each in node.values)
    elif isinstance(node, ast.Attribute) and node.attr == "__doc__":
        yield dict(_causes())[ast.unparse(node.value)]
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod) and depth:
        yield from texts_of(node.left, path, depth)
    elif isinstance(node, ast.Call) and _called(node) in _TRANSLATORS and node.args:
        yield from (re.sub(r"%\(\w+\)\w|\{\w+\}", "…", text) for text in texts_of(node.args[0], path, depth))
    elif isinstance(node, ast.Call) and depth and (told := _returned(_called(node), path)):
        for home, value in told:
            yield from texts_of(value, home, depth - 1)
    elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add) and depth:
        for first in texts_of(node.left, path, depth - 1):
            yield from (first + rest for rest in texts_of(node.right, path, depth - 1))
    elif isinstance(node, ast.Name | ast.Attribute) and depth and (values := _assigned(path).get(ast.unparse(node))):
        for value in values:
            yield from texts_of(value, path, depth - 1)
    else:
        yield "…"


def _part(part: ast.expr, path: Path, depth: int) -> str:
    """Return a part of a formatted text: a constant that it names, or `…`."""
    if not isinstance(part, ast.FormattedValue):
        return next(texts_of(part, path, depth))
    name = part.value.id if isinstance(part.value, ast.Name) else ""
    texts = list(texts_of(part.value, path, depth - 1)) if name.lstrip("_").isupper() and depth else []
    return texts[0] if len(texts) == 1 else "…"


@cache
def _functions() -> dict[str, list[tuple[Path, ast.FunctionDef]]]:
    """Return the functions that make texts, by their names."""
    found: dict[str, list[tuple[Path, ast.FunctionDef]]] = defaultdict(list)
    for path in _files():
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.FunctionDef) and node.returns and "str" in ast.unparse(node.returns):
                found[node.name].append((path, node))
    return found


def _returned(name: str, path: Path) -> list[tuple[Path, ast.expr]]:
    """Return what a function returns that makes texts: that of the file, or the only one of its name."""
    known = _functions().get(name, [])
    meant = [each for each in known if each[0] == path] or (known if len(known) == 1 else [])
    return [
        (home, node.value)
        for home, function in meant
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value is not None
    ]


@cache
def _assigned(path: Path) -> dict[str, list[ast.expr]]:
    """Return the values that names of a file are given, in functions, too."""
    found: dict[str, list[ast.expr]] = defaultdict(list)
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                if isinstance(target, ast.Name | ast.Attribute):
                    found[ast.unparse(target)].append(node.value)
    return found

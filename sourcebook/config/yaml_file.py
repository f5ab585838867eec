"""YAML files read into plain values with the position of each. Tags in the text construct no objects."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from sourcebook.errors import ConfigurationError

if TYPE_CHECKING:
    from ruamel.yaml.nodes import MappingNode, Node

KeyPath = tuple[str | int, ...]

LARGEST_FILE = 1_000_000
"""Bytes of a configuration file."""
MOST_VALUES = 20_000
"""Values of a file, counted after aliases are resolved, so that nested aliases cannot fill the memory."""
DEEPEST_NESTING = 20
"""Levels of nested mappings and lists."""

_TAG = "tag:yaml.org,2002:"


@dataclass(frozen=True, slots=True)
class Position:
    """A position in a text file; line and column count from 1."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class ConfigurationText:
    """The values of one YAML file, with the position of every key and of every value."""

    path: Path
    content: object
    keys: Mapping[KeyPath, Position]
    values: Mapping[KeyPath, Position]

    def position(self, key_path: KeyPath, *, of_key: bool = False) -> Position:
        """Return the position of `key_path`, or of the nearest value around it that the file has."""
        for length in range(len(key_path), -1, -1):
            known = self.keys if of_key and length == len(key_path) else self.values
            if key_path[:length] in known:
                return known[key_path[:length]]
        return Position(1, 1)


def read_configuration_text(path: Path) -> ConfigurationText:
    """Read one YAML file.

    Raises:
        ConfigurationError: the file cannot be read, is not YAML, has a key twice, or exceeds a limit.
    """
    return parsed_configuration_text(_read_text(path), path)


def parsed_configuration_text(text: str, path: Path) -> ConfigurationText:
    """Return the values of a text as of a file; `path` is what messages call it.

    Raises:
        ConfigurationError: it is not YAML, has a key twice, or exceeds a limit.
    """
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        with warnings.catch_warnings(action="ignore"):  # an anchor may be defined twice; the later one counts
            root = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = Position(mark.line + 1, mark.column + 1) if mark is not None else Position(1, 1)
        refuse(path, position, f"this is not YAML: {_problem(error)}")
    except YAMLError as error:
        _refuse_character(path, text, error)
    except RecursionError:
        refuse(path, Position(1, 1), f"values are nested too deeply; allowed are {DEEPEST_NESTING} levels")
    except ValueError as error:
        refuse(path, Position(1, 1), f"this is not YAML: {error}")
    reader = _Reader(path)
    content = reader.value(root, ()) if root is not None else None
    return ConfigurationText(path, content, reader.keys, reader.values)


def refuse(path: Path, position: Position, reason: str) -> NoReturn:
    """Raise an error with file, line and column."""
    raise ConfigurationError(f"{path}, line {position.line}, column {position.column}: {reason}") from None


def describe(key_path: KeyPath) -> str:
    """Return a key path in the notation of error messages: `collections.handbook.files[0].root`."""
    return "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in key_path).removeprefix(".")


def _read_text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise ConfigurationError(f"{path} cannot be read: {error.strerror or error}") from error
    if len(data) > LARGEST_FILE:
        raise ConfigurationError(f"{path} is larger than {LARGEST_FILE:,} bytes; is it a sourcebook.yaml?")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigurationError(f"{path}, line {line}: this is not UTF-8 text ({error.reason})") from None


def _problem(error: Any) -> str:
    problem = str(error.problem or error.context or error)
    if "'\\t'" in problem or "tab" in problem.lower().split():
        return f"{problem}. Indent with spaces, not with tabs"
    return f"{problem} ({error.context})" if error.context and error.context != problem else problem


def _refuse_character(path: Path, text: str, error: Exception) -> NoReturn:
    offset = int(getattr(error, "position", 0) or 0)
    position = Position(text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset))
    character = getattr(error, "character", None)
    found = f"the character U+{character:04X} is not allowed" if isinstance(character, int) else str(error)
    refuse(path, position, f"this is not YAML: {found}")


@dataclass
class _Reader:
    """Conversion of YAML nodes into dicts, lists and scalars, recording the position of each."""

    path: Path
    keys: dict[KeyPath, Position] = field(default_factory=dict)
    values: dict[KeyPath, Position] = field(default_factory=dict)

    def value(self, node: Node, at: KeyPath) -> object:
        from ruamel.yaml.nodes import MappingNode, SequenceNode

        empty = node.start_mark.index == node.end_mark.index  # an empty node has the mark of the next node
        self.values[at] = self.keys.get(at, _position(node)) if empty else _position(node)
        if len(self.values) > MOST_VALUES:
            refuse(self.path, _position(node), f"there are more than {MOST_VALUES:,} values (aliases count each time)")
        if len(at) > DEEPEST_NESTING:
            refuse(self.path, _position(node), f"values are nested too deeply; allowed are {DEEPEST_NESTING} levels")
        if isinstance(node, MappingNode) and node.tag == f"{_TAG}map":
            return self.mapping(node, at)
        if isinstance(node, SequenceNode) and node.tag == f"{_TAG}seq":
            return [self.value(child, (*at, index)) for index, child in enumerate(node.value)]
        return self.scalar(node, at)

    def mapping(self, node: MappingNode, at: KeyPath) -> dict[str, object]:
        from ruamel.yaml.nodes import ScalarNode

        result: dict[str, object] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                refuse(self.path, _position(key_node), f"a key of {describe(at) or 'the file'} must be text")
            key = self.text(key_node, at)
            if key in result:
                first = self.keys[*at, key].line
                refuse(self.path, _position(key_node), f"{describe((*at, key))} is already given on line {first}")
            self.keys[*at, key] = _position(key_node)
            result[key] = self.value(value_node, (*at, key))
        return result

    def text(self, node: Node, at: KeyPath) -> str:
        text = str(node.value)
        if any(character == "\0" or "\ud800" <= character <= "\udfff" for character in text):
            refuse(self.path, _position(node), f"{describe(at) or 'a key'} holds a character that is not text")
        return text

    def scalar(self, node: Node, at: KeyPath) -> object:
        text = self.text(node, at)
        match str(node.tag).removeprefix(_TAG) if isinstance(node.value, str) else "":
            case "null":
                return None
            case "bool":
                return text.lower() in {"true", "yes", "on", "y"}
            case "int" | "float" as kind:
                return _number(text, whole=kind == "int")
            case "str" | "timestamp" | "merge" | "value":
                return text
        refuse(self.path, _position(node), f"{describe(at) or 'the file'} has the YAML tag {node.tag}; use none")


def _number(text: str, *, whole: bool) -> object:
    """Return the number that `text` denotes, or `text` itself where Python cannot represent it."""
    digits = text.replace("_", "")
    for read in (lambda: int(digits), lambda: int(digits, 0)) if whole else (lambda: float(digits),):
        try:
            return read()
        except ValueError:
            continue
    return text


def _position(node: Node) -> Position:
    return Position(node.start_mark.line + 1, node.start_mark.column + 1)

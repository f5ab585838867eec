"""JSON schemas of answers: which are taken, what of a value they refuse, and how a server is sent one.

A schema comes from a caller: references lead nowhere outside it and are counted, and patterns run in RE2, so that no
schema takes the time of a server.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Final
from urllib.parse import unquote

from sourcebook.errors import MissingDependencyError, QueryError
from sourcebook.installation import install_command

_MOST_REFERENCES: Final = 10_000
"""References that a check follows, at most: nested ones double with each level."""
_SHOWN: Final = 200
"""Characters of a schema in a sentence."""
_DATA: Final = frozenset({"const", "enum", "default", "examples"})
"""Keywords whose values are data, not schemas."""
_NAMED: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose values are mappings from names to schemas."""
_REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
_UNSAFE: Final = re.compile(r"[^\w-]")


class _TooManyReferencesError(Exception):
    """A check has followed more references than a schema of an answer needs."""


@dataclass(frozen=True)
class AnswerSchema:
    """A schema that was checked."""

    schema: Mapping[str, Any] = field(repr=False)

    @classmethod
    def checked(cls, schema: Mapping[str, Any]) -> "AnswerSchema":
        """Return a schema of a caller.

        Raises:
            QueryError: it is no JSON schema, or leads outside itself.
            MissingDependencyError: the extra `server` is not installed.
        """
        made = cls({name: each for name, each in schema.items() if name != "$id"})
        try:
            from jsonschema.exceptions import SchemaError
        except ImportError as error:
            raise MissingDependencyError(
                f"answer_schema needs the package jsonschema; install it with  {install_command('server')}"
            ) from error
        try:
            made._validator.check_schema(made.schema)
            for keyword, value in _keywords(made.schema):
                made._check_keyword(keyword, value)
            made.flaw(None)  # every local reference is followed where it can be
        except SchemaError as error:
            raise QueryError(f"answer_schema is no JSON schema: {_place(error.path)} is not allowed") from None
        except RecursionError:
            raise QueryError("answer_schema is nested too deeply") from None
        return made

    def flaw(self, value: Any) -> str | None:
        """Return what of a value the schema refuses, in words without anything of the value; None where nothing.

        Raises:
            QueryError: the schema refers to something that it has not, or to itself without end.
        """
        from referencing.exceptions import Unresolvable

        self._followed[0] = 0
        try:
            first = next(iter(self._validator(self.schema).iter_errors(value)), None)
        except Unresolvable as error:
            raise QueryError(f"answer_schema refers to {error.ref}, which it does not have") from None
        except (RecursionError, _TooManyReferencesError):
            raise QueryError("answer_schema refers to itself too often") from None
        if first is None:
            return None
        wanted = json.dumps(first.validator_value)[:_SHOWN] if not isinstance(first.validator_value, dict) else ""
        return f"{_place(first.absolute_path)} does not keep to {first.validator} {wanted}".strip()

    @cached_property
    def response_format(self) -> dict[str, Any]:
        """The form of the answer as the protocol of chat completions has it: a value or null, and its citations."""
        value = _moved({name: each for name, each in self.schema.items() if name != "$schema"})
        citation = {
            "type": "object",
            "properties": {
                "source": {"type": "integer"},
                "quote": {"type": "string"},
                "path": {"type": "string"},
            },
            "required": ["source", "quote", "path"],
            "additionalProperties": False,
        }
        whole = {
            "type": "object",
            "properties": {
                "value": {"anyOf": [value, {"type": "null"}]},
                "citations": {"type": "array", "items": citation},
            },
            "required": ["value", "citations"],
            "additionalProperties": False,
        }
        return {"type": "json_schema", "json_schema": {"name": "answer", "schema": whole}}

    @cached_property
    def _followed(self) -> list[int]:
        """Number of references that the check has followed."""
        return [0]

    @cached_property
    def _validator(self) -> Any:
        from jsonschema.validators import Draft202012Validator, extend, validator_for

        kind = validator_for(self.schema, default=Draft202012Validator)
        followed = {name: self._counted(kind.VALIDATORS[name]) for name in _REFERENCES if name in kind.VALIDATORS}
        return extend(kind, {**followed, "pattern": _pattern, "patternProperties": _pattern_properties})

    def _check_keyword(self, keyword: str, value: Any) -> None:
        if keyword in {"$id", "id"} and isinstance(value, str):
            raise QueryError(f"answer_schema has a part with {keyword}: leave it out, and refer to #/…")
        if keyword in _REFERENCES and isinstance(value, str):
            if not value.startswith("#"):
                raise QueryError(
                    "answer_schema refers to another document: it may refer to its own parts, as #/$defs/part"
                )
            if not _has(self.schema, value):
                raise QueryError(f"answer_schema refers to {value[:200]}, which it does not have")
        patterns = [value] if keyword == "pattern" else list(value) if keyword == "patternProperties" else []
        for each in patterns:
            _compiled(each)

    def _counted(self, follow: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
        def counted(*given: Any) -> Iterator[Any]:
            self._followed[0] += 1
            if self._followed[0] > _MOST_REFERENCES:
                raise _TooManyReferencesError
            yield from follow(*given) or ()

        return counted


def _keywords(schema: Any) -> Iterator[tuple[str, Any]]:
    """Yield each keyword of a schema and of the schemas in it."""
    if isinstance(schema, Mapping):
        for name, value in schema.items():
            if name in _NAMED:
                yield name, value
                for each in value.values() if isinstance(value, Mapping) else ():
                    yield from _keywords(each)
            elif name not in _DATA:
                yield name, value
                yield from _keywords(value)
    elif isinstance(schema, list):
        for each in schema:
            yield from _keywords(each)


def _moved(schema: Any, *, is_named: bool = False) -> Any:
    """Return a schema as it stands below `value`: what it says of its own root is said of its place there.

    Args:
        schema: the schema, or a part of it.
        is_named: whether it is a mapping from names to schemas.
    """
    if isinstance(schema, list):
        return [_moved(each) for each in schema]
    if not isinstance(schema, Mapping):
        return schema
    moved = {
        name: value if name in _DATA and not is_named else _moved(value, is_named=name in _NAMED and not is_named)
        for name, value in schema.items()
    }
    for name in () if is_named else _REFERENCES:
        if isinstance(moved.get(name), str) and (moved[name] == "#" or moved[name].startswith("#/")):
            moved[name] = f"#/properties/value/anyOf/0{moved[name][1:]}"
    return moved


def _has(schema: Any, reference: str) -> bool:
    """Return whether a schema has what a reference such as `#/$defs/part` names; others than such are not looked up."""
    for part in unquote(reference).split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, list) and name.isdecimal() and int(name) < len(schema):
            schema = schema[int(name)]
        elif isinstance(schema, Mapping) and name in schema:
            schema = schema[name]
        else:
            return False
    return True


@lru_cache(maxsize=256)
def _compiled(pattern: Any) -> Any:
    import re2

    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(pattern, options)
    except (re2.error, TypeError):
        raise QueryError("answer_schema has a pattern that RE2 does not take, such as one that looks around") from None


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    from jsonschema.exceptions import ValidationError

    if isinstance(instance, str) and _compiled(pattern).search(instance) is None:
        yield ValidationError("the pattern does not match")


def _pattern_properties(validator: Any, patterns: Mapping[str, Any], instance: Any, schema: Any) -> Iterator[Any]:
    if isinstance(instance, dict):
        for pattern, below in patterns.items():
            for name, value in instance.items():
                if _compiled(pattern).search(name) is not None:
                    yield from validator.descend(value, below, path=name, schema_path=pattern)


def _place(path: Any) -> str:
    """Return a JSON pointer in a sentence; names in it may be the model's, and keep letters and digits alone."""
    parts = [_UNSAFE.sub("_", str(each))[:60] for each in path]
    return f"/{'/'.join(parts)}" if parts else "the whole"

"""Requests made from the description of the API: its own examples, and what nobody should send."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlencode

JSON = "application/json"


@dataclass(frozen=True)
class Operation:
    """One method of one path."""

    method: str
    path: str
    described: Mapping[str, Any]
    components: Mapping[str, Any]

    @property
    def takes_json(self) -> bool:
        return JSON in self.described.get("requestBody", {}).get("content", {})

    def parameters(self, place: str) -> list[Mapping[str, Any]]:
        """Return the parameters in the `path` or the `query`."""
        return [each for each in self.described.get("parameters", []) if each.get("in") == place]

    def bodies(self) -> list[Any]:
        """Return the example bodies of the description."""
        if not self.takes_json:
            return []
        media = self.described["requestBody"]["content"][JSON]
        examples = [each["value"] for each in media.get("examples", {}).values()]
        for schema in [media["schema"], *media["schema"].get("anyOf", [])]:
            named = schema.get("$ref", "").rpartition("/")[2]
            examples += (self.components["schemas"][named] if named else schema).get("examples", [])
        return examples

    def address(self, values: Mapping[str, str] | None = None, query: str = "") -> str:
        """Return the path with values in place of its parameters: the first examples, or those given."""
        path = self.path
        for each in self.parameters("path"):
            value = (values or {}).get(each["name"], quote(str(example_of(each)), safe=""))
            path = path.replace(f"{{{each['name']}}}", value)
        return f"{path}?{query}" if query else path

    def example_addresses(self, values: Mapping[str, str] | None = None) -> list[str]:
        """Return the address without query parameters that are not required, and one with each example of them.

        Args:
            values: of parameters in the path, in place of their examples.
        """
        required = {each["name"]: example_of(each) for each in self.parameters("query") if each.get("required")}
        given = [(each["name"], example_of(each)) for each in self.parameters("query") if example_of(each) is not None]
        queries = [urlencode({**required, name: value}) for name, value in given if name not in required]
        plain = [] if self.path.endswith("/lookup") else [urlencode(required)]  # it wants a name or an id
        return [self.address(values, query) for query in [*plain, *queries]]


def operations(description: Mapping[str, Any]) -> list[Operation]:
    """Return every operation of the API."""
    return [
        Operation(method.upper(), path, described, description["components"])
        for path, methods in description["paths"].items()
        for method, described in methods.items()
    ]


def example_of(parameter: Mapping[str, Any]) -> Any:
    """Return the first example of a parameter; None without one."""
    examples = [*parameter.get("schema", {}).get("examples", []), *parameter.get("examples", [])]
    return examples[0] if examples else parameter.get("example")


ODD_VALUES = ("%00", "a%00b", "%ff", "%ed%a0%80", "%f4%8f%bf%bf", "..%2f..%2fetc%2fpasswd", "%3Cscript%3E", "%0d%0aX:1")
"""NUL, invalid UTF-8, a lone surrogate, the last code point, a way out, markup, another header."""
LONG = "x" * 10_001
ODD_JSON: tuple[Any, ...] = ("a\0b", "\0", "\ud800", LONG, "", None, True, [], {}, -1, 1e308, 10**30, [["x"]] * 50)

ODD_TEXTS = ("\0", "\ud800", LONG)


def hostile_addresses(operation: Operation) -> Iterator[str]:
    """Yield addresses whose parameters hold what no client should send."""
    for each in operation.parameters("path"):
        for value in (*ODD_VALUES, LONG, "-1", "9" * 30):
            yield operation.address({each["name"]: value})
    for each in operation.parameters("query"):
        name = quote(each["name"])
        for value in (*ODD_VALUES, LONG, "-1", "9" * 30, ""):
            yield operation.address(query=f"{name}={value}")
            yield operation.address(query=f"{name}={value}&{name}={value}")


def inside(value: Any) -> Iterator[Any]:
    """Yield a value with something odd in the place of each text within it, and of each name."""
    if isinstance(value, dict):
        for name, held in value.items():
            yield from ({**value, name: changed} for changed in inside(held))
            for odd in ODD_TEXTS:
                yield {**value, odd: held}
    elif isinstance(value, list):
        for place, held in enumerate(value):
            yield from ([*value[:place], changed, *value[place + 1 :]] for changed in inside(held))
    elif isinstance(value, str):
        yield from ODD_TEXTS
        yield from (value + odd for odd in ODD_TEXTS)


def hostile_bodies(operation: Operation) -> Iterator[tuple[bytes, str]]:
    """Yield bodies with their media types that no client should send."""
    for example in operation.bodies() or [{}]:
        text = json.dumps(example)
        yield text.encode(), "text/plain"
        yield text.encode(), "multipart/form-data; boundary=x"
        yield text.encode(), "application/x-www-form-urlencoded"
        yield text.encode("utf-16"), JSON
        yield text[:-1].encode(), JSON
        for name in example:
            for value in ODD_JSON:
                yield json.dumps({**example, name: value}).encode(), JSON
            yield json.dumps({**example, f"{name}\0": 1, "\udfff": 2}).encode(), JSON
        for changed in inside(example):
            yield json.dumps(changed).encode(), JSON
    yield b"", JSON
    yield b"null", JSON
    yield b"[" * 100_000, JSON
    yield b'{"a":' * 50_000, JSON
    yield b'{"query": NaN}', JSON
    yield b'{"query": "' + b"x" * 5_000_000 + b'"}', JSON

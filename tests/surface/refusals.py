"""What is said of wrong values: by the library, the HTTP client, the REST API, the tools of agents and the commands.

No knowledge base is opened. Each option of each operation is given the same odd values, one at a time; values that come
as far as the database count as accepted. Equal sentences are joined, with `…` in the place of the value.
"""

import asyncio
import inspect
import json
import logging
import os
import re
import tempfile
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager
from typing import Any, cast
from urllib.parse import quote

import stamina
import typer.main
from fastapi.testclient import TestClient
from mcp import Client
from typer.core import TyperGroup
from typer.testing import CliRunner

import sourcebook
from sourcebook.client import RemoteKnowledgeBase
from sourcebook.command.app import app
from sourcebook.contract.fields import declared as declared_fields
from sourcebook.model.access import Grant
from sourcebook.operations.table import OPERATIONS
from sourcebook.server.app import create_app
from sourcebook.server.mcp.protocol import make_server
from tests.surface.odd_values import ACCEPTED, CHOICES, JSON_VALUES, NEEDED, READING_COMMANDS, VALUES, WORDS


class _ReachedError(Exception):
    """A value came as far as the database."""


class _NoDatabase:
    """A database that nobody may ask."""

    watch = None

    def close(self) -> None:
        """Close nothing."""

    def __getattr__(self, name: str) -> Any:
        raise _ReachedError(name)


def files() -> dict[str, str]:
    """Return the sentences of each face."""
    logging.disable(logging.CRITICAL)
    try:
        return {
            "library.txt": library(),
            "client.txt": client(),
            "rest.txt": rest(),
            "mcp.txt": mcp(),
            "commands.txt": commands(),
        }
    finally:
        logging.disable(logging.NOTSET)


def digest() -> str:
    """Return what each face says of wrong options of a search and what is like it; the client where it says other."""
    only = ("search", "context", "similar", "ask")
    logging.disable(logging.CRITICAL)
    try:
        faces = {
            "Library": library(only),
            "Client": client(only),
            "REST": rest(only),
            "MCP": mcp(("search_documents", "get_context")),
            "Command": commands(("search",)),
        }
    finally:
        logging.disable(logging.NOTSET)
    lines: dict[str, None] = {}
    for face, text in faces.items():
        for line in text.splitlines():
            said = re.sub(r"[.] [a-z_]+ takes [a-z_, ]+[.]$", "", line.partition(" ← ")[0])
            if not said.endswith(f": {ACCEPTED}") and (face != "Client" or f"Library: {said}" not in lines):
                lines[f"{face}: {said}"] = None
    return "\n".join(lines) + "\n"


def library(only: Collection[str] = ()) -> str:
    """Return what `KnowledgeBase` and the values of its options say.

    Args:
        only: methods, in place of all of them; as in the functions below.
    """
    with sourcebook.KnowledgeBase(cast(Any, _NoDatabase())) as knowledge:
        lines = _methods(knowledge, only)
    for kind, needed in ((sourcebook.Fusion, {}), (sourcebook.Reranking, {"model": "x"})):
        for name in inspect.signature(kind).parameters:
            lines += _joined(
                f"{kind.__name__}.{name}", [(value, _said(kind, {**needed, name: value})) for value in VALUES]
            )
    return "\n".join(lines) + "\n"


def client(only: Collection[str] = ()) -> str:
    """Return what `RemoteKnowledgeBase` says before it sends anything."""
    stamina.set_active(False)  # nobody answers there, however often one asks
    try:
        with RemoteKnowledgeBase("http://127.0.0.1:1", timeout=0.1) as knowledge:
            return "\n".join(_methods(knowledge, only)) + "\n"
    finally:
        stamina.set_active(True)


def rest(only: Collection[str] = ()) -> str:
    """Return the problems of requests whose bodies and parameters hold odd values."""
    with sourcebook.KnowledgeBase(cast(Any, _NoDatabase())) as knowledge:
        app = create_app(knowledge, requires_key=False)
        asking = TestClient(app, base_url="http://localhost", raise_server_exceptions=False)
        described = app.openapi()
        lines: list[str] = []
        for path, operations in described["paths"].items():
            for verb, operation in operations.items():
                if not only or operation["operationId"] in only:
                    lines += _of_operation(asking, verb, path, operation, described["components"]["schemas"])
    return "\n".join(lines) + "\n"


def mcp(only: Collection[str] = ()) -> str:
    """Return the answers of tools to odd arguments."""
    knowledge = sourcebook.KnowledgeBase(cast(Any, _NoDatabase()))

    async def ask() -> list[str]:
        lines = []
        server = make_server(
            lambda _: knowledge, lambda _: Grant("surface"), is_local=False, chatgpt=True, all_options=True
        )
        async with Client(server) as agent:
            for tool in (await agent.list_tools()).tools:
                if only and tool.name not in only:
                    continue
                fields = tool.input_schema.get("properties", {})
                needed = {name: NEEDED.get(name, 1) for name in tool.input_schema.get("required", [])}
                for name in [*fields, "unknown"]:
                    told = []
                    for value in (*JSON_VALUES, *CHOICES.get(name, ())):
                        result = await agent.call_tool(tool.name, {**needed, name: value})
                        text = result.content[0].text if result.is_error else ACCEPTED  # type: ignore[union-attr]
                        told.append((value, text))
                    lines += _joined(f"{tool.name} {name}", told)
        return lines

    return "\n".join(asyncio.run(ask())) + "\n"


def commands(only: Collection[str] = ()) -> str:
    """Return what commands say of odd values of their options."""
    program = typer.main.get_command(app)
    assert isinstance(program, TyperGroup)
    lines = []
    with _nowhere():
        for name in only or READING_COMMANDS:
            command = program.commands[name]
            needed = ["1" for each in command.params if each.required and each.param_type_name == "argument"]
            for option in command.params:
                if option.param_type_name == "option" and not getattr(option, "is_flag", False):
                    spelling = max(option.opts, key=len)
                    told = [(word, _ran([name, *needed, f"{spelling}={word}"])) for word in WORDS]
                    lines += _joined(f"{name} {spelling}", told)
            lines += _joined(f"{name} without arguments", [("", _ran([name]))])
            lines += _joined(f"{name} with an unknown option", [("--unknown", _ran([name, *needed, "--unknown"]))])
    return "\n".join(lines) + "\n"


def _methods(knowledge: object, only: Collection[str]) -> list[str]:
    """Return what each method of a knowledge base says of odd values."""
    lines = []
    for name, method in inspect.getmembers(knowledge, inspect.ismethod):
        if name.startswith("_") or name in {"close", "connect", "release"} or (only and name not in only):
            continue
        parameters = inspect.signature(method).parameters
        needed = {
            each.name: NEEDED[each.name]
            for each in parameters.values()
            if each.default is each.empty and each.name in NEEDED
        }
        declared = OPERATIONS[name].request if name in OPERATIONS else None
        options = parameters if declared is None else declared_fields(declared)
        for option in [*options, "unknown"]:
            values = (*VALUES, *CHOICES.get(option, ()))
            told = [(value, _said(method, {**needed, option: value})) for value in values]
            lines += _joined(f"{name} {option}", told)
    return lines


def _said(function: Callable[..., Any], options: Mapping[str, Any]) -> str:
    """Return the error of a call; what reaches the database, a server or a result is accepted."""
    try:
        function(**options)
    except (_ReachedError, sourcebook.SourcebookError, TypeError, ValueError, OSError, AttributeError) as error:
        kinds = [kind.__name__ for kind in type(error).__mro__]
        if isinstance(error, _ReachedError) or "DatabaseError" in kinds:
            return ACCEPTED
        return f"{type(error).__name__}: {error}"
    return ACCEPTED


def _of_operation(
    asking: TestClient, verb: str, path: str, operation: Mapping[str, Any], schemas: Mapping[str, Any]
) -> Iterator[str]:
    """Yield what one operation answers."""
    parameters = [each for each in operation.get("parameters", []) if "$ref" not in each]
    address = path
    for each in parameters:
        if each["in"] == "path":
            address = address.replace(
                f"{{{each['name']}}}", "1" if "integer" in json.dumps(each["schema"]) else "handbook"
            )
    where = f"{verb.upper()} {path}"
    for each in parameters:
        if each["in"] == "query" and "stream" not in path:
            told = [(word, _answer(asking, verb, f"{address}?{each['name']}={quote(word)}")) for word in WORDS]
            yield from _joined(f"{where} ?{each['name']}", told)
    body = operation.get("requestBody", {}).get("content", {}).get("application/json")
    if body is None:
        return
    schema = body["schema"]
    schema = schemas[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    needed = {name: NEEDED.get(name, "x") for name in schema.get("required", [])}
    for name in [*schema.get("properties", {}), "unknown"]:
        values = (*JSON_VALUES, *CHOICES.get(name, ()))
        told = [(value, _answer(asking, verb, address, {**needed, name: value})) for value in values]
        yield from _joined(f"{where} {name}", told)
    for shown, sent in (("[]", b"[]"), ("{", b"{")):
        yield from _joined(f"{where} body", [(shown, _answer(asking, verb, address, sent))])


def _answer(asking: TestClient, verb: str, address: str, body: Mapping[str, Any] | bytes | None = None) -> str:
    content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
    answer = asking.request(verb, address, content=content, headers={"Content-Type": "application/json"})
    if answer.status_code < 400 or answer.status_code >= 500:
        return ACCEPTED
    return f"{answer.status_code} {answer.json().get('type', '')} {answer.json()['detail']}"


@contextmanager
def _nowhere() -> Iterator[None]:
    """Run commands in an empty folder, with a database that does not answer."""
    changed = {"SOURCEBOOK_DATABASE_URL": "postgresql://nobody@127.0.0.1:1/nothing", "COLUMNS": "1000", "TERM": "dumb"}
    before = dict(os.environ)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        os.environ.update(changed, SOURCEBOOK_HOME=f"{folder}/home", NO_COLOR="1")
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


def _ran(arguments: list[str]) -> str:
    """Return what a command says, where it ends with the code of wrong use."""
    result = CliRunner().invoke(app, arguments)
    if result.exit_code != 2:
        return ACCEPTED
    said = re.sub(r"[│╭╮╰╯─]+", " ", result.stderr.partition("for help.")[2] or result.stderr)
    return " ".join(said.split()).removeprefix("Error ")


def _joined(what: str, told: Iterable[tuple[Any, str]]) -> list[str]:
    """Return one line for each sentence, with the values that it is said of."""
    groups: dict[str, list[str]] = {}
    for value, said in told:
        shown = repr(value) if len(repr(value)) < 60 else f"{type(value).__name__} of {len(value)}"
        forms = {repr(value), *([json.dumps(value)] if isinstance(value, str) else ())}
        if re.fullmatch(r"-?[\d.]+|nan", str(value)):
            forms |= {str(value), repr(float(value))}
        for form in sorted(forms, key=len, reverse=True):
            if form in said:
                said = said.replace(form, "…", 1)
                break
        groups.setdefault(" ".join(said.replace("\0", "NUL").split()), []).append(shown)
    return [f"{what}: {said} ← {', '.join(values)}" for said, values in groups.items()]

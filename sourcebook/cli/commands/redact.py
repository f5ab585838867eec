"""`sourcebook redact`: a text with placeholders, to try rules on; in a development mode also back again."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.options import Json
from sourcebook.cli.output import print_json


def redact(
    ctx: typer.Context,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="A text file; standard input without one.")
    ] = None,
    collection: Annotated[
        str | None, typer.Option("-c", "--collection", metavar="NAME", help="By the `redaction` of this collection.")
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option("--mapping", metavar="PATH", help="Write what the placeholders stand for, encrypted."),
    ] = None,
    restore: Annotated[
        Path | None,
        typer.Option("--restore", metavar="PATH", help="Put the values of such a file back in place of placeholders."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Print a text with placeholders in the place of personal data and secrets, to try rules and patterns on.

    `--mapping` and `--restore` need `SOURCEBOOK_DEVELOPMENT=1` and a key in `SOURCEBOOK_REDACTION_KEY`.

    **Example:** `sourcebook redact letter.txt -c tickets`
    """
    if mapping is not None and restore is not None:
        raise typer.BadParameter("--mapping writes a file and --restore reads one: give one of them")
    text = _text(file)
    if restore is not None:
        from sourcebook.redaction.mapping import restored

        sys.stdout.write(restored(text, _bytes(restore)))
        return
    from sourcebook.redaction.documents import redactor_of
    from sourcebook.redaction.redactor import RedactionMemory

    memory = RedactionMemory()
    redacted = redactor_of(_settings(CommandContext.of(ctx), collection)).redact(text, memory)
    if mapping is not None:
        from sourcebook.redaction.mapping import sealed_mapping

        _write(mapping, sealed_mapping(memory))
    if as_json:
        finds = [{"category": find.category, "start": find.start, "end": find.end} for find in redacted.finds]
        print_json({"text": redacted.text, "finds": finds})
    else:
        sys.stdout.write(redacted.text)


def _settings(context: CommandContext, collection: str | None) -> dict[str, object]:
    if collection is None:
        return {}
    from sourcebook.errors import ConfigurationError

    collections = context.configuration.collections
    if collection not in collections:
        raise ConfigurationError(f"there is no collection {collection} in {context.configuration_path}")
    found = collections[collection].redaction
    if found is None:
        raise ConfigurationError(f"{collection} has no redaction: add it in {context.configuration_path}")
    return found.model_dump(mode="json")


def _text(file: Path | None) -> str:
    content = sys.stdin.buffer.read() if file is None else _bytes(file)
    return content.decode("utf-8", "replace")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be read: {error.strerror or error}") from error


def _write(path: Path, content: bytes) -> None:
    try:
        path.touch(mode=0o600)
        path.write_bytes(content)
    except OSError as error:
        raise typer.BadParameter(f"{path} cannot be written: {error.strerror or error}") from error

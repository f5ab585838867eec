"""`sourcebook serve-embeddings`: the local embedding model for other machines."""

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from sourcebook.cli.context import CommandContext
from sourcebook.cli.logs import show_logs
from sourcebook.errors import MissingDependencyError
from sourcebook.installation import install_command

if TYPE_CHECKING:
    from sourcebook.embedding.engine import Engine
    from sourcebook.embedding.model import EmbeddingModel


class DeviceChoice(StrEnum):
    """Devices to compute on."""

    AUTO = "auto"
    CPU = "cpu"
    CUDA = "cuda"
    MPS = "mps"


class PrecisionChoice(StrEnum):
    """Number formats to compute in."""

    AUTO = "auto"
    FLOAT32 = "float32"
    BFLOAT16 = "bfloat16"


def serve_embeddings(
    ctx: typer.Context,
    model: Annotated[
        str, typer.Argument(metavar="[MODEL]", help="A name or folder, as in embedding.model.", show_default=True)
    ] = "all-MiniLM-L6-v2",
    host: Annotated[
        str, typer.Option("--host", metavar="ADDRESS", help="Address to listen on; 0.0.0.0 for every one.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", metavar="NUMBER", help="Port to listen on; 0 for a free one.")] = 8321,
    device: Annotated[DeviceChoice, typer.Option("--device", help="Device to compute on.")] = DeviceChoice.AUTO,
    precision: Annotated[
        PrecisionChoice, typer.Option("--precision", help="Number format to compute in.")
    ] = PrecisionChoice.AUTO,
    texts: Annotated[int, typer.Option("--texts", metavar="NUMBER", min=1, help="Most texts of a request.")] = 2_048,
    tokens: Annotated[
        int, typer.Option("--tokens", metavar="NUMBER", min=1, help="Most tokens of a request.")
    ] = 600_000,
    body: Annotated[int, typer.Option("--body", metavar="BYTES", min=1, help="Most bytes of a request.")] = 8_000_000,
    waiting: Annotated[
        int, typer.Option("--waiting", metavar="NUMBER", min=1, help="Most texts that wait, of all requests.")
    ] = 20_000,
) -> None:
    """Give the embedding model of this machine to others, in OpenAI's protocol, until Ctrl-C.

    Collections elsewhere reach it with `embedding: {provider: openai, base_url: http://THIS-MACHINE:8321/v1, …}`. The
    variable SOURCEBOOK_EMBEDDINGS_KEY holds the key that callers send; without one, only this machine is answered.

    **Example:** `sourcebook serve-embeddings multilingual-e5-small --host 0.0.0.0`
    """
    try:
        from sourcebook.server.embedding_service.app import ServiceLimits
        from sourcebook.server.embedding_service.serving import serve_embeddings as serve_until_told
    except ModuleNotFoundError as error:
        from sourcebook.admin.doctor.packages import SERVING

        if (error.name or "").partition(".")[0] not in {*SERVING, "starlette"}:
            raise
        message = f"{error.name} is not installed: run  {install_command('server')}"
        raise MissingDependencyError(message) from error
    show_logs(default_level="warning")
    serve_until_told(
        model,
        CommandContext.of(ctx).home,
        host=host,
        port=port,
        precision=precision.value,
        device=device.value,
        limits=ServiceLimits(texts, tokens, body, waiting),
        started=_tell,
    )


def _tell(address: str, model: "EmbeddingModel", engine: "Engine", requires_key: bool) -> None:
    who = "every caller sends the key" if requires_key else "from this machine, without a key"
    typer.echo(f"{model.name}, {model.dimensions} dimensions: {engine}.", err=True)
    typer.echo(f"Serving at {address}/v1 ({who}). Ctrl-C ends it.", err=True)

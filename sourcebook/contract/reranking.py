"""Settings of reranking."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any, Final, Literal, get_args

from sourcebook.contract.fields import Amount, Choice, Whole, check_fields
from sourcebook.errors import QueryError
from sourcebook.model.device import DeviceSetting

Protocol = Literal["cohere", "jina", "tei"]
OWN_SERVERS: Final = {
    "cohere": ("https://api.cohere.com/v2", "COHERE_API_KEY"),
    "jina": ("https://api.jina.ai/v1", "JINA_API_KEY"),
}
"""Address and variable of the key of each protocol's own server."""

MOST_RERANKED = 1_000
"""Candidates that are reranked, at most."""


@dataclass(frozen=True, slots=True)
class Reranking:
    """Reranking of the first candidates by a cross encoder of this machine or of a provider.

    Raises:
        QueryError: a number is out of range, or no model is named.
    """

    model: str
    """Any CrossEncoder of sentence-transformers: the path of its folder, or its name on the Hugging Face hub, such as
    `cross-encoder/ms-marco-MiniLM-L6-v2`; or a provider's name of a model. `cohere:rerank-v3.5` and `jina:…` are models
    of their own servers."""
    top: Annotated[
        int, Whole("Candidates that are reranked; those behind them keep their order.", least=1, most=MOST_RERANKED)
    ] = 50
    batch_size: Annotated[
        int, Whole("Pairs that the model reads at once; after a timeout, it finishes one batch in vain.", least=1)
    ] = 16
    timeout: Annotated[
        float | None,
        Amount(
            "Seconds after which the order stays as it was, waiting for other searches included; none for no limit.",
            is_above=True,
        ),
    ] = 2.0
    max_length: Annotated[
        int | None,
        Whole("Tokens of query and passage together; longer pairs are cut. By default the model's limit.", least=8),
    ] = None
    device: Annotated[
        DeviceSetting,
        Choice("Device of a model of this machine: auto takes a GPU where torch can use one, else the processor."),
    ] = "auto"
    provider: Protocol | None = None
    """Protocol of the server that scores in place of a model of this machine: `cohere`, `jina` (vLLM, too) or `tei`."""
    base_url: str | None = None
    """URL of the server, to which `/rerank` is added; the protocol's own server where None."""
    api_key_env: str | None = None
    """Name of the environment's variable with the key: `COHERE_API_KEY` or `JINA_API_KEY` for their own servers, none
    for others."""

    def __post_init__(self) -> None:
        """Check every value."""
        if not isinstance(self.model, str) or not self.model.strip():  # type: ignore[redundant-expr] # not from all callers
            raise QueryError("reranking needs the name or the folder of a model")
        self._take_provider()
        check_fields(self, "reranking")
        self._check_provider()

    @property
    def server(self) -> tuple[str, str | None]:
        """URL of the provider's server, and the variable of its key."""
        url, variable = OWN_SERVERS.get(self.provider or "", ("", None))
        if self.base_url is not None:
            url, variable = self.base_url.rstrip("/"), None
        return url, self.api_key_env or variable

    def as_json(self) -> dict[str, Any]:
        """Return the values as a server takes them.

        Raises:
            QueryError: it says how the model computes, or from whom it comes.
        """
        values = asdict(self)
        own = [values.pop(name) for name in ("provider", "base_url", "api_key_env")]
        if own[0] in OWN_SERVERS and own[1:] == [None, None]:
            own, values["model"] = [], f"{self.provider}:{self.model}"
        if values.pop("device") != "auto" or any(value is not None for value in own):
            raise QueryError(
                "a server chooses how its own models compute, and from whom it gets others: give a name alone"
            )
        return values

    def _take_provider(self) -> None:
        """Read `cohere:MODEL` as the model of a provider: the one form of it that a name alone has room for."""
        provider, _, model = self.model.partition(":")
        if self.provider is None and model and provider in OWN_SERVERS:
            object.__setattr__(self, "provider", provider)
            object.__setattr__(self, "model", model)

    def _check_provider(self) -> None:
        if self.provider is None:
            if self.base_url is not None or self.api_key_env is not None:
                raise QueryError("reranking with base_url or api_key_env needs a provider: cohere, jina or tei")
            return
        if self.provider not in get_args(Protocol):
            raise QueryError(f"the provider of reranking is cohere, jina or tei, not {self.provider!r}")
        if self.base_url is None and self.provider not in OWN_SERVERS:
            raise QueryError("reranking with tei needs base_url, the URL of the server")
        from pydantic_core import PydanticCustomError  # a search without a provider imports no pydantic

        from sourcebook.config.provider import server_url, variable_name

        try:
            if self.base_url is not None:
                server_url(self.base_url)
            if self.api_key_env is not None:
                variable_name(self.api_key_env)
        except PydanticCustomError as error:
            raise QueryError(f"reranking cannot use base_url or api_key_env: {error}") from None

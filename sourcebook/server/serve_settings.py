"""Settings of `sourcebook serve`, the same for each of its processes."""

from dataclasses import dataclass
from pathlib import Path

from sourcebook.server.identity.token_settings import TokenSettings


@dataclass(frozen=True, slots=True)
class ServeSettings:
    """The choices of whoever starts a server."""

    rerankers: tuple[str, ...] = ()
    """Names and folders of the only models that a search may rerank with."""
    chatgpt: bool = False
    """Whether agents are offered tools in ChatGPT's shape as well."""
    all_options: bool = False
    """Whether agents are told of every argument and answer of their tools at once."""
    limit: int | None = None
    """Requests a minute of a key without a limit of its own, and of callers without a key together.

    0 for no limit; where None 600 for a key, and no limit without one.
    """
    origins: tuple[str, ...] = ()
    """Origins whose pages may ask from a browser, such as `https://intranet.example`."""
    dagster_url: str | None = None
    """Address of Dagster's page, to which the pages link the runs of work."""
    folders: tuple[str, ...] | None = None
    """Folders that collections made over the API may read; those of SOURCEBOOK_FOLDERS where None."""
    request_log: str | None = None
    """File of a JSON line for each request; `-` for standard error, None for no lines."""
    tokens: TokenSettings | None = None
    """Whose signed tokens are taken, and what they open; None where keys alone are."""
    works_by: Path | None = None
    """Configuration by which the server does the work that is asked for; None where something else does it."""

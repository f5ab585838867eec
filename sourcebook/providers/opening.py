"""Opening of a client: the package openai over connections that take nothing from the environment but its proxy."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, cast

from sourcebook.errors import MissingDependencyError
from sourcebook.installation import install_command
from sourcebook.model.certificates import shared_context
from sourcebook.providers.failures import ProviderError

if TYPE_CHECKING:
    from openai import OpenAI

_CONNECT_SECONDS: Final = 10.0


def open_client(url: str, key: str | None, seconds: float, hooks: Mapping[str, list[Callable[..., Any]]]) -> OpenAI:
    """Return a client of the package openai that makes each request once, to one server, as our own settings say.

    Args:
        url: the server.
        key: its key; None for a server without one.
        seconds: seconds without a byte after which a request is given up.
        hooks: what the connections call, by the name of the event.

    Raises:
        ProviderError: the environment names certificates or a proxy that cannot be used.
        MissingDependencyError: the package openai is not installed.
    """
    try:
        import httpx2
        from openai import DefaultHttpxClient, Omit, OpenAI
    except ImportError as error:
        raise MissingDependencyError(
            f"a provider needs the package openai; install it with  {install_command('server')}"
        ) from error
    # The environment's variables of OpenAI's account are not for other servers.
    headers: dict[str, str | Omit] = {"OpenAI-Organization": Omit(), "OpenAI-Project": Omit()}
    timeout = httpx2.Timeout(seconds, connect=min(_CONNECT_SECONDS, seconds))
    try:
        connections = DefaultHttpxClient(
            timeout=timeout,
            follow_redirects=False,
            event_hooks=hooks,
            verify=shared_context(httpx2.create_ssl_context),
        )
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise ProviderError(
            f"The certificates for the provider {url} cannot be read ({reason}): "
            "correct the variable SSL_CERT_FILE or SSL_CERT_DIR of the environment."
        ) from error
    except (ValueError, ImportError):  # whose text may hold the proxy's password
        raise ProviderError(
            f"The proxy for the provider {url} cannot be used: "
            "name one with http:// in the variables HTTP_PROXY, HTTPS_PROXY and ALL_PROXY of the environment."
        ) from None
    return OpenAI(
        base_url=url,
        api_key=key or "none",
        max_retries=0,
        timeout=timeout,
        default_headers=cast("dict[str, str]", headers),  # an omitted header is no text
        http_client=connections,
    )

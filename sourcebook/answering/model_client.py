"""The client of a language model: chat completions of one OpenAI-compatible server, streamed."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlsplit

from sourcebook.answering.completion import Completion, read_completion
from sourcebook.config.answering import AnsweringSettings
from sourcebook.config.provider import AZURE, OPENAI_URL
from sourcebook.context.token_bound import token_bound
from sourcebook.model.closing import Closing
from sourcebook.model.usage import UNKNOWN_PROVIDER
from sourcebook.providers.azure import AzureApi
from sourcebook.providers.client import Patience, ProviderClient, Result
from sourcebook.providers.streamed_answer import StreamedAnswer

_ATTEMPTS: Final = 3
_SILENCE: Final = 60.0
"""Seconds without a byte after which an attempt is given up."""
_TOKENS_A_MESSAGE: Final = 8
"""Tokens that a template puts around a message, at most."""
_CHARACTERS_A_TOKEN: Final = 32
"""Characters of an answer for each token that it may have, beyond which it is cut off."""

_TOKENS_TOLD: Final = "2024-09-01"
"""Version of Azure's API from which it tells the tokens of a stream, and takes OpenAI's newer name of their limit."""

Message = dict[str, Any]


class ModelClient(Closing):
    """Asks one language model. Closed after the question."""

    def __init__(self, settings: AnsweringSettings) -> None:
        """Prepare; nothing is sent.

        Raises:
            ProviderError: the key is missing.
            MissingDependencyError: the package openai is not installed.
        """
        self._settings = settings
        seconds = settings.timeout.total_seconds()
        patience = Patience(_ATTEMPTS, seconds, min(seconds, _SILENCE), waits_for_breaker=False)
        azure = AzureApi(settings.api_version) if settings.provider == AZURE else None
        self._client = ProviderClient(settings.url, settings.key_variable, patience, azure=azure)

    @property
    def provider(self) -> str:
        """Name or host of the service, as prices go by it."""
        return provider_of(self._settings)

    def complete(
        self,
        messages: Sequence[Message],
        answer_tokens: int,
        offered: Mapping[str, Any],
        read: Callable[[Iterator[str | Completion]], Iterator[Result]],
    ) -> Iterator[Result]:
        """Ask for a completion and yield what is read of it while it comes.

        Args:
            messages: the conversation.
            answer_tokens: tokens of the completion, at most.
            offered: other fields of the request, such as tools and the form of the answer.
            read: yields results of the pieces of a completion; called once more where an attempt is made again.

        Raises:
            ProviderError: see `ProviderClient.stream`.
        """
        is_older = self._settings.provider == AZURE and (self._settings.api_version or _TOKENS_TOLD) < _TOKENS_TOLD
        is_openai = self._settings.url == OPENAI_URL or self._settings.provider == AZURE
        body: dict[str, Any] = {
            "model": self._settings.model,
            "messages": list(messages),
            "max_completion_tokens" if is_openai and not is_older else "max_tokens": answer_tokens,
            "stream": True,
            **offered,
        }
        if not is_older:
            body["stream_options"] = {"include_usage": True}
        most = answer_tokens * _CHARACTERS_A_TOKEN

        def parts(answer: StreamedAnswer) -> Iterator[Result]:
            return read(read_completion(answer, most))

        return self._client.stream("/chat/completions", body, parts)

    def end(self) -> None:
        """End the request that another thread waits for."""
        self._client.end()

    def close(self) -> None:
        """Close the connections."""
        self._client.close()


def provider_of(settings: AnsweringSettings) -> str:
    """Return the name or the host of the service of settings."""
    if settings.provider == AZURE:
        return AZURE
    return "openai" if settings.url == OPENAI_URL else urlsplit(settings.url).hostname or UNKNOWN_PROVIDER


def most_tokens(messages: Sequence[Message], offered: Mapping[str, Any]) -> int:
    """Return how many tokens a request has at most, with what it offers beside its messages."""
    texts = [json.dumps(each, ensure_ascii=False) for each in messages]
    return sum(map(token_bound, texts)) + _TOKENS_A_MESSAGE * len(messages) + token_bound(json.dumps(offered))


def without_loss(message: Mapping[str, Any]) -> Message:
    """Return a message that can be sent as UTF-8."""
    return {
        name: value.encode("utf-8", "replace").decode() if isinstance(value, str) else value
        for name, value in message.items()
    }

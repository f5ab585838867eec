"""Redaction by reader: secrets are taken out of what a language model reads, also where no setting asks for it.

A person who searches sees a collection as its settings say. What is put before a model leaves for a server of others
more often than not, and nobody looks at it first.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any, Final, ParamSpec, TypeVar

from sourcebook.redaction.categories import DEFAULT_CATEGORIES, SECRETS

AT_MODELS: Final = "models"
"""Value of `redaction.at` by which a collection redacts what models read, and nothing else."""
SECRETS_ALONE: Final[Mapping[str, Any]] = MappingProxyType({"categories": SECRETS})
"""Settings of a collection without any, where a model reads."""
NO_RULES: Final = "Secrets in these passages were not looked for, as google-re2 is not installed."
Given = ParamSpec("Given")
Result = TypeVar("Result")
_is_read_by_model: ContextVar[bool] = ContextVar("is_read_by_model", default=False)


@contextmanager
def read_by_model() -> Iterator[None]:
    """Redact what is searched and shown within the context for a language model."""
    token = _is_read_by_model.set(True)
    try:
        yield
    finally:
        _is_read_by_model.reset(token)


def for_model(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Return a function whose results are read by a language model."""

    def called(*args: Given.args, **options: Given.kwargs) -> Result:
        with read_by_model():
            return function(*args, **options)

    return called


def has_rules() -> bool:
    """Return whether secrets can be looked for: the light core has no RE2."""
    return find_spec("re2") is not None


def redactions_in_force(settings: Mapping[str, Mapping[str, Any] | None]) -> dict[str, Mapping[str, Any]]:
    """Return the settings of redaction that hold for whoever reads, by collection.

    Args:
        settings: those of each collection as the database holds them; None of one without any.
    """
    if not _is_read_by_model.get():
        return {name: own for name, own in settings.items() if own is not None and own.get("at") != AT_MODELS}
    return {
        name: SECRETS_ALONE if own is None else _with_secrets(own)
        for name, own in settings.items()
        if own is not None or has_rules()
    }


def _with_secrets(settings: Mapping[str, Any]) -> Mapping[str, Any]:
    named = tuple(settings.get("categories") or DEFAULT_CATEGORIES)
    return {**settings, "categories": (*named, *(each for each in SECRETS if each not in named))}

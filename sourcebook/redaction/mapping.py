"""Encrypted values of placeholders: redaction that can be undone, in a development mode alone.

A mapping is a token of Fernet (AES-128-CBC and HMAC-SHA-256). Its key is in the environment, never beside it.
"""

import json
import os
import re
from collections.abc import Mapping
from typing import Any, Final

from sourcebook.errors import ConfigurationError, MissingDependencyError
from sourcebook.redaction.redactor import RedactionMemory

DEVELOPMENT: Final = "SOURCEBOOK_DEVELOPMENT"
KEY: Final = "SOURCEBOOK_REDACTION_KEY"
_PLACEHOLDER: Final = re.compile(r"\[[A-Z][A-Z0-9_]*_\d+\]")


def sealed_mapping(memory: RedactionMemory, environment: Mapping[str, str] = os.environ) -> bytes:
    """Return the values of the placeholders of one redaction, encrypted.

    Args:
        memory: what the redaction has replaced.
        environment: where SOURCEBOOK_DEVELOPMENT and SOURCEBOOK_REDACTION_KEY are.

    Raises:
        ConfigurationError: the development mode is off, or the key is missing or none.
        MissingDependencyError: cryptography is not installed.
    """
    sealed: bytes = _cipher(environment).encrypt(json.dumps(memory.values(), ensure_ascii=False).encode())
    return sealed


def restored(text: str, sealed: bytes, environment: Mapping[str, str] = os.environ) -> str:
    """Return a text with the values in the place of their placeholders; unknown placeholders stay.

    Args:
        text: a redacted text, or what somebody has written about one.
        sealed: the result of `sealed_mapping`.
        environment: where SOURCEBOOK_DEVELOPMENT and SOURCEBOOK_REDACTION_KEY are.

    Raises:
        ConfigurationError: the development mode is off, the key is missing, none or another one, or the mapping is
            damaged.
        MissingDependencyError: cryptography is not installed.
    """
    cipher = _cipher(environment)
    from cryptography.fernet import InvalidToken

    try:
        values: dict[str, str] = json.loads(cipher.decrypt(sealed.strip()))
    except InvalidToken as error:
        raise ConfigurationError(
            f"the mapping cannot be opened: it is damaged, or {KEY} is another key than it was written with"
        ) from error
    return _PLACEHOLDER.sub(lambda found: values.get(found[0], found[0]), text)


def _cipher(environment: Mapping[str, str]) -> Any:
    if environment.get(DEVELOPMENT, "").strip() != "1":
        raise ConfigurationError(f"redaction is undone in development alone: set {DEVELOPMENT}=1")
    try:
        from cryptography.fernet import Fernet
    except ImportError as error:
        from sourcebook.installation import install_command

        raise MissingDependencyError(
            f"mappings of redaction need cryptography; install it with  {install_command('server')}"
        ) from error
    try:
        return Fernet(environment.get(KEY, "").strip().encode())
    except ValueError as error:
        raise ConfigurationError(
            f"{KEY} is no key: set it to 32 random bytes in URL-safe base64, such as the output of  "
            "openssl rand -base64 32 | tr '+/' '-_'"
        ) from error

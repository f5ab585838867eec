"""TLS contexts that trust the certificates which the system and the environment name."""

import os
import ssl
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path

from sourcebook.model.file_state import FileState, file_state


def shared_context(make: Callable[[], ssl.SSLContext]) -> ssl.SSLContext:
    """Return what a function makes of the certificates that are trusted now.

    Clients share it: reading takes 20 ms of a core. It is made again where SSL_CERT_FILE or SSL_CERT_DIR name others,
    and where a file or folder was changed.
    """
    paths = ssl.get_default_verify_paths()
    named = [os.environ.get(name) for name in ("SSL_CERT_FILE", "SSL_CERT_DIR")]
    return _made(make, *map(_state, (paths.openssl_cafile, paths.openssl_capath, *named)))


@lru_cache(maxsize=4)
def _made(make: Callable[[], ssl.SSLContext], *_states: tuple[str, FileState | None] | None) -> ssl.SSLContext:
    return make()


def _state(path: str | None) -> tuple[str, FileState | None] | None:
    """Return what differs after a change of a file or folder, also of one that is not there."""
    if not path:
        return None
    try:
        return path, file_state(Path(path).stat())
    except OSError:
        return path, None

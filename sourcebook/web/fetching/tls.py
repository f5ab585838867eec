"""The TLS context of requests, made once for the certificates of this machine, which take 20 ms to read."""

import ssl
from functools import lru_cache
from pathlib import Path


def tls_context() -> ssl.SSLContext:
    """Return the context that trusts the certificates which the system and SSL_CERT_FILE name now.

    Clients share it. It is made again where the variables name others, and where the file or the folder was changed.
    """
    paths = ssl.get_default_verify_paths()
    return _context_of(*(_state(path) for path in (paths.cafile, paths.capath)))


@lru_cache(maxsize=1)
def _context_of(*_states: tuple[str, int, int, int] | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    context.set_alpn_protocols(("http/1.1",))
    return context


def _state(path: str | None) -> tuple[str, int, int, int] | None:
    """Return what differs after a change of a file or folder; None where there is none."""
    if path is None:
        return None
    try:
        status = Path(path).stat()
    except OSError:
        return None
    return path, status.st_ino, status.st_size, status.st_mtime_ns

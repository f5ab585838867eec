"""TLS in front of a PostgreSQL server whose programs were built without it, as by a balancer."""

import socket
import ssl
import struct
import threading
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from tests.web_certificate import certificate

_ASKS_FOR_TLS, _ASKS_FOR_GSSAPI = 80877103, 80877104


class TlsFront:
    """A port of loopback that speaks TLS alone, and takes clients with one certificate, within `with`.

    Args:
        folder: an empty folder for certificates and keys; the client's are named in `parameters`.
        port: the port of the server.
    """

    def __init__(self, folder: Path, port: int) -> None:
        for name in ("of server", "of client"):
            (folder / name).mkdir(parents=True)
        self._server = certificate(folder / "of server")
        client = certificate(folder / "of client")
        client.chmod(0o600)
        self.parameters = {
            "sslmode": "verify-full", "sslrootcert": str(self._server), "sslcert": str(client), "sslkey": str(client),
        }  # fmt: skip
        """What a client needs in its URL."""
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(client))
        self._context.load_cert_chain(self._server)
        self._context.verify_mode = ssl.CERT_REQUIRED
        self._target = port

    def __enter__(self) -> Self:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = int(self._listener.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            while (asked := struct.unpack("!ii", client.recv(8, socket.MSG_WAITALL))[1]) == _ASKS_FOR_GSSAPI:
                client.sendall(b"N")
            if asked != _ASKS_FOR_TLS:
                return
            client.sendall(b"S")
            with (
                self._context.wrap_socket(client, server_side=True) as secure,
                socket.create_connection(("127.0.0.1", self._target)) as server,
            ):
                back = threading.Thread(target=_pass_on, args=[server, secure], daemon=True)
                back.start()
                _pass_on(secure, server)
                back.join()


def _pass_on(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_RDWR)

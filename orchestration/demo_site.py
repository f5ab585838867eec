"""The web site of the demo, on the loopback address that `examples/sourcebook.yaml` names."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
CONFIGURATION = EXAMPLES / "sourcebook.yaml"


def site_url() -> str:
    """Return the URL of the site in the configuration of the demo."""
    from sourcebook.config.loading import load_configuration

    collections = load_configuration(CONFIGURATION).collections.values()
    return next(site.url for collection in collections for site in collection.sites)


@contextmanager
def serve(folder: Path, port: int) -> Iterator[int]:
    """Serve a folder on 127.0.0.1 until the end of the `with`, and yield the port.

    Args:
        folder: the folder with HTML and other files.
        port: the port; 0 for any free one.

    Raises:
        OSError: the port is taken.
    """
    server = ThreadingHTTPServer(("127.0.0.1", port), partial(_Pages, directory=str(folder)))
    with server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


class _Pages(SimpleHTTPRequestHandler):
    """Files with Last-Modified and answers 304 to conditional requests; no listings of folders."""

    protocol_version = "HTTP/1.1"

    def list_directory(self, path: object) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name in the standard library
        """Log nothing: the terminal shows the output of the demo."""


def main() -> int:
    """Serve the site until Ctrl-C and return the exit code."""
    url = site_url()
    try:
        with serve(EXAMPLES / "site", urlsplit(url).port or 80):
            print(f"{url}  Press Ctrl-C to stop.")
            threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    except OSError as error:
        print(port_taken(url, error), file=sys.stderr)
        return 1
    return 0


def port_taken(url: str, error: OSError) -> str:
    """Return the message for a site that cannot be served, with the remedy."""
    return (
        f"The demo's web site cannot be served at {url} ({(error.strerror or str(error)).lower()}). "
        "Stop the process that listens there, or write another port in examples/sourcebook.yaml, "
        "examples/site/robots.txt and "
        "examples/site/sitemap.xml."
    )


if __name__ == "__main__":
    sys.exit(main())

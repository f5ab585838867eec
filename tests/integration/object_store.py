"""A real S3 server of this process, at which s3fs and boto3 arrive as at Amazon's: moto's."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.request import Request, urlopen

import fsspec

if TYPE_CHECKING:
    from collections.abc import Callable
    from wsgiref.types import WSGIApplication

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "verysecretvalue",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_MAX_ATTEMPTS": "1",
    "no_proxy": "127.0.0.1",
}


@contextmanager
def object_store(
    behind: "Callable[[WSGIApplication], WSGIApplication] | None" = None,
) -> Iterator[fsspec.AbstractFileSystem]:
    """Start the server, point the environment at it, and lend its file system with the bucket `library`.

    Args:
        behind: what stands before the server, such as to answer some requests with faults.
    """
    from moto.server import ThreadedMotoServer  # takes long, in each process that collects tests

    before = dict(os.environ)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    if behind is not None and server._server is not None:
        server._server.app = behind(server._server.app)
    url = f"http://{host}:{port}"
    os.environ.update(ENVIRONMENT, AWS_ENDPOINT_URL=url)
    with urlopen(Request(f"{url}/moto-api/reset", method="POST")):  # noqa: S310 - buckets are those of the process
        pass
    system = fsspec.filesystem("s3")
    system.clear_instance_cache()
    system = fsspec.filesystem("s3")
    try:
        system.mkdir("library")
        yield system
    finally:
        system.clear_instance_cache()
        server.stop()
        os.environ.clear()
        os.environ.update(before)

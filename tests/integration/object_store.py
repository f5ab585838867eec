"""A real S3 server of this process, at which s3fs and boto3 arrive as at Amazon's: moto's."""

import os
from collections.abc import Iterator
from contextlib import contextmanager

import fsspec

ENVIRONMENT = {
    "AWS_ACCESS_KEY_ID": "AKIAEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "verysecretvalue",
    "AWS_DEFAULT_REGION": "us-east-1",
    "AWS_EC2_METADATA_DISABLED": "true",
    "AWS_MAX_ATTEMPTS": "1",
    "no_proxy": "127.0.0.1",
}


@contextmanager
def object_store() -> Iterator[fsspec.AbstractFileSystem]:
    """Start the server, point the environment at it, and lend its file system with the bucket `library`."""
    from moto.server import ThreadedMotoServer  # takes long, in each process that collects tests

    before = dict(os.environ)
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    os.environ.update(ENVIRONMENT, AWS_ENDPOINT_URL=f"http://{host}:{port}")
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

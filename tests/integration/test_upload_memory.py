"""The memory of the server during a large upload."""

import http.client
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cli.command import start
from tests.integration.stages import Stages

BYTES = 300_000_000
MOST_GROWTH = 50_000_000
"""Bytes by which the memory of the server may grow."""
BOUNDARY = "a7f3"


@pytest.fixture
def api(
    stages: Stages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> "Iterator[tuple[subprocess.Popen[str], int]]":
    """A server of its own process, and its port."""
    stages.root.mkdir(exist_ok=True)
    stages.configure()
    monkeypatch.setenv("SOURCEBOOK_DATABASE_URL", stages.database.url)
    monkeypatch.setenv("SOURCEBOOK_UPLOADS", str(tmp_path / "uploads"))
    monkeypatch.setenv("SOURCEBOOK_CONFIG", str(tmp_path / "sourcebook.yaml"))
    process = start("serve", "--port", "0", "--no-work")  # which tells its address on stderr
    try:
        assert process.stderr is not None
        line = next(line for line in process.stderr if "Serving at" in line)
        yield process, int(re.findall(r":(\d+)", line)[0])
    finally:
        process.terminate()
        process.communicate()


def peak(process: "subprocess.Popen[str]") -> int:
    """Return the most bytes of memory that a process has had."""
    (kilobytes,) = re.findall(r"VmHWM:\s+(\d+)", Path(f"/proc/{process.pid}/status").read_text())
    return int(kilobytes) * 1024


def send(port: int, size: int, *, as_form: bool) -> int:
    piece = os.urandom(1 << 20)
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="large.bin"\r\n\r\n'.encode()
    tail = f"\r\n--{BOUNDARY}--\r\n".encode()

    def pieces() -> Iterator[bytes]:
        left = size
        yield head if as_form else b""
        while left:
            yield piece[: min(left, len(piece))]
            left -= min(left, len(piece))
        yield tail if as_form else b""

    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    length = size + (len(head) + len(tail) if as_form else 0)
    headers = {"Content-Length": str(length), "Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
    path = "/v1/documents?collection=handbook" if as_form else "/v1/uploads/handbook/large.bin"
    connection.request("POST" if as_form else "PUT", path, (each for each in pieces() if each), headers)
    status = connection.getresponse().status
    connection.close()
    return status


@pytest.mark.parametrize("as_form", [True, False])
def test_a_large_upload_needs_little_memory(
    api: "tuple[subprocess.Popen[str], int]", tmp_path: Path, as_form: bool
) -> None:
    process, port = api
    assert send(port, 1_000, as_form=as_form) == 202
    before = peak(process)
    assert send(port, BYTES, as_form=as_form) == 202
    grown = peak(process) - before
    print(f"\nmemory grew by {grown / 1e6:.1f} MB for {BYTES / 1e6:.0f} MB, from {before / 1e6:.0f} MB")
    assert grown <= MOST_GROWTH
    assert sum(path.stat().st_size for path in (tmp_path / "uploads").rglob("*") if path.is_file()) == BYTES + 1_000

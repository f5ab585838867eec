"""The frames that a process and its child exchange over two pipes.

A frame is two lengths in bytes (unsigned, 4 and 8 bytes, big-endian), a header in JSON, and a payload: the header
carries texts and states, the payload what JSON would make slow, such as vectors.
"""

import json
import struct
from collections.abc import Mapping
from typing import BinaryIO

_LENGTHS = struct.Struct(">IQ")


def write_frame(stream: BinaryIO, header: Mapping[str, object], payload: bytes = b"") -> None:
    """Write one frame and flush it; raises `OSError` where the other end is gone."""
    encoded = json.dumps(header).encode("ascii")
    stream.write(_LENGTHS.pack(len(encoded), len(payload)) + encoded)
    stream.write(payload)
    stream.flush()


def read_frame(stream: BinaryIO) -> tuple[dict[str, object], bytes] | None:
    """Read one frame: its header and payload, or None where the other end is gone, even in mid-frame."""
    lengths = stream.read(_LENGTHS.size)
    if len(lengths) < _LENGTHS.size:
        return None
    header_length, payload_length = _LENGTHS.unpack(lengths)
    header, payload = stream.read(header_length), stream.read(payload_length)
    if len(header) < header_length or len(payload) < payload_length:
        return None
    decoded: dict[str, object] = json.loads(header)
    return decoded, payload

"""Heads of HTTP/1 messages, as far as a proxy needs them."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

HEAD_BYTES: Final = 60 * 1024
"""Limit on the bytes of a head: more than browsers and servers send, and below the limit of asyncio's streams."""

_OF_ONE_CONNECTION: Final = frozenset(
    {"connection", "keep-alive", "proxy-authorization", "proxy-connection", "upgrade"}
)


@dataclass(frozen=True, slots=True)
class Head:
    """First line and header fields, decoded as Latin-1 to keep their bytes."""

    first: str
    fields: Sequence[tuple[str, str]]
    """Names in lower case, each with its whole line."""

    @classmethod
    def parse(cls, lines: Sequence[str]) -> Self:
        """Parse lines without their ends.

        Raises:
            ValueError: The lines are no HTTP/1 head.
        """
        if not lines or "HTTP/1." not in lines[0]:
            raise ValueError("this is no HTTP/1")
        fields: list[tuple[str, str]] = []
        for line in lines[1:]:
            name, colon, _ = line.partition(":")
            if line[:1] in {" ", "\t"} and fields:  # an obsolete continuation of a value
                fields[-1] = (fields[-1][0], f"{fields[-1][1]} {line.strip()}")
            elif colon:
                fields.append((name.strip().lower(), line))
        return cls(lines[0], fields)

    def request(self) -> tuple[str, str]:
        """Return the method and the target of a request.

        Raises:
            ValueError: The head is no request.
        """
        parts = self.first.split(" ")
        if len(parts) != 3 or not self.first.isascii():
            raise ValueError("this is no request")
        return parts[0], parts[1]

    def body_length(self) -> int:
        """Return the length of a request's body in bytes.

        Raises:
            ValueError: The head names no single length.
        """
        if any(name == "transfer-encoding" for name, _ in self.fields):
            raise ValueError("a request's body needs a length")
        lengths = {line.partition(":")[2].strip() for name, line in self.fields if name == "content-length"} or {"0"}
        length = lengths.pop()
        if lengths or not (length.isascii() and length.isdigit()):
            raise ValueError("a request's body has one length")
        return int(length)

    def asks_for_html(self) -> bool:
        """Whether this is a request for a page, not for a resource of one."""
        return any(name == "accept" and "text/html" in line for name, line in self.fields)

    def asks_for_image(self) -> bool:
        """Whether this is a request for an image, such as the icon of a page."""
        return any(
            name == "accept" and line.partition(":")[2].lstrip().startswith("image/") for name, line in self.fields
        )

    def is_interim(self) -> bool:
        """Whether this is an interim response (1xx)."""
        return self.first.partition(" ")[2].startswith("1")

    def for_one_message(self, first: str) -> bytes:
        """Return the head with another first line and with `Connection: close`."""
        lines = [first, *(line for name, line in self.fields if name not in _OF_ONE_CONNECTION), "Connection: close"]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


async def read_head(reader: asyncio.StreamReader) -> Head:
    """Read a head and leave the body.

    Raises:
        ValueError: The head exceeds `HEAD_BYTES` or is no HTTP/1.
        EOFError: The connection ended within the head.
    """
    lines: list[str] = []
    size = 0
    while True:
        line = await reader.readline()
        if not line.endswith(b"\n"):
            raise EOFError("the connection ended within a head")
        size += len(line)
        if size > HEAD_BYTES:
            raise ValueError(f"a head is at most {HEAD_BYTES:,} bytes long")
        text = line.rstrip(b"\r\n").decode("latin-1")
        if text or not lines:
            lines.append(text)
        else:
            return Head.parse(lines)

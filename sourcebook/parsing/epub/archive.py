"""The zip archive of an EPUB, with limits and the detection of copy protection."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import Protocol
from urllib.parse import unquote
from zipfile import BadZipFile, ZipFile
from zlib import error as ZlibError  # noqa: N812 # zlib names its exception in lower case

from sourcebook.errors import FailureClass, ParseError

_MOST_READ = 128 << 20
"""Limit on the bytes read of a book; the longest novels have 6 MiB."""
_FONT_OBFUSCATION = frozenset({"http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#rc"})
_RIGHTS = frozenset({"meta-inf/rights.xml", "meta-inf/sinf.xml", "meta-inf/license.lcpl"})
_LOCKED = "it is protected (DRM), so that only its shop's reader opens it; get a copy without protection"


class XmlElement(Protocol):
    """Part of the interface of lxml's XML elements; `tag` starts with its namespace in braces."""

    tag: str
    text: str | None

    def get(self, name: str) -> str | None: ...
    def iter(self, *tags: str) -> Iterator["XmlElement"]: ...
    def __iter__(self) -> Iterator["XmlElement"]: ...
    def itertext(self) -> Iterator[str]: ...


class EpubArchive:
    """Reads the members of an EPUB by path, up to 128 MiB together; it reads no file outside the archive."""

    def __init__(self, archive: ZipFile) -> None:
        self._archive = archive
        self._names = {name.lower(): name for name in reversed(archive.namelist())}
        self._left = _MOST_READ

    @property
    def paths(self) -> list[str]:
        """Paths of the members."""
        return self._archive.namelist()

    @property
    def has_rights(self) -> bool:
        """Whether the archive contains a shop's licence."""
        return not _RIGHTS.isdisjoint(self._names)

    def read(self, path: str) -> bytes | None:
        """Return the bytes of a member, None where the path does not exist.

        Raises:
            ParseError: the member is damaged or encrypted, or the book is too large.
        """
        name = self._names.get(path.lower())
        if name is None:
            return None
        try:
            with self._archive.open(name) as member:
                content = member.read(self._left + 1)
        except (BadZipFile, ZlibError, EOFError, OSError, NotImplementedError) as error:
            raise ParseError("the EPUB file is damaged or cut off; copy it again", FailureClass.CORRUPT) from error
        except RuntimeError as error:  # zipfile's error for a missing password
            raise ParseError(_LOCKED, FailureClass.PASSWORD) from error
        self._left -= len(content)
        self._check_left(self._left)
        return content

    def read_xml(self, path: str) -> XmlElement | None:
        """Return the root of an XML member, None where it is missing or no XML; entities are not resolved."""
        content = self.read(path)
        if content is None:
            return None
        from lxml import etree  # type: ignore[import-untyped] # its stubs are a package of their own

        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
        try:
            root: XmlElement = etree.fromstring(content.lstrip(), parser)
        except (etree.XMLSyntaxError, ValueError):
            return None
        return root

    def check_size(self, paths: Sequence[str]) -> None:
        """Raise where members together exceed the limit, before any is unpacked.

        Raises:
            ParseError: the book is too large.
        """
        names = [name for path in paths if (name := self._names.get(path.lower())) is not None]
        self._check_left(self._left - sum(self._archive.getinfo(name).file_size for name in names))

    def _check_left(self, left: int) -> None:
        if left < 0:
            raise ParseError(f"its text unpacks to more than {_MOST_READ >> 20} MiB; split it", FailureClass.TOO_LARGE)

    def check_unlocked(self, content_paths: Sequence[str]) -> None:
        """Raise where one of the members is encrypted; obfuscated fonts are ignored.

        Raises:
            ParseError: the book is protected.
        """
        root = self.read_xml("META-INF/encryption.xml")
        if root is None:
            return
        wanted = {path.lower() for path in content_paths}
        for encrypted in root.iter("{*}EncryptedData"):
            method = next((attribute(found, "Algorithm") for found in encrypted.iter("{*}EncryptionMethod")), "")
            if method.lower() in _FONT_OBFUSCATION:
                continue
            for reference in encrypted.iter("{*}CipherReference"):
                if archive_path("", attribute(reference, "URI")).lower() in wanted:
                    raise ParseError(_LOCKED, FailureClass.PASSWORD)

    def refuse_unreadable(self) -> ParseError:
        """Return the error for a book without a readable chapter."""
        return ParseError(
            _LOCKED if self.has_rights else "no chapter of the EPUB can be read; copy it again",
            FailureClass.PASSWORD if self.has_rights else FailureClass.CORRUPT,
        )


@contextmanager
def open_epub(content: bytes) -> Iterator[EpubArchive]:
    """Open the archive.

    Raises:
        ParseError: the archive is damaged.
    """
    try:
        with ZipFile(BytesIO(content)) as archive:
            yield EpubArchive(archive)
    except (BadZipFile, EOFError, OSError) as error:
        raise ParseError("the EPUB file is damaged or cut off; copy it again", FailureClass.CORRUPT) from error


def attribute(element: XmlElement, name: str) -> str:
    """Return the value of an attribute, "" where it is absent."""
    return element.get(name) or ""


def archive_path(base: str, reference: str) -> str:
    """Return the archive path of a reference in the member `base`, never above the root.

    The result is "" for a reference to outside the archive.
    """
    if re.match(r"[a-z][a-z0-9+.-]*:|//", reference, re.IGNORECASE):
        return ""
    path = unquote(reference.partition("#")[0])
    parts: list[str] = [] if path.startswith("/") else base.split("/")[:-1]
    for part in path.split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in {"", "."}:
            parts.append(part)
    return "/".join(parts)

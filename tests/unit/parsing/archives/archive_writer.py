"""Archives drawn by the tests."""

import bz2
import gzip
import io
import lzma
import tarfile
from collections.abc import Callable, Mapping
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

_COMPRESSION: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "gz": lambda content: gzip.compress(content, mtime=0),
    "bz2": bz2.compress,
    "xz": lzma.compress,
}


def zipped(files: Mapping[str, str | bytes], *, links: Mapping[str, str] | None = None) -> bytes:
    """Return a ZIP archive of files, and of links with their targets."""
    packed = io.BytesIO()
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(ZipInfo(name), content, ZIP_DEFLATED)
        for name, target in (links or {}).items():
            link = ZipInfo(name)
            link.create_system, link.external_attr = 3, 0o120777 << 16
            archive.writestr(link, target)
    return packed.getvalue()


def tarred(files: Mapping[str, str | bytes], *, kind: str = "", others: Mapping[str, bytes] | None = None) -> bytes:
    """Return a TAR archive of files, and of members of other types; `kind` is "", "gz", "bz2" or "xz"."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            data = content.encode() if isinstance(content, str) else content
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
        for name, member_type in (others or {}).items():
            entry = tarfile.TarInfo(name)
            entry.type, entry.linkname = member_type, "/etc/hostname"
            archive.addfile(entry)
    return _COMPRESSION[kind](packed.getvalue())


def encrypted(archive: bytes) -> bytes:
    """Return a ZIP archive of one file whose headers say that it is encrypted."""
    damaged = bytearray(archive)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        damaged[archive.index(mark) + offset] |= 1
    return bytes(damaged)

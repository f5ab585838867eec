"""ZIP and TAR archives: a list of their files, each of which is a document of its own."""

import hashlib
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack

from sourcebook.errors import FailureClass, ParseError
from sourcebook.model.document import Attachment, JsonValue, ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.model.media_types import TAR, ZIP
from sourcebook.parsing.archives import confluence_export, notion_export
from sourcebook.parsing.archives.members import DEEPEST, Budget, Member, Unread
from sourcebook.parsing.archives.notion_export import PART
from sourcebook.parsing.archives.paths import unique_path
from sourcebook.parsing.archives.tar_members import is_packed_whole, tar_members
from sourcebook.parsing.archives.zip_members import zip_members
from sourcebook.parsing.chats import slack_export
from sourcebook.parsing.media_type import HEAD_BYTES, detect_media_type
from sourcebook.parsing.text.joined_blocks import JoinedBlocks

_MOST_NAMED = 200
"""Files that are listed by name."""
_TOO_DEEP = Unread(f"that are archives nested more than {DEEPEST} deep")
_MOST_KEPT = 64 << 20
"""Bytes of an archive that stay in memory between two of its files."""
_UNREADABLE = b"unreadable "


def parse_archive(content: bytes, *, media_type: str) -> ParsedDocument:
    """Parse an archive, application/zip or application/x-tar: the list of its files, which are its attachments.

    A file that is encrypted or damaged is an attachment, too, and fails by itself. The metadata say how many files
    are left out, and why.

    Raises:
        ParseError: the archive is damaged, or holds no file.
    """
    attachments: list[Attachment] = []
    unread: Counter[str] = Counter()
    with ExitStack() as kept:
        for member in _members(content, media_type, Budget(), kept, prefix="", depth=1):
            if isinstance(member, Unread):
                unread[member.reason] += member.count
            else:
                attachments.append(_attachment(member))
    if not attachments and not unread:
        raise ParseError("the archive holds no files", FailureClass.EMPTY)
    metadata: dict[str, JsonValue] = {"files": len(attachments)}
    if unread:
        metadata = with_left_out(metadata, {"attachments": unread.total()})
        metadata["unread"] = [f"{count:,} {reason}" for reason, count in unread.items()]
    joined = JoinedBlocks()
    names = [f"- {attachment.name}" for attachment in attachments[:_MOST_NAMED]]
    joined.add("\n".join(names), "list")
    if more := len(attachments) - len(names):
        joined.add(f"And {more:,} more files.", "paragraph")
    if unread:
        joined.add(
            f"Files left out: {', '.join(f'{count:,} {reason}' for reason, count in unread.items())}.", "paragraph"
        )
    return ParsedDocument(
        markdown=joined.markdown(), blocks=tuple(joined.blocks), metadata=metadata, attachments=tuple(attachments)
    )


def member_content(content: bytes, *, media_type: str, number: int) -> bytes:
    """Return the bytes of a file in an archive.

    Args:
        content: the whole archive.
        media_type: media type of the archive.
        number: index in `ParsedDocument.attachments` of the archive, from 0.

    Raises:
        ParseError: there is no such file, or it is encrypted or damaged, or the archive is.
    """
    digest = hashlib.sha256(content).digest()
    if _opened.digest != digest:
        _opened.replace(content, digest, media_type)
    try:
        if not 0 <= number < len(_opened.files):
            raise ParseError(f"the archive has no file of the number {number}; read it again", FailureClass.MISSING)
        return _opened.files[number].read()
    finally:
        if not _opened.is_small:
            _opened.close()


class _OpenedArchive:
    """The archive of the last file, because the files of an archive are read one after the other."""

    def __init__(self) -> None:
        self.digest = b""
        self.files: list[Member] = []
        self.is_small = False
        self._kept = ExitStack()

    def replace(self, content: bytes, digest: bytes, media_type: str) -> None:
        """Open an archive instead of the last one."""
        self.close()
        budget = Budget()
        members = _members(content, media_type, budget, self._kept, prefix="", depth=1)
        self.files = [member for member in members if isinstance(member, Member)]
        held = 0 if is_packed_whole(content) else len(content)
        self.is_small = held + budget.nested <= _MOST_KEPT
        self.digest = digest

    def close(self) -> None:
        """Close the archive."""
        self.digest, self.files = b"", []
        self._kept.close()


_opened = _OpenedArchive()


def _members(
    content: bytes, media_type: str, budget: Budget, kept: ExitStack, *, prefix: str, depth: int
) -> Iterator[Member | Unread]:
    """Yield the files of an archive and, in their place, those of archives within it."""
    reader = zip_members if media_type == ZIP else tar_members
    for member in gathered(list(reader(content, budget, kept))):
        if isinstance(member, Unread):
            yield member
            continue
        path = unique_path(f"{prefix}{member.path}", budget.names)
        inner = detect_media_type(path, b"")
        if inner in {ZIP, TAR}:
            yield from _nested(member, path, budget, kept, depth)
        else:
            yield Member(path, member.size, member.read, member.seal)


def _nested(member: Member, path: str, budget: Budget, kept: ExitStack, depth: int) -> Iterator[Member | Unread]:
    """Yield the files of an archive in an archive, or the archive itself where it cannot be read."""
    if depth >= DEEPEST:
        yield _TOO_DEEP
        return
    try:
        content = member.read()
        budget.nested += len(content)
        inner = detect_media_type(path, content[:HEAD_BYTES])
        if inner not in {ZIP, TAR}:
            yield Member(path, member.size, lambda: content)
            return
        prefix = path[: path.rfind("/") + 1] if PART.fullmatch(path) else f"{path}/"
        yield from _members(content, inner, budget, kept, prefix=prefix, depth=depth + 1)
    except ParseError as error:
        failure = error

        def refuse() -> bytes:
            raise failure

        yield Member(path, member.size, refuse, member.seal)


def _attachment(member: Member) -> Attachment:
    try:
        content = member.read()
    except ParseError:
        # Its name says what it is, and the document that it becomes fails with this reason.
        digest = hashlib.sha256(_UNREADABLE + member.seal + member.path.encode("utf-8", "replace")).digest()
        return Attachment(member.path, detect_media_type(member.path, b""), member.size, digest)
    media_type = detect_media_type(member.path, content[:HEAD_BYTES])
    return Attachment(member.path, media_type, len(content), hashlib.sha256(content).digest())


def gathered(members: Sequence[Member | Unread]) -> Iterator[Member | Unread]:
    """Yield the files of an archive; those of an export of Slack, Confluence or Notion as its documents."""
    paths = [member.path for member in members if isinstance(member, Member)]
    if (folder := slack_export.export_folder(paths)) is not None:
        yield from _months(folder, members)
    elif (folder := confluence_export.export_folder(paths)) is not None:
        yield from confluence_export.pages(folder, members)
    elif notion_export.is_notion(paths):
        yield from notion_export.without_ids(members)
    else:
        yield from members


def _months(folder: str, members: Sequence[Member | Unread]) -> Iterator[Member | Unread]:
    """Yield the files of a Slack export: one a channel and month, and all that are neither days nor lists."""
    files = {member.path: member for member in members if isinstance(member, Member)}
    lists = {f"{folder}{name}" for name in slack_export.LISTS}
    for member in members:
        if isinstance(member, Unread):
            yield member
        elif member.path in lists:
            yield Unread("with ids of a chat, whose names its messages have")
        elif (day := slack_export.DAY.fullmatch(member.path)) is None or day[1] != folder:
            yield member
    seal = b"".join(member.seal for member in files.values())
    for path, read in slack_export.months(folder, {path: member.read for path, member in files.items()}):
        yield Member(path, 0, read, seal)

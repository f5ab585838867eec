"""Exports of other programs among the files of an archive, as documents with the names that people know."""

from collections.abc import Iterator, Sequence

from sourcebook.parsing.archives import confluence_export, notion_export
from sourcebook.parsing.archives.members import Member, Unread
from sourcebook.parsing.chats import slack_export


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

"""A Slack export among the files of an archive: a document a channel and month, with names for ids."""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

from sourcebook.errors import FailureClass, ParseError
from sourcebook.parsing.chats.chat import mapping, mappings, texts
from sourcebook.parsing.chats.read_chat import MONTH
from sourcebook.parsing.chats.slack import user_name
from sourcebook.parsing.text.decode import decode

DAY: Final = re.compile(r"(.*?)([^/]+)/(\d{4}-\d{2})-\d{2}\.json")
"""Path of a day of a channel: folder of the export, channel, month."""
LISTS: Final = ("users.json", "channels.json", "groups.json", "mpims.json", "dms.json")
"""Files with the names of people and channels."""
_ID: Final = re.compile(r"\b[CDGUW][A-Z0-9]+\b")
_WORKSPACE: Final = re.compile(rb'"permalink"\s*:\s*"https:\\?/\\?/([\w-]+(?:\.enterprise)?\.slack\.com)\\?/')

Read = Callable[[], bytes]


def export_folder(paths: Sequence[str]) -> str | None:
    """Return the folder of an export among the paths of an archive, "" for its root; None where there is none."""
    held = set(paths)
    folders = {found[1] for path in paths if (found := DAY.fullmatch(path)) is not None}
    return next((folder for folder in sorted(folders) if f"{folder}users.json" in held), None)


def months(folder: str, files: Mapping[str, Read]) -> Iterator[tuple[str, Read]]:
    """Yield the path of each month of each channel, with what returns its content.

    Args:
        folder: of the export.
        files: what returns the content of each file, by its path.
    """
    days: defaultdict[str, defaultdict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for path in sorted(files):
        found = DAY.fullmatch(path)
        if found is not None and found[1] == folder:
            days[found[2]][found[3]].append(path)
    names = _Names(folder, files)
    for channel, by_month in days.items():
        held = _Channel(channel, {path: files[path] for paths in by_month.values() for path in paths}, names)
        for month in by_month:
            yield f"{folder}{channel}/{month}.json", partial(held.content, month)


class _Names:
    """Names of people and channels, read when the first month is."""

    def __init__(self, folder: str, files: Mapping[str, Read]) -> None:
        self._folder = folder
        self._files = files
        self._known: tuple[dict[str, str], dict[str, Mapping[str, Any]]] | None = None
        self.workspace = ""

    @property
    def users(self) -> dict[str, str]:
        """Names of people by their ids."""
        return self._read()[0]

    @property
    def channels(self) -> dict[str, Mapping[str, Any]]:
        """Channels by their ids; a conversation has the names of its members."""
        return self._read()[1]

    def _read(self) -> tuple[dict[str, str], dict[str, Mapping[str, Any]]]:
        if self._known is None:
            lists = {name: _json(self._files.get(f"{self._folder}{name}")) for name in LISTS}
            users = {str(user.get("id")): user_name(user) for user in mappings(lists["users.json"])}
            channels = {str(each.get("id")): each for name in LISTS[1:] for each in mappings(lists[name])}
            self._known = users, channels
        return self._known


@dataclass(slots=True)
class _Channel:
    """The days of a channel."""

    name: str
    days: Mapping[str, Read]
    names: _Names
    _months: dict[str, list[Any]] = field(default_factory=dict)

    def content(self, month: str) -> bytes:
        """Return a month as JSON: the messages of its days, and all replies to them, with the names that they need."""
        if not self._months:
            self._gather()
        messages = self._months.get(month, [])
        described, ident = self._described()
        used = {*_ID.findall(json.dumps(messages)), *mapping(described).get("members", ())}
        users = {each: name for each, name in self.names.users.items() if each in used}
        named = {
            each: str(channel.get("name"))
            for each, channel in self.names.channels.items()
            if each in used and channel.get("name")
        }
        value: dict[str, Any] = {
            "messages": messages,
            "name": self._shown(described),
            "users": users,
            "channels": named,
        }
        value["about"] = "\n".join(dict.fromkeys(texts([described.get("topic"), described.get("purpose")], "value")))
        if self.names.workspace and ident:
            value["address"] = f"https://{self.names.workspace}/archives/{ident}"
        return json.dumps({MONTH: value}, ensure_ascii=False, sort_keys=True).encode("utf-8", "replace")

    def _described(self) -> tuple[Mapping[str, Any], str]:
        """Return what the lists say of the channel, and its id."""
        for ident, channel in self.names.channels.items():
            if self.name in {channel.get("name"), ident}:
                return channel, ident
        return {}, self.name if _ID.fullmatch(self.name) else ""

    def _shown(self, described: Mapping[str, Any]) -> str:
        members = [self.names.users.get(str(member), str(member)) for member in described.get("members") or ()]
        is_private = not described.get("name") or str(described["name"]).startswith("mpdm-")
        return ", ".join(members) if is_private and members else f"#{self.name}"

    def _gather(self) -> None:
        of_message: dict[str, str] = {}
        held: list[tuple[str, Mapping[str, Any]]] = []
        for path, read in self.days.items():
            content = read()
            found = _WORKSPACE.search(content)
            self.names.workspace = self.names.workspace or (found[1].decode() if found else "")
            month = path.rpartition("/")[2][:7]
            for message in mappings(_parsed(content, path)):
                of_message.setdefault(str(message.get("ts")), month)
                held.append((month, message))
        for month, message in held:
            beside = of_message.get(str(message.get("thread_ts")), month)
            self._months.setdefault(beside, []).append(message)


def _json(read: Read | None) -> Any:
    try:
        return json.loads(decode(read()).text) if read is not None else None
    except (ValueError, RecursionError, ParseError):
        return None


def _parsed(content: bytes, path: str) -> Any:
    try:
        return json.loads(decode(content).text)
    except (ValueError, RecursionError) as error:
        raise ParseError(
            f"the day {path} of the export is damaged; export the channel again", FailureClass.CORRUPT
        ) from error

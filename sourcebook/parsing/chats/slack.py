"""Messages of a Slack export."""

import re
from collections.abc import Mapping, Sequence
from html import unescape
from typing import Any, Final

from sourcebook.parsing.chats.chat import Chat, Message, mapping, mappings, moment, name_of

_CODE: Final = re.compile(r"(```.*?```|`[^`\n]+`)", re.DOTALL)
_REFERENCE: Final = re.compile(r"<([^<>\n]+)>")
_BOLD: Final = re.compile(r"(?<![\w*])\*(?=\S)([^*\n]+?)(?<=\S)\*(?![\w*])")
_STRUCK: Final = re.compile(r"(?<![\w~])~(?=\S)([^~\n]+?)(?<=\S)~(?![\w~])")
_NOTICES: Final = re.compile(
    r"(?:channel|group)_(?:join|leave|topic|purpose|name|archive|unarchive|convert\w*|posting_permissions)"
    r"|(?:un)?pinned_item|bot_(?:add|remove|enable|disable)|reminder_add|huddle_thread|sh_room_\w+|tombstone"
    r"|message_deleted|ekm_access_denied|joiner_notification\w*"
)


def is_slack(value: object) -> bool:
    """Tell whether a value is a day of a channel: messages with Slack's time stamps."""
    found = mappings(value)
    return bool(found) and all(isinstance(each.get("ts"), str) and each.get("type") == "message" for each in found[:20])


def slack_chat(
    messages: Sequence[Any],
    *,
    name: str = "",
    about: str = "",
    users: Mapping[str, str] | None = None,
    channels: Mapping[str, str] | None = None,
    address: str | None = None,
) -> Chat:
    """Return the messages of a channel.

    Args:
        messages: as the export has them.
        name: of the channel.
        about: its topic and purpose.
        users: names by id; those in the messages themselves are known anyway.
        channels: names by id.
        address: of the channel in its workspace, where that is known.
    """
    held = mappings(list(messages))
    names = {str(each["user"]): found for each in held if each.get("user") and (found := _profiled(each))}
    names |= users or {}
    chat = Chat(name, about=about)
    for each in held:
        changed = mapping(each.get("message")) if each.get("subtype") == "message_changed" else {}
        message = {**each, **changed, "subtype": changed.get("subtype")} if changed else each
        if _NOTICES.fullmatch(str(message.get("subtype") or "")):
            chat.notices += 1
            continue
        chat.messages.append(_message(message, names, channels or {}, address))
    return chat


def gathered_chat(month: Mapping[str, Any]) -> Chat:
    """Return the messages of a month, which `slack_export` has gathered from an archive."""
    return slack_chat(
        mappings(month.get("messages")),
        name=str(month.get("name") or ""),
        about=str(month.get("about") or ""),
        users=mapping(month.get("users")),
        channels=mapping(month.get("channels")),
        address=str(month.get("address") or "") or None,
    )


def _message(
    message: Mapping[str, Any], users: Mapping[str, str], channels: Mapping[str, str], address: str | None
) -> Message:
    ts, thread = str(message.get("ts") or ""), str(message.get("thread_ts") or "")
    files = [
        name_of(each.get("name") or each.get("title") or each.get("id")) for each in mappings(message.get("files"))
    ]
    pieces = [str(message.get("text") or ""), *map(_attached, mappings(message.get("attachments")))]
    if not pieces[0].strip():
        pieces[0] = " ".join(_texts_within(message.get("blocks")))
    return Message(
        time=moment(ts),
        speaker=_speaker(message, users),
        text="\n".join(_markdown(piece, users, channels) for piece in pieces if piece.strip()),
        id=ts,
        thread="" if thread == ts else thread,
        link=f"{address}/p{ts.replace('.', '')}" if address and ts else None,
        files=tuple(each for each in files if each),
    )


def _speaker(message: Mapping[str, Any], users: Mapping[str, str]) -> str:
    user = str(message.get("user") or "")
    bot = message.get("username") or mapping(message.get("bot_profile")).get("name") or message.get("bot_id")
    return users.get(user) or name_of(bot) or user


def user_name(user: Mapping[str, Any]) -> str:
    """Return the name of a user or of the profile in a message."""
    profile = mapping(user.get("profile"))
    fields = (user.get("real_name"), profile.get("real_name"), user.get("display_name"), profile.get("display_name"))
    return name_of(next(filter(None, (*fields, user.get("name"))), ""))


def _profiled(message: Mapping[str, Any]) -> str:
    return user_name(mapping(message.get("user_profile")))


def _attached(attachment: Mapping[str, Any]) -> str:
    """Return the text of what a bot or a link has attached; its fallback where it has nothing else."""
    title, target = str(attachment.get("title") or ""), attachment.get("title_link")
    parts = [str(attachment.get("pretext") or ""), f"<{target}|{title}>" if title and target else title]
    parts += [
        str(attachment.get("text") or ""),
        *(f"{each.get('title')}: {each.get('value')}" for each in mappings(attachment.get("fields"))),
    ]
    parts += _texts_within(attachment.get("blocks"))
    return "\n".join(filter(None, parts)) or str(attachment.get("fallback") or "")


def _texts_within(value: object) -> list[str]:
    """Return the texts of blocks, which are nested; users and channels as in the text of a message."""
    waiting, found = [value], []
    while waiting:
        each = waiting.pop()
        if isinstance(each, list):
            waiting += reversed(each)
        elif isinstance(each, Mapping):
            match (
                each.get("type"),
                each.get("text") or each.get("url") or each.get("user_id") or each.get("channel_id"),
            ):
                case "user", str(user):
                    found.append(f"<@{user}>")
                case "channel", str(channel):
                    found.append(f"<#{channel}>")
                case "link", str(text):
                    found.append(f"<{each.get('url')}|{text}>")
                case "emoji", _:
                    found.append(f":{each.get('name')}:")
                case _, str(text):
                    found.append(text)
            waiting += reversed(
                [each[name] for name in ("text", "fields", "elements") if isinstance(each.get(name), list | Mapping)]
            )
    return found


def _markdown(text: str, users: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """Return Slack's markup as Markdown; code stays as it is."""

    def named(found: re.Match[str]) -> str:
        return _reference(found[1], users, channels)

    pieces = _CODE.split(text)
    for place, piece in enumerate(pieces):
        if place % 2:
            pieces[place] = unescape(_REFERENCE.sub(lambda found: found[1].partition("|")[0], piece))
        else:
            marked = _STRUCK.sub(r"~~\1~~", _BOLD.sub(r"**\1**", piece))
            pieces[place] = unescape(_REFERENCE.sub(named, marked))
    return "".join(pieces)


def _reference(reference: str, users: Mapping[str, str], channels: Mapping[str, str]) -> str:
    """Return what stands between < and >: a person, a channel, a word for all, a date or a link."""
    target, _, label = reference.partition("|")
    match target[:1]:
        case "@":
            return f"@{users.get(target[1:]) or label or target[1:]}"
        case "#":
            return f"#{channels.get(target[1:]) or label or target[1:]}"
        case "!":
            return label or f"@{target[1:].partition('^')[0]}"
    target = target.replace("**", "*").replace("~~", "~")
    shown = label or target.removeprefix("mailto:")
    return target if shown == target else f"[{shown}]({target})" if target.startswith("http") else shown

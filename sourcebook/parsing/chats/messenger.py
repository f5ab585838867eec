"""Messages of Messenger and Instagram, as their export of one's own data has them."""

from collections.abc import Mapping
from typing import Any

from sourcebook.parsing.chats.chat import Chat, Message, mapping, mappings, moment, name_of

_FILES = ("photos", "videos", "audio_files", "files", "gifs", "media")


def is_messenger(value: object) -> bool:
    """Tell whether a value is a conversation."""
    found = mapping(value)
    first = next(iter(mappings(found.get("messages"))), {})
    return "participants" in found and not {"sender_name", "senderName"}.isdisjoint(first)


def messenger_chat(export: Mapping[str, Any]) -> Chat:
    """Return the messages of a conversation; encrypted ones have fields of other names."""
    chat = Chat(name_of(_text(export.get("title") or export.get("threadName"))))
    for message in mappings(export["messages"]):
        link = str(mapping(message.get("share")).get("link") or "")
        held = [each for kind in _FILES for each in mappings(message.get(kind))]
        files = [name_of(str(each.get("uri") or "").rpartition("/")[2]) for each in held]
        said = "\n".join(filter(None, (_text(message.get("content") or message.get("text")), link)))
        if message.get("is_unsent") or message.get("isUnsent") or not (said or files):
            chat.notices += 1
            continue
        time = message.get("timestamp_ms") or message.get("timestamp")
        chat.messages.append(
            Message(
                time=moment(time / 1000) if isinstance(time, int | float) else None,
                speaker=name_of(_text(message.get("sender_name") or message.get("senderName"))),
                text=said,
                files=tuple(files),
            )
        )
    return chat


def _text(value: object) -> str:
    """Return a text; the export writes each byte of UTF-8 as a character of its own."""
    text = value if isinstance(value, str) else ""
    try:
        return text.encode("latin-1").decode()
    except UnicodeError:
        return text

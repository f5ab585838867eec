"""Messages of Discord, as DiscordChatExporter writes them."""

from collections.abc import Mapping
from typing import Any

from sourcebook.parsing.chats.chat import Chat, Message, mapping, mappings, moment, name_of

_SPOKEN = frozenset({"Default", "Reply", "ChatInputCommand", "ContextMenuCommand", "0", "19", "20", "23", "None", ""})
"""Types of messages that people or programs wrote; others say who joined, called or pinned something."""


def is_discord(value: object) -> bool:
    """Tell whether a value is a channel of a server or a conversation."""
    found = mapping(value)
    return isinstance(found.get("messages"), list) and isinstance(found.get("channel"), Mapping) and "guild" in found


def discord_chat(export: Mapping[str, Any]) -> Chat:
    """Return the messages of a channel."""
    guild, channel = mapping(export.get("guild")), mapping(export["channel"])
    place = [name_of(part) for part in (guild.get("name"), channel.get("category"), channel.get("name"))]
    chat = Chat(" › ".join(part for part in place if part), about=str(channel.get("topic") or ""))
    server = str(guild.get("id") or "0")
    address = f"https://discord.com/channels/{'@me' if server == '0' else server}/{channel.get('id')}"
    messages = mappings(export["messages"])
    speakers = {str(message.get("id")): _speaker(message) for message in messages}
    for message in messages:
        if str(message.get("type") or "") not in _SPOKEN:
            chat.notices += 1
            continue
        answered = str(mapping(message.get("reference")).get("messageId") or "")
        number = str(message.get("id") or "")
        chat.messages.append(
            Message(
                time=moment(message.get("timestamp")),
                speaker=speakers[number if "id" in message else "None"],
                text="\n".join(
                    filter(None, (str(message.get("content") or ""), *map(_embedded, mappings(message.get("embeds")))))
                ),
                id=number,
                link=f"{address}/{number}" if number and channel.get("id") else None,
                answers=speakers.get(answered, ""),
                files=tuple(name_of(each.get("fileName")) for each in mappings(message.get("attachments"))),
            )
        )
    return chat


def _speaker(message: Mapping[str, Any]) -> str:
    author = mapping(message.get("author"))
    return name_of(author.get("nickname") or author.get("name") or author.get("id"))


def _embedded(embed: Mapping[str, Any]) -> str:
    """Return the text of a card that a program or a link shows."""
    title, url = str(embed.get("title") or ""), embed.get("url")
    fields = (f"{each.get('name')}: {each.get('value')}" for each in mappings(embed.get("fields")))
    return "\n".join(filter(None, (f"[{title}]({url})" if title and url else title, embed.get("description"), *fields)))

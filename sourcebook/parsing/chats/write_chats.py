"""Chats as Markdown: a heading a day, a paragraph a message, and below the first message of a thread its replies."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, datetime
from typing import Final

from sourcebook.model.document import JsonValue, ParsedDocument
from sourcebook.model.left_out import with_left_out
from sourcebook.parsing.chats.chat import Chat, Message, line_text, name_of
from sourcebook.parsing.language import detect_language
from sourcebook.parsing.text.joined_blocks import JoinedBlocks

_DAYS: Final = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_MONTHS: Final = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_MOST_NAMED: Final = 50
"""Speakers in the metadata, those with the most messages."""

Thread = tuple[Message, list[Message]]
"""A message and the replies to it."""


def write_chats(chats: Sequence[Chat], platform: str) -> ParsedDocument:
    """Return the document of an export; each of several chats has a heading of its own.

    Args:
        chats: with their messages in any order.
        platform: program that they were written with.
    """
    joined = JoinedBlocks()
    for chat in chats:
        joined.add_heading(line_text(name_of(chat.name)), 1)
        if chat.about.strip():
            joined.add(line_text(chat.about), "paragraph")
        _write(joined, chat.messages)
    markdown, blocks = joined.markdown(), tuple(joined.blocks)
    messages = [message for chat in chats for message in chat.messages]
    return ParsedDocument(
        markdown=markdown,
        blocks=blocks,
        title=_title(chats),
        language=detect_language(markdown, [block for block in blocks if block.kind != "heading"]),
        metadata=with_left_out(
            _metadata(messages, platform),
            {
                "notices": sum(chat.notices for chat in chats),
                "attachments": sum(len(message.files) for message in messages),
            },
        ),
    )


def day_in_words(day: date) -> str:
    """Return a day as people ask for it: `Tuesday, 3 March 2026`."""
    return f"{_DAYS[day.weekday()]}, {day.day} {_MONTHS[day.month - 1]} {day.year}"


def _title(chats: Sequence[Chat]) -> str | None:
    """Return the name of the only chat, with its month where it has one alone."""
    name = name_of(chats[0].name)
    if len(chats) > 1 or not name:
        return None
    months = {(message.time.year, message.time.month) for message in chats[0].messages if message.time is not None}
    if len(months) != 1:
        return name
    ((year, month),) = months
    return f"{name}, {_MONTHS[month - 1]} {year}"


def _metadata(messages: Sequence[Message], platform: str) -> dict[str, JsonValue]:
    speakers = Counter(message.speaker for message in messages)
    times = sorted(message.time.replace(tzinfo=None) for message in messages if message.time is not None)
    found: dict[str, JsonValue] = {"platform": platform, "messages": len(messages)}
    found["speakers"] = [speaker for speaker, _ in speakers.most_common(_MOST_NAMED)]
    if times:
        found |= {"date": times[0].date().isoformat(), "last_message": times[-1].date().isoformat()}
    return found


def _write(joined: JoinedBlocks, messages: Sequence[Message]) -> None:
    day: date | None = None
    for first, replies in threads(messages):
        own = first.time.date() if first.time is not None else day
        begins = own != day
        if begins and own is not None:
            joined.add_heading(day_in_words(own), 2)
            day = own
        joined.add(_written(first, own, first.link if begins or replies else None), "paragraph")
        if replies:
            items = (_written(reply, own, None).replace("\n", "\n  ") for reply in replies)
            joined.add("\n".join(f"- {item}" for item in items), "list")


def threads(messages: Sequence[Message]) -> Iterator[Thread]:
    """Yield messages by time, each with its replies; one without a time stays behind the message before it.

    Of messages with the same identity the last one counts: an edited message comes twice. A thread whose first message
    is missing begins with its first reply.
    """
    latest = {message.id: message for message in messages if message.id}
    unlike = [message for message in messages if not message.id or latest.pop(message.id, None) is not None]
    newest = {message.id: message for message in messages if message.id}
    found: dict[str, Thread] = {}
    order: list[Thread] = []
    for message in _by_time([newest.get(message.id, message) for message in unlike]):
        thread = message.thread or message.id
        known = found.get(thread) if thread else None
        if known is not None:
            known[1].append(message)
            continue
        order.append((message, []))
        if thread:
            found[thread] = order[-1]
    yield from order


def _by_time(messages: Sequence[Message]) -> list[Message]:
    last = datetime(1, 1, 1)  # noqa: DTZ001 # times are compared as their clocks show them
    keys = []
    for message in messages:
        last = message.time.replace(tzinfo=None) if message.time is not None else last
        keys.append(last)
    return [messages[place] for place in sorted(range(len(messages)), key=keys.__getitem__)]


def _written(message: Message, day: date | None, link: str | None) -> str:
    """Return a message on a line: speaker, time with a link to it, whom it answers, text, names of files."""
    time = ""
    if message.time is not None:
        time = f"{message.time:%H:%M}"
        if day is not None and message.time.date() != day:
            time = f"{message.time.day} {_MONTHS[message.time.month - 1]}, {time}"
        time = f"[{time}]({link})" if link else time
    aside = ", ".join(part for part in (time, f"to {message.answers}" if message.answers else "") if part)
    speaker = name_of(message.speaker).replace("*", "\\*").replace("[", "\\[") or "Unknown"
    text = line_text(message.text)
    files = f"(file: {', '.join(map(name_of, message.files))})" if message.files else ""
    said = " ".join(part for part in (text, files) if part)
    between = "\n" if said.startswith("```") else " "
    return f"**{speaker}**{f' ({aside})' if aside else ''}:{between}{said}".rstrip()

"""Exports of one's own data: conversations of Messenger, and with programs that answer."""

from tests.unit.parsing.chats.reading import lines, read

MORNING = 1772532000.0
"""3 March 2026, 10:00 in UTC."""


def test_messenger() -> None:
    """Letters that the export takes apart are whole again; what was taken back is counted."""
    sent = {"timestamp_ms": int(MORNING * 1000), "sender_name": "J\u00c3\u00b6rg"}
    said = {
        **sent,
        "content": "Gr\u00c3\u00bc\u00c3\u009fe \u00e2\u009a\u0093",
        "share": {"link": "https://a.example/x"},
    }
    held = [said, {**sent, "photos": [{"uri": "photos/pier.jpg"}]}, {**sent, "content": "no", "is_unsent": True}]
    document = read("message_1.json", {"participants": [{"name": "Ulf"}], "title": "Ulf", "messages": held})
    assert lines(document) == [
        "# Ulf",
        "## Tuesday, 3 March 2026",
        "**Jörg** (10:00): Grüße ⚓",
        "https://a.example/x",
        "**Jörg** (10:00): (file: pier.jpg)",
    ]
    assert document.metadata["left_out"] == {"attachments": 1, "notices": 1}
    sealed = {"participants": ["Ulf"], "threadName": "Ulf", "messages": [{"senderName": "Ulf", "text": "Grüße"}]}
    assert lines(read("Ulf_1.json", sealed)) == ["# Ulf", "**Ulf**: Grüße"]


def test_conversations_with_assistants() -> None:
    """Each has its heading; what the program was told beforehand is counted."""
    nodes = [("system", MORNING - 9, "Be brief."), ("user", MORNING, "When?"), ("assistant", MORNING + 60, "At nine.")]
    asked = {
        str(number): {"message": {"author": {"role": role}, "create_time": time, "content": {"parts": [text]}}}
        for number, (role, time, text) in enumerate(nodes)
    }
    document = read("conversations.json", [{"title": "Tides", "mapping": {"root": {"message": None}, **asked}}])
    assert lines(document)[2:] == ["**User** (10:00): When?", "**Assistant** (10:01): At nine."]
    assert document.metadata["left_out"] == {"notices": 1}
    said = {"sender": "human", "created_at": "2026-03-03T10:00:00Z", "content": [{"type": "text", "text": "When?"}]}
    assert lines(read("a.json", [{"name": "Tides", "chat_messages": [said]}]))[2:] == ["**User** (10:00): When?"]

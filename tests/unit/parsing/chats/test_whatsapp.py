"""WhatsApp writes a chat as text, with dates as the language and the telephone have them."""

import pytest

from tests.unit.parsing.chats.reading import lines, read


@pytest.mark.parametrize(
    ("begins", "day", "clock"),
    [
        ("[27.03.26, 14:03:11] ", "Friday, 27 March 2026", "14:03"),
        ("3/27/26, 2:03\u202fPM - ", "Friday, 27 March 2026", "14:03"),
        ("27/03/2026 14:03 - ", "Friday, 27 March 2026", "14:03"),
        ("27/03/26, 2:03 pm - ", "Friday, 27 March 2026", "14:03"),
        ("2026-03-27, 5:46 p.m. - ", "Friday, 27 March 2026", "17:46"),
        ("2026/03/27, 5:46 am - ", "Friday, 27 March 2026", "05:46"),
        ("[27/03/26\u060c 14:03:11] ", "Friday, 27 March 2026", "14:03"),
        ("\u200e[27.03.26, 12:03:11\u202fAM] ", "Friday, 27 March 2026", "00:03"),
        ("27-03-2026 14:03:11: ", "Friday, 27 March 2026", "14:03"),
        ("3/4/26, 2:03 PM - ", "Wednesday, 4 March 2026", "14:03"),
        ("03/04/2026, 14:03 - ", "Friday, 3 April 2026", "14:03"),
    ],
)
def test_a_time_is_read_as_its_language_writes_it(begins: str, day: str, clock: str) -> None:
    """Days before months or after them, clocks of twelve hours, narrow spaces."""
    document = read("chat.txt", f"{begins}Ulvhild Berg: The ferry is late\n{begins}Torkel: Which one?\n")
    assert lines(document) == [
        f"## {day}",
        f"**Ulvhild Berg** ({clock}): The ferry is late",
        f"**Torkel** ({clock}): Which one?",
    ]
    assert document.metadata["speakers"] == ["Ulvhild Berg", "Torkel"]


def test_days_that_count_up_tell_which_number_is_the_month() -> None:
    """Messages stand in their order, and rather on days that follow than in months that do."""
    source = "".join(f"3/{day}/26, 14:03 - {name}: x\n" for day, name in ((4, "A"), (5, "B"), (6, "A")))
    assert [line for line in lines(read("a.txt", source)) if line.startswith("#")] == [
        "## Wednesday, 4 March 2026",
        "## Thursday, 5 March 2026",
        "## Friday, 6 March 2026",
    ]


def test_messages_of_several_lines_notices_and_files() -> None:
    """Lines without a time belong to the message above, and none of them becomes a heading; notices are counted."""
    document = read(
        "chat.txt",
        "3/27/26, 2:03 PM - Messages and calls are end-to-end encrypted.\n"
        "3/27/26, 2:03 PM - Eva: # plan\nsecond line\n\n===\n> said <b>he</b>\n- item\n"
        "3/27/26, 2:04 PM - Torkel: <Media omitted>\n"
        "3/27/26, 2:05 PM - Torkel added Ulv\n"
        "3/28/26, 2:05 PM - Torkel: IMG-1.jpg (file attached)\nthe rope\n",
    )
    assert lines(document) == [
        "## Friday, 27 March 2026",
        "**Eva** (14:03): \\# plan",
        "second line",
        "\\===",
        "\\> said \\<b>he\\</b>",
        "- item",
        "**Torkel** (14:04): (file: Media omitted)",
        "## Saturday, 28 March 2026",
        "**Torkel** (14:05): the rope (file: IMG-1.jpg)",
    ]
    assert document.metadata["left_out"] == {"attachments": 2, "notices": 2}
    assert [block.kind for block in document.blocks] == ["heading", *["paragraph"] * 2, "heading", "paragraph"]


def test_names_with_colons_and_marks() -> None:
    """A name that always goes on behind a colon is one; marks that reorder text are no part of it."""
    source = "".join(f"[27.03.26, 14:03:1{n}] Ulv: hafen: rope {n}\n" for n in range(3))
    document = read("a.txt", source + "[27.03.26, 14:04:11] \u202e~\u202fEv*a: Note: hi\n")
    assert lines(document)[1:] == [
        *(f"**Ulv: hafen** (14:03): rope {n}" for n in range(3)),
        "**Ev\\*a** (14:04): Note: hi",
    ]


@pytest.mark.parametrize(
    "source",
    [
        "2026-03-03 10:00 - INFO: started\n2026-03-03 10:01 - ERROR: failed\n",
        "[2026-03-03, 10:00:12] WARN: slow\n[2026-03-03, 10:00:13] Server: started\n",
        "[03.03.26, 10:00:12] sshd[210]: opened\n[03.03.26, 10:00:13] cron: begun\n",
        "2026-03-03 10:00:12 - main.py:22: a\n2026-03-03 10:00:12 - main.py:22: b\n",
        "03.03.26\nWent to the shore: cold.\n\n04.03.26, 10:00 - lunch\n",
        "12/3/26, 10:00 - a single line: no chat\n",
        "03.03.2026 10:00 Departure: Velling\n03.03.2026 11:00 Arrival: Norrby\n",
    ],
)
def test_a_log_or_a_diary_is_no_chat(source: str) -> None:
    """Dates and colons alone make none; the text stays as it is."""
    assert read("a.txt", source).markdown == source


def test_impossible_dates_and_one_message_of_another_year() -> None:
    """A message without a possible date keeps its place."""
    document = read("a.txt", "[27.03.26, 14:03:11] A: x\n[45.13.26, 14:03:11] B: y\n[28.03.26, 14:03:11] A: z\n")
    assert [line.split(" (")[0] for line in lines(document)] == [
        "## Friday, 27 March 2026",
        "**A**",
        "**B**: y",
        "## Saturday, 28 March 2026",
        "**A**",
    ]

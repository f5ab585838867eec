"""Exports of Slack, Discord, Telegram and Teams as files of their own."""

import pytest

from tests.unit.parsing.chats.reading import lines, read


def slack(ts: float, user: str, text: str, **more: object) -> dict[str, object]:
    return {"type": "message", "user": user, "text": text, "ts": f"{ts:.6f}", **more}


MORNING = 1772532000.0
"""3 March 2026, 10:00 in UTC."""


def test_slack_threads_edits_bots_and_notices() -> None:
    """Replies stand below their message, also those of a later day; the last wording of a message counts."""
    root = f"{MORNING:.6f}"
    document = read(
        "2026-03-03.json",
        [
            slack(MORNING - 60, "U1", "<@U1> has joined", subtype="channel_join"),
            slack(MORNING, "U1", "Which *grease*?", thread_ts=root, user_profile={"real_name": "Ulvhild Berg"}),
            slack(MORNING + 60, "U2", "aside", username="ulf"),
            slack(MORNING + 86_400, "U2", "the ~red~ _green_ one, <@U1>", thread_ts=root),
            slack(MORNING + 120, "U1", "old wording"),
            slack(MORNING + 120, "U1", "new wording"),
            {
                "type": "message",
                "subtype": "bot_message",
                "username": "alarm",
                "ts": f"{MORNING + 180:.6f}",
                "text": "",
                "attachments": [
                    {"title": "Pump", "title_link": "https://a.example/p", "text": "is *hot*", "fallback": "no"}
                ],
                "files": [{"name": "log.txt"}],
            },
            {
                "type": "message",
                "ts": f"{MORNING + 240:.6f}",
                "bot_id": "B1",
                "blocks": [
                    {"type": "section", "text": {"type": "mrkdwn", "text": "see <https://a.example|a>"}},
                    {
                        "type": "rich_text",
                        "elements": [
                            {
                                "type": "rich_text_section",
                                "elements": [{"type": "text", "text": "for "}, {"type": "user", "user_id": "U1"}],
                            }
                        ],
                    },
                ],
            },
        ],
    )
    assert lines(document) == [
        "## Tuesday, 3 March 2026",
        "**Ulvhild Berg** (10:00): Which **grease**?",
        "- **U2** (4 March, 10:00): the ~~red~~ _green_ one, @Ulvhild Berg",
        "**ulf** (10:01): aside",
        "**Ulvhild Berg** (10:02): new wording",
        "**alarm** (10:03): [Pump](https://a.example/p)",
        "is **hot** (file: log.txt)",
        "**B1** (10:04): see [a](https://a.example) for  @Ulvhild Berg",
    ]
    assert document.metadata["left_out"] == {"attachments": 1, "notices": 1}


def test_slack_markup() -> None:
    """References get names, code stays as it is, and signs that Slack escapes are signs again."""
    said = (
        "<!here> <#C1|winch> <https://a.example/x?a=1&amp;b=2> <mailto:a@b.example|a@b.example> "
        "<!date^1^{date}|3 March> &lt;never&gt; `&lt;b&gt; *x* &amp;`"
    )
    (_, line, *code) = lines(read("a.json", [slack(MORNING, "U1", said + "\n```\n# *no* heading &lt;b&gt;\n```")]))
    assert line == (
        "**U1** (10:00): @here #winch https://a.example/x?a=1&b=2 a@b.example 3 March \\<never> `<b> *x* &`"
    )
    assert code == ["```", "# *no* heading <b>", "```"]


def test_discord() -> None:
    """A channel below its server, replies with whom they answer, cards, files, links to messages."""
    author = {"id": "7", "name": "tor", "nickname": "Torkel Vik", "isBot": False}
    other = {"id": "8", "name": "ulvhild", "isBot": False}
    document = read(
        "export.json",
        {
            "guild": {"id": "11", "name": "Harbour"},
            "channel": {"id": "22", "type": "GuildTextChat", "category": "Yard", "name": "winch", "topic": "Ropes"},
            "dateRange": {"after": None, "before": None},
            "messages": [
                {
                    "id": "100",
                    "type": "Default",
                    "timestamp": "2026-03-03T10:00:12.5+01:00",
                    "content": "# Which?",
                    "author": author,
                },
                {
                    "id": "101",
                    "type": "GuildMemberJoin",
                    "timestamp": "2026-03-03T10:00:13+01:00",
                    "content": "",
                    "author": other,
                },
                {
                    "id": "102",
                    "type": "Reply",
                    "timestamp": "2026-03-03T10:05:00+01:00",
                    "content": "the **green** one",
                    "author": other,
                    "reference": {"messageId": "100"},
                    "attachments": [{"fileName": "a.png"}],
                    "embeds": [{"title": "Manual", "url": "https://a.example", "description": "of the winch"}],
                },
            ],
        },
    )
    assert document.title == "Harbour › Yard › winch, March 2026"
    assert lines(document) == [
        "# Harbour › Yard › winch",
        "Ropes",
        "## Tuesday, 3 March 2026",
        "**Torkel Vik** ([10:00](https://discord.com/channels/11/22/100)): \\# Which?",
        "**ulvhild** (10:05, to Torkel Vik): the **green** one",
        "[Manual](https://a.example)",
        "of the winch (file: a.png)",
    ]
    assert document.metadata["left_out"] == {"attachments": 1, "notices": 1}


TELEGRAM = {
    "name": "Quay",
    "type": "private_group",
    "id": 5,
    "messages": [
        {
            "id": 1,
            "type": "service",
            "date": "2026-03-03T09:00:00",
            "actor": "Eva",
            "action": "create_group",
            "text": "",
        },
        {
            "id": 2,
            "type": "message",
            "date": "2026-03-03T10:00:00",
            "from": "Eva",
            "from_id": "user1",
            "text": [
                "See ",
                {"type": "text_link", "text": "this", "href": "https://a.example"},
                " ",
                {"type": "bold", "text": "now"},
            ],
        },
        {
            "id": 3,
            "type": "message",
            "date": "2026-03-04T11:00:00",
            "from": None,
            "from_id": "user2",
            "text": "late",
            "reply_to_message_id": 2,
            "file": "files/plan.pdf",
        },
    ],
}


def test_telegram() -> None:
    """One chat, and the export of all with a heading a chat."""
    messages = [
        "## Tuesday, 3 March 2026",
        "**Eva** (10:00): See [this](https://a.example) **now**",
        "## Wednesday, 4 March 2026",
        "**user2** (11:00, to Eva): late (file: plan.pdf)",
    ]
    assert lines(read("result.json", TELEGRAM)) == ["# Quay", *messages]
    several = read("result.json", {"about": "…", "personal_information": {}, "chats": {"list": [TELEGRAM, TELEGRAM]}})
    assert lines(several) == ["# Quay", *messages] * 2


def test_telegram_page() -> None:
    """Messages that follow one of the same person have no name of their own."""

    def message(number: int, time: str, name: str, text: str) -> str:
        kind = "default clearfix" + ("" if name else " joined")
        named = f'<div class="from_name">{name} </div>' if name else ""
        return (
            f'<div class="message {kind}" id="message{number}"><div class="body">'
            f'<div class="pull_right date details" title="03.03.2026 {time} UTC+01:00">{time[:5]}</div>{named}'
            f'<div class="text">{text}</div></div></div>'
        )

    page = (
        '<!DOCTYPE html><html><head><meta charset="utf-8"/></head><body><div class="page_wrap">'
        '<div class="page_header"><div class="content"><div class="text bold">Quay</div></div></div>'
        '<div class="message service" id="message-1"><div class="body details">3 March 2026</div></div>'
        + message(1, "10:00:00", "Eva", 'See <a href="https://a.example">this</a><br>now')
        + message(2, "10:01:00", "", "# no heading")
        + message(3, "10:02:00", "Torkel", "Ja, Ærøskøbing")
        + "</div></div></body></html>"
    )
    document = read("messages.html", page)
    assert document.title == "Quay, March 2026"
    assert [line.rstrip() for line in lines(document)[1:]] == [
        "## Tuesday, 3 March 2026",
        "**Eva** (10:00): See [this](https://a.example)",
        "now",
        "**Eva** (10:01): \\# no heading",
        "**Torkel** (10:02): Ja, Ærøskøbing",
    ]


def test_teams_of_graph() -> None:
    """Replies by `replyToId`, HTML as Markdown, the subject, links to messages."""

    def message(number: str, minute: int, text: str, **more: object) -> dict[str, object]:
        sender = {"user": {"displayName": "Ulvhild Berg" if minute else "Torkel Vik"}}
        return {
            "id": number,
            "messageType": "message",
            "createdDateTime": f"2026-03-03T10:0{minute}:00Z",
            "from": sender,
            "body": {"contentType": "html", "content": text},
            **more,
        }

    document = read(
        "messages.json",
        {
            "value": [
                message("2", 3, "<p>the <strong>green</strong> one</p>", replyToId="1"),
                message(
                    "1",
                    0,
                    '<p>Which, <at id="0">Ulvhild</at>?</p>',
                    subject="Grease",
                    webUrl="https://teams.example/1",
                    attachments=[{"name": "plan.docx"}],
                ),
                message("3", 1, "aside"),
                {
                    "id": "4",
                    "messageType": "systemEventMessage",
                    "createdDateTime": "2026-03-03T10:09:00Z",
                    "from": None,
                    "body": {},
                },
            ]
        },
    )
    assert lines(document) == [
        "## Tuesday, 3 March 2026",
        "**Torkel Vik** ([10:00](https://teams.example/1)): **Grease**",
        "Which, Ulvhild? (file: plan.docx)",
        "- **Ulvhild Berg** (10:03): the **green** one",
        "**Ulvhild Berg** (10:01): aside",
    ]


def test_teams_of_own_data() -> None:
    """The export of one's own data has conversations from the newest message to the oldest."""
    document = read(
        "messages.json",
        {
            "userId": "8:ulvhild",
            "conversations": [
                {
                    "displayName": "Yard",
                    "MessageList": [
                        {
                            "id": "2",
                            "originalarrivaltime": "2026-03-03T10:01:00Z",
                            "messagetype": "RichText/Html",
                            "content": "<p>late</p>",
                            "from": "8:torkel",
                            "displayName": None,
                        },
                        {
                            "id": "1",
                            "originalarrivaltime": "2026-03-03T10:00:00Z",
                            "messagetype": "Text",
                            "content": "here?",
                            "displayName": "Ulvhild Berg",
                        },
                        {
                            "id": "0",
                            "originalarrivaltime": "2026-03-03T09:00:00Z",
                            "messagetype": "ThreadActivity/AddMember",
                        },
                    ],
                }
            ],
        },
    )
    assert lines(document) == [
        "# Yard",
        "## Tuesday, 3 March 2026",
        "**Ulvhild Berg** (10:00): here?",
        "**torkel** (10:01): late",
    ]


@pytest.mark.parametrize(
    "value",
    [
        {"messages": [{"role": "user", "content": "hi"}]},
        [{"ts": "1.0", "level": "info", "type": "event"}],
        {"value": [{"createdDateTime": "2026-03-03T10:00:00Z", "body": {"content": "mail"}, "subject": "x"}]},
        {"conversations": [], "messages": {"ts": "1"}},
        {"slack_month": 3},
    ],
)
def test_other_json_is_no_chat(value: object) -> None:
    """Words that chats have, too, do not make one."""
    assert read("a.json", value).markdown.startswith("```json\n")


def test_bad_messages_are_read_as_far_as_they_can_be() -> None:
    """Times that are missing or absurd, texts that are no text, unknown ids, names as headings and of nothing."""
    messages = [
        slack(MORNING, "U404", "known day"),
        {"type": "message", "ts": "x", "user": None, "text": None, "files": [None, {}]},
        {"type": "message", "ts": "99999999999999999999.1", "user": "# U\n", "text": "```\nopen"},
    ]
    assert lines(read("a.json", messages)) == [
        "## Tuesday, 3 March 2026",
        "**U404** (10:00): known day",
        "**Unknown**:",
        "**# U**: \\```",
        "open",
    ]

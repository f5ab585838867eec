"""Pages in Confluence's storage format, and XHTML with sections of character data."""

from sourcebook.parsing.html.cleaner import clean_page


def _written(markup: str) -> str:
    return clean_page(markup.encode(), keep="body").markdown.strip()


def test_macros_are_what_they_show() -> None:
    """Code keeps its signs and language, a panel its title, a state and a task their words; parameters are no text."""
    code = (
        '<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">bash</ac:parameter>'
        '<ac:parameter ac:name="linenumbers">true</ac:parameter>'
        "<ac:plain-text-body><![CDATA[crane --open <hook>\n  --slow]]></ac:plain-text-body></ac:structured-macro>"
    )
    panel = (
        '<ac:structured-macro ac:name="expand"><ac:parameter ac:name="title">Keys</ac:parameter>'
        "<ac:rich-text-body><p>Below the lion.</p></ac:rich-text-body></ac:structured-macro>"
    )
    task = "<ac:task><ac:task-id>7</ac:task-id><ac:task-status>{}</ac:task-status>"
    task += "<ac:task-body>{}</ac:task-body></ac:task>"
    tasks = f"<ac:task-list>{task.format('complete', 'Oil')}{task.format('incomplete', 'Tar')}</ac:task-list>"
    state = (
        '<p>It is <ac:structured-macro ac:name="status"><ac:parameter ac:name="title">BLOCKED</ac:parameter>'
        '<ac:parameter ac:name="colour">Red</ac:parameter></ac:structured-macro> by <ac:link><ri:page '
        'ri:content-title="Chain" /></ac:link>.</p>'
    )

    assert _written(f"<h1>Crane</h1>{code}{panel}{tasks}{state}") == (
        "# Crane\n\n```bash\ncrane --open <hook>\n  --slow\n```\n\n**Keys**\n\nBelow the lion.\n\n"
        "- [x] Oil\n- [ ] Tar\n\nIt is BLOCKED by Chain."
    )


def test_character_data_is_text() -> None:
    """HTML has no such sections, XHTML has; one that does not end takes nothing with it."""
    assert _written("<pre><![CDATA[if (a < b && c)]]></pre><p>after</p>") == "```\nif (a < b && c)\n```\n\nafter"
    assert "after" in _written("<p>before</p><p><![CDATA[x</p><p>after</p>")

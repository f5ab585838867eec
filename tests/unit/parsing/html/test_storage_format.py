"""Pages in Confluence's storage format: what its macros show is in the text, and nothing is glued."""

import time

from sourcebook.parsing.html.storage_format import html_of_storage
from sourcebook.parsing.parse import parse


def markdown(source: str) -> str:
    return parse(source.encode(), name="page.html", media_type="text/html").markdown


def macro(name: str, body: str = "", **values: str) -> str:
    said = "".join(f'<ac:parameter ac:name="{key}">{value}</ac:parameter>' for key, value in values.items())
    return f'<ac:structured-macro ac:name="{name}" ac:schema-version="1">{said}{body}</ac:structured-macro>'


def rich(body: str) -> str:
    return f"<ac:rich-text-body>{body}</ac:rich-text-body>"


def test_code_keeps_its_lines_signs_and_language() -> None:
    """Code is CDATA, in which a part of it may end and go on."""
    body = '<ac:plain-text-body><![CDATA[a <b> && c\n  d &amp; "]]]]><![CDATA[>"]]></ac:plain-text-body>'
    assert markdown("<p>Run:</p>" + macro("code", body, title="start.sh", language="bash")) == (
        'Run:\n\n**start.sh**\n\n```bash\na <b> && c\n  d &amp; "]]>"\n```\n'
    )


def test_panels_nest_and_have_titles() -> None:
    """The kind stands above a panel without a title; an unknown macro keeps its body."""
    inner = macro("warning", rich("<p>Deep water.</p>"))
    page = macro("expand", rich(f"<p>The key.</p>{inner}"), title="More &amp; more") + macro(
        "excerpt", rich("<p>Out.</p>")
    )
    assert markdown(page) == "**More & more**\n\nThe key.\n\n**Warning**\n\nDeep water.\n\nOut.\n"


def test_words_beside_a_macro_stay_apart() -> None:
    """States, dates, people, keys of issues and emoticons within a sentence."""
    page = (
        f'<p>Now{macro("status", title="BLOCKED", colour="Red")}since <time datetime="2026-03-03" /> by '
        '<ac:link><ri:user ri:username="ulv"/></ac:link>, see'
        + macro("jira", key="ABC-1", server="S")
        + '<ac:emoticon ac:name="smile" ac:emoji-fallback="🙂"/></p>'
    )
    assert markdown(page) == "Now BLOCKED since 2026-03-03 by ulv, see ABC-1 🙂\n"


def test_tasks_links_and_pictures() -> None:
    """Done and open tasks; links by the title of a page or the name of a file; a picture's description and caption."""
    page = (
        "<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status>"
        "<ac:task-body>Oil</ac:task-body></ac:task><ac:task><ac:task-status>incomplete</ac:task-status>"
        '<ac:task-body>Paint</ac:task-body></ac:task></ac:task-list><p>'
        '<ac:link><ri:page ri:content-title="Gate motor"/>'
        "<ac:plain-text-link-body><![CDATA[the motor]]></ac:plain-text-link-body></ac:link> "
        '<ac:link><ri:attachment ri:filename="plan.pdf"/></ac:link></p><ac:image ac:alt="Drawing">'
        '<ri:attachment ri:filename="a b.png"/><ac:caption><p>Of the hook</p></ac:caption></ac:image>'
        + macro("toc") + macro("children") + "<p>End</p>"
    )  # fmt: skip
    assert markdown(page) == ("- [x] Oil\n- [ ] Paint\n\nthe motor plan.pdf\n\nDrawing\n\n*Of the hook*\n\nEnd\n")


def test_layouts_and_newer_elements_keep_their_text() -> None:
    """Cells of a layout, remarks on words, and the fallback of parts that only newer editors show."""
    page = (
        '<ac:layout><ac:layout-section ac:type="two_equal"><ac:layout-cell><h2>Left</h2><p>l '
        '<ac:inline-comment-marker ac:ref="1">marked</ac:inline-comment-marker></p></ac:layout-cell><ac:layout-cell>'
        "<p><ac:placeholder>Type here</ac:placeholder></p><ac:adf-extension><ac:adf-node type=\"panel\">"
        "<ac:adf-content><p>twice</p></ac:adf-content></ac:adf-node><ac:adf-fallback><p>once</p></ac:adf-fallback>"
        "</ac:adf-extension></ac:layout-cell></ac:layout-section></ac:layout>"
    )  # fmt: skip
    assert markdown(page) == "## Left\n\nl marked\n\nonce\n"


def test_other_pages_are_untouched_and_broken_ones_end() -> None:
    """Without its elements a page is as it was; elements that never end take linear time."""
    page = "<p>a <![CDATA[b]]> c</p>"
    assert html_of_storage(page) == page
    begun = time.process_time()
    for source in (
        "<ac:link>" * 20_000,
        "<![CDATA[" * 20_000 + "<ac:task>",
        "<ac:task " * 20_000,
        "<ri:page/>" * 20_000,
    ):
        html_of_storage(source)
    assert time.process_time() - begun < 15

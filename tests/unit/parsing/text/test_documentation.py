"""Markdown as documentation tools write it: what a reader of the published page sees, and the anchors that it has."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.chunking.sections import sections
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.text.documentation.reading import plain_markdown
from sourcebook.parsing.text.markdown import parse_markdown
from tests.unit.parsing.covering import assert_blocks_cover, texts


def parsed(markdown: str) -> ParsedDocument:
    document = parse_markdown(markdown.encode())
    assert_blocks_cover(document)
    return document


def plain(markdown: str) -> str:
    """Return the text as it is stored, without blank lines."""
    return "\n".join(line for line in parsed(markdown).markdown.split("\n") if line.strip())


@pytest.mark.parametrize(
    ("heading", "title", "anchor"),
    [
        ("## Path parameters { #path-parameters }", "Path parameters", "path-parameters"),
        ("## Title {#own .wide data-x=1}", "Title", "own"),
        ("## Title {: #own .wide }", "Title", "own"),
        ("## Title {.wide #own}", "Title", "own"),
        ("## Title{#own}", "Title", "own"),
        ("## Title ## {#own}", "Title", "own"),
        ("## Title {/* #own */}", "Title", "own"),
        ('## Title {id="own"}', "Title", "own"),
        ("Title {#own}\n------", "Title", "own"),
        ("## Title\n{: #own .no_toc}", "Title", "own"),
        ("{: #own}\n## Title", "Title", "own"),
        ("(my_own)=\n## Title", "Title", "my-own"),
        ("#### Deep {#own}", "Deep", "own"),
        ("## Überblick {#overview-1.2}", "Überblick", "overview-1.2"),
        ("## Title {.wide}", "Title", "title"),
        ("## Title {-}", "Title", "title"),
        ("## Use {name} here", "Use {name} here", "use-name-here"),
        ("## The `{#id}` mark", "The {#id} mark", "the-id-mark"),
        ("## `_auth.py` and *args", "_auth.py and *args", "_authpy-and-args"),
        ("## See [[Page|the page]]", "See the page", "see-pagethe-page"),
    ],
)
def test_a_heading_has_the_anchor_of_its_page(heading: str, title: str, anchor: str) -> None:
    """The id that it is given, without a trace in title and text; else the rule that holds for all."""
    document = parsed(f"# Top\n\n{heading}\n\nText.\n")
    found = next(block for block in document.blocks if block.level > 1)
    assert found.title == title
    given = [section.anchor for section in sections(document.blocks)]
    assert given[-1] == (anchor if "[[" not in heading else "see-the-page")
    assert "{#own" not in document.markdown


def test_a_given_id_takes_no_number_of_others() -> None:
    """Two headings of one text are `a` and `a-1`; one with an id of its own is neither."""
    document = parsed("# A\n\n## B\n\n## B {#mine}\n\n## B\n")
    assert [section.anchor for section in sections(document.blocks)] == ["a", "b", "mine", "b-1"]


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ('!!! note "Mind the *gap*"\n\n    Text.\n\nAfter.', "**Mind the *gap***\nText.\nAfter."),
        ("!!! seealso\n    Text.", "**Seealso**\nText."),
        ('!!! note ""\n    Text.', "Text."),
        ('??? tip inline end "Folded"\n    - a\n    - b', "**Folded**\n- a\n- b"),
        ("!!! note These words are read\n\n    Text.", "**Note**\nThese words are read\nText."),
        (
            '- item\n\n    !!! tip "In a list"\n        Text.\n\n    more',
            "- item\n    **In a list**\n    Text.\n    more",
        ),
        ('=== "Linux"\n\n    Use it.\n\n=== "Windows"\n\n    Do not.', "**Linux**\nUse it.\n**Windows**\nDo not."),
        ("/// note | Technical details\nText.\n///", "**Technical details**\nText."),
        ("/// warning\n    type: danger\n\nText.\n\n///", "**Warning**\nText."),
        ("//// tab | One\n\n/// tip\n\nIn it.\n\n///\n\n////", "**One**\n**Tip**\nIn it."),
        ("/// html | div.result\nText.\n///", "Text."),
        (":::tip[My tip]\n\nText.\n\n:::", "**My tip**\nText."),
        ("::: details Click me\nText.\n:::", "**Click me**\nText."),
        (":::: warning\n::: tip\nInner.\n:::\nOuter.\n::::", "**Warning**\n**Tip**\nInner.\nOuter."),
        ('::: {.callout-note title="Read this"}\nText.\n:::', "**Read this**\nText."),
        ("::: {.column width=50%}\nText.\n:::", "Text."),
        ("::: code-group\n```js [a.js]\nx\n```\n:::", "```js [a.js]\nx\n```"),
        (":::{admonition} Title\n:class: tip\nText.\n:::", "**Title**\nText."),
        ("::::{grid} 1 2\n:::{card}\n:header: Set up\n:link: a.md\nText.\n:::\n::::", "Set up [a.md](a.md)\nText."),
        ("```{note} Words\nText.\n```", "**Note**\nWords\nText."),
        ("::: pkg.module.Class\n    options:\n      members: true\n\nText.", "`pkg.module.Class`\nText."),
        ("> [!warning] Own title\n> Text.", "> **Own title**\n>\n> Text."),
        ("> [!NOTE]\n> Text.", "> **Note**\n>\n> Text."),
        ("> [!tip]- Folded\n> > [!note]\n> > In it.", "> **Folded**\n>\n> > **Note**\n> >\n> > In it."),
    ],
)
def test_titles_of_blocks_stay_and_their_marks_go(written: str, seen: str) -> None:
    """A block without a title shows its name; what is in it is Markdown, however it is indented."""
    assert plain(written) == seen


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        ("[Go](a.md){ .md-button } to *it*{.x}.", "[Go](a.md) to *it*."),
        ("Text.\n{: .lead}", "Text."),
        ("* TOC\n{:toc}\n\nText.", "Text."),
        ("[TOC]\n\nText.", "Text."),
        ("{::comment}\nhidden\n{:/comment}\n\nText.", "Text."),
        ("A {term}`corpus`, {ref}`the rule <rules>`, {doc}`guide`.", "A `corpus`, the rule, [guide](guide)."),
        ('{{< figure src="a.png" title="The pump" >}}', "The pump"),
        ('{{% notice tip "Read this" %}}\nText.\n{{% /notice %}}', "Read this\nText."),
        (
            '[a]({{< ref "b.md" >}}) [c]({% link _posts/d.md %}) [e]({{ site.baseurl }}/f)',
            "[a](b.md) [c](_posts/d.md) [e](/f)",
        ),
        ("{% highlight ruby %}\n{% if x %}\n{% endhighlight %}", "```ruby\n{% if x %}\n```"),
        ('{% hint style="info" %}\nText.\n{% endhint %}', "Text."),
        ('{% tab title="Linux" %}\nText.\n{% endtab %}', "Linux\nText."),
        ('<Link to="/a">over</Link> <Link to="/b">two\nlines</Link>', "[over](/a) two\nlines"),
        ("{% raw %}\n`{{ x }}`\n{% endraw %}", "`{{ x }}`"),
        ("Sums: $x_{i=1}$, $[a]{.5}$.", "Sums: $x_{i=1}$, $[a]{.5}$."),
        ("Write {{ name }}, {name}, {a: 1}.", "Write {{ name }}, {name}, {a: 1}."),
        ("Use {% frobnicate %} in a line.", "Use {% frobnicate %} in a line."),
    ],
)
def test_marks_that_nobody_sees_go(written: str, seen: str) -> None:
    """Attributes, shortcodes, tags and roles; braces that are text stay."""
    assert plain(written) == seen


MDX = """\
import Tabs from '@theme/Tabs';
import Part from './_part.mdx';
import {
  A,
} from 'b';

export const Mark = ({children}) => (
  <b style={{color: 'red'}}>
    {children}
  </b>
);

# Page

<Tabs
  groupId="os"
  defaultValue={'a'}
>
  <TabItem value="a" label="Linux">

    Text of the tab.

    ```sh
    <Tabs> import x from 'y'
    ```

  </TabItem>
  <TabItem value="mac">Second.</TabItem>
</Tabs>

<Card title="Install" href="/install">How to <Mark a={1}>do</Mark> it.</Card>

<Link to="/more">more</Link> of List<String>, <Name> and <YOUR_KEY>.

<Part />

{/* truncate */}
"""


def test_components_of_mdx_leave_their_text() -> None:
    """With the attributes that are shown; imports, exports and comments are not, and a placeholder is no component."""
    assert plain(MDX).split("\n") == [
        "# Page",
        "**Linux**",
        "Text of the tab.",
        "```sh",
        "<Tabs> import x from 'y'",
        "```",
        "mac Second.",
        "[Install](/install) How to do it.",
        "[more](/more) of List<String>, <Name> and <YOUR_KEY>.",
        "[./_part.mdx](./_part.mdx)",
    ]
    assert parsed(MDX).metadata["not_included"] == ["./_part.mdx"]


@pytest.mark.parametrize(
    ("written", "mention", "name"),
    [
        ('--8<-- "docs/part.md"', "[docs/part.md](/docs/part.md)", "docs/part.md"),
        ("--8<--\na.md\n--8<--", "[a.md](/a.md)", "a.md"),
        ('--8<-- "a.py:2:5"', "[a.py:2:5](/a.py)", "a.py:2:5"),
        ('--8<-- "https://e.org/a.md"', "[https://e.org/a.md](https://e.org/a.md)", "https://e.org/a.md"),
        ("{! a.md !}", "[a.md](/a.md)", "a.md"),
        ("{* ../src/a.py hl[1] *}", "[../src/a.py](../src/a.py)", "../src/a.py"),
        ("{{#include a.rs:2:9}}", "[a.rs:2:9](a.rs)", "a.rs:2:9"),
        ("<!--@include: ./a.md{1,9}-->", "[./a.md](./a.md)", "./a.md"),
        ("<<< @/snippets/a.js{2}", "[@/snippets/a.js](/snippets/a.js)", "@/snippets/a.js"),
        ("{% include note.html %}", "[note.html](/note.html)", "note.html"),
        ("{% include_relative a.md %}", "[a.md](a.md)", "a.md"),
        ('{{< readfile file="a.md" >}}', "[a.md](a.md)", "a.md"),
        ("```{include} ../a.md\n```", "[../a.md](../a.md)", "../a.md"),
        ("![[Other note#Part]]", "![[Other note#Part]]", "Other note#Part"),
    ],
)
def test_what_a_tool_includes_is_a_link_and_named(written: str, mention: str, name: str) -> None:
    """Nothing is read from another file or from the network; the metadata name what is not in the text."""
    document = parsed(f"# T\n\n{written}\n")
    assert texts(document)[1] == mention
    assert document.metadata["not_included"] == [name]


MARKS = (
    *('!!! note "x"', "::: tip", ":::", "/// note", "///", '=== "T"', "## T {#id}", "<Tabs>", "</Tabs>"),
    *("{% raw %}", '--8<-- "f"', "{: .x}", "import a from 'b'", "(t)=", "    deep", "{{< x >}}", "> [!note]"),
    *("", "text", "- item", "{::comment}", "{% highlight x %}", "<A", "~~~", "# H", "    - b"),
)


@pytest.mark.parametrize(("fence", "info"), [("```", ""), ("~~~~", ""), ("````", "py title=x")])
@given(st.lists(st.sampled_from(MARKS), max_size=12))
def test_code_stays_as_it_is(fence: str, info: str, lines: list[str]) -> None:
    """All of these signs within code are code."""
    code = "\n".join([fence + info, *(line.replace("~", "-") for line in lines), fence])
    assert plain_markdown(f"{code}\n").text == f"{code}\n"
    assert code in parsed(f"# A {{#b}}\n\n{code}\n").markdown


def test_code_in_html_stays_as_it_is() -> None:
    """A block of it, and a word."""
    block = "<pre class='x'>\n!!! note\n    {% if x %}\n\n::: tip\n:::\n</pre>"
    assert parsed(f"# A {{#b}}\n\n{block}\n\nUse <code>{{% raw %}}</code> and <kbd>[x]{{.a}}</kbd>.\n").markdown == (
        f"# A\n\n{block}\n\nUse <code>{{% raw %}}</code> and <kbd>[x]{{.a}}</kbd>.\n"
    )


def test_indented_code_stays_as_it_is() -> None:
    """It shows how a block is written."""
    source = "# A {#b}\n\nWrite:\n\n    !!! note\n        Text {.x}\n\n    ::: tip\n\nEnd.\n"
    assert parsed(source).markdown == source.replace(" {#b}", "")


@given(st.lists(st.sampled_from(MARKS), max_size=40))
def test_blocks_cover_any_mixture_of_marks(lines: list[str]) -> None:
    """Blocks that cross or never end lose none of the words in them, but comments."""
    source = "\n".join(lines)
    document = parsed(source)
    if "{::comment}" not in lines:
        assert document.markdown.count("text") == source.count("text")
        assert document.markdown.count("item") == source.count("item")


@pytest.mark.parametrize(
    "source",
    [
        "<A>\n" * 20_000,
        "<A\n" * 20_000,
        "<pre>\n" * 20_000,
        "<code>" * 1_600,
        "<A b='\n" * 20_000,
        "::: a\n" * 20_000,
        "/// a\n" * 20_000,
        "".join("    " * depth + "!!! note\n" for depth in range(300)),
        "{% highlight x %}\n" * 20_000,
        "{::comment}\n" * 20_000,
        "export const (\n\n" * 20_000,
        "import {\n\n" * 20_000,
        "--8<--\n" * 20_000,
        "> " * 5_000 + "[!note]",
        "`" * 9_000 + "{#a}",
        "{{< " * 2_400,
        "[a]{.b " * 1_400,
        "<A b " * 1_900,
        "{" * 9_000 + "%",
        "(a)=\n" * 20_000,
        "# a {#b .c " * 1_000,
    ],
    ids=lambda source: source[:10],
)
def test_hostile_marks_are_read_in_little_time(source: str) -> None:
    """What never ends and what is nested deeply."""
    begun = time.process_time()
    parsed(source)
    assert time.process_time() - begun < 8


def test_a_document_without_marks_is_the_author_s() -> None:
    """To the letter, also with braces in its code."""
    source = '# T\n\nText  \nwith `{}`.\n\n\n```json\n{"a": 1}\n```\n> q\n\n* a\n\tb\n'
    assert plain_markdown(source).text is source

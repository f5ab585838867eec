"""Small pages after complaints about other crawlers: each has its right text."""

import pytest

from sourcebook.parsing.html.cleaner import clean_page
from sourcebook.web.fetching.host_rules import tag_directives
from tests.unit.parsing.html.test_boilerplate import PROSE, cleaned

KATEX = (
    '<p>Energy is <span class="katex"><span class="katex-mathml"><math><semantics><mrow><mi>E</mi><mo>=</mo><mi>m</mi>'
    '<msup><mi>c</mi><mn>2</mn></msup></mrow><annotation encoding="application/x-tex">E=mc^2</annotation></semantics>'
    '</math></span><span class="katex-html" aria-hidden="true"><span class="base">E=mc<span>2</span></span></span>'
    "</span> here.</p>"
)
MATHJAX = (
    '<p>The sum is <span class="MathJax_Preview"></span><script type="math/tex">x_1+x_2</script> there.</p>'
    '<script type="math/tex; mode=display">\\int_0^1 x\\,dx</script>'
)
ASSISTIVE = (
    '<p>So <mjx-container class="MathJax" jax="SVG"><svg><g><path d="M1 1"></path></g></svg><mjx-assistive-mml '
    'display="inline"><math><mi>a</mi><mo>+</mo><mi>b</mi></math></mjx-assistive-mml></mjx-container> holds.</p>'
)
SIDENOTE = (
    '<p>The mole<label for="sn-1" class="margin-toggle sidenote-number"></label><input type="checkbox" id="sn-1" '
    'class="margin-toggle"><span class="sidenote">It was built in 1881.</span> is long.</p>'
)
GROUP = (
    '<div class="vp-code-group"><div class="tabs"><input type="radio" name="g" id="t1" checked><label for="t1">npm'
    '</label><input type="radio" name="g" id="t2"><label for="t2">yarn</label></div><div class="blocks">'
    '<div class="language-sh vp-adaptive-theme active"><button title="Copy Code" class="copy"></button>'
    '<span class="lang">sh</span><pre class="shiki"><code><span class="line">npm add tide</span></code></pre></div>'
    '<div class="language-sh vp-adaptive-theme"><button title="Copy Code" class="copy"></button>'
    '<span class="lang">sh</span><pre class="shiki"><code><span class="line">yarn add tide</span></code></pre></div>'
    "</div></div>"
)
SPHINX = (
    '<div class="sd-tab-set docutils"><input checked id="sd-0" name="s" type="radio"><label class="sd-tab-label" '
    'for="sd-0">Linux</label><div class="sd-tab-content docutils"><p>Call ls.</p></div><input id="sd-1" name="s" '
    'type="radio"><label class="sd-tab-label" for="sd-1">Windows</label><div class="sd-tab-content docutils">'
    "<p>Call dir.</p></div></div>"
)
STARLIGHT = (
    '<starlight-tabs><div class="tablist-wrapper"><ul role="tablist"><li role="presentation" class="tab"><a role="tab" '
    'href="#p1" id="t1" aria-selected="true">Linux</a></li><li role="presentation" class="tab"><a role="tab" href="#p2"'
    ' id="t2" aria-selected="false">Windows</a></li></ul></div><div id="p1" aria-labelledby="t1" role="tabpanel">'
    '<p>Call ls.</p></div><div id="p2" aria-labelledby="t2" role="tabpanel" hidden><p>Call dir.</p></div>'
    "</starlight-tabs>"
)
SLOTS = (
    '<my-note><template shadowrootmode="open"><h2>Before</h2><slot></slot><p>After all.</p></template>'
    "<p>Between them.</p></my-note>"
)
POPOVER = (
    '<p>Ask for the <button popovertarget="gl-1">fairway</button> first.</p>'
    '<div id="gl-1" popover><p>The deep part of a harbour.</p></div>'
)
AMP = (
    "<amp-accordion><section><h4>When?</h4><div><p>At nine.</p></div></section></amp-accordion>"
    '<amp-img src="a.png" alt="A plan of the pier"></amp-img><amp-carousel><div><p>Slide of the mole.</p></div>'
    "</amp-carousel>"
)


@pytest.mark.parametrize(
    ("body", "right", "wrong"),
    [
        pytest.param(KATEX, ["Energy is $E=mc^2$ here."], ["mc2"], id="KaTeX"),
        pytest.param(MATHJAX, ["The sum is $x_1+x_2$ there.", r"$$\int_0^1 x"], [], id="MathJax 2"),
        pytest.param(ASSISTIVE, ["So a+b holds."], [], id="MathJax 3"),
        pytest.param(
            "<p><ruby>東京<rt>とうきょう</rt></ruby>へ行く。</p>", ["東京(とうきょう)へ行く。"], [], id="ruby"
        ),
        pytest.param(
            "<p><ruby>漢<rp>(</rp><rt>かん</rt><rp>)</rp>字<rp>(</rp><rt>じ</rt><rp>)</rp></ruby>だ。</p>",
            ["漢(かん)字(じ)だ。"],
            [],
            id="ruby with brackets",
        ),
        pytest.param(
            "<dialog open><p>Closed on Mondays.</p></dialog><dialog><p>Sign up!</p></dialog>",
            ["Closed on Mondays."],
            ["Sign up"],
            id="dialog",
        ),
        pytest.param(POPOVER, ["Ask for the fairway first.", "The deep part of a harbour."], [], id="popover"),
        pytest.param(
            "<table><tr><th>Command</th><th>Options</th></tr><tr><td>sail</td><td><details><summary>All</summary><ul>"
            "<li>--fast goes faster</li></ul></details></td></tr></table>",
            ["sail", "--fast goes faster"],
            [],
            id="details in a table",
        ),
        pytest.param(
            '<div role="table"><div role="rowgroup"><div role="row"><span role="columnheader">Port</span>'
            '<span role="columnheader">m</span></div></div><div role="row"><span role="cell">Kiel</span>'
            '<span role="cell">11</span></div></div>',
            ["| Port | m |", "| Kiel | 11 |"],
            [],
            id="table by its roles",
        ),
        pytest.param(SIDENOTE, ["The mole", "It was built in 1881.", "is long."], ["moleIt"], id="sidenote"),
        pytest.param(
            "<dl><div><dt>Ebb</dt><dd>Water falls.</dd></div><div><dt>Flood</dt><dd>Water rises.</dd></div></dl>",
            ["**Ebb**", "Water falls.", "**Flood**", "Water rises."],
            ["EbbWater", "falls.Flood"],
            id="wrapped terms",
        ),
        pytest.param(GROUP, ["**npm**", "npm add tide", "**yarn**", "yarn add tide"], ["\nsh\n"], id="VitePress group"),
        pytest.param(SPHINX, ["Linux\n", "Call ls.", "Windows\n", "Call dir."], [], id="sphinx-design tabs"),
        pytest.param(STARLIGHT, ["**Linux**", "Call ls.", "**Windows**", "Call dir."], [], id="Starlight tabs"),
        pytest.param(
            '<p>Level: <output>3.2 m</output>, full to <meter value=".6">60 %</meter>.</p>',
            ["Level: 3.2 m, full to 60 %."],
            [],
            id="results",
        ),
        pytest.param(
            "<x-card><template shadowrootmode=open><header><slot name=title>Untitled</slot></header><slot></slot>"
            "</template><p>Body text.</p><h2 slot=title>Heading</h2></x-card>",
            ["Heading", "Body text."],
            ["Untitled"],
            id="named slots",
        ),
        pytest.param(SLOTS, ["## Before", "Between them.", "After all."], [], id="slots of a shadow tree"),
        pytest.param(AMP, ["When?", "At nine.", "A plan of the pier", "Slide of the mole."], [], id="AMP"),
    ],
)
def test_a_page_has_its_right_text_in_its_order(body: str, right: list[str], wrong: list[str]) -> None:
    text = cleaned(f"<main><h1>Tide</h1>{PROSE}{body}{PROSE}</main>")
    place = 0
    for words in right:
        assert words in text[place:], text
        place = text.index(words, place) + len(words)
    assert not [words for words in wrong if words in text]


def test_what_a_page_asks_of_one_crawler_concerns_no_other() -> None:
    def asked(name: str) -> frozenset[str]:
        page = clean_page(f'<head><meta name="{name}" content="NoIndex, nofollow"></head><p>Text.</p>'.encode())
        assert not page.noindex
        return tag_directives(page.named_robots, "sourcebook/0.1 (+https://site.example)")

    assert asked("googlebot") == asked("GPTBot") == asked("description") == frozenset()
    assert asked("Sourcebook") == {"noindex", "nofollow"}


def test_a_page_whose_text_is_only_in_its_linked_data_is_read() -> None:
    data = (
        '<script type="application/ld+json">{"@type":"FAQPage","mainEntity":[{"@type":"Question","name":"Who keeps the '
        'light?","acceptedAnswer":{"@type":"Answer","text":"<p>The harbour office keeps it.</p>"}}]}</script>'
    )
    page = clean_page(f"<title>Light</title><body><div id=app></div>{data}<script src=a.js></script>".encode())
    assert page.needs_scripts
    assert page.markdown.index("Who keeps the light?") < page.markdown.index("The harbour office keeps it.")
    seen = clean_page(f"<h1>Light</h1><h2>Who keeps the light?</h2><p>The office does.</p>{data}".encode()).markdown
    assert seen.count("Who keeps the light?") == 1

"""What a control of a page opens is content; menus, banners and dialogs are not."""

import pytest

from tests.unit.parsing.html.test_boilerplate import PROSE, cleaned

ANSWER = "<p>It takes KEPT hours.</p>"
LONG = "<p>It takes KEPT hours until the lock is full, and the boats in it may leave.</p>"
EXTRA = "<p>EXTRA words that nobody asked for when they came to this page about the harbour and its gauge.</p>"


@pytest.mark.parametrize(
    "folded",
    [
        (
            '<h3><button aria-expanded="false" aria-controls="s1">QUESTION?</button></h3>'
            f'<div id="s1" hidden>{ANSWER}</div>'
        ),
        (
            '<button aria-expanded="false" aria-controls="s1">QUESTION?</button>'
            f'<div id="s1" role="region" hidden>{ANSWER}</div>'
        ),
        f'<h3>QUESTION?</h3><div class="panel" aria-hidden="true">{ANSWER}</div>',
        f'<h4>QUESTION?</h4><section style="display: none">{ANSWER}</section>',
        f'<h4>QUESTION?</h4><div style="visibility:hidden">{ANSWER}</div>',
        f"<dl><dt>QUESTION?</dt><dd hidden>{ANSWER}</dd></dl>",
        f'<h3>QUESTION?</h3><div hidden="until-found">{ANSWER}</div>',
        f'<div class="q"><span role="button" aria-expanded="false">QUESTION?</span></div><div hidden>{ANSWER}</div>',
        # Radix
        (
            '<div data-state="closed"><h3 data-state="closed"><button type="button" aria-controls="radix-:r1:" '
            'aria-expanded="false" data-state="closed" id="radix-:r0:">QUESTION?</button></h3><div data-state="closed" '
            f'id="radix-:r1:" role="region" aria-labelledby="radix-:r0:" hidden="">{ANSWER}</div></div>'
        ),
        # Headless UI
        (
            '<div><button id="headlessui-disclosure-button-1" type="button" aria-expanded="false" '
            'aria-controls="headlessui-disclosure-panel-2">QUESTION?</button>'
            f'<div id="headlessui-disclosure-panel-2" style="display:none">{ANSWER}</div></div>'
        ),
        # MUI
        (
            '<div class="MuiAccordion-root"><div class="MuiAccordionSummary-root" role="button" aria-expanded="false" '
            'aria-controls="panel1">QUESTION?</div><div class="MuiCollapse-root MuiCollapse-hidden" '
            'style="min-height:0px;height:0px;visibility:hidden"><div class="MuiCollapse-wrapper"><div role="region" '
            f'id="panel1">{ANSWER}</div></div></div></div>'
        ),
        # Bootstrap, of both generations
        (
            '<div class="card"><div class="card-header">'
            '<button class="btn" data-toggle="collapse" data-target="#c">QUESTION?'
            f'</button></div><div id="c" class="collapse" style="display:none">{ANSWER}</div></div>'
        ),
        (
            '<div><h2><button data-bs-toggle="collapse" data-bs-target="#d">QUESTION?</button></h2>'
            f'<div id="d" aria-hidden="true">{ANSWER}</div></div>'
        ),
        f'<button popovertarget="p">QUESTION?</button><div id="p" popover>{ANSWER}</div>',
        f'<button commandfor="p" command="toggle-popover">QUESTION?</button><div id="p" hidden>{ANSWER}</div>',
        f'<p><a href="#" onclick="toggle(\'m\')">QUESTION?</a></p><p>Between.</p><div id="m" hidden>{LONG}</div>',
        f'<button onclick="show(\'w\')">QUESTION?</button><div id="w" class="w3-hide">{ANSWER}</div>',
        f'<p><a href="#a7">QUESTION?</a></p><p>Between.</p><div id="a7" style="display:none">{ANSWER}</div>',
        f'<input type="checkbox" id="q"><label for="q">QUESTION? now</label><div hidden>{LONG}</div>',
        f'<div><button @click="open = !open">QUESTION? now</button><div x-cloak hidden>{LONG}</div></div>',
        f'<ul><li><a href="javascript:">QUESTION? now</a><div style="display:none">{LONG}</div></li></ul>',
        f'<div class="title"><i></i>QUESTION?</div><div class="content" hidden>{LONG}</div>',
        f'<faq-item><span slot="q">QUESTION? Where？</span><div slot="a" hidden>{LONG}</div></faq-item>',
        f'<h3>QUESTION?</h3><div itemprop="acceptedAnswer"><div itemprop="text" hidden>{ANSWER}</div></div>',
        (
            "<table><tr><td><button aria-expanded='false' aria-controls='r'>+</button></td><td>QUESTION?</td></tr>"
            "<tr id='r' hidden><td colspan=2>It takes KEPT hours.</td></tr></table>"
        ),
        "<ul><li>QUESTION?</li><li hidden>It takes</li><li hidden>KEPT hours</li></ul><button>Show more</button>",
    ],
)
def test_answers_that_are_folded_away_stay_with_their_questions(folded: str) -> None:
    text = cleaned(f"{PROSE}{folded}{PROSE}")
    assert text.index("QUESTION?") < text.index("KEPT hours")


def test_the_rest_of_a_text_stays_without_the_control_that_shows_it() -> None:
    rest = '<p>It begins<span id="dots">…</span><span id="more" style="display:none"> and goes on: KEPT.</span></p>'
    text = cleaned(f"{PROSE}{rest}<button onclick='more()'>Read more</button>{PROSE}")
    assert "goes on: KEPT" in text
    assert "Read more" not in text


@pytest.mark.parametrize(
    "tabs",
    [
        (
            '<div><ul role="tablist"><li role="tab">apt</li><li role="tab">dnf</li></ul><div>'
            '<div role="tabpanel"><p>apt ONE'
            '</p></div><div role="tabpanel" hidden><p>TWO</p></div></div></div>'
        ),
        (
            '<div class="tabbed-set"><div class="tabbed-labels"><label>apt</label><label>dnf</label></div>'
            '<div class="tabbed-content"><div class="tabbed-block"><p>apt ONE</p></div>'
            '<div class="tabbed-block"><p>TWO</p>'
            "</div></div></div>"
        ),
        (
            '<div><div role="tablist"><button role="tab" aria-controls="b">dnf</button><button role="tab" '
            'aria-controls="a">apt</button></div><div id="a" role="tabpanel"><p>apt ONE</p></div>'
            '<div id="b" role="tabpanel" '
            'style="display:none"><p>TWO</p></div></div>'
        ),
    ],
)
def test_the_label_of_a_tab_stands_before_its_panel(tabs: str) -> None:
    text = cleaned(f"{PROSE}{tabs}{PROSE}")
    assert "**apt**\n\napt ONE\n\n**dnf**\n\nTWO" in text


@pytest.mark.parametrize(
    "menu",
    [
        (
            '<button aria-expanded="false" aria-controls="m">EXTRA</button><ul id="m" hidden><li>'
            '<a href="/a">EXTRA</a></li>'
            '<li><a href="/b">EXTRA</a></li></ul>'
        ),
        "<header><h3>EXTRA</h3><div hidden><p>EXTRA</p></div></header>",
        '<div role="dialog" aria-modal="true" hidden><h2>EXTRA</h2><p>EXTRA</p></div>',
        '<button aria-controls="c">EXTRA</button><div id="c" class="cookie-consent" hidden><p>EXTRA</p></div>',
        "<template><h3>EXTRA</h3><div><p>EXTRA</p></div></template>",
        "<p hidden>EXTRA</p>",
        f'<button onclick="open(\'c\')">EXTRA</button><div id="c" class="newsletter-modal" hidden>{EXTRA}</div>',
        f'<a href="#find">Find</a><div id="find" hidden><form><input></form>{EXTRA}</div>',
        "<button>Copy</button><div hidden><p>EXTRA was copied to the clipboard</p></div>",
        f'<button data-bs-toggle="modal" data-bs-target="#w">Ask us</button><div id="w" hidden>{EXTRA}</div>',
        '<div style="display:none">EXTRA</div>',
    ],
)
def test_menus_banners_and_dialogs_stay_out(menu: str) -> None:
    assert "EXTRA" not in cleaned(f"{PROSE}{menu}{PROSE}")


def test_words_of_a_drawing_that_a_button_shows_stay_out() -> None:
    """SQLite's pages have every diagram of its syntax behind a button, again on each page that names it."""
    words = "".join(f"<text>EXTRA{number}</text>" for number in range(12))
    button = """<p>filter-clause: <button id="b" onclick='hideorshow("b","d")'>show</button></p>"""
    assert "EXTRA" not in cleaned(f'{PROSE}{button}<div id="d" style="display:none"><svg>{words}</svg></div>')
    assert "KEPT" in cleaned(f'{PROSE}{button}<div id="d" style="display:none">{ANSWER * 9}<svg>x</svg></div>')


def test_a_page_that_hides_more_than_anybody_reads_stays_small() -> None:
    spam = f"<h3>Q</h3><div hidden>{'<p>cheap watches</p>' * 50_000}</div>"
    plain = f'<div style="display:none">{"<p>cheap watches</p>" * 50_000}</div>'
    for hidden in (spam, plain):
        text = cleaned(f"{PROSE * 2}{hidden}{PROSE}")
        assert "watches" not in text

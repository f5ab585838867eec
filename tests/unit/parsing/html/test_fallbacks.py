"""Texts for browsers without scripts or players are read where the page has them nowhere else."""

import pytest

from sourcebook.parsing.html.cleaner import clean_page
from tests.unit.parsing.html.test_boilerplate import PROSE, cleaned

NUMBERS = "<table><tr><th>Year</th><th>Ships</th></tr><tr><td>1881</td><td>forty KEPT ships</td></tr></table>"


@pytest.mark.parametrize(
    "fallback",
    [
        "<noscript><p>The tide table of the port is KEPT here as text.</p></noscript>",
        "<script>plot()</script><noscript>In 1881 forty ships were KEPT in the harbour.</noscript>",
        f'<object data="ships.svg" type="image/svg+xml">{NUMBERS}</object>',
        f'<object data="a.swf"><object data="a.mp4">{NUMBERS}</object></object>',
        f'<video src="a.mp4"><p>Your browser does not support the video tag.</p>{NUMBERS}</video>',
        "<audio controls src=a.ogg><p>Transcript: the pilot KEPT left of the mole.</p></audio>",
        f'<canvas id="chart">{NUMBERS}</canvas>',
        f'<iframe src="/chart.html">{NUMBERS}</iframe>',
        f"<noscript><div><p>Please enable JavaScript to see the chart.</p>{NUMBERS}</div></noscript>",
        f'<noscript>{NUMBERS}<object data="a.svg"><p>The mole is KEPT by the town.</p></object></noscript>',
    ],
)
def test_a_text_in_place_of_a_script_or_an_object_is_text_of_the_page(fallback: str) -> None:
    page = cleaned(f"{PROSE}{fallback}<p>AFTER all.</p>{PROSE}")
    assert page.index("KEPT") < page.index("AFTER")
    assert "JavaScript" not in page
    assert "browser" not in page


@pytest.mark.parametrize(
    "fallback",
    [
        '<img class="lazy" data-src="a.png"><noscript><img src="a.png" alt="A plan of the EXTRA harbour"></noscript>',
        '<noscript><img height="1" width="1" style="display:none" src="https://pixel.example/?id=1"></noscript>',
        '<noscript><iframe src="https://tags.example/ns.html" height="0" width="0"></iframe></noscript>',
        "<noscript>This EXTRA site needs JavaScript to work; please switch it on.</noscript>",
        "<noscript>Bitte aktivieren Sie JavaScript in Ihrem Browser, EXTRA nötig.</noscript>",
        "<video src=a.mp4>Your browser does not support the EXTRA video tag.</video>",
        "<object data=a.pdf><p>This browser shows no EXTRA PDF: <a href=a.pdf>download it</a>.</p></object>",
        "<noscript><a href=/>EXTRA home page</a> <a href=/map>map of the site</a></noscript>",
        '<noscript style="display:none">Words of an EXTRA part that nobody sees.</noscript>',
        "<noscript><p>Please enable JavaScript to see it.</p><p>An EXTRA label</p></noscript>",
        "<div hidden><noscript>Words of an EXTRA part that nobody sees.</noscript></div>",
        "<footer><noscript><p>Words of an EXTRA footer of the whole site.</p></noscript></footer>",
    ],
)
def test_notices_pictures_pixels_and_menus_in_fallbacks_stay_out(fallback: str) -> None:
    assert "EXTRA" not in cleaned(f"<main>{PROSE}<p>AFTER all.</p>{PROSE}</main>{fallback}")
    assert "EXTRA" not in cleaned(f"{PROSE}{fallback}{PROSE}<h2>End</h2>")


def test_what_the_page_says_itself_is_not_read_twice() -> None:
    said = "The tide table of the port lists every flood and ebb."
    page = cleaned(f"{PROSE}<p>{said}</p><noscript><p>{said}</p><p>The mole is NEW since 1881.</p></noscript>{PROSE}")
    assert page.count("tide table") == 1
    assert "The mole is NEW since 1881." in page


def test_a_text_that_two_fallbacks_have_is_read_once() -> None:
    fallback = (
        f"<noscript><p>The mole is NEW since 1881.</p></noscript>{PROSE}<object>The mole is NEW since 1881.</object>"
    )
    assert cleaned(f"{PROSE}{fallback}{PROSE}").count("NEW") == 1


def test_fallbacks_together_show_no_more_than_the_page_does() -> None:
    """Each of three fits in by itself; behind the second nothing is left."""
    texts = ("".join(f"{word} {number} watches here. " for number in range(300)) for word in ("cheap", "dear", "free"))
    page = cleaned(f"{PROSE}{''.join(f'<noscript><p>{text}</p></noscript>' for text in texts)}{PROSE}")
    assert [f"{word} 299" in page for word in ("cheap", "dear", "free")] == [True, True, False]


def test_a_page_hides_no_more_in_fallbacks_than_it_shows() -> None:
    page = clean_page(f"{PROSE}<noscript><p>{'cheap watches here ' * 9_000}</p></noscript>{PROSE}".encode())
    assert "watches" not in page.markdown
    assert page.metadata["left_out"] == {"hidden_words": 27_000}


def test_an_application_with_a_text_for_browsers_without_scripts_still_needs_its_scripts() -> None:
    shell = (
        "<body><div id=root></div><noscript><h1>Harbour</h1><p>The mole is KEPT by the town of the port.</p>"
        "</noscript><script src=app.js></script></body>"
    )
    page = clean_page(shell.encode())
    assert page.needs_scripts
    assert "KEPT" in page.markdown, "all there is where nothing runs scripts"
    assert not clean_page(f"<main>{PROSE * 4}</main>{shell}".encode()).needs_scripts

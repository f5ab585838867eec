"""Words of drawings in a page, formulas that a script draws, and signs that are pictures."""

import pytest

from sourcebook.parsing.html.cleaner import clean_page

FLOW = (
    "<svg><style>.a{}</style><title>Flow</title><defs><text>Part</text></defs>"
    "<g><foreignObject><div><span>Open</span> <span>the gate</span></div></foreignObject></g>"
    "<text x=1><tspan x=0 dy=1>Close the</tspan><tspan x=0 dy=1>lower gate</tspan></text>"
    "<text>Wa<tspan>it</tspan></text><text>10</text></svg>"
)
DRAWN = (
    "<span class=MathJax_Preview></span><span class=MathJax><nobr aria-hidden=true>x2+1</nobr>"
    "<span class=MJX_Assistive_MathML><math><msup><mi>x</mi><mn>2</mn></msup></math></span></span>"
)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (FLOW, "Open the gate; Close the lower gate; Wait"),
        ("Raise the<svg><text>red</text></svg>flag.", "Raise the red flag."),
        ("<svg style='display:none'><text>Sprite</text></svg>", ""),
        ("<svg aria-hidden=true><text>Sign</text></svg>", ""),
        ("<a href=/x><svg><text>AB</text></svg>Link</a>", "[Link](/x)"),
        ("<svg><title>Icon</title><path/></svg>", ""),
        ("So <script type='math/tex'>x^2+1</script> holds.", "So $x^2+1$ holds."),
        (f"So {DRAWN}<script type='math/tex'>x^2+1</script> holds.", "So $x^2+1$ holds."),
        ("<script type='math/tex; mode=display'>a \n= b</script>", "$$a = b$$"),
        ("<script>var tex = 1;</script>", ""),
        ("Export <img alt='✅'> and audit <img alt='❌'> and <img alt='—'>.", "Export ✅ and audit ❌ and ."),
    ],
)
def test_what_a_reader_sees(body: str, expected: str) -> None:
    """It is text of the page where it stands."""
    page = clean_page(f"<main><h1>Locks</h1><p>Before the lock.</p><p>{body}</p></main>".encode())
    assert page.markdown == f"# Locks\n\nBefore the lock.\n\n{expected}".rstrip() + "\n"


def test_words_that_are_read_are_not_counted_as_left_out() -> None:
    """A drawing whose words are not read is."""
    read, hidden = (clean_page(f"<p>Text.</p>{each}".encode()) for each in (FLOW, FLOW.replace("<svg", "<svg hidden")))
    assert read.left_out["hidden_words"] == 0
    assert hidden.left_out["hidden_words"] > 0

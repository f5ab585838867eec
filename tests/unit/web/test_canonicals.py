"""Whether a canonical page says what a page says."""

import pytest

from sourcebook.web.canonicals import says_the_same

LONG = (
    "The seal of the pump is oiled by two people before the shift. Its log book lies in a drawer below the bench, "
    "where the smith finds it, and every entry is signed at once. In winter the valves are wrapped in felt against "
    "the frost."
)


@pytest.mark.parametrize(
    ("text", "canonical", "same"),
    [
        (LONG, f"{LONG} More is said below.", True),
        (f"{LONG} Print this page.", f"{LONG} Read on.", True),
        (f"{LONG} It keeps 40 litres.", f"{LONG} It keeps 80 litres.", False),
        (f"{LONG} Its history is another one, which nobody tells anywhere else on these pages at all.", LONG, False),
        ("Gear", "Home", False),
        ("Gear", "Gear", True),
    ],
)
def test_runs_of_words_and_every_number_decide(text: str, canonical: str, *, same: bool) -> None:
    assert says_the_same(text, canonical) is same

"""Only what holds leaves an answer, however its pieces come."""

import re
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sourcebook.answering.checked_text import CheckedText
from sourcebook.answering.citations import quoted_span, sentence_span
from sourcebook.answering.sources import Sources
from sourcebook.contract.answers import Source

TEXT = (
    "# Power\n\nThe batteries of the tide gauge last fourteen months. See https://ok.example/manual for more. "
    "The lamp has 1,250 watts. 電池は十四か月もちます。"
)
QUESTION = "How long do the batteries last?"


def sources() -> Sources:
    held = Sources()
    held._add(
        (1, 0, len(TEXT)),
        document_id=1,
        collection="handbook",
        uri="file:///power.md",
        title="Power",
        heading_path=(),
        page=None,
        time_span=None,
        version=1,
        text=TEXT,
        start_char=0,
        end_char=len(TEXT),
    )
    return held


def checked(text: str, size: int = 5) -> tuple[str, CheckedText]:
    found = CheckedText(sources(), QUESTION)
    shown = [part for at in range(0, len(text), size) for part in found.add(text[at : at + size])]
    shown += found.end()
    return "".join(shown), found


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("The batteries last fourteen months [1].", None),
        ("The batteries last fourteen months.[1] Good.", None),
        ('They last [1: "last. fourteen\nmonths"].', ""),  # a quotation has one line
        ('They last [1: "the BATTERIES … fourteen months"].', "They last [1]."),
        ("The batteries last fourteen months【1†source】.", "The batteries last fourteen months[1]."),
        ("The lamp has 1250 watts [1].", None),
        ("The lamp has 1260 watts [1].", ""),
        ("電池は十四か月もちます[1]。", None),
        ("- The batteries last fourteen months [1]\n- `lamp[1]`", None),
        ("The batteries last fourteen months [1].\n\n```\nlamp[7] = 1\n```\n", None),
        ("The batteries last fourteen months [1]: https://ok.example/manual.", None),
        ("The batteries last fourteen months [1]: https://ok.example/manual?q=1.", "… [1]: [link removed]."),
        ("The batteries last fourteen months [1]. [Here](https://ok.example/manual)", "… [1]. Here"),
        ("The batteries last fourteen months [1]. ![a. b](//evil.example/i.png)", "… [1]. ![a. b]"),
        ("The batteries last fourteen months [1]. <img src='//evil.example/i.png'>", "… [1]. "),
        ("The batteries last fourteen months [1]. <im<img>g src=x>Good", "… [1]. Good"),
        ("The batteries last fourteen months [1]. [a]<img>(/logout)", "… [1]. a"),
        ("The batteries last fourteen months [1]. <div onclick=x()>Good", "… [1]. Good"),
        ("The batteries last fourteen months [1], if List<String> a<b, style of c.", None),
        ("The batteries last fourteen months [1]. javascript:alert(1)", "… [1]. [link removed])"),
        ("The batteries last fourteen months [1].\n[x]: http://evil.example", "… [1].\n"),
        ("The batteries last fourteen months [1] or//evil.example.", "… [1] or[link removed]."),
        ("The batteries last fourteen months [1]: file:///power.md.", None),
        ("Sure! The batteries last fourteen months [1].", None),
        ("Sure! They last for ever [1].", ""),
    ],
)
def test_what_is_shown(written: str, shown: str | None) -> None:
    """`…` stands for the sentence that holds; None for all that was written."""
    wanted = written if shown is None else shown.replace("…", "The batteries last fourteen months", 1)
    if written.startswith('They last [1: "the'):
        wanted = "They last [1]."
    for size in (1, 7, 1_000):
        assert checked(written, size)[0].strip() == wanted.strip(), size


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            (
                *("The batteries last fourteen months", " [1]", "[1]", "[99]", "[2, 1]", '[1: "x', '"]', ". ", "\n"),
                *("](", "![", ")", "http://evil.example/", "`", "```\n", "[", "]", "【1】", "。", "NO_ANSWER"),
                *("<img src=", "//evil.example", ">", "<im", "g src=", "<img>"),
            )
        ),
        max_size=14,
    ),
    st.integers(1, 9),
)
def test_no_order_of_pieces_lets_anything_through(pieces: list[str], size: int) -> None:
    text = "".join(pieces)
    shown, found = checked(text, size)
    assert shown == found.shown
    assert "evil.example" not in shown
    assert "<img" not in shown
    outside = re.sub(r"`[^`\n]*`|^[ \t]*```.*?(^[ \t]*```|\Z)", "", shown, flags=re.MULTILINE | re.DOTALL)
    if "`" not in outside:
        assert {int(number) for number in re.findall(r"\[(\d+)\]", outside)} <= {
            each.number for each in found.citations
        }
    assert all(TEXT[each.start : each.end] == each.quote for each in found.citations)
    assert all(TEXT[each.start_char : each.end_char] == each.quote for each in found.citations)


@pytest.mark.parametrize("unit", ["![", ". [1", "<im<img>g ", '[1: "'])
def test_a_model_that_repeats_itself_costs_little(unit: str) -> None:
    """Each piece once was searched with all that waited: 8,000 characters took minutes."""
    text = unit * (8_000 // len(unit))
    begun = time.process_time()
    checked(text)
    assert time.process_time() - begun < 3


def test_spans() -> None:
    assert quoted_span("Die Straße ist lang.", "STRASSE ist") == (4, 14)
    assert quoted_span("a b c", "x") is None
    assert quoted_span("one two three four", "three … one") is None
    assert sentence_span("Yes. The lamp burns at night.", "It burns by night", "") == (5, 29)
    assert sentence_span("The lamp burns at night.", "Cheese comes from milk", "") is None
    assert sentence_span("The lamp burns at night.", "Yes", "Does the lamp burn at night?") == (0, 24)


def test_a_place_in_the_document() -> None:
    """A part that stands in repeated context has no place of its own."""
    source = Source(1, 1, "c", "u", "t", (), None, None, 1, "context. own text", 100, 108)
    assert source.place(9, 17) == (100, 108)
    assert source.place(0, 8) is None


@pytest.mark.parametrize(
    ("written", "is_shown"),
    [
        ('They last fourteen months [1: "batteries of the tide gauge last"].', True),
        ("The lamp has 1,250 watts [1]. The batteries last fourteen months [1].", True),
        ("The lamp has 1,250 watts [1].", False),
        ('It is so [1: "has 1,250 watts"].', False),
    ],
)
def test_in_doubt_nothing_is_shown_before_a_citation_that_speaks_of_the_question(written: str, is_shown: bool) -> None:
    found = CheckedText(sources(), QUESTION, is_doubtful=True)
    shown = "".join([*found.add(written), *found.end()])
    assert bool(shown) == bool(found.shown) == is_shown

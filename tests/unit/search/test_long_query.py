"""Long queries: which texts are condensed, and which of their lines are kept."""

from sourcebook.search.long_query import MOST_WORDS, chosen_pieces, is_long


def test_a_question_is_searched_as_it_is() -> None:
    """A question of some sentences is no long text; nor are a few words over several lines."""
    assert not is_long("How long do the batteries of the tide gauge last, and who is called when one of them fails?")
    assert not is_long("tide gauge\nbatteries\nwinter")
    assert not is_long("word " * MOST_WORDS)
    assert is_long("word " * (MOST_WORDS + 1))
    assert not is_long("貸" * 2 * MOST_WORDS), "two letters of a script without spaces are a word"
    assert is_long("貸" * 2 * (MOST_WORDS + 1))
    assert is_long("a line of some seven words, pasted\n" * 3)


def test_the_line_with_the_rarest_words_is_kept() -> None:
    pieces = ["the pump runs", "valve V-17 leaks brine", "the pump stops"]
    weights = [{"pump": 0.2, "run": 0.3}, {"valv": 1.0, "v-17": 2.0, "leak": 1.5, "brine": 2.5}, {"pump": 0.2}]
    assert chosen_pieces(pieces, weights) == ["valve V-17 leaks brine"]


def test_lines_keep_their_order_and_words_count_once() -> None:
    """A second line with the same words adds nothing."""
    pieces = ["brine leaks", "leaks of brine", "valve opens"]
    weights = [{"brine": 2.0, "leak": 2.0}, {"leak": 2.0, "brine": 2.0}, {"valv": 3.0, "open": 2.0}]
    assert chosen_pieces(pieces, weights) == ["brine leaks", "valve opens"]


def test_a_line_that_introduces_others_says_nothing() -> None:
    """It is kept where there is no other one."""
    pieces = ["Exception in thread main:", "disk of the winch is full"]
    assert chosen_pieces(pieces, [{"thread": 3.0}, {"winch": 2.0}]) == ["disk of the winch is full"]
    assert chosen_pieces(pieces, [{"thread": 3.0}, {}]) == ["Exception in thread main:"]


def test_without_a_known_word_the_first_lines_are_kept() -> None:
    assert chosen_pieces(["alpha beta", "gamma delta"], [{}, {}]) == ["alpha beta", "gamma delta"]

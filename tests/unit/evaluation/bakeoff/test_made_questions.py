"""Questions that are made from headings and from pairs of question and answer, and what is taken out for them."""

import pytest

from sourcebook.evaluation.bakeoff.made_questions import MadeQuestion, made_questions, without_questions
from sourcebook.model.document import ParsedDocument
from sourcebook.parsing.text.markdown import parse_markdown

ANSWER = (
    "The keeper writes the height of the water into the book, at noon and at midnight, and in storms every hour. " * 2
)


def parsed(markdown: str) -> ParsedDocument:
    return parse_markdown(markdown.encode())


def asked(*texts: str, limit: int = 100) -> list[MadeQuestion]:
    return made_questions({number: parsed(text) for number, text in enumerate(texts)}, limit)


@pytest.mark.parametrize(
    "question",
    [
        "## When is the tide read?\n\n",
        "**When is the tide read?**\n\n",
        "Q: When is the tide read?\n\n",
        "**Question 3.** When is the tide read?\n",
        "### 4. When is the tide read?\n\n",
        "# When is the tide read?\n\n",
    ],
)
def test_a_question_with_its_answer_is_a_pair(question: str) -> None:
    """As a heading, or as a paragraph or its first line, with a label, a number and emphasis or without."""
    (found,) = asked(f"# Station\n\nAn introduction.\n\n{question}{ANSWER}\n")
    assert (found.text, found.kind) == ("When is the tide read?", "pair")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("潮位はいつ読み取りますか？", "潮位はいつ読み取りますか？"),
        ("¿Cuándo se lee la marea?", "¿Cuándo se lee la marea?"),
        ("متى تُقرأ مستويات المد؟", "متى تُقرأ مستويات المد؟"),
    ],
)
def test_questions_of_other_languages_are_pairs(question: str, text: str) -> None:
    """By their question marks, also where words have no spaces between them."""
    assert [found.text for found in asked(f"## {question}\n\n{ANSWER}\n")] == [text]


@pytest.mark.parametrize(
    "section",
    [
        "## Limits\n\n" + ANSWER,  # it could be asked of many sections
        "## Reading of the tide pole\n\nSee above.\n",  # no answer
        "## Reading of the tide pole\n\n### By night and in fog\n\nSee above.\n",
        "# Reading of the tide pole\n\n" + ANSWER,  # the title
        "Is it so? Nobody knows. " + ANSWER,  # a question within a text
        "[When is the tide read?](#read)\n\n" + ANSWER,  # an entry of a table of contents
    ],
)
def test_what_asks_for_no_single_section_is_no_question(section: str) -> None:
    """Short headings, headings without a text, titles, links, and question marks within a text."""
    assert asked(section) == []


def test_a_text_that_two_documents_ask_is_left_out() -> None:
    """Nor is the title of another document a question: its answer is there."""
    common = f"## Notes on the tide pole\n\n{ANSWER}\n"
    titled = f"# History of the old station\n\nOnce upon a time.\n\n## Repair of the float well\n\n{ANSWER}"
    third = f"## History of the old station\n\n{ANSWER}"
    assert [found.text for found in asked(common, common + titled, third)] == ["Repair of the float well"]


def test_pairs_come_first_and_documents_take_turns() -> None:
    """A document with many headings does not take the place of the others."""
    many = "# Many\n\n" + "".join(f"## Part number {word} of it\n\n{ANSWER}\n\n" for word in ("one", "two", "three"))
    other = f"# Other\n\n## Repair of the float well\n\n{ANSWER}\n\n## Who mends the well?\n\n{ANSWER}"
    assert [(found.document, found.kind) for found in asked(many, other, limit=3)] == [
        (1, "pair"),
        (0, "heading"),
        (1, "heading"),
    ]


def test_the_words_of_a_question_leave_its_document() -> None:
    """The other blocks have the text that they had."""
    document = parsed(
        f"# Station\n\nFirst.\n\n## Repair of the float well\n\n{ANSWER}\n\nWho mends the well?\n{ANSWER}\n\n- last\n"
    )
    questions = made_questions({7: document}, 10)
    assert {found.text for found in questions} == {"Repair of the float well", "Who mends the well?"}
    left = without_questions(document, questions)
    assert "float well" not in left.markdown
    assert "Who mends" not in left.markdown
    texts = [left.markdown[block.start : block.end].strip() for block in left.blocks]
    assert texts == ["# Station", "First.", ANSWER.strip(), ANSWER.strip(), "- last"]
    assert without_questions(document, []) == document


def test_a_title_that_is_the_question_goes_with_it() -> None:
    """On pages of help that answer one question each."""
    document = parsed(f"# How do I mend the well?\n\n{ANSWER}\n")
    left = without_questions(document, made_questions({1: document}, 10))
    assert (left.title, left.markdown.strip()) == (None, ANSWER.strip())

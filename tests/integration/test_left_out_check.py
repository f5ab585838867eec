"""The check that warns where a document loses much of its text as running heads."""

from sourcebook.admin.checks import run_checks
from tests.integration.stages import Stages
from tests.unit.parsing.pdf.pdf_writer import Mark, Shown, pdf


def pages(words: str) -> bytes:
    """Return a PDF of five pages with a running head and one paragraph each."""
    found: list[list[Mark]] = []
    for number in range(5):
        head = Shown(72, 760, "The handbook of the harbour office")
        found.append([head, *(Shown(72, 600 - 12 * line, f"Page {number} line {line} {words}") for line in range(3))])
    return pdf(found)


def test_documents_that_lose_much_text_are_named(stages: Stages) -> None:
    """A document above a tenth is named with the number of its rows, on every run; others are not."""
    stages.write("heads.pdf", pages("with a few words of text."))
    stages.write("text.pdf", pages("and a line of text that is far longer than the head of the page is. " * 2))
    stages.write("a.md", "---\nleft_out: {share: much}\n---\n\nThe flag is green.\n")
    stages.write("b.md", "---\nleft_out: everything\n---\n\nThe flag is red.\n")
    for name in ("c", "d"):
        stages.write(
            f"{name}.html",
            f"<h1>{name}</h1><p>The flag is blue.</p><iframe src=x></iframe><svg hidden><text>six</text></svg>",
        )
    stages.configure()
    stages.run()
    for thorough in (True, False):
        with stages.connection() as connection:
            outcomes = {one.name: one for one in run_checks(connection, stages.collection, thorough=thorough)}
        found = outcomes["little_text_is_left_out"]
        assert found.note == "4 documents: 48 words of headers, footers and menus, 2 hidden words, 2 frames"
        assert found.violations == 1
        (example,) = found.examples
        assert example.endswith("heads.pdf: 4 rows are left out, 18 % of its text")
    (state,) = stages.knowledge.status([stages.collection])
    assert (state.leaving_out, state.left_out) == (4, {"words": 48, "hidden_words": 2, "frames": 2})
    listed = {item.uri.rpartition("/")[2]: item for item in stages.knowledge.documents()}
    assert listed["c.html"].left_out == stages.knowledge.show(stages.uri("c.html")).item.left_out
    assert listed["c.html"].left_out_words == "1 hidden word, 1 frame"
    assert listed["a.md"].left_out == listed["b.md"].left_out == {}
    document = stages.document("heads.pdf")
    assert document["metadata"]["left_out"]["rows"] == 4
    assert document["metadata"]["left_out"]["texts"] == ["The handbook of the harbour office"]

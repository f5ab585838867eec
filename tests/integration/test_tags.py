"""The tags of a document: those of its source, and its own."""

import io
import json

import pytest

from tests.integration.stages import Stages

TAGGED = "collections: {{handbook: {{files: [{{root: ./docs, tags: {tags}}}]}}}}"


def tags(stages: Stages) -> dict[str, list[str]]:
    rows = stages.rows("SELECT uri, tags FROM document WHERE removed_at IS NULL")
    return {row["uri"].rpartition("/")[2]: row["tags"] for row in rows}


def office(keywords: str) -> bytes:
    from docx import Document

    document = Document()
    document.core_properties.keywords = keywords
    document.add_paragraph("The batteries last ninety hours.")
    stream = io.BytesIO()
    document.save(stream)
    return stream.getvalue()


def test_a_document_has_the_tags_of_its_source_and_its_own(stages: Stages) -> None:
    """Each once, its source's first; the keywords of a web page, written for search engines, are none."""
    stages.write("front.md", "---\ntags: [policy, Ships, ships ]\n---\nThe flag is green.\n")
    stages.write("plain.md", "The flag is white.")
    stages.write("report.docx", office("batteries; policy, winter"))
    page = '<html><head><meta name="keywords" content="cheap, flags"></head><body><p>The flag is red.</p></body></html>'
    stages.write("page.html", page)
    stages.configure(TAGGED.format(tags="[policy]"))
    stages.run()
    assert tags(stages) == {
        "front.md": ["policy", "Ships", "ships"],
        "plain.md": ["policy"],
        "report.docx": ["policy", "batteries", "winter"],
        "page.html": ["policy"],
    }
    assert not stages.pending().work
    assert not stages.run()["documents"].worked


def test_other_tags_of_a_source_keep_the_documents_own_and_cost_nothing(stages: Stages) -> None:
    stages.write("front.md", "---\ntags: [ships]\n---\nThe flag is green.\n")
    stages.configure(TAGGED.format(tags="[old]"))
    stages.run()
    stages.configure(TAGGED.format(tags="[new]"))
    reports = stages.run()
    assert tags(stages) == {"front.md": ["new", "ships"]}
    assert (reports["documents"].changed, reports["embeddings"].extra.get("computed", 0)) == (0, 0)
    assert stages.document("front.md")["version"] == 1
    (stages.root / "front.md").rename(stages.root / "named.md")
    stages.run()
    assert tags(stages) == {"named.md": ["new", "ships"]}
    stages.write("named.md", "The flag is green.\n")
    stages.run()
    assert tags(stages) == {"named.md": ["new"]}


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, ["a"]),
        ({"tags": ["b", " ", "a"]}, ["a", "b"]),
        ({"tags": "b; c,b"}, ["a", "b", "c"]),
        ({"keywords": "b, c"}, ["a", "b", "c"]),
        ({"tags": ["b"], "keywords": ["c"]}, ["a", "b"]),
        ({"tags": {"b": 1}}, ["a"]),
        ({"tags": [2024, None]}, ["a", "2024"]),
        ({"tags": None}, ["a"]),
    ],
)
def test_metadata_of_any_shape_gives_tags(stages: Stages, metadata: dict[str, object], expected: list[str]) -> None:
    (row,) = stages.rows(
        "SELECT document_tags(ARRAY['a'], %(metadata)s::jsonb, 'application/pdf') AS tags",
        metadata=json.dumps(metadata),
    )
    assert row["tags"] == expected

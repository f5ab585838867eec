"""A collection that takes documents of another one, through the command."""

import pytest

from tests.acceptance.workplace import Json, Workplace

RULE = """\
collections:
  a-policies:
    from: {collection: handbook, tags: [policy]}
  handbook:
    files: [{root: ./docs}]
"""


def page(text: str, *tags: str) -> str:
    return f"---\ntags: [{', '.join(tags)}]\n---\n# Flags\n\n{text}\n"


def moved(collections: Json) -> tuple[int, int, int]:
    """Return the added and removed documents of `a-policies`, and the texts that it has embedded."""
    found = collections["a-policies"]
    return found["documents"]["added"], found["documents"]["removed"], found["embeddings"]["computed"]


@pytest.mark.usefixtures("unrecorded")
def test_one_ingest_takes_what_its_own_run_has_just_parsed(workplace: Workplace) -> None:
    """The collection that takes comes after the one that gives, whatever their names."""
    workplace.configure(handbook="docs")
    workplace.configuration.write_text(RULE)
    workplace.write("docs/a.md", page("The flag is green.", "policy"))
    workplace.write("docs/b.md", page("The flag is white."))
    first = workplace.ingest()
    assert list(first) == ["handbook", "a-policies"]
    assert moved(first) == (1, 0, 0)
    assert first["a-policies"]["documents"]["reused"] == 1

    workplace.write("docs/a.md", page("The flag is green.", "other"))
    workplace.write("docs/b.md", page("The flag is white.", "policy"))
    assert "a-policies: takes documents of handbook" in workplace.run("plan")
    workplace.ingest("handbook")
    assert "no longer taken from handbook" in workplace.run("plan", "a-policies")
    assert moved(workplace.ingest()) == (1, 1, 0)
    assert "a-policies: takes 1 document of handbook" in workplace.run("status")
    assert "taken from" in workplace.run("show", "docs/b.md", "-c", "a-policies")
    (hit,) = workplace.json("search", "flag", "-c", "a-policies", "--mode", "keyword")["results"]
    assert hit["uri"] == workplace.uri("docs/b.md")
    assert {item["taken_from"] for item in workplace.json("documents")["documents"]} == {None, "handbook"}

    workplace.configuration.write_text(RULE.partition("  handbook:")[0])
    said = workplace.run("ingest", code=2)
    assert "line 3" in said
    assert "there is no such collection" in said
    assert "Traceback" not in said

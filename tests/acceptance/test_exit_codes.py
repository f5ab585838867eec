"""What the command tells programs: exit codes, and errors that say what to do."""

import json

import pytest

from tests.acceptance.workplace import Workplace


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("collections:\n  handbook:\n    files:\n      - rot: ./docs\n", ("line 4", "rot", "root")),
        ("collections:\n  handbook:\n    files: []\n", ("line 3", "neither files nor sites")),
        ("collections:\n  handbook:\n    files: [{root: ./docs}]\n    chunking: {tokens: lots}\n",
         ("line 4", "tokens", "from 16 to 8192")),
        ("collections:\n  handbook: [\n", ("line",)),
        ("", ("the file is empty",)),
    ],
)  # fmt: skip
def test_a_wrong_configuration_ends_with_2_and_names_line_key_and_what_is_allowed(
    workplace: Workplace, text: str, told: tuple[str, ...]
) -> None:
    workplace.configuration.write_text(text)
    said = workplace.run("ingest", code=2)
    for part in (*told, "sourcebook.yaml"):
        assert part in said
    assert "Traceback" not in said
    assert not workplace.home.exists(), "nothing was begun"


def test_no_configuration_ends_with_2_and_shows_one(workplace: Workplace) -> None:
    said = workplace.run("ingest", code=2)
    assert "There is no configuration" in said
    assert "- root: ./docs" in said


def test_wrong_usage_ends_with_2(workplace: Workplace) -> None:
    assert "No such option" in workplace.run("ingest", "--sideways", code=2)


@pytest.mark.usefixtures("model_was_exported")
def test_failed_items_end_with_3_and_the_rest_is_searchable(workplace: Workplace) -> None:
    """Once, or with --strict until they are mended; a collection that does not exist ends with 2."""
    workplace.write("docs/good.md", "The tide is high.")
    workplace.write("docs/bad.docx", b"PK\x03\x04 no archive")
    workplace.run("add", str(workplace.docs), "-c", "handbook")
    with workplace.unrecorded():
        counts = workplace.ingest(code=3)["handbook"]
        assert (counts["documents"]["added"], counts["documents"]["failed"]) == (1, 1)
        assert [hit["title"] for hit in workplace.json("search", "tide")["results"]] == ["good"]
        told = json.loads(workplace.run("ingest", "--json"))
        assert told["failed_items"] == 1, "nothing was tried again before its time, and it still is not right"
        assert told["new_failed_items"] == 0
        told = json.loads(workplace.run("ingest", str(workplace.docs), "--strict", "--json", code=3))
        assert (list(told["collections"]), told["new_failed_items"]) == (["handbook"], 0), (
            "the folder is the collection's"
        )
        (workplace.docs / "bad.docx").unlink()
        counts = workplace.ingest()["handbook"]
        assert counts["raw_files"]["removed"] == 1

        assert "there is no collection 'elsewhere'" in workplace.run("ingest", "elsewhere", code=2)
        workplace.configuration.write_text(workplace.configuration.read_text() + "    chunking: {tokens: 64}\n")
        assert "chunking.tokens: 256 → 64" in workplace.run("apply")
        counts = workplace.ingest()["handbook"]
        assert counts["raw_files"]["added"] + counts["raw_files"]["changed"] == 0, "no file is read for new passages"
        assert [hit["title"] for hit in workplace.json("search", "tide")["results"]] == ["good"]
        assert workplace.json("status")["collections"][0]["generation"] == 2
        listed = workplace.json("generations", "handbook")["generations"]
        assert [(each["id"], each["state"]) for each in listed] == [(2, "active"), (1, "kept")]
        assert "is active" in workplace.run("generations", "activate", "1")
        assert "no generation 9" in workplace.run("generations", "activate", "9", code=2)
        assert "kept" in workplace.run("generations")

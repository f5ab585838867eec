"""The doctor tries each parser on a real file, and says which of them work."""

from pathlib import Path

import pytest

from sourcebook.admin.doctor import parsing
from sourcebook.admin.doctor.check import Check
from sourcebook.admin.doctor.parsing import check_parsing
from sourcebook.config.loading import load_configuration
from sourcebook.errors import FailureClass, ParseError
from sourcebook.parsing.parser_pool import ParserPool

ASKING = "{files: [{root: .}], parsing: {parser: docling, models: ./models}}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of a configuration of which two collections ask for docling's models, which are not there."""
    folder = tmp_path_factory.mktemp("doctor")
    (folder / "models").mkdir()
    collections = f"  a: {ASKING}\n  b: {ASKING}\n  c: {{files: [{{root: .}}]}}\n"
    (folder / "sourcebook.yaml").write_text(f"collections:\n{collections}")
    return folder


@pytest.fixture(scope="module")
def checks(folder: Path) -> list[Check]:
    """What the doctor says of it."""
    return check_parsing(load_configuration(folder / "sourcebook.yaml"))


def test_parsers_are_tried(checks: list[Check]) -> None:
    """What the package brings works here: PDF files, office files, and recognition; each says how long it took."""
    found = {check.name: check for check in checks}
    for name in ("parser of PDF files", "parser of office files", "OCR"):
        assert found[name].state == "ok", found[name]
        assert "converted in" in found[name].detail


def test_a_collection_that_asks_for_models(checks: list[Check], folder: Path) -> None:
    """Where a collection asks for `parser: docling`, models that are not there fail, once for each folder."""
    (check,) = [check for check in checks if check.name.startswith("parser docling")]
    assert check.name == f"parser docling, {folder}/models"
    assert check.state == "fail"
    assert "docling" in check.remedy


def test_models_that_nobody_asks_for() -> None:
    """Not everybody needs docling's models: where they are missing or do not load, that is a warning with a remedy."""
    with ParserPool(documents=1) as pool:
        (check,) = parsing._check_docling(pool, [])
    assert (check.state, bool(check.remedy)) in {("ok", False), ("warn", True)}


def test_a_parser_that_reads_something_else() -> None:
    """It fails, and so does one that refuses the file; both say what they did, and what to do."""
    wrong = parsing._check("parser", lambda: "Another text")
    assert (wrong.state, bool(wrong.remedy)) == ("fail", True)
    assert "Another text" in wrong.detail
    refused = parsing._check("parser", _refuse)
    assert refused == Check("parser", "fail", "the file is damaged", "copy it again")


def _refuse() -> str:
    raise ParseError("the file is damaged; copy it again", FailureClass.CORRUPT)

"""Names of persons, an option that needs the extra `names`."""

import subprocess
import sys
from importlib.util import find_spec

import pytest

from sourcebook.errors import MissingDependencyError
from sourcebook.redaction.categories import DEFAULT_CATEGORIES
from sourcebook.redaction.redactor import Redactor

has_names = find_spec("presidio_analyzer") is not None


def test_names_are_off_by_default_and_load_nothing() -> None:
    assert "name" not in DEFAULT_CATEGORIES
    code = (
        "import sys; from sourcebook.redaction.redactor import Redactor; Redactor().redact('Ana Schmidt paid.');"
        "print([each for each in sys.modules if each.partition('.')[0] in ('spacy', 'presidio_analyzer')])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.strip() == b"[]"


@pytest.mark.skipif(has_names, reason="the extra names is installed")
def test_without_its_packages_nothing_is_redacted_by_halves() -> None:
    with pytest.raises(MissingDependencyError, match="names of persons need Presidio"):
        Redactor(["name", "email"]).redact("Ana Schmidt: ana@example.org")


@pytest.mark.skipif(not has_names, reason="the extra names is not installed")
def test_names_are_found_also_where_they_stand_again() -> None:
    redactor = Redactor(["name", "email"])
    text = "Dr. Ana Schmidt wrote to ana@example.org.\n\n" + "The lamp is lit. " * 550 + "\n\nAna Schmidt\n"
    redacted = redactor.redact(text)
    assert redacted.text.startswith("Dr. [NAME_1] wrote to [EMAIL_1].")
    assert redacted.text.endswith("\n\n[NAME_1]\n")
    assert redactor.redact("Maria Lopez lives at 12 Baker Street.").text == "[NAME_1] lives at 12 Baker Street."

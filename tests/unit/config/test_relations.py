"""The settings of relations and types, and the sentences for those that are not allowed."""

import subprocess
import sys
from pathlib import Path

import pytest

from sourcebook.config.loading import load_configuration
from sourcebook.errors import ConfigurationError


def loaded(folder: Path, settings: str) -> None:
    path = folder / "sourcebook.yaml"
    path.write_text(f"collections:\n  handbook:\n    files: [{{root: docs}}]\n    {settings}\n")
    load_configuration(path)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (
            "types: {ADR: {paths: ['adr/**']}}",
            "line 4, column 13: collections.handbook.types.ADR: found the name 'ADR'",
        ),
        ("types: {a b: {}}", "of small letters, digits, - and _"),
        ("types: {'': {}}", "found the name ''"),
        ("relations: {fields: {'': requires}}", "fields.: found the name ''"),
        ("relations: {patterns: [{match: '('}]}", "match is no pattern of RE2"),
        ("relations: {patterns: [{match: 'a(?=b)'}]}", "match is no pattern of RE2"),
        ("relations: {patterns: [{match: 'a*'}]}", "match matches the empty text"),
        (
            "relations: {patterns: [{match: 'A-(\\d+)', target: 'a-{2}'}]}",
            "target names a group that match does not have",
        ),
    ],
)
def test_what_is_not_allowed(tmp_path: Path, settings: str, said: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        loaded(tmp_path, settings)
    assert said in str(refused.value)


def test_patterns_are_those_of_re2(tmp_path: Path) -> None:
    loaded(tmp_path, r"relations: {patterns: [{match: '\p{Lu}+-(\d+)', target: 'x-{1}'}]}")


def test_the_default_patterns_load_no_re2() -> None:
    code = (
        "import sys; from sourcebook.config.relations import RelationSettings as R; "
        "R.model_validate(R().model_dump(mode='json')); sys.exit('re2' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

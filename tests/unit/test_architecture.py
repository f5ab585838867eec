"""docs/architecture.md draws the code as it is: its files exist, its layers are the contract's, its ways are short."""

import re
import tomllib

import pytest

from tests.checkout import CHECKOUT

TEXT = (CHECKOUT / "docs" / "architecture.md").read_text(encoding="utf-8")
FILE = re.compile(r"\b(?:sourcebook|assets|resources|sensors|orchestration|tests)/[\w/]+\.(?:py|sql|yaml)\b")
LONGEST = {"file": 35, "page": 25, "recording": 35, "question": 12}
"""The most files on each way."""


def section(title: str) -> str:
    """Return the text below a heading of the second level."""
    return TEXT.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def test_every_file_of_the_page_exists() -> None:
    named = FILE.findall(TEXT)
    assert len(named) > 80
    assert [name for name in named if not (CHECKOUT / name).is_file()] == []


def test_the_picture_of_the_layers_is_the_contract() -> None:
    """The rooms of the picture stand on the lines of import-linter's layers, in their order."""
    contracts = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["id"] == "rooms")
    picture = section("The rooms").split("```")[3]
    drawn = [re.split(r"\s{2,}", line)[0] for line in picture.strip().splitlines()]
    assert drawn == layers


@pytest.mark.parametrize("way", LONGEST)
def test_each_way_is_as_short_as_it_says(way: str) -> None:
    """The number below a picture is that of its files, each named once, and within the limit."""
    text = section(f"The way of a {way}")
    told = re.search(r"^Files on this way: (\d+)\.$", text, flags=re.MULTILINE)
    assert told
    files = FILE.findall(text)
    assert len(files) == len(set(files)) == int(told[1])
    assert len(files) <= LONGEST[way]

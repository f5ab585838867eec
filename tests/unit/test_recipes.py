"""Every recipe is whole: settings that load, the module that they name, a README, and a row of the docs."""

import re

import pytest

from sourcebook.config.loading import load_configuration
from tests.checkout import CHECKOUT
from tests.recipes.drill import PACKAGES, RECIPES
from tests.recipes.services import SERVICES

NAMES = sorted(each.name for each in RECIPES.iterdir() if each.is_dir() and each.name != "__pycache__")


def test_every_recipe_is_drilled_and_listed() -> None:
    """Folders, fakes and the table of docs/recipes.md name the same recipes."""
    listed = re.findall(r"^\| \[(\w+)\]\(", (CHECKOUT / "docs/recipes.md").read_text(), re.MULTILINE)
    assert sorted(listed) == NAMES == sorted({service.recipe for service in SERVICES})


@pytest.mark.parametrize("name", NAMES)
def test_a_recipe_is_whole(name: str) -> None:
    """Its settings load without its library, name a class that its folder has, and its README says what it takes."""
    folder = RECIPES / name
    (collection,) = load_configuration(folder / "sourcebook.yaml").collections.values()
    readme = (folder / "README.md").read_text()
    for asked in ("**Library**", "| first run |", "nothing is removed"):
        assert asked in readme, asked
    for package in re.findall(r"pip install ([\w-]+)", readme):
        assert package == "pymysql" or f"\n{package}==" in PACKAGES.read_text(), package
    assert collection.records
    for program in (source.python for source in collection.records if source.python is not None):
        module, _, used = program.use.partition(":")
        assert f"class {used}:" in (folder / f"{module}.py").read_text()
        assert program.folder == str(folder)
    assert len(readme.splitlines()) <= 40

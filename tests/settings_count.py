"""Print how many settings, environment variables and extras there are:  python -m tests.settings_count."""

import re
import tomllib
from typing import Any, get_args

from pydantic import BaseModel

from sourcebook.config.collection import CollectionSettings
from tests.checkout import CHECKOUT


def settings_of(model: type[BaseModel], at: str = "") -> list[str]:
    """Return the dotted names of a model's settings; those of a section stand in place of the section."""
    found: list[str] = []
    for name, field in model.model_fields.items():
        place = f"{at}{field.alias or name}"
        inside = [settings_of(each, f"{place}.") for each in models_in(field.annotation)]
        found += inside[0] if inside else [place]
    return found


def models_in(annotation: Any) -> list[type[BaseModel]]:
    """Return the models that an annotation names, at any depth."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for argument in get_args(annotation) for model in models_in(argument)]


def main() -> None:
    """Print the three numbers."""
    extras = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    names = re.compile(r"\bSOURCEBOOK_[A-Z_]+\b")
    folders = ("sourcebook", "orchestration", "resources", "assets", "sensors")
    files = [path for folder in folders for path in (CHECKOUT / folder).rglob("*.py")]
    variables = {name for path in files for name in names.findall(path.read_text(encoding="utf-8"))}
    print(f"settings {len(settings_of(CollectionSettings))}, variables {len(variables)}, extras {len(extras)}")


if __name__ == "__main__":
    main()

"""The settings of how good search has to be: `evaluation:` of a collection."""

import os
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import BeforeValidator, Field, ValidationInfo, field_validator, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import Settings, Text

Measure = Literal["ndcg@10", "mrr", "recall@10", "recall@100", "p@10"]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)
"""What a ranking is measured by; `sourcebook.evaluation.measures` says what each one is."""


def _measure(name: Any) -> Any:
    if name not in MEASURES:
        # "header" is the kind of mistake that sourcebook.config.explain reports of a key that may not be one.
        raise PydanticCustomError("header", "the measures are {measures}", {"measures": ", ".join(MEASURES)})
    return name


MeasureName = Annotated[Measure, BeforeValidator(_measure)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class EvaluationSettings(Settings):
    """Questions that search is measured with after each publication, and what it has to reach. None where unset."""

    queries: Text | None = Field(
        default=None, description="the path of a JSON lines file of questions, relative to this file"
    )
    qrels: Text | None = Field(default=None, description="the path of a file of judgments, relative to this file")
    floors: dict[MeasureName, Share] = Field(
        default_factory=dict, description="a mapping such as {ndcg@10: 0.6}, of measures to numbers from 0 to 1"
    )
    mode: Literal["hybrid", "vector", "keyword"] = Field(default="hybrid", description="hybrid, vector or keyword")
    severity: Literal["error", "warn"] = Field(default="error", description="error or warn")

    @field_validator("queries", "qrels")
    @classmethod
    def _absolute(cls, path: str | None, info: ValidationInfo) -> str | None:
        """Take a relative path from the folder of the file that the settings come from."""
        if path is None or not info.context:
            return path
        folder: Path = info.context["folder"]
        return os.path.realpath(folder / os.path.expanduser(path))  # noqa: PTH111 - as for roots

    @model_validator(mode="after")
    def _both_files(self) -> Self:
        """Refuse questions without judgments, judgments without questions, and anything else without the two."""
        missing = [name for name in ("queries", "qrels") if getattr(self, name) is None]
        if missing and self.model_dump(exclude_defaults=True):
            raise PydanticCustomError("missing", "the key is missing", {"inside": (missing[0],)})
        return self

"""The settings of evaluation and of generations, whose gate it is: `evaluation:`, `generations:`."""

from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import PydanticCustomError

from sourcebook.config.field_types import FilePath, Settings

Measure = Literal["ndcg@10", "mrr", "recall@10", "recall@100", "p@10"]
MEASURES: Final[tuple[Measure, ...]] = get_args(Measure)
"""The measures of a ranking, defined in `sourcebook.evaluation.measures`."""


def _measure(name: Any) -> Any:
    if name not in MEASURES:
        # The type "header" makes sourcebook.config.explain report the key instead of its value.
        raise PydanticCustomError("header", "the measures are {measures}", {"measures": ", ".join(MEASURES)})
    return name


MeasureName = Annotated[Measure, BeforeValidator(_measure)]
Share = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]


class EvaluationSettings(Settings):
    """Judged questions that search is evaluated with after each publication, and the floors that it has to reach."""

    queries: FilePath = Field(
        default=None, description="the path of a JSON lines file of questions, relative to this file"
    )
    """Questions for measuring the search after each publication: see [evaluation](evaluation.md)."""
    qrels: FilePath = Field(default=None, description="the path of a file of judgments, relative to this file")
    """Judgments of the questions; the two files go together."""
    floors: dict[MeasureName, Share] = Field(
        default_factory=dict, description="a mapping such as {ndcg@10: 0.6}, of measures to numbers from 0 to 1"
    )
    """Minimum means of the measures `ndcg@10`, `mrr`, `recall@10`, `recall@100` and `p@10`."""
    mode: Literal["hybrid", "vector", "keyword"] = Field(default="hybrid", description="hybrid, vector or keyword")
    """Mode of search that is measured."""

    @model_validator(mode="after")
    def _both_files(self) -> Self:
        """Refuse any setting of the section without both questions and judgments."""
        missing = [name for name in ("queries", "qrels") if getattr(self, name) is None]
        if missing and self.model_dump(exclude_defaults=True):
            raise PydanticCustomError("missing", "the key is missing", {"inside": (missing[0],)})
        return self


Tolerance = Annotated[float, Field(ge=-1, le=0, allow_inf_nan=False)]


class GenerationSettings(Settings):
    """The way from one generation to the next, after a change of `chunking` or `embedding`."""

    activate: Literal["automatic", "manual"] = Field(default="automatic", description="automatic or manual")
    """Activation of a new generation: `automatic` when every live document is in it, `manual` by a person."""
    gate: dict[MeasureName, Tolerance] = Field(
        default={"ndcg@10": -0.01},
        description="a mapping such as {ndcg@10: -0.01}, of measures to numbers from -1 to 0",
    )
    """Loss that is allowed: how much lower, on judged questions, each mean of a new generation may be than the active
    one's; `{}` for no gate."""
    keep: int = Field(default=1, strict=True, ge=0, le=100, description="a whole number from 0 to 100")
    """Earlier generations that are kept for a way back."""
    quantization: Literal["none", "binary"] = Field(default="none", description="none or binary")
    """Form of the HNSW indexes: `binary` holds a bit for each dimension, for [less
    memory](large-collections.md); found passages are then ordered by their vectors."""

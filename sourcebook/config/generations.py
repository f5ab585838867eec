"""The settings of generations: `generations:` of a collection."""

from typing import Annotated, Literal

from pydantic import Field

from sourcebook.config.evaluation import MeasureName
from sourcebook.config.field_types import Settings

Tolerance = Annotated[float, Field(ge=-1, le=0, allow_inf_nan=False)]


class GenerationSettings(Settings):
    """The way from one generation to the next, after a change of `chunking` or `embedding`."""

    activate: Literal["automatic", "manual"] = Field(default="automatic", description="automatic or manual")
    gate: dict[MeasureName, Tolerance] = Field(
        default={"ndcg@10": -0.01},
        description="a mapping such as {ndcg@10: -0.01}, of measures to numbers from -1 to 0",
    )
    keep: int = Field(default=1, strict=True, ge=0, le=100, description="a whole number from 0 to 100")
    quantization: Literal["none", "binary"] = Field(default="none", description="none or binary")
    """Whether the HNSW indexes hold a bit for each dimension; found passages are then ordered by their vectors."""

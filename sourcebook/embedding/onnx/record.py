"""What is written beside an exported model, so that using it needs neither the model's own folder nor torch."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

FORMAT = 1
"""Of the files; an export of another format is made anew."""


class ExportedFile(BaseModel):
    """One file of an export: its size in bytes, when it was last changed (ns), and the SHA-256 it was written with."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    size: int
    modified: int
    sha256: str


class TokenSettings(BaseModel):
    """How texts become rows of equal length, as sentence-transformers does it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_tokens: int
    """Of one text, special tokens included; the rest is cut off."""
    truncation_side: Literal["left", "right"]
    padding_side: Literal["left", "right"]
    padding_id: int
    padding_type_id: int


class ExportRecord(BaseModel):
    """What an exported model is, what it was made from, and how near it came.

    Attributes:
        identity: of the model; see `EmbeddingModel`.
        name: what the model was asked for by.
        dimensions: of a vector.
        weights: how many numbers the model holds.
        tokens: how texts are cut and padded.
        query_prompt: what is put before a question; empty for most models.
        passage_prompt: what is put before a passage.
        pooling: how the tokens' vectors become one: the modes, in their order.
        inputs: of the graph, in any order: `input_ids`, `attention_mask`, `token_type_ids`.
        settings_sha256: of the settings and vocabularies in the model's folder: changed ones make it stale.
        worst_difference: the largest one, over every number of every vector compared, from sentence-transformers.
        probe: a question, and the vector of it that this graph gave when it was exported.
        versions: of the packages that made it.
        seconds: that exporting and comparing took.
        folder: of this export's files, in the folder of the record.
        files: by name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1]
    identity: str
    name: str
    dimensions: int
    weights: int
    tokens: TokenSettings
    query_prompt: str
    passage_prompt: str
    pooling: tuple[str, ...]
    inputs: tuple[str, ...]
    settings_sha256: str
    worst_difference: float
    probe: tuple[str, tuple[float, ...]]
    versions: dict[str, str]
    seconds: float
    folder: str
    files: dict[str, ExportedFile]


class RefusalRecord(BaseModel):
    """Why a model is not exported; with other versions of the packages, or other settings, it is tried again."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    format: Literal[1]
    identity: str
    reason: str
    settings_sha256: str
    versions: dict[str, str]

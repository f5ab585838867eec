"""The documents that a generation lacks which the next ingest builds beside the active one, with its texts."""

from collections.abc import Sequence
from dataclasses import dataclass

from psycopg import Connection
from psycopg.rows import dict_row

from sourcebook.chunking.chunker import chunk_document
from sourcebook.chunking.generated_index import is_generated_index
from sourcebook.chunking.tokenizer import TokenCounter, token_counter
from sourcebook.config.collection import ChunkingSettings
from sourcebook.database.queries import queries
from sourcebook.embedding.remote.access import ProviderAccess
from sourcebook.embedding.settled import settled_before
from sourcebook.errors import ModelError
from sourcebook.indexing.generations import Generations, differences, find_generations
from sourcebook.stages.chunks import parsed_document

_SAMPLE = 40
"""Documents that are cut to estimate the passages of all."""


@dataclass(frozen=True, slots=True)
class PlannedGeneration:
    """The work of bringing every live document into a generation."""

    uris: tuple[str, ...]
    """URIs of the documents that it lacks."""
    detail: str
    """Settings with both values, or the id of the generation; where the model is missing, the reason."""
    model: str
    """Identity of its embedding model; empty where it cannot be found, or its provider has not been asked yet."""
    passages: float
    texts: float
    """Texts to embed: estimated from a sample where the passages change, else exact."""


@dataclass(frozen=True, slots=True)
class EstimatedTexts:
    """Expected numbers for documents that are cut by some settings."""

    passages: float = 0.0
    texts: float = 0.0
    """Distinct texts to embed."""
    tokens: float = 0.0
    """Tokens of the texts to embed."""
    cached: float = 0.0
    """Distinct texts that have a vector."""


def planned_generation(connection: Connection, collection: str) -> PlannedGeneration | None:
    """Return the generation that an ingest would begin or go on with; None where there is none."""
    found = find_generations(connection, collection)
    if found.active is None or found.step == "drop" or (found.step == "none" and found.building is None):
        return None
    target = _target(found)
    scope = {"collection": collection, "active": found.active.id, "generation": target}
    documents = connection.execute(queries["planned_generation"], scope).fetchall()
    uris = tuple(uri for _, uri, _ in documents)
    detail = "; ".join(differences(found)) or f"generation {target} is being built"
    embedding = found.embedding
    try:
        model = settled_before(embedding, ProviderAccess.through(connection, collection))
        identity = "" if model is None else model.identity
        if found.wanted["chunking"] == found.active.settings["chunking"]:
            passages = float(sum(number for _, _, number in documents))
            vectors = {**scope, "model": identity, "indexes": embedding.generated_indexes}
            row = connection.execute(queries["planned_vectors"], vectors).fetchone()
            texts = float(row[0]) if row else 0.0
        else:
            chunking = ChunkingSettings.model_validate(found.wanted["chunking"])
            ids = [number for number, _, _ in documents]
            indexes = embedding.generated_indexes
            counter = token_counter(embedding)
            cut = estimate_texts(connection, ids, chunking, counter, identity, indexes=indexes)
            passages, texts = cut.passages, cut.texts
    except ModelError as error:
        return PlannedGeneration(uris, f"{detail}; {error}", "", 0.0, 0.0)
    return PlannedGeneration(uris, detail, identity, passages, texts)


def _target(found: Generations) -> int | None:
    """Return the id of the generation that is gone on with; None where a new one is begun."""
    if found.building is not None and found.building.settings == found.wanted:
        return found.building.id
    return next((generation.id for generation in found.earlier if generation.settings == found.wanted), None)


def estimate_texts(
    connection: Connection,
    documents: Sequence[int],
    chunking: ChunkingSettings,
    tokenizer: TokenCounter,
    identity: str,
    *,
    indexes: bool,
) -> EstimatedTexts:
    """Return the expected texts of documents by some settings, from a sample of them that is cut now.

    Args:
        connection: to the knowledge base.
        documents: ids.
        chunking: the settings that they are cut by.
        tokenizer: of the embedding model.
        identity: of the model, by which vectors are kept.
        indexes: whether generated indexes have vectors.
    """
    if not documents:
        return EstimatedTexts()
    sample = list(documents)[:: max(len(documents) // _SAMPLE, 1)][:_SAMPLE]
    passages = 0
    tokens: dict[bytes, int] = {}
    with connection.cursor(row_factory=dict_row) as cursor:
        for content in cursor.execute(queries["contents_to_cut"], {"documents": sample}):
            document = parsed_document(content)
            chunks = chunk_document(
                document,
                title=content["title"],
                tokens=chunking.tokens,
                overlap=chunking.overlap,
                tokenizer=tokenizer,
                context=chunking.context,
            )
            passages += len(chunks)
            if indexes or not is_generated_index(document):
                tokens.update((chunk.embedding_hash, chunk.token_count) for chunk in chunks)
    row = connection.execute(queries["count_vectors"], {"model": identity, "hashes": list(tokens)}).fetchone()
    cached = int(row[0]) if row else 0
    share = len(documents) / len(sample)
    new = (len(tokens) - cached) / max(len(tokens), 1)
    return EstimatedTexts(
        passages * share, (len(tokens) - cached) * share, sum(tokens.values()) * new * share, cached * share
    )

"""The generations of a collection: look-up, and what the applied settings ask for."""

from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from psycopg import Connection, sql
from psycopg.rows import class_row, dict_row
from psycopg.types.json import Jsonb

from sourcebook.config.collection import AUTO_MODEL, OF_THE_MACHINE, ChunkingSettings, EmbeddingSettings
from sourcebook.config.evaluation import GenerationSettings
from sourcebook.database.queries import queries
from sourcebook.embedding.engine import Engine
from sourcebook.embedding.weights import BUNDLED_NAME
from sourcebook.errors import GoneCollectionError, MissingDependencyError, ModelError
from sourcebook.indexing.judged_state import judged_state
from sourcebook.indexing.model_choice import choose_model
from sourcebook.model.generation import PARTITIONED, Generation, plain_settings

if TYPE_CHECKING:
    from sourcebook.embedding.settled import SettledModel

PlainSettings = dict[str, dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Generations:
    """The generations of one collection beside the settings as last applied."""

    collection: str
    wanted: PlainSettings
    """Applied chunking and embedding settings, with the name of the model that was chosen."""
    embedding: EmbeddingSettings
    """The embedding settings of `wanted`, with those of how a provider is reached."""
    rules: GenerationSettings
    active: Generation | None
    building: Generation | None
    """Generation that is built beside the active one."""
    earlier: tuple[Generation, ...]
    """All others: the latest active one first, and then those that never were."""
    activated: frozenset[int]
    """Ids of the generations that are or were active."""
    activated_at: datetime | None
    """Time of the last activation."""
    overruled: PlainSettings | None
    """Applied settings that nobody builds, because a person activated another generation."""
    error: str | None
    """Reason why no generation by the applied settings can be begun."""
    evaluation: Mapping[str, Any] = field(default_factory=dict)
    """Applied settings of evaluation."""
    verdict: Mapping[str, Any] | None = None
    """Comparison of the generation being built with the active one on judged questions."""
    retired: tuple[int, ...] = ()
    """Ids of generations whose deletion has begun."""
    asked: EmbeddingSettings = field(default_factory=EmbeddingSettings)
    """Embedding settings as applied."""
    awaits_choice: bool = False
    """Whether the settings leave the model to the languages of the documents, which have not decided yet."""
    is_provisional: bool = False
    """Whether the languages of the first documents have decided, and those of all documents are still to confirm it."""

    @property
    def step(self) -> Literal["none", "build", "drop"]:
        """Change that the applied settings ask for: a generation beside the active one, or the end of its build."""
        if self.active is not None and self.wanted in (self.active.settings, self.overruled):
            return "none" if self.building is None else "drop"
        return "none" if self.building is not None and self.building.settings == self.wanted else "build"

    @property
    def is_blocked(self) -> bool:
        """Whether the gate refused the generation being built, by questions and settings that have not changed."""
        verdict = self.verdict
        return verdict is not None and not verdict["passed"] and verdict["judged"] == judged_state(self)

    @property
    def ids(self) -> frozenset[int]:
        """Ids of the generations whose deletion has not begun."""
        return frozenset(generation.id for generation in (*self.followed, *self.earlier))

    @property
    def followed(self) -> list[Generation]:
        """Generations that an ingest brings up to date: the active one, then the one being built."""
        return [generation for generation in (self.active, self.building) if generation is not None]

    @property
    def surplus(self) -> list[Generation]:
        """Earlier generations that are not kept: more than `keep` allows, or never activated."""
        kept = [generation for generation in self.earlier if generation.id in self.activated][: self.rules.keep]
        return [generation for generation in self.earlier if generation not in kept]

    @property
    def embedding_to_load(self) -> EmbeddingSettings:
        """Embedding settings of the generation that most new texts are embedded for."""
        if self.step == "build":
            return self.embedding
        return self.followed[-1].embedding_settings


def find_generations(connection: Connection, collection: str) -> Generations:
    """Return the generations of a collection.

    Raises:
        GoneCollectionError: the collection has not been applied, or was removed.
    """
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(queries["collection_generations"], {"collection": collection}).fetchone()
    if row is None:
        raise GoneCollectionError(
            f"there is no collection {collection}, or no longer: add it to sourcebook.yaml and run  sourcebook apply,"
            " or make it over the API"
        )
    active, building = row["active_generation_id"], row["building_generation_id"]
    overruled = row["overruled_settings"]
    asked = EmbeddingSettings.model_validate(row["embedding"])
    embedding = dict(asked.model_dump(mode="json"))
    of_the_machine = {} if asked.device == "auto" else {"device": asked.device}
    known = [
        Generation(
            **{**values, "embedding": {**values["embedding"], **of_the_machine}}, is_active=values["id"] == active
        )
        for values in row["generations"]
    ]
    active_model = next((each.embedding["model"] for each in known if each.is_active), None)
    settled = active_model if row["choice"] is None else str(row["choice"]["model"])
    if is_chosen := asked.model == AUTO_MODEL:
        embedding["model"] = settled or BUNDLED_NAME
    return Generations(
        collection=collection,
        wanted=plain_settings(row["chunking"], embedding),
        embedding=EmbeddingSettings.model_validate(embedding),
        rules=GenerationSettings.model_validate(row["rules"] or {}),
        active=next((generation for generation in known if generation.id == active), None),
        building=next((generation for generation in known if generation.id == building), None),
        earlier=tuple(generation for generation in known if generation.id not in (active, building)),
        activated=frozenset(row["activated"]),
        activated_at=row["activated_at"],
        overruled=None if overruled is None else plain_settings(**overruled),
        error=row["generation_error"],
        evaluation=row["evaluation"] or {},
        verdict=row["verdict"],
        retired=tuple(row["retired"]),
        asked=asked,
        awaits_choice=is_chosen and settled is None,
        is_provisional=is_chosen and bool((row["choice"] or {}).get("is_provisional")),
    )


def check_first_provider(connection: Connection, collection: str) -> None:
    """Ask the provider of a collection's first generation, where one is about to begin: a wrong key shows at once.

    Raises:
        ModelError: the provider refuses or does not answer, or its vectors cannot be indexed.
    """
    found = find_generations(connection, collection)
    if found.embedding.provider is None or found.active is not None or found.step != "build":
        return
    try:
        _settled(connection, found)
    except (ModelError, MissingDependencyError) as error:
        raise ModelError(f"collection {collection}: {error}") from None


def differences(found: Generations) -> list[str]:
    """Return the applied settings that differ from the generation that is or becomes active, with both values."""
    if found.active is None or found.step != "build":
        return []
    before = found.active.settings
    return [
        f"{part}.{name}: {before[part].get(name)} → {value}"
        for part, settings in found.wanted.items()
        for name, value in settings.items()
        if value != before[part].get(name)
    ]


def active_generation(connection: Connection, collection: str) -> Generation | None:
    """Return the active generation of a collection; None before its first ingest."""
    with connection.cursor(row_factory=class_row(Generation)) as cursor:
        return cursor.execute(queries["active_generation"], {"collection": collection}).fetchone()


def other_generations(connection: Connection, collection: str, generation: Generation | None) -> list[Generation]:
    """Return the generations of a collection except for one; all of them where it is None."""
    with connection.cursor(row_factory=class_row(Generation)) as cursor:
        scope = {"collection": collection, "generation": generation.id if generation else None}
        found = cursor.execute(queries["other_generations"], scope).fetchall()
    return [replace(other, is_active=False) for other in found]


def wanted_embedding(connection: Connection, collection: str) -> EmbeddingSettings:
    """Return the embedding settings of the generation that an ingest embeds most texts for.

    Raises:
        ConfigurationError: the collection has not been applied.
    """
    return find_generations(connection, collection).embedding_to_load


def ensure_generation(connection: Connection, collection: str) -> Generation:
    """Return the active generation of a collection; the first call creates it from the applied settings.

    Raises:
        ConfigurationError: the collection has not been applied.
        ModelError: the embedding model cannot be found.
    """
    return active_generation(connection, collection) or ensure_generations(connection, collection)[0]


def ensure_generations(connection: Connection, collection: str, *, knows_languages: bool = True) -> list[Generation]:
    """Return the generations that an ingest brings up to date: the active one, then the one being built.

    Where the applied settings differ from the active generation's, another one is begun, or taken up again. Without
    their model the active generation is returned alone, and the reason is recorded.

    Args:
        connection: to the knowledge base; the caller holds the lock of the collection.
        collection: name of the collection.
        knows_languages: whether all of its documents are made: until then their languages choose a model provisionally.

    Raises:
        ConfigurationError: the collection has not been applied.
        ModelError: the embedding model cannot be found, and there is no active generation.
    """
    found = find_generations(connection, collection)
    if found.awaits_choice or (found.is_provisional and knows_languages):
        choice = choose_model(connection, collection, is_provisional=not knows_languages)
        before, found = found, find_generations(connection, collection)
        if before.is_provisional and found.active is not None and found.wanted != before.wanted:
            _exchange_model(connection, found, found.active, choice.model)
            found = find_generations(connection, collection)
    scope = {"collection": collection}
    if found.overruled is not None and found.overruled != found.wanted:
        connection.execute(queries["forget_overruled_settings"], scope)
    if found.step == "drop":
        connection.execute(queries["build_generation"], {**scope, "generation": None})
    elif found.step == "build":
        try:
            _begin(connection, found)
        except ModelError as error:
            if found.active is None:
                raise
            connection.execute(queries["record_generation_error"], {**scope, "reason": str(error)})
            connection.execute(queries["build_generation"], {**scope, "generation": None})
            return [found.active]
    elif found.error is None:
        return found.followed
    connection.execute(queries["record_generation_error"], {**scope, "reason": None})
    return find_generations(connection, collection).followed


def _exchange_model(connection: Connection, found: Generations, active: Generation, name: str) -> None:
    """Let the active generation have the model that all documents have chosen, unless there are vectors already."""
    model = _settled(connection, found)
    values = {"name": name, "model": model.identity, "dimensions": model.dimensions, "generation": active.id}
    connection.execute(queries["exchange_model"].format(partition=active.partition), values)


def _settled(connection: Connection, found: Generations) -> "SettledModel":
    """Return the model of a collection's settings."""
    from sourcebook.embedding.remote.access import ProviderAccess  # import what reads models, for a new generation only
    from sourcebook.embedding.settled import settle_model

    return settle_model(found.embedding, ProviderAccess.through(connection, found.collection))


def _begin(connection: Connection, found: Generations) -> None:
    """Begin a generation by the applied settings, or take up one of the earlier generations."""
    known = next((generation for generation in found.earlier if generation.settings == found.wanted), None)
    if known is not None:
        scope = {"collection": found.collection, "generation": known.id}
        connection.execute(queries["build_generation"], scope)
        return
    model = _settled(connection, found)
    create_generation(
        connection,
        found.collection,
        ChunkingSettings.model_validate(found.wanted["chunking"]),
        found.embedding,
        model=model.identity,
        dimensions=model.dimensions,
        is_active=found.active is None,
    )


def create_generation(
    connection: Connection,
    collection: str,
    chunking: ChunkingSettings,
    embedding: EmbeddingSettings,
    *,
    model: str,
    dimensions: int,
    is_active: bool = True,
    partitioned: Collection[str] = PARTITIONED,
) -> Generation:
    """Create a generation of a collection with its partitions, and activate it or build it beside the active one.

    Args:
        connection: to the knowledge base.
        collection: name of the collection.
        chunking: its chunking settings.
        embedding: its embedding settings.
        model: identity of the model, with its precision.
        dimensions: length of its vectors.
        is_active: whether it is active; otherwise it is built beside the active one.
        partitioned: tables that get their partition now; the caller makes the others within the same transaction.
    """
    with connection.transaction():
        row = connection.execute(
            queries["insert_generation"],
            {
                "collection": collection,
                "chunking": Jsonb(chunking.model_dump(mode="json")),
                "embedding": Jsonb(embedding.model_dump(mode="json", exclude=set(OF_THE_MACHINE))),
                "model": model,
                "dimensions": dimensions,
            },
        ).fetchone()
        number = int(row[0]) if row else 0
        generation = Generation(
            number,
            collection,
            chunking.model_dump(mode="json"),
            embedding.model_dump(mode="json"),
            model,
            dimensions,
            is_active,
        )
        for table in partitioned:
            partition = generation.partitions[table]
            connection.execute(
                queries["create_partition"].format(
                    partition=partition,
                    table=sql.Identifier(table),
                    number=sql.Literal(number),
                    name=sql.Literal(f"{table}_{number}"),
                )
            )
        connection.execute(queries["record_storage"], {"generation": number})
        scope = {"collection": collection, "generation": number, "before": None, "overruled": None}
        connection.execute(queries["activate_generation" if is_active else "build_generation"], scope)
    return generation


def record_engine(connection: Connection, generation: Generation, engine: Engine | None) -> None:
    """Record the engine that computed the latest vectors of a generation; None where no vector was computed."""
    if engine is not None:
        connection.execute(queries["record_engine"], {"generation": generation.id, "engine": Jsonb(asdict(engine))})

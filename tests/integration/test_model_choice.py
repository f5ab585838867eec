"""The embedding model of a collection whose settings name none."""

from dataclasses import asdict

from orchestration.ingest_results import notes_on_generations
from sourcebook.admin.status import collection_statuses
from sourcebook.embedding.engine import Engine
from sourcebook.indexing.generations import ensure_generations, find_generations, record_engine, wanted_embedding
from sourcebook.indexing.model_choice import model_choice
from tests.integration.stages import Stages

GERMAN = "Das Hafenamt öffnet morgens um acht Uhr und schließt, sobald das letzte Boot im Sommer {} festgemacht hat."
ENGLISH = "The harbour office opens at eight in the morning and closes when the last boat has been moored in summer {}."
PLAIN = "collections: {handbook: {files: [{root: ./docs}]}}"
NAMED = "collections: {handbook: {files: [{root: ./docs}], embedding: {model: all-MiniLM-L6-v2}}}"


def documents(stages: Stages, text: str, number: int, *, name: str) -> None:
    """Bring documents in one language as far as the documents' stage."""
    for place in range(number):
        stages.write(f"{name}-{place}.md", text.format(place))
    stages.raw_files()
    stages.documents()


def model(stages: Stages) -> str:
    """Return the name of the model of the only generation."""
    with stages.connection() as connection:
        (generation,) = ensure_generations(connection, stages.collection)
    return generation.model.partition(":")[0]


def test_the_first_documents_decide(stages: Stages) -> None:
    """The choice is recorded, and documents that come later do not change it."""
    stages.configure(PLAIN)
    documents(stages, GERMAN, 2, name="amt")
    with stages.connection() as connection:
        assert wanted_embedding(connection, stages.collection).model == "all-MiniLM-L6-v2"  # loaded early, as a guess
    assert model(stages) == "multilingual-e5-small"
    with stages.connection() as connection:
        choice = model_choice(connection, stages.collection)
    assert choice is not None
    assert (choice.model, choice.languages) == ("multilingual-e5-small", {"de": 2})
    with stages.connection() as connection:
        (said,) = notes_on_generations(connection, stages.collection, None)
        assert said.startswith("embedding model multilingual-e5-small, by the languages of the documents (de 100 %)")
        assert notes_on_generations(connection, stages.collection, choice) == (), "it is said once"
    documents(stages, ENGLISH, 30, name="office")
    assert model(stages) == "multilingual-e5-small"
    with stages.connection() as connection:
        assert find_generations(connection, stages.collection).step == "none"


def test_english_documents_take_the_default(stages: Stages) -> None:
    stages.configure(PLAIN)
    documents(stages, ENGLISH, 3, name="office")
    assert model(stages) == "all-MiniLM-L6-v2"


def test_a_named_model_is_taken_whatever_the_languages(stages: Stages) -> None:
    stages.configure(NAMED)
    documents(stages, GERMAN, 3, name="amt")
    assert model(stages) == "all-MiniLM-L6-v2"
    with stages.connection() as connection:
        assert model_choice(connection, stages.collection) is None


def test_a_generation_of_an_earlier_version_stays(stages: Stages) -> None:
    """Before the choice, the default was written into the applied settings: its generation goes on."""
    stages.configure(NAMED)
    documents(stages, GERMAN, 3, name="amt")
    assert model(stages) == "all-MiniLM-L6-v2"
    stages.configure(PLAIN)
    with stages.connection() as connection:
        found = find_generations(connection, stages.collection)
        assert (found.step, found.awaits_choice) == ("none", False)
        assert [each.model.partition(":")[0] for each in ensure_generations(connection, stages.collection)] == [
            "all-MiniLM-L6-v2"
        ]


def test_device_and_engine_make_no_generation(stages: Stages) -> None:
    """They say how vectors are computed, not which: the engine is recorded, the device is that of the settings now."""
    stages.configure(NAMED)
    documents(stages, ENGLISH, 1, name="office")
    assert model(stages) == "all-MiniLM-L6-v2"
    engine = Engine("onnxruntime", "float32", "cpu", "the processor has no bfloat16")
    with stages.connection() as connection:
        (generation,) = ensure_generations(connection, stages.collection)
        record_engine(connection, generation, engine)
        record_engine(connection, generation, None)
        (status,) = collection_statuses(connection)
    assert status.engine == asdict(engine)
    stages.configure(NAMED.replace("v2}", "v2, device: cpu}"))
    with stages.connection() as connection:
        found = find_generations(connection, stages.collection)
        assert found.step == "none"
        assert found.embedding_to_load.device == "cpu"
        assert [each.id for each in ensure_generations(connection, stages.collection)] == [generation.id]

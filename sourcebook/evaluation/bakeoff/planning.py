"""The plan of a bakeoff: candidates, questions and sample, and the time and the money that it would take."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from psycopg import Connection

from sourcebook.admin.planning.forecast import forecast_seconds
from sourcebook.admin.planning.generation import EstimatedTexts, estimate_texts
from sourcebook.chunking.tokenizer import token_counter
from sourcebook.database.queries import queries
from sourcebook.database.stage_runs import stage_runs
from sourcebook.embedding.metering import metered_model, provider_of_settings
from sourcebook.embedding.prices import cost
from sourcebook.embedding.remote.access import ProviderAccess
from sourcebook.embedding.settled import settled_before
from sourcebook.errors import MissingDependencyError, ModelError
from sourcebook.evaluation.bakeoff.candidates import Choices, Indexing, indexings
from sourcebook.evaluation.bakeoff.outcome import BakeoffPlan, PlannedIndex
from sourcebook.evaluation.bakeoff.questions import AskedQuestions, judged_questions
from sourcebook.evaluation.bakeoff.sample import choose_documents, read_documents
from sourcebook.evaluation.errors import EvaluationError
from sourcebook.evaluation.measures import require_ir_measures
from sourcebook.indexing.generations import active_generation
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.work import cutting_work, embedding_work, publishing_work

SAMPLE: Final = 1_000
"""Documents that candidates are built over, at most, where no number is given."""
QUESTIONS: Final = 300
"""Questions, at most, where no number is given."""


@dataclass(frozen=True, slots=True)
class PreparedBakeoff:
    """A bakeoff that has been planned."""

    knowledge: KnowledgeBase
    plan: BakeoffPlan
    present: Indexing
    questions: AskedQuestions
    documents: tuple[int, ...]
    """Ids of the sample."""


def prepare_bakeoff(
    knowledge: KnowledgeBase,
    collection: str,
    choices: Choices | None = None,
    *,
    queries_file: Path | None = None,
    qrels: Path | None = None,
    sample: int = SAMPLE,
    limit: int = QUESTIONS,
) -> PreparedBakeoff:
    """Plan a bakeoff; nothing is built, and no provider is asked.

    Args:
        knowledge: the knowledge base.
        collection: name of a collection with an active generation.
        choices: what is tried; one change of the present settings at a time where None.
        queries_file: path of questions, as `evaluate` reads them.
        qrels: path of their judgments. Without both files: those of the settings, else the recorded judgments, and
            where these are few, questions that are made from the documents.
        sample: the most documents; those that answer judged questions are always among them.
        limit: the most questions.

    Raises:
        EvaluationError: there is no question, no active generation, or a choice is none.
        QueryError: the collection does not exist.
        MissingDependencyError: ir-measures is not installed.
    """
    require_ir_measures()
    if sample < 1 or limit < 1:
        raise EvaluationError(f"a sample of {sample:,} documents and {limit:,} questions: both must be 1 or more")
    chosen = choices or Choices()
    judged = judged_questions(knowledge, collection, queries_file, qrels, limit)
    with knowledge.database.connection() as connection:
        active = active_generation(connection, collection)
        if active is None:
            raise EvaluationError(f"{collection} has no index to compare with yet: run  sourcebook ingest {collection}")
        present = Indexing(active.chunking_settings, active.embedding_settings)
        documents, live = choose_documents(connection, collection, sample, judged.documents)
        questions = judged.with_made(read_documents(connection, documents), limit)
        largest = token_counter(present.embedding).max_tokens
        planned: list[PlannedIndex] = []
        left_out: list[str] = []
        for indexing in indexings(present, chosen, largest=largest):
            try:
                planned.append(_planned(connection, collection, indexing, documents, is_present=indexing == present))
            except (ModelError, MissingDependencyError) as error:
                if indexing == present:
                    raise
                left_out.append(f"{indexing.describe()}: {error}")
    plan = BakeoffPlan(
        collection, questions.counts, len(documents), live, tuple(planned), chosen.rankings, tuple(left_out)
    )
    return PreparedBakeoff(knowledge, plan, present, questions, tuple(documents))


def _planned(
    connection: Connection, collection: str, indexing: Indexing, documents: Sequence[int], *, is_present: bool
) -> PlannedIndex:
    embedding = indexing.embedding
    tokenizer = token_counter(embedding)
    if indexing.chunking.tokens > tokenizer.max_tokens and not is_present:
        raise ModelError(f"the model reads {tokenizer.max_tokens} tokens of a text")
    model = settled_before(embedding, ProviderAccess.through(connection, collection))
    identity = "" if model is None else model.identity
    expected = estimate_texts(
        connection, documents, indexing.chunking, tokenizer, identity, indexes=embedding.generated_indexes
    )
    return PlannedIndex(
        indexing,
        texts=round(expected.texts),
        cached=round(expected.cached),
        tokens=round(expected.tokens),
        seconds=round(_seconds(connection, identity, expected), 1),
        cost=_cost(connection, collection, indexing, identity, round(expected.tokens)),
    )


def _seconds(connection: Connection, identity: str, expected: EstimatedTexts) -> float:
    past = stage_runs(connection)
    others = [run for (stage, _), runs in past.items() if stage == "embeddings" for run in runs]
    work = {
        ("chunks", ""): cutting_work(expected.passages),
        ("embeddings", identity): embedding_work(expected.tokens),
        ("search_index", ""): publishing_work(expected.passages),
    }
    return sum(
        forecast_seconds(stage, amount, past.get((stage, kind)) or (others if stage == "embeddings" else ()))
        for (stage, kind), amount in work.items()
        if amount
    )


def _cost(connection: Connection, collection: str, indexing: Indexing, identity: str, tokens: int) -> float | None:
    provider = provider_of_settings(indexing.embedding)
    row = connection.execute(queries["usage_prices"], {"collection": collection}).fetchone()
    return cost(provider, metered_model(provider, identity, indexing.embedding), tokens, row[0] if row else {})

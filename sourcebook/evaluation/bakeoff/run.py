"""A bakeoff: each candidate is built over the sample in a scratch database, and asked the same questions there.

Searches of the knowledge base see nothing of it: it reads documents from there, and keeps new vectors there.
"""

from collections.abc import Callable
from contextlib import closing
from functools import partial

from sourcebook.database.scratch import scratch_database
from sourcebook.embedding.remote.access import ProviderAccess
from sourcebook.embedding.settled import SettledModel, settle_model
from sourcebook.errors import MissingDependencyError, ModelError
from sourcebook.evaluation.bakeoff.asking import Asker
from sourcebook.evaluation.bakeoff.building import Builder
from sourcebook.evaluation.bakeoff.candidates import Indexing
from sourcebook.evaluation.bakeoff.outcome import Bakeoff
from sourcebook.evaluation.bakeoff.planning import PreparedBakeoff
from sourcebook.evaluation.bakeoff.sample import copy_documents, take_questions_out

Shown = Callable[[str, int, int], None]
"""Callback of the progress, called with what is done now and (done, total)."""


def run_bakeoff(prepared: PreparedBakeoff, progress: Shown = lambda now, done, total: None) -> Bakeoff:
    """Build and ask every candidate, and return their figures; nothing but new vectors stays.

    Args:
        prepared: the planned bakeoff.
        progress: called with the step, such as `2 of 6, embedding`, and (done, total) texts or questions.

    Raises:
        DatabaseError: the scratch database cannot be made.
        ModelError: the model of the active generation cannot be loaded.
    """
    base, plan = prepared.knowledge.database, prepared.plan
    with scratch_database(base) as scratch:
        with base.connection() as source, scratch.connection() as target:
            copy_documents(source, target, plan.collection, prepared.documents)
            take_questions_out(target, prepared.questions.taken_out)
        failed: list[str] = []
        with closing(Builder(base, scratch, plan.collection)) as builder, closing(Asker(scratch, prepared)) as asker:
            for number, planned in enumerate(plan.indexes, start=1):
                indexing, step = planned.indexing, f"{number} of {len(plan.indexes)}"
                try:
                    built = builder.build(
                        indexing, _settled(prepared, indexing), partial(progress, f"{step}, embedding")
                    )
                    for ranking in plan.rankings:
                        asker.ask(indexing, ranking, built, partial(progress, f"{step}, asking by {ranking}"))
                except (ModelError, MissingDependencyError, ArithmeticError) as error:
                    if indexing == prepared.present:
                        raise
                    failed.append(f"{indexing.describe()}: {error}")
            return Bakeoff(plan, asker.lines(), tuple(failed))


def _settled(prepared: PreparedBakeoff, indexing: Indexing) -> SettledModel:
    with prepared.knowledge.database.connection() as connection:
        return settle_model(indexing.embedding, ProviderAccess.through(connection, prepared.plan.collection))

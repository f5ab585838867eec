"""The gate of a generation: no generation becomes active that answers judged questions worse than the active one."""

from dataclasses import asdict, dataclass

from psycopg import Connection
from psycopg.types.json import Jsonb

from sourcebook.config.evaluation import EvaluationSettings
from sourcebook.database.queries import queries
from sourcebook.errors import SourcebookError
from sourcebook.evaluation.configured import evaluation_version
from sourcebook.evaluation.evaluate import evaluate
from sourcebook.evaluation.question_changes import question_changes
from sourcebook.evaluation.scores import Evaluation
from sourcebook.indexing.generations import Generations
from sourcebook.indexing.judged_state import judged_state
from sourcebook.knowledge_base import KnowledgeBase
from sourcebook.model.generation import Generation
from sourcebook.model.progress import Progress, silent

_NAMED_QUESTIONS = 5
"""Questions that a verdict names, at most."""
_ROUNDING = 1e-9
"""Difference of means that is no difference."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a generation may take the place of the active one."""

    version: str
    """Digest over both indexes, the questions, their judgments and the settings."""
    judged: str
    """State of the files and settings, as `judged_state` returns it."""
    passed: bool
    description: str
    """Reason of a refusal, with the measures and the questions that lose most; empty where it passed."""


def passes_gate(
    connection: Connection, knowledge: KnowledgeBase, found: Generations, progress: Progress = silent
) -> bool:
    """Return whether the generation being built may become active, and record the verdict and both scores.

    Questions are asked again only after a change of an index, the questions, their judgments or the settings.

    Args:
        connection: in autocommit mode.
        knowledge: the knowledge base, which asks the questions.
        found: the generations of the collection; one is active, and the one being built is whole.
        progress: called with the number of questions asked and their total.
    """
    settings = EvaluationSettings.model_validate(found.evaluation)
    if found.active is None or found.building is None or settings.queries is None or not found.rules.gate:
        return True
    pair = [found.active, found.building]
    try:
        version = evaluation_version(connection, found.collection, settings, pair, found.rules.model_dump())
    except SourcebookError as error:
        return _record(connection, found, Verdict("", judged_state(found), passed=False, description=str(error)))
    if found.verdict is not None and found.verdict.get("version") == version:
        return bool(found.verdict["passed"])
    try:
        before, after = [
            _ask(knowledge, settings, generation, progress, number) for number, generation in enumerate(pair)
        ]
    except SourcebookError as error:
        reason = f"the judged questions cannot be asked: {error}"
        return _record(connection, found, Verdict(version, judged_state(found), passed=False, description=reason))
    for generation, evaluation in zip(pair, (before, after), strict=True):
        means = {measure: estimate.mean for measure, estimate in evaluation.modes[0].estimates.items()}
        connection.execute(queries["record_generation_scores"], {"generation": generation.id, "scores": Jsonb(means)})
    reasons = _reasons(found, before, after)
    verdict = Verdict(version, judged_state(found), passed=not reasons, description="; ".join(reasons))
    return _record(connection, found, verdict)


def _ask(
    knowledge: KnowledgeBase, settings: EvaluationSettings, generation: Generation, progress: Progress, number: int
) -> Evaluation:
    return evaluate(
        knowledge,
        generation.collection,
        settings.queries or "",
        settings.qrels or "",
        modes=[settings.mode],
        generation=generation.id,
        progress=lambda done, total, failed=0: progress(number * total + done, 2 * total, failed),
    )


def _reasons(found: Generations, before: Evaluation, after: Evaluation) -> list[str]:
    """Return a sentence for each measure that is lower than the settings allow."""
    reasons = []
    for measure, tolerance in found.rules.gate.items():
        old = before.modes[0].estimates[measure].mean
        new = after.modes[0].estimates[measure].mean
        if new - old >= tolerance - _ROUNDING:
            continue
        lost = [str(each) for each in question_changes(after, before, measure)[:_NAMED_QUESTIONS] if each.gain < 0]
        active = found.active.id if found.active else 0
        reasons.append(
            f"{measure} is {new:.3f}, and {old:.3f} in generation {active}: {old - new:.3f} lower, "
            f"at most {-tolerance:g} is allowed; the questions that lose most: {', '.join(lost)}"
        )
    return reasons


def _record(connection: Connection, found: Generations, verdict: Verdict) -> bool:
    if found.building is not None:
        connection.execute(
            queries["record_generation_verdict"],
            {"generation": found.building.id, "verdict": Jsonb(asdict(verdict))},
        )
    return verdict.passed

"""A team's code location with Sourcebook in it: once a week an asset of theirs writes what is new to their questions.

    SOURCEBOOK_CONFIG=examples/sourcebook.yaml dagster dev -f examples/weekly_digest.py

`search_index` stands upstream of the digest in the lineage, and `sourcebook_knowledge_base` is the Python API.
"""

import json
from pathlib import Path

import dagster as dg
from pydantic import Field

from sourcebook import KnowledgeBase
from sourcebook.dagster import sourcebook_definitions


class Digest(dg.Config):
    """The questions of the team, and where the digest is written."""

    questions: list[str] = Field(default=["storm surge", "calibration of the gauge", "open days for visitors"])
    folder: str = "digests"


@dg.asset(deps=[dg.AssetKey(["sourcebook", "search_index"])], group_name="team")
def weekly_digest(
    config: Digest, sourcebook_knowledge_base: dg.ResourceParam[KnowledgeBase]
) -> dg.MaterializeResult[None]:
    """Documents that answer a question and were not in the last digest, or have changed since."""
    folder = Path(config.folder)
    folder.mkdir(parents=True, exist_ok=True)
    state = folder / "seen.json"
    seen: dict[str, dict[str, int]] = json.loads(state.read_text()) if state.exists() else {}
    found: dict[str, dict[str, int]] = {}
    lines = ["# New this week"]
    for question in config.questions:
        lines += ["", f"## {question}", ""]
        before = seen.get(question, {})
        hits = {hit.uri: hit for hit in reversed(sourcebook_knowledge_base.search(question, limit=10))}
        found[question] = {uri: hit.version for uri, hit in hits.items()}
        new = [hit for hit in hits.values() if before.get(hit.uri) != hit.version]
        lines += [f"- [{hit.title}]({hit.uri})" for hit in new] or ["Nothing new."]
    (folder / "digest.md").write_text("\n".join([*lines, ""]))
    state.write_text(json.dumps(found))
    return dg.MaterializeResult(metadata={"digest": dg.MetadataValue.md("\n".join(lines))})


every_monday = dg.ScheduleDefinition(
    name="every_monday",
    target=[weekly_digest],
    cron_schedule="0 7 * * 1",
    execution_timezone="Europe/London",
)

defs = dg.Definitions.merge(
    dg.Definitions(assets=[weekly_digest], schedules=[every_monday]),
    sourcebook_definitions(group="sourcebook"),
)

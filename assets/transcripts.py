"""The asset `transcripts`: what was said in the collection's recordings."""

import dagster as dg

from assets.definition import collection_asset
from assets.files_first import make_files_first
from assets.materialization import describe_usage, materialization
from resources.knowledge import Knowledge
from resources.partition import IN_PROCESS, parts_of
from resources.progress import ProgressLog
from resources.selection import RunSelection


@collection_asset(
    group="documents",
    kinds={"openai"},
    work="processor",
    items="recordings",
    counts={
        "reused": "recordings whose sound was transcribed before",
        "seconds_of_sound": "transcribed time",
        "processor_seconds": "processor time that transcribing took, of all threads",
        "damaged": "recordings whose record or transcript somebody else had changed, made again",
    },
    deps=["raw_files"],
    pool="speech",  # concurrent runs per machine: 1 unless the instance sets another limit
)
def transcripts(
    context: dg.AssetExecutionContext, knowledge: Knowledge, selection: RunSelection, progress: ProgressLog
) -> dg.MaterializeResult[None]:
    """Transcripts of sound and video: segments with start, end and confidence, language, duration, tags."""
    from sourcebook.stages.transcripts.update import update_transcripts

    collection, shard = parts_of(context)
    with knowledge.database.connection() as connection:
        make_files_first(context, connection, selection, progress)
        report = update_transcripts(
            connection,
            collection,
            selection.selection(shard),
            progress.reporter(context, "seconds of sound", pace="× real time"),
            home=knowledge.home,
            gives_way=IN_PROCESS not in context.run.tags,
        )
        used = describe_usage(connection, collection)
    return materialization(report, **used)

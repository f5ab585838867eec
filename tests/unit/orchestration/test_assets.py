"""The assets of the pipeline, which are named in several places: an ingest is not to wait for Dagster's import."""

from assets.definition import CODE_VERSIONS
from orchestration import direct_ingest, jobs
from resources.pipeline import PIPELINE


def test_every_list_of_assets_names_the_same_in_the_same_order() -> None:
    names = tuple(asset.key.to_user_string() for asset in jobs.ASSETS)
    assert names == PIPELINE
    assert tuple(CODE_VERSIONS) == names
    assert tuple(name for name in names if name not in {"crawled_pages", "transcripts"}) == direct_ingest.ASSETS

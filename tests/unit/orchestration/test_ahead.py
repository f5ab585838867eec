"""Work is done ahead in runs alone that materialize the asset whose work it is."""

import dagster as dg
import pytest

from resources.ahead import goes_on_to


@pytest.mark.parametrize("selected", [("documents", "search_index"), ("documents",), None])
def test_a_run_goes_on_to_the_assets_that_it_executes(selected: tuple[str, ...] | None) -> None:
    """Whether it executes the whole job or a part."""
    seen: list[bool] = []

    @dg.asset
    def documents(context: dg.AssetExecutionContext) -> None:
        seen.append(goes_on_to(context, "search_index"))

    @dg.asset(deps=["documents"])
    def search_index() -> None: ...

    jobs = [dg.define_asset_job("ingest", selection=dg.AssetSelection.all())]
    job = dg.Definitions([documents, search_index], jobs=jobs).resolve_job_def("ingest")
    if selected is not None:
        job = job.get_subset(asset_selection={dg.AssetKey(name) for name in selected})
    with dg.DagsterInstance.ephemeral() as instance:
        assert job.execute_in_process(instance=instance).success
    assert seen == [selected is None or "search_index" in selected]

"""Forecasts follow the past runs of a machine, and the built-in figures where there are none."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sourcebook.admin.planning.forecast import forecast_run, forecast_seconds
from sourcebook.model.work import START_SECONDS


def test_without_past_runs_the_built_in_figures_hold() -> None:
    assert forecast_seconds("embeddings", 10.0, []) == pytest.approx(START_SECONDS["embeddings"] + 10.0)


@pytest.mark.parametrize("amount", [1.0, 30.0, 400.0])
def test_constant_and_rate_of_a_machine_are_learnt_from_runs_of_several_sizes(amount: float) -> None:
    past = [(work, 5.0 + 3.0 * work) for work in (0.5, 2.0, 20.0, 60.0, 300.0)]
    assert forecast_seconds("documents", amount, past) == pytest.approx(5.0 + 3.0 * amount, rel=0.15)


def test_one_run_of_the_same_size_is_followed_within_a_tenth() -> None:
    assert forecast_seconds("documents", 40.0, [(40.0, 90.0)]) == pytest.approx(90.0, rel=0.1)


def test_many_small_runs_do_not_outweigh_the_large_one() -> None:
    """A large run is compared with the past runs that are nearest to it in size."""
    past = [(0.01, 1.0)] * 200 + [(100.0, 250.0), (120.0, 290.0), (80.0, 210.0)]
    assert forecast_seconds("embeddings", 110.0, past) == pytest.approx(270.0, rel=0.2)


@given(
    past=st.lists(st.tuples(st.floats(0.0, 1e5), st.floats(1e-3, 1e6)), max_size=30),
    amount=st.floats(0.0, 1e5),
)
def test_no_forecast_is_negative(past: list[tuple[float, float]], amount: float) -> None:
    assert forecast_seconds("chunks", amount, past) >= 0.0


def test_stages_without_work_cost_nothing() -> None:
    past = {("transcripts", ""): [(1.0, 100.0)], ("run", "small"): [(0.0, 1.0)]}
    assert forecast_run({"transcripts": 0.0}, past, model="", path="small") == pytest.approx(1.0, rel=0.1)


def test_a_small_change_starts_no_processes() -> None:
    """Without past runs of its kind, a change of a few files is forecast in about a second, a run in three more."""
    work = {"raw_files": 0.01, "documents": 0.1, "embeddings": 0.2}
    small = forecast_run(work, {}, model="m", path="small")
    assert small < 2.0
    assert forecast_run(work, {}, model="m", path="job") - small == pytest.approx(2.5)

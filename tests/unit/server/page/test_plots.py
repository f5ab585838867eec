"""Plots of numbers by day."""

from datetime import date

from sourcebook.server.page.plots import HEIGHT, daily, running

FIRST, LAST = date(2026, 2, 27), date(2026, 3, 2)


def test_the_highest_day_fills_the_plot_and_a_small_one_can_be_seen() -> None:
    plot = daily("Texts", "", {date(2026, 2, 28): 10_000, date(2026, 3, 2): 1, date(2026, 1, 1): 99_999}, FIRST, LAST)
    assert (plot.days, plot.highest) == (4, 10_000)
    high, low = plot.bars
    assert (high.day, high.y, high.height) == (date(2026, 2, 28), 0, HEIGHT)
    assert (low.day, low.height + low.y) == (LAST, HEIGHT)
    assert low.height > 1
    assert [int(bar.x) for bar in plot.bars] == [1, 3]
    assert all(bar.x >= 0 and bar.x + bar.width <= plot.days for bar in plot.bars)


def test_a_plot_of_nothing_has_no_bars() -> None:
    plot = daily("Texts", "", {}, FIRST, LAST)
    assert (plot.bars, plot.highest) == ((), 0)


def test_sums_run_from_what_was_there_before() -> None:
    changes = {date(2025, 1, 1): 5.0, date(2026, 2, 28): 2.0, date(2026, 3, 2): -4.0}
    assert list(running(changes, FIRST, LAST).values()) == [5, 7, 7, 3]


def test_the_scale_has_few_even_values_from_nought_on() -> None:
    def scale(*values: float) -> list[str]:
        held = {date(2026, 2, 27 + at): value for at, value in enumerate(values)}
        return [tick.label for tick in daily("Texts", "", held, FIRST, LAST).ticks]

    assert scale(1) == ["0", "1"]
    assert scale(3, 1) == ["0", "1", "2", "3"]
    assert scale(7) == ["0", "2", "4", "6"]
    assert scale(10_000) == ["0", "5,000", "10k"]
    assert scale(3_456_789) == ["0", "1M", "2M", "3M"]
    assert scale(0.0034) == ["0", "0.001", "0.002", "0.003"]
    assert scale(0.3, 0.1) == ["0", "0.1", "0.2", "0.3"]
    for highest in (2, 11, 99, 123, 4_999, 87_654_321, 0.7, 1.5e-7, 2.5e12):
        plot = daily("Texts", "", {FIRST: highest}, FIRST, LAST)
        assert 2 <= len(plot.ticks) <= 5
        assert plot.ticks[0].y == HEIGHT
        assert all(0 <= tick.y <= HEIGHT for tick in plot.ticks)
        assert len({tick.label for tick in plot.ticks}) == len(plot.ticks)
    assert daily("Texts", "", {}, FIRST, LAST).ticks == ()

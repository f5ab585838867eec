"""The table of measures, with their bars."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class Row:
    """A measure: one line of the table."""

    measure: str
    value: float | None
    """Value in `unit`; None where it was not measured, with the reason in `note`."""
    unit: str = ""
    bar: float | None = None
    """Largest value allowed; None for a measure without a bar."""
    note: str = ""
    at_least: bool = False
    """Whether the bar is the smallest value allowed."""

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None without a bar or a value."""
        if self.bar is None or self.value is None:
            return None
        return self.value >= self.bar if self.at_least else self.value <= self.bar

    @property
    def cells(self) -> tuple[str, ...]:
        """Cells of the line: measure, value, bar, ratio, met."""
        value = self.note if self.value is None else _number(self.value, self.unit)
        if self.value is not None and self.note:
            value += f" ({self.note})"
        ratio = f"{self.value / self.bar:.2f}" if self.bar and self.value is not None else ""
        bar = "" if self.bar is None else f"{'≥' if self.at_least else '≤'} {_number(self.bar, self.unit)}"
        return (self.measure, value, bar, ratio, {None: "", True: "yes", False: "**no**"}[self.met])


def middle(values: list[float]) -> float:
    """Return the median."""
    return float(median(values))


def spread(values: list[float], unit: str) -> str:
    """Return the values behind a median, as text."""
    return f"median of {', '.join(_number(value, unit) for value in values)}" if len(values) > 1 else ""


def table(rows: list[Row]) -> str:
    """Return the rows as a Markdown table; `ratio` is the value against its bar."""
    return grid([("measure", "value", "bar", "ratio", "met?"), *(row.cells for row in rows)])


def grid(cells: Sequence[Sequence[str]]) -> str:
    """Return lines of cells as a Markdown table; the first one is its head."""
    widths = [max(len(line[column]) for line in cells) for column in range(len(cells[0]))]
    lines = [
        "| " + " | ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)) + " |" for line in cells
    ]
    return "\n".join([lines[0], "|" + "|".join("-" * (width + 2) for width in widths) + "|", *lines[1:]])


def say(text: str) -> None:
    """Print progress to stderr."""
    print(text, file=sys.stderr, flush=True)


def _number(value: float, unit: str) -> str:
    match unit:
        case "bytes":
            return f"{value / MEGABYTE:,.0f} MB"
        case "s" | "ms":
            return f"{value:,.2f} {unit}"
        case "×":
            return f"{value:.2f} ×"
        case "WER":
            return f"{value:.3f}"
        case "s/s":
            return f"{value:.3f} {unit}"
        case "nDCG":
            return f"{value:.4f}"
        case "%":
            return f"{100 * value:.1f} %"
        case "relative":
            return f"{value:.1e}"
        case "similarity":
            return f"{value:.3f}"
        case "share":
            return f"{value:.4f}"
        case "pages/s":
            return f"{value:.1f} {unit}"
        case _:
            return f"{value:,.0f} {unit}".strip()

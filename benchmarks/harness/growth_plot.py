"""A picture of how measures grow with the number of passages, as SVG: one small chart each, both axes logarithmic."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT, _MARGIN, _TITLE = 300, 180, 46, 24
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#444}line{stroke:#ccc}polyline{fill:none;stroke:#2563eb;stroke-width:2}"
    "circle{fill:#2563eb}@media(prefers-color-scheme:dark){text{fill:#ccc}line{stroke:#555}}"
)


@dataclass(frozen=True)
class Curve:
    """A measure by number of passages."""

    name: str
    unit: str
    points: Sequence[tuple[int, float]]


def growth_plot(curves: Sequence[Curve]) -> str:
    """Return the charts, two beside each other, as SVG; every point has its number."""
    rows = math.ceil(len(curves) / 2)
    charts = "".join(
        f'<g transform="translate({index % 2 * _WIDTH},{index // 2 * _HEIGHT})">{"".join(_chart(curve))}</g>'
        for index, curve in enumerate(curves)
    )
    size = f'width="{2 * _WIDTH}" height="{rows * _HEIGHT}" viewBox="0 0 {2 * _WIDTH} {rows * _HEIGHT}"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img"><style>{_STYLE}</style>{charts}</svg>\n'


def _chart(curve: Curve) -> Iterator[str]:
    xs = [math.log10(passages) for passages, _ in curve.points]
    ys = [math.log10(max(value, 1e-3)) for _, value in curve.points]
    left, right = min(xs), max(max(xs), min(xs) + 1)
    low, high = math.floor(min(ys)), max(math.ceil(max(ys)), math.floor(min(ys)) + 1)
    bottom = _HEIGHT - _TITLE

    def at(x: float, y: float) -> tuple[float, float]:
        across = _MARGIN + (x - left) / (right - left) * (_WIDTH - 2 * _MARGIN)
        return round(across, 1), round(bottom - (y - low) / (high - low) * (bottom - 2 * _TITLE), 1)

    yield f'<text x="{_MARGIN}" y="{_TITLE - 8}">{escape(curve.name)}, {escape(curve.unit)}</text>'
    for power in range(low, high + 1):
        _, y = at(left, power)
        yield f'<line x1="{_MARGIN}" x2="{_WIDTH - _MARGIN}" y1="{y}" y2="{y}"/>'
        yield f'<text x="{_MARGIN - 6}" y="{y + 4}" text-anchor="end">{10.0**power:g}</text>'
    places = [at(x, y) for x, y in zip(xs, ys, strict=True)]
    yield f'<polyline points="{" ".join(f"{x},{y}" for x, y in places)}"/>'
    for (x, y), (passages, value) in zip(places, curve.points, strict=True):
        yield f'<circle cx="{x}" cy="{y}" r="3"/><text x="{x}" y="{y - 8}" text-anchor="middle">{value:,.3g}</text>'
        yield f'<text x="{x}" y="{bottom + 14}" text-anchor="middle">{passages:,}</text>'

"""The times of the arms as a picture: a box for the middle half of the calls, whiskers, a dot for each round."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from compilefix.measuring.interval import Distribution

_WIDTH, _LEFT, _RIGHT = 760, 96, 92
_ROW, _TOP, _BOTTOM = 46, 8, 40
_LOG_FROM = 12.0
_TICKS = 6


@dataclass(frozen=True)
class _Axis:
    low: float
    high: float
    log: bool

    def at(self, value: float) -> float:
        low, high, value = map(self._scaled, (self.low, self.high, min(max(value, self.low), self.high)))
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * (value - low) / (high - low)

    def _scaled(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def ticks(self) -> list[float]:
        if self.log:
            decades = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            found = [digit * 10.0**power for power in decades for digit in (1, 2, 5)]
        else:
            rough = (self.high - self.low) / _TICKS
            power = 10.0 ** math.floor(math.log10(rough))
            step = next(power * digit for digit in (1, 2, 5, 10) if power * digit >= rough)
            found = [step * number for number in range(math.ceil(self.low / step), math.floor(self.high / step) + 1)]
        return [tick for tick in found if self.low <= tick <= self.high]


def latency_svg(title: str, rows: Sequence[tuple[str, Distribution]]) -> str:
    """An SVG element for inline use: a row for each arm, in ms per call; empty without rows.

    Colours come from the page: the classes are `arm-NAME`, `axis`, `grid` and `label`.
    """
    if not rows:
        return ""
    axis = _axis([found for _, found in rows])
    height = _TOP + _ROW * len(rows) + _BOTTOM
    parts = [
        f'<svg class="latency" viewBox="0 0 {_WIDTH} {height}" role="img" aria-label="{escape(title, quote=True)}">',
        f"<title>{escape(title)}</title>",
        *_ticks(axis, height),
    ]
    for index, (name, found) in enumerate(rows):
        parts += _row(name, found, axis, _TOP + _ROW * index + _ROW / 2)
    unit = "ms per call, logarithmic" if axis.log else "ms per call"
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text class="label" x="{middle:.1f}" y="{height - 6}" text-anchor="middle">{unit}</text>')
    return "".join(parts) + "</svg>"


def _axis(found: Sequence[Distribution]) -> _Axis:
    values = [value for one in found for value in (one.percentiles_ms[5], one.percentiles_ms[95], *one.rounds_ms)]
    low, high = max(min(values), 1e-9), max(*values, 1e-9)
    if high / low > _LOG_FROM:
        return _Axis(low / 1.2, high * 1.2, True)
    room = max((high - low) * 0.06, high * 0.02)
    return _Axis(max(0.0, low - room), high + room, False)


def _ticks(axis: _Axis, height: int) -> Iterator[str]:
    bottom = height - _BOTTOM
    for tick in axis.ticks():
        x = axis.at(tick)
        yield f'<line class="grid" x1="{x:.1f}" x2="{x:.1f}" y1="{_TOP}" y2="{bottom}"/>'
        yield f'<text class="axis" x="{x:.1f}" y="{bottom + 15}" text-anchor="middle">{tick:.4g}</text>'


def _row(name: str, found: Distribution, axis: _Axis, y: float) -> Iterator[str]:
    p05, p25, p50, p75, p95 = (axis.at(found.percentiles_ms[share]) for share in (5, 25, 50, 75, 95))
    low, median, high = (found.percentiles_ms[share] for share in (25, 50, 75))
    told = f"{name}: median {median:.4g} ms, middle half {low:.4g} to {high:.4g} ms"
    yield f'<g class="arm arm-{escape(name, quote=True)}"><title>{escape(told)}</title>'
    yield f'<text class="label" x="{_LEFT - 10}" y="{y + 4:.1f}" text-anchor="end">{escape(name)}</text>'
    yield f'<line class="whisker" x1="{p05:.1f}" x2="{p95:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'
    yield f'<rect class="box" x="{p25:.1f}" y="{y - 9:.1f}" width="{max(p75 - p25, 1.5):.1f}" height="18" rx="2"/>'
    for number, value in enumerate(found.rounds_ms):
        # Rounds stand below the box, in three lines, so that equal ones can be told apart.
        yield f'<circle class="round" cx="{axis.at(value):.1f}" cy="{y + 13 + 3 * (number % 3):.1f}" r="1.6"/>'
    yield f'<line class="median" x1="{p50:.1f}" x2="{p50:.1f}" y1="{y - 11:.1f}" y2="{y + 11:.1f}"/>'
    yield f'<text class="value" x="{_WIDTH - _RIGHT + 10}" y="{y + 4:.1f}">{median:.4g} ms</text></g>'

from __future__ import annotations

import pytest

from compilefix.measuring.request import Options
from compilefix.measuring.timing import latency, speedup
from compilefix.reporting.verdict_text import speedup_text


def blocks(*medians: float) -> list[list[float]]:
    return [[median * 0.99, median, median * 1.01] for median in medians]


def test_a_clear_speedup_has_an_interval_that_excludes_one() -> None:
    found = speedup(blocks(2.0, 2.02, 1.98, 2.01, 2.0, 1.99), blocks(1.0, 1.01, 0.99, 1.0, 1.02, 1.0), seed=0)
    assert found.ratio == pytest.approx(2.0, rel=0.02)
    assert 1.9 < found.low <= found.ratio <= found.high < 2.1
    assert found.measured
    assert speedup_text(found).startswith("2.0")


def test_noise_is_no_measurable_change() -> None:
    found = speedup(blocks(1.0, 1.2, 0.8, 1.1, 0.9, 1.0), blocks(0.95, 1.1, 0.9, 1.15, 0.85, 1.0), seed=0)
    assert not found.measured
    assert "no measurable change" in speedup_text(found)


def test_drift_that_both_arms_share_does_not_widen_the_interval() -> None:
    drift = [1.0, 1.2, 1.4, 1.6, 1.8, 2.0]
    found = speedup(blocks(*(2 * d for d in drift)), blocks(*drift), seed=0)
    assert found.high - found.low < 0.2


def test_the_interval_is_the_same_for_the_same_seed() -> None:
    one, two = blocks(1.0, 1.3, 0.7, 1.1, 0.9), blocks(0.9, 1.0, 1.1, 0.8, 1.2)
    assert speedup(one, two, seed=3) == speedup(one, two, seed=3)


def test_percentiles_are_samples() -> None:
    found = latency([float(value) for value in range(1, 101)])
    assert (found.median, found.n) == (50.5, 100)
    assert (found.p05, found.p95) == (6.0, 95.0)


@pytest.mark.parametrize(
    "wrong", [{"device": "tpu"}, {"mode": "fast"}, {"calls": 0}, {"repeats": 2}, {"timeout_s": 0}, {"rtol": 0.1}]
)
def test_options_that_cannot_be_measured_with_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Options(**wrong)  # type: ignore[arg-type]

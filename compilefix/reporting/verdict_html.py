"""The verdict as one HTML file that needs nothing else: no scripts, no fonts, no requests, light and dark."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import resources
from typing import Any

from compilefix import __version__
from compilefix.measuring.interval import Latency, Speedup
from compilefix.measuring.verdict_model import Arm, Verdict
from compilefix.reporting.latency_plot import latency_svg
from compilefix.reporting.side_by_side import ChangedFile, side_by_side
from compilefix.reporting.verdict_text import mebibytes, seconds, speedup_text
from compilefix.reporting.verified import Verified, overall
from compilefix.source.errors import InputError

TEMPLATE = "verdict.html.jinja"


def page(results: Sequence[Verified]) -> str:
    """The page for all workloads. Raises InputError where jinja2 is missing."""
    try:
        import jinja2
    except ImportError as error:
        raise InputError("--html needs jinja2: install compilefix[verify]") from error
    environment = jinja2.Environment(
        autoescape=True, trim_blocks=True, lstrip_blocks=True, undefined=jinja2.StrictUndefined
    )
    source = (resources.files("compilefix.reporting") / TEMPLATE).read_text(encoding="utf-8")
    verdict = overall(results)
    content = [_content(item, jinja2) for item in results]
    return environment.from_string(source).render(results=content, overall=verdict, version=__version__)


def _content(item: Verified, jinja2: Any) -> dict[str, Any]:
    verdict = item.verdict
    if verdict is None:
        return {"item": item, "verdict": None}
    return {
        "item": item,
        "verdict": verdict,
        "numbers": _numbers(verdict),
        "plots": [(title, jinja2.utils.markupsafe.Markup(plot)) for title, plot in _plots(verdict)],
        "files": _files(item, verdict),
        "environment": {name: value for name, value in verdict.environment.items() if value},
    }


def _arms(verdict: Verdict) -> list[tuple[str, Arm]]:
    arms = [("eager", verdict.eager), ("before", verdict.before), ("after", verdict.after)]
    return [*arms, ("compared", verdict.compared)] if verdict.compared is not None else arms


def _plots(verdict: Verdict) -> list[tuple[str, str]]:
    arms = _arms(verdict)
    inference = [(name, arm.distribution) for name, arm in arms if arm.distribution is not None]
    training = [(name, arm.training_distribution) for name, arm in arms if arm.training_distribution is not None]
    rows = (("Inference", inference), ("Training step", training))
    return [(title, latency_svg(title, found)) for title, found in rows if found]


def _files(item: Verified, verdict: Verdict) -> list[ChangedFile]:
    return [side_by_side(change, verdict.before.break_sites, verdict.after.break_sites) for change in item.patchset]


def _numbers(verdict: Verdict) -> list[tuple[str, list[str], str]]:
    """The rows of the table of numbers: a label, a cell for each arm, and what changed."""
    arms = [arm for _, arm in _arms(verdict)]
    speedup = verdict.speedup
    rows: list[tuple[str, list[str], str]] = [
        ("break sites", [_count(arm, len(arm.break_sites)) for arm in arms], ""),
        ("graphs per call", [_count(arm, arm.graphs_per_call) for arm in arms], ""),
        ("recompiles", [_count(arm, sum(event.count for event in arm.recompiles)) for arm in arms], ""),
        ("functions left to Python", [_count(arm, len(arm.skipped_frames)) for arm in arms], ""),
        ("compile time", [seconds(arm.compile_s) for arm in arms], ""),
        ("first call", [seconds(arm.first_call_s) for arm in arms], ""),
        ("inference, median", [_ms(arm.latency_ms) for arm in arms], _ratio(speedup.inference)),
        ("training step, median", [_ms(arm.training_latency_ms) for arm in arms], _ratio(speedup.training)),
        ("launches per call", [_plain(arm.launches_per_call) for arm in arms], ""),
        ("launches per training step", [_plain(arm.training_launches_per_call) for arm in arms], ""),
        ("peak memory", [mebibytes(arm.peak_memory_bytes) for arm in arms], ""),
    ]
    return [row for row in rows if any(cell != "-" for cell in row[1])]


def _count(arm: Arm, value: int) -> str:
    return "-" if arm.compile_s is None else str(value)


def _plain(value: int | None) -> str:
    return "-" if value is None else str(value)


def _ms(value: Latency | None) -> str:
    return "-" if value is None else f"{value.median:.3g} ms"


def _ratio(value: Speedup | None) -> str:
    return "" if value is None else speedup_text(value)

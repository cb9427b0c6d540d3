"""The verdict as Markdown, for the text of a pull request or a comment under it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from pathlib import Path

from compilefix.measuring.interval import Latency, Speedup
from compilefix.measuring.request import BreakSite
from compilefix.measuring.verdict_model import Verdict
from compilefix.reporting.verdict_text import speedup_text
from compilefix.reporting.verified import Verified

_SHOWN_SITES = 20


def text(results: Sequence[Verified]) -> str:
    """All workloads: a table of one row each, then the reasons and break sites of each, folded."""
    lines = [
        "### compilefix verify",
        "",
        "| workload | verdict | break sites | graphs per call | inference | training step | outputs, gradients |",
        "|---|---|---|---|---|---|---|",
        *(_row(item) for item in results),
        "",
    ]
    for item in results:
        lines += _details(item)
    return "\n".join(lines)


def _row(item: Verified) -> str:
    verdict = item.verdict
    if verdict is None:
        return _cells(_code(item.name), "could not run", "-", "-", "-", "-", "-")
    before, after = verdict.before, verdict.after
    ran = after.first_call_s is not None
    parity = verdict.parity
    return _cells(
        _code(item.name),
        f"**{verdict.verdict}**" + (" (worse than the baseline)" if item.regressions else ""),
        f"{len(before.break_sites)} → {len(after.break_sites)}" if ran else str(len(before.break_sites)),
        f"{before.graphs_per_call} → {after.graphs_per_call}" if ran else str(before.graphs_per_call),
        _times(before.latency_ms, after.latency_ms, verdict.speedup.inference),
        _times(before.training_latency_ms, after.training_latency_ms, verdict.speedup.training),
        f"{parity.outputs}, {parity.gradients}",
    )


def _times(before: Latency | None, after: Latency | None, ratio: Speedup | None) -> str:
    if before is None or after is None:
        return f"{before.median:.3g} ms" if before is not None else "-"
    return f"{before.median:.3g} → {after.median:.3g} ms: {speedup_text(ratio)}"


def _details(item: Verified) -> Iterator[str]:
    verdict = item.verdict
    yield f"<details{' open' if not item.passes else ''}><summary>{escape(item.name)}</summary>"
    yield ""
    if verdict is None:
        yield f"- could not run: {_escaped(item.error)}"
    else:
        yield from (f"- **worse than the baseline**: {_escaped(reason)}" for reason in item.regressions or ())
        yield from (f"- {_escaped(reason)}" for reason in verdict.reasons)
        yield ""
        yield from _sites(verdict)
        yield from _changes(item)
        found = verdict.environment
        yield ", ".join(
            f"{name} {_escaped(found[name])}" for name in ("torch", "device_name", "mode", "date") if found.get(name)
        )
    yield ""
    yield "</details>"
    yield ""


def _sites(verdict: Verdict) -> Iterator[str]:
    rows = [("before", site) for site in verdict.before.break_sites]
    rows += [("after", site) for site in verdict.after.break_sites]
    if not rows:
        return
    yield "| | break site | id | source |"
    yield "|---|---|---|---|"
    for name, site in rows[:_SHOWN_SITES]:
        yield _cells(name, _code(_place(site)), site.gb or _escaped(site.reason.partition(":")[0]), _code(site.source))
    if len(rows) > _SHOWN_SITES:
        yield f"\n{len(rows) - _SHOWN_SITES} more are in the JSON document."
    yield ""


def _changes(item: Verified) -> Iterator[str]:
    diff = item.patchset.diff(Path.cwd())
    if diff:
        fence = "`" * max(3, 1 + max((len(run) for run in _backticks(diff)), default=0))
        yield f"{fence}diff"
        yield diff.rstrip("\n")
        yield fence
        yield ""


def _backticks(text: str) -> Iterator[str]:
    run = ""
    for character in text:
        if character == "`":
            run += character
        elif run:
            yield run
            run = ""
    yield run


def _place(site: BreakSite) -> str:
    return f"{site.path}:{site.line}"


def _cells(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("\n", " ") for cell in cells) + " |"


def _code(text: str) -> str:
    if not text:
        return ""
    ticks = "`" * (1 + max((len(run) for run in _backticks(text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{ticks}{pad}{text}{pad}{ticks}".replace("|", "\\|")


def _escaped(text: str) -> str:
    """Text that Markdown and HTML leave as it is, also where it holds names with underscores or `<lambda>`."""
    for character in "\\`*_{}[]<>|":
        text = text.replace(character, f"\\{character}")
    return text.replace("\n", " ")

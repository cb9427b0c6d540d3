"""The verdict for people: tables on a terminal, the same tables without colour and lines elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from compilefix.measuring.interval import Latency, Speedup
from compilefix.measuring.request import BreakSite, FrameEvent
from compilefix.measuring.verdict_model import Arm, Aspect, Speedups, Verdict
from compilefix.reporting.verified import Verified

_JUDGED = {"proved": "bold green", "unverified": "bold yellow", "not-proved": "bold red"}
_REASONS = 3
_PARITY: dict[Aspect, str] = {
    "equal": "green",
    "close": "green",
    "not-run": "yellow",
    "different": "bold red",
    "error": "bold red",
}


def show(verdict: Verdict, console: Console) -> None:
    """Prints the verdict: break sites, the numbers of each arm, parity, branches, fixes, and the judgement last."""
    plain = not console.is_terminal
    for table in (_sites(verdict, plain), _numbers(verdict, plain), _parity(verdict, plain)):
        console.print(table)
        console.print()
    if verdict.compared is not None:
        console.print(_compared(verdict, plain))
        console.print()
    for told in _variation(verdict):
        console.print(told, markup=False, highlight=False, soft_wrap=True)
    coverage = _coverage(verdict, plain)
    if coverage.row_count:
        console.print(coverage)
        console.print()
    elif verdict.coverage_note.startswith("not measured"):
        console.print(f"Branches: {verdict.coverage_note}", markup=False)
    if any(fix.verdict != "not-measured" for fix in verdict.fixes):
        console.print(_fixes(verdict, plain))
        console.print()
    for name, arm in (("before", verdict.before), ("after", verdict.after)):
        for event in arm.skipped_frames:
            text = f"{name}: {event.function} ({event.path}:{event.line}) was left to Python: {_brief(event.reason)}"
            console.print(text, markup=False, highlight=False, soft_wrap=True)
        for (function, path, line), reasons in _by_place(arm.recompiles).items():
            shown = "; ".join(reasons[:_REASONS]) + (
                f"; and {len(reasons) - _REASONS} more" if len(reasons) > _REASONS else ""
            )
            text = f"{name}: {function} ({path}:{line}) was compiled again: {shown}"
            console.print(text, markup=False, highlight=False, soft_wrap=True)
    style = _JUDGED[verdict.verdict]
    console.print(f"[{style}]{verdict.verdict}[/]", highlight=False)
    for reason in verdict.reasons:
        console.print(f"  {reason}", markup=False, highlight=False, soft_wrap=True)


def show_all(results: Sequence[Verified], console: Console) -> None:
    """Prints each workload's verdict with what became worse since the baseline; of several, a table comes last."""
    for item in results:
        if len(results) > 1:
            console.print(f"== {item.name}", markup=False, highlight=False)
        if item.verdict is None:
            console.print(f"could not run: {item.error}", markup=False, highlight=False, soft_wrap=True)
        else:
            show(item.verdict, console)
        _show_baseline(item, console)
        if len(results) > 1:
            console.print()
    if len(results) > 1:
        table = _table("Workloads", not console.is_terminal, ("workload", "verdict", "break sites", "inference"))
        for item in results:
            table.add_row(escape(item.name), *_summary(item))
        console.print(table)


def _show_baseline(item: Verified, console: Console) -> None:
    if item.regressions is None:
        return
    if not item.regressions:
        console.print(f"nothing is worse than in {item.baseline}", markup=False, highlight=False, soft_wrap=True)
        return
    console.print(f"worse than in {item.baseline}", style="bold red", markup=False, highlight=False, soft_wrap=True)
    for reason in item.regressions:
        console.print(f"  {reason}", markup=False, highlight=False, soft_wrap=True)


def _summary(item: Verified) -> tuple[str, str, str]:
    verdict = item.verdict
    if verdict is None:
        return "[bold red]could not run[/]", "-", "-"
    worse = ", worse than the baseline" if item.regressions else ""
    sites = str(len(verdict.before.break_sites))
    if verdict.after.first_call_s is not None:
        sites += f" -> {len(verdict.after.break_sites)}"
    ratio = verdict.speedup.inference
    style = _JUDGED[verdict.verdict]
    return f"[{style}]{verdict.verdict}[/]{worse}", sites, "-" if ratio is None else speedup_text(ratio)


def _by_place(events: Iterable[FrameEvent]) -> dict[tuple[str, str, int], list[str]]:
    places: dict[tuple[str, str, int], list[str]] = {}
    for event in events:
        places.setdefault((event.function, event.path, event.line), []).append(_brief(event.reason))
    return places


def _brief(reason: str) -> str:
    """The guard or the reason alone: what Dynamo appends (the source line, hints) stays in the JSON."""
    return reason.partition("  #")[0].partition(": Detected")[0].partition("(HINT")[0].strip()


def speedup_text(item: Speedup | None) -> str:
    """The ratio with its interval; a ratio whose interval holds 1 is no measurable change."""
    if item is None:
        return "not measured"
    interval = f"95% interval {item.low:.2f} to {item.high:.2f}"
    if not item.measured:
        return f"no measurable change ({interval})"
    return f"{item.ratio:.2f}x ({interval})"


def _table(title: str, plain: bool, columns: Iterable[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None if plain else box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        table.add_column(column, overflow="fold")
    return table


def _sites(verdict: Verdict, plain: bool) -> Table:
    before = {_place(site): site for site in verdict.before.break_sites}
    after = {_place(site): site for site in verdict.after.break_sites}
    title = f"Break sites: {len(before)} before, {len(after)} after"
    table = _table(title, plain, ("", "place", "id", "source"))
    for name, sites in (("before", before), ("after", after)):
        for place, site in sites.items():
            table.add_row(name, place, site.gb or escape(site.reason.partition(":")[0]), escape(site.source))
    return table


def _place(site: BreakSite) -> str:
    return f"{site.path}:{site.line}" + (f":{site.column}" if site.column else "")


def _numbers(verdict: Verdict, plain: bool) -> Table:
    arms = (verdict.eager, verdict.before, verdict.after)
    table = _table("Numbers", plain, ("", "eager", "before", "after", "change"))
    counts: tuple[tuple[str, Callable[[Arm], int | None]], ...] = (
        ("launches per call", lambda arm: arm.launches_per_call),
        ("launches per training step", lambda arm: arm.training_launches_per_call),
    )
    compiled: tuple[tuple[str, Callable[[Arm], str]], ...] = (
        ("graphs per call", lambda arm: str(arm.graphs_per_call)),
        ("recompiles", lambda arm: str(sum(event.count for event in arm.recompiles))),
        ("functions left to Python", lambda arm: str(len(arm.skipped_frames))),
        ("compile time", lambda arm: seconds(arm.compile_s)),
    )
    for label, value in compiled:
        table.add_row(label, "-", *(value(arm) if arm.error is None else "-" for arm in arms[1:]), "")
    table.add_row("first call", *(seconds(arm.first_call_s) for arm in arms), "")
    inference, training = verdict.speedup.inference, verdict.speedup.training
    if any(arm.latency_ms for arm in arms):
        table.add_row("inference, median (p05 to p95)", *(_ms(arm.latency_ms) for arm in arms), speedup_text(inference))
    if any(arm.training_latency_ms for arm in arms):
        row = (_ms(arm.training_latency_ms) for arm in arms)
        table.add_row("training step, median (p05 to p95)", *row, speedup_text(training))
    for label, count in counts:
        if any(count(arm) for arm in arms):
            table.add_row(label, *(str(count(arm) or "-") for arm in arms), "")
    if any(arm.peak_memory_bytes for arm in arms):
        table.add_row("peak memory", *(mebibytes(arm.peak_memory_bytes) for arm in arms), "")
    for name, arm in (("eager", arms[0]), ("before", arms[1]), ("after", arms[2])):
        if arm.error is not None:
            table.caption = f"{table.caption or ''}{name}: {escape(arm.error)}\n"
    return table


def _parity(verdict: Verdict, plain: bool) -> Table:
    table = _table("Patched code against the eager original", plain, ("", "result"))
    for name, status in verdict.parity.aspects().items():
        table.add_row(name, f"[{_PARITY[status]}]{status}[/]")
    table.add_row("largest absolute error", f"{verdict.parity.max_abs_error:.3g}")
    if verdict.parity.first_difference is not None:
        table.add_row("first difference", escape(str(verdict.parity.first_difference)))
    return table


def _compared(verdict: Verdict, plain: bool) -> Table:
    other, ratios = verdict.compared or Arm(), verdict.compared_speedup or Speedups()
    title = f"Against {verdict.environment.get('compared', 'the other workload')}, timed in the same run"
    table = _table(title, plain, ("", "other", "after", "other over after"))
    rows = (
        ("inference", other.latency_ms, verdict.after.latency_ms, ratios.inference),
        ("training step", other.training_latency_ms, verdict.after.training_latency_ms, ratios.training),
    )
    for label, theirs, ours, ratio in rows:
        if theirs is not None or ours is not None:
            table.add_row(label, _ms(theirs), _ms(ours), speedup_text(ratio))
    if other.error is not None:
        table.caption = escape(other.error)
    return table


def _coverage(verdict: Verdict, plain: bool) -> Table:
    table = _table("What was changed, and how often the inputs reached it", plain, ("place", "", "true", "false"))
    for branch in verdict.coverage:
        hits = [str(count) if count else "[yellow]never[/]" for count in (branch.true, branch.false)]
        if branch.kind == "statement":
            if branch.true:
                continue  # what was run is in the JSON
            hits = ["[yellow]never run[/]", ""]
        elif branch.kind == "scripted":
            hits = ["[yellow]not seen[/]", ""]
        place = f"{branch.path}:{branch.line}" + (" after" if branch.side == "patched" else "")
        table.add_row(place, escape(branch.text), *hits)
    return table


def _variation(verdict: Verdict) -> Iterator[str]:
    found = verdict.variation
    if found.tried:
        differ = f"{len(found.differ)} differ" if found.differ else "none differs"
        yield f"Varied inputs: {found.tried} eager, {found.compiled} of them compiled; {differ}"
    for path in found.reproducers:
        yield f"To see it again: python {path}"


def _fixes(verdict: Verdict, plain: bool) -> Table:
    table = _table("Each fix alone", plain, ("rule", "place", "assumes", "result", ""))
    for fix in verdict.fixes:
        place = f"{fix.path}:{fix.line}"
        table.add_row(fix.code, place, ", ".join(fix.assumptions) or "-", fix.verdict, escape(fix.reason))
    return table


def seconds(value: float | None) -> str:
    """A duration; a dash for none."""
    return "-" if value is None else f"{value:.2f} s"


def _ms(value: Latency | None) -> str:
    return "-" if value is None else f"{value.median:.3g} ms ({value.p05:.3g} to {value.p95:.3g})"


def mebibytes(value: int | None) -> str:
    """An amount of memory; a dash for none."""
    return "-" if value is None else f"{value / 2**20:.1f} MiB"

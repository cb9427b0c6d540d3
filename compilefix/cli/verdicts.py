"""Where verdicts go: tables on stdout, and the files that were asked for."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compilefix.cli.workloads import Chosen
from compilefix.measuring.ranks import rank, world_size
from compilefix.reporting import verdict_baseline, verdict_html, verdict_json, verdict_markdown, verdict_text
from compilefix.reporting.verified import Verified
from compilefix.source.errors import InputError
from compilefix.source.files import display_path

STDOUT = Path("-")


@dataclass(frozen=True)
class Reports:
    """The files to write, None for those that were not asked for; - is stdout."""

    json: Path | None
    html: Path | None
    markdown: Path | None


def with_base(measured: Verified, base: str) -> Verified:
    """The result with the revision that it was compared with, which a later comparison has to know."""
    assert measured.verdict is not None
    environment = {**measured.verdict.environment, "base": base}
    return replace(measured, verdict=replace(measured.verdict, environment=environment))


def against(known: verdict_baseline.Baseline, one: Chosen, measured: Verified) -> Verified:
    """The result with what became worse since the baseline. Says on stderr what could not be compared."""
    assert measured.verdict is not None
    old = known.of(one.name, one.spec)
    where = display_path(known.path)
    if old is None:
        print(f"compilefix: {where} has no verdict on {one.name}: there is nothing to compare with", file=sys.stderr)
        return measured
    new = verdict_json.document(measured.verdict)
    found = verdict_baseline.regressions(old, new)
    if note := verdict_baseline.not_compared(old, new):
        print(f"compilefix: {one.name}: {note}", file=sys.stderr)
    return replace(measured, baseline=where, regressions=found)


def write(results: Sequence[Verified], reports: Reports) -> None:
    """Writes all reports. Of a job of several ranks, the first one speaks; each writes a JSON document of its own.

    Raises InputError for a file that cannot be written.
    """
    number = rank()
    if reports.json is not None and (number == 0 or reports.json != STDOUT):
        _put(_of_rank(reports.json), lambda: verdict_json.text(results))
    if number > 0:
        _say_what_failed(results, number)
        return
    if reports.html is not None:
        _put(reports.html, lambda: verdict_html.page(results))
    if reports.markdown is not None:
        _put(reports.markdown, lambda: verdict_markdown.text(results))
    if STDOUT not in (reports.json, reports.markdown, reports.html):
        from rich.console import Console

        # A pipe has no width; 120 columns keep a place and its source line on one line.
        verdict_text.show_all(results, Console() if sys.stdout.isatty() else Console(width=120))


def _of_rank(path: Path) -> Path:
    """The file for this rank: `verdict.json` is that of the first, `verdict.rank1.json` that of the second."""
    if rank() == 0 or world_size() == 1:
        return path
    return path.with_name(f"{path.stem}.rank{rank()}{path.suffix}")


def _say_what_failed(results: Sequence[Verified], number: int) -> None:
    for item in results:
        if item.verdict is not None and not item.passes:
            reasons = "; ".join([*(item.regressions or ()), *item.verdict.reasons])
            print(f"compilefix: rank {number}: {item.name}: {item.verdict.verdict}: {reasons}", file=sys.stderr)


def _put(path: Path, text: Callable[[], str]) -> None:
    content = text()
    if path == STDOUT:
        sys.stdout.write(content)
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content, encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise InputError(f"{display_path(path)}: cannot be written: {error.strerror}") from error

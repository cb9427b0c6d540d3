"""Findings for people: code frames in colour on a terminal, the same as plain text elsewhere, or one line each.

What each call meets comes first; what leaves nothing to do, and what nothing is seen to compile, come last.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TextIO

from compilefix.codemods.finding import Finding
from compilefix.reporting.frames import frame, printable
from compilefix.reporting.report import Entry, Report
from compilefix.reporting.summary import RuleCount, Summary, count

if TYPE_CHECKING:
    from rich.text import Text

_SIDE = "|"
_SOMETIMES = (
    "Where a setting, an optional argument or a size says so, on arrays in files without torch, in modules that "
    "no program here makes, or with other sizes or values than before:"
)
_MINOR = "These cost little, as one more compilation or code that hardly ever runs:"
_APART = "Not seen to run compiled:"


def write_frames(report: Report, stream: TextIO, *, colour: bool) -> None:
    """Write each finding with its code frame to `stream`."""
    if colour:
        _write_rich(report, stream)
        return
    for entry, heading in _ordered(report):
        if heading is not None:
            stream.write(heading + "\n\n")
        for line in _plain(entry, report):
            stream.write(line + "\n")
        stream.write("\n")


def write_concise(report: Report, stream: TextIO) -> None:
    """Write each finding as one line, `path:line:column: CODE message`; `[*]` marks what `apply` would fix."""
    for entry, _ in _ordered(report):
        finding = entry.finding
        mark = "[*] " if finding.is_allowed(report.allowed) else ""
        stream.write(f"{entry.place}: {finding.code} {mark}{printable(finding.message)}\n")


def summary_lines(summary: Summary, files: int, known: int = 0) -> Iterator[str]:
    """The closing lines: how many findings, what `apply` would fix, and what it would fix with more assumptions.

    `known` counts the findings that the baseline left out.
    """
    if known:
        yield f"{count(known, 'finding')} in the baseline not shown."
    if not summary.total:
        yield f"No {'new ' if known else ''}findings in {count(files, 'file')}."
        return
    yield (
        f"{count(summary.total, 'finding')} in {count(files, 'file')}: "
        f"{summary.fixable} fixable with `compilefix apply`, {summary.hidden} with assumptions, "
        f"{summary.declined} without a fix."
    )
    if summary.hidden:
        yield (
            f"{count(summary.hidden, 'hidden fix', 'hidden fixes')}: allow with --assume "
            f"{','.join(summary.assumptions)} or --unsafe-fixes (`compilefix rules --assumptions` says what they mean)."
        )
    if summary.apart:
        yield (
            f"{count(summary.apart, 'finding')} in functions to which no `forward` and no torch.compile was seen to "
            "lead: shown last, they matter where you compile these (the setting `roots` says what is compiled); "
            "--reached leaves them out."
        )


def statistics_lines(counts: Sequence[RuleCount]) -> Iterator[str]:
    """A table of the findings by rule."""
    width = max((len(str(row.count)) for row in counts), default=1)
    for row in counts:
        yield f"{row.count:>{width}}  {row.code}  {row.name}" + (f"  ({row.fixable} fixable)" if row.fixable else "")


def _ordered(report: Report) -> Iterator[tuple[Entry, str | None]]:
    """The findings, what each call meets first, minor ones and what stands apart last; a heading before each kind."""
    loud = [entry for entry in report.entries if not entry.finding.is_quiet]
    always = [entry for entry in loud if entry.finding.is_met_in_each_call]
    sometimes = [entry for entry in loud if not entry.finding.is_met_in_each_call]
    minor = [entry for entry in report.entries if entry.finding.is_quiet and not entry.finding.apart]
    apart = [entry for entry in report.entries if entry.finding.is_quiet and entry.finding.apart]
    for heading, group in ((None, always), (_SOMETIMES, sometimes), (_MINOR, minor), (_APART, apart)):
        yield from ((entry, None if number else heading) for number, entry in enumerate(group))


def _plain(entry: Entry, report: Report) -> Iterator[str]:
    yield f"{entry.place}: {entry.finding.code} {printable(entry.finding.message)}"
    for number, code in _frame_lines(entry, report):
        yield f"    {number} {_SIDE} {code}".rstrip()
    for label, text in _notes(entry.finding, report.allowed):
        yield f"    {label}: {printable(text)}"


def _write_rich(report: Report, stream: TextIO) -> None:
    from rich.console import Console
    from rich.syntax import Syntax
    from rich.text import Text

    console = Console(file=stream, highlight=False, soft_wrap=True)
    syntax = Syntax("", "python", theme="ansi_dark", background_color="default")
    for entry, heading in _ordered(report):
        finding, path = entry.finding, entry.place.path
        if heading is not None:
            console.print(Text(heading + "\n", "bold"))
        head = Text()
        head.append(path, "bold")
        head.append(str(entry.place).removeprefix(path) + ": ", "cyan")
        head.append(finding.code, "bold red")
        head.append(f" {printable(finding.message)}")
        console.print(head)
        for number, code in _frame_lines(entry, report):
            line = Text(f"    {number} {_SIDE} ", "blue")
            # Only the underline has no line number.
            line.append_text(_highlighted(syntax.highlight(code)) if number.strip() else Text(code, "bold red"))
            console.print(line)
        for label, text in _notes(finding, report.allowed):
            note = Text("    ")
            note.append(f"{label}:", _NOTE_STYLES[label])
            note.append(f" {printable(text)}")
            console.print(note)
        console.print()


def _highlighted(text: Text) -> Text:
    text.rstrip()
    return text


_NOTE_STYLES = {"in": "bold", "fix": "bold green", "fix with": "bold yellow", "no fix": "bold magenta"}


def _frame_lines(entry: Entry, report: Report) -> Iterator[tuple[str, str]]:
    file = report.files.get(entry.finding.path)
    if file is None:
        return
    shown = frame(file.lines, entry.finding.span, entry.finding.span.line - entry.place.line)
    for index, (number, text) in enumerate(shown.lines):
        yield f"{number:>{shown.gutter}}", text
        if index == shown.marked:
            yield " " * shown.gutter, shown.marker
    if shown.cut:
        yield "." * shown.gutter, ""


def _notes(finding: Finding, allowed: frozenset[str] | None) -> Iterator[tuple[str, str]]:
    # That nothing leads there says the heading.
    names = [name.removesuffix(" by itself") for name in finding.reached_by]
    route = [name for name in names if name != finding.function]
    yield "in", finding.function + (f", reached by {' -> '.join(route)}" if route else "")
    if finding.fix is None:
        yield "no fix", finding.declined or ""
    elif finding.fix.safe:
        yield "fix", "safe"
    else:
        label = "fix" if finding.is_allowed(allowed) else "fix with"
        yield label, f"assumption{'s' * (len(finding.fix.assumptions) > 1)} {', '.join(finding.fix.assumptions)}"

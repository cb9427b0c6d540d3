"""Which finding belongs to what a run met."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from compilefix.codemods import registry
from compilefix.codemods.finding import Effect, Finding, Span
from compilefix.source.files import SourceFile, parse
from compilefix.tracing.functions import folded
from compilefix.tracing.match import Match, located, match
from compilefix.tracing.model import Place, Trace, TracedBreak, TracedRecompile

SOURCE = """\
class Net:
    def forward(self, x):
        if x.sum() > 0:
            while x.max() > 1:
                x = x / 2
        self.calls += 1
        log(x.item())
        return x

    @decorated
    def other(self, x):
        return x
"""


@pytest.fixture
def file(tmp_path: Path) -> SourceFile:
    path = tmp_path / "net.py"
    path.write_text(SOURCE)
    read = parse(path, SOURCE.encode())
    assert isinstance(read, SourceFile)
    return read


def finding(file: SourceFile, code: str, span: Span, gb: tuple[str, ...], effect: Effect = "break") -> Finding:
    return Finding(
        code, code.lower(), file.path.as_posix(), span, "text", "Net.forward", ("f",), gb, effect, None, "why"
    )


def met(file: SourceFile, line: int, gb: str, column: int = 0) -> TracedBreak:
    place = Place(str(file.path), line, column, "forward", file.lines[line - 1].strip())
    return TracedBreak(place, gb, "title", "reason", 1, 1, 0.5, False)


def recompile(file: SourceFile, line: int, reason: str, cause: int | None = None, count: int = 1) -> TracedRecompile:
    place = Place(str(file.path), line, 0, "forward")
    made = None if cause is None else Place(str(file.path), cause, 0, "forward", file.lines[cause - 1].strip())
    return TracedRecompile(place, reason, made, count, 0.25, False)


def matched(trace: Trace, file: SourceFile, *findings: Finding) -> tuple[list[Match], list[Match]]:
    found = match(trace, findings, (file,), registry.load())
    return list(found.breaks), list(found.recompiles)


def test_a_statement_does_not_answer_for_what_breaks_in_its_body(file: SourceFile) -> None:
    outer = finding(file, "CF101", Span(3, 8, 5, 25), ("GB0170",))
    breaks, _ = matched(Trace((met(file, 3, "GB0170"), met(file, 4, "GB0170"))), file, outer)
    assert breaks[0] == Match(outer, "why")
    assert breaks[1].finding is None
    assert breaks[1].declined is not None
    assert "nothing to say about this line" in breaks[1].declined


def test_the_id_tells_two_findings_on_a_line_apart(file: SourceFile) -> None:
    line = finding(file, "CF302", Span(7, 8, 7, 21), ("GB0291",))
    number = finding(file, "CF201", Span(7, 12, 7, 20), ("GB0124",))
    breaks, _ = matched(
        Trace((met(file, 7, "GB0124"), met(file, 7, "GB0291"), met(file, 7, "GB0003"))), file, line, number
    )
    assert [found.finding for found in breaks] == [number, line, None]
    assert breaks[2].declined == "no rule covers GB0003"


def test_a_loop_that_was_skipped_is_what_is_found_on_its_line(file: SourceFile) -> None:
    inner = finding(file, "CF104", Span(4, 12, 5, 25), ("GB0170",))
    breaks, _ = matched(Trace((met(file, 4, "GB7000"), met(file, 5, "GB7000"))), file, inner)
    assert [found.finding for found in breaks] == [inner, None]


def test_a_guard_belongs_to_the_line_that_made_it(file: SourceFile) -> None:
    counter = finding(file, "CF602", Span(6, 8, 6, 23), (), "recompile")
    guard = recompile(file, 2, "self.calls == 0", 6)
    _, found = matched(Trace((), (guard, replace(guard, cause=None))), file, counter)
    assert found[0] == Match(counter, "why")
    assert found[1].finding is None
    assert found[1].declined == "a Python integer is a constant in the graph: pass a tensor, or keep it constant"


def test_a_guard_on_what_callers_vary_belongs_to_the_one_finding_about_that(file: SourceFile) -> None:
    loader = finding(file, "CF607", Span(11, 4, 11, 20), ("GB0039",), "recompile")
    constant = replace(
        finding(file, "CF608", Span(12, 4, 12, 20), ("GB0039",), "recompile"), message="and `p` is a constant to Dynamo"
    )
    size = recompile(file, 2, "tensor 'x' size mismatch at index 0. expected 8, actual 3", 3)
    guards = (size, recompile(file, 2, "p == 0.1", 3), recompile(file, 2, "q == 0.1", 3))
    _, found = matched(Trace((), guards), file, loader, constant)
    assert [match.finding for match in found] == [loader, constant, None]
    other = replace(loader, span=Span(12, 4, 12, 20))
    _, found = matched(Trace((), (size,)), file, loader, other)
    assert found[0].finding is None, "which of two loaders it was is not known"


def test_what_avoids_a_guard_is_told_by_its_kind(file: SourceFile) -> None:
    guards = {
        "tensor 'self._modules['l']._parameters['bias']' requires_grad mismatch. expected ...": "all at once",
        "tensor 'x' requires_grad mismatch. expected requires_grad=0": "in some calls and not in others",
        "self._modules['d'].p == 0.1": "dropout",
        "self._modules['a'].training == True": "one by one",
    }
    _, found = matched(Trace((), tuple(recompile(file, 2, guard) for guard in guards)), file)
    assert all(words in str(match.declined) for words, match in zip(guards.values(), found, strict=True))


def test_the_parts_of_a_function_are_one(file: SourceFile) -> None:
    parts = (recompile(file, 2, "tensor 'x' size mismatch at index 0. expected 8, actual 3"),)
    parts += (recompile(file, 7, "tensor '___stack0' size mismatch at index 0. expected 8, actual 3", count=2),)
    parts += (recompile(file, 10, "tensor 'x' size mismatch at index 0. expected 8, actual 3"),)
    whole = folded(Trace((), parts), lambda path: file.tree)
    shown = [(r.place.line, r.place.function, r.count, r.frames, r.compile_s) for r in whole.recompiles]
    assert shown == [(2, "Net.forward", 3, 2, 0.5), (10, "Net.other", 1, 1, 0.25)]
    assert folded(Trace((), parts), lambda path: None).recompiles[0].place.function == "forward"


def test_the_column_counts_from_the_start_of_the_line(file: SourceFile) -> None:
    trace = located(Trace((met(file, 7, "GB0124", column=5),)), file.path.parent)
    assert trace.breaks[0].place.column == SOURCE.splitlines()[6].index("x.item()") + 1


def test_a_file_of_the_same_name_that_reads_differently_is_another(file: SourceFile, tmp_path: Path) -> None:
    site = met(file, 7, "GB0124")
    elsewhere = replace(site, place=replace(site.place, path="/cluster/code/net.py"))
    assert located(Trace((elsewhere,)), tmp_path).breaks[0].place.path == str(tmp_path / "net.py")
    other = replace(elsewhere, place=replace(elsewhere.place, source="something else"))
    assert located(Trace((other,)), tmp_path).breaks[0].place.path == "/cluster/code/net.py"

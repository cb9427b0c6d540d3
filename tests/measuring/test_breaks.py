from __future__ import annotations

import logging
import traceback
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from compilefix.measuring.breaks import BreakCollector, _is_foreign  # noqa: E402


def broken(column: int | None) -> logging.LogRecord:
    error = RuntimeError("Data-dependent branching\n  Explanation: an if on a tensor")
    columns = {} if column is None else {"colno": column, "end_colno": column + 4}
    frame = traceback.FrameSummary("model.py", 9, "forward", lookup_line=False, **columns)  # type: ignore[arg-type]
    error.real_stack = traceback.StackSummary.from_list([frame])  # type: ignore[attr-defined]
    name = "torch._dynamo.convert_frame.__graph_breaks"
    return logging.LogRecord(name, logging.DEBUG, "convert_frame.py", 1, "break", (), (RuntimeError, error, None))


@pytest.mark.skipif("colno" not in traceback.FrameSummary.__slots__, reason="frames have columns from Python 3.11 on")
def test_a_break_without_a_column_joins_the_one_on_its_line() -> None:
    with BreakCollector() as collector:
        for column in (None, 11, 11, None):
            logging.getLogger("torch._dynamo.convert_frame.__graph_breaks").handle(broken(column))
    assert [(site.path, site.line, site.column, site.count) for site in collector.break_sites] == [
        ("model.py", 9, 12, 4)
    ]
    assert collector.break_sites[0].reason == "Data-dependent branching: an if on a tensor"


def test_the_collector_leaves_torch_as_it_was() -> None:
    from torch._dynamo import output_graph, symbolic_convert

    def hooks() -> tuple[object, ...]:
        owner = symbolic_convert.InstructionTranslatorBase
        return getattr(owner, "log_graph_break", None), output_graph.OutputGraph.call_user_compiler

    before = hooks()
    with BreakCollector() as collector:
        torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2))
        assert hooks() != before
    assert hooks() == before
    assert (collector.graph_runs, collector.break_sites) == (1, ())


def test_a_package_whose_name_begins_with_torch_is_not_torch() -> None:
    torch_folder = Path(torch.__file__).resolve().parent
    assert _is_foreign(str(torch_folder / "functional.py"))
    assert not _is_foreign(str(torch_folder.with_name("torchmetrics") / "utilities" / "compute.py"))
    assert not _is_foreign(str(torch_folder.with_name("torch_geometric") / "utils" / "loop.py"))

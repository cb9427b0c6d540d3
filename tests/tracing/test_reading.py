"""Logs as torch writes them, and what can happen to them: several ranks, compression, a run that was cut off."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from compilefix.analysis.dynamo_words import named
from compilefix.source.errors import InputError
from compilefix.tracing.collect import LOG_PREFIX, find_logs, read_logs
from compilefix.tracing.model import Trace
from compilefix.tracing.payloads import culprit, guard_kind, read_break, read_guards

MODEL = "/job/model.py"
TORCH = "/env/lib/python3.11/site-packages/torch/"
IDS = {"Data-dependent branching": "GB0170"}

BREAK = f"""\
Graph break in user code at {MODEL}:12
Graph Break Reason: Data-dependent branching
  Explanation: Detected data-dependent branching.
  Hint: Use `torch.cond`.

 For more details about this graph break, please visit: https://example.org/gb/gb0170.html

User code traceback:
  File "/job/train.py", line 5, in <module>
    model(x)
    ^^^^^^^^
  File "{TORCH}nn/modules/module.py", line 1700, in _call_impl
    return forward_call(*args, **kwargs)
  File "{MODEL}", line 12, in torch_dynamo_resume_in_forward_at_10
    if x.sum() > 0:
       ^^^^^^^^^^^

Traceback (most recent call last):
  File "{TORCH}_dynamo/symbolic_convert.py", line 1076, in wrapper
    return inner_fn(self, inst)
"""


def record(payload: str = "", **data: Any) -> str:
    head = f"V0102 03:04:05.678000 99 torch/_dynamo/utils.py:1] {json.dumps(data)}\n"
    return head + "".join(f"\t{line}\n" for line in payload.splitlines())


def artifact(name: str, payload: str, frame: int, again: int = 0, **more: Any) -> str:
    return record(
        payload,
        artifact={"name": name, "encoding": "string"},
        frame_id=frame,
        frame_compile_id=again,
        attempt=0,
        has_payload="0",
        **more,
    )


def compilation(
    frame: int,
    again: int = 0,
    inner: str = "",
    seconds: float = 0.5,
    fail: str | None = None,
    kind: str = "Unsupported",
) -> str:
    start = {"stack": [{"line": 5, "name": "<module>", "filename": 1}, {"line": 9, "name": "forward", "filename": 2}]}
    figures = {
        "co_name": "forward",
        "co_filename": MODEL,
        "co_firstlineno": 9,
        "entire_frame_compile_time_s": seconds,
        "fail_type": None if fail is None else kind,
        "fail_reason": fail,
    }
    ids = {"frame_id": frame, "frame_compile_id": again, "attempt": 0}
    return record(dynamo_start=start, **ids) + inner + record(compilation_metrics=figures, **ids)


NAMES = (
    record('{\n"pytorch_version": "2.13.0"\n}', artifact={"name": "torch_version", "encoding": "json"}, has_payload="0")
    + record(str=[f"{TORCH}_dynamo/convert_frame.py", 0])
    + record(str=["/job/train.py", 1])
    + record(str=[MODEL, 2])
    + record("{}", chromium_event={}, has_payload="1")
)
BROKEN = artifact("dynamo_graph_break_reason", BREAK, 0)


def read(folder: Path) -> Trace:
    return read_logs(find_logs(folder), IDS)


def write(folder: Path, text: str, name: str = "abc.log") -> Path:
    path = folder / f"{LOG_PREFIX}{name}"
    path.write_text(text, encoding="utf-8")
    return path


def test_breaks_and_recompiles_are_counted_with_their_time(tmp_path: Path) -> None:
    again = artifact("recompile_reasons", "0/0: self.n == 1    # self.n += 1  # job/model.py:10 in forward", 0, 1)
    third = artifact("recompile_reasons", '[\n"0/1: self.n == 2",\n"0/0: self.n == 1"\n]', 0, 2)
    second_attempt = BROKEN * 2
    text = (
        NAMES
        + compilation(0, 0, second_attempt)
        + again
        + compilation(0, 1, BROKEN.replace('_id": 0, "at', '_id": 1, "at'))
    )
    write(tmp_path, text + third + compilation(0, 2, seconds=0.25) + compilation(3, seconds=0.0))
    trace = read(tmp_path)
    (site,) = trace.breaks
    assert (site.place.path, site.place.line, site.place.function) == (MODEL, 12, "forward")
    assert (site.place.column, site.place.source) == (4, "if x.sum() > 0:")
    assert (site.gb, site.title) == ("GB0170", "Data-dependent branching")
    assert site.reason == "Data-dependent branching: Detected data-dependent branching."
    assert (site.count, site.frames, site.compile_s, site.skipped) == (2, 1, 1.0, False)
    (cause,) = trace.recompiles
    assert (cause.place.path, cause.place.line, cause.place.function) == (MODEL, 9, "forward")
    assert (cause.reason, cause.count, cause.compile_s, cause.limit) == ("self.n == 1", 2, 0.75, False)
    assert cause.cause is not None
    assert (cause.cause.path, cause.cause.line, cause.cause.source) == ("job/model.py", 10, "self.n += 1")
    assert (trace.torch, trace.ranks, trace.frames, trace.compilations, trace.compile_s) == ("2.13.0", 1, 2, 4, 1.25)
    assert trace.files == ("/job/train.py", MODEL)
    assert trace.notes == ()


def test_ranks_are_added_up_compressed_or_not(tmp_path: Path) -> None:
    text = NAMES + compilation(0, 0, BROKEN)
    write(tmp_path, text, "rank_0_abc.log")
    (tmp_path / "node1").mkdir()
    (tmp_path / "node1" / f"{LOG_PREFIX}rank_1_x.log.gz").write_bytes(gzip.compress(text.encode()))
    # Another process of rank 1, known by its records; and one that compiled nothing.
    write(tmp_path, (NAMES + compilation(0, 0, BROKEN)).replace('"frame_id"', '"rank": 1, "frame_id"'), "def.log")
    write(tmp_path, NAMES, "ghi.log")
    trace = read(tmp_path)
    assert (trace.ranks, trace.frames, trace.compilations) == (2, 3, 3)
    assert [(site.count, site.frames) for site in trace.breaks] == [(3, 3)]


@pytest.mark.parametrize("compressed", [False, True])
def test_a_log_that_ends_in_the_middle_gives_what_is_complete(tmp_path: Path, compressed: bool) -> None:
    text = NAMES + compilation(0, 0, BROKEN) + compilation(1, 0, artifact("dynamo_graph_break_reason", BREAK, 1))
    data = text.encode()
    if compressed:
        path = tmp_path / f"{LOG_PREFIX}a.log.gz"
        path.write_bytes(gzip.compress(data * 40)[:-30])
    else:
        # In the last record, which holds the time of the second compilation.
        path = tmp_path / f"{LOG_PREFIX}a.log"
        path.write_bytes(data[:-20])
    trace = read(tmp_path)
    assert len(trace.breaks) == 1
    if not compressed:
        assert (trace.breaks[0].count, trace.breaks[0].compile_s) == (2, 0.5)
    assert any("ends in the middle" in note for note in trace.notes)


def test_broken_records_and_strange_lines_are_left_out(tmp_path: Path) -> None:
    strange = (
        'no record at all\n\tnor a payload\nV0102 03:04:05.1 9 x.py:1] {"artifact": {"name": "recompile_reasons", \n'
    )
    write(tmp_path, NAMES + strange + compilation(0, 0, BROKEN) + "\x00\xff\n")
    trace = read(tmp_path)
    assert [site.count for site in trace.breaks] == [1]
    assert [note.partition(": ")[2] for note in trace.notes] == ["1 broken records were left out"]


def test_a_function_at_the_limit_is_said_to_be_given_up(tmp_path: Path) -> None:
    inner = artifact("recompile_reasons", "0/7: self.n == 7", 0, 8)
    limit = (
        "Dynamo recompile limit exceeded\n  Explanation: Dynamo attempted to recompile the code object too many times"
    )
    write(tmp_path, NAMES + compilation(0) + inner + compilation(0, 8, fail=limit, seconds=0.0))
    trace = read(tmp_path)
    assert [(r.reason, r.count, r.limit) for r in trace.recompiles] == [("self.n == 7", 0, True)]
    assert trace.breaks == ()
    assert trace.compilations == 1


def test_a_failure_without_a_record_of_its_own_is_a_break(tmp_path: Path) -> None:
    write(tmp_path, NAMES + compilation(0, fail="Unsupported thing\n  Explanation: It is not supported."))
    (site,) = read(tmp_path).breaks
    assert (site.place.path, site.place.line, site.title, site.skipped) == (MODEL, 9, "Unsupported thing", True)


def test_an_exception_of_the_program_is_no_break(tmp_path: Path) -> None:
    write(tmp_path, NAMES + compilation(0, fail="no such package", kind="PackageNotFoundError"))
    assert read(tmp_path).breaks == ()


def test_a_folder_without_logs_is_refused(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("nothing")
    with pytest.raises(InputError, match="holds no logs"):
        find_logs(tmp_path)
    with pytest.raises(InputError, match="no such file or folder"):
        find_logs(tmp_path / "gone")


def test_a_break_in_a_library_belongs_to_the_line_that_called_it() -> None:
    inside = BREAK.replace(f"at {MODEL}:12", f"at {TORCH}nn/functional.py:100")
    deeper = f'  File "{TORCH}nn/functional.py", line 100, in gelu\n    boom\n'
    text = read_break(inside.replace("\nTraceback (most", f"{deeper}\nTraceback (most"), TORCH, {})
    assert text.place is not None
    assert (text.place.path, text.place.line) == (MODEL, 12)


def test_the_cause_of_a_skipped_function_is_the_first_reason() -> None:
    text = read_break(
        f"Graph break in user code at {MODEL}:12\n"
        "Graph Break Reason: Failed to handle graph break gracefully. Skipping the function. Encountered:\n\n"
        "Data-dependent branching\n  Explanation: Detected.\n\n"
        "*** While handling this graph break, another graph break occurred: ***\n\n"
        "graph break in loop\n  Explanation: In a loop.\n",
        TORCH,
        IDS,
    )
    assert (text.gb, text.title, text.skipped) == ("GB0170", "Data-dependent branching", True)


def test_older_texts_are_read_too() -> None:
    text = read_break("Graph break at /job/model.py:3\nReason: call_function BuiltinVariable(print)\n", TORCH, {})
    assert (text.gb, text.title) == ("", "call_function BuiltinVariable(print)")
    assert text.place is not None
    assert (text.place.path, text.place.line) == (MODEL, 3)


def test_modes_do_not_hide_the_guard_that_counts() -> None:
    guards = read_guards('["1/1: tensor \'x\' requires_grad mismatch. expected requires_grad=1", "1/0: self.n == 0"]')
    found = culprit(guards)
    assert found is not None
    assert found.text == "self.n == 0"
    assert (
        culprit(read_guards("2/0: GLOBAL_STATE changed: grad_mode "))
        == read_guards("GLOBAL_STATE changed: grad_mode")[0]
    )
    assert culprit(()) is None


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("self.n == 1", "self.n == 22", True),
        ("L['s'] == 1.5", "L['s'] == -2e-05", True),
        (
            "tensor 'x' size mismatch at index 0. expected 8, actual 3",
            "tensor 'y' size mismatch at index 0. expected 3, actual 8",
            True,
        ),
        ("self.n1 == 1", "self.n2 == 1", False),
        ("L['name'] == 'a'", "L['name'] == 'b'", False),
    ],
)
def test_guards_of_a_kind(one: str, other: str, same: bool) -> None:
    assert (guard_kind(one) == guard_kind(other)) == same


def test_the_rest_of_a_function_has_its_name() -> None:
    assert named("torch_dynamo_resume_in_torch_dynamo_resume_in_forward_at_3_at_9") == "forward"


@pytest.mark.skipif(sys.platform == "win32", reason="memory is measured with getrusage")
def test_a_long_log_is_read_in_little_memory(tmp_path: Path) -> None:
    noise = record("x" * 200 + "\n" + "y" * 5000, dynamo_output_graph={}, frame_id=0, has_payload="0")
    with (tmp_path / f"{LOG_PREFIX}a.log").open("w") as file:
        file.write(NAMES)
        for frame in range(2000):
            file.write(compilation(frame, 0, artifact("dynamo_graph_break_reason", BREAK, frame)) + noise * 4)
    program = (
        "import resource, sys; from pathlib import Path; from compilefix.tracing.collect import find_logs, read_logs;"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss; before = peak();"
        "trace = read_logs(find_logs(Path(sys.argv[1])), {}); print(trace.breaks[0].count, peak() - before)"
    )
    done = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, check=True)
    count, grown = map(int, done.stdout.split())
    assert count == 2000
    size = sum(path.stat().st_size for path in tmp_path.iterdir())
    unit = 1024 if sys.platform != "darwin" else 1
    assert size > 40 * 2**20
    assert grown * unit < 10 * 2**20

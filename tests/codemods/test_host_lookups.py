"""Look-ups on the host: each that CF708 names breaks the graph, and is found."""

from __future__ import annotations

import linecache
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import rewritten  # noqa: E402

HEAD = """
import base64, bisect, copy, dataclasses, heapq, inspect, io, os
import shutil, socket, sys, tempfile, time, traceback, types, zlib

import torch


@dataclasses.dataclass
class Box:
    held: torch.Tensor


"""
ASKED = [
    *("os.getpid()", "os.getcwd()", "os.listdir('/')", "os.cpu_count()", "os.path.abspath('a')", "os.urandom(1)"),
    *("time.strftime('%Y')", "time.ctime()", "heapq.heappop([1])", "heapq.heapify([2, 1])"),
    *("bisect.bisect_left([1, 2], 1)", "bisect.insort([1], 2)", "traceback.format_stack()", "sys._getframe()"),
    *(
        "inspect.getsource(torch.nn.Linear)",
        "dataclasses.asdict(Box(x))",
        "dataclasses.astuple(Box(x))",
    ),
    *(
        "types.SimpleNamespace(a=1)",
        "copy.copy({'a': x})",
        "copy.copy([x])",
        "io.StringIO()",
        "torch.set_num_threads(1)",
    ),
    *("torch.result_type(x, 1.0)", "torch.can_cast(torch.float32, torch.float64)", "torch.cuda.device_count()"),
    *(
        "torch.get_float32_matmul_precision()",
        "torch.is_inference_mode_enabled()",
        "torch.utils.data.get_worker_info()",
    ),
    *("torch.backends.cudnn.is_available()", "socket.gethostname()", "shutil.which('a')", "base64.b64encode(b'a')"),
    *("zlib.crc32(b'a')", "x.storage_offset()", "x.is_shared()", "x.is_pinned()", "x.is_inference()"),
    *("torch.is_inference(x)", "torch.is_conj(x)", "torch.is_neg(x)", "torch.is_signed(x)", "torch.is_same_size(x, x)"),
    *("torch.get_device(x)", "torch.is_anomaly_enabled()", "torch.is_warn_always_enabled()", "torch.is_distributed(x)"),
    *("torch.is_vulkan_available()", "torch.get_deterministic_debug_mode()", "x.is_distributed()", "x.is_set_to(x)"),
    *("x.is_conj()", "x.is_neg()", "x.is_signed()", "x.is_same_size(x)"),
    *("torch.empty(3).random_(0, 3)", "torch.empty(3).resize_(2)"),
]
ENTERED = [
    *("torch.random.fork_rng()", "torch.autograd.set_detect_anomaly(True)", "torch.autograd.detect_anomaly()"),
    *(
        "torch.backends.cudnn.flags(enabled=False)",
        "tempfile.TemporaryDirectory()",
        "torch.autograd.graph.save_on_cpu()",
    ),
    "torch.autograd.set_multithreading_enabled(False)",
]
TRACED = [
    *("os.path.join('a', 'b')", "copy.copy(3)", "[x].copy()", "{'a': x}.copy()", "dataclasses.fields(Box(x))"),
    *("torch.promote_types(torch.float32, torch.float64)", "torch.get_default_dtype()", "torch.cuda.is_available()"),
    *("inspect.signature(f)", "x.element_size()", "x.is_contiguous()", "torch.is_grad_enabled()"),
]


def _program(lines: str) -> str:
    return f"{HEAD}def f(x: torch.Tensor):\n    y = x + 1\n{lines}    return y * 2\n"


def _breaks(text: str, path: Path) -> bool:
    path.write_text(text, encoding="utf-8")
    linecache.checkcache(str(path))
    program: dict[str, object] = {"__name__": "program"}
    exec(compile(text, str(path), "exec"), program)
    graphs = 0

    def backend(module: torch.fx.GraphModule, _: object) -> object:
        nonlocal graphs
        graphs += 1
        return module.forward

    torch._dynamo.reset()
    torch._dynamo.utils.counters.clear()
    torch.compile(program["f"], backend=backend)(torch.ones(3))
    return graphs != 1 or bool(torch._dynamo.utils.counters["graph_break"])


def _found(text: str) -> list[str]:
    return [f.code for f in rewritten(Path("/nowhere/program.py"), text, None).findings if f.code == "CF708"]


@pytest.mark.parametrize(
    "lines",
    [
        *(f"    z = {asked}\n" for asked in ASKED),
        *(f"    with {entered}:\n        y = y * 3\n" for entered in ENTERED),
    ],
)
@pytest.mark.filterwarnings("ignore")
def test_it_breaks_the_graph_and_is_found(lines: str, tmp_path: Path) -> None:
    text = _program(lines)
    assert _found(text) == ["CF708"]
    assert _breaks(text, tmp_path / "program.py")


@pytest.mark.parametrize("asked", TRACED)
@pytest.mark.filterwarnings("ignore")
def test_what_is_traced_is_not_reported(asked: str, tmp_path: Path) -> None:
    text = _program(f"    z = {asked}\n")
    assert not _breaks(text, tmp_path / "program.py")
    assert _found(text) == []

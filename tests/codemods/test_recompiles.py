"""What the rules for recompiles report, measured as graphs compiled over a number of calls."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from compilefix.codemods.recompiles.counter_attribute import CounterAttribute
from compilefix.codemods.recompiles.dimension_loop import DimensionLoop
from compilefix.codemods.recompiles.growing_list import GrowingList
from compilefix.codemods.recompiles.kept_size import KeptSize
from compilefix.codemods.recompiles.layer_index import LayerIndex
from compilefix.codemods.recompiles.shape_branch import ShapeBranch
from compilefix.codemods.rule import Rule
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

_CALLS = 5
_MODULE = """
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = {start}

    def forward(self, x):
{body}
        return x * 2
"""


def _module(start: str, body: str) -> str:
    return _MODULE.format(start=start, body=textwrap.indent(body, " " * 8))


def _reported(rule: type[Rule], text: str) -> int:
    path = Path("/nowhere/program.py")
    file = SourceFile(path, "program", text)
    return len(run([file], Config(root=path.parent), rules=[rule], rewrite=False).findings)


def _graphs(function: Callable[..., Any], inputs: list[torch.Tensor]) -> int:
    count = 0

    def backend(module: torch.fx.GraphModule, _: Any) -> Any:
        nonlocal count
        count += 1
        return module.forward

    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend)
    for x in inputs:
        compiled(x)
    torch._dynamo.reset()
    return count


@pytest.mark.parametrize(
    ("start", "body", "rule", "grows"),
    [
        ("0", "self.kept += 1", CounterAttribute, True),
        ("0", "self.kept = self.kept + 1", CounterAttribute, True),
        ("0", "if self.training:\n    self.kept += 1", CounterAttribute, True),
        ("0", "self.kept += x.shape[0]", CounterAttribute, True),
        ("0", "self.kept = self.kept - x.numel()", CounterAttribute, True),
        ("0", "if self.kept > 20:\n    self.kept = 0\nself.kept += 1", CounterAttribute, True),
        ("0.0", "self.kept += 1", CounterAttribute, False),
        ("torch.zeros(())", "self.kept += 1", CounterAttribute, False),
        ("0", "self.kept = 0\nself.kept += 1", CounterAttribute, False),
        ("[]", "self.kept.append(1)", GrowingList, True),
        ("[]", "self.kept.extend([x.sum()])", GrowingList, True),
        ("[]", "self.kept += [x.sum()]", GrowingList, True),
        ("set()", "self.kept.add(len(self.kept))", GrowingList, True),
        ("[]", "self.kept = []\nself.kept.append(x.sum())", GrowingList, False),
        ("[]", "self.kept.append(x.sum())\nself.kept.clear()", GrowingList, False),
        ("None", "self.kept = x.sum()", GrowingList, False),
    ],
)
def test_state_is_reported_exactly_where_every_call_compiles(
    start: str, body: str, rule: type[Rule], grows: bool
) -> None:
    text = _module(start, body)
    space: dict[str, Any] = {}
    exec(compile(text, "<program>", "exec"), space)
    graphs = _graphs(space["Model"](), [torch.ones(2)] * _CALLS)
    assert (graphs == _CALLS) is grows
    assert graphs <= 2 or grows
    assert _reported(rule, text) == int(grows)


@pytest.mark.parametrize(
    ("body", "grows"),
    [
        ("KEPT.append(1)", True),
        ("KEPT.extend([x.sum()])", True),
        ("KEPT.append(1)\nKEPT.clear()", False),
        ("KEPT = []\nKEPT.append(1)", False),
        ("OTHER = [1]\nOTHER.append(2)", False),
    ],
)
def test_a_global_list_that_grows_is_compiled_for_each_length(body: str, grows: bool) -> None:
    head = "import torch\nKEPT = []\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n"
    text = f"{head}{textwrap.indent(body, '    ')}\n    return x * 2\n"
    space: dict[str, Any] = {}
    exec(compile(text.replace("@torch.compile\n", ""), "<program>", "exec"), space)
    assert (_graphs(space["f"], [torch.ones(2)] * _CALLS) == _CALLS) is grows
    assert _reported(GrowingList, text) == int(grows)


def _branch(test: str) -> str:
    return f"import torch\ndef f(x: torch.Tensor):\n    if {test}:\n        x = x * 2\n    return x + 1\n"


@pytest.mark.parametrize(
    ("test", "reported"),
    [
        ("x.shape[0] > 5", 1),
        ("x.shape[0] % 2", 1),
        ("x.size(0) % 2 == 0", 1),
        ("x.shape[0] > 0", 0),
        ("x.shape[0] < 2", 0),
        ("x.dim() > 2", 0),
        ("x.shape[0] == 1", 0),
        ("len(x.shape) > 1", 0),
        ("x.ndim % 2", 0),
    ],
)
def test_a_branch_on_a_size_is_reported_where_it_costs_a_compilation(test: str, reported: int) -> None:
    text = _branch(test)
    space: dict[str, Any] = {}
    exec(compile(text, "<program>", "exec"), space)
    graphs = _graphs(space["f"], [torch.ones(n) for n in (3, 4, 6, 7, 8)])
    # One for the first size, one for all sizes, and one for the other side.
    assert graphs == 2 + reported
    assert _reported(ShapeBranch, text) == reported


@pytest.mark.parametrize(
    ("bounds", "test", "reported"),
    [
        ("n - 1, -1, -1", "i < n - 1", 0),
        ("n", "i + 1 < n", 0),
        ("x.shape[1]", "i < x.shape[1] - 1", 0),
        ("3", "i < n - 1", 1),
        ("n", "i < m", 1),
        ("n", "m > 4", 1),
    ],
)
def test_a_comparison_with_the_bounds_of_its_loop_costs_no_compilation(bounds: str, test: str, reported: int) -> None:
    text = f"""
import torch
def f(x: torch.Tensor):
    m, n = x.shape
    out = x.sum()
    for i in range({bounds}):
        out = out + x[:, i].sum()
        if {test}:
            out = out * 2
    return out
"""
    space: dict[str, Any] = {}
    exec(compile(text, "<program>", "exec"), space)
    exec(compile(text.replace(test, "True").replace("def f", "def always"), "<program>", "exec"), space)
    inputs = [torch.ones(m, n) for m, n in ((7, 3), (7, 4), (7, 5), (6, 3), (2, 3), (3, 5), (2, 5), (3, 7))]
    assert (_graphs(space["f"], inputs) > _graphs(space["always"], inputs)) is bool(reported)
    assert _reported(ShapeBranch, text) == reported


@pytest.mark.parametrize(("turn", "reported"), [("self.layers[k](x[:, k])", 0), ("self.table[k] * x[:, k]", 1)])
def test_a_loop_whose_counter_picks_a_layer_has_as_many_turns_in_each_call(turn: str, reported: int) -> None:
    text = f"""
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(3, 3) for _ in range(4)])
        self.register_buffer("table", torch.ones(100))

    def forward(self, x: torch.Tensor):
        batch, parts, width = x.shape
        y = sum([{turn} for k in range(parts)])
        for k in range(parts):
            y = y * {turn}
        return y
"""
    assert _reported(DimensionLoop, text) == 2 * reported


def test_a_validation_is_not_reported() -> None:
    text = _branch("x.shape[0] % 8").replace("x = x * 2", 'raise ValueError("size")')
    assert _reported(ShapeBranch, text) == 0


@pytest.mark.parametrize(("otherwise", "reported"), [('raise ValueError("size")', 0), ("x = x - 2", 1)])
def test_a_branch_that_raises_on_one_side_is_compiled_once(otherwise: str, reported: int) -> None:
    text = _branch("x.shape[0] > 2").replace("    return", f"    else:\n        {otherwise}\n    return")
    space: dict[str, Any] = {}
    exec(compile(text, "<program>", "exec"), space)
    sizes = (3, 4, 6, 2) if reported else (3, 4, 6, 7)
    assert _graphs(space["f"], [torch.ones(n) for n in sizes]) == 2 + reported
    assert _reported(ShapeBranch, text) == reported


_SIZES = (3, 5, 7, 9, 11, 13)


def _kept(body: str) -> str:
    return f"""
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.kept = 0
        self.table = None
        self.tables = {{}}

    def forward(self, x: torch.Tensor):
{textwrap.indent(textwrap.dedent(body), " " * 8)}
"""


@pytest.mark.parametrize(
    ("body", "reported"),
    [
        (
            """
            if x.shape[0] > self.kept:
                self.kept = x.shape[0]
                self.table = torch.arange(self.kept)
            return x + self.table[: x.shape[0]]
            """,
            True,
        ),
        (
            """
            n = x.size(0)
            if self.kept != n:
                self.table = torch.arange(n)
                self.kept = n
            return x + self.table
            """,
            True,
        ),
        (
            """
            y = x * self.kept
            self.kept = x.shape[0]
            return y
            """,
            True,
        ),
        (
            """
            n = len(x)
            if n not in self.tables:
                self.tables[n] = torch.arange(n)
            return x + self.tables[n]
            """,
            True,
        ),
        (
            """
            if self.table is None or self.table.shape[0] < x.shape[0]:
                self.table = torch.arange(x.shape[0])
            return x + self.table[: x.shape[0]]
            """,
            False,
        ),
        ("self.kept = x.shape[0]\nreturn x * self.kept", False),
        ("self.kept = x.shape[0]\nreturn x * 2", False),
        ("self.kept = x.dim()\nreturn x * self.kept", False),
        ("return x + torch.arange(x.shape[0])", False),
    ],
)
def test_a_size_that_a_module_keeps_is_compiled_anew_each_time(body: str, reported: bool) -> None:
    text = _kept(body)
    space: dict[str, Any] = {}
    exec(compile(text, "<program>", "exec"), space)
    graphs = _graphs(space["Model"](), [torch.ones(n) for n in _SIZES])
    assert (graphs >= len(_SIZES) - 1) is reported, graphs
    assert _reported(KeptSize, text) == int(reported)


def test_a_size_that_is_kept_once_is_not_reported() -> None:
    body = "if self.table is None:\n    self.table = x\n    self.kept = x.shape[0]\nreturn x * self.kept"
    assert _reported(KeptSize, _kept(body)) == 0


@pytest.mark.parametrize(
    ("expression", "reported"),
    [
        ("torch.stack([x[i] * 2 for i in range(x.shape[0])])", True),
        ("torch.stack([x[i] * 2 for i in range(len(x))])", True),
        ("torch.stack([x[i] * 2 for i in range(0, x.size(0))])", True),
        ("torch.stack([row.sum() for row in x])", True),
        ("torch.stack([row.sum() * i for i, row in enumerate(x)])", True),
        ("torch.stack([row.sum() for row in x.unbind(0)])", True),
        ("torch.stack([x.sum() * i for i in range(4)])", False),
        ("torch.stack([w * x.sum() for w in self.weight])", False),
        ("torch.stack([self.weight[i] * x.sum() for i in range(self.weight.shape[0])])", False),
        ("x.sum(0)", False),
    ],
)
def test_a_loop_over_a_dimension_is_compiled_for_each_length(expression: str, reported: bool) -> None:
    text = f"""
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(3))

    def forward(self, x: torch.Tensor):
        return {expression}
"""
    space: dict[str, Any] = {}
    exec(compile(text, "<program>", "exec"), space)
    graphs = _graphs(space["Model"](), [torch.ones(n, 2) for n in _SIZES])
    assert (graphs == len(_SIZES)) is reported, graphs
    assert graphs <= 2 or reported
    assert _reported(DimensionLoop, text) == int(reported)


_ADDING = """
import torch


@torch.compile
def added(x: torch.{kind}, y: torch.FloatTensor):
{body}
    return total
"""


@pytest.mark.parametrize(
    ("kind", "body", "becomes"),
    [
        ("FloatTensor", "total = 0\nfor t in range(x.shape[1]):\n    total = total + x[:, t]", "x.sum(1,"),
        ("FloatTensor", "total = 0.0\nfor t in range(x.size(0)):\n    total += x[t]", "x.sum(0, dtype=x.dtype)"),
        ("FloatTensor", "total = 0\nn = len(x)\nfor t in range(n):\n    total += x[t]", "x.sum(0, dtype=x.dtype)"),
        ("FloatTensor", "total = 1\na, b, c = x.shape\nfor t in range(c):\n    total += x[:, :, t]", "x.sum(2,"),
        ("FloatTensor", "total = 0\nfor row in x:\n    total = total + row", "x.sum(0, dtype=x.dtype)"),
        ("LongTensor", "total = 0\nfor row in x:\n    total = total + row", "x.sum(0, dtype=x.dtype)"),
        ("FloatTensor", "total = torch.zeros_like(x[0])\nfor row in x:\n    total = total + row", "total + x.sum(0,"),
        ("BoolTensor", "total = 0\nfor row in x:\n    total = total + row", None),
        ("Tensor", "total = 0\nfor row in x:\n    total = total + row", None),
        ("FloatTensor", "total = x[0]\nfor row in x:\n    total += row", None),
        ("FloatTensor", "total = 0\nfor row in x:\n    total = total - row", None),
        ("FloatTensor", "total = 0\nfor row in x:\n    total = total + row * row", None),
        ("FloatTensor", "total = 0\nfor t in range(x.shape[0]):\n    total = total + x[:, t]", None),
        ("FloatTensor", "total = 0\nfor t in range(y.shape[1]):\n    total = total + x[:, t]", None),
        ("FloatTensor", "total = 0\nfor t in range(x.shape[1] - 1):\n    total = total + x[:, t]", None),
        ("FloatTensor", "total = 0\nfor row in x:\n    total = total + row\ntotal = total + row", None),
    ],
)  # fmt: skip
def test_a_loop_that_adds_up_becomes_a_sum(kind: str, body: str, becomes: str | None) -> None:
    text = _ADDING.format(kind=kind, body=textwrap.indent(body, "    "))
    path = Path("/nowhere/program.py")
    outcome = run([SourceFile(path, "program", text)], Config(root=path.parent), rules=[DimensionLoop], allowed=None)
    assert len(outcome.findings) == 1
    if becomes is None:
        assert not outcome.patchset
        return
    (change,) = outcome.patchset
    assert becomes in change.after
    old, new = (_plain(source) for source in (text, change.after))
    x = torch.arange(2.0 * 3 * 4).reshape(2, 3, 4).to(torch.long if kind == "LongTensor" else torch.float)
    for value in (x, x.transpose(0, 2), x[:1, :1], x.to(torch.int32 if kind == "LongTensor" else torch.half)):
        first, second = old(value, value), new(value, value)
        assert (first.dtype, first.shape) == (second.dtype, second.shape)
        assert torch.equal(first, second)


_STACKING = """\
import torch
import torch.nn.functional as F


@torch.compile
def added(x: torch.Tensor, y: torch.Tensor):
{body}
    return z
"""


@pytest.mark.parametrize(
    ("body", "becomes"),
    [
        ("z = torch.stack([x[:, t].exp() for t in range(x.shape[1])], dim=1)", "x.exp().contiguous()"),
        ("z = torch.stack([2 - F.gelu(x[:, :, t]) for t in range(x.size(2))], 2)", "(2 - F.gelu(x)).contiguous()"),
        ("z = torch.stack([row.clamp(min=-1) / 3 for row in x])", "(x.clamp(min=-1) / 3).contiguous()"),
        ("z = torch.stack([x[t] * x[t] for t in range(len(x))], dim=0)", "(x * x).contiguous()"),
        ("rows = []\nfor row in x:\n    rows.append(torch.sin(row))\nz = torch.stack(rows)", "z = torch.sin(x)"),
        ("z = torch.stack([row for row in x])", None),
        ("z = torch.stack([row.clone() for row in x], dim=1)", None),
        ("z = torch.stack([x[:, t].exp() for t in range(x.shape[1])])", None),
        ("z = torch.stack([x[:, t].exp() for t in range(x.shape[1] - 1)], dim=1)", None),
        ("z = torch.stack([x[:, t].exp() for t in range(x.shape[0])], dim=1)", None),
        ("z = torch.stack([x[:, t + 1].exp() for t in range(x.shape[1])], dim=1)", None),
        ("z = torch.stack([row.exp() + y for row in x])", None),
        ("z = torch.stack([row * t for t, row in enumerate(x)])", None),
        ("z = torch.stack([row.exp() for row in x if row.ndim])", None),
        ("z = torch.stack([F.softmax(row, -1) for row in x])", None),
        ("z = torch.stack([F.dropout(row) for row in x])", None),
        ("z = torch.stack([row.exp_() for row in x])", None),
        ("z = torch.stack([y.exp() for row in x])", None),
        ("z = torch.stack([(row > 0).all() for row in x])", None),
        ("rows = []\nfor row in x:\n    rows.append(torch.sin(row))\nz = torch.stack(rows)\nz += len(rows)", None),
        ("rows = [y[0]]\nfor row in x:\n    rows.append(torch.sin(row))\nz = torch.stack(rows)", None),
        ("rows = []\nfor row in x:\n    rows.append(row.sin())\nz = torch.stack(rows)\nz = z * row", None),
    ],
)  # fmt: skip
def test_a_loop_that_stacks_what_it_makes_of_each_row_is_one_operation(body: str, becomes: str | None) -> None:
    text = _STACKING.format(body=textwrap.indent(body, "    "))
    path = Path("/nowhere/program.py")
    outcome = run([SourceFile(path, "program", text)], Config(root=path.parent), rules=[DimensionLoop], allowed=None)
    assert len(outcome.findings) == 1
    if becomes is None:
        assert not outcome.patchset
        return
    (change,) = outcome.patchset
    assert becomes in change.after
    old, new = (_plain(source) for source in (text, change.after))
    x = torch.arange(2.0 * 3 * 4).reshape(2, 3, 4) - 9
    for value in (x, x.transpose(0, 2), x[:1, :1], x.half(), x.log(), x.requires_grad_()):
        first, second = old(value, value), new(value, value)
        assert (first.dtype, first.stride()) == (second.dtype, second.stride())
        # The processor computes whole vectors and what is left over in other ways: the last bit may differ.
        torch.testing.assert_close(first, second, equal_nan=True)
    grads = [torch.autograd.grad(function(x, x).sum(), x)[0] for function in (old, new)]
    torch.testing.assert_close(*grads)
    assert first.data_ptr() != second.data_ptr() != x.data_ptr(), "a stack is a copy"


_LAYER = """\
import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 4)

    def forward(self, x: torch.Tensor):
{body}
"""


@pytest.mark.parametrize(
    ("kind", "over", "rank"),
    [("x[:, t]", "range(x.shape[1])], dim=1", 3), ("row", "x]", 2), ("x[:, :, t]", "range(x.shape[2])], 2", 4)],
)
def test_a_linear_layer_is_given_all_rows(kind: str, over: str, rank: int) -> None:
    item = "row" if kind == "row" else "t"
    text = _LAYER.format(body=f"        return torch.stack([self.layer({kind}).relu() for {item} in {over})")
    path = Path("/nowhere/program.py")
    outcome = run([SourceFile(path, "program", text)], Config(root=path.parent), rules=[DimensionLoop], allowed=None)
    (finding,) = outcome.findings
    assert finding.fix is not None
    assert set(finding.fix.assumptions) == {"all-rows", "dimension-not-empty", "enough-dimensions"}
    (change,) = outcome.patchset
    models = []
    for source in (text, change.after):
        space: dict[str, Any] = {}
        exec(compile(source, "<program>", "exec"), space)
        torch.manual_seed(0)
        models.append(space["Model"]())
    x = torch.randn(3, 2, 5, 4)[(0,) * (4 - rank)].requires_grad_()
    results = [model(x) for model in models]
    torch.testing.assert_close(*results)
    grads = [torch.autograd.grad(result.pow(2).sum(), x)[0] for result in results]
    torch.testing.assert_close(*grads)


def _plain(text: str) -> Callable[..., Any]:
    space: dict[str, Any] = {}
    exec(compile(text.replace("@torch.compile\n", ""), "<program>", "exec"), space)
    return space["added"]


def test_of_loops_in_loops_the_outermost_is_reported() -> None:
    text = (
        "import torch\nclass M(torch.nn.Module):\n    def forward(self, x: torch.Tensor):\n"
        "        for i in range(x.shape[0]):\n            for j in range(x.shape[1]):\n"
        "                x = x + x[i, j]\n        return x\n"
    )
    assert _reported(DimensionLoop, text) == 0  # `x` is not the argument any more
    assert _reported(DimensionLoop, text.replace("x = x +", "y = x +")) == 1


def test_a_function_that_nothing_compiles_may_loop() -> None:
    text = "import torch\ndef rows(x: torch.Tensor):\n    return [row.sum() for row in x]\n"
    assert _reported(DimensionLoop, text) == 0
    assert _reported(DimensionLoop, text.replace("def rows", "@torch.compile\ndef rows")) == 1


_LAYERS = """
import torch


class Part(torch.nn.Module):
    def __init__(self, number):
        super().__init__()
        self.number = number

    def forward(self, x):
        return {part}


class Layer(torch.nn.Module):
    def __init__(self, width, layer_idx):
        super().__init__()
        self.width = width
        self.part = Part({given})

    def forward(self, x):
        return self.part(x) / self.width


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([Layer(4, i) for i in range(5)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def compiled(backend):
    model = Model()
    {compile}
    return model
"""
_EACH = "for layer in model.layers:\n        layer.compile(backend=backend)"


@pytest.mark.parametrize(
    ("part", "given", "how", "reported"),
    [
        ("x * self.number", "layer_idx", _EACH, True),
        ("x * self.number", "number=layer_idx", _EACH, True),
        ("x * 2", "layer_idx", _EACH, False),
        ("x * self.number", "width", _EACH, False),
        ("x * self.number", "layer_idx", "model.compile(backend=backend)", False),
    ],
)
def test_the_number_of_a_layer_compiles_each_layer(part: str, given: str, how: str, reported: bool) -> None:
    text = _LAYERS.format(part=part, given=given, compile=how)
    space: dict[str, Any] = {}
    exec(compile(text, "<program>", "exec"), space)
    count = 0

    def backend(module: torch.fx.GraphModule, _: Any) -> Any:
        nonlocal count
        count += 1
        return module.forward

    torch._dynamo.reset()
    space["compiled"](backend)(torch.ones(2))
    torch._dynamo.reset()
    assert count == (5 if reported else 1)
    assert _reported(LayerIndex, text) == int(reported)


@pytest.mark.parametrize(
    ("check", "reported"),
    [
        ("assert n == self.levels", False),
        ("if self.levels != n:\n            raise ValueError", False),
        ("if n != 4:\n            raise ValueError", False),
        ("assert n > self.levels", True),
        ("assert n == y.shape[0]", True),
        ("if n == self.levels:\n            raise ValueError", True),
    ],
)
def test_a_length_that_has_to_be_the_objects_own_compiles_nothing_again(check: str, reported: bool) -> None:
    text = f"""
import torch
class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor, y: torch.Tensor):
        n, width = x.shape
        {check}
        return sum(self.layers[i](x[i]) for i in range(n))
"""
    assert _reported(DimensionLoop, text) == int(reported)

"""The tables of the NumPy rules against NumPy, math, torch and Dynamo, and what the rules leave alone."""

from __future__ import annotations

import ast
import math
import random
import textwrap
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from compilefix.codemods import registry
from compilefix.codemods.finding import Finding
from compilefix.codemods.numpy_calls.array_values import KEEPS_INTEGERS, POINTWISE, UNSUPPORTED
from compilefix.codemods.numpy_calls.host_random import HostRandom
from compilefix.codemods.numpy_calls.numpy_functions import FUNCTIONS
from compilefix.codemods.numpy_calls.numpy_on_tensor import NumpyOnTensor
from compilefix.codemods.numpy_calls.numpy_static import NumpyStatic
from compilefix.codemods.rule import Rule
from compilefix.fixing.engine import run
from compilefix.measuring.breaks import BreakCollector
from compilefix.source.config import Config
from compilefix.source.files import SourceFile
from tests.codemods.execution import rewritten

_REALS = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.7, 10.0, 99.99, 1234.5678, 1e6 + 0.5]
_SEQUENCES = [(), (3,), (2, 3), (7, 1, 5), (64, 64, 3, 2), (0, 4)]


def _python(name: str) -> Callable[..., Any]:
    function = FUNCTIONS[name]
    names = [f"a{i}" for i in range(function.arity)]
    code = f"lambda {', '.join(names)}: " + function.python.format(*names, m="math")
    result: Callable[..., Any] = eval(code, {"math": math})
    return result


def _close(a: float, b: float) -> bool:
    return a == b or abs(a - b) <= 4 * math.ulp(max(abs(a), abs(b)))


@pytest.mark.parametrize("name", [n for n, f in FUNCTIONS.items() if f.arity == 1 and not f.sequence])
def test_functions_of_one_number_agree_with_numpy(name: str) -> None:
    function, python = FUNCTIONS[name], _python(name)
    for value in [*_REALS, *range(1, 400)]:
        if (function.domain == "positive" and value <= 0) or (function.domain == "bounded" and value > 700):
            continue
        ours, theirs = python(value), getattr(np, name)(value)
        assert float(ours) == float(theirs) if function.exact else _close(float(ours), float(theirs))


@pytest.mark.parametrize("name", [n for n, f in FUNCTIONS.items() if f.sequence])
def test_functions_of_sequences_agree_with_numpy(name: str) -> None:
    python = _python(name)
    for sizes in _SEQUENCES:
        if sizes or name in ("prod", "sum"):
            assert python(torch.Size(sizes)) == int(getattr(np, name)(torch.Size(sizes)))


@pytest.mark.parametrize("name", [n for n, f in FUNCTIONS.items() if f.arity == 2])
def test_functions_of_two_integers_agree_with_numpy(name: str) -> None:
    python = _python(name)
    for a in (-3, 0, 5):
        for b in (-7, 0, 5, 11):
            assert python(a, b) == int(getattr(np, name)(a, b))


@pytest.mark.parametrize("name", ["log", "log1p", "log2", "log10"])
def test_whole_logarithms_of_integers_are_the_same(name: str) -> None:
    python = _python(name)
    powers = [2**k for k in range(1, 45)] + [10**k for k in range(1, 14)]
    near = [n for power in powers for n in (power - 1, power, power + 1)]
    for n in [*range(1, 5000), *near]:
        theirs = getattr(np, name)(n)
        assert (int(python(n)), math.ceil(python(n))) == (int(theirs), math.ceil(theirs))


@pytest.mark.parametrize(
    "tensor",
    [torch.ones(2), torch.ones(2).half(), torch.ones(2, dtype=torch.int64), torch.tensor(2.0), torch.tensor(2)],
)
@pytest.mark.parametrize("scalar", [np.float64(1.5), np.int64(3)])
def test_a_numpy_number_beside_a_tensor_acts_like_a_python_number(tensor: torch.Tensor, scalar: Any) -> None:
    plain = scalar.item()
    for with_numpy, with_python in (
        (tensor * scalar, tensor * plain),
        (scalar * tensor, plain * tensor),
        (tensor / scalar, tensor / plain),
        (scalar - tensor, plain - tensor),
        (tensor // scalar, tensor // plain),
    ):
        assert type(with_numpy) is torch.Tensor
        assert with_numpy.dtype == with_python.dtype
        assert torch.equal(with_numpy, with_python)


@pytest.mark.parametrize("name", sorted(POINTWISE))
def test_pointwise_functions_keep_float32_and_agree_with_torch(name: str) -> None:
    x = torch.tensor([0.25, 1.0, 3.5, 40.0])
    theirs, ours = torch.from_numpy(getattr(np, name)(x.numpy())), getattr(torch, name)(x)
    assert ours.dtype == theirs.dtype == torch.float32
    torch.testing.assert_close(ours, theirs, rtol=3e-7, atol=0)


@pytest.mark.parametrize("name", sorted(KEEPS_INTEGERS))
def test_functions_said_to_keep_integers_do(name: str) -> None:
    x = torch.tensor([-3, 0, 7])
    theirs, ours = torch.from_numpy(getattr(np, name)(x.numpy())), getattr(torch, name)(x)
    assert ours.dtype == theirs.dtype == torch.int64
    assert torch.equal(ours, theirs)


def test_unsupported_functions_are_unknown_to_torch() -> None:
    import torch._numpy as torch_numpy

    assert [n for n in UNSUPPORTED if hasattr(torch_numpy, n)] == []


def _findings(
    rule: type[Rule], body: str, *, allowed: frozenset[str] | None = frozenset()
) -> tuple[tuple[Finding, ...], str]:
    text = textwrap.dedent(body)
    path = Path("/nowhere/program.py")
    outcome = run([SourceFile(path, "program", text)], Config(root=path.parent), rules=[rule], allowed=allowed)
    changed = [c.after for c in outcome.patchset]
    return outcome.findings, changed[0] if changed else text


def _function(lines: str, header: str = "import numpy as np\nimport random\nimport torch\n") -> str:
    return header + "def f(x: torch.Tensor, n: int, y: torch.Tensor):\n" + textwrap.indent(lines, "    ")


def _graphs(function: Callable[[torch.Tensor], Any], sizes: range) -> int:
    count = 0

    def backend(module: torch.fx.GraphModule, _: Any) -> Any:
        nonlocal count
        count += 1
        return module.forward

    torch._dynamo.reset()
    compiled = torch.compile(function, backend=backend)
    for size in sizes:
        compiled(torch.ones(size, 6))
    torch._dynamo.reset()
    return count


@pytest.mark.parametrize(
    ("numpy_form", "python_form"),
    [
        (lambda x: x / np.sqrt(x.shape[0]), lambda x: x / math.sqrt(x.shape[0])),
        (lambda x: x[: int(np.ceil(x.shape[0] / 3))], lambda x: x[: math.ceil(x.shape[0] / 3)]),
        (lambda x: x * int(np.log2(x.shape[0])), lambda x: x * int(math.log2(x.shape[0]))),
    ],
)
def test_numpy_on_a_shape_is_compiled_for_every_size_and_math_is_not(numpy_form: Any, python_form: Any) -> None:
    # Sizes between two powers of two, so that log2 has one outcome.
    assert _graphs(numpy_form, range(9, 14)) == 5
    assert _graphs(python_form, range(9, 14)) == 2


def test_constants_beside_tensors_are_not_reported() -> None:
    findings, _ = _findings(NumpyStatic, _function("return x * np.sqrt(5) / np.log(n) + np.pi\n"))
    assert findings == ()


@pytest.mark.parametrize(("size", "effects"), [("self.weight.shape[1:]", []), ("x.shape[1:]", ["recompile"])])
def test_the_shape_of_what_a_layer_keeps_is_one_for_good(size: str, effects: list[str]) -> None:
    text = f"""import numpy as np
import torch


class Layer(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return x * np.prod({size})
"""
    findings, _ = _findings(NumpyStatic, text)
    assert [f.effect for f in findings] == effects


def test_integers_made_of_constants_are_rewritten() -> None:
    findings, after = _findings(NumpyStatic, _function("return x.view(int(np.prod((2, 3))))\n"))
    assert [f.effect for f in findings] == ["break"]
    assert "x.view(math.prod((2, 3)))" in after
    assert "import math" in after


def test_nested_calls_are_rewritten_as_one() -> None:
    body = "return x * int(np.ceil(np.sqrt(x.shape[0]) / 2))\n"
    findings, after = _findings(NumpyStatic, _function(body))
    assert len(findings) == 1
    assert "math.ceil(math.sqrt(x.shape[0]) / 2)" in after


@pytest.mark.parametrize(
    ("line", "assumption"),
    [
        ("return x * np.sqrt(x.shape[0] - 4)", "math-errors"),
        ("return x * np.log2(x.shape[0])", "math-errors"),
        ("return x * (np.sqrt(x.shape[0]) / n)", "math-errors"),
        ("return np.sqrt(x.shape[0])", "static-shape-values"),
        ("return x * np.ceil(x.shape[0])", "static-shape-values"),
    ],
)
def test_what_is_not_proved_needs_an_assumption(line: str, assumption: str) -> None:
    findings, after = _findings(NumpyStatic, _function(line + "\n"))
    fix = findings[0].fix
    assert fix is not None
    assert fix.assumptions == (assumption,)
    assert after == _function(line + "\n")


def test_a_local_variable_called_math_is_not_taken_for_the_module() -> None:
    findings, _ = _findings(NumpyStatic, _function("math = 2\nreturn x * np.sqrt(x.shape[0]) * math\n"))
    assert findings[0].declined == "`math` is the name of a local variable here"


def test_tensors_are_left_to_the_other_rule() -> None:
    findings, _ = _findings(NumpyStatic, _function("return np.sqrt(x) + np.maximum(x.sum().item(), 2)\n"))
    assert findings == ()


def test_the_absolute_value_of_a_bool_is_left_alone() -> None:
    # A NumPy bool beside a tensor of integers makes floats, and one of Python does not.
    assert (np.abs(True) + torch.tensor([1])).dtype != (abs(True) + torch.tensor([1])).dtype
    findings, _ = _findings(NumpyStatic, _function("return x + np.abs(x.shape[0] > 2)\n"))
    assert findings == ()


def test_a_method_of_a_tensor_on_a_numpy_result_is_rewritten() -> None:
    body = _function("z = x.detach().float()\nreturn np.abs(z).unsqueeze(0)\n")
    findings, after = _findings(NumpyOnTensor, body)
    assert findings[0].fix is not None
    assert "torch.abs(z).unsqueeze(0)" in after


def test_arrays_that_stay_arrays_are_not_reported() -> None:
    body = "a = x.numpy()\nb = np.exp(a) * a.shape[0]\nreturn torch.from_numpy(b) + len(a)\n"
    findings, _ = _findings(NumpyOnTensor, _function(body))
    assert findings == ()


@pytest.mark.parametrize(
    ("line", "draw"),
    [
        ("x * random.random()", lambda x: x * random.random()),
        ("x * random.choice([1, 2])", lambda x: x * random.choice([1, 2])),
        ("x * random.gauss(0, 1)", lambda x: x * random.gauss(0, 1)),
        ("x * random.uniform(0, 1)", lambda x: x * random.uniform(0, 1)),
        ("x * 2 if random.uniform(0, 1) < 0.5 else x + 1", lambda x: x * 2 if random.uniform(0, 1) < 0.5 else x + 1),
        ("x * np.random.rand()", lambda x: x * np.random.rand()),
        ("x * np.random.uniform(0, 1)", lambda x: x * np.random.uniform(0, 1)),
        ("x * np.random.beta(1.0, 1.0)", lambda x: x * np.random.beta(1.0, 1.0)),
        ("x * torch.from_numpy(np.random.rand(3))", lambda x: x * torch.from_numpy(np.random.rand(3))),
        ("x * torch.from_numpy(np.random.normal(0, 1, 3))", lambda x: x * torch.from_numpy(np.random.normal(0, 1, 3))),
        (
            "(a := np.arange(3), np.random.shuffle(a), x)[-1]",
            lambda x: (a := np.arange(3), np.random.shuffle(a), x)[-1],
        ),
        ("(a := [1, 2, 3], np.random.shuffle(a), x)[-1]", lambda x: (a := [1, 2, 3], np.random.shuffle(a), x)[-1]),
    ],
)
def test_draws_are_reported_exactly_where_they_break(line: str, draw: Callable[[torch.Tensor], Any]) -> None:
    findings, _ = _findings(HostRandom, _function(f"return {line}\n"))
    torch._dynamo.reset()
    with BreakCollector() as collector, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.compile(draw, backend="eager")(torch.ones(3))
    torch._dynamo.reset()
    assert len(findings) == min(len(collector.break_sites), 1)


_LAYERS = """
    import random
    import numpy as np
    import torch

    class Encoder(torch.nn.Module):
        def __init__(self, often: float):
            super().__init__()
            self.often = often
            self.layers = torch.nn.ModuleList(torch.nn.Linear(4, 4) for _ in range(2))

        def forward(self, x: torch.FloatTensor):
            if random.random() < self.often:
                x = x * 2
            if self.training and random.random() < 1 - self.often:
                x = x + 1
            for layer in self.layers:
                drop = np.random.uniform(0, 1)
                skip = self.training and (drop < self.often)
                if not skip:
                    x = layer(x)
            return x
"""


@pytest.mark.parametrize("often", [0.0, 1.0])
@pytest.mark.parametrize("training", [False, True])
def test_a_draw_that_decides_a_branch_decides_it_as_a_tensor(often: float, training: bool) -> None:
    before = textwrap.dedent(_LAYERS)
    file = SourceFile(Path("encoder.py"), "encoder", before, ast.parse(before))
    outcome = run([file], Config(root=Path()), rules=list(registry.load().values()), allowed=None)
    after = next(change.after for change in outcome.patchset if change.before is not None)
    assert "random.random()" not in after
    assert "np.random" not in after
    results = []
    for text in (before, after):
        space: dict[str, Any] = {"__name__": "encoder"}
        exec(compile(text, "encoder", "exec"), space)
        torch.manual_seed(0)
        encoder = space["Encoder"](often).train(training)
        results.append(encoder(torch.linspace(-1, 1, 12).view(3, 4)))
    assert torch.equal(*results)


def test_an_annotation_that_the_code_contradicts() -> None:
    text = (
        "import numpy as np\nimport torch\n\ndef f(x: torch.Tensor, bounds: list[tuple[float]]):\n"
        "    low, high = bounds{index}\n    return x if np.isinf(low) else x * high\n"
    )
    for index, safe in (("[0]", True), ("[:, 0]", False)):  # no list takes the second
        found = rewritten(Path("/nowhere/program.py"), text.format(index=index), None).findings
        assert [f.fix is not None and not f.fix.assumptions for f in found if f.code == "CF401"] == [safe]


@pytest.mark.parametrize(
    ("read", "breaks"),
    [
        ("np.ceil(np.log(x.shape[0])).astype('int').item()", True),
        ("np.prod(x.shape).item()", True),
        ("np.ceil(np.sqrt(x.shape[0])).item()", False),
    ],
)
def test_a_number_that_numpy_makes_of_a_size_is_told_once(read: str, breaks: bool) -> None:
    text = f"import numpy as np\nimport torch\ndef scaled(x: torch.Tensor):\n    return x * {read}\n"
    found = rewritten(Path("/nowhere/program.py"), text, frozenset()).findings
    assert [(f.code, f.effect == "break") for f in found] == [("CF401", breaks)]
    space: dict[str, Any] = {}
    exec(compile(text, "<program>", "exec"), space)
    torch._dynamo.reset()
    explained = torch._dynamo.explain(space["scaled"])(torch.ones(30, 2))
    assert bool(explained.graph_break_count) is breaks


@pytest.mark.parametrize(
    ("used", "breaks"),
    [
        ("x.mul(n)", False),
        ("x.clone().mul_(0.9**n).add_(x * n)", False),
        ("torch.clamp(x, max=n)", False),
        ("x.masked_fill(x > 1, n)", False),
        ("torch.zeros(n) + x.sum()", True),
    ],
)
def test_a_number_of_numpy_breaks_where_torch_takes_an_integer(used: str, breaks: bool) -> None:
    text = (
        f"import numpy as np\nimport torch\ndef scaled(x: torch.Tensor):\n    n = np.prod(x.shape)\n    return {used}\n"
    )
    found = rewritten(Path("/nowhere/program.py"), text, frozenset()).findings
    assert [(f.code, f.effect == "break") for f in found] == [("CF401", breaks)]
    space: dict[str, Any] = {}
    exec(compile(text, "<program>", "exec"), space)
    torch._dynamo.reset()
    explained = torch._dynamo.explain(space["scaled"])(torch.ones(30, 2))
    assert bool(explained.graph_break_count) is breaks

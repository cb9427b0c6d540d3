"""What the functions of einops give, by their patterns, and that it is so where einops is installed."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from compilefix.analysis.infer import Inference
from compilefix.analysis.values import Value, may_share
from compilefix.source.files import SourceFile
from compilefix.source.project import Project

HEAD = "import torch\nimport numpy as np\nfrom einops import rearrange, reduce, repeat, einsum, pack, unpack\n"
CASES = {
    "rearrange(x, 'a b -> (b a)')": (1, "float"),
    "rearrange(x, 'a b -> b 1 a ()')": (4, "float"),
    "rearrange(x, '... b -> b ...')": (None, "float"),
    "rearrange([x, x], 'k a b -> a (k b)')": (2, "float"),
    "repeat(x, 'a b -> a (b c) d', c=2, d=3)": (3, "float"),
    "repeat(x, '... -> n ...', n=2)": (None, "float"),
    "reduce(x, 'a b -> a', 'mean')": (1, "float"),
    "reduce(x, 'a b ->', 'sum')": (0, "float"),
    "reduce(x.int(), 'a b -> ()', 'sum')": (1, None),
    "einsum(x, x, 'a b, c b -> a c')": (2, "float"),
    "pack([x, x], 'a *')[0]": (None, "float"),
    "unpack(*pack([x, x], 'a *'), 'a *')[0]": (None, None),
}


def value_of(expression: str, parameter: str = "x: torch.FloatTensor") -> tuple[Value, Value]:
    text = f"{HEAD}\ndef f({parameter}):\n    y = {expression}\n    return y\n"
    project = Project([SourceFile(Path("f.py"), "f", text, ast.parse(text))])
    function = next(iter(next(iter(project.modules.values())).all_functions))
    facts = Inference(project).facts(function)
    given = next(n for n in function.of(ast.Name) if n.id == "x" and isinstance(n.ctx, ast.Load))
    result = function.of(ast.Return)[0].value
    assert result is not None
    return facts.value(given), facts.value(result)


@pytest.mark.parametrize("expression", [e for e in CASES if "unpack" not in e])
def test_a_pattern_says_how_many_dimensions(expression: str) -> None:
    given, found = value_of(expression)
    rank, dtype = CASES[expression]
    assert found.is_tensor
    assert (found.rank, found.dtype) == (rank, dtype)
    assert may_share(found.storage, given.storage) or expression.startswith(("einsum", "reduce(x.int()"))


@pytest.mark.parametrize("expression", CASES)
def test_it_is_so(expression: str) -> None:
    einops = pytest.importorskip("einops")
    torch = pytest.importorskip("torch")
    space = {name: getattr(einops, name) for name in ("rearrange", "reduce", "repeat", "einsum", "pack", "unpack")}
    made = eval(expression, {**space, "x": torch.ones(2, 3)})
    rank, dtype = CASES[expression]
    assert rank in (None, made.dim())
    assert dtype is None or made.dtype.is_floating_point


def test_nothing_is_sure_of_what_may_be_an_array() -> None:
    assert not value_of("rearrange(x, 'a b -> b a')", "x")[1].certain
    assert not value_of("rearrange(x, 'a b -> b a')", "x: np.ndarray")[1].is_tensor


def test_results_of_unknown_dtype_are_not_alike() -> None:
    one, other = value_of("reduce(x.int(), 'a b -> a', 'sum')")[1], value_of(" reduce(x.int(), 'a b -> a', 'sum')")[1]
    assert one.dtype_id is not None
    assert one.dtype_id != "int32"
    assert one.dtype_id != other.dtype_id

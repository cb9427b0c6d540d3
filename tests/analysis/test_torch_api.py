"""The table of torch's API against the torch that is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from compilefix.analysis import torch_api
from compilefix.analysis.torch_api import Api

torch = pytest.importorskip("torch")

ROOT = Path(__file__).resolve().parents[2]
SPECIAL = [0.0, 1.0, -1.0, 1e38, -1e38, float("inf"), float("-inf"), float("nan")]


def target(qualified: str) -> Callable[..., Any]:
    """The torch function behind a full name; `Tensor.x` is the method."""
    value: Any = torch
    for part in qualified.removeprefix("torch.").split("."):
        value = getattr(value, part)
    return value  # type: ignore[no-any-return]


def api(qualified: str) -> Api:
    found = torch_api.function(qualified)
    assert found is not None, qualified
    return found


UNARY = [
    *("torch.relu", "torch.exp", "torch.sqrt", "torch.sigmoid", "torch.abs", "torch.neg", "torch.sign", "torch.floor"),
    *("torch.isnan", "torch.isinf", "torch.nan_to_num", "torch.clone", "torch.log", "torch.tanh", "torch.sin"),
    *("torch.reciprocal", "torch.rsqrt", "torch.square", "torch.round", "torch.logical_not", "torch.special.exp2"),
    *("torch.nn.functional.relu", "torch.nn.functional.gelu", "torch.nn.functional.silu", "torch.nn.functional.elu"),
    *("torch.nn.functional.leaky_relu", "torch.nn.functional.hardtanh", "torch.Tensor.abs", "torch.Tensor.erf"),
    *("torch.Tensor.detach", "torch.Tensor.cos", "torch.Tensor.__neg__", "torch.Tensor.isfinite"),
]
REDUCTIONS = ["sum", "mean", "amax", "amin", "argmax", "any", "all", "std", "var", "median", "logsumexp", "prod"]
BINARY = ["add", "sub", "mul", "true_divide", "maximum", "minimum", "pow", "atan2", "gt", "eq", "logical_and"]


def expected_dtypes(rule: str, dtype: Any) -> Any:
    """The dtype that a rule of one operand gives."""
    if rule in ("same", "promote"):
        return dtype
    if rule in ("float", "promote_float"):
        return dtype if dtype.is_floating_point else torch.float32
    if rule == "numeric":
        return torch.int64 if dtype is torch.bool else dtype
    if rule == "sum":
        return dtype if dtype.is_floating_point else torch.int64
    return getattr(torch, rule)


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int64"])
def test_unary_functions_keep_rank_and_follow_their_dtype_rule(name: str, dtype: str) -> None:
    fact, values = api(name), torch.tensor([[1, 2], [3, 4]], dtype=getattr(torch, dtype))
    try:
        result = target(name)(values)
    except (RuntimeError, TypeError):
        assert not values.dtype.is_floating_point, "floats must work"
        return
    assert (fact.returns, fact.rank, fact.pointwise) == ("Tensor", "same", True)
    assert result.dim() == 2
    assert result.dtype is expected_dtypes(fact.dtype, values.dtype)


@pytest.mark.parametrize("name", UNARY)
def test_zero_gradient_and_linear_claims_hold(name: str) -> None:
    fact = api(name)
    leaf = torch.tensor(SPECIAL, requires_grad=True)
    result = target(name)(leaf)
    assert fact.total
    if not result.requires_grad:
        assert not fact.differentiable
        return
    (zero,) = torch.autograd.grad(result, leaf, torch.zeros_like(result), retain_graph=True)
    # The table also measures float16 and vectorised sizes, so it may be stricter than this test, never looser.
    assert bool((zero == 0).all()) or not fact.zero_grad_safe
    (one,) = torch.autograd.grad(result, leaf, torch.ones_like(result))
    assert fact.linear == bool((one == one[0]).all())


def test_zero_gradient_facts_that_rules_rest_on() -> None:
    safe = ("relu", "abs", "neg", "nan_to_num", "clamp", "sum", "mean", "where", "masked_fill", "add", "cat")
    unsafe = ("exp", "sqrt", "log", "reciprocal", "rsqrt", "sigmoid", "tanh", "sin", "norm", "matmul", "pow")
    assert all(api(f"torch.{name}").zero_grad_safe for name in safe)
    assert not any(api(f"torch.{name}").zero_grad_safe for name in unsafe)
    assert not api("torch.mul").zero_grad_safe_tensors


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_reduce(name: str) -> None:
    fact, values = torch_api.method(name), torch.rand(2, 3, 4)
    assert fact is not None
    assert fact.rank == "reduce"
    if name != "logsumexp":
        assert getattr(values, name)().dim() == 0
    reduced = getattr(values, name)(dim=1)
    if fact.returns_with_dim is not None:
        assert fact.kind(with_dim=True) == ("Tensor",) * len(reduced)
        reduced = reduced[0]
    assert reduced.dim() == 2
    assert reduced.dtype is expected_dtypes(fact.dtype, values.dtype)


@pytest.mark.parametrize("name", BINARY)
def test_binary_functions_broadcast_and_promote(name: str) -> None:
    fact, function = api(f"torch.{name}"), target(name)
    assert (fact.returns, fact.rank, fact.pointwise, fact.total) == ("Tensor", "broadcast", True, True)
    assert function(torch.rand(2, 1), torch.rand(3)).shape == (2, 3)
    for left, right in ((torch.float32, torch.float64), (torch.int64, torch.float32), (torch.int32, torch.int64)):
        result = function(torch.ones(2, dtype=left), torch.ones(2, dtype=right))
        assert result.dtype is expected_dtypes(fact.dtype, torch.promote_types(left, right))


@pytest.mark.parametrize("name", BINARY)
def test_zero_gradient_of_two_tensors(name: str) -> None:
    values = torch.tensor(SPECIAL)
    left = values.repeat_interleave(len(values)).requires_grad_()
    right = values.repeat(len(values)).requires_grad_()
    result = target(name)(left, right)
    safe = True
    if result.requires_grad:
        found = torch.autograd.grad(result, (left, right), torch.zeros_like(result))
        safe = all(bool((grad == 0).all()) for grad in found)
    # Float16 is measured too, so the table may be stricter than this test, never looser.
    assert safe or not api(f"torch.{name}").zero_grad_safe_tensors


RANDOM: list[tuple[str, Callable[[], Any]]] = [
    ("torch.rand", lambda: torch.rand(3)),
    ("torch.randn_like", lambda: torch.randn_like(torch.ones(3))),
    ("torch.bernoulli", lambda: torch.bernoulli(torch.full((3,), 0.5))),
    ("torch.multinomial", lambda: torch.multinomial(torch.ones(3), 1)),
    ("torch.nn.functional.gumbel_softmax", lambda: torch.nn.functional.gumbel_softmax(torch.ones(3))),
    ("torch.nn.init.normal_", lambda: torch.nn.init.normal_(torch.ones(3))),
    ("torch.Tensor.normal_", lambda: torch.ones(3).normal_()),
    ("torch.zeros", lambda: torch.zeros(3)),
    ("torch.exp", lambda: torch.exp(torch.ones(3))),
    ("torch.nn.init.zeros_", lambda: torch.nn.init.zeros_(torch.ones(3))),
]


@pytest.mark.parametrize(("name", "call"), RANDOM, ids=[name for name, _ in RANDOM])
def test_random_means_that_the_generator_moves(name: str, call: Callable[[], Any]) -> None:
    state = torch.get_rng_state()
    call()
    moved = not torch.equal(state, torch.get_rng_state())
    torch.set_rng_state(state)
    assert api(name).random == moved


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", ["dropout", "rrelu", "alpha_dropout"])
def test_random_in_training_only(name: str, training: bool) -> None:
    fact = api(f"torch.nn.functional.{name}")
    assert fact.random_training
    assert not fact.random
    state = torch.get_rng_state()
    target(f"nn.functional.{name}")(-torch.ones(3), training=training)
    moved = not torch.equal(state, torch.get_rng_state())
    torch.set_rng_state(state)
    assert moved == training


@pytest.mark.parametrize(
    "name", ["add_", "mul_", "clamp_", "zero_", "copy_", "__iadd__", "add", "clamp", "__add__", "abs"]
)
def test_mutates_means_that_the_version_moves(name: str) -> None:
    values, fact = torch.ones(3), torch_api.method(name)
    arguments = () if name in ("zero_", "abs") else (2.0,) if "clamp" in name else (torch.ones(3),)
    result = getattr(values, name)(*arguments)
    assert fact is not None
    assert fact.mutates == (values._version > 0)
    assert fact.view == (result.data_ptr() == values.data_ptr())


@pytest.mark.parametrize(
    "name", ["transpose", "unsqueeze", "view", "expand", "narrow", "select", "unbind", "detach", "T"]
)
def test_views_share_memory(name: str) -> None:
    arguments: dict[str, tuple[int, ...]] = {
        "transpose": (0, 1), "unsqueeze": (0,), "view": (6,), "expand": (2, 3), "narrow": (0, 0, 1), "select": (0, 0),
    }  # fmt: skip
    values, fact = torch.rand(2, 3), torch_api.method(name)
    assert fact is not None
    assert fact.view
    member = getattr(values, name)
    result = member if fact.attribute else member(*arguments.get(name, ()))
    first = result[0] if fact.returns == "list" else result
    assert first.untyped_storage().data_ptr() == values.untyped_storage().data_ptr()


def test_host_reads_and_dynamic_shapes() -> None:
    host = {
        name for name in ("item", "tolist", "numpy", "__bool__", "equal", "allclose", "is_nonzero") if known(name).host
    }
    assert host == {"item", "tolist", "numpy", "__bool__", "equal", "allclose", "is_nonzero"}
    assert not any(known(name).host for name in ("dim", "size", "numel", "is_floating_point", "shape", "sum"))
    assert all(known(name).dynamic for name in ("nonzero", "unique", "masked_select", "bincount"))
    assert known("__getitem__").dynamic_form == "bool_mask"
    assert api("torch.where").dynamic_form == "one_argument"


def known(name: str) -> Api:
    found = torch_api.method(name)
    assert found is not None, name
    return found


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("torch.linalg.cholesky", lambda: torch.linalg.cholesky(torch.zeros(2, 2))),
        ("torch.index_select", lambda: torch.index_select(torch.ones(2), 0, torch.tensor([5]))),
        ("torch.gather", lambda: torch.gather(torch.ones(2), 0, torch.tensor([5]))),
        ("torch.floor_divide", lambda: torch.floor_divide(torch.tensor(1), torch.tensor(0))),
        ("torch.remainder", lambda: torch.remainder(torch.tensor(1), torch.tensor(0))),
        ("torch.nn.functional.one_hot", lambda: torch.nn.functional.one_hot(torch.tensor([-1]))),
        ("torch.amax", lambda: torch.amax(torch.ones(0))),
        ("torch.max", lambda: torch.max(torch.ones(0))),
    ],
)
def test_what_raises_on_values_is_not_total(name: str, call: Callable[[], Any]) -> None:
    with pytest.raises((RuntimeError, IndexError, ZeroDivisionError)):
        call()
    assert not api(name).total


def test_order_of_values_is_no_constant_derivative() -> None:
    assert not any(api(f"torch.{name}").linear for name in ("sort", "maximum", "mul", "median", "cummax", "sqrt"))
    assert all(api(f"torch.{name}").linear for name in ("add", "cat", "flip", "where", "masked_fill", "sum"))


def test_return_kinds_differ_with_dim() -> None:
    assert known("max").kind() == "Tensor"
    assert known("max").kind(with_dim=True) == ("Tensor", "Tensor")
    assert (known("size").kind(), known("size").kind(with_dim=True)) == ("size", "int")
    assert api("torch.topk").returns == ("Tensor", "Tensor")
    assert api("torch.chunk").returns == "list"


@pytest.mark.parametrize("name", ["float", "half", "double", "int", "long", "bool", "bfloat16"])
def test_casts(name: str) -> None:
    assert torch_api.dtype_name(f"torch.{name}") == known(name).dtype
    leaf = torch.ones(2, requires_grad=True)
    result = getattr(leaf, name)()
    assert result.dtype is getattr(torch, known(name).dtype)
    assert known(name).differentiable == known(name).linear == result.requires_grad


def test_modules() -> None:
    found = {
        name: torch_api.module(f"torch.nn.{name}") for name in ("ReLU", "Dropout", "BatchNorm2d", "LSTM", "Linear")
    }
    facts = {name: fact for name, fact in found.items() if fact is not None}
    assert facts.keys() == found.keys()
    assert facts["ReLU"].zero_grad_safe
    assert facts["ReLU"].pointwise
    assert facts["Dropout"].random_training
    assert not facts["Linear"].random_training
    assert facts["BatchNorm2d"].mutates_training
    assert not facts["Linear"].mutates_training
    assert facts["LSTM"].returns == ("Tensor", "list")
    assert torch_api.module("torch.nn.modules.linear.Linear") == facts["Linear"]
    assert torch_api.module("torch.nn.Sequential") is None


def test_names_and_aliases() -> None:
    assert torch_api.is_dtype("torch.float32")
    assert not torch_api.is_dtype("torch.relu")
    assert torch_api.dtype_name("torch.half") == "float16"
    assert torch_api.constant("torch.pi") == "float"
    assert torch_api.function("torch.Tensor.item") == known("item")
    assert torch_api.function("torch.functional.einsum") == api("torch.einsum")
    assert torch_api.function("torch.no_such_function") is None
    assert torch_api.method("no_such_method") is None


def test_tensor_only_names_are_on_no_other_type() -> None:
    only = torch_api.TENSOR_ONLY_METHODS
    assert {"unsqueeze", "detach", "requires_grad", "masked_fill", "permute", "new_zeros"} <= only
    numpy = pytest.importorskip("numpy")
    for other in (numpy.ndarray, list, dict, str, set, torch.nn.Module, torch.Size, torch.Generator):
        assert not only & set(dir(other)), other
    assert not only & {"view", "size", "shape", "dtype", "to", "float", "sum", "item", "dim", "device", "relu", "grad"}


def test_reading_the_table_imports_no_torch() -> None:
    code = (
        "import sys; from compilefix.analysis import torch_api; torch_api.function('torch.add');"
        "sys.exit('torch' in sys.modules or 'numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script that builds the table."""
    spec = importlib.util.spec_from_file_location("build_torch_api", ROOT / "scripts" / "build_torch_api.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_what_the_memory_held_is_no_measurement(script: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two results without values may be alike by chance, as zeroed memory is; the table does not hang on that."""
    monkeypatch.setattr(script, "elementwise", lambda calls: True)
    overloads = script.aten_overloads()
    assert script.describe("relu", torch.relu, overloads["relu"], [])["pointwise"]
    assert "pointwise" not in script.describe("empty_like", torch.empty_like, overloads["empty_like"], [])


@pytest.mark.slow
def test_regenerating_gives_the_same_table(script: ModuleType) -> None:
    installed = torch.__version__.partition("+")[0]
    if installed != torch_api.table_version():
        pytest.skip(f"the table describes torch {torch_api.table_version()}, installed is {installed}")
    assert script.build() == torch_api.TABLE.read_text(encoding="utf-8")


def test_a_gradient_flows_where_torch_lets_one_flow() -> None:
    """Not every probe succeeds: a target of `soft_margin_loss` may need no gradient, and no size be zero."""
    x, w = torch.ones(1, 2, 4, requires_grad=True), torch.ones(1)
    results = {
        "torch.nn.functional.prelu": torch.nn.functional.prelu(x, w),
        "torch.nn.functional.soft_margin_loss": torch.nn.functional.soft_margin_loss(x, torch.ones(1, 2, 4)),
        "torch.nn.functional.adaptive_avg_pool1d": torch.nn.functional.adaptive_avg_pool1d(x, 2),
        "torch.nn.functional.adaptive_max_pool1d": torch.nn.functional.adaptive_max_pool1d(x, 2),
        "torch.igamma": torch.igamma(torch.ones(4), x),
        "torch.vander": torch.vander(x[0, 0]),
        "torch.linalg.tensorsolve": torch.linalg.tensorsolve(torch.eye(2), x[0, 0, :2]),
    }
    for name, result in results.items():
        assert result.requires_grad, name
        api = torch_api.function(name)
        assert api is not None, name
        assert api.differentiable, name
    for name in ("PReLU", "SoftMarginLoss", "AdaptiveAvgPool1d", "AdaptiveMaxPool1d"):
        module = torch_api.module(f"torch.nn.{name}")
        assert module is not None, name
        assert module.differentiable, name
    for name in ("bitwise_and", "argmax", "floor_divide", "sign"):
        api = torch_api.function(f"torch.{name}")
        assert api is not None, name
        assert not api.differentiable or name == "sign", name


def test_what_moves_elements_is_not_pointwise() -> None:
    for name in ("movedim", "moveaxis", "sum_to_size"):
        api = torch_api.method(name)
        assert api is not None
        assert not api.pointwise
    taken = torch_api.method("take")
    assert taken is not None
    assert torch.ones(2, 2).take(torch.tensor([0])).dim() == 1
    assert taken.rank == "unknown"

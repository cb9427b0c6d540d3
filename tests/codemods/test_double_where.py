"""What `double_where` puts in place of an operand gives a finite derivative, and the gradient of zero stays zero."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

from compilefix.codemods.double_where import _KEEP_INTEGERS, SAFE_POINTS  # noqa: E402

NAMESPACES = (torch, torch.nn.functional, torch.linalg, torch.Tensor)


def _forms(name: str) -> list[Callable[..., torch.Tensor]]:
    arguments = {"softmax": (0,), "log_softmax": (0,), "logsumexp": (0,)}.get(name, ())
    found = [getattr(space, name) for space in NAMESPACES if hasattr(space, name)]
    return [lambda x, form=form: form(x, *arguments) for form in found]


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32, torch.float64])
@pytest.mark.parametrize("name", SAFE_POINTS)
def test_the_derivative_is_finite_at_the_safe_point(name: str, dtype: torch.dtype) -> None:
    forms = _forms(name)
    assert forms
    for form in forms:
        x = torch.full((3,), SAFE_POINTS[name], dtype=dtype, requires_grad=True)
        (gradient,) = torch.autograd.grad(form(x).sum(), x)
        assert torch.isfinite(gradient).all()


@pytest.mark.parametrize("name", SAFE_POINTS)
@pytest.mark.parametrize("value", [0.0, -1.0, 1.0, 2.0, 1e30, float("inf"), -float("inf"), float("nan")])
def test_the_side_not_taken_passes_a_gradient_of_zero(name: str, value: float) -> None:
    for form in _forms(name):
        x = torch.tensor([value, 0.5], requires_grad=True)
        no = torch.tensor(False)
        kept = form(torch.where(no, x, SAFE_POINTS[name]))
        torch.where(no, kept, x.new_zeros(())).sum().backward()
        assert x.grad is not None
        assert torch.equal(x.grad, torch.zeros(2))


@pytest.mark.parametrize("value", [0.0, float("inf"), float("nan")])
def test_one_where_alone_would_not_do(value: float) -> None:
    x = torch.tensor([value], requires_grad=True)
    torch.where(torch.tensor(False), x.sqrt() / x, x * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.isnan().all()


@pytest.mark.parametrize(
    "dtype",
    [torch.bool, torch.uint8, torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.float32, torch.float64],
)
@pytest.mark.parametrize("name", [name for name in SAFE_POINTS if name not in _KEEP_INTEGERS])
def test_a_number_in_the_place_of_an_operand_keeps_the_result(name: str, dtype: torch.dtype) -> None:
    x = torch.tensor([0, 1, 2, 7, 2**24 + 1, 2**40 + 1]).to(dtype)
    for form in _forms(name):
        taken = form(torch.where(torch.tensor(True), x, SAFE_POINTS[name]))
        other = form(torch.where(torch.tensor(False), x, SAFE_POINTS[name]))
        assert taken.dtype == other.dtype == form(x).dtype
        assert torch.equal(taken.nan_to_num(nan=-3.0), form(x).nan_to_num(nan=-3.0))

"""Why a number may be read from a tensor that is then multiplied by it in place: the backward pass keeps the number."""

from __future__ import annotations

from collections.abc import Callable

import pytest

torch = pytest.importorskip("torch")

READS: tuple[Callable[..., torch.Tensor], ...] = (
    torch.max,
    torch.sum,
    torch.mean,
    torch.norm,
    lambda x: x.reshape(-1)[0] * 2,
    lambda x: (x > 1).any().float() * 4,
)


@pytest.mark.parametrize("read", READS)
@pytest.mark.parametrize(("size", "backend"), [(1, "aot_eager"), (2, "aot_eager"), (5, "aot_eager"), (2, "inductor")])
def test_the_gradient_is_that_of_the_number_as_it_was(
    read: Callable[..., torch.Tensor], size: int, backend: str
) -> None:
    def as_written(x: torch.Tensor) -> torch.Tensor:
        scale = 1.0 if read(x) <= 1.0 else 255.0
        return x.float().div_(scale).sin()

    def rewritten(x: torch.Tensor) -> torch.Tensor:
        scale = torch.where(read(x) <= 1.0, 1.0, 255.0)
        return x.float().div_(scale).sin()

    gradients = []
    torch._dynamo.reset()
    for function in (as_written, torch.compile(rewritten, backend=backend)):
        leaf = torch.full((size,), 2.0, requires_grad=True)
        function(leaf * 3).sum().backward()
        gradients.append(leaf.grad)
    torch.testing.assert_close(*gradients)

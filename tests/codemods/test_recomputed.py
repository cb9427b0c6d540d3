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


class Counting(torch.nn.Module):
    """Selects by a buffer that the graph writes into, before it reads it, after it, or in a caller."""

    def __init__(self, order: str) -> None:
        super().__init__()
        self.order = order
        self.register_buffer("calls", torch.zeros(()))

    def chosen(self, x: torch.Tensor, limit: float) -> torch.Tensor:
        if self.order == "before":
            self.calls.add_(1.0)
        y = torch.where(self.calls > limit, x * 2, x * 3)
        if self.order == "after":
            self.calls.add_(1.0)
        return y

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.chosen(torch.exp(x), 1.5 if self.order == "before" else 0.5)
        if self.order == "caller":
            self.calls.add_(1.0)
        return torch.exp(y)


@pytest.mark.skipif(not torch.__version__.startswith("2.13."), reason="a fault of PyTorch that may be mended")
@pytest.mark.parametrize("order", ["before", "after", "caller"])
def test_a_buffer_that_is_written_gives_a_wrong_gradient(order: str) -> None:
    """Why a written buffer needs `no-recompute`, wherever in the graph it is written."""
    gradients = []
    torch._dynamo.reset()
    for module in (Counting(order), torch.compile(Counting(order), backend="aot_eager")):
        leaf = torch.tensor([1.0, 0.5], requires_grad=True)
        module(leaf).sum().backward()
        gradients.append(leaf.grad)
    assert not torch.allclose(*gradients)

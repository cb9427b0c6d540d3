"""What inductor makes of operations on a tensor that has a number read from another one as a size.

    python benchmarks/symbol_sizes.py [--device cuda] [--only NAME ...]

Each operation is done on a slice `x[:, :n]` behind checks of `n`, forward and backward, and compared with eager for
several `n`; the views are made of a tensor of `n` rows. Others are done on such a tensor itself, and on the rows
`x[mask]`. The flags that capture scalars and dynamic shapes are on. What fails or is wrong here is what CF201, CF205
and CF506 leave alone (`codemods/unknown_rows.py`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

_LENGTHS = ([2, 5, 3], [7, 1, 2], [4, 2, 2], [1, 1, 1])


@dataclass(frozen=True)
class Case:
    """A slice `y` of `x` up to `n`, the largest of the lengths, and the layers that it may be given to."""

    y: Tensor
    n: int
    x: Tensor
    lengths: Tensor
    layers: torch.nn.ModuleDict


_Operation = Callable[[Case], Tensor]

LAYERS: Mapping[str, _Operation] = {
    "linear": lambda c: c.layers["linear"](c.y),
    "layer norm": lambda c: c.layers["norm"](c.y),
    "batch norm": lambda c: c.layers["batch"](c.y.transpose(1, 2)),
    "recurrent layer": lambda c: c.layers["gru"](c.y)[0],
    "multi-head attention": lambda c: c.layers["heads"](c.y, c.y, c.y, need_weights=False)[0],
    "convolution, one dimension": lambda c: c.layers["conv1"](c.y.transpose(1, 2)),
    "convolution, two dimensions": lambda c: c.layers["conv2"](c.y.transpose(1, 2)[..., None].expand(-1, -1, -1, 4)),
    "scaled_dot_product_attention": lambda c: functional.scaled_dot_product_attention(c.y, c.y, c.y),
    "attention by hand": lambda c: torch.softmax(c.y @ c.y.transpose(1, 2), -1) @ c.y,
}
OPERATIONS: Mapping[str, _Operation] = LAYERS | {
    "sum": lambda c: c.y.sum(1),
    "sum over n": lambda c: c.y.sum(1) / c.n,
    "mean": lambda c: c.y.mean(1),
    "amax": lambda c: c.y.amax(1),
    "max": lambda c: c.y.max(1)[0],
    "median": lambda c: c.y.median(1)[0],
    "std": lambda c: c.y.std(1),
    "norm": lambda c: c.y.norm(dim=1),
    "prod": lambda c: c.y.prod(1),
    "logsumexp": lambda c: c.y.logsumexp(1),
    "softmax": lambda c: torch.softmax(c.y, 1),
    "cumsum": lambda c: c.y.cumsum(1),
    "sort": lambda c: c.y.sort(1)[0],
    "topk": lambda c: c.y.topk(1, 1)[0],
    "flip": lambda c: c.y.flip(1),
    "roll": lambda c: c.y.roll(1, 1),
    "cat": lambda c: torch.cat([c.y, c.y], 1),
    "stack": lambda c: torch.stack([c.y, c.y], 1),
    "pad": lambda c: functional.pad(c.y, (0, 0, 1, 1)),
    "pad to the whole": lambda c: functional.pad(c.y, (0, 0, 0, c.x.size(1) - c.n)),
    "unfold": lambda c: c.y.unfold(1, 1, 1),
    "permute": lambda c: c.y.permute(1, 0, 2) * 2,
    "repeat": lambda c: c.y.repeat(1, 2, 1),
    "expand": lambda c: c.y[:, None].expand(-1, 2, -1, -1) * 1.0,
    "interpolate": lambda c: functional.interpolate(c.y.transpose(1, 2), size=5),
    "max_pool1d": lambda c: functional.max_pool1d(c.y.transpose(1, 2), 2),
    "adaptive_avg_pool1d": lambda c: functional.adaptive_avg_pool1d(c.y.transpose(1, 2), 1),
    "index": lambda c: c.y[:, -1],
    "slice again": lambda c: c.y[:, 1:],
    "index_copy": lambda c: torch.zeros_like(c.x).index_copy(1, torch.arange(c.n, device=c.x.device), c.y),
    "mask by arange": lambda c: c.y.masked_fill(
        (torch.arange(c.n, device=c.x.device)[None] >= c.lengths[:, None])[..., None], 0.0
    ),
    "embedding of arange": lambda c: c.y + c.layers["embedding"](torch.arange(c.n, device=c.x.device)),
    "cross_entropy": lambda c: functional.cross_entropy(
        c.y.transpose(1, 2), torch.zeros(3, c.n, dtype=torch.long, device=c.x.device)
    ),
    "mse_loss": lambda c: functional.mse_loss(c.y, torch.zeros_like(c.y)),
    "product": lambda c: (c.y @ c.y.transpose(1, 2)) @ c.y,
    "triangle of a product": lambda c: (c.y @ c.y.transpose(1, 2)).tril(),
    "einsum": lambda c: torch.einsum("bnd,bmd->bnm", c.y, c.y),
    "cdist": lambda c: torch.cdist(c.y, c.y),
    "rfft": lambda c: torch.fft.rfft(c.y, dim=1).abs(),
    "group_norm": lambda c: functional.group_norm(c.y.transpose(1, 2), 2),
}
VIEWS: Mapping[str, Callable[[Tensor], Tensor]] = {
    "view(-1, 8)": lambda z: z.view(-1, 8),
    "view(-1)": lambda z: z.view(-1),
    "view(-1, 2, 4)": lambda z: z.view(-1, 2, 4),
    "view(3, -1, 2, 4)": lambda z: z.view(3, -1, 2, 4),
    "flatten(0, 1)": lambda z: z.flatten(0, 1),
    "view(-1, 4)": lambda z: z.view(-1, 4),
    "view(-1, 2)": lambda z: z.view(-1, 2),
}
MADE: Mapping[str, Callable[[Tensor], Tensor]] = {
    "made: einsum": lambda z: torch.einsum("nd,md->nm", z, z),
    "made: bmm": lambda z: torch.bmm(z[None].expand(2, -1, -1), torch.ones(2, 8, 3, device=z.device)),
    "made: conv1d": lambda z: functional.conv1d(z.t()[None], torch.ones(4, 8, 1, device=z.device)),
    "made: prod": lambda z: z.prod(0),
    "made: cumsum": lambda z: z.cumsum(0),
    "made: sum": lambda z: z.sum(0),
}
SELECTED: Mapping[str, Callable[[Tensor], Tensor]] = {
    "selected: view(-1, 4)": lambda z: z.view(-1, 4) * 1,
    "selected: view(-1, 2, 4)": lambda z: z.view(-1, 2, 4) * 1,
    "selected: conv1d": lambda z: functional.conv1d(z.t()[None], torch.ones(4, 8, 1, device=z.device)),
    "selected: prod": lambda z: z.prod(0),
    "selected: sum": lambda z: z.sum(0),
}


def outcome(name: str, device: str) -> str:
    """What becomes of an operation or a view: `same`, `wrong` or the error of the compiler."""
    torch._dynamo.reset()
    torch.manual_seed(0)
    modules = _modules().to(device)

    def operate(x: Tensor, lengths: Tensor) -> Tensor:
        if name in SELECTED:
            return SELECTED[name](x[0][torch.arange(7, device=device) < lengths.max()])
        n = int(lengths.max())
        if name in MADE:
            return MADE[name](torch.zeros(n, 8, device=device) + x[0, :1])
        if name in VIEWS:
            return VIEWS[name](torch.zeros(3, n, 8, device=device) + x[:, :1])
        torch._check(n >= 0)
        torch._check(n <= x.size(1))
        return OPERATIONS[name](Case(x[:, :n], n, x, lengths, modules))

    compiled = torch.compile(operate)
    found = "same"
    for numbers in _LENGTHS:
        x, lengths = torch.randn(3, 7, 8, device=device), torch.tensor(numbers, device=device)
        try:
            expected = _run(operate, x, lengths)
        except RuntimeError:
            continue  # the operation takes no tensor that short
        try:
            got = _run(compiled, x, lengths)
        except Exception as error:  # whatever a compiler raises is the result
            return f"fails: {str(error).strip().splitlines()[0][:90]}"
        close = all(
            a.shape == b.shape and torch.allclose(a, b, atol=1e-4, equal_nan=True)
            for a, b in zip(expected, got, strict=True)
        )
        found = found if close else "wrong"
    return found


def _run(function: Callable[[Tensor, Tensor], Tensor], x: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
    given = x.clone().requires_grad_()
    result = function(given, lengths)
    weights = torch.linspace(0.5, 1.5, result.numel(), device=result.device).reshape(result.shape)
    (result.float().pow(2) * weights).sum().backward()  # another gradient for each element
    assert given.grad is not None
    return result.detach(), given.grad


def _modules() -> torch.nn.ModuleDict:
    return torch.nn.ModuleDict(
        {
            "linear": torch.nn.Linear(8, 8),
            "norm": torch.nn.LayerNorm(8),
            "batch": torch.nn.BatchNorm1d(8),
            "gru": torch.nn.GRU(8, 8, batch_first=True),
            "heads": torch.nn.MultiheadAttention(8, 2, batch_first=True),
            "conv1": torch.nn.Conv1d(8, 8, 3, padding=1),
            "conv2": torch.nn.Conv2d(8, 8, 3, padding=1),
            "embedding": torch.nn.Embedding(10, 8),
        }
    )


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--only", nargs="*", help="names of operations and views")
    options = parser.parse_args()
    torch._dynamo.config.capture_scalar_outputs = True
    torch._dynamo.config.capture_dynamic_output_shape_ops = True
    print(f"torch {torch.__version__}, {options.device}, inductor")
    for name in options.only or (*OPERATIONS, *VIEWS, *MADE, *SELECTED):
        print(f"{name}: {outcome(name, options.device)}", flush=True)


if __name__ == "__main__":
    main()

# ruff: noqa: E501
"""What the analysis claims of a value is never contradicted by running the code."""

from __future__ import annotations

import ast
import itertools
import math
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

np = pytest.importorskip("numpy")
torch = pytest.importorskip("torch")

from compilefix.analysis.infer import Inference  # noqa: E402
from compilefix.analysis.values import Kind, Value  # noqa: E402
from compilefix.source.files import SourceFile  # noqa: E402
from compilefix.source.project import Project  # noqa: E402

EXPRESSIONS = """
x + 1 | x + 1.5 | x * 2 | x / 2 | 2 / x | x // 2 | x % 2 | x ** 2 | x ** 0.5 | -x | ~m | abs(x) | x @ x | x + y | x * y | x / y | x - y | y + x
x * m | m + m | m * 2 | m & m | x > 0 | x == y | x * s | s * x | s + s | x.float() + s.double() | s.half() * x | x.float().sum() + s.double() | x + True
x.sum() | x.sum(0) | x.sum(-1, keepdim=True) | x.sum(()) | x.sum([]) | x.sum((0,)) | x.sum(None) | x.sum(dim=None) | x.sum(dtype=torch.float64) | m.sum() | m.any()
m.any(()) | m.all(dim=()) | m.any((), keepdim=True) | x.amax(()) | x.sum((), keepdim=True)
x.any(0) | x.all() | x.mean() | x.float().mean(0) | x.float().mean(()) | x.max() | x.min() | x.amax(()) | x.amax(0) | x.argmax() | x.argmax(0) | x.float().norm()
x.float().norm(2) | x.float().norm(1) | x.float().norm(2, 0) | torch.norm(x.float(), 2) | torch.linalg.norm(x.float(), 2) | torch.linalg.vector_norm(x.float(), 2)
x.float().std() | x.float().std(False) | x.float().std(0) | x.float().var(unbiased=False) | x.prod() | x.prod(0) | x.cumsum(0) | x.cumprod(0) | x.float().logsumexp(0)
x.float().quantile(0.5) | torch.quantile(x.float(), 0.5) | x.float().median() | x.float().nanmedian() | x.float().nansum() | torch.count_nonzero(x) | x.count_nonzero(0)
torch.dist(x.float(), x.float()) | torch.dot(x, x) | torch.sum(input=x, dim=0) | torch.max(x, y) | torch.maximum(x, y) | torch.minimum(x, s) | x.sort(0)[0]
x.float() | x.double() | x.half() | x.bfloat16() | x.long() | x.int() | x.bool() | x.to(torch.float16) | x.to(y) | x.to(y.dtype) | x.to("cpu") | x.type(torch.int32) | x.type_as(y)
x.to(x.device) | x.to("cpu", torch.float64) | x.to(dtype=torch.int64) | x.view(torch.uint8) | x.float().view(torch.int32) | x.clone() | x.detach() | x.contiguous() | x.data
x.view(-1) | x.view(1, -1) | x.view(n) | x.view(()) | x.reshape(n) | x.reshape(-1) | x.reshape(()) | x.reshape(x.shape) | x.reshape(*n) | x.expand(n) | x.expand(2, -1) | x.repeat(2)
x.repeat(2, 1) | x.unsqueeze(0) | x.squeeze() | x.squeeze(0) | x.flatten() | x.flatten(0) | x.t() | x.T | x.mT | x.transpose(0, -1) | x.permute(*range(x.dim())) | x.movedim(0, -1)
x[0] | x[1] | x[-1] | x[:, 0] | x[:, 1] | x[..., 1] | x[0, ...] | x[0, :] | x[..., 0, :] | x[..., 1, :] | x[:, :1] | x[:, 1:] | x[:, 1:2] | x[::2] | x[1::2] | x[0, None] | x[..., None, 0] | x[:]
torch.zeros(x.shape) | torch.ones(x.size()) | x.new_zeros(x.shape[:-1]) | torch.zeros(x.shape[1:]) | torch.full(x.shape[:1], 2) | torch.zeros(*x.shape) | torch.zeros(x.shape + (1,)) | torch.zeros(list(x.shape)) | torch.zeros(tuple(x.shape)) | torch.zeros(x.shape * 2)
torch.zeros(x.shape[::-1]) | torch.zeros(sorted(x.shape)) | torch.zeros(tuple(reversed(x.shape))) | y.expand(x.shape) | y.new_zeros(size=x.shape) | torch.zeros(x.shape[-1:]) | torch.zeros(x.size()[:-1]) | torch.reshape(x * 2, x.shape) | x.T.reshape(x.shape) | y.repeat(x.shape)
x.unbind(-1)[0] | x.unbind(-1)[1] | x.unbind(dim=0)[0] | x.unbind()[1] | torch.unbind(x, 1)[0] | x.sum(1) | x.amax(dim=-1) | x.mean(-1, keepdim=True) | x.any(1, True) | x.argmax(-1) | x.max(-1)[0] | x.max(dim=-1).indices
torch.meshgrid(x.view(-1), y.view(-1).to(x.dtype), indexing="ij")[0] | torch.meshgrid(x.view(-1), y.view(-1).to(x.dtype))[1] | torch.broadcast_tensors(x, y)[0] | torch.broadcast_tensors(x, y)[1] | torch.broadcast_tensors(x, s)[1]
x[0] | x[None] | x[..., None] | x[..., 0] | x[:1] | x[m] | x[x > 0] | x[0:1, 0] | x[-1:] | x[[0]] | x[torch.tensor(0)] | x[()] | x[...] | x[True] | x[None, None]
torch.zeros(n) | torch.zeros(()) | torch.zeros(2, 3) | torch.zeros(x.shape) | torch.zeros(*n) | torch.ones(3, dtype=torch.int64) | torch.full(n, 1.5) | torch.full((), 2) | torch.full((2,), True)
torch.arange(3) | torch.arange(0, 1, 0.5) | torch.arange(3.0) | torch.linspace(0, 1, 3) | torch.eye(2) | torch.tensor(1) | torch.tensor(1.5) | torch.tensor(True) | torch.tensor([1, 2])
torch.zeros(1) | torch.ones(1, 1) | torch.zeros((1,)) | torch.rand([1, 1]) | torch.full((1,), 2) | torch.full((1, 2), 1.0) | torch.full([1], x.dim()) | torch.zeros(1, 2)
torch.tensor([3]) | torch.as_tensor([[3.5]]) | torch.tensor([x.dim()]) | torch.tensor([n]) | torch.tensor([*n]) | torch.zeros(1) + x | torch.zeros(1) * 2 > 1 | torch.tensor([True]) & m
torch.zeros(1).clone()[0] | torch.zeros(1)[None] | torch.zeros(1).expand(3) | torch.zeros(1).repeat(2) | torch.ones(1).unsqueeze(0) | torch.zeros(1)[:0] | torch.cat([torch.zeros(1)] * 2)
torch.tensor([[1.0]]) | torch.as_tensor(2.5) | torch.tensor(1, dtype=torch.float64) | torch.empty(n) | torch.rand(n) | torch.randn(2) | torch.randint(0, 2, (2,)) | torch.randperm(2)
torch.zeros_like(x) | torch.ones_like(x, dtype=torch.bool) | torch.full_like(x, 3) | torch.empty_like(x) | x.new_zeros(2) | x.new_zeros(n) | x.new_tensor(1) | x.new_full((2,), 1)
x.clamp(min=0) | x.clamp(min=0.5) | x.clamp(min=y) | x.clamp(0, 1) | torch.clamp(x, min=s) | x.clip(max=1.5) | x.masked_fill(m, 0) | x.masked_fill(y > 0, 0) | torch.where(m, x, x)
torch._foreach_mul([x, y], 2)[0] | torch._foreach_norm([x.float(), y])[0] | torch._foreach_sqrt([x.float()])[0] | torch._foreach_add([x.float()], s)[0] | torch._foreach_div([x], [y])[0]
torch.where(m, x, 0) | torch.where(m, x, 0.5) | torch.where(m, 1.0, 2.0) | torch.where(m, 1, 2) | torch.where(x > 0, x, y) | torch.where(m, x, s) | x.where(m, y) | torch.lerp(x.float(), y.float(), 0.5)
x.exp() | x.sqrt() | x.sigmoid() | x.tanh() | x.relu() | F.relu(x) | F.gelu(x.float()) | F.silu(x.float()) | F.softmax(x.float(), -1) | x.softmax(-1, dtype=torch.float64) | x.float().log_softmax(0)
F.leaky_relu(x.float()) | F.elu(x.float()) | F.softplus(x.float()) | F.normalize(x.float(), dim=0) | F.dropout(x.float(), 0.0) | F.layer_norm(x.float(), x.shape[-1:]) | F.pad(x, (0, 1))
F.mse_loss(x.float(), x.float()) | F.l1_loss(x.float(), y.float(), reduction="none") | F.binary_cross_entropy_with_logits(x.float(), x.float()) | F.one_hot(x.long().abs(), 9) | F.cosine_similarity(x.float(), x.float(), -1)
torch.cat([x, x]) | torch.cat([x, y]) | torch.stack([x, x]) | torch.stack((s, s)) | torch.cat((x.view(-1), y.view(-1)), dim=0) | torch.outer(x, x) | torch.matmul(x, x) | torch.einsum("i,i->", x, x)
x.round() | x.floor() | x.sign() | x.isnan() | torch.isinf(x) | torch.isfinite(x) | x.logical_not() | torch.logical_and(m, x) | x.bitwise_not() | x.reciprocal() | x.pow(2) | x.pow(2.5) | x.pow(y)
x.float_power(2) | x.square() | x.rsqrt() | x.fmod(2.5) | x.remainder(2) | x.nan_to_num() | x.addcmul(x, y) | x.add(y, alpha=2) | x.mul(0.5) | x.div(2, rounding_mode="floor") | x.sub(s) | x.true_divide(2)
x.topk(1)[0] | x.max(0)[0] | x.max(0)[1] | x.min(0).values | x.chunk(2)[0] | x.split(1)[0] | x.unbind(0)[0] | x.aminmax()[0] | x.kthvalue(1)[0] | torch.std_mean(x.float())[0] | x.float().frexp()[0]
x.diff() | x.flip(0) | x.roll(1) | x.tril() | x.diagonal() | x.diag() | x.trace() | x.float().cov() | x.gather(0, x.long().abs() * 0) | x.index_select(0, torch.tensor([0])) | x.take(torch.tensor([0])) | x.narrow(0, 0, 1)
x.unfold(0, 1, 1) | x.repeat_interleave(2) | x.nonzero() | x.unique() | x.bincount() | x.histc() | torch.bucketize(x, y.view(-1)) | torch.searchsorted(y.view(-1), x) | x.tile(2) | x.broadcast_to(n) | x.expand_as(y) | x.view_as(x)
m.unsqueeze(-1).expand_as(x) | x.expand_as(y) + y | y.view_as(x) * x | x.reshape_as(x) | x.view_as(y) | x.reshape_as(y)
x.item() | x.tolist() | float(s) | int(s) | bool(s) | s.item() + 1 | s.item() / 2 | max(s.item(), 1) | max(s.item(), 1.5) | min(2, s.item()) | round(s.item()) | -s.item() | abs(s.item()) | s.item() > 0 | not s
x.shape[0] | x.size() | x.size(0) | x.dim() | x.numel() | len(x) | x.shape | x.shape[0] / 2 | x.shape[0] // 2 | x.dtype | x.device | x.ndim + 1 | 1 + 2.0 | 3 // 2 | True + 1 | 2 ** 0.5 | -(1) | 7 % 2
math.sqrt(2) | math.ceil(1.5) | math.floor(s.item()) | math.prod(x.shape) | math.log(2) | max(1, 2.0) | min(x.shape) | sum(x.shape) | round(2.5) | round(2.5, 1) | abs(-1) | int(2.5) | float(1) | bool(0)
x if flag else y | x if flag else None | x.float() if flag else x | (x, y)[0] | [x, s][1] | {"a": x}["a"] | [x, x.sum()][-1] | x or s | s and x | (x, 1)[1] | [v * 2 for v in x] | tuple(x.shape) | list(x.shape)[0]
torch.arange(3) | torch.arange(1, len(x.shape) + 3) | torch.arange(2.5) | torch.arange(0, 2, 0.5) | torch.arange(end=2) | torch.arange(3, dtype=torch.float16) | torch.arange(True) | torch.arange(s.long().abs())
torch.Tensor([1.0]) | torch.Tensor([[1]]) | torch.Tensor(2, 3) | torch.Tensor([False]) | torch.Tensor() | torch.Tensor([]) | torch.Tensor(x) | torch.Tensor(n) | torch.Tensor((1, -2)) | torch.LongTensor([1, 2])
torch.ByteTensor(2) | torch.BoolTensor([True]) | torch.HalfTensor([0.5]) | torch.DoubleTensor([[0.5], [1]]) | torch.IntTensor(len(x.shape)) | torch.ShortTensor([1]) | torch.FloatTensor([x.dim()])
{"a": x, "b": {"c": x.dim()}}["b"].values() | sum({"a": x, "b": {"c": x.dim()}}["b"].values()) | sum({"a": x, "b": {"c": x.dim()}}["b"].values()) != 0
torch.zeros(2, out=torch.empty(2, dtype=torch.int64)) | torch.ones(2, out=torch.empty(2)) | torch.add(x, y, out=torch.empty(0, dtype=torch.float64)) | torch.sum(x, 0, out=torch.empty(0, dtype=torch.float64))
torch.where(m, x, float("inf")) | torch.where(m, x, float("inf")).min() | torch.where(m, x.long(), float("inf")) | torch.where(m, x, math.inf).amin() | torch.cumsum(x, 0, out=None) | torch.cat([x, x], out=torch.empty(0, dtype=x.dtype))
np.split(x.numpy(), [1]) | np.split(x.numpy(), [1])[0] | np.array_split(x.numpy(), 2) | np.broadcast_arrays(x.numpy(), 1) | np.meshgrid(x.numpy(), x.numpy()) | np.copyto(x.numpy().copy(), 0) | np.nonzero(x.numpy())
np.nonzero(x.numpy())[0] | np.where(m.numpy(), x.numpy(), 0) | np.where(m.numpy()) | np.where(x.numpy() > 0)[0] | np.nan_to_num(x.numpy()) | np.nan_to_num(x.numpy().sum()) | np.sqrt(x.numpy()) | np.sum(x.numpy(), 0)
np.sum(x.numpy()) | np.mean(x.numpy()) | np.max(x.numpy()) | np.unique(x.numpy()) | np.unique(x.numpy(), return_counts=True) | np.fill_diagonal(np.zeros((2, 2)), 1) | np.concatenate([x.numpy()] * 2) | np.stack([x.numpy()] * 2)
np.argsort(x.numpy()) | np.argmax(x.numpy()) | np.dot(x.numpy(), x.numpy()) | np.clip(x.numpy(), 0, 1) | np.round(x.numpy()) | np.abs(x.numpy()) | np.random.rand() | np.random.rand(2) | np.random.permutation(3) | np.random.choice(3)
np.random.choice(3, 2) | np.arange(3) | np.arange(3).sum() | np.zeros(3)[0] | np.prod(x.shape) | np.array(x.shape) | np.array([1, 2]).tolist() | x.numpy().tolist() | x.numpy().item() | x.numpy().shape | x.numpy()[0] | x.numpy().dtype
np.modf(x.numpy()) | np.divmod(x.numpy(), 2) | np.frexp(x.numpy()) | np.histogram(x.numpy()) | np.triu_indices(3) | np.unravel_index(1, (2, 2)) | np.indices((2, 2)) | np.ix_([0], [1]) | np.gradient(np.ones((3, 3)))
np.all(x.numpy() > 0) | np.any(x.numpy() > 0) | np.isnan(x.numpy()) | np.linalg.norm(x.numpy()) | np.shape(x.numpy()) | np.ndim(x.numpy()) | np.float32(1) | np.int64(x.shape[0]) | np.float32(x.numpy().sum())
np.unique(x.numpy(), return_index=False) | np.unique(x.numpy(), True) | np.average(x.numpy(), None, None, True) | np.linalg.qr(np.ones((2, 2)), "r") | np.linalg.svd(np.ones((2, 2)), True, False) | np.linalg.slogdet(np.eye(2))
np.linalg.lstsq(np.eye(2), np.ones(2)) | np.histogramdd(np.ones((3, 2))) | np.atleast_1d(x.numpy(), x.numpy()) | np.atleast_2d(x.numpy()) | np.polyfit([0, 1, 2], [0, 1, 2], 1) | np.polyfit([0, 1, 2, 3, 4], [0, 1, 2, 3, 5], 1, cov=True)
np.allclose(x.numpy(), 1) | np.array_equal(x.numpy(), x.numpy()) | np.random.seed(0) | np.random.get_state() | np.random.choice(3, None) | np.random.choice(a=3) | np.random.beta(1, 1) | np.random.beta(1, 1, 2) | np.random.beta([1, 2], 1)
np.maximum(1, 2) | np.maximum(x.numel(), 1) | np.floor(x.numel()) | np.abs(-1) | np.gcd(2, 4) | np.sqrt(1j) | np.sqrt(2) | np.isnan(2.0) | np.mean(x.numel()) | np.divide(1, 2) | np.exp(x.numel()) | np.float64(2) ** 2 | np.power(2, x.numel())
np.array2string(x.numpy()) | np.average(x.numpy()) | np.percentile(x.numpy(), 50) | np.cumsum(x.numpy()) | np.vectorize(abs)(x.numpy()) | np.apply_along_axis(sum, 0, np.ones((2, 2))) | np.linalg.svd(np.ones((2, 2))) | np.linalg.qr(np.ones((2, 2)))
x == x.shape | x != (1, 2) | [1] == x | x == "none" | x != None
x.requires_grad_() if flag else x | x.real | torch.complex(x.float(), x.float()) | x.float() * 1j | x.unsqueeze(-1).squeeze(-1) | x.sum() + x | x.sum(0) + y | x.mean() * y | x.softmax(0) * y
""".replace("\n", " | ")

CASES = [text.strip() for text in EXPRESSIONS.split(" | ") if text.strip()]

IN_PLACE = (
    "x.unsqueeze_(0)",
    "x.squeeze_()",
    "x.t_()",
    "x.mul_(2)",
    "x += 1",
    "x.zero_()",
    "x.transpose_(0, -1)",
    "x.resize_(1)",
    "x.clamp_(min=0)",
    "x.data = x.data[:1]",
    "x.swapaxes_(0, -1)",
    "x.squeeze_(0)",
)

HEAD = """import math
import numpy as np
import torch
import torch.nn.functional as F
"""

FUNCTION = (
    HEAD
    + """
def f(x: torch.Tensor, y: torch.Tensor, s: torch.Tensor, m: torch.BoolTensor, n, flag):
{prefix}    keep = x
    other = y
    small = s
    result = {expression}
"""
)


def shapes() -> Iterator[tuple[Any, ...]]:
    for shape, dtype in itertools.product(
        [(), (1,), (3,), (2, 2), (2, 1, 2), (0,), (1, 0)],
        [torch.float32, torch.float16, torch.float64, torch.int64, torch.uint8, torch.bool],
    ):
        for other, other_dtype in (((), torch.float64), (shape, torch.float16), ((2, *shape), torch.float32)):
            x = (torch.arange(math.prod(shape)).reshape(shape) % 3).to(dtype)
            yield (
                x,
                torch.ones(other, dtype=other_dtype),
                torch.tensor(1.5 if dtype.is_floating_point else 1).to(other_dtype),
                torch.ones(shape, dtype=torch.bool),
                (),
                dtype == torch.int64,
            )
            yield (
                x,
                torch.ones(shape, dtype=dtype),
                torch.tensor(2),
                torch.tensor(True),
                tuple(shape),
                dtype == torch.float32,
            )


Place = tuple[int, int, str]


def claims(text: str) -> dict[Place, Value]:
    """What is claimed of each assigned name of the function `f`, by place."""
    file = SourceFile(Path("program.py"), "program", text)
    project = Project([file])
    (module,) = project.modules.values()
    facts = Inference(project).facts(module.functions["f"])
    return {place(target): facts.value(target) for target in targets(module.functions["f"].node)}


def targets(node: ast.AST) -> list[ast.Name]:
    assigned = [t for n in ast.walk(node) if isinstance(n, ast.Assign) for t in n.targets]
    return [n for t in assigned for n in ast.walk(t) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]


def place(target: ast.Name) -> Place:
    return target.lineno, target.col_offset, target.id


class Recorded(ast.NodeTransformer):
    """Notes each name just after it is assigned: what is written in place later must not count."""

    def visit_Assign(self, node: ast.Assign) -> list[ast.stmt]:
        notes = [ast.parse(f"record({place(t)!r}, {t.id})").body[0] for t in targets(node)]
        return [node, *notes]


def recorder(text: str) -> Any:
    """The function `f`, made to return the value that each place had last."""
    tree = ast.fix_missing_locations(Recorded().visit(ast.parse(text)))
    seen: dict[Place, Any] = {}
    space: dict[str, Any] = {"record": lambda where, value: seen.update({where: snapshot(value)})}
    exec(compile(tree, "program.py", "exec"), space)

    def run(*arguments: Any) -> dict[Place, Any]:
        seen.clear()
        space["f"](*arguments)
        return dict(seen)

    return run


def snapshot(value: Any) -> Any:
    """A tensor as it is now: another tensor with its dtype and shape."""
    return torch.empty(value.shape, dtype=value.dtype) if isinstance(value, torch.Tensor) else value


NUMPY_CLASSES = {"f": "float", "i": "int", "u": "int", "b": "bool", "c": "complex"}
CLASSES = {"float": "float", "int": "int", "bool": "bool", "complex": "complex"}


def dtype_class(value: Any) -> str | None:
    if isinstance(value, torch.Tensor):
        if value.dtype.is_floating_point:
            return "float"
        return "complex" if value.dtype.is_complex else "bool" if value.dtype == torch.bool else "int"
    if isinstance(value, np.generic):
        return NUMPY_CLASSES.get(value.dtype.kind)
    return CLASSES.get(type(value).__name__)


def kind_holds(claim: Value, value: Any) -> bool:
    if Kind.UNKNOWN in claim.kinds:
        return True
    if isinstance(value, torch.Tensor):
        return Kind.TENSOR in claim.kinds
    if value is None:
        return Kind.NONE in claim.kinds
    if isinstance(value, np.ndarray | np.generic):  # a number of NumPy is an array without dimensions to Dynamo
        numbers = {Kind.NUMBER, Kind.STATIC} if isinstance(value, np.generic) else {Kind.STATIC}
        return bool(claim.kinds & {Kind.NDARRAY, *numbers})
    if isinstance(value, bool | int | float | complex | str | torch.dtype | torch.device):
        return bool(claim.kinds & {Kind.NUMBER, Kind.STATIC, Kind.SIZE})
    if isinstance(value, list | tuple | dict):
        return bool(claim.kinds & {Kind.CONTAINER, Kind.STATIC})
    return True


def contradictions(claimed: dict[Place, Value], seen: dict[Place, Any]) -> list[str]:
    found: list[str] = []
    for where, claim in claimed.items():
        if where not in seen:
            continue
        name, value = where[2], seen[where]
        if not kind_holds(claim, value):
            found.append(f"{name} is {type(value).__name__}, claimed {sorted(k.name for k in claim.kinds)}")
            continue
        if (
            claim.const is not None
            and claim.const.value is not None
            and (type(value) is not type(claim.const.value) or value != claim.const.value)
        ):
            found.append(f"{name} is {value!r}, claimed the constant {claim.const.value!r}")
        numeric = isinstance(value, torch.Tensor | bool | int | float | complex | np.generic)
        if claim.dtype is not None and numeric and dtype_class(value) != claim.dtype:
            found.append(f"{name} is {getattr(value, 'dtype', type(value).__name__)}, claimed {claim.dtype}")
        if isinstance(value, torch.Tensor) and claim.is_tensor:
            if claim.has_one_element and value.numel() != 1:
                found.append(f"{name} has {value.numel()} elements, claimed one")
            if claim.rank is not None and value.dim() != claim.rank:
                found.append(f"{name} has {value.dim()} dimensions, claimed {claim.rank}")
            if claim.dimensioned and value.dim() == 0:
                found.append(f"{name} has no dimension, claimed to have some")
    tensors = [n for n, c in claimed.items() if c.is_tensor and isinstance(seen.get(n), torch.Tensor)]
    for a, b in itertools.combinations(tensors, 2):
        if (
            claimed[a].dtype_id is not None
            and claimed[a].dtype_id == claimed[b].dtype_id
            and seen[a].dtype != seen[b].dtype
        ):
            found.append(f"{a[2]} is {seen[a].dtype} and {b[2]} is {seen[b].dtype}, claimed the same")
        if (
            claimed[a].shape_id is not None
            and claimed[a].shape_id == claimed[b].shape_id
            and seen[a].shape != seen[b].shape
        ):
            found.append(
                f"{a[2]} is {tuple(seen[a].shape)} and {b[2]} is {tuple(seen[b].shape)}, claimed the same shape"
            )
    return found


def check(text: str) -> int:
    claimed, function = claims(text), recorder(text)
    ran = 0
    found: list[str] = []
    for arguments in shapes():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                seen = function(*arguments)
        except Exception:
            continue
        ran += 1
        found += [f"{arguments[0].dtype} {tuple(arguments[0].shape)}: {line}" for line in contradictions(claimed, seen)]
    assert not found, f"{len(found)} contradictions, the first: {found[0]}"
    return ran


@pytest.mark.parametrize(
    ("written", "one"),
    [
        ("torch.zeros(1)", True),
        ("torch.ones((1, 1))", True),
        ("torch.full([1], 2.0)", True),
        ("torch.tensor([x.dim()]) / 2", True),
        ("torch.as_tensor([[True]])", True),
        ("torch.tensor([x.dim(), 1])", False),
        ("torch.tensor([*n])", False),
        ("torch.zeros(n)", False),
        ("torch.zeros(1, 2)", False),
        ("torch.zeros(1).expand(3)", False),
        ("x * 2", False),
    ],
)
def test_one_element_is_known_where_it_is_written(written: str, one: bool) -> None:
    found = claims(FUNCTION.format(prefix="", expression=written))
    (result,) = [value for (_, _, name), value in found.items() if name == "result"]
    assert result.has_one_element is one


@pytest.mark.parametrize("expression", CASES)
def test_claims_about_an_expression_hold(expression: str) -> None:
    assert check(FUNCTION.format(prefix="", expression=expression)) > 0, "the expression never ran"


@pytest.mark.parametrize("cast", ["x.float()", "x.half()", "x.double()", "x.long()"])
@pytest.mark.parametrize(
    "expression",
    [e for e in CASES if " * " in e or " + " in e or " / " in e or "clamp" in e or "sum" in e or "where" in e],
)
def test_claims_hold_for_a_known_dtype(expression: str, cast: str) -> None:
    check(FUNCTION.format(prefix=f"    x = {cast}\n", expression=expression))


@pytest.mark.parametrize(
    "prefix", ["(a,) = x.shape", "a, b = x.shape", "a, *b = x.size()", "a = x.shape[0]", "x.unsqueeze(0)", "x = x[0]"]
)
@pytest.mark.parametrize(
    "expression",
    [e for e in CASES if e.startswith("x") and ("sum" in e or "[" in e or "norm" in e or "std" in e or "view" in e)],
)
def test_claims_hold_for_a_known_rank(expression: str, prefix: str) -> None:
    check(FUNCTION.format(prefix=f"    {prefix}\n", expression=expression))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("x[..., 0, :]", "x[..., 0]"),
        ("x[..., 0, :]", "x.sum(-1)"),
        ("x[..., :1, :]", "x[..., :1]"),
        ("x[..., None, :]", "x[..., None]"),
        ("x.sum(-1)", "x[..., 0]"),
        ("x[:1, ...]", "x[:1]"),
    ],
)
@pytest.mark.parametrize("prefix", ["", "    a, b, c = x.shape\n"])
def test_tensors_that_are_said_to_have_one_shape_have_it(first: str, second: str, prefix: str) -> None:
    text = FUNCTION.format(prefix=prefix, expression=f"{first}\n    beside = {second}")
    ended = 0
    for shape in ((2, 3), (2, 3, 4), (3, 2)):
        x = torch.arange(float(math.prod(shape))).reshape(shape)
        try:
            seen = recorder(text)(x, x, torch.tensor(2), x > 0, shape, True)
        except ValueError:
            continue
        ended += 1
        assert contradictions(claims(text), seen) == []
    assert ended > 0


@pytest.mark.parametrize("statement", IN_PLACE)
def test_writing_in_place_ends_what_was_known(statement: str) -> None:
    text = (
        HEAD
        + f"""
def f(x: torch.Tensor, y: torch.Tensor, s: torch.Tensor, m: torch.BoolTensor, n, flag):
    x = x.clone()
    before = x * 1
    {statement}
    after = x * 1
"""
    )
    assert check(text) > 0


@pytest.mark.parametrize(
    "body",
    [
        "    v = x\n    for i in range(2):\n        v = v.unsqueeze(0)\n    w = v * 1",
        "    v = x\n    for i in range(2):\n        v = v.double() if i else v\n    w = v * 1",
        "    v = x\n    if flag:\n        v = x.sum()\n    w = v * 1",
        "    v = x.float()\n    while v.dim() < 3:\n        v = v[None]\n    w = v + 0",
        "    v = x\n    try:\n        v = x.sum()\n        v = v.view(3)\n    except RuntimeError:\n        pass\n    w = v * 1",
        "    v = x * 1\n    def g():\n        nonlocal v\n        v = torch.zeros(())\n    g()\n    w = v * 1",
        "    v = [x, x.sum()]\n    w = v[0]\n    u = v[1]",
        "    v = []\n    for i in range(2):\n        v.append(x.view(-1)[i:])\n    w = v[0]\n    u = v[1]",
        "    v = {}\n    v['a'] = x\n    v['b'] = x.sum()\n    w = v['a']\n    u = v['b']",
        "    v, w = x, x.sum()\n    v, w = w, v\n    u = v * 1",
        "    if flag:\n        x = x.float()\n    else:\n        x = x.double()\n    w = x * 1\n    u = keep = x",
        "    v = x\n    with torch.no_grad():\n        v = v.sum()\n    w = v * 1",
        "    w = (v := x.sum()) + 1\n    u = v * 1",
        "    w = s if isinstance(n, tuple) else x\n    u = w * 1",
        "    v = x\n    for i in range(3):\n        if i == 1:\n            v = x.sum()\n            break\n    w = v * 1",
    ],
)
def test_claims_hold_after_branches_and_loops(body: str) -> None:
    text = (
        HEAD
        + "\ndef f(x: torch.Tensor, y: torch.Tensor, s: torch.Tensor, m: torch.BoolTensor, n, flag):\n    keep = x\n"
        + body
        + "\n"
    )
    assert check(text) > 0


def test_the_table_of_expressions_would_show_a_wrong_claim() -> None:
    text = FUNCTION.format(prefix="", expression="x.sum()")
    seen = recorder(text)(torch.ones(2), torch.ones(2), torch.ones(()), torch.ones(2) > 0, (), True)
    claimed = claims(text)
    assert contradictions(claimed, seen) == []
    result = next(where for where in claimed if where[2] == "result")
    keep = next(where for where in claimed if where[2] == "keep")
    assert claimed[result].rank == 0
    assert contradictions(claimed, {**seen, result: torch.ones(3)}) != []
    assert contradictions(claimed, {**seen, keep: 1}) != []


def test_values_and_their_indices_are_tensors_of_their_own() -> None:
    text = (
        HEAD
        + """
def f(x: torch.Tensor):
    values, places = x.max(1, keepdim=True)
    values.squeeze_(1)
    kept = places
    result = values
"""
    )
    known = {name: value for (_, _, name), value in claims(text).items()}
    assert known["kept"].dtype_id == "int64"
    assert known["result"].dtype_id is None


@pytest.mark.parametrize(
    ("written", "kinds"),
    [
        ("torch.tensor", {Kind.TENSOR}),
        ("Optional[torch.tensor]", {Kind.TENSOR, Kind.NONE}),
        ("torch.zeros", {Kind.UNKNOWN}),
    ],
)
def test_a_function_that_is_written_for_the_type(written: str, kinds: set[Kind]) -> None:
    text = f"from typing import Optional\nimport torch\ndef f(x: {written}):\n    return x\n"
    project = Project([SourceFile(Path("f.py"), "f", text, ast.parse(text))])
    function = next(iter(next(iter(project.modules.values())).all_functions))
    result = function.of(ast.Return)[0].value
    assert result is not None
    assert set(Inference(project).facts(function).value(result).kinds) == kinds


def test_a_global_is_all_that_the_file_gives_it() -> None:
    text = """
import torch
try:
    from there import TURNS
except ImportError:
    TURNS = 1
ONCE = 3
MORE = 3
MORE += 1
LATE = 3
LATE, _ = 4, 5
SCALE = 3
COUNT = 1
KIND = torch.complex64
PAIR = 2
FLAG = False
KEPT = torch.float32
def change(pair):
    global SCALE, COUNT, KIND, PAIR, FLAG
    SCALE = 2.5
    COUNT += 1
    KIND = torch.float32
    PAIR, _ = pair
    FLAG = True
def f():
    once, scale, count, kind, pair, flag = ONCE, SCALE, COUNT, KIND, PAIR, FLAG
    kept, turns, more, late = KEPT, TURNS, MORE, LATE
"""
    found = {name: value for (_, _, name), value in claims(text).items()}
    shown = {name: value.const.value for name, value in found.items() if value.const is not None}
    assert shown == {"once": 3}
    assert [name for name, value in found.items() if value.is_unknown] == ["pair", "turns", "late"]
    assert (found["scale"].dtype, found["flag"].dtype) == (None, "bool")
    assert (found["kind"].ref, found["kept"].ref) == (None, "torch.float32")


@pytest.mark.parametrize(("writes", "known"), [("settings.FILL = 2.5", False), ("print(settings.FILL == 2.5)", True)])
def test_a_global_that_another_file_sets_is_not_known(writes: str, known: bool) -> None:
    settings = SourceFile(Path("settings.py"), "settings", "FILL = 3\n")
    command = SourceFile(Path("command.py"), "command", f"import settings\ndef main():\n    {writes}\n")
    user = SourceFile(Path("user.py"), "user", "from settings import FILL\ndef f():\n    fill = FILL\n")
    project = Project([settings, command, user])
    function = project.modules["user"].functions["f"]
    facts = Inference(project).facts(function)
    assert [facts.value(target).is_unknown for target in targets(function.node)] == [not known]

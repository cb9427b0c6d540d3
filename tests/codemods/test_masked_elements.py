"""Masked elements: programs built to break the rewrites, run as they are and as rewritten."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from compilefix.codemods.assumptions import ASSUMPTIONS  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
import execution  # noqa: E402

_HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
nan, inf = float("nan"), float("inf")
"""
_WRITES = {
    "autocast": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(4, 4)

    def forward(self, x):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            h = self.l(x)
            m = h > 0
            h[m] = h[m] * 2
        return h


def workload():
    torch.manual_seed(0)
    return Mod(), [(torch.randn(3, 4),), (torch.randn(3, 4, requires_grad=True),)]
""",
    "boolvals": """
def f(x: Tensor):
    a = x > 0
    b = x > 1
    m = x < 2
    a[m] = a[m] & b[m]
    return a


def workload():
    return f, [(torch.randn(6),), (torch.tensor(1.0),), (torch.tensor([nan]),)]
""",
    "expanded": """
def f(x: Tensor):
    y = x.float().expand(3, 3)
    m = y > 0
    y[m] = y[m] * 2
    return y


def workload():
    return f, [(torch.randn(3),)]
""",
    "transposed_view": """
def f(x: Tensor):
    y = (x.float() + 0).t()
    m = y > 0
    y[m] = y[m] + 1
    return y.view(-1) if y.is_contiguous() else y, y.stride()


def workload():
    return f, [(torch.randn(2, 3),)]
""",
    "stride": """
def f(x: Tensor):
    y = torch.cos(x.float().t())
    m = y > 0
    y[m] = y[m] + 1
    return y.t().view(-1)


def workload():
    return f, [(torch.randn(2, 3),)]
""",
    "stride_row": """
def f(x: Tensor):
    y = torch.cos(x.float().permute(2, 0, 1))
    m = y.sum(-1) > 0
    y[m] = y[m] + 1
    return y.permute(1, 2, 0).view(-1)


def workload():
    return f, [(torch.randn(2, 3, 4),)]
""",
    "inference_mode": """
def f(x: Tensor):
    with torch.inference_mode():
        y = x.float() * 2
        m = y > 0
        y[m] = y[m] + 1
    return y


def workload():
    return f, [(torch.randn(2, 3),)]
""",
    "exp_result_saved": """
def f(x: Tensor):
    y = torch.exp(x.float())
    m = y > 1
    y[m] = y[m] + 1
    return y


def workload():
    return f, [(torch.randn(3),), (torch.randn(3, requires_grad=True),)]
""",
    "aug_mul_tensor": """
def f(x: Tensor, s: Tensor):
    y = x.float() * 1
    m = y > 0
    y[m] *= s.sum()
    return y


def workload():
    return f, [
        (torch.randn(3), torch.randn(2)),
        (torch.randn(3, requires_grad=True), torch.tensor([nan])),
        (torch.randn(3), torch.ones(2).double()),
        (torch.tensor([1.0, inf]), torch.randn(2, requires_grad=True)),
    ]
""",
    "other_base_nan": """
def f(x: Tensor):
    y = x.float() * 1
    a = y * 3
    m = y > 0
    y[m] = torch.sqrt(a[m])
    return y


def workload():
    return f, [
        (torch.tensor([-1.0, 0.0, 4.0], requires_grad=True),),
        (torch.tensor([nan, 4.0], requires_grad=True),),
    ]
""",
    "atan_chain": """
def f(x: Tensor):
    y = x.double() * 1
    m = y != 0
    y[m] = torch.sin(y[m]) / y[m]
    return y


def workload():
    return f, [
        (torch.tensor([-1.0, 0.0, 4.0], requires_grad=True),),
        (torch.tensor([0.0, 0.0], requires_grad=True),),
        (torch.tensor([inf, 0.0], requires_grad=True),),
    ]
""",
    "log_minus_one": """
def f(x: Tensor):
    y = x.double() * 1
    m = y > 1
    y[m] = torch.log(y[m] - 1)
    return y


def workload():
    return f, [
        (torch.tensor([-1.0, 1.0, 4.0], requires_grad=True),),
        (torch.tensor([2.0, 0.0], requires_grad=True),),
    ]
""",
    "pow_neg": """
def f(x: Tensor):
    y = x.double() * 1
    m = y > 0
    y[m] = y[m] ** -0.5
    return y


def workload():
    return f, [
        (torch.tensor([-1.0, 0.0, 4.0], requires_grad=True),),
        (torch.tensor([2.0, 0.0], requires_grad=True),),
    ]
""",
    "acc_names": """
def f(x: Tensor):
    y = x.float() * 1
    z = y
    m = y > 0
    y[m] = y[m] + 1
    return z


def workload():
    return f, [(torch.randn(3),)]
""",
    "tuple_alias": """
def f(x: Tensor):
    y = x.float() * 1
    pair = (y, 1)
    m = y > 0
    y[m] = y[m] + 1
    return pair[0]


def workload():
    return f, [(torch.randn(3),)]
""",
    "dict_alias": """
def f(x: Tensor):
    y = x.float() * 1
    d = {"a": y}
    m = y > 0
    y[m] = y[m] + 1
    return d["a"]


def workload():
    return f, [(torch.randn(3),)]
""",
    "self_alias": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = None

    def forward(self, x):
        y = x.float() * 1
        self.c = y
        m = y > 0
        y[m] = y[m] + 1
        return self.c


def workload():
    return Mod(), [(torch.randn(3),)]
""",
    "func_alias": """
def keep(a, b=[]):
    b.append(a)
    return b[-1]


def f(x: Tensor):
    y = x.float() * 1
    k = keep(y)
    m = y > 0
    y[m] = y[m] + 1
    return k


def workload():
    return f, [(torch.randn(3),)]
""",
    "split_alias": """
def f(x: Tensor):
    y = x.float() * 1
    a, b = y.chunk(2)
    m = y > 0
    y[m] = y[m] + 1
    return a, b


def workload():
    return f, [(torch.randn(4),)]
""",
    "cond_rebind": """
def f(x: Tensor, flag: bool):
    y = x.float() * 1
    w = y.view(-1)
    if flag:
        w = torch.zeros(3)
    m = y > 0
    y[m] = y[m] + 1
    return w


def workload():
    return f, [(torch.randn(3), True), (torch.randn(3), False)]
""",
    "later_loop_alias": """
def f(x: Tensor):
    y = x.float() * 1
    prev = y * 2
    for i in range(3):
        m = y > 0
        y[m] = y[m] + 1
        prev = y
    return prev


def workload():
    return f, [(torch.randn(3),)]
""",
    "comp": """
def f(x: Tensor):
    y = x.float() * 1
    views = [y[i] for i in range(2)]
    m = y > 0
    y[m] = y[m] + 1
    return views


def workload():
    return f, [(torch.randn(2, 2),)]
""",
    "global_store": """
K = []


def f(x: Tensor):
    y = x.float() * 1
    K.append(y)
    m = y > 0
    y[m] = y[m] + 1
    return K[-1]


def workload():
    return f, [(torch.randn(2, 2),)]
""",
    "relu_inplace": """
def f(x: Tensor):
    y = x.float() * 1
    z = F.relu(y, inplace=True)
    m = y > 0
    y[m] = y[m] + 1
    return z


def workload():
    return f, [(torch.randn(2, 2),)]
""",
    "mask_of_self_after": """
def f(x: Tensor):
    y = x.float() * 1
    y[y > 0] = y[y > 0] - 3
    y[y < 0] += 1
    return y


def workload():
    return f, [(torch.randn(2, 2),), (torch.tensor([nan, 1.0], requires_grad=True),)]
""",
    "rank_data": """
def ranked(x: Tensor):
    return x.argsort().argsort()


def f(x: Tensor):
    m = x > 0
    y = torch.zeros_like(x.long())
    y[m] = ranked(x[m])
    return y


def workload():
    return f, [(torch.randn(6),)]
""",
    "invert": """
def f(x: Tensor, m: Tensor):
    m = m.bool()
    x = x.float() * 1
    x[~m] = -x[~m]
    return x


def workload():
    return f, [
        (torch.randn(2, 3), torch.tensor([1, 0])),
        (torch.randn(2, 3, requires_grad=True), torch.tensor([0, 0])),
        (torch.randn(3, 3), torch.tensor([1, 0, 0])),
    ]
""",
    "aug_param_alias": """
def f(x: Tensor):
    x = x.float() * 1
    v = x[0]
    x[x < 0] += 2.0
    return x, v


def workload():
    torch.manual_seed(0)
    return f, [
        (torch.randn(3, 3),),
        (torch.tensor([[nan, -1.0], [inf, -inf]]),),
        (torch.ones(2, 2),),
        (-torch.ones(2, 2, requires_grad=True),),
        (torch.zeros(0, 2),),
    ]
""",
    "leaf": """
def f(x: Tensor):
    x[x < 0] += 2.0
    return x


def workload():
    return f, [
        (torch.randn(3, 3, requires_grad=True),),
        (torch.randn(3),),
        (torch.arange(-3, 3),),
        (torch.randn(3).half(),),
    ]
""",
    "double_where": """
def f(x: Tensor):
    x = F.softplus(x.float()) - 1
    y = torch.zeros_like(x)
    m = x > 0
    y[m] = (-1 / x[m]).exp()
    return y


def workload():
    return f, [
        (torch.tensor([0.5413, -1.0, 2.0, nan, -30.0], requires_grad=True),),
        (torch.tensor([-inf, inf]),),
        (torch.randn(3, 3).half().requires_grad_(),),
        (torch.full((2,), -40.0, requires_grad=True),),
    ]
""",
    "log_self": """
def f(x: Tensor):
    y = x.double().abs() * 1.0
    m = y > 0.5
    y[m] = torch.log(y[m]) * y[m]
    return y


def workload():
    return f, [
        (torch.tensor([0.0, 1.0, -2.0, nan, inf], requires_grad=True),),
        (torch.arange(4),),
        (torch.randn(3, 3).bfloat16(),),
    ]
""",
    "square_inplace_view": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)

    def forward(self, x):
        h = self.l(x)
        v = h.view(-1)
        m = h > 0
        h[m] = h[m] * h[m]
        return v, h


def workload():
    torch.manual_seed(0)
    return Mod(), [(torch.randn(2, 3),), (torch.randn(2, 3, requires_grad=True),)]
""",
    "scale_scalar_param": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.l = nn.Linear(3, 3)
        self.s = nn.Parameter(torch.tensor(2.0))

    def forward(self, x):
        h = self.l(x)
        m = h > 0
        h = h * 1
        h[m] = h[m] * self.s
        return h


def workload():
    torch.manual_seed(0)
    return Mod(), [
        (torch.tensor([[nan, 1.0, 2.0], [inf, 1.0, 1.0], [1.0, 2.0, 3.0]]),),
        (torch.randn(2, 3, requires_grad=True),),
    ]
""",
    "intdiv": """
def f(x: Tensor):
    x = x.long() * 1
    m = x > 0
    x[m] = 12 // x[m]
    return x


def workload():
    return f, [(torch.tensor([0, 1, -2]),), (torch.tensor([3, 4]),)]
""",
    "row_mask_square": """
def f(x: Tensor):
    y = x.float() * 1
    m = y[:, 0] > 0
    y[m] *= 2
    return y


def workload():
    return f, [(torch.randn(3, 3),), (torch.randn(3, 2),), (torch.randn(1, 3),)]
""",
    "row_mask_last": """
def f(x: Tensor):
    y = x.float() * 1
    m = y.sum(-1) > 0
    y[m] *= 2
    return y


def workload():
    return f, [(torch.randn(3, 3),), (torch.randn(3, 2),), (torch.randn(3, 3, 3, requires_grad=True),)]
""",
    "col_mask": """
def f(x: Tensor):
    y = x.float() * 1
    m = y[0] > 0
    y[:, m] += 1
    return y


def workload():
    return f, [(torch.randn(3, 3),), (torch.randn(2, 3),), (torch.randn(3, 3, 3),)]
""",
    "loop": """
def f(x: Tensor):
    y = torch.zeros_like(x.float())
    for i in range(3):
        m = y < i
        y[m] = y[m] + i
    return y


def workload():
    return f, [(torch.randn(3, 3),), (torch.randn(2),)]
""",
    "list_alias": """
def f(x: Tensor):
    y = x.float() + 1
    outs = [y]
    m = y > 0
    y[m] = y[m] + 5
    return outs[0], y


def workload():
    return f, [(torch.randn(3, 3),), (torch.randn(2, requires_grad=True),)]
""",
    "closure": """
def f(x: Tensor):
    y = x.float() + 1

    def g():
        return y

    m = y > 0
    y[m] = y[m] + 5
    return g()


def workload():
    return f, [(torch.randn(3, 3),)]
""",
    "closure2": """
def f(x: Tensor):
    y = x.float() + 1
    keep = lambda: y
    m = y > 0
    y[m] = y[m] + 5
    return keep()


def workload():
    return f, [(torch.randn(3, 3),)]
""",
    "attr": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("b", torch.zeros(3))

    def forward(self, x):
        m = self.b < 2
        self.b[m] += 1
        return x + self.b


def workload():
    return Mod(), [(torch.randn(2, 3),), (torch.randn(2, 3, requires_grad=True),)]
""",
    "uint8": """
def f(x: Tensor, m: Tensor):
    y = x.float() + 1
    y[m] = y[m] + 5
    return y


def workload():
    return f, [
        (torch.randn(3), torch.tensor([1, 0, 1], dtype=torch.uint8)),
        (torch.randn(3), torch.tensor([0, 0, 2])),
    ]
""",
    "nograd": """
def f(x: Tensor):
    y = x.float() + 1
    m = y > 0
    with torch.no_grad():
        y[m] = y[m] * 5
    return y


def workload():
    return f, [(torch.randn(3, 3),), (torch.randn(3, 3, requires_grad=True),)]
""",
    "requires_grad_new": """
def f(x: Tensor, w: Tensor):
    w = w.float()
    y = torch.zeros_like(w)
    m = w > 0
    y[m] = torch.sqrt(w[m])
    return y


def workload():
    return f, [
        (torch.randn(3), torch.tensor([0.0, -1.0, 4.0], requires_grad=True)),
        (torch.randn(3), torch.tensor([-0.0, -1.0, nan, inf], requires_grad=True)),
        (torch.randn(3), -torch.ones(3, requires_grad=True)),
    ]
""",
    "temp_reused": """
def f(x: Tensor):
    x = x.float()
    y = torch.zeros_like(x)
    m = x > 0
    xm = x[m]
    y[m] = xm * 2
    return y, xm


def workload():
    return f, [(torch.randn(3),)]
""",
    "temp_between": """
def f(x: Tensor):
    x = x.float() * 1
    y = torch.zeros_like(x)
    m = x > 0
    xm = x[m]
    x.mul_(3)
    y[m] = xm * 2
    return y


def workload():
    return f, [(torch.randn(3),)]
""",
    "temp_mask_changed": """
def f(x: Tensor):
    x = x.float() * 1
    y = torch.zeros_like(x)
    m = x > 0
    xm = x[m]
    m = x > 10
    y[m] = xm[:0] * 2
    return y


def workload():
    return f, [(torch.randn(3),)]
""",
    "dtype_half_scalar": """
def f(x: Tensor):
    x = F.relu(F.softmax(x, -1))
    m = x > 0.2
    x[m] -= 0.1
    return x


def workload():
    return f, [
        (torch.randn(3, 4).half(),),
        (torch.randn(3, 4).bfloat16().requires_grad_(),),
        (torch.randn(3),),
    ]
""",
    "where_in": """
def f(x: Tensor):
    x = F.softmax(x, -1)
    y = x * 2
    m = x > 0.2
    y[m] = torch.where(x[m] > 0.5, y[m], -y[m])
    return y


def workload():
    return f, [(torch.randn(3, 4),), (torch.randn(3, 4, requires_grad=True),), (torch.tensor([nan, 1.0]),)]
""",
}
_REDUCTIONS = {
    "rowmean1d": """
def f(x: Tensor, m: Tensor):
    m = m > 0
    return x.double()[m].mean(dim=0)


def workload():
    return f, [(torch.randn(2), torch.tensor([1, 0])), (torch.randn(2), torch.tensor([0, 0]))]
""",
    "rowmean": """
def f(x: Tensor, m: Tensor):
    x = F.softmax(x, -1)
    m = m > 0
    return x[m].mean(0), x[m].sum(dim=0), x[m].sum(-1)


def workload():
    torch.manual_seed(0)
    return f, [
        (torch.randn(2, 3), torch.tensor([1, 0])),
        (torch.randn(2, 3, requires_grad=True), torch.tensor([0, 0])),
        (torch.randn(2, 2, 3), torch.tensor([[1, 0], [0, 0]])),
        (torch.tensor([[nan, 1.0], [1.0, 1.0]]), torch.tensor([0, 1])),
    ]
""",
    "mean_float": """
def f(x: Tensor):
    x = F.softmax(x, -1) - 0.3
    return x[x > 0].mean()


def workload():
    torch.manual_seed(0)
    return f, [
        (torch.randn(3, 3),),
        (torch.tensor([[nan, -1.0]]),),
        (torch.ones(2, 9, requires_grad=True),),
        (torch.randn(2, 3, requires_grad=True),),
    ]
""",
    "sum_int": """
def f(x: Tensor):
    x = x.long()
    return x[x > 0].sum(), x[x > 5].sum()


def workload():
    return f, [(torch.randn(3, 3) * 5,), (torch.zeros(0),), (torch.tensor(3),)]
""",
    "sum_bool": """
def f(x: Tensor):
    m = x > 0
    b = x > 1
    return b[m].sum(), b[m].any(), b[m].all(), m[~m].any()


def workload():
    return f, [(torch.randn(3, 3) * 5,), (torch.zeros(0),), (torch.tensor([nan]),)]
""",
    "any_all": """
def f(x: Tensor):
    m = x > 0
    return x[m].any(), x[m].all(), torch.any(x[~m]), torch.all(x[m])


def workload():
    return f, [
        (torch.randn(3, 3) * 5,),
        (torch.zeros(0),),
        (torch.tensor([nan]),),
        (torch.arange(4, dtype=torch.uint8),),
        (torch.tensor([True, False]),),
    ]
""",
    "count_arith": """
def f(x: Tensor):
    y = torch.stack([x.float(), x.float()])
    m = x > 0
    return y * m.nonzero().shape[0] + len(x[m])


def workload():
    return f, [
        (torch.randn(3, 3) * 5,),
        (torch.zeros(0),),
        (torch.tensor([nan, 1.0]),),
        (torch.randn(4, requires_grad=True),),
    ]
""",
    "count_if": """
def f(x: Tensor):
    m = x > 0
    if len(m.nonzero()) > 1:
        return x * 2
    return x


def workload():
    return f, [(torch.randn(3, 3) * 5,), (torch.zeros(0),)]
""",
    "count_shape": """
def f(x: Tensor):
    m = x > 0
    n = x[m].numel()
    return torch.zeros(n)


def workload():
    return f, [(torch.randn(3, 3) * 5,), (torch.zeros(0),)]
""",
    "count_rows": """
def f(x: Tensor):
    x = x.float()
    m = x.sum(-1) > 0
    return x / x[m].numel(), x / x[m].shape[0]


def workload():
    return f, [(torch.randn(3, 3),), (torch.randn(3, 4, 5),)]
""",
    "nonzero_numel2d": """
def f(x: Tensor):
    m = x > 0
    return [m.nonzero().numel(), m.nonzero().size(0), torch.where(m)[0].numel()]


def workload():
    return f, [(torch.randn(3, 3),), (torch.randn(3),)]
""",
    "sq_nan": """
def f(x: Tensor):
    x = F.softmax(x, -1)
    m = x > 0.3
    return ((x[m] - 1) ** 2 / x[m]).sum()


def workload():
    return f, [
        (torch.randn(3, 3),),
        (torch.tensor([-inf, 1.0, 2.0], requires_grad=True),),
        (torch.tensor([nan, 1.0], requires_grad=True),),
    ]
""",
    "mse": """
def f(a: Tensor, b: Tensor):
    a = F.softmax(a, -1)
    b = a * b.sum()
    m = a > 0.3
    p, t = a[m], b[m]
    return F.mse_loss(a[m], b[m]), F.l1_loss(a[m], b[m], reduction="sum")


def workload():
    return f, [
        (torch.randn(3, 3), torch.randn(2)),
        (torch.randn(3, 3, requires_grad=True), torch.randn(2)),
        (torch.tensor([nan, 1.0], requires_grad=True), torch.ones(1)),
        (torch.zeros(1, 7, requires_grad=True), torch.ones(1)),
    ]
""",
    "ce": """
def f(a: Tensor, t: Tensor):
    m = t != 2
    return F.cross_entropy(a[m], t[m])


def workload():
    return f, [
        (torch.randn(3, 4, requires_grad=True), torch.tensor([1, 2, 3])),
        (torch.randn(3, 4, requires_grad=True), torch.tensor([2, 2, 2])),
        (torch.tensor([[nan, nan], [1.0, 2.0]], requires_grad=True), torch.tensor([2, 0])),
        (torch.randn(2, 3, 4, requires_grad=True), torch.tensor([[1, 2, 3], [0, 0, 0]])),
        (torch.randn(3, 4, requires_grad=True), torch.tensor([1, -100, 3])),
    ]
""",
    "ce_opts": """
def f(a: Tensor, t: Tensor):
    m = t > -2
    m[0] = False
    return F.cross_entropy(a[m], t[m], label_smoothing=0.1, ignore_index=-1, reduction="sum")


def workload():
    return f, [
        (torch.randn(3, 4, requires_grad=True), torch.tensor([1, 2, 3])),
        (torch.randn(3, 4, requires_grad=True), torch.tensor([-1, -1, 2])),
    ]
""",
    "maxmin": """
def f(x: Tensor):
    x = F.softmax(x, -1) * 5 - 1
    m = x > 0
    return x[m].max() - x[~m].min()


def workload():
    return f, [(torch.randn(3, 3),), (torch.randn(3, 5, requires_grad=True),)]
""",
    "chained_defs": """
def f(pred: Tensor, target: Tensor, mask: Tensor):
    mask = mask.bool()
    pred = pred[mask]
    target = target[mask]
    diff = pred - target
    return (diff * diff).mean()


def workload():
    return f, [
        (torch.randn(3, 3, requires_grad=True), torch.randn(3, 3), torch.tensor([1, 0, 1])),
        (torch.randn(3, 3, requires_grad=True), torch.randn(3, 3), torch.zeros(3)),
        (torch.randn(3, requires_grad=True), torch.randn(3), torch.ones(3)),
    ]
""",
    "made_with_numbers": """
class Margins(nn.Module):
    def __init__(self, m=0.5, gamma=8):
        super().__init__()
        self.gamma = gamma
        self.op = 1 + m

    def forward(self, mat: Tensor, mask: Tensor):
        kept = mask.bool()
        positive = mat[kept]
        out = torch.zeros_like(mat)
        out[kept] = -self.gamma * torch.relu(self.op - positive.detach()) * positive
        losses = out.sum(1)
        empty = torch.where(torch.sum(mask, dim=1) == 0)[0]
        counted = torch.ones_like(losses)
        counted[empty] = 0
        return losses * counted


def workload():
    torch.manual_seed(0)
    return Margins(), [
        (torch.randn(4, 4, requires_grad=True), torch.randint(0, 2, (4, 4))),
        (torch.randn(4, 4, requires_grad=True), torch.zeros(4, 4)),
    ]
""",
    "mask_of_selected_written": """
def f(a: torch.FloatTensor, out: torch.FloatTensor):
    out = out.clone()
    a = a[a > 0]
    out[a > 0] = a * 2
    return out


def workload():
    return f, [(torch.tensor([1.0, -1.0, 2.0]), torch.zeros(2))]
""",
    "selected_before_change": """
def f(a: torch.FloatTensor, m: torch.BoolTensor):
    x = a[m]
    out = torch.zeros_like(a)
    a = a * 3
    out[m] = x * 2
    return out + a


def workload():
    return f, [(torch.tensor([1.0, -1.0, 2.0]), torch.tensor([True, False, True]))]
""",
    "selected_from_old_target": """
def f(a: torch.FloatTensor, m: torch.BoolTensor):
    out = a.clone()
    x = out[m]
    out += 1
    out[m] = x * 2
    return out


def workload():
    return f, [(torch.tensor([1.0, -1.0, 2.0]), torch.tensor([True, False, True]))]
""",
    "confusion": """
def f(label: Tensor, pred: Tensor, n: int):
    mask = (label >= 0) & (label < n)
    return torch.bincount(n * label[mask].to(torch.int64) + pred[mask], minlength=n**2).reshape(n, n)


def workload():
    return f, [
        (torch.randint(-1, 4, (3, 4)), torch.randint(0, 3, (3, 4)), 3),
        (torch.full((5,), 255), torch.zeros(5, dtype=torch.long), 3),
        (torch.randint(0, 3, (3, 4)).to(torch.uint8), torch.randint(0, 3, (3, 4)), 3),
    ]
""",
    "histogram_and_total": """
def f(preds: torch.LongTensor, target: torch.LongTensor, ignored: int, n: int):
    index = target * n + preds
    index = index[target != ignored]
    bins = torch.bincount(index, minlength=n * n)
    return bins.reshape(n, n) / index.numel()


def workload():
    return f, [
        (torch.randint(0, 3, (12,)), torch.randint(-1, 3, (12,)), -1, 3),
        (torch.zeros(2, dtype=torch.long), torch.full((2,), -1), -1, 2),
    ]
""",
    "entropy": """
def f(p: Tensor):
    p = p * 1.5
    p = p[p > 0]
    n = p.sum()
    return -torch.sum((p / n) * (torch.log(p) - torch.log(n)))


def workload():
    first = torch.tensor([1.0, -1.0, 1.0, 0.0], requires_grad=True)
    second = torch.tensor([1.0, nan, 1.0, 0.0], requires_grad=True)
    return f, [(first,), (second,), (torch.tensor([-1.0], requires_grad=True),)]
""",
    "ties": """
def f(x: Tensor):
    ties = torch.zeros(x.shape[1])
    others = torch.zeros(x.shape[1])
    for dim in range(x.shape[1]):
        counts = x[:, dim] * 2
        counts = counts[counts > 1]
        ties[dim] = (counts * (counts - 1) / 2).sum()
        others[dim] = (counts * (counts - 1.0) * (2 * counts + 5)).sum()
    return ties, others


def workload():
    return f, [(torch.randn(5, 3),), (torch.zeros(5, 2),), (torch.full((2, 1), nan),)]
""",
    "counted_pair": """
def f(preds: Tensor, target: Tensor):
    idx = target != -1
    preds = preds[idx]
    target = target[idx]
    tp = ((preds == target) & (preds == 1)).sum()
    fn = ((preds != target) & (preds == 0)).sum()
    return tp, fn, (tp + fn) / target.numel()


def workload():
    return f, [
        (torch.tensor([1, 0, 1, 1]), torch.tensor([1, 1, -1, 0])),
        (torch.tensor([1, 0]), torch.tensor([-1, -1])),
    ]
""",
    "one_in_another": """
def f(a: Tensor, w: Tensor):
    keep = a > 0
    a = a[keep]
    w = w[keep]
    return (a * w / w.sum()).sum() * a.mean()


def workload():
    return f, [
        (torch.tensor([1.0, -1.0, 1.0, 1.0], requires_grad=True), torch.tensor([1.0, 2.0, 3.0, nan])),
        (torch.tensor([1.0, -1.0, 1.0, 1.0], requires_grad=True), torch.tensor([1.0, nan, 3.0, 2.0])),
    ]
""",
    "rows_of_clusters": """
def f(data: Tensor, labels: Tensor):
    within = torch.tensor(0.0)
    for k in range(3):
        cluster = data[labels == k, :]
        centre = cluster.mean(dim=0)
        within += ((cluster - centre) ** 2).sum()
    return within


def workload():
    return f, [
        (torch.arange(24.0).view(6, 4).requires_grad_(), torch.tensor([0, 1, 2, 0, 1, 2])),
        (torch.arange(8.0).view(2, 4), torch.tensor([0, 1])),
    ]
""",
    "end_points": """
def f(a: Tensor, b: Tensor, m: Tensor):
    valid = m > 0
    err = torch.norm(a[valid] - b[valid], dim=-1)
    return err.mean(), (err < 1.0).float().mean(), err.max()


def workload():
    lengths = torch.tensor([[1.0, 2.0, 0.0], [4.0, 0.5, 8.0]])
    plain = lengths[..., None] * torch.tensor([3.0, 0.0, 4.0, 0.0])
    first = plain.clone()
    first[0, 0] = nan
    first.requires_grad_()
    return f, [
        (plain.requires_grad_(), torch.zeros(2, 3, 4), torch.tensor([[-1.0, 1, 1], [1, 0, 1]])),
        (first, torch.zeros(2, 3, 4), torch.tensor([[-1.0, 1, 1], [1, 0, 1]])),
        (torch.ones(2, 3, 4, requires_grad=True), torch.ones(2, 3, 4), torch.ones(2, 3)),
    ]
""",
    "weighted_rows": """
def f(a: Tensor, w: Tensor, m: torch.BoolTensor):
    return ((a[m] ** 2).sum(-1) * w[m]).sum() / w[m].sum()


def workload():
    return f, [
        (torch.randn(2, 3, 4, requires_grad=True), torch.randn(2, 3), torch.randn(2, 3) > 0),
        (torch.randn(2, 3, 4, requires_grad=True), torch.randn(2, 3), torch.zeros(2, 3) > 0),
    ]
""",
    "root_of_rows": """
def f(a: Tensor, b: Tensor, m: torch.BoolTensor):
    d = (a[m] - b[m]).pow(2).sum(dim=-1).sqrt()
    return d.mean()


def workload():
    a = torch.randn(2, 3, 4)
    m = torch.tensor([[True, False, True], [True, True, False]])
    b = a.clone()
    b[m] += 1
    return f, [(a.requires_grad_(), b, m)]
""",
    "normalised_rows": """
def f(a: Tensor, m: torch.BoolTensor):
    x = a[m]
    x = x / x.norm(dim=-1, keepdim=True)
    return x.sum(), x.abs().mean()


def workload():
    a = torch.tensor([[1.0, 0.0, 2.0], [4.0, 0.5, 8.0]])[..., None] * torch.tensor([0.0, 0.0, 1.0, 0.0])
    return f, [(a.requires_grad_(), torch.tensor([[True, False, True], [True, True, False]]))]
""",
    "name_used_again": """
def f(a: Tensor):
    x = a[a > 0]
    s = x.sum()
    x = a[a < 0]
    return s - x.sum()


def workload():
    return f, [(torch.tensor([1.0, -1.0, 1.0, nan], requires_grad=True),), (torch.zeros(0),)]
""",
    "returned_too": """
def f(a: Tensor, m: Tensor):
    m = m > 0
    x = a[m]
    return x.mean(), x


def workload():
    return f, [(torch.randn(4), torch.tensor([1.0, -1.0, 1.0, 0.0]))]
""",
    "mask_of_selected": """
def f(a: Tensor, b: Tensor):
    a = a[a > 0]
    b = b[a > 0]
    return (a * b).sum()


def workload():
    return f, [(torch.tensor([1.0, -1.0, 1.0, 1.0]), torch.tensor([1.0, 2.0, 3.0]))]
""",
    "kept_for_next_turn": """
def f(a: Tensor):
    out = torch.zeros(())
    for i in range(3):
        out = out + a.max()
        a = a[a < 3]
        out = out + a.mean()
    return out


def workload():
    return f, [(torch.tensor([1.0, -1.0, 5.0, 1.0]),)]
""",
    "read_by_closure": """
def f(a: Tensor):
    x = a[a > 0]
    s = x.sum()
    later = lambda: x
    return s, later()


def workload():
    return f, [(torch.tensor([1.0, -1.0, 1.0, 1.0], requires_grad=True),)]
""",
    "last_dimension_is_masks": """
def f(a: Tensor):
    x = a[a > 0]
    return x.sum(-1).mean()


def workload():
    return f, [(torch.tensor([1.0, -1.0, 1.0, 1.0], requires_grad=True),)]
""",
    "defs_two_uses": """
def f(pred: Tensor, target: Tensor, mask: Tensor):
    mask = mask.bool()
    pred = pred[mask]
    target = target[mask]
    a = (pred - target).abs().mean()
    b = (pred - target).abs().max()
    return a, b


def workload():
    return f, [(torch.randn(3, 3, requires_grad=True), torch.randn(3, 3), torch.tensor([1, 0, 1]))]
""",
    "two_means": """
def f(x: Tensor):
    x = F.softmax(x, -1)
    pos = x[x > 0.2].mean()
    neg = x[x <= 0.2].mean()
    return pos - neg


def workload():
    return f, [(torch.randn(3, 3),), (torch.randn(3, 5, requires_grad=True),)]
""",
    "masked_mean_dim": """
def f(x: Tensor):
    m = x > 0
    return x[m].mean(0), x[m].sum(dim=0), x[m].std()


def workload():
    return f, [(torch.randn(3, 3),)]
""",
}
_SIZES = {
    "rows_updated": """
def f(x: torch.FloatTensor, s: Tensor):
    idx = (s > 0).nonzero(as_tuple=False).view(-1)
    x = x * 1
    x[idx] = x[idx] * 2
    x[idx] += 1.0
    return x * idx.shape[0]


def workload():
    return f, [
        (torch.randn(3, 4, requires_grad=True), torch.tensor([1.0, -1, 1])),
        (torch.randn(3, 4, requires_grad=True), torch.tensor([-1.0, nan, -1])),
    ]
""",
    "rows_of_rebound_mask": """
def f(x: torch.FloatTensor, s: torch.FloatTensor):
    idx = torch.where(s > 0)[0]
    s = s * 0
    x = x.clone()
    x[idx] = 1.0
    return x + s.sum()


def workload():
    return f, [(torch.randn(3, 2), torch.tensor([1.0, -1, 1]))]
""",
    "rows_kept": """
def f(x: torch.FloatTensor, s: torch.FloatTensor):
    idx = torch.nonzero(s > 0).squeeze(1)
    return x[idx]


def workload():
    return f, [(torch.randn(3), torch.tensor([1.0, -1, 1]))]
""",
    "perhaps_one_row": """
def f(x: torch.FloatTensor, s: torch.FloatTensor):
    idx = torch.nonzero(s > 0).squeeze()
    return x[idx].sum(0)


def workload():
    return f, [(torch.randn(3, 2), torch.tensor([1.0, -1, -1]))]
""",
    "row_numbers_needed": """
def f(x: torch.FloatTensor, s: torch.FloatTensor):
    idx = torch.where(s > 0)[0]
    x = x.clone()
    x[idx] = 1.0
    return x + idx.sum()


def workload():
    return f, [(torch.randn(3), torch.tensor([1.0, -1, 1]))]
""",
    "mean_ranks": """
def f(data: Tensor):
    rank = torch.empty_like(data, dtype=torch.int32)
    rank[data.argsort()] = torch.arange(1, data.numel() + 1, dtype=torch.int32)
    uniq, inv, counts = torch.unique(data, sorted=True, return_inverse=True, return_counts=True)
    sums = torch.zeros_like(uniq, dtype=torch.int32)
    sums.scatter_add_(0, inv, rank.to(torch.int32))
    means = sums / counts
    return means[inv]


def workload():
    return f, [
        (torch.tensor([1.0, nan, 2.0, nan, 1.0, -0.0, 0.0, inf, inf, 2.0]),),
        (torch.zeros(0),),
        (torch.randint(0, 4, (20,)),),
        (torch.ones(3, requires_grad=True),),
    ]
""",
    "numbering_of_matrix": """
def f(x: torch.FloatTensor, w: Tensor):
    _, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    ranks = counts.cumsum(dim=0)
    return ranks[inverse], w[inverse], inverse.max()


def workload():
    return f, [(torch.randint(0, 4, (4, 5)).float(), torch.randn(20, requires_grad=True))]
""",
    "how_many": """
def f(x: Tensor, y: torch.FloatTensor):
    first = len(torch.unique(x, dim=None))
    second = y.unique().shape[0]
    return x * first, y * second


def workload():
    edges = torch.tensor([1.0, nan, 2.0, nan, 1.0, -0.0, 0.0, inf, inf, -inf, -inf])
    return f, [
        (torch.tensor([3, 1, 3]), edges),
        (torch.zeros(0), edges.half()),
        (torch.tensor([True, False, True]), torch.ones(3)),
    ]
""",
    "room_is_seen": """
def f(x: Tensor):
    values, inverse = torch.unique(x, return_inverse=True)
    sums = torch.zeros_like(values)
    sums.scatter_add_(0, inverse, x)
    return sums


def workload():
    return f, [(torch.tensor([1.0, 2.0, 1.0]),)]
""",
    "room_is_summed": """
def f(x: Tensor):
    _, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
    share = counts / counts.max()
    return share[inverse], counts.float().mean()


def workload():
    return f, [(torch.tensor([1.0, 2.0, 1.0]),)]
""",
    "count_is_size": """
def f(x: Tensor):
    return torch.zeros(len(torch.unique(x)))


def workload():
    return f, [(torch.tensor([1.0, 2.0, 1.0]),)]
""",
    "bincount": """
def f(x: Tensor, n: int):
    x = x.long()
    return torch.bincount(x, minlength=n)


def workload():
    return f, [
        (torch.tensor([0, 2, 2]), 4),
        (torch.tensor([], dtype=torch.long), 3),
        (torch.tensor([1, 1]).int(), 2),
    ]
""",
    "unique_len": """
def f(target: Tensor):
    u = torch.unique(target)
    ok = (u > 0).all()
    return ok, len(u)


def workload():
    return f, [(torch.tensor([0, 1, 1]),)]
""",
    "unique_changed": """
def f(target: Tensor):
    u = target.unique()
    target = target + 1
    return (u > 0).all(), u.max()


def workload():
    return f, [(torch.tensor([0, 1, 1]),)]
""",
    "unique_inplace": """
def f(target: Tensor):
    u = target.unique()
    target += 1
    return (u > 0).all(), u.max()


def workload():
    return f, [(torch.tensor([0, 1, 1]),)]
""",
    "unique_max": """
def f(target: Tensor):
    u = target.unique()
    return (u > 0).all() & (u * u - u == 0).any(), u.max()


def workload():
    return f, [(torch.tensor([0, 1, 1]),), (torch.tensor([[0, 1], [2, 3]]),), (torch.tensor([nan, 1.0]),)]
""",
    "unique_shape": """
def f(target: Tensor, y: Tensor):
    u = target.unique()
    return (u == y).any()


def workload():
    return f, [(torch.tensor([0, 1, 1]), torch.tensor([1, 0]))]
""",
}
_UNTOUCHED_SIZES = frozenset(
    {
        "unique_len",
        "unique_changed",
        "unique_inplace",
        "unique_shape",
        "unique_max",
        "room_is_seen",
        "room_is_summed",
        "count_is_size",
        "rows_kept",
        "perhaps_one_row",
        "row_numbers_needed",
    }
)
_UNTOUCHED_WRITES = frozenset(
    {"leaf", "scale_scalar_param", "intdiv", "uint8", "expanded", "self_alias", "temp_reused", "temp_between"}
)
_UNTOUCHED_REDUCTIONS = frozenset(
    {
        "count_shape",
        "nonzero_numel2d",
        "mask_of_selected_written",
        "selected_before_change",
        "selected_from_old_target",
        "returned_too",
        "mask_of_selected",
        "kept_for_next_turn",
        "read_by_closure",
        "last_dimension_is_masks",
    }
)


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


_WITHOUT_FLAGS = frozenset(ASSUMPTIONS) - {"capture-scalars"}
"""What leaves the code of a function as it is counts as untouched; a flag at the top of its file would be a change."""


def _rewritten(source: str, tmp_path: Path, allowed: frozenset[str] | None) -> tuple[str, str]:
    text = _HEAD + source
    path = tmp_path / "program.py"
    return text, execution.after(execution.rewritten(path, text, allowed), text)


def _same(before: str, after: str) -> list[str]:
    old = execution.observe(execution.execute(before, "program")["workload"])
    return execution.differences(old, execution.observe(execution.execute(after, "program")["workload"]))


@pytest.mark.parametrize("name", _WRITES)
def test_safe_writes_do_the_same(name: str, tmp_path: Path) -> None:
    before, after = _rewritten(_WRITES[name], tmp_path, frozenset())
    if name in _UNTOUCHED_WRITES:
        assert after == before
    assert _same(before, after) == []


@pytest.mark.parametrize("name", _REDUCTIONS)
def test_reductions_do_the_same(name: str, tmp_path: Path) -> None:
    # The inputs are within what the assumptions allow, and their sums are few elements long.
    before, after = _rewritten(_REDUCTIONS[name], tmp_path, _WITHOUT_FLAGS)
    assert (after == before) == (name in _UNTOUCHED_REDUCTIONS)
    assert _same(before, after) == []


@pytest.mark.parametrize("name", _SIZES)
def test_known_sizes_do_the_same(name: str, tmp_path: Path) -> None:
    before, after = _rewritten(_SIZES[name], tmp_path, _WITHOUT_FLAGS)
    assert (after == before) == (name in _UNTOUCHED_SIZES)
    assert _same(before, after) == []


def test_a_long_half_precision_mean_needs_the_assumption(tmp_path: Path) -> None:
    source = """
def f(x: Tensor):
    x = F.softmax(x, -1) * 60000
    return x[x > 0].mean()
def workload():
    return f, [(torch.zeros(3, 3).half(),)]
"""
    before, after = _rewritten(source, tmp_path, frozenset({"same-shape-dtype"}))
    assert after == before

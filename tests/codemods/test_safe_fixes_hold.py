"""Small programs, each with a fact that is nearly true: the safe fixes leave what a run shows as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import after, differences, execute, observe, rewritten  # noqa: E402

HEAD = """
import contextlib

import torch
import torch.nn.functional as F
from torch import nn


def put(into: torch.Tensor, value: torch.Tensor) -> None:
    into.add_(value)


def put_through(first: torch.Tensor, second: torch.Tensor):
    put(second, first)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.tensor(0.5))
        self.act = nn.GELU()

"""
FLOATS = ([1.0, 2.0, 3.0], [-1.0, -2.0, -3.0], [0.0, -0.0, float("nan")], [float("inf"), -1.0, 0.5], [])
WRITES = {
    "add_": "a.add_(self.p)",
    "copy_": "a.copy_(self.p * x)",
    "fill_": "a.fill_(self.p)",
    "masked_fill_": "a.masked_fill_(a > 0, self.p)",
    "an index": "a[...] = self.p",
    "an index of a view": "a.view(1, -1)[0] = self.p",
    "another name": "b = a; b += self.p",
    "a view": "v = a.view(-1); v += self.p",
    "a view without a name": "a.view(-1).add_(self.p)",
    "the class's method": "torch.Tensor.add_(a, self.p)",
    "a bound method": "add = a.add_; add(self.p)",
    "an operator's method": "a.__iadd__(self.p)",
    "several tensors at once": "torch._foreach_add_([a], self.p)",
    "an item of a list": "items = [a]; items[0] += self.p",
    "an item of a dict": "items = {'a': a}; items['a'].add_(self.p)",
    "a loop over a tuple": "[t.add_(self.p) for t in (a,)]",
    "a lambda": "(lambda t: t.add_(self.p))(a)",
    "a function": "put(a, self.p)",
    "a function of a function": "put_through(self.p, a)",
    "one side of an expression": "a.add_(self.p) if x.dim() == 1 else None",
    "an attribute": "self.kept = a; self.kept += self.p",
    "an attribute that is set by its name": "setattr(self, 'kept', a); self.kept.add_(self.p)",
    "requires_grad_": "a.requires_grad_()",
    "requires_grad": "a.requires_grad = True",
}


def _rows(of: Sequence[Sequence[float]] = FLOATS) -> list[tuple[object, ...]]:
    return [(torch.tensor(row, requires_grad=needs),) for needs in (True, False) for row in of]


def _differ(text: str, inputs: list[tuple[object, ...]] | None = None) -> list[str]:
    """Where a program and what the safe fixes make of it differ; the callable is `Net()`, or `f`."""
    seen = []
    safe = after(rewritten(Path("/nowhere/program.py"), text, frozenset()), text)
    for version in (text, safe):
        space = execute(version, "program")
        called = space["f"] if "f" in space else space["Net"]()
        seen.append(observe(lambda called=called: (called, _rows() if inputs is None else inputs), calls=1))
    return differences(*seen)


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_what_is_written_in_place_hangs_on_what_was_written(write: str) -> None:
    body = f"""    def forward(self, x: torch.FloatTensor):
        a = torch.zeros_like(x)
        {write}
        y = a * 1.0
        if (x > 0).any():
            y = y * 2.0 + x * 0.0
        else:
            y = x * 1.0
        return y * 1.0
"""
    assert not _differ(HEAD + body)
    number = f"""    def forward(self, x: torch.FloatTensor):
        a = torch.zeros_like(x)
        {write}
        s = a.double().sum()
        return x.view(1, -1) * s.item()
"""
    assert not _differ(HEAD + number)


FUNCTIONS = {
    "a generator has handed it out": """
def halved(x: torch.FloatTensor):
    h = x * 2.0
    yield h
    if (x > 0).any():
        h = h * 0.5
    yield h


def f(x: torch.FloatTensor):
    first, last = halved(x)
    first += 1.0
    return first, last
""",
    "a function that is made holds it": """
def held(t):
    def inner():
        return t

    return inner


def f(x: torch.FloatTensor):
    h = x * 2.0
    kept = held(h)
    if x.sum() > 3:
        h = h * 0.5
    return h, kept()
""",
    "a buffer holds it": """
class Net(nn.Module):
    def forward(self, x: torch.FloatTensor):
        h = x.detach() * 2.0
        self.register_buffer("kept", h, persistent=False)
        if (x > 0).any():
            h = h * 0.5
        h.add_(1.0)
        return h
""",
    "rows that were cut from it at once": """
def f(x: torch.FloatTensor):
    h = x * 2.0
    rows = h.unbind(0)
    if (x > 0).all():
        h[h > 1.0] = 0.0
    return [row * 1.0 for row in rows]
""",
    "a subclass gives an array for a size": """
import numpy as np
class Base(nn.Module):
    def size(self, x):
        return x.shape[0]
    def forward(self, x: torch.FloatTensor):
        return int(np.ceil(np.max(self.size(x)) / 2)), int(np.ceil(self.size(x) / 2)), x * 1.0
class Net(Base):
    def size(self, x):
        return np.array([x.shape[0]])[0:1].max() if x.dim() > 1 else float("inf")
f = Net()
""",
    "a mixin gives another dict": """
class Base(nn.Module):
    def parts(self, x):
        return {"b": x, "a": x}
    def forward(self, x: torch.FloatTensor):
        return sorted(self.parts(x).items())
class Pairs(dict):
    def items(self):
        return [("b", 1), ("a", 3), ("a", 2)]
class Mixin:
    def parts(self, x):
        return Pairs()
class Net(Mixin, Base):
    pass
f = Net()
""",
    "a module is imported later in the function": """
import numpy as np
def f(x: torch.FloatTensor):
    n = int(np.ceil(x.shape[0] / 2))
    import math
    return math.sqrt(n), x * 1.0
""",
    "a parameter with the name of a module": """
import math
import numpy as np
def g(x: torch.FloatTensor, math: int):
    return int(np.ceil(x.shape[0] / 2)) * math
def f(x: torch.FloatTensor):
    return g(x, 2), math.pi, x * 1.0
""",
    "a global that requires a gradient": """
W = torch.ones(3, requires_grad=True)
def f(x: torch.FloatTensor):
    return x.view(1, -1) * W.double().sum().item(), W
""",
    "a new tensor that requires a gradient": """
def f(x: torch.FloatTensor):
    a = x.new_ones(3, requires_grad=True)
    return x.view(1, -1) * a.double().sum().item(), a
""",
    "plus is the tensor itself": """
def f(x: torch.FloatTensor):
    h = x.detach() * 2.0
    k = h
    if (x > 0).any():
        h = h + 1.0
    t = +h
    t.add_(1)
    return k * 1.0, h * 1.0
""",
    "einsum may give a view": """
def f(x: torch.FloatTensor):
    h = x.detach() * 2.0
    k = h
    if (x > 0).any():
        h = h + 1.0
    torch.einsum("...->...", h).add_(1)
    return k * 1.0, h * 1.0
""",
    "the memory is replaced": """
def f(x: torch.FloatTensor):
    h = x.detach() * 2.0
    k = h
    if (x > 0).any():
        h = h + 1.0
    setattr(h, "data", h + 1)
    return k * 1.0, h * 1.0
""",
    "the names of the function": """
def f(x: torch.FloatTensor):
    h = x.detach() * 2.0
    k = h
    if (x > 0).any():
        h = h + 1.0
    locals()["h"].add_(1)
    return k * 1.0, h * 1.0
""",
    "an index without parts": """
def f(x: torch.FloatTensor):
    h = x.detach() * 2.0
    k = h
    if (x > 0).any():
        h = h + 1.0
    h[()].add_(1)
    return k * 1.0, h * 1.0
""",
    "the same tensor in a list": """
def f(x: torch.FloatTensor):
    y = x * 1.0
    z = [y]
    if (x > 0).any():
        y = x * 2.0
    return any(t is y for t in z), y * 1.0
""",
    "the other of max": """
def f(x: torch.FloatTensor):
    y = x * 1.0
    if torch.max(x, other=y) > 0:
        y = x * 2.0
    return y * 1.0
""",
    "hidden keywords": """
def f(x: torch.FloatTensor):
    options = {"dim": 0}
    y = x.view(1, -1).expand(2, -1) * 1.0
    if (y > 0).any(**options):
        y = y * 2.0
    return y * 1.0
""",
    "a loss that is told not to reduce": """
def f(x: torch.FloatTensor):
    y = x * 1.0
    if F.mse_loss(x, y, None, None, "none") >= 0:
        y = x * 2.0
    if F.l1_loss(x, x * 1.0, reduce=False) >= 0:
        y = x * 2.0
    return y * 1.0
""",
    "what is added comes first": """
def f(x: torch.FloatTensor):
    y = x * 1.0
    if torch.addmm(torch.tensor(1.0), x.view(-1, 1), x.view(1, -1)) > 0:
        y = x * 2.0
    return y * 1.0
""",
    "kron": """
def f(x: torch.FloatTensor):
    y = x * 1.0
    if torch.kron(torch.tensor(1.0), x) > 0:
        y = x * 2.0
    return y * 1.0
""",
    "a factor that is not finite": """
def f(x: torch.FloatTensor):
    y = x * 1.0
    if (x > 0).any():
        y = x * float("inf")
    if (x > 1).any():
        y = x.true_divide(0)
    if (x > 2).any():
        y = x * 1e300
    return y * 1.0
""",
    "a number that half precision does not hold": """
def f(x: torch.FloatTensor):
    y = x.half() * 1.0
    m = x > 1
    if (x > 0).any():
        y = y.masked_fill(m, -1e9)
    return y * 1.0
""",
    "the other side uses it without its gradient": """
def f(x: torch.FloatTensor):
    h = x.sqrt()
    if (x > 1).any():
        h = h.detach() * x
    k = x.sqrt()
    if (x > 1).any():
        y = k * 2.0 + x
    else:
        y = k.detach() * x
    return y * 1.0 + h
""",
    "a walrus behind and": """
def f(x: torch.FloatTensor):
    n = x * 1.0
    if x.dim() == 1 and (n := x.sum()) is not None:
        pass
    y = n
    if (x > 0).any():
        y = x * 2.0
    return y * 1.0
""",
}


def test_items_of_an_attribute_are_different_tensors() -> None:
    text = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.ps = [nn.Parameter(torch.tensor(1.0)), nn.Parameter(torch.tensor(2.0))]

    def forward(self, x: torch.FloatTensor):
        a, b = self.ps
        if (x > 0).any():
            y = x + a * 2.0
        else:
            y = x + b * 3.0
        return y
"""
    found = [f for f in rewritten(Path("/nowhere/program.py"), text, None).findings if f.code == "CF101"]
    assert [f.fix is not None and "gradient-zeros" in f.fix.assumptions for f in found] == [True]


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_zeros_in_the_place_of_none_are_named(write: str) -> None:
    text = (
        HEAD
        + f"""    def forward(self, x: torch.FloatTensor):
        a = torch.zeros_like(x)
        {write}
        y = a * 1.0
        if (x > 0).any():
            y = y * 2.0 + x * 0.0
        else:
            y = x * 1.0
        return y * 1.0
"""
    )
    found = [f for f in rewritten(Path("/nowhere/program.py"), text, None).findings if f.code == "CF101"]
    assert [f.fix is None or "gradient-zeros" in f.fix.assumptions for f in found] == [True]


def test_zeros_are_named_for_what_is_put_into_an_element() -> None:
    text = (
        HEAD
        + """    def forward(self, x: torch.FloatTensor):
        if (x > 0).all():
            k = torch.zeros(3)
            k[1] = self.p
        else:
            k = torch.zeros(3)
        return k
"""
    )
    found = [f for f in rewritten(Path("/nowhere/program.py"), text, None).findings if f.code == "CF101"]
    assert [f.fix is not None and "gradient-zeros" in f.fix.assumptions for f in found] == [True]


@pytest.mark.parametrize("text", FUNCTIONS.values(), ids=FUNCTIONS)
def test_functions(text: str) -> None:
    assert not _differ("import torch\nimport torch.nn.functional as F\nfrom torch import nn\n" + text)


WITHOUT_DIMENSIONS = {
    "the text of an assertion": """
def f(x: torch.FloatTensor):
    assert x.numel() < 100, f"bad {x.shape[0]}"
    return x * x.detach().double().sum().item()
""",
    "a chain that ends early": """
def f(x: torch.FloatTensor):
    few = 100 < x.numel() < x.shape[0]
    return x * x.detach().double().sum().item()
""",
    "a tensor that widens": """
def f(x: torch.FloatTensor):
    y = x * 1.0
    if (x > 3).any():
        y = x + x.double().sum()
    return y
""",
    "a weight without rows": """
def f(x: torch.FloatTensor):
    v = x.view(-1)
    return F.linear(v, v) * v.detach().double().sum().item()
""",
    "a layer that a subclass replaces": """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x: torch.FloatTensor):
        y = self.lin(x)
        return x * x.detach().double().sum().item(), y

class Net(Base):
    def __init__(self):
        super().__init__()
        self.lin = nn.Identity()
""",
    "a layer that other code replaces": """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(3, 3)

    def forward(self, x: torch.FloatTensor):
        y = self.lin(x)
        return x * x.detach().double().sum().item(), y

def Net():
    net = Base()
    net.lin = nn.Identity()
    return net
""",
    "a number that is a parameter in a subclass": """
class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.k = 2.0

    def forward(self, x: torch.FloatTensor):
        y = x * 1.0
        if (x > 3).any():
            y = x * self.k
        return y * 1.0

class Net(Base):
    def __init__(self):
        super().__init__()
        self.k = nn.Parameter(torch.tensor(2.0))
""",
}


@pytest.mark.parametrize("text", WITHOUT_DIMENSIONS.values(), ids=WITHOUT_DIMENSIONS)
def test_a_tensor_without_dimensions(text: str) -> None:
    inputs: list[tuple[object, ...]] = [(torch.tensor(value, requires_grad=True),) for value in (2.5, -1.0)]
    assert not _differ("import torch\nimport torch.nn.functional as F\nfrom torch import nn\n" + text, inputs)


OF_INTEGERS = (
    *("F.gelu(x)", "F.leaky_relu(x)", "x.lerp(x, x)", "x.addcdiv(x, x)", "x.hypot(x)", "x.frac()", "x ** -1"),
    *("x.pow(-1)", "torch.full_like(x, float('nan'))", "x.masked_fill(x > 0, 1e30)", "nn.GELU()(x)", "x.where(x, x)"),
)


@pytest.mark.parametrize("code", OF_INTEGERS)
def test_a_branch_that_refuses_integers(code: str) -> None:
    text = f"""
import torch
import torch.nn.functional as F
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.act = nn.GELU()

    def forward(self, x: torch.LongTensor):
        y = x * 1
        if (x > 5).any():
            y = {code.replace("nn.GELU()", "self.act")}
        return y
"""
    assert not _differ(text, [(torch.tensor([1, 0, -2]),), (torch.tensor([1, 2], dtype=torch.uint8),)])


def test_plus_of_bools() -> None:
    text = """
import torch

def f(x: torch.Tensor, c: torch.BoolTensor):
    y = x.clone()
    if c.any():
        y = +x
    return y
"""
    assert not _differ(text, [(torch.tensor([True, False]), torch.tensor([False]))])


STILL_SAFE = {
    "a tensor with dimensions": """
def f(x: torch.FloatTensor):
    y = x.view(-1) * 1.0
    if (x > 0).any():
        y = y + y.double().sum()
    return y * 1.0
""",
    "written with what it hangs on": """
def f(x: torch.FloatTensor):
    y = x * 1.0
    y += x
    if (x > 0).any():
        y = y * 2.0
    return y * 1.0
""",
    "both sides hang on what was written": """
def f(x: torch.FloatTensor, z: torch.FloatTensor):
    y = torch.zeros_like(x)
    y.add_(z.sum())
    if (x > 0).any():
        y = y * 2.0
    return y * 1.0
""",
    "a smallest number": """
def f(x: torch.FloatTensor):
    y = x * 1.0
    m = x > 0
    if (x > 1).any():
        y = y.masked_fill(m, torch.finfo(y.dtype).min)
    return y * 1.0
""",
}


@pytest.mark.parametrize("text", STILL_SAFE.values(), ids=STILL_SAFE)
def test_what_is_proved_stays_safe(text: str) -> None:
    text = "import torch\n" + text
    assert after(rewritten(Path("/nowhere/program.py"), text, frozenset()), text) != text
    count = text.count("FloatTensor")
    assert not _differ(text, [row * count for row in _rows()])

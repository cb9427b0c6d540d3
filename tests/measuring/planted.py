"""Rewrites for the verifier to judge: wrong ones, each with the comparison that must catch it, and true ones.

A case is a small file as it was, and the replacements that make the rewrite. `work` is the workload.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Literal

Caught = Literal[
    "outputs",
    "gradients",
    "state",
    "inputs",
    "exceptions",
    "text",
    "breaks",
    "recompiles",
    "slower",
    "compiled",
    "searched",
]


@dataclass(frozen=True)
class Planted:
    """One rewrite. `caught` names the comparison that shows it to be wrong; None for a true rewrite.

    `hint` is part of what the verifier says of the first difference. `useless` is part of why the whole command does
    not call a true rewrite proved although every result is the same. `eager` says that the comparison of the eager
    arms is enough to judge it.
    """

    name: str
    original: str
    patched: str
    caught: Caught | None
    hint: str = ""
    useless: str = ""

    @property
    def eager(self) -> bool:
        """Whether eager runs show it."""
        return self.caught not in ("breaks", "recompiles", "slower", "compiled", "searched")


_HEAD = "import logging\nimport warnings\n\nimport torch\nimport torch.nn.functional as F\nfrom torch import nn\n\n"


def _case(
    name: str,
    source: str,
    *changes: tuple[str, str],
    caught: Caught | None = None,
    hint: str = "",
    useless: str = "",
) -> Planted:
    original = _HEAD + textwrap.dedent(source).lstrip("\n")
    patched = original
    for old, new in changes:
        assert patched.count(old) == 1, f"{name}: {old!r} stands {patched.count(old)} times in the source"
        patched = patched.replace(old, new)
    return Planted(name, original, patched, caught, hint, useless)


_BRANCH = """
    def forward(x):
        if x.sum() > 0:
            y = x * 2
        else:
            y = x - 1
        return y

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(4, 3).abs(),)
"""
_IF = "    if x.sum() > 0:\n        y = x * 2\n    else:\n        y = x - 1\n"


def _where(condition: str, one: str = "x * 2", two: str = "x - 1") -> tuple[str, str]:
    return _IF, f"    y = torch.where({condition}, {one}, {two})\n"


_MODEL = """
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.one = nn.Linear(3, 3)
            self.two = nn.Linear(3, 3)
            self.norm = nn.BatchNorm1d(3)
            self.drop = nn.Dropout(0.5)
            self.register_buffer("seen", torch.zeros(()))
            self.calls = 0
            self._last = 0.0

        def forward(self, x):
            h = self.norm(self.one(x))
            if h.mean() > 0:
                h = self.two(h)
            h = self.drop(h)
            self.seen += 1
            self.calls += 1
            self._last = self._last + 1.0
            return h

    def work():
        torch.manual_seed(0)
        return Model(), [(torch.randn(4, 3),), (-torch.randn(4, 3),)]
"""
_MODEL_IF = "        if h.mean() > 0:\n            h = self.two(h)\n"

_SAYS = """
    logger = logging.getLogger("planted")
    logger.setLevel(logging.INFO)

    def forward(x):
        total = x.sum()
        if total > 100:
            logger.info("large: %.1f", total.item())
        y = x * 2
        print("sum", total.item())
        logger.info("done")
        print("end")
        return y

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(4, 3),)
"""

_CHECKS = """
    def forward(x, limit=10.0):
        if x.isnan().any():
            raise ValueError("the input holds NaN")
        if x.abs().max() > limit:
            raise ValueError(f"larger than {limit}")
        return x.sqrt()

    def work():
        torch.manual_seed(0)
        return forward, (torch.rand(4, 3),)
"""

_DRAWS = """
    def forward(x):
        a = torch.rand(3)
        b = torch.rand(3)
        if x.sum() > 0:
            y = x + a
        else:
            y = x + a
        return y - b

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(4, 3),)
"""
_DRAWS_IF = "    if x.sum() > 0:\n        y = x + a\n    else:\n        y = x + a\n"

_VIEWS = """
    def forward(x, y):
        if x.sum() > 0:
            out = x * 2
        else:
            out = x * 3
        return {"out": out, "same": y, "rows": (out[0], out[1])}

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(4, 3), torch.randn(4, 3))
"""
_VIEWS_IF = "    if x.sum() > 0:\n        out = x * 2\n    else:\n        out = x * 3\n"
_VIEWS_WHERE = "    out = torch.where(x.sum() > 0, x * 2, x * 3)\n"

_FILLS = """
    def forward(x, out):
        limit = x.abs().max().item()
        out.add_(x * limit)
        return out.sum()

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(4, 3), torch.zeros(4, 3))
"""

_MEMORY = """
    class Memory(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("mean", torch.zeros(3))
            self.register_buffer("steps", torch.zeros((), dtype=torch.long))

        def forward(self, x):
            out = x - self.mean
            if self.steps.item() == 0:
                self.mean = x.mean(0)
            else:
                self.mean = 0.9 * self.mean + 0.3 * x.mean(0)
            self.steps += 1
            return out

    def work():
        torch.manual_seed(0)
        return Memory(), (torch.randn(4, 3),)
"""
_MEMORY_IF = (
    "        if self.steps.item() == 0:\n            self.mean = x.mean(0)\n"
    "        else:\n            self.mean = 0.9 * self.mean + 0.3 * x.mean(0)\n"
)

_SAFE_LOG = """
    class Scaled(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.tensor([1.0, 2.0, 3.0]))
            self.bias = nn.Parameter(torch.tensor([0.5, 0.5, 0.5]))

        def forward(self, x):
            s = x * self.weight
            if s.min() > 0:
                y = torch.log(s) + self.bias
            else:
                y = s + self.bias
            return y

    def work():
        torch.manual_seed(0)
        return Scaled(), [(torch.rand(4, 3) + 0.5,), (torch.zeros(4, 3),)]
"""
_SAFE_LOG_IF = (
    "        if s.min() > 0:\n            y = torch.log(s) + self.bias\n        else:\n            y = s + self.bias\n"
)

_SUMS = """
    def forward(x):
        total = x.double().sum().float()
        if total > 0:
            return x - total
        return x + total

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(64, 16),)
"""
_SUMS_IF = "    if total > 0:\n        return x - total\n    return x + total\n"
_SUMS_WHERE = "    return torch.where(total > 0, x - total, x + total)\n"

_ROWS = """
    def forward(x, w):
        rows = []
        for row in x:
            rows.append(row * w if row.sum() > 0 else row)
        return torch.stack(rows)

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(4, 3), torch.ones(3) * 2)
"""
_ROWS_LOOP = (
    "    rows = []\n    for row in x:\n        rows.append(row * w if row.sum() > 0 else row)\n"
    "    return torch.stack(rows)\n"
)

_GLOBAL = """
    STEPS = 0
    HISTORY = []

    def forward(x):
        global STEPS
        STEPS += 1
        HISTORY.append(STEPS)
        if x.sum() > 0:
            y = x * 2
        else:
            y = x - 1
        return y

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(4, 3),)
"""

_PICKS = """
    def forward(x):
        best = x.max()
        if (x == best).sum() > 1:
            return x * 0
        return x

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(4, 3),)
"""

_EMPTY = """
    def forward(x):
        if x.numel() == 0:
            return torch.zeros(x.shape[1])
        if x.sum() > 0:
            return x.mean(0)
        return x.mean(0) - 1

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(4, 3),)
"""
_EMPTY_IF = "    if x.sum() > 0:\n        return x.mean(0)\n    return x.mean(0) - 1\n"
_EMPTY_GUARD = "    if x.numel() == 0:\n        return torch.zeros(x.shape[1])\n"

_HOOKED = """
    class Hooked(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 3)
            self.linear.register_forward_hook(self._count)
            self.hits = 0

        def _count(self, module, args, output):
            self.hits += 1

        def forward(self, x):
            h = self.linear(x)
            return h * 2 if h.sum() > 0 else h

    def work():
        torch.manual_seed(0)
        return Hooked(), (torch.randn(4, 3),)
"""

_DETACHED = """
    class Gate(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate = nn.Linear(3, 1)
            self.body = nn.Linear(3, 3)

        def forward(self, x):
            g = self.gate(x).mean()
            scale = g.item()
            return self.body(x) * scale

    def work():
        torch.manual_seed(0)
        return Gate(), (torch.randn(4, 3),)
"""

_EXPERTS = """
    class Two(nn.Module):
        def __init__(self):
            super().__init__()
            self.left = nn.Linear(3, 3)
            self.right = nn.Linear(3, 3)

        def forward(self, x):
            if x.sum() > 0:
                return self.left(x)
            return self.right(x)

    def work():
        torch.manual_seed(0)
        return Two(), [(torch.ones(4, 3),), (-torch.ones(4, 3),)]
"""
_EXPERTS_IF = "        if x.sum() > 0:\n            return self.left(x)\n        return self.right(x)\n"

_WARNS = """
    def forward(x):
        if x.sum() < 0:
            warnings.warn("negative sum", UserWarning)
        return x * 2

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(4, 3),)
"""

_TWO_BREAKS = """
    def forward(x):
        if x.sum() > 0:
            y = x * 2
        else:
            y = x - 1
        if y.mean() > 3:
            y = y - 3
        return y * 2

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(4, 3),)
"""
_TWO_FIRST = _IF
_TWO_SECOND = "    if y.mean() > 3:\n        y = y - 3\n"

_HALF = """
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.proj = nn.Linear(4, 4)
            self.gain = nn.Parameter(torch.tensor([1.5]))

        def forward(self, x):
            return self.proj(x) * self.gain.detach().float().item()

    def work():
        torch.manual_seed(0)
        return Model().eval(), (torch.randn(2, 4),)
"""
_SIGNS = """
    def forward(x, size):
        if x.abs().max() > 10.0:
            x = x.clamp(-10.0, 10.0)
        return torch.copysign(size, x)

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(3, 4), torch.rand(4) + 0.5)
"""
_LIMITED = """
    class Model(nn.Module):
        def __init__(self, limit=3.0):
            super().__init__()
            self.proj = nn.Linear(4, 4)
            self.limit = limit

        def forward(self, x):
            h = self.proj(x)
            if h.abs().max() > self.limit:
                h = h.clamp(-self.limit, self.limit)
            return h

    def work():
        torch.manual_seed(0)
        return Model(limit=1.0).eval(), (torch.randn(2, 4),)
"""
_LIMITED_IF = (
    "        if h.abs().max() > self.limit:\n            h = h.clamp(-self.limit, self.limit)\n        return h\n"
)
_LIMITED_WHERE = "        return torch.where(h.abs().max() > self.limit, h.clamp(-self.limit, self.limit), h)\n"
_NOISY = """
    from collections import deque

    class Noisy(nn.Module):
        def __init__(self):
            super().__init__()
            self.source = torch.Generator().manual_seed(3)
            self.seen = deque(maxlen=4)
            self.proj = nn.Linear(4, 4)

        def forward(self, x):
            if self.training:
                x = x + torch.rand(x.shape, generator=self.source, dtype=x.dtype)
            h = self.proj(x)
            self.seen.append(x.shape[0])
            if h.norm() > 3.0:
                h = h / h.norm()
            return h * sum(self.seen)

    def work():
        torch.manual_seed(0)
        return Noisy(), (torch.randn(2, 4),)
"""
_NOISY_IF = "        if h.norm() > 3.0:\n            h = h / h.norm()\n"
_NOISY_WHERE = "        h = torch.where(h.norm() > 3.0, h / h.norm(), h)\n"
_SCHEDULED = """
    class Trainer:
        def __init__(self):
            self.model = nn.Linear(4, 1)
            self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-2)
            self.schedule = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda step: 1.0 / (step + 1))

        def step(self, x, y):
            h = self.model(x).squeeze(-1)
            if h.abs().max() > 4.0:
                h = h.clamp(-4.0, 4.0)
            loss = F.mse_loss(h, y)
            loss.backward()
            self.optimizer.step()
            self.optimizer.zero_grad()
            self.schedule.step()
            return loss.detach()

    def work():
        torch.manual_seed(0)
        return Trainer().step, (torch.randn(6, 4), torch.randn(6))
"""
_SCHEDULED_IF = "        if h.abs().max() > 4.0:\n            h = h.clamp(-4.0, 4.0)\n"
_SCHEDULED_WHERE = "        h = torch.where(h.abs().max() > 4.0, h.clamp(-4.0, 4.0), h)\n"
_COUNTED = """
    class Warm(nn.Module):
        def __init__(self):
            super().__init__()
            self.proj = nn.Linear(4, 4)
            self.num_calls = 0
            self._tables = {}

        def table(self, n):
            if n not in self._tables:
                self._tables[n] = torch.arange(n).float().cos()
            return self._tables[n]

        def forward(self, x):
            self.num_calls += 1
            h = self.proj(x) * self.table(x.shape[-1])
            if self.num_calls < 100:
                h = h * (self.num_calls / 100)
            return h

    def work():
        torch.manual_seed(0)
        return Warm(), (torch.randn(2, 4),)
"""
_COUNTED_BUFFER = (
    ("self.num_calls = 0", 'self.register_buffer("num_calls", torch.zeros((), dtype=torch.long), persistent=False)'),
    (
        "        if self.num_calls < 100:\n            h = h * (self.num_calls / 100)\n        return h\n",
        "        return h * torch.where(self.num_calls < 100, self.num_calls / 100, 1.0)\n",
    ),
)
_HEADS = """
    class Heads(nn.Module):
        def __init__(self):
            super().__init__()
            self.weights = nn.Parameter(torch.randn(2, 4, 3))

        def forward(self, x):
            total = torch.zeros(x.shape[0], 3)
            for head in range(2):
                total = total + x[:, head * 4 : head * 4 + 4] @ self.weights[head]
            return total if total.sum() > 0 else -total

    def work():
        torch.manual_seed(0)
        return Heads(), (torch.randn(5, 8),)
"""
_VIEWED = """
    def forward(x):
        total = x.reshape(-1).sum()
        if total > 0:
            x = x * 2
        return x + total

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(3, 4),)
"""
_VIEWED_IF = "    if total > 0:\n        x = x * 2\n"
_VIEWED_WHERE = "    x = torch.where(total > 0, x * 2, x)\n"
_LENGTHS = """
    def forward(x, lengths):
        if lengths.max() > 5:
            x = x * 0.5
        return x + 1

    def work():
        torch.manual_seed(0)
        return forward, (torch.randn(3, 4), torch.tensor([3, 6, 2]))
"""
_TOKENS = """
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(16, 4)

        def forward(self, ids):
            if ids.max() >= 16:
                raise IndexError("token out of range")
            return self.table(ids)

    def work():
        torch.manual_seed(0)
        return Model().eval(), (torch.randint(0, 16, (2, 6)),)
"""

_LISTS_IF = """        if x.sum() > 0:
            y = x * 2
        else:
            y = x * 3
"""
_LISTS_WHERE = "        y = torch.where(x.sum() > 0, x * 2, x * 3)\n"
_LISTS = f"""
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.names = ["first", "second"]

    def forward(self, x, history, given):
{textwrap.indent(textwrap.dedent(_LISTS_IF), "        ")}
        history.append(float(x.sum()))
        return y, list(self.names), given.pop("name")


def work():
    torch.manual_seed(0)
    return Net(), [(torch.randn(5, 4), [0.5], {{"name": "run"}})]
"""
_FILES = f"""
import tempfile


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = tempfile.TemporaryFile("w")
        self.calls = 0

    def forward(self, x):
{textwrap.indent(textwrap.dedent(_LISTS_IF), "        ")}
        self.calls += 1
        self.out.write(f"{{self.calls}} calls\\n")
        return y


def work():
    torch.manual_seed(0)
    return Net(), (torch.randn(5, 4),)
"""

WRONG: tuple[Planted, ...] = (
    _case("a branch off by the bound", _BRANCH, _where("x.sum() >= 0"), caught="outputs"),
    _case("sides swapped", _BRANCH, _where("x.sum() > 0", "x - 1", "x * 2"), caught="outputs"),
    _case("another sum on the other side", _BRANCH, _where("x.sum() > 0", two="x - 2"), caught="outputs", hint="-"),
    _case("selected by element", _BRANCH, _where("x > 0"), caught="outputs"),
    _case("the NaN side", _BRANCH, _where("x.sum() <= 0", "x - 1", "x * 2"), caught="outputs", hint="NaN"),
    _case("mean for sum, which infinities tell", _BRANCH, _where("(x > 0).any()"), caught="outputs"),
    _case(
        "result in another dtype", _BRANCH, _where("x.sum() > 0", "(x * 2).double()"), caught="outputs", hint="dtype"
    ),
    _case(
        "float32 whatever the input is",
        _BRANCH,
        _where("x.sum() > 0", "x.float() * 2", "x.float() - 1"),
        caught="outputs",
        hint="float64",
    ),
    _case("a dimension more", _BRANCH, ("    return y\n", "    return y[None]\n"), caught="outputs", hint="shape"),
    _case(
        "no longer contiguous",
        _BRANCH,
        ("    return y\n", "    return y.t().contiguous().t()\n"),
        caught="outputs",
        hint="contiguous",
    ),
    _case(
        "only right for four rows",
        _BRANCH,
        _where("x.sum() > 0", two="x - 4 / x.shape[0]"),
        caught="outputs",
        hint="size",
    ),
    _case("ties", _PICKS, ("(x == best).sum() > 1", "(x == best).sum() > 12"), caught="outputs"),
    _case(
        "empty input",
        _EMPTY,
        (_EMPTY_GUARD + _EMPTY_IF, "    return torch.where(x.sum() > 0, x.mean(0), x.mean(0) - 1)\n"),
        caught="outputs",
    ),
    _case(
        "a value of the loop is lost",
        _ROWS,
        (_ROWS_LOOP, "    return torch.where((x.sum(1) > 0)[:, None], x * w, x * 1.0001)\n"),
        caught="outputs",
    ),
    _case(
        "the loop's bound",
        _ROWS,
        (_ROWS_LOOP, "    return torch.where((x.sum(1) >= 0)[:, None], x * w, x)\n"),
        caught="outputs",
        hint="zero",
    ),
    _case("the float64 sum is dropped", _SUMS, ("x.double().sum().float()", "x.sum()"), caught="outputs"),
    _case(
        "aliasing: a copy instead of the input",
        _VIEWS,
        (_VIEWS_IF, _VIEWS_WHERE),
        ('"same": y', '"same": y.clone()'),
        caught="outputs",
        hint="shares memory",
    ),
    _case(
        "aliasing: the input instead of a copy",
        _VIEWS,
        (_VIEWS_IF, "    out = torch.where(x.sum() > 0, x * 2, x * 3)\n"),
        ('"same": y,', '"same": y, "more": 0,'),
        caught="outputs",
        hint="keys",
    ),
    _case(
        "aliasing: rows copied",
        _VIEWS,
        (_VIEWS_IF, _VIEWS_WHERE),
        ("(out[0], out[1])", "(out[0].clone(), out[1].clone())"),
        caught="outputs",
        hint="shares memory",
    ),
    _case(
        "a parameter has another name",
        _CHECKS,
        ("def forward(x, limit=10.0):", "def forward(x, bound=10.0):\n    limit = bound"),
        caught="state",
        hint="limit",
    ),
    _case(
        "parameters in another order",
        _LISTS,
        ("x, history, given):", "given, x, history):\n        x, history, given = given, x, history"),
        caught="state",
        hint="given",
    ),
    _case(
        "a line in an open file is lost",
        _FILES,
        (_LISTS_IF, _LISTS_WHERE),
        ('        self.out.write(f"{self.calls} calls\\n")\n', ""),
        caught="state",
        hint="out",
    ),
    _case(
        "a list of the module for a copy of it",
        _LISTS,
        (_LISTS_IF, _LISTS_WHERE),
        ("list(self.names)", "self.names"),
        caught="outputs",
        hint="shares memory",
    ),
    _case(
        "an entry in the caller's list is lost",
        _LISTS,
        (_LISTS_IF, _LISTS_WHERE),
        ("        history.append(float(x.sum()))\n", ""),
        caught="inputs",
        hint="args[1]",
    ),
    _case(
        "an entry in the caller's list becomes a tensor",
        _LISTS,
        (_LISTS_IF, _LISTS_WHERE),
        ("history.append(float(x.sum()))", "history.append(x.sum())"),
        caught="inputs",
        hint="args[1]",
    ),
    _case(
        "the caller's dict keeps what was taken out of it",
        _LISTS,
        (_LISTS_IF, _LISTS_WHERE),
        ('given.pop("name")', 'given["name"]'),
        caught="inputs",
        hint="args[2]",
    ),
    _case(
        "a list for a tuple",
        _VIEWS,
        (_VIEWS_IF, _VIEWS_WHERE),
        ("(out[0], out[1])", "[out[0], out[1]]"),
        caught="outputs",
        hint="tuple",
    ),
    _case(
        "keys in another order",
        _VIEWS,
        (_VIEWS_IF, _VIEWS_WHERE),
        ('{"out": out, "same": y,', '{"same": y, "out": out,'),
        caught="outputs",
        hint="keys",
    ),
    _case(
        "the input no longer asks for a gradient",
        """
        def forward(x):
            x.requires_grad_(True)
            if x.sum() > 0:
                return x * 2.0
            return x * 3.0

        def work():
            return forward, (torch.tensor([1.0, -2.0]),)
        """,
        ("    x.requires_grad_(True)\n", ""),
        caught="inputs",
        hint="args[0]",
    ),
    _case("the input is no longer written", _FILLS, ("out.add_(x * limit)", "out = out + x * limit"), caught="inputs"),
    _case(
        "the input is written", _BRANCH, (_IF, "    y = torch.where(x.sum() > 0, x.mul_(2), x - 1)\n"), caught="inputs"
    ),
    _case(
        "a gradient of zeros instead of None",
        _EXPERTS,
        (_EXPERTS_IF, "        return torch.where(x.sum() > 0, self.left(x), self.right(x))\n"),
        caught="gradients",
        hint="None",
    ),
    _case(
        "a NaN gradient from where",
        _SAFE_LOG,
        (_SAFE_LOG_IF, "        y = torch.where(s.min() > 0, torch.log(s) + self.bias, s + self.bias)\n"),
        caught="gradients",
        hint="nan",
    ),
    _case(
        "a parameter's gradient is lost",
        _MODEL,
        (_MODEL_IF, "        if h.mean() > 0:\n            h = F.linear(h, self.two.weight.detach(), self.two.bias)\n"),
        caught="gradients",
        hint="two.weight",
    ),
    _case("detach lost", _DETACHED, ("scale = g.item()", "scale = g"), caught="gradients", hint="gate"),
    _case(
        "detach added",
        _DETACHED,
        ("scale = g.item()", "scale = g.detach()"),
        ("self.body(x) * scale", "self.body(x).detach() * scale"),
        caught="outputs",
        hint="requires_grad",
    ),
    _case("detach of the input", _BRANCH, _where("x.sum() > 0", "x.detach() * 2"), caught="gradients", hint="args[0]"),
    _case(
        "a buffer that shows at the second call",
        _MEMORY,
        (_MEMORY_IF, "        self.mean = x.mean(0)\n"),
        caught="outputs",
        hint="call",
    ),
    _case(
        "a step that is no longer counted",
        _MEMORY,
        (
            _MEMORY_IF + "        self.steps += 1\n",
            "        self.mean = torch.where(self.steps == 0, x.mean(0), 0.9 * self.mean + 0.3 * x.mean(0))\n",
        ),
        caught="state",
        hint="steps",
    ),
    _case(
        "running statistics",
        _MODEL,
        (
            "h = self.norm(self.one(x))",
            "h = F.batch_norm(self.one(x), None, None, self.norm.weight, self.norm.bias, True)",
        ),
        caught="state",
        hint="norm.",
    ),
    _case(
        "an attribute is no longer counted",
        _MODEL,
        ("            self.calls += 1\n".lstrip(" "), "pass\n"),
        caught="state",
        hint="calls",
    ),
    _case(
        "a private attribute is no longer kept",
        _MODEL,
        ("self._last = self._last + 1.0", "self._last = self._last + 0.0"),
        caught="state",
        hint="_last",
    ),
    _case(
        "a global is no longer counted",
        _GLOBAL,
        ("    STEPS += 1\n    HISTORY.append(STEPS)\n", "    HISTORY.append(STEPS + 1)\n"),
        caught="state",
        hint="STEPS",
    ),
    _case("a list is no longer filled", _GLOBAL, ("    HISTORY.append(STEPS)\n", ""), caught="state", hint="HISTORY"),
    _case("no dropout", _MODEL, ("h = self.drop(h)", "h = h * 1.0"), caught="outputs"),
    _case(
        "only right in training", _MODEL, ("h = self.drop(h)", "h = F.dropout(h, 0.5)"), caught="outputs", hint="mode"
    ),
    _case(
        "random numbers in another order",
        _DRAWS,
        ("    a = torch.rand(3)\n    b = torch.rand(3)\n", "    b = torch.rand(3)\n    a = torch.rand(3)\n"),
        caught="outputs",
    ),
    _case("fewer random numbers", _DRAWS, ("    b = torch.rand(3)\n", "    b = a\n"), caught="outputs"),
    _case(
        "one more draw that nobody uses",
        _DRAWS,
        (_DRAWS_IF, "    torch.rand(1)\n    y = x + a\n"),
        caught="state",
        hint="random state",
    ),
    _case("a lost line", _SAYS, ('    print("end")\n', ""), caught="text", hint="end"),
    _case(
        "a line twice", _SAYS, ('    print("end")\n', '    print("end")\n    print("end")\n'), caught="text", hint="end"
    ),
    _case(
        "lines in another order",
        _SAYS,
        (
            '    print("sum", total.item())\n    logger.info("done")\n',
            '    logger.info("done")\n    print("sum", total.item())\n',
        ),
        caught="text",
        hint="another place",
    ),
    _case("print for log", _SAYS, ('logger.info("done")', 'print("done")'), caught="text"),
    _case("another level", _SAYS, ('logger.info("done")', 'logger.warning("done")'), caught="text", hint="WARNING"),
    _case(
        "another logger", _SAYS, ('logger.info("done")', 'logging.getLogger("other").warning("done")'), caught="text"
    ),
    _case(
        "the message of the other side is lost",
        _SAYS,
        ('        logger.info("large: %.1f", total.item())\n', "        pass\n"),
        caught="text",
        hint="large",
    ),
    _case(
        "a lost warning",
        _WARNS,
        ('        warnings.warn("negative sum", UserWarning)\n', "        pass\n"),
        caught="text",
        hint="negative sum",
    ),
    _case(
        "an exception is lost",
        _CHECKS,
        ('    if x.isnan().any():\n        raise ValueError("the input holds NaN")\n', ""),
        caught="exceptions",
        hint="holds NaN",
    ),
    _case(
        "another exception",
        _CHECKS,
        ('raise ValueError("the input holds NaN")', 'raise RuntimeError("the input holds NaN")'),
        caught="exceptions",
        hint="RuntimeError",
    ),
    _case(
        "other words",
        _CHECKS,
        ('raise ValueError(f"larger than {limit}")', 'raise ValueError("too large")'),
        caught="exceptions",
        hint="too large",
    ),
    _case(
        "the order of the checks",
        _CHECKS,
        ("    if x.isnan().any():", "    if not (x.abs().max() <= limit):"),
        ('ValueError("the input holds NaN")', 'ValueError(f"larger than {limit}")'),
        ("    if x.abs().max() > limit:", "    if x.isnan().any():"),
        (
            'raise ValueError(f"larger than {limit}")\n    return',
            'raise ValueError("the input holds NaN")\n    return',
        ),
        caught="exceptions",
    ),
    _case(
        "state_dict keys",
        _MODEL,
        (
            'self.register_buffer("seen", torch.zeros(()))',
            'self.register_buffer("seen", torch.zeros(()), persistent=False)',
        ),
        caught="state",
        hint="state_dict",
    ),
    _case(
        "hooks lost",
        _HOOKED,
        ("h = self.linear(x)", "h = F.linear(x, self.linear.weight, self.linear.bias)"),
        caught="state",
        hint="hits",
    ),
    _case(
        "a hook is not registered",
        _HOOKED,
        ("            self.linear.register_forward_hook(self._count)\n".replace("    " * 3, "        "), ""),
        caught="state",
        hint="hook",
    ),
    _case(
        "a break in a loop",
        _TWO_BREAKS,
        (_TWO_FIRST, "    y = torch.where(x.sum() > 0, x * 2, x - 1)\n"),
        (_TWO_SECOND, "    for _ in range(1):\n        if y.mean() > 3:\n            y = y - 3\n"),
        caught="breaks",
        hint="Python",
    ),
    _case(
        "breaks behind disable",
        _TWO_BREAKS,
        ("def forward(x):\n", "@torch.compiler.disable\ndef hidden(x):\n"),
        ("def work():", "def forward(x):\n    return hidden(x + 0) + 0\n\n\ndef work():"),
        caught="breaks",
        hint="kept out",
    ),
    _case(
        "compiled again at each call",
        _BRANCH,
        ("def forward(x):\n", "_calls = 0\n\n\ndef forward(x):\n    global _calls\n    _calls += 1\n"),
        (_IF, "    y = torch.where(x.sum() > 0, x * 2, x - 1)\n    y = y * ([1] * 999)[_calls]\n"),
        caught="recompiles",
        hint="compiled again",
    ),
    _case(
        "compiled again for each size",
        _BRANCH,
        (_IF, "    y = torch.where(x.sum() > 0, x * 2, x - 1)\n    for _ in range(x.shape[0]):\n        y = y * 1\n"),
        caught="recompiles",
        hint="each new size",
    ),
    _case(
        "wrong when compiled",
        _BRANCH,
        _where("x.sum() > 0", "x * (3 if torch.compiler.is_compiling() else 2)"),
        caught="compiled",
        hint="compiled",
    ),
    _case(
        "wrong when compiled, on the other side",
        _BRANCH,
        _where("x.sum() > 0", two="x - (3 if torch.compiler.is_compiling() else 1)"),
        caught="compiled",
        hint="compiled",
    ),
    _case(
        "a line that compiled code no longer prints",
        _SAYS,
        ('    print("end")\n', '    if not torch.compiler.is_compiling():\n        print("end")\n'),
        caught="compiled",
        hint="end",
    ),
    _case(
        "a slower result",
        _BRANCH,
        (
            _IF,
            "    y = torch.where(x.sum() > 0, x * 2, x - 1)\n    w = torch.eye(700) * x.detach().sum()\n"
            "    for _ in range(20):\n        w = w @ w\n    y = y + torch.nan_to_num(w[0, 1]).clamp(-1e-30, 1e-30)\n",
        ),
        caught="slower",
        hint="slower",
    ),
    _case(
        "another dtype in half precision",
        _HALF,
        (".float().item()", ".float()"),
        caught="outputs",
        hint="torch.float32 in the patched code",
    ),
    _case(
        "the sign of a zero",
        _SIGNS,
        (
            "    if x.abs().max() > 10.0:\n        x = x.clamp(-10.0, 10.0)\n    return torch.copysign(size, x)\n",
            "    return torch.where((x >= 0) | x.isnan(), size, -size)\n",
        ),
        caught="outputs",
        hint="negative zero",
    ),
    _case(
        "a default that the workload does not use",
        _LIMITED,
        (_LIMITED_IF, _LIMITED_WHERE),
        ("limit=3.0", "limit=2.0"),
        caught="state",
        hint="(limit): 3.0 in the original, 2.0",
    ),
    _case(
        "draws from its own source in evaluation mode",
        _NOISY,
        (_NOISY_IF, _NOISY_WHERE),
        (
            "        if self.training:\n"
            "            x = x + torch.rand(x.shape, generator=self.source, dtype=x.dtype)\n",
            "        x = x + torch.rand(x.shape, generator=self.source, dtype=x.dtype) * self.training\n",
        ),
        caught="state",
        hint="source",
    ),
    _case(
        "the schedule takes no step",
        _SCHEDULED,
        (_SCHEDULED_IF, _SCHEDULED_WHERE),
        ("        self.schedule.step()\n", ""),
        caught="outputs",
    ),
    _case(
        "counted only in training",
        _COUNTED,
        *_COUNTED_BUFFER,
        ("self.num_calls += 1", "self.num_calls += int(self.training)"),
        caught="outputs",
    ),
    _case(
        "evaluation mode left behind",
        _LIMITED,
        (_LIMITED_IF, _LIMITED_WHERE),
        ("h = self.proj(x)", "h = self.eval().proj(x)"),
        caught="state",
        hint="modules in training mode",
    ),
    _case(
        "another default dtype left behind",
        _LIMITED,
        (_LIMITED_IF, "        torch.set_default_dtype(torch.float64)\n" + _LIMITED_WHERE),
        caught="state",
        hint="default dtype",
    ),
    _case(
        "a view of an input",
        _VIEWED,
        (_VIEWED_IF, _VIEWED_WHERE),
        ("x.reshape(-1)", "x.view(-1)"),
        caught="exceptions",
        hint="laid out otherwise",
    ),
    _case(
        "a bound of integers",
        _LENGTHS,
        ("    if lengths.max() > 5:\n        x = x * 0.5\n", "    x = torch.where(lengths.max() >= 5, x * 0.5, x)\n"),
        caught="outputs",
        hint="integers",
    ),
    _case(
        "a check that compiled code skips",
        _TOKENS,
        ("if ids.max() >= 16:", "if not torch.compiler.is_compiling() and ids.max() >= 16:"),
        caught="searched",
        hint="IndexError: token out of range in the original",
    ),
    _case(
        "an index that is clamped",
        _TOKENS,
        (
            '        if ids.max() >= 16:\n            raise IndexError("token out of range")\n'
            "        return self.table(ids)\n",
            "        return self.table(ids.clamp(max=15))\n",
        ),
        caught="searched",
        hint="IndexError: token out of range in the original",
    ),
)

TRUE: tuple[Planted, ...] = (
    _case("lists and dicts of the caller as before", _LISTS, (_LISTS_IF, _LISTS_WHERE)),
    _case("lines in an open file as before", _FILES, (_LISTS_IF, _LISTS_WHERE)),
    _case("one more parameter", _LISTS, ("history, given):", "history, given, more=None, *, scale=1.0):")),
    _case("a view less", _VIEWED, (_VIEWED_IF, _VIEWED_WHERE), ("x.reshape(-1)", "x")),
    _case(
        "a bound of integers, moved",
        _LENGTHS,
        (
            "    if lengths.max() > 5:\n        x = x * 0.5\n",
            "    x = torch.where(lengths.max() >= 6, x * 0.5, x)\n",
        ),
    ),
    _case(
        "a bound that only larger parameters reach",
        _LIMITED.replace("nn.Linear(4, 4)", "nn.Sequential(nn.LayerNorm(4), nn.Linear(4, 4))").replace("=1.0", "=9.0"),
        (_LIMITED_IF, _LIMITED_WHERE),
    ),
    _case("a limit without a branch", _LIMITED, (_LIMITED_IF, _LIMITED_WHERE)),
    _case("beside its own source of random numbers", _NOISY, (_NOISY_IF, _NOISY_WHERE)),
    _case("a training step with a schedule", _SCHEDULED, (_SCHEDULED_IF, _SCHEDULED_WHERE)),
    _case("a count that becomes a buffer", _COUNTED, *_COUNTED_BUFFER),
    _case(
        "a private cache given up",
        _COUNTED,
        *_COUNTED_BUFFER,
        (
            "        if n not in self._tables:\n            self._tables[n] = torch.arange(n).float().cos()\n"
            "        return self._tables[n]\n",
            "        return torch.arange(n).float().cos()\n",
        ),
        ("        self._tables = {}\n", ""),
    ),
    _case(
        "heads seen as a dimension",
        _HEADS,
        (
            "        total = torch.zeros(x.shape[0], 3)\n        for head in range(2):\n"
            "            total = total + x[:, head * 4 : head * 4 + 4] @ self.weights[head]\n",
            '        total = torch.einsum("bhi,hio->bo", x.unflatten(-1, (2, 4)), self.weights)\n',
        ),
        ("return total if total.sum() > 0 else -total", "return torch.where(total.sum() > 0, total, -total)"),
    ),
    _case("where for if", _BRANCH, _where("x.sum() > 0")),
    _case("the condition the other way round", _BRANCH, _where("x.sum().gt(0).logical_not()", "x - 1", "x * 2")),
    _case("arithmetic for a branch's sides", _BRANCH, _where("x.sum() > 0", "x + x")),
    _case("one expression", _BRANCH, (_IF, "    y = x * 2 if x.sum() > 0 else x - 1\n")),
    _case("another order of the sum", _SUMS, (".double().sum().float()", ".double().t().sum().float()")),
    _case(
        "the loop over rows at once",
        _ROWS,
        (_ROWS_LOOP, "    return torch.where((x.sum(1) > 0)[:, None], x * w, x)\n"),
    ),
    _case(
        "a comprehension for the loop",
        _ROWS,
        (_ROWS_LOOP, "    return torch.stack([torch.where(row.sum() > 0, row * w, row) for row in x])\n"),
        useless="is compiled again for each new size",
    ),
    _case("a view for each row", _VIEWS, (_VIEWS_IF, _VIEWS_WHERE), ("(out[0], out[1])", "(out.select(0, 0), out[1])")),
    _case("an item that becomes a tensor", _FILLS, ("x.abs().max().item()", "x.detach().abs().max()")),
    _case("detached instead of read", _DETACHED, ("scale = g.item()", "scale = g.detach()")),
    _case(
        "a mean written out",
        """
        def forward(x):
            m = x.mean(0)
            if m.sum() > 0:
                return x - m
            return x + m

        def work():
            torch.manual_seed(0)
            return forward, (torch.randn(32, 8),)
        """,
        (
            "    if m.sum() > 0:\n        return x - m\n    return x + m\n",
            "    return torch.where(m.sum() > 0, x - m, x + m)\n",
        ),
        ("x.mean(0)", "x.t().contiguous().sum(1) / x.shape[0]"),
    ),
    _case(
        "a matrix product as a linear layer",
        """
        class Product(nn.Module):
            def __init__(self):
                super().__init__()
                self.weight = nn.Parameter(torch.randn(64, 16) / 8)

            def forward(self, x):
                y = x @ self.weight
                if y.abs().max() > 1e6:
                    y = y / 2
                return y

        def work():
            torch.manual_seed(0)
            return Product(), (torch.randn(8, 64),)
        """,
        ("        y = x @ self.weight\n", "        y = F.linear(x, self.weight.t().contiguous())\n"),
        (
            "        if y.abs().max() > 1e6:\n            y = y / 2\n",
            "        y = torch.where(y.abs().max() > 1e6, y / 2, y * 1)\n",
        ),
    ),
    _case(
        "softmax written out",
        """
        def forward(x):
            top = x.max(-1, keepdim=True).values
            e = (x - top).exp()
            p = e / e.sum(-1, keepdim=True)
            if p.max() > 0.5:
                return p * 2
            return p

        def work():
            torch.manual_seed(0)
            return forward, (torch.randn(8, 16),)
        """,
        (
            "    top = x.max(-1, keepdim=True).values\n    e = (x - top).exp()\n    p = e / e.sum(-1, keepdim=True)\n",
            "    p = torch.softmax(x, -1)\n",
        ),
        (
            "    if p.max() > 0.5:\n        return p * 2\n    return p\n",
            "    return torch.where(p.max() > 0.5, p * 2, p)\n",
        ),
    ),
    _case(
        "a running mean in place",
        _MEMORY,
        (
            _MEMORY_IF,
            "        self.mean = torch.where(self.steps == 0, x.mean(0), 0.9 * self.mean + 0.3 * x.mean(0))\n",
        ),
    ),
    _case(
        "the checks as a helper",
        _CHECKS,
        ('    if x.isnan().any():\n        raise ValueError("the input holds NaN")\n', "    refuse(x)\n"),
        (
            "def forward(x, limit=10.0):",
            'def refuse(x):\n    if x.isnan().any():\n        raise ValueError("the input holds NaN")'
            "\n\n\ndef forward(x, limit=10.0):",
        ),
    ),
    _case(
        "a comment and a name",
        _MODEL,
        ("h = self.norm(self.one(x))", "first = self.one(x)  # linear\n        h = self.norm(first)"),
    ),
    _case(
        "the message with a format",
        _SAYS,
        ('print("sum", total.item())', 'print(f"sum {total.item()}")'),
    ),
    _case("random numbers in the same order", _DRAWS, (_DRAWS_IF, "    y = x + a\n")),
    _case(
        "the empty input kept", _EMPTY, (_EMPTY_IF, "    return torch.where(x.sum() > 0, x.mean(0), x.mean(0) - 1)\n")
    ),
    _case("counted in another way", _GLOBAL, ("    HISTORY.append(STEPS)\n", "    HISTORY.extend([STEPS])\n")),
    _case(
        "a safe derivative",
        _SAFE_LOG,
        (
            _SAFE_LOG_IF,
            "        positive = s.min() > 0\n"
            "        y = torch.where(positive, torch.log(torch.where(positive, s, 1.0)) + self.bias, s + self.bias)\n",
        ),
    ),
)

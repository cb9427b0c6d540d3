# ruff: noqa: E501
"""Random small programs in the subset that the analysis claims to understand."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass, field
from random import Random

HEAD = """import dataclasses
import math
from typing import Optional
import torch
import torch.nn.functional as F
from torch import Tensor, nn

SCALE = 0.5
LEVELS = [1, 2, 3]
COUNT = 0
TABLE = torch.ones(3)


@dataclasses.dataclass
class Config:
    eps: float = 1e-5
    steps: int = 2
    name: str = "a"
    on: bool = True


def halved(t: Tensor, k: float = 0.5):
    return t * k


def same(t):
    return t


def first(ts):
    return ts[0]


def pair(t: Tensor):
    return t, t.sum()


def maybe(t: Tensor, flag: bool):
    if flag:
        return None
    return t + 1


def bump(t: Tensor):
    t.add_(1)
    return t


def noisy(t: Tensor):
    return t + torch.rand_like(t.float())


def recursive(t: Tensor, n: int):
    return t if n <= 0 else recursive(t * 2, n - 1)


def flip(t, other=None, *rest, scale=1.0, **more):
    if other is None:
        other = t
    return other * scale


class Sub(nn.Module):
    def __init__(self, width: int = 2):
        super().__init__()
        self.width = width
        self.w = nn.Parameter(torch.ones(width))
        self.register_buffer("seen", torch.zeros(()))

    @property
    def twice(self):
        return self.w * 2

    def forward(self, t: Tensor):
        self.seen += 1
        return t * self.w


class Base(nn.Module):
    def scale(self, t: Tensor) -> Tensor:
        return t * self.factor

    def extra(self, t):
        return t


class Program(Base):
    factor = 2.0
    kind: str = "a"

    def __init__(self, config: Config):
        super().__init__()
        self.config = config
        self.eps = config.eps
        self.p = nn.Parameter(torch.tensor([0.5, -1.5]))
        self.s = nn.Parameter(torch.tensor(0.75))
        self.register_buffer("b", torch.tensor(2.0))
        self.register_buffer("steps", torch.arange(3))
        self.lin = nn.Linear(2, 2)
        self.drop = nn.Dropout(0.5)
        self.act = nn.ReLU(inplace=True)
        self.norm = nn.LayerNorm(2)
        self.sub = Sub()
        self.blocks = nn.ModuleList([Sub(), Sub()])
        self.stack = nn.Sequential(nn.Linear(2, 2), nn.GELU())
        self.cache = None
        self.items = []
        self.count = 0
        self.limit = 1.5

    def extra(self, t):
        return super().extra(t) + 1

    def remember(self, t: Tensor):
        self.cache = t
        self.count += 1
        return self.cache

    def forward(self, x: Tensor, y: Tensor, s: Tensor, m: torch.BoolTensor, n: tuple, flag: bool, k: int = 2, o: Optional[Tensor] = None, u=None):
"""

CALLS = """
halved({t}) | halved({t}, {f}) | same({t}) | first([{t}, {t}]) | pair({t})[0] | pair({t})[1] | maybe({t}, flag) | bump({t}) | noisy({t}) | recursive({t}, 2) | flip({t})
flip({t}, {t}, scale={f}) | flip(*[{t}]) | self.scale({t}) | self.extra({t}) | self.remember({t}) | self.lin({t}) | self.drop({t}) | self.act({t}) | self.norm({t}) | self.sub({t})
self.stack({t}) | self.blocks[0]({t}) | self.p | self.s | self.b | self.b * {t} | self.p.sum() | self.steps | self.sub.w | self.sub.twice | self.cache | TABLE | TABLE * {t} | o | u
{t} + o | {t} if o is None else o | {t} if u is None else u * 2 | {t} * SCALE | {t} * self.eps | {t} * self.config.eps | {t} * self.limit | {t} + self.count | {t} * k | {t} * len(n)
torch.cat([{t}, {t}], dim=-1) | torch.stack([{t}, {t}])[0] | torch.where({t} > 0, {t}, {t}) | {t}.split(1)[0] | {t}.chunk(2)[-1] | {t}.unbind(0)[0] | {t}.narrow(0, 0, 1) | {t}.expand(2, *{t}.shape)
{t}.view({t}.shape) | {t}[..., :1] | {t}[:, None] | {t}[None] | {t}[0] | {t}[-1:] | {t}[{t} > 0] | {t}[LEVELS[0] - 1] | {t}.max(0).values | {t}.max(-1)[0] | {t}.max(-1, keepdim=True)[0]
{t}.sum(-1) | {t}.sum(-1, True) | {t}.mean(dim=0, keepdim=True) | {t}.sum() | {t}.float().norm(dim=-1) | {t} @ {t} | torch.matmul({t}, {t}) | {t}.T | {t}.flatten() | {t}.reshape(-1, 1)
{t}.to({t}.dtype) | {t}.to({t}) | {t}.type_as({t}) | {t}.half() | {t}.float() | {t}.double() | {t}.long() | {t}.bool() | {t} > {t} | {t} == 0 | ~({t} > 0) | -{t} | {t}.abs() | {t} ** 2 | {t} * 1j
{t} + 1 | {t} + 0.5 | {t} + True | {t} * {t} | {t} / {t} | {t} // 2 | {t} % 2 | 2 ** {t} | 1 - {t} | {t}.clone() | {t}.detach() | {t}.data | {t}.contiguous() | {t}.requires_grad_(False)
F.relu({t}) | F.relu({t}, inplace=True) | F.gelu({t}) | F.softmax({t}.float(), dim=-1) | F.dropout({t}, 0.1) | F.dropout({t}, 0.1, training=False) | F.pad({t}, (0, 1)) | F.normalize({t}, dim=-1)
torch.rand(()) * {t} | torch.randn_like({t}) | torch.bernoulli({t}) | torch.randint(0, 5, {t}.shape) | torch.empty_like({t}).normal_() | torch.zeros({t}.shape, dtype={t}.dtype) | torch.full_like({t}, {f})
{t}.masked_fill({t} > 0, {f}) | {t}.clamp({f}) | {t}.clamp(min={t}) | torch.maximum({t}, {t}) | {t}.gather(0, torch.zeros_like({t}, dtype=torch.long)) | {t}.cumsum(-1) | {t}.sort(-1)[1] | {t}.topk(1)[0]
(lambda a: a * 2)({t}) | (lambda a, b=1: a + b)({t}) | [v * 2 for v in {t}][0] | sum([{t}, {t}]) | sum(v for v in [{t}, {t}]) | max({t}, {t}) | min({t}, 1) | abs({t}) | dict(a={t})["a"] | tuple([{t}])[0]
{{'a': {t}, 'b': {t}}}['a'] | {{'a': {t}}}.get('a') | list({t})[0] | [{t}, {t}][k - 2] | ({t}, {t})[flag] | next(iter([{t}])) | getattr(self, 'b') | sorted([{f}, {f}])[0] * {t} | torch.einsum('...i->...', {t})
{t}.mul(2).add(1).sum() | {t}.float().mean(-1, keepdim=True).expand_as({t}) | {t}.transpose(0, -1).contiguous() | {t}.permute(*range({t}.dim())) | {t}.squeeze() | {t}.unsqueeze(-1).squeeze(-1) | {t}.new_zeros(2)
torch.complex({t}.float(), {t}.float()) | {t}.real | torch.abs({t}) | torch.tensor({f}) | torch.tensor([{f}, {f}]) | torch.tensor({t}.shape) | torch.arange({t}.shape[0]) | torch.arange(k) | torch.as_tensor({f}) | {t} or {t}
{t} and {t} | ({t} if flag else {t}) | ({t} if {t}.sum() > 0 else {f}) | ({f} if flag else None) | {t}.nonzero() | {t}.unique() | torch.atleast_1d({t}) | {t}.index_select(0, torch.tensor([0])) | {t}.type(torch.float16)
torch.no_grad()(lambda: {t} * 2)() | {t}.requires_grad | {t}.shape | {t}.dtype | {t}.dim() | {t}.device.type | {t}.numel() | {t}.size(-1) | {t}.tolist() | {t}.is_floating_point() | n | k | self.training | u is None
""".replace("\n", " | ")

NUMBERS = """
{f} | {i} | {t}.shape[0] | {t}.size(-1) | {t}.dim() | {t}.numel() | len(n) | k | self.eps | self.limit | SCALE | self.config.steps | self.count | {t}.sum().item() | float({t}.sum()) | int({t}.sum())
{t}.max().item() | {k} + {k} | {k} * {k} | {k} / {k} | {k} // {k} | {k} % 3 | {k} ** 2 | -{k} | abs({k}) | round({k}) | max({k}, {k}) | min({k}, 1) | math.sqrt(abs({k})) | math.floor({k}) | int({k}) | float({k})
{k} if flag else {k} | {k} if {t}.sum() > 0 else {k} | LEVELS[0] | len({t}.shape) | math.prod({t}.shape) | sum({t}.shape) | len([{t}]) | {k} > {k} | not {k} | {k} and {k} | {k} or {k} | bool({t}.any()) | self.b.item()
{t}.tolist() if {t}.dim() == 0 else 1 | math.pi | torch.finfo(torch.float32).max | len(LEVELS) | self.sub.width | {t}.element_size() | {t}.argmax().item() | divmod(7, 2)[0] | range(4)[1] | ord('a') | [1, 2.5][0] | (1, True)[1]
""".replace("\n", " | ")

CONDITIONS = """
flag | not flag | {t}.sum() > 0 | ({t} > 0).any() | {t}.dim() > 1 | {t}.shape[0] == 2 | {t}.dtype == torch.float32 | {t}.dtype != torch.float32 | {t}.is_floating_point() | o is None | o is not None | u is None | u is not None
isinstance(u, torch.Tensor) | isinstance({t}, torch.Tensor) | torch.is_tensor(u) | isinstance({k}, float) | self.training | {k} > 1 | {t}.sum().item() > 0.5 | o is not None and o.sum() > 0 | o is None or flag | k > 1 and flag
self.cache is None | self.cache is not None | torch.compiler.is_compiling() | not torch.compiler.is_compiling() | torch.jit.is_scripting() | {t}.dtype == {t}.dtype | {t}.numel() == 0 | self.config.on | self.kind == "a" | len(n) > 1 | {t} is {t} | {t}.ndim in (1, 2)
not isinstance(u, torch.Tensor) or u.dim() > 0 | {t}.requires_grad | o | u | torch.is_grad_enabled() | self.b > 1 | {t}.dtype in (torch.float16, torch.bfloat16) | {t}.shape == {t}.shape | isinstance(o, (torch.Tensor, list)) | {t}.dtype is torch.int64
""".replace("\n", " | ")

WRITES = """
{v}.add_(1) | {v}.mul_(2) | {v}.zero_() | {v} += 1 | {v} *= 2 | {v} /= 2 | {v} += {t} | {v} -= {k} | {v}[0] = 1 | {v}[..., 0] = {t} | {v}[{t} > 0] = 0 | {v}[0] += 1 | {v}.unsqueeze_(0) | {v}.squeeze_() | {v}.t_() | {v}.copy_({t})
{v}.data = {t} | self.b += 1 | self.b.mul_(2) | self.count += 1 | self.cache = {t} | self.items.append({t}) | self.limit = {k} | bump({v}) | self.act({v}) | F.relu_({v}) | print({v}.dtype) | torch.manual_seed(0) | {v}.resize_(1)
torch.add({v}, 1, out={v}) | {v}.normal_() | self.steps[0] = 5 | {v}.transpose_(0, -1) | {v}.fill_(1) | {v}.requires_grad_(False) | {v}.detach_() | self.sub(x) | TABLE.add_(0) | LEVELS.append(1) | setattr(self, 'count', 3) | {v}.view(-1).mul_(2)
{v}.masked_fill_({t} > 0, 0) | {v}.clamp_(min=0) | {v}.sub_({t}) | torch.nn.init.zeros_({v}) | {v} @= {t} | {v} //= 2 | {v} **= 2 | {v} |= True | nn.init.normal_({v}) | dropped = self.drop({v}) | self.remember({v}) | {v}.set_({t})
""".replace("\n", " | ")


def options(text: str) -> list[str]:
    """The alternatives of a table."""
    return [part.strip() for part in text.split(" | ") if part.strip()]


_TABLES = {name: options(text) for name, text in (("t", CALLS), ("k", NUMBERS), ("c", CONDITIONS), ("w", WRITES))}


@dataclass
class Writer:
    """Writes the body of a function: `tensors` and `numbers` are names that may be read."""

    random: Random
    extra: list[str] = field(default_factory=list)
    tensors: list[str] = field(default_factory=lambda: ["x", "y", "s"])
    numbers: list[str] = field(default_factory=lambda: ["k"])
    boxes: list[str] = field(default_factory=list)
    depth: int = 2
    count: int = 0
    in_loop: bool = False
    lines: list[str] = field(default_factory=list)

    def put(self, line: str) -> None:
        self.lines.append("    " * self.depth + line)

    def fresh(self, kind: str = "v") -> str:
        self.count += 1
        return f"{kind}{self.count}"

    def any(self, names: list[str]) -> str:
        return self.random.choice(names[-5:])

    def fill(self, template: str, deep: int = 1) -> str:
        """A template with its gaps filled; `{t}` is a tensor, `{k}` a number, `{v}` a name."""

        def gap(match: re.Match[str]) -> str:
            what = match.group(1)
            if what is None:
                return match.group(0)[0]
            if what == "v" or (what == "t" and (deep <= 0 or self.random.random() < 0.7)):
                return self.any(self.tensors)
            if what == "t":
                return f"({self.tensor(deep - 1)})"
            if what == "f":
                return self.random.choice(("0.5", "2.0", "1", "-1.5", "3", "True", "0"))
            if what == "i":
                return str(self.random.randint(-1, 3))
            if deep <= 0 or self.random.random() < 0.5:
                return self.any(self.numbers)
            return f"({self.fill(self.random.choice(_TABLES['k']), deep - 1)})"

        # In one go: what fills a gap may hold two braces itself.
        return re.sub(r"\{\{|\}\}|\{([tkvfi])\}", gap, template)

    def tensor(self, deep: int = 1) -> str:
        table = self.extra if self.extra and self.random.random() < 0.4 else _TABLES["t"]
        return self.fill(self.random.choice(table), deep)

    def number(self) -> str:
        return self.fill(self.random.choice(_TABLES["k"]))

    def condition(self) -> str:
        text = self.fill(self.random.choice(_TABLES["c"]))
        if self.random.random() < 0.2:
            other = self.fill(self.random.choice(_TABLES["c"]))
            text = f"{text} {self.random.choice(('and', 'or'))} {other}"
        return text

    def statement(self, level: int) -> None:
        simple = (
            ["assign"] * 6
            + ["number"] * 2
            + ["write"] * 2
            + ["box", "unpack", "walrus", "alias", "again", "declare", "drop"]
        )
        blocks = ["branch"] * 4 + ["loop", "loop", "attempt", "context", "inner", "leave", "match", "until", "lambda_"]
        name = self.random.choice(simple if level >= 2 or self.random.random() < 0.6 else blocks)
        getattr(self, f"_{name}")(level)

    def _assign(self, level: int) -> None:
        name = self.fresh() if self.random.random() < 0.7 else self.any(self.tensors)
        self.put(f"{name} = {self.tensor()}")
        self._bound(name)

    def _again(self, level: int) -> None:
        name = self.any(self.tensors)
        self.put(f"{name} = {self.fill(self.random.choice(_TABLES['t']).replace('{t}', name, 1))}")

    def _bound(self, name: str) -> None:
        if name not in self.tensors:
            self.tensors.append(name)

    def _alias(self, level: int) -> None:
        one, two = self.fresh(), self.fresh()
        self.put(f"{one} = {two} = {self.any(self.tensors)}")
        self.tensors += [one, two]

    def _number(self, level: int) -> None:
        name = self.fresh("k")
        self.put(f"{name} = {self.number()}")
        self.numbers.append(name)

    def _declare(self, level: int) -> None:
        name = self.fresh()
        kind = self.random.choice(("Tensor", "'torch.Tensor'", "Optional[Tensor]"))
        self.put(f"{name}: {kind} = {self.tensor()}")
        self.tensors.append(name)

    def _drop(self, level: int) -> None:
        if len(self.tensors) > 4 and self.depth == 2:
            name = self.tensors.pop()
            self.put(f"del {name}")

    def _write(self, level: int) -> None:
        self.put(self.fill(self.random.choice(_TABLES["w"])))

    def _walrus(self, level: int) -> None:
        name, other = self.fresh(), self.fresh()
        self.put(f"{other} = ({name} := {self.tensor()}) + 1")
        self.tensors += [name, other]

    def _box(self, level: int) -> None:
        name, t = self.fresh("box"), self.any(self.tensors)
        made = self.random.choice(
            (
                "[{t}, {t}]",
                "({t}, {t})",
                "{{'a': {t}, 'b': {t}}}",
                "[]",
                "[{t} for _ in range(2)]",
                "list({t}.shape)",
                "{t}.split(1)",
                "[i * {t} for i in range(k)]",
                "[{k}, {k}]",
                "dict(a={t})",
                "{t}.shape",
                "[({t}, 1), ({t}, 2)]",
                "{{'k': {k}}}",
                "(*n, 1)",
                "list({t})",
                "tuple({t}.shape[:1])",
            )
        )
        self.put(f"{name} = {self.fill(made)}")
        self.boxes.append(name)
        for _ in range(self.random.randint(0, 2)):
            use = self.random.choice(
                (
                    "{b}.append({t})",
                    "{b}['c'] = {t}",
                    "{b}[0] = {t}",
                    "{b} += [{t}]",
                    "{b} = {b} + {b}",
                    "{b}.extend([{t}, {t}])",
                    "{b}.insert(0, {t})",
                    "{b}.pop()",
                    "{b}.reverse()",
                    "{b} = list({b})",
                    "{b} = {b}[1:]",
                    "{b}.update(z={t})",
                    "{b}.clear()",
                    "{b} *= 2",
                    "{b} = [v * 2 for v in {b}]",
                    "{b} = {{k: v.sum() for k, v in {b}.items()}}",
                    "other = {b}; other.append({t})",
                    "del {b}[0]",
                    "{b}.setdefault('a', {t})",
                    "{b} = tuple({b})",
                )
            )
            self.put(self.fill(use.replace("{b}", name)))
        value = self.fresh()
        got = self.random.choice(
            (
                f"{name}[0]",
                f"{name}[-1]",
                f"{name}['a']",
                f"{name}[k - 2]",
                f"len({name})",
                f"{name}[0][0]",
                f"torch.stack({name})",
                f"torch.cat({name})",
                f"sum({name})",
                f"[v for v in {name}][0]",
                f"max({name})",
                f"{name}",
                f"{name}.get('a')",
                f"{name}[:1][0]",
                f"{t}.view({name})",
                f"{t}.reshape(*{name})",
                f"list(enumerate({name}))[0][1]",
                f"[a for a, b in zip({name}, {name})][0]",
                f"{name}[1]",
                f"list(reversed({name}))[0]",
                f"list({name}.values())[0]",
            )
        )
        self.put(f"{value} = {got}")
        self.tensors.append(value)

    def _unpack(self, level: int) -> None:
        a, b = self.fresh(), self.fresh()
        source = self.random.choice(
            (
                "{t}, {t}",
                "pair({t})",
                "{t}",
                "{t}.shape",
                "{t}.chunk(2)",
                "{t}.max(0)",
                "{t}.unbind(0)",
                "[{t}, {t}]",
                "({t}, {k})",
                "{t}.split(1)",
                "torch.std_mean({t})",
                "{t}.topk(1)",
                "{t}.size()",
                "({t}, {t}.sum())",
            )
        )
        target = self.random.choice(
            (f"{a}, {b}", f"({a}, {b})", f"{a}, *{b}", f"*{a}, {b}", f"[{a}, {b}]", f"({a}, {b}), _", f"{a}, {b}")
        )
        if target.endswith("_"):
            source = "({t}, {t}), 1"
        self.put(f"{target} = {self.fill(source)}")
        self.tensors += [a, b]

    def _block(self, level: int) -> None:
        self.depth += 1
        kept, numbers, boxes = list(self.tensors), list(self.numbers), list(self.boxes)
        for _ in range(self.random.randint(1, 3)):
            self.statement(level + 1)
        if not self.lines or self.lines[-1].endswith(":"):
            self.put("pass")
        self.depth -= 1
        self.boxes = boxes
        if self.random.random() < 0.6:
            self.tensors, self.numbers = kept, numbers

    def _branch(self, level: int) -> None:
        self.put(f"if {self.condition()}:")
        self._block(level)
        if self.random.random() < 0.3:
            self.put(f"elif {self.condition()}:")
            self._block(level)
        if self.random.random() < 0.6:
            self.put("else:")
            self._block(level)

    def _loop(self, level: int) -> None:
        i = self.fresh("i")
        target, over = self.random.choice(
            (
                (i, "range(2)"),
                (i, "range(k)"),
                (i, "{t}"),
                (i, "[{t}, {t}]"),
                (i, "self.blocks"),
                (f"{i}, block", "enumerate(self.blocks)"),
                (f"{i}, j", "zip([{t}, {t}], LEVELS)"),
                (i, "LEVELS"),
                (i, "range({t}.shape[0])"),
                (i, "n"),
                (f"{i}, j", "[({t}, 1), ({t}.sum(), 2)]"),
                (i, "(1, 2.0, {t})"),
                (f"name, {i}", "{{'a': {t}}}.items()"),
            )
        )
        self.put(f"for {target} in {self.fill(over)}:")
        self.tensors.append(i)
        outer, self.in_loop = self.in_loop, True
        self._block(level)
        self.in_loop = outer
        if self.random.random() < 0.15:
            self.put("else:")
            self._block(level)

    def _until(self, level: int) -> None:
        name = self.fresh("i")
        self.put(f"{name} = 0")
        self.put(f"while {name} < {self.random.randint(1, 3)}:")
        self.put(f"    {name} += 1")
        outer, self.in_loop = self.in_loop, True
        self._block(level)
        self.in_loop = outer

    def _leave(self, level: int) -> None:
        t = self.any(self.tensors)
        if self.in_loop:
            self.put(f"if {self.condition()}:")
            self.put(f"    {self.random.choice(('break', 'continue'))}")
        else:
            self.put(f"if {self.condition()}:")
            self.put(
                f"    {self.random.choice((f'return {t}', f'return ({t}, {t})', 'return None', 'raise ValueError'))}"
            )

    def _attempt(self, level: int) -> None:
        self.put("try:")
        self._block(level)
        self.put(
            self.random.choice(
                ("except Exception:", "except RuntimeError as error:", "except (ValueError, TypeError, IndexError):")
            )
        )
        self._block(level)
        if self.random.random() < 0.3:
            self.put("else:")
            self._block(level)
        if self.random.random() < 0.3:
            self.put("finally:")
            self._block(level)

    def _context(self, level: int) -> None:
        self.put(
            f"with {self.random.choice(('torch.no_grad()', 'torch.enable_grad()', 'torch.set_grad_enabled(flag)', 'torch.autograd.set_detect_anomaly(False) as mode'))}:"
        )
        self._block(level)

    def _inner(self, level: int) -> None:
        name, arg, result = self.fresh("f"), self.fresh("a"), self.fresh()
        changed = self.random.choice(("x", "y", None, None))
        self.put(f"def {name}({arg}{self.random.choice(('', ': Tensor', '=None'))}):")
        if changed is not None:
            self.put(f"    nonlocal {changed}")
        kept, numbers = list(self.tensors), list(self.numbers)
        self.depth += 1
        self.tensors.append(arg)
        if changed is not None:
            self.put(f"{changed} = {self.tensor()}")
        else:
            self.statement(2)
        self.put(f"return {self.tensor()}")
        self.depth -= 1
        self.tensors, self.numbers = kept, numbers
        self.put(f"{result} = {name}({self.any(self.tensors)})")
        self.tensors.append(result)

    def _lambda_(self, level: int) -> None:
        name, result = self.fresh("f"), self.fresh()
        self.put(f"{name} = lambda a, b=1: {self.fill('{t} * b + a')}")
        self.put(f"{result} = {name}({self.any(self.tensors)})")
        self.tensors.append(result)

    def _match(self, level: int) -> None:
        t = self.any(self.tensors)
        case = self.random.choice(
            (
                ("k", "2"),
                ("n", "()"),
                ("n", "(a, *_)"),
                (f"{t}.dim()", "1 | 2"),
                (f"[{t}, 1]", "[m1, int()]"),
                ("self.kind", "'a'"),
                ("u", "None"),
            )
        )
        self.put(f"match {case[0]}:")
        self.depth += 1
        self.put(f"case {case[1]}:")
        self._block(level)
        if self.random.random() < 0.7:
            self.put("case _:")
            self._block(level)
        self.depth -= 1


def program(random: Random, extra: list[str]) -> str:
    """The text of one program; `extra` are further expressions over x, y, s, m and n."""
    names = re.compile(r"(?<![\w.\"'])([xys])(?![\w\"'])")
    writer = Writer(random, [names.sub("{t}", e.replace("{", "{{").replace("}", "}}")) for e in extra])
    for _ in range(random.randint(3, 8)):
        writer.statement(0)
    writer.put(f"return {writer.any(writer.tensors)}")
    return HEAD + "\n".join(writer.lines) + "\n"


START = HEAD.count("\n") + 1
"""The first line of the generated part."""


def without(text: str, line: int) -> str | None:
    """The program without the statement that begins in a line; None where there is none."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and node.lineno == line >= START:
            lines = text.splitlines()
            indent = len(lines[line - 1]) - len(lines[line - 1].lstrip())
            lines[line - 1 : node.end_lineno] = [" " * indent + "pass"]
            return "\n".join(lines) + "\n"
    return None

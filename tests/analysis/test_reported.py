"""What real packages write: breaks that the analysis missed there, and lines that it took for breaks.

A line that ends in `# BREAK` is to be reported, and no other.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from textwrap import dedent

import pytest

from compilefix.codemods import registry
from compilefix.fixing.engine import run
from compilefix.source.config import Config
from compilefix.source.files import SourceFile

sys.path.insert(0, str(Path(__file__).parent))
from reporting import HEAD, reported

CASES: Mapping[str, Mapping[str, str]] = {
    "a logger of the package's own making": {
        "pkg/log.py": """
            import logging
            def get_logger(name):
                return logging.getLogger(name)
        """,
        "pkg/model.py": """
            from pkg.log import get_logger
            logger = get_logger(__name__)
            def forward(x: Tensor) -> Tensor:
                logger.warning("slow path")  # BREAK
                return x + 1
        """,
    },
    "what its own docstring calls a list, and a caller a tensor": {
        "pkg/model.py": """
            def rays(x: Tensor, size, count):
                \'\'\'Rays of a camera.

                Args:
                    size (list of int): Height and width.
                    count (Tensor): How many.
                \'\'\'
                height, width = size
                rows = torch.arange(height)
                return x + rows.sum() + torch.zeros(int(count)).sum()  # BREAK
            def forward(x: Tensor, size, count):
                \'\'\'Rays of a camera.

                Args:
                    size: (tensor [2]): Height and width.
                \'\'\'
                return rays(x, size, count)
        """,
    },
    "a layer that there may be, called where it is": {
        "pkg/model.py": """
            class Scaled(nn.Module):
                def __init__(self, limit, power):
                    super().__init__()
                    self.limit, self.power = limit, power
                def forward(self, x, y):
                    z = x * y
                    if self.limit > 0:
                        z = z.clamp(max=self.limit)
                    return z
            class Model(nn.Module):
                def __init__(self, depth: int):
                    super().__init__()
                    self.depth = depth
                    self.norm = nn.LayerNorm(3) if depth > 0 else None
                    self.scaled = Scaled(3.0, 2) if depth > 0 else None
                def forward(self, x: Tensor):
                    if self.depth > 0:
                        x = self.norm(x)
                        if x.sum() > 0:  # BREAK
                            x = x * 2
                        x = self.scaled(x, x)
                        if x.sum() > 0:  # BREAK
                            x = x + 1
                    return x
        """,
    },
    "what has the type of another value, which may be None": {
        "pkg/distance.py": """
            from typing import Optional
            def distance(x: Tensor, extra: Optional[Tensor] = None, other: Optional[Tensor] = None) -> Tensor:
                assert type(extra) == type(other)
                assert not extra
                return x * 2
        """,
    },
    "a size that a method says it takes": {
        "pkg/bias.py": """
            class Bias(nn.Module):
                @staticmethod
                def index(window_size: tuple[int, int]) -> Tensor:
                    return torch.arange(window_size[0])
                def one(self, x):
                    return x * 2
                def forward(self, window_size, table: Tensor, scale):
                    count = (2 * window_size[0] - 1) * (2 * window_size[1] - 1)
                    table = table[self.index(window_size)] * self.one(scale)
                    return table.reshape(count, -1).view(window_size[0] * window_size[1], -1)
        """,
    },
    "a function for sizes and tensors, called with sizes": {
        "pkg/padding.py": """
            import math
            import torch.nn.functional as F
            def same_padding(x: int, kernel: int, stride: int):
                if isinstance(x, torch.Tensor):
                    return torch.clamp(((x / stride).ceil() - 1) * stride + kernel - x, min=0)
                else:
                    return max((math.ceil(x / stride) - 1) * stride + kernel - x, 0)
            def pad_same(x: Tensor, kernel: int, stride: int) -> Tensor:
                h, w = x.size()[-2:]
                more_h, more_w = same_padding(h, kernel, stride), same_padding(w, kernel, stride)
                return F.pad(x, (more_w // 2, more_w - more_w // 2, more_h // 2, more_h - more_h // 2))
            def pad_to(x: Tensor, sizes: Tensor) -> Tensor:
                more = same_padding(sizes[0], 3, 2)
                return x.new_zeros(more, 2)  # BREAK
        """,
    },
    "attributes that are moved to a device": {
        "pkg/moved.py": """
            class Net(nn.Module):
                def forward(self, x: Tensor):
                    return x * 2
            class Named:
                def to(self, name):
                    return None
            class Places:
                def __init__(self, times: Tensor):
                    self.times = times
                    self.rows = times
                    self.kept = times
                    self.last = times
                    self.net = Net()
                    self.named = Named()
                def to(self, device):
                    self.times = self.times.to(device)
                    self.rows = self.rows.copy()
                    self.kept = self.kept.clone()
                    self.kept = None
                    self.net = self.net.to(device)
                    self.named = self.named.to(device)
                def first(self, x: Tensor):
                    if self.times[0] > 0:  # BREAK
                        return x
                    self.last = self.last[1:]
                    if self.last.sum() > 0:  # BREAK
                        return x
                    if self.rows[0] > 0:
                        return x
                    if self.named:
                        return x
                    if self.net(x).sum() > 0:  # BREAK
                        return x
                    return self.kept
        """,
    },
    "sizes are no tensors, whatever is asked": {
        "pkg/heads.py": """
            def attended(query: Tensor, number: int, scale) -> Tensor:
                length, batch, width = query.shape
                if isinstance(width, torch.Tensor):
                    size = width.div(number, rounding_mode="trunc")
                else:
                    size = width // number
                assert size * number == width, "no multiple"
                if isinstance(scale, torch.Tensor):
                    if scale.sum() > 0:  # BREAK
                        query = query * 2
                return query.view(length, batch * number, size) * scale
        """,
    },
    "layers with names, in a sequence": {
        "pkg/named.py": """
            from collections import OrderedDict
            class Named(nn.Module):
                def __init__(self, names):
                    super().__init__()
                    self.layers = nn.Sequential(OrderedDict([("first", nn.Linear(4, 4)), ("last", nn.ReLU())]))
                    self.others = nn.Sequential(OrderedDict((name, nn.Linear(4, 4)) for name in names))
                    self.changed = nn.Sequential(OrderedDict([("given", nn.Linear(4, 4))]))
                    self.changed.given = names
                def forward(self, x: Tensor) -> Tensor:
                    if self.layers(x).sum() > 0:  # BREAK
                        x = x * 2
                    if self.changed(x):
                        x = x * 2
                    return self.others(x)
        """,
    },
    "what a layer gives requires a gradient already": {
        "pkg/asked.py": """
            class Asked(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.layer = nn.Linear(4, 4)
                def forward(self, x: Tensor) -> Tensor:
                    self.given = self.layer(x)
                    self.given.requires_grad_()
                    return self.layer(x).requires_grad_() + self.given
                def cut(self, x: Tensor) -> Tensor:
                    with torch.no_grad():
                        y = self.layer(x)
                    y.requires_grad_()  # BREAK
                    z = self.layer(x).detach().requires_grad_()  # BREAK
                    return self.layer(y) + z
        """,
    },
    "arguments of compiled code without annotations": {
        "pkg/model.py": """
            @torch.compile
            def scaled(x):
                if x.sum() > 0:  # BREAK
                    return x * 2
                return x - 1
            def step(x, flag):
                if flag:
                    x = x + 1
                return x if x.max() > 3 else -x  # BREAK
            compiled = torch.compile(step)
        """,
    },
    "numbers in dictionaries of tensors": {
        "pkg/model.py": """
            class Head(nn.Module):
                def forward(self, batch):
                    rois, size = batch["rois"], batch["size"]
                    rows = batch["rows"]
                    boxes = rois.new_zeros(rows, 4)
                    for row in range(batch["rows"]):
                        boxes[row] = self.best(batch)
                    return boxes.view(rows * batch["frames"], -1)
                def best(self, batch):
                    scores = batch["scores"]
                    if scores.sum() > 0:  # BREAK
                        scores = scores * 2
                    return scores.new_zeros(batch["count"].long())  # BREAK
            class Net(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.head = Head()
                def forward(self, x: Tensor):
                    return self.head({"rois": x, "scores": x})
        """,
    },
    "arguments that are compared, selected from, or select": {
        "pkg/model.py": """
            class Loss(nn.Module):
                def forward(self, logits, labels, ignore, end, other, table):
                    valid = labels != ignore
                    total = valid.sum()
                    if total > 0:  # BREAK
                        logits = logits / total
                    if ignore > 0:
                        logits = logits * 2
                    if (end == 0).any():  # BREAK
                        logits = logits + 1
                    if other[..., 0] > 1:  # BREAK
                        logits = logits - 1
                    if table[0][1:] > 1:
                        logits = logits - 2
                    return logits[labels == 1]  # BREAK
                def penalty(self, weight, order):
                    if weight > 2:
                        return weight
                    return order
            class Words(nn.Module):
                def forward(self, words, size, names):
                    if size == 3 and names != "all":
                        return words[size]
                    return [word for word in words if word != names]
        """,
    },
    "arguments of compiled code that are compared": {
        "pkg/model.py": """
            @torch.compile
            def chosen(x, kind, kept):
                if kind == "mean":
                    return x.mean()
                low = kept < 0
                if low.any() or (x != kept).all():  # BREAK
                    x = -x
                return x
        """,
    },
    "behind a test of the type": {
        "pkg/model.py": """
            import math
            import numbers
            def exponential(x):
                if torch.is_tensor(x):
                    return torch.exp(x)
                return math.exp(x)
            def is_nan(x):
                if isinstance(x, numbers.Number):
                    return x != x
                return torch.isnan(x).any()
            class Net(nn.Module):
                def forward(self, x: Tensor, scale, factor: float) -> Tensor:
                    x = x * exponential(scale) * exponential(factor)
                    if is_nan(x):  # BREAK
                        return x
                    return x + 1
        """,
    },
    "a list that is joined": {
        "pkg/model.py": """
            import copy
            class Joined(nn.Module):
                def forward(self, parts, x: Tensor):
                    y = torch.cat(parts, 1) + x
                    kept = [copy.deepcopy(part) for _, part in parts]
                    if parts:
                        y = y * 2
                    return y, kept
        """,
    },
    "a function that numba compiles": {
        "pkg/model.py": """
            from numba import cuda
            @cuda.jit(device=True)
            def larger(x: Tensor, y: Tensor):
                if x < y:
                    return y
                return x
        """,
    },
    "not run where it is compiled": {
        "pkg/model.py": """
            from transformers.utils import is_torchdynamo_compiling
            class Net(nn.Module):
                def forward(self, x: Tensor) -> Tensor:
                    if not is_torchdynamo_compiling() and x.any():
                        print("some")
                    return x + 1
        """,
    },
    "a function that says no where it is compiled": {
        "pkg/asked.py": """
            from torch.compiler import is_compiling
            def may_look(x: Tensor) -> bool:
                '''Whether values may be asked for.'''
                if torch.jit.is_scripting():
                    return False
                if torch.jit.is_tracing() or is_compiling():
                    return False
                return not x.requires_grad
            def may_look_if(x: Tensor, wanted: bool) -> bool:
                if wanted:
                    return True
                if is_compiling():
                    return False
                return not x.requires_grad
        """,
        "pkg/model.py": """
            from pkg.asked import may_look, may_look_if
            class Net(nn.Module):
                def forward(self, x: Tensor, wanted: bool) -> Tensor:
                    if may_look(x) and x.any():
                        x = x + 1
                    turns = range(2, 9, 2) if may_look(x) else ()
                    for turn in range(8):
                        x = x * 0.5
                        if turn in turns and not bool((x > 0.1).any()):
                            break
                    if may_look_if(x, wanted) and x.any():  # BREAK
                        x = x + 1
                    return x
        """,
    },
    "arguments of forward without annotations": {
        "pkg/model.py": """
            class Gate(nn.Module):
                def forward(self, x, scale):
                    if x.mean() > 0.5:  # BREAK
                        return x * scale
                    return x if scale > 1 else x + 1
            def mean_of(rows):
                if rows.mean() > 3:
                    return 1
                return 0
        """,
    },
    "a type alias in another file": {
        "pkg/types.py": """
            from typing import Optional
            OptTensor = Optional[Tensor]
        """,
        "pkg/model.py": """
            from pkg.types import OptTensor
            def count(x: Tensor, batch: OptTensor) -> int:
                if batch is None:
                    return 1
                return int(batch.max()) + 1  # BREAK
        """,
    },
    "a union with a type of another package": {
        "pkg/model.py": """
            from typing import Union
            from elsewhere import SparseTensor
            def loops(index: Union[Tensor, SparseTensor]) -> Tensor:
                mask = index[0] != index[1]
                return index[:, mask]  # BREAK
        """,
    },
    "a returned tuple whose items only the annotation knows": {
        "pkg/model.py": """
            from elsewhere import convert
            def parts(x) -> tuple[Tensor, Tensor]:
                index, value = convert(x)
                return index, value
            def forward(x: Tensor) -> Tensor:
                index, value = parts(x)
                mask = index[0] != index[1]
                return value[mask]  # BREAK
        """,
    },
    "a tensor, or a tuple of numbers": {
        "pkg/model.py": """
            from typing import Union
            def scale(x: Tensor, ratio: Union[Tensor, tuple[float, float]]) -> Tensor:
                if ratio[0] < 1.0:
                    x = x * 2
                return x
        """,
    },
    "a buffer that is counted up": {
        "pkg/model.py": """
            class Model(nn.Module):
                def __init__(self):
                    super().__init__()
                    self.register_buffer("calls", torch.tensor(0))
                def forward(self, x: Tensor) -> Tensor:
                    self.calls += 1
                    if self.calls > 3:  # BREAK
                        x = x * 2
                    return x
        """,
    },
    "item, any and all of what is not known to be a tensor": {
        "pkg/model.py": """
            def forward(x: Tensor, state):
                found = state.lookup(x)
                if (found[1:] > found[:-1]).all():  # BREAK
                    x = x + 1
                return x * found.sum().item()  # BREAK
        """,
    },
    "comparisons that give a Python bool": {
        "pkg/model.py": """
            def forward(x: Tensor, y: Tensor) -> Tensor:
                if torch.equal(x, y):  # BREAK
                    return x
                same = x.allclose(y)  # BREAK
                return y if same else x
        """,
    },
    "the length of selected elements, which break where they are selected": {
        "pkg/model.py": """
            def kept(x: Tensor, mask: Tensor) -> Tensor:
                chosen = x[mask > 0]  # BREAK
                if len(chosen) == 0:
                    return x.new_zeros(())
                return chosen.sort()[0]
        """,
    },
    "a parameter that only the caller knows to be a tensor, before and after the caller": {
        "pkg/model.py": """
            def early(t, y):
                return y if t > 0 else y * 2  # BREAK
            class Model(nn.Module):
                def forward(self, x: Tensor) -> Tensor:
                    return late(x.sum(), early(x.sum(), 1.0), steps=3)
            def late(t, y, steps):
                if steps > 2:
                    y = y + 1
                return inner(t, y)
            def inner(t, y):
                if t == 0:  # BREAK
                    y = y * 2
                return y
        """,
        "pkg/other.py": """
            def number(t, y):
                return y if t > 0 else y * 2
            def forward(x: Tensor) -> Tensor:
                return number(x.dim(), x)
        """,
    },
    "tensors in a list, and a None, that a caller passes": {
        "pkg/model.py": """
            def first(times, mask=None):
                if times[0] > times[-1]:  # BREAK
                    times = times[::-1]
                if mask is not None and mask > 0:  # BREAK
                    return times[1]
                return times[0]
            def forward(x: Tensor) -> Tensor:
                return first([x.min(), x.max()], x.sum() if x.dim() > 1 else None)
        """,
    },
    "what a caller passes to a method that another overrides, and to a constructor": {
        "pkg/model.py": """
            def solve(times: Tensor) -> Tensor:
                return Solver(times[0]).run(times)
            class Solver:
                def __init__(self, start):
                    self.start = start
                def step(self, t):
                    raise NotImplementedError
                def run(self, times: Tensor):
                    if self.start > 0:  # BREAK
                        times = times + 1
                    return self.step(times[0])
            class Euler(Solver):
                def step(self, t):
                    if t > 0:  # BREAK
                        t = t + 1
                    return t
        """,
    },
    "a class out of a table, whose methods get what its object is given": {
        "pkg/solvers.py": """
            class Fixed:
                def integrate(self, t, steps):
                    return t * 2 if t[0] > 0 else t  # BREAK
            class Adaptive:
                def integrate(self, t, steps):
                    if steps > 2:
                        t = t + 1
                    return t if (t == 0).any() else -t  # BREAK
        """,
        "pkg/model.py": """
            from pkg.solvers import Adaptive, Fixed
            SOLVERS = {"fixed": Fixed, "adaptive": Adaptive}
            def solve(name: str, times: Tensor, **options):
                solver = SOLVERS[name](**options)
                return solver.integrate(times, steps=3)
        """,
    },
    "handlers of what fails in a graph run outside of it": {
        "pkg/scores.py": """
            class Score(nn.Module):
                def forward(self, x: Tensor, table):
                    try:
                        y = torch.linalg.inv(x)
                    except torch.linalg.LinAlgError as error:
                        print(error)
                        y = x[x > 0]
                    try:
                        y = self.layer(y)
                    except Exception:
                        print(y.mean())
                    try:
                        if table is None:
                            raise ValueError("no table")
                    except Exception:
                        print("no table")  # BREAK
                    try:
                        z = table["z"]
                    except KeyError:
                        z = y[y > 0]  # BREAK
                    try:
                        w = table.w
                    except Exception:
                        w = y[y > 1]  # BREAK
                    return y, z, w
        """,
    },
    "asserts of several conditions: the last may be a tensor": {
        "pkg/model.py": """
            def last(x: Tensor, y: Tensor) -> Tensor:
                assert y.dim() > 0 and x[0] == y[0]
                assert y.dim() == 0 or x[0] == y[0], "other start"
                return x + y
            def not_only_last(x: Tensor, y: Tensor) -> Tensor:
                assert x[0] == y[0] and x[-1] == y[-1]  # BREAK
                assert x[0] == y[0] or y.dim() > 1  # BREAK
                return x + y
        """,
    },
    "sizes that torch divides, which break where shapes are dynamic, and what an unknown norm gives": {
        "pkg/model.py": """
            def chunks(x: Tensor, size: int, norm) -> Tensor:
                count = torch.div(x.size(0), size, rounding_mode="trunc")  # BREAK
                y = x.new_zeros((count + 1, size))
                if norm(x).abs() < 1e-5:  # BREAK
                    y = y + 1
                return y.view(torch.div(x, size).sum(), size)  # BREAK
        """,
    },
    "an argument whose default is a tensor": {
        "pkg/model.py": """
            class Mean(nn.Module):
                def forward(self, x: Tensor, counts=None):
                    if counts is None:
                        counts = torch.LongTensor([x.size(1)] * x.size(0))
                    if counts.max() == 0:  # BREAK
                        return x
                    return x + 1
            def steps(lengths: Tensor, longest=None):
                if longest is None:
                    longest = lengths.max()
                return torch.arange(longest)  # BREAK
            def weighted(x: Tensor, weights=None, scale=None):
                if weights is None:
                    weights = torch.ones(3)
                if scale is None:
                    scale = 1.0
                if scale > 0:
                    x = x * scale
                return x if weights.sum() > 0 else -x  # BREAK
        """,
    },
    "the places of what is true in something unknown, and strides, which are numbers": {
        "pkg/model.py": """
            from elsewhere import compare
            def wrong(x: Tensor, labels) -> Tensor:
                found = compare(x).max(1)[1] == labels
                return found.nonzero().squeeze()  # BREAK
            def even(x: Tensor) -> Tensor:
                if any(stride % 2 for stride in x.stride()[:-1]):
                    x = x.contiguous()
                if x.stride(0) > 4 and x.stride()[-1] == 1:
                    x = x + 1
                return x
        """,
    },
    "what is asked of the host, and seeds": {
        "pkg/model.py": """
            def forward(x: Tensor, seed: int) -> Tensor:
                torch.random.manual_seed(seed)  # BREAK
                torch.cuda.manual_seed_all(seed)  # BREAK
                torch.cuda.random.manual_seed(seed)  # BREAK
                count = torch.get_num_threads()  # BREAK
                return x + count
        """,
    },
    "an installed package that compiles one function itself": {
        "site-packages/pkg/model.py": """
            @torch.compile
            def fast(x: Tensor) -> Tensor:
                return x + 1
            class Model(nn.Module):
                def forward(self, x: Tensor) -> Tensor:
                    if x.sum() > 0:  # BREAK
                        x = x + 1
                    return x
        """,
    },
}


@pytest.mark.parametrize("name", CASES)
def test_breaks_are_reported_where_they_are(name: str) -> None:
    found, expected = reported(CASES[name])
    assert found == expected


def test_what_a_caller_passes_proves_nothing() -> None:
    text = HEAD + dedent("""
        def scaled(x: Tensor, t):
            return x * float(t)
        def picked(x: Tensor, t):
            if t > 0:
                x = x + 1
            return x
        def forward(x: Tensor) -> Tensor:
            return scaled(x, x.sum()) + picked(x, x.sum())
        def from_numbers(x: Tensor, t: float) -> Tensor:
            return scaled(x, t) + picked(x, t)
    """)
    outcome = run(
        [SourceFile(Path("/model.py"), "model", text)], Config(Path("/")), rules=list(registry.load().values())
    )
    assert [f.code for f in outcome.findings] == ["CF201", "CF101"]
    assert all(f.fix is None or f.fix.assumptions for f in outcome.findings)


@pytest.mark.parametrize("use", ['"#" * n', '"%d" % n', 'b"#" * n', '"a" + n'])
def test_a_number_beside_a_text_is_reported_and_not_computed_with(use: str) -> None:
    text = HEAD + dedent(f"""
        def bar(x: Tensor):
            n = x.float().sum().item()
            return {use}
    """)
    outcome = run(
        [SourceFile(Path("/model.py"), "model", text)], Config(Path("/")), rules=list(registry.load().values())
    )
    assert [f.code for f in outcome.findings] == ["CF201"]
    assert outcome.findings[0].fix is None

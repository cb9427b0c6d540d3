"""Programs in which a fix changes something: it names the assumption that says so, or is not offered.

Each was once called safe, or rested on assumptions that say nothing of what it changed.
"""

from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from tests.codemods.execution import after, differences, execute, observe, rewritten  # noqa: E402

PATH = Path("/nowhere/program.py")
HEAD = """
import copy
import numpy as np
import torch
import torch.nn.functional as F
from torch import nn
from tqdm import tqdm


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.p = nn.Parameter(torch.ones(()))
        self.experts = nn.ModuleList([nn.Linear(2, 2) for _ in range(3)])
        self.seen = []

    def forward(self, {signature}):
{body}


def workload():
    torch.manual_seed(0)
    return Net(), {inputs}
"""

CASES = {
    "a gradient over padding": (
        "CF505",
        "x: torch.LongTensor",
        """
        _, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
        return (self.p / counts)[inverse]
        """,
        "[(torch.tensor([3, 1, 3]),)]",
    ),
    "runs of complex numbers": (
        "CF505",
        "x: torch.ComplexFloatTensor, y: torch.FloatTensor",
        """
        n = len(torch.unique_consecutive(x))
        return y * n
        """,
        "[(torch.ones(2, dtype=torch.complex64), torch.ones(2))]",
    ),
    "minus zero among different values": (
        "CF505",
        "x: torch.FloatTensor",
        """
        y = x.detach()
        values = torch.unique(y)
        return values.max(), (1 / values > 0).any()
        """,
        "[(torch.tensor([0.0, -0.0]),), (torch.tensor([-0.0, 0.0]),)]",
    ),
    "the transpose of different values": (
        "CF505",
        "x: torch.LongTensor",
        """
        values = x.unique()
        return values.mT.max() if values.dim() == 2 else (values.T == 1).any()
        """,
        "[(torch.ones(2, 2, 2, dtype=torch.int64),)]",
    ),
    "the repr of a count": (
        "CF505",
        "x: torch.FloatTensor",
        """
        rows = torch.where(x > 0)[0]
        if len(rows) > 1:
            raise ValueError(f"{len(rows)!r} rows")
        return x
        """,
        "[(torch.ones(2),)]",
    ),
    "a count of experts": (
        "CF504",
        "h: torch.FloatTensor, chosen: torch.LongTensor, w: torch.FloatTensor",
        """
        out, used = torch.zeros_like(h), 0
        for e in range(3):
            token, position = torch.where(chosen == e)
            if token.numel() > 0:
                used += 1
                out.index_add_(0, token, self.experts[e](h[token]) * w[token, position, None])
        return out, used
        """,
        "[(torch.ones(2, 2), torch.tensor([[0], [1]]), torch.ones(2, 1))]",
    ),
    "experts in a list": (
        "CF504",
        "h: torch.FloatTensor, chosen: torch.LongTensor, w: torch.FloatTensor",
        """
        out = torch.zeros_like(h)
        for e in range(3):
            token, position = torch.where(chosen == e)
            if token.numel() == 0:
                continue
            self.seen.append(e)
            out.index_add_(0, token, self.experts[e](h[token]) * w[token, position, None])
        return out
        """,
        "[(torch.ones(2, 2), torch.tensor([[0], [1]]), torch.ones(2, 1))]",
    ),
    "the last expert": (
        "CF504",
        "h: torch.FloatTensor, chosen: torch.LongTensor, w: torch.FloatTensor",
        """
        out = torch.zeros_like(h)
        mask = F.one_hot(chosen, 3).permute(2, 1, 0)
        hit = (mask.sum(dim=(-1, -2)) > 0).nonzero()
        for e in hit:
            e = e[0]
            position, token = torch.where(mask[e])
            out.index_add_(0, token, self.experts[e](h[token]) * w[token, position, None])
        return out, e + 0
        """,
        "[(torch.ones(2, 2), torch.tensor([[0], [1]]), torch.ones(2, 1))]",
    ),
    "the sign of nan": (
        "CF402",
        "x: torch.FloatTensor",
        """
        return torch.as_tensor(np.sign(x.detach().float().cpu().numpy()), device=x.device)
        """,
        "[(torch.tensor([float('nan'), -2.0]),)]",
    ),
    "a tensor that requires a gradient": (
        "CF402",
        "x: torch.FloatTensor",
        """
        return torch.as_tensor(np.abs(x.float().cpu().numpy()), device=x.device)
        """,
        "[(torch.ones(2, requires_grad=True),)]",
    ),
    "bfloat16": (
        "CF402",
        "x: torch.FloatTensor",
        """
        return torch.as_tensor(np.abs(x.detach().cpu().numpy()), device=x.device)
        """,
        "[(torch.ones(2, dtype=torch.bfloat16),)]",
    ),
    "one number": (
        "CF402",
        "x: torch.FloatTensor",
        """
        return torch.from_numpy(np.abs(x.detach().float().cpu().numpy())).to(x.device)
        """,
        "[(torch.tensor(-1.0),)]",
    ),
    "a number that is not finite": (
        "CF401",
        "x: torch.FloatTensor, n: float",
        """
        if np.ceil(n) > 2:
            return x * 2
        return x + 1
        """,
        "[(torch.ones(2), float('nan')), (torch.ones(2), float('inf'))]",
    ),
    "a product that wraps round": (
        "CF401",
        "x: torch.FloatTensor, n: int",
        """
        return x.flatten()[: int(np.prod((n, n)))]
        """,
        "[(torch.ones(2), 2**32)]",
    ),
    "minus zero": (
        "CF401",
        "x: torch.FloatTensor",
        """
        n = np.ceil(-x.shape[0] / 4)
        if n > 5:
            return x
        return x * n
        """,
        "[(torch.ones(2),)]",
    ),
    "an integer of numpy": (
        "CF401",
        "x: torch.FloatTensor",
        """
        n = np.ceil(x.shape[0] / 2).astype(int)
        return x[:n], n
        """,
        "[(torch.ones(3),)]",
    ),
    "a bar backwards": (
        "CF306",
        "x: torch.FloatTensor",
        """
        for i in reversed(tqdm([1, 2], disable=True)):
            x = x * i + 1
        return x
        """,
        "[(torch.ones(2),)]",
    ),
    "an option that prints": (
        "CF306",
        "x: torch.FloatTensor",
        """
        for i in tqdm([1, 2], desc=print("bar"), disable=True):
            x = x * i + 1
        return x
        """,
        "[(torch.ones(2),)]",
    ),
    "a pad where nothing is left": (
        "CF601",
        "x: torch.FloatTensor",
        """
        rest = -x.shape[1] % 8
        if not rest:
            x = F.pad(x, (0, rest))
        return x * 2
        """,
        "[(torch.ones(2, 3),)]",
    ),
    "a pad of a missing dimension": (
        "CF601",
        "x: torch.FloatTensor",
        """
        rest = -x.shape[0] % 8
        if rest:
            x = F.pad(x, (0, 0, 0, rest))
        return x * 2
        """,
        "[(torch.ones(8),)]",
    ),
    "a pad with what fails": (
        "CF601",
        "x: torch.FloatTensor",
        """
        rest = -x.shape[0] % 8
        if rest:
            x = F.pad(x, (0, rest), value=1 / rest)
        return x * 2
        """,
        "[(torch.ones(8),)]",
    ),
    "elements that share memory": (
        "CF701",
        "x: torch.FloatTensor",
        """
        rows = (x > 0).expand(2, 3)
        kept = copy.deepcopy(rows)
        return kept.stride(), kept
        """,
        "[(torch.ones(3),)]",
    ),
    "the device of the context": (
        "CF705",
        "x: torch.FloatTensor",
        """
        with torch.device("meta"):
            y = torch.zeros(2, device=None)
        return x, y.device.type
        """,
        "[(torch.ones(3),)]",
    ),
    "a chain of numbers": (
        "CF105",
        "x: torch.FloatTensor",
        """
        return {True: 1, False: 2}[0 < x.sum().item() < 5]
        """,
        "[(torch.ones(3),)]",
    ),
    "the text of a chain": (
        "CF105",
        "x: torch.FloatTensor",
        """
        print(0 < x.sum().item() < 5)
        return x
        """,
        "[(torch.ones(3),)]",
    ),
    "nothing instead of a mean": (
        "CF102",
        "x: torch.Tensor, near: torch.Tensor",
        """
        total = (x * self.p * near).sum()
        return 0 if near.sum() == 0 else total / near.sum()
        """,
        "[(torch.ones(2), torch.zeros(2)), (torch.ones(2), torch.ones(2))]",
    ),
}
DECLINED = {
    "minus zero among different values",
    *("a gradient over padding", "runs of complex numbers", "the transpose of different values"),
    *("the repr of a count", "a count of experts", "experts in a list", "the last expert", "the sign of nan"),
    *("a bar backwards", "an option that prints", "a pad where nothing is left", "a pad with what fails"),
    *("elements that share memory", "the device of the context", "the text of a chain"),
}
NAMED = {
    "a tensor that requires a gradient": "no-gradient",
    "bfloat16": "same-shape-dtype",
    "one number": "enough-dimensions",
    "a number that is not finite": "math-errors",
    "a product that wraps round": "static-shape-values",
    "minus zero": "static-shape-values",
    "an integer of numpy": "static-shape-values",
    "a pad of a missing dimension": "enough-dimensions",
    "a chain of numbers": "number-to-tensor",
    "nothing instead of a mean": "gradient-zeros",
}


def _text(name: str) -> str:
    _, signature, body, inputs = CASES[name]
    return HEAD.format(signature=signature, body=body.strip("\n").rstrip(), inputs=inputs)


@pytest.mark.parametrize("name", CASES)
def test_safe_fixes_change_nothing(name: str) -> None:
    text = _text(name)
    safe = after(rewritten(PATH, text), text)
    left, right = (observe(execute(t, "program")["workload"]) for t in (text, safe))
    assert differences(left, right) == []


@pytest.mark.parametrize("name", sorted(DECLINED))
def test_what_no_assumption_covers_is_declined(name: str) -> None:
    code = CASES[name][0]
    assert [f for f in rewritten(PATH, _text(name), None).findings if f.code == code and f.fix is not None] == []


@pytest.mark.parametrize("name", NAMED)
def test_what_changes_has_a_name(name: str) -> None:
    code = CASES[name][0]
    fixes = [f.fix for f in rewritten(PATH, _text(name), None).findings if f.code == code and f.fix is not None]
    assert fixes
    assert all(NAMED[name] in fix.assumptions for fix in fixes)


def test_every_case_has_an_outcome() -> None:
    assert set(CASES) == DECLINED | set(NAMED)
    assert not DECLINED & set(NAMED)


NUMBERED = """
        out = torch.zeros_like(h)
        mask = F.one_hot(chosen, 3).permute(2, 1, 0)
        hit = (mask.sum(dim=(-1, -2)) > 0).nonzero()
        for e in hit:
            e = e.item()
            layer = self.experts[e]
            position, token = torch.where(mask[e])
            out.index_add_(0, token, layer(h[token]) * w[token, position, None])
        return out
"""


def test_the_number_of_an_expert_is_no_effect() -> None:
    signature = "h: torch.FloatTensor, chosen: torch.LongTensor, w: torch.FloatTensor"
    inputs = "[(torch.ones(2, 2), torch.tensor([[0], [1]]), torch.ones(2, 1))]"
    text = HEAD.format(signature=signature, body=NUMBERED, inputs=inputs)
    outcome = rewritten(PATH, text, None)
    assert "CF504" in {fix.code for fix in outcome.patchset.fixes}
    left, right = (observe(execute(t, "program")["workload"]) for t in (text, after(outcome, text)))
    assert differences(left, right, frozenset({"gradients"})) == []


SURELY = {
    "a float that NumPy takes": (
        "CF402",
        "x: torch.FloatTensor",
        """
        return torch.as_tensor(np.abs(x.detach().float().cpu().numpy()), device=x.device)
        """,
        "[(torch.tensor([float('nan'), -2.0]),)]",
    ),
    "a whole number of windows": (
        "CF401",
        "x: torch.FloatTensor",
        """
        n = np.ceil(x.shape[0] / 2)
        return x[: int(n)] * n, np.ceil(x.shape[0] / 2).astype(int) * x
        """,
        "[(torch.ones(3),)]",
    ),
    "windows of an image": (
        "CF601",
        "x: torch.FloatTensor",
        """
        height, width = x.shape[-2:]
        below = -height % 4
        right = -width % 4
        y = x * 2
        if below or right:
            y = F.pad(y, (0, right, 0, below))
        return y.cos()
        """,
        "[(torch.ones(1, 3, 4),), (torch.ones(4, 4),)]",
    ),
    "weights of what is counted": (
        "CF505",
        "x: torch.LongTensor, y: torch.FloatTensor",
        """
        values, inverse, counts = torch.unique(x, return_inverse=True, return_counts=True)
        total = torch.zeros_like(values, dtype=torch.float32)
        total.index_add_(0, inverse, y)
        return (total / counts)[inverse]
        """,
        "[(torch.tensor([3, 1, 3]), torch.randn(3, requires_grad=True))]",
    ),
}


@pytest.mark.parametrize("name", SURELY)
def test_what_is_proved_stays_safe(name: str) -> None:
    code, signature, body, inputs = SURELY[name]
    text = HEAD.format(signature=signature, body=body.strip("\n").rstrip(), inputs=inputs)
    outcome = rewritten(PATH, text)
    assert code in {fix.code for fix in outcome.patchset.fixes}
    left, right = (observe(execute(t, "program")["workload"]) for t in (text, after(outcome, text)))
    assert differences(left, right) == []

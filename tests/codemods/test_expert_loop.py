"""Loops over experts: the dense form gives the same numbers up to rounding, in one graph."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

sys.path.insert(0, str(Path(__file__).parent))
import execution  # noqa: E402

_HEAD = """
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch import Tensor
"""
_PROGRAMS = {
    "stacked": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.num_experts = 4
        self.w = nn.Parameter(torch.randn(4, 8, 3))
        self.d = nn.Parameter(torch.randn(4, 3, 4))
        self.act_fn = nn.SiLU()

    def forward(self, hidden_states: Tensor, top_k_index: Tensor, top_k_weights: Tensor):
        final = torch.zeros_like(hidden_states)
        with torch.no_grad():
            expert_mask = F.one_hot(top_k_index, num_classes=self.num_experts + 1)
            expert_mask = expert_mask.permute(2, 1, 0)
            expert_hit = torch.greater(expert_mask.sum(dim=(-1, -2)), 0).nonzero()
        for expert_idx in expert_hit:
            expert_idx = expert_idx[0]
            if expert_idx == self.num_experts:
                continue
            pos, tok = torch.where(expert_mask[expert_idx])
            cur = hidden_states[tok]
            gate, up = F.linear(cur, self.w[expert_idx]).chunk(2, dim=-1)
            cur = self.act_fn(gate) * up
            cur = F.linear(cur, self.d[expert_idx])
            cur = cur * top_k_weights[tok, pos, None]
            final.index_add_(0, tok, cur.to(final.dtype))
        return final


def workload():
    torch.manual_seed(0)
    return Mod(), [
        (torch.randn(5, 3), torch.tensor([[0, 1], [1, 2], [0, 2], [4, 1], [2, 1]]), torch.rand(5, 2)),
        (torch.randn(1, 3), torch.tensor([[3, 4]]), torch.rand(1, 2, requires_grad=True)),
    ]
""",
    "deepseek_old": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(4))

    def forward(self, hidden_states: Tensor, topk_indices: Tensor, topk_weights: Tensor):
        final = torch.zeros_like(hidden_states, dtype=topk_weights.dtype)
        expert_mask = F.one_hot(topk_indices, num_classes=len(self.experts))
        expert_mask = expert_mask.permute(2, 0, 1)
        for expert_idx in range(len(self.experts)):
            expert = self.experts[expert_idx]
            mask = expert_mask[expert_idx]
            token_indices, weight_indices = torch.where(mask)
            if token_indices.numel() == 0:
                continue
            expert_weights = topk_weights[token_indices, weight_indices]
            expert_input = hidden_states[token_indices]
            expert_output = expert(expert_input)
            weighted_output = expert_output * expert_weights.unsqueeze(-1)
            final.index_add_(0, token_indices, weighted_output)
        return final.type(hidden_states.dtype)


def workload():
    torch.manual_seed(0)
    return Mod(), [
        (torch.randn(5, 3), torch.tensor([[0, 1], [1, 2], [0, 2], [3, 1], [2, 1]]), torch.rand(5, 2)),
        (
            torch.randn(5, 3, requires_grad=True),
            torch.tensor([[0, 1], [1, 2], [0, 2], [3, 1], [2, 1]]),
            torch.rand(5, 2),
        ),
    ]
""",
    "deepseek_numel_gt": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(4))

    def forward(self, hidden_states: Tensor, topk_indices: Tensor, topk_weights: Tensor):
        hidden_states = hidden_states.view(-1, 3)
        final = torch.zeros_like(hidden_states)
        expert_mask = F.one_hot(topk_indices, num_classes=4).permute(2, 0, 1)
        for i, expert in enumerate(self.experts):
            tok, pos = torch.where(expert_mask[i])
            if tok.numel() > 0:
                out = expert(hidden_states[tok]) * topk_weights[tok, pos].unsqueeze(-1)
                final.index_add_(0, tok, out)
        return final


def workload():
    torch.manual_seed(0)
    return Mod(), [
        (torch.randn(5, 3), torch.tensor([[0, 1], [1, 2], [0, 2], [3, 1], [2, 1]]), torch.rand(5, 2))
    ]
""",
    "indices_eq": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(4))

    def forward(self, x: Tensor, indices: Tensor, weights: Tensor):
        y = torch.zeros_like(x)
        for i in range(4):
            idx, top = torch.where(indices == i)
            y[idx] += self.experts[i](x[idx]) * weights[idx, top, None]
        return y


def workload():
    torch.manual_seed(0)
    return Mod(), [
        (torch.randn(5, 3), torch.tensor([[0, 1], [1, 2], [0, 2], [3, 1], [2, 1]]), torch.rand(5, 2))
    ]
""",
    "mask_form": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(4))

    def forward(self, x: Tensor, weights: Tensor):
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            m = weights[..., i] > 0.2
            out[m] += expert(x[m]) * weights[..., i][m].unsqueeze(-1)
        return out


def workload():
    torch.manual_seed(0)
    return Mod(), [(torch.randn(5, 3), torch.rand(5, 4))]
""",
    "dropout": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(4))
        self.drop = nn.Dropout(0.5)

    def forward(self, x: Tensor, indices: Tensor, weights: Tensor):
        y = torch.zeros_like(x)
        for i in range(4):
            idx, top = torch.where(indices == i)
            y[idx] += self.drop(self.experts[i](x[idx])) * weights[idx, top, None]
        return y


def workload():
    torch.manual_seed(0)
    return Mod(), [
        (torch.randn(5, 3), torch.tensor([[0, 1], [1, 2], [0, 2], [3, 1], [2, 1]]), torch.rand(5, 2))
    ]
""",
    "normed": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(4))

    def forward(self, x: Tensor, indices: Tensor, weights: Tensor):
        y = torch.zeros_like(x)
        for i in range(4):
            idx, top = torch.where(indices == i)
            r = self.experts[i](x[idx])
            r = r - r.mean(0)
            y[idx] += r * weights[idx, top, None]
        return y


def workload():
    torch.manual_seed(0)
    return Mod(), [
        (torch.randn(5, 3), torch.tensor([[0, 1], [1, 2], [0, 2], [3, 1], [2, 1]]), torch.rand(5, 2))
    ]
""",
    "counted": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        self.experts = nn.ModuleList(nn.Linear(3, 3) for _ in range(4))
        self.register_buffer("load", torch.zeros(4))

    def forward(self, x: Tensor, indices: Tensor, weights: Tensor):
        y = torch.zeros_like(x)
        for i in range(4):
            idx, top = torch.where(indices == i)
            self.load[i] += idx.numel()
            y.index_add_(0, idx, self.experts[i](x[idx]) * weights[idx, top, None])
        return y


def workload():
    torch.manual_seed(0)
    return Mod(), [
        (torch.randn(5, 3), torch.tensor([[0, 1], [1, 2], [0, 2], [3, 1], [2, 1]]), torch.rand(5, 2))
    ]
""",
    "switch": """
class Mod(nn.Module):
    def __init__(self):
        super().__init__()
        for i in range(4):
            setattr(self, f"expert_{i}", nn.Linear(3, 3))

    def forward(self, hidden_states: Tensor, selected: Tensor, routing_weights: Tensor):
        final = torch.zeros_like(hidden_states)
        expert_mask = selected.permute(2, 1, 0)
        expert_hit = torch.greater(expert_mask.sum(dim=(-1, -2)), 0).nonzero()
        for expert_idx in expert_hit:
            idx, top_x = torch.where(expert_mask[expert_idx].squeeze(0))
            cur = hidden_states[None, top_x].reshape(-1, hidden_states.shape[-1])
            cur = getattr(self, f"expert_{expert_idx[0]}")(cur) * routing_weights[top_x, idx, None]
            final.index_add_(0, top_x, cur.to(hidden_states.dtype))
        return final


def workload():
    torch.manual_seed(0)
    return Mod(), [
        (torch.randn(5, 3), F.one_hot(torch.tensor([[0], [1], [0], [3], [2]]), 4), torch.rand(5, 1))
    ]
""",
}
_KEPT = frozenset({"dropout", "normed", "counted"})


@pytest.fixture(autouse=True)
def _quiet() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _run(workload: Any, *, compiled: bool) -> list[Any]:
    """Outputs and gradients; a gradient that is None counts as zeros, which the fix says."""
    torch.manual_seed(0)
    module, inputs = workload()
    called = torch.compile(module, backend="eager", fullgraph=True) if compiled else module
    found: list[Any] = []
    for arguments in inputs:
        module.zero_grad(set_to_none=True)
        torch.manual_seed(1)
        result = called(*arguments)
        result.sum().backward()
        leaves = [*module.parameters(), *(a for a in arguments if a.requires_grad)]
        found.append(result.detach())
        found.extend(torch.zeros_like(leaf) if leaf.grad is None else leaf.grad.clone() for leaf in leaves)
    return found


@pytest.mark.parametrize("name", _PROGRAMS)
def test_the_dense_form_does_the_same_in_one_graph(name: str, tmp_path: Path) -> None:
    text = _HEAD + _PROGRAMS[name]
    path = tmp_path / "program.py"
    after = execution.after(execution.rewritten(path, text, None), text)
    assert (after == text) == (name in _KEPT)
    if name in _KEPT:
        return
    path.write_text(text)
    changed = tmp_path / "changed.py"
    changed.write_text(after)
    expected = _run(execution.load(path).workload, compiled=False)
    for compiled in (False, True):
        torch._dynamo.reset()
        # fullgraph also captures scalars and dynamic shapes: the break sites are counted by the fixtures.
        torch.testing.assert_close(_run(execution.load(changed).workload, compiled=compiled), expected)


def test_many_experts_keep_their_selection(tmp_path: Path) -> None:
    text = _HEAD + _PROGRAMS["indices_eq"].replace("range(4)", "range(64)")
    outcome = execution.rewritten(tmp_path / "program.py", text, None)
    assert execution.after(outcome, text) == text
    assert any("capture_dynamic_output_shape_ops" in (f.declined or "") for f in outcome.findings if f.code == "CF504")


def test_an_index_that_the_dense_form_makes_a_number_goes_with_it(tmp_path: Path) -> None:
    # What the layer between does is not known: by itself the index has no fix.
    text = (_HEAD + _PROGRAMS["stacked"]).replace("nn.SiLU()", "ACTIVATIONS['silu']")
    outcome = execution.rewritten(tmp_path / "program.py", f"from activations import ACTIVATIONS\n{text}", frozenset())
    said = {f.declined for f in outcome.findings if f.code == "CF202" and f.fix is None}
    (loop,) = (f for f in outcome.findings if f.code == "CF504")
    assert said == {f"goes with the fix of CF504 on line {loop.span.line}"}

"""The mixture of experts of `fixtures/models/moe.py` as an expert would fix it by hand, log lines kept.

The numbers of the router and of the update stay tensors, and the choices are `torch.where`.
`route` alone is compiled, to one graph that also returns what is logged; `forward` writes the lines when it has run.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

logger = logging.getLogger("models.moe")
logger.setLevel(logging.INFO)


@dataclass(frozen=True)
class MoEConfig:
    """Sizes and router constants; the default sizes are those used on a GPU."""

    dim: int = 256
    hidden: int = 512
    experts: int = 4
    top_k: int = 2
    layers: int = 4
    tokens: int = 64
    load_cap: float = 0.5
    penalty: float = 0.5
    hidden_limit: float = 2.0


class Expert(nn.Module):
    """Feed-forward network that limits its hidden activations once they leave the expected range."""

    def __init__(self, config: MoEConfig) -> None:
        super().__init__()
        self.limit = config.hidden_limit
        self.up = nn.Linear(config.dim, config.hidden)
        self.down = nn.Linear(config.hidden, config.dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = F.silu(self.up(x))
        h = torch.where(h.abs().max() > self.limit, h.clamp(min=-self.limit, max=self.limit), h)
        return self.down(h)


class Router(nn.Module):
    """Gives each token a weight per expert; all but the best ``top_k`` weights are zero."""

    def __init__(self, config: MoEConfig) -> None:
        super().__init__()
        self.config = config
        self.gate = nn.Linear(config.dim, config.experts, bias=False)
        self.log_temperature = nn.Parameter(torch.tensor(0.25))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        temperature = self.log_temperature.detach().exp().clamp(min=1.0)
        logits = self.gate(x) / temperature

        # Share of the tokens that each expert would get if the best expert took all.
        load = F.one_hot(logits.argmax(dim=-1), self.config.experts).float().mean(dim=0)
        overloaded = load.max() > self.config.load_cap
        logits = torch.where(overloaded, logits - (self.config.penalty * load).to(logits.dtype), logits)

        probs = torch.softmax(logits, dim=-1)
        best, index = torch.topk(probs, self.config.top_k, dim=-1)
        best = best / best.sum(dim=-1, keepdim=True)
        gates = torch.zeros_like(probs).scatter(-1, index, best)

        # Switch-style balance loss, weighted up while one expert is far above its share.
        excess = load.max() * self.config.experts
        balance = probs.mean(dim=0) * load * excess
        return gates, balance


class ExpertMixture(nn.Module):
    """All experts, mixed by the weights of the router."""

    def __init__(self, config: MoEConfig) -> None:
        super().__init__()
        self.experts = nn.ModuleList(Expert(config) for _ in range(config.experts))

    def forward(self, x: torch.Tensor, gates: torch.Tensor) -> torch.Tensor:
        mixed = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            mixed = mixed + gates[:, i : i + 1] * expert(x)
        return mixed


class MoELayer(nn.Module):
    """Router and experts with a residual connection."""

    def __init__(self, config: MoEConfig) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(config.dim)
        self.router = Router(config)
        self.mixture = ExpertMixture(config)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        h = self.norm(x)
        gates, balance = self.router(h)
        mixed = self.mixture(h, gates)
        # Scale the update down to the size of the residual stream.
        mixed = mixed / (1.0 + mixed.detach().abs().mean())
        return x + mixed, balance


class MoEStack(nn.Module):
    """Several layers; returns the tokens and the total balance per expert."""

    def __init__(self, config: MoEConfig) -> None:
        super().__init__()
        self.layers = nn.ModuleList(MoELayer(config) for _ in range(config.layers))

    def route(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The tokens, the balance loss, and what each layer adds to it."""
        balances = []
        for layer in self.layers:
            x, balance = layer(x)
            balances.append(balance)
        stacked = torch.stack(balances)
        return x, stacked.sum(dim=0), stacked.detach().sum(dim=1)

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Tokens of shape (tokens, dim) in; tokens of the same shape and a (experts,) balance loss out."""
        tokens, balance, by_layer = self.route(x)
        for index, value in enumerate(by_layer.tolist()):
            logger.info("layer %d balance %.3f", index, value)
        return tokens, balance


def workload(
    device: str, compile: Callable[..., Any] = torch.compile
) -> tuple[nn.Module, list[tuple[torch.Tensor, ...]]]:
    """The stack and three sets of tokens of one shape: varied, all alike (one expert overloaded), and nearly zero."""
    on_gpu = torch.device(device).type == "cuda"
    config = MoEConfig() if on_gpu else MoEConfig(dim=32, hidden=64, tokens=32)
    torch.manual_seed(0)
    model = MoEStack(config).to(device)
    model.route = compile(model.route)
    varied = torch.randn(config.tokens, config.dim)
    alike = torch.randn(1, config.dim) + 0.125 * varied
    return model, [(varied.to(device),), (alike.to(device),), ((0.001 * varied).to(device),)]

"""Workloads on models of installed public packages that break today; small random weights, nothing is downloaded.

Used with `benchmarks/workloads.py`, or directly:
`compilefix verify benchmarks/public_models.py:bart PATH/TO/transformers/models/bart`.
"""

from __future__ import annotations

from typing import Any

import torch


def bart(device: str) -> tuple[Any, list[dict[str, torch.Tensor]]]:
    """BART's encoder in float16: the overflow guard of every layer asks a tensor for its truth."""
    from transformers import BartConfig
    from transformers.models.bart.modeling_bart import BartEncoder

    config = BartConfig(
        vocab_size=128,
        d_model=64,
        encoder_layers=6,
        encoder_attention_heads=4,
        encoder_ffn_dim=128,
        max_position_embeddings=64,
    )
    model = BartEncoder(config).eval().to(device=device, dtype=torch.float16)
    embedded = torch.randn(2, 32, 64, generator=torch.Generator().manual_seed(1)).to(device=device, dtype=torch.float16)
    overflowing = embedded.clone()
    overflowing[0, 0, 0] = float("inf")
    return model, [{"inputs_embeds": embedded}, {"inputs_embeds": overflowing}]


def detr(device: str) -> tuple[Any, list[dict[str, torch.Tensor]]]:
    """The encoder layers of DETR in training: the same guard, in every layer."""
    from transformers import DetrConfig
    from transformers.models.detr.modeling_detr import DetrEncoderLayer

    config = DetrConfig(
        d_model=64,
        encoder_attention_heads=4,
        encoder_ffn_dim=128,
        dropout=0.0,
        activation_dropout=0.0,
        attention_dropout=0.0,
    )
    config._attn_implementation = "eager"

    class Layers(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList(DetrEncoderLayer(config) for _ in range(6))

        def forward(self, hidden_states: torch.Tensor, position: torch.Tensor) -> torch.Tensor:
            for layer in self.layers:
                out = layer(hidden_states, None, position)
                hidden_states = out[0] if isinstance(out, tuple) else out
            return hidden_states

    generator = torch.Generator().manual_seed(0)
    states = torch.randn(2, 50, 64, generator=generator).to(device)
    position = torch.randn(2, 50, 64, generator=generator).to(device)
    broken = states.clone()
    broken[0, 0, 0] = float("nan")
    return Layers().train().to(device), [
        {"hidden_states": states, "position": position},
        {"hidden_states": broken, "position": position},
    ]


def perceiver(device: str) -> tuple[Any, list[tuple[torch.Tensor]]]:
    """Perceiver on small images with Fourier positions: NumPy on shapes."""
    from transformers import PerceiverConfig, PerceiverForImageClassificationFourier

    config = PerceiverConfig(
        num_latents=16,
        d_latents=32,
        d_model=261,
        num_blocks=1,
        num_self_attends_per_block=2,
        num_self_attention_heads=2,
        num_cross_attention_heads=1,
        num_labels=4,
        image_size=32,
    )
    model = PerceiverForImageClassificationFourier(config).eval().to(device)
    images = torch.randn(1, 3, 224, 224, generator=torch.Generator().manual_seed(0)).to(device)
    return model, [(images,)]


def accuracy(device: str) -> tuple[Any, list[tuple[torch.Tensor, torch.Tensor]]]:
    """torchmetrics' binary accuracy: logits or probabilities, told apart by looking at the values."""
    from torchmetrics.functional.classification import binary_accuracy

    def score(preds: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return binary_accuracy(preds, target, validate_args=False)

    generator = torch.Generator().manual_seed(0)
    target = torch.randint(0, 2, (256,), generator=generator).to(device)
    probabilities = torch.rand(256, generator=generator).to(device)
    logits = torch.randn(256, generator=generator).to(device)
    return score, [(probabilities, target), (logits, target)]


def mixture(device: str) -> tuple[Any, list[tuple[torch.Tensor]]]:
    """A mixture of experts: how many places an expert gets is read from a tensor."""
    from mixture_of_experts import MoE

    torch.manual_seed(0)
    model = MoE(dim=64, num_experts=8, second_policy_train="all", second_policy_eval="all").to(device)
    return model, [(torch.randn(4, 128, 64, device=device),), (torch.randn(4, 128, 64, device=device) * 4,)]


def spline(device: str) -> tuple[Any, list[tuple[torch.Tensor]]]:
    """A spline flow with linear tails: what is inside of the interval is selected, changed and put back."""
    from nflows.transforms import MaskedPiecewiseRationalQuadraticAutoregressiveTransform

    torch.manual_seed(0)
    flow = MaskedPiecewiseRationalQuadraticAutoregressiveTransform(
        features=8, hidden_features=32, tails="linear", tail_bound=3.0, num_bins=8
    ).to(device)
    return flow, [(torch.randn(512, 8, device=device),), (torch.randn(512, 8, device=device) * 8,)]


def ranks(device: str) -> tuple[Any, list[tuple[torch.Tensor, torch.Tensor]]]:
    """torchmetrics' rank correlation: equal values share a rank, found with `unique`."""
    from torchmetrics.functional.regression import spearman_corrcoef

    generator = torch.Generator().manual_seed(0)
    first, second = (torch.randn(512, generator=generator).to(device) for _ in range(2))
    return spearman_corrcoef, [(first, second), (first.round(), second.round())]


def determination(device: str) -> tuple[Any, list[tuple[torch.Tensor, torch.Tensor]]]:
    """torchmetrics' coefficient of determination of several outputs, some of them constant."""
    from torchmetrics.functional.regression import r2_score

    def score(preds: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        return r2_score(preds, target, multioutput="uniform_average")

    generator = torch.Generator().manual_seed(0)
    preds, target = (torch.randn(4096, 8, generator=generator).to(device) for _ in range(2))
    constant = target.clone()
    constant[:, 2] = 1.0
    return score, [(preds, target), (preds, constant)]

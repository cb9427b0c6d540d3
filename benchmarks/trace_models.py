"""Ten models of public packages that nothing else here uses, for `trace_against_logs.py`.

Small, with random weights, each called with two sizes where it takes them, so that some break and some recompile.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

Built = tuple[Callable[..., Any], Sequence[tuple[Any, ...]]]


def _tokens(*lengths: int, count: int = 64) -> list[tuple[torch.Tensor]]:
    return [(torch.randint(0, count, (2, length)),) for length in lengths]


def sinkhorn() -> Built:
    """Attention in sorted buckets."""
    from sinkhorn_transformer import SinkhornTransformerLM

    model = SinkhornTransformerLM(num_tokens=64, dim=32, heads=4, depth=2, max_seq_len=64, bucket_size=16)
    return model, _tokens(64, 32)


def routing() -> Built:
    """Attention in clusters of keys."""
    from routing_transformer import RoutingTransformerLM

    model = RoutingTransformerLM(
        num_tokens=64, dim=32, heads=4, depth=2, max_seq_len=64, window_size=16, n_local_attn_heads=2
    )
    return model, _tokens(64, 64)


def compressive() -> Built:
    """A transformer with two memories."""
    from compressive_transformer_pytorch import CompressiveTransformer

    model = CompressiveTransformer(
        num_tokens=64, emb_dim=32, dim=32, depth=2, seq_len=16, mem_len=16, cmem_len=4, memory_layers=[1, 2]
    )
    return model, _tokens(16, 12)


def hierarchical() -> Built:
    """Attention over a tree of blocks."""
    from h_transformer_1d import HTransformer1D

    model = HTransformer1D(num_tokens=64, dim=32, depth=2, max_seq_len=64, heads=2, dim_head=16, block_size=16)
    return model, _tokens(64, 64)


def charformer() -> Built:
    """Blocks of characters with a score each."""
    from charformer_pytorch import GBST

    return GBST(num_tokens=64, dim=32, max_block_size=4, downsample_factor=4), _tokens(64, 61)


def block_recurrent() -> Built:
    """A transformer with a state between blocks."""
    from block_recurrent_transformer_pytorch import BlockRecurrentTransformer

    model = BlockRecurrentTransformer(
        num_tokens=64, dim=32, depth=2, dim_head=16, heads=2, max_seq_len=32, block_width=16, num_state_vectors=16
    )
    return model, _tokens(32, 24)


def mega() -> Built:
    """Attention with a moving average."""
    from mega_pytorch import Mega

    model = Mega(num_tokens=64, dim=32, depth=2, attn_dim_qk=16, attn_dim_value=32, ema_heads=2)
    return model, _tokens(32, 24)


def temporal_convolution() -> Built:
    """Causal convolutions."""
    from pytorch_tcn import TCN

    return TCN(num_inputs=8, num_channels=[8, 8], kernel_size=3), [(torch.randn(2, 8, n),) for n in (32, 24)]


def soft_experts() -> Built:
    """Experts whose tokens are mixed."""
    from soft_moe_pytorch import SoftMoE

    return SoftMoE(dim=32, seq_len=32, num_experts=4), [(torch.randn(2, n, 32),) for n in (32, 16)]


def points() -> Built:
    """Attention among neighbours in space."""
    from point_transformer_pytorch import PointTransformerLayer

    layer = PointTransformerLayer(dim=32, pos_mlp_hidden_dim=16, attn_mlp_hidden_mult=2, num_neighbors=4)
    return layer, [(torch.randn(2, n, 32), torch.randn(2, n, 3)) for n in (16, 12)]


MODELS: Mapping[str, Callable[[], Built]] = {
    "sinkhorn-transformer": sinkhorn,
    "routing-transformer": routing,
    "compressive-transformer-pytorch": compressive,
    "h-transformer-1d": hierarchical,
    "charformer-pytorch": charformer,
    "block-recurrent-transformer-pytorch": block_recurrent,
    "mega-pytorch": mega,
    "pytorch-tcn": temporal_convolution,
    "soft-moe-pytorch": soft_experts,
    "point-transformer-pytorch": points,
}

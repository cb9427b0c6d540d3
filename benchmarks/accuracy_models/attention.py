"""Attention, quantisation and mixture-of-experts modules of small research packages."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import torch


def _make(path: str, options: dict[str, Any]) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)(**options)


def _hidden(
    path: str, options: dict[str, Any], width: int = 32, lengths: tuple[int, ...] = (16, 24)
) -> tuple[Any, list[Any]]:
    return _make(path, options), [(torch.randn(2, n, width),) for n in lengths]


def _tokens(path: str, options: dict[str, Any], lengths: tuple[int, ...] = (16, 24)) -> tuple[Any, list[Any]]:
    return _make(path, options), [(torch.randint(0, 64, (2, n)),) for n in lengths]


def _x_decoder(**options: Any) -> tuple[Any, list[Any]]:
    x = importlib.import_module("x_transformers")
    model = x.TransformerWrapper(
        num_tokens=64, max_seq_len=32, attn_layers=x.Decoder(dim=32, depth=2, heads=2, **options)
    )
    return model, [(torch.randint(0, 64, (2, n)),) for n in (16, 24)]


def _x_autoregressive() -> tuple[Any, list[Any]]:
    x = importlib.import_module("x_transformers")
    net = x.TransformerWrapper(num_tokens=64, max_seq_len=32, attn_layers=x.Decoder(dim=32, depth=1, heads=2))
    return x.AutoregressiveWrapper(net, mask_prob=0.15), [(torch.randint(0, 64, (2, n)),) for n in (16, 24)]


def _x_encoder() -> tuple[Any, list[Any]]:
    x = importlib.import_module("x_transformers")
    model = x.ContinuousTransformerWrapper(
        dim_in=8,
        dim_out=8,
        max_seq_len=32,
        emb_dropout=0.1,
        attn_layers=x.Encoder(dim=32, depth=2, heads=2, layer_dropout=0.1),
    )
    return model, [{"x": torch.randn(2, n, 8), "mask": torch.ones(2, n).bool()} for n in (16, 24)]


def _perceiver() -> tuple[Any, list[Any]]:
    model = _make(
        "perceiver_pytorch.Perceiver",
        {
            "input_channels": 3,
            "input_axis": 2,
            "num_freq_bands": 2,
            "max_freq": 4.0,
            "depth": 1,
            "num_latents": 8,
            "latent_dim": 16,
            "cross_dim_head": 8,
            "latent_dim_head": 8,
            "num_classes": 3,
        },
    )
    return model, [(torch.randn(b, 8, 8, 3),) for b in (1, 2)]


def _local() -> tuple[Any, list[Any]]:
    layer = _make("local_attention.LocalAttention", {"dim": 8, "window_size": 4, "causal": True, "autopad": True})
    return layer, [tuple(torch.randn(2, 2, n, 8) for _ in range(3)) for n in (16, 22)]


def _soft_moe() -> tuple[Any, list[Any]]:
    return _make("st_moe_pytorch.MoE", {"dim": 32, "num_experts": 4}), [(torch.randn(2, n, 32),) for n in (16, 24)]


_VQ: list[tuple[str, dict[str, Any]]] = [
    ("VectorQuantize", {"dim": 32, "codebook_size": 16}),
    (
        "VectorQuantize",
        {"dim": 32, "codebook_size": 16, "kmeans_init": True, "kmeans_iters": 2, "threshold_ema_dead_code": 2},
    ),
    ("VectorQuantize", {"dim": 32, "codebook_size": 16, "use_cosine_sim": True, "orthogonal_reg_weight": 1.0}),
    ("ResidualVQ", {"dim": 32, "codebook_size": 16, "num_quantizers": 3, "quantize_dropout": True}),
    ("GroupedResidualVQ", {"dim": 32, "codebook_size": 16, "num_quantizers": 2, "groups": 2}),
    ("FSQ", {"levels": [4, 4], "dim": 32}),
    ("ResidualFSQ", {"levels": [4, 4], "dim": 32, "num_quantizers": 2}),
    ("ResidualLFQ", {"dim": 32, "codebook_size": 16, "num_quantizers": 2}),
    ("SimVQ", {"dim": 32, "codebook_size": 16}),
    ("RandomProjectionQuantizer", {"dim": 32, "codebook_size": 16, "codebook_dim": 8, "num_codebooks": 2}),
    ("LatentQuantize", {"levels": [4, 4], "dim": 32}),
]
_MODULES: dict[str, Any] = {
    "performer_pytorch/SelfAttention": partial(
        _hidden, "performer_pytorch.SelfAttention", {"dim": 32, "heads": 2, "dim_head": 16}
    ),
    "performer_pytorch/Performer": partial(
        _hidden,
        "performer_pytorch.Performer",
        {"dim": 32, "depth": 2, "heads": 2, "dim_head": 16, "feature_redraw_interval": 2},
    ),
    "performer_pytorch/PerformerLM": partial(
        _tokens,
        "performer_pytorch.PerformerLM",
        {"num_tokens": 64, "max_seq_len": 32, "dim": 32, "depth": 1, "heads": 2, "dim_head": 16, "causal": False},
    ),
    "reformer_pytorch/LSHSelfAttention": partial(
        _hidden,
        "reformer_pytorch.LSHSelfAttention",
        {"dim": 32, "heads": 2, "bucket_size": 4, "n_hashes": 2},
        32,
        (16, 24),
    ),
    "reformer_pytorch/Reformer": partial(
        _hidden,
        "reformer_pytorch.Reformer",
        {"dim": 32, "depth": 1, "heads": 2, "bucket_size": 4, "n_hashes": 2},
        32,
        (16, 24),
    ),
    "reformer_pytorch/ReformerLM": partial(
        _tokens,
        "reformer_pytorch.ReformerLM",
        {"num_tokens": 64, "dim": 32, "depth": 1, "max_seq_len": 32, "heads": 2, "bucket_size": 4, "n_hashes": 2},
        (16, 16),
    ),
    "linformer/Linformer": partial(
        _hidden, "linformer.Linformer", {"dim": 32, "seq_len": 16, "depth": 1, "heads": 2, "k": 4}, 32, (16, 16)
    ),
    "nystrom_attention/Nystromformer": partial(
        _hidden,
        "nystrom_attention.Nystromformer",
        {"dim": 32, "dim_head": 8, "heads": 2, "depth": 1, "num_landmarks": 4},
    ),
    "conformer/ConformerBlock": partial(_hidden, "conformer.ConformerBlock", {"dim": 32, "dim_head": 8, "heads": 2}),
    "colt5_attention/ConditionalRoutedFeedForward": partial(
        _hidden, "colt5_attention.ConditionalRoutedFeedForward", {"dim": 32, "num_heavy_tokens": 4}
    ),
    "colt5_attention/ConditionalRoutedAttention": partial(
        _hidden,
        "colt5_attention.ConditionalRoutedAttention",
        {
            "dim": 32,
            "num_heavy_tokens_q": 4,
            "num_heavy_tokens_kv": 4,
            "light_window_size": 4,
            "heavy_dim_head": 8,
            "light_dim_head": 8,
        },
    ),
    "mixture_of_experts/MoE": partial(_hidden, "mixture_of_experts.MoE", {"dim": 32, "num_experts": 4}),
    "mixture_of_experts/HeirarchicalMoE": partial(
        _hidden, "mixture_of_experts.HeirarchicalMoE", {"dim": 32, "num_experts": (2, 2)}
    ),
    "product_key_memory/PKM": partial(
        _hidden, "product_key_memory.PKM", {"dim": 32, "num_keys": 8, "topk": 4, "heads": 2}
    ),
    "axial_positional_embedding/AxialPositionalEmbedding": partial(
        _hidden, "axial_positional_embedding.AxialPositionalEmbedding", {"dim": 32, "axial_shape": (4, 8)}
    ),
    "mambapy/Mamba": lambda: (
        importlib.import_module("mambapy.mamba").Mamba(
            importlib.import_module("mambapy.mamba").MambaConfig(d_model=16, n_layers=2)
        ),
        [(torch.randn(2, n, 16),) for n in (8, 12)],
    ),
}

MODELS = {
    "x_transformers/Decoder": _x_decoder,
    "x_transformers/Decoder rotary": partial(_x_decoder, rotary_pos_emb=True, attn_flash=True, ff_glu=True),
    "x_transformers/Decoder alibi": partial(
        _x_decoder, alibi_pos_bias=True, attn_sparse_topk=4, attn_talking_heads=True
    ),
    "x_transformers/Decoder t5": partial(_x_decoder, rel_pos_bias=True, attn_qk_norm=True, use_rmsnorm=True),
    "x_transformers/AutoregressiveWrapper": _x_autoregressive,
    "x_transformers/ContinuousTransformerWrapper": _x_encoder,
    **{
        f"vector_quantize_pytorch/{name} {i}": partial(_hidden, f"vector_quantize_pytorch.{name}", options)
        for i, (name, options) in enumerate(_VQ)
    },
    "perceiver_pytorch/Perceiver": _perceiver,
    "local_attention/LocalAttention": _local,
    "st_moe_pytorch/MoE": _soft_moe,
    **_MODULES,
}

"""Layers of torch that treat each row by itself."""

from __future__ import annotations

from compilefix.analysis import torch_api
from compilefix.analysis.values import Kind, Value

ROW_LAYERS = ("Linear", "Embedding", "LayerNorm", "RMSNorm", "Bilinear", "Identity")


def row_layer(layer: Value) -> bool:
    """Whether a layer of torch, or a `Sequential` whose parts are known, treats each row by itself, the same each time.

    It may write in place into what an earlier part has made, and not into what it is given.
    """
    if layer.ref == "torch.nn.Sequential":
        parts = layer.elements or ()
        return bool(parts) and not parts[0].inplace and all(row_layer(part) for part in parts)
    api = torch_api.module(layer.ref) if layer.is_(Kind.OBJECT) and layer.ref is not None else None
    if api is None or api.random or api.random_training or api.mutates_training or layer.ref is None:
        return False
    return api.pointwise or layer.ref.rpartition(".")[2] in ROW_LAYERS


def looks_up(layer: Value) -> bool:
    """Whether a layer takes numbers of rows of a table, and fails where there is no such row."""
    if layer.ref == "torch.nn.Sequential":
        return bool(layer.elements) and looks_up((layer.elements or ())[0])
    return layer.is_(Kind.OBJECT) and layer.ref is not None and layer.ref.rpartition(".")[2] == "Embedding"

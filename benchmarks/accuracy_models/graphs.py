"""Layers and models of torch_geometric, egnn-pytorch, en-transformer and e3nn."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import torch


def _graph(nodes: int, edges: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.randn(nodes, 8, generator=generator), torch.randint(0, nodes, (2, edges), generator=generator)


def _layer(name: str, options: dict[str, Any], extra: str = "") -> tuple[Any, list[Any]]:
    layer = getattr(importlib.import_module("torch_geometric.nn"), name)(**options)
    inputs = []
    for nodes, edges in ((10, 24), (14, 40)):
        x, index = _graph(nodes, edges)
        batch = torch.arange(nodes) // (nodes // 2)
        given: tuple[Any, ...] = {
            "": (x, index),
            "batch": (x, index, None, batch),
            "aggregate": (x, batch),
            "weights": (x, index, torch.rand(edges)),
            "attributes": (x, index, torch.rand(edges, 4)),
            "types": (x, index, torch.arange(edges) % 3),
            "positions": (x, torch.rand(nodes, 3), index),
            "cloud": (torch.arange(nodes) % 5, torch.rand(nodes, 3), batch),
        }[extra]
        inputs.append(given)
    return layer, inputs


_IO = {"in_channels": 8, "out_channels": 8}
_LAYERS: list[tuple[str, dict[str, Any], str]] = [
    ("GCNConv", _IO, ""),
    ("GATConv", _IO | {"heads": 2}, ""),
    ("GATv2Conv", _IO | {"heads": 2}, ""),
    ("SAGEConv", _IO, ""),
    ("TransformerConv", _IO, ""),
    ("ChebConv", _IO | {"K": 2}, ""),
    ("TAGConv", _IO, ""),
    ("ARMAConv", _IO, ""),
    ("SGConv", _IO, ""),
    ("APPNP", {"K": 2, "alpha": 0.1}, ""),
    ("RGCNConv", _IO | {"num_relations": 3}, "types"),
    ("FastRGCNConv", _IO | {"num_relations": 3}, "types"),
    ("GatedGraphConv", {"out_channels": 8, "num_layers": 2}, ""),
    (
        "PNAConv",
        _IO
        | {"aggregators": ["mean", "max"], "scalers": ["identity", "amplification"], "deg": torch.tensor([0, 3, 4, 2])},
        "",
    ),
    ("HypergraphConv", _IO, ""),
    ("ClusterGCNConv", _IO, ""),
    ("SuperGATConv", _IO, ""),
    ("FAConv", {"channels": 8}, ""),
    ("EdgeConv", {"nn": torch.nn.Linear(16, 8)}, ""),
    ("PointNetConv", {}, "positions"),
    ("GINEConv", {"nn": torch.nn.Linear(8, 8), "edge_dim": 4}, "attributes"),
    ("TopKPooling", {"in_channels": 8}, "batch"),
    ("SAGPooling", {"in_channels": 8}, "batch"),
    ("ASAPooling", {"in_channels": 8}, ""),
    ("EdgePooling", {"in_channels": 8}, ""),
    ("PANPooling", {"in_channels": 8}, ""),
    ("SoftmaxAggregation", {"learn": True}, "aggregate"),
    ("MedianAggregation", {}, "aggregate"),
    ("Set2Set", {"in_channels": 8, "processing_steps": 2}, "aggregate"),
    ("SortAggregation", {"k": 3}, "aggregate"),
    ("GraphMultisetTransformer", {"channels": 8, "k": 2}, "aggregate"),
    ("LSTMAggregation", {"in_channels": 8, "out_channels": 8}, "aggregate"),
    ("SetTransformerAggregation", {"channels": 8}, "aggregate"),
    ("GraphNorm", {"in_channels": 8}, "aggregate"),
    ("PairNorm", {}, "aggregate"),
    ("DiffGroupNorm", {"in_channels": 8, "groups": 2}, ""),
    ("InstanceNorm", {"in_channels": 8}, "aggregate"),
    ("GCN", {"in_channels": 8, "hidden_channels": 8, "num_layers": 2}, ""),
    ("GAT", {"in_channels": 8, "hidden_channels": 8, "num_layers": 2}, ""),
    ("GIN", {"in_channels": 8, "hidden_channels": 8, "num_layers": 2}, ""),
    (
        "AttentiveFP",
        {"in_channels": 8, "hidden_channels": 8, "out_channels": 4, "edge_dim": 4, "num_layers": 2, "num_timesteps": 2},
        "afp",
    ),
    ("GraphUNet", {"in_channels": 8, "hidden_channels": 8, "out_channels": 4, "depth": 2}, ""),
    ("SchNet", {"hidden_channels": 16, "num_filters": 16, "num_interactions": 2, "interaction_graph": None}, "cloud"),
    (
        "DimeNet",
        {
            "hidden_channels": 16,
            "out_channels": 1,
            "num_blocks": 1,
            "num_bilinear": 4,
            "num_spherical": 3,
            "num_radial": 3,
        },
        "cloud",
    ),
    ("LightGCN", {"num_nodes": 14, "embedding_dim": 8, "num_layers": 2}, "lightgcn"),
]


def _special(name: str, options: dict[str, Any], extra: str) -> tuple[Any, list[Any]]:
    layer = getattr(importlib.import_module("torch_geometric.nn"), name)(**options)
    _, index = _graph(14, 40)
    if extra == "lightgcn":
        return layer, [(index,)]
    x, index = _graph(10, 24)
    return layer, [(x, index, torch.rand(24, 4), torch.arange(10) // 5)]


def _utility(name: str, *inputs: Any) -> tuple[Any, list[Any]]:
    return getattr(importlib.import_module("torch_geometric.utils"), name), list(inputs)


_X, _INDEX = _graph(10, 24)
_UTILITIES: dict[str, tuple[Any, ...]] = {
    "to_dense_batch": (_X, torch.arange(10) // 5),
    "to_dense_adj": (_INDEX,),
    "remove_self_loops": (_INDEX,),
    "add_remaining_self_loops": (_INDEX,),
    "coalesce": (_INDEX,),
    "dropout_edge": (_INDEX,),
    "subgraph": (torch.arange(5), _INDEX),
    "k_hop_subgraph": (0, 2, _INDEX),
    "to_undirected": (_INDEX,),
    "negative_sampling": (_INDEX,),
    "get_laplacian": (_INDEX,),
    "scatter": (_X, torch.arange(10) % 3),
    "homophily": (_INDEX, torch.arange(10) % 3),
    "unbatch": (_X, torch.arange(10) // 5),
    "is_undirected": (_INDEX,),
}


def _egnn(name: str, options: dict[str, Any]) -> tuple[Any, list[Any]]:
    model = getattr(importlib.import_module("egnn_pytorch"), name)(**options)
    return model, [(torch.randn(1, n, 16), torch.randn(1, n, 3)) for n in (6, 9)]


def _egnn_network() -> tuple[Any, list[Any]]:
    module = importlib.import_module("egnn_pytorch")
    model = module.EGNN_Network(num_tokens=9, num_positions=32, dim=16, depth=2, num_nearest_neighbors=3)
    return model, [(torch.randint(0, 9, (1, n)), torch.randn(1, n, 3), None, torch.ones(1, n).bool()) for n in (8, 12)]


def _en() -> tuple[Any, list[Any]]:
    module = importlib.import_module("en_transformer")
    model = module.EnTransformer(dim=16, depth=1, dim_head=8, heads=2, rel_pos_emb=True, neighbors=4)
    return model, [(torch.randn(1, n, 16), torch.randn(1, n, 3)) for n in (8, 12)]


def _e3(path: str, arguments: tuple[Any, ...], *inputs: Any) -> tuple[Any, list[Any]]:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)(*arguments), list(inputs)


def _gates() -> tuple[Any, list[Any]]:
    module = importlib.import_module("e3nn.nn.models.v2106.gate_points_networks")
    model = module.SimpleNetwork("3x0e", "2x0e", max_radius=2.0, num_neighbors=3.0, num_nodes=5.0)
    return model, [({"pos": torch.randn(n, 3), "x": torch.randn(n, 3)},) for n in (5, 7)]


MODELS = {
    **{
        f"torch_geometric/{n}": partial(_special if e in ("lightgcn", "afp") else _layer, n, o, e)
        for n, o, e in _LAYERS
        if n != "DiffGroupNorm"
    },
    **{f"torch_geometric/{name}": partial(_utility, name, given) for name, given in _UTILITIES.items()},
    "egnn_pytorch/EGNN": partial(_egnn, "EGNN", {"dim": 16}),
    "egnn_pytorch/EGNN sparse": partial(_egnn, "EGNN", {"dim": 16, "num_nearest_neighbors": 3, "norm_coors": True}),
    "egnn_pytorch/EGNN_Network": _egnn_network,
    "en_transformer/EnTransformer": _en,
    "e3nn/Linear": partial(
        _e3, "e3nn.o3.Linear", ("4x0e+2x1o", "4x0e+2x1o"), (torch.randn(3, 10),), (torch.randn(5, 10),)
    ),
    "e3nn/SphericalHarmonics": partial(_e3, "e3nn.o3.SphericalHarmonics", ("0e+1o+2e", True), (torch.randn(3, 3),)),
    "e3nn/Norm": partial(_e3, "e3nn.o3.Norm", ("4x0e+2x1o",), (torch.randn(3, 10),)),
    "e3nn/BatchNorm": partial(_e3, "e3nn.nn.BatchNorm", ("4x0e+2x1o",), (torch.randn(3, 10),), (torch.randn(5, 10),)),
    "e3nn/NormActivation": partial(_e3, "e3nn.nn.NormActivation", ("4x0e+2x1o", torch.sigmoid), (torch.randn(3, 10),)),
    "e3nn/SimpleNetwork": _gates,
}

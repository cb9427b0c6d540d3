"""Models of pytorch_toolbelt, flood_forecast, dhg, sb3_contrib and pytorch_adapt.

They were chosen after all of the seventeenth group, and written before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(44)
_ABSENT = {
    "pytorch_toolbelt": ("torchvision.models", "torchvision.ops", "timm.models.layers", "timm.data.transforms_factory"),
    "flood_forecast": ("shap", "wandb", "google.cloud.storage", "plotly.graph_objects"),
    "dhg": ("optuna",),
    "pytorch_adapt": (
        "torchvision.transforms.functional",
        "torchvision.datasets.utils",
        "torchvision.models",
        "record_keeper",
        "ignite.engine",
    ),
}
_BARE = ("flood_forecast",)
_get = getter(_ABSENT, _BARE)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_L = "pytorch_toolbelt.losses."
_M = "pytorch_toolbelt.modules."
_P = "pytorch_toolbelt.inference."
_LOGITS = _t(4, 3, 8, 8)
_MASKS = _i(3, 4, 8, 8)
_BINARY = (_t(4, 1, 8, 8), _i(2, 4, 1, 8, 8).float())
_MAPS = _t(2, 16, 8, 8)
_PYRAMID = [_t(1, 8, 16, 16), _t(1, 16, 8, 8), _t(1, 32, 4, 4)]


class _Echo(nn.Module):
    """A small model for what wraps models."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv2d(3, 3, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x)


class _Dict(_Echo):
    """A small model that names its output."""

    def forward(self, x: torch.Tensor) -> Any:
        return {"logits": self.layer(x)}


_TOOLBELT: dict[str, Callable[[], Built]] = {
    "BalancedBCEWithLogitsLoss": lambda: _made(_L + "balanced_bce.BalancedBCEWithLogitsLoss", [_BINARY]),
    "BalancedBCEWithLogitsLoss ignore": lambda: _made(
        _L + "balanced_bce.BalancedBCEWithLogitsLoss", [_BINARY], ignore_index=1
    ),
    "BiTemperedLogisticLoss": lambda: _made(
        _L + "bitempered_loss.BiTemperedLogisticLoss", [(_t(5, 4), torch.eye(4)[_i(4, 5)])], 0.8, 1.3
    ),
    "BinaryBiTemperedLogisticLoss": lambda: _made(
        _L + "bitempered_loss.BinaryBiTemperedLogisticLoss", [(_t(5, 1), _i(2, 5, 1).float())], 0.8, 1.3, ignore_index=7
    ),
    "compute_normalization_binary_search": lambda: _call(
        _L + "bitempered_loss.compute_normalization_binary_search", (_t(5, 4), 0.8, 5)
    ),
    "DiceLoss multiclass": lambda: _made(_L + "dice.DiceLoss", [(_LOGITS, _MASKS)], "multiclass"),
    "DiceLoss binary": lambda: _made(_L + "dice.DiceLoss", [_BINARY], "binary", ignore_index=255),
    "DiceLoss classes": lambda: _made(_L + "dice.DiceLoss", [(_LOGITS, _MASKS)], "multiclass", classes=[0, 2]),
    "BinaryFocalLoss": lambda: _made(_L + "focal.BinaryFocalLoss", [_BINARY], alpha=0.25, ignore_index=255),
    "BinaryFocalLoss normalized": lambda: _made(_L + "focal.BinaryFocalLoss", [_BINARY], normalized=True),
    "CrossEntropyFocalLoss": lambda: _made(_L + "focal.CrossEntropyFocalLoss", [(_LOGITS, _MASKS)]),
    "FocalCosineLoss": lambda: _made(_L + "focal_cosine.FocalCosineLoss", [(_t(5, 4), _i(4, 5))]),
    "JaccardLoss": lambda: _made(_L + "jaccard.JaccardLoss", [(_LOGITS, _MASKS)], "multiclass"),
    "JaccardLoss binary": lambda: _made(_L + "jaccard.JaccardLoss", [_BINARY], "binary", log_loss=True),
    "LogCoshLoss": lambda: _made(_L + "logcosh.LogCoshLoss", [(_t(5), _t(5))]),
    "BinaryLovaszLoss": lambda: _made(_L + "lovasz.BinaryLovaszLoss", [_BINARY]),
    "BinaryLovaszLoss image": lambda: _made(_L + "lovasz.BinaryLovaszLoss", [_BINARY], True, 255),
    "LovaszLoss": lambda: _made(_L + "lovasz.LovaszLoss", [(_LOGITS.softmax(1), _MASKS)]),
    "LovaszLoss image": lambda: _made(_L + "lovasz.LovaszLoss", [(_LOGITS.softmax(1), _MASKS)], True, 255),
    "QualityFocalLoss": lambda: _made(_L + "quality_focal_loss.QualityFocalLoss", [_BINARY]),
    "SoftBCEWithLogitsLoss": lambda: _made(_L + "soft_bce.SoftBCEWithLogitsLoss", [_BINARY], smooth_factor=0.1),
    "SoftCrossEntropyLoss": lambda: _made(
        _L + "soft_ce.SoftCrossEntropyLoss", [(_LOGITS, _MASKS)], smooth_factor=0.1, ignore_index=2
    ),
    "BinarySoftF1Loss": lambda: _made(_L + "soft_f1.BinarySoftF1Loss", [_BINARY], ignore_index=255),
    "SoftF1Loss": lambda: _made(_L + "soft_f1.SoftF1Loss", [(_t(5, 4), _i(4, 5))], ignore_index=3),
    "WingLoss": lambda: _made(_L + "wing_loss.WingLoss", [(_t(5) * 5, _t(5))]),
    "AddCoords": lambda: _made(_M + "coord_conv.AddCoords", [(_t(1, 3, 8, 8),)], True),
    "CoordConv": lambda: _made(_M + "coord_conv.CoordConv", [(_t(1, 3, 8, 8),)], 3, 4, kernel_size=3),
    "DropBlock2D": lambda: _made(_M + "dropblock.DropBlock2D", [(_MAPS,)], 0.2, 3),
    "DropBlockScheduled": lambda: held(
        None,
        lambda _, x: _scheduled()(x),
        (_MAPS,),
    ),
    "DropPath": lambda: _made(_M + "drop_path.DropPath", [(_MAPS,)], 0.2),
    "GlobalKMaxPool2d": lambda: _made(_M + "pooling.GlobalKMaxPool2d", [(_MAPS,)]),
    "GlobalWeightedAvgPool2d": lambda: _made(_M + "pooling.GlobalWeightedAvgPool2d", [(_MAPS,)], 16),
    "MILCustomPoolingModule": lambda: _made(_M + "pooling.MILCustomPoolingModule", [(_MAPS,)], 16, 8),
    "GlobalRankPooling": lambda: _made(_M + "pooling.GlobalRankPooling", [(_MAPS,)], 16, 64),
    "GeneralizedMeanPooling2d": lambda: _made(
        _M + "pooling.GeneralizedMeanPooling2d", [(_MAPS.abs(),)], l2_normalize=True
    ),
    "ChannelSpatialGate2d": lambda: _made(_M + "scse.ChannelSpatialGate2d", [(_MAPS,)], 16),
    "SRMLayer": lambda: _made(_M + "srm.SRMLayer", [(_MAPS,)], 16),
    "ObjectContextBlock": lambda: _made(_M + "ocnet.ObjectContextBlock", [(_MAPS,)], 16, 16, 8, 8, 0.1, [1, 2]),
    "PyramidObjectContextBlock": lambda: _made(_M + "ocnet.PyramidObjectContextBlock", [(_MAPS,)], 16, 16, 0.1, [1, 2]),
    "ASPObjectContextBlock": lambda: _made(_M + "ocnet.ASPObjectContextBlock", [(_MAPS,)], 16, 16, (1, 2, 3)),
    "FPNFuse": lambda: _made(_M + "fpn.FPNFuse", [(_PYRAMID,)]),
    "HFF": lambda: _made(_M + "fpn.HFF", [([_t(1, 8, 16, 16), _t(1, 8, 8, 8), _t(1, 8, 4, 4)],)]),
    "UnetResidualBlock": lambda: _made(_M + "unet.UnetResidualBlock", [(_MAPS,)], 16, 8),
    "UnetEncoder": lambda: _made(_M + "encoders.unet.UnetEncoder", [(_t(1, 3, 32, 32),)], 3, 8, 3),
    "BilinearAdditiveUpsample2d": lambda: _made(_M + "upsample.BilinearAdditiveUpsample2d", [(_MAPS,)], 16),
    "ResidualDeconvolutionUpsample2d": lambda: _made(
        _M + "upsample.ResidualDeconvolutionUpsample2d", [(_MAPS, [16, 16])], 16
    ),
    "BiFPNBlock": lambda: _made(
        _M + "decoders.bifpn.BiFPNBlock", [([_t(1, 8, 16, 16), _t(1, 8, 8, 8), _t(1, 8, 4, 4)],)], 8, 3
    ),
    "MixVisionTransformer": lambda: _made(
        _M + "encoders.mix_transformer.MixVisionTransformer",
        [(_t(1, 3, 64, 64),)],
        embed_dims=[8, 16, 16, 16],
        num_heads=[1, 2, 2, 2],
        drop_path_rate=0.1,
        depths=[1, 1, 1, 1],
    ),
    "SENet": lambda: (_senet(), [(_t(1, 3, 224, 224),)]),
    "pad_image_tensor": lambda: _call(_P + "functional.pad_image_tensor", (_t(1, 3, 30, 50),), (_t(1, 3, 20, 20),)),
    "geometric_mean": lambda: _call(_P + "functional.geometric_mean", (_u(3, 4), 0)),
    "logodd_mean": lambda: _call(_P + "functional.logodd_mean", (_u(3, 4), 0)),
    "fivecrop_image_augment": lambda: _call(_P + "tta.fivecrop_image_augment", (_t(2, 3, 16, 16), (8, 8))),
    "d4_image2mask": lambda: held(_Echo(), lambda m, x: _get(_P + "tta.d4_image2mask")(m, x), (_t(1, 3, 8, 8),)),
    "d4_image_deaugment": lambda: _call(_P + "tta.d4_image_deaugment", (_t(8, 3, 8, 8), "gmean")),
    "ms_image_augment": lambda: _call(_P + "tta.ms_image_augment", (_t(1, 3, 16, 16), [-4, 0, (4, 4)])),
    "GeneralizedTTA": lambda: _tta(),
    "ApplySoftmaxTo": lambda: _made(_P + "ensembling.ApplySoftmaxTo", [(_t(1, 3, 8, 8),)], _Dict()),
    "Ensembler": lambda: _made(_P + "ensembling.Ensembler", [(_t(1, 3, 8, 8),)], [_Echo(), _Echo()]),
    "ImageSlicer merge": lambda: held(None, lambda _, x: _merged(x), (_t(4, 3, 8, 8),)),
}


def _scheduled() -> nn.Module:
    block = _get(_M + "dropblock.DropBlock2D")(0.2, 3)
    return _get(_M + "dropblock.DropBlockScheduled")(block, 0.0, 0.3, 5)


def _senet() -> nn.Module:
    return _get(_M + "backbone.senet.SENet")(
        _get(_M + "backbone.senet.SEResNetBottleneck"), [1, 1, 1, 1], 1, 4, inplanes=16, input_3x3=False, num_classes=3
    )


def _tta() -> Built:
    augment, deaugment = _get(_P + "tta.d2_image_augment"), _get(_P + "tta.d2_image_deaugment")
    return _get(_P + "tta.GeneralizedTTA")(_Echo(), augment, deaugment), [(_t(1, 3, 8, 8),)]


def _merged(x: torch.Tensor) -> Any:
    merger = _get(_P + "tiles.TileMerger")((16, 16), 3, torch.ones(8, 8).numpy())
    merger.integrate_batch(x, [(0, 0, 8, 8), (8, 0, 8, 8), (0, 8, 8, 8), (8, 8, 8, 8)])
    return merger.merge()


_F = "flood_forecast."
_X = _F + "transformer_xl."
_SERIES = _t(2, 12, 3)
_HEADS = (_t(2, 8, 2, 4), _t(2, 8, 2, 4), _t(2, 8, 2, 4), None)
_FLOOD: dict[str, Callable[[], Built]] = {
    "FullAttention": lambda: _made(_X + "attn.FullAttention", [_HEADS]),
    "ProbAttention": lambda: _made(_X + "attn.ProbAttention", [_HEADS], factor=1),
    "ProbAttention unmasked": lambda: _made(_X + "attn.ProbAttention", [_HEADS], False, 1),
    "Crossformer": lambda: _made(
        _X + "cross_former.Crossformer",
        [(_SERIES,)],
        3,
        12,
        4,
        4,
        2,
        2,
        8,
        8,
        2,
        2,
        device=torch.device("cpu"),
    ),
    "DataEmbedding": lambda: _made(_X + "data_embedding.DataEmbedding", [(_SERIES, _i(7, 2, 12, 5))], 3, 8),
    "DSANet": lambda: _made(_X + "dsanet.DSANet", [(_SERIES,)], 12, 3, 3, 4, 1, 8, 8, 1, 0.1, 2),
    "Informer": lambda: _made(
        _X + "informer.Informer",
        [(_SERIES, _i(7, 2, 12, 5), _t(2, 8, 3), _i(7, 2, 8, 5))],
        3,
        3,
        3,
        12,
        4,
        4,
        2,
        8,
        2,
        2,
        1,
        16,
        device=torch.device("cpu"),
    ),
    "generate_square_subsequent_mask": lambda: _using(
        _X + "masks.generate_square_subsequent_mask", lambda f, x: x + f(5), (_t(5, 5),)
    ),
    "ProbMask": lambda: _using(
        _X + "masks.ProbMask", lambda c, i, s: c(2, 2, 8, i, s).mask, (_i(8, 2, 2, 3), _t(2, 2, 3, 8))
    ),
    "SimpleTransformer": lambda: _made(
        _X + "transformer_basic.SimpleTransformer",
        [(_t(2, 12, 3), _t(2, 4, 3))],
        3,
        12,
        4,
        8,
        2,
        forward_dim=16,
    ),
    "CustomTransformerDecoder": lambda: _made(
        _X + "transformer_basic.CustomTransformerDecoder",
        [(_SERIES,)],
        12,
        4,
        3,
        8,
        1,
        1,
        16,
        use_mask=True,
        n_heads=2,
    ),
    "greedy_decode": lambda: _greedy(),
    "DecoderTransformer": lambda: _made(
        _X + "transformer_bottleneck.DecoderTransformer",
        [(_SERIES,)],
        3,
        2,
        1,
        5,
        12,
        0.1,
        2,
        {"sparse": True, "attn_pdrop": 0.1, "resid_pdrop": 0.1},
        forecast_length=4,
        sub_len=2,
    ),
    "NaiveBase": lambda: _made(_F + "basic.base_line_methods.NaiveBase", [(_SERIES,)], 12, 3, 2),
    "NLinear": lambda: _made(_F + "basic.d_n_linear.NLinear", [(_SERIES,)], 12, 4, 3),
    "DLinear": lambda: _made(_F + "basic.d_n_linear.DLinear", [(_SERIES,)], 12, 4, False, 3),
    "DLinear individual": lambda: _made(_F + "basic.d_n_linear.DLinear", [(_SERIES,)], 12, 4, True, 3),
    "VanillaGRU": lambda: _made(_F + "basic.gru_vanilla.VanillaGRU", [(_SERIES,)], 3, 8, 1, 1, 0.0, use_hidden=True),
    "SimpleLinearModel": lambda: _made(
        _F + "basic.linear_regression.SimpleLinearModel", [(_SERIES,)], 12, 3, 2, probabilistic=True
    ),
    "simple_decode": lambda: _simple_decode(),
    "LSTMForecast": lambda: _made(_F + "basic.lstm_vanilla.LSTMForecast", [(_SERIES,)], 12, 3, 2, 8, batch_size=2),
    "DARNN": lambda: _made(_F + "da_rnn.model.DARNN", [(_t(2, 5, 3),)], 3, 8, 6, 8),
    "DARNN GRU": lambda: _made(
        _F + "da_rnn.model.DARNN", [(_t(2, 5, 3),)], 3, 8, 6, 8, gru_lstm=False, probabilistic=True
    ),
    "AE": lambda: _made(_F + "meta_models.basic_ae.AE", [(_t(2, 6),)], 6, 4),
    "Concatenation": lambda: _made(
        _F + "meta_models.merging_model.MergingModel",
        [(_t(2, 5, 3), _t(4))],
        "Concat",
        {"cat_dim": 2, "repeat": True},
    ),
    "sparsemax": lambda: _call(_F + "custom.custom_activation.sparsemax", (_t(3, 5),), (_t(3, 5), -1, 3)),
    "entmax15": lambda: _call(_F + "custom.custom_activation.entmax15", (_t(3, 5),), (_t(3, 5), -1, 3)),
    "MASELoss": lambda: _made(
        _F + "custom.custom_opt.MASELoss", [(_t(4), _t(4), _t(9)), (_t(4, 1), _t(4), _t(9))], "mean"
    ),
    "RMSELoss": lambda: _made(_F + "custom.custom_opt.RMSELoss", [(_t(4), _t(4))], 0.5),
    "MAPELoss": lambda: _made(_F + "custom.custom_opt.MAPELoss", [(_t(4), _t(4))], 0.5),
    "PenalizedMSELoss": lambda: _made(_F + "custom.custom_opt.PenalizedMSELoss", [(_t(4), _t(4))], 0.5),
    "QuantileLoss": lambda: _made(_F + "custom.custom_opt.QuantileLoss", [(_t(4, 3), _t(4))], [0.1, 0.5, 0.9]),
    "BertAdam": lambda: _stepped(_F + "custom.custom_opt.BertAdam", lr=0.01, warmup=0.1, t_total=10),
    "DilateLoss": lambda: _made(_F + "custom.dilate_loss.DilateLoss", [(_t(2, 5, 1), _t(2, 5, 1))], 0.1),
    "compute_softdtw": lambda: _using(
        _F + "custom.dilate_loss.SoftDTWBatch", lambda c, d: c.apply(d, 0.1), (_u(2, 5, 5),)
    ),
    "pairwise_distances": lambda: _call(
        _F + "custom.dilate_loss.pairwise_distances", (_t(5, 2),), (_t(5, 2), _t(4, 2))
    ),
    "FocalLoss": lambda: _made(_F + "custom.focal_loss.FocalLoss", [(_t(2, 4), _i(4, 2))], 0.5, 2.0, "mean"),
    "BinaryFocalLossWithLogits": lambda: _made(
        _F + "custom.focal_loss.BinaryFocalLossWithLogits", [(_t(2, 1, 4), _i(2, 2, 4))], 0.5, 2.0, "mean"
    ),
}


def _greedy() -> Built:
    model = _get(_X + "transformer_basic.SimpleTransformer")(3, 12, 4, 8, 2, forward_dim=16)
    return held(
        model, lambda m, x, y: _get(_X + "transformer_basic.greedy_decode")(m, x, 4, y), (_t(1, 12, 3), _t(1, 4, 3))
    )


def _simple_decode() -> Built:
    model = _get(_F + "basic.linear_regression.SimpleLinearModel")(12, 3, 1)
    decode = _F + "basic.linear_regression.simple_decode"
    return held(model, lambda m, x, y: _get(decode)(m, x, 3, y), (_t(1, 12, 3), _t(1, 4, 3)))


def _stepped(path: str, **options: Any) -> Built:
    layer = nn.Linear(4, 3)
    optimizer = _get(path)(layer.parameters(), **options)
    layer(_t(5, 4)).square().sum().backward()
    optimizer.step()
    return (lambda: (optimizer.step(), optimizer.step())), [()]


_D = "dhg.models."
_EDGES = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 4), (4, 5)]
_HYPEREDGES = [(0, 1, 2), (2, 3), (1, 4, 5), (0, 5)]
_FEATURES = _t(6, 8)


def _on(path: str, kind: str, *given: Any, **options: Any) -> Callable[[], Built]:
    """A model that gets features and a graph."""

    def build() -> Built:
        graph = _graph(kind)
        return _get(path)(*given, **options), [(_FEATURES, graph)]

    return build


def _graph(kind: str) -> Any:
    if kind == "Graph":
        return _get("dhg.Graph")(6, _EDGES)
    if kind == "BiGraph":
        return _get("dhg.BiGraph")(4, 3, [(0, 1), (1, 2), (2, 0), (3, 1)])
    return _get("dhg.Hypergraph")(6, _HYPEREDGES)


_N = "dhg.nn."
_GRAPHS = "convs.graphs."
_HYPER = "convs.hypergraphs."
_DHG: dict[str, Callable[[], Built]] = {
    "GCN": _on(_D + "GCN", "Graph", 8, 6, 3),
    "GAT": _on(_D + "GAT", "Graph", 8, 6, 3, 2),
    "GIN": _on(_D + "GIN", "Graph", 8, 6, 3, 2),
    "GraphSAGE": _on(_D + "GraphSAGE", "Graph", 8, 6, 3),
    "HGNN": _on(_D + "HGNN", "Hypergraph", 8, 6, 3),
    "HGNNP": _on(_D + "HGNNP", "Hypergraph", 8, 6, 3),
    "HNHN": _on(_D + "HNHN", "Hypergraph", 8, 6, 3),
    "HyperGCN": _on(_D + "HyperGCN", "Hypergraph", 8, 6, 3),
    "HyperGCN slow": _on(_D + "HyperGCN", "Hypergraph", 8, 6, 3, use_mediator=True, fast=False),
    "UniGCN": _on(_D + "UniGCN", "Hypergraph", 8, 6, 3),
    "UniGAT": _on(_D + "UniGAT", "Hypergraph", 8, 6, 3, 2),
    "UniSAGE": _on(_D + "UniSAGE", "Hypergraph", 8, 6, 3),
    "UniGIN": _on(_D + "UniGIN", "Hypergraph", 8, 6, 3),
    "LightGCN": lambda: (_get(_D + "LightGCN")(4, 3, 8), [(_graph("BiGraph"),)]),
    "NGCF": lambda: (_get(_D + "NGCF")(4, 3, 8), [(_graph("BiGraph"),)]),
    "BGNN_Adv": lambda: (_get(_D + "BGNN_Adv")(8, 8), [(_t(4, 8), _t(3, 8), _graph("BiGraph"))]),
    "BGNN_MLP": lambda: (_get(_D + "BGNN_MLP")(8, 8, 8, 8), [(_t(4, 8), _t(3, 8), _graph("BiGraph"))]),
    "GraphSAGEConv": _on(_N + "GraphSAGEConv", "Graph", 8, 6),
    "GATConv": _on(_N + "GATConv", "Graph", 8, 6),
    "MLP": lambda: _made(_N + "MLP", [(_FEATURES,)], [8, 6, 4]),
    "BPRLoss": lambda: _made(_N + "BPRLoss", [(_t(5), _t(5))]),
    "EmbeddingRegularization": lambda: _made(_N + "EmbeddingRegularization", [(_t(5, 3), _t(5, 3))]),
    "Graph v2v": lambda: held(
        _graph("Graph"), lambda g, x: g.v2v(x, "softmax_then_sum", e_weight=g.e_weight), (_t(6, 8),)
    ),
    "Graph smoothing_with_GCN": lambda: held(_graph("Graph"), lambda g, x: g.smoothing_with_GCN(x, 0.3), (_t(6, 8),)),
    "Graph L_sym": lambda: held(_graph("Graph"), lambda g, x: torch.sparse.mm(g.L_sym, x), (_t(6, 8),)),
    "Hypergraph v2v": lambda: held(_graph("Hypergraph"), lambda g, x: g.v2v(x, "sum"), (_t(6, 8),)),
    "Hypergraph smoothing": lambda: held(_graph("Hypergraph"), lambda g, x: g.smoothing_with_HGNN(x), (_t(6, 8),)),
    "Hypergraph degrees": lambda: held(_graph("Hypergraph"), lambda g, x: x * sum(g.deg_v) + sum(g.deg_e), (_t(6, 8),)),
    "BiGraph u2v": lambda: held(_graph("BiGraph"), lambda g, x: g.u2v(x, "mean", drop_rate=0.2), (_t(4, 8),)),
    "Graph of features": lambda: _using("dhg.Hypergraph", lambda c, x: c.from_feature_kNN(x, 2).v2v(x), (_t(6, 8),)),
    "recommender precision": lambda: _call("dhg.metrics.recommender.precision", (_i(2, 3, 6), _u(3, 6), 2)),
    "recommender recall": lambda: _call("dhg.metrics.recommender.recall", (_i(2, 3, 6), _u(3, 6), 2)),
    "recommender ndcg": lambda: _call("dhg.metrics.recommender.ndcg", (_i(2, 3, 6), _u(3, 6), 2)),
    "retrieval map": lambda: _call("dhg.metrics.retrieval.map", (_i(2, 3, 6), _u(3, 6), 4)),
    "retrieval ap": lambda: _call("dhg.metrics.retrieval.ap", (_i(2, 6), _u(6), 4)),
    "retrieval mrr": lambda: _call("dhg.metrics.retrieval.mrr", (_i(2, 3, 6), _u(3, 6), 4)),
    "retrieval pr_curve": lambda: _call("dhg.metrics.retrieval.pr_curve", (_i(2, 3, 6), _u(3, 6))),
    "classification accuracy": lambda: _call("dhg.metrics.classification.accuracy", (_i(3, 6), _t(6, 3))),
    "classification f1_score": lambda: _call("dhg.metrics.classification.f1_score", (_i(3, 6), _t(6, 3))),
    "sparse_dropout": lambda: held(
        torch.eye(4).to_sparse().coalesce(), lambda m, x: _get("dhg.utils.sparse_dropout")(m, 0.3) @ x, (_t(4, 2),)
    ),
}

_S = "sb3_contrib."


def _spaces(discrete: bool) -> tuple[Any, Any]:
    spaces = _get("gymnasium.spaces.Box"), _get("gymnasium.spaces.Discrete")
    box = spaces[0](-1.0, 1.0, (4,))
    return box, (spaces[1](3) if discrete else spaces[0](-1.0, 1.0, (2,)))


def _policy(path: str, discrete: bool, use: Callable[..., Any], *inputs: Any, **options: Any) -> Callable[[], Built]:
    """A use of a policy that is made once."""

    def build() -> Built:
        policy = _get(_S + path)(*_spaces(discrete), lambda _: 0.01, **options)
        return held(policy, use, *inputs)

    return build


_OBSERVED = _t(5, 4)
_STATES = (torch.zeros(1, 5, 8), torch.zeros(1, 5, 8))
_RECURRENT = "common.recurrent.policies.RecurrentActorCriticPolicy"
_MASKABLE = "common.maskable.policies.MaskableActorCriticPolicy"
_SB3: dict[str, Callable[[], Built]] = {
    "QRDQNPolicy": _policy("qrdqn.policies.QRDQNPolicy", True, lambda p, x: p(x), (_OBSERVED,), net_arch=[8]),
    "QRDQNPolicy exploring": _policy(
        "qrdqn.policies.QRDQNPolicy", True, lambda p, x: p(x, deterministic=False), (_OBSERVED,), net_arch=[8]
    ),
    "TQCPolicy": _policy("tqc.policies.TQCPolicy", False, lambda p, x: p(x), (_OBSERVED,), net_arch=[8]),
    "TQCPolicy log_prob": _policy(
        "tqc.policies.TQCPolicy", False, lambda p, x: p.actor.action_log_prob(x), (_OBSERVED,), net_arch=[8]
    ),
    "TQCPolicy critic": _policy(
        "tqc.policies.TQCPolicy", False, lambda p, x, a: p.critic(x, a), (_OBSERVED, _t(5, 2)), net_arch=[8]
    ),
    "TQCPolicy sde": _policy(
        "tqc.policies.TQCPolicy", False, lambda p, x: p(x), (_OBSERVED,), net_arch=[8], use_sde=True
    ),
    "CrossQPolicy": _policy("crossq.policies.CrossQPolicy", False, lambda p, x: p(x), (_OBSERVED,), net_arch=[8]),
    "CrossQPolicy critic": _policy(
        "crossq.policies.CrossQPolicy", False, lambda p, x, a: p.critic(x, a), (_OBSERVED, _t(5, 2)), net_arch=[8]
    ),
    "Maskable": _policy(_MASKABLE, True, lambda p, x: p(x), (_OBSERVED,), net_arch=[8]),
    "Maskable masks": _policy(
        _MASKABLE, True, lambda p, x, m: p(x, action_masks=m), (_OBSERVED, _i(2, 5, 3).bool()), net_arch=[8]
    ),
    "Maskable evaluate_actions": _policy(
        _MASKABLE,
        True,
        lambda p, x, a, m: p.evaluate_actions(x, a, m),
        (_OBSERVED, _i(3, 5), torch.ones(5, 3)),
        net_arch=[8],
    ),
    "Recurrent": _policy(
        _RECURRENT,
        True,
        lambda p, x, h, s: p(x, _get(_S + "common.recurrent.type_aliases.RNNStates")(h, h), s),
        (_OBSERVED, _STATES, torch.zeros(5)),
        net_arch=[8],
        lstm_hidden_size=8,
    ),
    "Recurrent starts": _policy(
        _RECURRENT,
        True,
        lambda p, x, h, s: p(x, _get(_S + "common.recurrent.type_aliases.RNNStates")(h, h), s),
        (_OBSERVED, _STATES, torch.tensor([0.0, 1.0, 0.0, 0.0, 1.0])),
        net_arch=[8],
        lstm_hidden_size=8,
    ),
    "Recurrent evaluate_actions": _policy(
        _RECURRENT,
        False,
        lambda p, x, a, h, s: p.evaluate_actions(x, a, _get(_S + "common.recurrent.type_aliases.RNNStates")(h, h), s),
        (_OBSERVED, _t(5, 2), _STATES, torch.zeros(5)),
        net_arch=[8],
        lstm_hidden_size=8,
    ),
    "Recurrent predict_values": _policy(
        _RECURRENT,
        False,
        lambda p, x, h, s: p.predict_values(x, h, s),
        (_OBSERVED, _STATES, torch.zeros(5)),
        net_arch=[8],
        lstm_hidden_size=8,
    ),
    "MaskableCategorical": lambda: _using(
        _S + "common.maskable.distributions.MaskableCategorical",
        lambda c, x, m: c(logits=x, masks=m).entropy(),
        (_t(5, 3), _i(2, 5, 3).bool()),
    ),
    "MaskableMultiCategorical": lambda: _using(
        _S + "common.maskable.distributions.MaskableMultiCategoricalDistribution",
        lambda c, x: c([2, 3]).proba_distribution(x).mode(),
        (_t(5, 5),),
    ),
    "BatchRenorm1d": lambda: _made(_S + "common.torch_layers.BatchRenorm1d", [(_t(5, 4),)], 4, warmup_steps=1),
    "quantile_huber_loss": lambda: _call(
        _S + "common.utils.quantile_huber_loss", (_t(4, 5), _t(4, 5)), (_t(4, 2, 5), _t(4, 1, 5))
    ),
    "conjugate_gradient_solver": lambda: _using(
        _S + "common.utils.conjugate_gradient_solver",
        lambda f, a, b: f(lambda v: a @ v, b),
        (torch.eye(4) * 2 + 0.1, _t(4)),
    ),
    "flat_grad": lambda: held(
        nn.Linear(4, 3),
        lambda m, x: _get(_S + "common.utils.flat_grad")(m(x).sum(), list(m.parameters())),
        (_t(5, 4),),
    ),
}

_A = "pytorch_adapt.layers."
_PAIR = (_t(6, 4), _t(6, 4))
_ADAPT: dict[str, Callable[[], Built]] = {
    "AbsLoss": lambda: _made(_A + "AbsLoss", [(_t(5),)]),
    "AdaptiveBatchNorm2d": lambda: _made(_A + "AdaptiveBatchNorm2d", [(_t(2, 4, 5, 5), 0)], num_features=4),
    "AdaptiveFeatureNorm": lambda: _made(_A + "AdaptiveFeatureNorm", [(_t(6, 4),)]),
    "L2PreservedDropout": lambda: _made(_A + "L2PreservedDropout", [(_t(6, 4),)]),
    "BatchSpectralLoss": lambda: _made(_A + "BatchSpectralLoss", [(_t(6, 4),)], 2),
    "BNMLoss": lambda: _made(_A + "BNMLoss", [(_t(6, 4),)]),
    "ConfidenceWeights": lambda: _made(_A + "ConfidenceWeights", [(_t(6, 4),)]),
    "CORALLoss": lambda: _made(_A + "CORALLoss", [_PAIR]),
    "DiversityLoss": lambda: _made(_A + "DiversityLoss", [(_t(6, 4),)]),
    "EntropyLoss": lambda: _made(_A + "EntropyLoss", [(_t(6, 4),)]),
    "EntropyWeights": lambda: _made(_A + "EntropyWeights", [(_t(6, 4),)]),
    "GradientReversal": lambda: _made(_A + "GradientReversal", [(_t(6, 4),)], 0.5),
    "ISTLoss": lambda: _made(_A + "ISTLoss", [(_t(6, 4), _i(2, 6))]),
    "MCCLoss": lambda: _made(_A + "MCCLoss", [(_t(6, 4),)]),
    "MCDLoss": lambda: _made(_A + "MCDLoss", [_PAIR]),
    "MeanDistLoss": lambda: _made(_A + "MeanDistLoss", [_PAIR]),
    "MMDLoss": lambda: _made(_A + "MMDLoss", [_PAIR]),
    "MMDLoss quadratic": lambda: _made(_A + "MMDLoss", [_PAIR], mmd_type="quadratic"),
    "MMDLoss scales": lambda: held(
        None,
        lambda _, x, y: _get(_A + "MMDLoss")(kernel_scales=_get(_A + "utils.get_kernel_scales")(num_kernels=5))(x, y),
        _PAIR,
    ),
    "MMDLoss lists": lambda: _made(_A + "MMDLoss", [(list(_PAIR), list(_PAIR))]),
    "MMDBatchedLoss": lambda: _made(_A + "MMDBatchedLoss", [_PAIR], 3, mmd_type="quadratic"),
    "MMDLoss median": lambda: _made(_A + "MMDLoss", [_PAIR], bandwidth=None, kernel_scales=0.5),
    "ModelWithBridge": lambda: _made(_A + "ModelWithBridge", [(_t(6, 4), True)], nn.Linear(4, 3), nn.Linear(4, 3)),
    "MultipleModels": lambda: _made(_A + "MultipleModels", [(_t(6, 4),)], nn.Linear(4, 3), nn.Linear(4, 3)),
    "NeighborhoodAggregation": lambda: _made(
        _A + "NeighborhoodAggregation", [(_t(6, 4), _t(6, 3), True, torch.arange(6))], 20, 4, 3
    ),
    "NLLLoss": lambda: _made(_A + "NLLLoss", [(_u(6, 4), _i(4, 6))]),
    "SumNormalizer": lambda: _made(_A + "SumNormalizer", [(_u(6),)], scale_by_batch_size=True),
    "MinMaxNormalizer": lambda: _made(_A + "MinMaxNormalizer", [(_u(6),)]),
    "MaxNormalizer": lambda: _made(_A + "MaxNormalizer", [(_u(6),)]),
    "PlusResidual": lambda: _made(_A + "PlusResidual", [(_t(6, 4),)], nn.Linear(4, 4)),
    "RandomizedDotProduct": lambda: _made(_A + "RandomizedDotProduct", [_PAIR], [4, 4], 8),
    "SilhouetteScore": lambda: _made(_A + "SilhouetteScore", [(_t(9, 4), _i(3, 9))]),
    "SlicedWasserstein": lambda: _made(_A + "SlicedWasserstein", [_PAIR], 8),
    "StochasticLinear": lambda: _made(_A + "StochasticLinear", [(_t(6, 4),)], 4, 3),
    "SymNetsCategoryLoss": lambda: _made(_A + "SymNetsCategoryLoss", [(_t(6, 4), _t(6, 4), _i(4, 6))]),
    "SymNetsDomainLoss": lambda: _made(_A + "SymNetsDomainLoss", [_PAIR], 0),
    "SymNetsEntropyLoss": lambda: _made(_A + "SymNetsEntropyLoss", [_PAIR]),
    "UniformDistributionLoss": lambda: _made(_A + "UniformDistributionLoss", [(_t(6, 4),)]),
    "VATLoss": lambda: held(nn.Linear(4, 3), lambda m, x: _get(_A + "VATLoss")()(x, m(x), m), (_t(6, 4),)),
    "Classifier": lambda: _made("pytorch_adapt.models.Classifier", [(_t(6, 4),)], 3, 4, 8),
    "Discriminator": lambda: _made("pytorch_adapt.models.Discriminator", [(_t(6, 4),)], 4, 8),
    "MNISTFeatures": lambda: _made("pytorch_adapt.models.MNISTFeatures", [(_t(2, 3, 32, 32),)]),
    "MeanWeighter": lambda: _using(
        "pytorch_adapt.weighters.MeanWeighter",
        lambda c, x, y: c(weights={"a": 2.0})({"a": x, "b": y}),
        (_t(1).sum(), _t(1).sum()),
    ),
    "mask_out_self": lambda: _call("pytorch_adapt.utils.common_functions.mask_out_self", (_t(4, 6), 1)),
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("pytorch_toolbelt", _TOOLBELT),
    **_named("flood_forecast", _FLOOD),
    **_named("dhg", _DHG),
    **_named("sb3_contrib", _SB3),
    **_named("pytorch_adapt", _ADAPT),
}

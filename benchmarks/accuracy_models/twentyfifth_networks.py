"""Models of mmsegmentation, dive-into-graphs, quairkit, voicefixer and resemble-enhance.

They were chosen after all of the twenty-fourth group, and written before `check` was run on these packages.
"""

from __future__ import annotations

import importlib
import math
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import _Absent, getter, without_packages

_t, _u, _i = random_inputs(92)
_ABSENT = {
    "mmseg": ("torchvision", "cv2", "mmdet", "mmpretrain", "prettytable", "ftfy", "timm", "PIL"),
    "dig": ("torch_cluster", "torch_sparse", "rdkit", "dgl", "captum", "cilog", "pytorch_lightning", "hydra"),
    "quairkit": ("IPython", "cvxpy", "pylatexenc", "picos", "pdf2image", "pylatex", "seaborn"),
    "voicefixer": ("librosa", "torchlibrosa", "soundfile", "progressbar", "torchaudio", "git"),
    "resemble_enhance": (
        "torchaudio",
        "deepspeed",
        "soundfile",
        "librosa",
        "resampy",
        "ptflops",
        "celluloid",
        "gradio",
    ),
}
_BARE = (
    *("mmseg", "mmseg.models", "mmseg.models.decode_heads", "mmseg.models.backbones", "mmseg.models.necks"),
    *("dig", "dig.sslgraph", "dig.sslgraph.method", "dig.sslgraph.method.contrastive", "dig.threedgraph"),
    *("dig.threedgraph.method", "dig.ggraph", "dig.ggraph.method", "dig.ggraph3D", "dig.ggraph3D.method", "dig.xgraph"),
    *("dig.sslgraph.utils", "dig.xgraph.method", "dig.xgraph.models", "dig.ggraph.method.GraphAF"),
    *("dig.ggraph.method.GraphAF.model", "dig.ggraph.method.GraphDF", "dig.ggraph.method.GraphDF.model"),
    *("dig.ggraph3D.method.G_SphereNet", "dig.ggraph3D.method.G_SphereNet.model", "dig.ggraph.method.GraphEBM"),
    *("dig.ggraph.method.JTVAE", "dig.ggraph.method.JTVAE.fast_jtnn"),
    *("voicefixer", "voicefixer.restorer", "voicefixer.tools", "voicefixer.tools.modules", "voicefixer.vocoder"),
    *("resemble_enhance", "resemble_enhance.enhancer", "resemble_enhance.denoiser", "resemble_enhance.data"),
    "resemble_enhance.utils",
)


def _scatter(
    src: torch.Tensor,
    index: torch.Tensor,
    dim: int = -1,
    out: Any = None,
    dim_size: int | None = None,
    reduce: str = "sum",
) -> torch.Tensor:
    """Stands for the function of torch_scatter."""
    del out  # the functions of torch_scatter are given it by place
    dim = dim % src.dim()
    shape = list(src.shape)
    shape[dim] = dim_size if dim_size is not None else int(index.max()) + 1 if index.numel() else 0
    if index.dim() != src.dim():
        index = index.view([-1 if d == dim else 1 for d in range(src.dim())])
    how = {"add": "sum", "sum": "sum", "mean": "mean", "min": "amin", "max": "amax"}[reduce]
    return src.new_zeros(shape).scatter_reduce(dim, index.expand_as(src), src, how, include_self=False)


def _scatter_min(
    src: torch.Tensor, index: torch.Tensor, dim: int = -1, out: Any = None, dim_size: int | None = None
) -> Any:
    """Stands for the function that gives the smallest of each group, and where it stands."""
    best = _scatter(src, index, dim, out, dim_size, "min")
    there = torch.where(src == best[index], torch.arange(len(src)), -1)
    return best, _scatter(there, index, dim, None, dim_size, "max")


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))
    if package == "mmseg":
        there = sys.modules.get("transformers")
        sys.modules["transformers"] = None  # type: ignore[assignment]
        importlib.import_module("mmengine.optim")
        sys.modules.pop("transformers")
        if there is not None:
            sys.modules["transformers"] = there
        sys.modules.setdefault("mmcv.ops", _Absent("mmcv.ops"))
        sys.modules["mmseg"].digit_version = importlib.import_module("mmengine.utils").digit_version  # type: ignore[attr-defined]
    if package == "dig":  # it is older than this NumPy
        np.math = math  # type: ignore[attr-defined]
        scatter = importlib.import_module("types").ModuleType("torch_scatter")
        scatter.scatter, scatter.scatter_min = _scatter, _scatter_min  # type: ignore[attr-defined]
        scatter.scatter_add = _scatter  # type: ignore[attr-defined]
        sys.modules.setdefault("torch_scatter", scatter)


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_ML, _MH, _MU, _MB = (
    "mmseg.models.losses.",
    "mmseg.models.decode_heads.",
    "mmseg.models.utils.",
    "mmseg.models.backbones.",
)
_LOGITS, _LABELS = _t(2, 3, 8, 8), torch.where(_u(2, 8, 8) > 0.9, 255, _i(3, 2, 8, 8))
_HEAD = {"in_channels": 8, "channels": 4, "num_classes": 3, "norm_cfg": {"type": "BN"}}
_FEATS = [_t(2, 8, 8, 8)]


def _head(path: str, **options: Any) -> Built:
    """A head that gives a class to each pixel."""
    return _made(_MH + path, [(_FEATS,)], **_HEAD, **options)


_MMSEG: dict[str, Callable[[], Built]] = {
    "accuracy": lambda: _call(_ML + "accuracy.accuracy", (_LOGITS, _LABELS), ignore_index=255),
    "accuracy top": lambda: _call(_ML + "accuracy.accuracy", (_LOGITS, _LABELS), topk=(1, 2)),
    "Accuracy": lambda: _made(_ML + "accuracy.Accuracy", [(_LOGITS, _LABELS)], ignore_index=255),
    "BoundaryLoss": lambda: _made(_ML + "boundary_loss.BoundaryLoss", [(_t(2, 1, 8, 8), (_u(2, 8, 8) > 0.5).float())]),
    "CrossEntropyLoss": lambda: _made(
        _ML + "cross_entropy_loss.CrossEntropyLoss", [(_LOGITS, _i(3, 2, 8, 8))], class_weight=[1.0, 2.0, 1.0]
    ),
    "CrossEntropyLoss avg": lambda: held(
        _get(_ML + "cross_entropy_loss.CrossEntropyLoss")(avg_non_ignore=True),
        lambda m, *x: m(*x, ignore_index=255),
        (_LOGITS, _LABELS),
    ),
    "CrossEntropyLoss sigmoid": lambda: held(
        _get(_ML + "cross_entropy_loss.CrossEntropyLoss")(use_sigmoid=True, avg_non_ignore=True),
        lambda m, *x: m(*x, ignore_index=255),
        (_LOGITS, _LABELS),
    ),
    "mask_cross_entropy": lambda: _call(
        _ML + "cross_entropy_loss.mask_cross_entropy", (_LOGITS, _u(2, 8, 8), torch.tensor([0, 2]))
    ),
    "DiceLoss": lambda: _made(_ML + "dice_loss.DiceLoss", [(_LOGITS, _LABELS)]),
    "DiceLoss naive": lambda: _made(
        _ML + "dice_loss.DiceLoss", [(_LOGITS, _i(3, 2, 8, 8))], use_sigmoid=False, naive_dice=True, reduction="none"
    ),
    "dice_loss": lambda: _call(
        _ML + "dice_loss.dice_loss", (_u(2, 3, 8, 8), _u(2, 3, 8, 8), _u(2)), avg_factor=2, reduction="mean"
    ),
    "FocalLoss": lambda: _made(_ML + "focal_loss.FocalLoss", [(_LOGITS, _i(3, 2, 8, 8))]),
    "FocalLoss weights": lambda: _made(
        _ML + "focal_loss.FocalLoss", [(_LOGITS, _i(3, 2, 8, 8))], alpha=[0.5, 0.4, 0.6], class_weight=[1.0, 2.0, 1.0]
    ),
    "py_sigmoid_focal_loss": lambda: _call(
        _ML + "focal_loss.py_sigmoid_focal_loss", (_t(12, 3), (_u(12, 3) > 0.5).float())
    ),
    "HuasdorffDisstanceLoss": lambda: _made(
        _ML + "huasdorff_distance_loss.HuasdorffDisstanceLoss", [(_LOGITS, _i(3, 2, 8, 8))]
    ),
    "KLDivLoss": lambda: _made(_ML + "kldiv_loss.KLDivLoss", [(_LOGITS, _t(2, 3, 8, 8))]),
    "LovaszLoss": lambda: _made(_ML + "lovasz_loss.LovaszLoss", [(_LOGITS, _LABELS)], reduction="none"),
    "LovaszLoss image": lambda: _made(
        _ML + "lovasz_loss.LovaszLoss",
        [(_LOGITS, _LABELS)],
        per_image=True,
        classes=[0, 2],
        class_weight=[1.0, 2.0, 1.0],
    ),
    "LovaszLoss binary": lambda: _made(
        _ML + "lovasz_loss.LovaszLoss",
        [(_t(2, 1, 8, 8), (_u(2, 8, 8) > 0.5).long())],
        loss_type="binary",
        reduction="none",
    ),
    "LovaszLoss binary image": lambda: _made(
        _ML + "lovasz_loss.LovaszLoss",
        [(_t(2, 1, 8, 8), (_u(2, 8, 8) > 0.5).long())],
        loss_type="binary",
        per_image=True,
    ),
    "OhemCrossEntropy": lambda: _made(
        _ML + "ohem_cross_entropy_loss.OhemCrossEntropy", [(_LOGITS, _LABELS)], min_kept=20
    ),
    "SiLogLoss": lambda: _made(_ML + "silog_loss.SiLogLoss", [(_u(2, 8, 8) + 0.1, _u(2, 8, 8) + 0.1)]),
    "TverskyLoss": lambda: _made(_ML + "tversky_loss.TverskyLoss", [(_LOGITS, _LABELS)]),
    "PatchEmbed": lambda: _made(_MU + "embed.PatchEmbed", [(_t(2, 3, 18, 18),)], 3, 16, "Conv2d", 4, 4),
    "PatchMerging": lambda: _made(_MU + "embed.PatchMerging", [(_t(2, 30, 8), (5, 6))], 8, 16),
    "Encoding": lambda: _made(_MU + "encoding.Encoding", [(_t(2, 8, 4, 4),)], 8, 5),
    "DAPPM": lambda: _made(_MU + "ppm.DAPPM", [(_t(2, 8, 16, 16),)], 8, 4, 8, 5),
    "SELayer": lambda: _made(_MU + "se_layer.SELayer", [(_t(2, 16, 4, 4),)], 16, 4),
    "resize": lambda: _call(_MU + "wrappers.resize", (_t(2, 3, 4, 4), (7, 9)), mode="bilinear", align_corners=True),
    "Upsample": lambda: _made(_MU + "wrappers.Upsample", [(_t(2, 3, 4, 4),)], scale_factor=2),
    "FCNHead": lambda: _head("fcn_head.FCNHead"),
    "ASPPHead": lambda: _head("aspp_head.ASPPHead", dilations=(1, 2)),
    "PSPHead": lambda: _head("psp_head.PSPHead"),
    "APCHead": lambda: _head("apc_head.APCHead"),
    "DAHead": lambda: _head("da_head.DAHead", pam_channels=4),
    "DMHead": lambda: _head("dm_head.DMHead"),
    "EMAHead": lambda: _head("ema_head.EMAHead", ema_channels=8, num_bases=4, num_stages=2),
    "EncHead": lambda: _made(
        _MH + "enc_head.EncHead", [([_t(2, 8, 8, 8)],)], num_codes=4, **(_HEAD | {"in_channels": [8], "in_index": [0]})
    ),
    "LightHamHead": lambda: _made(
        _MH + "ham_head.LightHamHead",
        [([_t(2, 8, 8, 8)],)],
        ham_channels=4,
        ham_kwargs={"MD_R": 3},
        **(_HEAD | {"in_channels": [8], "in_index": [0]}),
    ),
    "ISAHead": lambda: _head("isa_head.ISAHead", isa_channels=4, down_factor=(2, 2)),
    "GCHead": lambda: _head("gc_head.GCHead"),
    "NLHead": lambda: _head("nl_head.NLHead"),
    "FPNHead": lambda: _made(
        _MH + "fpn_head.FPNHead",
        [([_t(2, 8, 8, 8), _t(2, 8, 4, 4)],)],
        feature_strides=[4, 8],
        in_channels=[8, 8],
        in_index=[0, 1],
        channels=4,
        num_classes=3,
        norm_cfg={"type": "BN"},
    ),
    "SETRUPHead": lambda: _head("setr_up_head.SETRUPHead"),
    "KernelUpdator": lambda: _made(_MH + "knet_head.KernelUpdator", [(_t(6, 16), _t(6, 1, 16))], 16, 16),
    "STDCNet": lambda: _made(
        _MB + "stdc.STDCNet",
        [(_t(2, 3, 32, 32),)],
        "STDCNet1",
        3,
        (4, 8, 16, 32, 64),
        "cat",
        {"type": "BN"},
        {"type": "ReLU"},
    ),
    "MixVisionTransformer": lambda: _made(
        _MB + "mit.MixVisionTransformer",
        [(_t(1, 3, 32, 32),)],
        embed_dims=8,
        num_layers=[1, 1, 1, 1],
        num_heads=[1, 1, 2, 2],
    ),
    "SwinTransformer": lambda: _made(
        _MB + "swin.SwinTransformer",
        [(_t(1, 3, 32, 32),)],
        pretrain_img_size=32,
        embed_dims=8,
        window_size=2,
        depths=(2, 2, 2, 2),
        num_heads=(1, 1, 2, 2),
    ),
    "CGNet": lambda: _made(_MB + "cgnet.CGNet", [(_t(1, 3, 32, 32),)], num_channels=(8, 16, 32), num_blocks=(1, 1)),
    "ERFNet": lambda: _made(
        _MB + "erfnet.ERFNet",
        [(_t(1, 3, 32, 32),)],
        enc_downsample_channels=(4, 8, 16),
        dec_upsample_channels=(8, 4),
    ),
    "PagFM": lambda: _made(_MB + "pidnet.PagFM", [(_t(1, 8, 8, 8), _t(1, 8, 4, 4))], 8, 4),
    "RSoftmax": lambda: _made(_MB + "resnest.RSoftmax", [(_t(2, 8, 1, 1),)], 2, 2),
}

_DV = "dig.sslgraph.method.contrastive."
_EDGES = torch.tensor([[0, 1, 1, 2, 2, 3, 3, 0], [1, 0, 2, 1, 3, 2, 0, 3]])
_GAF, _GDF = "dig.ggraph.method.GraphAF.model.", "dig.ggraph.method.GraphDF.model."
_GSN, _JT = "dig.ggraph3D.method.G_SphereNet.model.", "dig.ggraph.method.JTVAE.fast_jtnn."


def _graph(batch: bool = False) -> Any:
    """A graph of four nodes, or a batch of two."""
    from torch_geometric.data import Batch, Data

    one = Data(x=_t(4, 5), edge_index=_EDGES)
    return Batch.from_data_list([one, Data(x=_t(4, 5), edge_index=_EDGES)]) if batch else one


def _viewed(path: str, *given: Any, batch: bool = False, **options: Any) -> Built:
    """A graph that is changed."""
    made, data = _get(_DV + "views_fn." + path)(*given, **options), _graph(batch)
    return held(made, lambda m, x: m(_with(data, x)).x, (_t(8 if batch else 4, 5),))


def _with(data: Any, x: torch.Tensor) -> Any:
    """The graph with features of nodes."""
    data = data.clone()
    data.x = x
    return data


def _encoded(path: str, *given: Any, **options: Any) -> Built:
    """Codes of graphs."""
    made, data = _get("dig.sslgraph.utils.encoders." + path)(*given, **options), _graph(True)
    return held(made, lambda m, x: m(_with(data, x)), (_t(8, 5),))


_DIG: dict[str, Callable[[], Built]] = {
    "NCE_loss": lambda: _call(_DV + "objectives.infonce.NCE_loss", ([_t(4, 6), _t(4, 6)],)),
    "NCE_loss three": lambda: _call(
        _DV + "objectives.infonce.NCE_loss", ([_t(4, 6), _t(4, 6), _t(4, 6)],), sigma=torch.ones(3, 3).bool().numpy()
    ),
    "NCE_loss nodes": lambda: _call(
        _DV + "objectives.infonce.NCE_loss", (None, [_t(6, 5), _t(6, 5)], torch.tensor([0, 0, 0, 1, 1, 1]))
    ),
    "infoNCE_local_global": lambda: _call(
        _DV + "objectives.infonce.infoNCE_local_global", (_t(6, 5), _t(2, 5), torch.tensor([0, 0, 0, 1, 1, 1]))
    ),
    "NT_Xent": lambda: _call(_DV + "objectives.infonce.NT_Xent", (_t(4, 6), _t(4, 6))),
    "JSE_loss": lambda: _call(_DV + "objectives.jse.JSE_loss", ([_t(4, 6), _t(4, 6)],)),
    "JSE_loss local": lambda: _call(
        _DV + "objectives.jse.JSE_loss", ([_t(2, 5)], [_t(6, 5)], torch.tensor([0, 0, 0, 1, 1, 1]))
    ),
    "NodeAttrMask": lambda: _viewed("feature.NodeAttrMask", mode="partial", mask_ratio=0.5),
    "NodeAttrMask whole": lambda: _viewed("feature.NodeAttrMask", mode="whole"),
    "AdaNodeAttrMask": lambda: _viewed("feature.AdaNodeAttrMask", "degree", 0.3, 0.7, False),
    "UniformSample": lambda: _viewed("sample.UniformSample", 0.5),
    "RWSample": lambda: _viewed("sample.RWSample", 0.5),
    "EdgePerturbation": lambda: _viewed("structure.EdgePerturbation", True, True, 0.3),
    "AdaEdgePerturbation": lambda: _viewed("structure.AdaEdgePerturbation", "degree", 0.3, 0.7),
    "Diffusion": lambda: _viewed("structure.Diffusion"),
    "Diffusion heat": lambda: _viewed("structure.Diffusion", mode="heat", batch=True),
    "compute_pr": lambda: _call("dig.sslgraph.utils.adaptive.compute_pr", (_EDGES,)),
    "drop_feature_weighted": lambda: _call("dig.sslgraph.utils.adaptive.drop_feature_weighted", (_t(4, 5), _u(5), 0.3)),
    "feature_drop_weights": lambda: _call("dig.sslgraph.utils.adaptive.feature_drop_weights", (_u(4, 5), _u(4))),
    "drop_edge_weighted": lambda: _call("dig.sslgraph.utils.adaptive.drop_edge_weighted", (_EDGES, _u(8), 0.3, 0.7)),
    "degree_drop_weights": lambda: _call("dig.sslgraph.utils.adaptive.degree_drop_weights", (_EDGES,)),
    "pr_drop_weights": lambda: _call("dig.sslgraph.utils.adaptive.pr_drop_weights", (_EDGES,)),
    "Encoder gin": lambda: _encoded("Encoder", 5, 6, 2),
    "Encoder gcn": lambda: _encoded("Encoder", 5, 6, 2, gnn="gcn", node_level=True),
    "Encoder resgcn": lambda: _encoded("Encoder", 5, 6, 2, gnn="resgcn"),
    "dimenet dist_emb": lambda: _made("dig.threedgraph.method.dimenetpp.features.dist_emb", [(_u(6) * 4,)], 4),
    "dimenet angle_emb": lambda: _made(
        "dig.threedgraph.method.dimenetpp.features.angle_emb", [(_u(6) * 4 + 0.1, _u(8), _i(6, 8))], 3, 4
    ),
    "spherenet torsion_emb": lambda: _made(
        "dig.threedgraph.method.spherenet.features.torsion_emb", [(_u(6) * 4 + 0.1, _u(8), _u(8), _i(6, 8))], 2, 3
    ),
    "comenet angle_emb": lambda: _made(
        "dig.threedgraph.method.comenet.features.angle_emb", [(_u(6) * 4 + 0.1, _u(6))], 3, 2
    ),
    "comenet TwoLayerLinear": lambda: _made(
        "dig.threedgraph.method.comenet.comenet.TwoLayerLinear", [(_t(4, 5),)], 5, 3, 6, True, True
    ),
    "schnet update_e": lambda: _made(
        "dig.threedgraph.method.schnet.schnet.update_e", [(_t(4, 5), _u(8) * 4, _t(8, 7), _EDGES)], 5, 6, 7, 5.0
    ),
    "schnet update_v": lambda: _made(
        "dig.threedgraph.method.schnet.schnet.update_v", [(_t(4, 5), _t(8, 6), _EDGES)], 5, 6
    ),
    "schnet update_u": lambda: _made(
        "dig.threedgraph.method.schnet.schnet.update_u", [(_t(4, 6), torch.tensor([0, 0, 1, 1]))], 6, 1
    ),
    "schnet emb": lambda: _made("dig.threedgraph.method.schnet.schnet.emb", [(_u(6) * 4,)]),
    "GraphAF": lambda: _flow(_GAF + "graphflow.GraphFlowModel"),
    "GraphAF log_prob": lambda: _flow_of(_GAF + "graphflow.GraphFlowModel"),
    "GraphDF": lambda: _flow(_GDF + "graphflow.GraphFlowModel"),
    "GraphAF RGCN": lambda: _made(_GAF + "rgcn.RGCN", [(_t(2, 4, 5), _u(2, 3, 4, 4))], 5, 8, 6, 3, 2),
    "GraphAF ST_Net_Exp": lambda: _made(_GAF + "st_net.ST_Net_Exp", [(_t(4, 6),)], 6, 3, 8),
    "GraphDF one_hot": lambda: _call(_GDF + "df_utils.one_hot", (_i(5, 4),), (_i(5, 4), 6)),
    "GraphDF one_hot_argmax": lambda: _call(_GDF + "df_utils.one_hot_argmax", (_t(4, 5),)),
    "GraphDF one_hot_add": lambda: _call(
        _GDF + "df_utils.one_hot_add", (torch.softmax(_t(4, 5), -1), torch.softmax(_t(4, 5), -1))
    ),
    "GraphDF one_hot_multiply": lambda: _call(
        _GDF + "df_utils.one_hot_multiply", (torch.softmax(_t(4, 5), -1), torch.softmax(_t(4, 5), -1))
    ),
    "GraphDF one_hot_minus": lambda: _call(
        _GDF + "df_utils.one_hot_minus", (torch.softmax(_t(4, 5), -1), torch.softmax(_t(4, 5), -1))
    ),
    "GraphDF ST_Dis": lambda: _made(_GDF + "st_net.ST_Dis", [(_t(4, 6),)], 6, 5),
    "G_SphereNet MH_ATT": lambda: _made(
        _GSN + "att.MH_ATT",
        [(_t(2, 8), _t(6, 8), _t(6, 8), torch.arange(2), torch.tensor([0, 0, 0, 1, 1, 1]))],
        2,
        8,
        8,
        8,
        8,
    ),
    "G_SphereNet ST_Net_Exp": lambda: _made(_GSN + "net_utils.ST_Net_Exp", [(_t(4, 6),)], 6, 3, 8),
    "symmetric_edge_mask": lambda: _call(
        "dig.xgraph.method.utils.symmetric_edge_mask.symmetric_edge_mask_indirect_graph", (_EDGES, _u(8))
    ),
    "graph_build_zero_filling": lambda: _call(
        "dig.xgraph.method.shapley.graph_build_zero_filling", (_t(4, 5), _EDGES, torch.tensor([1, 0, 1, 1]))
    ),
    "graph_build_split": lambda: _call(
        "dig.xgraph.method.shapley.graph_build_split", (_t(4, 5), _EDGES, torch.tensor([1, 0, 1, 1]))
    ),
}
_FLOW = {
    "max_size": 4,
    "edge_unroll": 3,
    "node_dim": 3,
    "bond_dim": 4,
    "deq_coeff": 0.9,
    "num_flow_layer": 2,
    "num_rgcn_layer": 2,
    "nhid": 8,
    "nout": 8,
    "use_gpu": False,
    "use_df": False,
    "dp": False,
    "st_type": "sigmoid",
    "learn_prior": True,
    "is_batchNorm": True,
    "sigmoid_shift": 2.0,
    "num_node_types": 3,
}


def _flow(path: str) -> Built:
    """What a flow makes of graphs."""
    return _made(path, [(_u(2, 4, 3), _u(2, 4, 4, 4))], dict(_FLOW))


def _flow_of(path: str) -> Built:
    """How likely graphs are."""
    made = _get(path)(dict(_FLOW))
    return held(made, lambda m, x, y: m.log_prob(*m(x, y)), (_u(2, 4, 3), _u(2, 4, 4, 4)))


_Q = "quairkit."
_RHO = torch.eye(4, dtype=torch.complex64) / 4
_UNITARY = torch.linalg.qr(torch.complex(_t(4, 4), _t(4, 4))).Q
_KET = torch.tensor([[1.0], [0.0], [0.0], [1.0]], dtype=torch.complex64) / 2**0.5


def _circuit(build: Callable[[Any], Any], use: Callable[[Any], Any], qubits: int = 2) -> Built:
    """A use of a circuit."""
    made = _get(_Q + "circuit.Circuit")(qubits)
    build(made)
    return held(made, use, ())


def _gates(circuit: Any) -> None:
    """Some gates."""
    circuit.h(0)
    circuit.cnot([0, 1])
    circuit.rx(1)
    circuit.u3(0)


_QUAIR: dict[str, Callable[[], Built]] = {
    **{
        name: lambda name=name, given=given: _call(_Q + f"qinfo.{name}", given)
        for name, given in {
            "is_hermitian": (_RHO,),
            "is_positive": (_RHO,),
            "is_unitary": (_UNITARY,),
            "is_projector": (_RHO,),
            "is_ppt": (_RHO,),
            "is_density_matrix": (_RHO,),
            "is_state_vector": (_KET,),
            "abs_norm": (_RHO,),
            "dagger": (_UNITARY,),
            "direct_sum": (_RHO, _UNITARY),
            "kron_power": (_RHO, 2),
            "logm": (_RHO,),
            "nkron": (_RHO, _UNITARY),
            "p_norm": (_RHO, 2),
            "partial_trace": (_RHO, 0),
            "partial_transpose": (_RHO, [0]),
            "pauli_decomposition": (_RHO,),
            "permute_systems": (_RHO, [1, 0], [2, 2]),
            "trace": (_RHO,),
            "trace_norm": (_RHO,),
            "gate_fidelity": (_UNITARY, _UNITARY),
            "negativity": (_RHO,),
            "logarithmic_negativity": (_RHO,),
            "purity": (_RHO,),
            "relative_entropy": (_RHO, _RHO),
            "trace_distance": (_RHO, _RHO),
            "von_neumann_entropy": (_RHO,),
            "mutual_information": (_RHO, 2, 2),
        }.items()
    },
    "Circuit": lambda: _circuit(_gates, lambda c: c().ket),
    "Circuit unitary": lambda: _circuit(_gates, lambda c: c.unitary_matrix()),
    "Circuit layers": lambda: _circuit(lambda c: c.linear_entangled_layer(depth=2), lambda c: c().density_matrix),
    "Circuit noise": lambda: _circuit(
        lambda c: (c.h(0), c.depolarizing(0.1, 0), c.bit_flip(0.2, 1)), lambda c: c().density_matrix
    ),
    "ExpecVal": lambda: _expected(),
    "Measure": lambda: _measured(),
    "TraceDistance": lambda: _distance("TraceDistance"),
    "StateFidelity": lambda: _distance("StateFidelity"),
    "ising_hamiltonian": lambda: _using(
        _Q + "database.hamiltonian.ising_hamiltonian", lambda f, x, y: f(x, y).matrix, (_t(2, 2), _t(2))
    ),
    "rx": lambda: _call(_Q + "database.matrix.rx", (_u(1),)),
    "universal2": lambda: _call(_Q + "database.matrix.universal2", (_u(15),)),
    "qft_matrix": lambda: _call(_Q + "database.matrix.qft_matrix", (2,)),
    "haar_unitary": lambda: _call(_Q + "database.random.haar_unitary", (4,)),
    "haar_state_vector": lambda: _call(_Q + "database.random.haar_state_vector", (4,)),
    "random_channel": lambda: _call(_Q + "database.random.random_channel", (1,)),
    "depolarizing_kraus": lambda: _call(_Q + "database.representation.depolarizing_kraus", (torch.tensor(0.2),)),
    "gell_mann": lambda: _call(_Q + "database.set.gell_mann", (3,)),
    "heisenberg_weyl": lambda: _call(_Q + "database.set.heisenberg_weyl", (3,)),
}


def _state() -> Any:
    """A state of two qubits."""
    return _get(_Q + "core.state.to_state")(_KET[:, 0])


def _expected() -> Built:
    """What is measured of a state on average."""
    hamiltonian = _get(_Q + "core.hamiltonian.Hamiltonian")([[0.5, "Z0,Z1"], [0.3, "X0"]])
    return held((_get(_Q + "loss.ExpecVal")(hamiltonian), _state()), lambda both: both[0](both[1]), ())


def _measured() -> Built:
    """How likely each outcome is."""
    return held((_get(_Q + "loss.Measure")("zz"), _state()), lambda both: both[0](both[1]), ())


def _distance(kind: str) -> Built:
    """How far states are apart."""
    return held((_get(_Q + "loss." + kind)(_state()), _state()), lambda both: both[0](both[1]), ())


_V = "voicefixer."
_VM = "voicefixer.vocoder.model."
_VOICE: dict[str, Callable[[], Built]] = {
    "ConvBlockRes": lambda: _made(_V + "restorer.modules.ConvBlockRes", [(_t(2, 4, 8, 8),)], 4, 8, 3, "relu", 0.1),
    "EncoderBlockRes": lambda: _made(
        _V + "restorer.modules.EncoderBlockRes", [(_t(2, 4, 8, 8),)], 4, 8, (2, 2), "leaky_relu", 0.1
    ),
    "UNetResComplex": lambda: _made(_V + "restorer.model_kqq_bn.UNetResComplex_100Mb", [(_t(2, 1, 64, 128),)], 1),
    "MelScale": lambda: _made(_V + "tools.mel_scale.MelScale", [(_u(2, 201, 10),)], 20),
    "melscale_fbanks": lambda: _call(
        _V + "tools.mel_scale.melscale_fbanks", (65, 0.0, 4000.0, 10, 8000, "slaney", "slaney")
    ),
    "to_log": lambda: _call(_V + "tools.pytorch_util.to_log", (_u(4, 5),)),
    "from_log": lambda: _call(_V + "tools.pytorch_util.from_log", (_u(4, 5),)),
    "try_tensor_cuda": lambda: _call(_V + "tools.pytorch_util.try_tensor_cuda", (_u(4, 5), False)),
    "move_data_to_device": lambda: _call(_V + "tools.pytorch_util.move_data_to_device", (_t(3).numpy(), "cpu")),
    "tensor2numpy": lambda: _call(_V + "tools.pytorch_util.tensor2numpy", (_t(3),)),
    "random_torch": lambda: _call(_V + "tools.random_.random_torch", (10,)),
    "shuffle_torch": lambda: _call(_V + "tools.random_.shuffle_torch", ([1, 2, 3],)),
    "random_choose_list": lambda: _call(_V + "tools.random_.random_choose_list", ([1, 2, 3],)),
    "uniform_torch": lambda: _call(_V + "tools.random_.uniform_torch", (0.0, 1.0)),
    "random_select": lambda: _call(_V + "tools.random_.random_select", ([0.2, 0.5],)),
    "seperate_magnitude": lambda: _call(_V + "tools.base.seperate_magnitude", (_u(4, 5), _u(4, 5))),
    "pre_emphasis": lambda: _call(_V + "tools.base.pre_emphasis", (_t(2, 100).numpy(),)),
    "SineGen": lambda: _made(_VM + "modules.SineGen", [(_u(2, 20, 1) * 200,)], 8000, 2),
    "LowpassBlur": lambda: _made(_VM + "modules.LowpassBlur", [(_t(2, 4, 20),)], 4),
    "MovingAverageSmooth": lambda: _made(_VM + "modules.MovingAverageSmooth", [(_t(2, 4, 20),)], 4),
    "Stretch2d": lambda: _made(_VM + "modules.Stretch2d", [(_t(2, 1, 4, 5),)], 3, 1),
    "UpsampleNetwork": lambda: _made(
        _VM + "modules.UpsampleNetwork",
        [(_t(2, 4, 10),)],
        [2, 3],
        "ReLU",
        freq_axis_kernel_size=3,
        use_causal_conv=True,
    ),
    "ConvInUpsampleNetwork": lambda: _made(
        _VM + "modules.ConvInUpsampleNetwork", [(_t(2, 8, 10),)], [2, 3], aux_channels=8
    ),
    "UpsampleNet": lambda: _made(_VM + "modules.UpsampleNet", [(_t(2, 8, 10),)], 8, 4, 2),
    "ResStack": lambda: _made(_VM + "modules.ResStack", [(_t(2, 8, 30),)], 8),
    "WaveNet": lambda: _made(
        _VM + "modules.WaveNet",
        [(_t(2, 1, 40), _t(2, 8, 40))],
        num_layers=3,
        residual_channels=8,
        gate_channels=8,
        skip_channels=8,
        cin_channels=8,
    ),
    "FiLM": lambda: _made(_VM + "modules.FiLM", [(_t(2, 8, 10), _t(2, 4, 10))], 8, 4),
    "FiLMConv1d": lambda: _made(_VM + "modules.FiLMConv1d", [(_t(2, 8, 10), _t(2, 4, 10))], 8, 8, 4),
    "res_msd ResStack": lambda: _made(_VM + "res_msd.ResStack", [(_t(2, 8, 60),)], 8, 3, 3),
    "tr_normalize": lambda: _call(_VM + "util.tr_normalize", (_u(4, 5),)),
    "tr_amp_to_db": lambda: _call(_VM + "util.tr_amp_to_db", (_u(4, 5),)),
}

_R, _RU = "resemble_enhance.", "resemble_enhance.enhancer.univnet."


def _normalized() -> Built:
    """A signal that is normalized by what has been seen of it."""
    made = _get(_R + "common.Normalizer")()
    return held(made, lambda m, x: m.inverse(m(x)), (_t(2, 8, 10),), (_t(2, 8, 10),))


_RESEMBLE: dict[str, Callable[[], Built]] = {
    "Normalizer": _normalized,
    "Normalizer eval": lambda: held(
        _get(_R + "common.Normalizer")().eval(), lambda m, x: m(x, update=False), (_t(2, 8, 10),)
    ),
    "UNet": lambda: _made(_R + "denoiser.unet.UNet", [(_t(1, 3, 33, 20),)], 3, 3, 16, 2, 1),
    "UNetBlock": lambda: _made(_R + "denoiser.unet.UNetBlock", [(_t(1, 16, 8, 8), None)], 16, 32, 0.5),
    "PreactResBlock": lambda: _made(_R + "denoiser.unet.PreactResBlock", [(_t(1, 16, 8, 8),)], 16),
    "SinusodialTimeEmbedding": lambda: _made(_R + "enhancer.lcfm.cfm.SinusodialTimeEmbedding", [(_u(3),)], 8),
    "IRMAE": lambda: held(
        _get(_R + "enhancer.lcfm.irmae.IRMAE")(6, 6, 4, 32), lambda m, x: m(x).decoded, (_t(2, 6, 12),)
    ),
    "WN": lambda: _made(
        _R + "enhancer.lcfm.wn.WN", [(_t(2, 4, 12), _t(2, 8, 12), _t(2, 6))], 4, 4, 8, 6, 3, hidden_dim=16
    ),
    "LowPassFilter1d": lambda: _made(_RU + "alias_free_torch.filter.LowPassFilter1d", [(_t(2, 4, 30),)]),
    "UpSample1d": lambda: _made(_RU + "alias_free_torch.resample.UpSample1d", [(_t(2, 4, 30),)]),
    "AMPBlock": lambda: _made(_RU + "amp.AMPBlock", [(_t(2, 4, 30),)], 4),
    "SnakeBeta": lambda: _made(_RU + "amp.SnakeBeta", [(_t(2, 4, 30),)], 4),
    "PeriodNetwork": lambda: _made(_RU + "discriminator.PeriodNetwork", [(_t(1, 1, 500),)], 3),
    "LVCBlock": lambda: _made(
        _RU + "lvcnet.LVCBlock", [(_t(1, 4, 12), _t(1, 8, 6))], 4, 8, 2, [1, 3], cond_hop_length=4
    ),
    "stft": lambda: _call(_RU + "mrstft.stft", (_t(2, 500), 64, 16, 64, torch.hann_window(64))),
    "LogSTFTMagnitudeLoss": lambda: _made(_RU + "mrstft.LogSTFTMagnitudeLoss", [(_u(2, 5, 6), _u(2, 5, 6))]),
    "MRSTFTLoss": lambda: _made(_RU + "mrstft.MRSTFTLoss", [(_t(2, 20000), _t(2, 20000))], _hp()),
    "compute_corr": lambda: _call(_R + "inference.compute_corr", (_t(20), _t(20))),
    "mix_fg_bg": lambda: _call(
        _R + "data.utils.mix_fg_bg", (_t(2, 40), _t(2, 40)), (_t(2, 40), _t(2, 40), lambda: 0.3)
    ),
    "tree_map": lambda: _call(_R + "utils.utils.tree_map", (torch.neg, {"a": _t(2), "b": [_t(3)]})),
}


def _hp() -> Any:
    """Sizes of sound."""
    return SimpleNamespace(wav_rate=44100, hop_size=420, win_size=2048, n_fft=2048)


MODELS: dict[str, Callable[[], Built]] = {}
for _package, _models in {
    "mmseg": _MMSEG,
    "dig": _DIG,
    "quairkit": _QUAIR,
    "voicefixer": _VOICE,
    "resemble_enhance": _RESEMBLE,
}.items():
    MODELS |= {f"{_package}/{_name}": _build for _name, _build in _models.items()}

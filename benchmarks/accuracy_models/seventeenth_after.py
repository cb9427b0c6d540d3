"""Models of fightingcv_attention, neurite, voxelmorph, hypnettorch and complextorch.

They were written and run after the work on the seventeenth group, and before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from accuracy_models import Built
from accuracy_models.inputs import complex_normal, held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(43)
_PICTURES = (
    "matplotlib.pyplot",
    "matplotlib.colors",
    "matplotlib.cm",
    "mpl_toolkits.axes_grid1",
    "nibabel",
    "triton.language",
)
_ABSENT = {
    "fightingcv_attention": ("torchvision", "timm.models.layers", "timm.models.registry", "timm.data"),
    "neurite": _PICTURES,
    "voxelmorph": (*_PICTURES, "pystrum.pynd.ndutils"),
    "hypnettorch": ("matplotlib.pyplot", "tensorboardX", "torchvision"),
}
_BARE = (
    "fightingcv_attention",
    "fightingcv_attention.attention",
    "fightingcv_attention.conv",
    "fightingcv_attention.mlp",
)
_get = getter(_ABSENT, _BARE)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_A = "fightingcv_attention.attention."
_MAPS = _t(2, 16, 7, 7)
_WORDS = _t(2, 9, 16)
_FIGHTING: dict[str, Callable[[], Built]] = {
    "DoubleAttention": lambda: _made(_A + "A2Atttention.DoubleAttention", [(_MAPS,)], 16, 8, 8, True),
    "AFT_FULL": lambda: _made(_A + "AFT.AFT_FULL", [(_WORDS,)], 16, 9),
    "AxialAttention": lambda: _made(_A + "Axial_attention.AxialAttention", [(_MAPS,)], 16, 2, 2, None, 1),
    "AxialImageTransformer": lambda: _made(
        _A + "Axial_attention.AxialImageTransformer", [(_MAPS,)], 16, 1, 2, reversible=True
    ),
    "BAMBlock": lambda: _made(_A + "BAM.BAMBlock", [(_t(2, 32, 7, 7),)], 32),
    "CBAMBlock": lambda: _made(_A + "CBAM.CBAMBlock", [(_MAPS,)], 16, 4, 7),
    "CoTAttention": lambda: _made(_A + "CoTAttention.CoTAttention", [(_MAPS,)], 16),
    "CoordAtt": lambda: _made(_A + "CoordAttention.CoordAtt", [(_MAPS,)], 16, 16),
    "CrissCrossAttention": lambda: _made(_A + "CrissCrossAttention.CrissCrossAttention", [(_MAPS,)], 16),
    "ACmix": lambda: _made(_A + "ACmixAttention.ACmix", [(_MAPS,)], 16, 16),
    "DAModule": lambda: _made(_A + "DANet.DAModule", [(_t(1, 512, 7, 7),)]),
    "ECAAttention": lambda: _made(_A + "ECAAttention.ECAAttention", [(_MAPS,)]),
    "EMSA": lambda: _made(
        _A + "EMSA.EMSA", [(_t(2, 49, 16), _t(2, 49, 16), _t(2, 49, 16))], 16, 8, 8, 2, H=7, W=7, ratio=2
    ),
    "ExternalAttention": lambda: _made(_A + "ExternalAttention.ExternalAttention", [(_WORDS,)], 16, 8),
    "HaloAttention": lambda: _made(
        _A + "HaloAttention.HaloAttention", [(_t(1, 16, 8, 8),)], dim=16, block_size=2, halo_size=1, dim_head=4, heads=2
    ),
    "MUSEAttention": lambda: _made(_A + "MUSEAttention.MUSEAttention", [(_WORDS, _WORDS, _WORDS)], 16, 8, 8, 2),
    "MobileViTv2Attention": lambda: _made(_A + "MobileViTv2Attention.MobileViTv2Attention", [(_WORDS,)], 16),
    "OutlookAttention": lambda: _made(_A + "OutlookAttention.OutlookAttention", [(_t(2, 8, 8, 16),)], 16),
    "PSA": lambda: _made(_A + "PSA.PSA", [(_t(2, 16, 8, 8),)], 16, 2),
    "ParNetAttention": lambda: _made(_A + "ParNetAttention.ParNetAttention", [(_MAPS,)], 16),
    "S2Attention": lambda: _made(_A + "S2Attention.S2Attention", [(_t(1, 512, 7, 7),)]),
    "SGE": lambda: _made(_A + "SGE.SpatialGroupEnhance", [(_MAPS,)], 4),
    "SKAttention": lambda: _made(_A + "SKAttention.SKAttention", [(_MAPS,)], 16, [1, 3], 4),
    "ShuffleAttention": lambda: _made(_A + "ShuffleAttention.ShuffleAttention", [(_MAPS,)], 16, 4, 4),
    "TripletAttention": lambda: _made(_A + "TripletAttention.TripletAttention", [(_MAPS,)]),
    "UFOAttention": lambda: _made(_A + "UFOAttention.UFOAttention", [(_WORDS, _WORDS, _WORDS)], 16, 8, 8, 2),
    "WeightedPermuteMLP": lambda: _made(_A + "ViP.WeightedPermuteMLP", [(_t(2, 8, 8, 64),)], 64, 8),
    "GlobalFilter": lambda: _made(_A + "gfnet.GlobalFilter", [(_t(2, 49, 16),)], 16, 7, 4),
    "CondConv": lambda: _made("fightingcv_attention.conv.CondConv.CondConv", [(_MAPS,)], 16, 8, 3, 1, 1),
    "DynamicConv": lambda: _made("fightingcv_attention.conv.DynamicConv.DynamicConv", [(_MAPS,)], 16, 8, 3, 1, 1),
}

_N = "neurite."
_VOLUME = _u(2, 1, 8, 8, 8)
_LABELS = _i(4, 2, 1, 8, 8, 8)
_BLOB = (_u(8, 8, 8) > 0.5).float()
_NEURITE: dict[str, Callable[[], Built]] = {
    "connected_components": lambda: _using(
        _N + "functional.connected_components", lambda f, x: f(x, method="torch"), (_BLOB > 0,)
    ),
    "component_sizes": lambda: _call(_N + "functional.component_sizes", (_i(4, 8, 8, 8),)),
    "fill_nearest": lambda: _call(_N + "functional.fill_nearest", (_BLOB, _BLOB > 0)),
    "mse": lambda: _call(_N + "functional.mse", (_VOLUME, _VOLUME)),
    "dice": lambda: _call(_N + "nn.functional.dice", (_u(2, 3, 8, 8), _u(2, 3, 8, 8))),
    "ncc": lambda: _call(_N + "nn.functional.ncc", (_VOLUME, _VOLUME, 3)),
    "spatial_gradient": lambda: _call(_N + "nn.functional.spatial_gradient", (_VOLUME,)),
    "zscore": lambda: _call(_N + "functional.zscore", (_VOLUME,)),
    "apply_bernoulli_mask": lambda: _call(_N + "functional.apply_bernoulli_mask", (_VOLUME,), (_VOLUME, 0.5, "all")),
    "resample": lambda: _using(_N + "nn.functional.resample", lambda f, x: f(x, scale_factor=0.5), (_VOLUME,)),
    "pad_to_multiple_of": lambda: _call(_N + "nn.functional.pad_to_multiple_of", (_t(1, 1, 7, 9), 4)),
    "mask_border": lambda: _call(_N + "nn.functional.mask_border", ((_u(1, 1, 8, 8) > 0.3), 1)),
    "one_hot": lambda: _call(_N + "nn.functional.one_hot", (_LABELS,), (_LABELS, 4)),
    "filter_dim": lambda: _call(_N + "functional.filter_dim", (_t(3, 4).round(), 0)),
    "gaussian_smoothing": lambda: _call(_N + "nn.functional.gaussian_smoothing", (_VOLUME, 1.0)),
    "sample_image_from_labels": lambda: _call(_N + "nn.functional.sample_image_from_labels", (_LABELS,)),
    "normalize_reference_intensity": lambda: _call(
        _N + "nn.functional.normalize_reference_intensity", (_VOLUME, _VOLUME > 0.5)
    ),
    "sample_locations_in_mask": lambda: _call(_N + "nn.functional.sample_locations_in_mask", (_VOLUME > 0.5, 5)),
    "locs_to_mask": lambda: _call(_N + "nn.functional.locs_to_mask", (_i(8, 2, 5, 3), (8, 8, 8))),
    "crop": lambda: _using(_N + "nn.functional.crop", lambda f, x: f(x, size=(4, 4, 4)), (_VOLUME,)),
    "random_smoothed_noise": lambda: _using(
        _N + "nn.functional.random_smoothed_noise", lambda f, x: f((1, 1, 8, 8)) + x, (_t(8, 8),)
    ),
    "BasicUNet": lambda: _made(_N + "nn.models.BasicUNet", [(_u(1, 1, 32, 32),)], 2, 1, 2, (4, 4)),
    "Dice module": lambda: _made(_N + "nn.modules.Dice", [(_u(2, 3, 8, 8), _u(2, 3, 8, 8))]),
}

_V = "voxelmorph."
_FLOW = _t(1, 3, 8, 8, 8)
_VOXELMORPH: dict[str, Callable[[], Built]] = {
    "angles_to_rotation_matrix": lambda: _call(_V + "functional.angles_to_rotation_matrix", (_t(3),), (_t(1),)),
    "params_to_affine": lambda: _call(_V + "functional.params_to_affine", (3, _t(3), _t(3), _t(3), _t(3))),
    "random_affine": lambda: _using(_V + "functional.random_affine", lambda f, x: f(3, 2.0, 5.0, 1.1) * x, (_t(1),)),
    "affine_to_disp": lambda: _using(
        _V + "functional.affine_to_disp", lambda f, a: f(a, shape=(8, 8, 8)), (torch.eye(4)[:3],)
    ),
    "spatial_transform": lambda: _call(_V + "nn.functional.spatial_transform", (_u(1, 1, 8, 8, 8), _FLOW)),
    "integrate_disp": lambda: _call(_V + "nn.functional.integrate_disp", (_FLOW, 3)),
    "integrate_vec": lambda: _call(_V + "nn.functional.integrate_vec", (_FLOW, 3)),
    "compose": lambda: _call(_V + "functional.compose", ([torch.eye(4)[:3], torch.eye(4)[:3]],)),
    "is_affine_shape": lambda: _using(
        _V + "functional.is_affine_shape", lambda f, x: x if f(x.shape) else -x, (_t(3, 4),)
    ),
    "make_square_affine": lambda: _call(_V + "functional.make_square_affine", (_t(3, 4),)),
    "random_disp": lambda: _using(_V + "functional.random_disp", lambda f, x: f((8, 8), 4, 2.0) * x, (_t(1),)),
    "random_transform": lambda: _using(_V + "functional.random_transform", lambda f, x: f((8, 8)) * x, (_t(1),)),
    "VxmPairwise": lambda: _made(_V + "nn.models.VxmPairwise", [(_u(1, 1, 16, 16), _u(1, 1, 16, 16))], 2, 1, 1, (4, 4)),
    "SpatialTransformer": lambda: _made(_V + "nn.modules.SpatialTransformer", [(_u(1, 1, 8, 8, 8), _FLOW)]),
    "IntegrateVelocityField": lambda: _made(_V + "nn.modules.IntegrateVelocityField", [(_FLOW,)], steps=2),
    "ResizeDisplacementField": lambda: _made(_V + "nn.modules.ResizeDisplacementField", [(_FLOW,)], 0.5),
}

_H = "hypnettorch."
_SHAPES = [[10, 4], [10], [3, 10], [3]]
_OF_TASKS = {"cond_in_size": 4, "num_cond_embs": 3, "verbose": False}
_HYPNET: dict[str, Callable[[], Built]] = {
    "MLP": lambda: _made(_H + "mnets.mlp.MLP", [(_t(5, 4),)], 4, 3, verbose=False),
    "MLP norm": lambda: _made(
        _H + "mnets.mlp.MLP", [(_t(5, 4),)], 4, 3, use_batch_norm=True, dropout_rate=0.2, verbose=False
    ),
    "MLP weights": lambda: held(
        lambda: _get(_H + "mnets.mlp.MLP")(4, 3, (10,), no_weights=True, verbose=False),
        lambda make, x, *w: make().forward(x, weights=list(w)),
        (_t(5, 4), *(_t(*s) for s in _SHAPES)),
    ),
    "LeNet": lambda: _made(_H + "mnets.lenet.LeNet", [(_t(2, 28 * 28),)], verbose=False),
    "ZenkeNet": lambda: _made(_H + "mnets.zenkenet.ZenkeNet", [(_t(2, 3 * 32 * 32),)], verbose=False),
    "SimpleRNN": lambda: _made(_H + "mnets.simple_rnn.SimpleRNN", [(_t(6, 2, 3),)], 3, use_lstm=True, verbose=False),
    "HMLP": lambda: _made(_H + "hnets.mlp_hnet.HMLP", [{"cond_id": 1}], _SHAPES, layers=(8,), **_OF_TASKS),
    "HMLP inputs": lambda: _made(
        _H + "hnets.mlp_hnet.HMLP", [{"cond_input": _t(1, 4)}], _SHAPES, layers=(8,), **_OF_TASKS
    ),
    "ChunkedHMLP": lambda: _made(
        _H + "hnets.chunked_mlp_hnet.ChunkedHMLP", [{"cond_id": 1}], _SHAPES, 20, layers=(8,), **_OF_TASKS
    ),
    "BatchNormLayer": lambda: _made(_H + "utils.batchnorm_layer.BatchNormLayer", [(_t(5, 4),)], 4),
    "ContextModLayer": lambda: _made(_H + "utils.context_mod_layer.ContextModLayer", [(_t(5, 4),)], 4),
    "SelfAttnLayer": lambda: _made(_H + "utils.self_attention_layer.SelfAttnLayer", [(_t(2, 8, 4, 4),)], 8, False),
    "SelfAttnLayerV2": lambda: _made(_H + "utils.self_attention_layer.SelfAttnLayerV2", [(_t(2, 8, 4, 4),)], 8, False),
    "LocalConv2d": lambda: _made(_H + "utils.local_conv2d_layer.LocalConv2dLayer", [(_t(2, 3, 6, 6),)], 3, 4, 6, 6, 3),
    "log_prob_standard_normal_prior": lambda: _call(_H + "utils.hmc.log_prob_standard_normal_prior", (_t(4, 1),)),
    "gan losses": lambda: _using(
        _H + "utils.gan_helpers.dis_loss", lambda f, a, b: [f(a, b, n) for n in range(3)], (_t(5, 1), _t(5, 1))
    ),
    "gan accuracy": lambda: _call(_H + "utils.gan_helpers.accuracy", (_t(5, 1), _t(5, 1), 2)),
    "concat_mean_stats": lambda: _call(_H + "utils.gan_helpers.concat_mean_stats", (_t(5, 3),)),
}

_C = "complextorch.nn.modules."


def _complex(*shape: int) -> torch.Tensor:
    return complex_normal(_t, *shape)


_Z = _complex(2, 4, 8)
_COMPLEX: dict[str, Callable[[], Built]] = {
    "BatchNorm1d": lambda: _made(_C + "batchnorm.BatchNorm1d", [(_Z,)], 4),
    "NaiveBatchNorm1d": lambda: _made(_C + "batchnorm.NaiveBatchNorm1d", [(_Z,)], 4),
    "MagBatchNorm1d": lambda: _made(_C + "batchnorm.MagBatchNorm1d", [(_Z,)], 4),
    "Conv1d": lambda: _made(_C + "conv.Conv1d", [(_Z,)], 4, 3, 3),
    "ConvTranspose1d": lambda: _made(_C + "conv.ConvTranspose1d", [(_Z,)], 4, 3, 3),
    "Dropout": lambda: _made(_C + "dropout.Dropout", [(_Z,)]),
    "STFT": lambda: _made(_C + "frontend.STFT", [(_t(2, 128),)], 16),
    "InverseSTFT": lambda: _made(_C + "frontend.InverseSTFT", [(_complex(2, 9, 12),)], 16),
    "ComplexGaborConv1d": lambda: _made(_C + "frontend.ComplexGaborConv1d", [(_t(2, 1, 32),)], 1, 4, 5),
    "GroupNorm": lambda: _made(_C + "groupnorm.GroupNorm", [(_Z,)], 2, 4),
    "CVKANLayer": lambda: _made(_C + "kan.CVKANLayer", [(_complex(3, 4),)], 4, 3),
    "LayerNorm": lambda: _made(_C + "layernorm.LayerNorm", [(_Z,)], 8),
    "Bilinear": lambda: _made(_C + "linear.Bilinear", [(_complex(3, 4), _complex(3, 5))], 4, 5, 2),
    "SSIM": lambda: _made(_C + "loss.SplitSSIM", [(_complex(2, 1, 12, 12), _complex(2, 1, 12, 12))]),
    "PerpLossSSIM": lambda: _made(_C + "loss.PerpLossSSIM", [(_complex(2, 1, 12, 12), _complex(2, 1, 12, 12))]),
    "AnalyticSignalLoss": lambda: _made(_C + "loss.AnalyticSignalLoss", [(_Z,)]),
    "phase_smoothness": lambda: _call(_C + "loss.phase_smoothness", (_Z,)),
    "wFMConv2d": lambda: _made(_C + "manifold.wFMConv2d", [(_complex(2, 3, 6, 6),)], 3, 4, (3, 3)),
    "wFMReLU": lambda: _made(_C + "manifold.wFMReLU", [(_complex(2, 3, 6, 6),)], 3),
    "PhaseDivConv2d": lambda: _made(_C + "phase_modulation.PhaseDivConv2d", [(_complex(2, 3, 6, 6),)], 3, 3),
    "MagMaxPool1d": lambda: _made(_C + "pooling.MagMaxPool1d", [(_Z,)], 2),
    "SpectralPool1d": lambda: _made(_C + "pooling.SpectralPool1d", [(_Z,)], 4),
    "RotaryEmbedding": lambda: _made(_C + "position.RotaryEmbedding", [(_Z,)], 8),
    "GRU": lambda: _made(_C + "rnn.GRU", [(_complex(5, 2, 4),)], 4, 3),
    "LSTM": lambda: _made(_C + "rnn.LSTM", [(_complex(5, 2, 4),)], 4, 3, bidirectional=True),
    "MultiheadAttention": lambda: _made(
        _C + "attention.MultiheadAttention", [(_complex(2, 5, 8), _complex(2, 5, 8), _complex(2, 5, 8))], 2, 8, 4, 4
    ),
    "HolographicAttention": lambda: _made(
        _C + "attention.holographic.HolographicAttention",
        [(_complex(2, 5, 8), _complex(2, 5, 8), _complex(2, 5, 8))],
        1.0,
    ),
    "ECA": lambda: _made(_C + "attention.eca.EfficientChannelAttention1d", [(_Z,)], 4),
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("fightingcv_attention", _FIGHTING),
    **_named("neurite", _NEURITE),
    **_named("voxelmorph", _VOXELMORPH),
    **_named("hypnettorch", _HYPNET),
    **_named("complextorch", _COMPLEX),
}

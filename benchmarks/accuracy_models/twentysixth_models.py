"""Models of merlion, pykt and dynamic-network-architectures.

They were chosen after all of the twenty-fifth group, and written before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter, without_packages

_t, _u, _i = random_inputs(101)
_ABSENT = {
    "merlion": ("statsmodels", "prophet", "matplotlib", "plotly", "dill", "lightgbm", "py4j", "cython"),
    "pykt": ("wandb",),
    "dynamic_network_architectures": ("timm",),
}
_BARE = (
    *("merlion", "merlion.models", "merlion.models.anomaly", "merlion.models.forecast"),
    *("merlion.models.utils", "merlion.models.utils.nn_modules"),
    *("pykt", "pykt.models"),
)


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_B, _EM = "merlion.models.utils.nn_modules.blocks.", "merlion.models.utils.nn_modules.embed."
_LA, _AN = "merlion.models.utils.nn_modules.layers.", "merlion.models.anomaly."
_QKV = (_t(2, 12, 2, 4), _t(2, 12, 2, 4), _t(2, 12, 2, 4))


def _lazy(path: str, inputs: list[Any], *given: Any, **options: Any) -> Callable[[], Built]:
    """A model of a class, whose arguments that are partial functions are called first."""
    return lambda: _made(path, inputs, *(g() if isinstance(g, partial) else g for g in given), **options)


def _of(path: str, *given: Any, **options: Any) -> Any:
    """An object that another one is made of."""
    return partial(lambda: _get(path)(*given, **options))


_MERLION: dict[str, Callable[[], Built]] = {
    "AutoCorrelation": _lazy(_B + "AutoCorrelation", [(*_QKV, None)]),
    "FullAttention": _lazy(_B + "FullAttention", [(*_QKV, None)]),
    "FullAttention no mask": _lazy(_B + "FullAttention", [(*_QKV, None)], False),
    "ProbAttention": _lazy(_B + "ProbAttention", [(*_QKV, None)]),
    "ProbAttention no mask": _lazy(_B + "ProbAttention", [(*_QKV, None)], False),
    "SeriesDecomposeBlock": _lazy(_B + "SeriesDecomposeBlock", [(_t(2, 12, 4),)], 5),
    "SeasonalLayernorm": _lazy(_B + "SeasonalLayernorm", [(_t(2, 12, 4),)], 4),
    "conv1d_fft": lambda: _call(_B + "conv1d_fft", (_t(2, 12, 4), _t(2, 12, 4)), dim=1),
    "ExponentialSmoothing": _lazy(_B + "ExponentialSmoothing", [(_t(2, 12, 2, 4),)], 4, 2),
    "ExponentialSmoothing aux": _lazy(
        _B + "ExponentialSmoothing", [(_t(2, 12, 2, 4), _t(2, 12, 2, 4))], 4, 2, aux=True
    ),
    "PositionalEmbedding": _lazy(_EM + "PositionalEmbedding", [(_t(2, 12, 4),)], 8),
    "TokenEmbedding": _lazy(_EM + "TokenEmbedding", [(_t(2, 12, 4),)], 4, 8),
    "TemporalEmbedding": _lazy(_EM + "TemporalEmbedding", [(_i(4, 2, 12, 5),)], 8, freq="t"),
    "TimeFeatureEmbedding": _lazy(_EM + "TimeFeatureEmbedding", [(_t(2, 12, 4),)], 8),
    "DataEmbedding": _lazy(_EM + "DataEmbedding", [(_t(2, 12, 4), _t(2, 12, 4))], 4, 8, "timeF"),
    "ETSEmbedding": _lazy(_EM + "ETSEmbedding", [(_t(2, 12, 4),)], 4, 8),
    "AttentionLayer": _lazy(
        _LA + "AttentionLayer", [(_t(2, 12, 8), _t(2, 12, 8), _t(2, 12, 8), None)], _of(_B + "FullAttention"), 8, 2
    ),
    "AutoCorrelationLayer": _lazy(
        _LA + "AutoCorrelationLayer",
        [(_t(2, 12, 8), _t(2, 12, 8), _t(2, 12, 8), None)],
        _of(_B + "AutoCorrelation"),
        8,
        2,
    ),
    "ConvLayer": _lazy(_LA + "ConvLayer", [(_t(2, 12, 4),)], 4),
    "MLPLayer": _lazy(_LA + "MLPLayer", [(_t(2, 12, 4),)], 4, 8),
    "GrowthLayer": _lazy(_LA + "GrowthLayer", [(_t(2, 12, 8),)], 8, 2),
    "FourierLayer": _lazy(_LA + "FourierLayer", [(_t(2, 12, 8),)], 8, 4, 2),
    "LevelLayer": _lazy(_LA + "LevelLayer", [(_t(2, 12, 3), _t(2, 12, 8), _t(2, 12, 8))], 8, 3),
    "DampingLayer": _lazy(_LA + "DampingLayer", [(_t(2, 1, 8),)], 4, 2),
    "AEModule": _lazy(_AN + "autoencoder.AEModule", [(_t(3, 6),)], 6, 2, [5, 4]),
    "AEModule loss": lambda: _method(_AN + "autoencoder.AEModule", "loss", [(_t(3, 6),)], 6, 2, [5, 4]),
    "CVAE": _lazy(_AN + "vae.CVAE", [(_t(3, 6), _t(3, 6))], 6, 6, [5], [5], 2),
    "CVAE without": _lazy(_AN + "vae.CVAE", [(_t(3, 6), None)], 6, 0, [5], [5], 2),
    "DAGMM": _lazy(
        _AN + "dagmm.DAGMMModule", [(_t(6, 4, 3),)], _of(_AN + "dagmm.AEModule", 3, 4, 5), 2, 7, torch.device("cpu")
    ),
    "DAGMM loss": lambda: held(
        _get(_AN + "dagmm.DAGMMModule")(_get(_AN + "dagmm.AEModule")(3, 4, 5), 2, 7, torch.device("cpu")),
        lambda m, x: m.loss_func(x, *m(x)[2:3], *m(x)[3:5], 0.1, 0.005),
        (_t(6, 4, 3),),
    ),
    "LSTMED": _lazy(_AN + "lstm_ed.LSTMEDModule", [(_t(2, 6, 3),)], 3, 4, (1, 1), (0.0, 0.0), torch.device("cpu")),
    "MLPNet": _lazy(_AN + "deep_point_anomaly_detector.MLPNet", [(_t(5, 3),)], 3, 2, (8, 8)),
    "dnn score": lambda: _call(
        _AN + "deep_point_anomaly_detector.get_dnn_loss_as_anomaly_score", (_t(40, 2), _t(40, 1)), use_cuda=False
    ),
    "normalize_data": lambda: _call(_AN + "deep_point_anomaly_detector.normalize_data", (_t(40, 2),)),
}


def _forecaster(name: str, **options: Any) -> Built:
    """A network that forecasts, of what a configuration holds."""
    settings = {
        "n_past": 12,
        "max_forecast_steps": 4,
        "moving_avg": 3,
        "dim": 2,
        "encoder_input_size": 2,
        "decoder_input_size": 2,
        "num_encoder_layers": 2,
        "num_decoder_layers": 1,
        "start_token_len": 3,
        "factor": 3,
        "model_dim": 8,
        "embed": "timeF",
        "dropout": 0.05,
        "activation": "sigmoid" if name == "ETSformer" else "gelu",
        "n_heads": 2,
        "fcn_dim": 16,
        "c_out": 2,
        "ts_encoding": "h",
        "distil": True,
        "top_K": 2,
        "sigma": 0.2,
        "target_seq_index": None,
        "hidden_size": 6,
        "num_hidden_layers": 2,
        "lags_seq": [1],
        "num_prediction_samples": 3,
        "loss_fn": None,
        "transform": None,
    } | options
    model = _get(f"merlion.models.forecast.{name.lower()}.{name}Model")(SimpleNamespace(**settings))
    return model, [(_t(2, 12, 2), _t(2, 12, 4), _t(2, 4, 4))]


_MERLION |= {name: partial(_forecaster, name) for name in ("Autoformer", "ETSformer", "Informer", "Transformer")}
_MERLION |= {"Informer no distil": partial(_forecaster, "Informer", distil=False)}

_PK = "pykt.models."
_Q, _R = _i(6, 3, 10), _i(2, 3, 10)
_GAPS = {k: _i(4, 3, 10) for k in ("rgaps", "sgaps", "pcounts", "shft_rgaps", "shft_sgaps", "shft_pcounts")}
_PYKT: dict[str, Callable[[], Built]] = {
    "DKT": _lazy(_PK + "dkt.DKT", [(_Q, _R)], 6, 8),
    "DKTPlus": _lazy(_PK + "dkt_plus.DKTPlus", [(_Q, _R)], 6, 8, 0.1, 0.1, 0.1),
    "DKTForget": _lazy(_PK + "dkt_forget.DKTForget", [(_Q, _R, _GAPS)], 6, 5, 5, 5, 8),
    "DKVMN": _lazy(_PK + "dkvmn.DKVMN", [(_Q, _R)], 6, 8, 5),
    "DKVMN qtest": _lazy(_PK + "dkvmn.DKVMN", [(_Q, _R, True)], 6, 8, 5),
    "DeepIRT": _lazy(_PK + "deep_irt.DeepIRT", [(_Q, _R)], 6, 8, 5),
    "SAKT": _lazy(_PK + "sakt.SAKT", [(_Q, _R, _i(6, 3, 10))], 6, 10, 8, 2, 0.1),
    "AKT": _lazy(_PK + "akt.AKT", [(_Q, _R, _i(5, 3, 10))], 6, 5, 8, 2, 0.1, d_ff=8, final_fc_dim=16, num_attn_heads=2),
    "AKT no problems": _lazy(
        _PK + "akt.AKT", [(_Q, _R)], 6, 0, 8, 1, 0.1, d_ff=8, final_fc_dim=16, num_attn_heads=2, separate_qa=True
    ),
    "ATKT": _lazy(_PK + "atkt.ATKT", [(_Q, _R)], 6, 8, 8, 8, attention_dim=4, fix=False),
    "ATKT fix": _lazy(_PK + "atkt.ATKT", [(_Q, _R)], 6, 8, 8, 8, attention_dim=4),
    "KQN": _lazy(_PK + "kqn.KQN", [(_Q, _R, _i(6, 3, 10))], 6, 8, 8, 8, 0.1),
    "KQN gru": _lazy(_PK + "kqn.KQN", [(_Q, _R, _i(6, 3, 10))], 6, 8, 8, 8, 0.1, rnn_type="gru"),
    "LPKT": _lazy(
        _PK + "lpkt.LPKT",
        [(_Q, _R, _i(5, 3, 10), _i(5, 3, 10))],
        *(5, 5, 6, 6, 8, 8, 8),
        q_matrix=torch.full((7, 7), 0.1),
    ),
    "LPKT no time": _lazy(
        _PK + "lpkt.LPKT", [(_Q, _R)], *(5, 5, 6, 6, 8, 8, 8), q_matrix=torch.full((7, 7), 0.1), use_time=False
    ),
    "SKVMN": _lazy(_PK + "skvmn.SKVMN", [(_Q, _R)], 6, 8, 5),
    "GKT": _lazy(_PK + "gkt.GKT", [(_Q, _R)], 6, 8, 8, graph=_u(6, 6)),
    "mygru": _lazy(_PK + "iekt_utils.mygru", [(_t(3, 4), _t(3, 5))], 1, 4, 5),
    "funcs": _lazy(_PK + "iekt_utils.funcs", [(_t(3, 4),)], 1, 4, 2, 0.1),
    "EraseAddGate": _lazy(_PK + "gkt.EraseAddGate", [(_t(3, 6, 4),)], 4, 6),
    "GKT MLP": _lazy(_PK + "gkt.MLP", [(_t(3, 6, 4),)], 4, 8, 5),
    "ut_mask": lambda: _using(_PK + "utils.ut_mask", lambda f, x: f(x.shape[1]) & x.bool(), (_i(2, 4, 4),)),
    "CosinePositionalEmbedding": _lazy(_PK + "akt.CosinePositionalEmbedding", [(_t(2, 6, 8),)], 8),
}

_D = "dynamic_network_architectures."
_NET = {"conv_op": nn.Conv2d, "kernel_sizes": 3, "strides": [1, 2, 2], "conv_bias": True}
_NORM = {"norm_op": nn.InstanceNorm2d, "norm_op_kwargs": {}, "nonlin": nn.LeakyReLU, "nonlin_kwargs": {"inplace": True}}
_X = [(_t(1, 1, 16, 16),), (_t(1, 1, 32, 32),)]
_DYN: dict[str, Callable[[], Built]] = {
    "PlainConvUNet": lambda: _made(
        _D + "architectures.unet.PlainConvUNet",
        _X,
        *(1, 3, (4, 8, 8)),
        **_NET,
        n_conv_per_stage=1,
        num_classes=2,
        n_conv_per_stage_decoder=1,
        deep_supervision=True,
        **_NORM,
    ),
    "ResidualEncoderUNet": lambda: _made(
        _D + "architectures.unet.ResidualEncoderUNet",
        _X,
        *(1, 3, (4, 8, 8)),
        **_NET,
        n_blocks_per_stage=1,
        num_classes=2,
        n_conv_per_stage_decoder=1,
        **_NORM,
    ),
    "ResidualUNet": lambda: _made(
        _D + "architectures.unet.ResidualUNet",
        _X,
        *(1, 3, (4, 8, 8)),
        **_NET,
        n_blocks_per_stage=1,
        num_classes=2,
        n_conv_per_stage_decoder=1,
        **_NORM,
    ),
    "PlainConvEncoder": lambda: _made(
        _D + "building_blocks.plain_conv_encoder.PlainConvEncoder",
        _X,
        *(1, 3, (4, 8, 8)),
        **_NET,
        n_conv_per_stage=1,
        pool="max",
    ),
    "BasicBlockD": lambda: _made(
        _D + "building_blocks.residual.BasicBlockD", [(_t(1, 4, 8, 8),)], nn.Conv2d, 4, 6, 3, 2, squeeze_excitation=True
    ),
    "BasicBlockD depth": lambda: _made(
        _D + "building_blocks.residual.BasicBlockD",
        [(_t(1, 4, 8, 8),)],
        *(nn.Conv2d, 4, 4, 3, 1),
        stochastic_depth_p=0.3,
    ),
    "BottleneckD": lambda: _made(
        _D + "building_blocks.residual.BottleneckD", [(_t(1, 4, 8, 8),)], nn.Conv2d, 4, 2, 6, 3, 2
    ),
    "StackedResidualBlocks": lambda: _made(
        _D + "building_blocks.residual.StackedResidualBlocks", [(_t(1, 4, 8, 8),)], 2, nn.Conv2d, 4, 6, 3, 2
    ),
    "SqueezeExcite": lambda: _made(
        _D + "building_blocks.regularization.SqueezeExcite", [(_t(1, 8, 4, 4),)], 8, nn.Conv2d
    ),
    "DropPath": lambda: _made(_D + "building_blocks.regularization.DropPath", [(_t(3, 8, 4),)], 0.3),
    "LayerNormNd": lambda: _made(_D + "building_blocks.patch_encode_decode.LayerNormNd", [(_t(1, 4, 8, 8, 8),)], 4),
    "PatchEmbed": lambda: _made(
        _D + "building_blocks.patch_encode_decode.PatchEmbed", [(_t(1, 1, 16, 16, 16),)], 8, 1, 6
    ),
    "VGG16_cifar": lambda: _made(_D + "architectures.vgg.VGG16_cifar", [(_t(1, 3, 32, 32),)], 10),
    "ResNet18_CIFAR": lambda: _made(_D + "architectures.resnet.ResNet18_CIFAR", [(_t(2, 3, 32, 32),)], 10),
    "ResNet50bn_CIFAR": lambda: _made(_D + "architectures.resnet.ResNet50bn_CIFAR", [(_t(2, 3, 32, 32),)], 10),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"merlion/{name}": build for name, build in _MERLION.items()},
    **{f"pykt/{name}": build for name, build in _PYKT.items()},
    **{f"dynamic_network_architectures/{name}": build for name, build in _DYN.items()},
}

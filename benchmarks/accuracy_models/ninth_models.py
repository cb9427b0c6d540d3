"""Models of packages that were chosen and run after the work on the eighth group, before anything was changed for them.

Of pytorch-forecasting, dasp-pytorch, bayesian-torch, blitz-bayesian-pytorch, torch-harmonics, pykeen, hypll, diffsort,
rtdl-num-embeddings, rtdl-revisiting-models, torch-dftd, se3-transformer-pytorch, invariant-point-attention,
equiformer-pytorch and pytorchcv. A few models of some of these stand in `science.py`: their packages were not installed
when the first group ran.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch

from accuracy_models import Built
from accuracy_models.inputs import models_by_name, random_inputs
from accuracy_models.stand_ins import without

_t, _u, _i = random_inputs(9)


def _get(path: str) -> Any:
    module, _, name = path.rpartition(".")
    if module.startswith("pytorchcv"):
        without("torchvision.transforms", "torchvision.datasets", "torchvision.ops")
    return getattr(importlib.import_module(module), name)


_call, _made = models_by_name(_get)


def _rotations(count: int = 4) -> torch.Tensor:
    return torch.linalg.qr(_t(count, 3, 3))[0]


_F = "pytorch_forecasting.metrics."
_S = "pytorch_forecasting.models.temporal_fusion_transformer.sub_modules."


def _metric(name: str, shape: tuple[int, ...], **options: Any) -> Built:
    made = _get(_F + name)(**options)
    return (lambda y, target: made.loss(y, target)), [(_u(*shape), _u(2, 6) + 0.5)]


def _updated(name: str, shape: tuple[int, ...], **options: Any) -> Built:
    made = _get(_F + name)(**options)

    def run(y: torch.Tensor, target: torch.Tensor) -> Any:
        made.update(y, target)
        return made.compute()

    return run, [(_u(*shape), _u(2, 6) + 0.5)]


_FORECASTING: dict[str, Callable[[], Built]] = {
    "MAE": lambda: _metric("MAE", (2, 6, 1)),
    "MAPE": lambda: _metric("MAPE", (2, 6, 1)),
    "SMAPE": lambda: _metric("SMAPE", (2, 6, 1)),
    "RMSE": lambda: _metric("RMSE", (2, 6, 1)),
    "PoissonLoss": lambda: _metric("PoissonLoss", (2, 6, 1)),
    "TweedieLoss": lambda: _metric("TweedieLoss", (2, 6, 1)),
    "QuantileLoss": lambda: _metric("QuantileLoss", (2, 6, 3), quantiles=[0.1, 0.5, 0.9]),
    "MAE updated": lambda: _updated("MAE", (2, 6, 1)),
    "QuantileLoss updated": lambda: _updated("QuantileLoss", (2, 6, 3), quantiles=[0.1, 0.5, 0.9]),
    "GatedLinearUnit": lambda: _made(_S + "GatedLinearUnit", [(_t(2, 6, 4),)], 4),
    "ResampleNorm": lambda: _made(_S + "ResampleNorm", [(_t(2, 6, 4),)], 4, 8),
    "GateAddNorm": lambda: _made(_S + "GateAddNorm", [(_t(2, 6, 4), _t(2, 6, 4))], 4),
    "GatedResidualNetwork": lambda: _made(_S + "GatedResidualNetwork", [(_t(2, 6, 4),)], 4, 8, 4),
    "InterpretableMultiHeadAttention": lambda: _made(
        _S + "InterpretableMultiHeadAttention", [(_t(2, 6, 8), _t(2, 6, 8), _t(2, 6, 8))], 2, 8
    ),
    "NBEATSGenericBlock": lambda: _made(
        "pytorch_forecasting.models.nbeats.sub_modules.NBEATSGenericBlock", [(_t(2, 6),)], 8, 4, 2, 6, 3
    ),
    "NBEATSSeasonalBlock": lambda: _made(
        "pytorch_forecasting.models.nbeats.sub_modules.NBEATSSeasonalBlock",
        [(_t(2, 6),)],
        8,
        num_block_layers=2,
        backcast_length=6,
        forecast_length=3,
    ),
    "NBEATSTrendBlock": lambda: _made(
        "pytorch_forecasting.models.nbeats.sub_modules.NBEATSTrendBlock",
        [(_t(2, 6),)],
        8,
        thetas_dim=3,
        num_block_layers=2,
        backcast_length=6,
        forecast_length=3,
    ),
    "MultiEmbedding": lambda: _made(
        "pytorch_forecasting.models.nn.MultiEmbedding",
        [(_i(3, 2, 6, 1),)],
        embedding_sizes={"a": (4, 3)},
        x_categoricals=["a"],
    ),
}


_D = "dasp_pytorch.functional."


def _effect(name: str, *parameters: Any, channels: int = 1, **options: Any) -> Built:
    return _call(_D + name, (_t(2, channels, 512), 16000, *parameters), **options)


_DASP: dict[str, Callable[[], Built]] = {
    "gain": lambda: _effect("gain", _t(2)),
    "stereo_widener": lambda: _effect("stereo_widener", _u(2, 1), channels=2),
    "stereo_panner": lambda: _effect("stereo_panner", _u(2, 1)),
    "distortion": lambda: _effect("distortion", _t(2)),
    "compressor": lambda: _effect("compressor", -20 * _u(2), 2 + _u(2), 5 + _u(2), 50 + _u(2), 3 + _u(2), _u(2)),
    "parametric_eq": lambda: _effect(
        "parametric_eq", *(value for at in range(6) for value in (_t(2), 100 + 500 * (at + _u(2)), 0.5 + _u(2)))
    ),
}

_B = "bayesian_torch.layers."

_BAYESIAN: dict[str, Callable[[], Built]] = {
    "LinearReparameterization": lambda: _made(_B + "LinearReparameterization", [(_t(2, 4),)], 4, 3),
    "LinearFlipout": lambda: _made(_B + "LinearFlipout", [(_t(2, 4),)], 4, 3),
    "Conv1dReparameterization": lambda: _made(_B + "Conv1dReparameterization", [(_t(2, 4, 8),)], 4, 3, 3),
    "Conv2dReparameterization": lambda: _made(_B + "Conv2dReparameterization", [(_t(2, 4, 8, 8),)], 4, 3, 3),
    "Conv2dFlipout": lambda: _made(_B + "Conv2dFlipout", [(_t(2, 4, 8, 8),)], 4, 3, 3),
    "ConvTranspose2dReparameterization": lambda: _made(
        _B + "ConvTranspose2dReparameterization", [(_t(2, 4, 8, 8),)], 4, 3, 3
    ),
    "LSTMReparameterization": lambda: _made(_B + "LSTMReparameterization", [(_t(2, 5, 4),)], 4, 3),
    "LSTMFlipout": lambda: _made(_B + "LSTMFlipout", [(_t(2, 5, 4),)], 4, 3),
    "BatchNorm2dLayer": lambda: _made(_B + "BatchNorm2dLayer", [([_t(2, 4, 3, 3), torch.tensor(0.0)],)], 4),
}

_Z = "blitz.modules."

_BLITZ: dict[str, Callable[[], Built]] = {
    "BayesianLinear": lambda: _made(_Z + "BayesianLinear", [(_t(2, 4),)], 4, 3),
    "BayesianConv2d": lambda: _made(_Z + "BayesianConv2d", [(_t(2, 4, 8, 8),)], 4, 3, (3, 3)),
    "BayesianLSTM": lambda: _made(_Z + "BayesianLSTM", [(_t(2, 5, 4),)], 4, 3),
    "BayesianGRU": lambda: _made(_Z + "BayesianGRU", [(_t(2, 5, 4),)], 4, 3),
    "BayesianEmbedding": lambda: _made(_Z + "BayesianEmbedding", [(_i(6, 2, 5),)], 6, 3),
}

_H = "torch_harmonics."


def _sphere(name: str, *given: Any, shape: tuple[int, ...] = (2, 8, 16), **options: Any) -> Built:
    return _made(_H + name, [(_t(*shape),)], *given, **options)


_HARMONICS: dict[str, Callable[[], Built]] = {
    "RealSHT": lambda: _sphere("RealSHT", 8, 16),
    "RealSHT lobatto": lambda: _sphere("RealSHT", 8, 16, grid="lobatto"),
    "InverseRealSHT": lambda: _made(
        _H + "InverseRealSHT", [(torch.complex(_t(2, 4, 4), _t(2, 4, 4)),)], 8, 16, lmax=4, mmax=4
    ),
    "RealVectorSHT": lambda: _sphere("RealVectorSHT", 8, 16, shape=(2, 2, 8, 16)),
    "ResampleS2": lambda: _sphere("ResampleS2", 8, 16, 12, 24, shape=(2, 3, 8, 16)),
    "DiscreteContinuousConvS2": lambda: _sphere(
        "DiscreteContinuousConvS2", 3, 4, (8, 16), (8, 16), 3, theta_cutoff=0.6, shape=(2, 3, 8, 16)
    ),
    "SpectralConvS2": lambda: _sphere("SpectralConvS2", (8, 16), (8, 16), 3, 4, shape=(2, 3, 8, 16)),
    "QuadratureS2": lambda: _sphere("QuadratureS2", (8, 16), shape=(2, 3, 8, 16)),
    "AttentionS2": lambda: _made(
        _H + "AttentionS2", [(_t(2, 4, 8, 16), _t(2, 4, 8, 16), _t(2, 4, 8, 16))], 4, 2, (8, 16), (8, 16)
    ),
}

_K = "pykeen.nn.modules."


def _triples(name: str, h: tuple[int, ...] = (4,), r: tuple[int, ...] | None = (4,), **options: Any) -> Built:
    made = _get(f"{_K}{name}Interaction")(**options)
    relation = () if r is None else (_t(5, *r),)
    return (lambda *parts: made(*parts)), [(_t(5, *h), *relation, _t(5, *h))]


def _ranking(name: str, **options: Any) -> Built:
    made = _get(f"pykeen.losses.{name}")(**options)
    return (
        lambda positive, negative: made.process_slcwa_scores(positive, negative),
        [(_t(5, 1), _t(5, 3))],
    )


_PYKEEN: dict[str, Callable[[], Built]] = {
    "TransE": lambda: _triples("TransE", p=2),
    "DistMult": lambda: _triples("DistMult"),
    "SimplE": lambda: _simple(),
    "HolE": lambda: _triples("HolE"),
    "ProjE": lambda: _triples("ProjE", embedding_dim=4),
    "ERMLP": lambda: _triples("ERMLP", embedding_dim=4, hidden_dim=6),
    "ERMLPE": lambda: _triples("ERMLPE", embedding_dim=4),
    "RESCAL": lambda: _triples("RESCAL", (4,), (4, 4)),
    "UM": lambda: _made(_K + "TransEInteraction", [(_t(5, 4), _t(5, 4), _t(5, 4))], p=1),
    "ConvKB": lambda: _triples("ConvKB", embedding_dim=4, num_filters=3),
    "TuckER": lambda: _triples("TuckER", embedding_dim=4),
    "QuatE": lambda: _triples("QuatE", (4, 4), (4, 4)),
    "CrossE": lambda: _crossed(),
    "TorusE": lambda: _triples("TorusE", p=2),
    "Transformer": lambda: _triples("Transformer", input_dim=4, num_heads=2, dim_feedforward=8),
    "MarginRankingLoss": lambda: _ranking("MarginRankingLoss"),
    "SoftplusLoss": lambda: _ranking("SoftplusLoss"),
    "NSSALoss": lambda: _ranking("NSSALoss"),
    "InfoNCELoss": lambda: _ranking("InfoNCELoss"),
    "BCEAfterSigmoidLoss": lambda: _ranking("BCEAfterSigmoidLoss"),
    "CrossEntropyLoss": lambda: _ranking("CrossEntropyLoss"),
    "FocalLoss": lambda: _ranking("FocalLoss"),
    "clamp_norm": lambda: _call("pykeen.utils.clamp_norm", (_t(5, 4), 1.0), dim=-1),
    "complex_normalize": lambda: _call("pykeen.utils.complex_normalize", (torch.complex(_t(5, 4), _t(5, 4)),)),
    "negative_norm": lambda: _call("pykeen.utils.negative_norm", (_t(5, 4),), p=2),
}


def _simple() -> Built:
    made = _get(_K + "SimplEInteraction")()
    return (lambda h, r, t: made((h, h), (r, r), (t, t))), [(_t(5, 4), _t(5, 4), _t(5, 4))]


def _crossed() -> Built:
    made = _get(_K + "CrossEInteraction")(embedding_dim=4)
    return (lambda h, r, c, t: made(h, (r, c), t)), [(_t(5, 4), _t(5, 4), _t(5, 4), _t(5, 4))]


_Y = "hypll."


def _ball() -> Any:
    return _get(_Y + "manifolds.poincare_ball.PoincareBall")(c=_get(_Y + "manifolds.poincare_ball.Curvature")(1.0))


def _hyperbolic(name: str, shape: tuple[int, ...], **options: Any) -> Built:
    ball = _ball()
    layer = _get(_Y + "nn." + name)(manifold=ball, **options)
    tangent = _get(_Y + "tensors.TangentTensor")

    def run(x: torch.Tensor) -> Any:
        return layer(ball.expmap(tangent(data=x, man_dim=1, manifold=ball))).tensor

    return run, [(0.1 * _t(*shape),)]


def _on_ball(name: str, *inputs: Any, **options: Any) -> Built:
    return _call(_Y + "manifolds.poincare_ball.math.diffgeom." + name, tuple(inputs), **options)


_HYPLL: dict[str, Callable[[], Built]] = {
    "HLinear": lambda: _hyperbolic("HLinear", (5, 4), in_features=4, out_features=3),
    "HReLU": lambda: _hyperbolic("HReLU", (5, 4)),
    "HConvolution2d": lambda: _hyperbolic("HConvolution2d", (2, 4, 6, 6), in_channels=4, out_channels=3, kernel_size=3),
    "HBatchNorm": lambda: _hyperbolic("HBatchNorm", (5, 4), features=4),
    "HBatchNorm2d": lambda: _hyperbolic("HBatchNorm2d", (2, 4, 6, 6), features=4),
    "HMaxPool2d": lambda: _hyperbolic("HMaxPool2d", (2, 4, 6, 6), kernel_size=2),
    "mobius_add": lambda: _on_ball("mobius_add", 0.1 * _t(5, 4), 0.1 * _t(5, 4), torch.tensor(1.0)),
    "project": lambda: _on_ball("project", _t(5, 4), torch.tensor(1.0)),
    "expmap0": lambda: _on_ball("expmap0", _t(5, 4), torch.tensor(1.0)),
    "logmap": lambda: _on_ball("logmap", 0.1 * _t(5, 4), 0.1 * _t(5, 4), torch.tensor(1.0)),
    "dist": lambda: _on_ball("dist", 0.1 * _t(5, 4), 0.1 * _t(5, 4), torch.tensor(1.0)),
    "cdist": lambda: _on_ball("cdist", 0.1 * _t(2, 5, 4), 0.1 * _t(2, 3, 4), torch.tensor(1.0)),
}

_DIFFSORT: dict[str, Callable[[], Built]] = {
    f"{kind} {distribution}": lambda kind=kind, distribution=distribution: _made(
        "diffsort.DiffSortNet", [(_t(3, 4),)], kind, 4, distribution=distribution
    )
    for kind in ("odd_even", "bitonic")
    for distribution in ("cauchy", "logistic_phi", "optimal")
}


def _bins() -> Any:
    return _get("rtdl_num_embeddings.compute_bins")(_t(50, 3), n_bins=4)


_N = "rtdl_num_embeddings."

_RTDL: dict[str, Callable[[], Built]] = {
    "LinearEmbeddings": lambda: _made(_N + "LinearEmbeddings", [(_t(5, 3),)], 3, 4),
    "PeriodicEmbeddings": lambda: _made(_N + "PeriodicEmbeddings", [(_t(5, 3),)], 3, 4, lite=False),
    "PiecewiseLinearEncoding": lambda: _made(_N + "PiecewiseLinearEncoding", [(_t(5, 3),)], _bins()),
    "PiecewiseLinearEmbeddings": lambda: _made(
        _N + "PiecewiseLinearEmbeddings", [(_t(5, 3),)], _bins(), 4, activation=False
    ),
}

_V = "rtdl_revisiting_models."

_REVISITING: dict[str, Callable[[], Built]] = {
    "MLP": lambda: _made(_V + "MLP", [(_t(5, 3),)], d_in=3, d_out=1, n_blocks=2, d_block=8, dropout=0.1),
    "ResNet": lambda: _made(
        _V + "ResNet",
        [(_t(5, 3),)],
        d_in=3,
        d_out=1,
        n_blocks=2,
        d_block=8,
        d_hidden=None,
        d_hidden_multiplier=2.0,
        dropout1=0.1,
        dropout2=0.1,
    ),
    "FTTransformer": lambda: _made(
        _V + "FTTransformer",
        [(_t(5, 3), _i(2, 5, 2))],
        n_cont_features=3,
        cat_cardinalities=[2, 3],
        d_out=1,
        n_blocks=1,
        d_block=8,
        attention_n_heads=2,
        attention_dropout=0.1,
        ffn_d_hidden=8,
        ffn_d_hidden_multiplier=None,
        ffn_dropout=0.1,
        residual_dropout=0.0,
    ),
}


def _atoms() -> Built:
    made = _get("torch_dftd.nn.dftd3_module.DFTD3Module")({"s6": 1.0, "alp": 14.0, "rs6": 1.2, "s18": 0.7, "rs18": 1.0})
    z = torch.tensor([6, 1, 1, 8])
    edges = torch.tensor([[0, 0, 1, 2, 3, 0], [1, 2, 0, 0, 0, 3]])
    return (lambda pos: made.calc_energy_batch(z, pos, edges)), [(2 * _t(4, 3),)]


_DFTD: dict[str, Callable[[], Built]] = {"DFTD3Module": _atoms}


def _equivariant(package: str, **options: Any) -> Built:
    name = {"se3_transformer_pytorch": "SE3Transformer", "equiformer_pytorch": "Equiformer"}[package]
    model = _get(f"{package}.{name}")(**options)
    mask = torch.ones(1, 8, dtype=torch.bool)
    return (lambda feats, coors: model(feats, coors, mask)), [(_t(1, 8, 8), _t(1, 8, 3))]


_SE3: dict[str, Callable[[], Built]] = {
    "SE3Transformer": lambda: _equivariant(
        "se3_transformer_pytorch", dim=8, heads=2, depth=1, dim_head=4, num_degrees=2, valid_radius=10
    ),
    "SE3Transformer neighbors": lambda: _equivariant(
        "se3_transformer_pytorch", dim=8, heads=2, depth=1, dim_head=4, num_degrees=2, num_neighbors=3
    ),
}

_EQUIFORMER: dict[str, Callable[[], Built]] = {
    "Equiformer": lambda: _equivariant(
        "equiformer_pytorch",
        dim=(8, 4),
        dim_in=(8,),
        num_degrees=2,
        heads=(2, 2),
        dim_head=(4, 4),
        depth=1,
        num_neighbors=3,
        reversible=False,
    ),
}

_IPA: dict[str, Callable[[], Built]] = {
    "InvariantPointAttention": lambda: _points(),
}


def _points() -> Built:
    made = _get("invariant_point_attention.InvariantPointAttention")(dim=8, heads=2, require_pairwise_repr=False)
    return (
        lambda x, rotations, translations: made(
            x, rotations=rotations, translations=translations, mask=torch.ones(1, 6, dtype=torch.bool)
        ),
        [(_t(1, 6, 8), _rotations(6)[None], _t(1, 6, 3))],
    )


_CV: dict[str, Callable[[], Built]] = {
    name: lambda name=name: (
        _get("pytorchcv.model_provider.get_model")(name, pretrained=False),
        [(_t(1, 3, 224, 224),)],
    )
    for name in (
        "resnet10",
        "preresnet10",
        "seresnet10",
        "shufflenetv2_wd2",
        "mobilenetv3_small_w7d20",
        "efficientnet_b0",
        "ghostnet",
        "hrnet_w18_small_v1",
        "squeezenet_v1_1",
        "diaresnet10",
        "bagnet9",
        "octresnet10_ad2",
        "igcv3_wd4",
        "condensenet74_c4_g4",
        "dpn68",
        "sknet50",
        "regnetx002",
        "vovnet27s",
        "selecsls42",
        "hardnet39ds",
    )
}


MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in (
        ("pytorch_forecasting", _FORECASTING),
        ("dasp_pytorch", _DASP),
        ("bayesian_torch", _BAYESIAN),
        ("blitz", _BLITZ),
        ("torch_harmonics", _HARMONICS),
        ("pykeen", _PYKEEN),
        ("hypll", _HYPLL),
        ("diffsort", _DIFFSORT),
        ("rtdl_num_embeddings", _RTDL),
        ("rtdl_revisiting_models", _REVISITING),
        ("torch_dftd", _DFTD),
        ("se3_transformer_pytorch", _SE3),
        ("equiformer_pytorch", _EQUIFORMER),
        ("invariant_point_attention", _IPA),
        ("pytorchcv", _CV),
    )
    for name, build in models.items()
}

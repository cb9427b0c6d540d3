"""Models of physicsnemo, nussl, textbrewer, omnisafe and mmpretrain, which were run after the twenty-third group.

They were written before `check` was run on these packages.
"""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import _Absent, getter, without_packages

_t, _u, _i = random_inputs(91)
_ABSENT = {
    "physicsnemo": (
        *("warp", "tensordict", "nvtx", "dgl", "s3fs", "fsspec", "hydra", "treelib", "onnx", "zarr", "timm", "xarray"),
        *("importlib_metadata", "certifi"),
    ),
    "nussl": (
        *("ffmpy", "librosa", "soundfile", "museval", "sox", "norbert", "mir_eval", "ffmpeg", "jams", "scaper"),
        *("audioread", "zarr", "numcodecs", "gin", "ignite", "vamp", "pyloudnorm", "tensorboard", "gpytorch"),
        *("termtables", "musdb"),
    ),
    "textbrewer": ("transformers", "tensorboard"),
    "mmpretrain": ("torchvision", "modelindex", "cv2", "mat4py", "transformers", "pycocoevalcap"),
    "omnisafe": (
        *("safety_gymnasium", "wandb", "tensorboard", "gymnasium_robotics", "isaacgym", "gdown", "typer", "moviepy"),
    ),
}
_BARE = (
    *("physicsnemo", "physicsnemo.metrics", "physicsnemo.models", "physicsnemo.nn", "physicsnemo.nn.module"),
    *("nussl", "nussl.ml", "nussl.ml.networks", "nussl.ml.train", "nussl.core", "nussl.evaluation"),
    *("textbrewer", "mmpretrain", "mmpretrain.models", "mmpretrain.datasets"),
    *("omnisafe", "omnisafe.models", "omnisafe.common", "omnisafe.envs", "omnisafe.algorithms"),
)


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))
    if package == "nussl":
        sys.modules["nussl"].__getattr__ = _Absent("nussl").__getattr__  # type: ignore[method-assign]
        sys.modules["nussl.ml"].__getattr__ = _Absent("nussl.ml").__getattr__  # type: ignore[method-assign]
    if package == "mmpretrain":
        sys.modules.setdefault("importlib_metadata", importlib.metadata)  # the same, before Python had it
        sys.modules.setdefault("mmcv.ops", _Absent("mmcv.ops"))
    if package == "omnisafe":
        sys.modules.setdefault("torch.utils.tensorboard", _Absent("torch.utils.tensorboard"))


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_G, _K = "physicsnemo.metrics.general.", "physicsnemo.metrics.climate."
_N = "physicsnemo.nn.module."
_BINS = torch.linspace(-3, 3, 11)[:, None].repeat(1, 4)
_COUNTS = _u(10, 4)
_CDF = _u(10, 4).sort(0).values
_LAT = torch.linspace(-80, 80, 6)

_PHYSICSNEMO: dict[str, Callable[[], Built]] = {
    "kcrps": lambda: _call(_G + "crps.kcrps", (_t(8, 4), _t(4))),
    "kcrps unbiased": lambda: _call(_G + "crps.kcrps", (_t(8, 4), _t(4)), biased=False),
    "crps kernel": lambda: _call(_G + "crps.crps", (_t(8, 4), _t(4))),
    "crps sort": lambda: _call(_G + "crps.crps", (_t(8, 4), _t(4)), method="sort"),
    "crps histogram": lambda: _call(_G + "crps.crps", (_t(8, 4), _t(4)), method="histogram"),
    "crps_gaussian": lambda: _call(_G + "crps._crps_gaussian", (_t(4), _u(4) + 0.1, _t(4))),
    "crps_from_cdf": lambda: _call(_G + "crps._crps_from_cdf", (_BINS, _CDF, _t(4))),
    "crps_from_counts": lambda: _call(_G + "crps._crps_from_counts", (_BINS, _COUNTS, _t(4))),
    "find_rank": lambda: _call(_G + "calibration.find_rank", (_BINS, _COUNTS, _t(4))),
    "rank_probability_score": lambda: _call(_G + "calibration.rank_probability_score", (_u(8, 4),)),
    "Mean": lambda: _made(_G + "ensemble_metrics.Mean", [(_t(5, 4),)], (4,)),
    "Mean update": lambda: held(
        _get(_G + "ensemble_metrics.Mean")((4,)), lambda m, x: (m(x), m.update(x), m.finalize())[2], (_t(5, 4),)
    ),
    "Variance": lambda: _made(_G + "ensemble_metrics.Variance", [(_t(5, 4),)], (4,)),
    "Variance update": lambda: held(
        _get(_G + "ensemble_metrics.Variance")((4,)), lambda m, x: (m(x), m.update(x), m.finalize())[2], (_t(5, 4),)
    ),
    "entropy_from_counts": lambda: _call(_G + "entropy.entropy_from_counts", (_COUNTS, _BINS)),
    "relative_entropy": lambda: _call(_G + "entropy.relative_entropy_from_counts", (_COUNTS, _u(10, 4), _BINS)),
    "histogram": lambda: _call(_G + "histogram.histogram", (_t(8, 4),), bins=5),
    "histogram bins": lambda: _call(_G + "histogram.histogram", (_t(8, 4),), bins=_BINS),
    "histogram two": lambda: _call(_G + "histogram.histogram", (_t(8, 4), _t(8, 4)), bins=5),
    "cdf": lambda: _call(_G + "histogram.cdf", (_t(8, 4),), bins=5),
    "Histogram": lambda: held(
        _get(_G + "histogram.Histogram")((8, 4), bins=5), lambda m, x, y: (m(x), m.update(y))[1], (_t(8, 4), _t(8, 4))
    ),
    "Histogram cdf": lambda: held(
        _get(_G + "histogram.Histogram")((8, 4), bins=5), lambda m, x: (m(x), m.finalize(cdf=True))[1], (_t(8, 4),)
    ),
    "normal_cdf": lambda: _call(_G + "histogram.normal_cdf", (_t(4), _u(4) + 0.1, _BINS)),
    "normal_pdf": lambda: _call(_G + "histogram.normal_pdf", (_t(4), _u(4) + 0.1, _BINS), grid="right"),
    "mse": lambda: _call(_G + "mse.mse", (_t(3, 4), _t(3, 4))),
    "power_spectrum": lambda: _call(_G + "power_spectrum.power_spectrum", (_t(1, 2, 16, 16),)),
    "WeightedMean": lambda: _made(_G + "reduction.WeightedMean", [(_t(6, 4), 0)], _u(6, 1)),
    "WeightedVariance": lambda: _made(_G + "reduction.WeightedVariance", [(_t(6, 4), 0)], _u(6, 1)),
    "relative_l2": lambda: _call(_G + "relative_error.relative_l2", (_t(3, 4), _t(3, 4)), dim=1),
    "wasserstein_from_normal": lambda: _call(
        _G + "wasserstein.wasserstein_from_normal", (_t(4), _u(4) + 0.1, _t(4), _u(4) + 0.1)
    ),
    "wasserstein_from_samples": lambda: _call(_G + "wasserstein.wasserstein_from_samples", (_t(8, 4), _t(8, 4))),
    "wasserstein_from_cdf": lambda: _call(_G + "wasserstein.wasserstein_from_cdf", (_BINS, _CDF, _CDF * 0.9)),
    "acc": lambda: _call(_K + "acc.acc", (_t(3, 6, 5), _t(3, 6, 5), _t(3, 6, 5), _LAT)),
    "efi_gaussian": lambda: _call(_K + "efi.efi_gaussian", (_CDF, _BINS, _t(4), _u(4) + 0.1)),
    "efi": lambda: _call(_K + "efi.efi", (_BINS, _COUNTS, _CDF)),
    "normalized_entropy": lambda: _call(_K + "efi.normalized_entropy", (_COUNTS, _BINS, _u(10, 4))),
    "global_mean": lambda: _call(_K + "reduction.global_mean", (_t(3, 6, 5), _LAT)),
    "global_var": lambda: _call(_K + "reduction.global_var", (_t(3, 6, 5), _LAT), std=True),
    "zonal_mean": lambda: _call(_K + "reduction.zonal_mean", (_t(3, 6, 5), _LAT)),
    "SSIM": lambda: _made(_K + "loss.SSIM", [(_u(2, 1, 16, 16), _u(2, 1, 16, 16))], 5),
    "BaseMSE": lambda: _made(_K + "healpix_loss.BaseMSE", [(_t(2, 12, 3, 2, 4, 4), _t(2, 12, 3, 2, 4, 4))]),
    "CellAreaWeighted": lambda: _made(
        _K + "graphcast_loss.CellAreaWeightedLossFunction", [(_t(2, 3, 4, 4), _t(2, 3, 4, 4))], _u(4, 4)
    ),
    "Stan": lambda: _made(_N + "activations.Stan", [(_t(3, 4),)], 4),
    "SquarePlus": lambda: _made(_N + "activations.SquarePlus", [(_t(3, 4),)]),
    "CappedLeakyReLU": lambda: _made(_N + "activations.CappedLeakyReLU", [(_t(3, 4),)]),
    "AFNO2DLayer": lambda: _made(_N + "afno_layers.AFNO2DLayer", [(_t(2, 8, 8, 16),)], 16, 4),
    "AFNOPatchEmbed": lambda: _made(_N + "afno_layers.AFNOPatchEmbed", [(_t(2, 3, 16, 16),)], [16, 16], 3, [4, 4], 8),
    "ScaleShiftMlp": lambda: _made(_N + "afno_layers.ScaleShiftMlp", [(_t(2, 4),)], 4, 6),
    "ModAFNO2DLayer": lambda: _made(_N + "afno_layers.ModAFNO2DLayer", [(_t(2, 8, 8, 16), _t(2, 4))], 16, 4, 4),
    "ConcreteDropout": lambda: _made(_N + "concrete_dropout.ConcreteDropout", [(_t(3, 4),)], 4),
    "ConvBlock": lambda: _made(_N + "conv_layers.ConvBlock", [(_t(2, 4, 8, 8),)], 4, 8, 2),
    "Conv2d up": lambda: _made(_N + "conv_layers.Conv2d", [(_t(2, 4, 8, 8),)], 4, 6, 3, up=True),
}

_L, _B = "nussl.ml.train.loss.", "nussl.ml.networks.modules.blocks."
_EMB, _ASSIGN, _WEIGHTS = _t(2, 4, 6, 1, 3), _i(2, 2, 4, 6, 1, 2).float(), _u(2, 4, 6, 1)
_SPEC = _u(2, 5, 9, 1)


def _invariant(kind: str, inner: str) -> Built:
    """A loss that is the least over the orders of sources."""
    return _made(_L + kind, [(_t(2, 12, 2), _t(2, 12, 2))], _get(_L + inner)())


_NUSSL: dict[str, Callable[[], Built]] = {
    "SISDRLoss": lambda: _made(_L + "SISDRLoss", [(_t(2, 12, 2), _t(2, 12, 2))]),
    "SISDRLoss none": lambda: _made(
        _L + "SISDRLoss", [(_t(2, 12, 2), _t(2, 12, 2))], reduction="none", clip_min=-10, zero_mean=False
    ),
    "SISDRLoss scaling": lambda: _made(_L + "SISDRLoss", [(_t(2, 12, 2), _t(2, 12, 2))], return_scaling=True),
    "DeepClusteringLoss": lambda: _made(_L + "DeepClusteringLoss", [(_EMB, _ASSIGN, _WEIGHTS)]),
    "WhitenedKMeansLoss": lambda: _made(_L + "WhitenedKMeansLoss", [(_EMB, _ASSIGN, _WEIGHTS)]),
    "PermutationInvariantLoss": lambda: _invariant("PermutationInvariantLoss", "L1Loss"),
    "CombinationInvariantLoss": lambda: _invariant("CombinationInvariantLoss", "MSELoss"),
    "PermutationInvariant sdr": lambda: _invariant("PermutationInvariantLoss", "SISDRLoss"),
    "AmplitudeToDB": lambda: _made(_B + "AmplitudeToDB", [(_SPEC,)]),
    "ShiftAndScale": lambda: _made(_B + "ShiftAndScale", [(_SPEC,)]),
    "BatchNorm": lambda: _made(_B + "BatchNorm", [(_SPEC,)], 9),
    "InstanceNorm": lambda: _made(_B + "InstanceNorm", [(_SPEC,)], 9),
    "GroupNorm": lambda: _made(_B + "GroupNorm", [(_SPEC,)], 9, 3),
    "LayerNorm": lambda: _made(_B + "LayerNorm", [(_SPEC,)], 9, [2]),
    "Embedding": lambda: _made(_B + "Embedding", [(_t(2, 5, 6),)], 9, 6, 4, ["sigmoid", "unit_norm"], 1),
    "Embedding gated": lambda: _made(_B + "Embedding", [(_t(2, 5, 6),)], 9, 6, 4, "gated_tanh", 1),
    "Mask": lambda: _made(_B + "Mask", [(_u(2, 5, 9, 1, 2), _SPEC)]),
    "Split": lambda: _made(_B + "Split", [(_t(2, 5, 9),)], (4, 5)),
    "Expand": lambda: _made(_B + "Expand", [(_t(2, 5, 9), _t(2, 5))]),
    "Concatenate": lambda: _made(_B + "Concatenate", [(_t(2, 5), _t(2, 4))]),
    "RecurrentStack": lambda: _made(_B + "RecurrentStack", [(_SPEC,)], 9, 6, 1, True, 0.0),
    "ConvolutionalStack2D": lambda: _made(
        _B + "ConvolutionalStack2D", [(_SPEC,)], 1, [4, 4], [1, 1], [3, 3], [False, True]
    ),
}

_TB = "textbrewer.losses."
_ATT, _ATU, _TM = _t(2, 3, 5, 5), _t(2, 3, 5, 5), torch.tensor([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]])
_HID, _HIU = _t(2, 5, 8), _t(2, 5, 8)


def _distilled(name: str, *given: Any) -> Callable[[], Built]:
    return lambda: _call(_TB + name, given)


_TEXTBREWER: dict[str, Callable[[], Built]] = {
    "kd_mse_loss": _distilled("kd_mse_loss", _t(4, 3), _t(4, 3)),
    "kd_mse_loss tensor": _distilled("kd_mse_loss", _t(4, 3), _t(4, 3), _u(4) + 1),
    "kd_ce_loss": _distilled("kd_ce_loss", _t(4, 3), _t(4, 3), 2.0),
    "kd_ce_loss tensor": _distilled("kd_ce_loss", _t(4, 3), _t(4, 3), _u(4) + 1),
    **{
        name + suffix: _distilled(name, _ATT, _ATU, *mask)
        for name in ("att_mse_loss", "att_mse_sum_loss", "att_ce_loss", "att_ce_mean_loss")
        for suffix, mask in (("", ()), (" mask", (_TM,)))
    },
    **{
        name + suffix: _distilled(name, _HID, _HIU, *mask)
        for name in ("hid_mse_loss", "cos_loss")
        for suffix, mask in (("", ()), (" mask", (_TM,)))
    },
    "pkd_loss": _distilled("pkd_loss", _HID, _HIU),
    "fsp_loss": _distilled("fsp_loss", [_HID, _HIU], [_HIU, _HID]),
    "fsp_loss mask": _distilled("fsp_loss", [_HID, _HIU], [_HIU, _HID], _TM),
    "mmd_loss": _distilled("mmd_loss", [_HID, _HIU], [_HIU, _HID]),
    "mmd_loss mask": _distilled("mmd_loss", [_HID, _HIU], [_HIU, _HID], _TM),
    "linear_projection": lambda: (_get("textbrewer.projections.linear_projection")(4, 6), [(_t(3, 4),)]),
}

_OM, _OD, _OC = "omnisafe.utils.math.", "omnisafe.utils.distributed.", "omnisafe.common."
_OA = "omnisafe.models."


def _spaces() -> tuple[Any, Any]:
    """What is seen and done in an environment."""
    from gymnasium import spaces

    return spaces.Box(-1.0, 1.0, (5,)), spaces.Box(-1.0, 1.0, (2,))


def _actor(path: str, use: Callable[..., Any]) -> Callable[[], Built]:
    return lambda: held(_get(_OA + path)(*_spaces(), [8]), use, (_t(3, 5),))


_MATRIX = _t(4, 4)
_SOLVED = _MATRIX @ _MATRIX.T + torch.eye(4)
_OMNISAFE: dict[str, Callable[[], Built]] = {
    "discount_cumsum": lambda: _call(_OM + "discount_cumsum", (_t(6), 0.9)),
    "get_transpose": lambda: _call(_OM + "get_transpose", (_t(3, 4),)),
    "get_diagonal": lambda: _call(_OM + "get_diagonal", (_t(3, 4),)),
    "conjugate_gradients": lambda: _using(
        _OM + "conjugate_gradients", lambda f, b: f(lambda x: _SOLVED @ x, b), (_t(4),)
    ),
    "TanhNormal": lambda: _using(
        _OM + "TanhNormal", lambda c, m, s: (lambda d: d.log_prob(d.rsample()))(c(m, s)), (_t(3, 2), _u(3, 2) + 0.1)
    ),
    "TanhNormal mean": lambda: _using(_OM + "TanhNormal", lambda c, m, s: c(m, s).mean, (_t(3, 2), _u(3, 2) + 0.1)),
    "dist_avg": lambda: _call(_OD + "dist_avg", (_t(3),)),
    "dist_statistics_scalar": lambda: _call(_OD + "dist_statistics_scalar", (_t(6),), with_min_and_max=True),
    "dist_statistics": lambda: _call(_OD + "dist_statistics_scalar", (_t(6),)),
    "get_flat_params_from": lambda: _call("omnisafe.utils.tools.get_flat_params_from", (nn.Linear(3, 2),)),
    "set_param_values": lambda: _using(
        "omnisafe.utils.tools.set_param_values_to_model", lambda f, m, v: f(m, v), (nn.Linear(3, 2), _t(8))
    ),
    "Normalizer": lambda: held(_get(_OC + "normalizer.Normalizer")((4,)), lambda m, x: m.normalize(x), (_t(6, 4),)),
    "Normalizer one": lambda: held(_get(_OC + "normalizer.Normalizer")((4,)), lambda m, x: m(x), (_t(4),)),
    "Lagrange": lambda: held(
        _get(_OC + "lagrange.Lagrange")(25.0, 0.1, 0.03, "Adam"),
        lambda m, x: m.compute_lambda_loss(float(3)) * x,
        (_t(1),),
    ),
    "Lagrange update": lambda: held(
        _get(_OC + "lagrange.Lagrange")(25.0, 0.1, 0.03, "Adam"), lambda m: m.update_lagrange_multiplier(30.0), ()
    ),
    "PIDLagrangian": lambda: held(
        _get(_OC + "pid_lagrange.PIDLagrangian")(0.1, 0.01, 0.01, 10, 0.95, 0.95, True, False, 100, 0.001, 25.0),
        lambda m, c: m.pid_update(c),
        (30.0,),
    ),
    "GaussianLearningActor": _actor(
        "actor.gaussian_learning_actor.GaussianLearningActor", lambda m, o: (m.predict(o), m(o).mean, m.log_prob(_t(2)))
    ),
    "GaussianSACActor": _actor("actor.gaussian_sac_actor.GaussianSACActor", lambda m, o: m.log_prob(m.predict(o))),
    "GaussianSACActor deterministic": _actor(
        "actor.gaussian_sac_actor.GaussianSACActor", lambda m, o: m.predict(o, deterministic=True)
    ),
    "MLPActor": _actor("actor.mlp_actor.MLPActor", lambda m, o: m.predict(o)),
    "MLPActor noise": _actor("actor.mlp_actor.MLPActor", lambda m, o: m.predict(o, deterministic=True)),
    "VCritic": lambda: _made(_OA + "critic.v_critic.VCritic", [(_t(3, 5),)], *_spaces(), [8]),
    "QCritic": lambda: _made(
        _OA + "critic.q_critic.QCritic", [(_t(3, 5), _t(3, 2))], *_spaces(), [8], num_critics=2, use_obs_encoder=True
    ),
    "VAE": lambda: held(
        _get(_OA + "actor.vae_actor.VAE")(*_spaces(), [8]), lambda m, o, a: m.loss(o, a), (_t(3, 5), _t(3, 2))
    ),
}

_ML, _ME, _MU = "mmpretrain.models.losses.", "mmpretrain.evaluation.metrics.", "mmpretrain.models.utils."
_SCORES, _CLASSES = _u(12, 4).softmax(-1), _i(4, 12)
_MULTI = _i(2, 12, 4)


def _calculated(path: str, *given: Any, **options: Any) -> Callable[[], Built]:
    """A metric that is computed of all at once, by a method of its class."""
    return lambda: (lambda kind: ((lambda *x: kind.calculate(*x, **options)), [given]))(_get(_ME + path))


_MMPRETRAIN: dict[str, Callable[[], Built]] = {
    "Accuracy": _calculated("single_label.Accuracy", _SCORES, _CLASSES),
    "Accuracy topk": _calculated("single_label.Accuracy", _SCORES, _CLASSES, topk=(1, 3), thrs=(0.0, 0.3, None)),
    "Accuracy labels": _calculated("single_label.Accuracy", _i(4, 12), _CLASSES),
    "SingleLabelMetric": _calculated("single_label.SingleLabelMetric", _SCORES, _CLASSES),
    "SingleLabelMetric micro": _calculated("single_label.SingleLabelMetric", _SCORES, _CLASSES, average="micro"),
    "SingleLabelMetric thrs": _calculated(
        "single_label.SingleLabelMetric", _SCORES, _CLASSES, thrs=(0.2, 0.4), average=None
    ),
    "SingleLabelMetric labels": _calculated("single_label.SingleLabelMetric", _i(4, 12), _CLASSES, num_classes=4),
    "ConfusionMatrix": _calculated("single_label.ConfusionMatrix", _SCORES, _CLASSES),
    "ConfusionMatrix labels": _calculated("single_label.ConfusionMatrix", _i(4, 12), _CLASSES, num_classes=4),
    "precision_recall_f1": lambda: _call(
        _ME + "single_label._precision_recall_f1_support", (_MULTI, _i(2, 12, 4), "macro")
    ),
    "MultiLabelMetric": _calculated("multi_label.MultiLabelMetric", _SCORES, _MULTI, thr=0.3),
    "MultiLabelMetric topk": _calculated("multi_label.MultiLabelMetric", _SCORES, _MULTI, topk=2),
    "MultiLabelMetric indices": _calculated(
        "multi_label.MultiLabelMetric",
        [[0], [1, 2]],
        [[0, 3], [2]],
        pred_indices=True,
        target_indices=True,
        num_classes=4,
    ),
    "AveragePrecision": _calculated("multi_label.AveragePrecision", _SCORES, _MULTI),
    "AveragePrecision none": _calculated("multi_label.AveragePrecision", _SCORES, _MULTI, average=None),
    "average_precision": lambda: _call(_ME + "multi_label._average_precision", (_u(12), _i(2, 12))),
    "AsymmetricLoss": lambda: _made(_ML + "asymmetric_loss.AsymmetricLoss", [(_t(6, 4), _i(2, 6, 4).float())]),
    "AsymmetricLoss labels": lambda: _made(_ML + "asymmetric_loss.AsymmetricLoss", [(_t(6, 4), _i(4, 6))]),
    "CAELoss": lambda: _made(_ML + "cae_loss.CAELoss", [(_t(6, 4), _i(4, 6), _t(6, 8), _t(6, 8))], 2.0),
    "CosineSimilarityLoss": lambda: _made(
        _ML + "cosine_similarity_loss.CosineSimilarityLoss", [(_t(6, 4), _t(6, 4), _u(6))], 2.0, -2.0
    ),
    "CrossCorrelationLoss": lambda: _made(_ML + "cross_correlation_loss.CrossCorrelationLoss", [(_t(5, 5),)]),
    "CrossEntropyLoss": lambda: _made(_ML + "cross_entropy_loss.CrossEntropyLoss", [(_t(6, 4), _i(4, 6))]),
    "CrossEntropyLoss weights": lambda: _made(
        _ML + "cross_entropy_loss.CrossEntropyLoss",
        [(_t(6, 4), _i(4, 6), _u(6), 3.0)],
        class_weight=[1.0, 2.0, 1.0, 1.0],
    ),
    "CrossEntropyLoss soft": lambda: _made(
        _ML + "cross_entropy_loss.CrossEntropyLoss", [(_t(6, 4), _u(6, 4).softmax(-1))], use_soft=True
    ),
    "CrossEntropyLoss sigmoid": lambda: _made(
        _ML + "cross_entropy_loss.CrossEntropyLoss", [(_t(6, 4), _u(6, 4))], use_sigmoid=True, pos_weight=2.0
    ),
    "FocalLoss": lambda: _made(_ML + "focal_loss.FocalLoss", [(_t(6, 4), _i(2, 6, 4).float(), _u(6))]),
    "LabelSmoothLoss": lambda: _made(_ML + "label_smooth_loss.LabelSmoothLoss", [(_t(6, 4), _i(4, 6))], 0.1, 4),
    "LabelSmoothLoss multi": lambda: _made(
        _ML + "label_smooth_loss.LabelSmoothLoss", [(_t(6, 4), _i(2, 6, 4).float())], 0.1, 4, mode="multi_label"
    ),
    "PixelReconstructionLoss": lambda: _made(
        _ML + "reconstruction_loss.PixelReconstructionLoss", [(_t(2, 5, 6), _t(2, 5, 6), _u(2, 5).round())], "L2", 3
    ),
    "SeesawLoss": lambda: _made(_ML + "seesaw_loss.SeesawLoss", [(_t(6, 4), _i(4, 6))], num_classes=4),
    "distributed_sinkhorn": lambda: _call(_ML + "swav_loss.distributed_sinkhorn", (_t(6, 4), 3, 1, 0.5)),
    "SwAVLoss": lambda: _made(
        _ML + "swav_loss.SwAVLoss", [(_t(8, 4),)], 4, crops_for_assign=[0, 1], num_crops=[2], num_prototypes=5
    ),
    "convert_to_one_hot": lambda: _call(_ML + "utils.convert_to_one_hot", (_i(4, 6), 4)),
    "weight_reduce_loss": lambda: _call(_ML + "utils.weight_reduce_loss", (_u(6), _u(6)), avg_factor=3),
    "channel_shuffle": lambda: _call(_MU + "channel_shuffle.channel_shuffle", (_t(2, 4, 3, 3), 2)),
    "LayerScale": lambda: _made(_MU + "layer_scale.LayerScale", [(_t(2, 5, 4),)], 4),
    "GRN": lambda: _made(_MU + "norm.GRN", [(_t(2, 4, 3, 3),)], 4),
    "Mixup": lambda: held(
        _get(_MU + "batch_augments.mixup.Mixup")(0.8), lambda m, x, y: m(x, y), (_t(4, 3, 8, 8), _u(4, 4))
    ),
    "CutMix": lambda: held(
        _get(_MU + "batch_augments.cutmix.CutMix")(0.8), lambda m, x, y: m(x, y), (_t(4, 3, 8, 8), _u(4, 4))
    ),
    "resize_pos_embed": lambda: _call(
        _MU + "embed.resize_pos_embed", (_t(1, 17, 8), (4, 4), (6, 6)), num_extra_tokens=1
    ),
}

_ALL = {
    "mmpretrain": _MMPRETRAIN,
    "physicsnemo": _PHYSICSNEMO,
    "nussl": _NUSSL,
    "textbrewer": _TEXTBREWER,
    "omnisafe": _OMNISAFE,
}
MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build for package, models in _ALL.items() for name, build in models.items()
}

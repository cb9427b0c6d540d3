"""Models of packages that were chosen and run after the work on the seventh group, before anything was changed.

Of compressai, torchkge, norse, sinabs, torch-uncertainty, pytorch-optimizer, deepinv, descript-audio-codec, encodec,
titans-pytorch, pytorch-widedeep, chemprop, pythae, tabpfn and pina.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import models_by_name, random_inputs
from accuracy_models.stand_ins import bare, without

_t, _u, _i = random_inputs(8)


_TORCHVISION = (
    "transforms",
    "transforms.functional",
    "transforms.v2",
    "transforms.v2.functional",
    "utils",
    "models",
    "models._api",
    "models.segmentation",
    "ops",
    "ops.misc",
    "datasets",
    "datasets.folder",
    "datasets.utils",
    "datasets.vision",
    "tv_tensors",
    "io",
)


def _get(path: str) -> Any:
    module, _, name = path.rpartition(".")
    package = path.partition(".")[0]
    if package in ("compressai", "deepinv", "torch_uncertainty", "pytorch_widedeep"):
        without(*(f"torchvision.{part}" for part in _TORCHVISION))
    if package in ("dac", "encodec"):
        without("torchaudio.functional", "torchaudio.transforms")
    if package == "pytorch_widedeep":
        without("cv2")
        without("spacy.util", "spacy.language", "spacy.lang.en", "spacy.symbols", "spacy.tokens")
    if package == "chemprop":
        without("descriptastorus.descriptors", "astartes.molecules", "ConfigSpace", "cuik_molmaker")
    if package in ("dac", "torch_uncertainty"):
        bare(package)
    return getattr(importlib.import_module(module), name)


_call, _made = models_by_name(_get)


def _images(*sizes: int, channels: int = 3) -> list[Any]:
    return [(_u(2, channels, size, size),) for size in sizes]


def _bottleneck(step: str = "") -> Built:
    made = _get("compressai.entropy_models.EntropyBottleneck")(8)
    if step == "loss":
        return (lambda scale: made.loss() * scale), [(torch.tensor(2.0),)]
    return made, [(4 * _t(2, 8, 4, 4),), (4 * _t(2, 8, 5, 4),)]


_COMPRESSAI: dict[str, Callable[[], Built]] = {
    "FactorizedPrior": lambda: _made("compressai.models.FactorizedPrior", _images(64, 128), 8, 12),
    "FactorizedPriorReLU": lambda: _made("compressai.models.FactorizedPriorReLU", _images(64), 8, 12),
    "ScaleHyperprior": lambda: _made("compressai.models.ScaleHyperprior", _images(64, 128), 8, 12),
    "MeanScaleHyperprior": lambda: _made("compressai.models.MeanScaleHyperprior", _images(64), 8, 12),
    "JointAutoregressive": lambda: _made("compressai.models.JointAutoregressiveHierarchicalPriors", _images(64), 8, 12),
    "Cheng2020Anchor": lambda: _made("compressai.models.Cheng2020Anchor", _images(64), 8),
    "Cheng2020Attention": lambda: _made("compressai.models.Cheng2020Attention", _images(64), 8),
    "EntropyBottleneck": _bottleneck,
    "EntropyBottleneck loss": partial(_bottleneck, "loss"),
    "GaussianConditional": lambda: _made(
        "compressai.entropy_models.GaussianConditional", [(_t(2, 8, 4, 4), _u(2, 8, 4, 4) + 0.2)], None
    ),
    "GaussianMixtureConditional": lambda: _made(
        "compressai.entropy_models.GaussianMixtureConditional",
        [(_t(2, 8, 4, 4), _u(2, 24, 4, 4) + 0.2, _t(2, 24, 4, 4), _u(2, 24, 4, 4))],
    ),
    "GDN": lambda: _made("compressai.layers.GDN", [(_t(2, 8, 6, 6),)], 8),
    "MaskedConv2d": lambda: _made(
        "compressai.layers.MaskedConv2d", [(_t(2, 8, 6, 6),)], 8, 8, kernel_size=5, padding=2
    ),
    "AttentionBlock": lambda: _made("compressai.layers.AttentionBlock", [(_t(2, 8, 8, 8),)], 8),
    "RateDistortionLoss": lambda: _made(
        "compressai.losses.RateDistortionLoss",
        [({"x_hat": _u(2, 3, 16, 16), "likelihoods": {"y": _u(2, 8, 4, 4)}}, _u(2, 3, 16, 16))],
    ),
    "QReLU": lambda: ((lambda x: _get("compressai.layers.QReLU").apply(x, 8, 100.0)), [(100 * _t(4, 5),)]),
    "select_xyzs_and_feats": lambda: _call(
        "compressai.layers.pointcloud.utils.select_xyzs_and_feats",
        (_t(2, 3, 6, 4), _t(2, 5, 6, 4), _i(4, 2, 6) + 1, 4),
    ),
    "resample_points": lambda: _call(
        "compressai.layers.pointcloud.utils.resample_points", (_t(2, 12, 3), _t(2, 12, 5), 8)
    ),
}


def _knowledge(name: str, *given: Any, **options: Any) -> Built:
    made = _get(f"torchkge.models.{name}")(*given, 12, 4, **options)
    rows = [_i(12, 6), _i(12, 6), _i(4, 6), _i(12, 6), _i(12, 6)]
    return made, [tuple(rows), (_i(12, 9), _i(12, 9), _i(4, 9), _i(12, 9), _i(12, 9))]


def _ranked(step: str) -> Built:
    scores = _t(5, 12)
    targets = {(h, r): {int(t)} for h, r, t in zip(range(5), range(5), _i(12, 5), strict=True)}
    if step == "rank":
        return _call("torchkge.utils.operations.get_rank", (scores, _i(12, 5)))
    rows = torch.arange(5)
    return _call("torchkge.utils.modeling.filter_scores", (scores, targets, rows, rows, _i(12, 5)))


_TORCHKGE: dict[str, Callable[[], Built]] = {
    "TransE": lambda: _knowledge("TransEModel", 8, dissimilarity_type="L2"),
    "TransH": lambda: _knowledge("TransHModel", 8),
    "TransR": lambda: _knowledge("TransRModel", 8, 6),
    "TransD": lambda: _knowledge("TransDModel", 8, 6),
    "TorusE": lambda: _knowledge("TorusEModel", 8, dissimilarity_type="torus_L1"),
    "RESCAL": lambda: _knowledge("RESCALModel", 8),
    "DistMult": lambda: _knowledge("DistMultModel", 8),
    "HolE": lambda: _knowledge("HolEModel", 8),
    "ComplEx": lambda: _knowledge("ComplExModel", 8),
    "Analogy": lambda: _knowledge("AnalogyModel", 8),
    "ConvKB": lambda: _knowledge("ConvKBModel", 8, 4),
    "MarginLoss": lambda: _made("torchkge.utils.losses.MarginLoss", [(_t(6), _t(6))], 0.5),
    "LogisticLoss": lambda: _made("torchkge.utils.losses.LogisticLoss", [(_t(6), _t(6))]),
    "BinaryCrossEntropyLoss": lambda: _made("torchkge.utils.losses.BinaryCrossEntropyLoss", [(_t(6), _t(6))]),
    "get_rank": partial(_ranked, "rank"),
    "filter_scores": partial(_ranked, "filter"),
}


def _spiking(name: str, *given: Any, steps: int = 4) -> Built:
    return _made(f"norse.torch.{name}", [(_t(steps, 2, 6),), (_t(steps + 1, 2, 6),)], *given)


_NORSE: dict[str, Callable[[], Built]] = {
    "LIFCell": lambda: _made("norse.torch.LIFCell", [(_t(2, 6),)]),
    "LIF": lambda: _spiking("LIF"),
    "LIFRecurrent": lambda: _spiking("LIFRecurrent", 6, 5),
    "LIFRefracRecurrentCell": lambda: _made("norse.torch.LIFRefracRecurrentCell", [(_t(2, 6),)], 6, 5),
    "LIFAdEx": lambda: _spiking("LIFAdEx"),
    "LIFAdExRecurrent": lambda: _spiking("LIFAdExRecurrent", 6, 5),
    "LSNN": lambda: _spiking("LSNN"),
    "LSNNRecurrent": lambda: _spiking("LSNNRecurrent", 6, 5),
    "LI": lambda: _spiking("LI"),
    "LILinearCell": lambda: _made("norse.torch.LILinearCell", [(_t(2, 6),)], 6, 5),
    "Izhikevich": lambda: _made(
        "norse.torch.IzhikevichCell",
        [(_t(2, 6),)],
        _get("norse.torch.functional.izhikevich.tonic_spiking"),
    ),
    "PoissonEncoder": lambda: _made("norse.torch.PoissonEncoder", [(_u(2, 6),)], 8),
    "ConstantCurrentLIFEncoder": lambda: _made("norse.torch.ConstantCurrentLIFEncoder", [(_u(2, 6),)], 8),
    "SpikeLatencyEncoder": lambda: _made("norse.torch.SpikeLatencyEncoder", [(_i(2, 5, 2, 6).float(),)]),
    "SpikeLatencyLIFEncoder": lambda: _made("norse.torch.SpikeLatencyLIFEncoder", [(_u(2, 6) + 1,)], 8),
    "PopulationEncoder": lambda: _made("norse.torch.PopulationEncoder", [(_u(2, 6),)], 5),
    "SequentialState": lambda: (
        _get("norse.torch.SequentialState")(nn.Linear(6, 8), _get("norse.torch.LIFCell")(), nn.Linear(8, 3)),
        [(_t(2, 6),)],
    ),
    "spatial_receptive_field": lambda: _call(
        "norse.torch.functional.receptive_field.spatial_receptive_field",
        (torch.tensor(1.0), torch.tensor(0.5), torch.tensor(0.8), 9),
    ),
    "spatial_receptive_fields_with_derivatives": lambda: _call(
        "norse.torch.functional.receptive_field.spatial_receptive_fields_with_derivatives",
        (torch.tensor([[1.0, 0.5, 0.8, 0, 0, 0, 0], [1.5, 0.2, 1.0, 1, 0, 0, 0]]), 9),
    ),
    "ToSpikeTimes": lambda: (
        (lambda x: _get("norse.torch.functional.spikes_to_times_decoder.ToSpikeTimes").apply(x, torch.tensor(2))),
        [(_i(2, 8, 5).float(),)],
    ),
    "stdp_step_linear": lambda: _stdp(),
    "regularize_step": lambda: _call(
        "norse.torch.functional.regularization.regularize_step", (_i(2, 4, 5).float(), None)
    ),
    "muller_c": lambda: _call(
        "norse.torch.functional.logical.muller_c", (_i(2, 5).bool(), _i(2, 5).bool(), _i(2, 5).bool())
    ),
}


def _stdp() -> Built:
    module = "norse.torch.functional.stdp."
    state, parameters = _get(f"{module}STDPState"), _get(f"{module}STDPParameters")()

    def step(pre: torch.Tensor, post: torch.Tensor, weight: torch.Tensor) -> Any:
        return _get(f"{module}stdp_step_linear")(pre, post, weight, state(pre, post), parameters)

    return step, [(_i(2, 2, 6).float(), _i(2, 2, 5).float(), _u(5, 6))]


def _layer(name: str, *given: Any, **options: Any) -> Built:
    return _made(f"sinabs.layers.{name}", [(4 * _u(2, 6, 5),), (4 * _u(2, 8, 5),)], *given, **options)


_SINABS: dict[str, Callable[[], Built]] = {
    "IAF": lambda: _layer("IAF"),
    "IAFSqueeze": lambda: _made("sinabs.layers.IAFSqueeze", [(4 * _u(8, 5),)], batch_size=2),
    "LIF": lambda: _layer("LIF", tau_mem=10.0, tau_syn=5.0, norm_input=False),
    "LIF trained": lambda: _layer("LIF", tau_mem=torch.tensor(10.0), train_alphas=True, min_v_mem=-1.0),
    "ALIF": lambda: _layer("ALIF", tau_mem=10.0, tau_adapt=10.0),
    "ExpLeak": lambda: _layer("ExpLeak", tau_mem=10.0),
    "NeuromorphicReLU": lambda: _layer("NeuromorphicReLU", stochastic_rounding=True),
    "QuantizeLayer": lambda: _layer("QuantizeLayer"),
    "Img2SpikeLayer": lambda: _made("sinabs.layers.Img2SpikeLayer", [(255 * _u(1, 6, 6),)], (1, 6, 6), tw=5),
    "Sig2SpikeLayer": lambda: _made("sinabs.layers.Sig2SpikeLayer", [(_u(2, 8),)], 2),
    "SpikingMaxPooling2dLayer": lambda: _made(
        "sinabs.layers.SpikingMaxPooling2dLayer", [(_i(2, 4, 2, 6, 6).float(),)], (2, 2)
    ),
    "SumPool2d": lambda: _made("sinabs.layers.SumPool2d", [(_u(2, 2, 6, 6),)], (2, 2)),
    "Cropping2dLayer": lambda: _made("sinabs.layers.Cropping2dLayer", [(_u(2, 2, 6, 6),)], ((1, 1), (1, 1))),
}


def _metric(name: str, *inputs: Any, **options: Any) -> Built:
    metric = _get(f"torch_uncertainty.metrics.classification.{name}")(**options)

    def both(*given: torch.Tensor) -> Any:
        metric.reset()
        metric.update(*given)
        return metric.compute()

    return both, list(inputs)


def _probabilities(*shape: int) -> torch.Tensor:
    return _t(*shape).softmax(-1)


_L = "torch_uncertainty.losses."
_UNCERTAINTY: dict[str, Callable[[], Built]] = {
    "BrierScore": lambda: _metric("BrierScore", (_probabilities(9, 4), _i(4, 9)), num_classes=4),
    "CategoricalNLL": lambda: _metric("CategoricalNLL", (_probabilities(9, 4), _i(4, 9))),
    "CoverageRate": lambda: _metric("CoverageRate", (_i(2, 9, 4).bool(), _i(4, 9)), num_classes=4),
    "Disagreement": lambda: _metric("Disagreement", (_probabilities(9, 3, 4),)),
    "Entropy": lambda: _metric("Entropy", (_probabilities(9, 3, 4),)),
    "FPR95": lambda: _metric("FPR95", (_u(9), torch.tensor([0, 1, 1, 0, 1, 0, 1, 0, 1])), pos_label=1),
    "MutualInformation": lambda: _metric("MutualInformation", (_probabilities(9, 3, 4),)),
    "AURC": lambda: _metric("AURC", (_probabilities(9, 4), _i(4, 9))),
    "CovAt5Risk": lambda: _metric("CovAt5Risk", (_probabilities(9, 4), _i(4, 9))),
    "RiskAt80Cov": lambda: _metric("RiskAt80Cov", (_probabilities(9, 4), _i(4, 9))),
    "SetSize": lambda: _metric("SetSize", (_i(2, 9, 4).bool(),)),
    "VariationRatio": lambda: _metric("VariationRatio", (_probabilities(9, 3, 4),)),
    "DECLoss": lambda: _made(f"{_L}classification.DECLoss", [(_u(9, 4), _i(4, 9), 2)], 10),
    "FocalLoss": lambda: _made(f"{_L}classification.FocalLoss", [(_t(9, 4), _i(4, 9))], 2.0),
    "ConflictualLoss": lambda: _made(f"{_L}classification.ConflictualLoss", [(_t(9, 4), _i(4, 9))]),
    "CrossEntropyMaxSupLoss": lambda: _made(
        f"{_L}classification.CrossEntropyMaxSupLoss", [(_t(9, 4), _i(4, 9))], max_sup=0.1
    ),
    "MixupMPLoss": lambda: _made(f"{_L}classification.MixupMPLoss", [(_t(8, 4), _i(4, 8))]),
    "BCEWithLogitsLSLoss": lambda: _made(f"{_L}classification.BCEWithLogitsLSLoss", [(_t(9), _u(9).round())], 0.1),
    "BetaNLL": lambda: _made(f"{_L}regression.BetaNLL", [(_t(9), _t(9), _u(9) + 0.1)]),
    "PinballLoss": lambda: _made(f"{_L}regression.PinballLoss", [(_t(9), _t(9))]),
    "DistributionNLLLoss": lambda: (
        (
            lambda mean, target: _get(f"{_L}regression.DistributionNLLLoss")()(
                torch.distributions.Normal(mean, 1.0), target, target > 2
            )
        ),
        [(_t(9), _t(9))],
    ),
    "BayesLinear": lambda: _made("torch_uncertainty.layers.bayesian.BayesLinear", [(_t(4, 6),)], 6, 5),
    "LPBNNLinear": lambda: _made("torch_uncertainty.layers.bayesian.LPBNNLinear", [(_t(4, 6),)], 6, 5, 2, 3),
    "BatchLinear": lambda: _made("torch_uncertainty.layers.BatchLinear", [(_t(8, 6),)], 6, 5, 2),
    "MaskedLinear": lambda: _made("torch_uncertainty.layers.MaskedLinear", [(_t(8, 12),)], 12, 5, 2, 2.0),
    "PackedLinear": lambda: _made("torch_uncertainty.layers.PackedLinear", [(_t(8, 12),)], 12, 8, 2, 2, first=True),
    "PackedMultiheadAttention": lambda: _made(
        "torch_uncertainty.layers.PackedMultiheadAttention", [(_t(5, 2, 24), _t(5, 2, 24), _t(5, 2, 24))], 24, 2, 1, 2
    ),
    "MCBatchNorm2d": lambda: _made("torch_uncertainty.layers.mc_batch_norm.MCBatchNorm2d", [(_t(2, 3, 6, 6),)], 3, 2),
    "FilterResponseNorm2d": lambda: _made("torch_uncertainty.layers.FilterResponseNorm2d", [(_t(2, 3, 6, 6),)], 3),
}

_W = "pytorch_optimizer.loss."
_OPTIMIZER: dict[str, Callable[[], Built]] = {
    "BiTemperedLogisticLoss": lambda: _made(
        f"{_W}bi_tempered.BiTemperedLogisticLoss", [(_t(6, 4), _i(4, 6))], 0.8, 1.4, label_smooth=0.1, ignore_index=2
    ),
    "BiTemperedLogisticLoss low": lambda: _made(
        f"{_W}bi_tempered.BiTemperedLogisticLoss", [(_t(6, 4), _i(4, 6))], 0.8, 0.9
    ),
    "BinaryBiTemperedLogisticLoss": lambda: _made(
        f"{_W}bi_tempered.BinaryBiTemperedLogisticLoss", [(_t(6, 1), _u(6, 1).round())], 0.8, 1.4, ignore_index=-1
    ),
    "BCELoss": lambda: _made(f"{_W}cross_entropy.BCELoss", [(_u(6), _u(6).round())], 0.1),
    "DiceLoss": lambda: _made(f"{_W}dice.DiceLoss", [(_t(2, 3, 8, 8), _i(3, 2, 8, 8))], "multiclass", ignore_index=1),
    "DiceLoss binary": lambda: _made(f"{_W}dice.DiceLoss", [(_t(2, 1, 8, 8), _u(2, 1, 8, 8).round())], log_loss=True),
    "SoftF1Loss": lambda: _made(f"{_W}f1.SoftF1Loss", [(_u(6, 4), _u(6, 4).round())]),
    "FocalCosineLoss": lambda: _made(f"{_W}focal.FocalCosineLoss", [(_t(6, 4), _i(4, 6))]),
    "FocalTverskyLoss": lambda: _made(f"{_W}focal.FocalTverskyLoss", [(_t(6, 4), _u(6, 4).round())]),
    "JaccardLoss": lambda: _made(f"{_W}jaccard.JaccardLoss", [(_t(2, 3, 8, 8), _i(3, 2, 8, 8))], "multiclass"),
    "LDAMLoss": lambda: _made(f"{_W}ldam.LDAMLoss", [(_t(6, 4), _i(4, 6))], [5, 9, 3, 7]),
    "LovaszHingeLoss": lambda: _made(f"{_W}lovasz.LovaszHingeLoss", [(_t(2, 8, 8), _u(2, 8, 8).round())]),
}


def _physics(name: str, *given: Any, inputs: list[Any] | None = None, **options: Any) -> Built:
    return _get(f"deepinv.physics.{name}")(*given, **options), inputs or _images(16)


def _back(name: str, step: str, *given: Any, **options: Any) -> Built:
    made = _get(f"deepinv.physics.{name}")(*given, **options)
    return getattr(made, step), [(made.A(_u(1, 3, 16, 16)),)]


def _fidelity(name: str, step: str, **options: Any) -> Built:
    made = _get(f"deepinv.optim.{name}")(**options)
    blur = _get("deepinv.physics.Blur")(_u(1, 1, 3, 3), padding="circular")
    return (lambda x, y: getattr(made, step)(x, y, blur)), [(_u(1, 3, 16, 16), _u(1, 3, 16, 16))]


def _prior(name: str, step: str, *given: Any, **options: Any) -> Built:
    made = _get(f"deepinv.optim.{name}")(**options)
    return getattr(made, step), [(_u(1, 3, 16, 16), *given)]


_DEEPINV: dict[str, Callable[[], Built]] = {
    "Blur": lambda: _physics("Blur", _u(1, 1, 3, 3), padding="circular"),
    "BlurFFT": lambda: _physics("BlurFFT", (3, 16, 16), _u(1, 1, 3, 3)),
    "Downsampling": lambda: _physics("Downsampling", (3, 16, 16), "gaussian", 2),
    "Inpainting": lambda: _physics("Inpainting", (3, 16, 16), 0.5),
    "Demosaicing": lambda: _physics("Demosaicing", (3, 16, 16)),
    "CompressedSensing": lambda: _physics("CompressedSensing", 20, (3, 16, 16)),
    "SinglePixelCamera": lambda: _physics("SinglePixelCamera", 20, (3, 16, 16)),
    "SinglePixelCamera A_dagger": lambda: _back("SinglePixelCamera", "A_dagger", 20, (3, 16, 16)),
    "Decolorize": lambda: _physics("Decolorize"),
    "Haze": lambda: _physics(
        "Haze", inputs=[(_get("deepinv.utils.TensorList")([_u(1, 3, 8, 8), _u(1, 1, 8, 8), _u(1)]),)]
    ),
    "MRI": lambda: _physics("MRI", _u(16, 16).round(), inputs=[(_t(1, 2, 16, 16),)]),
    "Tomography": lambda: _physics("Tomography", 12, 16, inputs=[(_u(1, 1, 16, 16),)]),
    "RandomPhaseRetrieval": lambda: _physics(
        "RandomPhaseRetrieval", 40, (1, 6, 6), inputs=[(_t(1, 1, 6, 6).cfloat(),)]
    ),
    "SpatialUnwrapping": lambda: _physics("SpatialUnwrapping"),
    "SinglePhotonLidar": lambda: _physics("SinglePhotonLidar", inputs=[(_u(1, 2, 6, 6) * 9 + 1,)]),
    "Blur A_dagger": lambda: _back("Blur", "A_dagger", _u(1, 1, 3, 3), padding="circular"),
    "GaussianNoise": lambda: _physics("GaussianNoise", 0.2),
    "PoissonNoise": lambda: _physics("PoissonNoise", 0.2, clip_positive=True),
    "UniformGaussianNoise": lambda: _physics("UniformGaussianNoise"),
    "SaltPepperNoise": lambda: _physics("SaltPepperNoise"),
    "GammaNoise": lambda: _physics("GammaNoise", 2.0),
    "L2 prox": lambda: _fidelity("L2", "prox"),
    "L2 grad": lambda: _fidelity("L2", "grad"),
    "IndicatorL2 prox": lambda: _fidelity("IndicatorL2", "prox", radius=0.5),
    "PoissonLikelihood grad": lambda: _fidelity("PoissonLikelihood", "grad"),
    "TVPrior prox": lambda: _prior("TVPrior", "prox", n_it_max=5),
    "WaveletPrior prox": lambda: _prior("WaveletPrior", "prox"),
    "L1Prior prox": lambda: _prior("L1Prior", "prox"),
    "conjugate_gradient": lambda: _call(
        "deepinv.optim.linear.conjugate_gradient", (_scaled, _u(1, 3, 8, 8)), max_iter=5
    ),
    "lsqr": lambda: (
        (lambda b: _get("deepinv.optim.linear.lsqr")(_scaled, _scaled, b, max_iter=5)),
        [(_u(1, 3, 8, 8),)],
    ),
    "TVLoss": lambda: _made("deepinv.loss.TVLoss", _images(16)),
    "PSNR": lambda: _made("deepinv.loss.metric.PSNR", [(_u(2, 3, 16, 16), _u(2, 3, 16, 16))]),
    "SSIM": lambda: _made("deepinv.loss.metric.SSIM", [(_u(2, 3, 16, 16), _u(2, 3, 16, 16))]),
    "UNet": lambda: _made("deepinv.models.UNet", _images(16), 3, 3, scales=2),
    "DnCNN": lambda: _made("deepinv.models.DnCNN", _images(16), pretrained=None, depth=3, nf=8),
    "DRUNet": lambda: _made(
        "deepinv.models.DRUNet",
        [(_u(1, 3, 16, 16), 0.1), (_u(1, 3, 18, 18), 0.1)],
        pretrained=None,
        nc=(4, 8, 8, 8),
        nb=1,
    ),
    "MedianFilter": lambda: _made("deepinv.models.MedianFilter", [(_u(1, 3, 16, 16), 0.1)]),
    "TVDenoiser": lambda: _made("deepinv.models.TVDenoiser", [(_u(1, 3, 16, 16), 0.1)], n_it_max=4),
    "Shift": lambda: _made("deepinv.transform.Shift", _images(16)),
    "PanTiltRotate": lambda: _made("deepinv.transform.projective.PanTiltRotate", [(_u(1, 3, 16, 16),)]),
}


def _scaled(x: torch.Tensor) -> torch.Tensor:
    return 2 * x


def _unnormed(path: str, inputs: list[Any], *given: Any, **options: Any) -> Built:
    """A module without weight normalization: as it is, it cannot be copied."""
    made = _get(path)(*given, **options)
    for part in made.modules():
        if hasattr(part, "weight_g"):
            nn.utils.remove_weight_norm(part)
    return made, inputs


_DAC: dict[str, Callable[[], Built]] = {
    "VectorQuantize": lambda: _unnormed("dac.nn.quantize.VectorQuantize", [(_t(2, 8, 6),)], 8, 16, 4),
    "ResidualVectorQuantize": lambda: _unnormed(
        "dac.nn.quantize.ResidualVectorQuantize", [(_t(4, 8, 6),), (_t(4, 8, 7),)], 8, 3, 16, 4
    ),
    "ResidualVectorQuantize dropout": lambda: _unnormed(
        "dac.nn.quantize.ResidualVectorQuantize", [(_t(4, 8, 6),)], 8, 3, 16, 4, 0.5
    ),
    "ResidualVectorQuantize some": lambda: _unnormed(
        "dac.nn.quantize.ResidualVectorQuantize", [(_t(4, 8, 6), 2)], 8, 3, 16, 4
    ),
    "Encoder": lambda: _unnormed("dac.model.dac.Encoder", [(_t(2, 1, 64),)], 8, [2, 4], 8),
    "Decoder": lambda: _unnormed("dac.model.dac.Decoder", [(_t(2, 8, 6),)], 8, 16, [4, 2]),
    "DAC": lambda: _unnormed(
        "dac.model.dac.DAC",
        [(_t(2, 1, 70),), (_t(2, 1, 90),)],
        encoder_dim=8,
        encoder_rates=[2, 4],
        decoder_dim=16,
        decoder_rates=[4, 2],
        n_codebooks=2,
        codebook_size=16,
    ),
    "MPD": lambda: _unnormed("dac.model.discriminator.MPD", [(_t(1, 1, 300),)], 3),
    "Snake1d": lambda: _unnormed("dac.nn.layers.Snake1d", [(_t(2, 4, 9),)], 4),
    "SISDRLoss": lambda: _unnormed("dac.nn.loss.SISDRLoss", [(_t(2, 1, 60), _t(2, 1, 60))]),
}

_ENCODEC: dict[str, Callable[[], Built]] = {
    "SEANetEncoder": lambda: _made(
        "encodec.modules.SEANetEncoder",
        [(_t(2, 1, 64),), (_t(2, 1, 75),)],
        dimension=8,
        n_filters=4,
        ratios=[4, 2],
        norm="none",
    ),
    "SEANetDecoder": lambda: _made(
        "encodec.modules.SEANetDecoder", [(_t(2, 8, 6),)], dimension=8, n_filters=4, ratios=[4, 2], norm="none"
    ),
    "EuclideanCodebook": lambda: _made("encodec.quantization.core_vq.EuclideanCodebook", [(_t(2, 6, 8),)], 8, 16),
    "EuclideanCodebook kmeans": lambda: _made(
        "encodec.quantization.core_vq.EuclideanCodebook", [(_t(2, 20, 8),)], 8, 16, kmeans_init=True
    ),
    "ResidualVectorQuantizer": lambda: _made(
        "encodec.quantization.ResidualVectorQuantizer", [(_t(2, 8, 20), 50, 6.0)], 8, 3, 16
    ),
    "StreamingTransformerEncoder": lambda: _made(
        "encodec.modules.StreamingTransformerEncoder", [(_t(2, 6, 16),)], 16, num_heads=2, num_layers=2
    ),
    "EncodecModel": lambda: _encodec(),
    "SLSTM": lambda: _made("encodec.modules.SLSTM", [(_t(2, 8, 6),)], 8),
}


def _encodec() -> Built:
    small = {"dimension": 8, "n_filters": 4, "ratios": [4, 2], "norm": "none"}
    encoder, decoder = (_get(f"encodec.modules.SEANet{kind}")(**small) for kind in ("Encoder", "Decoder"))
    quantizer = _get("encodec.quantization.ResidualVectorQuantizer")(8, 3, 16, kmeans_init=False)
    made = _get("encodec.model.EncodecModel")(encoder, decoder, quantizer, [6.0, 12.0], 400, 1, normalize=True)
    made.set_target_bandwidth(6.0)
    return made, [(_t(1, 1, 160),), (_t(1, 1, 200),)]


_TITANS: dict[str, Callable[[], Built]] = {
    "NeuralMemory": lambda: _made(
        "titans_pytorch.NeuralMemory", [(_t(2, 16, 16),), (_t(2, 19, 16),)], 16, chunk_size=4, dim_head=8, heads=2
    ),
    "MemoryAsContextTransformer": lambda: _made(
        "titans_pytorch.MemoryAsContextTransformer",
        [(_i(20, 2, 18),), (_i(20, 2, 21),)],
        num_tokens=20,
        dim=16,
        depth=2,
        segment_len=8,
        num_persist_mem_tokens=2,
        num_longterm_mem_tokens=2,
        dim_head=8,
        heads=2,
        neural_memory_layers=(),
        use_flex_attn=False,
    ),
    "SegmentedAttention": lambda: _made(
        "titans_pytorch.mac_transformer.SegmentedAttention",
        [(_t(2, 18, 16),)],
        16,
        8,
        num_persist_mem_tokens=2,
        dim_head=8,
        heads=2,
    ),
    "NestedAttention": lambda: _made(
        "titans_pytorch.nested_attention.NestedAttention", [(_t(2, 9, 16),)], 16, dim_head=8, heads=2
    ),
    "ImplicitMLPAttention": lambda: _made(
        "titans_pytorch.implicit_mlp_attention.ImplicitMLPAttention", [(_t(2, 9, 16),)], 16, (8, 8), heads=2
    ),
    "MemoryMLP": lambda: _made("titans_pytorch.memory_models.MemoryMLP", [(_t(2, 9, 16),)], 16, 2),
    "AttentionPool": lambda: _made("titans_pytorch.neural_memory.AttentionPool", [(_t(2, 8, 16),)], 16, 4),
}

_COLUMNS = {name: place for place, name in enumerate("abcd")}
_TABLE = [(torch.cat([_i(3, 6, 2).float() + 1, _t(6, 2)], 1),), (torch.cat([_i(3, 8, 2).float() + 1, _t(8, 2)], 1),)]


def _table(name: str, dims: bool = True, **options: Any) -> Built:
    made = _get(f"pytorch_widedeep.models.tabular.{name}")
    categories = [("a", 4, 3), ("b", 4, 3)] if dims else [("a", 4), ("b", 4)]
    return made(column_idx=_COLUMNS, cat_embed_input=categories, continuous_cols=["c", "d"], **options), _TABLE


def _wide(name: str, *inputs: Any, **options: Any) -> Built:
    return _made(f"pytorch_widedeep.losses.{name}", list(inputs) or [(_u(9, 1) + 0.1, _u(9, 1) + 0.1)], **options)


_WIDEDEEP: dict[str, Callable[[], Built]] = {
    "TabMlp": lambda: _table("TabMlp"),
    "TabResnet": lambda: _table("TabResnet"),
    "TabNet": lambda: _table("TabNet"),
    "TabTransformer": lambda: _table(
        "TabTransformer", False, input_dim=8, n_heads=2, n_blocks=2, embed_continuous_method="standard"
    ),
    "FTTransformer": lambda: _table("FTTransformer", False, input_dim=8, n_heads=2, n_blocks=2),
    "SAINT": lambda: _table("SAINT", False, input_dim=8, n_heads=2, n_blocks=2),
    "TabFastFormer": lambda: _table("TabFastFormer", False, input_dim=8, n_heads=2, n_blocks=2),
    "TabPerceiver": lambda: _table("TabPerceiver", False, input_dim=8, n_latents=4, latent_dim=8),
    "ContextAttentionMLP": lambda: _table("ContextAttentionMLP", False, input_dim=8, n_blocks=2),
    "SelfAttentionMLP": lambda: _table("SelfAttentionMLP", False, input_dim=8, n_heads=2, n_blocks=2),
    "Wide": lambda: _made("pytorch_widedeep.models.Wide", [(_i(9, 6, 3),)], 9),
    "MSELoss": lambda: _wide("MSELoss"),
    "MSLELoss": lambda: _wide("MSLELoss"),
    "RMSLELoss": lambda: _wide("RMSLELoss"),
    "QuantileLoss": lambda: _wide("QuantileLoss", (_u(9, 7), _u(9, 1))),
    "FocalLoss": lambda: _wide("FocalLoss", (_t(9, 3), _i(3, 9, 1))),
    "TweedieLoss": lambda: _wide("TweedieLoss"),
    "ZILNLoss": lambda: _wide("ZILNLoss", (_t(9, 3), _u(9, 1).round())),
    "FocalR_L1Loss": lambda: _wide("FocalR_L1Loss"),
    "HuberLoss": lambda: _wide("HuberLoss"),
    "InfoNCELoss": lambda: _wide("InfoNCELoss", ((_t(6, 3, 4), _t(6, 3, 4)),)),
    "EncoderDecoderLoss": lambda: _wide("EncoderDecoderLoss", (_t(6, 4), _t(6, 4), _i(2, 6, 4).bool())),
    "RandomObfuscator": lambda: _made(
        "pytorch_widedeep.models.tabular.self_supervised._random_obfuscator.RandomObfuscator", [(_t(6, 4),)], 0.3
    ),
}


def _molecules() -> Any:
    data = _get("chemprop.data.MoleculeDatapoint")
    make = _get("chemprop.featurizers.SimpleMoleculeMolGraphFeaturizer")()
    graphs = [make(data.from_smi(text).mol) for text in ("CCO", "c1ccccc1N", "CC(=O)O")]
    return _get("chemprop.data.BatchMolGraph")(graphs)


def _scored(name: str, *inputs: torch.Tensor, **options: Any) -> Built:
    metric = _get(f"chemprop.nn.metrics.{name}")(**options)
    shape = (6, 2)
    mask, weights, flags = torch.ones(shape).bool(), torch.ones(6, 1), _i(2, *shape).bool()

    def both(predicted: torch.Tensor, target: torch.Tensor) -> Any:
        metric.reset()
        metric.update(predicted, target, mask, weights, flags, ~flags)
        return metric.compute()

    return both, [inputs or (_u(*shape), _u(*shape))]


_CHEMPROP: dict[str, Callable[[], Built]] = {
    "BondMessagePassing": lambda: _made("chemprop.nn.BondMessagePassing", [(_molecules(),)], d_h=16),
    "AtomMessagePassing": lambda: _made("chemprop.nn.AtomMessagePassing", [(_molecules(),)], d_h=16),
    "MPNN": lambda: (
        _get("chemprop.models.MPNN")(
            _get("chemprop.nn.BondMessagePassing")(d_h=16),
            _get("chemprop.nn.MeanAggregation")(),
            _get("chemprop.nn.RegressionFFN")(input_dim=16, hidden_dim=8),
            batch_norm=True,
        ),
        [(_molecules(),)],
    ),
    "MeanAggregation": lambda: _made("chemprop.nn.MeanAggregation", [(_t(7, 5), torch.tensor([0, 0, 1, 1, 1, 2, 2]))]),
    "AttentiveAggregation": lambda: _made(
        "chemprop.nn.AttentiveAggregation", [(_t(7, 5), torch.tensor([0, 0, 1, 1, 1, 2, 2]))], output_size=5
    ),
    "RegressionFFN": lambda: _made("chemprop.nn.RegressionFFN", [(_t(6, 8),)], input_dim=8),
    "EvidentialFFN": lambda: _made("chemprop.nn.EvidentialFFN", [(_t(6, 8),)], input_dim=8),
    "MulticlassDirichletFFN": lambda: _made("chemprop.nn.MulticlassDirichletFFN", [(_t(6, 8),)], 3, input_dim=8),
    "SpectralFFN": lambda: _made("chemprop.nn.SpectralFFN", [(_t(6, 8),)], input_dim=8),
    "MSE": lambda: _scored("MSE"),
    "BoundedMAE": lambda: _scored("BoundedMAE"),
    "BCELoss": lambda: _scored("BCELoss", _t(6, 2), _u(6, 2).round()),
    "BinaryMCCLoss": lambda: _scored("BinaryMCCLoss", _u(6, 2), _i(2, 6, 2)),
    "SID": lambda: _scored("SID", _u(6, 2), _u(6, 2), threshold=0.2),
    "Wasserstein": lambda: _scored("Wasserstein", _u(6, 2), _u(6, 2), threshold=0.2),
    "EvidentialLoss": lambda: _scored("EvidentialLoss", _u(6, 2, 4) + 1.1, _u(6, 2)),
}


def _autoencoder(name: str, **options: Any) -> Built:
    mark = "_" if "_" in name and name != "MSSSIM_VAE" else ""
    config = _get(f"pythae.models.{name}{mark}Config")(input_dim=(1, 8, 8), latent_dim=4, **options)
    made = _get(f"pythae.models.{name}")(config)
    make = _get("pythae.data.datasets.DatasetOutput")

    def run(pixels: torch.Tensor, epoch: int) -> Any:
        return made(make(data=pixels), epoch=epoch, dataset_size=16, uses_ddp=False).loss

    return run, [(_u(4, 1, 8, 8), 1), (_u(6, 1, 8, 8), 2)]


_PYTHAE: dict[str, Callable[[], Built]] = {
    name: partial(_autoencoder, name)
    for name in (
        "AE",
        "VAE",
        "BetaVAE",
        "BetaTCVAE",
        "DisentangledBetaVAE",
        "FactorVAE",
        "INFOVAE_MMD",
        "IWAE",
        "CIWAE",
        "MIWAE",
        "PIWAE",
        "MSSSIM_VAE",
        "RAE_GP",
        "RAE_L2",
        "RHVAE",
        "HVAE",
        "SVAE",
        "PoincareVAE",
        "VAE_IAF",
        "VAE_LinNF",
        "VAMP",
        "VQVAE",
        "WAE_MMD",
        "VAEGAN",
        "Adversarial_AE",
    )
}


def _bars(step: str, name: str = "FullSupportBarDistribution") -> Built:
    made = _get(f"tabpfn.architectures.shared.bar_distribution.{name}")(torch.linspace(-3, 3, 9))
    if step == "forward":
        return made, [(_t(5, 2, 8), 5 * _u(5, 2) - 2.5)]
    return (lambda logits: getattr(made, step)(logits)), [(_t(5, 2, 8),)]


_TABPFN: dict[str, Callable[[], Built]] = {
    "BarDistribution": partial(_bars, "forward", "BarDistribution"),
    "FullSupportBarDistribution": partial(_bars, "forward"),
    "FullSupportBarDistribution mean": partial(_bars, "mean"),
    "FullSupportBarDistribution median": partial(_bars, "median"),
    "FullSupportBarDistribution mode": partial(_bars, "mode"),
    "FullSupportBarDistribution quantile": partial(_bars, "quantile"),
    "TabPFNV2": lambda: _tabular("tabpfn_v2", "TabPFNV2"),
    "TabPFNV2p5": lambda: _tabular("tabpfn_v2_5", "TabPFNV2p5", task_type="multiclass"),
    "TabPFNV2p6": lambda: _tabular("tabpfn_v2_6", "TabPFNV2p6", task_type="multiclass"),
}


def _tabular(module: str, name: str, **options: Any) -> Built:
    config = _get(f"tabpfn.architectures.{module}.{name}Config")(
        max_num_classes=3, num_buckets=8, emsize=24, nlayers=2, nhead=2
    )
    made = _get(f"tabpfn.architectures.{module}.{name}")(config=config, n_out=3, **options)
    return made, [(_t(9, 1, 4), _i(3, 6, 1).float())]


def _operator(name: str, **options: Any) -> Built:
    lift, project = nn.Linear(2, 8), nn.Linear(8, 1)
    return _made(f"pina.model.{name}", [(_t(2, 12, 12, 2),)], lifting_net=lift, projecting_net=project, **options)


_B = "pina.model.block."
_PINA: dict[str, Callable[[], Built]] = {
    "FeedForward": lambda: _made("pina.model.FeedForward", [(_t(6, 3),)], 3, 2),
    "ResidualFeedForward": lambda: _made("pina.model.ResidualFeedForward", [(_t(6, 3),)], 3, 2),
    "FNO": lambda: _operator("FNO", n_modes=4, dimensions=2, inner_size=8, n_layers=2),
    "KernelNeuralOperator": lambda: _made(
        "pina.model.KernelNeuralOperator", [(_t(2, 6, 3),)], nn.Linear(3, 8), nn.Linear(8, 8), nn.Linear(8, 1)
    ),
    "SpectralConvBlock1D": lambda: _made(f"{_B}SpectralConvBlock1D", [(_t(2, 3, 16),)], 3, 4, 5),
    "SpectralConvBlock2D": lambda: _made(f"{_B}SpectralConvBlock2D", [(_t(2, 3, 16, 16),)], 3, 4, 5),
    "FourierBlock1D": lambda: _made(f"{_B}FourierBlock1D", [(_t(2, 3, 16),)], 3, 4, 5),
    "LowRankBlock": lambda: _made(f"{_B}LowRankBlock", [(_t(2, 6, 4), _u(2, 6, 2))], 2, 4, 3),
    "RBFBlock": lambda: _rbf(),
    "PODBlock": lambda: _pod(),
    "OrthogonalBlock": lambda: _made(f"{_B}OrthogonalBlock", [(_t(6, 4),)]),
    "EnhancedLinear": lambda: _made(f"{_B}EnhancedLinear", [(_t(6, 4),)], nn.Linear(4, 3), nn.Tanh()),
    "LpLoss": lambda: _made("pina.loss.LpLoss", [(_t(6, 3), _t(6, 3))], p=2, relative=True),
    "LpLoss inf": lambda: _made("pina.loss.LpLoss", [(_t(6, 3), _t(6, 3))], p="-inf"),
    "PowerLoss": lambda: _made("pina.loss.PowerLoss", [(_t(6, 3), _t(6, 3))], p=2),
}


def _rbf() -> Built:
    made = _get(f"{_B}RBFBlock")(neighbors=None, smoothing=0.0, kernel="gaussian", epsilon=1.0)
    made.fit(_t(8, 1), _t(8, 2))
    return made, [(_t(4, 1),)]


def _pod() -> Built:
    made = _get(f"{_B}PODBlock")(3)
    made.fit(_t(8, 6))
    return made.reduce, [(_t(4, 6),)]


MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in (
        ("compressai", _COMPRESSAI),
        ("torchkge", _TORCHKGE),
        ("norse", _NORSE),
        ("sinabs", _SINABS),
        ("torch_uncertainty", _UNCERTAINTY),
        ("pytorch_optimizer", _OPTIMIZER),
        ("deepinv", _DEEPINV),
        ("dac", _DAC),
        ("encodec", _ENCODEC),
        ("titans_pytorch", _TITANS),
        ("pytorch_widedeep", _WIDEDEEP),
        ("chemprop", _CHEMPROP),
        ("pythae", _PYTHAE),
        ("tabpfn", _TABPFN),
        ("pina", _PINA),
    )
    for name, build in models.items()
}

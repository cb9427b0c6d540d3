"""Models of packages that were chosen and run after the work on the ninth group, before anything was changed for them.

Of torchcrepe, torch-stoi, pytorch-wpe, effdet, libauc, pyiqa, k-diffusion, tntorch, pymde, pyqtorch, deepquantum,
neuromancer, chgnet, LTNtorch, torch-geometric-temporal, scvi-tools, kmeans-pytorch, momentfm and skrl.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(10)

# What these packages import of others and the models here do not use.
_ABSENT = {
    "torchcrepe": ("librosa", "torchaudio"),
    "torch_stoi": ("torchaudio.transforms",),
    "effdet": ("torchvision.ops.boxes", "torchvision.ops.misc", "torchvision.models.utils", "pycocotools"),
    "pymde": ("torchvision.datasets",),
    "pyiqa": ("torchvision.transforms.functional", "torchvision.models", "torchvision.utils"),
    "k_diffusion": ("torchvision.transforms.functional", "clip", "wandb"),
    "deepquantum": ("qiskit.qasm3", "qiskit.quantum_info", "qiskit_ibm_runtime"),
    "neuromancer": ("pydot", "lightning.pytorch"),
    "chgnet": ("pymatgen.core.structure",),
    "momentfm": ("transformers.models.t5", "huggingface_hub"),
    "torch_geometric_temporal": ("torch_sparse",),
    "libauc": ("torchvision.transforms", "webdataset", "torch_geometric"),
}

# Packages, outer ones first, whose `__init__` needs more than the models here do.
_BARE = (
    "k_diffusion",
    "deepquantum",
    "neuromancer",
    "chgnet",
    "chgnet.model",
    "momentfm",
    "scvi",
    "scvi.distributions",
    "scvi.utils",
    "libauc",
    "torch_geometric_temporal",
    "torch_geometric_temporal.nn",
    "torch_geometric_temporal.nn.recurrent",
    "torch_geometric_temporal.nn.attention",
    "effdet",
)


def _prepare(package: str) -> None:
    if package == "torch_stoi":
        sys.modules["torchaudio"].transforms = SimpleNamespace(Resample=nn.Identity)  # type: ignore[attr-defined]
    if package == "scvi":
        sys.modules["scvi"].settings = SimpleNamespace(warnings_stacklevel=2)  # type: ignore[attr-defined]
        sys.modules["scvi.utils"].is_package_installed = lambda _: False  # type: ignore[attr-defined]


_get = getter(_ABSENT, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _ = uses_by_name(_get)


def _method(path: str, method: str, inputs: list[Any], *given: Any, **options: Any) -> Built:
    """A method of an object."""
    made = _get(path)(*given, **options)
    return (lambda *x: getattr(made, method)(*x)), inputs


_PITCH = [(_u(1, 6) * 400 + 60, _u(1, 6)), (_u(1, 8) * 400 + 60, _u(1, 8))]
_R = "torchcrepe."
_CREPE: dict[str, Callable[[], Built]] = {
    "Crepe": lambda: _made(_R + "model.Crepe", [(_t(2, 1024),)], "tiny"),
    "argmax": lambda: _call(_R + "decode.argmax", (_t(1, 360, 5),)),
    "weighted_argmax": lambda: _call(_R + "decode.weighted_argmax", (_t(1, 360, 5),)),
    "mean": lambda: _call(_R + "filter.mean", (_t(2, 20), 3)),
    "median": lambda: _call(_R + "filter.median", (_t(2, 20), 3)),
    "mean of nan": lambda: _call(_R + "filter.mean", (torch.tensor([[1.0, float("nan"), 2.0, 3.0]]), 3)),
    "At": lambda: _made(_R + "threshold.At", _PITCH, 0.4),
    "Hysteresis": lambda: _made(_R + "threshold.Hysteresis", _PITCH),
    "frequency_to_bins": lambda: _call(_R + "convert.frequency_to_bins", (_u(5) * 400 + 60,)),
    "bins_to_frequency": lambda: _call(_R + "convert.bins_to_frequency", (_i(300, 2, 5),)),
    "cents_to_frequency": lambda: _call(_R + "convert.cents_to_frequency", (_u(5) * 6000,)),
    "periodicity": lambda: _call(_R + "core.periodicity", (_u(1, 360, 5), _i(300, 1, 5))),
    "postprocess": lambda: _using(
        _R + "core.postprocess",
        lambda use, x: use(x, decoder=_get(_R + "decode.weighted_argmax"), return_periodicity=True),
        (_u(1, 360, 5),),
    ),
}

_STOI: dict[str, Callable[[], Built]] = {
    "NegSTOILoss": lambda: _made("torch_stoi.NegSTOILoss", [(_t(2, 10000), _t(2, 10000))], sample_rate=10000),
    "NegSTOILoss vad": lambda: _made(
        "torch_stoi.NegSTOILoss", [(_t(2, 12000), _t(2, 12000))], sample_rate=10000, use_vad=True, extended=True
    ),
    "NegSTOILoss no vad": lambda: _made(
        "torch_stoi.NegSTOILoss", [(_t(2, 10000), _t(2, 10000))], sample_rate=10000, use_vad=False
    ),
}


def _complex(*shape: int) -> Any:
    return _get("torch_complex.tensor.ComplexTensor")(_t(*shape), _t(*shape))


def _framed(x: torch.Tensor, y: torch.Tensor, use: Callable[..., Any]) -> Any:
    return use(_get("torch_complex.tensor.ComplexTensor")(x, y))


_WPE: dict[str, Callable[[], Built]] = {
    "signal_framing": lambda: _call("pytorch_wpe.signal_framing", (_t(2, 3, 40), 4, 2)),
    "get_power": lambda: _using(
        "pytorch_wpe.get_power", lambda use, x, y: _framed(x, y, use), (_t(2, 3, 40), _t(2, 3, 40))
    ),
    "wpe": lambda: _using(
        "pytorch_wpe.wpe",
        lambda use, x, y: _framed(x, y, lambda z: use(z, taps=2, delay=1, iterations=1)),
        (_t(2, 3, 40).double(), _t(2, 3, 40).double()),
    ),
    "wpe_one_iteration": lambda: _using(
        "pytorch_wpe.wpe_one_iteration",
        lambda use, x, y: _framed(x, y, lambda z: use(z, z.real[:, 0] ** 2 + 1.0, taps=2, delay=1)),
        (_t(2, 3, 40).double(), _t(2, 3, 40).double()),
    ),
}


def _boxes(*shape: int) -> torch.Tensor:
    corner = 40 * _u(*shape, 2)
    return torch.cat([corner, corner + 8 + 20 * _u(*shape, 2)], -1)


def _anchors() -> Any:
    return _get("effdet.anchors.Anchors")(3, 7, 1, [(1.0, 1.0), (1.4, 0.7)], 4.0, (128, 128))


def _labeler(method: str, *inputs: Any) -> Built:
    made = _get("effdet.anchors.AnchorLabeler")(_anchors(), 5)
    return (lambda *x: getattr(made, method)(*x)), list(inputs)


def _box_list(use: Callable[..., Any], *inputs: Any) -> Built:
    return _using("effdet.object_detection.box_list.BoxList", use, *inputs)


def _detections(soft: bool) -> Built:
    return _call(
        "effdet.anchors.generate_detections",
        (
            _t(20, 1),
            0.1 * _t(20, 4),
            _boxes(20),
            _i(20, 20),
            _i(5, 20),
            torch.tensor(1.0),
            torch.tensor([128.0, 128.0]),
            10,
            soft,
        ),
    )


def _detection_loss(legacy: bool) -> Built:
    config = SimpleNamespace(
        num_classes=5,
        alpha=0.25,
        gamma=1.5,
        delta=0.1,
        box_loss_weight=50.0,
        label_smoothing=0.0,
        legacy_focal=legacy,
        jit_loss=False,
    )
    inputs = (
        [_t(2, 10, 8, 8), _t(2, 10, 4, 4)],
        [_t(2, 8, 8, 8), _t(2, 8, 4, 4)],
        [_i(5, 2, 8, 8, 2) - 1, _i(5, 2, 4, 4, 2) - 1],
        [_t(2, 8, 8, 8), _t(2, 4, 4, 8)],
        torch.tensor([3.0, 4.0]),
    )
    return _made("effdet.loss.DetectionLoss", [inputs], config)


_E = "effdet.object_detection."
_EFFDET: dict[str, Callable[[], Built]] = {
    "soft_nms": lambda: _call("effdet.soft_nms.soft_nms", (_boxes(8), _u(8))),
    "soft_nms linear": lambda: _call("effdet.soft_nms.soft_nms", (_boxes(8), _u(8), False)),
    "batched_soft_nms": lambda: _call("effdet.soft_nms.batched_soft_nms", (_boxes(8), _u(8), _i(3, 8))),
    "pairwise_iou": lambda: _call("effdet.soft_nms.pairwise_iou", (_boxes(8), _boxes(5))),
    "decode_box_outputs": lambda: _call("effdet.anchors.decode_box_outputs", (0.1 * _t(8, 4), _boxes(8), True)),
    "clip_boxes_xyxy": lambda: _call("effdet.anchors.clip_boxes_xyxy", (_boxes(8), torch.tensor([30.0, 30.0]))),
    "generate_detections soft": lambda: _detections(True),
    "label_anchors": lambda: _labeler("label_anchors", (_boxes(3), _i(4, 3).float() + 1)),
    "batch_label_anchors": lambda: _labeler(
        "batch_label_anchors", (_boxes(2, 3), _i(4, 2, 3).float() + 1), (_boxes(2, 4), _i(4, 2, 4).float() + 1)
    ),
    "DetectionLoss": lambda: _detection_loss(False),
    "DetectionLoss legacy": lambda: _detection_loss(True),
    "huber_loss": lambda: _call("effdet.loss.huber_loss", (_t(5, 4), _t(5, 4))),
    "smooth_l1_loss": lambda: _call("effdet.loss.smooth_l1_loss", (_t(5, 4), _t(5, 4))),
    "iou": lambda: _box_list(
        lambda made, x, y: _get(_E + "region_similarity_calculator.iou")(made(x), made(y)), (_boxes(5), _boxes(4))
    ),
    "box coder": lambda: _box_list(
        lambda made, x, y: _get(_E + "box_coder.FasterRcnnBoxCoder")().encode(made(x), made(y)), (_boxes(5), _boxes(5))
    ),
    "ArgMaxMatcher": lambda: _method(
        _E + "argmax_matcher.ArgMaxMatcher", "match", [(_u(3, 20),), (_u(4, 20),)], 0.5, force_match_for_each_row=True
    ),
}

_A = "libauc.losses."
_SCORES = [(_u(8, 1), _i(2, 8, 1).float()), (_u(6, 1), torch.tensor([1.0, 0, 1, 0, 0, 1])[:, None])]
_INDEXED = [(*pair, torch.arange(len(pair[0]))) for pair in _SCORES]
_LABELS = [(_u(8, 3), torch.tensor([[1.0, 0, 1], [0, 1, 0]] * 4))]
_LIBAUC: dict[str, Callable[[], Built]] = {
    "AUCMLoss": lambda: _made(_A + "auc.AUCMLoss", _SCORES),
    "AUCMLoss v2": lambda: _made(_A + "auc.AUCMLoss", _SCORES, version="v2"),
    "CompositionalAUCLoss": lambda: _made(_A + "auc.CompositionalAUCLoss", _SCORES),
    "AveragePrecisionLoss": lambda: _made(_A + "auc.AveragePrecisionLoss", _INDEXED, 10),
    "pAUC_CVaR_Loss": lambda: _made(_A + "auc.pAUC_CVaR_Loss", _INDEXED, 10, 10),
    "pAUC_DRO_Loss": lambda: _made(_A + "auc.pAUC_DRO_Loss", _INDEXED, 10),
    "tpAUC_KL_Loss": lambda: _made(_A + "auc.tpAUC_KL_Loss", _INDEXED, 10),
    "tpAUC_CVaR_loss": lambda: _made(_A + "auc.tpAUC_CVaR_loss", _INDEXED, 10),
    "PairwiseAUCLoss": lambda: _made(_A + "auc.PairwiseAUCLoss", _SCORES),
    "MultiLabelAUCMLoss": lambda: _made(_A + "auc.MultiLabelAUCMLoss", _LABELS, num_labels=3),
    "meanAveragePrecisionLoss": lambda: _made(
        _A + "auc.meanAveragePrecisionLoss", [(*_LABELS[0], torch.arange(8))], 10, num_labels=3
    ),
    "GCLoss_v1": lambda: _made(_A + "contrastive.GCLoss_v1", [(_t(4, 8), _t(4, 8), torch.arange(4))], N=10),
    "GCLoss_v1 isogclr": lambda: _made(
        _A + "contrastive.GCLoss_v1", [(_t(4, 8), _t(4, 8), torch.arange(4))], N=10, enable_isogclr=True
    ),
    "GCLoss_v2": lambda: _made(_A + "contrastive.GCLoss_v2", [(_t(4, 8), _t(4, 8), torch.arange(4))], N=10),
    "FocalLoss": lambda: _made(_A + "losses.FocalLoss", _SCORES),
    "MIDAM_softmax": lambda: _made(_A + "mil.MIDAM_softmax_pooling_loss", [(*_SCORES[0], torch.arange(8))], 10),
    "EntLossClassification": lambda: _made(_A + "xc.EntLossClassification", [(_t(6, 4), torch.arange(6))], 8),
    "NDCGLoss": lambda: _made(
        _A + "ranking.NDCGLoss",
        [
            (
                _t(2, 5),
                {
                    "rating": _i(4, 2, 5).float(),
                    "num_pos_items": torch.tensor([2, 2]),
                    "ideal_dcg": _u(2) + 1,
                    "user_id": torch.arange(2),
                    "user_item_id": _i(6, 2, 5),
                },
            )
        ],
        10,
        4,
        6,
        2,
    ),
}

_Q = "pyiqa."
_IMAGES = [(_u(1, 3, 96, 96), _u(1, 3, 96, 96)), (_u(2, 3, 112, 96), _u(2, 3, 112, 96))]
_IMAGE = [(x,) for x, _ in _IMAGES]
_PYIQA: dict[str, Callable[[], Built]] = {
    "PSNR": lambda: _made(_Q + "archs.psnr_arch.PSNR", _IMAGES),
    "PSNR y": lambda: _made(_Q + "archs.psnr_arch.PSNR", _IMAGES, test_y_channel=True, crop_border=4),
    "SSIM": lambda: _made(_Q + "archs.ssim_arch.SSIM", _IMAGES, downsample=True),
    "FSIM": lambda: _made(_Q + "archs.fsim_arch.FSIM", _IMAGES),
    "GMSD": lambda: _made(_Q + "archs.gmsd_arch.GMSD", _IMAGES),
    "Entropy": lambda: _made(_Q + "archs.entropy_arch.Entropy", _IMAGE),
    "PIQE": lambda: _made(_Q + "archs.piqe_arch.PIQE", _IMAGE),
    "natural_scene_statistics": lambda: _call(
        _Q + "archs.brisque_arch.natural_scene_statistics", (255 * _u(1, 1, 64, 64),)
    ),
    "compute_feature": lambda: _call(_Q + "archs.niqe_arch.compute_feature", (_t(1, 1, 96, 96),)),
    "CNNIQA": lambda: _made(_Q + "archs.cnniqa_arch.CNNIQA", _IMAGE, pretrained=None),
    "EMDLoss": lambda: _made(_Q + "losses.iqa_losses.EMDLoss", [(_u(4, 10).softmax(1), _u(4, 10).softmax(1))]),
    "PLCCLoss": lambda: _made(_Q + "losses.iqa_losses.PLCCLoss", [(_u(8, 1), _u(8, 1))]),
    "RankLoss": lambda: _made(_Q + "losses.iqa_losses.RankLoss", [(_u(8, 1), _u(8, 1))]),
    "NiNLoss": lambda: _made(_Q + "losses.iqa_losses.NiNLoss", [(_u(8, 1), _u(8, 1)), (_u(1, 1), _u(1, 1))]),
    "CharbonnierLoss": lambda: _made(_Q + "losses.losses.CharbonnierLoss", [(_t(2, 3, 8, 8), _t(2, 3, 8, 8))]),
    "imresize": lambda: _call(_Q + "matlab_utils.resize.imresize", (_u(1, 3, 32, 32), 0.5)),
    "blockproc": lambda: _call(_Q + "matlab_utils.functions.im2col", (_u(1, 1, 16, 16), 4, "distinct")),
    "fitweibull": lambda: _call(_Q + "matlab_utils.functions.fitweibull", (_u(2, 40) + 0.1,)),
    "nancov": lambda: _call(_Q + "matlab_utils.functions.nancov", (_t(2, 12, 4),)),
    "dct2d": lambda: _call(_Q + "matlab_utils.functions.dct2d", (_t(2, 8, 8),)),
    "rgb2lab": lambda: _call(_Q + "utils.color_util.rgb2lab", (_u(1, 3, 8, 8),)),
    "estimate_ggd_param": lambda: _call(_Q + "archs.func_util.estimate_ggd_param", (_t(2, 1, 16, 16),)),
    "estimate_aggd_param": lambda: _call(_Q + "archs.func_util.estimate_aggd_param", (_t(2, 1, 16, 16),)),
}


class _Noise(nn.Module):
    """A denoiser of images."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Conv2d(3, 3, 3, padding=1)

    def forward(self, x: torch.Tensor, sigma: torch.Tensor) -> torch.Tensor:
        return self.net(x) / (1 + sigma.reshape(-1, 1, 1, 1))


def _sampled(name: str, *given: Any, **options: Any) -> Built:
    net = _Noise()
    sample = _get("k_diffusion.sampling." + name)
    sigmas = torch.tensor([4.0, 2.0, 1.0, 0.5, 0.0])
    inputs = (_t(1, 3, 8, 8), *(given or (sigmas,)))
    return (lambda x, *rest: sample(net, x, *rest, disable=True, **options)), [inputs]


def _denoiser(name: str, **options: Any) -> Built:
    net = _Noise()
    alphas = torch.linspace(0.99, 0.01, 20)
    return _made("k_diffusion.external." + name, [(_t(2, 3, 8, 8), torch.tensor([0.5, 1.0]))], net, alphas, **options)


_W = "k_diffusion."
_KDIFF: dict[str, Callable[[], Built]] = {
    **{
        name: lambda name=name: _sampled(name)
        for name in (
            "sample_euler",
            "sample_euler_ancestral",
            "sample_heun",
            "sample_dpm_2",
            "sample_dpm_2_ancestral",
            "sample_lms",
            "sample_dpmpp_2s_ancestral",
            "sample_dpmpp_2m",
        )
    },
    "sample_euler churn": lambda: _sampled("sample_euler", s_churn=1.0),
    "sample_dpm_fast": lambda: _sampled("sample_dpm_fast", 0.1, 4.0, 5),
    "sample_dpm_adaptive": lambda: _sampled("sample_dpm_adaptive", 0.1, 4.0),
    "get_sigmas_karras": lambda: _using(
        _W + "sampling.get_sigmas_karras", lambda use, x: use(6, 0.1, 10.0) * x, (_t(1),)
    ),
    "get_ancestral_step": lambda: _call(_W + "sampling.get_ancestral_step", (torch.tensor(2.0), torch.tensor(1.0))),
    "DiscreteEpsDDPMDenoiser": lambda: _denoiser("DiscreteEpsDDPMDenoiser", quantize=True),
    "DiscreteVDDPMDenoiser": lambda: _denoiser("DiscreteVDDPMDenoiser", quantize=False),
    "VDenoiser": lambda: _made(_W + "external.VDenoiser", [(_t(2, 3, 8, 8), torch.tensor([0.5, 1.0]))], _Noise()),
    "Denoiser": lambda: _made(_W + "layers.Denoiser", [(_t(2, 3, 8, 8), torch.tensor([0.5, 1.0]))], _Noise()),
    "FourierFeatures": lambda: _made(_W + "layers.FourierFeatures", [(_t(2, 1),)], 1, 8),
    "Downsample2d": lambda: _made(_W + "layers.Downsample2d", [(_t(2, 3, 8, 8),)]),
    "rand_log_normal": lambda: _using(_W + "utils.rand_log_normal", lambda use, x: use((4,)) * x, (_t(4),)),
    "rand_v_diffusion": lambda: _using(
        _W + "utils.rand_v_diffusion", lambda use, x: use((4,), min_value=0.1, max_value=10.0) * x, (_t(4),)
    ),
    "rand_split_log_normal": lambda: _using(
        _W + "utils.rand_split_log_normal", lambda use, x: use((4,), 0.0, 1.0, 2.0) * x, (_t(4),)
    ),
}

_N = "tntorch."


def _decomposed(use: Callable[..., Any], *shape: int, ranks: int = 2) -> Built:
    """A function of a tensor train whose cores are the arguments."""
    made = _get(_N + "Tensor")
    sizes = (1, *[ranks] * (len(shape) - 1), 1)
    cores = tuple(_t(sizes[i], n, sizes[i + 1]) for i, n in enumerate(shape))
    return (lambda *parts: use(importlib.import_module("tntorch"), made(list(parts)))), [cores]


_TNTORCH: dict[str, Callable[[], Built]] = {
    "Tensor full": lambda: _decomposed(lambda _, t: t.torch(), 4, 5, 6),
    "Tensor add": lambda: _decomposed(lambda _, t: (t + t).torch(), 4, 5, 6),
    "Tensor mul": lambda: _decomposed(lambda _, t: (t * t).torch(), 4, 5, 6),
    "Tensor index": lambda: _decomposed(lambda _, t: t[1, :, 2:4].torch(), 4, 5, 6),
    "Tensor from full": lambda: _using(_N + "Tensor", lambda made, x: made(x, ranks_tt=2).torch(), (_t(4, 5, 6),)),
    "round_tt": lambda: _using(_N + "round_tt", lambda use, x: use(_get(_N + "Tensor")(x), eps=0.1), (_t(4, 5, 6),)),
    "dot": lambda: _decomposed(lambda tn, t: tn.dot(t, t), 4, 5, 6),
    "dist": lambda: _decomposed(lambda tn, t: tn.dist(t, t * 2), 4, 5, 6),
    "relative_error": lambda: _decomposed(lambda tn, t: tn.relative_error(t, t * 2), 4, 5, 6),
    "sum": lambda: _decomposed(lambda tn, t: tn.sum(t), 4, 5, 6),
    "mean": lambda: _decomposed(lambda tn, t: tn.mean(t), 4, 5, 6),
    "var": lambda: _decomposed(lambda tn, t: tn.var(t), 4, 5, 6),
    "norm": lambda: _decomposed(lambda tn, t: tn.norm(t), 4, 5, 6),
    "cumsum": lambda: _decomposed(lambda tn, t: tn.cumsum(t).torch(), 4, 5, 6),
    "partial": lambda: _decomposed(lambda tn, t: tn.partial(t, 0).torch(), 4, 5, 6),
    "anova_decomposition": lambda: _decomposed(lambda tn, t: tn.anova_decomposition(t).torch(), 4, 5, 6),
    "mean_dimension": lambda: _decomposed(lambda tn, t: tn.mean_dimension(t), 4, 5, 6),
    "hash": lambda: _decomposed(lambda tn, t: tn.hash(t), 4, 5, 6),
    "minimum": lambda: _decomposed(lambda tn, t: tn.minimum(t, rmax=4, max_iter=2, verbose=False), 4, 5, 6),
    "maxvol": lambda: _call(_N + "maxvol.py_maxvol", (_t(12, 3).numpy(),)),
}

_M = "pymde."
_DISTANCES = [(_u(6) + 0.1,)]
_SIGNED = torch.tensor([1.0, -1.0, 1.0, 2.0, -1.0, 1.0])


def _embedded(use: Callable[..., Any]) -> Built:
    edges = torch.tensor([[0, 1], [0, 2], [1, 3], [2, 3], [3, 4], [1, 4]])
    made = _get(_M + "MDE")(
        5, 2, edges, _get(_M + "functions.losses.Quadratic")(_u(6) + 0.5), _get(_M + "Standardized")()
    )
    return (lambda x: use(made, x)), [(_t(5, 2),)]


_PYMDE: dict[str, Callable[[], Built]] = {
    **{
        f"losses {name}": lambda name=name, given=given: _made(
            _M + f"functions.losses.{name}", _DISTANCES, _u(6) + 0.2, *given
        )
        for name, given in (
            ("Huber", (0.3,)),
            ("Power", (1.5,)),
            ("Absolute", ()),
            ("SoftFractional", ()),
            ("Logistic", ()),
        )
    },
    **{
        f"penalties {name}": lambda name=name, given=given: _made(
            _M + f"functions.penalties.{name}", _DISTANCES, *given
        )
        for name, given in (
            ("Linear", (_u(6),)),
            ("Huber", (_u(6),)),
            ("Logistic", (_u(6),)),
            ("Log1p", (_u(6),)),
            ("Log", (_u(6),)),
            ("InvPower", (-_u(6) - 0.1,)),
            ("PushAndPull", (_SIGNED,)),
        )
    },
    "average_distortion": lambda: _embedded(lambda made, x: made.average_distortion(x)),
    "high_distortion_pairs": lambda: _embedded(lambda made, x: made.high_distortion_pairs(x)),
    "distances": lambda: _embedded(lambda made, x: made.distances(x)),
    "project onto constraint": lambda: _embedded(lambda made, x: made.constraint.project_onto_constraint(x, False)),
    "project onto tangent space": lambda: _embedded(
        lambda made, x: made.constraint.project_onto_tangent_space(x, x + 1, False)
    ),
    "Anchored": lambda: _using(
        _M + "Anchored",
        lambda made, x: made(torch.tensor([0, 2]), torch.zeros(2, 2)).project_onto_constraint(x, False),
        (_t(5, 2),),
    ),
    "center": lambda: _call(_M + "util.center", (_t(5, 2),)),
    "rotate": lambda: _call(_M + "util.rotate", (_t(5, 2), 30.0)),
    "align": lambda: _call(_M + "util.align", (_t(5, 2), _t(5, 2))),
    "procrustes": lambda: _call(_M + "util.procrustes", (_t(5, 2), _t(5, 2))),
    "in_stdemb": lambda: _call(_M + "util.in_stdemb", (_t(5, 2),)),
    "pca": lambda: _call(_M + "quadratic.pca", (_t(12, 5), 2)),
}

_Y = "pyqtorch."
_CF = torch.complex128


def _state(n: int = 2, batch: int = 1) -> torch.Tensor:
    made: torch.Tensor = _get(_Y + "utils.random_state")(n, batch)
    return made


def _circuit() -> Any:
    gates = [_get(_Y + "RX")(0, "a"), _get(_Y + "CNOT")(0, 1), _get(_Y + "RY")(1, "b"), _get(_Y + "CRZ")(0, 1, "a")]
    return _get(_Y + "QuantumCircuit")(2, gates)


def _gate(name: str, *given: Any) -> Built:
    made = _get(_Y + name)(*given)
    return (lambda state, angle: made(state, {"a": angle})), [(_state(), _u(1))]


def _ran(use: Callable[..., Any]) -> Built:
    circuit = _circuit()
    return (lambda state, a, b: use(circuit, state, {"a": a, "b": b})), [(_state(), _u(1), _u(1))]


def _observable() -> Any:
    return _get(_Y + "Observable")([_get(_Y + "Z")(0)])


_PYQ: dict[str, Callable[[], Built]] = {
    "RX": lambda: _gate("RX", 0, "a"),
    "U": lambda: _made(_Y + "U", [(_state(), {"p": _u(1), "t": _u(1), "o": _u(1)})], 0, "p", "t", "o"),
    "CNOT": lambda: _made(_Y + "CNOT", [(_state(),)], 0, 1),
    "Toffoli": lambda: _made(_Y + "Toffoli", [(_state(3),)], (0, 1), 2),
    "BitFlip": lambda: _made(_Y + "noise.digital_gates.BitFlip", [(_state(),)], 0, 0.2),
    "AmplitudeDamping": lambda: _made(_Y + "noise.digital_gates.AmplitudeDamping", [(_state(),)], 0, 0.2),
    "circuit": lambda: _ran(lambda circuit, state, values: circuit(state, values)),
    "sample": lambda: _ran(lambda circuit, state, values: circuit.sample(state, values, 20)),
    "expectation": lambda: _ran(
        lambda circuit, state, values: _get(_Y + "expectation")(circuit, state, values, _observable())
    ),
    "expectation gpsr": lambda: _ran(
        lambda circuit, state, values: _get(_Y + "expectation")(
            circuit, state, values, _observable(), _get(_Y + "DiffMode").GPSR
        )
    ),
    "HamiltonianEvolution": lambda: _evolved(),
    "overlap": lambda: _call(_Y + "utils.overlap", (_state(), _state())),
    "is_normalized": lambda: _call(_Y + "utils.is_normalized", (_state(),)),
    "is_diag": lambda: _call(_Y + "utils.is_diag", (_t(4, 4),)),
    "is_diag_batched": lambda: _call(_Y + "utils.is_diag_batched", (_t(4, 4, 2),)),
    "density_mat": lambda: _call(_Y + "utils.density_mat", (_state(),)),
    "permute_state": lambda: _call(_Y + "utils.permute_state", (_state(3), (2, 0, 1))),
    "hairer_norm": lambda: _call(_Y + "utils.hairer_norm", (_t(4, 2),)),
    "heaviside": lambda: _call(_Y + "utils.heaviside", (_t(4),)),
    "sample_multinomial": lambda: _call(_Y + "utils.sample_multinomial", (_u(4), 2, 20)),
    "sesolve": lambda: _solved("DP5_SE"),
    "sesolve krylov": lambda: _solved("KRYLOV_SE"),
    "mesolve": lambda: _open(),
}


def _hermitian() -> torch.Tensor:
    given = _t(4, 4).to(_CF)
    return given + given.mH


def _evolved() -> Built:
    made = _get(_Y + "HamiltonianEvolution")(_hermitian(), "t", (0, 1))
    return (lambda state, t: made(state, {"t": t})), [(_state(), _u(1))]


def _solved(kind: str) -> Built:
    solve = _get(_Y + "sesolve")
    h = _hermitian()
    solver = getattr(_get(_Y + "utils.SolverType"), kind)
    return (lambda psi, t: solve(lambda s: h * s, psi, t, solver)), [(_t(4, 1).to(_CF), torch.linspace(0, 1, 4))]


def _open() -> Built:
    solve = _get(_Y + "mesolve")
    h = _hermitian()
    jumps = [0.1 * _t(4, 4).to(_CF)]
    rho = torch.eye(4, dtype=_CF)[..., None] / 4
    solver = _get(_Y + "utils.SolverType").DP5_ME
    return (lambda r, t: solve(lambda s: h * s, r, jumps, t, solver)), [(rho, torch.linspace(0, 1, 4))]


_D = "deepquantum."


def _amplitudes(n: int = 2) -> torch.Tensor:
    given = torch.complex(_t(2**n), _t(2**n))
    return given / given.norm()


def _unitary(n: int = 4) -> torch.Tensor:
    return torch.linalg.qr(torch.complex(_t(n, n), _t(n, n)))[0]


def _density(n: int = 4) -> torch.Tensor:
    given = torch.complex(_t(n, n), _t(n, n))
    rho = given @ given.mH
    return rho / rho.trace()


def _quantum(use: Callable[..., Any], *inputs: Any) -> Built:
    cir = _get(_D + "circuit.QubitCircuit")(2)
    cir.h(0)
    cir.rx(1, encode=True)
    cir.cnot(0, 1)
    cir.observable(0)
    return (lambda *x: use(cir, *x)), list(inputs)


_DEEPQ: dict[str, Callable[[], Built]] = {
    "is_unitary": lambda: _call(_D + "qmath.is_unitary", (_unitary(),)),
    "is_density_matrix": lambda: _call(_D + "qmath.is_density_matrix", (_density(),)),
    "is_positive_definite": lambda: _call(_D + "qmath.is_positive_definite", (_density(),)),
    "state_to_tensors": lambda: _call(_D + "qmath.state_to_tensors", (_amplitudes(3), 3)),
    "partial_trace": lambda: _call(_D + "qmath.partial_trace", (_density()[None], 2, [0])),
    "amplitude_encoding": lambda: _call(_D + "qmath.amplitude_encoding", (_t(2, 3), 2)),
    "measure": lambda: _call(_D + "qmath.measure", (_amplitudes()[None, :, None], 20)),
    "meyer_wallach_measure": lambda: _call(_D + "qmath.meyer_wallach_measure", (_amplitudes(3).reshape(1, 2, 2, 2),)),
    "meyer_wallach_measure_brennen": lambda: _call(
        _D + "qmath.meyer_wallach_measure_brennen", (_amplitudes(3).reshape(1, 2, 2, 2),)
    ),
    "multi_kron": lambda: _call(_D + "qmath.multi_kron", ([_unitary(2), _unitary(2)],)),
    "circuit": lambda: _quantum(lambda cir, x: cir(x), (_t(1),)),
    "circuit expectation": lambda: _quantum(lambda cir, x: (cir(x), cir.expectation())[1], (_t(1),)),
    "RxLayer": lambda: _made(_D + "layer.RxLayer", [(_amplitudes()[None, :, None],)], 2),
    "U3Gate": lambda: _made(_D + "gate.U3Gate", [(_amplitudes()[None, :, None],)], nqubit=2, wires=[0]),
    "permanent": lambda: _call(_D + "photonic.qmath.permanent", (_unitary(3),)),
    "permanent_ryser": lambda: _call(_D + "photonic.qmath.permanent_ryser", (_unitary(4),)),
    "product_factorial": lambda: _call(_D + "photonic.qmath.product_factorial", (_i(4, 2, 3),)),
    "sub_matrix": lambda: _call(
        _D + "photonic.qmath.sub_matrix", (_unitary(3), torch.tensor([1, 1, 0]), torch.tensor([0, 1, 1]))
    ),
    "takagi": lambda: _call(_D + "photonic.qmath.takagi", ((lambda a: a + a.mT)(torch.complex(_t(3, 3), _t(3, 3))),)),
    "sqrtm_herm": lambda: _call(_D + "photonic.qmath.sqrtm_herm", (_density(),)),
    "williamson": lambda: _call(_D + "photonic.qmath.williamson", (torch.eye(4) + 0.1 * torch.ones(4, 4),)),
    "photon_number_mean_var_cv": lambda: _call(
        _D + "photonic.qmath.photon_number_mean_var_cv", (torch.eye(2)[None], _t(1, 2, 1))
    ),
    "hafnian": lambda: _call(_D + "photonic.hafnian_.hafnian", ((lambda a: a + a.mT)(_t(4, 4)),)),
    "torontonian": lambda: _call(_D + "photonic.torontonian_.torontonian", (0.1 * _density(4),)),
}

_V = "neuromancer."


def _stepped(name: str) -> Built:
    return _made(_V + f"dynamics.integrators.{name}", [(_t(4, 3),)], nn.Linear(3, 3), h=0.1)


def _mapped(name: str, *given: Any, square: bool = False, **options: Any) -> Built:
    return _made(_V + f"slim.linear.{name}", [(_t(5, 4),)], 4, 4 if square else 3, *given, **options)


_NEUROMANCER: dict[str, Callable[[], Built]] = {
    **{name: lambda name=name: _stepped(name) for name in ("Euler", "RK2", "RK4", "Luther", "Runge_Kutta_Fehlberg")},
    "MultiStep": lambda: _made(
        _V + "dynamics.integrators.MultiStep_PredictorCorrector", [(_t(4, 4, 3),)], nn.Linear(3, 3), h=0.1
    ),
    "LinInterp_Offline": lambda: _using(
        _V + "dynamics.interpolation.LinInterp_Offline",
        lambda made, t, u, q: made(t, u)(q),
        (torch.linspace(0, 1, 6)[:, None], _t(6, 2), _u(3, 1)),
    ),
    **{
        name: lambda name=name, square=square: _mapped(name, square=square)
        for name, square in (
            ("L0Linear", False),
            ("NonNegativeLinear", False),
            ("LassoLinear", False),
            ("RightStochasticLinear", False),
            ("PerronFrobeniusLinear", True),
            ("PSDLinear", True),
            ("SVDLinear", True),
            ("SpectralLinear", False),
            ("SymplecticLinear", True),
            ("GershgorinLinear", True),
            ("TrivialNullSpaceLinear", True),
            ("BoundedNormLinear", False),
        )
    },
    "MLP": lambda: _made(_V + "modules.blocks.MLP", [(_t(5, 4),)], 4, 3),
    "MLP_bounds": lambda: _made(_V + "modules.blocks.MLP_bounds", [(_t(5, 4),)], 4, 3, method="relu_clamp"),
    "KANBlock": lambda: _made(_V + "modules.blocks.KANBlock", [(_u(5, 4),)], 4, 3, [6]),
    "InputConvexNN": lambda: _made(_V + "modules.blocks.InputConvexNN", [(_t(5, 4),)], 4, 3),
    "BilinearTorch": lambda: _made(_V + "modules.blocks.BilinearTorch", [(_t(5, 4),)], 4, 3),
    "OrthogonalLinear": lambda: _mapped("OrthogonalLinear", square=True, bias=True),
    "SoftExponential": lambda: _made(_V + "modules.activations.SoftExponential", [(_u(5, 4),)], alpha=0.2),
    "SmoothedReLU": lambda: _made(_V + "modules.activations.SmoothedReLU", [(_t(5, 4),)]),
    "window_functions": lambda: _call(_V + "modules.functions.window_functions", (_u(5, 1), 3)),
    "bounds_clamp": lambda: _call(_V + "modules.functions.bounds_clamp", (_t(5, 4), -1.0, 1.0)),
}

_G = "chgnet.model."


def _crystal() -> tuple[torch.Tensor, ...]:
    return torch.tensor([0, 0, 1, 1, 2]), torch.tensor([1, 2, 0, 2, 0])


_CHGNET: dict[str, Callable[[], Built]] = {
    "Fourier": lambda: _made(_G + "basis.Fourier", [(_t(5),)], order=3),
    "RadialBessel": lambda: _made(_G + "basis.RadialBessel", [(5 * _u(6),)]),
    "RadialBessel smooth": lambda: _using(
        _G + "basis.RadialBessel", lambda made, x: made()(x, return_smooth_factor=True), (5 * _u(6),)
    ),
    "CutoffPolynomial": lambda: _made(_G + "basis.CutoffPolynomial", [(6 * _u(6),)]),
    "aggregate": lambda: _call(_G + "functions.aggregate", (_t(5, 3), _crystal()[0])),
    "aggregate owners": lambda: _call(_G + "functions.aggregate", (_t(5, 3), _crystal()[0]), num_owner=4),
    "GatedMLP": lambda: _made(_G + "functions.GatedMLP", [(_t(5, 4),)], 4, 3, hidden_dim=6),
    "BondEncoder": lambda: _made(
        _G + "encoders.BondEncoder", [(_t(5, 3), _t(5, 3), torch.tensor([0, 2, 4]), _t(5, 3), torch.eye(3))]
    ),
    "AngleEncoder": lambda: _made(_G + "encoders.AngleEncoder", [(_t(5, 3), _t(5, 3))]),
    "AtomConv": lambda: _made(
        _G + "layers.AtomConv",
        [(_t(3, 4), _t(5, 4), _t(5, 4), torch.stack(_crystal(), 1), torch.arange(5))],
        atom_fea_dim=4,
        bond_fea_dim=4,
    ),
    "GraphPooling": lambda: _made(_G + "layers.GraphPooling", [(_t(5, 4), torch.tensor([0, 0, 1, 1, 1]))]),
    "GraphAttentionReadOut": lambda: _made(
        _G + "layers.GraphAttentionReadOut", [(_t(5, 4), torch.tensor([0, 0, 1, 1, 1]))], 4, average=True
    ),
}

_L = "ltn."


def _logic(use: Callable[..., Any], *inputs: Any) -> Built:
    ltn = importlib.import_module("ltn")
    predicate = ltn.Predicate(nn.Sequential(nn.Linear(2, 1), nn.Sigmoid()))
    return (lambda *x: use(ltn, predicate, *x)), list(inputs)


def _quantified(ltn: Any, predicate: Any, x: torch.Tensor) -> Any:
    forall = ltn.Quantifier(ltn.fuzzy_ops.AggregPMeanError(p=2), quantifier="f")
    variable = ltn.Variable("x", x)
    return forall(variable, predicate(variable)).value


def _connected(ltn: Any, predicate: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
    both = ltn.Connective(ltn.fuzzy_ops.AndProd())
    one, other = ltn.Variable("x", x), ltn.Variable("y", y)
    exists = ltn.Quantifier(ltn.fuzzy_ops.AggregPMean(p=2), quantifier="e")
    return exists([one, other], both(predicate(one), predicate(other))).value


_LTN: dict[str, Callable[[], Built]] = {
    **{
        name: lambda name=name: _made(_L + f"fuzzy_ops.{name}", [(_u(5), _u(5))])
        for name in ("AndMin", "AndProd", "AndLuk", "OrProbSum", "ImpliesGodel", "ImpliesGoguen", "ImpliesReichenbach")
    },
    "NotGodel": lambda: _made(_L + "fuzzy_ops.NotGodel", [(_u(5),)]),
    "AggregPMean": lambda: _made(_L + "fuzzy_ops.AggregPMean", [(_u(5, 4), 1)]),
    "AggregPMeanError masked": lambda: _using(
        _L + "fuzzy_ops.AggregPMeanError", lambda made, x, m: made()(x, dim=1, mask=m), (_u(5, 4), _u(5, 4) > 0.2)
    ),
    "AggregMin masked": lambda: _using(
        _L + "fuzzy_ops.AggregMin", lambda made, x, m: made()(x, dim=1, mask=m), (_u(5, 4), _u(5, 4) > 0.2)
    ),
    "SatAgg": lambda: _made(_L + "fuzzy_ops.SatAgg", [(_u(1)[0], _u(1)[0])]),
    "forall": lambda: _logic(_quantified, (_u(5, 2),)),
    "exists": lambda: _logic(_connected, (_u(5, 2), _u(4, 2))),
}

_T = "torch_geometric_temporal.nn."
_EDGES = torch.tensor([[0, 1, 2, 3, 0, 2], [1, 2, 3, 0, 2, 0]])
_WEIGHTS = _u(6) + 0.1


def _recurrent(name: str, *given: Any, **options: Any) -> Built:
    return _made(_T + f"recurrent.{name}", [(_t(4, 3), _EDGES, _WEIGHTS)], *given, **options)


_TEMPORAL: dict[str, Callable[[], Built]] = {
    "GConvGRU": lambda: _recurrent("gconv_gru.GConvGRU", 3, 5, 2),
    "GConvLSTM": lambda: _recurrent("gconv_lstm.GConvLSTM", 3, 5, 2),
    "GCLSTM": lambda: _recurrent("gc_lstm.GCLSTM", 3, 5, 2),
    "DCRNN": lambda: _recurrent("dcrnn.DCRNN", 3, 5, 2),
    "DyGrEncoder": lambda: _recurrent("dygrae.DyGrEncoder", 3, 2, "mean", 5, 1),
    "EvolveGCNO": lambda: _recurrent("evolvegcno.EvolveGCNO", 3),
    "EvolveGCNH": lambda: _recurrent("evolvegcnh.EvolveGCNH", 4, 3),
    "TGCN": lambda: _recurrent("temporalgcn.TGCN", 3, 5),
    "MPNNLSTM": lambda: _recurrent("mpnn_lstm.MPNNLSTM", 3, 5, 4, 1, 0.1),
    "A3TGCN": lambda: _made(
        _T + "recurrent.attentiontemporalgcn.A3TGCN", [(_t(4, 3, 6), _EDGES, _WEIGHTS)], 3, 5, periods=6
    ),
    "AGCRN": lambda: _made(_T + "recurrent.agcrn.AGCRN", [(_t(2, 4, 3), _t(4, 2))], 4, 3, 5, 2, 2),
    "LRGCN": lambda: _made(_T + "recurrent.lrgcn.LRGCN", [(_t(4, 3), _EDGES, _i(2, 6))], 3, 5, 2, 2),
    "STConv": lambda: _made(_T + "attention.stgcn.STConv", [(_t(2, 8, 4, 3), _EDGES, _WEIGHTS)], 4, 3, 5, 6, 3, 2),
    "ASTGCN": lambda: _made(_T + "attention.astgcn.ASTGCN", [(_t(2, 4, 3, 6), _EDGES)], 1, 3, 2, 4, 4, 1, 3, 6, 4),
    "MSTGCN": lambda: _made(_T + "attention.mstgcn.MSTGCN", [(_t(2, 4, 3, 6), _EDGES)], 1, 3, 2, 4, 4, 1, 3, 6),
    "AAGCN": lambda: _made(_T + "attention.tsagcn.AAGCN", [(_t(2, 3, 6, 4),)], 3, 8, _EDGES, 4),
    "GMAN": lambda: _made(
        _T + "attention.gman.GMAN",
        [(_t(2, 5, 4), _t(4, 4), _i(5, 2, 8, 2))],
        1,
        2,
        2,
        5,
        0.1,
        24,
        True,
        False,
    ),
    "GraphConstructor": lambda: _made(_T + "attention.mtgnn.GraphConstructor", [(torch.arange(6),)], 6, 2, 4, 3.0),
    "DNNTSP": lambda: _made(_T + "attention.dnntsp.DNNTSP", [(_t(8, 6), _EDGES, _WEIGHTS)], 4, 6, 2),
}

_S = "scvi.distributions._negative_binomial."
_COUNTS = _i(5, 6, 4).float()


def _scored(name: str, method: str = "log_prob", **parameters: torch.Tensor) -> Built:
    made = _get(_S + name)
    names = list(parameters)

    def run(x: torch.Tensor, *given: torch.Tensor) -> Any:
        distribution = made(**dict(zip(names, given, strict=True)))
        return distribution.log_prob(x) if method == "log_prob" else distribution.sample()

    return run, [(_COUNTS, *parameters.values())]


_POSITIVE = _u(6, 4) + 0.2
_SCVI: dict[str, Callable[[], Built]] = {
    "NegativeBinomial": lambda: _scored("NegativeBinomial", mu=_POSITIVE, theta=_POSITIVE + 1),
    "NegativeBinomial logits": lambda: _scored("NegativeBinomial", total_count=_POSITIVE, logits=_t(6, 4)),
    "NegativeBinomial sample": lambda: _scored("NegativeBinomial", "sample", mu=_POSITIVE, theta=_POSITIVE + 1),
    "ZeroInflated": lambda: _scored(
        "ZeroInflatedNegativeBinomial", mu=_POSITIVE, theta=_POSITIVE + 1, zi_logits=_t(6, 4)
    ),
    "ZeroInflated sample": lambda: _scored(
        "ZeroInflatedNegativeBinomial", "sample", mu=_POSITIVE, theta=_POSITIVE + 1, zi_logits=_t(6, 4)
    ),
    "NegativeBinomialMixture": lambda: _scored(
        "NegativeBinomialMixture", mu1=_POSITIVE, mu2=_POSITIVE + 1, theta1=_POSITIVE, mixture_logits=_t(6, 4)
    ),
    "Poisson": lambda: _scored("Poisson", rate=_POSITIVE),
    "FCLayers": lambda: _made(
        "scvi.nn._base_components.FCLayers", [(_t(5, 4), _i(3, 5, 1))], 4, 6, n_cat_list=[3], inject_covariates=True
    ),
    "Encoder": lambda: _made("scvi.nn._base_components.Encoder", [(_t(5, 4),)], 4, 3),
    "DecoderSCVI": lambda: _made(
        "scvi.nn._base_components.DecoderSCVI", [("gene", _t(5, 3), _t(5, 1), _i(2, 5, 1))], 3, 4, n_cat_list=[2]
    ),
    "EncoderTOTALVI": lambda: _made("scvi.nn._base_components.EncoderTOTALVI", [(_u(5, 8),)], 8, 3),
}

_K = "kmeans_pytorch."
_KMEANS: dict[str, Callable[[], Built]] = {
    "kmeans": lambda: _call(_K + "kmeans", (_t(20, 2), 3)),
    "kmeans cosine": lambda: _call(_K + "kmeans", (_t(20, 2), 3, "cosine")),
    "kmeans_predict": lambda: _call(_K + "kmeans_predict", (_t(20, 2), _t(3, 2))),
    "pairwise_distance": lambda: _call(_K + "pairwise_distance", (_t(5, 2), _t(3, 2))),
    "pairwise_cosine": lambda: _call(_K + "pairwise_cosine", (_t(5, 2), _t(3, 2))),
}

_O = "momentfm."
_MOMENT: dict[str, Callable[[], Built]] = {
    "Masking patches": lambda: _method(
        _O + "utils.masking.Masking",
        "generate_mask",
        [(_t(2, 3, 4, 8), torch.ones(2, 32)), (_t(3, 4, 4, 8), torch.ones(3, 32))],
        mask_ratio=0.3,
    ),
    "Masking series": lambda: _method(
        _O + "utils.masking.Masking", "generate_mask", [(_t(2, 3, 32), torch.ones(2, 32))], mask_ratio=0.3
    ),
    "sMAPELoss": lambda: _made(_O + "utils.forecasting_metrics.sMAPELoss", [(_t(2, 6), _t(2, 6))]),
    "RevIN norm": lambda: _made(_O + "models.layers.revin.RevIN", [(_t(2, 3, 32),)], 3),
    "RevIN masked": lambda: _using(
        _O + "models.layers.revin.RevIN", lambda made, x, m: made(3)(x, mode="norm", mask=m), (_t(2, 3, 32), _u(2, 32))
    ),
    "PatchEmbedding": lambda: _made(
        _O + "models.layers.embed.PatchEmbedding", [(_t(2, 3, 4, 8), torch.ones(2, 32))], d_model=16, seq_len=32
    ),
    "PatchEmbedding mask": lambda: _made(
        _O + "models.layers.embed.PatchEmbedding",
        [(_t(2, 3, 4, 8), torch.ones(2, 32))],
        d_model=16,
        seq_len=32,
        add_positional_embedding=True,
    ),
    "Patching": lambda: _made(_O + "models.layers.embed.Patching", [(_t(2, 3, 32),)], 8, 8),
    "PositionalEmbedding": lambda: _made(_O + "models.layers.embed.PositionalEmbedding", [(_t(2, 6, 8),)], 8),
    "TemporalEmbedding": lambda: _made(_O + "models.layers.embed.TemporalEmbedding", [(_i(5, 2, 6, 4),)], 8),
    "PretrainHead": lambda: _made(_O + "models.moment.PretrainHead", [(_t(2, 3, 4, 16),)], 16),
    "ClassificationHead": lambda: _made(
        _O + "models.moment.ClassificationHead", [(_t(2, 3, 4, 16),)], 3, 16, reduction="mean"
    ),
}

_B = "skrl."


def _policy(mixin: str, outputs: int, space: Any, **options: Any) -> Built:
    base, mixed = _get(_B + "models.torch.Model"), _get(_B + f"models.torch.{mixin}")
    import gymnasium

    class Policy(mixed, base):  # type: ignore[misc]
        def __init__(self) -> None:
            base.__init__(
                self, observation_space=gymnasium.spaces.Box(-1, 1, (3,)), action_space=space(gymnasium), device="cpu"
            )
            mixed.__init__(self, **options)
            self.net = nn.Linear(3, outputs)
            self.log_std = nn.Parameter(torch.zeros(outputs))

        def compute(self, inputs: Any, *_: Any) -> Any:
            if "Gaussian" in mixin:
                return self.net(inputs["observations"]), {"log_std": self.log_std}
            return self.net(inputs["observations"]), {}

    made = Policy()
    return (lambda x: made.act({"observations": x})), [(_t(5, 3),)]


def _remembered() -> Built:
    memory = _get(_B + "memories.torch.RandomMemory")(memory_size=8, num_envs=2, device="cpu")
    memory.create_tensor("states", size=3)
    for _ in range(8):
        memory.add_samples(states=_t(2, 3))
    return (lambda x: [part[0] * x for part in memory.sample(["states"], batch_size=4)]), [(_t(1),)]


_SKRL: dict[str, Callable[[], Built]] = {
    "GaussianMixin": lambda: _policy("GaussianMixin", 2, lambda g: g.spaces.Box(-1, 1, (2,)), clip_actions=True),
    "CategoricalMixin": lambda: _policy("CategoricalMixin", 4, lambda g: g.spaces.Discrete(4)),
    "DeterministicMixin": lambda: _policy("DeterministicMixin", 2, lambda g: g.spaces.Box(-1, 1, (2,))),
    "MultivariateGaussianMixin": lambda: _policy(
        "MultivariateGaussianMixin", 2, lambda g: g.spaces.Box(-1, 1, (2,)), clip_actions=False
    ),
    "MultiCategoricalMixin": lambda: _policy("MultiCategoricalMixin", 5, lambda g: g.spaces.MultiDiscrete([2, 3])),
    "RunningStandardScaler": lambda: _made(
        _B + "resources.preprocessors.torch.RunningStandardScaler", [(_t(5, 3),)], 3, device="cpu"
    ),
    "RunningStandardScaler train": lambda: _using(
        _B + "resources.preprocessors.torch.RunningStandardScaler",
        lambda made, x: made(3, device="cpu")(x, train=True),
        (_t(5, 3),),
    ),
    "GaussianNoise": lambda: _using(
        _B + "resources.noises.torch.GaussianNoise",
        lambda made, x: made(mean=0.0, std=0.1, device="cpu").sample((5, 3)) + x,
        (_t(5, 3),),
    ),
    "OrnsteinUhlenbeckNoise": lambda: _using(
        _B + "resources.noises.torch.OrnsteinUhlenbeckNoise",
        lambda made, x: made(theta=0.1, sigma=0.2, base_scale=0.5, device="cpu").sample((5, 3)) + x,
        (_t(5, 3),),
    ),
    "RandomMemory": lambda: _remembered(),
}


MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in (
        ("torchcrepe", _CREPE),
        ("torch_stoi", _STOI),
        ("pytorch_wpe", _WPE),
        ("effdet", _EFFDET),
        ("libauc", _LIBAUC),
        ("pyiqa", _PYIQA),
        ("k_diffusion", _KDIFF),
        ("tntorch", _TNTORCH),
        ("pymde", _PYMDE),
        ("pyqtorch", _PYQ),
        ("deepquantum", _DEEPQ),
        ("neuromancer", _NEUROMANCER),
        ("chgnet", _CHGNET),
        ("ltn", _LTN),
        ("torch_geometric_temporal", _TEMPORAL),
        ("scvi", _SCVI),
        ("kmeans_pytorch", _KMEANS),
        ("momentfm", _MOMENT),
        ("skrl", _SKRL),
    )
    for name, build in models.items()
}

"""A second list for `benchmarks/share.py` (`--list share_fresh`): models, layers, losses and metrics nobody tuned for.

Chosen on 2026-11-28 before any of them was run with fixes: all break as written. None is in `share_models.json` or in
`accuracy_models`. docs/share.md says which of them ran with fixes.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from typing import Any

import torch
from accuracy_models import Built
from accuracy_models.inputs import random_inputs

_t, _u, _i = random_inputs(47)


def _tolerate_missing_operators() -> None:
    """Let torchvision import where its compiled operators do not load (built for another torch); nobody calls them.

    It is not imported here: what is imported already cannot be served with fixes.
    """
    register = torch.library.register_fake

    def registered(name: str, *words: Any, **options: Any) -> Callable[[Any], Any]:
        def decorated(function: Any) -> Any:
            with suppress(RuntimeError):  # there is no such operator
                return register(name, *words, **options)(function)
            return function

        return decorated

    torch.library.register_fake = registered


_tolerate_missing_operators()


def _get(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)


def _f(path: str, *inputs: Any, **options: Any) -> Callable[[], Built]:
    """A function with each of its inputs, tuples of arguments."""

    def build() -> Built:
        function = _get(path)
        return (partial(function, **options) if options else function), list(inputs)

    return build


def _m(path: str, *inputs: Any, given: tuple[Any, ...] = (), **options: Any) -> Callable[[], Built]:
    """An object of a class with each of its inputs."""
    return lambda: (_get(path)(*given, **options), list(inputs))


_SCORES, _LABELS = torch.softmax(_t(24, 4), -1), _i(4, 24)
_SCORES2, _LABELS2 = torch.softmax(_t(30, 4), -1), _i(4, 30)
_PROBS, _MARKS = _u(20, 3), _i(2, 20, 3)
_BINARY, _TRUE = _u(32), _i(2, 32)
_BOXES = torch.tensor([[10.0, 10, 40, 40], [12, 12, 42, 42], [50, 50, 90, 80], [5, 60, 30, 95]])
_E, _C = _t(16, 8), _i(4, 16)
_E2, _C2 = _t(20, 8), _i(4, 20)
_HOT = torch.nn.functional.one_hot(_i(3, 2, 12, 12), 3).movedim(-1, 1).float()
_HOT2 = torch.nn.functional.one_hot(_i(3, 2, 12, 12), 3).movedim(-1, 1).float()
_X = _t(10, 8)
_EDGES = torch.stack([torch.arange(20) % 10, (torch.arange(20) * 3 + 1) % 10])
_BATCH = torch.tensor([0] * 4 + [1] * 6)


def _heun() -> Built:
    scheduler = _get("diffusers.HeunDiscreteScheduler")()
    scheduler.set_timesteps(8)
    return (lambda x, y: scheduler.add_noise(x, y, scheduler.timesteps[3:4])), [(_t(1, 3, 8, 8), _t(1, 3, 8, 8))]


def _flaubert() -> Built:
    config = _get("transformers.FlaubertConfig")(vocab_size=99, emb_dim=32, n_layers=2, n_heads=4)
    mask = torch.tensor([[1] * 12, [1] * 9 + [0] * 3])
    return _get("transformers.FlaubertModel")(config), [{"input_ids": _i(90, 2, 12) + 3, "attention_mask": mask}]


_F = "torchmetrics.functional."
_L = "pytorch_metric_learning.losses."
_R = "pytorch_metric_learning.miners."
_G = "torch_geometric.nn."
_TV = "torchvision.ops."

MODELS: dict[str, Callable[[], Built]] = {
    "diffusers/HeunDiscreteScheduler noise": _heun,
    "kornia/match_snn": _f("kornia.feature.match_snn", (_t(6, 8), _t(7, 8)), th=0.95),
    "monai/AUCMLoss": _m("monai.losses.AUCMLoss", (_t(16, 1), _i(2, 16, 1))),
    "monai/BarlowTwinsLoss": _m("monai.losses.BarlowTwinsLoss", (_t(6, 12), _t(6, 12)), lambd=0.1),
    "monai/DiceMetric": lambda: (
        lambda a, b: _get("monai.metrics.DiceHelper")(softmax=True)(a, b),
        [(_t(2, 3, 12, 12), _i(3, 2, 1, 12, 12))],
    ),
    "monai/compute_generalized_dice": _f("monai.metrics.compute_generalized_dice", (_HOT, _HOT2)),
    "monai/compute_roc_auc": _f("monai.metrics.compute_roc_auc", (_u(24), _i(2, 24))),
    "pytorch_metric_learning/AngularMiner": _m(_R + "AngularMiner", (_E, _C), (_E2, _C2)),
    "pytorch_metric_learning/BatchEasyHardMiner": _m(_R + "BatchEasyHardMiner", (_E, _C), (_E2, _C2)),
    "pytorch_metric_learning/CosFaceLoss": _m(
        _L + "CosFaceLoss", (_E, _C), (_E2, _C2), num_classes=4, embedding_size=8
    ),
    "pytorch_metric_learning/DistanceWeightedMiner": _m(_R + "DistanceWeightedMiner", (_E, _C), (_E2, _C2)),
    "pytorch_metric_learning/HistogramLoss": _m(
        "pytorch_metric_learning.losses.HistogramLoss", (_E, _C), (_E2, _C2), n_bins=10
    ),
    "pytorch_metric_learning/IntraPairVarianceLoss": _m(_L + "IntraPairVarianceLoss", (_E, _C), (_E2, _C2)),
    "pytorch_metric_learning/LiftedStructureLoss": _m(_L + "LiftedStructureLoss", (_E, _C), (_E2, _C2)),
    "pytorch_metric_learning/PNPLoss": _m(_L + "PNPLoss", (_E, _C), (_E2, _C2)),
    "pytorch_metric_learning/RankedListLoss": _m(
        "pytorch_metric_learning.losses.RankedListLoss", (_E, _C), (_E2, _C2), margin=1, Tn=0, Tp=0
    ),
    "pytorch_metric_learning/SupConLoss": _m(_L + "SupConLoss", (_E, _C), (_E2, _C2)),
    "timm/Mixup": lambda: (
        _get("timm.data.Mixup")(mixup_alpha=0.8, cutmix_alpha=1.0, num_classes=4),
        [(_u(4, 3, 16, 16), _i(4, 4))],
    ),
    "torch_geometric/AGNNConv": _m(_G + "AGNNConv", (_X, _EDGES)),
    "torch_geometric/GRUAggregation": _m(_G + "GRUAggregation", (_X, _BATCH), given=(8, 8)),
    "torch_geometric/LayerNorm graph": _m(_G + "LayerNorm", (_X, _BATCH), given=(8,)),
    "torch_geometric/QuantileAggregation": _m(_G + "QuantileAggregation", (_X, _BATCH), given=(0.4,)),
    "torchmetrics/binary_logauc": _f(_F + "classification.binary_logauc", (_BINARY, _TRUE), thresholds=50),
    "torchmetrics/binary_recall_at_fixed_precision": _f(
        _F + "classification.binary_recall_at_fixed_precision", (_BINARY, _TRUE), min_precision=0.4
    ),
    "torchmetrics/binary_roc binned": _f(_F + "classification.binary_roc", (_BINARY, _TRUE), thresholds=9),
    "torchmetrics/generalized_dice_score": _f(
        _F + "segmentation.generalized_dice_score", (_i(2, 2, 3, 12, 12), _i(2, 2, 3, 12, 12)), num_classes=3
    ),
    "torchmetrics/multiclass_average_precision": _f(
        _F + "classification.multiclass_average_precision", (_SCORES, _LABELS), (_SCORES2, _LABELS2), num_classes=4
    ),
    "torchmetrics/multiclass_calibration_error": _f(
        _F + "classification.multiclass_calibration_error", (_SCORES, _LABELS), (_SCORES2, _LABELS2), num_classes=4
    ),
    "torchmetrics/multiclass_specificity": _f(
        _F + "classification.multiclass_specificity", (_SCORES, _LABELS), (_SCORES2, _LABELS2), num_classes=4
    ),
    "torchmetrics/multilabel_auroc": _f(_F + "classification.multilabel_auroc", (_PROBS, _MARKS), num_labels=3),
    "torchmetrics/multilabel_exact_match": _f(
        _F + "classification.multilabel_exact_match", (_PROBS, _MARKS), num_labels=3
    ),
    "torchmetrics/multilabel_ranking_average_precision": _f(
        _F + "classification.multilabel_ranking_average_precision", (_PROBS, _MARKS), num_labels=3
    ),
    "torchmetrics/rand_score": _f(_F + "clustering.rand_score", (_i(3, 24), _i(4, 24))),
    "torchmetrics/retrieval_fall_out": _f(_F + "retrieval_fall_out", (_BINARY, _TRUE), top_k=5),
    "torchmetrics/theils_u": _f(_F + "nominal.theils_u", (_i(4, 40), _i(4, 40))),
    "torchvision/GeneralizedRCNNTransform": lambda: (
        _get("torchvision.models.detection.transform.GeneralizedRCNNTransform")(64, 96, [0.5] * 3, [0.2] * 3),
        [([_u(3, 60, 70), _u(3, 50, 64)],)],
    ),
    "torchvision/Matcher": lambda: (
        _get("torchvision.models.detection._utils.Matcher")(0.7, 0.3, allow_low_quality_matches=True),
        [(_u(5, 12),)],
    ),
    "torchvision/RandAugment": lambda: (
        _get("torchvision.transforms.RandAugment")(),
        [(_i(255, 3, 16, 16).to(torch.uint8),)],
    ),
    "torchvision/RandomErasing": _m("torchvision.transforms.RandomErasing", (_u(3, 16, 16),), p=1.0),
    "torchvision/complete_box_iou_loss": _f(_TV + "complete_box_iou_loss", (_BOXES, _BOXES + 2), reduction="mean"),
    "torchvision/remove_small_boxes": _f(_TV + "remove_small_boxes", (_BOXES, 28.0)),
    "torchvision/v2 ColorJitter": _m(
        "torchvision.transforms.v2.ColorJitter", (_u(3, 16, 16),), given=(0.4, 0.4, 0.4, 0.1)
    ),
    "torchvision/v2 GaussianBlur": _m("torchvision.transforms.v2.GaussianBlur", (_u(3, 16, 16),), given=(3,)),
    "torchvision/v2 RandomAffine": _m("torchvision.transforms.v2.RandomAffine", (_u(3, 16, 16),), given=(30,)),
    "transformers/FlaubertModel": _flaubert,
}

"""Functions of torchmetrics, losses of pytorch-metric-learning and entmax, and a CRF."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import torch


def _rand(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0))


def _classes(count: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, count, shape, generator=torch.Generator().manual_seed(1))


def _function(module: str, name: str, keywords: dict[str, Any], *inputs: tuple[Any, ...]) -> tuple[Any, list[Any]]:
    function = getattr(importlib.import_module(module), name)
    if not keywords:
        return function, list(inputs)

    def run(*args: Any) -> Any:
        return function(*args, **keywords)

    return run, list(inputs)


_C, _R, _T, _I, _M = (f"torchmetrics.functional.{n}" for n in ("classification", "regression", "text", "image", ""))
_M = "torchmetrics.functional"
_BINARY = ((_rand(16), _classes(2, 16)), (_rand(24) * 3 - 1, _classes(2, 24)))
_MULTI = ((_rand(16, 4), _classes(4, 16)), (_rand(24, 4), _classes(4, 24)))
_LABELS = ((_rand(16, 4), _classes(2, 16, 4)), (_rand(24, 4), _classes(2, 24, 4)))
_NUMBERS = ((_rand(16), _rand(16) * 0.5), (_rand(24), _rand(24) * 0.5))
_IMAGES = ((_rand(2, 3, 32, 32), _rand(2, 3, 32, 32) * 0.7), (_rand(1, 3, 24, 40), _rand(1, 3, 24, 40) * 0.7))
_RETRIEVAL = ((_rand(12), _classes(2, 12).bool()),)
_CLUSTERS = ((_classes(3, 16), _classes(3, 16) * 0 + torch.arange(16) % 3),)

_TORCHMETRICS: list[tuple[str, str, dict[str, Any], tuple[Any, ...]]] = [
    (_C, "binary_accuracy", {}, _BINARY),
    (_C, "binary_auroc", {}, _BINARY),
    (_C, "binary_average_precision", {"thresholds": 5}, _BINARY),
    (_C, "binary_calibration_error", {}, _BINARY),
    (_C, "binary_confusion_matrix", {"validate_args": False}, _BINARY),
    (_C, "binary_f1_score", {}, _BINARY),
    (_C, "binary_hinge_loss", {}, _BINARY),
    (_C, "binary_precision_recall_curve", {}, _BINARY),
    (_C, "multiclass_accuracy", {"num_classes": 4}, _MULTI),
    (_C, "multiclass_auroc", {"num_classes": 4}, _MULTI),
    (_C, "multiclass_cohen_kappa", {"num_classes": 4}, _MULTI),
    (_C, "multiclass_confusion_matrix", {"num_classes": 4}, _MULTI),
    (_C, "multiclass_exact_match", {"num_classes": 4}, ((_classes(4, 8, 3), _classes(4, 8, 3)),)),
    (_C, "multiclass_hinge_loss", {"num_classes": 4}, _MULTI),
    (_C, "multiclass_jaccard_index", {"num_classes": 4}, _MULTI),
    (_C, "multiclass_matthews_corrcoef", {"num_classes": 4}, _MULTI),
    (_C, "multiclass_stat_scores", {"num_classes": 4, "top_k": 2}, _MULTI),
    (_C, "multiclass_precision_at_fixed_recall", {"num_classes": 4, "min_recall": 0.5, "thresholds": 5}, _MULTI),
    (_C, "multilabel_ranking_loss", {"num_labels": 4}, _LABELS),
    (_C, "multilabel_accuracy", {"num_labels": 4}, _LABELS),
    (_C, "multilabel_coverage_error", {"num_labels": 4}, _LABELS),
    (_C, "binary_fairness", {}, ((_rand(16), _classes(2, 16), _classes(2, 16)),)),
    (_C, "dice", {}, ((_classes(4, 16), _classes(4, 16)),)),
    (_R, "mean_squared_error", {}, _NUMBERS),
    (_R, "pearson_corrcoef", {}, _NUMBERS),
    (_R, "spearman_corrcoef", {}, _NUMBERS),
    (_R, "kendall_rank_corrcoef", {}, _NUMBERS),
    (_R, "r2_score", {}, _NUMBERS),
    (_R, "explained_variance", {}, _NUMBERS),
    (_R, "kl_divergence", {}, ((_rand(4, 5).softmax(-1), _rand(4, 5).softmax(-1)),)),
    (_R, "tweedie_deviance_score", {"power": 1.5}, _NUMBERS),
    (_R, "concordance_corrcoef", {}, _NUMBERS),
    (_R, "cosine_similarity", {}, ((_rand(4, 5), _rand(4, 5)),)),
    (_R, "mean_absolute_percentage_error", {}, _NUMBERS),
    (_R, "minkowski_distance", {"p": 3}, _NUMBERS),
    (_R, "relative_squared_error", {}, _NUMBERS),
    (_T, "perplexity", {"ignore_index": -100}, ((_rand(2, 8, 5), _classes(5, 2, 8)),)),
    (_M, "retrieval_average_precision", {}, _RETRIEVAL),
    (_M, "retrieval_normalized_dcg", {}, _RETRIEVAL),
    (_M, "retrieval_reciprocal_rank", {}, _RETRIEVAL),
    (_M, "retrieval_recall", {"top_k": 3}, _RETRIEVAL),
    (_M, "retrieval_auroc", {}, _RETRIEVAL),
    (_I, "structural_similarity_index_measure", {}, _IMAGES),
    (_I, "peak_signal_noise_ratio", {}, _IMAGES),
    (_I, "universal_image_quality_index", {}, _IMAGES),
    (_I, "spectral_angle_mapper", {}, _IMAGES),
    (_I, "total_variation", {}, ((_rand(2, 3, 8, 8),),)),
    (_I, "error_relative_global_dimensionless_synthesis", {}, _IMAGES),
    (_I, "spatial_correlation_coefficient", {}, _IMAGES),
    (_I, "visual_information_fidelity", {}, ((_rand(1, 3, 48, 48), _rand(1, 3, 48, 48)),)),
    (f"{_M}.clustering", "mutual_info_score", {}, _CLUSTERS),
    (f"{_M}.clustering", "adjusted_rand_score", {}, _CLUSTERS),
    (f"{_M}.clustering", "calinski_harabasz_score", {}, ((_rand(16, 3), torch.arange(16) % 3),)),
    (f"{_M}.nominal", "cramers_v", {}, ((_classes(3, 16), _classes(3, 16)),)),
    (f"{_M}.nominal", "tschuprows_t", {}, ((_classes(3, 16), _classes(3, 16)),)),
    (f"{_M}.pairwise", "pairwise_cosine_similarity", {}, ((_rand(4, 3), _rand(5, 3)),)),
    (f"{_M}.segmentation", "mean_iou", {"num_classes": 3}, ((_classes(2, 2, 3, 8, 8), _classes(2, 2, 3, 8, 8)),)),
    (f"{_M}.audio", "scale_invariant_signal_distortion_ratio", {}, ((_rand(2, 50), _rand(2, 50)),)),
    (f"{_M}.audio", "signal_noise_ratio", {}, ((_rand(2, 50), _rand(2, 50)),)),
    (
        f"{_M}.audio",
        "permutation_invariant_training",
        {"metric_func": torch.nn.functional.mse_loss},
        ((_rand(2, 2, 50), _rand(2, 2, 50)),),
    ),
]


def _learned(name: str, options: dict[str, Any]) -> tuple[Any, list[Any]]:
    loss = getattr(importlib.import_module("pytorch_metric_learning.losses"), name)(**options)
    return loss, [(_rand(n, 8), torch.arange(n) % 4) for n in (8, 12)]


def _miner(name: str) -> tuple[Any, list[Any]]:
    miner = getattr(importlib.import_module("pytorch_metric_learning.miners"), name)()
    return miner, [(_rand(n, 8), torch.arange(n) % 4) for n in (8, 12)]


def _crf() -> tuple[Any, list[Any]]:
    crf = importlib.import_module("torchcrf").CRF(5)
    return crf, [(_rand(n, 2, 5), _classes(5, n, 2), torch.ones(n, 2).bool()) for n in (4, 6)]


_LOSSES: list[tuple[str, dict[str, Any]]] = [
    ("TripletMarginLoss", {}),
    ("ContrastiveLoss", {}),
    ("NTXentLoss", {}),
    ("MultiSimilarityLoss", {}),
    ("CircleLoss", {}),
    ("ArcFaceLoss", {"num_classes": 4, "embedding_size": 8}),
    ("AngularLoss", {}),
    ("NPairsLoss", {}),
    ("FastAPLoss", {}),
    ("ProxyAnchorLoss", {"num_classes": 4, "embedding_size": 8}),
]

MODELS = {
    **{f"torchmetrics/{name}": partial(_function, module, name, k, *given) for module, name, k, given in _TORCHMETRICS},
    **{f"pytorch_metric_learning/{name}": partial(_learned, name, options) for name, options in _LOSSES},
    **{
        f"pytorch_metric_learning/{name}": partial(_miner, name)
        for name in ("BatchHardMiner", "TripletMarginMiner", "MultiSimilarityMiner")
    },
    "entmax/sparsemax": partial(_function, "entmax", "sparsemax", {}, (_rand(3, 5),), (_rand(4, 6),)),
    "entmax/entmax15": partial(_function, "entmax", "entmax15", {}, (_rand(3, 5),), (_rand(4, 6),)),
    "entmax/entmax_bisect": partial(_function, "entmax", "entmax_bisect", {"alpha": 1.3}, (_rand(3, 5),)),
    "torchcrf/CRF": _crf,
}

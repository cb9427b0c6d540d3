"""Models of torcheval, GCL, mmaction and litgpt.

They were chosen after all of the twenty-first group, and written before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(73)
_ABSENT = {
    "torcheval": ("torchvision.models", "torchvision.transforms", "torchaudio.functional", "pyre_extensions"),
    "GCL": ("dgl", "torch_scatter", "torch_sparse", "torchvision"),
    "mmaction": ("cv2", "decord", "av", "einops", "transformers", "mmdet", "importlib_metadata"),
    "litgpt": ("lightning.fabric", "jsonargparse", "tokenizers", "torchao", "litdata"),
}
_BARE = (
    "litgpt",
    "litgpt.generate",
    "mmaction",
    "mmaction.models",
    "mmaction.models.localizers",
    "mmaction.models.heads",
    "mmaction.models.backbones",
    "mmaction.models.common",
)
_get = getter(_ABSENT, _BARE)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_F = "torcheval.metrics.functional."
_X, _Y = _u(12), _i(2, 12)
_XC, _YC = _t(12, 4), _i(4, 12)
_XL, _YL = _u(12, 3), _i(2, 12, 3)


def _metric(name: str, *updates: tuple[torch.Tensor, ...], **options: Any) -> Built:
    """A metric that is updated and computed."""
    kind = _get("torcheval.metrics." + name)

    def use(*given: torch.Tensor) -> Any:
        metric = kind(**options)
        metric.update(*given)
        return metric.compute()

    return use, list(updates)


_TORCHEVAL: dict[str, Callable[[], Built]] = {
    "perplexity": lambda: _call(_F + "perplexity", (_t(2, 5, 7), _i(7, 2, 5)), ignore_index=1),
    "retrieval_precision": lambda: _call(_F + "retrieval_precision", (_X, _Y), k=4),
    "retrieval_precision tasks": lambda: _call(
        _F + "retrieval_precision", (_u(3, 8), _i(2, 3, 8)), k=9, limit_k_to_size=True, num_tasks=3
    ),
    "weighted_calibration": lambda: _call(_F + "weighted_calibration", (_X, _Y, _u(12))),
    "num_collisions": lambda: _call(_F + "num_collisions", (_i(5, 12),)),
    "hit_rate": lambda: _call(_F + "hit_rate", (_XC, _YC), k=2),
    "click_through_rate": lambda: _call(_F + "click_through_rate", (_Y, _u(12))),
    "frequency_at_k": lambda: _call(_F + "frequency_at_k", (_u(12),), k=0.5),
    "reciprocal_rank": lambda: _call(_F + "reciprocal_rank", (_XC, _YC), k=2),
    "mean": lambda: _call(_F + "mean", (_t(5), _u(5))),
    "sum": lambda: _call(_F + "sum", (_t(5), _u(5))),
    "auc": lambda: _call(_F + "auc", (_X, _u(12)), reorder=True),
    "psnr": lambda: _call(_F + "peak_signal_noise_ratio", (_u(2, 3, 8, 8), _u(2, 3, 8, 8))),
    "psnr range": lambda: _call(_F + "peak_signal_noise_ratio", (_u(2, 3, 8, 8), _u(2, 3, 8, 8)), data_range=1.0),
    "mean_squared_error": lambda: _call(_F + "mean_squared_error", (_t(6, 2), _t(6, 2)), multioutput="raw_values"),
    "mean_squared_error weighted": lambda: _using(
        _F + "mean_squared_error", lambda f, x, y, w: f(x, y, sample_weight=w), (_t(6, 2), _t(6, 2), _u(6))
    ),
    "r2_score": lambda: _call(_F + "r2_score", (_t(6, 2), _t(6, 2)), multioutput="variance_weighted"),
    "binary_recall": lambda: _call(_F + "binary_recall", (_X, _Y)),
    "multiclass_recall": lambda: _call(_F + "multiclass_recall", (_XC, _YC), num_classes=4, average="macro"),
    "multiclass_recall weighted": lambda: _call(
        _F + "multiclass_recall", (_XC, _YC), num_classes=4, average="weighted"
    ),
    "binary_f1_score": lambda: _call(_F + "binary_f1_score", (_X, _Y)),
    "multiclass_f1_score": lambda: _call(_F + "multiclass_f1_score", (_XC, _YC), num_classes=4, average="macro"),
    "multiclass_f1_score weighted": lambda: _call(
        _F + "multiclass_f1_score", (_XC, _YC), num_classes=4, average="weighted"
    ),
    "multiclass_precision": lambda: _call(_F + "multiclass_precision", (_XC, _YC), num_classes=4, average="macro"),
    "binary_precision": lambda: _call(_F + "binary_precision", (_X, _Y)),
    "binned precision recall binary": lambda: _call(_F + "binary_binned_precision_recall_curve", (_X, _Y), threshold=5),
    "binned precision recall multiclass": lambda: _call(
        _F + "multiclass_binned_precision_recall_curve", (_XC, _YC), num_classes=4, threshold=5, optimization="memory"
    ),
    "binned precision recall multilabel": lambda: _call(
        _F + "multilabel_binned_precision_recall_curve", (_XL, _YL), num_labels=3, threshold=5
    ),
    "binary_normalized_entropy": lambda: _call(_F + "binary_normalized_entropy", (_X, _Y.float())),
    "binary_accuracy": lambda: _call(_F + "binary_accuracy", (_X, _Y)),
    "multiclass_accuracy": lambda: _call(_F + "multiclass_accuracy", (_XC, _YC), num_classes=4, average="macro"),
    "multiclass_accuracy k": lambda: _call(_F + "multiclass_accuracy", (_XC, _YC), k=2),
    "multilabel_accuracy": lambda: _call(_F + "multilabel_accuracy", (_XL, _YL), criteria="overlap"),
    "topk_multilabel_accuracy": lambda: _call(_F + "topk_multilabel_accuracy", (_XL, _YL), criteria="belong", k=2),
    "binary_confusion_matrix": lambda: _call(_F + "binary_confusion_matrix", (_X, _Y), normalize="true"),
    "multiclass_confusion_matrix": lambda: _call(_F + "multiclass_confusion_matrix", (_XC, _YC), num_classes=4),
    "binary_binned_auprc": lambda: _call(_F + "binary_binned_auprc", (_X, _Y), threshold=5),
    "multiclass_binned_auprc": lambda: _call(_F + "multiclass_binned_auprc", (_XC, _YC), num_classes=4, threshold=5),
    "multilabel_binned_auprc": lambda: _call(_F + "multilabel_binned_auprc", (_XL, _YL), num_labels=3, threshold=5),
    "binary_auroc": lambda: _call(_F + "binary_auroc", (_X, _Y)),
    "binary_auroc tasks": lambda: _call(_F + "binary_auroc", (_u(3, 8), _i(2, 3, 8)), num_tasks=3),
    "multiclass_auroc": lambda: _call(_F + "multiclass_auroc", (_XC, _YC), num_classes=4),
    "binary_auprc": lambda: _call(_F + "binary_auprc", (_X, _Y)),
    "multiclass_auprc": lambda: _call(_F + "multiclass_auprc", (_XC, _YC), num_classes=4),
    "multilabel_auprc": lambda: _call(_F + "multilabel_auprc", (_XL, _YL), num_labels=3),
    "binary_precision_recall_curve": lambda: _call(_F + "binary_precision_recall_curve", (_X, _Y)),
    "multiclass_precision_recall_curve": lambda: _call(
        _F + "multiclass_precision_recall_curve", (_XC, _YC), num_classes=4
    ),
    "multilabel_precision_recall_curve": lambda: _call(
        _F + "multilabel_precision_recall_curve", (_XL, _YL), num_labels=3
    ),
    "binary_binned_auroc": lambda: _call(_F + "binary_binned_auroc", (_X, _Y), threshold=5),
    "multiclass_binned_auroc": lambda: _call(_F + "multiclass_binned_auroc", (_XC, _YC), num_classes=4, threshold=5),
    "binary_recall_at_fixed_precision": lambda: _call(
        _F + "binary_recall_at_fixed_precision", (_X, _Y), min_precision=0.5
    ),
    "multilabel_recall_at_fixed_precision": lambda: _call(
        _F + "multilabel_recall_at_fixed_precision", (_XL, _YL), num_labels=3, min_precision=0.5
    ),
    "BinaryAUROC": lambda: _metric("BinaryAUROC", (_X, _Y)),
    "BinaryAUPRC": lambda: _metric("BinaryAUPRC", (_X, _Y)),
    "MulticlassAUROC": lambda: _metric("MulticlassAUROC", (_XC, _YC), num_classes=4),
    "MulticlassAccuracy": lambda: _metric("MulticlassAccuracy", (_XC, _YC), num_classes=4, average="macro"),
    "MulticlassF1Score": lambda: _metric("MulticlassF1Score", (_XC, _YC), num_classes=4, average="macro"),
    "MulticlassConfusionMatrix": lambda: _metric("MulticlassConfusionMatrix", (_XC, _YC), num_classes=4),
    "Perplexity": lambda: _metric("Perplexity", (_t(2, 5, 7), _i(7, 2, 5))),
    "R2Score": lambda: _metric("R2Score", (_t(6), _t(6))),
    "PeakSignalNoiseRatio": lambda: _metric("PeakSignalNoiseRatio", (_u(2, 3, 8, 8), _u(2, 3, 8, 8))),
    "Cat": lambda: _metric("Cat", (_t(6, 3),)),
    "Max": lambda: _metric("Max", (_t(6, 3),)),
    "Mean": lambda: _metric("Mean", (_t(6, 3),)),
    "HitRate": lambda: _metric("HitRate", (_XC, _YC), k=2),
    "RetrievalPrecision": lambda: _metric("RetrievalPrecision", (_X, _Y), k=3),
    "WindowedMeanSquaredError": lambda: _metric("WindowedMeanSquaredError", (_t(6), _t(6)), max_num_updates=3),
    "WindowedBinaryAUROC": lambda: _metric("WindowedBinaryAUROC", (_X, _Y), max_num_samples=8),
    "WindowedClickThroughRate": lambda: _metric("WindowedClickThroughRate", (_Y,), max_num_updates=3),
    "ClickThroughRate": lambda: _metric("ClickThroughRate", (_Y,)),
    "WeightedCalibration": lambda: _metric("WeightedCalibration", (_X, _Y)),
    "BinaryNormalizedEntropy": lambda: _metric("BinaryNormalizedEntropy", (_X, _Y.float())),
    "BinaryRecallAtFixedPrecision": lambda: _metric("BinaryRecallAtFixedPrecision", (_X, _Y), min_precision=0.5),
    "TopKMultilabelAccuracy": lambda: _metric("TopKMultilabelAccuracy", (_XL, _YL), criteria="hamming", k=2),
}

_L = "GCL.losses."
_A = "GCL.augmentors."
_AF = "GCL.augmentors.functional."
_H1, _H2 = _t(6, 4), _t(6, 4)
_EDGES = torch.tensor([[0, 1, 1, 2, 3, 4, 4, 5], [1, 0, 2, 1, 4, 3, 5, 4]])
_MASK = torch.eye(6)
_BATCH = torch.tensor([0, 0, 0, 1, 1, 1])


def _loss(name: str, *given: Any, inputs: Any = (_H1, _H2, _MASK, 1 - _MASK), **options: Any) -> Built:
    return _made(_L + name, [inputs], *given, **options)


def _augmented(name: str, *given: Any, **options: Any) -> Built:
    return held(
        _get(_A + name)(*given, **options),
        lambda a, x, e, w: a(x, e, w),
        (_t(6, 4), _EDGES, _u(8)),
        (_t(6, 4), _EDGES, None),
    )


def _contrast(name: str, loss: str, *given: Any, inputs: dict[str, Any], **options: Any) -> Built:
    made = _get("GCL.models." + name)(_get(_L + loss)(*given), **options)
    return made, [inputs]


_GCL: dict[str, Callable[[], Built]] = {
    "BarlowTwins": lambda: _loss("BarlowTwins"),
    "bt_loss": lambda: _call("GCL.losses.barlow_twins.bt_loss", (_H1, _H2, 0.1)),
    "BootstrapLatent": lambda: _loss("BootstrapLatent"),
    "InfoNCE": lambda: _loss("InfoNCE", 0.2),
    "InfoNCESP": lambda: _loss("InfoNCESP", 0.2),
    "RingLoss": lambda: _made("GCL.losses.infonce.RingLoss", [(_t(12, 4), _t(12, 4), _i(3, 12), 0.3)]),
    "JSD": lambda: _loss("JSD"),
    "DebiasedJSD": lambda: _loss("DebiasedJSD"),
    "HardnessJSD": lambda: _loss("HardnessJSD"),
    "TripletMarginSP": lambda: _loss("TripletMarginSP"),
    "VICReg": lambda: _loss("VICReg"),
    "EdgeRemoving": lambda: _augmented("EdgeRemoving", 0.3),
    "FeatureDropout": lambda: _augmented("FeatureDropout", 0.3),
    "FeatureMasking": lambda: _augmented("FeatureMasking", 0.3),
    "NodeDropping": lambda: _augmented("NodeDropping", 0.3),
    "NodeShuffling": lambda: _augmented("NodeShuffling"),
    "Compose": lambda: _augmented("Compose", [_get(_A + "EdgeRemoving")(0.3), _get(_A + "FeatureMasking")(0.3)]),
    "RandomChoice": lambda: _augmented(
        "RandomChoice", [_get(_A + "EdgeRemoving")(0.3), _get(_A + "FeatureMasking")(0.3)], 1
    ),
    "permute": lambda: _call(_AF + "permute", (_H1,)),
    "mixup": lambda: _call(_AF + "mixup", (_H1, 0.3)),
    "multiinstance_mixup": lambda: _call(_AF + "multiinstance_mixup", (_H1, _H2, 0.3), shuffle=True),
    "drop_feature": lambda: _call(_AF + "drop_feature", (_H1, 0.3)),
    "drop_edge_by_weight": lambda: _call(_AF + "drop_edge_by_weight", (_EDGES, _u(8), 0.3)),
    "drop_feature_by_weight": lambda: _call(_AF + "drop_feature_by_weight", (_H1, _u(4), 0.3)),
    "get_feature_weights": lambda: _call(_AF + "get_feature_weights", (_u(6, 4), _u(6))),
    "drop_node": lambda: _call(_AF + "drop_node", (_EDGES, _u(8), 0.7)),
    "SingleBranchContrast": lambda: _contrast(
        "SingleBranchContrast", "JSD", mode="G2L", inputs={"h": _H1, "g": _t(1, 4), "hn": _H2}
    ),
    "DualBranchContrast L2L": lambda: _contrast(
        "DualBranchContrast", "InfoNCE", 0.2, mode="L2L", intraview_negs=True, inputs={"h1": _H1, "h2": _H2}
    ),
    "DualBranchContrast G2G": lambda: _contrast(
        "DualBranchContrast", "InfoNCE", 0.2, mode="G2G", inputs={"g1": _t(2, 4), "g2": _t(2, 4), "batch": _BATCH}
    ),
    "BootstrapContrast": lambda: _contrast(
        "BootstrapContrast",
        "BootstrapLatent",
        mode="L2L",
        inputs={"h1_pred": _H1, "h2_pred": _H2, "h1_target": _H2, "h2_target": _H1},
    ),
    "WithinEmbedContrast": lambda: _contrast("WithinEmbedContrast", "BarlowTwins", inputs={"h1": _H1, "h2": _H2}),
    "normalize": lambda: _call("GCL.utils.normalize", (_u(6) + 1,)),
}

_ML = "mmaction.models.losses."
_MH = "mmaction.models.heads."
_MU = "mmaction.models.utils."
_MT = "mmaction.models.localizers.utils.tcanet_utils."
_MP = "mmaction.models.localizers.utils.proposal_utils."


def _spans(count: int) -> torch.Tensor:
    start = _u(count, 1) * 0.5
    return torch.cat([start, start + 0.1 + _u(count, 1) * 0.4], 1)


def _bmn() -> Built:
    mask = torch.triu(torch.ones(6, 6))
    made = _get(_ML + "bmn_loss.BMNLoss")()
    return made, [(_u(2, 2, 6, 6), _u(2, 6), _u(2, 6), _u(2, 6, 6), _u(2, 6), _u(2, 6), mask)]


def _blended(name: str, **options: Any) -> Built:
    made = _get(_MU + "blending_utils." + name)(4, **options)
    return held(made, lambda m, x, y: m.do_blending(x, y), (_t(4, 1, 3, 2, 8, 8), torch.eye(4)))


def _accuracy(name: str, use: Callable[..., Any], *inputs: Any) -> Built:
    return _using("mmaction.evaluation.functional.accuracy." + name, use, *inputs)


_MMACTION: dict[str, Callable[[], Built]] = {
    "binary_logistic_regression_loss": lambda: _call(
        _ML + "binary_logistic_regression_loss.binary_logistic_regression_loss", (_u(12), _u(12))
    ),
    "BinaryLogisticRegressionLoss": lambda: _made(
        _ML + "binary_logistic_regression_loss.BinaryLogisticRegressionLoss", [(_u(12), _u(12))]
    ),
    "BMNLoss": _bmn,
    "CrossEntropyLoss": lambda: _made(_ML + "cross_entropy_loss.CrossEntropyLoss", [(_t(6, 4), _i(4, 6))]),
    "CrossEntropyLoss soft": lambda: _made(
        _ML + "cross_entropy_loss.CrossEntropyLoss",
        [(_t(6, 4), _t(6, 4).softmax(-1))],
        class_weight=[1.0, 2.0, 1.0, 1.0],
    ),
    "BCELossWithLogits": lambda: _made(_ML + "cross_entropy_loss.BCELossWithLogits", [(_t(6, 4), _u(6, 4))]),
    "CBFocalLoss": lambda: _made(
        _ML + "cross_entropy_loss.CBFocalLoss", [(_t(6, 4), _i(4, 6))], samples_per_cls=[3, 4, 5, 6]
    ),
    "HVULoss": lambda: held(
        _get(_ML + "hvu_loss.HVULoss")(("action", "scene"), (3, 2), (1, 1), loss_type="individual", with_mask=True),
        lambda m, x, y, mask: m(x, y, mask, torch.ones(4, 2)),
        (_t(4, 5), _i(2, 4, 5).float(), torch.ones(4, 5)),
    ),
    "HVULoss all": lambda: held(
        _get(_ML + "hvu_loss.HVULoss")(("action", "scene"), (3, 2), (1, 1)),
        lambda m, x, y: m(x, y, torch.ones(4, 5), torch.ones(4, 2)),
        (_t(4, 5), _i(2, 4, 5).float()),
    ),
    "NLLLoss": lambda: _made(_ML + "nll_loss.NLLLoss", [(_t(6, 4).log_softmax(-1), _i(4, 6))]),
    "OHEMHingeLoss": lambda: _using(
        _ML + "ohem_hinge_loss.OHEMHingeLoss",
        lambda f, x, y: f.apply(x, y, 1, 0.5, 3),
        (_t(6, 4).requires_grad_(), _i(3, 6) + 1),
    ),
    "SSNLoss activity": lambda: held(
        _get(_ML + "ssn_loss.SSNLoss")(),
        lambda m, x, y: m.activity_loss(x, y, torch.tensor([0, 2, 3])),
        (_t(6, 4), _i(4, 6)),
    ),
    "SSNLoss completeness": lambda: held(
        _get(_ML + "ssn_loss.SSNLoss")(),
        lambda m, x, y: m.completeness_loss(x, y, torch.tensor([0, 1, 4, 5]), 1, 1, ohem_ratio=0.5),
        (_t(8, 4), _i(3, 8) + 1),
    ),
    "SSNLoss regression": lambda: held(
        _get(_ML + "ssn_loss.SSNLoss")(),
        lambda m, x, y, t: m.classwise_regression_loss(x, y, t, torch.tensor([0, 2])),
        (_t(6, 4, 2), _i(3, 6) + 1, _t(6, 2)),
    ),
    "batch_iou": lambda: _call(_MT + "batch_iou", (_spans(5), _spans(5))),
    "bbox_xw_transform_inv": lambda: _call(_MT + "bbox_xw_transform_inv", (_spans(5), _t(5, 2) * 0.1, 0.1, 0.2)),
    "bbox_xw_transform_batch": lambda: _call(_MT + "bbox_xw_transform_batch", (_spans(5), _spans(5))),
    "bbox_se_transform_batch": lambda: _call(_MT + "bbox_se_transform_batch", (_spans(5), _spans(5))),
    "bbox_se_transform_inv": lambda: _call(_MT + "bbox_se_transform_inv", (_spans(5), _t(5, 2) * 0.1, 1.0)),
    "temporal_iou": lambda: _using(
        _MP + "temporal_iou", lambda f, x: f(x[:, 0].numpy(), x[:, 1].numpy(), 0.2, 0.6), (_spans(5),)
    ),
    "soft_nms": lambda: _using(
        _MP + "soft_nms",
        lambda f, x, s: f(torch.cat([x, s[:, None]], 1).numpy(), 0.4, 0.5, 0.9, 4),
        (_spans(5), _u(5)),
    ),
    "LGTE": lambda: _made("mmaction.models.localizers.tcanet.LGTE", [(_t(2, 16, 10),)], 16, 0.0, 10, 3),
    "TEM generate": lambda: held(
        _get("mmaction.models.localizers.bsn.TEM")(10, 0.1, 8, 8, 0.5),
        lambda m, x: m._forward(x),
        (_t(2, 8, 10),),
    ),
    "TEM labels": lambda: held(
        _get("mmaction.models.localizers.bsn.TEM")(10, 0.1, 8, 8, 0.5),
        lambda m, x: m.generate_labels([x[0], x[1]]),
        (torch.stack([_spans(2), _spans(2)]),),
    ),
    "PEM": lambda: held(
        _get("mmaction.models.localizers.bsn.PEM")(8, 8, 1, 2, 0.6, 0.2, 0.75, 0.65, 0.9, 10),
        lambda m, x: m._forward(x),
        (_t(1, 5, 8),),
    ),
    "PEM loss": lambda: held(
        _get("mmaction.models.localizers.bsn.PEM")(8, 8, 1, 2, 0.6, 0.2, 0.75, 0.65, 0.9, 10).train(),
        lambda m, x, y: m.loss(
            x, [type("Sample", (), {"gt_instances": {"bsp_feature": x, "reference_temporal_iou": y}})()]
        ),
        (_t(5, 8), _u(5)),
    ),
    "BMN": lambda: held(
        _get("mmaction.models.localizers.bmn.BMN")(
            8, 0.5, 4, 2, 8, 0.4, 0.5, 0.9, 10, 16, {"type": "BMNLoss"}, 8, 8, 8
        ),
        lambda m, x: m._forward(x),
        (_t(1, 8, 8),),
    ),
    "BMN labels": lambda: held(
        _get("mmaction.models.localizers.bmn.BMN")(
            8, 0.5, 4, 2, 8, 0.4, 0.5, 0.9, 10, 16, {"type": "BMNLoss"}, 8, 8, 8
        ),
        lambda m, x: m.generate_labels([x]),
        (_spans(2),),
    ),
    "AvgConsensus": lambda: _made(_MH + "base.AvgConsensus", [(_t(2, 3, 4),)]),
    "BaseHead loss": lambda: held(
        _get(_MH + "i3d_head.I3DHead")(4, 8, average_clips="prob"),
        lambda m, x, y: m.loss_by_feat(x, [type("Sample", (), {"gt_label": one[None]})() for one in y]),
        (_t(3, 4), _i(4, 3)),
    ),
    "I3DHead": lambda: _made(_MH + "i3d_head.I3DHead", [(_t(2, 8, 2, 4, 4),)], 4, 8),
    "I3DHead clips": lambda: held(
        _get(_MH + "i3d_head.I3DHead")(4, 8, average_clips="score"), lambda m, x: m.average_clip(x, 2), (_t(4, 4),)
    ),
    "GCNHead": lambda: _made(_MH + "gcn_head.GCNHead", [(_t(2, 1, 8, 3, 5),)], 4, 8),
    "FeatureHead": lambda: _made(_MH + "feature_head.FeatureHead", [(_t(2, 8, 2, 4, 4),)]),
    "RGBPoseHead": lambda: held(
        _get(_MH + "rgbpose_head.RGBPoseHead")(4, (8, 6)),
        lambda m, x, y: m((x, y)),
        (_t(2, 8, 2, 4, 4), _t(2, 6, 2, 4, 4)),
    ),
    "SlowFastHead": lambda: held(
        _get(_MH + "slowfast_head.SlowFastHead")(4, 12),
        lambda m, x, y: m((x, y)),
        (_t(2, 4, 2, 4, 4), _t(2, 8, 4, 4, 4)),
    ),
    "OmniHead": lambda: _made(_MH + "omni_head.OmniHead", [(_t(2, 8, 4, 4),), (_t(2, 8, 2, 4, 4),)], 3, 4, 8),
    "TSMHead": lambda: _made(_MH + "tsm_head.TSMHead", [(_t(4, 8, 4, 4), 2)], 4, 8, num_segments=2),
    "TSNHead": lambda: _made(_MH + "tsn_head.TSNHead", [(_t(4, 8, 4, 4), 2)], 4, 8),
    "TPNHead": lambda: _made(_MH + "tpn_head.TPNHead", [(_t(4, 8, 4, 4), 2)], 4, 8),
    "TRNHead": lambda: _made(_MH + "trn_head.TRNHead", [(_t(6, 8, 4, 4), 3)], 4, 8, num_segments=3),
    "RelationModuleMultiScale": lambda: _made(_MH + "trn_head.RelationModuleMultiScale", [(_t(2, 4, 8),)], 8, 4, 3),
    "X3DHead": lambda: _made(_MH + "x3d_head.X3DHead", [(_t(2, 8, 2, 4, 4),)], 4, 8),
    "TimeSformerHead": lambda: _made(_MH + "timesformer_head.TimeSformerHead", [(_t(2, 8),)], 4, 8),
    "MixupBlending": lambda: _blended("MixupBlending"),
    "CutmixBlending": lambda: _blended("CutmixBlending"),
    "unit_gcn": lambda: _made(_MU + "gcn_utils.unit_gcn", [(_t(2, 4, 3, 5),)], 4, 8, _u(3, 5, 5)),
    "unit_gcn offset": lambda: _made(
        _MU + "gcn_utils.unit_gcn", [(_t(2, 4, 3, 5),)], 4, 8, _u(3, 5, 5), adaptive="offset", conv_pos="post"
    ),
    "unit_aagcn": lambda: _made(_MU + "gcn_utils.unit_aagcn", [(_t(2, 4, 3, 5),)], 4, 8, _u(3, 5, 5)),
    "unit_tcn": lambda: _made(_MU + "gcn_utils.unit_tcn", [(_t(2, 4, 9, 5),)], 4, 8),
    "mstcn": lambda: _made(_MU + "gcn_utils.mstcn", [(_t(2, 12, 9, 5),)], 12, 12),
    "k_adjacency": lambda: _using(_MU + "graph.k_adjacency", lambda f, x: f(x, 2), ((_u(5, 5) > 0.5).float(),)),
    "Conv2plus1d": lambda: _made(
        "mmaction.models.common.conv2plus1d.Conv2plus1d", [(_t(1, 3, 4, 6, 6),)], 3, 4, 3, padding=1
    ),
    "ConvAudio": lambda: _made("mmaction.models.common.conv_audio.ConvAudio", [(_t(1, 3, 6, 6),)], 3, 4, 3),
    "SubBatchNorm3D": lambda: _made("mmaction.models.common.sub_batchnorm3d.SubBatchNorm3D", [(_t(2, 4, 2, 3, 3),)], 4),
    "TAM": lambda: _made("mmaction.models.common.tam.TAM", [(_t(4, 8, 3, 3),)], 8, 4),
    "ResNet3d": lambda: _made(
        "mmaction.models.backbones.resnet3d.ResNet3d",
        [(_t(1, 3, 4, 16, 16),)],
        depth=18,
        pretrained=None,
        base_channels=4,
        norm_eval=False,
    ),
    "ResNet": lambda: _made("mmaction.models.backbones.resnet.ResNet", [(_t(2, 3, 32, 32),)], 18, norm_eval=True),
    "ResNetTSM": lambda: _made(
        "mmaction.models.backbones.resnet_tsm.ResNetTSM", [(_t(4, 3, 16, 16),)], depth=50, num_segments=4
    ),
    "TemporalShift": lambda: _using(
        "mmaction.models.backbones.resnet_tsm.TemporalShift", lambda c, x: c.shift(x, 2, 4), (_t(4, 8, 3, 3),)
    ),
    "C3D": lambda: _made("mmaction.models.backbones.c3d.C3D", [(_t(1, 3, 16, 112, 112),)]),
    "STGCN": lambda: _made(
        "mmaction.models.backbones.stgcn.STGCN",
        [(_t(1, 2, 8, 17, 3),)],
        graph_cfg={"layout": "coco", "mode": "stgcn_spatial"},
        base_channels=8,
        num_stages=3,
        inflate_stages=[2],
        down_stages=[2],
    ),
    "AAGCN": lambda: _made(
        "mmaction.models.backbones.aagcn.AAGCN",
        [(_t(1, 2, 8, 17, 3),)],
        graph_cfg={"layout": "coco", "mode": "spatial"},
        base_channels=8,
        num_stages=3,
        inflate_stages=[2],
        down_stages=[2],
    ),
    "MViT": lambda: _made(
        "mmaction.models.backbones.mvit.MViT",
        [(_t(1, 3, 4, 32, 32),)],
        arch={"embed_dims": 8, "num_layers": 2, "num_heads": 1, "downscale_indices": [1]},
        spatial_size=32,
        temporal_size=4,
        drop_path_rate=0.1,
    ),
    "SwinTransformer3D": lambda: _made(
        "mmaction.models.backbones.swin.SwinTransformer3D",
        [(_t(1, 3, 4, 32, 32),)],
        arch={"embed_dims": 12, "depths": [2, 2], "num_heads": [1, 2]},
        out_indices=(1,),
        window_size=(2, 4, 4),
    ),
    "X3D": lambda: _made(
        "mmaction.models.backbones.x3d.X3D",
        [(_t(1, 3, 4, 32, 32),)],
        gamma_w=1,
        gamma_b=2.25,
        gamma_d=1,
        norm_eval=True,
    ),
    "top_k_accuracy": lambda: _accuracy(
        "top_k_accuracy", lambda f, x, y: f(list(x.numpy()), list(y.numpy()), (1, 2)), (_t(6, 4), _i(4, 6))
    ),
    "mean_class_accuracy": lambda: _accuracy(
        "mean_class_accuracy", lambda f, x, y: f(list(x.numpy()), list(y.numpy())), (_t(6, 4), _i(4, 6))
    ),
    "mmit_mean_average_precision": lambda: _accuracy(
        "mmit_mean_average_precision",
        lambda f, x, y: f(list(x.numpy()), list(y.numpy())),
        (_t(6, 4), torch.eye(6)[:, :4]),
    ),
}

_LG = "litgpt."


def _config(module: str = "config", **options: Any) -> Any:
    given = {
        "n_layer": 2,
        "n_head": 4,
        "n_embd": 16,
        "block_size": 16,
        "vocab_size": 32,
        "padded_vocab_size": 32,
        "intermediate_size": 24,
    }
    return _get(_LG + module + ".Config")(**given | options)


def _gpt(module: str = "model", inputs: Any = None, **options: Any) -> Built:
    made = _get(_LG + module + ".GPT")(_config("config" if module == "model" else module, **options))
    return made, [inputs or (_i(32, 2, 8),), (_i(32, 2, 6),)]


def _cached(module: str = "model", **options: Any) -> Built:
    """A model with a cache of keys and values, and a step of it."""
    made = _get(_LG + module + ".GPT")(_config(**options))
    made.set_kv_cache(1)
    return made, [(_i(32, 1, 4), torch.arange(4)), (_i(32, 1, 1), torch.tensor([4]))]


def _llama(**options: Any) -> dict[str, Any]:
    return {"mlp_class_name": "LLaMAMLP", "norm_class_name": "RMSNorm", "bias": False, "n_query_groups": 2} | options


def _generated(name: str, **options: Any) -> Built:
    made = _get(_LG + "model.GPT")(_config(**_llama()))
    made.set_kv_cache(1)
    generate = _get(_LG + "generate.base." + name)
    return (lambda x: generate(made, x, 8, **options)), [(_i(32, 5),)]


_LITGPT: dict[str, Callable[[], Built]] = {
    "GPT": lambda: _gpt(),
    "GPT chunks": lambda: held(_gpt()[0], lambda m, x: m(x, lm_head_chunk_size=4), (_i(32, 2, 8),)),
    "GPT llama": lambda: _gpt(**_llama()),
    "GPT gemma": lambda: _gpt(**_llama(mlp_class_name="GemmaMLP", scale_embeddings=True, final_logit_softcapping=30.0)),
    "GPT softcapping": lambda: _gpt(**_llama(attention_logit_softcapping=50.0, post_attention_norm=True)),
    "GPT window": lambda: _gpt(**_llama(sliding_window_size=4, sliding_window_indices=[1, 0])),
    "GPT moe": lambda: _gpt(
        **_llama(mlp_class_name="LLaMAMoE", n_expert=4, n_expert_per_token=2, moe_intermediate_size=8)
    ),
    "GPT qk norm": lambda: _gpt(**_llama(norm_qk=True)),
    "GPT rope scaling": lambda: _gpt(
        **_llama(
            rope_adjustments={"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_seq_len": 8}
        )
    ),
    "GPT cached": lambda: _cached(),
    "GPT cached llama": lambda: _cached(**_llama()),
    "GPT cached window": lambda: _cached(**_llama(sliding_window_size=4, sliding_window_indices=[1, 0])),
    "GPT adapter": lambda: _gpt("adapter", adapter_prompt_length=3, adapter_start_layer=0, rotary_percentage=1.0),
    "GPT adapter_v2": lambda: _gpt(
        "adapter_v2", adapter_prompt_length=3, adapter_start_layer=0, rotary_percentage=1.0, **_llama()
    ),
    "GPT lora": lambda: _gpt("lora", lora_r=2, lora_query=True, lora_value=True, lora_mlp=True, lora_head=True),
    "GPT lora llama": lambda: _gpt("lora", lora_r=2, lora_query=True, lora_key=True, lora_projection=True, **_llama()),
    "LoRALinear": lambda: _made(_LG + "lora.LoRALinear", [(_t(2, 4),)], 4, 6, 2),
    "LoRALinear merge": lambda: held(
        _get(_LG + "lora.LoRALinear")(4, 6, 2), lambda m, x: (m.merge(), m(x))[1], (_t(2, 4),)
    ),
    "LoRAQKVLinear": lambda: _made(
        _LG + "lora.LoRAQKVLinear",
        [(_t(2, 3, 16),)],
        16,
        32,
        head_size=4,
        n_head=4,
        n_query_groups=2,
        r=2,
        enable_lora=(True, False, True),
    ),
    "AdapterV2Linear": lambda: _made(_LG + "adapter_v2.AdapterV2Linear", [(_t(2, 4),)], 4, 6),
    "RMSNorm": lambda: _made(_LG + "model.RMSNorm", [(_t(2, 4),)], 4, add_unit_offset=True),
    "LLaMAMoE": lambda: _made(
        _LG + "model.LLaMAMoE",
        [(_t(2, 3, 16),)],
        _config(**_llama(mlp_class_name="LLaMAMoE", n_expert=4, n_expert_per_token=2, moe_intermediate_size=8)),
    ),
    "KVCache": lambda: _made(
        _LG + "model.KVCache", [(torch.arange(2), _t(1, 2, 2, 4), _t(1, 2, 2, 4))], (1, 2, 8, 4), (1, 2, 8, 4)
    ),
    "build_rope_cache": lambda: _using(
        _LG + "model.build_rope_cache", lambda f, x: f(int(x.shape[0]), 4)[0] + x, (_t(8, 4),)
    ),
    "apply_rope": lambda: _call(_LG + "model.apply_rope", (_t(1, 2, 6, 4), _t(1, 6, 4), _t(1, 6, 4))),
    "batched_index_select": lambda: _call(_LG + "model.batched_index_select", (_t(2, 6, 4), 1, _i(6, 2, 3))),
    "batched_index_copy_": lambda: _call(
        _LG + "model.batched_index_copy_", (_t(2, 6, 4), 1, torch.tensor([[0, 1], [2, 3]]), _t(2, 2, 4))
    ),
    "build_mask_cache": lambda: _using(
        _LG + "model.build_mask_cache", lambda f, x: f(x.shape[0]) & (x > 0), (_t(6, 6),)
    ),
    "chunked_cross_entropy": lambda: _call(_LG + "utils.chunked_cross_entropy", (_t(2, 8, 6), _i(6, 2, 8), 4)),
    "chunked_cross_entropy list": lambda: _using(
        _LG + "utils.chunked_cross_entropy",
        lambda f, x, y: f(list(x.split(4, 1)), y, 4),
        (_t(2, 8, 6), _i(6, 2, 8)),
    ),
    "chunked_cross_entropy whole": lambda: _call(_LG + "utils.chunked_cross_entropy", (_t(2, 8, 6), _i(6, 2, 8), 0)),
    "sample": lambda: _call(_LG + "generate.base.sample", (_t(1, 3, 8),), top_k=4, top_p=0.9),
    "sample greedy": lambda: _call(_LG + "generate.base.sample", (_t(1, 3, 8),), temperature=0.0),
    "sample_top_p": lambda: _call(_LG + "generate.base.sample_top_p", (_t(8), 0.8)),
    "multinomial_num_samples_1": lambda: _call(_LG + "generate.base.multinomial_num_samples_1", (_u(8),)),
    "next_token": lambda: held(
        _cached(**_llama())[0],
        lambda m, x: _get(_LG + "generate.base.next_token")(m, torch.arange(4), x, top_k=3),
        (_i(32, 1, 4),),
    ),
    "generate": lambda: _generated("generate", temperature=0.5, top_k=5),
    "generate eos": lambda: _generated("generate", eos_id=3),
    "speculative sample": lambda: _call(_LG + "generate.speculative_decoding.sample", (_t(1, 3, 8),), top_k=4),
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("torcheval", _TORCHEVAL),
    **_named("GCL", _GCL),
    **_named("mmaction", _MMACTION),
    **_named("litgpt", _LITGPT),
}

"""Models of mmdet, super_gradients and orb_models.

They were chosen after all of the twentieth group, and written before `check` was run on these packages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import _Absent, getter

_t, _u, _i = random_inputs(71)
_ABSENT = {
    "mmdet": ("cv2", "pycocotools.mask", "shapely.geometry", "terminaltables"),
    "super_gradients": (
        "cv2",
        "pycocotools",
        "onnx",
        "onnxruntime",
        "hydra.core.global_hydra",
        "hydra.utils",
        "rapidfuzz",
        "pkg_resources",
        "boto3",
        "botocore.exceptions",
        "onnxsim",
        "treelib",
        "jsonschema",
        "torchvision.transforms",
        "torchvision.transforms.functional",
        "torchvision.models",
        "torchvision.ops",
        "torchvision.datasets",
        "torchvision.utils",
    ),
    "orb_models": ("ase.data", "ase.db", "tree", "ase.calculators.calculator"),
}
_BARE = (
    "mmdet",
    "mmdet.models",
    "mmdet.models.dense_heads",
    "mmdet.models.layers",
    "super_gradients",
    "super_gradients.training",
    "super_gradients.training.losses",
    "super_gradients.training.metrics",
    "super_gradients.training.datasets",
    "super_gradients.training.models",
)


def _prepare(package: str) -> None:
    """Operations of mmcv that need its extension library are not used here."""
    if package == "mmdet":
        for name in ("mmcv.ops", "mmcv.ops.roi_align", "mmcv.ops.nms", "mmcv.ops.modulated_deform_conv"):
            sys.modules.setdefault(name, _Absent(name))
    if package == "super_gradients":
        sys.modules[package].is_distributed = lambda: False  # type: ignore[attr-defined]
        sys.modules.setdefault("torch.utils.tensorboard", _Absent("torch.utils.tensorboard"))
        case = _Absent("stringcase")
        for name in ("capitalcase", "camelcase", "pascalcase", "snakecase", "lowercase"):
            setattr(case, name, str.lower)
        sys.modules.setdefault("stringcase", case)


_get = getter(_ABSENT, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)


def _boxes(count: int, size: float = 32.0) -> torch.Tensor:
    corner = _u(count, 2) * size
    return torch.cat([corner, corner + 2 + _u(count, 2) * size / 2], 1)


_L = "mmdet.models.losses."
_LY = "mmdet.models.layers."
_TM = "mmdet.models.task_modules."
_UT = "mmdet.models.utils."
_BX = "mmdet.structures.bbox."
_PRED, _GT = _boxes(12), _boxes(4)
_GL = _i(3, 4)


def _instances(**fields: torch.Tensor) -> Any:
    return _get("mmengine.structures.InstanceData")(**fields)


def _assigned(name: str, *given: Any, **options: Any) -> Built:
    """An assigner of boxes to what is in the picture."""
    more = {"img_meta": {"img_shape": (48, 48)}} if name == "HungarianAssigner" else {}
    assigner = _get(_TM + "assigners." + name)(*given, **options)

    def use(scores: torch.Tensor, priors: torch.Tensor, boxes: torch.Tensor, labels: torch.Tensor) -> Any:
        pred = _instances(scores=scores, priors=priors, bboxes=priors)
        return assigner.assign(pred, _instances(bboxes=boxes, labels=labels), **more).gt_inds

    return use, [(_u(12, 3), _PRED, _GT, _GL), (_u(9, 3), _boxes(9), _boxes(2), _i(3, 2))]


def _assigned_levels() -> Built:
    assigner = _get(_TM + "assigners.ATSSAssigner")(3)

    def use(priors: torch.Tensor, boxes: torch.Tensor, labels: torch.Tensor) -> Any:
        gt = _instances(bboxes=boxes, labels=labels)
        return assigner.assign(_instances(priors=priors), [8, 4], gt).gt_inds

    return use, [(_PRED, _GT, _GL)]


def _sampled(name: str, *given: Any, **options: Any) -> Built:
    sampler = _get(_TM + "samplers." + name)(*given, **options)
    assigner = _get(_TM + "assigners.MaxIoUAssigner")(0.3, 0.2)
    pred = _instances(priors=_PRED)
    gt = _instances(bboxes=_GT, labels=_GL)
    result = assigner.assign(pred, gt)

    def use(priors: torch.Tensor, boxes: torch.Tensor, labels: torch.Tensor) -> Any:
        return sampler.sample(result, _instances(priors=priors), _instances(bboxes=boxes, labels=labels)).pos_inds

    return use, [(_PRED, _GT, _GL)]


def _coded(name: str, *given: Any, decode: Any = None, **options: Any) -> Built:
    coder = _get(_TM + "coders." + name)(*given, **options)
    if decode is None:
        return coder.encode, [(_boxes(4), _GT)]
    return (lambda *x: coder.decode(*x, max_shape=(48, 48))), [decode]


def _priors(name: str, sizes: Any, *given: Any, **options: Any) -> Built:
    generator = _get(_TM + "prior_generators." + name)(*given, **options)
    return (lambda x: [p + x for p in generator.grid_priors(sizes, device="cpu")]), [(_t(1),)]


def _loss(name: str, *inputs: Any, **options: Any) -> Callable[[], Built]:
    return lambda: _made(_L + name, list(inputs), **options)


_LOGIT, _SOFT, _LABEL = _t(6, 4), _u(6, 4), _i(4, 6)

_MMDET: dict[str, Callable[[], Built]] = {
    "accuracy": lambda: _call(_L + "accuracy.accuracy", (_t(6, 5), _i(5, 6))),
    "Accuracy": _loss("accuracy.Accuracy", (_t(6, 5), _i(5, 6)), topk=(1, 3)),
    "accuracy thresh": lambda: _call(_L + "accuracy.accuracy", (_u(6, 5), _i(5, 6)), topk=(1, 2), thresh=0.5),
    "AssociativeEmbeddingLoss": lambda: held(
        _get(_L + "ae_loss.AssociativeEmbeddingLoss")(),
        lambda m, x, y: m(x, y, [[[[1, 2], [3, 4]]], [[[0, 1], [2, 2]], [[3, 3], [1, 0]]]]),
        (_t(2, 1, 5, 5), _t(2, 1, 5, 5)),
    ),
    "BalancedL1Loss": _loss("balanced_l1_loss.BalancedL1Loss", (_t(6, 4), _t(6, 4))),
    "CrossEntropyLoss": _loss("cross_entropy_loss.CrossEntropyLoss", (_LOGIT, _LABEL)),
    "CrossEntropyLoss sigmoid": _loss(
        "cross_entropy_loss.CrossEntropyLoss", (_LOGIT, _LABEL), use_sigmoid=True, avg_non_ignore=True
    ),
    "CrossEntropyLoss weights": _loss(
        "cross_entropy_loss.CrossEntropyLoss", (_LOGIT, _LABEL, _u(6)), class_weight=[1.0, 2.0, 1.0, 1.0]
    ),
    "CrossEntropyLoss mask": lambda: held(
        _get(_L + "cross_entropy_loss.CrossEntropyLoss")(use_mask=True),
        lambda m, x, y, c: m(x, y, c),
        (_t(3, 4, 6, 6), _u(3, 6, 6), _i(4, 3)),
    ),
    "CrossEntropyCustomLoss": _loss(
        "cross_entropy_loss.CrossEntropyCustomLoss", (_LOGIT, _LABEL), use_sigmoid=True, num_classes=4
    ),
    "DiceLoss": _loss("dice_loss.DiceLoss", (_t(3, 4, 6, 6), _u(3, 4, 6, 6))),
    "DiceLoss naive": _loss("dice_loss.DiceLoss", (_t(3, 36), _u(3, 36), _u(3)), naive_dice=True),
    "EQLV2Loss": _loss("eqlv2_loss.EQLV2Loss", (_t(6, 4), _i(3, 6)), num_classes=3),
    "FocalLoss": _loss("focal_loss.FocalLoss", (_t(6, 3), _i(4, 6))),
    "FocalLoss weight": _loss("focal_loss.FocalLoss", (_t(6, 3), _i(4, 6), _u(6))),
    "FocalLoss activated": _loss("focal_loss.FocalLoss", (_u(6, 3), _i(4, 6)), activated=True),
    "GaussianFocalLoss": _loss("gaussian_focal_loss.GaussianFocalLoss", (_u(2, 3, 5, 5), _u(2, 3, 5, 5))),
    "GaussianFocalLoss inds": lambda: held(
        _get(_L + "gaussian_focal_loss.GaussianFocalLoss")(),
        lambda m, x, y, p, c: m(x, y, p, c),
        (_u(10, 3), _u(10, 3), _i(10, 4), _i(3, 4)),
    ),
    "QualityFocalLoss": lambda: held(
        _get(_L + "gfocal_loss.QualityFocalLoss")(), lambda m, x, y, s: m(x, (y, s)), (_t(6, 3), _i(4, 6), _u(6))
    ),
    "QualityFocalLoss tensor": _loss("gfocal_loss.QualityFocalLoss", (_t(6, 3), _u(6, 3))),
    "DistributionFocalLoss": _loss("gfocal_loss.DistributionFocalLoss", (_t(6, 9), _u(6) * 7)),
    "GHMC": _loss("ghm_loss.GHMC", (_t(6, 3), _i(3, 6), torch.ones(6))),
    "GHMC momentum": _loss("ghm_loss.GHMC", (_t(6, 3), _i(3, 6), torch.ones(6)), momentum=0.5),
    "GHMR": _loss("ghm_loss.GHMR", (_t(6, 4), _t(6, 4), torch.ones(6, 4))),
    "IoULoss": _loss("iou_loss.IoULoss", (_boxes(6), _boxes(6))),
    "IoULoss weight": _loss("iou_loss.IoULoss", (_boxes(6), _boxes(6), _u(6)), mode="linear"),
    "GIoULoss": _loss("iou_loss.GIoULoss", (_boxes(6), _boxes(6))),
    "GIoULoss weight": _loss("iou_loss.GIoULoss", (_boxes(6), _boxes(6), _u(6, 4))),
    "DIoULoss": _loss("iou_loss.DIoULoss", (_boxes(6), _boxes(6), _u(6))),
    "CIoULoss": _loss("iou_loss.CIoULoss", (_boxes(6), _boxes(6), _u(6))),
    "EIoULoss": _loss("iou_loss.EIoULoss", (_boxes(6), _boxes(6), _u(6))),
    "SIoULoss": _loss("iou_loss.SIoULoss", (_boxes(6), _boxes(6), _u(6))),
    "BoundedIoULoss": _loss("iou_loss.BoundedIoULoss", (_boxes(6), _boxes(6), _u(6, 4))),
    "KnowledgeDistillationKLDivLoss": _loss("kd_loss.KnowledgeDistillationKLDivLoss", (_t(6, 5), _t(6, 5))),
    "L2Loss": _loss("l2_loss.L2Loss", (_u(6, 5), _i(2, 6, 5).float(), torch.ones(6, 5)), neg_pos_ub=2, pos_margin=0.1),
    "L2Loss mining": _loss(
        "l2_loss.L2Loss", (_u(6, 5), _i(2, 6, 5).float(), torch.ones(6, 5)), neg_pos_ub=1, hard_mining=True
    ),
    "MarginL2Loss": _loss(
        "margin_loss.MarginL2Loss", (_u(6, 5), _i(2, 6, 5).float(), torch.ones(6, 5)), neg_pos_ub=1, neg_margin=0.1
    ),
    "MultiPosCrossEntropyLoss": _loss(
        "multipos_cross_entropy_loss.MultiPosCrossEntropyLoss", (_t(6, 5), _i(2, 6, 5), torch.ones(6))
    ),
    "SeesawLoss": _loss("seesaw_loss.SeesawLoss", (_t(6, 5), _i(3, 6)), num_classes=3),
    "SmoothL1Loss": _loss("smooth_l1_loss.SmoothL1Loss", (_t(6, 4), _t(6, 4), _u(6, 4))),
    "L1Loss": _loss("smooth_l1_loss.L1Loss", (_t(6, 4), _t(6, 4))),
    "TripletLoss": _loss("triplet_loss.TripletLoss", (_t(8, 5), torch.arange(8) // 2)),
    "VarifocalLoss": _loss("varifocal_loss.VarifocalLoss", (_t(6, 3), _u(6, 3))),
    "carl_loss": lambda: held(
        _get(_L + "smooth_l1_loss.SmoothL1Loss")(),
        lambda m, *x: _get(_L + "pisa_loss.carl_loss")(*x, m, num_class=3)["loss_carl"],
        (_t(6, 4), _i(4, 6), _t(6, 12), _t(6, 4)),
    ),
    "fast_nms": lambda: _using(
        _LY + "bbox_nms.fast_nms", lambda f, b, s, c: f(b, s, c, 0.2, 0.5, 8, 5), (_boxes(12), _u(12, 4), _t(12, 3))
    ),
    "mask_matrix_nms": lambda: _using(
        _LY + "matrix_nms.mask_matrix_nms", lambda f, *x: f(*x, 0.1, 5, 3), (_i(2, 6, 8, 8), _i(3, 6), _u(6))
    ),
    "mask_matrix_nms linear": lambda: _using(
        _LY + "matrix_nms.mask_matrix_nms", lambda f, *x: f(*x, kernel="linear"), (_i(2, 6, 8, 8), _i(3, 6), _u(6))
    ),
    "DropBlock": lambda: _made(_LY + "dropblock.DropBlock", [(_t(2, 3, 9, 9),)], 0.3, 3, 10),
    "CSPLayer": lambda: _made(_LY + "csp_layer.CSPLayer", [(_t(2, 8, 8, 8),)], 8, 8, channel_attention=True),
    "InvertedResidual": lambda: _made(_LY + "inverted_residual.InvertedResidual", [(_t(2, 8, 8, 8),)], 8, 8, 16),
    "SELayer": lambda: _made(_LY + "se_layer.SELayer", [(_t(2, 16, 8, 8),)], 16, 4),
    "DyReLU": lambda: _made(_LY + "se_layer.DyReLU", [(_t(2, 8, 8, 8),)], 8),
    "NormedLinear": lambda: _made(_LY + "normed_predictor.NormedLinear", [(_t(3, 8),)], 8, 4),
    "NormedConv2d": lambda: _made(_LY + "normed_predictor.NormedConv2d", [(_t(1, 8, 5, 5),)], 8, 4, 1),
    "SinePositionalEncoding": lambda: _made(
        _LY + "positional_encoding.SinePositionalEncoding", [(_i(2, 2, 6, 6).bool(),)], 4, normalize=True
    ),
    "SinePositionalEncoding3D": lambda: _made(
        _LY + "positional_encoding.SinePositionalEncoding3D", [(_i(2, 2, 3, 6, 6).bool(),)], 4, normalize=True
    ),
    "LearnedPositionalEncoding": lambda: _made(
        _LY + "positional_encoding.LearnedPositionalEncoding", [(_i(2, 2, 6, 6).bool(),)], 4
    ),
    "MaxIoUAssigner": lambda: _assigned("MaxIoUAssigner", 0.3, 0.2),
    "MaxIoUAssigner min": lambda: _assigned("MaxIoUAssigner", 0.5, (0.1, 0.2), 0.1, gt_max_assign_all=False),
    "PointAssigner": lambda: _assigned("PointAssigner"),
    "SimOTAAssigner": lambda: _assigned("SimOTAAssigner"),
    "DynamicSoftLabelAssigner": lambda: _assigned("DynamicSoftLabelAssigner", topk=3),
    "TaskAlignedAssigner": lambda: _assigned("TaskAlignedAssigner", 3),
    "ATSSAssigner": lambda: _assigned_levels(),
    "HungarianAssigner": lambda: _assigned(
        "HungarianAssigner", [{"type": "FocalLossCost"}, {"type": "BBoxL1Cost"}, {"type": "IoUCost"}]
    ),
    "RandomSampler": lambda: _sampled("RandomSampler", 6, 0.5),
    "RandomSampler proposals": lambda: _sampled("RandomSampler", 6, 0.5, add_gt_as_proposals=False),
    "PseudoSampler": lambda: _sampled("PseudoSampler"),
    "IoUBalancedNegSampler": lambda: _sampled("IoUBalancedNegSampler", 6, 0.5, floor_thr=0.0, num_bins=2),
    "InstanceBalancedPosSampler": lambda: _sampled("InstanceBalancedPosSampler", 6, 0.25),
    "DeltaXYWHBBoxCoder": lambda: _coded("DeltaXYWHBBoxCoder"),
    "DeltaXYWHBBoxCoder decode": lambda: _coded("DeltaXYWHBBoxCoder", decode=(_boxes(5), _t(5, 4))),
    "BucketingBBoxCoder": lambda: _coded("BucketingBBoxCoder", 4, 3),
    "BucketingBBoxCoder decode": lambda: held(
        _get(_TM + "coders.BucketingBBoxCoder")(4, 3),
        lambda m, b, c, o: m.decode(b, (c, o), (48, 48)),
        (_boxes(5), _t(5, 8), _t(5, 8)),
    ),
    "TBLRBBoxCoder": lambda: _coded("TBLRBBoxCoder"),
    "TBLRBBoxCoder decode": lambda: _coded("TBLRBBoxCoder", decode=(_boxes(5), _u(5, 4))),
    "DistancePointBBoxCoder": lambda: _coded("DistancePointBBoxCoder", decode=(_u(5, 2) * 30, _u(5, 4) * 4)),
    "YOLOBBoxCoder": lambda: held(
        _get(_TM + "coders.YOLOBBoxCoder")(), lambda m, *x: m.encode(*x, 8), (_boxes(4), _GT)
    ),
    "AnchorGenerator": lambda: _priors("AnchorGenerator", [(3, 4), (2, 2)], [8, 16], [0.5, 1.0], [2]),
    "SSDAnchorGenerator": lambda: _priors(
        "SSDAnchorGenerator",
        [(3, 4), (2, 2)],
        strides=[8, 16],
        ratios=[[2], [2, 3]],
        min_sizes=[10, 20],
        max_sizes=[20, 30],
    ),
    "YOLOAnchorGenerator": lambda: _priors(
        "YOLOAnchorGenerator", [(3, 4)], strides=[8], base_sizes=[[(10, 13), (16, 30)]]
    ),
    "MlvlPointGenerator": lambda: _priors("MlvlPointGenerator", [(3, 4), (2, 2)], [8, 16]),
    "PointGenerator": lambda: held(
        _get(_TM + "prior_generators.PointGenerator")(), lambda m, x: m.grid_points((3, 4), 8, "cpu") + x, (_t(3),)
    ),
    "bbox_overlaps": lambda: _call(_BX + "bbox_overlaps", (_boxes(5), _boxes(4)), mode="giou"),
    "bbox2roi": lambda: _using(_BX + "bbox2roi", lambda f, x, y: f([x, y]), (_boxes(3), _boxes(2))),
    "roi2bbox": lambda: _call(_BX + "roi2bbox", (torch.cat([_i(2, 6, 1).float(), _boxes(6)], 1),)),
    "distance2bbox": lambda: _using(
        _BX + "distance2bbox", lambda f, x, y: f(x, y, (40, 40)), (_u(5, 2) * 30, _u(5, 4))
    ),
    "distance2bbox tensor": lambda: _call(_BX + "distance2bbox", (_u(2, 5, 2) * 30, _u(2, 5, 4), _t(2, 2).abs() * 40)),
    "bbox2distance": lambda: _call(_BX + "bbox2distance", (_u(5, 2) * 30, _boxes(5)), max_dis=8.0),
    "bbox2result": lambda: _using(_BX + "bbox2result", lambda f, *x: f(*x, 3), (_boxes(6), _i(3, 6))),
    "bbox_flip": lambda: _using(_BX + "bbox_flip", lambda f, x: f(x, (48, 48), "diagonal"), (_boxes(6),)),
    "bbox_project": lambda: _using(_BX + "bbox_project", lambda f, *x: f(*x, (48, 48)), (_boxes(6), torch.eye(3))),
    "find_inside_bboxes": lambda: _using(_BX + "find_inside_bboxes", lambda f, x: f(x, 30, 30), (_boxes(6),)),
    "HorizontalBoxes": lambda: _using(
        _BX + "HorizontalBoxes",
        lambda c, x: c(x).flip_((48, 48)) or c(x).is_inside((48, 48)),
        (_boxes(6),),
    ),
    "HorizontalBoxes index": lambda: _using(
        _BX + "HorizontalBoxes", lambda c, x, m: c(x)[m].areas, (_boxes(6), _i(2, 6).bool())
    ),
    "HorizontalBoxes project": lambda: _using(
        _BX + "HorizontalBoxes", lambda c, x, m: c(x).project_(m), (_boxes(6), torch.eye(3))
    ),
    "InstanceData index": lambda: (
        lambda x, s: _instances(bboxes=x, scores=s)[s > 0.5].bboxes,
        [(_boxes(6), _u(6))],
    ),
    "gen_gaussian_target": lambda: _using(
        _UT + "gen_gaussian_target", lambda f, x: f(x, [3, 4], 2), (torch.zeros(8, 8),)
    ),
    "gaussian_radius": lambda: _using(_UT + "gaussian_radius", lambda f, x: f((x[0], x[1]), 0.3), (_u(2) * 10 + 5,)),
    "get_local_maximum": lambda: _call(_UT + "get_local_maximum", (_u(1, 2, 8, 8),)),
    "get_topk_from_heatmap": lambda: _call(_UT + "get_topk_from_heatmap", (_u(1, 2, 8, 8),), k=5),
    "transpose_and_gather_feat": lambda: _call(_UT + "transpose_and_gather_feat", (_u(2, 3, 4, 4), _i(16, 2, 5))),
    "filter_scores_and_topk": lambda: _using(
        _UT + "filter_scores_and_topk", lambda f, s, b: f(s, 0.3, 6, {"bbox": b}), (_u(9, 3), _boxes(9))
    ),
    "unmap": lambda: _using(_UT + "unmap", lambda f, x, m: f(x, 6, m), (_t(3), torch.arange(6) < 3)),
    "center_of_mass": lambda: _call(_UT + "center_of_mass", (_u(6, 6),)),
    "images_to_levels": lambda: _using(
        _UT + "images_to_levels", lambda f, x, y: f([x, y], [4, 2]), (_t(6, 3), _t(6, 3))
    ),
    "flip_tensor": lambda: _using(_UT + "flip_tensor", lambda f, x: f(x, "diagonal"), (_t(1, 2, 4, 4),)),
    "aligned_bilinear": lambda: _using(_UT + "aligned_bilinear", lambda f, x: f(x, 2), (_t(1, 2, 4, 4),)),
}

_SL = "super_gradients.training.losses."
_SD = "super_gradients.training.utils.detection_utils."
_SS = "super_gradients.training.utils.segmentation_utils."
_SM = "super_gradients.training.metrics.segmentation_metrics."


def _anchors() -> tuple[Any, ...]:
    points = _u(12, 2) * 32
    return _u(2, 12, 3), _boxes(24).view(2, 12, 4), points, [8, 4], _i(3, 2, 4, 1), _boxes(8).view(2, 4, 4)


def _ppyolo(static: bool, varifocal: bool = True) -> Built:
    made = _get(_SL + "ppyolo_loss.PPYoloELoss")(3, varifocal, static, 7)
    count = 64 + 16
    anchors = torch.cat([_boxes(64), _boxes(16)])
    strides = torch.cat([torch.full((64, 1), 8.0), torch.full((16, 1), 16.0)])
    points = _u(count, 2) * 32

    def use(scores: torch.Tensor, distances: torch.Tensor, targets: torch.Tensor) -> Any:
        return made((scores, distances, anchors, points, [64, 16], strides), targets)

    targets = torch.cat([_i(2, 5, 1).float(), _i(3, 5, 1).float(), _u(5, 2) * 20 + 5, _u(5, 2) * 10 + 4], 1)
    return use, [(_t(2, count, 3), _t(2, count, 32), targets)]


def _yolox(name: str, **options: Any) -> Built:
    made = _get(_SL + "yolox_loss." + name)([8, 16], 3, **options)

    def use(x: torch.Tensor, y: torch.Tensor, targets: torch.Tensor) -> Any:
        return made([x, y], targets)

    targets = torch.cat([torch.tensor([[0.0], [0], [1]]), _i(3, 3, 1).float(), _u(3, 2) * 20 + 5, _u(3, 2) * 10 + 4], 1)
    return use, [(_t(2, 1, 4, 4, 8), _t(2, 1, 2, 2, 8), targets)]


_SG: dict[str, Callable[[], Built]] = {
    "BCEDiceLoss": lambda: _made(_SL + "bce_dice_loss.BCEDiceLoss", [(_t(2, 1, 6, 6), _i(2, 2, 6, 6))]),
    "ChannelWiseKnowledgeDistillationLoss": lambda: _made(
        _SL + "cwd_loss.ChannelWiseKnowledgeDistillationLoss",
        [(_t(2, 3, 6, 6), _t(2, 3, 6, 6), _i(3, 2, 6, 6))],
        ignore_index=2,
    ),
    "DDRNetLoss": lambda: held(
        _get(_SL + "ddrnet_loss.DDRNetLoss")(), lambda m, x, y, t: m([x, y], t), (*_t(2, 2, 3, 6, 6), _i(3, 2, 6, 6))
    ),
    "DEKRLoss": lambda: held(
        _get(_SL + "dekr_loss.DEKRLoss")(),
        lambda m, *x: m(x[:2], x[2:]),
        (_t(2, 4, 6, 6), _t(2, 6, 6, 6), _u(2, 4, 6, 6), _u(2, 4, 6, 6), _u(2, 6, 6, 6), _u(2, 6, 6, 6)),
    ),
    "BinaryDiceLoss": lambda: _made(_SL + "dice_loss.BinaryDiceLoss", [(_t(2, 1, 6, 6), _i(2, 2, 6, 6))]),
    "DiceLoss": lambda: _made(_SL + "dice_loss.DiceLoss", [(_t(2, 3, 6, 6), _i(3, 2, 6, 6))], ignore_index=0),
    "GeneralizedDiceLoss": lambda: _made(_SL + "dice_loss.GeneralizedDiceLoss", [(_t(2, 3, 6, 6), _i(3, 2, 6, 6))]),
    "IoULoss": lambda: _made(_SL + "iou_loss.IoULoss", [(_t(2, 3, 6, 6), _i(3, 2, 6, 6))]),
    "GeneralizedIoULoss": lambda: _made(_SL + "iou_loss.GeneralizedIoULoss", [(_t(2, 3, 6, 6), _i(3, 2, 6, 6))]),
    "FocalLoss": lambda: _made(_SL + "focal_loss.FocalLoss", [(_t(6, 3), _u(6, 3))], nn.BCEWithLogitsLoss()),
    "bbox_ciou_loss": lambda: _using(
        _SL + "functional.bbox_ciou_loss", lambda f, *x: f(*x, 1e-9), (_boxes(6), _boxes(6))
    ),
    "CrossEntropyLoss": lambda: _made(
        _SL + "label_smoothing_cross_entropy_loss.CrossEntropyLoss", [(_t(6, 5), _i(5, 6))], smooth_eps=0.1
    ),
    "MaskAttentionLoss": lambda: _made(
        _SL + "mask_loss.MaskAttentionLoss",
        [(_t(2, 3, 6, 6), _i(3, 2, 6, 6), _u(2, 1, 6, 6))],
        nn.CrossEntropyLoss(reduction="none"),
    ),
    "OhemCELoss": lambda: _made(_SL + "ohem_ce_loss.OhemCELoss", [(_t(2, 3, 6, 6), _i(3, 2, 6, 6))], 0.7),
    "OhemBCELoss": lambda: _made(_SL + "ohem_ce_loss.OhemBCELoss", [(_t(2, 1, 6, 6), _i(2, 2, 6, 6))], 0.7),
    "PPYoloELoss static": lambda: _ppyolo(True),
    "PPYoloELoss task": lambda: _ppyolo(False, False),
    "TaskAlignedAssigner": lambda: held(
        _get(_SL + "ppyolo_loss.TaskAlignedAssigner")(3),
        lambda m, s, b, p, c, g: m(s, b, p, [8, 4], c, g, torch.ones(2, 4, 1), 3),
        (*_anchors()[:3], *_anchors()[4:]),
    ),
    "GIoULoss": lambda: _made(_SL + "ppyolo_loss.GIoULoss", [(_boxes(6), _boxes(6))]),
    "batch_iou_similarity": lambda: _call(
        _SL + "ppyolo_loss.batch_iou_similarity", (_boxes(6).view(2, 3, 4), _boxes(8).view(2, 4, 4))
    ),
    "bbox_overlaps": lambda: _call(_SL + "ppyolo_loss.bbox_overlaps", (_boxes(5), _boxes(4)), mode="giou"),
    "RSquaredLoss": lambda: _made(_SL + "r_squared_loss.RSquaredLoss", [(_t(6), _t(6))]),
    "ShelfNetOHEMLoss": lambda: held(
        _get(_SL + "shelfnet_ohem_loss.ShelfNetOHEMLoss")(),
        lambda m, x, t: m([x, x, x], t),
        (_t(2, 3, 6, 6), _i(3, 2, 6, 6)),
    ),
    "HardMiningCrossEntropyLoss": lambda: _made(
        _SL + "ssd_loss.HardMiningCrossEntropyLoss", [(_t(2, 4, 9), _i(4, 2, 9))], 3.0
    ),
    "DetailLoss": lambda: _made(_SL + "stdc_loss.DetailLoss", [(_t(2, 1, 8, 8), _i(2, 2, 1, 8, 8).float())]),
    "batch_pose_oks": lambda: _call(
        _SL + "yolo_nas_pose_loss.batch_pose_oks",
        (_u(2, 3, 4, 3), _u(2, 5, 4, 3), _boxes(6).view(2, 3, 4), torch.full((4,), 0.1)),
    ),
    "CIoULoss": lambda: _made(_SL + "yolo_nas_pose_loss.CIoULoss", [(_boxes(6), _boxes(6))]),
    "IOUloss": lambda: _made(_SL + "yolox_loss.IOUloss", [(_boxes(6), _boxes(6))], loss_type="giou"),
    "YoloXDetectionLoss": lambda: _yolox("YoloXDetectionLoss"),
    "YoloXDetectionLoss l1": lambda: _yolox("YoloXDetectionLoss", use_l1=True, iou_type="giou"),
    "YoloXFastDetectionLoss": lambda: _yolox("YoloXFastDetectionLoss"),
    "calculate_bbox_iou_matrix": lambda: _call(_SD + "calculate_bbox_iou_matrix", (_boxes(5), _boxes(5)), CIoU=True),
    "convert_cxcywh_bbox_to_xyxy": lambda: _call(_SD + "convert_cxcywh_bbox_to_xyxy", (_boxes(5),)),
    "box_iou": lambda: _call(_SD + "box_iou", (_boxes(5), _boxes(4))),
    "crowd_ioa": lambda: _call(_SD + "crowd_ioa", (_boxes(5), _boxes(4))),
    "get_top_k_idx_per_cls": lambda: _using(_SD + "get_top_k_idx_per_cls", lambda f, *x: f(*x, 3), (_u(9), _i(3, 9))),
    "compute_detection_metrics_per_cls": lambda: _using(
        _SD + "compute_detection_metrics_per_cls",
        lambda f, *x: f(*x, torch.linspace(0, 1, 11), 0.1, "cpu"),
        (_i(2, 8, 3).bool(), _i(2, 8, 3).bool(), _u(8), 5),
    ),
    "to_one_hot": lambda: _using(_SS + "to_one_hot", lambda f, x: f(x, 3, 1), (_i(3, 2, 6, 6),)),
    "target_to_binary_edge": lambda: _using(_SS + "target_to_binary_edge", lambda f, x: f(x, 3, 3), (_i(3, 2, 8, 8),)),
    "batch_pix_accuracy": lambda: _call(_SM + "batch_pix_accuracy", (_t(2, 3, 6, 6), _i(3, 2, 6, 6))),
    "batch_intersection_union": lambda: _using(
        _SM + "batch_intersection_union", lambda f, *x: f(*x, 3), (_t(2, 3, 6, 6), _i(3, 2, 6, 6))
    ),
    "batch_distance2bbox": lambda: _call(
        "super_gradients.training.utils.bbox_utils.batch_distance2bbox",
        (_u(2, 5, 2), _u(2, 5, 4), _t(2, 1, 2).abs() * 9),
    ),
}
_O = "orb_models.forcefield."
_NODES = torch.tensor([3, 4])
_SEG = torch.tensor([0, 0, 0, 1, 1, 1, 1])

_ORB: dict[str, Callable[[], Built]] = {
    "UnitVector": lambda: _made(_O + "angular.UnitVector", [(_t(6, 3),)]),
    "SphericalHarmonics": lambda: _made(_O + "angular.SphericalHarmonics", [(_t(6, 3),)], 2, True),
    "SphericalHarmonics norm": lambda: _made(_O + "angular.SphericalHarmonics", [(_t(6, 3),)], 3, False, "norm"),
    "AtomEmbedding": lambda: _made(_O + "embedding.AtomEmbedding", [(_i(9, 6),)], 8, 10),
    "AtomEmbeddingBag": lambda: _made(_O + "embedding.AtomEmbeddingBag", [(_i(2, 6, 10).float(),)], 8, 10),
    "gaussian_basis_function": lambda: _using(
        _O + "featurization_utilities.gaussian_basis_function", lambda f, x: f(x, 8, 6.0), (_u(6),)
    ),
    "torch_lexsort": lambda: _using(
        _O + "featurization_utilities.torch_lexsort", lambda f, x, y: f([x, y]), (_i(4, 6), _i(4, 6))
    ),
    "map_to_pbc_cell": lambda: _call(_O + "featurization_utilities.map_to_pbc_cell", (_t(6, 3), torch.eye(3) * 3)),
    "batch_map_to_pbc_cell": lambda: _call(
        _O + "featurization_utilities.batch_map_to_pbc_cell",
        (_t(7, 3), torch.stack([torch.eye(3) * 3, torch.eye(3) * 4]), _NODES),
    ),
    "find_minimal_supercell_translations": lambda: _using(
        _O + "featurization_utilities.find_minimal_supercell_translations", lambda f, x: f(x, 3.0), (torch.eye(3) * 3,)
    ),
    "construct_minimal_supercell": lambda: _using(
        _O + "featurization_utilities.construct_minimal_supercell", lambda f, *x: f(*x, 3.0), (_t(4, 3), torch.eye(3))
    ),
    "construct_half_3x3x3_supercell": lambda: _call(
        _O + "featurization_utilities.construct_half_3x3x3_supercell", (_t(4, 3), torch.eye(3) * 12)
    ),
    "rotation_from_generator": lambda: _call(_O + "featurization_utilities.rotation_from_generator", (_t(1, 3, 3),)),
    "split_prediction": lambda: _call(_O + "forcefield_utils.split_prediction", (_t(7, 3), _NODES)),
    "mean_error": lambda: _using(
        _O + "forcefield_utils.mean_error", lambda f, x, y, n: f(x, y, "mae", n), (_t(7, 3), _t(7, 3), _NODES)
    ),
    "mean_error huber": lambda: _using(
        _O + "forcefield_utils.mean_error", lambda f, x, y: f(x, y, "huber_0.01"), (_t(7, 3), _t(7, 3))
    ),
    "bucketed_mean_error": lambda: _using(
        _O + "forcefield_utils.bucketed_mean_error",
        lambda f, x, y, n: f(x, y, "target", [0.5, 1.0], n),
        (_t(7, 3), _t(7, 3), _NODES),
    ),
    "binary_accuracy": lambda: _call(_O + "forcefield_utils.binary_accuracy", (_u(6), _i(2, 6))),
    "categorical_accuracy": lambda: _call(_O + "forcefield_utils.categorical_accuracy", (_t(6, 3), _i(3, 6))),
    "bce_loss": lambda: _call(_O + "forcefield_utils.bce_loss", (_t(6), _i(2, 6).float())),
    "forces_within_threshold": lambda: _call(
        _O + "forcefield_utils.forces_within_threshold", (_t(7, 3), _t(7, 3), _NODES)
    ),
    "remove_fixed_atoms": lambda: _using(
        _O + "forcefield_utils.remove_fixed_atoms",
        lambda f, *x: f(*x, True),
        (_t(7, 3), _t(7, 3), _NODES, torch.arange(7) < 2),
    ),
    "torch_full_3x3_to_voigt_6_stress": lambda: _call(
        _O + "forcefield_utils.torch_full_3x3_to_voigt_6_stress", (_t(2, 3, 3),)
    ),
    "torch_voigt_6_to_full_3x3_stress": lambda: _call(
        _O + "forcefield_utils.torch_voigt_6_to_full_3x3_stress", (_t(2, 6),)
    ),
    "conditional_huber_force_loss": lambda: _using(
        _O + "forcefield_utils.conditional_huber_force_loss", lambda f, *x: f(*x, 0.01), (_t(7, 3) * 200, _t(7, 3))
    ),
    "Encoder": lambda: _made(_O + "gns.Encoder", [(_t(6, 4), _t(9, 5))], 4, 5, 8, 1, 8),
    "Decoder": lambda: _made(_O + "gns.Decoder", [(_t(6, 4),)], 4, 5, 1, 8),
    "AttentionInteractionNetwork": lambda: _made(
        _O + "gns.AttentionInteractionNetwork", [(_t(6, 8), _t(9, 8), _i(6, 9), _i(6, 9), _u(9, 1))], 8, 1, 8
    ),
    "AttentionInteractionNetwork softmax": lambda: _made(
        _O + "gns.AttentionInteractionNetwork",
        [(_t(6, 8), _t(9, 8), _i(6, 9), _i(6, 9), _u(9, 1))],
        8,
        1,
        8,
        attention_gate="softmax",
    ),
    "ChargeSpinEmbedding": lambda: _made(_O + "nn_util.ChargeSpinEmbedding", [(_t(4),)], 8),
    "ChargeSpinEmbedding spin": lambda: _made(
        _O + "nn_util.ChargeSpinEmbedding", [(_i(3, 4).float(),)], 8, "spin", "lin_emb"
    ),
    "SSP": lambda: _made(_O + "nn_util.SSP", [(_t(4),)]),
    "ScalarNormalizer": lambda: _made(_O + "nn_util.ScalarNormalizer", [(_t(4),)]),
    "ScalarNormalizer fixed": lambda: _made(_O + "nn_util.ScalarNormalizer", [(_t(4),)], 0.1, 2.0, online=False),
    "mlp_and_layer_norm": lambda: (_get(_O + "nn_util.mlp_and_layer_norm")(4, 4, 8, 1), [(_t(3, 4),)]),
    "get_cutoff": lambda: _call(_O + "nn_util.get_cutoff", (_u(6) * 9,)),
    "CosineCutoff": lambda: _made(_O + "rbf.CosineCutoff", [(_u(6),)]),
    "CosineCutoff lower": lambda: _made(_O + "rbf.CosineCutoff", [(_u(6),)], 1.0, 4.0),
    "ExpNormalSmearing": lambda: _made(_O + "rbf.ExpNormalSmearing", [(_u(6),)]),
    "BesselBasis": lambda: _made(_O + "rbf.BesselBasis", [(_u(6),)], 6.0),
    "aggregate_nodes": lambda: _call(_O + "segment_ops.aggregate_nodes", (_t(7, 3), _NODES)),
    "aggregate_nodes max": lambda: _call(
        _O + "segment_ops.aggregate_nodes", (_t(7, 3), _NODES), reduction="max", deterministic=True
    ),
    "segment_sum": lambda: _using(_O + "segment_ops.segment_sum", lambda f, *x: f(*x, 2), (_t(7, 3), _SEG)),
    "segment_max": lambda: _using(_O + "segment_ops.segment_max", lambda f, *x: f(*x, 2), (_t(7, 3), _SEG)),
    "segment_mean": lambda: _using(_O + "segment_ops.segment_mean", lambda f, *x: f(*x, 2), (_t(7, 3), _SEG)),
    "segment_softmax": lambda: _using(_O + "segment_ops.segment_softmax", lambda f, *x: f(*x, 2), (_t(7, 3), _SEG)),
    "scatter_std": lambda: _using(_O + "segment_ops.scatter_std", lambda f, *x: f(*x, 0), (_t(7, 3), _SEG)),
    "scatter_mean": lambda: _using(_O + "segment_ops.scatter_mean", lambda f, *x: f(*x, 0), (_t(7, 3), _SEG)),
    "scatter_sum": lambda: _using(_O + "segment_ops.scatter_sum", lambda f, *x: f(*x, 0), (_t(7, 3), _SEG)),
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("mmdet", _MMDET),
    **_named("super_gradients", _SG),
    **_named("orb_models", _ORB),
}

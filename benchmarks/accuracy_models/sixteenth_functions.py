"""Models of the sixteenth group's packages of functions: nerfacc, holocron, torchstain, linear-operator and others.

They were chosen and run after the fifteenth group, before anything was changed for them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(29)
_ABSENT = {
    "holocron": ("huggingface_hub", "fastprogress.fastprogress", "wandb", "onnxruntime"),
    "pytorch_grad_cam": ("torchvision.transforms", "torchvision.models", "ttach"),
    "torchcam": ("torchvision.transforms", "matplotlib.pyplot"),
}
_get = getter(_ABSENT, ())
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_N = "nerfacc."
_STARTS = torch.arange(8).float()[None].expand(3, 8) * 0.1
_RAYS = torch.tensor([0, 0, 0, 1, 1, 2, 2, 2])
_FLAT = {"ray_indices": _RAYS, "n_rays": 3}
_PACKED = torch.tensor([[0, 3], [3, 2], [5, 3]])
_AABB = torch.tensor([[-1.0, -1, -1, 1, 1, 1]])


def _field(starts: torch.Tensor, ends: torch.Tensor, _indices: Any = None) -> tuple[torch.Tensor, torch.Tensor]:
    middle = (starts + ends) / 2
    return torch.stack([middle, middle.sin(), middle.cos()], -1).sigmoid(), middle.exp()


_NERFACC: dict[str, Callable[[], Built]] = {
    **{name: (lambda name=name: _call(_N + name, (_u(3, 8),))) for name in ("inclusive_sum", "exclusive_sum")},
    **{name: (lambda name=name: _call(_N + name, (_u(3, 8),))) for name in ("inclusive_prod", "exclusive_prod")},
    "ray_aabb_intersect": lambda: _call(
        _N + "grid._ray_aabb_intersect", (_t(5, 3), nn.functional.normalize(_t(5, 3), dim=-1), _AABB)
    ),
    "enlarge_aabb": lambda: _call(_N + "grid._enlarge_aabb", (_AABB[0], 2.0)),
    "query": lambda: _call(_N + "grid._query", (_t(6, 3), _u(2, 4, 4, 4), _AABB[0])),
    "weight_from_alpha": lambda: _call(_N + "render_weight_from_alpha", (_u(3, 8),)),
    "weight_from_density": lambda: _call(_N + "render_weight_from_density", (_STARTS, _STARTS + 0.1, _u(3, 8))),
    "transmittance_from_alpha": lambda: _call(_N + "render_transmittance_from_alpha", (_u(3, 8),)),
    "transmittance_from_density": lambda: _call(
        _N + "render_transmittance_from_density", (_STARTS, _STARTS + 0.1, _u(3, 8))
    ),
    "visibility_from_alpha": lambda: _call(
        _N + "render_visibility_from_alpha", {"alphas": _u(3, 8), "alpha_thre": 0.1}
    ),
    "visibility_from_density": lambda: _call(_N + "render_visibility_from_density", (_STARTS, _STARTS + 0.1, _u(3, 8))),
    "accumulate_along_rays": lambda: _call(
        _N + "accumulate_along_rays", (_u(3, 8), _t(3, 8, 3)), {"weights": _u(8), "values": _t(8, 3), **_FLAT}
    ),
    "accumulate_along_rays in place": lambda: _call(
        _N + "volrend.accumulate_along_rays_", {"weights": _u(8), "ray_indices": _RAYS, "outputs": _t(3, 1)}
    ),
    "rendering": lambda: _using(
        _N + "rendering", lambda f, a, b: f(a, b, rgb_sigma_fn=_field), (_STARTS, _STARTS + 0.1)
    ),
    "lens_distortion": lambda: _call(_N + "cameras._opencv_lens_distortion", (_t(5, 2) * 0.1, _t(8) * 0.01)),
    "lens_distortion_fisheye": lambda: _call(
        _N + "cameras._opencv_lens_distortion_fisheye", (_t(5, 2) * 0.1, _t(4) * 0.01)
    ),
    "sample_from_weighted": lambda: _call(
        _N + "pdf._sample_from_weighted", (_STARTS, _u(3, 7), 4), (_STARTS, _u(3, 7), 4, True)
    ),
    "lossfun_outer": lambda: _call(
        _N + "estimators.prop_net._lossfun_outer", (_STARTS, _u(3, 7), _STARTS + 0.01, _u(3, 7))
    ),
    "transform_stot": lambda: _call(
        _N + "estimators.prop_net._transform_stot", ("lindisp", _u(3, 8), torch.tensor(0.1), torch.tensor(2.0))
    ),
    "proposal_requires_grad": lambda: held(
        _get(_N + "estimators.prop_net.get_proposal_requires_grad_fn")(), lambda f, x: x * f(7), (_t(3),)
    ),
    "OccGridEstimator update": lambda: held(
        _get(_N + "OccGridEstimator")([-1, -1, -1, 1, 1, 1], 4),
        lambda made, step: made.update_every_n_steps(step, lambda x: x[:, :1].abs()),
        (0,),
        (512,),
    ),
    "OccGridEstimator invisible": lambda: _method(
        _N + "OccGridEstimator",
        "mark_invisible_cells",
        [(torch.eye(3)[None], torch.eye(4)[None, :3], 8, 8)],
        [-1, -1, -1, 1, 1, 1],
        4,
    ),
}

_H = "holocron.nn."
_HF = _H + "functional."
_IMAGE = (_t(2, 4, 8, 8),)
_CLASSES = (_t(2, 4, 5, 5), _i(4, 2, 5, 5))


def _layer(name: str, *given: Any, inputs: Any = _IMAGE, **options: Any) -> Callable[[], Built]:
    return lambda: _made(_H + name, [inputs], *given, **options)


_HOLOCRON: dict[str, Callable[[], Built]] = {
    "LambdaLayer": _layer("LambdaLayer", 4, 8, 4, 64, num_heads=2),
    "LambdaLayer local": _layer("LambdaLayer", 4, 8, 4, r=3, num_heads=2),
    "ConcatDownsample2d": _layer("ConcatDownsample2d", 2),
    "GlobalAvgPool2d": _layer("GlobalAvgPool2d", True),
    "GlobalMaxPool2d": _layer("GlobalMaxPool2d", True),
    "BlurPool2d": _layer("BlurPool2d", 4),
    "SPP": _layer("SPP", [3, 5]),
    "ZPool": _layer("ZPool"),
    "DropBlock2d": _layer("DropBlock2d", 0.2, 3),
    "NormConv2d": _layer("NormConv2d", 4, 6, 3),
    "Add2d": _layer("Add2d", 4, 6, 3, padding=1),
    "Add2d normalized": _layer("Add2d", 4, 6, 3, padding=1, padding_mode="circular", normalize_slices=True),
    "SlimConv2d": _layer("SlimConv2d", 4, 3, padding=1, r=2),
    "PyConv2d": _layer("PyConv2d", 4, 8, 3, padding=1),
    "Involution2d": _layer("Involution2d", 4, 3, 1),
    "HardMish": _layer("HardMish"),
    "NLReLU": _layer("NLReLU"),
    "FReLU": _layer("FReLU", 4),
    "SAM": _layer("SAM", 4),
    "TripletAttention": _layer("TripletAttention"),
    "FocalLoss": _layer("FocalLoss", inputs=_CLASSES),
    "FocalLoss weighted": _layer("FocalLoss", weight=[1.0, 2.0, 0.5, 1.0], ignore_index=0, inputs=_CLASSES),
    "MultiLabelCrossEntropy": _layer("MultiLabelCrossEntropy", inputs=(_t(3, 4), _u(3, 4))),
    "ComplementCrossEntropy": _layer("ComplementCrossEntropy", inputs=_CLASSES),
    "ComplementCrossEntropy ignore": _layer("ComplementCrossEntropy", ignore_index=0, inputs=_CLASSES),
    "MutualChannelLoss": _layer("MutualChannelLoss", inputs=(_t(2, 8, 5, 5), _i(4, 2, 5, 5))),
    "DiceLoss": _layer("DiceLoss", weight=[1.0, 2.0, 0.5, 1.0], inputs=(_t(2, 4, 5, 5), _u(2, 4, 5, 5))),
    "PolyLoss": _layer("PolyLoss", inputs=_CLASSES),
    "PolyLoss ignore": _layer("PolyLoss", ignore_index=0, weight=[1.0, 2.0, 0.5, 1.0], inputs=_CLASSES),
    "ClassBalancedWrapper": lambda: _made(
        _H + "ClassBalancedWrapper", [(_t(3, 4), _i(4, 3))], nn.CrossEntropyLoss(), torch.tensor([3, 5, 2, 9])
    ),
    "dropblock2d": lambda: _call(_HF + "dropblock2d", (*_IMAGE, 0.2, 3)),
    "mutual_channel_loss": lambda: _call(_HF + "mutual_channel_loss", (_t(2, 8, 5, 5), _i(4, 2, 5, 5))),
    "focal_loss": lambda: _call(_HF + "focal_loss", _CLASSES, (*_CLASSES, None, 0)),
    "iou_penalty": lambda: _call("holocron.ops.boxes.iou_penalty", (_u(3, 4), _u(4, 4))),
    "aspect_ratio_consistency": lambda: _call("holocron.ops.boxes.aspect_ratio_consistency", (_u(3, 4), _u(4, 4))),
    "Mixup": lambda: _made("holocron.utils.data.Mixup", [(_t(4, 3, 5, 5), _i(4, 4))], 4),
    "unet": lambda: _made("holocron.models.segmentation.unet.UNet", [(_t(1, 3, 64, 64),)], [4, 8, 8], 3),
    "res2net": lambda: _made("holocron.models.classification.res2net50_26w_4s", [(_t(2, 3, 32, 32),)]),
    "rexnet": lambda: _made("holocron.models.classification.rexnet1_0x", [(_t(2, 3, 32, 32),)]),
    "sknet": lambda: _made("holocron.models.classification.sknet50", [(_t(2, 3, 32, 32),)]),
    "repvgg": lambda: _made("holocron.models.classification.repvgg_a0", [(_t(2, 3, 32, 32),)]),
    "CTCRecognizer": lambda: _made(
        "holocron.models.recognition.crnn.CTCRecognizer", [(_t(2, 1, 32, 64), torch.tensor([12, 16]))], 4
    ),
}

_S = "torchstain.torch."
_SLIDE = (_u(3, 16, 16) * 200 + 20).to(torch.uint8)


def _fitted(name: str, use: str = "normalize", many: bool = False, **options: Any) -> Built:
    made = _get(_S + name)(**options)
    made.fit([_SLIDE, _SLIDE.flip(1)] if many else _SLIDE)
    return getattr(made, use), [() if use == "augment" else (_SLIDE.flip(2),)]


_TORCHSTAIN: dict[str, Callable[[], Built]] = {
    "Macenko": lambda: _fitted("normalizers.TorchMacenkoNormalizer"),
    "Macenko fit": lambda: _method(_S + "normalizers.TorchMacenkoNormalizer", "fit", [(_SLIDE,)]),
    "MultiMacenko": lambda: _fitted("normalizers.TorchMultiMacenkoNormalizer", many=True),
    "Reinhard": lambda: _fitted("normalizers.TorchReinhardNormalizer"),
    "Reinhard modified": lambda: _fitted("normalizers.TorchReinhardNormalizer", method="modified"),
    "Augmentor": lambda: _fitted("augmentors.TorchMacenkoAugmentor", "augment"),
    "percentile": lambda: _call(_S + "utils.percentile.percentile", (_t(20), 30)),
    "cov": lambda: _call(_S + "utils.cov.cov", (_t(3, 20),)),
    "rgb2lab": lambda: _call(_S + "utils.rgb2lab.rgb2lab", (_u(3, 6, 6),)),
    "lab2rgb": lambda: _call(_S + "utils.lab2rgb.lab2rgb", (_u(3, 6, 6) * 50,)),
}

_L = "linear_operator."
_LU = _L + "utils."


def _positive(n: int = 5) -> torch.Tensor:
    root = _t(n, n)
    return root @ root.mT + n * torch.eye(n)


def _operator(kind: str, *given: Any) -> Any:
    return _get(_L + "operators." + kind)(*given)


def _use(use: Callable[..., Any], kind: str, make: Callable[[], tuple[Any, ...]], *inputs: Any) -> Callable[[], Built]:
    def build() -> Built:
        made = _get(_L + "operators." + kind)
        return (lambda parts, *x: use(made(*parts), *x)), [(make(), *inputs)]

    return build


_SPD = _positive()
_LINEAR_OPERATOR: dict[str, Callable[[], Built]] = {
    "Dense solve": _use(lambda op, b: op.solve(b), "DenseLinearOperator", lambda: (_SPD,), _t(5, 2)),
    "Dense matmul": _use(lambda op, b: op @ b, "DenseLinearOperator", lambda: (_SPD,), _t(5, 2)),
    "Dense logdet": _use(lambda op: op.logdet(), "DenseLinearOperator", lambda: (_SPD,)),
    "Dense cholesky": _use(lambda op: op.cholesky().to_dense(), "DenseLinearOperator", lambda: (_SPD,)),
    "Dense index": _use(lambda op: op[1:3, :2].to_dense(), "DenseLinearOperator", lambda: (_SPD,)),
    "Dense add": _use(lambda op: op.add_jitter(0.1).to_dense(), "DenseLinearOperator", lambda: (_SPD,)),
    "Diag solve": _use(lambda op, b: op.solve(b), "DiagLinearOperator", lambda: (_u(5) + 0.5,), _t(5, 2)),
    "Diag sqrt": _use(lambda op: op.sqrt().to_dense(), "DiagLinearOperator", lambda: (_u(5) + 0.5,)),
    "Toeplitz matmul": _use(
        lambda op, b: op @ b, "ToeplitzLinearOperator", lambda: (torch.tensor([4.0, 1, 0.5, 0.2, 0.1]),), _t(5, 2)
    ),
    "Toeplitz dense": _use(
        lambda op: op.to_dense(), "ToeplitzLinearOperator", lambda: (torch.tensor([4.0, 1, 0.5, 0.2, 0.1]),)
    ),
    "Triangular solve": _use(
        lambda op, b: op.solve(b), "TriangularLinearOperator", lambda: (torch.linalg.cholesky(_SPD),), _t(5, 2)
    ),
    "Kronecker": lambda: (
        lambda a, b, x: _operator("KroneckerProductLinearOperator", _dense(a), _dense(b)) @ x,
        [(_positive(2), _positive(3), _t(6, 2))],
    ),
    "Root": _use(lambda op, b: op @ b, "RootLinearOperator", lambda: (_t(5, 3),), _t(5, 2)),
    "Sum": lambda: (lambda a, b, x: (_dense(a) + _dense(b)) @ x, [(_SPD, _positive(), _t(5, 2))]),
    "psd_safe_cholesky": lambda: _call(_LU + "cholesky.psd_safe_cholesky", (_SPD,), (torch.ones(3, 3),)),
    "linear_cg": lambda: _using(
        _LU + "linear_cg.linear_cg", lambda f, a, b: f(a.matmul, b, max_iter=4, max_tridiag_iter=0), (_SPD, _t(5, 2))
    ),
    "linear_cg tridiag": lambda: _using(
        _LU + "linear_cg.linear_cg",
        lambda f, a, b: f(a.matmul, b, n_tridiag=1, max_iter=4, max_tridiag_iter=3),
        (_SPD, _t(5, 2)),
    ),
    "minres": lambda: _using(_LU + "minres.minres", lambda f, a, b: f(a.matmul, b, max_iter=4), (_SPD, _t(5, 2))),
    "lanczos_tridiag": lambda: _using(
        _LU + "lanczos.lanczos_tridiag",
        lambda f, a: f(a.matmul, 4, a.dtype, a.device, a.shape),
        (_SPD,),
    ),
    "lanczos_tridiag_to_diag": lambda: _call(_LU + "lanczos.lanczos_tridiag_to_diag", (_SPD,)),
    "left_interp": lambda: _call(_LU + "interpolation.left_interp", (_i(5, 4, 2), _u(4, 2), _t(5, 3))),
    "left_t_interp": lambda: _call(_LU + "interpolation.left_t_interp", (_i(5, 4, 2), _u(4, 2), _t(4, 3), 5)),
    "stable_qr": lambda: _call(_LU + "qr.stable_qr", (_t(5, 3),)),
    "stable_pinverse": lambda: _call(_LU + "pinverse.stable_pinverse", (_t(5, 3),), (_t(3, 5),)),
    "make_sparse": lambda: _call(_LU + "sparse.make_sparse_from_indices_and_values", (_i(5, 4, 2), _u(4, 2), 5)),
    "toeplitz": lambda: _call(_LU + "toeplitz.sym_toeplitz", (_u(5),)),
    "toeplitz_matmul": lambda: _call(
        _LU + "toeplitz.toeplitz_matmul", (torch.arange(5.0), -torch.arange(5.0), _t(5, 2))
    ),
    "toeplitz_getitem": lambda: _call(_LU + "toeplitz.toeplitz_getitem", (_u(5), _u(5), 1, 3)),
    "sym_toeplitz_derivative": lambda: _call(
        _LU + "toeplitz.sym_toeplitz_derivative_quadratic_form", (_t(5, 2), _t(5, 2))
    ),
    "apply_permutation": lambda: _call(
        _LU + "permutation.apply_permutation", (_SPD, torch.randperm(5), torch.randperm(5))
    ),
    "inverse_permutation": lambda: _call(_LU + "permutation.inverse_permutation", (torch.randperm(5),)),
    "StochasticLQ": lambda: _method(
        _LU + "stochastic_lq.StochasticLQ",
        "to_dense",
        [((5, 5), _u(2, 1, 4) + 0.5, _t(2, 1, 4, 4), [torch.log])],
    ),
    "pivoted_cholesky": lambda: _call(_L + "pivoted_cholesky", (_SPD, 3)),
    "inv_quad_logdet": lambda: _using(
        _L + "inv_quad_logdet", lambda f, a, b: f(_dense(a), b, logdet=True), (_SPD, _t(5, 2))
    ),
}


def _dense(x: torch.Tensor) -> Any:
    return _operator("DenseLinearOperator", x)


_T = "tslearn.metrics."
_SERIES = (_t(7, 2), _t(6, 2))


def _distance(name: str, *inputs: Any, **options: Any) -> Callable[[], Built]:
    def build() -> Built:
        backend = _get("tslearn.backend.Backend")("pytorch")  # a model is copied, which this is not to be
        function = _get(_T + name)
        return (lambda *x: function(*x, be=backend, **options)), list(inputs or (_SERIES,))

    return build


_TSLEARN: dict[str, Callable[[], Built]] = {
    "SoftDTWLossPyTorch": lambda: _made(_T + "SoftDTWLossPyTorch", [(_t(2, 4, 2), _t(2, 4, 2))], gamma=0.5),
    "SoftDTWLossPyTorch normalized": lambda: _made(
        _T + "SoftDTWLossPyTorch", [(_t(2, 4, 2), _t(2, 4, 2))], gamma=0.5, normalize=True
    ),
    "dtw": _distance("dtw"),
    "dtw_path": _distance("dtw_path"),
    "dtw sakoe": _distance("dtw", global_constraint="sakoe_chiba", sakoe_chiba_radius=2),
    "dtw itakura": _distance("dtw", (_t(6, 2), _t(6, 2)), global_constraint="itakura", itakura_max_slope=2.0),
    "dtw_limited_warping_length": _distance("dtw_limited_warping_length", (*_SERIES, 8)),
    "dtw_subsequence_path": _distance("dtw_subsequence_path", (_t(3, 2), _t(7, 2))),
    "frechet": _distance("frechet"),
    "gak": _distance("gak"),
    "sigma_gak": _distance("sigma_gak", (_t(3, 6, 2),)),
    "soft_dtw": _distance("soft_dtw"),
    "soft_dtw_alignment": _distance("soft_dtw_alignment"),
    "lcss": _distance("lcss"),
    "lcss_path": _distance("lcss_path"),
    "lb_envelope": _distance("lb_envelope", (_t(6, 1), 2)),
    "ctw": _distance("ctw", max_iter=2),
    "cdist_dtw": _distance("cdist_dtw", (_t(3, 6, 2),)),
    "cdist_soft_dtw": _distance("cdist_soft_dtw", (_t(3, 6, 2),)),
    "sakoe_chiba_mask": _distance("sakoe_chiba_mask", (5, 6, 1)),
    "itakura_mask": _distance("itakura_mask", (6, 6)),
    "mae": lambda: _call(_T + "performance.mae", (_t(3, 6, 2), _t(3, 6, 2))),
}


def _network() -> Any:
    return nn.Sequential(
        nn.Conv2d(3, 4, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(4, 5)
    ).eval()


def _cam(name: str, **options: Any) -> Callable[[], Built]:
    """A map of a class, of what a model that runs before keeps."""

    def build() -> Built:
        model = _network()
        made = _get("torchcam.methods." + name)(model, target_layer="1", **options)

        def use(x: torch.Tensor) -> Any:
            scores = model(x)
            return made(0, scores)

        return use, [(_t(1, 3, 8, 8),)]

    return build


def _fused() -> Built:
    return _get("torchcam.methods.GradCAM").fuse_cams, [([_u(1, 4, 4), _u(1, 8, 8)],)]


_TORCHCAM: dict[str, Callable[[], Built]] = {
    "CAM": lambda: _cam("CAM", fc_layer="4")(),
    **{name: _cam(name) for name in ("GradCAM", "GradCAMpp", "XGradCAM", "LayerCAM", "SmoothGradCAMpp")},
    "ScoreCAM": _cam("ScoreCAM", batch_size=4),
    "fuse_cams": _fused,
    "resize_cam": lambda: _call("torchcam.metrics._resize_cam", (_u(1, 4, 4), (8, 8))),
    "resolve_class_idx": lambda: _call("torchcam.metrics._resolve_class_idx", (_t(2, 5), None), (_t(2, 5), [1, 2])),
}

_P = "pytorch_grad_cam."
_PT = _P + "utils.model_targets."


def _map(name: str, **options: Any) -> Callable[[], Built]:
    def build() -> Built:
        model = _network()
        made = _get(_P + name)(model, [model[1]], **options)
        targets = [_get(_PT + "ClassifierOutputTarget")(1)]
        return (lambda x: made(x, targets)), [(_t(1, 3, 8, 8),)]

    return build


_GRAD_CAM: dict[str, Callable[[], Built]] = {
    **{
        name: _map(name)
        for name in (
            "GradCAM",
            "GradCAMPlusPlus",
            "XGradCAM",
            "LayerCAM",
            "HiResCAM",
            "EigenCAM",
            "RandomCAM",
            "ScoreCAM",
        )
    },
    **{
        name: (lambda name=name: _made(_PT + name, [(_t(5),), (_t(2, 5),)], 1))
        for name in (
            "ClassifierOutputTarget",
            "ClassifierOutputSoftmaxTarget",
            "ClassifierOutputReST",
            "BinaryClassifierOutputTarget",
        )
    },
    "SemanticSegmentationTarget": lambda: _made(
        _PT + "SemanticSegmentationTarget", [(_t(3, 4, 4),)], 1, (_u(4, 4) > 0.5).float().numpy()
    ),
    "FinerWeightedTarget": lambda: _made(_PT + "FinerWeightedTarget", [(_t(5),)], 1, [2, 3], 1.0),
    "vit_reshape_transform": lambda: _call(_P + "utils.reshape_transforms.vit_reshape_transform", (_t(2, 17, 6), 4, 4)),
    "swinT_reshape_transform": lambda: _call(
        _P + "utils.reshape_transforms.swinT_reshape_transform", (_t(2, 16, 6), 4, 4)
    ),
    "fasterrcnn_reshape_transform": lambda: _call(
        _P + "utils.reshape_transforms.fasterrcnn_reshape_transform",
        ({"pool": _t(1, 4, 3, 3), "a": _t(1, 4, 8, 8), "b": _t(1, 4, 4, 4)},),
    ),
    "multiply_tensor_with_cam": lambda: _call(
        _P + "metrics.cam_mult_image.multiply_tensor_with_cam", (_t(3, 8, 8), _u(8, 8))
    ),
    "NoisyLinearImputer": lambda: _made(
        _P + "metrics.road.NoisyLinearImputer", [(_t(3, 6, 6), (_u(6, 6) > 0.5).float())]
    ),
    "RemoveMostRelevantFirst": lambda: _made(
        _P + "metrics.perturbation_confidence.RemoveMostRelevantFirst",
        [(_t(1, 3, 6, 6), _u(1, 6, 6))],
        80,
        lambda x, m: x * m,
    ),
    "AblationLayerVit": lambda: (lambda made: (made.set_next_batch(0, _t(2, 4, 3), 2), (made, [(_t(2, 4, 3),)]))[1])(
        _layer_vit()
    ),
    "GuidedBackpropReLUasModule": lambda: _made(_P + "guided_backprop.GuidedBackpropReLUasModule", [(_t(2, 3),)]),
}


def _layer_vit() -> Any:
    made = _get(_P + "ablation_layer.AblationLayerVit")()
    made.indices = [0, 1]
    return made


MODELS: dict[str, Callable[[], Built]] = {
    **{f"nerfacc/{name}": build for name, build in _NERFACC.items()},
    **{f"holocron/{name}": build for name, build in _HOLOCRON.items()},
    **{f"torchstain/{name}": build for name, build in _TORCHSTAIN.items()},
    **{f"linear_operator/{name}": build for name, build in _LINEAR_OPERATOR.items()},
    **{f"tslearn/{name}": build for name, build in _TSLEARN.items()},
    **{f"torchcam/{name}": build for name, build in _TORCHCAM.items()},
    **{f"pytorch_grad_cam/{name}": build for name, build in _GRAD_CAM.items()},
}

"""Models of mmpose, audiocraft, basicts and collie.

They were chosen after all of the twenty-second group, and written before `check` was run on these packages.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import _Absent, getter, without_packages

_t, _u, _i = random_inputs(87)
_ABSENT = {
    "mmpose": ("xtcocotools", "json_tricks", "munkres", "torchvision", "cv2", "mmdet"),
    "audiocraft": (
        *("torchaudio", "librosa", "spacy", "num2words", "flashy", "xformers", "transformers", "dora", "av"),
        *("encodec", "demucs", "laion_clap", "hydra", "soundfile"),
    ),
    "basicts": ("easytorch", "librosa", "tensorboard"),
    "collie": ("fire", "tables", "docstring_parser", "librosa"),
}
_BARE = (
    *("mmpose", "mmpose.models", "mmpose.codecs", "mmpose.datasets", "mmpose.models.heads"),
    *("audiocraft", "audiocraft.models", "audiocraft.metrics", "audiocraft.data"),
    *("basicts", "basicts.models", "basicts.runners"),
    "collie",
)


def _nothing(*given: Any, **options: Any) -> None:
    """Stands for a function that nothing here needs."""


def _same(values: Any, *_: Any) -> Any:
    """Stands for what would average over several processes."""
    return values


def _averager(*_: Any) -> Callable[..., Any]:
    """Stands for what makes one that averages over time."""
    return _same


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))
    if package == "audiocraft":  # its own helpers for several processes and for xformers
        flashy, distrib, ops = map(importlib.import_module, ("flashy", "flashy.distrib", "xformers.ops"))
        flashy.distrib = distrib  # type: ignore[attr-defined]
        distrib.average_metrics = _same  # type: ignore[attr-defined]
        for name in ("broadcast_tensors", "broadcast_model", "broadcast_object"):
            setattr(distrib, name, _nothing)
        flashy.averager = _averager  # type: ignore[attr-defined]
        flashy.utils = importlib.import_module("flashy.utils")  # type: ignore[attr-defined]
        flashy.utils.readonly = importlib.import_module("contextlib").nullcontext  # type: ignore[attr-defined]
        ops.unbind = torch.unbind  # type: ignore[attr-defined]
    if package == "mmpose":
        sys.modules.setdefault("mmcv.ops", _Absent("mmcv.ops"))
    if package == "basicts":
        sys.modules.setdefault("torch.utils.tensorboard", _Absent("torch.utils.tensorboard"))


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_PL = "mmpose.models.losses."
_R, _H, _C = _PL + "regression_loss.", _PL + "heatmap_loss.", _PL + "classification_loss."
_KP, _KQ, _KW = _t(3, 5, 2), _t(3, 5, 2), _u(3, 5, 2)
_HM, _HN, _HW = _u(2, 4, 8, 8), _u(2, 4, 8, 8), _u(2, 4)
_PE, _PN = "mmpose.evaluation.functional.keypoint_eval.", "mmpose.evaluation.functional.nms."
_PU, _PB = "mmpose.codecs.utils.", "mmpose.structures.bbox.transforms."
_PRED, _GT, _MASK = _u(3, 4, 2).numpy(), _u(3, 4, 2).numpy(), torch.ones(3, 4).bool().numpy()
_NORM = torch.ones(3, 2).numpy()
_BOX = torch.tensor([[0.0, 0.0, 4.0, 4.0], [1.0, 1.0, 5.0, 6.0], [8.0, 8.0, 9.0, 9.0]])
_PARENTS = [0, 0, 1, 2, 3]


def _poses() -> list[dict[str, Any]]:
    """Found poses, as the suppression of those that overlap gets them."""
    return [
        {"score": float(_u(1)), "keypoints": _u(17, 3).numpy() * 50, "area": 400.0 + 10 * number} for number in range(4)
    ]


_MMPOSE: dict[str, Callable[[], Built]] = {
    "AssociativeEmbeddingLoss": lambda: _made(
        _PL + "ae_loss.AssociativeEmbeddingLoss", [(_t(2, 4, 8, 8), [_i(60, 2, 4, 2), _i(60, 3, 4, 2)])]
    ),
    "IoULoss": lambda: _made(_PL + "bbox_loss.IoULoss", [(_BOX, _BOX + 0.5)]),
    "IoULoss linear": lambda: _made(_PL + "bbox_loss.IoULoss", [(_BOX, _BOX + 0.5)], mode="linear", reduction="sum"),
    "BCELoss": lambda: _made(_C + "BCELoss", [(_u(3, 5), _u(3, 5), _u(3, 5))], use_target_weight=True),
    "JSDiscretLoss": lambda: _made(_C + "JSDiscretLoss", [(_u(2, 4, 16), _u(2, 4, 16), _HW)]),
    "KLDiscretLoss": lambda: _made(
        _C + "KLDiscretLoss", [((_t(2, 4, 16), _t(2, 4, 8)), (_u(2, 4, 16), _u(2, 4, 8)), _HW)]
    ),
    "KLDiscretLoss mask": lambda: _made(
        _C + "KLDiscretLoss",
        [((_t(2, 4, 16), _t(2, 4, 8)), (_u(2, 4, 16), _u(2, 4, 8)), _HW)],
        mask=[0, 2],
        mask_weight=0.5,
        label_softmax=True,
    ),
    "InfoNCELoss": lambda: _made(_C + "InfoNCELoss", [(_t(4, 8),)]),
    "VariFocalLoss": lambda: _made(_C + "VariFocalLoss", [(_t(3, 5), _u(3, 5), _u(3, 5))], use_target_weight=True),
    "FeaLoss": lambda: _made(_PL + "fea_dis_loss.FeaLoss", [(_t(2, 4, 8, 8), _t(2, 6, 8, 8))], "fea", True, 4, 6),
    "KDLoss": lambda: _made(
        _PL + "logit_dis_loss.KDLoss",
        [((_t(2, 4, 16), _t(2, 4, 8)), (_t(2, 4, 16), _t(2, 4, 8)), 1.0, _u(2, 4))],
        "kd",
        True,
    ),
    "KeypointMSELoss": lambda: _made(_H + "KeypointMSELoss", [(_HM, _HN, _HW)], use_target_weight=True),
    "KeypointMSELoss empty": lambda: _made(_H + "KeypointMSELoss", [(_HM, _HN)], skip_empty_channel=True),
    "CombinedTargetMSELoss": lambda: _made(
        _H + "CombinedTargetMSELoss", [(_u(2, 12, 8, 8), _u(2, 12, 8, 8), _u(2, 4))], use_target_weight=True
    ),
    "KeypointOHKMMSELoss": lambda: _made(_H + "KeypointOHKMMSELoss", [(_HM, _HN, _HW)], use_target_weight=True, topk=2),
    "AdaptiveWingLoss": lambda: _made(_H + "AdaptiveWingLoss", [(_HM, _HN, _HW)], use_target_weight=True),
    "FocalHeatmapLoss": lambda: _made(_H + "FocalHeatmapLoss", [(_HM, (_HN > 0.95).float(), _HW)]),
    "FocalHeatmapLoss none": lambda: _made(_H + "FocalHeatmapLoss", [(_HM, _HN * 0.5)]),
    "MLECCLoss": lambda: _made(_H + "MLECCLoss", [((_u(2, 4, 16), _u(2, 4, 8)), (_u(2, 4, 16), _u(2, 4, 8)))]),
    "RLELoss": lambda: _made(_R + "RLELoss", [(_KP, _u(3, 5, 2) + 0.1, _KQ, _KW)], use_target_weight=True),
    "RLELoss gaussian": lambda: _made(_R + "RLELoss", [(_KP, _u(3, 5, 2) + 0.1, _KQ)], q_distribution="gaussian"),
    "SmoothL1Loss": lambda: _made(_R + "SmoothL1Loss", [(_KP, _KQ, _KW)], use_target_weight=True),
    "SoftWeightSmoothL1Loss": lambda: _made(
        _R + "SoftWeightSmoothL1Loss", [(_KP, _KQ, _KW)], use_target_weight=True, supervise_empty=False
    ),
    "WingLoss": lambda: _made(_R + "WingLoss", [(_KP, _KQ)]),
    "SoftWingLoss": lambda: _made(_R + "SoftWingLoss", [(_KP, _KQ, _KW)], use_target_weight=True),
    "MPJPEVelocityJointLoss": lambda: _made(_R + "MPJPEVelocityJointLoss", [(_t(2, 6, 5, 3), _t(2, 6, 5, 3))]),
    "MPJPELoss": lambda: _made(_R + "MPJPELoss", [(_t(2, 5, 3), _t(2, 5, 3))]),
    "L1Loss": lambda: _made(_R + "L1Loss", [(_KP, _KQ, _KW)], use_target_weight=True),
    "MSELoss": lambda: _made(_R + "MSELoss", [(_KP, _KQ)]),
    "BoneLoss": lambda: _made(_R + "BoneLoss", [(_KP, _KQ)], _PARENTS),
    "SemiSupervisionLoss": lambda: _made(
        _R + "SemiSupervisionLoss",
        [
            (
                {"labeled_pose": _t(2, 5, 3), "unlabeled_pose": _t(2, 5, 3), "unlabeled_traj": _u(2, 1, 3) + 2},
                {"unlabeled_target_2d": _t(2, 5, 2), "intrinsics": _t(2, 9)},
            )
        ],
        _PARENTS,
    ),
    "bbox_overlaps": lambda: _call("mmpose.structures.bbox.bbox_overlaps.bbox_overlaps", (_BOX, _BOX)),
    "bbox_overlaps giou": lambda: _call(
        "mmpose.structures.bbox.bbox_overlaps.bbox_overlaps", (_BOX, _BOX), mode="giou", is_aligned=True
    ),
    "nms_torch": lambda: _call(_PN + "nms_torch", (_BOX, torch.tensor([0.9, 0.8, 0.3]))),
    "nms_torch groups": lambda: _call(_PN + "nms_torch", (_BOX, torch.tensor([0.9, 0.8, 0.3])), return_group=True),
    "nms": lambda: _call(_PN + "nms", (torch.cat([_BOX, _u(3, 1)], 1).numpy(), 0.5)),
    "oks_iou": lambda: _call(
        _PN + "oks_iou", (_u(51).numpy(), _u(2, 51).numpy(), 400.0, torch.tensor([400.0, 300.0]).numpy())
    ),
    "oks_nms": lambda: _call(_PN + "oks_nms", (_poses(), 0.5)),
    "soft_oks_nms": lambda: _call(_PN + "soft_oks_nms", (_poses(), 0.5)),
    "nearby_joints_nms": lambda: _call(_PN + "nearby_joints_nms", (_poses(), 0.05)),
    "keypoint_pck_accuracy": lambda: _call(_PE + "keypoint_pck_accuracy", (_PRED, _GT, _MASK, 0.5, _NORM)),
    "keypoint_nme": lambda: _call(_PE + "keypoint_nme", (_PRED, _GT, _MASK, _NORM)),
    "keypoint_epe": lambda: _call(_PE + "keypoint_epe", (_PRED, _GT, _MASK)),
    "keypoint_mpjpe": lambda: _call(_PE + "keypoint_mpjpe", (_u(3, 4, 3).numpy(), _u(3, 4, 3).numpy(), _MASK)),
    "keypoint_mpjpe procrustes": lambda: _call(
        _PE + "keypoint_mpjpe", (_u(3, 4, 3).numpy(), _u(3, 4, 3).numpy(), _MASK), alignment="procrustes"
    ),
    "pose_pck_accuracy": lambda: _call(_PE + "pose_pck_accuracy", (_HM.numpy(), _HN.numpy(), _MASK[:2])),
    "multilabel_classification_accuracy": lambda: _call(
        _PE + "multilabel_classification_accuracy", (_u(3, 4).numpy(), _i(2, 3, 4).numpy(), _MASK)
    ),
    "get_heatmap_maximum": lambda: _call(_PU + "post_processing.get_heatmap_maximum", (_HM.numpy(),)),
    "get_simcc_maximum": lambda: _call(
        _PU + "post_processing.get_simcc_maximum", (_u(2, 4, 16).numpy(), _u(2, 4, 8).numpy())
    ),
    "get_simcc_normalized": lambda: _call(_PU + "post_processing.get_simcc_normalized", (_u(2, 4, 16),)),
    "batch_heatmap_nms": lambda: _call(_PU + "post_processing.batch_heatmap_nms", (_HM,)),
    "generate_gaussian_heatmaps": lambda: _call(
        _PU + "gaussian_heatmap.generate_gaussian_heatmaps", ((16, 16), _PRED[:1] * 10, _MASK[:1], 2.0)
    ),
    "generate_udp_gaussian_heatmaps": lambda: _call(
        _PU + "gaussian_heatmap.generate_udp_gaussian_heatmaps", ((16, 16), _PRED[:1] * 10, _MASK[:1], 2.0)
    ),
    "refine_keypoints": lambda: _call(_PU + "refinement.refine_keypoints", (_PRED[:1] * 7, _HM[0].numpy())),
    "get_instance_root": lambda: _call(_PU + "instance_property.get_instance_root", (_PRED, _MASK.astype("float32"))),
    "bbox_xyxy2cs": lambda: _call(_PB + "bbox_xyxy2cs", (_BOX.numpy(),), padding=1.25),
    "bbox_cs2xyxy": lambda: _call(_PB + "bbox_cs2xyxy", (_u(3, 2).numpy(), _u(3, 2).numpy())),
    "flip_bbox": lambda: _call(_PB + "flip_bbox", (_BOX.numpy(), (20, 20)), bbox_format="xyxy"),
    "bbox_clip_border": lambda: _call(_PB + "bbox_clip_border", (_BOX.numpy(), (5, 5))),
    "flip_keypoints": lambda: _call(
        "mmpose.structures.keypoint.transforms.flip_keypoints",
        (_PRED, _MASK.astype("float32"), (20, 20), [1, 0, 3, 2]),
    ),
    "keypoint_clip_border": lambda: _call(
        "mmpose.structures.keypoint.transforms.keypoint_clip_border", (_PRED * 9, _MASK.astype("float32"), (5, 5))
    ),
}

_WAV = _t(2, 1, 4000)


def _denoised(z: torch.Tensor, *_: Any, **options: Any) -> Any:
    """Stands for a network that takes noise away."""
    del options
    return type("Out", (), {"sample": z * 0.1})


_CONV = "audiocraft.modules.conv."
_AQ, _AC = "audiocraft.quantization.", "audiocraft.modules.codebooks_patterns."
_CORE = _AQ + "core_vq."
_AT = "audiocraft.modules.transformer."
_ADV = "audiocraft.adversarial."


def _pattern(kind: str, **options: Any) -> Built:
    """Codes that are put in the order of a pattern, and back."""
    provider = _get(_AC + kind)(n_q=4, **options)

    def use(codes: torch.Tensor) -> Any:
        pattern = provider.get_pattern(codes.shape[-1])
        values, indexes, mask = pattern.build_pattern_sequence(codes, 99, keep_only_valid_steps=True)
        return pattern.revert_pattern_sequence(values, 99), indexes, mask

    return use, [(_i(90, 2, 4, 6),)]


def _advloss(kind: str) -> Built:
    """The losses of a network against a discriminator."""
    base = _ADV + "losses."
    adversary = nn.Conv1d(1, 1, 3)

    class Adversary(nn.Module):
        """Gives scores and features, as a discriminator of several scales."""

        def __init__(self) -> None:
            super().__init__()
            self.net = adversary

        def forward(self, x: torch.Tensor) -> Any:
            """The scores, and what they come from."""
            found = self.net(x)
            return [found], [[found, found]]

    model = Adversary()
    loss = _get(base + "AdversarialLoss")(
        model,
        torch.optim.SGD(model.parameters(), 0.1),
        _get(base + "get_adv_criterion")(kind),
        _get(base + "get_real_criterion")(kind),
        _get(base + "get_fake_criterion")(kind),
        _get(base + "FeatureMatchingLoss")(),
    )
    return held(loss, lambda m, x, y: m(x, y), (_WAV, _WAV + 0.1))


def _streaming(model: nn.Module, *inputs: torch.Tensor) -> Built:
    """Pieces of a sequence, one after the other."""

    def use(*x: torch.Tensor) -> Any:
        with model.streaming():
            return [model(one) for one in x]

    return use, [inputs]


_AUDIOCRAFT: dict[str, Callable[[], Built]] = {
    "SISNR": lambda: _made("audiocraft.losses.sisnr.SISNR", [(_WAV, _WAV + 0.1)], sample_rate=4000, segment=0.5),
    "SISNR whole": lambda: _made(
        "audiocraft.losses.sisnr.SISNR", [(_WAV, _WAV + 0.1)], sample_rate=4000, segment=1, overlap=0.0
    ),
    "STFTLoss": lambda: _made("audiocraft.losses.stftloss.STFTLoss", [(_WAV, _WAV + 0.1)]),
    "MRSTFTLoss": lambda: _made("audiocraft.losses.stftloss.MRSTFTLoss", [(_WAV, _WAV + 0.1)]),
    "Balancer": lambda: held(
        _get("audiocraft.losses.balancer.Balancer")({"a": 1.0, "b": 2.0}),
        lambda m, x, w: (lambda y: m.backward({"a": y.pow(2).mean(), "b": y.abs().mean()}, y))(x * w),
        (_t(2, 4), nn.Parameter(_t(4))),
    ),
    "pad_for_conv1d": lambda: _call(_CONV + "pad_for_conv1d", (_WAV, 7, 3, 2)),
    "pad1d": lambda: _call(_CONV + "pad1d", (_t(1, 1, 4), (6, 6)), mode="reflect"),
    "StreamableConv1d": lambda: _made(_CONV + "StreamableConv1d", [(_WAV,), (_t(2, 1, 4001),)], 1, 4, 7, 2),
    "StreamableConv1d causal": lambda: _made(
        _CONV + "StreamableConv1d", [(_WAV,)], 1, 4, 7, 2, causal=True, pad_mode="reflect"
    ),
    "StreamableConvTranspose1d": lambda: _made(_CONV + "StreamableConvTranspose1d", [(_WAV,)], 1, 4, 4, 2),
    "StreamableLSTM": lambda: _made("audiocraft.modules.lstm.StreamableLSTM", [(_t(2, 8, 5),)], 8),
    "SEANetEncoder": lambda: _made(
        "audiocraft.modules.seanet.SEANetEncoder", [(_WAV,)], n_filters=4, dimension=8, ratios=[4, 2], lstm=1
    ),
    "SEANetDecoder": lambda: _made(
        "audiocraft.modules.seanet.SEANetDecoder", [(_t(2, 8, 20),)], n_filters=4, dimension=8, ratios=[4, 2]
    ),
    "SwiGLU": lambda: _made("audiocraft.modules.activations.SwiGLU", [(_t(2, 8),)]),
    "EuclideanCodebook": lambda: _made(_CORE + "EuclideanCodebook", [(_t(2, 6, 4),)], 4, 8),
    "EuclideanCodebook kmeans": lambda: _made(_CORE + "EuclideanCodebook", [(_t(2, 16, 4),)], 4, 8, kmeans_init=True),
    "VectorQuantization": lambda: _made(_CORE + "VectorQuantization", [(_t(2, 4, 6),)], 4, 8),
    "VectorQuantization ortho": lambda: _made(
        _CORE + "VectorQuantization",
        [(_t(2, 4, 6),)],
        4,
        8,
        orthogonal_reg_weight=1.0,
        orthogonal_reg_active_codes_only=True,
        orthogonal_reg_max_codes=4,
    ),
    "ResidualVectorQuantization": lambda: _made(
        _CORE + "ResidualVectorQuantization", [(_t(2, 4, 6),)], num_quantizers=2, dim=4, codebook_size=8
    ),
    "ResidualVectorQuantizer": lambda: _made(
        _AQ + "vq.ResidualVectorQuantizer", [(_t(2, 4, 6), 50)], 4, 3, bins=8, kmeans_init=False, q_dropout=True
    ),
    "ResidualVectorQuantizer encode": lambda: held(
        _get(_AQ + "vq.ResidualVectorQuantizer")(4, 3, bins=8, kmeans_init=False),
        lambda m, x: m.decode(m.encode(x)),
        (_t(2, 4, 6),),
    ),
    "DummyQuantizer": lambda: _made(_AQ + "base.DummyQuantizer", [(_t(2, 4, 6), 50)]),
    "kmeans": lambda: _call(_CORE + "kmeans", (_t(16, 4), 4)),
    "sample_vectors": lambda: _call(_CORE + "sample_vectors", (_t(16, 4), 4)),
    "DelayedPattern": lambda: _pattern("DelayedPatternProvider"),
    "ParallelPattern": lambda: _pattern("ParallelPatternProvider"),
    "UnrolledPattern": lambda: _pattern("UnrolledPatternProvider"),
    "CoarseFirstPattern": lambda: _pattern("CoarseFirstPattern"),
    "MusicLMPattern": lambda: _pattern("MusicLMPattern"),
    "MultiBandProcessor": lambda: held(
        _get("audiocraft.modules.diffusion_schedule.MultiBandProcessor")(n_bands=2, sample_rate=4000, num_samples=2),
        lambda m, x: m.return_sample(m.project_sample(x)),
        (_WAV,),
    ),
    "NoiseSchedule": lambda: held(
        _get("audiocraft.modules.diffusion_schedule.NoiseSchedule")(num_steps=20, device="cpu"),
        lambda m, x: m.get_training_item(x),
        (_WAV,),
    ),
    "NoiseSchedule steps": lambda: held(
        _get("audiocraft.modules.diffusion_schedule.NoiseSchedule")(num_steps=20, device="cpu"),
        lambda m, x: m.get_training_item(x, tensor_step=True),
        (_WAV,),
    ),
    "NoiseSchedule generate": lambda: held(
        _get("audiocraft.modules.diffusion_schedule.NoiseSchedule")(num_steps=4, device="cpu"),
        lambda m, x: m.generate(_denoised, x, condition=None),
        (_WAV,),
    ),
    "RotaryEmbedding": lambda: held(
        _get("audiocraft.modules.rope.RotaryEmbedding")(8, xpos=True),
        lambda m, q, k: m.rotate_qk(q, k),
        (_t(2, 5, 2, 8), _t(2, 5, 2, 8)),
    ),
    "create_sin_embedding": lambda: _call(_AT + "create_sin_embedding", (_u(2, 5, 1), 8)),
    "StreamingMultiheadAttention": lambda: _made(
        _AT + "StreamingMultiheadAttention", [(x := _t(2, 5, 8), x, x)], 8, 2, causal=True, custom=True
    ),
    "StreamingTransformer": lambda: _made(
        _AT + "StreamingTransformer",
        [(_t(2, 5, 8),)],
        8,
        2,
        2,
        16,
        causal=True,
        custom=True,
        positional_embedding="rope",
    ),
    "StreamingTransformer past": lambda: _made(
        _AT + "StreamingTransformer", [(_t(2, 5, 8),)], 8, 2, 2, 16, causal=True, past_context=3
    ),
    "StreamingTransformer cross": lambda: _made(
        _AT + "StreamingTransformer",
        [{"x": _t(2, 5, 8), "cross_attention_src": _t(2, 3, 8)}],
        *(8, 2, 1, 16),
        cross_attention=True,
        layer_scale=0.1,
    ),
    "StreamingTransformer pieces": lambda: _streaming(
        _get(_AT + "StreamingTransformer")(8, 2, 1, 16, causal=True, custom=True).eval(), _t(2, 3, 8), _t(2, 1, 8)
    ),
    "DiffusionUnet": lambda: _made("audiocraft.models.unet.DiffusionUnet", [(_WAV, 3)], 1, hidden=8, depth=2, kernel=8),
    "DiffusionUnet steps": lambda: _made(
        "audiocraft.models.unet.DiffusionUnet", [(_WAV, _i(20, 2))], 1, hidden=8, depth=2, bilstm=True
    ),
    "MultiPeriodDiscriminator": lambda: _made(
        _ADV + "discriminators.mpd.MultiPeriodDiscriminator", [(_WAV,)], periods=[2, 3], n_layers=2, norm="none"
    ),
    "MultiScaleDiscriminator": lambda: _made(
        _ADV + "discriminators.msd.MultiScaleDiscriminator",
        [(_WAV,)],
        scale_norms=["none", "none"],
        filters=4,
        max_filters=8,
    ),
    "AdversarialLoss mse": lambda: _advloss("mse"),
    "AdversarialLoss hinge": lambda: _advloss("hinge"),
    "FeatureMatchingLoss": lambda: _made(_ADV + "losses.FeatureMatchingLoss", [([_WAV, _WAV], [_WAV + 1, _WAV])]),
    "hinge2_loss": lambda: _call(_ADV + "losses.hinge2_loss", (_WAV,)),
    "multinomial": lambda: _call("audiocraft.utils.utils.multinomial", (_u(2, 3, 8), 2)),
    "sample_top_k": lambda: _call("audiocraft.utils.utils.sample_top_k", (_u(2, 3, 8), 4)),
    "sample_top_p": lambda: _call("audiocraft.utils.utils.sample_top_p", (_u(2, 3, 8).softmax(-1), 0.8)),
    "length_to_mask": lambda: _call("audiocraft.utils.utils.length_to_mask", (torch.tensor([3, 5, 2]),)),
    "collate": lambda: _call("audiocraft.utils.utils.collate", ([_t(3, 4), _t(5, 4)],)),
    "hash_trick": lambda: _using("audiocraft.utils.utils.hash_trick", lambda f, x: x[f("word", 8)], (_t(8),)),
    "convert_audio_channels": lambda: _call("audiocraft.data.audio_utils.convert_audio_channels", (_WAV, 2)),
    "normalize_audio peak": lambda: _call("audiocraft.data.audio_utils.normalize_audio", (_WAV[0],)),
    "normalize_audio rms": lambda: _call("audiocraft.data.audio_utils.normalize_audio", (_WAV[0],), strategy="rms"),
    "normalize_audio clip": lambda: _call(
        "audiocraft.data.audio_utils.normalize_audio", (_WAV[0] * 3,), strategy="clip", log_clipping=True
    ),
    "i16_pcm": lambda: _call("audiocraft.data.audio_utils.i16_pcm", (_WAV.clamp(-1, 1),)),
    "f32_pcm": lambda: _call("audiocraft.data.audio_utils.f32_pcm", ((_WAV.clamp(-1, 1) * 100).to(torch.int16),)),
}


_S = _t(2, 32, 3)
_STAMPS = _u(2, 40, 4) * 0.9


def _series(name: str, file: str, inputs: list[Any], *more: str, **options: Any) -> Built:
    """A model of basicts of its own configuration."""
    base = f"basicts.models.{name}."
    config = _get(f"{base}config.{file}_config.{name}Config")
    return _made(f"{base}arch.{file}_arch.{more[0] if more else name}", inputs, config(**options))


_SIZES: dict[str, Any] = {"input_len": 32, "output_len": 8, "num_features": 3}
_SMALL: dict[str, Any] = {**_SIZES, "hidden_size": 16, "n_heads": 2, "intermediate_size": 32, "num_layers": 1}
_M = "basicts.metrics."
_TARGET_MASK = _u(2, 8, 3) > 0.2


def _masked(path: str, **options: Any) -> Callable[[], Built]:
    return lambda: _call(_M + path, (_t(2, 8, 3), _t(2, 8, 3) + 2, _TARGET_MASK.float()), **options)


_BASICTS: dict[str, Callable[[], Built]] = {
    "masked_mae": _masked("mae.masked_mae"),
    "masked_mse": _masked("mse.masked_mse"),
    "masked_rmse": _masked("rmse.masked_rmse"),
    "masked_mape": _masked("mape.masked_mape"),
    "masked_wape": _masked("wape.masked_wape"),
    "masked_corr": _masked("corr.masked_corr"),
    "masked_huber": _masked("huber.masked_huber"),
    "masked_r2": _masked("r_square.masked_r2"),
    "masked_smape": lambda: _call(_M + "smape.masked_smape", (_t(2, 8, 3), _t(2, 8, 3))),
    "masked_smape null": lambda: _call(_M + "smape.masked_smape", (_t(2, 8, 3), _t(2, 8, 3)), null_val=0.0),
    "masked_mae without": lambda: _call(_M + "mae.masked_mae", (_t(2, 8, 3), _t(2, 8, 3))),
    "accuracy": lambda: _call(_M + "cls_metrics.accuracy", (_t(6, 3), _i(3, 6, 1))),
    "RMSEMeter": lambda: _using(
        _M + "metric_meter.RMSEMeter", lambda c, x: (lambda m: (m.update(x), m.value)[1])(c()), (_u(1)[0],)
    ),
    "AvgMeter": lambda: _using(
        _M + "metric_meter.AvgMeter", lambda c, x: (lambda m: (m.update(x), m.value)[1])(c()), (_u(1)[0],)
    ),
    "MovingAverageDecomposition": lambda: _made("basicts.modules.decomposition.MovingAverageDecomposition", [(_S,)], 5),
    "MultiMovingAverageDecomposition": lambda: _made(
        "basicts.modules.decomposition.MultiMovingAverageDecomposition", [(_S,)], [3, 5]
    ),
    "DFTDecomposition": lambda: _made("basicts.modules.decomposition.DFTDecomposition", [(_S.transpose(1, 2),)], 3),
    "TimestampEmbedding": lambda: _made(
        "basicts.modules.embed.tst_embed.TimestampEmbedding", [(_STAMPS,)], 8, [24, 7, 31, 12]
    ),
    "PatchEmbedding": lambda: _made("basicts.modules.embed.tst_embed.PatchEmbedding", [(_S,)], 8, 8, 4),
    "RevIN": lambda: held(_get("basicts.modules.norm.revin.RevIN")(3), lambda m, x: m(m(x, "norm"), "denorm"), (_S,)),
    "AutoCorrelation": lambda: _made(
        "basicts.modules.transformer.attentions.auto_correlation.AutoCorrelation", [(_t(2, 12, 8),)], 8, 2
    ),
    "ProbAttention": lambda: _made(
        "basicts.modules.transformer.attentions.prob_attention.ProbAttention", [(_t(2, 12, 8),)], 8, 2, factor=2
    ),
    "MultiHeadAttention": lambda: _made(
        "basicts.modules.transformer.attentions.multi_head_attention.MultiHeadAttention", [(_t(2, 12, 8),)], 8, 2
    ),
    "prepare_causal_attention_mask": lambda: _call(
        "basicts.modules.transformer.utils.prepare_causal_attention_mask", ((2, 5), _t(2, 5, 8))
    ),
    "Crossformer": lambda: _series("Crossformer", "crossformer", [(_S,)], **_SIZES, hidden_size=16, n_heads=2),
    "DLinear": lambda: _series("DLinear", "dlinear", [(_S,)], **_SIZES),
    "NLinear": lambda: _series("NLinear", "nlinear", [(_S,)], input_len=32, output_len=8),
    "DUET": lambda: _series("DUET", "duet", [(_S,)], **_SMALL),
    "FiLM": lambda: _series("FiLM", "film", [(_S,)], **_SIZES),
    "FreTS": lambda: _series("FreTS", "frets", [(_S,)], **_SIZES),
    "HI": lambda: _series("HI", "hi", [(_S,)], input_len=32, output_len=8),
    "Informer": lambda: _series(
        "Informer",
        "informer",
        [(_S, _t(2, 24, 3), _STAMPS[:, :32], _STAMPS[:, :24])],
        **_SIZES,
        label_len=16,
        hidden_size=16,
        n_heads=2,
    ),
    "Leddam": lambda: _series("Leddam", "leddam", [(_S,)], **_SMALL, period=4),
    "LightTS": lambda: _series("LightTS", "lightts", [(_S,)], **_SIZES),
    "MTSMixer": lambda: _series("MTSMixer", "mtsmixer", [(_S,)], **_SIZES),
    "NonstationaryTransformer": lambda: _series(
        "NonstationaryTransformer",
        "ns_transformer",
        [(_S, _t(2, 24, 3), _STAMPS[:, :32], _STAMPS[:, :24])],
        "NonstationaryTransformerForForecasting",
        **_SIZES,
        label_len=16,
        hidden_size=16,
        n_heads=2,
    ),
    "PatchTST": lambda: _series("PatchTST", "patchtst", [(_S,)], "PatchTSTForForecasting", **_SMALL),
    "STID": lambda: _series("STID", "stid", [(_S, _STAMPS[:, :32])], **_SIZES),
    "SegRNN": lambda: _series("SegRNN", "segrnn", [(_S,)], **_SIZES, seg_len=8),
    "SparseTSF": lambda: _series("SparseTSF", "sparsetsf", [(_S,)], input_len=32, output_len=8, period_len=8),
    "StemGNN": lambda: _series("StemGNN", "stemgnn", [(_S,)], **_SIZES),
    "TimeKAN": lambda: _series("TimeKAN", "timekan", [(_S,)], **_SIZES),
    "TimeXer": lambda: _series("TimeXer", "timexer", [(_S, _STAMPS[:, :32])], **_SMALL),
    "TimesNet": lambda: _series("TimesNet", "timesnet", [(_S, _STAMPS[:, :32])], "TimesNetForForecasting", **_SIZES),
    "iTransformer": lambda: _series("iTransformer", "itransformer", [(_S,)], "iTransformerForForecasting", **_SMALL),
}

_CL = "collie.loss."
_POS, _NEG, _MANY = _t(6), _t(6), _t(3, 6)
_PI, _NI, _MI = _i(10, 6), _i(10, 6), _i(10, 3, 6)
_META = {"genre": _i(3, 10)}


def _targets() -> Any:
    """Who liked what, as SciPy holds it."""
    from scipy.sparse import csr_matrix

    return csr_matrix((_u(4, 10) > 0.6).numpy())


def _ranked(name: str, **options: Any) -> Built:
    """A metric of rankings."""
    metric, targets = _get("collie.metrics." + name), _targets()
    users = torch.arange(4).numpy()
    return (lambda scores: metric(targets, users, scores, **options)), [(_u(4, 10),)]


def _losses(name: str, scores: torch.Tensor, items: torch.Tensor, meta: bool) -> Callable[[], Built]:
    options: dict[str, Any] = {"num_items": 10, "positive_items": _PI, "negative_items": items}
    if meta:
        options |= {"metadata": _META, "metadata_weights": {"genre": 0.4}}
    return lambda: _call(_CL + name, (_POS, scores), **options)


_COLLIE: dict[str, Callable[[], Built]] = {
    "bpr_loss": _losses("bpr.bpr_loss", _NEG, _NI, False),
    "bpr_loss metadata": _losses("bpr.bpr_loss", _NEG, _NI, True),
    "adaptive_bpr_loss": _losses("bpr.adaptive_bpr_loss", _MANY, _MI, False),
    "hinge_loss": _losses("hinge.hinge_loss", _NEG, _NI, False),
    "hinge_loss metadata": _losses("hinge.hinge_loss", _NEG, _NI, True),
    "adaptive_hinge_loss": _losses("hinge.adaptive_hinge_loss", _MANY, _MI, True),
    "warp_loss": _losses("warp.warp_loss", _MANY, _MI, False),
    "warp_loss metadata": _losses("warp.warp_loss", _MANY, _MI, True),
    "mapk": lambda: _ranked("mapk", k=3),
    "mrr": lambda: _ranked("mrr"),
    "auc": lambda: _ranked("auc"),
    "get_user_item_pairs": lambda: _call("collie.metrics._get_user_item_pairs", (_i(4, 3), 5, "cpu")),
    "get_preds": lambda: _using(
        "collie.metrics.get_preds",
        lambda f, users: f(lambda u, i: (u + i).float(), users, 5, "cpu"),
        (_i(4, 3),),
    ),
    "trunc_normal": lambda: _call("collie.utils.trunc_normal", (_t(3, 4),)),
    "ScaledEmbedding": lambda: _made("collie.model.base.layers.ScaledEmbedding", [(_i(5, 3),)], 5, 4),
}

_ALL = {"mmpose": _MMPOSE, "audiocraft": _AUDIOCRAFT, "basicts": _BASICTS, "collie": _COLLIE}
MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build for package, models in _ALL.items() for name, build in models.items()
}

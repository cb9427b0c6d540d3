"""Models of f5_tts, rfdetr, torchgeo, pytabkit and neuralprophet.

They were chosen, and written, before `check` was run on these packages.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch

from accuracy_models import Built
from accuracy_models.inputs import Later, held, on, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter, without_packages, without_torchvision_extension

_t, _u, _i = random_inputs(131)
_ABSENT = {
    "f5_tts": ("torchaudio", "librosa", "rjieba", "pypinyin", "wandb", "datasets"),
    "rfdetr": ("httpx2", "httpcore2", "faster_coco_eval"),
    "torchgeo": ("geopandas", "pyproj", "rasterio", "shapely", "httpx2", "httpcore2"),
    "pytabkit": ("httpx2", "httpcore2"),
    "neuralprophet": ("httpx2", "httpcore2", "holidays", "plotly"),
}


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_torchvision_extension()
    without_packages(*_ABSENT.get(package, ()))


_get = getter({}, ("torchgeo", "torchgeo.models", "neuralprophet"), _prepare)
_using, _method = uses_by_name(_get)
_later = Later(_get)
_of, _lazy, _fun, _on = _later.of, _later.lazy, _later.fun, on

_F = "f5_tts.model."
_MEL, _COND, _TEXT, _TIME = _t(2, 24, 20), _t(2, 24, 20), _i(30, 2, 12), _u(2)
_LENGTHS = torch.tensor([24, 18])
_VALID = torch.arange(24)[None] < _LENGTHS[:, None]
_SMALL = {"dim": 32, "depth": 2, "heads": 2, "dim_head": 16, "ff_mult": 2, "mel_dim": 20, "text_num_embeds": 30}
_DIT = _of(_F + "backbones.dit.DiT", **_SMALL, text_dim=16, conv_layers=1)


def _flow(backbone: Any, use: Callable[..., Any], *inputs: Any, **options: Any) -> Callable[[], Built]:
    """A use of a flow that a backbone learns."""
    spec = {"n_mel_channels": 20}
    return _on(_of(_F + "cfm.CFM", backbone, num_channels=20, mel_spec_kwargs=spec, **options), use, *inputs)


_F5: dict[str, Callable[[], Built]] = {
    "DiT": _on(_DIT, lambda m, *x: m(*x), _MEL, _COND, _TEXT, _TIME),
    "DiT mask": _on(_DIT, lambda m, *x: m(*x), _MEL, _COND, _TEXT, _TIME, _VALID),
    "DiT cfg": _on(_DIT, lambda m, *x: m(*x, cfg_infer=True, cache=True), _MEL, _COND, _TEXT, torch.tensor(0.4)),
    "DiT options": _on(
        _of(
            _F + "backbones.dit.DiT",
            **_SMALL,
            text_embedding_average_upsampling=True,
            conv_layers=1,
            qk_norm="rms_norm",
            pe_attn_head=1,
            attn_mask_enabled=True,
            long_skip_connection=True,
        ),
        lambda m, *x: m(*x),
        *(_MEL, _COND, _TEXT, _TIME, _VALID),
    ),
    "DiT checkpoint": _on(
        _of(_F + "backbones.dit.DiT", **_SMALL, checkpoint_activations=True),
        lambda m, *x: m(*x, drop_audio_cond=True, drop_text=True),
        *(_MEL, _COND, _TEXT, _TIME),
    ),
    "MMDiT": _on(_of(_F + "backbones.mmdit.MMDiT", **_SMALL), lambda m, *x: m(*x), _MEL, _COND, _TEXT, _TIME),
    "MMDiT mask": _on(
        _of(_F + "backbones.mmdit.MMDiT", **_SMALL, attn_mask_enabled=True, qk_norm="rms_norm"),
        lambda m, *x: m(*x, cfg_infer=True),
        *(_MEL, _COND, _TEXT, _TIME, _VALID),
    ),
    "UNetT": _on(_of(_F + "backbones.unett.UNetT", **_SMALL), lambda m, *x: m(*x), _MEL, _COND, _TEXT, _TIME, _VALID),
    "UNetT add": _on(
        _of(_F + "backbones.unett.UNetT", **_SMALL, skip_connect_type="add", text_dim=16, conv_layers=1),
        lambda m, *x: m(*x),
        *(_MEL, _COND, _TEXT, _TIME),
    ),
    "CFM": _flow(_DIT, lambda m, x, y: m(x, y)[0], _MEL, _TEXT),
    "CFM lens": _flow(_DIT, lambda m, x, y, n: m(x, y, lens=n)[0], _MEL, _TEXT, _LENGTHS),
    "CFM sample": _flow(
        _DIT, lambda m, x, y: m.sample(x, y, 32, steps=2, cfg_strength=2.0, sway_sampling_coef=-1.0)[0], _MEL, _TEXT
    ),
    "CFM sample durations": _flow(
        _DIT,
        lambda m, x, y, d, n: m.sample(x, y, d, lens=n, steps=2, cfg_strength=0.0, seed=3, use_epss=False)[0],
        *(_MEL, _TEXT, torch.tensor([30, 28]), _LENGTHS),
    ),
    "lens_to_mask": _fun(_F + "utils.lens_to_mask", _LENGTHS),
    "frac lengths": _fun(_F + "utils.mask_from_frac_lengths", _LENGTHS, _u(2)),
    "masked mean": _fun(_F + "utils.maybe_masked_mean", _MEL, _VALID),
    "str to tensor": _fun(_F + "utils.list_str_to_tensor", ["hello", "to you"]),
    "epss": _fun(_F + "utils.get_epss_timesteps", 7, torch.device("cpu"), torch.float32),
    "pos indices": _fun(_F + "modules.get_pos_embed_indices", torch.zeros(2, dtype=torch.long), 12, 64),
    "freqs_cis": _fun(_F + "modules.precompute_freqs_cis", 16, 32),
    "ConvPositionEmbedding": _lazy(_F + "modules.ConvPositionEmbedding", _t(2, 24, 32), _VALID, dim=32),
    "ConvNeXtV2Block": _lazy(_F + "modules.ConvNeXtV2Block", _t(2, 24, 16), dim=16, intermediate_dim=32),
    "RMSNorm": _lazy(_F + "modules.RMSNorm", _t(2, 24, 16), dim=16, eps=1e-6),
    "AdaLayerNorm": _lazy(_F + "modules.AdaLayerNorm", _t(2, 24, 16), _t(2, 16), dim=16),
    "TimestepEmbedding": _lazy(_F + "modules.TimestepEmbedding", _TIME, dim=16),
    "ECAPA": _lazy(
        "f5_tts.eval.ecapa_tdnn.Res2Conv1dReluBn", _t(2, 32, 40), channels=32, kernel_size=3, padding=2, dilation=2
    ),
    "AttentiveStatsPool": _lazy(
        "f5_tts.eval.ecapa_tdnn.AttentiveStatsPool",
        _t(2, 16, 40),
        in_dim=16,
        attention_channels=8,
        global_context_att=True,
    ),
}

_R = "rfdetr."
_RM, _RU, _RE = _R + "models.", _R + "utilities.", _R + "evaluation."


def _boxes(*shape: int) -> torch.Tensor:
    """Boxes by centre and size."""
    return torch.cat([_u(*shape, 2) * 0.5 + 0.25, _u(*shape, 2) * 0.3 + 0.05], -1)


def _corners(n: int) -> torch.Tensor:
    """Boxes by corners."""
    first = _u(n, 2) * 20
    return torch.cat([first, first + _u(n, 2) * 10 + 1], 1)


def _target(n: int, masks: bool = False) -> dict[str, torch.Tensor]:
    """What is in a picture."""
    there = {"labels": _i(4, n), "boxes": _boxes(n)}
    return there | ({"masks": _u(n, 32, 32) > 0.5} if masks else {})


_OUT = {"pred_logits": _t(2, 10, 5), "pred_boxes": _boxes(2, 10)}
_AUX = {**_OUT, "aux_outputs": [{"pred_logits": _t(2, 10, 5), "pred_boxes": _boxes(2, 10)}]}
_MASKED = {**_OUT, "pred_masks": _t(2, 10, 16, 16)}
_MATCHER = _of(_RM + "matcher.HungarianMatcher", cost_class=2, cost_bbox=5, cost_giou=2)


def _criterion(out: dict[str, Any], losses: list[str], masks: bool = False, **options: Any) -> Callable[[], Built]:
    """The losses of a detector."""
    return _on(
        _of(_RM + "criterion.SetCriterion", 5, _MATCHER, {"loss_ce": 1}, 0.25, losses, **options),
        lambda m, o, t: m(o, t),
        *(out, [_target(3, masks), _target(2, masks)]),
    )


_NESTED = partial(lambda: _get(_RU + "tensors.nested_tensor_from_tensor_list")([_u(3, 32, 28), _u(3, 30, 32)]))
_KEYPOINTS = torch.cat([_u(3, 4, 2), torch.full((3, 4, 1), 2.0)], -1)
_RFDETR: dict[str, Callable[[], Built]] = {
    "box_iou": _fun(_RU + "box_ops.box_iou", _corners(4), _corners(3)),
    "elementwise giou": _fun(_RU + "box_ops.elementwise_generalized_box_iou", _corners(4), _corners(4)),
    "giou": _fun(_RU + "box_ops.generalized_box_iou", _corners(4), _corners(3)),
    "pairwise l1": _fun(_RU + "box_ops.pairwise_box_l1_cost", _boxes(4), _boxes(3)),
    "masks_to_boxes": _fun(_RU + "box_ops.masks_to_boxes", _u(3, 16, 16) > 0.5),
    "masks_to_boxes none": _fun(_RU + "box_ops.masks_to_boxes", torch.zeros(0, 16, 16)),
    "batch_dice": _fun(_RU + "box_ops.batch_dice_loss", _t(4, 30), _u(3, 30)),
    "nested": _fun(_RU + "tensors.nested_tensor_from_tensor_list", [_u(3, 32, 28), _u(3, 30, 32)]),
    "grid_sample": _fun(_RU + "tensors._bilinear_grid_sample", _t(2, 3, 8, 8), _u(2, 4, 4, 2) * 2 - 1),
    "nearest_sample": _fun(_RU + "tensors._nearest_grid_sample", _t(2, 3, 8, 8), _u(2, 4, 4, 2) * 2 - 1),
    "pad targets": _fun(_RU + "tensors.pad_targets_to_fixed_count", [_target(3), _target(2)], 4),
    "accuracy": _fun(_RM + "math.accuracy", _t(8, 5), _i(5, 8), (1, 3)),
    "interpolate": _fun(_RM + "math.interpolate", _t(2, 3, 8, 8), [16, 16], None, "bilinear", False),
    "inverse_sigmoid": _fun(_RM + "math.inverse_sigmoid", _u(4, 4)),
    "MLP": _lazy(_RM + "math.MLP", _t(4, 16), given=(16, 32, 4, 3)),
    "PostProcess": _on(_of(_RM + "postprocess.PostProcess", 6), lambda m, o, s: m(o, s), _OUT, _i(64, 2, 2) + 32),
    "PostProcess masks": _on(
        _of(_RM + "postprocess.PostProcess", 6), lambda m, o, s: m(o, s), _MASKED, torch.tensor([[32, 32], [24, 32]])
    ),
    "PostProcess threshold": _on(
        _of(_RM + "postprocess.PostProcess", 6),
        lambda m, o, s: m(o, s, score_threshold=0.6),
        *(_MASKED, torch.tensor([[32, 32], [24, 32]])),
    ),
    "matcher": _on(_MATCHER, lambda m, o, t: m(o, t), _OUT, [_target(3), _target(2)]),
    "matcher groups": _on(_MATCHER, lambda m, o, t: m(o, t, group_detr=2), _OUT, [_target(3), _target(2)]),
    "matcher masks": _on(_MATCHER, lambda m, o, t: m(o, t), _MASKED, [_target(3, True), _target(2, True)]),
    "criterion": _criterion(_AUX, ["labels", "boxes", "cardinality"]),
    "criterion ia": _criterion(_AUX, ["labels", "boxes", "cardinality"], ia_bce_loss=True),
    "criterion varifocal": _criterion(_OUT, ["labels", "boxes"], use_varifocal_loss=True),
    "criterion position": _criterion(_OUT, ["labels", "boxes"], use_position_supervised_loss=True),
    "criterion masks": _criterion(_MASKED, ["labels", "boxes", "masks"], True),
    "focal": _fun(_RM + "criterion.sigmoid_focal_loss", _t(2, 10, 5), _u(2, 10, 5).round(), torch.tensor(3.0)),
    "varifocal": _fun(_RM + "criterion.sigmoid_varifocal_loss", _t(2, 10, 5), _u(2, 10, 5), torch.tensor(3.0)),
    "dice": _fun(_RM + "criterion.dice_loss", _t(4, 30), _u(4, 30).round(), 4.0),
    "sine embed": _fun(_RM + "transformer.gen_sineembed_for_position", _u(2, 10, 4), 16),
    "proposals": _fun(
        *(_RM + "transformer.gen_encoder_output_proposals", _t(2, 80, 16), torch.zeros(2, 80, dtype=torch.bool)),
        *([(8, 8), (4, 4)],),
    ),
    "PositionEmbeddingSine": lambda: held(
        _get(_RM + "position_encoding.PositionEmbeddingSine")(16, normalize=True), lambda m, x: m(x), (_NESTED(),)
    ),
    "MultiScaleProjector": _on(
        _of(_RM + "backbone.projector.MultiScaleProjector", [16, 16], 16, [2.0, 1.0, 0.5], 1, True),
        lambda m, *x: m(list(x)),
        *(_t(1, 16, 8, 8), _t(1, 16, 8, 8)),
    ),
    "MSDeformAttn": _on(
        _of(_RM + "ops.modules.ms_deform_attn.MSDeformAttn", 32, 2, 4, 2),
        lambda m, *x: m(*x),
        *(_t(2, 10, 32), _u(2, 10, 2, 4), _t(2, 80, 32), torch.tensor([[8, 8], [4, 4]]), torch.tensor([0, 64])),
    ),
    "SegmentationHead": _on(
        _of(_RM + "heads.segmentation.SegmentationHead", 16, 2),
        lambda m, x, a, b: m(x, [a, b], (32, 32)),
        *(_t(2, 16, 4, 4), _t(2, 6, 16), _t(2, 6, 16)),
    ),
    "SegmentationHead sparse": _on(
        _of(_RM + "heads.segmentation.SegmentationHead", 16, 2),
        lambda m, x, a, b: m.sparse_forward(x, [a, b], (32, 32)),
        *(_t(2, 16, 4, 4), _t(2, 6, 16), _t(2, 6, 16)),
    ),
    "point_sample": _fun(_RM + "heads.segmentation.point_sample", _t(2, 3, 8, 8), _u(2, 6, 2), align_corners=False),
    "uncertain points": lambda: _using(
        _RM + "heads.segmentation.get_uncertain_point_coords_with_randomness",
        lambda f, x: f(x, lambda y: -y.abs(), 12),
        (_t(2, 1, 8, 8),),
    ),
    "keypoint loss": _fun(
        _RM + "heads.keypoints.compute_l1_keypoint_loss",
        *(_t(3, 4, 8), _KEYPOINTS, torch.zeros(3, dtype=torch.long), _u(3) + 0.1, [4]),
    ),
    "keypoint cost": _fun(
        _RM + "heads.keypoints.compute_keypoint_matching_cost",
        *(_t(2, 6, 4, 8), _KEYPOINTS, torch.zeros(3, dtype=torch.long), _u(3) + 0.1, [4]),
    ),
    "Transformer": _on(
        _of(
            _RM + "transformer.Transformer",
            d_model=32,
            sa_nhead=2,
            ca_nhead=2,
            num_queries=6,
            num_decoder_layers=2,
            dim_feedforward=32,
            return_intermediate_dec=True,
            num_feature_levels=1,
            dec_n_points=2,
            lite_refpoint_refine=True,
        ),
        lambda m, s, k, p, r, q: m([s], [k], [p], r, q),
        *(_t(2, 32, 8, 8), torch.zeros(2, 8, 8, dtype=torch.bool), _t(2, 32, 8, 8), _u(6, 4), _t(6, 32)),
    ),
    "matching data": lambda: _using(
        _RE + "matching.build_matching_data",
        lambda f, p, t: f([p], [t]),
        (
            {"boxes": _corners(4), "scores": _u(4), "labels": _i(2, 4)},
            {"boxes": _corners(3), "labels": _i(2, 3), "iscrowd": torch.zeros(3, dtype=torch.long)},
        ),
    ),
    "mask iou": _fun(_RE + "matching._compute_mask_iou", _u(4, 16, 16) > 0.5, _u(3, 16, 16) > 0.5),
}

_W = "torchgeo."
_WM, _WL = _W + "models.", _W + "losses.qr."
_ALIBI = _t(2, 16, 16)
_TORCHGEO: dict[str, Callable[[], Built]] = {
    "FCN": _lazy(_WM + "fcn.FCN", _t(2, 3, 16, 16), in_channels=3, classes=4, num_filters=8),
    "ConvLSTM": _lazy(
        _WM + "convlstm.ConvLSTM", _t(2, 4, 3, 8, 8), input_dim=3, hidden_dim=8, kernel_size=3, num_layers=2
    ),
    "ConvLSTM all": _lazy(
        *(_WM + "convlstm.ConvLSTM", _t(4, 2, 3, 8, 8)),
        input_dim=3,
        hidden_dim=[8, 4],
        kernel_size=[(3, 3), (5, 5)],
        num_layers=2,
        batch_first=False,
        return_all_layers=True,
    ),
    "LTAE": _lazy(_WM + "ltae.LTAE", _t(2, 12, 32), in_channels=32, n_head=4, d_k=4, n_neurons=(32, 16), d_model=32),
    "LTAE positions": _lazy(
        *(_WM + "ltae.LTAE", _t(2, 12, 32)),
        in_channels=32,
        n_head=4,
        d_k=4,
        n_neurons=(32, 16),
        d_model=None,
        positions=list(range(0, 24, 2)),
    ),
    "CROMA": _lazy(
        *(_WM + "croma.CROMA", _t(1, 2, 32, 32), _t(1, 12, 32, 32)),
        encoder_dim=32,
        encoder_depth=2,
        num_heads=2,
        image_size=32,
    ),
    "CROMA sar": _lazy(
        *(_WM + "croma.CROMA", _t(1, 2, 32, 32)),
        modalities=["sar"],
        encoder_dim=32,
        encoder_depth=2,
        num_heads=2,
        image_size=32,
    ),
    "alibi": _fun(_WM + "croma.get_2dalibi", 2, 16),
    "croma attention": _lazy(_WM + "croma.Attention", _t(1, 16, 32), _ALIBI[None], dim=32, num_heads=2),
    "DOFA": _on(
        _of(_WM + "dofa.DOFA", img_size=32, embed_dim=32, depth=2, num_heads=2, dynamic_embed_dim=32, num_classes=4),
        lambda m, x: m(x, [0.6, 0.5, 0.4]),
        _t(1, 3, 32, 32),
    ),
    "DOFA cls": _on(
        _of(
            _WM + "dofa.DOFA", img_size=32, embed_dim=32, depth=2, num_heads=2, dynamic_embed_dim=32, global_pool=False
        ),
        lambda m, x: m(x, [0.6, 0.5, 0.4]),
        _t(1, 3, 32, 32),
    ),
    "dofa positions": _fun(_WM + "dofa.position_embedding", 16, _u(3)),
    "FourierExpansion": _on(_of(_WM + "copernicusfm.FourierExpansion", 0.1, 1000.0), lambda m, x: m(x, 16), _u(4) + 1),
    "CopernicusFM": _on(
        _of(_WM + "copernicusfm.CopernicusFM", img_size=32, embed_dim=32, depth=2, num_heads=2, num_classes=3),
        lambda m, x, d: m(x, d, [664.6, 559.8], [31.0, 36.0], None, "spectral", 16),
        *(_t(1, 2, 32, 32), torch.tensor([[-120.0, 37.0, 18262.0, 0.01]])),
    ),
    "CopernicusFM variable": _on(
        _of(_WM + "copernicusfm.CopernicusFM", img_size=32, embed_dim=32, depth=2, num_heads=2, num_classes=3),
        lambda m, x, d, e: m(x, d, language_embed=e, input_mode="variable", kernel_size=8),
        *(_t(1, 1, 32, 32), torch.full((1, 4), float("nan")), _t(2048)),
    ),
    "resize pos": _fun(_WM + "copernicusfm.resize_abs_pos_embed", _t(1, 17, 16), 8, 4),
    "resize patch": _fun(_WM + "copernicusfm.pi_resize_patch_embed", _t(8, 3, 8, 8), (4, 4)),
    "MixVPR": _lazy(_WM + "earthloc.MixVPR", _t(2, 16, 8, 8), in_channels=16, in_h=8, in_w=8, out_channels=8),
    "EarthLoc": _lazy(
        *(_WM + "earthloc.EarthLoc", _u(1, 3, 64, 64)),
        image_size=64,
        desc_dim=64,
        backbone="resnet18",
        pretrained=False,
    ),
    "FarSeg": _lazy(_WM + "farseg.FarSeg", _t(2, 3, 64, 64), backbone="resnet18", classes=4, backbone_pretrained=False),
    "ChangeStar": _lazy(
        *(_WM + "changestar.ChangeStarFarSeg", _t(2, 2, 3, 64, 64)),
        backbone="resnet18",
        classes=2,
        backbone_pretrained=False,
    ),
    "FCSiamConc": _lazy(_WM + "fcsiam.FCSiamConc", _t(1, 2, 3, 32, 32), encoder_name="resnet18", encoder_weights=None),
    "FCSiamDiff": _lazy(_WM + "fcsiam.FCSiamDiff", _t(1, 2, 3, 32, 32), encoder_name="resnet18", encoder_weights=None),
    "BTC": _lazy(_WM + "btc.BTC", _t(1, 2, 3, 64, 64), backbone="swin_tiny"),
    "ChangeViT": _lazy(_WM + "changevit.ChangeViT", _t(1, 2, 3, 32, 32), backbone="vit_tiny_patch16_224", img_size=32),
    "ChnEmb": _lazy(_WM + "panopticon.ChnEmb", torch.tensor([[664, 559, -1, -2]]), given=(32,)),
    "Panopticon embed": _fun(_WM + "panopticon.get_1d_sincos_pos_embed_from_grid_torch", 16, _u(6)),
    "ipe": _fun(_WM + "panopticon.get_1d_sincos_ipe_analytical", _u(6) + 1, _u(6), 16),
    "scale positions": _fun(
        *(_WM + "scale_mae.get_2d_sincos_pos_embed_with_resolution", 16, 4, torch.ones(2)), cls_token=True
    ),
    "ScaleMAE": _lazy(
        *(_WM + "scale_mae.ScaleMAE", _t(1, 3, 32, 32)),
        res=1.0,
        img_size=32,
        embed_dim=32,
        depth=1,
        num_heads=2,
        num_classes=0,
    ),
    "QRLoss": _lazy(_WL + "QRLoss", torch.softmax(_t(2, 4, 8, 8), 1), torch.softmax(_t(2, 4, 8, 8), 1)),
    "RQLoss": _lazy(_WL + "RQLoss", torch.softmax(_t(2, 4, 8, 8), 1), torch.softmax(_t(2, 4, 8, 8), 1)),
    "NDVI": _lazy(_W + "transforms.AppendNDVI", _u(2, 4, 8, 8), index_nir=3, index_red=0),
    "GRNDVI": _lazy(_W + "transforms.AppendGRNDVI", _u(2, 4, 8, 8), index_nir=3, index_green=1, index_red=0),
    "RandomGrayscale": _lazy(_W + "transforms.RandomGrayscale", _u(2, 3, 8, 8), given=(torch.ones(3) / 3,), p=1.0),
    "SatSlideMix": _lazy(_W + "transforms.SatSlideMix", _u(2, 3, 8, 8), gamma=2, p=1.0),
}

_K = "pytabkit.models."
_KN, _KM = _K + "nn_models.", _K + "training.metrics."
_ROWS, _KINDS, _CLASSES = _t(8, 5), _i(3, 8, 2), _i(3, 8, 1)
_BACKBONE = {"type": "MLP", "n_blocks": 2, "d_block": 16, "dropout": 0.1}
_CAT = torch.tensor([False, False, False, True, True])
_MIXED = torch.cat([_t(8, 3), _i(3, 8, 2).float() - 1], 1)


def _tabm(kind: str, **options: Any) -> Callable[[], Built]:
    """An ensemble of networks on a table."""
    return _lazy(
        *(_KN + "tabm.Model", _ROWS, _KINDS),
        **{
            "n_num_features": 5,
            "cat_cardinalities": [3, 3],
            "n_classes": 3,
            "backbone": dict(_BACKBONE),
            "bins": None,
            "arch_type": kind,
            "k": 4,
            **options,
        },
    )


def _scored(name: str, *inputs: torch.Tensor) -> Callable[[], Built]:
    """What a metric says of predictions."""
    return lambda: _using(_KM + "Metrics", lambda metrics, *x: metrics.apply(*x, name), inputs)


def _first_batch(model: Any, numbers: torch.Tensor, kinds: torch.Tensor) -> Any:
    """What a network says when it has set itself up by a first batch."""
    with torch.no_grad():
        model(numbers, kinds, init=True)
    return model(numbers, kinds)


_BINS = [torch.tensor([-2.0, -0.5, 0.5, 2.0]), *(torch.tensor([-2.0, 0.0, 2.0]) for _ in range(4))]
_NET = {"categories": [4, 4], "d_embedding": 4, "d_out": 3, "regression": False, "categorical_indicator": _CAT}
_PYTABKIT: dict[str, Callable[[], Built]] = {
    "tabm": _tabm("tabm"),
    "tabm-mini": _tabm("tabm-mini"),
    "tabm-packed": _tabm("tabm-packed"),
    "plain": _tabm("plain", k=None),
    "tabm batches": _tabm("tabm", share_training_batches=False),
    "tabm embeddings": _tabm(
        "tabm", num_embeddings={"type": "PeriodicEmbeddings", "d_embedding": 8, "lite": False, "n_frequencies": 4}
    ),
    "OneHotEncoding0d": _lazy(_KN + "tabm.OneHotEncoding0d", _KINDS, given=([3, 3],)),
    "OneHotEncoder": _lazy(_KN + "tabr_lib.OneHotEncoder", _KINDS - 1, given=([3, 3],)),
    "CatEmbeddings": _lazy(_KN + "tabr_lib.CatEmbeddings", _KINDS, given=([3, 3], 4), stack=True),
    "PLREmbeddings": _lazy(_KN + "tabr_lib.PLREmbeddings", _ROWS, given=(5, 4, 0.1, 8), lite=True),
    "PBLDEmbeddings": _lazy(_KN + "tabr_lib.PBLDEmbeddings", _ROWS, given=(5, 4, 0.1, 8)),
    "RTDL_MLP": _lazy(
        *(_KN + "rtdl_resnet.RTDL_MLP", _MIXED),
        d_in=3,
        n_layers=2,
        d_layers=16,
        d_first_layer=16,
        d_last_layer=16,
        dropout=0.1,
        **_NET,
    ),
    "ResNet": _lazy(
        *(_KN + "rtdl_resnet.ResNet", _MIXED),
        d_in=3,
        d=16,
        d_hidden_factor=2.0,
        n_layers=2,
        activation="reglu",
        normalization="batchnorm",
        hidden_dropout=0.1,
        residual_dropout=0.1,
        **_NET,
    ),
    "FT_Transformer": _lazy(
        *(_KN + "rtdl_resnet.FT_Transformer", _MIXED),
        d_in=3,
        categories=[4, 4],
        token_bias=True,
        n_layers=2,
        d_token=16,
        n_heads=2,
        d_ffn_factor=2.0,
        attention_dropout=0.1,
        ffn_dropout=0.1,
        residual_dropout=0.1,
        activation="reglu",
        prenormalization=True,
        initialization="kaiming",
        kv_compression=None,
        kv_compression_sharing=None,
        d_out=3,
        regression=False,
        categorical_indicator=_CAT,
    ),
    "Piecewise": _lazy(_KN + "rtdl_num_embeddings.PiecewiseLinearEncoding", _ROWS, given=(_BINS,)),
    "PiecewiseLinearEmbeddings": _lazy(
        _KN + "rtdl_num_embeddings.PiecewiseLinearEmbeddings", _ROWS, given=(_BINS, 4), activation=True, version="B"
    ),
    "PeriodicEmbeddings": _lazy(_KN + "rtdl_num_embeddings.PeriodicEmbeddings", _ROWS, given=(5, 8), lite=False),
    "RealMLP": lambda: held(
        _get(_K + "realmlp.model.RealMLP")(5, [4, 4], 3, 2, _get(_K + "realmlp.model.RealMLPConfig").td_class(), True),
        _first_batch,
        (_t(2, 8, 5), _i(4, 2, 8, 2)),
    ),
    "RealMLP regression": lambda: held(
        _get(_K + "realmlp.model.RealMLP")(5, [], 1, 2, _get(_K + "realmlp.model.RealMLPConfig").td_reg(), False),
        lambda m, x, c: m(x, c),
        (_t(2, 8, 5), _i(4, 2, 8, 0)),
    ),
    "cross_entropy": _fun(_KM + "cross_entropy", _t(8, 3), _CLASSES),
    "brier": _fun(_KM + "brier_loss", _t(8, 3), _CLASSES),
    "mse": _fun(_KM + "mse", _t(8, 1), _t(8, 1)),
    "pinball": _fun(_KM + "multi_pinball_loss", _t(8, 3), _t(8, 1), [0.1, 0.5, 0.9]),
    "y_probs": _fun(_KM + "get_y_probs", _CLASSES, 3),
    "remove_missing": _fun(_KM + "remove_missing_classes", _t(8, 4), _i(3, 8)),
    **{
        f"metric {name}": _scored(name, _t(8, 3), _CLASSES)
        for name in (
            "class_error",
            "cross_entropy",
            "brier",
            "1-auroc-ovr",
            "1-auroc-ovo",
            "ece",
            "1-balanced_accuracy",
        )
    },
    **{f"metric {name}": _scored(name, _t(8, 1), _t(8, 1)) for name in ("rmse", "mae", "nrmse")},
    "quantile": _fun(_K + "torch_utils.torch_np_quantile", _t(8, 5), 0.5, 0),
    "permute_idxs": _fun(_K + "torch_utils.permute_idxs", torch.arange(8), 3),
    "batch_randperm": _fun(_K + "torch_utils.batch_randperm", 3, 8),
    "clamp identity": _fun(_K + "torch_utils.clamp_with_identity_gradient_func", _t(8), torch.zeros(8), torch.ones(8)),
}

_P = "neuralprophet."
_PC = _P + "components."


def _trend(points: int, several: bool, growth: str = "linear") -> Callable[[], Built]:
    """A trend of one or several series."""
    config = SimpleNamespace(
        growth=growth,
        changepoints=None,
        n_changepoints=points,
        changepoints_range=0.8,
        trend_reg=0,
        trend_reg_threshold=None,
        trend_global_local="local" if several else "global",
        trend_local_reg=False,
    )
    names, n = (["a", "b"], 2) if several else (["__df__"], 1)
    return _on(
        _of(_PC + "router.get_trend", config, 3, [0.5, 0.9], names, n, torch.device("cpu")),
        lambda m, t, i: m(t, i),
        *(_u(4, 5), _i(n, 4)),
    )


def _regressors(model: str) -> Callable[[], Built]:
    """Regressors that are known in advance."""
    found = OrderedDict((n, SimpleNamespace(mode="additive", reg_lambda=None, normalize="auto")) for n in ("a", "b"))
    config = SimpleNamespace(model=model, d_hidden=8, num_hidden_layers=2, regressors=found)
    return _on(
        _of(_PC + "router.get_future_regressors", config, ["__df__"], [0.5, 0.9], 3, torch.device("cpu"), False),
        lambda m, x: m(x, "additive"),
        _t(4, 5, 2),
    )


def _seasons(kind: str) -> Callable[[], Built]:
    """Seasons of one or several series."""
    shared = kind == "global"
    kinds = {"yearly": kind, "weekly": kind} if kind != "glocal" else {"yearly": "global", "weekly": "local"}
    periods = OrderedDict(
        (n, SimpleNamespace(resolution=r, period=10.0, global_local=kinds[n], condition_name=None))
        for n, r in (("yearly", 3), ("weekly", 2))
    )
    config = SimpleNamespace(mode="additive", periods=periods, global_local=kind, computation="fourier")
    counts = {n: 1 if k == "global" else 2 for n, k in kinds.items()}
    return _on(
        _of(
            *(_PC + "router.get_seasonality", config, ["__df__"] if shared else ["a", "b"], [0.5, 0.9]),
            *(1 if shared else 2, counts, 3, torch.device("cpu")),
        ),
        lambda m, a, b, i: m({"yearly": a, "weekly": b}, i),
        *(_t(4, 5, 6), _t(4, 5, 4), _i(1 if shared else 2, 4)),
    )


_NEURALPROPHET: dict[str, Callable[[], Built]] = {
    **{
        f"trend {points} {'local' if several else 'global'}": _trend(points, several)
        for points in (0, 4)
        for several in (False, True)
    },
    "trend off": _trend(0, False, "off"),
    "trend discontinuous": _trend(4, False, "discontinuous"),
    "trend discontinuous local": _trend(4, True, "discontinuous"),
    **{
        f"regressors {model}": _regressors(model)
        for model in ("linear", "neural_nets", "shared_neural_nets", "shared_neural_nets_coef")
    },
    **{f"seasons {kind}": _seasons(kind) for kind in ("global", "local", "glocal")},
    "PinballLoss": _lazy(
        _P + "custom_loss_metrics.PinballLoss",
        *(_t(4, 3, 2), _t(4, 3, 1)),
        loss_func=torch.nn.SmoothL1Loss(reduction="none"),
        quantiles=[0.5, 0.9],
    ),
    "DeepNet": _lazy(_P + "time_net.DeepNet", _t(4, 6), d_inputs=6, d_outputs=3, lagged_reg_layers=[8]),
    "FlatNet": _lazy(_P + "time_net.FlatNet", _t(4, 6), d_inputs=6, d_outputs=3),
    "penalize": _fun(_P + "utils_torch.penalize_nonzero", _t(4, 6)),
    "init_parameter": _fun(_P + "utils_torch.init_parameter", [2, 3]),
    "reg trend": _fun(_P + "utils.reg_func_trend", _t(2, 3, 4), 0.1),
    "reg season": _fun(_P + "utils.reg_func_season", _t(2, 3, 4)),
    "reg glocal": _fun(_P + "utils.reg_func_trend_glocal", _t(2, 3, 1), _t(2, 3, 4), 0.5),
    "error": _fun(_P + "utils.symmetric_total_percentage_error", _u(8), _u(8)),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"f5_tts/{name}": build for name, build in _F5.items()},
    **{f"rfdetr/{name}": build for name, build in _RFDETR.items()},
    **{f"torchgeo/{name}": build for name, build in _TORCHGEO.items()},
    **{f"pytabkit/{name}": build for name, build in _PYTABKIT.items()},
    **{f"neuralprophet/{name}": build for name, build in _NEURALPROPHET.items()},
}

"""Models and image functions of vit-pytorch, kornia, pytorch-wavelets, pytorch-msssim, diffusers and monai."""

from __future__ import annotations

import importlib
import importlib.util
from functools import partial
from typing import Any

import torch

from accuracy_models.stand_ins import bare


def _tensor(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(0))


def _image(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=torch.Generator().manual_seed(0))


def _vit(module: str, name: str, options: dict[str, Any], *shapes: tuple[int, ...]) -> tuple[Any, list[Any]]:
    bare("vit_pytorch")
    model = getattr(importlib.import_module(module), name)(**options)
    return model, [(_tensor(*shape),) for shape in shapes or ((1, 3, 64, 64), (2, 3, 64, 64))]


_BASE = {"image_size": 64, "patch_size": 16, "num_classes": 5, "dim": 32, "depth": 2, "heads": 2, "mlp_dim": 64}
_VIT: list[tuple[str, str, dict[str, Any]]] = [
    ("vit_pytorch.vit", "ViT", _BASE),
    ("vit_pytorch.simple_vit", "SimpleViT", _BASE),
    ("vit_pytorch.vit_with_patch_dropout", "ViT", _BASE | {"patch_dropout": 0.25}),
    ("vit_pytorch.deepvit", "DeepViT", _BASE),
    ("vit_pytorch.cait", "CaiT", _BASE | {"cls_depth": 1, "layer_dropout": 0.2}),
    (
        "vit_pytorch.t2t",
        "T2TViT",
        {
            "dim": 32,
            "image_size": 64,
            "depth": 2,
            "heads": 2,
            "mlp_dim": 64,
            "num_classes": 5,
            "t2t_layers": ((7, 4), (3, 2)),
        },
    ),
    ("vit_pytorch.vit_for_small_dataset", "ViT", _BASE),
    ("vit_pytorch.parallel_vit", "ViT", _BASE),
    (
        "vit_pytorch.regionvit",
        "RegionViT",
        {
            "dim": (16, 16, 16, 16),
            "depth": (1, 1, 1, 1),
            "window_size": 2,
            "num_classes": 5,
            "tokenize_local_3_conv": False,
        },
    ),
    (
        "vit_pytorch.crossformer",
        "CrossFormer",
        {
            "dim": (16, 16, 32, 32),
            "depth": (1, 1, 1, 1),
            "global_window_size": (4, 2, 2, 1),
            "local_window_size": 2,
            "num_classes": 5,
        },
    ),
    (
        "vit_pytorch.scalable_vit",
        "ScalableViT",
        {
            "num_classes": 5,
            "dim": 16,
            "heads": (1, 1, 1, 1),
            "depth": (1, 1, 1, 1),
            "ssa_dim_key": (8, 8, 8, 8),
            "ssa_dim_value": (8, 8, 8, 8),
            "reduction_factor": (2, 2, 1, 1),
            "window_size": (2, 2, None, None),
            "dropout": 0.1,
        },
    ),
    ("vit_pytorch.vit_with_patch_merger", "ViT", _BASE | {"patch_merge_layer": 1, "patch_merge_num_tokens": 4}),
    ("vit_pytorch.ats_vit", "ViT", _BASE | {"max_tokens_per_depth": (12, 6)}),
    (
        "vit_pytorch.mobile_vit",
        "MobileViT",
        {
            "image_size": (64, 64),
            "dims": [16, 16, 16],
            "channels": [8, 8, 8, 8, 8, 8, 8, 8, 8, 8, 32],
            "num_classes": 5,
        },
    ),
    ("vit_pytorch.xcit", "XCiT", _BASE | {"cls_depth": 1, "layer_dropout": 0.2}),
    (
        "vit_pytorch.look_vit",
        "LookViT",
        {
            "dim": 32,
            "image_size": 64,
            "num_classes": 5,
            "depth": 1,
            "patch_size": 16,
            "heads": 2,
            "dim_head": 16,
            "highres_patch_size": 8,
            "highres_cross_attn_heads": 2,
        },
    ),
    ("vit_pytorch.simple_vit_with_register_tokens", "SimpleViT", _BASE),
    ("vit_pytorch.max_vit", "MaxViT", {"num_classes": 5, "dim": 16, "depth": (1, 1), "window_size": 4, "dim_head": 8}),
]


def _navit() -> tuple[Any, list[Any]]:
    bare("vit_pytorch")
    module = importlib.import_module("vit_pytorch.na_vit")
    model = module.NaViT(**_BASE | {"token_dropout_prob": 0.1})
    return model, [([[_tensor(3, 32, 48), _tensor(3, 64, 64)], [_tensor(3, 48, 32)]],)]


def _mae() -> tuple[Any, list[Any]]:
    bare("vit_pytorch")
    vit, mae = importlib.import_module("vit_pytorch.vit"), importlib.import_module("vit_pytorch.mae")
    return mae.MAE(encoder=vit.ViT(**_BASE), decoder_dim=32), [(_tensor(b, 3, 64, 64),) for b in (1, 2)]


def _simmim() -> tuple[Any, list[Any]]:
    bare("vit_pytorch")
    vit, mim = importlib.import_module("vit_pytorch.vit"), importlib.import_module("vit_pytorch.simmim")
    return mim.SimMIM(encoder=vit.ViT(**_BASE)), [(_tensor(b, 3, 64, 64),) for b in (1, 2)]


def _call(path: str, *inputs: Any) -> tuple[Any, list[Any]]:
    """A function by its dotted path, on argument tuples."""
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name), list(inputs)


def _made(path: str, options: dict[str, Any], *inputs: Any) -> tuple[Any, list[Any]]:
    """An instance of a class by its dotted path, on argument tuples."""
    made, _ = _call(path)
    return made(**options), list(inputs)


def _homography(scale: float) -> torch.Tensor:
    return torch.eye(3)[None].repeat(2, 1, 1) * scale


_A, _B = _image(2, 3, 32, 32), _image(1, 3, 24, 40)
_P, _Q = _image(2, 8, 2) * 10, _image(2, 8, 2) * 10 + 1
_KORNIA: dict[str, Any] = {
    "ColorJitter": partial(
        _made,
        "kornia.augmentation.ColorJitter",
        {"brightness": 0.1, "contrast": 0.1, "saturation": 0.1, "hue": 0.1, "p": 0.5},
        (_A,),
        (_B,),
    ),
    "RandomHorizontalFlip": partial(_made, "kornia.augmentation.RandomHorizontalFlip", {"p": 0.5}, (_A,), (_B,)),
    "RandomAffine": partial(_made, "kornia.augmentation.RandomAffine", {"degrees": 15.0, "p": 0.5}, (_A,), (_B,)),
    "RandomErasing": partial(_made, "kornia.augmentation.RandomErasing", {"p": 0.5}, (_A,), (_B,)),
    "RandomGaussianBlur": partial(
        _made, "kornia.augmentation.RandomGaussianBlur", {"kernel_size": (3, 3), "sigma": (0.1, 2.0)}, (_A,), (_B,)
    ),
    "RandomCrop": partial(_made, "kornia.augmentation.RandomCrop", {"size": (16, 16)}, (_A,), (_B,)),
    "RandomMixUpV2": partial(_made, "kornia.augmentation.RandomMixUpV2", {}, (_A,)),
    "RandomElasticTransform": partial(_made, "kornia.augmentation.RandomElasticTransform", {}, (_A,), (_B,)),
    "HomographyWarper": partial(
        _made, "kornia.geometry.transform.HomographyWarper", {"height": 16, "width": 16}, (_A, _homography(1.0))
    ),
    "warp_perspective": partial(_call, "kornia.geometry.transform.warp_perspective", (_A, _homography(1.0), (16, 16))),
    "find_homography_dlt": partial(_call, "kornia.geometry.homography.find_homography_dlt", (_P, _Q)),
    "find_fundamental": partial(_call, "kornia.geometry.epipolar.find_fundamental", (_P, _Q)),
    "gaussian_blur2d": partial(
        _call, "kornia.filters.gaussian_blur2d", (_A, (3, 3), (1.0, 1.0)), (_B, (3, 3), (1.0, 1.0))
    ),
    "canny": partial(_call, "kornia.filters.canny", (_A,), (_B,)),
    "bilateral_blur": partial(_call, "kornia.filters.bilateral_blur", (_A, 3, 0.1, (1.5, 1.5))),
    "rgb_to_lab": partial(_call, "kornia.color.rgb_to_lab", (_A,), (_B,)),
    "rgb_to_hsv": partial(_call, "kornia.color.rgb_to_hsv", (_A,), (_B,)),
    "adjust_hue": partial(_call, "kornia.enhance.adjust_hue", (_A, 0.1)),
    "equalize": partial(_call, "kornia.enhance.equalize", (_A,)),
    "equalize_clahe": partial(_call, "kornia.enhance.equalize_clahe", (_A,)),
    "posterize": partial(_call, "kornia.enhance.posterize", (_A, 4)),
    "harris_response": partial(_call, "kornia.feature.harris_response", (_image(2, 1, 32, 32),)),
    "HardNet": partial(_made, "kornia.feature.HardNet", {}, (_image(2, 1, 32, 32),), (_image(3, 1, 32, 32),)),
    "SIFTDescriptor": partial(_made, "kornia.feature.SIFTDescriptor", {"patch_size": 32}, (_image(2, 1, 32, 32),)),
    "KeyNetDetector": partial(_made, "kornia.feature.KeyNetDetector", {"num_features": 8}, (_image(1, 1, 64, 64),)),
    "match_smnn": partial(_call, "kornia.feature.match_smnn", (_tensor(6, 8), _tensor(9, 8), 0.95)),
    "focal_loss": partial(_call, "kornia.losses.focal_loss", (_tensor(2, 4, 8, 8), torch.ones(2, 8, 8).long(), 0.5)),
    "dice_loss": partial(_call, "kornia.losses.dice_loss", (_tensor(2, 4, 8, 8), torch.ones(2, 8, 8).long())),
    "ssim_loss": partial(_call, "kornia.losses.ssim_loss", (_A, _A * 0.5, 5)),
    "HausdorffERLoss": partial(
        _made, "kornia.losses.HausdorffERLoss", {}, (_tensor(2, 2, 8, 8), torch.ones(2, 1, 8, 8).long())
    ),
    "mean_iou": partial(_call, "kornia.metrics.mean_iou", (torch.ones(2, 8, 8).long(), torch.ones(2, 8, 8).long(), 3)),
    "Quaternion": partial(_call, "kornia.geometry.conversions.axis_angle_to_rotation_matrix", (_tensor(4, 3),)),
    "undistort_points": partial(
        _call,
        "kornia.geometry.calibration.undistort_points",
        (_P, torch.eye(3)[None].repeat(2, 1, 1), _tensor(2, 4) * 0.01),
    ),
    "solve_pnp_dlt": partial(
        _call, "kornia.geometry.calibration.solve_pnp_dlt", (_tensor(1, 8, 3), _tensor(1, 8, 2), torch.eye(3)[None])
    ),
    "connected_components": partial(_call, "kornia.contrib.connected_components", (_image(1, 1, 16, 16).round(), 10)),
    "distance_transform": partial(_call, "kornia.contrib.distance_transform", (_image(1, 1, 16, 16).round(),)),
    "nms": partial(
        _call,
        "kornia.geometry.bbox.nms",
        (torch.tensor([[0.0, 0, 4, 4], [1, 1, 4, 4], [8, 8, 9, 9]]), torch.tensor([0.9, 0.8, 0.7]), 0.5),
    ),
}


def _unet() -> tuple[Any, list[Any]]:
    diffusers = importlib.import_module("diffusers")
    model = diffusers.UNet2DModel(
        sample_size=16,
        block_out_channels=(32, 32),
        norm_num_groups=8,
        layers_per_block=1,
        down_block_types=("DownBlock2D", "AttnDownBlock2D"),
        up_block_types=("AttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=8,
    )
    return model, [{"sample": _tensor(b, 3, 16, 16), "timestep": torch.tensor(7)} for b in (1, 2)]


def _unet_condition() -> tuple[Any, list[Any]]:
    diffusers = importlib.import_module("diffusers")
    model = diffusers.UNet2DConditionModel(
        sample_size=16,
        block_out_channels=(32, 32),
        norm_num_groups=8,
        layers_per_block=1,
        cross_attention_dim=16,
        down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"),
        up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
        attention_head_dim=8,
    )
    return model, [
        {"sample": _tensor(b, 4, 16, 16), "timestep": 7, "encoder_hidden_states": _tensor(b, 5, 16)} for b in (1, 2)
    ]


def _vae() -> tuple[Any, list[Any]]:
    diffusers = importlib.import_module("diffusers")
    model = diffusers.AutoencoderKL(
        block_out_channels=(16, 16),
        norm_num_groups=8,
        down_block_types=("DownEncoderBlock2D",) * 2,
        up_block_types=("UpDecoderBlock2D",) * 2,
    )
    return model, [(_tensor(b, 3, 16, 16),) for b in (1, 2)]


def _vq() -> tuple[Any, list[Any]]:
    diffusers = importlib.import_module("diffusers")
    model = diffusers.VQModel(block_out_channels=(16,), norm_num_groups=8, num_vq_embeddings=16)
    return model, [(_tensor(b, 3, 16, 16),) for b in (1, 2)]


def _scheduler(name: str) -> tuple[Any, list[Any]]:
    scheduler = getattr(importlib.import_module("diffusers"), name)()
    scheduler.set_timesteps(10)
    return scheduler.step, [
        (_tensor(1, 3, 8, 8), scheduler.timesteps[3], _tensor(1, 3, 8, 8)),
        (_tensor(2, 3, 8, 8), scheduler.timesteps[4], _tensor(2, 3, 8, 8)),
    ]


_MONAI: dict[str, Any] = {
    "UNet": partial(
        _made,
        "monai.networks.nets.UNet",
        {"spatial_dims": 2, "in_channels": 1, "out_channels": 2, "channels": (4, 8, 16), "strides": (2, 2)},
        (_tensor(1, 1, 32, 32),),
        (_tensor(2, 1, 32, 32),),
    ),
    "UNETR": partial(
        _made,
        "monai.networks.nets.UNETR",
        {
            "in_channels": 1,
            "out_channels": 2,
            "img_size": 32,
            "spatial_dims": 2,
            "hidden_size": 24,
            "mlp_dim": 32,
            "num_heads": 2,
            "feature_size": 4,
        },
        (_tensor(1, 1, 32, 32),),
    ),
    "SwinUNETR": partial(
        _made,
        "monai.networks.nets.SwinUNETR",
        {"in_channels": 1, "out_channels": 2, "spatial_dims": 2, "feature_size": 12},
        (_tensor(1, 1, 64, 64),),
    ),
    "DynUNet": partial(
        _made,
        "monai.networks.nets.DynUNet",
        {
            "spatial_dims": 2,
            "in_channels": 1,
            "out_channels": 2,
            "kernel_size": [3, 3, 3],
            "strides": [1, 2, 2],
            "upsample_kernel_size": [2, 2],
            "filters": [4, 8, 8],
            "deep_supervision": True,
            "deep_supr_num": 1,
        },
        (_tensor(1, 1, 32, 32),),
    ),
    "SegResNet": partial(
        _made, "monai.networks.nets.SegResNet", {"spatial_dims": 2, "init_filters": 8}, (_tensor(1, 1, 32, 32),)
    ),
    "DiceLoss": partial(
        _made,
        "monai.losses.DiceLoss",
        {"softmax": True, "to_onehot_y": True},
        (_tensor(2, 3, 8, 8), torch.ones(2, 1, 8, 8)),
    ),
    "GeneralizedDiceLoss": partial(
        _made, "monai.losses.GeneralizedDiceLoss", {"softmax": True}, (_tensor(2, 3, 8, 8), torch.ones(2, 3, 8, 8))
    ),
    "FocalLoss": partial(
        _made, "monai.losses.FocalLoss", {"to_onehot_y": True}, (_tensor(2, 3, 8, 8), torch.ones(2, 1, 8, 8))
    ),
    "HausdorffDTLoss": partial(_made, "monai.losses.HausdorffDTLoss", {}, (_image(2, 1, 8, 8), torch.ones(2, 1, 8, 8))),
    "SoftclDiceLoss": partial(_made, "monai.losses.SoftclDiceLoss", {}, (_image(2, 2, 16, 16), _image(2, 2, 16, 16))),
    "TverskyLoss": partial(
        _made, "monai.losses.TverskyLoss", {"sigmoid": True}, (_tensor(2, 3, 8, 8), torch.ones(2, 3, 8, 8))
    ),
    "GlobalMutualInformationLoss": partial(
        _made, "monai.losses.GlobalMutualInformationLoss", {}, (_image(2, 1, 8, 8), _image(2, 1, 8, 8))
    ),
    "compute_dice": partial(
        _call, "monai.metrics.compute_dice", (_image(2, 3, 8, 8).round(), _image(2, 3, 8, 8).round())
    ),
    "compute_iou": partial(
        _call, "monai.metrics.compute_iou", (_image(2, 3, 8, 8).round(), _image(2, 3, 8, 8).round())
    ),
    "compute_confusion": partial(
        _call, "monai.metrics.get_confusion_matrix", (_image(2, 3, 8, 8).round(), _image(2, 3, 8, 8).round())
    ),
    "sliding_window": partial(
        _call,
        "monai.inferers.sliding_window_inference",
        (_image(1, 1, 24, 24), (16, 16), 2, torch.nn.Conv2d(1, 1, 3, padding=1)),
    ),
}

MODELS = {
    **{f"vit_pytorch/{module.partition('.')[2]}": partial(_vit, module, name, o) for module, name, o in _VIT},
    "vit_pytorch/na_vit": _navit,
    "vit_pytorch/mae": _mae,
    "vit_pytorch/simmim": _simmim,
    **{f"kornia/{name}": builder for name, builder in _KORNIA.items()},
    "diffusers/UNet2DModel": _unet,
    "diffusers/UNet2DConditionModel": _unet_condition,
    "diffusers/AutoencoderKL": _vae,
    "diffusers/VQModel": _vq,
    **{
        f"diffusers/{name}": partial(_scheduler, name)
        for name in (
            "DDPMScheduler",
            "DDIMScheduler",
            "EulerDiscreteScheduler",
            "DPMSolverMultistepScheduler",
            "PNDMScheduler",
            "UniPCMultistepScheduler",
        )
    },
    **{f"monai/{name}": builder for name, builder in _MONAI.items()},
    "pytorch_wavelets/DWTForward": partial(_made, "pytorch_wavelets.DWTForward", {"J": 2, "wave": "db2"}, (_A,), (_B,)),
    "pytorch_wavelets/DTCWTForward": partial(_made, "pytorch_wavelets.DTCWTForward", {"J": 2}, (_A,), (_B,)),
    "pytorch_msssim/ssim": partial(_call, "pytorch_msssim.ssim", (_A, _A * 0.9)),
    "pytorch_msssim/MS_SSIM": partial(
        _made, "pytorch_msssim.MS_SSIM", {"data_range": 1.0}, (_image(1, 3, 180, 180), _image(1, 3, 180, 180) * 0.9)
    ),
}

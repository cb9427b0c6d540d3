"""Models of open-metric-learning, classy-vision, mbrl, sample-factory and deeptime.

They were chosen after all of the twenty-third group, and written before `check` was run on these packages.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter, without_packages

_t, _u, _i = random_inputs(88)
_ABSENT = {
    "oml": ("torchvision", "albumentations", "cv2", "gdown", "validators", "lightning_fabric", "pytorch_lightning"),
    "classy_vision": ("torchvision", "fvcore", "ray", "cv2", "av"),
    "mbrl": ("hydra", "imageio", "skvideo", "dm_control", "dm_env", "pybulletgym", "gym", "termcolor", "mujoco"),
    "sample_factory": (
        *("signal_slot", "tensorboardX", "faster_fifo", "threadpoolctl", "cv2", "huggingface_hub", "colorlog"),
        *("wandb", "filelock", "psutil"),
    ),
    "deeptime": ("threadpoolctl",),
}
_BARE = ("oml", "classy_vision", "classy_vision.dataset", "classy_vision.dataset.transforms", "mbrl", "sample_factory")


def _nothing(*given: Any, **options: Any) -> None:
    """Stands for a function that nothing here needs."""


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))
    if package == "sample_factory":  # it sets its logs up when it is imported
        importlib.import_module("signal_slot.signal_slot").configure_logger = _nothing  # type: ignore[attr-defined]
        importlib.import_module("colorlog").ColoredFormatter = _nothing  # type: ignore[attr-defined]


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_OF, _OM = "oml.functional.", "oml.miners."
_EMB, _LABELS = _t(8, 6), torch.tensor([0, 0, 1, 1, 2, 2, 3, 3])
_DIST = torch.cdist(_EMB, _EMB)
_TOPS = [torch.tensor([True, False, True, False]), torch.tensor([False, True, True, False])]
_SAME = (_LABELS[:, None] == _LABELS[None]) & ~torch.eye(8, dtype=torch.bool)


def _mined(path: str, *given: Any, **options: Any) -> Built:
    """Triplets that a miner draws of a batch."""
    return held(_get(path)(*given, **options), lambda miner, x, y: miner.sample(x, y), (_EMB, _LABELS))


def _pca() -> Built:
    """Principal axes of vectors, and vectors along them."""
    made = _get("oml.utils.misc_torch.PCA")(_t(12, 6))
    return held(made, lambda pca, x: pca.inverse_transform(pca.transform(x, 3)), (_t(5, 6),))


def _online(kind: str) -> Callable[..., Any]:
    """Values that come a batch at a time."""

    def use(x: torch.Tensor) -> Any:
        made = _get("oml.utils.misc_torch." + kind)()
        made.update({"a": x, "b": x.mean()})
        made.update({"a": x * 2})
        return made.get_dict_with_results()

    return use


_OML: dict[str, Callable[[], Built]] = {
    "batched_knn_qg": lambda: _call(_OF + "knn.batched_knn_qg", (_EMB, _t(9, 6), 3)),
    "batched_knn": lambda: _call(
        _OF + "knn.batched_knn", (_EMB, torch.arange(3), torch.arange(3, 8), 2, None, _LABELS, 4)
    ),
    "label_smoothing": lambda: _call(_OF + "label_smoothing.label_smoothing", (_LABELS, 4)),
    "label_smoothing categories": lambda: _call(
        _OF + "label_smoothing.label_smoothing", (_LABELS, 4, 0.2, torch.tensor([0, 0, 1, 1]))
    ),
    "surrogate_precision": lambda: _call(_OF + "losses.surrogate_precision", (_DIST, _SAME, 3, 1.0, 0.1)),
    "calc_retrieval_metrics": lambda: _call(
        _OF + "metrics.calc_retrieval_metrics",
        ([torch.tensor([1, 2, 3]), torch.tensor([4, 5, 6])], [torch.tensor([1, 9]), torch.tensor([5])]),
        cmc_top_k=(1, 2),
        precision_top_k=(2,),
        map_top_k=(3,),
    ),
    "calc_retrieval_metrics all": lambda: _call(
        _OF + "metrics.calc_retrieval_metrics",
        ([torch.tensor([1, 2, 3]), torch.tensor([4, 5, 6])], [torch.tensor([1, 9]), torch.tensor([5])]),
        reduce=False,
    ),
    "calc_topological_metrics": lambda: _call(_OF + "metrics.calc_topological_metrics", (_EMB, (0.5, 0.9))),
    "calc_topological_metrics categories": lambda: _call(
        _OF + "metrics.calc_topological_metrics", (_EMB, (0.5,), _LABELS.numpy())
    ),
    "calc_cmc": lambda: _call(_OF + "metrics.calc_cmc", (_TOPS, [2, 3], (1, 2))),
    "calc_precision": lambda: _call(_OF + "metrics.calc_precision", (_TOPS, [2, 3], (1, 2))),
    "calc_map": lambda: _call(_OF + "metrics.calc_map", (_TOPS, [2, 3], (1, 2))),
    "calc_fnmr_at_fmr": lambda: _call(_OF + "metrics.calc_fnmr_at_fmr", (_u(20).numpy(), _u(30).numpy())),
    "calc_pcf": lambda: _call(_OF + "metrics.calc_pcf", (_EMB, (0.5, 0.9))),
    "reduce_metrics": lambda: _call(
        _OF + "metrics.reduce_metrics", ({"cmc": {1: _u(4), 5: _u(4)}, "map": {5: _u(4)}},)
    ),
    "take_unreduced_metrics_by_mask": lambda: _call(
        _OF + "metrics.take_unreduced_metrics_by_mask",
        ({"cmc": {1: _u(4), 5: _u(4)}}, torch.tensor([True, False, True, True])),
    ),
    "ArcFaceLoss": lambda: _made("oml.losses.arcface.ArcFaceLoss", [(_EMB, _LABELS)], 6, 4),
    "ArcFaceLoss smooth": lambda: _made(
        "oml.losses.arcface.ArcFaceLoss",
        [(_EMB, _LABELS)],
        6,
        4,
        smoothing_epsilon=0.1,
        label2category={0: 0, 1: 0, 2: 1, 3: 1},
    ),
    "SurrogatePrecision": lambda: _made("oml.losses.surrogate_precision.SurrogatePrecision", [(_EMB, _LABELS)], 1),
    "TripletLoss": lambda: _made(
        "oml.losses.triplet.TripletLoss", [(_t(4, 6), _t(4, 6), _t(4, 6))], 0.2, need_logs=True
    ),
    "TripletLoss soft": lambda: _made("oml.losses.triplet.TripletLoss", [(_t(4, 6), _t(4, 6), _t(4, 6))], None),
    "TripletLossPlain": lambda: _made("oml.losses.triplet.TripletLossPlain", [(_t(6, 5),)], 0.2),
    "TripletLossWithMiner": lambda: _made("oml.losses.triplet.TripletLossWithMiner", [(_EMB, _LABELS)], 0.2),
    "TripletLossWithMiner logs": lambda: _made(
        "oml.losses.triplet.TripletLossWithMiner",
        [(_EMB, _LABELS)],
        0.2,
        miner=_get(_OM + "inbatch_hard_tri.HardTripletsMiner")(),
        need_logs=True,
    ),
    "TripletMinerWithMemory": lambda: _mined(_OM + "cross_batch.TripletMinerWithMemory", 2, 2),
    "AllTripletsMiner": lambda: _mined(_OM + "inbatch_all_tri.AllTripletsMiner", 10),
    "get_available_triplets": lambda: _call(_OM + "inbatch_all_tri.get_available_triplets", (_LABELS.tolist(),)),
    "HardClusterMiner": lambda: _mined(_OM + "inbatch_hard_cluster.HardClusterMiner"),
    "HardTripletsMiner": lambda: _mined(_OM + "inbatch_hard_tri.HardTripletsMiner"),
    "NHardTripletsMiner": lambda: _mined(_OM + "inbatch_nhard_tri.NHardTripletsMiner", n_positive=(1, 1), n_negative=2),
    "MinerWithBank": lambda: _mined(
        _OM + "miner_with_bank.MinerWithBank", 2, _get(_OM + "inbatch_nhard_tri.NHardTripletsMiner")(1, 2)
    ),
    "PairsMiner": lambda: _mined(_OM + "pairs.PairsMiner"),
    "PairsMiner all": lambda: _mined(_OM + "pairs.PairsMiner", hard_mining=False),
    "take_2d": lambda: _call("oml.utils.misc_torch.take_2d", (_t(3, 5), _i(5, 3, 2))),
    "assign_2d": lambda: _call("oml.utils.misc_torch.assign_2d", (_t(3, 5), _i(5, 3, 2), _t(3, 2))),
    "cat_two_sorted_tensors_and_keep_it_sorted": lambda: _call(
        "oml.utils.misc_torch.cat_two_sorted_tensors_and_keep_it_sorted",
        (_u(3, 4).sort(-1).values, 2 + _u(3, 5).sort(-1).values),
    ),
    "elementwise_dist": lambda: _call("oml.utils.misc_torch.elementwise_dist", (_t(3, 5), _t(3, 5))),
    "pairwise_dist": lambda: _call("oml.utils.misc_torch.pairwise_dist", (_t(3, 5), _t(4, 5))),
    "normalise": lambda: _call("oml.utils.misc_torch.normalise", (_t(3, 5),)),
    "is_sorted_tensor": lambda: _call("oml.utils.misc_torch.is_sorted_tensor", (torch.arange(5.0),)),
    "unique_by_ids": lambda: _call("oml.utils.misc_torch.unique_by_ids", ([1, 2, 1, 3], _t(4, 2))),
    "OnlineAvgDict": lambda: (_online("OnlineAvgDict"), [(_t(5),)]),
    "OnlineSumDict": lambda: (_online("OnlineSumDict"), [(_t(5),)]),
    "PCA": _pca,
    "PCA fit": lambda: _using(
        "oml.utils.misc_torch.PCA", lambda kind, x: kind(x).calc_principal_axes_number((0.5, 0.9)), (_t(12, 6),)
    ),
    "SEModule": lambda: _made("oml.models.audio.ecapa_tdnn.external.model.SEModule", [(_t(2, 8, 10),)], 8, 4),
    "Bottle2neck": lambda: _made(
        "oml.models.audio.ecapa_tdnn.external.model.Bottle2neck", [(_t(2, 16, 20),)], 16, 16, 3, 2, scale=4
    ),
    "PreEmphasis": lambda: _made("oml.models.audio.ecapa_tdnn.external.model.PreEmphasis", [(_t(2, 50),)]),
    "FbankAug": lambda: _made("oml.models.audio.ecapa_tdnn.external.model.FbankAug", [(_t(2, 20, 30),)]),
    "LinearTrivialDistanceSiamese": lambda: _made(
        "oml.models.meta.siamese.LinearTrivialDistanceSiamese", [(_t(3, 6), _t(3, 6))], 6, True
    ),
    "GEM": lambda: _made("oml.models.resnet.pooling.GEM", [(_u(2, 3, 4, 4),)], 3.0),
    "ViT clip": lambda: _made(
        "oml.models.vit_clip.external.model.VisionTransformer", [(_t(2, 3, 16, 16),)], 16, 8, 32, 1, 2, 8
    ),
    "ViT dino": lambda: _made(
        "oml.models.vit_dino.external.vision_transformer.VisionTransformer",
        [(_t(2, 3, 32, 32),)],
        img_size=[16],
        patch_size=8,
        embed_dim=32,
        depth=2,
        num_heads=2,
        drop_path_rate=0.1,
    ),
    "DINOHead": lambda: _made(
        "oml.models.vit_dino.external.vision_transformer.DINOHead",
        [(_t(2, 16),)],
        16,
        10,
        hidden_dim=8,
        bottleneck_dim=4,
    ),
    "ViT dino v2": lambda: _made(
        "oml.models.vit_dino.external_v2.vision_transformer.DinoVisionTransformer",
        [(_t(2, 3, 28, 28),)],
        img_size=14,
        patch_size=7,
        embed_dim=32,
        depth=2,
        num_heads=2,
        drop_path_rate=0.3,
        num_register_tokens=1,
    ),
    "ViT unicom": lambda: _made(
        "oml.models.vit_unicom.external.vision_transformer.VisionTransformer",
        [(_t(2, 3, 16, 16),)],
        16,
        8,
        3,
        32,
        8,
        1,
        2,
        using_checkpoint=False,
    ),
}

_CL, _CM, _CN = "classy_vision.losses.", "classy_vision.meters.", "classy_vision.models."
_CG, _CH, _CX = "classy_vision.generic.", "classy_vision.heads.", "classy_vision.dataset.transforms.mixup."


def _metered(path: str, target: torch.Tensor, *given: Any, **options: Any) -> Built:
    """A meter that gets a batch and gives its value."""

    def use(kind: Any, output: torch.Tensor, target: torch.Tensor) -> Any:
        meter = kind(*given, **options)
        meter.update(output, target)
        return meter.value

    return _using(path, use, (_t(6, 5), target))


def _video_metered() -> Built:
    """A meter of clips, several a video."""

    def use(kind: Any, output: torch.Tensor, target: torch.Tensor) -> Any:
        meter = kind(topk=[1], clips_per_video_train=1, clips_per_video_test=2)
        meter.update(output, target, is_train=False)
        return meter.value

    return _using(_CM + "video_accuracy_meter.VideoAccuracyMeter", use, (_t(6, 5), torch.tensor([0, 0, 1, 1, 2, 2])))


def _anynet(block: str) -> Built:
    """A small network of one kind of block."""
    params = _get(_CN + "anynet.AnyNetParams")(
        depths=[1, 1],
        widths=[16, 32],
        group_widths=[8, 8],
        bottleneck_multipliers=[1.0, 1.0],
        strides=[2, 2],
        block_type=_get(_CN + "anynet.BlockType")[block],
    )
    return _get(_CN + "anynet.AnyNet")(params), [(_t(2, 3, 16, 16),)]


def _config(path: str, inputs: list[Any], **config: Any) -> Built:
    """A model that is made of a configuration."""
    return _get(path).from_config(config), inputs


_CLASSY: dict[str, Callable[[], Built]] = {
    "BarronLoss": lambda: _made(_CL + "barron_loss.BarronLoss", [(_t(4, 3), _t(4, 3))], 1.0, True, 1.0),
    "BarronLoss 0": lambda: _made(_CL + "barron_loss.BarronLoss", [(_t(4, 3), _t(4, 3))], 0.0, False, 1.0),
    "BarronLoss 2": lambda: _made(_CL + "barron_loss.BarronLoss", [(_t(4, 3), _t(4, 3))], 2.0, True, 0.5),
    "LabelSmoothingCrossEntropyLoss": lambda: _made(
        _CL + "label_smoothing_loss.LabelSmoothingCrossEntropyLoss", [(_t(4, 5), _i(5, 4))], smoothing_param=0.2
    ),
    "LabelSmoothingCrossEntropyLoss hot": lambda: _made(
        _CL + "label_smoothing_loss.LabelSmoothingCrossEntropyLoss",
        [(_t(4, 5), torch.eye(5)[:4].long())],
        smoothing_param=0.2,
    ),
    "MultiOutputSumLoss": lambda: _made(
        _CL + "multi_output_sum_loss.MultiOutputSumLoss", [([_t(4, 3), _t(4, 3)], _i(3, 4))], nn.CrossEntropyLoss()
    ),
    "SoftTargetCrossEntropyLoss": lambda: _made(
        _CL + "soft_target_cross_entropy_loss.SoftTargetCrossEntropyLoss", [(_t(4, 5), _u(4, 5))]
    ),
    "SoftTargetCrossEntropyLoss labels": lambda: _made(
        _CL + "soft_target_cross_entropy_loss.SoftTargetCrossEntropyLoss",
        [(_t(4, 5), _i(5, 4))],
        reduction="none",
        normalize_targets=False,
    ),
    "SumArbitraryLoss": lambda: _made(
        _CL + "sum_arbitrary_loss.SumArbitraryLoss",
        [(_t(4, 3), _t(4, 3))],
        [nn.MSELoss(), nn.L1Loss()],
        torch.tensor([0.3, 0.7]),
    ),
    "AccuracyMeter": lambda: _metered(_CM + "accuracy_meter.AccuracyMeter", _i(5, 6), topk=[1, 2]),
    "AccuracyMeter hot": lambda: _metered(_CM + "accuracy_meter.AccuracyMeter", torch.eye(5)[_i(5, 6)], topk=[1]),
    "PrecisionAtKMeter": lambda: _metered(
        _CM + "precision_meter.PrecisionAtKMeter", torch.eye(5)[_i(5, 6)], topk=[1, 2]
    ),
    "RecallAtKMeter": lambda: _metered(_CM + "recall_meter.RecallAtKMeter", torch.eye(5)[_i(5, 6)], topk=[1, 2]),
    "RecallAtKMeter labels": lambda: _metered(
        _CM + "recall_meter.RecallAtKMeter", _i(5, 6, 1), topk=[1], target_is_one_hot=False, num_classes=5
    ),
    "VideoAccuracyMeter": _video_metered,
    "FullyConnectedHead": lambda: _made(
        _CH + "fully_connected_head.FullyConnectedHead", [(_t(2, 6, 4, 4),)], "a", 5, 6, normalize_inputs="l2"
    ),
    "FullyConvolutionalLinearHead": lambda: _made(
        _CH + "fully_convolutional_linear_head.FullyConvolutionalLinearHead",
        [(_t(2, 6, 2, 4, 4),)],
        "a",
        5,
        6,
        [2, 4, 4],
        "softmax",
    ),
    "VisionTransformerHead": lambda: _made(
        _CH + "vision_transformer_head.VisionTransformerHead", [(_t(2, 6),)], "a", 6, 5, 8, "l2"
    ),
    "AnyNet vanilla": lambda: _anynet("VANILLA_BLOCK"),
    "AnyNet basic": lambda: _anynet("RES_BASIC_BLOCK"),
    "AnyNet bottleneck": lambda: _anynet("RES_BOTTLENECK_BLOCK"),
    "AnyNet linear": lambda: _anynet("RES_BOTTLENECK_LINEAR_BLOCK"),
    "DenseNet": lambda: _made(
        _CN + "densenet.DenseNet",
        [(_t(2, 3, 32, 32),)],
        [1, 1],
        5,
        8,
        8,
        2,
        True,
        True,
        use_se=True,
        se_reduction_ratio=2,
    ),
    "drop_connect": lambda: _call(_CN + "efficientnet.drop_connect", (_t(3, 4, 2, 2), True, 0.3)),
    "MBConvBlock": lambda: held(
        _get(_CN + "efficientnet.MBConvBlock")(8, 8, 2, 3, 1, 0.25, True, True, 0.1, 1e-3),
        lambda block, x: block(x, drop_connect_rate=0.2),
        (_t(2, 8, 6, 6),),
    ),
    "MLP": lambda: _config(
        _CN + "mlp.MLP", [(_t(4, 6),)], input_dim=6, output_dim=3, hidden_dims=[8], dropout=0.1, use_batchnorm=True
    ),
    "RegNet": lambda: _config(
        _CN + "regnet.RegNet", [(_t(2, 3, 32, 32),)], depth=4, w_0=16, w_a=8.0, w_m=2.0, group_width=8
    ),
    "ResNeXt": lambda: _config(
        _CN + "resnext.ResNeXt", [(_t(2, 3, 32, 32),)], num_blocks=[1, 1], init_planes=8, small_input=True, use_se=True
    ),
    "ResNeXt3D": lambda: _config(
        _CN + "resnext3d.ResNeXt3D",
        [(_t(1, 3, 4, 16, 16),)],
        num_blocks=[1, 1, 1, 1],
        stem_name="resnext3d_stem",
        input_planes=3,
        clip_crop_size=16,
        skip_transformation_type="postactivated_shortcut",
        residual_transformation_type="postactivated_bottleneck_transformation",
        frames_per_clip=4,
        stem_planes=8,
        stem_temporal_kernel=3,
        stem_maxpool=True,
        stage_planes=8,
        stage_temporal_kernel_basis=[[3], [1], [1], [1]],
        temporal_conv_1x1=[True, True, True, True],
        stage_temporal_stride=[1, 1, 1, 1],
        stage_spatial_stride=[1, 2, 1, 1],
        num_groups=1,
        width_per_group=8,
        num_classes=4,
    ),
    "SqueezeAndExcitationLayer": lambda: _made(
        _CN + "squeeze_and_excitation_layer.SqueezeAndExcitationLayer", [(_t(2, 8, 4, 4),)], 8, 4
    ),
    "VisionTransformer": lambda: _made(
        _CN + "vision_transformer.VisionTransformer",
        [(_t(2, 3, 16, 16),)],
        image_size=16,
        patch_size=8,
        num_layers=1,
        num_heads=2,
        hidden_dim=16,
        mlp_dim=32,
    ),
    "VisionTransformer gap": lambda: _made(
        _CN + "vision_transformer.VisionTransformer",
        [(_t(2, 3, 16, 16),)],
        image_size=16,
        patch_size=8,
        num_layers=1,
        num_heads=2,
        hidden_dim=16,
        mlp_dim=32,
        classifier="gap",
    ),
    "convert_to_one_hot": lambda: _call(_CG + "util.convert_to_one_hot", (_i(5, 4, 1), 5)),
    "maybe_convert_to_one_hot": lambda: _call(_CG + "util.maybe_convert_to_one_hot", (_i(5, 4), _t(4, 5))),
    "maybe_convert_to_one_hot no": lambda: _call(
        _CG + "util.maybe_convert_to_one_hot", (torch.eye(5)[:4].long(), _t(4, 5))
    ),
    "is_long_tensor": lambda: _call(_CG + "util.is_long_tensor", (_i(3, 2),)),
    "recursive_copy_to_device": lambda: _call(
        _CG + "util.recursive_copy_to_device", ({"a": _t(2), "b": [_t(2), 3]}, False, torch.device("cpu"))
    ),
    "get_batchsize_per_replica": lambda: _call(_CG + "util.get_batchsize_per_replica", ({"input": _t(3, 2)},)),
    "flatten_dict": lambda: _call(_CG + "util.flatten_dict", ({"a": {"b": _t(2)}, "c": _t(1)},)),
    "split_batchnorm_params": lambda: held(
        nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2)), lambda m: _get(_CG + "util.split_batchnorm_params")(m), ()
    ),
    "all_reduce_mean": lambda: _call(_CG + "distributed_util.all_reduce_mean", (_t(3),)),
    "all_reduce_sum": lambda: _call(_CG + "distributed_util.all_reduce_sum", (_t(3),)),
    "gather_from_all": lambda: _call(_CG + "distributed_util.gather_from_all", (_t(3),)),
    "one_hot": lambda: _call(_CX + "one_hot", (_i(4, 3), 4, 0.9, 0.1, "cpu")),
    "mixup_target": lambda: _call(_CX + "mixup_target", (_i(4, 3), 4, 0.7, 0.1)),
    "rand_bbox": lambda: _call(_CX + "rand_bbox", ((2, 3, 16, 16), 0.6)),
    "rand_bbox_minmax": lambda: _call(_CX + "rand_bbox_minmax", ((2, 3, 16, 16), (0.2, 0.6))),
    "cutmix_bbox_and_lam": lambda: _call(_CX + "cutmix_bbox_and_lam", ((2, 3, 16, 16), 0.6)),
    **{
        f"MixupTransform {mode}": (
            lambda mode=mode: _made(
                _CX + "MixupTransform",
                [({"input": _u(4, 3, 8, 8), "target": _i(5, 4)},)],
                0.4,
                num_classes=5,
                cutmix_alpha=0.5,
                mode=mode,
            )
        )
        for mode in ("batch", "pair", "elem")
    },
}

_MM, _MO, _MA = "mbrl.util.math.", "mbrl.models.", "mbrl.planning.trajectory_opt."
_MS, _ME = "mbrl.third_party.pytorch_sac_pranz24.", "mbrl.env."
_OBS = _t(6, 17)
_LOWER, _UPPER = [[-1.0, -1.0]] * 4, [[1.0, 1.0]] * 4


def _normalized() -> Built:
    """Statistics of a batch, and a batch that they normalize."""

    def use(kind: Any, x: torch.Tensor) -> Any:
        made = kind(4, torch.device("cpu"))
        made.update_stats(x)
        return made.denormalize(made.normalize(x))

    return _using(_MM + "Normalizer", use, (_t(8, 4),))


def _gaussian(use: Callable[..., Any], *inputs: Any, **options: Any) -> Built:
    """A use of an ensemble of small networks."""
    made = _get(_MO + "gaussian_mlp.GaussianMLP")(4, 3, "cpu", num_layers=2, hid_size=8, **options)
    return held(made, use, *inputs)


def _one_dim(use: Callable[..., Any], *inputs: Any, **options: Any) -> Built:
    """A use of a model of the next state and reward."""
    made = _get(_MO + "gaussian_mlp.GaussianMLP")(
        4, 4, "cpu", num_layers=2, hid_size=8, ensemble_size=3, propagation_method="fixed_model"
    )
    return held(_get(_MO + "one_dim_tr_model.OneDTransitionRewardModel")(made, **options), use, *inputs)


def _batch() -> Any:
    """Transitions, as a replay buffer gives them."""
    kind = _get("mbrl.types.TransitionBatch")
    return kind(*(x.numpy() for x in (_t(6, 3), _t(6, 1), _t(6, 3), _t(6), torch.zeros(6), torch.zeros(6))))


def _sampled(model: Any, act: torch.Tensor, obs: torch.Tensor) -> Any:
    """The next state that a model draws."""
    state = {"obs": obs, "propagation_indices": torch.zeros(6).long()}
    return model.sample(act, state, deterministic=False, rng=torch.Generator().manual_seed(0))


def _optimized(kind: str, *given: Any, **options: Any) -> Built:
    """Actions that a search of random ones finds best."""
    made = _get(_MA + kind)(*given, lower_bound=_LOWER, upper_bound=_UPPER, device=torch.device("cpu"), **options)
    return held(made, lambda o, x: o.optimize(lambda a: -(a**2).sum((-1, -2)), x0=x), (torch.zeros(4, 2),))


def _planet() -> Any:
    """A small world model of pictures."""
    return _get(_MO + "planet.PlaNetModel")(
        (3, 16, 16),
        8,
        ((3, 4, 3, 2), (4, 8, 3, 2)),
        ((8, 3, 3), ((8, 4, 3, 2), (4, 3, 4, 2))),
        4,
        2,
        6,
        6,
        8,
        torch.device("cpu"),
        rng=torch.Generator().manual_seed(0),
    )


def _sac() -> Any:
    """An agent that was not trained."""
    spaces = __import__("gymnasium").spaces
    args = SimpleNamespace(
        gamma=0.9,
        tau=0.1,
        alpha=0.2,
        policy="Gaussian",
        target_update_interval=1,
        automatic_entropy_tuning=True,
        target_entropy=-1.0,
        device=torch.device("cpu"),
        hidden_size=8,
        lr=1e-3,
    )
    return _get(_MS + "sac.SAC")(3, spaces.Box(-1.0, 1.0, (2,)), args)


_MBRL: dict[str, Callable[[], Built]] = {
    "gaussian_nll": lambda: _call(_MM + "gaussian_nll", (_t(4, 3), _t(4, 3), _t(4, 3))),
    "truncated_normal_": lambda: _using(_MM + "truncated_normal_", lambda f, x: f(x.clone(), 0, 1), (_t(5, 6),)),
    "Normalizer": _normalized,
    "propagate_from_indices": lambda: _call(_MM + "propagate_from_indices", (_t(3, 5, 2), _i(3, 5))),
    "propagate_random_model": lambda: _call(_MM + "propagate_random_model", ((_t(3, 5, 2), _t(3, 5, 2)),)),
    "propagate_expectation": lambda: _call(_MM + "propagate_expectation", ((_t(3, 5, 2), _t(3, 5, 2)),)),
    "propagate_fixed_model": lambda: _call(_MM + "propagate_fixed_model", ((_t(3, 5, 2), _t(3, 5, 2)), _i(3, 5))),
    "propagate": lambda: _call(_MM + "propagate", ((_t(3, 5, 2), _t(3, 5, 2)),), propagation_method="random_model"),
    "rfftfreq": lambda: _call(_MM + "rfftfreq", (9, torch.device("cpu"))),
    "powerlaw_psd_gaussian": lambda: _call(_MM + "powerlaw_psd_gaussian", (2.0, (3, 2, 8), torch.device("cpu"))),
    "quantize_obs": lambda: _call(_MM + "quantize_obs", (_i(255, 3, 4).numpy(), 5)),
    "GaussianMLP": lambda: _gaussian(lambda m, x: m(x), (_t(6, 4),)),
    "GaussianMLP ensemble": lambda: _gaussian(lambda m, x: m(x), (_t(6, 4),), ensemble_size=3),
    "GaussianMLP random": lambda: _gaussian(
        lambda m, x: m(x, rng=torch.Generator().manual_seed(0)),
        (_t(6, 4),),
        ensemble_size=3,
        propagation_method="random_model",
    ),
    "GaussianMLP fixed": lambda: _gaussian(
        lambda m, x, i: m(x, propagation_indices=i),
        (_t(6, 4), torch.tensor([5, 3, 1, 0, 2, 4])),
        ensemble_size=3,
        propagation_method="fixed_model",
    ),
    "GaussianMLP expectation": lambda: _gaussian(
        lambda m, x: m(x), (_t(6, 4),), ensemble_size=3, propagation_method="expectation"
    ),
    "GaussianMLP loss": lambda: _gaussian(lambda m, x, y: m.loss(x, y), (_t(6, 4), _t(6, 3)), ensemble_size=3),
    "GaussianMLP deterministic loss": lambda: _gaussian(
        lambda m, x, y: m.loss(x, y), (_t(6, 4), _t(6, 3)), ensemble_size=3, deterministic=True
    ),
    "GaussianMLP eval_score": lambda: _gaussian(
        lambda m, x, y: m.eval_score(x, y), (_t(6, 4), _t(6, 3)), ensemble_size=3
    ),
    "GaussianMLP indices": lambda: _gaussian(
        lambda m: m.sample_propagation_indices(6, torch.Generator().manual_seed(0)), (), ensemble_size=3
    ),
    "OneDTransitionRewardModel loss": lambda: _one_dim(lambda m, b: m.loss(b), (_batch(),)),
    "OneDTransitionRewardModel eval_score": lambda: _one_dim(lambda m, b: m.eval_score(b), (_batch(),)),
    "OneDTransitionRewardModel normalizer": lambda: _one_dim(
        lambda m, b: m.update_normalizer(b), (_batch(),), normalize=True
    ),
    "OneDTransitionRewardModel sample": lambda: _one_dim(_sampled, (_t(6, 1), _t(6, 3))),
    "EnsembleLinearLayer": lambda: _made(_MO + "util.EnsembleLinearLayer", [(_t(5, 4),)], 3, 4, 2),
    "to_tensor": lambda: _call(_MO + "util.to_tensor", (_t(3).numpy(),)),
    "Conv2dEncoder": lambda: _made(
        _MO + "util.Conv2dEncoder", [(_t(2, 3, 16, 16),)], ((3, 4, 3, 2), (4, 8, 3, 2)), (16, 16), 8
    ),
    "Conv2dDecoder": lambda: _made(_MO + "util.Conv2dDecoder", [(_t(2, 6),)], 6, (4, 3, 3), ((4, 3, 3, 2),)),
    "BeliefModel": lambda: _made(_MO + "planet.BeliefModel", [(_t(2, 4), _t(2, 3), _t(2, 5))], 4, 3, 5),
    "MeanStdCat": lambda: _made(_MO + "planet.MeanStdCat", [(_t(2, 8),)], 4, 0.1),
    "PlaNetModel": lambda: held(_planet(), lambda m, o, a, r: m(o, a, r), (_t(2, 3, 3, 16, 16), _t(2, 3, 2), _t(2, 3))),
    "CEMOptimizer": lambda: _optimized("CEMOptimizer", 2, 0.2, 20, alpha=0.1, return_mean_elites=True),
    "CEMOptimizer clipped": lambda: _optimized("CEMOptimizer", 2, 0.2, 20, alpha=0.1, clipped_normal=True),
    "MPPIOptimizer": lambda: _optimized("MPPIOptimizer", 2, 20, 0.9, 1.0, 0.5),
    "ICEMOptimizer": lambda: _optimized("ICEMOptimizer", 2, 0.2, 20, 1.2, 2.0, keep_elite_frac=0.3, alpha=0.1),
    **{
        f"reward {name}": (lambda name=name: _call(_ME + "reward_fns." + name, (_t(6, 2), _OBS)))
        for name in ("cartpole", "cartpole_pets", "inverted_pendulum", "halfcheetah")
    },
    "reward pusher": lambda: _call(_ME + "reward_fns.pusher", (_t(6, 7), _t(6, 20))),
    **{
        f"termination {name}": (
            lambda name=name, width=width: _call(_ME + "termination_fns." + name, (_t(6, 2), _t(6, width)))
        )
        for name, width in {
            "hopper": 11,
            "cartpole": 4,
            "inverted_pendulum": 4,
            "no_termination": 4,
            "walker2d": 17,
            "ant": 27,
            "humanoid": 45,
        }.items()
    },
    "ValueNetwork": lambda: _made(_MS + "model.ValueNetwork", [(_t(4, 3),)], 3, 8),
    "QNetwork": lambda: _made(_MS + "model.QNetwork", [(_t(4, 3), _t(4, 2))], 3, 2, 8),
    "GaussianPolicy": lambda: held(_get(_MS + "model.GaussianPolicy")(3, 2, 8), lambda m, x: m.sample(x), (_t(4, 3),)),
    "DeterministicPolicy": lambda: held(
        _get(_MS + "model.DeterministicPolicy")(3, 2, 8), lambda m, x: m.sample(x), (_t(4, 3),)
    ),
    "SAC select_action": lambda: held(_sac(), lambda a, x: a.select_action(x), (_t(3).numpy(),)),
    "create_log_gaussian": lambda: _call(_MS + "utils.create_log_gaussian", (_t(4, 3), _t(4, 3), _t(4, 3))),
    "logsumexp": lambda: _call(_MS + "utils.logsumexp", (_t(4, 3), 1)),
    "logsumexp all": lambda: _call(_MS + "utils.logsumexp", (_t(4, 3),)),
    "PIDAgent": lambda: held(
        _get("mbrl.planning.linear_feedback.PIDAgent")(*(torch.ones(2).numpy() for _ in range(4))),
        lambda a, x: a.act(x),
        (_t(2).numpy(),),
    ),
}

_SA, _SU = "sample_factory.algo.utils.action_distributions.", "sample_factory.algo.utils."


def _spaces() -> Any:
    """Spaces of actions."""
    return __import__("gymnasium").spaces


def _actions(space: Callable[[], Any], width: int, use: Callable[..., Any], *more: Any) -> Built:
    """A use of the distribution over a space that logits give."""
    made = space()
    return _using(
        _SA + "get_action_distribution", lambda get, x, *rest: use(get(made, x), *rest), (_t(4, width), *more)
    )


def _discrete() -> Any:
    return _spaces().Discrete(5)


def _box() -> Any:
    return _spaces().Box(-1.0, 1.0, (3,))


def _several() -> Any:
    return _spaces().Tuple([_spaces().Discrete(3), _spaces().Discrete(4)])


def _tensors() -> Any:
    """Tensors by names."""
    kind = _get(_SU + "tensor_dict.TensorDict")
    return kind({"obs": kind({"x": _t(4, 3)}), "rewards": _t(4), "list": _i(4, 2)})


def _lamb() -> Built:
    """Steps of an optimizer."""
    linear = nn.Linear(3, 2)
    made = _get(_SU + "optimizers.Lamb")(linear.parameters(), 1e-2)

    def step(x: torch.Tensor) -> None:
        made.zero_grad()
        linear(x).pow(2).mean().backward()
        made.step()

    return step, [(_t(4, 3),)]


_DONES = torch.tensor([[0.0, 0, 1, 0], [0, 1, 0, 0]]).t()
_SAMPLE: dict[str, Callable[[], Built]] = {
    "calc_num_action_parameters": lambda: _using(_SA + "calc_num_action_parameters", lambda f: f(_several()), ()),
    "discrete sample": lambda: _actions(_discrete, 5, lambda d: d.sample()),
    "discrete log_prob": lambda: _actions(_discrete, 5, lambda d, a: d.log_prob(a), _i(5, 4, 1)),
    "discrete entropy": lambda: _actions(_discrete, 5, lambda d: d.entropy()),
    "discrete uniform": lambda: _actions(_discrete, 5, lambda d: d.symmetric_kl_with_uniform_prior()),
    "discrete kl": lambda: _using(
        _SA + "CategoricalActionDistribution", lambda kind, x, y: kind(x).kl_divergence(kind(y)), (_t(4, 5), _t(4, 5))
    ),
    "discrete gumbel": lambda: _actions(_discrete, 5, lambda d: d.sample_gumbel()),
    "discrete argmax": lambda: _using(
        _SA + "argmax_actions", lambda f, x: f(_get(_SA + "CategoricalActionDistribution")(x)), (_t(4, 5),)
    ),
    "sample_actions_log_probs": lambda: _using(
        _SA + "sample_actions_log_probs", lambda f, x: f(_get(_SA + "CategoricalActionDistribution")(x)), (_t(4, 5),)
    ),
    "tuple sample": lambda: _actions(_several, 7, lambda d: d.sample_actions_log_probs()),
    "tuple log_prob": lambda: _actions(_several, 7, lambda d, a: d.log_prob(a), _i(3, 4, 2)),
    "tuple entropy": lambda: _actions(_several, 7, lambda d: d.entropy()),
    "tuple kl": lambda: _actions(_several, 7, lambda d: d.kl_divergence(d)),
    "tuple uniform": lambda: _actions(_several, 7, lambda d: d.symmetric_kl_with_uniform_prior()),
    "tuple argmax": lambda: _actions(_several, 7, lambda d: d.argmax()),
    "continuous sample": lambda: _actions(_box, 6, lambda d: d.sample()),
    "continuous log_prob": lambda: _actions(_box, 6, lambda d, a: d.log_prob(a), _t(4, 3)),
    "continuous kl": lambda: _actions(_box, 6, lambda d: d.kl_divergence(d)),
    "continuous summaries": lambda: _actions(_box, 6, lambda d: d.summaries()),
    "calculate_discounted_sum_torch": lambda: _call(
        _SU + "rl_utils.calculate_discounted_sum_torch", (_t(4, 2), _DONES, torch.ones(4, 2), 0.9)
    ),
    "gae_advantages": lambda: _call(
        _SU + "rl_utils.gae_advantages", (_t(2, 4), _DONES.t(), _t(2, 5), torch.ones(2, 5), 0.99, 0.95)
    ),
    "make_dones": lambda: _call(_SU + "rl_utils.make_dones", (_DONES > 0, _DONES > 1)),
    "make_dones list": lambda: _call(_SU + "rl_utils.make_dones", ([True, False], [False, False])),
    "samples_per_trajectory": lambda: _using(
        _SU + "rl_utils.samples_per_trajectory", lambda f, x: f({"rewards": x}), (_t(2, 4),)
    ),
    "RunningMeanStdInPlace": lambda: _made(_SU + "running_mean_std.RunningMeanStdInPlace", [(_t(6, 3),)], (3,)),
    "RunningMeanStdInPlace eval": lambda: held(
        _get(_SU + "running_mean_std.RunningMeanStdInPlace")((3,)).eval(), lambda m, x: m(x, True), (_t(6, 3),)
    ),
    "RunningMeanStdInPlace channels": lambda: _made(
        _SU + "running_mean_std.RunningMeanStdInPlace", [(_t(6, 3, 4, 4),)], (3, 4, 4), per_channel=True
    ),
    "RunningMeanStdDictInPlace": lambda: held(
        _get(_SU + "running_mean_std.RunningMeanStdDictInPlace")(_spaces().Dict({"obs": _spaces().Box(-1, 1, (3,))})),
        lambda m, x: m({"obs": x.clone()}),
        (_t(6, 3),),
    ),
    "TensorDict index": lambda: held(_tensors(), lambda d: d[1], ()),
    "TensorDict slice": lambda: held(_tensors(), lambda d: d[1:3], ()),
    "TensorDict set": lambda: held(_tensors(), lambda d, x: d.__setitem__(slice(0, 4), x), (_tensors(),)),
    "clone_tensordict": lambda: _using(_SU + "tensor_dict.clone_tensordict", lambda f, d: f(d), (_tensors(),)),
    "cat_tensordicts": lambda: _using(_SU + "tensor_dict.cat_tensordicts", lambda f, d: f([d, d]), (_tensors(),)),
    "tensor_dict_to_numpy": lambda: _using(_SU + "tensor_dict.tensor_dict_to_numpy", lambda f, d: f(d), (_tensors(),)),
    "find_invalid_data": lambda: _using(_SU + "tensor_dict.find_invalid_data", lambda f, d: f(d), (_tensors(),)),
    "clone_tensor": lambda: _call(_SU + "tensor_utils.clone_tensor", (_t(3),)),
    "unsqueeze_tensor": lambda: _call(_SU + "tensor_utils.unsqueeze_tensor", (_t(3), 0)),
    "cat_tensors": lambda: _call(_SU + "tensor_utils.cat_tensors", ([_t(3), _t(2)],)),
    "dict_of_lists_cat": lambda: _call(_SU + "tensor_utils.dict_of_lists_cat", ({"a": [_t(3), _t(2)], "b": [_t(1)]},)),
    "ensure_torch_tensor": lambda: _call(_SU + "tensor_utils.ensure_torch_tensor", (_t(3).numpy(),)),
    "ensure_numpy_array": lambda: _call(_SU + "tensor_utils.ensure_numpy_array", (_t(3),)),
    "to_scalar": lambda: _call(_SU + "torch_utils.to_scalar", (_t(1),)),
    "masked_select": lambda: _call(
        _SU + "torch_utils.masked_select", (_t(4), torch.tensor([True, False, True, True]), 1)
    ),
    "masked_select none": lambda: _call(_SU + "torch_utils.masked_select", (_t(4), torch.ones(4).bool(), 0)),
    "build_rnn_inputs": lambda: _call(
        "sample_factory.algo.learning.rnn_utils.build_rnn_inputs", (_t(8, 3), _DONES.t().reshape(-1), _t(8, 5), 4)
    ),
    "process_action_space": lambda: _call(
        "sample_factory.algo.sampling.batched_sampling.process_action_space", (_t(4, 1), False, True)
    ),
    "Lamb": _lamb,
}

_DV, _DK = "deeptime.decomposition.deep._vampnet.", "deeptime.decomposition.deep._kvadnet."
_COV = _t(6, 4).t() @ _t(6, 4)
_COV = _COV @ _COV.t() + torch.eye(4)


def _kernel(name: str) -> Any:
    """A kernel of Gaussians."""
    return _get("deeptime.kernels." + name)(1.0)


_DEEPTIME: dict[str, Callable[[], Built]] = {
    "whiten": lambda: _call(_DK + "whiten", (_t(20, 4),)),
    "whiten trunc": lambda: _call(_DK + "whiten", (_t(20, 4),), mode="trunc"),
    "gramian": lambda: _using(_DK + "gramian", lambda f, x: f(x, _kernel("TorchGaussianKernel")), (_t(8, 3),)),
    "kvad_score": lambda: _using(
        _DK + "kvad_score", lambda f, x, y: f(x, y, _kernel("TorchGaussianKernel")), (_t(8, 3), _t(8, 3))
    ),
    "symeig_reg": lambda: _call(_DV + "symeig_reg", (_COV,)),
    "symeig_reg trunc": lambda: _call(_DV + "symeig_reg", (_COV,), mode="trunc"),
    "symeig_reg clamp": lambda: _call(_DV + "symeig_reg", (_COV,), mode="clamp", eigenvectors=False),
    "sym_inverse": lambda: _call(_DV + "sym_inverse", (_COV,)),
    "sym_inverse sqrt": lambda: _call(_DV + "sym_inverse", (_COV,), return_sqrt=True, mode="trunc"),
    "koopman_matrix": lambda: _call(_DV + "koopman_matrix", (_t(20, 4), _t(20, 4))),
    "koopman_matrix regularize": lambda: _call(_DV + "koopman_matrix", (_t(20, 4), _t(20, 4)), mode="regularize"),
    "covariances": lambda: _call(_DV + "covariances", (_t(20, 4), _t(20, 4))),
    **{
        f"vamp_score {method}": (lambda method=method: _call(_DV + "vamp_score", (_t(20, 4), _t(20, 4)), method=method))
        for method in ("VAMP1", "VAMP2", "VAMPE")
    },
    "vampnet_loss": lambda: _call(_DV + "vampnet_loss", (_t(20, 4), _t(20, 4))),
    "VAMPNetModel": lambda: held(
        _get(_DV + "VAMPNetModel")(nn.Linear(3, 2)), lambda m, x: m.transform(x), (_t(5, 3).numpy(),)
    ),
    "MLP": lambda: _made("deeptime.util.torch.MLP", [(_t(5, 3),)], [3, 6, 2], nonlinearity=nn.ReLU),
    "TVAEEncoder": lambda: _made(
        "deeptime.decomposition.deep._tae.TVAEEncoder", [(_t(5, 3),)], [3, 6, 2], nonlinearity=nn.ReLU
    ),
    "TAEModel": lambda: held(
        _get("deeptime.decomposition.deep._tae.TAEModel")(nn.Linear(3, 2), nn.Linear(2, 3)),
        lambda m, x: m.transform(x),
        (_t(5, 3).numpy(),),
    ),
    "TAE evaluate_loss": lambda: held(
        _get("deeptime.decomposition.deep._tae.TAE")(nn.Linear(3, 2), nn.Linear(2, 3)),
        lambda m, x, y: m.evaluate_loss(x, y),
        (_t(5, 3), _t(5, 3)),
    ),
    "_reparameterize": lambda: _call("deeptime.decomposition.deep._tae._reparameterize", (_t(5, 3), _t(5, 3))),
    "TorchGaussianKernel": lambda: _using(
        "deeptime.kernels.TorchGaussianKernel", lambda kind, x, y: kind(1.0).apply(x, y), (_t(5, 3), _t(4, 3))
    ),
    "TorchGaussianKernel cdist": lambda: _using(
        "deeptime.kernels.TorchGaussianKernel", lambda kind, x, y: kind.cdist(x, y), (_t(5, 3), _t(4, 3))
    ),
    "TorchGaussianKernel gram": lambda: _using(
        "deeptime.kernels.TorchGaussianKernel", lambda kind, x: kind(1.0).gram(x), (_t(5, 3),)
    ),
    "map_data": lambda: _using(
        "deeptime.util.torch.map_data", lambda f, x: f(x, torch.device("cpu")), (_t(5, 3).numpy(),)
    ),
}

MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in {
        "oml": _OML,
        "classy_vision": _CLASSY,
        "mbrl": _MBRL,
        "sample_factory": _SAMPLE,
        "deeptime": _DEEPTIME,
    }.items()
    for name, build in models.items()
}

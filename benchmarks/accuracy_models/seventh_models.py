"""Models of packages that were chosen and run after the work on the sixth group, before anything was changed.

Of ultralytics, peft, denoising-diffusion-pytorch, sbi, tianshou, kymatio, deepxde, lightly, piqa, neuralforecast,
torchoptics, stanza, laplace-torch and schnetpack.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import models_by_name, random_inputs
from accuracy_models.stand_ins import bare, without

_t, _u, _i = random_inputs(7)


def _get(path: str) -> Any:
    module, _, name = path.rpartition(".")
    package = path.partition(".")[0]
    if package in ("ultralytics", "denoising_diffusion_pytorch", "lightly", "piqa", "laplace"):
        parts = (
            "transforms",
            "transforms.functional",
            "transforms.v2",
            "utils",
            "models",
            "ops",
            "datasets.folder",
            "io",
        )
        without(*(f"torchvision.{part}" for part in parts))
    if package == "laplace":
        without("asdl.gradient", "asdl.fisher", "asdl.hessian", "asdl.matrices", "asdl.grad_maker", "asdl.precondition")
        without("curvlinops.kfac")
    if package == "ultralytics":
        _pretend_version("torchvision", "0.28.0")
    if package == "kymatio":
        import scipy.special  # its newest version is without a function that the 3D transform imports

        if not hasattr(scipy.special, "sph_harm"):
            scipy.special.sph_harm = lambda m, n, theta, phi: scipy.special.sph_harm_y(n, m, phi, theta)
    if package in ("neuralforecast", "schnetpack"):
        bare(package)
        without("dirsync", "torch_ema")
    os.environ.setdefault("DDE_BACKEND", "pytorch")
    return getattr(importlib.import_module(module), name)


def _pretend_version(package: str, version: str) -> None:
    known = importlib.metadata.version
    importlib.metadata.version = lambda name: version if name == package else known(name)


_call, _made = models_by_name(_get)


def _with(make: Callable[[], Any], use: Callable[..., Any]) -> Callable[..., Any]:
    """A function of an object that is made once, and of the arguments."""
    return partial(use, make())


def _boxes(*shape: int) -> torch.Tensor:
    corner = 40 * _u(*shape, 2)
    return torch.cat([corner, corner + 8 + 16 * _u(*shape, 2)], -1)


def _assigned(name: str, width: int) -> Built:
    made = _get(f"ultralytics.utils.tal.{name}")(topk=3, num_classes=4)

    def given(n: int) -> tuple[Any, ...]:
        boxes = [_boxes(2, 64), _boxes(2, n)]
        if width == 5:
            boxes = [torch.cat([b, _u(*b.shape[:2], 1)], -1) for b in boxes]
        points = torch.stack(torch.meshgrid(torch.arange(8.0), torch.arange(8.0), indexing="ij"), -1).reshape(-1, 2) * 8
        mask = torch.ones(2, n, 1)
        mask[1, -1] = 0
        return _u(2, 64, 4), boxes[0], points, _i(4, 2, n, 1), boxes[1], mask

    return made, [given(3), given(2)]


def _yolo(config: str, kind: str, loss: bool = False) -> Built:
    """A model of the smallest size; with `loss` its training loss on a batch."""
    model = _get(f"ultralytics.nn.tasks.{kind}")(config, verbose=False)
    if not loss:
        return model, [(_u(1, 3, 64, 64),)]
    model.args = _get("ultralytics.cfg.get_cfg")()
    boxes = torch.cat([0.3 + 0.3 * _u(5, 2), 0.1 + 0.2 * _u(5, 2)], -1)
    batch = {
        "img": _u(2, 3, 64, 64),
        "batch_idx": torch.tensor([0.0, 0.0, 1.0, 1.0, 1.0]),
        "cls": _i(3, 5, 1).float(),
        "bboxes": torch.cat([boxes, _u(5, 1)], -1) if kind == "OBBModel" else boxes,
        "masks": _i(5, 2, 16, 16).float(),
        "keypoints": _u(5, 17, 3),
    }
    model.train()
    return (lambda given: model(given)), [(batch,)]


def _nms() -> Built:
    predicted = torch.cat([32 + 16 * _u(1, 4, 40), _u(1, 6, 40)], 1)
    made = _call("ultralytics.utils.nms.non_max_suppression", (predicted,))
    sys.modules.pop("torchvision", None)  # else the stand-in's operation is called
    return made


_M = "ultralytics.utils.metrics."
_N = "ultralytics.nn.modules."
_O = "ultralytics.utils.ops."
_ULTRALYTICS: dict[str, Callable[[], Built]] = {
    "TaskAlignedAssigner": lambda: _assigned("TaskAlignedAssigner", 4),
    "RotatedTaskAlignedAssigner": lambda: _assigned("RotatedTaskAlignedAssigner", 5),
    "YOLO detect": lambda: _yolo("yolo11n.yaml", "DetectionModel"),
    "YOLO detect loss": lambda: _yolo("yolo11n.yaml", "DetectionModel", True),
    "YOLO segment loss": lambda: _yolo("yolo11n-seg.yaml", "SegmentationModel", True),
    "YOLO pose loss": lambda: _yolo("yolo11n-pose.yaml", "PoseModel", True),
    "YOLO obb": lambda: _yolo("yolo11n-obb.yaml", "OBBModel"),
    "YOLO classify": lambda: _yolo("yolo11n-cls.yaml", "ClassificationModel"),
    "YOLOv10": lambda: _yolo("yolov10n.yaml", "DetectionModel"),
    "non_max_suppression": _nms,
    "TorchNMS": lambda: (
        (lambda boxes, scores: _get("ultralytics.utils.nms.TorchNMS").nms(boxes, scores, 0.3)),
        [(_boxes(9), _u(9))],
    ),
    "TorchNMS fast": lambda: (
        (lambda boxes, scores: _get("ultralytics.utils.nms.TorchNMS").fast_nms(boxes, scores, 0.3)),
        [(_boxes(9), _u(9))],
    ),
    "bbox_iou": lambda: _call(f"{_M}bbox_iou", (_boxes(5), _boxes(5)), CIoU=True),
    "probiou": lambda: _call(f"{_M}probiou", (_u(5, 5), _u(5, 5)), CIoU=True),
    "kpt_iou": lambda: _call(f"{_M}kpt_iou", (_u(3, 17, 3), _u(4, 17, 3), _u(3) + 1, [0.1] * 17)),
    "mask_iou": lambda: _call(f"{_M}mask_iou", (_u(3, 64), _u(4, 64))),
    "BboxLoss": lambda: _made(
        "ultralytics.utils.loss.BboxLoss",
        [
            (
                _t(2, 9, 64),
                _boxes(2, 9),
                _u(9, 2) * 8,
                _boxes(2, 9),
                _u(2, 9, 3),
                torch.tensor(4.0),
                _i(2, 2, 9).bool(),
                torch.tensor([64, 64]),
                torch.full((9, 1), 8.0),
            )
        ],
    ),
    "KeypointLoss": lambda: _made(
        "ultralytics.utils.loss.KeypointLoss",
        [(_u(4, 17, 3), _u(4, 17, 3), _i(2, 4, 17).bool(), _u(4, 1) + 1)],
        torch.ones(17) / 17,
    ),
    "VarifocalLoss": lambda: _made("ultralytics.utils.loss.VarifocalLoss", [(_t(2, 9, 3), _u(2, 9, 3), _u(2, 9, 3))]),
    "BCEDiceLoss": lambda: _made("ultralytics.utils.loss.BCEDiceLoss", [(_t(2, 3, 8, 8), _u(2, 3, 8, 8).round())]),
    "HungarianMatcher": lambda: _made(
        "ultralytics.models.utils.ops.HungarianMatcher",
        [(_u(2, 6, 4), _t(2, 6, 3), _u(5, 4), _i(3, 5), [2, 3])],
    ),
    "RTDETRDetectionLoss": lambda: _made(
        "ultralytics.models.utils.loss.RTDETRDetectionLoss",
        [
            (
                (_u(3, 2, 6, 4), _t(3, 2, 6, 3)),
                {"cls": _i(3, 5), "bboxes": _u(5, 4), "gt_groups": [2, 3]},
            )
        ],
        nc=3,
    ),
    "MSDeformAttn": lambda: _made(
        f"{_N}MSDeformAttn",
        [(_t(2, 5, 32), _u(2, 5, 1, 4), _t(2, 80, 32), [(8, 8), (4, 4)])],
        d_model=32,
        n_levels=2,
        n_heads=4,
    ),
    "AIFI": lambda: _made(f"{_N}AIFI", [(_t(2, 32, 4, 4),), (_t(2, 32, 5, 4),)], 32, 64, 4),
    "C2fAttn": lambda: _made(f"{_N}C2fAttn", [(_t(2, 32, 8, 8), _t(2, 5, 512))], 32, 32, ec=16),
    "process_mask": lambda: _call(f"{_O}process_mask", (_t(8, 16, 16), _t(3, 8), _boxes(3), (64, 64)), upsample=True),
    "scale_boxes": lambda: _call(f"{_O}scale_boxes", ((64, 64), _boxes(3), (120, 160))),
    "xyxyxyxy2xywhr": lambda: _call(f"{_O}xyxyxyxy2xywhr", (_u(3, 8) * 32,)),
    "regularize_rboxes": lambda: _call(f"{_O}regularize_rboxes", (_u(3, 5),)),
    "SAM mask decoder": lambda: _made(
        "ultralytics.models.sam.modules.encoders.PromptEncoder",
        [((_u(1, 3, 2) * 64, torch.ones(1, 3)), None, None), (None, _boxes(1).unsqueeze(0)[0], None)],
        32,
        (4, 4),
        (64, 64),
        8,
    ),
}


def _adapted(config: str, **options: Any) -> Built:
    """A small network with an adapter."""

    class Block(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.embed = nn.Embedding(20, 16)
            self.first = nn.Linear(16, 16)
            self.norm = nn.LayerNorm(16)
            self.second = nn.Linear(16, 16)

        def forward(self, tokens: torch.Tensor) -> torch.Tensor:
            hidden = self.norm(self.first(self.embed(tokens)))
            made: torch.Tensor = self.second(torch.relu(hidden))
            return made

    options.setdefault("target_modules", ["first", "second"])
    made = _get(f"peft.{config}")(**options)
    return _get("peft.get_peft_model")(Block(), made), [(_i(20, 2, 5),), (_i(20, 2, 7),)]


def _prompted(config: str, **options: Any) -> Built:
    """A small language model with a learned prompt."""
    base = _get("transformers.GPT2LMHeadModel")(
        _get("transformers.GPT2Config")(vocab_size=50, n_positions=64, n_embd=16, n_layer=2, n_head=2)
    )
    made = _get(f"peft.{config}")(task_type="CAUSAL_LM", num_virtual_tokens=4, **options)
    model = _get("peft.get_peft_model")(base, made)
    return model, [{"input_ids": _i(50, 2, n), "attention_mask": torch.ones(2, n).long()} for n in (5, 6)]


_PEFT: dict[str, Callable[[], Built]] = {
    "LoRA": partial(_adapted, "LoraConfig", r=4, lora_dropout=0.1),
    "DoRA": partial(_adapted, "LoraConfig", r=4, use_dora=True),
    "LoRA embedding": partial(_adapted, "LoraConfig", r=4, target_modules=["embed", "second"]),
    "AdaLoRA": partial(_adapted, "AdaLoraConfig", init_r=4, target_r=2, total_step=10),
    "LoHa": partial(_adapted, "LoHaConfig", r=4),
    "LoKr": partial(_adapted, "LoKrConfig", r=4),
    "IA3": partial(_adapted, "IA3Config", feedforward_modules=["second"]),
    "OFT": partial(_adapted, "OFTConfig", r=4, oft_block_size=0),
    "BOFT": partial(_adapted, "BOFTConfig", boft_block_size=4),
    "VeRA": partial(_adapted, "VeraConfig", r=4),
    "FourierFT": partial(_adapted, "FourierFTConfig", n_frequency=10),
    "HRA": partial(_adapted, "HRAConfig", r=4),
    "VBLoRA": partial(_adapted, "VBLoRAConfig", r=4, topk=2, num_vectors=8, vector_length=4),
    "RandLora": partial(_adapted, "RandLoraConfig", r=4),
    "C3A": partial(_adapted, "C3AConfig", block_size=4),
    "Road": partial(_adapted, "RoadConfig", group_size=8),
    "Shira": partial(_adapted, "ShiraConfig", r=4),
    "Miss": partial(_adapted, "MissConfig", r=4),
    "LNTuning": partial(_adapted, "LNTuningConfig", target_modules=["norm"]),
    "TrainableTokens": partial(_adapted, "TrainableTokensConfig", target_modules=["embed"], token_indices=[1, 3]),
    "PromptTuning": partial(_prompted, "PromptTuningConfig"),
    "PrefixTuning": partial(_prompted, "PrefixTuningConfig"),
    "PromptEncoder": partial(_prompted, "PromptEncoderConfig", encoder_hidden_size=16),
}


def _unet(**options: Any) -> Any:
    return _get("denoising_diffusion_pytorch.Unet")(8, dim_mults=(1, 2), flash_attn=False, **options)


def _diffusion(kind: str, step: str = "", net: dict[str, Any] | None = None, **options: Any) -> Built:
    made = _get(f"denoising_diffusion_pytorch.{kind}")(_unet(**(net or {})), image_size=16, **options)
    if step == "sample":
        return (lambda n: made.sample(batch_size=n)), [(2,)]
    return made, [(_u(2, 3, 16, 16),), (_u(3, 3, 16, 16),)]


def _diffusion_1d(step: str = "") -> Built:
    net = _get("denoising_diffusion_pytorch.Unet1D")(8, dim_mults=(1, 2), channels=2)
    made = _get("denoising_diffusion_pytorch.GaussianDiffusion1D")(net, seq_length=16, timesteps=4)
    return ((lambda n: made.sample(batch_size=n)), [(2,)]) if step else (made, [(_u(2, 2, 16),), (_u(3, 2, 16),)])


_continuous: dict[str, Any] = {"net": {"random_fourier_features": True}, "num_sample_steps": 3}
_DIFFUSION: dict[str, Callable[[], Built]] = {
    "Unet": lambda: (_unet(), [(_t(2, 3, 16, 16), _i(9, 2)), (_t(2, 3, 24, 16), _i(9, 2))]),
    "Unet self_condition": lambda: (_unet(self_condition=True), [(_t(2, 3, 16, 16), _i(9, 2))]),
    "GaussianDiffusion": partial(_diffusion, "GaussianDiffusion", timesteps=4),
    "GaussianDiffusion sample": partial(_diffusion, "GaussianDiffusion", "sample", timesteps=4),
    "GaussianDiffusion ddim": partial(_diffusion, "GaussianDiffusion", "sample", timesteps=8, sampling_timesteps=3),
    "GaussianDiffusion1D": _diffusion_1d,
    "GaussianDiffusion1D sample": partial(_diffusion_1d, "sample"),
    "LearnedGaussianDiffusion": lambda: _learned(),
    "ElucidatedDiffusion": partial(_diffusion, "ElucidatedDiffusion", **_continuous),
    "ElucidatedDiffusion sample": partial(_diffusion, "ElucidatedDiffusion", "sample", **_continuous),
    "ContinuousTimeGaussianDiffusion": partial(_diffusion, "ContinuousTimeGaussianDiffusion", **_continuous),
    "ContinuousTimeGaussianDiffusion sample": partial(
        _diffusion, "ContinuousTimeGaussianDiffusion", "sample", **_continuous
    ),
    "VParamContinuousTimeGaussianDiffusion": partial(
        _diffusion, "VParamContinuousTimeGaussianDiffusion", **_continuous
    ),
    "KarrasUnet": lambda: _made(
        "denoising_diffusion_pytorch.KarrasUnet",
        [(_t(2, 3, 16, 16), _u(2))],
        image_size=16,
        dim=16,
        dim_max=32,
        channels=3,
        num_downsamples=1,
        num_blocks_per_stage=1,
        attn_res=(8,),
        attn_dim_head=8,
    ),
    "KarrasUnet1D": lambda: _made(
        "denoising_diffusion_pytorch.KarrasUnet1D",
        [(_t(2, 3, 16), _u(2))],
        seq_len=16,
        dim=16,
        dim_max=32,
        channels=3,
        num_downsamples=1,
        num_blocks_per_stage=1,
        attn_res=(8,),
        attn_dim_head=8,
    ),
}


def _learned() -> Built:
    made = _get("denoising_diffusion_pytorch.LearnedGaussianDiffusion")(
        _unet(out_dim=6), image_size=16, timesteps=4, objective="pred_noise"
    )
    return made, [(_u(2, 3, 16, 16),)]


def _estimator(name: str, method: str, **options: Any) -> Built:
    """A density or ratio estimator on three parameters and five observed values."""
    theta, x = _t(30, 3), _t(30, 5)
    made = _get(f"sbi.neural_nets.net_builders.{name}")(theta, x, **options)
    if method == "loss":
        return (lambda given, condition: made.loss(given, condition)), [(_t(4, 3), _t(4, 5)), (_t(6, 3), _t(6, 5))]
    if method == "sample":
        return (lambda condition: made.sample((6,), condition)), [(_t(2, 5),)]
    if method == "ratio":
        return made, [(_t(4, 3), _t(4, 5)), (_t(6, 3), _t(6, 5))]
    return (lambda given, condition: made.log_prob(given, condition)), [
        (_t(1, 4, 3), _t(4, 5)),
        (_t(1, 6, 3), _t(6, 5)),
    ]


_S = "sbi.utils."
_SBI: dict[str, Callable[[], Built]] = {
    "MAF log_prob": partial(_estimator, "build_maf", "log_prob", hidden_features=8, num_transforms=2),
    "MAF sample": partial(_estimator, "build_maf", "sample", hidden_features=8, num_transforms=2),
    "NSF log_prob": partial(_estimator, "build_nsf", "log_prob", hidden_features=8, num_transforms=2),
    "NSF sample": partial(_estimator, "build_nsf", "sample", hidden_features=8, num_transforms=2),
    "MAF RQS": partial(_estimator, "build_maf_rqs", "log_prob", hidden_features=8, num_transforms=2),
    "MADE": partial(_estimator, "build_made", "log_prob", hidden_features=8),
    "MDN": partial(_estimator, "build_mdn", "log_prob", hidden_features=8, num_components=3),
    "MDN sample": partial(_estimator, "build_mdn", "sample", hidden_features=8, num_components=3),
    "zuko NSF": partial(_estimator, "build_zuko_nsf", "log_prob", hidden_features=8, num_transforms=2),
    "flow matching loss": partial(_estimator, "build_vector_field_estimator", "loss", hidden_features=8, num_layers=2),
    "score matching loss": partial(
        _estimator, "build_vector_field_estimator", "loss", estimator_type="score", hidden_features=8, num_layers=2
    ),
    "ResNet classifier": partial(_estimator, "build_resnet_classifier", "ratio", hidden_features=8),
    "BoxUniform log_prob": lambda: (
        _get(f"{_S}BoxUniform")(torch.zeros(3), torch.ones(3)).log_prob,
        [(_u(4, 3),), (_u(6, 3),)],
    ),
    "MultipleIndependent": lambda: (
        _get(f"{_S}MultipleIndependent")(
            [torch.distributions.Uniform(torch.zeros(1), torch.ones(1)), torch.distributions.Gamma(torch.ones(1), 2.0)]
        ).log_prob,
        [(_u(4, 2),), (_u(6, 2),)],
    ),
    "handle_invalid_x": lambda: _call(f"{_S}handle_invalid_x", (_t(4, 3),), (_t(6, 3),)),
    "within_support": lambda: (
        partial(_get(f"{_S}within_support"), _get(f"{_S}BoxUniform")(torch.zeros(3), torch.ones(3))),
        [(_t(4, 3),)],
    ),
    "assert_all_finite": lambda: _call(f"{_S}assert_all_finite", (_t(4, 3),)),
    "searchsorted": lambda: _call(f"{_S}searchsorted", (torch.linspace(0, 1, 7).repeat(4, 1), _u(4))),
    "mog_log_prob": lambda: _call(
        f"{_S}mog_log_prob", (_t(4, 3), _t(4, 2), _t(4, 2, 3), torch.eye(3).repeat(4, 2, 1, 1))
    ),
    "warn_if_invalid_for_zscoring": lambda: _call(f"{_S}warn_if_invalid_for_zscoring", (_t(9, 3),)),
    "standardizing_net": lambda: _call(f"{_S}standardizing_net", (_t(9, 3),)),
    "unbiased_mmd_squared": lambda: _call(f"{_S}metrics.unbiased_mmd_squared", (_t(9, 3), _t(8, 3))),
    "wasserstein_2_squared": lambda: _call(
        f"{_S}metrics.wasserstein_2_squared", (_t(9, 3), _t(8, 3)), epsilon=0.1, max_iter=5
    ),
    "get_kde": lambda: _call(f"{_S}gaussian_kde_log_eval", (_t(9, 3), _t(9, 3))),
    "check_tarp": lambda: _call("sbi.diagnostics.check_tarp", (_u(11), torch.linspace(0, 1, 11))),
    "CNNEmbedding": lambda: _made("sbi.neural_nets.embedding_nets.CNNEmbedding", [(_t(4, 1, 16, 16),)], (16, 16)),
    "PermutationInvariantEmbedding": lambda: _made(
        "sbi.neural_nets.embedding_nets.PermutationInvariantEmbedding",
        [(_t(4, 6, 5),), (_t(4, 7, 5),)],
        _get("sbi.neural_nets.embedding_nets.FCEmbedding")(5, 8),
        8,
    ),
    "SpectralConvEmbedding": lambda: _made(
        "sbi.neural_nets.embedding_nets.SpectralConvEmbedding", [(_t(4, 1, 24),)], 1, modes=4
    ),
    "accept_reject_sample": lambda: (
        lambda n: _get("sbi.samplers.rejection.rejection.accept_reject_sample")(
            lambda shape, **_: torch.randn(*shape, 2),
            lambda theta: theta.sum(-1) > 0,
            n,
            max_sampling_batch_size=20,
        ),
        [(8,)],
    ),
    "gradient_ascent": lambda: (
        lambda inits: _get(f"{_S}gradient_ascent")(
            lambda theta: -(theta**2).sum(-1), inits, num_iter=3, num_to_optimize=2, save_best_every=2
        ),
        [(_t(6, 2),)],
    ),
}


_D = "tianshou.utils.net.discrete."
_C = "tianshou.utils.net.continuous."
_OBSERVED = [(_t(4, 6),), (_t(5, 6),)]


def _net(**options: Any) -> Any:
    return _get("tianshou.utils.net.common.Net")(state_shape=(6,), hidden_sizes=[8], **options)


def _returns(name: str) -> Built:
    """A function of returns on a batch of transitions."""
    batch = _get("tianshou.data.Batch")
    policy = _get("tianshou.algorithm.modelfree.dqn.DiscreteQLearningPolicy")(
        model=_net(action_shape=3), action_space=_get("gymnasium.spaces.Discrete")(3)
    )
    if name == "policy":
        return (lambda obs: policy(batch(obs=obs, info=batch()))), [(_t(4, 6),)]
    return (lambda obs: policy.compute_q_value(obs, None)), [(_t(4, 3),)]


def _vae() -> Built:
    encoder, decoder = nn.Sequential(nn.Linear(8, 8)), nn.Sequential(nn.Linear(10, 2))
    return _made(
        f"{_C}VAE", [(_t(4, 6), _t(4, 2))], encoder=encoder, decoder=decoder, hidden_dim=8, latent_dim=4, max_action=1.0
    )


_TIANSHOU: dict[str, Callable[[], Built]] = {
    "Net": lambda: (_net(action_shape=3), _OBSERVED),
    "Net dueling": lambda: (
        _net(action_shape=3, dueling_param=({"hidden_sizes": [8]}, {"hidden_sizes": [8]})),
        _OBSERVED,
    ),
    "Net softmax atoms": lambda: (_net(action_shape=3, softmax=True, num_atoms=5), _OBSERVED),
    "Recurrent": lambda: _made(
        "tianshou.utils.net.common.Recurrent",
        [(_t(4, 3, 6),)],
        layer_num=1,
        state_shape=(6,),
        action_shape=3,
        hidden_layer_size=8,
    ),
    "BranchingNet": lambda: _made(
        "tianshou.utils.net.common.BranchingNet",
        _OBSERVED,
        state_shape=(6,),
        num_branches=2,
        common_hidden_sizes=[8],
        value_hidden_sizes=[8],
        action_hidden_sizes=[8],
    ),
    "EnsembleLinear": lambda: _made("tianshou.utils.net.common.EnsembleLinear", [(_t(4, 6),), (_t(2, 4, 6),)], 2, 6, 3),
    "DiscreteActor": lambda: _made(f"{_D}DiscreteActor", _OBSERVED, preprocess_net=_net(), action_shape=3),
    "DiscreteCritic": lambda: _made(f"{_D}DiscreteCritic", _OBSERVED, preprocess_net=_net()),
    "ImplicitQuantileNetwork": lambda: _made(
        f"{_D}ImplicitQuantileNetwork", [(_t(4, 6), 5)], preprocess_net=_net(), action_shape=3
    ),
    "FractionProposalNetwork": lambda: _made(f"{_D}FractionProposalNetwork", [(_t(4, 8),)], 5, 8),
    "FullQuantileFunction": lambda: _made(
        f"{_D}FullQuantileFunction",
        [(_t(4, 6), _get(f"{_D}FractionProposalNetwork")(5, 8))],
        preprocess_net=_net(),
        action_shape=3,
    ),
    "NoisyLinear": lambda: _made(f"{_D}NoisyLinear", [(_t(4, 6),)], 6, 3),
    "IntrinsicCuriosityModule": lambda: _made(
        f"{_D}IntrinsicCuriosityModule",
        [(_t(4, 6), _i(3, 4), _t(4, 6))],
        feature_net=nn.Linear(6, 5),
        feature_dim=5,
        action_dim=3,
    ),
    "ContinuousActorProbabilistic": lambda: _made(
        f"{_C}ContinuousActorProbabilistic", _OBSERVED, preprocess_net=_net(), action_shape=2, conditioned_sigma=True
    ),
    "ContinuousCritic": lambda: _made(
        f"{_C}ContinuousCritic",
        [(_t(4, 6), _t(4, 2))],
        preprocess_net=_net(action_shape=2, concat=True),
    ),
    "RecurrentActorProb": lambda: _made(
        f"{_C}RecurrentActorProb",
        [(_t(4, 3, 6),)],
        layer_num=1,
        state_shape=(6,),
        action_shape=(2,),
        hidden_layer_size=8,
    ),
    "VAE": _vae,
    "Q-learning policy": partial(_returns, "policy"),
    "Q-learning values": partial(_returns, "values"),
}


_KYMATIO: dict[str, Callable[[], Built]] = {
    "Scattering1D": lambda: _made("kymatio.torch.Scattering1D", [(_t(2, 256),), (_t(3, 256),)], 3, 256, Q=2),
    "Scattering1D list": lambda: _made("kymatio.torch.Scattering1D", [(_t(2, 256),)], 3, 256, Q=2, out_type="list"),
    "Scattering1D order 1": lambda: _made(
        "kymatio.torch.Scattering1D", [(_t(256),)], 3, 256, max_order=1, oversampling=1
    ),
    "Scattering2D": lambda: _made("kymatio.torch.Scattering2D", [(_t(2, 32, 32),)], 2, (32, 32), L=4),
    "Scattering2D list": lambda: _made(
        "kymatio.torch.Scattering2D", [(_t(2, 32, 32),)], 2, (32, 32), L=4, out_type="list"
    ),
    "HarmonicScattering3D": lambda: _made(
        "kymatio.torch.HarmonicScattering3D", [(_t(1, 16, 16, 16),)], 1, (16, 16, 16), L=1
    ),
}


def _residual(kind: str) -> Built:
    """The residual of an equation, or the error at a boundary, of a small network."""
    net = _get("deepxde.nn.pytorch.FNN")([2, 8, 1], "tanh", "Glorot normal")
    jacobian, hessian = _get("deepxde.gradients.jacobian"), _get("deepxde.gradients.hessian")

    def step(x: torch.Tensor) -> Any:
        y = net(x)
        _get("deepxde.gradients.clear")()
        return jacobian(y, x, i=0, j=0) if kind == "jacobian" else hessian(y, x, i=0, j=1)

    return step, [(_u(5, 2).requires_grad_(),), (_u(6, 2).requires_grad_(),)]


def _boundary(kind: str) -> Built:
    geometry = _get("deepxde.geometry.Rectangle")([0, 0], [1, 1])
    net = _get("deepxde.nn.pytorch.FNN")([2, 8, 1], "tanh", "Glorot normal")
    if kind == "factor":
        return (lambda x: geometry.boundary_constraint_factor(x)), [(_u(5, 2),)]
    if kind == "points":
        bc = _get("deepxde.icbc.PointSetBC")(_u(5, 2).numpy(), _u(5, 1).numpy())
    else:
        bc = _get("deepxde.icbc.DirichletBC")(geometry, lambda _: 0, lambda _, on: on)

    def step(x: torch.Tensor) -> Any:
        y = net(x)
        return bc.error(x.detach().numpy(), x, y, 0, 5)

    return step, [(_u(5, 2),)]


_X = "deepxde.nn.pytorch."
_DEEPXDE: dict[str, Callable[[], Built]] = {
    "FNN": lambda: _made(f"{_X}FNN", [(_u(5, 2),), (_u(6, 2),)], [2, 8, 8, 1], "tanh", "Glorot normal"),
    "PFNN": lambda: _made(f"{_X}PFNN", [(_u(5, 2),)], [2, [8, 8], 2], "tanh", "Glorot normal"),
    "DeepONet": lambda: _made(
        f"{_X}DeepONet",
        [((_u(5, 6), _u(5, 2)),), ((_u(4, 6), _u(4, 2)),)],
        [6, 8, 8],
        [2, 8, 8],
        "relu",
        "Glorot normal",
    ),
    "DeepONet independent": lambda: _made(
        f"{_X}DeepONet",
        [((_u(5, 6), _u(5, 2)),)],
        [6, 8, 8],
        [2, 8, 8],
        "relu",
        "Glorot normal",
        num_outputs=2,
        multi_output_strategy="independent",
    ),
    "DeepONetCartesianProd": lambda: _made(
        f"{_X}DeepONetCartesianProd", [((_u(5, 6), _u(7, 2)),)], [6, 8, 8], [2, 8, 8], "relu", "Glorot normal"
    ),
    "PODDeepONet": lambda: _made(
        f"{_X}PODDeepONet", [((_u(5, 6), _u(7, 2)),)], _u(7, 3).numpy(), [6, 8, 3], "relu", "Glorot normal"
    ),
    "MIONetCartesianProd": lambda: _made(
        f"{_X}MIONetCartesianProd",
        [((_u(5, 6), _u(5, 4), _u(7, 2)),)],
        [6, 8, 8],
        [4, 8, 8],
        [2, 8, 8],
        "relu",
        "Glorot normal",
    ),
    "jacobian": partial(_residual, "jacobian"),
    "hessian": partial(_residual, "hessian"),
    "DirichletBC error": partial(_boundary, "dirichlet"),
    "PointSetBC error": partial(_boundary, "points"),
    "Rectangle boundary_constraint_factor": partial(_boundary, "factor"),
    "Disk boundary_constraint_factor": lambda: (
        _get("deepxde.geometry.Disk")([0, 0], 1).boundary_constraint_factor,
        [(_u(5, 2),)],
    ),
    "Hypersphere distance2boundary_unitdirn": lambda: (
        _get("deepxde.geometry.Hypersphere")([0.0, 0.0, 0.0], 1.0).boundary_constraint_factor,
        [(_u(5, 3),)],
    ),
}


_L = "lightly.loss."
_PAIRS = [(_t(6, 16), _t(6, 16)), (_t(8, 16), _t(8, 16))]
_LIGHTLY: dict[str, Callable[[], Built]] = {
    **{
        name: partial(lambda name, options: _made(f"{_L}{name}", _PAIRS, **options), name, options)
        for name, options in (
            ("NTXentLoss", {}),
            ("BarlowTwinsLoss", {}),
            ("DCLLoss", {}),
            ("DCLWLoss", {}),
            ("VICRegLoss", {}),
            ("TiCoLoss", {}),
            ("NegativeCosineSimilarity", {}),
            ("MACLLoss", {}),
        )
    },
    "NTXentLoss memory": lambda: _made(f"{_L}NTXentLoss", _PAIRS, memory_bank_size=(32, 16)),
    "FroSSLLoss": lambda: _made(f"{_L}FroSSLLoss", [([_t(6, 16)] * 2,)]),
    "DirectCLRLoss": lambda: _made(f"{_L}DirectCLRLoss", _PAIRS, loss_dim=8),
    "KoLeoLoss": lambda: _made(f"{_L}KoLeoLoss", [(_t(6, 16),), (_t(8, 16),)]),
    "DINOLoss": lambda: _made(f"{_L}DINOLoss", [([_t(4, 16)] * 2, [_t(4, 16)] * 3)], output_dim=16),
    "IBOTPatchLoss": lambda: _made(
        f"{_L}IBOTPatchLoss", [(_t(6, 16), _t(6, 16), (torch.arange(32) % 5 == 0)[:30].reshape(2, 3, 5))], output_dim=16
    ),
    "MSNLoss": lambda: _made(f"{_L}MSNLoss", [(_t(8, 16), _t(4, 16), _t(5, 16))]),
    "PMSNLoss": lambda: _made(f"{_L}PMSNLoss", [(_t(8, 16), _t(4, 16), _t(5, 16))]),
    "SwaVLoss": lambda: _made(
        f"{_L}SwaVLoss", [([_t(4, 8)] * 2, [_t(4, 8)] * 3), ([_t(4, 8)] * 2, [], [_t(6, 8)] * 2)]
    ),
    "VICRegLLoss": lambda: _made(
        f"{_L}VICRegLLoss", [([(_t(4, 16), _t(4, 3, 3, 8))] * 2, [_u(4, 3, 3, 2)] * 2)], num_matches=(4, 2)
    ),
    "WMSELoss": lambda: _made(f"{_L}WMSELoss", [(_t(16, 4),)], embedding_dim=4, w_size=8),
    "CAPILoss": lambda: _made(f"{_L}CAPILoss", [(_t(2, 8, 16), _t(2, 8, 16))]),
    "SIGReg": lambda: _made(f"{_L}SIGReg", [(_t(8, 16),)], num_vectors=16),
    "EMPSSLLoss": lambda: _made(f"{_L}EMPSSLLoss", [([_t(6, 16)] * 3,)]),
    "MMCRLoss": lambda: _made(f"{_L}MMCRLoss", [(_t(6, 3, 16), _t(6, 3, 16))]),
    "DetConSLoss": lambda: _made(
        f"{_L}DetConSLoss", [(_t(3, 4, 16), _t(3, 4, 16), _i(4, 3, 4), _i(4, 3, 4))], gather_distributed=False
    ),
    "PatchKernelAlignmentLoss": lambda: _made(f"{_L}PatchKernelAlignmentLoss", [(_t(2, 6, 16), _t(2, 6, 16))], 4),
    "NNMemoryBankModule": lambda: _made(
        "lightly.models.modules.nn_memory_bank.NNMemoryBankModule", [(_t(4, 16), True), (_t(5, 16), True)], (8, 16)
    ),
    "SwaVPrototypes": lambda: _made(
        "lightly.models.modules.heads.SwaVPrototypes", [(_t(4, 16), 0), (_t(4, 16), 5)], 16, 5, 2
    ),
    "SMoGPrototypes": lambda: _made(
        "lightly.models.modules.heads.SMoGPrototypes", [(_t(4, 16), _t(5, 16))], _t(5, 16), 0.9
    ),
    "DINOProjectionHead": lambda: _made(
        "lightly.models.modules.heads.DINOProjectionHead", [(_t(4, 16),)], 16, 16, 8, 12
    ),
    "random_token_mask": lambda: _call("lightly.models.utils.random_token_mask", ((2, 9),)),
    "nearest_neighbors": lambda: _call(
        "lightly.models.utils.nearest_neighbors", (_t(2, 9, 4), _t(2, 9, 4), _u(2, 9, 9), 3)
    ),
    "pool_masked": lambda: _call("lightly.models.utils.pool_masked", (_t(2, 4, 3, 3), _i(3, 2, 3, 3), 3)),
}


_IMAGES = [(_u(2, 3, 64, 64), _u(2, 3, 64, 64)), (_u(1, 3, 64, 72), _u(1, 3, 64, 72))]
_LARGE = [(_u(1, 3, 192, 192), _u(1, 3, 192, 192))]
_PIQA: dict[str, Callable[[], Built]] = {
    **{
        name: partial(lambda name: _made(f"piqa.{name}", _IMAGES[: 1 if name == "VSI" else None]), name)
        for name in ("PSNR", "SSIM", "GMSD", "MS_GMSD", "MDSI", "HaarPSI", "VSI", "FSIM")
    },
    "MS_SSIM": lambda: _made("piqa.MS_SSIM", _LARGE),
    "TV": lambda: _made("piqa.TV", [(_u(2, 3, 16, 16),)]),
}


def _forecaster(path: str, series: int | None = None, **options: Any) -> Built:
    if series is not None:
        options["n_series"] = series
    made = _get(f"neuralforecast.models.{path}")(h=4, input_size=16, **options)
    width = series or 1
    given = [
        {
            "insample_y": _t(n, 16, width),
            "insample_mask": torch.ones(n, 16, width),
            "futr_exog": None,
            "hist_exog": None,
            "stat_exog": None,
            "outsample_y": _t(n, 4, width),
        }
        for n in (3, 4)
    ]
    return made, [(one,) for one in given]


_F = "neuralforecast.losses.pytorch."


def _loss(name: str, outputs: int = 1, masked: bool = True, *given: Any, **options: Any) -> Built:
    made = _get(f"{_F}{name}")(*given, **options)
    inputs = [{"y": _t(n, 4, 1), "y_hat": _t(n, 4, 1, outputs)} for n in (3, 5)]
    for one in inputs:
        if outputs == 1:
            one["y_hat"] = one["y_hat"][..., 0]
        if masked:
            one["mask"] = torch.ones_like(one["y"])
        if name == "MASE":
            one["y_insample"] = _t(one["y"].shape[0], 8, 1)
    return (lambda **k: made(**k)), inputs


def _distribution(name: str) -> Built:
    made = _get(f"{_F}DistributionLoss")(name, num_samples=5, **({"rho": 1.5} if name == "Tweedie" else {}))
    count = len(made.param_names)

    def step(y: torch.Tensor, *raw: torch.Tensor) -> Any:
        decoupled = made.scale_decouple(made.domain_map(torch.cat(raw, -1)))
        return made(y, decoupled)

    return step, [(_u(3, 4, 1).round(), *(_t(3, 4, 1) for _ in range(count)))]


_small = {"hidden_size": 16}
_NEURALFORECAST: dict[str, Callable[[], Built]] = {
    "NHITS": lambda: _forecaster("nhits.NHITS", mlp_units=[[16, 16]] * 3),
    "NBEATS": lambda: _forecaster("nbeats.NBEATS", mlp_units=[[16, 16]] * 3),
    "TFT": lambda: _forecaster("tft.TFT", n_head=2, **_small),
    "PatchTST": lambda: _forecaster(
        "patchtst.PatchTST", n_heads=2, linear_hidden_size=16, patch_len=4, stride=2, **_small
    ),
    "Autoformer": lambda: _forecaster("autoformer.Autoformer", n_head=2, MovingAvg_window=5, **_small),
    "Informer": lambda: _forecaster("informer.Informer", n_head=2, **_small),
    "FEDformer": lambda: _forecaster("fedformer.FEDformer", MovingAvg_window=5, modes=4, **_small),
    "TimesNet": lambda: _forecaster("timesnet.TimesNet", top_k=2, num_kernels=2, conv_hidden_size=8, **_small),
    "DLinear": lambda: _forecaster("dlinear.DLinear", moving_avg_window=5),
    "BiTCN": lambda: _forecaster("bitcn.BiTCN"),
    "KAN": lambda: _forecaster("kan.KAN", **_small),
    "TSMixer": lambda: _forecaster("tsmixer.TSMixer", 2, ff_dim=8),
    "iTransformer": lambda: _forecaster("itransformer.iTransformer", 2, n_heads=2, d_ff=16, **_small),
    "SOFTS": lambda: _forecaster("softs.SOFTS", 2, d_core=8, d_ff=16, **_small),
    "TimeMixer": lambda: _forecaster("timemixer.TimeMixer", 2, moving_avg=5, d_model=8, d_ff=8),
    "MAE": lambda: _loss("MAE"),
    "MASE": lambda: _loss("MASE", 1, True, 2),
    "SMAPE": lambda: _loss("SMAPE", masked=False),
    "MQLoss": lambda: _loss("MQLoss", 5),
    "HuberMQLoss": lambda: _loss("HuberMQLoss", 5),
    "IQLoss": lambda: _loss("IQLoss"),
    "FreDF": lambda: _loss("FreDF"),
    **{
        f"DistributionLoss {name}": partial(_distribution, name)
        for name in ("Normal", "Poisson", "StudentT", "NegativeBinomial", "Bernoulli", "Tweedie")
    },
    **{
        f"TemporalNorm {name}": partial(
            lambda name: (
                _get("neuralforecast.common._scalers.TemporalNorm")(name, dim=1, num_features=2).transform,
                [(_t(3, 8, 2), torch.ones(3, 8, 2)), (_t(3, 9, 2), torch.ones(3, 9, 2))],
            ),
            name,
        )
        for name in ("standard", "robust", "minmax", "invariant", "revin")
    },
}


_V: dict[str, Any] = {"wavelength": 700e-9, "spacing": 1e-5}


def _field(n: int = 12, z: float = 0.0) -> Any:
    return _get("torchoptics.Field")(torch.complex(_t(n, n), _t(n, n)), z=z, **_V)


def _through(name: str, *given: Any, **options: Any) -> Built:
    made = _get(f"torchoptics.elements.{name}")(*given, spacing=1e-5, **options)
    return made, [(_field(),)]


def _profile(name: str, *given: Any, **options: Any) -> Built:
    function = _get(f"torchoptics.profiles.{name}")
    return (lambda scale: function((12, 10), *(g * scale for g in given), spacing=1e-5, **options)), [
        (torch.tensor(1.0),)
    ]


def _polarized() -> Any:
    return _get("torchoptics.Field")(torch.complex(_t(3, 12, 12), _t(3, 12, 12)), **_V)


def _system() -> Built:
    lens = _get("torchoptics.elements.Lens")((12, 12), 0.01, z=0.01, spacing=1e-5)
    detector = _get("torchoptics.elements.Detector")((12, 12), z=0.02, spacing=1e-5)
    return _get("torchoptics.System")(lens, detector), [(_field(),)]


_TORCHOPTICS: dict[str, Callable[[], Built]] = {
    "Lens": lambda: _through("Lens", (12, 12), 0.01),
    "PhaseModulator": lambda: _through("PhaseModulator", _t(12, 12)),
    "LinearDetector": lambda: _through("LinearDetector", _u(2, 12, 12)),
    "Detector": lambda: _through("Detector", (12, 12)),
    "BeamSplitter": lambda: _through("BeamSplitter", (12, 12), 0.3, 0.1, 0.2, 0.3),
    "LinearPolarizer": lambda: (_through("LinearPolarizer", (12, 12), 0.3)[0], [(_polarized(),)]),
    "QuarterWaveplate": lambda: (_through("QuarterWaveplate", (12, 12), 0.3)[0], [(_polarized(),)]),
    "System": _system,
    "propagate_to_z": lambda: ((lambda field: field.propagate_to_z(0.01)), [(_field(),)]),
    "propagate_to_z asm": lambda: (
        (lambda field: field.propagate_to_z(1e-4, propagation_method="ASM")),
        [(_field(),)],
    ),
    "normalize": lambda: ((lambda field: field.normalize(2.0)), [(_field(),)]),
    "centroid": lambda: ((lambda field: (field.centroid(), field.std())), [(_field(),)]),
    "inner": lambda: ((lambda a, b: a.inner(b)), [(_field(), _field())]),
    "gaussian": lambda: _profile("gaussian", 3e-5, wavelength=700e-9),
    "hermite_gaussian": lambda: (
        (lambda w: _get("torchoptics.profiles.hermite_gaussian")((12, 10), 1, 2, w, **_V)),
        [(torch.tensor(3e-5),)],
    ),
    "laguerre_gaussian": lambda: (
        (lambda w: _get("torchoptics.profiles.laguerre_gaussian")((12, 10), 1, 2, w, **_V)),
        [(torch.tensor(3e-5),)],
    ),
    "zernike": lambda: (
        (lambda r: _get("torchoptics.profiles.zernike")((12, 10), 3, 1, r, spacing=1e-5)),
        [(torch.tensor(5e-5),)],
    ),
    "circle": lambda: _profile("circle", 3e-5),
    "rectangle": lambda: (
        (lambda side: _get("torchoptics.profiles.rectangle")((12, 10), side, spacing=1e-5)),
        [(torch.tensor([3e-5, 2e-5]),)],
    ),
    "lens_phase": lambda: _profile("lens_phase", 0.01, wavelength=700e-9),
    "binary_grating": lambda: _profile("binary_grating", 3e-5),
    "airy_pattern": lambda: _profile("airy_pattern", 3e-5),
    "gaussian_schell_model": lambda: _profile("gaussian_schell_model", 3e-5, 2e-5),
}


_B = "stanza.models.common."


def _beam() -> Built:
    made = _get(f"{_B}beam.Beam")(3)

    def step(first: torch.Tensor, second: torch.Tensor) -> Any:
        made.advance(first)
        made.advance(second)
        return made.sort_best()

    return step, [(torch.log_softmax(_t(3, 7), -1), torch.log_softmax(_t(3, 7), -1))]


def _tokenizer() -> Built:
    args = {
        "rnn_layers": 1, "hier_rnn_layers": 0, "conv_res": None, "hierarchical": True, "use_mwt": True,
        "hier_invtemp": 0.5, "feat_unit_dropout": 0.0, "unit_dropout": 0.1, "input_dropout": False, "feat_dim": 4,
        "use_dictionary": False, "charlm_forward_file": None, "lr_decay": 0.9, "sentence_second_pass": False,
        "residual": False, "tok_noise": 0.0,
    }  # fmt: skip
    made = _get("stanza.models.tokenization.model.Tokenizer")(args, 20, 8, 8, 0.1, 0.1)
    return made, [(_i(20, 3, 9), _t(3, 9, 4), [9, 7, 5])]


_STANZA: dict[str, Callable[[], Built]] = {
    "DeepBiaffineScorer": lambda: _made(
        f"{_B}biaffine.DeepBiaffineScorer", [(_t(2, 5, 8), _t(2, 5, 8)), (_t(2, 6, 8), _t(2, 6, 8))], 8, 8, 6, 3
    ),
    "PairwiseBilinear": lambda: _made(f"{_B}biaffine.PairwiseBilinear", [(_t(2, 5, 8), _t(2, 6, 8))], 8, 8, 3),
    "LSTMAttention": lambda: _made(
        f"{_B}seq2seq_modules.LSTMAttention", [(_t(2, 5, 8), (_t(2, 6), _t(2, 6)), _t(2, 7, 6))], 8, 6
    ),
    "SoftDotAttention": lambda: _made(
        f"{_B}seq2seq_modules.SoftDotAttention", [(_t(2, 6), _t(2, 7, 6), _i(2, 2, 7).bool())], 6
    ),
    "CRFLoss": lambda: _made(
        f"{_B}crf.CRFLoss", [(_t(2, 5, 4), torch.tensor([[0, 0, 0, 0, 0], [0, 0, 0, 1, 1]]).bool(), _i(4, 2, 5))], 4
    ),
    "viterbi_decode": lambda: _call(f"{_B}crf.viterbi_decode", (_t(5, 4).numpy(), _t(4, 4).numpy())),
    "PackedLSTM": lambda: _made(
        f"{_B}packed_lstm.PackedLSTM", [(_t(2, 5, 8), [5, 3])], 8, 6, 1, batch_first=True, pad=True
    ),
    "LSTMwRecDropout": lambda: _made(
        f"{_B}packed_lstm.PackedLSTM", [(_t(2, 5, 8), [5, 3])], 8, 6, 1, batch_first=True, rec_dropout=0.2
    ),
    "HighwayLSTM": lambda: _made(
        f"{_B}hlstm.HighwayLSTM", [(_t(2, 5, 8), [5, 3])], 8, 6, 1, batch_first=True, bidirectional=True, pad=True
    ),
    "WordDropout": lambda: _made(f"{_B}dropout.WordDropout", [(_t(2, 5, 8),)], 0.3),
    "LockedDropout": lambda: _made(f"{_B}dropout.LockedDropout", [(_t(2, 5, 8),)], 0.3),
    "SequenceUnitDropout": lambda: _made(f"{_B}dropout.SequenceUnitDropout", [(_i(9, 2, 5),)], 0.3, 1),
    "FocalLoss": lambda: _made(f"{_B}loss.FocalLoss", [(_t(6, 3), _i(3, 6))]),
    "MaxEntropySequenceLoss": lambda: _made(f"{_B}loss.MaxEntropySequenceLoss", [(_t(6, 7), _i(7, 6))], 7, 0.1),
    "MixLoss": lambda: _made(f"{_B}loss.MixLoss", [(_t(6, 7), _i(7, 6), _t(2, 3), _i(3, 2))], 7, 0.1),
    "weighted_cross_entropy_loss": lambda: _call(f"{_B}loss.weighted_cross_entropy_loss", ([0, 1, 1, 2],)),
    "LargeMarginInSoftmaxLoss": lambda: _made(
        f"{_B}large_margin_loss.LargeMarginInSoftmaxLoss", [(_t(6, 4), _i(4, 6))]
    ),
    "MaxoutLinear": lambda: _made(f"{_B}maxout_linear.MaxoutLinear", [(_t(6, 8),)], 8, 4, 2),
    "PartitionedTransformerEncoder": lambda: _made(
        "stanza.models.constituency.partitioned_transformer.PartitionedTransformerEncoder",
        [(_t(2, 5, 16),), (_t(2, 6, 16), torch.zeros(2, 6).bool())],
        1,
        16,
        2,
        8,
        16,
        0.1,
        0.1,
        0.1,
    ),
    "ConcatPositionalEncoding": lambda: _made(
        "stanza.models.constituency.partitioned_transformer.ConcatPositionalEncoding", [(_t(2, 5, 8),)], 8, 16
    ),
    "SinusoidalEncoding": lambda: _made(
        "stanza.models.constituency.positional_encoding.SinusoidalEncoding",
        [(torch.arange(5),), (torch.arange(20),)],
        8,
        16,
    ),
    "RelativeAttention": lambda: _made(
        f"{_B}relative_attn.RelativeAttention", [(_t(2, 9, 16),), (_t(2, 5, 16),)], 16, 2, 3
    ),
    "Beam": _beam,
    "Tokenizer": _tokenizer,
}


_MODEL = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2))


def _kron() -> Any:
    square = [m @ m.T + torch.eye(m.shape[0]) for m in (_t(4, 4), _t(3, 3), _t(2, 2))]
    return _get("laplace.utils.matrix.Kron")([[square[0], square[1]], [square[2]]])


def _fitted(name: str, step: str, **options: Any) -> Built:
    made = _get(f"laplace.{name}")(
        nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 2)),
        options.pop("likelihood", "regression"),
        backend=_get("laplace.curvature.BackPackGGN"),
        **options,
    )
    loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(_t(8, 3), _t(8, 2)), batch_size=4)
    if made.likelihood == "classification":
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(_t(8, 3), _i(2, 8)), batch_size=4)
    made.fit(loader)
    if step == "predict":
        return (lambda x: made(x, pred_type="nn", link_approx="mc", n_samples=3)), [(_t(4, 3),)]
    if step == "evidence":
        return (lambda p: made.log_marginal_likelihood(p)), [(torch.tensor(2.0),)]
    return (lambda n: made.sample(n)), [(3,)]


_A = "laplace.utils."
_LAPLACE: dict[str, Callable[[], Built]] = {
    "symeig": lambda: _call(f"{_A}symeig", (torch.eye(4) + 0.1,)),
    "invsqrt_precision": lambda: _call(f"{_A}invsqrt_precision", (torch.eye(4) + 0.1,)),
    "kron": lambda: _call(f"{_A}kron", (_t(3, 3), _t(2, 2))),
    "block_diag": lambda: _call(f"{_A}block_diag", ([_t(3, 3), _t(2, 2)],)),
    "diagonal_add_scalar": lambda: _call(f"{_A}diagonal_add_scalar", (_t(3, 3), torch.tensor(2.0))),
    "expand_prior_precision": lambda: (
        partial(_get(f"{_A}expand_prior_precision"), model=_MODEL),
        [(torch.tensor([2.0]),), (_u(4),)],
    ),
    "fix_prior_prec_structure": lambda: _call(
        f"{_A}fix_prior_prec_structure", (torch.tensor(2.0), "layerwise", 4, 26, torch.device("cpu"), torch.float32)
    ),
    "normal_samples": lambda: _call(f"{_A}normal_samples", (_t(4, 2), torch.eye(2).repeat(4, 1, 1), 3)),
    "Kron logdet": lambda: (_with(_kron, lambda made, scale: (made * scale).decompose().logdet()), [(2.0,)]),
    "Kron decompose": lambda: (
        _with(_kron, lambda made, delta: (made.decompose() + delta).to_matrix()),
        [(torch.tensor(0.5),)],
    ),
    "KronDecomposed bmm": lambda: (
        _with(_kron, lambda made, x: made.decompose().bmm(x, exponent=-0.5)),
        [(_t(2, 1, 14),)],
    ),
    "RunningNLLMetric": lambda: (
        _with(_get(f"{_A}RunningNLLMetric"), lambda made, p, y: (made.update(p, y), made.compute())),
        [(torch.softmax(_t(6, 3), -1), _i(3, 6))],
    ),
    "DiagLaplace sample": partial(_fitted, "DiagLaplace", "sample"),
    "DiagLaplace evidence": partial(_fitted, "DiagLaplace", "evidence"),
    "DiagLaplace predict": partial(_fitted, "DiagLaplace", "predict", likelihood="classification"),
    "FullLaplace predict": partial(_fitted, "FullLaplace", "predict", likelihood="classification"),
}


def _atoms(n: int = 5, molecules: int = 2) -> dict[str, torch.Tensor]:
    """Molecules whose atoms are all neighbours of each other, by the package's names."""
    pairs = [(m * n + i, m * n + j) for m in range(molecules) for i in range(n) for j in range(n) if i != j]
    positions = _t(n * molecules, 3)
    first, second = (torch.tensor([p[k] for p in pairs]) for k in (0, 1))
    return {
        "_atomic_numbers": _i(8, n * molecules) + 1,
        "_positions": positions,
        "_Rij": positions[second] - positions[first],
        "_idx_i": first,
        "_idx_j": second,
        "_idx_i_lr": first,
        "_idx_j_lr": second,
        "_Rij_lr": positions[second] - positions[first],
        "_idx_m": torch.arange(molecules).repeat_interleave(n),
        "_n_atoms": torch.full((molecules,), n),
        "_offsets": torch.zeros(len(pairs), 3),
        "_cell": 10 * torch.eye(3).repeat(molecules, 1, 1),
        "_pbc": torch.zeros(3 * molecules).bool(),
        "partial_charges": _t(n * molecules),
        "scalar_representation": _t(n * molecules, 8),
        "vector_representation": _t(n * molecules, 3, 8),
        "energy": _t(molecules),
    }


def _representation(name: str, **options: Any) -> Built:
    basis = _get("schnetpack.nn.GaussianRBF")(5, 3.0)
    made = _get(f"schnetpack.representation.{name}")(
        8, 2, radial_basis=basis, cutoff_fn=_get("schnetpack.nn.CosineCutoff")(3.0), **options
    )
    return made, [(_atoms(),), (_atoms(4),)]


def _output(name: str, *given: Any, **options: Any) -> Built:
    return _get(f"schnetpack.atomistic.{name}")(*given, **options), [(_atoms(),), (_atoms(4),)]


def _neighbours(name: str) -> Built:
    made = _get(f"schnetpack.transform.neighborlist.{name}")(cutoff=3.0)
    given = {k: v for k, v in _atoms(5, 1).items() if k in ("_positions", "_atomic_numbers", "_cell", "_pbc")}
    return made, [({**given, "_cell": given["_cell"][0]},)]


_SCHNETPACK: dict[str, Callable[[], Built]] = {
    "SchNet": lambda: _representation("SchNet"),
    "PaiNN": lambda: _representation("PaiNN"),
    "SO3net": lambda: _representation("SO3net", lmax=1),
    "FieldSchNet": lambda: _representation("FieldSchNet"),
    "Atomwise": lambda: _output("Atomwise", 8, output_key="energy"),
    "DipoleMoment": lambda: _output("DipoleMoment", 8),
    "Polarizability": lambda: _output("Polarizability", 8),
    "EnergyCoulomb": lambda: _output(
        "EnergyCoulomb", "eV", "Ang", _get("schnetpack.atomistic.CoulombPotential")(), "coulomb"
    ),
    "EnergyEwald": lambda: _output("EnergyEwald", 0.3, 2, "eV", "Ang", "ewald"),
    "ZBLRepulsionEnergy": lambda: _output("ZBLRepulsionEnergy", "eV", "Ang", "zbl"),
    "PairwiseDistances": lambda: _output("PairwiseDistances"),
    "FilterShortRange": lambda: _output("FilterShortRange", 2.0),
    "TorchNeighborList": partial(_neighbours, "TorchNeighborList"),
    "GaussianRBFCentered": lambda: _made("schnetpack.nn.GaussianRBFCentered", [(_u(6),)], 5, 3.0),
    "MollifierCutoff": lambda: _made("schnetpack.nn.MollifierCutoff", [(_u(6) * 4,)], 3.0),
    "SwitchFunction": lambda: _made("schnetpack.nn.SwitchFunction", [(_u(6) * 4,)], 1.0, 3.0),
    "RealSphericalHarmonics": lambda: _made("schnetpack.nn.RealSphericalHarmonics", [(_t(6, 3),)], 2),
    "SO3TensorProduct": lambda: _made("schnetpack.nn.SO3TensorProduct", [(_t(6, 9, 4), _t(6, 9, 4))], 2),
    "scatter_add": lambda: _call("schnetpack.nn.scatter_add", (_t(6, 4), _i(3, 6), 3)),
}


MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in (
        ("ultralytics", _ULTRALYTICS),
        ("peft", _PEFT),
        ("denoising_diffusion_pytorch", _DIFFUSION),
        ("sbi", _SBI),
        ("tianshou", _TIANSHOU),
        ("kymatio", _KYMATIO),
        ("deepxde", _DEEPXDE),
        ("lightly", _LIGHTLY),
        ("piqa", _PIQA),
        ("neuralforecast", _NEURALFORECAST),
        ("torchoptics", _TORCHOPTICS),
        ("stanza", _STANZA),
        ("laplace", _LAPLACE),
        ("schnetpack", _SCHNETPACK),
    )
    for name, build in models.items()
}

"""Models of packages that were chosen and run after the fifteenth group, before anything was changed for them.

Of monai-generative, mmcv, ElegantRL and LibMTL. The others of the group stand in `sixteenth_functions`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(23)
_ABSENT = {
    "generative": ("torchvision.models.feature_extraction", "lpips"),
    "elegantrl": ("gym", "gymnasium", "matplotlib.pyplot"),
    "LibMTL": ("torchvision", "cvxpy"),
}


def _prepare(package: str) -> None:
    """Newer versions of MONAI and torchvision have no names that are imported of them."""
    if package == "LibMTL":
        moved = ModuleType("torchvision.models.utils")
        moved.load_state_dict_from_url = torch.hub.load_state_dict_from_url  # type: ignore[attr-defined]
        sys.modules.setdefault(moved.__name__, moved)
    if package == "generative":
        importlib.import_module("monai.config").IgniteInfo = SimpleNamespace(OPT_IMPORT_VERSION="0")  # type: ignore[attr-defined]


_get = getter(_ABSENT, (), _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_G = "generative."
_GN = _G + "networks.nets."
_UNET = {
    "spatial_dims": 2,
    "in_channels": 1,
    "out_channels": 1,
    "num_res_blocks": 1,
    "num_channels": (8, 8),
    "attention_levels": (False, True),
    "num_head_channels": 4,
    "norm_num_groups": 4,
}
_TIMES = torch.tensor([3, 7])


def _step(name: str, t: int, model: str = "epsilon", **options: Any) -> Built:
    made = _get(_G + f"networks.schedulers.{name}Scheduler")(num_train_timesteps=20, prediction_type=model, **options)
    made.set_timesteps(10)
    return made.step, [(_t(2, 1, 4, 4), t, _t(2, 1, 4, 4))]


_GENERATIVE: dict[str, Callable[[], Built]] = {
    "AutoencoderKL": lambda: _made(
        _GN + "AutoencoderKL",
        [(_t(2, 1, 16, 16),)],
        2,
        num_channels=(8, 8),
        attention_levels=(False, True),
        num_res_blocks=1,
        norm_num_groups=4,
        latent_channels=2,
    ),
    "DiffusionModelUNet": lambda: _made(_GN + "DiffusionModelUNet", [(_t(2, 1, 16, 16), _TIMES)], **_UNET),
    "DiffusionModelUNet context": lambda: _made(
        _GN + "DiffusionModelUNet",
        [(_t(2, 1, 16, 16), _TIMES, _t(2, 3, 5))],
        with_conditioning=True,
        cross_attention_dim=5,
        **_UNET,
    ),
    "DiffusionModelUNet classes": lambda: _made(
        _GN + "DiffusionModelUNet",
        [{"x": _t(2, 1, 16, 16), "timesteps": _TIMES, "class_labels": _i(3, 2)}],
        num_class_embeds=3,
        **_UNET,
    ),
    "ControlNet": lambda: _made(
        _GN + "ControlNet",
        [(_t(2, 1, 16, 16), _TIMES, _t(2, 1, 16, 16))],
        conditioning_embedding_num_channels=(8,),
        **{k: v for k, v in _UNET.items() if k != "out_channels"},
    ),
    "PatchDiscriminator": lambda: _made(_GN + "PatchDiscriminator", [(_t(2, 1, 32, 32),)], 2, 8, 1, num_layers_d=2),
    "MultiScalePatchDiscriminator": lambda: _made(
        _GN + "MultiScalePatchDiscriminator",
        [(_t(2, 1, 64, 64),)],
        num_d=2,
        num_layers_d=2,
        spatial_dims=2,
        num_channels=8,
        in_channels=1,
    ),
    "VQVAE": lambda: _made(
        _GN + "VQVAE",
        [(_t(2, 1, 16, 16),)],
        2,
        1,
        1,
        num_channels=(8, 8),
        num_res_channels=(8, 8),
        num_res_layers=1,
        downsample_parameters=((2, 4, 1, 1), (2, 4, 1, 1)),
        upsample_parameters=((2, 4, 1, 1, 0), (2, 4, 1, 1, 0)),
        num_embeddings=8,
        embedding_dim=4,
    ),
    "DecoderOnlyTransformer": lambda: _made(_GN + "DecoderOnlyTransformer", [(_i(11, 2, 8),)], 11, 16, 16, 1, 2),
    "SPADENet": lambda: _made(
        _GN + "SPADENet", [(_u(2, 3, 16, 16), _t(2, 1, 16, 16))], 2, 1, 1, 3, [16, 16], [4, 8], z_dim=4
    ),
    "EMAQuantizer": lambda: _made(_G + "networks.layers.vector_quantizer.EMAQuantizer", [(_t(2, 4, 5, 5),)], 2, 8, 4),
    "SABlock": lambda: _made(_G + "networks.blocks.selfattention.SABlock", [(_t(2, 6, 8),)], 8, 2),
    "SABlock causal": lambda: _made(
        _G + "networks.blocks.selfattention.SABlock", [(_t(2, 6, 8),)], 8, 2, causal=True, sequence_length=6
    ),
    "SpatialRescaler": lambda: _made(
        _G + "networks.blocks.encoder_modules.SpatialRescaler", [(_t(2, 3, 8, 8),)], n_stages=2, multiplier=0.5
    ),
    "PatchAdversarialLoss": lambda: _made(
        _G + "losses.adversarial_loss.PatchAdversarialLoss", [(_t(2, 1, 4, 4), True, True)], criterion="bce"
    ),
    "PatchAdversarialLoss list": lambda: _made(
        _G + "losses.adversarial_loss.PatchAdversarialLoss", [([_t(2, 1, 4, 4), _t(2, 1, 2, 2)], False, True)]
    ),
    "JukeboxLoss": lambda: _made(_G + "losses.spectral_loss.JukeboxLoss", [(_t(2, 1, 8, 8), _t(2, 1, 8, 8))], 2),
    "MMDMetric": lambda: _made(_G + "metrics.mmd.MMDMetric", [(_t(6, 1, 4, 4), _t(6, 1, 4, 4))]),
    "SSIMMetric": lambda: _made(
        _G + "metrics.ssim.SSIMMetric", [(_u(2, 1, 16, 16), _u(2, 1, 16, 16))], 2, kernel_size=5
    ),
    "MultiScaleSSIMMetric": lambda: _made(
        _G + "metrics.ms_ssim.MultiScaleSSIMMetric",
        [(_u(2, 1, 32, 32), _u(2, 1, 32, 32))],
        2,
        kernel_size=3,
        weights=(0.5, 0.5),
    ),
    "DDPM step": lambda: _step("DDPM", 9),
    "DDPM step 0": lambda: _step("DDPM", 0, "sample"),
    "DDPM learned": lambda: _step("DDPM", 9, "v_prediction", variance_type="fixed_large"),
    "DDIM step": lambda: _step("DDIM", 8),
    "PNDM step": lambda: _step("PNDM", 8, skip_prk_steps=True),
    "add_noise": lambda: _method(
        _G + "networks.schedulers.DDPMScheduler", "add_noise", [(_t(2, 1, 4, 4), _t(2, 1, 4, 4), _TIMES)]
    ),
    "DiffusionInferer": lambda: (
        (lambda made, unet: lambda x, n, t: made(x, unet, n, t))(
            _get(_G + "inferers.DiffusionInferer")(_get(_G + "networks.schedulers.DDPMScheduler")(20)),
            _get(_GN + "DiffusionModelUNet")(**_UNET),
        ),
        [(_t(2, 1, 16, 16), _t(2, 1, 16, 16), _TIMES)],
    ),
    "DiffusionInferer sample": lambda: (
        (lambda made, unet: lambda x: made.sample(x, unet, verbose=False))(
            _get(_G + "inferers.DiffusionInferer")(_get(_G + "networks.schedulers.DDPMScheduler")(2)),
            _get(_GN + "DiffusionModelUNet")(**_UNET),
        ),
        [(_t(2, 1, 16, 16),)],
    ),
}

_M = "mmcv.cnn."
_IMAGE = (_t(2, 4, 9, 9),)


def _brick(name: str, *given: Any, inputs: Any = _IMAGE, **options: Any) -> Callable[[], Built]:
    return lambda: _made(_M + "bricks." + name, [inputs], *given, **options)


_MMCV: dict[str, Callable[[], Built]] = {
    "ConvModule": _brick("ConvModule", 4, 8, 3, padding=1, norm_cfg={"type": "BN"}),
    "ConvModule reflect": _brick("ConvModule", 4, 8, 3, padding=1, padding_mode="reflect", with_spectral_norm=True),
    "DepthwiseSeparableConvModule": _brick("DepthwiseSeparableConvModule", 4, 8, 3, padding=1),
    "ConvWS2d": _brick("ConvWS2d", 4, 8, 3),
    "ConvAWS2d": _brick("ConvAWS2d", 4, 8, 3),
    "ContextBlock": _brick("ContextBlock", 4, 0.5, fusion_types=("channel_add", "channel_mul")),
    "ContextBlock avg": _brick("ContextBlock", 4, 0.5, pooling_type="avg"),
    "GeneralizedAttention": _brick("GeneralizedAttention", 4, num_heads=2),
    "NonLocal2d": _brick("NonLocal2d", 4, sub_sample=True),
    **{
        f"NonLocal2d {mode}": _brick("NonLocal2d", 4, mode=mode)
        for mode in ("gaussian", "dot_product", "concatenation")
    },
    "Conv2dAdaptivePadding": _brick("Conv2dAdaptivePadding", 4, 8, 3, stride=2),
    "DropPath": _brick("DropPath", 0.3),
    "HSigmoid": _brick("HSigmoid"),
    "HSwish": _brick("HSwish"),
    "Scale": _brick("Scale", 2.0),
    "LayerScale": _brick("LayerScale", 4, data_format="channels_first"),
    "PatchEmbed": _brick("transformer.PatchEmbed", 4, 8, kernel_size=4, stride=4),
    "PatchMerging": _brick("transformer.PatchMerging", 4, 8, inputs=(_t(2, 16, 4), (4, 4))),
    "AdaptivePadding": _brick("transformer.AdaptivePadding", 4, 4, padding="same"),
    "MultiheadAttention": _brick("transformer.MultiheadAttention", 8, 2, inputs=(_t(6, 2, 8),)),
    "FFN": _brick("transformer.FFN", 8, 16, inputs=(_t(6, 2, 8),)),
    "BaseTransformerLayer": _brick(
        "transformer.BaseTransformerLayer",
        attn_cfgs={"type": "MultiheadAttention", "embed_dims": 8, "num_heads": 2},
        ffn_cfgs={"type": "FFN", "embed_dims": 8, "feedforward_channels": 16},
        operation_order=("self_attn", "norm", "ffn", "norm"),
        inputs=(_t(6, 2, 8),),
    ),
    "Linear": _brick("Linear", 4, 8, inputs=(_t(3, 4),)),
    "ResNet": lambda: _made(_M + "ResNet", [(_t(1, 3, 32, 32),)], 18),
    "VGG": lambda: _made(_M + "VGG", [(_t(1, 3, 32, 32),)], 11),
}

_E = "elegantrl."
_EN = _E + "agents.net."


def _agent(name: str, method: str, *inputs: Any) -> Callable[[], Built]:
    def build() -> Built:
        made = _get(_E + "agents." + name)([8, 8], 4, 2, -1)
        made.last_state = _t(3, 4)
        return getattr(made, method), list(inputs)

    return build


_DONE = (_u(6, 3) > 0.2).float()
_ELEGANTRL: dict[str, Callable[[], Built]] = {
    **{
        name: (lambda name=name: _made(_EN + name, [(_t(3, 4),)], [8, 8], 4, 2))
        for name in (
            "QNet",
            "QNetDuel",
            "QNetTwin",
            "QNetTwinDuel",
            "Actor",
            "ActorSAC",
            "ActorFixSAC",
            "ActorPPO",
            "ActorDiscretePPO",
            "CriticPPO",
        )
    },
    **{
        f"{name} get_action": (lambda name=name: _method(_EN + name, "get_action", [(_t(3, 4),)], [8, 8], 4, 2))
        for name in ("QNet", "QNetTwin", "ActorSAC", "ActorPPO", "ActorDiscretePPO")
    },
    "Critic": lambda: _made(_EN + "Critic", [(_t(3, 4), _t(3, 2))], [8, 8], 4, 2),
    "CriticTwin": lambda: _method(_EN + "CriticTwin", "get_q_min", [(_t(3, 4), _t(3, 2))], [8, 8], 4, 2),
    "ActorSAC logprob": lambda: _method(_EN + "ActorSAC", "get_action_logprob", [(_t(3, 4),)], [8, 8], 4, 2),
    "ActorFixSAC logprob": lambda: _method(_EN + "ActorFixSAC", "get_action_logprob", [(_t(3, 4),)], [8, 8], 4, 2),
    "ActorPPO entropy": lambda: _method(_EN + "ActorPPO", "get_logprob_entropy", [(_t(3, 4), _t(3, 2))], [8, 8], 4, 2),
    "DenseNet": lambda: _made(_EN + "DenseNet", [(_t(3, 8),)], 8),
    "ConvNet": lambda: _made(_EN + "ConvNet", [(_u(2, 112, 112, 3),)], 3, 4, 112),
    "advantages": _agent("AgentPPO.AgentPPO", "get_advantages_origin", (_t(6, 3), _DONE, _t(6, 3))),
    "advantages vtrace": _agent("AgentPPO.AgentPPO", "get_advantages_vtrace", (_t(6, 3), _DONE, _t(6, 3))),
}

_W = "LibMTL.weighting."


class _Encoder(nn.Module):
    """The shared part of a model of several tasks."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(12, 8)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """A representation of flat inputs."""
        return self.layer(x.flatten(1)).relu()


def _architecture(name: str, **options: Any) -> Callable[[], Built]:
    def build() -> Built:
        decoders = nn.ModuleDict({"a": nn.Linear(8, 2), "b": nn.Linear(8, 3)})
        made = _get("LibMTL.architecture." + name)(
            ["a", "b"], _Encoder, decoders, False, False, torch.device("cpu"), **options
        )
        return made, [(_t(3, 3, 2, 2),)]

    return build


def _weighted(name: str, **options: Any) -> Callable[[], Built]:
    """How the losses of two tasks are weighted, and the gradients of what they share."""

    def build() -> Built:
        kind = type("Model", (_get(_W + name),), {"forward": lambda self, x: self.encoder(x)})
        made = kind()
        made.encoder = _Encoder()
        made.heads = nn.ModuleList([nn.Linear(8, 2), nn.Linear(8, 3)])
        made.task_num, made.device, made.rep_grad, made.epoch = 2, torch.device("cpu"), False, 1
        made.task_name, made.train_loss_buffer = ["a", "b"], _u(2, 4).numpy()
        made.get_share_params = made.encoder.parameters
        made.zero_grad_share_params = lambda: made.encoder.zero_grad(set_to_none=False)
        made.init_param()

        def use(x: torch.Tensor) -> Any:
            shared = made(x)
            return made.backward(torch.stack([head(shared).square().mean() for head in made.heads]), **options)

        return use, [(_t(3, 3, 2, 2),)]

    return build


_LIBMTL: dict[str, Callable[[], Built]] = {
    "HPS": _architecture("HPS"),
    "MMoE": _architecture("MMoE", num_experts=[2], img_size=[3, 2, 2]),
    "CGC": _architecture("CGC", num_experts=[1, 1, 1], img_size=[3, 2, 2]),
    "DSelect_k": _architecture("DSelect_k", num_experts=[2], img_size=[3, 2, 2], num_nonzeros=1, kgamma=1.0),
    **{name: _weighted(name) for name in ("EW", "UW", "GLS", "IMTL", "PCGrad")},
    "RLW": _weighted("RLW", dist="Normal"),
    "DWA": _weighted("DWA", T=2.0),
    "MGDA": _weighted("MGDA", mgda_gn="none"),
    "GradVac": _weighted("GradVac", beta=0.5),
    "CELoss": lambda: _method("LibMTL.loss.CELoss", "compute_loss", [(_t(3, 4), _i(4, 3))]),
    "AccMetric": lambda: _using(
        "LibMTL.metrics.AccMetric",
        lambda kind, p, t: (lambda m: (m.update_fun(p, t), m.score_fun()))(kind()),
        (_t(3, 4), _i(4, 3)),
    ),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"generative/{name}": build for name, build in _GENERATIVE.items()},
    **{f"mmcv/{name}": build for name, build in _MMCV.items()},
    **{f"elegantrl/{name}": build for name, build in _ELEGANTRL.items()},
    **{f"LibMTL/{name}": build for name, build in _LIBMTL.items()},
}

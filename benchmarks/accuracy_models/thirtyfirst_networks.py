"""Models of robomimic, careamics, scgpt, nngeometry and enformer-pytorch.

They were chosen, and written, before `check` was run on these packages.
"""

from __future__ import annotations

import logging
import sys
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import Later, on, random_inputs
from accuracy_models.stand_ins import getter, without_packages, without_torchvision_extension

_t, _u, _i = random_inputs(313)
_ABSENT = {
    "robomimic": ("robosuite", "mimicgen", "h5py", "imageio", "matplotlib", "egl_probe", "diffusers", "tensorboardX"),
    "careamics": (
        "lightning",
        "pytorch_lightning",
        "skimage",
        "tifffile",
        "zarr",
        "bioimageio",
        "microssim",
        "matplotlib",
        "typer",
        "numcodecs",
        "wandb",
        "careamics_portfolio",
        "torchmetrics",
    ),
    "scgpt": (
        "pandas",
        "anndata",
        "matplotlib",
        "IPython",
        "torchtext",
        "scanpy",
        "scib",
        "flash_attn",
        "datasets",
        "scvi",
        "wandb",
        "sklearn",
        "scipy",
        "fast_transformers",
        "umap",
    ),
    "enformer_pytorch": ("polars", "pyfaidx", "httpx2", "httpcore2", "discrete_key_value_bottleneck_pytorch"),
}
_SEEN: set[str] = set()


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_torchvision_extension()
    without_packages("httpx2", "httpcore2", *_ABSENT.get(package, ()))
    if package == "scgpt":
        sys.modules["scgpt"].logger = logging.getLogger("scgpt")  # type: ignore[attr-defined]
    if package == "robomimic" and package not in _SEEN:
        _SEEN.add(package)
        _get("robomimic.utils.obs_utils.initialize_obs_utils_with_obs_specs")(
            {"obs": {"low_dim": ["state", "pose"], "rgb": ["image"], "scan": ["laser"]}}
        )
        plain = {"core_class": None, "core_kwargs": {}, "obs_randomizer_class": None, "obs_randomizer_kwargs": {}}
        utils = sys.modules["robomimic.utils.obs_utils"]
        utils.DEFAULT_ENCODER_KWARGS = {"low_dim": plain}  # type: ignore[attr-defined]


_BARE = ("careamics", "careamics.models", "careamics.models.lvae", "careamics.models.unet", "careamics.lightning")
_BARE += ("careamics.lightning.modules", "careamics.metrics", "careamics.dataset", "careamics.losses")
_BARE += (
    "scgpt",
    "careamics.config",
    "careamics.config.algorithms",
    "careamics.losses.lvae",
    "careamics.lvae_training",
)
_get = getter({}, _BARE, _prepare)
_later = Later(_get)
_of, _lazy, _fun, _on = _later.of, _later.lazy, _later.fun, on

_RB, _RD, _RC = "robomimic.models.base_nets.", "robomimic.models.distributions.", "robomimic.models.obs_core."
_RL, _RT, _RP = "robomimic.utils.loss_utils.", "robomimic.utils.tensor_utils.", "robomimic.models.policy_nets."
_RV, _RE = "robomimic.models.value_nets.", "robomimic.models.vae_nets."
_SHAPES = OrderedDict(state=[5], pose=[3])
_OBS = {"state": _t(4, 5), "pose": _t(4, 3)}
_OBS_IN_TIME = {"state": _t(4, 3, 5), "pose": _t(4, 3, 3)}
_POLICY: dict[str, Any] = {"obs_shapes": _SHAPES, "ac_dim": 2, "mlp_layer_dims": (8, 8)}
_SEQUENCE = {"a": _t(2, 3, 4), "b": [_t(2, 3, 5), _t(2, 3)]}
_SIZES: dict[str, Any] = {"encoder_layer_dims": (8,), "decoder_layer_dims": (8,), "latent_dim": 3, "device": "cpu"}


def _actor(name: str, **options: Any) -> Any:
    return partial(lambda: _get(_RP + name)(**_POLICY, **options))


_ROBOMIMIC: dict[str, Callable[[], Built]] = {
    "MLP": _lazy(_RB + "MLP", _t(4, 5), input_dim=5, output_dim=2, layer_dims=(8, 8), normalization=True),
    "Parameter": _on(_of(_RB + "Parameter", torch.zeros(3)), lambda m: m()),
    "RNN_Base": _lazy(_RB + "RNN_Base", _t(4, 3, 5), input_dim=5, rnn_hidden_dim=8, rnn_num_layers=2),
    "RNN_Base GRU": _on(
        _of(_RB + "RNN_Base", 5, 8, 1, rnn_type="GRU"), lambda m, x: m(x, return_state=True), _t(4, 3, 5)
    ),
    "RNN_Base step": _on(
        _of(_RB + "RNN_Base", 5, 8, 1), lambda m, x: m.forward_step(x, m.get_rnn_init_state(4, x.device)), _t(4, 5)
    ),
    "CoordConv2d": _lazy(_RB + "CoordConv2d", _t(2, 3, 8, 8), in_channels=3, out_channels=4, kernel_size=3),
    "ShallowConv": _lazy(_RB + "ShallowConv", _t(2, 3, 84, 84)),
    "ResNet18Conv": _lazy(_RB + "ResNet18Conv", _t(2, 3, 32, 32)),
    "SpatialSoftmax": _lazy(_RB + "SpatialSoftmax", _t(2, 3, 6, 6), input_shape=(3, 6, 6), num_kp=4),
    "SpatialSoftmax noise": _lazy(
        *(_RB + "SpatialSoftmax", _t(2, 3, 6, 6)),
        input_shape=(3, 6, 6),
        num_kp=None,
        output_variance=True,
        noise_std=0.1,
        learnable_temperature=True,
    ),
    "SpatialMeanPool": _lazy(_RB + "SpatialMeanPool", _t(2, 3, 6, 6), input_shape=(3, 6, 6)),
    "FeatureAggregator": _lazy(_RB + "FeatureAggregator", _t(2, 3, 6)),
    "Tanh distribution": lambda: (
        lambda m, s, v: _get(_RD + "TanhWrappedDistribution")(torch.distributions.Normal(m, s)).log_prob(v),
        [(_t(4, 2), _u(4, 2) + 0.1, _u(4, 2) * 0.9)],
    ),
    "Tanh sample": lambda: (
        lambda m, s: _get(_RD + "TanhWrappedDistribution")(torch.distributions.Normal(m, s)).rsample(),
        [(_t(4, 2), _u(4, 2) + 0.1)],
    ),
    "Discrete values": lambda: (
        lambda v, x: (lambda d: (d.mean(), d.variance()))(_get(_RD + "DiscreteValueDistribution")(v, logits=x)),
        [(_t(4, 5), _t(4, 5))],
    ),
    "GPT": _lazy("robomimic.models.transformers.GPT_Backbone", _t(2, 4, 8), given=(8, 4), num_layers=2, num_heads=2),
    "GEGLU": _lazy("robomimic.models.transformers.GEGLU", _t(2, 4, 8)),
    "PositionalEncoding": _lazy("robomimic.models.transformers.PositionalEncoding", _i(4, 2, 4).float(), given=(8,)),
    "cosine_loss": _fun(_RL + "cosine_loss", _t(4, 3), _t(4, 3)),
    "KLD_0_1": _fun(_RL + "KLD_0_1_loss", _t(4, 3), _t(4, 3)),
    "KLD_gaussian": _fun(_RL + "KLD_gaussian_loss", _t(4, 3), _t(4, 3), _t(4, 3), _t(4, 3)),
    "log_normal_mixture": _fun(_RL + "log_normal_mixture", _t(4, 3), _t(4, 2, 3), _u(4, 2, 3) + 0.1),
    "log_normal_mixture w": _fun(
        _RL + "log_normal_mixture", *(_t(4, 3), _t(4, 2, 3), _u(4, 2, 3) + 0.1, torch.full((4, 2), 0.5))
    ),
    "log_mean_exp": _fun(_RL + "log_mean_exp", _t(4, 3), 1),
    "project_values_onto_atoms": _fun(
        _RL + "project_values_onto_atoms", *(_u(4, 5), torch.softmax(_t(4, 5), -1), torch.linspace(0.0, 1.0, 5))
    ),
    "tensors clone": _fun(_RT + "clone", _SEQUENCE),
    "tensors one hot": _fun(_RT + "to_one_hot", {"a": _i(4, 2, 3)}, 4),
    "tensors flatten": _fun(_RT + "flatten", _SEQUENCE, 1),
    "tensors join": _fun(_RT + "join_dimensions", _SEQUENCE, 0, 1),
    "tensors expand": _fun(_RT + "unsqueeze_expand_at", _SEQUENCE, 3, 1),
    "tensors repeat": _fun(_RT + "repeat_by_expand_at", _SEQUENCE, 2, 0),
    "tensors reduce": _fun(_RT + "named_reduce", _SEQUENCE, "mean", 1),
    "tensors gather": _fun(_RT + "gather_sequence", _SEQUENCE, torch.tensor([0, 2])),
    "tensors to numpy": _fun(_RT + "to_numpy", _SEQUENCE),
    "tensors to list": _fun(_RT + "to_list", {"a": _t(2, 2)}),
    "tensors shapes": _fun(_RT + "get_shape", _SEQUENCE),
    "tensors time": lambda: (
        (lambda layer: lambda x: _get(_RT + "time_distributed")(x, layer))(nn.Linear(4, 2)),
        [(_t(2, 3, 4),)],
    ),
    "reparameterize": _fun("robomimic.utils.torch_utils.reparameterize", _t(4, 3), _t(4, 3)),
    "CropRandomizer": _on(
        _of(_RC + "CropRandomizer", [3, 16, 16], 12, 12, 2),
        lambda m, x: m.forward_out(m.forward_in(x).mean((-2, -1))),
        _u(2, 3, 16, 16),
    ),
    "CropRandomizer eval": _on(
        partial(lambda: _get(_RC + "CropRandomizer")([3, 16, 16], 12, 12).eval()),
        lambda m, x: m.forward_in(x),
        _u(2, 3, 16, 16),
    ),
    "GaussianNoiseRandomizer": _on(
        _of(_RC + "GaussianNoiseRandomizer", [3, 8, 8], limits=(0.0, 1.0), num_samples=2),
        lambda m, x: m.forward_in(x),
        _u(2, 3, 8, 8),
    ),
    "ColorRandomizer": _on(_of(_RC + "ColorRandomizer", [3, 8, 8]), lambda m, x: m.forward_in(x), _u(2, 3, 8, 8)),
    "VisualCore": _lazy(
        *(_RC + "VisualCore", _u(2, 3, 32, 32)),
        input_shape=[3, 32, 32],
        backbone_kwargs={"pretrained": False},
        pool_kwargs={"num_kp": 4},
        feature_dimension=8,
    ),
    "ValueNetwork": _lazy(_RV + "ValueNetwork", _OBS, given=(_SHAPES, (8,)), value_bounds=(-1.0, 1.0)),
    "ActionValueNetwork": _lazy(_RV + "ActionValueNetwork", _OBS, _t(4, 2), given=(_SHAPES, 2, (8,))),
    "DistributionalActionValue": _lazy(
        *(_RV + "DistributionalActionValueNetwork", _OBS, _t(4, 2)), given=(_SHAPES, 2, (8,), (-1.0, 1.0), 5)
    ),
    "DistributionalActionValue train": _on(
        _of(_RV + "DistributionalActionValueNetwork", _SHAPES, 2, (8,), (-1.0, 1.0), 5),
        lambda m, o, a: m.forward_train(o, a).mean(),
        *(_OBS, _t(4, 2)),
    ),
    "ActorNetwork": _lazy(_RP + "ActorNetwork", _OBS, **_POLICY),
    "PerturbationActor": _lazy(_RP + "PerturbationActorNetwork", _OBS, _t(4, 2), **_POLICY),
    "GaussianActor": _lazy(_RP + "GaussianActorNetwork", _OBS, **_POLICY),
    "GaussianActor tanh": _on(
        _actor("GaussianActorNetwork", use_tanh=True), lambda m, o, a: m.forward_train(o).log_prob(a), *(_OBS, _u(4, 2))
    ),
    "GMMActor": _lazy(_RP + "GMMActorNetwork", _OBS, **_POLICY),
    "GMMActor train": _on(
        _actor("GMMActorNetwork", use_tanh=True), lambda m, o, a: m.forward_train(o).log_prob(a), *(_OBS, _u(4, 2))
    ),
    "RNNActor": _lazy(
        _RP + "RNNActorNetwork", _OBS_IN_TIME, rnn_hidden_dim=8, rnn_num_layers=1, rnn_kwargs={}, **_POLICY
    ),
    "RNNActor step": _on(
        _actor("RNNActorNetwork", rnn_hidden_dim=8, rnn_num_layers=1, rnn_kwargs={}),
        lambda m, o: m.forward_step(o, rnn_state=m.get_rnn_init_state(4, "cpu")),
        _OBS,
    ),
    "RNNGMMActor": _lazy(
        _RP + "RNNGMMActorNetwork", _OBS_IN_TIME, rnn_hidden_dim=8, rnn_num_layers=1, rnn_kwargs={}, **_POLICY
    ),
    "TransformerActor": _lazy(
        *(_RP + "TransformerActorNetwork", _OBS_IN_TIME),
        obs_shapes=_SHAPES,
        ac_dim=2,
        transformer_embed_dim=8,
        transformer_num_layers=1,
        transformer_num_heads=2,
        transformer_context_length=3,
    ),
    "TransformerGMMActor": _lazy(
        *(_RP + "TransformerGMMActorNetwork", _OBS_IN_TIME),
        obs_shapes=_SHAPES,
        ac_dim=2,
        transformer_embed_dim=8,
        transformer_num_layers=1,
        transformer_num_heads=2,
        transformer_context_length=3,
    ),
    "VAEActor": _lazy(_RP + "VAEActor", _OBS, obs_shapes=_SHAPES, ac_dim=2, **_SIZES),
    "VAEActor train": _on(
        _of(_RP + "VAEActor", obs_shapes=_SHAPES, ac_dim=2, **_SIZES),
        lambda m, a, o: m.forward_train(a, o),
        *(_t(4, 2), _OBS),
    ),
    "VAEActor categorical": _on(
        _of(
            *(_RP + "VAEActor",),
            obs_shapes=_SHAPES,
            ac_dim=2,
            prior_use_categorical=True,
            prior_categorical_dim=4,
            prior_categorical_gumbel_softmax_hard=True,
            **_SIZES,
        ),
        lambda m, a, o: m.forward_train(a, o),
        *(_t(4, 2), _OBS),
    ),
    "GaussianPrior": _on(
        _of(_RE + "GaussianPrior", 3, "cpu", latent_clip=2.0, learnable=True, use_gmm=True, gmm_num_modes=2),
        lambda m: m(batch_size=4),
    ),
}

_CL, _CU, _CP = "careamics.models.lvae.", "careamics.models.unet.unet.", "careamics.lightning.modules.n2v_utils."
_MIX = partial(lambda: {"mean": _t(2, 3, 6, 6), "logvar": _t(2, 3, 6, 6)})
_KL = {"kl": [_u(2), _u(2)], "kl_restricted": [_u(2), _u(2)], "z": [_t(2, 3, 4, 4), _t(2, 3, 2, 2)]}
_NOISE = _of(
    "careamics.config.noise_model.noise_model_config.GaussianMixtureNMConfig",
    model_type="GaussianMixtureNoiseModel",
    min_signal=0.0,
    max_signal=1.0,
    n_gaussian=2,
    n_coeff=2,
)
_RING = SimpleNamespace(axes="horizontal", span=3)
_CROSS = SimpleNamespace(axes="cross", span=3)
_GENERATOR = partial(lambda: torch.Generator().manual_seed(0))
_CAREAMICS: dict[str, Callable[[], Built]] = {
    "UNet": _lazy(_CU + "UNet", _t(1, 1, 16, 16), conv_dims=2, depth=2, num_channels_init=8),
    "UNet n2v2": _lazy(
        _CU + "UNet",
        _t(1, 2, 16, 16),
        conv_dims=2,
        in_channels=2,
        num_classes=2,
        depth=2,
        num_channels_init=8,
        n2v2=True,
    ),
    "UNet residual": _lazy(_CU + "UNet", _t(1, 1, 16, 16), conv_dims=2, depth=2, num_channels_init=8, residual=True),
    "UNet 3d": _lazy(_CU + "UNet", _t(1, 1, 8, 8, 8), conv_dims=3, depth=2, num_channels_init=4),
    "MaxBlurPool": _lazy("careamics.models.unet.layers.MaxBlurPool", _t(1, 2, 8, 8), dim=2, kernel_size=3),
    "MaxBlurPool 3d": _lazy("careamics.models.unet.layers.MaxBlurPool", _t(1, 2, 6, 6, 6), dim=3, kernel_size=3),
    "Conv_Block": _lazy("careamics.models.unet.layers.Conv_Block", _t(1, 2, 8, 8), given=(2, 2, 4), dropout_perc=0.1),
    "n2v_loss": _fun("careamics.losses.n2v_losses.n2v_loss", _t(2, 1, 8, 8), _t(2, 1, 8, 8), _u(2, 1, 8, 8) > 0.5),
    "free_bits_kl": _fun("careamics.losses.lvae.loss_utils.free_bits_kl", _u(2, 3), 0.1),
    "free_bits_kl mean": _fun("careamics.losses.lvae.loss_utils.free_bits_kl", _u(2, 3), 0.1, True),
    "get_kl_weight": _fun("careamics.losses.lvae.loss_utils.get_kl_weight", True, 0, 10, 1.0, 3),
    "kl_divergence_loss": _fun(
        *("careamics.losses.lvae.lvae_losses.get_kl_divergence_loss", "kl", _KL, "latent_dim", "mean", 0.0, (16, 16)),
    ),
    "kl musplit": _fun("careamics.losses.lvae.lvae_losses._get_kl_divergence_loss_musplit", _KL, (16, 16), "kl"),
    "kl denoisplit": _fun("careamics.losses.lvae.lvae_losses._get_kl_divergence_loss_denoisplit", _KL, (16, 16), "kl"),
    "Gaussian likelihood": _lazy(_CL + "likelihoods.GaussianLikelihood", _t(2, 3, 6, 6), _t(2, 3, 6, 6)),
    "Gaussian likelihood pixels": _lazy(
        *(_CL + "likelihoods.GaussianLikelihood", _t(2, 6, 6, 6), _t(2, 3, 6, 6)),
        predict_logvar="pixelwise",
        logvar_lowerbound=-5.0,
    ),
    "log_normal": _fun(_CL + "likelihoods.log_normal", _t(2, 3), _t(2, 3), _t(2, 3)),
    "noise model": _on(
        _of(_CL + "noise_models.GaussianMixtureNoiseModel", _NOISE),
        lambda m, x, y: m.likelihood(x, y),
        *(_u(2, 1, 6, 6), _u(2, 1, 6, 6)),
    ),
    "noise parameters": _on(
        _of(_CL + "noise_models.GaussianMixtureNoiseModel", _NOISE), lambda m, x: m.get_gaussian_parameters(x), _u(20)
    ),
    "noise channels": _on(
        _of(
            _CL + "noise_models.MultiChannelNoiseModel",
            partial(lambda: [_get(_CL + "noise_models.GaussianMixtureNoiseModel")(_NOISE()) for _ in range(2)]),
        ),
        lambda m, x, y: m.likelihood(x, y),
        *(_u(2, 2, 6, 6), _u(2, 2, 6, 6)),
    ),
    "stochastic": _lazy(
        _CL + "stochastic.NormalStochasticBlock", _t(2, 8, 6, 6), _t(2, 8, 6, 6), given=(8, 3, 8), vanilla_latent_hw=6
    ),
    "stochastic prior": _on(
        _of(_CL + "stochastic.NormalStochasticBlock", 8, 3, 8, vanilla_latent_hw=6),
        lambda m, x: m(x, analytical_kl=True),
        _t(2, 8, 6, 6),
    ),
    "stochastic analytical": _on(
        _of(_CL + "stochastic.NormalStochasticBlock", 8, 3, 8, vanilla_latent_hw=6, use_naive_exponential=True),
        lambda m, p, q: m(p, q, analytical_kl=True, var_clip_max=5.0),
        *(_t(2, 8, 6, 6), _t(2, 8, 6, 6)),
    ),
    "pad_img_tensor": _fun(_CL + "utils.pad_img_tensor", _t(1, 2, 6, 7), (9, 9)),
    "crop_img_tensor": _fun(_CL + "utils.crop_img_tensor", _t(1, 2, 9, 8), (6, 6)),
    "torch_nanmean": _fun(_CL + "utils.torch_nanmean", _t(4, 3)),
    "StableExponential": lambda: (
        lambda x: (lambda e: (e.exp(), e.log()))(_get(_CL + "utils.StableExponential")(x)),
        [(_t(4, 3),)],
    ),
    "StableLogVar": lambda: (
        lambda x: (lambda e: (e.get(), e.get_var(), e.get_std()))(_get(_CL + "utils.StableLogVar")(x)),
        [(_t(1, 2, 6, 6),)],
    ),
    "uniform_manipulate": _fun(_CP + "pixel_manipulation.uniform_manipulate", _u(2, 8, 8), 10.0, 3),
    "uniform_manipulate struct": _fun(
        _CP + "pixel_manipulation.uniform_manipulate", *(_u(2, 8, 8), 10.0, 3, True, _CROSS)
    ),
    "median_manipulate": _fun(_CP + "pixel_manipulation.median_manipulate", _u(2, 8, 8), 10.0, 3),
    "median_manipulate struct": _fun(_CP + "pixel_manipulation.median_manipulate", *(_u(2, 8, 8), 10.0, 5, _RING)),
    "subpatch_coords": _fun(
        _CP + "pixel_manipulation._get_subpatch_coords", *(torch.tensor([[0, 3, 4], [1, 5, 2]]), 3, (2, 8, 8))
    ),
    "struct_pattern": _fun(_CP + "pixel_manipulation._build_struct_pattern", 3, "cross", "cpu"),
    "PSNR": _fun("careamics.lvae_training.metrics.PSNR", _u(2, 8, 8), _u(2, 8, 8)),
    "RangeInvariantPsnr": _fun("careamics.lvae_training.metrics.RangeInvariantPsnr", _u(2, 8, 8), _u(2, 8, 8)),
    "RunningPSNR": _on(
        _of("careamics.lvae_training.metrics.RunningPSNR"),
        lambda m, x, y: (m.reset(), m.update(x, y), m.get())[2],
        *(_u(2, 8, 8), _u(2, 8, 8)),
    ),
    "BottomUpLayer": _lazy(
        *(_CL + "layers.BottomUpLayer", _t(1, 8, 8, 8)),
        n_res_blocks=1,
        n_filters=8,
        downsampling_steps=1,
        nonlin=nn.ReLU(),
        res_block_type="bacdbacd",
        gated=True,
        dropout=0.1,
    ),
}

_SC = "scgpt.model."
_VOCAB = {"<pad>": 0, "<cls>": 1, "a": 2, "b": 3}
_GENES, _VALUES, _PADDED = _i(9, 3, 6) + 1, _u(3, 6), torch.zeros(3, 6, dtype=torch.bool)
_MODEL: dict[str, Any] = {"ntoken": 12, "d_model": 8, "nhead": 2, "d_hid": 8, "nlayers": 1, "vocab": _VOCAB}


def _cells(name: str, *more: Any, **options: Any) -> Callable[[], Built]:
    called = {n: options.pop(n) for n in ("CLS", "CCE", "MVC", "ECS", "do_sample", "batch_labels") if n in options}

    def build() -> Built:
        model = _get(_SC + name)(**{**_MODEL, **options})
        return model, [{"src": _GENES, "values": _VALUES, **dict(more), "src_key_padding_mask": _PADDED, **called}]

    return build


_FLAGS = ("input_pert_flags", _i(2, 3, 6))
_SCGPT: dict[str, Callable[[], Built]] = {
    "Transformer": _cells("model.TransformerModel"),
    "Transformer CLS": _cells("model.TransformerModel", CLS=True, n_cls=3),
    "Transformer CCE": _cells("model.TransformerModel", CCE=True),
    "Transformer MVC": _cells("model.TransformerModel", MVC=True, do_mvc=True),
    "Transformer ECS": _cells("model.TransformerModel", ECS=True),
    "Transformer zero": _cells(
        "model.TransformerModel",
        MVC=True,
        do_mvc=True,
        explicit_zero_prob=True,
    ),
    "Transformer batches": _cells(
        "model.TransformerModel", batch_labels=_i(2, 3), use_batch_labels=True, num_batch_labels=2, do_dab=True
    ),
    "Transformer domains": _cells(
        "model.TransformerModel",
        batch_labels=torch.zeros(3, dtype=torch.long),
        use_batch_labels=True,
        num_batch_labels=2,
        domain_spec_batchnorm="dsbn",
    ),
    "Transformer pool": _cells("model.TransformerModel", cell_emb_style="avg-pool", CLS=True),
    "Transformer category": _cells("model.TransformerModel", input_emb_style="scaling"),
    "generate": _on(
        partial(lambda: _get(_SC + "model.TransformerModel")(**_MODEL).eval()),
        lambda m, e, s: m.generate(e, s, gen_iters=2),
        *(_t(3, 8), _GENES),
    ),
    "encode_batch": _on(
        partial(lambda: _get(_SC + "model.TransformerModel")(**_MODEL).eval()),
        lambda m, s, v, p: m.encode_batch(s, v, p, 2, time_step=0),
        *(_GENES, _VALUES, _PADDED),
    ),
    "MultiOmic": _cells("multiomic_model.MultiOmicTransformerModel", MVC=True, do_mvc=True),
    "Generator": _cells("generation_model.TransformerGenerator", _FLAGS, nlayers_cls=1, n_cls=1),
    "Generator MVC": _cells(
        "generation_model.TransformerGenerator",
        _FLAGS,
        nlayers_cls=1,
        n_cls=2,
        do_mvc=True,
        MVC=True,
        CLS=True,
        ECS=True,
    ),
    "DSBN": _on(_of(_SC + "dsbn.DomainSpecificBatchNorm1d", 4, 2), lambda m, x: m(x, 1), _t(6, 4)),
    "grad_reverse": _fun(_SC + "grad_reverse.grad_reverse", _t(4, 3).requires_grad_()),
    "TokenEmbedding": _lazy(_SC + "generation_model.TokenEmbedding", _i(5, 3, 4), given=(6, 8), zero_out_idx=2),
    "AffineExprDecoder": _lazy(
        _SC + "generation_model.AffineExprDecoder", *(_t(3, 6, 8), _VALUES), given=(8,), adaptive_bias=True
    ),
    "AffineExprDecoder tanh": _lazy(
        *(_SC + "generation_model.AffineExprDecoder", _t(3, 6, 8), _VALUES),
        given=(8,),
        explicit_zero_prob=True,
        tanh_coeff=True,
    ),
    "ContinuousValueEncoder": _lazy(_SC + "model.ContinuousValueEncoder", _VALUES * 600, given=(8,)),
    "CategoryValueEncoder": _lazy(_SC + "model.CategoryValueEncoder", _i(5, 3, 6), given=(6, 8)),
    "ExprDecoder": _lazy(_SC + "model.ExprDecoder", _t(3, 6, 8), given=(8, True)),
    "AdversarialDiscriminator": _lazy(
        _SC + "model.AdversarialDiscriminator", _t(3, 8), given=(8, 2), reverse_grad=True
    ),
    "Similarity": _lazy(_SC + "model.Similarity", _t(3, 1, 8), _t(1, 3, 8), given=(0.5,)),
    "square mask": _fun(_SC + "model.generate_square_subsequent_mask", 5),
    "masked_mse_loss": _fun("scgpt.loss.masked_mse_loss", _t(3, 6), _t(3, 6), _u(3, 6) > 0.5),
    "neg_log_bernoulli": _fun("scgpt.loss.criterion_neg_log_bernoulli", _u(3, 6), _u(3, 6), _u(3, 6) > 0.5),
    "masked_relative_error": _fun("scgpt.loss.masked_relative_error", _t(3, 6), _u(3, 6), _u(3, 6) > 0.5),
}


def _geometry(use: Callable[..., Any]) -> Callable[[], Built]:
    """A use of a matrix in the space of the parameters of a small network, and of a vector there."""

    def build() -> Built:
        net = nn.Sequential(nn.Linear(3, 2), nn.ReLU(), nn.Linear(2, 2))
        layers = _get("nngeometry.layercollection.LayerCollection").from_model(net)
        vector = _get("nngeometry.object.vector.random_pvector")(layers, dtype=torch.float32)
        generator = SimpleNamespace(layer_collection=layers, get_device=lambda: torch.device("cpu"))
        return (lambda x: use(lambda name, data: _get("nngeometry.object." + name)(generator, data=data), x, vector)), [
            (_t(14, 14),)
        ]

    return build


_NG = "nngeometry."
_NNGEOMETRY: dict[str, Callable[[], Built]] = {
    "Cosine1d": _lazy(_NG + "layers.Cosine1d", _t(4, 3), given=(3, 2)),
    "WeightNorm1d": _lazy(_NG + "layers.WeightNorm1d", _t(4, 3), given=(3, 2)),
    "WeightNorm2d": _lazy(_NG + "layers.WeightNorm2d", _t(2, 3, 6, 6), given=(3, 4, 3)),
    "Affine1d": _lazy(_NG + "layers.Affine1d", _t(4, 3), given=(3,)),
    "kronecker": _fun(_NG + "maths.kronecker", _t(2, 2), _t(3, 3)),
    "dense mv": _geometry(lambda m, x, v: m("PMatDense", x @ x.T).mv(v).to_torch()),
    "dense vTMv": _geometry(lambda m, x, v: m("PMatDense", x @ x.T).vTMv(v)),
    "dense norm": _geometry(lambda m, x, _v: m("PMatDense", x @ x.T).frobenius_norm()),
    "dense solve": _geometry(lambda m, x, v: m("PMatDense", x @ x.T).solvePVec(v, 1e-3).to_torch()),
    "dense eigen": _geometry(
        lambda m, x, v: (lambda d: (d.compute_eigendecomposition(), d.project_to_diag(v)))(m("PMatDense", x @ x.T))[1]
    ),
    "dense inverse": _geometry(lambda m, x, _v: m("PMatDense", x @ x.T).inverse(1e-3).to_torch()),
    "dense sum": _geometry(lambda m, x, _v: (m("PMatDense", x @ x.T) + m("PMatDense", x)).trace()),
    "diagonal mv": _geometry(lambda m, x, v: m("PMatDiag", x[0]).mv(v).to_torch()),
    "diagonal solve": _geometry(lambda m, x, v: m("PMatDiag", x[0] ** 2).solvePVec(v).to_torch()),
    "diagonal dense": _geometry(lambda m, x, _v: m("PMatDiag", x[0]).to_torch()),
    "low rank mv": _geometry(lambda m, x, v: m("PMatLowRank", x.reshape(1, 14, 14)).mv(v).to_torch()),
    "low rank norm": _geometry(lambda m, x, _v: m("PMatLowRank", x.reshape(1, 14, 14)).frobenius_norm()),
    "low rank solve": _geometry(lambda m, x, v: m("PMatLowRank", x.reshape(1, 14, 14)).solvePVec(v, 1e-2).to_torch()),
    "vector norm": _geometry(lambda _m, _x, v: v.norm()),
    "vector dot": _geometry(lambda _m, _x, v: (v + 2 * v).dot(v)),
    "vector dict": _geometry(lambda _m, _x, v: v.to_dict()),
    "vector power": _geometry(lambda _m, _x, v: (v**2 - v).norm(1)),
}

_EN = "enformer_pytorch.modeling_enformer."
_DNA = torch.nn.functional.one_hot(_i(4, 1, 1024), 4).float()
_SMALL: dict[str, Any] = {"dim": 96, "depth": 1, "heads": 2, "output_heads": {"human": 3}, "target_length": 4}


def _enformer(**called: Any) -> Callable[[], Built]:
    return lambda: (
        _get(_EN + "Enformer").from_hparams(**_SMALL, num_downsamples=3, dim_divisible_by=12),
        [{"x": _DNA, **called}],
    )


_ENFORMER: dict[str, Callable[[], Built]] = {
    "Enformer": _enformer(),
    "Enformer head": _enformer(head="human"),
    "Enformer loss": _enformer(head="human", target=_u(1, 4, 3)),
    "Enformer corr": _enformer(head="human", target=_u(1, 4, 3), return_corr_coef=True),
    "Enformer embeddings": _enformer(return_embeddings=True),
    "Enformer length": _enformer(target_length=2, return_only_embeddings=True),
    "AttentionPool": _lazy(_EN + "AttentionPool", _t(1, 8, 7), given=(8,)),
    "AttentionPool even": _lazy(_EN + "AttentionPool", _t(1, 8, 8), given=(8,)),
    "TargetLengthCrop": _lazy(_EN + "TargetLengthCrop", _t(1, 8, 3), given=(4,)),
    "Attention": _lazy(
        _EN + "Attention", _t(1, 8, 12), given=(12,), num_rel_pos_features=12, heads=2, dim_key=4, dim_value=4
    ),
    "poisson_loss": _fun(_EN + "poisson_loss", _u(2, 4), _u(2, 4)),
    "pearson_corr_coef": _fun(_EN + "pearson_corr_coef", _t(2, 4, 3), _t(2, 4, 3)),
    "positional exponential": _fun(_EN + "get_positional_features_exponential", torch.arange(-7, 8), 4, 8),
    "positional central": _fun(_EN + "get_positional_features_central_mask", torch.arange(-7, 8), 4, 8),
    "positional gamma": _fun(_EN + "get_positional_features_gamma", torch.arange(-7, 8), 4, 8),
    "positional": _fun(_EN + "get_positional_embed", 8, 12, torch.device("cpu"), False),
    "relative_shift": _fun(_EN + "relative_shift", _t(1, 2, 8, 15)),
    "one hot": _fun("enformer_pytorch.data.seq_indices_to_one_hot", _i(5, 2, 6)),
    "one hot of text": _fun("enformer_pytorch.data.str_to_one_hot", "ACGTN"),
    "reverse complement": _fun("enformer_pytorch.data.seq_indices_reverse_complement", _i(4, 2, 6)),
    "reverse complement one hot": _fun("enformer_pytorch.data.one_hot_reverse_complement", _u(2, 6, 4)),
}

_PACKAGES = {
    "robomimic": _ROBOMIMIC,
    "careamics": _CAREAMICS,
    "scgpt": _SCGPT,
    "nngeometry": _NNGEOMETRY,
    "enformer_pytorch": _ENFORMER,
}
MODELS = {f"{package}/{name}": build for package, models in _PACKAGES.items() for name, build in models.items()}

"""Models of packages that were chosen and run after the fourteenth group, before anything was changed for them.

Of rl-games, pytorch-nlp, torchfm, vbll, cleverhans, fvcore, efficientnet-pytorch and torchcfm. The others of the group
stand in `fifteenth_networks`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(17)
# What these packages import of others and the models here do not use.
_ABSENT = {
    "rl_games": ("gym", "gymnasium", "ray"),
    "cleverhans": ("absl.testing", "easydict"),
    "torchcfm": ("torchdyn.datasets", "torchdyn.core", "matplotlib.pyplot"),
    "fvcore": ("iopath.common.file_io", "yacs.config"),
}
_get = getter(_ABSENT, ())
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_R = "rl_games."
_RE = _R + "algos_torch.torch_ext."
_RL = _R + "common.common_losses."
_LOSS = (_t(6, 1), _t(6, 1), 0.2, _t(6, 1), True)
_MASK = (_u(6) > 0.3).float()


def _recurrent(name: str, masked: bool) -> Built:
    made = _get(_R + "common.layers.recurrent." + name)(4, 5)
    state: Any = _t(1, 3, 5)
    if name.startswith("LSTM"):
        state = (_t(1, 3, 5), _t(1, 3, 5))
    return made, [(_t(6, 3, 4), state, (_u(6, 3, 1) > 0.6).float(), 6) if masked else (_t(6, 3, 4), state)]


def _masked(name: str) -> Callable[..., Any]:
    def use(kind: Any, logits: torch.Tensor, masks: torch.Tensor) -> Any:
        made = kind(logits=logits, masks=masks)
        return made.entropy(), made.log_prob(torch.zeros(len(logits), dtype=torch.long))

    return lambda: _using(_R + "common.extensions.distributions." + name, use, (_t(3, 4), _u(3, 4) > 0.3))


_NETWORK = {
    "separate": False,
    "value_shape": 1,
    "space": {
        "continuous": {
            "mu_activation": "None",
            "sigma_activation": "None",
            "mu_init": {"name": "default"},
            "sigma_init": {"name": "const_initializer", "val": 0.0},
            "fixed_sigma": True,
        }
    },
    "mlp": {"units": [8, 8], "activation": "elu", "initializer": {"name": "default"}},
}


def _actor(kind: str, model: str, **options: Any) -> Built:
    """A network that the builders of rl-games make, in the model that draws its actions."""
    builder = _get(_R + "algos_torch.network_builder." + kind)()
    builder.load({**_NETWORK, **options})
    made = _get(_R + "algos_torch.models." + model)(builder).build(
        {
            "actions_num": 2,
            "input_shape": (4,),
            "num_seqs": 1,
            "value_size": 1,
            "normalize_value": True,
            "normalize_input": True,
        }
    )
    return made, [({"is_train": train, "obs": _t(3, 4), "prev_actions": _t(3, 2)},) for train in (False, True)]


_RL_GAMES: dict[str, Callable[[], Built]] = {
    "NoisyLinear": lambda: _made(_R + "algos_torch.layers.NoisyLinear", [(_t(3, 4),)], 4, 5),
    "SymLog": lambda: _made(_R + "algos_torch.layers.SymLog", [(_t(3, 4),)]),
    "SymExp": lambda: _made(_R + "algos_torch.layers.SymExp", [(_t(3, 4),)]),
    "RunningMeanStd": lambda: _made(_R + "algos_torch.running_mean_std.RunningMeanStd", [(_t(6, 4),)], (4,)),
    "RunningMeanStd masked": lambda: _made(
        _R + "algos_torch.running_mean_std.RunningMeanStd", [(_t(6, 1), False, _MASK[:, None])], (1,)
    ),
    "RunningMeanStd per channel": lambda: _made(
        _R + "algos_torch.running_mean_std.RunningMeanStd", [(_t(6, 3, 4, 4),)], (3, 4, 4), per_channel=True
    ),
    "RunningMeanStdObs": lambda: _made(
        _R + "algos_torch.running_mean_std.RunningMeanStdObs",
        [({"a": _t(6, 4), "b": _t(6, 2)},)],
        {"a": (4,), "b": (2,)},
    ),
    "GeneralizedMovingStats": lambda: _made(
        _R + "algos_torch.moving_mean_std.GeneralizedMovingStats", [(_t(6, 1),)], 1
    ),
    "GeneralizedMovingStats percentiles": lambda: _made(
        _R + "algos_torch.moving_mean_std.GeneralizedMovingStats", [(_t(6, 1),)], 1, impl="min_max"
    ),
    "SpatialSoftArgmax": lambda: _made(_R + "algos_torch.spatial_softmax.SpatialSoftArgmax", [(_t(2, 3, 4, 4),)], True),
    "policy_kl": lambda: _call(_RE + "policy_kl", (_t(6, 2), _u(6, 2) + 0.1, _t(6, 2), _u(6, 2) + 0.1)),
    "apply_masks": lambda: _call(_RE + "apply_masks", ([_t(6, 1), _t(6, 1)], _MASK)),
    "normalization_with_masks": lambda: _call(_RE + "normalization_with_masks", (_t(6), _MASK)),
    "explained_variance": lambda: _call(_RE + "explained_variance", (_t(6), _t(6)), (_t(6), _t(6), _MASK)),
    "policy_clip_fraction": lambda: _call(
        _RE + "policy_clip_fraction", (_t(6), _t(6), 0.2), (_t(6), _t(6), 0.2, _MASK)
    ),
    "truncated_normal": lambda: _call(_RE + "truncated_normal", (_u(3, 4),)),
    "sample_truncated_normal": lambda: _call(_RE + "sample_truncated_normal", ((3, 4),)),
    "random_sample": lambda: _call(_RE + "random_sample", (_t(8, 2), 0.5)),
    "CoordConv2d": lambda: _made(_RE + "CoordConv2d", [(_t(2, 3, 4, 4),)], 3, 5, 3),
    "LayerNorm2d": lambda: _made(_RE + "LayerNorm2d", [(_t(2, 3, 4, 4),)], 3),
    "DiscreteActionsEncoder": lambda: _made(_RE + "DiscreteActionsEncoder", [(_i(4, 3, 2),)], 4, 6, 3, 2, True),
    "AverageMeter": lambda: _using(
        _RE + "AverageMeter", lambda kind, x: (lambda m: (m.update(x), m.get_mean()))(kind(1, 10)), (_t(6, 1),)
    ),
    "AverageMeter update": lambda: _method(_RE + "AverageMeter", "update", [(_t(6, 1),)], 1, 10),
    "critic_loss": lambda: _call(_RL + "default_critic_loss", _LOSS),
    "actor_loss": lambda: _call(_RL + "actor_loss", (_t(6), _t(6), _t(6), True, 0.2)),
    "smoothed_actor_loss": lambda: _call(_RL + "smoothed_actor_loss", (_t(6), _t(6), _t(6), True, 0.2)),
    "decoupled_actor_loss": lambda: _call(_RL + "decoupled_actor_loss", (_t(6), _t(6), _t(6), _t(6), 0.2)),
    "normalize_advantage": lambda: _call(_RL + "normalize_advantage", (_t(6),)),
    "d_kl_discrete": lambda: _call(_R + "common.divergence.d_kl_discrete", (_u(3, 4), _u(3, 4))),
    "d_kl_normal": lambda: _call(_R + "common.divergence.d_kl_normal", ((_t(3), _u(3) + 0.1), (_t(3), _u(3) + 0.1))),
    "DefaultRewardsShaper": lambda: _made(_R + "common.tr_helpers.DefaultRewardsShaper", [(_t(6),)], log_val=True),
    "TwoHotEncodedValue": lambda: _made(_R + "common.layers.value.TwoHotEncodedValue", [(_t(3, 4),)], 4, 1),
    "DefaultValue loss": lambda: _method(_R + "common.layers.value.DefaultValue", "loss", [_LOSS], 4, 1),
    "CategoricalMasked": _masked("CategoricalMasked"),
    "OneHotDist": lambda: _using(
        _R + "common.extensions.distributions.OneHotDist",
        lambda kind, x: (lambda d: (d.mode(), d.rsample()))(kind(logits=x, unimix_ratio=0.1)),
        (_t(3, 4),),
    ),
    **{
        f"{name}{' masked' if masked else ''}": (lambda name=name, masked=masked: _recurrent(name, masked))
        for name in ("LSTMWithDones", "GRUWithDones")
        for masked in (False, True)
    },
    "A2C continuous": lambda: _actor("A2CBuilder", "ModelA2CContinuous"),
    "A2C continuous log": lambda: _actor("A2CBuilder", "ModelA2CContinuousLogStd"),
    "A2C separate": lambda: _actor("A2CBuilder", "ModelA2CContinuousLogStd", separate=True, normalization="layer_norm"),
    "A2C discrete": lambda: _actor("A2CBuilder", "ModelA2C", space={"discrete": {}}),
    "ImpalaSequential": lambda: _made(_R + "algos_torch.network_builder.ImpalaSequential", [(_t(2, 3, 16, 16),)], 3, 4),
}

_N = "torchnlp."
_TORCHNLP: dict[str, Callable[[], Built]] = {
    **{
        f"Attention {kind}": (
            lambda kind=kind: _made(_N + "nn.Attention", [(_t(2, 3, 4), _t(2, 5, 4))], 4, attention_type=kind)
        )
        for kind in ("dot", "general")
    },
    "CNNEncoder": lambda: _made(_N + "nn.CNNEncoder", [(_t(2, 6, 4),)], 4, 3),
    "CNNEncoder projected": lambda: _made(
        _N + "nn.CNNEncoder", [(_t(2, 6, 4), (_u(2, 6) > 0.2).float())], 4, 3, output_dim=5
    ),
    "LockedDropout": lambda: _made(_N + "nn.LockedDropout", [(_t(6, 2, 4),)], 0.5),
    "WeightDropLSTM": lambda: _made(_N + "nn.WeightDropLSTM", [(_t(6, 2, 4),)], 4, 5, weight_dropout=0.3),
    "WeightDropLinear": lambda: _made(_N + "nn.WeightDropLinear", [(_t(6, 4),)], 4, 5, weight_dropout=0.3),
    "get_token_accuracy": lambda: _call(_N + "metrics.get_token_accuracy", (_i(4, 3, 5), _i(4, 3, 5)), ignore_index=0),
    "pad_tensor": lambda: _call(_N + "encoders.text.text_encoder.pad_tensor", (_i(9, 4), 6)),
    "stack_and_pad_tensors": lambda: _call(
        _N + "encoders.text.text_encoder.stack_and_pad_tensors", ([_i(9, 4), _i(9, 3)],)
    ),
    "lengths_to_mask": lambda: _call(_N + "utils.lengths_to_mask", (torch.tensor([3, 1, 2]),)),
    "torch_equals_ignore_index": lambda: _call(
        _N + "utils.torch_equals_ignore_index", (_i(3, 6), _i(3, 6)), ignore_index=1
    ),
    "collate_tensors": lambda: _using(
        _N + "utils.collate_tensors",
        lambda use, x, y: use([{"a": x}, {"a": y}]),
        (_t(3), _t(3)),
    ),
}

_F = "torchfm."
_FIELDS = [5, 4, 6]
_TORCHFM: dict[str, Callable[[], Built]] = {
    **{
        path.rpartition(".")[2]: (
            lambda path=path, given=given: _made(_F + "model." + path, [(_i(4, 3, 3),)], _FIELDS, *given)
        )
        for path, given in {
            "afi.AutomaticFeatureInteractionModel": (4, 4, 2, 1, (8,), (0.1, 0.1, 0.1)),
            "afm.AttentionalFactorizationMachineModel": (4, 4, (0.1, 0.1)),
            "afn.AdaptiveFactorizationNetwork": (4, 6, (8,), (0.1, 0.1)),
            "dcn.DeepCrossNetworkModel": (4, 2, (8,), 0.1),
            "dfm.DeepFactorizationMachineModel": (4, (8,), 0.1),
            "ffm.FieldAwareFactorizationMachineModel": (4,),
            "fm.FactorizationMachineModel": (4,),
            "fnfm.FieldAwareNeuralFactorizationMachineModel": (4, (8,), (0.1, 0.1)),
            "fnn.FactorizationSupportedNeuralNetworkModel": (4, (8,), 0.1),
            "lr.LogisticRegressionModel": (),
            "nfm.NeuralFactorizationMachineModel": (4, (8,), (0.1, 0.1)),
            "pnn.ProductNeuralNetworkModel": (4, (8,), 0.1),
            "wd.WideAndDeepModel": (4, (8,), 0.1),
            "xdfm.ExtremeDeepFactorizationMachineModel": (4, (8,), 0.1, (6, 6)),
        }.items()
    },
    "NeuralCollaborativeFiltering": lambda: _made(
        _F + "model.ncf.NeuralCollaborativeFiltering",
        [(_i(4, 3, 3),)],
        _FIELDS,
        torch.tensor([0]).numpy(),
        torch.tensor([1]).numpy(),
        4,
        (8, 4),
        0.1,
    ),
    "OuterProductNetwork": lambda: _made(_F + "layer.OuterProductNetwork", [(_t(2, 3, 4),)], 3, 4),
}


def _bayesian(name: str, labels: torch.Tensor, **options: Any) -> Built:
    """What a layer of vbll predicts, and its loss."""

    def use(layer: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
        given = layer(x)
        return given.train_loss_fn(y), given.val_loss_fn(y)

    return held(_get("vbll." + name)(4, 3, 0.1, **options), use, (_t(5, 4), labels))


_VBLL: dict[str, Callable[[], Built]] = {
    **{
        f"{name} {form}": (lambda name=name, form=form: _bayesian(name, _t(5, 3), parameterization=form))
        for name in ("Regression", "tRegression")
        for form in ("dense", "diagonal")
    },
    "Regression lowrank": lambda: _bayesian("Regression", _t(5, 3), parameterization="lowrank", cov_rank=2),
    "HetRegression": lambda: held(
        _get("vbll.HetRegression")(4, 1, 0.1),
        lambda layer, x, y: (lambda given: (given.train_loss_fn(y), given.val_loss_fn(y)))(layer(x)),
        (_t(5, 4), _t(5, 1)),
    ),
    "DiscClassification": lambda: _bayesian("DiscClassification", _i(3, 5), return_ood=True),
    **{
        f"tDiscClassification {bound}": (
            lambda bound=bound: _bayesian("tDiscClassification", _i(3, 5), softmax_bound=bound)
        )
        for bound in ("reduced_kn", "semimontecarlo")
    },
    "HetClassification": lambda: _bayesian("HetClassification", _i(3, 5)),
    "GenClassification": lambda: _bayesian("GenClassification", _i(3, 5), parameterization="diagonal"),
    "cholupdate": lambda: _using(
        "vbll.utils.distributions.cholupdate", lambda use, x: use(torch.eye(3), x, 0.5), (_t(3),)
    ),
}


def _classifier() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 3))


def _attacked(path: str, *given: Any, **options: Any) -> Built:
    attack = _get(_C + "attacks." + path)
    return held(_classifier(), lambda model, x: attack(model, x, *given, **options), (_u(2, 1, 4, 4),))


_C = "cleverhans.torch."
_INF = float("inf")
_CLEVERHANS: dict[str, Callable[[], Built]] = {
    **{
        f"{name} {norm}": (lambda path=path, given=given, norm=norm: _attacked(path, *given, norm))
        for name, path, given in (
            ("fast_gradient_method", "fast_gradient_method.fast_gradient_method", (0.3,)),
            ("projected_gradient_descent", "projected_gradient_descent.projected_gradient_descent", (0.3, 0.1, 2)),
        )
        for norm in (_INF, 2)
    },
    "fast_gradient_method 1": lambda: _attacked("fast_gradient_method.fast_gradient_method", 0.3, 1),
    "projected_gradient_descent clipped": lambda: _attacked(
        "projected_gradient_descent.projected_gradient_descent", 0.3, 0.1, 2, _INF, clip_min=0.0, clip_max=1.0
    ),
    "carlini_wagner_l2": lambda: _attacked(
        "carlini_wagner_l2.carlini_wagner_l2", 3, binary_search_steps=1, max_iterations=2
    ),
    "sparse_l1_descent": lambda: _attacked("sparse_l1_descent.sparse_l1_descent", nb_iter=2, sanity_checks=False),
    "spsa": lambda: _attacked("spsa.spsa", 0.3, 2, spsa_samples=4),
    "noise": lambda: _call(_C + "attacks.noise.noise", (_t(2, 3),)),
    **{
        f"clip_eta {norm}": (lambda norm=norm: _call(_C + "utils.clip_eta", (_t(2, 3), norm, 0.3)))
        for norm in (_INF, 2)
    },
    **{
        f"optimize_linear {norm}": (lambda norm=norm: _call(_C + "utils.optimize_linear", (_t(2, 3), 0.3, norm)))
        for norm in (_INF, 1, 2)
    },
    "zero_out_clipped_grads": lambda: _call(_C + "utils.zero_out_clipped_grads", (_t(2, 3), _t(2, 3), -0.5, 0.5)),
}

_V = "fvcore.nn."
_BOXES = torch.cat([_u(4, 2), 1 + _u(4, 2)], 1)
_FVCORE: dict[str, Callable[[], Built]] = {
    "sigmoid_focal_loss": lambda: _call(
        _V + "sigmoid_focal_loss", (_t(3, 4), (_u(3, 4) > 0.5).float(), 0.25, 2.0, "mean")
    ),
    "sigmoid_focal_loss_star": lambda: _call(
        _V + "sigmoid_focal_loss_star", (_t(3, 4), (_u(3, 4) > 0.5).float(), 0.25, 1.0, "sum")
    ),
    "giou_loss": lambda: _call(_V + "giou_loss", (_BOXES, _BOXES.flip(0), "mean")),
    "smooth_l1_loss": lambda: _call(_V + "smooth_l1_loss", (_t(3, 4), _t(3, 4), 0.5, "mean")),
    **{
        name: (lambda name=name, given=given: _made(_V + "squeeze_excitation." + name, [(_t(2, 8, 4, 4),)], 8, **given))
        for name, given in (
            ("SqueezeExcitation", {}),
            ("SpatialSqueezeExcitation", {}),
            ("ChannelSpatialSqueezeExcitation", {"reduction_ratio": 2.0}),
        )
    },
    "precise variance": lambda: _using(
        _V + "precise_bn._PopulationVarianceEstimator",
        lambda kind, x: (lambda e: (e.update(x.mean(0), x.var(0), 6), e.pop_var))(kind(torch.zeros(4), torch.ones(4))),
        (_t(6, 4),),
    ),
    "HistoryBuffer": lambda: _using(
        "fvcore.common.history_buffer.HistoryBuffer",
        lambda kind, x: (lambda b: (b.update(x), b.avg(2), b.median(2)))(kind()),
        (1.5,),
    ),
}

_E = "efficientnet_pytorch."


def _efficient(name: str, use: str = "__call__", **options: Any) -> Built:
    made = _get(_E + "EfficientNet").from_name(name, num_classes=4, **options)
    if use == "__call__":
        return made, [(_t(2, 3, 32, 32),)]
    return held(made, lambda m, x: getattr(m, use)(x), (_t(2, 3, 32, 32),))


_EFFICIENTNET: dict[str, Callable[[], Built]] = {
    "b0": lambda: _efficient("efficientnet-b0", image_size=32, width_coefficient=0.3, depth_coefficient=0.3),
    "b0 dynamic": lambda: _efficient("efficientnet-b0", image_size=None, width_coefficient=0.3, depth_coefficient=0.3),
    "extract_endpoints": lambda: _efficient("efficientnet-b0", "extract_endpoints", width_coefficient=0.3),
    "extract_features": lambda: _efficient("efficientnet-b0", "extract_features", width_coefficient=0.3),
    "Conv2dDynamicSamePadding": lambda: _made(
        _E + "utils.Conv2dDynamicSamePadding", [(_t(2, 3, 7, 7),), (_t(2, 3, 8, 8),)], 3, 4, 3, 2
    ),
    "MaxPool2dDynamicSamePadding": lambda: _made(_E + "utils.MaxPool2dDynamicSamePadding", [(_t(2, 3, 7, 7),)], 3, 2),
    "drop_connect": lambda: _call(_E + "utils.drop_connect", (_t(2, 3, 4, 4), 0.2, True)),
    "MemoryEfficientSwish": lambda: _made(_E + "utils.MemoryEfficientSwish", [(_t(2, 3),)]),
}

_M = "torchcfm."


def _matched(name: str, **options: Any) -> Built:
    made = _get(_M + "conditional_flow_matching." + name)(**options)
    return held(made, lambda m, x, y: m.sample_location_and_conditional_flow(x, y), (_t(5, 2), _t(5, 2)))


_TORCHCFM: dict[str, Callable[[], Built]] = {
    **{
        name: (lambda name=name: _matched(name, sigma=0.1))
        for name in (
            "ConditionalFlowMatcher",
            "ExactOptimalTransportConditionalFlowMatcher",
            "TargetConditionalFlowMatcher",
            "SchrodingerBridgeConditionalFlowMatcher",
            "VariancePreservingConditionalFlowMatcher",
        )
    },
    "compute_lambda": lambda: held(
        _get(_M + "conditional_flow_matching.ConditionalFlowMatcher")(0.1), lambda m, t: m.compute_lambda(t), (_u(5),)
    ),
    "guided": lambda: held(
        _get(_M + "conditional_flow_matching.ExactOptimalTransportConditionalFlowMatcher")(0.1),
        lambda m, x, y, a, b: m.guided_sample_location_and_conditional_flow(x, y, a, b),
        (_t(5, 2), _t(5, 2), _i(3, 5), _i(3, 5)),
    ),
    **{
        f"wasserstein {power}": (
            lambda power=power: _call(_M + "optimal_transport.wasserstein", (_t(5, 2), _t(6, 2)), power=power)
        )
        for power in (1, 2)
    },
    "sample_trajectory": lambda: held(
        _get(_M + "optimal_transport.OTPlanSampler")("exact"), lambda s, x: s.sample_trajectory(x), (_t(5, 3, 2),)
    ),
    "MLP": lambda: _made(_M + "models.MLP", [(_t(5, 3),)], 2, time_varying=True),
    "UNetModel": lambda: _made(_M + "models.unet.UNetModel", [(_u(2), _t(2, 3, 8, 8))], (3, 8, 8), 32, 1, (1, 2)),
    "UNetModel classes": lambda: _made(
        _M + "models.unet.UNetModel",
        [(_u(2), _t(2, 3, 8, 8), _i(4, 2))],
        (3, 8, 8),
        32,
        1,
        (1, 2),
        num_classes=4,
        class_cond=True,
        use_scale_shift_norm=True,
    ),
    "torch_wrapper": lambda: _using(
        _M + "utils.torch_wrapper", lambda kind, t, x: kind(nn.Linear(3, 2))(t, x), (torch.tensor(0.3), _t(5, 2))
    ),
}

MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in {
        "rl_games": _RL_GAMES,
        "torchnlp": _TORCHNLP,
        "torchfm": _TORCHFM,
        "vbll": _VBLL,
        "cleverhans": _CLEVERHANS,
        "fvcore": _FVCORE,
        "efficientnet_pytorch": _EFFICIENTNET,
        "torchcfm": _TORCHCFM,
    }.items()
    for name, build in models.items()
}

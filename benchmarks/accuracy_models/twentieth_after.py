"""Models of vocos, fast_bss_eval and gfn (torchgfn).

They were written after the work on the twentieth group, and before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(53)
_get = getter({}, ())
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_V = "vocos."
_MAPS = _t(2, 8, 12)
_WAVES = (_t(2, 4800), _t(2, 4800))
_VOCOS: dict[str, Callable[[], Built]] = {
    "VocosBackbone": lambda: _made(_V + "models.VocosBackbone", [(_MAPS,)], 8, 16, 32, 2),
    "VocosBackbone conditional": lambda: held(
        _get(_V + "models.VocosBackbone")(8, 16, 32, 1, adanorm_num_embeddings=3),
        lambda m, x, i: m(x, bandwidth_id=i),
        (_MAPS, torch.tensor([1])),
    ),
    "ISTFTHead": lambda: _made(_V + "heads.ISTFTHead", [(_t(2, 12, 16),)], 16, 64, 16),
    "ISTFTHead center": lambda: _made(_V + "heads.ISTFTHead", [(_t(2, 12, 16),)], 16, 64, 16, "center"),
    "MelSpecReconstructionLoss": lambda: _made(_V + "loss.MelSpecReconstructionLoss", [_WAVES], n_mels=20),
    "GeneratorLoss": lambda: held(_get(_V + "loss.GeneratorLoss")(), lambda m, x, y: m([x, y]), (_t(2, 6), _t(2, 6))),
    "DiscriminatorLoss": lambda: held(
        _get(_V + "loss.DiscriminatorLoss")(), lambda m, x, y: m([x, y], [y, x]), (_t(2, 6), _t(2, 6))
    ),
    "FeatureMatchingLoss": lambda: held(
        _get(_V + "loss.FeatureMatchingLoss")(), lambda m, x, y: m([[x], [y]], [[y], [x]]), (_t(2, 6), _t(2, 6))
    ),
    "ConvNeXtBlock": lambda: _made(_V + "modules.ConvNeXtBlock", [(_MAPS,)], 8, 16, 0.1),
    "AdaLayerNorm": lambda: _made(_V + "modules.AdaLayerNorm", [(_t(2, 12, 8), torch.tensor([1]))], 3, 8),
    "ISTFT": lambda: held(
        _get(_V + "spectral_ops.ISTFT")(64, 16, 64),
        lambda m, x, y: m(torch.complex(x, y)),
        (_t(2, 33, 12), _t(2, 33, 12)),
    ),
    "MelSpectrogramFeatures": lambda: _made(
        _V + "feature_extractors.MelSpectrogramFeatures", [(_WAVES[0],)], n_mels=20
    ),
    "MelSpectrogramFeatures same": lambda: _made(
        _V + "feature_extractors.MelSpectrogramFeatures", [(_WAVES[0],)], n_mels=20, padding="same"
    ),
    "symlog": lambda: _call(_V + "modules.symlog", (_MAPS,)),
    "symexp": lambda: _call(_V + "modules.symexp", (_MAPS,)),
    "gradient_norm": lambda: held(torch.nn.Linear(4, 2), _norm, (_t(3, 4),)),
}


def _norm(layer: torch.nn.Module, x: torch.Tensor) -> Any:
    layer(x).sum().backward()
    return x + _get(_V + "helpers.gradient_norm")(layer)


_M = "fast_bss_eval.torch.metrics."
_S = "fast_bss_eval.torch.scale_invariant."
_SOURCES = (_t(2, 3, 400), _t(2, 3, 400))


def _short(name: str, **options: Any) -> Callable[[], Built]:
    return lambda: _call(_M + name, _SOURCES, filter_length=8, **options)


_EVAL: dict[str, Callable[[], Built]] = {
    "sdr": _short("sdr"),
    "sdr permuted": _short("sdr", return_perm=True, zero_mean=True),
    "sdr clamped": _short("sdr", clamp_db=30.0, load_diag=1e-5),
    "sdr gradient": _short("sdr", use_cg_iter=4),
    "sdr_loss": _short("sdr_loss"),
    "sdr_loss pairwise": _short("sdr_loss", pairwise=True, zero_mean=True),
    "sdr_pit_loss": _short("sdr_pit_loss", clamp_db=20.0),
    "pairwise_sdr_loss": _short("pairwise_sdr_loss"),
    "bss_eval_sources": _short("bss_eval_sources"),
    "bss_eval_sources plain": _short("bss_eval_sources", compute_permutation=False, load_diag=1e-5),
    "square_cosine_metrics": _short("square_cosine_metrics"),
    "square_cosine_metrics one": lambda: _call(_M + "square_cosine_metrics_length_one_filter", _SOURCES),
    "compute_stats": lambda: _call(_M + "compute_stats", _SOURCES, length=8),
    "compute_stats_2": lambda: _call(_M + "compute_stats_2", _SOURCES, length=8),
    "si_sdr": lambda: _call(_S + "si_sdr", _SOURCES),
    "si_sdr permuted": lambda: _call(_S + "si_sdr", _SOURCES, return_perm=True, clamp_db=30.0),
    "si_sdr_loss": lambda: _call(_S + "si_sdr_loss", _SOURCES, pairwise=True),
    "si_sdr_pit_loss": lambda: _call(_S + "si_sdr_pit_loss", _SOURCES, zero_mean=True),
    "si_bss_eval_sources": lambda: _call(_S + "si_bss_eval_sources", _SOURCES),
    "linear_sum_assignment": lambda: _call("fast_bss_eval.torch.hungarian.linear_sum_assignment", (_u(3, 3),)),
    "toeplitz": lambda: _call("fast_bss_eval.torch.linalg.toeplitz", (_t(2, 8),)),
    "block_toeplitz": lambda: _call("fast_bss_eval.torch.linalg.block_toeplitz", (_t(2, 15, 3, 3),), n=8),
    "hankel_view": lambda: _using("fast_bss_eval.torch.linalg.hankel_view", lambda f, x: f(x, 4), (_t(2, 16),)),
    "toeplitz_conjugate_gradient": lambda: _call(
        "fast_bss_eval.torch.cgd.toeplitz_conjugate_gradient", (_u(2, 8) + torch.eye(8)[0] * 8, _t(2, 8, 1)), n_iter=3
    ),
}

_G = "gfn."


def _reward(name: str, **options: Any) -> Callable[[], Built]:
    return lambda: _made(_G + "gym.hypergrid." + name, [(_i(8, 6, 2),)], 8, 2, **options)


def _grid(ndim: int = 2, height: int = 8) -> Any:
    return _get(_G + "gym.HyperGrid")(ndim, height)


def _estimator(env: Any, backward: bool = False) -> Any:
    count = env.n_actions - 1 if backward else env.n_actions
    preprocessor = _get(_G + "preprocessors.KHotPreprocessor")(env.height, env.ndim)
    module = _get(_G + "utils.modules.MLP")(preprocessor.output_dim, count, 8, 1)
    made = _get(_G + "estimators.DiscretePolicyEstimator")
    return made(module, env.n_actions, preprocessor, is_backward=backward)


def _policy() -> Built:
    env = _grid()
    states = env.states_from_tensor(_i(8, 5, 2))
    return held(_estimator(env), lambda m, x: m(env.states_from_tensor(x)), (states.tensor.clone(),))


def _loss(name: str, **options: Any) -> Callable[[], Built]:
    """The loss of a flow network, on trajectories that were sampled before."""

    def build() -> Built:
        env = _grid()
        forward, backward = _estimator(env), _estimator(env, backward=True)
        trajectories = _get(_G + "samplers.Sampler")(forward).sample_trajectories(env, n=3)
        network = _get(_G + "gflownet." + name)(pf=forward, pb=backward, **options)
        return (lambda: network.loss(env, trajectories)), [()]

    return build


def _scalar() -> Any:
    env = _grid()
    preprocessor = _get(_G + "preprocessors.KHotPreprocessor")(env.height, env.ndim)
    module = _get(_G + "utils.modules.MLP")(preprocessor.output_dim, 1, 8, 1)
    return _get(_G + "estimators.ScalarEstimator")(module, preprocessor)


def _sampled() -> Built:
    env = _grid()
    sampler = _get(_G + "samplers.Sampler")(_estimator(env))
    return (lambda: sampler.sample_trajectories(env, n=3).terminating_states.tensor), [()]


def _stepped() -> Built:
    env = _grid()

    def use(x: torch.Tensor, a: torch.Tensor) -> Any:
        return env._step(env.states_from_tensor(x), env.actions_from_tensor(a)).tensor

    return use, [(_i(2, 5, 2), _i(2, 5, 1))]


_GFN: dict[str, Callable[[], Built]] = {
    "MLP": lambda: _made(_G + "utils.modules.MLP", [(_t(4, 8),)], 8, 3, 16),
    "MLP noisy": lambda: _made(_G + "utils.modules.MLP", [(_t(4, 8),)], 8, 3, 16, n_noisy_layers=1),
    "Tabular": lambda: _made(_G + "utils.modules.Tabular", [(_i(5, 4, 1),)], 5, 3),
    "DiscreteUniform": lambda: _made(_G + "utils.modules.DiscreteUniform", [(_t(4, 8),)], 3),
    "LinearTransformer": lambda: _made(_G + "utils.modules.LinearTransformer", [(_t(2, 6, 8),)], 8, 1, 6, 2),
    "NoisyLinear": lambda: _made(_G + "utils.modules.NoisyLinear", [(_t(4, 8),)], 8, 3),
    "RecurrentDiscreteSequenceModel": lambda: held(
        _get(_G + "utils.modules.RecurrentDiscreteSequenceModel")(6, 8, 8),
        lambda m, x: m(x, m.init_carry(2, x.device))[0],
        (_i(6, 2, 1),),
    ),
    "TransformerDiscreteSequenceModel": lambda: held(
        _get(_G + "utils.modules.TransformerDiscreteSequenceModel")(6, 8, 2, 16, 1, 12),
        lambda m, x: m(x, m.init_carry(2, x.device))[0],
        (_i(6, 2, 1),),
    ),
    "DiffusionPISTimeEncoding": lambda: _made(_G + "utils.modules.DiffusionPISTimeEncoding", [(_u(4, 1),)], 8, 8, 8),
    "DiffusionPISGradNetForward": lambda: _made(
        _G + "utils.modules.DiffusionPISGradNetForward", [(_u(4, 3),)], 2, 8, 8, 8, 8, 1, clipping=True
    ),
    "DiffusionFixedBackwardModule": lambda: _made(_G + "utils.modules.DiffusionFixedBackwardModule", [(_u(4, 3),)], 2),
    "OriginalReward": _reward("OriginalReward"),
    "CosineReward": _reward("CosineReward"),
    "SparseReward": _reward("SparseReward"),
    "DeceptiveReward": _reward("DeceptiveReward"),
    "BitwiseXORReward": _reward("BitwiseXORReward"),
    "MultiplicativeCoprimeReward": _reward("MultiplicativeCoprimeReward"),
    "IsingModel": lambda: _made(_G + "gym.discrete_ebm.IsingModel", [(_i(2, 4, 5).float(),)], torch.ones(5, 5)),
    "SquaredLoss": lambda: _made(_G + "gflownet.losses.SquaredLoss", [(_t(4),)]),
    "ShiftedCoshLoss": lambda: _made(_G + "gflownet.losses.ShiftedCoshLoss", [(_t(4),)]),
    "LinexLoss": lambda: _made(_G + "gflownet.losses.LinexLoss", [(_t(4),)], 0.5),
    "policy": lambda: _policy(),
    "step": lambda: _stepped(),
    "sample": lambda: _sampled(),
    "TBGFlowNet": _loss("TBGFlowNet"),
    "LogPartitionVarianceGFlowNet": _loss("LogPartitionVarianceGFlowNet"),
    "SubTBGFlowNet": lambda: _loss("SubTBGFlowNet", logF=_scalar())(),
    "SubTBGFlowNet TB": lambda: _loss("SubTBGFlowNet", logF=_scalar(), weighting="TB")(),
    "SubTBGFlowNet equal": lambda: _loss("SubTBGFlowNet", logF=_scalar(), weighting="equal")(),
    "IsotropicGaussian": lambda: _using(
        _G + "utils.distributions.IsotropicGaussian",
        lambda c, x, y: c(x, torch.ones(4, 1)).log_prob(y),
        (_t(4, 2), _t(4, 2)),
    ),
    "UnsqueezedCategorical": lambda: _using(
        _G + "utils.distributions.UnsqueezedCategorical",
        lambda c, x, y: c(logits=x).log_prob(y),
        (_t(4, 5), _i(5, 4, 1)),
    ),
    "is_int_dtype": lambda: _using(_G + "utils.common.is_int_dtype", lambda f, x: x + 1 if f(x) else x, (_i(4, 3),)),
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("vocos", _VOCOS),
    **_named("fast_bss_eval", _EVAL),
    **_named("gfn", _GFN),
}

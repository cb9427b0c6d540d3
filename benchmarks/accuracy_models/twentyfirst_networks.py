"""Models of ding (DI-engine), ptls (pytorch-lifestream), s3prl, gliner and dalle2_pytorch.

They were chosen after all of the twentieth group, and written before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(72)
_ABSENT = {
    "ding": (
        "ditk",
        "gym",
        "mpire",
        "lz4",
        "pynng",
        "hickle",
        "enum_tools",
        "trueskill",
        "tensorboardX",
        "urlobject.path",
        "responses",
        "mq",
        "pettingzoo",
        "graphviz",
        "treetensor.torch",
        "treetensor.numpy",
    ),
    "ptls": ("pyarrow.parquet", "pyspark.sql", "pytorch_lightning"),
    "s3prl": (
        "torchaudio.compliance.kaldi",
        "torchaudio.transforms",
        "torchaudio.functional",
        "torchaudio.sox_effects",
    ),
    "gliner": ("onnxruntime",),
    "dalle2_pytorch": (
        "clip",
        "coca_pytorch",
        "ema_pytorch",
        "embedding_reader",
        "webdataset",
        "resize_right",
        "torchvision.transforms",
        "kornia.filters",
        "kornia.augmentation",
        "x_clip",
    ),
}
_BARE = ("ding.interaction", "ding.worker", "ding.model", "ding.model.template", "gliner", "dalle2_pytorch", "s3prl.nn")
_get = getter(_ABSENT, _BARE)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_R = "ding.rl_utils."
_N = "ding.torch_utils.network."
_T = "ding.torch_utils."
_H = "ding.model.common.head."


def _error(function: str, data: str, inputs: tuple[Any, ...], **options: Any) -> Callable[[], Built]:
    """A loss of reinforcement learning, which takes a named tuple."""

    def build() -> Built:
        loss, made = _get(_R + function), _get(_R + data)
        return (lambda *x: loss(made(*x), **options)), [inputs]

    return build


def _done(count: int) -> torch.Tensor:
    return _i(2, count).float()


_Q, _Q2 = _t(4, 3), _t(4, 3)
_A, _A2 = _i(3, 4), _i(3, 4)

_DING: dict[str, Callable[[], Built]] = {
    "a2c_error": _error("a2c.a2c_error", "a2c.a2c_data", (_Q, _A, _t(4), _t(4), _t(4), None)),
    "acer_policy_error": lambda: _call(
        _R + "acer.acer_policy_error", (_t(5, 4, 3), _t(5, 4, 1), _t(5, 4, 1), _t(5, 4, 3), _i(3, 5, 4), _u(5, 4, 3))
    ),
    "acer_value_error": lambda: _call(_R + "acer.acer_value_error", (_t(5, 4, 3), _t(5, 4, 1), _i(3, 5, 4))),
    "acer_trust_region_update": lambda: _using(
        _R + "acer.acer_trust_region_update", lambda f, g, *x: f([g], *x, 1.0), (_t(5, 4, 3), _t(5, 4, 3), _t(5, 4, 3))
    ),
    "cpw": lambda: _call(_R + "beta_function.cpw", (_u(6),)),
    "CVaR": lambda: _call(_R + "beta_function.CVaR", (_u(6),)),
    "Pow": lambda: _call(_R + "beta_function.Pow", (_u(6),), eta=0.5),
    "coma_error": _error(
        "coma.coma_error",
        "coma.coma_data",
        (_t(5, 2, 3, 4), _i(4, 5, 2, 3), _t(5, 2, 3, 4), _t(5, 2, 3, 4), _t(5, 2), None),
        gamma=0.9,
        lambda_=0.8,
    ),
    "GaussianNoise": lambda: held(
        _get(_R + "exploration.GaussianNoise")(), lambda m, x: x + m(x.shape, x.device), (_t(4, 3),)
    ),
    "OUNoise": lambda: held(_get(_R + "exploration.OUNoise")(), lambda m, x: x + m(x.shape, x.device), (_t(4, 3),)),
    "gae": _error("gae.gae", "gae.gae_data", (_t(5, 4), _t(5, 4), _t(5, 4), _i(2, 5, 4).float(), None)),
    "happo_error": _error(
        "happo.happo_error", "happo.happo_data", (_Q, _Q2, _A, _t(4), _t(4), _t(4), _t(4), _u(4), _u(4, 1))
    ),
    "compute_importance_weights": lambda: _call(_R + "isw.compute_importance_weights", (_Q, _Q2, _A)),
    "ppg_joint_error": _error(
        "ppg.ppg_joint_error", "ppg.ppg_data", (_Q, _Q2, _A, _t(4), _t(4), _t(4), None), use_value_clip=True
    ),
    "ppo_error": _error("ppo.ppo_error", "ppo.ppo_data", (_Q, _Q2, _A, _t(4), _t(4), _t(4), _t(4), None)),
    "ppo_error dual": _error(
        "ppo.ppo_error", "ppo.ppo_data", (_Q, _Q2, _A, _t(4), _t(4), _t(4), _t(4), _u(4)), dual_clip=2.0
    ),
    "ppo_policy_error": _error("ppo.ppo_policy_error", "ppo.ppo_policy_data", (_Q, _Q2, _A, _t(4), None)),
    "ppo_value_error": _error("ppo.ppo_value_error", "ppo.ppo_value_data", (_t(4), _t(4), _t(4), None)),
    "compute_q_retraces": lambda: _call(
        _R + "retrace.compute_q_retraces",
        (_t(6, 4, 3), _t(6, 4, 1), _t(5, 4), _i(3, 5, 4), torch.ones(5, 4), _u(5, 4, 3)),
    ),
    "ArgmaxSampler": lambda: _made(_R + "sampler.ArgmaxSampler", [(_Q,)]),
    "MultinomialSampler": lambda: _made(_R + "sampler.MultinomialSampler", [(_Q,)]),
    "q_1step_td_error": _error(
        "td.q_1step_td_error", "td.q_1step_td_data", (_Q, _Q2, _A, _A2, _t(4), _done(4), None), gamma=0.9
    ),
    "m_q_1step_td_error": _error(
        "td.m_q_1step_td_error",
        "td.m_q_1step_td_data",
        (_Q, _Q2, _t(4, 3), _A, _t(4), _done(4), None),
        gamma=0.9,
        tau=0.1,
        alpha=0.2,
    ),
    "q_v_1step_td_error": _error(
        "td.q_v_1step_td_error", "td.q_v_1step_td_data", (_Q, _t(4), _A, _t(4), _done(4), None), gamma=0.9
    ),
    "nstep_return": _error("td.nstep_return", "td.nstep_return_data", (_t(5, 4), _t(4), _done(4)), gamma=0.9, nstep=5),
    "dist_1step_td_error": _error(
        "td.dist_1step_td_error",
        "td.dist_1step_td_data",
        (_u(4, 3, 11), _u(4, 3, 11), _A, _A2, _t(4), _done(4), None),
        gamma=0.9,
        v_min=-2.0,
        v_max=2.0,
        n_atom=11,
    ),
    "dist_nstep_td_error": _error(
        "td.dist_nstep_td_error",
        "td.dist_nstep_td_data",
        (_u(4, 3, 11), _u(4, 3, 11), _A, _A2, _t(5, 4), _done(4), None),
        gamma=0.9,
        v_min=-2.0,
        v_max=2.0,
        n_atom=11,
        nstep=5,
    ),
    "v_1step_td_error": _error(
        "td.v_1step_td_error", "td.v_1step_td_data", (_t(4), _t(4), _t(4), _done(4), None), gamma=0.9
    ),
    "v_nstep_td_error": _error(
        "td.v_nstep_td_error", "td.v_nstep_td_data", (_t(4), _t(4), _t(5, 4), _done(4), None, None), gamma=0.9, nstep=5
    ),
    "q_nstep_td_error": _error(
        "td.q_nstep_td_error", "td.q_nstep_td_data", (_Q, _Q2, _A, _A2, _t(5, 4), _done(4), None), gamma=0.9, nstep=5
    ),
    "q_nstep_td_error_with_rescale": _error(
        "td.q_nstep_td_error_with_rescale",
        "td.q_nstep_td_data",
        (_Q, _Q2, _A, _A2, _t(5, 4), _done(4), None),
        gamma=0.9,
        nstep=5,
    ),
    "dqfd_nstep_td_error": _error(
        "td.dqfd_nstep_td_error",
        "td.dqfd_nstep_td_data",
        (_Q, _Q2, _A, _A2, _t(5, 4), _done(4), _done(4), None, _t(4, 3), _A2, _done(4)),
        gamma=0.9,
        lambda_n_step_td=1.0,
        lambda_supervised_loss=1.0,
        margin_function=0.8,
        nstep=5,
    ),
    "qrdqn_nstep_td_error": _error(
        "td.qrdqn_nstep_td_error",
        "td.qrdqn_nstep_td_data",
        (_t(4, 3, 6), _t(4, 3, 6), _A, _A2, _t(5, 4), _done(4), _u(4, 6, 1), None),
        gamma=0.9,
        nstep=5,
    ),
    "q_nstep_sql_td_error": _error(
        "td.q_nstep_sql_td_error",
        "td.q_nstep_td_data",
        (_Q, _Q2, _A, _A2, _t(5, 4), _done(4), None),
        gamma=0.9,
        alpha=0.5,
        nstep=5,
    ),
    "iqn_nstep_td_error": _error(
        "td.iqn_nstep_td_error",
        "td.iqn_nstep_td_data",
        (_t(6, 4, 3), _t(5, 4, 3), _A, _A2, _t(5, 4), _done(4), _u(6, 4, 1), None),
        gamma=0.9,
        nstep=5,
    ),
    "td_lambda_error": _error("td.td_lambda_error", "td.td_lambda_data", (_t(6, 4), _t(5, 4), None)),
    "generalized_lambda_returns": lambda: _using(
        _R + "td.generalized_lambda_returns", lambda f, *x: f(*x, 0.9, 0.8), (_t(6, 4), _t(5, 4))
    ),
    "upgo_loss": lambda: _call(_R + "upgo.upgo_loss", (_t(5, 4, 3), _u(5, 4), _i(3, 5, 4), _t(5, 4), _t(6, 4))),
    "value_transform": lambda: _call(_R + "value_rescale.value_transform", (_t(4),)),
    "value_inv_transform": lambda: _call(_R + "value_rescale.value_inv_transform", (_t(4),)),
    "symlog": lambda: _call(_R + "value_rescale.symlog", (_t(4),)),
    "vtrace_error_discrete_action": _error(
        "vtrace.vtrace_error_discrete_action",
        "vtrace.vtrace_data",
        (_t(5, 4, 3), _t(5, 4, 3), _i(3, 5, 4), _t(6, 4), _t(5, 4), None),
    ),
    "GLU": lambda: _made(_N + "activation.GLU", [(_t(4, 8), _t(4, 6))], 8, 5, 6),
    "DiffusionConv1d": lambda: _made(
        _N + "diffusion.DiffusionConv1d", [(_t(2, 8, 6),)], 8, 8, 3, 1, activation=nn.Mish()
    ),
    "LinearAttention": lambda: _made(_N + "diffusion.LinearAttention", [(_t(2, 8, 6),)], 8),
    "DiffusionUNet1d": lambda: held(
        _get(_N + "diffusion.DiffusionUNet1d")(6, 8, [1, 2]), lambda m, x, t: m(x, None, t), (_t(2, 8, 6), _i(9, 2))
    ),
    "apply_conditioning": lambda: _using(
        _N + "diffusion.apply_conditioning", lambda f, x, c: f(x, {0: c}, 2), (_t(2, 5, 6), _t(2, 4))
    ),
    "Conv2dSame": lambda: _made(_N + "dreamer.Conv2dSame", [(_t(1, 3, 7, 7),)], 3, 4, 3, 2),
    "DenseHead": lambda: held(
        _get(_N + "dreamer.DenseHead")(8, (), 1, 8, dist="twohot_symlog"),
        lambda m, x, y: m(x).log_prob(y),
        (_t(4, 8), _t(4, 1)),
    ),
    "PositionalEmbedding": lambda: _made(_N + "gtrxl.PositionalEmbedding", [(_u(6),)], 8),
    "GRUGatingUnit": lambda: _made(_N + "gtrxl.GRUGatingUnit", [(_t(4, 8), _t(4, 8))], 8),
    "GTrXL": lambda: held(_get(_N + "gtrxl.GTrXL")(6, 4, 8, 2, 2, 2, 3), lambda m, x: m(x)["logit"], (_t(5, 2, 6),)),
    "GumbelSoftmax": lambda: _made(_N + "gumbel_softmax.GumbelSoftmax", [(_u(4, 3),), (_u(5, 3),)]),
    "GumbelSoftmax hard": lambda: held(
        _get(_N + "gumbel_softmax.GumbelSoftmax")(), lambda m, x: m(x, hard=True), (_u(4, 3),)
    ),
    "BilinearGeneral": lambda: _made(_N + "merge.BilinearGeneral", [(_t(4, 5), _t(4, 6))], 5, 6, 3),
    "FiLM": lambda: _made(_N + "merge.FiLM", [(_t(4, 5), _t(4, 6))], 5, 6),
    "SumMerge": lambda: held(_get(_N + "merge.SumMerge")(), lambda m, *x: m(list(x)), (_t(4, 5), _t(4, 5))),
    "VectorMerge": lambda: held(
        _get(_N + "merge.VectorMerge")({"a": 5, "b": 6}, 8), lambda m, x, y: m({"a": x, "b": y}), (_t(4, 5), _t(4, 6))
    ),
    "VectorMerge pointwise": lambda: held(
        _get(_N + "merge.VectorMerge")({"a": 5, "b": 6}, 8, _get(_N + "merge.GatingType").POINTWISE),
        lambda m, x, y: m({"a": x, "b": y}),
        (_t(4, 5), _t(4, 6)),
    ),
    "ChannelShuffle": lambda: _made(_N + "nn_module.ChannelShuffle", [(_t(1, 8, 4, 4),)], 2),
    "one_hot": lambda: _using(_N + "nn_module.one_hot", lambda f, x: f(x, 5), (_i(5, 4),)),
    "binary_encode": lambda: _call(_N + "nn_module.binary_encode", (_i(7, 4), torch.tensor(8))),
    "NoiseLinearLayer": lambda: _made(_N + "nn_module.NoiseLinearLayer", [(_t(4, 8),)], 8, 5),
    "PopArt": lambda: held(_get(_N + "popart.PopArt")(8, 3), lambda m, x: m(x)["pred"], (_t(4, 8),)),
    "PopArt update": lambda: held(_get(_N + "popart.PopArt")(8, 4), lambda m, x: m.update_parameters(x), (_t(6, 4),)),
    "resnet18": lambda: (_get(_N + "resnet.resnet18")(), [(_t(1, 3, 64, 64),)]),
    "sequence_mask": lambda: _call(_N + "rnn.sequence_mask", (_i(5, 4),)),
    "LSTM": lambda: held(_get(_N + "rnn.LSTM")(6, 8, 2, "LN"), lambda m, x: m(x, None), (_t(5, 2, 6),)),
    "PytorchLSTM": lambda: held(_get(_N + "rnn.PytorchLSTM")(6, 8, 2), lambda m, x: m(x, None), (_t(5, 2, 6),)),
    "ScatterConnection": lambda: held(
        _get(_N + "scatter_connection.ScatterConnection")("add"),
        lambda m, x, y: m(x, (6, 6), y),
        (_t(2, 5, 3), _i(6, 2, 5, 2)),
    ),
    "SoftArgmax": lambda: _made(_N + "soft_argmax.SoftArgmax", [(_t(2, 1, 6, 6),)]),
    "Transformer": lambda: _made(_N + "transformer.Transformer", [(_t(2, 5, 6),)], 6, 4, 8, 8),
    "Transformer mask": lambda: _made(
        _N + "transformer.Transformer", [(_t(2, 5, 6), torch.ones(2, 5).bool())], 6, 4, 8, 8
    ),
    "LabelSmoothCELoss": lambda: _made(_T + "loss.cross_entropy_loss.LabelSmoothCELoss", [(_t(4, 5), _i(5, 4))], 0.1),
    "SoftFocalLoss": lambda: _made(_T + "loss.cross_entropy_loss.SoftFocalLoss", [(_t(4, 5), _i(5, 4))]),
    "MultiLogitsLoss": lambda: _made(
        _T + "loss.multi_logits_loss.MultiLogitsLoss", [(_t(4, 9), _i(9, 4))], "cross_entropy"
    ),
    "levenshtein_distance": lambda: _call(_T + "metric.levenshtein_distance", (_i(4, 5), _i(4, 6))),
    "hamming_distance": lambda: _call(_T + "metric.hamming_distance", (_i(2, 3, 5), _i(2, 3, 5))),
    "cov": lambda: _call(_T + "math_helper.cov", (_t(6, 3),), aweights=torch.ones(6)),
    "unsqueeze_repeat": lambda: _using(_T + "reshape_helper.unsqueeze_repeat", lambda f, x: f(x, 3), (_t(2, 3),)),
    "to_dtype": lambda: _using(_T + "data_helper.to_dtype", lambda f, x: f([x], torch.float64)[0], (_t(3),)),
    "to_item": lambda: _using(_T + "data_helper.to_item", lambda f, x: x + f({"a": x.sum()})["a"], (_t(3),)),
    "CategoricalPd": lambda: _using(
        _T + "distribution.CategoricalPd", lambda c, x, a: (c(x).neglogp(a), c(x).entropy()), (_t(4, 3), _i(3, 4))
    ),
    "DiscreteHead": lambda: held(_get(_H + "DiscreteHead")(8, 4), lambda m, x: m(x)["logit"], (_t(4, 8),)),
    "DistributionHead": lambda: held(_get(_H + "DistributionHead")(8, 4), lambda m, x: m(x)["logit"], (_t(4, 8),)),
    "RainbowHead": lambda: held(_get(_H + "RainbowHead")(8, 4), lambda m, x: m(x)["logit"], (_t(4, 8),)),
    "QuantileHead": lambda: held(_get(_H + "QuantileHead")(8, 4), lambda m, x: m(x)["logit"], (_t(4, 8),)),
    "FQFHead": lambda: held(_get(_H + "FQFHead")(8, 4), lambda m, x: m(x)["logit"], (_t(4, 8),)),
    "DuelingHead": lambda: held(_get(_H + "DuelingHead")(8, 4), lambda m, x: m(x)["logit"], (_t(4, 8),)),
    "StochasticDuelingHead": lambda: held(
        _get(_H + "StochasticDuelingHead")(8, 4),
        lambda m, *x: m(*x)["q_value"],
        (_t(4, 8), _t(4, 4), _t(4, 4), _u(4, 4)),
    ),
    "ReparameterizationHead": lambda: held(
        _get(_H + "ReparameterizationHead")(8, 4, sigma_type="conditioned"), lambda m, x: m(x)["mu"], (_t(4, 8),)
    ),
    "FCEncoder": lambda: _made("ding.model.common.encoder.FCEncoder", [(_t(4, 8),)], 8, [16, 16]),
    "IMPALAConvEncoder": lambda: _made(
        "ding.model.common.encoder.IMPALAConvEncoder", [(_u(2, 3, 16, 16) * 255,)], (3, 16, 16), (4, 4), 8
    ),
}

_P = "ptls."
_PN = "ptls.nn."
_PL = "ptls.frames.coles.losses."
_PS = "ptls.frames.coles.sampling_strategies."


def _padded(module: Any, size: tuple[int, ...] = (3, 6, 8), **options: Any) -> Built:
    batch = _get("ptls.data_load.padded_batch.PaddedBatch")

    def use(x: torch.Tensor, lengths: torch.Tensor) -> Any:
        out = module(batch(x, lengths), **options)
        return getattr(out, "payload", out)

    return use, [(_t(*size), torch.tensor([6, 3, 5]))]


def _seq(path: str, *given: Any, **options: Any) -> Callable[[], Built]:
    return lambda: _padded(_get(_PN + path)(*given, **options))


def _selected(loss: str, selector: str, *given: Any) -> Callable[[], Built]:
    return lambda: (
        _get(_PL + loss)(*given, _get(_PS + selector)()),
        [(_t(8, 6), torch.arange(8) // 2)],
    )


def _transactions(**options: Any) -> Built:
    encoder = _get(_PN + "trx_encoder.trx_encoder.TrxEncoder")(
        embeddings={"mcc": {"in": 10, "out": 4}}, numeric_values={"amount": "log"}, **options
    )
    batch = _get("ptls.data_load.padded_batch.PaddedBatch")

    def use(mcc: torch.Tensor, amount: torch.Tensor, lengths: torch.Tensor) -> Any:
        return encoder(batch({"mcc": mcc, "amount": amount}, lengths)).payload

    return use, [(_i(12, 3, 6), _t(3, 6), torch.tensor([6, 3, 5]))]


_EMB = (_t(8, 6), torch.arange(8) // 2)

_PTLS: dict[str, Callable[[], Built]] = {
    "cross_entropy": lambda: _call(_P + "loss.cross_entropy", (_t(4, 3), _u(4, 3))),
    "kl": lambda: _call(_P + "loss.kl", (_t(4, 3), _u(4, 3))),
    "mape_metric": lambda: _call(_P + "loss.mape_metric", (_t(4, 1), _u(4, 1))),
    "r_squared": lambda: _call(_P + "loss.r_squared", (_t(4, 1), _u(4, 1))),
    "PairwiseMarginRankingLoss": lambda: _made(_P + "loss.PairwiseMarginRankingLoss", [(_t(6), _i(2, 6))]),
    "BCELoss": lambda: _made(_P + "loss.BCELoss", [(_u(4), _i(2, 4))]),
    "ZILNLoss": lambda: _made(_P + "loss.ZILNLoss", [(_t(4, 3), _u(4))]),
    "ZILNLoss seq": lambda: _made(_P + "loss.ZILNLoss", [(_t(4, 3), _i(2, 4).float() * 3)]),
    "CatLayer": lambda: held(
        _get(_P + "custom_layers.CatLayer")(nn.Linear(4, 2), nn.Linear(3, 2)), lambda m, *x: m(x), (_t(2, 4), _t(2, 3))
    ),
    "StatPooling": lambda: _padded(_get(_P + "custom_layers.StatPooling")()),
    "GEGLU": lambda: _made(_P + "custom_layers.GEGLU", [(_t(3, 8),)]),
    "Head": lambda: _made(
        _PN + "head.Head", [(_t(4, 8),)], 8, True, True, [8], [0.1], objective="classification", num_classes=3
    ),
    "Head softplus": lambda: _made(_PN + "head.Head", [(_t(4, 8),)], 8, objective="softplus"),
    "L2NormEncoder": lambda: _made(_PN + "normalization.L2NormEncoder", [(_t(4, 8),)]),
    "BinarizationLayer": lambda: _made(_PN + "binarization.BinarizationLayer", [(_t(4, 8),)], 8, 5),
    "LastStepEncoder": _seq("seq_step.LastStepEncoder"),
    "FirstStepEncoder": _seq("seq_step.FirstStepEncoder"),
    "LastMaxAvgEncoder": _seq("seq_step.LastMaxAvgEncoder"),
    "RnnEncoder gru": _seq("seq_encoder.rnn_encoder.RnnEncoder", 8, 8),
    "RnnEncoder lstm": _seq("seq_encoder.rnn_encoder.RnnEncoder", 8, 8, "lstm", is_reduce_sequence=True),
    "TransformerEncoder": _seq("seq_encoder.transformer_encoder.TransformerEncoder", 8, n_heads=2, n_layers=1),
    "TransformerEncoder reduce": _seq(
        "seq_encoder.transformer_encoder.TransformerEncoder", 8, n_heads=2, n_layers=1, is_reduce_sequence=True
    ),
    "Encoder": _seq("seq_encoder.custom_encoder.Encoder", 8, 16, 1, 2),
    "GptEncoder": _seq("seq_encoder.gpt_encoder.GptEncoder", 8, 1, 2, 16),
    "LongformerEncoder": _seq("seq_encoder.longformer_encoder.LongformerEncoder", 8),
    "MeanStepEncoder": _seq("seq_encoder.utils.MeanStepEncoder"),
    "ConcatLenEncoder": _seq("seq_encoder.utils.ConcatLenEncoder"),
    "RBatchNorm": _seq("trx_encoder.batch_norm.RBatchNorm", 8),
    "RBatchNormWithLens": _seq("trx_encoder.batch_norm.RBatchNormWithLens", 8),
    "NoisyEmbedding": lambda: _made(
        _PN + "trx_encoder.noisy_embedding.NoisyEmbedding",
        [(_i(9, 3, 4),)],
        9,
        8,
        noise_scale=0.1,
        spatial_dropout=True,
    ),
    "PoissonScaler": lambda: _made(_PN + "trx_encoder.scalers.PoissonScaler", [(_u(3, 4),)]),
    "Periodic": lambda: _made(_PN + "trx_encoder.scalers.Periodic", [(_u(3, 4),)]),
    "PLE": lambda: _made(_PN + "trx_encoder.scalers.PLE", [(_t(3, 4),)]),
    "YearScaler": lambda: _made(_PN + "trx_encoder.scalers.YearScaler", [(_t(3, 4),)]),
    "TrxEncoder": lambda: _transactions(),
    "TrxEncoder noise": lambda: _transactions(embeddings_noise=0.1, emb_dropout=0.1, use_batch_norm=False),
    "BarlowTwinsLoss": lambda: _made(_PL + "BarlowTwinsLoss", [_EMB], 0.1),
    "CentroidLoss": lambda: _made(_PL + "CentroidLoss", [_EMB], 4),
    "CentroidSoftmaxLoss": lambda: _made(_PL + "CentroidSoftmaxLoss", [_EMB], 4),
    "CentroidSoftmaxMemoryLoss": lambda: _made(_PL + "CentroidSoftmaxMemoryLoss", [_EMB], 4, 6),
    "ContrastiveLoss": _selected("ContrastiveLoss", "HardNegativePairSelector", 0.5),
    "ContrastiveLoss all": _selected("ContrastiveLoss", "AllPositivePairSelector", 0.5),
    "MarginLoss": lambda: (_get(_PL + "MarginLoss")(_get(_PS + "HardNegativePairSelector")()), [_EMB]),
    "BinomialDevianceLoss": lambda: (
        _get(_PL + "BinomialDevianceLoss")(_get(_PS + "HardNegativePairSelector")()),
        [_EMB],
    ),
    "TripletLoss hard": _selected("TripletLoss", "HardTripletSelector", 0.5),
    "TripletLoss semi": _selected("TripletLoss", "SemiHardTripletSelector", 0.5),
    "TripletLoss random": _selected("TripletLoss", "RandomNegativeTripletSelector", 0.5),
    "TripletLoss all": _selected("TripletLoss", "AllTripletSelector", 0.5),
    "HistogramLoss": lambda: _made(_PL + "HistogramLoss", [_EMB]),
    "SoftmaxLoss": lambda: _made(_PL + "SoftmaxLoss", [_EMB]),
    "VicregLoss": lambda: _made(_PL + "VicregLoss", [_EMB], 1.0, 1.0, 0.1),
    "QuerySoftmaxLoss": lambda: _made(
        "ptls.frames.bert.losses.query_soft_max.QuerySoftmaxLoss", [(_t(4, 1, 8), _t(4, 1, 8), _t(4, 5, 8))]
    ),
}

_S = "s3prl.nn."
_LEN = torch.tensor([6, 4])
_FRAMES = (_t(2, 6, 8), _LEN)


_S3PRL: dict[str, Callable[[], Built]] = {
    "MeanPooling": lambda: _made(_S + "pooling.MeanPooling", [_FRAMES], 8),
    "TemporalStatisticsPooling": lambda: _made(_S + "pooling.TemporalStatisticsPooling", [_FRAMES], 8),
    "SelfAttentivePooling": lambda: _made(_S + "pooling.SelfAttentivePooling", [_FRAMES], 8),
    "AttentiveStatisticsPooling": lambda: _made(_S + "pooling.AttentiveStatisticsPooling", [_FRAMES], 8),
    "SpecAug": lambda: held(
        _get(_S + "specaug.SpecAug")(freq_mask_width_range=(0, 3), time_mask_width_range=(0, 2)),
        lambda m, x, n: m(x, n),
        (_t(2, 30, 8), torch.tensor([30, 30])),
    ),
    "MaskAlongAxis": lambda: held(
        _get(_S + "specaug.MaskAlongAxis")((0, 3)), lambda m, x, n: m(x, n), (_t(2, 12, 8), torch.tensor([12, 9]))
    ),
    "pit_loss": lambda: _call(_S + "pit.pit_loss", (_t(2, 6, 2), _i(2, 2, 6, 2).float(), _LEN)),
    "softmax": lambda: _made(_S + "speaker_loss.softmax", [(_t(4, 8), _i(5, 4))], 8, 5),
    "amsoftmax": lambda: _made(_S + "speaker_loss.amsoftmax", [(_t(4, 8), _i(5, 4))], 8, 5),
    "TDNN": lambda: _made(_S + "speaker_model.TDNN", [(_t(2, 12, 8),)], 8, 6, 3, 2),
    "XVectorBackbone": lambda: _made(_S + "speaker_model.XVectorBackbone", [(_t(2, 24, 8),)], 8, 16),
    "ECAPA_TDNN": lambda: _made(_S + "speaker_model.ECAPA_TDNN", [(_t(2, 24, 8),)], 8, 16, 16),
    "SpeakerEmbeddingExtractor": lambda: _made(
        _S + "speaker_model.SpeakerEmbeddingExtractor", [(_t(2, 24, 8), torch.tensor([24, 20]))], 8, 16
    ),
    "SuperbXvector": lambda: _made(
        _S + "speaker_model.SuperbXvector", [(_t(2, 24, 8), torch.tensor([24, 20]))], 8, 16, 8, 16
    ),
    "downsample": lambda: _using(_S + "rnn.downsample", lambda f, x, n: f(x, n, 2, "concat"), _FRAMES),
    "RNNLayer": lambda: _made(_S + "rnn.RNNLayer", [_FRAMES], 8, 8, "LSTM", sample_rate=2),
    "RNNEncoder": lambda: _made(_S + "rnn.RNNEncoder", [_FRAMES], 8, 4, hidden_size=[8], proj_size=8),
    "SuperbDiarizationModel": lambda: _made(_S + "rnn.SuperbDiarizationModel", [_FRAMES], 8, 4, 1, 8),
    "FrameLevelLinear": lambda: _made(_S + "linear.FrameLevelLinear", [_FRAMES], 8, 4, 8),
    "MeanPoolingLinear": lambda: _made(_S + "linear.MeanPoolingLinear", [_FRAMES], 8, 4, 8),
}

_GM = "gliner.modeling."
_SPANS = (_t(2, 5, 8), torch.stack([_i(3, 2, 10), _i(2, 2, 10) + 3], 2))


def _words(pooling: str) -> Callable[[], Built]:
    mask = torch.tensor([[0, 1, 1, 2, 3, 0], [0, 1, 2, 3, 3, 4]])
    return lambda: _using(
        _GM + "utils.extract_word_embeddings",
        lambda f, x, w, a, n: f(x, w, a, 2, 4, 8, n, pooling),
        (_t(2, 6, 8), mask, torch.ones(2, 6).long(), torch.tensor([[3], [4]])),
    )


_GLINER: dict[str, Callable[[], Built]] = {
    "LstmSeq2SeqEncoder": lambda: _made(
        _GM + "layers.LstmSeq2SeqEncoder",
        [(_t(2, 5, 8), torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]))],
        SimpleNamespace(hidden_size=8),
    ),
    "CrossFuser": lambda: _made(
        _GM + "layers.CrossFuser", [(_t(2, 5, 8), _t(2, 4, 8), torch.ones(2, 5), torch.ones(2, 4))], 8, 8, 2
    ),
    "LayersFuser": lambda: held(
        _get(_GM + "layers.LayersFuser")(2, 8), lambda m, *x: m(list(x)), (_t(2, 5, 8), _t(2, 5, 8), _t(2, 5, 8))
    ),
    "focal_loss_with_logits": lambda: _call(
        _GM + "loss_functions.focal_loss_with_logits", (_t(6, 3), _i(2, 6, 3).float()), reduction="sum"
    ),
    "focal_loss_with_logits mask": lambda: _call(
        _GM + "loss_functions.focal_loss_with_logits",
        (_t(6, 3), _i(2, 6, 3).float()),
        reduction="mean",
        label_smoothing=0.1,
        prob_margin=0.1,
    ),
    "cross_entropy_loss": lambda: _call(_GM + "loss_functions.cross_entropy_loss", (_t(6, 3), _i(3, 6))),
    "span_dice_loss": lambda: _call(_GM + "loss_functions.span_dice_loss", (_t(6, 3), _i(2, 6, 3).float())),
    "Scorer": lambda: _made(_GM + "scorers.Scorer", [(_t(2, 5, 8), _t(2, 3, 8))], 8),
    "SpanQuery": lambda: _made(_GM + "span_rep.SpanQuery", [(_t(2, 5, 8),)], 8, 3),
    "SpanMLP": lambda: _made(_GM + "span_rep.SpanMLP", [(_t(2, 5, 8),)], 8, 3),
    "SpanCAT": lambda: _made(_GM + "span_rep.SpanCAT", [(_t(2, 5, 8),)], 8, 3),
    "ConvShare": lambda: _made(_GM + "span_rep.ConvShare", [(_t(2, 5, 8),)], 8, 3),
    "SpanMarker": lambda: _made(_GM + "span_rep.SpanMarker", [_SPANS], 8, 2),
    "SpanMarkerV0": lambda: _made(_GM + "span_rep.SpanMarkerV0", [_SPANS], 8, 2),
    "SpanMarkerV1": lambda: _made(_GM + "span_rep.SpanMarkerV1", [_SPANS], 8, 2),
    "TokenMarker": lambda: _made(_GM + "span_rep.TokenMarker", [_SPANS], 8),
    "extract_elements": lambda: _call(_GM + "span_rep.extract_elements", (_t(2, 5, 8), _i(5, 2, 4))),
    "words first": _words("first"),
    "words last": _words("last"),
    "words mean": _words("mean"),
    "words max": _words("max"),
    "extract_prompt_features": lambda: _using(
        _GM + "utils.extract_prompt_features",
        lambda f, x, i, a: f(3, x, i, a, 2, 8),
        (_t(2, 6, 8), torch.tensor([[3, 1, 3, 1, 0, 0], [3, 1, 2, 1, 0, 0]]), torch.ones(2, 6).long()),
    ),
    "build_entity_pairs": lambda: _call(_GM + "utils.build_entity_pairs", (_u(2, 4, 4), _t(2, 4, 8))),
    "build_all_entity_pairs": lambda: _call(
        _GM + "utils.build_all_entity_pairs", (_t(2, 4, 8), torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]]))
    ),
    "extract_spans_from_tokens": lambda: _call(_GM + "utils.extract_spans_from_tokens", (_t(2, 5, 3, 3),)),
}

_D = "dalle2_pytorch.dalle2_pytorch."


def _unet() -> Any:
    return _get(_D + "Unet")(8, image_embed_dim=8, cond_dim=8, dim_mults=(1, 2), attn_dim_head=4, attn_heads=2)


def _scheduled(method: str, *inputs: torch.Tensor) -> Callable[[], Built]:
    return lambda: (
        getattr(_get(_D + "NoiseScheduler")(beta_schedule="cosine", timesteps=10, loss_type="l2"), method),
        [inputs],
    )


_STEP = _i(9, 2)

_DALLE: dict[str, Callable[[], Built]] = {
    "LayerNorm": lambda: _made(_D + "LayerNorm", [(_t(2, 8),)], 8, stable=True),
    "ChanLayerNorm": lambda: _made(_D + "ChanLayerNorm", [(_t(2, 8, 4, 4),)], 8),
    "MLP": lambda: _made(_D + "MLP", [(_t(2, 8),)], 8, 4, norm=True),
    "RelPosBias": lambda: held(_get(_D + "RelPosBias")(2), lambda m, x: m(5, 5, device=x.device) + x, (_t(1),)),
    "Attention": lambda: _made(_D + "Attention", [(_t(2, 5, 8),)], 8, dim_head=4, heads=2, causal=True),
    "CausalTransformer": lambda: _made(_D + "CausalTransformer", [(_t(2, 5, 8),)], dim=8, depth=1, dim_head=4, heads=2),
    "DiffusionPriorNetwork": lambda: held(
        _get(_D + "DiffusionPriorNetwork")(8, depth=1, dim_head=4, heads=2),
        lambda m, x, y, t: m(x, t, text_embed=y),
        (_t(2, 8), _t(2, 8), _STEP),
    ),
    "CrossAttention": lambda: _made(_D + "CrossAttention", [(_t(2, 5, 8), _t(2, 4, 8))], 8, dim_head=4, heads=2),
    "LinearAttention": lambda: _made(_D + "LinearAttention", [(_t(2, 8, 4, 4),)], 8, 4, 2),
    "ResnetBlock": lambda: _made(_D + "ResnetBlock", [(_t(2, 8, 4, 4),)], 8, 8),
    "CrossEmbedLayer": lambda: _made(_D + "CrossEmbedLayer", [(_t(2, 3, 8, 8),)], 3, (3, 5), 8, 1),
    "Unet": lambda: held(_unet(), lambda m, x, t, e: m(x, t, image_embed=e), (_t(2, 3, 8, 8), _STEP.float(), _t(2, 8))),
    "LowresConditioner": lambda: held(
        _get(_D + "LowresConditioner")(use_blur=False, use_noise=True),
        lambda m, x: m(x, target_image_size=8, downsample_image_size=4)[0],
        (_u(2, 3, 8, 8),),
    ),
    "q_posterior": _scheduled("q_posterior", _t(2, 8), _t(2, 8), _STEP),
    "q_sample": _scheduled("q_sample", _t(2, 8), _STEP, _t(2, 8)),
    "predict_start_from_noise": _scheduled("predict_start_from_noise", _t(2, 8), _STEP, _t(2, 8)),
    "calculate_v": _scheduled("calculate_v", _t(2, 8), _STEP, _t(2, 8)),
    "resize_image_to": lambda: _using(_D + "resize_image_to", lambda f, x: f(x, 4, nearest=True), (_t(1, 3, 8, 8),)),
    "prob_mask_like": lambda: _using(_D + "prob_mask_like", lambda f, x: f(x.shape, 0.3, x.device), (_t(4),)),
    "discretized_gaussian_log_likelihood": lambda: _using(
        _D + "discretized_gaussian_log_likelihood",
        lambda f, x, m, s: f(x, means=m, log_scales=s),
        (_t(4), _t(4), _t(4)),
    ),
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("ding", _DING),
    **_named("ptls", _PTLS),
    **_named("s3prl", _S3PRL),
    **_named("gliner", _GLINER),
    **_named("dalle2_pytorch", _DALLE),
}

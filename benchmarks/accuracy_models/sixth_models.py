"""Models of packages that were chosen and run after the rounds on the fifth group, before anything was changed.

Of pomegranate, torchhd, fair-esm, FrEIA, pytorch-minimize, pycox, stable-baselines3, diffsptk, torch-rechub,
spikingjelly, ncps, xitorch and pytorch-tcn.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import models_by_name, random_inputs
from accuracy_models.stand_ins import without

_t, _u, _i = random_inputs(6)


def _get(path: str) -> Any:
    module, _, name = path.rpartition(".")
    if path.startswith("diffsptk"):
        without("torchaudio.functional", "torchaudio.transforms")
    return getattr(importlib.import_module(module), name)


_call, _made = models_by_name(_get)


def _method(path: str, method: str, inputs: list[Any], *given: Any, **options: Any) -> Built:
    """A method of an object."""
    made = _get(path)(*given, **options)
    return (lambda *x: getattr(made, method)(*x)), inputs


_P = "pomegranate.distributions."
_ROWS = [(_t(8, 2),), (_t(6, 2),)]
_POSITIVE = [(_u(8, 2) + 0.1,), (_u(6, 2) + 0.1,)]
_COUNTS = [(_i(3, 8, 2),), (_i(3, 6, 2),)]


def _normals(n: int) -> list[Any]:
    return [_get(f"{_P}Normal")([float(i), 1.0 - i], [1.0, 1.5], covariance_type="diag") for i in range(n)]


def _categoricals() -> list[Any]:
    return [_get(f"{_P}Categorical")([[0.2, 0.3, 0.5]]), _get(f"{_P}Categorical")([[0.6, 0.3, 0.1]])]


def _network() -> Any:
    made = _get("pomegranate.bayesian_network.BayesianNetwork")
    first = _get(f"{_P}Categorical")([[0.2, 0.3, 0.5]])
    second = _get(f"{_P}ConditionalCategorical")([[[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [0.1, 0.1, 0.8]]])
    return made([first, second], [(first, second)])


def _factors() -> Any:
    graph = _get("pomegranate.factor_graph.FactorGraph")()
    first, second = _categoricals()
    joint = _get(f"{_P}JointCategorical")(torch.full((3, 3), 1 / 9))
    for add, one in (
        (graph.add_factor, joint),
        (graph.add_marginal, first),
        (graph.add_marginal, second),
    ):
        add(one)
    graph.add_edge(first, joint)
    graph.add_edge(second, joint)
    return graph


_SEQUENCES = [(_t(3, 5, 2),), (_t(2, 6, 2),)]
_POMEGRANATE: dict[str, Callable[[], Built]] = {
    **{
        f"{name} log_probability": partial(
            lambda name, given, rows: _method(f"{_P}{name}", "log_probability", rows, *given), name, given, rows
        )
        for name, given, rows in (
            ("Exponential", ([0.4, 1.2],), _POSITIVE),
            ("Gamma", ([0.4, 1.2], [1.0, 2.0]), _POSITIVE),
            ("Poisson", ([0.4, 1.2],), _COUNTS),
            ("Bernoulli", ([0.4, 0.7],), [(_i(2, 8, 2),), (_i(2, 6, 2),)]),
            ("Uniform", ([0.0, 0.0], [2.0, 2.0]), _POSITIVE),
            ("LogNormal", ([0.1, 0.2], [[1.0, 0.1], [0.1, 1.0]]), _POSITIVE),
        )
    },
    "Normal summarize": lambda: _method(f"{_P}Normal", "summarize", _ROWS, [0.1, 0.2], [[1.0, 0.1], [0.1, 1.0]]),
    "Categorical fit": lambda: _method(f"{_P}Categorical", "fit", _COUNTS),
    "Gamma fit": lambda: _method(f"{_P}Gamma", "fit", _POSITIVE),
    "StudentT": lambda: _method(f"{_P}StudentT", "log_probability", _ROWS, 3, [0.1, 0.2], [1.0, 2.0]),
    "GeneralMixtureModel predict": lambda: _method(
        "pomegranate.gmm.GeneralMixtureModel", "predict", _ROWS, _normals(2)
    ),
    "GeneralMixtureModel fit": lambda: _method(
        "pomegranate.gmm.GeneralMixtureModel", "fit", _ROWS[:1], _normals(2), max_iter=3
    ),
    "KMeans": lambda: _method("pomegranate.kmeans.KMeans", "fit_predict", _ROWS, 2, max_iter=3),
    "DenseHMM": lambda: _method(
        "pomegranate.hmm.DenseHMM",
        "log_probability",
        _SEQUENCES,
        _normals(2),
        edges=[[0.8, 0.1], [0.2, 0.7]],
        starts=[0.5, 0.5],
        ends=[0.1, 0.1],
    ),
    "DenseHMM viterbi": lambda: _method(
        "pomegranate.hmm.DenseHMM",
        "viterbi",
        _SEQUENCES,
        _normals(2),
        edges=[[0.8, 0.1], [0.2, 0.7]],
        starts=[0.5, 0.5],
        ends=[0.1, 0.1],
    ),
    "BayesClassifier": lambda: _method(
        "pomegranate.bayes_classifier.BayesClassifier", "predict_proba", _ROWS, _normals(2)
    ),
    "BayesianNetwork": lambda: (_network().log_probability, _COUNTS),
    "FactorGraph": lambda: (_factors().log_probability, _COUNTS),
}


def _vectors(*shape: int) -> torch.Tensor:
    return (2.0 * _i(2, *shape) - 1.0).float()


_T = "torchhd."
_LABELLED = [(_t(8, 4), _i(3, 8)), (_t(6, 4), _i(3, 6))]


def _adapted(method: str) -> Built:
    """A step of a centroid or of another learner."""
    made = _get("torchhd.models.Centroid")(16, 3)
    if method != "normalize":
        return getattr(made, method), [(_vectors(1, 16), _i(3, 1)), (_vectors(4, 16), _i(3, 4))]

    def step(x: torch.Tensor) -> torch.Tensor:
        made.normalize()
        result: torch.Tensor = made(x)
        return result

    return step, [(_vectors(4, 16),)]


_TORCHHD: dict[str, Callable[[], Built]] = {
    "cleanup": lambda: _call(f"{_T}cleanup", (_vectors(16), _vectors(5, 16)), threshold=-1.0),
    "resonator": lambda: _call(f"{_T}resonator", (_vectors(16), _vectors(3, 16), _vectors(3, 5, 16))),
    "ngrams": lambda: _call(f"{_T}ngrams", (_vectors(5, 16),), (_vectors(6, 16),)),
    "graph": lambda: _call(f"{_T}graph", (_vectors(2, 5, 16),), (_vectors(2, 6, 16),)),
    "ridge_regression": lambda: _call(f"{_T}functional.ridge_regression", (_t(8, 4), _t(8, 2))),
    "multirandsel": lambda: _call(f"{_T}multirandsel", (_vectors(4, 16),)),
    "value_to_index": lambda: _call(f"{_T}value_to_index", (_u(6), 0.0, 1.0, 10)),
    "SparseDistributed read": lambda: _method(
        f"{_T}memory.SparseDistributed", "read", [(_vectors(3, 16),), (_vectors(4, 16),)], 50, 16, 8, p=0.1
    ),
    "SparseDistributed write": lambda: _method(
        f"{_T}memory.SparseDistributed", "write", [(_vectors(1, 16), _vectors(1, 8))], 50, 16, 8, p=0.1, kappa=3
    ),
    "hopfield": lambda: _call(f"{_T}memory.hopfield", (_vectors(3, 16), _vectors(5, 16)), kappa=2),
    "add": partial(_adapted, "add"),
    "add_adapt": partial(_adapted, "add_adapt"),
    "add_online": partial(_adapted, "add_online"),
    "normalize": partial(_adapted, "normalize"),
    "Sinusoid": lambda: _made(f"{_T}embeddings.Sinusoid", [(_t(3, 4),), (_t(5, 4),)], 4, 16),
}


def _tokens(alphabet: Any, *shape: int) -> torch.Tensor:
    made = _i(20, *shape) + 4
    made[..., 0] = alphabet.cls_idx
    made[..., -1] = alphabet.padding_idx
    return made


def _esm(kind: str) -> Built:
    alphabet = _get("esm.data.Alphabet").from_architecture("msa_transformer" if kind == "msa" else "ESM-1b")
    tokens = [(_tokens(alphabet, 2, *n), [1], True) for n in (((3, 8), (3, 9)) if kind == "msa" else ((8,), (9,)))]
    if kind == "esm2":
        return _get("esm.model.esm2.ESM2")(2, 16, 4, alphabet), [(*t, True) for t in tokens]
    made = _get("esm.model.msa_transformer.MSATransformer" if kind == "msa" else "esm.model.esm1.ProteinBertModel")
    parser = argparse.ArgumentParser()
    made.add_args(parser)
    small = ["--num_layers", "2", "--embed_dim", "16", "--ffn_embed_dim", "32", "--attention_heads", "4"]
    options, _ = parser.parse_known_args(small)
    options.arch = "msa_transformer" if kind == "msa" else "roberta_large"
    options.layers, options.max_positions, options.token_dropout = 2, 64, True
    options.max_tokens = 64
    return made(options, alphabet), tokens


_ESM: dict[str, Callable[[], Built]] = {
    "ESM2": partial(_esm, "esm2"),
    "ESM-1b": partial(_esm, "esm1"),
    "MSATransformer": partial(_esm, "msa"),
    "SinusoidalPositionalEmbedding": lambda: _made(
        "esm.modules.SinusoidalPositionalEmbedding", [(_i(20, 2, 8),), (_i(20, 2, 9),)], 16, 1
    ),
}

_F = "FrEIA.modules."


def _net(given: int, wanted: int) -> nn.Module:
    return nn.Sequential(nn.Linear(given, 8), nn.ReLU(), nn.Linear(8, wanted))


def _flow(name: str, shape: Sequence[int], *inputs: Any, **options: Any) -> Built:
    made = _get(f"{_F}{name}")([tuple(shape)], **options)
    return made, [([x],) for x in inputs]


_FREIA: dict[str, Callable[[], Built]] = {
    "AllInOneBlock": lambda: _flow(
        "AllInOneBlock", [6], _t(4, 6), _t(5, 6), subnet_constructor=_net, learned_householder_permutation=2
    ),
    **{
        name: partial(lambda name: _flow(name, [6], _t(4, 6), _t(5, 6), subnet_constructor=_net), name)
        for name in ("GLOWCouplingBlock", "GINCouplingBlock", "RNVPCouplingBlock", "NICECouplingBlock")
    },
    "ActNorm": lambda: _flow("ActNorm", [6], _t(4, 6), _t(5, 6)),
    "IResNetLayer": lambda: _flow("IResNetLayer", [6], _t(4, 6), internal_size=8, jacobian_iterations=3),
    "lipschitz_correction": lambda: (
        _get(f"{_F}IResNetLayer")([(6,)], internal_size=8, n_internal_layers=1).lipschitz_correction,
        [()],
    ),
    "OrthogonalTransform": lambda: _flow("OrthogonalTransform", [6], _t(4, 6), _t(5, 6), correction_interval=2),
    "HouseholderPerm": lambda: _flow("HouseholderPerm", [6], _t(4, 6), n_reflections=2),
    "HaarDownsampling": lambda: _flow("HaarDownsampling", [3, 8, 8], _t(2, 3, 8, 8), _t(3, 3, 8, 8)),
    "IRevNetDownsampling": lambda: _flow("IRevNetDownsampling", [3, 8, 8], _t(2, 3, 8, 8), _t(3, 3, 8, 8)),
    "InvAutoFC": lambda: _flow("InvAutoFC", [6], _t(4, 6), _t(5, 6)),
    "InvAutoActTwoSided": lambda: _flow("InvAutoActTwoSided", [6], _t(4, 6), _t(5, 6)),
    "Split": lambda: _flow("Split", [6], _t(4, 6), section_sizes=[2, 4]),
}


def _rosen(x: torch.Tensor) -> torch.Tensor:
    return (100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def _minimum(method: str, **options: Any) -> Built:
    minimize = _get("torchmin.minimize")

    def step(x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = minimize(_rosen, x, method, max_iter=3, options=options).x
        return result

    return step, [(_u(3),), (_u(4),)]


def _spd(n: int) -> torch.Tensor:
    made = _t(n, n)
    return made @ made.T + n * torch.eye(n)


def _lsmr(a: torch.Tensor, b: torch.Tensor) -> Any:
    return _get("torchmin.lstsq.lsmr.lsmr")(a, b, maxiter=3)


_L = "torchmin.lstsq."
_TORCHMIN: dict[str, Callable[[], Built]] = {
    **{
        name: partial(_minimum, name)
        for name in ("bfgs", "l-bfgs", "cg", "newton-cg", "newton-exact", "trust-ncg", "trust-exact")
    },
    "least_squares": lambda: (
        lambda x: _get("torchmin.least_squares")(lambda y: y**2 - 1, x, max_nfev=3, tr_solver="exact").x,
        [(_u(3),)],
    ),
    "cgls": lambda: _call(f"{_L}cg.cgls", (_t(6, 3), _t(6)), max_iter=12),
    "lsmr": lambda: (_lsmr, [(_t(6, 3), _t(6))]),
    "gershgorin_bounds": lambda: _call("torchmin.trustregion.exact.gershgorin_bounds", (_spd(4),)),
    "in_bounds": lambda: _call(f"{_L}common.in_bounds", (_u(4), torch.zeros(4), torch.ones(4))),
    "active_constraints": lambda: _call(f"{_L}common.find_active_constraints", (_u(4), torch.zeros(4), torch.ones(4))),
    "strictly_feasible": lambda: _call(
        f"{_L}common.make_strictly_feasible", (_u(4), torch.zeros(4), torch.ones(4)), rstep=0
    ),
    "quadratic_1d": lambda: _call(f"{_L}common.minimize_quadratic_1d", (_u(1)[0], _u(1)[0], -1.0, 1.0)),
}

_C = "pycox.models.loss."
_SURVIVAL = [(_t(8, 5), _i(5, 8), _i(2, 8).float()), (_t(6, 5), _i(5, 6), _i(2, 6).float())]
_RANKED = [(*given, _u(len(given[0]), len(given[0]))) for given in _SURVIVAL]
_PYCOX: dict[str, Callable[[], Built]] = {
    **{
        name: partial(lambda name: _call(f"{_C}{name}", *_SURVIVAL), name)
        for name in ("nll_logistic_hazard", "nll_pmf", "nll_mtlr", "bce_surv_loss")
    },
    "DeepHitSingleLoss": lambda: _made(f"{_C}DeepHitSingleLoss", _RANKED, 0.2, 0.1),
    "DeepHitLoss": lambda: _made(f"{_C}DeepHitLoss", [(_t(8, 2, 5), _i(5, 8), _i(3, 8), _u(8, 8))], 0.2, 0.1),
    "NLLPCHazardLoss": lambda: _made(f"{_C}NLLPCHazardLoss", [(*given, _u(len(given[0]))) for given in _SURVIVAL]),
    "CoxPHLoss": lambda: _made(f"{_C}CoxPHLoss", [(_t(8, 1), _u(8), _i(2, 8)), (_t(6, 1), _u(6), _i(2, 6))]),
    "cox_cc_loss": lambda: _call(f"{_C}cox_cc_loss", (_t(8, 1), [_t(8, 1), _t(8, 1)]), shrink=0.1),
    "make_subgrid": lambda: _call("pycox.models.utils.make_subgrid", (torch.arange(5.0), 3)),
}

_S = "stable_baselines3.common.distributions."


def _policy(name: str, *given: int, **options: Any) -> Built:
    """An action with its log-probability."""
    made = _get(f"{_S}{name}")(*given, **options)
    if name.startswith("State"):
        net, deviation = made.proba_distribution_net(8, log_std_init=-1.0)

        def explore(x: torch.Tensor) -> Any:
            made.sample_weights(deviation, batch_size=len(x))
            return made.log_prob_from_params(net(x), deviation, x)

        return explore, [(_t(4, 8),), (_t(5, 8),)]
    if "Gaussian" in name:
        net, deviation = made.proba_distribution_net(8)
        return (lambda x: made.log_prob_from_params(net(x), deviation)), [(_t(4, 8),), (_t(5, 8),)]
    net = made.proba_distribution_net(8)
    return (lambda x: made.log_prob_from_params(net(x))), [(_t(4, 8),), (_t(5, 8),)]


def _actor(continuous: bool) -> Built:
    spaces = importlib.import_module("gymnasium.spaces")
    seen = spaces.Box(-1.0, 1.0, (6,))
    done = spaces.Box(-1.0, 1.0, (2,)) if continuous else spaces.Discrete(3)
    made = _get("stable_baselines3.common.policies.ActorCriticPolicy")(seen, done, lambda _: 1e-3)
    return made, [(_t(4, 6),), (_t(5, 6),)]


_BASELINES: dict[str, Callable[[], Built]] = {
    "ActorCriticPolicy discrete": partial(_actor, False),
    "ActorCriticPolicy": partial(_actor, True),
    "DiagGaussian": partial(_policy, "DiagGaussianDistribution", 2),
    "SquashedDiagGaussian": partial(_policy, "SquashedDiagGaussianDistribution", 2),
    "Categorical": partial(_policy, "CategoricalDistribution", 3),
    "StateDependentNoise": partial(_policy, "StateDependentNoiseDistribution", 2, squash_output=True, use_expln=True),
    "polyak_update": lambda: _call(
        "stable_baselines3.common.utils.polyak_update", ([_t(3), _t(2)], [_t(3), _t(2)], 0.1)
    ),
}

_D = "diffsptk.functional."
_WAVES = [(_t(2, 400),), (_t(2, 480),)]
_SPECTRA = [(_u(2, 17) + 0.1,), (_u(3, 17) + 0.1,)]
_DIFFSPTK: dict[str, Callable[[], Built]] = {
    "lpc": lambda: _call(f"{_D}lpc", (_t(2, 40),), (_t(3, 48),), lpc_order=4),
    "lpccheck": lambda: _call(f"{_D}lpccheck", (_t(2, 5),), (_t(3, 5),), warn_type="ignore"),
    "lpccheck warn": lambda: _call(f"{_D}lpccheck", (_t(2, 5) * 3,)),
    "lspcheck": lambda: _call(f"{_D}lspcheck", (_u(2, 5),), (_u(3, 5),), rate=0.1),
    "mlsacheck": lambda: _call(f"{_D}mlsacheck", (_t(2, 5) * 4,), (_t(3, 5) * 4,), alpha=0.1),
    "mlsacheck slow": lambda: _call(f"{_D}mlsacheck", (_t(2, 5) * 4,), fast=False, warn_type="ignore", mod_type="clip"),
    "magic_intpl": lambda: _call(f"{_D}magic_intpl", (_i(3, 2, 8, 1).float(),), (_i(3, 2, 9, 1).float(),)),
    "root_pol": lambda: _call(f"{_D}root_pol", (_t(2, 4),), (_t(3, 4),)),
    "pol_root": lambda: _call(f"{_D}pol_root", (_t(2, 4),), (_t(3, 4),)),
    "dtw": lambda: _call(f"{_D}dtw", (_t(2, 6, 3), _t(2, 5, 3)), (_t(2, 5, 3), _t(2, 6, 3)), return_indices=True),
    "f0eval": lambda: _call(f"{_D}f0eval", (_u(2, 8) * 100, _u(2, 8) * 100), (_u(2, 9) * 100, _u(2, 9) * 100)),
    "excite": lambda: _call(f"{_D}excite", (_i(2, 2, 6).float() * 40,), (_i(2, 2, 7).float() * 40,), frame_period=8),
    "histogram": lambda: _call(f"{_D}histogram", (_u(2, 20),), (_u(2, 24),), norm=True),
    "mcep": lambda: _call(f"{_D}mcep", *_SPECTRA, cep_order=4, alpha=0.1, n_iter=2),
    "fbank": lambda: _call(f"{_D}fbank", *_SPECTRA, n_channel=6, sample_rate=8000),
    "mfcc": lambda: _call(f"{_D}mfcc", *_SPECTRA, mfcc_order=4, n_channel=8, sample_rate=8000),
    "medfilt": lambda: _call(f"{_D}medfilt", (_t(2, 12),), (_t(2, 14),), filter_length=3, magic_number=0.0),
    "quantize": lambda: _call(f"{_D}quantize", *_WAVES),
    "snr": lambda: _call(f"{_D}snr", (_t(2, 400), _t(2, 400)), frame_length=100, full=True),
    "zcross": lambda: _call(f"{_D}zcross", *_WAVES, frame_length=40),
    "yingram": lambda: _call(f"{_D}yingram", (_t(2, 400),), sample_rate=8000, lag_max=100),
    "griffin": lambda: _call(
        f"{_D}griffin", (_u(2, 10, 17) + 0.1,), frame_length=32, frame_period=8, fft_length=32, n_iter=3
    ),
    "rlevdur": lambda: _call(f"{_D}rlevdur", (_u(2, 5) * 0.1,), (_u(3, 5) * 0.1,)),
    "lsp2sp": lambda: _call(f"{_D}lsp2sp", (_u(2, 5).cumsum(-1) * 0.5,), fft_length=32),
    "mgc2sp": lambda: _call(f"{_D}mgc2sp", (_t(2, 5) * 0.1,), fft_length=32, alpha=0.1, gamma=-0.5),
    "gmm": lambda: _made("diffsptk.GaussianMixtureModeling", [(_t(20, 3),)], 2, 2, n_iter=3),
    "nmf": lambda: _made("diffsptk.NonnegativeMatrixFactorization", [(_u(12, 6) + 0.1,)], 12, 5, 2, n_iter=3),
    "ica": lambda: _made("diffsptk.IndependentComponentAnalysis", [(_t(20, 3),)], 2, 2, n_iter=3),
    "pca": lambda: _made("diffsptk.PrincipalComponentAnalysis", [(_t(20, 3),)], 2, 2),
}

_R = "torch_rechub."


def _features() -> tuple[Any, ...]:
    sparse, sequence = _get(f"{_R}basic.features.SparseFeature"), _get(f"{_R}basic.features.SequenceFeature")
    user = sparse("user", 9, 4)
    item = sparse("item", 9, 4, padding_idx=0)
    history = sequence("history", 9, 4, pooling="concat", shared_with="item", padding_idx=0)
    negative = sequence("negative", 9, 4, pooling="concat", shared_with="item", padding_idx=0)
    return user, item, history, negative


def _seen(n: int) -> tuple[dict[str, torch.Tensor]]:
    return (
        {
            "user": _i(9, n),
            "item": _i(8, n) + 1,
            "history": _i(9, n, 5),
            "negative": _i(9, n, 5),
        },
    )


def _ranking(name: str) -> Built:
    user, item, history, negative = _features()
    if name == "DIEN":
        made = _get(f"{_R}models.ranking.DIEN")([user], [history], [negative], [item], {"dims": [8]})
    elif name == "DIN":
        made = _get(f"{_R}models.ranking.DIN")([user], [history], [item], {"dims": [8]}, {"dims": [8]})
    else:
        made = _get(f"{_R}models.ranking.{name}")([user, item], [user, item], {"dims": [8]})
    return made, [_seen(4), _seen(5)]


_RECHUB: dict[str, Callable[[], Built]] = {
    **{name: partial(_ranking, name) for name in ("DIEN", "DIN", "DeepFM", "WideDeep")},
    "NCELoss": lambda: _made(f"{_R}basic.loss_func.NCELoss", [(_t(6, 9), _i(9, 6)), (_t(5, 9), _i(9, 5))]),
    "InBatchNCELoss": lambda: _made(
        f"{_R}basic.loss_func.InBatchNCELoss",
        [(_t(6, 4), _t(9, 4), torch.randperm(8, generator=torch.Generator().manual_seed(6))[:6] + 1)],
    ),
    "BPRLoss": lambda: _made(f"{_R}basic.loss_func.BPRLoss", [(_t(6), _t(6, 3)), (_t(5), _t(5, 3))]),
    "CapsuleNetwork": lambda: _made(
        f"{_R}basic.layers.CapsuleNetwork", [(_t(3, 5, 4), _i(2, 3, 5)), (_t(4, 5, 4), _i(2, 4, 5))], 4, 5
    ),
    "HSTUBlock": lambda: _made(
        f"{_R}basic.layers.HSTUBlock", [(_t(2, 6, 8), None, _i(90, 2, 6))], 8, 2, 1, 4, 4, max_seq_len=8
    ),
    "RQVAE": lambda: _made(
        f"{_R}models.generative.RQVAEModel",
        [(_t(12, 8),), (_t(10, 8),)],
        8,
        [4, 4],
        4,
        [6],
        sk_epsilons=[0.1, 0.1],
        sk_iters=3,
    ),
    "RQVAE kmeans": lambda: _made(
        f"{_R}models.generative.RQVAEModel",
        [(_t(12, 8),)],
        8,
        [4, 4],
        4,
        [6],
        kmeans_init=True,
        kmeans_iters=3,
        sk_epsilons=[0.0, 0.0],
    ),
}

_J = "spikingjelly.activation_based."
_SPIKES = [((_u(4, 2, 6) > 0.5).float(),), ((_u(4, 3, 6) > 0.5).float(),)]
_STEPS = [(_u(4, 2, 6),), (_u(4, 3, 6),)]
_SPIKING: dict[str, Callable[[], Built]] = {
    **{
        name: partial(lambda name: _made(f"{_J}neuron.{name}", _STEPS, step_mode="m"), name)
        for name in ("LIFNode", "ParametricLIFNode", "KLIFNode", "IzhikevichNode")
    },
    "SlidingPSN": lambda: _made(f"{_J}neuron.SlidingPSN", _STEPS, 2, step_mode="m"),
    "first_spike_index": lambda: _call(f"{_J}functional.first_spike_index", *_SPIKES),
    "redundant_one_hot": lambda: _call(f"{_J}functional.redundant_one_hot", (_i(3, 4), 3, 6)),
    "spike_similar_loss": lambda: _call(
        f"{_J}functional.spike_similar_loss", (_SPIKES[0][0].transpose(0, 1), _i(2, 2, 2).float())
    ),
    "LatencyEncoder": lambda: _made(f"{_J}encoding.LatencyEncoder", [(_u(2, 6),), (_u(3, 6),)], 5),
    "WeightedPhaseEncoder": lambda: _made(f"{_J}encoding.WeightedPhaseEncoder", [(_u(2, 6) * 0.9,)], 5),
    "PopSpikeEncoderRandom": lambda: _made(
        f"{_J}encoding.PopSpikeEncoderRandom", [(_t(3, 2),), (_t(4, 2),)], 2, 4, 3, (-1, 1), 0.5
    ),
    "SynapseFilter": lambda: _made(f"{_J}layer.SynapseFilter", _SPIKES, step_mode="m"),
    "Dropout": lambda: _made(f"{_J}layer.Dropout", _STEPS, 0.3, step_mode="m"),
    "Delay": lambda: _made(f"{_J}layer.Delay", _SPIKES, 2, step_mode="m"),
    "k_bit_quantize": lambda: _call(f"{_J}quantize.k_bit_quantize", (_u(6), 3)),
}

_NCPS: dict[str, Callable[[], Built]] = {
    "CfC": lambda: _made("ncps.torch.CfC", [(_t(2, 5, 4),), (_t(3, 6, 4),)], 4, 8, mixed_memory=True),
    "LTC": lambda: _made(
        "ncps.torch.LTC", [(_t(2, 5, 4),), (_t(3, 6, 4),)], 4, _get("ncps.wirings.AutoNCP")(8, 2), ode_unfolds=2
    ),
}


def _solved(method: str) -> Built:
    solve, operator = _get("xitorch.linalg.solve"), _get("xitorch.LinearOperator")

    def step(a: torch.Tensor, b: torch.Tensor) -> Any:
        return solve(operator.m(a, is_hermitian=True), b, method=method)

    return step, [(_spd(4), _t(4, 2)), (_spd(5), _t(5, 2))]


def _root(method: str) -> Built:
    find = _get("xitorch.optimize.rootfinder")
    return (lambda x: find(lambda y: torch.tanh(y) - 0.3, x, method=method, maxiter=4)), [(_u(3),), (_u(4),)]


def _initial_value(method: str) -> Built:
    solve = _get("xitorch.integrate.solve_ivp")
    return (lambda y: solve(lambda t, z: -z * t, torch.linspace(0, 1, 4), y, method=method)), [(_u(3),), (_u(4),)]


_XITORCH: dict[str, Callable[[], Built]] = {
    **{f"solve {name}": partial(_solved, name) for name in ("cg", "bicgstab", "gmres", "exactsolve")},
    **{f"rootfinder {name}": partial(_root, name) for name in ("broyden1", "linearmixing")},
    **{f"solve_ivp {name}": partial(_initial_value, name) for name in ("rk4", "rk45")},
    "symeig": lambda: (
        lambda a: _get("xitorch.linalg.symeig")(
            _get("xitorch.LinearOperator").m(a, is_hermitian=True), 2, method="davidson", max_niter=3
        ),
        [(_spd(6),)],
    ),
    "Interp1D": lambda: _made(
        "xitorch.interpolate.Interp1D", [(_u(5), _t(8)), (_u(6), _t(8))], torch.linspace(0, 1, 8), method="cspline"
    ),
    "Interp1D extrapolated": lambda: _made(
        "xitorch.interpolate.Interp1D",
        [(_u(5) * 2, _t(8))],
        torch.linspace(0, 1, 8),
        method="linear",
        extrap="periodic",
    ),
    "SQuad": lambda: (
        _get("xitorch.integrate.SQuad")(torch.linspace(0, 1, 9), method="simpson").integrate,
        [(_t(2, 9),), (_t(3, 9),)],
    ),
}

_TCN: dict[str, Callable[[], Built]] = {
    "TCN": lambda: _made("pytorch_tcn.TCN", [(_t(2, 4, 12),), (_t(3, 4, 14),)], 4, [8, 8]),
    "TCN inference": lambda: (
        partial(_get("pytorch_tcn.TCN")(4, [8, 8], causal=True).eval(), inference=True),
        [(_t(1, 4, 12),)],
    ),
}

_ALL = {
    "pomegranate": _POMEGRANATE,
    "torchhd": _TORCHHD,
    "esm": _ESM,
    "FrEIA": _FREIA,
    "torchmin": _TORCHMIN,
    "pycox": _PYCOX,
    "stable_baselines3": _BASELINES,
    "diffsptk": _DIFFSPTK,
    "torch_rechub": _RECHUB,
    "spikingjelly": _SPIKING,
    "ncps": _NCPS,
    "xitorch": _XITORCH,
    "pytorch_tcn": _TCN,
}
MODELS = {f"{package}/{name}": build for package, models in _ALL.items() for name, build in models.items()}

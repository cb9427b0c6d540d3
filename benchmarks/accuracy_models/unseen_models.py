"""Metrics, reinforcement learning, distributions, attacks, molecules and more, of packages first run after the work.

Of torcheval, pytorch-ignite, torchrl, pyro, botorch, captum, torchattacks, sentence-transformers, torch-struct, mace,
opacus and four models of single papers.
"""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import torch

_G = torch.Generator().manual_seed(1)


def _t(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=_G)


def _u(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=_G)


def _i(high: int, *shape: int) -> torch.Tensor:
    return torch.randint(0, high, shape, generator=_G)


def _get(path: str) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)


def _call(path: str, *inputs: Any, **options: Any) -> tuple[Any, list[Any]]:
    function = _get(path)
    return (partial(function, **options) if options else function), list(inputs)


def _made(path: str, options: dict[str, Any], *inputs: Any) -> tuple[Any, list[Any]]:
    return _get(path)(**options), list(inputs)


_SCORES, _LABELS = _u(12), _i(2, 12)
_BINARY = ((_SCORES, _LABELS), (_u(16), _i(2, 16)))
_MULTI = ((_t(12, 4).softmax(-1), _i(4, 12)), (_t(16, 4).softmax(-1), _i(4, 16)))
_MULTILABEL = ((_u(10, 3), _i(2, 10, 3)), (_u(14, 3), _i(2, 14, 3)))
_E = "torcheval.metrics.functional"
_TORCHEVAL: dict[str, Any] = {
    **{
        name: partial(_call, f"{_E}.{name}", *_BINARY)
        for name in (
            "binary_accuracy",
            "binary_auprc",
            "binary_auroc",
            "binary_binned_auprc",
            "binary_binned_auroc",
            "binary_binned_precision_recall_curve",
            "binary_confusion_matrix",
            "binary_f1_score",
            "binary_precision",
            "binary_precision_recall_curve",
            "binary_recall",
        )
    },
    "binary_normalized_entropy": partial(_call, f"{_E}.binary_normalized_entropy", (_SCORES, _LABELS.float())),
    "binary_recall_at_fixed_precision": partial(
        _call, f"{_E}.binary_recall_at_fixed_precision", (_SCORES, _LABELS), min_precision=0.5
    ),
    **{
        name: partial(_call, f"{_E}.{name}", *_MULTI, num_classes=4)
        for name in (
            "multiclass_accuracy",
            "multiclass_auprc",
            "multiclass_auroc",
            "multiclass_binned_auprc",
            "multiclass_confusion_matrix",
            "multiclass_f1_score",
            "multiclass_precision_recall_curve",
        )
    },
    "multiclass_recall macro": partial(_call, f"{_E}.multiclass_recall", *_MULTI, num_classes=4, average="macro"),
    "multiclass_precision macro": partial(_call, f"{_E}.multiclass_precision", *_MULTI, num_classes=4, average="macro"),
    **{
        name: partial(_call, f"{_E}.{name}", *_MULTILABEL)
        for name in ("multilabel_accuracy", "multilabel_auprc", "multilabel_precision_recall_curve")
    },
    "topk_multilabel_accuracy": partial(_call, f"{_E}.topk_multilabel_accuracy", *_MULTILABEL, k=2),
    "auc": partial(_call, f"{_E}.auc", (_u(10), _u(10)), reorder=True),
    "mean": partial(_call, f"{_E}.mean", (_u(10), _u(10))),
    "click_through_rate": partial(_call, f"{_E}.click_through_rate", (_i(2, 10), _u(10))),
    "frequency_at_k": partial(_call, f"{_E}.frequency_at_k", (_u(10), 0.5)),
    "hit_rate": partial(_call, f"{_E}.hit_rate", (_u(10, 4), _i(4, 10)), k=2),
    "num_collisions": partial(_call, f"{_E}.num_collisions", (_i(5, 10),)),
    "reciprocal_rank": partial(_call, f"{_E}.reciprocal_rank", (_u(10, 4), _i(4, 10)), k=2),
    "retrieval_precision": partial(_call, f"{_E}.retrieval_precision", *_BINARY, k=3),
    "weighted_calibration": partial(_call, f"{_E}.weighted_calibration", (_SCORES, _LABELS.float())),
    "mean_squared_error": partial(_call, f"{_E}.mean_squared_error", (_t(8, 2), _t(8, 2)), (_t(9), _t(9))),
    "r2_score": partial(_call, f"{_E}.r2_score", (_t(8, 2), _t(8, 2)), (_t(9), _t(9))),
    "peak_signal_noise_ratio": partial(_call, f"{_E}.peak_signal_noise_ratio", (_u(2, 3, 8, 8), _u(2, 3, 8, 8))),
    "perplexity": partial(_call, f"{_E}.perplexity", (_t(2, 5, 6), _i(6, 2, 5)), ignore_index=0),
}


def _ignite(name: str, *batches: Any, **options: Any) -> tuple[Any, list[Any]]:
    metric = _get(f"ignite.metrics.{name}")(**options)

    def step(prediction: torch.Tensor, target: torch.Tensor) -> Any:
        metric.reset()
        metric.update((prediction, target))
        return metric.compute()

    return step, list(batches)


_REGRESSION = ((_t(8), _t(8)), (_t(10), _t(10)))
_IGNITE: dict[str, Any] = {
    "Accuracy": partial(_ignite, "Accuracy", *_MULTI),
    "Precision": partial(_ignite, "Precision", *_MULTI, average=True),
    "Recall": partial(_ignite, "Recall", *_MULTI),
    "ConfusionMatrix": partial(_ignite, "ConfusionMatrix", *_MULTI, num_classes=4),
    "TopK": partial(_ignite, "TopKCategoricalAccuracy", *_MULTI, k=2),
    "MeanAbsoluteError": partial(_ignite, "MeanAbsoluteError", *_REGRESSION),
    "RootMeanSquaredError": partial(_ignite, "RootMeanSquaredError", *_REGRESSION),
    "MeanPairwiseDistance": partial(_ignite, "MeanPairwiseDistance", (_t(8, 3), _t(8, 3))),
    "PSNR": partial(_ignite, "PSNR", (_u(2, 3, 8, 8), _u(2, 3, 8, 8)), data_range=1.0),
    "SSIM": partial(_ignite, "SSIM", (_u(2, 3, 16, 16), _u(2, 3, 16, 16)), data_range=1.0),
    "KLDivergence": partial(_ignite, "KLDivergence", (_t(8, 3), _t(8, 3))),
    "MutualInformation": partial(_ignite, "MutualInformation", (_t(8, 3), _i(3, 8))),
    "HSIC": partial(_ignite, "HSIC", (_t(8, 3), _t(8, 3))),
    "MaximumMeanDiscrepancy": partial(_ignite, "MaximumMeanDiscrepancy", (_t(8, 3), _t(8, 3))),
    "MultiLabelConfusionMatrix": partial(
        _ignite, "MultiLabelConfusionMatrix", (_i(2, 8, 3), _i(2, 8, 3)), num_classes=3
    ),
}

_V = "torchrl.objectives.value.functional"
_NEXT = tuple(_t(2, 6, 1) for _ in range(3))
_DONE = _i(5, 2, 6, 1) == 0


def _values(name: str, *more: float) -> tuple[Any, list[Any]]:
    value, following, reward = _NEXT
    return _get(f"{_V}.{name}"), [(0.99, *more, value, following, reward, _DONE)]


def _returns(name: str, *more: float) -> tuple[Any, list[Any]]:
    _, following, reward = _NEXT
    return _get(f"{_V}.{name}"), [(0.99, *more, following, reward, _DONE)]


def _distribution(name: str, *args: Any, **options: Any) -> tuple[Any, list[Any]]:
    kind = _get(f"torchrl.modules.{name}")

    def sample(*parameters: torch.Tensor) -> Any:
        made = kind(*parameters, **options)
        x = made.sample()
        return x, made.log_prob(x)

    return sample, [args]


def _loss(name: str) -> tuple[Any, list[Any]]:
    nn, tensordict = importlib.import_module("tensordict.nn"), importlib.import_module("tensordict")
    objectives, modules = importlib.import_module("torchrl.objectives"), importlib.import_module("torchrl.modules")
    data = {
        "observation": _t(4, 3),
        "action": _t(4, 2).tanh() * 0.9,
        ("next", "observation"): _t(4, 3),
        ("next", "reward"): _t(4, 1),
        ("next", "done"): torch.zeros(4, 1).bool(),
        ("next", "terminated"): torch.zeros(4, 1).bool(),
        "action_log_prob": _t(4),
        "sample_log_prob": _t(4),
    }
    net = torch.nn.Sequential(torch.nn.Linear(3, 4), nn.NormalParamExtractor())
    actor = modules.ProbabilisticActor(
        nn.TensorDictModule(net, in_keys=["observation"], out_keys=["loc", "scale"]),
        in_keys=["loc", "scale"],
        distribution_class=modules.TanhNormal,
        return_log_prob=True,
    )
    value = modules.ValueOperator(torch.nn.Linear(3, 1), in_keys=["observation"])

    class Q(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(5, 1)

        def forward(self, obs: torch.Tensor, act: torch.Tensor) -> torch.Tensor:
            return self.linear(torch.cat([obs, act], -1))

    q = modules.ValueOperator(Q(), in_keys=["observation", "action"])
    if name == "DQNLoss":
        chooser = modules.QValueActor(torch.nn.Linear(3, 2), in_keys=["observation"], action_space="one-hot")
        data["action"] = torch.nn.functional.one_hot(_i(2, 4), 2)
        loss = objectives.DQNLoss(chooser, action_space="one-hot")
    elif name == "ClipPPOLoss":
        loss = objectives.ClipPPOLoss(actor, value)
    elif name == "A2CLoss":
        loss = objectives.A2CLoss(actor, value)
    elif name == "ReinforceLoss":
        loss = objectives.ReinforceLoss(actor, value)
    elif name == "SACLoss":
        loss = objectives.SACLoss(actor, q, target_entropy=-2.0)
    elif name == "TD3Loss":
        plain = modules.Actor(torch.nn.Linear(3, 2), in_keys=["observation"])
        loss = objectives.TD3Loss(plain, q, bounds=(-1.0, 1.0))
    elif name == "DDPGLoss":
        plain = modules.Actor(torch.nn.Linear(3, 2), in_keys=["observation"])
        loss = objectives.DDPGLoss(plain, q)
    else:
        loss = objectives.IQLLoss(actor, q, value)
    return loss, [(tensordict.TensorDict(data, [4]),)]


_TORCHRL: dict[str, Any] = {
    "gae": partial(_values, "generalized_advantage_estimate", 0.95),
    "vec_gae": partial(_values, "vec_generalized_advantage_estimate", 0.95),
    "td0": partial(_returns, "td0_return_estimate"),
    "td1": partial(_returns, "td1_return_estimate"),
    "vec_td1": partial(_returns, "vec_td1_return_estimate"),
    "td_lambda": partial(_returns, "td_lambda_return_estimate", 0.9),
    "vec_td_lambda": partial(_returns, "vec_td_lambda_return_estimate", 0.9),
    "reward2go": partial(_call, f"{_V}.reward2go", (_t(2, 6, 1), _DONE, 0.99)),
    "TanhNormal": partial(_distribution, "TanhNormal", _t(4, 2), _u(4, 2) + 0.1),
    "TruncatedNormal": partial(_distribution, "TruncatedNormal", _t(4, 2), _u(4, 2) + 0.1),
    "OneHotCategorical": partial(_distribution, "OneHotCategorical", _t(4, 3)),
    "MaskedCategorical": lambda: _distribution("MaskedCategorical", _t(4, 3), mask=torch.ones(4, 3).bool()),
    "NoisyLinear": partial(_made, "torchrl.modules.NoisyLinear", {"in_features": 3, "out_features": 4}, (_t(2, 3),)),
    "MLP": partial(_made, "torchrl.modules.MLP", {"in_features": 3, "out_features": 2}, (_t(2, 3),), (_t(4, 3),)),
    "ConvNet": partial(_made, "torchrl.modules.ConvNet", {"in_features": 3, "num_cells": [4, 4]}, (_t(2, 3, 32, 32),)),
    **{
        name: partial(_loss, name)
        for name in (
            "DQNLoss",
            "ClipPPOLoss",
            "A2CLoss",
            "ReinforceLoss",
            "SACLoss",
            "TD3Loss",
            "DDPGLoss",
            "IQLLoss",
        )
    },
}


def _density(path: str, x: torch.Tensor, *parameters: Any, **options: Any) -> tuple[Any, list[Any]]:
    kind = _get(path)

    def log_prob(value: torch.Tensor, *given: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = kind(*given, **options).log_prob(value)
        return result

    return log_prob, [(x, *parameters)]


def _transform(path: str, *args: Any, **options: Any) -> tuple[Any, list[Any]]:
    made = _get(path)(*args, **options)
    return (lambda x: made(x)), [(_t(4, 3),), (_t(6, 3),)]


_D, _T = "pyro.distributions", "pyro.distributions.transforms"
_PYRO: dict[str, Any] = {
    "AffineBeta": partial(_density, f"{_D}.AffineBeta", _u(4), _u(4) + 1, _u(4) + 1, torch.zeros(4), torch.ones(4)),
    "AsymmetricLaplace": partial(_density, f"{_D}.AsymmetricLaplace", _t(4), _t(4), _u(4) + 0.1, _u(4) + 0.5),
    "Delta": partial(_density, f"{_D}.Delta", _t(4), _t(4)),
    "FoldedNormal": lambda: _folded(),
    "InverseGamma": partial(_density, f"{_D}.InverseGamma", _u(4) + 0.1, _u(4) + 0.5, _u(4) + 0.5),
    "MaskedMixture": lambda: _masked_mixture(),
    "MixtureOfDiagNormals": partial(
        _density, f"{_D}.MixtureOfDiagNormals", _t(4, 3), _t(2, 3), _u(2, 3) + 0.1, torch.zeros(2)
    ),
    "OrderedLogistic": partial(_density, f"{_D}.OrderedLogistic", _i(3, 4), _t(4), torch.tensor([-1.0, 1.0])),
    "ProjectedNormal": partial(
        _density, f"{_D}.ProjectedNormal", torch.nn.functional.normalize(_t(4, 3), dim=-1), _t(4, 3)
    ),
    "SineBivariateVonMises": lambda: _von_mises(),
    "SoftLaplace": partial(_density, f"{_D}.SoftLaplace", _t(4), _t(4), _u(4) + 0.1),
    "Stable": lambda: _sampled(f"{_D}.Stable", torch.tensor(1.5), torch.tensor(0.2)),
    "VonMises3D": partial(_density, f"{_D}.VonMises3D", torch.nn.functional.normalize(_t(4, 3), dim=-1), _t(4, 3)),
    "ZeroInflatedPoisson": partial(
        _density, f"{_D}.ZeroInflatedPoisson", _i(3, 4).float(), _u(4) + 0.5, gate=torch.tensor(0.3)
    ),
    "BetaBinomial": partial(
        _density, f"{_D}.BetaBinomial", _i(4, 4).float(), _u(4) + 0.5, _u(4) + 0.5, total_count=torch.tensor(5.0)
    ),
    "LKJ": lambda: (
        lambda x: _get(f"{_D}.LKJ")(3, torch.tensor(1.5)).log_prob(x),
        [(torch.eye(3),)],
    ),
    "MultivariateStudentT": partial(
        _density, f"{_D}.MultivariateStudentT", _t(4, 3), torch.tensor(3.0), torch.zeros(3), torch.eye(3)
    ),
    "GaussianHMM": lambda: _hmm(),
    **{
        f"transforms {name}": partial(_transform, f"{_T}.{name}", 3, **options)
        for name, options in (
            ("planar", {}),
            ("radial", {}),
            ("sylvester", {"count_transforms": 1}),
            ("householder", {}),
            ("spline", {}),
            ("spline_autoregressive", {}),
            ("affine_autoregressive", {}),
            ("batchnorm", {}),
            ("polynomial", {}),
            ("block_autoregressive", {}),
            ("neural_autoregressive", {}),
            ("affine_coupling", {}),
            ("matrix_exponential", {}),
            ("generalized_channel_permute", {}),
        )[:13]
    },
    "ops stats": partial(_call, "pyro.ops.stats.gelman_rubin", (_t(4, 20),)),
    "ops quantile": lambda: (
        lambda x: _get("pyro.ops.stats.quantile")(x, [0.1, 0.5]),
        [(_t(20, 3),)],
    ),
    "ops hpdi": partial(_call, "pyro.ops.stats.hpdi", (_t(20, 3), 0.5)),
    "ops resample": lambda: (
        lambda x: _get("pyro.ops.stats.resample")(x, 5),
        [(_t(20, 3),)],
    ),
    "ops effective_sample_size": partial(_call, "pyro.ops.stats.effective_sample_size", (_t(4, 20),)),
    "ops fit_pareto": partial(_call, "pyro.ops.stats.fit_generalized_pareto", (_u(20) + 0.1,)),
    "ops repeated_matmul": partial(_call, "pyro.ops.tensor_utils.repeated_matmul", (_t(3, 3), 5)),
    "ops convolve": partial(_call, "pyro.ops.tensor_utils.convolve", (_t(2, 8), _t(2, 3))),
    "ops dct": partial(_call, "pyro.ops.tensor_utils.dct", (_t(2, 8),)),
    "AutoRegressiveNN": lambda: (_get("pyro.nn.AutoRegressiveNN")(3, [8]), [(_t(4, 3),), (_t(6, 3),)]),
}


def _folded() -> tuple[Any, list[Any]]:
    kind, normal = _get(f"{_D}.FoldedDistribution"), _get(f"{_D}.Normal")
    return (lambda x, m: kind(normal(m, 1.0)).log_prob(x)), [(_u(4), _t(4))]


def _masked_mixture() -> tuple[Any, list[Any]]:
    kind, normal = _get(f"{_D}.MaskedMixture"), _get(f"{_D}.Normal")

    def mixed(mask: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
        made = kind(mask, normal(mean, 1.0), normal(-mean, 2.0))
        result: torch.Tensor = made.log_prob(made.sample())
        return result

    return mixed, [(_u(4) > 0.5, _t(4))]


def _von_mises() -> tuple[Any, list[Any]]:
    kind = _get(f"{_D}.SineBivariateVonMises")

    def density(x: torch.Tensor) -> torch.Tensor:
        one = torch.tensor(1.0)
        result: torch.Tensor = kind(one, one, one * 2, one * 2, one * 0.5).log_prob(x)
        return result

    return density, [(_t(4, 2),)]


def _sampled(path: str, *parameters: Any) -> tuple[Any, list[Any]]:
    kind = _get(path)
    return (lambda *given: kind(*given).sample()), [parameters]


def _hmm() -> tuple[Any, list[Any]]:
    kind, normal = _get(f"{_D}.DiscreteHMM"), _get(f"{_D}.Normal")

    def density(x: torch.Tensor, start: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = kind(start, step, normal(torch.tensor([-1.0, 1.0]), 1.0)).log_prob(x)
        return result

    return density, [(_t(5), torch.zeros(2), torch.zeros(2, 2))]


def _acquisition(name: str) -> tuple[Any, list[Any]]:
    x = torch.linspace(0, 1, 6, dtype=torch.double)[:, None]
    model = _get("botorch.models.SingleTaskGP")(x, (x * 6).sin())
    model.eval()
    acquisition = importlib.import_module("botorch.acquisition")
    if name.startswith("q"):
        sampler = _get("botorch.sampling.SobolQMCNormalSampler")(torch.Size([8]))
        made = getattr(acquisition, name)(model, 0.5, sampler=sampler)
        return made, [(torch.rand(3, 2, 1, dtype=torch.double, generator=_G),)]
    options = {"beta": 0.2} if name == "UpperConfidenceBound" else {"best_f": 0.5}
    made = getattr(acquisition, name)(model, **options)
    return made, [(torch.rand(3, 1, 1, dtype=torch.double, generator=_G),)]


_BOTORCH: dict[str, Any] = {
    **{
        name: partial(_acquisition, name)
        for name in (
            "ExpectedImprovement",
            "LogExpectedImprovement",
            "ProbabilityOfImprovement",
            "UpperConfidenceBound",
            "qExpectedImprovement",
            "qProbabilityOfImprovement",
        )
    },
    "is_non_dominated": partial(
        _call, "botorch.utils.multi_objective.pareto.is_non_dominated", (_t(10, 2),), (_t(12, 3),)
    ),
    "Hypervolume": lambda: (
        lambda y: _get("botorch.utils.multi_objective.hypervolume.Hypervolume")(torch.zeros(2)).compute(y),
        [(_u(6, 2),)],
    ),
    "chebyshev": lambda: (
        lambda y: _get("botorch.utils.multi_objective.scalarization.get_chebyshev_scalarization")(torch.ones(2), y)(y),
        [(_u(6, 2),)],
    ),
    "normalize": partial(
        _call, "botorch.utils.transforms.normalize", (_u(6, 2), torch.tensor([[0.0, 0.0], [2.0, 2.0]]))
    ),
    "standardize": partial(_call, "botorch.utils.transforms.standardize", (_u(6, 2),), (_u(8, 2),)),
    **{
        f"test function {name}": partial(_made, f"botorch.test_functions.{name}", {}, (_u(4, d),))
        for name, d in (("Branin", 2), ("Hartmann", 6), ("Ackley", 2), ("Rosenbrock", 2), ("Levy", 2))
    },
    "qmc normal": lambda: (
        lambda: _get("botorch.utils.sampling.draw_sobol_normal_samples")(3, 4, seed=1),
        [()],
    ),
    "sample simplex": lambda: (
        lambda: _get("botorch.utils.sampling.sample_simplex")(3, 4, qmc=False),
        [()],
    ),
    "sample hypersphere": lambda: (
        lambda: _get("botorch.utils.sampling.sample_hypersphere")(3, 4, qmc=False),
        [()],
    ),
}


class _Classifier(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(
            torch.nn.Conv2d(3, 4, 3, padding=1),
            torch.nn.ReLU(),
            torch.nn.AdaptiveAvgPool2d(2),
            torch.nn.Flatten(),
            torch.nn.Linear(16, 5),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        result: torch.Tensor = self.net(x)
        return result


def _attack(name: str, **options: Any) -> tuple[Any, list[Any]]:
    attack = _get(f"torchattacks.{name}")(_Classifier().eval(), **options)
    return (lambda x, y: attack(x, y)), [(_u(2, 3, 12, 12), _i(5, 2))]


_TORCHATTACKS: dict[str, Any] = {
    name: partial(_attack, name, **options)
    for name, options in (
        ("FGSM", {}),
        ("BIM", {"steps": 2}),
        ("PGD", {"steps": 2}),
        ("PGDL2", {"steps": 2}),
        ("CW", {"steps": 2}),
        ("DeepFool", {"steps": 2}),
        ("MIFGSM", {"steps": 2}),
        ("DIFGSM", {"steps": 2}),
        ("TIFGSM", {"steps": 2}),
        ("Jitter", {"steps": 2}),
        ("APGD", {"steps": 2}),
        ("Square", {"n_queries": 2}),
        ("GN", {}),
        ("OnePixel", {"steps": 1, "popsize": 2}),
        ("Pixle", {"restarts": 1, "max_iterations": 2}),
        ("SPSA", {"nb_sample": 2, "max_batch_size": 2, "nb_iter": 1}),
        ("JSMA", {}),
        ("EADL1", {"binary_search_steps": 1, "max_iterations": 20}),
    )
}


def _attribution(name: str, **options: Any) -> tuple[Any, list[Any]]:
    made = _get(f"captum.attr.{name}")(_Classifier().eval())
    return (lambda x: made.attribute(x, target=1, **options)), [(_u(2, 3, 12, 12),)]


_CAPTUM: dict[str, Any] = {
    **{
        name: partial(_attribution, name, **options)
        for name, options in (
            ("Saliency", {}),
            ("InputXGradient", {}),
            ("IntegratedGradients", {"n_steps": 2}),
            ("Occlusion", {"sliding_window_shapes": (3, 6, 6), "strides": (3, 6, 6)}),
            ("FeatureAblation", {"feature_mask": torch.arange(3)[:, None, None].expand(3, 12, 12)[None]}),
            ("GradientShap", {"baselines": torch.zeros(1, 3, 12, 12), "n_samples": 2}),
        )
    },
    "infidelity": lambda: (
        lambda x, a: _get("captum.metrics.infidelity")(
            torch.nn.Linear(3, 1), lambda v: (v * 0.1, v * 0.9), x, a, n_perturb_samples=2
        ),
        [(_t(2, 3), _t(2, 3))],
    ),
    "BinaryConcreteStochasticGates": partial(
        _made, "captum.module.BinaryConcreteStochasticGates", {"n_gates": 4}, (_t(3, 4),)
    ),
    "GaussianStochasticGates": partial(_made, "captum.module.GaussianStochasticGates", {"n_gates": 4}, (_t(3, 4),)),
}

_S = "sentence_transformers"
_BATCH = _S + ".sentence_transformer.losses.batch_hard_triplet.BatchHardTripletLoss"
_SENTENCE: dict[str, Any] = {
    "Pooling": lambda: (
        lambda e, m: _get(f"{_S}.sentence_transformer.modules.pooling.Pooling")(8, "mean")(
            {"token_embeddings": e, "attention_mask": m}
        ),
        [(_t(2, 5, 8), torch.ones(2, 5).long()), (_t(2, 7, 8), torch.ones(2, 7).long())],
    ),
    "Pooling lasttoken": lambda: (
        lambda e, m: _get(f"{_S}.sentence_transformer.modules.pooling.Pooling")(8, "lasttoken")(
            {"token_embeddings": e, "attention_mask": m}
        ),
        [(_t(2, 5, 8), torch.ones(2, 5).long())],
    ),
    "WeightedLayerPooling": lambda: (
        lambda e, m: _get(f"{_S}.sentence_transformer.modules.weighted_layer_pooling.WeightedLayerPooling")(8, 3, 1)(
            {"token_embeddings": e[0], "all_layer_embeddings": list(e), "attention_mask": m}
        ),
        [(_t(4, 2, 5, 8), torch.ones(2, 5).long())],
    ),
    "LSTM": lambda: (
        (lambda made: lambda e, n: made({"token_embeddings": e, "sentence_lengths": n}))(
            _get(f"{_S}.sentence_transformer.modules.lstm.LSTM")(8, 4)
        ),
        [(_t(2, 5, 8), torch.tensor([5, 3]))],
    ),
    "batch hard triplet": lambda: (
        lambda labels, e: _get(_BATCH)(None).batch_hard_triplet_loss(labels, e),
        [(_i(3, 8), _t(8, 4))],
    ),
    "batch all triplet": lambda: (
        lambda labels, e: _get(f"{_S}.sentence_transformer.losses.batch_all_triplet.BatchAllTripletLoss")(
            None
        ).batch_all_triplet_loss(labels, e),
        [(_i(3, 8), _t(8, 4))],
    ),
    "batch semi hard triplet": lambda: (
        lambda labels, e: _get(f"{_S}.sentence_transformer.losses.batch_semi_hard_triplet.BatchSemiHardTripletLoss")(
            None
        ).batch_semi_hard_triplet_loss(labels, e),
        [(_i(3, 8), _t(8, 4))],
    ),
    **{
        f"util {name}": partial(_call, f"{_S}.util.{name}", (_t(4, 8), _t(5, 8)), (_t(3, 8), _t(5, 8)))
        for name in ("cos_sim", "dot_score", "euclidean_sim", "manhattan_sim")
    },
    "util normalize": partial(_call, f"{_S}.util.normalize_embeddings", (_t(4, 8),)),
    "util semantic_search": partial(_call, f"{_S}.util.semantic_search", (_t(3, 8), _t(9, 8))),
    "util community_detection": partial(_call, f"{_S}.util.community_detection", (_t(12, 8),), min_community_size=2),
    "SparseAutoEncoder": lambda: (
        (lambda made: lambda e: made({"sentence_embedding": e}))(
            _get(f"{_S}.sparse_encoder.modules.sparse_auto_encoder.SparseAutoEncoder")(8, 16, 4)
        ),
        [(_t(4, 8),)],
    ),
}


def _struct(name: str, *shapes: Any) -> tuple[Any, list[Any]]:
    kind = _get(f"torch_struct.{name}")
    return (lambda x: kind(x).marginals), [(_t(*shape),) for shape in shapes]


_STRUCT: dict[str, Any] = {
    "LinearChainCRF": partial(_struct, "LinearChainCRF", (2, 5, 3, 3), (2, 6, 3, 3)),
    "TreeCRF": partial(_struct, "TreeCRF", (2, 4, 4, 3)),
    "SemiMarkovCRF": partial(_struct, "SemiMarkovCRF", (2, 4, 3, 2, 2)),
    "NonProjectiveDependencyCRF": partial(_struct, "NonProjectiveDependencyCRF", (2, 5, 5)),
}


def _atoms(n: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    position = _t(n, 3)
    pairs = torch.cartesian_prod(torch.arange(n), torch.arange(n))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    return position, pairs[:, 0], pairs[:, 1]


def _mace() -> tuple[Any, list[Any]]:
    modules, o3 = importlib.import_module("mace.modules"), importlib.import_module("e3nn.o3")
    blocks = modules.interaction_classes["RealAgnosticInteractionBlock"]
    model = modules.MACE(
        r_max=5.0,
        num_bessel=4,
        num_polynomial_cutoff=4,
        max_ell=1,
        interaction_cls=blocks,
        interaction_cls_first=blocks,
        num_interactions=1,
        num_elements=2,
        hidden_irreps=o3.Irreps("4x0e"),
        MLP_irreps=o3.Irreps("4x0e"),
        atomic_energies=torch.zeros(2).double().numpy(),
        avg_num_neighbors=3.0,
        atomic_numbers=[1, 8],
        correlation=1,
        gate=torch.nn.functional.silu,
    )
    inputs = []
    for n in (4, 5):
        position, one, other = _atoms(n)
        edges = torch.stack([one, other])
        inputs.append(
            (
                {
                    "positions": position,
                    "node_attrs": torch.nn.functional.one_hot(_i(2, n), 2).float(),
                    "edge_index": edges,
                    "shifts": torch.zeros(edges.shape[1], 3),
                    "unit_shifts": torch.zeros(edges.shape[1], 3),
                    "cell": torch.eye(3) * 20,
                    "batch": torch.zeros(n).long(),
                    "ptr": torch.tensor([0, n]),
                    "head": torch.zeros(1).long(),
                },
            )
        )
    return model, inputs


_ATOMS: dict[str, Any] = {
    "mace/MACE": _mace,
    "mace/RadialEmbeddingBlock": partial(
        _made,
        "mace.modules.RadialEmbeddingBlock",
        {"r_max": 5.0, "num_bessel": 4, "num_polynomial_cutoff": 4},
        (_u(6, 1) * 5, torch.eye(2)[_i(2, 4)], torch.stack([_i(4, 6), _i(4, 6)]), torch.tensor([1, 8])),
    ),
}

_LANGUAGE = {"num_tokens": 20, "dim": 16, "depth": 2, "max_seq_len": 16, "heads": 2}
_OTHERS: dict[str, Any] = {
    "routing_transformer/RoutingTransformerLM": partial(
        _made,
        "routing_transformer.RoutingTransformerLM",
        {**_LANGUAGE, "window_size": 4, "causal": True},
        (_i(20, 1, 16),),
    ),
    "routing_transformer/Autopadder": lambda: (
        _get("routing_transformer.Autopadder")(
            _get("routing_transformer.RoutingTransformerLM")(**_LANGUAGE, window_size=4)
        ),
        [(_i(20, 1, 13),), (_i(20, 1, 11),)],
    ),
    "sinkhorn_transformer/SinkhornTransformerLM": partial(
        _made, "sinkhorn_transformer.SinkhornTransformerLM", {**_LANGUAGE, "bucket_size": 4}, (_i(20, 1, 16),)
    ),
    "sinkhorn_transformer/causal": partial(
        _made,
        "sinkhorn_transformer.SinkhornTransformerLM",
        {**_LANGUAGE, "bucket_size": 4, "causal": True, "n_local_attn_heads": 1},
        (_i(20, 1, 16),),
    ),
    "linear_attention_transformer/LinearAttentionTransformerLM": partial(
        _made, "linear_attention_transformer.LinearAttentionTransformerLM", _LANGUAGE, (_i(20, 1, 16),)
    ),
    "linear_attention_transformer/blindspot": partial(
        _made,
        "linear_attention_transformer.LinearAttentionTransformerLM",
        {**_LANGUAGE, "causal": True, "blindspot_size": 4, "local_attn_window_size": 4},
        (_i(20, 1, 16),),
    ),
    "se3_transformer_pytorch/SE3Transformer": partial(
        _made,
        "se3_transformer_pytorch.SE3Transformer",
        {"dim": 8, "heads": 1, "depth": 1, "dim_head": 4, "num_degrees": 2, "num_neighbors": 3},
        (_t(1, 6, 8), _t(1, 6, 3), torch.ones(1, 6).bool()),
    ),
    "equiformer_pytorch/Equiformer": partial(
        _made,
        "equiformer_pytorch.Equiformer",
        {"dim": (8, 4), "dim_head": (4, 4), "heads": (1, 1), "num_degrees": 2, "depth": 1, "num_neighbors": 3},
        (_t(1, 6, 8), _t(1, 6, 3), torch.ones(1, 6).bool()),
    ),
    "point_transformer_pytorch/PointTransformerLayer": partial(
        _made,
        "point_transformer_pytorch.PointTransformerLayer",
        {"dim": 8, "pos_mlp_hidden_dim": 8, "attn_mlp_hidden_mult": 2, "num_neighbors": 3},
        (_t(1, 6, 8), _t(1, 6, 3), torch.ones(1, 6).bool()),
    ),
    "slot_attention/SlotAttention": partial(
        _made, "slot_attention.SlotAttention", {"num_slots": 3, "dim": 8, "iters": 2}, (_t(2, 10, 8),)
    ),
    "soft_moe_pytorch/SoftMoE": partial(
        _made, "soft_moe_pytorch.SoftMoE", {"dim": 8, "seq_len": 10, "num_experts": 2}, (_t(2, 10, 8),)
    ),
    "soft_moe_pytorch/DynamicSlotsSoftMoE": partial(
        _made, "soft_moe_pytorch.DynamicSlotsSoftMoE", {"dim": 8, "num_experts": 2}, (_t(2, 10, 8),)
    ),
    "opacus/DPMultiheadAttention": partial(
        _made,
        "opacus.layers.DPMultiheadAttention",
        {"embed_dim": 8, "num_heads": 2},
        (_t(5, 2, 8), _t(5, 2, 8), _t(5, 2, 8)),
    ),
    "opacus/DPLSTM": partial(
        _made, "opacus.layers.DPLSTM", {"input_size": 4, "hidden_size": 6, "batch_first": True}, (_t(2, 5, 4),)
    ),
    "opacus/DPGRU": partial(_made, "opacus.layers.DPGRU", {"input_size": 4, "hidden_size": 6}, (_t(5, 2, 4),)),
}

MODELS = {
    **{
        f"{package}/{name}": build
        for package, group in (
            ("torcheval", _TORCHEVAL),
            ("ignite", _IGNITE),
            ("torchrl", _TORCHRL),
            ("pyro", _PYRO),
            ("botorch", _BOTORCH),
            ("torchattacks", _TORCHATTACKS),
            ("captum", _CAPTUM),
            ("sentence_transformers", _SENTENCE),
            ("torch_struct", _STRUCT),
        )
        for name, build in group.items()
    },
    **_ATOMS,
    **_OTHERS,
}

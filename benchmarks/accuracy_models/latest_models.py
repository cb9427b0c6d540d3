"""Models of packages that were chosen and run after the second round of work, before anything was changed for them.

Of torchsurv, torch-kmeans, geomloss, torchdyn, torchode, hypll and nnAudio; and of gluonts, after a third round.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import torch
from torch import nn

_G = torch.Generator().manual_seed(0)
Built = tuple[Callable[..., Any], list[Any]]


def _t(*shape: int) -> torch.Tensor:
    return torch.randn(*shape, generator=_G)


def _u(*shape: int) -> torch.Tensor:
    return torch.rand(*shape, generator=_G)


def _get(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def _survival(n: int, columns: int = 1) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Estimates, events and times of so many subjects."""
    times = torch.arange(1, n + 1).float() / 2
    events = torch.arange(n) % 3 != 1
    return _t(n, columns), events, times[torch.randperm(n, generator=_G)]


def _call(name: str, *inputs: Any, **options: Any) -> Built:
    """A function, called with each of the tuples of arguments."""
    function = _get(name)
    return (partial(function, **options) if options else function), list(inputs)


def _metric(name: str, asked: Mapping[str, Any], *inputs: Any, then: tuple[str, ...] = ()) -> Built:
    """A metric that is called, and then asked by its methods, in one compiled step."""
    made = _get(name)

    def step(*given: Any) -> Any:
        metric = made()
        results = [metric(*given, **asked)]
        results += [getattr(metric, method)() for method in then]
        return results

    return step, list(inputs)


def _kaplan_meier(*given: Any) -> Any:
    estimator = _get("torchsurv.stats.kaplan_meier.KaplanMeierEstimator")()
    estimator(given[0], given[1])
    return estimator.predict(given[1])


def _call_made(name: str, *inputs: Any) -> Built:
    """An object that is called like a function."""
    return _get(name)(), list(inputs)


def _module(name: str, inputs: list[Any], *given: Any, **options: Any) -> Built:
    return _get(name)(*given, **options), inputs


_COX = "torchsurv.loss.cox."
_TORCHSURV: dict[str, Callable[[], Built]] = {
    f"cox {ties}": partial(
        lambda ties: _call(f"{_COX}neg_partial_log_likelihood", _survival(12), _survival(9), ties_method=ties), ties
    )
    for ties in ("efron", "breslow")
} | {
    "cox strata": lambda: _call(
        f"{_COX}neg_partial_log_likelihood", _survival(12), strata=torch.arange(12) % 2, reduction="sum"
    ),
    "cox baseline": lambda: _call(f"{_COX}baseline_survival_function", _survival(12), _survival(9)),
    "weibull": lambda: _call("torchsurv.loss.weibull.neg_log_likelihood_weibull", _survival(12, 2), _survival(9, 2)),
    "weibull survival": lambda: _call(
        "torchsurv.loss.weibull.survival_function_weibull", (_t(6, 2), _u(5)), (_t(4, 2), _u(3))
    ),
    "weibull hazard": lambda: _call("torchsurv.loss.weibull.log_hazard", (_t(6, 2), _u(5)), (_t(4, 2), _u(3))),
    "survival": lambda: _call(
        "torchsurv.loss.survival.neg_log_likelihood", (*_survival(12, 4), torch.tensor([0.5, 2.0, 4.0, 8.0]))
    ),
    "cindex": lambda: _metric("torchsurv.metrics.cindex.ConcordanceIndex", {}, _survival(12), _survival(9)),
    "cindex p": lambda: _metric(
        "torchsurv.metrics.cindex.ConcordanceIndex", {}, _survival(12), then=("p_value", "confidence_interval")
    ),
    "auc": lambda: _metric("torchsurv.metrics.auc.Auc", {}, _survival(12), then=("integral",)),
    "auc incident": lambda: _metric("torchsurv.metrics.auc.Auc", {"auc_type": "incident"}, _survival(12)),
    "brier": lambda: _metric(
        "torchsurv.metrics.brier_score.BrierScore",
        {},
        (_u(12, 12), *_survival(12)[1:]),
        then=("integral",),
    ),
    "kaplan_meier": lambda: (_kaplan_meier, [_survival(12)[1:], _survival(9)[1:]]),
    "ipcw": lambda: _call("torchsurv.stats.ipcw.get_ipcw", _survival(12)[1:], _survival(9)[1:]),
    "momentum": lambda: _module(
        "torchsurv.loss.momentum.Momentum",
        [(_t(8, 4), *_survival(8)[1:])],
        nn.Linear(4, 1),
        _get(f"{_COX}neg_partial_log_likelihood"),
        batchsize=8,
        steps=2,
    ),
}

_KMEANS: dict[str, Callable[[], Built]] = {
    "KMeans": lambda: _module("torch_kmeans.KMeans", [(_t(2, 10, 3), 3), (_t(3, 12, 3), 3)], max_iter=5, verbose=False),
    "KMeans k-means++": lambda: _module(
        "torch_kmeans.KMeans", [(_t(2, 10, 3), 3)], init_method="k-means++", max_iter=5, verbose=False
    ),
    "SoftKMeans": lambda: _module("torch_kmeans.SoftKMeans", [(_t(2, 10, 3), 3)], max_iter=5, verbose=False),
    "ConstrainedKMeans": lambda: _module(
        "torch_kmeans.ConstrainedKMeans",
        [{"x": _u(2, 10, 3), "k": 3, "weights": torch.full((2, 10), 0.1)}],
        max_iter=5,
        verbose=False,
    ),
    "LpDistance": lambda: _module("torch_kmeans.LpDistance", [(_t(2, 5, 3), _t(2, 4, 3)), (_t(2, 6, 3), _t(2, 2, 3))]),
    "CosineSimilarity": lambda: _module("torch_kmeans.CosineSimilarity", [(_t(2, 5, 3), _t(2, 4, 3))]),
}

_GEOMLOSS: dict[str, Callable[[], Built]] = {
    loss: partial(
        lambda loss: _module(
            "geomloss.SamplesLoss", [(_u(6, 2), _u(5, 2)), (_u(7, 2), _u(4, 2))], loss, backend="tensorized"
        ),
        loss,
    )
    for loss in ("sinkhorn", "energy", "gaussian", "laplacian")
}


def _field() -> nn.Module:
    return nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2))


_SPAN = torch.linspace(0, 1, 5)
_TORCHDYN: dict[str, Callable[[], Built]] = {
    f"NeuralODE {solver}": partial(
        lambda solver: _module(
            "torchdyn.core.NeuralODE", [(_t(4, 2), _SPAN), (_t(3, 2), _SPAN)], _field(), solver=solver
        ),
        solver,
    )
    for solver in ("euler", "rk4", "tsit5", "dopri5")
} | {
    "GalLinear": lambda: _module("torchdyn.nn.GalLinear", [(_t(4, 3),)], 2, 5, expfunc=_get("torchdyn.nn.Fourier")(2)),
    "Augmenter": lambda: _module("torchdyn.nn.Augmenter", [(_t(4, 3),), (_t(5, 3),)]),
    "HNN": lambda: _module(
        "torchdyn.models.HNN", [(_t(4, 4),)], nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    ),
    "GNF": lambda: _module(
        "torchdyn.models.GNF", [(_t(4, 4),)], nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1))
    ),
    "CNF": lambda: _module("torchdyn.models.CNF", [(_t(4, 3),)], _field()),
    "Lorenz": lambda: _module("torchdyn.numerics.Lorenz", [(torch.tensor(0.0), _t(4, 3))]),
}


def _torchode(controller: str, method: str) -> Built:
    to = importlib.import_module("torchode")
    term = to.ODETerm(lambda _, y: -y)
    step = getattr(to, method)(term=term)
    options = {"FixedStepController": ()}.get(controller, (1e-6, 1e-3))
    size = (
        to.FixedStepController() if controller == "FixedStepController" else to.IntegralController(*options, term=term)
    )
    solver = to.AutoDiffAdjoint(step, size)

    def solve(y: torch.Tensor, times: torch.Tensor, first: torch.Tensor) -> Any:
        return solver.solve(to.InitialValueProblem(y0=y, t_eval=times), dt0=first).ys

    times = torch.linspace(0, 1, 4).repeat(3, 1)
    return solve, [(_t(3, 2), times, torch.full((3,), 0.1))]


_TORCHODE: dict[str, Callable[[], Built]] = {
    "Dopri5": partial(_torchode, "IntegralController", "Dopri5"),
    "Tsit5": partial(_torchode, "IntegralController", "Tsit5"),
    "Heun fixed": partial(_torchode, "FixedStepController", "Heun"),
}


def _hyperbolic(name: str, *given: Any, shape: tuple[int, ...] = (4, 3)) -> Built:
    ball = _get("hypll.manifolds.poincare_ball.PoincareBall")(_get("hypll.manifolds.poincare_ball.Curvature")())
    layer = _get(f"hypll.nn.{name}")(*given, manifold=ball)
    tensors = importlib.import_module("hypll.tensors")

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = layer

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            tangents = tensors.TangentTensor(data=x * 0.1, man_dim=1, manifold=ball)
            result: torch.Tensor = self.layer(ball.expmap(tangents)).tensor
            return result

    return Model(), [(_t(*shape),), (_t(shape[0] + 1, *shape[1:]),)]


_HYPLL: dict[str, Callable[[], Built]] = {
    "HLinear": partial(_hyperbolic, "HLinear", 3, 5),
    "HReLU": partial(_hyperbolic, "HReLU"),
    "HBatchNorm": partial(_hyperbolic, "HBatchNorm", 3),
    "HConvolution2d": partial(_hyperbolic, "HConvolution2d", 2, 3, 3, shape=(2, 2, 6, 6)),
    "HAvgPool2d": partial(_hyperbolic, "HAvgPool2d", 2, shape=(2, 2, 6, 6)),
}

_SOUND = [(_t(1, 4096),), (_t(2, 4096),)]
_NNAUDIO: dict[str, Callable[[], Built]] = {
    "STFT": lambda: _module("nnAudio.features.STFT", _SOUND, n_fft=256, hop_length=64, verbose=False),
    "STFT phase": lambda: _module(
        "nnAudio.features.STFT", _SOUND, n_fft=256, hop_length=64, output_format="Phase", verbose=False
    ),
    "iSTFT": lambda: _module(
        "nnAudio.features.STFT", _SOUND, n_fft=256, hop_length=64, iSTFT=True, output_format="Complex", verbose=False
    ),
    "MelSpectrogram": lambda: _module(
        "nnAudio.features.MelSpectrogram", _SOUND, n_fft=256, hop_length=64, n_mels=16, verbose=False
    ),
    "MFCC": lambda: _module(
        "nnAudio.features.MFCC", _SOUND, n_mfcc=8, n_fft=256, hop_length=64, n_mels=16, verbose=False
    ),
    "Gammatonegram": lambda: _module(
        "nnAudio.features.Gammatonegram", _SOUND, n_fft=256, hop_length=64, n_bins=16, verbose=False
    ),
    "CQT1992v2": lambda: _module(
        "nnAudio.features.CQT1992v2", _SOUND, sr=8000, hop_length=128, fmin=220, n_bins=12, verbose=False
    ),
    "CQT2010v2": lambda: _module(
        "nnAudio.features.CQT2010v2", _SOUND, sr=8000, hop_length=128, fmin=220, n_bins=24, verbose=False
    ),
    "VQT": lambda: _module("nnAudio.features.VQT", _SOUND, sr=8000, hop_length=128, fmin=220, n_bins=12, verbose=False),
}

_DISTRIBUTIONS = "gluonts.torch.distributions."


def _distribution(name: str, numbers: tuple[torch.Tensor, ...], value: torch.Tensor, **options: Any) -> Built:
    """A distribution that is made in the compiled code, asked for a likelihood and, where it can, for a sample."""
    made = _get(f"{_DISTRIBUTIONS}{name}")

    def step(given: torch.Tensor, *parameters: torch.Tensor) -> Any:
        distribution = made(*parameters, **options)
        return distribution.log_prob(given), distribution.sample()

    return step, [(value, *numbers)]


def _output(name: str, *given: Any, rows: int = 4) -> Built:
    """What projects features to the parameters of a distribution, and its loss."""
    output = _get(f"{_DISTRIBUTIONS}{name}")(*given)
    projection = output.get_args_proj(3)

    def step(features: torch.Tensor, target: torch.Tensor, scale: torch.Tensor) -> Any:
        return output.loss(target, projection(features), loc=torch.zeros_like(scale), scale=scale)

    return step, [
        (_t(rows, 3), _u(rows) + 0.5, torch.ones(rows)),
        (_t(rows + 1, 3), _u(rows + 1) + 0.5, torch.ones(rows + 1)),
    ]


_GLUONTS: dict[str, Callable[[], Built]] = {
    "BinnedUniforms": lambda: _call(f"{_DISTRIBUTIONS}BinnedUniforms", (0.0, 1.0, _t(4, 10)), numb_bins=10),
    "TruncatedNormal": lambda: _distribution("TruncatedNormal", (_t(4), _u(4) + 0.5), _u(4) * 0.5),
    **{name: partial(_output, name) for name in ("StudentTOutput", "NormalOutput", "LaplaceOutput", "GammaOutput")},
    "QuantileOutput": partial(_output, "QuantileOutput", [0.1, 0.5, 0.9]),
    "SplicedBinnedParetoOutput": partial(_output, "SplicedBinnedParetoOutput", 0.0, 2.0, 8, 0.05),
    "ImplicitQuantileNetworkOutput": partial(_output, "ImplicitQuantileNetworkOutput"),
    **{
        name: partial(lambda name: _call_made(f"gluonts.torch.scaler.{name}", (_t(2, 8), torch.ones(2, 8))), name)
        for name in ("MeanScaler", "NOPScaler")
    },
    "DLinear": lambda: _module(
        "gluonts.torch.model.d_linear.module.DLinearModel", [(_t(2, 12), torch.ones(2, 12))], 4, 12, 8
    ),
    "PatchTST": lambda: _module(
        "gluonts.torch.model.patch_tst.module.PatchTSTModel",
        [{"past_target": _t(2, 16), "past_observed_values": torch.ones(2, 16)}],
        prediction_length=4,
        context_length=16,
        patch_len=4,
        stride=2,
        padding_patch="end",
        d_model=8,
        nhead=2,
        dim_feedforward=8,
        num_feat_dynamic_real=0,
        dropout=0.0,
        activation="relu",
        norm_first=False,
        num_encoder_layers=1,
        scaling="mean",
    ),
    "FeatureEmbedder": lambda: _module(
        "gluonts.torch.modules.feature.FeatureEmbedder", [(torch.tensor([[0, 1], [2, 0]]),)], [3, 2], [4, 4]
    ),
}

MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in (
        ("torchsurv", _TORCHSURV),
        ("torch_kmeans", _KMEANS),
        ("geomloss", _GEOMLOSS),
        ("torchdyn", _TORCHDYN),
        ("torchode", _TORCHODE),
        ("hypll", _HYPLL),
        ("nnAudio", _NNAUDIO),
        ("gluonts", _GLUONTS),
    )
    for name, build in models.items()
}

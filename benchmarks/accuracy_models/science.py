"""Flows, Gaussian processes, differential equations, operators, molecules, manifolds and tensor dictionaries."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import torch


def _make(path: str, *args: Any, **options: Any) -> Any:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name)(*args, **options)


def _module(path: str, options: dict[str, Any], *inputs: Any) -> tuple[Any, list[Any]]:
    return _make(path, **options), list(inputs)


def _function(path: str, *inputs: Any) -> tuple[Any, list[Any]]:
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(module), name), list(inputs)


def _zuko(name: str, **options: Any) -> tuple[Any, list[Any]]:
    flow = _make(f"zuko.flows.{name}", 3, transforms=2, hidden_features=(8, 8), **options)

    def loss(x: torch.Tensor) -> torch.Tensor:
        return -flow().log_prob(x).mean()

    return loss, [(torch.rand(b, 3),) for b in (4, 6)]


def _nflows(kind: str) -> tuple[Any, list[Any]]:
    transforms = {
        "maf": lambda: _make("nflows.transforms.MaskedAffineAutoregressiveTransform", features=3, hidden_features=8),
        "spline": lambda: _make(
            "nflows.transforms.MaskedPiecewiseRationalQuadraticAutoregressiveTransform",
            features=3,
            hidden_features=8,
            tails="linear",
            tail_bound=3.0,
            num_bins=4,
        ),
        "lu": lambda: _make("nflows.transforms.LULinear", 3),
        "permutation": lambda: _make("nflows.transforms.RandomPermutation", 3),
        "batch norm": lambda: _make("nflows.transforms.BatchNorm", 3),
        "householder": lambda: _make("nflows.transforms.HouseholderSequence", 3, 2),
    }
    return transforms[kind](), [(torch.randn(b, 3),) for b in (4, 6)]


def _normflows(kind: str) -> tuple[Any, list[Any]]:
    flows = {
        "planar": lambda: _make("normflows.flows.Planar", (3,)),
        "radial": lambda: _make("normflows.flows.Radial", (3,)),
        "spline": lambda: _make("normflows.flows.AutoregressiveRationalQuadraticSpline", 3, 1, 8),
        "coupled": lambda: _make("normflows.flows.CoupledRationalQuadraticSpline", 3, 1, 8),
        "act norm": lambda: _make("normflows.flows.ActNorm", (3,)),
        "lu": lambda: _make("normflows.flows.LULinearPermute", 3),
        "residual": lambda: _make("normflows.flows.Residual", _make("normflows.nets.LipschitzMLP", [3, 8, 3])),
    }
    return flows[kind](), [(torch.randn(b, 3),) for b in (4, 6)]


def _gp(kind: str) -> tuple[Any, list[Any]]:
    gpytorch = importlib.import_module("gpytorch")
    x, y = torch.linspace(0, 1, 10), torch.linspace(0, 1, 10).sin()
    if kind == "kernel":
        kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5))
        return (lambda a: kernel(a).to_dense()), [(torch.rand(n, 2),) for n in (5, 7)]
    if kind == "rbf":
        rbf = gpytorch.kernels.RBFKernel(ard_num_dims=2) + gpytorch.kernels.PeriodicKernel()
        return (lambda a: rbf(a).to_dense()), [(torch.rand(n, 2),) for n in (5, 7)]

    class Model(gpytorch.models.ExactGP):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(x, y, gpytorch.likelihoods.GaussianLikelihood())
            self.mean, self.covariance = gpytorch.means.ConstantMean(), gpytorch.kernels.RBFKernel()

        def forward(self, a: torch.Tensor) -> Any:
            return gpytorch.distributions.MultivariateNormal(self.mean(a), self.covariance(a))

    model = Model()
    likelihood = gpytorch.mlls.ExactMarginalLogLikelihood(model.likelihood, model)

    def loss(a: torch.Tensor) -> torch.Tensor:
        model.train()
        return -likelihood(model(a), y)

    return loss, [(x,)]


def _ode(method: str) -> tuple[Any, list[Any]]:
    torchdiffeq = importlib.import_module("torchdiffeq")
    field = torch.nn.Linear(3, 3)

    def solve(y: torch.Tensor, t: torch.Tensor) -> torch.Tensor:
        return torchdiffeq.odeint(lambda _, state: field(state), y, t, method=method)

    return solve, [(torch.randn(b, 3), torch.linspace(0, 1, 4)) for b in (2, 3)]


def _sde() -> tuple[Any, list[Any]]:
    torchsde = importlib.import_module("torchsde")

    class Sde(torch.nn.Module):
        noise_type, sde_type = "diagonal", "ito"

        def f(self, _: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return -y

        def g(self, _: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
            return 0.1 * y

    sde = Sde()
    return (lambda y: torchsde.sdeint(sde, y, torch.linspace(0, 1, 3), dt=0.25, method="euler")), [(torch.rand(2, 2),)]


def _cde() -> tuple[Any, list[Any]]:
    torchcde = importlib.import_module("torchcde")

    def interpolate(x: torch.Tensor) -> torch.Tensor:
        spline = torchcde.CubicSpline(torchcde.hermite_cubic_coefficients_with_backward_differences(x))
        return spline.evaluate(torch.tensor(0.5))

    return interpolate, [(torch.randn(b, 5, 2),) for b in (2, 3)]


def _natural() -> tuple[Any, list[Any]]:
    return _function("torchcde.natural_cubic_coeffs", (torch.randn(2, 5, 2),), (torch.randn(3, 6, 2),))


def _ani() -> tuple[Any, list[Any]]:
    torchani = importlib.import_module("torchani")
    computer = torchani.AEVComputer.like_2x()
    return computer, [(torch.arange(n)[None] % 3, torch.rand(1, n, 3) * 3) for n in (5, 7)]


def _ani_energy() -> tuple[Any, list[Any]]:
    torchani = importlib.import_module("torchani")
    model = (
        torchani.arch.simple_ani(("H", "C", "N", "O"), lot="wb97x-631gd", strategy="pyaev")
        if hasattr(torchani, "arch")
        else None
    )
    return model, [((torch.ones(1, n).long(), torch.rand(1, n, 3) * 3),) for n in (5, 7)]


def _manifold(name: str, method: str, *inputs: Any) -> tuple[Any, list[Any]]:
    return getattr(_make(f"geoopt.{name}"), method), list(inputs)


def _tensordict(kind: str) -> tuple[Any, list[Any]]:
    nn = importlib.import_module("tensordict.nn")
    tensordict = importlib.import_module("tensordict")
    first = nn.TensorDictModule(torch.nn.Linear(3, 4), in_keys=["a"], out_keys=["b"])
    second = nn.TensorDictModule(torch.nn.Linear(4, 2), in_keys=["b"], out_keys=["c"])
    module = nn.TensorDictSequential(first, second) if kind == "sequential" else first
    return module, [(tensordict.TensorDict({"a": torch.randn(b, 3)}, batch_size=[b]),) for b in (2, 3)]


def _pykeen(name: str) -> tuple[Any, list[Any]]:
    interaction = _make(f"pykeen.nn.modules.{name}")
    return interaction, [tuple(torch.randn(b, 8) for _ in range(3)) for b in (4, 6)]


MODELS = {
    **{f"zuko/{name}": partial(_zuko, name) for name in ("MAF", "NSF", "NCSF", "SOSPF", "NAF", "BPF")},
    **{f"nflows/{k}": partial(_nflows, k) for k in ("maf", "spline", "lu", "permutation", "batch norm", "householder")},
    **{
        f"normflows/{k}": partial(_normflows, k)
        for k in ("planar", "radial", "spline", "coupled", "act norm", "lu", "residual")
    },
    **{f"gpytorch/{k}": partial(_gp, k) for k in ("kernel", "rbf", "exact")},
    **{f"torchdiffeq/{m}": partial(_ode, m) for m in ("euler", "rk4", "dopri5", "adaptive_heun", "implicit_adams")},
    "torchsde/euler": _sde,
    "torchcde/CubicSpline": _cde,
    "torchcde/natural_cubic_coeffs": _natural,
    "torchani/AEVComputer": _ani,
    "torchani/simple_ani": _ani_energy,
    "neuralop/FNO": partial(
        _module,
        "neuralop.models.FNO",
        {"n_modes": (4, 4), "hidden_channels": 8, "in_channels": 1, "out_channels": 1, "n_layers": 2},
        (torch.randn(1, 1, 16, 16),),
        (torch.randn(2, 1, 16, 16),),
    ),
    "neuralop/UNO": partial(
        _module,
        "neuralop.models.UNO",
        {
            "in_channels": 1,
            "out_channels": 1,
            "hidden_channels": 8,
            "uno_out_channels": [8, 8],
            "uno_n_modes": [[4, 4], [4, 4]],
            "uno_scalings": [[1.0, 1.0], [1.0, 1.0]],
            "n_layers": 2,
        },
        (torch.randn(1, 1, 16, 16),),
    ),
    "neuralop/LpLoss": partial(_module, "neuralop.losses.LpLoss", {}, (torch.randn(2, 8, 8), torch.randn(2, 8, 8))),
    "ptwt/wavedec": lambda: (
        partial(_function("ptwt.wavedec")[0], wavelet="db2", level=2),
        [(torch.randn(2, n),) for n in (32, 40)],
    ),
    "ptwt/wavedec2": lambda: (
        partial(_function("ptwt.wavedec2")[0], wavelet="haar", level=2),
        [(torch.randn(2, n, n),) for n in (32, 40)],
    ),
    **{
        f"geoopt/{n} {m}": partial(_manifold, n, m, *inputs)
        for n, m, inputs in (
            ("PoincareBall", "dist", ((torch.rand(4, 3) * 0.3, torch.rand(4, 3) * 0.3),)),
            ("PoincareBall", "expmap", ((torch.rand(4, 3) * 0.3, torch.rand(4, 3) * 0.3),)),
            ("Lorentz", "expmap0", ((torch.rand(4, 3),),)),
            ("Stiefel", "projx", ((torch.rand(4, 3),),)),
            ("Sphere", "retr", ((torch.rand(4, 3), torch.rand(4, 3)),)),
            ("SymmetricPositiveDefinite", "projx", ((torch.rand(4, 3, 3),),)),
        )
    },
    "tensordict/TensorDictModule": partial(_tensordict, "module"),
    "tensordict/TensorDictSequential": partial(_tensordict, "sequential"),
    **{
        f"pykeen/{n}": partial(_pykeen, n)
        for n in ("TransEInteraction", "DistMultInteraction", "ComplExInteraction", "HolEInteraction")
    },
    "cliffordlayers/CliffordLinear": partial(
        _module,
        "cliffordlayers.nn.modules.cliffordlinear.CliffordLinear",
        {"g": [1, 1], "in_channels": 4, "out_channels": 4},
        (torch.randn(2, 4, 4),),
        (torch.randn(3, 4, 4),),
    ),
    "cliffordlayers/CliffordConv2d": partial(
        _module,
        "cliffordlayers.nn.modules.cliffordconv.CliffordConv2d",
        {"g": [1, 1], "in_channels": 2, "out_channels": 2, "kernel_size": 3},
        (torch.randn(2, 2, 8, 8, 4),),
    ),
    "torch_audiomentations/Gain": lambda: (
        _make("torch_audiomentations.Gain", p=0.5, sample_rate=16000, output_type="tensor"),
        [(torch.randn(2, 1, n),) for n in (1000, 1200)],
    ),
    "torch_audiomentations/PolarityInversion": lambda: (
        _make("torch_audiomentations.PolarityInversion", p=0.5, sample_rate=16000, output_type="tensor"),
        [(torch.randn(2, 1, n),) for n in (1000, 1200)],
    ),
}

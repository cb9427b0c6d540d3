"""Models of hippynn, torch_cfd, speechtokenizer, flair and deeptab.

They were chosen after all of the seventeenth group, and written before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(45)
_ABSENT = {
    "flair": ("boto3", "botocore.config"),
    "speechtokenizer": (
        "torchaudio.transforms",
        "torchaudio.functional",
        "accelerate.utils",
        "lion_pytorch",
        "tensorboard",
    ),
    "deeptab": ("delu", "mamba_ssm", "properscoring", "skopt.space"),
}
_get = getter(_ABSENT, ())
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_L = "hippynn.layers."
_SPECIES = torch.tensor([[8, 1, 1], [6, 1, 0]])
_PLACES = _t(2, 3, 3)
_FIRST = torch.tensor([0, 0, 1, 1, 2, 2, 3, 4])
_SECOND = torch.tensor([1, 2, 0, 2, 0, 1, 4, 3])
_DISTANCES = _u(8) + 0.5
_OF_MOLECULES = torch.tensor([0, 0, 0, 1, 1])
_ATOMS = torch.tensor([0, 1, 2, 0, 1])
_INVERSE = torch.tensor([0, 1, 2, 3, 4, -1])
_REAL = torch.tensor([0, 1, 2, 3, 4])
_FILLED = _SPECIES > 0
_CELL = torch.eye(3).expand(2, 3, 3) * 4.0


def _hipnn(path: str, *inputs: torch.Tensor, **options: Any) -> Callable[[], Built]:
    return lambda: _made(
        "hippynn.networks.hipnn." + path,
        [inputs],
        n_features=6,
        n_sensitivities=5,
        dist_soft_min=0.7,
        dist_soft_max=2.0,
        dist_hard_max=3.0,
        n_atom_layers=1,
        n_interaction_layers=1,
        possible_species=[0, 1, 6, 8],
        **options,
    )


def _predictor() -> Built:
    """A model of energies as hippynn makes it: a graph of nodes."""
    inputs, networks, targets = (_get("hippynn.graphs." + n) for n in ("inputs", "networks", "targets"))
    species, places = inputs.SpeciesNode(db_name="Z"), inputs.PositionsNode(db_name="R")
    options = {
        "possible_species": [0, 1, 6, 8],
        "n_features": 6,
        "n_sensitivities": 5,
        "dist_soft_min": 0.7,
        "dist_soft_max": 2.0,
        "dist_hard_max": 3.0,
        "n_interaction_layers": 1,
        "n_atom_layers": 1,
    }
    network = networks.Hipnn("net", (species, places), module_kwargs=options)
    energy = targets.HEnergyNode("energy", network)
    return _get("hippynn.graphs.GraphModule")([species, places], [energy.mol_energy]), [(_SPECIES, _PLACES)]


_HIPPYNN: dict[str, Callable[[], Built]] = {
    "Hipnn": _hipnn("Hipnn", _u(5, 3), _FIRST, _SECOND, _DISTANCES),
    "HipnnVec": _hipnn("HipnnVec", _u(5, 3), _FIRST, _SECOND, _DISTANCES, _t(8, 3)),
    "HipnnQuad": _hipnn("HipnnQuad", _u(5, 3), _FIRST, _SECOND, _DISTANCES, _t(8, 3)),
    "Hipnn plain": _hipnn("Hipnn", _u(5, 3), _FIRST, _SECOND, _DISTANCES, resnet=False),
    "GraphModule": _predictor,
    "WeightedMSELoss": lambda: _made(_L + "algebra.WeightedMSELoss", [(_t(5), _t(5), _u(5))]),
    "AtLeast2D": lambda: _made(_L + "algebra.AtLeast2D", [(_t(5),), (_t(5, 2),)]),
    "EnsembleTarget": lambda: _made(_L + "algebra.EnsembleTarget", [(_t(5), _t(5), _t(5))]),
    "GaussianSensitivityModule": lambda: _made(
        _L + "hiplayers.GaussianSensitivityModule", [(_DISTANCES,)], 5, 0.7, 2.0, 3.0
    ),
    "InverseSensitivityModule": lambda: _made(
        _L + "hiplayers.InverseSensitivityModule", [(_DISTANCES, True)], 5, 0.7, 2.0, 3.0
    ),
    "SensitivityBottleneck": lambda: _made(
        _L + "hiplayers.SensitivityBottleneck", [(_DISTANCES,)], 5, 0.7, 2.0, 3.0, 7
    ),
    "TensorExtractor": lambda: _made(_L + "hiplayers.tensors.TensorExtractor", [(_t(8, 3),)], 2),
    "OneHotSpecies": lambda: _made(_L + "indexers.OneHotSpecies", [(_SPECIES,)], torch.tensor([0, 1, 6, 8])),
    "PaddingIndexer": lambda: _made(_L + "indexers.PaddingIndexer", [(_t(2, 3, 4), _FILLED)]),
    "AtomReIndexer": lambda: _made(_L + "indexers.AtomReIndexer", [(_t(2, 3, 4), _REAL)]),
    "MolSummer": lambda: _made(_L + "indexers.MolSummer", [(_t(5, 1), _OF_MOLECULES, 2)]),
    "SysMaxOfAtoms": lambda: _made(_L + "indexers.SysMaxOfAtoms", [(_t(5, 1), _OF_MOLECULES, 2)]),
    "AtomDeIndexer": lambda: _made(_L + "indexers.AtomDeIndexer", [(_t(5, 1), _OF_MOLECULES, _ATOMS, 2, 3)]),
    "CellScaleInducer": lambda: _made(_L + "indexers.CellScaleInducer", [(_PLACES, _CELL)]),
    "QuadUnpack": lambda: _made(_L + "indexers.QuadUnpack", [(_t(5, 6),)]),
    "FilterBondsOneway": lambda: _made(_L + "indexers.FilterBondsOneway", [(_t(8), _FIRST, _SECOND)]),
    "FuzzyHistogram": lambda: _made(_L + "indexers.FuzzyHistogram", [(_t(5),)], 7, -1.0, 1.0),
    "SpeciesIndexer": lambda: _made(_L + "indexers.SpeciesIndexer", [(_t(5, 3), torch.eye(3)[_i(3, 5)].bool())]),
    "RDFBins": lambda: _made(
        _L + "pairs.analysis.RDFBins",
        [(_DISTANCES, _FIRST, _SECOND, torch.eye(3)[_i(3, 5)].bool(), 2)],
        torch.linspace(0.0, 2.0, 5),
        torch.tensor([0, 1, 6, 8]),
    ),
    "MinDistModule": lambda: _made(
        _L + "pairs.analysis.MinDistModule",
        [(_u(5, 4, 3), _i(5, 5, 4), _OF_MOLECULES, _ATOMS, _INVERSE, 3, 2)],
    ),
    "wrap_points_torch": lambda: _call(
        _L + "pairs.dispatch.wrap_points_torch", (_t(5, 3) * 5, torch.eye(3) * 4, torch.eye(3) / 4)
    ),
    "neighbor_list_torch": lambda: _call(_L + "pairs.dispatch.neighbor_list_torch", (1.5, _t(5, 3), torch.eye(3) * 4)),
    "TorchNeighbors": lambda: _made(
        _L + "pairs.dispatch.TorchNeighbors",
        [(_PLACES, _FILLED, _REAL, _INVERSE, _CELL, _OF_MOLECULES, 2, 3)],
        1.5,
    ),
    "FilterDistance": lambda: _made(
        _L + "pairs.filters.FilterDistance", [(_DISTANCES, _FIRST, _SECOND)], hard_dist_cutoff=1.0
    ),
    "ExternalNeighbors": lambda: _made(
        _L + "pairs.indexing.ExternalNeighbors",
        [(_PLACES[:1], torch.arange(3), _t(8, 3).round(), _CELL[0], _FIRST % 3, _SECOND % 3)],
        hard_dist_cutoff=3.0,
    ),
    "PairDeIndexer": lambda: _made(
        _L + "pairs.indexing.PairDeIndexer", [(_t(8, 1), _OF_MOLECULES, _ATOMS, 2, 3, _FIRST, _SECOND)]
    ),
    "PairReIndexer": lambda: _made(
        _L + "pairs.indexing.PairReIndexer", [(_t(2, 3, 3), _OF_MOLECULES, _ATOMS, _FIRST, _SECOND)]
    ),
    "MolPairSummer": lambda: _made(_L + "pairs.indexing.MolPairSummer", [(_t(8, 1), _OF_MOLECULES, 2, _FIRST)]),
    "PaddedNeighModule": lambda: _made(_L + "pairs.indexing.PaddedNeighModule", [(_FIRST, _SECOND, _t(8, 3), _REAL)]),
    "OpenPairIndexer": lambda: _made(
        _L + "pairs.open.OpenPairIndexer", [(_PLACES, _FILLED, _REAL, _INVERSE)], hard_dist_cutoff=3.0
    ),
    "StaticImagePeriodicPairIndexer": lambda: _made(
        _L + "pairs.periodic.StaticImagePeriodicPairIndexer",
        [(_PLACES, _FILLED, _REAL, _INVERSE, _CELL)],
        hard_dist_cutoff=1.5,
    ),
    "PeriodicPairIndexer": lambda: _made(
        _L + "pairs.periodic.PeriodicPairIndexer",
        [(_PLACES, _FILLED, _REAL, _INVERSE, _CELL)],
        hard_dist_cutoff=1.5,
    ),
    "PeriodicPairIndexerMemory": lambda: _made(
        _L + "pairs.periodic.PeriodicPairIndexerMemory",
        [(_PLACES, _FILLED, _REAL, _INVERSE, _CELL)],
        skin=0.3,
        hard_dist_cutoff=1.5,
    ),
    "Gradient": lambda: held(
        None,
        lambda _, x: _get(_L + "physics.Gradient")(1)(x.square().sum((1, 2)).unsqueeze(1), x),
        (_with_grad(2, 3, 3),),
    ),
    "StressForce": lambda: held(
        None,
        lambda _, x, s, c: _get(_L + "physics.StressForce")()((x @ s).square().sum((1, 2)).unsqueeze(1), s, x, c),
        (_with_grad(2, 3, 3), torch.eye(3).repeat(2, 1, 1).requires_grad_(True), _CELL.clone()),
    ),
    "Dipole": lambda: _made(_L + "physics.Dipole", [(_t(5, 1), _t(5, 3), _OF_MOLECULES, 2)]),
    "Quadrupole": lambda: _made(_L + "physics.Quadrupole", [(_t(5, 1), _t(5, 3), _OF_MOLECULES, 2)]),
    "CoulombEnergy": lambda: _made(
        _L + "physics.CoulombEnergy", [(_t(5, 1), _DISTANCES, _FIRST, _SECOND, _OF_MOLECULES, 2)], 1.0
    ),
    "ScreenedCoulombEnergy": lambda: held(
        None,
        lambda _, *x: _get(_L + "physics.ScreenedCoulombEnergy")(
            1.0, _get(_L + "physics.LocalDampingCosine")(0.2), 3.0
        )(*x),
        (_t(5, 1), _DISTANCES, _FIRST, _SECOND, _OF_MOLECULES, torch.tensor(2)),
    ),
    "QScreening": lambda: _made(_L + "physics.QScreening", [(_DISTANCES, torch.tensor(3.0))], 4),
    "PerAtom": lambda: _made(_L + "physics.PerAtom", [(_t(2, 1), _SPECIES)]),
    "CombineEnergy": lambda: _made(_L + "physics.CombineEnergy", [(_t(5, 1), _t(5, 1), _OF_MOLECULES, 2)]),
    "LPReg": lambda: held(
        nn.Linear(4, 3), lambda m, x: m(x).sum() + sum(p.norm(2) for p in m.parameters()), (_t(2, 4),)
    ),
    "HEnergy": lambda: _made(_L + "targets.HEnergy", [([_t(5, 3), _t(5, 4)], _OF_MOLECULES, 2)], (3, 4)),
    "HCharge": lambda: _made(_L + "targets.HCharge", [([_t(5, 3), _t(5, 4)],)], (3, 4)),
    "HBondSymmetric": lambda: _made(
        _L + "targets.HBondSymmetric",
        [([_t(5, 3), _t(5, 4)], _FIRST, _SECOND, _DISTANCES)],
        (3, 4),
        5,
        0.7,
        2.0,
        3.0,
        symmetric=True,
        positive=True,
    ),
    "LocalEnergy": lambda: _made(
        _L + "excited.LocalEnergy", [([_t(5, 3), _t(5, 4)], _OF_MOLECULES, _ATOMS, 2, 3)], (3, 4)
    ),
    "NACR": lambda: held(
        None,
        lambda _, x: _get(_L + "excited.NACR")()(
            x * 2, x.square(), x, x.sum((1, 2)).unsqueeze(1), x.square().sum((1, 2)).unsqueeze(1)
        ),
        (_with_grad(2, 3, 3),),
    ),
    "ResNetWrapper": lambda: _made(_L + "transform.ResNetWrapper", [(_t(5, 4),)], nn.Linear(4, 6), 4, 6, 5),
    "compute_hipnn_e0": lambda: held(
        None,
        lambda _, z, e: _get("hippynn.networks.hipnn.compute_hipnn_e0")(
            _get(_L + "indexers.OneHotSpecies")(torch.tensor([0, 1, 6, 8])), z, e
        ),
        (_SPECIES, _t(2, 1)),
    ),
}


def _with_grad(*shape: int) -> torch.Tensor:
    return _t(*shape).requires_grad_(True)


_C = "torch_cfd."


def _grid(n: int = 8) -> Any:
    return _get(_C + "grids.Grid")((n, n), domain=((0, 2 * torch.pi), (0, 2 * torch.pi)))


def _bc() -> Any:
    return _get(_C + "boundaries.periodic_boundary_conditions")(2)


def _field(x: torch.Tensor, offset: tuple[float, float] = (0.5, 0.5), bc: Any = None) -> Any:
    return _get(_C + "grids.GridVariable")(x, offset, _GRIDS["grid"], bc or _GRIDS["bc"])


def _velocity(x: torch.Tensor, y: torch.Tensor) -> Any:
    vector = _get(_C + "grids.GridVariableVector")
    return vector((_field(x, (1.0, 0.5)), _field(y, (0.5, 1.0))))


_GRIDS: dict[str, Any] = {}


def _cfd(use: Callable[..., Any], *inputs: torch.Tensor, walls: bool = False) -> Callable[[], Built]:
    """A use of grids and fields, which are made once."""

    def build() -> Built:
        _GRIDS["grid"] = _grid()
        _GRIDS["bc"] = _get(_C + "boundaries.dirichlet_boundary_conditions")(2) if walls else _bc()
        for name in ("grids.GridVariable", "grids.GridVariableVector"):
            _get(_C + name)
        return held(None, lambda _, *x: use(*x), inputs)

    return build


def _layer(path: str, *given: Any, **options: Any) -> Any:
    return _get(_C + path)(_GRIDS["grid"], *given, **options)


_X, _Y = _t(8, 8), _t(8, 8)
_D = "finite_differences."
_CFD: dict[str, Callable[[], Built]] = {
    "forward_difference": _cfd(lambda x: _get(_C + _D + "forward_difference")(_field(x), 0).data, _X),
    "backward_difference": _cfd(lambda x: _get(_C + _D + "backward_difference")(_field(x), 1).data, _X),
    "central_difference": _cfd(lambda x: _get(_C + _D + "central_difference")(_field(x))[0].data, _X),
    "laplacian": _cfd(lambda x: _get(_C + _D + "laplacian")(_field(x)).data, _X),
    "laplacian walls": _cfd(lambda x: _get(_C + _D + "laplacian")(_field(x)).data, _X, walls=True),
    "divergence": _cfd(lambda x, y: _get(_C + _D + "divergence")(_velocity(x, y)).data, _X, _Y),
    "curl_2d": _cfd(lambda x, y: _get(_C + _D + "curl_2d")(_velocity(x, y)).data, _X, _Y),
    "linear": _cfd(lambda x: _get(_C + _D + "linear")(_field(x), (1.0, 0.5)).data, _X),
    "laplacian_matrix": lambda: _using(_C + _D + "laplacian_matrix", lambda f, x: f(8, 0.5) @ x, (_X,)),
    "set_laplacian_matrix": _cfd(
        lambda x: _get(_C + _D + "set_laplacian_matrix")(_GRIDS["grid"], _GRIDS["bc"])[0] @ x, _X
    ),
    "safe_div": lambda: _call(_C + "advection.safe_div", (_t(5), _t(5).round())),
    "van_leer_limiter": lambda: _call(_C + "advection.van_leer_limiter", (_t(5),)),
    "Upwind": _cfd(lambda x, y: _layer("advection.Upwind", (1.0, 0.5))(_field(x), _velocity(x, y), 0.1).data, _X, _Y),
    "LaxWendroff": _cfd(
        lambda x, y: _layer("advection.LaxWendroff", (1.0, 0.5))(_field(x), _velocity(x, y), 0.1).data, _X, _Y
    ),
    "LinearInterpolation": _cfd(lambda x: _layer("advection.LinearInterpolation", (1.0, 0.5))(_field(x)).data, _X),
    "TVDInterpolation": _cfd(
        lambda x, y: _layer("advection.TVDInterpolation", (1.0, 0.5))(_field(x), _velocity(x, y), 0.1).data, _X, _Y
    ),
    "AdvectionLinear": _cfd(
        lambda x, y: _layer("advection.AdvectionLinear")(_field(x), _velocity(x, y), 0.1).data, _X, _Y
    ),
    "AdvectionUpwind": _cfd(
        lambda x, y: _layer("advection.AdvectionUpwind")(_field(x), _velocity(x, y), 0.1).data, _X, _Y
    ),
    "AdvectionVanLeer": _cfd(
        lambda x, y: _layer("advection.AdvectionVanLeer")(_field(x), _velocity(x, y), 0.1).data, _X, _Y
    ),
    "ConvectionVector": _cfd(
        lambda x, y: _layer("advection.ConvectionVector")(_velocity(x, y), _velocity(y, x), 0.1)[0].data, _X, _Y
    ),
    "GridVariable algebra": _cfd(lambda x, y: (_field(x) * 2 + _field(y) / 3 - 1).norm(), _X, _Y),
    "GridVariable shift": _cfd(lambda x: _field(x).shift(1, 0).data, _X),
    "GridVariable bc": _cfd(lambda x: _field(x).impose_bc().data, _X, walls=True),
    "pad": _cfd(lambda x: _get(_C + "grids.pad")(_field(x), (1, 1), 0).data, _X),
    "expand_dims_pad": lambda: _call(_C + "grids.expand_dims_pad", (_t(2, 5, 5), ((1, 1), (0, 2)))),
    "Grid mesh": _cfd(lambda x: _GRIDS["grid"].mesh()[0] * x, _X),
    "Grid eval_on_mesh": _cfd(lambda x: _GRIDS["grid"].eval_on_mesh(lambda a, b: a.sin() * b.cos()).data * x, _X),
    "averaged_offset": lambda: _using(
        _C + "grids.averaged_offset", lambda f, x: x * f((0.5, 1.0), (1.0, 0.5))[0], (_X,)
    ),
    "split_along_axis": lambda: _call(_C + "tensor_utils.split_along_axis", (_t(2, 6), 2, 1)),
    "split_axis": lambda: _call(_C + "tensor_utils.split_axis", (_t(2, 6), 0)),
    "KolmogorovForcing": _cfd(
        lambda x, y: _get(_C + "forcings.KolmogorovForcing")(grid=_GRIDS["grid"])(_GRIDS["grid"], _velocity(x, y)),
        _X,
        _Y,
    ),
    "SinCosForcing": _cfd(
        lambda x: _get(_C + "forcings.SinCosForcing")(grid=_GRIDS["grid"])(_GRIDS["grid"], vorticity=x), _X
    ),
    "PressureProjection": _cfd(
        lambda x, y: _get(_C + "fvm.PressureProjection")(_GRIDS["grid"], _GRIDS["bc"])(_velocity(x, y)), _X, _Y
    ),
    "NavierStokes2DFVMProjection": _cfd(
        lambda x, y: _get(_C + "fvm.NavierStokes2DFVMProjection")(0.01, _GRIDS["grid"])(_velocity(x, y), 0.01), _X, _Y
    ),
    "RKStepper": _cfd(
        lambda x, y: _get(_C + "fvm.RKStepper")(method="classic_rk4")(
            _velocity(x, y), 0.01, _get(_C + "fvm.NavierStokes2DFVMProjection")(0.01, _GRIDS["grid"])
        ),
        _X,
        _Y,
    ),
    "PseudoInverseFFT": _cfd(
        lambda x: _get(_C + "solvers.PseudoInverseFFT")(_GRIDS["grid"], _GRIDS["bc"]).solve(x, torch.zeros_like(x)), _X
    ),
    "PseudoInverseMatmul": _cfd(
        lambda x: _get(_C + "solvers.PseudoInverseMatmul")(_GRIDS["grid"], _GRIDS["bc"]).solve(x, torch.zeros_like(x)),
        _X,
    ),
    "Jacobi": _cfd(
        lambda x: _get(_C + "solvers.Jacobi")(_GRIDS["grid"], _GRIDS["bc"], torch.float32, max_iter=20).solve(x),
        _X,
        walls=True,
    ),
    "GaussSeidel": _cfd(
        lambda x: _get(_C + "solvers.GaussSeidel")(_GRIDS["grid"], _GRIDS["bc"], torch.float32, max_iter=20).solve(x),
        _X,
        walls=True,
    ),
    "ConjugateGradient": _cfd(
        lambda x: _get(_C + "solvers.ConjugateGradient")(
            _GRIDS["grid"], _GRIDS["bc"], torch.float32, max_iter=20
        ).solve(x),
        _X,
        walls=True,
    ),
    "NavierStokes2DSpectral": lambda: held(
        _get(_C + "spectral.NavierStokes2DSpectral")(0.01, _grid()),
        lambda m, w: m.step_fn(torch.fft.rfft2(w), 0.01, m),
        (_X,),
    ),
    "NavierStokes2DSpectral forward": lambda: (
        _get(_C + "spectral.NavierStokes2DSpectral")(0.01, _grid()),
        [(torch.fft.rfft2(_X), 0.01, 2)],
    ),
    "RK4CrankNicolsonStepper": lambda: held(
        _get(_C + "spectral.NavierStokes2DSpectral")(
            0.01, _grid(), step_fn=_get(_C + "spectral.RK4CrankNicolsonStepper")()
        ),
        lambda m, w: m.step_fn(torch.fft.rfft2(w), 0.01, m),
        (_X,),
    ),
    "vorticity_to_velocity": _cfd(
        lambda x: _get(_C + "spectral.vorticity_to_velocity")(_GRIDS["grid"], torch.fft.rfft2(x)), _X
    ),
    "stable_time_step": lambda: _using(_C + "spectral.stable_time_step", lambda f, x: x * f(0.1, 0.1, 2.0), (_X,)),
    "filtered_vorticity_field": _cfd(
        lambda x: _get(_C + "initial_conditions.filtered_vorticity_field")(_GRIDS["grid"]).data * x, _X
    ),
    "project_and_normalize": _cfd(
        lambda x, y: _get(_C + "initial_conditions.project_and_normalize")(
            _velocity(x, y), projection=_get(_C + "fvm.PressureProjection")(_GRIDS["grid"], _GRIDS["bc"])
        ),
        _X,
        _Y,
    ),
}

_S = "speechtokenizer."
_WAVE = _t(1, 1, 640)
_CONFIG = {
    "n_filters": 4,
    "dimension": 16,
    "strides": [4, 2],
    "lstm_layers": 1,
    "bidirectional": True,
    "dilation_base": 2,
    "residual_kernel_size": 3,
    "n_residual_layers": 1,
    "activation": "ELU",
    "sample_rate": 16000,
    "n_q": 2,
    "semantic_dimension": 12,
    "codebook_size": 8,
}
_SPEECH: dict[str, Callable[[], Built]] = {
    "SpeechTokenizer": lambda: _made(_S + "model.SpeechTokenizer", [(_WAVE,)], _CONFIG),
    "SpeechTokenizer encode": lambda: _method(_S + "model.SpeechTokenizer", "encode", [(_WAVE,)], _CONFIG),
    "SpeechTokenizer decode": lambda: _method(_S + "model.SpeechTokenizer", "decode", [(_i(8, 2, 1, 5),)], _CONFIG),
    "SpeechTokenizer forward_feature": lambda: _method(
        _S + "model.SpeechTokenizer", "forward_feature", [(_WAVE,), (_WAVE, [0])], _CONFIG
    ),
    "DiscriminatorP": lambda: _made(_S + "discriminators.DiscriminatorP", [(_WAVE,)], 3),
    "DiscriminatorS": lambda: _made(_S + "discriminators.DiscriminatorS", [(_WAVE,)]),
    "SConv1d": lambda: _made(_S + "modules.conv.SConv1d", [(_t(1, 4, 30),)], 4, 8, 3, 2, causal=True),
    "SConv1d reflect": lambda: _made(_S + "modules.conv.SConv1d", [(_t(1, 4, 30),)], 4, 8, 7, 2, norm="weight_norm"),
    "SConvTranspose1d": lambda: _made(_S + "modules.conv.SConvTranspose1d", [(_t(1, 4, 30),)], 4, 8, 4, 2),
    "NormConv2d": lambda: _made(_S + "modules.conv.NormConv2d", [(_t(1, 4, 8, 8),)], 4, 8, 3, norm="time_group_norm"),
    "SLSTM": lambda: _made(_S + "modules.lstm.SLSTM", [(_t(1, 4, 30),)], 4),
    "SLSTM both": lambda: _made(_S + "modules.lstm.SLSTM", [(_t(1, 4, 30),)], 4, bidirectional=True),
    "ConvLayerNorm": lambda: _made(_S + "modules.norm.ConvLayerNorm", [(_t(1, 4, 30),)], 4),
    "SEANetResnetBlock": lambda: _made(_S + "modules.seanet.SEANetResnetBlock", [(_t(1, 4, 30),)], 4),
    "SEANetEncoder": lambda: _made(
        _S + "modules.seanet.SEANetEncoder", [(_WAVE,)], 1, 16, 4, ratios=[4, 2], activation="Snake", lstm=1
    ),
    "EuclideanCodebook": lambda: _made(
        _S + "quantization.core_vq.EuclideanCodebook", [(_t(2, 30, 4),)], 4, 8, kmeans_init=True, kmeans_iters=2
    ),
    "VectorQuantization": lambda: _made(
        _S + "quantization.core_vq.VectorQuantization", [(_t(2, 4, 30),)], 4, 8, codebook_dim=3, kmeans_iters=2
    ),
    "ResidualVectorQuantizer": lambda: _made(
        _S + "quantization.vq.ResidualVectorQuantizer", [(_t(2, 4, 30),), (_t(2, 4, 30), 1, [0])], 4, 2, 8
    ),
    "sample_vectors": lambda: _call(_S + "quantization.core_vq.sample_vectors", (_t(8, 3), 4), (_t(8, 3), 12)),
    "kmeans": lambda: _call(_S + "quantization.core_vq.kmeans", (_t(20, 3), 4, 2)),
    "adversarial_loss": lambda: _call(_S + "trainer.loss.adversarial_loss", ([_t(1, 5), _t(1, 5)],)),
    "feature_loss": lambda: _call(
        _S + "trainer.loss.feature_loss", ([[_t(1, 5)], [_t(1, 5)]], [[_t(1, 5)], [_t(1, 5)]])
    ),
    "discriminator_loss": lambda: _call(
        _S + "trainer.loss.discriminator_loss", ([_t(1, 5), _t(1, 5)], [_t(1, 5), _t(1, 5)])
    ),
    "d_axis_distill_loss": lambda: _call(_S + "trainer.loss.d_axis_distill_loss", (_t(1, 9, 5), _t(1, 8, 5))),
}

_FN = "flair.nn."
_FE = "flair.embeddings."
_TAGGER = "flair.models.sequence_tagger_utils."


def _dictionary(*items: str) -> Any:
    made = _get("flair.data.Dictionary")(add_unk=False)
    for item in items:
        made.add_item(item)
    return made


def _tags() -> Any:
    made = _dictionary("A", "B", "C")
    made.set_start_stop_tags()
    return made


def _sentences() -> list[Any]:
    sentence = _get("flair.data.Sentence")
    return [sentence("The green grass is here ."), sentence("A short one")]


def _embedded(path: str, *given: Any, **options: Any) -> Callable[[], Built]:
    """Embeddings of two sentences."""

    def build() -> Built:
        embeddings = _get(path)(*given, **options)
        return held((embeddings, _sentences), _embed)

    return build


def _embed(made: Any) -> Any:
    embeddings, sentences = made
    found = sentences()
    embeddings.embed(found)
    return found[0].embedding


def _one_hot() -> Any:
    return _get(_FE + "OneHotEmbeddings")(
        _dictionary(*["The", "green", "grass", "is", "here", ".", "A", "short", "one"]), embedding_length=6
    )


def _tagger(**options: Any) -> Any:
    return _get("flair.models.SequenceTagger")(
        _one_hot(), _dictionary("O", "NOUN"), "pos", hidden_size=8, tag_format="BIO", **options
    )


def _labelled() -> list[Any]:
    sentences = _sentences()
    for sentence in sentences:
        for token in sentence:
            token.add_label("pos", "NOUN")
        sentence.add_label("topic", "A")
    return sentences


def _of_sentences(make: Callable[[], Any], use: Callable[..., Any]) -> Callable[[], Built]:
    """A use of a model and sentences, which are made once."""

    def build() -> Built:
        model, sentences = make(), _labelled()
        return (lambda: use(model, sentences)), [()]

    return build


def _classifier(**options: Any) -> Any:
    documents = _get(_FE + "DocumentPoolEmbeddings")([_one_hot()])
    return _get("flair.models.TextClassifier")(
        documents, label_type="topic", label_dictionary=_dictionary("A", "B"), **options
    )


def _language_model() -> Any:
    return _get("flair.models.LanguageModel")(_dictionary(*"abcdefgh "), True, 8, 1, 6)


_FLAIR: dict[str, Callable[[], Built]] = {
    "PrototypicalDecoder": lambda: _made(_FN + "PrototypicalDecoder", [(_t(5, 6),)], 3, 6),
    "PrototypicalDecoder radius": lambda: _made(
        _FN + "PrototypicalDecoder",
        [(_t(5, 6),)],
        3,
        6,
        4,
        "cosine",
        use_radius=True,
        unlabeled_distance=2.0,
        unlabeled_idx=0,
    ),
    "PrototypicalDecoder hyperbolic": lambda: _made(
        _FN + "PrototypicalDecoder", [(_t(5, 6),)], 3, 6, distance_function="hyperbolic"
    ),
    "DeepNCMDecoder": lambda: held(
        _get(_FN + "DeepNCMDecoder")(_dictionary("A", "B", "C"), 6), lambda m, x, y: m(x, y), (_t(5, 6), _i(3, 5))
    ),
    "DeepNCMDecoder module": lambda: (
        _get(_FN + "DeepNCMDecoder")(_dictionary("A", "B", "C"), 6, mean_update_method="condensation"),
        [(_t(5, 6), _i(3, 5))],
    ),
    "DeepNCMDecoder prototypes": lambda: held(
        _get(_FN + "DeepNCMDecoder")(_dictionary("A", "B", "C"), 6),
        lambda m, x: m.get_closest_prototypes(x, 2),
        (_t(6),),
    ),
    "LockedDropout": lambda: _made(_FN + "LockedDropout", [(_t(2, 5, 6),)]),
    "WordDropout": lambda: _made(_FN + "WordDropout", [(_t(2, 5, 6),)], 0.3),
    "CosineDistance": lambda: _made(_FN + "distance.CosineDistance", [(_t(5, 6), _t(3, 6))]),
    "LogitCosineDistance": lambda: _made(_FN + "distance.LogitCosineDistance", [(_t(5, 6), _t(3, 6))]),
    "NegativeScaledDotProduct": lambda: _made(_FN + "distance.NegativeScaledDotProduct", [(_t(5, 6), _t(3, 6))]),
    "EuclideanDistance": lambda: _made(_FN + "distance.EuclideanDistance", [(_t(5, 6), _t(3, 6))]),
    "HyperbolicDistance": lambda: _made(_FN + "distance.HyperbolicDistance", [(_t(5, 6), _t(3, 6))]),
    "HyperbolicMean": lambda: _made(_FN + "distance.HyperbolicMean", [(_t(5, 6),)]),
    "SigmoidLoss": lambda: _made(_FN + "loss.SigmoidLoss", [(_t(5, 3), _i(3, 5))]),
    "CRF": lambda: (_get(_TAGGER + "crf.CRF")(_tags(), 5, False), [(_t(2, 4, 5),)]),
    "ViterbiLoss": lambda: (
        _get(_TAGGER + "viterbi.ViterbiLoss")(_tags()),
        [((_t(2, 4, 5, 5), torch.tensor([4, 3]), _t(5, 5)), _i(3, 7))],
    ),
    "ViterbiDecoder": lambda: held(
        (_get(_TAGGER + "viterbi.ViterbiDecoder")(_tags()), _sentences),
        lambda made, x, n, y: made[0].decode((x, n, y), False, made[1]()),
        (_t(2, 6, 5, 5), torch.tensor([6, 3]), _t(5, 5)),
    ),
    "OneHotEmbeddings": lambda: held((_one_hot(), _sentences), _embed),
    "WordEmbeddings stacked": lambda: held(
        (_get(_FE + "StackedEmbeddings")([_one_hot(), _one_hot()]), _sentences), _embed
    ),
    "HashEmbeddings": _embedded(_FE + "HashEmbeddings", 10, 6),
    "DocumentPoolEmbeddings": lambda: held(
        (_get(_FE + "DocumentPoolEmbeddings")([_one_hot()], fine_tune_mode="linear"), _sentences), _embed
    ),
    "DocumentRNNEmbeddings": lambda: held((_get(_FE + "DocumentRNNEmbeddings")([_one_hot()], 8), _sentences), _embed),
    "DocumentCNNEmbeddings": lambda: held(
        (_get(_FE + "DocumentCNNEmbeddings")([_one_hot()], ((4, 2), (4, 3))), _sentences), _embed
    ),
    "SequenceTagger loss": _of_sentences(_tagger, lambda m, s: m.forward_loss(s)),
    "SequenceTagger loss CRF": _of_sentences(lambda: _tagger(use_crf=True), lambda m, s: m.forward_loss(s)),
    "SequenceTagger loss softmax": _of_sentences(
        lambda: _tagger(use_crf=False, use_rnn=False), lambda m, s: m.forward_loss(s)
    ),
    "SequenceTagger predict": _of_sentences(_tagger, lambda m, s: m.predict(s)),
    "TextClassifier loss": _of_sentences(_classifier, lambda m, s: m.forward_loss(s)),
    "TextClassifier labels": _of_sentences(lambda: _classifier(multi_label=True), lambda m, s: m.forward_loss(s)),
    "TextClassifier predict": _of_sentences(_classifier, lambda m, s: m.predict(s)),
    "LanguageModel": lambda: held(
        _language_model(), lambda m, x, h: m(x, h), (_i(8, 5, 2), (torch.zeros(1, 2, 8), torch.zeros(1, 2, 8)))
    ),
    "LanguageModel representation": lambda: held(
        _language_model(), lambda m, x: m.get_representation(["abc", "ab"], "a", "b").sum() * x, (_t(1),)
    ),
    "LanguageModel perplexity": lambda: held(
        _language_model(), lambda m, x: m.calculate_perplexity("abcd") * x, (_t(1),)
    ),
}

_T = "deeptab."
_B = _T + "nn.blocks."
_INFO = (
    {
        "a": {"preprocessing": "ple", "dimension": 4, "categories": None},
        "b": {"preprocessing": "s", "dimension": 1, "categories": None},
    },
    {"c": {"preprocessing": "int", "dimension": 1, "categories": 5}},
    {},
)
_ROW = ([_t(6, 4), _t(6, 1)], [_i(5, 6, 1)], [])
_ARCHITECTURES = {
    "autoint": "AutoInt",
    "enode": "ENODE",
    "ft_transformer": "FTTransformer",
    "mambatab": "MambaTab",
    "mambattention": "MambAttention",
    "mambular": "Mambular",
    "mlp": "MLP",
    "ndtf": "NDTF",
    "node": "NODE",
    "resnet": "ResNet",
    "saint": "SAINT",
    "tabm": "TabM",
    "tabtransformer": "TabTransformer",
    "tabularnn": "TabulaRNN",
    "experimental.tangos": "Tangos",
    "experimental.trompt": "Trompt",
}
_DISTRIBUTIONS = {
    "NormalDistribution": 2,
    "PoissonDistribution": 1,
    "GammaDistribution": 2,
    "InverseGammaDistribution": 2,
    "BetaDistribution": 2,
    "DirichletDistribution": 3,
    "NegativeBinomialDistribution": 2,
    "StudentTDistribution": 3,
    "CategoricalDistribution": 3,
    "Quantile": 3,
    "TweedieDistribution": 1,
    "JohnsonSuDistribution": 4,
    "LogNormalDistribution": 2,
    "ZeroInflatedPoissonDistribution": 2,
}


def _loss(name: str, count: int) -> Callable[[], Built]:
    def build() -> Built:
        family = _get(_T + "distributions." + name)()
        y = _u(6, 3).softmax(1) if name.startswith("Dirichlet") else _u(6)
        y = _i(3, 6) if name.startswith("Categorical") else y
        y = _i(4, 6).float() if "Poisson" in name or "Binomial" in name else y
        return held(family, lambda d, p, y: d.compute_loss(p, y), (_t(6, count), y))

    return build


_DEEPTAB: dict[str, Callable[[], Built]] = {
    **{
        name: (lambda path=path, name=name: _made(f"{_T}architectures.{path}.{name}", [_ROW], _INFO))
        for path, name in _ARCHITECTURES.items()
    },
    "NDTF penalty": lambda: held(
        _get(_T + "architectures.ndtf.NDTF")(_INFO), lambda m, row: m.penalty_forward(*row), (_ROW,)
    ),
    "Tangos penalty": lambda: held(
        _get(_T + "architectures.experimental.tangos.Tangos")(_INFO), lambda m, row: m.penalty_forward(*row), (_ROW,)
    ),
    "SNLinear": lambda: _made(_B + "common.SNLinear", [(_t(6, 3, 4),)], 3, 4, 5),
    "sparsemax": lambda: _call(_B + "common.sparsemax", (_t(6, 4),)),
    "sparsemoid": lambda: _call(_B + "common.sparsemoid", (_t(6, 4),)),
    "BlockDiagonal": lambda: _made(_B + "common.BlockDiagonal", [(_t(6, 8),)], 8, 8, 2),
    "BatchNorm": lambda: _made(_B + "common.BatchNorm", [(_t(6, 4),)], 4),
    "InstanceNorm": lambda: _made(_B + "common.InstanceNorm", [(_t(2, 4, 5, 5),)], 4),
    "GroupNorm": lambda: _made(_B + "common.GroupNorm", [(_t(2, 4, 5, 5),)], 2, 4),
    "LearnableFourierMask": lambda: _made(_B + "common.LearnableFourierMask", [(_t(2, 5, 4),)], 5),
    "LearnableFourierFeatures": lambda: _made(_B + "common.LearnableFourierFeatures", [(_t(2, 5, 4),)], 5, 4),
    "PeriodicEmbeddings": lambda: _made(_B + "common.PeriodicEmbeddings", [(_t(6, 3),)], 3, 4),
    "PeriodicEmbeddings lite": lambda: _made(_B + "common.PeriodicEmbeddings", [(_t(6, 3),)], 3, 4, lite=True),
    "NeuralEmbeddingTree": lambda: _made(_B + "common.NeuralEmbeddingTree", [(_t(6, 3),)], 3, 8),
    "NeuralEmbeddingTree warm": lambda: _made(_B + "common.NeuralEmbeddingTree", [(_t(6, 3),)], 3, 8, 0.5),
    "PeriodicLinearEncodingLayer": lambda: _made(_B + "common.PeriodicLinearEncodingLayer", [(_u(6, 1),)], 5),
    "OneHotEncoding": lambda: _made(_B + "common.OneHotEncoding", [(_i(5, 6),)], 5),
    "LinearBatchEnsembleLayer": lambda: _made(
        _B + "common.LinearBatchEnsembleLayer", [(_t(6, 4),), (_t(6, 3, 4),)], 4, 5, 3, ensemble_bias=True
    ),
    "RNNBatchEnsembleLayer": lambda: _made(_B + "common.RNNBatchEnsembleLayer", [(_t(2, 5, 4),)], 4, 6, 3),
    "MultiHeadAttentionBatchEnsemble": lambda: _made(
        _B + "common.MultiHeadAttentionBatchEnsemble",
        [(_t(2, 5, 3, 8), _t(2, 5, 3, 8), _t(2, 5, 3, 8))],
        8,
        2,
        3,
        batch_ensemble_projections=["query"],
    ),
    "mLSTMblock": lambda: _made(_B + "common.mLSTMblock", [(_t(2, 5, 4),)], 4, 8, 1),
    "sLSTMblock": lambda: _made(_B + "common.sLSTMblock", [(_t(2, 5, 4),)], 4, 8, 1),
    "MambaBlock": lambda: _made(
        _B + "mamba.MambaBlock", [(_t(2, 5, 8),)], 8, dt_rank=2, d_conv=3, d_state=4, bidirectional=True
    ),
    "NeuralDecisionTree": lambda: _made(_B + "node.NeuralDecisionTree", [(_t(6, 4),), (_t(6, 4), True)], 4, 3),
    "ODST": lambda: _made(_B + "node.ODST", [(_t(6, 4),)], 4, 5, 3),
    "DenseBlock": lambda: _made(
        _B + "node.DenseBlock", [(_t(6, 4),)], 4, 5, 2, max_features=6, input_dropout=0.1, depth=2
    ),
    "ENODEDenseBlock": lambda: _made(_B + "node.ENODEDenseBlock", [(_t(6, 4, 3),)], 4, 3, 5, 2, depth=2),
    "Transformer": lambda: _made(
        _B + "transformer.Transformer", [(_t(2, 5, 8),), (_t(2, 5, 8), True)], 8, 1, 2, 4, 0.1, 0.1
    ),
    "Reshape": lambda: _made(_B + "transformer.Reshape", [(_t(6, 4),)], 3, 4),
    "Linear_skip_block": lambda: _made(_B + "mlp.Linear_skip_block", [(_t(6, 4),)], 4, 4, 0.1, nn.LeakyReLU()),
    "Expander": lambda: _made(_B + "trompt.Expander", [(_t(6, 3, 4),)], 6),
    **{f"{name} loss": _loss(name, count) for name, count in _DISTRIBUTIONS.items()},
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("hippynn", _HIPPYNN),
    **_named("torch_cfd", _CFD),
    **_named("speechtokenizer", _SPEECH),
    **_named("flair", _FLAIR),
    **_named("deeptab", _DEEPTAB),
}

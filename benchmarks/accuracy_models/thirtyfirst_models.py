"""Models of easyfsl, mlcolvar, solo-learn, torchbnn and tensorkrowch.

They were chosen, and written, before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import Later, now, on, random_inputs
from accuracy_models.stand_ins import getter, without_packages, without_torchvision_extension

_t, _u, _i = random_inputs(131)
_ABSENT = {
    "easyfsl": ("pandas", "matplotlib", "seaborn", "loguru"),
    "mlcolvar": ("lightning", "matplotlib", "pandas", "KDEpy", "sklearn"),
    "solo": (
        "pytorch_lightning",
        "lightning",
        "torchvision",
        "omegaconf",
        "wandb",
        "timm",
        "sklearn",
        "matplotlib",
        "pandas",
        "seaborn",
        "umap",
        "h5py",
        "hydra",
        "nvidia",
    ),
}


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_torchvision_extension()
    without_packages("httpx2", "httpcore2", *_ABSENT.get(package, ()))


_get = getter({}, ("mlcolvar", "mlcolvar.core", "solo", "solo.utils"), _prepare)
_later = Later(_get)
_of, _lazy, _fun, _on = _later.of, _later.lazy, _later.fun, on

_FM = "easyfsl.methods."
_SUPPORT, _LABELS, _QUERY = _t(6, 3, 8, 8), torch.tensor([0, 0, 1, 1, 2, 2]), _t(5, 3, 8, 8)


def _backbone(flat: bool = True) -> nn.Module:
    if not flat:
        return nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ReLU())
    return nn.Sequential(nn.Flatten(), nn.Linear(192, 16))


def _few(name: str, flat: bool = True, **options: Any) -> Callable[[], Built]:
    """A classifier that has seen its support set."""

    def build() -> Built:
        model = _get(_FM + name)(_backbone(flat), **{n: now(g) for n, g in options.items()})
        model.process_support_set(_SUPPORT, _LABELS)
        return model, [(_QUERY,)]

    return build


def _episode(name: str, flat: bool = True, **options: Any) -> Callable[[], Built]:
    """A classifier that sees its support set and the queries in compiled code."""

    def build() -> Built:
        model = _get(_FM + name)(_backbone(flat), **{n: now(g) for n, g in options.items()})

        def run(support: Any, labels: Any, query: Any) -> Any:
            model.process_support_set(support, labels)
            return model(query)

        return run, [(_SUPPORT, _LABELS, _QUERY)]

    return build


_ATTENTION = _of("easyfsl.modules.MultiHeadAttention", 1, 16, 16, 16)
_EASYFSL: dict[str, Callable[[], Built]] = {
    "PrototypicalNetworks": _few("PrototypicalNetworks"),
    "PrototypicalNetworks softmax": _episode("PrototypicalNetworks", use_softmax=True, feature_normalization=2.0),
    "SimpleShot": _episode("SimpleShot", feature_centering=torch.zeros(16)),
    "SimpleShot after": _few("SimpleShot"),
    "BDCSPN": _few("BDCSPN"),
    "BDCSPN episode": _episode("BDCSPN"),
    "LaplacianShot": _few("LaplacianShot"),
    "LaplacianShot episode": _episode("LaplacianShot", inference_steps=3, knn=2),
    "PTMAP": _few("PTMAP", fine_tuning_steps=2),
    "PTMAP episode": _episode("PTMAP", fine_tuning_steps=2),
    "MatchingNetworks": _few("MatchingNetworks", feature_dimension=16),
    "MatchingNetworks episode": _episode("MatchingNetworks", feature_dimension=16, use_softmax=True),
    "RelationNetworks": _few("RelationNetworks", False, feature_dimension=8),
    "RelationNetworks episode": _episode("RelationNetworks", False, feature_dimension=8),
    "FEAT": _episode("FEAT", attention_module=_ATTENTION),
    "Finetune": _few("Finetune", fine_tuning_steps=2),
    "TransductiveFinetuning": _few("TransductiveFinetuning", fine_tuning_steps=2),
    "TIM": _few("TIM", fine_tuning_steps=2),
    "compute_prototypes": _fun(_FM + "utils.compute_prototypes", _t(6, 4), _LABELS),
    "entropy": _fun(_FM + "utils.entropy", _t(6, 4)),
    "k_nearest_neighbours": _fun(_FM + "utils.k_nearest_neighbours", _t(6, 4), 2),
    "power_transform": _fun(_FM + "utils.power_transform", _u(6, 4), 0.5),
    "MultiHeadAttention": _lazy(
        "easyfsl.modules.MultiHeadAttention", *(_t(1, 3, 16), _t(1, 3, 16), _t(1, 3, 16)), given=(2, 16, 8, 8)
    ),
    "FEATResNet12": _lazy("easyfsl.modules.feat_resnet12.FEATResNet12", _t(1, 3, 84, 84)),
    "resnet10": _on(
        partial(lambda: _get("easyfsl.modules.resnet10")(num_classes=3, use_fc=True)),
        *(lambda m, x: m(x), _t(2, 3, 32, 32)),
    ),
    "evaluate_on_one_task": lambda: (
        partial(_get("easyfsl.utils.evaluate_on_one_task"), _get(_FM + "PrototypicalNetworks")(_backbone())),
        [(_SUPPORT, _LABELS, _QUERY, torch.tensor([0, 1, 2, 0, 1]))],
    ),
}

_ML, _MD = "mlcolvar.core.loss.", "mlcolvar.core.transform.descriptors."
_MT, _MS = "mlcolvar.core.transform.tools.", "mlcolvar.core.stats."
_POS = _u(4, 12)
_SWITCH = _of(_MT + "switching_functions.SwitchingFunctions", 16, "Fermi", 0.5)
_STATES = torch.tensor([0.0, 1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0])
_CELL: dict[str, Any] = {"PBC": True, "cell": 1.0}
_MLCOLVAR: dict[str, Callable[[], Built]] = {
    "autocorrelation": _fun(_ML + "autocorrelation.autocorrelation_loss", _t(8, 2), _t(8, 2)),
    "AutocorrelationLoss": _lazy(
        _ML + "autocorrelation.AutocorrelationLoss", _t(8, 2), _t(8, 2), _u(8), _u(8), reduce_mode="sum"
    ),
    "ReduceEigenvalues": _lazy(_ML + "eigvals.ReduceEigenvaluesLoss", _u(3), mode="sum2"),
    "ReduceEigenvalues single": _lazy(_ML + "eigvals.ReduceEigenvaluesLoss", _u(3), mode="single", n_eig=1),
    "ReduceEigenvalues its": _lazy(_ML + "eigvals.ReduceEigenvaluesLoss", _u(3), mode="its", n_eig=2),
    "ELBO": _fun(_ML + "elbo.elbo_gaussians_loss", _t(4, 3), _t(4, 3), _t(4, 2), _t(4, 2)),
    "ELBO weights": _lazy(_ML + "elbo.ELBOGaussiansLoss", *(_t(4, 3), _t(4, 3), _t(4, 2), _t(4, 2), 1.0, True, _u(4))),
    "Fisher": _lazy(_ML + "fisher.FisherDiscriminantLoss", _t(8, 2), _STATES, n_states=2),
    "Fisher harmonic": _lazy(
        _ML + "fisher.FisherDiscriminantLoss",
        *(_t(8, 2), _STATES),
        n_states=2,
        lda_mode="harmonic",
        lorentzian_reg=40.0,
    ),
    "MSE weights": _lazy(_ML + "mse.MSELoss", _t(4, 2), _t(4, 2), _u(4)),
    "TDA": _lazy(
        *(_ML + "tda_loss.TDALoss", _t(8, 1), _STATES),
        n_states=2,
        target_centers=[-7.0, 7.0],
        target_sigmas=[0.2, 0.2],
    ),
    "TDA terms": _fun(
        *(_ML + "tda_loss.tda_loss", _t(8, 2), _STATES, 2, torch.tensor([[-7.0, 1.0], [7.0, 1.0]])),
        *(torch.ones(2, 2), 1.0, 100.0, True),
    ),
    "covariance": _fun(_ML + "generator_loss.compute_covariance", _t(8, 3), _u(8)),
    "committor": lambda: (
        lambda x, labels, w: _get(_ML + "committor_loss.committor_loss")(
            x=x,
            z=x.sum(-1, keepdim=True),
            q=torch.sigmoid(x.sum(-1, keepdim=True)),
            labels=labels,
            w=w,
            atomic_masses=torch.ones(2),
            alpha=1.0,
        ),
        [(_t(8, 6).requires_grad_(), torch.tensor([0.0, 0, 1, 1, 2, 2, 2, 2]), _u(8))],
    ),
    "LDA": _lazy(_MS + "lda.LDA", _t(8, 3), in_features=3, n_states=2),
    "LDA compute": _on(_of(_MS + "lda.LDA", 3, 2), lambda m, x, y: m.compute(x, y), _t(8, 3), _STATES),
    "LDA harmonic": _on(_of(_MS + "lda.LDA", 3, 2, "harmonic"), lambda m, x, y: m.compute(x, y), _t(8, 3), _STATES),
    "PCA compute": _on(_of(_MS + "pca.PCA", 3, 2), lambda m, x: m.compute(x), _t(8, 3)),
    "PCA": _lazy(_MS + "pca.PCA", _t(8, 3), in_features=3),
    "TICA compute": _on(_of(_MS + "tica.TICA", 3), lambda m, x, y: m.compute([x, y]), _t(8, 3), _t(8, 3)),
    "TICA weights": _on(
        *(_of(_MS + "tica.TICA", 3), lambda m, x, y, w: m.compute([x, y], [w, w], save_params=True)),
        *(_t(8, 3), _t(8, 3), _u(8)),
    ),
    "cholesky_eigh": _fun(_MS + "utils.cholesky_eigh", torch.eye(3) * 2, torch.eye(3)),
    "correlation_matrix": _fun(_MS + "utils.correlation_matrix", _t(8, 3), _t(8, 3), _u(8)),
    "compute_average": _fun(_MS + "utils.compute_average", _t(8, 3), _u(8)),
    "distances_matrix": _fun(_MD + "utils.compute_distances_matrix", _POS, 4, True, 1.0),
    "distances_matrix vector": _fun(_MD + "utils.compute_distances_matrix", _POS, 4, False, [1.0, 2.0, 1.0], True),
    "distances_pairs": _fun(_MD + "utils.compute_distances_pairs", _POS, 4, True, 1.0, np.array([[0, 1], [2, 3]])),
    "adjacency": _fun(_MD + "utils.compute_adjacency_matrix", _POS, "discontinuous", 0.5, 4, True, 1.0),
    "apply_cutoff": _fun(_MD + "utils.apply_cutoff", _u(2, 4, 4), 0.5, "discontinuous"),
    "PairwiseDistances": _lazy(_MD + "pairwise_distances.PairwiseDistances", _POS, n_atoms=4, **_CELL),
    "PairwiseDistances pairs": _lazy(
        _MD + "pairwise_distances.PairwiseDistances", _POS, n_atoms=4, slicing_pairs=np.array([[0, 1], [1, 3]]), **_CELL
    ),
    "TorsionalAngle": _lazy(
        *(_MD + "torsional_angle.TorsionalAngle", _POS), indices=[0, 1, 2, 3], n_atoms=4, mode=["angle", "sin"], **_CELL
    ),
    "CoordinationNumbers": _lazy(
        *(_MD + "coordination_numbers.CoordinationNumbers", _POS),
        group_A=[0, 1],
        group_B=[2, 3],
        cutoff=0.5,
        n_atoms=4,
        mode="continuous",
        switching_function=_SWITCH,
        **_CELL,
    ),
    "EigsAdjMat": _lazy(
        _MD + "eigs_adjacency_matrix.EigsAdjMat",
        _POS,
        mode="continuous",
        cutoff=0.5,
        n_atoms=4,
        switching_function=_SWITCH,
        **_CELL,
    ),
    "MultipleDescriptors": _lazy(
        *(_MD + "multiple_descriptors.MultipleDescriptors", _POS),
        descriptors_list=partial(
            lambda: [_get(_MD + "pairwise_distances.PairwiseDistances")(n_atoms=4, **_CELL) for _ in range(2)]
        ),
        n_atoms=4,
    ),
    "ContinuousHistogram": _lazy(
        _MT + "continuous_hist.ContinuousHistogram", _u(4, 6), in_features=6, min=0.0, max=1.0, bins=5
    ),
    "easy_KDE": _fun(_MT + "utils.easy_KDE", _u(4, 6), 6, [0.0, 1.0], 5),
    "easy_KDE bins": _fun(_MT + "utils.easy_KDE", *(_u(4, 6), 6, [0.0, 1.0], 5, 1.0, True, True)),
    "Fermi": _lazy(
        _MT + "switching_functions.SwitchingFunctions", _u(4, 6), in_features=6, name="Fermi", cutoff=0.5, dmax=0.9
    ),
    "Rational": _lazy(
        *(_MT + "switching_functions.SwitchingFunctions", _u(4, 6)),
        in_features=6,
        name="Rational",
        cutoff=0.5,
        options={"n": 6, "m": 12},
    ),
    "Normalization": _lazy(
        _MT + "normalization.Normalization", _t(4, 3), in_features=3, mean=torch.ones(3), range=torch.ones(3)
    ),
    "Normalization inverse": _on(
        _of(_MT + "normalization.Normalization", 3, torch.ones(3), torch.tensor([1.0, 0.0, 2.0])),
        *(lambda m, x: m.inverse(x), _t(4, 3)),
    ),
    "Statistics": lambda: (
        lambda x: _get("mlcolvar.core.transform.utils.Statistics")(x).to_dict(),
        [(_t(4, 3),)],
    ),
    "Statistics update": _on(
        _of("mlcolvar.core.transform.utils.Statistics"), *(lambda m, x: (m.update(x), m.to_dict())[1], _t(4, 3))
    ),
    "Custom_Sigmoid": _lazy("mlcolvar.core.nn.utils.Custom_Sigmoid", _t(4, 3)),
}

_SL, _SU = "solo.losses.", "solo.utils."
_Z1, _Z2 = _t(8, 16), _t(8, 16)
_SOLO: dict[str, Callable[[], Built]] = {
    "barlow": _fun(_SL + "barlow.barlow_loss_func", _Z1, _Z2),
    "byol": _fun(_SL + "byol.byol_loss_func", _Z1, _Z2),
    "byol full": _fun(_SL + "byol.byol_loss_func", _Z1, _Z2, False),
    "DINO": _on(
        _of(_SL + "dino.DINOLoss", 16, 0.04, 0.07, 3, 10),
        lambda m, s, t: (setattr(m, "epoch", 1), m(s, t))[1],
        *(_t(16, 16), _t(16, 16)),
    ),
    "moco": _fun(_SL + "moco.moco_loss_func", _Z1, _Z2, _t(16, 12)),
    "nnclr": _fun(_SL + "nnclr.nnclr_loss_func", _Z1, _Z2),
    "ressl": _fun(_SL + "ressl.ressl_loss_func", _Z1, _Z2, _t(12, 16)),
    "simclr": _fun(_SL + "simclr.simclr_loss_func", _Z1, _Z2),
    "simclr manual": _fun(_SL + "simclr.manual_simclr_loss_func", _Z1, torch.eye(8), 1 - torch.eye(8)),
    "simsiam": _fun(_SL + "simsiam.simsiam_loss_func", _Z1, _Z2, False),
    "swav": _fun(_SL + "swav.swav_loss_func", [_t(8, 5), _t(8, 5)], [_u(8, 5), _u(8, 5)]),
    "vicreg": _fun(_SL + "vicreg.vicreg_loss_func", _Z1, _Z2),
    "wmse": _fun(_SL + "wmse.wmse_loss_func", _Z1, _Z2),
    "accuracy_at_k": _fun(_SU + "metrics.accuracy_at_k", _t(8, 6), _i(6, 8)),
    "filter_inf_n_nan": _fun(_SU + "misc.filter_inf_n_nan", _Z1),
    "filter_inf_n_nan list": _fun(_SU + "misc.filter_inf_n_nan", [_Z1, _Z2], True),
    "FilterInfNNan": _lazy(_SU + "misc.FilterInfNNan", _Z1, given=(nn.Linear(16, 16),)),
    "trunc_normal_": _fun(_SU + "misc.trunc_normal_", torch.zeros(4, 4)),
    "gather": _fun(_SU + "misc.gather", _Z1),
    "Whitening2d": _lazy(_SU + "whitening.Whitening2d", _t(40, 8), output_dim=8),
    "SinkhornKnopp": _lazy(_SU + "sinkhorn_knopp.SinkhornKnopp", _t(8, 5), given=(3, 0.05, 1)),
}

_BN, _PRIOR = "torchbnn.", {"prior_mu": 0.0, "prior_sigma": 0.1}


def _bayesian() -> nn.Module:
    layers = [_get(_BN + "BayesLinear")(0.0, 0.1, 4, 8), nn.ReLU(), _get(_BN + "BayesLinear")(0.0, 0.1, 8, 2)]
    return nn.Sequential(*layers)


_TORCHBNN: dict[str, Callable[[], Built]] = {
    "BayesLinear": _lazy(_BN + "BayesLinear", _t(3, 4), in_features=4, out_features=2, **_PRIOR),
    "BayesLinear bias": _lazy(_BN + "BayesLinear", _t(3, 4), in_features=4, out_features=2, bias=False, **_PRIOR),
    "BayesConv2d": _lazy(_BN + "BayesConv2d", _t(2, 3, 6, 6), in_channels=3, out_channels=4, kernel_size=3, **_PRIOR),
    "BayesConv2d circular": _lazy(
        *(_BN + "BayesConv2d", _t(2, 3, 6, 6)),
        in_channels=3,
        out_channels=4,
        kernel_size=3,
        padding=1,
        padding_mode="circular",
        **_PRIOR,
    ),
    "BayesBatchNorm2d": _lazy(_BN + "BayesBatchNorm2d", _t(2, 3, 6, 6), num_features=3, **_PRIOR),
    "BayesBatchNorm2d plain": _lazy(
        _BN + "BayesBatchNorm2d", _t(2, 3, 6, 6), num_features=3, track_running_stats=False, affine=False, **_PRIOR
    ),
    "BKLLoss": lambda: (
        (lambda loss, m: lambda x: loss(m) + m(x).sum())(_get(_BN + "BKLLoss")(), _bayesian()),
        [(_t(3, 4),)],
    ),
    "BKLLoss last": lambda: (
        (lambda loss, m: lambda x: loss(m) + m(x).sum())(_get(_BN + "BKLLoss")("sum", True), _bayesian()),
        [(_t(3, 4),)],
    ),
    "freeze": lambda: (
        (lambda m: lambda x: (_get(_BN + "utils.freeze")(m), m(x), _get(_BN + "utils.unfreeze")(m))[1])(_bayesian()),
        [(_t(3, 4),)],
    ),
    "network": lambda: (_bayesian(), [(_t(3, 4),)]),
}

_TK, _TE, _TD = "tensorkrowch.models.", "tensorkrowch.embeddings.", "tensorkrowch.decompositions."


def _contracted(name: str, *given: Any, **options: Any) -> Callable[[], Built]:
    return lambda: ((lambda m: lambda: m.contract().tensor)(_get(_TK + name)(*given, **options)), [()])


_TENSORKROWCH: dict[str, Callable[[], Built]] = {
    "unit": _fun(_TE + "unit", _u(4, 5)),
    "unit dim": _fun(_TE + "unit", _u(4, 5), dim=3, axis=1),
    "add_ones": _fun(_TE + "add_ones", _u(4, 5)),
    "poly": _fun(_TE + "poly", _u(4, 5), 3),
    "discretize": _fun(_TE + "discretize", _u(4, 5), 3),
    "basis": _fun(_TE + "basis", _i(3, 4, 5), 3),
    "fourier": _fun(_TE + "fourier", _u(4, 5), 4),
    "vec_to_mps": _fun(_TD + "vec_to_mps", _t(2, 3, 2), rank=2),
    "vec_to_mps cutoff": _fun(_TD + "vec_to_mps", _t(5, 2, 3, 2), 1, cutoff=1e-3, renormalize=True),
    "vec_to_mps share": _fun(_TD + "vec_to_mps", _t(2, 3, 2), cum_percentage=0.9),
    "mat_to_mpo": _fun(_TD + "mat_to_mpo", _t(2, 2, 3, 3), rank=2),
    "mat_to_mpo share": _fun(_TD + "mat_to_mpo", _t(2, 2, 3, 3), cum_percentage=0.99, renormalize=True),
    "MPSLayer": _lazy(_TK + "MPSLayer", _u(2, 4, 2), n_features=5, in_dim=2, out_dim=3, bond_dim=2),
    "UMPSLayer": _lazy(_TK + "UMPSLayer", _u(2, 4, 2), n_features=5, in_dim=2, out_dim=3, bond_dim=2),
    "MPS": _lazy(_TK + "MPS", _u(2, 4, 2), n_features=4, phys_dim=2, bond_dim=2),
    "MPS norm": _on(_of(_TK + "MPS", n_features=4, phys_dim=2, bond_dim=2), lambda m: m.norm()),
    "MPS entropy": _on(_of(_TK + "MPS", n_features=4, phys_dim=2, bond_dim=2), lambda m: m.entropy(2)),
    "MPS canonicalize": _on(
        _of(_TK + "MPS", n_features=4, phys_dim=2, bond_dim=2), lambda m: m.canonicalize(rank=2, renormalize=True)
    ),
    "MPO": _lazy(_TK + "MPO", _u(2, 4, 2), n_features=4, in_dim=2, out_dim=2, bond_dim=2),
    "ConvMPS": _lazy(_TK + "ConvMPS", _u(2, 2, 4, 4), in_channels=2, bond_dim=2, kernel_size=2),
    "Tree": _lazy(_TK + "Tree", _u(2, 4, 2), sites_per_layer=[2, 1], bond_dim=[[2, 2, 2], [2, 2, 2]]),
    "PEPS": _lazy(_TK + "PEPS", _u(2, 4, 2), n_rows=2, n_cols=2, in_dim=2, bond_dim=[2, 2]),
}

_PACKAGES = {
    "easyfsl": _EASYFSL,
    "mlcolvar": _MLCOLVAR,
    "solo": _SOLO,
    "torchbnn": _TORCHBNN,
    "tensorkrowch": _TENSORKROWCH,
}
MODELS = {f"{package}/{name}": build for package, models in _PACKAGES.items() for name, build in models.items()}

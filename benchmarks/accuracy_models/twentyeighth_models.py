"""Models of pygmtools, torchmil, cplxmodule, libreco, auton_survival, box_embeddings and pts.

They were chosen, and written, before `check` was run on these packages.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter, without, without_packages

_t, _u, _i = random_inputs(107)
_ABSENT = {
    "pygmtools": ("PIL", "aiohttp", "async_timeout", "easydict", "appdirs"),
    "libreco": ("gensim",),
    "auton_survival": ("lifelines", "sksurv", "torchvision", "matplotlib"),
    "pts": (
        *("pkg_resources", "lightning", "diffusers", "tensorboard", "holidays", "matplotlib", "orjson", "ujson"),
        "pydantic_settings",
    ),
}
_BARE = (
    *("libreco", "libreco.torchops", "libreco.algorithms", "libreco.layers", "libreco.algorithms.torch_modules"),
    *("auton_survival", "auton_survival.models", "auton_survival.models.dsm", "auton_survival.models.cph"),
    *("auton_survival.models.dcm", "auton_survival.models.cmhe"),
    *("pts", "pts.model", "pts.model.deepar", "pts.model.time_grad", "pts.model.n_beats", "pts.model.tft"),
    *("pts.model.lstnet", "pts.model.tempflow", "pts.model.simple_feedforward"),
)


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))
    if package == "libreco":
        without("tensorflow.compat.v1")
        sys.modules["tensorflow"].__dict__["compat"] = SimpleNamespace(
            v1=SimpleNamespace(__version__="2.0.0", disable_v2_behavior=list)
        )
    if package == "pts" and "gluonts" not in sys.modules:  # which takes the first version of pydantic
        first = importlib.import_module("pydantic.v1")
        sys.modules["pydantic"] = first
        sys.modules["pydantic.error_wrappers"] = first.error_wrappers
        sys.modules["pydantic.utils"] = first.utils
    if package == "pts":  # the name that the networks import of the package, without what its `__init__` needs
        sys.modules["pts.model"].__dict__["weighted_average"] = importlib.import_module(
            "pts.model.utils"
        ).weighted_average


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)


def _lazy(path: str, inputs: list[Any], *given: Any, **options: Any) -> Callable[[], Built]:
    """A model of a class, whose arguments that are partial functions are called first."""
    return lambda: _made(
        path,
        inputs,
        *(g() if isinstance(g, partial) else g for g in given),
        **{n: g() if isinstance(g, partial) else g for n, g in options.items()},
    )


def _of(path: str, *given: Any, **options: Any) -> Any:
    """An object that another one is made of."""
    return partial(lambda: _get(path)(*given, **options))


def _fun(path: str, *inputs: Any, **options: Any) -> Callable[[], Built]:
    """A call of a function."""
    return lambda: _call(path, inputs, **options)


def _use(path: str, use: Callable[..., Any], *inputs: Any) -> Callable[[], Built]:
    """A use of a function or class."""
    return lambda: _using(path, use, inputs)


def _on(path: str, use: Callable[..., Any], inputs: tuple[Any, ...], *given: Any, **options: Any) -> Any:
    """A use of an object that is made once."""
    return lambda: held(_get(path)(*given, **options), use, inputs)


_GM, _GB, _GA = "pygmtools.pytorch_modules.", "pygmtools.pytorch_backend.", "pygmtools.pytorch_astar_modules."
_ADJ = (_u(2, 4, 4) > 0.4).float()
_N = torch.tensor([4, 3])
_K = _u(2, 16, 16)
_X0 = _u(2, 4, 4)
_GRAPHS = (_u(3, 3, 16, 16), torch.eye(4).expand(3, 3, 4, 4).clone())
_PYGM: dict[str, Callable[[], Built]] = {
    "WeightedInnerProdAffinity": _lazy(_GM + "WeightedInnerProdAffinity", [(_t(2, 4, 6), _t(2, 5, 6))], 6),
    "Gconv": _lazy(_GM + "Gconv", [(_ADJ, _t(2, 4, 6))], 6, 8),
    "ChannelIndependentConv": _lazy(_GM + "ChannelIndependentConv", [(_ADJ, _t(2, 4, 6), _t(2, 4, 4, 3))], 6, 8, 3),
    "Siamese_Gconv": _on(
        _GM + "Siamese_Gconv", lambda m, a, x, y: m([a, x], [a, y]), (_ADJ, _t(2, 4, 6), _t(2, 4, 6)), 6, 8
    ),
    "NGMConvLayer": _on(
        _GM + "NGMConvLayer",
        lambda m, a, w, x: m(a, w, x, torch.tensor([2]), torch.tensor([2])),
        (_u(1, 4, 4), _u(1, 4, 4, 1), _t(1, 4, 1)),
        *(1, 1, 4, 4),
    ),
    "hungarian": _fun(_GB + "hungarian", _u(2, 4, 4)),
    "hungarian sizes": _fun(_GB + "hungarian", _u(2, 4, 4), _N, _N),
    "sinkhorn": _fun(_GB + "sinkhorn", _u(2, 4, 4)),
    "sinkhorn batched": _fun(_GB + "sinkhorn", _u(2, 4, 4), _N, _N, batched_operation=True),
    "sinkhorn dummy": _fun(_GB + "sinkhorn", _u(2, 3, 4), dummy_row=True, max_iter=4),
    "rrwm": _fun(_GB + "rrwm", _K, _N, _N, 4, 4, _X0, 3, 3, 0.2, 30.0),
    "sm": _fun(_GB + "sm", _K, _N, _N, 4, 4, _X0, 3),
    "ipfp": _fun(_GB + "ipfp", _K, _N, _N, 4, 4, _X0, 3),
    "cao_solver": _fun(_GB + "cao_solver", *_GRAPHS, 3, 4, 1, 0.3, 0.1, 1.0, 2),
    "cao_fast_solver": _fun(_GB + "cao_fast_solver", *_GRAPHS, 3, 4, 1, 0.3, 0.1, 1.0, 2),
    "mgm_floyd_solver": _fun(_GB + "mgm_floyd_solver", *_GRAPHS, 3, 4, 0.2),
    "mgm_floyd_fast_solver": _fun(_GB + "mgm_floyd_fast_solver", *_GRAPHS, 3, 4, 0.2),
    "PCA_GM_Net": _on(
        _GB + "PCA_GM_Net",
        lambda m, x, y, a: m(x, y, a, a, _N, _N, -1, 5, 0.1),
        (_t(2, 4, 6), _t(2, 4, 6), _ADJ),
        *(6, 8, 8, 2),
    ),
    "inner_prod_aff_fn": _fun(_GB + "inner_prod_aff_fn", _t(2, 4, 6), _t(2, 5, 6)),
    "gaussian_aff_fn": _fun(_GB + "gaussian_aff_fn", _t(2, 4, 6), _t(2, 5, 6), 1.0),
    "build_batch": _use(_GB + "build_batch", lambda f, x, y: f([x, y], return_ori_dim=True), _t(3, 4), _t(5, 2)),
    "dense_to_sparse": _fun(_GB + "dense_to_sparse", _ADJ),
    "compute_affinity_score": _fun(_GB + "compute_affinity_score", _X0, _K),
    "permutation_loss": _fun(_GB + "permutation_loss", _u(2, 4, 4), _X0.round(), _N, _N),
    "generate_isomorphic_graphs": _fun(_GB + "generate_isomorphic_graphs", 5, 2, 3),
    "gamgm_real": _use(
        _GB + "gamgm",
        lambda f, a, w: f(
            *(a, w, torch.tensor([3, 3]), 3, torch.ones(6, 3) / 3, 0.5, 0.3, 0.8, 3, 3, 1.0, 1e-5, -1, 0.0, False)
        ),
        _u(2, 3, 3),
        _u(2, 2, 3, 3),
    ),
    "hungarian_ged": _fun(_GA + "hungarian_ged", _u(4, 5), 3, 4),
    "node_metric": _fun(_GA + "node_metric", _t(2, 4, 6), _t(2, 5, 6)),
    "scatter_mean": _fun(_GA + "scatter_mean", _t(6, 3), torch.tensor([0, 0, 1, 1, 2, 2]), 0),
    "to_dense_batch": _fun(_GA + "to_dense_batch", _t(6, 3), torch.tensor([0, 0, 0, 1, 1, 2])),
    "to_dense_adj": _fun(_GA + "to_dense_adj", torch.tensor([[0, 1, 2, 0], [1, 2, 0, 2]])),
    "AttentionModule": _lazy(_GA + "AttentionModule", [(_t(6, 8), torch.tensor([0, 0, 0, 1, 1, 1]))], {"filters_3": 8}),
    "TensorNetworkModule": _lazy(
        _GA + "TensorNetworkModule", [(_t(2, 8), _t(2, 8))], {"filters_3": 8, "tensor_neurons": 4}
    ),
}

_MM, _MN, _MT = "torchmil.models.", "torchmil.nn.", "torchmil.nn.transformers."
_BAG, _MASK, _Y = _t(2, 9, 16), torch.ones(2, 9).index_fill(1, torch.tensor([7, 8]), 0.0), torch.tensor([1.0, 0.0])
_NEAR = torch.softmax(_t(2, 9, 9), -1)
_IN: dict[str, Any] = {"in_shape": (16,)}


def _loss(name: str, *extra: Any, **options: Any) -> Callable[[], Built]:
    """The loss of a model of bags."""
    return lambda: held(
        _get(_MM + name)(**_IN, **options), lambda m, y, x, *e: m.compute_loss(y, x, *e), (_Y, _BAG, *extra)
    )


_MIL: dict[str, Callable[[], Built]] = {
    "ABMIL": _lazy(_MM + "ABMIL", [(_BAG, _MASK)], **_IN),
    "ABMIL gated loss": _loss("ABMIL", _MASK, gated=True),
    "CLAM_SB": _lazy(_MM + "CLAM_SB", [(_BAG, _MASK)], k_sample=3, **_IN),
    "CLAM_SB loss": _loss("CLAM_SB", _MASK, k_sample=3),
    "DSMIL": _lazy(_MM + "DSMIL", [(_BAG, _MASK)], **_IN),
    "DSMIL loss": _loss("DSMIL", _MASK),
    "DTFDMIL": _lazy(_MM + "DTFDMIL", [(_BAG, _MASK)], n_groups=3, **_IN),
    "DTFDMIL loss": _loss("DTFDMIL", _MASK, n_groups=3, distill_mode="max"),
    "GTP": _lazy(_MM + "GTP", [(_BAG, _NEAR, _MASK)], att_dim=16, n_clusters=4, n_heads=2, **_IN),
    "GTP loss": _loss("GTP", _NEAR, _MASK, att_dim=16, n_clusters=4, n_heads=2),
    "IIBMIL": _lazy(_MM + "IIBMIL", [(_BAG, _MASK)], att_dim=16, **_IN),
    "IIBMIL loss": _loss("IIBMIL", _MASK, att_dim=16),
    "PatchGCN": _lazy(_MM + "PatchGCN", [(_BAG, _NEAR, _MASK)], **_IN),
    "DeepGraphSurv": _lazy(_MM + "DeepGraphSurv", [(_BAG, _NEAR, _MASK)], **_IN),
    "DeepGraphSurv lambda": _lazy(_MM + "DeepGraphSurv", [(_BAG, _NEAR, _MASK)], compute_lambda_max=True, **_IN),
    "ProbSmoothABMIL": _lazy(
        _MM + "ProbSmoothABMIL", [(_BAG, _NEAR, _MASK)], n_samples_train=4, n_samples_test=4, **_IN
    ),
    "ProbSmoothABMIL loss": _loss("ProbSmoothABMIL", _NEAR, _MASK, n_samples_train=4, n_samples_test=4),
    "SETMIL": _lazy(_MM + "SETMIL", [(_BAG, _i(5, 2, 9, 2))], att_dim=16, **_IN),
    "SmABMIL": _lazy(_MM + "SmABMIL", [(_BAG, _NEAR, _MASK)], **_IN),
    "SmABMIL exact": _lazy(_MM + "SmABMIL", [(_BAG, _NEAR, _MASK)], sm_mode="exact", sm_where="late", **_IN),
    "SmTransformerABMIL": _lazy(
        _MM + "SmTransformerABMIL", [(_BAG, _NEAR, _MASK)], transf_att_dim=16, transf_n_heads=2, **_IN
    ),
    "TransformerABMIL": _lazy(_MM + "TransformerABMIL", [(_BAG, _MASK)], transf_att_dim=16, transf_n_heads=2, **_IN),
    "TransMIL": _lazy(_MM + "TransMIL", [(_BAG,)], att_dim=16, n_heads=2, **_IN),
    "CAMIL": _lazy(_MM + "CAMIL", [(_BAG, _NEAR, _MASK)], nystrom_att_dim=16, n_heads=2, n_landmarks=3, **_IN),
    "PositionalEncodingND": _lazy(_MN + "utils.SinusoidalPositionalEncodingND", [(_t(2, 5, 6, 8),)], 2, 8),
    "NystromAttention": _lazy(
        _MN + "attention.NystromAttention", [(_BAG, _MASK.bool())], 16, att_dim=16, n_heads=2, n_landmarks=3
    ),
    "iRPETransformerLayer": _lazy(_MT + "iRPETransformerLayer", [(_t(2, 10, 16),)], 16, att_dim=16, n_heads=2),
    "T2TLayer": _lazy(_MT + "T2TLayer", [(_t(2, 9, 16),)], 16, att_dim=16, n_heads=2),
    "dense_mincut_pool": _fun(_MN + "gnns.dense_mincut_pool.dense_mincut_pool", _BAG, _NEAR, _t(2, 9, 3), _MASK),
    "VAE loss": _on(
        _MN + "variational_autoencoder.VariationalAutoEncoder",
        lambda m, x: m.compute_loss(x),
        (_t(6, 16),),
        input_shape=(16,),
        layer_sizes=[8, 4],
    ),
    "relprop": _on(
        _MN + "relprop.TransformerEncoder",
        lambda m, x: m.relprop(m(x), alpha=1.0),
        (_t(1, 5, 16),),
        *(16, 16, 16, 2, 1),
    ),
    "ExactSm": _lazy(_MN + "sm.ExactSm", [(_BAG, _NEAR)]),
}

_CN, _CX, _CR = "cplxmodule.nn.", "cplxmodule.cplx.", "cplxmodule.nn.relevance."


def _complex(path: str, *shape: int, given: tuple[Any, ...] = (), **options: Any) -> Callable[[], Built]:
    """A layer of complex numbers at its work."""

    def build() -> Built:
        cplx, made = _get("cplxmodule.cplx.Cplx"), _get(path)(*given, **options)
        return held(made, lambda m, a, b: m(cplx(a, b)), (_t(*shape), _t(*shape)))

    return build


def _penalty(path: str, *given: Any) -> Callable[[], Built]:
    """The penalties of a layer."""
    return lambda: held(_get(path)(*given), lambda m, s: s * sum(_get(_CR + "penalties")(m)), (torch.tensor(1.0),))


_CPLX: dict[str, Callable[[], Built]] = {
    "CplxLinear": _complex(_CN + "CplxLinear", 3, 4, given=(4, 5)),
    "CplxBilinear": lambda: held(
        _get(_CN + "CplxBilinear")(4, 3, 2),
        lambda m, a, b, c, d: m(_get(_CX + "Cplx")(a, b), _get(_CX + "Cplx")(c, d)),
        (_t(5, 4), _t(5, 4), _t(5, 3), _t(5, 3)),
    ),
    "CplxConv1d": _complex(_CN + "CplxConv1d", 2, 3, 10, given=(3, 4, 3)),
    "CplxConv2d circular": _complex(
        _CN + "CplxConv2d", 1, 3, 8, 8, given=(3, 4, 3), padding=1, padding_mode="circular"
    ),
    "CplxBatchNorm1d": _complex(_CN + "CplxBatchNorm1d", 6, 4, given=(4,)),
    "CplxBatchNorm2d": _complex(_CN + "CplxBatchNorm2d", 4, 3, 5, 5, given=(3,)),
    "CplxDropout": _complex(_CN + "CplxDropout", 3, 4, given=(0.3,)),
    "CplxModReLU": _complex(_CN + "CplxModReLU", 3, 4, given=(0.3,)),
    "CplxAdaptiveModReLU": _complex(_CN + "CplxAdaptiveModReLU", 3, 4, given=(4,)),
    "CplxMaxPool1d": _complex(_CN + "CplxMaxPool1d", 2, 3, 10, given=(2,)),
    "CplxPhaseShift": _complex(_CN + "modules.linear.CplxPhaseShift", 3, 4, given=(4,)),
    "CplxModulus": _complex(_CN + "CplxModulus", 3, 4),
    "InterleavedRealToCplx": _lazy(_CN + "modules.casting.InterleavedRealToCplx", [(_t(3, 8),)]),
    "CplxToConcatenatedReal": _complex(_CN + "modules.casting.CplxToConcatenatedReal", 3, 4),
    "split": _use(_CX + "split", lambda f, a, b: f(_get(_CX + "Cplx")(a, b), 2), _t(4, 3), _t(4, 3)),
    "einsum": _use(
        _CX + "einsum",
        lambda f, a, b: f("ij,jk->ik", _get(_CX + "Cplx")(a, b), _get(_CX + "Cplx")(b, a)),
        _t(4, 4),
        _t(4, 4),
    ),
    "LinearVD": _lazy(_CR + "LinearVD", [(_t(3, 4),)], 4, 5),
    "LinearVD penalties": _penalty(_CR + "LinearVD", 4, 5),
    "LinearARD penalties": _penalty(_CR + "LinearARD", 4, 5),
    "Conv2dVD": _lazy(_CR + "Conv2dVD", [(_t(1, 3, 8, 8),)], 3, 4, 3),
    "CplxLinearVD": _complex(_CR + "CplxLinearVD", 3, 4, given=(4, 5)),
    "CplxLinearVD penalties": _penalty(_CR + "CplxLinearVD", 4, 5),
    "CplxLinearARD penalties": _penalty(_CR + "CplxLinearARD", 4, 5),
    "LinearL0": _lazy(_CR + "extensions.LinearL0", [(_t(3, 4),)], 4, 5),
    "relevance": lambda: held(
        _get(_CR + "LinearARD")(4, 5),
        lambda m, s: [s * v for _, v in _get(_CR + "named_relevance")(m, threshold=1.0)],
        (torch.tensor(1.0),),
    ),
    "sparsity": lambda: held(
        _get(_CR + "LinearARD")(4, 5),
        lambda m, s: s * _get("cplxmodule.nn.utils.sparsity.sparsity")(m, threshold=1.0),
        (torch.tensor(1.0),),
    ),
    "LinearMasked": lambda: held(
        _get(_CN + "masked.LinearMasked")(4, 5), lambda m, k, x: m.mask_(k)(x), ((_u(5, 4) > 0.5).float(), _t(3, 4))
    ),
    "window_view": _fun("cplxmodule.utils.views.window_view", _t(2, 20), -1, 5, 2),
}

_LT, _LM = "libreco.torchops.loss.", "libreco.algorithms.torch_modules."
_CONSUMED = {0: [0, 1], 1: [2], 2: [1, 3]}
_DATA = SimpleNamespace(
    n_users=3,
    n_items=4,
    sparse_col=SimpleNamespace(index=[], name=[]),
    dense_col=SimpleNamespace(index=[], name=[]),
    user_sparse_col=SimpleNamespace(index=[], name=[]),
    item_sparse_col=SimpleNamespace(index=[], name=[]),
    user_dense_col=SimpleNamespace(index=[], name=[]),
    item_dense_col=SimpleNamespace(index=[], name=[]),
    user_col=[],
    item_col=[],
    sparse_unique_vals={},
    sparse_idx_mapping={},
)
_NEIGHBORS = ([torch.tensor([1, 2, 0, 3])], [None], [None], [torch.tensor([0, 2])])


def _sage(name: str, weights: Any) -> Callable[[], Built]:
    """A model of sampled neighbours without features."""
    return lambda: held(
        _get(_LM + name)("i2i", _DATA, 8, 2, 1, 0.1),
        lambda m, x: m(x, None, None, *_NEIGHBORS, weights),
        (torch.tensor([0, 3]),),
    )


_RECO: dict[str, Callable[[], Built]] = {
    "focal_loss": _fun(_LT + "focal_loss", _t(6), (_u(6) > 0.5).float()),
    "bpr_loss": _fun(_LT + "bpr_loss", _t(6), _t(6)),
    "max_margin_loss": _fun(_LT + "max_margin_loss", _t(6), _t(6), 0.5),
    "pairwise_bce_loss": _fun(_LT + "pairwise_bce_loss", _t(6), _t(6)),
    "pairwise_focal_loss": _fun(_LT + "pairwise_focal_loss", _t(6), _t(6)),
    "compute_pair_scores": _fun(_LT + "compute_pair_scores", _t(3, 8), _t(3, 8), _t(6, 8)),
    "LightGCN": _lazy(
        _LM + "lightgcn_module.LightGCNModel", [(False,)], 3, 4, 8, 2, 0.3, _CONSUMED, torch.device("cpu")
    ),
    "LightGCN dropout": _lazy(
        _LM + "lightgcn_module.LightGCNModel", [(True,)], 3, 4, 8, 2, 0.3, _CONSUMED, torch.device("cpu")
    ),
    "NGCF": _lazy(_LM + "ngcf_module.NGCFModel", [(False,)], 3, 4, 8, [8, 8], 0.3, 0.3, _CONSUMED, torch.device("cpu")),
    "NGCF dropout": _lazy(
        _LM + "ngcf_module.NGCFModel", [(True,)], 3, 4, 8, [8, 8], 0.3, 0.3, _CONSUMED, torch.device("cpu")
    ),
    "GraphSage": _sage("graphsage_module.GraphSageModel", None),
    "PinSage": _sage("pinsage_module.PinSageModel", [torch.tensor([0.5, 0.5, 0.3, 0.7])]),
}

_AM = "auton_survival.models."
_FEAT, _TIME, _EVENT = _t(12, 5), _u(12) * 4 + 0.5, _i(2, 12)
_ROWS = torch.cat([_t(3, 4, 5), torch.full((3, 1, 5), float("nan"))], 1)


def _dsm(use: Callable[..., Any], dist: str = "Weibull", **options: Any) -> Callable[[], Built]:
    """A use of a mixture of survival times."""
    return _on(
        _AM + "dsm.dsm_torch.DeepSurvivalMachinesTorch", use, (_FEAT, _TIME, _EVENT), 5, 3, [6], dist=dist, **options
    )


def _losses(name: str) -> Any:
    return _get(_AM + "dsm.losses." + name)


_AUTON: dict[str, Callable[[], Built]] = {
    "DSM": _lazy(_AM + "dsm.dsm_torch.DeepSurvivalMachinesTorch", [(_FEAT,)], 5, 3, [6]),
    "DSM deep normal": _lazy(_AM + "dsm.dsm_torch.DeepSurvivalMachinesTorch", [(_FEAT,)], 5, 3, [6, 6], "Normal"),
    "DSM loss": _dsm(lambda m, x, t, e: _losses("conditional_loss")(m, x, t, e)),
    "DSM loss normal": _dsm(lambda m, x, t, e: _losses("conditional_loss")(m, x, t, e, elbo=False), "Normal"),
    "DSM loss lognormal": _dsm(lambda m, x, t, e: _losses("conditional_loss")(m, x, t, e), "LogNormal"),
    "DSM unconditional": _dsm(lambda m, _, t, e: _losses("unconditional_loss")(m, t, e)),
    "DSM cdf": _dsm(lambda m, x, *_: _losses("predict_cdf")(m, x, [1.0, 2.0])),
    "DSM cdf normal": _dsm(lambda m, x, *_: _losses("predict_cdf")(m, x, [1.0]), "Normal"),
    "DSM pdf": _dsm(lambda m, x, *_: _losses("predict_pdf")(m, x, [1.0])),
    "DSM mean": _dsm(lambda m, x, *_: _losses("predict_mean")(m, x), "Normal"),
    "DRSM": _lazy(_AM + "dsm.dsm_torch.DeepRecurrentSurvivalMachinesTorch", [(_ROWS,)], 5, 3, "LSTM", 1, 6),
    "DCNN": _lazy(
        _AM + "dsm.dsm_torch.DeepConvolutionalSurvivalMachinesTorch",
        [(_t(3, 8, 8),)],
        5,
        3,
        partial(lambda: nn.Sequential(nn.Flatten(), nn.Linear(64, 6))),
        6,
    ),
    "padded features": _fun(_AM + "dsm.utilities._get_padded_features", [_t(3, 4).numpy(), _t(5, 4).numpy()]),
    "reshape with nans": _fun(_AM + "dsm.utilities._reshape_tensor_with_nans", _ROWS),
    "DeepCoxPH": _lazy(_AM + "cph.dcph_torch.DeepCoxPHTorch", [(_FEAT,)], 5, [6]),
    "DeepRecurrentCoxPH": _lazy(_AM + "cph.dcph_torch.DeepRecurrentCoxPHTorch", [(_ROWS,)], 5, "GRU", 1, 6),
    "cph partial_ll": _fun(_AM + "cph.dcph_utilities.partial_ll_loss", _t(12, 1), _TIME, _EVENT),
    "randargmax": _fun(_AM + "cph.dcph_utilities.randargmax", _u(4, 3).numpy()),
    "DeepCoxMixtures": _lazy(_AM + "dcm.dcm_torch.DeepCoxMixturesTorch", [(_FEAT,)], 5, 3, layers=[6]),
    "dcm partial_ll": _fun(_AM + "dcm.dcm_utilities.partial_ll_loss", _t(12), _TIME, _EVENT),
    "dcm posteriors": _fun(_AM + "dcm.dcm_utilities.get_posteriors", _t(12, 3)),
    "dcm hard_z": _fun(_AM + "dcm.dcm_utilities.get_hard_z", _t(12, 3)),
    "dcm sample_z": _fun(_AM + "dcm.dcm_utilities.sample_hard_z", torch.softmax(_t(12, 3), -1)),
    "dcm repair": _fun(_AM + "dcm.dcm_utilities.repair_probs", _t(12, 3)),
    "dcm q": _on(
        _AM + "dcm.dcm_torch.DeepCoxMixturesTorch",
        lambda m, x, t, e, p: _get(_AM + "dcm.dcm_utilities.q_function")(m, x, t, e, p),
        (_FEAT, _TIME, _EVENT, torch.softmax(_t(12, 3), -1)),
        *(5, 3),
        layers=[6],
    ),
    "dcm q hard": _on(
        _AM + "dcm.dcm_torch.DeepCoxMixturesTorch",
        lambda m, x, t, e, p: _get(_AM + "dcm.dcm_utilities.q_function")(m, x, t, e, p, typ="hard"),
        (_FEAT, _TIME, _EVENT, torch.softmax(_t(12, 3), -1)),
        *(5, 3),
        layers=[6],
    ),
    "DeepCMHE": _lazy(_AM + "cmhe.cmhe_torch.DeepCMHETorch", [(_FEAT, _i(2, 12))], 2, 2, 5, [6]),
    "IdentifiableLinear": _lazy(_AM + "cmhe.cmhe_torch.IdentifiableLinear", [(_t(4, 6),)], 6, 3),
    "cmhe q": _on(
        _AM + "cmhe.cmhe_torch.DeepCMHETorch",
        lambda m, x, t, e, a, p: _get(_AM + "cmhe.cmhe_utilities.q_function")(m, x, t, e, a, p),
        (_FEAT, _TIME, _EVENT, _i(2, 12), _t(12, 2, 2)),
        *(2, 2, 5, [6]),
    ),
}

_BE = "box_embeddings."
_BP, _BM = _BE + "parameterizations.", _BE + "modules."
_BOXES = torch.stack([_u(4, 3), _u(4, 3) + 1], -2)


def _boxes(path: str, use: Callable[..., Any], *given: Any, kind: str = "BoxTensor", **options: Any) -> Any:
    """A use of something on boxes."""

    def build() -> Built:
        box = _get(_BP + kind)
        made = _get(_BM + path)(*given, **options) if path else None
        return held((made, box), lambda both, a, b: use(both[0], both[1](a), both[1](b)), (_BOXES, _BOXES + 0.1))

    return build


_BOX: dict[str, Callable[[], Built]] = {
    "z Z": _boxes("", lambda _, a, b: (a.z, b.Z, a.centre)),
    "sigmoid": _boxes("", lambda _, a, b: (a.z, b.Z), kind="SigmoidBoxTensor"),
    "delta": _boxes("", lambda _, a, b: (a.z, b.Z), kind="MinDeltaBoxTensor"),
    "from_zZ": _use(_BP + "BoxTensor", lambda c, a, b: c.from_zZ(a, b).z, _u(4, 3), _u(4, 3) + 1),
    "W": _use(_BP + "BoxTensor", lambda c, a, b: c.W(a, b), _u(4, 3), _u(4, 3) + 1),
    "delta from_zZ": _use(_BP + "MinDeltaBoxTensor", lambda c, a, b: c.W(a, b), _u(4, 3), _u(4, 3) + 1),
    "from_vector": _use(_BP + "BoxTensor", lambda c, a: c.from_vector(a).Z, _u(4, 6)),
    "broadcast": _boxes("", lambda _, a, *__: (a.broadcast((4, 1, 3)), a.z)),
    "box_reshape": _boxes("", lambda _, a, *__: a.box_reshape((2, 2, 3)).z),
    "hard intersection": _boxes("intersection.Intersection", lambda m, a, b: m(a, b).Z),
    "gumbel intersection": _boxes("intersection.Intersection", lambda m, a, b: m(a, b).Z, 1.0),
    "gumbel clipping": _boxes("intersection.Intersection", lambda m, a, b: m(a, b).Z, 1.0, "clipping"),
    "gumbel forward": _boxes("intersection.Intersection", lambda m, a, b: m(a, b).Z, 1.0, "clipping_forward"),
    "hard volume": _boxes("volume.hard_volume.HardVolume", lambda m, a, b: m(a) + m(b)),
    "soft volume": _boxes("volume.soft_volume.SoftVolume", lambda m, a, b: m(a) + m(b)),
    "bessel volume": _boxes("volume.bessel_volume.BesselApproxVolume", lambda m, a, b: m(a) + m(b)),
    "soft volume plain": _boxes("volume.soft_volume.SoftVolume", lambda m, a, b: m(a) + m(b), log_scale=False),
    "l2 regularizer": _boxes("regularization.L2SideBoxRegularizer", lambda m, a, *_: m(a), 0.1),
    "bag of boxes": _boxes("pooling.BagOfBoxesBoxPooler", lambda m, a, *_: m(a).z),
    "bag of boxes mask": _boxes(
        "pooling.BagOfBoxesBoxPooler", lambda m, a, *_: m(a, mask=torch.tensor([[True], [False], [True], [True]])).z
    ),
    "intersection pooler": _boxes("pooling.HardIntersectionBoxPooler", lambda m, a, *_: m(a).z),
    "intersection mask": _boxes(
        "pooling.HardIntersectionBoxPooler", lambda m, a, *_: m(a, mask=torch.tensor([True, False, True, True])).z
    ),
    "BoxEmbedding": lambda: held(_get(_BM + "embedding.BoxEmbedding")(6, 3), lambda m, x: m(x).z, (_i(6, 4),)),
    "bounding box": lambda: held(
        _get(_BM + "embedding.BoxEmbedding")(6, 3), lambda m, s: m.get_bounding_box().z * s, (torch.tensor(1.0),)
    ),
    "log1mexp": _fun(_BE + "common.utils.log1mexp", -_u(6)),
    "softplus_inverse": _fun(_BE + "common.utils.softplus_inverse", _u(6) * 30),
    "logsumexp2": _fun(_BE + "common.utils.logsumexp2", _t(6), _t(6)),
}

_PM, _PN = "pts.modules.", "pts.model."


def _output(name: str, target: torch.Tensor, *given: Any, scaled: bool = True) -> Callable[[], Built]:
    """The loss of a distribution that is put out."""

    def build() -> Built:
        out = _get(_PM + "distribution_output." + name)(*given)
        return held(
            (out, out.get_args_proj(6)),
            lambda both, x, y, s: -both[0].distribution(both[1](x), scale=s if scaled else None).log_prob(y),
            (_t(4, 6), target, _u(4, *target.shape[1:]) + 0.5),
        )

    return build


def _flow(name: str, use: Callable[..., Any], *given: Any, **options: Any) -> Callable[[], Built]:
    """A use of a flow with a condition."""
    return _on(_PM + "flows." + name, use, (_t(6, 4), _t(6, 3)), *given, **options)


def _diffusion(use: Callable[..., Any], **options: Any) -> Callable[[], Built]:
    """A use of the diffusion of series."""

    def build() -> Built:
        denoise = _get(_PN + "time_grad.epsilon_theta.EpsilonTheta")(4, 6, residual_layers=2)
        made = _get(_PM + "gaussian_diffusion.GaussianDiffusion")(denoise, input_size=4, diff_steps=3, **options)
        return held(made, use, (_t(6, 1, 4), _t(6, 1, 6)))

    return build


_DEEPAR = {
    "input_size": 10,
    "num_layers": 1,
    "num_cells": 8,
    "cell_type": "LSTM",
    "history_length": 10,
    "context_length": 6,
    "prediction_length": 2,
    "dropout_rate": 0.1,
    "cardinality": [3],
    "embedding_dimension": [2],
    "lags_seq": [1, 2, 3],
}
_SERIES = (_i(3, 2, 1), _t(2, 1), _t(2, 10, 3), _u(2, 10), torch.ones(2, 10), _t(2, 2, 3))
_NBEATS = {
    "prediction_length": 3,
    "context_length": 9,
    "num_stacks": 2,
    "widths": [8, 8],
    "num_blocks": [2, 2],
    "num_block_layers": [2, 2],
    "expansion_coefficient_lengths": [3, 3],
    "sharing": [False, False],
    "stack_types": ["G", "S"],
}


def _deepar(path: str, output: str, *inputs: Any, **options: Any) -> Callable[[], Built]:
    """A network of deepar."""
    return _lazy(
        _PN + "deepar.deepar_network." + path,
        [inputs],
        distr_output=_of(_PM + "distribution_output." + output),
        **_DEEPAR,
        **options,
    )


_PTS: dict[str, Callable[[], Built]] = {
    "NormalOutput": _output("NormalOutput", _t(4)),
    "StudentTOutput": _output("StudentTOutput", _t(4)),
    "PoissonOutput": _output("PoissonOutput", _i(5, 4).float()),
    "NegativeBinomialOutput": _output("NegativeBinomialOutput", _i(5, 4).float()),
    "ZeroInflatedPoissonOutput": _output("ZeroInflatedPoissonOutput", _i(5, 4).float()),
    "ZeroInflatedNegativeBinomialOutput": _output("ZeroInflatedNegativeBinomialOutput", _i(5, 4).float()),
    "NormalMixtureOutput": _output("NormalMixtureOutput", _t(4), 3),
    "PiecewiseLinearOutput": _output("PiecewiseLinearOutput", _t(4), 3),
    "LowRankMultivariateNormalOutput": _output("LowRankMultivariateNormalOutput", _t(4, 3), 3, 2),
    "MultivariateNormalOutput": _output("MultivariateNormalOutput", _t(4, 3), 3),
    "FeatureEmbedder": _lazy(_PM + "feature.FeatureEmbedder", [(_i(3, 4, 2),)], [3, 4], [2, 2]),
    "FeatureAssembler": _lazy(
        _PM + "feature.FeatureAssembler",
        [(_i(3, 2, 1), _t(2, 2), _i(3, 2, 5, 1), _t(2, 5, 2))],
        5,
        _of(_PM + "feature.FeatureEmbedder", [3], [2]),
        _of(_PM + "feature.FeatureEmbedder", [3], [2]),
    ),
    "RealNVP": _flow("RealNVP", lambda m, x, c: m.log_prob(x, c), 2, 4, 8, 1, 3),
    "RealNVP sample": _flow("RealNVP", lambda m, _, c: m.sample(cond=c), 2, 4, 8, 1, 3, batch_norm=False),
    "MAF": _flow("MAF", lambda m, x, c: m.log_prob(x, c), 2, 4, 8, 1, 3),
    "MAF sample": _flow("MAF", lambda m, _, c: m.sample(cond=c), 2, 4, 8, 1, 3, batch_norm=False),
    "MADE random": _flow("MADE", lambda m, x, c: m.log_prob(x, c), 4, 8, 1, 3, input_order="random"),
    "GaussianDiffusion": _diffusion(lambda m, x, c: m.log_prob(x, c)),
    "GaussianDiffusion sample": _diffusion(lambda m, _, c: m.sample(cond=c)),
    "GaussianDiffusion huber": _diffusion(lambda m, x, c: m.log_prob(x, c), loss_type="huber", beta_schedule="cosine"),
    "GaussianDiffusion interpolate": _diffusion(lambda m, x, c: m.p_sample_loop(x.shape, c)),
    "MeanScaler": _lazy(_PM + "scaler.MeanScaler", [(_t(2, 10, 3), torch.ones(2, 10, 3))], keepdim=True),
    "NOPScaler": _lazy(_PM + "scaler.NOPScaler", [(_t(2, 10, 3), torch.ones(2, 10, 3))]),
    "DeepAR training": _deepar("DeepARTrainingNetwork", "StudentTOutput", *_SERIES, _u(2, 2), torch.ones(2, 2)),
    "DeepAR prediction": _deepar("DeepARPredictionNetwork", "NormalOutput", *_SERIES, num_parallel_samples=3),
    "NBEATS training": _lazy(
        _PN + "n_beats.n_beats_network.NBEATSTrainingNetwork",
        [(_u(2, 9), _u(2, 3))],
        loss_function="sMAPE",
        freq="D",
        **_NBEATS,
    ),
    "NBEATS mase": _lazy(
        _PN + "n_beats.n_beats_network.NBEATSTrainingNetwork",
        [(_u(2, 9), _u(2, 3))],
        loss_function="MASE",
        freq="D",
        **_NBEATS,
    ),
    "NBEATS trend": _lazy(
        _PN + "n_beats.n_beats_network.NBEATSPredictionNetwork", [(_u(2, 9),)], **{**_NBEATS, "stack_types": ["T", "T"]}
    ),
    "LSTNet": _lazy(
        _PN + "lstnet.lstnet_network.LSTNetTrain",
        [(_u(2, 3, 12), torch.ones(2, 3, 12), _u(2, 3, 2))],
        *(3, 4, 3, "GRU", 8, "GRU", 4, 2, 4, 12, None, 2, 0.1, None, True),
    ),
    "SimpleFeedForward": _lazy(
        _PN + "simple_feedforward.simple_feedforward_network.SimpleFeedForwardTrainingNetwork",
        [(_u(2, 6), _u(2, 3))],
        *([8], 3, 6, False, True),
        _of(_PM + "distribution_output.StudentTOutput"),
    ),
    "TFT VariableSelection": _on(
        _PN + "tft.tft_modules.VariableSelectionNetwork", lambda m, a, b: m([a, b]), (_t(2, 5, 8), _t(2, 5, 8)), 8, 2
    ),
    "TFT decoder": _lazy(
        _PN + "tft.tft_modules.TemporalFusionDecoder", [(_t(2, 8, 8), _t(2, 1, 8), torch.ones(2, 6))], 6, 2, 8, 8, 2
    ),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"pygmtools/{name}": build for name, build in _PYGM.items()},
    **{f"torchmil/{name}": build for name, build in _MIL.items()},
    **{f"cplxmodule/{name}": build for name, build in _CPLX.items()},
    **{f"libreco/{name}": build for name, build in _RECO.items()},
    **{f"auton_survival/{name}": build for name, build in _AUTON.items()},
    **{f"box_embeddings/{name}": build for name, build in _BOX.items()},
    **{f"pts/{name}": build for name, build in _PTS.items()},
}

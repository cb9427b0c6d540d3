"""Models of nnunetv2, torchgmm, evox and openrl.

They were chosen, and written, before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch

from accuracy_models import Built
from accuracy_models.inputs import Later, on, random_inputs
from accuracy_models.stand_ins import getter, without_packages, without_torchvision_extension

_t, _u, _i = random_inputs(127)
_ABSENT = {
    "nnunetv2": ("SimpleITK", "skimage", "blosc2", "nibabel", "tifffile"),
    "torchgmm": ("httpx2", "httpcore2"),
    "openrl": ("treevalue",),
}


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_torchvision_extension()
    without_packages(*_ABSENT.get(package, ()))


_get = getter({}, (), _prepare)
_later = Later(_get)
_of, _lazy, _fun, _on = _later.of, _later.lazy, _later.fun, on

_NL, _NU = "nnunetv2.training.loss.", "nnunetv2.utilities."
_NP = "nnunetv2.preprocessing.resampling."
_SEG, _LABELS = _t(2, 3, 8, 8, 8), _i(3, 2, 1, 8, 8, 8)
_REGIONS = (_u(2, 4, 8, 8) > 0.5).float()
_DICE = {"batch_dice": True, "smooth": 1e-5, "do_bg": False, "ddp": False}
_MANAGED = {"background": 0, "edema": 1, "core": 2, "ignore": 3}
_NNUNET: dict[str, Callable[[], Built]] = {
    "SoftDiceLoss": _lazy(_NL + "dice.SoftDiceLoss", torch.softmax(_SEG, 1), _LABELS),
    "SoftDiceLoss batch": _lazy(
        _NL + "dice.SoftDiceLoss", torch.softmax(_SEG, 1), _LABELS, batch_dice=True, do_bg=False, ddp=False, clip_tp=0.1
    ),
    "MemoryEfficientSoftDiceLoss": _lazy(_NL + "dice.MemoryEfficientSoftDiceLoss", torch.softmax(_SEG, 1), _LABELS),
    "MemoryEfficientSoftDiceLoss mask": _lazy(
        _NL + "dice.MemoryEfficientSoftDiceLoss",
        *(torch.softmax(_SEG, 1), _LABELS, _LABELS > 0),
        batch_dice=True,
        ddp=False,
        do_bg=False,
    ),
    "get_tp_fp_fn_tn": _fun(_NL + "dice.get_tp_fp_fn_tn", torch.softmax(_SEG, 1), _LABELS[:, 0], None, _LABELS > 0),
    "DC_and_CE_loss": _lazy(
        _NL + "compound_losses.DC_and_CE_loss", _SEG, _LABELS, soft_dice_kwargs=_DICE, ce_kwargs={}
    ),
    "DC_and_CE_loss ignore": _on(
        partial(
            lambda: _get(_NL + "compound_losses.DC_and_CE_loss")(
                dict(_DICE), {}, ignore_label=2, dice_class=_get(_NL + "dice.MemoryEfficientSoftDiceLoss")
            )
        ),
        lambda m, x, y: m(x, y),
        *(_SEG, _LABELS.float()),
    ),
    "DC_and_BCE_loss": _lazy(
        _NL + "compound_losses.DC_and_BCE_loss", _t(2, 4, 8, 8), _REGIONS, bce_kwargs={}, soft_dice_kwargs=_DICE
    ),
    "DC_and_BCE_loss ignore": _lazy(
        *(_NL + "compound_losses.DC_and_BCE_loss", _t(2, 3, 8, 8), _REGIONS),
        bce_kwargs={},
        soft_dice_kwargs=_DICE,
        use_ignore_label=True,
    ),
    "DC_and_topk_loss": _lazy(
        _NL + "compound_losses.DC_and_topk_loss", _SEG, _LABELS, soft_dice_kwargs=_DICE, ce_kwargs={"k": 10}
    ),
    "DC_and_topk_loss ignore": _on(
        partial(lambda: _get(_NL + "compound_losses.DC_and_topk_loss")(dict(_DICE), {"k": 10}, ignore_label=2)),
        lambda m, x, y: m(x, y),
        *(_SEG, _LABELS),
    ),
    "RobustCrossEntropyLoss": _lazy(_NL + "robust_ce_loss.RobustCrossEntropyLoss", _SEG, _LABELS.float()),
    "TopKLoss": _lazy(_NL + "robust_ce_loss.TopKLoss", _SEG, _LABELS.float(), k=10),
    "DeepSupervisionWrapper": _lazy(
        _NL + "deep_supervision.DeepSupervisionWrapper",
        *([_SEG, _SEG[..., ::2]], [_LABELS.float(), _LABELS[..., ::2].float()]),
        loss=_of(_NL + "robust_ce_loss.RobustCrossEntropyLoss"),
        weight_factors=[0.7, 0.3],
    ),
    "resample simple": _fun(_NP + "resample_torch.resample_torch_simple", _t(2, 8, 8, 8), (12, 10, 8)),
    "resample simple seg": _fun(
        _NP + "resample_torch.resample_torch_simple", _i(3, 1, 8, 8, 8).float(), (12, 10, 8), True
    ),
    "resample simple seg memory": _fun(
        _NP + "resample_torch.resample_torch_simple",
        *(_i(3, 1, 8, 8, 8).float(), (12, 10, 8), True),
        memefficient_seg_resampling=True,
    ),
    "resample nnunet": _fun(
        *(_NP + "resample_torch.resample_torch_fornnunet", _t(2, 4, 8, 8), (4, 12, 12), (5.0, 1.0, 1.0)),
        *((5.0, 0.7, 0.7),),
    ),
    "compute_gaussian": _fun(
        "nnunetv2.inference.sliding_window_prediction.compute_gaussian",
        (8, 8, 8),
        dtype=torch.float32,
        device=torch.device("cpu"),
    ),
    "steps": _fun(
        "nnunetv2.inference.sliding_window_prediction.compute_steps_for_sliding_window", (32, 23), (16, 16), 0.5
    ),
    "LabelManager nonlin": _on(
        _of(_NU + "label_handling.label_handling.LabelManager", _MANAGED, None),
        lambda m, x: m.convert_logits_to_segmentation(x),
        _t(3, 8, 8, 8),
    ),
    "LabelManager regions": _on(
        _of(
            _NU + "label_handling.label_handling.LabelManager",
            {"background": 0, "whole": (1, 2), "core": (2,)},
            regions_class_order=[1, 2],
        ),
        lambda m, x: m.convert_logits_to_segmentation(x),
        _t(2, 8, 8, 8),
    ),
    "LabelManager revert": _on(
        _of(_NU + "label_handling.label_handling.LabelManager", _MANAGED, None),
        lambda m, x: m.revert_cropping_on_probabilities(x, [[1, 9], [0, 8], [2, 10]], (12, 10, 12)),
        torch.softmax(_t(3, 8, 8, 8), 0),
    ),
    "one hot": _fun(
        _NU + "label_handling.label_handling.convert_labelmap_to_one_hot",
        _i(3, 8, 8),
        [0, 1, 2],
        output_dtype=torch.long,
    ),
}

_G = "torchgmm."
_GB, _GK = _G + "bayes.", _G + "clustering.kmeans."
_DATA, _RESP = _t(24, 4), torch.softmax(_t(24, 3), 1)
_COV = {"full": (3, 4, 4), "tied": (4, 4), "diag": (3, 4), "spherical": (3,)}


def _covariances(kind: str) -> torch.Tensor:
    """Positive definite matrices of a kind."""
    if kind in ("full", "tied"):
        root = _t(*_COV[kind])
        return root @ root.mT + torch.eye(4)
    return _u(*_COV[kind]) + 0.5


def _mixture(kind: str) -> Any:
    """A mixture whose precisions are those of some covariances."""

    def made() -> Any:
        model = _get(_GB + "gmm.model.GaussianMixtureModel")(
            _get(_GB + "gmm.model.GaussianMixtureModelConfig")(3, 4, kind)
        )
        model.precisions_cholesky.copy_(_get(_GB + "core.cholesky_precision")(_covariances(kind), kind))
        return model

    return partial(made)


_KMEANS = _of(_GK + "model.KMeansModel", _of(_GK + "model.KMeansModelConfig", 3, 4))
_GMM: dict[str, Callable[[], Built]] = {
    **{f"GMM {kind}": _on(_mixture(kind), lambda m, x: m(x), _DATA) for kind in _COV},
    **{f"GMM sample {kind}": _on(_mixture(kind), lambda m: m.sample(12)) for kind in ("full", "diag")},
    **{
        f"cholesky_precision {kind}": _fun(_GB + "core.cholesky_precision", _covariances(kind), kind)
        for kind in ("full", "tied", "spherical")
    },
    **{
        f"covariance {kind}": _fun(
            _GB + "core.covariance", _covariances(kind).tril() if kind != "diag" else _u(3, 4), kind
        )
        for kind in ("full", "diag")
    },
    "log_normal": _fun(_GB + "core.log_normal", _DATA, _t(3, 4), _u(3, 4), "diag"),
    "sample_normal": _fun(_GB + "core.sample_normal", 6, _t(4), _u(4), "diag"),
    "PriorAggregator": _lazy(_GB + "gmm.metrics.PriorAggregator", _RESP, num_components=3),
    "MeanAggregator": _lazy(_GB + "gmm.metrics.MeanAggregator", _DATA, _RESP, num_components=3, num_features=4),
    **{
        f"CovarianceAggregator {kind}": _lazy(
            *(_GB + "gmm.metrics.CovarianceAggregator", _DATA, _RESP, _t(3, 4)),
            num_components=3,
            num_features=4,
            covariance_type=kind,
            reg=1e-4,
        )
        for kind in _COV
    },
    "KMeans": _on(_KMEANS, lambda m, x: m(x), _DATA),
    "CentroidAggregator": _lazy(_GK + "metrics.CentroidAggregator", _DATA, _i(3, 24), num_clusters=3, num_features=4),
    "UniformSampler": _lazy(_GK + "metrics.UniformSampler", _DATA, num_choices=3, num_features=4),
    "UniformSampler one": _lazy(_GK + "metrics.UniformSampler", _DATA, num_choices=1, num_features=4),
    "DistanceSampler": _lazy(_GK + "metrics.DistanceSampler", _DATA, _u(24), num_choices=3, num_features=4),
    "BatchSummer": _lazy(_GK + "metrics.BatchSummer", _u(24, 3), num_values=3),
    "BatchAverager": _lazy(_GK + "metrics.BatchAverager", _u(24, 3), num_values=3, for_variance=True),
}

_E = "evox."
_EN, _EO = _E + "problems.numerical.", _E + "operators."
_LB, _UB = -5.0 * torch.ones(4), 5.0 * torch.ones(4)
_COSTS = _u(12, 2)


def _searched(name: str, problem: str = "Sphere", steps: int = 2, **options: Any) -> Callable[[], Built]:
    """Some steps of an algorithm on a problem."""

    def made() -> Built:
        algorithm = _get(_E + "algorithms." + name)(**options)
        workflow = _get(_E + "workflows.StdWorkflow")(algorithm, _get(_E + "problems.numerical." + problem)())
        workflow.init_step()

        def use() -> Any:
            for _ in range(steps):
                workflow.step()
            return getattr(algorithm, "fit", None)

        return use, [()]

    return made


_BOX = {"pop_size": 12, "lb": _LB, "ub": _UB}
_MANY = {"pop_size": 12, "n_objs": 3, "lb": torch.zeros(12), "ub": torch.ones(12)}
_EVOX: dict[str, Callable[[], Built]] = {
    **{
        n: _searched(n, **_BOX)
        for n in ("PSO", "CSO", "CLPSO", "FSPSO", "SLPSOGS", "SLPSOUS", "DE", "ODE", "JaDE", "SaDE")
    },
    **{n: _searched(n, **_BOX) for n in ("CoDE", "SHADE")},
    **{n: _searched(n, "DTLZ2", **_MANY) for n in ("NSGA2", "NSGA3", "MOEAD", "RVEA", "HypE")},
    "OpenES": _searched("OpenES", pop_size=12, center_init=_t(4), learning_rate=0.02, noise_stdev=0.1),
    "CMAES": _searched("CMAES", mean_init=_t(4), sigma=1.0, pop_size=12),
    "XNES": _searched("XNES", init_mean=_t(4), init_covar=torch.eye(4), pop_size=12),
    "SNES": _searched("SNES", center_init=_t(4), sigma=1.0, pop_size=12),
    "ARS": _searched("ARS", pop_size=12, center_init=_t(4)),
    **{
        f"{n} problem": _on(_of(f"{_EN}{n}"), lambda p, x: p.evaluate(x), _t(6, 4))
        for n in ("Ackley", "Griewank", "Rastrigin", "Rosenbrock", "Schwefel", "Sphere")
    },
    "DTLZ1": _on(_of(_EN + "DTLZ1", d=7, m=3), lambda p, x: (p.evaluate(x), p.pf()), _u(6, 7)),
    "DTLZ7": _on(_of(_EN + "DTLZ7", d=21, m=3), lambda p, x: (p.evaluate(x), p.pf()), _u(6, 21)),
    "CEC2022": _on(_of(_EN + "cec2022.CEC2022", problem_number=6, dimension=10), lambda p, x: p.evaluate(x), _t(6, 10)),
    "rank": _fun(_EO + "selection.non_dominate_rank", _COSTS),
    "crowding": _fun(_EO + "selection.crowding_distance", _COSTS, torch.ones(12, dtype=torch.bool)),
    "environmental": _fun(_EO + "selection.nd_environmental_selection", _u(12, 4), _COSTS, 6),
    "ref_vec": _fun(_EO + "selection.ref_vec_guided", _u(12, 4), _COSTS, _u(6, 2), torch.tensor(0.5)),
    "tournament": _fun(_EO + "selection.tournament_selection", 6, _u(12), 2),
    "tournament many": _fun(_EO + "selection.tournament_selection_multifit", 6, [_u(12), _u(12)], 2),
    "simulated_binary": _fun(_EO + "crossover.simulated_binary", _u(12, 4)),
    "polynomial": _fun(_EO + "mutation.polynomial_mutation", _u(12, 4), torch.zeros(4), torch.ones(4)),
    "uniform": _fun(_EO + "sampling.uniform_sampling", 12, 3),
    "grid": _fun(_EO + "sampling.grid_sampling", 12, 3),
    "latin": _fun(_EO + "sampling.latin_hypercube_sampling", 12, _LB, _UB),
    "gd": _fun(_E + "metrics.gd", _u(8, 2), _u(10, 2)),
    "igd": _fun(_E + "metrics.igd", _u(8, 2), _u(10, 2)),
    "hv": _fun(_E + "metrics.hv", _u(8, 2), torch.ones(2), 200),
}

_O = "openrl.modules."
_OU = _O + "networks.utils."


def _discrete(n: int) -> Any:
    """A space of actions."""
    return partial(lambda: _get("gymnasium.spaces.Discrete")(n))


def _box(*shape: int) -> Any:
    """A space of vectors or images."""
    return partial(lambda: _get("gymnasium.spaces.Box")(-1.0, 1.0, shape))


def _acts(space: Any, *given: Any, **options: Any) -> Callable[[], Built]:
    """What a layer of actions chooses."""
    return _on(_of(_OU + "act.ACTLayer", space, 16, True, 0.01), lambda m, x: m(x, *given, **options), _t(4, 16))


def _rates(space: Any, actions: torch.Tensor, **more: Any) -> Callable[[], Built]:
    """What a layer of actions says of actions."""
    return _on(
        _of(_OU + "act.ACTLayer", space, 16, True, 0.01),
        lambda m, x, a: m.evaluate_actions(x, a, **more),
        *(_t(4, 16), actions),
    )


_CONFIG = SimpleNamespace(
    use_feature_normalization=True,
    use_orthogonal=True,
    activation_id=1,
    use_attn=False,
    use_attn_internal=False,
    use_average_pool=True,
    use_conv1d=False,
    stacked_frames=1,
    use_single_network=False,
    use_maxpool2d=False,
    layer_N=2,
    attn_size=16,
    attn_N=2,
    attn_heads=4,
    dropout=0.0,
    hidden_size=16,
)
_MASKS = (_u(4, 5) > 0.3).float()
_MASKS[:, 0] = 1
_TPDV = {"dtype": torch.float32, "device": torch.device("cpu")}
_DECODER = _of(_O + "networks.MAT_network.Decoder", 6, 5, 1, 16, 2, 3, "Discrete")


def _decided(name: str, *inputs: Any) -> Callable[[], Built]:
    """What several agents choose, one after the other or at once."""

    def made() -> Built:
        decoder, act = _DECODER(), _get(_OU + "transformer_act." + name)
        return (lambda *x: act(decoder, *x, 2, 3, 5, _TPDV, torch.ones(2, 3, 5))), [inputs]

    return made


_OPENRL: dict[str, Callable[[], Built]] = {
    "act discrete": _acts(_discrete(5)),
    "act masks": _acts(_discrete(5), _MASKS, True),
    "act box": _acts(_box(3)),
    "act binary": _acts(partial(lambda: _get("gymnasium.spaces.MultiBinary")(3)), deterministic=True),
    "rate discrete": _rates(_discrete(5), _i(5, 4, 1), active_masks=torch.ones(4, 1)),
    "rate box": _rates(_box(3), _t(4, 3)),
    "rate masks": _rates(_discrete(5), _i(5, 4, 1), action_masks=_MASKS),
    "Categorical": _on(
        _of(_OU + "distributions.Categorical", 16, 5), lambda m, x, a: m(x, a).mode(), _t(4, 16), _MASKS
    ),
    "DiagGaussian": _on(_of(_OU + "distributions.DiagGaussian", 16, 5), lambda m, x: m(x).mode(), _t(4, 16)),
    "ValueNorm": _on(_of(_O + "utils.valuenorm.ValueNorm", 1), lambda m, x: (m.update(x), m.normalize(x))[1], _t(8, 1)),
    "ValueNorm per element": _on(
        _of(_O + "utils.valuenorm.ValueNorm", 1, per_element_update=True),
        lambda m, x: (m.update(x), m.denormalize(x))[1],
        _t(8, 1),
    ),
    "PopArt": _on(_of(_OU + "popart.PopArt", 16, 1), lambda m, x: m(x), _t(8, 16)),
    "PopArt update": _on(_of(_OU + "popart.PopArt", 16, 1), lambda m, x: (m.update(x), m.denormalize(x))[1], _t(8, 1)),
    "RNN step": _on(
        _of(_OU + "rnn.RNNLayer", 16, 16, 1, True), lambda m, *x: m(*x), _t(4, 16), _t(4, 1, 16), torch.ones(4, 1)
    ),
    "RNN sequence": _on(
        _of(_OU + "rnn.RNNLayer", 16, 16, 1, True),
        lambda m, *x: m(*x),
        _t(12, 16),
        _t(4, 1, 16),
        (_u(12, 1) > 0.2).float(),
    ),
    "RNN lstm": _on(
        _of(_OU + "rnn.RNNLayer", 16, 16, 1, True, "lstm"),
        lambda m, *x: m(*x),
        *(_t(4, 16), _t(4, 1, 32), torch.ones(4, 1)),
    ),
    "MLPBase": _on(_of(_OU + "mlp.MLPBase", _CONFIG, (8,)), lambda m, x: m(x), _t(4, 8)),
    "MLPBase conv": _on(
        _of(
            _OU + "mlp.MLPBase", SimpleNamespace(**{**vars(_CONFIG), "use_conv1d": True, "stacked_frames": 16}), (128,)
        ),
        lambda m, x: m(x),
        _t(4, 128),
    ),
    "CNNBase": _on(_of(_OU + "cnn.CNNBase", _CONFIG, (3, 84, 84)), lambda m, x: m(x), _u(2, 3, 84, 84)),
    "Encoder attn": _on(
        _of(_OU + "attention.Encoder", _CONFIG, [14, [2, 3], [1, 4], [1, 4]]), lambda m, x: m(x), _t(4, 14)
    ),
    "MIXBase": _on(
        partial(lambda: _get(_OU + "mix.MIXBase")(_CONFIG, {"policy": _box(8)(), "goal": _box(3)()})),
        lambda m, a, b: m({"policy": a, "goal": b}),
        *(_t(4, 8), _t(4, 3)),
    ),
    "VDN": _lazy(_OU + "vdn.VDNBase", _t(4, 3, 1)),
    "MAT encoder": _lazy(
        _O + "networks.MAT_network.Encoder", _t(2, 3, 7), _t(2, 3, 6), given=(7, 6, 1, 16, 2, 3, False)
    ),
    "MAT decoder": _on(_DECODER, lambda m, *x: m(*x), _t(2, 3, 6), _t(2, 3, 16), _t(2, 3, 6)),
    "autoregressive": _decided("discrete_autoregreesive_act", _t(2, 3, 16), _t(2, 3, 6)),
    "parallel": _decided("discrete_parallel_act", _t(2, 3, 16), _t(2, 3, 6), _i(5, 2, 3, 1)),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"nnunetv2/{name}": build for name, build in _NNUNET.items()},
    **{f"torchgmm/{name}": build for name, build in _GMM.items()},
    **{f"evox/{name}": build for name, build in _EVOX.items()},
    **{f"openrl/{name}": build for name, build in _OPENRL.items()},
}

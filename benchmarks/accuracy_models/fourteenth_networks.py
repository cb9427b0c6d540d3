"""More models of packages that were chosen and run after all the others, before anything was changed for them.

Of rsl-rl, EasyOCR, torch-kf, posteriors, torch-spatiotemporal, torchphysics, pygod, torchsynth, neuralhydrology,
pytorchvideo and tabicl.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(15)

# What these packages import of others and the models here do not use.
_ABSENT = {
    "rsl_rl": ("tensorboard",),
    "tsl": ("torch_scatter.utils", "torch_sparse", "torch_scatter"),
    "easyocr": ("PIL", "torchvision.transforms", "torchvision.models", "cv2", "skimage", "bidi"),
    "posteriors": ("graphviz",),
    "torchopt": ("graphviz",),
    "torchphysics": (
        "matplotlib.pyplot",
        "matplotlib.tri",
        "pytorch_lightning.callbacks",
        "shapely.geometry",
        "trimesh",
    ),
    "torchsynth": ("pkg_resources", "pytorch_lightning.core.lightning"),
    "neuralhydrology": ("xarray.core.dataarray", "xarray.core.dataset", "ruamel.yaml", "numba", "mamba_ssm"),
    "pytorchvideo": (
        "torchvision.ops",
        "torchvision.transforms.functional",
        "torchvision.transforms.functional_tensor",
        "tabulate",
        "av",
    ),
    "tabicl": ("huggingface_hub.utils",),
}
# Packages, outer ones first, whose `__init__` needs more than the models here do.
_BARE = ("rsl_rl", "rsl_rl.utils", "easyocr", "pygod", "pygod.utils", "pygod.metric")


def _prepare(package: str) -> None:
    if package == "tsl":
        # What stands for torch_scatter cannot be scripted.
        torch.jit.script = lambda f: f
        scatter = importlib.import_module("torch_geometric.utils").scatter
        vars(sys.modules["torch_scatter"]).update(scatter=scatter)
    if package == "rsl_rl":
        # Its `utils` imports loggers that are not installed.
        vars(sys.modules["rsl_rl.utils"]).update(vars(importlib.import_module("rsl_rl.utils.utils")))
    if package == "neuralhydrology":
        sys.modules["numba"].njit = lambda f: f  # type: ignore[attr-defined]
    if package == "torchsynth":
        sys.modules["pytorch_lightning.core.lightning"].LightningModule = nn.Module  # type: ignore[attr-defined]
    if package == "torchphysics":
        sys.modules["pytorch_lightning"].LightningModule = nn.Module  # type: ignore[attr-defined]
        importlib.import_module("torchphysics.models")  # its parts import each other


_get = getter(_ABSENT, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_R = "rsl_rl."


def _observed(rows: int = 4) -> Any:
    return _get("tensordict.TensorDict")({"state": _t(rows, 6), "goal": _t(rows, 2)}, batch_size=[rows])


def _actor(kind: str, step: str = "", rows: tuple[int, ...] = (4, 5), **options: Any) -> Built:
    made = _get(_R + "models." + kind)(
        _observed(), {"actor": ["state", "goal"]}, "actor", 3, hidden_dims=(8,), obs_normalization=True, **options
    )
    if step:
        return getattr(made, step), [(_observed(),)]
    return made, [(_observed(n),) for n in rows]


_NORMAL = {"class_name": "GaussianDistribution", "init_std": 1.0}
_DONES = (torch.arange(12).reshape(6, 2) % 5 == 4).float()
_RSL: dict[str, Callable[[], Built]] = {
    "MLP": lambda: _made(_R + "modules.MLP", [(_t(4, 6),)], 6, 3, (8, 8)),
    "MLP shaped": lambda: _made(_R + "modules.MLP", [(_t(4, 6),)], 6, (2, 3), (8, 8), last_activation="tanh"),
    "CNN": lambda: _made(_R + "modules.CNN", [(_t(2, 3, 16, 16),)], (16, 16), 3, (4, 4), 3),
    "CNN pooled": lambda: _made(
        _R + "modules.CNN", [(_t(2, 3, 16, 16),)], (16, 16), 3, (4,), 3, global_pool="avg", norm="batch"
    ),
    "RNN": lambda: _made(_R + "modules.RNN", [(_t(4, 6),)], 6, 8),
    "RNN masked": lambda: held(
        _get(_R + "modules.RNN")(6, 8, type="gru"),
        lambda use, x, m: use(x, m, torch.zeros(1, 2, 8)),
        (_t(5, 2, 6), torch.ones(5, 2, dtype=torch.bool)),
    ),
    "RNN reset": lambda: held(
        _get(_R + "modules.RNN")(6, 8), lambda use, x, d: (use(x), use.reset(d), use(x)), (_t(4, 6), _i(2, 4))
    ),
    **{
        f"{name} {step}": (
            lambda name=name, use=use, width=width: held(
                _get(_R + "modules.distribution." + name)(3), use, (_t(4, *width), _u(4, 3))
            )
        )
        for name, width in (
            ("GaussianDistribution", (3,)),
            ("HeteroscedasticGaussianDistribution", (2, 3)),
            ("BetaDistribution", (2, 3)),
        )
        for step, use in (
            ("log_prob", lambda d, x, y: (d.update(x), d.log_prob(y), d.entropy)),
            ("sample", lambda d, x, _: (d.update(x), d.sample(), d.kl_divergence(d.params, d.params))),
        )
    },
    "EmpiricalNormalization": lambda: held(
        _get(_R + "modules.EmpiricalNormalization")(6, until=20), lambda use, x: (use.update(x), use(x)), (_t(4, 6),)
    ),
    "EmpiricalDiscountedVariationNormalization": lambda: held(
        _get(_R + "modules.normalization.EmpiricalDiscountedVariationNormalization")(()),
        lambda use, x: use(x),
        (_t(4),),
    ),
    "MLPModel": lambda: _actor("MLPModel"),
    "MLPModel stochastic": lambda: held(
        _actor("MLPModel", distribution_cfg=dict(_NORMAL))[0], lambda m, x: m(x, stochastic_output=True), (_observed(),)
    ),
    "MLPModel update_normalization": lambda: _actor("MLPModel", "update_normalization"),
    "RNNModel": lambda: _actor("RNNModel", rnn_hidden_dim=8, rows=(4,)),
    "split_and_pad_trajectories": lambda: _call(_R + "utils.split_and_pad_trajectories", (_t(6, 2, 3), _DONES)),
    "unpad_trajectories": lambda: _using(
        _R + "utils.split_and_pad_trajectories",
        lambda use, x, d: _get(_R + "utils.unpad_trajectories")(*use(x, d)),
        (_t(6, 2, 3), _DONES),
    ),
    "check_nan": lambda: _using(
        _R + "utils.utils.check_nan", lambda use, r, d: use(_observed(), r, d), (_t(4), torch.zeros(4))
    ),
    "PPO compute_returns": lambda: held(
        _ppo(),
        lambda p, x: (p.act(x), p.process_env_step(x, _t(4), torch.zeros(4), {}), p.compute_returns(x)),
        (_observed(),),
    ),
}


def _ppo() -> Any:
    obs = _observed()
    storage = _get(_R + "storage.RolloutStorage")("rl", 4, 1, obs, [3], "cpu")
    actor = _actor("MLPModel", distribution_cfg=dict(_NORMAL))[0]
    critic = _get(_R + "models.MLPModel")(obs, {"critic": ["state"]}, "critic", 1, hidden_dims=(8,))
    return _get(_R + "algorithms.PPO")(actor, critic, storage, num_mini_batches=1)


_E = "easyocr."
_READ = [(_u(2, 1, 32, 64), "")]
_TEXTS = [(_u(2, 1, 64, 64), "")]
_EASYOCR: dict[str, Callable[[], Built]] = {
    "Model": lambda: _made(_E + "model.model.Model", _TEXTS, 1, 16, 8, 10),
    "vgg Model": lambda: _made(_E + "model.vgg_model.Model", _TEXTS, 1, 16, 8, 10),
    "BidirectionalLSTM": lambda: _made(_E + "model.modules.BidirectionalLSTM", [(_t(2, 5, 6),)], 6, 8, 4),
    "ResNet_FeatureExtractor": lambda: _made(
        _E + "model.modules.ResNet_FeatureExtractor", [(_u(2, 1, 64, 64),)], 1, 16
    ),
    "CTCLabelConverter encode": lambda: _method(_E + "utils.CTCLabelConverter", "encode", [(["ab", "ba"],)], "abc"),
    "CTCLabelConverter decode_greedy": lambda: _method(
        _E + "utils.CTCLabelConverter", "decode_greedy", [(_i(3, 6).numpy(), torch.tensor([3, 3]).numpy())], "abc"
    ),
    "custom_mean": lambda: _using(_E + "recognition.custom_mean", lambda use, x: use(x.numpy()), (_u(5),)),
}

_K = "torch_kf."


def _tracked() -> tuple[Any, Any]:
    made = _get(_K + "ckf.constant_kalman_filter")(0.5, 0.2, dim=2, order=1)
    state = _get(_K + "GaussianState")(torch.zeros(3, 4, 1), torch.eye(4).repeat(3, 1, 1))
    return made, state


def _filtered(use: Callable[..., Any], *shape: int) -> Built:
    made, state = _tracked()
    return (lambda x: use(made, state, x)), [(_t(*shape),)]


_KF: dict[str, Callable[[], Built]] = {
    "predict": lambda: _filtered(lambda f, s, x: f.predict(s).mean + x, 3, 4, 1),
    "update": lambda: _filtered(lambda f, s, x: f.update(f.predict(s), x).mean, 3, 2, 1),
    "update missing": lambda: _filtered(
        lambda f, s, x: f.update(f.predict(s), torch.where(x > 1, torch.nan, x)).mean, 3, 2, 1
    ),
    "filter": lambda: _filtered(lambda f, s, x: f.filter(s, x).mean, 4, 3, 2, 1),
    "filter all": lambda: _filtered(lambda f, s, x: f.filter(s, x, return_all=True).covariance, 4, 3, 2, 1),
    "rts_smooth": lambda: _filtered(lambda f, s, x: f.rts_smooth(f.filter(s, x, return_all=True)).mean, 4, 3, 2, 1),
    "log_likelihood": lambda: _filtered(lambda f, s, x: f.project(s).log_likelihood(x), 3, 2, 1),
    "mahalanobis": lambda: _filtered(lambda f, s, x: f.project(s).mahalanobis(x), 3, 2, 1),
    "steady_state_covariance": lambda: _filtered(lambda f, _, x: x + f.steady_state_covariance(3).sum(), 3, 2, 1),
    "constant_kalman_filter": lambda: _using(
        _K + "ckf.constant_kalman_filter",
        lambda use, x: use(x, 0.2, dim=2, order=2, expected_model=True).process_noise,
        (torch.tensor([0.5, 0.4]),),
    ),
    "create_ckf_process_matrix": lambda: _using(
        _K + "ckf.create_ckf_process_matrix", lambda use, x: x @ use(3, 0.1), (_t(4, 4),)
    ),
    "interleave": lambda: _call(_K + "ckf.interleave", (_t(9, 2), 3)),
}

_B = "posteriors."
_PARAMS = {"w": _t(3, 2), "b": _t(2)}
_BATCH = (_t(5, 3), _t(5, 2))


def _posterior(p: Any, batch: Any) -> Any:
    x, y = batch
    out = x @ p["w"] + p["b"]
    return -((out - y) ** 2).sum(), out


def _likelihoods(p: Any, batch: Any) -> Any:
    x, y = batch
    out = x @ p["w"] + p["b"]
    return -((out - y) ** 2).sum(-1), out


def _inferred(module: str, *given: Any, likely: Any = _posterior, steps: int = 2, **options: Any) -> Built:
    def run(w: torch.Tensor, b: torch.Tensor, x: torch.Tensor, y: torch.Tensor) -> Any:
        found = _get(_B + module + ".build")(likely, *given, **options)
        state = found.init({"w": w, "b": b})
        for _ in range(steps):
            state = found.update(state, (x, y))[0]
        return state.params

    return run, [(_PARAMS["w"], _PARAMS["b"], *_BATCH)]


def _drawn(module: str, *given: Any, likely: Any = _posterior, **options: Any) -> Built:
    found = _get(_B + module + ".build")(likely, *given, **options)
    state = found.update(found.init(dict(_PARAMS)), _BATCH)[0]
    sample = _get(_B + module + ".sample")
    return (lambda x: x @ sample(state)["w"]), [(_t(4, 3),)]


_POSTERIORS: dict[str, Callable[[], Built]] = {
    **{
        f"{module.partition('.')[2]} update": (lambda module=module, options=options: _inferred(module, **options))
        for module, options in (
            ("sgmcmc.sgld", {"lr": 1e-3}),
            ("sgmcmc.sghmc", {"lr": 1e-3}),
            ("sgmcmc.sgnht", {"lr": 1e-3}),
            ("sgmcmc.baoa", {"lr": 1e-3}),
            ("sgmcmc.sglrw", {"lr": 1e-3}),
            ("laplace.dense_hessian", {}),
        )
    },
    **{
        f"{module.partition('.')[2]} update": (
            lambda module=module, options=options: _inferred(module, likely=_likelihoods, per_sample=True, **options)
        )
        for module, options in (
            ("ekf.diag_fisher", {"lr": 1e-2}),
            ("ekf.dense_fisher", {"lr": 1e-2}),
            ("laplace.diag_fisher", {}),
            ("laplace.dense_fisher", {}),
        )
    },
    "vi diag": lambda: _inferred("vi.diag", _get("torchopt.adam")(lr=1e-2)),
    "vi dense": lambda: _inferred("vi.dense", _get("torchopt.adam")(lr=1e-2), steps=1),
    "ekf sample": lambda: _drawn("ekf.diag_fisher", lr=1e-2, likely=_likelihoods, per_sample=True),
    "laplace sample": lambda: _drawn("laplace.diag_fisher", likely=_likelihoods, per_sample=True, init_prec_diag=1.0),
    "cg": lambda: _using(
        _B + "utils.cg", lambda use, a, b: use(lambda v: a @ v, b, maxiter=4), (4 * torch.eye(3) + 0.1, _t(3))
    ),
    "hvp": lambda: _using(_B + "utils.hvp", lambda use, x, v: use(lambda p: (p**3).sum(), (x,), (v,)), (_t(3), _t(3))),
    "fvp": lambda: _using(
        _B + "utils.fvp", lambda use, x, v: use(lambda p: p**3, (x,), (v,), normalize=True), (_t(3), _t(3))
    ),
    "empirical_fisher": lambda: _using(
        _B + "utils.empirical_fisher", lambda use, x: use(lambda p: p**3, normalize=True)(x), (_t(3),)
    ),
    "ggnvp": lambda: _using(
        _B + "utils.ggnvp", lambda use, x, v: use(lambda p: p**3, lambda z: (z**2).sum(), (x,), (v,)), (_t(3), _t(3))
    ),
    "diag_normal_log_prob": lambda: _using(
        _B + "utils.diag_normal_log_prob", lambda use, x: use({"a": x}, {"a": x + 1}, 2.0), (_t(3),)
    ),
    "diag_normal_sample": lambda: _using(
        _B + "utils.diag_normal_sample", lambda use, x: use({"a": x}, 0.5, (2,)), (_t(3),)
    ),
    "L_from_flat": lambda: _call(_B + "utils.L_from_flat", (_t(6),)),
    "L_to_flat": lambda: _call(_B + "utils.L_to_flat", (_t(3, 3).tril(),)),
    "cumulative_mean_and_cov": lambda: _call(_B + "utils.cumulative_mean_and_cov", (_t(6, 3),)),
    "linearized_forward_diag": lambda: _using(
        _B + "utils.linearized_forward_diag",
        lambda use, w, x: use(lambda p, z: (z @ p["w"], torch.tensor([])), {"w": w}, x, {"w": w.abs()}),
        (_t(3, 2), _t(4, 3)),
    ),
    "tree_insert": lambda: _using(
        _B + "tree_utils.tree_insert",
        lambda use, x, y: use({"a": x, "b": y}, {"a": y, "b": x}, lambda v: v.requires_grad),
        (_t(3).requires_grad_(), _t(3)),
    ),
    "tree_size": lambda: _using(_B + "tree_utils.tree_size", lambda use, x: x * use({"a": x, "b": x}), (_t(3),)),
}

_S = "tsl."
_SERIES = _t(2, 6, 5, 3)
_EDGES = torch.tensor([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]])
_EDGE_WEIGHTS = _u(6)
_ADJACENT = (_u(5, 5) > 0.5).float()
_MISSING = _u(2, 6, 5, 3) > 0.3


def _net(name: str, inputs: tuple[Any, ...], **options: Any) -> Built:
    return _made(_S + "nn.models." + name, [inputs], **options)


_SIZES = {"input_size": 3, "output_size": 3, "horizon": 2}
_TSL: dict[str, Callable[[], Built]] = {
    "MultiHeadAttention": lambda: _made(_S + "nn.layers.MultiHeadAttention", [(_t(2, 6, 5, 8),)], 8, 2),
    "TemporalSelfAttention": lambda: _made(_S + "nn.layers.TemporalSelfAttention", [(_t(2, 6, 5, 8),)], 8, 2),
    "SpatialSelfAttention": lambda: _made(_S + "nn.layers.SpatialSelfAttention", [(_t(2, 6, 5, 8),)], 8, 2),
    "AdaptiveGraphConv": lambda: _made(_S + "nn.layers.AdaptiveGraphConv", [(_t(2, 5, 3), _t(5, 4))], 3, 4, 6, 5),
    "DenseGraphConvOrderK": lambda: _using(
        _S + "nn.layers.DenseGraphConvOrderK",
        lambda use, x, a: use(3, 4, support_len=2, channel_last=True)(x, use.compute_support(a)),
        (_SERIES, _ADJACENT),
    ),
    "DiffConv": lambda: _made(_S + "nn.layers.DiffConv", [(_SERIES, _EDGES, _EDGE_WEIGHTS)], 3, 4, 2),
    "GatedGraphNetwork": lambda: _made(_S + "nn.layers.GatedGraphNetwork", [(_SERIES, _EDGES)], 3, 4),
    "GraphPolyVAR": lambda: _made(_S + "nn.layers.GraphPolyVAR", [(_t(2, 6, 5, 1), _EDGES)], 3, 2),
    "GraphConv": lambda: _made(_S + "nn.layers.GraphConv", [(_SERIES, _EDGES, _EDGE_WEIGHTS)], 3, 4),
    "GraphConv gcn": lambda: _made(_S + "nn.layers.GraphConv", [(_SERIES, _EDGES)], 3, 4, norm="gcn", cached=True),
    "SpatiotemporalCrossAttention": lambda: _made(
        _S + "nn.layers.graph_convs.spatiotemporal_cross_attention.SpatiotemporalCrossAttention",
        [((_t(2, 6, 5, 8), _t(2, 6, 5, 8)), _EDGES)],
        8,
        8,
    ),
    "MultiLinear": lambda: _made(_S + "nn.layers.MultiLinear", [(_SERIES,)], 3, 4, 5),
    "MultiDense": lambda: _made(_S + "nn.layers.MultiDense", [(_SERIES,)], 3, 4, 5),
    **{
        f"Norm {kind}": (lambda kind=kind: _made(_S + "nn.layers.Norm", [(_SERIES,)], kind, 3))
        for kind in ("batch", "instance", "layer", "none")
    },
    "GRINCell": lambda: _made(
        _S + "nn.layers.recurrent.GRINCell", [(_SERIES, _EDGES, _EDGE_WEIGHTS, _MISSING)], 3, 4, n_nodes=5
    ),
    "AGCRNModel": lambda: _net("AGCRNModel", (_SERIES,), **_SIZES, n_nodes=5, hidden_size=4, emb_size=3),
    "DCRNNModel": lambda: _net("DCRNNModel", (_SERIES, _EDGES, _EDGE_WEIGHTS), **_SIZES, hidden_size=4, ff_size=4),
    "EvolveGCNModel": lambda: _net(
        "EvolveGCNModel",
        (_SERIES, _EDGES),
        **_SIZES,
        hidden_size=4,
        exog_size=0,
        n_layers=1,
        norm="mean",
        root_weight=False,
        cached=False,
    ),
    "EvolveGCNModel O": lambda: _net(
        "EvolveGCNModel",
        (_SERIES, _EDGES),
        **_SIZES,
        hidden_size=4,
        exog_size=0,
        n_layers=1,
        norm="gcn",
        root_weight=True,
        cached=False,
        variant="O",
    ),
    "GatedGraphNetworkModel": lambda: _net(
        "GatedGraphNetworkModel", (_SERIES, _EDGES), **_SIZES, input_window_size=6, n_nodes=5, hidden_size=4
    ),
    "GatedGraphNetworkModel full": lambda: _net(
        "GatedGraphNetworkModel", (_SERIES,), **_SIZES, input_window_size=6, n_nodes=5, hidden_size=4, full_graph=True
    ),
    "GraphWaveNetModel": lambda: _net(
        "GraphWaveNetModel", (_SERIES, _EDGES), **_SIZES, hidden_size=4, ff_size=4, n_layers=2, n_nodes=5, emb_size=3
    ),
    "GRINModel": lambda: _net(
        "GRINModel",
        (_SERIES, _EDGES, _EDGE_WEIGHTS, _MISSING),
        input_size=3,
        hidden_size=4,
        ff_size=4,
        n_nodes=5,
        embedding_size=3,
    ),
    "GRUGCNModel": lambda: _net(
        "GRUGCNModel", (_SERIES, _EDGES), **_SIZES, hidden_size=4, exog_size=0, enc_layers=1, gcn_layers=1
    ),
    "RNNEncGCNDecModel": lambda: _net(
        "RNNEncGCNDecModel",
        (_SERIES, _EDGES, _EDGE_WEIGHTS),
        **_SIZES,
        hidden_size=4,
        exog_size=0,
        rnn_layers=1,
        gcn_layers=1,
        rnn_dropout=0.0,
        gcn_dropout=0.0,
    ),
    "STCNModel": lambda: _net(
        "STCNModel",
        (_SERIES, _EDGES),
        **_SIZES,
        exog_size=0,
        hidden_size=4,
        ff_size=4,
        n_layers=1,
        temporal_kernel_size=2,
        spatial_kernel_size=2,
    ),
    "ARModel": lambda: _net("ARModel", (_SERIES,), **_SIZES, temporal_order=4),
    "VARModel": lambda: _net("VARModel", (_SERIES,), **_SIZES, temporal_order=4, n_nodes=5),
    "RNNImputerModel": lambda: _net("RNNImputerModel", (_SERIES, _MISSING), input_size=3, hidden_size=4),
    "BiRNNImputerModel": lambda: _net("BiRNNImputerModel", (_SERIES, _MISSING), input_size=3, hidden_size=4),
    "RNNModel": lambda: _net("RNNModel", (_SERIES,), **_SIZES, hidden_size=4, ff_size=4),
    "FCRNNModel": lambda: _net("FCRNNModel", (_SERIES,), **_SIZES, n_nodes=5, hidden_size=4, ff_size=4),
    "TCNModel": lambda: _net("TCNModel", (_SERIES,), **_SIZES, hidden_size=4, ff_size=4, n_layers=2),
    "TransformerModel": lambda: _net("TransformerModel", (_SERIES,), **_SIZES, hidden_size=4, ff_size=4),
    "TransformerModel both": lambda: _net(
        "TransformerModel", (_SERIES,), **_SIZES, hidden_size=4, ff_size=4, axis="both"
    ),
    **{
        f"metric {name}": (
            lambda name=name: _call(_S + "metrics.torch.functional." + name, (_SERIES, 1 + _SERIES, _MISSING))
        )
        for name in ("mae", "nmae", "mape", "smape", "mse", "rmse", "r2", "mre")
    },
    "metric multi_quantile_pinball_loss": lambda: _call(
        _S + "metrics.torch.functional.multi_quantile_pinball_loss", (_t(2, 4, 3), _t(4, 3), [0.1, 0.9])
    ),
    "MaskedMAE": lambda: _made(_S + "metrics.torch.MaskedMAE", [(_SERIES, 1 + _SERIES, _MISSING)], mask_nans=True),
    "MaskedMRE": lambda: _made(_S + "metrics.torch.MaskedMRE", [(_SERIES, 1 + _SERIES, _MISSING)], at=1),
    "power_series": lambda: _call(_S + "ops.connectivity.power_series", (_EDGES, _EDGE_WEIGHTS)),
    "graph normalize": lambda: _call(
        _S + "ops.connectivity.normalize_connectivity", (_EDGES, _EDGE_WEIGHTS, "asym", 5)
    ),
    "asymmetric_norm": lambda: _call(_S + "ops.connectivity.asymmetric_norm", (_EDGES, _EDGE_WEIGHTS)),
    "expand_then_cat": lambda: _call(_S + "nn.functional.expand_then_cat", ((_t(2, 1, 3), _t(2, 4, 2)),)),
    "gated_tanh": lambda: _call(_S + "nn.functional.gated_tanh", (_t(4, 6),)),
}

_Y = "torchphysics."


def _space(name: str, dim: int) -> Any:
    return _get(_Y + f"problem.spaces.R{dim}")(name)


def _points(x: torch.Tensor, name: str = "x") -> Any:
    return _get(_Y + "problem.spaces.Points")(x, _space(name, x.shape[-1]))


def _solved(name: str, **options: Any) -> Built:
    made = _get(_Y + "models." + name)(_space("x", 2), _space("u", 1), **options)
    return held(made, lambda m, x: m(_points(x)).as_tensor, (_t(6, 2),))


def _sampled(use: Callable[..., Any], make: Callable[..., Any]) -> Built:
    return held(make(), use, (_t(6, 2),))


def _circle() -> Any:
    return _get(_Y + "problem.domains.Circle")(_space("x", 2), [0.0, 0.0], 1.0)


def _square() -> Any:
    return _get(_Y + "problem.domains.Parallelogram")(_space("x", 2), [0.0, 0.0], [1.0, 0.0], [0.0, 1.0])


def _interval() -> Any:
    return _get(_Y + "problem.domains.Interval")(_space("t", 1), 0.0, 1.0)


def _condition(kind: str, sampler: Any, residual: Callable[..., Any]) -> Built:
    net = _get(_Y + "models.FCN")(_space("x", 2), _space("u", 1), hidden=(8,))
    return held(_get(_Y + "problem.conditions." + kind)(net, sampler, residual), lambda c, x: c() + x.sum(), (_t(2),))


def _differential(name: str, outputs: int = 1, pair: bool = False) -> Built:
    def run(x: torch.Tensor) -> Any:
        x = x.clone().requires_grad_()
        out = torch.stack([(x**2).sum(-1), x[:, 0] * x[:, 1], x[:, 0] ** 3][:outputs], -1)
        use = _get(_Y + "utils." + name)
        return use(out, torch.ones_like(x), x) if pair else use(out, x)

    return run, [(_t(6, max(outputs, 2)),)]


_PHYSICS: dict[str, Callable[[], Built]] = {
    "FCN": lambda: _solved("FCN", hidden=(8, 8)),
    "Harmonic_FCN": lambda: _solved("Harmonic_FCN", max_frequenz=2, hidden=(8,)),
    "Polynomial_FCN": lambda: _solved("Polynomial_FCN", polynomial_degree=2, hidden=(8,)),
    "QRES": lambda: _solved("QRES", hidden=(8,)),
    "DeepRitzNet": lambda: _solved("DeepRitzNet", width=8, depth=2),
    "NormalizationLayer": lambda: held(
        _get(_Y + "models.NormalizationLayer")(_square()), lambda m, x: m(_points(x)).as_tensor, (_t(6, 2),)
    ),
    "AdaptiveWeightLayer": lambda: _made(_Y + "models.AdaptiveWeightLayer", [(_t(6),)], 6),
    "AdaptiveActivationFunction": lambda: _made(_Y + "models.AdaptiveActivationFunction", [(_t(6),)], nn.Tanh()),
    "ReLUn": lambda: _made(_Y + "models.ReLUn", [(_t(6),)], 2),
    "TrunkLinear": lambda: _made(_Y + "models.deeponet.layers.TrunkLinear", [(_t(2, 6, 3),)], 3, 4),
    **{
        f"{name}": (lambda name=name, outputs=outputs, pair=pair: _differential(name, outputs, pair))
        for name, outputs, pair in (
            ("laplacian", 1, False),
            ("grad", 1, False),
            ("div", 2, False),
            ("jac", 2, False),
            ("rot", 3, False),
            ("partial", 1, False),
            ("sym_grad", 2, False),
            ("normal_derivative", 1, True),
        )
    },
    "discrete_grad_on_grid": lambda: _call(_Y + "utils.discrete_grad_on_grid", (_t(2, 6, 6, 1), 0.1)),
    "Circle contains": lambda: held(_circle(), lambda d, x: d._contains(_points(x)), (_t(6, 2),)),
    "Circle sample_random_uniform": lambda: held(
        _circle(), lambda d, x: d.sample_random_uniform(n=6).as_tensor + x, (_t(6, 2),)
    ),
    "Circle sample_grid": lambda: held(_circle(), lambda d, x: d.sample_grid(n=9).as_tensor.sum() + x, (_t(6, 2),)),
    "Circle boundary": lambda: held(
        _circle().boundary, lambda d, x: d.normal(d.sample_random_uniform(n=6)) + x, (_t(6, 2),)
    ),
    "Circle density": lambda: held(
        _circle(), lambda d, x: d.sample_random_uniform(d=4.0).as_tensor.sum() + x, (_t(6, 2),)
    ),
    "Parallelogram contains": lambda: held(_square(), lambda d, x: d._contains(_points(x)), (_t(6, 2),)),
    "Parallelogram sample_random_uniform": lambda: held(
        _square(), lambda d, x: d.sample_random_uniform(n=6).as_tensor + x, (_t(6, 2),)
    ),
    "Parallelogram sample_grid": lambda: held(
        _square(), lambda d, x: d.sample_grid(n=9).as_tensor.sum() + x, (_t(6, 2),)
    ),
    "Parallelogram boundary": lambda: held(
        _square().boundary, lambda d, x: d.normal(d.sample_grid(n=8)).sum() + x, (_t(6, 2),)
    ),
    "Cut sample_random_uniform": lambda: held(
        _square() - _circle(), lambda d, x: d.sample_random_uniform(n=6).as_tensor + x, (_t(6, 2),)
    ),
    "Union sample_grid": lambda: held(
        _square() + _circle(), lambda d, x: d.sample_grid(n=9).as_tensor.sum() + x, (_t(6, 2),)
    ),
    "Intersection boundary": lambda: held(
        (_square() & _circle()).boundary, lambda d, x: d.sample_random_uniform(n=6).as_tensor + x, (_t(6, 2),)
    ),
    "Product sample": lambda: held(
        _square() * _interval(), lambda d, x: d.sample_random_uniform(n=6).as_tensor.sum() + x, (_t(6, 2),)
    ),
    "RandomUniformSampler": lambda: _sampled(
        lambda s, x: s.sample_points().as_tensor + x,
        lambda: _get(_Y + "problem.samplers.RandomUniformSampler")(_square(), 6),
    ),
    "RandomUniformSampler filtered": lambda: _sampled(
        lambda s, x: s.sample_points().as_tensor + x,
        lambda: _get(_Y + "problem.samplers.RandomUniformSampler")(_square(), 6, filter_fn=lambda x: x[:, :1] > 0.5),
    ),
    "GridSampler": lambda: _sampled(
        lambda s, x: s.sample_points().as_tensor.sum() + x,
        lambda: _get(_Y + "problem.samplers.GridSampler")(_square(), 9),
    ),
    "LHSSampler": lambda: _sampled(
        lambda s, x: s.sample_points().as_tensor + x, lambda: _get(_Y + "problem.samplers.LHSSampler")(_square(), 6)
    ),
    "GaussianSampler": lambda: _sampled(
        lambda s, x: s.sample_points().as_tensor + x,
        lambda: _get(_Y + "problem.samplers.GaussianSampler")(_square(), 6, torch.tensor([0.5, 0.5]), 0.2),
    ),
    "PINNCondition": lambda: _condition(
        "PINNCondition",
        _get(_Y + "problem.samplers.RandomUniformSampler")(_square(), 6),
        lambda u, x: _get(_Y + "utils.laplacian")(u, x) - 1.0,
    ),
    "DeepRitzCondition": lambda: _condition(
        "DeepRitzCondition",
        _get(_Y + "problem.samplers.RandomUniformSampler")(_square(), 6),
        lambda u, x: (_get(_Y + "utils.grad")(u, x) ** 2).sum(-1, keepdim=True),
    ),
    "AdaptiveWeightsCondition": lambda: _condition(
        "AdaptiveWeightsCondition",
        _get(_Y + "problem.samplers.RandomUniformSampler")(_square(), 6).make_static(),
        lambda u, x: u - x[:, :1],
    ),
    "Points join": lambda: _using(
        _Y + "problem.spaces.Points",
        lambda use, x, y: use.joined(_points(x), _points(y, "y"))[1:3, "y"].as_tensor,
        (_t(6, 2), _t(6, 1)),
    ),
    "Points arithmetic": lambda: _using(
        _Y + "problem.spaces.Points", lambda _, x: ((_points(x) + _points(x)) * _points(x)).as_tensor, (_t(6, 2),)
    ),
}

_G = "pygod."
_GRAPH = (_t(5, 6), _EDGES)


def _outliers(name: str, *inputs: Any, loss: Callable[..., Any] | None = None, **options: Any) -> Built:
    made = _get(_G + "nn." + name)(**{"in_dim": 6, "hid_dim": 8, "num_layers": 2} | options)
    if loss is None:
        return made, [inputs or _GRAPH]
    return held(made, loss, inputs or _GRAPH)


_PYGOD: dict[str, Callable[[], Built]] = {
    "DOMINANTBase": lambda: _outliers("DOMINANTBase"),
    "GAEBase": lambda: _outliers("GAEBase"),
    "GAEBase structure": lambda: _outliers("GAEBase", recon_s=True),
    "AnomalyDAEBase": lambda: _made(_G + "nn.AnomalyDAEBase", [(_t(5, 6), _EDGES, 5)], 6, 5, 8, 8),
    "CoLABase": lambda: _outliers("CoLABase"),
    "OCGNNBase": lambda: _outliers("OCGNNBase"),
    "OCGNNBase loss": lambda: _outliers("OCGNNBase", loss=lambda m, x, e: m.loss_func(m(x, e))),
    "DMGDBase loss": lambda: _outliers("DMGDBase", loss=lambda m, x, e: m.loss_func(x, *m(x, e))),
    "GAANBase": lambda: _outliers("GAANBase", _t(5, 6), _t(5, 4), noise_dim=4),
    "GAANBase loss": lambda: held(
        _get(_G + "nn.GAANBase"), lambda m, a, b: (m.loss_func_g(a), m.loss_func_ed(a, b)), (_u(5, 5), _u(5, 5))
    ),
    "AdONEBase": lambda: _made(_G + "nn.AdONEBase", [(_t(5, 6), _t(5, 5), _EDGES)], 6, 5, 8),
    "DONEBase": lambda: _made(_G + "nn.DONEBase", [(_t(5, 6), _t(5, 5), _EDGES)], 6, 5, 8),
    "GUIDEBase": lambda: _made(_G + "nn.GUIDEBase", [(_t(5, 6), _t(5, 4), _EDGES)], 6, 4, 8, 4),
    "NeighDiff": lambda: _made(_G + "nn.conv.NeighDiff", [(_t(5, 6), _EDGES)]),
    "GNAConv": lambda: _made(_G + "nn.conv.GNAConv", [(_t(5, 6), _EDGES)], 6, 4),
    "double_recon_loss": lambda: _call(
        _G + "nn.functional.double_recon_loss", (_t(5, 6), _t(5, 6), _u(5, 5), _u(5, 5)), pos_weight_a=0.7
    ),
    "KL_neighbor_loss": lambda: _call(_G + "nn.functional.KL_neighbor_loss", (_t(8, 4), _t(8, 4), 4, "cpu")),
    "W2_neighbor_loss": lambda: _call(_G + "nn.functional.W2_neighbor_loss", (_t(8, 4), _t(8, 4), 4, "cpu")),
    "eval_roc_auc": lambda: _call(_G + "metric.metric.eval_roc_auc", (_i(2, 8), _u(8))),
    "eval_recall_at_k": lambda: _call(_G + "metric.metric.eval_recall_at_k", (_i(2, 8), _u(8))),
    "eval_precision_at_k": lambda: _call(_G + "metric.metric.eval_precision_at_k", (_i(2, 8), _u(8), 3)),
    "to_edge_score": lambda: _call(_G + "utils.score_converter.to_edge_score", (_u(5), _EDGES)),
    "to_graph_score": lambda: _call(_G + "utils.score_converter.to_graph_score", (_u(5),)),
}

_T = "torchsynth."


def _synth(name: str, use: Callable[..., Any], *inputs: Any, **options: Any) -> Built:
    config = _get(_T + "config.SynthConfig")(
        batch_size=2, sample_rate=800, buffer_size_seconds=0.5, control_rate=80, reproducible=False
    )
    return held(_get(_T + "module." + name)(config, **options), use, *inputs)


_PITCHES = torch.tensor([40.0, 52.0])
_SOUND = _t(2, 400)
_CONTROL = _u(2, 40)
_SYNTH: dict[str, Callable[[], Built]] = {
    "ADSR": lambda: _synth("ADSR", lambda m, d: m(d), (torch.tensor([0.2, 0.3]),)),
    "SineVCO": lambda: _synth("SineVCO", lambda m, f, x: m(f, _signal(x)), (_PITCHES, _SOUND)),
    "FmVCO": lambda: _synth("FmVCO", lambda m, f, x: m(f, _signal(x)), (_PITCHES, _SOUND)),
    "SquareSawVCO": lambda: _synth("SquareSawVCO", lambda m, f, x: m(f, _signal(x)), (_PITCHES, _SOUND)),
    "VCA": lambda: _synth("VCA", lambda m, x, y: m(_signal(x), _signal(y)), (_SOUND, _u(2, 400))),
    "Noise": lambda: _synth("Noise", lambda m, x: m() + x, (_SOUND,), seed=3),
    "LFO": lambda: _synth("LFO", lambda m, x: m(_signal(x)), (_CONTROL,)),
    "ModulationMixer": lambda: _synth(
        "ModulationMixer", lambda m, x, y: m(_signal(x), _signal(y)), (_CONTROL, _u(2, 40)), n_input=2, n_output=2
    ),
    "AudioMixer": lambda: _synth(
        "AudioMixer", lambda m, x, y: m(_signal(x), _signal(y)), (_SOUND, _t(2, 400)), n_input=2
    ),
    "ControlRateUpsample": lambda: _synth("ControlRateUpsample", lambda m, x: m(_signal(x)), (_CONTROL,)),
    "MonophonicKeyboard": lambda: _synth("MonophonicKeyboard", lambda m, x: (m(), x), (_t(2),)),
    "SoftModeSelector": lambda: _synth("SoftModeSelector", lambda m, x: (m(), x), (_t(2),), n_modes=3),
    "HardModeSelector": lambda: _synth("HardModeSelector", lambda m, x: (m(), x), (_t(2),), n_modes=3),
    "midi_to_hz": lambda: _call(_T + "util.midi_to_hz", (_PITCHES,)),
    "fix_length": lambda: _using(_T + "util.fix_length", lambda use, x: use(_signal(x), torch.tensor(300)), (_SOUND,)),
    "normalize_if_clipping": lambda: _using(
        _T + "util.normalize_if_clipping", lambda use, x: use(_signal(x)), (_SOUND,)
    ),
    "ModuleParameterRange": lambda: _using(
        _T + "parameter.ModuleParameterRange", lambda use, x: use(0.0, 5.0, curve=0.5).from_0to1(x), (_u(4),)
    ),
    "ModuleParameterRange symmetric": lambda: _using(
        _T + "parameter.ModuleParameterRange",
        lambda use, x: use(-1.0, 1.0, curve=0.5, symmetric=True).to_0to1(2 * x - 1),
        (_u(4),),
    ),
}


def _signal(x: torch.Tensor) -> Any:
    return x.as_subclass(_get(_T + "signal.Signal"))


_H = "neuralhydrology."
_WATER = {
    "x_d": {name: _t(3, 8, 1) for name in ("p", "t")},
    "x_s": _t(3, 2),
    "y": _t(3, 8, 1),
}


def _config(**options: Any) -> Any:
    return _get(_H + "utils.config.Config")(
        {
            "dynamic_inputs": ["p", "t"],
            "static_attributes": ["area", "slope"],
            "target_variables": ["q"],
            "hidden_size": 8,
            "model": "cudalstm",
            "output_dropout": 0.0,
            "head": "regression",
            "seq_length": 8,
            "predict_last_n": 1,
            "output_activation": "linear",
            "n_distributions": 2,
            "transformer_nheads": 2,
            "transformer_nlayers": 1,
            "transformer_dim_feedforward": 8,
            "transformer_positional_encoding_type": "sum",
            "transformer_positional_dropout": 0.0,
            "transformer_dropout": 0.0,
            "mass_inputs": ["p"],
        }
        | options,
        dev_mode=True,
    )


def _hydro(path: str, **options: Any) -> Built:
    return _get(_H + "modelzoo." + path)(_config(**options)), [(_WATER,)]


def _water_loss(name: str, predicted: dict[str, torch.Tensor], **options: Any) -> Built:
    data = {"y": torch.where(_u(3, 8, 1) > 0.2, _t(3, 8, 1), torch.nan), "per_basin_target_stds": _u(3, 1, 1) + 0.5}
    return held(
        _get(_H + "training.loss." + name)(_config(predict_last_n=4, **options)),
        lambda loss, p, d: loss(p, d),
        (predicted, data),
    )


_HYDRO: dict[str, Callable[[], Built]] = {
    "CudaLSTM": lambda: _hydro("cudalstm.CudaLSTM"),
    "EALSTM": lambda: _hydro("ealstm.EALSTM"),
    "GRU": lambda: _hydro("gru.GRU"),
    "EmbCudaLSTM": lambda: _hydro("embcudalstm.EmbCudaLSTM"),
    "Transformer": lambda: _hydro("transformer.Transformer", seq_length=8),
    "MCLSTM": lambda: _hydro("mclstm.MCLSTM"),
    "CudaLSTM gmm": lambda: _hydro("cudalstm.CudaLSTM", head="gmm"),
    "CudaLSTM cmal": lambda: _hydro("cudalstm.CudaLSTM", head="cmal"),
    "InputLayer masked": lambda: _hydro(
        "inputlayer.InputLayer", nan_handling_method="masked_mean", dynamic_inputs=[["p"], ["t"]]
    ),
    "InputLayer replacing": lambda: _hydro(
        "inputlayer.InputLayer", nan_handling_method="input_replacing", dynamic_inputs=[["p"], ["t"]]
    ),
    "InputLayer attention": lambda: _hydro(
        "inputlayer.InputLayer",
        nan_handling_method="attention",
        dynamic_inputs=[["p"], ["t"]],
        dynamics_embedding={"type": "fc", "hiddens": [4], "activation": "tanh", "dropout": 0.0},
    ),
    "FC": lambda: _made(_H + "modelzoo.fc.FC", [(_t(3, 4),)], 4, [6, 6], "relu"),
    "GMM": lambda: _made(_H + "modelzoo.head.GMM", [(_t(3, 8, 4),)], 4, 6, 8),
    "CMAL": lambda: _made(_H + "modelzoo.head.CMAL", [(_t(3, 8, 4),)], 4, 8, 8),
    "UMAL": lambda: _made(_H + "modelzoo.head.UMAL", [(_t(3, 8, 4),)], 4, 2, 8),
    "MaskedMSELoss": lambda: _water_loss("MaskedMSELoss", {"y_hat": _t(3, 8, 1)}),
    "MaskedRMSELoss": lambda: _water_loss("MaskedRMSELoss", {"y_hat": _t(3, 8, 1)}),
    "MaskedNSELoss": lambda: _water_loss("MaskedNSELoss", {"y_hat": _t(3, 8, 1)}),
    "MaskedGMMLoss": lambda: _water_loss(
        "MaskedGMMLoss",
        {"mu": _t(3, 8, 2), "sigma": _u(3, 8, 2) + 0.1, "pi": _t(3, 8, 2).softmax(-1)},
        head="gmm",
    ),
    "MaskedCMALLoss": lambda: _water_loss(
        "MaskedCMALLoss",
        {"mu": _t(3, 8, 2), "b": _u(3, 8, 2) + 0.1, "tau": _u(3, 8, 2), "pi": _t(3, 8, 2).softmax(-1)},
        head="cmal",
    ),
    "PositionalEncoding": lambda: _made(
        _H + "modelzoo.positional_encoding.PositionalEncoding", [(_t(8, 3, 4),)], 4, "sum", 0.0, 16
    ),
}

_V = "pytorchvideo."
_CLIP = [(_t(1, 3, 4, 32, 32),)]
_VIDEO: dict[str, Callable[[], Built]] = {
    "x3d": lambda: (
        _get(_V + "models.x3d.create_x3d")(
            input_clip_length=4, input_crop_size=32, model_num_class=5, stem_dim_in=4, depth_factor=1.0, head_dim_out=8
        ),
        _CLIP,
    ),
    "csn": lambda: (
        _get(_V + "models.csn.create_csn")(
            model_depth=50,
            model_num_class=5,
            stem_dim_out=4,
            head_pool_kernel_size=(1, 1, 1),
            head_output_with_global_average=True,
        ),
        _CLIP,
    ),
    "multiscale vision transformer": lambda: (
        _get(_V + "models.vision_transformers.create_multiscale_vision_transformers")(
            spatial_size=32,
            temporal_size=4,
            depth=2,
            patch_embed_dim=8,
            head_num_classes=5,
            pool_q_stride_size=[[1, 1, 2, 2]],
            pool_kvq_kernel=[3, 3, 3],
            pool_kv_stride_adaptive=[1, 2, 2],
        ),
        _CLIP,
    ),
    "NonLocal": lambda: _using(
        _V + "layers.nonlocal_net.create_nonlocal", lambda use, x: use(dim_in=4, dim_inner=2)(x), (_t(1, 4, 2, 6, 6),)
    ),
    "MultiScaleAttention": lambda: _made(
        _V + "layers.attention.MultiScaleAttention",
        [(_t(1, 17, 8), [1, 4, 4])],
        8,
        2,
        kernel_q=(1, 3, 3),
        kernel_kv=(1, 3, 3),
        stride_q=(1, 2, 2),
        stride_kv=(1, 2, 2),
    ),
    "MultiScaleBlock": lambda: _made(
        _V + "layers.attention.MultiScaleBlock", [(_t(1, 17, 8), [1, 4, 4])], 8, 8, 2, droppath_rate=0.3
    ),
    "PositionalEncoding": lambda: _made(_V + "layers.positional_encoding.PositionalEncoding", [(_t(1, 6, 8),)], 8, 16),
    "SpatioTemporalClsPositionalEncoding": lambda: _made(
        _V + "layers.positional_encoding.SpatioTemporalClsPositionalEncoding", [(_t(1, 16, 8),)], 8, (1, 4, 4)
    ),
    "drop_path": lambda: _call(_V + "layers.drop_path.drop_path", (_t(4, 8), 0.3, True)),
    "SqueezeAndExcitationLayer2D": lambda: _made(
        _V + "layers.squeeze_excitation.SqueezeAndExcitationLayer2D", [(_t(1, 32, 6, 6),)], 32
    ),
    "TemporalConcatFusion": lambda: _made(
        _V + "layers.fusion.TemporalConcatFusion", [([_t(1, 4, 8), _t(1, 3, 8)],)], [8, 8]
    ),
    "NaiveSyncBatchNorm3d": lambda: _made(_V + "layers.batch_norm.NaiveSyncBatchNorm3d", _CLIP, 3),
    "uniform_temporal_subsample": lambda: _call(
        _V + "transforms.functional.uniform_temporal_subsample", (_t(3, 8, 6, 6), 4)
    ),
    "uniform_temporal_subsample_repeated": lambda: _call(
        _V + "transforms.functional.uniform_temporal_subsample_repeated", (_t(3, 8, 6, 6), (1, 4))
    ),
    "short_side_scale": lambda: _call(_V + "transforms.functional.short_side_scale", (_t(3, 4, 8, 12), 6)),
    "convert_to_one_hot": lambda: _call(_V + "transforms.functional.convert_to_one_hot", (_i(5, 3), 5, 0.1)),
    "short_side_scale_with_boxes": lambda: _call(
        _V + "transforms.functional.short_side_scale_with_boxes", (_t(3, 4, 8, 12), _u(2, 4), 6)
    ),
    "random_crop_with_boxes": lambda: _call(
        _V + "transforms.functional.random_crop_with_boxes", (_t(3, 4, 8, 12), 6, 8 * _u(2, 4))
    ),
    "uniform_crop": lambda: _call(_V + "transforms.functional.uniform_crop", (_t(3, 4, 8, 12), 6, 2)),
    "uniform_crop_with_boxes": lambda: _call(
        _V + "transforms.functional.uniform_crop_with_boxes", (_t(3, 4, 8, 12), 6, 2, 8 * _u(2, 4))
    ),
    "horizontal_flip_with_boxes": lambda: _call(
        _V + "transforms.functional.horizontal_flip_with_boxes", (0.5, _t(3, 4, 8, 12), 8 * _u(2, 4))
    ),
    "div_255": lambda: _call(_V + "transforms.functional.div_255", (255 * _u(3, 4, 8, 8),)),
    "MixUp": lambda: _made(_V + "transforms.mix.MixUp", [(_u(2, 3, 4, 8, 8), _i(5, 2))], num_classes=5),
    "CutMix": lambda: _made(_V + "transforms.mix.CutMix", [(_u(2, 3, 4, 8, 8), _i(5, 2))], num_classes=5),
    "MemoryBank": lambda: _using(
        _V + "models.memory_bank.MemoryBank",
        lambda use, x, i: use(nn.Linear(6, 4), None, neg_size=4, bank_size=8, dim=4)(x, i),
        (_t(3, 6), torch.tensor([0, 2, 5])),
    ),
}

_C = "tabicl._model."
_QUANTILES = _t(4, 9).sort(-1)[0]


def _quantiles(use: Callable[..., Any], **options: Any) -> Built:
    return (lambda q, z: use(_get(_C + "quantile_dist.QuantileToDistribution")(num_quantiles=9, **options)(q), z)), [
        (_QUANTILES, _t(4))
    ]


def _tabular(**options: Any) -> Any:
    return _get(_C + "tabicl.TabICL")(
        embed_dim=8,
        col_num_blocks=1,
        col_nhead=2,
        col_num_inds=4,
        row_num_blocks=1,
        row_nhead=2,
        row_num_cls=2,
        icl_num_blocks=1,
        icl_nhead=2,
        ff_factor=1,
        **options,
    )


_LABELLED = (_t(2, 6, 4), torch.tensor([[0.0, 1.0, 2.0, 1.0], [1.0, 0.0, 2.0, 1.0]]))
_TABICL: dict[str, Callable[[], Built]] = {
    "TabICL": lambda: (_tabular(max_classes=3), [_LABELLED]),
    "TabICL regression": lambda: (_tabular(max_classes=0, num_quantiles=9), [(_t(2, 6, 4), _t(2, 4))]),
    "OneHotAndLinear": lambda: _made(_C + "layers.OneHotAndLinear", [(_i(3, 2, 4),)], 3, 8),
    "SkippableLinear": lambda: _made(
        _C + "layers.SkippableLinear", [(torch.where(_u(2, 4, 1) > 0.5, -100.0, _t(2, 4, 6)),)], 6, 8
    ),
    "MultiheadAttention": lambda: _made(_C + "layers.MultiheadAttention", [(_t(2, 4, 8),) * 3], 8, 2),
    "MultiheadAttention scaled": lambda: _made(
        _C + "layers.MultiheadAttention", [(_t(2, 4, 8),) * 3], 8, 2, ssmax="qassmax-mlp-elementwise"
    ),
    "InducedSelfAttentionBlock": lambda: _made(_C + "layers.InducedSelfAttentionBlock", [(_t(2, 4, 8),)], 8, 2, 16, 4),
    "InducedSelfAttentionBlock train": lambda: _made(
        _C + "layers.InducedSelfAttentionBlock", [(_t(2, 4, 8), 3)], 8, 2, 16, 4
    ),
    "Encoder": lambda: _made(_C + "encoders.Encoder", [(_t(2, 4, 8),)], 1, 8, 2, 16, use_rope=True),
    "SetTransformer": lambda: _made(_C + "encoders.SetTransformer", [(_t(2, 4, 8),)], 1, 8, 2, 16),
    "RotaryEmbedding": lambda: _method(
        _C + "rope.RotaryEmbedding", "rotate_queries_or_keys", [(_t(2, 2, 6, 8),), (_t(2, 2, 7, 8),)], 8
    ),
    "RowInteraction": lambda: _made(_C + "interaction.RowInteraction", [(_t(2, 4, 5, 8),)], 8, 1, 2, 16, 2),
    "ColEmbedding": lambda: _made(_C + "embedding.ColEmbedding", [_LABELLED], 8, 1, 2, 16, 4),
    "SSMaxMLP": lambda: _made(_C + "ssmax.SSMaxMLP", [(_t(2, 2, 4, 4), 4)], 2),
    "isotonic_regression_pava": lambda: _call(_C + "quantile_dist.isotonic_regression_pava", (_t(2, 6),)),
    "enforce_monotonicity": lambda: _call(_C + "quantile_dist.enforce_monotonicity", (_t(2, 6), "cummax")),
    "estimate_exp_tail_params": lambda: _call(
        _C + "quantile_dist.estimate_exp_tail_params", (_QUANTILES, torch.linspace(0.1, 0.9, 9)), num_tail_quantiles=3
    ),
    "estimate_gpd_tail_params": lambda: _call(
        _C + "quantile_dist.estimate_gpd_tail_params", (_QUANTILES, torch.linspace(0.1, 0.9, 9)), num_tail_quantiles=3
    ),
    "QuantileDistribution icdf": lambda: _quantiles(lambda d, z: d.icdf(z.sigmoid())),
    "QuantileDistribution cdf": lambda: _quantiles(lambda d, z: d.cdf(z)),
    "QuantileDistribution log_prob": lambda: _quantiles(lambda d, z: d.log_prob(z)),
    "QuantileDistribution crps": lambda: _quantiles(lambda d, z: d.crps(z)),
    "QuantileDistribution pinball": lambda: _quantiles(lambda d, z: d.pinball(z, 9)),
    "QuantileDistribution mean": lambda: _quantiles(lambda d, z: (d.mean, d.variance, z)),
    "QuantileDistribution sample": lambda: _quantiles(lambda d, z: d.sample((2,)) + z),
    "QuantileDistribution gpd": lambda: _quantiles(lambda d, z: (d.icdf(z.sigmoid()), d.mean), tail_type="gpd"),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"rsl_rl/{name}": build for name, build in _RSL.items()},
    **{f"easyocr/{name}": build for name, build in _EASYOCR.items()},
    **{f"torch_kf/{name}": build for name, build in _KF.items()},
    **{f"posteriors/{name}": build for name, build in _POSTERIORS.items()},
    **{f"tsl/{name}": build for name, build in _TSL.items()},
    **{f"torchphysics/{name}": build for name, build in _PHYSICS.items()},
    **{f"pygod/{name}": build for name, build in _PYGOD.items()},
    **{f"torchsynth/{name}": build for name, build in _SYNTH.items()},
    **{f"neuralhydrology/{name}": build for name, build in _HYDRO.items()},
    **{f"pytorchvideo/{name}": build for name, build in _VIDEO.items()},
    **{f"tabicl/{name}": build for name, build in _TABICL.items()},
}

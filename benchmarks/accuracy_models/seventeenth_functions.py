"""Models of the packages of the seventeenth group that solve, sample, optimise or work on graphs.

Of torchdde, topomodelx, rllte, jetnet, pixyz, torchtree and torch_optimizer.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(41)
_ABSENT = {
    "topomodelx": (
        "toponetx.classes.simplicial_complex",
        "torch_scatter",
        "torch_cluster",
        "networkx",
        "torch_geometric.utils",
        "scipy.spatial",
    ),
    "rllte": ("torchvision.transforms", "torch_npu", "pynvml"),
    "jetnet": ("awkward", "coffea.nanoevents.methods", "energyflow", "h5py", "qpth.qp", "scipy.stats", "numba", "tqdm"),
    "pixyz": ("IPython.display", "sympy", "networkx"),
    "torchtree": ("dendropy", "scipy.special"),
}
_BARE = (
    "topomodelx",
    "topomodelx.nn",
    "topomodelx.nn.simplicial",
    "topomodelx.nn.cell",
    "topomodelx.nn.hypergraph",
    "topomodelx.nn.combinatorial",
    "rllte",
    "rllte.agent",
    "rllte.common",
    "rllte.xploit",
    "rllte.xploit.policy",
    "rllte.xploit.encoder",
    "rllte.xploit.storage",
    "rllte.xplore",
    "rllte.xplore.augmentation",
    "rllte.xplore.distribution",
    "rllte.xplore.reward",
    "jetnet",
    "jetnet.utils",
    "jetnet.losses",
    "jetnet.evaluation",
)
_get = getter(_ABSENT, _BARE)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_TIMES = torch.linspace(0, 1, 6)


def _solved(solver: str, adaptive: bool = False, delayed: bool = False, **options: Any) -> Callable[[], Built]:
    def build() -> Built:
        get = lambda name: _get("torchdde." + name)  # noqa: E731
        steps = get("AdaptiveStepSizeController")(1e-3, 1e-3) if adaptive else get("ConstantStepSizeController")()
        layer = nn.Linear(4 if delayed else 2, 2)

        def field(_t: torch.Tensor, y: torch.Tensor, _args: Any, *, history: Any = None) -> torch.Tensor:
            return torch.tanh(layer(torch.cat([y, *history], -1) if history else y))

        def use(y: torch.Tensor) -> Any:
            given = {"delays": torch.tensor([0.3])} if delayed else {}
            start = (lambda _: y) if delayed else y
            dt = None if adaptive else torch.tensor(0.1)
            return get("integrate")(
                field,
                get(solver)(),
                _TIMES[0],
                _TIMES[-1],
                _TIMES,
                start,
                None,
                steps,
                dt0=dt,
                discretize_then_optimize=True,
                **given,
                **options,
            )

        return use, [(_t(3, 2),)]

    return build


_ENDS = (torch.tensor(0.0), torch.tensor(1.0))
_TORCHDDE: dict[str, Callable[[], Built]] = {
    "Euler": _solved("Euler"),
    "ImplicitEuler": _solved("ImplicitEuler"),
    "RK2": _solved("RK2"),
    "RK4": _solved("RK4"),
    "Bosh3": _solved("Bosh3", adaptive=True),
    "Dopri5": _solved("Dopri5", adaptive=True),
    "Euler delayed": _solved("Euler", delayed=True),
    "Dopri5 delayed": _solved("Dopri5", adaptive=True, delayed=True),
    "TorchLinearInterpolator": lambda: _using(
        "torchdde.TorchLinearInterpolator", lambda c, ts, ys, t: c(ts, ys)(t), (_TIMES, _t(3, 6, 2), torch.tensor(0.35))
    ),
    "TorchLinearInterpolator add": lambda: _using(
        "torchdde.TorchLinearInterpolator",
        lambda c, ts, ys, t, y: c(ts, ys).add_point(t, y),
        (_TIMES, _t(3, 6, 2), torch.tensor(1.2), _t(3, 2)),
    ),
    "FirstOrder": lambda: _using(
        "torchdde.FirstOrderPolynomialInterpolation",
        lambda c, a, b, y0, y1, t: c(a, b, {"y0": y0, "y1": y1})(t),
        (*_ENDS, _t(3, 2), _t(3, 2), torch.tensor(0.4)),
    ),
    "ThirdOrder": lambda: _using(
        "torchdde.ThirdOrderPolynomialInterpolation",
        lambda c, a, b, y0, y1, k, t: c(a, b, {"y0": y0, "y1": y1, "k": k})(t),
        (*_ENDS, _t(3, 2), _t(3, 2), _t(4, 3, 2), torch.tensor(0.4)),
    ),
    "rms_norm": lambda: _call("torchdde.step_size_controller.adaptive.rms_norm", (_t(3, 2),)),
    "max_norm": lambda: _call("torchdde.step_size_controller.adaptive.max_norm", (_t(3, 2),)),
    "TupleTensorTransformer": lambda: _using(
        "torchdde.TupleTensorTransformer",
        lambda c, a, b: (lambda f: f.unflatten(f.flatten((a, b))))(c.from_tuple((a, b))),
        (_t(3, 2), _t(4)),
    ),
}

_X = "topomodelx."
_S = _X + "nn.simplicial."
_H = _X + "nn.hypergraph."
_C = _X + "nn.cell."
# A square with a diagonal: 4 nodes, 5 edges, 2 faces.
_B1 = torch.tensor([[1.0, 1, 0, 0, 1], [1, 0, 1, 0, 0], [0, 1, 1, 1, 0], [0, 0, 0, 1, 1]])
_B2 = torch.tensor([[1.0, 0], [1, 1], [1, 0], [0, 1], [0, 1]])
_A0 = (_B1 @ _B1.T > 0).float() - torch.eye(4)
_A1 = (_B2 @ _B2.T > 0).float() - torch.diag((_B2 @ _B2.T > 0).float().diag())
_L0, _LD, _LU, _L2 = _B1 @ _B1.T, _B1.T @ _B1, _B2 @ _B2.T, _B2.T @ _B2
_NODES, _EDGES, _FACES = _t(4, 6), _t(5, 6), _t(2, 6)


def _sparse(x: torch.Tensor) -> torch.Tensor:
    return x.to_sparse_coo().coalesce()


def _topo(path: str, *inputs: Any, sparse: bool = False, **options: Any) -> Callable[[], Built]:
    """A layer on matrices of a complex, which are dense unless the layer needs sparse ones."""

    def build() -> Built:
        made = _get(path)(**options)
        if not sparse:
            return made, [inputs]
        features = [x for x in inputs if x.shape[-1] == 6 and x.shape[0] in (2, 4, 5)]
        return made, [tuple(x if any(x is f for f in features) else _sparse(x) for x in inputs)]

    return build


_TOPOMODELX: dict[str, Callable[[], Built]] = {
    "Conv": _topo(_X + "base.conv.Conv", _NODES, _A0, in_channels=6, out_channels=4),
    "Conv att": _topo(_X + "base.conv.Conv", _NODES, _A0, sparse=True, in_channels=6, out_channels=4, att=True),
    "Conv norm": _topo(
        _X + "base.conv.Conv",
        _NODES,
        _A0,
        sparse=True,
        in_channels=6,
        out_channels=4,
        aggr_norm=True,
        update_func="relu",
    ),
    "Aggregation": lambda: _made(_X + "base.aggregation.Aggregation", [([_NODES, _NODES],)], "mean", "relu"),
    "SCN2": _topo(
        _S + "scn2.SCN2", _NODES, _EDGES, _FACES, _L0, _LD, _L2, in_channels_0=6, in_channels_1=6, in_channels_2=6
    ),
    "HSN": _topo(_S + "hsn.HSN", _NODES, _B1, _A0, channels=6),
    "SCNN": _topo(
        _S + "scnn.SCNN", _EDGES, _LD, _LU, in_channels=6, hidden_channels=6, conv_order_down=2, conv_order_up=2
    ),
    "SCNN norm": _topo(
        _S + "scnn.SCNN",
        _EDGES,
        _LD,
        _LU,
        in_channels=6,
        hidden_channels=6,
        conv_order_down=1,
        conv_order_up=1,
        aggr_norm=True,
        update_func="sigmoid",
    ),
    "SAN sparse": _topo(_S + "san.SAN", _EDGES, _LU, _LD, sparse=True, in_channels=6, hidden_channels=6),
    "SCoNe": _topo(_S + "scone.SCoNe", _EDGES, _B1, _B2, in_channels=6, hidden_channels=6, n_layers=2),
    "Dist2Cycle": _topo(_S + "dist2cycle.Dist2Cycle", _t(5, 5), _LD, _A1, channels=5),
    "SCCN": lambda: _made(
        _S + "sccn.SCCN",
        [
            (
                {"rank_0": _NODES, "rank_1": _EDGES, "rank_2": _FACES},
                {"rank_1": _B1, "rank_2": _B2},
                {"rank_0": _A0, "rank_1": _LD + _LU, "rank_2": _L2},
            )
        ],
        6,
        2,
    ),
    "SCCNN": lambda: _made(
        _S + "sccnn.SCCNN",
        [((_NODES, _EDGES, _FACES), (_L0, _LD, _LU, _L2), (_B1, _B2))],
        (6, 6, 6),
        (6, 6, 6),
        2,
        2,
    ),
    "SCACMPS": lambda: _made(
        _S + "sca_cmps.SCACMPS", [([_NODES, _EDGES, _FACES], [_LD, _L2], [_B1.T, _B2.T])], [6, 6, 6], 3
    ),
    "CCXN": _topo(_C + "ccxn.CCXN", _NODES, _EDGES, _A0, _B2.T, in_channels_0=6, in_channels_1=6, in_channels_2=6),
    "CCXN att": _topo(
        _C + "ccxn.CCXN",
        _NODES,
        _EDGES,
        _A0,
        _B2.T,
        sparse=True,
        in_channels_0=6,
        in_channels_1=6,
        in_channels_2=6,
        att=True,
    ),
    "CWN": _topo(
        _C + "cwn.CWN",
        _NODES,
        _EDGES,
        _FACES,
        _A1,
        _B2,
        _B1.T,
        in_channels_0=6,
        in_channels_1=6,
        in_channels_2=6,
        hid_channels=6,
        n_layers=1,
    ),
    "MultiHeadLiftLayer": _topo(
        _C + "can_layer.MultiHeadLiftLayer", _NODES, _A0, sparse=True, in_channels_0=6, heads=2
    ),
    "PoolLayer": _topo(
        _C + "can_layer.PoolLayer",
        _EDGES,
        _LD,
        _LU,
        sparse=True,
        k_pool=0.5,
        in_channels_0=6,
        signal_pool_activation=torch.sigmoid,
    ),
    "CANLayer": _topo(_C + "can_layer.CANLayer", _EDGES, _LD, _LU, sparse=True, in_channels=6, out_channels=4, heads=2),
    "HMC": lambda: _made(
        _X + "nn.combinatorial.hmc.HMC",
        [(_NODES, _EDGES, _FACES, *map(_sparse, (_A0, _A1 + torch.eye(5), _L2, _B1, _B2)))],
        [[[6, 6, 6], [6, 6, 6], [6, 6, 6]]],
    ),
    **{
        name: _topo(_H + f"{file}.{name}", _NODES, _B1, in_channels=6, hidden_channels=6, **options)
        for name, file, options in (
            ("AllSet", "allset", {"mlp_activation": nn.ReLU}),
            ("UniGCN", "unigcn", {}),
            ("UniGCNII", "unigcnii", {}),
            ("UniGIN", "unigin", {}),
            ("UniSAGE", "unisage", {}),
        )
    },
    **{
        f"{name} sparse": _topo(_H + f"{file}.{name}", _NODES, _B1, sparse=True, in_channels=6, hidden_channels=8)
        for name, file in (
            ("HyperGAT", "hypergat"),
            ("UniSAGE", "unisage"),
            ("HyperSAGE", "hypersage"),
        )
    },
    "HMPNN": _topo(_H + "hmpnn.HMPNN", _NODES, _EDGES, _B1, sparse=True, in_channels=6, hidden_channels=6),
    "HNHN": lambda: _made(_H + "hnhn.HNHN", [(_NODES, _sparse(_B1))], 6, 6, _sparse(_B1)),
}

_R = "rllte."
_RA = _R + "xplore.augmentation."
_RD = _R + "xplore.distribution."
_RP = _R + "xploit.policy."
_PICTURES = _u(3, 9, 84, 84)


def _spaces(action: str) -> Any:
    gym = importlib.import_module("gymnasium")
    box = gym.spaces.Box(-1.0, 1.0, (6,), np.float32)
    return box, gym.spaces.Discrete(3) if action == "Discrete" else gym.spaces.Box(-1.0, 1.0, (2,), np.float32)


def _policy(name: str, action: str, distribution: str, method: str | None = None, *given: Any) -> Callable[[], Built]:
    def build() -> Built:
        observations, actions = _spaces(action)
        module = {"OnPolicySharedActorCritic": "on_policy_shared_actor_critic"}.get(name) or {
            "OnPolicyDecoupledActorCritic": "on_policy_decoupled_actor_critic",
            "OffPolicyStochActorDoubleCritic": "off_policy_stoch_actor_double_critic",
            "OffPolicyDetActorDoubleCritic": "off_policy_det_actor_double_critic",
            "OffPolicyDoubleQNetwork": "off_policy_double_qnetwork",
        }[name]
        made = _get(f"{_RP}{module}.{name}")(observations, actions, feature_dim=8, hidden_dim=8)
        encoder = _get(_R + "xploit.encoder.vanilla_mlp_encoder.VanillaMlpEncoder")(observations, 8, 8)
        file, _, kind = distribution.partition(".")
        made.freeze(encoder=encoder, dist=_get(f"{_RD}{file}.{kind}")())
        return (getattr(made, method) if method else made), [given or (_t(5, 6),)]

    return build


_RLLTE: dict[str, Callable[[], Built]] = {
    **{
        name: (lambda name=name, file=file: _made(f"{_RA}{file}.{name}", [(_PICTURES,)]))
        for name, file in (
            ("GrayScale", "grayscale"),
            ("Identity", "identity"),
            ("RandomConvolution", "random_convolution"),
            ("RandomCutout", "random_cutout"),
            ("RandomCutoutColor", "random_cutoutcolor"),
            ("RandomFlip", "random_flip"),
            ("RandomRotate", "random_rotate"),
            ("RandomShift", "random_shift"),
            ("RandomCrop", "random_crop"),
            ("RandomTranslate", "random_translate"),
        )
    },
    "GaussianNoise": lambda: _made(_RA + "gaussian_noise.GaussianNoise", [(_t(3, 9),)]),
    "RandomAmplitudeScaling": lambda: _made(_RA + "random_amplitude_scaling.RandomAmplitudeScaling", [(_t(3, 9),)]),
    "Bernoulli": lambda: _using(_RD + "bernoulli.Bernoulli", lambda c, x: _drawn(c()(x)), (_t(3, 4),)),
    "Categorical": lambda: _using(_RD + "categorical.Categorical", lambda c, x: _drawn(c()(x)), (_t(3, 4),)),
    "DiagonalGaussian": lambda: _using(
        _RD + "diagonal_gaussian.DiagonalGaussian", lambda c, m, s: _drawn(c()(m, s)), (_t(3, 4), _u(3, 4))
    ),
    "MultiCategorical": lambda: _using(
        _RD + "multi_categorical.MultiCategorical", lambda c, *x: _drawn(c()(x)), (_t(3, 4), _t(3, 2))
    ),
    "NormalNoise": lambda: _using(_RD + "normal_noise.NormalNoise", lambda c, x: c()(x).sample(), (_t(3, 4),)),
    "NormalNoise clip": lambda: _using(
        _RD + "normal_noise.NormalNoise", lambda c, x: c()(x).sample(clip=0.3), (_t(3, 4),)
    ),
    "OrnsteinUhlenbeckNoise": lambda: _using(
        _RD + "ornstein_uhlenbeck_noise.OrnsteinUhlenbeckNoise", lambda c, x: c()(x).sample(), (_t(3, 4),)
    ),
    "TruncatedNormalNoise": lambda: _using(
        _RD + "truncated_normal_noise.TruncatedNormalNoise", lambda c, x: c()(x).sample(), (_t(3, 4),)
    ),
    "SquashedNormal": lambda: _using(
        _RD + "squashed_normal.SquashedNormal",
        lambda c, m, s: (lambda d: d.log_prob(d.rsample()))(c()(m, s)),
        (_t(3, 4), _u(3, 4)),
    ),
    "RewardForwardFilter": lambda: _using(
        _R + "common.utils.RewardForwardFilter",
        lambda c, a, b: (lambda f: (f.update(a), f.update(b)))(c()),
        (_t(5), _t(5)),
    ),
    "TorchRunningMeanStd": lambda: _using(
        _R + "common.utils.TorchRunningMeanStd",
        lambda c, x: (lambda m: (m.update(x), m.mean, m.std))(c(shape=(4,))),
        (_t(6, 4),),
    ),
    "OnPolicySharedActorCritic": _policy("OnPolicySharedActorCritic", "Discrete", "categorical.Categorical"),
    "OnPolicySharedActorCritic box": _policy("OnPolicySharedActorCritic", "Box", "diagonal_gaussian.DiagonalGaussian"),
    "OnPolicySharedActorCritic evaluate": _policy(
        "OnPolicySharedActorCritic", "Discrete", "categorical.Categorical", "evaluate_actions", _t(5, 6), _i(3, 5)
    ),
    "OnPolicyDecoupledActorCritic": _policy("OnPolicyDecoupledActorCritic", "Discrete", "categorical.Categorical"),
    "OffPolicyStochActorDoubleCritic": _policy(
        "OffPolicyStochActorDoubleCritic", "Box", "squashed_normal.SquashedNormal"
    ),
    "OffPolicyDetActorDoubleCritic": _policy("OffPolicyDetActorDoubleCritic", "Box", "normal_noise.NormalNoise"),
    "OffPolicyDoubleQNetwork": _policy("OffPolicyDoubleQNetwork", "Discrete", "categorical.Categorical"),
    "soft_update_params": lambda: held(
        (nn.Linear(4, 3), nn.Linear(4, 3)),
        lambda nets, x: (_get(_R + "agent.utils.soft_update_params")(*nets, 0.1), nets[1](x)),
        (_t(2, 4),),
    ),
    "ObservationEncoder": lambda: _made(_R + "xplore.reward.model.ObservationEncoder", [(_t(3, 6),)], (6,), 8),
    "InverseDynamicsModel": lambda: _made(
        _R + "xplore.reward.model.InverseDynamicsModel", [(_t(3, 8), _t(3, 8))], 8, 3
    ),
    "ForwardDynamicsModel": lambda: _made(
        _R + "xplore.reward.model.ForwardDynamicsModel", [(_t(3, 8), _t(3, 3))], 8, 3
    ),
}


def _drawn(distribution: Any) -> Any:
    actions = distribution.sample()
    return actions, distribution.log_prob(actions), distribution.entropy()


_J = "jetnet."
_MOMENTA = torch.cat([_u(3, 5, 1) + 9, _t(3, 5, 3)], -1)
_POLAR = torch.cat([_t(3, 5, 2), _u(3, 5, 2) + 1], -1)
_JETNET: dict[str, Callable[[], Built]] = {
    **{
        name: (lambda name=name, x=x: _call(_J + "utils.coord_transform." + name, (x,)))
        for name, x in (
            ("cartesian_to_EtaPhiPtE", _MOMENTA),
            ("EtaPhiPtE_to_cartesian", _POLAR),
            ("cartesian_to_YPhiPtE", _MOMENTA),
            ("YPhiPtE_to_cartesian", _POLAR),
            ("cartesian_to_relEtaPhiPt", _MOMENTA),
            ("EtaPhiPtE_to_relEtaPhiPt", _POLAR),
        )
    },
    "relEtaPhiPt_to_cartesian": lambda: _call(
        _J + "utils.coord_transform.relEtaPhiPt_to_cartesian", (_u(3, 5, 3), _u(3, 1, 4) + 1)
    ),
    "FeaturewiseLinear": lambda: _using(
        _J + "datasets.normalisations.FeaturewiseLinear",
        lambda c, x: c(feature_shifts=[0.1, 0.2, 0.3], feature_scales=[1.0, 2.0, 3.0])(x),
        (_t(4, 5, 3),),
    ),
    "FeaturewiseLinearBounded": lambda: _using(
        _J + "datasets.normalisations.FeaturewiseLinearBounded",
        lambda c, x: (lambda f: f(f(x), inverse=True))(c(feature_norms=[1.0, 2.0, 3.0], feature_maxes=[1.0, 2.0, 3.0])),
        (_t(4, 5, 3),),
    ),
}

_PD = "pixyz.distributions."
_PF = "pixyz.flows."
_PLL = "pixyz.losses."
_CHANNELS = _t(2, 4, 4, 4)


def _normal(var: str = "z", name: str = "p", loc: float = 0.0, features: int = 4) -> Any:
    return _get(_PD + "Normal")(
        loc=torch.tensor(loc), scale=torch.tensor(1.0), var=[var], features_shape=[features], name=name
    )


def _networks() -> tuple[Any, Any]:
    """A decoder and an encoder as the package's examples have them."""
    normal, bernoulli = _get(_PD + "Normal"), _get(_PD + "Bernoulli")

    class Encoder(normal):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__(var=["z"], cond_var=["x"], name="q")
            self.loc, self.scale = nn.Linear(6, 4), nn.Linear(6, 4)

        def forward(self, x: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"loc": self.loc(x), "scale": torch.nn.functional.softplus(self.scale(x))}

    class Decoder(bernoulli):  # type: ignore[misc, valid-type]
        def __init__(self) -> None:
            super().__init__(var=["x"], cond_var=["z"], name="p")
            self.layer = nn.Linear(4, 6)

        def forward(self, z: torch.Tensor) -> dict[str, torch.Tensor]:
            return {"probs": torch.sigmoid(self.layer(z))}

    return Encoder(), Decoder()


def _loss(make: Callable[[Any, Any], Any], **inputs: torch.Tensor) -> Callable[[], Built]:
    def build() -> Built:
        loss = make(_normal("z", "p"), _normal("z", "q", 1.0))
        return (lambda: loss.eval(inputs) if inputs else loss.eval()), [()]

    return build


def _elbo() -> Built:
    q, p = _networks()
    loss = _get(_PLL + "ELBO")(p * _normal(), q).mean()
    return (lambda x: loss.eval({"x": x})), [(_u(3, 6).round(),)]


def _vae() -> Built:
    q, p = _networks()
    loss = (_get(_PLL + "CrossEntropy")(q, p) + _get(_PLL + "KullbackLeibler")(q, _normal())).mean()
    return (lambda x: loss.eval({"x": x})), [(_u(3, 6).round(),)]


_PIXYZ: dict[str, Callable[[], Built]] = {
    "KullbackLeibler": _loss(lambda p, q: _get(_PLL + "KullbackLeibler")(p, q)),
    "KullbackLeibler sampled": _loss(
        lambda p, q: _get(_PLL + "KullbackLeibler")(p, q, analytical=False, sample_shape=[5])
    ),
    "Entropy": _loss(lambda p, _: _get(_PLL + "Entropy")(p)),
    "CrossEntropy": _loss(lambda p, q: _get(_PLL + "CrossEntropy")(p, q)),
    "LogProb": _loss(lambda p, _: _get(_PLL + "LogProb")(p).mean(), z=_t(3, 4)),
    "LogProb min": _loss(
        lambda p, q: _get("pixyz.losses.losses.MinLoss")(_get(_PLL + "LogProb")(p), _get(_PLL + "LogProb")(q)),
        z=_t(3, 4),
    ),
    "ELBO": _elbo,
    "VAE": _vae,
    "Normal sample": lambda: held(None, lambda *_: _normal().sample(batch_n=3), (_t(1),)),
    "encoder sample": lambda: held(_networks()[0], lambda q, x: q.sample({"x": x}, reparam=True), (_t(3, 6),)),
    "decoder log_prob": lambda: held(
        _networks()[1], lambda p, x, z: p.get_log_prob({"x": x, "z": z}), (_u(3, 6).round(), _t(3, 4))
    ),
    "MixtureModel": lambda: held(
        (
            lambda: _get(_PD + "MixtureModel")(
                distributions=[_normal("x", "p0", features=2), _normal("x", "p1", 1.0, features=2)],
                prior=_get(_PD + "Categorical")(probs=torch.tensor([0.4, 0.6]), var=["z"], name="prior"),
            )
        ),
        lambda make, x: make().get_log_prob({"x": x}),
        (_t(3, 2),),
    ),
    "ChannelConv": lambda: _made(_PF + "ChannelConv", [(_CHANNELS,)], 4),
    "ChannelConv decomposed": lambda: _made(_PF + "ChannelConv", [(_CHANNELS,)], 4, decomposed=True),
    "AffineCoupling": lambda: _made(
        _PF + "AffineCoupling",
        [(_t(3, 4),)],
        4,
        mask_type="channel_wise",
        scale_translate_net=lambda x: (torch.tanh(x), x * 0.5),
    ),
    "AffineCoupling checkerboard": lambda: _made(
        _PF + "AffineCoupling",
        [(_CHANNELS,)],
        4,
        mask_type="checkerboard",
        scale_net=torch.tanh,
        translate_net=torch.sin,
    ),
    "BatchNorm1d flow": lambda: _made(_PF + "BatchNorm1d", [(_t(5, 4),)], 4),
    "ActNorm2d": lambda: _made(_PF + "ActNorm2d", [(_CHANNELS,)], 4),
    "PlanarFlow": lambda: _made(_PF + "PlanarFlow", [(_t(3, 4),)], 4, constraint_u=True),
    "Squeeze": lambda: _made(_PF + "Squeeze", [(_CHANNELS,)]),
    "Unsqueeze": lambda: _made(_PF + "Unsqueeze", [(_CHANNELS,)]),
    "Shuffle": lambda: _made(_PF + "Shuffle", [(_t(3, 4),)], 4),
    "Reverse": lambda: _made(_PF + "Reverse", [(_t(3, 4),)], 4),
    "Flatten": lambda: _made(_PF + "Flatten", [(_CHANNELS,)]),
    "Preprocess": lambda: _made(_PF + "Preprocess", [(_u(2, 3, 4, 4) * 255,)]),
    "TransformedDistribution": lambda: held(
        _get(_PD + "TransformedDistribution")(
            _normal("z"), _get(_PF + "FlowList")([_get(_PF + "PlanarFlow")(4), _get(_PF + "Reverse")(4)]), var=["x"]
        ),
        lambda made, _: made.sample(batch_n=3),
        (_t(1),),
    ),
    "InverseTransformedDistribution": lambda: held(
        _get(_PD + "InverseTransformedDistribution")(
            _normal("z"), _get(_PF + "FlowList")([_get(_PF + "BatchNorm1d")(4), _get(_PF + "Reverse")(4)]), var=["x"]
        ),
        lambda made, x: made.get_log_prob({"x": x}),
        (_t(3, 4),),
    ),
}

_E = "torchtree.evolution."
_TT = "torchtree.distributions."
_HEIGHTS = torch.tensor([0.0, 0.0, 0.0, 0.0, 2.0, 6.0, 12.0])


def _parameter(name: str, x: torch.Tensor) -> Any:
    return _get("torchtree.core.parameter.Parameter")(name, x)


def _density(path: str, heights: torch.Tensor, **options: torch.Tensor) -> Callable[[], Built]:
    return lambda: _using(
        _E + path,
        lambda c, h, *x: c(**dict(zip(options, x, strict=True))).log_prob(h),
        (heights, *options.values()),
    )


def _substitution(name: str, *given: torch.Tensor) -> Callable[[], Built]:
    def build() -> Built:
        made = _get(_E + "substitution_model.nucleotide." + name)(
            "m", *(_parameter(f"p{n}", x) for n, x in enumerate(given))
        )
        return (lambda t: made.p_t(t)), [(_u(3, 1),)]

    return build


_FREQUENCIES = torch.tensor([0.2, 0.3, 0.1, 0.4])
_TIPS = [torch.eye(4)[_i(4, 7)].T for _ in range(4)]
_ORDER = [(4, 0, 1), (5, 4, 2), (6, 5, 3)]


def _likelihood(name: str, *more: Any, ints: bool = False) -> Callable[[], Built]:
    tips = [x.argmax(0) for x in _TIPS] if ints else _TIPS

    def build() -> Built:
        return _using(
            _E + "tree_likelihood." + name,
            lambda f, m, w, *x: f([*x, None, None, None], w, _ORDER, m, _FREQUENCIES, torch.tensor([[[1.0]]]), *more),
            (_u(6, 1, 4, 4) + 0.1, torch.ones(7), *tips),
        )

    return build


_THETA = {"theta": torch.tensor([3.0])}
_GRID = {"thetas": torch.tensor([3.0, 10.0, 4.0]), "grid": torch.tensor([4.0, 8.0])}
_RATES = {n: torch.tensor([x]) for n, x in {"lambda_": 2.0, "mu": 1.0, "psi": 0.5, "rho": 0.1, "origin": 15.0}.items()}
_TREE_TRANSFORMS = (
    "TrilExpDiagonalTransform",
    "CumSumTransform",
    "CumSumExpTransform",
    "SoftPlusTransform",
    "CumSumSoftPlusTransform",
    "LogTransform",
)
_TORCHTREE: dict[str, Callable[[], Built]] = {
    "ConstantCoalescent": _density("coalescent.ConstantCoalescent", _HEIGHTS, **_THETA),
    "ConstantCoalescentIntegrated": lambda: _using(
        _E + "coalescent.ConstantCoalescentIntegrated", lambda c, h: c(1.0, 2.0).log_prob(h), (_HEIGHTS,)
    ),
    "ExponentialCoalescent": _density(
        "coalescent.ExponentialCoalescent", _HEIGHTS, growth=torch.tensor([0.1]), **_THETA
    ),
    "PiecewiseConstantCoalescent": _density(
        "coalescent.PiecewiseConstantCoalescent", _HEIGHTS, theta=torch.tensor([3.0, 10.0, 4.0])
    ),
    "PiecewiseConstantCoalescentGrid": _density("coalescent.PiecewiseConstantCoalescentGrid", _HEIGHTS, **_GRID),
    "SoftPiecewiseConstantCoalescentGrid": lambda: _using(
        _E + "coalescent.SoftPiecewiseConstantCoalescentGrid",
        lambda c, h, a, b: c(a, b, 0.1).log_prob(h),
        (_HEIGHTS, *_GRID.values()),
    ),
    "PiecewiseExponentialCoalescentGrid": _density(
        "coalescent.PiecewiseExponentialCoalescentGrid",
        _HEIGHTS,
        theta=torch.tensor([3.0]),
        growth=torch.tensor([0.1, 0.2, 0.3]),
        grid=torch.tensor([4.0, 8.0]),
    ),
    "PiecewiseLinearCoalescentGrid": _density(
        "coalescent.PiecewiseLinearCoalescentGrid",
        _HEIGHTS,
        theta=torch.tensor([3.0, 10.0, 4.0]),
        grid=torch.tensor([4.0, 8.0]),
    ),
    "maximum_likelihood": lambda: _using(
        _E + "coalescent.ConstantCoalescent", lambda c, h: c.maximum_likelihood(h), (_HEIGHTS,)
    ),
    "piecewise maximum_likelihood": lambda: _using(
        _E + "coalescent.PiecewiseConstantCoalescent", lambda c, h: c.maximum_likelihood(h), (_HEIGHTS,)
    ),
    "BirthDeath": _density("birth_death.BirthDeath", _HEIGHTS, **_RATES),
    "PiecewiseConstantBirthDeath": _density("bdsk.PiecewiseConstantBirthDeath", _HEIGHTS, **_RATES),
    "PiecewiseConstantBirthDeath times": _density(
        "bdsk.PiecewiseConstantBirthDeath",
        _HEIGHTS,
        lambda_=torch.tensor([2.0, 3.0]),
        mu=torch.tensor([1.0, 1.5]),
        psi=torch.tensor([0.5, 0.4]),
        rho=torch.tensor([0.0, 0.1]),
        origin=torch.tensor([15.0]),
    ),
    "epidemiology_to_birth_death": lambda: _call(
        _E + "bdsk.epidemiology_to_birth_death", (_u(3) + 1, _u(3), _u(3)), (_u(3) + 1, _u(3), _u(3), _u(3))
    ),
    "JC69": _substitution("JC69"),
    "HKY": _substitution("HKY", torch.tensor([3.0]), _FREQUENCIES),
    "GTR": _substitution("GTR", torch.full((6,), 1 / 6), _FREQUENCIES),
    "WeibullSiteModel": lambda: held(
        lambda: _get(_E + "site_model.WeibullSiteModel")("s", _parameter("shape", torch.tensor([0.5])), 4),
        lambda make, x: make().rates() * x,
        (_t(1),),
    ),
    "WeibullSiteModel invariant": lambda: held(
        lambda: _get(_E + "site_model.WeibullSiteModel")(
            "s", _parameter("shape", torch.tensor([0.5])), 4, _parameter("inv", torch.tensor([0.2]))
        ),
        lambda make, x: make().rates() * x,
        (_t(1),),
    ),
    "InvariantSiteModel": lambda: held(
        lambda: _get(_E + "site_model.InvariantSiteModel")("s", _parameter("inv", torch.tensor([0.2]))),
        lambda make, x: make().rates() * x,
        (_t(1),),
    ),
    "calculate_treelikelihood_discrete": _likelihood("calculate_treelikelihood_discrete"),
    "calculate_treelikelihood_discrete_rescaled": _likelihood("calculate_treelikelihood_discrete_rescaled"),
    "calculate_treelikelihood_tip_states_discrete": _likelihood(
        "calculate_treelikelihood_tip_states_discrete", ints=True
    ),
    **{
        name: (lambda name=name: _using(_TT + "transforms." + name, lambda c, x: c()(x), (_u(6),)))
        for name in _TREE_TRANSFORMS
    },
    **{
        f"{name} inverse": (
            lambda name=name: _using(_TT + "transforms." + name, lambda c, x: c().inv(x), (_u(6).cumsum(0) + 1,))
        )
        for name in _TREE_TRANSFORMS[1:]
    },
    "InverseGamma": lambda: _using(
        _TT + "inverse_gamma.InverseGamma", lambda c, a, b, x: c(a, b).log_prob(x), (_u(3) + 1, _u(3) + 1, _u(3))
    ),
    "Normal precision": lambda: _using(
        _TT + "normal.Normal", lambda c, a, b, x: c(a, precision=b).log_prob(x), (_t(3), _u(3), _t(3))
    ),
    "LogNormal": lambda: _using(
        _TT + "log_normal.LogNormal", lambda c, a, b, x: c(a, b).log_prob(x), (_u(3), _u(3), _u(3))
    ),
    "OneOnX": lambda: _using(_TT + "one_on_x.OneOnX", lambda c, x: c().log_prob(x), (_u(3),)),
    "GMRF": lambda: held(
        lambda x: _get(_TT + "gmrf.GMRF")("g", _parameter("f", x), _parameter("p", torch.tensor([0.1]))),
        lambda make, x: make(x)(),
        (_t(5),),
    ),
    "soft_sort": lambda: _call("torchtree.ops.smooth.soft_sort", (_t(5), 0.5)),
    "smooth_max": lambda: _using("torchtree.ops.smooth.smooth_max", lambda f, x: f(x, 2.0, -1), (_t(5),)),
    "soft_searchsorted": lambda: _call("torchtree.ops.smooth.soft_searchsorted", (_t(5).sort().values, _t(3), 0.5)),
    "WelfordVariance": lambda: _using(
        "torchtree.ops.welford.WelfordVariance",
        lambda c, x, y: (lambda w: (w.add_sample(x), w.add_sample(y), w.variance()))(c(torch.zeros(3), torch.zeros(3))),
        (_t(3), _t(3)),
    ),
    "DualAveraging": lambda: _using(
        "torchtree.ops.dual_averaging.DualAveraging", lambda c, x: (lambda d: (d.step(x), d.step(x)))(c()), (_u(1),)
    ),
    "heights_to_branch_lengths": lambda: _call(
        _E + "tree_model.heights_to_branch_lengths",
        (_HEIGHTS[4:], torch.zeros(7), torch.tensor([[4, 5, 6, 6, 4, 5], [0, 1, 2, 3, 4, 5]]).T),
    ),
}


def _optimizer(name: str, **options: Any) -> Callable[[], Built]:
    """Two steps of an optimizer, as somebody compiles them: gradients are there."""

    def build() -> Built:
        made = _get("torch_optimizer." + name)
        layer = nn.Linear(4, 3)
        optimizer = made(layer.parameters(), **options)
        layer(_t(5, 4)).square().sum().backward()
        optimizer.step()
        return (lambda: (optimizer.step(), optimizer.step())), [()]

    return build


_TORCH_OPTIMIZER: dict[str, Callable[[], Built]] = {
    name: _optimizer(name)
    for name in (
        "A2GradUni",
        "A2GradInc",
        "A2GradExp",
        "AccSGD",
        "AdaBelief",
        "AdaBound",
        "Adafactor",
        "AdaMod",
        "AdamP",
        "AggMo",
        "Apollo",
        "DiffGrad",
        "Lamb",
        "LARS",
        "MADGRAD",
        "NovoGrad",
        "PID",
        "QHAdam",
        "RAdam",
        "SGDP",
        "SGDW",
        "Shampoo",
        "SWATS",
        "Yogi",
    )
} | {
    "QHM": _optimizer("QHM", momentum=0.9),
    "Lookahead": lambda: held(None, lambda _, x: _lookahead(x), (_t(5, 4),)),
}


def _lookahead(x: torch.Tensor) -> Any:
    layer = nn.Linear(4, 3)
    optimizer = _get("torch_optimizer.Lookahead")(torch.optim.SGD(layer.parameters(), lr=0.1), k=1)
    layer(x).square().sum().backward()
    optimizer.step()
    return math.pi


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("torchdde", _TORCHDDE),
    **_named("topomodelx", _TOPOMODELX),
    **_named("rllte", _RLLTE),
    **_named("jetnet", _JETNET),
    **_named("pixyz", _PIXYZ),
    **_named("torchtree", _TORCHTREE),
    **_named("torch_optimizer", _TORCH_OPTIMIZER),
}

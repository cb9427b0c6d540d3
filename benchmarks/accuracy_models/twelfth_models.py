"""Models of packages that were chosen and run after all the others, before anything was changed for them.

Of evotorch, caustics, bindsnet, vmas, mpc, qpth, pytorch-mppi, arm-pytorch-utilities, pytorch-ood, TorchDR, catalyst,
tad-dftd3, tad-mctc, torch-pme, cheetah-accelerator, neurodiffeq, ml4gw, torch-fem, TorchCP and coral-pytorch.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(12)

# What these packages import of others and the models here do not use.
_ABSENT = {
    "evotorch": ("ray.util", "gymnasium", "gym"),
    "bindsnet": ("tensorboardX", "cv2", "gymnasium", "gym", "torchvision.transforms", "torchvision.datasets"),
    "vmas": ("gym", "gymnasium", "pyglet"),
    "qpth": ("cvxpy",),
    "catalyst": ("torchvision", "hydra_slayer"),
    "neurodiffeq": ("ordered_set", "dill"),
    "ml4gw": ("h5py", "torchaudio.functional", "torchaudio.transforms"),
    "torchfem": ("pyvista", "pyamg"),
    "torchcp": ("torchsort",),
    "cheetah": ("ocelot",),
}
# Packages, outer ones first, whose `__init__` needs more than the models here do.
_BARE = (
    "bindsnet",
    "catalyst",
    "catalyst.contrib",
    "neurodiffeq",
    "pytorch_ood",
    "pytorch_ood.model",
    "torchfem",
)


def _prepare(package: str) -> None:
    if package == "evotorch":
        sys.modules["ray"].remote = lambda cls: cls  # type: ignore[attr-defined]
    if package == "pytorch_ood":
        centers = importlib.import_module("pytorch_ood.model.centers")
        sys.modules["pytorch_ood.model"].ClassCenters = centers.ClassCenters  # type: ignore[attr-defined]


_get = getter(_ABSENT, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)


_E = "evotorch."
_EVO: dict[str, Callable[[], Built]] = {
    "pareto_utility": lambda: _using(
        _E + "operators.functional.pareto_utility", lambda use, e: use(e, objective_sense=["min", "max"]), (_t(8, 2),)
    ),
    "domination_counts": lambda: _using(
        _E + "operators.functional.domination_counts",
        lambda use, e: use(e, objective_sense=["min", "max"]),
        (_t(8, 2),),
    ),
    "tournament": lambda: _using(
        _E + "operators.functional.tournament",
        lambda use, s, e: use(s, e, num_tournaments=4, tournament_size=3, objective_sense="min"),
        (_t(8, 5), _t(8)),
    ),
    "tournament multi": lambda: _using(
        _E + "operators.functional.tournament",
        lambda use, s, e: use(s, e, num_tournaments=4, tournament_size=3, objective_sense=["min", "max"]),
        (_t(8, 5), _t(8, 2)),
    ),
    "one_point_cross_over": lambda: _call(_E + "operators.functional.one_point_cross_over", (_t(8, 5),)),
    "multi_point_cross_over": lambda: _using(
        _E + "operators.functional.multi_point_cross_over",
        lambda use, s, e: use(s, e, num_points=2, tournament_size=3, num_children=4, objective_sense="min"),
        (_t(8, 5), _t(8)),
    ),
    "simulated_binary_cross_over": lambda: _using(
        _E + "operators.functional.simulated_binary_cross_over", lambda use, s: use(s, eta=8.0), (_t(8, 5),)
    ),
    "cosyne_permutation": lambda: _using(
        _E + "operators.functional.cosyne_permutation",
        lambda use, s, e: use(s, e, permute_all=False, objective_sense="min"),
        (_t(8, 5), _t(8)),
    ),
    "take_best": lambda: _using(
        _E + "operators.functional.take_best", lambda use, s, e: use(s, e, 3, objective_sense="max"), (_t(8, 5), _t(8))
    ),
    "take_best multi": lambda: _using(
        _E + "operators.functional.take_best",
        lambda use, s, e: use(s, e, 3, objective_sense=["min", "max"]),
        (_t(8, 5), _t(8, 2)),
    ),
    "combine": lambda: _call(_E + "operators.functional.combine", (_t(4, 5), _t(3, 5))),
    "utility": lambda: _using(
        _E + "operators.functional.utility", lambda use, e: use(e, objective_sense="min"), (_t(8),)
    ),
    **{
        f"rank {name}": lambda name=name: _using(
            _E + "tools.ranking.rank", lambda use, f: use(f, name, higher_is_better=True), (_t(9),)
        )
        for name in ("centered", "linear", "nes", "normalized", "raw")
    },
    "violation": lambda: _call(_E + "tools.constraints.violation", (_t(5), "<=", _t(5))),
    "log_barrier": lambda: _using(
        _E + "tools.constraints.log_barrier", lambda use, a, b: use(a, "<=", b, penalty_sign="-"), (_t(5), _t(5))
    ),
    "penalty": lambda: _using(
        _E + "tools.constraints.penalty",
        lambda use, a, b: use(a, "<=", b, penalty_sign="-", linear=1.0, step=2.0),
        (_t(5), _t(5)),
    ),
    "modify_vector": lambda: _using(
        _E + "tools.misc.modify_vector", lambda use, a, b: use(a, b, lb=-1.0, ub=1.0, max_change=0.2), (_t(5), _t(5))
    ),
    "modify_tensor": lambda: _using(
        _E + "tools.misc.modify_tensor", lambda use, a, b: use(a, b, lb=-1.0, ub=1.0, max_change=0.2), (_t(5), _t(5))
    ),
    "clip_tensor": lambda: _call(_E + "tools.misc.clip_tensor", (_t(5), -0.5, 0.5)),
    "make_gaussian": lambda: _using(
        _E + "tools.misc.make_gaussian",
        lambda use, c, s: use(6, 5, center=c, stdev=s, symmetric=True),
        (_t(5), _u(5)),
    ),
    "make_randint": lambda: _using(_E + "tools.misc.make_randint", lambda use, n: use(6, n=n), (torch.tensor(5),)),
    "cem": lambda: _using(
        _E + "algorithms.functional.cem",
        lambda use, c, v, e: importlib.import_module("evotorch.algorithms.functional").cem_tell(
            use(center_init=c, parenthood_ratio=0.5, objective_sense="min", stdev_init=1.0), v, e
        ),
        (_t(5), _t(8, 5), _t(8)),
    ),
    "pgpe": lambda: _using(
        _E + "algorithms.functional.pgpe",
        lambda use, c, v, e: importlib.import_module("evotorch.algorithms.functional").pgpe_tell(
            use(
                center_init=c,
                center_learning_rate=0.1,
                stdev_learning_rate=0.1,
                objective_sense="min",
                stdev_init=1.0,
                optimizer="adam",
            ),
            v,
            e,
        ),
        (_t(5), _t(8, 5), _t(8)),
    ),
    "RunningNorm": lambda: _method(
        _E + "neuroevolution.net.runningnorm.RunningNorm",
        "update_and_normalize",
        [(_t(6, 5),)],
        shape=5,
        dtype="float32",
        clip=(-5.0, 5.0),
    ),
    "RNN": lambda: _made(_E + "neuroevolution.net.layers.RNN", [(_t(3, 5),)], 5, 4),
    "LocomotorNet": lambda: _made(
        _E + "neuroevolution.net.layers.LocomotorNet", [(_t(5),)], in_features=5, out_features=3
    ),
    "SeparableGaussian grads": lambda: _using(
        _E + "distributions.SeparableGaussian",
        lambda use, m, s, x, f: use({"mu": m, "sigma": s}).compute_gradients(x, f, objective_sense="min"),
        (_t(5), _u(5) + 0.1, _t(8, 5), _t(8)),
    ),
    "ExpGaussian grads": lambda: _using(
        _E + "distributions.ExpGaussian",
        lambda use, m, s, x, f: use({"mu": m, "sigma": s}).compute_gradients(
            x, f, objective_sense="min", ranking_method="nes"
        ),
        (_t(5), torch.eye(5), _t(8, 5), _t(8)),
    ),
}

_C = "caustics."
_XY = (_t(6, 6), _t(6, 6))
_CAUSTICS: dict[str, Callable[[], Built]] = {
    "interp1d": lambda: _call(_C + "utils.interp1d", (torch.arange(6.0), _t(6), 8 * _u(10) - 1)),
    "interp1d const": lambda: _call(_C + "utils.interp1d", (torch.arange(6.0), _t(6), 8 * _u(10) - 1, "const")),
    "interp2d": lambda: _call(_C + "utils.interp2d", (_t(8, 8), 2 * _u(10) - 1, 2 * _u(10) - 1)),
    "interp2d nearest": lambda: _call(
        _C + "utils.interp2d", (_t(8, 8), 2 * _u(10) - 1, 2 * _u(10) - 1, "nearest", "clamp")
    ),
    "interp_bicubic": lambda: _call(_C + "utils.interp_bicubic", (7 * _u(10), 7 * _u(10), _t(8, 8))),
    "cluster_means": lambda: _call(_C + "utils.cluster_means", (_t(12, 2), 3)),
    "batch_lm": lambda: _using(
        _C + "utils.batch_lm", lambda use, x, y: use(x, y, lambda p: p**2 + p, max_iter=5), (_t(4, 3), _u(4, 3))
    ),
    "gaussian_quadrature_grid": lambda: _call(_C + "utils.gaussian_quadrature_grid", (0.1, *_XY)),
    "safe_divide": lambda: _call(_C + "utils.safe_divide", (_t(5), torch.tensor([0.0, 1.0, 2.0, 0.0, 3.0]))),
    "safe_log": lambda: _call(_C + "utils.safe_log", (torch.tensor([0.0, 1.0, 2.0]),)),
    "meshgrid": lambda: _call(_C + "utils.meshgrid", (0.1, 6)),
    "gaussian": lambda: _call(_C + "utils.gaussian", (0.1, 5, 5, 0.2, 3)),
    "pixel_to_world": lambda: _call(
        _C + "utils.pixel_to_world",
        (_t(5), _t(5), torch.zeros(2), torch.zeros(2), torch.eye(2)),
    ),
    "world_to_pixel": lambda: _call(
        _C + "utils.world_to_pixel",
        (_t(5), _t(5), torch.zeros(2), torch.zeros(2), torch.eye(2)),
    ),
    "remove_duplicate_points": lambda: _call(
        _C + "lenses.func.base.remove_duplicate_points", (torch.tensor([[0.0, 0], [0, 0.001], [1, 1]]), 0.1)
    ),
    "remove_triangle_duplicates": lambda: _call(
        _C + "lenses.func.base.remove_triangle_duplicates", (_t(3, 3, 2).repeat(2, 1, 1),)
    ),
    "triangle_contains": lambda: _call(_C + "lenses.func.base.triangle_contains", (_t(3, 2), _t(2))),
    "deflection_angle_sie": lambda: _call(
        _C + "lenses.func.sie.reduced_deflection_angle_sie",
        (torch.tensor(0.0), torch.tensor(0.0), torch.tensor(0.7), torch.tensor(0.3), torch.tensor(1.0), *_XY),
    ),
    "deflection_angle_epl": lambda: _call(
        _C + "lenses.func.epl.reduced_deflection_angle_epl",
        (
            *(torch.tensor(v) for v in (0.0, 0.0, 0.7, 0.3, 1.0, 1.1)),
            *_XY,
            18,
        ),
    ),
    "convergence_nfw": lambda: _call(
        _C + "lenses.func.nfw.convergence_nfw",
        (*(torch.tensor(v) for v in (1e9, 1e9, 0.0, 0.0, 1e10, 8.0)), *_XY, torch.tensor(1000.0)),
    ),
    "potential_tnfw": lambda: _call(
        _C + "lenses.func.tnfw.potential_tnfw",
        (*(torch.tensor(v) for v in (0.0, 0.0, 1.0, 3.0)), *_XY, *(torch.tensor(v) for v in (1e10, 1e3, 2e3, 1.5e3))),
    ),
    "brightness_sersic": lambda: _call(
        _C + "light.func.sersic.brightness_sersic",
        (*(torch.tensor(v) for v in (0.0, 0.0, 0.7, 0.3, 2.0, 1.0, 1.0)), *_XY, torch.tensor(3.6)),
    ),
    "k_sersic": lambda: _call(_C + "light.func.sersic.k_sersic", (torch.tensor(2.0),)),
    "build_window": lambda: _call(
        _C + "lenses.func.pixelated_convergence.build_window_pixelated_convergence", (0.2, (9, 9))
    ),
}

_B = "bindsnet."


def _nodes(name: str, **options: Any) -> Built:
    made = _get(_B + f"network.nodes.{name}")(n=6, **options)
    made.set_batch_size(2)
    made.compute_decays(1.0)
    return made, [(3 * _u(2, 6),)]


def _spiking(rule: str, **options: Any) -> Built:
    nodes, topology = _B + "network.nodes.", _B + "network.topology."
    network = _get(_B + "network.network.Network")(dt=1.0, batch_size=1)
    source, target = _get(nodes + "Input")(n=5, traces=True), _get(nodes + "LIFNodes")(n=4, traces=True)
    rule_class = _get(_B + f"learning.learning.{rule}")
    connection = _get(topology + "Connection")(
        source, target, update_rule=rule_class, nu=(1e-2, 1e-2), wmin=0.0, wmax=1.0, norm=2.0
    )
    network.add_layer(source, name="X")
    network.add_layer(target, name="Y")
    network.add_connection(connection, source="X", target="Y")

    def run(x: torch.Tensor) -> torch.Tensor:
        network.run({"X": x}, time=4, **options)
        return network.layers["Y"].s

    return run, [((_u(4, 1, 5) > 0.5).float(),)]


_BINDSNET: dict[str, Callable[[], Built]] = {
    **{
        name: lambda name=name: _nodes(name, traces=True)
        for name in ("McCullochPitts", "IFNodes", "LIFNodes", "CurrentLIFNodes", "AdaptiveLIFNodes", "IzhikevichNodes")
    },
    "DiehlAndCookNodes": lambda: _nodes("DiehlAndCookNodes", traces=True, one_spike=True),
    "SRM0Nodes": lambda: _nodes("SRM0Nodes", traces=True, sum_input=True),
    **{rule: lambda rule=rule: _spiking(rule) for rule in ("PostPre", "WeightDependentPostPre", "Hebbian")},
    "MSTDP": lambda: _spiking("MSTDP", reward=1.0),
    "bernoulli": lambda: _call(_B + "encoding.encodings.bernoulli", (_u(6), 5)),
    "poisson": lambda: _call(_B + "encoding.encodings.poisson", (20 * _u(6), 5)),
    "rank_order": lambda: _call(_B + "encoding.encodings.rank_order", (_u(6), 5)),
    "single": lambda: _call(_B + "encoding.encodings.single", (_u(6), 5)),
    "assign_labels": lambda: _call(_B + "evaluation.evaluation.assign_labels", (_u(4, 5, 6).round(), _i(3, 4), 3)),
    "all_activity": lambda: _call(_B + "evaluation.evaluation.all_activity", (_u(4, 5, 6).round(), _i(3, 6), 3)),
    "proportion_weighting": lambda: _call(
        _B + "evaluation.evaluation.proportion_weighting", (_u(4, 5, 6).round(), _i(3, 6), _u(6, 3), 3)
    ),
    "ngram": lambda: _call(
        _B + "evaluation.evaluation.ngram", (_u(4, 5, 6).round(), {(0, 1): _u(3), (1, 2): _u(3)}, 3, 2)
    ),
    "update_ngram_scores": lambda: _call(
        _B + "evaluation.evaluation.update_ngram_scores", (_u(4, 5, 6).round(), _i(3, 4), 3, 2, {})
    ),
    "im2col_indices": lambda: _call(_B + "utils.im2col_indices", (_t(2, 3, 6, 6), 3, 3, (1, 1))),
    "get_square_weights": lambda: _call(_B + "utils.get_square_weights", (_t(16, 9), 3, 4)),
    "SubtractiveResetIFNodes": lambda: _converted("SubtractiveResetIFNodes"),
}


def _converted(name: str) -> Built:
    made = _get(_B + f"conversion.nodes.{name}")(shape=[6])
    made.set_batch_size(2)
    made.compute_decays(1.0)
    return made, [(3 * _u(2, 6),)]


_V = "vmas.simulator."
_BOX = (_t(4, 2), _t(4, 1), 0.5, 1.0)


def _scenario(name: str, n_agents: int, **options: Any) -> Built:
    _get("vmas.simulator.utils.TorchUtils")
    env = importlib.import_module("vmas").make_env(
        name, num_envs=3, device="cpu", seed=0, continuous_actions=True, n_agents=n_agents, **options
    )

    def step(*actions: torch.Tensor) -> Any:
        for agent, action in zip(env.agents, actions, strict=True):
            agent.action.u = action
        env.world.step()
        return [env.scenario.reward(a) for a in env.agents], [env.scenario.observation(a) for a in env.agents]

    return step, [tuple(0.5 * _t(3, a.action_size) for a in env.agents)]


_VMAS: dict[str, Callable[[], Built]] = {
    "get_closest_box_box": lambda: _call(_V + "physics._get_closest_box_box", (*_BOX, *_BOX)),
    "get_closest_points_line_line": lambda: _call(
        _V + "physics._get_closest_points_line_line", (_t(4, 2), _t(4, 1), 1.0, _t(4, 2), _t(4, 1), 0.5)
    ),
    "get_closest_point_box": lambda: _call(_V + "physics._get_closest_point_box", (*_BOX, _t(4, 2))),
    "get_closest_line_box": lambda: _call(_V + "physics._get_closest_line_box", (*_BOX, _t(4, 2), _t(4, 1), 1.0)),
    "clamp_with_norm": lambda: _using(_V + "utils.TorchUtils", lambda use, x: use.clamp_with_norm(x, 0.5), (_t(4, 2),)),
    "compute_torque": lambda: _using(
        _V + "utils.TorchUtils", lambda use, f, r: use.compute_torque(f, r), (_t(4, 2), _t(4, 2))
    ),
    "rotate_vector": lambda: _using(
        _V + "utils.TorchUtils", lambda use, v, a: use.rotate_vector(v, a), (_t(4, 2), _t(4, 1))
    ),
    "balance": lambda: _scenario("balance", 3),
    "transport": lambda: _scenario("transport", 2),
    "navigation": lambda: _scenario("navigation", 2),
    "dispersion": lambda: _scenario("dispersion", 2),
    "flocking": lambda: _scenario("flocking", 2),
    "wheel": lambda: _scenario("wheel", 2),
    "joint_passage": lambda: _scenario("joint_passage", 2),
}

_M = "mpc."


def _solved(bounded: bool) -> Built:
    mpc = importlib.import_module("mpc.mpc")
    limits = {"u_lower": -1.0, "u_upper": 1.0} if bounded else {}
    dynamics = torch.cat([torch.eye(3) + 0.1 * _t(3, 3), _t(3, 2)], 1).repeat(4, 2, 1, 1)
    cost = mpc.QuadCost(torch.eye(5).repeat(5, 2, 1, 1), _t(5, 2, 5))
    solver = mpc.MPC(3, 2, 5, lqr_iter=3, verbose=-1, exit_unconverged=False, backprop=False, n_batch=2, **limits)

    def solve(x: torch.Tensor) -> Any:
        return solver(x, cost, mpc.LinDx(dynamics))

    return solve, [(_t(2, 3),)]


_POSITIVE = torch.eye(3) + 0.1 * torch.ones(3, 3)
_MPC: dict[str, Callable[[], Built]] = {
    "MPC": lambda: _solved(False),
    "MPC bounded": lambda: _solved(True),
    "pnqp": lambda: _call(_M + "pnqp.pnqp", (_POSITIVE.repeat(2, 1, 1), _t(2, 3), -torch.ones(2, 3), torch.ones(2, 3))),
    "CartpoleDx": lambda: _made(_M + "env_dx.cartpole.CartpoleDx", [(_t(2, 5), _t(2, 1))]),
    "PendulumDx": lambda: _made(_M + "env_dx.pendulum.PendulumDx", [(_t(2, 3), _t(2, 1))]),
    "NNDynamics": lambda: _made(_M + "dynamics.NNDynamics", [(_t(2, 3), _t(2, 2))], 3, 2, [8]),
    "NNDynamics grad_input": lambda: _using(
        _M + "dynamics.NNDynamics",
        lambda use, x, u: (net := use(3, 2, [8], activation="relu"), net(x, u), net.grad_input(x, u))[2],
        (_t(2, 3), _t(2, 2)),
    ),
    "AffineDynamics": lambda: _made(_M + "dynamics.AffineDynamics", [(_t(2, 3), _t(2, 2))], _t(3, 3), _t(3, 2), _t(3)),
    "eclamp": lambda: _call(_M + "util.eclamp", (_t(2, 3), -torch.ones(2, 3), torch.ones(2, 3))),
    "bdiag": lambda: _call(_M + "util.bdiag", (_t(2, 3),)),
    "expandParam": lambda: _call(_M + "util.expandParam", (_t(3, 3), 2, 3)),
}

_Q = "qpth."
_QP = (_POSITIVE, _t(2, 3), torch.cat([torch.eye(3), -torch.eye(3)]), torch.ones(6), torch.ones(1, 3), torch.zeros(1))


def _batched() -> Any:
    q, p, g, h, a, b = _QP
    return q.repeat(2, 1, 1), p, g.repeat(2, 1, 1), h.repeat(2, 1), a.repeat(2, 1, 1), b.repeat(2, 1)


_QPTH: dict[str, Callable[[], Built]] = {
    "QPFunction": lambda: _using(_Q + "qp.QPFunction", lambda use, *x: use(verbose=-1, maxIter=5)(*x), _QP),
    "batch forward": lambda: _using(
        _Q + "solvers.pdipm.batch.forward",
        lambda use, q, p, g, h, a, b: use(
            q, p, g, h, a, b, *_get(_Q + "solvers.pdipm.batch.pre_factor_kkt")(q, g, a), maxIter=5
        ),
        _batched(),
    ),
    "pre_factor_kkt": lambda: _using(
        _Q + "solvers.pdipm.batch.pre_factor_kkt", lambda use, q, _p, g, _h, a, _b: use(q, g, a), _batched()
    ),
    "get_step": lambda: _call(_Q + "solvers.pdipm.batch.get_step", (_u(2, 6), _t(2, 6))),
    "expandParam": lambda: _call(_Q + "util.expandParam", (_t(3, 3), 2, 3)),
    "extract_nBatch": lambda: _call(_Q + "util.extract_nBatch", _QP),
    "bdiag": lambda: _call(_Q + "util.bdiag", (_t(2, 3),)),
}

_P = "pytorch_mppi.mppi."


def _commanded(name: str, **options: Any) -> Built:
    def dynamics(state: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return state + 0.1 * torch.cat([action, state[..., :1]], -1)

    def cost(state: torch.Tensor, action: torch.Tensor) -> torch.Tensor:
        return (state**2).sum(-1) + (action**2).sum(-1)

    made = _get(_P + name)(dynamics, cost, 2, torch.eye(1), num_samples=16, horizon=4, **options)
    return made.command, [(_t(2),)]


_BOUNDS = {"u_min": torch.tensor(-1.0), "u_max": torch.tensor(1.0)}
_MPPI: dict[str, Callable[[], Built]] = {
    "MPPI": lambda: _commanded("MPPI", **_BOUNDS),
    "MPPI null action": lambda: _commanded("MPPI", sample_null_action=True, rollout_samples=2, rollout_var_cost=0.1),
    "MPPI abs cost": lambda: _commanded("MPPI", noise_abs_cost=True, u_scale=2),
    "SMPPI": lambda: _commanded("SMPPI", action_min=torch.tensor(-1.0), action_max=torch.tensor(1.0)),
    "KMPPI": lambda: _commanded("KMPPI", num_support_pts=2),
}

_A = "arm_pytorch_utilities."
_ARM: dict[str, Callable[[], Built]] = {
    "angle_between": lambda: _call(_A + "math_utils.angle_between", (_t(4, 3), _t(4, 3))),
    "angle_between_stable": lambda: _call(_A + "math_utils.angle_between_stable", (_t(4, 3), _t(4, 3))),
    "angular_diff_batch": lambda: _call(_A + "math_utils.angular_diff_batch", (9 * _t(5), 9 * _t(5))),
    "angular_diff": lambda: _call(_A + "math_utils.angular_diff", (torch.tensor(4.0), torch.tensor(-3.0))),
    "replace_nan_and_inf": lambda: _call(_A + "math_utils.replace_nan_and_inf", (torch.tensor([1.0, torch.nan]),)),
    "clip": lambda: _call(_A + "math_utils.clip", (_t(5), torch.tensor(-1.0), torch.tensor(1.0))),
    "cos_sim_pairwise": lambda: _call(_A + "math_utils.cos_sim_pairwise", (_t(4, 3),)),
    "batch_rotate_wrt_origin": lambda: _call(_A + "math_utils.batch_rotate_wrt_origin", (_t(4, 2), _t(4))),
    "get_bounds": lambda: _call(_A + "math_utils.get_bounds", (None, torch.tensor(1.0))),
    "cov": lambda: _call(_A + "linalg.cov", (_t(6, 3),)),
    "cov weighted": lambda: _using(_A + "linalg.cov", lambda use, x, w: use(x, aweights=w), (_t(6, 3), _u(6))),
    "kronecker_product": lambda: _call(_A + "linalg.kronecker_product", (_t(2, 3), _t(3, 2))),
    "ls_cov": lambda: _call(_A + "linalg.ls_cov", (_t(8, 3), _t(8, 2))),
    "ls_cov weighted": lambda: _call(_A + "linalg.ls_cov", (_t(8, 3), _t(8, 2), _u(8))),
    "batch_quadratic_product": lambda: _call(_A + "linalg.batch_quadratic_product", (_t(4, 3), _t(3, 3))),
    "ensure_diagonal": lambda: _call(_A + "tensor_utils.ensure_diagonal", (torch.tensor(2.0), 3)),
    "first_positive": lambda: _call(_A + "tensor_utils.first_positive", (_t(5, 3),)),
    "SoftKNN": lambda: _made(_A + "softknn.SoftKNN", [(_t(8, 3),)], min_k=2),
    "SoftKNN normalized": lambda: _made(
        _A + "softknn.SoftKNN", [(_t(8, 3),)], min_k=2, activation=2.0, normalization=1
    ),
    "solve_psd": lambda: _call(_A + "trajectory.solve_psd", (_POSITIVE, _t(3, 2))),
    "discrete_array_to_value_ranges": lambda: _call(
        _A + "array_utils.discrete_array_to_value_ranges", (torch.tensor([1, 1, 2, 2, 2, 1]),)
    ),
    "extract_positive_weights": lambda: _call(_A + "array_utils.extract_positive_weights", (_u(5).round(),)),
    "jacobian": lambda: _using(_A + "grad.jacobian", lambda use, x: use(lambda y: y**2, x), (_t(3),)),
    "MinMaxScaler": lambda: _using(
        _A + "preprocess.MinMaxScaler", lambda use, x: ((m := use()).fit(x), m.transform(x))[1], (_t(6, 3),)
    ),
    "MixtureDensityNetwork": lambda: _made(_A + "model.mdn.MixtureDensityNetwork", [(_t(4, 3),)], 3, 2, 3),
}

_O = "pytorch_ood."
_LABELS = torch.tensor([0, 1, 2, -1, 1, -1])


def _loss(path: str, *inputs: torch.Tensor, **options: Any) -> Built:
    return _made(_O + f"loss.{path}", [inputs], **options)


def _detected(path: str, *given: Any, features: torch.Tensor, **options: Any) -> Built:
    made = _get(_O + f"detector.{path}")(*given, **options)
    return made.predict_features, [(features,)]


_OOD: dict[str, Callable[[], Built]] = {
    "CrossEntropyLoss": lambda: _loss("crossentropy.CrossEntropyLoss", _t(6, 3), _LABELS),
    "EnergyRegularizedLoss": lambda: _loss("energy.EnergyRegularizedLoss", _t(6, 3), _LABELS),
    "EntropicOpenSetLoss": lambda: _loss("entropy.EntropicOpenSetLoss", _t(6, 3), _LABELS),
    "OutlierExposureLoss": lambda: _loss("oe.OutlierExposureLoss", _t(6, 3), _LABELS),
    "ObjectosphereLoss": lambda: _loss("objectosphere.ObjectosphereLoss", _t(6, 3), _t(6, 4), _LABELS),
    "DeepSVDDLoss": lambda: _loss("svdd.DeepSVDDLoss", _t(6, 3), _LABELS, n_dim=3),
    "DeepSADLoss": lambda: _loss("svdd.DeepSADLoss", _t(6, 3), _LABELS, n_dim=3),
    "CenterLoss": lambda: _loss("center.CenterLoss", _u(6, 3), _LABELS, n_classes=3, n_dim=4),
    "CACLoss": lambda: _loss("cac.CACLoss", _u(6, 3), _LABELS, n_classes=3),
    "IILoss": lambda: _loss("ii.IILoss", _t(6, 4), _LABELS.abs(), n_classes=3, n_embedding=4),
    "MCHADLoss": lambda: _loss("mchad.MCHADLoss", _u(6, 3), _LABELS, n_classes=3, n_dim=4),
    "BackgroundClassLoss": lambda: _loss("background.BackgroundClassLoss", _t(6, 4), _LABELS, n_classes=3),
    "ConfidenceLoss": lambda: _loss("conf.ConfidenceLoss", _t(6, 3), _u(6, 1), _LABELS),
    "LogitNorm": lambda: _loss("logitnorm.LogitNorm", _t(6, 3), _LABELS.abs()),
    "VOSRegLoss": lambda: _made(_O + "loss.vos.VOSRegLoss", [(_t(6, 3), _LABELS)], nn.Linear(1, 2), nn.Linear(3, 1)),
    "estimate_class_centers": lambda: _call(_O + "utils.utils.estimate_class_centers", (_t(6, 4), _LABELS.abs())),
    "contains_known_and_unknown": lambda: _call(_O + "utils.utils.contains_known_and_unknown", (_LABELS,)),
    "pairwise_distances": lambda: _call(_O + "utils.utils.pairwise_distances", (_t(6, 4),)),
    "ash_s": lambda: _call(_O + "detector.ash.ash_s", (_u(2, 4, 3, 3),)),
    "ash_b": lambda: _call(_O + "detector.ash.ash_b", (_u(2, 4, 3, 3),)),
    "scale": lambda: _call(_O + "detector.scale.scale", (_u(2, 4, 3, 3),)),
    "remove_rank1": lambda: _call(_O + "detector.rankfeat._remove_rank1", (_u(2, 4, 3, 3),)),
    "odin_preprocessing": lambda: _using(
        _O + "detector.odin.odin_preprocessing",
        lambda use, model, x: use(model, x, norm_std=[0.2, 0.2, 0.2]),
        (nn.Sequential(nn.Flatten(), nn.Linear(48, 3)), _t(2, 3, 4, 4)),
    ),
}

_D = "torchdr."
_DR: dict[str, Callable[[], Built]] = {
    **{
        name: lambda name=name, options=options: _made(_D + f"affinity.{name}", [(_t(20, 4),)], **options)
        for name, options in (
            ("EntropicAffinity", {"perplexity": 5, "sparsity": False, "max_iter": 20}),
            ("SymmetricEntropicAffinity", {"perplexity": 5, "max_iter": 5}),
            ("SinkhornAffinity", {"max_iter": 10}),
            ("NormalizedGaussianAffinity", {}),
            ("NormalizedStudentAffinity", {}),
            ("SelfTuningAffinity", {"K": 5}),
            ("MAGICAffinity", {"K": 5}),
            ("UMAPAffinity", {"n_neighbors": 5, "max_iter": 20}),
            ("PHATEAffinity", {}),
            ("DoublyStochasticQuadraticAffinity", {"max_iter": 5}),
        )
    },
    "pairwise_distances": lambda: _call(_D + "distance.pairwise_distances", (_t(10, 4),)),
    "pairwise_distances k": lambda: _using(
        _D + "distance.pairwise_distances", lambda use, x: use(x, k=3, exclude_diag=True), (_t(10, 4),)
    ),
    "silhouette_samples": lambda: _call(_D + "eval.silhouette.silhouette_samples", (_t(10, 4), _i(3, 10))),
    "silhouette_score": lambda: _call(_D + "eval.silhouette.silhouette_score", (_t(10, 4), _i(3, 10))),
    "knn_label_accuracy": lambda: _using(
        _D + "eval.knn_labels.knn_label_accuracy",
        lambda use, x, y: use(x, y, k=3, backend=None),
        (_t(10, 4), _i(3, 10)),
    ),
    "neighborhood_preservation": lambda: _using(
        _D + "eval.neighborhood_preservation.neighborhood_preservation",
        lambda use, x, z: use(x, z, K=3),
        (_t(10, 4), _t(10, 2)),
    ),
}

_K = "catalyst."
_F = _K + "metrics.functional."
_SEG = (_u(2, 3, 6, 6), (_u(2, 3, 6, 6) > 0.5).float())


def _lost(path: str, *inputs: Any, **options: Any) -> Built:
    return _made(_K + f"contrib.losses.{path}", [inputs], **options)


_CATALYST: dict[str, Callable[[], Built]] = {
    "DiceLoss": lambda: _lost("dice.DiceLoss", *_SEG),
    "IoULoss": lambda: _lost("iou.IoULoss", *_SEG),
    "SmoothingDiceLoss": lambda: _lost("smoothing_dice.SmoothingDiceLoss", *_SEG),
    "FocalLossBinary": lambda: _lost("focal.FocalLossBinary", _t(8), _u(8).round(), ignore=0),
    "FocalLossMultiClass": lambda: _lost("focal.FocalLossMultiClass", _t(8, 3), _i(3, 8), ignore=0),
    "TrevskyLoss": lambda: _lost("trevsky.TrevskyLoss", *_SEG, alpha=0.3),
    "LovaszLossBinary": lambda: _lost("lovasz.LovaszLossBinary", _t(2, 1, 6, 6), _u(2, 1, 6, 6).round(), ignore=3),
    "LovaszLossMultiClass": lambda: _lost("lovasz.LovaszLossMultiClass", _t(2, 3, 6, 6), _i(3, 2, 6, 6)),
    "LovaszLossMultiLabel": lambda: _lost("lovasz.LovaszLossMultiLabel", _t(2, 3, 6, 6), _u(2, 3, 6, 6).round()),
    "TripletLoss": lambda: _lost("triplet.TripletLoss", _t(6, 4), _i(3, 6)),
    "TripletLossV2": lambda: _lost("triplet.TripletLossV2", _t(6, 4), _i(3, 6)),
    "MarginLoss": lambda: _lost("margin.MarginLoss", _t(6, 4), _i(3, 6)),
    "CircleLoss": lambda: _lost("circle.CircleLoss", _t(6, 4), _i(3, 6), margin=0.25, gamma=64),
    "WingLoss": lambda: _lost("wing.WingLoss", 9 * _t(6, 4), _t(6, 4)),
    "WARPLoss": lambda: _lost("recsys.WARPLoss", _t(4, 6), _u(4, 6).round()),
    "RocStarLoss": lambda: _lost("recsys.RocStarLoss", _u(8, 1), _u(8, 1).round(), sample_size=4, sample_size_gamma=4),
    "NTXentLoss": lambda: _lost("ntxent.NTXentLoss", _t(6, 4), _t(6, 4), tau=0.5),
    "SupervisedContrastiveLoss": lambda: _lost(
        "supervised_contrastive.SupervisedContrastiveLoss", _t(6, 4), _i(2, 6), tau=0.5
    ),
    "BarlowTwinsLoss": lambda: _lost("contrastive.BarlowTwinsLoss", _t(6, 4), _t(6, 4)),
    "QuantileRegressionLoss": lambda: _lost("regression.QuantileRegressionLoss", _t(4, 51), _t(4, 51)),
    "HuberLossV0": lambda: _lost("regression.HuberLossV0", _t(4, 5), _t(4, 5)),
    "AdaCos": lambda: _made(_K + "contrib.layers.cosface.AdaCos", [(_t(4, 6), _i(3, 4))], 6, 3),
    "ArcFace": lambda: _made(_K + "contrib.layers.arcface.ArcFace", [(_t(4, 6), _i(3, 4))], 6, 3),
    "CurricularFace": lambda: _made(_K + "contrib.layers.curricularface.CurricularFace", [(_t(4, 6), _i(3, 4))], 6, 3),
    "AMSoftmax": lambda: _made(_K + "contrib.layers.amsoftmax.AMSoftmax", [(_t(4, 6), _i(3, 4))], 6, 3),
    "LamaPooling": lambda: _made(
        _K + "contrib.layers.lama.LamaPooling", [(_t(2, 5, 6), torch.ones(2, 5, 1, dtype=torch.bool))], 6
    ),
    "accuracy": lambda: _call(_F + "_accuracy.accuracy", (_t(6, 4), _i(4, 6), (1, 3))),
    "multilabel_accuracy": lambda: _call(_F + "_accuracy.multilabel_accuracy", (_u(6, 4), _u(6, 4).round(), 0.5)),
    "auc": lambda: _call(_F + "_auc.auc", (_u(6, 3), _u(6, 3).round())),
    "binary_auc": lambda: _call(_F + "_auc.binary_auc", (_u(8), _u(8).round())),
    "binary_average_precision": lambda: _call(
        _F + "_average_precision.binary_average_precision", (_u(8), _u(8).round())
    ),
    "mean_average_precision": lambda: _call(
        _F + "_average_precision.mean_average_precision", (_u(4, 6), _u(4, 6).round(), [1, 3])
    ),
    "ndcg": lambda: _call(_F + "_ndcg.ndcg", (_u(4, 6), _u(4, 6).round(), [1, 3])),
    "mrr": lambda: _call(_F + "_mrr.mrr", (_u(4, 6), _u(4, 6).round(), [1, 3])),
    "hitrate": lambda: _call(_F + "_hitrate.hitrate", (_u(4, 6), _u(4, 6).round(), [1, 3])),
    "cmc_score": lambda: _call(_F + "_cmc_score.cmc_score", (_t(4, 3), _t(5, 3), _t(4, 5) > 0, 2)),
    "masked_cmc_score": lambda: _call(
        _F + "_cmc_score.masked_cmc_score", (_t(4, 3), _t(5, 3), _t(4, 5) > 0, torch.ones(4, 5, dtype=torch.bool), 2)
    ),
    "f1_score": lambda: _call(_F + "_f1_score.f1_score", (_t(8, 3), _i(3, 8))),
    "precision": lambda: _call(_F + "_precision.precision", (_t(8, 3), _i(3, 8))),
    "precision_recall_fbeta_support": lambda: _call(
        _F + "_classification.precision_recall_fbeta_support", (_t(8, 3), _i(3, 8))
    ),
    "get_multilabel_statistics": lambda: _call(_F + "_misc.get_multilabel_statistics", (_i(2, 6, 4), _i(2, 6, 4))),
    "iou": lambda: _using(_F + "_segmentation.iou", lambda use, a, b: use(a, b, threshold=0.5), _SEG),
    "dice weighted": lambda: _using(
        _F + "_segmentation.dice", lambda use, a, b: use(a, b, mode="weighted", weights=[0.2, 0.3, 0.5]), _SEG
    ),
}

_NUMBERS = torch.tensor([[6, 1, 1, 1, 1], [8, 1, 1, 0, 0]])
_POSITIONS = 3 * _t(2, 5, 3)
_PARAMETERS = {name: torch.tensor(v) for name, v in (("s6", 1.0), ("s8", 0.8), ("s9", 1.0), ("a1", 0.4), ("a2", 5.0))}
_T = "tad_dftd3."
_DFTD3: dict[str, Callable[[], Built]] = {
    "dftd3": lambda: _call(_T + "dftd3", (_NUMBERS, _POSITIONS, _PARAMETERS)),
    "dftd3 one": lambda: _call(_T + "dftd3", (_NUMBERS[0], _POSITIONS[0], _PARAMETERS)),
    "weight_references": lambda: _using(
        _T + "model.weights.weight_references",
        lambda use, n, cn: use(n, cn, _get(_T + "reference.Reference")(dtype=torch.float32)),
        (_NUMBERS, 3 * _u(2, 5)),
    ),
}

_MC = "tad_mctc."
_MCTC: dict[str, Callable[[], Built]] = {
    "cn_d3": lambda: _call(_MC + "ncoord.cn_d3", (_NUMBERS, _POSITIONS)),
    "cn_d4": lambda: _call(_MC + "ncoord.cn_d4", (_NUMBERS, _POSITIONS)),
    "cn_eeq": lambda: _call(_MC + "ncoord.cn_eeq", (_NUMBERS, _POSITIONS)),
    "guess_bond_order": lambda: _call(_MC + "molecule.guess_bond_order", (_NUMBERS, _POSITIONS, _u(2, 5))),
    "bond_angles": lambda: _call(_MC + "molecule.geometry.bond_angles", (_NUMBERS[0], _POSITIONS[0])),
    "is_linear": lambda: _call(_MC + "molecule.geometry.is_linear", (_NUMBERS[0], _POSITIONS[0])),
    "rot_consts": lambda: _call(_MC + "molecule.property.rot_consts", (_u(5) + 1, _POSITIONS[0])),
    "inertia_moment": lambda: _call(_MC + "molecule.property.inertia_moment", (_u(2, 5) + 1, _POSITIONS)),
    "pack": lambda: _call(_MC + "batch.pack", ([_t(3), _t(5)],)),
    "merge": lambda: _call(_MC + "batch.merging.merge", ([_t(3, 4), _t(2, 5)],)),
    "deflate": lambda: _call(_MC + "batch.unpacking.deflate", (_NUMBERS,)),
    "unpack": lambda: _call(_MC + "batch.unpacking.unpack", (_NUMBERS,)),
    "pargsort": lambda: _call(_MC + "batch.sorting.pargsort", (_t(2, 5), _NUMBERS != 0)),
    "eighb": lambda: _call(_MC + "storch.linalg.eighb", (_POSITIVE.repeat(2, 1, 1),)),
    "cdist": lambda: _call(_MC + "storch.distance.cdist", (_t(4, 3), _t(5, 3))),
    "divide": lambda: _call(_MC + "storch.elemental.divide", (_t(4), _t(4))),
}

_PME = "torchpme."
_CHARGES = torch.tensor([[1.0], [-1.0], [1.0], [-1.0]], dtype=torch.float64)
_CELL = 4 * torch.eye(3, dtype=torch.float64)
_SYSTEM = (
    _CHARGES,
    _CELL,
    4 * _u(4, 3).double(),
    torch.tensor([[0, 1], [0, 2], [1, 3], [2, 3]]),
    1 + _u(4).double(),
)


def _potential(name: str, **options: Any) -> Any:
    return _get(_PME + f"potentials.{name}")(**options).double()


def _calculated(name: str, potential: Any, **options: Any) -> Built:
    made = _get(_PME + name)(potential, **options)
    return made.double(), [_SYSTEM]


_TORCHPME: dict[str, Callable[[], Built]] = {
    "EwaldCalculator": lambda: _calculated(
        "EwaldCalculator", _potential("CoulombPotential", smearing=1.0), lr_wavelength=1.5
    ),
    "PMECalculator": lambda: _calculated(
        "PMECalculator", _potential("CoulombPotential", smearing=1.0), mesh_spacing=1.0
    ),
    "P3MCalculator": lambda: _calculated(
        "P3MCalculator", _potential("CoulombPotential", smearing=1.0), mesh_spacing=1.0
    ),
    "Calculator": lambda: _calculated(
        "Calculator", _potential("InversePowerLawPotential", exponent=6, exclusion_radius=1.0)
    ),
    "EwaldCalculator power": lambda: _calculated(
        "EwaldCalculator", _potential("InversePowerLawPotential", exponent=6, smearing=1.0), lr_wavelength=1.5
    ),
    "CubicSpline": lambda: _made(_PME + "lib.splines.CubicSpline", [(5 * _u(6),)], torch.arange(6.0), _t(6)),
    "EwaldErrorBounds": lambda: _made(
        _PME + "tuning.ewald.EwaldErrorBounds", [(1.0, 1.5, 3.0)], _SYSTEM[0], _SYSTEM[1], _SYSTEM[2]
    ),
    "exp1": lambda: _call(_PME + "lib.math.exp1", (_u(5) + 0.1,)),
    "get_ns_mesh": lambda: _call(_PME + "lib.get_ns_mesh", (_CELL, 1.0)),
    "generate_kvectors_for_ewald": lambda: _call(
        _PME + "lib.generate_kvectors_for_ewald", (_CELL, torch.tensor([3, 3, 3]))
    ),
    "compute_batched_kvectors": lambda: _call(
        _PME + "lib.kvectors.compute_batched_kvectors", (1.5, torch.stack([_CELL, 1.1 * _CELL]))
    ),
}

_H = "cheetah."


def _tracked(name: str, particles: bool = True, **options: Any) -> Built:
    made = _get(_H + name)(**options)
    beams = _get(_H + "ParticleBeam"), _get(_H + "ParameterBeam")
    beam = beams[0].from_parameters(num_particles=50) if particles else beams[1].from_parameters()
    return (lambda: made.track(beam)), [()]


_LENGTH = torch.tensor(0.3)
_CHEETAH: dict[str, Callable[[], Built]] = {
    "Drift": lambda: _tracked("Drift", length=_LENGTH),
    "Drift second_order": lambda: _tracked("Drift", length=_LENGTH, tracking_method="second_order"),
    "Quadrupole": lambda: _tracked("Quadrupole", length=_LENGTH, k1=torch.tensor(4.0), tilt=torch.tensor(0.1)),
    "Quadrupole parameters": lambda: _tracked("Quadrupole", False, length=_LENGTH, k1=torch.tensor(4.0)),
    "Quadrupole kicks": lambda: _tracked(
        "Quadrupole", length=_LENGTH, k1=torch.tensor(4.0), tracking_method="drift_kick_drift", num_steps=3
    ),
    "Dipole": lambda: _tracked("Dipole", length=_LENGTH, angle=torch.tensor(0.2), fringe_integral=torch.tensor(0.1)),
    "Dipole kicks": lambda: _tracked(
        "Dipole", length=_LENGTH, angle=torch.tensor(0.2), tracking_method="drift_kick_drift"
    ),
    "Solenoid": lambda: _tracked("Solenoid", length=_LENGTH, k=torch.tensor(0.5)),
    "Cavity": lambda: _tracked(
        "Cavity",
        length=_LENGTH,
        voltage=torch.tensor(1e7),
        phase=torch.tensor(10.0),
        frequency=torch.tensor(1.3e9),
    ),
    "Cavity parameters": lambda: _tracked(
        "Cavity",
        False,
        length=_LENGTH,
        voltage=torch.tensor(1e7),
        phase=torch.tensor(10.0),
        frequency=torch.tensor(1.3e9),
    ),
    "Aperture": lambda: _tracked("Aperture", x_max=torch.tensor(1e-4), y_max=torch.tensor(1e-4), shape="elliptical"),
    "BPM": lambda: _tracked("BPM", is_active=True),
    "Screen": lambda: _tracked("Screen", resolution=(20, 20), pixel_size=torch.tensor([1e-4, 1e-4]), is_active=True),
    "SpaceChargeKick": lambda: _tracked("SpaceChargeKick", effect_length=_LENGTH, grid_shape=(8, 8, 8)),
    "TransverseDeflectingCavity": lambda: _tracked(
        "TransverseDeflectingCavity", length=_LENGTH, voltage=torch.tensor(1e6), frequency=torch.tensor(1.3e9)
    ),
    "Segment": lambda: _tracked(
        "Segment",
        elements=[
            _get(_H + "Drift")(length=_LENGTH),
            _get(_H + "Quadrupole")(length=_LENGTH, k1=torch.tensor(4.0)),
            _get(_H + "Marker")(),
        ],
    ),
    "cloud_in_cell": lambda: _call(_H + "utils.cloud_in_cell.cloud_in_cell_charge_deposition", (_t(20, 2), (6, 6))),
    "kde_histogram_2d": lambda: _call(
        _H + "utils.kde.kde_histogram_2d", (_t(20), _t(20), torch.arange(5.0), torch.arange(5.0), torch.tensor(0.5))
    ),
    "match_distribution_moments": lambda: _call(
        _H + "utils.statistics.match_distribution_moments", (_t(20, 3), _t(3), _POSITIVE)
    ),
    "cossqrtmcosdivdiff": lambda: _call(_H + "utils.autograd.cossqrtmcosdivdiff", (_u(4), _u(4))),
    "emittance": lambda: _using(
        _H + "ParticleBeam", lambda use, x: use(x, energy=torch.tensor(1e8)).emittance_x, (_t(20, 7),)
    ),
}

_N = "neurodiffeq."


def _conditioned(name: str, columns: int, *given: Any) -> Built:
    condition = _get(_N + f"conditions.{name}")(*given)
    net = _get(_N + "networks.FCNN")(columns, 1)
    return (lambda *x: condition.enforce(net, *x)), [tuple(_u(6, 1).requires_grad_() for _ in range(columns))]


def _operated(name: str, vectors: int, columns: int) -> Built:
    operator = _get(_N + f"operators.{name}")
    nets = [_get(_N + "networks.FCNN")(columns, 1) for _ in range(vectors)]

    def use(*x: torch.Tensor) -> Any:
        return operator(*(net(torch.cat(x, 1)) for net in nets), *x)

    return use, [tuple((_u(6, 1) + 0.1).requires_grad_() for _ in range(columns))]


_NEURODIFFEQ: dict[str, Callable[[], Built]] = {
    **{name: lambda name=name, n=n: _operated(name, n, 3) for name, n in (("grad", 1), ("laplacian", 1), ("curl", 3))},
    **{
        name: lambda name=name, n=n: _operated(name, n, 3)
        for name, n in (("spherical_laplacian", 1), ("cylindrical_div", 3), ("spherical_curl", 3))
    },
    "diff": lambda: _using(
        _N + "neurodiffeq.diff", lambda use, x: use(torch.sin(x), x, order=2), (_u(6, 1).requires_grad_(),)
    ),
    "IVP": lambda: _conditioned("IVP", 1, 0.0, 1.0, 0.5),
    "DirichletBVP": lambda: _conditioned("DirichletBVP", 1, 0.0, 1.0, 1.0, 0.0),
    "IBVP1D": lambda: _conditioned("IBVP1D", 2, 0.0, 1.0, 0.0, torch.sin, torch.cos, None, None, torch.cos),
    "MonomialNN": lambda: _made(_N + "networks.MonomialNN", [(_t(4, 1),)], [1, 2, 3]),
    "APTx": lambda: _made(_N + "networks.APTx", [(_t(4, 1),)], trainable=True),
    "LegendreBasis": lambda: _made(_N + "function_basis.LegendreBasis", [(_u(6, 1),)], max_degree=3),
    "RealFourierSeries": lambda: _made(_N + "function_basis.RealFourierSeries", [(_u(6, 1),)], max_degree=3),
    "ZonalSphericalHarmonics": lambda: _made(
        _N + "function_basis.ZonalSphericalHarmonics", [(_u(6, 1), _u(6, 1))], max_degree=3
    ),
    **{
        f"Generator1D {method}": lambda method=method: _using(
            _N + "generators.Generator1D", lambda use: use(8, 0.1, 1.0, method).get_examples(), ()
        )
        for method in ("uniform", "equally-spaced-noisy", "log-spaced-noisy", "chebyshev2", "latin-hypercube")
    },
    "Generator2D": lambda: _using(_N + "generators.Generator2D", lambda use: use().get_examples(), ()),
    "GeneratorSpherical": lambda: _method(_N + "generators.GeneratorSpherical", "get_examples", [()], 8, 0.1, 1.0),
    "FilterGenerator": lambda: _method(
        _N + "generators.FilterGenerator",
        "get_examples",
        [()],
        _get(_N + "generators.Generator1D")(8, 0.1, 1.0),
        lambda x: x[0] > 0.5,
    ),
    "ResampleGenerator": lambda: _method(
        _N + "generators.ResampleGenerator", "get_examples", [()], _get(_N + "generators.Generator1D")(8), size=4
    ),
    "h1_norm": lambda: _using(
        _N + "losses._h1_norm",
        lambda use, x: use(torch.sin(x), [torch.sin(x)], [x]),
        (_u(6, 1).requires_grad_(),),
    ),
}

_W = "ml4gw."
_STRAIN = _t(2, 2, 256)
_ML4GW: dict[str, Callable[[], Built]] = {
    "SpectralDensity": lambda: _made(_W + "transforms.spectral.SpectralDensity", [(_t(2, 512),)], 128, 1.0),
    "SpectralDensity median": lambda: _made(
        _W + "transforms.spectral.SpectralDensity", [(_t(2, 512),)], 128, 1.0, average="median", fast=True
    ),
    "Whiten": lambda: _made(
        _W + "transforms.whitening.Whiten", [(_t(2, 2, 512).double(), _u(2, 257).double() + 1)], 1.0, 128, 20
    ),
    "QTile": lambda: _made(
        _W + "transforms.qtransform.QTile", [(torch.fft.rfft(_t(2, 256)),)], 8.0, 30.0, 2.0, 128.0, 0.2
    ),
    "SingleQTransform": lambda: _made(
        _W + "transforms.qtransform.SingleQTransform", [(_STRAIN,)], 2.0, 128.0, (16, 16), frange=[10, 40]
    ),
    "QScan": lambda: _made(
        _W + "transforms.qtransform.QScan", [(_STRAIN,)], 2.0, 128.0, (16, 16), qrange=[4, 16], frange=[10, 40]
    ),
    "SplineInterpolate1D": lambda: _made(
        _W + "transforms.spline_interpolation.SplineInterpolate1D",
        [(_t(2, 2, 10),)],
        torch.linspace(0, 1, 10),
        x_out=torch.linspace(0, 1, 15),
    ),
    "SplineInterpolate2D": lambda: _made(
        _W + "transforms.spline_interpolation.SplineInterpolate2D",
        [(_t(2, 2, 10, 8),)],
        torch.linspace(0, 1, 8),
        torch.linspace(0, 1, 10),
        x_out=torch.linspace(0, 1, 12),
        y_out=torch.linspace(0, 1, 15),
    ),
    "ShiftedPearsonCorrelation": lambda: _made(
        _W + "transforms.pearson.ShiftedPearsonCorrelation", [(_STRAIN, _t(2, 2, 256))], 4
    ),
    "LeakyIntegrator": lambda: _made(_W + "transforms.integrator.LeakyIntegrator", [(_u(12),)], 0.5, 0.9, 0.0, "count"),
    "TophatIntegrator": lambda: _made(_W + "transforms.integrator.TophatIntegrator", [(_u(3, 32),)], 16, 1),
    "Decimator": lambda: _made(
        _W + "transforms.decimator.Decimator",
        [(_t(2, 2, 256),)],
        128,
        torch.tensor([[0, 1, 64], [1, 2, 128]]),
    ),
    "Snapshotter": lambda: _made(_W + "nn.streaming.snapshotter.Snapshotter", [(_t(2, 32),)], 2, 16, 4, 8),
    "OnlineAverager": lambda: _made(_W + "nn.streaming.online_average.OnlineAverager", [(_t(4, 2, 16),)], 4, 4, 3, 2),
    "GroupNorm1D": lambda: _made(_W + "nn.norm.GroupNorm1D", [(_t(2, 4, 16),)], 4, 2),
    "S4Model": lambda: _made(_W + "nn.ssm.s4d.S4Model", [(_t(2, 3, 16),)], 3, 2, 8, 8, 1),
    "ConvolutionalAutoencoder": lambda: _made(
        _W + "nn.autoencoder.convolutional.ConvolutionalAutoencoder", [(_t(2, 4, 32),)], 4, [8, 8], 3, stride=2
    ),
    "sample_kernels": lambda: _call(_W + "utils.slicing.sample_kernels", (_t(4, 2, 64), 16)),
    "sample_kernels incoherent": lambda: _using(
        _W + "utils.slicing.sample_kernels", lambda use, x: use(x, 16, N=5, coincident=False), (_t(2, 64),)
    ),
    "unfold_windows": lambda: _call(_W + "utils.slicing.unfold_windows", (_t(2, 64), 16, 10, False)),
    "Cosine": lambda: _using(_W + "distributions.Cosine", lambda use, x: use().log_prob(x), (_u(5),)),
    "PowerLaw": lambda: _using(
        _W + "distributions.PowerLaw", lambda use, x: use(1.0, 9.0, -2).log_prob(x), (_u(5) + 2,)
    ),
    "compute_observed_strain": lambda: _using(
        _W + "gw.compute_observed_strain",
        lambda use, d, p, q, x: use(d, p, q, *_get(_W + "gw.get_ifo_geometry")("H1", "L1"), 128.0, cross=x, plus=x),
        (_u(2), _u(2), _u(2), _t(2, 256)),
    ),
}

_X = "torchfem."


def _material(path: str, strain: torch.Tensor, *given: Any, method: str = "step") -> Built:
    made = _get(_X + f"materials.{path}")(*given).vectorize(strain.shape[0])
    dim = strain.shape[-1]
    state = torch.zeros(strain.shape[0], max(getattr(made, "n_state", 0), 1))
    inputs = (strain, torch.eye(dim).expand_as(strain), torch.zeros_like(strain), state)
    return getattr(made, method), [(*inputs, torch.zeros_like(strain), torch.ones(strain.shape[0]), 0)]


_TORCHFEM: dict[str, Callable[[], Built]] = {
    "planar_rotation": lambda: _call(_X + "rotations.planar_rotation", (torch.tensor(0.3),)),
    "axis_rotation": lambda: _call(_X + "rotations.axis_rotation", (torch.tensor([0.0, 0, 1]), torch.tensor(0.3))),
    "euler_rotation": lambda: _call(_X + "rotations.euler_rotation", (_t(3),)),
    "stress2voigt": lambda: _call(_X + "utils.stress2voigt", (_t(4, 3, 3),)),
    "voigt2stiffness": lambda: _call(_X + "utils.voigt2stiffness", (_t(6, 6),)),
    "linear_to_quadratic": lambda: _using(
        _X + "elements.linear_to_quadratic",
        lambda use, *x: use(*x),
        (_u(4, 3), torch.tensor([[0, 1, 2, 3]])),
    ),
    "Hexa1": lambda: _using(_X + "elements.Hexa1", lambda use, x: (use.N(x), use.B(x)), (_t(4, 3),)),
    "IsotropicElasticity3D": lambda: _material("IsotropicElasticity3D", 0.01 * _t(4, 3, 3), 1000.0, 0.3),
    "IsotropicPlasticity3D": lambda: _material(
        "IsotropicPlasticity3D", 0.1 * _t(4, 3, 3), 1000.0, 0.3, lambda q: 10.0 + q, lambda q: torch.ones_like(q)
    ),
    "IsotropicPlasticityPlaneStress": lambda: _material(
        "IsotropicPlasticityPlaneStress",
        0.1 * _t(4, 2, 2),
        1000.0,
        0.3,
        lambda q: 10.0 + q,
        lambda q: torch.ones_like(q),
    ),
    "IsotropicDamage3D": lambda: _material(
        "IsotropicDamage3D",
        0.1 * _t(4, 3, 3),
        1000.0,
        0.3,
        lambda k, _: 1 - torch.exp(-k),
        lambda k, _: torch.exp(-k),
        "rankine",
    ),
}

_S = "torchcp.classification."
_SETS = _u(10, 4).round()


def _scored(name: str, labels: bool, **options: Any) -> Built:
    inputs = (_t(10, 4), _i(4, 10)) if labels else (_t(10, 4),)
    score = _get(_S + f"score.{name}")(**options)
    return (lambda *x: score(*x)), [inputs]


def _predicted(name: str, loss: str) -> Built:
    predictor = _get(_S + "predictor.SplitPredictor")(
        _get(_S + "score.THR" if name == "THR" else _S + f"score.{name}")()
    )
    return _get(_S + f"loss.{loss}")(predictor, alpha=0.2), [(_t(20, 4), _i(4, 20))]


_TORCHCP: dict[str, Callable[[], Built]] = {
    **{
        f"{name}{' label' if labels else ''}": lambda name=name, labels=labels: _scored(name, labels)
        for name in ("LAC", "APS", "RAPS", "SAPS", "TOPK", "Margin")
        for labels in (False, True)
    },
    "EntmaxScore": lambda: _scored("EntmaxScore", True),
    "coverage_rate": lambda: _call(_S + "utils.metrics.coverage_rate", (_SETS, _i(4, 10))),
    "average_size": lambda: _call(_S + "utils.metrics.average_size", (_SETS,)),
    "CovGap": lambda: _call(_S + "utils.metrics.CovGap", (_SETS, _i(4, 10), 0.1, 4)),
    "VioClasses": lambda: _call(_S + "utils.metrics.VioClasses", (_SETS, _i(4, 10), 0.1, 4)),
    "SSCV": lambda: _call(_S + "utils.metrics.SSCV", (_SETS, _i(4, 10), 0.1)),
    "DiffViolation": lambda: _call(_S + "utils.metrics.DiffViolation", (_t(10, 4), _SETS, _i(4, 10), 0.1)),
    "singleton_hit_ratio": lambda: _call(_S + "utils.metrics.singleton_hit_ratio", (_SETS.bool(), _i(4, 10))),
    "compute_p_values": lambda: _call(_S + "utils.metrics.compute_p_values", (_u(10), _u(5, 4))),
    "pvalue_criterion_OF": lambda: _call(_S + "utils.metrics.pvalue_criterion_OF", (_u(10), _u(5, 4), _i(4, 5))),
    "ConfTSLoss": lambda: _predicted("LAC", "ConfTSLoss"),
    "ConfTrLoss": lambda: _using(
        _S + "loss.ConfTrLoss",
        lambda use, x, y: use(_get(_S + "predictor.SplitPredictor")(_get(_S + "score.LAC")()), alpha=0.2, fraction=0.5)(
            x, y
        ),
        (_t(20, 4), _i(4, 20)),
    ),
    "CDLoss": lambda: _using(
        _S + "loss.CDLoss",
        lambda use, x, y: use(_get(_S + "predictor.SplitPredictor")(_get(_S + "score.LAC")()))(x, y),
        (_t(20, 4), _i(4, 20)),
    ),
    "calculate_threshold": lambda: _using(
        _S + "predictor.SplitPredictor",
        lambda use, x, y: (p := use(_get(_S + "score.LAC")(), model=nn.Linear(4, 4)), p.calculate_threshold(x, y, 0.2))[
            0
        ].predict_with_logits(x),
        (_t(20, 4), _i(4, 20)),
    ),
    "CQR": lambda: _using(
        "torchcp.regression.score.CQR",
        lambda use, p, y, q: (s := use(), s(p, y), s.generate_intervals(p, q))[1:],
        (_t(10, 2), _t(10), torch.tensor([0.3])),
    ),
    "R2CCP": lambda: _using(
        "torchcp.regression.score.R2CCP",
        lambda use, p, y, q, m: (s := use(m), s(p, y), s.generate_intervals(p, q))[1:],
        (_u(10, 5).softmax(1), _u(10), torch.tensor(0.3), torch.linspace(0, 1, 5)),
    ),
    "regression coverage_rate": lambda: _call(
        "torchcp.regression.utils.metrics.coverage_rate", (_t(10, 1, 2).sort(-1).values, _t(10))
    ),
}

_R = "coral_pytorch."
_CORAL: dict[str, Callable[[], Built]] = {
    "CoralLayer": lambda: _made(_R + "layers.CoralLayer", [(_t(4, 6),)], 6, 5),
    "coral_loss": lambda: _call(_R + "losses.coral_loss", (_t(4, 4), _u(4, 4).round())),
    "CoralLoss": lambda: _made(_R + "losses.CoralLoss", [(_t(4, 4), _u(4, 4).round())]),
    "corn_loss": lambda: _call(_R + "losses.corn_loss", (_t(6, 4), _i(5, 6), 5)),
    "CornLoss": lambda: _made(_R + "losses.CornLoss", [(_t(6, 4), _i(5, 6))], 5),
    "levels_from_labelbatch": lambda: _call(_R + "dataset.levels_from_labelbatch", (_i(5, 6), 5)),
    "label_to_levels": lambda: _call(_R + "dataset.label_to_levels", (3, 5)),
    "proba_to_label": lambda: _call(_R + "dataset.proba_to_label", (_u(4, 4),)),
    "corn_label_from_logits": lambda: _call(_R + "dataset.corn_label_from_logits", (_t(4, 4),)),
}


MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in (
        ("evotorch", _EVO),
        ("caustics", _CAUSTICS),
        ("bindsnet", _BINDSNET),
        ("vmas", _VMAS),
        ("mpc", _MPC),
        ("qpth", _QPTH),
        ("pytorch_mppi", _MPPI),
        ("arm_pytorch_utilities", _ARM),
        ("pytorch_ood", _OOD),
        ("torchdr", _DR),
        ("catalyst", _CATALYST),
        ("tad_dftd3", _DFTD3),
        ("tad_mctc", _MCTC),
        ("torchpme", _TORCHPME),
        ("cheetah", _CHEETAH),
        ("neurodiffeq", _NEURODIFFEQ),
        ("ml4gw", _ML4GW),
        ("torchfem", _TORCHFEM),
        ("torchcp", _TORCHCP),
        ("coral_pytorch", _CORAL),
    )
    for name, build in models.items()
}

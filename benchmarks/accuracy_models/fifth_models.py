"""Models of packages that were chosen and run after the rounds on the fourth group, before anything was changed.

Of pypose, roma, torchjd, torchquad, pytorch-kinematics, recbole, snntorch and
curated-transformers.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import models_by_name, random_inputs

_t, _u, _i = random_inputs(5)


def _get(name: str) -> Any:
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


_call, _made = models_by_name(_get)


def _rotations(*shape: int) -> torch.Tensor:
    turned, triangle = torch.linalg.qr(_t(*shape, 3, 3))
    turned = turned * triangle.diagonal(dim1=-2, dim2=-1).sign().unsqueeze(-2)
    return turned * torch.linalg.det(turned)[..., None, None]


def _filter(name: str) -> Built:
    """A Kalman filter of a system that is not linear."""
    pp = importlib.import_module("pypose")

    class Pendulum(pp.module.NLS):  # type: ignore[misc, name-defined]
        def state_transition(self, state: torch.Tensor, given: torch.Tensor, t: Any = None) -> torch.Tensor:
            return state.cos() + given + (0 if t is None else t)

        def observation(self, state: torch.Tensor, given: torch.Tensor, t: Any = None) -> torch.Tensor:
            return state.sin() + given + (0 if t is None else t)

    noise = torch.eye(2) * 0.1
    return getattr(pp.module, name)(Pendulum(), Q=noise, R=noise), [(_t(2), _t(2), _t(2), torch.eye(2))]


_PYPOSE: dict[str, Callable[[], Built]] = {
    "mat2SO3": lambda: _call("pypose.mat2SO3", (_rotations(4),), (_rotations(5),)),
    "mat2SE3": lambda: _call("pypose.mat2SE3", (torch.cat((_rotations(4), _t(4, 3, 1)), -1),)),
    "euler2SO3": lambda: _call("pypose.euler2SO3", (_t(4, 3),)),
    "voxel_filter": lambda: _call("pypose.voxel_filter", (_u(12, 3), [0.5, 0.5, 0.5]), (_u(9, 3), [0.5, 0.5, 0.5])),
    "voxel_filter random": lambda: _call("pypose.voxel_filter", (_u(12, 3), [0.5, 0.5, 0.5]), random=True),
    "nbr_filter": lambda: _call("pypose.nbr_filter", (_u(12, 3), 2, 0.5), (_u(9, 3), 2, 0.5), return_mask=True),
    "knn_filter": lambda: _call("pypose.knn_filter", (_u(12, 3), 2), radius=0.9),
    "random_filter": lambda: _call("pypose.random_filter", (_u(12, 3), 5)),
    "svdtf": lambda: _call("pypose.svdtf", (_t(6, 3), _t(6, 3))),
    "chspline": lambda: _call("pypose.chspline", (_t(2, 6, 3), 0.2), (_t(3, 5, 3), 0.2)),
    "Huber": lambda: _made("pypose.optim.kernel.Huber", [(_u(8) * 4,), (_u(6) * 4,)], delta=1.0),
    "UKF": partial(_filter, "UKF"),
    "EKF": partial(_filter, "EKF"),
}

_R = "roma."
_ROMA: dict[str, Callable[[], Built]] = {
    "unitquat_to_euler": lambda: _call(
        f"{_R}unitquat_to_euler", ("xyz", nn.functional.normalize(_t(5, 4), dim=-1)), degrees=True
    ),
    "euler_to_rotmat": lambda: _call(f"{_R}euler_to_rotmat", ("ZYX", _t(5, 3)), ("ZYX", _t(4, 3))),
    "procrustes": lambda: _call(f"{_R}special_procrustes", (_t(4, 3, 3),), (_t(5, 3, 3),)),
    "rotmat_to_unitquat": lambda: _call(f"{_R}rotmat_to_unitquat", (_rotations(4),), (_rotations(5),)),
    "rotvec_slerp": lambda: _call(f"{_R}rotvec_slerp", (_t(4, 3), _t(4, 3), torch.linspace(0, 1, 5))),
    "is_rotation_matrix": lambda: _call(f"{_R}is_rotation_matrix", (_rotations(4),), (_rotations(5),), epsilon=1e-4),
    "registration": lambda: _call(f"{_R}rigid_points_registration", (_t(6, 3), _t(6, 3), _u(6)), compute_scaling=True),
    "random_rotmat": lambda: _call(f"{_R}random_rotmat", (4,), (5,)),
}

_J = "torchjd.aggregation."
_MATRICES = [(_t(3, 8),), (_t(4, 6),)]
_TORCHJD: dict[str, Callable[[], Built]] = {
    "Krum": lambda: _made(f"{_J}Krum", [(_t(6, 8),), (_t(7, 6),)], n_byzantine=1, n_selected=2),
    **{
        name: partial(lambda name: _made(f"{_J}{name}", _MATRICES), name)
        for name in ("PCGrad", "GradDrop", "IMTLG", "MGDA", "AlignedMTL", "GradVac", "Random", "ConFIG", "PCD")
    },
    "TrimmedMean": lambda: _made(f"{_J}TrimmedMean", [(_t(5, 4),), (_t(6, 4),)], trim_number=1),
    "DWA": lambda: _made("torchjd.scalarization.DWA", [(_u(3),), (_u(3),)]),
    "STCH": lambda: _made("torchjd.scalarization.STCH", [(_u(3),), (_u(4),)], 0.5),
}


def _integral(name: str, **options: Any) -> Built:
    method = getattr(importlib.import_module("torchquad"), name)()

    def step(domain: torch.Tensor) -> Any:
        return method.integrate(lambda x: (x**2).sum(-1), dim=2, integration_domain=domain, **options)

    return step, [(torch.tensor([[0.0, 1.0], [0.0, 2.0]]),)]


_TORCHQUAD: dict[str, Callable[[], Built]] = {
    "MonteCarlo": partial(_integral, "MonteCarlo", N=64),
    "Trapezoid": partial(_integral, "Trapezoid", N=81),
    "Simpson": partial(_integral, "Simpson", N=81),
    "GaussLegendre": partial(_integral, "GaussLegendre", N=64),
    "VEGAS": partial(_integral, "VEGAS", N=600, max_iterations=3),
}

_K = "pytorch_kinematics.transforms."


def _turned(axis: str) -> Built:
    made = _get("pytorch_kinematics.RotateAxisAngle")

    def step(angle: torch.Tensor, points: torch.Tensor) -> Any:
        transform = made(angle, axis=axis)
        return transform.inverse().transform_points(points)

    return step, [(_t(3), _t(4, 3)), (_t(2), _t(5, 3))]


_ARM = """<robot name="arm"><link name="base"/><link name="first"/><link name="second"/>
<joint name="a" type="revolute"><parent link="base"/><child link="first"/><origin xyz="0 0 1"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint>
<joint name="b" type="revolute"><parent link="first"/><child link="second"/><origin xyz="1 0 0"/><axis xyz="0 1 0"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


def _arm(method: str) -> Built:
    chain = _get("pytorch_kinematics.build_serial_chain_from_urdf")(_ARM, "second")

    def step(angles: torch.Tensor) -> Any:
        result = getattr(chain, method)(angles)
        return result if isinstance(result, torch.Tensor) else result.get_matrix()

    return step, [(_u(3, 2),), (_u(4, 2),)]


_KINEMATICS: dict[str, Callable[[], Built]] = {
    "so3_log_map": lambda: _call(f"{_K}so3.so3_log_map", (_rotations(4),), (_rotations(5),)),
    "so3_exp_map": lambda: _call(f"{_K}so3.so3_exp_map", (_t(4, 3),)),
    "matrix_to_quaternion": lambda: _call(
        f"{_K}rotation_conversions.matrix_to_quaternion", (_rotations(4),), (_rotations(5),)
    ),
    "matrix_to_euler": lambda: _call(f"{_K}rotation_conversions.matrix_to_euler_angles", (_rotations(4), "XYZ")),
    "slerp": lambda: _call(f"{_K}math.quaternion_slerp", (_t(4), _t(4), 0.3)),
    "acos": lambda: _call(f"{_K}math.acos_linear_extrapolation", (_t(8),)),
    "RotateAxisAngle": partial(_turned, "Z"),
    "forward_kinematics": partial(_arm, "forward_kinematics"),
    "jacobian": partial(_arm, "jacobian"),
}

_L = "recbole.model.layers."
_RECBOLE: dict[str, Callable[[], Built]] = {
    "MLPLayers": lambda: _made(f"{_L}MLPLayers", [(_t(4, 8),)], [8, 6, 2], dropout=0.1, bn=True),
    "Dice": lambda: _made(f"{_L}Dice", [(_t(4, 6),)], 6),
    "SequenceAttLayer": lambda: _made(
        f"{_L}SequenceAttLayer",
        [(_t(3, 4), _t(3, 5, 4), torch.tensor([2, 5, 3]))],
        torch.arange(5).view(1, -1),
        (16, 8),
        softmax_stag=True,
    ),
    "TransformerEncoder": lambda: _made(
        f"{_L}TransformerEncoder", [(_t(2, 6, 8), torch.zeros(2, 1, 6, 6))], 1, 2, 8, 16
    ),
    "EmbLoss": lambda: _made("recbole.model.loss.EmbLoss", [(_t(4, 3), _t(5, 3))]),
    "RegLoss": lambda: _made("recbole.model.loss.RegLoss", [([_t(4, 3), _t(3)],)]),
    "EmbMarginLoss": lambda: _made("recbole.model.loss.EmbMarginLoss", [(_t(4, 3), _t(5, 3))]),
}

_S = "snntorch.spikegen."
_CLASSES = _i(3, 4)
_SPIKES = (_u(6, 4, 3) > 0.6).float()
_SNNTORCH: dict[str, Callable[[], Built]] = {
    "rate": lambda: _call(f"{_S}rate", (_u(4, 3),), (_u(5, 3),), num_steps=5),
    "latency": lambda: _call(f"{_S}latency", (_u(4, 3),), (_u(5, 3),), num_steps=5, normalize=True, linear=True),
    "latency log": lambda: _call(f"{_S}latency", (_u(4, 3),), num_steps=5, clip=True),
    "delta": lambda: _call(f"{_S}delta", (_u(6, 3),), (_u(7, 3),), off_spike=True),
    "targets_latency": lambda: _call(f"{_S}targets_latency", (_CLASSES, 3), num_steps=5, normalize=True, linear=True),
    "rate_interpolate": lambda: _call(f"{_S}rate_interpolate", (torch.tensor([0, 4]),), num_steps=5),
    "to_one_hot": lambda: _call(f"{_S}to_one_hot", (_CLASSES, 3)),
    "Leaky": lambda: _made("snntorch.Leaky", [(_t(4, 3), _t(4, 3)), (_t(5, 3), _t(5, 3))], 0.9),
    "Synaptic": lambda: _made("snntorch.Synaptic", [(_t(4, 3), _t(4, 3), _t(4, 3))], 0.9, 0.8),
    "Lapicque": lambda: _made("snntorch.Lapicque", [(_t(4, 3), _t(4, 3))], beta=0.9),
    "ce_rate_loss": lambda: _made("snntorch.functional.ce_rate_loss", [(_SPIKES, _CLASSES)]),
    "ce_count_loss": lambda: _made("snntorch.functional.ce_count_loss", [(_SPIKES, _CLASSES)]),
    "mse_count_loss": lambda: _made("snntorch.functional.mse_count_loss", [(_SPIKES, _CLASSES)], 0.8, 0.2),
    "mse_temporal_loss": lambda: _made("snntorch.functional.mse_temporal_loss", [(_SPIKES, _CLASSES)]),
    "ce_temporal_loss": lambda: _made("snntorch.functional.ce_temporal_loss", [(_SPIKES, _CLASSES)]),
    "accuracy_rate": lambda: _call("snntorch.functional.acc.accuracy_rate", (_SPIKES, _CLASSES)),
    "accuracy_temporal": lambda: _call("snntorch.functional.acc.accuracy_temporal", (_SPIKES, _CLASSES)),
}

_CURATED: dict[str, Callable[[], Built]] = {
    "RotaryEmbeddings": lambda: _made(
        "curated_transformers.layers.embeddings.RotaryEmbeddings", [{"input": _t(2, 2, 6, 8)}], 8, seq_len=4
    ),
}

MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in (
        ("pypose", _PYPOSE),
        ("roma", _ROMA),
        ("torchjd", _TORCHJD),
        ("torchquad", _TORCHQUAD),
        ("pytorch_kinematics", _KINEMATICS),
        ("recbole", _RECBOLE),
        ("snntorch", _SNNTORCH),
        ("curated_transformers", _CURATED),
    )
    for name, build in models.items()
}

"""The rest of the models that were chosen and run after the fourteenth group (see `fifteenth_models`).

Of differentiable-robot-model, azula, torchdistill, torcheeg and deeprobust: robots, diffusion, losses, networks.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(18)
# What these packages import of others and the models here do not use.
_ABSENT = {
    "deeprobust": ("texttable", "torchvision.models", "torchvision.transforms.functional", "torchvision.datasets"),
    "torcheeg": (
        "torch_scatter",
        "spectrum",
        "wfdb",
        "xmltodict",
        "h5py",
        "torchvision.datasets",
    ),
    "torchdistill": (
        "torchvision.models.densenet",
        "torchvision.models.resnet",
        "torchvision.models.inception",
        "torchvision.transforms.functional",
        "torchvision.ops",
        "torchvision.datasets",
    ),
}
_get = getter(_ABSENT, ("deeprobust.image", "deeprobust.image.attack"))
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_D = "differentiable_robot_model."


def _robot(use: Callable[..., Any], name: str = "DifferentiableKUKAiiwa", joints: int = 7) -> Built:
    made = _get(_D + "robot_model." + name)()
    return held(made, use, (_t(2, joints), _t(2, joints), _t(2, joints)), (_t(joints), _t(joints), _t(joints)))


def _moved(use: Callable[..., Any]) -> Built:
    """A use of two vectors of a motion, one of a force, and a transform."""
    kinds = [
        _get(_D + "spatial_vector_algebra." + n) for n in ("SpatialMotionVec", "SpatialForceVec", "CoordinateTransform")
    ]

    def run(*x: torch.Tensor) -> Any:
        motion, force, place = kinds
        rotation = _get(_D + "spatial_vector_algebra.z_rot")(x[6])
        return use(motion(x[0], x[1]), motion(x[2], x[3]), force(x[4], x[5]), place(rotation, x[0]))

    return run, [(*(_t(1, 3) for _ in range(6)), _u(1))]


_SO3 = torch.linalg.matrix_exp(torch.tensor([[0.0, -0.3, 0.2], [0.3, 0.0, -0.1], [-0.2, 0.1, 0.0]]))
_SE3 = torch.cat([torch.cat([_SO3, _t(3, 1)], 1), torch.tensor([[0.0, 0.0, 0.0, 1.0]])])
_SE3_ALGEBRA = torch.cat([torch.cat([_SO3 - _SO3.T, _t(3, 1)], 1), torch.zeros(1, 4)])
_ROBOTS: dict[str, Callable[[], Built]] = {
    "compute_forward_kinematics": lambda: _robot(lambda m, q, *_: m.compute_forward_kinematics(q, "iiwa_link_ee")),
    "compute_forward_kinematics recursive": lambda: _robot(
        lambda m, q, *_: m.compute_forward_kinematics(q, "iiwa_link_ee", recursive=True)
    ),
    "compute_forward_kinematics_all_links": lambda: _robot(lambda m, q, *_: m.compute_forward_kinematics_all_links(q)),
    "compute_inverse_dynamics": lambda: _robot(lambda m, *x: m.compute_inverse_dynamics(*x)),
    "compute_forward_dynamics": lambda: _robot(lambda m, *x: m.compute_forward_dynamics(*x)),
    "compute_lagrangian_inertia_matrix": lambda: _robot(lambda m, q, *_: m.compute_lagrangian_inertia_matrix(q)),
    "compute_non_linear_effects": lambda: _robot(lambda m, q, v, _: m.compute_non_linear_effects(q, v)),
    "compute_endeffector_jacobian": lambda: _robot(lambda m, q, *_: m.compute_endeffector_jacobian(q, "iiwa_link_ee")),
    "two links": lambda: _robot(lambda m, *x: m.compute_forward_dynamics(*x), "DifferentiableTwoLinkRobot", 2),
    "get_quaternion": lambda: _moved(lambda _a, _b, _f, t: t.get_quaternion()),
    "to_matrix": lambda: _moved(lambda _a, _b, _f, t: (t.to_matrix(), t.inverse().to_matrix_transpose())),
    "multiply_transform": lambda: _moved(lambda _a, _b, _f, t: t.multiply_transform(t).trans_cross_rot()),
    "cross_motion_vec": lambda: _moved(lambda a, b, _f, t: a.cross_motion_vec(b).transform(t).get_vector()),
    "cross_force_vec": lambda: _moved(lambda a, b, f, t: a.cross_force_vec(f).transform(t).dot(b)),
    "logMapSO3": lambda: _call(_D + "se3_so3_util.logMapSO3", (_SO3,)),
    "expMapso3": lambda: _call(_D + "se3_so3_util.expMapso3", (_SO3 - _SO3.T,)),
    "logMapSE3": lambda: _call(_D + "se3_so3_util.logMapSE3", (_SE3,)),
    "expMapse3": lambda: _call(_D + "se3_so3_util.expMapse3", (_SE3_ALGEBRA,)),
    "getInverseHomogeneousTransformMatrix": lambda: _call(
        _D + "se3_so3_util.getInverseHomogeneousTransformMatrix", (_SE3,)
    ),
    "integrateAxisAngle": lambda: _call(_D + "se3_so3_util.integrateAxisAngle", (_t(3), _t(3), 0.1)),
    "computeAngularError": lambda: _call(_D + "se3_so3_util.computeAngularError", (_t(3), _t(3))),
    "convertAxisAngleToQuaternion": lambda: _call(_D + "se3_so3_util.convertAxisAngleToQuaternion", (_t(3),)),
    "convertQuaternionToAxisAngle": lambda: _call(
        _D + "se3_so3_util.convertQuaternionToAxisAngle", (nn.functional.normalize(_t(4), dim=0),)
    ),
    "exp_map_so3": lambda: _call(_D + "utils.exp_map_so3", (_t(1, 3),)),
    "cross_product": lambda: _call(_D + "utils.cross_product", (_t(2, 3), _t(2, 3))),
    "bfill_lowertriangle": lambda: _call(_D + "utils.bfill_lowertriangle", (torch.zeros(2, 3, 3), _t(2, 3))),
    "convert_into_at_least_2d_pytorch_tensor": lambda: _call(
        _D + "utils.convert_into_at_least_2d_pytorch_tensor", (_t(3),)
    ),
    **{
        name: (lambda name=name: _made(_D + "rigid_body_params." + name, [()]))
        for name in (
            "UnconstrainedScalar",
            "PositiveScalar",
            "CovParameterized3DInertiaMatrixNet",
            "SymmPosDef3DInertiaMatrixNet",
            "Symm3DInertiaMatrixNet",
        )
    },
}

_A = "azula."


class _Backbone(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = nn.Linear(4, 4)

    def forward(self, x: torch.Tensor, t: torch.Tensor, **_options: Any) -> torch.Tensor:
        return self.inner(x) * t[..., None]


def _denoiser(kind: str = "KarrasDenoiser", schedule: str = "VPSchedule") -> Any:
    torch.manual_seed(0)
    return _get(_A + "denoise." + kind)(_Backbone(), _get(_A + "noise." + schedule)())


def _sampled(name: str, **options: Any) -> Built:
    return _get(_A + "sample." + name)(_denoiser(), steps=3, silent=True, **options), [(_t(2, 4),)]


def _guided(name: str, *given: Any, **options: Any) -> Built:
    made = _get(_A + "guidance." + name)(_denoiser(), *given, **options)
    if name.endswith("Sampler"):
        return made, [(_t(2, 4),)]
    return made, [(_t(2, 4), _u(2))]


def _blurred(x: torch.Tensor) -> torch.Tensor:
    return 0.5 * (x + x.roll(1, -1))


def _covariance(name: str, use: Callable[..., Any]) -> Built:
    kind = _get(_A + "linalg.covariance." + name)
    return (lambda data, x: use(kind.from_data(data), x)), [(_t(8, 4), _t(2, 4))]


_AZULA: dict[str, Callable[[], Built]] = {
    **{
        name: (lambda name=name: _made(_A + "noise." + name, [(_u(3),)]))
        for name in ("VESchedule", "VPSchedule", "CosineSchedule", "RectifiedSchedule", "DecaySchedule")
    },
    "SimpleDenoiser": lambda: (_denoiser("SimpleDenoiser"), [(_t(2, 4), _u(2))]),
    "KarrasDenoiser loss": lambda: held(_denoiser(), lambda d, x, t: d.loss(x, t), (_t(2, 4), _u(2))),
    **{
        name: (lambda name=name: _sampled(name))
        for name in (
            "DDPMSampler",
            "DDIMSampler",
            "EulerSampler",
            "HeunSampler",
            "ItoSampler",
            "zABSampler",
            "vABSampler",
            "zEABSampler",
            "xEABSampler",
            "REABSampler",
            "PCSampler",
        )
    },
    **{
        f"{name} {part}": (lambda name=name, use=use: _covariance(name, use))
        for name in ("IsotropicCovariance", "DiagonalCovariance", "FullCovariance", "DPLRCovariance")
        for part, use in {
            "color": lambda c, x: c.color(x),
            "inverse": lambda c, x: c.inv(x),
            "logdet": lambda c, _: c.logdet,
        }.items()
    },
    "cg": lambda: _using(
        _A + "linalg.solve.cg",
        lambda use, a, b: use(lambda x: x @ (a @ a.T + torch.eye(4)), b, iterations=3),
        (_t(4, 4), _t(2, 4)),
    ),
    "gmres": lambda: _using(
        _A + "linalg.solve.gmres", lambda use, a, b: use(lambda x: x @ a, b, iterations=3), (_t(4, 4), _t(2, 4))
    ),
    "MultiheadSelfAttention": lambda: _made(
        _A + "nn.attention.MultiheadSelfAttention", [(_t(2, 5, 8), _t(5, 1))], 8, attention_heads=2, rope=True
    ),
    "DiT": lambda: _made(
        _A + "nn.dit.DiT", [(_t(2, 5, 3), _t(2, 4), _t(5, 1))], 3, 3, mod_features=4, hid_channels=8, hid_blocks=1
    ),
    "ViT": lambda: _made(
        _A + "nn.vit.ViT",
        [(_t(2, 3, 8, 8), _t(2, 4))],
        3,
        3,
        mod_features=4,
        hid_channels=8,
        hid_blocks=1,
        patch_size=4,
    ),
    "UNet": lambda: _made(
        _A + "nn.unet.UNet",
        [(_t(2, 3, 8, 8), _t(2, 4)), (_t(2, 3, 12, 12), _t(2, 4))],
        3,
        3,
        hid_channels=(4, 8),
        hid_blocks=(1, 1),
        mod_features=4,
        norm="layer",
    ),
    "SineEncoding": lambda: _made(_A + "nn.layers.SineEncoding", [(_u(3),)], 8),
    "rms_norm": lambda: _call(_A + "nn.layers.rms_norm", (_t(2, 3, 4),)),
    "Patchify": lambda: _made(_A + "nn.layers.Patchify", [(_t(2, 3, 8, 8),)], (2, 2)),
    "CFGDenoiser": lambda: held(
        _get(_A + "guidance.CFGDenoiser")(_denoiser()),
        lambda d, x, t: d(x, t, positive={}, guidance=2.0),
        (_t(2, 4), _u(2)),
    ),
    "DPSSampler": lambda: _guided("DPSSampler", _t(2, 4), _blurred, steps=3, silent=True),
    "RePaintSampler": lambda: _guided("RePaintSampler", _t(2, 4), _t(2, 4) > 0, steps=3, silent=True),
}

_L = "torchdistill.losses.mid_level."
_ENDS = ("m", "output", "m", "output")
_PAIR = {"a": {"student": {"io": "output", "path": "m"}, "teacher": {"io": "output", "path": "m"}, "weight": 1}}


def _distilled(name: str, outputs: Callable[[], Any], *given: Any, targets: Any = None, **options: Any) -> Built:
    """A loss of a student's and a teacher's outputs, both under the path `m`."""
    made = _get(_L + name)(*given, **options)
    student, teacher = ({"m": {"output": outputs(), "input": outputs()}, "v": {"output": outputs()}} for _ in range(2))
    return made, [(student, teacher) if targets is None else (student, teacher, targets)]


_TORCHDISTILL: dict[str, Callable[[], Built]] = {
    "KDLoss": lambda: _distilled("KDLoss", lambda: _t(4, 3), *_ENDS, 4.0, 0.5, targets=_i(3, 4)),
    "LogitStdKDLoss": lambda: _distilled("LogitStdKDLoss", lambda: _t(4, 3), *_ENDS, 4.0, alpha=0.5, targets=_i(3, 4)),
    "FSPLoss": lambda: _distilled(
        "FSPLoss",
        lambda: _t(2, 3, 4, 4),
        {
            "a": {
                f"{who}_{which}": {"io": "output", "path": path}
                for who in ("student", "teacher")
                for which, path in (("first", "m"), ("second", "v"))
            }
        },
    ),
    **{
        f"ATLoss {mode}": (lambda mode=mode: _distilled("ATLoss", lambda: _t(2, 3, 4, 4), _PAIR, mode))
        for mode in ("code", "paper")
    },
    "PKTLoss": lambda: _distilled("PKTLoss", lambda: _t(4, 3), *_ENDS),
    "FTLoss": lambda: _distilled("FTLoss", lambda: _t(4, 3), paraphraser_path="m", translator_path="m"),
    "KTALoss": lambda: _distilled(
        "KTALoss", lambda: _t(4, 3), 2, knowledge_translator_path="m", feature_adapter_path="m"
    ),
    "AltActTransferLoss": lambda: _distilled("AltActTransferLoss", lambda: _t(2, 3, 4, 4), _PAIR, 1.0, "mean"),
    "RKDLoss": lambda: _distilled("RKDLoss", lambda: _t(4, 3), "m", "m", 25.0, 50.0, "mean"),
    "VIDLoss": lambda: _using(
        _L + "VIDLoss",
        lambda kind, mean, spread, given: kind(_PAIR)({"m": {"output": (mean, spread)}}, {"m": {"output": given}}),
        (_t(2, 3), _u(2, 3) + 0.1, _t(2, 3)),
    ),
    **{
        f"CCKDLoss {kind}": (
            lambda kind=kind: _distilled(
                "CCKDLoss", lambda: _t(4, 3), "m", "m", {"type": kind, "gamma": 0.4, "max_p": 2}, "batchmean"
            )
        )
        for kind in ("gaussian", "bilinear")
    },
    "SPKDLoss": lambda: _distilled("SPKDLoss", lambda: _t(4, 3), "m", "m", "batchmean"),
    "SSKDLoss": lambda: _distilled(
        "SSKDLoss", lambda: _t(8, 3), "m", "m", "m", "m", 4.0, 0.5, 4.0, 0.75, 1.0, targets=_i(3, 2)
    ),
    "PADL2Loss": lambda: _distilled("PADL2Loss", lambda: _t(4, 3), "m", "m", module_path="v"),
    "HierarchicalContextLoss": lambda: _using(
        _L + "HierarchicalContextLoss",
        lambda kind, x, y: kind(*_ENDS)({"m": {"output": (x, None)}}, {"m": {"output": y}}),
        (_t(2, 3, 8, 8), _t(2, 3, 8, 8)),
    ),
    "RegularizationLoss": lambda: _distilled("RegularizationLoss", lambda: _t(4, 3), "m"),
    "AffinityLoss": lambda: _distilled("AffinityLoss", lambda: _t(2, 3, 4, 4), "m", "m"),
    "ChSimLoss": lambda: _distilled("ChSimLoss", lambda: _t(2, 3, 4, 4), _PAIR),
    "DISTLoss": lambda: _distilled("DISTLoss", lambda: _t(4, 3), *_ENDS),
    "SRDLoss": lambda: _distilled("SRDLoss", lambda: _t(4, 3), *_ENDS, *_ENDS),
    **{
        f"SKDInstanceLoss {mode}": (
            lambda mode=mode: _distilled("SKDInstanceLoss", lambda: _t(4, 3), *_ENDS, mode=mode)
        )
        for mode in ("paper", "code")
    },
    **{
        f"SKDDirectionLoss {mode}": (
            lambda mode=mode: _distilled("SKDDirectionLoss", lambda: _t(4, 3), *_ENDS, mode=mode)
        )
        for mode in ("paper", "code")
    },
    "wide_resnet": lambda: _made(
        "torchdistill.models.classification.wide_resnet.wide_resnet",
        [(_t(2, 3, 32, 32),)],
        16,
        1,
        0.1,
        5,
        pretrained=False,
        progress=False,
    ),
}

_G = "torcheeg.models."
_TORCHEEG: dict[str, Callable[[], Built]] = {
    "CCNN": lambda: _made(_G + "CCNN", [(_t(2, 4, 9, 9),)]),
    "FBCCNN": lambda: _made(_G + "FBCCNN", [(_t(2, 4, 9, 9),)]),
    "EEGNet": lambda: _made(_G + "EEGNet", [(_t(2, 1, 8, 128),)], 128, 8, kernel_1=16),
    "CSPNet": lambda: _made(_G + "CSPNet", [(_t(2, 1, 8, 256),)], 256, 8, 2),
    "FBCNet": lambda: _made(_G + "FBCNet", [(_t(2, 3, 8, 128),)], 8, 128, 3, 4),
    "FBMSNet": lambda: _made(_G + "FBMSNet", [(_t(2, 9, 8, 128),)], 9, 8, 128),
    "LMDA": lambda: _made(_G + "LMDA", [(_t(2, 1, 8, 256),)], 8, 256),
    "STNet": lambda: _made(_G + "STNet", [(_t(2, 16, 9, 9),)], 16),
    "TSCeption": lambda: _made(_G + "TSCeption", [(_t(2, 1, 8, 128),)], 8, 4, 4, sampling_rate=64),
    "TSLANet": lambda: _made(_G + "TSLANet", [(_t(2, 1, 256),)], 256, 32, 1, 16, depth=1),
    "USleep": lambda: _made(_G + "USleep", [(_t(2, 1, 3000),)], 1, 100, 4),
    "SSTEmotionNet": lambda: _made(
        _G + "SSTEmotionNet", [(_t(2, 9, 16, 16),)], (16, 16), 4, 5, 7, 7, 4, 4, num_dense_block=2
    ),
    "DGCNN": lambda: _made(_G + "DGCNN", [(_t(2, 8, 5),)], 5, 8),
    "LGGNet": lambda: _made(_G + "LGGNet", [(_t(2, 1, 8, 128),)], [[0, 1, 2], [3, 4], [5, 6, 7]], 1, 8, 128, 64, 4),
    "GRU": lambda: _made(_G + "GRU", [(_t(2, 8, 16),)], 8, 8),
    "LSTM": lambda: _made(_G + "LSTM", [(_t(2, 8, 16),)], 8, 8),
    "ArjunViT": lambda: _made(_G + "ArjunViT", [(_t(2, 8, 64),)], 8, 64, depth=1),
    "Conformer": lambda: _made(_G + "Conformer", [(_t(2, 1, 8, 200),)], 8, depth=1),
    "SimpleViT": lambda: _made(_G + "SimpleViT", [(_t(2, 64, 9, 9),)], 64, depth=1),
    "ViT": lambda: _made(_G + "ViT", [(_t(2, 64, 9, 9),)], 64, depth=1),
    "LaBraM": lambda: _made(
        _G + "LaBraM", [(_t(2, 4, 2, 200), ["FP1", "FP2", "F3", "F4"])], 400, embed_dim=200, depth=1, num_classes=3
    ),
    "BGenerator": lambda: _made(_G + "BGenerator", [(_t(2, 16),)], 16),
    "BCGenerator": lambda: _made(_G + "BCGenerator", [(_t(2, 16), _i(3, 2))], 16),
    "BCDiscriminator": lambda: _made(_G + "BCDiscriminator", [(_t(2, 4, 9, 9), _i(3, 2))]),
    "BEncoder": lambda: _made(_G + "BEncoder", [(_t(2, 4, 9, 9),)]),
    "BCEncoder": lambda: _made(_G + "BCEncoder", [(_t(2, 4, 9, 9), _i(3, 2))]),
    "BGlow": lambda: _made(_G + "BGlow", [(_t(2, 4, 32, 32),)], hidden_channels=4, num_steps=1, num_blocks=2),
    "BCGlow": lambda: _made(
        _G + "BCGlow", [(_t(2, 4, 32, 32), _i(2, 2))], hidden_channels=4, num_steps=1, num_blocks=2, num_classes=2
    ),
    "BUNet": lambda: _made(_G + "BUNet", [(_t(2, 4, 9, 9), _i(9, 2))], hid_channels=8),
    "BCUNet": lambda: _made(_G + "BCUNet", [(_t(2, 4, 9, 9), _i(9, 2), _i(2, 2))], hid_channels=8),
}

_P = "deeprobust."
_EDGES = torch.tensor([[0, 1, 2, 3, 4, 5, 0], [1, 0, 3, 2, 5, 4, 2]])


def _graph(**parts: Any) -> Any:
    from torch_geometric.data import Data

    return Data(**parts)


def _on_graph(path: str, *given: Any, **options: Any) -> Built:
    made = _get(_P + "graph.defense." + path)(*given, **options)
    return held(made, lambda m, x, edges: m(_graph(x=x, edge_index=edges)), (_t(6, 4), _EDGES))


_HALF = (_u(6, 6) > 0.5).float()
_ADJACENCY = ((_HALF + _HALF.T) > 0).float()
_SPARSE = _ADJACENCY.to_sparse()
_LABELS = _i(3, 6)
_DEEPROBUST: dict[str, Callable[[], Built]] = {
    "GCN": lambda: _made(_P + "graph.defense.gcn.GCN", [(_t(6, 4), _ADJACENCY)], 4, 5, 3, device="cpu"),
    "GCN sparse": lambda: _made(_P + "graph.defense.gcn.GCN", [(_t(6, 4), _SPARSE)], 4, 5, 3, device="cpu"),
    "GraphConvolution": lambda: _made(_P + "graph.defense.gcn.GraphConvolution", [(_t(6, 4), _ADJACENCY)], 4, 5),
    "GGCL_F": lambda: _made(_P + "graph.defense.r_gcn.GGCL_F", [(_t(6, 4), _ADJACENCY, _ADJACENCY)], 4, 5),
    "GGCL_D": lambda: _made(
        _P + "graph.defense.r_gcn.GGCL_D", [(_t(6, 4), _u(6, 4), _ADJACENCY, _ADJACENCY)], 4, 5, 0.1
    ),
    "EstimateAdj": lambda: _made(_P + "graph.defense.prognn.EstimateAdj", [()], _ADJACENCY, symmetric=True),
    "EstimateAdj normalize": lambda: held(
        _get(_P + "graph.defense.prognn.EstimateAdj")(_ADJACENCY), lambda m: m.normalize(), ()
    ),
    "prox_l1": lambda: _using(
        _P + "graph.defense.pgd.ProxOperators", lambda kind, x: kind().prox_l1(x, 0.1), (_t(4, 4),)
    ),
    "GAT": lambda: _on_graph("gat.GAT", 4, 5, 3, heads=2, device="cpu"),
    "ChebNet": lambda: _on_graph("chebnet.ChebNet", 4, 5, 3, device="cpu"),
    "SGC": lambda: _on_graph("sgc.SGC", 4, 3, 2, cached=False, device="cpu"),
    "normalize_adj_tensor": lambda: _call(_P + "graph.utils.normalize_adj_tensor", (_ADJACENCY,)),
    "degree_normalize_adj_tensor": lambda: _call(_P + "graph.utils.degree_normalize_adj_tensor", (_ADJACENCY, False)),
    "add_self_loops": lambda: _call(_P + "graph.utils.add_self_loops", (_EDGES, None, 1, 6)),
    "accuracy": lambda: _call(_P + "graph.utils.accuracy", (_t(6, 3), _LABELS)),
    "loss_acc": lambda: _call(_P + "graph.utils.loss_acc", (_t(6, 3).log_softmax(1), _LABELS, torch.arange(6))),
    "classification_margin": lambda: _call(
        _P + "graph.utils.classification_margin", (_t(3).log_softmax(0), torch.tensor(1))
    ),
    "tensor2onehot": lambda: _call(_P + "graph.utils.tensor2onehot", (_LABELS,)),
    "is_sparse_tensor": lambda: _call(_P + "graph.utils.is_sparse_tensor", (_SPARSE,)),
    "index_to_mask": lambda: _call(_P + "graph.utils.index_to_mask", (torch.tensor([1, 3]), 6)),
    "degree_sequence_log_likelihood": lambda: _call(
        _P + "graph.utils.degree_sequence_log_likelihood", (_i(5, 8).float() + 1, torch.tensor(2.0))
    ),
    "pgd_attack": lambda: _using(
        _P + "image.attack.pgd.pgd_attack",
        lambda use, x, y: use(_NET, x, y, 0.1, 1.0, 0.0, 2, 0.05, False),
        (_u(2, 1, 4, 4), _i(3, 2)),
    ),
    "fgsm": lambda: _using(
        _P + "image.attack.fgsm.fgm",
        lambda use, x, y: use(_NET, x, y, 0.1, float("inf"), 0.0, 1.0, "cpu"),
        (_u(2, 1, 4, 4), _i(3, 2)),
    ),
    "proj_lp": lambda: _call(_P + "image.attack.Universal.proj_lp", (_t(1, 3, 4, 4), 0.5, 2)),
    **{
        name: (lambda name=name: _call(_P + "image.utils." + name, (_t(2, 1, 4, 4), _t(2, 1, 4, 4))))
        for name in ("l2_dist", "l1_dist", "l2r_dist")
    },
    "arctanh": lambda: _call(_P + "image.utils.arctanh", (_u(3, 4).numpy(),)),
    "ResNet18": lambda: _made(_P + "image.netmodels.resnet.ResNet18", [(_t(2, 3, 32, 32),)]),
    "PreActResNet18": lambda: _made(_P + "image.netmodels.preact_resnet.PreActResNet18", [(_t(2, 3, 32, 32),)]),
    "DenseNet": lambda: _made(_P + "image.netmodels.densenet.densenet_cifar", [(_t(2, 3, 32, 32),)]),
    "VGG11": lambda: _made(_P + "image.netmodels.vgg.VGG", [(_t(2, 3, 32, 32),)], "VGG11"),
    "CNN": lambda: _made(_P + "image.netmodels.CNN.Net", [(_t(2, 1, 28, 28),)]),
    "YOPOCNN": lambda: _made(_P + "image.netmodels.YOPOCNN.Net", [(_t(2, 1, 28, 28),)]),
}


def _small_network() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Flatten(), nn.Linear(16, 8), nn.ReLU(), nn.Linear(8, 3))


_NET = _small_network()

MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in {
        "differentiable_robot_model": _ROBOTS,
        "azula": _AZULA,
        "torchdistill": _TORCHDISTILL,
        "torcheeg": _TORCHEEG,
        "deeprobust": _DEEPROBUST,
    }.items()
    for name, build in models.items()
}

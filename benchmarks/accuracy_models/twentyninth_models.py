"""Models of learning3d, torchebm, pytorch_lattice and torch_choice.

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
from accuracy_models.inputs import Later, held, on, random_inputs
from accuracy_models.stand_ins import getter, without_packages

_t, _u, _i = random_inputs(109)


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    if package == "learning3d":
        without_packages("h5py", "open3d", "transforms3d")


_get = getter({}, (), _prepare)
_later = Later(_get)
_of, _lazy, _fun, _on = _later.of, _later.lazy, _later.fun, on

_LM, _LL, _LO, _LU = "learning3d.models.", "learning3d.losses.", "learning3d.ops.", "learning3d.utils."
_CLOUD, _OTHER = _u(2, 32, 3), _u(2, 32, 3)
_QUAT = nn.functional.normalize(_t(4, 4), dim=-1)
_ROT = torch.linalg.qr(_t(2, 3, 3))[0]
_NORMALS = nn.functional.normalize(_t(2, 32, 3), dim=-1)
_POINTNET = _of(_LM + "pointnet.PointNet", emb_dims=16)
_TRANSFORM = torch.eye(4).expand(2, 4, 4).clone()
_LEARNING3D: dict[str, Callable[[], Built]] = {
    "PointNet": _lazy(_LM + "pointnet.PointNet", _CLOUD, emb_dims=16, use_bn=True),
    "PointNet local": _lazy(_LM + "pointnet.PointNet", _CLOUD, emb_dims=16, global_feat=False),
    "DGCNN": _lazy(_LM + "dgcnn.DGCNN", _CLOUD, emb_dims=16),
    "Classifier": _lazy(_LM + "classifier.Classifier", _CLOUD, feature_model=_POINTNET, num_classes=4),
    "Segmentation": _lazy(
        _LM + "segmentation.Segmentation",
        _CLOUD,
        feature_model=_of(_LM + "pointnet.PointNet", emb_dims=16, global_feat=False),
        num_classes=4,
    ),
    "DCP": _lazy(_LM + "dcp.DCP", _CLOUD, _OTHER, feature_model=_of(_LM + "dgcnn.DGCNN", 512), cycle=True),
    "gmm params": _fun(_LM + "deepgmr.gmm_params", torch.softmax(_t(2, 32, 4), -1), _CLOUD),
    "gmm register": _fun(
        _LM + "deepgmr.gmm_register", _u(2, 4), _t(2, 4, 3), _t(2, 4, 3), _u(2, 4, 1, 1) * torch.eye(3)
    ),
    "TNet": _lazy(_LM + "deepgmr.TNet", _t(2, 3, 32)),
    "MaskNet": _lazy(_LM + "masknet.MaskNet", _u(1, 32, 3), _u(1, 40, 3), is_training=False),
    "MaskNet topk": _on(
        _of(_LM + "masknet.MaskNet"), lambda m, a, b: m(a, b, point_selection="topk"), _u(2, 32, 3), _u(2, 16, 3)
    ),
    "MaskNet2": _lazy(_LM + "masknet2.MaskNet2", _u(2, 32, 3), _u(2, 32, 3), is_training=False),
    "PCN": _lazy(_LM + "pcn.PCN", _CLOUD, num_coarse=8, detailed_output=True),
    "iPCRNet": _lazy(_LM + "pcrnet.iPCRNet", _CLOUD, _OTHER, feature_model=_of(_LM + "pointnet.PointNet", 32)),
    "PointConv": _on(
        _of(_LU + "pointconv_util.PointConvDensitySetAbstraction", 8, 4, 6, [8, 8], 0.1, False),
        lambda m, x, p: m(x, p),
        *(_u(2, 3, 32), _u(2, 3, 32)),
    ),
    "PointConv all": _on(
        _of(_LU + "pointconv_util.PointConvSetAbstraction", 1, None, 6, [8, 8], True),
        lambda m, x, p: m(x, p),
        *(_u(2, 3, 32), _u(2, 3, 32)),
    ),
    "PointNetLK": _on(
        _of(_LM + "pointnetlk.PointNetLK", feature_model=_POINTNET),
        lambda m, a, b: m(a, b, 2),
        *(_CLOUD, _OTHER),
    ),
    "PPFNet": _lazy(_LM + "ppfnet.PPFNet", _CLOUD, _NORMALS, emb_dims=8, num_neighbors=4),
    "RPMNet": _lazy(
        _LM + "rpmnet.RPMNet",
        *(torch.cat([_CLOUD, _NORMALS], -1), torch.cat([_OTHER, _NORMALS], -1)),
        feature_model=_of(_LM + "ppfnet.PPFNet", emb_dims=8, num_neighbors=4),
    ),
    "PRNet": _lazy(
        *(_LM + "prnet.PRNet", _u(2, 32, 3), _u(2, 32, 3), _ROT, _t(2, 3)),
        emb_dims=32,
        num_keypoints=16,
        num_subsampled_points=24,
        num_iters=1,
    ),
    "CurveNet": _lazy(_LM + "curvenet.CurveNet", _u(2, 1200, 3), num_classes=4, k=4, emb_dims=16),
    "LPFA": _lazy(_LU + "curvenet_util.LPFA", _t(2, 3, 16), _u(2, 3, 16), given=(9, 8), k=4, initial=True),
    "MaskedMaxPool": _lazy(_LU + "curvenet_util.MaskedMaxPool", _u(2, 32, 3), _t(2, 4, 32), given=(8, 0.3, 4)),
    "FeaturePropagation": _lazy(
        _LU + "curvenet_util.PointNetFeaturePropagation",
        *(_u(2, 3, 16), _u(2, 3, 8), _t(2, 4, 16), _t(2, 4, 8)),
        given=(8, [8]),
    ),
    "SVDHead": _lazy(_LU + "svd.SVDHead", _t(2, 8, 16), _t(2, 8, 16), _u(2, 3, 16), _u(2, 3, 16), given=(8,)),
    "Transformer": _lazy(_LU + "transformer.Transformer", _t(2, 8, 16), _t(2, 8, 16), given=(8, 1, 0.0, 16, 2)),
    "Pooling": _lazy(_LM + "pooling.Pooling", _t(2, 8, 16), pool_type="avg"),
    "Chamfer": _lazy(_LL + "chamfer_distance.ChamferDistanceLoss", _CLOUD, _OTHER),
    "Frobenius": _lazy(_LL + "frobenius_norm.FrobeniusNormLoss", _TRANSFORM, _TRANSFORM + 0.1),
    "RMSE": _lazy(_LL + "rmse_features.RMSEFeaturesLoss", _t(2, 16)),
    "Correspondence": _lazy(
        _LL + "correspondence_loss.CorrespondenceLoss",
        *(_u(2, 3, 8), _u(2, 3, 8), _t(2, 8, 8), torch.eye(8).expand(2, 8, 8).clone()),
    ),
    "ClassificationLoss": _lazy(_LL + "classification.ClassificationLoss", torch.log_softmax(_t(4, 3), -1), _i(3, 4)),
    "so3 exp": _fun(_LO + "so3.exp", _t(4, 3)),
    "so3 log": _fun(_LO + "so3.log", torch.linalg.matrix_exp(torch.tensor([[[0.0, -1, 0], [1, 0, 0], [0, 0, 0]]]))),
    "so3 jacobian": _fun(_LO + "so3.inv_vecs_Xg_ig", _t(4, 3)),
    "so3 rodrigues": _fun(_LO + "so3.RodriguesRotation", _t(4, 3)),
    "so3 btrace": _fun(_LO + "so3.btrace", _t(4, 3, 3)),
    "se3 exp": _fun(_LO + "se3.exp", _t(4, 6)),
    "se3 Exp": _fun(_LO + "se3.Exp", _t(4, 6)),
    "se3 log": _fun(_LO + "se3.log", torch.linalg.matrix_exp(0.1 * torch.eye(4).roll(1, 0))[None] * 0.9),
    "se3 inverse": _fun(_LO + "se3.inverse", _TRANSFORM),
    "se3 transform": _fun(_LO + "se3.transform", _TRANSFORM, _u(2, 3, 8)),
    "sinc1_dt": _fun(_LO + "sinc.sinc1_dt", _t(6)),
    "rsinc1_dt": _fun(_LO + "sinc.rsinc1_dt", _u(6)),
    "rsinc1_dt_csc": _fun(_LO + "sinc.rsinc1_dt_csc", _u(6)),
    "sinc2_dt": _fun(_LO + "sinc.sinc2_dt", _t(6)),
    "sinc3_dt": _fun(_LO + "sinc.sinc3_dt", _t(6)),
    "batch_inverse": _fun(_LO + "invmat.batch_inverse", _t(3, 4, 4)),
    "batch_pinv_dx": _fun(_LO + "invmat.batch_pinv_dx", _t(3, 5, 4)),
    "InvMatrix": _fun(_LO + "invmat.InvMatrix.apply", _t(3, 4, 4)),
    "qmul": _fun(_LO + "quaternion.qmul", _QUAT, _QUAT),
    "qrot": _fun(_LO + "quaternion.qrot", _QUAT, _t(4, 3)),
    "qeuler": _fun(_LO + "quaternion.qeuler", _QUAT, "xyz"),
    "expmap": _fun(_LO + "quaternion.expmap_to_quaternion", _u(4, 3).numpy()),
    "euler": _fun(_LO + "quaternion.euler_to_quaternion", _u(4, 3).numpy(), "xyz"),
    "transform_point_cloud": _fun(_LO + "transform_functions.transform_point_cloud", _CLOUD, _ROT, _t(2, 3)),
    "convert2transformation": _fun(_LO + "transform_functions.convert2transformation", _ROT, _t(2, 3)),
    "PNLKTransform": _on(
        _of(_LO + "transform_functions.PNLKTransform", 0.8, True), lambda m, x: (m(x), m.igt), _u(32, 3)
    ),
    "RPMNetTransform": _on(
        _of(_LO + "transform_functions.RPMNetTransform", 0.8), lambda m, x: m(torch.cat([x, x], 1)), _u(32, 3)
    ),
    "PCRNetTransform": _on(_of(_LO + "transform_functions.PCRNetTransform", 4), lambda m, x: m(x), _u(32, 3)),
    "DCPTransform": _on(_of(_LO + "transform_functions.DCPTransform"), lambda m, x: m(x), _u(32, 3)),
    "mean_shift": _fun(_LO + "data_utils.mean_shift", _CLOUD, _OTHER, True, True),
    "fps": _fun(_LU + "model_common_utils.farthest_point_sample", _CLOUD, 8),
    "ball query": _fun(_LU + "model_common_utils.query_ball_point", 0.3, 4, _CLOUD, _CLOUD[:, :8]),
    "graph feature": _fun(_LU + "model_common_utils.get_graph_feature", _u(2, 3, 32), 4),
    "group multi": _fun(_LU + "ppfnet_util.sample_and_group_multi", 8, 0.3, 4, _CLOUD, _NORMALS),
    "group all": _fun(_LU + "ppfnet_util.sample_and_group_multi", -1, 0.3, 4, _CLOUD, _NORMALS),
    "sinkhorn": _fun(_LM + "rpmnet.sinkhorn", _t(2, 8, 8), 3, True, 1e-4),
    "rigid transform": _fun(_LM + "rpmnet.compute_rigid_transform", _CLOUD, _OTHER, _u(2, 32)),
    "knn": _fun(_LU + "model_common_utils.knn", _u(2, 3, 32), 4),
}

_E = "torchebm."
_ES, _EL, _EC, _EI, _EM = _E + "samplers.", _E + "losses.", _E + "core.", _E + "integrators.", _E + "models."
_WELL = _of(_EC + "DoubleWellModel")
_GAUSS = _of(_EC + "GaussianModel", torch.zeros(2), torch.eye(2))
_STATE = {"x": _t(6, 2), "p": _t(6, 2)}


def _mlp(**options: Any) -> Any:
    """A network of velocities."""
    return _of(_EM + "TimeConditionedMLP", **{"in_dim": 2, "hidden_dim": 16, "depth": 2, **options})


def _sampled(name: str, *given: Any, **options: Any) -> Callable[[], Built]:
    """Some steps of a sampler from given points."""
    more = options.pop("more", {})
    return _on(_of(_ES + name, *given, **options), lambda s, x: s.sample(x=x, n_steps=4, **more), _t(6, 2))


def _integrated(name: str, **more: Any) -> Callable[[], Built]:
    """Some steps of an integrator."""
    return _on(
        _of(_EI + name),
        lambda m, x, h: m.integrate({"x": x}, h, 4, drift=lambda x_, _: -x_, **more),
        *(_t(6, 2), torch.tensor(0.1)),
    )


def _learned(name: str, model: Any, *given: Any, **options: Any) -> Callable[[], Built]:
    """A loss of a model."""
    return _lazy(_EL + name, _t(6, 2), model=model, given=given, **options)


_EBM: dict[str, Callable[[], Built]] = {
    **{
        f"{name}Model": _lazy(f"{_EC}{name}Model", _t(6, 2))
        for name in ("DoubleWell", "Harmonic", "Rosenbrock", "Ackley", "Rastrigin", "Himmelblau", "Booth")
    },
    "GaussianModel": _lazy(_EC + "GaussianModel", _t(6, 2), given=(torch.zeros(2), torch.eye(2))),
    "gradient": _on(_WELL, lambda m, x: m.gradient(x), _t(6, 2)),
    "Langevin": _sampled("LangevinDynamics", _WELL, 0.01),
    "Langevin clamp": _sampled("LangevinDynamics", _GAUSS, 0.01, clamp=(-1.0, 1.0), more={"return_trajectory": True}),
    "Langevin diagnostics": _sampled("LangevinDynamics", _GAUSS, 0.01, more={"return_diagnostics": True}),
    "Langevin schedule": _sampled(
        "LangevinDynamics", _GAUSS, _of(_EC + "LinearScheduler", 0.1, 0.01, 4), more={"thin": 2}
    ),
    "HMC": _sampled("HamiltonianMonteCarlo", _GAUSS, 0.01, 3),
    "HMC mass": _sampled(
        "HamiltonianMonteCarlo", _GAUSS, 0.01, 3, mass=torch.ones(2), more={"return_diagnostics": True}
    ),
    "GradientDescent": _sampled("GradientDescentSampler", _WELL, 0.01),
    "Nesterov": _sampled("NesterovSampler", _WELL, 0.01, more={"return_trajectory": True}),
    "Flow ode": _on(
        _of(_ES + "FlowSampler", _mlp(), integrator="euler"), lambda s, x: s.sample(x=x, n_steps=3), _t(6, 2)
    ),
    "Flow sde": _on(_of(_ES + "FlowSampler", _mlp()), lambda s, x: s.sample(x=x, n_steps=3, mode="sde"), _t(6, 2)),
    "Leapfrog": _on(
        _of(_EI + "LeapfrogIntegrator"),
        lambda m, x, p, h: m.integrate({"x": x, "p": p}, h, 3, drift=lambda x_, _: -x_, safe=True),
        *(*_STATE.values(), torch.tensor(0.1)),
    ),
    **{
        name: _integrated(name + "Integrator")
        for name in ("EulerMaruyama", "Heun", "RK4", "Midpoint", "BackwardEulerMaruyama")
    },
    "Dopri5": _integrated("Dopri5Integrator", adaptive=True),
    "Bosh3": _integrated("Bosh3Integrator", adaptive=False),
    "AdaptiveHeun": _integrated("AdaptiveHeunIntegrator", adaptive=True),
    "ContrastiveDivergence": _on(
        partial(
            lambda: (
                m := _WELL(),
                _get(_EL + "ContrastiveDivergence")(
                    m, _get(_ES + "LangevinDynamics")(m, 0.01), k_steps=2, init_steps=0
                ),
            )[1]
        ),
        lambda loss, x: loss(x),
        _t(6, 2),
    ),
    "PersistentCD": _on(
        partial(
            lambda: (
                m := _WELL(),
                _get(_EL + "ContrastiveDivergence")(
                    m, _get(_ES + "LangevinDynamics")(m, 0.01), k_steps=2, persistent=True, buffer_size=16, init_steps=1
                ),
            )[1]
        ),
        lambda loss, x: loss(x),
        _t(6, 2),
    ),
    "ScoreMatching": _learned("ScoreMatching", _WELL),
    "ScoreMatching approx": _learned("ScoreMatching", _WELL, hessian_method="approx", regularization_strength=0.1),
    "DenoisingScoreMatching": _learned("DenoisingScoreMatching", _WELL, noise_scale=0.1),
    "SlicedScoreMatching": _learned("SlicedScoreMatching", _WELL, n_projections=2),
    "SlicedScoreMatching gaussian": _learned("SlicedScoreMatching", _WELL, projection_type="gaussian"),
    "FlowMatching": _learned("FlowMatchingLoss", _mlp()),
    "FlowMatching ot": _learned("FlowMatchingLoss", _mlp(), coupling="ot", t_sampler="lognormal"),
    "EquilibriumMatching": _learned("EquilibriumMatchingLoss", _mlp()),
    "EquilibriumMatching dot": _learned("EquilibriumMatchingLoss", _mlp(), energy_type="dot"),
    "EnergyMatching": _learned("EnergyMatchingLoss", _WELL, n_langevin_steps=2),
    "ExactOT": _on(_of(_E + "couplings.ExactOTCoupling"), lambda c, a, b: c(a, b).x0, _t(6, 2), _t(6, 2)),
    "Sinkhorn": _on(_of(_E + "couplings.SinkhornCoupling", n_iters=5), lambda c, a, b: c(a, b).x0, _t(6, 2), _t(6, 2)),
    "UnbalancedSinkhorn": _on(
        _of(_E + "couplings.UnbalancedSinkhornCoupling", n_iters=5), lambda c, a, b: c(a, b).x0, _t(6, 2), _t(6, 2)
    ),
    "Greedy": _on(_of(_E + "couplings.GreedyCoupling"), lambda c, a, b: c(a, b).x0, _t(6, 2), _t(6, 2)),
    "Linear interpolant": _on(
        _of(_E + "interpolants.LinearInterpolant"), lambda m, a, b, t: m.interpolate(a, b, t), _t(6, 2), _t(6, 2), _u(6)
    ),
    "VP interpolant": _on(
        _of(_E + "interpolants.VariancePreservingInterpolant"),
        lambda m, a, t: (m.compute_drift(a, t), m.compute_diffusion(a, t), m.velocity_to_score(a, a, t)),
        *(_t(6, 2), _u(6)),
    ),
    "Cosine diffusion": _on(
        _of(_E + "interpolants.CosineInterpolant"), lambda m, a, t: m.compute_diffusion(a, t, "sigma"), _t(6, 2), _u(6)
    ),
    "DiT": _lazy(
        *(_EM + "DiT", _t(2, 3, 8, 8), _u(2), _i(4, 2)),
        input_size=8,
        in_channels=3,
        embed_dim=16,
        depth=1,
        num_heads=2,
        num_classes=4,
        class_dropout_prob=0.1,
    ),
    "ConditionalTransformer2D": _lazy(
        *(_EM + "ConditionalTransformer2D", _t(2, 3, 8, 8), _t(2, 16)),
        in_channels=3,
        out_channels=3,
        input_size=8,
        patch_size=2,
        embed_dim=16,
        depth=1,
        num_heads=2,
    ),
    "MLP classes": _lazy(
        *(_EM + "TimeConditionedMLP", _t(6, 2), _u(6), _i(3, 6)), in_dim=2, hidden_dim=16, depth=2, num_classes=3
    ),
    "guidance": _lazy(
        *(_EM + "ClassifierFreeGuidance", _t(6, 2), _u(6), _i(3, 6)),
        model=_mlp(num_classes=3, class_dropout_prob=0.1),
        guidance_scale=2.0,
        null_condition=3,
    ),
    "EqMEnergy": _lazy(_EM + "EqMEnergy", _t(6, 2), field=_mlp()),
    "trimmed_mean": _fun(_EL + "loss_utils.trimmed_mean", _u(12), 0.1),
    "dispersive_loss": _fun(_EL + "loss_utils.dispersive_loss", _t(6, 4)),
    "flow_weight": _fun(_EL + "loss_utils.compute_flow_weight", _u(6)),
    "eqm_ct": _fun(_EL + "loss_utils.compute_eqm_ct", _u(6)),
}

_P = "pytorch_lattice."
_POINTS = np.linspace(0.0, 1.0, 5)


def _enum(name: str, member: str) -> Any:
    return partial(lambda: getattr(_get(_P + "enums." + name), member))


def _layer(name: str, x: torch.Tensor, *given: Any, **options: Any) -> Callable[[], Built]:
    """The output of a layer."""
    return _lazy(_P + "layers." + name, x, given=given, **options)


def _constrained(name: str, *given: Any, **options: Any) -> Callable[[], Built]:
    """The projection of a layer onto what is allowed, and the check of it."""
    return _on(
        _of(_P + "layers." + name, *given, **options),
        lambda m, s: (m.apply_constraints(), m.assert_constraints(), s + 1),
        torch.tensor(1.0),
    )


def _features() -> Any:
    """A numerical feature and a categorical one."""
    monotonic = _get(_P + "enums.Monotonicity").INCREASING
    numerical = _get(_P + "models.features.NumericalFeature")
    categorical = _get(_P + "models.features.CategoricalFeature")
    return [
        numerical("a", np.linspace(0.0, 1.0, 20), num_keypoints=4, monotonicity=monotonic),
        categorical("b", ["x", "y", "z"], missing_input_value=-1.0, monotonicity_pairs=[("x", "y")]),
    ]


_UP = _enum("Monotonicity", "INCREASING")
_ROWS = torch.stack([_u(6), _i(3, 6).float()], -1)
_LATTICE: dict[str, Callable[[], Built]] = {
    "Numerical": _layer("NumericalCalibrator", _u(6, 1), _POINTS),
    "Numerical missing": _layer("NumericalCalibrator", _u(6, 1), _POINTS, missing_input_value=-1.0),
    "Numerical learned": _layer(
        "NumericalCalibrator",
        *(_u(6, 1), _POINTS),
        input_keypoints_type=_enum("InputKeypointsType", "LEARNED"),
    ),
    "Categorical": _layer("CategoricalCalibrator", _i(3, 6, 1).float(), 3),
    "Categorical missing": _layer("CategoricalCalibrator", _i(3, 6, 1), 3, missing_input_value=-1.0, output_min=0.0),
    "Lattice": _layer("Lattice", _u(6, 2), [2, 3]),
    "Lattice simplex": _layer("Lattice", _u(6, 3), [2, 2, 2], interpolation=_enum("Interpolation", "SIMPLEX")),
    "Lattice units": _layer("Lattice", _u(6, 2, 2), [2, 2], units=2, clip_inputs=False),
    "Linear": _layer("Linear", _u(6, 3), 3),
    "RTL": _lazy(
        _P + "layers.RTL",
        _u(6, 4),
        given=(partial(lambda: [_get(_P + "enums.Monotonicity").INCREASING] * 2 + [None] * 2), 3, 2),
        average_outputs=True,
    ),
    "Numerical constrained": _constrained(
        "NumericalCalibrator", _POINTS, monotonicity=_UP, output_min=0.0, output_max=1.0
    ),
    "Categorical constrained": _constrained(
        "CategoricalCalibrator", 3, monotonicity_pairs=[(0, 1), (1, 2)], output_min=0.0, output_max=1.0
    ),
    "Lattice constrained": _constrained("Lattice", [2, 3], output_min=0.0, output_max=1.0),
    "Lattice monotonic": _constrained("Lattice", [2, 2], monotonicities=partial(lambda: [_UP(), None])),
    "Linear constrained": _constrained("Linear", 2, partial(lambda: [_UP(), None]), weighted_average=True),
    "CalibratedLinear": _lazy(
        _P + "models.CalibratedLinear", _ROWS, given=(partial(_features),), output_calibration_num_keypoints=4
    ),
    "CalibratedLattice": _lazy(_P + "models.CalibratedLattice", _ROWS, given=(partial(_features),)),
    "CalibratedLattice constrained": _on(
        partial(lambda: _get(_P + "models.CalibratedLattice")(_features(), output_min=0.0, output_max=1.0)),
        lambda m, x: (m.apply_constraints(), m.assert_constraints(), m(x)),
        _ROWS,
    ),
}

_C = "torch_choice.model."


def _dataset(labels: torch.Tensor) -> Any:
    """Choices of four users among three items."""
    return _get("torch_choice.data.ChoiceDataset")(
        item_index=labels,
        user_index=torch.arange(12) % 4,
        session_index=torch.arange(12),
        item_availability=(_u(12, 3) > 0.1) | (torch.arange(3) == labels[:, None]),
        num_items=3,
        user_income=_t(4, 2),
        item_cost=_t(3, 2),
        itemsession_price=_t(12, 3, 2),
    )


def _choices(formula: str, use: Callable[..., Any], **options: Any) -> Callable[[], Built]:
    """A use of a conditional logit model."""
    labels = _i(3, 12)

    def build() -> Built:
        data = _dataset(labels)
        made = _get(_C + "conditional_logit_model.ConditionalLogitModel")(
            formula=formula, dataset=data, num_items=3, num_users=4, **options
        )
        return held((made, data), lambda both, y: use(*both, y), (labels,))

    return build


def _nested(use: Callable[..., Any], **options: Any) -> Callable[[], Built]:
    """A use of a nested logit model."""
    labels = _i(3, 12)

    def build() -> Built:
        item = _dataset(labels)
        nest = _get("torch_choice.data.ChoiceDataset")(item_index=labels, session_index=torch.arange(12), num_items=3)
        data = _get("torch_choice.data.JointDataset")(nest=nest, item=item)
        made = _get(_C + "nested_logit_model.NestedLogitModel")(
            nest_to_item={0: [0, 1], 1: [2]},
            nest_coef_variation_dict={},
            nest_num_param_dict={},
            item_coef_variation_dict={"itemsession_price": "constant", "item_cost": "constant"},
            item_num_param_dict={"itemsession_price": 2, "item_cost": 2},
            num_users=4,
            **options,
        )
        return held((made, data[torch.arange(12)]), lambda both, y: use(*both, y), (labels,))

    return build


_PRICE = "(itemsession_price|constant)"
_CHOICE: dict[str, Callable[[], Built]] = {
    **{
        f"Coefficient {kind}": _lazy(
            _C + "coefficient.Coefficient", _t(5, 3, 2), _i(4, 5), given=(kind, 2), num_items=3, num_users=4
        )
        for kind in ("constant", "item", "item-full", "user", "user-item", "user-item-full")
    },
    "logit": _choices(_PRICE, lambda m, d, _: m(d)),
    "logit items": _choices(_PRICE + " + (item_cost|user) + (user_income|item)", lambda m, d, _: m(d)),
    "logit intercept": _choices(_PRICE + " + (intercept|item)", lambda m, d, y: m.negative_log_likelihood(d, y)),
    "logit outside": _choices(_PRICE, lambda m, d, y: m.negative_log_likelihood(d, y), model_outside_option=True),
    "logit l2": _choices(_PRICE, lambda m, d, y: m.loss(d, y), regularization="L2", regularization_weight=0.1),
    "logit l1": _choices(_PRICE, lambda m, d, y: m.loss(d, y), regularization="L1", regularization_weight=0.1),
    "nested": _nested(lambda m, d, _: m(d)),
    "nested shared": _nested(lambda m, d, y: m.negative_log_likelihood(d, y), shared_lambda=True),
    "nested l2": _nested(lambda m, d, y: m.loss(d, y), regularization="L2", regularization_weight=0.1),
    "dataset items": _choices(_PRICE, lambda m, d, _: m(d[torch.arange(4)])),
    "x_dict": _choices(_PRICE, lambda _, d, y: (d.x_dict["itemsession_price"] + 1, y)),
    "dataset clone": _choices(_PRICE, lambda _, d, y: d.clone().item_index + y),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"learning3d/{name}": build for name, build in _LEARNING3D.items()},
    **{f"torchebm/{name}": build for name, build in _EBM.items()},
    **{f"pytorch_lattice/{name}": build for name, build in _LATTICE.items()},
    **{f"torch_choice/{name}": build for name, build in _CHOICE.items()},
}

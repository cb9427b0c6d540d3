"""Models of packages that were chosen and run after all the others, before anything was changed for them.

Of POT, deepali, mrpro and odak: solvers, registration, reconstruction and optics. The others of the group stand in
`fourteenth_networks`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import complex_normal, held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(14)

# What these packages import of others and the models here do not use.
_ABSENT = {
    "mrpro": (
        "ismrmrd.xsd.ismrmrdschema.ismrmrd",
        "nibabel",
        "pydicom.dataset",
        "pydicom.pixels",
        "pydicom.tag",
        "h5py",
        "torchnd",
        "pytorch_finufft.functional",
        "ptwt.conv_transform",
        "ptwt.conv_transform_2",
        "ptwt.conv_transform_3",
        "pywt._multilevel",
        "torchvision.transforms.functional",
    ),
    "odak": ("plyfile", "cv2", "plotly.graph_objects", "plotly.subplots"),
}

_get = getter(_ABSENT, ())
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_P = "ot."
_WEIGHTS = (torch.full((5,), 0.2), torch.full((6,), 1 / 6))
_COSTS = _u(5, 6)
_CLOUDS = (_t(5, 2), _t(6, 2) + 1)
_HISTOGRAMS = torch.stack([_u(6).softmax(0), _u(6).softmax(0)], 1)
_SQUARE = _u(6, 6)
_SPREAD = (torch.eye(2) + 0.1, 2 * torch.eye(2) - 0.1)
_GRAPHS = (torch.cdist(_t(5, 2), _t(5, 2)), torch.cdist(_t(6, 2), _t(6, 2)))
_POT: dict[str, Callable[[], Built]] = {
    **{
        f"sinkhorn {method}": (
            lambda method=method: _call(
                _P + "bregman.sinkhorn", (*_WEIGHTS, _COSTS, 0.3), method=method, numItermax=20, warn=False
            )
        )
        for method in ("sinkhorn", "sinkhorn_log", "greenkhorn", "sinkhorn_stabilized", "sinkhorn_epsilon_scaling")
    },
    "sinkhorn2": lambda: _call(_P + "bregman.sinkhorn2", (*_WEIGHTS, _COSTS, 0.3), numItermax=20),
    "barycenter": lambda: _call(_P + "bregman.barycenter", (_HISTOGRAMS, _SQUARE, 0.3), numItermax=20, warn=False),
    "barycenter_stabilized": lambda: _call(
        _P + "bregman.barycenter_stabilized", (_HISTOGRAMS, _SQUARE, 0.3), numItermax=20, warn=False
    ),
    "barycenter_debiased": lambda: _call(
        _P + "bregman.barycenter_debiased", (_HISTOGRAMS, _SQUARE, 0.3), numItermax=20, warn=False
    ),
    "unmix": lambda: _call(
        _P + "bregman.unmix",
        (_HISTOGRAMS[:, 0], _HISTOGRAMS, _SQUARE, torch.eye(2), torch.full((2,), 0.5), 0.3, 0.3, 0.1),
        numItermax=10,
        warn=False,
    ),
    "empirical_sinkhorn_divergence": lambda: _call(
        _P + "bregman.empirical_sinkhorn_divergence", (*_CLOUDS, 0.5), numIterMax=20, warn=False
    ),
    "bures_wasserstein_mapping": lambda: _call(_P + "gaussian.bures_wasserstein_mapping", (_t(2), _t(2), *_SPREAD)),
    "bures_wasserstein_distance": lambda: _call(_P + "gaussian.bures_wasserstein_distance", (_t(2), _t(2), *_SPREAD)),
    "empirical_bures_wasserstein_mapping": lambda: _call(_P + "gaussian.empirical_bures_wasserstein_mapping", _CLOUDS),
    "bures_wasserstein_barycenter": lambda: _call(
        _P + "gaussian.bures_wasserstein_barycenter", (_t(2, 2), torch.stack(_SPREAD)), num_iter=10
    ),
    "gaussian_gromov_wasserstein_distance": lambda: _call(
        _P + "gaussian.gaussian_gromov_wasserstein_distance", _SPREAD
    ),
    "sliced_wasserstein_distance": lambda: _call(_P + "sliced.sliced_wasserstein_distance", _CLOUDS, n_projections=8),
    "max_sliced_wasserstein_distance": lambda: _call(
        _P + "sliced.max_sliced_wasserstein_distance", _CLOUDS, n_projections=8
    ),
    "sliced_wasserstein_sphere_unif": lambda: _call(
        _P + "sliced.sliced_wasserstein_sphere_unif", (nn.functional.normalize(_t(5, 3), dim=-1),), n_projections=8
    ),
    "wasserstein_1d": lambda: _call(_P + "lp.wasserstein_1d", (_t(5, 2), _t(6, 2))),
    "wasserstein_circle": lambda: _call(_P + "lp.wasserstein_circle", (_u(5, 2), _u(6, 2)), p=2),
    "semidiscrete_wasserstein2_unif_circle": lambda: _call(
        _P + "lp.semidiscrete_wasserstein2_unif_circle", (_u(5, 2),)
    ),
    **{
        f"sinkhorn_unbalanced {method}": (
            lambda method=method: _call(
                _P + "unbalanced.sinkhorn_unbalanced", (*_WEIGHTS, _COSTS, 0.3, 1.0), method=method, numItermax=20
            )
        )
        for method in ("sinkhorn", "sinkhorn_stabilized", "sinkhorn_translation_invariant")
    },
    "mm_unbalanced": lambda: _call(_P + "unbalanced.mm_unbalanced", (*_WEIGHTS, _COSTS, 1.0), numItermax=20),
    "barycenter_unbalanced": lambda: _call(
        _P + "unbalanced.barycenter_unbalanced", (_HISTOGRAMS, _SQUARE, 0.3, 1.0), numItermax=20
    ),
    "entropic_partial_wasserstein": lambda: _call(
        _P + "partial.entropic_partial_wasserstein", (*_WEIGHTS, _COSTS, 0.5), m=0.5, numItermax=20
    ),
    "dist": lambda: _call(_P + "utils.dist", _CLOUDS),
    "proj_simplex": lambda: _call(_P + "utils.proj_simplex", (_t(6, 2),)),
    "projection_sparse_simplex": lambda: _call(_P + "utils.projection_sparse_simplex", (_t(6, 3), 2)),
    "label_normalization": lambda: _call(_P + "utils.label_normalization", (_i(3, 6) + 2,)),
    "get_coordinate_circle": lambda: _call(
        _P + "utils.get_coordinate_circle", (nn.functional.normalize(_t(5, 2), dim=-1),)
    ),
    "weak_optimal_transport": lambda: _call(_P + "weak.weak_optimal_transport", _CLOUDS, numItermax=3),
    "smooth_ot_dual": lambda: _call(_P + "smooth.smooth_ot_dual", (*_WEIGHTS, _COSTS, 0.5), numItermax=5),
    "lowrank_sinkhorn": lambda: _call(
        _P + "lowrank.lowrank_sinkhorn", _CLOUDS, rank=2, reg=0.1, init="deterministic", numItermax=10, warn=False
    ),
    "entropic_gromov_wasserstein": lambda: _call(
        _P + "gromov.entropic_gromov_wasserstein", _GRAPHS, epsilon=0.5, max_iter=4
    ),
    "BAPG_gromov_wasserstein": lambda: _call(_P + "gromov.BAPG_gromov_wasserstein", _GRAPHS, epsilon=0.5, max_iter=4),
    "unbalanced_co_optimal_transport": lambda: _call(
        _P + "gromov.unbalanced_co_optimal_transport", _CLOUDS, epsilon=0.5, max_iter=3, max_iter_ot=5
    ),
    "gmm_pdf": lambda: _call(_P + "gmm.gmm_pdf", (_t(4, 2), _t(2, 2), torch.stack(_SPREAD), torch.full((2,), 0.5))),
    "dist_bures_squared": lambda: _call(
        _P + "gmm.dist_bures_squared", (_t(2, 2), _t(2, 2), torch.stack(_SPREAD), torch.stack(_SPREAD))
    ),
    "loss_dual_entropic": lambda: _call(_P + "stochastic.loss_dual_entropic", (_t(5), _t(6), *_CLOUDS)),
    "plan_dual_quadratic": lambda: _call(_P + "stochastic.plan_dual_quadratic", (_t(5), _t(6), *_CLOUDS)),
    "solve_sample entropic": lambda: _using(
        _P + "solve_sample", lambda use, x, y: use(x, y, reg=0.5, max_iter=20).plan, _CLOUDS
    ),
    "solve_batch": lambda: _using(
        _P + "batch.solve_batch", lambda use, m: use(m, 0.5, max_iter=10).plan, (_u(2, 5, 6),)
    ),
}

_D = "deepali."
_IMAGES = (_u(2, 1, 12, 12), _u(2, 1, 12, 12))
_FLOW = (0.1 * _t(2, 2, 12, 12),)
_MASK = (_u(2, 1, 12, 12) > 0.3).float()


def _grid(*size: int) -> Any:
    return _get(_D + "core.Grid")(size=size)


def _warped(name: str, **options: Any) -> Built:
    made = _get(_D + "spatial." + name)(_grid(12, 12), **options)
    with torch.no_grad():
        for p in made.parameters():
            p.add_(0.05)
    made.update()
    return held(_get(_D + "spatial.ImageTransformer")(made), lambda use, x: use(x), (_IMAGES[0],))


_DEEPALI: dict[str, Callable[[], Built]] = {
    "avg_pool": lambda: _call(_D + "core.functional.avg_pool", (_IMAGES[0], 3)),
    "conv": lambda: _call(_D + "core.functional.conv", (_IMAGES[0], torch.full((3,), 1 / 3))),
    "conv1d": lambda: _call(_D + "core.functional.conv1d", (_IMAGES[0], torch.full((3,), 1 / 3))),
    "downsample": lambda: _call(_D + "core.functional.downsample", (_IMAGES[0], 1)),
    "upsample": lambda: _call(_D + "core.functional.upsample", (_IMAGES[0], 1)),
    "gaussian_pyramid": lambda: _call(_D + "core.functional.gaussian_pyramid", (_IMAGES[0], 2)),
    "crop": lambda: _call(_D + "core.functional.crop", (_IMAGES[0], 2)),
    "pad": lambda: _call(_D + "core.functional.pad", (_IMAGES[0], 2)),
    "center_crop": lambda: _call(_D + "core.functional.center_crop", (_IMAGES[0], (6, 6))),
    "center_pad": lambda: _call(_D + "core.functional.center_pad", (_IMAGES[0], (16, 16))),
    "fill_border": lambda: _call(_D + "core.functional.fill_border", (_IMAGES[0], 2)),
    "grid_resample": lambda: _call(_D + "core.functional.grid_resample", (_IMAGES[0], 1.0, 1.5)),
    "grid_resize": lambda: _call(_D + "core.functional.grid_resize", (_IMAGES[0], (6, 8))),
    "rescale": lambda: _call(_D + "core.functional.rescale", (_IMAGES[0], 0, 1)),
    "normalize_image": lambda: _call(_D + "core.functional.normalize_image", (_IMAGES[0],)),
    "normalize_image center": lambda: _call(_D + "core.functional.normalize_image", (_IMAGES[0],), mode="center"),
    "sample_image": lambda: _call(_D + "core.functional.sample_image", (_IMAGES[0], _u(2, 7, 2))),
    "rand_sample": lambda: _call(_D + "core.functional.rand_sample", (_IMAGES[0], 5)),
    "rand_sample masked": lambda: _call(_D + "core.functional.rand_sample", (_IMAGES[0], 5, _MASK)),
    "spatial_derivatives": lambda: _call(_D + "core.functional.spatial_derivatives", (_IMAGES[0],), order=1),
    "spatial_derivatives bspline": lambda: _call(
        _D + "core.functional.spatial_derivatives", (_IMAGES[0],), order=1, mode="bspline"
    ),
    "spatial_derivatives gaussian": lambda: _call(
        _D + "core.functional.spatial_derivatives", (_IMAGES[0],), order=2, mode="gaussian", sigma=1.0
    ),
    "compose_flows": lambda: _call(_D + "core.functional.compose_flows", (_FLOW[0][:1], _FLOW[0][:1])),
    "compose_svfs": lambda: _call(_D + "core.functional.compose_svfs", (_FLOW[0], _FLOW[0])),
    "curl": lambda: _call(_D + "core.functional.curl", _FLOW),
    "divergence": lambda: _call(_D + "core.functional.divergence", _FLOW),
    "expv": lambda: _call(_D + "core.functional.expv", _FLOW, steps=2),
    "expv scaled": lambda: _call(_D + "core.functional.expv", _FLOW, scale=-1),
    "logv": lambda: _call(_D + "core.functional.logv", (_FLOW[0][:1],), num_iters=2),
    "jacobian_det": lambda: _call(_D + "core.functional.jacobian_det", _FLOW),
    "lie_bracket": lambda: _call(_D + "core.functional.lie_bracket", (_FLOW[0], _FLOW[0])),
    "normalize_flow": lambda: _call(_D + "core.functional.normalize_flow", _FLOW),
    "warp_image": lambda: _using(
        _D + "core.functional.warp_image",
        lambda use, x, f: use(x, _grid(12, 12).coords().unsqueeze(0), f.movedim(1, -1)),
        (_IMAGES[0], _FLOW[0]),
    ),
    "evaluate_cubic_bspline": lambda: _call(
        _D + "core.functional.evaluate_cubic_bspline", (_t(2, 1, 7, 7),), stride=2, shape=(8, 8)
    ),
    "evaluate_cubic_bspline transposed": lambda: _call(
        _D + "core.functional.evaluate_cubic_bspline", (_t(2, 1, 7, 7),), stride=2, transpose=True
    ),
    "subdivide_cubic_bspline": lambda: _call(_D + "core.functional.subdivide_cubic_bspline", (_t(2, 1, 7, 7),)),
    "euler_rotation_matrix": lambda: _call(_D + "core.functional.euler_rotation_matrix", (_t(2, 3),)),
    "euler_rotation_angles": lambda: _using(
        _D + "core.functional.euler_rotation_angles", lambda use, x: use(torch.linalg.qr(x)[0]), (_t(2, 3, 3),)
    ),
    "shear_matrix": lambda: _call(_D + "core.functional.shear_matrix", (_t(2, 3),)),
    "homogeneous_matmul": lambda: _call(_D + "core.functional.homogeneous_matmul", (_t(2, 3, 4), _t(2, 3, 1))),
    "vector_rotation": lambda: _call(_D + "core.functional.vector_rotation", (_t(2, 3), _t(2, 3))),
    "closest_point_distances": lambda: _call(
        _D + "core.functional.closest_point_distances", (_t(2, 5, 3), _t(2, 6, 3))
    ),
    "polyline_tangents": lambda: _call(_D + "core.functional.polyline_tangents", (_t(2, 5, 3),)),
    "transform_grid": lambda: _using(
        _D + "core.functional.transform_grid",
        lambda use, m: use(m, _grid(6, 6).coords().unsqueeze(0)),
        (torch.eye(2, 3).repeat(2, 1, 1),),
    ),
    "Grid transform": lambda: _using(
        _D + "core.Grid",
        lambda use, s: use(size=(6, 8), spacing=s).transform_points(torch.ones(3, 2), "grid", "world"),
        (_u(2) + 1,),
    ),
    "Grid resample": lambda: _using(
        _D + "core.Grid", lambda use, s: use(size=(6, 8), spacing=s).resample(0.5).coords(), (torch.tensor([1.0, 1.0]),)
    ),
    "Grid downsample": lambda: _using(
        _D + "core.Grid", lambda use, x: x + use(size=(8, 8)).downsample(1).coords().sum(), (_t(2),)
    ),
    "Cube": lambda: _using(_D + "core.Cube", lambda use, e, x: use(extent=e).cube_to_world(x), (_u(3) + 1, _t(4, 3))),
    **{
        name: (lambda name=name, options=options: _call(_D + "losses.functional." + name, _IMAGES, **options))
        for name, options in (
            ("dice_loss", {}),
            ("tversky_index", {}),
            ("focal_loss_with_logits", {}),
            ("ncc_loss", {}),
            ("lcc_loss", {"kernel_size": 3}),
            ("wlcc_loss", {"kernel_size": 3}),
            ("huber_loss", {}),
            ("ssd_loss", {}),
            ("mi_loss", {}),
            ("nmi_loss", {"num_bins": 8}),
            ("balanced_binary_cross_entropy_with_logits", {}),
        )
    },
    "mse_loss masked": lambda: _call(_D + "losses.functional.mse_loss", (*_IMAGES, _MASK)),
    "mi_loss masked": lambda: _call(_D + "losses.functional.mi_loss", (*_IMAGES, _MASK)),
    "label_smoothing": lambda: _call(_D + "losses.functional.label_smoothing", (_i(3, 2, 1, 6, 6), 3)),
    "kld_loss": lambda: _call(_D + "losses.functional.kld_loss", (_t(2, 4), _t(2, 4))),
    **{
        name: (lambda name=name, options=options: _call(_D + "losses.functional." + name, _FLOW, **options))
        for name, options in (
            ("grad_loss", {}),
            ("bending_loss", {}),
            ("curvature_loss", {}),
            ("diffusion_loss", {}),
            ("divergence_loss", {}),
            ("elasticity_loss", {"shear_modulus": 1.0, "poissons_ratio": 0.3}),
            ("total_variation_loss", {}),
            ("bspline_bending_loss", {}),
        )
    },
    "inverse_consistency_loss": lambda: _call(
        _D + "losses.functional.inverse_consistency_loss", (_FLOW[0], -_FLOW[0]), margin=1
    ),
    "MI": lambda: _made(_D + "losses.MI", [_IMAGES], num_samples=20),
    "PatchwiseImageLoss": lambda: _using(
        _D + "losses.PatchwiseImageLoss",
        lambda use, p, x, y: use(p)(x, y),
        (_u(2, 3, 4, 4, 3), _u(2, 1, 6, 6, 6), _u(2, 1, 6, 6, 6)),
    ),
    **{
        f"ImageTransformer {name}": (lambda name=name, options=options: _warped(name, **options))
        for name, options in (
            ("Translation", {}),
            ("EulerRotation", {}),
            ("AnisotropicScaling", {}),
            ("RigidTransform", {}),
            ("FullAffineTransform", {}),
            ("DisplacementFieldTransform", {}),
            ("StationaryVelocityFieldTransform", {}),
            ("FreeFormDeformation", {"stride": 4}),
            ("StationaryVelocityFreeFormDeformation", {"stride": 4}),
        )
    },
}

_M = "mrpro."
_COILS = complex_normal(_t, 3, 1, 8, 8)
_RELAX = (_u(4) + 0.5, _u(4) + 0.5)


def _rotation(*shape: int) -> Any:
    return _get(_M + "data.Rotation").from_rotvec(_t(*shape, 3))


def _linear() -> Any:
    return _get(_M + "operators.EinsumOp")(2 * torch.eye(4) + 0.1)


_MRPRO: dict[str, Callable[[], Built]] = {
    "AveragingOp": lambda: _made(_M + "operators.AveragingOp", [(_t(6, 3),)], 0, [[0, 1], [2, 3, 4]], 6),
    "AveragingOp adjoint": lambda: _method(
        _M + "operators.AveragingOp", "adjoint", [(_t(2, 3),)], 0, [[0, 1], [2, 3, 4]], 6
    ),
    "ConstraintsOp": lambda: _made(
        _M + "operators.ConstraintsOp", [(_t(4), _t(4), _t(4))], [(0.0, 1.0), (0.0, None), (None, None)]
    ),
    "DictionaryMatchOp": lambda: (
        _get(_M + "operators.DictionaryMatchOp")(
            _get(_M + "operators.models.InversionRecovery")(torch.tensor([0.1, 0.5, 1.0])), 0
        ).append(*_RELAX),
        [(_t(3, 5),)],
    ),
    "FastFourierOp": lambda: _made(
        _M + "operators.FastFourierOp", [(complex_normal(_t, 2, 6, 6),)], (-2, -1), (6, 6), (8, 8)
    ),
    "FiniteDifferenceOp": lambda: _made(_M + "operators.FiniteDifferenceOp", [(_t(2, 6, 6),)], (-2, -1), "forward"),
    "GridSamplingOp": lambda: _made(
        _M + "operators.GridSamplingOp",
        [(_t(1, 1, 1, 6, 6),)],
        None,
        _u(1, 1, 5, 5),
        _u(1, 1, 5, 5),
        _get(_M + "data.SpatialDimension")(1, 6, 6),
    ),
    "PCACompressionOp": lambda: _made(_M + "operators.PCACompressionOp", [(_t(5, 4),)], _t(8, 4), 2),
    "PatchOp": lambda: _made(_M + "operators.PatchOp", [(_t(2, 6, 6),)], (-2, -1), 3, 2),
    "PatchOp adjoint": lambda: held(
        _get(_M + "operators.PatchOp")((-2, -1), 3, 2, domain_size=(6, 6)),
        lambda use, x: use.adjoint(*use(x)),
        (_t(2, 6, 6),),
    ),
    "SliceProjectionOp": lambda: _using(
        _M + "operators.SliceProjectionOp",
        lambda use, x: use(_get(_M + "data.SpatialDimension")(6, 6, 6), None, 0.0, 2.0)(x),
        (_u(1, 6, 6, 6),),
    ),
    "SliceProjectionOp.forward": lambda: _made(
        _M + "operators.SliceProjectionOp",
        [(_u(1, 6, 6, 6),)],
        _get(_M + "data.SpatialDimension")(6, 6, 6),
        None,
        0.0,
        2.0,
    ),
    "ZeroPadOp": lambda: _made(_M + "operators.ZeroPadOp", [(_t(2, 6),)], (-1,), (6,), (9,)),
    "operator_norm": lambda: held(
        _linear(),
        lambda use, x: use.operator_norm(x, dim=None, max_iterations=4),
        (_t(4),),
    ),
    "ConjugateGradientOp": lambda: (
        _get(_M + "operators.ConjugateGradientOp")(lambda _: _linear(), lambda x: (x,)),
        [(_t(4),)],
    ),
    "Jacobian": lambda: _using(
        _M + "operators.Jacobian",
        lambda use, x, d: use(_get(_M + "operators.MagnitudeOp")(), x)(d),
        (_t(4), _t(4)),
    ),
    **{
        f"{name} {step}": (
            lambda name=name, step=step: _method(
                _M + "operators.functionals." + name, step, [(_t(3, 4),)], _t(3, 4), 1.5, dim=(-1,), divide_by_n=True
            )
        )
        for name in ("L1Norm", "L2NormSquared", "L1NormViewAsReal", "ZeroFunctional")
        for step in ("forward", "prox", "prox_convex_conj")
    },
    "SSIM": lambda: _made(_M + "operators.functionals.SSIM", [(_u(1, 1, 8, 9, 9),)], _u(1, 1, 8, 9, 9)),
    "InversionRecovery": lambda: _made(_M + "operators.models.InversionRecovery", [_RELAX], [0.1, 0.5]),
    "MOLLI": lambda: _made(_M + "operators.models.MOLLI", [(*_RELAX, _u(4) + 0.5)], [0.1, 0.5]),
    "SpoiledGRE": lambda: _made(_M + "operators.models.SpoiledGRE", [(*_RELAX, _u(4) + 0.1)], 0.2, 0.01, 0.02),
    "WASABI": lambda: _made(
        _M + "operators.models.WASABI", [tuple(_u(4) + 0.5 for _ in range(4))], torch.linspace(-50, 50, 5)
    ),
    "WASABITI": lambda: _made(
        _M + "operators.models.WASABITI", [tuple(_u(4) + 0.5 for _ in range(3))], torch.linspace(-50, 50, 5), 2.0
    ),
    "TransientSteadyStateWithPreparation": lambda: _made(
        _M + "operators.models.TransientSteadyStateWithPreparation", [(*_RELAX, _u(4) + 0.1)], [0.1, 0.2], 0.02
    ),
    "MultiEchoSpinEcho": lambda: _made(
        _M + "operators.models.MultiEchoSpinEcho", [(*_RELAX, _u(4) + 0.1)], _u(3), _u(3), 0.02, 5
    ),
    "CardiacFingerprinting": lambda: _made(_M + "operators.models.CardiacFingerprinting", [(*_RELAX, _u(4) + 0.1)]),
    "walsh": lambda: _call(_M + "algorithms.csm.walsh", (_COILS, 3)),
    "inati": lambda: _call(_M + "algorithms.csm.inati", (_COILS, 3)),
    "total_variation_denoising": lambda: _call(
        _M + "algorithms.denoiser.total_variation_denoising", (_u(6, 6), (-2, -1), 0.1), max_iterations=4
    ),
    "cg": lambda: _using(_M + "algorithms.optimizers.cg", lambda use, x: use(_linear(), x, max_iterations=4), (_t(4),)),
    "pgd": lambda: _using(
        _M + "algorithms.optimizers.pgd",
        lambda use, x: use(
            _get(_M + "operators.functionals.L2NormSquared")(x) @ _linear(),
            _get(_M + "operators.functionals.L1Norm")(),
            (torch.zeros(4),),
            stepsize=0.1,
            max_iterations=4,
        ),
        (_t(4),),
    ),
    "pdhg": lambda: _using(
        _M + "algorithms.optimizers.pdhg",
        lambda use, x: use(
            _get(_M + "operators.functionals.L2NormSquared")(x),
            _get(_M + "operators.functionals.L1Norm")(),
            _linear(),
            (torch.zeros(4),),
            max_iterations=4,
        ),
        (_t(4),),
    ),
    "varimax": lambda: _call(_M + "algorithms.varimax.varimax", (_t(6, 3),), n_iterations=4),
    "dcf_1d": lambda: _call(_M + "algorithms.dcf.dcf_1d", (torch.tensor([0.0, 1.0, 1.0, 3.0, 4.5]),)),
    "fill_range_": lambda: _call(_M + "utils.fill_range.fill_range_", (_t(3, 4), -1)),
    "gaussian_filter": lambda: _call(_M + "utils.filters.gaussian_filter", (_t(2, 8, 8), 1.0, (-2, -1))),
    "gaussian_filter widths": lambda: _call(
        _M + "utils.filters.gaussian_filter", (_t(2, 8, 8), torch.tensor([1.0, 0.5]), (-2, -1))
    ),
    "uniform_filter": lambda: _call(_M + "utils.filters.uniform_filter", (_t(2, 8, 8), 3, (-2, -1))),
    "interpolate": lambda: _call(_M + "utils.interpolate.interpolate", (_t(2, 8, 8), (4, 12), (-2, -1))),
    "interp": lambda: _call(_M + "utils.interpolate.interp", (_u(5), torch.linspace(0, 1, 4), _t(4))),
    "apply_lowres": lambda: _using(
        _M + "utils.interpolate.apply_lowres", lambda use, x: use(torch.abs, (4, 4), (-2, -1))(x), (_t(2, 8, 8),)
    ),
    "pad_or_crop": lambda: _call(_M + "utils.pad_or_crop.pad_or_crop", (_t(2, 8, 8), (6, 10), (-2, -1))),
    "reduce_repeat": lambda: _call(_M + "utils.reduce_repeat.reduce_repeat", (_t(2, 1).expand(2, 4).clone(),)),
    "sliding_window": lambda: _call(_M + "utils.sliding_window.sliding_window", (_t(8, 8), (3, 3), (-2, -1))),
    "smap": lambda: _using(_M + "utils.smap.smap", lambda use, x: use(torch.abs, x), (_t(2, 3, 4),)),
    "split_idx": lambda: _call(_M + "utils.split_idx.split_idx", (torch.arange(8), 3, 1)),
    "summarize_values": lambda: _call(_M + "utils.summarize.summarize_values", (_t(9),)),
    "sample_vmf": lambda: _call(_M + "utils.vmf.sample_vmf", (_t(3), 2.0, 4)),
    "reduce_view": lambda: _call(_M + "utils.reshape.reduce_view", (_t(2, 1).expand(2, 4),)),
    "ravel_multi_index": lambda: _call(_M + "utils.reshape.ravel_multi_index", ((_i(3, 4), _i(4, 4)), (3, 4))),
    "broadcasted_rearrange": lambda: _call(
        _M + "utils.reshape.broadcasted_rearrange", (_t(2, 1, 4), "a b c -> c (a b)"), broadcasted_shape=(2, 3, 4)
    ),
    "SliceSmoothedRectangular": lambda: _made(
        _M + "utils.slice_profiles.SliceSmoothedRectangular", [(_t(5),)], 1.0, 0.5
    ),
    "Rotation apply": lambda: (_rotation(4), [(_t(4, 3),)]),
    "Rotation as_matrix": lambda: held(_rotation(4), lambda use, x: use.as_matrix() @ x, (_t(4, 3, 1),)),
    "Rotation as_euler": lambda: held(_rotation(4), lambda use, x: use.as_euler("xyz") + x, (_t(4, 3),)),
    "Rotation as_rotvec": lambda: held(_rotation(4), lambda use, x: use.as_rotvec() + x, (_t(4, 3),)),
    "Rotation from_matrix": lambda: _using(
        _M + "data.Rotation",
        lambda use, x: use.from_matrix(torch.linalg.qr(x)[0]).as_quat(improper="ignore"),
        (_t(4, 3, 3),),
    ),
    "Rotation from_euler": lambda: _using(
        _M + "data.Rotation", lambda use, x: use.from_euler("zyx", x).as_quat(), (_t(4, 3),)
    ),
    "Rotation from_quat": lambda: _using(
        _M + "data.Rotation", lambda use, x: (use(x) @ use(x).inv()).magnitude(), (_t(4, 4),)
    ),
    "Rotation mean": lambda: held(_rotation(4), lambda use, x: use.mean(weights=x).as_quat(), (_u(4),)),
    "Rotation approx_equal": lambda: held(_rotation(4), lambda use, x: use.approx_equal(use.inv()) & (x > 0), (_u(4),)),
    "Rotation align_vectors": lambda: _using(
        _M + "data.Rotation", lambda use, x, y: use.align_vectors(x, y)[0].as_quat(), (_t(5, 3), _t(5, 3))
    ),
}

_O = "odak.learn."
_FIELD = complex_normal(_t, 16, 16)
_WAVE = (0.01, 8e-6, 5.15e-7)
_PHOTO = (_u(1, 3, 64, 64), _u(1, 3, 64, 64))
_RAYS = torch.stack([torch.tensor([[0.0, 0.0, 0.0]] * 4) + 0.1 * _t(4, 3), torch.tensor([[0.1, 0.1, 0.98]] * 4)], 1)
_TRIANGLE = torch.tensor([[[-5.0, -5.0, 4.0], [5.0, -5.0, 4.0], [0.0, 5.0, 4.0]]])
_ODAK: dict[str, Callable[[], Built]] = {
    **{
        f"propagate_beam {kind}": (
            lambda kind=kind: _call(
                _O + "wave.propagate_beam",
                (_FIELD, 1.2e7, *_WAVE),
                propagation_type=kind,
                zero_padding=[True, False, True],
            )
        )
        for kind in (
            "Bandlimited Angular Spectrum",
            "Angular Spectrum",
            "Transfer Function Fresnel",
            "Incoherent Angular Spectrum",
            "Fraunhofer",
        )
    },
    "impulse_response_fresnel": lambda: _call(
        _O + "wave.impulse_response_fresnel", (_FIELD, 1.2e7, *_WAVE), samples=[2, 2, 2, 2]
    ),
    "seperable_impulse_response_fresnel": lambda: _call(
        _O + "wave.seperable_impulse_response_fresnel", (_FIELD, 1.2e7, *_WAVE), samples=[2, 2, 2, 2]
    ),
    "gerchberg_saxton": lambda: _call(_O + "wave.gerchberg_saxton", (_u(16, 16), 2, *_WAVE)),
    "stochastic_gradient_descent": lambda: _call(
        _O + "wave.stochastic_gradient_descent", (_u(16, 16), 5.15e-7, 0.01, 8e-6), n_iteration=2
    ),
    "point_wise": lambda: _call(
        _O + "wave.point_wise", (_u(8, 8), 5.15e-7, 0.01, 8e-6, torch.device("cpu")), lens_size=5
    ),
    "shift_w_double_phase": lambda: _call(_O + "wave.shift_w_double_phase", (_u(16, 16), 0.01, 8e-6, 5.15e-7)),
    "calculate_phase": lambda: _call(_O + "wave.calculate_phase", (_FIELD,), deg=True),
    "set_amplitude": lambda: _call(_O + "wave.set_amplitude", (_FIELD, _u(16, 16))),
    "normalize_phase": lambda: _call(_O + "wave.normalize_phase", (_t(16, 16),)),
    "linear_grating": lambda: _using(_O + "wave.linear_grating", lambda use, x: x * use(8, 8), (_t(8, 8),)),
    "blazed_grating": lambda: _using(_O + "wave.blazed_grating", lambda use, x: x * use(8, 8), (_t(8, 8),)),
    "prism_grating": lambda: _using(_O + "wave.prism_grating", lambda use, x: x * use(8, 8, 1.2e7, 2.0), (_t(8, 8),)),
    "phase_gradient": lambda: _made(_O + "wave.phase_gradient", [(_u(16, 16),)]),
    "speckle_contrast": lambda: _made(_O + "wave.speckle_contrast", [(_u(16, 16),)]),
    "multiplane_loss": lambda: _using(
        _O + "wave.multiplane_loss",
        lambda use, x, d, y: use(x, d, target_blur_size=3, number_of_planes=2)(y, x, 0),
        (_u(3, 16, 16), _u(16, 16), _u(3, 16, 16)),
    ),
    "holobeam_multiholo": lambda: _made(_O + "wave.models.holobeam_multiholo", [(_t(1, 1, 64, 64),)], n_hidden=4),
    "BlurLoss": lambda: _made(_O + "perception.BlurLoss", [_PHOTO]),
    "MetamericLoss": lambda: _made(_O + "perception.MetamericLoss", [_PHOTO], n_pyramid_levels=2),
    "MetamericLoss RGB": lambda: _made(
        _O + "perception.MetamericLoss", [_PHOTO], n_pyramid_levels=2, use_l2_foveal_loss=True, use_radial_weight=True
    ),
    "MetamericLossUniform": lambda: _made(
        _O + "perception.MetamericLossUniform", [_PHOTO], pooling_size=8, n_pyramid_levels=2
    ),
    "MetamerMSELoss": lambda: _made(_O + "perception.MetamerMSELoss", [_PHOTO], n_pyramid_levels=2),
    "RadiallyVaryingBlur": lambda: _method(
        _O + "perception.RadiallyVaryingBlur", "blur", [(_PHOTO[0], 0.2, 0.2, 0.7, (0.5, 0.5))]
    ),
    "SpatialSteerablePyramid": lambda: held(
        _get(_O + "perception.SpatialSteerablePyramid")(n_channels=3, n_orientations=2),
        lambda use, x: use.reconstruct_from_pyramid(use.construct_pyramid(x, 2)),
        (_PHOTO[0],),
    ),
    "pad_image_for_pyramid": lambda: _call(
        _O + "perception.spatial_steerable_pyramid.pad_image_for_pyramid", (_u(1, 3, 30, 30), 3)
    ),
    **{
        name: (lambda name=name: _call(_O + "perception.color_conversion." + name, (_u(1, 3, 8, 8),)))
        for name in (
            "rgb_2_ycrcb",
            "rgb_to_linear_rgb",
            "linear_rgb_to_rgb",
            "linear_rgb_to_xyz",
            "rgb_to_hsv",
            "hsv_to_rgb",
        )
    },
    **{
        name: (lambda name=name: _call(_O + "perception.color_conversion." + name, (_u(3, 8, 8),)))
        for name in ("srgb_to_lab", "lab_to_srgb", "rgb_to_gray")
    },
    "color_map": lambda: _call(_O + "perception.color_conversion.color_map", (_u(3, 8, 8), _u(3, 8, 8))),
    "weber_contrast": lambda: _call(
        _O + "perception.contrast.weber_contrast", (_u(1, 3, 16, 16), [0, 4, 0, 4], [5, 9, 5, 9])
    ),
    "content_aware_contrast_ratio": lambda: _call(
        _O + "perception.contrast.content_aware_contrast_ratio", (_u(1, 3, 24, 24),), window_size=9
    ),
    "cvd_loss": lambda: _call(_O + "perception.cvd_loss_functions.cvd_loss", (_u(1, 3, 16, 16), _u(1, 3, 16, 16))),
    "make_pooling_size_map_lod": lambda: _using(
        _O + "perception.foveation.make_pooling_size_map_lod",
        lambda use, x: x * use((0.5, 0.5), (16, 16)),
        (_t(16, 16),),
    ),
    "make_radial_map": lambda: _using(
        _O + "perception.foveation.make_radial_map", lambda use, x: x * use((16, 16), (0.5, 0.5)), (_t(16, 16),)
    ),
    "PSNR": lambda: _made(_O + "perception.image_quality_losses.PSNR", [_PHOTO]),
    "slice_rgbd_targets": lambda: _call(
        _O + "perception.util.slice_rgbd_targets", (_u(3, 8, 8), _u(8, 8), torch.tensor([0.2, 0.5, 0.8]))
    ),
    "evaluate_3d_gaussians": lambda: _call(_O + "tools.evaluate_3d_gaussians", (_t(6, 3),)),
    "zernike_polynomial": lambda: _call(_O + "tools.zernike_polynomial", (2, 0, _u(6), _u(6))),
    "multi_scale_total_variation_loss": lambda: _call(_O + "tools.multi_scale_total_variation_loss", (_u(3, 16, 16),)),
    "histogram_loss": lambda: _call(_O + "tools.histogram_loss", (_u(1, 3, 8, 8), _u(1, 3, 8, 8)), bins=4),
    "quantize": lambda: _call(_O + "tools.quantize", (_u(8, 8),), bits=4),
    "zero_pad": lambda: _call(_O + "tools.zero_pad", (_t(8, 8),)),
    "crop_center": lambda: _call(_O + "tools.crop_center", (_t(8, 8),)),
    "blur_gaussian": lambda: _call(_O + "tools.blur_gaussian", (_t(16, 16), [5, 5], [1, 1])),
    "correlation_2d": lambda: _call(_O + "tools.correlation_2d", (_t(8, 8), _t(8, 8))),
    "circular_binary_mask": lambda: _using(
        _O + "tools.circular_binary_mask", lambda use, x: x * use(8, 8, 3), (_t(8, 8),)
    ),
    "rotate_points": lambda: _call(_O + "tools.rotate_points", (_t(5, 3), _t(1, 3))),
    "rotate_points each": lambda: _call(_O + "tools.rotate_points", (_t(5, 3), _t(5, 3))),
    "tilt_towards": lambda: _call(_O + "tools.transformation.tilt_towards", (_t(3), _t(3))),
    "point_cloud_to_voxel": lambda: _call(
        _O + "tools.transformation.point_cloud_to_voxel", (_u(6, 3), [0.5, 0.5, 0.5])
    ),
    "same_side": lambda: _call(_O + "tools.vector.same_side", (_t(3), _t(3), _t(3), _t(3))),
    "refract": lambda: _call(
        _O + "raytracing.refract", (_RAYS, torch.stack([_t(4, 3), torch.tensor([[0.0, 0.0, -1.0]] * 4)], 1), 1.0, 1.5)
    ),
    "reflect": lambda: _call(
        _O + "raytracing.reflect", (_RAYS, torch.stack([_t(4, 3), torch.tensor([[0.0, 0.0, -1.0]] * 4)], 1))
    ),
    "intersect_w_sphere": lambda: _call(
        _O + "raytracing.intersect_w_sphere", (_RAYS, torch.tensor([[0.0, 0.0, 5.0, 2.0]])), number_of_steps=5
    ),
    "intersect_w_triangle": lambda: _call(_O + "raytracing.intersect_w_triangle", (_RAYS, _TRIANGLE)),
    "intersect_w_circle": lambda: _using(
        _O + "raytracing.intersect_w_circle",
        lambda use, r: use(
            r,
            _get(_O + "raytracing.define_circle")(torch.tensor([0.0, 0.0, 4.0]), torch.tensor([2.0]), torch.zeros(3)),
        ),
        (_RAYS,),
    ),
    "is_it_on_triangle": lambda: _call(_O + "raytracing.is_it_on_triangle", (_t(4, 3), _TRIANGLE)),
    "create_ray_from_all_pairs": lambda: _call(_O + "raytracing.create_ray_from_all_pairs", (_t(3, 3), _t(4, 3))),
    "create_ray": lambda: _call(_O + "raytracing.create_ray", (_t(4, 3), _t(4, 3))),
    "planar_mesh": lambda: _using(
        _O + "raytracing.planar_mesh", lambda use, r: use(torch.ones(2), torch.tensor([2, 2])).mirror(r), (_RAYS,)
    ),
    "detector": lambda: _using(
        _O + "raytracing.detector", lambda use, r: use(resolution=torch.tensor([8, 8])).intersect(r), (_RAYS,)
    ),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"ot/{name}": build for name, build in _POT.items()},
    **{f"deepali/{name}": build for name, build in _DEEPALI.items()},
    **{f"mrpro/{name}": build for name, build in _MRPRO.items()},
    **{f"odak/{name}": build for name, build in _ODAK.items()},
}

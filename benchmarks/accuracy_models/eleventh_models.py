"""Models of packages that were chosen and run after the work on the tenth group, before anything was changed for them.

Of torch-sim-atomistic, torchmd, pydssp, smplx, uni2ts, segment-anything, facenet-pytorch, tensorly-torch, diffq,
batchtensor and ttach.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(11)

# What these packages import of others and the models here do not use.
_ABSENT = {
    "torch_sim": ("vesin", "nvalchemiops", "tables", "h5py", "ase", "phonopy", "pymatgen"),
    "facenet_pytorch": ("torchvision.transforms.functional", "torchvision.ops.boxes", "PIL", "cv2"),
    "segment_anything": ("torchvision.transforms.functional", "torchvision.ops.boxes"),
    "uni2ts": ("gluonts", "hydra", "datasets", "lightning", "jax"),
    "torchmd": ("moleculekit",),
}
# Packages, outer ones first, whose `__init__` needs more than the models here do.
_BARE = (
    "torch_sim",
    "torchmd",
    "facenet_pytorch",
    "facenet_pytorch.models",
    "segment_anything",
    "segment_anything.utils",
    "uni2ts",
    "uni2ts.loss",
)


_get = getter(_ABSENT, _BARE)
_call, _made = models_by_name(_get)
_using, _ = uses_by_name(_get)


_CELL = 5 * torch.eye(3) + 0.1 * _t(3, 3)
_PBC = torch.tensor([True, True, True])
_S = "torch_sim."
_SIM: dict[str, Callable[[], Built]] = {
    "get_fractional_coordinates": lambda: _call(_S + "transforms.get_fractional_coordinates", (_u(6, 3), _CELL)),
    "inverse_box": lambda: _call(_S + "transforms.inverse_box", (_CELL,)),
    "pbc_wrap_general": lambda: _call(_S + "transforms.pbc_wrap_general", (9 * _u(6, 3), _CELL)),
    "pbc_wrap_batched": lambda: _call(
        _S + "transforms.pbc_wrap_batched",
        (9 * _u(6, 3), torch.stack([_CELL, _CELL]), torch.tensor([0, 0, 0, 1, 1, 1])),
    ),
    "minimum_image_displacement": lambda: _using(
        _S + "transforms.minimum_image_displacement", lambda use, d, c: use(dr=d, cell=c), (_t(6, 3), _CELL)
    ),
    "get_pair_displacements": lambda: _using(
        _S + "transforms.get_pair_displacements", lambda use, p, c: use(positions=p, cell=c), (5 * _u(6, 3), _CELL)
    ),
    "translate_pretty": lambda: _call(_S + "transforms.translate_pretty", (_u(6, 3), _PBC)),
    "wrap_positions": lambda: _call(_S + "transforms.wrap_positions", (9 * _u(6, 3), _CELL)),
    "wrap_positions pretty": lambda: _using(
        _S + "transforms.wrap_positions",
        lambda use, p, c: use(p, c, pretty_translation=True),
        (9 * _u(6, 3), _CELL),
    ),
    "get_number_of_cell_repeats": lambda: _using(
        _S + "transforms.get_number_of_cell_repeats", lambda use, c, p: use(2.0, c, p), (_CELL[None], _PBC[None])
    ),
    "get_cell_shift_idx": lambda: _using(
        _S + "transforms.get_cell_shift_idx", lambda use, n: use(n, torch.float32), (torch.tensor([1, 1, 0]),)
    ),
    "build_naive_neighborhood": lambda: _call(
        _S + "transforms.build_naive_neighborhood",
        (5 * _u(6, 3), _CELL[None], _PBC[None], 2.0, torch.tensor([6]), False),
    ),
    "build_linked_cell_neighborhood": lambda: _call(
        _S + "transforms.build_linked_cell_neighborhood",
        (5 * _u(6, 3), _CELL[None], _PBC[None], 2.0, torch.tensor([6]), False),
    ),
    "high_precision_sum": lambda: _call(_S + "transforms.high_precision_sum", (_t(5, 4), 1)),
    "safe_mask": lambda: _call(_S + "transforms.safe_mask", (_t(5) > 0, torch.log, _t(5))),
    "torch_divmod": lambda: _call(_S + "math.torch_divmod", (_i(20, 5), _i(4, 5) + 1)),
    "expm_frechet": lambda: _call(_S + "math.expm_frechet", (0.3 * _t(3, 3), _t(3, 3))),
    "expm_frechet block": lambda: _call(_S + "math.expm_frechet", (0.3 * _t(3, 3), _t(3, 3), "blockEnlarge")),
    "expm_cond": lambda: _call(_S + "math.expm_cond", (0.3 * _t(3, 3),)),
    "matrix_log_33": lambda: _call(_S + "math.matrix_log_33", (torch.eye(3) + 0.1 * _u(3, 3),)),
    "calc_kT": lambda: _using(
        _S + "quantities.calc_kT", lambda use, m, v: use(masses=m, velocities=v), (_u(5) + 1, _t(5, 3))
    ),
    "calc_kinetic_energy": lambda: _using(
        _S + "quantities.calc_kinetic_energy", lambda use, m, p: use(masses=m, momenta=p), (_u(5) + 1, _t(5, 3))
    ),
    "get_pressure": lambda: _call(_S + "quantities.get_pressure", (_t(2, 3, 3), _u(2), _u(2) + 1)),
}

_M = "torchmd."
_PAIRS = torch.tensor([[0, 1], [0, 2], [1, 2], [2, 3]])
_TORCHMD: dict[str, Callable[[], Built]] = {
    "wrap_dist": lambda: _call(_M + "forces.wrap_dist", (_t(4, 3), 5 * torch.ones(3))),
    "wrap_dist open": lambda: _call(_M + "forces.wrap_dist", (_t(4, 3), torch.zeros(3))),
    "calculate_distances": lambda: _call(_M + "forces.calculate_distances", (_t(4, 3), _PAIRS, 5 * torch.ones(3))),
    "evaluate_LJ": lambda: _call(
        _M + "forces.evaluate_LJ", (_u(4) + 1, _PAIRS, _i(2, 4), _u(2, 2), _u(2, 2), 1.2, 2.0)
    ),
    "evaluate_electrostatics": lambda: _call(
        _M + "forces.evaluate_electrostatics", (_u(4) + 1, _PAIRS, _t(4), 1, 9.0, True)
    ),
    "evaluate_bonds": lambda: _call(_M + "forces.evaluate_bonds", (_u(4) + 1, _u(4, 2))),
    "evaluate_angles": lambda: _call(_M + "forces.evaluate_angles", (_t(4, 3), _t(4, 3), _u(4, 2))),
    "evaluate_torsion": lambda: _call(
        _M + "forces.evaluate_torsion",
        (_t(3, 3), _t(3, 3), _t(3, 3), torch.arange(3), _u(3, 3)),
    ),
    "kinetic_energy": lambda: _call(_M + "integrator.kinetic_energy", (_u(4, 1) + 1, _t(2, 4, 3))),
    "maxwell_boltzmann": lambda: _call(_M + "integrator.maxwell_boltzmann", (_u(4, 1) + 1, 300.0, 2)),
}

_DSSP: dict[str, Callable[[], Built]] = {
    "assign": lambda: _call("pydssp.pydssp_torch.assign", (3 * _t(12, 4, 3),)),
    "assign batch": lambda: _call("pydssp.pydssp_torch.assign", (3 * _t(2, 12, 4, 3),)),
    "get_hbond_map": lambda: _call("pydssp.pydssp_torch.get_hbond_map", (3 * _t(12, 5, 3),)),
}

_X = "smplx.lbs."
_SMPLX: dict[str, Callable[[], Built]] = {
    "batch_rodrigues": lambda: _call(_X + "batch_rodrigues", (_t(4, 3),)),
    "blend_shapes": lambda: _call(_X + "blend_shapes", (_t(2, 5), _t(10, 3, 5))),
    "vertices2joints": lambda: _call(_X + "vertices2joints", (_u(4, 10), _t(2, 10, 3))),
    "batch_rigid_transform": lambda: _call(
        _X + "batch_rigid_transform", (torch.eye(3).expand(2, 4, 3, 3), _t(2, 4, 3), torch.tensor([-1, 0, 1, 1]))
    ),
    "lbs": lambda: _call(
        _X + "lbs",
        (
            _t(2, 5),
            0.1 * _t(2, 12),
            _t(10, 3),
            _t(10, 3, 5),
            _t(27, 30),
            _u(4, 10),
            torch.tensor([-1, 0, 1, 1]),
            _u(10, 4).softmax(1),
        ),
    ),
    "vertices2landmarks": lambda: _call(
        _X + "vertices2landmarks", (_t(2, 10, 3), _i(10, 6, 3), _i(6, 2, 4), _u(2, 4, 3))
    ),
}

_U = "uni2ts."
_PACKED = (_t(2, 6, 3), torch.ones(2, 6, 3, dtype=torch.bool), torch.tensor([[1, 1, 1, 2, 2, 0]] * 2), _i(2, 2, 6))


def _scaled(name: str) -> Built:
    return _made(_U + f"module.packed_scaler.{name}", [_PACKED])


def _lost(name: str, **options: Any) -> Built:
    inputs = (
        _t(2, 6, 3),
        _t(2, 6, 3),
        torch.ones(2, 6, dtype=torch.bool),
        torch.ones(2, 6, 3, dtype=torch.bool),
        torch.tensor([[1, 1, 1, 2, 2, 0]] * 2),
        _i(2, 2, 6),
    )
    return _made(_U + f"loss.packed.{name}", [inputs], **options)


_UNI: dict[str, Callable[[], Built]] = {
    **{name: lambda name=name: _scaled(name) for name in ("PackedNOPScaler", "PackedStdScaler", "PackedAbsMeanScaler")},
    **{name: lambda name=name: _lost(name) for name in ("PackedMAELoss", "PackedMSELoss", "PackedNMSELoss")},
    "PackedMAPELoss": lambda: _lost("PackedMAPELoss"),
    "RMSNorm": lambda: _made(_U + "module.norm.RMSNorm", [(_t(2, 6, 8),)], 8),
    "MultiInSizeLinear": lambda: _made(
        _U + "module.ts_embed.MultiInSizeLinear", [(_t(2, 6, 8), torch.tensor([[4, 8, 4, 4, 8, 8]] * 2))], (4, 8), 5
    ),
    "MultiOutSizeLinear": lambda: _made(
        _U + "module.ts_embed.MultiOutSizeLinear", [(_t(2, 6, 5), torch.tensor([[4, 8, 4, 4, 8, 8]] * 2))], 5, (4, 8)
    ),
    "packed_attention_mask": lambda: _call(_U + "common.torch_util.packed_attention_mask", (_i(3, 2, 6),)),
    "mask_fill": lambda: _call(_U + "common.torch_util.mask_fill", (_t(2, 6, 8), _t(2, 6) > 0, _t(8))),
    "unsqueeze_trailing_dims": lambda: _call(
        _U + "common.torch_util.unsqueeze_trailing_dims", (_t(2, 6), torch.Size((2, 6, 3)))
    ),
}

_A = "segment_anything.utils.amg."
_SAM: dict[str, Callable[[], Built]] = {
    "is_box_near_crop_edge": lambda: _call(
        _A + "is_box_near_crop_edge", (60 * _u(4, 4), [0, 0, 64, 64], [0, 0, 128, 128])
    ),
    "box_xyxy_to_xywh": lambda: _call(_A + "box_xyxy_to_xywh", (60 * _u(4, 4),)),
    "mask_to_rle_pytorch": lambda: _call(_A + "mask_to_rle_pytorch", (_t(3, 8, 8) > 0,)),
    "calculate_stability_score": lambda: _call(_A + "calculate_stability_score", (_t(3, 8, 8), 0.0, 1.0)),
    "uncrop_masks": lambda: _call(_A + "uncrop_masks", (_t(3, 8, 8) > 0, [2, 2, 10, 10], 16, 16)),
    "uncrop_boxes_xyxy": lambda: _call(_A + "uncrop_boxes_xyxy", (60 * _u(4, 4), [2, 2, 10, 10])),
    "batched_mask_to_box": lambda: _call(_A + "batched_mask_to_box", (_t(3, 8, 8) > 0,)),
    "MaskData": lambda: _using(
        _A + "MaskData",
        lambda made, x, keep: (data := made(masks=x, scores=[1, 2, 3]), data.filter(keep), data["masks"])[-1],
        (_t(3, 8, 8), torch.tensor([True, False, True])),
    ),
    "PromptEncoder": lambda: _made(
        "segment_anything.modeling.prompt_encoder.PromptEncoder",
        [((_u(1, 2, 2), _i(2, 1, 2)), 60 * _u(1, 4), None)],
        8,
        (4, 4),
        (64, 64),
        4,
    ),
    "ImageEncoderViT": lambda: _made(
        "segment_anything.modeling.image_encoder.ImageEncoderViT",
        [(_t(1, 3, 32, 32),)],
        img_size=32,
        patch_size=8,
        embed_dim=16,
        depth=2,
        num_heads=2,
        out_chans=8,
        use_rel_pos=True,
        window_size=3,
    ),
}

_D = "facenet_pytorch.models.utils.detect_face."
_FACENET: dict[str, Callable[[], Built]] = {
    "bbreg": lambda: _call(_D + "bbreg", (60 * _u(4, 5), 0.1 * _t(4, 4))),
    "generateBoundingBox": lambda: _call(_D + "generateBoundingBox", (_t(1, 4, 8, 8), _u(1, 8, 8), 0.6, 0.6)),
    "pad": lambda: _call(_D + "pad", (60 * _u(4, 5), 64, 64)),
    "rerec": lambda: _call(_D + "rerec", (60 * _u(4, 5),)),
    "imresample": lambda: _call(_D + "imresample", (_u(1, 3, 16, 16), (8, 8))),
    "fixed_batch_process": lambda: _call(
        _D + "fixed_batch_process", (_u(5, 3, 8, 8), lambda x: (x.mean((1, 2, 3)), x.sum((1, 2, 3))))
    ),
    "PNet": lambda: _made("facenet_pytorch.models.mtcnn.PNet", [(_u(1, 3, 24, 24),)], pretrained=False),
    "InceptionResnetV1": lambda: _made(
        "facenet_pytorch.models.inception_resnet_v1.InceptionResnetV1", [(_u(2, 3, 80, 80),)]
    ),
}

_L = "tltorch."
_TLTORCH: dict[str, Callable[[], Built]] = {
    "FactorizedLinear": lambda: _made(_L + "FactorizedLinear", [(_t(3, 16),)], (4, 4), (2, 3), rank=2),
    "FactorizedLinear cp": lambda: _made(
        _L + "FactorizedLinear", [(_t(3, 16),)], (4, 4), (2, 3), rank=2, factorization="cp"
    ),
    "FactorizedConv": lambda: _made(
        _L + "FactorizedConv", [(_t(2, 4, 8, 8),)], 4, 6, 3, order=2, rank=2, factorization="cp"
    ),
    "FactorizedConv tucker": lambda: _made(
        _L + "FactorizedConv", [(_t(2, 4, 8, 8),)], 4, 6, 3, order=2, rank=2, factorization="tucker"
    ),
    "TCL": lambda: _made(_L + "TCL", [(_t(2, 4, 5, 6),)], (4, 5, 6), (2, 2, 3)),
    "TRL": lambda: _made(_L + "TRL", [(_t(2, 4, 5),)], (4, 5), (3,), rank=2),
}

_Q = "diffq."


def _quantized(name: str, **options: Any) -> Built:
    model = nn.Sequential(nn.Linear(16, 16), nn.Linear(16, 8))
    quantizer = _get(_Q + name)(model, min_size=0.0001, **options)
    return (lambda x: (model(x), quantizer.model_size())), [(_t(2, 16),)]


_DIFFQ: dict[str, Callable[[], Built]] = {
    "uniform_quantize": lambda: _call(_Q + "uniform.uniform_quantize", (_t(5, 4), torch.tensor(4.0))),
    "uniform_unquantize": lambda: _call(_Q + "uniform.uniform_unquantize", (_i(16, 5, 4), (-1.0, 1.0))),
    "UniformQuantizer": lambda: _quantized("UniformQuantizer"),
}

_B = "batchtensor."
_BATCH: dict[str, Callable[[], Built]] = {
    **{
        name: lambda name=name: _call(_B + f"tensor.{name}", (_t(4, 6),))
        for name in ("argsort_along_seq", "cumsum_along_batch", "max_along_seq", "shuffle_along_batch")
    },
    "permute_along_batch": lambda: _call(_B + "tensor.permute_along_batch", (_t(4, 6), torch.randperm(4))),
    "split_along_seq": lambda: _call(_B + "tensor.split_along_seq", (_t(4, 6), 2)),
}

_T = "ttach."


def _augmented(name: str) -> Built:
    ttach = importlib.import_module("ttach")
    wrapper = getattr(ttach, name)
    model = nn.Conv2d(3, 2, 3, padding=1) if name.startswith("Seg") else nn.Sequential(nn.Flatten(), nn.Linear(192, 2))
    return wrapper(model, ttach.aliases.flip_transform(), merge_mode="mean"), [(_t(2, 3, 8, 8),)]


_TTACH: dict[str, Callable[[], Built]] = {
    "SegmentationTTAWrapper": lambda: _augmented("SegmentationTTAWrapper"),
    "ClassificationTTAWrapper": lambda: _augmented("ClassificationTTAWrapper"),
    "center_crop": lambda: _call(_T + "functional.center_crop", (_t(2, 3, 8, 8), 4, 4)),
    "keypoints_rot90": lambda: _call(_T + "functional.keypoints_rot90", (_u(4, 2), 2)),
    "scale": lambda: _call(_T + "functional.scale", (_t(2, 3, 8, 8), 2)),
}


MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in (
        ("torch_sim", _SIM),
        ("torchmd", _TORCHMD),
        ("pydssp", _DSSP),
        ("smplx", _SMPLX),
        ("uni2ts", _UNI),
        ("segment_anything", _SAM),
        ("facenet_pytorch", _FACENET),
        ("tltorch", _TLTORCH),
        ("diffq", _DIFFQ),
        ("batchtensor", _BATCH),
        ("ttach", _TTACH),
    )
    for name, build in models.items()
}

"""Models of learn2learn, pl_bolts, machin, torchtuples and torch_topological.

They were written and run after the work on the sixteenth group, and before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(31)
_ABSENT = {
    "learn2learn": ("qpth.qp", "gym", "cherry"),
    "pl_bolts": ("gym", "cv2", "wandb"),
    "machin": (
        "gym",
        "psutil",
        "GPUtil",
        "moviepy.editor",
        "tensorboardX",
        "colorlog",
        "torchviz",
        "dill",
        "matplotlib.pyplot",
    ),
    "torch_topological": ("gudhi.wasserstein", "gudhi.hera", "torch_geometric.data", "giotto_ph", "ot"),
    "torchtuples": ("pandas",),
}
_BARE = (
    "learn2learn",
    "learn2learn.nn",
    "learn2learn.vision",
    "learn2learn.vision.models",
    "machin",
    "machin.model",
    "machin.frame",
)
_get = getter(_ABSENT, (*_BARE, "machin.utils", "machin.frame.algorithms", "torch_topological", "torch_topological.nn"))
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_L = "learn2learn."
_LABELS = torch.tensor([0, 0, 1, 1, 2, 2])
_LEARN2LEARN: dict[str, Callable[[], Built]] = {
    "kronecker_addmm": lambda: _call(_L + "nn.kroneckers.kronecker_addmm", (_t(3, 3), _t(4, 4), _t(2, 3, 4))),
    "KroneckerLinear": lambda: _made(_L + "nn.kroneckers.KroneckerLinear", [(_t(2, 3, 4),)], 3, 4),
    "KroneckerLinear psd": lambda: _made(_L + "nn.kroneckers.KroneckerLinear", [(_t(2, 3, 4),)], 3, 4, psd=True),
    "KroneckerRNN": lambda: _made(_L + "nn.kroneckers.KroneckerRNN", [(_t(2, 3, 4), _t(2, 3, 4))], 3, 4),
    "kronecker": lambda: _call(_L + "nn.metaoptnet.kronecker", (_t(3, 3), _t(4, 4))),
    "onehot": lambda: _call(_L + "nn.metaoptnet.onehot", (_LABELS, 3)),
    "compute_prototypes": lambda: _call(_L + "nn.protonet.compute_prototypes", (_t(6, 4), _LABELS)),
    "PrototypicalClassifier": lambda: _made(
        _L + "nn.protonet.PrototypicalClassifier", [(_t(5, 4),)], _t(6, 4), _LABELS
    ),
    "PrototypicalClassifier cosine": lambda: _made(
        _L + "nn.protonet.PrototypicalClassifier", [(_t(5, 4),)], _t(6, 4), _LABELS, "cosine", True
    ),
    "PrototypicalClassifier fit": lambda: _method(
        _L + "nn.protonet.PrototypicalClassifier", "fit_", [(_t(6, 4), _LABELS)]
    ),
    "Scale": lambda: _made(_L + "nn.misc.Scale", [(_t(3, 4),)], (4,)),
    "accuracy": lambda: _call(_L + "utils.accuracy", (_t(6, 3), _LABELS)),
    "magic_box": lambda: _call(_L + "utils.magic_box", (_t(4),)),
    "clone_module": lambda: _using(_L + "utils.clone_module", lambda f, x: f(nn.Linear(4, 3))(x), (_t(2, 4),)),
    "update_module": lambda: held(
        nn.Linear(4, 3),
        lambda made, x: _get(_L + "utils.update_module")(
            _get(_L + "utils.clone_module")(made), updates=[torch.ones(3, 4), torch.ones(3)]
        )(x),
        (_t(2, 4),),
    ),
    "MetaCurvatureTransform": lambda: _made(
        _L + "optim.transforms.metacurvature_transform.MetaCurvatureTransform", [(_t(4, 3),)], _t(4, 3)
    ),
    "DropBlock": lambda: _made(_L + "vision.models.resnet12.DropBlock", [(_t(2, 3, 8, 8), 0.1)], 3),
    "CNN4": lambda: _made(_L + "vision.models.cnn4.CNN4", [(_t(2, 3, 32, 32),)], 5, 8, embedding_size=32),
}

_B = "pl_bolts.losses."
_NETS = (nn.Linear(4, 3), nn.Linear(4, 3))
_BATCH = (_t(5, 4), _i(3, 5), _t(5), torch.tensor([True, False, False, True, False]), _t(5, 4))
_BOLTS: dict[str, Callable[[], Built]] = {
    "nt_xent_loss": lambda: _call(_B + "self_supervised_learning.nt_xent_loss", (_t(4, 8), _t(4, 8), 0.5)),
    "tanh_clip": lambda: _call(_B + "self_supervised_learning.tanh_clip", (_t(4, 8),)),
    "CPCTask": lambda: _made(_B + "self_supervised_learning.CPCTask", [(_t(2, 8, 7, 7),)], 8, 8),
    "AmdimNCELoss": lambda: _made(
        _B + "self_supervised_learning.AmdimNCELoss", [(_t(3, 8, 1, 1), _t(3, 8, 5, 5), torch.eye(3))], 10.0
    ),
    "FeatureMapContrastiveTask": lambda: _made(
        _B + "self_supervised_learning.FeatureMapContrastiveTask",
        [([_t(3, 8, 1, 1), _t(3, 8, 5, 5)], [_t(3, 8, 1, 1), _t(3, 8, 5, 5)])],
        "00, 11",
    ),
    "dqn_loss": lambda: _using(_B + "rl.dqn_loss", lambda f, *b: f(b, *_NETS), _BATCH),
    "double_dqn_loss": lambda: _using(_B + "rl.double_dqn_loss", lambda f, *b: f(b, *_NETS), _BATCH),
    "per_dqn_loss": lambda: _using(_B + "rl.per_dqn_loss", lambda f, w, *b: f(b, w, *_NETS), (_u(5), *_BATCH)),
    "SWAVLoss": lambda: _made(
        "pl_bolts.models.self_supervised.swav.loss.SWAVLoss",
        [(_t(16, 6), _t(16, 8), _t(6, 8), 4)],
        0.1,
        (0, 1),
        (2, 2),
        3,
        0.05,
        0,
        1,
    ),
    "SSLEvaluator": lambda: _made("pl_bolts.models.self_supervised.evaluator.SSLEvaluator", [(_t(4, 8),)], 8, 3, 6),
}

_M = "machin."
_NOISE = _M + "frame.noise.action_space_noise."


def _actor(name: str, method: str, *inputs: Any, given: tuple[Any, ...] = ()) -> Callable[[], Built]:
    def build() -> Built:
        made = _get(_M + "model.algorithms.trpo." + name)(*given)
        return getattr(made, method), list(inputs)

    return build


_MACHIN: dict[str, Callable[[], Built]] = {
    "uniform noise": lambda: _call(_NOISE + "add_uniform_noise_to_action", (_t(3, 2), (0.0, 1.0), 0.5)),
    "normal noise": lambda: _call(_NOISE + "add_normal_noise_to_action", (_t(3, 2), [(0.0, 1.0), (0.0, 0.5)], 0.5)),
    "clipped noise": lambda: _call(_NOISE + "add_clipped_normal_noise_to_action", (_t(3, 2),)),
    "ou noise": lambda: _call(_NOISE + "add_ou_noise_to_action", (_t(3, 2), {"mu": 0.0}, 0.5)),
    **{
        name: (lambda name=name: _made(_M + "frame.noise.generator." + name, [()], (3, 2)))
        for name in ("NormalNoiseGen", "ClippedNormalNoiseGen", "UniformNoiseGen", "OrnsteinUhlenbeckNoiseGen")
    },
    "ActorDiscrete sample": _actor("ActorDiscrete", "sample", (_u(3, 4),), (_u(3, 4), _i(4, 3))),
    "ActorContinuous sample": _actor("ActorContinuous", "sample", (_t(3, 2),), (_t(3, 2), _t(3, 2)), given=(2,)),
    "assert_output_is_probs": lambda: _call(
        _M + "frame.algorithms.utils.assert_output_is_probs", (_t(3, 4).softmax(1),)
    ),
    "soft_update": lambda: held(
        (nn.Linear(4, 3), nn.Linear(4, 3)),
        lambda made, x: (_get(_M + "frame.algorithms.utils.soft_update")(*made, 0.5), made[0](x))[1],
        (_t(2, 4),),
    ),
}

_TT = "torchtuples."
_TORCHTUPLES: dict[str, Callable[[], Built]] = {
    "MLPVanilla": lambda: _made(_TT + "practical.MLPVanilla", [(_t(4, 6),)], 6, [8, 8], 2, dropout=0.1),
    "EntityEmbeddings": lambda: _made(
        _TT + "practical.EntityEmbeddings", [(torch.stack([_i(3, 4), _i(5, 4)], 1),)], [3, 5], [2, 3]
    ),
    "MixedInputMLP": lambda: _made(
        _TT + "practical.MixedInputMLP",
        [(_t(4, 6), torch.stack([_i(3, 4), _i(5, 4)], 1))],
        6,
        [3, 5],
        [2, 3],
        [8],
        1,
    ),
    "accuracy_binary": lambda: _call(_TT + "practical.accuracy_binary", (_t(4, 1), _i(2, 4, 1))),
    "accuracy_argmax": lambda: _call(_TT + "practical.accuracy_argmax", (_t(4, 3), _i(3, 4))),
    "cat": lambda: _using(_TT + "tuplefy", lambda f, x, y: f((x, y), (x, y)).cat(), (_t(2, 3), _t(2, 3))),
    "split": lambda: _using(_TT + "tuplefy", lambda f, x, y: f(x, y).split(2), (_t(4, 3), _t(4))),
    "all_equal": lambda: _using(_TT + "tuplefy", lambda f, x, y: f(x, (y, y)).lens().all_equal(), (_t(4, 3), _t(4, 2))),
    "to_device": lambda: _using(_TT + "tuplefy", lambda f, x, y: f(x, (y,)).to_device("cpu"), (_t(4, 3), _t(2))),
}

_P = "torch_topological."
_DIAGRAM = torch.cat([_u(6, 1), _u(6, 1) + 1], 1)


def _features(diagram: torch.Tensor, dimension: int = 0) -> Any:
    pairs = torch.zeros(len(diagram), 2, dtype=torch.long)
    return _get(_P + "nn.data.PersistenceInformation")(pairs, diagram, dimension)


def _of_diagrams(name: str, use: Callable[..., Any], *given: Any) -> Callable[[], Built]:
    return lambda: held(_get(_P + name)(*given), use, (_DIAGRAM, _DIAGRAM + 0.1))


_TOPOLOGICAL: dict[str, Callable[[], Built]] = {
    **{
        name: (lambda name=name: _call(_P + "utils.summary_statistics." + name, (_DIAGRAM,)))
        for name in ("persistent_entropy", "total_persistence", "p_norm")
    },
    "polynomial_function": lambda: _call(_P + "utils.summary_statistics.polynomial_function", (_DIAGRAM, 1, 2)),
    "StructureElementLayer": lambda: _made(_P + "nn.layers.StructureElementLayer", [(_t(2, 6, 3),)], 5),
    "MultiScaleKernel": _of_diagrams(
        "nn.multi_scale_kernel.MultiScaleKernel", lambda made, a, b: made(_features(a), _features(b)), 1.0
    ),
    "SlicedWassersteinDistance": _of_diagrams(
        "nn.sliced_wasserstein_distance.SlicedWassersteinDistance",
        lambda made, a, b: made([_features(a)], [_features(b)]),
    ),
    "SummaryStatisticLoss": _of_diagrams(
        "nn.loss.SummaryStatisticLoss", lambda made, a, b: made([_features(a)], [_features(b)]), "total_persistence"
    ),
    "EulerDistance": lambda: _made(
        _P + "nn.weighted_euler_characteristic_transform.EulerDistance", [(_t(4, 5), _t(4, 5))]
    ),
    "WeightedEulerCurve": lambda: _made(
        _P + "nn.weighted_euler_characteristic_transform.WeightedEulerCurve", [(_u(4, 4, 4),)], 3, 4
    ),
    "SelectByDimension": _of_diagrams(
        "utils.filters.SelectByDimension", lambda made, a, b: made([_features(a), _features(b, 1)]), 1
    ),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"learn2learn/{name}": build for name, build in _LEARN2LEARN.items()},
    **{f"pl_bolts/{name}": build for name, build in _BOLTS.items()},
    **{f"machin/{name}": build for name, build in _MACHIN.items()},
    **{f"torchtuples/{name}": build for name, build in _TORCHTUPLES.items()},
    **{f"torch_topological/{name}": build for name, build in _TOPOLOGICAL.items()},
}

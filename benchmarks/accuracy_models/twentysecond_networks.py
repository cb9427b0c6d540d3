"""Models of replay, fairchem, stable_audio_tools, audiotools and garage.

They were chosen after all of the twenty-first group, and written before `check` was run on these packages.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import _Absent, getter

_t, _u, _i = random_inputs(79)
_ABSENT = {
    "replay": ("optuna", "implicit"),
    "fairchem": (
        "ase",
        "ase.db",
        "ase.stress",
        "ase.geometry",
        "monty",
        "ray",
        "torchtnt.utils.distributed",
        "torchtnt.utils",
        "torchtnt.framework",
        "submitit",
        "wandb",
        "lmdb",
    ),
    "stable_audio_tools": (
        "torchaudio",
        "torchaudio.transforms",
        "k_diffusion",
        "k_diffusion.sampling",
        "pesq",
        "dac",
        "dac.nn.quantize",
        "dac.nn.layers",
        "dac.model.dac",
        "encodec",
        "encodec.msstftd",
        "nnAudio",
        "laion_clap",
        "transformers",
        "librosa",
        "librosa.filters",
    ),
    "audiotools": (
        "torchaudio",
        "librosa",
        "librosa.filters",
        "soundfile",
        "ffmpy",
        "flatten_dict",
        "randomname",
        "matplotlib",
        "matplotlib.pyplot",
        "IPython",
        "IPython.display",
        "gradio",
        "pystoi",
        "rich.markdown",
        "tensorboard",
        "torch_stoi",
        "importlib_resources",
        "markdown2",
    ),
    "garage": ("dowel", "gym", "gym.envs", "gym.spaces", "akro", "ray", "tensorflow", "dm_control", "cloudpickle"),
}
_BARE = (
    "replay",
    "replay.models",
    "replay.models.nn",
    "replay.data.nn.parquet",
    "fairchem",
    "fairchem.core",
    "fairchem.core.models",
    "fairchem.core.models.uma",
    "fairchem.core.models.uma.triton",
    "fairchem.core.models.escaip",
    "fairchem.core.modules",
    "fairchem.core.modules.normalization",
    "fairchem.core.datasets",
    "fairchem.core.common",
    "fairchem.core.graph",
    "stable_audio_tools",
    "stable_audio_tools.models",
    "stable_audio_tools.inference",
    "stable_audio_tools.training",
    "stable_audio_tools.training.losses",
    "garage",
)


def _nothing(*given: Any, **options: Any) -> None:
    """Stands for a function that nothing here needs."""


def _prepare(package: str) -> None:
    """What the packages import by names that newer versions of others no longer have."""
    if package == "stable_audio_tools":
        import scipy.signal
        import scipy.signal.windows

        for name in ("kaiser",):
            setattr(scipy.signal, name, getattr(scipy.signal.windows, name))
    if package == "garage":  # its own top has environments and samplers, which the models do not use
        sys.modules[package].__getattr__ = _Absent(package).__getattr__  # type: ignore[method-assign]
        sys.modules[package]._Default = _nothing  # type: ignore[attr-defined]
        for name in (
            "garage.sampler",
            "garage.np.algos",
            "garage.np.algos.rl_algorithm",
            "garage.experiment",
            "garage.replay_buffer",
        ):
            sys.modules.setdefault(name, _Absent(name))
    if package == "audiotools":
        sys.modules.setdefault("torch.utils.tensorboard", _Absent("torch.utils.tensorboard"))


_get = getter(_ABSENT, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_NL = "replay.nn.loss."
_NT = "replay.nn.transform."
_ITEMS = _t(20, 8)


def _logits(hidden: torch.Tensor, items: torch.Tensor | None = None) -> torch.Tensor:
    """The scores of all items, or of those that are asked for."""
    if items is None:
        return hidden @ _ITEMS.T
    chosen = _ITEMS[items]
    if items.dim() == 1:
        return hidden @ chosen.T
    return (hidden.unsqueeze(-2) * chosen).sum(-1) if hidden.dim() == items.dim() else hidden @ chosen.mT


def _rec_loss(name: str, *given: Any, negatives: Any = None, **options: Any) -> Built:
    loss = _get(_NL + name)(*given, **options)
    loss.logits_callback = _logits
    positive = _i(20, 3, 5, 1)
    negative = _i(20, 7) if negatives is None else negatives
    target_mask = _u(3, 5, 1) > 0.3
    weights = {"weight": _u(3, 5, 1)}
    return loss, [(_t(3, 5, 8), weights, positive, negative, _u(3, 5) > 0.2, target_mask)]


def _batch() -> dict[str, torch.Tensor]:
    return {
        "item_id": _i(20, 3, 6),
        "item_id_mask": torch.arange(6).expand(3, 6) > 1,
        "padding_mask": torch.arange(6).expand(3, 6) > 1,
        "target_padding_mask": torch.arange(6).expand(3, 6) > 2,
        "positive_labels": _i(20, 3, 6),
    }


def _transform(name: str, *given: Any, **options: Any) -> Built:
    return _get(_NT + name)(*given, **options), [(_batch(),)]


def _schema(*dims: int) -> Any:
    """A schema of an item and of what else describes a step."""
    info, kind, hint = (
        _get("replay.data.nn.schema.TensorFeatureInfo"),
        _get("replay.data.FeatureType"),
        _get("replay.data.FeatureHint"),
    )
    item = info("item_id", kind.CATEGORICAL, True, hint.ITEM_ID, cardinality=20, padding_value=20, embedding_dim=8)
    time = info("timestamp", kind.NUMERICAL, True, hint.TIMESTAMP, tensor_dim=1, embedding_dim=8)
    return _get("replay.data.nn.schema.TensorSchema")([item, time] if dims else [item])


def _sasrec(timed: bool = False) -> Built:
    made = _get("replay.models.nn.sequential.sasrec.model.SasRecModel")(
        _schema(1) if timed else _schema(), 2, 2, 8, 6, 0.0, timed, 16
    )
    tensors = {"item_id": _i(20, 3, 6)}
    if timed:
        tensors["timestamp"] = torch.cumsum(_i(9, 3, 6), 1)
    return made, [(tensors, torch.arange(6).expand(3, 6) > 1)]


def _bert4rec(tying: bool) -> Built:
    made = _get("replay.models.nn.sequential.bert4rec.model.Bert4RecModel")(_schema(), 6, 8, 2, 2, 1, 0.0, True, tying)
    return made, [({"item_id": _i(20, 3, 6)}, torch.arange(6).expand(3, 6) > 1, _u(3, 6) > 0.3)]


def _sce() -> Built:
    kind = "replay.models.nn.loss.sce."
    made = _get(kind + "ScalableCrossEntropyLoss")(_get(kind + "SCEParams")(4, 3, 5))
    return made, [(_t(3, 6, 8), _i(20, 3, 6), _t(20, 8), torch.arange(6).expand(3, 6) > 1)]


def _rec_metrics() -> Built:
    kind = _get("replay.metrics.torch_metrics_builder.TorchMetricsBuilder")

    def use(predictions: torch.Tensor, truth: torch.Tensor, train: torch.Tensor) -> Any:
        builder = kind(["recall", "ndcg", "map", "mrr", "novelty", "coverage"], [1, 3], 20)
        builder.reset()
        builder.add_prediction(predictions, truth, train)
        return builder.get_metrics()

    return use, [(_i(20, 4, 3), _i(20, 4, 5), _i(20, 4, 6))]


_REPLAY: dict[str, Callable[[], Built]] = {
    "BCE": lambda: _rec_loss("BCE"),
    "BCESampled": lambda: _rec_loss("BCESampled"),
    "CE": lambda: _rec_loss("CE"),
    "CEWeighted": lambda: _rec_loss("CEWeighted", "weight"),
    "CESampled": lambda: _rec_loss("CESampled"),
    "CESampled batch": lambda: _rec_loss("CESampled", negatives=_i(20, 3, 7)),
    "CESampled steps": lambda: _rec_loss("CESampled", negatives=_i(20, 3, 5, 7)),
    "CESampledWeighted": lambda: _rec_loss("CESampledWeighted", "weight"),
    "GroupedCESampled": lambda: _rec_loss("GroupedCESampled", 3, 20, negatives=_i(20, 1, 7)),
    "GroupedLogInCESampled": lambda: _rec_loss("GroupedLogInCESampled", 3, negatives=_i(20, 1, 7)),
    "LogInCE": lambda: _rec_loss("LogInCE", 20),
    "LogInCESampled": lambda: _rec_loss("LogInCESampled"),
    "LogOutCE": lambda: _rec_loss("LogOutCE", 20),
    "LogOutCEWeighted": lambda: _rec_loss("LogOutCEWeighted", 20, "weight"),
    "mask_negative_logits": lambda: _call(_NL + "base.mask_negative_logits", (_t(9, 7), _i(20, 7), _i(20, 9, 1), -100)),
    "weighted_mean": lambda: _call(_NL + "base.weighted_mean", (_t(9), _u(9))),
    "SCE": _sce,
    "CopyTransform": lambda: _transform("CopyTransform", {"item_id": "labels"}),
    "EqualityMaskTransform": lambda: _transform("EqualityMaskTransform", "item_id", 3),
    "GroupTransform": lambda: _transform("GroupTransform", {"features": ["item_id"]}),
    "UniformNegativeSamplingTransform": lambda: _transform("UniformNegativeSamplingTransform", 20, 5),
    "UniformNegativeSamplingTransform weighted": lambda: _transform(
        "UniformNegativeSamplingTransform", 20, 5, sample_distribution=_u(20)
    ),
    "NextTokenTransform": lambda: _transform("NextTokenTransform", "item_id", 1, "padding_mask"),
    "RenameTransform": lambda: _transform("RenameTransform", {"item_id": "items"}),
    "UnsqueezeTransform": lambda: _transform("UnsqueezeTransform", "item_id", -1),
    "SelectTransform": lambda: _transform("SelectTransform", ["item_id"]),
    "SequenceRollTransform": lambda: _transform("SequenceRollTransform", "item_id"),
    "TokenMaskTransform": lambda: _transform("TokenMaskTransform", "item_id_mask"),
    "TrimTransform": lambda: _transform("TrimTransform", 4, "item_id"),
    "AdaptiveTrimTransform": lambda: _transform("AdaptiveTrimTransform", ["item_id"]),
    "TargetAwareAdaptiveTrimTransform": lambda: _transform("TargetAwareAdaptiveTrimTransform", ["item_id"]),
    "SumAggregator": lambda: _made("replay.nn.agg.SumAggregator", [({"a": _t(2, 3, 8), "b": _t(2, 3, 8)},)], 8),
    "ConcatAggregator": lambda: _made(
        "replay.nn.agg.ConcatAggregator", [({"a": _t(2, 3, 8), "b": _t(2, 3, 4)},)], [8, 4], 8
    ),
    "MultiHeadDifferentialAttention": lambda: _made(
        "replay.nn.attention.MultiHeadDifferentialAttention",
        [(_t(2, 5, 8), _t(2, 5, 8), _t(2, 5, 8), torch.zeros(4, 5, 5))],
        8,
        2,
        0.3,
    ),
    "SequenceEmbedding": lambda: _made(
        "replay.nn.embedding.SequenceEmbedding",
        [({"item_id": _i(20, 3, 6), "timestamp": _t(3, 6, 1)},)],
        _schema(1),
    ),
    "SwiGLU": lambda: _made("replay.nn.ffn.SwiGLU", [(_t(2, 3, 8),)], 8, 12),
    "DefaultAttentionMask": lambda: _made(
        "replay.nn.mask.DefaultAttentionMask",
        [({"item_id": _i(20, 3, 6)}, torch.arange(6).expand(3, 6) > 1)],
        "item_id",
        2,
    ),
    "DiffTransformerLayer": lambda: _made(
        "replay.nn.sequential.sasrec.diff_transformer.DiffTransformerLayer",
        [({}, _t(2, 5, 8), torch.ones(2, 5, dtype=torch.bool), torch.zeros(4, 5, 5))],
        8,
        2,
        2,
    ),
    "SasRecModel": lambda: _sasrec(),
    "SasRecModel timed": lambda: _sasrec(True),
    "SasRecModel predict": lambda: held(
        _sasrec()[0], lambda m, x: m.predict({"item_id": x}, x > 1, torch.tensor([1, 4, 9])), (_i(20, 3, 6),)
    ),
    "Bert4RecModel": lambda: _bert4rec(False),
    "Bert4RecModel tying": lambda: _bert4rec(True),
    "TorchMetricsBuilder": _rec_metrics,
}

_FM = "fairchem.core.modules."
_FU = "fairchem.core.models.uma."
_FE = "fairchem.core.models.escaip.utils."
_FG = "fairchem.core.graph."
_NATOMS = torch.tensor([3, 4])
_IMAGES = torch.tensor([0, 0, 0, 1, 1, 1, 1])


@cache
def _atoms() -> Any:
    from torch_geometric.data import Data

    return Data(
        pos=_u(7, 3) * 4,
        natoms=_NATOMS,
        batch=_IMAGES,
        atomic_numbers=_i(9, 7),
        cell=torch.eye(3).repeat(2, 1, 1) * 5,
        pbc=torch.ones(2, 3, dtype=torch.bool),
    )


def _radius(name: str, *given: Any, **options: Any) -> Built:
    find = _get(_FG + "radius_graph_pbc." + name)

    def use(pos: torch.Tensor, cell: torch.Tensor) -> Any:
        data = _atoms().clone()
        data.pos, data.cell = pos, cell
        return find(data, *given, **options)

    return use, [(_atoms().pos, _atoms().cell)]


def _evaluated(name: str, *keys: str) -> Built:
    function = _get(_FM + "evaluator." + name)

    def use(x: torch.Tensor, y: torch.Tensor, e: torch.Tensor, d: torch.Tensor) -> Any:
        target = {"forces": y, "energy": d, "natoms": _NATOMS}
        return function({"forces": x, "energy": e, "natoms": _NATOMS}, target, *keys)

    return use, [(_t(7, 3), _t(7, 3), _t(2), _t(2))]


def _uma_conv(name: str, *given: Any, inputs: Any, **options: Any) -> Built:
    mapping = _get(_FU + "common.so3.CoefficientMapping")(2, 2)
    return _made(_FU + "nn.so2_layers." + name, [inputs], 4, 4, 2, 2, mapping, *given, **options)


_FAIRCHEM: dict[str, Callable[[], Built]] = {
    "MAELoss": lambda: _made(_FM + "loss.MAELoss", [(_t(7, 3), _t(7, 3), _NATOMS)]),
    "PerAtomMAELoss": lambda: _made(_FM + "loss.PerAtomMAELoss", [(_t(2), _t(2), _NATOMS)]),
    "L2NormLoss": lambda: _made(_FM + "loss.L2NormLoss", [(_t(7, 3), _t(7, 3), _NATOMS)]),
    "DDPMTLoss": lambda: _made(
        _FM + "loss.DDPMTLoss",
        [(_t(7, 3), _t(7, 3), _u(7) > 0.4, _NATOMS)],
        _get(_FM + "loss.L2NormLoss")(),
    ),
    "DDPMTLoss structures": lambda: _made(
        _FM + "loss.DDPMTLoss",
        [(_t(7, 3), _t(7, 3), _u(7) > 0.4, _NATOMS)],
        _get(_FM + "loss.L2NormLoss")(),
        "per_structure",
    ),
    "DDPLoss": lambda: _made(_FM + "loss.DDPLoss", [(_t(2), _t(2), _NATOMS)], "mae", "mean"),
    "cosine_similarity": lambda: _evaluated("cosine_similarity", "forces"),
    "mae": lambda: _evaluated("mae", "forces"),
    "mse": lambda: _evaluated("mse", "forces"),
    "per_atom_mae": lambda: _evaluated("per_atom_mae", "energy"),
    "magnitude_error": lambda: _evaluated("magnitude_error", "forces"),
    "forcesx_mae": lambda: _evaluated("forcesx_mae"),
    "energy_forces_within_threshold": lambda: _evaluated("energy_forces_within_threshold"),
    "energy_within_threshold": lambda: _evaluated("energy_within_threshold"),
    "rmse": lambda: _evaluated("rmse", "energy"),
    "Normalizer": lambda: _made(_FM + "normalization.normalizer.Normalizer", [(_t(7),)], 0.1, 2.0),
    "Normalizer norm": lambda: _method(_FM + "normalization.normalizer.Normalizer", "norm", [(_t(7),)], 0.1, 2.0),
    "LinearReferences": lambda: held(
        _get(_FM + "normalization.element_references.LinearReferences")(_t(12)),
        lambda m, x: m(x, _atoms()),
        (_t(2, 1),),
    ),
    "ScaleFactor": lambda: _made(_FM + "scaling.scale_factor.ScaleFactor", [(_t(7),)], "scale"),
    "Act": lambda: _made("fairchem.core.models.utils.activations.Act", [(_t(7),)], "swish"),
    "SIREN": lambda: _made("fairchem.core.models.utils.basis.SIREN", [(_t(7, 4),)], [8, 8], 4, 3),
    "FourierSmearing": lambda: _made("fairchem.core.models.utils.basis.FourierSmearing", [(_t(7, 4),)], 4, 6, True),
    "Basis": lambda: _made("fairchem.core.models.utils.basis.Basis", [(_t(7, 4),)], 4, 6),
    "get_pbc_distances": lambda: _using(
        _FG + "compute.get_pbc_distances",
        lambda f, x, c: f(x, torch.tensor([[0, 1, 4], [1, 2, 5]]), c, torch.zeros(3, 3), torch.tensor([2, 1]), True),
        (_u(7, 3), _atoms().cell),
    ),
    "wrap_positions": lambda: _call(
        _FG + "geometry.wrap_positions", (_t(7, 3), torch.eye(3) * 2, torch.ones(3).bool())
    ),
    "minimum_image_displacement": lambda: _call(
        _FG + "geometry.minimum_image_displacement", (_t(7, 3), torch.eye(3)[None] * 2, torch.ones(1, 3).bool())
    ),
    "sum_partitions": lambda: _call(_FG + "radius_graph_pbc.sum_partitions", (_t(7), torch.tensor([0, 3, 7]))),
    "get_counts": lambda: _using(_FG + "radius_graph_pbc.get_counts", lambda f, x: f(x, 7), (_i(7, 12),)),
    "get_max_neighbors_mask": lambda: _using(
        _FG + "radius_graph_pbc.get_max_neighbors_mask",
        lambda f, i, d: f(_NATOMS, i, d, 2),
        (_i(7, 20).sort().values, _u(20)),
    ),
    "radius_graph_pbc": lambda: _radius("radius_graph_pbc", 3.0, 10),
    "radius_graph_pbc strict": lambda: _radius("radius_graph_pbc", 3.0, 2, True),
    "radius_graph_pbc_v2": lambda: _radius("radius_graph_pbc_v2", 3.0, 10),
    "is_mixed_pbc": lambda: _radius("is_mixed_pbc"),
    "canonical_pbc": lambda: _radius("canonical_pbc", None),
    "ScaledSwiGLU": lambda: _made(_FU + "nn.activation.ScaledSwiGLU", [(_t(7, 4),)], 4, 6),
    "GateActivation": lambda: _made(_FU + "nn.activation.GateActivation", [(_t(7, 8), _t(7, 9, 4))], 2, 2, 4),
    "SmoothLeakyReLU": lambda: _made(_FU + "nn.activation.SmoothLeakyReLU", [(_t(7, 4),)]),
    "GraphDropPath": lambda: _made(_FU + "nn.dropout.GraphDropPath", [(_t(7, 4), _IMAGES)], 0.3),
    "EquivariantDropoutArraySphericalHarmonics": lambda: _made(
        _FU + "nn.dropout.EquivariantDropoutArraySphericalHarmonics", [(_t(7, 9, 4), _IMAGES)], 0.3, True
    ),
    "ChgSpinEmbedding pos": lambda: _made(
        _FU + "nn.embedding.ChgSpinEmbedding", [(_i(3, 4).float(),)], "pos_emb", "charge", 8, False
    ),
    "ChgSpinEmbedding lin": lambda: _made(
        _FU + "nn.embedding.ChgSpinEmbedding", [(_i(3, 4).float(),)], "lin_emb", "spin", 8, True
    ),
    "ChgSpinEmbedding rand": lambda: _made(
        _FU + "nn.embedding.ChgSpinEmbedding", [(_i(3, 4),)], "rand_emb", "spin", 8, True
    ),
    "DatasetEmbedding": lambda: held(
        _get(_FU + "nn.embedding.DatasetEmbedding")(8, True, {"a": "a", "b": "b"}),
        lambda m, x: m(["a", "b"]) + x,
        (_t(2, 8),),
    ),
    "EquivariantLayerNormArray": lambda: _made(_FU + "nn.layer_norm.EquivariantLayerNormArray", [(_t(7, 9, 4),)], 2, 4),
    "EquivariantLayerNormArraySphericalHarmonics": lambda: _made(
        _FU + "nn.layer_norm.EquivariantLayerNormArraySphericalHarmonics", [(_t(7, 9, 4),)], 2, 4
    ),
    "EquivariantRMSNormArraySphericalHarmonicsV2": lambda: _made(
        _FU + "nn.layer_norm.EquivariantRMSNormArraySphericalHarmonicsV2", [(_t(7, 9, 4),)], 2, 4
    ),
    "PolynomialEnvelope": lambda: _made(_FU + "nn.radial.PolynomialEnvelope", [(_u(7),)]),
    "GaussianSmearing": lambda: _made(_FU + "nn.radial.GaussianSmearing", [(_u(7),)]),
    "RadialMLP": lambda: _made(_FU + "nn.radial.RadialMLP", [(_t(7, 4),)], [4, 8, 6]),
    "SO2_Convolution": lambda: _uma_conv("SO2_Convolution", inputs=(_t(6, 9, 4),)),
    "SO2_Convolution edges": lambda: _uma_conv("SO2_Convolution", False, [5, 8], 3, inputs=(_t(6, 9, 4), _t(6, 5))),
    "SO3_Linear": lambda: _made(_FU + "nn.so3_layers.SO3_Linear", [(_t(7, 9, 4),)], 4, 6, 2),
    "SO3_Grid": lambda: held(
        _get(_FU + "common.so3.SO3_Grid")(2, 2), lambda m, x: m.from_grid(m.to_grid(x, 2, 2), 2, 2), (_t(7, 9, 4),)
    ),
    "init_edge_rot_euler_angles": lambda: _call(_FU + "common.rotation.init_edge_rot_euler_angles", (_t(7, 3),)),
    "CalcSpherePoints": lambda: _using(
        _FU + "common.sampling.CalcSpherePoints", lambda f, x: f(12).to(x.dtype) + x, (_t(12, 3),)
    ),
    "quaternion_multiply": lambda: _call(
        _FU + "common.quaternion.quaternion_utils.quaternion_multiply", (_t(7, 4), _t(7, 4))
    ),
    "quaternion_edge_to_y_stable": lambda: _call(
        _FU + "common.quaternion.quaternion_utils.quaternion_edge_to_y_stable", (_t(7, 3),)
    ),
    "reduce_node_to_system": lambda: _call(_FU + "outputs.reduce_node_to_system", (_t(7, 1), _IMAGES, 2)),
    "compute_forces": lambda: _using(
        _FU + "outputs.compute_forces", lambda f, x: f((x**2).sum(-1), x), (_t(7, 3).requires_grad_(),)
    ),
    "get_node_direction_expansion_neighbor": lambda: _call(
        _FE + "graph_utils.get_node_direction_expansion_neighbor", (_t(7, 4, 3), _u(7, 4) > 0.3, 2)
    ),
    "map_sender_receiver_feature": lambda: _call(
        _FE + "graph_utils.map_sender_receiver_feature", (_t(7, 4), _t(7, 4), _i(7, 7, 3))
    ),
    "get_attn_mask": lambda: _using(
        _FE + "graph_utils.get_attn_mask", lambda f, x, m: f(x, m, 2, 2, "scalar"), (_t(7, 4, 3), _u(7, 4) > 0.3)
    ),
    "get_attn_mask_env": lambda: _call(_FE + "graph_utils.get_attn_mask_env", (_u(7, 4), 2)),
    "patch_singleton_atom": lambda: _call(
        _FE + "graph_utils.patch_singleton_atom", (_t(7, 4, 3), _i(7, 7, 4), _u(7, 4) > 0.6)
    ),
    "unpad_results": lambda: _using(
        _FE + "graph_utils.unpad_results",
        lambda f, x, y: f({"forces": x, "energy": y}, torch.arange(7) < 5, torch.arange(2) < 1),
        (_t(7, 3), _t(2)),
    ),
    "compilable_scatter": lambda: _call(_FE + "graph_utils.compilable_scatter", (_t(7, 4), _IMAGES, 2, 0, "mean")),
    "build_radius_graph": lambda: _using(
        _FE + "radius_graph.build_radius_graph",
        lambda f, x, c: f(x, c, torch.zeros(1, 3), 3.0, 0, torch.device("cpu"), 3),
        (_u(5, 3), torch.eye(3) * 5),
    ),
    "soft_rank": lambda: _using(_FE + "radius_graph.soft_rank", lambda f, x: f(x, 0.2), (_u(5, 6),)),
    "soft_rank_low_mem": lambda: _using(
        _FE + "radius_graph.soft_rank_low_mem", lambda f, x: f(x, 3, 0.2, 2), (_u(5, 30),)
    ),
    "StochasticDepth": lambda: _made(_FE + "stochastic_depth.StochasticDepth", [(_t(7, 4), _t(7, 3, 4), _IMAGES)], 0.3),
    "SiLUSmearing": lambda: _made(_FE + "smearing.SiLUSmearing", [(_u(7),)]),
    "tensor_stats": lambda: _using("fairchem.core.common.utils.tensor_stats", lambda f, x: f("x", x), (_t(7),)),
}

_SM = "stable_audio_tools.models."
_ST = "stable_audio_tools.training.losses."


def _bottle(name: str, *given: Any, info: bool = True, **options: Any) -> Built:
    made = _get(_SM + "bottleneck." + name)(*given, **options)
    return held(made, lambda m, x: m.encode(x, return_info=info), (_t(2, 8, 6),))


def _pattern(name: str, *given: Any) -> Built:
    pattern = _get(_SM + "codebook_patterns." + name)(3, *given).get_pattern(6)

    def use(x: torch.Tensor) -> Any:
        made, _, mask = pattern.build_pattern_sequence(x, 31)
        back, _, _ = pattern.revert_pattern_sequence(made, 31)
        return made, mask, back

    return use, [(_i(30, 2, 3, 6),)]


def _sampled(name: str, **options: Any) -> Built:
    sample = _get("stable_audio_tools.inference.sampling." + name)
    layer = nn.Conv1d(2, 2, 1)
    return (lambda x: sample(lambda y, t, **_: layer(y) * t[:, None, None], x, **options)), [(_t(2, 2, 16),)]


def _stft_loss(name: str, **options: Any) -> Built:
    inputs = (_t(2, 2, 2048), _t(2, 2, 2048)) if name.startswith("Sum") else (_t(2, 1, 2048), _t(2, 1, 2048))
    return _made(_ST + "auraloss." + name, [inputs], **options)


def _info_loss(name: str, *given: Any, **options: Any) -> Built:
    made = _get(_ST + "losses." + name)(*given, **options)
    return held(
        made,
        lambda m, x, y, k: m({"a": x, "b": y, "mask": k}),
        (_t(2, 2, 32), _t(2, 2, 32), _u(2, 2, 32) > 0.3),
    )


_STABLE: dict[str, Callable[[], Built]] = {
    "pad_for_conv1d": lambda: _call(_SM + "adp.pad_for_conv1d", (_t(2, 2, 15), 4, 2, 1)),
    "pad1d": lambda: _call(_SM + "adp.pad1d", (_t(2, 2, 3), (4, 4), "reflect")),
    "ConvBlock1d": lambda: _made(_SM + "adp.ConvBlock1d", [(_t(2, 8, 15),)], 8, 8),
    "ResnetBlock1d": lambda: _made(
        _SM + "adp.ResnetBlock1d", [(_t(2, 8, 15), _t(2, 4))], 8, 8, context_mapping_features=4
    ),
    "Patcher": lambda: _made(_SM + "adp.Patcher", [(_t(2, 2, 16),)], 2, 8, 4),
    "Attention adp": lambda: held(
        _get(_SM + "adp.Attention")(8, head_features=4, num_heads=2, context_features=6),
        lambda m, x, c, k: m(x, c, k, causal=True),
        (_t(2, 5, 8), _t(2, 4, 6), _u(2, 4) > 0.2),
    ),
    "Transformer1d": lambda: _made(_SM + "adp.Transformer1d", [(_t(2, 32, 6),)], 1, 32, 2, 4, 2),
    "UNet1d": lambda: _made(
        _SM + "adp.UNet1d",
        [(_t(1, 2, 32), _u(1))],
        2,
        8,
        [1, 2],
        [2],
        [1],
        [0],
        resnet_groups=4,
    ),
    "UNetCFG1d": lambda: held(
        _get(_SM + "adp.UNetCFG1d")(
            4,
            6,
            in_channels=2,
            channels=32,
            multipliers=[1, 1],
            factors=[2],
            num_blocks=[1],
            attentions=[1],
            attention_heads=2,
            attention_features=4,
            attention_multiplier=2,
            use_context_time=True,
        ),
        lambda m, x, t, e: m(
            x, t, embedding=e, embedding_scale=2.0, embedding_mask_proba=0.1, batch_cfg=True, rescale_cfg=True
        ),
        (_t(1, 2, 32), _u(1), _t(1, 4, 6)),
    ),
    "NumberEmbedder": lambda: _made(_SM + "adp.NumberEmbedder", [(_t(3),)], 8, 8),
    "NumberEmbedder list": lambda: held(
        _get(_SM + "adp.NumberEmbedder")(8, 8), lambda m, x: m([1.0, 2.0]) + x, (_t(2, 8),)
    ),
    "STFT": lambda: held(_get(_SM + "adp.STFT")(63, 16), lambda m, x: m.encode(x), (_t(2, 1, 512),)),
    "STFT 1d": lambda: held(
        _get(_SM + "adp.STFT")(63, 16, use_complex=True), lambda m, x: m.encode1d(x), (_t(2, 1, 512),)
    ),
    "rand_bool": lambda: _using(_SM + "adp.rand_bool", lambda f, x: f((2, 1, 1), 0.5) & (x > 0), (_t(2, 3, 3),)),
    "fold_channels_into_batch": lambda: _call(_SM + "autoencoders.fold_channels_into_batch", (_t(2, 3, 8),)),
    "AudioAutoencoder": lambda: held(
        _get(_SM + "autoencoders.AudioAutoencoder")(
            _get(_SM + "autoencoders.OobleckEncoder")(2, 8, 8, [1, 2], [2, 2]),
            _get(_SM + "autoencoders.OobleckDecoder")(2, 8, 4, [1, 2], [2, 2]),
            4,
            4,
            100,
            bottleneck=_get(_SM + "bottleneck.VAEBottleneck")(),
            soft_clip=True,
        ),
        lambda m, x: m.decode(m.encode(x)),
        (_t(1, 2, 64),),
    ),
    "AudioAutoencoder chunked": lambda: held(
        _get(_SM + "autoencoders.AudioAutoencoder")(
            _get(_SM + "autoencoders.OobleckEncoder")(2, 8, 4, [1, 2], [2, 2]),
            _get(_SM + "autoencoders.OobleckDecoder")(2, 8, 4, [1, 2], [2, 2]),
            4,
            4,
            100,
        ),
        lambda m, x: m.encode_audio(x, chunked=True, overlap=4, chunk_size=16),
        (_t(1, 2, 128),),
    ),
    "ResConvBlock": lambda: _made(_SM + "blocks.ResConvBlock", [(_t(2, 4, 16),)], 4, 6, 4),
    "SelfAttention1d": lambda: _made(_SM + "blocks.SelfAttention1d", [(_t(2, 8, 16),)], 8, 2),
    "FourierFeatures": lambda: _made(_SM + "blocks.FourierFeatures", [(_t(5, 1),)], 1, 8),
    "Downsample1d": lambda: _made(_SM + "blocks.Downsample1d", [(_t(2, 4, 16),)], "cubic"),
    "Upsample1d": lambda: _made(_SM + "blocks.Upsample1d", [(_t(2, 4, 16),)], "cubic"),
    "AdaRMSNorm": lambda: _made(_SM + "blocks.AdaRMSNorm", [(_t(2, 4, 8), _t(2, 4, 6))], 8, 6),
    "ForcedWNConv1d": lambda: _made(_SM + "blocks.ForcedWNConv1d", [(_t(2, 4, 8),)], 4, 6),
    "SnakeBeta": lambda: _made(_SM + "blocks.SnakeBeta", [(_t(2, 4, 8),)], 4),
    "TanhBottleneck": lambda: _bottle("TanhBottleneck"),
    "SoftNormBottleneck": lambda: _bottle("SoftNormBottleneck", 8, 0, True),
    "VAEBottleneck": lambda: _bottle("VAEBottleneck"),
    "WassersteinBottleneck": lambda: _bottle("WassersteinBottleneck", 2),
    "L2Bottleneck": lambda: _bottle("L2Bottleneck"),
    "DitheredFSQ": lambda: _made(_SM + "fsq.DitheredFSQ", [(_t(2, 6, 3),)], [4, 4, 4], num_codebooks=1),
    "DelayedPatternProvider": lambda: _pattern("DelayedPatternProvider"),
    "UnrolledPatternProvider": lambda: _pattern("UnrolledPatternProvider", [0, 1, 1], [0, 2, 2]),
    "CoarseFirstPattern": lambda: _pattern("CoarseFirstPattern"),
    "get_hinge_losses": lambda: _call(_SM + "discriminators.get_hinge_losses", (_t(3, 4), _t(3, 4))),
    "OobleckDiscriminator": lambda: held(
        _get(_SM + "discriminators.OobleckDiscriminator")(1),
        lambda m, x, y: m.loss(x, y),
        (_t(1, 1, 512), _t(1, 1, 512)),
    ),
    "random_inpaint_mask": lambda: _call(
        _SM + "inpainting.random_inpaint_mask", (_t(3, 4, 32), torch.arange(32).expand(3, 32) < 28)
    ),
    "ScaledSinusoidalEmbedding": lambda: _made(_SM + "transformer.ScaledSinusoidalEmbedding", [(_t(2, 6, 8),)], 8),
    "RunningInstanceNorm": lambda: _made(_SM + "transformer.RunningInstanceNorm", [(_t(2, 6, 8),)], 8),
    "GLU": lambda: _made(_SM + "transformer.GLU", [(_t(2, 6, 8),)], 8, 6, nn.SiLU(), use_conv=True),
    "FeedForward": lambda: _made(_SM + "transformer.FeedForward", [(_t(2, 6, 8),)], 8, use_conv=True),
    "Attention": lambda: _made(_SM + "transformer.Attention", [(_t(2, 6, 16),)], 16, 8, qk_norm="ln"),
    "Attention differential": lambda: _made(
        _SM + "transformer.Attention", [(_t(2, 6, 16),)], 16, 8, differential=True, feat_scale=True
    ),
    "ConformerModule": lambda: _made(_SM + "transformer.ConformerModule", [(_t(2, 6, 16),)], 16),
    "ContinuousTransformer": lambda: held(
        _get(_SM + "transformer.ContinuousTransformer")(
            64, 2, dim_in=8, dim_out=8, dim_heads=32, cross_attend=True, cond_token_dim=64, global_cond_dim=4
        ),
        lambda m, x, c, g: m(x, context=c, global_cond=g, return_info=True, use_checkpointing=False),
        (_t(2, 6, 8), _t(2, 4, 64), _t(2, 4)),
    ),
    "ContinuousTransformer causal": lambda: held(
        _get(_SM + "transformer.ContinuousTransformer")(
            64, 2, dim_heads=32, causal=True, conformer=True, use_abs_pos_emb=True, num_memory_tokens=2
        ),
        lambda m, x, p: m(x, prepend_embeds=p),
        (_t(2, 6, 64), _t(2, 1, 64)),
    ),
    "WaveletEncode1d": lambda: _made(_SM + "wavelets.WaveletEncode1d", [(_t(2, 2, 64),)], 2, 2),
    "sample_top_k": lambda: _call(_SM + "utils.sample_top_k", (_u(2, 8), 3)),
    "sample_top_p": lambda: _call(_SM + "utils.sample_top_p", (_u(2, 8), 0.7)),
    "DistributionShift": lambda: held(
        _get("stable_audio_tools.inference.sampling.DistributionShift")(),
        lambda m, t: m.time_shift(t, 512),
        (_u(6),),
    ),
    "truncated_logistic_normal_rescaled": lambda: _using(
        "stable_audio_tools.inference.sampling.truncated_logistic_normal_rescaled",
        lambda f, x: f(x.shape) + x,
        (_t(6),),
    ),
    "sample_discrete_euler": lambda: _sampled("sample_discrete_euler", steps=3, disable_tqdm=True),
    "sample_rk4": lambda: _sampled("sample_rk4", steps=3),
    "sample_flow_dpmpp": lambda: _sampled("sample_flow_dpmpp", steps=3, disable_tqdm=True),
    "sample_flow_pingpong": lambda: _sampled("sample_flow_pingpong", steps=3),
    "sample": lambda: _sampled("sample", steps=3, eta=0.5),
    "get_bmask": lambda: _using(
        "stable_audio_tools.inference.sampling.get_bmask", lambda f, x: f(2, 6, x), (_u(2, 16),)
    ),
    "STFTLoss": lambda: _stft_loss("STFTLoss", fft_size=64, hop_size=16, win_length=64, w_phs=1.0),
    "MultiResolutionSTFTLoss": lambda: _stft_loss(
        "MultiResolutionSTFTLoss", fft_sizes=[64, 128], hop_sizes=[16, 32], win_lengths=[64, 128]
    ),
    "SumAndDifferenceSTFTLoss": lambda: _stft_loss(
        "SumAndDifferenceSTFTLoss", fft_sizes=[64, 128], hop_sizes=[16, 32], win_lengths=[64, 128], output="full"
    ),
    "SISDRLoss": lambda: _stft_loss("SISDRLoss"),
    "FIRFilter": lambda: _stft_loss("FIRFilter", filter_type="hp"),
    "L1Loss": lambda: _info_loss("L1Loss", "a", "b", mask_key="mask"),
    "MSELoss": lambda: _info_loss("MSELoss", "a", "b", mask_key="mask"),
    "ValueLoss": lambda: _info_loss("ValueLoss", "a", "value", decay=0.9),
    "StereoImageLoss": lambda: _info_loss("StereoImageLoss", "a", "b"),
    "TimeDomainMMDLoss": lambda: _info_loss("TimeDomainMMDLoss", "a", "b"),
    "MultiLoss": lambda: held(
        _get(_ST + "losses.MultiLoss")(
            [_get(_ST + "losses.L1Loss")("a", "b"), _get(_ST + "losses.MSELoss")("a", "b", 0.5)]
        ),
        lambda m, x, y: m({"a": x, "b": y}),
        (_t(2, 32), _t(2, 32)),
    ),
    "mmd": lambda: _call(_ST + "utils.mmd", (_t(4, 8), _t(4, 8))),
    "grouped_mmd": lambda: _call(_ST + "utils.grouped_mmd", (_t(2, 4, 8), _t(2, 4, 8))),
    "DynamicLossWeighting": lambda: _made(_ST + "utils.DynamicLossWeighting", [(_t(1),)]),
}


def _signal(use: Callable[..., Any], *more: Any) -> Built:
    """A use of a signal that the model makes of samples."""
    kind, params = _get("audiotools.AudioSignal"), _get("audiotools.STFTParams")

    def made(x: torch.Tensor, *others: Any) -> Any:
        return use(kind(x, 8000, stft_params=params(256, 64)), *others)

    return made, [(_t(2, 1, 4000) * 0.1, *more)]


def _two(path: str, **options: Any) -> Built:
    made = _get("audiotools.metrics." + path)(**options)
    kind = _get("audiotools.AudioSignal")
    return (lambda x, y: made(kind(x, 8000), kind(y, 8000))), [(_t(2, 1, 4000), _t(2, 1, 4000))]


_AUDIO: dict[str, Callable[[], Built]] = {
    "magnitude": lambda: _signal(lambda s: s.magnitude),
    "log_magnitude": lambda: _signal(lambda s: s.log_magnitude()),
    "phase": lambda: _signal(lambda s: s.phase),
    "stft istft": lambda: _signal(lambda s: (s.stft(), s.istft().audio_data)[1]),
    "stft match": lambda: _signal(lambda s: s.stft(256, 64, match_stride=True)),
    "zero_pad": lambda: _signal(lambda s: s.zero_pad(10, 20).audio_data),
    "zero_pad_to": lambda: _signal(lambda s: s.zero_pad_to(5000).audio_data),
    "trim": lambda: _signal(lambda s: s.trim(10, 20).audio_data),
    "to_mono": lambda: _signal(lambda s: s.to_mono().audio_data),
    "clone": lambda: _signal(lambda s: s.clone().audio_data),
    "add": lambda: _signal(lambda s: (s + s.clone()).audio_data),
    "scale": lambda: _signal(lambda s: (s * 0.5).audio_data),
    "getitem": lambda: _signal(lambda s: s[0].audio_data),
    "getitem mask": lambda: _signal(lambda s, k: s[k].audio_data, torch.tensor([True, False])),
    "low_pass": lambda: _signal(lambda s: s.low_pass(1000.0).audio_data),
    "high_pass": lambda: _signal(lambda s: s.high_pass(torch.tensor([500.0, 900.0])).audio_data),
    "mask_frequencies": lambda: _signal(lambda s: s.mask_frequencies(500.0, 1000.0).audio_data),
    "mask_timesteps": lambda: _signal(lambda s: s.mask_timesteps(0.1, 0.2).audio_data),
    "mask_low_magnitudes": lambda: _signal(lambda s: s.mask_low_magnitudes(-20.0).audio_data),
    "shift_phase": lambda: _signal(lambda s: s.shift_phase(0.3).audio_data),
    "corrupt_phase": lambda: _signal(lambda s: s.corrupt_phase(0.3).audio_data),
    "preemphasis": lambda: _signal(lambda s: s.preemphasis().audio_data),
    "collect_windows": lambda: _signal(lambda s: s.collect_windows(0.1, 0.05).audio_data),
    "overlap_and_add": lambda: _signal(lambda s: s.collect_windows(0.1, 0.05).overlap_and_add(0.05).audio_data),
    "convolve": lambda: _signal(lambda s: s.convolve(s.clone()).audio_data),
    "ensure_max_of_audio": lambda: _signal(lambda s: s.ensure_max_of_audio().audio_data),
    "volume_change": lambda: _signal(lambda s: s.volume_change(torch.tensor([-3.0, 2.0])).audio_data),
    "volume_change number": lambda: _signal(lambda s: s.volume_change(-3.0).audio_data),
    "equalizer": lambda: _signal(lambda s, db: s.equalizer(db).audio_data, _t(2, 4)),
    "clip_distortion": lambda: _signal(lambda s: s.clip_distortion(0.1).audio_data),
    "quantization": lambda: _signal(lambda s: s.quantization(8).audio_data),
    "mulaw_quantization": lambda: _signal(lambda s: s.mulaw_quantization(torch.tensor([8, 16])).audio_data),
    "decompose_ir": lambda: _signal(lambda s: s.decompose_ir()),
    "measure_drr": lambda: _signal(lambda s: s.measure_drr()),
    "alter_drr": lambda: _signal(lambda s: s.alter_drr(10.0).audio_data),
    "ensure_tensor": lambda: _call("audiotools.core.util.ensure_tensor", (_t(2), 3, 2)),
    "ensure_tensor number": lambda: _using(
        "audiotools.core.util.ensure_tensor", lambda f, x: f(0.3, 2, 2) + x, (_t(2, 1),)
    ),
    "hz_to_bin": lambda: _call("audiotools.core.util.hz_to_bin", (_u(2, 3) * 4000, 256, 8000)),
    "random_state": lambda: _using("audiotools.core.util.random_state", lambda f, x: x * f(3).rand(), (_t(2),)),
    "sample_from_dist": lambda: _using(
        "audiotools.core.util.sample_from_dist", lambda f, x: x * f(("uniform", 0.0, 1.0)), (_t(2),)
    ),
    "L1Loss": lambda: _two("distance.L1Loss"),
    "SISDRLoss": lambda: _two("distance.SISDRLoss", clip_min=-30),
    "MultiScaleSTFTLoss": lambda: _two("spectral.MultiScaleSTFTLoss", window_lengths=[256, 64]),
    "PhaseLoss": lambda: _two("spectral.PhaseLoss", window_length=256, hop_length=64),
    "SpectralGate": lambda: held(
        _get("audiotools.ml.layers.spectral_gate.SpectralGate")(),
        lambda m, x, y: (
            m(
                _get("audiotools.AudioSignal")(x, 8000), _get("audiotools.AudioSignal")(y, 8000), 1.0, 3.0, 256, 64
            ).audio_data
        ),
        (_t(2, 1, 4000), _t(2, 1, 4000)),
    ),
}

_GF = "garage.torch._functions."
_GM = "garage.torch.modules."


def _mlp(name: str, *given: Any, inputs: Any = None, **options: Any) -> Built:
    return held(
        _get(_GM + name)(*given, **options),
        lambda m, *x: m(*x),
        inputs or (_t(5, 4),),
    )


def _gaussian(name: str, **options: Any) -> Built:
    made = _get(_GM + "gaussian_mlp_module." + name)(4, 3, **options)
    return held(made, lambda m, x, y: m(x).log_prob(y), (_t(5, 4), _u(5, 3) * 0.5))


def _algorithm(path: str, **fields: Any) -> Any:
    """An algorithm without the sampler and environment that its constructor asks for."""
    kind = _get("garage.torch.algos." + path)
    made = kind.__new__(kind)
    for name, value in fields.items():
        setattr(made, name, value)
    return made


class _Policy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Linear(4, 3)

    def forward(self, x: torch.Tensor) -> Any:
        return torch.distributions.Categorical(logits=self.net(x)), {}


def _policy_loss(name: str, **options: Any) -> Built:
    made = _algorithm(
        name,
        policy=_Policy(),
        _old_policy=_Policy(),
        _lr_clip_range=0.2,
        _policy_ent_coeff=0.01,
        _maximum_entropy=False,
        _entropy_regularzied=True,
        _use_softplus_entropy=True,
        _stop_entropy_gradient=True,
        _center_adv=True,
        _positive_adv=True,
        _discount=0.99,
        _gae_lambda=0.9,
        max_episode_length=4,
        **options,
    )
    return (lambda o, a, r, adv: made._compute_loss_with_adv(o, a, r, adv)), [(_t(8, 4), _i(3, 8), _t(8), _t(8))]


def _advantage() -> Built:
    made = _algorithm(
        "vpg.VPG", _discount=0.99, _gae_lambda=0.9, max_episode_length=4, _center_adv=True, _positive_adv=True
    )
    return (lambda r, b: made._compute_advantage(r, torch.tensor([4, 3]), b)), [(_t(2, 4), _t(2, 4))]


_GARAGE: dict[str, Callable[[], Built]] = {
    "compute_advantages": lambda: _using(
        _GF + "compute_advantages", lambda f, b, r: f(0.99, 0.9, 4, b, r), (_t(2, 4), _t(2, 4))
    ),
    "filter_valids": lambda: _using(_GF + "filter_valids", lambda f, x: f(x, [3, 2]), (_t(2, 4),)),
    "filter_valids tensor": lambda: _call(_GF + "filter_valids", (_t(2, 4), torch.tensor([3, 2]))),
    "pad_to_last": lambda: _using(_GF + "pad_to_last", lambda f, x: f(x, 6), (_t(2, 4),)),
    "flatten_batch": lambda: _call(_GF + "flatten_batch", (_t(2, 4, 3),)),
    "flatten_to_single_vector": lambda: _call(_GF + "flatten_to_single_vector", (_t(2, 4, 3),)),
    "product_of_gaussians": lambda: _call(_GF + "product_of_gaussians", (_t(4), _u(4))),
    "NonLinearity": lambda: _made(_GF + "NonLinearity", [(_t(4),)], torch.tanh),
    "torch_to_np": lambda: _using(_GF + "torch_to_np", lambda f, x, y: f((x, y)), (_t(4), _t(4))),
    "as_torch_dict": lambda: _using(_GF + "as_torch_dict", lambda f, x: f({"a": x.numpy()}), (_t(4),)),
    "soft_update_model": lambda: _using(
        _GF + "soft_update_model", lambda f, x: (f(_LAYER_A, _LAYER_B, 0.1), _LAYER_A(x))[1], (_t(2, 4),)
    ),
    "update_module_params": lambda: _using(
        _GF + "update_module_params",
        lambda f, x: (f(_LAYER_A, {"weight": x, "bias": x[0]}), x)[1],
        (_t(4, 4),),
    ),
    "TanhNormal log_prob": lambda: _using(
        "garage.torch.distributions.tanh_normal.TanhNormal",
        lambda c, m, s, x: c(m, s).log_prob(x),
        (_t(5), _u(5) + 0.1, _u(5) * 0.5),
    ),
    "TanhNormal rsample": lambda: _using(
        "garage.torch.distributions.tanh_normal.TanhNormal",
        lambda c, m, s: c(m, s).rsample_with_pre_tanh_value(),
        (_t(5), _u(5) + 0.1),
    ),
    "MLPModule": lambda: _mlp("mlp_module.MLPModule", 4, 3, (8, 8), layer_normalization=True),
    "MultiHeadedMLPModule": lambda: _mlp("multi_headed_mlp_module.MultiHeadedMLPModule", 2, 4, (3, 2), (8,)),
    "GaussianMLPModule": lambda: _gaussian("GaussianMLPModule"),
    "GaussianMLPModule bounds": lambda: _gaussian(
        "GaussianMLPModule", min_std=0.1, max_std=2.0, std_parameterization="softplus"
    ),
    "GaussianMLPIndependentStdModule": lambda: _gaussian("GaussianMLPIndependentStdModule"),
    "GaussianMLPTwoHeadedModule": lambda: _gaussian("GaussianMLPTwoHeadedModule"),
    "GaussianMLPTwoHeadedModule tanh": lambda: _gaussian(
        "GaussianMLPTwoHeadedModule",
        normal_distribution_cls=_get("garage.torch.distributions.tanh_normal.TanhNormal"),
    ),
    "PPO objective": lambda: _policy_loss("ppo.PPO"),
    "TRPO objective": lambda: _policy_loss("trpo.TRPO"),
    "VPG objective": lambda: _policy_loss("vpg.VPG"),
    "VPG advantage": _advantage,
    "VPG kl": lambda: held(
        _algorithm("vpg.VPG", policy=_Policy(), _old_policy=_Policy()),
        lambda m, x: m._compute_kl_constraint(x),
        (_t(8, 4),),
    ),
    "DifferentiableSGD": lambda: held(
        nn.Linear(4, 3),
        lambda m, x: (
            m(x).sum().backward(),
            _get("garage.torch.optimizers.differentiable_sgd.DifferentiableSGD")(m, 0.1).step(),
        )[0],
        (_t(2, 4),),
    ),
    "conjugate_gradient": lambda: _using(
        "garage.torch.optimizers.conjugate_gradient_optimizer._conjugate_gradient",
        lambda f, x: f(lambda v: 2 * v, x, 5),
        (_t(6),),
    ),
    "unflatten_tensors": lambda: _using(
        "garage.torch.optimizers.conjugate_gradient_optimizer.unflatten_tensors",
        lambda f, x: f(x, [torch.Size([2, 2]), torch.Size([2])]),
        (_t(6),),
    ),
    "ContextConditionedPolicy kl": lambda: held(
        _context(), lambda m, x: (m.infer_posterior(x), m.compute_kl_div())[1], (_t(2, 3, 5),)
    ),
    "ContextConditionedPolicy forward": lambda: held(_context(), lambda m, x, c: m(x, c), (_t(2, 3, 4), _t(2, 3, 5))),
}
_LAYER_A, _LAYER_B = nn.Linear(4, 4), nn.Linear(4, 4)


def _context() -> Any:
    encoder = nn.Linear(5, 6)
    encoder.output_dim = 6  # type: ignore[assignment]
    encoder.reset = _nothing  # type: ignore[method-assign, assignment]
    policy = nn.Linear(4 + 3, 2)
    kind = "garage.torch.policies.context_conditioned_policy.ContextConditionedPolicy"
    return _get(kind)(3, encoder, _Given(policy), True, False)


class _Given(nn.Module):
    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = net

    def forward(self, x: torch.Tensor) -> Any:
        return _get("garage.torch.distributions.tanh_normal.TanhNormal")(self.net(x), torch.ones(2)), {}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("replay", _REPLAY),
    **_named("fairchem", _FAIRCHEM),
    **_named("stable_audio_tools", _STABLE),
    **_named("audiotools", _AUDIO),
    **_named("garage", _GARAGE),
}

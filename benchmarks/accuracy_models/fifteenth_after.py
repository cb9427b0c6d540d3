"""Models of torchcvnn, torch_frame and audioseal, which were run after the work on the rest of the fifteenth group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from accuracy_models import Built
from accuracy_models.inputs import complex_normal, held, models_by_name, random_inputs
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(19)
_get = getter({}, ())
_call, _made = models_by_name(_get)

_C = "torchcvnn.nn."


def _z(*shape: int) -> torch.Tensor:
    return complex_normal(_t, *shape)


_TORCHCVNN: dict[str, Callable[[], Built]] = {
    **{
        name: (lambda name=name: _made(_C + name, [(_z(2, 3, 4),)]))
        for name in (
            "CReLU",
            "CPReLU",
            "CELU",
            "CCELU",
            "CGELU",
            "CSigmoid",
            "CTanh",
            "zReLU",
            "zAbsReLU",
            "zLeakyReLU",
            "Mod",
            "modReLU",
            "Cardioid",
            "Dropout",
        )
    },
    "Dropout2d": lambda: _made(_C + "Dropout2d", [(_z(2, 3, 4, 4),)]),
    "BatchNorm1d": lambda: _made(_C + "BatchNorm1d", [(_z(6, 3, 5),)], 3),
    "BatchNorm2d": lambda: _made(_C + "BatchNorm2d", [(_z(4, 3, 4, 4),)], 3),
    "LayerNorm": lambda: _made(_C + "LayerNorm", [(_z(2, 3, 4),)], 4),
    "RMSNorm": lambda: _made(_C + "RMSNorm", [(_z(2, 3, 4),)], 4),
    "MaxPool2d": lambda: _made(_C + "MaxPool2d", [(_z(2, 3, 4, 4),)], 2),
    "ConvTranspose2d": lambda: _made(_C + "ConvTranspose2d", [(_z(2, 3, 4, 4),)], 3, 4, 3),
    "Upsample": lambda: _made(_C + "Upsample", [(_z(2, 3, 4, 4),)], scale_factor=2),
    "ComplexMSELoss": lambda: _made(_C + "ComplexMSELoss", [(_z(2, 3), _z(2, 3))]),
    "MultiheadAttention": lambda: _made(
        _C + "MultiheadAttention", [(_z(2, 5, 8), _z(2, 5, 8), _z(2, 5, 8))], 8, 2, batch_first=True
    ),
    "TransformerEncoderLayer": lambda: _made(_C + "TransformerEncoderLayer", [(_z(5, 2, 8),)], 8, 2, 16),
    "TransformerDecoderLayer": lambda: _made(_C + "TransformerDecoderLayer", [(_z(5, 2, 8), _z(4, 2, 8))], 8, 2, 16),
    "ViTLayer": lambda: _made(_C + "ViTLayer", [(_z(2, 5, 8),)], 2, 8, 16),
    "inv_sqrt_2x2": lambda: _call(_C + "modules.batchnorm.inv_sqrt_2x2", (_SPREADS,)),
    "slow_inv_sqrt_2x2": lambda: _call(_C + "modules.batchnorm.slow_inv_sqrt_2x2", (_SPREADS,)),
}
_HALVES = _t(3, 2, 2)
_SPREADS = _HALVES @ _HALVES.transpose(1, 2) + torch.eye(2)

_F = "torch_frame."


def _table(kinds: tuple[str, ...]) -> Any:
    """A table of five rows with two columns of each kind, and what is known of its columns."""
    frame, stats = _get(_F + "TensorFrame"), _get("torch_frame.data.stats.StatType")
    given = {"numerical": _t(5, 2), "categorical": _i(3, 5, 2)}
    names = {_get(_F + kind): [f"{kind}_{n}" for n in range(2)] for kind in kinds}
    known = {
        "numerical": {stats.MEAN: 0.0, stats.STD: 1.0, stats.QUANTILES: [-2.0, -1.0, 0.0, 1.0, 2.0]},
        "categorical": {stats.COUNT: (["a", "b", "c"], [3, 1, 1])},
    }
    table = frame({_get(_F + kind): given[kind] for kind in kinds}, names, y=_i(3, 5))
    return table, {f"{kind}_{n}": known[kind] for kind in kinds for n in range(2)}, names


def _tabular(name: str, kinds: tuple[str, ...] = ("categorical", "numerical"), **options: Any) -> Built:
    table, stats, names = _table(kinds)
    made = _get(_F + "nn." + name)(col_stats=stats, col_names_dict=names, out_channels=3, **options)
    return made, [(table,)]


def _encoded(name: str, kind: str, strategy: str | None = None, **options: Any) -> Built:
    table, stats, names = _table((kind,))
    stype = _get(_F + kind)
    chosen = None if strategy is None else getattr(_get(_F + "NAStrategy"), strategy)
    columns = [stats[name] for name in names[stype]]
    made = _get(_F + "nn." + name)(out_channels=4, stats_list=columns, stype=stype, na_strategy=chosen, **options)
    return held(made, lambda m, x: m(x, names[stype]), (table.feat_dict[stype],))


_TORCH_FRAME: dict[str, Callable[[], Built]] = {
    "MLP": lambda: _tabular("MLP", channels=4, num_layers=2),
    "ResNet": lambda: _tabular("ResNet", channels=4, num_layers=2),
    "FTTransformer": lambda: _tabular("FTTransformer", channels=8, num_layers=1),
    "TabNet": lambda: _tabular(
        "TabNet", num_layers=2, split_attn_channels=4, split_feat_channels=4, gamma=1.2, cat_emb_channels=2
    ),
    "Trompt": lambda: _tabular("Trompt", channels=4, num_prompts=4, num_layers=2),
    "TabTransformer": lambda: _tabular(
        "TabTransformer",
        channels=8,
        num_layers=1,
        num_heads=2,
        encoder_pad_size=2,
        attn_dropout=0.1,
        ffn_dropout=0.1,
    ),
    "ExcelFormer": lambda: _tabular(
        "ExcelFormer", ("numerical",), in_channels=8, num_cols=2, num_layers=1, num_heads=2
    ),
    "feature_mixup": lambda: _call(_F + "nn.models.excelformer.feature_mixup", (_t(5, 2, 4), _i(3, 5), 3)),
    "EmbeddingEncoder": lambda: _encoded("EmbeddingEncoder", "categorical", "MOST_FREQUENT"),
    **{
        name: (lambda name=name, options=options: _encoded(name, "numerical", "MEAN", **options))
        for name, options in (
            ("LinearEncoder", {}),
            ("StackEncoder", {}),
            ("LinearBucketEncoder", {}),
            ("LinearPeriodicEncoder", {"n_bins": 4}),
            ("ExcelFormerEncoder", {}),
        )
    },
    "TabTransformerConv": lambda: _made(_F + "nn.TabTransformerConv", [(_t(2, 3, 8),)], 8, 2),
    "ExcelFormerConv": lambda: _made(_F + "nn.ExcelFormerConv", [(_t(2, 3, 8),)], 8, 3, 2),
    "CyclicEncoding": lambda: _made(_F + "nn.encoding.CyclicEncoding", [(_u(5, 2),)], 4),
    "PositionalEncoding": lambda: _made(_F + "nn.encoding.PositionalEncoding", [(_u(5, 2),)], 4),
    "select": lambda: ((lambda table, chosen: table[chosen].feat_dict), [(_table(("numerical",))[0], _u(5) > 0.5)]),
}

_A = "audioseal.libs.moshi."
_QUANTIZED = {"dim": 4, "codebook_size": 8}


def _detector() -> Built:
    sizes = {"dimension": 8, "n_filters": 2, "n_residual_layers": 1, "ratios": [2, 2], "lstm": 1}
    encoder = _get(_A + "modules.seanet.SEANetEncoderKeepDimension")(output_dim=8, **sizes)
    return _get("audioseal.models.AudioSealDetector")(encoder, nbits=4), [(_t(1, 1, 64),)]


_AUDIOSEAL: dict[str, Callable[[], Built]] = {
    "AudioSealDetector": _detector,
    "MsgProcessor": lambda: _made("audioseal.models.MsgProcessor", [(_t(2, 8, 5), _i(2, 2, 4))], 4, 8),
    "StreamingConv1d": lambda: _made(_A + "modules.conv.StreamingConv1d", [(_t(2, 3, 16),)], 3, 4, 3, 2, causal=True),
    "StreamingConvTranspose1d": lambda: _made(
        _A + "modules.conv.StreamingConvTranspose1d", [(_t(2, 3, 16),)], 3, 4, 4, 2, causal=True
    ),
    "ConvDownsample1d": lambda: _made(_A + "modules.resample.ConvDownsample1d", [(_t(2, 3, 16),)], 2, 3, learnt=True),
    "ConvTrUpsample1d": lambda: _made(_A + "modules.resample.ConvTrUpsample1d", [(_t(2, 3, 16),)], 2, 3, learnt=True),
    "pad1d": lambda: _call(_A + "modules.conv.pad1d", (_t(2, 3, 4), (6, 1), "reflect")),
    "RotaryEmbedding": lambda: _made(
        _A + "modules.rope.RotaryEmbedding", [(_t(2, 2, 5, 4), _t(2, 2, 5, 4), torch.zeros(1).long())]
    ),
    "RMSNorm": lambda: _made(_A + "modules.transformer.RMSNorm", [(_t(2, 3, 4),)], 4),
    "create_sin_embedding": lambda: _call(_A + "modules.transformer.create_sin_embedding", (_u(2, 5, 1), 8)),
    "StreamingTransformer": lambda: _made(
        _A + "modules.transformer.StreamingTransformer",
        [(_t(2, 5, 8),)],
        8,
        2,
        1,
        dim_feedforward=16,
        causal=True,
        positional_embedding="sin",
    ),
    "ProjectedTransformer": lambda: _made(
        _A + "modules.transformer.ProjectedTransformer",
        [(_t(2, 5, 4),)],
        4,
        (6,),
        8,
        num_heads=2,
        num_layers=1,
        dim_feedforward=16,
    ),
    "EuclideanCodebook": lambda: _made(_A + "quantization.core_vq.EuclideanCodebook", [(_t(2, 5, 4),)], 4, 8),
    "VectorQuantization": lambda: _made(_A + "quantization.core_vq.VectorQuantization", [(_t(2, 4, 5),)], **_QUANTIZED),
    "ResidualVectorQuantization": lambda: _made(
        _A + "quantization.core_vq.ResidualVectorQuantization",
        [(_t(2, 4, 5),)],
        num_quantizers=2,
        codebook_offset=0,
        **_QUANTIZED,
    ),
    "ResidualVectorQuantizer": lambda: _made(
        _A + "quantization.vq.ResidualVectorQuantizer", [(_t(2, 4, 5), 10)], dimension=4, n_q=2, bins=8, q_dropout=True
    ),
    "SplitResidualVectorQuantizer": lambda: _made(
        _A + "quantization.vq.SplitResidualVectorQuantizer", [(_t(2, 4, 5), 10)], dimension=4, n_q=3, bins=8
    ),
}

MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in {
        "torchcvnn": _TORCHCVNN,
        "torch_frame": _TORCH_FRAME,
        "audioseal": _AUDIOSEAL,
    }.items()
    for name, build in models.items()
}

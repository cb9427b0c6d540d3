"""Models of tint, torchtt, rectools, penn and audio_diffusion_pytorch.

They were written with those of the eighteenth group, and before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(46)
_ABSENT = {
    "penn": ("torchaudio.functional", "torbi", "huggingface_hub"),
    "audio_diffusion_pytorch": ("torchaudio.transforms",),
    "rectools": ("implicit.cpu.als", "implicit.gpu.als", "implicit.bpr", "implicit.nearest_neighbours"),
}
_get = getter(_ABSENT, ())
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_T = "tint."
_SERIES = _u(3, 6, 2)
_CLASSES = nn.Sequential(nn.Linear(2, 4), nn.ReLU(), nn.Linear(4, 3))


def _classify(x: torch.Tensor) -> torch.Tensor:
    return _CLASSES(x).mean(1).softmax(-1)


def _explained(name: str, *given: Any, **options: Any) -> Callable[[], Built]:
    """Attributions of a method that is made once."""

    def build() -> Built:
        method = _get(_T + "attr." + name)(_classify, *given)
        return held(method, lambda m, x: m.attribute(x, **options), (_SERIES,))

    return build


def _metric(name: str, **options: Any) -> Callable[[], Built]:
    return lambda: _using(_T + "metrics." + name, lambda f, x, a: f(_classify, x, a, **options), (_SERIES, _u(3, 6, 2)))


def _white_box(name: str) -> Callable[[], Built]:
    return lambda: _call(_T + "metrics.white_box." + name, (_u(3, 6, 2), _i(2, 3, 6, 2).float()))


_TINT: dict[str, Callable[[], Built]] = {
    "CNN": lambda: _made(_T + "models.CNN", [(_t(2, 3, 9, 9),)], [3, 4, 5], 3, flatten=False),
    "MLP": lambda: _made(_T + "models.MLP", [(_t(5, 4),)], [4, 6, 3], dropout=0.1, norm="batch_norm_1d"),
    "RNN": lambda: _made(_T + "models.RNN", [(_SERIES,)], 2, "lstm", 4, many_to_one=True),
    "TransformerEncoder": lambda: _made(_T + "models.TransformerEncoder", [(_SERIES,)], 2, many_to_one=True),
    "Net": lambda: held(
        None,
        lambda _, x, y: _net().training_step((x, y), 0),
        (_t(5, 4), _i(3, 5)),
    ),
    "FeatureAblation": _explained("FeatureAblation", target=0),
    "Occlusion": _explained("Occlusion", sliding_window_shapes=(1, 1), target=0),
    "TemporalOcclusion": _explained("TemporalOcclusion", sliding_window_shapes=(1,), target=0),
    "AugmentedOcclusion": _explained("AugmentedOcclusion", _SERIES, sliding_window_shapes=(1, 1), target=0),
    "TemporalIntegratedGradients": _explained("TemporalIntegratedGradients", target=0, n_steps=4),
    "SequentialIntegratedGradients": _explained("SequentialIntegratedGradients", target=0, n_steps=4),
    "GeodesicIntegratedGradients": _explained("GeodesicIntegratedGradients", target=0, n_steps=3, n_neighbors=2),
    "accuracy": _metric("accuracy", target=0),
    "comprehensiveness": _metric("comprehensiveness", target=0, topk=0.3),
    "cross_entropy": _metric("cross_entropy", target=0),
    "log_odds": _metric("log_odds", target=0, topk=0.3),
    "mae": _metric("mae", target=0),
    "mse": _metric("mse", target=0, mask_largest=False),
    "sufficiency": _metric("sufficiency", target=0),
    **{f"white_box {n}": _white_box(n) for n in ("aup", "auprc", "aur", "entropy", "information", "mae", "roc_auc")},
    "lime_weights": lambda: held(
        _get(_T + "metrics.weights.lime_weights")("euclidean"), lambda f, x, y: f((x,), (y,)), (_t(1, 4), _t(1, 4))
    ),
    "default_perturb_func": lambda: _call(_T + "utils.default_perturb_func", ((_SERIES,),)),
    "add_noise_to_inputs": lambda: _call(_T + "utils.common.add_noise_to_inputs", ((_SERIES,), 0.1, 3)),
    "unsqueeze_like": lambda: _call(_T + "utils.common.unsqueeze_like", (_t(3), _SERIES)),
}


def _net() -> Any:
    return _get(_T + "models.Net")(_get(_T + "models.MLP")([4, 3]), loss="cross_entropy")


_D = "torchtt."
_FULL = _t(4, 3, 5).double()


def _tensor(*shape: int) -> Any:
    return _get(_D + "random")(list(shape), [1, *([2] * (len(shape) - 1)), 1])


def _matrix() -> Any:
    return _get(_D + "random")([(4, 4), (3, 3), (5, 5)], [1, 2, 2, 1])


def _trains(use: Callable[..., Any], *made: Callable[[], Any]) -> Callable[[], Built]:
    """A use of tensor trains, which are made once."""

    def build() -> Built:
        torch.manual_seed(0)
        trains = [make() for make in made]
        return (lambda: use(*trains)), [()]

    return build


def _one() -> Any:
    return _tensor(4, 3, 5)


_TT: dict[str, Callable[[], Built]] = {
    "TT": lambda: _using(_D + "TT", lambda c, x: c(x, eps=1e-3).full(), (_FULL,)),
    "TT matrix": lambda: _using(
        _D + "TT", lambda c, x: c(x, shape=[(2, 3), (2, 2)]).full(), (_t(2, 2, 3, 2).double(),)
    ),
    "full": _trains(lambda x: x.full(), _one),
    "add": _trains(lambda x, y: (x + y).full(), _one, _one),
    "add number": _trains(lambda x: (x + 2.0 - 1).full(), _one),
    "multiply": _trains(lambda x, y: (x * y).full(), _one, _one),
    "round": _trains(lambda x, y: (x + y).round(1e-6).full(), _one, _one),
    "matvec": _trains(lambda a, x: (a @ x).full(), _matrix, _one),
    "matmul": _trains(lambda a, b: (a @ b).full(), _matrix, _matrix),
    "fast_matvec": _trains(lambda a, x: a.fast_matvec(x, use_cpp=False).full(), _matrix, _one),
    "norm": _trains(lambda x: x.norm(), _one),
    "sum": _trains(lambda x: x.sum(1).full(), _one),
    "sum all": _trains(lambda x: x.sum(), _one),
    "transpose": _trains(lambda a: a.t().full(), _matrix),
    "getitem": _trains(lambda x: x[1, :, 2].full(), _one),
    "getitem slice": _trains(lambda x: x[1:3, 0, 2].full(), _one),
    "apply_mask": _trains(lambda x: x.apply_mask(torch.tensor([[0, 1, 2], [3, 2, 4]])), _one),
    "mprod": _trains(lambda x: x.mprod(torch.eye(3).double(), 1).full(), _one),
    "to_qtt": _trains(lambda x: x.to_qtt().full(), lambda: _tensor(4, 2, 8)),
    "kron": _trains(lambda x, y: _get(_D + "kron")(x, y).full(), _one, _one),
    "dot": _trains(lambda x, y: _get(_D + "dot")(x, y), _one, _one),
    "bilinear_form": _trains(lambda x, a, y: _get(_D + "bilinear_form")(x, a, y), _one, _matrix, _one),
    "reshape": _trains(lambda x: _get(_D + "reshape")(x, [2, 6, 5]).full(), _one),
    "permute": _trains(lambda x: _get(_D + "permute")(x, [2, 0, 1]).full(), _one),
    "cat": _trains(lambda x, y: _get(_D + "cat")((x, y), 0).full(), _one, _one),
    "pad": _trains(lambda x: _get(_D + "pad")(x, ((1, 1), (0, 1), (0, 0))).full(), _one),
    "diag": _trains(lambda x: _get(_D + "diag")(x).full(), _one),
    "meshgrid": lambda: _using(_D + "meshgrid", lambda f, x, y: [a.full() for a in f([x, y])], (_t(3), _t(4))),
    "rank1TT": lambda: _using(_D + "rank1TT", lambda f, x, y: f([x, y]).full(), (_t(3), _t(4))),
    "fast_hadammard": _trains(lambda x, y: _get(_D + "_fast_mult.fast_hadammard")(x, y).full(), _one, _one),
    "elementwise_divide": _trains(lambda x, y: _get(_D + "elementwise_divide")(x, y + 9.0, nswp=2).full(), _one, _one),
    "amen_solve": _trains(
        lambda a, x: _get(_D + "solvers.amen_solve")(a, x, nswp=2, use_cpp=False).full(),
        lambda: _get(_D + "eye")([4, 3, 5]) * 2.0,
        _one,
    ),
    "LinearLayerTT": lambda: _made(
        _D + "nn.LinearLayerTT", [(_t(2, 4, 3),)], [4, 3], [2, 3], [1, 2, 1], dtype=torch.float32
    ),
    "dmrg_cross": lambda: _using(
        _D + "interpolate.dmrg_cross",
        lambda f, x: f(lambda i: i.sum(1).double() * x, [4, 3, 5], nswp=2).full(),
        (_u(1),),
    ),
    "grad": _trains(lambda x: _get(_D + "grad.grad")((x * x).sum(), x), lambda: _watched()),
}


def _watched() -> Any:
    made = _one()
    _get(_D + "grad.watch")(made)
    return made


_R = "rectools.models.nn."
_B = _R + "transformers."
_F = "rectools.fast_transformers."
_SESSIONS = torch.tensor([[0, 0, 3, 5], [0, 2, 4, 1]])
_EMBEDDED = _t(2, 4, 8)
_ITEMS = _t(7, 8)
_ATTENTION = ~torch.tril(torch.ones(4, 4, dtype=torch.bool))


def _backbone(similarity: str = "dot", **options: Any) -> Any:
    return _get(_B + "torch_backbone.TransformerTorchBackbone")(
        n_heads=2,
        dropout_rate=0.1,
        item_model=_items(),
        pos_encoding_layer=_get(_B + "net_blocks.LearnableInversePositionalEncoding")(True, 4, 8),
        transformer_layers=_get(_B + "sasrec.SASRecTransformerLayers")(1, 8, 2, 0.1),
        similarity_module=_get(_B + "similarity.DistanceSimilarityModule")(distance=similarity),
        **{"use_causal_attn": True, "use_key_padding_mask": False} | options,
    )


def _items() -> Any:
    return _get(_R + "item_net.SumOfEmbeddingsConstructor")(7, [_get(_R + "item_net.IdEmbeddingsItemNet")(8, 7, 0.1)])


_RECTOOLS: dict[str, Callable[[], Built]] = {
    "TransformerTorchBackbone": lambda: (_backbone(), [({"x": _SESSIONS},)]),
    "TransformerTorchBackbone cosine": lambda: (
        _backbone("cosine", use_key_padding_mask=True, use_causal_attn=False),
        [({"x": _SESSIONS}, torch.tensor([1, 2, 3]))],
    ),
    "TransformerTorchBackbone masks": lambda: (_backbone(use_key_padding_mask=True), [({"x": _SESSIONS},)]),
    "PreLNTransformerLayers": lambda: _made(
        _B + "net_blocks.PreLNTransformerLayers", [(_EMBEDDED, torch.ones(2, 4, 1), _ATTENTION, None)], 1, 8, 2, 0.1
    ),
    "SASRecTransformerLayers": lambda: _made(
        _B + "sasrec.SASRecTransformerLayers", [(_EMBEDDED, torch.ones(2, 4, 1), _ATTENTION, None)], 1, 8, 2, 0.1
    ),
    "LiGRLayers": lambda: _made(
        _B + "ligr.LiGRLayers", [(_EMBEDDED, torch.ones(2, 4, 1), _ATTENTION, None)], 1, 8, 2, 0.1
    ),
    "STULayers": lambda: _made(
        _B + "hstu.STULayers",
        [
            {
                "seqs": _EMBEDDED,
                "timeline_mask": torch.ones(2, 4, 1),
                "attn_mask": _ATTENTION,
                "key_padding_mask": None,
                "batch": {"x": _SESSIONS, "unix_ts": _i(1000, 2, 5).sort(1).values},
            }
        ],
        1,
        8,
        2,
        4,
        4,
        4,
        True,
        True,
    ),
    "PointWiseFeedForward": lambda: _made(
        _B + "net_blocks.PointWiseFeedForward", [(_EMBEDDED,)], 8, 16, 0.1, nn.GELU()
    ),
    "LearnableInversePositionalEncoding": lambda: _made(
        _B + "net_blocks.LearnableInversePositionalEncoding", [(_EMBEDDED,)], True, 6, 8, True
    ),
    "DistanceSimilarityModule": lambda: _made(
        _B + "similarity.DistanceSimilarityModule", [(_EMBEDDED, _ITEMS), (_EMBEDDED, _ITEMS, _i(7, 2, 4, 3))], "cosine"
    ),
    "CatalogUniformSampler": lambda: held(
        _get(_B + "negative_sampler.CatalogUniformSampler")(3),
        lambda s, x: s.get_negatives({"x": x}, 1, 7),
        (_SESSIONS,),
    ),
    "IdEmbeddingsItemNet": lambda: _made(_R + "item_net.IdEmbeddingsItemNet", [(_SESSIONS,)], 8, 7, 0.1),
    "CatFeaturesItemNet": lambda: _made(
        _R + "item_net.CatFeaturesItemNet",
        [(torch.tensor([1, 2, 3]),)],
        torch.tensor([0, 1, 2, 0, 1]),
        torch.tensor([0, 2, 1, 2]),
        torch.tensor([0, 0, 2, 3]),
        3,
        8,
        0.1,
    ),
    "SumOfEmbeddingsConstructor": lambda: (_items(), [(_SESSIONS,)]),
    "SumOfEmbeddingsConstructor all": lambda: held(_items(), lambda m, x: m.get_all_embeddings() * x, (_t(1),)),
    "DSSM": lambda: _made(_R + "dssm.DSSM", [(_t(3, 5), _t(3, 5), _t(3, 4), _t(3, 6))], 8, 8, 4, 5, 6),
    "DSSM step": lambda: held(
        None,
        lambda _, *x: _get(_R + "dssm.DSSM")(8, 8, 4, 5, 6).training_step(x, 0),
        (_t(3, 4), _t(3, 6), _t(3, 5), _t(3, 5)),
    ),
    "FlatSASRecNet encode_last": lambda: _method(
        _F + "net.FlatSASRecNet", "encode_last", [(_SESSIONS,)], 7, 8, 1, 2, 4
    ),
    "UniSRecNet": lambda: _made(_F + "unisrec.net.UniSRecNet", [(_SESSIONS,)], 7, _t(7, 12), 8, 16, 1, 2, 4),
    "UniSRecNet encode_last": lambda: _method(
        _F + "unisrec.net.UniSRecNet", "encode_last", [(_SESSIONS,)], 7, _t(7, 12), 8, 16, 1, 2, 4
    ),
    "hitrate_at_k": lambda: _call(_F + "metrics.hitrate_at_k", (_i(7, 3, 4), _i(7, 3))),
    "ndcg_at_k": lambda: _call(_F + "metrics.ndcg_at_k", (_i(7, 3, 4), _i(7, 3))),
    "mrr_at_k": lambda: _call(_F + "metrics.mrr_at_k", (_i(7, 3, 4), _i(7, 3))),
    "compute_metrics": lambda: _call(_F + "metrics.compute_metrics", (_i(7, 3, 12), _i(7, 3))),
    "TorchRanker": lambda: held(
        None,
        lambda _, x, y: _get("rectools.models.rank.rank_torch.TorchRanker")(
            _get("rectools.models.rank.Distance").DOT, "cpu", x, y
        ).rank([0, 1], 2),
        (_t(3, 4), _t(5, 4)),
    ),
}

_P = "penn."
_PITCHES = _u(1, 9) * 200 + 100
_BINS = _t(5, 1440, 1)
_PENN: dict[str, Callable[[], Built]] = {
    "bins_to_frequency": lambda: _call(_P + "convert.bins_to_frequency", (_i(1440, 1, 9),)),
    "cents_to_bins": lambda: _call(_P + "convert.cents_to_bins", (_u(1, 9) * 900,)),
    "frequency_to_bins": lambda: _call(_P + "convert.frequency_to_bins", (_PITCHES,)),
    "frequency_to_midi": lambda: _call(_P + "convert.frequency_to_midi", (_PITCHES,)),
    "frequency_to_samples": lambda: _call(_P + "convert.frequency_to_samples", (_PITCHES,)),
    "midi_to_frequency": lambda: _call(_P + "convert.midi_to_frequency", (_u(1, 9) * 60,)),
    "expected_value": lambda: _call(_P + "decode.expected_value", (_t(5, 9, 1).softmax(1), _u(5, 9, 1))),
    "local_expected_value_from_bins": lambda: _call(
        _P + "decode.local_expected_value_from_bins", (_i(1440, 5, 1), _BINS)
    ),
    "Argmax": lambda: held(_get(_P + "decode.Argmax")(), lambda d, x: d(x), (_BINS,)),
    "triangular_transition_matrix": lambda: _using(
        _P + "decode.triangular_transition_matrix", lambda f, x: f() * x, (_t(1),)
    ),
    "postprocess": lambda: _using(_P + "core.postprocess", lambda f, x: f(x, decoder="argmax"), (_BINS,)),
    "cents": lambda: _call(_P + "core.cents", (_PITCHES, _PITCHES + 3)),
    "expected_frames": lambda: _using(
        _P + "core.expected_frames", lambda f, x: x * f(8000, 8000, 80, "half-window"), (_t(1),)
    ),
    "interpolate": lambda: _call(_P + "core.interpolate", (_u(1, 7), torch.linspace(0, 1, 5)[None], _t(1, 5))),
    "normalize": lambda: _call(_P + "core.normalize", (_t(5, 1, 64),)),
    "entropy periodicity": lambda: _call(_P + "periodicity.entropy", (_BINS,)),
    "max periodicity": lambda: _call(_P + "periodicity.max", (_BINS,)),
    "voicing interpolate": lambda: _call(_P + "voicing.interpolate", (_PITCHES, _u(1, 9), 0.4)),
    "voicing threshold": lambda: _call(_P + "voicing.threshold", (_u(1, 9), 0.4)),
    "Fcnf0": lambda: _made(_P + "model.fcnf0.Fcnf0", [(_t(2, 1, 1024),)]),
    "Crepe": lambda: _made(_P + "model.crepe.Crepe", [(_t(2, 1, 1024),)]),
    "Normalize": lambda: _made(_P + "model.core.Normalize", [(_t(2, 1, 64),)]),
    "F1 metric": lambda: _using(
        _P + "evaluate.metrics.F1", lambda c, p, v: _scored(c(), p, v), (_u(1, 9), _i(2, 1, 9).bool())
    ),
    "RPA metric": lambda: _using(
        _P + "evaluate.metrics.RPA", lambda c, p, v: _scored(c(), p, v), (_PITCHES, _PITCHES + 2)
    ),
    "pitch metrics": lambda: _using(
        _P + "evaluate.metrics.PitchMetrics",
        lambda c, p, q, v: _scored(c(), p, q, v),
        (_PITCHES, _PITCHES + 2, _i(2, 1, 9).bool()),
    ),
    "train loss": lambda: _call(_P + "train.core.loss", (_t(5, 1440, 1), _i(1440, 5, 1))),
}


def _scored(metric: Any, *given: Any) -> Any:
    metric.update(*given)
    return metric()


_A = "audio_diffusion_pytorch."
_AUDIO = _t(1, 2, 64)


class _Noise(nn.Module):
    """A small network for what diffuses with one."""

    def __init__(self, channels: int = 2) -> None:
        super().__init__()
        self.layer = nn.Conv1d(channels, 2, 3, padding=1)

    def forward(self, x: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
        return self.layer(x)


_UNET = {"channels": [8, 8], "factors": [1, 2], "items": [1, 1], "resnet_groups": 4, "modulation_features": 16}


def _model(**options: Any) -> Any:
    return _get(_A + "DiffusionModel")(net_t=_get(_A + "UNetV0"), in_channels=2, **_UNET, **options)


_AUDIO_DIFFUSION: dict[str, Callable[[], Built]] = {
    "VDiffusion": lambda: (_get(_A + "diffusion.VDiffusion")(_Noise()), [(_AUDIO,)]),
    "ARVDiffusion": lambda: (_get(_A + "diffusion.ARVDiffusion")(_Noise(3), 64, 4), [(_AUDIO,)]),
    "VSampler": lambda: (_get(_A + "diffusion.VSampler")(_Noise()), [(_AUDIO, 3)]),
    "ARVSampler": lambda: (_get(_A + "diffusion.ARVSampler")(_Noise(3), 2, 64, 4), [(1, 5, 5)]),
    "VInpainter": lambda: (
        _get(_A + "diffusion.VInpainter")(_Noise()),
        [(_AUDIO, _i(2, 1, 2, 64).bool(), 3, 2)],
    ),
    "LinearSchedule": lambda: _using(_A + "diffusion.LinearSchedule", lambda c, x: c()(5, x.device) * x, (_t(1),)),
    "clip": lambda: _call(_A + "diffusion.clip", (_t(2, 9), 0.9), (_t(2, 9),)),
    "pad_dims": lambda: _call(_A + "diffusion.pad_dims", (_t(2), 2)),
    "extend_dim": lambda: _call(_A + "diffusion.extend_dim", (_t(2), 3)),
    "resample": lambda: _call(_A + "utils.resample", (_AUDIO, 2, 1)),
    "upsample": lambda: _call(_A + "utils.upsample", (_AUDIO, 2)),
    "closest_power_2": lambda: _using(_A + "utils.closest_power_2", lambda f, x: x * f(100.0), (_t(1),)),
    "DiffusionModel": lambda: (_model(), [(_AUDIO,)]),
    "DiffusionModel sample": lambda: held(_model(), lambda m, x: m.sample(x, num_steps=2), (_AUDIO,)),
    "DiffusionModel attention": lambda: (
        _model(attentions=[0, 1], attention_heads=2, attention_features=4),
        [(_AUDIO,)],
    ),
    "DiffusionUpsampler": lambda: (
        _get(_A + "DiffusionUpsampler")(net_t=_get(_A + "UNetV0"), upsample_factor=2, in_channels=2, **_UNET),
        [(_AUDIO,)],
    ),
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("tint", _TINT),
    **_named("torchtt", _TT),
    **_named("rectools", _RECTOOLS),
    **_named("penn", _PENN),
    **_named("audio_diffusion_pytorch", _AUDIO_DIFFUSION),
}

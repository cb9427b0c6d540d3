"""Models of torchreid, torch_fidelity, denoiser and pytorch_pretrained_bert.

They were written after the work on the twenty-first group, before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(73)
_ABSENT = {
    "torchreid": ("cv2", "gdown", "tb_nightly", "torchvision.transforms", "torchvision.models", "torchvision"),
    "torch_fidelity": (
        "torchvision.transforms",
        "torchvision.models",
        "torchvision.datasets",
        "torchvision.transforms.functional",
        "torchvision.utils",
    ),
    "denoiser": ("torchaudio.compliance", "torchaudio", "hydra", "sounddevice", "pesq", "pystoi"),
    "pytorch_pretrained_bert": ("boto3", "botocore.exceptions", "regex", "requests"),
}
_BARE = (
    *("torchreid", "torchreid.reid", "torchreid.reid.models", "torchreid.reid.utils", "torchreid.reid.metrics"),
    *("denoiser", "pytorch_pretrained_bert"),
)
_get = getter(_ABSENT, _BARE)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_R = "torchreid.reid."
_IMAGE = _t(2, 3, 64, 32)


def _network(path: str, shape: tuple[int, ...] = (2, 3, 64, 32), **options: Any) -> Callable[[], Built]:
    given = {"num_classes": 5, "loss": "softmax", "pretrained": False, **options}
    return lambda: (_get(_R + "models." + path)(**given), [(_t(*shape),)])


_REID: dict[str, Callable[[], Built]] = {
    "CrossEntropyLoss": lambda: _made(
        _R + "losses.cross_entropy_loss.CrossEntropyLoss", [(_t(4, 5), _i(5, 4))], 5, use_gpu=False
    ),
    "CrossEntropyLoss plain": lambda: _made(
        _R + "losses.cross_entropy_loss.CrossEntropyLoss", [(_t(4, 5), _i(5, 4))], 5, use_gpu=False, label_smooth=False
    ),
    "TripletLoss": lambda: _made(_R + "losses.hard_mine_triplet_loss.TripletLoss", [(_t(8, 6), torch.arange(8) // 2)]),
    "DeepSupervision": lambda: _using(
        _R + "losses.DeepSupervision",
        lambda f, x, y, t: f(torch.nn.functional.cross_entropy, [x, y], t),
        (_t(4, 5), _t(4, 5), _i(5, 4)),
    ),
    "distance": lambda: _call(_R + "metrics.distance.compute_distance_matrix", (_t(4, 6), _t(5, 6))),
    "distance cosine": lambda: _using(
        _R + "metrics.distance.compute_distance_matrix", lambda f, *x: f(*x, "cosine"), (_t(4, 6), _t(5, 6))
    ),
    "evaluate_rank": lambda: _using(
        _R + "metrics.rank.evaluate_rank",
        lambda f, d, q, g, a, b: f(d.numpy(), q.numpy(), g.numpy(), a.numpy(), b.numpy(), 3, use_cython=False)[1],
        (_u(4, 9), _i(3, 4), torch.arange(9) % 3, torch.zeros(4).long(), torch.ones(9).long()),
    ),
    "evaluate_rank cuhk03": lambda: _using(
        _R + "metrics.rank.eval_cuhk03",
        lambda f, d, q, g, a, b: f(d.numpy(), q.numpy(), g.numpy(), a.numpy(), b.numpy(), 3)[1],
        (_u(4, 9), _i(3, 4), torch.arange(9) % 3, torch.zeros(4).long(), torch.ones(9).long()),
    ),
    "osnet": _network("osnet.osnet_x0_25"),
    "osnet_ain": _network("osnet_ain.osnet_ain_x0_25"),
    "mudeep": _network("mudeep.MuDeep", (2, 3, 256, 128)),
    "resnet_ibn_a": _network("resnet_ibn_a.resnet50_ibn_a"),
    "shufflenet": _network("shufflenet.shufflenet"),
    "squeezenet": _network("squeezenet.squeezenet1_0"),
    "mobilenetv2": _network("mobilenetv2.mobilenetv2_x1_0"),
    "pcb": _network("pcb.pcb_p4", (1, 3, 128, 64)),
}

_F = "torch_fidelity."
_FIDELITY: dict[str, Callable[[], Built]] = {
    "fid_features_to_statistics": lambda: _call(_F + "metric_fid.fid_features_to_statistics", (_t(8, 4),)),
    "fid": lambda: _using(
        _F + "metric_fid.fid_features_to_statistics",
        lambda f, x, y: _get(_F + "metric_fid.fid_statistics_to_metric")(f(x), f(y), False),
        (_t(8, 4), _t(8, 4)),
    ),
    "isc": lambda: _using(_F + "metric_isc.isc_features_to_metric", lambda f, x: f(x, 2), (_t(8, 4),)),
    "mmd2": lambda: _using(
        _F + "metric_kid.mmd2", lambda f, *x: f(*(k.numpy() for k in x)), (_u(6, 6), _u(6, 6), _u(6, 6))
    ),
    "kernel_poly": lambda: _using(
        _F + "metric_kid.kernel_poly",
        lambda f, x, y: f(x.numpy(), y.numpy(), kid_kernel_poly_degree=3, kid_kernel_poly_coef0=1.0),
        (_t(6, 4), _t(6, 4)),
    ),
    "kid": lambda: _using(
        _F + "metric_kid.kid_features_to_metric",
        lambda f, *x: f(*x, kid_subsets=2, kid_subset_size=4, verbose=False),
        (_t(8, 4), _t(8, 4)),
    ),
    "prc": lambda: _using(
        _F + "metric_prc.prc_features_to_metric", lambda f, *x: f(*x, verbose=False), (_t(8, 4), _t(9, 4))
    ),
    "calc_cdist_part": lambda: _using(_F + "metric_prc.calc_cdist_part", lambda f, *x: f(*x, 4), (_t(8, 4), _t(9, 4))),
    "calculate_precision_recall_part": lambda: _using(
        _F + "metric_prc.calculate_precision_recall_part", lambda f, *x: f(*x, 3, 4), (_t(8, 4), _t(9, 4))
    ),
    "interpolate": lambda: _using(
        _F + "interpolate_compat_tensorflow.interpolate_bilinear_2d_like_tensorflow1x",
        lambda f, x: f(x, size=(6, 6), align_corners=False),
        (_u(1, 3, 4, 4),),
    ),
    "batch_lerp": lambda: _using(_F + "noise.batch_lerp", lambda f, *x: f(*x, 0.3), (_t(3, 4), _t(3, 4))),
    "batch_slerp_any": lambda: _using(_F + "noise.batch_slerp_any", lambda f, *x: f(*x, 0.3), (_t(3, 4), _t(3, 4))),
    "batch_slerp_unit": lambda: _using(
        _F + "noise.batch_slerp_unit",
        lambda f, x, y: f(x / x.norm(dim=-1, keepdim=True), y / y.norm(dim=-1, keepdim=True), 0.3),
        (_t(3, 4), _t(3, 4)),
    ),
}

_D = "denoiser."
_WAVE = (_t(2, 1, 800),)
_DENOISER: dict[str, Callable[[], Built]] = {
    "BLSTM": lambda: _made(_D + "demucs.BLSTM", [(_t(5, 2, 8),)], 8),
    "Demucs": lambda: _made(_D + "demucs.Demucs", [_WAVE], hidden=4, depth=2),
    "Demucs offline": lambda: _made(_D + "demucs.Demucs", [_WAVE], hidden=4, depth=2, causal=False, resample=2),
    "DemucsStreamer": lambda: held(
        _get(_D + "demucs.DemucsStreamer")(_get(_D + "demucs.Demucs")(hidden=4, depth=2).eval()),
        lambda m, x: m.feed(x),
        (_t(1, 1500),),
    ),
    "upsample2": lambda: _call(_D + "resample.upsample2", _WAVE),
    "downsample2": lambda: _call(_D + "resample.downsample2", _WAVE),
    "LowPassFilters": lambda: _made(_D + "dsp.LowPassFilters", [(_t(2, 100),)], [0.1, 0.2], 9),
    "convert_audio_channels": lambda: _using(_D + "dsp.convert_audio_channels", lambda f, x: f(x, 2), _WAVE),
    "Remix": lambda: _made(_D + "augment.Remix", [(_t(2, 4, 1, 100),)]),
    "RevEcho": lambda: _made(_D + "augment.RevEcho", [(_t(2, 4, 1, 2000),)], proba=1.0),
    "Shift": lambda: _made(_D + "augment.Shift", [(_t(2, 4, 1, 100),)], 10),
    "Shift same": lambda: _made(_D + "augment.Shift", [(_t(2, 4, 1, 100),)], 10, same=True),
}

_B = "pytorch_pretrained_bert."


def _bert(name: str, *given: Any, inputs: tuple[Any, ...] = ()) -> Callable[[], Built]:
    def build() -> Built:
        config = _get(_B + "modeling.BertConfig")(20, 8, 1, 2, 16, max_position_embeddings=12)
        return _get(_B + "modeling." + name)(config, *given), [(_i(20, 2, 5), None, torch.ones(2, 5), *inputs)]

    return build


def _gpt2(name: str, *inputs: Any) -> Callable[[], Built]:
    def build() -> Built:
        config = _get(_B + "modeling_gpt2.GPT2Config")(20, n_positions=12, n_ctx=12, n_embd=8, n_layer=1, n_head=2)
        return _get(_B + "modeling_gpt2." + name)(config), [(_i(20, 2, 5), *inputs)]

    return build


_BERT: dict[str, Callable[[], Built]] = {
    "BertModel": _bert("BertModel"),
    "BertForPreTraining": _bert("BertForPreTraining", inputs=(_i(20, 2, 5), _i(2, 2))),
    "BertForMaskedLM": _bert("BertForMaskedLM", inputs=(_i(20, 2, 5),)),
    "BertForNextSentencePrediction": _bert("BertForNextSentencePrediction", inputs=(_i(2, 2),)),
    "BertForSequenceClassification": _bert("BertForSequenceClassification", 3, inputs=(_i(3, 2),)),
    "BertForTokenClassification": _bert("BertForTokenClassification", 3, inputs=(_i(3, 2, 5),)),
    "BertForQuestionAnswering": _bert("BertForQuestionAnswering", inputs=(_i(5, 2), _i(5, 2))),
    "GPT2Model": _gpt2("GPT2Model"),
    "GPT2LMHeadModel": _gpt2("GPT2LMHeadModel", None, None, _i(20, 2, 5)),
    "ProjectedAdaptiveLogSoftmax": lambda: _made(
        _B + "modeling_transfo_xl_utilities.ProjectedAdaptiveLogSoftmax", [(_t(6, 8), _i(20, 6))], 20, 8, 8, [8, 14]
    ),
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("torchreid", _REID),
    **_named("torch_fidelity", _FIDELITY),
    **_named("denoiser", _DENOISER),
    **_named("pytorch_pretrained_bert", _BERT),
}

"""Models of braindecode, pyannote.audio, torchio and rl4co.

They were chosen after all of the nineteenth group, and written before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(52)
_ABSENT = {
    "pyannote": (
        "torchcodec.decoders",
        "pyannote.database.protocol.protocol",
        "pyannote.audio.telemetry",
    ),
    "torchio": ("SimpleITK", "nibabel", "humanize"),
}


def _prepare(package: str) -> None:
    if package == "pyannote":
        import sys
        import types

        quiet = types.ModuleType("pyannote.audio.telemetry")
        for name in ("track_model_init", "track_pipeline_init", "track_pipeline_apply", "set_telemetry_metrics"):
            setattr(quiet, name, lambda *_, **__: None)
        sys.modules["pyannote.audio.telemetry"] = quiet


_get = getter(_ABSENT, ("braindecode", "braindecode.models", "braindecode.augmentation"), _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_N = "braindecode.models."
_M = "braindecode.modules."
_F = "braindecode.functional.functions."
_G = "braindecode.augmentation.transforms."
_GF = "braindecode.augmentation.functional."


def _eeg(path: str, channels: int = 4, times: int = 500, **options: Any) -> Callable[[], Built]:
    """A network of braindecode on windows of a few channels."""
    return lambda: _made(
        _N + path,
        [(_t(2, channels, times),)],
        n_chans=channels,
        n_outputs=3,
        n_times=times,
        **{"sfreq": 100, **options},
    )


def _augmented(name: str, *given: Any, times: int = 100, **options: Any) -> Callable[[], Built]:
    """An augmentation of braindecode, on a batch and its labels."""
    return lambda: (
        _get(_G + name)(*given, random_state=3, **options),
        [(_t(4, 6, times), _i(2, 4))],
    )


_BRAINDECODE: dict[str, Callable[[], Built]] = {
    "EEGNet": _eeg("eegnet.EEGNet"),
    "ATCNet": _eeg("atcnet.ATCNet", 4, 1125, sfreq=250),
    "AttnSleep": _eeg("attn_sleep.AttnSleep", 1, 3000),
    "BIOT": _eeg("biot.BIOT", 4, 1000, sfreq=200, embed_dim=16, num_heads=2, num_layers=1),
    "ContraWR": _eeg("contrawr.ContraWR", 4, 1000, sfreq=100),
    "CTNet": _eeg("ctnet.CTNet", 4, 1000, sfreq=250),
    "Deep4Net": _eeg("deep4.Deep4Net", 4, 1000),
    "DeepSleepNet": _eeg("deepsleepnet.DeepSleepNet", 1, 3000),
    "EEGConformer": _eeg("eegconformer.EEGConformer", 4, 500),
    "EEGInceptionERP": _eeg("eeginception_erp.EEGInceptionERP", 8, 128, sfreq=128),
    "EEGInceptionMI": _eeg("eeginception_mi.EEGInceptionMI", 4, 500),
    "EEGITNet": _eeg("eegitnet.EEGITNet", 4, 500),
    "EEGNeX": _eeg("eegnex.EEGNeX", 4, 500),
    "EEGSimpleConv": _eeg("eegsimpleconv.EEGSimpleConv", 4, 500),
    "EEGTCNet": _eeg("eegtcnet.EEGTCNet", 4, 500),
    "FBCNet": _eeg("fbcnet.FBCNet", 4, 1000, sfreq=250),
    "FBMSNet": _eeg("fbmsnet.FBMSNet", 4, 1000, sfreq=250),
    "FBLightConvNet": _eeg("fblightconvnet.FBLightConvNet", 4, 1000, sfreq=250),
    "IFNet": _eeg("ifnet.IFNet", 4, 1000, sfreq=250),
    "Labram": _eeg("labram.Labram", 128, 400, sfreq=200, num_layers=1, embed_dim=200, num_heads=2),
    "MEDFormer": _eeg("medformer.MEDFormer", 4, 200, embed_dim=16, num_heads=2, num_layers=1, dim_feedforward=16),
    "MSVTNet": _eeg("msvtnet.MSVTNet", 4, 500),
    "PBT": _eeg("patchedtransformer.PBT", 4, 256, embed_dim=16, num_layers=1, num_heads=2),
    "SCCNet": _eeg("sccnet.SCCNet", 4, 500),
    "ShallowFBCSPNet": _eeg("shallow_fbcsp.ShallowFBCSPNet", 4, 500),
    "SincShallowNet": _eeg("sinc_shallow.SincShallowNet", 4, 500),
    "SleepStagerBlanco2020": _eeg("sleep_stager_blanco_2020.SleepStagerBlanco2020", 2, 3000),
    "SleepStagerChambon2018": _eeg("sleep_stager_chambon_2018.SleepStagerChambon2018", 2, 3000),
    "SPARCNet": _eeg("sparcnet.SPARCNet", 4, 500),
    "SSTDPN": _eeg("sstdpn.SSTDPN", 4, 1000, sfreq=250),
    "SyncNet": _eeg("syncnet.SyncNet", 4, 500),
    "BDTCN": _eeg("tcn.BDTCN", 4, 500),
    "TIDNet": _eeg("tidnet.TIDNet", 4, 500),
    "TSception": _eeg("tsinception.TSception", 4, 512, sfreq=128),
    "USleep": _eeg("usleep.USleep", 2, 3000),
    "TCFormer": _eeg("tcformer.TCFormer", 4, 1000, sfreq=250),
    "AttentionBaseNet": _eeg("attentionbasenet.AttentionBaseNet", 4, 1000, attention_mode="se"),
    "AttentionBaseNet cat": _eeg("attentionbasenet.AttentionBaseNet", 4, 1000, attention_mode="cat"),
    "AttentionBaseNet encnet": _eeg("attentionbasenet.AttentionBaseNet", 4, 1000, attention_mode="encnet"),
    "BENDR": _eeg(
        "bendr.BENDR",
        20,
        2000,
        encoder_h=16,
        contextualizer_hidden=32,
        transformer_layers=2,
        transformer_heads=2,
        layer_drop=0.3,
    ),
    "CBraMod": _eeg("cbramod.CBraMod", 4, 1000, sfreq=200, n_layer=1, nhead=8, dim_feedforward=16),
    "LUNA": _eeg("luna.LUNA", 4, 400, embed_dim=16, depth=1),
    "SqueezeAndExcitation": lambda: _made(_M + "attention.SqueezeAndExcitation", [(_t(2, 8, 1, 20),)], 8, 2),
    "GSoP": lambda: _made(_M + "attention.GSoP", [(_t(2, 8, 1, 20),)], 8, 2),
    "FCA": lambda: _made(_M + "attention.FCA", [(_t(2, 8, 1, 62),)], 8),
    "GatherExcite": lambda: _made(_M + "attention.GatherExcite", [(_t(2, 8, 1, 62),)], 8, use_mlp=True),
    "SRM": lambda: _made(_M + "attention.SRM", [(_t(2, 8, 1, 20),)], 8, True),
    "CBAM": lambda: _made(_M + "attention.CBAM", [(_t(2, 8, 1, 20),)], 8, 2, 3),
    "CATLite": lambda: _made(_M + "attention.CATLite", [(_t(2, 8, 1, 20),)], 8, 2),
    "GCT": lambda: _made(_M + "attention.GCT", [(_t(2, 8, 1, 20),)], 8),
    "CrissCross": lambda: _made(
        _M + "attention.CrissCrossTransformerEncoderLayer", [(_t(2, 4, 5, 16),)], 16, 4, 32, batch_first=True
    ),
    "PatchTokenizer": lambda: _made(_M + "blocks.PatchTokenizer", [(_t(2, 4, 50),)], 16, 50, 8),
    "TDSConvEncoder": lambda: _made(_M + "blocks.TDSConvEncoder", [(_t(20, 2, 32),)], 32, (4, 4), 5),
    "CombinedConv": lambda: _made(_M + "convolution.CombinedConv", [(_t(2, 1, 100, 4),)], 4, 6, 6),
    "AvgPool2dWithConv": lambda: _made(_M + "convolution.AvgPool2dWithConv", [(_t(2, 3, 20, 1),)], (3, 1), (2, 1)),
    "SubjectLayers": lambda: _made(_M + "layers.SubjectLayers", [(_t(2, 4, 20), _i(3, 2))], 4, 4, 3),
    "FourierEmb": lambda: _made(_M + "layers.FourierEmb", [(_u(2, 4, 2),)], 32),
    "ChannelMerger": lambda: _made(_M + "layers.ChannelMerger", [(_t(2, 4, 20), _u(2, 4, 2))], 6, 32),
    "StatLayer": lambda: _made(
        _M + "stats.StatLayer", [(_t(2, 3, 20),)], torch.var, -1, clamp_range=(1e-6, 1e6), apply_log=True
    ),
    "FilterBankLayer": lambda: _made(
        _M + "filter.FilterBankLayer", [(_t(2, 4, 500),)], 4, 100, [(4.0, 8.0), (8.0, 12.0)]
    ),
    "IntermediateOutputWrapper": lambda: (
        _get(_M + "wrapper.IntermediateOutputWrapper")(["0"], nn.Sequential(nn.Linear(4, 4), nn.ReLU())),
        [(_t(2, 4),)],
    ),
    "aggregate_probas": lambda: _call(_M + "util.aggregate_probas", (_t(3, 2, 6).numpy(),)),
    "hilbert_freq": lambda: _call(_F + "hilbert_freq", (_t(2, 4, 50),)),
    "plv_time": lambda: _call(_F + "plv_time", (_t(2, 4, 50),)),
    "drop_path": lambda: _using(_F + "drop_path", lambda f, x: f(x, 0.3, True), (_t(4, 8),)),
    "pairwise_iou_1d": lambda: _call(_F + "pairwise_iou_1d", (_u(3), _u(3) + 1, _u(4), _u(4) + 1)),
    "wavelet_decomposition": lambda: _using(
        _F + "wavelet_decomposition", lambda f, x, w: f(x, w, 2), (_t(2, 4, 64), _t(2, 4))
    ),
    "sinusoidal_positional_encoding": lambda: _using(
        _F + "sinusoidal_positional_encoding", lambda f, x: x + f(6, 8), (_t(6, 8),)
    ),
    "TimeReverse": _augmented("TimeReverse", 0.5),
    "SignFlip": _augmented("SignFlip", 1.0),
    "FTSurrogate": _augmented("FTSurrogate", 0.9, channel_indep=True),
    "ChannelsDropout": _augmented("ChannelsDropout", 0.9),
    "ChannelsShuffle": _augmented("ChannelsShuffle", 0.9),
    "GaussianNoise": _augmented("GaussianNoise", 0.9),
    "ChannelsSymmetry": _augmented("ChannelsSymmetry", 0.9, ["C3", "C4", "Cz", "F3", "F4", "Fz"]),
    "SmoothTimeMask": _augmented("SmoothTimeMask", 0.9, mask_len_samples=20),
    "BandstopFilter": _augmented("BandstopFilter", 0.9, 100, bandwidth=2),
    "FrequencyShift": _augmented("FrequencyShift", 0.9, 100),
    "SensorsZRotation": _augmented("SensorsZRotation", 0.9, ["C3", "C4", "Cz", "F3", "F4", "Fz"]),
    "Mixup": _augmented("Mixup", 0.5),
    "Mixup per sample": _augmented("Mixup", 0.5, beta_per_sample=True),
    "SegmentationReconstruction": _augmented("SegmentationReconstruction", 0.9, n_segments=4),
    "MaskEncoding": _augmented("MaskEncoding", 0.9, n_segments=2),
    "ChannelsReref": _augmented("ChannelsReref", 0.9),
    "AmplitudeScale": _augmented("AmplitudeScale", 0.9),
    "Compose": lambda: (
        _get("braindecode.augmentation.base.Compose")([_get(_G + "SignFlip")(0.5), _get(_G + "TimeReverse")(0.5)]),
        [(_t(4, 6, 50), _i(2, 4))],
    ),
    "channels_dropout": lambda: _using(
        _GF + "channels_dropout", lambda f, x, y: f(x, y, 0.2, 5), (_t(4, 6, 20), _i(2, 4))
    ),
    "gaussian_noise": lambda: _using(_GF + "gaussian_noise", lambda f, x, y: f(x, y, 0.1, 5), (_t(4, 6, 20), _i(2, 4))),
    "frequency_shift": lambda: _using(
        _GF + "frequency_shift", lambda f, x, y, d: f(x, y, d, 100.0), (_t(4, 6, 20), _i(2, 4), _u(4))
    ),
    "smooth_time_mask": lambda: _using(
        _GF + "smooth_time_mask", lambda f, x, y, m: f(x, y, m, 5), (_t(4, 6, 20), _i(2, 4), _i(10, 4))
    ),
    "mixup": lambda: _using(
        _GF + "mixup", lambda f, x, y, a, p: f(x, y, a, p), (_t(4, 6, 20), _i(2, 4), _u(4), torch.randperm(4))
    ),
}

_P = "pyannote.audio."


def _task_specifications(powerset: bool) -> Any:
    core = _P + "core.task."
    problem = _get(core + "Problem")
    return _get(core + "Specifications")(
        problem=problem.MONO_LABEL_CLASSIFICATION if powerset else problem.MULTI_LABEL_CLASSIFICATION,
        resolution=_get(core + "Resolution").FRAME,
        duration=1.0,
        classes=["a", "b", "c"],
        powerset_max_classes=2 if powerset else None,
        permutation_invariant=True,
    )


def _segmenting(path: str, powerset: bool = True, **options: Any) -> Built:
    model = _get(_P + "models." + path)(**options)
    model.specifications = _task_specifications(powerset)
    model.build()
    return model, [(_t(2, 1, 16000),)]


def _metric(name: str, **options: Any) -> Callable[[], Built]:
    def build() -> Built:
        made = _get(_P + "torchmetrics." + name)(**options)

        def use(metric: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
            metric.update(x, y)
            return metric.compute()

        return held(made, use, (_u(2, 3, 20), _i(2, 2, 3, 20).float()))

    return build


_PYANNOTE: dict[str, Callable[[], Built]] = {
    "PyanNet": lambda: _segmenting(
        "segmentation.PyanNet", lstm={"hidden_size": 8, "num_layers": 1}, linear={"hidden_size": 8, "num_layers": 1}
    ),
    "PyanNet layers": lambda: _segmenting(
        "segmentation.PyanNet",
        False,
        lstm={"hidden_size": 8, "num_layers": 2, "monolithic": False},
        linear={"hidden_size": 8, "num_layers": 2},
    ),
    "XVectorSincNet": lambda: _made(_P + "models.embedding.XVectorSincNet", [(_t(2, 1, 16000),)], dimension=8),
    "XVectorSincNet weights": lambda: _made(
        _P + "models.embedding.XVectorSincNet", [(_t(2, 1, 16000), _u(2, 30))], dimension=8
    ),
    "WeSpeaker": lambda: _made(_P + "models.embedding.WeSpeakerResNet34", [(_t(1, 1, 16000),)]),
    "WeSpeaker ResNet": lambda: (
        _get(_P + "models.embedding.wespeaker.resnet.ResNet")(
            _get(_P + "models.embedding.wespeaker.resnet.BasicBlock"), [1, 1, 1, 1], 4, 16, 8
        ),
        [(_t(2, 40, 16),), (_t(2, 40, 16), _u(2, 20))],
    ),
    "WeSpeaker ResNet bottleneck": lambda: (
        _get(_P + "models.embedding.wespeaker.resnet.ResNet")(
            _get(_P + "models.embedding.wespeaker.resnet.Bottleneck"), [1, 1, 1, 1], 4, 16, 8, two_emb_layer=False
        ),
        [(_t(2, 40, 16), _u(2, 2, 20))],
    ),
    "SincNet": lambda: _made(_P + "models.blocks.sincnet.SincNet", [(_t(2, 1, 8000),)], stride=10),
    "StatsPool": lambda: _made(_P + "models.blocks.pooling.StatsPool", [(_t(2, 8, 20),), (_t(2, 8, 20), _u(2, 15))]),
    "StatsPool speakers": lambda: _made(_P + "models.blocks.pooling.StatsPool", [(_t(2, 8, 20), _u(2, 3, 20))]),
    "Powerset": lambda: _made(_P + "utils.powerset.Powerset", [(_t(2, 20, 7),)], 3, 2),
    "Powerset soft": lambda: held(
        _get(_P + "utils.powerset.Powerset")(3, 2), lambda m, x: m(x, soft=True), (_t(2, 20, 7).softmax(-1),)
    ),
    "Powerset back": lambda: held(
        _get(_P + "utils.powerset.Powerset")(3, 2), lambda m, x: m.to_powerset(x), (_i(2, 2, 20, 3).float(),)
    ),
    "binary_cross_entropy": lambda: _call(
        _P + "utils.loss.binary_cross_entropy",
        (_u(2, 20, 3), _i(2, 2, 20, 3)),
        (_u(2, 20, 3), _i(2, 2, 20, 3), _u(2, 10, 1)),
    ),
    "mse_loss": lambda: _call(_P + "utils.loss.mse_loss", (_u(2, 20, 3), _u(2, 20, 3), _u(2, 20, 1))),
    "nll_loss": lambda: _call(_P + "utils.loss.nll_loss", (_t(2, 20, 3).log_softmax(-1), _i(3, 2, 20))),
    "nll_loss weighted": lambda: _using(
        _P + "utils.loss.nll_loss",
        lambda f, x, y, w: f(x, y, weight=w),
        (_t(2, 20, 3).log_softmax(-1), _i(3, 2, 20), _u(2, 20, 1)),
    ),
    "interpolate": lambda: _call(_P + "utils.loss.interpolate", (_u(2, 20, 3), _u(2, 10, 1))),
    "permutate": lambda: _call(_P + "utils.permutation.permutate", (_u(2, 20, 3), _u(2, 20, 3))),
    "permutate cost": lambda: _using(
        _P + "utils.permutation.permutate", lambda f, x, y: f(x, y, "mae", True), (_u(2, 20, 3), _u(2, 20, 2))
    ),
    "mse_cost_func": lambda: _call(_P + "utils.permutation.mse_cost_func", (_u(20, 3), _u(20, 3))),
    "diarization_error_rate": lambda: _call(
        _P + "torchmetrics.functional.audio.diarization_error_rate.diarization_error_rate",
        (_u(2, 3, 20), _i(2, 2, 3, 20).float()),
    ),
    "diarization_error_rate thresholds": lambda: _using(
        _P + "torchmetrics.functional.audio.diarization_error_rate.diarization_error_rate",
        lambda f, x, y, t: f(x, y, threshold=t, reduce="chunk", return_components=True),
        (_u(2, 3, 20), _i(2, 2, 3, 20).float(), torch.tensor([0.3, 0.5])),
    ),
    "optimal_diarization_error_rate": lambda: _call(
        _P + "torchmetrics.functional.audio.diarization_error_rate.optimal_diarization_error_rate",
        (_u(2, 3, 20), _i(2, 2, 3, 20).float()),
    ),
    "DiarizationErrorRate": _metric("DiarizationErrorRate"),
    "SegmentationErrorRate": _metric("audio.diarization_error_rate.SegmentationErrorRate", window_size=5),
    "OptimalDiarizationErrorRate": _metric("OptimalDiarizationErrorRate"),
    "OptimalDiarizationErrorRateThreshold": _metric("OptimalDiarizationErrorRateThreshold"),
    "FalseAlarmRate": _metric("FalseAlarmRate"),
    "EqualErrorRate": lambda: held(
        _get(_P + "torchmetrics.classification.EqualErrorRate")(), _updated, (_u(30), _i(2, 30))
    ),
    "MixSpeakerDiarization": lambda: held(
        _get(_P + "augmentation.mix.MixSpeakerDiarization")(p=1.0, sample_rate=16000, output_type="dict"),
        lambda m, x, y: m(x, sample_rate=16000, targets=y).samples,
        (_t(4, 1, 1600), _i(2, 4, 1, 20, 3)),
    ),
    "SincNet frames": lambda: held(
        _get(_P + "models.blocks.sincnet.SincNet")(stride=10),
        lambda m, x: m(x) * m.num_frames(x.shape[-1]),
        (_t(1, 1, 8000),),
    ),
}


def _updated(metric: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
    metric.update(x, y)
    return metric.compute()


_X = "torchio.transforms."
_VOLUME = _u(1, 8, 8, 8)


def _transformed(name: str, *given: Any, **options: Any) -> Callable[[], Built]:
    """A transform of torchio, on a volume."""
    return lambda: _made("torchio." + name, [(_VOLUME,), (_u(2, 8, 8, 6),)], *given, **options)


_TORCHIO: dict[str, Callable[[], Built]] = {
    "RandomFlip": _transformed("RandomFlip", axes=(0, 1)),
    "Flip": _transformed("Flip", 0),
    "RandomNoise": _transformed("RandomNoise"),
    "RandomGamma": _transformed("RandomGamma"),
    "RandomBiasField": _transformed("RandomBiasField"),
    "RandomSpike": _transformed("RandomSpike"),
    "RandomGhosting": _transformed("RandomGhosting"),
    "RandomSwap": _transformed("RandomSwap", 2, 4),
    "RandomBlur": _transformed("RandomBlur"),
    "Crop": _transformed("Crop", 1),
    "Pad": _transformed("Pad", 1),
    "Clamp": _transformed("Clamp", out_min=0.2),
    "RescaleIntensity": _transformed("RescaleIntensity", (0, 1), (5, 95)),
    "ZNormalization": _transformed("ZNormalization"),
    "Compose": lambda: (
        _get("torchio.Compose")([_get("torchio.ZNormalization")(), _get("torchio.RandomNoise")(p=0.5)]),
        [(_VOLUME,)],
    ),
    "OneOf": lambda: (
        _get("torchio.OneOf")([_get("torchio.RandomNoise")(), _get("torchio.RandomGamma")()]),
        [(_VOLUME,)],
    ),
    "znorm": lambda: _using(
        _X + "preprocessing.intensity.z_normalization.ZNormalization",
        lambda c, x, m: c.znorm(x, m),
        (_u(1, 8, 8, 8), _u(1, 8, 8, 8) > 0.4),
    ),
    "rescale": lambda: held(
        _get("torchio.RescaleIntensity")((0, 1)),
        lambda m, x, k: m.rescale(x, k, "image"),
        (_u(1, 8, 8, 8), _u(1, 8, 8, 8) > 0.4),
    ),
    "mask": lambda: _using(
        _X + "preprocessing.intensity.mask.mask", lambda f, x, m: f(x, m, 0.5), (_u(1, 8, 8, 8), _u(1, 8, 8, 8) > 0.4)
    ),
    "get_noise": lambda: _using(
        _X + "augmentation.intensity.random_noise.get_noise", lambda f, x: f(x, 0.1, 0.5), (_VOLUME,)
    ),
    "power": lambda: _using(_X + "augmentation.intensity.random_gamma.power", lambda f, x: f(x - 0.5, 0.7), (_VOLUME,)),
    "generate_bias_field": lambda: _using(
        "torchio.BiasField", lambda c, x: c.generate_bias_field(x, 2, [0.1] * 10), (_VOLUME,)
    ),
    "swap": lambda: _using(
        _X + "augmentation.intensity.random_swap._swap",
        lambda f, x: f(x, (2, 2, 2), [((0, 0, 0), (4, 4, 4))]),
        (_VOLUME,),
    ),
    "add_spikes": lambda: held(
        _get("torchio.Spike")(torch.tensor([[0.3, 0.2, 0.1]]).numpy(), 1.5),
        lambda m, x: m.add_artifact(x, torch.tensor([[0.3, 0.2, 0.1]]).numpy(), 1.5),
        (_u(8, 8, 8),),
    ),
}

_R = "rl4co.models.nn."
_Z = "rl4co.models.zoo."
_OPS = "rl4co.utils.ops."
_DEC = "rl4co.utils.decoding."


def _env(name: str, size: int = 6) -> tuple[Any, Any]:
    get_env = _get("rl4co.envs.get_env")
    made = get_env(name, generator_params={"num_loc": size}, check_solution=False)
    return made, made.reset(batch_size=[2])


def _policy(path: str, name: str = "tsp", decode: str = "greedy", **options: Any) -> Built:
    """A policy of rl4co that solves two small instances."""
    env, instances = _env(name)
    policy = _get(_Z + path)(env_name=name, **options)

    def use(model: Any, locs: torch.Tensor) -> Any:
        td = instances.clone()
        td["locs"] = locs
        return model(td, env, phase="test", decode_type=decode)["reward"]

    return held(policy, use, (instances["locs"].clone(),))


def _stepped(name: str) -> Built:
    env, instances = _env(name)

    def use(locs: torch.Tensor) -> Any:
        td = instances.clone()
        td["locs"] = locs
        td["action"] = td["action_mask"].float().argmax(-1)
        return env.step(td)["next"]["action_mask"]

    return use, [(instances["locs"].clone(),)]


def _rewarded(name: str) -> Built:
    env, instances = _env(name)
    actions = torch.arange(6).expand(2, -1)
    return (lambda x: env.get_reward(instances.clone().set("locs", x), actions)), [(instances["locs"].clone(),)]


_SMALL = {"embed_dim": 16, "num_heads": 2, "num_encoder_layers": 1, "feedforward_hidden": 16}
_RL4CO: dict[str, Callable[[], Built]] = {
    "MultiHeadAttention": lambda: _made(_R + "attention.MultiHeadAttention", [(_t(2, 5, 16),)], 16, 2),
    "MultiHeadAttention mask": lambda: _made(
        _R + "attention.MultiHeadAttention", [(_t(2, 5, 16), torch.ones(2, 5, 5).bool())], 16, 2
    ),
    "MultiHeadCrossAttention": lambda: _made(
        _R + "attention.MultiHeadCrossAttention", [(_t(2, 3, 16), _t(2, 5, 16))], 16, 2
    ),
    "PointerAttention": lambda: _made(
        _R + "attention.PointerAttention",
        [(_t(2, 1, 16), _t(2, 5, 16), _t(2, 5, 16), _t(2, 5, 16), torch.ones(2, 5).bool())],
        16,
        2,
    ),
    "PolyNetAttention": lambda: _made(
        _R + "attention.PolyNetAttention",
        [(_t(2, 3, 16), _t(2, 5, 16), _t(2, 5, 16), _t(2, 5, 16), torch.ones(2, 3, 5).bool())],
        3,
        16,
        8,
        2,
    ),
    "MultiHeadCompat": lambda: _made(_R + "attention.MultiHeadCompat", [(_t(2, 3, 16), _t(2, 5, 16))], 2, 16, 16),
    "sdpa simple": lambda: _call(
        _R + "attention.scaled_dot_product_attention_simple",
        (_t(2, 2, 5, 8), _t(2, 2, 5, 8), _t(2, 2, 5, 8), torch.ones(2, 2, 5, 5).bool()),
    ),
    "MLP": lambda: _made(_R + "mlp.MLP", [(_t(4, 8),)], 8, 4, [8], [0.1], input_norm="Batch", output_norm="Layer"),
    "MoE": lambda: _made(_R + "moe.MoE", [(_t(2, 5, 8),)], 8, 8),
    "MoE hidden": lambda: _made(_R + "moe.MoE", [(_t(2, 5, 8),)], 8, 8, [16], num_experts=3, k=1, noisy_gating=False),
    "Normalization batch": lambda: _made(_R + "ops.Normalization", [(_t(2, 5, 8),)], 8, "batch"),
    "Normalization instance": lambda: _made(_R + "ops.Normalization", [(_t(2, 5, 8),)], 8, "instance"),
    "Normalization layer": lambda: _made(_R + "ops.Normalization", [(_t(2, 5, 8),)], 8, "layer"),
    "PositionalEncoding": lambda: _made(_R + "ops.PositionalEncoding", [(_t(2, 5, 8), _i(9, 2, 5))], 8),
    "TransformerFFN": lambda: _made(_R + "ops.TransformerFFN", [(_t(2, 5, 8), _t(2, 5, 8))], 8, 16),
    "GraphAttentionNetwork": lambda: _made(
        _R + "graph.attnnet.GraphAttentionNetwork", [(_t(2, 5, 16),)], 2, 16, 1, "batch", 16
    ),
    "HetGNNLayer": lambda: _made(
        _R + "graph.hgnn.HetGNNLayer", [(_t(2, 5, 8), _t(2, 3, 8), _t(2, 5, 3, 8), _i(2, 2, 5, 3))], 8
    ),
    "GNNLayer": lambda: _made(
        _R + "graph.gnn.GNNLayer", [(_t(4, 8), torch.tensor([[0, 1, 2, 3], [1, 2, 3, 0]]), _t(4, 8))], 8
    ),
    "TSP policy": lambda: _policy("am.policy.AttentionModelPolicy", **_SMALL),
    "CVRP policy": lambda: _policy("am.policy.AttentionModelPolicy", "cvrp", **_SMALL),
    "PDP policy": lambda: _policy("am.policy.AttentionModelPolicy", "pdp", **_SMALL),
    "TSP policy sampling": lambda: _policy("am.policy.AttentionModelPolicy", "tsp", "sampling", **_SMALL),
    "TSP policy multistart": lambda: _policy("am.policy.AttentionModelPolicy", "tsp", "multistart_greedy", **_SMALL),
    "PointerNetwork": lambda: _policy("ptrnet.policy.PointerNetworkPolicy", embed_dim=8, hidden_dim=8),
    "MixedScoresSDPA": lambda: held(
        _get(_Z + "matnet.encoder.MixedScoresSDPA")(2),
        lambda m, q, k, v, d: m(q, k, v, dmat=d),
        (_t(2, 2, 4, 8), _t(2, 2, 5, 8), _t(2, 2, 5, 8), _u(2, 4, 5)),
    ),
    "MatNetLayer": lambda: _made(
        _Z + "matnet.encoder.MatNetLayer", [(_t(2, 4, 16), _t(2, 5, 16), _u(2, 4, 5))], 16, 2, feedforward_hidden=16
    ),
    "TSP step": lambda: _stepped("tsp"),
    "CVRP step": lambda: _stepped("cvrp"),
    "OP step": lambda: _stepped("op"),
    "PCTSP step": lambda: _stepped("pctsp"),
    "MTSP step": lambda: _stepped("mtsp"),
    "TSP reward": lambda: _rewarded("tsp"),
    "batchify": lambda: _using(_OPS + "batchify", lambda f, x: f(x, (2, 3)), (_t(4, 5),)),
    "unbatchify": lambda: _using(_OPS + "unbatchify", lambda f, x: f(x, (2, 3)), (_t(24, 5),)),
    "gather_by_index": lambda: _call(_OPS + "gather_by_index", (_t(2, 5, 3), _i(5, 2)), (_t(2, 5, 3), _i(5, 2, 4))),
    "get_tour_length": lambda: _call(_OPS + "get_tour_length", (_u(2, 5, 2),)),
    "get_distance_matrix": lambda: _call(_OPS + "get_distance_matrix", (_u(2, 5, 2),)),
    "calculate_entropy": lambda: _call(_OPS + "calculate_entropy", (_t(2, 4, 5).log_softmax(-1),)),
    "sparsify_graph": lambda: _using(_OPS + "sparsify_graph", lambda f, x: f(x, 2), (_u(5, 5),)),
    "sparsify_graph default": lambda: _call(_OPS + "sparsify_graph", (_u(5, 5),)),
    "get_full_graph_edge_index": lambda: _using(
        _OPS + "get_full_graph_edge_index", lambda f, x: x.sum() + f(5), (_t(2),)
    ),
    "adj_to_pyg_edge_index": lambda: _call(_OPS + "adj_to_pyg_edge_index", (_i(2, 2, 4, 4),)),
    "cartesian_to_polar": lambda: _call(_OPS + "cartesian_to_polar", (_u(2, 5, 2),)),
    "batched_scatter_sum": lambda: _call(_OPS + "batched_scatter_sum", (_t(2, 5, 3), _i(3, 2, 5, 2))),
    "process_logits": lambda: _using(
        _DEC + "process_logits", lambda f, x, m: f(x, m, 0.8, 0.9, 3, 10.0), (_t(2, 6), torch.ones(2, 6).bool())
    ),
    "process_logits plain": lambda: _using(
        _DEC + "process_logits", lambda f, x, m: f(x, m), (_t(2, 6), torch.ones(2, 6).bool())
    ),
    "get_log_likelihood": lambda: _call(_DEC + "get_log_likelihood", (_t(2, 4, 6).log_softmax(-1), _i(6, 2, 4))),
    "decode_logprobs": lambda: _using(
        _DEC + "decode_logprobs", lambda f, x, m: f(x, m, "greedy"), (_t(2, 6).log_softmax(-1), torch.ones(2, 6).bool())
    ),
    "decode_logprobs sampling": lambda: _using(
        _DEC + "decode_logprobs",
        lambda f, x, m: f(x, m, "sampling"),
        (_t(2, 6).log_softmax(-1), torch.ones(2, 6).bool()),
    ),
    "top_k": lambda: _using(_DEC + "modify_logits_for_top_k_filtering", lambda f, x: f(x, 2), (_t(2, 6),)),
    "top_p": lambda: _using(_DEC + "modify_logits_for_top_p_filtering", lambda f, x: f(x, 0.7), (_t(2, 6),)),
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("braindecode", _BRAINDECODE),
    **_named("pyannote", _PYANNOTE),
    **_named("torchio", _TORCHIO),
    **_named("rl4co", _RL4CO),
}

"""Models, losses and image and sound functions of packages that nothing was improved on before they were first run.

Of speechbrain, piq, auraloss, asteroid, segmentation-models-pytorch, pytorch-toolbelt and torchkbnufft.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch

from accuracy_models.inputs import random_inputs
from accuracy_models.stand_ins import bare, without

_t, _u, _i = random_inputs(0)


def _get(path: str) -> Any:
    module, _, name = path.rpartition(".")
    package = module.partition(".")[0]
    if package in ("piq", "pytorch_toolbelt"):
        without("torchvision.models.utils", "torchvision.ops.misc", "torchvision.transforms.functional")
    if package == "speechbrain":
        without("torchaudio.functional", "torchaudio.transforms", "torchaudio.compliance.kaldi")
    if package in ("segmentation_models_pytorch", "asteroid"):
        bare(package)
    if package not in sys.modules:
        # What an import that failed has left.
        for left in [n for n in sys.modules if n.startswith(f"{package}.")]:
            del sys.modules[left]
    return getattr(importlib.import_module(module), name)


def _call(path: str, *inputs: Any) -> tuple[Any, list[Any]]:
    """A function by its dotted path, on arguments."""
    return _get(path), list(inputs)


def _made(path: str, options: dict[str, Any], *inputs: Any) -> tuple[Any, list[Any]]:
    """An instance of a class by its dotted path, on arguments."""
    return _get(path)(**options), list(inputs)


def _through(path: str, use: Callable[..., Any], *inputs: Any) -> tuple[Any, list[Any]]:
    """A function that is given the function or class of a dotted path and then the arguments."""
    return partial(use, _get(path)), list(inputs)


_LENGTHS = torch.tensor([1.0, 0.75])
_WAVES = ((_t(2, 1600), _LENGTHS), (_t(2, 2400), _LENGTHS))
_WAVE = ((_t(2, 1600),), (_t(2, 2400),))
_FEATURES = ((_t(2, 20, 40),), (_t(2, 28, 40),))
_LOSSES = "speechbrain.nnet.losses"

_SPEECHBRAIN: dict[str, Any] = {
    "nll_loss": partial(
        _call,
        f"{_LOSSES}.nll_loss",
        {"log_probabilities": _t(2, 6, 5).log_softmax(-1), "targets": _i(5, 2, 6), "length": _LENGTHS},
        {"log_probabilities": _t(2, 8, 5).log_softmax(-1), "targets": _i(5, 2, 8), "length": _LENGTHS},
    ),
    "mse_loss": partial(
        _call,
        f"{_LOSSES}.mse_loss",
        {"predictions": _t(2, 8, 5), "targets": _t(2, 8, 5), "length": _LENGTHS},
        {"predictions": _t(2, 9, 5), "targets": _t(2, 8, 5)},
    ),
    "bce_loss": partial(
        _call,
        f"{_LOSSES}.bce_loss",
        {"inputs": _t(2, 8), "targets": _i(2, 2, 8).float(), "length": _LENGTHS},
        {"inputs": _t(2, 8, 1), "targets": _i(2, 2, 8).float(), "length": _LENGTHS},
    ),
    "kldiv_loss": partial(
        _call,
        f"{_LOSSES}.kldiv_loss",
        {"log_probabilities": _t(2, 6, 5).log_softmax(-1), "targets": _i(5, 2, 6), "label_smoothing": 0.1},
        {
            "log_probabilities": _t(2, 6, 5).log_softmax(-1),
            "targets": _i(5, 2, 6),
            "length": _LENGTHS,
            "label_smoothing": 0.1,
        },
    ),
    "classification_error": partial(
        _call,
        f"{_LOSSES}.classification_error",
        {"probabilities": _t(2, 6, 5), "targets": _i(5, 2, 6), "length": _LENGTHS},
        {"probabilities": _t(2, 7, 5), "targets": _i(5, 2, 7)},
    ),
    "ctc_loss": partial(
        _call,
        f"{_LOSSES}.ctc_loss",
        {
            "log_probs": _t(2, 8, 5).log_softmax(-1),
            "targets": _i(4, 2, 3) + 1,
            "input_lens": _LENGTHS,
            "target_lens": _LENGTHS,
            "blank_index": 0,
        },
        {
            "log_probs": _t(2, 8, 5).log_softmax(-1),
            "targets": _i(4, 2, 3) + 1,
            "input_lens": _LENGTHS,
            "target_lens": _LENGTHS,
            "blank_index": 0,
            "reduction": "batch",
        },
    ),
    "nll_loss_kd": partial(
        _call, f"{_LOSSES}.nll_loss_kd", (_t(2, 6, 5).log_softmax(-1), _t(2, 6, 5).softmax(-1), _LENGTHS)
    ),
    "PitWrapper": lambda: (
        _get(f"{_LOSSES}.PitWrapper")(torch.nn.MSELoss(reduction="none")),
        [(_t(2, 9, 2), _t(2, 9, 2)), (_t(2, 7, 2), _t(2, 7, 2))],
    ),
    "si_snr": partial(_call, f"{_LOSSES}.get_si_snr_with_pitwrapper", (_t(40, 2, 2), _t(40, 2, 2))),
    "cal_snr": partial(_call, f"{_LOSSES}.cal_snr", (_t(40, 2, 2), _t(40, 2, 2)), (_t(50, 2, 2), _t(50, 2, 2))),
    "AdditiveAngularMargin": partial(
        _made, f"{_LOSSES}.AdditiveAngularMargin", {"margin": 0.2, "scale": 30.0}, (_t(4, 5).tanh(), torch.eye(5)[:4])
    ),
    "LogSoftmaxWrapper": lambda: (
        _get(f"{_LOSSES}.LogSoftmaxWrapper")(_get(f"{_LOSSES}.AdditiveAngularMargin")(0.2, 30.0)),
        [(_t(4, 1, 5).tanh(), _i(5, 4, 1))],
    ),
    "ContrastiveLoss": partial(
        _made, f"{_LOSSES}.ContrastiveLoss", {"logit_temp": 0.1}, (_t(2, 6, 8), _t(2, 6, 8), _t(3, 2, 6, 8))
    ),
    "VariationalAutoencoderLoss": lambda: (
        partial(_vae_loss, _get(f"{_LOSSES}.VariationalAutoencoderLoss")(len_dim=1)),
        [(_t(2, 6, 4), _t(2, 6, 4), _t(2, 6, 4), _t(2, 6, 4), _LENGTHS)],
    ),
    "LaplacianVarianceLoss": partial(
        _made, f"{_LOSSES}.LaplacianVarianceLoss", {"kernel_size": 3, "len_dim": -1}, (_t(2, 1, 10, 12), _LENGTHS)
    ),
    "GuidedAttentionLoss": partial(
        _made,
        "speechbrain.nnet.loss.guidedattn_loss.GuidedAttentionLoss",
        {},
        (_u(2, 6, 4), torch.tensor([4, 3]), torch.tensor([6, 5])),
        (_u(2, 8, 5), torch.tensor([5, 3]), torch.tensor([8, 5])),
    ),
    "si_snr_loss": partial(_call, "speechbrain.nnet.loss.si_snr_loss.si_snr_loss", (_t(2, 100), _t(2, 100), _LENGTHS)),
    "StatisticsPooling": partial(
        _made, "speechbrain.nnet.pooling.StatisticsPooling", {}, (_t(2, 10, 8), _LENGTHS), (_t(2, 12, 8),)
    ),
    "AttentionPooling": partial(_made, "speechbrain.nnet.pooling.AttentionPooling", {"input_dim": 8}, (_t(2, 10, 8),)),
    "PCEN": partial(_made, "speechbrain.nnet.normalization.PCEN", {"input_size": 8}, (_u(2, 10, 8),), (_u(2, 14, 8),)),
    "BatchNorm1d": partial(
        _made, "speechbrain.nnet.normalization.BatchNorm1d", {"input_size": 8}, (_t(2, 10, 8),), (_t(2, 12, 8),)
    ),
    "ContentBasedAttention": partial(
        _made,
        "speechbrain.nnet.attention.ContentBasedAttention",
        {"enc_dim": 6, "dec_dim": 5, "attn_dim": 4, "output_dim": 3},
        (_t(2, 10, 6), torch.tensor([10, 7]), _t(2, 5)),
    ),
    "LocationAwareAttention": partial(
        _made,
        "speechbrain.nnet.attention.LocationAwareAttention",
        {"enc_dim": 6, "dec_dim": 5, "attn_dim": 4, "output_dim": 3, "conv_channels": 2, "kernel_size": 3},
        (_t(2, 10, 6), torch.tensor([10, 7]), _t(2, 5)),
    ),
    "RelPosMHAXL": partial(
        _made,
        "speechbrain.nnet.attention.RelPosMHAXL",
        {"embed_dim": 8, "num_heads": 2},
        (_t(2, 6, 8), _t(2, 6, 8), _t(2, 6, 8), _t(1, 11, 8)),
    ),
    "RoPEMHA": partial(
        _made,
        "speechbrain.nnet.attention.RoPEMHA",
        {"embed_dim": 8, "num_heads": 2},
        (_t(2, 6, 8), _t(2, 6, 8), _t(2, 6, 8)),
        (_t(2, 9, 8), _t(2, 9, 8), _t(2, 9, 8)),
    ),
    "HyperMixing": partial(
        _made,
        "speechbrain.nnet.hypermixing.HyperMixing",
        {"input_output_dim": 8, "hypernet_size": 16, "tied": False, "num_heads": 2, "max_length": 40},
        (_t(2, 6, 8), _t(2, 6, 8), _t(2, 6, 8)),
    ),
    "GumbelVectorQuantizer": partial(
        _made,
        "speechbrain.nnet.quantisers.GumbelVectorQuantizer",
        {"input_dim": 8, "num_vars": 6, "temp_tuple": (2.0, 0.25, 0.999), "groups": 2, "vq_dim": 8},
        (_t(2, 5, 8),),
    ),
    "RandomProjectionQuantizer": partial(
        _made,
        "speechbrain.nnet.quantisers.RandomProjectionQuantizer",
        {"input_dim": 8, "cb_dim": 4, "cb_vocab": 10},
        (_t(2, 5, 8),),
    ),
    "UNetModel": partial(
        _made,
        "speechbrain.nnet.unet.UNetModel",
        {
            "in_channels": 1,
            "model_channels": 8,
            "norm_num_groups": 2,
            "out_channels": 1,
            "num_res_blocks": 1,
            "attention_resolutions": [],
        },
        (_t(2, 1, 16, 16), _i(10, 2)),
    ),
    "SpectrogramDrop": partial(
        _made,
        "speechbrain.augment.freq_domain.SpectrogramDrop",
        {"drop_length_low": 2, "drop_length_high": 4, "dim": 1},
        *_FEATURES,
    ),
    "SpectrogramDrop zeros": partial(
        _made, "speechbrain.augment.freq_domain.SpectrogramDrop", {"replace": "zeros", "dim": 2}, *_FEATURES
    ),
    "Warping": partial(_made, "speechbrain.augment.freq_domain.Warping", {"warp_window": 4}, *_FEATURES),
    "RandomShift": partial(
        _made,
        "speechbrain.augment.freq_domain.RandomShift",
        {"min_shift": -5, "max_shift": 5},
        *((f, _LENGTHS) for (f,) in _FEATURES),
    ),
    "AddNoise": partial(_made, "speechbrain.augment.time_domain.AddNoise", {"normalize": True}, *_WAVES),
    "DropFreq": partial(_made, "speechbrain.augment.time_domain.DropFreq", {}, *_WAVE),
    "DropChunk": partial(
        _made, "speechbrain.augment.time_domain.DropChunk", {"drop_length_low": 10, "drop_length_high": 90}, *_WAVES
    ),
    "FastDropChunk": partial(
        _made,
        "speechbrain.augment.time_domain.FastDropChunk",
        {"drop_length_low": 10, "drop_length_high": 90, "n_masks": 8},
        (_t(2, 1600),),
    ),
    "DoClip": partial(_made, "speechbrain.augment.time_domain.DoClip", {}, *_WAVE),
    "RandAmp": partial(_made, "speechbrain.augment.time_domain.RandAmp", {}, *_WAVE),
    "ChannelDrop": partial(_made, "speechbrain.augment.time_domain.ChannelDrop", {"drop_rate": 0.5}, (_t(4, 100, 2),)),
    "ChannelSwap": partial(_made, "speechbrain.augment.time_domain.ChannelSwap", {}, (_t(4, 100, 2),)),
    "CutCat": partial(_made, "speechbrain.augment.time_domain.CutCat", {}, (_t(4, 100),)),
    "DropBitResolution": partial(_made, "speechbrain.augment.time_domain.DropBitResolution", {}, *_WAVE),
    "SignFlip": partial(_made, "speechbrain.augment.time_domain.SignFlip", {}, *_WAVE),
    "Filterbank": partial(
        _made, "speechbrain.processing.features.Filterbank", {"n_fft": 400}, (_u(2, 10, 201),), (_u(2, 12, 201),)
    ),
    "STFT": partial(_made, "speechbrain.processing.features.STFT", {"sample_rate": 16000}, *_WAVE),
    "Deltas": partial(_made, "speechbrain.processing.features.Deltas", {"input_size": 40}, *_FEATURES),
    "InputNormalization": partial(
        _made,
        "speechbrain.processing.features.InputNormalization",
        {},
        *((f, _LENGTHS) for (f,) in _FEATURES),
    ),
    "InputNormalization sentence": partial(
        _made,
        "speechbrain.processing.features.InputNormalization",
        {"norm_type": "sentence"},
        *((f, _LENGTHS) for (f,) in _FEATURES),
    ),
    "GlobalNorm": partial(
        _made, "speechbrain.processing.features.GlobalNorm", {}, *((f, _LENGTHS) for (f,) in _FEATURES)
    ),
    "MinLevelNorm": partial(_made, "speechbrain.processing.features.MinLevelNorm", {"min_level_db": -100}, *_FEATURES),
    "compute_amplitude": partial(
        _call,
        "speechbrain.processing.signal_processing.compute_amplitude",
        {"waveforms": _t(2, 160), "lengths": torch.tensor([[160.0], [120.0]]), "scale": "dB"},
        {"waveforms": _t(2, 200), "amp_type": "peak"},
    ),
    "reverberate": partial(
        _call, "speechbrain.processing.signal_processing.reverberate", (_t(2, 400), _t(100)), (_t(2, 500), _t(100))
    ),
    "notch_filter": partial(_call, "speechbrain.processing.signal_processing.notch_filter", (torch.tensor(0.25),)),
    "spectral features": partial(
        _call, "speechbrain.processing.vocal_features.compute_spectral_features", (_u(2, 10, 20, 1),)
    ),
    "autocorr features": partial(
        _call, "speechbrain.processing.vocal_features.compute_autocorr_features", (_t(2, 4, 200), 10, 60)
    ),
    "ctc_greedy_decode": partial(_call, "speechbrain.decoders.ctc.ctc_greedy_decode", (_t(2, 8, 5), _LENGTHS, 0)),
    "EER": partial(_call, "speechbrain.utils.metric_stats.EER", (_u(8) + 0.3, _u(8)), (_u(10) + 0.3, _u(10))),
    "minDCF": partial(_call, "speechbrain.utils.metric_stats.minDCF", (_u(8) + 0.3, _u(8))),
    "TransformerASR": lambda: (
        _get("speechbrain.lobes.models.transformer.TransformerASR.TransformerASR")(
            7, 12, d_model=8, nhead=2, num_encoder_layers=1, num_decoder_layers=1, d_ffn=16
        ),
        [(_t(2, 6, 12), _i(7, 2, 4), _LENGTHS), (_t(2, 8, 12), _i(7, 2, 5), _LENGTHS)],
    ),
    "ConformerEncoder": partial(
        _made,
        "speechbrain.lobes.models.transformer.Conformer.ConformerEncoder",
        {"num_layers": 1, "d_model": 8, "d_ffn": 16, "nhead": 2, "attention_type": "regularMHA"},
        (_t(2, 10, 8),),
    ),
    "ECAPA_TDNN": lambda: (
        _get("speechbrain.lobes.models.ECAPA_TDNN.ECAPA_TDNN")(
            12,
            lin_neurons=8,
            channels=[16] * 5,
            attention_channels=4,
            res2net_scale=2,
            se_channels=4,
        ),
        [(_t(2, 20, 12), _LENGTHS), (_t(2, 26, 12),)],
    ),
    "Xvector": partial(
        _made,
        "speechbrain.lobes.models.Xvector.Xvector",
        {"in_channels": 12, "tdnn_channels": [16, 16, 16, 16, 32], "lin_neurons": 8},
        (_t(2, 20, 12), _LENGTHS),
    ),
    "Conv-TasNet": lambda: (
        _get("speechbrain.lobes.models.conv_tasnet.MaskNet")(8, 4, 8, 3, 2, 1, C=2),
        [(_t(2, 8, 10),)],
    ),
    "length mask": partial(
        _call,
        "speechbrain.dataio.dataio.length_to_mask",
        (torch.tensor([3.0, 5.0]),),
        {"length": torch.tensor([3, 4]), "max_len": 6},
    ),
    "undo_padding": partial(_call, "speechbrain.utils.data_utils.undo_padding", (_i(9, 2, 8), _LENGTHS)),
    "batch_pad_right": partial(_call, "speechbrain.utils.data_utils.batch_pad_right", ([_t(3, 2), _t(5, 2)],)),
    "Diffuser": lambda: _diffuser(),
}


def _vae_loss(loss: Any, rec: Any, target: Any, mean: Any, log_var: Any, lengths: Any) -> Any:
    made = _get("speechbrain.nnet.autoencoders.VariationalAutoencoderOutput")
    return loss(
        made(rec=rec, latent=mean, mean=mean, log_var=log_var, latent_sample=mean, latent_length=None), target, lengths
    )


def _diffuser() -> tuple[Any, list[Any]]:
    kind = _get("speechbrain.nnet.diffusion.DenoisingDiffusion")
    unet = _get("speechbrain.nnet.unet.UNetModel")(
        in_channels=1, model_channels=8, norm_num_groups=2, out_channels=1, num_res_blocks=1, attention_resolutions=[]
    )
    return kind(model=unet, timesteps=5), [(_t(2, 1, 16, 16),)]


_X, _Y = _u(2, 3, 64, 64), _u(2, 3, 64, 64)
_X2, _Y2 = _u(1, 3, 72, 80), _u(1, 3, 72, 80)
_BIG = (_u(1, 3, 176, 176), _u(1, 3, 176, 176))
_FEATS = (_t(30, 8), _t(30, 8))

_PIQ: dict[str, Any] = {
    **{
        name: partial(_call, f"piq.{name}", (_X, _Y), (_X2, _Y2))
        for name in ("psnr", "ssim", "gmsd", "fsim", "haarpsi", "mdsi", "vif_p", "vsi", "srsim", "dss")
    },
    **{name: partial(_call, f"piq.{name}", _BIG) for name in ("multi_scale_ssim", "information_weighted_ssim")},
    "multi_scale_gmsd": partial(_call, "piq.multi_scale_gmsd", (_X, _Y)),
    "total_variation": partial(_call, "piq.total_variation", (_X,), (_X2,)),
    "FID": lambda: (_get("piq.FID")().compute_metric, [_FEATS]),
    "KID": lambda: (_get("piq.KID")(subset_size=10).compute_metric, [_FEATS]),
    "IS": lambda: (_get("piq.IS")(num_splits=2).compute_metric, [_FEATS]),
    "PR": lambda: (_get("piq.PR")().compute_metric, [_FEATS]),
    **{
        name: partial(_made, f"piq.{name}", {}, (_X, _Y), (_X2, _Y2))
        for name in ("SSIMLoss", "GMSDLoss", "VIFLoss", "MDSILoss", "TVLoss")[:4]
    },
}

_SOUND = ((_t(2, 1, 4000), _t(2, 1, 4000)), (_t(1, 1, 5000), _t(1, 1, 5000)))
_AURALOSS: dict[str, Any] = {
    **{
        f"time {name}": partial(_made, f"auraloss.time.{name}", {}, *_SOUND)
        for name in ("ESRLoss", "DCLoss", "LogCoshLoss", "SNRLoss", "SISDRLoss", "SDSDRLoss")
    },
    "freq STFTLoss": partial(
        _made, "auraloss.freq.STFTLoss", {"fft_size": 256, "hop_size": 64, "win_length": 256}, *_SOUND
    ),
    "freq MultiResolutionSTFTLoss": partial(
        _made,
        "auraloss.freq.MultiResolutionSTFTLoss",
        {"fft_sizes": [256, 128], "hop_sizes": [64, 32], "win_lengths": [256, 128]},
        *_SOUND,
    ),
    "freq RandomResolutionSTFTLoss": partial(
        _made,
        "auraloss.freq.RandomResolutionSTFTLoss",
        {"resolutions": 2, "min_fft_size": 64, "max_fft_size": 256},
        *_SOUND,
    ),
    "perceptual FIRFilter": partial(_made, "auraloss.perceptual.FIRFilter", {}, *_SOUND),
}

_ASTEROID: dict[str, Any] = {
    "PITLossWrapper": lambda: (
        _get("asteroid.losses.pit_wrapper.PITLossWrapper")(
            _get("asteroid.losses.sdr.pairwise_neg_sisdr"), pit_from="pw_mtx"
        ),
        [(_t(2, 3, 200), _t(2, 3, 200)), (_t(2, 2, 240), _t(2, 2, 240))],
    ),
    "SinkPITLossWrapper": lambda: (
        _get("asteroid.losses.sinkpit_wrapper.SinkPITLossWrapper")(_get("asteroid.losses.sdr.pairwise_neg_sisdr")),
        [(_t(2, 3, 200), _t(2, 3, 200))],
    ),
    "MixITLossWrapper": lambda: (
        _get("asteroid.losses.mixit_wrapper.MixITLossWrapper")(_get("asteroid.losses.sdr.multisrc_neg_sisdr")),
        [(_t(2, 4, 200), _t(2, 2, 200))],
    ),
    "F1_loss": partial(_made, "asteroid.losses.soft_f1.F1_loss", {}, (_t(6, 2), torch.eye(2)[_i(2, 6)])),
    "gLN": partial(_made, "asteroid.masknn.norms.GlobLN", {"channel_size": 4}, (_t(2, 4, 10),), (_t(2, 4, 12),)),
    "TDConvNet": partial(
        _made,
        "asteroid.masknn.convolutional.TDConvNet",
        {"in_chan": 8, "n_src": 2, "n_blocks": 2, "n_repeats": 1, "bn_chan": 4, "hid_chan": 8, "skip_chan": 4},
        (_t(2, 8, 20),),
    ),
    "TAC": partial(
        _made,
        "asteroid.masknn.tac.TAC",
        {"input_dim": 4, "hidden_dim": 8},
        (_t(2, 3, 4, 5, 6), torch.tensor([3, 2])),
    ),
}

_LOGITS, _MASKS = _t(2, 3, 16, 16), _i(3, 2, 16, 16)
_BINARY, _TRUTH = _t(2, 1, 16, 16), _i(2, 2, 1, 16, 16)
_SMP: dict[str, Any] = {
    **{
        f"{name} {mode}": partial(
            _made,
            f"segmentation_models_pytorch.losses.{file}.{name}",
            {"mode": mode, **more},
            (_LOGITS, _MASKS) if mode == "multiclass" else (_BINARY, _TRUTH.float()),
        )
        for name, file, more in (
            ("DiceLoss", "dice", {}),
            ("JaccardLoss", "jaccard", {}),
            ("TverskyLoss", "tversky", {}),
            ("FocalLoss", "focal", {}),
            ("FocalLoss", "focal", {"ignore_index": 2}),
            ("LovaszLoss", "lovasz", {"ignore_index": 2}),
        )
        for mode in ("multiclass", "binary")
    },
    "MCCLoss": partial(_made, "segmentation_models_pytorch.losses.mcc.MCCLoss", {}, (_BINARY, _TRUTH)),
    "SoftBCE": partial(
        _made, "segmentation_models_pytorch.losses.soft_bce.SoftBCEWithLogitsLoss", {}, (_BINARY, _TRUTH.float())
    ),
    "SoftCE": partial(
        _made,
        "segmentation_models_pytorch.losses.soft_ce.SoftCrossEntropyLoss",
        {"smooth_factor": 0.1, "ignore_index": 2},
        (_LOGITS, _MASKS),
    ),
    "get_stats": lambda: (
        partial(_get("segmentation_models_pytorch.metrics.functional.get_stats"), mode="multiclass", num_classes=3),
        [(_MASKS, _i(3, 2, 16, 16))],
    ),
    "iou_score": lambda: (
        partial(_get("segmentation_models_pytorch.metrics.functional.iou_score"), reduction="macro-imagewise"),
        [tuple(_i(9, 2, 3) for _ in range(4))],
    ),
}

_TOOLBELT: dict[str, Any] = {
    "BinaryFocalLoss": partial(
        _made, "pytorch_toolbelt.losses.BinaryFocalLoss", {"ignore_index": 2}, (_BINARY, _TRUTH.float())
    ),
    "CrossEntropyFocalLoss": partial(
        _made, "pytorch_toolbelt.losses.CrossEntropyFocalLoss", {"ignore_index": 2}, (_LOGITS, _MASKS)
    ),
    "LovaszLoss": partial(_made, "pytorch_toolbelt.losses.LovaszLoss", {"ignore": 2}, (_LOGITS.softmax(1), _MASKS)),
    "BinaryLovaszLoss": partial(
        _made, "pytorch_toolbelt.losses.BinaryLovaszLoss", {"ignore_index": 2}, (_t(2, 16, 16), _i(2, 2, 16, 16))
    ),
    "BiTemperedLogisticLoss": partial(
        _made,
        "pytorch_toolbelt.losses.BiTemperedLogisticLoss",
        {"t1": 0.8, "t2": 1.4},
        (_t(4, 5), _u(4, 5).softmax(-1)),
    ),
    "BalancedBCEWithLogitsLoss": partial(
        _made, "pytorch_toolbelt.losses.BalancedBCEWithLogitsLoss", {"ignore_index": 2}, (_BINARY, _TRUTH.float())
    ),
    "WingLoss": partial(_made, "pytorch_toolbelt.losses.WingLoss", {}, (_t(4, 5) * 5, _t(4, 5) * 5)),
    "QualityFocalLoss": partial(_made, "pytorch_toolbelt.losses.QualityFocalLoss", {}, (_BINARY, _TRUTH.float())),
}

_KB = {"im_size": (16, 16)}
_KBNUFFT: dict[str, Any] = {
    "KbNufft": partial(
        _made, "torchkbnufft.KbNufft", _KB, (torch.complex(_t(1, 1, 16, 16), _t(1, 1, 16, 16)), _t(2, 30))
    ),
    "KbNufftAdjoint": partial(
        _made, "torchkbnufft.KbNufftAdjoint", _KB, (torch.complex(_t(1, 1, 30), _t(1, 1, 30)), _t(2, 30))
    ),
}

MODELS = {
    f"{package}/{name}": build
    for package, group in (
        ("speechbrain", _SPEECHBRAIN),
        ("piq", _PIQ),
        ("auraloss", _AURALOSS),
        ("asteroid", _ASTEROID),
        ("segmentation_models_pytorch", _SMP),
        ("pytorch_toolbelt", _TOOLBELT),
        ("torchkbnufft", _KBNUFFT),
    )
    for name, build in group.items()
}

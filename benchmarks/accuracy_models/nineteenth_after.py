"""Models of fastai, deepchem, demucs, x_clip and batchgeneratorsv2.

They were written after the work on the nineteenth group, and before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(49)
_ABSENT = {
    "fastai": ("torchvision.models",),
    "deepchem": ("rdkit", "tensorflow"),
    "x_clip": ("torchvision.transforms",),
    "demucs": ("openunmix.filtering", "dora.log"),
}
_get = getter(_ABSENT, ("deepchem", "deepchem.models", "deepchem.models.torch_models", "deepchem.utils"))
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_F = "fastai.layers."
_L = "fastai.losses."
_M = "fastai.metrics."
_MAPS = _t(2, 8, 8, 8)
_CLASSES = (_t(6, 4), _i(4, 6))


def _accumulated(name: str, *given: Any, **options: Any) -> Callable[[], Built]:
    """A metric of fastai that is made once and gets one batch."""

    def build() -> Built:
        made = _get(_M + name)(*given, **options)

        def use(metric: Any, predicted: torch.Tensor, wanted: torch.Tensor) -> Any:
            learner = type("Learner", (), {"pred": predicted, "y": wanted, "yb": (wanted,)})
            metric.reset()
            metric.accumulate(learner)
            return metric.value

        return held(made, use, (_t(2, 3, 8, 8), _i(3, 2, 8, 8)))

    return build


_FASTAI: dict[str, Callable[[], Built]] = {
    "View": lambda: _made(_F + "View", [(_MAPS,)], 2, 8, 64),
    "SigmoidRange": lambda: _made(_F + "SigmoidRange", [(_t(4),)], -1.0, 2.0),
    "AdaptiveConcatPool2d": lambda: _made(_F + "AdaptiveConcatPool2d", [(_MAPS,)]),
    "PoolFlatten": lambda: _made(_F + "PoolFlatten", [(_MAPS,)]),
    "BatchNorm1dFlat": lambda: _made(_F + "BatchNorm1dFlat", [(_t(2, 5, 4),)], 4),
    "LinBnDrop": lambda: _made(_F + "LinBnDrop", [(_t(6, 8),)], 8, 4, p=0.1),
    "ConvLayer": lambda: _made(_F + "ConvLayer", [(_MAPS,)], 8, 4),
    "SelfAttention": lambda: _made(_F + "SelfAttention", [(_MAPS,)], 8),
    "PooledSelfAttention2d": lambda: _made(_F + "PooledSelfAttention2d", [(_MAPS,)], 8),
    "SimpleSelfAttention": lambda: _made(_F + "SimpleSelfAttention", [(_MAPS,)], 8, sym=True),
    "SequentialEx": lambda: (
        _get(_F + "SequentialEx")(nn.Conv2d(8, 8, 1), _get(_F + "MergeLayer")()),
        [(_MAPS,)],
    ),
    "SimpleCNN": lambda: _made(_F + "SimpleCNN", [(_MAPS,)], [8, 4, 4]),
    "SEModule": lambda: (_get(_F + "SEModule")(8, 2), [(_MAPS,)]),
    "ResBlock": lambda: _made(_F + "ResBlock", [(_MAPS,)], 1, 8, 8),
    "SEBlock": lambda: (_get(_F + "SEBlock")(1, 8, 8, reduction=2), [(_MAPS,)]),
    "TimeDistributed": lambda: _made(_F + "TimeDistributed", [(_t(2, 3, 8, 4, 4),)], nn.Conv2d(8, 4, 1)),
    "TimeDistributed low": lambda: _made(
        _F + "TimeDistributed", [(_t(2, 3, 8, 4, 4),)], nn.Conv2d(8, 4, 1), low_mem=True
    ),
    "swish": lambda: _call(_F + "swish", (_t(4),)),
    "mish": lambda: _call(_F + "mish", (_t(4),)),
    "NoneReduce": lambda: held(nn.MSELoss(), lambda m, x, y: _none_reduced(m, x, y), (_t(4), _t(4))),
    "CrossEntropyLossFlat": lambda: _made(_L + "CrossEntropyLossFlat", [_CLASSES]),
    "FocalLoss": lambda: _made(_L + "FocalLoss", [_CLASSES]),
    "FocalLossFlat": lambda: _made(_L + "FocalLossFlat", [_CLASSES]),
    "BCEWithLogitsLossFlat": lambda: _made(_L + "BCEWithLogitsLossFlat", [(_t(6, 4), _i(2, 6, 4))]),
    "MSELossFlat": lambda: (_get(_L + "MSELossFlat")(), [(_t(6, 4), _t(6, 4))]),
    "LabelSmoothingCrossEntropy": lambda: _made(_L + "LabelSmoothingCrossEntropy", [_CLASSES]),
    "DiceLoss": lambda: _made(_L + "DiceLoss", [(_t(2, 3, 8, 8), _i(3, 2, 8, 8))]),
    "accuracy": lambda: _call(_M + "accuracy", _CLASSES),
    "error_rate": lambda: _call(_M + "error_rate", _CLASSES),
    "top_k_accuracy": lambda: _call(_M + "top_k_accuracy", (*_CLASSES, 2)),
    "accuracy_multi": lambda: _call(_M + "accuracy_multi", (_t(6, 4), _i(2, 6, 4).bool())),
    "mse": lambda: _call(_M + "mse", (_t(6), _t(6))),
    "msle": lambda: _call(_M + "msle", (_u(6), _u(6))),
    "foreground_acc": lambda: _call(_M + "foreground_acc", (_t(2, 3, 8, 8), _i(3, 2, 8, 8))),
    "Dice": _accumulated("Dice"),
    "DiceMulti": _accumulated("DiceMulti"),
    "JaccardCoeff": _accumulated("JaccardCoeff"),
}


def _none_reduced(loss: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    with _get(_F + "NoneReduce")(loss) as apart:
        result: torch.Tensor = apart(x, y)
    return result


_D = "deepchem.models.torch_models.layers."
_P = "deepchem.utils.pytorch_utils."
_O = "deepchem.models.losses."


def _loss(name: str, *inputs: Any, **options: Any) -> Callable[[], Built]:
    return lambda: (_get(_O + name)(**options)._create_pytorch_loss(), list(inputs))


_EDGES = torch.tensor([[0, 1, 2, 3, 4], [1, 2, 3, 4, 0]])
_DEEPCHEM: dict[str, Callable[[], Built]] = {
    "MultilayerPerceptron": lambda: _made(
        _D + "MultilayerPerceptron", [(_t(6, 4),)], 4, 2, (8, 8), 0.1, True, skip_connection=True
    ),
    "CNNModule": lambda: _made(
        _D + "CNNModule", [(_t(2, 8, 4),)], n_tasks=2, n_features=4, dims=1, layer_filters=[4], kernel_size=3
    ),
    "ScaleNorm": lambda: _made(_D + "ScaleNorm", [(_t(4, 3),)], 2.0),
    "MultiHeadedMATAttention": lambda: _made(
        _D + "MultiHeadedMATAttention",
        [(_t(2, 5, 8), _t(2, 5, 8), _t(2, 5, 8), torch.ones(2, 5), _u(2, 5, 5), _u(2, 5, 5))],
        h=2,
        hsize=8,
    ),
    "MATEncoderLayer": lambda: _made(
        _D + "MATEncoderLayer",
        [(_t(2, 5, 8), torch.ones(2, 5), _u(2, 5, 5), _u(2, 5, 5))],
        h=2,
        sa_hsize=8,
        d_input=8,
        d_hidden=8,
        d_output=8,
        encoder_hsize=8,
    ),
    "PositionwiseFeedForward": lambda: _made(
        _D + "PositionwiseFeedForward", [(_t(2, 5, 8),)], 8, 8, 8, n_layers=2, dropout_p=0.1
    ),
    "MATGenerator": lambda: _made(_D + "MATGenerator", [(_t(2, 5, 8), torch.ones(2, 5))], 8, d_output=1),
    "GraphNetwork": lambda: _made(_D + "GraphNetwork", [(_t(5, 8), _EDGES, _t(5, 8), _t(1, 8))], 8, 8, 8),
    "InteratomicL2Distances": lambda: _made(_D + "InteratomicL2Distances", [([_t(5, 3), _i(5, 5, 2)],)], 5, 2, 3),
    "RealNVPLayer": lambda: _made(_D + "RealNVPLayer", [(_t(4, 6),)], torch.tensor([1.0, 0, 1, 0, 1, 0]), 8),
    "Affine": lambda: _made(_D + "Affine", [(_t(4, 6),)], 6),
    "LSTMStep": lambda: held(
        _get(_D + "LSTMStep")(8, 8), lambda m, x: m([x, *m.get_initial_states(x.shape)]), (_t(4, 8),)
    ),
    "CombineMeanStd": lambda: _made(_D + "CombineMeanStd", [([_t(4, 6), _t(4, 6)],)], False, 1.0),
    "GatedRecurrentUnit": lambda: _made(_D + "GatedRecurrentUnit", [([_t(4, 8), _t(4, 8)],)], 8),
    "WeightedLinearCombo": lambda: _made(_D + "WeightedLinearCombo", [([_t(4, 3), _t(4, 3)],)], 2),
    "DTNNEmbedding": lambda: _made(_D + "DTNNEmbedding", [(_i(9, 6),)], 8, 10),
    "DTNNGather": lambda: _made(_D + "DTNNGather", [([_t(5, 8), torch.tensor([0, 0, 1, 1, 1])],)], 8, 3, [4]),
    "EdgeNetwork": lambda: _made(
        _D + "EdgeNetwork",
        [([_t(7, 4), _t(5, 8), torch.tensor([[0, 1], [0, 2], [1, 2], [2, 0], [3, 1], [4, 0], [4, 1]])],)],
        4,
        8,
    ),
    "MolGANConvolutionLayer": lambda: _made(
        _D + "MolGANConvolutionLayer", [([_u(2, 5, 5, 4), _u(2, 5, 3)],)], 8, 3, edges=4
    ),
    "MolGANAggregationLayer": lambda: _made(_D + "MolGANAggregationLayer", [(_t(2, 5, 8),)], 4, prev_shape=8),
    "MXMNetBesselBasisLayer": lambda: _made(_D + "MXMNetBesselBasisLayer", [(_u(5) * 4 + 0.1,)], 4),
    "EncoderRNN": lambda: _made(_D + "EncoderRNN", [(_i(9, 2, 6),)], 9, 8, 1),
    "DecoderRNN": lambda: _made(_D + "DecoderRNN", [([_t(2, 8), _i(9, 2, 4)],)], 8, 9, 1, 4, 2),
    "FerminetElectronFeature": lambda: _made(
        _D + "FerminetElectronFeature", [(_t(2, 4, 4), _t(2, 4, 4, 4))], [8, 8], [4, 4], 1, 2, 4, [2, 2]
    ),
    "HighwayLayer": lambda: _made(_D + "HighwayLayer", [(_t(4, 8),)], 8),
    "unsorted_segment_sum": lambda: _call(_P + "unsorted_segment_sum", (_t(6, 3), _i(4, 6), 4)),
    "segment_sum": lambda: _call(_P + "segment_sum", (_t(6, 3), torch.tensor([0, 0, 1, 1, 2, 2]))),
    "tallqr": lambda: _call(_P + "tallqr", (_t(2, 6, 3),)),
    "to_fortran_order": lambda: _call(_P + "to_fortran_order", (_t(2, 6, 3),)),
    "gaussian_integral": lambda: _call(_P + "gaussian_integral", (2, _u(3) + 0.1)),
    "L1Loss": _loss("L1Loss", (_t(4, 3), _t(4, 3))),
    "HuberLoss": _loss("HuberLoss", (_t(4, 3), _t(4, 3))),
    "HingeLoss": _loss("HingeLoss", (_t(4, 3), _i(2, 4, 3).float())),
    "PoissonLoss": _loss("PoissonLoss", (_u(4, 3), _u(4, 3))),
    "CategoricalCrossEntropy": _loss("CategoricalCrossEntropy", (_u(4, 3), torch.eye(3)[_i(3, 4)])),
    "SparseSoftmaxCrossEntropy": _loss("SparseSoftmaxCrossEntropy", (_t(4, 3), _i(3, 4))),
    "VAE_ELBO": _loss("VAE_ELBO", (_t(4, 3), _u(4, 3) + 0.1, _u(4, 5), _u(4, 5))),
    "ShannonEntropy": _loss("ShannonEntropy", (_u(4, 3) + 0.1,)),
    "GlobalMutualInformationLoss": _loss("GlobalMutualInformationLoss", (_t(4, 3), _t(4, 3))),
    "LocalMutualInformationLoss": _loss(
        "LocalMutualInformationLoss", (_t(6, 3), _t(3, 3), torch.tensor([0, 0, 1, 1, 2, 2]))
    ),
    "NTXentMultiplePositives": _loss("NTXentMultiplePositives", (_t(4, 3), _t(8, 3)), variance_reg=0.1),
    "log_sum_exp": lambda: _call(_O + "log_sum_exp", (_t(4, 3), 0)),
    "get_positive_expectation": lambda: _call(_O + "get_positive_expectation", (_t(4), "GAN")),
    "get_negative_expectation": lambda: _call(_O + "get_negative_expectation", (_t(4), "DV")),
    "gd": lambda: _call(
        "deepchem.utils.differentiation_utils.optimize.minimizer.gd",
        (lambda x: ((x - 1) ** 2, 2 * (x - 1)), _u(1), []),
        maxiter=4,
    ),
}


_S = "demucs."
_WAVES = _t(4, 4, 2, 400)
_DEMUCS: dict[str, Callable[[], Built]] = {
    "Shift": lambda: _made(_S + "augment.Shift", [(_WAVES,)], 50),
    "Shift same": lambda: _made(_S + "augment.Shift", [(_WAVES,)], 50, True),
    "FlipChannels": lambda: _made(_S + "augment.FlipChannels", [(_WAVES,)]),
    "FlipSign": lambda: _made(_S + "augment.FlipSign", [(_WAVES,)]),
    "Remix": lambda: _made(_S + "augment.Remix", [(_WAVES,)], 1, 2),
    "Scale": lambda: _made(_S + "augment.Scale", [(_WAVES,)]),
    "BLSTM": lambda: _made(_S + "demucs.BLSTM", [(_t(1, 8, 20),)], 8, 1, None, True),
    "BLSTM steps": lambda: _made(_S + "demucs.BLSTM", [(_t(1, 8, 20),)], 8, 1, 8, True),
    "DConv": lambda: _made(_S + "demucs.DConv", [(_t(1, 16, 20),)], 16, attn=True, lstm=True, heads=2),
    "LocalState": lambda: _made(_S + "demucs.LocalState", [(_t(1, 8, 20),)], 8, 2, 1, 2),
    "Demucs": lambda: _made(
        _S + "demucs.Demucs", [(_t(1, 2, 1000),)], ["a", "b"], channels=8, depth=2, norm_groups=2, dconv_comp=4
    ),
    "ScaledEmbedding": lambda: _made(_S + "hdemucs.ScaledEmbedding", [(_i(8, 6),)], 8, 4, smooth=True),
    "pad1d": lambda: _call(_S + "hdemucs.pad1d", (_t(1, 2, 6), (8, 8), "reflect")),
    "spectro": lambda: _call(_S + "spec.spectro", (_t(2, 1000), 128)),
    "ispectro": lambda: _call(_S + "spec.ispectro", (torch.complex(_t(2, 65, 20), _t(2, 65, 20)),)),
    "svd_penalty": lambda: held(
        nn.Sequential(nn.Conv1d(8, 8, 3), nn.Linear(400, 8)),
        lambda m, x: x * _get(_S + "svd.svd_penalty")(m, 1e-6),
        (_t(1),),
    ),
    "convert_audio_channels": lambda: _call(_S + "audio.convert_audio_channels", (_t(2, 1, 50), 2)),
    "prevent_clip": lambda: _call(_S + "audio.prevent_clip", (_t(2, 50),)),
    "f32_pcm": lambda: _call(_S + "audio.f32_pcm", (_i(100, 2, 50).short(),)),
    "apply_model": lambda: _applied(),
    "CrossTransformerEncoder": lambda: _made(
        _S + "transformer.CrossTransformerEncoder",
        [(_t(1, 8, 4, 6), _t(1, 8, 10))],
        8,
        num_heads=2,
        num_layers=2,
        hidden_scale=2.0,
        sin_random_shift=3,
    ),
    "create_sin_embedding": lambda: _using(
        _S + "transformer.create_sin_embedding", lambda f, x: x + f(5, 8), (_t(5, 1, 8),)
    ),
    "TensorChunk": lambda: _using(_S + "apply.TensorChunk", lambda c, x: c(x, 10, 20).padded(40), (_t(1, 2, 50),)),
}


class _Separated(nn.Module):
    """A small model of the kind that `apply_model` takes."""

    samplerate = 100
    segment = 1.0
    sources = ("a", "b")
    audio_channels = 2

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Conv1d(2, 4, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layer(x).reshape(len(x), 2, 2, -1)


def _applied() -> Built:
    function = _get(_S + "apply.apply_model")
    return held(_Separated().eval(), lambda m, x: function(m, x, shifts=1, split=True, segment=1.0), (_t(1, 2, 250),))


_X = "x_clip."
_TOKENS = torch.tensor([[3, 4, 5, 1, 0, 0], [6, 1, 2, 7, 8, 0]])
_PICTURES = _t(2, 3, 16, 16)


def _clip(inputs: Any, **options: Any) -> Callable[[], Built]:
    given = {
        "dim_text": 16,
        "dim_image": 16,
        "dim_latent": 8,
        "num_text_tokens": 20,
        "text_enc_depth": 1,
        "text_seq_len": 6,
        "text_heads": 2,
        "text_dim_head": 8,
        "visual_enc_depth": 1,
        "visual_image_size": 16,
        "visual_patch_size": 8,
        "visual_heads": 2,
        "visual_dim_head": 8,
    }
    return lambda: (_get(_X + "CLIP")(**{**given, **options}), [inputs])


_LOSS = {"text": _TOKENS, "image": _PICTURES, "return_loss": True}
_XCLIP: dict[str, Callable[[], Built]] = {
    "CLIP": _clip((_TOKENS, _PICTURES)),
    "CLIP loss": _clip(_LOSS),
    "CLIP fine": _clip(_LOSS, use_all_token_embeds=True),
    "CLIP decoupled": _clip(_LOSS, decoupled_contrastive_learning=True, extra_latent_projection=True),
    "CLIP mlm": _clip({**_LOSS, "freeze_image_encoder": True}, use_mlm=True),
    "CLIP latents": _clip({"text": _TOKENS, "image": _PICTURES, "return_latents": True}),
    "CLIP multiview": _clip({**_LOSS, "aug_text": _TOKENS, "aug_image": _PICTURES}),
    "PatchDropout": lambda: _made(_X + "x_clip.PatchDropout", [(_t(2, 8, 4),)], 0.5),
    "TextTransformer": lambda: _made(
        _X + "x_clip.TextTransformer",
        [(_TOKENS, _TOKENS > 0)],
        16,
        num_tokens=20,
        max_seq_len=8,
        dim_head=8,
        depth=1,
        heads=2,
        causal=True,
    ),
    "prob_mask_like": lambda: _call(_X + "mlm.prob_mask_like", (_t(2, 6), 0.3)),
    "mask_with_tokens": lambda: _call(_X + "mlm.mask_with_tokens", (_TOKENS, [0, 1])),
    "get_mask_subset_with_prob": lambda: _call(_X + "mlm.get_mask_subset_with_prob", (_TOKENS > 0, 0.5)),
    "contrastive_loss": lambda: _call(_X + "visual_ssl.contrastive_loss", (_t(4, 8), _t(4, 8))),
    "nt_xent_loss": lambda: _call(_X + "visual_ssl.nt_xent_loss", (_t(4, 8), _t(4, 8))),
}

_B = "batchgeneratorsv2.transforms."
_IMAGE = _u(2, 12, 12, 12)
_SEGMENTS = _i(3, 1, 12, 12, 12)


def _transform(path: str, *given: Any, images: bool = True, **options: Any) -> Callable[[], Built]:
    """A use of a transform that is made once."""

    def build() -> Built:
        made = _get(_B + path)(*given, **options)
        if images:
            return held(made, lambda t, x, s: t(image=x, segmentation=s), (_IMAGE, _SEGMENTS))
        return held(made, lambda t, s: t(segmentation=s), (_SEGMENTS,))

    return build


_BATCHES: dict[str, Callable[[], Built]] = {
    "Brightness": _transform("intensity.brightness.MultiplicativeBrightnessTransform", (0.7, 1.3), False),
    "BrightnessAdditive": _transform("intensity.brightness.BrightnessAdditiveTransform", 0.0, 0.1),
    "Contrast": _transform("intensity.contrast.ContrastTransform", (0.7, 1.3), True, False),
    "Gamma": _transform("intensity.gamma.GammaTransform", (0.7, 1.5), 0.5, False, 1.0, 1.0),
    "GaussianNoise": _transform("intensity.gaussian_noise.GaussianNoiseTransform"),
    "Invert": _transform("intensity.inversion.InvertImageTransform", 1.0),
    "MedianFilter": _transform("noise.median_filter.MedianFilterTransform", 3),
    "Sharpening": _transform("noise.sharpen.SharpeningTransform", 0.2),
    "BlankRectangle": _transform("noise.blank_rectangle.BlankRectangleTransform", 4, 0.0, 2),
    "LowResolution": _transform(
        "spatial.low_resolution.SimulateLowResolutionTransform", (0.5, 1.0), False, False, None
    ),
    "Mirror": _transform("spatial.mirroring.MirrorTransform", (0, 1, 2)),
    "Rot90": _transform("spatial.rot90.Rot90Transform", 1),
    "Transpose": _transform("spatial.transpose.TransposeAxesTransform", {0, 1, 2}),
    "Spatial": _transform(
        "spatial.spatial.SpatialTransform",
        (8, 8, 8),
        0,
        False,
        p_rotation=1.0,
        rotation=(-0.5, 0.5),
        p_scaling=1.0,
        scaling=(0.7, 1.4),
    ),
    "Spatial elastic": _transform(
        "spatial.spatial.SpatialTransform", (8, 8, 8), 2, True, p_elastic_deform=1.0, elastic_deform_scale=(0.1, 0.2)
    ),
    "crop_tensor": lambda: _call(_B + "utils.cropping.crop_tensor", (_IMAGE, [6, 6, 6], [8, 8, 16])),
    "center_crop": lambda: _call(_B + "utils.cropping.center_crop", (_IMAGE, [8, 8, 8])),
    "DownsampleSeg": _transform(
        "utils.deep_supervision_downsampling.DownsampleSegForDSTransform", [1.0, 0.5], images=False
    ),
    "RemoveLabel": _transform("utils.remove_label.RemoveLabelTransform", 2, 0, images=False),
    "Regions": _transform("utils.seg_to_regions.ConvertSegmentationToRegionsTransform", [[1, 2], 2], images=False),
    "MaskImage": _transform("utils.nnunet_masking.MaskImageTransform", [0, 1]),
    "Convert3DTo2D": _transform("utils.pseudo2d.Convert3DTo2DTransform"),
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("fastai", _FASTAI),
    **_named("deepchem", _DEEPCHEM),
    **_named("demucs", _DEMUCS),
    **_named("x_clip", _XCLIP),
    **_named("batchgeneratorsv2", _BATCHES),
}

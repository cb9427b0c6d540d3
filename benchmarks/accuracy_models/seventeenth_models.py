"""Models of packages that were chosen and run after the sixteenth group, before anything was changed for them.

Of glasses, parallel_wavegan, fastNLP, fuxictr and unimol_tools. The others stand in `seventeenth_functions`.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(37)
_ABSENT = {
    "glasses": (
        "torchvision.transforms",
        "torchsummary",
        "torchinfo",
        "boto3",
        "botocore",
        "tqdm.autonotebook",
        "requests",
        "matplotlib.pyplot",
        "rich",
        "PIL.Image",
        "cv2",
    ),
    "parallel_wavegan": ("librosa.filters", "typeguard", "soundfile", "kaldiio", "h5py", "tensorboardX", "gdown"),
    "fastNLP": ("rich", "prettytable", "pkg_resources"),
    "fuxictr": ("polars", "h5py", "ray.data.datasource.filename_provider"),
    "unimol_tools": ("addict",),
}
_BARE = (
    "glasses",
    "parallel_wavegan",
    "parallel_wavegan.losses",
    "fastNLP.models",
    "fuxictr",
    "fuxictr.pytorch",
    "unimol_tools",
    "unimol_tools.models",
)


def _prepare(package: str) -> None:
    """Mel filters are all that is used of librosa, and SciPy has moved a window."""
    if package == "parallel_wavegan":
        filters: Any = sys.modules["librosa.filters"]
        filters.mel = lambda n_fft, n_mels, **_: torch.rand(n_mels, n_fft // 2 + 1).numpy()
        library: Any = sys.modules["librosa"]
        library.filters = filters
        signal: Any = importlib.import_module("scipy.signal")
        signal.kaiser = signal.windows.kaiser


_get = getter(_ABSENT, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_G = "glasses.nn."
_GC = "glasses.models.classification."
_IMAGE = _t(2, 3, 32, 32)


def _stages(path: str, *inputs: Any, **options: Any) -> Callable[[], Built]:
    return lambda: _made(path, list(inputs or [(_IMAGE,), (_t(2, 3, 48, 48),)]), **options)


_GLASSES: dict[str, Callable[[], Built]] = {
    "SpatialSE": _stages(_G + "att.SpatialSE", (_t(2, 16, 8, 8),), features=16, reduction=4),
    "ChannelSE": _stages(_G + "att.ChannelSE", (_t(2, 16, 8, 8),), features=16, reduction=4),
    "SpatialChannelSE": _stages(_G + "att.SpatialChannelSE", (_t(2, 16, 8, 8),), features=16, reduction=4),
    "EfficientChannelAtt": _stages(_G + "att.EfficientChannelAtt", (_t(2, 16, 8, 8),), features=16),
    "Conv2dPad": lambda: _made(_G + "blocks.Conv2dPad", [(_IMAGE,)], 3, 4, kernel_size=3),
    "ConvBnAct": lambda: _made(_G + "blocks.ConvBnAct", [(_IMAGE,)], 3, 4, kernel_size=3),
    "BnActConv": lambda: _made(_G + "blocks.BnActConv", [(_IMAGE,)], 3, 4, kernel_size=3),
    "Lambda": lambda: _made(_G + "blocks.Lambda", [(_IMAGE,)], lambda x: x * 2),
    "ResidualAdd": lambda: _made(_G + "blocks.residuals.ResidualAdd", [(_t(2, 4),)], nn.Linear(4, 4)),
    "SpatialPyramidPool": _stages(_G + "pool.SpatialPyramidPool.SpatialPyramidPool", (_t(2, 4, 16, 16),)),
    "DropBlock": _stages(_G + "regularization.DropBlock", (_t(2, 4, 16, 16),), block_size=3, p=0.3),
    "AlexNet": lambda: _made(_GC + "alexnet.AlexNet", [(_t(2, 3, 96, 96),)], n_classes=5),
    "resnet18": lambda: (_get(_GC + "resnet.ResNet").resnet18(n_classes=5), [(_IMAGE,), (_t(2, 3, 48, 48),)]),
    "resnet26d": lambda: (_get(_GC + "resnet.ResNet").resnet26d(n_classes=5), [(_IMAGE,)]),
    "se_resnet18": lambda: (_get(_GC + "senet.SEResNet").se_resnet18(n_classes=5), [(_IMAGE,)]),
    "resnext50": lambda: (_get(_GC + "resnetxt.ResNetXt").resnext50_32x4d(n_classes=5), [(_IMAGE,)]),
    "resnest14d": lambda: (_get(_GC + "resnest.ResNeSt").resnest14d(n_classes=5), [(_t(2, 3, 64, 64),)]),
    "regnetx_002": lambda: (_get(_GC + "regnet.RegNet").regnetx_002(n_classes=5), [(_IMAGE,)]),
    "densenet": lambda: _made(_GC + "densenet.DenseNet", [(_IMAGE,)], n_classes=5, depths=[1, 1, 1, 1]),
    "efficientnet_b0": lambda: (_get(_GC + "efficientnet.EfficientNet").efficientnet_b0(n_classes=5), [(_IMAGE,)]),
    "mobilenet_v2": lambda: (_get(_GC + "mobilenet.MobileNet").mobilenet_v2(n_classes=5), [(_IMAGE,)]),
    "fishnet99": lambda: (_get(_GC + "fishnet.FishNet").fishnet99(n_classes=5), [(_t(2, 3, 64, 64),)]),
    "vgg11": lambda: (_get(_GC + "vgg.VGG").vgg11(n_classes=5), [(_t(1, 3, 224, 224),)]),
    "ViT": lambda: _made(
        _GC + "vit.ViT", [(_IMAGE,)], img_size=32, patch_size=8, emb_size=16, depth=2, num_heads=2, n_classes=5
    ),
    "DeiT": lambda: _made(
        _GC + "deit.DeiT", [(_IMAGE,)], img_size=32, patch_size=8, emb_size=16, depth=2, num_heads=2, n_classes=5
    ),
    "ViT attention mask": lambda: _made(_GC + "vit.MultiHeadAttention", [(_t(2, 5, 8),)], 8, 2),
    "UNet": lambda: _made("glasses.models.segmentation.unet.UNet", [(_t(2, 1, 64, 64),)]),
    "FPN": lambda: _made("glasses.models.segmentation.fpn.FPN", [(_t(2, 1, 64, 64),)]),
    "PFPN": lambda: _made("glasses.models.segmentation.fpn.PFPN", [(_t(2, 1, 64, 64),)]),
}

_P = "parallel_wavegan."
_PL = _P + "layers."
_PM = _P + "models."
_WAVES = (_t(2, 1, 2048), _t(2, 1, 2048))
_HIFI = {
    "in_channels": 8,
    "channels": 16,
    "upsample_scales": (4, 2),
    "upsample_kernel_sizes": (8, 4),
    "resblock_kernel_sizes": (3,),
    "resblock_dilations": [(1, 3)],
}
_FEATURES = [[_t(2, 4, 8), _t(2, 1, 4)], [_t(2, 4, 6), _t(2, 1, 3)]]
_WAVEGAN: dict[str, Callable[[], Built]] = {
    "CausalConv1d": lambda: _made(_PL + "causal_conv.CausalConv1d", [(_t(2, 3, 16),)], 3, 4, 3),
    "CausalConvTranspose1d": lambda: _made(_PL + "causal_conv.CausalConvTranspose1d", [(_t(2, 3, 16),)], 3, 4, 4, 2),
    "DurationPredictor": lambda: _made(
        _PL + "duration_predictor.DurationPredictor", [(_t(2, 7, 8), torch.zeros(2, 7, dtype=torch.bool))], 8
    ),
    "DurationPredictor inference": lambda: _method(
        _PL + "duration_predictor.DurationPredictor", "inference", [(_t(2, 7, 8),)], 8
    ),
    "LengthRegulator": lambda: _made(
        _PL + "length_regulator.LengthRegulator", [(_t(2, 4, 8), torch.tensor([[1, 2, 1, 3], [2, 2, 1, 0]]))]
    ),
    "LengthRegulator alpha": lambda: _made(
        _PL + "length_regulator.LengthRegulator", [(_t(2, 4, 8), torch.tensor([[1, 2, 1, 3], [2, 2, 1, 0]]), 2.0)]
    ),
    "LengthRegulator empty": lambda: _made(
        _PL + "length_regulator.LengthRegulator", [(_t(2, 4, 8), torch.zeros(2, 4, dtype=torch.long))]
    ),
    "pad_list": lambda: _call(_PL + "length_regulator.pad_list", ([_t(3, 4), _t(5, 4)], 0.0)),
    "PQMF": lambda: _method(_PL + "pqmf.PQMF", "analysis", [(_t(2, 1, 64),)]),
    "PQMF synthesis": lambda: _method(_PL + "pqmf.PQMF", "synthesis", [(_t(2, 4, 16),)]),
    "WaveNetResidualBlock": lambda: _made(
        _PL + "residual_block.WaveNetResidualBlock", [(_t(2, 8, 16), _t(2, 6, 16))], 3, 8, 16, 8, 6
    ),
    "HiFiGANResidualBlock": lambda: _made(_PL + "residual_block.HiFiGANResidualBlock", [(_t(2, 8, 16),)], 3, 8),
    "ResidualStack": lambda: _made(_PL + "residual_stack.ResidualStack", [(_t(2, 8, 16),)], 3, 8),
    "SineGen": lambda: _made(_PL + "sine.SineGen", [(_u(2, 32, 1) * 200,)], 8000, 2),
    "SineGen pulse": lambda: _made(_PL + "sine.SineGen", [(_u(2, 32, 1) * 200 + 1,)], 8000, 2, flag_for_pulse=True),
    "TADEResBlock": lambda: _made(_PL + "tade_res_block.TADEResBlock", [(_t(2, 8, 4), _t(2, 6, 4))], 8, 6),
    "UpsampleNetwork": lambda: _made(_PL + "upsample.UpsampleNetwork", [(_t(2, 6, 8),)], [2, 2]),
    "ConvInUpsampleNetwork": lambda: _made(
        _PL + "upsample.ConvInUpsampleNetwork", [(_t(2, 6, 8),)], [2, 2], aux_channels=6, aux_context_window=1
    ),
    "VariancePredictor": lambda: _made(
        _PL + "variance_predictor.VariancePredictor", [(_t(2, 7, 8), torch.zeros(2, 7, 1, dtype=torch.bool))], 8
    ),
    "VQCodebook": lambda: _made(_PL + "vector_quantize_codebook.VQCodebook", [(_t(2, 4, 6),)], 8, 4),
    "VQCodebook straight_through": lambda: _method(
        _PL + "vector_quantize_codebook.VQCodebook", "straight_through", [(_t(2, 4, 6),)], 8, 4
    ),
    "GeneratorAdversarialLoss": lambda: _made(
        _P + "losses.adversarial_loss.GeneratorAdversarialLoss", [(_t(2, 1, 8),), (_FEATURES,)]
    ),
    "DiscriminatorAdversarialLoss": lambda: _made(
        _P + "losses.adversarial_loss.DiscriminatorAdversarialLoss",
        [(_t(2, 1, 8), _t(2, 1, 8)), (_FEATURES, _FEATURES)],
        loss_type="hinge",
    ),
    "DurationPredictorLoss": lambda: _made(
        _P + "losses.duration_prediction_loss.DurationPredictorLoss", [(_t(2, 7), _i(5, 2, 7))]
    ),
    "FeatureMatchLoss": lambda: _made(_P + "losses.feat_match_loss.FeatureMatchLoss", [(_FEATURES, _FEATURES)]),
    "MelSpectrogram": lambda: _made(_P + "losses.mel_loss.MelSpectrogram", [(_t(2, 1, 2048),)], num_mels=10),
    "MelSpectrogramLoss": lambda: _made(_P + "losses.mel_loss.MelSpectrogramLoss", [_WAVES], num_mels=10),
    "STFTLoss": lambda: _made(_P + "losses.stft_loss.STFTLoss", [(_t(2, 2048), _t(2, 2048))], 256, 64, 128),
    "MultiResolutionSTFTLoss": lambda: _made(
        _P + "losses.stft_loss.MultiResolutionSTFTLoss", [_WAVES], [256, 128], [64, 32], [128, 64]
    ),
    "HiFiGANGenerator": lambda: _made(
        _PM + "hifigan.HiFiGANGenerator", [(_t(2, 8, 6),)], use_weight_norm=False, **_HIFI
    ),
    "HiFiGANGenerator inference": lambda: _method(
        _PM + "hifigan.HiFiGANGenerator", "inference", [(_t(6, 8),)], use_weight_norm=False, **_HIFI
    ),
    "HiFiGANPeriodDiscriminator": lambda: _made(
        _PM + "hifigan.HiFiGANPeriodDiscriminator", [(_t(2, 1, 500),)], channels=4, use_weight_norm=False
    ),
    "HiFiGANScaleDiscriminator": lambda: _made(
        _PM + "hifigan.HiFiGANScaleDiscriminator", [(_t(2, 1, 512),)], channels=16, use_weight_norm=False
    ),
    "MelGANGenerator": lambda: _made(
        _PM + "melgan.MelGANGenerator",
        [(_t(2, 8, 16),)],
        8,
        channels=16,
        upsample_scales=[4, 2],
        stacks=1,
        use_weight_norm=False,
    ),
    "MelGANDiscriminator": lambda: _made(_PM + "melgan.MelGANDiscriminator", [(_t(2, 1, 512),)]),
    "ParallelWaveGANGenerator": lambda: _made(
        _PM + "parallel_wavegan.ParallelWaveGANGenerator",
        [(_t(2, 1, 64), _t(2, 8, 20))],
        layers=3,
        residual_channels=8,
        gate_channels=16,
        skip_channels=8,
        aux_channels=8,
        use_weight_norm=False,
        upsample_params={"upsample_scales": [2, 2]},
    ),
    "ParallelWaveGANGenerator inference": lambda: _method(
        _PM + "parallel_wavegan.ParallelWaveGANGenerator",
        "inference",
        [(_t(16, 8),)],
        layers=3,
        residual_channels=8,
        gate_channels=16,
        skip_channels=8,
        aux_channels=8,
        use_weight_norm=False,
        upsample_params={"upsample_scales": [2, 2]},
    ),
    "ParallelWaveGANDiscriminator": lambda: _made(
        _PM + "parallel_wavegan.ParallelWaveGANDiscriminator",
        [(_t(2, 1, 64),)],
        layers=3,
        conv_channels=8,
        use_weight_norm=False,
    ),
    "ResidualParallelWaveGANDiscriminator": lambda: _made(
        _PM + "parallel_wavegan.ResidualParallelWaveGANDiscriminator",
        [(_t(2, 1, 64),)],
        layers=3,
        use_weight_norm=False,
    ),
    "StyleMelGANDiscriminator": lambda: _made(
        _PM + "style_melgan.StyleMelGANDiscriminator", [(_t(2, 1, 6000),)], repeats=1, use_weight_norm=False
    ),
    "UHiFiGANGenerator": lambda: _made(
        _PM + "uhifigan.UHiFiGANGenerator",
        [{"c": _t(2, 8, 8), "f0": _t(2, 1, 8), "excitation": _t(2, 1, 64)}],
        in_channels=8,
        channels=16,
        downsample_scales=(2, 4),
        downsample_kernel_sizes=(4, 8),
        upsample_scales=(4, 2),
        upsample_kernel_sizes=(8, 4),
        resblock_kernel_sizes=(3,),
        resblock_dilations=[(1, 3)],
        use_weight_norm=False,
    ),
}

_F = "fastNLP.modules.torch."
_FM = "fastNLP.models.torch."
_WORDS, _LENGTHS = _i(19, 3, 7) + 1, torch.tensor([7, 5, 2])
_MASK = torch.arange(7)[None] < _LENGTHS[:, None]

_FASTNLP: dict[str, Callable[[], Built]] = {
    "DotAttention": lambda: _made(_F + "attention.DotAttention", [(_t(2, 3, 8), _t(2, 5, 8), _t(2, 5, 8))], 8, 8),
    "MultiHeadAttention": lambda: _made(
        _F + "attention.MultiHeadAttention", [(_t(2, 3, 8), _t(2, 5, 8), _t(2, 5, 8))], 8, 2
    ),
    "MultiHeadAttention masks": lambda: _made(
        _F + "attention.MultiHeadAttention",
        [
            {
                "query": _t(3, 7, 8),
                "key": _t(3, 7, 8),
                "value": _t(3, 7, 8),
                "key_mask": _MASK,
                "attn_mask": torch.tril(torch.ones(7, 7)),
            }
        ],
        8,
        2,
    ),
    "AttentionLayer": lambda: _made(
        _F + "attention.AttentionLayer", [(_t(3, 8), _t(3, 7, 6), _MASK)], input_size=8, key_dim=6, value_dim=6
    ),
    "BiAttention": lambda: _made(_F + "attention.BiAttention", [(_t(3, 7, 8), _MASK, _t(3, 7, 8), _MASK)]),
    "SelfAttention": lambda: _made(_F + "attention.SelfAttention", [(_t(3, 7, 8), _WORDS)], 8, 6, 2),
    "CRF": lambda: _made(
        _F + "decoder.crf.ConditionalRandomField", [(_t(3, 7, 4), _i(4, 3, 7), _MASK)], 4, include_start_end_trans=True
    ),
    "CRF decode": lambda: _method(
        _F + "decoder.crf.ConditionalRandomField", "viterbi_decode", [(_t(3, 7, 4), _MASK)], 4
    ),
    "CRF decode unpad": lambda: _method(
        _F + "decoder.crf.ConditionalRandomField", "viterbi_decode", [(_t(3, 7, 4), _MASK, True)], 4
    ),
    "MLP": lambda: _made(_F + "decoder.mlp.MLP", [(_t(3, 5),)], [5, 8, 4], activation="relu"),
    "TimestepDropout": lambda: _made(_F + "dropout.TimestepDropout", [(_t(3, 7, 8),)], 0.3),
    "ConvMaxpool": lambda: _made(_F + "encoder.conv_maxpool.ConvMaxpool", [(_t(3, 7, 8), _MASK)], 8, [4, 5], [1, 3]),
    "LSTM": lambda: _made(_F + "encoder.lstm.LSTM", [(_t(3, 7, 8), _LENGTHS)], 8, 6, bidirectional=True),
    "LSTM plain": lambda: _made(_F + "encoder.lstm.LSTM", [(_t(3, 7, 8),)], 8, 6),
    "TransformerSeq2SeqEncoder": lambda: _made(
        _F + "encoder.seq2seq_encoder.TransformerSeq2SeqEncoder",
        [(_WORDS, _LENGTHS)],
        nn.Embedding(20, 16),
        d_model=16,
        num_layers=1,
        n_head=2,
        dim_ff=16,
    ),
    "LSTMSeq2SeqEncoder": lambda: _made(
        _F + "encoder.seq2seq_encoder.LSTMSeq2SeqEncoder",
        [(_WORDS, _LENGTHS)],
        nn.Embedding(20, 16),
        num_layers=1,
        hidden_size=8,
    ),
    "StarTransformer": lambda: _made(
        _F + "encoder.star_transformer.StarTransformer", [(_t(3, 7, 8), _MASK)], 8, 2, 2, 4, max_len=10
    ),
    "TransformerEncoder": lambda: _made(
        _F + "encoder.transformer.TransformerEncoder", [(_t(3, 7, 8), _MASK)], 1, 8, 2, 16
    ),
    "top_k_top_p_filtering": lambda: _call(
        _F + "generator.seq2seq_generator.top_k_top_p_filtering", (_t(3, 11), 4), (_t(3, 11), 0, 0.8)
    ),
    "BiaffineParser": lambda: _made(
        _FM + "biaffine_parser.BiaffineParser",
        [(_WORDS, _i(5, 3, 7), _LENGTHS)],
        nn.Embedding(20, 16),
        5,
        4,
        6,
        rnn_hidden_size=8,
        arc_mlp_size=8,
        label_mlp_size=8,
    ),
    "BiaffineParser train": lambda: _method(
        _FM + "biaffine_parser.BiaffineParser",
        "train_step",
        [(_WORDS, _i(5, 3, 7), _LENGTHS, _i(7, 3, 7), _i(6, 3, 7))],
        nn.Embedding(20, 16),
        5,
        4,
        6,
        rnn_hidden_size=8,
        arc_mlp_size=8,
        label_mlp_size=8,
    ),
    "ArcBiaffine": lambda: _made(_FM + "biaffine_parser.ArcBiaffine", [(_t(2, 5, 8), _t(2, 5, 8))], 8),
    "LabelBilinear": lambda: _made(_FM + "biaffine_parser.LabelBilinear", [(_t(2, 5, 8), _t(2, 5, 8))], 8, 8, 3),
    "mst_decoder": lambda: _using(
        _FM + "biaffine_parser.GraphParser", lambda c, x, m: c.mst_decoder(x, m), (_t(3, 7, 7), _MASK)
    ),
    "greedy_decoder": lambda: _using(
        _FM + "biaffine_parser.GraphParser", lambda c, x, m: c.greedy_decoder(x, m), (_t(3, 7, 7), _MASK)
    ),
    "CNNText": lambda: _made(
        _FM + "cnn_text_classification.CNNText",
        [(_WORDS,), (_WORDS, _LENGTHS)],
        nn.Embedding(20, 16),
        3,
        (4, 5),
        (1, 3),
    ),
    "SeqLabeling": lambda: _made(
        _FM + "sequence_labeling.SeqLabeling", [(_WORDS, _LENGTHS)], nn.Embedding(20, 16), 8, 4
    ),
    "BiLSTMCRF": lambda: _made(
        _FM + "sequence_labeling.BiLSTMCRF", [(_WORDS, _i(4, 3, 7), _LENGTHS)], nn.Embedding(20, 16), 4, hidden_size=8
    ),
    "BiLSTMCRF decode": lambda: _made(
        _FM + "sequence_labeling.BiLSTMCRF",
        [{"words": _WORDS, "seq_len": _LENGTHS}],
        nn.Embedding(20, 16),
        4,
        hidden_size=8,
    ),
    "AdvSeqLabel": lambda: _made(
        _FM + "sequence_labeling.AdvSeqLabel", [(_WORDS, _i(4, 3, 7), _LENGTHS)], nn.Embedding(20, 16), 8, 4
    ),
    "TransformerSeq2SeqModel": lambda: (
        _get(_FM + "seq2seq_model.TransformerSeq2SeqModel").build_model(
            src_embed=nn.Embedding(20, 16),
            tgt_embed=nn.Embedding(20, 16),
            num_layers=1,
            d_model=16,
            n_head=2,
            dim_ff=16,
        ),
        [(_WORDS, _WORDS, _LENGTHS, _LENGTHS)],
    ),
    "LSTMSeq2SeqModel": lambda: (
        _get(_FM + "seq2seq_model.LSTMSeq2SeqModel").build_model(
            src_embed=nn.Embedding(20, 16), tgt_embed=nn.Embedding(20, 16), num_layers=1, hidden_size=16, dropout=0.1
        ),
        [(_WORDS, _WORDS, _LENGTHS, _LENGTHS)],
    ),
    "SequenceGeneratorModel": lambda: (
        _get(_FM + "seq2seq_generator.SequenceGeneratorModel")(
            _get(_FM + "seq2seq_model.TransformerSeq2SeqModel").build_model(
                src_embed=nn.Embedding(20, 16),
                tgt_embed=nn.Embedding(20, 16),
                num_layers=1,
                d_model=16,
                n_head=2,
                dim_ff=16,
            ),
            bos_token_id=1,
            eos_token_id=2,
            max_length=5,
            num_beams=1,
            do_sample=False,
        ).evaluate_step,
        [(_WORDS, _LENGTHS)],
    ),
    **{
        f"{name} metric": (
            lambda name=name, inputs=inputs, options=options: _using(
                "fastNLP.core.metrics." + name,
                lambda c, *x: _updated(c(backend="torch", **options), *x),
                inputs,
            )
        )
        for name, inputs, options in (
            ("Accuracy", (_t(3, 7, 4), _i(4, 3, 7), _LENGTHS), {}),
            ("ClassifyFPreRecMetric", (_t(6, 4), _i(4, 6)), {}),
        )
    },
}


def _updated(metric: Any, *given: Any) -> Any:
    metric.update(*given)
    return metric.get_metric()


_X = "fuxictr.pytorch.layers."
_FIELDS = _t(3, 5, 8)


def _features() -> Any:
    features = {f"f{n}": {"type": "categorical", "vocab_size": 10, "source": "user"} for n in range(3)}
    features["n"] = {"type": "numeric", "source": "item"}
    return SimpleNamespace(
        features=features, num_fields=4, labels=["y"], sum_emb_out_dim=lambda: 32, default_emb_dim=8, data_dir="."
    )


_INPUTS = {**{f"f{n}": _i(10, 6) for n in range(3)}, "n": _u(6)}
_FUXICTR: dict[str, Callable[[], Built]] = {
    "Dice": lambda: _made(_X + "activations.Dice", [(_t(6, 8),)], 8),
    "GELU": lambda: _made(_X + "activations.GELU", [(_t(6, 8),)]),
    "ScaledDotProductAttention": lambda: _made(
        _X + "attentions.dot_product_attention.ScaledDotProductAttention",
        [(_t(2, 2, 5, 4), _t(2, 2, 5, 4), _t(2, 2, 5, 4), 2.0, torch.ones(2, 2, 5, 5))],
    ),
    "SqueezeExcitation": lambda: _made(_X + "attentions.squeeze_excitation.SqueezeExcitation", [(_FIELDS,)], 5),
    "DIN_Attention": lambda: _made(
        _X + "attentions.target_attention.DIN_Attention",
        [(_t(3, 8), _t(3, 7, 8), _MASK)],
        8,
        hidden_activations="Dice",
        use_softmax=True,
    ),
    "MultiHeadTargetAttention": lambda: _made(
        _X + "attentions.target_attention.MultiHeadTargetAttention", [(_t(3, 8), _t(3, 7, 8), _MASK)], 8, 8, 2
    ),
    "FactorizationMachine": lambda: (
        _get(_X + "blocks.factorization_machine.FactorizationMachine")(_features()),
        [(_INPUTS, _t(6, 4, 8))],
    ),
    "LogisticRegression": lambda: (
        _get(_X + "blocks.logistic_regression.LogisticRegression")(_features()),
        [(_INPUTS,)],
    ),
    "MLP_Block": lambda: _made(
        _X + "blocks.mlp_block.MLP_Block", [(_t(6, 8),)], 8, [8, 4], output_dim=1, batch_norm=True, dropout_rates=0.1
    ),
    "FeatureEmbedding": lambda: (
        _get(_X + "embeddings.feature_embedding.FeatureEmbedding")(_features(), 8),
        [(_INPUTS,)],
    ),
    "FeatureEmbedding source": lambda: (
        _get(_X + "embeddings.feature_embedding.FeatureEmbedding")(_features(), 8),
        [(_INPUTS, ["user"], ["categorical"], True)],
    ),
    **{
        f"BilinearInteraction {kind}": (
            lambda kind=kind: _made(
                _X + "interactions.bilinear_interaction.BilinearInteraction", [(_FIELDS,)], 5, 8, kind
            )
        )
        for kind in ("field_all", "field_each", "field_interaction")
    },
    "BilinearInteractionV2": lambda: _made(
        _X + "interactions.bilinear_interaction.BilinearInteractionV2", [(_FIELDS,)], 5, 8
    ),
    "CompressedInteractionNet": lambda: _made(
        _X + "interactions.compressed_interaction_net.CompressedInteractionNet", [(_FIELDS,)], 5, [4, 4]
    ),
    "CrossNet": lambda: _made(_X + "interactions.cross_net.CrossNet", [(_t(6, 8),)], 8, 2),
    "CrossNetV2": lambda: _made(_X + "interactions.cross_net.CrossNetV2", [(_t(6, 8),)], 8, 2),
    "CrossNetMix": lambda: _made(_X + "interactions.cross_net.CrossNetMix", [(_t(6, 8),)], 8, 2, 4, 2),
    **{
        f"HolographicInteraction {kind}": (
            lambda kind=kind: _made(
                _X + "interactions.holographic_interaction.HolographicInteraction", [(_FIELDS,)], 5, kind
            )
        )
        for kind in ("hadamard_product", "circular_convolution", "circular_correlation")
    },
    **{
        f"InnerProductInteraction {kind}": (
            lambda kind=kind: _made(_X + "interactions.inner_product.InnerProductInteraction", [(_FIELDS,)], 5, kind)
        )
        for kind in ("product_sum", "bi_interaction", "inner_product", "elementwise_product")
    },
    "InteractionMachine": lambda: _made(
        _X + "interactions.interaction_machine.InteractionMachine", [(_FIELDS,)], 8, 5, True
    ),
    "MaskedAveragePooling": lambda: _made(_X + "pooling.MaskedAveragePooling", [(_FIELDS,)]),
    "MaskedSumPooling": lambda: _made(_X + "pooling.MaskedSumPooling", [(_FIELDS,)]),
    "KMaxPooling": lambda: _made(_X + "pooling.KMaxPooling", [(_FIELDS,)], 2, 1),
}

_U = "unimol_tools.models."
_ATOMS = (_i(8, 2, 6) + 1, _u(2, 6, 6), _t(2, 6, 3), _i(64, 2, 6, 6))
_UNIMOL: dict[str, Callable[[], Built]] = {
    "GHMC_Loss": lambda: _made(_U + "loss.GHMC_Loss", [(_t(6, 2), _u(6, 2).round())], 5, 0.5),
    "GHMR_Loss": lambda: _made(_U + "loss.GHMR_Loss", [(_t(6, 2), _t(6, 2))], 5, 0.5, 0.1),
    "MAEwithNan": lambda: _call(_U + "loss.MAEwithNan", (_t(6), torch.tensor([1.0, 2.0, float("nan"), 4.0, 5.0, 6.0]))),
    "FocalLoss": lambda: _call(_U + "loss.FocalLoss", (_u(6, 1), _u(6, 1).round())),
    "FocalLossWithLogits": lambda: _call(_U + "loss.FocalLossWithLogits", (_t(6, 1), _u(6, 1).round())),
    "myCrossEntropyLoss": lambda: _call(_U + "loss.myCrossEntropyLoss", (_t(6, 3), _i(3, 6, 1))),
    "softmax_dropout": lambda: _call(
        _U + "transformers.softmax_dropout", (_t(2, 3, 3), 0.1, True, torch.zeros(2, 3, 3), torch.zeros(2, 3, 3))
    ),
    "SelfMultiheadAttention": lambda: _made(
        _U + "transformers.SelfMultiheadAttention", [(_t(2, 6, 8), torch.zeros(2, 6, dtype=torch.bool))], 8, 2
    ),
    "TransformerEncoderLayer": lambda: _made(_U + "transformers.TransformerEncoderLayer", [(_t(2, 6, 8),)], 8, 16, 2),
    "TransformerEncoderWithPair": lambda: _made(
        _U + "transformers.TransformerEncoderWithPair",
        [(_t(2, 6, 8), _t(4, 6, 6), torch.tensor([[False] * 6, [False] * 4 + [True] * 2]))],
        2,
        8,
        16,
        2,
    ),
    "softmax_dropout v2": lambda: _call(_U + "transformersv2.softmax_dropout", (_t(2, 3, 3), 0.1, True)),
    "Transition": lambda: _made(_U + "transformersv2.Transition", [(_t(2, 6, 8),)], 8, 2),
    "Attention v2": lambda: _made(
        _U + "transformersv2.Attention",
        [(_t(2, 6, 8), _t(2, 6, 8), _t(2, 6, 8), _t(2, 6, 6, 4))],
        8,
        8,
        8,
        4,
        4,
        2,
        gating=True,
    ),
    "OuterProduct": lambda: _made(
        _U + "transformersv2.OuterProduct", [(_t(2, 6, 8), torch.ones(2, 6, 1), 0.5)], 8, 4, 4
    ),
    "SE3InvariantKernel": lambda: _made(
        _U + "transformersv2.SE3InvariantKernel", [(_u(2, 6, 6), _i(5, 2, 6, 6, 2))], 4, 5, 8
    ),
    "GaussianKernel": lambda: _made(_U + "transformersv2.GaussianKernel", [(_u(2, 6, 6), _i(5, 2, 6, 6, 2))], 8, 5),
    "MovementPredictionHead": lambda: _made(
        _U + "transformersv2.MovementPredictionHead",
        [(_t(2, 6, 8), _t(2, 6, 6, 4), torch.zeros(2, 2, 6, 6), _t(2, 6, 6, 3))],
        8,
        4,
        2,
    ),
    "DropPath": lambda: _made(_U + "transformersv2.DropPath", [(_t(2, 6, 8),)], 0.3),
    "TriangleMultiplication": lambda: _made(
        _U + "transformersv2.TriangleMultiplication", [(_t(2, 6, 6, 4), torch.ones(2, 6, 6))], 4, 4
    ),
    "NonLinear": lambda: _made(_U + "transformersv2.NonLinear", [(_t(2, 6),)], 6, 4),
    "TransformerEncoderWithPairV2": lambda: _made(
        _U + "transformersv2.TransformerEncoderWithPairV2",
        [(_t(2, 6, 8), _t(2, 6, 6, 4), torch.ones(2, 6), torch.ones(2, 6, 6))],
        1,
        8,
        4,
        4,
        16,
        2,
    ),
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("glasses", _GLASSES),
    **_named("parallel_wavegan", _WAVEGAN),
    **_named("fastNLP", _FASTNLP),
    **_named("fuxictr", _FUXICTR),
    **_named("unimol_tools", _UNIMOL),
}

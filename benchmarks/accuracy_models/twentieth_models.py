"""Models of basicsr, onmt (OpenNMT-py), torchlie, darts and composer (mosaicml).

They were chosen after all of the nineteenth group, and written before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(51)
_ABSENT = {
    "basicsr": (
        "cv2",
        "lmdb",
        "torchvision.models",
        "torchvision.ops",
        "torchvision.transforms.functional",
        "torchvision.transforms.functional_tensor",
        "torchvision.utils",
    ),
    "onmt": ("pyonmttok", "ctranslate2", "spacy.language", "ahocorasick", "fasttext", "gcld3", "rapidfuzz"),
    "composer": (
        "mcli",
        "importlib_metadata",
        "torchvision.utils",
        "torchvision.transforms",
        "torchvision.ops",
        "torchvision.datasets.utils",
        "torchvision.models.resnet",
        "torchvision.transforms.functional",
    ),
    "darts": ("pyod",),
}
_BARE = ("basicsr", "basicsr.archs", "basicsr.losses", "basicsr.data", "basicsr.metrics", "composer")
_get = getter(_ABSENT, (*_BARE, "composer.algorithms"))
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_A = "basicsr.archs."
_B = "basicsr.losses."
_J = "basicsr.utils.diffjpeg."
_DG = "basicsr.data.degradations."
_RGB = _u(1, 3, 16, 16)
_PAIR = (_u(2, 3, 16, 16), _u(2, 3, 16, 16))


def _gan(kind: str, disc: bool, real: bool = True) -> Built:
    return held(_get(_B + "gan_loss.GANLoss")(kind), lambda m, x: m(x, real, is_disc=disc), (_t(2, 1, 4, 4),))


def _critic(x: torch.Tensor) -> torch.Tensor:
    return (x * x).sum((1, 2, 3))


_BASICSR: dict[str, Callable[[], Built]] = {
    "EDSR": lambda: _made(_A + "edsr_arch.EDSR", [(_RGB,)], 3, 3, 8, 2, 2),
    "RCAN": lambda: _made(_A + "rcan_arch.RCAN", [(_RGB,)], 3, 3, 16, 1, 2, 4, 2),
    "RIDNet": lambda: _made(_A + "ridnet_arch.RIDNet", [(_RGB,)], 3, 16, 3, 1),
    "RRDBNet": lambda: _made(_A + "rrdbnet_arch.RRDBNet", [(_RGB,)], 3, 3, 2, 8, 1, 4),
    "SpyNet": lambda: _made(_A + "spynet_arch.SpyNet", [(_u(1, 3, 64, 64), _u(1, 3, 64, 64))]),
    "MSRResNet": lambda: _made(_A + "srresnet_arch.MSRResNet", [(_RGB,)], num_feat=8, num_block=2),
    "MSRResNet 3": lambda: _made(_A + "srresnet_arch.MSRResNet", [(_RGB,)], num_feat=8, num_block=1, upscale=3),
    "SRVGGNetCompact": lambda: _made(_A + "srvgg_arch.SRVGGNetCompact", [(_RGB,)], num_feat=8, num_conv=2),
    "SwinIR": lambda: _made(
        _A + "swinir_arch.SwinIR",
        [(_u(1, 3, 16, 16),), (_u(1, 3, 24, 24),)],
        img_size=16,
        embed_dim=12,
        depths=(2, 2),
        num_heads=(2, 2),
        window_size=4,
        upsampler="pixelshuffle",
    ),
    "SwinIR real": lambda: _made(
        _A + "swinir_arch.SwinIR",
        [(_u(1, 3, 16, 16),)],
        img_size=16,
        embed_dim=12,
        depths=(2,),
        num_heads=(2,),
        window_size=4,
        upscale=4,
        upsampler="nearest+conv",
        ape=True,
        resi_connection="3conv",
    ),
    "TOFlow": lambda: _made(_A + "tof_arch.TOFlow", [(_u(1, 7, 3, 16, 16),)]),
    "DUF": lambda: _made(_A + "duf_arch.DUF", [(_u(1, 7, 3, 8, 8),)], 2, 16),
    "ECBSR": lambda: _made(_A + "ecbsr_arch.ECBSR", [(_u(1, 1, 8, 8),)], 1, 1, 1, 4, True, "prelu", 2),
    "ECB rep": lambda: _method(_A + "ecbsr_arch.ECB", "rep_params", [()], 4, 4, 2, "relu", True),
    "UNetDiscriminatorSN": lambda: _made(_A + "discriminator_arch.UNetDiscriminatorSN", [(_u(1, 3, 32, 32),)], 3, 4),
    "VGGStyleDiscriminator": lambda: _made(
        _A + "discriminator_arch.VGGStyleDiscriminator", [(_u(2, 3, 128, 128),)], 3, 4
    ),
    "BasicVSR": lambda: _made(_A + "basicvsr_arch.BasicVSR", [(_u(1, 3, 3, 64, 64),)], 8, 1),
    "HiFaceGANDiscriminator": lambda: _made(
        _A + "hifacegan_arch.HiFaceGANDiscriminator", [(_u(1, 6, 64, 64),)], num_feat=4
    ),
    "LIPEncoder": lambda: _made(_A + "hifacegan_util.LIPEncoder", [(_u(1, 3, 32, 32),)], 3, 4, 4, 4, 3),
    "SPADEResnetBlock": lambda: _made(
        _A + "hifacegan_util.SPADEResnetBlock", [(_t(1, 8, 8, 8), _t(1, 3, 16, 16))], 8, 4, "spectralspadeinstance3x3"
    ),
    "MSDilationBlock": lambda: _made(_A + "dfdnet_util.MSDilationBlock", [(_t(1, 8, 8, 8),)], 8),
    "AdaIN": lambda: _call(_A + "dfdnet_util.adaptive_instance_normalization", (_t(2, 4, 8, 8), _t(2, 4, 8, 8))),
    "flow_warp": lambda: _call(_A + "arch_util.flow_warp", (_t(1, 3, 8, 8), _t(1, 8, 8, 2))),
    "resize_flow": lambda: _using(
        _A + "arch_util.resize_flow", lambda f, x: f(x, "ratio", [0.5, 0.5]), (_t(1, 2, 8, 8),)
    ),
    "resize_flow shape": lambda: _using(
        _A + "arch_util.resize_flow", lambda f, x: f(x, "shape", [6, 4]), (_t(1, 2, 8, 8),)
    ),
    "pixel_unshuffle": lambda: _using(_A + "arch_util.pixel_unshuffle", lambda f, x: f(x, 2), (_RGB,)),
    "DropPath": lambda: _made(_A + "swinir_arch.DropPath", [(_t(4, 8),)], 0.3),
    "L1Loss": lambda: _made(_B + "basic_loss.L1Loss", [(*_PAIR, _u(2, 3, 16, 16))], 0.5),
    "CharbonnierLoss": lambda: _made(_B + "basic_loss.CharbonnierLoss", [_PAIR], 0.5, "sum"),
    "MSELoss weighted": lambda: _made(_B + "basic_loss.MSELoss", [(*_PAIR, _u(2, 1, 16, 16))]),
    "WeightedTVLoss": lambda: _made(_B + "basic_loss.WeightedTVLoss", [(_PAIR[0],), _PAIR]),
    "GANLoss vanilla": lambda: _gan("vanilla", True),
    "GANLoss lsgan": lambda: _gan("lsgan", False),
    "GANLoss wgan": lambda: _gan("wgan", True, False),
    "GANLoss softplus": lambda: _gan("wgan_softplus", False),
    "GANLoss hinge": lambda: _gan("hinge", True),
    "MultiScaleGANLoss": lambda: held(
        _get(_B + "gan_loss.MultiScaleGANLoss")("hinge"),
        lambda m, x, y: m([[x, y], [y]], True, is_disc=False),
        (_t(2, 1, 4, 4), _t(2, 1, 4, 4)),
    ),
    "r1_penalty": lambda: _using(
        _B + "gan_loss.r1_penalty",
        lambda f, x: f(_critic(x), x),
        (_u(2, 3, 8, 8).requires_grad_(),),
    ),
    "gradient_penalty_loss": lambda: _using(
        _B + "gan_loss.gradient_penalty_loss", lambda f, x, y: f(_critic, x, y), (_u(2, 3, 8, 8), _u(2, 3, 8, 8))
    ),
    "g_path_regularize": lambda: _using(
        _B + "gan_loss.g_path_regularize",
        lambda f, w: f(w.sum((1, 2))[:, None, None, None] * torch.ones(2, 3, 4, 4), w, torch.zeros(())),
        (_t(2, 5, 8).requires_grad_(),),
    ),
    "get_local_weights": lambda: _using(_B + "loss_util.get_local_weights", lambda f, x: f(x, 3), (_u(2, 1, 16, 16),)),
    "get_refined_artifact_map": lambda: _using(
        _B + "loss_util.get_refined_artifact_map",
        lambda f, x, y, z: f(x, y, z, 3),
        (_u(2, 3, 16, 16), _u(2, 3, 16, 16), _u(2, 3, 16, 16)),
    ),
    "calculate_psnr_pt": lambda: _call("basicsr.metrics.psnr_ssim.calculate_psnr_pt", _PAIR, crop_border=2),
    "calculate_psnr_pt y": lambda: _call(
        "basicsr.metrics.psnr_ssim.calculate_psnr_pt", _PAIR, crop_border=0, test_y_channel=True
    ),
    "rgb2ycbcr_pt": lambda: _call("basicsr.utils.color_util.rgb2ycbcr_pt", (_RGB,), y_only=False),
    "DiffJPEG": lambda: _made(_J + "DiffJPEG", [(_u(1, 3, 16, 16), 80)], differentiable=True),
    "DiffJPEG tensor": lambda: _made(_J + "DiffJPEG", [(_u(2, 3, 24, 20), torch.tensor([80.0, 60.0]))]),
    "CompressJpeg": lambda: _made(_J + "CompressJpeg", [(_u(1, 3, 16, 16),)]),
    "filter2D": lambda: _call("basicsr.utils.img_process_util.filter2D", (_RGB, _u(1, 5, 5)), (_RGB, _u(2, 5, 5)[:1])),
    "imresize": lambda: _call("basicsr.utils.matlab_functions.imresize", (_u(3, 16, 16),), scale=0.5),
    "generate_gaussian_noise_pt": lambda: _call(_DG + "generate_gaussian_noise_pt", (_RGB, 10, 0)),
    "generate_gaussian_noise_pt gray": lambda: _call(
        _DG + "generate_gaussian_noise_pt", (_u(2, 3, 8, 8), torch.tensor([5.0, 8.0]), torch.tensor([1.0, 0.0]))
    ),
    "add_gaussian_noise_pt": lambda: _call(_DG + "add_gaussian_noise_pt", (_RGB,), sigma=5, rounds=True),
    "random_add_gaussian_noise_pt": lambda: _call(
        _DG + "random_add_gaussian_noise_pt", (_RGB,), sigma_range=(1, 8), gray_prob=0.4
    ),
    "generate_poisson_noise_pt": lambda: _call(_DG + "generate_poisson_noise_pt", (_RGB,)),
    "random_add_poisson_noise_pt": lambda: _call(
        _DG + "random_add_poisson_noise_pt", (_u(2, 3, 8, 8),), scale_range=(0.1, 1.0)
    ),
    "paired_random_crop": lambda: _using(
        "basicsr.data.transforms.paired_random_crop",
        lambda f, x, y: f(x, y, 8, 2),
        (_u(1, 3, 32, 32), _u(1, 3, 16, 16)),
    ),
}

_O = "onmt.modules."
_WORDS = _i(20, 2, 6, 1) + 1


def _embeddings() -> Any:
    return _get(_O + "embeddings.Embeddings")(8, 24, 0, position_encoding=True)


def _attention(kind: str, func: str, coverage: bool) -> Built:
    model = _get(_O + "global_attention.GlobalAttention")(8, coverage, kind, func)
    lengths = torch.tensor([5, 3])
    return held(
        model,
        lambda m, q, k, c: m(q, k, src_len=lengths, coverage=c if coverage else None),
        (_t(2, 3, 8), _t(2, 5, 8), _u(2, 5)),
    )


def _translation(encoder: Any, decoder: Any) -> Built:
    model = _get("onmt.models.NMTModel")(encoder, decoder)
    lengths = torch.tensor([6, 4])
    return held(model, lambda m, s, t: m(s, t, lengths)[0], (_WORDS, _i(20, 2, 5, 1) + 1))


def _rnn_encoder(kind: str, both: bool = False, bridge: bool = False) -> Any:
    return _get("onmt.encoders.RNNEncoder")(kind, both, 1, 8, 0.0, _embeddings(), bridge)


def _rnn_decoder(name: str, kind: str, both: bool = False, **options: Any) -> Any:
    return _get("onmt.decoders.decoder." + name)(kind, both, 1, 8, "general", embeddings=_embeddings(), **options)


def _transformer(**options: Any) -> Built:
    encoder = _get("onmt.encoders.TransformerEncoder")(1, 8, 2, 16, 0.1, 0.1, _embeddings(), 0, 0)
    return _translation(encoder, _transformer_decoder(**options))


def _transformer_decoder(kind: str = "scaled-dot", **options: Any) -> Any:
    return _get("onmt.decoders.transformer.TransformerDecoder")(
        1, 8, 2, 16, False, kind, 0.1, 0.1, _embeddings(), 0, 0, False, False, None, 0, **options
    )


def _greedy(name: str, top_k: int, top_p: float) -> Built:
    return _using("onmt.translate.greedy_search." + name, lambda f, x: f(x, 0.8, top_k, top_p), (_t(3, 24),))


def _loss_compute(coverage: float, align: float) -> Built:
    vocab = {"<blank>": 0, "<unk>": 1, "<s>": 2, "</s>": 3}
    made = _get("onmt.utils.loss.LossCompute")(
        nn.NLLLoss(ignore_index=0, reduction="sum"),
        nn.Sequential(nn.Linear(8, 24), nn.LogSoftmax(-1)),
        lambda_coverage=coverage,
        lambda_align=align,
        vocab=vocab,
    )

    def use(loss: Any, output: torch.Tensor, tgt: torch.Tensor, std: torch.Tensor, cov: torch.Tensor) -> Any:
        batch = {"src": tgt, "srclen": torch.tensor([6, 5]), "tgt": tgt, "tgtlen": torch.tensor([6, 5])}
        return loss(batch, output, {"std": std, "coverage": cov})[0]

    return held(made, use, (_t(2, 5, 8), _i(20, 2, 6, 1) + 1, _u(2, 5, 6), _u(2, 5, 6)))


_ONMT: dict[str, Callable[[], Built]] = {
    "GlobalAttention dot": lambda: _attention("dot", "softmax", False),
    "GlobalAttention general": lambda: _attention("general", "softmax", True),
    "GlobalAttention mlp": lambda: _attention("mlp", "sparsemax", False),
    "MultiHeadedAttention": lambda: held(
        _get(_O + "MultiHeadedAttention")(2, 8, self_attn_type="scaled-dot"),
        lambda m, x, y: m(x, x, y),
        (_t(2, 5, 8), _t(2, 5, 8)),
    ),
    "MultiHeadedAttention relative": lambda: held(
        _get(_O + "MultiHeadedAttention")(2, 8, max_relative_positions=4, attn_type="self"),
        lambda m, x: m(x, x, x, return_attn=True),
        (_t(2, 5, 8),),
        (_t(2, 7, 8),),
    ),
    "MultiHeadedAttention buckets": lambda: held(
        _get(_O + "MultiHeadedAttention")(
            2, 8, max_relative_positions=8, relative_positions_buckets=4, attn_type="self"
        ),
        lambda m, x: m(x, x, x, return_attn=True),
        (_t(2, 5, 8),),
    ),
    "MultiHeadedAttention rotary": lambda: held(
        _get(_O + "MultiHeadedAttention")(2, 8, max_relative_positions=-1, attn_type="self"),
        lambda m, x: m(x, x, x),
        (_t(2, 5, 8),),
    ),
    "MultiHeadedAttention alibi": lambda: held(
        _get(_O + "MultiHeadedAttention")(2, 8, max_relative_positions=-2, attn_type="self"),
        lambda m, x: m(x, x, x, return_attn=True),
        (_t(2, 5, 8),),
    ),
    "AverageAttention": lambda: _made(_O + "average_attn.AverageAttention", [(_t(2, 5, 8),)], 8, aan_useffn=True),
    "AlibiPositionalBias": lambda: _made(_O + "alibi_position_bias.AlibiPositionalBias", [(_t(2, 2, 5, 5),)], 2),
    "ConvMultiStepAttention": lambda: _made(
        _O + "ConvMultiStepAttention",
        [(_t(2, 8, 5, 1), _t(2, 8, 5, 1), _t(2, 8, 6), _t(2, 8, 6))],
        8,
    ),
    "CopyGenerator": lambda: _made(
        _O + "copy_generator.CopyGenerator", [(_t(10, 8), _u(10, 6), _u(2, 6, 5))], 8, 24, 0
    ),
    "CopyGeneratorLoss": lambda: _made(
        _O + "copy_generator.CopyGeneratorLoss", [(_u(10, 29), _i(5, 10), _i(24, 10))], 24, True, 0, 1
    ),
    "Embeddings": lambda: _made(_O + "embeddings.Embeddings", [(_WORDS,)], 8, 24, 0, position_encoding=True),
    "Embeddings step": lambda: held(_embeddings(), lambda m, x: m(x, step=2), (_WORDS[:, :1],)),
    "Embeddings features": lambda: _made(
        _O + "embeddings.Embeddings",
        [(_i(6, 2, 5, 2),)],
        8,
        24,
        0,
        feat_merge="mlp",
        feat_vocab_sizes=[7],
        feat_padding_idx=[0],
        feat_vec_size=4,
    ),
    "ContextGate": lambda: _using(_O + "gate.context_gate_factory", _gate("both"), (_t(2, 8), _t(2, 8), _t(2, 8))),
    "SourceContextGate": lambda: _using(
        _O + "gate.context_gate_factory", _gate("source"), (_t(2, 8), _t(2, 8), _t(2, 8))
    ),
    "MoE": lambda: _made(_O + "moe.MoE", [(_t(2, 5, 8),)], 4, 2, 8, 16, 0.1, "relu", True, False, "standard", 1e-6),
    "PositionwiseFeedForward": lambda: _made(
        _O + "position_ffn.PositionwiseFeedForward", [(_t(2, 5, 8),)], 8, 16, activation_fn="gated-gelu"
    ),
    "RMSNorm": lambda: _made(_O + "rmsnorm.RMSNorm", [(_t(2, 5, 8),)], 8),
    "Sparsemax": lambda: _made(_O + "sparse_activations.Sparsemax", [(_t(3, 8),)], -1),
    "LogSparsemax": lambda: _made(_O + "sparse_activations.LogSparsemax", [(_t(3, 8),)], -1),
    "SparsemaxLoss": lambda: _made(_O + "sparse_losses.SparsemaxLoss", [(_t(6, 8), _i(8, 6))]),
    "SparsemaxLoss ignored": lambda: _made(
        _O + "sparse_losses.SparsemaxLoss", [(_t(6, 8), _i(8, 6))], ignore_index=1, reduction="sum"
    ),
    "StackedLSTM": lambda: held(
        _get(_O + "stacked_rnn.StackedLSTM")(2, 8, 8, 0.1), lambda m, x, h: m(x, (h, h)), (_t(3, 8), _t(2, 3, 8))
    ),
    "StackedGRU": lambda: held(
        _get(_O + "stacked_rnn.StackedGRU")(2, 8, 8, 0.1), lambda m, x, h: m(x, (h,)), (_t(3, 8), _t(2, 3, 8))
    ),
    "MatrixTree": lambda: _made(_O + "structured_attention.MatrixTree", [(_t(2, 5, 5),)]),
    "CNNEncoder": lambda: held(
        _get("onmt.encoders.CNNEncoder")(2, 8, 3, 0.1, _embeddings()),
        lambda m, x: m(x, torch.tensor([6, 6])),
        (_WORDS,),
    ),
    "MeanEncoder": lambda: held(
        _get("onmt.encoders.MeanEncoder")(1, _embeddings()), lambda m, x: m(x, torch.tensor([6, 4])), (_WORDS,)
    ),
    "RNNEncoder": lambda: held(_rnn_encoder("LSTM"), lambda m, x: m(x, torch.tensor([6, 4])), (_WORDS,)),
    "RNNEncoder bridge": lambda: held(
        _rnn_encoder("GRU", True, True), lambda m, x: m(x, torch.tensor([6, 4])), (_WORDS,)
    ),
    "TransformerEncoder": lambda: held(
        _get("onmt.encoders.TransformerEncoder")(1, 8, 2, 16, 0.1, 0.1, _embeddings(), 0, 0),
        lambda m, x: m(x, torch.tensor([6, 4])),
        (_WORDS,),
    ),
    "NMT rnn": lambda: _translation(_rnn_encoder("LSTM"), _rnn_decoder("StdRNNDecoder", "LSTM")),
    "NMT input feed": lambda: _translation(_rnn_encoder("LSTM"), _rnn_decoder("InputFeedRNNDecoder", "LSTM")),
    "NMT input feed coverage": lambda: _translation(
        _rnn_encoder("GRU"), _rnn_decoder("InputFeedRNNDecoder", "GRU", coverage_attn=True, context_gate="both")
    ),
    "NMT copy": lambda: _translation(
        _rnn_encoder("LSTM"), _rnn_decoder("InputFeedRNNDecoder", "LSTM", copy_attn=True, reuse_copy_attn=False)
    ),
    "NMT transformer": lambda: _transformer(),
    "NMT transformer average": lambda: _transformer(kind="average"),
    "NMT cnn": lambda: _translation(
        _get("onmt.encoders.CNNEncoder")(2, 8, 3, 0.1, _embeddings()),
        _get("onmt.decoders.CNNDecoder")(2, 8, "general", False, 3, 0.1, _embeddings(), None),
    ),
    "sequence_mask": lambda: _call("onmt.utils.misc.sequence_mask", (torch.tensor([3, 5, 2]),)),
    "tile": lambda: _using("onmt.utils.misc.tile", lambda f, x: f(x, 3, dim=1), (_t(2, 4, 3),)),
    "GatedConv": lambda: _made("onmt.utils.cnn_factory.GatedConv", [(_t(2, 8, 6, 1),)], 8),
    "StackedCNN": lambda: _made("onmt.utils.cnn_factory.StackedCNN", [(_t(2, 8, 6, 1),)], 2, 8),
    "LossCompute": lambda: _loss_compute(0.0, 0.0),
    "LossCompute coverage": lambda: _loss_compute(0.5, 0.0),
    "coverage_wu": lambda: _using(
        "onmt.translate.penalties.PenaltyBuilder",
        lambda f, x: f("wu", "avg").coverage_penalty(x, 0.2) / f("wu", "avg").length_penalty(5, 0.6),
        (_u(2, 3, 6),),
    ),
    "sample greedy": lambda: _greedy("sample_with_temperature", 1, 0.0),
    "sample top-k": lambda: _greedy("sample_with_temperature", 5, 0.0),
    "sample top-p": lambda: _greedy("sample_with_temperature", 0, 0.8),
    "relative_matmul": lambda: _using(
        _O + "multi_headed_attn.relative_matmul", lambda f, x, y: f(x, y, True), (_t(2, 2, 5, 4), _t(5, 5, 4))
    ),
    "compute_bias": lambda: _using(
        _O + "multi_headed_attn.compute_bias", lambda f, x: x + f(5, 5, True, 8, 4).sum(), (_t(2),)
    ),
}


def _gate(kind: str) -> Callable[..., Any]:
    made: list[nn.Module] = []

    def use(factory: Any, *x: torch.Tensor) -> Any:
        if not made:
            made.append(factory(kind, 8, 8, 8, 8))
        return made[0](*x)

    return use


_LT = "torchlie.functional."


def _lie(group: str, name: str, *kinds: str) -> Callable[[], Built]:
    """A function of a group, on tangent vectors, elements or points."""

    def build() -> Built:
        functions = _get(_LT + group)
        size = {"SE3": 6, "SO3": 3}[group]
        made = {
            "v": lambda: 0.3 * _t(4, size),
            "g": lambda: functions.rand(4).detach(),
            "p": lambda: _t(4, 3),
            "h": lambda: functions.hat(_t(4, size)),
            "m": lambda: _t(4, *functions.rand(1).shape[1:]),
        }
        return getattr(functions, name), [tuple(made[k]() for k in kinds)]

    return build


def _jacobians(group: str, name: str, *kinds: str) -> Callable[[], Built]:
    def build() -> Built:
        function, inputs = _lie(group, name, *kinds)()

        def use(*x: torch.Tensor) -> Any:
            found: list[torch.Tensor] = []
            return function(*x, jacobians=found), found

        return use, inputs

    return build


def _lie_tensors(use: Callable[..., Any]) -> Callable[[], Built]:
    def build() -> Built:
        kind = _get("torchlie.SE3")
        made = [kind.rand(4), kind.rand(4)]
        return (lambda p: use(*made, p)), [(_t(4, 3),)]

    return build


_UNARY = {"exp": "v", "log": "g", "adj": "g", "inv": "g", "hat": "v", "vee": "h", "lift": "v", "project": "m"}
_TORCHLIE: dict[str, Callable[[], Built]] = {
    **{f"{g} {n}": _lie(g, n, k) for g in ("SE3", "SO3") for n, k in _UNARY.items() if n not in ("lift", "project")},
    **{f"{g} compose": _lie(g, "compose", "g", "g") for g in ("SE3", "SO3")},
    **{f"{g} transform": _lie(g, "transform", "g", "p") for g in ("SE3", "SO3")},
    **{f"{g} untransform": _lie(g, "untransform", "g", "p") for g in ("SE3", "SO3")},
    **{f"{g} left_project": _lie(g, "left_project", "g", "m") for g in ("SE3", "SO3")},
    **{f"{g} normalize": _lie(g, "normalize", "m") for g in ("SE3", "SO3")},
    **{f"{g} jlog": _jacobians(g, "log", "g") for g in ("SE3", "SO3")},
    **{f"{g} jexp": _jacobians(g, "exp", "v") for g in ("SE3", "SO3")},
    **{f"{g} jcompose": _jacobians(g, "compose", "g", "g") for g in ("SE3", "SO3")},
    "SO3 quaternion": lambda: _using(
        _LT + "SO3", lambda f, x: f.quaternion_to_rotation(torch.nn.functional.normalize(x, dim=-1)), (_t(4, 4),)
    ),
    "LieTensor compose": _lie_tensors(lambda a, b, p: a.compose(b).transform(p)),
    "LieTensor local": _lie_tensors(lambda a, b, p: a.local(b).sum() + p),
    "LieTensor retract": _lie_tensors(lambda a, b, p: a.retract(0.1 * torch.cat([p, p], -1)).compose(b).log()),
}

_D = "darts.models.forecasting."
_CHUNKS = {"input_chunk_length": 12, "output_chunk_length": 4}


def _forecast(path: str, future: bool, static: bool, likelihood: str | None = None, **options: Any) -> Built:
    """A module of darts, on what its `forward` gets of a batch."""
    chosen = _get("darts.utils.likelihood_models.torch." + likelihood)() if likelihood else None
    model = _get(_D + path)(**_CHUNKS, train_sample_shape=None, likelihood=chosen, **options)
    inputs = _get("darts.utils.data.torch_datasets.utils.PLModuleInput")

    def use(module: Any, past: torch.Tensor, before: torch.Tensor, ahead: torch.Tensor, still: torch.Tensor) -> Any:
        return module(
            inputs(
                past,
                historic_future_covariates=before if future else None,
                future_covariates=ahead if future else None,
                static_covariates=still if static else None,
            )
        )

    return held(model, use, (_t(2, 12, 1), _t(2, 12, 2), _t(2, 4, 2), _t(2, 1, 2)))


def _nll(name: str, parameters: int, positive: bool = True) -> Built:
    made = _get("darts.utils.likelihood_models.torch." + name)()
    wanted = _u(2, 4, 1) if positive else _t(2, 4, 1)
    return held(made, lambda m, x, y: m.compute_loss(x, y, None), (_t(2, 4, 1, parameters), wanted))


def _sampled(name: str, parameters: int) -> Built:
    made = _get("darts.utils.likelihood_models.torch." + name)()
    return held(made, lambda m, x: m.sample(x), (_t(2, 4, 1, parameters),))


def _quantiles() -> Built:
    made = _get("darts.utils.likelihood_models.torch.QuantileRegression")([0.1, 0.5, 0.9])
    return held(made, lambda m, x, y: m.compute_loss(x, y, None), (_t(2, 4, 1, 3), _t(2, 4, 1)))


_LINEAR = {"input_dim": 3, "output_dim": 1, "future_cov_dim": 2, "static_cov_dim": 2, "nr_params": 1}
_DARTS: dict[str, Callable[[], Built]] = {
    "NBEATS": lambda: _forecast(
        "nbeats._NBEATSModule",
        False,
        False,
        input_dim=1,
        output_dim=1,
        nr_params=1,
        generic_architecture=True,
        num_stacks=2,
        num_blocks=1,
        num_layers=2,
        layer_widths=[8, 8],
        expansion_coefficient_dim=3,
        trend_polynomial_degree=2,
        batch_norm=True,
        dropout=0.1,
        activation="ReLU",
    ),
    "NBEATS interpretable": lambda: _forecast(
        "nbeats._NBEATSModule",
        False,
        False,
        input_dim=1,
        output_dim=1,
        nr_params=1,
        generic_architecture=False,
        num_stacks=2,
        num_blocks=1,
        num_layers=2,
        layer_widths=[8, 8],
        expansion_coefficient_dim=3,
        trend_polynomial_degree=2,
        batch_norm=False,
        dropout=0.0,
        activation="ReLU",
    ),
    "NHiTS": lambda: _forecast(
        "nhits._NHiTSModule",
        False,
        False,
        input_dim=1,
        output_dim=1,
        nr_params=1,
        num_stacks=2,
        num_blocks=1,
        num_layers=1,
        layer_widths=[8, 8],
        pooling_kernel_sizes=((2,), (1,)),
        n_freq_downsample=((2,), (1,)),
        batch_norm=False,
        dropout=0.1,
        activation="ReLU",
        MaxPool1d=True,
    ),
    "TCN": lambda: _forecast(
        "tcn_model._TCNModule",
        False,
        False,
        input_size=1,
        kernel_size=3,
        num_filters=4,
        num_layers=None,
        dilation_base=2,
        weight_norm=True,
        target_size=1,
        nr_params=1,
        target_length=4,
        dropout=0.1,
    ),
    "DLinear": lambda: _forecast(
        "dlinear._DLinearModule", True, True, **_LINEAR, shared_weights=False, kernel_size=3, const_init=True
    ),
    "NLinear": lambda: _forecast(
        "nlinear._NLinearModule", True, True, **_LINEAR, shared_weights=False, const_init=True, normalize=True
    ),
    "TiDE": lambda: _forecast(
        "tide_model._TideModule",
        True,
        True,
        **_LINEAR,
        num_encoder_layers=1,
        num_decoder_layers=1,
        decoder_output_dim=4,
        hidden_size=8,
        temporal_decoder_hidden=8,
        temporal_width_past=2,
        temporal_width_future=2,
        temporal_hidden_size_past=8,
        temporal_hidden_size_future=8,
        use_layer_norm=True,
        dropout=0.1,
    ),
    "TiDE normalized": lambda: _forecast(
        "tide_model._TideModule",
        True,
        True,
        **_LINEAR,
        num_encoder_layers=1,
        num_decoder_layers=1,
        decoder_output_dim=4,
        hidden_size=8,
        temporal_decoder_hidden=8,
        temporal_width_past=2,
        temporal_width_future=2,
        temporal_hidden_size_past=8,
        temporal_hidden_size_future=8,
        use_layer_norm=True,
        dropout=0.1,
        use_reversible_instance_norm=True,
    ),
    "TSMixer": lambda: _forecast(
        "tsmixer_model._TSMixerModule",
        True,
        True,
        input_dim=1,
        output_dim=1,
        past_cov_dim=0,
        future_cov_dim=2,
        static_cov_dim=2,
        nr_params=1,
        hidden_size=8,
        ff_size=8,
        num_blocks=1,
        activation="ReLU",
        dropout=0.1,
        norm_type="TimeBatchNorm2d",
        normalize_before=False,
    ),
    "Transformer": lambda: _forecast(
        "transformer_model._TransformerModule",
        False,
        False,
        input_size=1,
        output_size=1,
        nr_params=1,
        d_model=8,
        nhead=2,
        num_encoder_layers=1,
        num_decoder_layers=1,
        dim_feedforward=8,
        dropout=0.1,
        activation="SwiGLU",
        norm_type="RMSNorm",
    ),
    "RNN": lambda: _forecast(
        "rnn_model._RNNModule",
        False,
        False,
        name="LSTM",
        input_size=1,
        hidden_dim=8,
        num_layers=1,
        target_size=1,
        nr_params=1,
    ),
    "BlockRNN": lambda: _forecast(
        "block_rnn_model._BlockRNNModule",
        False,
        False,
        name="GRU",
        activation="ReLU",
        input_size=1,
        hidden_dim=8,
        future_cov_dim=0,
        num_layers=1,
        target_size=1,
        nr_params=1,
        num_layers_out_fc=[8],
    ),
    "SmapeLoss": lambda: _made("darts.utils.losses.SmapeLoss", [(_u(2, 4), _u(2, 4))]),
    "MapeLoss": lambda: _made("darts.utils.losses.MapeLoss", [(_u(2, 4), _u(2, 4))]),
    "MAELoss": lambda: _made("darts.utils.losses.MAELoss", [(_u(2, 4), _u(2, 4))]),
    "Gaussian": lambda: _nll("GaussianLikelihood", 2, False),
    "Gaussian beta": lambda: held(
        _get("darts.utils.likelihood_models.torch.GaussianLikelihood")(prior_mu=0.1, prior_sigma=0.2, beta_nll=0.5),
        lambda m, x, y: m.compute_loss(x, y, None),
        (_t(2, 4, 1, 2), _t(2, 4, 1)),
    ),
    "Laplace": lambda: _nll("LaplaceLikelihood", 2, False),
    "Beta": lambda: _nll("BetaLikelihood", 2),
    "NegativeBinomial": lambda: held(
        _get("darts.utils.likelihood_models.torch.NegativeBinomialLikelihood")(),
        lambda m, x, y: m.compute_loss(x, y, None),
        (_t(2, 4, 1, 2), _i(5, 2, 4, 1).float()),
    ),
    "Weibull": lambda: _nll("WeibullLikelihood", 2),
    "Dirichlet sample": lambda: _sampled("DirichletLikelihood", 1),
    "Gaussian sample": lambda: _sampled("GaussianLikelihood", 2),
    "Quantile loss": lambda: _quantiles(),
    "Quantile sample": lambda: held(
        _get("darts.utils.likelihood_models.torch.QuantileRegression")([0.1, 0.5, 0.9]),
        lambda m, x: m.sample(x),
        (_t(2, 4, 1, 3),),
    ),
    "RINorm": lambda: held(
        _get("darts.models.components.layer_norm_variants.RINorm")(1),
        lambda m, x: m.inverse(m(x)[..., None]),
        (_t(2, 12, 1),),
    ),
    "FeedForward gated": lambda: _made(
        "darts.models.components.feed_forward.FeedForward", [(_t(2, 5, 8),)], 8, 16, is_gated=True
    ),
    "GLU": lambda: _made("darts.models.components.glu_variants.GEGLU", [(_t(2, 5, 8),)], 8, 16),
}

_C = "composer.algorithms."
_IMAGES = _u(4, 3, 16, 16)
_LABELS = _i(5, 4)


def _segmented(path: str, *given: Any, **options: Any) -> Built:
    """A metric of composer that is made once and gets one batch."""
    made = _get(path)(*given, **options)

    def use(metric: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
        metric.update(x, y)
        return metric.compute()

    return held(made, use, (_t(2, 3, 8, 8), _i(3, 2, 8, 8)))


def _surgery(path: str, model: nn.Module, inputs: Any, **options: Any) -> Built:
    _get(path)(model, **options)
    return model, [inputs]


def _network() -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(3, 32, 3, stride=2, padding=1),
        nn.BatchNorm2d(32),
        nn.ReLU(),
        nn.MaxPool2d(2, 2),
        nn.Conv2d(32, 32, 3, padding=1),
        nn.Flatten(),
        nn.Linear(32 * 16, 5),
    )


_WIDE = _u(8, 3, 16, 16)
_COMPOSER: dict[str, Callable[[], Built]] = {
    "mixup_batch": lambda: _using(_C + "mixup.mixup.mixup_batch", lambda f, x, y: f(x, y), (_IMAGES, _LABELS)),
    "mixup_batch given": lambda: _using(
        _C + "mixup.mixup.mixup_batch", lambda f, x, y: f(x, y, mixing=0.3), (_IMAGES, _LABELS)
    ),
    "cutmix_batch": lambda: _using(_C + "cutmix.cutmix.cutmix_batch", lambda f, x, y: f(x, y), (_IMAGES, _LABELS)),
    "cutmix_batch uniform": lambda: _using(
        _C + "cutmix.cutmix.cutmix_batch",
        lambda f, x, y: f(x, y, length=0.5, uniform_sampling=True),
        (_IMAGES, _LABELS),
    ),
    "cutout_batch": lambda: _call(_C + "cutout.cutout.cutout_batch", (_IMAGES,)),
    "cutout_batch holes": lambda: _call(
        _C + "cutout.cutout.cutout_batch", (_IMAGES,), num_holes=2, uniform_sampling=True
    ),
    "colout_batch": lambda: _call(_C + "colout.colout.colout_batch", (_IMAGES,)),
    "colout_batch pair": lambda: _using(
        _C + "colout.colout.colout_batch", lambda f, x, y: f((x, y)), (_IMAGES, _u(4, 3, 16, 16))
    ),
    "smooth_labels": lambda: _call(_C + "label_smoothing.label_smoothing.smooth_labels", (_t(4, 5), _LABELS)),
    "resize_batch": lambda: _using(
        _C + "progressive_resizing.progressive_resizing.resize_batch",
        lambda f, x, y: f(x, y, 0.5, "resize"),
        (_IMAGES, _LABELS),
    ),
    "select_using_loss": lambda: _using(
        _C + "selective_backprop.selective_backprop.select_using_loss",
        lambda f, x, y: f(x, y, lambda z: z.mean((2, 3)), nn.functional.cross_entropy, 0.5, 1),
        (_IMAGES, _i(3, 4)),
    ),
    "select_using_loss scaled": lambda: _using(
        _C + "selective_backprop.selective_backprop.select_using_loss",
        lambda f, x, y: f(x, y, lambda z: z.mean((2, 3)), nn.functional.cross_entropy, 0.5, 0.5),
        (_IMAGES, _i(3, 4)),
    ),
    "set_batch_sequence_length": lambda: _using(
        _C + "seq_length_warmup.seq_length_warmup.set_batch_sequence_length",
        lambda f, x, m: f({"input_ids": x, "attention_mask": m, "labels": x}, 4),
        (_i(9, 4, 8), torch.ones(4, 8)),
    ),
    "set_batch_sequence_length end": lambda: _using(
        _C + "seq_length_warmup.seq_length_warmup.set_batch_sequence_length",
        lambda f, x, m: f({"input_ids": x, "attention_mask": m, "labels": x}, 4, True, True),
        (_i(9, 4, 8), torch.ones(4, 8)),
    ),
    "set_batch_sequence_length reshape": lambda: _using(
        _C + "seq_length_warmup.seq_length_warmup.set_batch_sequence_length",
        lambda f, x, m: f({"input_ids": x, "attention_mask": m, "labels": x}, 4, False),
        (_i(9, 4, 8), torch.ones(4, 8)),
    ),
    "BlurMaxPool2d": lambda: _made(_C + "blurpool.blurpool_layers.BlurMaxPool2d", [(_IMAGES,)], 2),
    "BlurConv2d": lambda: _made(_C + "blurpool.blurpool_layers.BlurConv2d", [(_IMAGES,)], 3, 8, 3, 2, 1),
    "BlurPool2d": lambda: _made(_C + "blurpool.blurpool_layers.BlurPool2d", [(_IMAGES,)], 3),
    "blur_2d": lambda: _call(_C + "blurpool.blurpool_layers.blur_2d", (_IMAGES,)),
    "blurpool": lambda: _surgery(_C + "blurpool.blurpool.apply_blurpool", _network(), (_WIDE,)),
    "FactorizedConv2d": lambda: _made(_C + "factorize.factorize_modules.FactorizedConv2d", [(_IMAGES,)], 3, 16, 3),
    "FactorizedLinear": lambda: _made(_C + "factorize.factorize_modules.FactorizedLinear", [(_t(4, 16),)], 16, 16),
    "factorize_matrix": lambda: _using(
        _C + "factorize.factorize_core.factorize_matrix",
        lambda f, x, w: f(x, x @ w, w, rank=2).Wa,
        (_t(12, 8), _t(8, 6)),
    ),
    "factorize": lambda: _surgery(
        _C + "factorize.factorize.apply_factorization",
        _network(),
        (_WIDE,),
        min_channels=16,
        latent_channels=0.25,
        min_features=5,
        latent_features=2,
    ),
    "ghost_batchnorm": lambda: _surgery(
        _C + "ghost_batchnorm.ghost_batchnorm.apply_ghost_batchnorm", _network(), (_WIDE,), ghost_batch_size=4
    ),
    "GyroDropoutLayer": lambda: _made(
        _C + "gyro_dropout.gyro_dropout.GyroDropoutLayer", [(_t(4, 8),)], 4, 2, 0.5, 4, 2
    ),
    "LPGroupNorm": lambda: _made(
        _C + "low_precision_groupnorm.low_precision_groupnorm.LPGroupNorm", [(_t(2, 8, 4, 4),)], 2, 8
    ),
    "LPLayerNorm": lambda: _made(_C + "low_precision_layernorm.low_precision_layernorm.LPLayerNorm", [(_t(2, 8),)], 8),
    "SqueezeExcite2d": lambda: _made(_C + "squeeze_excite.squeeze_excite.SqueezeExcite2d", [(_t(2, 16, 4, 4),)], 16),
    "SqueezeExciteConv2d": lambda: _made(
        _C + "squeeze_excite.squeeze_excite.SqueezeExciteConv2d", [(_IMAGES,)], 3, 16, 3
    ),
    "squeeze_excite": lambda: _surgery(
        _C + "squeeze_excite.squeeze_excite.apply_squeeze_excite", _network(), (_WIDE,), min_channels=16
    ),
    "weight_standardization": lambda: _surgery(
        _C + "weight_standardization.weight_standardization.apply_weight_standardization", _network(), (_WIDE,)
    ),
    "sample_drop": lambda: _using(
        _C + "stochastic_depth.stochastic_layers._sample_drop", lambda f, x: f(x, 0.3, True), (_t(4, 3, 8, 8),)
    ),
    "gradient clipping": lambda: held(nn.Linear(8, 4), _clipped, (_t(4, 8),)),
    "binary_cross_entropy": lambda: _call(
        "composer.loss.loss.binary_cross_entropy_with_logits", (_t(4, 5), _LABELS), (_t(4, 5), _u(4, 5))
    ),
    "soft_cross_entropy": lambda: _call(
        "composer.loss.loss.soft_cross_entropy", (_t(4, 5), _LABELS), (_t(4, 5), _u(4, 5))
    ),
    "soft_cross_entropy weighted": lambda: _using(
        "composer.loss.loss.soft_cross_entropy", lambda f, x, y, w: f(x, y, weight=w), (_t(4, 5), _u(4, 5), _u(5))
    ),
    "DiceLoss": lambda: _made("composer.loss.loss.DiceLoss", [(_t(2, 3, 8, 8), _i(3, 2, 8, 8))], softmax=True),
    "DiceLoss absent": lambda: _made(
        "composer.loss.loss.DiceLoss", [(_t(2, 3, 8, 8), _i(3, 2, 8, 8))], sigmoid=True, ignore_absent_classes=True
    ),
    "ensure_targets_one_hot": lambda: _call(
        "composer.loss.utils.ensure_targets_one_hot", (_t(4, 5), _LABELS), (_t(4, 5), -_LABELS)
    ),
    "infer_target_type": lambda: _using(
        "composer.loss.utils.infer_target_type", lambda f, x, y: x * len(str(f(x, y))), (_t(4, 5), _LABELS)
    ),
    "MIoU": lambda: _segmented("composer.metrics.metrics.MIoU", 3),
    "CrossEntropy": lambda: _segmented("composer.metrics.metrics.CrossEntropy"),
    "LossMetric": lambda: _segmented("composer.metrics.metrics.LossMetric", nn.functional.cross_entropy),
    "MaskedAccuracy": lambda: held(_get("composer.metrics.nlp.MaskedAccuracy")(), _language, (_t(4, 5), _i(5, 4))),
    "LanguageCrossEntropy": lambda: held(
        _get("composer.metrics.nlp.LanguageCrossEntropy")(), _language, (_t(2, 6, 9), _i(9, 2, 6))
    ),
    "LanguagePerplexity": lambda: held(
        _get("composer.metrics.nlp.LanguagePerplexity")(), _language, (_t(2, 6, 9), _i(9, 2, 6))
    ),
    "BinaryF1Score": lambda: held(_get("composer.metrics.nlp.BinaryF1Score")(), _language, (_t(8, 2), _i(2, 8))),
}


def _language(metric: Any, x: torch.Tensor, y: torch.Tensor) -> Any:
    metric.update(x, y)
    return metric.compute()


def _clipped(layer: nn.Module, x: torch.Tensor) -> torch.Tensor:
    clip = _get(_C + "gradient_clipping.gradient_clipping.apply_gradient_clipping")
    layer(x).sum().backward()
    clip(layer, "adaptive", 0.1, False)
    gradient = SimpleNamespace(weight=layer.weight).weight.grad
    result: torch.Tensor = gradient
    return result


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("basicsr", _BASICSR),
    **_named("onmt", _ONMT),
    **_named("torchlie", _TORCHLIE),
    **_named("darts", _DARTS),
    **_named("composer", _COMPOSER),
}

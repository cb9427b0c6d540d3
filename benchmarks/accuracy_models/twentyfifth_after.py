"""Models of torchmultimodal, torchmd-net, muse-maskgit-pytorch, ctgan, granite-tsfm and betty-ml.

They were chosen after the work on the twenty-fifth group, and written before `check` was run on these packages.
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
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import _Absent, getter, without_packages

_t, _u, _i = random_inputs(93)
_ABSENT = {
    "torchmultimodal": ("torchvision", "iopath", "DALL_E", "ftfy"),
    "torchmdnet": ("warp", "lightning", "ase", "h5py", "torchmdnet.extensions.ops", "nnpops"),
    "muse_maskgit_pytorch": (
        *(
            "torchvision",
            "vector_quantize_pytorch",
            "accelerate",
            "ema_pytorch",
            "beartype",
            "memory_efficient_attention_pytorch",
        ),
        *("datasets", "sentencepiece", "lion_pytorch"),
    ),
    "ctgan": ("rdt",),
    "tsfm_public": ("datasets", "deprecated", "urllib3"),
    "betty": ("tensorboard", "wandb"),
}
_BARE = ("torchmultimodal", "torchmdnet", "muse_maskgit_pytorch", "ctgan", "tsfm_public", "tsfm_public.models", "betty")


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))
    if package == "torchmultimodal":
        sys.modules[package]._PATH_MANAGER = None  # type: ignore[attr-defined]
    if package == "torchmdnet":
        for name in ("", ".ops", ".warp_ops", ".neighbor_utils"):
            sys.modules.setdefault("torchmdnet.extensions" + name, _Absent("torchmdnet.extensions" + name))
    if package == "muse_maskgit_pytorch":
        importlib.import_module("beartype").beartype = lambda function: function  # type: ignore[attr-defined]


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_L, _E = "torchmultimodal.modules.layers.", "torchmultimodal.modules.encoders."
_F, _LO = "torchmultimodal.modules.fusions.", "torchmultimodal.modules.losses."
_PARTS = {"image": _t(2, 4), "text": _t(2, 6)}
_MANY: dict[str, Callable[[], Built]] = {
    "EmbeddingEncoder": lambda: _made(
        _E + "embedding_encoder.EmbeddingEncoder", [(_i(8, 2, 5),)], nn.Embedding(8, 4), "max"
    ),
    "EmbeddingEncoder hash": lambda: _made(
        _E + "embedding_encoder.EmbeddingEncoder", [(_i(80, 2, 5),)], nn.Embedding(8, 4), "mean", use_hash=True
    ),
    "WeightedEmbeddingEncoder": lambda: _made(
        _E + "weighted_embedding_encoder.WeightedEmbeddingEncoder", [(_t(2, 8),)], nn.Embedding(8, 4), torch.sum
    ),
    "vision_transformer": lambda: (
        _get(_E + "vision_transformer.vision_transformer")(
            patch_size=8, hidden_dim=16, dim_feedforward=32, n_layer=1, n_head=2, image_size=16
        ),
        [(_t(2, 3, 16, 16),)],
    ),
    "bert_text_encoder": lambda: (
        _get(_E + "bert_text_encoder.bert_text_encoder")(
            hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, vocab_size=20
        ),
        [(_i(20, 2, 6),)],
    ),
    "AttentionFusionModule": lambda: _made(
        _F + "attention_fusion.AttentionFusionModule", [(_PARTS,)], {"image": 4, "text": 6}
    ),
    "ConcatFusionModule": lambda: _made(_F + "concat_fusion.ConcatFusionModule", [(_PARTS,)]),
    "DeepsetFusionModule": lambda: _made(
        _F + "deepset_fusion.DeepsetFusionModule",
        [(_PARTS,)],
        {"image": 4, "text": 6},
        nn.Linear(4, 3),
        torch.sum,
        use_auto_mapping=True,
        apply_attention=True,
        modality_normalize=True,
    ),
    "MultiHeadAttention": lambda: _made(_L + "attention.MultiHeadAttention", [(_t(2, 5, 8), _t(2, 6, 8))], 8, 8, 2),
    "AttentionPooler": lambda: _made(_L + "attention_pooler.AttentionPooler", [(_t(2, 5, 8),)], 8, 6, 2, 3),
    "Codebook": lambda: _made(_L + "codebook.Codebook", [(_t(2, 4, 6),)], 5, 4),
    "Codebook eval": lambda: held(
        _get(_L + "codebook.Codebook")(5, 4).eval(), lambda m, x: m(x).quantized, (_t(2, 4, 6),)
    ),
    "SamePadConv3d": lambda: _made(_L + "conv.SamePadConv3d", [(_t(1, 2, 5, 6, 7),)], 2, 3, 3, 2),
    "SamePadConvTranspose3d": lambda: _made(_L + "conv.SamePadConvTranspose3d", [(_t(1, 2, 4, 4, 4),)], 2, 3, 4, 2),
    "MLP": lambda: _made(_L + "mlp.MLP", [(_t(2, 4),)], 4, 3, [8, 8]),
    "MultiHeadAttentionWithCache": lambda: _made(
        _L + "multi_head_attention.MultiHeadAttentionWithCache", [(_t(2, 5, 8), _t(2, 6, 8), _t(2, 6, 8))], 8, 8, 2
    ),
    "MultiHeadSelfAttention": lambda: _made(_L + "multi_head_attention.MultiHeadSelfAttention", [(_t(2, 5, 8),)], 8, 2),
    "RMSNorm": lambda: _made(_L + "normalizations.RMSNorm", [(_t(2, 5, 8),)], 8),
    "PatchEmbeddings": lambda: _made(
        _L + "patch_embedding.PatchEmbeddings",
        [(_t(2, 3, 16, 16), _u(2, 4) > 0.5)],
        16,
        8,
        hidden_size=8,
        use_image_masking=True,
    ),
    "BroadcastedPositionEmbedding": lambda: _made(
        _L + "position_embedding.BroadcastedPositionEmbedding", [(torch.arange(3)[None],)], (1, 2, 3), 6
    ),
    "SinusoidalPositionEmbeddings": lambda: _made(
        _L + "position_embedding.SinusoidalPositionEmbeddings", [(_u(4),)], 8
    ),
    "TransformerEncoder": lambda: _made(
        _L + "transformer.TransformerEncoder", [(_t(2, 5, 8),)], 1, 8, 2, 16, norm_first=True, final_layer_norm_eps=1e-5
    ),
    "TransformerDecoder": lambda: _made(
        _L + "transformer.TransformerDecoder", [(_t(2, 5, 8), _t(2, 6, 8))], 1, 8, 2, 16, use_cross_attention=True
    ),
    "ImageTextContrastiveLoss": lambda: _made(
        _LO + "albef.ImageTextContrastiveLoss", [(_t(3, 3), _t(3, 3), _t(3, 3), _t(3, 3))]
    ),
    "CausalLanguageModelingLoss": lambda: _made(
        _LO + "albef.CausalLanguageModelingLoss", [(_i(6, 2, 4), _t(2, 4, 6), _t(2, 4, 6))]
    ),
    "itc_loss": lambda: _call(_LO + "blip2_losses.itc_loss", (_t(3, 3), _t(3, 3))),
    "itg_loss": lambda: _call(_LO + "blip2_losses.itg_loss", (_i(6, 2, 4), _t(2, 4, 6), 5, 0, 6)),
    "ContrastiveLossWithTemperature": lambda: _made(
        _LO + "contrastive_loss_with_temperature.ContrastiveLossWithTemperature", [(_t(3, 4), _t(3, 4))]
    ),
    "contrastive mask": lambda: held(
        _get(_LO + "contrastive_loss_with_temperature.ContrastiveLossWithTemperature")(),
        lambda m, x, y: m(x, y, mask=torch.tensor([True, True, False])),
        (_t(3, 4), _t(3, 4)),
    ),
    "ITMLoss": lambda: _made(_LO + "flava.ITMLoss", [(_t(3, 2, 8), torch.tensor([1, 0, 1]))], 8),
    "MaskedPredictionLoss": lambda: _made(
        _LO + "flava.MaskedPredictionLoss", [(_t(2, 4, 8), torch.tensor([[1, -1, 3, -1], [2, 2, -1, 0]]))], 8, 10
    ),
    "MaskedPredictionLoss eval": lambda: held(
        _get(_LO + "flava.MaskedPredictionLoss")(8, 10).eval(),
        lambda m, x, y: m(x, y).loss,
        (_t(2, 4, 8), torch.tensor([[1, -1, 3, -1], [2, 2, -1, 0]])),
    ),
    "FLAVAGlobalContrastiveLoss": lambda: _made(
        _LO + "flava.FLAVAGlobalContrastiveLoss", [(_t(3, 8), _t(3, 8), torch.tensor([True, True, False]))]
    ),
    "soft_token_prediction_loss": lambda: _call(
        _LO + "mdetr.soft_token_prediction_loss",
        (
            _t(2, 4, 6),
            [1, 2],
            _u(3, 6),
            [(torch.tensor([1]), torch.tensor([0])), (torch.tensor([0, 2]), torch.tensor([1, 0]))],
            3,
        ),
    ),
    "ReconstructionLoss": lambda: _made(
        _LO + "reconstruction_loss.ReconstructionLoss", [(_t(2, 4, 6), _t(2, 4, 6), (_u(2, 4) > 0.3).float())]
    ),
    "CommitmentLoss": lambda: _made(_LO + "vqvae.CommitmentLoss", [(_t(2, 4), _t(2, 4))]),
    "random_masking": lambda: _call(
        "torchmultimodal.modules.masking.random_masking.random_masking", (_t(2, 8, 4), 0.5)
    ),
    "random_masking_2d": lambda: _call(
        "torchmultimodal.modules.masking.random_masking.random_masking_2d", (_t(2, 16, 4), 0.5, 0.5, 4, 4)
    ),
    "get_extended_attention_mask": lambda: _call(
        "torchmultimodal.utils.attention.get_extended_attention_mask", (torch.ones(2, 5),)
    ),
    "shift_dim": lambda: _call("torchmultimodal.utils.common.shift_dim", (_t(2, 3, 4), 1, -1)),
    "tensor_slice": lambda: _call("torchmultimodal.utils.common.tensor_slice", (_t(4, 5), [1, 0], [2, -1])),
    "momentum_update": lambda: held(
        (nn.Linear(2, 2), nn.Linear(2, 2)),
        lambda both: _get("torchmultimodal.utils.common.momentum_update")(*both, 0.9),
        (),
    ),
}

_M = "torchmdnet.models."
_BATCH = torch.tensor([0, 0, 0, 1, 1])
_PAIRS = torch.tensor([[0, 1, 1, 2, 3, 4], [1, 0, 2, 1, 4, 3]])


def _out(kind: str) -> Built:
    """What is computed of molecules."""
    made = _get(_M + "output_modules." + kind)(8)
    z, pos = _i(5, 5) + 1, _t(5, 3)
    return held(
        made,
        lambda m, x, v: m.post_reduce(m.reduce(m.pre_reduce(x, v, z, pos, _BATCH), _BATCH)),
        (_t(5, 8), _t(5, 3, 8)),
    )


_MD: dict[str, Callable[[], Built]] = {
    "Scalar": lambda: _out("Scalar"),
    "EquivariantScalar": lambda: _out("EquivariantScalar"),
    "DipoleMoment": lambda: _out("DipoleMoment"),
    "EquivariantDipoleMoment": lambda: _out("EquivariantDipoleMoment"),
    "ElectronicSpatialExtent": lambda: _out("ElectronicSpatialExtent"),
    "GaussianSmearing": lambda: _made(_M + "utils.GaussianSmearing", [(_u(6) * 5,)]),
    "ExpNormalSmearing": lambda: _made(_M + "utils.ExpNormalSmearing", [(_u(6) * 5,)]),
    "CosineCutoff": lambda: _made(_M + "utils.CosineCutoff", [(_u(6) * 6,)]),
    "CosineCutoff lower": lambda: _made(_M + "utils.CosineCutoff", [(_u(6) * 6,)], 1.0, 5.0),
    "NeighborEmbedding": lambda: _made(
        _M + "utils.NeighborEmbedding",
        [(_i(5, 5), _t(5, 8), torch.cat([_PAIRS, torch.tensor([[0], [0]])], 1), _u(7) * 4, _t(7, 10))],
        8,
        10,
        0.0,
        5.0,
    ),
    "GatedEquivariantBlock": lambda: _made(_M + "utils.GatedEquivariantBlock", [(_t(5, 8), _t(5, 3, 8))], 8, 4),
    "MLP": lambda: _made(_M + "utils.MLP", [(_t(5, 8),)], 8, 4, 6, "silu", 1),
    "GLU": lambda: _made(_M + "utils.GLU", [(_t(5, 8),)], 8),
    "scatter": lambda: _call(_M + "utils.scatter", (_t(5, 4), _BATCH)),
    "scatter mean": lambda: _call(_M + "utils.scatter", (_t(5, 4), _BATCH), reduce="mean"),
    "scatter size": lambda: _call(_M + "utils.scatter", (_t(5, 4), _BATCH), dim_size=3, reduce="max"),
    "TensorNet compose": lambda: _using(
        _M + "tensornet._compose_tensor",
        lambda f, x: f(*_get(_M + "tensornet._decompose_tensor")(x)),
        (_t(4, 3, 3, 6),),
    ),
    "tensor_norm": lambda: _call(_M + "tensornet.tensor_norm", (_t(4, 6, 3, 3),)),
    "vector_to_skewtensor": lambda: _using(_M + "tensornet.vector_to_skewtensor", lambda f, x: f(x), (_t(4, 3, 6),)),
    "CFConv": lambda: _made(
        _M + "torchmd_gn.CFConv",
        [(_t(5, 8), _PAIRS, _u(6) * 4, _t(6, 7))],
        8,
        8,
        6,
        nn.Linear(7, 6),
        0.0,
        5.0,
    ),
    "ChargePredict": lambda: _made(
        _M + "tensornet2.ChargePredict", [(_t(5, 8, 3, 3), _BATCH, torch.zeros(2))], 8, "silu"
    ),
}

_K = "muse_maskgit_pytorch."
_KM = _K + "muse_maskgit_pytorch."


def _transformer(**options: Any) -> Any:
    """A transformer of pictures."""
    made = _get(_KM + "MaskGitTransformer")
    importlib.import_module(_K + "t5").T5_CONFIGS = {  # type: ignore[attr-defined]
        "t5": {"config": SimpleNamespace(d_model=16)}
    }
    return made(num_tokens=12, dim=16, seq_len=9, depth=1, heads=2, dim_head=8, t5_name="t5", flash=False, **options)


class _Codes(nn.Module):
    """Codes of pictures, of which there are twelve."""

    codebook_size = 12

    def copy_for_eval(self) -> nn.Module:
        """The codes as they are."""
        return self


_MUSE: dict[str, Callable[[], Built]] = {
    "Transformer": lambda: held(
        _transformer(), lambda m, x, y: m(x, text_embeds=y, cond_drop_prob=0.2), (_i(12, 2, 9), _t(2, 4, 16))
    ),
    "Transformer labels": lambda: held(
        _transformer(self_cond=True),
        lambda m, x, y: m(x, text_embeds=y, labels=x, ignore_index=-1),
        (_i(12, 2, 9), _t(2, 4, 16)),
    ),
    "Transformer scale": lambda: held(
        _transformer().eval(), lambda m, x, y: m.forward_with_cond_scale(x, text_embeds=y), (_i(12, 2, 9), _t(2, 4, 16))
    ),
    "MaskGit": lambda: held(
        _get(_KM + "MaskGit")(image_size=3, vae=_Codes(), transformer=_transformer()),
        lambda m, x, y: m(x, text_embeds=y),
        (_i(12, 2, 9), _t(2, 4, 16)),
    ),
    "MaskGit critic": lambda: held(
        _get(_KM + "MaskGit")(image_size=3, vae=_Codes(), transformer=_transformer(), self_token_critic=True),
        lambda m, x, y: m(x, text_embeds=y, train_only_generator=False),
        (_i(12, 2, 9), _t(2, 4, 16)),
    ),
    "Attention": lambda: _made(_KM + "Attention", [(_t(2, 5, 16),)], 16, 8, 2, flash=False),
    "Attend": lambda: _made(_K + "attend.Attend", [(_t(2, 2, 5, 8), _t(2, 2, 5, 8), _t(2, 2, 5, 8))]),
    "get_mask_subset_prob": lambda: _call(_KM + "get_mask_subset_prob", (_u(2, 9) > 0.3, 0.5)),
    "prob_mask_like": lambda: _call(_KM + "prob_mask_like", ((2, 5), 0.5)),
    "gumbel_sample": lambda: _call(_KM + "gumbel_sample", (_t(2, 5),)),
    "top_k": lambda: _call(_KM + "top_k", (_t(2, 3, 10),)),
}

_C = "ctgan.synthesizers."
_SPANS = [
    [SimpleNamespace(dim=1, activation_fn="tanh"), SimpleNamespace(dim=3, activation_fn="softmax")],
    [SimpleNamespace(dim=2, activation_fn="softmax")],
]


def _synthesizer(name: str, *given: Any) -> Built:
    """A method of a generator of tables."""
    made = _get(_C + "ctgan.CTGAN")()
    made._transformer = SimpleNamespace(output_info_list=_SPANS)
    return getattr(made, name), [given]


_CT: dict[str, Callable[[], Built]] = {
    "Discriminator": lambda: _made(_C + "ctgan.Discriminator", [(_t(20, 5),)], 5, (8, 4), 10),
    "gradient penalty": lambda: held(
        _get(_C + "ctgan.Discriminator")(5, (8, 4), 10),
        lambda m, x, y: m.calc_gradient_penalty(x, y, torch.device("cpu")),
        (_t(20, 5), _t(20, 5).requires_grad_()),
    ),
    "Generator": lambda: _made(_C + "ctgan.Generator", [(_t(4, 6),)], 6, (8, 8), 5),
    "Residual": lambda: _made(_C + "ctgan.Residual", [(_t(4, 6),)], 6, 3),
    "gumbel": lambda: _synthesizer("_gumbel_softmax", _t(4, 5)),
    "activate": lambda: _synthesizer("_apply_activate", _t(4, 6)),
    "cond loss": lambda: _synthesizer("_cond_loss", _t(4, 6), torch.eye(5)[:4], torch.eye(2).repeat(2, 1)),
    "TVAE Encoder": lambda: _made(_C + "tvae.Encoder", [(_t(4, 6),)], 6, (8,), 3),
    "TVAE Decoder": lambda: _made(_C + "tvae.Decoder", [(_t(4, 3),)], 3, (8,), 6),
    "TVAE loss": lambda: _call(
        _C + "tvae._loss_function", (_t(4, 6), _u(4, 6), _u(6) + 0.1, _t(4, 3), _t(4, 3), _SPANS, 2)
    ),
}

_TT = "tsfm_public.models.tinytimemixer.modeling_tinytimemixer."
_TP = "tsfm_public.models.tspulse.modeling_tspulse."


def _mixer(kind: str, use: Callable[..., Any], *inputs: torch.Tensor, **options: Any) -> Built:
    """A use of a part of a mixer of time series."""
    config = _get("tsfm_public.models.tinytimemixer.configuration_tinytimemixer.TinyTimeMixerConfig")(
        context_length=32,
        patch_length=8,
        patch_stride=8,
        num_input_channels=2,
        prediction_length=8,
        d_model=8,
        decoder_d_model=8,
        num_layers=1,
        decoder_num_layers=1,
        **options,
    )
    config.check_and_init_preprocessing()
    return held(_get(_TT + kind)(config), use, inputs)


_TS: dict[str, Callable[[], Built]] = {
    "Mixer prediction": lambda: _mixer(
        "TinyTimeMixerForPrediction", lambda m, x: m(x).prediction_outputs, _t(2, 32, 2)
    ),
    "Mixer loss": lambda: _mixer(
        "TinyTimeMixerForPrediction", lambda m, x, y: m(x, future_values=y).loss, _t(2, 32, 2), _t(2, 8, 2)
    ),
    "Mixer observed": lambda: _mixer(
        "TinyTimeMixerForPrediction",
        lambda m, x, y: m(x, past_observed_mask=y).prediction_outputs,
        _t(2, 32, 2),
        (_u(2, 32, 2) > 0.2).float(),
        scaling="mean",
    ),
    "Mixer Encoder": lambda: _mixer("TinyTimeMixerEncoder", lambda m, x: m(x).last_hidden_state, _t(2, 2, 4, 8)),
    "Mixer Patchify": lambda: _mixer("TinyTimeMixerPatchify", lambda m, x: m(x), _t(2, 32, 2)),
    "Mixer StdScaler": lambda: _mixer(
        "TinyTimeMixerStdScaler", lambda m, x, y: m(x, y), _t(2, 32, 2), torch.ones(2, 32, 2)
    ),
    "Mixer MeanScaler": lambda: _mixer(
        "TinyTimeMixerMeanScaler", lambda m, x, y: m(x, y), _t(2, 32, 2), torch.ones(2, 32, 2)
    ),
    "PinballLoss": lambda: _made(_TT + "PinballLoss", [(_t(2, 4), _t(2, 4))], 0.3),
    "weighted_average": lambda: _call(_TT + "weighted_average", (_t(2, 4), _u(2, 4))),
    "robust_lowess_like": lambda: _call(_TT + "robust_lowess_like", (_t(2, 32, 2),)),
    "weighted_l1_over_horizon": lambda: _call(_TT + "weighted_l1_over_horizon", (_t(2, 8, 2), _t(2, 8, 2))),
    "CrossEntropySoftmaxLoss": lambda: _made(
        _TP + "CrossEntropySoftmaxLoss", [(torch.softmax(_t(2, 4), -1), torch.softmax(_t(2, 4), -1))]
    ),
    "TSPulse gate": lambda: _made(_TP + "TSPulseGatedAttention", [(_t(2, 4, 8),)], 8, 8),
    "FlowState RevIN": lambda: held(
        _get("tsfm_public.models.flowstate.modeling_flowstate.FlowStateCausalRevIN")(),
        lambda m, x: m(m(x, "norm"), "denorm"),
        (_t(12, 2, 3),),
    ),
    "PatchTSTFM positions": lambda: _made(
        "tsfm_public.models.patchtst_fm.modeling_patchtst_fm.LearnedPositionalEmbedding", [(_t(2, 6, 8),)], 8, 20
    ),
}


def _stepped(kind: str, base: Callable[..., torch.optim.Optimizer], **options: Any) -> Built:
    """A step that can be differentiated."""
    module = nn.Linear(3, 2)
    optimizer = base(module.parameters(), lr=0.1, **options)
    made = _get("betty.optim." + kind)(optimizer, module)
    for parameter in module.parameters():
        parameter.grad = torch.ones_like(parameter)
    return held(made, lambda m: m.step([torch.ones(2, 3), torch.ones(2)]), ())


_BE: dict[str, Callable[[], Built]] = {
    "convert_tensor": lambda: _call("betty.utils.convert_tensor", ({"a": _t(2), "b": [_t(2)]},), device="cpu"),
    "get_weight_norm": lambda: held(
        nn.Linear(3, 2), lambda m: _get("betty.utils.get_weight_norm")(list(m.parameters())), ()
    ),
    "flatten_list": lambda: _call("betty.utils.flatten_list", ([[_t(2)], _t(3)],)),
    "get_param_index": lambda: _call("betty.utils.get_param_index", (_t(2), [_t(2), _t(2)])),
    "approx_inverse_hvp": lambda: _neumann(),
}


def _neumann() -> Built:
    """A product of an inverse of second derivatives and a vector."""
    layer = nn.Linear(3, 2)
    solve = _get("betty.hypergradient.neumann.approx_inverse_hvp")

    def use(x: torch.Tensor) -> Any:
        loss = layer(x).pow(2).sum()
        parameters = list(layer.parameters())
        first = torch.autograd.grad(loss, parameters, create_graph=True)
        return solve([torch.ones_like(p) for p in parameters], first, parameters)

    return use, [(_t(4, 3),)]


MODELS: dict[str, Callable[[], Built]] = {}
for _package, _models in {
    "torchmultimodal": _MANY,
    "torchmdnet": _MD,
    "muse_maskgit_pytorch": _MUSE,
    "ctgan": _CT,
    "tsfm_public": _TS,
    "betty": _BE,
}.items():
    MODELS |= {f"{_package}/{_name}": _build for _name, _build in _models.items()}

"""Tiny configurations of `transformers` models, by class name."""

from __future__ import annotations

import importlib
from functools import partial
from typing import Any

import torch

_TINY: dict[str, Any] = {
    "vocab_size": 99,
    "hidden_size": 32,
    "d_model": 32,
    "n_embd": 32,
    "num_hidden_layers": 1,
    "n_layer": 1,
    "n_layers": 1,
    "num_layers": 1,
    "num_decoder_layers": 1,
    "encoder_layers": 1,
    "decoder_layers": 1,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "n_head": 4,
    "num_heads": 4,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "intermediate_size": 64,
    "encoder_ffn_dim": 64,
    "decoder_ffn_dim": 64,
    "d_ff": 64,
    "d_kv": 8,
    "max_position_embeddings": 128,
    "head_dim": 8,
    "embedding_size": 32,
    "num_experts": 4,
    "num_local_experts": 4,
    "num_experts_per_tok": 2,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def _config(name: str, changes: dict[str, Any]) -> Any:
    config_class = getattr(importlib.import_module("transformers"), f"{name}Config")
    known = config_class()
    settings = {k: v for k, v in _TINY.items() if hasattr(known, k)}
    for attribute in getattr(config_class, "attribute_map", {}):
        if attribute in settings and config_class.attribute_map[attribute] in settings:
            del settings[attribute]
    return config_class(**(settings | changes))


def _model(name: str, config: Any) -> Any:
    torch.manual_seed(0)
    return getattr(importlib.import_module("transformers"), name)(config)


def _ids(*shape: int) -> torch.Tensor:
    return torch.randint(3, 90, shape, generator=torch.Generator().manual_seed(0))


def _text(config: str, model: str, changes: dict[str, Any], extra: str = "") -> tuple[Any, list[Any]]:
    module = _model(model, _config(config, changes))
    inputs = []
    for batch, length in ((2, 12), (2, 17)):
        ids = _ids(batch, length)
        mask = torch.ones_like(ids)
        mask[0, -3:] = 0
        given = {"input_ids": ids, "attention_mask": mask}
        if extra == "decoder":
            given["decoder_input_ids"] = _ids(batch, 7)
        elif extra == "labels":
            given["labels"] = ids
        elif extra == "class":
            given["labels"] = torch.tensor([0, 1])
        elif extra == "ids only":
            del given["attention_mask"]
        inputs.append(given)
    return module, inputs


def _image(config: str, model: str, changes: dict[str, Any], size: int = 32) -> tuple[Any, list[Any]]:
    module = _model(model, _config(config, changes))
    return module, [{"pixel_values": torch.randn(b, 3, size, size)} for b in (1, 2)]


def _audio(config: str, model: str, changes: dict[str, Any], labels: bool = False) -> tuple[Any, list[Any]]:
    module = _model(model, _config(config, changes))
    inputs = []
    for length in (4000, 5000):
        given: dict[str, Any] = {"input_values": torch.randn(2, length), "attention_mask": torch.ones(2, length).long()}
        if labels:
            given["labels"] = _ids(2, 4)
        inputs.append(given)
    return module, inputs


def _series(config: str, model: str, changes: dict[str, Any]) -> tuple[Any, list[Any]]:
    module = _model(
        model, _config(config, {"prediction_length": 4, "context_length": 8, "lags_sequence": [1, 2]} | changes)
    )
    past = 10
    inputs = []
    for batch in (2, 3):
        inputs.append(
            {
                "past_values": torch.rand(batch, past),
                "past_time_features": torch.rand(batch, past, module.config.num_time_features),
                "past_observed_mask": torch.ones(batch, past),
                "future_values": torch.rand(batch, 4),
                "future_time_features": torch.rand(batch, 4, module.config.num_time_features),
            }
        )
    return module, inputs


def _patches(config: str, model: str) -> tuple[Any, list[Any]]:
    module = _model(
        model,
        _config(config, {"num_input_channels": 2, "context_length": 32, "prediction_length": 8, "patch_length": 8}),
    )
    return module, [{"past_values": torch.rand(b, 32, 2)} for b in (2, 3)]


_CONV = {
    "conv_dim": (16, 16),
    "conv_stride": (5, 4),
    "conv_kernel": (10, 8),
    "num_feat_extract_layers": 2,
    "num_conv_pos_embeddings": 16,
    "num_conv_pos_embedding_groups": 2,
    "mask_time_prob": 0.5,
    "mask_time_length": 2,
}
_VIT = {"image_size": 32, "patch_size": 8}

_TEXT: list[tuple[str, str, dict[str, Any], str]] = [
    ("Bert", "BertForSequenceClassification", {}, "class"),
    ("GPT2", "GPT2LMHeadModel", {}, "labels"),
    ("GPTNeo", "GPTNeoForCausalLM", {"attention_types": [[["global", "local"], 1]], "num_layers": 2}, ""),
    ("Llama", "LlamaForCausalLM", {}, "labels"),
    ("Mixtral", "MixtralForCausalLM", {}, ""),
    ("Qwen2Moe", "Qwen2MoeModel", {"moe_intermediate_size": 16, "shared_expert_intermediate_size": 16}, ""),
    ("OPT", "OPTForCausalLM", {"ffn_dim": 64, "word_embed_proj_dim": 32}, ""),
    ("Bloom", "BloomForCausalLM", {}, ""),
    ("T5", "T5ForConditionalGeneration", {}, "decoder"),
    (
        "SwitchTransformers",
        "SwitchTransformersForConditionalGeneration",
        {"num_layers": 2, "num_decoder_layers": 2, "num_sparse_encoder_layers": 1, "num_sparse_decoder_layers": 1},
        "decoder",
    ),
    (
        "LongT5",
        "LongT5Model",
        {"encoder_attention_type": "transient-global", "local_radius": 4, "global_block_size": 4},
        "decoder",
    ),
    ("Bart", "BartForConditionalGeneration", {}, "decoder"),
    ("Bart", "BartForSequenceClassification", {}, "ids only"),
    ("Marian", "MarianModel", {"decoder_start_token_id": 1}, "decoder"),
    (
        "NllbMoe",
        "NllbMoeModel",
        {
            "num_experts": 4,
            "expert_capacity": 8,
            "encoder_sparse_step": 2,
            "decoder_sparse_step": 2,
            "encoder_layers": 2,
            "decoder_layers": 2,
        },
        "decoder",
    ),
    ("BlenderbotSmall", "BlenderbotSmallModel", {}, "decoder"),
    (
        "LED",
        "LEDModel",
        {"attention_window": 4, "max_encoder_position_embeddings": 64, "max_decoder_position_embeddings": 64},
        "decoder",
    ),
    ("Longformer", "LongformerModel", {"attention_window": 4}, ""),
    ("BigBird", "BigBirdModel", {"block_size": 4, "num_random_blocks": 1}, ""),
    (
        "Reformer",
        "ReformerModel",
        {
            "axial_pos_shape": (4, 8),
            "axial_pos_embds_dim": (16, 16),
            "attn_layers": ["local", "lsh"],
            "num_hidden_layers": 2,
            "attention_head_size": 8,
            "local_attn_chunk_length": 4,
            "lsh_attn_chunk_length": 4,
            "num_buckets": 2,
            "is_decoder": False,
            "feed_forward_size": 32,
        },
        "",
    ),
    ("Funnel", "FunnelModel", {"block_sizes": [1, 1], "d_model": 32, "n_head": 4, "d_head": 8, "d_inner": 32}, ""),
    ("XLNet", "XLNetModel", {"d_inner": 32}, ""),
    ("XLM", "XLMModel", {"emb_dim": 32}, ""),
    ("Deberta", "DebertaModel", {"relative_attention": True, "pos_att_type": ["c2p", "p2c"]}, ""),
    (
        "DebertaV2",
        "DebertaV2ForSequenceClassification",
        {"relative_attention": True, "position_buckets": 8, "pos_att_type": ["c2p", "p2c"]},
        "class",
    ),
    ("DistilBert", "DistilBertModel", {"dim": 32, "hidden_dim": 64}, ""),
    ("MPNet", "MPNetModel", {}, ""),
    ("Nystromformer", "NystromformerModel", {"num_landmarks": 4, "segment_means_seq_len": 12}, ""),
    ("Mra", "MraModel", {}, ""),
    ("Yoso", "YosoModel", {"use_expectation": True}, ""),
    ("FNet", "FNetModel", {}, "ids only"),
    ("Canine", "CanineModel", {"local_transformer_stride": 8, "downsampling_rate": 4}, ""),
    ("Rwkv", "RwkvModel", {"attention_hidden_size": 32}, "ids only"),
    ("Mamba", "MambaModel", {"state_size": 4}, "ids only"),
    (
        "Jamba",
        "JambaModel",
        {
            "num_hidden_layers": 2,
            "attn_layer_period": 2,
            "attn_layer_offset": 1,
            "expert_layer_period": 2,
            "expert_layer_offset": 1,
            "use_mamba_kernels": False,
            "mamba_d_state": 4,
        },
        "",
    ),
    (
        "RecurrentGemma",
        "RecurrentGemmaModel",
        {"num_hidden_layers": 3, "lru_width": 32, "attention_window_size": 8},
        "",
    ),
    (
        "ProphetNet",
        "ProphetNetModel",
        {"num_encoder_layers": 2, "num_encoder_attention_heads": 4, "num_decoder_attention_heads": 4},
        "decoder",
    ),
    ("IBert", "IBertModel", {}, ""),
    ("Esm", "EsmModel", {"position_embedding_type": "rotary", "mask_token_id": 4, "token_dropout": True}, ""),
    ("Luke", "LukeModel", {"entity_vocab_size": 16}, ""),
    ("GraniteMoe", "GraniteMoeModel", {}, ""),
    ("CLIPText", "CLIPTextModel", {}, ""),
]
_IMAGE: list[tuple[str, str, dict[str, Any], int]] = [
    ("ViT", "ViTForMaskedImageModeling", _VIT | {"encoder_stride": 8}, 32),
    ("Beit", "BeitModel", _VIT, 32),
    (
        "Swin",
        "SwinModel",
        {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4},
        32,
    ),
    (
        "Swinv2",
        "Swinv2Model",
        {"image_size": 32, "patch_size": 2, "embed_dim": 16, "depths": [1, 1], "num_heads": [2, 2], "window_size": 4},
        32,
    ),
    ("ConvNext", "ConvNextModel", {"hidden_sizes": [8, 16, 16, 16], "depths": [1, 1, 1, 1], "num_stages": 4}, 64),
    ("ResNet", "ResNetModel", {"embedding_size": 8, "hidden_sizes": [8, 8], "depths": [1, 1]}, 32),
    (
        "Segformer",
        "SegformerForSemanticSegmentation",
        {
            "hidden_sizes": [8, 8, 16, 16],
            "num_attention_heads": [1, 1, 2, 2],
            "depths": [1, 1, 1, 1],
            "decoder_hidden_size": 16,
        },
        64,
    ),
    (
        "MobileViT",
        "MobileViTModel",
        {
            "hidden_sizes": [16, 16, 16],
            "neck_hidden_sizes": [8, 8, 8, 16, 16, 16, 16],
            "image_size": 64,
            "intermediate_size": 32,
        },
        64,
    ),
    (
        "Levit",
        "LevitModel",
        {
            "image_size": 64,
            "hidden_sizes": [16, 32, 32],
            "num_attention_heads": [1, 2, 2],
            "depths": [1, 1, 1],
            "key_dim": [8, 8, 8],
        },
        64,
    ),
    ("Cvt", "CvtModel", {"embed_dim": [16, 16, 16], "num_heads": [1, 1, 1], "depth": [1, 1, 1]}, 32),
    ("PoolFormer", "PoolFormerModel", {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1]}, 64),
    ("Dinov2", "Dinov2Model", _VIT, 32),
    ("ViTMAE", "ViTMAEModel", _VIT, 32),
    (
        "DPT",
        "DPTForDepthEstimation",
        _VIT
        | {
            "neck_hidden_sizes": [8, 8, 8, 8],
            "fusion_hidden_size": 8,
            "num_hidden_layers": 4,
            "backbone_out_indices": [0, 1, 2, 3],
        },
        32,
    ),
    (
        "SuperPoint",
        "SuperPointForKeypointDetection",
        {
            "encoder_hidden_sizes": [8, 8, 8, 8],
            "decoder_hidden_size": 16,
            "keypoint_decoder_dim": 65,
            "descriptor_decoder_dim": 16,
        },
        64,
    ),
    (
        "EfficientNet",
        "EfficientNetModel",
        {"image_size": 32, "width_coefficient": 0.25, "depth_coefficient": 0.2, "hidden_dim": 320},
        64,
    ),
]
_AUDIO: list[tuple[str, str, dict[str, Any], bool]] = [
    ("Wav2Vec2", "Wav2Vec2Model", _CONV, False),
    ("Wav2Vec2", "Wav2Vec2ForCTC", _CONV, True),
    ("SEW", "SEWModel", _CONV | {"squeeze_factor": 2}, False),
    ("WavLM", "WavLMModel", _CONV, False),
    ("Data2VecAudio", "Data2VecAudioModel", _CONV, False),
]


def _detr(name: str) -> tuple[Any, list[Any]]:
    transformers = importlib.import_module("transformers")
    backbone = transformers.ResNetConfig(
        embedding_size=8,
        hidden_sizes=[8, 8, 8, 8],
        depths=[1, 1, 1, 1],
        out_features=["stage2", "stage3", "stage4"] if name == "DeformableDetr" else ["stage4"],
    )
    config = _config(
        name,
        {
            "use_timm_backbone": False,
            "use_pretrained_backbone": False,
            "backbone_config": backbone,
            "num_queries": 5,
            "backbone": None,
            "num_feature_levels": 4,
            "num_labels": 4,
        },
    )
    model = _model(f"{name}ForObjectDetection", config)
    return model, [
        {"pixel_values": torch.randn(1, 3, 64, 64)},
        {
            "pixel_values": torch.randn(1, 3, 64, 96),
            "labels": [{"class_labels": torch.tensor([1, 2]), "boxes": torch.rand(2, 4) * 0.4 + 0.1}],
        },
    ]


def _clip() -> tuple[Any, list[Any]]:
    transformers = importlib.import_module("transformers")
    text = _config("CLIPText", {})
    vision = _config("CLIPVision", _VIT)
    config = transformers.CLIPConfig(text_config=text.to_dict(), vision_config=vision.to_dict(), projection_dim=16)
    model = _model("CLIPModel", config)
    return model, [
        {"input_ids": _ids(2, n), "pixel_values": torch.randn(2, 3, 32, 32), "return_loss": True} for n in (8, 12)
    ]


def _whisper() -> tuple[Any, list[Any]]:
    config = _config(
        "Whisper",
        {"num_mel_bins": 8, "max_source_positions": 20, "max_target_positions": 20, "decoder_start_token_id": 1},
    )
    model = _model("WhisperModel", config)
    return model, [{"input_features": torch.randn(2, 8, 40), "decoder_input_ids": _ids(2, n)} for n in (5, 7)]


def _perceiver() -> tuple[Any, list[Any]]:
    config = _config(
        "Perceiver",
        {
            "num_latents": 8,
            "d_latents": 16,
            "d_model": 32,
            "num_blocks": 1,
            "num_self_attends_per_block": 1,
            "num_self_attention_heads": 2,
            "num_cross_attention_heads": 2,
            "max_position_embeddings": 64,
        },
    )
    return _model("PerceiverForMaskedLM", config), [{"inputs": _ids(2, n)} for n in (64, 64)]


def _vits() -> tuple[Any, list[Any]]:
    config = _config(
        "Vits",
        {
            "flow_size": 32,
            "spectrogram_bins": 9,
            "prior_encoder_num_flows": 2,
            "ffn_dim": 32,
            "upsample_initial_channel": 16,
            "upsample_rates": [4, 4],
            "upsample_kernel_sizes": [8, 8],
            "resblock_kernel_sizes": [3],
            "resblock_dilation_sizes": [[1, 3]],
            "num_speakers": 1,
            "wavenet_dilation_rate": 1,
            "posterior_encoder_num_wavenet_layers": 2,
            "prior_encoder_num_wavenet_layers": 2,
            "duration_predictor_num_flows": 2,
        },
    )
    return _model("VitsModel", config), [{"input_ids": _ids(1, n)} for n in (8, 11)]


def _tapas() -> tuple[Any, list[Any]]:
    model = _model("TapasModel", _config("Tapas", {"type_vocab_sizes": [3, 8, 8, 2, 8, 8, 4]}))
    return model, [{"input_ids": _ids(2, n), "token_type_ids": torch.zeros(2, n, 7, dtype=torch.long)} for n in (8, 12)]


MODELS = {
    **{f"transformers/{m}{' ' + e if e else ''}": partial(_text, c, m, s, e) for c, m, s, e in _TEXT},
    **{f"transformers/{m}": partial(_image, c, m, s, size) for c, m, s, size in _IMAGE},
    **{f"transformers/{m}": partial(_audio, c, m, s, labels) for c, m, s, labels in _AUDIO},
    **{
        f"transformers/{n}ForPrediction": partial(_series, n, f"{n}ForPrediction", {})
        for n in ("TimeSeriesTransformer", "Informer", "Autoformer")
    },
    **{
        f"transformers/{n}ForPrediction": partial(_patches, n, f"{n}ForPrediction")
        for n in ("PatchTST", "PatchTSMixer")
    },
    **{f"transformers/{n}ForObjectDetection": partial(_detr, n) for n in ("Detr", "ConditionalDetr", "DeformableDetr")},
    "transformers/CLIPModel": _clip,
    "transformers/WhisperModel": _whisper,
    "transformers/PerceiverForMaskedLM": _perceiver,
    "transformers/VitsModel": _vits,
    "transformers/TapasModel": _tapas,
}

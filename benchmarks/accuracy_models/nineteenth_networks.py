"""Models of trl, transformer_lens, open_clip, torchtune and nerfstudio.

They were chosen with those of `nineteenth_models`, and written before `check` was run on these packages.
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

_t, _u, _i = random_inputs(48)
_ABSENT = {
    "trl": ("mergekit.config", "mergekit.merge", "llm_blender"),
    "torchtune": ("torchvision.transforms.v2.functional",),
    "open_clip": ("torchvision.transforms.functional", "torchvision.ops.misc"),
    "nerfstudio": (
        "viser.transforms",
        "torchvision.transforms",
        "open3d",
        "mediapy",
        "cv2",
    ),
}
_get = getter(_ABSENT, ("nerfstudio",))
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_U = "trl.trainer.utils."
_C = "trl.core."
_PADDED = torch.tensor([[0, 0, 1, 1, 1], [0, 1, 1, 1, 0]])
_TOKENS = torch.tensor([[3, 4, 5, 1, 0], [6, 1, 2, 0, 0]])
_LOGPS = (_t(4), _t(4), _t(4), _t(4))


class _Language(nn.Module):
    """A small language model with the interface of those of transformers."""

    base_model_prefix = "backbone"

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(9, 8)
        self.score = nn.Linear(8, 1)
        self.head = nn.Linear(8, 9)
        self.config = SimpleNamespace(is_encoder_decoder=False, hidden_size=8)
        self.device = torch.device("cpu")

    @property
    def backbone(self) -> Callable[..., Any]:
        return self.forward

    def forward(self, input_ids: torch.Tensor, **_: Any) -> Any:
        hidden = self.embed(input_ids)
        return SimpleNamespace(hidden_states=[hidden], logits=self.head(hidden), loss=None)


def _dpo(kind: str) -> Callable[[], Built]:
    trainer = SimpleNamespace(
        accelerator=SimpleNamespace(device=torch.device("cpu")),
        reference_free=False,
        f_divergence_type="reverse_kl",
        f_divergence_params=None,
        beta=0.1,
        label_smoothing=0.1,
        simpo_gamma=0.1,
        model=SimpleNamespace(),
        args=SimpleNamespace(discopop_tau=0.05),
    )

    def build() -> Built:
        loss = _get("trl.trainer.dpo_trainer.DPOTrainer").dpo_loss
        return held(trainer, lambda s, *x: loss(s, *x, kind), _LOGPS)

    return build


def _value_head() -> Built:
    config = _get("transformers.GPT2Config")(vocab_size=20, n_positions=16, n_embd=8, n_layer=1, n_head=2)
    inner = _get("transformers.GPT2LMHeadModel")(config)
    model = _get("trl.models.modeling_value_head.AutoModelForCausalLMWithValueHead")(inner)
    model.is_peft_model = False  # what from_pretrained sets
    return model, [(_i(20, 2, 6),)]


_TRL: dict[str, Callable[[], Built]] = {
    "pad": lambda: _call(_U + "pad", ([_i(5, 3), _i(5, 5)], 0, "left")),
    "pad multiple": lambda: _call(_U + "pad", ([_i(5, 3), _i(5, 5)],), padding_value=0, pad_to_multiple_of=8),
    "pad_to_length": lambda: _call(_U + "pad_to_length", (_i(5, 2, 3), 6, 0)),
    "first_true_indices": lambda: _call(_U + "first_true_indices", (_i(2, 3, 6).bool(),)),
    "get_reward": lambda: held(_Reward(), lambda m, x: _get(_U + "get_reward")(m, x, 0, 2), (_TOKENS,)),
    "forward": lambda: held(_Language(), lambda m, x: _get(_U + "forward")(m, x, 0).logits, (_TOKENS,)),
    "truncate_response": lambda: _call(_U + "truncate_response", (1, 0, _TOKENS)),
    "truncate_right": lambda: _call(_U + "truncate_right", (_TOKENS, 1, 0)),
    "flush_left": lambda: _call(_U + "flush_left", (_PADDED, _TOKENS)),
    "flush_right": lambda: _call(_U + "flush_right", (_PADDED, _TOKENS)),
    "selective_log_softmax": lambda: _call(_U + "selective_log_softmax", (_t(2, 5, 9), _TOKENS)),
    "selective_log_softmax half": lambda: _call(_U + "selective_log_softmax", (_t(2, 5, 9).bfloat16(), _TOKENS)),
    "entropy_from_logits": lambda: _call(_U + "entropy_from_logits", (_t(2, 5, 9), 4)),
    "nanstd": lambda: _call(_U + "nanstd", (torch.tensor([1.0, float("nan"), 3.0]),)),
    "nanmin": lambda: _call(_U + "nanmin", (torch.tensor([1.0, float("nan"), 3.0]),)),
    "nanmax": lambda: _call(_U + "nanmax", (torch.tensor([1.0, float("nan"), 3.0]),)),
    "split_tensor_dict": lambda: _call(_U + "split_tensor_dict", ({"a": _t(4, 2), "b": None}, 2)),
    "shuffle_sequence_dict": lambda: _call(_U + "shuffle_sequence_dict", ({"a": _t(4, 2), "b": None},)),
    "split_pixel_values_by_grid": lambda: _call(
        _U + "split_pixel_values_by_grid",
        ({"pixel_values": _t(10, 3), "image_grid_thw": torch.tensor([[1, 2, 2], [1, 2, 3]]), "num_images": [1, 1]},),
    ),
    "truncate_with_protected_tokens": lambda: _call(
        _U + "truncate_with_protected_tokens", (_TOKENS, torch.ones(2, 5).long(), 4, [1])
    ),
    "generate": lambda: _generate(),
    "masked_mean": lambda: _call(_C + "masked_mean", (_t(2, 5), _PADDED)),
    "masked_var": lambda: _call(_C + "masked_var", (_t(2, 5), _PADDED)),
    "masked_whiten": lambda: _call(_C + "masked_whiten", (_t(2, 5), _PADDED, False)),
    "randn_tensor": lambda: _using(_C + "randn_tensor", lambda f, x: x + f((2, 3)), (_t(2, 3),)),
    "value head": lambda: _value_head(),
    "dpo_loss sigmoid": _dpo("sigmoid"),
    "dpo_loss ipo": _dpo("ipo"),
    "dpo_loss exo_pair": _dpo("exo_pair"),
    "dpo_loss aot": _dpo("aot"),
    "dpo_loss discopop": _dpo("discopop"),
    "concatenated_inputs": lambda: _using(
        "trl.trainer.dpo_trainer.DPOTrainer",
        lambda c, batch: c.concatenated_inputs(batch, 0),
        (
            {
                "prompt_input_ids": _i(9, 2, 4),
                "prompt_attention_mask": torch.ones(2, 4).long(),
                "chosen_input_ids": _i(9, 2, 3),
                "chosen_attention_mask": torch.ones(2, 3).long(),
                "rejected_input_ids": _i(9, 2, 5),
                "rejected_attention_mask": torch.ones(2, 5).long(),
            },
        ),
    ),
}


class _Reward(_Language):
    """A small model that gives a reward to each place."""

    def forward(self, input_ids: torch.Tensor, **_: Any) -> Any:
        return SimpleNamespace(hidden_states=[self.embed(input_ids)])


def _generate() -> Built:
    config = _get("transformers.GPT2Config")(vocab_size=20, n_positions=16, n_embd=8, n_layer=1, n_head=2)
    model = _get("transformers.GPT2LMHeadModel")(config)
    settings = _get("transformers.GenerationConfig")(max_new_tokens=3, pad_token_id=0, do_sample=False)
    return held(model, lambda m, x: _get(_U + "generate")(m, x, 0, settings), (_i(19, 2, 4) + 1,))


_H = "transformer_lens."
_B = _H + "components."


def _config(**options: Any) -> Any:
    given = {"n_layers": 1, "d_model": 8, "n_ctx": 12, "d_head": 4, "n_heads": 2, "d_vocab": 10, "act_fn": "gelu"}
    return _get(_H + "HookedTransformerConfig")(**{**given, "device": "cpu", **options})


def _hooked(**options: Any) -> Any:
    return _get(_H + "HookedTransformer")(_config(**options))


def _component(name: str, *inputs: Any, **options: Any) -> Callable[[], Built]:
    return lambda: (_get(_B + name)(_config(**options)), [inputs])


def _cached(use: Callable[[Any], Any]) -> Callable[[], Built]:
    def build() -> Built:
        model = _hooked(n_layers=2)
        tokens = _i(10, 2, 6)
        _, cache = model.run_with_cache(tokens)
        return held(cache, lambda c, x: use(c) * x, (torch.ones(1),))

    return build


_RESIDUAL = _t(2, 6, 8)
_FACTORS = (_t(3, 6, 2), _t(3, 2, 5))
_LENS: dict[str, Callable[[], Built]] = {
    "HookedTransformer": lambda: (_hooked(), [(_i(10, 2, 6),)]),
    "HookedTransformer loss": lambda: (_hooked(), [{"input": _i(10, 2, 6), "return_type": "loss"}]),
    "HookedTransformer rotary": lambda: (
        _hooked(positional_embedding_type="rotary", rotary_dim=4, normalization_type="RMS"),
        [(_i(10, 2, 6),)],
    ),
    "HookedTransformer alibi": lambda: (_hooked(positional_embedding_type="alibi"), [(_i(10, 2, 6),)]),
    "HookedTransformer moe": lambda: (
        _hooked(num_experts=3, experts_per_token=2, gated_mlp=True, d_mlp=16),
        [(_i(10, 2, 6),)],
    ),
    "HookedTransformer local": lambda: (
        _hooked(attn_types=["local"], use_local_attn=True, window_size=3),
        [(_i(10, 2, 6),)],
    ),
    "HookedTransformer scaled": lambda: (
        _hooked(scale_attn_by_inverse_layer_idx=True, use_attn_result=True, use_split_qkv_input=True),
        [(_i(10, 2, 6),)],
    ),
    "HookedTransformer stop": lambda: (_hooked(n_layers=2), [{"input": _i(10, 2, 6), "stop_at_layer": 1}]),
    "run_with_cache": lambda: held(_hooked(), lambda m, x: m.run_with_cache(x)[0], (_i(10, 2, 6),)),
    "run_with_hooks": lambda: held(
        _hooked(),
        lambda m, x: m.run_with_hooks(x, fwd_hooks=[("blocks.0.hook_resid_pre", lambda v, hook: v * 2)]),  # noqa: ARG005
        (_i(10, 2, 6),),
    ),
    "loss_fn": lambda: held(_hooked(), lambda m, x, y: m.loss_fn(x, y), (_t(2, 6, 10), _i(10, 2, 6))),
    "Attention": lambda: (
        _get(_B + "Attention")(_config(), "global", 0),
        [(_RESIDUAL, _RESIDUAL, _RESIDUAL)],
    ),
    "GroupedQueryAttention": lambda: (
        _get(_B + "GroupedQueryAttention")(_config(n_key_value_heads=1), "global", 0),
        [(_RESIDUAL, _RESIDUAL, _RESIDUAL)],
    ),
    "LayerNorm": _component("LayerNorm", _RESIDUAL),
    "RMSNorm": _component("RMSNorm", _RESIDUAL),
    "MLP": _component("MLP", _RESIDUAL),
    "PosEmbed": _component("PosEmbed", _i(10, 2, 6), 0, torch.ones(2, 6).long()),
    "BertEmbed": _component("BertEmbed", _i(10, 2, 6)),
    "T5Block": lambda: (
        _get(_B + "T5Block")(
            _config(relative_attention_num_buckets=4, relative_attention_max_distance=8), 0, is_decoder=False
        ),
        [(_RESIDUAL,)],
    ),
    "lm_cross_entropy_loss": lambda: _call(
        _H + "utils.lm_cross_entropy_loss", (_t(2, 6, 10), _i(10, 2, 6), torch.ones(2, 6).long())
    ),
    "lm_accuracy": lambda: _call(_H + "utils.lm_accuracy", (_t(2, 6, 10), _i(10, 2, 6))),
    "sample_logits": lambda: _call(_H + "utils.sample_logits", (_t(2, 10),), top_k=3, temperature=0.7),
    "sample_logits top_p": lambda: _call(
        _H + "utils.sample_logits", (_t(2, 10),), top_p=0.8, freq_penalty=0.5, tokens=_i(10, 2, 4)
    ),
    "is_lower_triangular": lambda: _call(_H + "utils.is_lower_triangular", (torch.ones(3, 3).tril(),)),
    "get_offset_position_ids": lambda: _call(_H + "utils.get_offset_position_ids", (1, torch.ones(2, 6).long())),
    "get_cumsum_along_dim": lambda: _call(_H + "utils.get_cumsum_along_dim", (_t(2, 6), 1, True)),
    "solu": lambda: _call(_H + "utilities.activation_functions.solu", (_RESIDUAL,)),
    "FactoredMatrix matmul": lambda: _using(
        _H + "FactoredMatrix.FactoredMatrix", lambda c, a, b, x: (c(a, b) @ x).AB, (*_FACTORS, _t(5, 4))
    ),
    "FactoredMatrix vector": lambda: _using(
        _H + "FactoredMatrix.FactoredMatrix", lambda c, a, b, x: c(a, b) @ x, (_t(6, 2), _t(2, 5), _t(5))
    ),
    "FactoredMatrix norm": lambda: _using(
        _H + "FactoredMatrix.FactoredMatrix", lambda c, a, b: c(a, b).norm(), _FACTORS
    ),
    "FactoredMatrix eigenvalues": lambda: _using(
        _H + "FactoredMatrix.FactoredMatrix", lambda c, a, b: c(a, b).eigenvalues, (_t(5, 2), _t(2, 5))
    ),
    "FactoredMatrix item": lambda: _using(
        _H + "FactoredMatrix.FactoredMatrix", lambda c, a, b: c(a, b)[0, 1:3].AB, _FACTORS
    ),
    "composition_scores": lambda: _using(
        _H + "FactoredMatrix.FactoredMatrix",
        lambda c, a, b: _get(_H + "utils.composition_scores")(c(a, b), c(a, b), False),
        (_t(3, 5, 2), _t(3, 2, 5)),
    ),
    "cache accumulated_resid": _cached(lambda c: c.accumulated_resid(apply_ln=True)),
    "cache decompose_resid": _cached(lambda c: c.decompose_resid()),
    "cache stack_head_results": _cached(lambda c: c.stack_head_results()),
    "cache stack_neuron_results": _cached(lambda c: c.stack_neuron_results(-1, pos_slice=1)),
    "cache logit_attrs": _cached(lambda c: c.logit_attrs(c.accumulated_resid(), torch.tensor([[3] * 6, [4] * 6]))),
    "cache full decomposition": _cached(lambda c: c.get_full_resid_decomposition(apply_ln=True)),
}

_O = "open_clip."
_VISION = {"layers": 1, "width": 16, "head_width": 8, "patch_size": 8, "image_size": 16}
_TEXT = {"context_length": 8, "vocab_size": 30, "width": 16, "heads": 2, "layers": 1}


def _clip(name: str, inputs: list[Any], **options: Any) -> Callable[[], Built]:
    return lambda: (_get(_O + "model." + name)(8, _VISION, _TEXT, **options), inputs)


_PICTURE = _t(2, 3, 16, 16)
_FEATURES = (_t(4, 8), _t(4, 8))
_CLIP: dict[str, Callable[[], Built]] = {
    "CLIP": _clip("CLIP", [(_PICTURE, _i(30, 2, 8))]),
    "CLIP image": _clip("CLIP", [(_PICTURE,)], output_dict=True),
    "CLIP resnet": lambda: (
        _get(_O + "model.CLIP")(8, {**_VISION, "layers": [1, 1, 1, 1], "width": 8, "image_size": 32}, _TEXT),
        [(_t(2, 3, 32, 32), _i(30, 2, 8))],
    ),
    "CustomTextCLIP": _clip("CustomTextCLIP", [(_PICTURE, _i(30, 2, 8))], init_logit_bias=-10.0),
    "CLIP patch dropout": lambda: (
        _get(_O + "model.CLIP")(8, {**_VISION, "patch_dropout": 0.5, "ls_init_value": 0.1}, _TEXT),
        [(_PICTURE, _i(30, 2, 8))],
    ),
    "CLIP pooled": lambda: (
        _get(_O + "model.CLIP")(
            8,
            {**_VISION, "attentional_pool": True, "attn_pooler_queries": 4, "attn_pooler_heads": 2},
            {**_TEXT, "pool_type": "eos", "eos_id": 29},
        ),
        [(_PICTURE, torch.tensor([[1, 2, 29, 0, 0, 0, 0, 0], [1, 29, 0, 0, 0, 0, 0, 0]]))],
    ),
    "CustomTextCLIP cls": lambda: (
        _get(_O + "model.CustomTextCLIP")(
            8, {**_VISION, "pool_type": "avg", "pos_embed_type": "sin_cos_2d"}, {**_TEXT, "embed_cls": True}
        ),
        [(_PICTURE, _i(30, 2, 7))],
    ),
    "encode_image": lambda: held(
        _get(_O + "model.CLIP")(8, _VISION, _TEXT), lambda m, x: m.encode_image(x, normalize=True), (_PICTURE,)
    ),
    "get_logits": lambda: held(
        _get(_O + "model.CLIP")(8, _VISION, _TEXT), lambda m, *x: m.get_logits(*x), (_PICTURE, _i(30, 2, 8))
    ),
    "forward_intermediates": lambda: held(
        _get(_O + "model.CLIP")(8, _VISION, _TEXT),
        lambda m, *x: m.forward_intermediates(*x, image_indices=1, normalize_intermediates=True),
        (_PICTURE, _i(30, 2, 8)),
    ),
    "CoCa": lambda: (_coca(), [(_PICTURE, _i(30, 2, 8))]),
    "ClipLoss": lambda: _made(_O + "loss.ClipLoss", [(*_FEATURES, torch.tensor(2.0))], cache_labels=True),
    "CoCaLoss": lambda: _made(
        _O + "loss.CoCaLoss", [(*_FEATURES, _t(4, 6, 9), _i(9, 4, 6), torch.tensor(2.0))], 2.0, 1.0
    ),
    "DistillClipLoss": lambda: _made(
        _O + "loss.DistillClipLoss", [(*_FEATURES, torch.tensor(2.0), *_FEATURES, torch.tensor(2.0))]
    ),
    "SigLipLoss": lambda: _made(_O + "loss.SigLipLoss", [(*_FEATURES, torch.tensor(2.0), torch.tensor(-1.0))]),
    "text_global_pool": lambda: _call(_O + "transformer.text_global_pool", (_t(2, 8, 4), _i(30, 2, 8))),
    "text_global_pool eos": lambda: _call(
        _O + "transformer.text_global_pool",
        (_t(2, 8, 4), torch.tensor([[1, 2, 29, 0, 0, 0, 0, 0], [1, 29, 0, 0, 0, 0, 0, 0]]), "eos", 29),
    ),
    "CustomTransformer": lambda: _made(_O + "transformer.CustomTransformer", [(_t(2, 5, 8),)], 8, 1, 2),
}


def _coca() -> nn.Module:
    vision = {**_VISION, "attentional_pool": True, "attn_pooler_heads": 2, "output_tokens": True}
    text = {**_TEXT, "embed_cls": True, "output_tokens": True}
    multimodal = {"context_length": 8, "vocab_size": 30, "width": 16, "heads": 2, "layers": 1}
    model: nn.Module = _get(_O + "coca_model.CoCa")(16, multimodal, text, vision)
    return model


_N = "torchtune."
_M = _N + "modules."
_G = _N + "generation."
_RL = _N + "rlhf."
_LABELS = torch.tensor([[1, 2, -100, 4], [3, -100, 2, 2]])


def _llama(name: str = "llama3_1", **options: Any) -> Any:
    given = {"vocab_size": 20, "num_layers": 1, "num_heads": 2, "num_kv_heads": 1, "embed_dim": 16, "max_seq_len": 16}
    return _get(_N + f"models.llama3_1._component_builders.{name}")(**{**given, **options})


def _tune_cached() -> Built:
    model = _llama().eval()
    model.setup_caches(batch_size=2, dtype=torch.float32, decoder_max_seq_len=16)
    mask = torch.ones(16, 16).tril().bool()[None, :6].expand(2, 6, 16)
    places = torch.arange(6)[None].expand(2, 6)

    def use(m: Any, tokens: torch.Tensor) -> torch.Tensor:
        m.reset_caches()
        result: torch.Tensor = m(tokens, mask=mask, input_pos=places)
        return result

    return held(model, use, (_i(20, 2, 6),))


_TUNE: dict[str, Callable[[], Built]] = {
    "llama3_1": lambda: (_llama(), [(_i(20, 2, 6),)]),
    "llama3_1 mask": lambda: (
        _llama(),
        [{"tokens": _i(20, 2, 6), "mask": torch.ones(2, 6, 6).tril().bool(), "input_pos": torch.arange(6)[None]}],
    ),
    "llama3_1 cached": lambda: _tune_cached(),
    "llama3_1 hidden": lambda: _hidden_states(),
    "lora_llama3_1": lambda: (
        _llama(
            "lora_llama3_1",
            lora_attn_modules=["q_proj", "v_proj"],
            apply_lora_to_mlp=True,
            lora_rank=2,
            lora_alpha=4.0,
            lora_dropout=0.1,
        ),
        [(_i(20, 2, 6),)],
    ),
    "RotaryPositionalEmbeddings": lambda: _made(_M + "RotaryPositionalEmbeddings", [(_t(2, 6, 2, 4),)], 4, 16),
    "RotaryPositionalEmbeddings pos": lambda: _made(
        _M + "RotaryPositionalEmbeddings", [{"x": _t(2, 6, 2, 4), "input_pos": _i(16, 2, 6)}], 4, 16
    ),
    "Llama3ScaledRoPE": lambda: _made(
        _N + "models.llama3_1._position_embeddings.Llama3ScaledRoPE", [(_t(2, 6, 2, 4),)], 4, 16
    ),
    "VisionRotary": lambda: _made(_M + "VisionRotaryPositionalEmbeddings", [(_t(2, 5, 2, 8),)], 2, 4, 1, 4),
    "RMSNorm": lambda: _made(_M + "RMSNorm", [(_t(2, 8),)], 8),
    "TanhGate": lambda: _made(_M + "TanhGate", [(_t(2, 8),)]),
    "KVCache": lambda: held(
        _get(_M + "KVCache")(2, 8, 2, 4, torch.float32),
        lambda c, k, v: (c.reset(), c.update(k, v))[1],
        (_t(2, 2, 3, 4), _t(2, 2, 3, 4)),
    ),
    "LayerDropout": lambda: held(
        _get(_M + "layer_dropout.LayerDropout")(0.5, 0, False, 1),
        lambda d, x: d(lambda v: v * 2, x),
        (_t(4, 3),),
    ),
    "early_exit_loss": lambda: _early_exit(),
    "uniform_loss_scale": lambda: _call(_M + "early_exit_loss.uniform_loss_scale", (torch.arange(3), 4)),
    "linear_l_loss_scale": lambda: _call(_M + "early_exit_loss.linear_l_loss_scale", (torch.arange(3), 4)),
    "create_block_causal_mask": lambda: _call(
        _M + "attention_utils.create_block_causal_mask", ([torch.tensor([2, 3]), torch.tensor([4, 1])],)
    ),
    "CEWithChunkedOutputLoss": lambda: _made(
        _M + "loss.CEWithChunkedOutputLoss", [([_t(2, 2, 9), _t(2, 2, 9)], _LABELS)], 2
    ),
    "ForwardKLLoss": lambda: _made(_M + "loss.ForwardKLLoss", [(_t(2, 4, 9), _t(2, 4, 9), _LABELS)]),
    "ReverseKLLoss": lambda: _made(_M + "loss.ReverseKLLoss", [(_t(2, 4, 9), _t(2, 4, 9), _LABELS, False)]),
    "SymmetricKLLoss": lambda: _made(_M + "loss.SymmetricKLLoss", [(_t(2, 4, 9), _t(2, 4, 9), _LABELS)]),
    "ForwardKLChunked": lambda: _made(
        _M + "loss.ForwardKLWithChunkedOutputLoss",
        [([_t(2, 2, 9), _t(2, 2, 9)], [_t(2, 2, 9), _t(2, 2, 9)], _LABELS)],
        2,
    ),
    "LoRALinear": lambda: _made(_M + "peft.LoRALinear", [(_t(2, 8),)], 8, 6, 2, 4.0, 0.1),
    "DoRALinear": lambda: _dora(),
    "FusionEmbedding": lambda: _made(_M + "model_fusion.FusionEmbedding", [(_i(12, 2, 6),)], 9, 3, 8),
    "clip_vision_encoder": lambda: (
        _get(_N + "models.clip._component_builders.clip_vision_encoder")(
            8, 4, 16, 1, 2, cls_output_dim=8, out_indices=[0], max_num_tiles=2
        ),
        [(_t(1, 1, 2, 3, 8, 8), torch.tensor([[[1, 2]]]))],
    ),
    "clip_text_encoder": lambda: (
        _get(_N + "models.clip._component_builders.clip_text_encoder")(16, 2, 1, 20, 8),
        [(_i(20, 2, 8),)],
    ),
    "VectorQuantizedEmbeddings": lambda: _made(_M + "vq_embeddings.VectorQuantizedEmbeddings", [(_t(2, 5, 4),)], 8, 4),
    "sample": lambda: _call(_G + "sample", (_t(2, 9),), temperature=0.8, top_k=3),
    "generate_next_token": lambda: held(
        _llama().eval(),
        lambda m, x: _get(_G + "generate_next_token")(m, torch.arange(6)[None], x, temperature=0.8, top_k=3),
        (_i(20, 2, 6),),
    ),
    "generate": lambda: held(
        _llama().eval(),
        lambda m, x: _get(_G + "generate")(m, x, max_generated_tokens=3, stop_tokens=[5]),
        (_i(20, 2, 4),),
    ),
    "generate padded": lambda: held(
        _llama().eval(),
        lambda m, x: _get(_G + "generate")(m, x, max_generated_tokens=3, pad_id=0),
        (torch.tensor([[0, 0, 3, 4], [2, 3, 4, 5]]),),
    ),
    "get_causal_mask_from_padding_mask": lambda: _call(_G + "get_causal_mask_from_padding_mask", (_PADDED.bool(), 8)),
    "get_position_ids_from_padding_mask": lambda: _call(_G + "get_position_ids_from_padding_mask", (_PADDED.bool(),)),
    "DPOLoss": lambda: _made(_RL + "loss.DPOLoss", [_LOGPS]),
    "RSOLoss": lambda: _made(_RL + "loss.RSOLoss", [_LOGPS]),
    "PPOLoss": lambda: _made(_RL + "loss.PPOLoss", [(*(_t(2, 5) for _ in range(6)), _PADDED.bool(), _PADDED.bool())]),
    "get_reward_penalty_mask": lambda: _call(
        _RL + "get_reward_penalty_mask", (_PADDED.bool(), torch.tensor([3, 4]), True, 4)
    ),
    "get_rewards_ppo": lambda: _call(_RL + "get_rewards_ppo", (_t(2), _t(2, 5), _t(2, 5), 0.1, torch.tensor([3, 4]))),
    "whiten": lambda: _call(_RL + "rewards.whiten", (_t(2, 5), _PADDED.bool(), False)),
    "masked_var": lambda: _call(_RL + "rewards.masked_var", (_t(2, 5), _PADDED.bool())),
    "estimate_advantages": lambda: _call(_RL + "estimate_advantages", (_t(2, 5), _t(2, 5), 0.9, 0.95, _PADDED.bool())),
    "truncate_sequence_at_first_stop_token": lambda: _call(
        _RL + "truncate_sequence_at_first_stop_token", (_TOKENS, torch.tensor([1, 2]))
    ),
    "logits_to_logprobs": lambda: _call(_RL + "logits_to_logprobs", (_t(2, 5, 9), _TOKENS, 0.8)),
    "get_batch_log_probs": lambda: _call(_RL + "get_batch_log_probs", (_t(2, 4, 9), _LABELS)),
}


def _hidden_states() -> Built:
    model = _llama(num_layers=2)
    model.set_num_output_chunks(2)
    model.output_hidden_states = [0]
    return model, [(_i(20, 2, 6),)]


def _early_exit() -> Built:
    model = _llama(num_layers=2)
    loss = nn.CrossEntropyLoss()
    function = _get(_M + "early_exit_loss.early_exit_loss")
    return held(model, lambda m, x, y: function(m, {0: x, 1: x}, y, loss), (_t(2, 4, 16), _LABELS))


def _dora() -> Built:
    layer = _get(_M + "peft.DoRALinear")(8, 6, 2, 4.0)
    layer.initialize_dora_magnitude()
    return layer, [(_t(2, 8),)]


_S = "nerfstudio."
_R = _S + "model_components.renderers."
_L = _S + "model_components.losses."
_E = _S + "field_components.encodings."
_W = _S + "cameras.camera_utils."
_POSITIONS = _u(4, 6, 3)
_WEIGHTS = _u(4, 6, 1)


def _bundle() -> Any:
    return _get(_S + "cameras.rays.RayBundle")(
        origins=_t(4, 3),
        directions=nn.functional.normalize(_t(4, 3), dim=-1),
        pixel_area=_u(4, 1),
        camera_indices=_i(3, 4, 1),
        nears=torch.full((4, 1), 0.1),
        fars=torch.full((4, 1), 4.0),
    )


def _samples() -> Any:
    bins = torch.linspace(0.1, 4.0, 7).expand(4, 7)[..., None]
    return _bundle().get_ray_samples(
        bin_starts=bins[:, :-1],
        bin_ends=bins[:, 1:],
        spacing_starts=bins[:, :-1],
        spacing_ends=bins[:, 1:],
        spacing_to_euclidean_fn=lambda x: x,
    )


def _sampler(name: str, *given: Any, **options: Any) -> Callable[[], Built]:
    return lambda: (_get(_S + "model_components.ray_samplers." + name)(6, **options), [(_bundle(), *given)])


def _cameras() -> Any:
    poses = torch.eye(4)[None, :3].repeat(3, 1, 1)
    return _get(_S + "cameras.cameras.Cameras")(poses, 20.0, 20.0, 8.0, 8.0, 16, 16, distortion_params=_u(3, 6) * 0.01)


_AABB = torch.tensor([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
_NERF: dict[str, Callable[[], Built]] = {
    "RGBRenderer": lambda: _made(_R + "RGBRenderer", [(_u(4, 6, 3), _WEIGHTS)], "random"),
    "RGBRenderer last": lambda: _made(_R + "RGBRenderer", [(_u(4, 6, 3), _WEIGHTS)], "last_sample"),
    "RGBRenderer packed": lambda: _made(
        _R + "RGBRenderer", [(_u(9, 3), _u(9, 1), torch.tensor([0, 0, 0, 1, 1, 2, 2, 3, 3]), 4)], "white"
    ),
    "SHRenderer": lambda: _made(_R + "SHRenderer", [(_t(4, 6, 12), _t(4, 6, 3), _WEIGHTS)]),
    "AccumulationRenderer": lambda: _made(_R + "AccumulationRenderer", [(_WEIGHTS,)]),
    "DepthRenderer": lambda: (_get(_R + "DepthRenderer")("median"), [(_WEIGHTS, _samples())]),
    "DepthRenderer expected": lambda: (_get(_R + "DepthRenderer")("expected"), [(_WEIGHTS, _samples())]),
    "NormalsRenderer": lambda: _made(_R + "NormalsRenderer", [(_t(4, 6, 3), _WEIGHTS)]),
    "UniformSampler": _sampler("UniformSampler"),
    "LinearDisparitySampler": _sampler("LinearDisparitySampler", single_jitter=True),
    "UniformLinDispPiecewiseSampler": _sampler("UniformLinDispPiecewiseSampler"),
    "PDFSampler": lambda: held(
        _get(_S + "model_components.ray_samplers.PDFSampler")(5),
        lambda s, b, r, w: s(b, r, w),
        (_bundle(), _samples(), _WEIGHTS),
    ),
    "ray get_weights": lambda: held(None, lambda _, s, d: s.get_weights(d), (_samples(), _u(4, 6, 1))),
    "frustums gaussian": lambda: held(None, lambda _, s: s.frustums.get_gaussian_blob().mean, (_samples(),)),
    "frustums positions": lambda: held(None, lambda _, s: s.frustums.get_positions(), (_samples(),)),
    "bundle flatten": lambda: held(None, lambda _, b: b.flatten().origins, (_bundle(),)),
    "bundle reshape": lambda: held(None, lambda _, b: b.reshape((2, 2)).origins, (_bundle(),)),
    "bundle item": lambda: held(None, lambda _, b: b[1:3].origins, (_bundle(),)),
    "generate_rays": lambda: held(
        _cameras(), lambda c, x: c.generate_rays(x[:, :1], x[:, 1:].float()).directions, (_i(3, 5, 3),)
    ),
    "generate_rays camera": lambda: held(
        _cameras(), lambda c, x: c.generate_rays(0, keep_shape=True).directions * x, (_t(1),)
    ),
    "RayGenerator": lambda: (_get(_S + "model_components.ray_generators.RayGenerator")(_cameras()), [(_i(3, 5, 3),)]),
    "get_intrinsics_matrices": lambda: held(_cameras(), lambda c, x: c.get_intrinsics_matrices() * x, (_t(1),)),
    "interlevel_loss": lambda: held(
        None, lambda _, w, s: _get(_L + "interlevel_loss")([w, w], [s, s]), (_WEIGHTS, _samples())
    ),
    "distortion_loss": lambda: held(
        None, lambda _, w, s: _get(_L + "distortion_loss")([w], [s]), (_WEIGHTS, _samples())
    ),
    "nerfstudio_distortion_loss": lambda: held(
        None,
        lambda _, w, s: _get(_L + "nerfstudio_distortion_loss")(s, weights=w),
        (_WEIGHTS, _samples()),
    ),
    "orientation_loss": lambda: _call(_L + "orientation_loss", (_WEIGHTS, _t(4, 6, 3), _t(4, 3))),
    "depth_loss": lambda: held(
        None,
        lambda _, w, s, d: _get(_L + "depth_loss")(
            w, s, d, d, torch.tensor([0.1]), torch.ones(4, 1), False, _get(_L + "DepthLossType").DS_NERF
        ),
        (_WEIGHTS, _samples(), _u(4, 1)),
    ),
    "monosdf_normal_loss": lambda: _call(_L + "monosdf_normal_loss", (_t(5, 3), _t(5, 3))),
    "ScaleAndShiftInvariantLoss": lambda: _made(
        _L + "ScaleAndShiftInvariantLoss", [(_u(1, 32, 8), _u(1, 32, 8), torch.ones(1, 32, 8).bool())], 0.5, 1
    ),
    "GradientLoss": lambda: _made(_L + "GradientLoss", [(_u(1, 32, 8), _u(1, 32, 8), torch.ones(1, 32, 8).bool())], 2),
    "tv_loss": lambda: _call(_L + "tv_loss", (_t(2, 3, 5, 5),)),
    "depth_ranking_loss": lambda: _call(_L + "depth_ranking_loss", (_t(6, 1), _t(6, 1))),
    "NeRFEncoding": lambda: _made(_E + "NeRFEncoding", [(_POSITIONS,)], 3, 4, 0.0, 3.0, True),
    "RFFEncoding": lambda: _made(_E + "RFFEncoding", [(_POSITIONS,)], 3, 4, 1.0),
    "HashEncoding": lambda: _made(_E + "HashEncoding", [(_POSITIONS,)], 2, 4, 8, 8, implementation="torch"),
    "TensorVMEncoding": lambda: _made(_E + "TensorVMEncoding", [(_POSITIONS,)], 8, 4),
    "KPlanesEncoding": lambda: _made(_E + "KPlanesEncoding", [(_POSITIONS,)], (8, 8, 8), 4),
    "SHEncoding": lambda: _made(_E + "SHEncoding", [(_POSITIONS,)], 3),
    "SceneContraction": lambda: _made(
        _S + "field_components.spatial_distortions.SceneContraction", [(_POSITIONS * 2,)]
    ),
    "trunc_exp": lambda: _call(_S + "field_components.activations.trunc_exp", (_t(4),)),
    "MLP": lambda: _made(_S + "field_components.mlp.MLP", [(_t(4, 3),)], 3, 3, 8, 4, skip_connections=(1,)),
    "CameraOptimizer": lambda: _camera_optimizer(),
    "exp_map_SO3xR3": lambda: _call(_S + "cameras.lie_groups.exp_map_SO3xR3", (_t(4, 6),)),
    "exp_map_SE3": lambda: _call(_S + "cameras.lie_groups.exp_map_SE3", (_t(4, 6),)),
    "radial_and_tangential_undistort": lambda: _call(
        _W + "radial_and_tangential_undistort", (_u(5, 2), _u(5, 6) * 0.01)
    ),
    "rotation_matrix_between": lambda: _call(_W + "rotation_matrix_between", (_t(3), _t(3))),
    "focus_of_attention": lambda: _call(
        _W + "focus_of_attention", (torch.eye(4).repeat(3, 1, 1) + _u(3, 4, 4) * 0.1, torch.zeros(3))
    ),
    "auto_orient_and_center_poses": lambda: _call(
        _W + "auto_orient_and_center_poses", (torch.eye(4).repeat(3, 1, 1) + _u(3, 4, 4) * 0.1,)
    ),
    "auto_orient_and_center_poses pca": lambda: _call(
        _W + "auto_orient_and_center_poses", (torch.eye(4).repeat(3, 1, 1) + _u(3, 4, 4) * 0.1, "pca", "focus")
    ),
    "viewmatrix": lambda: _call(_W + "viewmatrix", (_t(3), _t(3), _t(3))),
    "intersect_aabb": lambda: _call(_S + "utils.math.intersect_aabb", (_t(4, 3), _t(4, 3), _AABB.reshape(-1))),
    "masked_reduction": lambda: _call(
        _S + "utils.math.masked_reduction", (_u(1, 32, 8), torch.ones(1, 32, 8).bool(), "batch")
    ),
    "normalized_depth_scale_and_shift": lambda: _call(
        _S + "utils.math.normalized_depth_scale_and_shift", (_u(1, 32, 8), _u(1, 32, 8), torch.ones(1, 32, 8).bool())
    ),
    "conical_frustum_to_gaussian": lambda: _call(
        _S + "utils.math.conical_frustum_to_gaussian", (_t(4, 3), _t(4, 3), _u(4, 1), _u(4, 1) + 1, _u(4, 1))
    ),
    "color_correct": lambda: _call(_S + "model_components.lib_bilagrid.color_correct", (_u(6, 5, 3), _u(6, 5, 3), 2)),
    "BilateralGrid": lambda: _made(
        _S + "model_components.lib_bilagrid.BilateralGrid",
        [(_u(2, 4, 5, 2), _u(2, 4, 5, 3), torch.tensor([0, 1]))],
        2,
        4,
        4,
        4,
    ),
    "AABBBoxCollider": lambda: (
        _get(_S + "model_components.scene_colliders.AABBBoxCollider")(_get(_S + "data.scene_box.SceneBox")(_AABB)),
        [(_bundle(),)],
    ),
    "NearFarCollider": lambda: (
        _get(_S + "model_components.scene_colliders.NearFarCollider")(0.1, 4.0),
        [(_bundle(),)],
    ),
    "SceneBox within": lambda: held(_get(_S + "data.scene_box.SceneBox")(_AABB), lambda b, x: b.within(x), (_t(5, 3),)),
    "NerfactoField": lambda: (
        _get(_S + "fields.nerfacto_field.NerfactoField")(
            _AABB,
            3,
            num_levels=2,
            base_res=4,
            max_res=8,
            log2_hashmap_size=8,
            hidden_dim=8,
            hidden_dim_color=8,
            use_pred_normals=True,
            implementation="torch",
        ),
        [(_samples(),)],
    ),
    "HashMLPDensityField": lambda: held(
        _get(_S + "fields.density_fields.HashMLPDensityField")(
            _AABB, hidden_dim=8, num_levels=2, max_res=8, base_res=4, log2_hashmap_size=8, implementation="torch"
        ),
        lambda f, x: f.density_fn(x),
        (_POSITIONS,),
    ),
    "TensoRFField": lambda: _tensorf(),
}


def _tensorf() -> Built:
    encoding = _get(_E + "TensorVMEncoding")
    field = _get(_S + "fields.tensorf_field.TensoRFField")(
        _AABB,
        feature_encoding=_get(_E + "NeRFEncoding")(8, 1, 0.0, 1.0),
        direction_encoding=_get(_E + "NeRFEncoding")(3, 1, 0.0, 1.0),
        density_encoding=encoding(8, 4),
        color_encoding=encoding(8, 4),
        appearance_dim=8,
        head_mlp_layer_width=8,
    )
    return field, [(_samples(),)]


def _camera_optimizer() -> Built:
    config = _get(_S + "cameras.camera_optimizers.CameraOptimizerConfig")(mode="SO3xR3")
    model = _get(_S + "cameras.camera_optimizers.CameraOptimizer")(config, 3, "cpu")
    return model, [(_i(3, 5),)]


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("trl", _TRL),
    **_named("transformer_lens", _LENS),
    **_named("open_clip", _CLIP),
    **_named("torchtune", _TUNE),
    **_named("nerfstudio", _NERF),
}

"""Models of packages that were chosen and run after all the others, before anything was changed for them.

Of openai-whisper, pfrl, supar, pykan, imagen-pytorch, flow_matching, openunmix, pypots, allRank, d3rlpy, torchgan,
torchscale, geotorch, lpips, torchlibrosa and torch-geometric-signed-directed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(13)

# What these packages import of others and the models here do not use.
_ABSENT = {
    "whisper": ("tiktoken", "numba"),
    "pfrl": ("gym.spaces", "gym.wrappers", "cv2", "PIL.Image"),
    "supar": ("nltk.tree", "transformers", "stanza", "dill"),
    "kan": ("matplotlib.pyplot", "sympy", "yaml", "skimage"),
    "imagen_pytorch": (
        "torchvision.transforms",
        "torchvision.utils",
        "kornia.augmentation",
        "transformers",
        "accelerate",
        "ema_pytorch",
        "lion_pytorch",
        "datasets",
        "PIL",
        "fsspec.core",
        "fsspec.implementations.local",
        "pytorch_warmup",
        "click",
    ),
    "openunmix": ("torchaudio", "musdb", "museval", "asteroid_filterbanks.enc_dec"),
    "pypots": (
        "pygrinder",
        "tsdb",
        "benchpots",
        "ai4ts",
        "h5py",
        "transformers",
        "matplotlib.pyplot",
        "seaborn",
        "nni",
        "wandb",
        "tensorboard",
    ),
    "allrank": ("torchvision.transforms", "tensorboardX", "google.cloud", "gcsfs", "pkg_resources"),
    "d3rlpy": ("gym.spaces", "gym.wrappers", "h5py", "minari", "torch.utils.tensorboard"),
    "torchgan": ("torchvision.utils", "visdom", "tensorboardX"),
    "torchscale": ("fairscale.nn", "timm.models.layers", "apex"),
    "lpips": ("torchvision.models", "skimage", "cv2", "matplotlib.pyplot", "IPython"),
    "torchlibrosa": ("librosa.filters", "librosa.util"),
    "torch_geometric_signed_directed": ("torch_sparse", "torch_scatter"),
}
# Packages, outer ones first, whose `__init__` needs more than the models here do.
_BARE = (
    "pfrl",
    "supar",
    "kan",
    "imagen_pytorch",
    "openunmix",
    "pypots",
    "d3rlpy",
    "torchgan",
    "torch_geometric_signed_directed",
    "torch_geometric_signed_directed.utils",
    "torch_geometric_signed_directed.data",
)


class _Text:
    """Stands for the configuration of a model of texts."""

    d_model = 6

    @classmethod
    def from_pretrained(cls, _: str) -> _Text:
        return cls()


def _prepare(package: str) -> None:
    if package == "imagen_pytorch":
        sys.modules["transformers"].T5Config = _Text  # type: ignore[attr-defined]
    if package == "whisper":
        sys.modules["numba"].jit = lambda *_, **__: lambda f: f  # type: ignore[attr-defined]


_get = getter(_ABSENT, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_W = "whisper."


def _whisper() -> Any:
    dims = _get(_W + "model.ModelDimensions")(
        n_mels=80,
        n_audio_ctx=20,
        n_audio_state=16,
        n_audio_head=2,
        n_audio_layer=1,
        n_vocab=51865,
        n_text_ctx=12,
        n_text_state=16,
        n_text_head=2,
        n_text_layer=1,
    )
    return _get(_W + "model.Whisper")(dims)


class _Encoding:
    """As much of an encoding of texts as a tokenizer asks for."""

    eot_token = 5
    special_tokens_set = ("<|startoftranscript|>", "<|translate|>", "<|transcribe|>", "<|notimestamps|>", "<|0.00|>")

    def encode_single_token(self, token: str) -> int:
        return 6 + self.special_tokens_set.index(token)

    def encode(self, _: str) -> list[int]:
        return [3]


def _tokenizer() -> Any:
    return _get(_W + "tokenizer.Tokenizer")(_Encoding(), 3)


_WHISPER: dict[str, Callable[[], Built]] = {
    "pad_or_trim": lambda: _call(_W + "audio.pad_or_trim", (_t(1, 900), 1000), (_t(1, 1200), 1000)),
    "log_mel_spectrogram": lambda: _call(_W + "audio.log_mel_spectrogram", (_t(4000),), (_t(5000),)),
    "log_mel_spectrogram padded": lambda: _call(_W + "audio.log_mel_spectrogram", (_t(4000),), padding=160),
    "sinusoids": lambda: _call(_W + "model.sinusoids", (12, 8)),
    "Whisper": lambda: (_whisper(), [(_t(2, 80, 40), _i(99, 2, 6)), (_t(3, 80, 40), _i(99, 3, 5))]),
    "AudioEncoder": lambda: (_whisper().encoder, [(_t(2, 80, 40),)]),
    "TextDecoder": lambda: (_whisper().decoder, [(_i(99, 2, 6), _t(2, 20, 16))]),
    "TextDecoder cached": lambda: (
        lambda m, x, a: (
            kept := m.install_kv_cache_hooks(),
            m.decoder(x, a, kv_cache=kept[0]),
            m.decoder(x[:, -1:], a, kv_cache=kept[0]),
        )[1:],
        [(_whisper(), _i(99, 2, 4), _t(2, 20, 16))],
    ),
    "GreedyDecoder": lambda: _method(
        _W + "decoding.GreedyDecoder", "update", [(_i(9, 2, 3), _t(2, 12), _t(2))], 0.0, 5
    ),
    "GreedyDecoder warm": lambda: _method(
        _W + "decoding.GreedyDecoder", "update", [(_i(9, 2, 3), _t(2, 12), _t(2))], 0.7, 5
    ),
    "GreedyDecoder finalize": lambda: _method(
        _W + "decoding.GreedyDecoder", "finalize", [(_i(9, 2, 2, 3), _t(2, 2))], 0.0, 5
    ),
    "SuppressTokens": lambda: _method(_W + "decoding.SuppressTokens", "apply", [(_t(2, 12), _i(9, 2, 3))], [1, 4]),
    "SuppressBlank": lambda: _method(
        _W + "decoding.SuppressBlank", "apply", [(_t(2, 12), _i(9, 2, 3))], _tokenizer(), 3
    ),
    "ApplyTimestampRules": lambda: _method(
        _W + "decoding.ApplyTimestampRules",
        "apply",
        [(_t(2, 20), torch.tensor([[1, 2, 11, 4], [1, 2, 12, 13]]))],
        _tokenizer(),
        1,
        4,
    ),
    "median_filter": lambda: _call(_W + "timing.median_filter", (_t(2, 3, 20), 5)),
    "dtw": lambda: _call(_W + "timing.dtw", (_t(4, 6),)),
}

_P = "pfrl."
_PFRL: dict[str, Callable[[], Built]] = {
    "MLP": lambda: _made(_P + "nn.MLP", [(_t(3, 4),)], 4, 2, (8,)),
    "MLPBN": lambda: _made(_P + "nn.MLPBN", [(_t(3, 4),)], 4, 2, (8,)),
    "SmallAtariCNN": lambda: _made(_P + "nn.SmallAtariCNN", [(_t(2, 4, 84, 84),)]),
    "Branched": lambda: _made(_P + "nn.Branched", [(_t(3, 4),)], nn.Linear(4, 2), nn.Linear(4, 3)),
    "FactorizedNoisyLinear": lambda: _made(_P + "nn.FactorizedNoisyLinear", [(_t(3, 4),)], nn.Linear(4, 2)),
    "EmpiricalNormalization": lambda: _made(_P + "nn.EmpiricalNormalization", [(_t(3, 4),)], (4,)),
    "EmpiricalNormalization clipped": lambda: _made(
        _P + "nn.EmpiricalNormalization", [(_t(3, 4),)], (4,), clip_threshold=2.0, until=9
    ),
    "EmpiricalNormalization inverse": lambda: _method(_P + "nn.EmpiricalNormalization", "inverse", [(_t(3, 4),)], (4,)),
    "BoundByTanh": lambda: _made(_P + "nn.BoundByTanh", [(_t(3, 2),)], [-1.0, -2.0], [1.0, 2.0]),
    "bound_by_tanh": lambda: _using(
        _P + "functions.bound_by_tanh.bound_by_tanh", lambda use, x: use(x, torch.zeros(2), torch.ones(2)), (_t(3, 2),)
    ),
    "lower_triangular_matrix": lambda: _call(
        _P + "functions.lower_triangular_matrix.lower_triangular_matrix", (_t(2, 3), _t(2, 3))
    ),
    "RecurrentSequential": lambda: held(
        _get(_P + "nn.RecurrentSequential")(nn.Linear(4, 5), nn.GRU(5, 6), nn.Linear(6, 2)),
        lambda m, x, y: m(nn.utils.rnn.pack_sequence([x, y]), None),
        (_t(5, 4), _t(3, 4)),
    ),
    "FCStateQFunctionWithDiscreteAction": lambda: _made(
        _P + "q_functions.FCStateQFunctionWithDiscreteAction", [(_t(3, 4),)], 4, 2, 8, 1
    ),
    "FCQuadraticStateQFunction": lambda: _made(
        _P + "q_functions.FCQuadraticStateQFunction",
        [(_t(3, 4),)],
        4,
        2,
        8,
        1,
        action_space=type("Box", (), {"low": torch.zeros(2).numpy(), "high": torch.ones(2).numpy()})(),
    ),
    "DuelingDQN": lambda: _made(_P + "q_functions.DuelingDQN", [(_t(2, 4, 84, 84),)], 3),
    "DistributionalDuelingDQN": lambda: _made(
        _P + "q_functions.DistributionalDuelingDQN", [(_t(2, 4, 84, 84),)], 3, 5, -1, 1
    ),
    "DistributionalFCStateQFunction": lambda: _made(
        _P + "q_functions.DistributionalFCStateQFunctionWithDiscreteAction", [(_t(3, 4),)], 4, 2, 5, -1, 1, 8, 1
    ),
    "FCSAQFunction": lambda: _made(_P + "q_functions.FCSAQFunction", [(_t(3, 4), _t(3, 2))], 4, 2, 8, 1),
    "FCBNSAQFunction": lambda: _made(_P + "q_functions.FCBNSAQFunction", [(_t(3, 4), _t(3, 2))], 4, 2, 8, 1),
    "FCLateActionSAQFunction": lambda: _made(
        _P + "q_functions.FCLateActionSAQFunction", [(_t(3, 4), _t(3, 2))], 4, 2, 8, 1
    ),
    "DiscreteActionValue": lambda: _using(
        _P + "action_value.DiscreteActionValue",
        lambda use, q, a: (v := use(q), v.greedy_actions, v.max, v.evaluate_actions(a), v.compute_advantage(a))[1:],
        (_t(3, 4), _i(4, 3)),
    ),
    "DiscreteActionValue double": lambda: _using(
        _P + "action_value.DiscreteActionValue",
        lambda use, q, p: (
            use(q).compute_double_advantage(use(p).greedy_actions, use(p).greedy_actions) + use(q)[:2].max.sum()
        ),
        (_t(3, 4), _t(3, 4)),
    ),
    "DistributionalDiscreteActionValue": lambda: _using(
        _P + "action_value.DistributionalDiscreteActionValue",
        lambda use, q, z, a: (
            v := use(q, z),
            v.greedy_actions,
            v.max,
            v.max_as_distribution,
            v.evaluate_actions(a),
            v.evaluate_actions_as_distribution(a),
        )[1:],
        (_t(3, 4, 5).softmax(-1), torch.linspace(-1, 1, 5), _i(4, 3)),
    ),
    "QuantileDiscreteActionValue": lambda: _using(
        _P + "action_value.QuantileDiscreteActionValue",
        lambda use, q, a: (v := use(q), v.q_values, v.greedy_actions, v.evaluate_actions_as_quantiles(a))[1:],
        (_t(3, 6, 4), _i(4, 3)),
    ),
    "QuadraticActionValue": lambda: _using(
        _P + "action_value.QuadraticActionValue",
        lambda use, mu, m, v, a: (
            q := use(mu, m @ m.mT, v, min_action=-1, max_action=1),
            q.greedy_actions,
            q.max,
            q.evaluate_actions(a),
            q.compute_advantage(a),
        )[1:],
        (_t(3, 2), _t(3, 2, 2), _t(3, 1), _t(3, 2)),
    ),
    "SoftmaxCategoricalHead": lambda: _using(
        _P + "policies.SoftmaxCategoricalHead", lambda use, x: use()(x).entropy(), (_t(3, 4),)
    ),
    "GaussianHeadWithDiagonalCovariance": lambda: _using(
        _P + "policies.GaussianHeadWithDiagonalCovariance", lambda use, x: use()(x).rsample(), (_t(3, 4),)
    ),
    "GaussianHeadWithStateIndependentCovariance": lambda: _made(
        _P + "policies.GaussianHeadWithStateIndependentCovariance", [(_t(3, 4),)], 4
    ),
    "GaussianHeadWithFixedCovariance": lambda: _made(
        _P + "policies.GaussianHeadWithFixedCovariance", [(_t(3, 4),)], 0.5
    ),
    "DeterministicHead": lambda: _using(
        _P + "policies.DeterministicHead", lambda use, x: use()(x).rsample(), (_t(3, 4),)
    ),
    "mode_of_distribution": lambda: _using(
        _P + "utils.mode_of_distribution.mode_of_distribution",
        lambda use, x: (use(torch.distributions.Categorical(logits=x)), use(torch.distributions.Normal(x, 1.0))),
        (_t(3, 4),),
    ),
    "CosineBasisLinear": lambda: _made(_P + "agents.iqn.CosineBasisLinear", [(_u(3, 5),)], 8, 6),
    "ImplicitQuantileQFunction": lambda: held(
        _get(_P + "agents.iqn.ImplicitQuantileQFunction")(
            nn.Linear(4, 6), _get(_P + "agents.iqn.CosineBasisLinear")(8, 6), nn.Linear(6, 2)
        ),
        lambda m, x, t: m(x)(t).q_values,
        (_t(3, 4), _u(3, 5)),
    ),
    "compute_eltwise_huber_quantile_loss": lambda: _call(
        _P + "agents.iqn.compute_eltwise_huber_quantile_loss", (_t(3, 5), _t(3, 6), _u(3, 5))
    ),
    "iqn value loss": lambda: _call(_P + "agents.iqn.compute_weighted_value_loss", (_t(3, 5, 6), _u(3))),
    "categorical projection": lambda: _call(
        _P + "agents.categorical_dqn._apply_categorical_projection",
        (_t(3, 5), _t(3, 5).softmax(-1), torch.linspace(-1, 1, 5)),
    ),
    "compute_weighted_value_loss": lambda: _call(
        _P + "agents.dqn.compute_weighted_value_loss", (_t(3, 1), _t(3, 1), _u(3))
    ),
    "clip_l2_grad_norm_": lambda: _using(
        _P + "utils.clip_l2_grad_norm.clip_l2_grad_norm_",
        lambda use, m, x: (m(x).sum().backward(), use(m.parameters(), 0.5))[1],
        (nn.Linear(4, 2), _t(3, 4)),
    ),
    "pack_and_forward": lambda: held(
        _get(_P + "nn.RecurrentSequential")(nn.LSTM(4, 6), nn.Linear(6, 2)),
        lambda m, x, y: _get(_P + "utils.recurrent.pack_and_forward")(m, [x, y], None)[0],
        (_t(5, 4), _t(3, 4)),
    ),
    "conjugate_gradient": lambda: _using(
        _P + "utils.conjugate_gradient.conjugate_gradient",
        lambda use, a, b: use(lambda v: a @ a.mT @ v + v, b),
        (_t(4, 4), _t(4)),
    ),
}

_S = "supar."
_LENS = torch.tensor([3, 4])
_WORDS = torch.tensor([[2, 3, 4, 5, 0], [2, 5, 4, 3, 6]])
_FIELDS: dict[str, Any] = {
    "n_words": 9,
    "n_chars": 7,
    "n_embed": 6,
    "n_pretrained": 6,
    "n_feat_embed": 4,
    "n_char_embed": 4,
    "n_char_hidden": 4,
    "n_lstm_hidden": 6,
    "n_lstm_layers": 1,
    "feat": ["char"],
}


def _crf(name: str, use: Callable[..., Any], *scores: torch.Tensor) -> Built:
    """A property or method of a distribution over structures."""
    made = _get(_S + "structs." + name)
    return (lambda *x: use(made(x[0] if len(x) == 1 else list(x), lens=_LENS))), [scores]


def _inference(name: str, *shapes: tuple[int, ...]) -> Built:
    mask = torch.arange(5).expand(2, 5) < torch.tensor([[4], [5]])
    scores = tuple(_t(*shape) for shape in shapes)
    target = _i(2, 2, 5, 5) if "Dependency" not in name or "Semantic" in name else _i(4, 2, 5)
    given = mask.unsqueeze(1) & mask.unsqueeze(2) if target.dim() == 3 else mask
    return _get(_S + "structs." + name)(), [(scores, given), (scores, given, target)]


_ARC, _TRIPLE = (2, 5, 5), (2, 5, 5, 5)
_SUPAR: dict[str, Callable[[], Built]] = {
    **{
        f"{name} {step}": lambda name=name, step=step, scores=scores: _crf(  # type: ignore[misc]
            name, lambda d: getattr(d, step), *(_t(*shape) for shape in scores)
        )
        for name, scores in {
            "LinearChainCRF": ((2, 5, 3),),
            "MatrixTree": (_ARC,),
            "DependencyCRF": (_ARC,),
            "Dependency2oCRF": (_ARC, _TRIPLE),
            "ConstituencyCRF": (_ARC,),
        }.items()
        for step in ("log_partition", "marginals", "max", "argmax", "entropy")
    },
    "LinearChainCRF kmax": lambda: _crf("LinearChainCRF", lambda d: d.kmax(2), _t(2, 5, 3)),
    "LinearChainCRF log_prob": lambda: _crf(
        "LinearChainCRF", lambda d: d.log_prob(torch.tensor([[0, 1, 2, 0, 0], [1, 0, 2, 1, 0]])), _t(2, 5, 3)
    ),
    "MatrixTree log_prob": lambda: _crf(
        "MatrixTree", lambda d: d.log_prob(torch.tensor([[0, 2, 0, 2, 0], [0, 3, 1, 0, 3]])), _t(2, 5, 5)
    ),
    "DependencyCRF log_prob": lambda: _crf(
        "DependencyCRF", lambda d: d.log_prob(torch.tensor([[0, 2, 0, 2, 0], [0, 3, 1, 0, 3]])), _t(2, 5, 5)
    ),
    "DependencyMFVI": lambda: _inference("DependencyMFVI", _ARC, _TRIPLE),
    "DependencyLBP": lambda: _inference("DependencyLBP", _ARC, _TRIPLE),
    "ConstituencyMFVI": lambda: _inference("ConstituencyMFVI", _ARC, _TRIPLE),
    "ConstituencyLBP": lambda: _inference("ConstituencyLBP", _ARC, _TRIPLE),
    "SemanticDependencyMFVI": lambda: _inference("SemanticDependencyMFVI", _ARC, _TRIPLE, _TRIPLE, _TRIPLE),
    "SemanticDependencyLBP": lambda: _inference("SemanticDependencyLBP", _ARC, _TRIPLE, _TRIPLE, _TRIPLE),
    "mst": lambda: _call(_S + "structs.fn.mst", (_t(2, 5, 5), torch.arange(5).expand(2, 5).gt(0))),
    "chuliu_edmonds": lambda: _call(_S + "structs.fn.chuliu_edmonds", (_t(5, 5),)),
    "sampled_logsumexp": lambda: _call(_S + "structs.fn.sampled_logsumexp", (_t(3, 5),)),
    "sparsemax": lambda: _call(_S + "structs.fn.sparsemax", (_t(3, 5),)),
    "kmeans": lambda: _call(_S + "utils.fn.kmeans", ([3, 4, 9, 8, 3, 4, 20], 3)),
    "stripe": lambda: _call(_S + "utils.fn.stripe", (_t(5, 5, 2), 3, 2, (1, 1))),
    "pad": lambda: _using(_S + "utils.fn.pad", lambda use, x, y: use([x, y], padding_side="left"), (_t(3), _t(5))),
    "Biaffine": lambda: _made(_S + "modules.Biaffine", [(_t(2, 5, 4), _t(2, 5, 4))], 4, 3),
    "Triaffine": lambda: _made(_S + "modules.Triaffine", [(_t(2, 5, 4), _t(2, 5, 4), _t(2, 5, 4))], 4, 3),
    "MLP": lambda: _made(_S + "modules.MLP", [(_t(2, 5, 4),)], 4, 3, dropout=0.3),
    "CharLSTM": lambda: _made(_S + "modules.CharLSTM", [(_i(7, 2, 5, 4),)], 7, 4, 6, 3),
    "VariationalLSTM": lambda: held(
        _get(_S + "modules.VariationalLSTM")(4, 6, 2, bidirectional=True, dropout=0.3),
        lambda m, x, y: m(nn.utils.rnn.pack_sequence([x, y]))[0].data,
        (_t(5, 4), _t(3, 4)),
    ),
    "SharedDropout": lambda: _made(_S + "modules.SharedDropout", [(_t(2, 5, 4),)], 0.3),
    "IndependentDropout": lambda: _made(_S + "modules.IndependentDropout", [(_t(2, 5, 4), _t(2, 5, 4))], 0.3),
    "ScalarMix": lambda: _made(_S + "modules.ScalarMix", [([_t(2, 4), _t(2, 4)],)], 2),
    "TransformerEncoder": lambda: _made(
        _S + "modules.transformer.TransformerEncoder",
        [(_t(2, 5, 8), torch.ones(2, 5).bool())],
        1,
        2,
        8,
        16,
    ),
    "BiaffineDependencyModel": lambda: _made(
        _S + "models.dep.BiaffineDependencyModel",
        [(_WORDS, [_i(7, 2, 5, 4)])],
        n_rels=3,
        n_arc_mlp=6,
        n_rel_mlp=4,
        **_FIELDS,
    ),
    "BiaffineDependencyModel loss": lambda: _method(
        _S + "models.dep.BiaffineDependencyModel",
        "loss",
        [(_t(2, 5, 5), _t(2, 5, 5, 3), _i(5, 2, 5), _i(3, 2, 5), _WORDS.ne(0))],
        n_rels=3,
        **_FIELDS,
    ),
    "BiaffineDependencyModel decode": lambda: _method(
        _S + "models.dep.BiaffineDependencyModel",
        "decode",
        [(_t(2, 5, 5), _t(2, 5, 5, 3), _WORDS.ne(0))],
        n_rels=3,
        **_FIELDS,
    ),
    "CRFDependencyModel loss": lambda: _method(
        _S + "models.dep.CRFDependencyModel",
        "loss",
        [(_t(2, 5, 5), _t(2, 5, 5, 3), _i(5, 2, 5), _i(3, 2, 5), _WORDS.ne(0) & torch.arange(5).gt(0))],
        n_rels=3,
        mbr=True,
        proj=True,
        **_FIELDS,
    ),
    "BiaffineSemanticDependencyModel loss": lambda: _method(
        _S + "models.sdp.BiaffineSemanticDependencyModel",
        "loss",
        [(_t(2, 5, 5, 2), _t(2, 5, 5, 3), _i(3, 2, 5, 5) - 1, _WORDS.ne(0).unsqueeze(1) & _WORDS.ne(0).unsqueeze(2))],
        n_labels=3,
        n_tags=4,
        n_lemmas=4,
        **_FIELDS,
    ),
    "CRFConstituencyModel loss": lambda: _method(
        _S + "models.const.CRFConstituencyModel",
        "loss",
        [
            (
                _t(2, 5, 5),
                _t(2, 5, 5, 3),
                _i(3, 2, 5, 5),
                (_WORDS.ne(0).unsqueeze(1) & _WORDS.ne(0).unsqueeze(2)).triu(1),
            )
        ],
        n_labels=3,
        **_FIELDS,
    ),
}

_K = "kan."


def _kan(**options: Any) -> Any:
    return _get(_K + "MultKAN.MultKAN")(width=[2, 3, 1], grid=3, k=3, seed=0, auto_save=False, device="cpu", **options)


_KAN: dict[str, Callable[[], Built]] = {
    "B_batch": lambda: _call(_K + "spline.B_batch", (_t(6, 2), torch.linspace(-1, 1, 8).expand(2, 8), 3)),
    "coef2curve": lambda: _call(
        _K + "spline.coef2curve", (_t(6, 2), torch.linspace(-1, 1, 10).expand(2, 10), _t(2, 3, 6), 3)
    ),
    "curve2coef": lambda: _call(
        _K + "spline.curve2coef", (_t(12, 2), _t(12, 2, 3), torch.linspace(-1, 1, 10).expand(2, 10), 3)
    ),
    "extend_grid": lambda: _call(_K + "spline.extend_grid", (torch.linspace(-1, 1, 6).expand(2, 6).clone(), 3)),
    "KANLayer": lambda: _made(_K + "KANLayer.KANLayer", [(_t(6, 2),), (_t(8, 2),)], 2, 3),
    "KANLayer update_grid": lambda: held(
        _get(_K + "KANLayer.KANLayer")(2, 3), lambda m, x: (m.update_grid_from_samples(x), m(x))[1], (_t(30, 2),)
    ),
    "Symbolic_KANLayer": lambda: _made(_K + "Symbolic_KANLayer.Symbolic_KANLayer", [(_t(6, 2),)], 2, 3),
    "MultKAN": lambda: (_kan(), [(_t(6, 2),), (_t(8, 2),)]),
    "MultKAN numeric": lambda: (_kan(symbolic_enabled=False), [(_t(6, 2),)]),
    "MultKAN reg": lambda: (
        lambda m, x: (m(x), m.get_reg("edge_forward_spline_n", 1.0, 2.0, 0.1, 0.1))[1],
        [(_kan(), _t(6, 2))],
    ),
    "MultKAN attribute": lambda: (lambda m, x: (m(x), m.attribute(), m.edge_scores)[2], [(_kan(), _t(6, 2))]),
    "MultKAN update_grid": lambda: (lambda m, x: (m.update_grid(x), m(x))[1], [(_kan(), _t(30, 2))]),
    "MultKAN get_range": lambda: (lambda m, x: (m(x), m.get_range(0, 0, 0, verbose=False))[1], [(_kan(), _t(6, 2))]),
    "fit_params": lambda: _using(
        _K + "utils.fit_params",
        lambda use, x, y: use(x, y, torch.sin, grid_number=11, iteration=2, verbose=False),
        (_t(20), _t(20)),
    ),
    "batch_jacobian": lambda: _using(
        _K + "utils.batch_jacobian", lambda use, x: use(lambda v: v.sin().sum(1, keepdim=True), x), (_t(4, 3),)
    ),
    "batch_hessian": lambda: _using(
        _K + "utils.batch_hessian", lambda use, x: use(lambda v: v.sin().sum(1, keepdim=True), x), (_t(4, 3),)
    ),
    "sparse_mask": lambda: _call(_K + "utils.sparse_mask", (3, 4)),
    "LBFGS": lambda: _using(
        _K + "LBFGS.LBFGS",
        lambda use, w, x: use([w], line_search_fn="strong_wolfe", max_iter=3).step(
            lambda: (y := (w @ x).square().sum(), w.grad.zero_() if w.grad is not None else None, y.backward())[0]
        ),
        (nn.Parameter(_t(3)), _t(3, 4)),
    ),
}

_M = "imagen_pytorch.imagen_pytorch."


def _unet(**options: Any) -> Any:
    given = {
        "dim": 8,
        "dim_mults": (1, 2),
        "text_embed_dim": 6,
        "num_resnet_blocks": 1,
        "attn_heads": 2,
        "attn_dim_head": 4,
    }
    return _get(_M + "Unet")(**(given | {"layer_attns": (False, True), "layer_cross_attns": (False, True)} | options))


def _guided(name: str, use: Callable[..., Any], **options: Any) -> Built:
    """A model that cannot be copied, since it holds what `torch.jit.script` made."""
    made = _get("imagen_pytorch." + name)((_unet(),), image_sizes=(16,), text_embed_dim=6, **options)
    return held(made, use, (_u(2, 3, 16, 16), _t(2, 5, 6)))


def _noised(schedule: str, use: Callable[..., Any]) -> Built:
    made = _get(_M + "GaussianDiffusionContinuousTimes")(noise_schedule=schedule, timesteps=4)
    return held(made, use, (_t(2, 3, 8, 8), _u(2)))


_IMAGEN: dict[str, Callable[[], Built]] = {
    "Unet": lambda: (_unet(), [{"x": _t(2, 3, 16, 16), "time": _u(2), "text_embeds": _t(2, 5, 6)}]),
    "Unet masked": lambda: (
        _unet(),
        [
            {
                "x": _t(2, 3, 16, 16),
                "time": _u(2),
                "text_embeds": _t(2, 5, 6),
                "text_mask": torch.ones(2, 5).bool(),
                "cond_drop_prob": 0.3,
            }
        ],
    ),
    "Unet lowres": lambda: (
        _unet(lowres_cond=True, memory_efficient=True),
        [
            {
                "x": _t(2, 3, 16, 16),
                "time": _u(2),
                "text_embeds": _t(2, 5, 6),
                "lowres_cond_img": _t(2, 3, 16, 16),
                "lowres_noise_times": _u(2),
            }
        ],
    ),
    "Imagen loss": lambda: _guided(
        "imagen_pytorch.Imagen", lambda m, x, e: m(x, text_embeds=e, unet_number=1), timesteps=4
    ),
    "Imagen sample": lambda: _guided(
        "imagen_pytorch.Imagen", lambda m, _, e: m.sample(text_embeds=e, cond_scale=2.0, use_tqdm=False), timesteps=2
    ),
    "ElucidatedImagen loss": lambda: _guided(
        "elucidated_imagen.ElucidatedImagen",
        lambda m, x, e: m(x, text_embeds=e, unet_number=1),
        num_sample_steps=2,
    ),
    "ElucidatedImagen sample": lambda: _guided(
        "elucidated_imagen.ElucidatedImagen",
        lambda m, _, e: m.sample(text_embeds=e, use_tqdm=False),
        num_sample_steps=2,
    ),
    "q_sample": lambda: _noised("cosine", lambda m, x, t: m.q_sample(x, t)),
    "q_posterior": lambda: _noised("linear", lambda m, x, t: m.q_posterior(x, x + 1, t)),
    "q_sample_from_to": lambda: _noised("cosine", lambda m, x, t: m.q_sample_from_to(x, t / 2, t)),
    "sample_random_times": lambda: _noised("linear", lambda m, x, _: m.sample_random_times(3, device=x.device)),
    "get_sampling_timesteps": lambda: _using(
        _M + "GaussianDiffusionContinuousTimes",
        lambda use, x: use(noise_schedule="linear", timesteps=4).get_sampling_timesteps(len(x), device=x.device),
        (_t(3),),
    ),
    "PerceiverResampler": lambda: _made(
        _M + "PerceiverResampler", [(_t(2, 5, 8), torch.ones(2, 5).bool())], dim=8, depth=1, dim_head=4, heads=2
    ),
    "Attention": lambda: _made(_M + "Attention", [(_t(2, 5, 8),)], 8, dim_head=4, heads=2),
    "CrossAttention": lambda: _made(_M + "CrossAttention", [(_t(2, 5, 8), _t(2, 3, 8))], 8, dim_head=4, heads=2),
    "LinearCrossAttention": lambda: _made(
        _M + "LinearCrossAttention", [(_t(2, 5, 8), _t(2, 3, 8))], 8, dim_head=4, heads=2
    ),
    "LinearAttention": lambda: _made(_M + "LinearAttention", [(_t(2, 8, 4, 4),)], 8, dim_head=4, heads=2),
    "GlobalContext": lambda: _made(_M + "GlobalContext", [(_t(2, 8, 4, 4),)], dim_in=8, dim_out=8),
    "ResnetBlock": lambda: _made(_M + "ResnetBlock", [(_t(2, 8, 4, 4), _t(2, 6))], 8, 8, time_cond_dim=6, use_gca=True),
    "resize_image_to": lambda: _call(_M + "resize_image_to", (_u(2, 3, 8, 8), 16, (0.0, 1.0))),
    "masked_mean": lambda: _using(
        _M + "masked_mean", lambda use, x, m: use(x, dim=1, mask=m), (_t(2, 5, 4), torch.ones(2, 5).bool())
    ),
    "prob_mask_like": lambda: _using(_M + "prob_mask_like", lambda use, x: use((4,), 0.3, x.device), (_t(4),)),
    "cast_uint8_images_to_float": lambda: _call(_M + "cast_uint8_images_to_float", (_i(255, 2, 3, 4, 4).byte(),)),
}

_F = "flow_matching."


class _Velocity(nn.Module):
    """A model of `x` and a time, with as many outputs as asked for."""

    def __init__(self, width: int, wanted: int) -> None:
        super().__init__()
        self.layer = nn.Linear(width + 1, wanted)

    def forward(self, x: torch.Tensor, t: torch.Tensor, **_: Any) -> torch.Tensor:
        return self.layer(torch.cat((x, t.reshape(-1, 1).expand(x.shape[0], 1)), 1))


class _Tokenwise(nn.Module):
    """A model that gives logits for tokens."""

    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(5, 5)

    def forward(self, x: torch.Tensor, t: torch.Tensor, **_: Any) -> torch.Tensor:
        return (self.table(x) + t.reshape(-1, 1, 1)).softmax(-1)


def _path(name: str, scheduler: str, *given: Any) -> Any:
    return _get(_F + "path." + name)(_get(_F + "path.scheduler." + scheduler)(*given))


def _mixture() -> Any:
    return _path("MixtureDiscreteProbPath", "PolynomialConvexScheduler", 2.0)


_FLOW: dict[str, Callable[[], Built]] = {
    **{
        f"AffineProbPath {name}": lambda name=name, given=given: (  # type: ignore[misc]
            lambda a, b, t: (
                s := _path("AffineProbPath", name, *given).sample(x_0=a, x_1=b, t=t),
                s.x_t,
                s.dx_t,
            )[1:],
            [(_t(3, 4), _t(3, 4), _u(3))],
        )
        for name, given in (
            ("CondOTScheduler", ()),
            ("PolynomialConvexScheduler", (2,)),
            ("VPScheduler", ()),
            ("LinearVPScheduler", ()),
            ("CosineScheduler", ()),
        )
    },
    "conversions": lambda: (
        lambda v, x, t: (
            p := _path("AffineProbPath", "CosineScheduler"),
            p.velocity_to_epsilon(v, x, t),
            p.target_to_velocity(v, x, t),
            p.epsilon_to_target(v, x, t),
        )[1:],
        [(_t(3, 4), _t(3, 4), _u(3, 1))],
    ),
    "snr_inverse": lambda: (
        lambda x: [
            _get(_F + "path.scheduler." + name)().snr_inverse(x)
            for name in ("CondOTScheduler", "VPScheduler", "LinearVPScheduler", "CosineScheduler")
        ],
        [(_u(3) + 0.1,)],
    ),
    "MixtureDiscreteProbPath": lambda: (
        lambda a, b, t: _mixture().sample(a, b, t).x_t,
        [(_i(5, 3, 4), _i(5, 3, 4), _u(3))],
    ),
    "posterior_to_velocity": lambda: (
        lambda p, x, t: _mixture().posterior_to_velocity(p, x, t),
        [(_t(3, 4, 5), _i(5, 3, 4), _u(3))],
    ),
    "GeodesicProbPath": lambda: (
        lambda a, b, t: (
            s := _get(_F + "path.GeodesicProbPath")(
                _get(_F + "path.scheduler.CondOTScheduler")(), _get(_F + "utils.manifolds.FlatTorus")()
            ).sample(a, b, t),
            s.x_t,
        )[1],
        [(_u(3, 2), _u(3, 2), _u(3))],
    ),
    "MixturePathGeneralizedKL": lambda: (
        _get(_F + "loss.MixturePathGeneralizedKL")(_mixture()),
        [(_t(3, 4, 5), _i(5, 3, 4), _i(5, 3, 4), _u(3))],
    ),
    "ScheduleTransformedModel": lambda: _made(
        _F + "path.scheduler.schedule_transform.ScheduleTransformedModel",
        [(_t(3, 4), torch.tensor(0.4))],
        _Velocity(4, 4),
        _get(_F + "path.scheduler.CondOTScheduler")(),
        _get(_F + "path.scheduler.CosineScheduler")(),
    ),
    "ODESolver": lambda: (
        lambda s, x: s.sample(x, step_size=0.5, time_grid=torch.tensor([0.0, 1.0])),
        [(_get(_F + "solver.ODESolver")(_Velocity(4, 4)), _t(3, 4))],
    ),
    "ODESolver likelihood": lambda: (
        lambda s, x: s.compute_likelihood(x, lambda z: -z.square().sum(1), step_size=0.5, exact_divergence=False),
        [(_get(_F + "solver.ODESolver")(_Velocity(4, 4)), _t(3, 4))],
    ),
    "RiemannianODESolver": lambda: (
        lambda s, x: s.sample(
            x, step_size=0.5, method="midpoint", time_grid=torch.tensor([0.0, 0.5, 1.0]), return_intermediates=True
        ),
        [(_get(_F + "solver.RiemannianODESolver")(_get(_F + "utils.manifolds.Sphere")(), _Velocity(3, 3)), _t(3, 3))],
    ),
    "MixtureDiscreteEulerSolver": lambda: (
        lambda s, x: s.sample(x, step_size=0.5, time_grid=torch.tensor([0.0, 1.0])),
        [
            (
                _get(_F + "solver.MixtureDiscreteEulerSolver")(_Tokenwise(), _mixture(), 5),
                _i(5, 3, 4),
            )
        ],
    ),
    "MixtureDiscreteEulerSolver div_free": lambda: (
        lambda s, x: s.sample(x, step_size=0.5, div_free=1.0, return_intermediates=True),
        [
            (
                _get(_F + "solver.MixtureDiscreteEulerSolver")(
                    _Tokenwise(),
                    _mixture(),
                    5,
                    torch.full((5,), 0.2),
                ),
                _i(5, 3, 4),
            )
        ],
    ),
    "get_nearest_times": lambda: _call(_F + "solver.utils.get_nearest_times", (_u(3), torch.linspace(0, 1, 6))),
    "categorical": lambda: _call(_F + "utils.categorical_sampler.categorical", (_t(3, 4, 5).softmax(-1),)),
    "Sphere": lambda: (
        lambda x, y: (
            m := _get(_F + "utils.manifolds.Sphere")(),
            m.logmap(m.projx(x), m.projx(y)),
            m.expmap(m.projx(x), m.proju(x, y)),
        )[1:],
        [(_t(3, 3), _t(3, 3))],
    ),
    "expand_tensor_like": lambda: _call(_F + "utils.expand_tensor_like", (_t(3), _t(3, 4, 5))),
    "gradient": lambda: _using(
        _F + "utils.gradient", lambda use, x: use(x.requires_grad_().sin().sum(), x), (_t(3, 4),)
    ),
}

_U = "openunmix."
_UNMIX: dict[str, Callable[[], Built]] = {
    "OpenUnmix": lambda: _made(
        _U + "model.OpenUnmix",
        [(_u(2, 2, 33, 8),), (_u(2, 2, 33, 10),)],
        nb_bins=33,
        hidden_size=8,
        nb_layers=1,
        max_bin=20,
    ),
    "Separator": lambda: _made(
        _U + "model.Separator",
        [(_t(1, 2, 1024),)],
        {
            name: _get(_U + "model.OpenUnmix")(nb_bins=33, hidden_size=8, nb_layers=1, max_bin=20)
            for name in ("vocals", "drums")
        },
        niter=1,
        n_fft=64,
        n_hop=16,
        wiener_win_len=20,
    ),
    "Separator residual": lambda: _made(
        _U + "model.Separator",
        [(_t(1, 2, 512),)],
        {"vocals": _get(_U + "model.OpenUnmix")(nb_bins=33, hidden_size=8, nb_layers=1, max_bin=20)},
        niter=0,
        residual=True,
        softmask=True,
        n_fft=64,
        n_hop=16,
        wiener_win_len=None,
    ),
    "wiener": lambda: _call(_U + "filtering.wiener", (_u(6, 9, 2, 2), _t(6, 9, 2, 2), 1)),
    "wiener residual": lambda: _call(_U + "filtering.wiener", (_u(6, 9, 2, 2), _t(6, 9, 2, 2), 0, True, True)),
    "expectation_maximization": lambda: _call(
        _U + "filtering.expectation_maximization", (_t(6, 9, 2, 2, 2), _t(6, 9, 2, 2), 1)
    ),
    "atan2": lambda: _call(_U + "filtering.atan2", (_t(4), _t(4))),
    "_invert": lambda: _call(_U + "filtering._invert", (_t(4, 2, 2, 2),)),
    "_covariance": lambda: _call(_U + "filtering._covariance", (_t(6, 9, 2, 2),)),
    "TorchSTFT": lambda: _made(_U + "transforms.TorchSTFT", [(_t(2, 2, 512),)], 64, 16),
    "TorchISTFT": lambda: _made(_U + "transforms.TorchISTFT", [(_t(2, 2, 33, 20, 2), 256)], 64, 16, center=True),
    "ComplexNorm": lambda: _made(_U + "transforms.ComplexNorm", [(_t(2, 2, 33, 8, 2),)], mono=True),
    "preprocess": lambda: _call(_U + "utils.preprocess", (_t(2, 400), 44100, 44100), (_t(400), 44100, 44100)),
    "_augment_gain": lambda: _call(_U + "data._augment_gain", (_t(2, 400),)),
    "_augment_channelswap": lambda: _call(_U + "data._augment_channelswap", (_t(2, 400),)),
    "_augment_force_stereo": lambda: _call(_U + "data._augment_force_stereo", (_t(1, 400),)),
}

_N = "pypots.nn.modules."


def _series(n: int = 2, steps: int = 8, features: int = 3) -> dict[str, torch.Tensor]:
    seen = (_u(n, steps, features) > 0.3).float()
    return {"X": _t(n, steps, features) * seen, "missing_mask": seen, "deltas": _u(n, steps, features)}


def _both_ways(**more: torch.Tensor) -> dict[str, Any]:
    return {"forward": _series() | more, "backward": _series() | more}


def _masks() -> torch.Tensor:
    return (_u(2, 8, 3) > 0.3).float()


_PYPOTS: dict[str, Callable[[], Built]] = {
    "BackboneBRITS": lambda: _made(_N + "brits.backbone.BackboneBRITS", [(_both_ways(),)], 8, 3, 4),
    "BackboneCRLI": lambda: _made(_N + "crli.backbone.BackboneCRLI", [(_t(2, 8, 3), _masks())], 8, 3, 1, 4, None),
    "BackboneCSDI": lambda: _made(
        _N + "csdi.backbone.BackboneCSDI",
        [(_t(2, 3, 8), (_u(2, 3, 8) > 0.3).float(), _t(2, 9, 3, 8), 1)],
        1,
        2,
        8,
        3,
        4,
        4,
        8,
        False,
        3,
        "quad",
        0.1,
        0.5,
    ),
    "BackboneCSDI loss": lambda: _method(
        _N + "csdi.backbone.BackboneCSDI",
        "calc_loss",
        [(_t(2, 3, 8), (_u(2, 3, 8) > 0.3).float(), (_u(2, 3, 8) > 0.7).float(), _t(2, 9, 3, 8))],
        1,
        2,
        8,
        3,
        4,
        4,
        8,
        False,
        3,
        "quad",
        0.1,
        0.5,
    ),
    "BackboneDLinear": lambda: _made(
        _N + "dlinear.backbone.BackboneDLinear", [(_t(2, 8, 3), _t(2, 8, 3))], 8, 3, individual=True
    ),
    "BackboneGPVAE": lambda: _made(
        _N + "gpvae.backbone.BackboneGPVAE",
        [(_t(2, 8, 3), _masks())],
        3,
        8,
        2,
        (4,),
        (4,),
        window_size=3,
    ),
    "BackboneGPVAE rbf": lambda: _made(
        _N + "gpvae.backbone.BackboneGPVAE",
        [(_t(2, 8, 3), _masks())],
        3,
        8,
        4,
        (4,),
        (4,),
        kernel="rbf",
        kernel_scales=2,
        window_size=3,
    ),
    "BackboneGRUD": lambda: _made(
        _N + "grud.backbone.BackboneGRUD",
        [(_t(2, 8, 3), _masks(), _u(2, 8, 3), _t(3), _t(2, 8, 3))],
        8,
        3,
        4,
    ),
    "ProbAttention": lambda: _made(
        _N + "informer.layers.ProbAttention", [(_t(2, 8, 2, 4), _t(2, 8, 2, 4), _t(2, 8, 2, 4))], factor=1
    ),
    "ProbAttention unmasked": lambda: _made(
        _N + "informer.layers.ProbAttention",
        [(_t(2, 8, 2, 4), _t(2, 8, 2, 4), _t(2, 8, 2, 4))],
        mask_flag=False,
        factor=1,
    ),
    "BackboneFITS": lambda: _made(_N + "fits.backbone.BackboneFITS", [(_t(2, 8, 3),)], 8, 3, 4, 3, False),
    "BackboneFreTS": lambda: _made(_N + "frets.backbone.BackboneFreTS", [(_t(2, 8, 3),)], 8, 3, 4, 4, 8),
    "BackboneMRNN": lambda: _made(_N + "mrnn.backbone.BackboneMRNN", [(_both_ways(),)], 8, 3, 4),
    "PatchEmbedding": lambda: _made(_N + "patchtst.layers.PatchEmbedding", [(_t(2, 3, 8),)], 4, 4, 2, 2, 0.1),
    "RegressionHead": lambda: _made(
        _N + "patchtst.layers.RegressionHead", [(_t(2, 3, 4, 5),)], 3, 4, 2, 0.1, y_range=(0.0, 1.0)
    ),
    "BackboneSAITS": lambda: _made(
        _N + "saits.backbone.BackboneSAITS",
        [(_t(2, 8, 3), _masks())],
        8,
        3,
        1,
        8,
        2,
        4,
        4,
        16,
        0.1,
        0.1,
    ),
    "BackboneSeFT": lambda: _made(_N + "seft.backbone.BackboneSeFT", [(_t(2, 8, 3), _masks())], 8, 3, 2, 1, 2, 8, 16),
    "BackboneStemGNN": lambda: _made(_N + "stemgnn.backbone.BackboneStemGNN", [(_t(2, 8, 3),)], 3, 1, 8, 2),
    "BackboneTEFN": lambda: _made(_N + "tefn.backbone.BackboneTEFN", [(_t(2, 12, 3),)], 8, 3, 4, 2),
    "TiDE": lambda: _made(_N + "tide.autoencoder.TideEncoder", [(_t(2, 24),)], 8, 3, 1, 24, 8, 0.1),
    "FFT_for_Period": lambda: _call(_N + "timesnet.layers.FFT_for_Period", (_t(2, 8, 3),)),
    "BackboneTimesNet": lambda: _made(_N + "timesnet.backbone.BackboneTimesNet", [(_t(2, 8, 4),)], 1, 8, 0, 2, 4, 8, 2),
    "TS2VecEncoder": lambda: _made(_N + "ts2vec.backbone.TS2VecEncoder", [(_t(2, 8, 3),)], 3, 4, 4, 1),
    "TS2VecEncoder continuous": lambda: _made(
        _N + "ts2vec.backbone.TS2VecEncoder", [(_t(2, 8, 3), "continuous")], 3, 4, 4, 1
    ),
    "TS2VecEncoder encode": lambda: _method(
        _N + "ts2vec.backbone.TS2VecEncoder", "encode", [(_t(2, 8, 3),)], 3, 4, 4, 1
    ),
    "BackboneUSGAN": lambda: _made(_N + "usgan.backbone.BackboneUSGAN", [(_both_ways(),)], 8, 3, 4, 1.0),
    "BackboneUSGAN discriminator": lambda: held(
        _get(_N + "usgan.backbone.BackboneUSGAN")(8, 3, 4, 1.0), lambda m, x: m(x, "discriminator"), (_both_ways(),)
    ),
    "BackboneVaDER": lambda: _made(_N + "vader.backbone.BackboneVaDER", [(_t(2, 8, 3), _masks())], 8, 3, 2, 4, 2),
    "BackboneFiLM": lambda: _made(_N + "film.backbone.BackboneFiLM", [(_t(2, 8, 3),)], 8, 3, 4, [8], [1], 4, 0.5, 0),
    "FourierFilter": lambda: _made(_N + "koopa.layers.FourierFilter", [(_t(2, 8, 3),)], torch.tensor([0, 2])),
    "TimeVarKP": lambda: _made(
        _N + "koopa.layers.TimeVarKP",
        [(_t(2, 16, 3),)],
        3,
        16,
        8,
        4,
        6,
        nn.Linear(12, 6),
        nn.Linear(6, 12),
    ),
    "KPLayer": lambda: _made(_N + "koopa.layers.KPLayer", [(_t(2, 6, 3),)]),
    "KPLayerApprox": lambda: _made(_N + "koopa.layers.KPLayerApprox", [(_t(2, 6, 3), 3)]),
    "BackboneSegRNN": lambda: _made(_N + "segrnn.backbone.BackboneSegRNN", [(_t(2, 8, 3),)], 8, 3, 8, 4, 8),
    "RevIN": lambda: _made(_N + "revin.layers.RevIN", [(_t(2, 8, 3), _masks())], 3),
    "VectorQuantizer": lambda: _made(_N + "totem.autoencoder.VectorQuantizer", [(_t(2, 4, 8),)], 6, 4, 0.25),
    "AutoCorrelation": lambda: _made(
        _N + "autoformer.layers.AutoCorrelation", [(_t(2, 8, 2, 4), _t(2, 8, 2, 4), _t(2, 8, 2, 4))]
    ),
    "SeriesDecompositionMultiBlock": lambda: _made(
        _N + "fedformer.layers.SeriesDecompositionMultiBlock", [(_t(2, 8, 3),)], [3, 5]
    ),
    "FourierBlock": lambda: _made(
        _N + "fedformer.layers.FourierBlock", [(_t(2, 8, 8, 4), _t(2, 8, 8, 4), _t(2, 8, 8, 4))], 32, 32, 8, 3
    ),
    "MultiWaveletTransform": lambda: _made(
        _N + "fedformer.layers.MultiWaveletTransform",
        [(_t(2, 8, 2, 4), _t(2, 8, 2, 4), _t(2, 8, 2, 4))],
        8,
        k=4,
        alpha=4,
        c=4,
    ),
    "TwoStageAttentionLayer": lambda: _made(
        _N + "crossformer.layers.TwoStageAttentionLayer", [(_t(2, 3, 4, 8),)], 4, 2, 8, 2, 4, 4, 16
    ),
    "SegMerging": lambda: _made(_N + "crossformer.layers.SegMerging", [(_t(2, 3, 5, 4),)], 4, 2),
    "DataEmbedding": lambda: _made(_N + "transformer.embedding.DataEmbedding", [(_t(2, 8, 3),)], 3, 8),
    "calc_mae": lambda: _call("pypots.nn.functional.calc_mae", (_t(2, 8), _t(2, 8), (_u(2, 8) > 0.3).float())),
    "calc_mre": lambda: _call("pypots.nn.functional.calc_mre", (_t(2, 8), _t(2, 8), (_u(2, 8) > 0.3).float())),
    "calc_quantile_crps": lambda: _call(
        "pypots.nn.functional.calc_quantile_crps", (_t(2, 5, 8, 3), _t(2, 8, 3), _masks())
    ),
    "nonstationary_norm": lambda: _call("pypots.nn.functional.nonstationary_norm", (_t(2, 8, 3), _masks())),
}

_A = "allrank.models."


def _slates() -> tuple[torch.Tensor, torch.Tensor]:
    """Scores and labels, the last of which is padding."""
    labels = _i(4, 3, 6).float()
    labels[:, -1] = -1
    return _t(3, 6), labels


_ALLRANK: dict[str, Callable[[], Built]] = {
    **{
        name: lambda name=name, options=options: _call(_A + "losses." + name, _slates(), **options)  # type: ignore[misc]
        for name, options in {
            "approxNDCG.approxNDCGLoss": {},
            "binary_listNet.binary_listNet": {},
            "lambdaLoss.lambdaLoss": {"weighing_scheme": "ndcgLoss2PP_scheme", "k": 4},
            "listMLE.listMLE": {},
            "listNet.listNet": {},
            "neuralNDCG.neuralNDCG": {},
            "neuralNDCG.neuralNDCG_transposed": {"max_iter": 3},
            "pointwise.pointwise_rmse": {"no_of_levels": 4},
            "rankNet.rankNet": {},
            "rankNet.rankNet_weightByGTDiff": {},
            "rankNet.rankNet_weightByGTDiff_pow": {},
        }.items()
    },
    "lambdaLoss plain": lambda: _call(
        _A + "losses.lambdaLoss.lambdaLoss", _slates(), weighing_scheme="lambdaRank_scheme", reduction="mean"
    ),
    "neuralNDCG stochastic": lambda: _call(
        _A + "losses.neuralNDCG.neuralNDCG", _slates(), stochastic=True, n_samples=4, k=3
    ),
    "bce": lambda: _call(_A + "losses.bce.bce", (_u(3, 6), _i(2, 3, 6).float())),
    "ordinal": lambda: _call(_A + "losses.ordinal.ordinal", (_u(3, 6, 4), _i(4, 3, 6).float()), n=4),
    "sinkhorn_scaling": lambda: _call(_A + "losses.loss_utils.sinkhorn_scaling", (_u(2, 5, 5),)),
    "ndcg": lambda: _call(_A + "metrics.ndcg", _slates(), ats=[2, 4]),
    "dcg": lambda: _call(_A + "metrics.dcg", _slates()),
    "mrr": lambda: _call(_A + "metrics.mrr", _slates(), ats=[1, 3]),
    "FixedPositionalEncoding": lambda: _made(
        _A + "positional.FixedPositionalEncoding", [(_t(3, 6, 8), torch.zeros(3, 6).bool(), _i(9, 3, 6))], 8, 7
    ),
    "LearnedPositionalEncoding": lambda: _made(
        _A + "positional.LearnedPositionalEncoding", [(_t(3, 6, 8), torch.zeros(3, 6).bool(), _i(6, 3, 6))], 8, 7
    ),
    "make_transformer": lambda: (
        _get(_A + "transformer.make_transformer")(N=1, d_ff=8, h=2, n_features=8),
        [(_t(3, 6, 8), torch.zeros(3, 6).bool(), _i(6, 3, 6))],
    ),
    "LTRModel": lambda: (
        _get(_A + "model.LTRModel")(
            _get(_A + "model.FCModel")([8], True, "ReLU", 0.1, 5), None, _get(_A + "model.OutputLayer")(8, 1)
        ),
        [(_t(3, 6, 5), torch.zeros(3, 6).bool(), _i(6, 3, 6))],
    ),
}

_D = "d3rlpy.models.torch."


def _seen(action: bool = False) -> Any:
    name = "VectorEncoderWithAction" if action else "VectorEncoder"
    return _get(_D + "encoders." + name)((4,), *((2,) if action else ()), hidden_units=[8])


def _discrete(kind: str) -> Any:
    more: dict[str, tuple[int, ...]] = {"Mean": (), "QR": (6,), "IQN": (6, 6, 4)}
    module = {"Mean": "mean", "QR": "qr", "IQN": "iqn"}[kind]
    path = f"{_D}q_functions.{module}_q_function.Discrete{kind}QFunction"
    made = _get(path)(_seen(), 8, 2, *more[kind])
    forwarder = _get(path + "Forwarder")
    return made, forwarder(made, 2 if kind == "Mean" else 6)


def _continuous(kind: str) -> Any:
    more: dict[str, tuple[int, ...]] = {"Mean": (), "QR": (6,), "IQN": (6, 6, 4)}
    module = {"Mean": "mean", "QR": "qr", "IQN": "iqn"}[kind]
    path = f"{_D}q_functions.{module}_q_function.Continuous{kind}QFunction"
    made = _get(path)(_seen(action=True), 8, *more[kind])
    forwarder = _get(path + "Forwarder")
    return made, forwarder(made) if kind == "Mean" else forwarder(made, 6)


_D3RLPY: dict[str, Callable[[], Built]] = {
    "PixelEncoder": lambda: _made(_D + "encoders.PixelEncoder", [(_t(2, 1, 84, 84),)], (1, 84, 84)),
    "PixelEncoderWithAction": lambda: _made(
        _D + "encoders.PixelEncoderWithAction", [(_t(2, 1, 84, 84), _i(3, 2, 1))], (1, 84, 84), 3, discrete_action=True
    ),
    "VectorEncoder": lambda: _made(
        _D + "encoders.VectorEncoder", [(_t(3, 4),)], (4,), [8], use_batch_norm=True, dropout_rate=0.1
    ),
    "SimBaEncoder": lambda: _made(_D + "encoders.SimBaEncoder", [(_t(3, 4),)], (4,), 8, 6, 1),
    "NormalPolicy": lambda: _made(_D + "policies.NormalPolicy", [(_t(3, 4),)], _seen(), 8, 2, -4.0, 2.0, False),
    "NormalPolicy sampled": lambda: (
        lambda m, x: _get(_D + "policies.build_squashed_gaussian_distribution")(m(x)).sample_with_log_prob(),
        [(_get(_D + "policies.NormalPolicy")(_seen(), 8, 2, -4.0, 2.0, True), _t(3, 4))],
    ),
    "CategoricalPolicy": lambda: _made(_D + "policies.CategoricalPolicy", [(_t(3, 4),)], _seen(), 8, 2),
    "DeterministicResidualPolicy": lambda: _made(
        _D + "policies.DeterministicResidualPolicy", [(_t(3, 4), _t(3, 2))], _seen(action=True), 8, 2, 0.1
    ),
    "GaussianDistribution": lambda: _using(
        _D + "distributions.GaussianDistribution",
        lambda use, m, s: (d := use(m, s, m), d.sample_n_with_log_prob(3), d.log_prob(m), d.mean_with_log_prob())[1:],
        (_t(3, 2), _u(3, 2) + 0.1),
    ),
    "SquashedGaussianDistribution": lambda: _using(
        _D + "distributions.SquashedGaussianDistribution",
        lambda use, m, s: (d := use(m, s), d.sample_n_with_log_prob(3), d.log_prob(m.tanh()))[1:],
        (_t(3, 2), _u(3, 2) + 0.1),
    ),
    **{
        f"Discrete{kind}QFunction": lambda kind=kind: (_discrete(kind)[0], [(_t(3, 4),)])  # type: ignore[misc]
        for kind in ("Mean", "QR", "IQN")
    },
    **{
        f"Continuous{kind}QFunction": lambda kind=kind: (_continuous(kind)[0], [(_t(3, 4), _t(3, 2))])  # type: ignore[misc]
        for kind in ("Mean", "QR", "IQN")
    },
    **{
        f"Discrete{kind} error": lambda kind=kind: (  # type: ignore[misc]
            lambda f, x, a, r, t: (
                f.compute_error(x, a, r, f.compute_target(x, a), t, gamma=0.9, reduction="mean"),
                f.compute_target(x),
            ),
            [(_discrete(kind)[1], _t(3, 4), _i(2, 3, 1), _t(3, 1), torch.zeros(3, 1))],
        )
        for kind in ("Mean", "QR", "IQN")
    },
    **{
        f"Continuous{kind} error": lambda kind=kind: (  # type: ignore[misc]
            lambda f, x, a, r, t: f.compute_error(x, a, r, f.compute_target(x, a), t, gamma=0.9, reduction="mean"),
            [(_continuous(kind)[1], _t(3, 4), _t(3, 2), _t(3, 1), torch.zeros(3, 1))],
        )
        for kind in ("Mean", "QR", "IQN")
    },
    **{
        f"ensemble {reduction}": lambda reduction=reduction: (  # type: ignore[misc]
            lambda f, x, a: f.compute_target(x, a, reduction=reduction, lam=0.75),
            [
                (
                    _get(_D + "q_functions.DiscreteEnsembleQFunctionForwarder")(
                        [_discrete("Mean")[1], _discrete("Mean")[1]], 2
                    ),
                    _t(3, 4),
                    _i(2, 3, 1),
                )
            ],
        )
        for reduction in ("min", "mean", "mix")
    },
    "ensemble quantiles": lambda: (
        lambda f, x, a: f.compute_target(x, a, reduction="min"),
        [
            (
                _get(_D + "q_functions.ContinuousEnsembleQFunctionForwarder")(
                    [_continuous("QR")[1], _continuous("QR")[1]], 2
                ),
                _t(3, 4),
                _t(3, 2),
            )
        ],
    ),
    "compute_max_with_n_actions": lambda: (
        lambda f, x, a: _get(_D + "q_functions.compute_max_with_n_actions")(x, a, f, 0.75),
        [
            (
                _get(_D + "q_functions.ContinuousEnsembleQFunctionForwarder")(
                    [_continuous("Mean")[1], _continuous("Mean")[1]], 2
                ),
                _t(3, 4),
                _t(3, 5, 2),
            )
        ],
    ),
    "VAEEncoder": lambda: _made(_D + "imitators.VAEEncoder", [(_t(3, 4), _t(3, 2))], _seen(action=True), 8, 2),
    "compute_vae_error": lambda: (
        lambda e, d, x, a: _get(_D + "imitators.compute_vae_error")(e, d, x, a, 0.5),
        [
            (
                _get(_D + "imitators.VAEEncoder")(_seen(action=True), 8, 2),
                _get(_D + "imitators.VAEDecoder")(_seen(action=True), 8, 2),
                _t(3, 4),
                _t(3, 2),
            )
        ],
    ),
    "compute_discrete_imitation_loss": lambda: (
        lambda m, x, a: _get(_D + "imitators.compute_discrete_imitation_loss")(m, x, a, 0.5).loss,
        [(_get(_D + "policies.CategoricalPolicy")(_seen(), 8, 2), _t(3, 4), _i(2, 3))],
    ),
    "GPT2": lambda: _made(
        _D + "transformers.GPT2", [(_t(2, 6, 8), torch.ones(2, 6))], 8, 16, 16, 2, 6, 1, 0.1, 0.1, 0.1, nn.ReLU()
    ),
    "ContinuousDecisionTransformer": lambda: _made(
        _D + "transformers.ContinuousDecisionTransformer",
        [(_t(2, 5, 4), _t(2, 5, 2), _t(2, 5, 1), _i(9, 2, 5), torch.ones(2, 5))],
        _seen(),
        8,
        _get(_D + "transformers.SimplePositionEncoding")(8, 10),
        2,
        2,
        5,
        1,
        0.1,
        0.1,
        0.1,
        nn.ReLU(),
    ),
    "DiscreteDecisionTransformer": lambda: _made(
        _D + "transformers.DiscreteDecisionTransformer",
        [(_t(2, 5, 4), _i(2, 2, 5, 1), _t(2, 5, 1), _i(9, 2, 5), torch.ones(2, 5))],
        _seen(),
        8,
        _get(_D + "transformers.GlobalPositionEncoding")(8, 10, 5),
        2,
        2,
        5,
        1,
        0.1,
        0.1,
        0.1,
        nn.ReLU(),
        nn.Tanh(),
    ),
    "compute_quantile_huber_loss": lambda: _call(
        _D + "q_functions.utility.compute_quantile_huber_loss", (_t(3, 6, 1), _t(3, 1, 6), _u(1, 6, 1))
    ),
    "pick_quantile_value_by_action": lambda: _call(
        _D + "q_functions.utility.pick_quantile_value_by_action", (_t(3, 2, 6), _i(2, 3))
    ),
    "expand_and_repeat_recursively": lambda: _call(
        "d3rlpy.torch_utility.expand_and_repeat_recursively", (_t(3, 4), 2), ([_t(3, 4), _t(3, 2)], 2)
    ),
    "soft_sync": lambda: _call("d3rlpy.torch_utility.soft_sync", (nn.Linear(4, 2), nn.Linear(4, 2), 0.1)),
}

_G = "torchgan."


def _trained(name: str, **options: Any) -> Built:
    """The step of a loss that trains a discriminator."""
    generator = _get(_G + "models.DCGANGenerator")(8, 16, 1, 4)
    discriminator = _get(_G + "models.DCGANDiscriminator")(16, 1, 4)
    optimizer = torch.optim.SGD(discriminator.parameters(), 0.1)
    loss = _get(_G + "losses." + name)(**options)
    return (lambda x: loss.train_ops(generator, discriminator, optimizer, x, torch.device("cpu"))), [
        (_u(2, 1, 16, 16),)
    ]


_TORCHGAN: dict[str, Callable[[], Built]] = {
    **{
        name: lambda name=name, inputs=inputs, options=options: _made(_G + "losses." + name, [inputs], **options)  # type: ignore[misc]
        for name, inputs, options in (
            ("MinimaxGeneratorLoss", (_t(4),), {}),
            ("MinimaxDiscriminatorLoss", (_t(4), _t(4)), {"label_smoothing": 0.1}),
            ("LeastSquaresDiscriminatorLoss", (_t(4), _t(4)), {}),
            ("WassersteinDiscriminatorLoss", (_t(4), _t(4)), {"clip": (-1.0, 1.0)}),
            ("EnergyBasedPullingAwayTerm", (_u(4, 1), _u(4, 6)), {}),
            ("EnergyBasedDiscriminatorLoss", (_u(4), _u(4)), {"margin": 1.0}),
            ("BoundaryEquilibriumDiscriminatorLoss", (_u(4), _u(4)), {}),
            ("FeatureMatchingGeneratorLoss", (_t(4, 6), _t(4, 6)), {}),
            ("AuxiliaryClassifierGeneratorLoss", (_t(4, 5), _i(5, 4)), {}),
        )
    },
    "BoundaryEquilibrium update_k": lambda: held(
        _get(_G + "losses.BoundaryEquilibriumDiscriminatorLoss")(),
        lambda m, x, y: (total := m(x, y), m.update_k(total[1], total[2]), m.k)[1:],
        (_u(4), _u(4)),
    ),
    "WassersteinGradientPenalty train_ops": lambda: _trained("WassersteinGradientPenalty"),
    "WassersteinDiscriminatorLoss train_ops": lambda: _trained("WassersteinDiscriminatorLoss", clip=(-1.0, 1.0)),
    "BoundaryEquilibrium train_ops": lambda: _trained("BoundaryEquilibriumDiscriminatorLoss"),
    "DraganGradientPenalty train_ops": lambda: _trained("DraganGradientPenalty"),
    "wasserstein_gradient_penalty": lambda: _using(
        _G + "losses.wasserstein_gradient_penalty",
        lambda use, x: (y := x.detach().requires_grad_(), use(y, y.square().sum(1)))[1],
        (_t(4, 6),),
    ),
    "SelfAttention2d": lambda: _made(_G + "layers.SelfAttention2d", [(_t(2, 16, 4, 4),)], 16, return_attn=True),
    "SpectralNorm2d": lambda: _made(_G + "layers.SpectralNorm2d", [(_t(2, 3, 8, 8),)], nn.Conv2d(3, 4, 3)),
    "MinibatchDiscrimination1d": lambda: _made(_G + "layers.MinibatchDiscrimination1d", [(_t(4, 6),)], 6, 8),
    "VirtualBatchNorm": lambda: _made(_G + "layers.VirtualBatchNorm", [(_t(4, 6),)], 6),
    "DenseBlock2d": lambda: _made(
        _G + "layers.DenseBlock2d", [(_t(2, 4, 8, 8),)], 2, 4, 4, _get(_G + "layers.BasicBlock2d"), 3, padding=1
    ),
    "ResidualBlock2d": lambda: _made(_G + "layers.ResidualBlock2d", [(_t(2, 4, 8, 8),)], [4, 4], [3], paddings=[1]),
    "DCGANGenerator": lambda: _made(_G + "models.DCGANGenerator", [(_t(2, 8),)], 8, 16, 1, 4),
    "DCGANDiscriminator": lambda: _made(_G + "models.DCGANDiscriminator", [(_t(2, 1, 16, 16),)], 16, 1, 4),
    "ConditionalGANGenerator": lambda: _made(
        _G + "models.ConditionalGANGenerator", [(_t(2, 8), _i(3, 2))], 3, 8, 16, 1, 4
    ),
    "ACGANDiscriminator": lambda: held(
        _get(_G + "models.ACGANDiscriminator")(3, 16, 1, 4),
        lambda m, x: m(x, mode="classifier"),
        (_t(2, 1, 16, 16),),
    ),
    "AutoEncodingDiscriminator": lambda: _made(
        _G + "models.AutoEncodingDiscriminator", [(_t(2, 1, 16, 16),)], 16, 1, 8, 4
    ),
    "InfoGANDiscriminator": lambda: held(
        _get(_G + "models.InfoGANDiscriminator")(2, 2, 16, 1, 4),
        lambda m, x: m(x, return_latents=True),
        (_t(2, 1, 16, 16),),
    ),
}

_R = "torchscale."


def _config(kind: str, **options: Any) -> Any:
    side = "decoder" if kind in ("Decoder", "RetNet") else "encoder"
    small = {f"{side}_embed_dim": 8, f"{side}_ffn_embed_dim": 16, f"{side}_layers": 1, "vocab_size": 11}
    small |= {f"{side}_retention_heads" if kind == "RetNet" else f"{side}_attention_heads": 2}
    if kind == "RetNet":
        small |= {"decoder_value_embed_dim": 16}
    return _get(f"{_R}architecture.config.{kind}Config")(**small, **options)


_TOKENS = _i(11, 2, 6)
_TORCHSCALE: dict[str, Callable[[], Built]] = {
    **{
        f"Encoder {name}": lambda options=options: _made(  # type: ignore[misc]
            _R + "architecture.encoder.Encoder",
            [{"src_tokens": _TOKENS, "encoder_padding_mask": torch.zeros(2, 6).bool()}],
            _config("Encoder", **options),
            embed_tokens=_get(_R + "component.embedding.TextEmbedding")(11, 8),
        )
        for name, options in {
            "plain": {},
            "deepnorm": {"deepnorm": True, "subln": False},
            "relative": {"rel_pos_buckets": 8, "max_rel_pos": 16},
            "xpos": {"xpos_rel_pos": True},
            "multiway": {"multiway": True},
        }.items()
    },
    **{
        f"Decoder {name}": lambda options=options: _made(  # type: ignore[misc]
            _R + "architecture.decoder.Decoder",
            [(_TOKENS,)],
            _config("Decoder", **options),
            embed_tokens=_get(_R + "component.embedding.TextEmbedding")(11, 8),
        )
        for name, options in {"plain": {}, "relative": {"rel_pos_buckets": 8, "max_rel_pos": 16}}.items()
    },
    "RetNet": lambda: _made(
        _R + "architecture.retnet.RetNetDecoder",
        [(_TOKENS,)],
        _config("RetNet"),
        embed_tokens=_get(_R + "component.embedding.TextEmbedding")(11, 8),
    ),
    "RetNet chunkwise": lambda: _made(
        _R + "architecture.retnet.RetNetDecoder",
        [(_TOKENS,)],
        _config("RetNet", chunkwise_recurrent=True, recurrent_chunk_size=4),
        embed_tokens=_get(_R + "component.embedding.TextEmbedding")(11, 8),
    ),
    "RelativePositionBias": lambda: _made(
        _R + "component.relative_position_bias.RelativePositionBias", [(2, 5, 6)], True, 8, 16, 2
    ),
    "XPOS": lambda: _made(_R + "component.xpos_relative_position.XPOS", [(_t(2, 6, 8),)], 8),
    "VisionEmbedding": lambda: _made(
        _R + "component.embedding.VisionEmbedding",
        [(_t(2, 3, 8, 8), torch.zeros(2, 4).bool())],
        8,
        4,
        3,
        8,
        contain_mask_token=True,
        prepend_cls_token=True,
    ),
    "MultiwayNetwork": lambda: held(
        _get(_R + "component.multiway_network.MultiwayNetwork")(nn.Linear(4, 4)),
        lambda m, x: (m.apply(_get(_R + "component.multiway_network.set_split_position")(2)), m(x))[1],
        (_t(2, 6, 4),),
    ),
    "RMSNorm": lambda: _made(_R + "component.rms_norm.RMSNorm", [(_t(2, 6, 8),)], 8),
}

_O = "geotorch."


def _constrained(name: str, *given: Any, shape: tuple[int, int] = (4, 4), **options: Any) -> Built:
    layer = nn.Linear(shape[1], shape[0])
    _get(_O + "constraints." + name)(layer, "weight", *given, **options)
    return layer, [(_t(3, shape[1]),)]


_GEOTORCH: dict[str, Callable[[], Built]] = {
    **{name: lambda name=name: _constrained(name) for name in ("symmetric", "skew", "sphere", "grassmannian")},  # type: ignore[misc]
    **{
        f"orthogonal {triv}": lambda triv=triv: _constrained("orthogonal", triv=triv)  # type: ignore[misc]
        for triv in ("expm", "cayley")
    },
    "orthogonal tall": lambda: _constrained("orthogonal", shape=(6, 3)),
    "sphere embedded": lambda: _constrained("sphere", embedded=True),
    "almost_orthogonal": lambda: _constrained("almost_orthogonal", 0.3, "tanh"),
    "low_rank": lambda: _constrained("low_rank", 2, shape=(5, 4)),
    "fixed_rank": lambda: _constrained("fixed_rank", 2, shape=(5, 4)),
    "invertible": lambda: _constrained("invertible"),
    "sln": lambda: _constrained("sln"),
    "positive_definite": lambda: _constrained("positive_definite"),
    "positive_semidefinite": lambda: _constrained("positive_semidefinite"),
    "positive_semidefinite_fixed_rank": lambda: _constrained("positive_semidefinite_fixed_rank", 2),
    "alpha_stable": lambda: _constrained("alpha_stable", 0.1),
    **{
        f"in_manifold {name}": lambda name=name, given=given: held(  # type: ignore[misc]
            _get(_O + name)(*given), lambda m, x: m.in_manifold(m(x)), (_t(4, 4),)
        )
        for name, given in {
            "skew.Skew": ((4, 4),),
            "so.SO": ((4, 4),),
            "sphere.Sphere": ((4, 4),),
            "lowrank.LowRank": ((4, 4), 2),
            "psd.PSD": ((4, 4),),
            "sl.SL": ((4, 4),),
        }.items()
    },
    **{
        f"sample {name}": lambda name=name, given=given: held(  # type: ignore[misc]
            _get(_O + name)(*given), lambda m, x: m.sample() + x, (_t(4, 4),)
        )
        for name, given in {
            "so.SO": ((4, 4),),
            "sphere.Sphere": ((4, 4),),
            "fixedrank.FixedRank": ((4, 4), 2),
            "psd.PSD": ((4, 4),),
        }.items()
    },
    "right_inverse": lambda: held(
        _get(_O + "fixedrank.FixedRank")((4, 4), 2),
        lambda m, x: m.right_inverse(m(x), check_in_manifold=False),
        (_t(4, 4),),
    ),
    "uniform_init_": lambda: _call(_O + "so.uniform_init_", (_t(4, 4),)),
    "torus_init_": lambda: _call(_O + "so.torus_init_", (_t(4, 4),)),
}

_L = "lpips."
_LPIPS: dict[str, Callable[[], Built]] = {
    "normalize_tensor": lambda: _call(_L + "normalize_tensor", (_t(2, 3, 4, 4),)),
    "spatial_average": lambda: _call(_L + "lpips.spatial_average", (_t(2, 3, 4, 4),)),
    "upsample": lambda: _call(_L + "lpips.upsample", (_t(2, 3, 4, 4), (8, 8))),
    "NetLinLayer": lambda: _made(_L + "lpips.NetLinLayer", [(_t(2, 3, 4, 4),)], 3, use_dropout=True),
    "ScalingLayer": lambda: _made(_L + "lpips.ScalingLayer", [(_t(2, 3, 4, 4),)]),
    "Dist2LogitLayer": lambda: _made(_L + "lpips.Dist2LogitLayer", [(_u(2, 1, 1, 1), _u(2, 1, 1, 1))]),
    "L2": lambda: _made(_L + "lpips.L2", [(_t(1, 3, 4, 4), _t(1, 3, 4, 4))], use_gpu=False, colorspace="RGB"),
    "tensor2im": lambda: _call(_L + "tensor2im", (_t(1, 3, 4, 4),)),
}

_B = "torchlibrosa."
_TORCHLIBROSA: dict[str, Callable[[], Built]] = {
    "DFT": lambda: _method(_B + "stft.DFT", "dft", [(_t(16), _t(16))], 16, None),
    "magphase": lambda: _call(_B + "stft.magphase", (_t(2, 1, 5, 9), _t(2, 1, 5, 9))),
    "Enframe": lambda: _made(_B + "stft.Enframe", [(_t(2, 64),)], 16, 8),
    "DropStripes": lambda: _made(_B + "augmentation.DropStripes", [(_t(2, 1, 20, 8),)], 2, 4, 2),
    "SpecAugmentation": lambda: _made(
        _B + "augmentation.SpecAugmentation",
        [(_t(2, 1, 20, 8),)],
        time_drop_width=4,
        time_stripes_num=2,
        freq_drop_width=2,
        freq_stripes_num=2,
    ),
}

_T = "torch_geometric_signed_directed."
_EDGES = _i(8, 2, 20)
_PLUS, _MINUS = _i(8, 2, 14), _i(8, 2, 9)
_SIGNED = torch.cat(
    (torch.cat((_PLUS, torch.ones(1, 14).long())), torch.cat((_MINUS, -torch.ones(1, 9).long()))), 1
).T.contiguous()


def _directed(name: str, *given: Any, weight: bool = True, queries: bool = False, **options: Any) -> Built:
    inputs = (_t(8, 4), _EDGES, *((_i(8, 5, 2),) if queries else ()), *((_u(20),) if weight else ()))
    return _made(f"{_T}nn.directed.{name}.{name}", [inputs], *given, **options)


_TGSD: dict[str, Callable[[], Built]] = {
    "DGCNConv": lambda: _directed("DGCNConv"),
    "DiGCNConv": lambda: _directed("DiGCNConv", 4, 6),
    "DiGCN_node_classification": lambda: _directed("DiGCN_node_classification", 4, 6, 3),
    "DiGCN_link_prediction": lambda: _directed("DiGCN_link_prediction", 4, 6, 3, queries=True),
    "DiGCL_Encoder": lambda: _directed("DiGCL", 4, "relu", 6, 4, 0.5, 2),
    "DiGCL loss": lambda: _method(
        _T + "nn.directed.DiGCL.DiGCL", "loss", [(_t(8, 6), _t(8, 6)), (_t(8, 6), _t(8, 6), 4)], 4, "relu", 6, 4, 0.5, 2
    ),
    "MagNetConv": lambda: _made(
        _T + "nn.directed.MagNetConv.MagNetConv", [(_t(8, 4), _t(8, 4), _EDGES, _u(20))], 4, 6, 2, 0.25, False
    ),
    "MagNetConv unnormalized": lambda: _made(
        _T + "nn.directed.MagNetConv.MagNetConv",
        [(_t(8, 4), _t(8, 4), _EDGES, _u(20), torch.tensor(2.0))],
        4,
        6,
        2,
        0.25,
        True,
        normalization=None,
    ),
    "MagNet_node_classification": lambda: _made(
        _T + "nn.directed.MagNet_node_classification.MagNet_node_classification",
        [(_t(8, 4), _t(8, 4), _EDGES, _u(20))],
        4,
        6,
        dropout=0.5,
    ),
    "DGCN_node_classification": lambda: _made(
        _T + "nn.directed.DGCN_node_classification.DGCN_node_classification",
        [(_t(8, 4), _EDGES, _EDGES, _EDGES, _u(20), _u(20))],
        4,
        6,
        3,
    ),
    "DIGRAC_node_clustering": lambda: _made(
        _T + "nn.directed.DIGRAC_node_clustering.DIGRAC_node_clustering",
        [(_EDGES, _u(20), _t(8, 4))],
        4,
        6,
        3,
        0.5,
        0.5,
        2,
    ),
    "MSConv": lambda: _made(
        _T + "nn.general.MSConv.MSConv", [(_t(8, 4), _t(8, 4), _EDGES, _t(20))], 4, 6, 2, 0.25, False
    ),
    "conv_norm_rw": lambda: _call(_T + "nn.general.conv_base.conv_norm_rw", (_EDGES, 0.5, _u(20), 8)),
    "SSSNET_node_clustering": lambda: _made(
        _T + "nn.signed.SSSNET_node_clustering.SSSNET_node_clustering",
        [(_PLUS, _u(14), _MINUS, _u(9), _t(8, 4))],
        4,
        6,
        3,
        0.5,
        2,
        0.5,
        directed=True,
    ),
    "SGCNConv": lambda: _made(_T + "nn.signed.SGCNConv.SGCNConv", [(_t(8, 4), _PLUS, _MINUS)], 4, 6, True),
    "SNEAConv": lambda: _made(_T + "nn.signed.SNEAConv.SNEAConv", [(_t(8, 4), _PLUS, _MINUS)], 4, 6, True),
    "SGCN": lambda: _made(_T + "nn.signed.SGCN.SGCN", [()], 8, _SIGNED, 4, 4, init_emb=_t(8, 4)),
    "SGCN loss": lambda: _method(_T + "nn.signed.SGCN.SGCN", "loss", [()], 8, _SIGNED, 4, 4, init_emb=_t(8, 4)),
    "SNEA loss": lambda: _method(_T + "nn.signed.SNEA.SNEA", "loss", [()], 8, _SIGNED, 4, 4, init_emb=_t(8, 4)),
    "SDGNN": lambda: _made(_T + "nn.signed.SDGNN.SDGNN", [()], 8, _SIGNED, 4, 4, init_emb=_t(8, 4)),
    "SDGNN loss": lambda: _method(_T + "nn.signed.SDGNN.SDGNN", "loss", [()], 8, _SIGNED, 4, 4, init_emb=_t(8, 4)),
    "Prob_Imbalance_Loss": lambda: _made(
        _T + "utils.directed.prob_imbalance_loss.Prob_Imbalance_Loss",
        [(_t(8, 3).softmax(1), _u(8, 8), 3, "vol_sum", "naive")],
    ),
    "Prob_Imbalance_Loss std": lambda: _made(
        _T + "utils.directed.prob_imbalance_loss.Prob_Imbalance_Loss",
        [(_t(8, 3).softmax(1), _u(8, 8), 3, "vol_sum", "std")],
    ),
    "get_magnetic_Laplacian": lambda: _call(
        _T + "utils.directed.get_magnetic_Laplacian.get_magnetic_Laplacian", (_EDGES, _u(20))
    ),
    "get_magnetic_signed_Laplacian": lambda: _call(
        _T + "utils.general.get_magnetic_signed_Laplacian.get_magnetic_signed_Laplacian", (_EDGES, _t(20))
    ),
    "get_appr_directed_adj": lambda: _call(
        _T + "utils.directed.get_adjs_DiGCN.get_appr_directed_adj", (0.1, _EDGES, 8, torch.float32)
    ),
    "get_second_directed_adj": lambda: _call(
        _T + "utils.directed.get_adjs_DiGCN.get_second_directed_adj", (_EDGES, 8, torch.float32)
    ),
    "directed_features_in_out": lambda: _call(
        _T + "utils.directed.features_in_out.directed_features_in_out", (_EDGES, 8, _u(20))
    ),
    "in_out_degree": lambda: _call(_T + "utils.general.in_out_degree.in_out_degree", (_EDGES, 8, False, _u(20))),
    "drop_feature": lambda: _call(_T + "utils.directed.DiGCL_utils.drop_feature", (_t(8, 4), 0.3)),
    "triplet_loss_node_classification": lambda: _call(
        _T + "utils.general.triplet_loss.triplet_loss_node_classification", (_i(3, 8), _t(8, 4), 5, 0.1)
    ),
    **{
        name: lambda name=name, given=given: _made(  # type: ignore[misc]
            f"{_T}utils.signed.link_sign_loss.{name}", [(_t(8, 4), _PLUS, _MINUS)], *given
        )
        for name, given in (
            ("Sign_Direction_Loss", (4,)),
            ("Sign_Product_Entropy_Loss", ()),
            ("Link_Sign_Product_Loss", ()),
            ("Link_Sign_Entropy_Loss", (4,)),
            ("Sign_Structure_Loss", ()),
        )
    },
}


MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in (
        ("whisper", _WHISPER),
        ("pfrl", _PFRL),
        ("supar", _SUPAR),
        ("kan", _KAN),
        ("imagen_pytorch", _IMAGEN),
        ("flow_matching", _FLOW),
        ("openunmix", _UNMIX),
        ("pypots", _PYPOTS),
        ("allrank", _ALLRANK),
        ("d3rlpy", _D3RLPY),
        ("torchgan", _TORCHGAN),
        ("torchscale", _TORCHSCALE),
        ("geotorch", _GEOTORCH),
        ("lpips", _LPIPS),
        ("torchlibrosa", _TORCHLIBROSA),
        ("torch_geometric_signed_directed", _TGSD),
    )
    for name, build in models.items()
}

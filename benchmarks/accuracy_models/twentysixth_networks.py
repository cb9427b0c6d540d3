"""Models of DeepFilterNet, flash-linear-attention, lycoris, easygraph and mushroom-rl.

They were chosen after all of the twenty-fifth group, and written before `check` was run on these packages.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import complex_normal, held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter, without_packages

_t, _u, _i = random_inputs(102)
_ABSENT = {
    "df": ("libdf", "loguru", "torchaudio", "pystoi", "pesq", "icecream", "requests", "deepfilterlib"),
    "fla": ("triton", "transformers"),
    "lycoris": ("safetensors", "toml", "accelerate", "triton", "tilelang"),
    "easygraph": ("matplotlib", "optuna", "statsmodels", "gensim", "progressbar", "tables", "nose", "directed"),
    "mushroom_rl": ("cv2", "pygame", "gym", "matplotlib", "tqdm"),
}
_BARE = (
    *("fla", "fla.ops", "fla.ops.utils"),
    *(
        f"fla.ops.{name}"
        for name in (
            *("delta_rule", "gated_delta_rule", "gla", "retention", "simple_gla", "linear_attn", "based", "rebased"),
            *("abc", "gsa", "hgrn", "attn", "rwkv6", "ttt", "titans", "kda", "comba", "path_attn", "forgetting_attn"),
            *("log_linear_attn", "mesa_net", "stickbreaking_attn", "deltaformer", "utils.sinkhorn", "gdn2", "dsa"),
            *("generalized_delta_rule", "generalized_delta_rule.iplr", "generalized_delta_rule.dplr", "parallax"),
            *("gated_delta_product", "attnres", "cyfa"),
        )
    ),
)


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))
    if package == "df":
        libdf: Any = importlib.import_module("libdf")
        libdf.unit_norm_init = lambda n: np.linspace(0.001, 0.0001, n, dtype=np.float32)
        config = importlib.import_module("df.config").config
        if config.parser is None:
            config.use_defaults()
    if package == "mushroom_rl":
        importlib.import_module("cv2").ocl = SimpleNamespace(setUseOpenCL=bool)  # type: ignore[attr-defined]
        importlib.import_module("gym").logger = SimpleNamespace(set_level=bool)  # type: ignore[attr-defined]


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)


def _lazy(path: str, inputs: list[Any], *given: Any, **options: Any) -> Callable[[], Built]:
    return lambda: _made(path, inputs, *given, **options)


_M, _MF, _LO = "df.modules.", "df.multiframe.", "df.loss."
_SPEC, _COEFS = _t(1, 1, 6, 10, 2), _t(1, 6, 4, 6)
_EMB = _t(2, 6, 8)
_DF: dict[str, Callable[[], Built]] = {
    "Conv2dNormAct": _lazy(_M + "Conv2dNormAct", [(_t(1, 2, 6, 8),)], 2, 4, (3, 3), separable=True),
    "ConvTranspose2dNormAct": _lazy(_M + "ConvTranspose2dNormAct", [(_t(1, 2, 6, 8),)], 2, 4, (1, 3), fstride=2),
    "convkxf": lambda: (_get(_M + "convkxf")(2, 4, k=2, f=3), [(_t(1, 2, 6, 8),)]),
    "FreqUpsample": _lazy(_M + "FreqUpsample", [(_t(1, 2, 6, 8),)], 2),
    "Mask": _lazy(_M + "Mask", [(_SPEC, _u(1, 1, 6, 4))], _u(4, 10)),
    "Mask post filter": _lazy(_M + "Mask", [(_SPEC, _u(1, 1, 6, 4))], _u(4, 10), post_filter=True),
    "Mask limit": _lazy(_M + "Mask", [(_SPEC, _u(1, 1, 6, 4), torch.tensor([[[0.1]]]))], _u(4, 10)),
    "ExponentialUnitNorm": _lazy(_M + "ExponentialUnitNorm", [(_t(1, 1, 5, 10, 2),)], 0.9, 10),
    **{
        f"DfOp {method}": _lazy(_M + "DfOp", [(_SPEC, _t(1, 6, 3, 4, 2), _u(1, 6, 1))], 4, 3, 1, method, 10)
        for method in ("real_loop", "real_strided", "real_unfold", "complex_strided")
    },
    "spec_pad": lambda: _call(_M + "spec_pad", (_t(1, 1, 6, 4, 2), 3, 1), dim=-3),
    "GroupedGRU": _lazy(_M + "GroupedGRU", [(_EMB,)], 8, 8, 2, 2),
    "GroupedGRU state": _lazy(_M + "GroupedGRU", [(_EMB, _t(4, 2, 4))], 8, 8, 2, 2, add_outputs=True),
    "SqueezedGRU": _lazy(_M + "SqueezedGRU", [(_EMB,)], 8, 8, 8, linear_groups=2),
    "SqueezedGRU_S": _lazy(_M + "SqueezedGRU_S", [(_EMB,)], 8, 8, 8, linear_groups=2, gru_skip_op=nn.Identity),
    "GroupedLinearEinsum": _lazy(_M + "GroupedLinearEinsum", [(_EMB,)], 8, 8, 2),
    "GroupedLinear": _lazy(_M + "GroupedLinear", [(_EMB,)], 8, 8, 2),
    "LocalSnrTarget": _lazy(
        _M + "LocalSnrTarget", [(_t(1, 1, 8, 10, 2), _t(1, 1, 8, 10, 2))], 20, target_snr_range=[-15, 35]
    ),
    "LocalSnrTarget bins": _lazy(
        _M + "LocalSnrTarget", [(_t(1, 1, 8, 10, 2), _t(1, 1, 8, 10, 2), 6)], 20, target_snr_range=[-10, 30]
    ),
    "local_snr": lambda: _call(_M + "local_snr", (_t(1, 1, 8, 10, 2), _t(1, 1, 8, 10, 2), 3), db=True),
    "DF": _lazy(_MF + "DF", [(_SPEC, _t(1, 3, 6, 4, 2))], 4, 3, 1),
    "DFreal": _lazy(_MF + "DFreal", [(_SPEC, _t(1, 3, 6, 4, 2))], 4, 3, 1),
    "MfWf": _lazy(_MF + "MfWf", [(_SPEC, _t(1, 6, 4, 6), _t(1, 6, 4, 18))], 4, 3, 1),
    "MfMvdr": _lazy(_MF + "MfMvdr", [(_SPEC, _t(1, 6, 4, 6), _t(1, 6, 4, 18))], 4, 3, 1, cholesky_decomp=True),
    "psd": lambda: _call(_MF + "psd", (complex_normal(_t, 1, 6, 4), 3)),
    "compute_corr": lambda: _call(_MF + "compute_corr", (complex_normal(_t, 1, 6, 4), 3)),
    "wg": lambda: _call(_LO + "wg", (complex_normal(_t, 1, 6, 4), complex_normal(_t, 1, 6, 4))),
    "irm": lambda: _call(_LO + "irm", (complex_normal(_t, 1, 6, 4), complex_normal(_t, 1, 6, 4))),
    "Stft": _lazy(_LO + "Stft", [(_t(1, 64),)], 16),
    "MultiResSpecLoss": _lazy(_LO + "MultiResSpecLoss", [(_t(1, 64), _t(1, 64))], [16, 8], 0.5, 1, 1),
    "SpectralLoss": _lazy(_LO + "SpectralLoss", [(_SPEC, _t(1, 1, 6, 10, 2))], 0.6, 1, 1, 2),
    "DfAlphaLoss": _lazy(_LO + "DfAlphaLoss", [(_u(1, 6, 1), _t(1, 6))]),
    "SiSdr": _lazy(_LO + "SiSdr", [(_t(2, 64), _t(2, 64))]),
    "SdrLoss": _lazy(_LO + "SdrLoss", [(_t(2, 64), _t(2, 64))]),
    "SegSdrLoss": _lazy(_LO + "SegSdrLoss", [(_t(2, 64), _t(2, 64))], [16, 8]),
    "LocalSnrLoss": _lazy(_LO + "LocalSnrLoss", [(_t(1, 6, 1), _t(1, 6))]),
    "DfNet 3": lambda: (
        _get("df.deepfilternet3.DfNet")(_u(481, 32), _u(32, 481)),
        [(_t(1, 1, 4, 481, 2), _t(1, 1, 4, 32), _t(1, 1, 4, 96, 2))],
    ),
    "angle": lambda: _using("df.utils.angle", lambda f, x: f.apply(x), (complex_normal(_t, 3, 4),)),
    "as_complex": lambda: _call("df.utils.as_complex", (_t(3, 4, 2),)),
}

_F = "fla.ops."
_B, _T, _H, _K = 1, 8, 2, 4


def _x(*tail: int) -> torch.Tensor:
    return _t(_B, _T, _H, *tail)


def _h(*tail: int) -> torch.Tensor:
    """With the heads before the time."""
    return _t(_B, _H, _T, *tail)


def _fla(path: str, *inputs: Any, **options: Any) -> Callable[[], Built]:
    return lambda: _call(_F + path, inputs, **options)


_QKVX, _QKVH = (_x(_K), _x(_K), _x(_K)), (_h(_K), _h(_K), _h(_K))
_GX, _BX = -_u(_B, _T, _H), _u(_B, _T, _H)
_GXK = -_u(_B, _T, _H, _K)
_FLA: dict[str, Callable[[], Built]] = {
    "delta recurrence": _fla("delta_rule.naive.delta_rule_recurrence", *_QKVH, _u(_B, _H, _T)),
    "delta chunkwise": _fla("delta_rule.naive.delta_rule_chunkwise", *_QKVH, _u(_B, _H, _T), chunk_size=4),
    "delta parallel": _fla("delta_rule.naive.delta_rule_parallel", *_QKVH, _u(_B, _H, _T), BM=4, BN=2),
    "gated delta recurrent": _fla("gated_delta_rule.naive.naive_recurrent_gated_delta_rule", *_QKVX, _BX, _GX),
    "gated delta chunk": _fla("gated_delta_rule.naive.naive_chunk_gated_delta_rule", *_QKVX, _GX, _BX, chunk_size=4),
    "gated delta chunk pad": _fla(
        "gated_delta_rule.naive.naive_chunk_gated_delta_rule", *_QKVX, _GX, _BX, chunk_size=3, output_final_state=True
    ),
    "gla recurrent": _fla("gla.naive.naive_recurrent_gla", *_QKVX, _GXK, output_final_state=True),
    "retention": _fla("retention.naive.naive_retention", *_QKVX),
    "simple gla chunk": _fla("simple_gla.naive.naive_chunk_simple_gla", *_QKVX, _GX, chunk_size=4),
    "simple gla parallel": _fla("simple_gla.naive.naive_parallel_simple_gla", *_QKVX, _GX),
    "linear recurrent": _fla("linear_attn.naive.naive_recurrent_linear_attn", *_QKVX, normalize=True),
    "linear chunk": _fla(
        "linear_attn.naive.naive_chunk_linear_attn", _t(1, 64, 1, 4), _t(1, 64, 1, 4), _t(1, 64, 1, 4)
    ),
    "based parallel": _fla("based.naive.naive_parallel_based", *_QKVX),
    "rebased parallel": _fla("rebased.naive.naive_parallel_rebased", *_QKVX),
    "abc recurrent": _fla("abc.naive.naive_recurrent_abc", *_QKVX, _x(3), -_u(_B, _T, _H, 3)),
    "abc cumsum": _fla("abc.naive.naive_cumsum_abc", *_QKVX, _x(3)),
    "gsa recurrent": _fla("gsa.naive.naive_recurrent_gsa", *_QKVX, _x(3), -_u(_B, _T, _H, 3)),
    "hgrn recurrent": _fla("hgrn.naive.naive_recurrent_hgrn", _t(1, 8, 4), -_u(1, 8, 4), output_final_state=True),
    "attn": _fla("attn.naive.naive_parallel_attn", *_QKVX),
    "attn window": _fla("attn.naive.naive_parallel_attn", *_QKVX, window_size=3, g=_GX),
    "attn decoding": _fla(
        "attn.naive.naive_attn_decoding",
        *(_t(1, 2, _H, _K), _x(_K), _x(_K)),
        cu_seqlens=torch.tensor([0, 3, 8]),
    ),
    "rwkv6 recurrent": _fla("rwkv6.recurrent_naive.naive_recurrent_rwkv6", *_QKVH, -_u(1, 2, 8, 4), _t(2, 4)),
    "rwkv6 chunk": _fla("rwkv6.chunk_naive.naive_chunk_rwkv6", *_QKVH, -_u(1, 2, 8, 4), _t(2, 4), chunk_size=4),
    "ttt": _fla("ttt.naive.chunk_ttt_linear_ref", *_QKVX, _t(_H, _K), _t(_H, _K), _u(_B, _T, _H, 1), mini_batch_size=4),
    "titans": _fla(
        "titans.naive.chunk_titans_linear_ref",
        *_QKVX,
        *(_t(_H, _K), _t(_H, _K), _u(_B, _T, _H, 1), _u(_B, _T, _H, 1), _u(_B, _T, _H, 1)),
        chunk_size=4,
    ),
    "kda recurrent": _fla("kda.naive.naive_recurrent_kda", *_QKVX, _GXK, _BX),
    "kda chunk": _fla("kda.naive.naive_chunk_kda", *_QKVX, _GXK, _BX, chunk_size=4),
    "comba chunk": _fla("comba.naive.naive_chunk_comba", *_QKVX, _x(_K), _GX, _BX, chunk_size=4),
    "path": _fla("path_attn.naive.naive_path_attn", *_QKVX, _x(_K), _BX, _GX, 0.5, chunk_size=4),
    "forgetting": _fla("forgetting_attn.naive.naive_forgetting_attn", *_QKVX, _GX),
    "log linear": _fla("log_linear_attn.naive.naive_log_linear_attn", *_QKVX, _GX, _u(_B, _T, _H, 4)),
    "mesa exact": _fla("mesa_net.naive.naive_mesa_net_exact", *_QKVX, _GX, _u(_H, _K) + 0.5, _BX),
    "mesa CG": _fla("mesa_net.naive.naive_mesa_net_CG", *_QKVX, _GX, _u(_H, _K) + 0.5, _BX, chunk_size=4),
    "stickbreaking": _fla("stickbreaking_attn.naive.naive_stickbreaking_attn", *_QKVX),
    "deltaformer": _fla("deltaformer.naive.naive_deltaformer_attn", *_QKVX, _BX),
    "sinkhorn": _fla("utils.sinkhorn.naive.naive_sinkhorn", _t(2, 4, 4)),
    "gdn2 chunk": _fla("gdn2.naive.naive_chunk_gdn2", *_QKVX, _GXK, _u(1, 8, 2, 4), _u(1, 8, 2, 4), chunk_size=4),
    "dsa indexer": _fla("dsa.naive.naive_dsa_indexer", _x(_K), _t(_B, _T, _K), _x(), topk=3),
    "dsa indexer lengths": _fla(
        "dsa.naive.naive_dsa_indexer", _x(_K), _t(_B, _T, _K), _x(), topk=3, cu_seqlens=torch.tensor([0, 3, 8])
    ),
    "iplr": _fla("generalized_delta_rule.iplr.naive.iplr_recurrence", *_QKVH, _h(_K), _h(_K)),
    "dplr": _fla(
        "generalized_delta_rule.dplr.naive.dplr_chunkwise", *_QKVH, _h(_K), _h(_K), -_u(1, 2, 8, 4), chunk_size=4
    ),
    "delta product": _fla(
        "gated_delta_product.naive.naive_recurrent_gated_delta_product",
        *(_x(_K), _t(1, 16, 2, 4), _t(1, 16, 2, 4), _GX, _u(1, 16, 2), 0.5, torch.tensor([0, 3, 8])),
        num_householder=2,
    ),
    "parallax": _fla("parallax.naive.naive_parallax", _x(_K), _x(_K), _x(_K), _x(_K)),
    "attnres": _fla("attnres.naive.naive_attnres", _t(4), _t(3, 1, 8, 4), _t(4)),
}


def _adapter(name: str, layer: nn.Module, x: torch.Tensor, **options: Any) -> Callable[[], Built]:
    """An adapter of a layer."""

    def build() -> Built:
        made = _get("lycoris.modules." + name)("adapter", layer, 1.0, 4, 1.0, **options)
        return made, [(x,)]

    return build


_LIN, _CONV = partial(nn.Linear, 8, 12), partial(nn.Conv2d, 4, 8, 3)
_IMG, _ROW = _t(1, 4, 8, 8), _t(3, 8)
_LYC: dict[str, Callable[[], Built]] = {}
for _path in ("locon.LoConModule", "loha.LohaModule", "lokr.LokrModule", "full.FullModule", "diag_oft.DiagOFTModule"):
    _short = _path.partition(".")[2]
    _LYC[f"{_short} linear"] = _adapter(_path, _LIN(), _ROW)
    _LYC[f"{_short} conv"] = _adapter(_path, _CONV(), _IMG)
_LYC |= {
    "LoConModule tucker": _adapter("locon.LoConModule", _CONV(), _IMG, use_tucker=True),
    "LoConModule bypass": _adapter("locon.LoConModule", _LIN(), _ROW, bypass_mode=True, dropout=0.1),
    "LoConModule decompose": _adapter("locon.LoConModule", _LIN(), _ROW, weight_decompose=True),
    "LoConModule rank dropout": _adapter("locon.LoConModule", _LIN(), _ROW, rank_dropout=0.3, module_dropout=0.3),
    "LoConModule scalar": _adapter("locon.LoConModule", _LIN(), _ROW, use_scalar=True),
    "LohaModule bypass": _adapter("loha.LohaModule", _LIN(), _ROW, bypass_mode=True),
    "LokrModule both": _adapter("lokr.LokrModule", _LIN(), _ROW, decompose_both=True),
    "LokrModule bypass": _adapter("lokr.LokrModule", _LIN(), _ROW, bypass_mode=True),
    "DiagOFTModule constraint": _adapter("diag_oft.DiagOFTModule", _LIN(), _ROW, constraint=0.1),
    "DyLoraModule": _adapter("dylora.DyLoraModule", _LIN(), _ROW),
    "GLoRAModule": _adapter("glora.GLoRAModule", _LIN(), _ROW),
    "IA3Module": _adapter("ia3.IA3Module", _LIN(), _ROW),
    "max norm": lambda: held(
        _get("lycoris.modules.locon.LoConModule")("adapter", _LIN(), 1.0, 4, 1.0),
        lambda m, x: m.apply_max_norm(0.1, x.device),
        (_ROW,),
    ),
    "max norm loha": lambda: held(
        _get("lycoris.modules.loha.LohaModule")("adapter", _LIN(), 1.0, 4, 1.0),
        lambda m, x: m.apply_max_norm(0.1, x.device),
        (_ROW,),
    ),
    "get_r": lambda: _call("lycoris.functional.diag_oft.get_r", (_t(2, 4, 4),)),
    "get_r constraint": lambda: _call("lycoris.functional.diag_oft.get_r", (_t(2, 4, 4), None, 0.1)),
    "tucker_weight": lambda: _call("lycoris.functional.general.tucker_weight", (_t(4, 3), _t(4, 5), _t(4, 4, 2, 2))),
    "rebuild_tucker": lambda: _call("lycoris.functional.general.rebuild_tucker", (_t(4, 4, 2, 2), _t(4, 3), _t(4, 5))),
    "make_kron": lambda: _call("lycoris.functional.lokr.make_kron", (_t(2, 3), _t(4, 5), 0.5)),
}

_E = "easygraph.nn.convs.hypergraphs."
_MODEL = "easygraph.model.hypergraphs."
_N = _t(5, 4)


def _hypergraph() -> Any:
    return _get("easygraph.classes.hypergraph.Hypergraph")(5, e_list=[[0, 1, 2], [2, 3], [1, 3, 4]])


def _on_graph(path: str, *given: Any, **options: Any) -> Callable[[], Built]:
    return lambda: (_get(path)(*given, **options), [(_N, _hypergraph())])


_EASY: dict[str, Callable[[], Built]] = {
    "HGNNConv": _on_graph(_E + "hgnn_conv.HGNNConv", 4, 6),
    "HGNNConv bn": _on_graph(_E + "hgnn_conv.HGNNConv", 4, 6, use_bn=True, is_last=True),
    "HGNNPConv": _on_graph(_E + "hgnnp_conv.HGNNPConv", 4, 6),
    "HNHNConv": _on_graph(_E + "hnhn_conv.HNHNConv", 4, 6),
    "JHConv": _on_graph(_E + "dhcf_conv.JHConv", 4, 6),
    "UniGCNConv": _on_graph(_E + "unignn_conv.UniGCNConv", 4, 6),
    "UniGATConv": _on_graph(_E + "unignn_conv.UniGATConv", 4, 6),
    "UniSAGEConv": _on_graph(_E + "unignn_conv.UniSAGEConv", 4, 6),
    "UniGINConv": _on_graph(_E + "unignn_conv.UniGINConv", 4, 6, train_eps=True),
    "MLP": _lazy("easygraph.nn.convs.common.MLP", [(_N,)], 4, 6, 2, 2),
    "BPRLoss": _lazy("easygraph.nn.loss.BPRLoss", [(_t(5), _t(5))]),
    "EmbeddingRegularization": _lazy("easygraph.nn.regularization.EmbeddingRegularization", [(_N, _N)]),
    "accuracy": lambda: _call("easygraph.ml_metrics.classification.accuracy", (_i(3, 6), _u(6, 3))),
    "f1_score": lambda: _call("easygraph.ml_metrics.classification.f1_score", (_i(3, 6), _u(6, 3))),
    "smoothing": lambda: held(_hypergraph(), lambda g, x: g.smoothing(x, g.L_HGNN, 0.5), (_N,)),
    "v2v": lambda: held(_hypergraph(), lambda g, x: g.v2v(x, "mean"), (_N,)),
    "v2e softmax": lambda: held(_hypergraph(), lambda g, x: g.v2e(x, "softmax_then_sum"), (_N,)),
    "e2v sum": lambda: held(_hypergraph(), lambda g, x: g.e2v(x, "sum"), (_t(3, 4),)),
}

_R = "mushroom_rl."


class _Features(nn.Module):
    """The network that the others stand on."""

    def __init__(self, input_shape: tuple[int, ...], output_shape: tuple[int, ...], **options: Any) -> None:
        super().__init__()
        del options
        self.layer = nn.Linear(input_shape[-1], output_shape[0])

    def forward(self, state: torch.Tensor, action: torch.Tensor | None = None) -> torch.Tensor:
        """Values, or those of actions."""
        q = torch.relu(self.layer(state.float()))
        return q if action is None else q.gather(1, action.long()).squeeze()


def _dqn(path: str, *inputs: Any, **options: Any) -> Callable[[], Built]:
    return lambda: (
        _get(_R + "algorithms.value.dqn." + path)((4,), (3,), _Features, **({"n_features": 8} | options)),
        [inputs],
    )


def _gaussian(use: Callable[..., Any], *inputs: Any) -> Callable[[], Built]:
    return lambda: held(
        _get(_R + "policy.torch_policy.GaussianTorchPolicy")(_Features, (4,), (2,), std_0=0.5), use, inputs
    )


def _boltzmann(use: Callable[..., Any], *inputs: Any) -> Callable[[], Built]:
    return lambda: held(
        _get(_R + "policy.torch_policy.BoltzmannTorchPolicy")(_Features, (4,), (3,), beta=1.0), use, inputs
    )


_STATE = _t(5, 4)
_SUPPORT = {"use_cuda": False, "n_atoms": 5, "v_min": -1.0, "v_max": 1.0}
_RL: dict[str, Callable[[], Built]] = {
    "QuantileNetwork": _dqn("quantile_dqn.QuantileNetwork", _STATE, n_quantiles=5),
    "QuantileNetwork action": _dqn("quantile_dqn.QuantileNetwork", _STATE, _i(3, 5, 1), True, n_quantiles=5),
    "CategoricalNetwork": _dqn("categorical_dqn.CategoricalNetwork", _STATE, **_SUPPORT),
    "CategoricalNetwork action": _dqn("categorical_dqn.CategoricalNetwork", _STATE, _i(3, 5, 1), True, **_SUPPORT),
    "DuelingNetwork": _dqn("dueling_dqn.DuelingNetwork", _STATE, avg_advantage=True),
    "NoisyNetwork": _dqn("noisy_dqn.NoisyNetwork", _STATE, use_cuda=False),
    "RainbowNetwork": _dqn("rainbow.RainbowNetwork", _STATE, sigma_coeff=0.5, **_SUPPORT),
    "gaussian draw": _gaussian(lambda p, s: p.draw_action_t(s), _STATE),
    "gaussian log_prob": _gaussian(lambda p, s, a: p.log_prob_t(s, a), _STATE, _t(5, 2)),
    "gaussian entropy": _gaussian(lambda p, s: p.entropy_t(s), _STATE),
    "gaussian distribution": _gaussian(lambda p, s: p.distribution_t(s).mean, _STATE),
    "boltzmann draw": _boltzmann(lambda p, s: p.draw_action_t(s), _STATE),
    "boltzmann log_prob": _boltzmann(lambda p, s, a: p.log_prob_t(s, a), _STATE, _i(3, 5, 1)),
    "boltzmann entropy": _boltzmann(lambda p, s: p.entropy_t(s), _STATE),
    "get_weights": lambda: held(
        nn.Linear(3, 2), lambda m, x: m(x) + len(_get(_R + "utils.torch.get_weights")(m.parameters())), (_t(2, 3),)
    ),
    "get_gradient": lambda: _using(_R + "utils.torch.to_float_tensor", lambda f, x: f(x) * 2, (_t(2, 3),)),
    "GaussianRBFTensor": lambda: _using(
        _R + "features.tensors.basis_tensor.GaussianRBFTensor",
        lambda c, x: sum(f.forward(x) for f in c.generate([3, 3], [0.0, 0.0], [1.0, 1.0])),
        (_u(5, 2),),
    ),
    "RandomFourierBasis": lambda: _using(
        _R + "features.tensors.random_fourier_tensor.RandomFourierBasis",
        lambda c, x: c.generate(1.0, 6, 2)[0].forward(x),
        (_u(5, 2),),
    ),
    "CategoricalWrapper": lambda: _using(
        _R + "utils.torch.CategoricalWrapper", lambda c, x, a: c(x).log_prob(a), (_t(5, 3), _i(3, 5, 1))
    ),
    "DiagonalMultivariateGaussian": lambda: _using(
        _R + "utils.torch.DiagonalMultivariateGaussian", lambda c, x, s: c(x, s).log_prob(x), (_t(5, 3), _u(5, 3) + 0.1)
    ),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"df/{name}": build for name, build in _DF.items()},
    **{f"fla/{name}": build for name, build in _FLA.items()},
    **{f"lycoris/{name}": build for name, build in _LYC.items()},
    **{f"easygraph/{name}": build for name, build in _EASY.items()},
    **{f"mushroom_rl/{name}": build for name, build in _RL.items()},
}

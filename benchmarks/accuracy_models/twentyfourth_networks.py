"""Models of mmocr, torchdrug, chatterbox-tts and colbert-ai.

They were chosen after all of the twenty-third group, and written before `check` was run on these packages.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import _Absent, getter, without_packages

_t, _u, _i = random_inputs(89)
_ABSENT = {
    "mmocr": (
        "torchvision",
        "cv2",
        "imgaug",
        "lmdb",
        "skimage",
        "pyclipper",
        "rapidfuzz",
        "pycocotools",
        "terminaltables",
    ),
    "torchdrug": ("torch_scatter", "lmdb", "esm", "jinja2", "torch_cluster"),
    "chatterbox": (
        "lazy_loader",
        "perth",
        "pyloudnorm",
        "s3tokenizer",
        "torchaudio",
        "librosa",
        "pykakasi",
        "spacy_pkuseg",
    ),
    "colbert": ("faiss", "bitarray", "ujson", "git", "flask"),
}
_BARE = (
    *("mmocr", "mmocr.models", "mmocr.datasets", "mmocr.apis"),
    *("torchdrug", "torchdrug.datasets", "torchdrug.tasks"),
    *(
        "chatterbox",
        "chatterbox.models",
        "chatterbox.models.s3gen",
        "chatterbox.models.t3",
        "chatterbox.models.s3tokenizer",
    ),
    *("colbert", "colbert.modeling", "colbert.search", "colbert.indexing"),
)


def _spread(index: torch.Tensor, like: torch.Tensor, dim: int) -> torch.Tensor:
    """An index of places along one dimension, for each element."""
    if index.dim() == like.dim():
        return index.expand_as(like)
    shape = [1] * like.dim()
    shape[dim] = -1
    return index.view(shape).expand_as(like)


def _scatter(reduce: str) -> Callable[..., torch.Tensor]:
    """Stands for the function of torch_scatter that reduces so."""

    def function(
        src: torch.Tensor, index: torch.Tensor, dim: int = -1, out: Any = None, dim_size: int | None = None
    ) -> torch.Tensor:
        del out  # the functions of torch_scatter are given it by place
        shape = list(src.shape)
        shape[dim] = dim_size if dim_size is not None else int(index.max()) + 1 if index.numel() else 0
        return src.new_zeros(shape).scatter_reduce(dim, _spread(index, src, dim), src, reduce, include_self=False)

    return function


def _scatter_best(reduce: str) -> Callable[..., Any]:
    """Stands for the function that gives the largest or smallest of each group, and where it stands."""

    def function(
        src: torch.Tensor, index: torch.Tensor, dim: int = -1, out: Any = None, dim_size: int | None = None
    ) -> Any:
        del out  # the functions of torch_scatter are given it by place
        best = _scatter(reduce)(src, index, dim, None, dim_size)
        shape = [-1 if d == dim % src.dim() else 1 for d in range(src.dim())]
        places = torch.arange(src.size(dim)).view(shape).expand_as(src)
        there = torch.where(src == best.gather(dim, _spread(index, src, dim)), places, -1)
        return best, _scatter("amax")(there, index, dim, None, dim_size)

    return function


def _scatter_log_softmax(
    src: torch.Tensor, index: torch.Tensor, dim: int = -1, dim_size: int | None = None
) -> torch.Tensor:
    """Logarithms of the shares within each group."""
    at = _spread(index, src, dim)
    moved = src - _scatter("amax")(src, index, dim, None, dim_size).gather(dim, at)
    return moved - _scatter("sum")(moved.exp(), index, dim, None, dim_size).log().gather(dim, at)


def _scatter_softmax(
    src: torch.Tensor, index: torch.Tensor, dim: int = -1, dim_size: int | None = None
) -> torch.Tensor:
    """The shares within each group."""
    return _scatter_log_softmax(src, index, dim, dim_size).exp()


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))
    if package == "mmocr":
        # Where transformers is there, mmengine registers an optimizer of it that torch has now under the same name.
        there = sys.modules.get("transformers")
        sys.modules["transformers"] = None  # type: ignore[assignment]
        importlib.import_module("mmengine.optim")
        sys.modules.pop("transformers")
        if there is not None:
            sys.modules["transformers"] = there
        for name in (
            "",
            ".roi_align",
            ".nms",
            ".carafe",
            ".multi_scale_deform_attn",
            ".modulated_deform_conv",
            ".merge_cells",
        ):
            sys.modules.setdefault("mmcv.ops" + name, _Absent("mmcv.ops" + name))
        sys.modules["mmocr"].digit_version = importlib.import_module("mmengine.utils").digit_version  # type: ignore[attr-defined]
    if package == "chatterbox":
        tokens = sys.modules["chatterbox.models.s3tokenizer"]
        tokens.S3_SR, tokens.SPEECH_VOCAB_SIZE, tokens.S3Tokenizer = 16000, 6561, object  # type: ignore[attr-defined]
    if package == "torchdrug":
        scatter = importlib.import_module("torch_scatter")
        for name, reduce in {"add": "sum", "sum": "sum", "mean": "mean"}.items():
            setattr(scatter, f"scatter_{name}", _scatter(reduce))
        scatter.scatter_max = _scatter_best("amax")  # type: ignore[attr-defined]
        scatter.scatter_min = _scatter_best("amin")  # type: ignore[attr-defined]
        composite = importlib.import_module("torch_scatter.composite")
        for module in (scatter, composite):
            module.scatter_log_softmax = _scatter_log_softmax  # type: ignore[attr-defined]
            module.scatter_softmax = _scatter_softmax  # type: ignore[attr-defined]
        sys.modules.setdefault("torchdrug.data.rdkit.draw", _Absent("torchdrug.data.rdkit.draw"))
        importlib.import_module("torchdrug.data")


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_MC, _MR, _MD = "mmocr.models.common.", "mmocr.models.textrecog.", "mmocr.models.textdet."
_MK = "mmocr.models.kie."
_PRED, _GT = _u(2, 8, 8), (_u(2, 8, 8) > 0.5).float()


def _dictionary(**options: Any) -> Any:
    """The characters that are told apart."""
    kind = _get(_MC + "dictionary.dictionary.Dictionary")
    file = Path(sys.modules["mmocr"].__path__[0]) / ".mim" / "dicts" / "lower_english_digits.txt"
    return kind(str(file), **options)


def _full() -> Any:
    """Characters, and what stands for the beginning, the end and nothing."""
    return _dictionary(with_start=True, with_end=True, same_start_end=True, with_padding=True, with_unknown=True)


def _texts() -> list[Any]:
    """Pictures of words, and what stands in them."""
    kind, label = _get("mmocr.structures.TextRecogDataSample"), importlib.import_module("mmengine.structures").LabelData
    made = []
    for word, ratio in (("abc", 1.0), ("hello", 0.8)):
        sample = kind()
        sample.gt_text = label(item=word)
        sample.set_metainfo({"valid_ratio": ratio})
        made.append(sample)
    return made


def _decoder(path: str, inputs: Callable[[], tuple[Any, ...]], training: bool, *given: Any, **options: Any) -> Built:
    """A decoder, while it is trained or used."""
    made = _get(_MR + "decoders." + path)(*given, dictionary=_full(), **options)
    if training:
        texts = _get(_MR + "module_losses.CEModuleLoss")(_full(), max_seq_len=6).get_targets(_texts())
        return held(made.train(), lambda d, *x: d.forward_train(*x, texts), inputs())
    return held(made.eval(), lambda d, *x: d.forward_test(*x, _texts()), inputs())


def _decoders() -> dict[str, Callable[[], Built]]:
    """The decoders, trained and used."""
    specs: dict[str, tuple[Callable[[], tuple[Any, ...]], dict[str, Any]]] = {
        "aster_decoder.ASTERDecoder": (
            lambda: (_t(2, 5, 16), _t(2, 5, 16)),
            {"in_channels": 16, "emb_dims": 16, "attn_dims": 16, "hidden_size": 16, "max_seq_len": 6},
        ),
        "nrtr_decoder.NRTRDecoder": (
            lambda: (_t(2, 16, 1, 5), _t(2, 5, 16)),
            {
                "n_layers": 1,
                "d_embedding": 16,
                "n_head": 2,
                "d_k": 8,
                "d_v": 8,
                "d_model": 16,
                "d_inner": 16,
                "max_seq_len": 6,
            },
        ),
        "position_attention_decoder.PositionAttentionDecoder": (
            lambda: (_t(2, 16, 4, 5), _t(2, 16, 4, 5)),
            {"rnn_layers": 1, "dim_input": 16, "dim_model": 16, "max_seq_len": 6},
        ),
        "sar_decoder.ParallelSARDecoder": (
            lambda: (_t(2, 16, 4, 5), _t(2, 16)),
            {"d_model": 16, "d_enc": 16, "d_k": 8, "max_seq_len": 6},
        ),
        "sar_decoder.SequentialSARDecoder": (
            lambda: (_t(2, 16, 4, 5), _t(2, 16)),
            {"d_model": 16, "d_enc": 16, "d_k": 8, "max_seq_len": 6},
        ),
        "sequence_attention_decoder.SequenceAttentionDecoder": (
            lambda: (_t(2, 16, 4, 5), _t(2, 16, 4, 5)),
            {"rnn_layers": 1, "dim_input": 16, "dim_model": 16, "max_seq_len": 6},
        ),
        "master_decoder.MasterDecoder": (
            lambda: (_t(2, 16, 2, 5), None),
            {"n_layers": 1, "n_head": 2, "d_model": 16, "feat_size": 10, "d_inner": 16, "max_seq_len": 6},
        ),
    }
    return {
        f"{path.rpartition('.')[2]} {'train' if training else 'test'}": (
            lambda path=path, training=training, inputs=inputs, options=options: _decoder(
                path, inputs, training, **options
            )
        )
        for path, (inputs, options) in specs.items()
        for training in ((True,) if "Sequence" in path else (True, False))
    }


_MMOCR: dict[str, Callable[[], Built]] = {
    "BasicConvBlock": lambda: _made(_MC + "backbones.unet.BasicConvBlock", [(_t(2, 4, 8, 8),)], 4, 6),
    "UpConvBlock": lambda: held(
        _get(_MC + "backbones.unet.UpConvBlock")(_get(_MC + "backbones.unet.BasicConvBlock"), 8, 4, 4),
        lambda m, s, x: m(s, x),
        (_t(2, 4, 8, 8), _t(2, 8, 4, 4)),
    ),
    "DeconvModule": lambda: _made(_MC + "backbones.unet.DeconvModule", [(_t(2, 4, 8, 8),)], 4, 6),
    "UNet": lambda: _made(
        _MC + "backbones.unet.UNet",
        [(_t(1, 3, 16, 16),)],
        base_channels=4,
        num_stages=3,
        strides=(1, 1, 1),
        enc_num_convs=(2, 2, 2),
        dec_num_convs=(2, 2),
        downsamples=(True, True),
        enc_dilations=(1, 1, 1),
        dec_dilations=(1, 1),
    ),
    "TFEncoderLayer": lambda: _made(
        _MC + "layers.transformer_layers.TFEncoderLayer", [(_t(2, 5, 16),)], 16, 16, 2, 8, 8
    ),
    "TFDecoderLayer": lambda: _made(
        _MC + "layers.transformer_layers.TFDecoderLayer", [(_t(2, 5, 16), _t(2, 4, 16))], 16, 16, 2, 8, 8
    ),
    **{
        name: (lambda name=name: _made(_MC + "losses." + name, [(_PRED, _GT, torch.ones(2, 8, 8))]))
        for name in (
            *("MaskedBalancedBCELoss", "MaskedBCELoss", "MaskedBCEWithLogitsLoss", "MaskedBalancedBCEWithLogitsLoss"),
            *("MaskedDiceLoss", "MaskedSquareDiceLoss", "MaskedSmoothL1Loss"),
        )
    },
    "MaskedBalancedBCELoss none": lambda: _made(
        _MC + "losses.MaskedBalancedBCELoss", [(_PRED, _GT * 0)], fallback_negative_num=3
    ),
    "MultiHeadAttention": lambda: held(
        _get(_MC + "modules.MultiHeadAttention")(2, 16, 8, 8),
        lambda m, x, mask: m(x, x, x, mask),
        (_t(2, 5, 16), torch.ones(2, 5, 5)),
    ),
    "PositionalEncoding": lambda: _made(_MC + "modules.PositionalEncoding", [(_t(2, 5, 16),)], 16, 20),
    "AvgPool2d": lambda: _made(_MC + "plugins.AvgPool2d", [(_t(2, 4, 6, 6),)], 2),
    "ABIEncoder": lambda: held(
        _get(_MR + "encoders.ABIEncoder")(1, 2, 16, 16, 0.1, 20), lambda m, x: m(x, None), (_t(2, 16, 2, 5),)
    ),
    "ASTEREncoder": lambda: _made(_MR + "encoders.ASTEREncoder", [(_t(2, 16, 1, 5),)], 16),
    "ChannelReductionEncoder": lambda: _made(_MR + "encoders.ChannelReductionEncoder", [(_t(2, 16, 2, 5),)], 16, 8),
    "NRTREncoder": lambda: held(
        _get(_MR + "encoders.NRTREncoder")(1, 2, 8, 8, 16, 16), lambda m, x: m(x, _texts()), (_t(2, 16, 2, 5),)
    ),
    "SAREncoder": lambda: held(
        _get(_MR + "encoders.SAREncoder")(d_model=16, d_enc=16), lambda m, x: m(x, _texts()), (_t(2, 16, 4, 5),)
    ),
    "SATRNEncoder": lambda: held(
        _get(_MR + "encoders.SATRNEncoder")(1, 2, 8, 8, 16, 20, 16), lambda m, x: m(x, _texts()), (_t(2, 16, 4, 5),)
    ),
    "SVTREncoder": lambda: _made(
        _MR + "encoders.SVTREncoder",
        [(_t(2, 3, 32, 32),)],
        img_size=[32, 32],
        embed_dims=[16, 16, 16],
        depth=[1, 1, 1],
        num_heads=[1, 1, 2],
        mixer_types=["Local", "Local", "Global"],
        out_channels=16,
        max_seq_len=8,
    ),
    "BasicBlock": lambda: _made(_MR + "layers.BasicBlock", [(_t(2, 4, 6, 6),)], 4, 4),
    "DotProductAttentionLayer": lambda: _made(
        _MR + "layers.DotProductAttentionLayer",
        [(_t(2, 16, 3), _t(2, 16, 5), _t(2, 16, 5), torch.ones(2, 5).bool())],
        16,
    ),
    "BidirectionalLSTM": lambda: _made(_MR + "layers.BidirectionalLSTM", [(_t(5, 2, 4),)], 4, 6, 3),
    "PositionAwareLayer": lambda: _made(_MR + "layers.PositionAwareLayer", [(_t(2, 8, 3, 4),)], 8),
    "RobustScannerFusionLayer": lambda: _made(_MR + "layers.RobustScannerFusionLayer", [(_t(2, 5, 8), _t(2, 5, 8))], 8),
    "SATRNEncoderLayer": lambda: held(
        _get(_MR + "layers.SATRNEncoderLayer")(16, 16, 2, 8, 8), lambda m, x: m(x, 2, 3), (_t(2, 6, 16),)
    ),
    "Adaptive2DPositionalEncoding": lambda: _made(
        _MR + "layers.Adaptive2DPositionalEncoding", [(_t(2, 16, 3, 4),)], 16, 10, 10
    ),
    "MiniVGG": lambda: _made(_MR + "backbones.MiniVGG", [(_t(1, 3, 32, 32),)]),
    "NRTRModalityTransform": lambda: _made(_MR + "backbones.NRTRModalityTransform", [(_t(1, 3, 32, 32),)]),
    "ShallowCNN": lambda: _made(_MR + "backbones.ShallowCNN", [(_t(1, 1, 16, 16),)], hidden_dim=16),
    "ResNetABI": lambda: _made(
        _MR + "backbones.ResNetABI",
        [(_t(1, 3, 16, 16),)],
        stem_channels=4,
        base_channels=4,
        arch_settings=[1, 1],
        strides=[2, 1],
    ),
    "ResNet31OCR": lambda: _made(
        _MR + "backbones.ResNet31OCR", [(_t(1, 3, 32, 32),)], layers=[1, 1, 1, 1], channels=[8, 8, 8, 8, 8, 8, 8]
    ),
    "GCAModule": lambda: _made(_MR + "plugins.common.GCAModule", [(_t(2, 8, 4, 4),)], 8, 0.5, 2),
    "GCAModule concat": lambda: _made(
        _MR + "plugins.common.GCAModule", [(_t(2, 8, 4, 4),)], 8, 0.5, 2, fusion_type="channel_concat"
    ),
    "STN": lambda: _made(
        _MR + "preprocessors.STN", [(_t(2, 3, 32, 64),)], 3, output_image_size=(8, 16), num_control_points=6
    ),
    **_decoders(),
    "CRNNDecoder": lambda: held(
        _get(_MR + "decoders.CRNNDecoder")(16, dictionary=_dictionary(with_padding=True)),
        lambda d, x: d.forward_train(x),
        (_t(2, 16, 1, 5),),
    ),
    "CRNNDecoder rnn": lambda: held(
        _get(_MR + "decoders.CRNNDecoder")(16, dictionary=_dictionary(with_padding=True), rnn_flag=True),
        lambda d, x: d.forward_test(x),
        (_t(2, 16, 1, 5),),
    ),
    "SVTRDecoder": lambda: held(
        _get(_MR + "decoders.SVTRDecoder")(16, dictionary=_dictionary(with_padding=True)),
        lambda d, x: d.forward_train(out_enc=x),
        (_t(2, 16, 1, 5),),
    ),
    "ABIVisionDecoder": lambda: held(
        _get(_MR + "decoders.ABIVisionDecoder")(_full(), 16, 8, 8, 32, max_seq_len=6),
        lambda d, x: d.forward_train(None, x),
        (_t(2, 16, 8, 32),),
    ),
    "ABILanguageDecoder": lambda: held(
        _get(_MR + "decoders.ABILanguageDecoder")(_full(), 16, 2, 16, 1, max_seq_len=6),
        lambda d, x: d.forward_train(None, x),
        (_t(2, 6, 39),),
    ),
    "CEModuleLoss": lambda: held(
        _get(_MR + "module_losses.CEModuleLoss")(_full(), max_seq_len=6),
        lambda m, x: m(x, m.get_targets(_texts())),
        (_t(2, 6, 39),),
    ),
    "CEModuleLoss flatten": lambda: held(
        _get(_MR + "module_losses.CEModuleLoss")(
            _full(), max_seq_len=6, flatten=True, reduction="mean", ignore_first_char=True
        ),
        lambda m, x: m(x, m.get_targets(_texts())),
        (_t(2, 6, 39),),
    ),
    "CTCModuleLoss": lambda: held(
        _get(_MR + "module_losses.CTCModuleLoss")(_dictionary(with_padding=True)),
        lambda m, x: m(x, m.get_targets(_texts())),
        (_t(2, 12, 37),),
    ),
    "AttentionPostprocessor": lambda: held(
        _get(_MR + "postprocessors.AttentionPostprocessor")(_full()),
        lambda m, x: m(x.softmax(-1), _texts()),
        (_t(2, 6, 39),),
    ),
    "CTCPostProcessor": lambda: held(
        _get(_MR + "postprocessors.CTCPostProcessor")(_dictionary(with_padding=True)),
        lambda m, x: m(x.softmax(-1), _texts()),
        (_t(2, 12, 37),),
    ),
    "FPEM": lambda: _made(
        _MD + "necks.fpem_ffm.FPEM", [(_t(1, 8, 16, 16), _t(1, 8, 8, 8), _t(1, 8, 4, 4), _t(1, 8, 2, 2))], 8
    ),
    "FPEM_FFM": lambda: _made(
        _MD + "necks.FPEM_FFM", [([_t(1, 8, 16, 16), _t(1, 8, 8, 8), _t(1, 8, 4, 4), _t(1, 8, 2, 2)],)], [8, 8, 8, 8], 8
    ),
    "FPNC": lambda: _made(
        _MD + "necks.FPNC",
        [([_t(1, 8, 16, 16), _t(1, 8, 8, 8), _t(1, 8, 4, 4), _t(1, 8, 2, 2)],)],
        [8, 8, 8, 8],
        8,
        8,
        asf_cfg={"attention_type": "ScaleChannelSpatial"},
    ),
    "FPN_UNet": lambda: _made(
        _MD + "necks.FPN_UNet",
        [([_t(1, 32, 32, 32), _t(1, 32, 16, 16), _t(1, 32, 8, 8), _t(1, 32, 4, 4)],)],
        [32, 32, 32, 32],
        8,
    ),
    "FPNF": lambda: _made(
        _MD + "necks.FPNF", [([_t(1, 8, 16, 16), _t(1, 8, 8, 8), _t(1, 8, 4, 4), _t(1, 8, 2, 2)],)], [8, 8, 8, 8], 256
    ),
    "PANEmbLossV1": lambda: _made(
        _MD + "module_losses.pan_module_loss.PANEmbLossV1",
        [(_t(2, 4, 8, 8), _i(3, 2, 8, 8), _i(3, 2, 8, 8), torch.ones(2, 8, 8))],
    ),
    "GraphConv": lambda: _made(_MD + "heads.drrg_head.GraphConv", [(_t(2, 5, 8), _u(2, 5, 5))], 8, 6),
    "GCN": lambda: _made(_MD + "heads.drrg_head.GCN", [(_t(2, 5, 8), _u(2, 5, 5), _i(5, 2, 3))], 8),
    "GNNLayer": lambda: held(
        _get(_MK + "heads.sdmgr_head.GNNLayer")(8, 6), lambda m, n, e: m(n, e, [2, 3]), (_t(5, 8), _t(13, 6))
    ),
    "FusionBlock": lambda: held(
        _get(_MK + "heads.sdmgr_head.FusionBlock")([8, 6], 8, 16, chunks=2, rank=3),
        lambda m, a, b: m([a, b]),
        (_t(5, 8), _t(5, 6)),
    ),
    "bbox2poly": lambda: _call("mmocr.utils.bbox_utils.bbox2poly", (_t(4),)),
    "bezier2poly": lambda: _call("mmocr.utils.bezier_utils.bezier2poly", (_u(16).numpy(),)),
    "rescale_polygon": lambda: _call("mmocr.utils.polygon_utils.rescale_polygon", (_u(8).numpy(), (0.5, 0.5))),
    "compute_hmean": lambda: _call("mmocr.evaluation.functional.hmean.compute_hmean", (3, 2, 5, 4)),
}

_DL, _DF, _DM, _DN = (
    "torchdrug.layers.",
    "torchdrug.layers.functional.functional.",
    "torchdrug.metrics.metric.",
    "torchdrug.models.",
)
_EDGES = torch.tensor([[0, 1, 0], [1, 2, 1], [2, 0, 0], [2, 3, 1], [3, 0, 1]])
_SIZE = torch.tensor([3, 2, 4])
_H, _TAIL, _R = _i(5, 6), _i(5, 6), _i(3, 6)


def _graph() -> Any:
    """A graph with features."""
    return _get("torchdrug.data.graph.Graph")(
        _EDGES, num_node=4, num_relation=2, node_feature=_t(4, 6), edge_feature=_t(5, 3)
    )


def _packed() -> Any:
    """Two graphs in one."""
    kind = _get("torchdrug.data.graph.Graph")
    return kind.pack([_graph(), _graph()])


def _layer(path: str, *given: Any, **options: Any) -> Built:
    """A layer on two graphs."""
    made = _get(_DL + path)(*given, **options)
    graph = _packed()
    return held(made, lambda m, x: m(graph, x), (_t(8, 6),))


def _scored(name: str, **options: Any) -> Built:
    """A score of triples by embeddings."""
    made = _get(_DN + "embedding." + name)(5, 3, 8, **options)
    return held(made, lambda m, h, t, r: m(None, h, t, r), (_H, _TAIL, _R))


def _graphed(use: Callable[..., Any], *inputs: Any, packed: bool = False) -> Built:
    """A use of a graph."""
    return held(_packed() if packed else _graph(), use, *inputs)


_TORCHDRUG: dict[str, Callable[[], Built]] = {
    "ProteinResNetBlock": lambda: _made(_DL + "block.ProteinResNetBlock", [(_t(2, 5, 8), torch.ones(2, 5, 1))], 8, 8),
    "SelfAttentionBlock": lambda: _made(_DL + "block.SelfAttentionBlock", [(_t(2, 5, 8), torch.ones(2, 5))], 8, 2),
    "ProteinBERTBlock": lambda: _made(_DL + "block.ProteinBERTBlock", [(_t(2, 5, 8), torch.ones(2, 5))], 8, 16, 2),
    "MultiLayerPerceptron": lambda: _made(
        _DL + "common.MultiLayerPerceptron", [(_t(4, 6),)], 6, [6, 3], short_cut=True, batch_norm=True, dropout=0.1
    ),
    "GaussianSmearing": lambda: _made(_DL + "common.GaussianSmearing", [(_t(4, 3), _t(4, 3))]),
    "PairNorm": lambda: _layer("common.PairNorm"),
    "InstanceNorm": lambda: _layer("common.InstanceNorm", 6, affine=True),
    "MutualInformation": lambda: _made(_DL + "common.MutualInformation", [(_t(4, 6), _t(4, 6))], 6),
    "SinusoidalPositionEmbedding": lambda: _made(_DL + "common.SinusoidalPositionEmbedding", [(_t(2, 5, 8),)], 8),
    "GraphConv": lambda: _layer("conv.GraphConv", 6, 4, edge_input_dim=3),
    "GraphConv plain": lambda: _layer("conv.GraphConv", 6, 4),
    "GraphAttentionConv": lambda: _layer("conv.GraphAttentionConv", 6, 4, edge_input_dim=3, num_head=2),
    "GraphIsomorphismConv": lambda: _layer("conv.GraphIsomorphismConv", 6, 4, edge_input_dim=3, hidden_dims=[5]),
    "RelationalGraphConv": lambda: _layer("conv.RelationalGraphConv", 6, 4, 2, edge_input_dim=3),
    "NeuralFingerprintConv": lambda: _layer("conv.NeuralFingerprintConv", 6, 4, edge_input_dim=3),
    "MessagePassing": lambda: _layer("conv.MessagePassing", 6, 3, [5]),
    "ChebyshevConv": lambda: _layer("conv.ChebyshevConv", 6, 4, k=2),
    "IndependentGaussian": lambda: _made(
        _DL + "distribution.IndependentGaussian", [(_t(4, 3),)], torch.zeros(3), torch.ones(3)
    ),
    "IndependentGaussian sample": lambda: held(
        _get(_DL + "distribution.IndependentGaussian")(torch.zeros(3), torch.ones(3)), lambda m: m.sample(4), ()
    ),
    "ConditionalFlow": lambda: _made(_DL + "flow.ConditionalFlow", [(_t(4, 3), _t(4, 5))], 3, 5, [8]),
    "ConditionalFlow reverse": lambda: held(
        _get(_DL + "flow.ConditionalFlow")(3, 5, [8]), lambda m, x, c: m.reverse(x, c), (_t(4, 3), _t(4, 5))
    ),
    **{
        f"readout {name}": (lambda name=name, given=given: _layer("readout." + name, *given))
        for name, given in {
            "MeanReadout": (),
            "SumReadout": (),
            "MaxReadout": (),
            "AttentionReadout": (6,),
            "Softmax": (),
            "Set2Set": (6,),
        }.items()
    },
    "DiffPool": lambda: _layer(
        "pool.DiffPool", 6, 2, _get(_DL + "conv.GraphConv")(6, 6), _get(_DL + "conv.GraphConv")(6, 2)
    ),
    "MinCutPool": lambda: _layer(
        "pool.MinCutPool", 6, 2, _get(_DL + "conv.GraphConv")(6, 6), _get(_DL + "conv.GraphConv")(6, 2)
    ),
    "NodeSampler": lambda: held(_get(_DL + "sampler.NodeSampler")(ratio=0.5), lambda m: m(_graph()).num_node, ()),
    "EdgeSampler": lambda: held(_get(_DL + "sampler.EdgeSampler")(budget=3), lambda m: m(_graph()).num_edge, ()),
    "multinomial": lambda: _call(_DF + "multinomial", (_u(3, 5), 2)),
    "masked_mean": lambda: _call(_DF + "masked_mean", (_t(3, 5), _u(3, 5) > 0.5)),
    "mean_with_nan": lambda: _call(_DF + "mean_with_nan", (torch.where(_u(3, 5) > 0.5, _t(3, 5), float("nan")), 1)),
    "shifted_softplus": lambda: _call(_DF + "shifted_softplus", (_t(3),)),
    "multi_slice": lambda: _call(_DF + "multi_slice", (torch.tensor([0, 3]), torch.tensor([2, 5]))),
    "multi_slice_mask": lambda: _call(_DF + "multi_slice_mask", (torch.tensor([0, 3]), torch.tensor([2, 5]), 6)),
    "as_mask": lambda: _call(_DF + "as_mask", (torch.tensor([0, 3]), 6)),
    "variadic_sum": lambda: _call(_DF + "variadic_sum", (_t(9, 2), _SIZE)),
    "variadic_mean": lambda: _call(_DF + "variadic_mean", (_t(9, 2), _SIZE)),
    "variadic_max": lambda: _call(_DF + "variadic_max", (_t(9, 2), _SIZE)),
    "variadic_log_softmax": lambda: _call(_DF + "variadic_log_softmax", (_t(9), _SIZE)),
    "variadic_softmax": lambda: _call(_DF + "variadic_softmax", (_t(9), _SIZE)),
    "variadic_cross_entropy": lambda: _call(_DF + "variadic_cross_entropy", (_t(9), torch.tensor([0, 1, 2]), _SIZE)),
    "variadic_topk": lambda: _call(_DF + "variadic_topk", (_t(9), _SIZE, 2)),
    "variadic_topk k": lambda: _call(_DF + "variadic_topk", (_t(9), _SIZE, torch.tensor([1, 2, 3]))),
    "variadic_sort": lambda: _call(_DF + "variadic_sort", (_t(9), _SIZE)),
    "variadic_arange": lambda: _call(_DF + "variadic_arange", (_SIZE,)),
    "variadic_randperm": lambda: _call(_DF + "variadic_randperm", (_SIZE,)),
    "variadic_sample": lambda: _call(_DF + "variadic_sample", (_t(9), _SIZE, 2)),
    "variadic_meshgrid": lambda: _call(_DF + "variadic_meshgrid", (_t(9), _SIZE, _t(6), torch.tensor([1, 2, 3]))),
    "variadic_to_padded": lambda: _call(_DF + "variadic_to_padded", (_t(9, 2), _SIZE)),
    "padded_to_variadic": lambda: _call(_DF + "padded_to_variadic", (_t(3, 4, 2), _SIZE)),
    "one_hot": lambda: _call(_DF + "one_hot", (_i(4, 3), 4)),
    "clipped_policy_gradient_objective": lambda: _call(
        _DF + "clipped_policy_gradient_objective", (_t(4), _t(4), _t(4))
    ),
    "policy_gradient_objective": lambda: _call(_DF + "policy_gradient_objective", (_t(4), _t(4))),
    **{
        f"{name}_score": (
            lambda name=name, width=width: _call(
                _DL + f"functional.embedding.{name}_score", (_t(5, 8), _t(3, width), _H, _TAIL, _R)
            )
        )
        for name, width in {"transe": 8, "distmult": 8, "complex": 8, "simple": 8, "rotate": 4}.items()
    },
    **{
        f"model {name}": (lambda name=name: _scored(name))
        for name in ("TransE", "DistMult", "ComplEx", "RotatE", "SimplE")
    },
    "model GCN": lambda: held(
        _get(_DN + "gcn.GraphConvolutionalNetwork")(6, [5, 4], 3, concat_hidden=True),
        lambda m, x: m(_packed(), x),
        (_t(8, 6),),
    ),
    "model RGCN": lambda: held(
        _get(_DN + "gcn.RelationalGraphConvolutionalNetwork")(6, [6, 6], 2, short_cut=True),
        lambda m, x: m(_packed(), x),
        (_t(8, 6),),
    ),
    "model GIN": lambda: held(
        _get(_DN + "gin.GraphIsomorphismNetwork")(6, [5, 4], 3, readout="mean"),
        lambda m, x: m(_packed(), x),
        (_t(8, 6),),
    ),
    "area_under_roc": lambda: _call(_DM + "area_under_roc", (_u(8), _i(2, 8))),
    "area_under_prc": lambda: _call(_DM + "area_under_prc", (_u(8), _i(2, 8))),
    "r2": lambda: _call(_DM + "r2", (_t(8), _t(8))),
    "variadic_area_under_roc": lambda: _call(_DM + "variadic_area_under_roc", (_u(9), _i(2, 9), _SIZE)),
    "variadic_area_under_prc": lambda: _call(_DM + "variadic_area_under_prc", (_u(9), _i(2, 9), _SIZE)),
    "f1_max": lambda: _call(_DM + "f1_max", (_u(4, 5), _i(2, 4, 5))),
    "accuracy": lambda: _call(_DM + "accuracy", (_t(4, 5), _i(5, 4))),
    "variadic_accuracy": lambda: _call(_DM + "variadic_accuracy", (_t(9), torch.tensor([0, 1, 2]), _SIZE)),
    "variadic_top_precision": lambda: _call(
        _DM + "variadic_top_precision", (_u(9), _i(2, 9), _SIZE, torch.tensor([1, 2, 2]))
    ),
    "matthews_corrcoef": lambda: _call(_DM + "matthews_corrcoef", (_t(6, 5), _i(5, 6))),
    "pearsonr": lambda: _call(_DM + "pearsonr", (_t(8), _t(8))),
    "spearmanr": lambda: _call(_DM + "spearmanr", (_t(8), _t(8))),
    "detach": lambda: _call("torchdrug.utils.torch.detach", ({"a": _t(3), "b": [_t(2)]},)),
    "clone": lambda: _call("torchdrug.utils.torch.clone", ({"a": _t(3), "b": [_t(2)]},)),
    "mean": lambda: _call("torchdrug.utils.torch.mean", ({"a": _t(3), "b": [_t(2)]},)),
    "cat": lambda: _call("torchdrug.utils.torch.cat", ([{"a": _t(3)}, {"a": _t(3)}],)),
    "stack": lambda: _call("torchdrug.utils.torch.stack", ([{"a": _t(3)}, {"a": _t(3)}],)),
    "Graph": lambda: _using("torchdrug.data.graph.Graph", lambda kind, e: kind(e).num_edge, (_EDGES[:, :2],)),
    "Graph.from_dense": lambda: _using(
        "torchdrug.data.graph.Graph", lambda kind, a: kind.from_dense(a).num_node, ((_u(4, 4) > 0.5).float(),)
    ),
    "Graph.match": lambda: _graphed(lambda g, p: g.match(p), (torch.tensor([[0, -1, -1], [1, 2, 1]]),)),
    "Graph.node_mask": lambda: _graphed(lambda g, i: g.node_mask(i, compact=True).num_node, (torch.tensor([0, 2, 3]),)),
    "Graph.edge_mask": lambda: _graphed(
        lambda g, i: g.edge_mask(i).num_edge, (torch.tensor([True, False, True, True, False]),)
    ),
    "Graph.subgraph": lambda: _graphed(lambda g, i: g.subgraph(i).num_node, (torch.tensor([0, 2, 3]),)),
    "Graph.connected_components": lambda: _graphed(lambda g: g.connected_components()[1], (), packed=True),
    "Graph.full": lambda: _graphed(lambda g: g.full().num_edge, ()),
    "Graph.directed": lambda: _graphed(lambda g: g.directed().num_edge, ()),
    "Graph.undirected": lambda: _graphed(lambda g: g.undirected(add_inverse=True).num_edge, ()),
    "Graph.line_graph": lambda: _graphed(lambda g: g.line_graph().num_node, ()),
    "PackedGraph.unpack": lambda: _graphed(lambda g: len(g.unpack()), (), packed=True),
    "PackedGraph.repeat": lambda: _graphed(lambda g: g.repeat(2).num_node, (), packed=True),
    "PackedGraph.graph_mask": lambda: _graphed(
        lambda g, i: g.graph_mask(i, compact=True).num_node, (torch.tensor([1]),), packed=True
    ),
    "PackedGraph.node_mask": lambda: _graphed(
        lambda g, i: g.node_mask(i).num_edge, (torch.tensor([1, 5, 6]),), packed=True
    ),
    "PackedGraph.line_graph": lambda: _graphed(lambda g: g.line_graph().num_node, (), packed=True),
    "Dictionary": lambda: _using(
        "torchdrug.data.dictionary.Dictionary",
        lambda kind, k, v: kind(k, v)[k[:2]],
        (torch.tensor([[0, 1], [2, 3], [4, 0]]), torch.tensor([5, 6, 7])),
    ),
}

_CS, _CT = "chatterbox.models.s3gen.", "chatterbox.models.s3gen.transformer."
_C3, _CMA, _CV = "chatterbox.models.t3.", "chatterbox.models.s3gen.matcha.", "chatterbox.models.voice_encoder."


def _attention(kind: str, *given: Any) -> Built:
    """An attention over itself."""
    made = _get(_CT + "attention." + kind)(2, 16, 0.1)
    return held(
        made, lambda m, x, mask, *rest: m(x, x, x, mask, *rest), (_t(2, 5, 16), torch.ones(2, 1, 5).bool(), *given)
    )


def _subsampled(kind: str, width: int = 20) -> Built:
    """Shorter sequences."""
    encoding = _get(_CT + "embedding.RelPositionalEncoding")(16, 0.1)
    made = _get(_CT + "subsampling." + kind)(width, 16, 0.1, encoding)
    return held(made, lambda m, x, mask: m(x, mask), (_t(2, 30, width), torch.ones(2, 1, 30).bool()))


def _position(kind: str, *given: Any) -> Built:
    """Positions that are added to a sequence."""
    made = _get(_CT + "embedding." + kind)(16, 0.1)
    return held(made, lambda m, x, *rest: m(x, *rest), (_t(2, 5, 16), *given))


def _cond() -> Any:
    """What a voice is like."""
    return _get(_C3 + "modules.cond_enc.T3Cond")(
        speaker_emb=_t(2, 256),
        cond_prompt_speech_tokens=_i(9, 2, 6),
        cond_prompt_speech_emb=_t(2, 6, 1024),
        emotion_adv=torch.full((2, 1, 1), 0.5),
    )


def _flow(kind: str) -> Any:
    """A small flow that is matched."""
    decoder = _get(_CS + "decoder.ConditionalDecoder")(16, 4, True, [8], 0.0, 4, 1, 1, 2)
    return _get(_CS + "flow_matching." + kind)(12, _get(_CS + "configs.CFM_PARAMS"), spk_emb_dim=4, estimator=decoder)


_CHATTERBOX: dict[str, Callable[[], Built]] = {
    "mask_to_bias": lambda: _call(_CS + "decoder.mask_to_bias", (torch.ones(2, 5).bool(), torch.float32)),
    "CausalConv1d": lambda: _made(_CS + "decoder.CausalConv1d", [(_t(2, 4, 10),)], 4, 6, 3),
    "CausalBlock1D": lambda: _made(_CS + "decoder.CausalBlock1D", [(_t(2, 4, 10), torch.ones(2, 1, 10))], 4, 8),
    "CausalResnetBlock1D": lambda: _made(
        _CS + "decoder.CausalResnetBlock1D", [(_t(2, 8, 10), torch.ones(2, 1, 10), _t(2, 6))], 8, 8, 6
    ),
    "ConditionalDecoder": lambda: _made(
        _CS + "decoder.ConditionalDecoder",
        [(_t(2, 4, 6), torch.ones(2, 1, 6), _t(2, 4, 6), _u(2), _t(2, 4), _t(2, 4, 6))],
        16,
        4,
        True,
        [8],
        0.0,
        4,
        1,
        1,
        2,
    ),
    "ConvRNNF0Predictor": lambda: _made(_CS + "f0_predictor.ConvRNNF0Predictor", [(_t(2, 8, 10),)], 1, 8, 16),
    "_repeat_batch_dim": lambda: _call(_CS + "flow._repeat_batch_dim", (_t(1, 4), 3, 2)),
    "CausalConditionalCFM loss": lambda: held(
        _flow("CausalConditionalCFM"),
        lambda m, x, mask, mu, s, c: m.compute_loss(x, mask, mu, s, c),
        (_t(2, 4, 6), torch.ones(2, 1, 6), _t(2, 4, 6), _t(2, 4), _t(2, 4, 6)),
    ),
    "Snake": lambda: _made(_CS + "hifigan.Snake", [(_t(2, 4, 6),)], 4, alpha_logscale=True),
    "ResBlock": lambda: _made(_CS + "hifigan.ResBlock", [(_t(2, 8, 20),)], 8),
    "SineGen": lambda: _made(_CS + "hifigan.SineGen", [(_u(2, 1, 30) * 200,)], 16000, 2),
    "SourceModuleHnNSF": lambda: _made(_CS + "hifigan.SourceModuleHnNSF", [(_u(2, 30, 1) * 200,)], 16000, 4, 2),
    "SinusoidalPosEmb": lambda: _made(_CMA + "decoder.SinusoidalPosEmb", [(_u(3),)], 8),
    "Block1D": lambda: _made(_CMA + "decoder.Block1D", [(_t(2, 8, 10), torch.ones(2, 1, 10))], 8, 8),
    "ResnetBlock1D": lambda: _made(
        _CMA + "decoder.ResnetBlock1D", [(_t(2, 8, 10), torch.ones(2, 1, 10), _t(2, 6))], 8, 8, 6
    ),
    "TimestepEmbedding": lambda: _made(_CMA + "decoder.TimestepEmbedding", [(_t(2, 8),)], 8, 16),
    "Upsample1D": lambda: _made(_CMA + "decoder.Upsample1D", [(_t(2, 8, 6),)], 8),
    "Decoder": lambda: _made(
        _CMA + "decoder.Decoder",
        [(_t(2, 4, 8), torch.ones(2, 1, 8), _t(2, 4, 8), _u(2))],
        8,
        4,
        (8, 8),
        0.0,
        4,
        1,
        1,
        2,
        "snakebeta",
    ),
    "sequence_mask": lambda: _call(_CMA + "text_encoder.sequence_mask", (torch.tensor([3, 5]),)),
    "sequence_mask length": lambda: _call(_CMA + "text_encoder.sequence_mask", (torch.tensor([3, 5]), 6)),
    "ConvReluNorm": lambda: _made(
        _CMA + "text_encoder.ConvReluNorm", [(_t(2, 4, 6), torch.ones(2, 1, 6))], 4, 8, 4, 3, 2, 0.1
    ),
    "DurationPredictor": lambda: _made(
        _CMA + "text_encoder.DurationPredictor", [(_t(2, 4, 6), torch.ones(2, 1, 6))], 4, 8, 3, 0.1
    ),
    "RotaryPositionalEmbeddings": lambda: _made(
        _CMA + "text_encoder.RotaryPositionalEmbeddings", [(_t(2, 2, 5, 8),)], 4
    ),
    "MultiHeadAttention": lambda: held(
        _get(_CMA + "text_encoder.MultiHeadAttention")(8, 8, 2), lambda m, x: m(x, x), (_t(2, 8, 5),)
    ),
    "Encoder": lambda: _made(_CMA + "text_encoder.Encoder", [(_t(2, 8, 5), torch.ones(2, 1, 5))], 8, 16, 2, 1),
    "SnakeBeta": lambda: _made(_CMA + "transformer.SnakeBeta", [(_t(2, 5, 4),)], 4, 6),
    "FeedForward": lambda: _made(_CMA + "transformer.FeedForward", [(_t(2, 5, 8),)], 8),
    "BasicTransformerBlock": lambda: _made(_CMA + "transformer.BasicTransformerBlock", [(_t(2, 5, 8),)], 8, 2, 4),
    "drop_invalid_tokens": lambda: _call(_CS + "s3gen.drop_invalid_tokens", (torch.tensor([[5, 6561, 7]]),)),
    "MultiHeadedAttention": lambda: _attention("MultiHeadedAttention"),
    "RelPositionMultiHeadedAttention": lambda: _attention("RelPositionMultiHeadedAttention", _t(1, 9, 16)),
    "ConvolutionModule": lambda: _made(
        _CT + "convolution.ConvolutionModule", [(_t(2, 10, 8), torch.ones(2, 1, 10).bool())], 8, 3
    ),
    "ConvolutionModule causal": lambda: _made(
        _CT + "convolution.ConvolutionModule", [(_t(2, 10, 8),)], 8, 3, norm="layer_norm", causal=True
    ),
    "PositionalEncoding": lambda: _position("PositionalEncoding"),
    "PositionalEncoding offset": lambda: _position("PositionalEncoding", torch.tensor([1, 2])),
    "RelPositionalEncoding": lambda: _position("RelPositionalEncoding", 3),
    "WhisperPositionalEncoding": lambda: _position("WhisperPositionalEncoding"),
    "LearnablePositionalEncoding": lambda: _position("LearnablePositionalEncoding"),
    "NoPositionalEncoding": lambda: _position("NoPositionalEncoding"),
    "EspnetRelPositionalEncoding": lambda: _position("EspnetRelPositionalEncoding"),
    "PositionwiseFeedForward": lambda: _made(
        _CT + "positionwise_feed_forward.PositionwiseFeedForward", [(_t(2, 5, 8),)], 8, 16, 0.1
    ),
    "MoEFFNLayer": lambda: _made(_CT + "positionwise_feed_forward.MoEFFNLayer", [(_t(2, 5, 8),)], 3, 2, 8, 16, 0.1),
    **{
        f"subsampling {kind}": (lambda kind=kind: _subsampled(kind))
        for kind in (
            "LinearNoSubsampling",
            "Conv1dSubsampling2",
            "Conv2dSubsampling4",
            "Conv2dSubsampling6",
            "LegacyLinearNoSubsampling",
        )
    },
    "UpsampleConformerEncoder": lambda: held(
        _get(_CT + "upsample_encoder.UpsampleConformerEncoder")(512, 512, 2, 32, 1),
        lambda m, x, n: m(x, n),
        (_t(2, 6, 512), torch.tensor([6, 4])),
    ),
    "UpsampleConformerEncoder chunks": lambda: held(
        _get(_CT + "upsample_encoder.UpsampleConformerEncoder")(512, 512, 2, 32, 1, use_dynamic_chunk=True),
        lambda m, x, n: m(x, n),
        (_t(2, 6, 512), torch.tensor([6, 4])),
    ),
    "subsequent_chunk_mask": lambda: _call(_CS + "utils.mask.subsequent_chunk_mask", (6, 2, 1)),
    "add_optional_chunk_mask": lambda: _call(
        _CS + "utils.mask.add_optional_chunk_mask", (_t(2, 6, 4), torch.ones(2, 1, 6).bool(), True, True, 0, 0, -1)
    ),
    "add_optional_chunk_mask static": lambda: _call(
        _CS + "utils.mask.add_optional_chunk_mask", (_t(2, 6, 4), torch.ones(2, 1, 6).bool(), False, False, 0, 2, 1)
    ),
    "make_pad_mask": lambda: _call(_CS + "utils.mask.make_pad_mask", (torch.tensor([3, 5]),)),
    "make_pad_mask length": lambda: _call(_CS + "utils.mask.make_pad_mask", (torch.tensor([3, 5]), 7)),
    "pad_list": lambda: _call(_CS + "xvector.pad_list", ([_t(3, 2), _t(5, 2)], 0.0)),
    "FCM": lambda: _made(_CS + "xvector.FCM", [(_t(2, 16, 10),)], m_channels=4, feat_dim=16),
    "statistics_pooling": lambda: _call(_CS + "xvector.statistics_pooling", (_t(2, 4, 10),)),
    "CAMLayer": lambda: _made(_CS + "xvector.CAMLayer", [(_t(2, 8, 20),)], 8, 4, 3, 1, 1, 1, False),
    "CAMDenseTDNNBlock": lambda: _made(_CS + "xvector.CAMDenseTDNNBlock", [(_t(2, 8, 20),)], 2, 8, 4, 8, 3),
    "CAMPPlus": lambda: _made(_CS + "xvector.CAMPPlus", [(_t(2, 30, 16),)], 16, 8, 4, 2, 8, memory_efficient=False),
    "get_intmeanflow_time_mixer": lambda: _using(
        _CS + "utils.intmeanflow.get_intmeanflow_time_mixer", lambda f, x: f(4)(x), (_t(2, 8),)
    ),
    "LearnedPositionEmbeddings": lambda: _made(
        _C3 + "modules.learned_pos_emb.LearnedPositionEmbeddings", [(_t(2, 5, 4),)], 10, 4
    ),
    "LearnedPositionEmbeddings fixed": lambda: held(
        _get(_C3 + "modules.learned_pos_emb.LearnedPositionEmbeddings")(10, 4), lambda m: m.get_fixed_embedding(3), ()
    ),
    "RelativePositionBias": lambda: _made(_C3 + "modules.perceiver.RelativePositionBias", [(_t(2, 8, 5, 5),)], 1.0),
    "AttentionBlock2": lambda: _made(_C3 + "modules.perceiver.AttentionBlock2", [(_t(2, 5, 16), _t(2, 6, 16))], 16, 2),
    "AttentionBlock2 plain": lambda: _made(
        _C3 + "modules.perceiver.AttentionBlock2", [(_t(2, 5, 16), _t(2, 5, 16))], 16, 2, flash_attention=False
    ),
    "Perceiver": lambda: _made(_C3 + "modules.perceiver.Perceiver", [(_t(2, 6, 16),)], 4, 16, 16, 2),
    "T3CondEnc": lambda: held(
        _get(_C3 + "modules.cond_enc.T3CondEnc")(_get(_C3 + "modules.t3_config.T3Config")()), lambda m: m(_cond()), ()
    ),
    "T3Cond.to": lambda: held(_cond(), lambda c: c.to(dtype=torch.float64).speaker_emb, ()),
    "_ensure_BOT_EOT": lambda: _using(
        _C3 + "t3._ensure_BOT_EOT",
        lambda f, x: f(x, _get(_C3 + "modules.t3_config.T3Config")()),
        (torch.tensor([[255, 5, 0], [255, 0, 0]]),),
    ),
    "VoiceEncoder": lambda: _made(_CV + "voice_encoder.VoiceEncoder", [(_u(2, 10, 40),)]),
    "VoiceEncoder inference": lambda: held(
        _get(_CV + "voice_encoder.VoiceEncoder")(), lambda m, x: m.inference(x, [200, 170]), (_u(2, 200, 40),)
    ),
    "voice_encoder.pack": lambda: _call(_CV + "voice_encoder.pack", ([_u(5, 3).numpy(), _u(4, 3).numpy()],)),
}


def _strided(use: Callable[..., Any], *inputs: Any) -> Built:
    """A use of vectors of sequences that differ in length."""
    kind = _get("colbert.search.strided_tensor.StridedTensor")
    kind.loaded_extensions = True  # what is compiled at the first use is not looked at
    return held(kind(_t(9, 4), _SIZE, use_gpu=False), use, *inputs)


def _codec() -> Any:
    """Vectors as the nearest of a few, and what is left."""
    kind, config = _get("colbert.indexing.codecs.residual.ResidualCodec"), _get("colbert.infra.config.ColBERTConfig")
    kind.loaded_extensions = True
    return kind(
        config(dim=16, nbits=2, gpus=0),
        _t(5, 16),
        torch.tensor(0.1),
        torch.tensor([-0.5, 0.0, 0.5]),
        torch.tensor([-1.0, -0.2, 0.2, 1.0]),
    )


def _config(**options: Any) -> Any:
    return _get("colbert.infra.config.ColBERTConfig")(**options)


_CC, _CK = "colbert.modeling.colbert.", "colbert.modeling.tokenization.utils."
_Q, _D, _DMASK = _t(2, 3, 8), _t(4, 5, 8), torch.ones(4, 5, 1).bool()
_COLBERT: dict[str, Callable[[], Built]] = {
    "colbert_score": lambda: _using(
        _CC + "colbert_score", lambda f, q, d, m: f(q, d, m, _config(gpus=0)), (_t(4, 3, 8), _D, _DMASK)
    ),
    "colbert_score one": lambda: _using(
        _CC + "colbert_score", lambda f, q, d, m: f(q, d, m, _config(gpus=0)), (_t(1, 3, 8), _D, _DMASK)
    ),
    "colbert_score_reduce": lambda: _using(
        _CC + "colbert_score_reduce", lambda f, s, m: f(s, m, _config()), (_t(4, 5, 3), _DMASK)
    ),
    "colbert_score_reduce flipr": lambda: _using(
        _CC + "colbert_score_reduce",
        lambda f, s, m: f(s, m, _config(interaction="flipr", query_maxlen=64)),
        (_t(4, 5, 72), _DMASK),
    ),
    "StridedTensor": lambda: _using(
        "colbert.search.strided_tensor_core.StridedTensorCore",
        lambda kind, x, n: kind(x, n, use_gpu=False).max_stride,
        (_t(9, 4), _SIZE),
    ),
    "StridedTensor padded": lambda: _strided(lambda s: s.as_padded_tensor(), ()),
    "StridedTensor packed": lambda: _strided(lambda s: s.as_packed_tensor(), ()),
    "_select_strides": lambda: _call("colbert.search.strided_tensor_core._select_strides", (_SIZE, [0.5, 0.75])),
    "_get_quantiles": lambda: _call("colbert.search.strided_tensor_core._get_quantiles", (_SIZE, [0.5, 0.75])),
    "_create_view": lambda: _using(
        "colbert.search.strided_tensor_core._create_view", lambda f, x: f(x, 3, x.size()[1:]), (_t(9, 4),)
    ),
    "_create_mask": lambda: _call("colbert.search.strided_tensor_core._create_mask", (_SIZE, 4), use_gpu=False),
    "_create_mask like": lambda: _call(
        "colbert.search.strided_tensor_core._create_mask", (_SIZE, 4, _t(3, 4, 2)), use_gpu=False
    ),
    "ResidualCodec compress_into_codes": lambda: held(
        _codec(), lambda c, x: c.compress_into_codes(x, out_device="cpu"), (_t(6, 16),)
    ),
    "ResidualCodec lookup_centroids": lambda: held(
        _codec(), lambda c, x: c.lookup_centroids(x, out_device="cpu"), (torch.tensor([0, 3]),)
    ),
    "ResidualCodec binarize": lambda: held(_codec(), lambda c, x: c.binarize(x), (_t(8, 16),)),
    "pool_embeddings_hierarchical": lambda: _call(
        "colbert.modeling.checkpoint.pool_embeddings_hierarchical", (_t(9, 4), [3, 2, 4], 2)
    ),
    "_stack_3D_tensors": lambda: _call("colbert.modeling.checkpoint._stack_3D_tensors", ([_t(2, 3, 4), _t(1, 5, 4)],)),
    "_sort_by_length": lambda: _call(_CK + "_sort_by_length", (_i(9, 4, 5), _i(2, 4, 5), 2)),
    "_split_into_batches": lambda: _call(_CK + "_split_into_batches", (_i(9, 4, 5), _i(2, 4, 5), 2)),
    "_split_into_batches2": lambda: _call(_CK + "_split_into_batches2", (_t(4), 2)),
    "_insert_prefix_token": lambda: _call(_CK + "_insert_prefix_token", (_i(9, 4, 5), 7)),
    "flatten": lambda: _call("colbert.utils.utils.flatten", ([[_t(2), _t(3)], [_t(1)]],)),
    "lengths2offsets": lambda: _using("colbert.utils.utils.lengths2offsets", lambda f, n: list(f(n)), ([3, 2],)),
}

MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in {
        "mmocr": _MMOCR,
        "torchdrug": _TORCHDRUG,
        "chatterbox": _CHATTERBOX,
        "colbert": _COLBERT,
    }.items()
    for name, build in models.items()
}

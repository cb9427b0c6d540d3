"""Models of cogdl, texar, torchquantum, xuance and pyhealth.

They were chosen after all of the twenty-second group, and written before `check` was run on these packages.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import _Absent, getter, without_packages

_t, _u, _i = random_inputs(89)
_ABSENT = {
    "cogdl": ("gensim", "ogb", "grave", "optuna", "torch_sparse", "grb", "transformers"),
    "texar": (),
    "torchquantum": (
        *("qiskit", "qiskit_aer", "qiskit_ibm_runtime", "torchpack", "pylatexenc", "qutip", "qutip_qip"),
        *("torchvision", "pathos"),
    ),
    "xuance": ("mpi4py", "wandb", "pettingzoo", "imageio", "moviepy", "pygame", "gym", "pyglet", "tensorboard"),
    "pyhealth": (
        *("rdkit", "transformers", "mne", "torchvision", "polars", "dask", "litdata", "bitarray", "pandarallel"),
        *("ogb", "sentence_transformers"),
    ),
}
_BARE = ("cogdl", "cogdl.models.nn", "cogdl.datasets", "texar", "xuance")


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))
    if package == "texar":
        import numpy

        numpy.float_, numpy.unicode_ = numpy.float64, numpy.str_  # type: ignore[attr-defined]
    if package == "torchquantum":  # which reads the first lines of qiskit, to see whether it was patched
        importlib.import_module("qiskit").__file__ = __file__
        sys.modules.setdefault("torchquantum.plugin", _Absent("torchquantum.plugin"))
        sys.modules.setdefault("torchquantum.plugin.qiskit", _Absent("torchquantum.plugin.qiskit"))
    if package == "xuance":
        sys.modules.setdefault("torch.utils.tensorboard", _Absent("torch.utils.tensorboard"))
        sys.modules.setdefault("xuance.torch.learners", _Absent("xuance.torch.learners"))
        sys.modules.setdefault("xuance.torch.agents", _Absent("xuance.torch.agents"))


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

# A graph of eight nodes, with a way in both directions.
_SRC = torch.tensor([0, 1, 1, 2, 2, 3, 3, 4, 5, 6, 6, 7, 0, 7])
_DST = torch.tensor([1, 0, 2, 1, 3, 2, 4, 3, 6, 5, 7, 6, 7, 0])
_EDGES = torch.stack([_SRC, _DST])
_CL, _CN, _CU = "cogdl.layers.", "cogdl.models.nn.", "cogdl.utils."


def _graph(features: int = 4, **more: Any) -> Any:
    """A graph of cogdl."""
    return _get("cogdl.data.data.Graph")(x=_t(8, features), edge_index=(_SRC, _DST), **more)


def _layer(
    path: str, *given: Any, features: int = 4, more: tuple[Any, ...] = (), **options: Any
) -> Callable[[], Built]:
    def build() -> Built:
        graph = _graph(features)
        model = _get(_CL + path)(*given, **options)
        return model, [(graph, graph.x, *more)]

    return build


def _network(path: str, *given: Any, **options: Any) -> Callable[[], Built]:
    return lambda: (_get(_CN + path)(*given, **options), [(_graph(),)])


_COGDL: dict[str, Callable[[], Built]] = {
    "GCNLayer": _layer("gcn_layer.GCNLayer", 4, 6, activation="relu", norm="batchnorm"),
    "GATLayer": _layer("gat_layer.GATLayer", 4, 6, nhead=2),
    "GCNLayerST": lambda: _made(_CL + "gcn_layerii.GCNLayerST", [(_t(8, 4), _EDGES, _u(14))], 4, 6),
    "SAGELayer mean": _layer("sage_layer.SAGELayer", 4, 6, aggr="mean", normalize=True),
    "SAGELayer sum": _layer("sage_layer.SAGELayer", 4, 6, aggr="sum"),
    "GINLayer": _layer("gin_layer.GINLayer", train_eps=True),
    "GINELayer": lambda: (lambda g: (_get(_CL + "gine_layer.GINELayer")(), [(g, g.x)]))(_graph(edge_attr=_t(14, 4))),
    "GCNIILayer": _layer("gcnii_layer.GCNIILayer", 4, more=(_t(8, 4),)),
    "SGCLayer": _layer("sgc_layer.SGCLayer", 4, 6),
    "MixHopLayer": _layer("mixhop_layer.MixHopLayer", 4, [0, 1, 2], [3, 3, 3]),
    "DisenGCNLayer": _layer("disengcn_layer.DisenGCNLayer", 4, 6, 2, 2),
    "GENConv": _layer("deepergcn_layer.GENConv", 4, 6, learn_beta=True, use_msg_norm=True),
    "GENConv power": _layer("deepergcn_layer.GENConv", 4, 6, aggr="powermean", learn_p=True),
    "SAINTLayer": _layer("saint_layer.SAINTLayer", 4, 6),
    "AttentionLayer": lambda: _made(_CL + "han_layer.AttentionLayer", [(_t(8, 2, 4),)], 4),
    "MLP": lambda: _made(_CL + "mlp_layer.MLP", [(_t(8, 4),)], 4, 6, 8, 2, norm="batchnorm"),
    "PPRGoLayer": lambda: _made(_CL + "pprgo_layer.PPRGoLayer", [(_t(8, 4),)], 4, 8, 6, 2, 0.1),
    "SELayer": lambda: _made(_CL + "se_layer.SELayer", [(_t(8, 4),)], 4, 2),
    "STConvLayer": lambda: _made(_CL + "stgcn_layer.STConvLayer", [(_t(2, 8, 8, 3), _EDGES, _u(14))], 8, 3, 4, 5, 3, 2),
    "TemporalConv": lambda: _made(_CL + "stgcn_layer.TemporalConv", [(_t(2, 8, 5, 3),)], 3, 4),
    "GCN": _network("gcn.GCN", 4, 8, 3, 2, 0.1),
    "GAT": _network("gat.GAT", 4, 4, 3, 2, 0.1, 0.1, 0.2, 2, False, 1),
    "GCNII": _network("gcnii.GCNII", 4, 8, 3, 2),
    "DrGCN": _network("drgcn.DrGCN", 4, 3, 8, 2, 0.1),
    "DrGAT": _network("drgat.DrGAT", 4, 3, 8, 2, 0.1),
    "Grand": _network("grand.Grand", 4, 8, 3, 0.1, 0.1, True, 0.5, 2, 0.1),
    "PPNP": _network("ppnp.PPNP", 4, 8, 3, 2, 0.1, "appnp", 0.1, 2),
    "SAGE": _network("graphsage.SAGE", 4, 3, 8, 2),
    "DeeperGCN": _network("deepergcn.DeeperGCN", 4, 8, 3, 2, aggr="softmax_sg"),
    "DropEdge_GCN": _network(
        "dropedge_gcn.DropEdge_GCN",
        *(4, 8, 3, 1, 0.1, "mutigcn", "gcn", "gcn", 2, torch.relu, True, True, "concat"),
    ),
    "GraceEncoder": lambda: (lambda g: (_get(_CN + "grace.GraceEncoder")(4, 6, 2), [(g, g.x)]))(_graph()),
    "VGAE": _network("gae.VGAE", 4, 8),
    "BatchedGraphSAGE": lambda: _made(_CN + "diffpool.BatchedGraphSAGE", [(_t(2, 5, 4), _u(2, 5, 5).round())], 4, 6),
    "BatchedDiffPool": lambda: _made(
        _CN + "diffpool.BatchedDiffPool", [(_t(2, 5, 4), _u(2, 5, 5).round())], 4, 3, 6, use_link_loss=True
    ),
    "GTConv": lambda: _made(_CN + "gtn.GTConv", [([(_EDGES, _u(14)), (_EDGES, _u(14))],)], 2, 2, 8),
    "HeatKernel": lambda: _made(_CU + "srgcn_utils.HeatKernel", [(_t(8, 4), _EDGES, _u(14))], 4),
    "get_degrees": lambda: _call(_CU + "graph_utils.get_degrees", (_SRC, _DST)),
    "add_self_loops": lambda: _call(_CU + "graph_utils.add_self_loops", (_EDGES,)),
    "add_remaining_self_loops": lambda: _call(_CU + "graph_utils.add_remaining_self_loops", ((_SRC, _DST),)),
    "remove_self_loops": lambda: _call(_CU + "graph_utils.remove_self_loops", ((_SRC, _DST),)),
    "row_normalization": lambda: _call(_CU + "graph_utils.row_normalization", (8, _SRC, _DST)),
    "symmetric_normalization": lambda: _call(_CU + "graph_utils.symmetric_normalization", (8, _SRC, _DST)),
    "coo2csr": lambda: _call(_CU + "graph_utils.coo2csr_index", (_SRC, _DST)),
    "csr2coo": lambda: _call(
        _CU + "graph_utils.csr2coo", (torch.tensor([0, 2, 3, 5]), torch.tensor([0, 1, 2, 0, 1]), _u(5))
    ),
    "coalesce": lambda: _call(_CU + "graph_utils.coalesce", (_SRC, _DST, _u(14))),
    "to_undirected": lambda: _call(_CU + "graph_utils.to_undirected", ((_SRC, _DST),)),
    "negative_edge_sampling": lambda: _call(_CU + "graph_utils.negative_edge_sampling", (_EDGES,)),
    "spmm_scatter": lambda: _call(_CU + "spmm_utils.spmm_scatter", (_SRC, _DST, _u(14), _t(8, 4))),
    "edge_softmax_val": lambda: (_get(_CU + "spmm_utils.edge_softmax_val"), [(_graph(), _t(14))]),
    "Accuracy": lambda: _using(
        _CU + "evaluator.Accuracy",
        lambda c, x, y: (lambda m: (m(x, y), m.evaluate()))(c(mini_batch=True)),
        (_t(6, 3), _i(3, 6)),
    ),
    "MultiLabelMicroF1": lambda: _using(
        _CU + "evaluator.MultiLabelMicroF1", lambda c, x, y: c()(x, y), (_t(6, 3), _i(2, 6, 3).float())
    ),
    "multilabel_f1": lambda: _call(_CU + "evaluator.multilabel_f1", (_t(6, 3), _i(2, 6, 3).float()), sigmoid=True),
    "multiclass_f1": lambda: _call(_CU + "evaluator.multiclass_f1", (_t(6, 3), _i(3, 6))),
    "accuracy": lambda: _call(_CU + "evaluator.accuracy", (_t(6, 3), _i(3, 6))),
    "MAE": lambda: _using(
        _CU + "evaluator.MAE", lambda c, x, y: (lambda m: (m(x, y), m.evaluate()))(c()), (_t(6), _t(6))
    ),
    "DistMultLayer": lambda: _made(_CU + "link_prediction_utils.DistMultLayer", [(_t(3, 4), _t(3, 4), _t(3, 4))]),
    "sampling_edge_uniform": lambda: _call(
        _CU + "link_prediction_utils.sampling_edge_uniform", (_EDGES, _i(2, 14), set(), 0.5, 2)
    ),
    "get_rank": lambda: _call(_CU + "link_prediction_utils.get_rank", (_t(3, 8), _i(8, 3))),
    "DropFeatures": lambda: _made(_CU + "transform.DropFeatures", [(_t(8, 4),)], 0.3),
    "mad_index": lambda: (_get(_CU + "index.mad_index"), [(_graph(), _t(8, 4))]),
    "eval_acc": lambda: _call(_CU + "grb_utils.eval_acc", (_t(6, 3), _i(3, 6), _u(6) > 0.3)),
}

_TL, _TC, _TM = "texar.torch.losses.", "texar.torch.core.", "texar.torch.modules."
_LEN = torch.tensor([3, 5])
_LOGITS, _LABELS = _t(2, 5, 7), _i(7, 2, 5)


def _attended(kind: str, *given: Any, **options: Any) -> Built:
    """One step of attention on a memory."""
    made = _get(_TC + "attention_mechanism." + kind)(*given, **options)
    made.probability_fn = getattr(made, "probability_fn", None)
    return (lambda q, s, m, n: made(q, s, m, n)), [(_t(2, 8), torch.softmax(_t(2, 5), -1), _t(2, 5, 6), _LEN)]


_TEXAR: dict[str, Callable[[], Built]] = {
    "entropy_with_logits": lambda: _call(_TL + "entropy_with_logits", (_t(4, 7),)),
    "sequence_entropy_with_logits": lambda: _call(
        _TL + "sequence_entropy_with_logits", (_LOGITS,), sequence_length=_LEN
    ),
    "mask_and_reduce": lambda: _call(_TL + "mask_and_reduce", (_t(2, 5), _LEN)),
    "reduce_batch_time": lambda: _call(_TL + "reduce_batch_time", (_t(2, 5), _LEN)),
    "reduce_dimensions": lambda: _call(_TL + "reduce_dimensions", (_t(2, 5, 3), [0], [1])),
    "sequence_softmax_cross_entropy": lambda: _call(
        _TL + "sequence_softmax_cross_entropy", (_u(2, 5, 7).softmax(-1), _LOGITS, _LEN)
    ),
    "sequence_sparse_softmax_cross_entropy": lambda: _call(
        _TL + "sequence_sparse_softmax_cross_entropy", (_LABELS, _LOGITS, _LEN)
    ),
    "sequence_sigmoid_cross_entropy": lambda: _call(
        _TL + "sequence_sigmoid_cross_entropy", (_u(2, 5, 7), _LOGITS, _LEN)
    ),
    "binary_sigmoid_cross_entropy": lambda: _call(_TL + "binary_sigmoid_cross_entropy", (_t(4, 3), _t(4, 3))),
    "binary_adversarial_losses": lambda: _using(
        _TL + "binary_adversarial_losses", lambda f, x, y: f(x, y, lambda z: z.sum(-1)), (_t(4, 3), _t(4, 3))
    ),
    "kl_divg_loss_with_logits": lambda: _call(
        _TL + "info_loss.kl_divg_loss_with_logits", (_t(4, 7), _t(4, 7)), confidence_threshold=0.3
    ),
    "pg_loss_with_logits": lambda: _call(
        _TL + "pg_loss_with_logits", (_LABELS, _LOGITS, _t(2, 5)), batched=True, sequence_length=_LEN
    ),
    "pg_loss_with_log_probs": lambda: _call(
        _TL + "pg_loss_with_log_probs", (_t(2, 5), _t(2, 5)), batched=True, sequence_length=_LEN
    ),
    "discount_reward": lambda: _call(_TL + "discount_reward", (_t(2), _LEN), discount=0.9),
    "discount_reward 2d": lambda: _call(_TL + "discount_reward", (_t(2, 5), _LEN), discount=0.9, normalize=True),
    "LuongAttention": lambda: _attended("LuongAttention", 8, 6, scale=True),
    "BahdanauAttention": lambda: _attended("BahdanauAttention", 8, 8, 6, normalize=True),
    "BahdanauMonotonicAttention": lambda: _attended("BahdanauMonotonicAttention", 8, 8, 6),
    "LuongMonotonicAttention": lambda: _attended("LuongMonotonicAttention", 8, 6, sigmoid_noise=0.1),
    "monotonic hard": lambda: _call(
        _TC + "attention_mechanism.monotonic_attention", (_u(2, 5).round(), _u(2, 5).softmax(-1), "hard")
    ),
    "monotonic parallel": lambda: _call(
        _TC + "attention_mechanism.monotonic_attention", (_u(2, 5), _u(2, 5).softmax(-1), "parallel")
    ),
    "hardmax": lambda: _call(_TC + "attention_mechanism_utils.hardmax", (_t(2, 5),)),
    "prepare_memory": lambda: _call(_TC + "attention_mechanism_utils.prepare_memory", (_t(2, 5, 3), _LEN)),
    "sparsemax": lambda: _call(_TC + "attention_mechanism_utils.sparsemax", (_t(2, 5),)),
    "LSTMCell": lambda: _made(_TC + "cell_wrappers.LSTMCell", [(_t(2, 4),)], 4, 6, forget_bias=1.0),
    "MultiRNNCell": lambda: held(
        _get(_TC + "cell_wrappers.MultiRNNCell")([_get(_TC + "cell_wrappers.GRUCell")(4, 4) for _ in range(2)]),
        lambda m, x: m(x),
        (_t(2, 4),),
    ),
    "HighwayWrapper": lambda: held(
        _get(_TC + "cell_wrappers.HighwayWrapper")(_get(_TC + "cell_wrappers.GRUCell")(4, 4)),
        lambda m, x: m(x),
        (_t(2, 4),),
    ),
    "DropoutWrapper": lambda: held(
        _get(_TC + "cell_wrappers.DropoutWrapper")(
            _get(_TC + "cell_wrappers.GRUCell")(4, 4), 0.8, 0.8, 0.8, variational_recurrent=True
        ),
        lambda m, x: m(x),
        (_t(2, 4),),
    ),
    "MergeLayer": lambda: _made(_TC + "layers.MergeLayer", [(_t(2, 4),)], [nn.Linear(4, 3), nn.Linear(4, 3)], "mean"),
    "MaxReducePool1d": lambda: _made(_TC + "layers.MaxReducePool1d", [(_t(2, 4, 5),)]),
    "L1L2": lambda: held(_get(_TC + "regularizers.L1L2")(0.1, 0.1), lambda m, x: m(x), (_t(3, 4),)),
    "sequence_mask": lambda: _call("texar.torch.utils.utils.sequence_mask", (_LEN,)),
    "sequence_mask max": lambda: _call("texar.torch.utils.utils.sequence_mask", (_LEN, 6)),
    "mask_sequences": lambda: _call("texar.torch.utils.shapes.mask_sequences", (_t(2, 5, 3), _LEN)),
    "pad_and_concat": lambda: _call("texar.torch.utils.shapes.pad_and_concat", ([_t(2, 3), _t(2, 5)], 0)),
    "flatten": lambda: _call("texar.torch.utils.shapes.flatten", (_t(2, 5, 3), 2)),
    "reverse_sequence": lambda: _call("texar.torch.utils.rnn.reverse_sequence", (_t(2, 5, 3), _LEN, False)),
    "dynamic_rnn": lambda: _using(
        "texar.torch.utils.rnn.dynamic_rnn",
        lambda f, x, n: f(_CELLS[0], x, n),
        (_t(2, 5, 4), _LEN),
    ),
    "bidirectional_dynamic_rnn": lambda: _using(
        "texar.torch.utils.rnn.bidirectional_dynamic_rnn",
        lambda f, x, n: f(_CELLS[0], _CELLS[1], x, n),
        (_t(2, 5, 4), _LEN),
    ),
    "UnidirectionalRNNEncoder": lambda: _made(_TM + "UnidirectionalRNNEncoder", [(_t(2, 5, 4), _LEN)], 4),
    "BidirectionalRNNEncoder": lambda: _made(_TM + "BidirectionalRNNEncoder", [(_t(2, 5, 4), _LEN)], 4),
    "TransformerEncoder": lambda: _made(
        _TM + "TransformerEncoder",
        [(_t(2, 5, 8), _LEN)],
        hparams={
            "dim": 8,
            "num_blocks": 1,
            "multihead_attention": {"num_heads": 2, "num_units": 8, "output_dim": 8},
            "poswise_feedforward": _get(_TM + "default_transformer_poswise_net_hparams")(8, 8),
        },
    ),
    "SinusoidsPositionEmbedder": lambda: _made(_TM + "SinusoidsPositionEmbedder", [(_i(9, 2, 5),)], 10, {"dim": 8}),
    "PositionEmbedder": lambda: held(
        _get(_TM + "PositionEmbedder")(position_size=10, hparams={"dim": 8}), lambda m, n: m(sequence_length=n), (_LEN,)
    ),
    "WordEmbedder": lambda: _made(
        _TM + "WordEmbedder",
        [(_i(9, 2, 5),)],
        vocab_size=10,
        hparams={"dim": 8, "dropout_rate": 0.3, "dropout_strategy": "item"},
    ),
    "MLPTransformConnector": lambda: _made(_TM + "MLPTransformConnector", [(_t(2, 4),)], 6, 4),
    "BasicRNNDecoder": lambda: held(
        _get(_TM + "BasicRNNDecoder")(input_size=4, vocab_size=7, token_embedder=nn.Embedding(7, 4)),
        lambda m, x, n: m(decoding_strategy="train_greedy", inputs=x, sequence_length=n),
        (_i(7, 2, 5), _LEN),
    ),
    "BasicRNNDecoder greedy": lambda: held(
        _get(_TM + "BasicRNNDecoder")(input_size=4, vocab_size=7, token_embedder=nn.Embedding(7, 4)),
        lambda m, x: m(decoding_strategy="infer_greedy", start_tokens=x, end_token=2, max_decoding_length=4),
        (torch.tensor([1, 1]),),
    ),
}
_CELLS: list[Any] = []


def _cells() -> None:
    """Cells for what runs one over a sequence."""
    if not _CELLS:
        _CELLS.extend(_get(_TC + "cell_wrappers.GRUCell")(4, 6) for _ in range(2))


def _with_cells(build: Callable[[], Built]) -> Callable[[], Built]:
    def built() -> Built:
        _cells()
        return build()

    return built


_TEXAR |= {n: _with_cells(_TEXAR[n]) for n in ("dynamic_rnn", "bidirectional_dynamic_rnn")}

_QL, _QM = "torchquantum.layer.", "torchquantum.measurement."


def _circuit(layer: Callable[[], Any], wires: int = 3) -> Built:
    """A layer on a device that is made for each batch, and what is measured of it."""
    device, measure = _get("torchquantum.QuantumDevice"), _get("torchquantum.MeasureAll")(_get("torchquantum.PauliZ"))
    made = layer()

    class Circuit(nn.Module):
        """A whole model, as the examples of torchquantum write it."""

        def __init__(self) -> None:
            super().__init__()
            self.layer, self.measure = made, measure

        def forward(self, x: torch.Tensor) -> Any:
            """What is measured."""
            qdev = device(n_wires=wires, bsz=x.shape[0])
            self.layer(qdev)
            return self.measure(qdev) * x.sum()

    return Circuit(), [(_t(2, 3),)]


def _gate(name: str, wires: Any, params: int = 0) -> Callable[[], Built]:
    def build() -> Built:
        gate, device = _get("torchquantum.functional." + name), _get("torchquantum.QuantumDevice")

        def use(x: torch.Tensor) -> Any:
            qdev = device(n_wires=3, bsz=2)
            gate(qdev, wires=wires, **({"params": x} if params else {}))
            return qdev.get_states_1d()

        return use, [(_t(2, max(params, 1)),)]

    return build


def _encoded(name: str, *given: Any) -> Callable[[], Built]:
    def build() -> Built:
        encoder, device = _get("torchquantum.encoding." + name)(*given), _get("torchquantum.QuantumDevice")

        def use(x: torch.Tensor) -> Any:
            qdev = device(n_wires=3, bsz=2)
            encoder(qdev, x)
            return qdev.get_states_1d()

        return use, [(_t(2, 8),)]

    return build


def _measured(name: str, *given: Any, **options: Any) -> Callable[[], Built]:
    def build() -> Built:
        measure, device = _get(_QM + name), _get("torchquantum.QuantumDevice")

        def use(x: torch.Tensor) -> Any:
            qdev = device(n_wires=3, bsz=2)
            _get("torchquantum.functional.rx")(qdev, wires=0, params=x)
            return measure(qdev, *given, **options)

        return use, [(_t(2, 1),)]

    return build


_TORCHQUANTUM: dict[str, Callable[[], Built]] = {
    **{f"gate {n}": _gate(n, 0) for n in ("hadamard", "paulix", "s", "sx", "t")},
    **{f"gate {n}": _gate(n, 0, 1) for n in ("rx", "ry", "rz", "phaseshift")},
    "gate u3": _gate("u3", 0, 3),
    "gate cnot": _gate("cnot", [0, 1]),
    "gate crx": _gate("crx", [0, 1], 1),
    "gate rxx": _gate("rxx", [0, 2], 1),
    "gate swap": _gate("swap", [0, 2]),
    "gate rot": _gate("rot", 1, 3),
    **{
        f"layer {n}": (
            lambda n=n: _circuit(lambda: _get(_QL + n)({"n_wires": 3, "n_blocks": 1, "n_layers_per_block": 1}))
        )
        for n in ("U3CU3Layer0", "SethLayer0", "RZZLayer0", "BarrenLayer0")
    },
    "layer Random": lambda: _circuit(lambda: _get(_QL + "RandomLayer")(wires=[0, 1, 2], n_ops=6, seed=1)),
    "layer RandomOp1All": lambda: _circuit(lambda: _get(_QL + "RandomOp1All")(3, seed=1)),
    "layer Op1QAll": lambda: _circuit(
        lambda: _get(_QL + "Op1QAllLayer")(_get("torchquantum.RX"), 3, has_params=True, trainable=True)
    ),
    "layer TrainableOpAll": lambda: _circuit(lambda: _get(_QL + "TrainableOpAll")(3, _get("torchquantum.RX"))),
    "layer TwoLocal": lambda: _circuit(lambda: _get(_QL + "EfficientSU2")(3)),
    "layer GlobalRX": lambda: _circuit(lambda: _get(_QL + "GlobalRX")(3, 0.5)),
    "encode General": _encoded(
        "GeneralEncoder",
        [{"input_idx": [0], "func": "rx", "wires": [0]}, {"input_idx": [1], "func": "ry", "wires": [1]}],
    ),
    "encode MultiPhase": _encoded("MultiPhaseEncoder", ["rx", "ry", "rz"]),
    "encode State": _encoded("StateEncoder"),
    "expval": lambda: (
        lambda z, e, d: ((lambda x: (lambda q: e(q, [0, 1], [z, z]))(d(n_wires=3, bsz=2)) * x), [(_t(2, 2),)])
    )(_get("torchquantum.PauliZ")(), _get(_QM + "expval"), _get("torchquantum.QuantumDevice")),
    "expval_joint_analytical": _measured("expval_joint_analytical", "XZI"),
    "expval_joint_sampling": _measured("expval_joint_sampling", "XZI", n_shots=16),
    "measure": _measured("measure", n_shots=16),
    "normalize_statevector": lambda: _call("torchquantum.util.utils.normalize_statevector", (_t(2, 8),)),
    "partial_trace": lambda: (lambda f, d: ((lambda x: f(d(n_wires=3, bsz=2), [0, 1]) * x.sum()), [(_t(2),)]))(
        _get("torchquantum.util.utils.partial_trace"), _get("torchquantum.QuantumDevice")
    ),
    "dm_to_mixture_of_state": lambda: _call(
        "torchquantum.util.utils.dm_to_mixture_of_state", (torch.eye(4, dtype=torch.complex64)[None] / 4,)
    ),
    "find_global_phase": lambda: _call(
        "torchquantum.util.utils.find_global_phase", (_t(4, 4).numpy(), _t(4, 4).numpy(), 0.01)
    ),
    "diag": lambda: _call("torchquantum.util.utils.diag", (_t(3, 4),)),
}

_XU, _XP = "xuance.torch.utils.", "xuance.torch.policies."
_XD = _XU + "distributions."


def _spaces() -> tuple[Any, Any]:
    """A choice of four actions, and actions of two numbers."""
    from gymnasium import spaces

    return spaces.Discrete(4), spaces.Box(-1.0, 1.0, (2,))


def _policy(path: str, continuous: bool = False, **options: Any) -> Callable[[], Built]:
    def build() -> Built:
        states = _get("xuance.torch.representations.Basic_MLP")((5,), [8], None, None, nn.ReLU, "cpu")
        space = _spaces()[continuous]
        return _get(_XP + path)(space, representation=states, device="cpu", activation=nn.ReLU, **options), [
            (_t(3, 5),)
        ]

    return build


def _drawn(
    name: str, use: Callable[..., Any], *parameters: torch.Tensor, given: tuple[Any, ...] = (4,)
) -> Callable[[], Built]:
    def build() -> Built:
        kind = _get(_XD + name)

        def run(*values: torch.Tensor) -> Any:
            made = kind(*given)
            made.set_param(*values[: len(parameters)])
            return use(made)

        return run, [parameters]

    return build


_ACTIONS = _i(4, 3)
_XUANCE: dict[str, Callable[[], Built]] = {
    "Categorical": _drawn(
        "CategoricalDistribution", lambda d: (d.log_prob(_ACTIONS), d.entropy()), _u(3, 4).softmax(-1)
    ),
    "Categorical sample": _drawn("CategoricalDistribution", lambda d: d.stochastic_sample(), _u(3, 4).softmax(-1)),
    "Categorical deterministic": _drawn(
        "CategoricalDistribution", lambda d: d.deterministic_sample(), _u(3, 4).softmax(-1)
    ),
    "DiagGaussian": _drawn("DiagGaussianDistribution", lambda d: d.log_prob(d.rsample()), _t(3, 4), _u(3, 4) + 0.1),
    "split_distributions": lambda: _using(
        _XD + "split_distributions",
        lambda f, x: (lambda d: (d.set_param(x), f(d))[1])(_get(_XD + "CategoricalDistribution")(4)),
        (_u(3, 4).softmax(-1),),
    ),
    "SymLogDistribution": lambda: _using(
        _XD + "SymLogDistribution", lambda c, x, y: c(x, 1).log_prob(y), (_t(3, 4), _t(3, 4))
    ),
    "SymLog abs": lambda: _using(
        _XD + "SymLogDistribution", lambda c, x, y: c(x, 1, "abs").log_prob(y), (_t(3, 4), _t(3, 4))
    ),
    "MSEDistribution": lambda: _using(
        _XD + "MSEDistribution", lambda c, x, y: c(x, 1).log_prob(y), (_t(3, 4), _t(3, 4))
    ),
    "TwoHot": lambda: _using(
        _XD + "TwoHotEncodingDistribution", lambda c, x, y: c(x, 1).log_prob(y), (_t(3, 255), _t(3, 1))
    ),
    "TwoHot mean": lambda: _using(_XD + "TwoHotEncodingDistribution", lambda c, x: c(x, 1).mean, (_t(3, 255),)),
    "BernoulliSafeMode": lambda: _using(_XD + "BernoulliSafeMode", lambda c, x: c(logits=x).mode, (_t(3, 4),)),
    "TruncatedNormal": lambda: _using(
        _XD + "TruncatedNormal", lambda c, m, s: c(m, s, -1.0, 1.0).rsample(), (_t(3, 4) * 0.1, _u(3, 4) + 0.5)
    ),
    "Harmonizer": lambda: _made(_XU + "harmonizer.Harmonizer", [(_t(3).sum(),)], "cpu"),
    "Moments": lambda: _made(_XU + "layers.Moments", [(_t(3, 4),)]),
    "LayerNormGRUCell": lambda: _made(
        _XU + "layers4dreamer.LayerNormGRUCell",
        [(_t(3, 4), _t(3, 6))],
        4,
        6,
        layer_norm_cls=nn.LayerNorm,
        layer_norm_kw={"normalized_shape": 18},
    ),
    "NatureCNN": lambda: _made(_XU + "layers4dreamer.NatureCNN", [(_u(2, 3, 64, 64),)], 3, 16),
    "MLP4": lambda: _made(_XU + "layers4dreamer.MLP", [(_t(3, 4),)], 4, 2, [8]),
    "two_hot_encoder": lambda: _call(_XU + "operations.two_hot_encoder", (_t(3, 1),), support_range=10),
    "two_hot_decoder": lambda: _call(_XU + "operations.two_hot_decoder", (_u(3, 21).softmax(-1), 10)),
    "compute_stochastic_state": lambda: _call(_XU + "operations.compute_stochastic_state", (_t(3, 8),), discrete=4),
    "compute_lambda_values": lambda: _call(
        _XU + "operations.compute_lambda_values", (_t(5, 3, 1), _t(5, 3, 1), _u(5, 3, 1))
    ),
    "sym_log": lambda: _call(_XU + "operations.sym_log", (_t(3),)),
    "get_flat_params": lambda: _call(_XU + "operations.get_flat_params", (nn.Linear(3, 2),)),
    "Basic_RNN": lambda: _made(
        "xuance.torch.representations.Basic_RNN",
        [(_t(2, 5, 4), torch.zeros(1, 2, 8))],
        (4,),
        {"fc_hidden_sizes": [6], "recurrent_hidden_size": 8},
        fc_hidden_sizes=[6],
        recurrent_hidden_size=8,
        N_recurrent_layers=1,
        rnn="GRU",
        dropout=0.0,
        activation=nn.ReLU,
        device="cpu",
    ),
    "Basic_CNN": lambda: _made(
        "xuance.torch.representations.Basic_CNN",
        [(_u(2, 16, 16, 3),)],
        *((16, 16, 3), [3, 3], [2, 2], [4, 4]),
        activation=nn.ReLU,
        device="cpu",
    ),
    "AC_CNN_Atari": lambda: _made(
        "xuance.torch.representations.AC_CNN_Atari",
        [(_u(2, 32, 32, 3),)],
        *((32, 32, 3), [3, 3], [2, 2], [4, 4]),
        activation=nn.ReLU,
        fc_hidden_sizes=[8],
        device="cpu",
    ),
    "categorical ActorPolicy": _policy("categorical.ActorPolicy", actor_hidden_size=[8]),
    "categorical ActorCritic": _policy("categorical.ActorCriticPolicy", actor_hidden_size=[8], critic_hidden_size=[8]),
    "categorical PPG": _policy("categorical.PPGActorCritic", actor_hidden_size=[8], critic_hidden_size=[8]),
    "SACDIS": _policy("categorical.SACDISPolicy", actor_hidden_size=[8], critic_hidden_size=[8]),
    "gaussian ActorCritic": _policy(
        "gaussian.ActorCriticPolicy", True, actor_hidden_size=[8], critic_hidden_size=[8], activation_action=nn.Tanh
    ),
    "gaussian SAC": _policy(
        "gaussian.SACPolicy", True, actor_hidden_size=[8], critic_hidden_size=[8], activation_action=nn.Tanh
    ),
    "BasicQnetwork": _policy("deterministic.BasicQnetwork", hidden_size=[8]),
    "DuelQnetwork": _policy("deterministic.DuelQnetwork", hidden_size=[8]),
    "NoisyQnetwork": _policy("deterministic.NoisyQnetwork", hidden_size=[8]),
    "C51Qnetwork": _policy("deterministic.C51Qnetwork", atom_num=11, v_min=-1.0, v_max=1.0, hidden_size=[8]),
    "QRDQN": _policy("deterministic.QRDQN_Network", quantile_num=5, hidden_size=[8]),
    "DDPG": _policy("deterministic.DDPGPolicy", True, actor_hidden_size=[8], critic_hidden_size=[8]),
    "TD3": _policy("deterministic.TD3Policy", True, actor_hidden_size=[8], critic_hidden_size=[8]),
    "VDN_mixer": lambda: _made(_XP + "core.VDN_mixer", [(_t(3, 2, 1),)]),
    "QMIX_mixer": lambda: _made(_XP + "core.QMIX_mixer", [(_t(3, 2), _t(3, 6))], 6, 8, 8, 2),
    "QMIX_FF_mixer": lambda: _made(_XP + "core.QMIX_FF_mixer", [(_t(3, 2), _t(3, 6))], 6, 8, 2),
    "DCG_utility": lambda: _made(_XP + "coordination_graph.DCG_utility", [(_t(3, 2, 4),)], 4, 8, 3),
    "DCG_payoff": lambda: _made(
        _XP + "coordination_graph.DCG_payoff", [(_t(3, 2, 8), torch.tensor([0]), torch.tensor([1]))], 16, 8, 3, 1, 5
    ),
}

_PH, _PC = "pyhealth.models.", "pyhealth.calib."
_VISITS = _t(3, 6, 8)
_VMASK = torch.tensor([[1, 1, 1, 1, 0, 0], [1, 1, 1, 0, 0, 0], [1, 1, 1, 1, 1, 1]])
_PROB = _u(20, 3).softmax(-1)


def _health(
    path: str, *given: Any, mask: bool = True, more: tuple[Any, ...] = (), **options: Any
) -> Callable[[], Built]:
    masked = {"mask": _VMASK} if mask else {}
    return lambda: (
        lambda m: ((lambda x, *y, **k: m(x, *y, **k)) if False else m, [{"x": _VISITS, **masked, **dict(more)}])
    )(_get(_PH + path)(*given, **options))


_PYHEALTH: dict[str, Callable[[], Built]] = {
    "AdaCareLayer": _health("adacare.AdaCareLayer", 8, 8),
    "AdaCareLayer sparsemax": _health("adacare.AdaCareLayer", 8, 8, activation="sparsemax"),
    "Sparsemax": lambda: _made(_PH + "adacare.Sparsemax", [(_t(3, 5),)], dim=1),
    "AgentLayer": _health("agent.AgentLayer", 8, n_hidden=8, n_units=8),
    "AgentLayer lstm": _health("agent.AgentLayer", 8, cell="lstm", n_hidden=8, n_units=8),
    "CNNLayer": _health("cnn.CNNLayer", 8, 6, mask=False),
    "ConCareLayer": _health("concare.ConCareLayer", 8, hidden_dim=8, num_head=2, pe_hidden=8),
    "DeeprLayer": _health("deepr.DeeprLayer", 8, hidden_size=3),
    "GAMENet GCN": lambda: held(_get(_PH + "gamenet.GCN")(_u(5, 5).round(), 8), lambda m, x: m() * x, (_t(1),)),
    "GAMENetLayer": lambda: _made(
        _PH + "gamenet.GAMENetLayer",
        [(_VISITS, _i(2, 3, 6, 5).float(), _i(2, 3, 5).float(), _VMASK[:, :6])],
        *(8, _u(5, 5).round(), _u(5, 5).round()),
    ),
    "GRASPLayer": _health("grasp.GRASPLayer", 8, hidden_dim=8, cluster_num=2),
    "MICRONLayer": lambda: _made(_PH + "micron.MICRONLayer", [(_VISITS, _i(2, 3, 5).float(), _VMASK)], 8, 8, 5),
    "RETAINLayer": _health("retain.RETAINLayer", 8),
    "RNNLayer": _health("rnn.RNNLayer", 8, 6),
    "RNNLayer LSTM": _health("rnn.RNNLayer", 8, 6, rnn_type="LSTM", bidirectional=True),
    "SafeDrugLayer": lambda: held(
        _get(_PH + "safedrug.SafeDrugLayer")(
            8, _u(5, 6).round(), _u(5, 5).round(), 6, [(_i(6, 3), _u(3, 3).round(), 3)] * 5, torch.eye(5)
        ),
        lambda m, x, d, k: m(x, d, k),
        (_VISITS, _i(2, 3, 5).float(), _VMASK),
    ),
    "StageNetLayer": _health("stagenet.StageNetLayer", 8, chunk_size=4, levels=2),
    "StageNetLayer time": lambda: _made(
        _PH + "stagenet.StageNetLayer", [{"x": _VISITS, "time": _u(3, 6), "mask": _VMASK}], 8, chunk_size=4, levels=2
    ),
    "TransformerLayer": _health("transformer.TransformerLayer", 8, heads=2),
    "MAB": lambda: _made(_PH + "molerec.MAB", [(_t(2, 5, 4), _t(2, 3, 4))], 4, 4, 4, 2, True),
    "GraphConvolution": lambda: _made(_PH + "grasp.GraphConvolution", [(_u(5, 5), _t(5, 4), "cpu")], 4, 6),
    "graph attention": lambda: _made(_PH + "gnn.GraphAttention", [(_t(5, 4), _u(5, 5).round())], 4, 6, 0.1, 0.2),
    "DenseBlock": lambda: _made(_PH + "sparcnet.DenseBlock", [(_t(2, 4, 32),)], 2, 4, 4, 2),
    "ResBlock2D": lambda: _made(_PH + "contrawr.ResBlock2D", [(_t(2, 4, 8, 8),)], 4, 6, 2, True, True),
    "get_last_visit": lambda: _call(_PH + "utils.get_last_visit", (_VISITS, _VMASK)),
    "get_last_visit none": lambda: _call(_PH + "utils.get_last_visit", (_VISITS, None)),
    "batch_to_multihot": lambda: _using(
        _PH + "utils.batch_to_multihot", lambda f, x: f([[0, 2], [1]], 4) * x, (_t(2, 4),)
    ),
    "LogLoss": lambda: _made(_PC + "utils.LogLoss", [(_PROB, _i(3, 20))]),
    "agg_loss": lambda: _call(_PC + "utils.agg_loss", (_t(4), "mean")),
    "one_hot_np": lambda: _call(_PC + "utils.one_hot_np", (_i(3, 6).numpy(), 3)),
    "dircal softmax": lambda: _call(_PC + "calibration.dircal._softmax", (_t(4, 3),)),
    "HB_binary": lambda: _using(
        _PC + "calibration.hb.HB_binary",
        lambda c, p, y: (lambda m: (m.fit(p, y), m.predict_proba(p))[1])(c(3)),
        (_u(20).numpy(), _i(2, 20).numpy()),
    ),
    "query_quantile": lambda: _call(_PC + "predictionset.label._query_quantile", (_u(20).numpy(), 0.1)),
    "brier_top1": lambda: _call("pyhealth.metrics.calibration.brier_top1", (_PROB.numpy(), _i(3, 20).numpy())),
    "ece_confidence_multiclass": lambda: _call(
        "pyhealth.metrics.calibration.ece_confidence_multiclass", (_PROB.numpy(), _i(3, 20).numpy())
    ),
    "rejection_rate": lambda: _call("pyhealth.metrics.prediction_set.rejection_rate", ((_PROB > 0.3).numpy(),)),
    "miscoverage_ps": lambda: _call(
        "pyhealth.metrics.prediction_set.miscoverage_ps", ((_PROB > 0.3).numpy(), _i(3, 20).numpy())
    ),
    "error_overall_ps": lambda: _call(
        "pyhealth.metrics.prediction_set.error_overall_ps", ((_PROB > 0.3).numpy(), _i(3, 20).numpy())
    ),
}

_ALL = {
    "cogdl": _COGDL,
    "texar": _TEXAR,
    "torchquantum": _TORCHQUANTUM,
    "xuance": _XUANCE,
    "pyhealth": _PYHEALTH,
}
MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build for package, models in _ALL.items() for name, build in models.items()
}

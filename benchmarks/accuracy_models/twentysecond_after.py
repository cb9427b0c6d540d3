"""Models of ignite, opengsl, sevenn, pygda and advertorch, which were run after the work on the twenty-second group.

They were written before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(83)
_ABSENT = {
    "opengsl": ("dgl.random", "hydra", "nni", "torch_sparse", "torch_scatter", "ruamel.yaml"),
    "pygda": ("torch_sparse", "torch_scatter", "dgl", "cvxpy"),
    "advertorch": ("torchvision",),
    "sevenn": ("ase", "ase.data", "ase.atoms", "ase.symbols", "yaml", "braceexpand", "requests"),
}
_BARE = (
    "pygda",
    "pygda.nn",
    "pygda.metrics",
    "advertorch",
    "opengsl",
    "opengsl.module",
    "sevenn",
    "sevenn.nn",
    "sevenn.train",
)
_get = getter(_ABSENT, _BARE)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)


def _metric(name: str, *given: torch.Tensor, made: tuple[Any, ...] = (), **options: Any) -> Built:
    """A metric that is reset, updated and computed."""
    kind = _get("ignite.metrics." + name)

    def use(*values: torch.Tensor) -> Any:
        metric = kind(*made, **options)
        metric.reset()
        metric.update(values)
        return metric.compute()

    return use, [given]


_X, _Y = _t(12), _t(12)
_XC, _YC = _t(12, 4), _i(4, 12)
_R = "regression."

_IGNITE: dict[str, Callable[[], Built]] = {
    "Accuracy": lambda: _metric("Accuracy", _XC, _YC),
    "Accuracy multilabel": lambda: _metric("Accuracy", _i(2, 12, 3), _i(2, 12, 3), is_multilabel=True),
    "Precision": lambda: _metric("Precision", _XC, _YC, average="macro"),
    "Precision weighted": lambda: _metric("Precision", _XC, _YC, average="weighted"),
    "Recall": lambda: _metric("Recall", _XC, _YC, average=False),
    "Fbeta": lambda: held(
        _get("ignite.metrics.Recall")(average=False),
        lambda m, x, y: (m.reset(), m.update((x, y)), m.compute())[2],
        (_XC, _YC),
    ),
    "ConfusionMatrix": lambda: _metric("ConfusionMatrix", _XC, _YC, num_classes=4, average="recall"),
    "MultiLabelConfusionMatrix": lambda: _metric(
        "MultiLabelConfusionMatrix", _i(2, 12, 3), _i(2, 12, 3), num_classes=3
    ),
    "CohenKappa": lambda: _metric("CohenKappa", _i(3, 12), _i(3, 12)),
    "CosineSimilarity": lambda: _metric("CosineSimilarity", _t(6, 3), _t(6, 3)),
    "Entropy": lambda: _metric("Entropy", _XC, _YC),
    "JSDivergence": lambda: _metric("JSDivergence", _XC, _t(12, 4)),
    "KLDivergence": lambda: _metric("KLDivergence", _XC, _t(12, 4)),
    "MutualInformation": lambda: _metric("MutualInformation", _XC, _YC),
    "HSIC": lambda: _metric("HSIC", _t(8, 3), _t(8, 2)),
    "MaximumMeanDiscrepancy": lambda: _metric("MaximumMeanDiscrepancy", _t(8, 3), _t(8, 3)),
    "MeanAbsoluteError": lambda: _metric("MeanAbsoluteError", _X, _Y),
    "MeanSquaredError": lambda: _metric("MeanSquaredError", _X, _Y),
    "RootMeanSquaredError": lambda: _metric("RootMeanSquaredError", _X, _Y),
    "MeanPairwiseDistance": lambda: _metric("MeanPairwiseDistance", _t(6, 3), _t(6, 3)),
    "Loss": lambda: _metric("Loss", _XC, _YC, made=(torch.nn.functional.cross_entropy,)),
    "MatthewsCorrCoef": lambda: _metric("MatthewsCorrCoef", _i(2, 12), _i(2, 12)),
    "PSNR": lambda: _metric("PSNR", _u(2, 3, 8, 8), _u(2, 3, 8, 8), data_range=1.0),
    "SSIM": lambda: _metric("SSIM", _u(2, 3, 16, 16), _u(2, 3, 16, 16), data_range=1.0),
    "TopKCategoricalAccuracy": lambda: _metric("TopKCategoricalAccuracy", _XC, _YC, k=2),
    "AveragePrecision": lambda: _metric("AveragePrecision", _u(12), _i(2, 12)),
    "ROC_AUC": lambda: _metric("ROC_AUC", _u(12), _i(2, 12)),
    "SilhouetteScore": lambda: _metric("clustering.SilhouetteScore", _t(9, 3), _i(3, 9)),
    "InceptionScore": lambda: held(
        _get("ignite.metrics.InceptionScore")(4, torch.nn.Identity()),
        lambda m, x: (m.reset(), m.update(x), m.compute())[2],
        (_u(6, 4),),
    ),
    "FID": lambda: held(
        _get("ignite.metrics.FID")(4, torch.nn.Identity()),
        lambda m, x, y: (m.reset(), m.update((x, y)), m.compute())[2],
        (_u(8, 4), _u(8, 4)),
    ),
    "HitRate": lambda: _metric("HitRate", _u(6, 8), _i(2, 6, 8).float(), top_k=[1, 3]),
    "NDCG": lambda: _metric("rec_sys.NDCG", _u(6, 8), _i(2, 6, 8).float(), top_k=[1, 3]),
    "Perplexity": lambda: _metric("nlp.Perplexity", _t(2, 7, 5), _i(7, 2, 5)),
    "CanberraMetric": lambda: _metric(_R + "CanberraMetric", _X, _Y),
    "FractionalAbsoluteError": lambda: _metric(_R + "FractionalAbsoluteError", _X, _Y),
    "FractionalBias": lambda: _metric(_R + "FractionalBias", _X, _Y),
    "GeometricMeanAbsoluteError": lambda: _metric(_R + "GeometricMeanAbsoluteError", _X, _Y),
    "GeometricMeanRelativeAbsoluteError": lambda: _metric(_R + "GeometricMeanRelativeAbsoluteError", _X, _Y),
    "KendallRankCorrelation": lambda: _metric(_R + "KendallRankCorrelation", _X, _Y),
    "ManhattanDistance": lambda: _metric(_R + "ManhattanDistance", _X, _Y),
    "MaximumAbsoluteError": lambda: _metric(_R + "MaximumAbsoluteError", _X, _Y),
    "MeanAbsoluteRelativeError": lambda: _metric(_R + "MeanAbsoluteRelativeError", _X, _Y),
    "MeanNormalizedBias": lambda: _metric(_R + "MeanNormalizedBias", _X, _Y),
    "MedianAbsoluteError": lambda: _metric(_R + "MedianAbsoluteError", _X, _Y),
    "MedianAbsolutePercentageError": lambda: _metric(_R + "MedianAbsolutePercentageError", _X, _Y),
    "PearsonCorrelation": lambda: _metric(_R + "PearsonCorrelation", _X, _Y),
    "R2Score": lambda: _metric(_R + "R2Score", _X, _Y),
    "SpearmanRankCorrelation": lambda: _metric(_R + "SpearmanRankCorrelation", _X, _Y),
    "WaveHedgesDistance": lambda: _metric(_R + "WaveHedgesDistance", _X, _Y),
    "DemographicParity": lambda: _metric("fairness.DemographicParityDifference", _XC, _YC, _i(2, 12), groups=[0, 1]),
}

_GF = "opengsl.module.functional."
_GM = "opengsl.module."
_ADJ = (_u(6, 6) > 0.5).float() + torch.eye(6)
_SPARSE = _ADJ.to_sparse()

_OPENGSL: dict[str, Callable[[], Built]] = {
    "normalize": lambda: _call(_GF + "normalize", (_ADJ,)),
    "normalize softmax": lambda: _call(_GF + "normalize", (_ADJ,), style="softmax"),
    "normalize row": lambda: _call(_GF + "normalize", (_ADJ,), style="row", add_loop=False),
    "normalize row norm": lambda: _call(_GF + "normalize", (_ADJ,), style="row-norm", p=2),
    "normalize sparse": lambda: _call(_GF + "normalize", (_SPARSE,)),
    "symmetry": lambda: _call(_GF + "symmetry", (_ADJ,)),
    "symmetry halves": lambda: _call(_GF + "symmetry", (_ADJ, 1)),
    "knn": lambda: _call(_GF + "knn", (_ADJ, 2)),
    "knn sparse": lambda: _call(_GF + "knn", (_ADJ, 2), sparse_out=True),
    "enn": lambda: _call(_GF + "enn", (_u(6, 6), 0.5)),
    "enn value": lambda: _call(_GF + "enn", (_u(6, 6), 0.5, 1.0)),
    "apply_non_linearity": lambda: _call(_GF + "apply_non_linearity", (_ADJ, "elu", 6)),
    "OneLayerNN": lambda: _made(_GM + "graphlearner.OneLayerNN", [(_t(6, 4), _i(6, 2, 9))], 4, 3),
    "GraphLearner": lambda: held(
        _get(_GM + "graphlearner.GraphLearner")(
            metric=_get(_GM + "metric.Cosine")(), postprocess=[_get(_GM + "transform.EpsilonNN")(0.1)]
        ),
        lambda m, x, a: m(x, a),
        (_t(6, 4), _ADJ),
    ),
    "WeightedCosine": lambda: _made(_GM + "metric.WeightedCosine", [(_t(6, 4),)], 4, 3),
    "Cosine": lambda: _made(_GM + "metric.Cosine", [(_t(6, 4), None, True)]),
    "InnerProduct": lambda: _made(_GM + "metric.InnerProduct", [(_t(6, 4), None, True)]),
    "GeneralizedMahalanobis": lambda: _made(_GM + "metric.GeneralizedMahalanobis", [(_t(6, 4),)], 4),
    "KNN": lambda: _made(_GM + "transform.KNN", [(_t(6, 4),)], 2),
    "Normalize": lambda: _made(_GM + "transform.Normalize", [(_ADJ,)]),
    "connectivity_regularizer": lambda: _call(_GM + "regularizer.connectivity_regularizer", (_ADJ,)),
    "smoothness_regularizer": lambda: _call(
        _GM + "regularizer.smoothness_regularizer", (_t(6, 4), _ADJ), style="symmetric", symmetric=True
    ),
    "norm_regularizer": lambda: _call(_GM + "regularizer.norm_regularizer", (_ADJ,)),
    "prox_l1": lambda: _method(_GM + "regularizer.ProxOperators", "prox_l1", [(_t(6, 6), 0.1)]),
    "Interpolate": lambda: _made(_GM + "fuse.Interpolate", [(_ADJ, _ADJ)], 0.3),
    "AttentiveEncoder": lambda: _made(_GM + "encoder.AttentiveEncoder", [(_t(6, 4),)], 2, 4),
    "MLPEncoder": lambda: _made(_GM + "encoder.MLPEncoder", [(_t(6, 4),)], 4, 8, 3, 2),
    "GCNEncoder": lambda: _made(_GM + "encoder.GCNEncoder", [(_t(6, 4), _ADJ)], 4, 8, 3),
    "GCNDiagEncoder": lambda: _made(_GM + "encoder.GCNDiagEncoder", [(_t(6, 4), _ADJ)], 2, 4),
    "APPNPEncoder": lambda: _made(_GM + "encoder.APPNPEncoder", [(_t(6, 4), _ADJ)], 4, 8, 3),
    "GINEncoder": lambda: _made(_GM + "encoder.GINEncoder", [(_t(6, 4), _ADJ)], 4, 8, 3),
}

_SN = "sevenn.nn."


def _graph(**more: torch.Tensor) -> dict[str, torch.Tensor]:
    return {
        "atomic_numbers": _i(9, 5),
        "atom_type": _i(3, 5),
        "pos": _t(5, 3),
        "edge_vec": _t(8, 3),
        "edge_index": _i(5, 2, 8),
        "x": _t(5, 4),
        "batch": torch.tensor([0, 0, 0, 1, 1]),
        "num_atoms": torch.tensor([3, 2]),
        "cell_lattice_vectors": torch.eye(3).repeat(2, 1, 1) * 4,
        "pbc_shift": torch.zeros(8, 3),
        "scaled_atomic_energy": _t(5, 1),
        "atomic_energy": _t(5, 1),
        "total_energy": _t(2),
        "inferred_total_energy": _t(2),
        "force_of_atoms": _t(5, 3),
        "inferred_force": _t(5, 3),
        **more,
    }


def _on_graph(path: str, *given: Any, **options: Any) -> Built:
    return _get(_SN + path)(*given, **options), [(_graph(),)]


_SEVENN: dict[str, Callable[[], Built]] = {
    "EdgePreprocess": lambda: _on_graph("edge_embedding.EdgePreprocess", False),
    "EdgePreprocess stress": lambda: _on_graph("edge_embedding.EdgePreprocess", True),
    "BesselBasis": lambda: _made(_SN + "edge_embedding.BesselBasis", [(_u(8) + 0.1,)], 4.0),
    "PolynomialCutoff": lambda: _made(_SN + "edge_embedding.PolynomialCutoff", [(_u(8),)], 4.0),
    "XPLORCutoff": lambda: _made(_SN + "edge_embedding.XPLORCutoff", [(_u(8) * 4,)], 4.0, 3.0),
    "SphericalEncoding": lambda: _made(_SN + "edge_embedding.SphericalEncoding", [(_t(8, 3),)], 2),
    "OnehotEmbedding": lambda: held(
        _get(_SN + "node_embedding.OnehotEmbedding")(3, data_key_x="atom_type", data_key_out="node_attr"),
        lambda m, x: m({"atom_type": x}),
        (_i(3, 5),),
    ),
    "Rescale": lambda: _on_graph("scale.Rescale", 0.1, 2.0),
    "SpeciesWiseRescale": lambda: _on_graph("scale.SpeciesWiseRescale", [0.1, 0.2, 0.3], [1.0, 2.0, 3.0]),
    "AtomReduce": lambda: _on_graph("linear.AtomReduce", "atomic_energy", "inferred_total_energy"),
    "IrrepsLinear": lambda: _on_graph(
        "linear.IrrepsLinear", _irreps("4x0e"), _irreps("3x0e"), "x", lazy_layer_instantiate=False
    ),
    "EquivariantGate": lambda: _on_graph(
        "equivariant_gate.EquivariantGate",
        _irreps("4x0e"),
        {"e": torch.tanh, "o": torch.tanh},
        {"e": torch.tanh, "o": torch.tanh},
    ),
    "ForceOutput": lambda: _force(),
    "broadcast": lambda: _call(_SN + "util.broadcast", (_i(3, 5), _t(5, 4), 0)),
    "PerAtomEnergyLoss": lambda: _loss("PerAtomEnergyLoss"),
    "ForceLoss": lambda: _loss("ForceLoss"),
    "dtype_correct": lambda: _call("sevenn.util.dtype_correct", (_t(5).double(),)),
}


def _irreps(text: str) -> Any:
    return _get("e3nn.o3.Irreps")(text)


def _force() -> Built:
    made = _get(_SN + "force_output.ForceOutput")()

    def use(pos: torch.Tensor) -> Any:
        return made({"pos": pos, "inferred_total_energy": (pos**2).sum(1)})

    return use, [(_t(5, 3).requires_grad_(),)]


def _loss(name: str) -> Built:
    made = _get("sevenn.train.loss." + name)(criterion=torch.nn.MSELoss())
    return (lambda data: made.get_loss(data)), [(_graph(),)]


_PN = "pygda.nn."
_PU = "pygda.utils."
_LINKS = _i(6, 2, 10)
_VALUES = _u(10)


_PYGDA: dict[str, Callable[[], Built]] = {
    "Attention": lambda: held(_get(_PN + "attention.Attention")(4), lambda m, x, y: m([x, y]), (_t(6, 4), _t(6, 4))),
    "GNNBase": lambda: _made(_PN + "gnn_base.GNNBase", [(_t(6, 4), _LINKS)], 4, 8, 3, 2),
    "GradReverse": lambda: _using(_PN + "reverse_layer.GradReverse", lambda f, x: f.apply(x, 0.5), (_t(6, 4),)),
    "PairNorm": lambda: _made(_PN + "kbl_base.PairNorm", [(_t(6, 4),)], "PN-SCS"),
    "GraphEncoder": lambda: _made(_PN + "kbl_base.GraphEncoder", [(_t(6, 4), _LINKS)], 4, 3, 8),
    "Decoder": lambda: _made(_PN + "kbl_base.Decoder", [(_t(6, 4),)], 4, 8, 3),
    "Similar": lambda: _made(_PN + "kbl_base.Similar", [(_t(6, 4), _i(6, 5), _i(6, 5))], 4, 3),
    "BernProp": lambda: _made(_PN + "dgsda_base.BernProp", [(_t(6, 4), _LINKS)], 3),
    "GraphConv": lambda: _made(_PN + "mixup_gcnconv.GraphConv", [(_t(6, 4), _LINKS, _t(6, 4))], 4, 3),
    "Sparsemax": lambda: _made(_PN + "node_centric_conv.Sparsemax", [(_t(6, 4),)], 1),
    "onehot": lambda: _using(_PN + "gmm_clustering.onehot", lambda f, x: f(x, 3), (_i(3, 6),)),
    "get_emb_centers": lambda: _using(
        _PN + "gmm_clustering.get_emb_centers", lambda f, x, y: f(x, y, 3), (_t(9, 4), torch.arange(9) % 3)
    ),
    "DIST": lambda: _using(
        _PN + "gmm_clustering.DIST", lambda c, x, y: c("cos").get_dist(x, y, cross=True), (_t(6, 4), _t(5, 4))
    ),
    "Clustering": lambda: _using(
        _PN + "gmm_clustering.Clustering", lambda c, s, x, y: _clustered(c, s, x, y), (_t(3, 4), _t(9, 4), _i(3, 9))
    ),
    "CustomizedCrossEntropy": lambda: _made(_PN + "soga_base.CustomizedCrossEntropy", [(_t(6, 3), _i(3, 6))], 3, "cpu"),
    "NetworkEmbedding": lambda: held(
        _get(_PN + "acdne_base.NetworkEmbedding")(4, [8, 8], 6, 0.1, 6),
        lambda m, x, y: m.pairwise_constraint(m(x, y)),
        (_t(6, 4), _t(6, 4)),
    ),
    "DiffLoss": lambda: _made(_PN + "asn_base.DiffLoss", [(_t(6, 4), _t(6, 4))]),
    "InnerProductDecoder": lambda: _made(_PN + "asn_base.InnerProductDecoder", [(_t(6, 4),)], 0.1),
    "guassian_kernel": lambda: _call(_PU + "mmd.guassian_kernel", (_t(5, 4), _t(5, 4))),
    "get_MMD": lambda: _call(_PU + "mmd.get_MMD", (_t(5, 4), _t(5, 4))),
    "MMD": lambda: _call(_PU + "mmd.MMD", (_t(12, 4), _t(12, 4), 5, 2)),
    "linear_to_triu_idx": lambda: _using(_PU + "perturb.linear_to_triu_idx", lambda f, x: f(6, x), (torch.arange(8),)),
    "inner": lambda: _call(_PU + "perturb.inner", (_t(5, 4), _t(5, 4))),
    "inner_margin": lambda: _call(_PU + "perturb.inner_margin", (_t(5, 4), _t(5, 4), 0.3)),
    "diff": lambda: _call(_PU + "perturb.diff", (_t(5, 4), _t(5, 4))),
    "bisection": lambda: _using(_PU + "perturb.bisection", lambda f, x: f(x, (x - 1).min(), x.max(), 2), (_u(8),)),
    "project": lambda: _using(_PU + "perturb.project", lambda f, x: f(2, x, 1e-5), (_u(8),)),
}


def _clustered(kind: Any, centers: torch.Tensor, features: torch.Tensor, labels: torch.Tensor) -> Any:
    made = kind(0.1, "cpu")
    made.set_init_centers(centers)
    made.feature_clustering(features, labels)
    return made.centers


_AU = "advertorch.utils."
_AL = "advertorch.loss."
_IMG = _u(2, 3, 6, 6)

_ADVERTORCH: dict[str, Callable[[], Built]] = {
    "torch_allclose": lambda: _call(_AU + "torch_allclose", (_t(4), _t(4))),
    "torch_flip": lambda: _using(_AU + "torch_flip", lambda f, x: f(x, [1, 2]), (_t(2, 3, 4),)),
    "replicate_input": lambda: _call(_AU + "replicate_input", (_IMG,)),
    "calc_l2distsq": lambda: _call(_AU + "calc_l2distsq", (_IMG, _u(2, 3, 6, 6))),
    "tanh_rescale": lambda: _call(_AU + "tanh_rescale", (_IMG,)),
    "torch_arctanh": lambda: _call(_AU + "torch_arctanh", (_IMG,)),
    "clamp": lambda: _call(_AU + "clamp", (_IMG, 0.1, 0.8)),
    "clamp tensors": lambda: _call(_AU + "clamp", (_IMG, _IMG - 0.1, _IMG + 0.1)),
    "to_one_hot": lambda: _call(_AU + "to_one_hot", (_i(10, 4),)),
    "CarliniWagnerLoss": lambda: _made(_AU + "CarliniWagnerLoss", [(_t(4, 10), _i(10, 4))]),
    "batch_multiply": lambda: _call(_AU + "batch_multiply", (_u(2), _IMG)),
    "batch_multiply number": lambda: _call(_AU + "batch_multiply", (0.3, _IMG)),
    "batch_clamp": lambda: _call(_AU + "batch_clamp", (_u(2), _IMG)),
    "batch_l1_proj": lambda: _call(_AU + "batch_l1_proj", (_IMG, 0.5)),
    "batch_l1_proj vector": lambda: _call(_AU + "batch_l1_proj", (_IMG, _u(2))),
    "clamp_by_pnorm": lambda: _call(_AU + "clamp_by_pnorm", (_IMG, 2, 0.5)),
    "clamp_by_pnorm vector": lambda: _call(_AU + "clamp_by_pnorm", (_IMG, 2, _u(2))),
    "normalize_by_pnorm": lambda: _call(_AU + "normalize_by_pnorm", (_IMG,)),
    "NormalizeByChannelMeanStd": lambda: _made(
        _AU + "NormalizeByChannelMeanStd", [(_IMG,)], [0.1, 0.2, 0.3], [0.5, 0.5, 0.5]
    ),
    "batch_per_image_standardization": lambda: _call(_AU + "batch_per_image_standardization", (_IMG,)),
    "predict_from_logits": lambda: _call(_AU + "predict_from_logits", (_t(4, 10),)),
    "get_accuracy": lambda: _call(_AU + "get_accuracy", (_i(10, 4), _i(10, 4))),
    "elementwise_margin": lambda: _call(_AL + "elementwise_margin", (_t(4, 10), _i(10, 4))),
    "logit_margin_loss": lambda: _call(_AL + "logit_margin_loss", (_t(4, 10), _i(10, 4))),
    "cw_loss": lambda: _call(_AL + "cw_loss", (_t(4, 10), _i(10, 4)), reduction="sum"),
    "soft_logit_margin_loss": lambda: _call(_AL + "soft_logit_margin_loss", (_t(4, 10), _i(10, 4))),
    "CWLoss": lambda: _made(_AL + "CWLoss", [(_t(4, 10), _i(10, 4))]),
    "FloatToIntSqueezing": lambda: _using(
        "advertorch.functional.FloatToIntSqueezing", lambda f, x: f.apply(x, 7, 0.0, 1.0), (_IMG,)
    ),
    "is_successful": lambda: _using(
        "advertorch.attacks.utils.is_successful", lambda f, x, y: f(x, y, True), (_i(10, 4), _i(10, 4))
    ),
    "MarginalLoss": lambda: _made("advertorch.attacks.utils.MarginalLoss", [(_t(4, 10), _i(10, 4))]),
    "BitSqueezing": lambda: _made("advertorch.defenses.bitsqueezing.BitSqueezing", [(_IMG,)], 3),
    "MedianSmoothing2D": lambda: _made("advertorch.defenses.smoothing.MedianSmoothing2D", [(_IMG,)]),
    "GaussianSmoothing2D": lambda: _made("advertorch.defenses.smoothing.GaussianSmoothing2D", [(_IMG,)], 1.0, 3),
}


def _named(package: str, models: dict[str, Callable[[], Built]]) -> dict[str, Callable[[], Built]]:
    return {f"{package}/{name}": build for name, build in models.items()}


MODELS: dict[str, Callable[[], Built]] = {
    **_named("ignite", _IGNITE),
    **_named("opengsl", _OPENGSL),
    **_named("sevenn", _SEVENN),
    **_named("pygda", _PYGDA),
    **_named("advertorch", _ADVERTORCH),
}

"""Models of pytorch_tabular, torch_ecg, kale, scarches and torchmeta.

They were chosen after the twenty-sixth group was begun, and written before `check` was run on these packages.
"""

from __future__ import annotations

import importlib
from collections import OrderedDict
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter, without_packages

_t, _u, _i = random_inputs(103)
_ABSENT = {
    "pytorch_tabular": ("skbase", "pytorch_tabnet", "wandb", "seaborn"),
    "torch_ecg": (
        *("wfdb", "biosppy", "h5py", "boto3", "botocore", "peakutils", "pywt", "feedparser", "xmltodict", "edfio"),
        *(
            "soundfile",
            "tensorboardX",
            "torch_optimizer",
            "torchsummary",
            "safetensors",
            "cv2",
            "mne",
            "bs4",
            "bib_lookup",
        ),
    ),
    "kale": ("torchvision", "torch_sparse", "torch_scatter", "rdkit", "PIL", "pooch", "skimage"),
    "scarches": ("scanpy", "anndata", "scvi", "squidpy", "seaborn", "scHPL", "newick"),
    "torchmeta": ("torchvision", "PIL", "h5py", "ordered_set"),
}
_BARE = (
    *("scarches", "scarches.models", "scarches.models.trvae", "scarches.models.expimap", "scarches.models.scpoli"),
    *("scarches.models.scgen", "scarches.models.base", "scarches.trainers", "scarches.trainers.expimap"),
    *("scarches.trainers.scpoli", "torchmeta", "torchmeta.utils"),
    *("torch_ecg", "torch_ecg.databases", "torch_ecg.components"),
)


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    if package == "kale":
        importlib.import_module("torch_geometric")  # else it takes what stands for torch_scatter for the real one
    without_packages(*_ABSENT.get(package, ()))


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)


def _lazy(path: str, inputs: list[Any], *given: Any, **options: Any) -> Callable[[], Built]:
    """A model of a class, whose arguments that are partial functions are called first."""
    return lambda: _made(
        path,
        inputs,
        *(g() if isinstance(g, partial) else g for g in given),
        **{n: g() if isinstance(g, partial) else g for n, g in options.items()},
    )


def _of(path: str, *given: Any, **options: Any) -> Any:
    """An object that another one is made of."""
    return partial(lambda: _get(path)(*given, **options))


def _use(path: str, use: Callable[..., Any], *inputs: Any) -> Callable[[], Built]:
    """A use of a function or class."""
    return lambda: _using(path, use, *inputs)


_LAY = "pytorch_tabular.models.common.layers."
_ACT, _EMB, _SSL = _LAY + "activations.", _LAY + "embeddings.", "pytorch_tabular.ssl_models.common."
_TABLE = {"continuous": _t(8, 3), "categorical": _i(4, 8, 2)}
_TABULAR_SIZES = {"continuous_dim": 3, "categorical_embedding_dims": [(4, 2), (4, 3)]}


def _density(use: Callable[..., Any], **options: Any) -> Callable[[], Built]:
    """A use of the mixture density head."""

    def build() -> Built:
        config = _get("pytorch_tabular.models.common.heads.config.MixtureDensityHeadConfig")(input_dim=6, **options)
        return held(_get("pytorch_tabular.models.common.heads.blocks.MixtureDensityHead")(config), use, (_t(8, 6),))

    return build


_TABULAR: dict[str, Callable[[], Built]] = {
    "entmax15": lambda: _call(_ACT + "entmax15", (_t(4, 6),)),
    "sparsemax": lambda: _call(_ACT + "sparsemax", (_t(4, 6),)),
    "sparsemax k": lambda: _call(_ACT + "sparsemax", (_t(4, 6),), k=2),
    "sparsemoid": lambda: _call(_ACT + "sparsemoid", (_t(4, 6),)),
    "t_softmax": lambda: _call(_ACT + "t_softmax", (_t(4, 6), _u(4, 1))),
    "RSoftmax": _lazy(_ACT + "RSoftmax", [(_t(4, 6), torch.tensor([0.3]))]),
    "GatedFeatureLearningUnit": _lazy(_LAY + "gated_units.GatedFeatureLearningUnit", [(_t(8, 6),)], 6, 2),
    "GFLU t_softmax": _lazy(
        _LAY + "gated_units.GatedFeatureLearningUnit",
        [(_t(8, 6),)],
        6,
        2,
        feature_mask_function=partial(lambda: _get(_ACT + "t_softmax")),
    ),
    "GEGLU": _lazy(_LAY + "gated_units.GEGLU", [(_t(8, 6),)], 6, 8),
    "ODST": _lazy(_LAY + "soft_trees.ODST", [(_t(16, 6),)], 6, 4),
    "DenseODSTBlock": _lazy("pytorch_tabular.models.node.architecture_blocks.DenseODSTBlock", [(_t(16, 6),)], 6, 4, 2),
    "NeuralDecisionTree": _lazy(_LAY + "soft_trees.NeuralDecisionTree", [(_t(8, 6),)], 3, 6),
    "Embedding1dLayer": _lazy(_EMB + "Embedding1dLayer", [(_TABLE,)], **_TABULAR_SIZES),
    "Embedding1dLayer norm": _lazy(
        _EMB + "Embedding1dLayer",
        [(_TABLE,)],
        batch_norm_continuous_input=True,
        virtual_batch_size=4,
        embedding_dropout=0.1,
        **_TABULAR_SIZES,
    ),
    "Embedding2dLayer": _lazy(_EMB + "Embedding2dLayer", [(_TABLE,)], 3, [4, 4], 6, shared_embedding_strategy="add"),
    "Embedding2dLayer bias": _lazy(
        _EMB + "Embedding2dLayer", [(_TABLE,)], 3, [4, 4], 6, embedding_bias=True, initialization="kaiming_uniform"
    ),
    "PreEncoded1dLayer": _lazy(
        _EMB + "PreEncoded1dLayer", [({"continuous": _t(8, 3), "categorical": _t(8, 2)},)], 3, 2
    ),
    "TransformerEncoderBlock": _lazy(_LAY + "transformers.TransformerEncoderBlock", [(_t(4, 5, 16),)], 16, 2),
    "AbstractLayer": _lazy("pytorch_tabular.models.danet.arch_blocks.AbstractLayer", [(_t(8, 6),)], 6, 4, 2, 4),
    "MixtureDensityHead": _density(lambda h, x: h(x)),
    "MixtureDensityHead log_prob": _density(lambda h, x: h.log_prob(*h(x), x[:, :1])),
    "MixtureDensityHead predict": _density(lambda h, x: h.generate_point_predictions(*h(x), n_samples=3)),
    "SwapNoiseCorrupter": _lazy(_SSL + "noise_generators.SwapNoiseCorrupter", [(_t(8, 3),)], [0.3, 0.3, 0.3]),
    "mixup": _use(_SSL + "augmentations.mixup", lambda f, x, y: f({"a": x, "b": y}, 0.4), (_t(8, 3), _t(8, 2))),
    "cutmix": _use(_SSL + "augmentations.cutmix", lambda f, x, y: f({"a": x, "b": y}, 0.4), (_t(8, 3), _t(8, 2))),
}

_NET, _LOSS, _AUG = "torch_ecg.models._nets.", "torch_ecg.models.loss.", "torch_ecg.augmenters."
_PRE, _MET = "torch_ecg.preprocessors.", "torch_ecg.utils.utils_metrics."
_SIGNAL = _t(4, 3, 200)
_LABELS = (_u(4, 5) > 0.5).float()


def _augment(path: str, *given: Any, labels: torch.Tensor = _LABELS, **options: Any) -> Callable[[], Built]:
    """An augmenter at its work."""
    return lambda: held(_get(_AUG + path)(*given, **options), lambda a, s, y: a(s, y), (_SIGNAL, labels))


_ECG: dict[str, Callable[[], Built]] = {
    "WeightedBCELoss": _lazy(_LOSS + "WeightedBCELoss", [(_u(4, 5), _LABELS)], torch.ones(1, 5)),
    "BCEWithLogitsWithClassWeightLoss": _lazy(
        _LOSS + "BCEWithLogitsWithClassWeightLoss", [(_t(4, 5), _LABELS)], torch.ones(1, 5)
    ),
    "MaskedBCEWithLogitsLoss": _lazy(_LOSS + "MaskedBCEWithLogitsLoss", [(_t(4, 5), _LABELS, _u(4, 5))]),
    "FocalLoss": _lazy(_LOSS + "FocalLoss", [(_t(4, 5), _LABELS)]),
    "FocalLoss one label": _lazy(_LOSS + "FocalLoss", [(_t(4, 5), _i(5, 4))], multi_label=False),
    "AsymmetricLoss": _lazy(_LOSS + "AsymmetricLoss", [(_t(4, 5), _LABELS)]),
    "AsymmetricLoss deep-psp": _lazy(_LOSS + "AsymmetricLoss", [(_t(4, 5), _LABELS)], implementation="deep-psp"),
    "RandomFlip": _augment("random_flip.RandomFlip", prob=[0.9, 0.5]),
    "RandomMasking": _augment("random_masking.RandomMasking", 100, prob=[0.9, 0.9]),
    "RandomRenormalize": _augment("random_renormalize.RandomRenormalize", prob=0.9),
    "LabelSmooth": _augment("label_smooth.LabelSmooth", prob=0.9),
    "Mixup": _augment("mixup.Mixup", prob=0.9),
    "CutMix": _augment("cutmix.CutMix", prob=0.9),
    "Normalize": _lazy(_PRE + "normalize.Normalize", [(_SIGNAL,)], method="z-score", per_channel=True),
    "Normalize min-max": _lazy(_PRE + "normalize.Normalize", [(_SIGNAL,)], method="min-max"),
    "Resample": _lazy(_PRE + "resample.Resample", [(_SIGNAL,)], siglen=120),
    "BaselineRemove": _lazy(_PRE + "baseline_remove.BaselineRemove", [(_SIGNAL,)], 100),
    "CRF": _lazy(_NET + "CRF", [(_t(6, 2, 4),)], 4),
    "CRF loss": lambda: held(
        _get(_NET + "CRF")(4), lambda m, x, y: m.neg_log_likelihood(x, y), (_t(6, 2, 4), _i(4, 6, 2))
    ),
    "StackedLSTM": _lazy(_NET + "StackedLSTM", [(_t(10, 2, 3),)], 3, [4, 5]),
    "AttentionWithContext": _lazy(_NET + "AttentionWithContext", [(_t(2, 6, 10),)], 6),
    "SelfAttention": _lazy(_NET + "SelfAttention", [(_t(10, 2, 6),)], 6, 2),
    "NonLocalBlock": _lazy(_NET + "NonLocalBlock", [(_t(2, 8, 20),)], 8),
    "GlobalContextBlock": _lazy(_NET + "GlobalContextBlock", [(_t(2, 8, 20),)], 8, 2),
    "CBAMBlock": _lazy(_NET + "CBAMBlock", [(_t(2, 8, 20),)], 8, 2),
    "MLDecoder": _lazy(_NET + "MLDecoder", [(_t(2, 16, 10),)], 16, 4, decoder_embedding=16),
    "BlurPool": _lazy(_NET + "BlurPool", [(_t(2, 3, 20),)], 2, 3),
    "ECG_CRNN": _lazy("torch_ecg.models.ecg_crnn.ECG_CRNN", [(_t(2, 2, 400),)], ["N", "A", "O"], 2),
    "ECG_UNET": _lazy("torch_ecg.models.unets.ecg_unet.ECG_UNET", [(_t(1, 2, 800),)], ["p", "N", "t", "i"], 2),
    "RR_LSTM": _lazy("torch_ecg.models.rr_lstm.RR_LSTM", [(_t(30, 2, 1),)], ["N", "A"]),
    "confusion_matrix": lambda: _call(_MET + "confusion_matrix", (_i(3, 10), _i(3, 10)), num_classes=3),
    "metrics_from_confusion_matrix": lambda: _call(
        _MET + "metrics_from_confusion_matrix", (_i(2, 10, 3), _u(10, 3)), num_classes=3
    ),
    "top_n_accuracy": lambda: _call(_MET + "top_n_accuracy", (_i(3, 10), _u(10, 3)), n=2),
}

_KM, _KP, _KE = "kale.evaluate.metrics.", "kale.predict.", "kale.embed."
_EDGES = torch.tensor([[0, 1, 2, 3, 4, 0], [1, 2, 3, 4, 0, 2]])
_TYPED = (_EDGES, torch.tensor([0, 0, 0, 1, 1, 1]), torch.tensor([[0, 3], [3, 6]]))


_KALE: dict[str, Callable[[], Built]] = {
    "cross_entropy_logits": lambda: _call(_KM + "cross_entropy_logits", (_t(6, 3), _i(3, 6))),
    "binary_cross_entropy": lambda: _call(_KM + "binary_cross_entropy", (_t(6, 1), _i(2, 6).float())),
    "topk_accuracy": lambda: _call(_KM + "topk_accuracy", (_t(6, 5), _i(5, 6)), topk=(1, 3)),
    "entropy_logits_loss": lambda: _call(_KM + "entropy_logits_loss", (_t(6, 3),)),
    "gradient_penalty": lambda: held(
        nn.Linear(4, 1), lambda c, a, b: _get(_KM + "gradient_penalty")(c, a, b), (_t(6, 4), _t(6, 4))
    ),
    "gaussian_kernel mmd": _use(
        _KM + "gaussian_kernel",
        lambda f, a, b: _get(_KM + "compute_mmd_loss")(f(a, b), 6),
        (_t(6, 4), _t(6, 4)),
    ),
    "hsic": _use(_KM + "hsic", lambda f, a, b: f(a @ a.T, b @ b.T, "cpu"), (_t(6, 4), _t(6, 4))),
    "protonet_loss": _lazy(_KM + "protonet_loss", [(_t(3, 2, 8), _t(6, 8))], 3, 2, "cpu"),
    "concord_index": lambda: _call(_KM + "concord_index", (_u(8), _u(8))),
    "auprc_auroc_ap": lambda: _call(_KM + "auprc_auroc_ap", (_i(2, 8), _u(8))),
    "calculate_distance": lambda: _call(_KM + "calculate_distance", (_t(5, 4),)),
    "signal_image_elbo_loss": lambda: _call(
        _KM + "signal_image_elbo_loss",
        (_u(2, 1, 8, 8), _u(2, 1, 8, 8), _t(2, 1, 16), _t(2, 1, 16), _t(2, 4), _t(2, 4)),
    ),
    "BANLayer": _lazy(_KE + "attention.BANLayer", [(_t(2, 5, 6), _t(2, 7, 8))], 6, 8, 12, 2),
    "PositionalEncoding": _lazy(_KE + "attention.PositionalEncoding", [(_t(5, 2, 8),)], 8),
    "CNNEncoder": _lazy(_KE + "cnn.CNNEncoder", [(_i(20, 2, 85),)], 20, 85, 85, 4, [4, 8, 12]),
    "RGCNEncoderLayer": _lazy(_KE + "gcn.RGCNEncoderLayer", [(_t(5, 4), *_TYPED)], 4, 6, 2, 2, False),
    "GCNEncoder": _lazy(_KE + "gcn.GCNEncoder", [(_t(5, 6), _EDGES, torch.tensor([0, 0, 0, 1, 1]))], 6, 8),
    "BimodalInteractionFusion": _lazy(
        _KE + "multimodal_fusion.BimodalInteractionFusion", [([_t(3, 4), _t(3, 5)],)], (4, 5), 6, "matrix", clip=(-1, 1)
    ),
    "LowRankTensorFusion": _lazy(
        _KE + "multimodal_fusion.LowRankTensorFusion", [([_t(3, 4), _t(3, 5)],)], (4, 5), 6, 2
    ),
    "ProductOfExperts": _lazy(_KE + "multimodal_fusion.ProductOfExperts", [(_t(2, 3, 4), _t(2, 3, 4))]),
    "RandomLayer": _lazy(_KE + "nn.RandomLayer", [([_t(3, 4), _t(3, 5)],)], [4, 5], 6),
    "MaxPool3dSamePadding": _lazy(_KE + "video.i3d.MaxPool3dSamePadding", [(_t(1, 2, 5, 7, 7),)], [2, 3, 3], (2, 2, 2)),
    "SELayerCT": _lazy(_KE + "video.selayer.SELayerCT", [(_t(1, 16, 4, 5, 5),)], 16, 4),
    "VCDN": _lazy(_KP + "decode.VCDN", [([_t(3, 4), _t(3, 4)],)], 2, 4, 8),
    "DistMultDecoder": _lazy(_KP + "decode.DistMultDecoder", [(_t(5, 4), _EDGES, _TYPED[1])], 4, 2),
    "SReLU": _lazy(_KP + "isonet.SReLU", [(_t(2, 4, 5, 5),)], 4),
    "ISONet ortho": lambda: held(
        nn.Conv2d(3, 4, 3),
        lambda m, x: m(x) + _get(_KP + "isonet.ISONet").ortho_conv(None, m, "cpu"),
        (_t(1, 3, 8, 8),),
    ),
    "SignalImageVAE": _lazy(_KE + "multimodal_encoder.SignalImageVAE", [(_t(2, 1, 224, 224), _t(2, 1, 64))], 1, 64, 8),
    "typed_negative_sampling": lambda: _call(
        "kale.prepdata.graph_negative_sampling.typed_negative_sampling", (_EDGES, 5, _TYPED[2])
    ),
    "negative_sampling": lambda: _call("kale.prepdata.graph_negative_sampling.negative_sampling", (_EDGES, 5)),
    "interpolate_signal": lambda: _call("kale.prepdata.signal_transform.interpolate_signal", (_t(2, 50),)),
    "seq_to_spatial": lambda: _call("kale.prepdata.tensor_reshape.seq_to_spatial", (_t(12, 2, 4), 3, 4)),
    "normalize_tensor": lambda: _call("kale.prepdata.tensor_reshape.normalize_tensor", (_t(2, 12, 4),)),
    "ToOneHotEncoding": _lazy("kale.prepdata.tabular_transform.ToOneHotEncoding", [([0, 2, 1],)], 3),
}

_CELLS = _i(6, 10, 8).float()
_BATCH, _SIZE = _i(2, 10), _u(10) + 1
_TR, _EXP, _POLI = "scarches.models.trvae.", "scarches.models.expimap.", "scarches.models.scpoli.scpoli."
_MASK = (_u(5, 8) > 0.4).float()


def _poli(use: Callable[..., Any], *inputs: Any, loss: str = "nb") -> Callable[[], Built]:
    """A use of scpoli with prototypes of three types of cells."""

    def build() -> Built:
        known = {"mean": _t(3, 4), "cov": torch.eye(4).expand(3, 4, 4).clone()}
        made = _get(_POLI + "scpoli")(
            *(8, [16], ["a", "b", "c"], None, {"batch": ["x", "y"]}, ["x", "y"], ["encoder", "decoder"], 4, [3], 1.0),
            *(loss, 0.05, 1.0, False, True, known, {"mean": _t(2, 4)}),
        )
        return held(made, use, *inputs)

    return build


_COUNTS = (_CELLS, _u(10, 8) + 0.5, _u(10, 8) + 0.5)
_SCARCHES: dict[str, Callable[[], Built]] = {
    "nb": lambda: _call(_TR + "losses.nb", _COUNTS),
    "zinb": lambda: _call(_TR + "losses.zinb", (*_COUNTS, _t(10, 8))),
    "bce": lambda: _call(_TR + "losses.bce", (_u(10, 8), _u(10, 8))),
    "poisson": lambda: _call(_TR + "losses.poisson", (_u(10, 8) + 0.5, _CELLS)),
    "mmd": lambda: _call(_TR + "losses.mmd", (_t(10, 4), _BATCH), n_conditions=2, beta=1.0, boundary=None),
    "mmd boundary": lambda: _call(_TR + "losses.mmd", (_t(10, 4), _BATCH), n_conditions=2, beta=1.0, boundary=1),
    "hsic": lambda: _call(_EXP + "losses.hsic", (_t(10, 1), _t(10, 4))),
    "one_hot_encoder": lambda: _call(_TR + "_utils.one_hot_encoder", (_BATCH, 2)),
    "partition": lambda: _call(_TR + "_utils.partition", (_t(10, 4), _BATCH, 2)),
    "trVAE": _lazy(_TR + "trvae.trVAE", [(_CELLS, _BATCH, _SIZE)], 8, ["x", "y"], [16], 4),
    "trVAE zinb mmd": _lazy(
        _TR + "trvae.trVAE",
        [(_CELLS, _BATCH, _SIZE)],
        8,
        ["x", "y"],
        [16],
        4,
        use_mmd=True,
        mmd_on="y",
        recon_loss="zinb",
    ),
    "trVAE latent": lambda: held(
        _get(_TR + "trvae.trVAE")(8, ["x", "y"], [16], 4), lambda m, x, b: m.get_latent(x, b), (_CELLS, _BATCH)
    ),
    "CondLayers": _lazy(_TR + "modules.CondLayers", [(_t(10, 10),)], 8, 6, 2, True),
    "Decoder": _lazy(
        _TR + "modules.Decoder", [(_t(10, 4), _BATCH)], [16, 8], 4, "nb", False, True, True, 0.1, num_classes=2
    ),
    "MaskedLinear": _lazy(_EXP + "modules.MaskedLinear", [(_t(10, 5),)], 5, 8, _MASK),
    "MaskedLinearDecoder": _lazy(
        _EXP + "modules.MaskedLinearDecoder", [(_t(10, 5), _BATCH)], 5, 8, 2, _MASK, None, "nb", "softmax"
    ),
    "expiMap": _lazy(_EXP + "expimap.expiMap", [(_CELLS, _BATCH, _SIZE)], 8, 5, _MASK, ["x", "y"], [16]),
    "expiMap hsic": _lazy(
        _EXP + "expimap.expiMap",
        [(_CELLS, _BATCH, _SIZE)],
        *(8, 5, _MASK, ["x", "y"], [16]),
        n_ext=2,
        use_hsic=True,
        hsic_one_vs_all=True,
    ),
    "scpoli": _poli(lambda m, x, c, b, s: m(x, c, b, s), (_CELLS, _i(2, 10, 1), _BATCH, _SIZE)),
    "scpoli mse": _poli(lambda m, x, c, b, s: m(x, c, b, s), (_CELLS, _i(2, 10, 1), _BATCH, _SIZE), loss="mse"),
    "scpoli classify": _poli(lambda m, x, c: m.classify(x, c, classes_list=torch.arange(3)), (_CELLS, _i(2, 10, 1))),
    "scpoli classify prob": _poli(
        lambda m, x, c: m.classify(x, c, classes_list=torch.arange(3), get_prob=True), (_CELLS, _i(2, 10, 1))
    ),
    "vaeArith": _lazy("scarches.models.scgen.vaearith.vaeArith", [(_t(10, 8),)], 8, [16], 4),
    "ProxGroupLasso": lambda: held(
        _get("scarches.trainers.expimap.regularized.ProxGroupLasso")(0.1, None), lambda p, w: p(w.clone()), (_t(8, 5),)
    ),
    "ProxL1": lambda: held(
        _get("scarches.trainers.expimap.regularized.ProxL1")(0.1, _MASK.T), lambda p, w: p(w.clone()), (_t(8, 5),)
    ),
    "cov": lambda: _call("scarches.trainers.scpoli._utils.cov", (_t(10, 4),)),
    "t_dist": lambda: _call("scarches.trainers.scpoli._utils.t_dist", (_t(10, 4), _t(3, 4)), alpha=1.0),
}

_MM, _MU = "torchmeta.modules.", "torchmeta.utils."


def _adapted(make: Callable[[], nn.Module], *inputs: Any) -> Callable[[], Built]:
    """A meta module that is run with parameters of its own."""

    def build() -> Built:
        made = make()
        given = OrderedDict((n, p.detach() * 0.9) for n, p in made.named_parameters())
        return held(made, lambda m, *x: m(*x, params=given), inputs)

    return build


def _step(use: Callable[..., Any], **options: Any) -> Callable[[], Built]:
    """A step of gradient descent on the parameters of a model."""

    def build() -> Built:
        made = _get(_MM + "MetaSequential")(_get(_MM + "MetaLinear")(4, 6), nn.ReLU(), _get(_MM + "MetaLinear")(6, 2))
        update = partial(_get(_MU + "gradient_based.gradient_update_parameters"), **options)
        return held(made, lambda m, x, y: use(m, update, x, y), (_t(6, 4), _i(2, 6)))

    return build


_SUPPORT = (_t(2, 6, 8), _i(3, 2, 6))
_META: dict[str, Callable[[], Built]] = {
    "MetaLinear": _lazy(_MM + "MetaLinear", [(_t(3, 4),)], 4, 2),
    "MetaLinear params": _adapted(lambda: _get(_MM + "MetaLinear")(4, 2), _t(3, 4)),
    "MetaBilinear": _adapted(lambda: _get(_MM + "MetaBilinear")(4, 3, 2), _t(3, 4), _t(3, 3)),
    "MetaConv1d": _adapted(lambda: _get(_MM + "MetaConv1d")(2, 3, 3), _t(1, 2, 8)),
    "MetaConv2d": _adapted(lambda: _get(_MM + "MetaConv2d")(2, 3, 3, padding=1), _t(1, 2, 8, 8)),
    "MetaConv2d circular": _adapted(
        lambda: _get(_MM + "MetaConv2d")(2, 3, 3, padding=1, padding_mode="circular"), _t(1, 2, 8, 8)
    ),
    "MetaConv3d": _adapted(lambda: _get(_MM + "MetaConv3d")(2, 3, 3), _t(1, 2, 5, 5, 5)),
    "MetaBatchNorm1d": _lazy(_MM + "MetaBatchNorm1d", [(_t(6, 4),)], 4),
    "MetaBatchNorm2d": _adapted(lambda: _get(_MM + "MetaBatchNorm2d")(2), _t(3, 2, 4, 4)),
    "MetaLayerNorm": _adapted(lambda: _get(_MM + "MetaLayerNorm")(4), _t(3, 4)),
    "MetaEmbedding": _adapted(lambda: _get(_MM + "MetaEmbedding")(5, 4), _i(5, 6)),
    "MetaEmbeddingBag": _adapted(lambda: _get(_MM + "MetaEmbeddingBag")(5, 4), _i(5, 2, 3)),
    "MetaMultiheadAttention": _adapted(
        lambda: _get(_MM + "MetaMultiheadAttention")(8, 2), _t(4, 2, 8), _t(4, 2, 8), _t(4, 2, 8)
    ),
    "MetaSequential": _adapted(
        lambda: _get(_MM + "MetaSequential")(_get(_MM + "MetaLinear")(4, 6), nn.ReLU(), _get(_MM + "MetaLinear")(6, 2)),
        _t(3, 4),
    ),
    "gradient_update": _step(
        lambda m, update, x, y: m(x, params=update(m, nn.functional.cross_entropy(m(x), y), step_size=0.1))
    ),
    "gradient_update first order": _step(
        lambda m, update, x, y: m(x, params=update(m, nn.functional.cross_entropy(m(x), y))), first_order=True
    ),
    "pairwise_cosine_similarity": lambda: _call(
        _MU + "matching.pairwise_cosine_similarity", (_t(2, 3, 4), _t(2, 5, 4))
    ),
    "matching_probas": lambda: _call(_MU + "matching.matching_probas", (*_SUPPORT, _t(2, 5, 8)), num_classes=3),
    "matching_loss": lambda: _call(
        _MU + "matching.matching_loss", (*_SUPPORT, _t(2, 5, 8), _i(3, 2, 5)), num_classes=3
    ),
    "get_prototypes": lambda: _call(_MU + "prototype.get_prototypes", (*_SUPPORT, 3)),
    "prototypical_loss": lambda: _call(_MU + "prototype.prototypical_loss", (_t(2, 3, 8), *_SUPPORT)),
    "ridge_regression": lambda: _call(_MU + "r2d2.ridge_regression", (_t(6, 8), _i(3, 6), 0.1), num_classes=3),
    "ridge_regression classes": lambda: _call(_MU + "r2d2.ridge_regression", (_t(6, 8), _i(3, 6), 0.1)),
    "ridge_regression values": lambda: _call(
        _MU + "r2d2.ridge_regression", (_t(6, 8), _t(6, 2), torch.tensor(0.1)), use_woodbury=False
    ),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"pytorch_tabular/{name}": build for name, build in _TABULAR.items()},
    **{f"torch_ecg/{name}": build for name, build in _ECG.items()},
    **{f"kale/{name}": build for name, build in _KALE.items()},
    **{f"scarches/{name}": build for name, build in _SCARCHES.items()},
    **{f"torchmeta/{name}": build for name, build in _META.items()},
}

"""Models of toto, matcha, lightning_uq_box, lhotse and torchdrift.

They were chosen, and written, before `check` was run on these packages.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import Later, held, on, random_inputs
from accuracy_models.stand_ins import getter, without_packages

_t, _u, _i = random_inputs(113)
_ABSENT = {
    "matcha": ("wget", "gdown", "librosa", "rootutils", "soundfile", "phonemizer", "piper_phonemize"),
    "lightning_uq_box": ("torchseg", "h5py", "laplace", "lightly", "kornia", "jsonargparse", "tensorboard"),
    "lhotse": ("torchaudio", "soundfile"),
}
_ABSENT["matcha"] += ("inflect", "unidecode", "tensorboard")


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))


_get = getter({}, ("matcha", "lightning_uq_box", "lightning_uq_box.uq_methods"), _prepare)
_later = Later(_get)
_of, _lazy, _fun, _on = _later.of, _later.lazy, _later.fun, on

_TM = "toto.model."
_SERIES, _THERE, _IDS = _t(2, 3, 32), torch.ones(2, 3, 32, dtype=torch.bool), torch.zeros(2, 3, 32)
_BACKBONE = {
    "patch_size": 8,
    "stride": 8,
    "embed_dim": 16,
    "num_layers": 2,
    "num_heads": 2,
    "mlp_hidden_dim": 16,
    "dropout": 0.1,
    "spacewise_every_n_layers": 2,
    "use_memory_efficient_attention": False,
}


def _backbone(scaler: str = "StdMeanScaler", output: str = "StudentTOutput", **options: Any) -> Any:
    """A small network of series."""
    return _of(
        _TM + "backbone.TotoBackbone",
        scaler_cls=f"<class 'model.scaler.{scaler}'>",
        output_distribution_classes=[f"<class 'model.distribution.{output}'>"],
        **{**_BACKBONE, **options},
    )


def _scaled(name: str, **options: Any) -> Callable[[], Built]:
    """The scaling of series."""
    return _on(
        _of(_TM + "scaler." + name, **options),
        lambda s, x, m: s(x, m, torch.ones_like(x)),
        *(_SERIES, _THERE),
    )


def _forecast(use: Callable[..., Any]) -> Callable[[], Built]:
    """A forecast of series."""
    return _on(
        partial(
            lambda: _get("toto.inference.forecaster.TotoForecaster")(_backbone("CausalPatchStdMeanScaler")().eval())
        ),
        use,
        *(_SERIES, torch.arange(32).expand(2, 3, 32).clone(), torch.full((2, 3), 60)),
    )


def _loss(name: str, **options: Any) -> Callable[[], Built]:
    """A loss of a distribution."""
    return _on(
        _of(_TM + "losses." + name, **options),
        lambda f, m, s, y: f(torch.distributions.StudentT(4.0, m, s), y),
        *(_t(6), _u(6) + 0.5, _t(6)),
    )


_TOTO: dict[str, Callable[[], Built]] = {
    "StdMeanScaler": _scaled("StdMeanScaler"),
    "CausalStdMeanScaler": _scaled("CausalStdMeanScaler"),
    "CausalStdMeanScaler global": _scaled("CausalStdMeanScaler", stabilize_with_global=True),
    "CausalPatchStdMeanScaler": _scaled("CausalPatchStdMeanScaler", patch_size=8),
    "prefix": _on(
        _of(_TM + "scaler.CausalStdMeanScaler"), lambda s, x, m: s(x, m, torch.ones_like(x), 16), _SERIES, _THERE
    ),
    "patchify": _fun(_TM + "embedding.patchify_id_mask", _IDS, 8),
    "PatchEmbedding": _lazy(_TM + "embedding.PatchEmbedding", _SERIES, _IDS, given=(8, 8, 16)),
    "SwiGLU": _lazy(_TM + "feed_forward.SwiGLU", _t(2, 16)),
    "RMSNorm": _lazy(_TM + "util.RMSNorm", _t(2, 16), given=(16,)),
    "RMSNorm increment": _on(
        _of(_TM + "util.RMSNorm", 16), lambda m, x, y: m.increment_and_forward_(x, y), _t(2, 16), _t(2, 16)
    ),
    "block mask": _fun(_TM + "util.make_batched_block_mask", _i(2, 2, 5)),
    "StudentT": _on(_of(_TM + "distribution.StudentTOutput", 16), lambda m, x: m(x).base_dist.df, _t(2, 3, 16)),
    "mixture": _on(
        _of(_TM + "distribution.MixtureOfStudentTsOutput", 16, 3), lambda m, x, y: m(x).log_prob(y), _t(2, 16), _t(2)
    ),
    "Fusion": _lazy(_TM + "fusion.Fusion", _t(2, 3, 4, 16), _t(2, 3, 1, 16)),
    "backbone": _on(_backbone(), lambda m, *x: m(*x).loc, _SERIES, _THERE, _IDS),
    "backbone mixture": _on(
        _backbone(
            "CausalPatchStdMeanScaler", "MixtureOfStudentTsOutput", output_distribution_kwargs={"k_components": 2}
        ),
        lambda m, *x: m(*x).scale,
        *(_SERIES, _THERE, _IDS),
    ),
    "backbone cache": _on(
        _backbone(),
        lambda m, *x: m(*x, m.allocate_kv_cache(2, 3, 8, torch.device("cpu"), torch.float32)).loc,
        *(_SERIES, _THERE, _IDS),
    ),
    "forecast mean": _forecast(lambda f, *x: f.generate_mean(x[0], 8, x[1], x[2])),
    "forecast cache": _forecast(lambda f, *x: f.generate_mean(x[0], 8, x[1], x[2], use_kv_cache=True)),
    "forecast samples": _forecast(lambda f, *x: f.generate_samples(x[0], 8, 4, x[1], x[2], sampling_batch_size=2)),
    "NegativeLogLikelihood": _loss("NegativeLogLikelihood"),
    "GeneralRobustLoss": _loss("GeneralRobustLoss", alpha=0.5),
    "CombinedLoss": _loss("CombinedLoss"),
    "pad_array": _fun("toto.data.util.dataset.pad_array", _t(2, 3, 13), 8),
    "pad_id_mask": _fun("toto.data.util.dataset.pad_id_mask", _i(2, 2, 3, 13), 8),
    "extreme": _fun("toto.data.util.dataset.replace_extreme_values", torch.tensor([1.0, float("inf"), 2.0])),
    "id_mask": _fun("toto.data.util.helpers.build_id_mask", 3, 8, torch.device("cpu"), torch.float32),
    "variate first": _fun("toto.data.util.helpers.ensure_variate_first", _t(13)),
}

_MC, _MH, _MU = "matcha.models.components.", "matcha.hifigan.", "matcha.utils."
_TEXT, _LENGTHS = _i(20, 2, 7), torch.tensor([7, 5])
_MASK = (torch.arange(8) < torch.tensor([8, 6])[:, None]).float()[:, None]
_ENCODER = SimpleNamespace(
    encoder_type="RoPE Encoder",
    encoder_params=SimpleNamespace(
        n_feats=8, n_channels=16, filter_channels=16, n_heads=2, n_layers=1, kernel_size=3, p_dropout=0.1, prenet=True
    ),
    duration_predictor_params=SimpleNamespace(filter_channels_dp=16, kernel_size=3, p_dropout=0.1),
)
_DECODER = {
    "channels": [32, 32],
    "dropout": 0.05,
    "attention_head_dim": 8,
    "n_blocks": 1,
    "num_mid_blocks": 1,
    "num_heads": 2,
    "act_fn": "snakebeta",
}
_H = SimpleNamespace(
    resblock="1",
    upsample_rates=[4, 2],
    upsample_kernel_sizes=[8, 4],
    upsample_initial_channel=16,
    resblock_kernel_sizes=[3],
    resblock_dilation_sizes=[[1, 3, 5]],
)


def _matcha(use: Callable[..., Any], speakers: int = 1, **options: Any) -> Callable[[], Built]:
    """A use of the whole network."""
    made = _of(
        *("matcha.models.matcha_tts.MatchaTTS", 20, speakers, 8, 8, _ENCODER, _DECODER),
        *(SimpleNamespace(name="CFM", solver="euler", sigma_min=1e-4), {"mel_mean": 0.0, "mel_std": 1.0}, None),
        **options,
    )
    return _on(made, use, _TEXT, _LENGTHS, _t(2, 8, 16), torch.tensor([16, 12]))


def _flow(use: Callable[..., Any]) -> Callable[[], Built]:
    """A use of the decoder by flow matching."""
    made = _of(_MC + "flow_matching.CFM", 16, 8, SimpleNamespace(solver="euler", sigma_min=1e-4), _DECODER)
    return _on(made, use, _t(2, 8, 8), _MASK, _t(2, 8, 8))


_MATCHA: dict[str, Callable[[], Built]] = {
    "SinusoidalPosEmb": _lazy(_MC + "decoder.SinusoidalPosEmb", _u(4), given=(16,)),
    "Block1D": _lazy(_MC + "decoder.Block1D", _t(2, 8, 8), _MASK, given=(8, 16)),
    "ResnetBlock1D": _lazy(_MC + "decoder.ResnetBlock1D", _t(2, 8, 8), _MASK, _t(2, 12), given=(8, 16, 12)),
    "Upsample1D": _lazy(_MC + "decoder.Upsample1D", _t(2, 8, 8), given=(8,), use_conv=True, use_conv_transpose=False),
    "Decoder": _lazy(*(_MC + "decoder.Decoder", _t(2, 8, 8), _MASK, _t(2, 8, 8), _u(2)), given=(16, 8), **_DECODER),
    "CFM": _flow(lambda m, x, mask, _: m(x, mask, 2)),
    "CFM loss": _flow(lambda m, x, mask, mu: m.compute_loss(x, mask, mu)),
    "TextEncoder": _lazy(
        *(_MC + "text_encoder.TextEncoder", _TEXT, _LENGTHS),
        given=(_ENCODER.encoder_type, _ENCODER.encoder_params, _ENCODER.duration_predictor_params, 20),
    ),
    "DurationPredictor": _lazy(_MC + "text_encoder.DurationPredictor", _t(2, 8, 8), _MASK, given=(8, 16, 3, 0.1)),
    "rotary": _lazy(_MC + "text_encoder.RotaryPositionalEmbeddings", _t(2, 2, 8, 16), given=(8,)),
    "attention": _lazy(
        _MC + "text_encoder.MultiHeadAttention",
        *(_t(2, 16, 8), _t(2, 16, 8)),
        given=(16, 16, 2),
        proximal_bias=True,
        proximal_init=True,
    ),
    "SnakeBeta": _lazy(_MC + "transformer.SnakeBeta", _t(2, 8), given=(8, 8)),
    "FeedForward": _lazy(_MC + "transformer.FeedForward", _t(2, 8), given=(8,), activation_fn="snakebeta"),
    "TransformerBlock": _lazy(
        _MC + "transformer.BasicTransformerBlock", _t(2, 6, 16), given=(16, 2, 8), activation_fn="gelu"
    ),
    "training": _matcha(lambda m, *x: m(*x)),
    "training cut": _matcha(lambda m, *x: m(*x, out_size=8)),
    "synthesise": _matcha(lambda m, x, n, *_: m.synthesise(x, n, 2)["mel"]),
    "durations": _matcha(
        lambda m, *x: m(*x, durations=torch.ones(2, 1, 7)), use_precomputed_durations=True, prior_loss=False
    ),
    "Generator": _lazy(_MH + "models.Generator", _t(2, 80, 6), given=(_H,)),
    "DiscriminatorP": _lazy(_MH + "models.DiscriminatorP", _t(1, 1, 101), given=(3,)),
    "DiscriminatorS": _lazy(_MH + "models.DiscriminatorS", _t(1, 1, 256)),
    "feature_loss": _fun(_MH + "models.feature_loss", [[_t(2, 3)]], [[_t(2, 3)]]),
    "discriminator_loss": _fun(_MH + "models.discriminator_loss", [_t(2, 3)], [_t(2, 3)]),
    "generator_loss": _fun(_MH + "models.generator_loss", [_t(2, 3)]),
    "Denoiser": _on(
        partial(lambda: _get(_MH + "denoiser.Denoiser")(_get(_MH + "models.Generator")(_H), 64, 4, 64)),
        lambda m, x: m(x, 0.01),
        _t(2, 512),
    ),
    "sequence_mask": _fun(_MU + "model.sequence_mask", _LENGTHS),
    "fix_len": _fun(_MU + "model.fix_len_compatibility", torch.tensor(13)),
    "generate_path": _fun(_MU + "model.generate_path", _i(3, 2, 7), torch.ones(2, 7, 12)),
    "duration_loss": _fun(_MU + "model.duration_loss", _t(2, 1, 7), _t(2, 1, 7), _LENGTHS),
    "normalize": _fun(_MU + "model.normalize", _t(2, 8, 4), 0.5, 2.0),
    "normalize each": _fun(_MU + "model.normalize", _t(2, 8, 4), _t(8).tolist(), _u(8).numpy()),
    "denormalize": _fun(_MU + "model.denormalize", _t(2, 8, 4), torch.tensor(0.5), torch.tensor(2.0)),
}

_QM, _QU = "lightning_uq_box.models.", "lightning_uq_box.uq_methods."
_QB = _QM + "bnn_layers."
_NET = _of(_QM + "mlp.MLP", n_inputs=3, n_hidden=[8], n_outputs=2)


def _bayesian(name: str, x: torch.Tensor, *given: Any, **options: Any) -> Callable[[], Built]:
    """A layer of random weights, and its divergence."""
    return _on(_of(_QB + name, *given, **options), lambda m, x_: (m(x_), m.kl_loss()), x)


def _predicted(name: str, x: torch.Tensor, *given: Any, **options: Any) -> Callable[[], Built]:
    """The prediction of a method."""
    return _on(_of(_QU + name, *given, **options), lambda m, x_: m.predict_step(x_), x)


_UQ: dict[str, Callable[[], Built]] = {
    "MLP": _lazy(_QM + "mlp.MLP", _t(4, 3), n_inputs=3, dropout_p=0.1),
    "FCResNet": _lazy(_QM + "fc_resnet.FCResNet", _t(4, 3), given=(3, 8, 2)),
    "LinearVariational": _bayesian("linear_variational.LinearVariational", _t(4, 3), 3, 2),
    "LinearVariational flipout": _bayesian(
        "linear_variational.LinearVariational", _t(4, 3), 3, 2, layer_type="flipout"
    ),
    "LinearVariational frozen": _on(
        _of(_QB + "linear_variational.LinearVariational", 3, 2, batched_samples=True, max_n_samples=4),
        lambda m, x: (m.freeze_layer(4), m(x.expand(4, 5, 3))),
        _t(5, 3),
    ),
    "Conv1dVariational": _bayesian("conv_variational.Conv1dVariational", _t(2, 3, 8), 3, 2, 3),
    "Conv2dVariational": _bayesian("conv_variational.Conv2dVariational", _t(2, 3, 8, 8), 3, 2, 3, layer_type="flipout"),
    "ConvTranspose2dVariational": _bayesian("conv_variational.ConvTranspose2dVariational", _t(2, 3, 8, 8), 3, 2, 3),
    "LSTMVariational": _bayesian("rnn_layer.LSTMVariational", _t(2, 5, 3), 3, 4),
    "log_f_hat": _on(
        _of(_QB + "linear_variational.LinearVariational", 3, 2),
        lambda m, x: (m(x), m.log_f_hat(), m.log_normalizer(), m.calc_log_Z_prior()),
        _t(4, 3),
    ),
    "DensityLinear": _on(
        _of(_QM + "density_layers.DensityLinear", 3, 2), lambda m, x: (m(x), m.compute_kl_div()), _t(4, 3)
    ),
    "DensityConv2d": _on(_of(_QM + "density_layers.DensityConv2d", 3, 2, (3, 3), 1), lambda m, x: m(x), _t(2, 3, 8, 8)),
    "LatentVariable": _lazy(
        *(_QM + "bnnlv.latent_variable_network.LatentVariableNetwork", _t(4, 2), _t(4, 1)),
        given=(_of(_QM + "mlp.MLP", n_inputs=3, n_outputs=2), 10),
    ),
    "CARD linear": _lazy(
        *(_QM + "cards.ConditionalGuidedLinearModel", _t(4, 3), _t(4, 1), _t(4, 1), _i(5, 4)),
        given=(5, 3, 1, [8]),
        cat_x=True,
        cat_y_pred=True,
    ),
    "MaskedLinear": _lazy(_QM + "masked_ensemble.masked_layers.MaskedLinear", _t(8, 12), given=(4, 2.0, 12, 6)),
    "MaskedConv2d": _lazy(
        _QM + "masked_ensemble.masked_layers.MaskedConv2d", _t(4, 12, 8, 8), given=(4, 2.0, 12, 12, 3)
    ),
    "MaskedConv": _lazy(_QM + "masked_conv.MaskedConv2d", _t(1, 3, 8, 8), given=(3, (3, 3)), padding=1),
    "MixtureDensity": _lazy(_QM + "mixture_density.MixtureDensityLayer", _t(4, 3), given=(3, 1, 2, [8])),
    "MixtureDensity isotropic": _lazy(
        _QM + "mixture_density.MixtureDensityLayer", _t(4, 3), given=(3, 1, 2, [8]), noise_type="isotropic"
    ),
    "MovingAverage": _lazy(_QM + "hierarchical_prob_unet.MovingAverage", torch.tensor(1.0)),
    "LagrangeMultiplier": _lazy(_QM + "hierarchical_prob_unet.LagrangeMultiplier", torch.tensor(0.5)),
    "AxisAlignedConvGaussian": _on(
        _of(_QM + "prob_unet.AxisAlignedConvGaussian", 1, [8, 8], 1, 2, posterior=True),
        lambda m, x, s: m(x, s).base_dist.loc,
        *(_t(2, 1, 8, 8), _t(2, 1, 8, 8)),
    ),
    "Fcomb": _lazy(
        _QM + "prob_unet.Fcomb", _t(2, 8, 8, 8), _t(2, 2), given=(10, 8, 3, 2, {"w": "orthogonal", "b": "normal"})
    ),
    "EnergyAlphaDivergence": _lazy(
        _QU + "loss_functions.EnergyAlphaDivergence", *(_t(5, 4), *(_t(5) for _ in range(5))), given=(10,)
    ),
    "NLL": _lazy(_QU + "loss_functions.NLL", _t(4, 2), _t(4, 1)),
    "PinballLoss": _lazy(_QU + "loss_functions.PinballLoss", _t(4, 3), _t(4, 1), given=([0.1, 0.5, 0.9],)),
    "DERLoss": _lazy(_QU + "loss_functions.DERLoss", _u(4, 4) + 1.5, _t(4, 1)),
    "VAELoss": _lazy(_QU + "loss_functions.VAELoss", _t(4, 3), _t(4, 3), _t(4, 2), _t(4, 2)),
    "MixtureDensityLoss": _lazy(
        _QU + "loss_functions.MixtureDensityLoss", _t(4, 2), _t(4, 2, 1), _u(4, 2, 1) + 0.5, _t(4, 1)
    ),
    "DERLayer": _lazy(_QU + "deep_evidential_regression.DERLayer", _t(4, 4)),
    "regression prediction": _fun(_QU + "utils.process_regression_prediction", _t(4, 1, 6)),
    "regression variance": _fun(_QU + "utils.process_regression_prediction", _t(4, 2, 6)),
    "regression quantiles": _fun(_QU + "utils.process_regression_prediction", _t(4, 2, 6), [0.1, 0.5, 0.9]),
    "classification prediction": _fun(_QU + "utils.process_classification_prediction", _t(4, 3, 6)),
    "segmentation prediction": _fun(_QU + "utils.process_segmentation_prediction", _t(4, 3, 8, 8, 6)),
    "q_hat": _fun(_QU + "conformal_qr.compute_q_hat_with_cqr", _t(12), _t(12) + 1, _t(12), 0.1),
    "raps sort_sum": _fun(_QU + "raps.sort_sum", torch.softmax(_t(4, 5), -1)),
    "raps q_hat": _fun(
        _QU + "raps.compute_q_hat", _t(12, 5), _i(5, 12), nn.Parameter(torch.tensor([1.3])), torch.zeros(1, 5), 0.1
    ),
    "raps quantile": _on(
        partial(lambda: (_get(_QU + "raps.sort_sum"), _get(_QU + "raps.gen_cond_quantile_function"))),
        lambda f, p: f[1](p, torch.tensor(0.8), *f[0](p), torch.zeros(1, 5), True, False),
        torch.softmax(_t(4, 5), -1),
    ),
    "temp scale": _fun(_QU + "temp_scaling.temp_scale_logits", _t(4, 5), torch.tensor([1.5])),
    "temp fit": _fun(
        _QU + "temp_scaling.run_temperature_optimization",
        *(_t(8, 5), _i(5, 8), nn.CrossEntropyLoss(), nn.Parameter(torch.tensor([1.5]))),
    ),
    "Fourier": _lazy(_QU + "sngp.RandomFourierFeatures", _t(4, 3), given=(3, 16)),
    "SpectralBatchNorm1d": _lazy(_QU + "spectral_normalized_layers.SpectralBatchNorm1d", _t(8, 3), given=(3, 0.9)),
    "spectral fc": _on(
        partial(lambda: _get(_QU + "spectral_normalized_layers.spectral_norm_fc")(nn.Linear(3, 4), 0.9)),
        lambda m, x: m(x),
        _t(4, 3),
    ),
    "spectral conv": _on(
        partial(
            lambda: _get(_QU + "spectral_normalized_layers.spectral_norm_conv")(nn.Conv2d(3, 4, 3), 0.9, (3, 8, 8))
        ),
        lambda m, x: m(x),
        _t(2, 3, 8, 8),
    ),
    "EmpiricalCoverage": _on(
        _of(_QU + "metrics.EmpiricalCoverage"),
        lambda m, p, y: (m.update(p, y), m.compute()),
        *(_t(8, 5), _i(5, 8)),
    ),
    "SetSize": _on(
        _of(_QU + "metrics.SetSize", topk=None),
        lambda m, a, y: (m.update([a, a + 1, a], y), m.compute()),
        *(_i(5, 3), _i(5, 3)),
    ),
    "aleatoric": _fun("lightning_uq_box.eval_utils.uq_computation.compute_aleatoric_uncertainty", _u(4, 6)),
    "predictive": _fun("lightning_uq_box.eval_utils.uq_computation.compute_predictive_uncertainty", _t(4, 6), _u(4, 6)),
    "coverage": _fun("lightning_uq_box.eval_utils.uq_computation.compute_empirical_coverage", _t(8, 2), _t(8)),
    "ce_loss": _fun(_QU + "hierarchical_prob_unet.ce_loss", _t(2, 3, 8, 8), _i(3, 2, 8, 8).float()),
    "topk mask": _fun(_QU + "hierarchical_prob_unet._topk_mask", _t(12), 4),
    "DER": _predicted("deep_evidential_regression.DER", _t(4, 3), _of(_QM + "mlp.MLP", n_inputs=3, n_outputs=4)),
    "MVE": _predicted("mean_variance_estimation.MVERegression", _t(4, 3), _NET, 2),
    "MCDropout": _predicted(
        "mc_dropout.MCDropoutRegression",
        *(_t(4, 3), _of(_QM + "mlp.MLP", n_inputs=3, dropout_p=0.1), 3, nn.MSELoss()),
    ),
    "Quantile": _predicted(
        "quantile_regression.QuantileRegression", _t(4, 3), _of(_QM + "mlp.MLP", n_inputs=3, n_outputs=3)
    ),
    "ZigZag": _predicted(
        "zigzag.ZigZagRegression", _t(4, 3), _of(_QM + "mlp.MLP", n_inputs=4, n_outputs=1), nn.MSELoss()
    ),
    "BNN VI": _predicted("bnn_vi.BNN_VI_Regression", _t(4, 3), _of(_QM + "mlp.MLP", n_inputs=3), 2, 3),
    "BNN energy": _on(
        _of(_QU + "bnn_vi.BNN_VI_Regression", _of(_QM + "mlp.MLP", n_inputs=3), 2, 3),
        lambda m, x, y: m.compute_energy_loss(x, y),
        *(_t(4, 3), _t(4, 1)),
    ),
}

_LK, _LS = "lhotse.features.kaldi.layers.", "lhotse.dataset.signal_transforms."
_WAVE = _t(2, 3200)


def _sound(name: str, **options: Any) -> Callable[[], Built]:
    """Features of sound."""
    return _lazy(_LK + name, _WAVE, **options)


_LHOTSE: dict[str, Callable[[], Built]] = {
    "Wav2Win": _sound("Wav2Win", return_log_energy=True),
    "Wav2Win dither": _sound("Wav2Win", dither=0.1, snip_edges=True),
    "Wav2FFT": _sound("Wav2FFT"),
    "Wav2Spec": _sound("Wav2Spec", use_energy=True),
    "Wav2LogSpec": _sound("Wav2LogSpec"),
    "Wav2LogFilterBank": _sound("Wav2LogFilterBank", num_filters=20),
    "Wav2MFCC": _sound("Wav2MFCC", use_energy=True),
    "online": _on(_of(_LK + "Wav2LogFilterBank"), lambda m, x: m.online_inference(x), _WAVE),
    "online context": _on(
        _of(_LK + "Wav2LogFilterBank"), lambda m, x, c: m.online_inference(x, context=c), _WAVE, _t(2, 160)
    ),
    "mel scale": _fun(_LK + "create_mel_scale", 20, 256, 16000),
    "mel banks": _fun(_LK + "get_mel_banks", 20, 512, 16000.0, 20.0, -400.0),
    "window": _fun(_LK + "create_frame_window", 400, "povey"),
    "lin2mel": _fun(_LK + "lin2mel", _u(8) * 1000),
    "GlobalMVN": _lazy(_LS + "GlobalMVN", _t(2, 30, 8), given=(8,)),
    "GlobalMVN segments": _lazy(*(_LS + "GlobalMVN", _t(2, 30, 8), torch.tensor([[0, 0, 20], [1, 5, 15]])), given=(8,)),
    "RandomizedSmoothing": _lazy(_LS + "RandomizedSmoothing", _WAVE, p=1.0),
    "RandomizedSmoothing schedule": _lazy(_LS + "RandomizedSmoothing", _WAVE, sigma=[(0, 0.01), (10, 0.1)]),
    "SpecAugment": _lazy(_LS + "SpecAugment", _t(2, 60, 20), p=1.0, time_warp_factor=10),
    "SpecAugment segments": _lazy(
        *(_LS + "SpecAugment", _t(2, 60, 20), torch.tensor([[0, 0, 40], [1, 5, 50]])), p=1.0, time_warp_factor=10
    ),
    "time_warp": _fun(_LS + "time_warp", _t(60, 20), 10),
    "mask": _fun(_LS + "mask_along_axis_optimized", _t(60, 20), 10, 2, 0.0, 1),
    "batch mask": _fun(_LS + "random_mask_along_batch_axis", _t(8, 3), 0.5),
    "DereverbWPE": _fun("lhotse.augmentation.wpe.dereverb_wpe_torch", _t(2, 4000), 64, 16, 3),
    "Resample": _lazy("lhotse.augmentation.resample.Resample", _WAVE, given=(16000, 8000)),
    "resample": _fun("lhotse.augmentation.resample.resample", _WAVE, 16000, 11025),
    "convolve1d": _fun("lhotse.augmentation.utils.convolve1d", _t(100), _t(20)),
    "collate_vectors": _fun("lhotse.dataset.collation.collate_vectors", [_t(4), _t(6)], 0),
    "collate_matrices": _fun("lhotse.dataset.collation.collate_matrices", [_t(4, 3), _t(6, 3)]),
    "lens_to_mask": _fun("lhotse.utils.lens_to_mask", torch.tensor([3, 5])),
}

_DD = "torchdrift.detectors."


def _drift(made: Any) -> Callable[[], Built]:
    """A detector that has seen the reference."""

    def build() -> Built:
        detector = made()
        detector.fit(_t(16, 4))
        return held(detector, lambda m, x: m(x), (_t(12, 4),))

    return build


_DRIFT: dict[str, Callable[[], Built]] = {
    "mmd": _drift(_of(_DD + "KernelMMDDriftDetector", n_perm=5)),
    "mmd p": _drift(_of(_DD + "KernelMMDDriftDetector", n_perm=5, return_p_value=True)),
    "mmd exp": _drift(_of(_DD + "KernelMMDDriftDetector", kernel=_of(_DD + "mmd.ExpKernel", 1.0))),
    "mmd quadratic": _drift(_of(_DD + "KernelMMDDriftDetector", kernel=_of(_DD + "mmd.RationalQuadraticKernel"))),
    "kernel_mmd": _fun(_DD + "kernel_mmd", _t(12, 4), _t(16, 4), 5),
    "ks": _drift(_of(_DD + "KSDriftDetector")),
    "ks p": _drift(_of(_DD + "KSDriftDetector", return_p_value=True)),
    "ks statistic": _fun(_DD + "ks_two_sample_multi_dim", _t(12, 4), _t(16, 4)),
    "pca": _on(
        partial(lambda: (m := _get("torchdrift.reducers.PCAReducer")(2), m.fit(_t(16, 4)))[0]),
        lambda m, x: m(x),
        _t(12, 4),
    ),
    "pca fit": _on(_of("torchdrift.reducers.PCAReducer", 2), lambda m, x: m.fit(x), _t(16, 4)),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"toto/{name}": build for name, build in _TOTO.items()},
    **{f"matcha/{name}": build for name, build in _MATCHA.items()},
    **{f"lightning_uq_box/{name}": build for name, build in _UQ.items()},
    **{f"lhotse/{name}": build for name, build in _LHOTSE.items()},
    **{f"torchdrift/{name}": build for name, build in _DRIFT.items()},
}

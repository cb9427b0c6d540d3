"""Models of zennit, lampe and flamo, which were chosen and run after the work on the rest of the fourteenth group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from accuracy_models import Built
from accuracy_models.inputs import complex_normal, held, models_by_name, random_inputs, uses_by_name
from accuracy_models.stand_ins import getter

_t, _u, _i = random_inputs(16)
# What these packages import of others and the models here do not use.
_ABSENT = {
    "zennit": ("PIL", "torchvision.models.resnet"),
    "lampe": ("h5py",),
    "flamo": ("soundfile", "nnAudio", "pyfar", "matplotlib.pyplot"),
}
_get = getter(_ABSENT, ())
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_Z = "zennit."


def _net() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 3))


def _attributed(name: str, **options: Any) -> Built:
    made = _get(_Z + "attribution." + name)(_net(), **options)
    return held(made, lambda a, x: a(x, torch.eye(3)[[0, 1]]), (_t(2, 4),))


_ZENNIT: dict[str, Callable[[], Built]] = {
    "Gradient": lambda: _attributed("Gradient"),
    "SmoothGrad": lambda: _attributed("SmoothGrad", n_iter=2),
    "IntegratedGradients": lambda: _attributed("IntegratedGradients", n_iter=2),
    "Occlusion": lambda: held(
        _get(_Z + "attribution.Occlusion")(nn.Sequential(nn.Flatten(), nn.Linear(64, 3)), window=(4, 4), stride=(4, 4)),
        lambda a, x: a(x, torch.eye(3)[[0, 1]]),
        (_t(2, 1, 8, 8),),
    ),
    "occlude_independent": lambda: _call(_Z + "attribution.occlude_independent", (_t(2, 4), _t(2, 4) > 0)),
    "stabilize": lambda: _call(_Z + "core.stabilize", (_t(3, 4),)),
    "stabilize clipped": lambda: _call(_Z + "core.stabilize", (_t(3, 4),), clip=True, norm_scale=True),
    "expand": lambda: _call(_Z + "core.expand", (_t(1, 4), (3, 4))),
    "Sum": lambda: _made(_Z + "layer.Sum", [(_t(3, 4),)]),
    "interval_norm_bounds": lambda: _using(
        _Z + "image.interval_norm_bounds", lambda use, x: use(x.numpy(), symmetric=True), (_t(3, 4),)
    ),
    "gridify": lambda: _using(_Z + "image.gridify", lambda use, x: use(x.numpy()), (_t(4, 1, 4, 4),)),
    **{
        f"{name} gradient": (lambda name=name: _explained(name))
        for name in ("EpsilonPlus", "EpsilonAlpha2Beta1", "EpsilonPlusFlat", "GuidedBackprop", "BetaSmooth")
    },
}


def _explained(name: str) -> Built:
    made = _get(_Z + "attribution.Gradient")(_net(), _get(_Z + "composites." + name)())
    return held(made, lambda a, x: a(x, torch.eye(3)[[0, 1]]), (_t(2, 4),))


_L = "lampe."


def _estimator(name: str, **options: Any) -> Any:
    return _get(_L + "inference." + name)(3, 4, **options)


def _trained(loss: str, name: str, **options: Any) -> Built:
    made = _get(_L + "inference." + loss)(_estimator(name), **options)
    return made, [(_t(6, 3), _t(6, 4))]


def _walk(use: Callable[..., Any]) -> Built:
    return (
        lambda x: use(_get(_L + "inference.mcmc.MetropolisHastings")(x, log_f=lambda y: -(y**2).sum(-1), sigma=0.5)),
        [(_t(4, 2),)],
    )


_LAMPE: dict[str, Callable[[], Built]] = {
    "NRE": lambda: (_estimator("NRE"), [(_t(6, 3), _t(6, 4))]),
    "AMNRE": lambda: (_estimator("AMNRE"), [(_t(6, 3), _t(6, 4), _u(6, 3) > 0.5)]),
    "FMPE": lambda: (_estimator("FMPE"), [(_t(6, 3), _t(6, 4), _u(6))]),
    "NPE": lambda: (_estimator("NPE"), [(_t(6, 3), _t(6, 4))]),
    "NRELoss": lambda: _trained("NRELoss", "NRE"),
    "BNRELoss": lambda: _trained("BNRELoss", "NRE"),
    "CNRELoss": lambda: _trained("CNRELoss", "NRE"),
    "BCNRELoss": lambda: _trained("BCNRELoss", "NRE"),
    "FMPELoss": lambda: _trained("FMPELoss", "FMPE"),
    "NPELoss": lambda: _trained("NPELoss", "NPE"),
    "AMNRELoss": lambda: (
        _get(_L + "inference.AMNRELoss")(_estimator("AMNRE"), _get(_L + "masks.BernoulliMask")(torch.full((3,), 0.5))),
        [(_t(6, 3), _t(6, 4))],
    ),
    "BernoulliMask": lambda: _using(
        _L + "masks.BernoulliMask", lambda use, p: (use(p).sample((4,)), use(p).log_prob(p > 0.5)), (_u(3),)
    ),
    "SelectionMask": lambda: _using(
        _L + "masks.SelectionMask",
        lambda use, s: (use(s).sample((4,)), use(s).log_prob(s[:1])),
        (torch.tensor([[True, False], [False, True]]),),
    ),
    "mask2str": lambda: _call(_L + "masks.mask2str", (torch.tensor([True, False]),)),
    "ResMLP": lambda: _made(_L + "nn.ResMLP", [(_t(5, 3),)], 3, 2),
    "gridapply": lambda: _using(
        _L + "utils.gridapply",
        lambda use, lower: use(lambda x: (x**2).sum(-1), (lower, lower + 1), bins=4, batch_size=4),
        (torch.zeros(2),),
    ),
    "expected_coverage_ni": lambda: _using(
        _L + "diagnostics.expected_coverage_ni",
        lambda use, t, x: use(
            lambda a, _: -(a**2).sum(-1), [(t, x)], (torch.full((2,), -3.0), torch.full((2,), 3.0)), bins=4
        ),
        (_t(2), _t(3)),
    ),
    "expected_coverage_mc": lambda: _using(
        _L + "diagnostics.expected_coverage_mc",
        lambda use, t, x: use(lambda y: torch.distributions.Normal(y[..., :2], 1.0), [(t, x)], n=4),
        (_t(3, 2), _t(3, 3)),
    ),
    "MetropolisHastings": lambda: _walk(lambda chain: torch.stack(list(chain(3)))),
}

_F = "flamo."
_BANDS = torch.tensor([125.0, 250.0, 500.0, 1000.0])


def _lossy(name: str, *shape: int, **options: Any) -> Built:
    return _made(_F + "optimize.loss." + name, [(_t(*shape), _t(*shape))], **options)


_FLAMO: dict[str, Callable[[], Built]] = {
    "get_magnitude": lambda: _call(_F + "functional.get_magnitude", (_t(4),)),
    "db2mag": lambda: _call(_F + "functional.db2mag", (_t(4),)),
    "mag2db": lambda: _call(_F + "functional.mag2db", (_u(4),)),
    "skew_matrix": lambda: _call(_F + "functional.skew_matrix", (_t(4, 4),)),
    "HadamardMatrix": lambda: _made(_F + "functional.HadamardMatrix", [(_t(4, 4),)], 4),
    "RotationMatrix": lambda: _made(_F + "functional.RotationMatrix", [(_u(1),)], 4, iter=2),
    "lowpass_filter": lambda: _using(_F + "functional.lowpass_filter", lambda use, f: use(f), (torch.tensor(500.0),)),
    "highpass_filter": lambda: _using(_F + "functional.highpass_filter", lambda use, f: use(f), (torch.tensor(500.0),)),
    "bandpass_filter": lambda: _call(
        _F + "functional.bandpass_filter", (torch.tensor(200.0), torch.tensor(500.0), torch.tensor(1.0))
    ),
    "shelving_filter": lambda: _call(_F + "functional.shelving_filter", (torch.tensor(200.0), torch.tensor(2.0))),
    "peak_filter": lambda: _call(
        _F + "functional.peak_filter", (torch.tensor(200.0), torch.tensor(2.0), torch.tensor(0.7))
    ),
    "sosfreqz": lambda: _call(_F + "functional.sosfreqz", (_u(2, 6) + 0.5,), nfft=16),
    "svf": lambda: _call(_F + "functional.svf", (_u(2), _u(2)), filter_type="lowpass"),
    "svf peaking": lambda: _call(_F + "functional.svf", (_u(2), _u(2)), G=_u(2), filter_type="peaking"),
    "probe_sos": lambda: _call(_F + "functional.probe_sos", (_u(6, 3) + 0.5, _BANDS, 64, 4000)),
    "find_onset": lambda: _call(_F + "functional.find_onset", (_t(200),)),
    "WGN_reverb": lambda: _using(
        _F + "functional.WGN_reverb", lambda use, x: x * use((1, 1), 0.1, 800).sum(), (_t(2),)
    ),
    "gen_velvet_noise": lambda: _using(
        _F + "functional.gen_velvet_noise", lambda use, x: x * use(64, 800, 100.0).sum(), (_t(2),)
    ),
    "signal_gallery": lambda: _using(
        _F + "functional.signal_gallery", lambda use, x: x * use(2, 16, 1, "exp", 800).sum(), (_t(2),)
    ),
    "biquad2tf": lambda: _call(_F + "functional.biquad2tf", (_u(3, 2), _u(3, 2), 16)),
    "rt2absorption": lambda: _call(
        _F + "auxiliary.reverb.rt2absorption", (_u(3), 800, torch.tensor([10.0, 20.0, 30.0]))
    ),
    "map_gamma": lambda: _made(_F + "auxiliary.reverb.map_gamma", [(_u(3),)], torch.tensor([10.0, 20.0, 30.0])),
    "mse_loss": lambda: _lossy("mse_loss", 2, 16, 1),
    "masked_mse_loss": lambda: _lossy("masked_mse_loss", 2, 16, 1, nfft=16, n_samples=4),
    "edc_loss": lambda: _lossy("edc_loss", 1, 4096, 1, is_broadband=True),
    **{
        name: (
            lambda name=name, options=options: _made(
                _F + "processor.dsp." + name, [(complex_normal(_t, 2, 17, 2),)], **options
            )
        )
        for name, options in (
            ("Gain", {"size": (2, 2), "nfft": 32}),
            ("parallelGain", {"size": (2,), "nfft": 32}),
            ("Matrix", {"size": (2, 2), "nfft": 32, "matrix_type": "orthogonal"}),
            ("Filter", {"size": (4, 2, 2), "nfft": 32}),
            ("parallelFilter", {"size": (4, 2), "nfft": 32}),
            ("Biquad", {"size": (2, 2), "nfft": 32}),
            ("parallelBiquad", {"size": (2,), "nfft": 32}),
            ("SVF", {"size": (2, 2), "nfft": 32}),
            ("GEQ", {"size": (2, 2), "nfft": 32}),
            ("Delay", {"size": (2, 2), "nfft": 32}),
            ("parallelDelay", {"size": (2,), "nfft": 32}),
        )
    },
    "FFT": lambda: _made(_F + "processor.dsp.FFT", [(_t(2, 32, 2),)], 32),
    "iFFTAntiAlias": lambda: _made(
        _F + "processor.dsp.iFFTAntiAlias", [(complex_normal(_t, 2, 17, 2),)], 32, alias_decay_db=30.0
    ),
}

MODELS: dict[str, Callable[[], Built]] = {
    **{f"zennit/{name}": build for name, build in _ZENNIT.items()},
    **{f"lampe/{name}": build for name, build in _LAMPE.items()},
    **{f"flamo/{name}": build for name, build in _FLAMO.items()},
}

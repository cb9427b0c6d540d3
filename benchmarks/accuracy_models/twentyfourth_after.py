"""Models of torchnmf, mergekit, imitation, kokoro, optimum-quanto, aimnet and kaolin.

They were chosen after the work on the twenty-fourth group, and written before `check` was run on these packages.
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

_t, _u, _i = random_inputs(90)
_ABSENT = {
    "mergekit": ("immutables", "cma", "lm_eval", "ray", "accelerate", "peft", "click", "huggingface_hub", "networkx"),
    "imitation": (
        "datasets",
        "huggingface_sb3",
        "jsonpickle",
        "sacred",
        "seals",
        "shimmy",
        "ray",
        "hypothesis",
        "wandb",
        "tensorboard",
    ),
    "kokoro": ("misaki", "loguru", "attr"),
    "optimum": ("diffusers",),
    "kaolin": ("warp", "usd", "pxr", "pygltflib", "newton"),
    "aimnet": ("nvalchemiops", "warp", "ignite", "h5py", "click", "omegaconf"),
}
_BARE = (
    *(
        "kaolin",
        "kaolin.ops",
        "kaolin.ops.mesh",
        "kaolin.ops.conversions",
        "kaolin.metrics",
        "kaolin.utils",
        "kaolin.math",
    ),
    *("kaolin.render", "kaolin.render.mesh", "kaolin.render.lighting", "kaolin.physics", "kaolin.physics.common"),
    *("kaolin.physics.utils", "kaolin.physics.materials", "kaolin.physics.simplicits", "kaolin.non_commercial"),
    "kaolin.ops.spc",
    "kokoro",
    "aimnet",
    "aimnet.modules",
    "aimnet.models",
    "aimnet.calculators",
    "aimnet.kernels",
)


def _prepare(package: str) -> None:
    """What the packages import and the models do not use."""
    without_packages(*_ABSENT.get(package, ()))
    if package == "kaolin":  # its own compiled part
        sys.modules.setdefault("kaolin._C", _Absent("kaolin._C"))


_get = getter({}, _BARE, _prepare)
_call, _made = models_by_name(_get)
_using, _method = uses_by_name(_get)

_N = "torchnmf."
_V = _u(6, 5) + 0.1


def _factors(kind: str, *given: Any, **options: Any) -> Built:
    """Factors that give a matrix back."""
    return _get(_N + kind)(*given, **options), [()]


def _fitted(optimizer: str, *given: Any, **options: Any) -> Built:
    """One step of an optimizer of factors."""
    made = _get(_N + "nmf.NMF")((6, 5), rank=3)
    steps = _get(_N + "trainer." + optimizer)(made.parameters(), *given, **options)

    def step(v: torch.Tensor) -> Any:
        def closure() -> Any:
            steps.zero_grad()
            return v, made()

        return steps.step(closure)

    return step, [(_V,)]


_TORCHNMF: dict[str, Callable[[], Built]] = {
    "kl_div": lambda: _call(_N + "metrics.kl_div", (_u(4, 5) + 0.1, _u(4, 5) + 0.1)),
    "euclidean": lambda: _call(_N + "metrics.euclidean", (_u(4, 5), _u(4, 5))),
    "is_div": lambda: _call(_N + "metrics.is_div", (_u(4, 5) + 0.1, _u(4, 5) + 0.1)),
    **{
        f"beta_div {beta}": (
            lambda beta=beta: _call(_N + "metrics.beta_div", (_u(4, 5) + 0.1, _u(4, 5) + 0.1), beta=beta)
        )
        for beta in (0, 0.5, 1, 2)
    },
    "sparseness": lambda: _call(_N + "metrics.sparseness", (_u(20),)),
    "_proj_func": lambda: _call(_N + "nmf._proj_func", (_u(10), 2.0, 1.0)),
    "_get_W_kl_positive": lambda: _call(_N + "nmf._get_W_kl_positive", (_u(6, 3),)),
    "_get_norm": lambda: _call(_N + "nmf._get_norm", (_u(6, 3),)),
    "_renorm": lambda: _call(_N + "nmf._renorm", (_u(5, 3), _u(6, 3), "W")),
    "NMF": lambda: _factors("nmf.NMF", (6, 5), rank=3),
    "NMF given": lambda: held(_get(_N + "nmf.NMF")((6, 5), rank=3), lambda m, h: m(H=h), (_u(6, 3),)),
    "NMFD": lambda: _factors("nmf.NMFD", (1, 5, 8), rank=3, T=2),
    "NMF2D": lambda: _factors("nmf.NMF2D", (1, 2, 8, 8), rank=3, kernel_size=2),
    "PLCA": lambda: _factors("plca.PLCA", (6, 5), rank=3),
    "SIPLCA": lambda: _factors("plca.SIPLCA", (1, 5, 8), rank=3, T=2),
    "get_norm": lambda: _call(_N + "plca.get_norm", (_u(6, 3),)),
    "normalize": lambda: _call(_N + "utils.normalize", (_u(6, 3),)),
    "renorm_": lambda: _using(_N + "utils.renorm_", lambda f, x: f(x.clone()), (_u(6, 3),)),
    "BetaMu": lambda: _fitted("BetaMu", beta=1),
    "BetaMu 2": lambda: _fitted("BetaMu", beta=2, l1_reg=0.1, orthogonal=0.1),
}

_MS, _MM = "mergekit.sparsify.", "mergekit.merge_methods."


def _group(*tensors: torch.Tensor, base: int | None = 0) -> Any:
    """Weights of several models under one name."""
    return _get(_MM + "base.TensorGroup").from_tensors(tensors, base_index=base, name="w")


def _merged(path: str, *given: Any, base: int | None = 0, count: int = 3, **options: Any) -> Built:
    """Weights of several models as one."""
    function = _get(_MM + path)
    function = getattr(function, "implementation", None) or getattr(function, "merge_group", function)
    weights = [_t(6, 5) for _ in range(count)]
    return (lambda *x: function(_group(*x, base=base), *given, **options)), [tuple(weights)]


_MERGEKIT: dict[str, Callable[[], Built]] = {
    "magnitude": lambda: _call(_MS + "magnitude", (_t(6, 5), 0.5)),
    "magnitude_outliers": lambda: _call(_MS + "magnitude_outliers", (_t(20, 10), 0.5)),
    "bernoulli": lambda: _call(_MS + "bernoulli", (_t(6, 5), 0.5)),
    "della_magprune": lambda: _call(_MS + "della_magprune", (_t(6, 5), 0.5, 0.1)),
    **{
        f"rescaled_masked_tensor {norm}": (
            lambda norm=norm: _using(
                _MS + "rescaled_masked_tensor",
                lambda f, x, m: f(x, m, getattr(_get(_MS + "RescaleNorm"), norm)),
                (_t(6, 5), (_u(6, 5) > 0.5).float()),
            )
        )
        for norm in ("l1", "l2", "linf")
    },
    "sparsify": lambda: _using(
        _MS + "sparsify", lambda f, x: f(x, 0.5, _get(_MS + "SparsificationMethod").magnitude), (_t(6, 5),)
    ),
    "slerp": lambda: _call(_MM + "slerp.slerp", (torch.tensor(0.3), _t(6, 5), _t(6, 5))),
    "nuslerp": lambda: _call(_MM + "nuslerp.nuslerp", (0.3, _t(6, 5), _t(6, 5))),
    "nuslerp flatten": lambda: _call(_MM + "nuslerp.nuslerp", (0.3, _t(6, 5), _t(6, 5)), flatten=True),
    "karcher_merge_tensors": lambda: _call(
        _MM + "karcher.karcher_merge_tensors", ([_t(6, 5), _t(6, 5), _t(6, 5)], [0.3, 0.3, 0.4])
    ),
    "get_mask": lambda: _call(_MM + "generalized_task_arithmetic.get_mask", (_t(3, 6, 5),)),
    "get_mask count": lambda: _call(_MM + "generalized_task_arithmetic.get_mask", (_t(3, 6, 5),), method="count"),
    "sce_weight": lambda: _call(_MM + "sce.sce_weight", (_t(3, 6, 5),)),
    "sce_mask": lambda: _call(_MM + "sce.sce_mask", (_t(3, 6, 5), 0.5)),
    "sce_merge": lambda: _merged("sce.sce_merge", select_topk=0.5),
    "ram_merge": lambda: _merged("ram.ram_merge"),
    "ramplus_tl_merge": lambda: _merged("ram.ramplus_tl_merge"),
    "model_stock": lambda: _merged("model_stock.model_stock_merge_method"),
    "model_stock filter": lambda: _merged("model_stock.model_stock_merge_method", filter_wise=True),
    "nearswap": lambda: _merged("nearswap.nearswap_merge", 0.1, count=2),
    "arcee_fusion": lambda: _merged("arcee_fusion.arcee_fusion_merge_method", count=2),
    "karcher": lambda: _merged("karcher.karcher_merge_method", base=None),
    "arcee quantiles": lambda: _using(
        _MM + "arcee_fusion.DynamicThresholdFusion",
        lambda kind, x: kind().approximate_quantiles(x, torch.tensor([0.25, 0.75])),
        (_t(100),),
    ),
    "arcee threshold": lambda: _using(
        _MM + "arcee_fusion.DynamicThresholdFusion", lambda kind, x: kind().calculate_dynamic_threshold(x), (_u(100),)
    ),
    "arcee mask": lambda: _using(
        _MM + "arcee_fusion.DynamicThresholdFusion", lambda kind, x: kind().compute_fusion_mask(x), (_u(6, 5),)
    ),
    "_compute_importance": lambda: _call(_MM + "arcee_fusion._compute_importance", (_t(6, 5), _t(6, 5))),
    "promoted_dtype": lambda: held(_group(_t(2), _t(2)), lambda g: _get(_MM + "dtype.promoted_dtype")(g), ()),
    "copy_non_floating_buffer": lambda: _call(
        _MM + "buffers.copy_non_floating_buffer", ([torch.arange(4), torch.arange(4)],)
    ),
    "truncate_vocabulary": lambda: _using(
        _MM + "preprocessing.truncate_vocabulary", lambda f, a, b: f(_group(a, b)).tensors, (_t(6, 5), _t(6, 5))
    ),
    "warn_degenerate_gates": lambda: _call("mergekit.moe.router.warn_degenerate_gates", (_t(2, 4, 8),)),
    "get_cheap_embedding": lambda: _call(
        "mergekit.moe.router.get_cheap_embedding",
        (_t(10, 8), {"input_ids": _i(10, 2, 4), "attention_mask": torch.ones(2, 4)}, 2, 10),
    ),
}

_IN, _IR, _IA = "imitation.util.networks.", "imitation.rewards.reward_nets.", "imitation.algorithms."


def _spaces() -> tuple[Any, Any]:
    """What is seen, and what is done."""
    spaces = importlib.import_module("gymnasium").spaces
    return spaces.Box(-1.0, 1.0, (4,)), spaces.Box(-1.0, 1.0, (2,))


def _steps(count: int = 6) -> tuple[torch.Tensor, ...]:
    """States, actions, states after these, and whether it ended."""
    return _t(count, 4), _t(count, 2), _t(count, 4), torch.zeros(count)


def _rewarded(kind: str, **options: Any) -> Built:
    """A network of rewards."""
    return _get(_IR + kind)(*_spaces(), **options), [_steps()]


def _ensemble() -> Any:
    """Several networks of rewards."""
    return _get(_IR + "RewardEnsemble")(*_spaces(), [_get(_IR + "BasicRewardNet")(*_spaces()) for _ in range(3)])


def _policy() -> Any:
    """A small policy."""
    return _get("imitation.policies.base.FeedForward32Policy")(*_spaces(), lambda _: 1e-3)


_IMITATION: dict[str, Callable[[], Built]] = {
    "RunningNorm": lambda: _made(_IN + "RunningNorm", [(_t(6, 3),)], 3),
    "EMANorm": lambda: _made(_IN + "EMANorm", [(_t(6, 3),)], 3),
    "RunningNorm eval": lambda: held(_get(_IN + "RunningNorm")(3).eval(), lambda m, x: m(x), (_t(6, 3),)),
    "build_mlp": lambda: held(_get(_IN + "build_mlp")(3, [8], squeeze_output=True), lambda m, x: m(x), (_t(6, 3),)),
    "build_cnn": lambda: held(
        _get(_IN + "build_cnn")(3, [4], squeeze_output=True), lambda m, x: m(x), (_t(2, 3, 8, 8),)
    ),
    "tensor_iter_norm": lambda: _call("imitation.util.util.tensor_iter_norm", ([_t(3), _t(2, 2)],)),
    "tensor_iter_norm inf": lambda: _call("imitation.util.util.tensor_iter_norm", ([_t(3), _t(2, 2)], float("inf"))),
    "safe_to_tensor": lambda: _call("imitation.util.util.safe_to_tensor", (_t(3).numpy(),)),
    "safe_to_numpy": lambda: _call("imitation.util.util.safe_to_numpy", (_t(3),)),
    "BasicRewardNet": lambda: _rewarded("BasicRewardNet"),
    "BasicRewardNet all": lambda: _rewarded("BasicRewardNet", use_next_state=True, use_done=True),
    "BasicShapedRewardNet": lambda: _rewarded("BasicShapedRewardNet"),
    "BasicRewardNet predict_th": lambda: held(
        _get(_IR + "BasicRewardNet")(*_spaces()), lambda m, *x: m.predict_th(*x), tuple(x.numpy() for x in _steps())
    ),
    "BasicRewardNet predict": lambda: held(
        _get(_IR + "BasicRewardNet")(*_spaces()), lambda m, *x: m.predict(*x), tuple(x.numpy() for x in _steps())
    ),
    "BasicRewardNet preprocess": lambda: held(
        _get(_IR + "BasicRewardNet")(*_spaces()), lambda m, *x: m.preprocess(*x), tuple(x.numpy() for x in _steps())
    ),
    "NormalizedRewardNet": lambda: held(
        _get(_IR + "NormalizedRewardNet")(_get(_IR + "BasicRewardNet")(*_spaces()), _get(_IN + "RunningNorm")),
        lambda m, *x: m.predict_processed(*x),
        tuple(x.numpy() for x in _steps()),
    ),
    "RewardEnsemble moments": lambda: held(
        _ensemble(), lambda m, *x: m.predict_reward_moments(*x), tuple(x.numpy() for x in _steps())
    ),
    "AddSTDRewardWrapper": lambda: held(
        _get(_IR + "AddSTDRewardWrapper")(_ensemble(), 0.5),
        lambda m, *x: m.predict_processed(*x),
        tuple(x.numpy() for x in _steps()),
    ),
    "BasicPotentialMLP": lambda: held(
        _get(_IR + "BasicPotentialMLP")(_spaces()[0], (8,)), lambda m, x: m(x), (_t(6, 4),)
    ),
    "cnn_transpose": lambda: _call(_IR + "cnn_transpose", (_t(2, 8, 8, 3),)),
    "BehaviorCloningLossCalculator": lambda: held(
        _get(_IA + "bc.BehaviorCloningLossCalculator")(1e-3, 1e-4),
        lambda m, x, a: m(_POLICY[0], x, a),
        (_t(6, 4), _t(6, 2)),
    ),
    "squeeze_r": lambda: _call(_IA + "mce_irl.squeeze_r", (_t(6, 1),)),
    "PreferenceModel probability": lambda: held(
        _get(_IA + "preference_comparisons.PreferenceModel")(
            _get(_IR + "BasicRewardNet")(*_spaces()), discount_factor=0.9, noise_prob=0.1
        ),
        lambda m, a, b: m.probability(a, b),
        (_t(5), _t(5)),
    ),
    "PreferenceModel": lambda: held(
        _get(_IA + "preference_comparisons.PreferenceModel")(_get(_IR + "BasicRewardNet")(*_spaces())),
        lambda m, p: m(p),
        ([_pair(), _pair()],),
    ),
    "CrossEntropyRewardLoss": lambda: held(
        _get(_IA + "preference_comparisons.PreferenceModel")(_get(_IR + "BasicRewardNet")(*_spaces())),
        lambda m, p, y: _get(_IA + "preference_comparisons.CrossEntropyRewardLoss")()(p, y, m).loss,
        ([_pair(), _pair()], _u(2).numpy()),
    ),
    "FeedForward32Policy": lambda: held(_policy(), lambda m, x: m(x), (_t(6, 4),)),
    "FeedForward32Policy evaluate": lambda: held(
        _policy(), lambda m, x, a: m.evaluate_actions(x, a), (_t(6, 4), _t(6, 2))
    ),
    "NormalizeFeaturesExtractor": lambda: held(
        _get("imitation.policies.base.NormalizeFeaturesExtractor")(_spaces()[0]), lambda m, x: m(x), (_t(6, 4),)
    ),
}


class _Once:
    """A policy that is made when it is asked for."""

    def __getitem__(self, index: int) -> Any:
        if not hasattr(self, "made"):
            self.made = _policy()
        return self.made


_POLICY = _Once()


def _pair() -> Any:
    """Two ways that somebody is to choose from."""
    kind = _get("imitation.data.types.TrajectoryWithRew")
    return tuple(
        kind(obs=_t(5, 4).numpy(), acts=_t(4, 2).numpy(), infos=None, terminal=False, rews=_t(4).numpy())
        for _ in range(2)
    )


_K, _KM = "kokoro.istftnet.", "kokoro.modules."
_KOKORO: dict[str, Callable[[], Built]] = {
    "CustomSTFT": lambda: _made("kokoro.custom_stft.CustomSTFT", [(_t(2, 400),)], 40, 10, 40),
    "CustomSTFT transform": lambda: held(
        _get("kokoro.custom_stft.CustomSTFT")(40, 10, 40), lambda m, x: m.transform(x), (_t(2, 400),)
    ),
    "TorchSTFT": lambda: _made(_K + "TorchSTFT", [(_t(2, 400),)], 40, 10, 40),
    "AdaIN1d": lambda: _made(_K + "AdaIN1d", [(_t(2, 6, 10), _t(2, 4))], 4, 6),
    "AdaINResBlock1": lambda: _made(_K + "AdaINResBlock1", [(_t(2, 6, 20), _t(2, 4))], 6, style_dim=4),
    "SineGen": lambda: _made(_K + "SineGen", [(_u(2, 40, 1) * 200,)], 16000, 4, 2),
    "SineGen pulse": lambda: _made(_K + "SineGen", [(_u(2, 40, 1) * 200,)], 16000, 4, 2, flag_for_pulse=True),
    "SourceModuleHnNSF": lambda: _made(_K + "SourceModuleHnNSF", [(_u(2, 40, 1) * 200,)], 16000, 4, 2),
    "Generator": lambda: _made(
        _K + "Generator",
        [(_t(1, 16, 10), _t(1, 4), _u(1, 10) * 200)],
        *(4, [3], [2], 16, [[1, 3, 5]], [4], 8, 2),
    ),
    "UpSample1d": lambda: _made(_K + "UpSample1d", [(_t(2, 6, 10),)], "half"),
    "AdainResBlk1d": lambda: _made(_K + "AdainResBlk1d", [(_t(2, 6, 10), _t(2, 4))], 6, 8, 4, upsample=True),
    "LinearNorm": lambda: _made(_KM + "LinearNorm", [(_t(2, 6),)], 6, 4),
    "LayerNorm": lambda: _made(_KM + "LayerNorm", [(_t(2, 6, 10),)], 6),
    "TextEncoder": lambda: _made(
        _KM + "TextEncoder",
        [(_i(9, 2, 7), torch.tensor([7, 5]), torch.arange(7)[None] >= torch.tensor([[7], [5]]))],
        8,
        3,
        2,
        9,
    ),
    "AdaLayerNorm": lambda: _made(_KM + "AdaLayerNorm", [(_t(2, 10, 6), _t(2, 4))], 4, 6),
    "DurationEncoder": lambda: _made(
        _KM + "DurationEncoder",
        [(_t(2, 8, 7), _t(2, 4), torch.tensor([7, 5]), torch.arange(7)[None] >= torch.tensor([[7], [5]]))],
        4,
        8,
        1,
    ),
    "ProsodyPredictor": lambda: _made(
        _KM + "ProsodyPredictor",
        [
            (
                *(_t(2, 8, 7), _t(2, 4), torch.tensor([7, 5]), _u(2, 7, 12)),
                torch.arange(7)[None] >= torch.tensor([[7], [5]]),
            )
        ],
        4,
        8,
        1,
        max_dur=5,
    ),
    "ProsodyPredictor F0": lambda: held(
        _get(_KM + "ProsodyPredictor")(4, 8, 1), lambda m, x, s: m.F0Ntrain(x, s), (_t(2, 12, 6), _t(2, 4))
    ),
}

_Q = "optimum.quanto."
_QT = "optimum.quanto.tensor."


def _quantized(use: Callable[..., Any], *inputs: Any, axis: int = 0) -> Built:
    """A use of weights of eight bits."""

    def run(w: torch.Tensor, *rest: Any) -> Any:
        quanto = importlib.import_module("optimum.quanto")
        scale = quanto.AbsmaxOptimizer()(w, quanto.qint8, axis)
        return use(quanto.quantize_weight(w, quanto.qint8, axis, scale), *rest)

    return run, [(_t(8, 16), *inputs)]


_QUANTO: dict[str, Callable[[], Built]] = {
    "group": lambda: _call(_QT + "grouped.group", (_t(16, 32), 0, 8)),
    "group last": lambda: _call(_QT + "grouped.group", (_t(16, 32), -1, 8)),
    "ungroup": lambda: _call(_QT + "grouped.ungroup", (_t(64, 8), 0, torch.Size((16, 32)))),
    "AbsmaxOptimizer": lambda: _using(
        _Q + "AbsmaxOptimizer",
        lambda kind, x: kind()(x, importlib.import_module("optimum.quanto").qint8, 0),
        (_t(8, 16),),
    ),
    "MaxOptimizer": lambda: _using(
        _Q + "MaxOptimizer",
        lambda kind, x: kind()(x, importlib.import_module("optimum.quanto").qint4, 0, 8),
        (_t(8, 16),),
    ),
    "HqqOptimizer": lambda: _using(
        _Q + "HqqOptimizer",
        lambda kind, x: kind()(x, importlib.import_module("optimum.quanto").qint4, 0, 8),
        (_t(8, 16),),
    ),
    "shrink_lp_op": lambda: _call(_QT + "optimizers.hqq_optimizer.shrink_lp_op", (_t(8, 4), 10.0, 0.7)),
    "pack_weights 4": lambda: _call(_QT + "packed.pack_weights", (_i(15, 8, 4).to(torch.uint8), 4)),
    "pack_weights 2": lambda: _call(_QT + "packed.pack_weights", (_i(3, 8, 4).to(torch.uint8), 2)),
    "axis_to_dim": lambda: _call(_QT + "core.axis_to_dim", (_t(2, 3, 4), 0)),
    "awq pack": lambda: _call(_QT + "weights.awq.packed.pack", (_i(15, 16, 16).to(torch.uint8),)),
    "awq unpack": lambda: _call(_QT + "weights.awq.packed.unpack", (_i(99, 16, 2).to(torch.int32),)),
    "awq reverse": lambda: _call(_QT + "weights.awq.packed.reverse_awq_order", (_i(15, 16, 16).to(torch.uint8),)),
    "unpack_int32_to_uint8": lambda: _call(
        _QT + "weights.packing.unpack_int32_to_uint8", (_i(99, 8, 2).to(torch.int32), 4)
    ),
    "reorder": lambda: _call(_QT + "weights.reordering.reorder", (_t(8, 4), torch.tensor([1, 0, 3, 2]))),
    "reverse": lambda: _call(_QT + "weights.reordering.reverse", (torch.tensor([1, 0, 3, 2]),)),
    "marlin_permute": lambda: _call(_QT + "weights.marlin.permutations.marlin_permute", (_t(16, 64),)),
    "marlin pack": lambda: _call(_QT + "weights.marlin.int4.packed.pack", (_i(15, 64, 64).to(torch.int32),)),
    "quantize_weight": lambda: _quantized(lambda w: w.dequantize()),
    "qlinear": lambda: _quantized(lambda w, x: nn.functional.linear(x, w), _t(4, 16)),
    "QLinear": lambda: held(
        _get(_Q + "QLinear").from_module(nn.Linear(16, 8), weights=importlib.import_module("optimum.quanto").qint8),
        lambda m, x: m(x),
        (_t(4, 16),),
    ),
    "QLinear activations": lambda: held(
        _get(_Q + "QLinear").from_module(
            nn.Linear(16, 8),
            weights=importlib.import_module("optimum.quanto").qint8,
            activations=importlib.import_module("optimum.quanto").qint8,
        ),
        lambda m, x: m(x),
        (_t(4, 16),),
    ),
    "QConv2d": lambda: held(
        _get(_Q + "QConv2d").from_module(nn.Conv2d(3, 4, 3), weights=importlib.import_module("optimum.quanto").qint8),
        lambda m, x: m(x),
        (_t(2, 3, 6, 6),),
    ),
}

_AO, _AM, _AC = "aimnet.ops.", "aimnet.modules.core.", "aimnet.calculators."
_CELL = torch.eye(3) * 8.0


def _dense() -> dict[str, torch.Tensor]:
    """Two molecules of five atoms, each with each."""
    coord = _t(2, 5, 3) * 2
    return {"coord": coord, "numbers": _i(8, 2, 5) + 1, "charge": torch.zeros(2), "charges": _t(2, 5)}


def _prepared(use: Callable[..., Any]) -> Built:
    """A use of molecules with what their neighbours are."""

    def run(coord: torch.Tensor, numbers: torch.Tensor, charges: torch.Tensor) -> Any:
        data = {"coord": coord, "numbers": numbers, "charge": torch.zeros(2), "charges": charges}
        nbops = importlib.import_module("aimnet.nbops")
        data = nbops.set_nb_mode(data)
        return use(nbops.calc_masks(data))

    data = _dense()
    return run, [(data["coord"], data["numbers"], data["charges"])]


_AIMNET: dict[str, Callable[[], Built]] = {
    "cosine_cutoff": lambda: _call(_AO + "cosine_cutoff", (_u(4, 5) * 6, 5.0)),
    "exp_cutoff": lambda: _call(_AO + "exp_cutoff", (_u(4, 5) * 6, torch.tensor(5.0))),
    "exp_expand": lambda: _call(_AO + "exp_expand", (_u(4, 5), torch.linspace(0, 1, 6), 2.0)),
    "get_shifts_within_cutoff": lambda: _call(_AO + "get_shifts_within_cutoff", (_CELL, torch.tensor(9.0))),
    "coulomb_matrix_ewald": lambda: _call(_AO + "coulomb_matrix_ewald", (_t(4, 3), _CELL)),
    "huber": lambda: _call(_AO + "huber", (_t(5),)),
    "bumpfn": lambda: _call(_AO + "bumpfn", (_u(5),)),
    "smoothstep": lambda: _call(_AO + "smoothstep", (_u(5),)),
    "expstep": lambda: _call(_AO + "expstep", (_u(5),)),
    "calc_masks": lambda: _prepared(lambda d: d["_input_padded"]),
    "calc_distances": lambda: _prepared(lambda d: _get(_AO + "calc_distances")(d)[0]),
    "center_coordinates": lambda: _prepared(lambda d: _get(_AO + "center_coordinates")(d["coord"], d)),
    "AtomicShift": lambda: held(
        _get(_AM + "AtomicShift")("energies", "shifted"),
        lambda m, e, n: m({"energies": e, "numbers": n})["shifted"],
        (_t(5), _i(8, 5)),
    ),
    "AtomicSum": lambda: _prepared(lambda d: _get(_AM + "AtomicSum")("charges", "total")(d)["total"]),
    "Dipole": lambda: _prepared(lambda d: _get(_AM + "Dipole")()(d)["dipole"]),
    "Quadrupole": lambda: _prepared(lambda d: _get(_AM + "Quadrupole")()(d)["quadrupole"]),
    "MTLoss mse": lambda: _using(
        "aimnet.train.loss.mse_loss_fn", lambda f, a, b: f({"e": a}, {"e": b}, "e", "e"), (_t(5), _t(5))
    ),
    "sum_optional_tensor": lambda: _call(_AC + "derivatives.sum_optional_tensor", (_t(3), _t(3))),
    "maybe_pad_dim0": lambda: _call(_AC + "neighbors.maybe_pad_dim0", (_t(4, 3), 5)),
    "maybe_unpad_dim0": lambda: _call(_AC + "neighbors.maybe_unpad_dim0", (_t(5, 3), 4)),
    "move_coord_to_cell": lambda: _call(_AC + "neighbors.move_coord_to_cell", (_t(4, 3), _CELL)),
    "normalize_pbc": lambda: _call(_AC + "neighbors.normalize_pbc", (torch.tensor([True, True, False]), _CELL, "cpu")),
    "calculate_hessian": lambda: _using(
        _AC + "derivatives.calculate_hessian", lambda f, x: _hessian(f, x), (_t(3, 3),)
    ),
}


def _hessian(function: Callable[..., Any], x: torch.Tensor) -> torch.Tensor:
    """Second derivatives of a sum."""
    x = x.detach().requires_grad_()
    (force,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
    return function(-force, x)


_KO, _KE, _KQ, _KR = "kaolin.ops.", "kaolin.metrics.", "kaolin.math.quat.", "kaolin.render."
_VERTS, _FACES = _t(6, 3), torch.tensor([[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 5]])
_QUATS, _ROTS = nn.functional.normalize(_t(4, 4), dim=-1), torch.linalg.qr(_t(4, 3, 3)).Q
_LIST = [_t(2, 3), _t(4, 3), _t(3, 3)]
_SHAPES = torch.tensor([[2], [4], [3]])
_TETS = torch.tensor([[0, 1, 2, 3], [1, 2, 3, 4], [2, 3, 4, 5]])
_KAOLIN: dict[str, Callable[[], Built]] = {
    "get_shape_per_tensor": lambda: _call(_KO + "batch.get_shape_per_tensor", (_LIST,)),
    "list_to_packed": lambda: _call(_KO + "batch.list_to_packed", (_LIST,)),
    "get_first_idx": lambda: _call(_KO + "batch.get_first_idx", (torch.tensor([2, 4, 3]),)),
    "tile_to_packed": lambda: _call(_KO + "batch.tile_to_packed", (_t(3), torch.tensor([2, 4, 3]))),
    "packed_to_list": lambda: _call(_KO + "batch.packed_to_list", (_t(9, 3), _SHAPES, torch.tensor([0, 2, 6, 9]))),
    "fill_max_shape": lambda: _call(_KO + "batch.fill_max_shape", (_SHAPES,)),
    "fill_max_shape partial": lambda: _call(_KO + "batch.fill_max_shape", (_SHAPES, torch.tensor([-1]))),
    "list_to_padded": lambda: _call(_KO + "batch.list_to_padded", (_LIST, 0.0)),
    "padded_to_list": lambda: _call(_KO + "batch.padded_to_list", (_t(3, 4, 3), _SHAPES)),
    "packed_to_padded": lambda: _call(
        _KO + "batch.packed_to_padded", (_t(9, 3), _SHAPES, torch.tensor([0, 2, 6, 9]), 0.0)
    ),
    "padded_to_packed": lambda: _call(_KO + "batch.padded_to_packed", (_t(3, 4, 3), _SHAPES)),
    "spherical2cartesian": lambda: _call(_KO + "coords.spherical2cartesian", (_t(4), _t(4))),
    "cartesian2spherical": lambda: _call(_KO + "coords.cartesian2spherical", (_t(4), _t(4), _t(4))),
    "sparse_bmm": lambda: _using(_KO + "gcn.sparse_bmm", lambda f, a, x: f(a.to_sparse(), x), (_u(4, 4), _t(2, 4, 3))),
    "normalize_adj": lambda: _call(_KO + "gcn.normalize_adj", (_u(4, 4),)),
    "GraphConv": lambda: _made(_KO + "gcn.GraphConv", [(_t(2, 4, 3), _u(4, 4))], 3, 5),
    "random_shape_per_tensor": lambda: _call(_KO + "random.random_shape_per_tensor", (3, (2, 2), (4, 5))),
    "random_tensor": lambda: _call(_KO + "random.random_tensor", (0.0, 1.0, (3, 2))),
    "random_tensor int": lambda: _call(_KO + "random.random_tensor", (0, 5, (3, 2), torch.long)),
    "sample_spherical_coords": lambda: _call(_KO + "random.sample_spherical_coords", ((3,),)),
    "packed_simple_sum": lambda: _call(_KO + "reduction.packed_simple_sum", (_t(9, 1), torch.tensor([2, 4, 3]))),
    "downsample": lambda: _call(_KO + "voxelgrid.downsample", (_u(2, 4, 4, 4), [2, 2, 2])),
    "extract_surface": lambda: _call(_KO + "voxelgrid.extract_surface", (_u(2, 4, 4, 4) > 0.5,)),
    "extract_surface thin": lambda: _call(_KO + "voxelgrid.extract_surface", (_u(2, 4, 4, 4) > 0.5, "thin")),
    "fill": lambda: _call(_KO + "voxelgrid.fill", (_u(2, 4, 4, 4) > 0.5,)),
    "extract_odms": lambda: _call(_KO + "voxelgrid.extract_odms", (_u(2, 4, 4, 4) > 0.5,)),
    "project_odms": lambda: _call(_KO + "voxelgrid.project_odms", (_i(5, 2, 6, 4, 4),)),
    "unindex_vertices_by_faces": lambda: _call(_KO + "mesh.mesh.unindex_vertices_by_faces", (_t(2, 4, 3, 3),)),
    "index_vertices_by_faces": lambda: _call(_KO + "mesh.mesh.index_vertices_by_faces", (_t(2, 6, 3), _FACES)),
    "adjacency_matrix": lambda: _call(_KO + "mesh.mesh.adjacency_matrix", (6, _FACES, False)),
    "uniform_laplacian": lambda: _call(_KO + "mesh.mesh.uniform_laplacian", (6, _FACES)),
    "compute_vertex_normals": lambda: _call(_KO + "mesh.mesh.compute_vertex_normals", (_FACES, _t(2, 4, 3, 3))),
    "compute_vertex_normals number": lambda: _call(
        _KO + "mesh.mesh.compute_vertex_normals", (_FACES, _t(2, 4, 3, 3), 6)
    ),
    "average_face_vertex_features": lambda: _call(
        _KO + "mesh.mesh.average_face_vertex_features", (_FACES, _t(2, 4, 3, 2))
    ),
    "inverse_vertices_offset": lambda: _call(_KO + "mesh.tetmesh.inverse_vertices_offset", (_t(2, 3, 4, 3),)),
    "subdivide_tetmesh": lambda: _call(_KO + "mesh.tetmesh.subdivide_tetmesh", (_t(1, 6, 3), _TETS, _t(1, 6, 2))),
    "face_areas": lambda: _call(_KO + "mesh.trianglemesh.face_areas", (_t(2, 6, 3), _FACES)),
    "packed_face_areas": lambda: _call(
        _KO + "mesh.trianglemesh.packed_face_areas",
        (_t(12, 3), torch.tensor([0, 6, 12]), _FACES.repeat(2, 1), torch.tensor([4, 4])),
    ),
    "sample_points": lambda: _call(_KO + "mesh.trianglemesh.sample_points", (_t(2, 6, 3), _FACES, 5)),
    "packed_sample_points": lambda: _call(
        _KO + "mesh.trianglemesh.packed_sample_points",
        (_t(12, 3), torch.tensor([0, 6, 12]), _FACES.repeat(2, 1), torch.tensor([4, 4]), 5),
    ),
    "face_normals": lambda: _call(_KO + "mesh.trianglemesh.face_normals", (_t(2, 4, 3, 3), True)),
    "subdivide_trianglemesh": lambda: _call(_KO + "mesh.trianglemesh.subdivide_trianglemesh", (_t(1, 6, 3), _FACES, 1)),
    "points_to_voxelgrids": lambda: _call(_KO + "conversions.pointcloud.pointclouds_to_voxelgrids", (_u(2, 20, 3), 4)),
    "points_to_voxelgrids sparse": lambda: _call(
        _KO + "conversions.pointcloud.pointclouds_to_voxelgrids", (_u(2, 20, 3), 4, None, None, True)
    ),
    "marching_tetrahedra": lambda: _call(
        _KO + "conversions.tetmesh.marching_tetrahedra", (_t(2, 6, 3), _TETS, _t(2, 6))
    ),
    "trianglemeshes_to_voxelgrids": lambda: _call(
        _KO + "conversions.trianglemesh.trianglemeshes_to_voxelgrids", (_u(2, 6, 3), _FACES, 4)
    ),
    "voxelgrids_to_cubic_meshes": lambda: _call(
        _KO + "conversions.voxelgrid.voxelgrids_to_cubic_meshes", ((_u(2, 4, 4, 4) > 0.5).float(),)
    ),
    "uint8_to_bits": lambda: _call(_KO + "spc.uint8.uint8_to_bits", (_i(255, 6).to(torch.uint8),)),
    "uint8_bits_sum": lambda: _call(_KO + "spc.uint8.uint8_bits_sum", (_i(255, 6).to(torch.uint8),)),
    "bits_to_uint8": lambda: _call(_KO + "spc.uint8.bits_to_uint8", (_u(6, 8) > 0.5,)),
    "mask_iou": lambda: _call(_KE + "render.mask_iou", (_u(2, 4, 4), _u(2, 4, 4))),
    "tetrahedron_volume": lambda: _call(_KE + "tetmesh.tetrahedron_volume", (_t(2, 3, 4, 3),)),
    "amips": lambda: _call(_KE + "tetmesh.amips", (_t(2, 3, 4, 3), _t(2, 3, 3, 3))),
    "naive_point_to_mesh_distance": lambda: _call(
        _KE + "trianglemesh._unbatched_naive_point_to_mesh_distance", (_t(7, 3), _t(4, 3, 3))
    ),
    "average_edge_length": lambda: _call(_KE + "trianglemesh.average_edge_length", (_t(2, 6, 3), _FACES)),
    "uniform_laplacian_smoothing": lambda: _call(
        _KE + "trianglemesh.uniform_laplacian_smoothing", (_t(2, 6, 3), _FACES)
    ),
    "iou": lambda: _call(_KE + "voxelgrid.iou", (_u(2, 4, 4, 4) > 0.5, _u(2, 4, 4, 4) > 0.5)),
    "angle_axis_from_quat": lambda: _call(_KQ + "angle_axis.angle_axis_from_quat", (_QUATS,)),
    "angle_axis_from_rot33": lambda: _call(_KQ + "angle_axis.angle_axis_from_rot33", (_ROTS,)),
    "is_euclidean_valid": lambda: _call(_KQ + "euclidean.is_euclidean_valid", (torch.eye(4).expand(2, 4, 4),)),
    "rot44_from_quat": lambda: _call(_KQ + "matrix44.rot44_from_quat", (_QUATS,)),
    "quat_mul": lambda: _call(_KQ + "quaternion.quat_mul", (_QUATS, _QUATS)),
    "quat_rotate": lambda: _call(_KQ + "quaternion.quat_rotate", (_QUATS, _t(4, 3))),
    "quat_inverse": lambda: _call(_KQ + "quaternion.quat_inverse", (_QUATS,)),
    "quat_unit_positive": lambda: _call(_KQ + "quaternion.quat_unit_positive", (_t(4, 4),)),
    "quat_from_angle_axis": lambda: _call(_KQ + "quaternion.quat_from_angle_axis", (_t(4, 1), _t(4, 3), True)),
    "quat_from_rot33": lambda: _call(_KQ + "quaternion.quat_from_rot33", (_ROTS,)),
    "is_rot33_valid": lambda: _call(_KQ + "rotation33.is_rot33_valid", (_ROTS,)),
    "rot33_from_angle_axis": lambda: _call(_KQ + "rotation33.rot33_from_angle_axis", (_t(4, 1), _t(4, 3))),
    "transform": lambda: _call(_KQ + "transform.transform_from_rotation_translation", (_QUATS, _t(4, 3))),
    "transform_inverse": lambda: _call(_KQ + "transform.transform_inverse", (_t(4, 7),)),
    "transform_mul": lambda: _call(_KQ + "transform.transform_mul", (_t(4, 7), _t(4, 7))),
    "transform_apply": lambda: _call(_KQ + "transform.transform_apply", (_t(4, 7), _t(4, 3))),
    "sg_direction": lambda: _call(_KR + "lighting.sg.sg_direction_from_azimuth_elevation", (_t(3), _t(3))),
    "sg_irradiance_fitted": lambda: _call(
        _KR + "lighting.sg.sg_irradiance_fitted", (_u(3, 3), nn.functional.normalize(_t(3, 3)), _u(3), _t(5, 3))
    ),
    "sg_diffuse_fitted": lambda: _call(
        _KR + "lighting.sg.sg_diffuse_fitted",
        (_u(3, 3), nn.functional.normalize(_t(3, 3)), _u(3), _t(5, 3), _u(5, 3)),
    ),
    "project_onto_sh9": lambda: _call(_KR + "lighting.sh.project_onto_sh9", (_t(4, 3),)),
    "sh9_irradiance": lambda: _call(_KR + "lighting.sh.sh9_irradiance", (_t(9), _t(4, 3))),
    "sh9_diffuse": lambda: _call(_KR + "lighting.sh.sh9_diffuse", (_t(3), _t(4, 3), _u(4, 3))),
    "texture_mapping": lambda: _call(_KR + "mesh.utils.texture_mapping", (_u(2, 6, 2), _u(2, 3, 4, 4))),
    "spherical_harmonic_lighting": lambda: _call(
        _KR + "mesh.utils.spherical_harmonic_lighting", (_t(2, 4, 4, 3), _t(2, 9))
    ),
    "standard_lbs": lambda: _call(
        "kaolin.physics.simplicits.skinning.standard_lbs", (_t(5, 3), _t(1, 2, 3, 4), _u(5, 2))
    ),
    "finite_diff_jac": lambda: _using(
        "kaolin.physics.utils.finite_diff.finite_diff_jac", lambda f, x: f(lambda y: y**2, x), (_t(5, 3),)
    ),
    "create_projection_matrix": lambda: _call(
        "kaolin.physics.utils.torch_utilities.create_projection_matrix", (6, torch.tensor([1, 3]))
    ),
    "hess_reduction": lambda: _call("kaolin.physics.utils.torch_utilities.hess_reduction", (_t(6, 4), _t(2, 3, 3))),
}

MODELS: dict[str, Callable[[], Built]] = {
    f"{package}/{name}": build
    for package, models in {
        "torchnmf": _TORCHNMF,
        "mergekit": _MERGEKIT,
        "imitation": _IMITATION,
        "kokoro": _KOKORO,
        "optimum": _QUANTO,
        "aimnet": _AIMNET,
        "kaolin": _KAOLIN,
    }.items()
    for name, build in models.items()
}

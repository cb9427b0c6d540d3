"""What `benchmarks/share.py` runs: models of `accuracy_models` that break as written, and inputs for each.

The choice was made before anything was fixed: of the models that ran and broke in `accuracy.py run`, without solvers,
schedulers and utilities that are no layer, loss or metric, evenly spaced by name, at most eight of a package with more
than twenty, at most four of one with more than ten, at most three of any other; and models of transformers in half
precision and in training whose overflow guards break, and Perceiver (`_MORE`).
"""

from __future__ import annotations

import copy
import importlib
import json
import types
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import accuracy_models
import public_models
import share_fresh
import torch

# Not models, layers, losses or metrics: solvers of differential equations and schedulers of diffusion.
_LEFT_OUT = frozenset({"torchdiffeq", "torchsde", "diffusers"})

chosen_list = "share_models"
"""The list of names that is run: that of this module, `share_fresh`, or all `accuracy_models`."""

every = 1
"""Which of the list are run: each first of so many."""

MODES = ("eval", "eval varied", "train")

current: tuple[str, str] = ("", "")
"""The model and the mode that `workload` gives; set by the process that runs it."""

requiring: list[bool] | None = None
"""Which input sets of the train mode require gradients, as the model as written takes them; None: it is asked."""

running: dict[str, list[bool]] = {}
"""By mode, which input sets the model as written takes; where a mode is not there, it is asked."""


def chosen() -> list[str]:
    """The names of the models, `package/name`."""
    if chosen_list == "accuracy_models":
        return sorted(accuracy_models.load())[::every]
    names: list[str] = json.loads(Path(__file__).with_name(f"{chosen_list}.json").read_text(encoding="utf-8"))
    return names[::every]


def choose(observed: Path) -> list[str]:
    """The models to run, from the results of `accuracy.py run`."""
    broken: dict[str, list[str]] = defaultdict(list)
    for name in sorted(accuracy_models.load()):
        package, _, rest = name.partition("/")
        file = observed / (name.replace("/", "__").replace(" ", "_") + ".json")
        if package in _LEFT_OUT or (package == "torch_geometric" and rest[0].islower()) or not file.exists():
            continue
        result = json.loads(file.read_text(encoding="utf-8"))
        ran = "error" not in result and all(state == "ran" for state in result["modes"].values())
        if ran and (result["sites"] or result["skipped"]):
            broken[package].append(name)
    return [name for names in broken.values() for name in _spaced(names)] + list(_MORE)


def _spaced(names: Sequence[str]) -> list[str]:
    most = 8 if len(names) > 20 else 4 if len(names) >= 10 else 3
    count = min(most, len(names))
    return [names[index * len(names) // count] for index in range(count)]


def builders() -> Mapping[str, accuracy_models.Builder]:
    """How each model is built, by name."""
    return {**accuracy_models.load(), **_MORE, **share_fresh.MODELS}


def workload() -> tuple[Any, list[Any]]:
    """The current model with its inputs, as `compilefix verify` takes it."""
    name, mode = current
    torch.manual_seed(0)
    function, inputs = builders()[name]()
    if isinstance(function, torch.nn.Module):
        function.train(mode.startswith("train"))
    sets = [dict(given) if isinstance(given, Mapping) else tuple(given) for given in inputs]
    if mode not in running:
        running[mode] = [_runs(function, given) for given in sets]
    sets = [given for given, runs in zip(sets, running[mode], strict=True) if runs]
    if mode.endswith("varied"):
        sets = [
            varied
            for change in (_negated, _with_nan, _zeroed)
            for given in sets[:1]
            for varied in (_mapped(given, change),)
        ]
    if mode.startswith("train"):
        required = [_mapped(given, _requiring) for given in sets]
        # Some code writes into its inputs, which a leaf that requires a gradient does not allow.
        global requiring
        if requiring is None:
            requiring = [_runs(function, r) or not _runs(function, s) for r, s in zip(required, sets, strict=True)]
        sets = [r if wanted else s for r, s, wanted in zip(required, sets, requiring, strict=True)]
    return function, sets


def _runs(function: Any, given: Any) -> bool:
    """Whether a copy of the model takes the inputs in eager mode."""
    torch.manual_seed(0)
    function, given = _copied(function), copy.deepcopy(given)
    try:
        function(**given) if isinstance(given, dict) else function(*given)
    except Exception:
        return False
    return True


def _copied(function: Any) -> Any:
    """A copy that leaves the model alone: `copy.deepcopy` of a function still holds the same batch norm."""
    if not isinstance(function, types.FunctionType) or not function.__closure__:
        return copy.deepcopy(function)
    try:
        cells = tuple(types.CellType(copy.deepcopy(cell.cell_contents)) for cell in function.__closure__)
    except Exception:  # what cannot be copied, as tensors that are computed
        return function
    return types.FunctionType(function.__code__, function.__globals__, function.__name__, function.__defaults__, cells)


def _mapped(value: Any, change: Any) -> Any:
    if isinstance(value, torch.Tensor):
        return change(value)
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_mapped(item, change) for item in value)
    if type(value) is dict:
        return {key: _mapped(item, change) for key, item in value.items()}
    return value


def _negated(tensor: torch.Tensor) -> torch.Tensor:
    """Other values: larger, of the other sign; a mask the other way round."""
    if tensor.dtype is torch.bool:
        return ~tensor
    return tensor.detach() * -3 if tensor.is_floating_point() else tensor


def _with_nan(tensor: torch.Tensor) -> torch.Tensor:
    """The tensor with its first element NaN; a mask with nothing set."""
    if tensor.dtype is torch.bool:
        return torch.zeros_like(tensor)
    if not tensor.is_floating_point() or not tensor.numel():
        return tensor
    changed = tensor.detach().clone(memory_format=torch.contiguous_format)
    changed.view(-1)[0] = torch.nan
    return changed


def _zeroed(tensor: torch.Tensor) -> torch.Tensor:
    """Zeros; a mask with everything set; class numbers all the same."""
    if tensor.dtype is torch.bool:
        return torch.ones_like(tensor)
    return torch.zeros_like(tensor) if tensor.is_floating_point() else tensor


def _requiring(tensor: torch.Tensor) -> torch.Tensor:
    return tensor.detach().clone().requires_grad_() if tensor.is_floating_point() else tensor


def _half(config: str, model: str, **options: Any) -> tuple[Any, list[Any]]:
    """An encoder of transformers in float16, with ordinary inputs and with one that overflows."""
    module = importlib.import_module(f"transformers.models.{config.lower()}.modeling_{config.lower()}")
    settings = importlib.import_module("transformers")
    kind = getattr(settings, f"{model}Config")
    sizes = {
        "vocab_size": 99,
        "d_model": 32,
        "encoder_layers": 2,
        "encoder_attention_heads": 4,
        "encoder_ffn_dim": 64,
        "pad_token_id": 0,
    }
    encoder = getattr(module, f"{model}Encoder")(kind(**sizes, **options)).to(torch.float16)
    states = torch.randn(2, 12, 32, generator=torch.Generator().manual_seed(0)).to(torch.float16)
    overflowing = states.clone()
    overflowing[0, 0, 0] = torch.inf
    return encoder, [{"inputs_embeds": states}, {"inputs_embeds": overflowing}]


def _whisper() -> tuple[Any, list[Any]]:
    module = importlib.import_module("transformers.models.whisper.modeling_whisper")
    config = importlib.import_module("transformers").WhisperConfig(
        vocab_size=99,
        d_model=32,
        encoder_layers=2,
        encoder_attention_heads=4,
        encoder_ffn_dim=64,
        num_mel_bins=8,
        max_source_positions=8,
        pad_token_id=0,
        bos_token_id=1,
        eos_token_id=2,
        decoder_start_token_id=1,
    )
    features = torch.randn(2, 8, 16, generator=torch.Generator().manual_seed(0)).to(torch.float16)
    return module.WhisperEncoder(config).to(torch.float16), [(features,)]


_MORE: Mapping[str, accuracy_models.Builder] = {
    **{
        f"transformers/{model}Encoder half": partial(_half, config, model)
        for config, model in (
            ("bart", "Bart"),
            ("m2m_100", "M2M100"),
            ("plbart", "PLBart"),
            ("blenderbot_small", "BlenderbotSmall"),
        )
    },
    "transformers/WhisperEncoder half": _whisper,
    "transformers/DETR encoder layers": partial(public_models.detr, "cpu"),
    "transformers/Perceiver Fourier": partial(public_models.perceiver, "cpu"),
}

"""Why safe fixes free so few models: calls that fixed code answers in another way than the code as written.

    python benchmarks/share_differs.py --out DIR [NAME ...]       DIR holds the fixes that `share.py fix` has made

A fix is safe where nothing differs. Each case below calls, without compiling anything, what a model of the share calls
and what its fix changes, with arguments that the code accepts, as written and with all fixes. The fix of a model that
differs in one call cannot be called safe, whoever looks at it. docs/share.md says what follows for the share.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))


def main() -> int:
    """The command line; 1 where a case does not differ."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--level", choices=("none", "assumed"), help="answer here with these fixes, as JSON")
    parser.add_argument("names", nargs="*", help="models; without any, all")
    options = parser.parse_args()
    names = options.names or list(CASES)
    if options.level is not None:
        print(json.dumps(_answer(names[0], options.level, options.out)))
        return 0
    print("| model | as written | with fixes |\n|---|---|---|")
    alike = 0
    for name in names:
        written, fixed = (_answered(name, level, options.out) for level in ("none", "assumed"))
        alike += written == fixed
        print(f"| {name} | {written} | {fixed} |", flush=True)
    return int(alike > 0)


def _answered(name: str, level: str, out: Path) -> Any:
    """The answer of a process of its own: a package is imported with its fixes or without."""
    command = [sys.executable, __file__, "--out", str(out), "--level", level, name]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def _answer(name: str, level: str, out: Path) -> Any:
    import torch
    from share_fixes import load

    from compilefix.fixing.overlay import install

    overlay, _ = load(name.partition("/")[0], level, out)
    install(dict(overlay.sources), {module.name: (module.path, module.text) for module in overlay.new_modules})
    torch.manual_seed(0)
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            return CASES[name]()
        except Exception as error:
            return f"{type(error).__name__}: {str(error).splitlines()[0]}"


def _moe(module: str) -> Any:
    """Strides of rows of which one has no class: the classes are cut from a larger tensor as written."""
    import importlib

    import torch

    package = importlib.import_module(module)
    return package.safe_one_hot(torch.tensor([0, 6]), 4).stride()


def _accuracy() -> Any:
    """The text of what is raised for a negative label."""
    import torch
    from torchmetrics.functional.classification import multiclass_accuracy

    predicted, labels = torch.tensor([0, 1]), torch.tensor([0, -2])
    return multiclass_accuracy(predicted, labels, num_classes=3, validate_args=False, average=None).tolist()


def _confusion() -> Any:
    import torch
    from torchmetrics.functional.classification import binary_confusion_matrix

    labels = torch.tensor([0, -3])
    return binary_confusion_matrix(torch.tensor([0.2, 0.9]), labels, validate_args=False).tolist()


def _spline() -> Any:
    """The gradient of the widths where all points are outside: None, or zeros."""
    import torch
    from nflows.transforms.splines.rational_quadratic import unconstrained_rational_quadratic_spline as spline

    widths, heights, derivatives = (torch.zeros(2, n, requires_grad=True) for n in (4, 4, 3))
    outputs, logarithm = spline(torch.tensor([5.0, 6.0]), widths, heights, derivatives, tails="linear")
    (outputs + logarithm).sum().backward() if (outputs + logarithm).requires_grad else None
    return None if widths.grad is None else widths.grad.tolist()


def _dropped_layers() -> Any:
    """A number that is drawn after a call in which all layers are skipped."""
    import torch
    from transformers import M2M100Config
    from transformers.models.m2m_100.modeling_m2m_100 import M2M100Encoder

    sizes: dict[str, Any] = {"vocab_size": 20, "d_model": 8, "encoder_layers": 2, "encoder_attention_heads": 2}
    config = M2M100Config(**sizes, encoder_ffn_dim=8, encoder_layerdrop=1.0, max_position_embeddings=16)
    encoder = M2M100Encoder(config).train()
    torch.manual_seed(3)
    encoder(input_ids=torch.tensor([[4, 5]]))
    return torch.rand(1).item()


def _dropped_layers_of_informer() -> Any:
    import torch
    from transformers import InformerConfig
    from transformers.models.informer.modeling_informer import InformerEncoder

    sizes: dict[str, Any] = {"prediction_length": 4, "context_length": 8, "d_model": 8, "encoder_layers": 2}
    sizes |= {"encoder_attention_heads": 2, "encoder_ffn_dim": 8, "distil": False, "attention_type": "full"}
    config = InformerConfig(**sizes, encoder_layerdrop=1.0)
    config.feature_size = 8
    encoder = InformerEncoder(config).train()
    torch.manual_seed(3)
    encoder(inputs_embeds=torch.zeros(1, 8, 8))
    return torch.rand(1).item()


def _asked_for_gradient() -> Any:
    """Whether what stands in for an attention without its kernel requires a gradient."""
    import torch
    from transformers.models.mra.modeling_mra import mra2_attention

    query = torch.zeros(1, 1, 32, 4)
    return mra2_attention(query, query, query, torch.zeros(1, 32), 1, "full").requires_grad


def _monotonic() -> Any:
    """Whether the result of a transformation without parameters requires a gradient."""
    import torch
    from zuko.transforms import MonotonicTransform

    return MonotonicTransform(lambda x: 2 * x).call_and_ladj(torch.ones(2))[0].requires_grad


def _sum_that_does_not_fit() -> Any:
    import torch
    from neuralop.layers.spectral_convolution import _contract_dense

    x, weight = torch.ones(2, 3, 4, dtype=torch.cfloat), torch.ones(2, 6, 4, dtype=torch.cfloat)
    return list(_contract_dense(x, weight, False).shape)


CASES: Mapping[str, Callable[[], Any]] = {
    "mixture_of_experts/HeirarchicalMoE": lambda: _moe("mixture_of_experts.mixture_of_experts"),
    "mixture_of_experts/MoE": lambda: _moe("mixture_of_experts.mixture_of_experts"),
    "st_moe_pytorch/MoE": lambda: _moe("st_moe_pytorch.st_moe_pytorch"),
    "neuralop/FNO": _sum_that_does_not_fit,
    "nflows/spline": _spline,
    "torchmetrics/multiclass_accuracy": _accuracy,
    "torchmetrics/binary_confusion_matrix": _confusion,
    "transformers/InformerForPrediction": _dropped_layers_of_informer,
    "transformers/M2M100Encoder half": _dropped_layers,
    "transformers/MraModel": _asked_for_gradient,
    "zuko/BPF": _monotonic,
    "zuko/NAF": _monotonic,
}
"""Models of the share that are free with assumptions, and for each a call."""


if __name__ == "__main__":
    raise SystemExit(main())

"""CF803: options of torch.compile that do not exist or contradict each other.

## What it does
Finds values for `mode`, `dynamic`, `options` and `backend` that `torch.compile` refuses, does not look at, or that work
against each other.

## Why is this bad
What is refused is an exception, often only on the machine on which the option is switched on. What is not looked at is
quiet: `backend="aot_eager", mode="max-autotune"` tunes nothing.

## Example
```python
model = torch.compile(model, mode="reduce_overhead")
model = torch.compile(model, mode="max-autotune", options={"triton.cudagraphs": True})
model = torch.compile(model, backend="eager", mode="reduce-overhead")
model = torch.compile(model, mode="reduce-overhead", dynamic=True)
```

## Use instead
```python
model = torch.compile(model, mode="reduce-overhead")
model = torch.compile(model, options={"max_autotune": True, "triton.cudagraphs": True})
model = torch.compile(model, mode="reduce-overhead")
model = torch.compile(model, mode="max-autotune-no-cudagraphs", dynamic=True)
```

`torch._inductor.list_mode_options()` shows what options a mode stands for. CUDA graphs have fixed shapes: with
`dynamic=True` each new size records a graph of its own.

## Fix safety
This rule has no fix: what was meant is for a person to say.

Graph breaks: none. torch: all supported versions; the mode `lite` is newer than 2.6.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import get_close_matches

from compilefix.codemods.compile_calls.places import is_expected_to_fail
from compilefix.codemods.finding import Effect, Finding
from compilefix.codemods.module_rule import CompileCall, ModuleRule, ModuleView

_MODES = ("default", "lite", "reduce-overhead", "max-autotune", "max-autotune-no-cudagraphs")
_CUDA_GRAPHS = ("reduce-overhead", "max-autotune")
_BACKENDS = ("inductor", "eager", "aot_eager", "aot_eager_decomp_partition", "aot_ts", "cudagraphs", "openxla", "tvm")
_WITHOUT_OPTIONS = ("eager", "aot_eager", "aot_eager_decomp_partition")
_KEYWORDS = ("fullgraph", "dynamic", "backend", "mode", "disable")

Problem = tuple[ast.expr, str, str, Effect]


class CompileOptions(ModuleRule):
    """Options of torch.compile that do not exist or contradict each other."""

    code = "CF803"
    name = "compile-options"
    summary = "options of torch.compile that it refuses or does not look at"
    effect = "none"
    hints = ("compile",)

    def find_in_module(self, view: ModuleView) -> Iterator[Finding]:
        """The compile calls with such options."""
        for call in view.calls:
            # Where a failure is expected, it is what is tested.
            if is_expected_to_fail(call.node, view) and view.is_trial:
                continue
            for node, message, advice, effect in _problems(call):
                yield self.declined_at(view, node, message, advice, effect=effect)


def _problems(call: CompileCall) -> Iterator[Problem]:
    mode, options = call.option("mode"), call.option("options")
    name = _text(mode)
    if mode is not None and name is not None and name not in _MODES:
        yield mode, f"`torch.compile` has no mode {name!r} and raises RuntimeError", _near(name, _MODES), "none"
    elif mode is not None and _is_given(mode) and options is not None and _is_given(options):
        message = "`mode` and `options` together are refused with RuntimeError"
        advice = "give the options of the mode too: `torch._inductor.list_mode_options()` shows them"
        if name is not None:
            yield options, message, advice, "none"
    yield from _dynamic(call, name)
    yield from _in_options(options)
    yield from _backend(call, name)


def _dynamic(call: CompileCall, mode: str | None) -> Iterator[Problem]:
    dynamic = call.option("dynamic")
    if not isinstance(dynamic, ast.Constant):
        return
    if dynamic.value is not None and not isinstance(dynamic.value, bool):
        message = f"`dynamic={dynamic.value!r}` is refused: it takes True, False or None"
        yield dynamic, message, "leave it out: sizes that change are compiled for all sizes at the second one", "none"
    elif dynamic.value is True and mode in _CUDA_GRAPHS:
        message = f"{mode!r} records CUDA graphs, whose sizes are fixed: with `dynamic=True` each new size records one"
        advice = "use `max-autotune-no-cudagraphs` or `default` for sizes that vary, or pad to a few sizes"
        yield dynamic, message, advice, "slow"


def _in_options(options: ast.expr | None) -> Iterator[Problem]:
    for key in options.keys if isinstance(options, ast.Dict) else ():
        name = _text(key)
        if key is not None and name in _KEYWORDS:
            message = f"`{name}` is no option of inductor and is refused with RuntimeError"
            yield key, message, f"pass `{name}=` to `torch.compile` itself", "none"


def _backend(call: CompileCall, mode: str | None) -> Iterator[Problem]:
    backend = call.option("backend")
    name = _text(backend)
    if backend is None or name is None:
        return
    if name not in _BACKENDS and (near := get_close_matches(name.lower(), _BACKENDS, 1, 0.85)):
        message = f"no backend is called {name!r}; torch has {near[0]!r}"
        yield backend, message, f"write {near[0]!r}, unless a package registers a backend of that name", "none"
    elif name in _WITHOUT_OPTIONS and mode not in (None, "default"):
        message = f"the backend {name!r} does not look at `mode={mode!r}`: nothing is tuned, and no CUDA graph recorded"
        yield backend, message, "leave `backend` out to get inductor, which has modes, or leave `mode` out", "slow"


def _text(node: ast.expr | None) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_given(node: ast.expr) -> bool:
    return not (isinstance(node, ast.Constant) and node.value is None)


def _near(name: str, known: tuple[str, ...]) -> str:
    near = get_close_matches(name.lower().replace("_", "-"), known, 1, 0.6)
    return f"write {near[0]!r}" if near else f"known are {', '.join(known)}"

"""The flags of Dynamo that keep numbers, sizes that depend on values, counters and gradients in the graph."""

from __future__ import annotations

from compilefix.codemods.rule import Scope

SCALARS = "capture_scalar_outputs"
SHAPES = "capture_dynamic_output_shape_ops"
INTEGERS = "allow_unspec_int_on_nn_module"
GRADIENTS = "trace_autograd_ops"


def switched_on(flag: str, scope: Scope) -> bool:
    """Whether a flag is switched on in this file or, where a compile call leads here, anywhere in the project."""
    switching = scope.legality.inference.project.modules.texts.matching(flag, rf"\b{flag}\s*=\s*True\b")
    return scope.function.module.name in switching or (scope.compiled.from_compile_call and bool(switching))

"""The settings of Dynamo that keep numbers, sizes that depend on values and counters in the graph: if they are on."""

from __future__ import annotations

import re

from compilefix.codemods.rule import Scope

SCALARS = "capture_scalar_outputs"
SHAPES = "capture_dynamic_output_shape_ops"
INTEGERS = "allow_unspec_int_on_nn_module"


def switched_on(flag: str, scope: Scope) -> bool:
    """Whether a flag is switched on in this file or, where a compile call leads here, anywhere in the project."""
    modules = scope.legality.inference.project.modules
    anywhere = "compile" in scope.compiled.root
    here = scope.function.module.name
    return any(
        re.search(rf"\b{flag}\s*=\s*True\b", modules.files[name].text) is not None
        for name in modules.mentioning(flag)
        if anywhere or name == here
    )

"""Fixes that would give functions of torch what callers may pass as an array of NumPy: `x: np.ndarray | torch.Tensor`.

Dynamo makes tensors of arrays, and code that works on either, `x * 2 if x.max() > 1 else x`, breaks the graph. Outside
of compiled code `torch.where` takes no array: whoever calls the function with one would get a TypeError.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from compilefix.analysis.values import ARRAYS
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import torch_name


def kept_for_arrays(finding: Finding, scope: Scope) -> Finding:
    """The finding, without its fix where that takes tensors alone and the function says that it takes arrays too."""
    if finding.fix is None or not _calls_torch(finding.fix, scope):
        return finding
    declared = _declared_as_both(scope)
    name = next((n for n in sorted(_hanging_on(declared, scope)) if _is_used(n, finding.fix, scope)), None)
    if name is None:
        return finding
    return replace(
        finding, fix=None, declined=f"`{name}` may be an array of NumPy, which functions of torch do not take"
    )


def _calls_torch(fix: Fix, scope: Scope) -> bool:
    """Whether the new code calls functions of torch that the old code did not hold."""
    called = re.compile(rf"\b{torch_name(scope)}\.\w+\(")
    return any(called.search(edit.template) for edit in fix.edits)


def _declared_as_both(scope: Scope) -> frozenset[str]:
    """The parameters whose annotation names arrays and tensors."""
    inference, module = scope.legality.inference, scope.function.module
    return frozenset(
        p.arg for p in scope.function.parameters if inference.annotated(p.annotation, module).kinds >= ARRAYS
    )


def _hanging_on(names: frozenset[str], scope: Scope) -> frozenset[str]:
    """These names, and those that are computed of them: `largest = x.max()`."""
    found = set(names)
    assigned = scope.function.of(ast.Assign) if names else ()
    for node in assigned:
        if any(isinstance(part, ast.Name) and part.id in found for part in ast.walk(node.value)):
            found |= {n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name)}
    return frozenset(found)


def _is_used(name: str, fix: Fix, scope: Scope) -> bool:
    """Whether a name stands in what the fix rewrites, and is not proved to hold a tensor there."""
    for node in scope.names(name):
        value, span = scope.value(node), scope.span(node)
        if not (value.is_tensor and value.certain) and any(edit.target.overlaps(span) for edit in fix.edits):
            return True
    return False

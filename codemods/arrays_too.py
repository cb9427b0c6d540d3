"""Fixes that would give functions of torch what callers may pass as something else: `x: np.ndarray | torch.Tensor`.

Dynamo makes tensors of arrays, and code that works on either, `x * 2 if x.max() > 1 else x`, breaks the graph. Outside
of compiled code `torch.where` takes no array, and no image of PIL: whoever calls the function with one would get a
TypeError.
"""

from __future__ import annotations

import ast
import re
from dataclasses import replace

from compilefix.analysis.asked_classes import computing_classes
from compilefix.analysis.values import ARRAYS, Kind
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Scope
from compilefix.codemods.torch_name import torch_name
from compilefix.source.tree import names_in

_OTHERS = {ARRAYS: "an array of NumPy", frozenset({Kind.TENSOR, Kind.OBJECT}): "an object of another class"}


def kept_for_arrays(finding: Finding, scope: Scope) -> Finding:
    """The finding, without its fix where that takes tensors alone and the function says that it takes more."""
    if finding.fix is None or not _calls_torch(finding.fix, scope):
        return finding
    for kinds, what in _OTHERS.items():
        declared = _declared_as_both(kinds, scope)
        for name in sorted(_hanging_on(declared, scope)):
            if _is_used(name, finding.fix, scope):
                reason = f"`{name}` may be {what}, which functions of torch do not take"
                return replace(finding, fix=None, declined=reason)
    return finding


def _calls_torch(fix: Fix, scope: Scope) -> bool:
    """Whether the new code calls functions of torch that the old code did not hold."""
    called = re.compile(rf"\b{torch_name(scope)}\.\w+\(")
    return any(called.search(edit.template) for edit in fix.edits)


def _declared_as_both(kinds: frozenset[Kind], scope: Scope) -> frozenset[str]:
    """The parameters whose annotation names things of all these kinds, or that the function asks for such a class."""
    inference, module = scope.legality.inference, scope.function.module
    asked = computing_classes(scope.function, inference.project) if Kind.OBJECT in kinds else {}
    return frozenset(
        p.arg
        for p in scope.function.parameters
        if asked.get(p.arg) or inference.annotated(p.annotation, module).kinds >= kinds
    )


def _hanging_on(names: frozenset[str], scope: Scope) -> frozenset[str]:
    """These names, and those that are computed of them: `largest = x.max()`."""
    found = set(names)
    assigned = scope.function.of(ast.Assign) if names else ()
    for node in assigned:
        if not names_in(node.value).isdisjoint(found):
            found |= names_in(*node.targets)
    return frozenset(found)


def _is_used(name: str, fix: Fix, scope: Scope) -> bool:
    """Whether a name stands in what the fix rewrites, and is not proved to hold a tensor there."""
    for node in scope.names(name):
        value, span = scope.value(node), scope.span(node)
        if not (value.is_tensor and value.certain) and any(edit.target.overlaps(span) for edit in fix.edits):
            return True
    return False

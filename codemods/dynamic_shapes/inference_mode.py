"""Selections by one mask in code that enters `torch.inference_mode` itself.

There each selection counts the mask anew, so that the rows of `x[mask]` and `y[mask]` have sizes of their own. Inductor
fails on them: always with torch 2.11 (H200), and with 2.13 (CPU) where the mask comes out of a kernel. With the mode
round the compiled call, with `no_grad`, and with places that are listed once (`mask.nonzero()`) it works (measured,
docs/measured.md).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.codemods.dynamic_shapes.masks import mask_of
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_MODE = "torch.inference_mode"


def counted_anew(node: ast.expr, scope: Scope, region: Sequence[Scope]) -> str | None:
    """Why a selection does not compile in inference mode; None where it is the only one by its mask.

    region: all that is compiled together with `scope`, and itself. What a mask in another function is, is not known.
    """
    mask = mask_of(node, scope) if isinstance(node, ast.Subscript) else None
    entered = next((inner for inner in region if _enters(inner)), None) if mask is not None else None
    if mask is None or entered is None:
        return None
    text = ast.dump(mask)
    for inner in region:
        for other in _selections(inner):
            own = inner.function is scope.function
            if other is not node and (not own or ast.dump(mask_of(other, inner) or mask) == text):
                return (
                    f"`{entered.function.qualname}` enters `{_MODE}`, in which two selections by `{snippet(mask)}` do "
                    "not compile: use `no_grad`, or enter it round the compiled call"
                )
    return None


def _enters(scope: Scope) -> bool:
    named = scope.function.decorators
    # Above `torch.compile` the mode is round the compiled call.
    if _MODE in named[named.index("torch.compile") if "torch.compile" in named else 0 :]:
        return True
    blocks = scope.function.of(ast.With)
    return any(scope.callee(item.context_expr) == _MODE for block in blocks for item in block.items)


def _selections(scope: Scope) -> Iterator[ast.Subscript]:
    for node in scope.among(ast.Subscript):
        if isinstance(node.ctx, ast.Load) and mask_of(node, scope) is not None:
            yield node

"""Selections by one mask in code that enters `torch.inference_mode` itself.

There each selection counts the mask anew, so that the rows of `x[mask]` and `y[mask]` have sizes of their own. Inductor
fails on them: always with torch 2.11 (H200), and with 2.13 (CPU) where the mask comes out of a kernel. With the mode
round the compiled call, with `no_grad`, and with places that are listed once (`mask.nonzero()`) it works (measured,
docs/measured.md).
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence

from compilefix.codemods.dynamic_shapes.masks import mask_of
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet

_MODE = "torch.inference_mode"


def counted_anew(
    node: ast.expr, scope: Scope, region: Sequence[Scope], results: Iterable[tuple[Scope, ast.expr]]
) -> str | None:
    """Why a selection does not compile in inference mode; None where it is the only one by its mask.

    region: all that is compiled together with `scope`, and itself. results: what has an unknown size in it. What a mask
    in another function is, is not known.
    """
    entered = next((inner for inner in region if _enters(inner)), None) if isinstance(node, ast.Subscript) else None
    if entered is None or not isinstance(node, ast.Subscript):
        return None
    mask = _mask(node, scope)
    for inner, other in results:
        if other is node or not isinstance(other, ast.Subscript):
            continue
        if inner.function is not scope.function or ast.dump(_mask(other, inner)) == ast.dump(mask):
            return (
                f"`{entered.function.qualname}` enters `{_MODE}`, in which two selections by `{snippet(mask)}` do "
                "not compile: use `no_grad`, or enter it round the compiled call"
            )
    return None


def _mask(node: ast.Subscript, scope: Scope) -> ast.expr:
    return mask_of(node, scope) or node.slice


def _enters(scope: Scope) -> bool:
    named = scope.function.decorators
    # Above `torch.compile` the mode is round the compiled call.
    if _MODE in named[named.index("torch.compile") if "torch.compile" in named else 0 :]:
        return True
    blocks = scope.function.of(ast.With)
    return any(scope.callee(item.context_expr) == _MODE for block in blocks for item in block.items)

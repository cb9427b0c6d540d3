"""A number that was read from a tensor, in a test or a comparison: what has to hold for its tensor to stand there."""

from __future__ import annotations

import ast

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.host_reads.number_flow import Flow
from compilefix.codemods.host_reads.number_names import chain_around
from compilefix.codemods.host_reads.number_places import compare_with
from compilefix.codemods.kept_branches import kept_in
from compilefix.codemods.number_comparison import fits_all
from compilefix.codemods.returned_truths import as_tensor
from compilefix.codemods.rule import Scope
from compilefix.source.operators import COMPARISONS
from compilefix.source.snippets import snippet
from compilefix.source.syntax import asks_for_none


def decide(node: ast.expr, parent: ast.AST | None, scope: Scope, flow: Flow) -> None:
    """The number decides an `if`, which its tensor then does: CF101 and CF102 look at it once it is one.

    Python compares in double precision, and so must the tensor, unless every dtype holds what it is compared with.
    Whether it is None decides the same of a tensor.
    """
    if asks_for_none(parent):
        return
    statement = next((a for a in scope.ancestors(node) if isinstance(a, ast.stmt | ast.IfExp)), None)
    if (kept := kept_in(chain_around(node, scope), scope)) is not None:
        # The graph would break there, where it broke at the read: nothing is won, and more where several tests ask.
        line = getattr(node, "lineno", 0)
        flow.refuse(f"line {line}: the number decides `{snippet(parent)}`, which stays a branch: `{snippet(kept)}`")
        return
    checks = isinstance(statement, ast.If) and isinstance(statement.body[0], ast.Raise)
    if flow.calls:
        # What the branch becomes must do for a number too, which other callers pass: no rule takes it out.
        name = scope.function.qualname
        flow.refuse(
            f"the number decides `{snippet(parent)}` in `{name}`, which stays a branch: others may pass numbers"
        )
        return
    if flow.listed and checks:
        # Without CF103 each comparison would break the graph, where one list was read.
        flow.obstacles.append(Obstacle("the check that it decides then goes to the boundary (CF103)", "exception-late"))
    elif (
        flow.unseen
        or (flow.listed and not flow.apart)
        or not isinstance(statement, ast.If | ast.IfExp)
        or not flow.meets
    ):
        flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number decides `{snippet(parent)}`")
        return
    if isinstance(parent, ast.Compare):
        other = parent.comparators[0] if parent.left is node else parent.left
        if not _compared(parent, other, scope, flow):
            flow.refuse(f"line {getattr(node, 'lineno', 0)}: the number decides `{snippet(parent)}`")


def _compared(parent: ast.Compare, other: ast.expr, scope: Scope, flow: Flow) -> bool:
    """Whether a comparison with a fixed number may be one of tensors, and note the precision that it needs."""
    value = scope.value(other)
    plain = value.is_(Kind.STATIC, Kind.SIZE) and value.dtype in ("int", "float")
    if len(parent.ops) > 1 or not isinstance(parent.ops[0], tuple(COMPARISONS)) or not plain or flow.boolean:
        return False
    flow.decides = flow.decides or flow.operations > 0
    if value.const is None or not fits_all(value.const.value):
        flow.compute(whole=value.dtype == "int")
    return True


def compare(node: ast.expr, parent: ast.Compare, scope: Scope, flow: Flow) -> None:
    """A comparison that decides nothing by itself: with a tensor, or one that is returned."""
    if len(parent.ops) != 1 or isinstance(parent.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
        if not asks_for_none(parent):
            line, sought = getattr(node, "lineno", 0), isinstance(parent.ops[-1], ast.In | ast.NotIn)
            takes = ", which takes no tensor" if sought and parent.left is node else ""
            flow.refuse(f"line {line}: the number is used as a Python number in `{snippet(parent)}`{takes}")
        return
    other = parent.comparators[0] if parent.left is node else parent.left
    if not scope.value(other).may_be(Kind.TENSOR):
        if (
            isinstance(scope.parents.get(parent), ast.Return)
            and not flow.calls
            and _compared(parent, other, scope, flow)
        ):
            # `return mask.sum().item() > 0`: who only asks for the truth may ask a boolean tensor for it.
            flow.handed_out = True
            obstacle = next(as_tensor([], [parent], scope))
            flow.refuse(obstacle.reason, obstacle.assumption)
            return
        flow.refuse(f"the result of `{snippet(parent)}` is used as a Python bool")
        return
    compare_with(node, other, scope, flow)

"""An `if` on a tensor that only prints, logs or warns: the line goes to the boundary, with the tensor that decides.

if torch.isnan(x).any():                     emit(
    warnings.warn(f"NaN in {name}")              lambda condition, name: warnings.warn(...) if condition else None,
                                                 torch.isnan(x).any(),
                                                 name,
                                             )
"""

from __future__ import annotations

import ast

from compilefix.codemods.conditions import condition, is_tensor_test, order_kept, split_static
from compilefix.codemods.control_flow.liveness import free_name
from compilefix.codemods.host_effects.calls import kind_of
from compilefix.codemods.host_effects.deferral import deferred_if
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Template


def guarded_effects(node: ast.If, scope: Scope) -> list[ast.Call]:
    """The calls of an `if` on a tensor whose block does nothing but print, log and warn; none for any other `if`."""
    calls = [s.value for s in node.body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)]
    if node.orelse or len(calls) != len(node.body) or not is_tensor_test(node.test, scope):
        return []
    return calls if all(kind_of(call, scope) is not None or is_noted(call) for call in calls) else []


def is_noted(call: ast.Call) -> bool:
    """Whether a call notes an effect for the boundary: `emit(lambda x: print(x), x)`."""
    noted = isinstance(call.func, ast.Name) and call.func.id == "emit" and bool(call.args)
    return noted and isinstance(call.args[0], ast.Lambda) and not call.keywords


def late_effects(node: ast.If, calls: list[ast.Call], scope: Scope, template: Template) -> str | None:
    """The block with each effect noted together with the condition; None where that is no condition on tensors.

    Raises:
        Refused: an effect cannot be carried out later.
    """
    fixed, tests = split_static(node.test, scope)
    template.refuse(order_kept(node.test, scope))
    code = condition(tests, scope, template)
    if code is None:
        return None
    lines: list[str] = []
    if len(calls) > 1:
        name = free_name("condition", scope)
        lines.append(f"{name} = {code}")
        code = name
    for call in calls:
        values = call.args[1:] if is_noted(call) else []
        template.refuse(scope.legality.both_evaluated(values, scope.facts))
        line, obstacles = deferred_if(call, code, scope)
        template.refuse(obstacles)
        lines.append(line)
    if not fixed:
        return "\n".join(lines)
    return f"if {' and '.join(template.use(part) for part in fixed)}:\n" + "\n".join(f"    {line}" for line in lines)

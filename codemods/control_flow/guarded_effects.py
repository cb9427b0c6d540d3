"""An `if` on a tensor that only prints, logs or warns: the line goes to the boundary, with the tensor that decides.

if torch.isnan(x).any():                     emit(
    warnings.warn(f"NaN in {name}")              lambda condition, name: warnings.warn(...) if condition else None,
                                                 torch.isnan(x).any(),
                                                 name,
                                             )
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compilefix.analysis import live_code
from compilefix.analysis.obstacles import Obstacle
from compilefix.codemods.conditions import condition, order_kept
from compilefix.codemods.host_effects.calls import kind_of
from compilefix.codemods.host_effects.deferral import deferred_if
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import is_tensor_test, split_static

_SHOWING = re.compile(
    r"(\w*_)?(warn|warning|warn_once|warning_once|log_once|print_once)|rank_zero_(info|debug|print)|print_rank_?0|print0"
)
"""What people call functions that log or warn, for example on one process of many."""


def guarded_effects(node: ast.If, scope: Scope) -> list[ast.Call]:
    """The calls of an `if` on a tensor whose block does nothing but print, log and warn; none for any other `if`."""
    calls = [s.value for s in node.body if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call)]
    if node.orelse or len(calls) != len(node.body) or not is_tensor_test(node.test, scope):
        return []
    if any(is_noted(call, scope) and call.keywords for call in calls):
        return []
    return calls if all(shows(call, scope) for call in calls) else []


def shows(call: ast.Call, scope: Scope) -> bool:
    """Whether all that a call does is to print, log or warn, or to note that for the boundary."""
    return kind_of(call, scope) is not None or is_noted(call, scope) or _is_wrapper(call, scope)


def is_noted(call: ast.Call, scope: Scope) -> bool:
    """Whether a call notes an effect for the boundary: `emit(lambda x: print(x), x)`."""
    return live_code.is_noted(call, scope.facts) and [k.arg for k in call.keywords] in ([], ["raise_if"])


def _is_wrapper(call: ast.Call, scope: Scope) -> bool:
    """Whether a function is called that does nothing but show something, as far as its code tells, or its name."""
    if not isinstance(call.func, ast.Name | ast.Attribute) or not isinstance(scope.parents.get(call), ast.Expr):
        return False
    callee = scope.facts.calls.get(call)
    if callee is None:
        return isinstance(call.func, ast.Name) and _shows_by_name(call)
    does = scope.legality.effects.of_function(callee)
    if does.random is not None or does.mutates is not None or does.raises is not None:
        return False
    return does.host is not None if does.unknown is None else _shows_by_name(call)


def _shows_by_name(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ast.unparse(call.func)
    return _SHOWING.fullmatch(name) is not None


def taken_on_trust(call: ast.Call, scope: Scope) -> Iterator[Obstacle]:
    """What is not known of a call that `shows` something."""
    if kind_of(call, scope) is None and not is_noted(call, scope) and _shows_by_name(call):
        yield Obstacle(
            f"`{ast.unparse(call.func)}` is taken to show its arguments and do no more, by its name", "log-late"
        )


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
        values = call.args[1:] if is_noted(call, scope) else []
        template.refuse(scope.legality.both_evaluated(values, scope.facts))
        line, obstacles = deferred_if(call, code, scope)
        template.refuse([*obstacles, *taken_on_trust(call, scope)])
        lines.append(line)
    if not fixed:
        return "\n".join(lines)
    return f"if {' and '.join(template.use(part) for part in fixed)}:\n" + "\n".join(f"    {line}" for line in lines)

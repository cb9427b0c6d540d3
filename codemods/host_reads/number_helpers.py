"""A function that only reads the number in its argument: `def value(t): return t.item()`.

What is no tensor it may hand on: `return t.item() if isinstance(t, torch.Tensor) else t`. Each call of it stands for
the read, so the caller goes on with the tensor where each of them can.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.callers import callers
from compilefix.codemods.finding import Edit, Fix
from compilefix.codemods.host_reads.number_rewrite import number_fix
from compilefix.codemods.rule import Scope


def fix_in_callers(cast: str, scope: Scope, *, others: bool = False) -> Fix | None:
    """The fix that lets the callers of a function keep the tensors whose numbers it reads; None where one cannot.

    others: it is given what is no tensor, too, and hands that on.
    """
    fixes: list[Fix] = []
    for caller in callers(scope):
        inner = scope.in_function(caller)
        for call in (c for c in inner.of(ast.Call) if inner.facts.calls.get(c) is scope.function):
            given = call.args[0] if len(call.args) == 1 and not call.keywords else None
            if given is None or isinstance(given, ast.Starred):
                return None
            if others and not inner.value(given).may_be(Kind.TENSOR):
                continue
            if not inner.value(given).is_tensor:
                return None
            fix = number_fix(call, given, cast, inner)
            if not isinstance(fix, Fix):
                return None
            fixes.append(fix)
    edits = tuple(edit for fix in fixes for edit in fix.edits)
    if not edits or _overlap(edits):
        return None
    imports = tuple(dict.fromkeys(name for fix in fixes for name in fix.imports))
    return Fix(edits, imports, tuple(_each(f.assumptions for f in fixes)), tuple(_each(f.reasons for f in fixes)))


def only_reads(node: ast.Call, source: ast.expr, scope: Scope) -> bool:
    """Whether a function has one parameter and does nothing but return the number in it: `node`, read of `source`.

    What is no tensor it may return as it is.
    """
    function = scope.function
    body = function.node.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    last = body[-1] if len(body) == (2 if documented else 1) else None
    alone = function.cls is None and function.parent is None and not function.node.decorator_list
    parameters = [argument.arg for argument in function.parameters]
    named = isinstance(source, ast.Name) and parameters == [source.id]
    return alone and named and isinstance(last, ast.Return) and (last.value is node or hands_on(node, source, scope))


def hands_on(node: ast.expr, source: ast.expr, scope: Scope) -> bool:
    """Whether only a tensor is read and anything else handed on: `t.item() if isinstance(t, torch.Tensor) else t`."""
    choice = scope.parents.get(node)
    if not isinstance(choice, ast.IfExp) or choice.body is not node or not isinstance(choice.test, ast.Call):
        return False
    asked, given = choice.test, ast.unparse(source)
    if scope.callee(asked) == "isinstance" and len(asked.args) == 2:
        plain = scope.callee(asked.args[1]) == "torch.Tensor" or scope.value(asked.args[1]).ref == "torch.Tensor"
    else:
        plain = scope.callee(asked) == "torch.is_tensor" and len(asked.args) == 1
    return plain and ast.unparse(asked.args[0]) == given == ast.unparse(choice.orelse)


def _each(lists: Iterator[tuple[str, ...]]) -> dict[str, None]:
    return dict.fromkeys(text for texts in lists for text in texts)


def _overlap(edits: tuple[Edit, ...]) -> bool:
    spans = [edit.target for edit in edits]
    return any(one.overlaps(other) for i, one in enumerate(spans) for other in spans[:i])

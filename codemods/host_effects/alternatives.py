"""What becomes of a print or a log line where the configuration wants no boundary: a guard, or nothing.

With `logging = "guard"` it stands behind `if not torch.compiler.is_compiling():` and appears when the code runs without
compiling; with `logging = "remove"` it goes away.
"""

from __future__ import annotations

import ast

from compilefix.codemods.finding import Edit, Fix
from compilefix.codemods.host_effects.calls import calls_with
from compilefix.codemods.host_effects.deferral import check_statement, deferred, edit_of
from compilefix.codemods.host_effects.levels import calls_under, level_guard
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.host_effects.reads import bound_read
from compilefix.codemods.rule import Scope
from compilefix.source.snippets import snippet


def fix_of(call: ast.Call, scope: Scope) -> Fix:
    """The fix for a call that acts on the host, in the way that the configuration wants.

    Raises:
        Refused: the call cannot be treated so.
    """
    return deferred(call, scope) if scope.logging == "boundary" else _dropped(call, scope)


def _dropped(call: ast.Call, scope: Scope) -> Fix:
    """The fix that keeps a call out of compiled code, with the lines that only compute what it shows."""
    calls, edits = [call], list[Edit]()
    reads: dict[str, ast.stmt] = {}
    for item in calls:
        check_statement(item, scope)
        _check_pure(item, scope)
        guard = level_guard(item, scope)
        related = calls_under(guard, scope) if guard is not None else []
        for name in _names(item, scope):
            reads[name] = _assignment(name, scope)
            related += calls_with(name, scope)
        calls.extend(other for other in dict.fromkeys(related) if other not in calls)
    done: set[ast.AST] = set()
    for item in calls:
        whole = level_guard(item, scope) or item
        if whole not in done:
            done.add(whole)
            edits.append(_edit(whole, scope))
    edits.extend(_edit(statement, scope) for statement in reads.values())
    guarded = scope.logging == "guard"
    reason = "the text is missing when the code runs compiled" if guarded else "the text does not appear at all"
    return Fix(tuple(edits), ("torch",) if guarded else (), ("log-dropped",), (reason,))


def _edit(whole: ast.If | ast.Call | ast.stmt, scope: Scope) -> Edit:
    torch = scope.local_name("torch") or "torch"
    if isinstance(whole, ast.Call):
        place = edit_of(whole, "", scope)
        if not place.statement:
            text = "None" if scope.logging == "remove" else f"{torch}.compiler.is_compiling() or {{line}}"
            return scope.edit(whole, text, **({} if scope.logging == "remove" else {"line": whole}))
        whole = scope.statement(whole)
    if scope.logging == "remove":
        return scope.edit(whole, "")
    return scope.edit(whole, f"if not {torch}.compiler.is_compiling():\n    {{line}}", line=whole)


def _check_pure(call: ast.Call, scope: Scope) -> None:
    for given in (*call.args, *(keyword.value for keyword in call.keywords)):
        does = scope.legality.effects.of(given, scope.facts)
        reason = does.mutates or does.random or does.unknown
        if reason is not None:
            raise Refused(f"`{snippet(given)}` may do more than give a value: {reason}")


def _names(call: ast.Call, scope: Scope) -> list[str]:
    """Local names that hold a number read from a tensor, and that only calls like this one show."""
    names = [n for n in ast.walk(call) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
    return [n.id for n in names if bound_read(n, scope) is not None]


def _assignment(name: str, scope: Scope) -> ast.stmt:
    statement = scope.statement(scope.names(name, stores=True)[0])
    if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
        raise Refused(f"`{name}` is assigned together with other names")
    return statement

"""Fixes that would change what a name of an outer scope holds: `global STEP`, `nonlocal found`.

Others read such a name. A number that becomes a tensor is one for them, too, and an assignment behind an early return
was not made where the function returned.
"""

from __future__ import annotations

import ast
from dataclasses import replace

from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Scope

_EXITS = (ast.Return, ast.Break, ast.Continue)


def kept_for_others(finding: Finding, scope: Scope) -> Finding:
    """The finding, without its fix where that gives a name of an outer scope another value, or gives it one always."""
    if finding.fix is None or not (names := _outer_names(scope)):
        return finding
    for store in scope.of(ast.Name):
        if store.id not in names or isinstance(store.ctx, ast.Load):
            continue
        if _rewrites(finding.fix, store, scope) or _may_be_skipped(finding, store, scope):
            reason = f"`{store.id}` is a name of an outer scope, where others read what it holds"
            return replace(finding, fix=None, declined=f"line {store.lineno}: {reason}")
    return finding


def _outer_names(scope: Scope) -> frozenset[str]:
    declared = [node.names for node in scope.of(ast.Global)] + [node.names for node in scope.of(ast.Nonlocal)]
    return frozenset(name for names in declared for name in names)


def _rewrites(fix: Fix, store: ast.Name, scope: Scope) -> bool:
    """Whether a fix writes the statement of an assignment, or its value, anew, where that is not a tensor anyway."""
    span = scope.span(scope.statement(store))
    same = scope.value(store).is_tensor and not any(edit.target.overlaps(scope.span(store)) for edit in fix.edits)
    return not same and any(edit.target.overlaps(span) for edit in fix.edits if not edit.inserts)


def _may_be_skipped(finding: Finding, store: ast.Name, scope: Scope) -> bool:
    """Whether an assignment stands behind an exit that a fix takes out."""
    fix, line = finding.fix, finding.span.line
    if fix is None or not finding.code.startswith("CF1") or (fix.boundary and "exception-late" in fix.assumptions):
        return False
    blocks = (*scope.of(ast.If), *scope.of(ast.For), *scope.of(ast.While))
    around = [n for n in blocks if n.lineno <= line <= (n.end_lineno or n.lineno)]
    exits = any(isinstance(part, _EXITS) for node in around for part in ast.walk(node))
    in_loop = any(store in ast.walk(node) for node in around if not isinstance(node, ast.If))
    return exits and (store.lineno >= line or in_loop)

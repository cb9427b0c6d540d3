"""Calls that make a tensor of a number: of a tensor they make a copy, and warn that there are better ways to copy."""

from __future__ import annotations

import ast

from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.summaries import filled
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function

_MAKES_A_TENSOR = frozenset({"torch.tensor", "Tensor.new_tensor"})


def warns_of_copy(given: ast.AST, call: ast.Call, scope: Scope) -> bool:
    """Whether `torch.tensor` gets what a call is given: at once, or in a function of the project that it goes to."""
    if _is_data(given, call, scope.facts):
        return True
    callee = scope.facts.calls.get(call)
    name = _parameter(given, call, callee) if callee is not None else None
    if callee is None or name is None:
        return False
    facts = scope.legality.inference.facts(callee)
    stored = any(n.id == name and isinstance(n.ctx, ast.Store) for n in callee.of(ast.Name))
    uses = [n for n in callee.of(ast.Name) if n.id == name]
    return not stored and any(_is_data(use, inner, facts) for inner in callee.of(ast.Call) for use in uses)


def _is_data(given: ast.AST, call: ast.Call, facts: FunctionFacts) -> bool:
    data = next((k.value for k in call.keywords if k.arg == "data"), call.args[0] if call.args else None)
    return data is given and facts.refs.get(call) in _MAKES_A_TENSOR


def _parameter(given: ast.AST, call: ast.Call, callee: Function) -> str | None:
    """The parameter of a function that an argument goes to; None where it cannot be told."""
    if any(isinstance(a, ast.Starred) for a in call.args):
        return None
    bound = filled(call, callee)
    named = next((k.arg for k in call.keywords if k.value is given), None)
    place = next((i for i, a in enumerate(call.args) if a is given), None)
    if named is None and place is not None and place < len(bound):
        named = bound[place].arg
    return named if named in {p.arg for p in callee.parameters} else None

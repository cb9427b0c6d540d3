"""Breaks of selections that `capture_dynamic_output_shape_ops` keeps in the graph."""

from __future__ import annotations

import ast

from compilefix.codemods.dynamic_shapes.captured_sizes import not_captured
from compilefix.codemods.dynamic_shapes.ragged import is_ragged
from compilefix.codemods.dynamic_shapes.ragged_sizes import selection_of
from compilefix.codemods.finding import Finding
from compilefix.codemods.rule import Scope

_SELECTS = "CF501"
_OF_SELECTIONS = frozenset({"CF502", "CF503", "CF505"})


def kept_by_flag(finding: Finding, scope: Scope) -> bool:
    """Whether a finding is about nothing but results of unknown size that the flag keeps in the graph."""
    nodes = selections_of(finding, scope)
    return bool(nodes) and all(not_captured(node, scope) is None for node in nodes)


def selections_of(finding: Finding, scope: Scope) -> list[ast.expr]:
    """The operations that a finding is about whose results have an unknown size, where the flag may keep them."""
    if finding.code not in _OF_SELECTIONS | {_SELECTS} or finding.gb == ("GB0033",):
        return []
    nodes: list[ast.expr] = [
        node
        for node in scope.among(ast.Call, ast.Subscript)
        if (
            scope.span(node) == finding.span
            if finding.code == _SELECTS
            else finding.span.holds(scope.span(node)) and is_ragged(node, scope)
        )
    ]
    if not nodes:
        names = (n for n in scope.of(ast.Name) if finding.span.holds(scope.span(n)))
        nodes = [made for name in names if (made := selection_of(name, scope)) is not None]
    return nodes

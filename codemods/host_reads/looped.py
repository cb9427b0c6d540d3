"""Slices in loops over rows that the fix of the loop removes: the numbers that bound them need no fix of their own."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.codemods.control_flow.row_loop import RowLoop
from compilefix.codemods.control_flow.row_reduction import RowReduction
from compilefix.codemods.rule import Scope


def needs_no_number(items: Sequence[ast.expr], scope: Scope) -> bool:
    """Whether the loop that cuts rows at a number goes, by a fix that needs no number."""
    found = (*scope.found(RowLoop()), *scope.found(RowReduction()))
    replaced = [edit.target for finding in found if finding.fix is not None for edit in finding.fix.edits]
    return any(span.holds(scope.span(item)) for item in items for span in replaced)

"""Checks of the bounds of slices, with which numbers that are read from tensors can stay in the graph as symbols."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.analysis.legality import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.capture_flags import SCALARS, switched_on
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.finding import Edit, Fix
from compilefix.codemods.host_reads.bound_checks import checked_before, conditions_of, place_of
from compilefix.codemods.host_reads.captured import unchecked_slices
from compilefix.codemods.host_reads.integer_places import integer_place
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import Template, imports, torch_name
from compilefix.source.snippets import snippet


def checked_fix(node: ast.expr, scope: Scope) -> Fix | None:
    """The checks that let a number, or the list of numbers, stay in the graph with the flag; None where none do."""
    items = unchecked_slices(node, scope)
    return _fix(node, items, Template(), scope) if items else None


def checked_tensor_fix(bound: ast.expr, scope: Scope) -> Fix | None:
    """The same for a tensor that bounds a slice, `x[:, : lengths.max()]`: it is read as a number before it does."""
    names = [n for n in ast.walk(bound) if isinstance(n, ast.Name) and scope.value(n).is_tensor]
    read: ast.expr | None = bound
    if isinstance(bound, ast.Name | ast.BinOp):
        read = _given(names[0], scope) if len(names) == 1 else None
    items = unchecked_slices(read, scope) if read is not None else []
    if read is None or not items:
        return None
    template = Template()
    if scope.value(read).rank != 0:
        reason = f"`{snippet(read)}` is not proved to have one element, and with more another error is raised"
        template.refuse([Obstacle(reason, "condition-one-element")])
    if scope.value(read).dtype != "int":
        reason = f"`{snippet(read)}` is not proved to be an integer, and for another another error is raised"
        template.refuse([Obstacle(reason, "index-in-range")])
    return _fix(read, items, template, scope, ".item()")


def _given(name: ast.Name, scope: Scope) -> ast.expr | None:
    """What a name is given, in the one place that gives it a value, where all that reads it reads an integer."""
    stores = scope.names(name.id, stores=True)
    statement = scope.parents.get(stores[0]) if len(stores) == 1 else None
    everywhere = [n for n in ast.walk(scope.function.node) if isinstance(n, ast.Name) and n.id == name.id]
    loads = scope.names(name.id)
    if not isinstance(statement, ast.Assign) or statement.targets != stores or len(everywhere) != len(loads) + 1:
        return None
    return statement.value if all(_is_integer(load, scope) for load in loads) else None


def _is_integer(node: ast.expr, scope: Scope) -> bool:
    parent = scope.parents.get(node)
    if isinstance(parent, ast.BinOp):
        other = scope.value(parent.right if parent.left is node else parent.left)
        sums = isinstance(parent.op, ast.Add | ast.Sub) and other.is_(Kind.STATIC, Kind.SIZE) and other.dtype == "int"
        # Another error is raised where an integer is divided by zero.
        divided = isinstance(parent.op, ast.FloorDiv) and other.const is not None and type(other.const.value) is int
        divided = divided and parent.left is node and other.const is not None and other.const.value != 0
        return (sums or divided) and _is_integer(parent, scope)
    return integer_place(node, scope) is not None


def _fix(
    read: ast.expr, items: Sequence[ast.Subscript], template: Template, scope: Scope, call: str = ""
) -> Fix | None:
    inside = [item for item in items if read in ast.walk(item.slice)]
    if inside and len(items) > 1:
        return None
    code = template.use(read, operand=bool(call)) + call
    begins = any(s.lower is not None and read in ast.walk(s.lower) for i in inside for s in _slices(i))
    name = free_name("start" if begins else "end", scope) if inside else None
    edits = _checks(items, read, name, scope, template, f"{name} = {code}\n" if inside else "")
    if inside:
        edits.append(scope.edit(read, str(name)))
    elif call:
        edits.append(scope.edit(read, code, **template.parts))
    if template.broken:
        return None
    # Where another rule needs no number at all, that is better.
    return Fix(tuple(edits), imports(scope), template.assumptions, template.reasons, last=True)


def _checks(
    items: Sequence[ast.Subscript], read: ast.expr, name: str | None, scope: Scope, template: Template, first: str
) -> list[Edit]:
    """The checks before each statement with slices, as far as none on the way to it asks the same."""
    edits: list[Edit] = []
    written: dict[ast.stmt, list[str]] = {}
    for item in items:
        statement = place_of(item, scope)
        conditions = conditions_of(item, scope, read, name or "") or ()
        assert statement is not None
        asked = checked_before(item, scope)
        for before, lines in written.items():
            asked |= set(lines) if before is statement or _leads_to(before, statement, scope) else set()
        written.setdefault(statement, []).extend(c for c in conditions if c not in asked)
        _refuse(item, scope, template)
    for statement, lines in written.items():
        text = "\n".join(f"{torch_name(scope)}._check({line})" for line in lines)
        parts = template.parts if first else {}
        edits += [scope.before(statement, first + text, **parts)] if lines else []
    return edits


def _leads_to(before: ast.stmt, statement: ast.stmt, scope: Scope) -> bool:
    """Whether a statement has run where another one of its block, or within one of that, does."""
    block = scope.block(before)
    around = next((s for s in (statement, *scope.ancestors(statement)) if s in block), None)
    return isinstance(around, ast.stmt) and block.index(before) < block.index(around)


def _refuse(item: ast.Subscript, scope: Scope, template: Template) -> None:
    """Note what the checks of a slice rest on: they raise where it was cut off, or counted from the end."""
    shown = snippet(item)
    reason = f"RuntimeError is raised where `{shown}` begins or ends behind the tensor, where it was cut off"
    template.refuse([Obstacle(reason, "index-in-range")])
    bounds = [bound for part in _slices(item) for bound in (part.lower, part.upper) if bound is not None]
    if not all(Sizes(scope).never_negative(bound) for bound in bounds):
        reason = f"RuntimeError is raised where a bound of `{shown}` is below zero, and counted from the end"
        template.refuse([Obstacle(reason, "not-negative")])
    if not scope.value(item.value).certain:
        template.refuse([Obstacle(f"`{snippet(item.value)}` is not proved to be a tensor", "branches-total")])
    if not switched_on(SCALARS, scope):
        template.refuse([Obstacle(f"it stays in the graph only where `{SCALARS}` is on", "capture-scalars")])


def _slices(item: ast.Subscript) -> list[ast.Slice]:
    parts = item.slice.elts if isinstance(item.slice, ast.Tuple) else [item.slice]
    return [part for part in parts if isinstance(part, ast.Slice)]

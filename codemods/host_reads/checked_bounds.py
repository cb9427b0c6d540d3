"""Checks of the bounds of slices, with which numbers that are read from tensors can stay in the graph as symbols."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.capture_flags import SCALARS, switched_on
from compilefix.codemods.control_flow.sizes import Sizes
from compilefix.codemods.finding import Edit, Fix
from compilefix.codemods.flag_rule import library_roots, scopes_reached
from compilefix.codemods.host_reads.bound_checks import checked_before, conditions_of, narrowed, place_of
from compilefix.codemods.host_reads.captured import unchecked_slices
from compilefix.codemods.host_reads.integer_places import integer_place
from compilefix.codemods.host_reads.looped import needs_no_number
from compilefix.codemods.host_reads.read_twice import read_twice
from compilefix.codemods.names import free_name
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.reaching import only_reads
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports, torch_name
from compilefix.codemods.unknown_rows import failing_layer, fails_where_cut
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of


def checked_fix(node: ast.expr, others: Sequence[ast.expr], scope: Scope) -> Fix | None:
    """The checks that let a number, or the list of numbers, stay in the graph with the flag; None where none do.

    others: the numbers that the function reads. A slice that one behind it bounds too is left to that one.
    """
    items = unchecked_slices(node, scope)
    if not items or any(_tensors(item, scope) for item in items) or _are_for_nothing(items, scope):
        return None
    if any(unchecked_slices(other, scope) for other in read_twice(node, others, scope)):
        return None
    later = (other for other in others if (other.lineno, other.col_offset) > (node.lineno, node.col_offset))
    shared = (item for other in later for item in unchecked_slices(other, scope))
    if any(item in items for item in shared):
        return None
    return _inside(node, items, "", Template(), scope) or _fix([], items, Template(), scope)


def checked_tensor_fix(bound: ast.expr, scope: Scope) -> Fix | None:
    """The same for a tensor that bounds a slice, `x[:, : lengths.max()]`: it is read as a number before it does."""
    template = Template()
    if not _names(bound, scope):
        items = unchecked_slices(bound, scope)
        if not items or _are_for_nothing(items, scope):
            return None
        _refuse_reading(bound, scope, template)
        return _inside(bound, items, ".item()", template, scope)
    pending = {name.id: name for name in _names(bound, scope)}
    reads: dict[str, ast.expr] = {}
    items = []
    while pending:
        name = pending.popitem()[1]
        read = _given(name, scope)
        found = unchecked_slices(read, scope) if read is not None else []
        if read is None or not found:
            return None
        reads[name.id] = read
        items += [item for item in found if item not in items]
        others = (other for item in found for other in _tensors(item, scope))
        pending |= {other.id: other for other in others if other.id not in reads}
    if _are_for_nothing(items, scope) or any(any(read_twice(one, reads.values(), scope)) for one in reads.values()):
        return None
    for read in reads.values():
        _refuse_reading(read, scope, template)
    return _fix([_as_number(read, scope) for read in reads.values()], items, template, scope)


def _tensors(item: ast.Subscript, scope: Scope) -> list[ast.Name]:
    """The names of tensors in the bounds of slices."""
    bounds = [bound for part in _slices(item) for bound in (part.lower, part.upper) if bound is not None]
    return [name for bound in bounds for name in _names(bound, scope)]


def _names(bound: ast.expr, scope: Scope) -> list[ast.Name]:
    """The names of tensors that a bound is computed of, not those of which it takes a size."""
    if isinstance(bound, ast.BinOp):
        return _names(bound.left, scope) + _names(bound.right, scope)
    if isinstance(bound, ast.Call) and isinstance(bound.func, ast.Name) and read_of(bound, scope) is None:
        return [name for argument in bound.args for name in _names(argument, scope)]
    return [bound] if isinstance(bound, ast.Name) and scope.value(bound).is_tensor else []


def _refuse_reading(read: ast.expr, scope: Scope, template: Template) -> None:
    if scope.value(read).rank != 0:
        reason = f"`{snippet(read)}` is not proved to have one element, and with more another error is raised"
        template.refuse([Obstacle(reason, "condition-one-element")])
    if scope.value(read).dtype != "int":
        reason = f"`{snippet(read)}` is not proved to be an integer, and for another another error is raised"
        template.refuse([Obstacle(reason, "index-in-range")])


def _as_number(read: ast.expr, scope: Scope) -> Edit:
    template = Template()
    return scope.edit(read, f"{template.use(read, operand=True)}.item()", **template.parts)


def _given(name: ast.Name, scope: Scope) -> ast.expr | None:
    """What a name is given where it has its value from, if all that reads this value reads an integer."""
    stores, loads = scope.names(name.id, stores=True), scope.names(name.id)
    if len(scope.function.places(name.id)) != len(loads) + len(stores):
        return None
    for store in stores:
        statement = scope.parents.get(store)
        if not isinstance(statement, ast.Assign) or statement.targets != [store]:
            continue
        reads = loads if len(stores) == 1 else only_reads(name.id, statement, scope) or []
        if name in reads:
            return statement.value if all(_is_integer(load, scope) for load in reads) else None
    return None


def _is_integer(node: ast.expr, scope: Scope) -> bool:
    parent = scope.parents.get(node)
    if isinstance(parent, ast.BinOp):
        other = scope.value(parent.right if parent.left is node else parent.left)
        sums = isinstance(parent.op, ast.Add | ast.Sub) and other.is_(Kind.STATIC, Kind.SIZE) and other.dtype == "int"
        # Another error is raised where an integer is divided by zero.
        divided = isinstance(parent.op, ast.FloorDiv) and other.const is not None and type(other.const.value) is int
        divided = divided and parent.left is node and other.const is not None and other.const.value != 0
        # Of fewer bits a sum may wrap round, and Python's grows.
        sums = sums and scope.value(node).dtype_id == "int64"
        return (sums or divided) and _is_integer(parent, scope)
    return integer_place(node, scope) is not None


def _inside(read: ast.expr, items: Sequence[ast.Subscript], call: str, template: Template, scope: Scope) -> Fix | None:
    """The fix for a number that is read in the bound itself, which gets a name; one of several in a statement."""
    part = next((s for item in items for s in _slices(item) if read in ast.walk(s)), None)
    if part is None or len(items) > 1 or part is not _first_computed(scope.statement(part), scope):
        return None
    name = free_name("end" if part.upper is not None and read in ast.walk(part.upper) else "start", scope)
    code = template.use(read, operand=bool(call)) + call
    edits = _checks(items, scope, template, (read, name), f"{name} = {code}\n")
    item = items[0]
    if item.slice is part and (part.lower is None or part.upper is None) and read in (part.lower, part.upper):
        base = Template()
        bounds = f"{name}:" if part.lower is read else f":{name}"
        edits.append(scope.edit(item, f"{base.use(item.value)}[{bounds}]", **base.parts))
    else:
        edits.append(scope.edit(read, name))
    return _made(edits, template, scope)


def _first_computed(statement: ast.stmt, scope: Scope) -> ast.Slice | None:
    """The first slice of a statement with a bound that calls something: each would be given the same name."""
    slices = [s for s in scope.of(ast.Slice) if scope.statement(s) is statement]
    computed = (s for s in slices if any(isinstance(n, ast.Call) for n in ast.walk(s)))
    return min(computed, key=lambda s: (s.lineno, s.col_offset), default=None)


def _fix(given: Sequence[Edit], items: Sequence[ast.Subscript], template: Template, scope: Scope) -> Fix | None:
    if any(isinstance(n, ast.Call) and read_of(n, scope) is not None for item in items for n in ast.walk(item.slice)):
        return None  # one that is read in the bound comes first
    return _made([*given, *_checks(items, scope, template)], template, scope)


def _are_for_nothing(items: Sequence[ast.Subscript], scope: Scope) -> bool:
    """Whether checks would not do: a better fix needs no number, or what is cut off fails in other compiled code."""
    if needs_no_number(items, scope):
        return True
    region = list(scopes_reached(library_roots(scope), scope))
    return any(fails_where_cut(item, scope, region) or failing_layer(item, scope, region) for item in items)


def _is_chosen(item: ast.Subscript, scope: Scope) -> bool:
    """Whether a branch chooses a bound: on one of the ways the slice may be meant to be cut off.

    `start = int(...) if n > size else 0`, and then `x[start : start + size]`.
    """
    around = set(scope.ancestors(item))
    for name in (n for part in _slices(item) for n in ast.walk(part) if isinstance(n, ast.Name)):
        for store in scope.names(name.id, stores=True):
            value = getattr(scope.parents.get(store), "value", None)
            branches = [a for a in scope.ancestors(store) if isinstance(a, ast.If) and a not in around]
            if branches or isinstance(value, ast.IfExp):
                return True
    return False


def _made(edits: Sequence[Edit], template: Template, scope: Scope) -> Fix | None:
    if template.broken is not None or not edits:
        return None
    # Where another rule needs no number at all, that is better.
    return Fix(tuple(edits), imports(scope), template.assumptions, template.reasons, last=True)


def _checks(
    items: Sequence[ast.Subscript],
    scope: Scope,
    template: Template,
    named: tuple[ast.expr | None, str] = (None, ""),
    first: str = "",
) -> list[Edit]:
    """The checks before each statement with slices, as far as none on the way to it asks the same."""
    edits: list[Edit] = []
    written: dict[ast.stmt, list[str]] = {}
    for item in items:
        statement = place_of(item, scope)
        _refuse(item, scope, template)
        if _is_chosen(item, scope):
            template.refuse([Obstacle(f"a branch chooses where `{snippet(item)}` begins or ends")])
        if statement is None:
            edits.append(_narrow(item, scope))
            continue
        conditions = conditions_of(item, scope, *named) or ()
        asked = checked_before(item, scope)
        for before, lines in written.items():
            asked |= set(lines) if before is statement or _leads_to(before, statement, scope) else set()
        written.setdefault(statement, []).extend(c for c in conditions if c not in asked)
    for statement, lines in written.items():
        text = "\n".join(f"{torch_name(scope)}._check({line})" for line in lines)
        edits += [scope.before(statement, first + text, **(template.parts if first else {}))] if lines else []
    return edits


def _narrow(item: ast.Subscript, scope: Scope) -> Edit:
    """`x.narrow(1, 0, n)` for `x[:, :n]`, in a comprehension or lambda."""
    found = narrowed(item, scope)
    assert found is not None
    template = Template()
    base, bound = template.use(item.value), template.use(found[1])
    return scope.edit(item, f"{base}.narrow({found[0]}, 0, {bound})", **template.parts)


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
        template.refuse([Obstacle(f"`{snippet(item.value)}` is not proved to be a tensor", "is-tensor")])
    if not switched_on(SCALARS, scope):
        template.refuse([Obstacle(f"it stays in the graph only where `{SCALARS}` is on", "capture-scalars")])


def _slices(item: ast.Subscript) -> list[ast.Slice]:
    parts = elements_of(item.slice)
    return [part for part in parts if isinstance(part, ast.Slice)]

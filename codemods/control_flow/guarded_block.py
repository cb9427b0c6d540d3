"""An `if` without `else` whose block holds more than plain selections: nested fixed `if`s, loops, writes in place.

Two ways lead out. Where the condition is `mask.any()` and every statement only changes what the mask selects, the block
does nothing on the other side and the `if` can go. Else each statement that has an effect is made to select by itself.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from compilefix.analysis.in_place import written_always
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.bound_names import unbound_where_skipped
from compilefix.codemods.conditions import condition, order_kept
from compilefix.codemods.control_flow.guarded_writes import (
    evaluated,
    evaluated_always,
    guarded_write,
    is_number,
    needs_elements,
)
from compilefix.codemods.control_flow.in_place_selection import selected_write
from compilefix.codemods.control_flow.item_targets import item_name, judge_item
from compilefix.codemods.control_flow.liveness import live_after
from compilefix.codemods.control_flow.masks import Mask, empty_masks, selects_by
from compilefix.codemods.dynamic_shapes.masks import whole_mask
from compilefix.codemods.dynamic_shapes.ragged_sizes import selection_of
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.selection import judge_selection
from compilefix.codemods.template import Given, Template
from compilefix.codemods.tensor_tests import is_tensor_test, split_static
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of


@dataclass
class _Block:
    """A guarded block on its way out of its `if`."""

    node: ast.If
    scope: Scope
    template: Template
    masks: list[Mask]
    condition: str = ""
    operand: str = ""
    lines: list[str] = field(default_factory=list)
    selections: dict[ast.stmt, str] = field(default_factory=dict)

    def always(self, body: Sequence[ast.stmt]) -> list[str]:
        """The code of statements that run always."""
        return [self.selections.get(statement) or self.template.use(statement) for statement in body]


def without_guard(node: ast.If, body: Sequence[ast.stmt], scope: Scope, template: Template) -> str | None:
    """The block alone, where it does nothing on the other side; None where that does not hold."""
    fixed, tests = split_static(node.test, scope)
    masks = list(empty_masks(tests[0], scope)) if len(tests) == 1 else []
    if not masks:
        return None
    trial = Template(dict(template.parts))
    block = _Block(node, scope, trial, masks)
    if not _all_select(body, block):
        return None
    failing = needs_elements(body, masks, node, scope)
    if failing is not None:
        trial.refuse([Obstacle(f"`{snippet(failing)}` fails where `{snippet(tests[0])}` is false")])
    trial.refuse(order_kept(node.test, scope))
    if not all(mask.boolean for mask in masks):
        trial.refuse([Obstacle(f"the mask in `{snippet(tests[0])}` is not proved to be boolean", "branches-total")])
    template.parts = trial.parts
    template.refuse(trial.obstacles)
    lines = block.always(body)
    if not fixed:
        return "\n".join(lines)
    return f"if {' and '.join(template.use(part) for part in fixed)}:\n" + "\n".join(f"    {line}" for line in lines)


def without_size_guard(node: ast.If, selected: ast.expr, scope: Scope, template: Template) -> str | None:
    """The block behind `if len(rows) > 0`, where it only writes to the selected rows; None where it does more."""
    masks = list(empty_with(selected, scope))
    block = _Block(node, scope, template, masks)
    if not masks or not _all_select(node.body, block):
        return None
    rows = [name.id for name in _listed_with(selected, scope)]
    failing = needs_elements(node.body, masks, node, scope, rows)
    if failing is not None:
        template.refuse([Obstacle(f"`{snippet(failing)}` fails where nothing is selected")])
    template.refuse(unbound_where_skipped(node.body, node, scope))
    return "\n".join(block.always(node.body))


def empty_with(selected: ast.expr, scope: Scope) -> Iterator[Mask]:
    """The indices that select nothing where a tensor has no rows: its own name, and those it is one of."""
    if not isinstance(selected, ast.Name):
        return
    for name in _listed_with(selected, scope):
        yield Mask(ast.dump(ast.Name(name.id, ast.Load())), frozenset({name.id}), True, True)
    stores = scope.names(selected.id, stores=True)
    target = scope.parents.get(stores[0]) if len(stores) == 1 else None
    value = target.value if isinstance(target, ast.Assign) and target.targets == stores else None
    taken = whole_mask(value, scope) if isinstance(value, ast.Subscript) else None
    mask = taken.node if taken is not None else None if value is None else _listed_mask(value, scope)
    if mask is not None:  # rows = x[mask], rows = mask.nonzero().flatten()
        names = frozenset(n.id for n in ast.walk(mask) if isinstance(n, ast.Name))
        if all(len(scope.names(name, stores=True)) <= 1 for name in names):
            yield Mask(ast.dump(mask), names, True, True)


def _listed_with(selected: ast.expr, scope: Scope) -> Iterator[ast.Name]:
    """The names that got their values together with a name: `i` and `j` of `i, j = mask.nonzero(as_tuple=True)`."""
    stores = scope.names(selected.id, stores=True) if isinstance(selected, ast.Name) else []
    target = scope.parents.get(stores[0]) if len(stores) == 1 else None
    for name in target.elts if isinstance(target, ast.Tuple) else stores:
        if isinstance(name, ast.Name) and len(scope.names(name.id, stores=True)) == 1:
            yield name


def _listed_mask(value: ast.expr, scope: Scope) -> ast.Name | None:
    """The name of a boolean mask whose true places an expression lists, where nothing is written into it."""
    selection = selection_of(value, scope)
    if not isinstance(selection, ast.Call):
        return None
    callee = scope.callee(selection)
    given = selection.args if callee in ("torch.nonzero", "torch.where") else []
    if callee == "Tensor.nonzero" and isinstance(selection.func, ast.Attribute):
        given = [selection.func.value]
    mask = given[0] if len(given) == 1 else None
    if not isinstance(mask, ast.Name) or not scope.value(mask).is_tensor or scope.value(mask).dtype != "bool":
        return None
    return None if any(_changes(node, mask.id) for node in scope.nodes) else mask


def _changes(node: ast.AST, name: str) -> bool:
    """Whether an expression writes in place into what a name stands for."""
    if isinstance(node, ast.AugAssign):
        return isinstance(node.target, ast.Name) and node.target.id == name
    if isinstance(node, ast.Subscript):
        return isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == name
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
        return False
    return node.value.id == name and node.attr.endswith("_")


def selected_statement_by_statement(
    node: ast.If, body: Sequence[ast.stmt], scope: Scope, template: Template
) -> str | None:
    """The block with each result selected where it is assigned; None, with the obstacle noted, where one cannot be."""
    fixed, tests = split_static(node.test, scope)
    template.refuse(order_kept(node.test, scope))
    code = condition(tests, scope, template)
    if code is None or template.broken is not None:
        return None
    block = _Block(node, scope, template, [])
    inner = [part for statement in body for part in ast.walk(statement)]
    many = sum(isinstance(s, ast.Assign | ast.AugAssign | ast.Expr) for s in inner) > 1
    many = many or any(isinstance(s, ast.For) for s in inner)  # a turn may write into what the condition reads
    many = many and code not in template.named.values()
    block.condition = free_name("condition", scope) if many else code
    block.operand = block.condition if many else condition(tests, scope, template, operand=True) or ""
    if not _predicate(body, block, ""):
        return None
    lines = [f"{block.condition} = {code}", *block.lines] if many else block.lines
    if not fixed:
        return "\n".join(lines)
    return f"if {' and '.join(template.use(part) for part in fixed)}:\n" + "\n".join(f"    {line}" for line in lines)


def _all_select(body: Sequence[ast.stmt], block: _Block) -> bool:
    """Whether running these statements where the mask is empty changes nothing; notes what is not proved."""
    for statement in body:
        if isinstance(statement, ast.Pass):
            continue
        if isinstance(statement, ast.If | ast.For):
            if not _runs_always(statement, block) or not _all_select([*statement.body, *statement.orelse], block):
                return False
        elif not (_is_temporary(statement, block) or _selects(statement, block)):
            return False
    return True


def _runs_always(statement: ast.If | ast.For, block: _Block) -> bool:
    """Whether a nested `if` or `for` is decided when Dynamo traces, or by a number, and cannot fail."""
    scope = block.scope
    head = statement.test if isinstance(statement, ast.If) else statement.iter
    if isinstance(statement, ast.If) and is_tensor_test(head, scope):
        return False
    if isinstance(statement, ast.For):
        value = scope.value(head)
        if (
            not isinstance(statement.target, ast.Name)
            or not value.is_(Kind.CONTAINER)
            or live_after(statement.target.id, block.node, scope)
        ):
            return False
    block.template.refuse(evaluated(head, scope))
    return True


def _is_temporary(statement: ast.stmt, block: _Block) -> bool:
    """Whether a statement binds names that nothing reads after the block."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target, value = statement.targets[0], statement.value
    elif isinstance(statement, ast.AnnAssign) and statement.value is not None:
        target, value = statement.target, statement.value
    else:
        return False
    parts = elements_of(target)
    names = [part.id for part in parts if isinstance(part, ast.Name)]
    if len(names) != len(parts) or any(live_after(name, block.node, block.scope) for name in names):
        return False
    if len(parts) > 1 and not isinstance(value, ast.Call | ast.Tuple):
        return False
    block.template.refuse(evaluated_always(value, statement, block.scope))
    if block.scope.value(value).leaves:  # what is put somewhere may be made of it
        block.template.refuse(block.scope.legality.derivatives.finite([value], block.scope.facts))
    return True


def _selects(statement: ast.stmt, block: _Block) -> bool:
    """Whether a statement changes only what the mask selects."""
    scope, template = block.scope, block.template
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            if not selects_by(statement.value, target.id, block.masks, statement, block.node):
                return False
            before = scope.facts.env_before.get(statement, {}).get(target.id)
            if before is None or not before.is_tensor or not before.certain:
                return False
            values = (scope.value(statement.value), before)
            judge_selection([target.id], (Given(statement.value), None), values, [], scope, block.node, template)
            return True
    written = guarded_write(statement, block.masks, block.node, scope)
    if written is None:
        return False
    found = written.as_selection(scope) if scope.parents.get(statement) is block.node else None
    if found is None:
        template.refuse(written.obstacles(scope))
        return True
    assert written.where is not None
    template.refuse(found)
    name, mask, put = template.use(written.memory), template.use(written.where), template.use(written.put)
    block.selections[statement] = f"{name} = {where(scope)}({mask}, {put}, {name})"
    return True


def _predicate(body: Sequence[ast.stmt], block: _Block, indent: str) -> bool:
    """Write each statement so that it selects by itself; whether all could be."""
    template = block.template
    for statement in body:
        if isinstance(statement, ast.Pass):
            continue
        if isinstance(statement, ast.If):
            if not _runs_always(statement, block):
                template.refuse([Obstacle(f"a branch holds `if {snippet(statement.test)}`, which asks a tensor")])
                return False
            block.lines.append(f"{indent}if {template.use(statement.test)}:")
            if not _predicate(statement.body, block, indent + "    "):
                return False
            if len(statement.orelse) == 1 and isinstance(statement.orelse[0], ast.If):
                at = len(block.lines)
                if not _predicate(statement.orelse, block, indent):
                    return False
                block.lines[at] = f"{indent}el{block.lines[at].removeprefix(indent)}"
            elif statement.orelse:
                block.lines.append(f"{indent}else:")
                if not _predicate(statement.orelse, block, indent + "    "):
                    return False
        elif isinstance(statement, ast.For) and not statement.orelse:
            if not _runs_always(statement, block):
                template.refuse([Obstacle(f"a branch holds a loop over `{snippet(statement.iter)}`")])
                return False
            block.lines.append(f"{indent}for {template.use(statement.target)} in {template.use(statement.iter)}:")
            if not _predicate(statement.body, block, indent + "    "):
                return False
        elif _is_temporary(statement, block):
            block.lines.append(f"{indent}{template.use(statement)}")
        else:
            line = _selected_line(statement, block)
            if line is None:
                return False
            block.lines.append(indent + line)
    return True


def _selected_line(statement: ast.stmt, block: _Block) -> str | None:
    scope, template = block.scope, block.template
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        target = statement.targets[0]
        if isinstance(target, ast.Name):
            before = scope.facts.env_before.get(statement, {}).get(target.id)
            if before is None or not before.certain:
                template.refuse([Obstacle(f"`{target.id}` may have no value before the `if`")])
                return None
            values = (scope.value(statement.value), before)
            uses: list[ast.expr] = list(scope.names(target.id))
            suffix = judge_selection(
                [target.id], (Given(statement.value), None), values, uses, scope, block.node, template
            )
            code = f"{where(scope)}({block.condition}, {template.use(statement.value)}, {target.id}){suffix}"
            return f"{target.id} = {code}"
        if isinstance(target, ast.Subscript):
            return _selected_item(statement, target, block)
    written = selected_write(statement, block.node, block.condition, scope, template)
    if written is not None:
        return written
    reason = "writes in place" if isinstance(statement, ast.AugAssign) else "is more than an assignment to a local name"
    if isinstance(statement, ast.Return | ast.Raise):
        reason = "ends the function"
    if isinstance(statement, ast.Break | ast.Continue):
        reason = "leaves the loop, or this turn of it"
    template.refuse([Obstacle(f"`{snippet(statement)}` in a branch {reason}")])
    return None


def _selected_item(statement: ast.Assign, target: ast.Subscript, block: _Block) -> str | None:
    """`x[mask] = 0` in a branch as `x[mask & condition] = 0`, `x[0] = v` as a selection of it or the old."""
    scope, template = block.scope, block.template
    memory, mask, value = scope.value(target.value), scope.value(target.slice), statement.value
    if item_name(target, scope) is not None:
        judge_item(target, (Given(value), None), block.node, scope, template, mixed=False)
        element = template.use(target)
        return f"{element} = {where(scope)}({block.condition}, {template.use(value)}, {element})"
    if not (memory.is_tensor and mask.is_tensor and mask.dtype == "bool" and is_number(value, scope)):
        template.refuse([Obstacle(f"`{snippet(statement)}` in a branch is no write of a number where a mask is true")])
        return None
    if not memory.certain:
        template.refuse([Obstacle(f"`{snippet(target.value)}` is not proved to be a tensor", "is-tensor")])
    template.refuse(scope.legality.both_evaluated([target.value, target.slice, value], scope.facts))
    template.refuse(written_always(memory, statement, block.node, scope.facts))
    ids = {memory.shape_id, mask.shape_id}
    if len(ids) != 1 or None in ids:
        template.refuse([Obstacle(f"the mask in `{snippet(target)}` is not proved to fit", "branches-total")])
    index = f"{template.use(target.slice, operand=True)} & {block.operand}"
    return f"{template.use(target.value)}[{index}] = {template.use(value)}"

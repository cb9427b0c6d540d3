"""Selected rows given to a function of the project, and its results written back to them.

if inside.any():                                    new_y, new_d = spline(torch.where(inside, x, -1.0), w)
    y[inside], d[inside] = spline(x[inside],        y.copy_(torch.where(inside, new_y, y))
                                  w[inside, :])     d.copy_(torch.where(inside, new_d, d))

What it returns may have names first (`named_results`). The function gets all rows. In those that the mask does not
select, the tensor that the mask looks at has a number that it would select: the checks of the function hold there as
they do for the selected rows.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind, may_share
from compilefix.codemods.dynamic_shapes import row_functions
from compilefix.codemods.dynamic_shapes.definitions import unused_then
from compilefix.codemods.dynamic_shapes.element_calls import ROWS
from compilefix.codemods.dynamic_shapes.mask_bounds import selected_number
from compilefix.codemods.dynamic_shapes.mask_guards import guard_of
from compilefix.codemods.dynamic_shapes.masks import Mask, boolean, laid_over, whole_mask
from compilefix.codemods.dynamic_shapes.named_results import NamedRows, Write, is_given_rows, named_rows, named_writes
from compilefix.codemods.finding import Edit
from compilefix.codemods.names import free_name
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import where
from compilefix.source.snippets import snippet
from compilefix.source.tree import elements_of, names_in

_BESIDE_ROWS = "is not proved to be one number: it may have an element for each true value, and is beside selected rows"


@dataclass(frozen=True)
class MaskedCall:
    """The statement, what it writes, the mask, the call, and the `if` on the mask that holds nothing but it.

    `writes` are the statements that write what the call returns, where that has names first.
    """

    statement: ast.Assign
    targets: tuple[ast.Subscript, ...]
    mask: Mask
    call: ast.Call
    guard: ast.If | None
    writes: tuple[Write, ...] = ()

    @property
    def replaced(self) -> ast.stmt:
        """The statement that goes."""
        return self.guard or self.statement


def masked_call(node: ast.AST, scope: Scope) -> MaskedCall | None:
    """The form in which a statement gives selected rows to a function of the project and writes what it returns."""
    if not isinstance(node, ast.Assign) or len(node.targets) != 1 or not isinstance(node.value, ast.Call):
        return None
    callee = scope.facts.calls.get(node.value)
    if callee is None or scope.value(node.value.func).may_be(Kind.OBJECT):
        return None
    whole = node.targets[0]
    targets = elements_of(whole)
    written = tuple(t for t in targets if isinstance(t, ast.Subscript))
    named = named_writes(node, scope)
    mask = named[0] if named is not None else whole_mask(written[0], scope) if written else None
    if mask is None or (named is None and (len(written) < len(targets) or not all(mask.same(t) for t in written))):
        return None
    arguments = [*node.value.args, *(k.value for k in node.value.keywords)]
    if not any(isinstance(a, ast.Subscript) and mask.same(a) for a in arguments):
        return None
    if named is None:
        return MaskedCall(node, written, mask, node.value, guard_of([node], mask.node, scope))
    writes = named[1]
    guard = guard_of([node, *(w.statement for w in writes)], mask.node, scope)
    return MaskedCall(node, tuple(w.target for w in writes), mask, node.value, guard, writes)


def edits_of(found: MaskedCall, template: Template, scope: Scope) -> tuple[Edit, ...]:
    """What to write; what stands in the way is noted in the template."""
    arguments = _judged(found, template, scope)
    if arguments is None:
        return ()
    names = [t.value for t in found.targets]
    given = [_written(found.mask, w.target.value, template.use(w.value), template, scope) for w in found.writes]
    if found.writes and found.guard is None:
        changed: list[tuple[ast.AST, str]] = [
            (node, code) for node, code in arguments.items() if isinstance(node, ast.Subscript)
        ]
        changed += [(write.statement, code) for write, code in zip(found.writes, given, strict=True)]
        return (*template.edits, *(scope.edit(node, code, **template.parts) for node, code in changed))
    by_keyword = {k.value: k.arg for k in found.call.keywords}
    codes = [f"{by_keyword[node]}={code}" if node in by_keyword else code for node, code in arguments.items()]
    code = f"{template.use(found.call.func)}({', '.join(codes)})"
    if given:
        lines = [f"{template.use(found.statement.targets[0])} = {code}", *given]
    elif len(names) == 1:
        lines = [_written(found.mask, names[0], code, template, scope)]
    else:
        new: list[str] = []
        for target in names:
            new.append(free_name(f"new_{ast.unparse(target).rpartition('.')[2]}", scope, new))
        written = [_written(found.mask, t, n, template, scope) for t, n in zip(names, new, strict=True)]
        lines = [f"{', '.join(new)} = {code}", *written]
    return (*template.edits, scope.edit(found.replaced, "\n".join(lines), **template.parts))


def _judged(found: MaskedCall, template: Template, scope: Scope) -> dict[ast.expr, str] | None:
    """The arguments with code for all rows; what stands in the way is noted in the template."""
    mask, call = found.mask, found.call
    callee = scope.facts.calls[call]
    read = row_functions.read(callee, scope.legality.inference, call)
    if read.broken is not None:
        template.refuse([Obstacle(read.broken)])
    reason = f"`{snippet(call.func)}` would be given all rows, and not only those of the mask"
    template.refuse([Obstacle(reason, ROWS), Obstacle(reason, "finite-derivative")])
    template.refuse(boolean(mask.node, scope))
    template.refuse(scope.recomputed(mask.node, set(ast.walk(found.replaced))))
    names = [t.value for t in found.targets]
    own = (_named_mask(mask), *names)
    if not all(isinstance(n, ast.Name | ast.Attribute) for n in own) or mask.leading or mask.last:
        template.refuse([Obstacle("the mask and the tensors that are written have no names, or it is not the index")])
        return None
    if not found.writes and len({ast.unparse(n) for n in names}) < len(names):
        template.refuse([Obstacle("a tensor is written twice")])
    arguments = _arguments(found, read, template, scope)
    if found.guard is not None:
        taken = any(scope.value(a).leaves for a in ast.walk(call) if isinstance(a, ast.Name))
        text = "where the mask selects nothing the function is called too: gradients would be zeros instead of None"
        template.refuse([Obstacle(text, "gradient-zeros")] if taken else [])
        if _asks_of_others(read, found, scope):
            # The mask may select nothing, and the call was not made then.
            template.refuse([Obstacle(f"`{snippet(call.func)}` raises for some arguments", "branches-total")])
    elif read.checks and not _asks_of_others(read, found, scope):
        text = f"`{snippet(call.func)}` may raise where the mask selects nothing"
        template.refuse([Obstacle(text, "mask-not-empty")])
    text = f"what `{snippet(call.func)}` returns is not proved to have the dtype of what is written"
    template.refuse([Obstacle(text, "same-shape-dtype")])
    return arguments


def _named_mask(mask: Mask) -> ast.expr:
    """The name in `mask` and `~mask`."""
    inverted = isinstance(mask.node, ast.UnaryOp) and isinstance(mask.node.op, ast.Invert)
    return mask.node.operand if inverted and isinstance(mask.node, ast.UnaryOp) else mask.node


def _written(mask: Mask, target: ast.expr, code: str, template: Template, scope: Scope) -> str:
    text = ast.unparse(mask.node)
    atom = text if _named_mask(mask) is mask.node else f"({text})"
    over, obstacles = laid_over(mask, target, scope, atom)
    over = text if over == atom else over
    template.refuse(obstacles)
    name = ast.unparse(target)
    return f"{name}.copy_({where(scope)}({over}, {code}, {name}))"


def _arguments(
    found: MaskedCall, read: row_functions.RowFunction, template: Template, scope: Scope
) -> dict[ast.expr, str]:
    """Code for the arguments, with whole tensors for what was selected of them."""
    by_name = row_functions.given(found.call, scope.facts.calls[found.call])
    written = [by_name[name] for name in sorted(read.written & set(by_name))]
    checked = [by_name[name] for name in sorted(read.checked & set(by_name))]
    filled = False
    codes: dict[ast.expr, str] = {}
    spread = [k.value for k in found.call.keywords if k.arg is None]
    for argument in (*found.call.args, *(k.value for k in found.call.keywords)):
        if isinstance(argument, ast.Starred) or argument in spread:
            template.refuse([Obstacle(f"`{snippet(found.call)}` passes an unknown number of arguments")])
            continue
        code, number = _argument(argument, found, template, scope)
        filled = filled or number
        if argument in written and not number:
            if not isinstance(argument, ast.Subscript) or not found.mask.same(argument):
                template.refuse([Obstacle(f"`{snippet(found.call.func)}` writes into `{snippet(argument)}`")])
            code = f"{code}.clone()"
        codes[argument] = code
        selected = isinstance(argument, ast.Subscript) and found.mask.same(argument)
        if argument in checked and selected and not number:
            reason = f"`{snippet(found.call.func)}` raises for some values of `{snippet(argument)}`, and may for"
            template.refuse([Obstacle(f"{reason} rows that the mask does not select")])
    if read.checks and not filled and not _asks_of_others(read, found, scope):
        reason = f"`{snippet(found.call.func)}` raises for some values, and may for rows that the mask does not select"
        template.refuse([Obstacle(reason)])
    return codes


def _asks_of_others(read: row_functions.RowFunction, found: MaskedCall, scope: Scope) -> bool:
    """Whether the function raises for some values, and none of the selected rows: it does for all rows as for some."""
    by_name = row_functions.given(found.call, scope.facts.calls[found.call])
    asked = [by_name[name] for name in read.checked & by_name.keys()]
    rows = any(_takes_rows(argument, found, scope) for argument in asked)
    return read.checks and read.by_arguments and not rows


def _takes_rows(argument: ast.expr, found: MaskedCall, scope: Scope) -> bool:
    """Whether an argument is made of the rows that the mask selects, or may be."""
    parts = [n for n in ast.walk(argument) if isinstance(n, ast.expr)]
    if any(isinstance(n, ast.Subscript) and found.mask.same(n) for n in parts):
        return True
    return any(is_given_rows(n, found.mask, scope) for n in parts) or scope.value(argument).is_tensor


def _argument(argument: ast.expr, found: MaskedCall, template: Template, scope: Scope) -> tuple[str, bool]:
    """Code for an argument, and whether rows that are not selected have a number in it that the mask would select."""
    mask = found.mask
    if not isinstance(argument, ast.Subscript) or not mask.same(argument):
        if any(isinstance(n, ast.Subscript) and mask.same(n) for n in ast.walk(argument)):
            template.refuse([Obstacle(f"`{snippet(argument)}` is made of selected rows")])
        rows = named_rows(argument, mask, found.call, scope)
        if rows is not None:
            _refuse_rows(rows, found, template, scope)
            template.edits.extend(scope.edit(one, "{rows}", rows=one.value) for one in rows.selections)
        elif is_given_rows(argument, mask, scope):
            template.refuse([Obstacle(f"`{snippet(argument)}` is made of selected rows")])
        elif not scope.value(argument).is_static and scope.value(argument).may_be(Kind.TENSOR):
            reason = f"`{snippet(argument)}` {_BESIDE_ROWS}"
            template.refuse([Obstacle(reason, "same-shape-dtype")])
        return template.use(argument), False
    base = argument.value
    _refuse_shape(base, found, template, scope)
    code = template.use(base)
    number = selected_number(mask.node, base, found.replaced, scope)
    if number is None:
        storage = scope.value(base).storage
        overwritten = any(may_share(storage, scope.value(t.value).storage) for t in found.targets)
        return f"{code}.clone()" if overwritten else code, False
    text, obstacles = number
    template.refuse(obstacles)
    return f"{where(scope)}({ast.unparse(mask.node)}, {code}, {text})", True


def _refuse_rows(rows: NamedRows, found: MaskedCall, template: Template, scope: Scope) -> None:
    """Note what is not proved of a name that is given rows before the call."""
    for one in rows.selections:
        _refuse_shape(one.value, found, template, scope)
        names = names_in(one)
        template.refuse(list(unused_then(rows.definitions, found.statement, names, scope, used=False)))
    for other in rows.others:
        reason = f"`{snippet(other)}` {_BESIDE_ROWS}"
        template.refuse([Obstacle(reason, "same-shape-dtype")])


def _refuse_shape(base: ast.expr, found: MaskedCall, template: Template, scope: Scope) -> None:
    """Note where it is not known that the mask has the shape of a tensor that it selects from, or of its rows."""
    mask = found.mask
    if not scope.legality.effects.of(base, scope.facts).repeatable or not isinstance(base, ast.Name | ast.Attribute):
        template.refuse([Obstacle(f"give `{snippet(base)}` a name")])
    if scope.value(mask.node).shape_id is None or scope.value(mask.node).shape_id != scope.value(base).shape_id:
        reason = f"`{snippet(mask.node)}` is not proved to have the shape of `{snippet(base)}`, or of its rows"
        template.refuse([Obstacle(reason, "same-shape-dtype")])

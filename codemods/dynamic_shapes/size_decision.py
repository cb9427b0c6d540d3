"""CF507: what breaks the graph only where the capture flags are on.

## What it does
With `capture_dynamic_output_shape_ops` and `capture_scalar_outputs` the result of `nonzero`, `unique` or `x[mask]` and
a number read from a tensor stay in the graph, and their size is a symbol. Finds what asks Python for the value of such
a symbol after all: a check of a size that raises (`if len(rows) == 0: raise ...`), a block that only guards writes to
selected rows (`if rows.numel() > 0: out[rows] = ...`), values that are selected by a size, `tril_indices` and
`triu_indices` of a size that was read, and a list as long as such a size that a tensor is made of
(`torch.tensor([rate] * n)`).
Where another rule does without the selection nothing is reported. Without the flags the graph ends where the rows are
selected, and what follows is compiled anew for sizes of 0 and 1.

## Why is this bad
Dynamo cannot guard on a symbol that depends on values, so the graph ends there though the flags are on.

## Example
```python
rows = torch.nonzero(keep).squeeze(1)
if len(rows) < 2:
    raise ValueError(f"only {len(rows)} rows")
for index, layer in enumerate(self.layers):
    chosen = torch.where(species == index)[0]
    if chosen.numel() > 0:
        out[chosen] = layer(x[chosen])
```

## Use instead
```python
rows = torch.nonzero(keep).squeeze(1)
emit(lambda size: ValueError(f"only {size} rows"), len(rows), raise_if=torch.tensor(len(rows) < 2))
for index, layer in enumerate(self.layers):
    chosen = torch.where(species == index)[0]
    out[chosen] = layer(x[chosen])
```

## Fix safety
All fixes need `capture-scalars`, as they help only with the flags. A check is raised when the compiled call returns, as
in CF103 (`exception-late`); one of two sizes that must agree stays, and one before `rows[0]` or `rows.max()`, which
would fail first. A guard goes where each statement behind it only writes to the selected rows, or gives names that
nobody reads later: with no rows nothing is written. What computes the rows then runs on none of them
(`branches-total`), and a parameter that is used there gets a gradient of zeros instead of None (`gradient-zeros`). The
indices of a triangle are the same numbers in the same order; for a negative size another text is raised. A list of
one number is `torch.full((n,), rate)`: `n` is not negative (`not-negative`), and where it is zero the number is a float
(`same-shape-dtype`), since of an empty list floats are made.

Where both sides of an `if` give one name a tensor that may be computed of no rows too (`rows.mean()`, which is NaN
then), it is selected by `torch.where`, under the assumptions of CF101. Other questions whether anything was selected,
as for an early return, are those of CF509.

Graph breaks: none without the flags. torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.capture_flags import SCALARS, SHAPES, switched_on
from compilefix.codemods.control_flow.guarded_block import empty_with, without_size_guard
from compilefix.codemods.control_flow.guarded_writes import needs_elements
from compilefix.codemods.control_flow.tensor_validation import LATE
from compilefix.codemods.dynamic_shapes.data_dependent_shape import other_fixes
from compilefix.codemods.dynamic_shapes.listed_numbers import ListedNumbers, full_code, listed_numbers
from compilefix.codemods.dynamic_shapes.ragged_sizes import ragged_size, selection_of
from compilefix.codemods.dynamic_shapes.taken_places import selected_value, taken_places
from compilefix.codemods.dynamic_shapes.triangles import Triangle, triangle, triangle_edits
from compilefix.codemods.dynamic_shapes.unknown_places import unknown_size
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.host_effects.deferral import deferred_raise, where_to_wrap
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.torch_name import imports, torch_name
from compilefix.source.operators import COMPARISONS
from compilefix.source.snippets import snippet

_FLAGS = Obstacle("without the capture flags the graph ends where the rows are selected", "capture-scalars")


_Size = Callable[[ast.expr, Scope], ast.expr | None]


class SizeDecision(Rule):
    """Decisions on sizes that the capture flags make symbols."""

    code = "CF507"
    name = "size-decision"
    summary = "decision on a size that depends on values, which breaks the graph where the capture flags are on"
    effect = "recompile"
    hints = ("len(", "numel()", "nelement()", ".shape[", ".size(", "tril_indices", "triu_indices", "tensor(")
    assumptions = (
        "capture-scalars",
        "exception-late",
        "gradient-text",
        "branches-total",
        "is-tensor",
        "gradient-zeros",
        "finite-derivative",
        "same-shape-dtype",
        "no-aliasing",
        "rng-stream",
        "no-recompute",
        "not-negative",
        "index-in-range",
    )

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Checks and guards on sizes, and triangles of a size that was read."""
        for node in scope.among(ast.If, ast.Assert):
            if isinstance(node, ast.If | ast.Assert) and not fixed_before(node.test, scope):
                yield from self._decision(node, scope)
        for call in scope.of(ast.Call):
            found = triangle(call, scope)
            listed = listed_numbers(call, scope)
            if found is not None:
                yield from self._triangle(found, scope)
            elif listed is not None:
                yield from self._listed(listed, scope)

    def _decision(self, node: ast.If | ast.Assert, scope: Scope) -> Iterator[Finding]:
        asked = _tensor_code(node.test, Template(), scope)
        if asked is None or (isinstance(node, ast.Assert) and _kept_in_graph(node)):
            if isinstance(node, ast.If) and _raised(node) is None:
                yield from self._value(node, None, scope)
            return
        message = f"`{snippet(node.test)}` decides on a size that depends on values: with `{SHAPES}` the graph breaks"
        template = Template()
        template.refuse([_FLAGS])
        boundary, reason = False, "the other side is another result"
        code: str | None = None
        raised = _raised(node)
        if raised is not None:
            template.refuse([LATE])
            try:
                code, boundary = _late(node, raised, scope, template), True
            except Refused as refusal:
                reason = str(refusal)
        elif isinstance(node, ast.If) and not node.orelse and not _is_elif(node, scope):
            tensor = _nonempty(node.test, scope)
            if tensor is not None:
                code = without_size_guard(node, tensor, scope, template)
                reason = template.broken or "the block does more than write to the selected rows"
        elif isinstance(node, ast.If) and isinstance(scope.parents.get(node), ast.If):
            reason = "it stands in a chain"
        if code is None or template.broken is not None:
            if isinstance(node, ast.If) and raised is None:
                yield from self._value(node, template.broken or reason, scope)
            elif switched_on(SHAPES, scope):
                yield self.declined(scope, node, message, template.broken or reason, effect="break")
            return
        effect = "break" if switched_on(SHAPES, scope) else self.effect
        edit = scope.edit(node, code, **template.parts)
        fix = Fix((edit,), imports(scope), template.assumptions, template.reasons, boundary=boundary)
        yield self.fixed(scope, node, message + (where_to_wrap(scope) if boundary else ""), fix, effect=effect)

    def _value(self, node: ast.If, reason: str | None, scope: Scope) -> Iterator[Finding]:
        """A value that is selected by a size."""
        message = f"`{snippet(node.test)}` decides on a size that depends on values: with `{SHAPES}` the graph breaks"
        on = switched_on(SHAPES, scope)
        template = Template()
        template.refuse([_FLAGS])
        test = None if _is_elif(node, scope) else _tensor_code(node.test, template, scope, unknown_size)
        code = None if test is None else selected_value(node, test, scope, template)
        if code is not None and template.broken is None:
            edit = scope.edit(node, code, **template.parts)
            fix = Fix((edit, *template.edits), imports(scope), template.assumptions, template.reasons)
            yield self.fixed(scope, node, message, fix, effect="break" if on else self.effect)
            return
        if on and reason is not None and taken_places(node, scope, Template()) is None:  # else CF509
            yield self.declined(scope, node, message, reason, effect="break")

    def _triangle(self, found: Triangle, scope: Scope) -> Iterator[Finding]:
        message = (
            f"`{snippet(found.call)}` takes no symbol for its size: with `capture_scalar_outputs` the graph breaks"
        )
        template = Template()
        template.refuse([_FLAGS])
        edits = triangle_edits(found, template, scope)
        if template.broken is None:
            fix = Fix(tuple(edits), imports(scope), template.assumptions, template.reasons)
            effect = "break" if switched_on(SCALARS, scope) else self.effect
            yield self.fixed(scope, found.call, message, fix, effect=effect)

    def _listed(self, found: ListedNumbers, scope: Scope) -> Iterator[Finding]:
        message = f"`{snippet(found.call)}` makes a list as long as a symbol: with `{SCALARS}` the graph breaks"
        template = Template()
        template.refuse([_FLAGS])
        edit = scope.edit(found.call, full_code(found, template, scope), **template.parts)
        fix = Fix((edit,), imports(scope), template.assumptions, template.reasons)
        effect = "break" if switched_on(SCALARS, scope) else self.effect
        yield self.fixed(scope, found.call, message, fix, effect=effect)


def fixed_before(test: ast.expr, scope: Scope) -> bool:
    """Whether another rule does without one of the selections whose sizes a condition asks for."""
    asked = (ragged_size(node, scope) for node in ast.walk(test) if isinstance(node, ast.expr))
    selections = [selection_of(tensor, scope) for tensor in asked if tensor is not None]
    spans = [scope.span(scope.statement(node)) for node in selections if node is not None]
    if not spans:
        return False
    return any(
        finding.fix is not None
        and any(
            place.overlaps(span) for place in (finding.span, *(e.target for e in finding.fix.edits)) for span in spans
        )
        for finding in other_fixes(scope)
    )


def _is_elif(node: ast.If, scope: Scope) -> bool:
    """Whether an `if` is an `elif`, in the place of which no other statement can stand."""
    parent = scope.parents.get(node)
    return isinstance(parent, ast.If) and parent.orelse == [node] and parent.col_offset == node.col_offset


def _kept_in_graph(node: ast.Assert) -> bool:
    """Whether an assert is one comparison with a constant message: Dynamo asserts it in the graph as it is."""
    alone = isinstance(node.test, ast.Compare) and len(node.test.ops) == 1
    return alone and (node.msg is None or isinstance(node.msg, ast.Constant))


def _raised(node: ast.If | ast.Assert) -> ast.Raise | ast.Assert | None:
    if isinstance(node, ast.Assert):
        return node
    only = node.body[0] if len(node.body) == 1 and not node.orelse else None
    return only if isinstance(only, ast.Raise) else None


def _late(node: ast.If | ast.Assert, raised: ast.Raise | ast.Assert, scope: Scope, template: Template) -> str | None:
    """The check at the boundary.

    Raises:
        Refused: a part of the exception cannot be made later, or the check is one of several.
    """
    parent = scope.parents.get(node)
    if isinstance(node, ast.If) and isinstance(parent, ast.If) and parent.orelse == [node]:
        raise Refused("the check is an `elif`, which comes after other questions")
    for compared in (part for part in ast.walk(node.test) if isinstance(part, ast.Compare)):
        sides = [compared.left, *compared.comparators]
        equal = any(isinstance(op, ast.Eq | ast.NotEq) for op in compared.ops)
        if equal and not any(scope.value(side).const is not None for side in sides):
            raise Refused(f"what stands behind counts on `{snippet(compared)}`, and would fail before")
    failing = next((part for part in _fails_without_rows(node, scope)), None)
    if failing is not None:
        raise Refused(f"`{snippet(failing)}` would fail before the exception is raised")
    test = ast.UnaryOp(ast.Not(), node.test) if isinstance(node, ast.Assert) else node.test
    code = _tensor_code(test, template, scope)
    if code is None:
        return None
    line, obstacles = deferred_raise(raised, code, scope)
    template.refuse(obstacles)
    return line


def _fails_without_rows(node: ast.stmt, scope: Scope) -> Iterator[ast.expr]:
    """What is computed behind a check of the selected rows, and raises where there are none."""
    asked = (ragged_size(part, scope) for part in ast.walk(node) if isinstance(part, ast.expr))
    masks = [mask for tensor in asked if tensor is not None for mask in empty_with(tensor, scope)]
    behind = [one for one in scope.nodes if isinstance(one, ast.expr) and one.lineno > (node.end_lineno or 0)]
    failing = needs_elements(behind, masks, scope.function.node, scope)
    if failing is not None:
        yield failing


def _tensor_code(
    test: ast.expr, template: Template, scope: Scope, size: _Size = ragged_size, *, operand: bool = False
) -> str | None:
    """A condition of comparisons of sizes as a boolean tensor; None where it holds something else."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        if size(test.operand, scope) is not None:
            return f"{torch_name(scope)}.tensor({template.use(test.operand, operand=True)} == 0)"
        inner = _tensor_code(test.operand, template, scope, size, operand=True)
        return None if inner is None else f"~{inner}"
    if isinstance(test, ast.BoolOp):
        codes = [_tensor_code(value, template, scope, size, operand=True) for value in test.values]
        symbol = " & " if isinstance(test.op, ast.And) else " | "
        known = [code for code in codes if code is not None]
        code = symbol.join(known) if len(known) == len(codes) else None
        return f"({code})" if code is not None and operand else code
    if isinstance(test, ast.Compare):
        sides = [test.left, *test.comparators]
        symbols = [COMPARISONS.get(type(op)) for op in test.ops]
        sized = [size(side, scope) is not None for side in sides]
        fixed = all(s or _is_size(side, scope) for s, side in zip(sized, sides, strict=True))
        if not any(sized) or not fixed or None in symbols:
            return None
        shown = [template.use(side, operand=True) for side in sides]
        pairs = [
            f"{torch_name(scope)}.tensor({left} {symbol} {right})"
            for left, symbol, right in zip(shown, symbols, shown[1:], strict=False)
        ]
        code = " & ".join(pairs)
        return f"({code})" if operand and len(pairs) > 1 else code
    if size(test, scope) is not None:
        return f"{torch_name(scope)}.tensor({template.use(test, operand=True)} != 0)"
    return None


def _is_size(node: ast.expr, scope: Scope) -> bool:
    """Whether an operand is a number that asking again changes nothing of: a constant, a size or a name for one."""
    value = scope.value(node)
    return (
        value.is_(Kind.STATIC, Kind.SIZE)
        and value.dtype in ("int", "bool", None)
        and not isinstance(node, ast.NamedExpr)
    )


def _nonempty(test: ast.expr, scope: Scope) -> ast.expr | None:
    """The tensor that has rows where a condition is true: `len(x)`, `x.numel() > 0`, `x.shape[0] != 0`, `>= 1`."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.comparators[0], ast.Constant):
        says = (type(test.ops[0]), test.comparators[0].value)
        if says in ((ast.Gt, 0), (ast.NotEq, 0), (ast.GtE, 1)):
            return ragged_size(test.left, scope)
        return None
    return ragged_size(test, scope)

"""CF601: a branch on a shape.

## What it does
Finds an `if` that compares a size of a tensor with something by `<`, `<=`, `>`, `>=` or by a remainder, and takes the
`if` away where it only pads by an amount that may be zero.

## Why is this bad
It does not break the graph: Dynamo evaluates the test while it traces and guards on the outcome. Each side is
compiled when it is first needed, and what was compiled for all sizes is compiled for one side of the test only. Tests
for a rank, for None or for one exact size, validations that only raise, and comparisons of the number of a turn with
the bounds of its loop, which is unrolled anyway, are not reported. Where the sides compute different things there is
nothing to do about one more compilation: `check` shows that behind what matters.

## Example
```python
rest = -x.shape[1] % 8
if rest:
    x = F.pad(x, (0, rest))
```

## Use instead
```python
rest = -x.shape[1] % 8
x = F.pad(x, (0, rest))
```

## Fix safety
Safe where the test is for zero of just the amounts that are padded: a pad of zero gives an equal copy. It is declined
for `rest > 0` where `rest` may be negative, since a negative pad cuts off, and needs `no-aliasing` where somebody may
see that the result is a copy, and `enough-dimensions` where it is not proved that the tensor has the dimensions that
are padded: without them `pad` raises.

Graph breaks: none (recompiles). torch: all supported versions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.recompiles.sizes import definition_of, is_size
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.source.snippets import snippet
from compilefix.source.syntax import asked_in
from compilefix.source.tree import names_in

_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
_PAD = "torch.nn.functional.pad"


class ShapeBranch(Rule):
    """Branch on a shape."""

    code = "CF601"
    name = "shape-branch"
    summary = "if statement on the size of a tensor"
    effect = "recompile"
    hints = ("if ",)
    assumptions = ("no-aliasing", "enough-dimensions")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """`if` statements whose test orders sizes, or looks at a remainder."""
        for node in scope.of(ast.If):
            if not _only_checks(node) and any(_on_size(part, scope) for part in asked_in(node.test)):
                yield self._judge(node, scope)

    def _judge(self, node: ast.If, scope: Scope) -> Finding:
        message = f"`{snippet(node.test)}` asks for a size: the code is compiled once for each answer"
        template = Template()
        statement = self._padding(node, scope, template)
        if statement is None:
            reason = "the sides compute different things; it costs one more compilation, not a graph break"
            return self.declined(scope, node, message, reason, minor=True)
        if template.broken is not None:
            return self.declined(scope, node, message, template.broken, minor=True)
        edit = scope.edit(node, template.use(statement), **template.parts)
        return self.fixed(scope, node, message, Fix((edit,), (), template.assumptions, template.reasons))

    def _padding(self, node: ast.If, scope: Scope, template: Template) -> ast.stmt | None:
        """The statement `x = F.pad(x, ...)` that may run always."""
        if len(node.body) != 1 or node.orelse or not isinstance(statement := node.body[0], ast.Assign):
            return None
        call, target = statement.value, statement.targets[0]
        if len(statement.targets) > 1:
            return None  # another name would be bound where nothing is padded
        if (
            not isinstance(call, ast.Call)
            or scope.callee(call) != _PAD
            or len(call.args) < 2
            or not isinstance(target, ast.Name)
        ):
            return None
        tensor, amounts = call.args[0], call.args[1]
        if not isinstance(tensor, ast.Name) or tensor.id != target.id or not isinstance(amounts, ast.Tuple | ast.List):
            return None
        if not _is_constant_mode(call):
            template.refuse([Obstacle("a pad of another mode than `constant` may fail where the amount is zero")])
            return statement
        tested = {name for part in asked_in(node.test) if (name := _tested_amount(part, scope, template)) is not None}
        negated = any(isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not) for part in ast.walk(node.test))
        both = isinstance(node.test, ast.BoolOp) and isinstance(node.test.op, ast.And)
        if negated or both or len(tested) != len(list(asked_in(node.test))):
            template.refuse([Obstacle("the test does not ask whether the padded amounts are zero")])
            return statement
        for part in (n for n in ast.walk(node.test) if isinstance(n, ast.Name) and n.id in tested):
            value = scope.value(part)
            if not value.is_(Kind.SIZE, Kind.STATIC) or value.dtype != "int" or not value.certain:
                template.refuse([Obstacle(f"`{part.id}` is not proved to be an integer, which a pad of zero needs")])
        for amount in amounts.elts:
            zero = isinstance(amount, ast.Constant) and amount.value == 0
            if not zero and not (isinstance(amount, ast.Name) and amount.id in tested):
                template.refuse([Obstacle(f"`{snippet(amount)}` is padded and is not what the test asks for")])
        for given in (*call.args[2:], *(keyword.value for keyword in call.keywords)):
            if not scope.value(given).is_static or any(isinstance(n, ast.BinOp | ast.Call) for n in ast.walk(given)):
                template.refuse([Obstacle(f"`{snippet(given)}` would be evaluated where nothing is padded")])
        value = scope.value(tensor)
        if not value.is_tensor or not value.certain:
            template.refuse([Obstacle(f"`{tensor.id}` is not proved to be a tensor")])
        if not _has_dimensions(tensor, (len(amounts.elts) + 1) // 2, node, scope):
            reason = f"`{tensor.id}` is not proved to have the dimensions that are padded"
            template.refuse([Obstacle(reason, "enough-dimensions")])
        before = scope.facts.env_before.get(node, {}).get(tensor.id)
        if before is not None:
            template.refuse(scope.legality.memory.aliasing([tensor.id], [before], node, scope.facts))
        return statement


def _has_dimensions(tensor: ast.Name, count: int, node: ast.If, scope: Scope) -> bool:
    """Whether a tensor has so many dimensions, by its rank or by the sizes that were asked of it before."""
    value = scope.value(tensor)
    if value.rank is not None:
        return value.rank >= count
    if count == 1 and value.dimensioned:
        return True
    return any(asked >= count for asked in _asked_before(tensor, node, scope))


def _asked_before(tensor: ast.Name, node: ast.If, scope: Scope) -> Iterator[int]:
    """How many dimensions a tensor has at least, by each size that was asked of it, or of one of the same shape."""
    shape = scope.value(tensor).shape_id
    stores = [(n.lineno, n.col_offset) for n in scope.names(tensor.id, stores=True)]
    before = (node.lineno, node.col_offset)
    for use in scope.of(ast.Attribute):
        place = (use.lineno, use.col_offset)
        if use.attr not in ("shape", "size") or place >= before or not isinstance(use.value, ast.Name):
            continue
        block = scope.block(scope.statement(use))
        if not any(around in block for around in (node, *scope.ancestors(node))):
            continue  # not always asked
        same = use.value.id == tensor.id and not any(place < store < before for store in stores)
        if same or (shape is not None and scope.value(use.value).shape_id == shape):
            yield _at_least(use, scope)


def _at_least(use: ast.Attribute, scope: Scope) -> int:
    """The number of dimensions that `x.shape[1]`, `x.size(1)` or `height, width = x.shape[-2:]` counts on."""
    node: ast.AST | None = scope.parents.get(use)
    if use.attr == "size" and isinstance(node, ast.Call):
        asked = node.args[0] if len(node.args) == 1 else None
    elif isinstance(node, ast.Subscript) and not isinstance(node.slice, ast.Slice):
        asked = node.slice
    else:
        asked = None
    const = scope.value(asked).const if asked is not None else None
    if const is not None and isinstance(const.value, int):
        return const.value + 1 if const.value >= 0 else -const.value
    outer = scope.parents.get(node) if isinstance(node, ast.Subscript | ast.Call) else node
    target = outer.targets[0] if isinstance(outer, ast.Assign) else None
    names = target.elts if isinstance(target, ast.Tuple) else []
    return sum(not isinstance(name, ast.Starred) for name in names)


def _on_size(test: ast.expr, scope: Scope) -> bool:
    """Whether a test orders sizes or looks at a remainder of one."""
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        sides = (test.left, test.comparators[0])
        if not any(is_size(s, scope) for s in sides) or not all(
            scope.value(s).is_(Kind.SIZE, Kind.STATIC) or scope.value(s).is_unknown for s in sides
        ):
            return False
        if isinstance(test.ops[0], _ORDER):
            return not _is_settled(test, scope) and not _is_counted(test, scope)
        return isinstance(test.ops[0], ast.Eq | ast.NotEq) and any(_is_remainder(s, scope) for s in sides)
    return _is_remainder(test, scope)


def _is_settled(test: ast.Compare, scope: Scope) -> bool:
    """Whether the test separates at most 0 and 1 from the other sizes: Dynamo compiles those two sizes apart anyway."""
    left, right = test.left, test.comparators[0]
    if not isinstance(left, ast.Subscript | ast.Call | ast.Name):
        return False
    const = scope.value(right).const
    limit = const.value if const is not None else None
    if not isinstance(limit, int) or _is_remainder(left, scope):
        return False
    return limit <= 2 if isinstance(test.ops[0], ast.Lt | ast.GtE) else limit <= 1


def _is_counted(test: ast.Compare, scope: Scope) -> bool:
    """Whether the test compares the number of a turn with the sizes that bound the loop, which binds the graph to them.

    That is reported where the loop begins (CF605).
    """
    loops = [
        loop
        for loop in scope.ancestors(test)
        if isinstance(loop, ast.For) and isinstance(loop.iter, ast.Call) and scope.callee(loop.iter) == "range"
    ]
    turns = {loop.target.id for loop in loops if isinstance(loop.target, ast.Name)}
    if names_in(test).isdisjoint(turns):
        return False
    bounds = {ast.unparse(part) for loop in loops for part in ast.walk(loop.iter)}
    atoms = (part for part in ast.walk(test) if isinstance(part, ast.Name | ast.Subscript | ast.Call))
    return all(ast.unparse(part) in bounds for part in atoms if is_size(part, scope))


def _is_remainder(node: ast.expr, scope: Scope) -> bool:
    definition = definition_of(node, scope)
    return (
        isinstance(definition, ast.BinOp)
        and is_size(node, scope)
        and any(isinstance(n, ast.BinOp) and isinstance(n.op, ast.Mod) for n in ast.walk(definition))
    )


def _tested_amount(test: ast.expr, scope: Scope, template: Template) -> str | None:
    """The name that a test compares with zero."""
    if isinstance(test, ast.Name):
        return test.id
    if not isinstance(test, ast.Compare) or len(test.ops) != 1 or not isinstance(test.left, ast.Name):
        return None
    right = test.comparators[0]
    if not isinstance(right, ast.Constant) or type(right.value) is not int or right.value != 0:
        return None
    if isinstance(test.ops[0], ast.NotEq):
        return test.left.id
    if isinstance(test.ops[0], ast.Gt):
        if not _nonnegative(definition_of(test.left, scope), scope):
            name = test.left.id
            way = f"where it is not, ask for `{name} != 0`"
            template.refuse([Obstacle(f"`{name}` may be negative, and a negative pad cuts off: {way}")])
        return test.left.id
    return None


def _nonnegative(node: ast.expr, scope: Scope) -> bool:
    """A remainder has the sign of the divisor; `max(0, n)` is none below zero."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        const = scope.value(node.right).const
        if const is not None:
            return isinstance(const.value, int) and const.value > 0
        return scope.value(node.right).is_(Kind.SIZE) and _is_count(node.right, scope)
    if isinstance(node, ast.Call) and scope.callee(node) == "max":
        return any(isinstance(a, ast.Constant) and a.value == 0 for a in node.args)
    return False


def _is_count(node: ast.expr, scope: Scope, depth: int = 0) -> bool:
    """Whether a number is seen to be none below zero: a size, a number that is written, or what these add up to."""
    found = definition_of(node, scope)
    const = scope.value(found).const
    if const is not None:
        return isinstance(const.value, int) and const.value >= 0
    if isinstance(found, ast.BinOp) and depth < 8:
        sides = (found.left, found.right)
        adds = isinstance(found.op, ast.Add | ast.Mult | ast.FloorDiv | ast.Mod)
        return adds and all(_is_count(side, scope, depth + 1) for side in sides)
    if isinstance(found, ast.Name):
        stores = scope.names(found.id, stores=True)
        unpacked = len(stores) == 1 and isinstance(scope.parents.get(stores[0]), ast.Tuple | ast.List)
        return unpacked and scope.value(found).is_(Kind.SIZE)
    return isinstance(found, ast.Subscript | ast.Call) and is_size(found, scope)


def _is_constant_mode(call: ast.Call) -> bool:
    mode = call.args[2] if len(call.args) > 2 else next((k.value for k in call.keywords if k.arg == "mode"), None)
    return mode is None or (isinstance(mode, ast.Constant) and mode.value == "constant")


def _only_checks(node: ast.If) -> bool:
    """Whether the `if` raises, warns or does nothing, or all that it does else is to raise: a validation."""
    if node.orelse and any(isinstance(side[-1], ast.Raise) for side in (node.body, node.orelse)):
        return True
    for statement in node.body:
        call = statement.value if isinstance(statement, ast.Expr) else None
        warns = isinstance(call, ast.Call) and ast.unparse(call.func).rpartition(".")[2] in (
            "warn",
            "warning",
            "warning_once",
            "print",
        )
        if not isinstance(statement, ast.Raise | ast.Pass) and not warns:
            return False
    return not node.orelse

"""CF605: a Python loop over a dimension of a tensor.

## What it does
Finds loops and comprehensions over `range(x.shape[1])`, `range(len(x))`, `x.unbind()` or `x` itself, where `x` comes
from the arguments of the function.

## Why is this bad
Dynamo unrolls the loop: the graph holds a copy of the body for each turn, which takes long to compile (1,024 turns: 32
seconds), and each length is compiled anew, since the number of turns is a constant. After eight lengths it gives up on
the function and runs it in eager for good.

## Example
```python
for t in range(x.shape[1]):
    outputs.append(self.layer(x[:, t]))
y = torch.stack(outputs, dim=1)
```

## Use instead
```python
y = self.layer(x)
```

Where each turn needs the one before, keep the number of turns the same (padding), leave the loop outside of what is
compiled, or use `torch._higher_order_ops.scan`.

## Fix safety
A loop that only adds up what lies along the dimension, `total = total + x[:, t]`, becomes `x.sum(1)`, for an `x` that
is proved to hold numbers and a `total` that was a number or a tensor of the same dtype. It rests on `summation-order`,
and on `dimension-not-empty`: without a turn `total` would stay what it was.

A loop or comprehension that computes the same of each row and stacks the results, such as
`torch.stack([torch.exp(x[:, t]) for t in range(x.shape[1])], dim=1)`, becomes `torch.exp(x).contiguous()`, for
operations that treat each element by itself, and number literals, up to the last bit: a processor computes whole
vectors and what is left over in other ways. It rests on `dimension-not-empty`: a stack of nothing is an error. A linear
layer in it rests on `all-rows` too, since the matrix product of all rows may round differently, and on
`enough-dimensions` where `x` is not proved to have another dimension for the layer. Other loops are declined.

Not reported: loops over parameters, buffers, the last dimension and what the function itself has made, whose length
seldom changes, or over a size that the function checks against a number of its own object; loops whose counter picks a
layer (`self.layers[k](x[:, k])`), of which a module has as many in each call; functions that no `forward`
and no compile call reaches; loops in which the graph breaks, which Dynamo leaves to Python as they are. Loops without a
fix over what a model has a fixed number of, by the name (`for i in range(num_classes)`), or over an argument for which
each call that is seen gives what `__init__` alone makes (`chain(x, self.parents)`), are shown behind what matters.

Graph breaks: GB0039. torch: all supported versions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from compilefix.analysis.values import Kind
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.recompiles.dimension_stack import stack_in
from compilefix.codemods.recompiles.dimension_stack import written as stacked
from compilefix.codemods.recompiles.dimension_sum import sum_in, written
from compilefix.codemods.recompiles.sizes import definition_of, is_likely_compiled, is_size
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.template import Template
from compilefix.codemods.unpassed import is_kept_by_callers
from compilefix.source.snippets import snippet
from compilefix.source.tree import names_in, walk

_FIXED = re.compile(
    r"(class(es)?|channels?|fields?|heads?|features?|labels?|experts?|joints?|key_?points?|landmarks?"
    r"|levels?|scales?|sources?|speakers?|(spatial|feature|feat|level)_shapes)(_(q|k|v|kv|in|out))?$"
)
"""What the names of sizes end in of which a model has the same number in every call: `num_classes`, `nheads_k`.

Or of tables with a row for each of these: `spatial_shapes`.
"""
_ADVICE = (
    "compute the whole dimension at once; where a turn needs the one before, keep the length fixed, or leave the loop "
    "outside of the compiled code"
)


class DimensionLoop(Rule):
    """Python loop over a dimension of a tensor."""

    code = "CF605"
    name = "dimension-loop"
    summary = "Python loop over a dimension of a tensor"
    gb = ("GB0039",)
    effect = "recompile"
    hints = ("for ",)
    assumptions = ("dimension-not-empty", "summation-order", "all-rows", "enough-dimensions")

    def find(self, scope: Scope) -> Iterator[Finding]:
        """Loops whose number of turns is a size of an argument."""
        if not is_likely_compiled(scope):
            return
        inside: set[ast.AST] = set()
        for node in scope.among(ast.For, ast.comprehension):
            if not isinstance(node, ast.For | ast.comprehension) or node in inside:
                continue
            turns = _turns(node.iter, scope)
            if turns is not None and not _is_checked(turns, scope) and not _steps_through_own(node, scope):
                # Of loops in loops the outermost is enough.
                inside.update(walk(scope.parents[node] if isinstance(node, ast.comprehension) else node))
                message = f"the loop over `{snippet(turns)}` is unrolled, and every other length is compiled again"
                fixed = isinstance(turns, ast.Name) and _FIXED.search(turns.id) is not None
                minor = fixed or _lists_numbers(node, scope) or _steps_through_list(node, scope)
                minor = minor or _is_of_one_object(turns, scope)
                yield self._judge(node, message, scope, minor=minor)

    def _judge(self, node: ast.For | ast.comprehension, message: str, scope: Scope, *, minor: bool) -> Finding:
        template = Template()
        stack = stack_in(node, scope)
        found = sum_in(node, scope) if isinstance(node, ast.For) else None
        if stack is not None:
            code = stacked(stack, scope, template)
            edits = (*(scope.edit(statement, "") for statement in stack.removed), scope.edit(stack.call, code))
        elif found is not None and isinstance(node, ast.For):
            code = written(node, found, scope, template)
            edits = (scope.edit(node, code, **template.parts),)
        else:
            return self.declined(scope, node.iter, message, _ADVICE, minor=minor)
        if template.broken is not None:
            return self.declined(
                scope, node.iter, message, f"{template.broken}; {_ADVICE}" if stack else template.broken
            )
        return self.fixed(scope, node.iter, message, Fix(edits, (), template.assumptions, template.reasons))


def _is_of_one_object(turns: ast.expr, scope: Scope) -> bool:
    """Whether a loop runs over arguments that each call gives what its own object keeps: buffers have one length."""
    size = definition_of(turns, scope)
    owners = [part for part in walk(size) if isinstance(part, ast.Name) and _comes_in(part, scope)]
    return bool(owners) and all(is_kept_by_callers(owner.id, scope) for owner in owners)


def _lists_numbers(node: ast.For | ast.comprehension, scope: Scope) -> bool:
    """Whether a comprehension makes a list of numbers or of lists of these, without an operation for each turn."""
    made = scope.parents[node]
    item = made.elt if isinstance(made, ast.ListComp | ast.GeneratorExp | ast.SetComp) else None
    value = scope.value(item) if item is not None else None
    if isinstance(item, ast.List | ast.Tuple | ast.Dict) and not ast.unparse(item)[1:-1]:
        return True
    if value is not None and value.is_(Kind.CONTAINER) and value.element is not None:
        value = value.element
    return value is not None and value.is_(Kind.STATIC, Kind.SIZE, Kind.NUMBER, Kind.NONE)


def _turns(iterated: ast.expr, scope: Scope) -> ast.expr | None:
    """What of an argument decides how many turns a loop runs."""
    if isinstance(iterated, ast.Call):
        name = scope.callee(iterated)
        if name == "range" and iterated.args:
            end = iterated.args[0] if len(iterated.args) == 1 else iterated.args[1]
            return end if is_size(end, scope) and _varies(end, scope) else None
        if name in ("enumerate", "reversed") and iterated.args:
            return _turns(iterated.args[0], scope)
        if name == "zip":
            return next((turns for item in iterated.args if (turns := _turns(item, scope)) is not None), None)
        if name == "Tensor.unbind" and isinstance(iterated.func, ast.Attribute):
            return iterated if _comes_in(iterated.func.value, scope) else None
    value = scope.value(iterated)
    is_batch = value.is_tensor and value.certain and not value.is_scalar_tensor
    return iterated if is_batch and isinstance(iterated, ast.Name) and _comes_in(iterated, scope) else None


def _is_checked(size: ast.expr, scope: Scope) -> bool:
    """Whether the function raises unless the size is a number that its object has: no other length is ever compiled."""
    tests: list[tuple[ast.expr, type[ast.cmpop]]] = [(node.test, ast.Eq) for node in scope.of(ast.Assert)]
    tests += [(node.test, ast.NotEq) for node in scope.of(ast.If) if isinstance(node.body[-1], ast.Raise)]
    sizes = {ast.dump(node) for node in (size, definition_of(size, scope))}
    for test, wanted in tests:
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], wanted):
            sides = (test.left, test.comparators[0])
            own = (isinstance(side, ast.Constant) or _is_own(side, scope) for side in reversed(sides))
            if any(is_own and ast.dump(side) in sizes for side, is_own in zip(sides, own, strict=True)):
                return True
    return False


def _steps_through_own(loop: ast.For | ast.comprehension, scope: Scope) -> bool:
    """Whether the counter of a loop picks one of what the object of the method keeps, and always has as many of."""
    return any(
        _is_own(picked, scope) and not scope.value(picked).may_be(Kind.TENSOR) for picked in _picked_from(loop, scope)
    )


def _steps_through_list(loop: ast.For | ast.comprehension, scope: Scope) -> bool:
    """Whether the counter of a loop picks one of a list that is passed: `parts[i] * weight[i]`, one for each layer.

    What the function makes itself may have an item for each step: `states.append(state)`, `x.unbind(1)`.
    """
    return any(
        scope.value(picked).is_(Kind.CONTAINER) and _is_passed(picked, scope) for picked in _picked_from(loop, scope)
    )


def _is_passed(node: ast.expr, scope: Scope) -> bool:
    """Whether a list is an argument or an attribute, or has the items that are written there."""
    if isinstance(node, ast.Name) and node.id in {p.arg for p in scope.function.parameters}:
        return not scope.names(node.id, stores=True)
    made = definition_of(node, scope)
    return isinstance(made, ast.Attribute) or (isinstance(made, ast.List | ast.Tuple) and bool(made.elts))


def _picked_from(loop: ast.For | ast.comprehension, scope: Scope) -> Iterator[ast.expr]:
    """What the counter of a loop is the index of: `parts` of `parts[i]`, in `for i in range(n)` and `enumerate`."""
    counter = loop.target
    if isinstance(counter, ast.Tuple) and isinstance(loop.iter, ast.Call) and scope.callee(loop.iter) == "enumerate":
        counter = counter.elts[0]
    if not isinstance(counter, ast.Name):
        return
    around = scope.parents[loop] if isinstance(loop, ast.comprehension) else loop
    for part in walk(around):
        picks = isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Name) and part.slice.id == counter.id
        if picks and isinstance(part, ast.Subscript) and not _is_asked(counter.id, part, around, scope):
            yield part.value


def _is_asked(counter: str, part: ast.AST, loop: ast.AST, scope: Scope) -> bool:
    """Whether a part of a loop runs for some values of its counter only: `if i < len(self.layers):`."""
    for above in scope.ancestors(part):
        if above is loop:
            return False
        if isinstance(above, ast.If | ast.IfExp) and counter in names_in(above.test):
            return True
    return False


def _is_own(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is read of the object of the method: `self.config.heads`."""
    while isinstance(node, ast.Attribute):
        node = node.value
        if isinstance(node, ast.Name):
            return scope.function.cls is not None and node.id in {p.arg for p in scope.function.parameters[:1]}
    return False


def _varies(size: ast.expr, scope: Scope) -> bool:
    """Whether a size is that of an argument."""
    size = definition_of(size, scope)
    if isinstance(size, ast.Name):
        return _unpacked_from(size, scope)
    bases = [
        part.value.value if isinstance(part.value, ast.Attribute) else part.value
        for part in ast.walk(size)
        if isinstance(part, ast.Subscript) and not _is_last(part.slice)
    ]
    for part in ast.walk(size):
        if isinstance(part, ast.Call) and scope.callee(part) == "len":
            bases += part.args
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            bases += [part.func.value] if not any(_is_last(a) for a in part.args) else []
    return any(_comes_in(base, scope) for base in bases)


def _is_last(index: ast.expr) -> bool:
    return ast.unparse(index) == "-1"


def _unpacked_from(name: ast.Name, scope: Scope) -> bool:
    """Whether a name is one of `batch, length = x.shape`."""
    stores = scope.names(name.id, stores=True)
    parent = scope.parents.get(stores[0]) if len(stores) == 1 else None
    assign = scope.parents.get(parent) if isinstance(parent, ast.Tuple | ast.List) else None
    if not isinstance(assign, ast.Assign):
        return False
    value = assign.value
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        return _comes_in(value.func.value, scope)
    while isinstance(value, ast.Subscript):
        value = value.value
    return isinstance(value, ast.Attribute) and _comes_in(value.value, scope)


def _comes_in(node: ast.expr, scope: Scope) -> bool:
    """Whether a tensor is an argument of the function that nothing in it has replaced."""
    if not isinstance(node, ast.Name) or not scope.value(node).may_be(Kind.TENSOR):
        return False
    first = 1 if scope.function.cls is not None and not scope.function.is_static else 0
    return node.id in {p.arg for p in scope.function.parameters[first:]} and not scope.names(node.id, stores=True)

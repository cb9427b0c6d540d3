"""Conditions on tensors: which parts of a test ask a tensor for its truth, and the test as one boolean tensor."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import ARRAYS, Kind
from compilefix.codemods.number_comparison import common_precision, compared_reads
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.own_if import needs_own_if
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import (
    TENSOR_OR_FIXED,
    is_builtin_truth,
    is_membership,
    is_read,
    is_tensor_test,
    is_truth,
    named_truth,
    perhaps_bool,
    split_static,
)
from compilefix.codemods.torch_name import torch_name
from compilefix.codemods.whole_comparison import compares_whole, whole_comparison
from compilefix.source.operators import COMPARISONS
from compilefix.source.snippets import snippet


def order_kept(test: ast.expr, scope: Scope) -> Iterator[Obstacle]:
    """Whether the fixed conjuncts may be evaluated before the tensors."""
    fixed, tests = split_static(test, scope)
    if not tests or not isinstance(test, ast.BoolOp) or not isinstance(test.op, ast.And):
        return
    first = test.values.index(tests[0])
    for part in fixed:
        if test.values.index(part) > first:
            if not scope.value(part).is_static:
                yield Obstacle(f"`{ast.unparse(part)}` stands behind a tensor and is not known to be fixed")
            yield from scope.legality.both_evaluated([part], scope.facts)
            yield Obstacle(
                f"`{ast.unparse(part)}` stands behind a tensor, which could fail, and would not be computed "
                "where that is false",
                "branches-total",
            )


def condition(tests: Sequence[ast.expr], scope: Scope, template: Template, *, operand: bool = False) -> str | None:
    """Code for the conjunction of tests as one boolean tensor; None where it cannot be written as one.

    `operand` asks for parentheses where an operator would tear the code apart.
    """
    name = template.named.get(tuple(tests))
    if name is not None:
        return name
    if len(tests) == 1:
        return _boolean(tests[0], scope, template, operand=operand)
    code = _joined(tests, "&", scope, template)
    return f"({code})" if code is not None and operand else code


def _joined(tests: Sequence[ast.expr], symbol: str, scope: Scope, template: Template) -> str | None:
    codes: list[str] = []
    for index, test in enumerate(tests):
        if index:
            template.refuse(scope.legality.both_evaluated(_without_reads(test, scope), scope.facts))
        code = _static_bool(test, scope, template) if len(tests) > 1 else None
        if code is None:
            code = _boolean(test, scope, template, operand=len(tests) > 1)
        if code is None:
            return None
        codes.append(code)
    return f" {symbol} ".join(codes)


def _without_reads(test: ast.expr, scope: Scope) -> list[ast.expr]:
    """What is computed of a test when no tensor in it is read on the host."""
    operands = [test.operand] if isinstance(test, ast.UnaryOp) else getattr(test, "values", [])
    if any(scope.value(operand).may_be(Kind.OBJECT) for operand in operands):
        return [test]  # asking an object for its truth runs a method of it
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _without_reads(test.operand, scope)
    if isinstance(test, ast.BoolOp):
        return [part for value in test.values for part in _without_reads(value, scope)]
    if isinstance(test, ast.Compare) and any(is_read(o, scope) for o in (test.left, *test.comparators)):
        return [part for operand in (test.left, *test.comparators) for part in _without_reads(operand, scope)]
    source = read_of(test, scope)
    return [test if source is None else source]


def _static_bool(test: ast.expr, scope: Scope, template: Template) -> str | None:
    """A Python bool beside tensors: `flag | t` is a tensor, as `t` is."""
    value = scope.value(test)
    if is_tensor_test(test, scope) or not value.is_(Kind.STATIC) or value.dtype != "bool" or not value.certain:
        return None
    if (reason := needs_own_if(test, scope)) is not None:
        template.refuse([Obstacle(f"{reason}: give it its own `if`")])
    return template.use(test, operand=True)


def _opposite(test: ast.expr, scope: Scope, template: Template, *, operand: bool) -> str | None:
    value = scope.value(test)
    if value.is_tensor and not isinstance(test, ast.Compare) and value.dtype != "bool":
        template.refuse(scope.legality.condition(test, scope.facts))
        reshape = ".reshape(())" if value.rank != 0 else ""
        code = f"{template.use(test, operand=True)}{reshape} == 0"
        return f"({code})" if operand else code
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _boolean(test.operand, scope, template, operand=operand)
    inner = _boolean(test, scope, template, operand=True)
    return None if inner is None else f"~{inner}"


def _boolean(test: ast.expr, scope: Scope, template: Template, *, operand: bool) -> str | None:
    if isinstance(test, ast.BoolOp):
        symbol = "&" if isinstance(test.op, ast.And) else "|"
        code = _joined(test.values, symbol, scope, template)
        return None if code is None else f"({code})" if operand else code
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _opposite(test.operand, scope, template, operand=operand)
    if isinstance(test, ast.Call) and compares_whole(test, scope):
        return whole_comparison(test, scope, template, operand=operand)
    if isinstance(test, ast.Call) and is_builtin_truth(test, scope):
        return _builtin_truth(test, scope, template, operand=operand)
    value = scope.value(test)
    source = read_of(test, scope)
    if source is not None:
        return _truth_of_read(test, source, scope, template, operand=operand)
    named = named_truth(test, scope)
    if named is not None:
        return _named(test, named, scope, template)
    if isinstance(test, ast.Compare):
        if is_membership(test, scope):
            return _membership(test, scope, template, operand=operand)
        if len(test.ops) > 1:
            return _chain(test, scope, template, operand=operand)
        if any(is_read(o, scope) for o in (test.left, test.comparators[0])):
            return compared_reads(test, scope, template, operand=operand)
    if template.mixes and value.kinds == ARRAYS:
        return _tensor_or_bool(test, scope, template, operand=operand)
    if (mixed := _mixed_name(test, scope)) is not None and not (template.mixes and value.kinds == TENSOR_OR_FIXED):
        return _defined_as_tensor(test, mixed, scope, template)
    if template.mixes and perhaps_bool(test, scope):
        return _tensor_or_bool(test, scope, template, operand=operand)
    if not value.is_tensor:
        some = "is not proved to be a tensor" + " in all calls" * value.sometimes_tensor
        around = scope.parents.get(test)
        while isinstance(around, ast.UnaryOp):
            around = scope.parents.get(around)
        mixes = isinstance(around, ast.BoolOp)
        reason = f"`{snippet(test)}` {some}{', and mixes with tensors in one condition' * mixes}"
        template.refuse([Obstacle(reason)])
        return None
    template.refuse(scope.legality.condition(test, scope.facts))
    reshape = ".reshape(())" if value.rank != 0 else ""
    if any(token.startswith(("param:", "self.", "global.")) for token in value.storage) and value.dtype == "bool":
        reshape += ".clone()"  # torch.where keeps its condition for the backward pass
    if value.dtype == "bool":
        return template.use(test, operand=operand or bool(reshape)) + reshape
    code = f"{template.use(test, operand=True)}{reshape} != 0"
    return f"({code})" if operand else code


def _tensor_or_bool(test: ast.expr, scope: Scope, template: Template, *, operand: bool) -> str:
    """What is a tensor on one way and a Python bool on another, as `flag and t.any()` is; or perhaps an array.

    Alone it is asked for at the boundary as it is. In a condition it is added to a zero: `as_tensor` and a comparison
    fail where the bool compares integers that change between calls (Dynamo and inductor of torch 2.11 and 2.13).
    Beside what is a constant on a GPU, inductor of torch 2.11 wants the zero there too.
    """
    template.refuse([Obstacle(f"`{snippet(test)}` is not proved to have one element", "condition-one-element")])
    if not operand:
        return template.use(test)
    device = "" if template.beside is None else f", device={template.beside}.device"
    return f"({torch_name(scope)}.zeros((){device}) + {template.use(test, operand=True)} != 0).reshape(())"


def _mixed_name(test: ast.expr, scope: Scope) -> ast.BoolOp | None:
    """`flag or t.any()` that a name was given once, where tests are all that the name is used in."""
    if not isinstance(test, ast.Name) or scope.value(test).kinds != TENSOR_OR_FIXED:
        return None
    whole = scope.only_value(test.id)
    if not isinstance(whole, ast.BoolOp) or not is_tensor_test(whole.values[-1], scope):
        return None
    for part in whole.values:
        found = scope.value(part)
        fixed = found.is_(Kind.STATIC) and found.dtype == "bool" and found.certain
        if not fixed and not (found.is_tensor and found.dtype == "bool"):
            return None
    loads = scope.function.places(test.id)
    asked = (n for n in loads if isinstance(n.ctx, ast.Load))
    return whole if all(n in scope.parents and is_truth(n, scope) for n in asked) else None


def _defined_as_tensor(test: ast.expr, whole: ast.expr, scope: Scope, template: Template) -> str | None:
    """A name for a truth that is a tensor or a Python bool: it is a tensor always, and on the device of the tensors."""
    inner = Template()
    code = _boolean(whole, scope, inner, operand=False)
    template.refuse(inner.obstacles)
    if code is None:
        return None
    edits = [*inner.edits, scope.edit(whole, code, **inner.parts)]
    template.edits += [edit for edit in edits if edit not in template.edits]
    return template.use(test)


def _named(test: ast.expr, given: ast.expr, scope: Scope, template: Template) -> str | None:
    """A name for a truth that was read: the name keeps the tensor instead, and the read goes."""
    source = read_of(given, scope)
    if source is None:
        return _defined_as_tensor(test, given, scope, template)
    template.refuse(scope.legality.condition(source, scope.facts))
    used = Template()
    code = f"{used.use(source, operand=True)} != 0" if scope.value(source).dtype != "bool" else used.use(source)
    edit = scope.edit(given, code, **used.parts)
    if edit not in template.edits:
        template.edits.append(edit)
    return template.use(test) + (".reshape(())" if scope.value(source).rank != 0 else "")


def _builtin_truth(test: ast.Call, scope: Scope, template: Template, *, operand: bool) -> str | None:
    """`any((a, b))` is `a | b`; `any(t)` of a tensor is `t.any()` where it has one dimension that counts."""
    name, argument = scope.callee(test), test.args[0]
    if isinstance(argument, ast.Tuple | ast.List) and not any(isinstance(e, ast.Starred) for e in argument.elts):
        for item in argument.elts:
            template.refuse(scope.legality.condition(item, scope.facts))
        code = _joined(argument.elts, "|" if name == "any" else "&", scope, template)
        return None if code is None else f"({code})" if operand else code
    value = scope.value(argument)
    if value.is_tensor and value.rank != 0:
        template.refuse(() if value.certain else scope.legality.condition(argument, scope.facts))
        text = snippet(argument)
        if value.rank != 1:
            template.refuse(
                [Obstacle(f"each row of `{text}` is not proved to be one element", "condition-one-element")]
            )
        if not value.dimensioned:
            template.refuse([Obstacle(f"`{text}` is not proved to have a dimension to go along", "enough-dimensions")])
        return f"{template.use(argument, operand=True)}.{name}()"
    template.refuse([Obstacle(f"`{snippet(test)}` asks each of several tensors for its truth")])
    return None


def _membership(test: ast.Compare, scope: Scope, template: Template, *, operand: bool) -> str | None:
    """`t in (1, 2)` as comparisons, `x in t` as one with all elements of `t`."""
    items = test.comparators[0]
    if len(test.ops) > 1:
        template.refuse([Obstacle("a chained comparison with `in` is not rewritten")])
        return None
    sign = "~" if isinstance(test.ops[0], ast.NotIn) else ""
    if scope.value(items).is_tensor:
        template.refuse(o for o in scope.legality.condition(items, scope.facts) if o.assumption == "is-tensor")
        if not scope.value(test.left).is_(Kind.STATIC, Kind.SIZE) and not scope.value(test.left).is_scalar_tensor:
            template.refuse([Obstacle(f"`{snippet(test.left)}` is not proved to be one number")])
            return None
        return f"{sign}({template.use(items, operand=True)} == {template.use(test.left, operand=True)}).any()"
    assert isinstance(items, ast.Tuple | ast.List)
    template.refuse(scope.legality.condition(test.left, scope.facts))
    template.refuse(scope.legality.computed_again(test.left, scope.facts))
    if not items.elts or not all(
        scope.value(e).is_(Kind.STATIC, Kind.SIZE) and _is_number(e, scope) for e in items.elts
    ):
        template.refuse([Obstacle(f"`{snippet(items)}` is not proved to hold numbers")])
        return None
    reshape = ".reshape(())" if scope.value(test.left).rank != 0 else ""
    codes = [f"({template.use(test.left, operand=True)}{reshape} == {template.use(e)})" for e in items.elts]
    if len(codes) == 1:
        return f"{sign}{codes[0]}"
    code = " | ".join(codes)
    return f"{sign}({code})" if sign or operand else code


def _is_number(node: ast.expr, scope: Scope) -> bool:
    value = scope.value(node)
    return value.is_(Kind.SIZE) or value.dtype in ("int", "float", "bool")


def _chain(test: ast.Compare, scope: Scope, template: Template, *, operand: bool) -> str | None:
    """`0 < t < 2` as `(0 < t) & (t < 2)`, and `0 < t.item() < 2` likewise, in the precision of Python's numbers."""
    sides = [test.left, *test.comparators]
    sources = [read_of(side, scope) for side in sides]
    convert = ""
    if any(source is not None for source in sources):
        if any(isinstance(side, ast.Call) and isinstance(side.func, ast.Name) for side in sides):
            template.refuse([Obstacle(f"`{snippet(test)}` converts the number that it compares")])
            return None
        read = [scope.value(source).dtype for source in sources if source is not None]
        others = [scope.value(side) for side, source in zip(sides, sources, strict=True) if source is None]
        convert = common_precision(read, others, template)
    codes: list[str] = []
    for index, operator in enumerate(test.ops):
        symbol = COMPARISONS.get(type(operator))
        pair = [source or side for side, source in zip(sides, sources, strict=True)][index : index + 2]
        values = [scope.value(side) for side in pair]
        known = all(v.is_(Kind.STATIC, Kind.SIZE) or (v.is_tensor and v.certain) for v in values)
        if symbol is None or not known or not any(v.is_tensor for v in values):
            template.refuse([Obstacle(f"`{snippet(test)}` is no chain of comparisons of tensors with numbers")])
            return None
        texts: list[str] = []
        for side, value in zip(pair, values, strict=True):
            reshape = ""
            if value.is_tensor and value.rank != 0:
                template.refuse(
                    o for o in scope.legality.condition(side, scope.facts) if o.assumption == "condition-one-element"
                )
                reshape = ".reshape(())"
            texts.append(template.use(side, operand=True) + reshape + (convert if side in sources else ""))
        codes.append(f"({texts[0]} {symbol} {texts[1]})")
    for middle, source in zip(sides[1:-1], sources[1:-1], strict=True):
        template.refuse(scope.legality.computed_again(source or middle, scope.facts))
    template.refuse(
        scope.legality.both_evaluated([s or n for n, s in zip(sides[2:], sources[2:], strict=True)], scope.facts)
    )
    code = " & ".join(codes)
    return f"({code})" if operand else code


def _truth_of_read(test: ast.expr, source: ast.expr, scope: Scope, template: Template, *, operand: bool) -> str | None:
    if (
        isinstance(test, ast.Call)
        and isinstance(test.func, ast.Name)
        and test.func.id == "int"
        and scope.value(source).dtype not in ("int", "bool")
    ):
        template.refuse([Obstacle("`int()` truncates, and the tensor is not proved to be of an integer dtype")])
        return None
    return _boolean(source, scope, template, operand=operand)

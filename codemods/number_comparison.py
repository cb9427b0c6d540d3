"""Comparisons of numbers that were read from tensors, as comparisons of the tensors."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.values import UNKNOWN, Kind, Value
from compilefix.codemods.number_reads import decides, read_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.selected_numbers import exact
from compilefix.codemods.template import Template
from compilefix.source.operators import COMPARISONS


def checked_read(node: ast.expr, scope: Scope) -> ast.Call | None:
    """The read that a name is bound to, where one check that raises, or comparisons in tests, are all its uses.

    In `n = mask.sum().item()` before `if n != len(x): raise ValueError(f"{n} tokens")` that is the call of `item`.
    Beside tests it may stand in the texts of exceptions.
    """
    if not isinstance(node, ast.Name) or not scope.value(node).is_(Kind.NUMBER):
        return None
    read, loads = scope.only_value(node.id), scope.names(node.id)
    if read is None:
        return None
    source = read_of(read, scope)
    if source is None or not isinstance(read, ast.Call) or _is_kept_elsewhere(source):
        return None
    cast = read.func.id if isinstance(read.func, ast.Name) else "item"
    found = scope.value(source)
    if cast == "bool":
        return None
    if scope.legality.memory.writer(found.storage, (), scope.facts) is not None:
        return None
    names = scope.function.places(node.id)
    if len(names) != len(loads) + 1:
        return None
    if _one_check(loads, scope) and any(_is_tested(load, scope) for load in loads):
        return read
    compared = [load for load in loads if _is_compared(load, scope)]
    shown = sum(_is_shown(load, scope) for load in loads)
    # An integer would show as a float in a text, if it was kept in double.
    doubled = found.dtype is None and shown and _kept_in_double(read, source, loads, scope)
    known = found.dtype in ("int", "bool", "float", None) and not doubled
    return read if compared and len(compared) + shown == len(loads) and known else None


def _is_kept_elsewhere(source: ast.expr) -> bool:
    """Whether an attribute or an item of something that others hold is read; not an item of what was just computed."""
    inner = source
    while isinstance(inner, ast.Subscript):
        inner = inner.value
    return isinstance(inner, ast.Attribute) or (inner is not source and isinstance(inner, ast.Name))


def _is_compared(load: ast.Name, scope: Scope) -> bool:
    return isinstance(scope.parents.get(load), ast.Compare) and decides(load, scope)


def _kept_in_double(call: ast.expr, source: ast.expr, loads: Sequence[ast.Name], scope: Scope) -> bool:
    """Whether a name keeps its number in double, as tests that stay must compare it as Python does.

    Not an integer, nor what is compared with what every dtype holds, nor what one test alone compares.
    """
    casts = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "int"
    if casts or scope.value(source).dtype in ("int", "bool") or len(loads) == 1 or _one_check(loads, scope):
        return False
    tests = [p for load in loads if isinstance(p := scope.parents.get(load), ast.Compare)]
    return not all(_with_small_number(test, scope) for test in tests)


def _is_shown(load: ast.Name, scope: Scope) -> bool:
    """Whether a name stands by itself in the f-string of an exception: a tensor without dimensions gives the same."""
    parent = scope.parents.get(load)
    if not isinstance(parent, ast.FormattedValue) or parent.conversion != -1:
        return False
    return isinstance(scope.statement(load), ast.Raise | ast.Assert)


def read_for_check(read: ast.Call, scope: Scope) -> bool:
    """Whether a read is bound to a name that is used in one check alone, or only in tests and the texts of checks."""
    parent = scope.parents.get(read)
    if not isinstance(parent, ast.Assign) or not isinstance(parent.targets[0], ast.Name):
        return False
    loads = scope.names(parent.targets[0].id)
    return bool(loads) and checked_read(loads[0], scope) is read


def _with_small_number(test: ast.Compare, scope: Scope) -> bool:
    constants = [scope.value(side).const for side in (test.left, *test.comparators)]
    return any(const is not None and fits_all(const.value) for const in constants)


def _is_int64(source: ast.expr) -> bool:
    """Whether an integer tensor has the type of Python's: sums and counts of integers have."""
    if not isinstance(source, ast.Call) or not isinstance(source.func, ast.Attribute):
        return False
    return source.func.attr in ("sum", "count_nonzero", "argmax", "argmin") and not any(
        keyword.arg == "dtype" for keyword in source.keywords
    )


def fits_all(value: object) -> bool:
    """Whether every dtype holds a number exactly."""
    return isinstance(value, int | float) and exact(value) and 0 <= value <= 127


def _one_check(loads: Sequence[ast.Name], scope: Scope) -> bool:
    checks = {_check_around(load, scope) for load in loads}
    return len(checks) == 1 and None not in checks


def _is_tested(load: ast.Name, scope: Scope) -> bool:
    """Whether a check compares a name: what it only shows stays the number that it is."""
    check = _check_around(load, scope)
    return check is not None and any(part is load for part in ast.walk(check.test))


def _check_around(load: ast.Name, scope: Scope) -> ast.If | ast.Assert | None:
    """The `assert`, or `if` that only raises, where a name is compared in its test or shown in its exception."""
    parent = scope.parents.get(load)
    compared = isinstance(parent, ast.Compare) and len(parent.ops) == 1
    for around in scope.ancestors(load):
        if isinstance(around, ast.Assert):
            return around if compared or around.test not in scope.ancestors(load) else None
        if isinstance(around, ast.If):
            raises = len(around.body) == 1 and isinstance(around.body[0], ast.Raise) and not around.orelse
            shown = raises and any(part is load for part in ast.walk(around.body[0]))
            tested = raises and any(
                part is load
                for test in ast.walk(around.test)
                if isinstance(test, ast.Compare)
                for part in (test.left, *test.comparators)
            )
            return around if shown or (compared and tested) else None
        if isinstance(around, ast.For | ast.While | ast.With | ast.Try | ast.FunctionDef):
            return None
    return None


def compared_reads(test: ast.Compare, scope: Scope, template: Template, *, operand: bool) -> str | None:
    """A comparison of numbers that were read from tensors, as a comparison of the tensors.

    Python compares in double precision. Against a number that is not exact in half precision so must the tensor.
    """
    sides = [test.left, test.comparators[0]]
    symbol = COMPARISONS.get(type(test.ops[0]))
    if symbol is None:
        template.refuse([Obstacle(f"`{ast.unparse(test)}` is no plain comparison")])
        return None
    calls = {side: checked_read(side, scope) or side for side in sides}
    sources = {side: read_of(call, scope) for side, call in calls.items()}
    truncated = {side: _is_truncated(calls[side], source, scope) for side, source in sources.items() if source}
    for side, source in sources.items():
        if source is not None and truncated[side]:
            reason = f"`{ast.unparse(calls[side])}` raises for NaN and infinities, and for what an integer cannot hold"
            template.refuse([Obstacle(reason, "math-errors")])
    convert = common_precision(
        ["int" if truncated[side] else scope.value(source).dtype for side, source in sources.items() if source],
        [scope.value(side) for side, source in sources.items() if source is None],
        template,
    )
    codes: list[str] = []
    for side, source in sources.items():
        value = scope.value(side)
        if source is None:
            if not value.is_(Kind.STATIC, Kind.SIZE) and not value.is_scalar_tensor:
                named = "condition-one-element" if value.kinds == UNKNOWN.kinds else None
                template.refuse([Obstacle(f"`{ast.unparse(side)}` is not proved to be a number", named)])
            codes.append(template.use(side, operand=True))
            continue
        read = scope.value(source)
        call = calls[side]
        cast = call.func.id if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) else "item"
        if cast == "bool":
            template.refuse([Obstacle(f"`{cast}()` changes the number that is compared")])
        template.refuse(scope.legality.condition(source, scope.facts))
        code = template.use(source if call is side else side, operand=True)
        code += ".reshape(())" if read.rank != 0 else ""
        code += ".long()" if call is side and truncated[side] and convert != ".long()" else ""
        again = convert
        if call is not side:  # the name keeps the tensor
            loads = scope.names(side.id) if isinstance(side, ast.Name) else []
            exactly = _one_check(loads, scope) or read.dtype not in ("int", "bool") or _is_int64(source)
            exactly = exactly and not truncated[side]
            loose = isinstance(source, ast.BinOp | ast.UnaryOp | ast.Compare | ast.BoolOp | ast.IfExp)
            text = "({source})" if loose else "{source}"
            kept = ".long()"
            if exactly and _kept_in_double(call, source, loads, scope):
                exactly, kept = False, ".double()"
                again = "" if convert == kept else convert
            edit = scope.edit(call, "{source}" if exactly else f"{text}{kept}", source=source)
            template.edits += [edit] if edit not in template.edits else []
        codes.append(code + again)
    return f"({codes[0]} {symbol} {codes[1]})" if operand else f"{codes[0]} {symbol} {codes[1]}"


def _is_truncated(call: ast.expr, source: ast.expr, scope: Scope) -> bool:
    """Whether `int()` may cut something off."""
    casts = isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "int"
    return casts and scope.value(source).dtype not in ("int", "bool")


def common_precision(reads: Sequence[str | None], others: Sequence[Value], template: Template) -> str:
    """The conversion that makes tensors compare as the Python numbers did: integers exactly, floats in double."""
    constants = [v.const.value for v in others if v.const is not None]
    if len(constants) == len(others) == 1 and fits_all(constants[0]):
        return ""  # every dtype holds it
    kinds = {*reads, *(v.dtype for v in others)}
    if kinds <= {"int", "bool"}:
        return ".long()"
    if kinds == {"float"} or (kinds == {"float", "int"} and set(reads) == {"float"} and len(constants) == len(others)):
        return "" if constants and all(exact(c) for c in constants) else ".double()"
    template.refuse(
        [
            Obstacle(
                "integers and floats are compared: above 2**53 a tensor rounds where Python does not",
                "float32-rounding",
            )
        ]
    )
    return ".double()"

"""Calls that only check: `require(bool((x > 0).all()), "text")`, where `require` raises or does nothing.

Also where they check how many elements a mask selects: `require(x[mask].numel() == rows.numel(), "text")`.
`torch._check_tensor_all(x > 0)` is one too: Dynamo traces into it, down to an `item()`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping

from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.summaries import filled
from compilefix.analysis.values import Kind
from compilefix.codemods.conditions import condition
from compilefix.codemods.dynamic_shapes.checked_counts import checked_count, count_code
from compilefix.codemods.host_effects.deferral import deferred_check
from compilefix.codemods.host_effects.plan import Refused
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Template
from compilefix.codemods.tensor_tests import is_builtin_truth, is_tensor_test
from compilefix.source.definitions import Function

_QUIET = frozenset({"os.getenv", "os.environ.get", "isinstance", "callable"})
_CONDITION = {"torch._check_tensor_all": 0, "torch._check_tensor_all_with": 1}
"""The functions of torch that read a tensor and raise where it has a false element, and where they are given it."""


def validation_calls(scope: Scope) -> Iterator[tuple[ast.Call, list[ast.expr]]]:
    """The statements that call a function which only checks, with the arguments that are read from tensors."""
    for statement in scope.of(ast.Expr):
        call = statement.value
        if not isinstance(call, ast.Call):
            continue
        callee = scope.facts.calls.get(call)
        if callee is None:
            asked = _asked_by_torch(call, scope)
            if asked is not None and scope.value(asked).is_tensor:
                yield call, [asked]
            continue
        given = [*call.args, *(k.value for k in call.keywords)]
        tests = [
            argument
            for argument in given
            if _reads(argument, scope)
            or _passed_as_bool(argument, call, callee, scope)
            or checked_count(argument, scope) is not None
        ]
        counts = all(checked_count(test, scope) is not None for test in tests)
        if tests and _only_checks(callee, scope, asks_torch=counts):
            yield call, tests


def reads_in_checks(scope: Scope) -> set[ast.AST]:
    """The nodes of those calls: what is read there goes where the call goes."""
    own = (call for call, _ in validation_calls(scope) if call in scope.facts.calls)
    return {node for call in own for node in ast.walk(call)}


def late_call(call: ast.Call, tests: list[ast.expr], scope: Scope, template: Template) -> str | None:
    """The call made at the boundary, where its exception is raised; None where a condition cannot be written.

    Raises:
        Refused: a part of the call cannot be made later.
    """
    callee = scope.facts.calls.get(call)
    if callee is None:
        # A number that is read in the condition would still be read in the graph.
        if any(_reads(test, scope) for test in tests):
            raise Refused("a number is read from a tensor for the condition, where it stands")
        line, texts = deferred_check(call, {}, scope)
        # The condition itself is not shown.
        texted = len(call.args) + len(call.keywords) > 1 + _CONDITION[scope.callee(call) or ""]
        template.refuse(Obstacle(text, "gradient-text") for text in texts if texted)
        return line
    unknown = scope.legality.effects.of_function(callee).unknown
    if unknown is not None:
        template.refuse([Obstacle(f"`{callee.qualname}` calls what cannot be judged: {unknown}", "branches-total")])
    flags: dict[ast.expr, tuple[str, str]] = {}
    for test in tests:
        counted = checked_count(test, scope)
        if counted is not None:
            flags[test] = (count_code(counted, template, scope), _free_parameter(test, call, callee, flags))
            continue
        if not _is_flag(test, scope):
            if isinstance(test, ast.BoolOp | ast.Compare | ast.UnaryOp) and _reads(test, scope):
                return None  # the number would still be read in the graph
            continue
        code = condition([test], scope, template)
        if code is None:
            return None
        flags[test] = (code, _free_parameter(test, call, callee, flags))
    line, texts = deferred_check(call, flags, scope)
    template.refuse(Obstacle(text, "gradient-text") for text in texts)
    return line


def _free_parameter(test: ast.expr, call: ast.Call, callee: Function, flags: Mapping[ast.expr, tuple[str, str]]) -> str:
    name = _parameter(test, call, callee)
    while name in {taken for _, taken in flags.values()}:
        name += "_too"
    return name


def takes_tensor(test: ast.expr, call: ast.Call, scope: Scope) -> bool:
    """Whether a function of the project asks if what it checks is a tensor, and reads none where it runs compiled."""
    callee = scope.facts.calls.get(call)
    if callee is None:
        return False
    name = _parameter(test, call, callee)
    inner = scope.in_function(callee)
    asked = (c for c in inner.of(ast.Call) if inner.callee(c) == "isinstance")
    if not any([ast.unparse(a) for a in c.args] == [name, "torch.Tensor"] for c in asked):
        return False
    tests: list[ast.expr] = [n.test for n in inner.of(ast.If)]
    tests += [n.test for n in inner.of(ast.IfExp)]
    reads = any(is_tensor_test(test, inner) for test in tests) or any(_reads(c, inner) for c in inner.of(ast.Call))
    return not reads and next(validation_calls(inner), None) is None


def _asked_by_torch(call: ast.Call, scope: Scope) -> ast.expr | None:
    """The tensor that one of torch's own checks reads."""
    position = _CONDITION.get(scope.callee(call) or "")
    if position is None or any(isinstance(argument, ast.Starred) for argument in call.args):
        return None
    named = (keyword.value for keyword in call.keywords if keyword.arg == "cond")
    return call.args[position] if position < len(call.args) else next(named, None)


def _only_checks(callee: Function, scope: Scope, *, asks_torch: bool) -> bool:
    """Whether all that a function of the project does is to raise for some arguments.

    With `asks_torch` it may leave that to `torch._check`, which tells Dynamo something too: for a number that is read
    it must stay in the graph.
    """
    does = scope.legality.effects.of_function(callee)
    if does.raises is not None:
        return not (does.random or does.mutates or does.host)
    return asks_torch and _asks_torch(callee, scope) and not (does.random or does.mutates)


def _asks_torch(callee: Function, scope: Scope) -> bool:
    """Whether a function leaves the check to torch, and gives nothing: `torch._check_with(error, condition, text)`.

    It may ask the environment whether to check.
    """
    facts, inner = scope.legality.inference.facts(callee), _inner(callee)
    if any(isinstance(n, ast.Return) and n.value is not None and n not in inner for n in ast.walk(callee.node)):
        return False
    calls = [n for n in ast.walk(callee.node) if isinstance(n, ast.Call)]
    # What runs only where torch is not compiling is not looked at elsewhere: there the text must say what it is.
    names = [facts.callee(call) or ast.unparse(call.func) for call in calls]
    parameters = {p.arg for p in callee.parameters}
    for call, name in zip(calls, names, strict=True):
        own = isinstance(call.func, ast.Name) and call.func.id in parameters
        called = facts.calls.get(call)
        does = scope.legality.effects.of_function(called) if called is not None else None
        quiet = does is not None and not (does.random or does.mutates or does.host)
        if not (own or quiet or name in _QUIET or name.startswith(("torch._check", "torch.compiler.is_"))):
            return False
    return any(name.startswith("torch._check") for name in names)


def _inner(callee: Function) -> set[ast.AST]:
    """What stands in functions of a function."""
    functions = (
        n for n in ast.walk(callee.node) if n is not callee.node and isinstance(n, ast.FunctionDef | ast.Lambda)
    )
    return {part for function in functions for part in ast.walk(function)}


def _reads(node: ast.expr, scope: Scope) -> bool:
    return any(
        isinstance(part, ast.expr)
        and (read_of(part, scope) is not None or is_builtin_truth(part, scope) or _negates(part, scope))
        for part in ast.walk(node)
    )


def _negates(node: ast.expr, scope: Scope) -> bool:
    """`not t`, a Python bool."""
    return isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) and is_tensor_test(node.operand, scope)


def _passed_as_bool(node: ast.expr, call: ast.Call, callee: Function, scope: Scope) -> bool:
    """A tensor for a parameter that the callee says is a `bool`: the callee asks for its truth."""
    if not scope.value(node).is_tensor:
        return False
    name = _parameter(node, call, callee)
    annotation = next((p.annotation for p in callee.parameters if p.arg == name), None)
    return isinstance(annotation, ast.Name) and annotation.id == "bool"


def _is_flag(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression is a Python bool, computed from tensors."""
    if is_builtin_truth(node, scope):
        return True
    if _negates(node, scope):
        return True
    if isinstance(node, ast.BoolOp):
        flags = [_is_flag(value, scope) for value in node.values]
        others = (value for value, flag in zip(node.values, flags, strict=True) if not flag)
        return any(flags) and all(_is_fixed_bool(value, scope) for value in others)
    if isinstance(node, ast.Compare):
        return any(read_of(operand, scope) is not None for operand in (node.left, *node.comparators))
    source = read_of(node, scope)
    if source is None or not isinstance(node, ast.Call):
        return source is not None
    by_name = isinstance(node.func, ast.Name) and node.func.id == "bool"
    return by_name or (scope.value(source).dtype == "bool" and isinstance(node.func, ast.Attribute))


def _is_fixed_bool(node: ast.expr, scope: Scope) -> bool:
    value = scope.value(node)
    return value.is_(Kind.STATIC) and value.certain and value.dtype == "bool"


def _parameter(test: ast.expr, call: ast.Call, callee: Function) -> str:
    """The name under which the callee knows the argument."""
    parameters = [p.arg for p in filled(call, callee)]
    for keyword in call.keywords:
        if keyword.value is test and keyword.arg is not None:
            return keyword.arg
    position = call.args.index(test)
    return parameters[position] if position < len(parameters) else "passed"

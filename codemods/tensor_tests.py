"""Which parts of a condition are tensors."""

from __future__ import annotations

import ast

from compilefix.analysis.operators import are_texts
from compilefix.analysis.values import Kind
from compilefix.codemods.filled_in import is_filled_in
from compilefix.codemods.number_comparison import checked_read
from compilefix.codemods.number_reads import read_of
from compilefix.codemods.rule import Scope
from compilefix.codemods.ruled_out import is_ruled_out
from compilefix.codemods.whole_comparison import compares_whole
from compilefix.source.syntax import conjuncts


def is_tensor_test(test: ast.expr, scope: Scope) -> bool:
    """Whether Python asks a tensor for its truth when it evaluates this condition."""
    return bool(tensor_tests(test, scope))


def tensor_tests(test: ast.expr, scope: Scope) -> list[ast.expr]:
    """The parts of a condition whose truth is read from a tensor, where it is compiled."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return tensor_tests(test.operand, scope)
    if isinstance(test, ast.BoolOp):
        live = [value for value in test.values if value not in scope.facts.dead]
        return [part for value in live for part in tensor_tests(value, scope)]
    if isinstance(test, ast.Compare):
        operands = _operands(test)
        chained = len(test.ops) > 1 and any(scope.value(o).is_tensor or read_of(o, scope) for o in operands)
        if chained or is_membership(test, scope) or any(is_read(o, scope) for o in operands):
            return [test]
    if compares_whole(test, scope) or is_builtin_truth(test, scope):
        return [test]
    value = scope.value(test)
    known = not value.is_unknown or is_filled_in(test, scope)
    at_times = value.sometimes_tensor and known and not is_ruled_out(test, scope)
    if value.is_tensor or at_times or read_of(test, scope) is not None:
        return [test]
    return [test] if named_truth(test, scope) is not None else []


def _operands(test: ast.Compare) -> list[ast.expr]:
    return [test.left, *test.comparators]


def is_read(node: ast.expr, scope: Scope) -> bool:
    """Whether an operand of a comparison is a number read from a tensor, there or for one check under a name."""
    return read_of(node, scope) is not None or checked_read(node, scope) is not None


def tensor_words(test: ast.expr, scope: Scope) -> str:
    """How a message says of a part of a condition that it is a tensor, or a number read from one."""
    value = scope.value(test)
    if value.is_(Kind.NUMBER) and not is_builtin_truth(test, scope):
        return "is read from a tensor"
    if isinstance(test, ast.Compare) and not value.is_tensor and any(is_read(o, scope) for o in _operands(test)):
        return "is read from a tensor"
    return "is a tensor in some calls" if value.sometimes_tensor else "is a tensor"


def named_truth(test: ast.expr, scope: Scope) -> ast.expr | None:
    """What a name was given as a truth that is read from a tensor, where tests are all that the name is used in.

    In `bad = bool(torch.isnan(x).any())` before `if bad:` that is the call of `bool`, and in `bad = n.item() != 2` the
    comparison.
    """
    value = scope.value(test)
    if not isinstance(test, ast.Name) or not value.is_(Kind.NUMBER) or value.dtype != "bool":
        return None
    definition = scope.only_assignment(test.id)
    if definition is None:
        return None
    given = definition.value
    if any(isinstance(around, ast.For | ast.While) for around in scope.ancestors(definition)):
        return None
    reads = [source for n in ast.walk(given) if isinstance(n, ast.expr) and (source := read_of(n, scope)) is not None]
    if any(scope.legality.memory.writer(scope.value(s).storage, (), scope.facts) is not None for s in reads):
        return None
    if not (_is_new_truth(given, scope) if isinstance(given, ast.Call) else _is_compared(given, scope)):
        return None
    loads = scope.function.loads(test.id)
    return given if all(n in scope.parents and is_truth(n, scope) for n in loads) else None


def reads_of_truths(scope: Scope) -> set[ast.AST]:
    """The nodes of what names are given as truths: what is read there is for the rules for the tests."""
    tests = (n for n in scope.nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load))
    given = (named_truth(test, scope) for test in tests)
    return {node for truth in given if truth is not None for node in ast.walk(truth)}


def _is_new_truth(given: ast.Call, scope: Scope) -> bool:
    """Whether a call reads the truth of a tensor that is made for it: the name may keep that tensor."""
    source = read_of(given, scope)
    return source is not None and not isinstance(source, ast.Name | ast.Attribute | ast.Subscript)


def _is_compared(given: ast.expr, scope: Scope) -> bool:
    """Whether a truth is a comparison of what is read from a tensor, or the opposite of one."""
    if isinstance(given, ast.UnaryOp) and isinstance(given.op, ast.Not):
        return _is_compared(given.operand, scope)
    sides = [given.left, *given.comparators] if isinstance(given, ast.Compare) else []
    return any(read_of(side, scope) is not None for side in sides) and is_tensor_test(given, scope)


def is_truth(node: ast.expr, scope: Scope) -> bool:
    """Whether a test asks an expression for its truth, alone or with `and`, `or` and `not`."""
    child: ast.AST = node
    for parent in scope.ancestors(node):
        if isinstance(parent, ast.If | ast.While | ast.IfExp | ast.Assert):
            return parent.test is child
        if not isinstance(parent, ast.BoolOp) and not (
            isinstance(parent, ast.UnaryOp) and isinstance(parent.op, ast.Not)
        ):
            return False
        child = parent
    return False


def is_membership(test: ast.Compare, scope: Scope) -> bool:
    """`t in (1, 2)` and `1 in t`: each compares a tensor and reads the truth of the result."""
    if not isinstance(test.ops[0], ast.In | ast.NotIn):
        return False
    items, value = test.comparators[0], scope.value(test.left)
    if isinstance(test.left, ast.JoinedStr) or (value.const is not None and isinstance(value.const.value, str)):
        return False  # a key of a dictionary of tensors
    if are_texts(items):
        return False  # a text, whatever is declared: `task in ("mlm", "itm")`
    return scope.value(items).is_tensor or (value.is_tensor and isinstance(items, ast.Tuple | ast.List))


def is_builtin_truth(test: ast.expr, scope: Scope) -> bool:
    """Python's `any` and `all` over tensors."""
    if not isinstance(test, ast.Call) or scope.callee(test) not in ("any", "all") or len(test.args) != 1:
        return False
    argument = test.args[0]
    if isinstance(argument, ast.Tuple | ast.List):
        return any(is_tensor_test(item, scope) for item in argument.elts)
    if isinstance(argument, ast.GeneratorExp | ast.ListComp):
        return is_tensor_test(argument.elt, scope)
    return scope.value(argument).is_tensor


def split_static(test: ast.expr, scope: Scope) -> tuple[list[ast.expr], list[ast.expr]]:
    """The conjuncts of a condition that Dynamo evaluates when it traces, and those that are tensors.

    A fixed conjunct that stands behind a tensor is evaluated before it after the rewrite: see `order_kept`.
    """
    parts = conjuncts(test)
    fixed = [c for c in parts if not is_tensor_test(c, scope)]
    return fixed, [c for c in parts if is_tensor_test(c, scope)]


# Not what shapes decide: a check of shapes must come before what fails on other shapes.
TENSOR_OR_FIXED = frozenset({Kind.TENSOR, Kind.STATIC})


def perhaps_bool(test: ast.expr, scope: Scope) -> bool:
    """Whether a truth is a tensor in some calls and a Python bool in others, of which `~` makes a number."""
    fixed = scope.value(test).kinds == TENSOR_OR_FIXED
    return fixed or (isinstance(test, ast.Compare) and _compares_numbers(test, scope))


def _compares_numbers(test: ast.Compare, scope: Scope) -> bool:
    """Whether no tensor is compared in some calls: a parameter is one as its annotation or a caller has it, or none."""
    sides = [side for side in (test.left, *test.comparators) if scope.value(side).may_be(Kind.TENSOR)]
    named = (isinstance(side, ast.Name) and side.id in scope.facts.hinted for side in sides)
    return bool(sides) and all(hint or not scope.value(s).is_tensor for s, hint in zip(sides, named, strict=True))

"""What runs in each call, and what only where a setting, an optional argument or a size says so.

A break on the way that each call takes is met by whoever compiles the model. One behind `if self.use_cache:` is met by
those who set that, and often by nobody. So the former are told first. A default says what a call does that says
nothing: `if return_dict:` is on the way where `return_dict=True` stands in the signature. What works on arrays in a
file without torch is the host's, and whoever compiles the model leaves it outside; and a module that none of a
project's programs makes is left from before, or waits for somebody.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from compilefix.analysis.given_constants import defaults
from compilefix.analysis.used_by import is_made_by_no_one
from compilefix.analysis.values import Kind
from compilefix.codemods.unpassed import is_given
from compilefix.source.definitions import Function
from compilefix.source.syntax import asks_for_none
from compilefix.source.tree import walk

if TYPE_CHECKING:
    from compilefix.codemods.rule import Scope

_OF_DATA = (Kind.TENSOR, Kind.NUMBER)
_LEAVES = (ast.Return, ast.Raise)
_COUNTS = frozenset({"len", "Tensor.numel", "Tensor.size", "torch.numel"})
_COMPARED: Mapping[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Eq: lambda left, right: left == right,
    ast.NotEq: lambda left, right: left != right,
    ast.Is: lambda left, right: left is right,
    ast.IsNot: lambda left, right: left is not right,
    ast.In: lambda left, right: left in right,
    ast.NotIn: lambda left, right: left not in right,
}
_NOT_KNOWN = object()


def runs_in_each_call(node: ast.AST, scope: Scope) -> bool:
    """Whether each call of what is compiled gets to a node, as far as settings and arguments decide."""
    module = scope.function.module
    if ("numpy" in module.packages and not module.mentions("torch")) or not _is_made(scope):
        return False
    # `if self.until is not None and self.count >= self.until:` asks no tensor where `until=None` is the default.
    test = getattr(node, "test", node)
    if isinstance(test, ast.BoolOp) and _by_default(test, scope) is not None:
        return False
    return _is_on_the_way(node, scope) and scope.is_called_each_time


def _is_made(scope: Scope) -> bool:
    """Whether what is compiled is no module, or one of which somebody may make objects."""
    cls = (*scope.compiled.way, scope.function)[0].cls
    if cls is None or scope.compiled.from_compile_call:
        return True
    return not is_made_by_no_one(cls, scope.legality.inference.project)


def is_called_each_time(scope: Scope) -> bool:
    """Whether each call of what is compiled gets to the function, by one of the calls that each on the way makes."""
    function = scope.function
    for caller in reversed(scope.compiled.callers):
        if caller.module is not function.module:
            return True  # to look into other files costs more memory than the order of findings is worth
        calls = scope.legality.inference.facts(caller).calls
        leading = [node for node, callee in calls.items() if callee is function]
        seen = scope.in_function(caller)
        inside = [node for node in leading if node in seen.parents]
        if inside and not any(_is_on_the_way(node, seen) for node in inside):
            return False
        function = caller
    return True


def _is_on_the_way(node: ast.AST, scope: Scope) -> bool:
    child = node
    for around in scope.ancestors(node):
        if isinstance(around, ast.If | ast.IfExp) and child is not around.test:
            body = around.body if isinstance(around.body, list) else [around.body]
            if not _is_usual(around.test, child in body, scope):
                return False
        elif isinstance(around, ast.BoolOp):
            before = around.values[: around.values.index(child)] if child in around.values else []
            if not all(_is_usual(part, isinstance(around.op, ast.And), scope) for part in before):
                return False
        elif isinstance(around, ast.match_case):
            return False
        elif isinstance(around, ast.comprehension) and child in around.ifs:
            pass
        elif isinstance(around, ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp):
            tests = [test for part in around.generators for test in part.ifs if child is not part]
            if not all(_is_usual(test, True, scope) for test in tests):
                return False
        if isinstance(child, ast.stmt) and not all(_goes_on(one, scope) for one in _before(child, scope)):
            return False
        child = around
    return True


def _before(statement: ast.stmt, scope: Scope) -> Iterator[ast.If]:
    """The branches above a statement, in its block, that leave the function."""
    for other in scope.block(statement):
        if other is statement:
            return
        if isinstance(other, ast.If) and not other.orelse and isinstance(other.body[-1], _LEAVES):
            yield other


def _goes_on(way_out: ast.If, scope: Scope) -> bool:
    """Whether a call gets beyond a way out: it does unless it takes that by default."""
    return _by_default(way_out.test, scope) is not True


def _is_usual(test: ast.expr, truth: bool, scope: Scope) -> bool:
    """Whether a test may well say so in a call that says nothing special: the data decide, or the defaults say so."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _is_usual(test.operand, not truth, scope)
    if isinstance(test, ast.BoolOp):
        needed = all if isinstance(test.op, ast.And) == truth else any
        return needed(_is_usual(part, truth, scope) for part in test.values)
    known = _by_default(test, scope)
    if known is not None:
        return known == truth
    if asks_for_none(test) and isinstance(test, ast.Compare):
        there = isinstance(test.ops[0], ast.IsNot) == truth
        name = test.left.id if isinstance(test.left, ast.Name) else None
        if name in {p.arg for p in scope.function.parameters} and name not in defaults(scope.function):
            return there
        return there and _is_of_data(test.left, scope)
    counted = _asks_for_some(test, scope)
    if counted is not None:
        return counted == truth
    return any(_is_of_data(part, scope) for part in walk(test) if isinstance(part, ast.expr))


def _is_of_data(node: ast.expr, scope: Scope) -> bool:
    """Whether data, the mode or the turn of a loop decide what something is."""
    if isinstance(node, ast.Attribute) and node.attr == "training":
        return True
    if isinstance(node, ast.Name) and any(_is_counter(store, scope) for store in scope.names(node.id, stores=True)):
        return True
    around = scope.parents.get(node)
    # `x.shape`, `x.is_cuda`, `x.any()`: what is asked of it says more.
    if isinstance(around, ast.Attribute) or isinstance(node, ast.Constant):
        return False
    value = scope.value(node)
    return not value.is_unknown and any(map(value.may_be, _OF_DATA))


def _is_counter(store: ast.Name, scope: Scope) -> bool:
    """Whether a name is given by a loop."""
    child: ast.AST = store
    for around in scope.ancestors(store):
        if isinstance(around, ast.For | ast.comprehension):
            return child is around.target
        if isinstance(around, ast.stmt):
            return False
        child = around
    return False


def _asks_for_some(test: ast.expr, scope: Scope) -> bool | None:
    """Whether a test asks for something, or for nothing, where it compares a count with 0: `keep.numel() > 0`."""
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return None
    right = test.comparators[0]
    zero = isinstance(right, ast.Constant) and right.value == 0
    counts = isinstance(test.left, ast.Call) and (scope.callee(test.left) or "") in _COUNTS
    counts = counts or (isinstance(test.left, ast.Attribute | ast.Subscript) and scope.value(test.left).is_(Kind.SIZE))
    if not zero or not counts:
        return None
    return True if isinstance(test.ops[0], ast.Gt | ast.NotEq) else False if isinstance(test.ops[0], ast.Eq) else None


def _by_default(test: ast.expr, scope: Scope) -> bool | None:
    """What a test says where all arguments have their defaults, None where these do not tell.

    What a call that is seen gives instead of None counts as given.
    """
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        known = _by_default(test.operand, scope)
        return None if known is None else not known
    if isinstance(test, ast.BoolOp):
        sides = {_by_default(part, scope) for part in test.values}
        decides = isinstance(test.op, ast.Or)
        return decides if decides in sides else None if None in sides else not decides
    if isinstance(test, ast.Compare) and len(test.ops) == 1:
        asked = test.left.id if isinstance(test.left, ast.Name) and asks_for_none(test) else None
        if asked is not None and is_given(asked, scope, elsewhere=False):
            return isinstance(test.ops[0], ast.IsNot)
        left, right = _default(test.left, scope), _default(test.comparators[0], scope)
        compare = _COMPARED.get(type(test.ops[0]))
        if compare is None or left is _NOT_KNOWN or right is _NOT_KNOWN:
            return None
        try:
            return bool(compare(left, right))
        except TypeError:
            return None
    known_value = _default(test, scope)
    return None if known_value is _NOT_KNOWN else bool(known_value)


def _default(node: ast.expr, scope: Scope) -> object:
    """The literal that something is by default: an argument, or what `__init__` alone keeps of one."""
    if isinstance(node, ast.Name):
        own = defaults(scope.function)
        return _NOT_KNOWN if scope.names(node.id, stores=True) else _literal(own.get(node.id))
    cls = scope.function.cls
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name) or cls is None:
        return _literal(node)
    if not scope.function.parameters or node.value.id != scope.function.parameters[0].arg:
        return _NOT_KNOWN
    return _kept(node.attr, tuple(cls.methods.values()))


def _kept(attribute: str, methods: tuple[Function, ...]) -> object:
    """The literal that methods give an attribute, or the default of what `__init__` gives it."""
    given = [
        (method, value)
        for method in methods
        for assign in method.of(ast.Assign)
        for target in assign.targets
        for part, value in _given(target, assign.value)
        if isinstance(part, ast.Attribute) and part.attr == attribute
    ]
    if len(given) != 1 or given[0][0].node.name != "__init__":
        return _NOT_KNOWN
    init, value = given[0]
    return _literal(defaults(init).get(value.id) if isinstance(value, ast.Name) else value)


def _given(target: ast.expr, value: ast.expr) -> Iterator[tuple[ast.expr, ast.expr]]:
    """What each target is given: `self.a, self.b = a, b` gives two."""
    together = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple) and len(target.elts) == len(value.elts)
    if together and isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        yield from zip(target.elts, value.elts, strict=True)
    else:
        yield target, value


def _literal(node: ast.expr | None) -> object:
    try:
        return _NOT_KNOWN if node is None else ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return _NOT_KNOWN

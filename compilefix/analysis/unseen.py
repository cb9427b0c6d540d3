"""Which effects inside a called function its caller does not see, or not on every call."""

from __future__ import annotations

import ast
from collections.abc import Container

from compilefix.analysis import torch_api
from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.values import Kind
from compilefix.analysis.walk import CHANGES
from compilefix.source.project import Project

_MAKERS = frozenset({"list", "dict", "set"})
_OF_SETS = frozenset({"add", "discard", "popitem", "appendleft", "popleft"})
_SAYS = ("logging.", "loguru.", "warnings.warn")
_FUNCTIONS = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})


def writes_own_memory(node: ast.AST, facts: FunctionFacts, project: Project) -> bool:
    """Whether a write is into a tensor, array or list that the function made itself, or into its gradient's context.

    A nested function is not asked: what it finds in the functions round it is not its own.
    """
    if facts.function.parent is not None:
        return False
    if isinstance(node, ast.Attribute):
        return _is_context(node.value, facts, project)
    if isinstance(node, ast.AugAssign) and _begins_with_number(node.target, facts):
        return True
    owner = _written(node, facts)
    if owner is None:
        return False
    # `found[0] += x` may write into what the list holds, which somebody else may have made.
    return is_own(owner, facts) or (isinstance(node, ast.Subscript) and _names_own_container(owner, facts))


def _names_own_container(owner: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a name is given nothing but lists, dicts and sets that the function makes, whatever they hold.

    To keep such a container elsewhere, or to hand it on before the function ends, is an effect of its own.
    """
    function = facts.function
    if not isinstance(owner, ast.Name) or any(owner.id == parameter.arg for parameter in function.parameters):
        return False
    elsewhere: list[ast.Global | ast.Nonlocal] = [*function.of(ast.Global), *function.of(ast.Nonlocal)]
    if any(owner.id in node.names for node in elsewhere):
        return False
    stores = function.stores.get(owner.id, [])
    made = [n.value for n in function.of(ast.Assign) if len(n.targets) == 1 and n.targets[0] in stores]
    made += [n.value for n in function.of(ast.AnnAssign) if n.value is not None and n.target in stores]
    return bool(made) and len(made) == len(stores) and all(_makes_container(value, facts) for value in made)


def _makes_container(node: ast.expr, facts: FunctionFacts) -> bool:
    called = isinstance(node, ast.Call) and facts.callee(node) in _MAKERS
    return called or isinstance(node, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)


def _begins_with_number(target: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a name is a sum that begins with a constant number: `total = 0` and `total += x` are all it is given.

    What is added first makes a new object, and what is added later is written into that one.
    """
    function = facts.function
    if not isinstance(target, ast.Name) or any(target.id == parameter.arg for parameter in function.parameters):
        return False
    elsewhere: list[ast.Global | ast.Nonlocal] = [*function.of(ast.Global), *function.of(ast.Nonlocal)]
    if any(target.id in node.names for node in elsewhere):
        return False
    stores = function.stores.get(target.id, [])
    begun = [n.value for n in function.of(ast.Assign) if len(n.targets) == 1 and n.targets[0] in stores]
    added = sum(n.target in stores for n in function.of(ast.AugAssign))
    numbers = all(isinstance(value, ast.Constant) and isinstance(value.value, int | float) for value in begun)
    return bool(begun) and numbers and len(begun) + added == len(stores)


def changes_container(node: ast.Call, facts: FunctionFacts) -> bool:
    """Whether a call is `found.append(x)` or the like. What has such a method and is not known is taken for a list."""
    if not isinstance(node.func, ast.Attribute) or node in facts.calls:
        return False
    changed = facts.value(node.func.value)
    if changed.is_(Kind.CONTAINER):
        return node.func.attr in CHANGES or node.func.attr in _OF_SETS
    plain = changed.is_(Kind.TENSOR, Kind.NDARRAY, Kind.STATIC, Kind.SIZE, Kind.NUMBER, Kind.NONE)
    return not plain and node.func.attr in CHANGES and torch_api.method(node.func.attr) is None


def changes_own_list(node: ast.Call, facts: FunctionFacts) -> bool:
    """Whether a call changes a list, a dict or a set that the function made itself."""
    changed = node.func.value if isinstance(node.func, ast.Attribute) else node
    if facts.function.parent is not None or not changes_container(node, facts):
        return False
    return is_own(changed, facts) or _names_own_container(changed, facts)


def is_own(owner: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a tensor, array or container holds memory that the function made itself, and no other."""
    value = facts.value(owner)
    made_here = f"{facts.function.qualname}@"  # an item of a list that `__init__` has made is not
    held = value.is_tensor or value.is_(Kind.CONTAINER, Kind.NDARRAY)
    return held and bool(value.storage) and all(t.startswith(made_here) for t in value.storage)


def _written(node: ast.AST, facts: FunctionFacts) -> ast.expr | None:
    """The only tensor that a node writes into."""
    if isinstance(node, ast.AugAssign):
        return node.target.value if isinstance(node.target, ast.Subscript) else node.target
    if isinstance(node, ast.Subscript):
        return node.value
    if not isinstance(node, ast.Call) or node in facts.calls or facts.value(node.func).may_be(Kind.OBJECT):
        return None
    name = facts.callee(node) or ""
    out = next((k.value for k in node.keywords if k.arg == "out"), None)
    if out is not None:
        return out
    method = name.startswith("Tensor.")
    api = torch_api.method(name.removeprefix("Tensor.")) if method else torch_api.function(name)
    if api is None or api.mutates_training:
        return None
    if method:
        return node.func.value if isinstance(node.func, ast.Attribute) else None
    return node.args[0] if node.args else None


def _is_context(owner: ast.expr, facts: FunctionFacts, project: Project) -> bool:
    """Whether attributes of a name are those of `ctx` in a `torch.autograd.Function`."""
    function = facts.function
    if function.cls is None or not function.is_static or not function.parameters:
        return False
    ancestors = project.ancestors(function.cls)
    named = isinstance(owner, ast.Name) and owner.id == function.parameters[0].arg
    return named and any(isinstance(base, str) and base in _FUNCTIONS for base in ancestors)


def said_sometimes(node: ast.Call, facts: FunctionFacts, decided: Container[ast.AST] = ()) -> bool:
    """Whether a call prints, logs or warns, and stands under a condition, or in a function that is run once only.

    decided: conditions that are known to hold.
    """
    name = facts.callee(node) or ""
    noted = isinstance(node.func, ast.Name) and node.func.id == "emit"
    if node in facts.calls or not (name == "print" or name.startswith(_SAYS) or noted):
        return False
    if facts.function.is_memoized:
        return True
    tests = [test for test in facts.function.of(ast.If) if test not in decided]
    ways = [way for test in tests for way in (test.body, test.orelse) if way]
    return any(way[0].lineno <= node.lineno <= (way[-1].end_lineno or 0) for way in ways)

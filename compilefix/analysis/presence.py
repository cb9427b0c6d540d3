"""What is there only where a test was true: an element of a selection, an attribute that some runs assign.

Code behind `if mask.any():` takes the first selected element, or an attribute that was assigned behind the same test.
Evaluated always, it fails exactly where the test was there to keep it from running.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from compilefix.analysis.infer import FunctionFacts, Inference
from compilefix.analysis.live_code import live_nodes
from compilefix.analysis.values import Kind
from compilefix.source.definitions import Class, Function
from compilefix.source.snippets import snippet

_SELECTS = frozenset({"nonzero", "argwhere", "masked_select", "where"})
"""With one tensor they give as many elements as are true; `unique` of something is never empty."""
_SAME_LENGTH = frozenset(
    {"flatten", "ravel", "squeeze", "long", "int", "float", "double", "to", "cpu", "clone", "detach", "tolist"}
)
_OF_SOMETHING = frozenset({"max", "min", "amax", "amin", "argmax", "argmin", "aminmax"})
_PLAIN_BASES = frozenset({"object", "torch.nn.Module", "torch.autograd.Function", "torch.autograd.function.Function"})


def absences(node: ast.expr, facts: FunctionFacts, inference: Inference) -> Iterator[str]:
    """What an expression takes that is not there where a test on a tensor was false, in words."""
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and isinstance(part.ctx, ast.Load):
            if _is_position(part.slice) and _is_selection(part.value, facts):
                yield f"`{snippet(part)}` is not there where nothing is selected"
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            if part.func.attr in _OF_SOMETHING and _is_selection(part.func.value, facts):
                yield f"`{snippet(part)}` fails where nothing is selected"
        elif isinstance(part, ast.Attribute) and isinstance(part.ctx, ast.Load) and isinstance(part.value, ast.Name):
            function = facts.function
            if function.cls is not None and part.value.id == _first(function):
                place = _assigned_on_some_runs(part.attr, function.cls, inference)
                if place is not None:
                    yield f"`{snippet(part)}` is assigned only where `{snippet(place)}` holds"


def _is_position(index: ast.expr) -> bool:
    """Whether an index asks for one element of the first dimension: `0`, `-1`, `(0, ...)`."""
    if isinstance(index, ast.Tuple):
        return bool(index.elts) and _is_position(index.elts[0])
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.USub):
        index = index.operand
    return isinstance(index, ast.Constant) and type(index.value) is int


def _is_selection(node: ast.expr, facts: FunctionFacts, seen: frozenset[str] = frozenset()) -> bool:
    """Whether an expression gives a tensor, or list, with as many items as a mask has true elements."""
    if isinstance(node, ast.Name):
        source = None if node.id in seen else only_source(node.id, facts)
        return source is not None and _is_selection(source, facts, seen | {node.id})
    if isinstance(node, ast.Subscript):
        mask = facts.value(node.slice)
        if mask.is_tensor:
            return mask.dtype == "bool" and mask.rank != 0
        return _is_position(node.slice) and _are_indices(node.value, facts)
    if not isinstance(node, ast.Call):
        return False
    bare = (facts.callee(node) or "").rpartition(".")[2]
    if isinstance(node.func, ast.Attribute) and (
        (node.func.attr in _SAME_LENGTH and not (node.func.attr == "flatten" and node.args))
        or (node.func.attr in ("view", "reshape") and [ast.unparse(a) for a in node.args] == ["-1"])
    ):
        return _is_selection(node.func.value, facts, seen)
    return bare in _SELECTS - {"where"} and facts.value(node).is_tensor


def _are_indices(node: ast.expr, facts: FunctionFacts) -> bool:
    """Whether an expression gives a tuple with the indices of what is true: `torch.where(mask)`."""
    if isinstance(node, ast.Name):
        source = only_source(node.id, facts)
        return source is not None and not isinstance(source, ast.Name) and _are_indices(source, facts)
    if not isinstance(node, ast.Call) or not facts.value(node).is_(Kind.CONTAINER):
        return False
    name = facts.callee(node) or ""
    return name.startswith(("torch.", "Tensor.")) and name.rpartition(".")[2] in _SELECTS


def only_source(name: str, facts: FunctionFacts) -> ast.expr | None:
    """What a local name is assigned, where that is one expression."""
    if len(facts.function.stores.get(name, ())) != 1:
        return None
    return next(
        (
            n.value
            for n in live_nodes(facts)
            if isinstance(n, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in n.targets)
        ),
        None,
    )


def _first(function: Function) -> str | None:
    """The first parameter of a method: `self`, or the context of an autograd function."""
    arguments = function.node.args
    return next((a.arg for a in (*arguments.posonlyargs, *arguments.args)), None)


def _assigned_on_some_runs(name: str, cls: Class, inference: Inference) -> ast.expr | None:
    """A test on a tensor behind which alone the methods of a class assign an attribute; None where it may exist."""
    if not set(cls.bases) <= _PLAIN_BASES or len(cls.bases) != len(cls.node.bases):
        return None
    if any(isinstance(n, ast.Constant) and n.value == name for n in ast.walk(cls.node)) or name in cls.methods:
        return None  # `hasattr`, `setattr` or `register_buffer` speak of it
    test = None
    for method in cls.methods.values():
        owner = _first(method)
        stores = [
            n
            for n in method.of(ast.Attribute)
            if n.attr == name and not isinstance(n.ctx, ast.Load) and isinstance(n.value, ast.Name)
        ]
        if not stores:
            continue
        if any(isinstance(n.value, ast.Name) and n.value.id != owner for n in stores):
            return None
        found = _behind(stores, method.node.body, inference.facts(method))
        if found is None:
            return None
        test = found
    return test


def _behind(stores: Sequence[ast.AST], body: Sequence[ast.stmt], facts: FunctionFacts) -> ast.expr | None:
    """The test of the `if` on a tensor in whose first arm all of these stand; None where they stand elsewhere too."""
    for statement in body:
        inside = set(ast.walk(statement))
        if not any(s in inside for s in stores):
            continue
        if isinstance(statement, ast.If):
            arm = {n for s in statement.body for n in ast.walk(s)}
            value = facts.value(statement.test)
            if all(s in arm for s in stores) and (value.is_tensor or value.is_(Kind.NUMBER)):
                return statement.test
            if all(s in arm for s in stores):
                return _behind(stores, statement.body, facts)
        return None
    return None

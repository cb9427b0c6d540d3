"""Functions of the project that treat each row of what they are given by itself.

A function that was given the rows that a mask selects may then be given all rows. It is read down to the operations of
torch: each must treat elements by themselves, or go along the last dimension. A row that a mask selects is one number
or more, so that no other dimension has the same place in both calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from compilefix.analysis import torch_api
from compilefix.analysis.given_constants import constants_of, left_out
from compilefix.analysis.in_place import OUTSIDE
from compilefix.analysis.infer import FunctionFacts, Inference
from compilefix.analysis.live_code import live_nodes
from compilefix.analysis.values import Kind
from compilefix.codemods.dynamic_shapes.row_layers import row_layer
from compilefix.codemods.dynamic_shapes.row_operations import along_last
from compilefix.source.definitions import Function
from compilefix.source.snippets import snippet
from compilefix.source.syntax import unpacks
from compilefix.source.tree import elements_of, names_in

_DEPTH = 4
_ASKED = frozenset(
    {
        *("isinstance", "hasattr", "torch.is_tensor", "type", "torch.is_floating_point", "torch.finfo"),
        *("Tensor.is_floating_point", "Tensor.is_complex", "torch.is_complex"),
    }
)
_NUMBERS = frozenset({"range", "float", "int", "bool", "min", "max", "abs", "round", "pow", "str", "list", "tuple"})
_CHECKS = frozenset({"_check", "_check_with", "_check_tensor_all", "_assert", "torch_compilable_check"})
_CONTEXTS = frozenset({"torch.no_grad", "torch.enable_grad", "torch.autocast", "torch.amp.autocast"})
_LAYERS = ("torch.nn.ModuleList", "torch.nn.Sequential")
_ROW_MODULES = ("Linear", "LayerNorm", "RMSNorm", "Embedding", "Identity")


@dataclass(frozen=True)
class RowFunction:
    """What reading a function showed.

    broken: why it may not be given all rows. checks: whether it raises for some values. checked: the parameters that
    such a test names. by_arguments: whether such tests ask for nothing but parameters, as they were given. written:
    the parameters whose memory it writes into.
    """

    broken: str | None = None
    checks: bool = False
    checked: frozenset[str] = frozenset()
    written: frozenset[str] = frozenset()
    by_arguments: bool = False


def read(function: Function, inference: Inference, call: ast.Call, depth: int = 0) -> RowFunction:
    """Whether a function treats each row by itself in a call."""
    if depth > _DEPTH:
        return RowFunction(f"`{function.qualname}` calls too many functions to be looked at")
    if function.node.args.vararg is not None or function.node.args.kwarg is not None:
        return RowFunction(f"`{function.qualname}` takes any number of arguments")
    facts = inference.facts(function)
    unused = left_out(function, constants_of(call, function))
    tests = [test for test in _checks(facts) if test not in unused]
    seen = {n for test in tests for n in ast.walk(test)} | _other_nodes(facts) | unused
    checks = any(facts.value(test).may_be(Kind.TENSOR) for test in tests)
    named = names_in(*tests)
    written: set[str] = set()
    by_arguments = True
    for node in live_nodes(facts):
        if node in seen:
            continue
        if isinstance(node, ast.Call) and node in facts.calls:
            inner = read(facts.calls[node], inference, node, depth + 1)
            checks = checks or inner.checks
            by_arguments = by_arguments and (inner.by_arguments or not inner.checks)
            if inner.broken is not None:
                return RowFunction(inner.broken)
            for name, argument in given(node, facts.calls[node]).items():
                if name in inner.written:
                    written |= set(facts.value(argument).storage)
                if name in inner.checked:
                    named |= names_in(argument)
            continue
        reason = _reason(node, facts)
        if reason is not None:
            return RowFunction(f"`{function.qualname}`, line {getattr(node, 'lineno', 0)}: {reason}")
        target = _written(node, facts)
        if target is not None:
            written |= set(facts.value(target).storage)
    outside = {token for token in written if token.startswith(OUTSIDE)}
    parameters = [a.arg for a in function.parameters]
    names = frozenset(name for name in parameters if f"param:{name}" in outside)
    if len(names) < len(outside):
        return RowFunction(f"`{function.qualname}` writes into memory that is seen outside of it")
    bound = {n.id for n in function.nodes if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}
    by_arguments = by_arguments and not named & bound
    return RowFunction(None, checks, frozenset(named) & frozenset(parameters), names, by_arguments)


def given(call: ast.Call, callee: Function) -> Mapping[str, ast.expr]:
    """The arguments of a call, by the names of the parameters."""
    names = [a.arg for a in callee.parameters]
    bound = callee.cls is not None and isinstance(call.func, ast.Attribute) and names[:1] == ["self"]
    positional = dict(zip(names[1:] if bound else names, call.args, strict=False))
    return positional | {k.arg: k.value for k in call.keywords if k.arg is not None}


def _checks(facts: FunctionFacts) -> Iterator[ast.expr]:
    """The tests that do nothing but raise where they hold, or do not."""
    for node in live_nodes(facts):
        raises = isinstance(node, ast.If) and not node.orelse and all(isinstance(s, ast.Raise) for s in node.body)
        if isinstance(node, ast.If | ast.Assert) and (raises or isinstance(node, ast.Assert)):
            yield node.test
        called = node.value if isinstance(node, ast.Expr) else None
        if isinstance(called, ast.Call) and called.args:
            name = facts.callee(called) or ast.unparse(called.func)
            if name.rpartition(".")[2] in _CHECKS:
                yield called.args[0]


def _other_nodes(facts: FunctionFacts) -> set[ast.AST]:
    """What runs only where the function raises, and targets that a mask of the function itself gives one number."""
    found: set[ast.AST] = set()
    tests = list(_checks(facts))
    for node in live_nodes(facts):
        if isinstance(node, ast.Raise | ast.Assert):
            found |= set(ast.walk(node))
        elif isinstance(node, ast.If) and node.test in tests:
            found.add(node)
        elif isinstance(node, ast.Call) and node.args and node.args[0] in tests:
            found |= set(ast.walk(node))
        elif isinstance(node, ast.Assign) and facts.value(node.value).is_(Kind.STATIC, Kind.SIZE):
            masked = (t for t in node.targets if isinstance(t, ast.Subscript))
            found |= {t for t in masked if facts.value(t.slice).is_tensor and facts.value(t.slice).dtype == "bool"}
    return found


def _written(node: ast.AST, facts: FunctionFacts) -> ast.expr | None:
    """The tensor that a node writes into."""
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return node.target if facts.value(node.target).may_be(Kind.TENSOR) else None
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store):
        return node.value
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        api = torch_api.method(node.func.attr) if (facts.callee(node) or "").startswith("Tensor.") else None
        return node.func.value if api is not None and api.mutates else None
    return None


def _reason(node: ast.AST, facts: FunctionFacts) -> str | None:
    """Why a node is not known to treat each row by itself; None where it does, or has nothing to do with rows."""
    if isinstance(node, ast.Call):
        return _call(node, facts)
    if isinstance(node, ast.Subscript):
        return _index(node, facts)
    if isinstance(node, ast.Attribute):
        if isinstance(node.ctx, ast.Store):
            return f"it stores `{snippet(node)}`"
        if node.attr in ("T", "mT", "H", "mH", "ndim") and facts.value(node.value).may_be(Kind.TENSOR):
            return f"`{snippet(node)}` depends on the number of dimensions"
    elif isinstance(node, ast.If | ast.IfExp | ast.While | ast.comprehension):
        tests = node.ifs if isinstance(node, ast.comprehension) else [node.test]
        if any(facts.value(test).may_be(Kind.TENSOR) and not _asks_type(test, facts) for test in tests):
            return "values of all rows decide together what it does"
    elif isinstance(node, ast.BinOp | ast.AugAssign):
        return f"`{snippet(node)}` mixes rows" if isinstance(node.op, ast.MatMult) else None
    elif isinstance(node, ast.BoolOp | ast.Starred):
        parts = node.values if isinstance(node, ast.BoolOp) else [node.value]
        if any(facts.value(p).is_tensor for p in parts):
            return f"`{snippet(node)}` is not known to treat each row by itself"
    elif isinstance(
        node,
        ast.Global
        | ast.Nonlocal
        | ast.Yield
        | ast.YieldFrom
        | ast.Await
        | ast.Lambda
        | ast.FunctionDef
        | ast.Delete
        | ast.Try
        | ast.NamedExpr,
    ):
        return f"`{snippet(node)}` is not looked into"
    if isinstance(node, ast.With):
        around = (i.context_expr for i in node.items if i.optional_vars is None)
        known = [facts.callee(c) in _CONTEXTS for c in around if isinstance(c, ast.Call)]
        return None if len(known) == len(node.items) and all(known) else f"`{snippet(node)}` is not looked into"
    if isinstance(node, ast.For | ast.comprehension) and not _fixed(node.iter, facts):
        return f"it goes through `{snippet(node.iter)}`"
    return None


def _asks_type(test: ast.expr, facts: FunctionFacts) -> bool:
    """Whether a test asks what something is, or is an argument that is no tensor: `is None`, `isinstance`, a flag."""
    if isinstance(test, ast.BoolOp):
        return all(_asks_type(part, facts) for part in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return _asks_type(test.operand, facts)
    if isinstance(test, ast.Compare):
        return all(isinstance(op, ast.Is | ast.IsNot) for op in test.ops) or (
            len(test.ops) == 1
            and isinstance(test.comparators[0], ast.Constant)
            and isinstance(test.comparators[0].value, str)
        )
    if isinstance(test, ast.Call):
        return facts.callee(test) in _ASKED
    # Rows, which are a tensor, would be refused here: a name of which nothing is known is a flag, or one number.
    return not facts.value(test).is_tensor if isinstance(test, ast.Name) else not facts.value(test).may_be(Kind.TENSOR)


def _fixed(iterated: ast.expr, facts: FunctionFacts) -> bool:
    value = facts.value(iterated)
    if value.is_static or (value.is_(Kind.CONTAINER) and value.element is not None and value.element.is_static):
        return True
    return value.ref in _LAYERS or (isinstance(iterated, ast.Call) and facts.callee(iterated) == "range")


def _index(node: ast.Subscript, facts: FunctionFacts) -> str | None:
    base = facts.value(node.value)
    if not base.may_be(Kind.TENSOR) and not isinstance(node.ctx, ast.Store):
        position = facts.value(node.slice).const
        first = base.ref == "torch.Size" and (position is None or not _behind(position.value))
        cut = isinstance(node.slice, ast.Slice) and ast.unparse(node.slice) == ":-1"
        return f"`{snippet(node)}` is not the size of a row" if first and not cut else None
    parts = elements_of(node.slice)
    if isinstance(parts[0], ast.Constant) and parts[0].value is Ellipsis:
        rest = [facts.value(p) for p in parts[1:] if not isinstance(p, ast.Slice)]
        if all(value.is_static for value in rest):
            return None
    return f"`{snippet(node)}` is not an index into each row"


def _behind(position: object) -> bool:
    return isinstance(position, int) and position < 0


def _call(node: ast.Call, facts: FunctionFacts) -> str | None:
    name = facts.callee(node)
    unknown = f"`{snippet(node.func)}` is not known to treat each row by itself"
    if unpacks(node):
        return unknown
    if name in _ASKED or name in _CONTEXTS:
        return None
    asked = {n.value for n in ast.walk(node) if isinstance(n, ast.Attribute) and n.attr in ("dtype", "device")}
    if not any(isinstance(n, ast.Name) and n not in asked and _may_hold_rows(n, facts) for n in ast.walk(node)):
        api = torch_api.function(name) if name is not None else None
        known = name is not None and (
            (api is not None and not api.random and not api.host)
            or name in _NUMBERS
            or name == "len"
            or name.startswith(("math.", "numpy.", "Tensor."))
        )
        return None if known and ".random." not in (name or "") else unknown
    if name is None:
        return unknown
    method = name.startswith("Tensor.")
    short = name.rpartition(".")[2]
    if method and short == "size":
        const = facts.value(node.args[0]).const if len(node.args) == 1 else None
        whole = not node.args and not node.keywords
        return None if whole or (const is not None and _behind(const.value)) else f"`{snippet(node)}` counts rows"
    if method and short in ("to", "type", "type_as", "new_tensor", "contiguous"):
        return None
    if name in _NUMBERS:
        tensors = [a for a in node.args if facts.value(a).may_be(Kind.TENSOR)]
        return f"`{snippet(node)}` reads what it is given" if tensors else None
    if along_last(node, name, lambda part: facts.value(part).const):
        return None
    api = torch_api.method(short) if method else torch_api.function(name)
    if api is not None:
        drawn = api.random or api.random_training or api.host or api.dynamic
        out = any(k.arg in ("out", "inplace") for k in node.keywords)
        plain = api.pointwise and not drawn and not out and api.dynamic_form != "one_argument"
        three = short == "where" and len(node.args) == 3
        return None if plain or three else unknown
    module = torch_api.module(name)
    if module is not None and facts.value(node.func).is_(Kind.OBJECT):
        drawn = module.random or module.random_training or facts.value(node.func).inplace
        return None if (module.pointwise and not drawn) or short in _ROW_MODULES else unknown
    return None if row_layer(facts.value(node.func)) else unknown


def _may_hold_rows(node: ast.Name, facts: FunctionFacts) -> bool:
    value = facts.value(node)
    return value.may_be(Kind.TENSOR) and value.ref is None

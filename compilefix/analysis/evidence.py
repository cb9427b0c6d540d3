"""What the uses of a parameter say of it: that it is a tensor, that it is a floating one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cached_property

from compilefix.analysis import torch_api
from compilefix.analysis.docstrings import tensor_parameters
from compilefix.analysis.function_facts import FunctionFacts
from compilefix.analysis.values import Value, tensor
from compilefix.source.index import Function
from compilefix.source.tree import children, walk

# Methods that arrays have as well: of what compiled code is given, these say that it is a tensor.
_COMPUTES = frozenset(
    {"sum", "mean", "max", "min", "any", "all", "abs", "std", "var", "prod", "argmax", "argmin", "item", "norm", "amax"}
)


class Evidence:
    """What the uses of a parameter without annotation say of it: methods that only tensors have, arguments of torch."""

    def __init__(self, function: Function) -> None:
        self._function = function
        self._names: set[str] = set()
        self._proof: set[str] = set()
        self._hint: set[str] = set()
        method = function.cls is not None and function.parent is None and not function.is_static
        names = self._names = {a.arg for a in function.parameters[int(method) :] if a.annotation is None}
        if not names:
            return
        module = function.module
        tensors_only = torch_api.TENSOR_ONLY_METHODS  # looked up in a table
        for attribute in function.of(ast.Attribute):
            if isinstance(attribute.value, ast.Name) and attribute.value.id in names:
                if attribute.attr in tensors_only:
                    self._proof.add(attribute.value.id)
                elif attribute.attr in ("shape", "size", "device", "dtype"):
                    self._hint.add(attribute.value.id)
        for node in function.of(ast.Call):
            if node.args and isinstance(node.args[0], ast.Name) and node.args[0].id in names:
                called = module.qualified(node.func)
                if called is None or called in torch_api.NO_TENSOR_FIRST:
                    continue
                api = torch_api.function(called)
                if api is not None and api.dtype not in ("arg", "unknown") and api.returns == "Tensor":
                    self._proof.add(node.args[0].id)
                elif called.startswith("self.") and called.count(".") == 1 and function.node.name == "forward":
                    self._hint.add(node.args[0].id)
        if method and function.node.name == "forward":
            self._hint |= self.computes
        self._hint |= tensor_parameters(function) & names

    @cached_property
    def computes(self) -> frozenset[str]:
        """The parameters that are used as arrays are: `p.sum()`, `(p != 0).any()`, both in `x[p > 0]`, `p[:, 0]`."""
        if not self._names:
            return frozenset()
        masks = _Masks(self._function, self._names)
        found: set[str] = set()
        for method in self._function.of(ast.Attribute):
            if method.attr in _COMPUTES or method.attr in torch_api.TENSOR_ONLY_METHODS:
                found |= masks.computed(method.value)
        for part in self._function.of(ast.Subscript):
            selected = masks.compared(part.slice)
            if selected or _has_dimensions(part.slice):
                found |= selected | masks.computed(part.value)
        return frozenset(found)

    def of(self, name: str) -> Value | None:
        """A tensor, certain or not; None without evidence."""
        if name in self._proof:
            return tensor()
        if name in self._hint:
            return tensor(certain=False)
        return None


def _has_dimensions(index: ast.expr) -> bool:
    """Whether an index says something of several dimensions, as that of an array does: `x[:, 0]`, `x[..., None]`."""
    parts = index.elts if isinstance(index, ast.Tuple) else []
    return any(isinstance(part, ast.Slice) or ast.unparse(part) == "..." for part in parts)


class _Masks:
    """Which parameters an expression compares or computes with, directly or through a name of a comparison."""

    def __init__(self, function: Function, names: set[str]) -> None:
        self._names = names
        self._named: dict[str, frozenset[str]] = {}
        for node in function.of(ast.Assign):
            target = node.targets[0]
            if isinstance(target, ast.Name) and function.stores[target.id] == [target]:
                found = self.compared(node.value)
                if found:
                    self._named[target.id] = found

    def compared(self, node: ast.expr) -> frozenset[str]:
        """The parameters that a comparison compares; empty for what is none. Of two sides the first: `ids == end`."""
        if isinstance(node, ast.Name):
            return self._named.get(node.id, frozenset())
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
            return self.compared(node.operand)
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitAnd | ast.BitOr):
            return self.compared(node.left) | self.compared(node.right)
        if isinstance(node, ast.Compare) and not isinstance(node.ops[0], ast.In | ast.NotIn | ast.Is | ast.IsNot):
            return self.computed(node.left) or self.computed(node.comparators[0])
        return frozenset()

    def computed(self, node: ast.expr) -> frozenset[str]:
        """The parameter whose elements an expression computes with."""
        if isinstance(node, ast.Name) and node.id in self._names:
            return frozenset({node.id})
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub | ast.Mult | ast.Div | ast.Pow):
            return self.computed(node.left)
        return self.compared(node)


def float_parameters(facts: FunctionFacts) -> frozenset[str]:
    """Parameters of unknown dtype that are passed, on every run that ends normally, to what takes only floats.

    Between the start and that call the name may only have been given values that follow the parameter's own dtype, so
    that a tensor that is not floating would fail there.
    """
    function = facts.function
    parameters = {parameter.arg for parameter in function.parameters}
    calls = [
        (node, node.args[0].id)
        for node, _ in facts.float_only
        if node.args and isinstance(node.args[0], ast.Name) and node.args[0].id in parameters
    ]
    if not calls:
        return frozenset()
    found: set[str] = set()
    lines = [node.lineno for node, _ in calls]
    holding = [s for s in function.node.body if any(s.lineno <= line <= (s.end_lineno or line) for line in lines)]
    always = {n: statement.lineno for statement in holding for n in _unconditional(statement)}
    ends = [n.lineno for n in function.of(ast.Return)] + [n.lineno for n in function.of(ast.Yield)]
    for node, name in calls:
        if node not in always or any(line < node.lineno for line in ends):
            continue
        stores = [
            n
            for n in function.of(ast.Name)
            if n.id == name and isinstance(n.ctx, ast.Store) and n.lineno < always[node]
        ]
        if all(_follows(facts.value(s), name) for s in stores):
            found.add(name)
    return frozenset(found)


def _follows(value: Value, name: str) -> bool:
    return (
        value.is_tensor
        and value.dtype is None
        and bool(value.leaves)
        and not any(leaf.startswith("?") for leaf in value.leaves)
        and name in value.leaves
    )


def _unconditional(statement: ast.stmt) -> Iterator[ast.AST]:
    """Nodes that are evaluated whenever the statement is reached and nothing raises."""
    if isinstance(statement, ast.With):
        for item in statement.items:
            yield from walk(item)
        for inner in statement.body:
            yield from _unconditional(inner)
    elif isinstance(statement, ast.Assign | ast.AnnAssign | ast.AugAssign | ast.Expr | ast.Return):
        pending: list[ast.AST] = [statement]
        while pending:
            node = pending.pop()
            yield node
            if isinstance(node, ast.IfExp):
                pending.append(node.test)
            elif isinstance(node, ast.BoolOp):
                pending.append(node.values[0])
            elif not isinstance(node, ast.Lambda | ast.ListComp | ast.GeneratorExp | ast.SetComp | ast.DictComp):
                pending.extend(children(node))

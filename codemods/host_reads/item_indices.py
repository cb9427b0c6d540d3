"""Items of a tensor that have a name and are indices: with `capture_scalar_outputs` inductor fails on most of them.

`x[:, i]` breaks the graph where `i` has no dimension. With the flag inductor of torch 2.13 fails where such an index
comes by a name: two of them (`i, j = order`), one that is read at twice, an argument of a function that is called, an
item of a list, a name of a comprehension or lambda (GuardOnDataDependentSymNode; run on a CPU). It compiles what is
read where it stands (`x[:, order[0]]`), and one name that is read at once, which is not told apart here. Where `order`
has more dimensions its items are no numbers, and all is well with the flag and without.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from compilefix.analysis.summaries import filled
from compilefix.analysis.values import Kind
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function
from compilefix.source.tree import elements_of, parents

_IN_TURN = frozenset({"enumerate", "zip", "list", "tuple", "iter", "reversed", "unbind"})


def item_indices(region: Sequence[Scope]) -> Iterator[tuple[ast.Subscript, Scope]]:
    """The places in compiled code that read a tensor, or write, by an item of another one that may be a number."""
    items = _Items(region)
    for scope in region:
        for place in scope.of(ast.Subscript):
            named = [part for part in elements_of(place.slice) if _has_a_name(part, scope)]
            if not named or not scope.value(place.value).is_tensor:
                continue
            if any(_may_be_integer(part, scope) and items.has(part, scope) for part in named):
                yield place, scope


def _has_a_name(part: ast.expr, scope: Scope) -> bool:
    """Whether an index is not read from a tensor, or computed, where it stands."""
    if isinstance(part, ast.Subscript):
        return scope.value(part.value).is_(Kind.CONTAINER)
    return isinstance(part, ast.Name | ast.NamedExpr)


def _may_be_integer(part: ast.expr, scope: Scope) -> bool:
    value = scope.value(part)
    fits = value.dtype in ("int", None) and value.rank in (None, 0)
    return fits and (value.may_be(Kind.TENSOR) or value.may_be(Kind.UNKNOWN))


@dataclass(frozen=True)
class _Items:
    """What in compiled code is an item of a tensor of perhaps one dimension. known: names that were asked for."""

    region: Sequence[Scope]
    known: dict[tuple[Function, str], bool] = field(default_factory=dict)

    def has(self, node: ast.expr, scope: Scope) -> bool:
        """Whether an expression is such an item, holds one, or is computed of one and numbers."""
        value = scope.value(node)
        if value.rank is not None:
            return value.rank == 0 and value.is_tensor
        if isinstance(node, ast.Name):
            return self._named(node.id, scope)
        if isinstance(node, ast.NamedExpr):
            return self.has(node.value, scope)
        if isinstance(node, ast.BinOp):
            return self.has(node.left, scope) or self.has(node.right, scope)
        if isinstance(node, ast.Tuple | ast.List):
            return any(self.has(part, scope) for part in node.elts)
        if isinstance(node, ast.Call):
            return not value.is_tensor and self._gives(node, scope)
        if not isinstance(node, ast.Subscript):
            return False
        if not scope.value(node.value).is_tensor:
            return self._gives(node.value, scope)
        place = scope.value(node.slice)
        number = place.is_(Kind.STATIC, Kind.SIZE) and place.dtype == "int"
        return number and scope.value(node.value).rank in (None, 1)

    def _gives(self, node: ast.expr, scope: Scope) -> bool:
        """Whether items come out of what is gone through, unpacked or picked from."""
        value = scope.value(node)
        if value.is_tensor:
            return value.rank in (None, 1) and value.dtype not in ("float", "bool")
        if isinstance(node, ast.Call):
            bare = (scope.callee(node) or ast.unparse(node.func)).rpartition(".")[2]
            own = [node.func.value] if isinstance(node.func, ast.Attribute) else []
            return bare in _IN_TURN and any(self._gives(part, scope) for part in [*own, *node.args])
        return self.has(node, scope)

    def _named(self, name: str, scope: Scope) -> bool:
        function = scope.function
        if (function, name) not in self.known:
            self.known[function, name] = False  # while it is asked for, as `n = f(n)` does
            self.known[function, name] = self._is_given(name, scope)
        return self.known[function, name]

    def _is_given(self, name: str, scope: Scope) -> bool:
        """Whether a name of a function, or of one around it, is given an item."""
        function = scope.function
        if any(name in {a.arg for a in inner.args.args} for inner in function.of(ast.Lambda)):
            return True
        above = parents(function.nodes)
        stores = [store for store in function.stores.get(name, ()) if isinstance(store.ctx, ast.Store)]
        if any(self._stores(store, above, scope) for store in stores):
            return True
        if function.takes(name):
            return any(self.has(given, inner) for given, inner in self._arguments(name, function))
        outer = next((inner for inner in self.region if inner.function is function.parent), None)
        return not stores and outer is not None and self._named(name, outer)

    def _stores(self, store: ast.Name, above: Mapping[ast.AST, ast.AST], scope: Scope) -> bool:
        child: ast.AST = store
        parent = above.get(store)
        while isinstance(parent, ast.Tuple | ast.List | ast.Starred):
            child, parent = parent, above.get(parent)
        if isinstance(parent, ast.For | ast.comprehension):
            return self._gives(parent.iter, scope)
        if isinstance(parent, ast.Assign | ast.NamedExpr):
            return self.has(parent.value, scope) if child is store else self._gives(parent.value, scope)
        return False

    def _arguments(self, name: str, function: Function) -> Iterator[tuple[ast.expr, Scope]]:
        """What the calls in the compiled code give a parameter."""
        for call, inner in self._calls.get(function, ()):
            parameters = [parameter.arg for parameter in filled(call, function)]
            yield from ((k.value, inner) for k in call.keywords if k.arg == name)
            yield from ((a, inner) for a, parameter in zip(call.args, parameters, strict=False) if parameter == name)

    @cached_property
    def _calls(self) -> Mapping[Function, list[tuple[ast.Call, Scope]]]:
        found: dict[Function, list[tuple[ast.Call, Scope]]] = {}
        for inner in self.region:
            for call, callee in inner.facts.calls.items():
                if isinstance(call, ast.Call):
                    found.setdefault(callee, []).append((call, inner))
        return found

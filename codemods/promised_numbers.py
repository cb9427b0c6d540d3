"""A Python number that a function promises its callers, where none of them is in the project.

def compute(self) -> Tensor | float:        def rate(x):
    ...                                         '''Returns:
    return precision.item()                         float: the rate'''

A tensor there is seen only outside of the project: `isinstance(rate(x), float)`, `json.dumps`, a list of numbers.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from compilefix.codemods.callers import is_called
from compilefix.codemods.finding import Fix, Span
from compilefix.source.definitions import Class, Function
from compilefix.source.snippets import snippet
from compilefix.source.syntax import last_name
from compilefix.source.tree import elements_of, parents

if TYPE_CHECKING:
    from compilefix.codemods.rule import Scope

_NUMBERS = frozenset({"float", "int", "complex", "Number", "Real"})
_SAME = frozenset({"Union", "Optional", "Annotated", "Final"})
_NO_VALUES = frozenset({"Callable", "Literal", "Type", "type"})
_MAPPINGS = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "OrderedDict", "defaultdict", "DefaultDict"})
_CONVERTS = frozenset({"float", "int", "bool", "complex", "len", "round", "str", "repr", "item", "tolist"})
_ADDS = frozenset({"append", "extend", "insert", "add", "update", "setdefault"})
_SIZED = frozenset({"range", "zeros", "ones", "empty", "arange", "rand", "randn", "eye", "randperm", "one_hot"})
_SIZED |= {"view", "reshape", "expand", "repeat", "tile", "split", "chunk", "narrow", "unflatten", "linspace"}
_DISPLAYS = (ast.Tuple, ast.List, ast.Set)
_COMPOUND = (ast.If, ast.For, ast.While, ast.With, ast.Try, ast.Match, ast.FunctionDef, ast.ClassDef)
_NUMBER = r"(?:float|int)(?=\s*(?:$|[:,.)]|or\b|-))"
_DOCUMENTED = re.compile(
    rf":rtype:\s*`*{_NUMBER}|^\s*returns?:?[ \t]*(?:\n[ \t]*-+[ \t]*)?\n?[ \t]*(?:\w+\s*:\s*)?`*{_NUMBER}",
    re.IGNORECASE | re.MULTILINE,
)


@dataclass(frozen=True)
class _Promise:
    """What a function says that it gives: a number itself, and numbers as items of what it gives."""

    itself: bool
    items: bool


def promise_broken(fix: Fix, scope: Scope) -> str | None:
    """Why a fix must not make a tensor of a number; None where no promised number of the function becomes one."""
    promise = _promise(scope)
    if not promise.itself and not promise.items:
        return None
    changed = [edit.target for edit in fix.edits if not edit.inserts]
    given = next(_changed_results(changed, promise, scope), None)
    if given is None or is_called(scope):
        return None
    return f"the function says that it returns a Python number, and nobody in the project calls it: `{given}`"


def attribute_promised(target: ast.expr, scope: Scope) -> str | None:
    """Why an attribute of the object must stay a Python number: its class says that it is one, or uses it as a size."""
    cls = scope.function.cls
    if cls is None or not isinstance(target, ast.Attribute) or not _is_own(target, scope.function):
        return None
    for method in cls.methods.values():
        around = parents((method.node, *method.nodes))
        reads = (n for n in method.of(ast.Attribute) if n.attr == target.attr and isinstance(n.ctx, ast.Load))
        sizes = (_use_as_size(read, around) for read in reads if _is_own(read, method))
        if (use := next((size for size in sizes if size is not None), None)) is not None:
            return f"`{method.qualname}` needs `{ast.unparse(target)}` as a size: `{snippet(use)}`"
    for node in ast.walk(cls.node):
        if isinstance(node, ast.AnnAssign) and last_name(node.target) == target.attr:
            is_own = isinstance(node.target, ast.Attribute) or node in cls.node.body
            if is_own and False in _told(node.annotation, is_item=False):
                return f"`{ast.unparse(target)}` is said to be `{ast.unparse(node.annotation)}`"
    return None


def _is_own(node: ast.Attribute, method: Function) -> bool:
    arguments = method.parameters
    return isinstance(node.value, ast.Name) and bool(arguments) and node.value.id == arguments[0].arg


def _use_as_size(node: ast.AST, around: Mapping[ast.AST, ast.AST]) -> ast.AST | None:
    """The call or the index that takes a number as a size: `torch.zeros(n, 3)`, `range(n)`, `x[:n]`."""
    child, parent = node, around.get(node)
    while isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Tuple | ast.List | ast.keyword | ast.Slice):
        child, parent = parent, around.get(parent)
    if isinstance(parent, ast.Subscript):
        return parent if parent.slice is child else None
    if not isinstance(parent, ast.Call) or child is parent.func:
        return None
    name = last_name(parent.func).removeprefix("new_")
    return parent if name in _SIZED or (name == "full" and child in parent.args[:1]) else None


def _changed_results(changed: Sequence[Span], promise: _Promise, scope: Scope) -> Iterator[str]:
    """What the function gives that was promised to be a number, and is computed by code that is replaced."""
    names = _names_changed(changed, scope)
    for node in (n for n in scope.nodes if isinstance(n, ast.Return | ast.Yield) and n.value is not None):
        assert isinstance(node, ast.Return | ast.Yield)
        for part, is_item in _parts(node.value):
            named = isinstance(part, ast.Name)
            promised = promise.items if is_item else promise.itself or (named and promise.items)
            value = scope.value(part)
            if promised and not (value.is_tensor and value.certain) and _depends(part, changed, names, scope):
                yield ast.unparse(part).splitlines()[0]


def _parts(node: ast.expr | None, *, is_item: bool = False) -> Iterator[tuple[ast.expr, bool]]:
    """The expressions that a result consists of, and whether each is an item of it."""
    if isinstance(node, _DISPLAYS):
        for item in node.elts:
            yield from _parts(item, is_item=True)
    elif isinstance(node, ast.Dict):
        for item in node.values:
            yield from _parts(item, is_item=True)
    elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
        yield from _parts(node.elt, is_item=True)
    elif isinstance(node, ast.DictComp):
        yield from _parts(node.value, is_item=True)
    elif node is not None:
        yield node, is_item


def _names_changed(changed: Sequence[Span], scope: Scope) -> frozenset[str]:
    """The names that get another value by the changed code, as long as they hold no tensor."""
    names: set[str] = set()
    statements = [s for s in scope.nodes if isinstance(s, ast.stmt) and not isinstance(s, _COMPOUND)]
    while True:
        before = len(names)
        for statement in statements:
            if _depends(statement, changed, names, scope):
                names.update(_bound(statement, scope))
        if len(names) == before:
            return frozenset(names)


def _bound(statement: ast.stmt, scope: Scope) -> Iterator[str]:
    """The names that a statement gives a value, which is no tensor, or puts something into."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            value = scope.value(statement.value) if isinstance(statement, ast.Assign) else scope.value(node)
            if not (value.is_tensor and value.certain):
                yield node.id
        elif (
            isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name)
        ) or (isinstance(node, ast.Attribute) and node.attr in _ADDS and isinstance(node.value, ast.Name)):
            yield node.value.id


def _depends(node: ast.AST, changed: Sequence[Span], names: set[str] | frozenset[str], scope: Scope) -> bool:
    """Whether code is replaced, or computed of a changed name, and not made a Python number again."""
    if not hasattr(node, "lineno"):
        return any(_depends(child, changed, names, scope) for child in ast.iter_child_nodes(node))
    span = scope.span(node)
    if any(target.holds(span) for target in changed):
        return True
    if isinstance(node, ast.Name):
        return isinstance(node.ctx, ast.Load) and node.id in names
    if isinstance(node, ast.Call) and last_name(node.func) in _CONVERTS:
        return False
    return any(_depends(child, changed, names, scope) for child in ast.iter_child_nodes(node))


def _promise(scope: Scope) -> _Promise:
    """What the annotation of a function, or that of the method that it overrides, promises; else its docstring."""
    for function in _declared(scope):
        if function.node.returns is not None:
            found = frozenset(_told(function.node.returns, is_item=False))
            return _Promise(False in found, True in found)
    text = ast.get_docstring(scope.function.node, clean=False)
    told = text is not None and _DOCUMENTED.search(text) is not None
    return _Promise(told, told)  # each item of a tuple has an entry of its own there


def _declared(scope: Scope) -> Iterator[Function]:
    yield scope.function
    cls, name = scope.function.cls, scope.function.node.name
    if cls is None:
        return
    for ancestor in scope.legality.inference.project.ancestors(cls):
        if isinstance(ancestor, Class) and name in ancestor.methods:
            yield ancestor.methods[name]


def _told(node: ast.expr | None, *, is_item: bool) -> Iterator[bool]:
    """For each number in an annotation, whether it is an item of the result (`list[float]`)."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        try:
            node = ast.parse(node.value.strip(), mode="eval").body
        except SyntaxError:
            return
    if isinstance(node, ast.Name | ast.Attribute):
        if last_name(node) in _NUMBERS:
            yield is_item
    elif isinstance(node, ast.BinOp):
        yield from _told(node.left, is_item=is_item)
        yield from _told(node.right, is_item=is_item)
    elif isinstance(node, ast.Subscript):
        base = last_name(node.value)
        inner = elements_of(node.slice)
        if base not in _NO_VALUES:
            for part in inner[1:] if base in _MAPPINGS else inner:
                yield from _told(part, is_item=is_item or base not in _SAME)

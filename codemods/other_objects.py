"""Expressions that look like no tensor: what a class or an image library makes, what a `with` statement is given."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Sequence
from math import inf

from compilefix.analysis.evidence import is_no_tensors
from compilefix.codemods.rule import Scope
from compilefix.source.definitions import Function
from compilefix.source.syntax import is_path
from compilefix.source.tree import elements_of

_MODES = frozenset(
    {
        "torch.no_grad",
        "torch.enable_grad",
        "torch.inference_mode",
        "torch.set_grad_enabled",
        "torch.autocast",
        "torch.amp.autocast",
        "torch.cuda.amp.autocast",
        "torch.cuda.stream",
        "torch.device",
    }
)
_CLASS = re.compile(r"_*[A-Z][A-Z0-9]*[a-z]\w*")
_TENSOR_CLASSES = ("Tensor", "Variable", "Parameter", "Buffer")
_CALLERS = frozenset(
    {
        "filter",
        "functools.partial",
        "functools.reduce",
        "map",
        "torch.func.vmap",
        "torch.utils.checkpoint.checkpoint",
        "torch.vmap",
    }
)
_ARRAY_LIBRARIES = frozenset({"cv2", "PIL", "skimage", "scipy", "imageio", "albumentations"})


def is_other_object(node: ast.expr, scope: Scope) -> bool:
    """Whether an expression calls a class, or what gives a context: `Bounded(low, high)`, `torch.no_grad()`.

    A class is told by its name, where its definition is not seen: `torch.where` refuses what it makes. So it does an
    array: what an image library gives, what is read backwards (`image[:, ::-1]`), or multiplied by a list.
    """
    if isinstance(scope.parents.get(node), ast.withitem):
        return True
    if isinstance(node, ast.Subscript):
        return any(map(_goes_back, elements_of(node.slice))) or is_other_object(node.value, scope)
    if isinstance(node, ast.BinOp):
        sides = (node.left, node.right)
        return any(isinstance(side, ast.List) or is_other_object(side, scope) for side in sides)
    if not isinstance(node, ast.Call) or scope.value(node).is_tensor:
        return False
    name = scope.function.module.qualified(node.func)
    if name is None or name.partition(".")[0] in {"self", "cls", *scope.function.bound}:
        return False
    if name.partition(".")[0] in _ARRAY_LIBRARIES:
        return True
    last = name.rpartition(".")[2]
    made = _CLASS.fullmatch(last) is not None and not last.endswith(_TENSOR_CLASSES)
    return made or name in _MODES or name.startswith("contextlib.")


def asked_as_object(name: str, at: ast.AST, scope: Scope, *, before: bool = True) -> ast.Attribute | None:
    """Where something is read of what a name holds at a statement that no tensor has: `graph.num_nodes`.

    Looked at is what the function reads of it up to the assignment behind the statement, and from the one `before`.
    """
    begins, ends = _stretch(name, at, scope, before=before)
    for read in _attributes(name, scope):
        near = begins < read.lineno <= ends
        value = scope.value(read.value)
        if near and is_no_tensors(read.attr) and not (value.is_tensor and value.certain):
            return read
    return None


def used_as_object(
    names: Sequence[str], held: Sequence[str], at: ast.AST, scope: Scope, *, before: bool = False
) -> ast.expr | None:
    """Where one of two objects is used as no tensor is: called, or handed to a function that calls it, as in `map`.

    `names` get at a statement or expression what the paths `held` held; the expression may be called itself, or be
    returned and called by a caller. An attribute may be called by other methods. No tensor has items with names
    (`settings["scale"]`), opens a context, is compared with a text or names an attribute (`getattr(x, name)`) either.
    """
    around = scope.parents.get(at)
    if isinstance(around, ast.Call) and around.func is at:
        return around
    if isinstance(around, ast.Assign):
        names = (*names, *map(ast.unparse, filter(is_path, around.targets)))
    for name in dict.fromkeys((*names, *held)):
        begins, ends = _stretch(name, at, scope, before=before or name in held)
        for use, asked in (*_calls(scope.function), *_other_uses(scope.function)):
            if asked == name and begins < use.lineno <= ends:
                return use
    cls = scope.function.cls
    for method in cls.methods.values() if cls is not None else ():
        for call, asked in _calls(method):
            if asked.startswith("self.") and asked in held:
                return call
    returned = isinstance(around, ast.Return) or (isinstance(at, ast.If) and not names)
    return next(_calls_of_result(scope), None) if returned else None


def _calls(function: Function) -> Iterator[tuple[ast.Call, str]]:
    """The calls in a function, and the name or path of what each calls."""
    for call in function.of(ast.Call):
        qualified = function.module.qualified(call.func)
        asked = call.args[0] if call.args and qualified in _CALLERS else call.func
        if is_path(asked):
            yield call, ast.unparse(asked)


def _other_uses(function: Function) -> Iterator[tuple[ast.expr, str]]:
    """Uses of names and paths in a function that tell something else than a tensor: a table, a context, a text."""
    found: list[tuple[ast.expr, ast.expr]] = []
    for part in function.of(ast.Subscript):
        if _is_text(part.slice):
            found.append((part, part.value))
    for opened in function.of(ast.With):
        found += [(item.context_expr, item.context_expr) for item in opened.items]
    for compare in function.of(ast.Compare):
        if any(map(_is_text, compare.comparators)):
            found.append((compare, compare.left))
    for call in function.of(ast.Call):
        if isinstance(call.func, ast.Name) and call.func.id == "getattr" and len(call.args) > 1:
            found.append((call, call.args[1]))
    yield from ((use, ast.unparse(asked)) for use, asked in found if is_path(asked))


def _is_text(node: ast.expr) -> bool:
    """Whether an expression is a written text, or some in a list."""
    parts = node.elts if isinstance(node, ast.Tuple | ast.List | ast.Set) else [node]
    return any(isinstance(part, ast.Constant) and isinstance(part.value, str) for part in parts)


def _calls_of_result(scope: Scope) -> Iterator[ast.Call]:
    """Where callers call what the function returns: `pick(x)(x)`, or `step = pick(x)` and `step(x)`."""
    for caller, node in (*scope.calls_here, *scope.calls_elsewhere):
        kept = [ast.unparse(a.targets[0]) for a in caller.of(ast.Assign) if a.value is node and is_path(a.targets[0])]
        yield from (call for call in caller.of(ast.Call) if call.func is node)
        yield from (call for call, asked in _calls(caller) if asked in kept)


def _stretch(name: str, at: ast.AST, scope: Scope, *, before: bool) -> tuple[int, float]:
    """The lines behind the first up to the last in which a name holds what it holds at a statement.

    They end with the assignment behind it, and begin with it, or with the one `before`.
    """
    first, last = getattr(at, "lineno", 0), getattr(at, "end_lineno", 0)
    stores = [store.lineno for store in scope.names(name, stores=True)] if name.isidentifier() else []
    begins = max((line for line in stores if line < first), default=0) if before else last
    return begins, min((line for line in stores if line > last), default=inf)


def _attributes(name: str, scope: Scope) -> Iterator[ast.Attribute]:
    """What is read of a name, but for what the function itself puts there."""
    found = [n for n in scope.of(ast.Attribute) if isinstance(n.value, ast.Name) and n.value.id == name]
    stored = {n.attr for n in found if isinstance(n.ctx, ast.Store)}
    yield from (n for n in found if isinstance(n.ctx, ast.Load) and n.attr not in stored)


def _goes_back(part: ast.expr) -> bool:
    """Whether a slice has a negative step, which a tensor refuses."""
    step = part.step if isinstance(part, ast.Slice) else None
    return isinstance(step, ast.UnaryOp) and isinstance(step.op, ast.USub)

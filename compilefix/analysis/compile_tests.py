"""Tests for being compiled, `torch.compiler.is_compiling()` and what projects write round it, as seen by Dynamo."""

from __future__ import annotations

import ast
from collections.abc import Callable, Collection, Iterator

from compilefix.analysis.torch_versions import known_of_version, only_value_of
from compilefix.source.definitions import Function
from compilefix.source.module import Module
from compilefix.source.project import Project

_COMPILING = frozenset(
    {
        "torch.compiler.is_compiling",
        "torch._dynamo.is_compiling",
        "torch.compiler.is_dynamo_compiling",
        "torch._dynamo.external_utils.is_compiling",
        "transformers.utils.is_torchdynamo_compiling",
        "transformers.utils.import_utils.is_torchdynamo_compiling",
    }
)
_NOT_COMPILED = frozenset(
    {
        "torch.jit.is_scripting",
        "torch.jit.is_tracing",
        "torch.onnx.is_in_onnx_export",
        "torch.compiler.is_exporting",
        "torch._C._get_tracing_state",
        "torchvision._is_tracing",
        "typing.TYPE_CHECKING",
    }
)
_HAS = {
    "torch": frozenset(
        {"autocast", "bfloat16", "bucketize", "cdist", "compile", "deg2rad", "einsum", "fft", "floor_divide", "func"}
        | {"hypot", "inference_mode", "isfinite", "isin", "linalg", "logaddexp", "logical_and", "logical_not"}
        | {"logical_or", "maximum", "meshgrid", "minimum", "movedim", "nan_to_num", "nansum", "nextafter", "pi"}
        | {"permute", "searchsorted", "special", "square", "take_along_dim", "tile", "true_divide", "vmap"}
    ),
    "torch.nn.functional": frozenset(
        {"gelu", "glu", "grid_sample", "hardswish", "huber_loss", "interpolate", "layer_norm", "mish", "one_hot"}
        | {"pixel_unshuffle", "scaled_dot_product_attention", "silu"}
    ),
}
"""What torch has had since version 2.0, and so wherever code is compiled, of what it asks for: `hasattr(torch, "pi")`.
"""
_MAX_DEPTH = 8


def compile_time(
    test: ast.expr, module: Module, project: Project, function: Function | None = None, depth: int = 0
) -> bool | None:
    """What a test for being compiled, a constant or a switch gives in compiled code; None for any other test.

    A name that `function` binds once stands for what it is bound to, and a function of the project for what it returns:
    that of such a test whatever it is given, or of one that it begins with (`if is_compiling(): return False`).
    """
    if depth > _MAX_DEPTH:
        return None
    if depth == 0 and isinstance(test, ast.Constant):
        return bool(test.value)  # `if True: return`: what follows is switched off in the code itself

    def inner(node: ast.expr) -> bool | None:
        return compile_time(node, module, project, function, depth + 1)

    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        opposite = inner(test.operand)
        return None if opposite is None else not opposite
    if isinstance(test, ast.BoolOp):
        parts = [inner(v) for v in test.values]
        stop = isinstance(test.op, ast.Or)
        if stop in parts:
            return stop
        return None if None in parts else not stop
    if isinstance(test, ast.Name) and function is not None:
        value = _bound_once(test.id, function)
        if isinstance(value, ast.Constant) and isinstance(value.value, bool):
            return value.value  # `debug = False`: a switch in the code itself
        if value is not None:
            return inner(value)
        value = _only_added_to(test.id, function)
        if value is not None or test.id in function.bound:
            return True if value is not None and inner(value) else None
    own = frozenset() if function is None else function.bound
    if isinstance(test, ast.Compare) and (known := known_of_version(test, module, project, own)) is not None:
        return known
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.In | ast.NotIn) and len(test.ops) == 1:
        items = _chosen(test.comparators[0], inner, function)
        nothing = isinstance(items, ast.Tuple | ast.List) and not items.elts
        return isinstance(test.ops[0], ast.NotIn) if nothing else None
    if isinstance(test, ast.Call) and isinstance(test.func, ast.Name) and test.func.id == "bool" and test.args:
        return inner(test.args[0])
    if isinstance(test, ast.Call) and _asks_for_what_is_there(test, module, own):
        return True
    name = module.qualified(test.func if isinstance(test, ast.Call) else test)
    if name is None:
        return None
    if not isinstance(test, ast.Call) and (known := _asked_before(name, module, project)) is not None:
        return known
    found = project.resolve(name)
    if isinstance(found, Function):
        if not isinstance(test, ast.Call):
            return None
        returned = _returned(found, project, depth)
        return _answered(found, project, depth) if returned is None else returned
    target = found if isinstance(found, str) else name
    if target in _COMPILING:
        return True
    if target in _NOT_COMPILED:
        return False
    held = _held(target, module, project) if isinstance(test, ast.Call) else ()
    return True if any(h in _COMPILING for h in held) else False if any(h in _NOT_COMPILED for h in held) else None


def _asks_for_what_is_there(call: ast.Call, module: Module, own: Collection[str]) -> bool:
    """Whether a call asks a module of torch for a name that it has in every version: `hasattr(torch, "nextafter")`."""
    if module.qualified(call.func) != "hasattr" or len(call.args) != 2 or call.keywords:
        return False
    owner, name = call.args
    names = {part.id for part in ast.walk(call) if isinstance(part, ast.Name)}
    if not isinstance(name, ast.Constant) or not names.isdisjoint(own):
        return False
    return name.value in _HAS.get(module.qualified(owner) or "", ())


def _asked_before(name: str, module: Module, project: Project) -> bool | None:
    """What a global says that a file asked of torch's version: `TORCH_GE_17 = Version(torch.__version__) >= ...`."""
    home, value = only_value_of(name, module, project)
    return known_of_version(value, home, project) if isinstance(value, ast.Compare) else None


def _bound_once(name: str, function: Function) -> ast.expr | None:
    stores = function.stores.get(name, ())
    if len(stores) != 1 or name in {p.arg for p in function.parameters}:
        return None
    if any(name in _names_without_a_node(node) for kind in _BINDING for node in function.of(kind)):
        return None
    for node in function.of(ast.Assign):
        if node.targets == [stores[0]]:
            return node.value
    return None


_BINDING: tuple[type[ast.AST], ...] = (
    *(ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.ExceptHandler, ast.MatchAs, ast.MatchStar),
    *(ast.MatchMapping, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef),
)


def _names_without_a_node(node: ast.AST) -> Collection[str | None]:
    """The names that a statement or a part of it binds, or shares with others, by their text alone."""
    if isinstance(node, ast.Global | ast.Nonlocal):
        return node.names
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    return [getattr(node, "rest", None) or getattr(node, "name", None)]


def _only_added_to(name: str, function: Function) -> ast.expr | None:
    """What a name is bound to that is true if that is: `tracing = is_compiling()`, and then `tracing |= x`."""
    stores = set(function.stores.get(name, ()))
    bound = [n.value for n in function.of(ast.Assign) if len(n.targets) == 1 and n.targets[0] in stores]
    added = [n for n in function.of(ast.AugAssign) if n.target in stores and isinstance(n.op, ast.BitOr)]
    given = function.takes(name)
    return bound[0] if len(bound) == 1 and len(added) == len(stores) - 1 and not given else None


def _chosen(node: ast.expr, decided: Callable[[ast.expr], bool | None], function: Function | None) -> ast.expr:
    """What a name holds in compiled code, where a test for being compiled chooses: `() if is_compiling() else x`."""
    value = _bound_once(node.id, function) if isinstance(node, ast.Name) and function is not None else None
    if not isinstance(value, ast.IfExp):
        return node
    side = decided(value.test)
    return node if side is None else value.body if side else value.orelse


def _answered(function: Function, project: Project, depth: int) -> bool | None:
    """What a function answers in compiled code by the tests that it begins with: `if is_compiling(): return False`."""
    if function.cls is not None or function.decorators or not isinstance(function.node, ast.FunctionDef):
        return None
    if any(isinstance(node, ast.Yield | ast.YieldFrom) for node in function.nodes):
        return None  # the generator that it gives is true
    for statement in function.node.body:
        if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
            continue  # its docstring
        if not isinstance(statement, ast.If) or statement.orelse:
            return None
        outcome = compile_time(statement.test, function.module, project, function, depth + 1)
        if outcome is None:
            return None
        if outcome:
            last = statement.body[0]
            value = last.value if isinstance(last, ast.Return) else None
            return value.value if isinstance(value, ast.Constant) and isinstance(value.value, bool) else None
    return None


def _returned(function: Function, project: Project, depth: int) -> bool | None:
    """What a function gives that asks whether it is compiled, and gives False where torch cannot say."""
    if function.cls is not None:
        return None
    returned = [n.value for n in function.of(ast.Return)]
    if not returned or any(value is None for value in returned):
        return None
    outcomes = [
        compile_time(value, function.module, project, function, depth + 1)
        for whole in returned
        if whole is not None
        for value in _without_fallback(whole)
    ]
    known = {outcome for outcome in outcomes if outcome is not None}
    return known.pop() if len(known) == 1 and len(outcomes) > 0 and None not in outcomes else None


def _without_fallback(node: ast.expr) -> Iterator[ast.expr]:
    """The values that an expression may have, without a plain False."""
    if isinstance(node, ast.IfExp):
        yield from _without_fallback(node.body)
        yield from _without_fallback(node.orelse)
    elif not (isinstance(node, ast.Constant) and node.value is False):
        yield node


def _held(name: str, module: Module, project: Project) -> list[str]:
    """The functions that a global name of a module may hold: `getattr(torch.compiler, "is_compiling", None)`.

    Or that it is another name of: `_is_compiling = torch.compiler.is_compiling`.
    """
    owner, _, attribute = name.rpartition(".")
    if owner in project.modules:
        module = project.modules[owner]
    elif owner:
        return []
    value = module.assigns.get(attribute)
    if value is None:
        return []
    parts = value.values if isinstance(value, ast.BoolOp) and isinstance(value.op, ast.Or) else [value]
    found: list[str] = []
    for part in parts:
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == "getattr":
            names = [a.value for a in part.args[1:2] if isinstance(a, ast.Constant) and isinstance(a.value, str)]
            holder = module.qualified(part.args[0]) if part.args else None
            found += [f"{holder}.{n}" for n in names if holder is not None]
        elif isinstance(part, ast.Attribute) and (other := module.qualified(part)) is not None:
            found.append(other)
    return found

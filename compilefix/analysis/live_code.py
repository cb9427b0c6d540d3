"""Which code of a function runs compiled: no dead branch, nothing that waits for the compile boundary."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from compilefix.analysis.infer import FunctionFacts
from compilefix.source.definitions import Function
from compilefix.source.tree import walk_block

_LEAVES_REGION = (
    "torch.compiler.disable",
    "torch._dynamo.disable",
    "torch._disable_dynamo",
    "torch.compiler.allow_in_graph",
    "torch.compiler.assume_constant_result",
    "torch._dynamo.assume_constant_result",
    "torch._dynamo.allow_in_graph",
    "torch.library.custom_op",
    "torch.library.impl",
    "torch.library.register_fake",
    "torch.jit.script_method",
    "triton.jit",
    "triton.autotune",
    "triton.heuristics",
    "numba.jit",
    "numba.njit",
    "numba.generated_jit",
    "numba.vectorize",
    "numba.guvectorize",
    "numba.stencil",
    "numba.cuda.jit",
    "cupy.fuse",
    "jax.jit",
    "cutlass.cute.jit",
    "cutlass.cute.kernel",
    "cutlass.jit",
    "cutlass.dsl_user_op",
    "cutlass.cutlass_dsl.dsl_user_op",
    "tilelang.jit",
    "tilelang.language.prim_func",
    "taichi.func",
    "taichi.kernel",
    "warp.func",
    "warp.kernel",
    "helion.kernel",
    "pytest.fixture",
)


_FUNCTIONS = frozenset({"torch.autograd.Function", "torch.autograd.function.Function"})
_CLOSED: tuple[type[ast.AST], ...] = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


def live_nodes(facts: FunctionFacts) -> Iterator[ast.AST]:
    """The nodes of a function's body that run compiled: no dead branches, no nested functions or classes."""
    if facts.live is None:
        facts.live = _live(facts)
    return iter(facts.live)


def _live(facts: FunctionFacts) -> tuple[ast.AST, ...]:
    function = facts.function
    body = function.node.body
    if facts.dead or not body or sum(len(function.of(kind)) for kind in _CLOSED) > 1:
        return tuple(walk_block(body, facts.dead, _CLOSED))
    # All of the body, which is a stretch of the nodes of the function.
    nodes, node = function.nodes, function.node
    behind = (*node.decorator_list, node.returns, *getattr(node, "type_params", ()))
    start = nodes.index(body[0])
    end = next((nodes.index(part, start) for part in behind if part is not None), len(nodes))
    return nodes[start:end]


def leaves(function: Function) -> bool:
    """Whether a function never runs compiled, whoever calls it."""
    module = function.module
    if "HELPER_VERSION" in module.assigns and "emit" in module.functions and "boundary" in module.functions:
        return True  # the boundary helper, whose work waits for the end of the call
    if isinstance(function.node, ast.AsyncFunctionDef):
        return True  # Dynamo leaves coroutines to Python, and the call of one runs nothing yet
    if _is_refused(function):
        return True
    return any(d in _LEAVES_REGION or d.endswith((".setter", ".deleter")) for d in function.decorators)


def _is_refused(function: Function) -> bool:
    """Whether PyTorch runs a derivative no more: its `forward` is a method of an object, as it was before 0.4.

    `apply` runs one that is only not said to be static, and makes no object: one that begins with `self`, in a class
    with an `__init__`, is of an object, unless its file applies it.
    """
    cls = function.cls
    if cls is None or function.node.name not in ("forward", "backward") or _FUNCTIONS.isdisjoint(cls.bases):
        return False
    forward = cls.methods.get("forward")
    if forward is None or forward.node.decorator_list or "__init__" not in cls.methods:
        return False
    if forward.parameters and forward.parameters[0].arg != "self":
        return False
    if f"{cls.node.name}.apply" in function.module.file.text:
        return False
    # `forward = staticmethod(forward)` stands behind some of them.
    assigned = (target for one in cls.node.body if isinstance(one, ast.Assign) for target in one.targets)
    return not any(isinstance(target, ast.Name) and target.id == "forward" for target in assigned)


def effects_at_the_boundary(facts: FunctionFacts) -> list[ast.Lambda]:
    """What stands in `emit(lambda: ...)` of the boundary helper: it runs when the compiled call has returned."""
    effects = [(node, node.args[0]) for node in facts.function.of(ast.Call) if is_noted(node, facts)]
    live = set(live_nodes(facts)) if effects else ()
    return [effect for node, effect in effects if isinstance(effect, ast.Lambda) and node in live]


def is_noted(node: ast.Call, facts: FunctionFacts) -> bool:
    """Whether a call is what a fix moved to the compile boundary: a line, or a check that raises."""
    if not (isinstance(node.func, ast.Name) and node.func.id == "emit" and node.args):
        return False
    function, callee = facts.function, facts.calls.get(node)
    module = function.module
    if "emit" in module.classes or "emit" in module.assigns or "emit" in function.bound:
        return False  # an `emit` of the file itself, which may act at once
    helper = callee is None or "HELPER_VERSION" in callee.module.assigns
    return helper and isinstance(node.args[0], ast.Lambda)

"""Which functions run under `torch.compile`, and how each is reached.

Where every `torch.compile` in the analysed code can be resolved, these are its targets and what they call. Where there
is none, or one cannot be resolved (`torch.compile(build())`), the code is taken for a library: `forward` of modules,
derivatives of autograd functions and functions on tensors count as compiled, since their users compile them.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from compilefix.analysis.infer import FunctionFacts, Inference
from compilefix.analysis.values import Kind, Value
from compilefix.source.index import Class, Function, Module, Project

_LEAVES_REGION = (
    "torch.compiler.disable",
    "torch._dynamo.disable",
    "torch._disable_dynamo",
    "torch.compiler.allow_in_graph",
    "torch._dynamo.allow_in_graph",
    "torch.jit.script",
    "torch.jit.ignore",
    "torch.jit.unused",
    "torch.library.custom_op",
    "torch.library.impl",
    "torch.library.register_fake",
    "triton.jit",
    "triton.autotune",
    "numba.jit",
    "numba.njit",
    "pytest.fixture",
)
_NEVER_COMPILED = frozenset(
    {
        "__init__",
        "__new__",
        "__post_init__",
        "__repr__",
        "__str__",
        "__len__",
        "__getstate__",
        "__setstate__",
        "__del__",
        "__hash__",
        "extra_repr",
        "reset_parameters",
        "state_dict",
        "load_state_dict",
        "_load_from_state_dict",
        "from_pretrained",
        "setup_context",
        "plot",
        "main",
        "collate_fn",
        "configure_optimizers",
    }
)
_MENTIONS_COMPILE = re.compile(r"(?<!\bre)\.compile\b|\bimport compile\b")
_COMPILE = ("torch.compile", "torch.compiler.compile")


@dataclass(frozen=True, eq=False)
class CompiledFunction:
    """A function that runs compiled: its facts, and the way from the root to it."""

    function: Function
    facts: FunctionFacts
    reached_by: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class CompileSite:
    """One use of torch.compile: the functions that it compiles, none where they are not known, and where it stands.

    `node` is the call, or the function that is decorated. `in_place` says that it is `module.compile()`, which returns
    nothing.
    """

    targets: tuple[Function, ...]
    label: str
    node: ast.Call | ast.FunctionDef | ast.AsyncFunctionDef
    in_place: bool = False


def compiled_functions(inference: Inference, roots: Sequence[str] = ()) -> tuple[CompiledFunction, ...]:
    """All functions that run compiled, in the order of files and lines. `roots` are names from the config,
    `package.module:qualname`."""
    project = inference.project
    found: list[tuple[Function, str]] = []
    unresolved = False
    for name in roots:
        target = project.resolve(name.replace(":", "."))
        for function in _entries(target if not isinstance(target, str) else None, project):
            found.append((function, f"{name} (configured root)"))
    for module in project.modules.values():
        if not _MENTIONS_COMPILE.search(module.file.text):
            continue
        for site in compile_sites(module, inference):
            unresolved = unresolved or not site.targets
            found.extend((function, site.label) for function in site.targets)
    reached = _reach(found, inference)
    if unresolved or not found:
        reached |= _reach(_library_roots(project), inference, known=reached)
        reached |= _reach(_tensor_functions(inference), inference, known=reached)
    order = {name: index for index, name in enumerate(project.modules)}
    return tuple(
        sorted(
            reached.values(),
            key=lambda c: (order[_key(c.function.module, project)], c.function.node.lineno, c.function.qualname),
        )
    )


def _key(module: Module, project: Project) -> str:
    return module.name if project.modules.get(module.name) is module else f"{module.name}@{module.file.path}"


def _reach(
    roots: Iterable[tuple[Function, str]], inference: Inference, known: dict[Function, CompiledFunction] | None = None
) -> dict[Function, CompiledFunction]:
    reached: dict[Function, CompiledFunction] = {}
    skip = known or {}
    pending: deque[tuple[Function, tuple[str, ...]]] = deque((function, (label,)) for function, label in roots)
    while pending:
        function, path = pending.popleft()
        if function in reached or function in skip or _leaves(function):
            continue
        facts = inference.facts(function)
        reached[function] = CompiledFunction(function, facts, path)
        for callee in _callees(facts, inference):
            pending.append((callee, (*path, callee.qualname)))
    return reached


def reached_from(functions: Iterable[Function], inference: Inference) -> frozenset[Function]:
    """The functions and all that they call, as far as these run compiled."""
    return frozenset(_reach(((function, "") for function in functions), inference))


def _callees(facts: FunctionFacts, inference: Inference) -> Iterator[Function]:
    alive = set(live_nodes(facts))
    for node, callee in facts.calls.items():
        if node in alive and callee.node.name != "__init__":
            yield callee
    for node in alive:
        # A property runs its getter.
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            base = facts.value(node.value)
            if base.is_(Kind.OBJECT) and base.ref is not None:
                cls = inference.project.resolve(base.ref)
                if isinstance(cls, Class):
                    method = inference.project.method(cls, node.attr)
                    if method is not None and method.is_property:
                        yield method


def live_nodes(facts: FunctionFacts) -> Iterator[ast.AST]:
    """The nodes of a function's body that run compiled: no dead branches, no nested functions or classes."""
    if facts.live is None:
        live: list[ast.AST] = []
        pending: list[ast.AST] = list(reversed(facts.function.node.body))
        while pending:
            node = pending.pop()
            if node in facts.dead or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            live.append(node)
            pending.extend(reversed(list(ast.iter_child_nodes(node))))
        facts.live = tuple(live)
    return iter(facts.live)


def _leaves(function: Function) -> bool:
    return any(d in _LEAVES_REGION or d.endswith((".setter", ".deleter")) for d in function.decorators)


def compile_sites(module: Module, inference: Inference) -> Iterator[CompileSite]:
    """Each use of torch.compile with its targets; no target means that it could not be resolved."""
    project = inference.project
    for function in module.all_functions:
        if any(d in _COMPILE for d in function.decorators) or _partial_compile(function, module):
            yield CompileSite((function,), f"@torch.compile {function.qualname}", function.node)
    for holder in (_module_function(module), *module.all_functions):
        calls = [n for n in _own_nodes(holder.node) if isinstance(n, ast.Call) and _is_compile(n, module)]
        if not calls:
            continue
        facts = inference.facts(holder)
        decorators = {d for f in module.all_functions for d in f.node.decorator_list}
        for call in calls:
            if call in decorators:
                continue
            if (
                isinstance(call.func, ast.Attribute)
                and call.func.attr == "compile"
                and module.qualified(call.func) not in _COMPILE
            ):
                receiver = facts.value(call.func.value)
                if receiver.is_(Kind.OBJECT) and receiver.ref is not None:
                    yield CompileSite(
                        _targets(receiver, project), f"{ast.unparse(call.func.value)}.compile()", call, in_place=True
                    )
                continue
            if not call.args:
                continue  # torch.compile(mode=...) makes a decorator
            value = facts.value(call.args[0])
            yield CompileSite(_targets(value, project), f"torch.compile({ast.unparse(call.args[0])})", call)


def _is_compile(node: ast.Call, module: Module) -> bool:
    return module.qualified(node.func) in _COMPILE or (
        isinstance(node.func, ast.Attribute) and node.func.attr == "compile"
    )


def _partial_compile(function: Function, module: Module) -> bool:
    for decorator in function.node.decorator_list:
        if (
            isinstance(decorator, ast.Call)
            and decorator.args
            and (module.qualified(decorator.func) or "").endswith("partial")
            and module.qualified(decorator.args[0]) in _COMPILE
        ):
            return True
        name = decorator.id if isinstance(decorator, ast.Name) else None
        bound = module.assigns.get(name) if name is not None else None
        if isinstance(bound, ast.Call) and any(module.qualified(n) in _COMPILE for n in [bound.func, *bound.args]):
            return True
    return False


def _targets(value: Value, project: Project) -> tuple[Function, ...]:
    if value.ref is None or not value.is_(Kind.OBJECT, Kind.CALLABLE):
        return ()
    target = project.resolve(value.ref)
    return tuple(_entries(target if not isinstance(target, str) else None, project))


def _entries(target: Function | Class | Module | None, project: Project) -> Iterator[Function]:
    if isinstance(target, Function):
        yield target
    elif isinstance(target, Class):
        for name in ("forward", "__call__"):
            method = project.method(target, name)
            if method is not None:
                yield method
                return


def _module_function(module: Module) -> Function:
    """The top level of a module as a function, so that what it calls can be looked at like any other code."""
    # What the module defines is found through the index; in a function it would count as a local name.
    body = [
        s for s in module.file.tree.body if not isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    ]
    node = ast.FunctionDef(
        name="<module>",
        args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]),
        body=body,
        decorator_list=[],
    )
    node.lineno, node.col_offset, node.returns = 1, 0, None
    return Function("<module>", node, module)


def _own_nodes(node: ast.AST) -> Iterator[ast.AST]:
    pending = list(ast.iter_child_nodes(node))
    while pending:
        child = pending.pop()
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        yield child
        pending.extend(ast.iter_child_nodes(child))


def _library_roots(project: Project) -> Iterator[tuple[Function, str]]:
    for module in project.modules.values():
        for cls in module.classes.values():
            if project.is_autograd_function(cls):
                names: tuple[str, ...] = ("forward", "backward")
            elif project.is_module_class(cls):
                names = ("forward",)
            else:
                continue
            for name in names:
                if name in cls.methods:
                    method = cls.methods[name]
                    yield method, method.qualname


def _tensor_functions(inference: Inference) -> Iterator[tuple[Function, str]]:
    for module in inference.project.modules.values():
        if "torch" not in module.file.text:
            continue
        for function in module.all_functions:
            name = function.node.name
            if (
                function.parent is not None
                or name in _NEVER_COMPILED
                or name.startswith("test")
                or _is_harness(function)
            ):
                continue
            if _on_tensors(function, inference):
                yield function, function.qualname


def _on_tensors(function: Function, inference: Inference) -> bool:
    """Whether the function computes on tensors: it gets one, or makes one and is a method that is called."""
    facts = inference.facts(function)
    start = 0 if function.cls is None or function.is_static else 1
    names = {a.arg for a in function.parameters[start:]}
    if not names and function.node.name != "__call__":
        return False
    for node in live_nodes(facts):
        if isinstance(node, ast.Name) and node.id in names:
            value = facts.value(node)
            parts = (value, value.element) if value.element is not None else (value,)
            if any(v.may_be(Kind.TENSOR) and not v.is_unknown for v in parts):
                return True
    return False


@dataclass(frozen=True)
class Checkpoints:
    """What `torch.utils.checkpoint` runs, and runs again in the backward pass.

    `unresolved` holds the calls of it whose target is not known, as text.
    """

    functions: frozenset[Function]
    unresolved: tuple[str, ...]


def checkpoints(inference: Inference) -> Checkpoints:
    """The functions under `torch.utils.checkpoint` in the whole project, with those that they call."""
    reached: set[Function] = set()
    unresolved: list[str] = []
    for module in inference.project.modules.values():
        if "checkpoint" not in module.file.text:
            continue
        for function in module.all_functions:
            for node in function.nodes:
                if not isinstance(node, ast.Call) or not node.args:
                    continue
                if not (module.qualified(node.func) or "").startswith("torch.utils.checkpoint."):
                    continue
                targets = _targets(inference.facts(function).value(node.args[0]), inference.project)
                if not targets:
                    unresolved.append(ast.unparse(node).splitlines()[0][:60])
                pending = list(targets)
                while pending:
                    target = pending.pop()
                    if target not in reached:
                        reached.add(target)
                        pending.extend(inference.facts(target).calls.values())
    return Checkpoints(frozenset(reached), tuple(dict.fromkeys(unresolved)))


def _is_harness(function: Function) -> bool:
    """Whether the function drives compiled code from outside: it compiles, or steps an optimiser."""
    module = function.module
    for node in function.nodes:
        if (
            isinstance(node, ast.Attribute)
            and node.attr in ("compile", "_dynamo", "backward", "zero_grad")
            and (node.attr != "compile" or module.qualified(node) in _COMPILE)
        ):
            return True
    return False

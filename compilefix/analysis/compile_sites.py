"""Where `torch.compile` and `torch.utils.checkpoint` are used, and which functions they are given."""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from compilefix.analysis.infer import Inference
from compilefix.analysis.passed_callables import passed_to
from compilefix.analysis.values import Kind, Value
from compilefix.source.definitions import Class, Function
from compilefix.source.module import Module
from compilefix.source.project import Project
from compilefix.source.tree import children

_COMPILE = ("torch.compile", "torch.compiler.compile")


_MENTIONS_COMPILE = re.compile(r"\.compile\b(?<!\bre\.compile)|import compile\b")


_COMPILE_WORDS = (".compile", "import compile")


_CHECKPOINT_WORDS = ("torch.utils.checkpoint", "torch.utils import")


_MENTIONS_CHECKPOINT = re.compile(r"torch\.utils\.checkpoint|torch\.utils import \(?[\w\s,]*\bcheckpoint\b")


@dataclass(frozen=True, eq=False)
class CompileSite:
    """One use of torch.compile: the functions that it compiles, none where they are not known, and where it stands.

    `node` is the call, or the function that is decorated. `in_place` says that it is `module.compile()`, which returns
    nothing, `passed` that the targets are what the callers of a helper give it, of which there may be others.
    """

    targets: tuple[Function, ...]
    label: str
    node: ast.Call | ast.FunctionDef | ast.AsyncFunctionDef
    in_place: bool = False
    passed: bool = False


@dataclass(frozen=True)
class Checkpoints:
    """What `torch.utils.checkpoint` runs, and runs again in the backward pass.

    `unresolved` holds the calls of it whose target is not known, as text.
    """

    functions: frozenset[Function]
    unresolved: tuple[str, ...]


def mentions_compile(text: str) -> bool:
    """Whether a text may hold a use of torch.compile."""
    # Most files have neither word, and looking for these is many times as fast.
    return any(word in text for word in _COMPILE_WORDS) and _MENTIONS_COMPILE.search(text) is not None


def modules_with_compile(project: Project) -> tuple[str, ...]:
    """The modules whose text may hold a use of torch.compile."""
    return _matching(_COMPILE_WORDS, _MENTIONS_COMPILE, project)


def modules_with_checkpoint(project: Project) -> tuple[str, ...]:
    """The modules whose text may hold a use of torch.utils.checkpoint."""
    return _matching(_CHECKPOINT_WORDS, _MENTIONS_CHECKPOINT, project)


def _matching(words: Iterable[str], pattern: re.Pattern[str], project: Project) -> tuple[str, ...]:
    # Each match has one of these words, and looking for them is many times as fast.
    found = {name for word in words for name in project.modules.texts.matching(word, pattern.pattern)}
    return tuple(name for name in project.modules if name in found)


def compile_sites(module: Module, inference: Inference) -> Iterator[CompileSite]:
    """Each use of torch.compile with its targets; no target means that it could not be resolved."""
    project = inference.project
    for function in module.all_functions:
        if any(d in _COMPILE for d in function.decorators) or _partial_compile(function, module):
            yield CompileSite((function,), f"@torch.compile {function.qualname}", function.node)
    lines = [number for number, line in enumerate(module.lines, 1) if "compile" in line]
    for holder in (_module_function(module), *module.all_functions):
        body = [s for s in holder.node.body if bisect_left(lines, s.lineno) < bisect_right(lines, s.end_lineno or 0)]
        calls = [n for n in _own_nodes(body) if isinstance(n, ast.Call) and _is_compile(n, module)]
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
                if receiver.is_(Kind.OBJECT) and receiver.ref is not None and not _own_compile(call, receiver, project):
                    yield CompileSite(
                        functions_of(receiver, project),
                        f"{ast.unparse(call.func.value)}.compile()",
                        call,
                        in_place=True,
                    )
                continue
            if not call.args:
                continue  # torch.compile(mode=...) makes a decorator
            given = call.args[0]
            label = f"torch.compile({ast.unparse(given)})"
            if targets := functions_of(facts.value(given), project) or _named_otherwise(given, holder, project):
                yield CompileSite(targets, label, call)
                continue
            targets = passed_to(given, holder, project, _functions_and_top_level, partial(_runs, inference))
            yield CompileSite(targets, label, call, passed=True)


def _functions_and_top_level(module: Module) -> tuple[Function, ...]:
    return (_module_function(module), *module.all_functions)


def _runs(inference: Inference, given: ast.expr, holder: Function) -> tuple[Function, ...]:
    """What runs where an expression of a function is called."""
    project = inference.project
    return functions_of(inference.facts(holder).value(given), project) or _named_otherwise(given, holder, project)


def is_compile_call(label: str) -> bool:
    """Whether a label is that of a compile call, and not the name of a function, be it `compiled_step`."""
    return label.startswith(("@torch.compile ", "torch.compile(")) or label.endswith(".compile()")


def _is_compile(node: ast.Call, module: Module) -> bool:
    return module.qualified(node.func) in _COMPILE or (
        isinstance(node.func, ast.Attribute) and node.func.attr == "compile"
    )


def _own_compile(call: ast.Call, receiver: Value, project: Project) -> bool:
    """Whether `model.compile(...)` is not that of `nn.Module`, but as of models that are trained as those of Keras."""
    cls = project.resolve(receiver.ref) if receiver.ref is not None else None
    method = project.method(cls, "compile") if isinstance(cls, Class) else None
    handed_on = method is not None and any(
        inner.func.attr == "compile" and isinstance(inner.func.value, ast.Call)  # super().compile()
        for inner in method.of(ast.Call)
        if isinstance(inner.func, ast.Attribute)
    )
    return bool(call.args) or (method is not None and not handed_on)


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


def functions_of(value: Value, project: Project) -> tuple[Function, ...]:
    """What runs where a value is called: a function, or a module's `forward`; none where that is not known."""
    if value.ref is None or not value.is_(Kind.OBJECT, Kind.CALLABLE):
        return ()
    around, inside, _ = value.ref.partition(".<locals>.")
    target = project.resolve(around)
    if inside and isinstance(target, Function):
        return tuple(f for f in target.module.all_functions if f.full_name == value.ref)
    return tuple(entries(target if not isinstance(target, str) else None, project))


def _named_otherwise(given: ast.expr, holder: Function, project: Project) -> tuple[Function, ...]:
    """What `f` and `Net()` run, where these are other names that the module gives to what it defines or imports."""
    named = given.func if isinstance(given, ast.Call) else given
    module = holder.module
    if not isinstance(named, ast.Name) or named.id not in module.assigns or named.id in holder.bound:
        return ()
    target = project.resolve(f"{module.name}.{named.id}")
    fits = isinstance(target, Class) if named is not given else isinstance(target, Class | Function)
    return tuple(entries(target, project)) if fits and not isinstance(target, str) else ()


def entries(target: Function | Class | Module | None, project: Project) -> Iterator[Function]:
    """What runs where a function or an object of a class is called."""
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
    body = [s for s in module.tree.body if not isinstance(s, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)]
    node = ast.FunctionDef(
        name="<module>",
        args=ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[]),
        body=body,
        decorator_list=[],
    )
    node.lineno, node.col_offset, node.returns = 1, 0, None
    return Function("<module>", node, module)


def _own_nodes(body: Sequence[ast.stmt]) -> Iterator[ast.AST]:
    pending: list[ast.AST] = list(body)
    while pending:
        child = pending.pop()
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        yield child
        pending.extend(children(child))


def checkpoints(inference: Inference) -> Checkpoints:
    """The functions under `torch.utils.checkpoint` in the whole project, with those that they call."""
    reached: set[Function] = set()
    unresolved: list[str] = []
    for name in modules_with_checkpoint(inference.project):
        module = inference.project.modules[name]
        for function in module.all_functions:
            for node in function.of(ast.Call):
                if not node.args:
                    continue
                if not (module.qualified(node.func) or "").startswith("torch.utils.checkpoint."):
                    continue
                targets = functions_of(inference.facts(function).value(node.args[0]), inference.project)
                if not targets:
                    unresolved.append(ast.unparse(node).splitlines()[0][:60])
                pending = list(targets)
                while pending:
                    target = pending.pop()
                    if target not in reached:
                        reached.add(target)
                        pending.extend(inference.facts(target).calls.values())
    return Checkpoints(frozenset(reached), tuple(dict.fromkeys(unresolved)))

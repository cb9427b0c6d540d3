"""Which functions run under `torch.compile`, and how each is reached.

Where every `torch.compile` in the analysed code can be resolved, these are its targets and what they call. Where there
is none, or one cannot be resolved (`torch.compile(build())`), the code is taken for a library: `forward` of modules,
derivatives of autograd functions and functions on tensors count as compiled, since their users compile them. So it is
where all that a package compiles are functions that it decorates, and no module.
"""

from __future__ import annotations

import ast
import re
from collections import deque
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

from compilefix.analysis.array_functions import array_functions, may_hold_array_functions
from compilefix.analysis.compile_sites import (
    compile_sites,
    entries,
    functions_of,
    is_compile_call,
    modules_with_compile,
)
from compilefix.analysis.evidence import Evidence
from compilefix.analysis.host_acts import drives, prepares
from compilefix.analysis.host_code import feeds_or_tests, handles_files, shows_or_keeps
from compilefix.analysis.infer import FunctionFacts, Inference
from compilefix.analysis.library_roots import is_library_root, library_roots, may_hold_roots
from compilefix.analysis.live_code import effects_at_the_boundary, leaves, live_nodes
from compilefix.analysis.own_hooks import own_hooks
from compilefix.analysis.tensor_functions import (
    NEVER_COMPILED,
    is_beside_the_work,
    is_called_like_a_module,
    is_part_on_tensors,
    is_tensor_function,
    label_of,
    tensor_functions,
    works_on_tensors_and_the_host,
)
from compilefix.analysis.tensor_work import SETS_UP
from compilefix.analysis.values import FUNCTION, Kind, tensor
from compilefix.source.definitions import Class, Function
from compilefix.source.files import SourceFile
from compilefix.source.module import Module
from compilefix.source.project import Project
from compilefix.source.tree import walk

_RUN_WHAT_IS_GIVEN = frozenset(
    {"functools.partial", "map", "filter", "torch.utils.checkpoint.checkpoint", "torch.vmap"}
    | {f"{module}.vmap" for module in ("torch.func", "functorch")}
    | {f"torch.func.{name}" for name in ("grad", "grad_and_value", "vjp", "jvp", "jacrev", "jacfwd", "hessian")}
)
"""They call their first argument, or make something that is called for it."""
_INSTALLED = frozenset({"site-packages", "dist-packages"})


@dataclass(frozen=True, eq=False)
class CompiledFunction:
    """A function that runs compiled: its facts, how its root is compiled, and the functions from there to it.

    `callers` call each other and the function. Before them comes, in `led_by`, what leads there without a call that is
    seen: one that names the first of them, or calls the method in whose place it stands. `calls` is what it calls that
    runs compiled too, unless the way was not to go on from there.
    """

    function: Function
    facts: FunctionFacts
    root: str
    callers: tuple[Function, ...] = ()
    led_by: tuple[Function, ...] = ()
    calls: tuple[Function, ...] = ()

    @property
    def reached_by(self) -> tuple[str, ...]:
        """The way to the function in words: how the root is compiled, then the names of what is called."""
        return self.root, *(function.qualname for function in (*self.way, self.function)[1:])

    @property
    def way(self) -> tuple[Function, ...]:
        """All functions from the root to this one."""
        return (*self.led_by, *self.callers)

    @property
    def from_compile_call(self) -> bool:
        """Whether a `torch.compile` in the project leads to the function."""
        return is_compile_call(self.root)


FunctionKey = tuple[str, str, int]
"""Names a function in any process: its file, its qualified name and its line."""


def function_key(function: Function) -> FunctionKey:
    """The key of a function."""
    return function.module.file.path.as_posix(), function.qualname, function.node.lineno


@dataclass(frozen=True, eq=False)
class EntryPoints:
    """Where compiling starts: functions with a label each, and whether the project counts as a library as well."""

    functions: tuple[tuple[Function, str], ...]
    library: bool


def entry_points(inference: Inference, roots: Sequence[str] = ()) -> EntryPoints:
    """The targets of `torch.compile` in the project, and `roots`, names from the config."""
    project = inference.project
    found: list[tuple[Function, str]] = []
    unresolved = False
    decorated = True
    for name in roots:
        target = project.resolve(name.replace(":", "."))
        for function in entries(target if not isinstance(target, str) else None, project):
            found.append((function, f"{name} (configured root)"))
            decorated = False
    for name in modules_with_compile(project):
        for site in compile_sites(project.modules[name], inference):
            unresolved = unresolved or not site.targets or site.passed
            decorated = decorated and isinstance(site.node, ast.FunctionDef) and "." in name
            found.extend((function, site.label) for function in site.targets)
    for function, _ in found:
        # What is compiled is given tensors.
        likely = dict.fromkeys(Evidence(function).computes, tensor(certain=False))
        inference.called_with(function, likely)
    library = unresolved or not found or _is_installed(project)
    return EntryPoints(tuple(found), library or (decorated and _are_helpers(found, inference)))


def _are_helpers(functions: Iterable[tuple[Function, str]], inference: Inference) -> bool:
    """Whether no module is compiled with these: the users of a package that decorates a helper compile the rest."""
    reached = _reach(functions, inference)
    return not any(f.cls is not None and inference.project.is_module_class(f.cls) for f in reached)


def _is_installed(project: Project) -> bool:
    """Whether the files are those of installed packages: what these compile themselves is not all that is compiled."""
    files = project.modules.files.values()
    return any(_INSTALLED & set(file.path.parts) for file in files) or any(
        next(folder.glob("*.dist-info"), None) is not None for folder in {_folder_of_package(file) for file in files}
    )


def _folder_of_package(file: SourceFile) -> Path:
    """The folder in which the outermost package of a file stands: installers put what they know of it beside it."""
    depth = file.module.count(".") + (file.path.name == "__init__.py")
    return file.path.parents[min(depth, len(file.path.parents) - 1)] if file.path.parents else file.path


def compiled_from(entry: EntryPoints, inference: Inference) -> tuple[CompiledFunction, ...]:
    """What the entry points reach."""
    return tuple(_reach(entry.functions, inference).values())


def library_functions(
    inference: Inference, modules: Sequence[str], known: Collection[FunctionKey] = ()
) -> tuple[CompiledFunction, ...]:
    """What the users of a library compile, as seen from some of its modules: what these define and what that reaches.

    Functions in `known` are left out with what only they reach. A function of another module that would be found from
    there is given too, for the way to it, but not what it calls in turn.
    """
    own = [inference.project.modules[name] for name in modules if may_hold_roots(inference.project.modules.files[name])]
    inside = {id(module) for module in own}

    def is_end(function: Function) -> bool:
        # What brings something to or from a file breaks the graph itself, and what it calls runs between two graphs.
        if handles_files(function, inference.project):
            return True
        return id(function.module) not in inside and is_library_root(function, inference)

    def enters(root: str, callee: Function) -> bool:
        # That a function on tensors counts as compiled is a guess, which does not hold for what it shows.
        if alone or leads_from_a_forward(root) or is_called_like_a_module(callee, project):
            return True
        return handles_files(callee, project) or not is_beside(callee)

    def is_method(_root: str, callee: Function) -> bool:
        # An augmentation draws in methods of its own.
        return (
            callee.cls is not None and not project.is_module_class(callee.cls) and not shows_or_keeps(callee, project)
        )

    project = inference.project
    alone = len(project.modules) == 1  # a file by itself may hold just what somebody compiles
    is_beside = cache(lambda function: is_beside_the_work(function, project))
    roots = list(library_roots(own, project))
    reached = _reach((root for root in roots if leads_from_a_forward(root[1])), inference, known, is_end)
    named = list(_handed_on(reached, inference))
    ways = {target: (*caller.way, caller.function) for target, caller in named}
    _reach(((target, caller.root) for target, caller in named), inference, known, is_end, reached, ways=ways)
    # What a `forward` calls is told as that, and not as a function on tensors that somebody may compile by itself.
    _reach_overriding(own, inference, known, is_end, reached, enters)
    _reach(roots, inference, known, is_end, reached)
    _reach(tensor_functions(own, inference), inference, known, is_end, reached, enters)
    # What only callers know to be tensors was found out on the way.
    late = [f for f in inference.outdated if id(f.module) in inside and f not in reached]
    roots = [(f, label_of(f)) for f in late if is_tensor_function(f, inference)]
    _reach(roots, inference, known, is_end, reached, enters)
    _reach_overriding(own, inference, known, is_end, reached, enters)
    # What works on the host as well is told by itself: of what it calls, methods alone are compiled with it.
    beside = [(f, label_of(f)) for module in own for f in module.all_functions if f not in reached]
    beside = [(f, label) for f, label in beside if works_on_tensors_and_the_host(f, inference)]
    _reach(beside, inference, known, lambda f: f.cls is None, reached, is_method)
    _reach_parts_of((f for f, _ in beside if f in inference.for_others), inference, known, reached)
    _reach(_on_arrays(modules, inference, reached), inference, known, is_end, reached)
    while hooks := list(_hooks(own, reached, known, inference)):
        _reach(hooks, inference, known, is_end, reached, enters)
    return tuple(reached.values())


def _reach_parts_of(
    functions: Iterable[Function],
    inference: Inference,
    known: Collection[FunctionKey],
    reached: dict[Function, CompiledFunction],
) -> None:
    """Add the parts of functions that code round the model uses: functions with an underscore, of the same file."""
    pending = deque(f for f in functions if f.cls is None and f in reached)
    while pending:
        function = pending.popleft()
        whole = reached[function]
        parts = [
            (callee, whole.root)
            for callee in _callees(whole.facts, inference)
            if callee not in reached and callee.module is function.module and is_part_on_tensors(callee, inference)
        ]
        ways = {callee: (*whole.way, function) for callee, _ in parts}
        _reach(parts, inference, known, lambda _: True, reached, ways=ways)
        pending.extend(callee for callee, _ in parts if callee in reached)


def _on_arrays(
    modules: Iterable[str], inference: Inference, reached: Container[Function]
) -> Iterator[tuple[Function, str]]:
    """The functions on arrays alone that some modules have, by themselves."""
    project = inference.project
    held = (project.modules[name] for name in modules if may_hold_array_functions(project.modules.files[name]))
    return ((f, label_of(f)) for f in list(array_functions(held, project)) if f not in reached)


def _handed_on(
    reached: Mapping[Function, CompiledFunction], inference: Inference
) -> Iterator[tuple[Function, CompiledFunction]]:
    """The functions on tensors that what was reached names without a call that is seen: `spline = cubic_spline`."""
    for compiled in tuple(reached.values()):
        function = compiled.function
        named = (*function.of(ast.Name), *function.of(ast.Attribute))
        for value in map(compiled.facts.value, named):
            if value.ref is None or not value.is_(Kind.CALLABLE):
                continue
            target = inference.project.resolve(value.ref)
            if isinstance(target, Function) and target not in reached and is_library_root(target, inference):
                yield target, compiled


def _reach_overriding(
    modules: Sequence[Module],
    inference: Inference,
    known: Collection[FunctionKey],
    is_end: Callable[[Function], bool],
    reached: dict[Function, CompiledFunction],
    enters: Callable[[str, Function], bool],
) -> None:
    """Add what subclasses put in the place of the methods that are reached, and what that reaches."""
    while overriding := list(_overriding(modules, reached, known, inference)):
        ways = {method: (*caller.way, caller.function) for method, caller in overriding}
        _reach(((m, caller.root) for m, caller in overriding), inference, known, is_end, reached, enters, ways)


def _overriding(
    modules: Iterable[Module],
    reached: Mapping[Function, CompiledFunction],
    known: Collection[FunctionKey],
    inference: Inference,
) -> Iterator[tuple[Function, CompiledFunction]]:
    """The methods that subclasses of a module put in the place of what it calls compiled: `self._compute(x)`."""
    project = inference.project
    called: dict[tuple[Class, str], CompiledFunction] = {}
    for compiled in reached.values():
        for node, callee in compiled.facts.calls.items():
            own = isinstance(node, ast.Call) and _is_own(node.func)
            if own and callee.cls is not None and project.is_module_class(callee.cls):
                called.setdefault((callee.cls, callee.node.name), compiled)
    names = {name for _, name in called if not name.lstrip("_").startswith(SETS_UP)} - NEVER_COMPILED
    for module in modules:
        for cls in module.classes.values():
            overridden = names & cls.methods.keys()
            if not overridden or feeds_or_tests(cls, project):
                continue
            bases = [base for base in project.ancestors(cls) if isinstance(base, Class) and base is not cls]
            for name in sorted(overridden):
                method = cls.methods[name]
                caller = next((called[base, name] for base in bases if (base, name) in called), None)
                taken = method in reached or function_key(method) in known or leaves(method)
                if caller is not None and not taken and not drives(method) and not prepares(method):
                    yield method, caller


def _hooks(
    modules: Iterable[Module],
    reached: Mapping[Function, CompiledFunction],
    known: Collection[FunctionKey],
    inference: Inference,
) -> Iterator[tuple[Function, str]]:
    """What classes on tensors that are no modules have for the `__call__` of a base: `self.get_parameters(image)`.

    The base says what is done, and its subclasses how: one whose other methods compute on tensors does all of it there.
    """
    project = inference.project
    on_tensors = {f.cls for f in reached if f.cls is not None and f.parent is None}
    names = {name for f in reached if f.node.name == "__call__" for name in _asked_of_itself(f)}
    for module in modules:
        for cls in module.classes.values():
            if not (cls in on_tensors or names & cls.methods.keys()):
                continue
            if project.is_module_class(cls) or feeds_or_tests(cls, project):
                continue
            bases = [base for base in project.ancestors(cls) if isinstance(base, Class) and base is not cls]
            template = next((base.methods["__call__"] for base in bases if "__call__" in base.methods), None)
            if template is None or "__call__" in cls.methods or not (cls in on_tensors or template in reached):
                continue
            asked = set(_asked_of_itself(template))
            for base in (cls, *bases):
                asked |= {n for name in asked & base.methods.keys() for n in _asked_of_itself(base.methods[name])}
            for name in sorted(asked & cls.methods.keys() - NEVER_COMPILED):
                method = cls.methods[name]
                taken = method in reached or function_key(method) in known or leaves(method)
                if not taken and not drives(method) and not prepares(method) and not shows_or_keeps(method, project):
                    yield method, label_of(template)


def _asked_of_itself(function: Function) -> Iterator[str]:
    """The names of the methods that a method calls on its object."""
    return (node.func.attr for node in function.of(ast.Call) if _is_own(node.func))  # type: ignore[attr-defined]


def _reach(
    roots: Iterable[tuple[Function, str]],
    inference: Inference,
    known: Collection[FunctionKey] = (),
    is_end: Callable[[Function], bool] = lambda _: False,
    before: dict[Function, CompiledFunction] | None = None,
    enters: Callable[[str, Function], bool] = lambda _root, _callee: True,
    ways: Mapping[Function, tuple[Function, ...]] = MappingProxyType({}),
) -> dict[Function, CompiledFunction]:
    """What the roots reach, added to what was reached `before`.

    `enters` may leave out what is called from a root, and `ways` says what leads to some of the roots.
    """
    reached: dict[Function, CompiledFunction] = {} if before is None else before
    renewed: dict[Function, int] = {}
    pending: deque[tuple[Function, str, tuple[Function, ...], tuple[Function, ...]]] = deque(
        (function, label, (), ways.get(function, ())) for function, label in roots
    )
    while pending:
        function, root, callers, led_by = pending.popleft()
        if function not in reached and function_key(function) not in known and not leaves(function):
            facts = inference.facts(function)
            calls: tuple[Function, ...] = ()
            if not is_end(function):
                callees = _callees(facts, inference)
                calls = tuple(c for c in callees if not prepares(c) and not _makes_host_object(c, inference))
            reached[function] = CompiledFunction(function, facts, root, callers, led_by, calls)
            way = (*callers, function)
            pending.extend((c, root, way, led_by) for c in calls if enters(root, c))
        if not pending:
            # Of some functions more is known now than when they were reached.
            stale = [f for f, times in inference.outdated.items() if f in reached and renewed.get(f, 0) < times]
            renewed.update((f, inference.outdated[f]) for f in stale)
            before_that = [reached.pop(f) for f in stale]
            pending.extend((c.function, c.root, c.callers, c.led_by) for c in before_that)
    return reached


def _makes_host_object(function: Function, inference: Inference) -> bool:
    """Whether a call makes a data set, a logger or a calculator: compiled code may hold one, and makes none."""
    of_class = function.cls if function.node.name == "__init__" else None
    return of_class is not None and feeds_or_tests(of_class, inference.project)


def called_compiled(function: Function, inference: Inference) -> tuple[Function, ...]:
    """What a compiled function calls, as far as it runs compiled too."""
    callees = dict.fromkeys(_callees(inference.facts(function), inference))
    return tuple(callee for callee in callees if not leaves(callee))


def reached_from(functions: Iterable[Function], inference: Inference) -> frozenset[Function]:
    """The functions and all that they call, as far as these run compiled."""
    return frozenset(_reach(((function, "") for function in functions), inference))


def _callees(facts: FunctionFacts, inference: Inference) -> Iterator[Function]:
    later = {part for effect in effects_at_the_boundary(facts) for part in walk(effect)}
    live = [node for node in live_nodes(facts) if node not in later] if later else list(live_nodes(facts))
    alive = set(live) if facts.calls or facts.constructed else ()
    making = facts.function.node.name == "__init__"  # of an object that compiled code makes: that of its base class too
    for node, callee in facts.calls.items():
        if node in alive and (making or callee.node.name != "__init__"):
            yield callee
    yield from (made for node, made in facts.constructed.items() if node in alive)
    yield from _kept_methods(live, facts, inference.project)
    yield from own_hooks(facts.function, inference.project)
    for node in live:
        if isinstance(node, ast.Call):
            if node.args and facts.callee(node) in _RUN_WHAT_IS_GIVEN:
                yield from functions_of(facts.value(node.args[0]), inference.project)
            if node in facts.calls:
                continue
            yield from _one_of_several(node.func, facts.function, inference.project)
            called = facts.value(node.func)
            if called.kinds == FUNCTION.kinds and called.elements:  # a `partial` that has a name
                yield from functions_of(called.elements[0], inference.project)
        # A property runs its getter.
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            base = facts.value(node.value)
            if base.ref is not None and base.is_(Kind.OBJECT):
                cls = inference.project.resolve(base.ref)
                if isinstance(cls, Class):
                    method = inference.project.method(cls, node.attr)
                    if method is not None and method.is_property:
                        yield method


def _one_of_several(func: ast.expr, caller: Function, project: Project) -> Iterator[Function]:
    """What a call may run where the name is defined in several blocks: `try` and `except ImportError`."""
    named = func
    while isinstance(named, ast.Attribute):
        named = named.value
    name = caller.module.qualified(func)
    if name is not None and isinstance(named, ast.Name) and named.id not in caller.bound:
        yield from project.alternatives(name)


def _kept_methods(live: Iterable[ast.AST], facts: FunctionFacts, project: Project) -> Iterator[Function]:
    """What `self.run(...)` calls where `__init__` chose it: `self.run = self.fast if fast else self.exact`."""
    cls = facts.function.cls
    if cls is None:
        return
    for node in live:
        if not isinstance(node, ast.Call) or node in facts.calls or not _is_own(node.func):
            continue
        name = node.func.attr  # type: ignore[attr-defined]
        makers = (base.methods.get("__init__") for base in (cls, *project.ancestors(cls)) if isinstance(base, Class))
        for kept in (value for maker in makers if maker is not None for value in _kept_as(name, maker)):
            method = project.method(cls, kept)
            if method is not None:
                yield method


def _kept_as(name: str, maker: Function) -> Iterator[str]:
    """The methods of its object that `__init__` may keep as an attribute."""
    for statement in maker.of(ast.Assign):
        if any(_is_own(target) and target.attr == name for target in statement.targets):  # type: ignore[attr-defined]
            value = statement.value
            sides = [value.body, value.orelse] if isinstance(value, ast.IfExp) else [value]
            yield from (side.attr for side in sides if isinstance(side, ast.Attribute) and _is_own(side))


def _is_own(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"


def is_given_to_compile(root: str) -> bool:
    """Whether a root is a target of torch.compile in the project, or one that the configuration names."""
    return is_compile_call(root) or root.endswith("(configured root)")


_PICTURES = re.compile(r"_*(visuali[sz]e|plot|imshow|profile|draw_(image|figure|boxes))(_|$)")
"""How functions are called that make pictures or measure times for people."""


def makes_pictures_on_the_way(way: Sequence[str]) -> bool:
    """Whether a function on the way from a root shows something: models do that once in many steps, when asked to."""
    return any(_PICTURES.match(name.rpartition(".")[2]) for name in way[1:])


def leads_from_a_forward(root: str) -> bool:
    """Whether a root is seen to be compiled, or is called as modules are: no function that is only on tensors."""
    return is_given_to_compile(root) or root.endswith((".forward", ".__call__", ".backward"))

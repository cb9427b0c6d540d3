"""Which functions run under `torch.compile`, and how each is reached.

Where every `torch.compile` in the analysed code can be resolved, these are its targets and what they call. Where there
is none, or one cannot be resolved (`torch.compile(build())`), the code is taken for a library: `forward` of modules,
derivatives of autograd functions and functions on tensors count as compiled, since their users compile them. So it is
where all that a package compiles are functions that it decorates, and no module.
"""

from __future__ import annotations

import ast
import re
from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compilefix.analysis.annotations import is_tensor_type
from compilefix.analysis.array_namespaces import array_namespaces
from compilefix.analysis.evidence import Evidence
from compilefix.analysis.host_code import (
    drives,
    feeds_or_tests,
    fits_to_its_input,
    handles_files,
    is_host_code,
    is_test_file,
    opens_files,
    prepares,
    shows_or_keeps,
    takes_arrays,
    trains,
    works_without_torch,
)
from compilefix.analysis.host_work import (
    asked_for,
    does_host_work,
    handles_gradients,
    is_for_a_loop,
    is_optimizer,
    prints,
    shows_progress,
)
from compilefix.analysis.infer import FunctionFacts, Inference
from compilefix.analysis.used_by import serves_others, serves_the_host
from compilefix.analysis.values import Kind, Value, tensor
from compilefix.source.files import SourceFile
from compilefix.source.index import Class, Function, Module, Project
from compilefix.source.tree import children, walk, walk_block

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
    "pytest.fixture",
)
NEVER_COMPILED = frozenset(
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
"""Names of functions that set up, show or keep objects: no user compiles them."""
_MENTIONS_COMPILE = re.compile(r"\.compile\b(?<!\bre\.compile)|import compile\b")
_COMPILE_WORDS = (".compile", "import compile")
_RUN_WHAT_IS_GIVEN = frozenset({"functools.partial", "map", "filter", "torch.utils.checkpoint.checkpoint"})
"""They call their first argument, or make something that is called for it."""
_CHECKPOINT_WORDS = ("torch.utils.checkpoint", "torch.utils import")
_MENTIONS_CHECKPOINT = re.compile(r"torch\.utils\.checkpoint|torch\.utils import \(?[\w\s,]*\bcheckpoint\b")
_INSTALLED = frozenset({"site-packages", "dist-packages"})
_COMPILE = ("torch.compile", "torch.compiler.compile")
# How methods are called that make, fill or compare the parameters of a module, or bring them to and from a file.
_SETS_UP = (
    *("init", "reset", "load", "save", "set_", "register", "build", "make_", "export", "resize", "tie_", "to_"),
    *("populate", "eq__"),
)
_MAKES_TENSOR = frozenset(
    {"randn", "rand", "randint", "normal", "zeros", "ones", "full", "empty", "arange", "linspace"}
)
_SHARED = frozenset(
    {"sum", "mean", "max", "min", "any", "all", "std", "var", "prod", "argmax", "argmin", "cumsum", "dot", "clip", "T"}
    | {"reshape", "flatten", "squeeze", "transpose", "ravel", "nonzero", "item", "tolist", "shape", "ndim", "dtype"}
)
"""What arrays have as tensors do."""
_BUILTINS = ("len", "range", "min", "max", "int", "float", "isinstance", "enumerate", "zip", "sorted", "list", "tuple")
_DECIDING: tuple[type[ast.AST], ...] = (ast.If, ast.While, ast.IfExp, ast.Assert)
_CLOSED: tuple[type[ast.AST], ...] = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)


@dataclass(frozen=True, eq=False)
class CompiledFunction:
    """A function that runs compiled: its facts, how its root is compiled, and the functions from there to it."""

    function: Function
    facts: FunctionFacts
    root: str
    callers: tuple[Function, ...] = ()

    @property
    def reached_by(self) -> tuple[str, ...]:
        """The way to the function in words: how the root is compiled, then the names of what is called."""
        return self.root, *(function.qualname for function in (*self.callers, self.function)[1:])


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
        for function in _entries(target if not isinstance(target, str) else None, project):
            found.append((function, f"{name} (configured root)"))
            decorated = False
    for name in modules_with_compile(project):
        for site in compile_sites(project.modules[name], inference):
            unresolved = unresolved or not site.targets
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
    own = [
        inference.project.modules[name] for name in modules if _may_hold_roots(inference.project.modules.files[name])
    ]
    inside = {id(module) for module in own}

    def is_end(function: Function) -> bool:
        # What brings something to or from a file breaks the graph itself, and what it calls runs between two graphs.
        if handles_files(function, inference.project):
            return True
        return id(function.module) not in inside and is_library_root(function, inference)

    def enters(root: str, callee: Function) -> bool:
        # That a function on tensors counts as compiled is a guess, which does not hold for what it shows.
        if alone or leads_from_a_forward(root) or _is_called_like_a_module(callee, project):
            return True
        return handles_files(callee, project) or not is_beside(callee)

    project = inference.project
    alone = len(project.modules) == 1  # a file by itself may hold just what somebody compiles
    is_beside = cache(lambda function: _is_beside_the_work(function, project))
    reached = _reach(_library_roots(own, project), inference, known, is_end)
    _reach(_handed_on(reached, inference), inference, known, is_end, reached)
    _reach(_tensor_functions(own, inference), inference, known, is_end, reached, enters)
    # What only callers know to be tensors was found out on the way.
    late = [f for f in inference.outdated if id(f.module) in inside and f not in reached]
    roots = [(f, _label(f)) for f in late if _is_tensor_function(f, inference)]
    _reach(roots, inference, known, is_end, reached, enters)
    while overriding := list(_overriding(own, reached, known, inference)):
        _reach(overriding, inference, known, is_end, reached, enters)
    # What works on the host as well is told by itself: what it calls is not taken to be compiled for that.
    beside = [(f, _label(f)) for module in own for f in module.all_functions if f not in reached]
    beside = [(f, label) for f, label in beside if _works_on_tensors_and_the_host(f, inference)]
    _reach(beside, inference, known, lambda _: True, reached)
    return tuple(reached.values())


def _handed_on(reached: Mapping[Function, CompiledFunction], inference: Inference) -> Iterator[tuple[Function, str]]:
    """The functions on tensors that what was reached names without a call that is seen: `spline = cubic_spline`."""
    for compiled in tuple(reached.values()):
        function = compiled.function
        named = (*function.of(ast.Name), *function.of(ast.Attribute))
        for value in map(compiled.facts.value, named):
            if value.ref is None or not value.is_(Kind.CALLABLE):
                continue
            target = inference.project.resolve(value.ref)
            if isinstance(target, Function) and target not in reached and is_library_root(target, inference):
                yield target, compiled.root


def _overriding(
    modules: Iterable[Module],
    reached: Mapping[Function, CompiledFunction],
    known: Collection[FunctionKey],
    inference: Inference,
) -> Iterator[tuple[Function, str]]:
    """The methods that subclasses of a module put in the place of what it calls compiled: `self._compute(x)`."""
    project = inference.project
    called: dict[tuple[Class, str], str] = {}
    for compiled in reached.values():
        for node, callee in compiled.facts.calls.items():
            own = isinstance(node, ast.Call) and _is_own(node.func)
            if own and callee.cls is not None and project.is_module_class(callee.cls):
                called.setdefault((callee.cls, callee.node.name), compiled.root)
    names = {name for _, name in called if not name.lstrip("_").startswith(_SETS_UP)} - NEVER_COMPILED
    for module in modules:
        for cls in module.classes.values():
            overridden = names & cls.methods.keys()
            if not overridden or feeds_or_tests(cls, project):
                continue
            bases = [base for base in project.ancestors(cls) if isinstance(base, Class) and base is not cls]
            for name in sorted(overridden):
                method = cls.methods[name]
                root = next((called[base, name] for base in bases if (base, name) in called), None)
                taken = method in reached or function_key(method) in known or leaves(method)
                if root is not None and not taken and not drives(method) and not prepares(method):
                    yield method, root


def is_library_root(function: Function, inference: Inference) -> bool:
    """Whether the users of a library may compile the function itself, whatever its callers say of it."""
    project = inference.project
    if function.cls is not None and function.parent is None and function.node.name in _roots_of(function.cls, project):
        return function.cls.methods.get(function.node.name) is function
    return _is_tensor_function(function, inference) and _on_tensors(function, inference, inference.without_hints)


def _reach(
    roots: Iterable[tuple[Function, str]],
    inference: Inference,
    known: Collection[FunctionKey] = (),
    is_end: Callable[[Function], bool] = lambda _: False,
    before: dict[Function, CompiledFunction] | None = None,
    enters: Callable[[str, Function], bool] = lambda _root, _callee: True,
) -> dict[Function, CompiledFunction]:
    """What the roots reach, added to what was reached `before`. `enters` may leave out what is called from a root."""
    reached: dict[Function, CompiledFunction] = {} if before is None else before
    renewed: dict[Function, int] = {}
    pending: deque[tuple[Function, str, tuple[Function, ...]]] = deque(
        (function, label, ()) for function, label in roots
    )
    while pending:
        function, root, callers = pending.popleft()
        if function not in reached and function_key(function) not in known and not leaves(function):
            facts = inference.facts(function)
            reached[function] = CompiledFunction(function, facts, root, callers)
            if not is_end(function):
                way = (*callers, function)
                called = (
                    c for c in _callees(facts, inference) if not prepares(c) and not _makes_host_object(c, inference)
                )
                pending.extend((c, root, way) for c in called if enters(root, c))
        if not pending:
            # Of some functions more is known now than when they were reached.
            stale = [f for f, times in inference.outdated.items() if f in reached and renewed.get(f, 0) < times]
            renewed.update((f, inference.outdated[f]) for f in stale)
            before_that = [reached.pop(f) for f in stale]
            pending.extend((c.function, c.root, c.callers) for c in before_that)
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
    for node in live:
        if isinstance(node, ast.Call) and node.args and facts.callee(node) in _RUN_WHAT_IS_GIVEN:
            yield from _targets(facts.value(node.args[0]), inference.project)
        if isinstance(node, ast.Call) and node not in facts.calls:
            yield from _one_of_several(node.func, facts.function, inference.project)
        # A property runs its getter.
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
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
    return any(d in _LEAVES_REGION or d.endswith((".setter", ".deleter")) for d in function.decorators)


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
                if receiver.is_(Kind.OBJECT) and receiver.ref is not None:
                    yield CompileSite(
                        _targets(receiver, project), f"{ast.unparse(call.func.value)}.compile()", call, in_place=True
                    )
                continue
            if not call.args:
                continue  # torch.compile(mode=...) makes a decorator
            given = call.args[0]
            targets = _targets(facts.value(given), project) or _named_otherwise(given, holder, project)
            yield CompileSite(targets, f"torch.compile({ast.unparse(given)})", call)


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


def _named_otherwise(given: ast.expr, holder: Function, project: Project) -> tuple[Function, ...]:
    """What `f` and `Net()` run, where these are other names that the module gives to what it defines or imports."""
    named = given.func if isinstance(given, ast.Call) else given
    module = holder.module
    if not isinstance(named, ast.Name) or named.id not in module.assigns or named.id in holder.bound:
        return ()
    target = project.resolve(f"{module.name}.{named.id}")
    fits = isinstance(target, Class) if named is not given else isinstance(target, Class | Function)
    return tuple(_entries(target, project)) if fits and not isinstance(target, str) else ()


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


def _may_hold_roots(file: SourceFile) -> bool:
    text = file.text
    return "torch" in text or "def forward" in text or "def backward" in text or "backend" in text


def _roots_of(cls: Class, project: Project) -> tuple[str, ...]:
    if project.is_autograd_function(cls):
        return ("forward", "backward")
    if not project.is_module_class(cls) or trains(cls, project):
        return ()
    return tuple(
        name
        for name in ("forward", "__call__")
        if (method := cls.methods.get(name)) is None
        or not (_is_for_arrays(method, project) or fits_to_its_input(method))
    )


def _is_for_arrays(method: Function, project: Project) -> bool:
    """Whether a method that is called as modules are works on arrays."""
    return takes_arrays(method, project) or works_without_torch(method)


def _library_roots(modules: Iterable[Module], project: Project) -> Iterator[tuple[Function, str]]:
    alone = len(project.modules) == 1  # a file by itself may hold just what somebody compiles
    for module in modules:
        if not alone and is_test_file(module):
            continue
        for cls in module.classes.values():
            for name in _roots_of(cls, project):
                if name in cls.methods:
                    method = cls.methods[name]
                    yield method, method.qualname


def _tensor_functions(modules: Iterable[Module], inference: Inference) -> Iterator[tuple[Function, str]]:
    for module in modules:
        for function in module.all_functions:
            try:
                if _is_tensor_function(function, inference):
                    yield function, _label(function)
            except RecursionError:
                inference.too_deep.append(function)


def _label(function: Function) -> str:
    """How a function on tensors is called as a root: not as the `forward` or `__call__` of a module is."""
    alone = function.node.name in ("forward", "__call__", "backward")
    return f"{function.qualname} by itself" if alone else function.qualname


def is_given_to_compile(root: str) -> bool:
    """Whether a root is a target of torch.compile in the project, or one that the configuration names."""
    return "compile" in root or root.endswith("(configured root)")


def leads_from_a_forward(root: str) -> bool:
    """Whether a root is seen to be compiled, or is called as modules are: no function that is only on tensors."""
    return is_given_to_compile(root) or root.endswith((".forward", ".__call__", ".backward"))


def _is_tensor_function(function: Function, inference: Inference) -> bool:
    makes_distribution = _makes_distribution(function, inference.project)
    return (
        _may_be_tensor_function(function, makes_distribution)
        # What drives a model is no root, but says which arguments of other functions are tensors: it is walked first.
        and _on_tensors(function, inference, inference.facts)
        and (
            makes_distribution
            or _is_called_like_a_module(function, inference.project)
            or not _is_around_the_model(function, inference)
        )
    )


def _may_be_tensor_function(function: Function, makes_distribution: bool = False) -> bool:
    name = function.node.name
    return (
        (function.parent is None or _is_returned(function))
        and (function.module.mentions("torch") or bool(array_namespaces(function)))
        and (name not in NEVER_COMPILED or makes_distribution)
        and not name.startswith("test")
    )


def _is_around_the_model(function: Function, inference: Inference) -> bool:
    """Whether the function is code round the model, calls what trains one or runs it over a data set, or makes one.

    A file by itself may hold just what somebody compiles: there only what trains or opens files is left out.
    """
    if len(inference.project.modules) == 1:
        return drives(function) or opens_files(function)
    if _is_on_the_host(function, inference.project):
        return True
    facts = inference.facts(function)
    project = inference.project
    classes = {made.cls for made in facts.constructed.values()}
    called = _calls(facts)
    if any(_is_around_the_model(base, inference) for base in _overridden(function, called, project)):
        return True
    asked = {facts.calls[node] for node in asked_for(function) if node in facts.calls}
    if any(drives(callee) or (callee not in asked and shows_or_keeps(callee, project)) for callee in called):
        return True
    if any(does_host_work(callee) and callee.node.name != "forward" for callee in called):
        return True
    around = (callee for callee in called if is_host_code(callee, project))
    further = {callee for one in around for callee in _calls(inference.facts(one))} - called
    if any(shows_or_keeps(callee, project) for callee in further):
        return True
    if any(cls is not None and feeds_or_tests(cls, project) for cls in classes):
        return True
    return serves_the_host(
        function,
        project,
        is_host=lambda user: _never_runs(user) or _is_on_the_host(user, project),
        live=lambda user: live_nodes(inference.facts(user)),
    ) or _serves_others(function, inference, ())


def _works_on_tensors_and_the_host(function: Function, inference: Inference) -> bool:
    """Whether a function would count as compiled by what it does with tensors, but for its own work on the host.

    It draws with NumPy, shows how far it has come, goes on with arrays, or reads gradients. Who compiles it all the
    same has its breaks, which nothing else would tell.
    """
    project = inference.project
    if not (does_host_work(function) or handles_gradients(function, project)):
        return False
    if prints(function) or is_for_a_loop(function) or is_host_code(function, project):
        return False
    return _may_be_tensor_function(function) and _on_tensors(function, inference, inference.facts)


def _never_runs(function: Function) -> bool:
    return function.node.name in NEVER_COMPILED or leaves(function)


def _may_run(function: Function, inference: Inference, used: tuple[Function, ...]) -> bool:
    """Whether what uses another function may be compiled, or is a loop over the data, which calls what is compiled.

    A function by itself may be where it is on tensors, and not for others again that are not; `used` are those on the
    way. A method may be as part of what its object does.
    """
    project = inference.project
    if _never_runs(function) or function in used:
        return False
    if drives(function) or shows_progress(function):
        return True
    if _is_on_the_host(function, project):
        return False
    by_itself = function.cls is None and function.parent is None and not _hands_through(function, used[-1:], inference)
    if by_itself and not _on_tensors(function, inference, inference.facts):
        return False
    return not _serves_others(function, inference, used)


def _hands_through(function: Function, to: tuple[Function, ...], inference: Inference) -> bool:
    """Whether a function gives one on tensors what it is given itself, which are tensors then: `return twice(x)`."""
    given = {p.arg for p in function.parameters}
    calls = (node for node, callee in inference.facts(function).calls.items() if callee in to)
    return any(
        isinstance(a, ast.Name) and a.id in given for node in calls if isinstance(node, ast.Call) for a in node.args
    )


def _serves_others(function: Function, inference: Inference, used: tuple[Function, ...]) -> bool:
    """Whether nothing that uses a function, or the objects of its class, may be compiled.

    What a module does is asked for by users of the project, but for what is there to set it up.
    """
    project, cls, way = inference.project, function.cls, (*used, function)
    if function.parent is not None:
        return False
    if cls is None:
        return serves_others(function, project, lambda user: _may_run(user, inference, way))
    bases = [base for base in project.ancestors(cls) if isinstance(base, str)]
    if not project.is_module_class(cls) and not any(base.startswith("torch") or "Metric" in base for base in bases):
        return serves_others(cls, project, lambda user: _may_run(user, inference, way))
    name = function.node.name
    asks = (other for other in cls.methods.values() if any(node.attr == name for node in other.of(ast.Attribute)))
    if not any(other.node.name in NEVER_COMPILED for other in asks):
        return False
    return serves_others(function, project, lambda user: user.node.name not in NEVER_COMPILED)


def _is_on_the_host(function: Function, project: Project) -> bool:
    """Whether the function by itself is code round the model, or does work on the host."""
    if is_host_code(function, project) or does_host_work(function):
        return True
    return prints(function) or is_for_a_loop(function) or handles_gradients(function, project)


def _is_beside_the_work(function: Function, project: Project) -> bool:
    """Whether code that is compiled would call the function for another thing than what it computes."""
    if does_host_work(function) or prints(function) or shows_or_keeps(function, project):
        return True
    return function.cls is not None and feeds_or_tests(function.cls, project)


def _calls(facts: FunctionFacts) -> set[Function]:
    return {callee for callee in facts.calls.values() if callee.node.name != "__init__"}


def _overridden(function: Function, called: Iterable[Function], project: Project) -> Iterator[Function]:
    """The method of a base class that a method calls where it stands in its place: `super().generate(...)`."""
    bases = () if function.cls is None else project.ancestors(function.cls)
    for callee in called:
        if callee.node.name == function.node.name and callee.cls is not function.cls and callee.cls in bases:
            yield callee


def _is_returned(function: Function) -> bool:
    """Whether the function round a nested one gives it to its caller."""
    if function.parent is None:
        return False
    returns = function.parent.of(ast.Return)
    return any(isinstance(node.value, ast.Name) and node.value.id == function.node.name for node in returns)


def _makes_distribution(function: Function, project: Project) -> bool:
    """Whether a distribution is made: compiled code makes one of its tensors, and samples from it, in each call.

    One that is a module as well, as a prior is, is made once.
    """
    if function.cls is None or function.node.name != "__init__" or project.is_module_class(function.cls):
        return False
    return any(isinstance(a, str) and a.startswith("torch.distributions.") for a in project.ancestors(function.cls))


def _is_called_like_a_module(function: Function, project: Project) -> bool:
    if function.cls is None or function.parent is not None or function.node.name != "forward":
        return False
    if is_test_file(function.module) and len(project.modules) > 1:
        return False
    return not (
        feeds_or_tests(function.cls, project) or trains(function.cls, project) or _is_for_arrays(function, project)
    )


def _on_tensors(function: Function, inference: Inference, look: Callable[[Function], FunctionFacts]) -> bool:
    """Whether the function computes on tensors: it gets one, or has one in an attribute of an object of its class."""
    start = 0 if function.cls is None or function.is_static else 1
    names = {a.arg for a in function.parameters[start:] if _may_be_tensor(a, function, inference)}
    if names:
        facts = look(function)
        tensors = [n for n in function.of(ast.Name) if n.id in names and _holds_tensor(facts.value(n))]
        alone = len(inference.project.modules) == 1  # a file by itself may hold just what somebody compiles
        if tensors and not set(live_nodes(facts)).isdisjoint(tensors) and (alone or not _is_array_code(tensors, facts)):
            return True
    return _on_state(function, inference, look) or bool(names and array_namespaces(function))


def _is_array_code(tensors: Sequence[ast.Name], facts: FunctionFacts) -> bool:
    """Whether what looks like tensors are more likely arrays: only NumPy is called with them, and nothing of torch."""
    if any(facts.value(node).certain for node in tensors) or "numpy" not in facts.function.module.packages:
        return False
    called = facts.refs.items()
    of_numpy = [node for node, name in called if name.startswith("numpy.") and isinstance(node, ast.Call)]
    if not of_numpy or any(name.startswith("torch.") for _, name in called):
        return False
    if any(name.startswith("Tensor.") for _, name in called):
        # `x.sum()` is a method of both: beside it stands what NumPy is given of them.
        arrays = any(_holds_tensor(facts.value(given)) for node in of_numpy for given in node.args)
        if not arrays or any(name.startswith("Tensor.") and name[7:] not in _SHARED for _, name in called):
            return False
    others = (
        n
        for n in facts.function.of(ast.Call)
        if not facts.refs.get(n, "").startswith(("numpy.", *_BUILTINS)) and not _is_beside(facts.calls.get(n), facts)
    )
    return not {part for call in others for part in (*call.args, *(k.value for k in call.keywords))} & set(tensors)


def _is_beside(callee: Function | None, facts: FunctionFacts) -> bool:
    """Whether a call is one of a function of the same file, which may work on arrays as well."""
    return callee is not None and callee.cls is None and callee.module is facts.function.module


def _holds_tensor(value: Value) -> bool:
    """Whether a value, or an item of it, is seen to be a tensor."""
    items = value.element
    return (Kind.TENSOR in value.kinds and not value.is_unknown) or (
        items is not None and Kind.TENSOR in items.kinds and not items.is_unknown
    )


def _on_state(function: Function, inference: Inference, look: Callable[[Function], FunctionFacts]) -> bool:
    """Whether a method computes on tensors that its object keeps, such as `compute` of a metric.

    Of a module users compile `forward` and what it calls; a method that stands beside it counts where it decides
    something by a tensor, or selects by one (`x[self.ages > 3]`), or computes with a tensor that it makes, and is not
    one that sets the module up. A method of another class counts too where it does so by what is proved to be a tensor.
    """
    if function.cls is None or function.is_static or not function.parameters:
        return False
    # Large packages have thousands of methods that read attributes, and to look at each would be most of a check.
    if not function.cls.names_torch:
        return False
    if function.node.name == "step" and is_optimizer(function.cls, inference.project):
        return True  # `torch.compile(optimizer.step)` is how an optimizer is compiled
    tests = [node.test for kind in _DECIDING for node in function.of(kind)]  # type: ignore[attr-defined]
    tests += [node.slice for node in function.of(ast.Subscript) if isinstance(node.slice, ast.Compare)]
    of_module = inference.project.is_module_class(function.cls)
    instance = function.parameters[0].arg
    if of_module and function.node.name.lstrip("_").startswith(_SETS_UP):
        return False
    if of_module and _samples(function, instance):
        return True
    if of_module and not tests:
        return False
    reads = [
        node
        for node in function.of(ast.Attribute)
        if isinstance(node.value, ast.Name) and node.value.id == instance and isinstance(node.ctx, ast.Load)
    ]
    if not reads:
        return False
    facts = look(function)
    if of_module:
        nodes: Sequence[ast.expr] = tests
    else:
        nodes = [*reads, *tests] if _is_kind_of_tensor(function.cls, inference.project) else reads
    found = map(facts.value, nodes)
    if of_module or _is_metric(function.cls, inference.project):
        shown = any(map(_holds_tensor, found))
    else:
        shown = any(Kind.TENSOR in value.kinds and not value.is_unknown for value in found)
    if shown:
        return True
    if of_module:
        return False
    if any(_asks_for_gradients(node, facts) for node in function.of(ast.Call)):
        return True
    # What sets an object up is run once, whatever it decides by the tensors that it draws, and a picture is shown.
    name = function.node.name.lstrip("_")
    beside = name.startswith(_SETS_UP) or "render" in name
    return not beside and any(v.is_tensor and v.certain for v in map(facts.value, tests))


def _asks_for_gradients(node: ast.Call, facts: FunctionFacts) -> bool:
    """Whether a call asks autograd for gradients: nothing but tensors has any."""
    return facts.refs.get(node) == "torch.autograd.grad"


def _samples(function: Function, instance: str) -> bool:
    """Whether a method of a module makes a tensor and computes with the module from there: `sample`, `generate`."""
    uses = made = False
    for node in function.of(ast.Call):
        func = node.func
        if isinstance(func, ast.Attribute):
            uses = uses or (isinstance(func.value, ast.Name) and func.value.id == instance)
            starts = func.attr in _MAKES_TENSOR and isinstance(func.value, ast.Name)
            made = made or (starts and (function.module.qualified(func) or "").startswith("torch."))
        else:
            uses = uses or (isinstance(func, ast.Name) and func.id == instance)
    return uses and made


def _is_metric(cls: Class, project: Project) -> bool:
    """Whether a class is a metric of another package: what `update` collects in lists, `compute` computes with."""
    return any(isinstance(a, str) and a.rpartition(".")[2] == "Metric" for a in project.ancestors(cls))


def _is_kind_of_tensor(cls: Class, project: Project) -> bool:
    """Whether the objects of a class are tensors: all that its methods do is done on one."""
    return any(isinstance(a, str) and is_tensor_type(a) for a in project.ancestors(cls))


def _may_be_tensor(parameter: ast.arg, function: Function, inference: Inference) -> bool:
    declared = inference.annotated(parameter.annotation, function.module)
    return declared.may_be(Kind.TENSOR) or (declared.element is not None and declared.element.may_be(Kind.TENSOR))


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
    for name in modules_with_checkpoint(inference.project):
        module = inference.project.modules[name]
        for function in module.all_functions:
            for node in function.of(ast.Call):
                if not node.args:
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

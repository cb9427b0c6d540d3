"""What a rule is, and what it may ask about the function it looks at."""

from __future__ import annotations

import ast
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import ClassVar, TypeVar

from compilefix.analysis.failures import failure_handlers
from compilefix.analysis.host_code import is_test_file
from compilefix.analysis.infer import FunctionFacts
from compilefix.analysis.legality import Legality
from compilefix.analysis.live_code import effects_at_the_boundary, live_nodes
from compilefix.analysis.obstacles import Obstacle
from compilefix.analysis.regions import CompiledFunction
from compilefix.analysis.tensor_functions import NEVER_COMPILED
from compilefix.analysis.values import Value
from compilefix.codemods.assumptions import ASSUMPTIONS
from compilefix.codemods.each_call import is_called_each_time, runs_in_each_call
from compilefix.codemods.finding import Effect, Finding, Fix, Span
from compilefix.codemods.handed_out import hands_out_arrays
from compilefix.codemods.number_methods import number_promised
from compilefix.codemods.promised_numbers import promise_broken
from compilefix.codemods.seldom import hardly_runs, is_set_up_by_callers, stands_round_a_model
from compilefix.codemods.versions import covers
from compilefix.codemods.view import View
from compilefix.source.annotated import AnnAssign
from compilefix.source.config import LOGGING_STYLES, OLDEST_TORCH
from compilefix.source.definitions import Class, Function
from compilefix.source.files import SourceFile
from compilefix.source.module import Module
from compilefix.source.texts import word_start
from compilefix.source.tree import by_class, parents

_Node = TypeVar("_Node", bound=ast.AST)
_TORCH = re.compile(r"\btorch\b")


class Scope(View):
    """A compiled function as a rule sees it: its live nodes, their values, and the text.

    `logging` is what the user wants to become of prints and log lines, one of `LOGGING_STYLES`.
    """

    def __init__(
        self, compiled: CompiledFunction, legality: Legality, path: str, logging: str = LOGGING_STYLES[0]
    ) -> None:
        self.compiled = compiled
        self.function = compiled.function
        self.facts: FunctionFacts = compiled.facts
        self.legality = legality
        self.path = path
        self.logging = logging
        self._found: dict[type[Rule], tuple[Finding, ...]] = {}
        self._among: dict[tuple[type[ast.AST], ...], list[ast.AST]] = {}

    def in_function(self, function: Function) -> Scope:
        """Another function of the project, a caller or what is called here, seen as reached in the same way."""
        compiled = replace(self.compiled, function=function, facts=self.legality.inference.facts(function))
        return Scope(compiled, self.legality, self.path)

    def found(self, rule: Rule) -> tuple[Finding, ...]:
        """What a rule finds here, save for what runs outside of graphs. Several rules ask it, so it is found once."""
        kind = type(rule)
        known = self._found.get(kind)
        if known is None:
            known = tuple(rule.find(self))
            if known and self._apart:
                known = tuple(one for one in known if not any(apart.holds(one.span) for apart in self._apart))
            self._found[kind] = known
        return known

    @cached_property
    def stands_for(self) -> frozenset[Function]:
        """The function, and the methods of its bases in whose place it stands: a call of one of them may run it."""
        cls, name = self.function.cls, self.function.node.name
        bases = self.legality.inference.project.ancestors(cls) if cls and self.function.parent is None else ()
        replaced = (base.methods.get(name) for base in bases if isinstance(base, Class))
        return frozenset((self.function, *(method for method in replaced if method is not None)))

    @cached_property
    def _apart(self) -> tuple[Span, ...]:
        """What waits for the boundary, or runs where an operation failed: nothing in it breaks a graph."""
        handlers = (statement for handler in failure_handlers(self.function) for statement in handler.body)
        return tuple(map(self.span, (*effects_at_the_boundary(self.facts), *handlers)))

    @cached_property
    def calls_here(self) -> tuple[tuple[Function, ast.AST], ...]:
        """The calls that lead here, in functions on the way or in modules of the file, and where each stands."""
        is_module = self.legality.inference.project.is_module_class
        methods = (f for f in self.function.module.all_functions if f.cls is not None and is_module(f.cls))
        own = (method for method in methods if method.node.name not in NEVER_COMPILED)
        around = [f for f in dict.fromkeys((*self.compiled.callers, *own)) if f is not self.function]
        called = {caller: frozenset(self.legality.called(caller)) for caller in around}
        leading = set(self.stands_for)
        while more := [f for f in around if f not in leading and not leading.isdisjoint(called[f])]:
            leading.update(more)
        return tuple(
            (caller, node)
            for caller in around
            if caller in leading
            for node, callee in self.legality.inference.facts(caller).calls.items()
            if callee in leading
        )

    def named_calls(
        self, among: Callable[[Function], Iterable[ast.AST]], within: tuple[str, str] | None = None
    ) -> Iterator[tuple[Function, ast.AST]]:
        """The calls by the name of the function, in the files of the project that call something of that name.

        `among` says which nodes of another function count. Files without a word and a match (`within`) have none.
        """
        inference, name = self.legality.inference, self.function.node.name
        modules = inference.project.modules
        likely = None if within is None else frozenset(modules.texts.matching(*within))
        if likely is not None and not likely:
            return
        for module in modules.texts.matching(name, rf"{word_start(name)}(?<!def {name})\s*\("):
            if likely is not None and module not in likely:
                continue
            for function in modules[module].all_functions:
                named = [node for node in among(function) if _called(node) == name]
                if named and function is not self.function:
                    calls = inference.facts(function).calls
                    yield from ((function, node) for node in named if calls.get(node) in self.stands_for)

    @cached_property
    def calls_elsewhere(self) -> tuple[tuple[Function, ast.AST], ...]:
        """The calls of the function in other files than its own, tests aside, and where each stands.

        Of the `forward` of a module those in files that name its class: nobody calls it by its name.
        """
        function, inference = self.function, self.legality.inference
        if function.cls is not None and function.node.name in ("forward", "__call__"):
            name = function.cls.node.name
            named = inference.project.modules.texts.matching(name, rf"{word_start(name)}\b")
            modules = (inference.project.modules[module] for module in named)
            users = (user for module in modules for user in module.all_functions)
            found: Iterable[tuple[Function, ast.AST]] = (
                (user, node)
                for user in users
                for node, called in inference.facts(user).calls.items()
                if called is function
            )
        else:
            found = self.named_calls(lambda user: user.of(ast.Call))
        own = function.module
        return tuple((user, node) for user, node in found if user.module is not own and not is_test_file(user.module))

    def recomputed(self, read: ast.expr, own: Collection[ast.AST] = ()) -> Iterator[Obstacle]:
        """Whether the backward pass may compute what is read here again; `own` are writes that do not count."""
        yield from self.legality.recomputed(read, self.facts, lambda: self.calls_here, own)

    @property
    def file(self) -> SourceFile:
        """The file that the function stands in."""
        return self.function.module.file

    @cached_property
    def lines(self) -> Sequence[str]:
        """The lines of that file."""
        return self.function.module.lines

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """The nodes that run compiled, in source order; nested functions are scopes of their own."""
        return tuple(live_nodes(self.facts))

    @cached_property
    def _by_class(self) -> Mapping[type[ast.AST], list[ast.AST]]:
        return by_class(self.nodes)

    def of(self, kind: type[_Node]) -> Sequence[_Node]:
        """Those of `nodes` that are of one class, in source order."""
        return self._by_class.get(kind, ())  # type: ignore[return-value]

    def among(self, *kinds: type[_Node]) -> Sequence[_Node]:
        """Those of `nodes` that are of several classes, in source order."""
        if kinds not in self._among:
            there = [kind for kind in kinds if kind in self._by_class]
            one = self._by_class[there[0]] if len(there) == 1 else []
            several = (*there, AnnAssign) if ast.Assign in there else (*there,)
            self._among[kinds] = [n for n in self.nodes if n.__class__ in several] if len(there) > 1 else one
        return self._among[kinds]  # type: ignore[return-value]

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """The parent of each live node, up to the function."""
        return parents((self.function.node, *self.nodes))

    def value(self, node: ast.AST) -> Value:
        """What is known of an expression."""
        return self.facts.value(node)

    def callee(self, node: ast.AST) -> str | None:
        """The dotted name of what a call calls: `torch.any`, `Tensor.item`, `math.sqrt`, `logging.Logger.info`."""
        return self.facts.refs.get(node)

    @cached_property
    def called(self) -> frozenset[str]:
        """The names of all that is called, in dead code too."""
        return frozenset(self.facts.refs.values())

    def block(self, statement: ast.stmt) -> list[ast.stmt]:
        """The list of statements that a statement stands in."""
        parent = self.parents[statement]
        for name in ("body", "orelse", "finalbody"):
            body = getattr(parent, name, None)
            if isinstance(body, list) and statement in body:
                return body
        return [statement]

    def names(self, name: str, *, stores: bool = False) -> list[ast.Name]:
        """The places that load (or store) a local name, in source order."""
        kind = ast.Store if stores else ast.Load
        return [n for n in self._names.get(name, ()) if isinstance(n.ctx, kind)]

    def only_assignment(self, name: str) -> ast.Assign | None:
        """The statement `name = value` where no other stores the name. A parameter has a value before it, too."""
        stores = self.names(name, stores=True)
        statement = self.parents.get(stores[0]) if len(stores) == 1 else None
        return statement if isinstance(statement, ast.Assign) and statement.targets == stores else None

    def only_value(self, name: str) -> ast.expr | None:
        """What the only assignment of a name gives it."""
        statement = self.only_assignment(name)
        return None if statement is None else statement.value

    @cached_property
    def is_set_up(self) -> bool:
        """Whether the function is called where something is missing, each time, to make that."""
        return is_set_up_by_callers(self)

    @cached_property
    def is_called_each_time(self) -> bool:
        """Whether no setting, optional argument or size decides that the function is called."""
        return is_called_each_time(self)

    @cached_property
    def hands_out_arrays(self) -> bool:
        """Whether the function makes results for the host, with which what calls it does nothing."""
        return hands_out_arrays(self)

    @cached_property
    def _names(self) -> Mapping[str, list[ast.Name]]:
        found: dict[str, list[ast.Name]] = {}
        for node in self.of(ast.Name):
            found.setdefault(node.id, []).append(node)
        return found

    def local_name(self, module: str) -> str | None:
        """The name under which this file imports a module at its top level, for example `np` for numpy."""
        own = self.function.module
        return own.top_level_imports.get(module) or own.guarded_imports.get(module)


def _shares_its_line(place: Span, lines: Sequence[str]) -> bool:
    """Whether other statements stand on the lines of one: `a = 1; b = 2`, `if c: a = 1`."""
    before = lines[place.line - 1][: place.column]
    return bool(before.strip()) or lines[place.end_line - 1][place.end_column :].lstrip().startswith(";")


def _called(node: ast.AST) -> str | None:
    """The last name of what a call calls."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", None)


_SAYS_WHAT_TO_DO = (" outside ", "give the loop a bound", "goes with the ")
"""What stands in reasons that name a way on."""
_QUOTED = re.compile("`[^`]*`")


def says_what_to_do(reason: str, words: Collection[str]) -> bool:
    """Whether a reason has some of these words, besides the code that it quotes."""
    text = _QUOTED.sub("``", reason)
    return any(said in text for said in words)


class Rule(ABC):
    """One graph-break or recompile pattern. A rule is one file: its docstring, its metadata, `find`.

    `torch` tells the versions in which the pattern costs something: for others as the target the rule is silent.
    The fixes of one that is `last` are made when no other is left to make. `by_hand` says what to do where there is no
    fix, behind reasons that only tell what is in the way.
    """

    code: ClassVar[str]
    name: ClassVar[str]
    summary: ClassVar[str]
    gb: ClassVar[tuple[str, ...]] = ()
    torch: ClassVar[str] = ">=2.6"
    effect: ClassVar[Effect] = "break"
    assumptions: ClassVar[tuple[str, ...]] = ()
    last: ClassVar[bool] = False
    hints: ClassVar[tuple[str, ...]] = ()
    by_hand: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        unknown = [a for a in cls.assumptions if a not in ASSUMPTIONS]
        if unknown:
            raise TypeError(f"{cls.__name__}: no such assumption: {', '.join(unknown)}")
        covers(cls.torch, OLDEST_TORCH)

    @property
    def family(self) -> str:
        """The folder that the rule stands in, for example `control_flow`."""
        return type(self).__module__.split(".")[-2]

    def may_find(self, text: str) -> bool:
        """Whether one of the words without which the rule finds nothing stands in a text."""
        for hint in self.hints:
            if hint in text:
                return True
        return not self.hints

    @abstractmethod
    def find(self, scope: Scope) -> Iterator[Finding]:
        """The findings of this rule in one compiled function."""

    def fixed(self, scope: Scope, node: ast.AST, message: str, fix: Fix, **changes: object) -> Finding:
        """A finding that has a fix, unless that makes a tensor of a number that the function promises to be one.

        edited: the file that the fix is made in, where that is not the function's own.
        """
        edited: Module = changes.get("edited", scope.function.module)  # type: ignore[assignment]
        if "torch" in fix.imports and not any(_TORCH.search(edit.template) for edit in fix.edits):
            fix = replace(fix, imports=tuple(name for name in fix.imports if name != "torch"))
        if any(edit.statement and _shares_its_line(edit.target, edited.lines) for edit in fix.edits):
            reason = "the statement shares its line with others: write each on a line of its own"
            return self.declined(scope, node, message, reason, **changes)
        promised = None
        if "number-to-tensor" in fix.assumptions:
            promised = number_promised(scope.function) or promise_broken(fix, scope)
        if promised is not None:
            return self.declined(scope, node, message, promised, **changes)
        return self._finding(scope, node, message, fix, None, **changes)

    def declined(self, scope: Scope, node: ast.AST, message: str, reason: str, **changes: object) -> Finding:
        """A finding without a fix, and why."""
        return self._finding(scope, node, message, None, reason, **changes)

    def obstructed(self, scope: Scope, node: ast.AST, message: str, reason: str, **changes: object) -> Finding:
        """A finding without a fix: what is in the way, and what to do by hand unless that is said there."""
        if not says_what_to_do(reason, _SAYS_WHAT_TO_DO):
            reason = f"{reason}; {self.by_hand}"
        return self.declined(scope, node, message, reason, **changes)

    def _finding(
        self, scope: Scope, node: ast.AST, message: str, fix: Fix | None, reason: str | None, **changes: object
    ) -> Finding:
        span = scope.span(node)
        effect: Effect = changes.get("effect", self.effect)  # type: ignore[assignment]
        return Finding(
            code=self.code,
            name=self.name,
            path=scope.path,
            span=span,
            message=message,
            function=scope.function.qualname,
            reached_by=scope.compiled.reached_by,
            gb=changes.get("gb", self.gb),  # type: ignore[arg-type]
            effect=effect,
            fix=fix,
            declined=reason,
            source_line=scope.function.module.lines[span.line - 1],
            minor=bool(changes.get("minor"))
            # What the first call sets up may well be what compiles the second one anew.
            or (hardly_runs if effect in ("break", "sync") else stands_round_a_model)(node, scope),
            conditional=not runs_in_each_call(node, scope),
        )

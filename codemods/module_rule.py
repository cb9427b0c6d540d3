"""Rules about the code that uses torch.compile, which does not itself run compiled, and what they see of a module."""

from __future__ import annotations

import ast
from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from compilefix.analysis.compile_sites import mentions_compile
from compilefix.codemods.finding import Finding, Fix
from compilefix.codemods.rule import Rule, Scope
from compilefix.codemods.view import View
from compilefix.source.files import SourceFile
from compilefix.source.module import Module
from compilefix.source.project import Project
from compilefix.source.tree import parents, walk

COMPILE = ("torch.compile", "torch.compiler.compile")
Holder = ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_HOLDERS = (ast.Module, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


@dataclass(frozen=True, eq=False)
class CompileCall:
    """A call `torch.compile(target, ...)`. `target` is None where the call makes a decorator."""

    node: ast.Call
    target: ast.expr | None

    def option(self, name: str) -> ast.expr | None:
        """The value given for a keyword; None where it is not given by name."""
        return next((k.value for k in self.node.keywords if k.arg == name), None)


class ModuleView(View):
    """A module as a rule about compile calls sees it."""

    def __init__(self, module: Module, project: Project) -> None:
        self.module = module
        self.project = project
        self.path = module.file.path.as_posix()

    @property
    def file(self) -> SourceFile:
        """The file of the module."""
        return self.module.file

    @property
    def lines(self) -> Sequence[str]:
        """The lines of that file."""
        return self.module.lines

    @cached_property
    def nodes(self) -> Sequence[ast.AST]:
        """All nodes of the module in source order."""
        return walk(self.module.tree)

    @cached_property
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """The parent of each node."""
        return parents(self.nodes)

    @cached_property
    def calls(self) -> Sequence[CompileCall]:
        """The calls of torch.compile, those of decorators too."""
        found = []
        for node in self.nodes:
            if isinstance(node, ast.Call) and self.module.qualified(node.func) in COMPILE:
                given = [*node.args, *(k.value for k in node.keywords if k.arg == "model")]
                found.append(CompileCall(node, given[0] if given else None))
        return found

    @property
    def is_trial(self) -> bool:
        """Whether the module holds tests or benchmarks, which do on purpose what would be wrong elsewhere."""
        path = self.file.path
        folders = {"test", "tests", "testing", "benchmark", "benchmarks"}
        named = path.name.startswith(("test_", "conftest", "bench_", "benchmark"))
        return named or bool(folders & set(path.parts[:-1]))

    def holder(self, node: ast.AST) -> Holder:
        """The function, lambda or module in whose own code a node runs. A decorator runs outside its function."""
        below = node
        for above in self.ancestors(node):
            if isinstance(above, _HOLDERS):
                outside = getattr(above, "decorator_list", ()) if not isinstance(above, ast.Module | ast.Lambda) else ()
                if below not in outside:
                    return above
            below = above
        return self.module.tree

    def names(self, holder: Holder, name: str) -> Sequence[ast.Name]:
        """The places in a function or module where a name stands, nested functions included."""
        return [n for n in self._names(holder) if n.id == name]

    def _names(self, holder: Holder) -> Sequence[ast.Name]:
        known = self._names_by_holder.get(holder)
        if known is None:
            known = self._names_by_holder[holder] = [n for n in walk(holder) if isinstance(n, ast.Name)]
        return known

    @cached_property
    def _names_by_holder(self) -> dict[ast.AST, Sequence[ast.Name]]:
        return {}

    def qualname(self, node: ast.AST) -> str:
        """The name of the function that a node stands in, `<module>` outside of all."""
        names = [
            above.name
            for above in self.ancestors(node)
            if isinstance(above, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        ]
        return ".".join(reversed(names)) or "<module>"

    def is_value(self, node: ast.expr, names: Collection[str]) -> bool:
        """Whether an expression is a call of one of these dotted names."""
        return isinstance(node, ast.Call) and self.module.qualified(node.func) in names


class ModuleRule(Rule):
    """A rule that looks at whole modules instead of at compiled functions.

    `about_calls` says that it has nothing to find where torch.compile is not used.
    """

    about_calls: ClassVar[bool] = True

    def may_find(self, text: str) -> bool:
        """Whether a module with this text has to be looked at."""
        return super().may_find(text) and (not self.about_calls or mentions_compile(text))

    def find(self, scope: Scope) -> Iterator[Finding]:  # noqa: ARG002 - as every rule has it
        """Nothing: the code that such a rule is about does not run compiled."""
        yield from ()

    @abstractmethod
    def find_in_module(self, view: ModuleView) -> Iterator[Finding]:
        """The findings of this rule in one module."""

    def declined_at(self, view: ModuleView, node: ast.AST, message: str, reason: str, **changes: object) -> Finding:
        """A finding without a fix, and what a person should do."""
        return self._found(view, node, message, None, reason, **changes)

    def fixed_at(self, view: ModuleView, node: ast.AST, message: str, fix: Fix) -> Finding:
        """A finding that has a fix."""
        return self._found(view, node, message, fix, None)

    def _found(
        self, view: ModuleView, node: ast.AST, message: str, fix: Fix | None, reason: str | None, **changes: object
    ) -> Finding:
        span = view.span(node)
        name = view.qualname(node)
        return Finding(
            code=self.code,
            name=self.name,
            path=view.path,
            span=span,
            message=message,
            function=name,
            reached_by=(name,),
            gb=changes.get("gb", self.gb),  # type: ignore[arg-type]
            effect=changes.get("effect", self.effect),  # type: ignore[arg-type]
            fix=fix,
            declined=reason,
            source_line=view.module.lines[span.line - 1],
        )

"""What stands round a fix that its rule does not ask for: names that mean something else, functions inside, full lines.

A rule names modules and builtins in the code that it writes, knows the uses of a name in the function itself, tells by
lines what comes first, and writes Python. Where one of these does not hold the fix is declined, whatever the rule.
TorchScript, Numba and Triton compile the text of a function: they know no lambda, and not all of PyTorch or `math`.
"""

from __future__ import annotations

import ast
import builtins
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

from compilefix.codemods.finding import Edit, Finding, Fix, Span
from compilefix.codemods.view import span_of
from compilefix.source.module import Module
from compilefix.source.tree import children, names_in, walk

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{\w*\}")
_USED = re.compile(r"(?<![\w.])([A-Za-z_]\w*)(?=([.(]))")
_TEXT = re.compile(r"(^|\.)(script|script_method|script_if_tracing|njit|jit)$|^torch\.jit\.export$|^numba\.|^triton\.")
_SAYS_SCRIPTED = ("torch.jit._overload", "torch.jit.export")
"""Decorators of code that is written for TorchScript."""
_SCRIPTED = re.compile(r"\bscript\(\s*(\w+)\s*[,()]")
# A statement begins a line, or stands behind another one.
_GLOBAL = re.compile(r"(?:^|[;:])[ \t\f]*global\b", re.MULTILINE)
_SHOWS_CODE = re.compile(r"=\s*[}:!]")
_SEES_NAMES = frozenset({"locals", "vars", "dir", "eval", "exec"})
_BUILTINS = frozenset(dir(builtins))
# Rules write these by name. Other imports stand in the code of an edit only as they stood in the original.
_WRITTEN = frozenset({"torch", "numpy", "math", "operator"})
_ABOUT_NUMBERS = frozenset({"number-to-tensor", "static-shape-values"})
# These keep each statement in its place.
_IN_PLACE = "CF3"
_TORCH_SCRIPT = (
    *(ast.Module, ast.Expr, ast.Assign, ast.Return, ast.Name, ast.Attribute, ast.Call, ast.Constant, ast.Subscript),
    ast.Tuple,
    *(ast.BinOp, ast.UnaryOp, ast.Compare, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context),
)
_IN_SCRIPT = frozenset({"taken", "torch.where", "torch.ones_like", "torch.zeros_like"})
_FUNCTIONS = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_COMPREHENSIONS = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class Surroundings:
    """What the fixes in one module have round them."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._walked: dict[ast.stmt, list[ast.AST]] = {}

    def judged(self, finding: Finding) -> Finding:
        """The finding, declined where its fix does not fit to what stands round it."""
        fix = finding.fix
        if fix is None:
            return finding
        reason = self._avoided(fix) or self._hidden(fix) or self._lost(fix)
        reason = reason or self._compiled_as_text(fix) or self._shown(fix) or self._seen(fix) or self._named_inside(fix)
        if reason is None and not finding.code.startswith(_IN_PLACE):
            reason = self._crowded(fix)
        return finding if reason is None else replace(finding, fix=None, declined=reason)

    def _avoided(self, fix: Fix) -> str | None:
        """A package that the file does without until it is needed, and that a fix would import at its top."""
        sources = {statement.removeprefix("from ").split()[0].partition(".")[0] for statement in fix.imports}
        for name in sources - sys.stdlib_module_names - {""}:
            always = any(bound.partition(".")[0] == name for bound in self._module.top_level_imports)
            if not always and any(target.partition(".")[0] == name for _, target in self._anywhere):
                return f"the file imports `{name}` only where it is needed: an import at the top may fail"
        return None

    @cached_property
    def _anywhere(self) -> set[tuple[str, str]]:
        return {pair for node in walk(self._module.tree) for pair in _imported(node)}

    def _hidden(self, fix: Fix) -> str | None:
        """A module or builtin that the new code means, and whose name stands for something else there."""
        there = {pair for node in self._module.tree.body for pair in _imported(node)}
        there |= {(name, module) for module, name in self._module.guarded_imports.items()}
        added = {_bound_by(statement) for statement in fix.imports}
        modules = added | {name for name, target in there if target.partition(".")[0] in _WRITTEN}
        # A module that is imported and rebound (`torch = None` where it is missing) is as the program has it.
        everywhere = self._rebound - ({name for name, _ in there} - added)
        for edit in fix.edits:
            found = _USED.findall(_PLACEHOLDER.sub(" ", edit.template))
            used = {name for name, follows in found if name in modules or (name in _BUILTINS and follows == "(")}
            replaced = {name for name in used & _BUILTINS if self._replaced(name)}
            if hidden := used and (used & (everywhere | self._local(edit))) | replaced:
                return f"`{min(hidden)}`, which the new code needs, stands for something else here"
        return None

    def _replaced(self, name: str) -> bool:
        """Whether an import puts something else in the place of a builtin, as `from torch import *` does."""
        imported = self._module.imported(name)
        return imported is not None and imported != f"builtins.{name}"

    def _lost(self, fix: Fix) -> str | None:
        """A value that the new code no longer gives a name, and that a function inside reads."""
        for edit in fix.edits:
            if not edit.statement or edit.inserts:
                continue
            read = _read_inside(self._nodes(edit), edit)
            stored = self._stored_in(edit, edit.target) if read else set()
            kept = {name for _, part in edit.parts for name in self._stored_in(edit, part)}
            for name in sorted(stored - kept):
                if name in read and not re.search(rf"\b{name}\b", edit.template):
                    return f"a function inside reads `{name}`"
        return None

    def _shown(self, fix: Fix) -> str | None:
        """A text that shows the code of what the fix rewrites in it: `f"{x.mean()=}"`."""
        for edit in fix.edits:
            for node in self._nodes(edit):
                if not isinstance(node, ast.JoinedStr) or not _SHOWS_CODE.search(self._module.file.segment(node)):
                    continue
                whole = span_of(node, self._module.lines)
                if whole != edit.target and whole.holds(edit.target) and not edit.inserts:
                    return "the text of an f-string shows this code itself"
        return None

    def _seen(self, fix: Fix) -> str | None:
        """What reads all names of the function, or names of which only a text tells: `locals()`, `eval("x")`."""
        for edit in fix.edits:
            for node in self._nodes(edit) if any(f"{name}(" in self._module.file.text for name in _SEES_NAMES) else ():
                called = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else None
                if called is None or called not in _SEES_NAMES or not isinstance(node, ast.Call):
                    continue
                # With more arguments it is told where to look.
                own = len(node.args) + len(node.keywords) <= (called in ("eval", "exec"))
                if own and called not in self._rebound:
                    return f"`{called}` reads the names of the function, whatever they are"
        return None

    def _named_inside(self, fix: Fix) -> str | None:
        """A number to which an expression gives a name, `(n := ...)`: rules follow the names that statements give."""
        if ":=" not in self._module.file.text or _ABOUT_NUMBERS.isdisjoint(fix.assumptions):
            return None
        for edit in fix.edits:
            for node in self._nodes(edit):
                if isinstance(node, ast.NamedExpr) and span_of(node.value, self._module.lines).holds(edit.target):
                    return f"`:=` gives the number the name `{node.target.id}`: how that is used is not looked at"
        return None

    def _compiled_as_text(self, fix: Fix) -> str | None:
        """What compiles the function from its text: the new code may not be of the language that it takes."""
        for edit in fix.edits:
            for node in self._nodes(edit):
                if not isinstance(node, ast.FunctionDef) or not _holds(node, edit):
                    continue
                made = [one.func if isinstance(one, ast.Call) else one for one in node.decorator_list]
                names = [self._module.qualified(one) or ast.unparse(one) for one in made]
                name = next((name for name in names if _TEXT.search(name)), None)
                if name is None and node in self._scripted:
                    name = "torch.jit.script"
                if name == "torch.jit.script" and all(_is_torch_script(one) for one in fix.edits):
                    if "number-to-tensor" in fix.assumptions:
                        return f"`{name}` compiles `{node.name}`, and gives each name and result one type"
                    continue
                if name is not None:
                    # Where only a question such as `is_scripting()` tells, somebody else compiles it.
                    asks = "torch.jit.is_scripting" in self._module.file.text and not names
                    verb = "may compile" if asks else "compiles"
                    return f"`{name}` {verb} `{node.name}` from its text, and may not take the new code"
        return None

    @cached_property
    def _scripted(self) -> set[ast.AST]:
        """The functions of the file that TorchScript compiles, or that say so, and what they name in turn."""
        if not any(word in self._module.file.text for word in ("script", "_overload", "export")):
            return set()
        defined: dict[str, list[ast.FunctionDef | ast.ClassDef]] = {}
        for node in walk(self._module.tree):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                defined.setdefault(node.name, []).append(node)
        given = _SCRIPTED.findall(self._module.file.text)
        pending = [node for name in given for node in defined.get(name, ())]
        # Of an overloaded function the last definition is the one that runs.
        pending += [node for nodes in defined.values() if any(map(self._is_scripted, nodes)) for node in nodes]
        found: set[ast.AST] = set()
        while pending:
            node = pending.pop()
            if node in found:
                continue
            found.add(node)
            if isinstance(node, ast.ClassDef):
                found.update(part for part in node.body if getattr(part, "name", "__init__") != "__init__")
            for part in walk(node):
                named = getattr(part, "id", getattr(part, "attr", None))
                pending += defined.get(named, ()) if isinstance(part, ast.Name | ast.Attribute) and named else ()
        return found

    def _is_scripted(self, node: ast.FunctionDef | ast.ClassDef) -> bool:
        """Whether a decorator says so, or a function asks whether it is scripted: another file scripts it then."""
        names = {self._module.qualified(one) or "" for one in node.decorator_list}
        if any(name.startswith(("torch.jit.script", *_SAYS_SCRIPTED)) for name in names):
            return True
        if not isinstance(node, ast.FunctionDef) or "is_scripting" not in self._module.file.text:
            return False
        parts = list(walk(node))
        if any(isinstance(part, ast.FunctionDef | ast.Lambda) and part is not node for part in parts):
            return False  # TorchScript takes no function with another one in it, behind whatever test that stands
        calls = (part.func for part in parts if isinstance(part, ast.Call))
        return any(self._module.qualified(func) == "torch.jit.is_scripting" for func in calls)

    def _crowded(self, fix: Fix) -> str | None:
        """A line whose statements are about the same as the fix: which of them comes first is not looked at."""
        for edit in fix.edits:
            spans = (edit.target, *(part for _, part in edit.parts))
            for group in self._groups(edit):
                given = {name for one in group for name in _given(one)}
                read = [names_in(one) for one in group]
                shared = {name for name in given if sum(name in names for names in read) > 1} - {"self"}
                about = {name.id for span in spans for name in self._names_at(edit, span)}
                around = (one for one in group if span_of(one, self._module.lines).holds(edit.target))
                about |= {name for one in around for name in _given(one)}
                if about & shared - self._module.imports.keys():
                    return f"line {group[-1].lineno} holds several statements"
        return None

    def _nodes(self, edit: Edit) -> list[ast.AST]:
        """The nodes of the outermost function round an edit, or of the statement of a class or file that it is."""
        body, line = self._module.tree.body, edit.target.line
        while True:
            around = next((node for node in body if _first_line(node) <= line <= (node.end_lineno or 0)), None)
            if not isinstance(around, ast.ClassDef):
                break
            body = around.body
        if around is None:
            return []
        if around not in self._walked:
            self._walked[around] = list(walk(around))
        return self._walked[around]

    def _names_at(self, edit: Edit, span: Span) -> Iterator[ast.Name]:
        for node in self._nodes(edit):
            if not isinstance(node, ast.Name) or not span.line <= node.lineno <= span.end_line:
                continue
            if span.holds(span_of(node, self._module.lines)):
                yield node

    def _stored_in(self, edit: Edit, span: Span) -> set[str]:
        return {name.id for name in self._names_at(edit, span) if isinstance(name.ctx, ast.Store)}

    def _groups(self, edit: Edit) -> list[list[ast.stmt]]:
        """Statements of one block round an edit, of which each begins on the line where the one before it ends."""
        nodes = self._nodes(edit)
        lines = [line for node in nodes[:1] if isinstance(node, ast.stmt) for line in self._lines(node)]
        found: list[list[ast.stmt]] = []
        for node in nodes if any(";" in line for line in lines) else ():
            for field in ("body", "orelse", "finalbody") if isinstance(node, ast.stmt | ast.ExceptHandler) else ():
                for one, two in pairwise(getattr(node, field, None) or []):
                    if one.end_lineno == two.lineno:
                        if found and found[-1][-1] is one:
                            found[-1].append(two)
                        else:
                            found.append([one, two])
        return found

    def _lines(self, node: ast.stmt) -> Sequence[str]:
        return self._module.lines[node.lineno - 1 : node.end_lineno]

    @cached_property
    def _rebound(self) -> set[str]:
        """The names that the module itself gives a value otherwise than by an import, and those that functions may."""
        tree = self._module.tree
        body = [part for node in tree.body for part in (node.body if isinstance(node, ast.Try) else [node])]
        has_global = _GLOBAL.search(self._module.file.text) is not None
        declared = (n for n in (walk(tree) if has_global else ()) if isinstance(n, ast.Global))
        return {name for node in body for name in _stored(node)} | {name for node in declared for name in node.names}

    def _local(self, edit: Edit) -> set[str]:
        """The names that a function or comprehension around an edit gives a value."""
        found: set[str] = set()
        for node in self._nodes(edit):
            if not isinstance(node, _FUNCTIONS | _COMPREHENSIONS) or not _holds(node, edit):
                continue
            if isinstance(node, _FUNCTIONS):
                found |= {arg.arg for arg in walk(node.args) if isinstance(arg, ast.arg)}
                body = node.body if isinstance(node.body, list) else [node.body]
                own = [part for statement in body for part in _own(statement)]
                shared = {name for part in own if isinstance(part, ast.Global | ast.Nonlocal) for name in part.names}
                found |= {name for statement in body for name in _stored(statement)} - shared
                # The same module stands for the name from where the function imports it for sure.
                sure = {s for s in body if isinstance(s, ast.Import) and (s.end_lineno or 0) < edit.target.line}
                pairs = ((name, target, part) for part in own for name, target in _imported(part))
                found |= {name for name, target, part in pairs if name != target or part not in sure}
            else:
                found |= names_in(*(one.target for one in node.generators))
        return found


def _is_torch_script(edit: Edit) -> bool:
    """Whether new code is of the part of Python that TorchScript takes, for tensors, beside what it takes over.

    Measured in the fixtures CF101/scripted and CF101/scripted_number: selection, operators, methods without arguments,
    and `reshape(())`.
    """
    try:
        nodes = list(walk(ast.parse(_PLACEHOLDER.sub("taken", edit.template))))
    except SyntaxError:
        return False
    calls = (node for node in nodes if isinstance(node, ast.Call))
    plain = (ast.unparse(c.func) in _IN_SCRIPT or _is_plain_method(c) for c in calls)
    empty = (not node.elts for node in nodes if isinstance(node, ast.Tuple))
    return all(isinstance(node, _TORCH_SCRIPT) for node in nodes) and all(plain) and all(empty)


def _is_plain_method(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return False
    return not call.args or (call.func.attr == "reshape" and ast.unparse(call).endswith(".reshape(())"))


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(one.lineno for one in decorators)])


def _read_inside(nodes: Iterable[ast.AST], edit: Edit) -> set[str]:
    """The names that functions read in which an edit does not stand."""
    functions = (node for node in nodes if isinstance(node, _FUNCTIONS) and not _holds(node, edit))
    loads = (part for node in functions for part in walk(node) if isinstance(part, ast.Name))
    return {name.id for name in loads if isinstance(name.ctx, ast.Load)}


def _holds(node: ast.expr | ast.stmt, edit: Edit) -> bool:
    return node.lineno <= edit.target.line <= edit.target.end_line <= (node.end_lineno or 0)


def _bound_by(statement: str) -> str:
    """The name that an import gives a value: `prod` for `from math import prod`."""
    return statement.split()[-1].partition(".")[0]


def _imported(node: ast.AST) -> Iterator[tuple[str, str]]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield (alias.asname, alias.name) if alias.asname else (alias.name.partition(".")[0],) * 2
    elif isinstance(node, ast.ImportFrom):
        for alias in node.names:
            yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"


def _given(statement: ast.stmt) -> Iterator[str]:
    """The names that a statement gives a value, or into whose memory or items it may write."""
    for node in walk(statement):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        written = isinstance(node, ast.Subscript | ast.Attribute) and not isinstance(node.ctx, ast.Load)
        if written or (isinstance(node, ast.Call) and not _plain(node)):
            yield from (part.id for part in walk(node) if isinstance(part, ast.Name))


def _plain(call: ast.Call) -> bool:
    """Whether a call is written like one that computes: a method that does not end with an underscore."""
    told = {keyword.arg for keyword in call.keywords}
    return isinstance(call.func, ast.Attribute) and call.func.attr[-1] != "_" and not told & {"out", "inplace", None}


def _stored(statement: ast.AST) -> Iterator[str]:
    for node in _own(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            yield node.name or "_"


def _own(node: ast.AST) -> Iterable[ast.AST]:
    """The nodes of a scope itself: of a function or class inside, only the definition."""
    yield node
    if isinstance(node, _COMPREHENSIONS):
        # A walrus in a comprehension stores in the function around it.
        yield from (inner.target for inner in walk(node) if isinstance(inner, ast.NamedExpr))
    elif not isinstance(node, _FUNCTIONS | ast.ClassDef):
        for child in children(node):
            yield from _own(child)

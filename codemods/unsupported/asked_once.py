"""A question that goes to the top of the module: its answer is a constant behind the imports."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

from compilefix.codemods.finding import Edit
from compilefix.codemods.rule import Scope


def question(node: ast.Call, scope: Scope) -> str | None:
    """The code of a question that means the same at the top of the module; None where it does not.

    What it is asked of has to be imported there, and what it asks has to be a text.
    """
    root: ast.expr = node.func
    while isinstance(root, ast.Attribute):
        root = root.value
    fixed = all(isinstance(argument, ast.Constant) for argument in node.args) and not node.keywords
    if not fixed or not isinstance(root, ast.Name) or scope.names(root.id, stores=True):
        return None
    given = {argument.arg for argument in scope.function.parameters}
    return ast.unparse(node) if root.id in bound_by(first_imports(scope)) - given else None


def asked_once(node: ast.Call, scope: Scope) -> Iterator[Edit]:
    """The edits that put a constant in the place of a question: one that is there, or a new one behind the imports."""
    asked = ast.unparse(node)
    kept = next((name for name, code in _constants(scope) if code == asked), None)
    name = kept or _free(node, scope)
    if kept is None:
        last = first_imports(scope)[-1]
        yield scope.edit(last, f"{{kept}}\n\n{name} = {{asked}}", kept=last, asked=node)
    yield scope.edit(node, name)


def first_imports(scope: Scope) -> list[ast.stmt]:
    """The imports that the module begins with, behind its docstring, also those that it ends without."""
    found: list[ast.stmt] = []
    for statement in scope.file.tree.body:
        if isinstance(statement, ast.Import | ast.ImportFrom) or _is_needed(statement):
            found.append(statement)
        elif not isinstance(statement, ast.Expr):
            break
    return found


def bound_by(imports: Iterable[ast.stmt]) -> set[str]:
    """The names that imports give a meaning."""
    return {name for statement in imports for name in _names(statement)}


def _is_needed(statement: ast.stmt) -> bool:
    """Whether a `try` holds imports alone, and each of its handlers ends in a `raise`: what follows has the names."""
    if not isinstance(statement, ast.Try) or not statement.handlers or statement.orelse or statement.finalbody:
        return False
    imports = all(isinstance(each, ast.Import | ast.ImportFrom) for each in statement.body)
    return imports and all(isinstance(handler.body[-1], ast.Raise) for handler in statement.handlers)


def _names(statement: ast.stmt) -> Iterator[str]:
    for each in getattr(statement, "body", ()):
        yield from _names(each)
    for alias in getattr(statement, "names", ()):
        yield alias.asname or alias.name.partition(".")[0]


def _constants(scope: Scope) -> Iterator[tuple[str, str]]:
    """The names that the top of the module gives a value, and nothing in it another one, with the code of it."""
    bound = list(_bound(scope.file.tree))
    for statement in scope.file.tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name) and bound.count(target.id) == 1:
                yield target.id, ast.unparse(statement.value)


def _free(node: ast.Call, scope: Scope) -> str:
    """A name for the constant that is no word of the module: `MPS_IS_AVAILABLE`."""
    parts = ast.unparse(node.func).split(".")
    words = parts[-2:] if parts[-1].startswith("is_") else parts[-1:]
    words += [re.sub(r"\W+", "_", str(argument.value)) for argument in node.args if isinstance(argument, ast.Constant)]
    wanted = "_".join(words).upper()
    used = set(re.findall(r"\w+", ast.unparse(scope.file.tree)))
    name, count = wanted, 2
    while name in used:
        name, count = f"{wanted}_{count}", count + 1
    return name


_NAMED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)


def _bound(tree: ast.Module) -> Iterator[str]:
    """The names to which a module gives a meaning somewhere, once for each place."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, _NAMED):
            yield node.name or ""
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from _names(node)

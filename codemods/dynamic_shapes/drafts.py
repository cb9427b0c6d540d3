"""Reductions of selected elements, each with the code that makes the same number of all elements."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from compilefix.codemods.dynamic_shapes.reductions import Reduction
from compilefix.codemods.dynamic_shapes.selected_elements import Elements
from compilefix.codemods.rule import Scope
from compilefix.codemods.template import Given, Template

_TOKEN = re.compile(r"\{p\d+\}")


@dataclass(eq=False)
class Draft:
    """A reduction and the code for it.

    code: None where there is none; why stands in the template. inner: drafts that stand in its code. group: the
    number of those that must be rewritten together; None where there is no rewrite. left: uses of its definitions on
    other ways, with what they read. sided: the `if` of which one side selects, and whether that is its body: on the
    other one the reduction stays.
    """

    found: Reduction
    elements: Elements
    template: Template
    code: str | None
    inner: list[Draft] = field(default_factory=list)
    group: int | None = None
    left: dict[ast.Name, ast.Assign] = field(default_factory=dict)
    sided: tuple[ast.If, bool] | None = None

    @property
    def broken(self) -> str | None:
        """Why there is no rewrite."""
        if self.template.broken is not None:
            return self.template.broken
        return None if self.code is not None else "what is reduced is not computed element by element"


def replaced_in(text: str, named: Mapping[str, str]) -> str:
    """Code with the names of what got one."""
    for old, new in named.items():
        text = text.replace(f"({old})", new) if old.startswith("{") else text
        text = text.replace(old, new)
    return text


def merged_code(code: str, template: Template, tokens: dict[str, str], merged: Template) -> str:
    """Code of one template for another one, in which equal nodes have one placeholder."""
    names: dict[str, str] = {}
    for name, node in template.parts.items():
        key = ast.dump(node)
        if key not in tokens:
            tokens[key] = merged.use(node)
        names[f"{{{name}}}"] = tokens[key]
    return _TOKEN.sub(lambda match: names[match[0]], code)


def bracketed(node: ast.expr, code: str, scope: Scope) -> str:
    """The code for an expression, in parentheses where it is a quotient and what stands round it binds tighter."""
    parent = scope.parents.get(node)
    added = isinstance(parent, ast.BinOp) and isinstance(parent.op, ast.Add | ast.Sub)
    if isinstance(parent, ast.BinOp | ast.UnaryOp | ast.Attribute) and not added and is_quotient(code):
        return f"({code})"
    return code


def is_quotient(code: str) -> bool:
    """Whether code with placeholders is an operation of two operands."""
    return isinstance(ast.parse(_TOKEN.sub("placeholder", code), mode="eval").body, ast.BinOp)


def rewritten_statement(statement: ast.stmt, node: ast.expr, code: str, template: Template) -> str:
    """A statement with other code for an expression in it."""
    mark = ast.Name("compilefix_reduced", ast.Load())
    value: ast.expr = statement.value  # type: ignore[attr-defined]
    text = code
    if value is not node:
        whole = template.code(Given(value, ((node, Given(mark, built=True)),)))
        text = whole.replace(mark.id, code)
    if isinstance(statement, ast.Return):
        return f"return {text}"
    if isinstance(statement, ast.Assign):
        return f"{template.use(statement.targets[0])} = {text}"
    if isinstance(statement, ast.AugAssign):
        symbol = ast.unparse(ast.AugAssign(ast.Name("a", ast.Store()), statement.op, ast.Constant(1))).split()[1]
        return f"{template.use(statement.target)} {symbol} {text}"
    return text

"""The edits that put other code in the place of an expression made of selected elements."""

from __future__ import annotations

import ast

from compilefix.codemods.dynamic_shapes.drafts import bracketed, rewritten_statement
from compilefix.codemods.dynamic_shapes.reductions import takes_lines
from compilefix.codemods.dynamic_shapes.selected_elements import Elements
from compilefix.codemods.finding import Edit
from compilefix.codemods.template import Template


def _is_alone(statement: ast.AST | None) -> bool:
    """Whether a statement that holds only an expression returns it, or gives it a name."""
    named = isinstance(statement, ast.Assign) and len(statement.targets) == 1
    return isinstance(statement, ast.Return) or (named and isinstance(statement.targets[0], ast.Name))  # type: ignore[union-attr]


def expression_edits(node: ast.expr, code: str, elements: Elements, template: Template) -> tuple[Edit, ...]:
    """The replacement of an expression, or of its statement where that holds nothing else or lines stand before it."""
    scope = elements.scope
    statement = scope.statement(node)
    alone = scope.parents.get(node) is statement and _is_alone(statement)
    lines = [f"{name} = {template.use(part)}" for name, part in elements.hoists.items()]
    if alone or takes_lines(node, scope):
        more, shorter = elements.hoisted(elements.with_names(code, template))
        lines += [elements.with_names(line, template) for line in more]
        if alone or lines:
            code = shorter if alone else bracketed(node, shorter, scope)
            return elements.edits(statement, [*lines, rewritten_statement(statement, node, code, template)], template)
    return elements.edits(node, [bracketed(node, code, scope)], template)

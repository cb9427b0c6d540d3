"""What every rule sees of the code it looks at: what stands round a node, where it is, and edits of it."""

from __future__ import annotations

import ast
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence

from compilefix.codemods.finding import Edit, Span


class View(ABC):
    """Code of one file: a function that runs compiled, or a whole module."""

    @property
    @abstractmethod
    def lines(self) -> Sequence[str]:
        """The lines of the file."""

    @property
    @abstractmethod
    def parents(self) -> Mapping[ast.AST, ast.AST]:
        """The parent of each node that is seen."""

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes around a node, from the inside out."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def statement(self, node: ast.AST) -> ast.stmt:
        """The statement that a node stands in."""
        while not isinstance(node, ast.stmt):
            node = self.parents[node]
        return node

    def span(self, node: ast.AST) -> Span:
        """Where a node stands, in code points."""
        return span_of(node, self.lines)

    def edit(self, node: ast.AST, template: str, **parts: ast.AST) -> Edit:
        """Replace a node by a template whose placeholders stand for nodes of the original."""
        return Edit(self.span(node), template, self._named(parts), isinstance(node, ast.stmt))

    def before(self, node: ast.stmt, template: str, **parts: ast.AST) -> Edit:
        """Statements before one of the original; not before an `elif`, which is no statement by itself."""
        start = self.span(node)
        return Edit(Span(start.line, start.column, start.line, start.column), template, self._named(parts), True)

    def _named(self, parts: Mapping[str, ast.AST]) -> tuple[tuple[str, Span], ...]:
        return tuple((name, self.span(part)) for name, part in parts.items())


def span_of(node: ast.AST, lines: Sequence[str]) -> Span:
    """Where a node of a file with these lines stands, in code points."""
    line, end_line = node.lineno, node.end_lineno  # type: ignore[attr-defined]
    return Span(
        line,
        _characters(lines[line - 1], node.col_offset),  # type: ignore[attr-defined]
        end_line,
        _characters(lines[end_line - 1], node.end_col_offset),  # type: ignore[attr-defined]
    )


def _characters(line: str, offset: int) -> int:
    # ast counts UTF-8 bytes.
    return offset if line.isascii() else len(line.encode()[:offset].decode(errors="ignore"))

"""Applying edits to a LibCST tree.

Everything outside the replaced nodes stays byte for byte; the original nodes that a template names keep their own
formatting, and a comment inside of what is replaced that the template does not carry over moves above it.
"""

from __future__ import annotations

import ast
import itertools
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import cast

import libcst as cst
from libcst.codemod import CodemodContext
from libcst.codemod.visitors import AddImportsVisitor
from libcst.metadata import MetadataWrapper, PositionProvider, WhitespaceInclusivePositionProvider

from compilefix.codemods.finding import Edit, Span
from compilefix.fixing.import_order import in_its_group, is_import
from compilefix.fixing.wrapping import Wrapping

_PLACEHOLDER = re.compile(r"\{\{|\}\}|\{(\w+)\}")
_PREFIX = "compilefix_part_"
_OWN_PARENTHESES = (cst.Tuple, cst.GeneratorExp)
_OPERATIONS = cst.BinaryOperation | cst.UnaryOperation | cst.Comparison | cst.BooleanOperation


class EditError(Exception):
    """An edit does not fit the file: the place that it names holds no whole expression or statement."""


@dataclass(frozen=True)
class _Nodes:
    """The nodes of a module by their place.

    suites: the statement behind a colon, `if flag: x = y`, as one on a line of its own, which it has where it is put.
    """

    expressions: Mapping[Span, cst.BaseExpression]
    statements: Mapping[Span, cst.BaseStatement | cst.If]
    suites: Mapping[Span, cst.SimpleStatementLine]


def rewrite(text: str, edits: Sequence[Edit], imports: Sequence[str], line_length: int) -> str:
    """The module with all edits applied. The edits must not overlap.

    Raises:
        EditError: an edit names a place that holds no whole expression or statement, or the file has line ends that
            LibCST does not keep.
        libcst.ParserSyntaxError: the text, or a template, is not Python.
    """
    parsed = cst.parse_module(text)
    plain = parsed.code
    module = _with_edits(parsed, edits, line_length) if edits else parsed
    for statement in imports:
        module = _with_import(module, statement)
    return _with_what_was_lost(text, plain, module.code)


def _with_edits(parsed: cst.Module, edits: Sequence[Edit], line_length: int) -> cst.Module:
    wrapper = MetadataWrapper(parsed, unsafe_skip_copy=True)
    nodes = _index(wrapper)
    replacements: dict[int, tuple[Edit, cst.CSTNode]] = {}
    before: dict[int, list[Edit]] = {}
    for edit in edits:
        node = _find(nodes, edit)
        if edit.inserts:
            there = before.setdefault(id(node), [])
            if edit not in there:  # two fixes need the same line, such as a flag that `__init__` is to set
                there.append(edit)
        else:
            replacements[id(node)] = (edit, node)
    transformer = _Apply(wrapper.module, nodes, replacements, before, line_length)
    module = wrapper.module.visit(transformer)
    left = [*(edit for edit, _ in transformer.pending.values()), *(e for group in before.values() for e in group)]
    if left:
        raise EditError(f"line {left[0].target.line}: the code to replace was not found")
    return module


def _with_what_was_lost(text: str, plain: str, new: str) -> str:
    """`new` with what LibCST does not keep of `text`, which comes back from it as `plain`.

    That is a carriage return that ends the last line alone, and form feeds at the beginning of lines.
    """
    if plain == text:
        return new
    if text.startswith(plain):
        return new + text[len(plain) :]
    before, stripped, after = text.split("\n"), plain.split("\n"), new.split("\n")
    if len(before) != len(stripped):
        raise EditError("line 1: the file would not come back as it is")
    for block in SequenceMatcher(None, stripped, after, autojunk=False).get_matching_blocks():
        after[block.b : block.b + block.size] = before[block.a : block.a + block.size]
    return "\n".join(after)


def _index(wrapper: MetadataWrapper) -> _Nodes:
    expressions: dict[Span, cst.BaseExpression] = {}
    statements: dict[Span, cst.BaseStatement | cst.If] = {}
    suites: dict[Span, cst.SimpleStatementLine] = {}
    for node, place in wrapper.resolve(PositionProvider).items():
        span = Span(place.start.line, place.start.column, place.end.line, place.end.column)
        if isinstance(node, cst.BaseExpression):
            expressions.setdefault(span, node)
        elif isinstance(node, cst.BaseCompoundStatement) or (
            isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1
        ):
            statements[span] = node
        elif isinstance(node, cst.SimpleStatementSuite) and len(node.body) == 1:
            place = wrapper.resolve(PositionProvider)[node.body[0]]
            span = Span(place.start.line, place.start.column, place.end.line, place.end.column)
            suites[span] = cst.SimpleStatementLine(body=node.body, trailing_whitespace=node.trailing_whitespace)
    if any(isinstance(node, _OWN_PARENTHESES) and node.lpar for node in expressions.values()):
        # `ast` counts the parentheses of a tuple or generator as part of it, LibCST does not.
        for node, place in wrapper.resolve(WhitespaceInclusivePositionProvider).items():
            if isinstance(node, _OWN_PARENTHESES) and len(node.lpar) == 1:
                span = Span(place.start.line, place.start.column, place.end.line, place.end.column)
                expressions.setdefault(span, node)
    return _Nodes(expressions, statements, suites)


def _find(nodes: _Nodes, edit: Edit) -> cst.CSTNode:
    if edit.inserts:
        place = (edit.target.line, edit.target.column)
        there = [node for span, node in nodes.statements.items() if (span.line, span.column) == place]
        if len(there) != 1:
            raise EditError(f"line {edit.target.line}: no statement begins there")
        return there[0]
    found = nodes.statements.get(edit.target) if edit.statement else nodes.expressions.get(edit.target)
    if found is None:
        what = "statement on lines of its own" if edit.statement else "expression"
        raise EditError(f"line {edit.target.line}: no {what} there")
    return found


class _Apply(cst.CSTTransformer):
    def __init__(
        self,
        module: cst.Module,
        nodes: _Nodes,
        replacements: dict[int, tuple[Edit, cst.CSTNode]],
        before: dict[int, list[Edit]],
        line_length: int,
    ) -> None:
        super().__init__()
        self.module = module
        self.nodes = nodes
        self.pending = replacements
        self.before = before
        self.line_length = line_length
        self.depth = 0
        self.gone: list[cst.CSTNode] = []
        self.lost: list[str] = []
        self.rewritten = False

    def on_visit(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.IndentedBlock):
            self.depth += 1
        elif isinstance(node, cst.SimpleStatementLine):
            self.rewritten = False
        return id(node) not in self.pending

    def on_leave(  # type: ignore[override]
        self, original: cst.CSTNode, updated: cst.CSTNode
    ) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode] | cst.RemovalSentinel:
        left = self._left(original, updated)
        inserted = self.before.pop(id(original), ())
        return self._with_lines_before(inserted, left) if inserted else left

    def _with_lines_before(
        self, inserted: Sequence[Edit], left: cst.CSTNode | cst.FlattenSentinel[cst.CSTNode] | cst.RemovalSentinel
    ) -> cst.FlattenSentinel[cst.CSTNode]:
        """A statement behind others; the comments above it stand above these."""
        lines: list[cst.CSTNode] = []
        for edit in inserted:
            parsed = cst.parse_module(self._filled(edit) + "\n", config=self.module.config_for_parsing)
            filled = parsed.visit(_Fill(self._parts(edit)))
            wrapping = Wrapping(self.module.default_indent, self.line_length, ())
            lines += [wrapping.statement(statement, self.depth) for statement in filled.body]
        behind = list(left) if isinstance(left, cst.FlattenSentinel) else []
        behind += [left] if isinstance(left, cst.CSTNode) else []
        if behind and hasattr(behind[0], "leading_lines"):
            lines[0] = lines[0].with_changes(leading_lines=behind[0].leading_lines)
            behind[0] = behind[0].with_changes(leading_lines=[])
        return cst.FlattenSentinel([*lines, *behind])

    def _left(
        self, original: cst.CSTNode, updated: cst.CSTNode
    ) -> cst.CSTNode | cst.FlattenSentinel[cst.CSTNode] | cst.RemovalSentinel:
        if isinstance(original, cst.IndentedBlock):
            self.depth -= 1
        if self.gone and isinstance(updated, cst.IndentedBlock | cst.Module):
            updated = self._comments_passed_on(updated)
        found = self.pending.pop(id(original), None)
        if found is None:
            left = cast(cst.CSTNode, super().on_leave(original, updated))
            if not isinstance(left, cst.SimpleStatementLine):
                return left
            return self._wrapped(self._with_lost_comments(left)) if self.rewritten else self._with_lost_comments(left)
        edit = found[0]
        if not edit.statement:
            return self._expression(edit, cast(cst.BaseExpression, original))
        return self._statements(edit, cast(cst.BaseStatement, original))

    def _expression(self, edit: Edit, original: cst.BaseExpression) -> cst.BaseExpression:
        self.rewritten = True
        parsed = cst.parse_expression(self._filled(edit), config=self.module.config_for_parsing)
        new = cast(cst.BaseExpression, parsed.visit(_Fill(self._parts(edit))))
        if original.lpar and not new.lpar:
            new = new.with_changes(lpar=original.lpar, rpar=original.rpar)
        elif _is_one_line(original):
            new = _held_together(new)
        self.lost += (_comments(original, own_leading=True) - _comments(new, own_leading=True)).elements()
        return new

    def _with_lost_comments(self, statement: cst.SimpleStatementLine) -> cst.SimpleStatementLine:
        """A line with the comments above it that stood in an expression there, or in the head that it stands below."""
        lines = [cst.EmptyLine(indent=True, comment=cst.Comment(text)) for text in self.lost]
        self.lost = []
        return statement.with_changes(leading_lines=[*statement.leading_lines, *lines]) if lines else statement

    def _wrapped(self, statement: cst.SimpleStatementLine) -> cst.BaseStatement:
        """A line that an expression in it has made too long; what a comment behind it makes long stays."""
        wrapping = Wrapping(self.module.default_indent, self.line_length, ())
        bare = statement.with_changes(trailing_whitespace=cst.TrailingWhitespace())
        return statement if wrapping.statement(bare, self.depth) is bare else wrapping.statement(statement, self.depth)

    def _statements(
        self, edit: Edit, original: cst.BaseStatement
    ) -> cst.FlattenSentinel[cst.CSTNode] | cst.RemovalSentinel | cst.CSTNode:
        parsed = cst.parse_module(self._filled(edit) + "\n", config=self.module.config_for_parsing)
        fill = _Fill(self._parts(edit))
        filled = parsed.visit(fill)
        wrapping = Wrapping(self.module.default_indent, self.line_length, fill.kept)
        body = [wrapping.statement(statement, self.depth) for statement in filled.body]
        lost = _comments(original, own_leading=False) - _all_comments(body)
        leading = list(getattr(original, "leading_lines", ()))
        indent = [cst.EmptyLine(indent=True, comment=cst.Comment(text)) for text in lost.elements()]
        if not body:
            commented = any(line.comment is not None for line in (*leading, *indent))
            if not commented:
                return cst.RemoveFromParent()
            self.gone.append(cst.SimpleStatementLine(body=[cst.Pass()], leading_lines=[*leading, *indent]))
            return self.gone[-1]
        first = body[0]
        trailing = getattr(original, "trailing_whitespace", None)
        if (
            len(body) == 1
            and isinstance(first, cst.SimpleStatementLine)
            and isinstance(trailing, cst.TrailingWhitespace)
            and trailing.comment is not None
        ):
            first = first.with_changes(trailing_whitespace=trailing)
            indent = [line for line in indent if line.comment is None or line.comment.value != trailing.comment.value]
        if hasattr(first, "leading_lines"):
            first = first.with_changes(leading_lines=[*leading, *indent, *first.leading_lines])
        return cst.FlattenSentinel([first, *body[1:]])

    def _comments_passed_on(self, block: cst.IndentedBlock | cst.Module) -> cst.IndentedBlock | cst.Module:
        """The block with the comments of statements that went before the ones that come next; `pass` where none is."""
        body: list[cst.BaseStatement] = []
        waiting: list[cst.EmptyLine] = []
        for statement in block.body:
            if any(statement is gone for gone in self.gone):
                waiting += cast(cst.SimpleStatementLine, statement).leading_lines
            elif waiting and hasattr(statement, "leading_lines"):
                body.append(statement.with_changes(leading_lines=[*waiting, *statement.leading_lines]))
                waiting = []
            else:
                body.append(statement)
        if not body:
            return block
        return block.with_changes(body=body, footer=[*waiting, *block.footer])

    def _filled(self, edit: Edit) -> str:
        def replace(match: re.Match[str]) -> str:
            return match.group(0)[0] if match.group(1) is None else _PREFIX + match.group(1)

        return _PLACEHOLDER.sub(replace, edit.template)

    def _parts(self, edit: Edit) -> Mapping[str, cst.CSTNode]:
        parts: dict[str, cst.CSTNode] = {}
        for name, span in edit.parts:
            nodes = self.nodes
            node: cst.CSTNode | None = nodes.expressions.get(span) or nodes.statements.get(span)
            node = node or nodes.suites.get(span)
            if node is None:
                raise EditError(f"line {span.line}: no expression or statement there")
            if edit.statement and span == edit.target and hasattr(node, "leading_lines"):
                node = node.with_changes(leading_lines=[])  # these go above all that takes its place
            parts[_PREFIX + name] = node
        return parts


class _Fill(cst.CSTTransformer):
    """Puts the original nodes in the place of the placeholders of a parsed template."""

    def __init__(self, parts: Mapping[str, cst.CSTNode]) -> None:
        super().__init__()
        self.parts = parts
        self.kept: list[cst.BaseStatement] = []

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        part = self.parts.get(original_node.value)
        if not isinstance(part, cst.BaseExpression):
            return updated_node
        part = part.deep_clone()
        if original_node.lpar:
            # The template's own parentheses replace those that the node came with, or are dropped as needless.
            atom = isinstance(part, cst.Name | cst.Attribute | cst.Call | cst.Subscript | cst.Integer | cst.Float)
            if part.lpar or atom:
                return part
            return part.with_changes(lpar=original_node.lpar, rpar=original_node.rpar)
        return part

    def leave_SimpleStatementLine(
        self, original_node: cst.SimpleStatementLine, updated_node: cst.SimpleStatementLine
    ) -> cst.BaseStatement:
        if len(original_node.body) == 1 and isinstance(original_node.body[0], cst.Expr):
            value = original_node.body[0].value
            if isinstance(value, cst.Name):
                part = self.parts.get(value.value)
                if isinstance(part, cst.BaseStatement):
                    self.kept.append(part.deep_clone())
                    return self.kept[-1]
        return updated_node

    def leave_Assign(self, original_node: cst.Assign, updated_node: cst.Assign) -> cst.Assign:
        # `(a - b)[mask]` needed its parentheses, `values = a - b` does not; over several lines they hold it together.
        placed = isinstance(original_node.value, cst.Name) and original_node.value.value in self.parts
        value = updated_node.value
        if placed and isinstance(value, _OPERATIONS) and len(value.lpar) == 1:
            bare = value.with_changes(lpar=[], rpar=[])
            if "\n" not in cst.Module([]).code_for_node(value):
                return updated_node.with_changes(value=bare)
        return updated_node.with_changes(value=_held_together(value))

    def leave_Return(self, original_node: cst.Return, updated_node: cst.Return) -> cst.Return:
        value = updated_node.value
        return updated_node if value is None else updated_node.with_changes(value=_held_together(value))

    def leave_Arg(self, original_node: cst.Arg, updated_node: cst.Arg) -> cst.Arg:
        placed = isinstance(original_node.value, cst.Name) and original_node.value.value in self.parts
        # A generator or a walrus that stood alone needs parentheses beside other arguments.
        if placed and isinstance(updated_node.value, cst.NamedExpr | cst.GeneratorExp) and not updated_node.value.lpar:
            return updated_node.with_changes(
                value=updated_node.value.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
            )
        if placed and isinstance(updated_node.value, _OPERATIONS) and len(updated_node.value.lpar) == 1:
            # `(a - b) * c` needed them there, an argument does not; over several lines they may hold comments.
            bare = updated_node.value.with_changes(lpar=[], rpar=[])
            if "\n" not in cst.Module([]).code_for_node(updated_node.value):
                return updated_node.with_changes(value=bare)
        return updated_node


def _is_one_line(node: cst.BaseExpression) -> bool:
    """Whether an expression may stand without brackets round it: what goes over several lines has some of its own."""
    code = cst.Module([]).code_for_node(node)
    if "\n" not in code:
        return True
    try:
        ast.parse(code, mode="eval")
    except SyntaxError:
        return False
    return True


def _held_together(node: cst.BaseExpression) -> cst.BaseExpression:
    """An expression with parentheses where its lines stood in brackets of the code that it was taken from."""
    if _is_one_line(node):
        return node
    return node.with_changes(lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()])


def _comments(node: cst.CSTNode, *, own_leading: bool) -> Counter[str]:
    collector = _Comments()
    if not own_leading and hasattr(node, "leading_lines"):
        node = node.with_changes(leading_lines=[])
    node.visit(collector)
    return Counter(collector.found)


def _all_comments(nodes: Sequence[cst.CSTNode]) -> Counter[str]:
    total: Counter[str] = Counter()
    for node in nodes:
        total += _comments(node, own_leading=True)
    return total


_CHANGES_PATH = re.compile(r"\bsys\.path(\.(append|insert|extend)\(|\[.*\] *=| *\+?=)")


class _Comments(cst.CSTVisitor):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def visit_Comment(self, node: cst.Comment) -> None:
        self.found.append(node.value)


def _with_import(module: cst.Module, statement: str) -> cst.Module:
    # LibCST puts it behind the first block of imports, but walks the whole module, twice.
    if statement.startswith("from .") and re.search(rf"^{re.escape(statement)}\b", module.code, re.MULTILINE):
        return module  # LibCST takes no relative import for one that is there
    start = _behind_paths(module, statement)
    places = [place for place, line in enumerate(module.body) if place >= max(start, 1) and not is_import(line)]
    end = (places[0] if places else len(module.body)) + (0 if start else 1)
    context = CodemodContext()
    if statement.startswith("from "):
        source, _, name = statement.removeprefix("from ").partition(" import ")
        module_name = source.lstrip(".")
        AddImportsVisitor.add_needed_import(context, module_name, name, relative=len(source) - len(module_name))
    else:
        name, _, alias = statement.partition(" as ")
        AddImportsVisitor.add_needed_import(context, name, asname=alias or None)
    before = module.body[start:end]
    top = list(AddImportsVisitor(context).transform_module(module.with_changes(body=before)).body)
    if len(top) == len(before) + 1:
        same = [line.deep_equals(there) for line, there in zip(top, before, strict=False)]
        new = same.index(False) if False in same else len(before)
        if new > 0:  # at the head of the file there is no block that it could belong to
            top = in_its_group([*top[:new], *top[new + 1 :]], top[new]) or top
    return module.with_changes(body=[*module.body[:start], *top, *module.body[end:]])


def _behind_paths(module: cst.Module, statement: str) -> int:
    """The place behind what changes `sys.path` among the first statements: only then what lies beside is found."""
    top = statement.removeprefix("from ").removeprefix("import ").partition(" ")[0].partition(".")[0]
    if not top or top == "torch" or top in sys.stdlib_module_names or "sys.path" not in module.code:
        return 0
    head = itertools.takewhile(lambda line: not isinstance(line, cst.FunctionDef | cst.ClassDef), module.body)
    lines = list(head)
    changes = [place for place, line in enumerate(lines) if _CHANGES_PATH.search(module.code_for_node(line))]
    if not changes:
        return 0
    start = changes[-1] + 1
    return next((place for place in range(start, len(lines)) if is_import(lines[place])), start)

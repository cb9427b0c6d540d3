"""Breaks statements that a rewrite has made too long for a line, as formatters do: arguments one to a line."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeGuard

import libcst as cst

_Statement = cst.SimpleStatementLine | cst.BaseCompoundStatement


@dataclass(frozen=True)
class Wrapping:
    """How long a line may be, and what it is indented with. `kept` are original statements, which stay as they are.

    A depth is that of the block that a statement stands in; a level is how much further a line inside brackets is
    indented.
    """

    indent: str
    line_length: int
    kept: Sequence[cst.BaseStatement]

    def statement(self, statement: _Statement, depth: int) -> _Statement:
        """The statement, with the call that it makes or assigns on several lines where one is too short."""
        if any(statement is original for original in self.kept):
            return statement
        if isinstance(statement, cst.If):
            return self._if(statement, depth)
        if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
            return statement
        code = _code_of(statement)
        loose = "\n" in code and _is_loose(getattr(statement.body[0], "value", None))
        if not loose and _longest(code) <= self._room(depth, 0):
            return statement
        if "\n" in code:
            joined = _joined(statement)
            anew = statement if joined is None else self.statement(joined, depth)
            assert isinstance(anew, cst.SimpleStatementLine)
            longest = _longest(_code_of(anew))
            return anew if longest < _longest(code) or (loose and longest <= self._room(depth, 0)) else statement
        small = statement.body[0]
        value = getattr(small, "value", None)
        if isinstance(value, cst.Call):
            return statement.with_changes(body=[small.with_changes(value=self._called(value, depth, 0))])
        if isinstance(value, cst.BinaryOperation) and not value.lpar:
            return statement.with_changes(body=[small.with_changes(value=self._sum(value, depth, 0))])
        if isinstance(small, cst.Assert) and isinstance(small.test, cst.BooleanOperation) and not small.test.lpar:
            return statement.with_changes(body=[small.with_changes(test=self._tests(small.test))])
        if isinstance(value, cst.IfExp):
            return statement.with_changes(body=[small.with_changes(value=self._chosen(value, depth))])
        if isinstance(value, cst.Tuple) and value.elements and len(value.lpar) <= 1:
            return statement.with_changes(body=[small.with_changes(value=self._tuple(value, depth))])
        return statement

    def _if(self, statement: cst.If, depth: int) -> cst.If:
        def wrapped(block: cst.BaseSuite) -> cst.BaseSuite:
            if not isinstance(block, cst.IndentedBlock):
                return block
            inner = [self.statement(s, depth + 1) for s in block.body]  # type: ignore[arg-type]
            return block.with_changes(body=inner)

        other = statement.orelse
        if isinstance(other, cst.If):
            other = self._if(other, depth)
        elif isinstance(other, cst.Else):
            other = other.with_changes(body=wrapped(other.body))
        return statement.with_changes(body=wrapped(statement.body), orelse=other)

    def _tuple(self, value: cst.Tuple, depth: int) -> cst.Tuple:
        """The tuple in parentheses, with an element on each line."""
        inner, outer = self._line(1), self._line(0)
        elements: list[cst.BaseElement] = []
        for element in value.elements:
            if len(_code(element.value)) + 1 > self._room(depth, 1):
                element = element.with_changes(value=self._expression(element.value, depth, 1))
            last = len(elements) == len(value.elements) - 1
            elements.append(element.with_changes(comma=cst.Comma(whitespace_after=outer if last else inner)))
        opened = [cst.LeftParen(whitespace_after=inner)]
        return value.with_changes(elements=elements, lpar=opened, rpar=[cst.RightParen()])

    def _sum(self, value: cst.BinaryOperation, depth: int, level: int) -> cst.BinaryOperation:
        """An operation in parentheses, with an operand on each line."""
        operands = self._operands(value, type(value.operator), depth, level + 1)
        opened = [cst.LeftParen(whitespace_after=self._line(level + 1))]
        return operands.with_changes(lpar=opened, rpar=[cst.RightParen(whitespace_before=self._line(level))])

    def _tests(self, value: cst.BooleanOperation) -> cst.BooleanOperation:
        """A test in parentheses, with each of what is asked on a line."""
        opened = [cst.LeftParen(whitespace_after=self._line(1))]
        return self._asked(value).with_changes(lpar=opened, rpar=[cst.RightParen(whitespace_before=self._line(0))])

    def _asked(self, value: cst.BooleanOperation) -> cst.BooleanOperation:
        left = value.left
        if isinstance(left, cst.BooleanOperation) and not left.lpar:
            left = self._asked(left)
        operator = value.operator.with_changes(whitespace_before=self._line(1))
        return value.with_changes(left=left, operator=operator)

    def _called(self, call: cst.Call, depth: int, level: int) -> cst.Call:
        """A call, or a chain of calls of which the first that is too long stands on several lines."""
        func = call.func
        made = func.value if isinstance(func, cst.Attribute) else None
        if isinstance(func, cst.Attribute) and isinstance(made, cst.Call):
            long = len(_code(func)) > self._room(depth, level)
            if long or not call.args:
                return call.with_changes(func=func.with_changes(value=self._called(made, depth, level)))
        if isinstance(func, cst.Attribute) and _in_parentheses(made) and len(_code(func)) > self._room(depth, level):
            return call.with_changes(func=func.with_changes(value=self._sum(made, depth, level)))
        if isinstance(func, cst.Attribute) and isinstance(made, cst.ConcatenatedString) and level:
            return self._formatted(call, func, made, depth, level)
        return self._call(call, depth, level) if call.args else call

    def _formatted(
        self, call: cst.Call, func: cst.Attribute, text: cst.ConcatenatedString, depth: int, level: int
    ) -> cst.Call:
        """A call on a text in several parts, with a part on each line."""
        last: cst.BaseExpression = text
        while isinstance(last, cst.ConcatenatedString):
            last = last.right
        if len(_code(call.with_changes(func=func.with_changes(value=last)))) >= self._room(depth, level):
            call = self._call(call, depth, level) if call.args else call
        return call.with_changes(func=func.with_changes(value=self._strings(text, level)))

    def _call(self, call: cst.Call, depth: int, level: int) -> cst.Call:
        """The call with its arguments on a line of their own, one on each where they do not fit on one."""
        inner, outer = self._line(level + 1), self._line(level)
        one_line = _code(call).partition("(")[2]
        texts = [arg for arg in call.args if isinstance(arg.value, cst.ConcatenatedString)]
        together = not texts and len(one_line) - 1 <= self._room(depth, level + 1)
        args = []
        for index, arg in enumerate(call.args):
            last = index == len(call.args) - 1
            if together:
                gap = cst.MaybeSentinel.DEFAULT if last else cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
                behind = outer if last else arg.whitespace_after_arg
                args.append(arg.with_changes(comma=gap, whitespace_after_arg=behind))
                continue
            comma = cst.Comma(whitespace_after=outer if last else inner)
            if arg in texts or len(_code(arg.with_changes(comma=comma)).rstrip()) > self._room(depth, level + 1):
                arg = arg.with_changes(value=self._expression(arg.value, depth, level + 1))
            args.append(arg.with_changes(comma=comma))
        return call.with_changes(whitespace_before_args=inner, args=args)

    def _expression(self, node: cst.BaseExpression, depth: int, level: int) -> cst.BaseExpression:
        """An argument that is too long for its line."""
        if "\n" in _code(node):
            return node
        if isinstance(node, cst.ConcatenatedString):
            return self._strings(node, level)
        if isinstance(node, cst.BinaryOperation):
            return self._operands(node, type(node.operator), depth, level)
        if isinstance(node, cst.Call):
            return self._called(node, depth, level)
        if isinstance(node, cst.UnaryOperation):
            part = node.expression
            whole = self._choice(part, level) if isinstance(part, cst.IfExp) else self._expression(part, depth, level)
            return node.with_changes(expression=whole)
        if not isinstance(node, cst.Lambda):
            return node
        body = node.body
        if isinstance(body, cst.IfExp) and not body.lpar:
            value = body.body
            if isinstance(value, cst.Call) and value.args and len(_code(value)) > self._room(depth, level + 1):
                value = self._call(value, depth, level + 1)
            body = self._choice(body.with_changes(body=value, lpar=[cst.LeftParen()], rpar=[cst.RightParen()]), level)
        elif isinstance(body, cst.Call) and body.args:
            body = self._call(body, depth, level)
        return node.with_changes(body=body)

    def _chosen(self, node: cst.IfExp, depth: int) -> cst.IfExp:
        """A conditional expression in parentheses, with its parts on a line each."""
        body = node.body
        if len(_code(body)) > self._room(depth, 1):
            body = self._expression(body, depth, 1)
        if not node.lpar:
            node = node.with_changes(lpar=[cst.LeftParen()], rpar=[cst.RightParen()])
        return self._choice(node.with_changes(body=body), 0)

    def _choice(self, node: cst.IfExp, level: int) -> cst.IfExp:
        """A conditional expression with its three parts on a line each, further in where it has parentheses."""
        inner = self._line(level + 1 if node.lpar else level)
        if node.lpar:
            opened, closed = cst.LeftParen(whitespace_after=inner), cst.RightParen(whitespace_before=self._line(level))
            node = node.with_changes(lpar=[opened, *node.lpar[1:]], rpar=[*node.rpar[1:], closed])
        return node.with_changes(whitespace_before_if=inner, whitespace_before_else=inner)

    def _strings(self, node: cst.ConcatenatedString, level: int) -> cst.ConcatenatedString:
        right = node.right
        if isinstance(right, cst.ConcatenatedString):
            right = self._strings(right, level)
        return node.with_changes(right=right, whitespace_between=self._line(level))

    def _operands(
        self, node: cst.BinaryOperation, kind: type[cst.BaseBinaryOp], depth: int, level: int
    ) -> cst.BinaryOperation:
        left, right = node.left, node.right
        if isinstance(left, cst.BinaryOperation) and isinstance(left.operator, kind) and not left.lpar:
            left = self._operands(left, kind, depth, level)
        elif len(_code(left)) > self._room(depth, level):
            left = self._sum(left, depth, level) if _in_parentheses(left) else self._expression(left, depth, level)
        if len(_code(right)) + 2 > self._room(depth, level):
            right = self._expression(right, depth, level)
        operator = node.operator.with_changes(whitespace_before=self._line(level))
        return node.with_changes(left=left, operator=operator, right=right)

    def _room(self, depth: int, level: int) -> int:
        return self.line_length - len(self.indent) * (depth + level)

    def _line(self, level: int) -> cst.ParenthesizedWhitespace:
        return cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(self.indent * level))


class _Joined(cst.CSTTransformer):
    """Takes the line breaks out of brackets."""

    def on_leave(  # type: ignore[override]
        self, original_node: cst.CSTNode, updated_node: cst.CSTNode
    ) -> cst.CSTNode:
        """The node without the line breaks that stand directly in it."""
        node = super().on_leave(original_node, updated_node)
        if isinstance(node, cst.ParenthesizedWhitespace):
            commented = node.first_line.comment or any(line.comment for line in node.empty_lines)
            return node if commented else cst.SimpleWhitespace(" ")
        if isinstance(node, cst.LeftParen | cst.LeftSquareBracket):
            return node.with_changes(whitespace_after=_closed(node.whitespace_after))
        if isinstance(node, cst.RightParen | cst.RightSquareBracket | cst.Dot):
            return node.with_changes(whitespace_before=_closed(node.whitespace_before))
        if isinstance(node, cst.Call) and node.args:
            behind = _closed(node.args[-1].whitespace_after_arg)
            last = node.args[-1].with_changes(whitespace_after_arg=behind, comma=cst.MaybeSentinel.DEFAULT)
            before = _closed(node.whitespace_before_args)
            return node.with_changes(args=[*node.args[:-1], last], whitespace_before_args=before)
        assert isinstance(node, cst.CSTNode)
        return node


def _closed(space: cst.BaseParenthesizableWhitespace) -> cst.BaseParenthesizableWhitespace:
    return cst.SimpleWhitespace("") if isinstance(space, cst.SimpleWhitespace) else space


def _is_loose(value: object) -> bool:
    """Whether something on several lines stands between others on a line: an element of a tuple, an argument."""
    if isinstance(value, cst.Tuple):
        return not value.lpar or not isinstance(value.lpar[0].whitespace_after, cst.ParenthesizedWhitespace)
    if not isinstance(value, cst.Call):
        return False
    beside = not isinstance(value.whitespace_before_args, cst.ParenthesizedWhitespace)
    if beside and any("\n" in _code(arg.value) for arg in value.args[:-1]):
        return True
    return any(isinstance(arg.value, cst.Call) and _is_loose(arg.value) for arg in value.args)


def _joined(statement: cst.SimpleStatementLine) -> cst.SimpleStatementLine | None:
    """The statement on one line; None where a comment or a text of several lines stands in it."""
    joined = statement.visit(_Joined())
    if not isinstance(joined, cst.SimpleStatementLine) or "\n" in (code := _code_of(joined)):
        return None
    return joined if ast.dump(ast.parse(code)) == ast.dump(ast.parse(_code_of(statement))) else None


def _longest(code: str) -> int:
    return max(map(len, code.split("\n")))


def _code_of(statement: cst.SimpleStatementLine) -> str:
    """The code of a statement without the comments before it."""
    return cst.Module(body=[statement.with_changes(leading_lines=[])]).code.rstrip("\n")


def _code(node: cst.CSTNode) -> str:
    return cst.Module(body=[]).code_for_node(node)


def _in_parentheses(node: cst.BaseExpression | None) -> TypeGuard[cst.BinaryOperation]:
    return isinstance(node, cst.BinaryOperation) and len(node.lpar) == 1 and "\n" not in _code(node)

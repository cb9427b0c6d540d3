"""Expressions: names, attributes, subscripts, operators, displays and comprehensions."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence

from compilefix.analysis import autocast, values
from compilefix.analysis.function_facts import Env, either, revisited
from compilefix.analysis.leaves import ANY_LEAF, perhaps
from compilefix.analysis.operators import (
    are_texts,
    binary,
    by_identity,
    element_of,
    elementwise,
    item_of_turn,
    opaque,
    perhaps_read,
    picked,
    unsure,
)
from compilefix.analysis.reads import Reads, memory_of_names
from compilefix.analysis.values import (
    CONTAINER,
    Kind,
    Value,
    join_all,
    number,
    replace,
    static,
)
from compilefix.analysis.walk import rebound_after
from compilefix.source.tree import children

_PERHAPS_BOOL = replace(values.STATIC, dtype="bool", certain=False)


class Expressions(Reads):
    """The values of expressions."""

    def eval(self, node: ast.expr, env: Env) -> Value:
        """The value of an expression, which is also kept for the rules."""
        handler = _EXPRESSIONS.get(node.__class__)
        if handler is not None:
            value = handler(self, node, env)
        else:
            for child in children(node):
                if isinstance(child, ast.expr):
                    self.eval(child, env)
            value = values.UNKNOWN
        if self.grad_modes:
            if value.leaves and self._computes(node):
                # Whether gradients are recorded here is not the same as outside.
                value = replace(value, leaves=perhaps(value.leaves, self.grad_modes[-1]))
            if isinstance(node, ast.Call) and value.kinds == CONTAINER:
                value = _items_apart(value)  # some may be what came in, others made here
        if node.__class__ in _MAKES_CONTAINER and value.kinds == CONTAINER:
            # The list itself: under another name it is the same one.
            value = replace(value, storage=value.storage | {self.place(node)})
        known = self.facts.values
        old = known.get(node)
        known[node] = value if old is None else revisited(old, value)
        return value

    def _computes(self, node: ast.expr) -> bool:
        """Whether an expression is an operation, which records gradients or does not, and not just a name."""
        if isinstance(node, (ast.Attribute, ast.Subscript)):
            return self.facts.value(node.value).may_be(Kind.TENSOR)
        return isinstance(node, ast.BinOp | ast.UnaryOp | ast.Call)

    def _bin_op(self, node: ast.BinOp, env: Env) -> Value:
        left, right = self.eval(node.left, env), self.eval(node.right, env)
        if self.runs_own_code((left, right), OPERATORS):
            return opaque(self.place(node), (left, right))
        result = binary(node.op, left, right, self.place(node))
        if isinstance(node.op, (ast.BitAnd, ast.BitOr, ast.BitXor)) and result.is_tensor and result.dtype is None:
            # What is compared may be a number or a tensor: beside a tensor of bools the result is one.
            sides = ((node.left, left), (node.right, right))
            if all(value.dtype == "bool" or (value.is_unknown and _compares(side)) for side, value in sides):
                return replace(result, dtype="bool", dtype_id="bool")
        if result.dtype_id is None or result.dtype in ("bool", "int"):
            return result
        if isinstance(node.op, ast.Pow):
            return replace(result, dtype_id=autocast.of_operation(result.dtype_id, "pow", self.autocast_region))
        if isinstance(node.op, ast.Div) and not left.may_be(Kind.TENSOR):
            # The reciprocal, times the number.
            return replace(result, dtype_id=autocast.of_operation(result.dtype_id, "reciprocal", self.autocast_region))
        return result

    def _unary_op(self, node: ast.UnaryOp, env: Env) -> Value:
        value = self.eval(node.operand, env)
        if not isinstance(node.op, ast.Not) and self.runs_own_code((value,), OPERATORS):
            return opaque(self.place(node), (value,))
        if isinstance(node.op, ast.Not):
            if (value.may_be(Kind.TENSOR) and not value.is_unknown) or value.is_(Kind.NUMBER):
                return number("bool", value.certain)
            if value.is_unknown:
                return values.UNKNOWN
            return perhaps_read("bool") if value.may_be(Kind.NUMBER) else values.BOOL
        if value.is_tensor:
            # `+x` is x.
            same = value.storage if isinstance(node.op, ast.UAdd) else values.NOTHING
            return replace(value, storage=same | {self.place(node)})
        if value.const is not None and isinstance(value.const.value, int | float) and isinstance(node.op, ast.USub):
            return static(-value.const.value)
        if value.dtype == "bool":
            # Of a Python bool these give an int.
            return replace(value, const=None, dtype=None if value.may_be(Kind.TENSOR) else "int")
        return replace(value, const=None)

    def _bool_op(self, node: ast.BoolOp, env: Env) -> Value:
        found: list[Value] = []
        state = dict(env)
        for index, part in enumerate(node.values):
            before = len(self.changes)
            value = self.eval(part, state)
            self.written_within(state, env, self.place(node), before)
            state = self.narrow(part, state, isinstance(node.op, ast.And))
            found.append(value)
            if self.compile_time(part) is isinstance(node.op, ast.Or):
                self.facts.dead.update(node.values[index + 1 :])
        if any(value.is_tensor for value in found):
            # Beside a tensor, what compares things of which nothing is known is most often a bool: `n >= m and t > 0`.
            found = [
                _PERHAPS_BOOL if value.is_unknown and isinstance(part, ast.Compare) else value
                for value, part in zip(found, node.values, strict=True)
            ]
        return join_all(found)

    def _compare(self, node: ast.Compare, env: Env) -> Value:
        operands = [self.eval(part, env) for part in (node.left, node.comparators[0])]
        for part in node.comparators[1:]:  # perhaps not evaluated
            later = dict(env)
            before = len(self.changes)
            operands.append(self.eval(part, later))
            self.written_within(later, env, self.place(node), before)
        kinds = {op.__class__ for op in node.ops}
        if not kinds.isdisjoint((ast.Is, ast.IsNot)):
            return values.BOOL
        if not kinds.isdisjoint((ast.In, ast.NotIn)):
            if len(node.ops) > 1 and any(v.may_be(Kind.TENSOR) for v in operands):
                return values.UNKNOWN  # `x < y in z` may be the tensor that its first comparison gives
            if _is_text(node.left, operands[0]) or are_texts(node.comparators[0]):
                return values.BOOL  # a key: tensors are compared with numbers and tensors
            reads = (
                operands[0].is_tensor
                or operands[-1].is_tensor
                or (operands[-1].element is not None and operands[-1].element.is_tensor)
            )
            if reads or any(v.is_(Kind.NUMBER) for v in operands):
                return number("bool", all(v.certain for v in operands))
            return values.UNKNOWN if any(v.is_unknown for v in operands) else values.BOOL
        if len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.NotEq) and by_identity(*operands):
            return values.BOOL
        if self.runs_own_code(operands, _COMPARISONS):
            return opaque(self.place(node), operands)
        if any(v.may_be(Kind.TENSOR) and not v.is_unknown for v in operands):
            if len(node.ops) > 1:
                return number("bool", all(v.certain for v in operands))
            compared = elementwise(operands, self.place(node), "bool")
            if isinstance(node.ops[0], ast.Eq | ast.NotEq) and any(Kind.NONE in v.kinds for v in operands):
                # A tensor is asked whether it equals None as any object is: the answer is a Python bool.
                return values.BOOL if any(v.is_(Kind.NONE) for v in operands) else join_all([compared, values.BOOL])
            return compared
        if any(v.is_unknown for v in operands):
            return replace(values.UNKNOWN, kinds=unsure(operands), storage=frozenset({self.place(node)}))
        if any(v.is_(Kind.NDARRAY) for v in operands):
            return replace(values.NDARRAY, certain=all(v.certain for v in operands if v.is_(Kind.NDARRAY)))
        if any(v.is_(Kind.NUMBER) for v in operands):
            return number("bool", all(v.certain for v in operands))
        if any(v.may_be(Kind.NUMBER) for v in operands):
            return perhaps_read("bool")
        if any(v.is_(Kind.SIZE) for v in operands):
            return replace(values.SIZE, dtype="bool")
        return values.BOOL

    def _if_exp(self, node: ast.IfExp, env: Env) -> Value:
        self.facts.env_before[node] = dict(env)
        self.eval(node.test, env)
        there, elsewhere = self.narrow(node.test, env, True), self.narrow(node.test, env, False)
        before = len(self.changes)
        body, orelse = self.eval(node.body, there), self.eval(node.orelse, elsewhere)
        for way in (there, elsewhere):
            self.written_within(way, env, self.place(node), before)
            before = len(self.changes)
        decided = self.compile_time(node.test)
        if decided is not None:
            self.facts.dead.add(node.orelse if decided else node.body)
            return body if decided else orelse
        if self._is_tensor_for_sure(node.test):
            return body
        return either(self.place(node), body, orelse)

    def _is_tensor_for_sure(self, test: ast.expr) -> bool:
        """Whether `isinstance(x, torch.Tensor)` asks what the code itself has made: an annotation may be wrong."""
        if not isinstance(test, ast.Call) or self.facts.refs.get(test) != "isinstance" or len(test.args) != 2:
            return False
        value = self.facts.value(test.args[0])
        made = isinstance(test.args[0], ast.Attribute) or any(not t.startswith("param:") for t in value.storage)
        return made and value.is_tensor and value.certain and self.facts.value(test.args[1]).ref == "torch.Tensor"

    def _named_expr(self, node: ast.NamedExpr, env: Env) -> Value:
        value = self.eval(node.value, env)
        self.bind(node.target, value, env)
        return value

    def _sequence(self, node: ast.Tuple | ast.List | ast.Set, env: Env) -> Value:
        parts = []
        starred = False
        for item in node.elts:
            if isinstance(item, ast.Starred):
                starred = True
                parts.append(element_of(self.eval(item.value, env)))
            else:
                parts.append(self.eval(item, env))
        joined = _holding(values.container(elements=tuple(parts)), parts)
        return replace(joined, elements=None) if starred or isinstance(node, ast.Set) else joined

    def _dict(self, node: ast.Dict, env: Env) -> Value:
        for key in node.keys:
            if key is not None:
                self.eval(key, env)
        parts = [self.eval(v, env) for v in node.values]
        joined = _holding(values.container(elements=tuple(parts), ref="dict"), parts)
        if None in node.keys:
            return replace(values.container(ref="dict"), storage=values.UNKNOWN.storage, leaves=values.UNKNOWN.leaves)
        return replace(joined, elements=None) if node.values else joined

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp, env: Env) -> Value:
        inner, before = dict(env), len(self.changes)
        for turn, generator in enumerate(node.generators):
            iterable = self.eval(generator.iter, inner)
            # Within another loop, which may go over the same.
            within = bool(turn or self.loop_exits)
            item = item_of_turn(iterable, self.place(generator.target)) if within else element_of(iterable)
            self.bind(generator.target, item, inner)
            for test in generator.ifs:
                self.eval(test, inner)
                inner = self.narrow(test, inner, True)
        if isinstance(node, ast.DictComp):
            self.eval(node.key, inner)
        item = self.eval(node.value if isinstance(node, ast.DictComp) else node.elt, inner).stripped()
        self.written_within(inner, env, self.place(node), before)
        if any(generator.ifs for generator in node.generators):
            item = picked(item, self.place(node))  # what is left out moves the others up
        return _holding(values.container(item, ref="dict" if isinstance(node, ast.DictComp) else None), [item])

    def _lambda(self, node: ast.Lambda, env: Env) -> Value:
        rebound = rebound_after(self.function, node)
        inner = {name: values.UNKNOWN if name in rebound else value for name, value in env.items()}
        for arg in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            inner[arg.arg] = values.UNKNOWN
        self.eval(node.body, inner)
        return replace(values.FUNCTION, storage=memory_of_names(node, env))

    def _joined_str(self, node: ast.JoinedStr, env: Env) -> Value:
        for part in node.values:
            if isinstance(part, ast.FormattedValue):
                self.eval(part.value, env)
        return values.STATIC


_NUMERIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_BITWISE = ("and", "or", "xor", "lshift", "rshift")
_UNARY = frozenset({"__neg__", "__pos__", "__invert__"})
OPERATORS = _UNARY.union(f"__{way}{name}__" for name in (*_NUMERIC, *_BITWISE) for way in ("", "r", "i"))
"""The methods that operators call."""
_COMPARISONS = frozenset({"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__"})


def _compares(node: ast.expr) -> bool:
    """Whether an expression is a comparison by size or equality, or the opposite of one."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Invert):
        return _compares(node.operand)
    return isinstance(node, ast.Compare) and all(isinstance(op, _ORDERS) for op in node.ops)


_ORDERS = (ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE)


def _items_apart(made: Value) -> Value:
    """A container of whose items it is not known which gradients they hand on."""
    return replace(
        made,
        leaves=made.leaves | {ANY_LEAF},
        element=None if made.element is None else replace(made.element, leaves=made.element.leaves | {ANY_LEAF}),
        elements=None
        if made.elements is None
        else tuple(replace(v, leaves=v.leaves | {ANY_LEAF}) for v in made.elements),
    )


def _holding(made: Value, parts: Sequence[Value]) -> Value:
    """A container with the memory and the gradients of what it holds."""
    if not parts:
        return made
    if len(parts) == 1:
        return replace(made, storage=parts[0].storage, leaves=parts[0].leaves)
    return replace(
        made,
        storage=values.NOTHING.union(*[p.storage for p in parts]),
        leaves=values.NOTHING.union(*[p.leaves for p in parts]),
    )


_MAKES_CONTAINER = frozenset(
    {ast.List, ast.Dict, ast.Set, ast.ListComp, ast.SetComp, ast.DictComp, ast.Call, ast.BinOp}
)
_EXPRESSIONS: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.Subscript: Expressions._subscript,
    ast.Slice: Expressions._slice,
    ast.BinOp: Expressions._bin_op,
    ast.UnaryOp: Expressions._unary_op,
    ast.BoolOp: Expressions._bool_op,
    ast.Compare: Expressions._compare,
    ast.IfExp: Expressions._if_exp,
    ast.NamedExpr: Expressions._named_expr,
    ast.Tuple: Expressions._sequence,
    ast.List: Expressions._sequence,
    ast.Set: Expressions._sequence,
    ast.Dict: Expressions._dict,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.DictComp: Expressions._comprehension,
    ast.Lambda: Expressions._lambda,
    ast.JoinedStr: Expressions._joined_str,
    ast.Call: Expressions._call,
}


def _is_text(node: ast.expr, value: Value) -> bool:
    return isinstance(node, ast.JoinedStr) or (value.const is not None and isinstance(value.const.value, str))
